// The log view of a store: newest events first.

const PAGE_EVENTS = 100;
const EVENTS_MAX = 5000;
const RANGES = [
    ["15m", "15 min"],
    ["1h", "1 h"],
    ["24h", "24 h"],
    ["7d", "7 d"],
    ["", "All"],
];
/** What chooses the events that are seen. */
const CHOICES = ["search", "where", "since", "until"];
const AGO_FORM = /^(\d+)([smhdw])$/;
const AGO = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3, w: 604800e3 };

/** The milliseconds of a bound: a time, or how long ago. */
function boundOf(text) {
    const ago = AGO_FORM.exec(text ?? "");
    return ago ? Date.now() - Number(ago[1]) * AGO[ago[2]] : text ? timeOf(text) : null;
}

/** A log: a filter, bars of time, and events, of which older ones come as one scrolls and new ones while it follows. */
class LogView {
    constructor(source) {
        this.source = source;
        this.time = pathOf(source.time ?? "/@t");
        this.makeFilter();
        this.times = new Histogram(
            (since, until) => this.change({ since, until }),
            () => this.change({ since: "", until: "" }),
        );
        this.follow = button("Follow", () => this.change({ follow: this.params.get("follow") ? "" : "1" }), {
            class: "toggle",
            "aria-pressed": "false",
        });
        this.told = h("output", { class: "rows" });
        this.ranges = h(
            "div",
            { class: "group", role: "group", "aria-label": "Time" },
            RANGES.map(([since, text]) =>
                button(text, () => this.change({ since, until: "" }), { "data-since": since }),
            ),
        );
        this.zone = new ZoneSwitch(() => this.redraw());
        this.facets = new Facets((condition) => this.narrow(condition));
        this.list = new EventList(this.time, (condition) => this.narrow(condition));
        this.follower = new Follower(this.list, () => this.tellFollowed());
        this.end = h("p", { class: "end" });
        this.more = button("Load older events", () => this.load(), { hidden: true });
        const alert = () => {
            const params = new URLSearchParams({ new: "1" });
            for (const name of ["search", "where"]) params.set(name, this.params.get(name) ?? "");
            go("alerts", "", params);
        };
        const saves = downloads((form) => this.save(form), ["NDJSON", "JSON", "CSV"]);
        this.element = h(
            "section",
            { class: "log", "aria-label": `Events of ${source.name}` },
            h(
                "header",
                { class: "bar" },
                h("h1", {}, source.name),
                this.ranges,
                this.zone.element,
                this.follow,
                hasOwn("alerts") && button("Alert…", alert),
                this.told,
                saves,
            ),
            this.filter.element,
            this.times.element,
            this.facets.element,
            this.follower.button,
            this.list.element,
            h("div", { class: "foot" }, this.end, this.more),
        );
        this.watcher = new IntersectionObserver(
            (seen) => {
                if (seen[0].isIntersecting && !this.more.hidden && !this.isLoading) this.load();
            },
            { rootMargin: "400px" },
        );
        this.watcher.observe(this.more);
    }

    /** One form: words that events contain, a condition, and a stretch of time. */
    makeFilter() {
        this.search = h("input", {
            type: "search",
            name: "search",
            placeholder: 'timeout payment "exact phrase"',
            spellcheck: "false",
            autocomplete: "off",
            "aria-label": "Search: words in any field",
        });
        this.since = new TimeField("From");
        this.until = new TimeField("To");
        this.filter = new FilterBox({
            label: "Condition",
            example: "Elapsed > 200 and \"@l\" = 'Error'",
            onApply: (where) => {
                const search = this.search.value.trim();
                this.change({ where, search, since: this.since.text, until: this.until.text });
            },
            onClear: () => {
                this.search.value = "";
                this.change({ where: "", search: "", since: "", until: "" });
            },
            before: [h("label", { class: "where" }, h("span", {}, "search"), this.search)],
            after: [
                h(
                    "span",
                    { class: "stretch" },
                    h("label", {}, "from ", this.since.input),
                    h("label", {}, "to ", this.until.input),
                ),
            ],
        });
    }

