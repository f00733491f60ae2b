// Charts: bars over time of which a part can be chosen, and bars or lines of a result.

const svg = (tag, attributes, ...children) => h(`svg:${tag}`, attributes, ...children);

/** Round lengths of time, in seconds, and as SQL. */
const BUCKETS = [
    [1e-3, "1 millisecond"],
    [1e-2, "10 milliseconds"],
    [0.1, "100 milliseconds"],
    [1, "1 second"],
    [2, "2 seconds"],
    [5, "5 seconds"],
    [15, "15 seconds"],
    [60, "1 minute"],
    [300, "5 minutes"],
    [900, "15 minutes"],
    [3600, "1 hour"],
    [10800, "3 hours"],
    [43200, "12 hours"],
    [86400, "1 day"],
    [604800, "7 days"],
    [2592000, "30 days"],
    [31536000, "365 days"],
];

/** A length that cuts this time into at most 120 bars. */
function bucketFor(milliseconds) {
    const [seconds, sql] = BUCKETS.find(([length]) => length * 1000 * 120 >= milliseconds) ?? BUCKETS.at(-1);
    return { length: seconds * 1000, sql };
}

/** A time as far as it differs from its neighbours. */
function timeLabel(time, length, text = clock(time)) {
    if (length >= 86400e3) return text.slice(0, 10);
    if (length >= 60e3) return `${text.slice(5, 10)} ${text.slice(11, 16)}`;
    return length >= 1000 ? text.slice(11, 19) : text.slice(11, 23);
}

/**
 * Events by time and level. Bars are chosen by dragging, or with the arrow keys and Shift; Enter narrows to them.
 */
class Histogram {
    constructor(onNarrow, onWiden) {
        this.onNarrow = onNarrow;
        this.onWiden = onWiden;
        this.bars = [];
        this.chosen = null;
        this.said = h("output", { class: "range", "aria-live": "polite" });
        this.picture = svg("svg", {
            class: "histogram",
            tabindex: "0",
            role: "application",
            preserveAspectRatio: "none",
            "aria-label":
                "Events by time. Arrow keys choose a bar, with Shift several; Enter narrows the time to them, " +
                "Backspace widens it again.",
            onpointerdown: (event) => this.press(event),
            onpointermove: (event) => this.drag(event),
            onpointerup: (event) => this.release(event),
            onpointercancel: () => this.choose(null),
            onkeydown: (event) => this.key(event),
        });
        this.axis = h("div", { class: "axis", "aria-hidden": "true" });
        this.element = h("figure", { class: "times" }, this.picture, this.axis, this.said);
    }

    /** `rows` have `t`, `level` and `n`; times from `begin` to `end` are shown. */
    show(rows, { begin, end, length, sql }) {
        const first = Math.floor(begin / length) * length;
        const places = Math.min(Math.max(Math.ceil((end - first) / length), 1), 2000);
        this.length = length;
        this.unit = sql;
        this.bars = Array.from({ length: places }, (_, index) => ({
            time: first + index * length,
            sum: 0,
            levels: {},
        }));
        for (const { t, level, n } of rows) {
            const time = timeOf(t);
            const bar = time === null ? undefined : this.bars[Math.floor((time - first) / length)];
            if (!bar) continue;
            const kind = levelKind(level);
            bar.levels[kind] = (bar.levels[kind] ?? 0) + Number(n);
            bar.sum += Number(n);
        }
        this.chosen = null;
        this.draw();
    }

    hide() {
        this.element.hidden = true;
    }

