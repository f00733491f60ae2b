//! Bar charts as SVG text, readable on light and on dark backgrounds.
//!
//! From the top: what the chart shows in one sentence, what was measured, the legend, the axis with its unit, the bars
//! with their values, and the machine. Widths of texts are estimates, because fonts differ from reader to reader.

use std::fmt::Write;

/// The content of a chart. `series[s].values[l]` belongs to `labels[l]`; NaN draws no bar.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// The finding, in one sentence.
    pub(crate) title: String,
    /// What was measured.
    pub(crate) subtitle: String,
    /// The unit of the axis.
    pub(crate) unit: String,
    /// Whether longer bars are better.
    pub(crate) sense: &'static str,
    pub(crate) labels: Vec<Label>,
    pub(crate) series: Vec<Series>,
    /// Whether the series form one stacked bar per label, instead of bars below each other.
    pub(crate) stacked: bool,
    /// The lines below the bars: what a peer does not do.
    pub(crate) notes: Vec<String>,
    /// The machine and the date.
    pub(crate) footer: String,
}

/// The name of a group of bars, and a second line of code below it, which may be empty.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) code: &'static str,
}

impl<N: Into<String>> From<N> for Label {
    fn from(name: N) -> Self {
        Self { name: name.into(), code: "" }
    }
}

/// Bars of one colour.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<f64>,
}

const WIDTH: f64 = 900.0;
const MARGIN: f64 = 16.0;

/// Room for the value at the end of the longest bar.
const RIGHT: f64 = 64.0;

/// The colours of the series. Each has a contrast of 3 or more with its ground, and differs from its neighbours in
/// brightness too. The first is jird's.
const LIGHT: [&str; 8] = ["#d9480f", "#1864ab", "#37a04b", "#9c36b5", "#0c8599", "#868e96", "#c2255c", "#7a5a48"];
const DARK: [&str; 8] = ["#ff8a4c", "#4dabf7", "#69db7c", "#da77f2", "#3bc9db", "#8b949e", "#f783ac", "#d0ab94"];

/// The bars of others, in a chart where only the labels tell bars apart.
const OTHER: usize = 5;

/// Draws the chart: labels run down, bars run to the right, and each bar has its value at its end.
pub(crate) fn bars(chart: &Chart) -> String {
    let plot = Plot::of(chart);
    let mut body = String::new();
    let mut top = 32.0;
    for line in wrapped(&chart.title, 18.0) {
        text(&mut body, (MARGIN, top), "ink head", &line);
        top += 24.0;
    }
    for line in wrapped(&chart.subtitle, 13.0) {
        text(&mut body, (MARGIN, top - 4.0), "faint", &line);
        top += 18.0;
    }
    if chart.series.len() > 1 {
        top = legend(&mut body, chart, top);
    }
    let start = top + 38.0;
    let end = start + plot.height(chart);
    plot.axis(&mut body, chart, start, end);
    let mut at = start + plot.gap / 2.0;
    for (index, label) in chart.labels.iter().enumerate() {
        plot.label(&mut body, label, at);
        if chart.stacked {
            plot.stack(&mut body, chart, index, at);
        } else {
            plot.group(&mut body, chart, index, at);
        }
        at += plot.block + plot.gap;
    }
    let mut top = end + 22.0;
    for note in chart.notes.iter().chain([&chart.footer]) {
        for line in wrapped(note, 11.0) {
            text(&mut body, (MARGIN, top), "faint small", &line);
            top += 15.0;
        }
    }
    let height = top;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">{}</title>\n<style>\n{}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escaped(&chart.title),
        style(),
    )
}

fn style() -> String {
    let mut style = "text{font-family:system-ui,sans-serif;font-size:13px}.head{font-size:18px;font-weight:600}\n\
                     .small{font-size:11px}.code{font-family:ui-monospace,monospace;font-size:11px}\
                     .end{text-anchor:end}.middle{text-anchor:middle}\n"
        .to_owned();
    let grounds = [
        ("", LIGHT, ["#fff", "#1f2328", "#59636e", "#d1d9e0"], ""),
        ("@media(prefers-color-scheme:dark){\n", DARK, ["#0d1117", "#f0f6fc", "#9198a1", "#30363d"], "}\n"),
    ];
    for (open, colors, [ground, ink, faint, line], close) in grounds {
        style.push_str(open);
        write!(style, ".ground{{fill:{ground}}}.ink{{fill:{ink}}}.faint{{fill:{faint}}}.line{{stroke:{line}}}")
            .expect("writing to a String");
        for (index, color) in colors.iter().enumerate() {
            write!(style, ".s{index}{{fill:{color}}}").expect("writing to a String");
        }
        style.push('\n');
        style.push_str(close);
    }
    style
}

/// Where things are.
struct Plot {
    /// Where the bars begin.
    left: f64,
    /// The length of a bar of value 1.
    scale: f64,
    /// The distance of two marks of the axis.
    step: f64,
    thick: f64,
    /// The height of the bars of a label.
    block: f64,
    gap: f64,
}

