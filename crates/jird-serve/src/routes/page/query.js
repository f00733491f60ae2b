// The query box: SQL, its result as a table and as a chart.

const RESULT_MAX = 10000;
const RESULT_SHOWN = 500;
const HISTORY_MAX = 50;

function historyOf() {
    try {
        const kept = JSON.parse(localStorage.getItem("jird.queries") ?? "[]");
        return Array.isArray(kept) ? kept.filter((sql) => typeof sql === "string") : [];
    } catch {
        return [];
    }
}

function keep(sql) {
    const all = [sql, ...historyOf().filter((kept) => kept !== sql)].slice(0, HISTORY_MAX);
    try {
        localStorage.setItem("jird.queries", JSON.stringify(all));
    } catch {
        // There is no room for it: the history is a help, no more.
    }
}

/** The query box and its result. */
class QueryView {
    constructor() {
        this.input = h("textarea", {
            class: "code",
            rows: "5",
            spellcheck: "false",
            autocapitalize: "off",
            "aria-label": "SQL",
            "aria-describedby": "sql-wrong",
            onkeydown: (event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                    event.preventDefault();
                    this.submit();
                }
            },
        });
        this.runs = h("button", { type: "submit", class: "strong" }, "Run");
        this.stops = button("Stop", () => this.abort?.abort(), { hidden: true });
        this.past = h("select", {
            "aria-label": "Earlier queries",
            onchange: () => {
                if (this.past.value) this.input.value = this.past.value;
                this.past.selectedIndex = 0;
                this.input.focus();
            },
        });
        this.wrong = h("p", { class: "wrong", id: "sql-wrong", role: "alert" });
        this.told = h("output", { class: "rows", "aria-live": "polite" });
        this.saves = [
            ["CSV", "text/csv", "csv"],
            ["JSON", "application/json", "json"],
        ].map(([text, media, suffix]) =>
            button(text, () => this.save(media, suffix), { "aria-label": `Download as ${text}` }),
        );
        this.charts = h("div", { class: "chart-box" });
        this.bar = new CellBar();
        this.grid = new Grid({ label: "Result", onChosen: (row, name) => this.bar.show(name, row[name]) });
        this.more = button("Show more rows", () => this.showMore(), { hidden: true });
        this.result = h(
            "div",
            { class: "result", hidden: true },
            h("header", { class: "bar" }, this.told, h("span", { class: "group downloads" }, this.saves)),
            this.charts,
            this.grid.element,
            this.more,
            this.bar.element,
        );
        this.element = h(
            "section",
            { class: "query", "aria-label": "Query" },
            h("header", { class: "bar" }, h("h1", {}, "Query")),
            h(
                "form",
                {
                    class: "sql",
                    onsubmit: (event) => {
                        event.preventDefault();
                        this.submit();
                    },
                },
                this.input,
                h("div", { class: "bar" }, this.runs, this.stops, h("kbd", {}, "Ctrl Enter"), this.past),
                this.wrong,
            ),
            this.result,
        );
        this.watcher = new ResizeObserver(() => {
            if (this.isDrawn && this.drawnWidth !== this.chartWidth()) this.draw();
        });
        this.watcher.observe(this.result);
        this.showHistory();
    }

    /** The width of the picture within its frame. */
    chartWidth() {
        return Math.max(280, this.result.clientWidth - 18);
    }

    showHistory() {
        fill(
            this.past,
            h("option", { value: "" }, "Earlier queries"),
            historyOf().map((sql) => h("option", { value: sql }, sql.replace(/\s+/g, " ").slice(0, 80))),
        );
        this.past.hidden = this.past.options.length < 2;
    }

    submit() {
        const sql = this.input.value.trim();
        if (sql) go("query", "", new URLSearchParams({ sql }));
    }

    update(params) {
        const sql = params.get("sql") ?? "";
        this.params = params;
        if (this.rows && sql === this.sql && params.get("again") === null && this.isDrawn) return this.draw();
        if (sql) {
            if (this.input.value.trim() !== sql) this.input.value = sql;
            return this.run(sql);
        }
        const first = sources.find(({ kind }) => kind === "store") ?? sources.find(({ kind }) => kind !== "own");
        if (first && !this.input.value) this.input.value = `select * from ${sqlName(first.name)} limit 100`;
        this.input.focus();
    }

    close() {
        this.abort?.abort();
        this.watcher.disconnect();
    }

    async run(sql) {
        this.abort?.abort();
        const abort = (this.abort = new AbortController());
        this.sql = sql;
        this.isDrawn = false;
        keep(sql);
        this.showHistory();
        fill(this.wrong);
        this.stops.hidden = false;
        this.bar.hide();
        this.result.classList.add("waiting");
        const begun = performance.now();
        try {
            const { rows, isAll } = await rowsOf(sql, RESULT_MAX, abort.signal);
            const seconds = ((performance.now() - begun) / 1000).toFixed(2);
            this.told.textContent = isAll
                ? `${plural(rows.length, "row")} in ${seconds} s`
                : `the first ${count(rows.length)} rows; a download has all of them`;
            this.rows = rows;
            this.columns = columnsOf(rows);
            this.result.hidden = false;
            this.shownRows = 0;
            this.grid.show(this.columns, rows.slice(0, RESULT_SHOWN));
            this.shownRows = Math.min(rows.length, RESULT_SHOWN);
            this.tellMore();
            this.draw();
            this.isDrawn = true;
        } catch (error) {
            this.result.hidden = true;
            if (this.abort !== abort) return;
            fill(this.wrong, isAborted(error) ? "Stopped." : problemOf(error, sql));
        } finally {
            if (this.abort === abort) {
                this.stops.hidden = true;
                this.result.classList.remove("waiting");
            }
        }
    }

    showMore() {
        const next = this.rows.slice(this.shownRows, this.shownRows + RESULT_SHOWN);
        this.grid.add(next);
        this.shownRows += next.length;
        this.tellMore();
    }

    tellMore() {
        this.more.hidden = this.shownRows >= this.rows.length;
        this.more.textContent = `Show more rows (${count(this.shownRows)} of ${count(this.rows.length)})`;
    }

    /** The chart, if there are numbers: the label's column, the numbers' columns and the form can be chosen. */
    draw() {
        const isNumeric = (name) =>
            this.rows.some((row) => isNumber(row[name])) &&
            this.rows.every((row) => row[name] === null || row[name] === undefined || isNumber(row[name]));
        const numeric = this.columns.filter(isNumeric);
        if (!numeric.length || this.rows.length < 2) return fill(this.charts);
        const asked = (name, choices) => (choices.includes(this.params.get(name)) ? this.params.get(name) : null);
        const label =
            asked("label", this.columns) ?? this.columns.find((name) => !numeric.includes(name)) ?? this.columns[0];
        const others = numeric.filter((name) => name !== label);
        const chosen = this.params.getAll("y").filter((name) => others.includes(name));
        const series = chosen.length ? chosen : others.slice(0, 1);
        const isTimes = timeOf(this.rows[0][label]) !== null && typeof this.rows[0][label] === "string";
        const kind = asked("chart", ["bar", "line", "none"]) ?? (isTimes ? "line" : "bar");
        this.drawnWidth = this.chartWidth();
        const choose = (changes) => {
            const params = new URLSearchParams(this.params);
            for (const [name, value] of Object.entries(changes)) {
                params.delete(name);
                for (const one of [value].flat()) params.append(name, one);
            }
            go("query", "", params);
        };
        fill(
            this.charts,
            h(
                "div",
                { class: "bar" },
                h(
                    "span",
                    { class: "group", role: "group", "aria-label": "Chart" },
                    [
                        ["none", "No chart"],
                        ["bar", "Bars"],
                        ["line", "Lines"],
                    ].map(([value, text]) =>
                        button(text, () => choose({ chart: value }), { "aria-pressed": String(kind === value) }),
                    ),
                ),
                kind !== "none" &&
                    h(
                        "label",
                        {},
                        "by ",
                        h(
                            "select",
                            {
                                onchange: (event) => choose({ label: event.target.value }),
                            },
                            this.columns.map((name) => h("option", { value: name, selected: name === label }, name)),
                        ),
                    ),
                kind !== "none" &&
                    h(
                        "span",
                        { class: "legend", role: "group", "aria-label": "Numbers" },
                        others.map((name) => {
                            const place = series.indexOf(name);
                            return button(
                                [h("i", { class: place >= 0 ? `s${place % SERIES_MAX}` : "" }), name],
                                () => {
                                    const next =
                                        place >= 0 ? series.filter((one) => one !== name) : [...series, name];
                                    if (next.length) choose({ y: next });
                                },
                                { "aria-pressed": String(place >= 0) },
                            );
                        }),
                    ),
            ),
            kind !== "none" && chartOf(this.rows, label, series, kind, this.chartWidth()),
            kind !== "none" &&
                this.rows.length > POINTS_MAX &&
                h("p", { class: "quiet" }, `The chart has the first ${count(POINTS_MAX)} rows.`),
        );
    }

    /** Downloads the whole result, also what is not shown. */
    async save(media, suffix) {
        try {
            const answer = await askSql(this.sql, media);
            saveAs(`query.${suffix}`, await answer.blob());
        } catch (error) {
            fill(this.wrong, problemOf(error, this.sql));
        }
    }
}