    /** Leads to the same log with other parameters. */
    change(changes) {
        const params = new URLSearchParams(this.params);
        for (const [name, value] of Object.entries(changes)) params.set(name, value);
        go("store", this.source.name, params);
    }

    /** Leads to the events for which this holds, too. */
    narrow(condition) {
        this.change({ where: both(this.params.get("where") ?? "", condition) });
    }

    update(params) {
        this.stop();
        this.params = params;
        const chosen = (name) => params.get(name) ?? "";
        this.filter.show(chosen("where"), CHOICES.some(chosen));
        if (this.search.value.trim() !== chosen("search")) this.search.value = chosen("search");
        this.showTimes();
        const isFollowing = params.has("follow");
        this.follow.setAttribute("aria-pressed", isFollowing);
        for (const range of this.ranges.children) {
            const isThis = chosen("since") === range.dataset.since && !params.has("until");
            range.setAttribute("aria-pressed", isThis);
        }
        this.list.clear();
        this.follower.clear();
        this.told.textContent = "";
        this.seen = 0;
        this.last = null;
        const asked = new URLSearchParams();
        for (const name of CHOICES) if (params.has(name)) asked.set(name, params.get(name));
        this.asked = asked.toString();
        this.facets.update(this.asked, this.abort.signal);
        asked.set("limit", PAGE_EVENTS);
        this.next = `events?${asked}`;
        const { signal } = this.abort;
        return this.load(true).then(() => {
            if (signal.aborted) return;
            this.count();
            if (isFollowing) this.listen();
        });
    }

    showTimes() {
        this.since.show(this.params.get("since") ?? "");
        this.until.show(this.params.get("until") ?? "");
    }

    /** Draws all times again, in another zone. */
    redraw() {
        this.showTimes();
        this.list.redraw();
        if (!this.times.element.hidden) this.times.draw();
    }

    stop() {
        this.abort?.abort();
        this.abort = new AbortController();
        clearTimeout(this.recount);
        this.recount = null;
    }

    close() {
        this.stop();
        this.follower.clear();
        this.watcher.disconnect();
    }

    /** Loads the next page of older events. */
    async load(isFirst = false) {
        if (this.follower.older.length) return this.loadSetAside();
        const { signal } = this.abort;
        this.isLoading = true;
        this.more.hidden = true;
        this.end.textContent = "Loading…";
        try {
            const answer = await ask(this.next, { headers: { Accept: "application/json" }, signal });
            const events = parse(await answer.text());
            if (isFirst) this.last = answer.headers.get("Last-Event-ID");
            const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(answer.headers.get("Link") ?? "");
            this.next = link?.[1] ?? null;
            if (isFirst) this.filter.wrong(null);
            this.level ??= events.map((event) => pick(event, LEVEL_FIELDS)).find(Boolean);
            for (const event of events) this.list.append(new Entry(undefined, event));
            this.seen += events.length;
            this.tellEnd();
            if (isFirst) announce(`${plural(this.seen, "event")} shown`);
        } catch (error) {
            if (isAborted(error)) return;
            this.end.textContent = "";
            this.filter.wrong(error);
        } finally {
            if (!signal.aborted) this.isLoading = false;
        }
        this.watchAgain();
    }

    /** Draws followed events that were set aside. */
    loadSetAside() {
        for (let lines = 0; lines < PAGE_EVENTS && this.follower.drawOlder(); lines += 1);
        this.tellEnd();
        this.watchAgain();
    }

    /** The button may be in sight still, which the watcher tells only when that changes. */
    watchAgain() {
        if (this.more.hidden) return;
        this.watcher.unobserve(this.more);
        this.watcher.observe(this.more);
    }

    /** Tells what is below the events: others, or why not. */
    tellEnd() {
        const { older, left } = this.follower;
        const isFull = this.seen >= EVENTS_MAX;
        // Between the events of the list and those of the server would be a gap.
        if (left) this.next = null;
        this.more.hidden = !older.length && (!this.next || isFull);
        if (left) this.end.textContent = `${plural(left, "older event")} left out. Stop following to see all.`;
        else if (this.seen + this.follower.came === 0) this.end.textContent = "No events.";
        else if (isFull)
            this.end.textContent = `These are the newest ${count(this.seen)}. Narrow the time to see others.`;
        else
            this.end.textContent = this.next
                ? ""
                : `${plural(this.seen + this.follower.came, "event")}, all there are.`;
    }