/// Between a label and its bars.
const LABEL_GAP: f64 = 8.0;

impl Plot {
    fn of(chart: &Chart) -> Self {
        let wide = |label: &Label| estimated(&label.name, 13.0).max(estimated(label.code, 12.5));
        let widest = chart.labels.iter().map(wide).fold(60.0, f64::max);
        let left = (MARGIN + widest + LABEL_GAP).min(WIDTH / 2.0);
        let longest = longest(chart);
        let bars = if chart.stacked { 1 } else { chart.series.len() };
        let (thick, gap) = if bars == 1 { (18.0, 8.0) } else { (13.0, 14.0) };
        let has_code = chart.labels.iter().any(|label| !label.code.is_empty());
        let block = (thick * bars as f64).max(if has_code { 32.0 } else { 0.0 });
        Self { left, scale: (WIDTH - left - RIGHT) / longest, step: step(longest), thick, block, gap }
    }

    fn height(&self, chart: &Chart) -> f64 {
        (self.block + self.gap) * chart.labels.len() as f64
    }

    /// Draws the marks of the axis, with their values above the bars, and the unit.
    fn axis(&self, body: &mut String, chart: &Chart, start: f64, end: f64) {
        let room = WIDTH - RIGHT - self.left;
        let mut value = 0.0;
        while value * self.scale <= room + 0.5 {
            let x = self.left + value * self.scale;
            writeln!(body, "<path class=\"line\" d=\"M{x:.1} {start:.1}V{end:.1}\"/>").expect("writing to a String");
            text(body, (x, start - 5.0), "faint small middle", &mark(value, self.step));
            value += self.step;
        }
        let words = [chart.unit.as_str(), chart.sense].into_iter().filter(|words| !words.is_empty());
        text(body, (self.left, start - 22.0), "faint small", &words.collect::<Vec<_>>().join("; "));
    }

    fn label(&self, body: &mut String, label: &Label, top: f64) {
        let middle = top + self.block / 2.0;
        if label.code.is_empty() {
            return text(body, (self.left - LABEL_GAP, middle + 4.5), "ink end", &label.name);
        }
        text(body, (self.left - LABEL_GAP, middle - 3.0), "ink end", &label.name);
        text(body, (self.left - LABEL_GAP, middle + 12.0), "faint code end", label.code);
    }

    /// Draws one bar per series, below each other. In a single series, the colour marks jird's bars.
    fn group(&self, body: &mut String, chart: &Chart, label: usize, top: f64) {
        let top = top + (self.block - self.thick * chart.series.len() as f64) / 2.0;
        for (index, series) in chart.series.iter().enumerate() {
            let value = series.values[label];
            let y = top + self.thick * index as f64;
            let is_ours = chart.labels[label].name.starts_with("jird");
            let color = if chart.series.len() > 1 || is_ours { index } else { OTHER };
            let width = drawn(value) * self.scale;
            rectangle(body, (self.left, y + 0.5), (width, self.thick - 1.0), color);
            text(body, (self.left + width + 4.0, y + self.thick / 2.0 + 4.0), "ink small", &figure(value));
        }
    }

    /// Draws one bar of all series, with their sum at its end.
    fn stack(&self, body: &mut String, chart: &Chart, label: usize, top: f64) {
        let mut x = self.left;
        for (index, series) in chart.series.iter().enumerate() {
            let width = drawn(series.values[label]) * self.scale;
            rectangle(body, (x, top), (width, self.thick), index);
            x += width;
        }
        text(body, (x + 4.0, top + self.thick / 2.0 + 4.0), "ink small", &figure(total(chart, label)));
    }
}

fn legend(body: &mut String, chart: &Chart, top: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, top);
    for (index, series) in chart.series.iter().enumerate() {
        let width = 36.0 + estimated(&series.name, 13.0);
        if x + width > WIDTH - MARGIN && x > MARGIN {
            (x, y) = (MARGIN, y + 20.0);
        }
        rectangle(body, (x, y), (12.0, 12.0), index);
        text(body, (x + 18.0, y + 10.5), "ink", &series.name);
        x += width;
    }
    y + 22.0
}

/// The distance of the marks: 1, 2 or 5 times a power of ten, so that there are four to nine.
fn step(longest: f64) -> f64 {
    let power = 10.0_f64.powf((longest / 4.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|times| times * power);
    steps.into_iter().find(|step| longest / step >= 4.0).unwrap_or(power)
}

/// A value of the axis, with as many decimals as the step needs.
fn mark(value: f64, step: f64) -> String {
    let decimals = (0..6).find(|decimals| (step * 10.0_f64.powi(*decimals)).fract().abs() < 1e-9).unwrap_or(6);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or_default())
}

