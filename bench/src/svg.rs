//! Bar charts as SVG text, readable on light and on dark backgrounds.

use std::fmt::Write;

/// The content of a chart. `series[s].values[l]` belongs to `labels[l]`; NaN draws no bar.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The meaning of the bars' lengths.
    pub(crate) unit: String,
    pub(crate) labels: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// Whether the series form one stacked bar per label, instead of bars below each other.
    pub(crate) stacked: bool,
    /// The lines below the bars: what a peer does not do.
    pub(crate) notes: Vec<String>,
    /// The machine and the date.
    pub(crate) footer: String,
}

/// Bars of one colour.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<f64>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 70.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;

/// Colours that are easy to tell from each other, from white and from black.
const COLORS: [&str; 8] = ["#e8590c", "#1c7ed6", "#2f9e44", "#ae3ec9", "#f08c00", "#0c8599", "#868e96", "#c2255c"];

const STYLE: &str = "text{font-family:system-ui,sans-serif}.ground{fill:#fff}.ink{fill:#1f2328}.faint{fill:#59636e}\
    .line{stroke:#d1d9e0}@media(prefers-color-scheme:dark){.ground{fill:#0d1117}.ink{fill:#f0f6fc}\
    .faint{fill:#9198a1}.line{stroke:#3d444d}}";

/// Draws the chart: labels run down, bars run to the right, and each bar has its value at its end.
pub(crate) fn bars(chart: &Chart) -> String {
    let mut body = String::new();
    text(&mut body, 16.0, 30.0, "ink", 18, &chart.title);
    text(&mut body, 16.0, 50.0, "faint", 12, &chart.unit);
    let mut top = 66.0;
    if chart.series.len() > 1 {
        top = legend(&mut body, chart, top);
    }
    let (thick, gap) = if chart.stacked || chart.series.len() == 1 { (16.0, 7.0) } else { (11.0, 12.0) };
    let scale = PLOT / longest(chart);
    let start = top;
    for (index, label) in chart.labels.iter().enumerate() {
        let bars = if chart.stacked { 1 } else { chart.series.len() };
        let height = thick * bars as f64;
        end_text(&mut body, LEFT - 8.0, top + height / 2.0 + 4.0, label);
        if chart.stacked {
            stack(&mut body, chart, index, top, thick, scale);
        } else {
            group(&mut body, chart, index, top, thick, scale);
        }
        top += height + gap;
    }
    writeln!(body, "<path class=\"line\" d=\"M{LEFT} {start}V{:.0}\"/>", top - gap).expect("writing to a String");
    for note in chart.notes.iter().chain([&chart.footer]) {
        text(&mut body, 16.0, top + 14.0, "faint", 11, note);
        top += 16.0;
    }
    let height = top + 12.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escaped(&chart.title)
    )
}

fn legend(body: &mut String, chart: &Chart, top: f64) -> f64 {
    let (mut x, mut y) = (16.0, top);
    for (index, series) in chart.series.iter().enumerate() {
        // Letters are about 7 units wide at this size.
        let width = 30.0 + 7.0 * series.name.chars().count() as f64;
        if x + width > WIDTH - 16.0 {
            (x, y) = (16.0, y + 18.0);
        }
        rectangle(body, x, y, 11.0, 11.0, COLORS[index % COLORS.len()]);
        text(body, x + 16.0, y + 10.0, "ink", 12, &series.name);
        x += width;
    }
    y + 28.0
}

/// Draws one bar per series, below each other. In a single series, the colour marks jird's bars.
fn group(body: &mut String, chart: &Chart, label: usize, top: f64, thick: f64, scale: f64) {
    for (index, series) in chart.series.iter().enumerate() {
        let value = series.values[label];
        let y = top + thick * index as f64;
        let ours = chart.labels[label].starts_with("jird");
        let color = if chart.series.len() > 1 { index } else { usize::from(!ours) };
        let width = drawn(value) * scale;
        rectangle(body, LEFT, y + 0.5, width, thick - 1.0, COLORS[color % COLORS.len()]);
        text(body, LEFT + width + 4.0, y + thick / 2.0 + 3.5, "ink", 10, &figure(value));
    }
}

/// Draws one bar of all series, with their sum at its end.
fn stack(body: &mut String, chart: &Chart, label: usize, top: f64, thick: f64, scale: f64) {
    let mut x = LEFT;
    for (index, series) in chart.series.iter().enumerate() {
        let width = drawn(series.values[label]) * scale;
        rectangle(body, x, top, width, thick, COLORS[index % COLORS.len()]);
        x += width;
    }
    text(body, x + 4.0, top + thick / 2.0 + 3.5, "ink", 10, &figure(total(chart, label)));
}

fn longest(chart: &Chart) -> f64 {
    let of_label = |label| {
        if chart.stacked {
            total(chart, label)
        } else {
            chart.series.iter().map(|series| drawn(series.values[label])).fold(0.0, f64::max)
        }
    };
    (0..chart.labels.len()).map(of_label).fold(f64::MIN_POSITIVE, f64::max)
}

fn total(chart: &Chart, label: usize) -> f64 {
    chart.series.iter().map(|series| drawn(series.values[label])).sum()
}

/// The length to draw. A difference of two times may be negative; then there is no bar.
fn drawn(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

/// Formats a value with three significant digits.
fn figure(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn rectangle(body: &mut String, x: f64, y: f64, width: f64, height: f64, color: &str) {
    let shape = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"");
    writeln!(body, "<rect {shape} fill=\"{color}\"/>").expect("writing to a String");
}

fn text(body: &mut String, x: f64, y: f64, class: &str, size: u32, words: &str) {
    let words = escaped(words);
    writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" font-size=\"{size}\">{words}</text>")
        .expect("writing to a String");
}

fn end_text(body: &mut String, x: f64, y: f64, words: &str) {
    let words = escaped(words);
    writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"ink\" font-size=\"12\" text-anchor=\"end\">{words}</text>")
        .expect("writing to a String");
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
            unit: NASTY.to_owned(),
            labels: vec![NASTY.to_owned(); 4],
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
}