    draw() {
        this.element.hidden = false;
        const most = Math.max(1, ...this.bars.map((bar) => bar.sum));
        const height = 100;
        const width = 10;
        this.picture.setAttribute("viewBox", `0 0 ${this.bars.length * width} ${height}`);
        this.shade = svg("rect", { class: "shade", y: "0", height, width: "0" });
        this.picture.replaceChildren(
            this.shade,
            ...this.bars.flatMap((bar, index) => {
                let y = height;
                return LEVEL_NAMES.toReversed()
                    .filter((kind) => bar.levels[kind])
                    .map((kind) => {
                        const part = Math.max((bar.levels[kind] / most) * (height - 4), 1);
                        y = Math.max(y - part, 0);
                        return svg("rect", {
                            class: `bar ${kind}`,
                            x: index * width + 1,
                            y,
                            width: width - 2,
                            height: part,
                        });
                    });
            }),
        );
        const steps = Math.min(this.bars.length, 5);
        fill(
            this.axis,
            Array.from({ length: steps }, (_, index) => {
                const bar = this.bars[Math.floor((index * this.bars.length) / steps)];
                return h("span", {}, timeLabel(bar.time, this.length));
            }),
        );
        this.tell();
    }

    choose(chosen) {
        this.chosen = chosen;
        const [from, to] = chosen ? [Math.min(...chosen), Math.max(...chosen)] : [0, -1];
        this.shade?.setAttribute("x", from * 10);
        this.shade?.setAttribute("width", (to - from + 1) * 10);
        this.tell();
    }

    range() {
        const [from, to] = [Math.min(...this.chosen), Math.max(...this.chosen)];
        const bars = this.bars.slice(from, to + 1);
        return {
            begin: bars[0].time,
            end: bars.at(-1).time + this.length,
            sum: bars.reduce((sum, bar) => sum + bar.sum, 0),
        };
    }

    tell() {
        if (this.chosen) {
            const { begin, end, sum } = this.range();
            this.said.textContent = `${plural(sum, "event")} from ${stamp(begin)} to ${stamp(end)}`;
        } else {
            const sum = this.bars.reduce((all, bar) => all + bar.sum, 0);
            this.said.textContent = this.bars.length
                ? `${plural(sum, "event")} · a bar is ${this.unit} · ${zoneName()}`
                : "";
        }
    }

    at(event) {
        const box = this.picture.getBoundingClientRect();
        const place = Math.floor(((event.clientX - box.left) / box.width) * this.bars.length);
        return Math.max(0, Math.min(place, this.bars.length - 1));
    }

    press(event) {
        if (event.button !== 0 || !this.bars.length) return;
        try {
            this.picture.setPointerCapture(event.pointerId);
        } catch {
            // The pointer is gone already.
        }
        this.isDragging = true;
        this.choose([this.at(event), this.at(event)]);
    }

    drag(event) {
        if (this.isDragging) this.choose([this.chosen[0], this.at(event)]);
        else if (this.bars.length && event.pointerType === "mouse") {
            const { time, sum } = this.bars[this.at(event)];
            this.said.textContent = `${plural(sum, "event")} at ${timeLabel(time, this.length)}`;
        }
    }

    release() {
        if (!this.isDragging) return;
        this.isDragging = false;
        this.narrow();
    }

    narrow() {
        const { begin, end } = this.range();
        this.onNarrow(iso(begin), iso(end));
    }

    key(event) {
        const last = this.bars.length - 1;
        const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
        if (event.key in moves && last >= 0) {
            const [anchor, at] = this.chosen ?? [
                event.key === "ArrowLeft" ? last + 1 : -1,
                event.key === "ArrowLeft" ? last + 1 : -1,
            ];
            const next = Math.max(0, Math.min(at + moves[event.key], last));
            this.choose([event.shiftKey && this.chosen ? anchor : next, next]);
        } else if (event.key === "Enter" && this.chosen) {
            this.narrow();
        } else if (event.key === "Backspace") {
            this.onWiden();
        } else if (event.key === "Escape") {
            this.choose(null);
        } else {
            return;
        }
        event.preventDefault();
    }
}

const SERIES_MAX = 6;
const POINTS_MAX = 400;

/** Round steps for an axis from 0, or from the least value, to the greatest. */
function ticks(least, most) {
    const span = most - least || 1;
    const rough = span / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const steps = [];
    for (let at = Math.floor(least / step); at <= Math.ceil(most / step); at++) steps.push(at * step);
    return steps;
}