/// Breaks a text of this size into lines that fit.
fn wrapped(words: &str, size: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if estimated(line, size) + estimated(word, size) + size / 2.0 <= WIDTH - 2.0 * MARGIN {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// About how wide a text of this size is; wider than in most fonts.
fn estimated(words: &str, size: f64) -> f64 {
    0.6 * size * words.chars().count() as f64
}

fn longest(chart: &Chart) -> f64 {
    let of_label = |label| {
        if chart.stacked {
            total(chart, label)
        } else {
            chart.series.iter().map(|series| drawn(series.values[label])).fold(0.0, f64::max)
        }
    };
    let longest = (0..chart.labels.len()).map(of_label).fold(0.0, f64::max);
    if longest > 0.0 { longest } else { 1.0 }
}

fn total(chart: &Chart, label: usize) -> f64 {
    chart.series.iter().map(|series| drawn(series.values[label])).sum()
}

/// The length to draw. A difference of two times may be negative; then there is no bar.
fn drawn(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// Formats a value with three significant digits.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn rectangle(body: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), color: usize) {
    let shape = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"");
    writeln!(body, "<rect class=\"s{}\" {shape}/>", color % LIGHT.len()).expect("writing to a String");
}

fn text(body: &mut String, (x, y): (f64, f64), class: &str, words: &str) {
    let words = escaped(words);
    writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{words}</text>").expect("writing to a String");
}

fn escaped(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            // XML cannot represent control characters.
            letter if letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "<a href=\"x\">&\u{1} \u{fc}";

    fn chart(stacked: bool, series: usize) -> Chart {
        let one = Series { name: NASTY.to_owned(), values: vec![1.0, f64::NAN, -2.0, 1234.5] };
        Chart {
            title: NASTY.to_owned(),
            subtitle: NASTY.to_owned(),
            unit: NASTY.to_owned(),
            sense: "longer is better",
            labels: vec![Label { name: NASTY.to_owned(), code: "<code>" }; 4],
            series: vec![one; series],
            stacked,
            notes: vec![NASTY.to_owned(); 2],
            footer: NASTY.to_owned(),
        }
    }

    /// Checks tags and attributes as far as these charts use them. Returns the number of elements.
    fn elements(xml: &str) -> usize {
        let mut open = Vec::new();
        let mut count = 0;
        let mut rest = xml;
        while let Some(start) = rest.find('<') {
            assert!(!rest[..start].contains('>'), "a bare > in {rest:.80}");
            let end = start + rest[start..].find('>').expect("every tag ends");
            let tag = &rest[start + 1..end];
            assert!(!tag.contains('<'), "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else {
                count += 1;
                assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
                if !tag.ends_with('/') {
                    open.push(tag.split(' ').next().unwrap_or_default());
                }
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
        count
    }

    #[test]
    fn charts_are_well_formed_whatever_they_are_called() {
        for (stacked, series) in [(false, 1), (false, 3), (true, 9)] {
            let xml = bars(&chart(stacked, series));
            assert!(elements(&xml) > 4 * series);
            assert!(!xml.contains("NaN") && !xml.contains("inf"), "{xml}");
            assert!(!xml.contains("<a") && !xml.contains('\u{1}'));
        }
    }

    #[test]
    fn every_ampersand_begins_an_entity() {
        let xml = bars(&chart(false, 2));
        for at in xml.match_indices('&').map(|(at, _)| at) {
            assert!(["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|entity| xml[at..].starts_with(entity)));
        }
    }

    #[test]
    fn a_chart_of_nothing_is_a_chart() {
        let empty = Chart { labels: Vec::new(), series: Vec::new(), ..chart(false, 0) };
        elements(&bars(&empty));
    }

    #[test]
    fn marks_are_round_and_neither_few_nor_many() {
        for longest in [0.0123, 0.6, 1.0, 3.99, 4.0, 7.08, 9.99, 64.0, 1234.5] {
            let step = step(longest);
            assert!((4.0..10.0).contains(&(longest / step)), "{longest}: {step}");
        }
        assert_eq!([mark(0.0, 0.1), mark(0.3, 0.1), mark(4.0, 2.0)], ["0.0", "0.3", "4"]);
        assert_eq!(mark(0.25, 0.05), "0.25");
    }

    #[test]
    fn nothing_leaves_the_chart() {
        let long = "a long note that says what a peer does not do in this task; ".repeat(6);
        let chart = Chart { title: long.clone(), notes: vec![long.clone()], footer: long, ..chart(false, 8) };
        let xml = bars(&chart);
        let number = |element: &str, name: &str| -> Option<f64> {
            let (_, rest) = element.split_once(&format!(" {name}=\""))?;
            rest.split_once('"')?.0.parse().ok()
        };
        for element in xml.split('<').filter(|element| element.starts_with("rect class=\"s")) {
            let right = number(element, "x").unwrap() + number(element, "width").unwrap();
            assert!(right <= WIDTH - RIGHT + 0.1, "{element}");
        }
        for element in xml.split('<').filter(|element| element.starts_with("text") && element.contains("faint small\""))
        {
            let words = element.split_once('>').unwrap().1;
            assert!(estimated(words, 11.0) <= WIDTH - 2.0 * MARGIN + 1.0, "{element}");
        }
    }
}