    /** After a frame in which followed events were drawn, or wait. */
    tellFollowed() {
        this.told.textContent = plural(this.follower.came, "new event");
        this.tellEnd();
        this.recount ??= setTimeout(() => {
            this.recount = null;
            this.count();
        }, 2000);
    }

    /** Counts events by time and level, for the bars. */
    async count() {
        const { signal } = this.abort;
        const name = sqlName(this.source.name);
        const time = sqlPath(this.time);
        let bounds = { begin: boundOf(this.params.get("since")), end: boundOf(this.params.get("until")) };
        const conditions = [];
        if (this.params.has("where")) conditions.push(`(${this.params.get("where")}\n)`);
        if (bounds.begin !== null) conditions.push(`${time} >= timestamp '${iso(bounds.begin)}'`);
        if (bounds.end !== null) conditions.push(`${time} < timestamp '${iso(bounds.end)}'`);
        const where = conditions.length ? `where ${conditions.join(" and ")}` : "";
        // SQL knows no search in all fields.
        if (!hasQueries || this.params.get("search")) return this.times.hide();
        try {
            if (bounds.begin === null || (bounds.end === null && !AGO_FORM.test(this.params.get("since")))) {
                const { rows } = await rowsOf(
                    `select min(${time}) as a, max(${time}) as b from ${name} ${where}`,
                    1,
                    signal,
                );
                const [least, most] = [timeOf(rows[0]?.a), timeOf(rows[0]?.b)];
                if (least === null || most === null) return this.times.hide();
                bounds = { begin: bounds.begin ?? least, end: most + 1 };
            }
            bounds.end ??= Date.now();
            const bucket = bucketFor(bounds.end - bounds.begin);
            const level = sqlName(this.level ?? "@l");
            const { rows } = await rowsOf(
                `select time_bucket('${bucket.sql}', ${time}) as t, ${level} as level, ` +
                    `count(*) as n from ${name} ${where} group by t, level`,
                20000,
                signal,
            );
            this.times.show(rows, { ...bounds, ...bucket });
        } catch (error) {
            // What is wrong with the condition is told beside it.
            if (!isAborted(error)) this.times.hide();
        }
    }

    /** Shows new events as they come, until the view changes. */
    async listen() {
        const { signal } = this.abort;
        // From where the list begins, so that no event falls between the list and the stream.
        let last = this.last;
        for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 15000)) {
            try {
                const headers = { Accept: "text/event-stream" };
                if (last) headers["Last-Event-ID"] = last;
                const asked = new URLSearchParams(this.asked);
                asked.delete("since");
                asked.delete("until");
                asked.set("follow", "true");
                const answer = await ask(`events?${asked}`, { headers, signal });
                this.follow.dataset.state = "on";
                wait = 500;
                await takeEvents(
                    answer,
                    (text) => !signal.aborted && this.follower.take(text),
                    (id) => (last = id),
                );
            } catch (error) {
                if (isAborted(error)) return;
                if (error.status >= 400 && error.status < 500) return this.filter.wrong(error);
            }
            this.follow.dataset.state = "lost";
            announce("The server does not answer; the log goes on when it does");
            await new Promise((resolve) => setTimeout(resolve, wait));
        }
    }

    /** Downloads the events that the filter chooses, also those that are not drawn. */
    async save(form) {
        try {
            const { lines, isAll } = await eventLines(this.asked, this.abort.signal);
            saveAs(`${this.source.name}.${form.toLowerCase()}`, ...inForm(form, lines));
            const told = plural(lines.length, "event");
            this.told.textContent = isAll ? `${told} saved` : `the newest ${told} saved; narrow the time for others`;
        } catch (error) {
            if (!isAborted(error)) this.filter.wrong(error);
        }
    }
}