const short = (number) =>
    number.toLocaleString("en-US", {
        notation: Math.abs(number) >= 10000 ? "compact" : "standard",
        maximumFractionDigits: 3,
    });

/** A chart of rows, so many pixels wide: one column gives the labels, others the numbers. */
function chartOf(rows, label, series, kind, width) {
    const shownRows = rows.slice(0, POINTS_MAX);
    const numbers = shownRows.flatMap((row) => series.map((name) => Number(row[name]))).filter(Number.isFinite);
    if (!numbers.length) return h("p", { class: "quiet" }, "There are no numbers to draw.");
    const steps = ticks(Math.min(0, ...numbers), Math.max(0, ...numbers));
    const [low, high] = [steps[0], steps.at(-1)];
    const [height, left, bottom] = [300, 58, 34];
    const x = (index) => left + ((index + 0.5) * (width - left)) / shownRows.length;
    const y = (number) => 8 + ((high - number) / (high - low)) * (height - bottom - 8);
    const slot = (width - left) / shownRows.length;
    const picture = svg("svg", {
        class: "chart",
        viewBox: `0 0 ${width} ${height}`,
        height,
        role: "img",
        "aria-label": `Chart of ${series.join(", ")} by ${label}; the table below has its numbers`,
    });
    for (const step of steps) {
        picture.append(
            svg("line", { class: step === 0 ? "base" : "rule", x1: left, x2: width, y1: y(step), y2: y(step) }),
            svg("text", { class: "tick", x: left - 8, y: y(step) + 4, "text-anchor": "end" }, short(step)),
        );
    }
    const times = shownRows.map((row) => (typeof row[label] === "string" ? timeOf(row[label]) : null));
    const areTimes = times.every((time) => time !== null);
    const between = areTimes && times.length > 1 ? Math.abs(times.at(-1) - times[0]) / (times.length - 1) : 0;
    const every = Math.ceil(shownRows.length / Math.max(2, Math.floor((width - left) / 110)));
    shownRows.forEach((row, index) => {
        if (index % every) return;
        const text = areTimes ? timeLabel(times[index], between, iso(times[index])) : textOf(row[label]);
        picture.append(
            svg(
                "text",
                { class: "tick", x: x(index), y: height - 12, "text-anchor": "middle" },
                text.length > 16 ? `${text.slice(0, 15)}…` : text,
            ),
        );
    });
    series.forEach((name, place) => {
        const points = shownRows.map((row, index) => [
            index,
            row[name] === null ? NaN : Number(row[name]),
            row[label],
        ]);
        picture.append(
            kind === "line" ? lineOf(points, place, x, y) : barsOf(points, place, series.length, slot, x, y),
        );
    });
    return picture;
}

const titleOf = (label, number) => svg("title", {}, `${textOf(label)}: ${short(number)}`);

function lineOf(points, place, x, y) {
    const there = points.filter(([, number]) => Number.isFinite(number));
    const path = there.map(
        ([index, number], at) => `${at && there[at - 1][0] === index - 1 ? "L" : "M"}${x(index)} ${y(number)}`,
    );
    return svg(
        "g",
        { class: `series s${place % SERIES_MAX}` },
        svg("path", { d: path.join("") }),
        there.length <= 120 &&
            there.map(([index, number, label]) =>
                svg("circle", { cx: x(index), cy: y(number), r: "3" }, titleOf(label, number)),
            ),
    );
}

function barsOf(points, place, all, slot, x, y) {
    const width = Math.max((slot * 0.8) / all, 0.5);
    return svg(
        "g",
        { class: `series s${place % SERIES_MAX}` },
        points
            .filter(([, number]) => Number.isFinite(number))
            .map(([index, number, label]) =>
                svg(
                    "rect",
                    {
                        x: x(index) - (width * all) / 2 + place * width,
                        width: Math.max(width - (width > 4 ? 1 : 0), 0.5),
                        y: Math.min(y(number), y(0)),
                        height: Math.max(Math.abs(y(number) - y(0)), 0.5),
                    },
                    titleOf(label, number),
                ),
            ),
    );
}
