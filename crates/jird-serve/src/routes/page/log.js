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
        this.filter = new FilterBox("Filter", "Elapsed > 200 and \"@l\" = 'Error'", (where) =>
            this.change({ where }),
        );
        this.times = new Histogram(
            (since, until) => this.change({ since, until }),
            () => this.change({ since: "", until: "" }),
        );
        this.follow = button("Follow", () => this.change({ follow: this.params.get("follow") ? "" : "1" }), {
            class: "toggle",
            "aria-pressed": "false",
        });
        this.ranges = h(
            "div",
            { class: "group", role: "group", "aria-label": "Time" },
            RANGES.map(([since, text]) =>
                button(text, () => this.change({ since, until: "" }), { "data-since": since }),
            ),
        );
        this.list = h("ol", {
            class: "events",
            onkeydown: (event) => this.key(event),
            onclick: (event) => this.click(event),
        });
        this.end = h("p", { class: "end" });
        this.more = button("Load older events", () => this.load(), { hidden: true });
        this.element = h(
            "section",
            { class: "log", "aria-label": `Events of ${source.name}` },
            h("header", { class: "bar" }, h("h1", {}, source.name), this.ranges, this.follow),
            this.filter.element,
            this.times.element,
            this.list,
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

    /** Leads to the same log with other parameters. */
    change(changes) {
        const params = new URLSearchParams(this.params);
        for (const [name, value] of Object.entries(changes)) params.set(name, value);
        go("store", this.source.name, params);
    }

    update(params) {
        this.stop();
        this.params = params;
        this.filter.show(params.get("where") ?? "");
        const isFollowing = params.has("follow");
        this.follow.setAttribute("aria-pressed", isFollowing);
        for (const range of this.ranges.children) {
            const isThis = (params.get("since") ?? "") === range.dataset.since && !params.has("until");
            range.setAttribute("aria-pressed", isThis);
        }
        this.list.replaceChildren();
        this.seen = 0;
        this.last = null;
        this.day = null;
        const asked = new URLSearchParams();
        for (const name of ["where", "since", "until"]) if (params.has(name)) asked.set(name, params.get(name));
        this.asked = asked.toString();
        asked.set("limit", PAGE_EVENTS);
        this.next = `events?${asked}`;
        const { signal } = this.abort;
        return this.load(true).then(() => {
            if (signal.aborted) return;
            this.count();
            if (isFollowing) this.listen();
        });
    }

    stop() {
        this.abort?.abort();
        this.abort = new AbortController();
        clearTimeout(this.recount);
    }

    close() {
        this.stop();
        this.watcher.disconnect();
    }

    /** Loads the next page of older events. */
    async load(isFirst = false) {
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
            this.add(events);
            const isFull = this.seen >= EVENTS_MAX;
            this.more.hidden = !this.next || isFull;
            this.end.textContent = this.endText(isFull);
            if (isFirst) announce(`${plural(this.seen, "event")} shown`);
        } catch (error) {
            if (isAborted(error)) return;
            this.end.textContent = "";
            this.filter.wrong(error);
        } finally {
            if (!signal.aborted) this.isLoading = false;
        }
        // The button may be in sight still, which the watcher tells only when that changes.
        if (!this.more.hidden) {
            this.watcher.unobserve(this.more);
            this.watcher.observe(this.more);
        }
    }

    /** What stands below the events. */
    endText(isFull) {
        if (this.seen === 0) return "No events.";
        if (isFull) return `These are the newest ${count(this.seen)}. Narrow the time to see others.`;
        return this.next ? "" : `${plural(this.seen, "event")}, all there are.`;
    }

    add(events) {
        this.level ??= events.map((event) => pick(event, LEVEL_FIELDS)).find(Boolean);
        for (const event of events) {
            const day = this.dayOf(event);
            if (day && day !== this.day) this.list.append(h("li", { class: "day" }, day));
            this.day = day ?? this.day;
            this.list.append(this.item(event));
        }
        this.seen += events.length;
        this.list.querySelector("button.line[tabindex='0']") ??
            this.list.querySelector("button.line")?.setAttribute("tabindex", "0");
    }

    dayOf(event) {
        const time = timeOf(at(event, this.time));
        return time === null ? null : iso(time).slice(0, 10);
    }

    item(event) {
        const time = timeOf(at(event, this.time));
        const level = event[pick(event, LEVEL_FIELDS) ?? "@l"];
        const kind = levelKind(level);
        const item = h(
            "li",
            { class: kind },
            h(
                "button",
                { type: "button", class: "line", tabindex: "-1", "aria-expanded": "false" },
                h("time", { title: textOf(at(event, this.time)) }, time === null ? "" : iso(time).slice(11, 23)),
                h("span", { class: "level" }, textOf(level ?? "") || "Information"),
                h("span", { class: "message" }, messageOf(event).slice(0, 1000)),
            ),
        );
        item.event = event;
        return item;
    }

    click(event) {
        const line = event.target.closest("button.line");
        if (!line) return;
        this.focus(line, false);
        this.expand(line.parentElement, line.getAttribute("aria-expanded") !== "true");
    }

    expand(item, isOpen) {
        item.firstChild.setAttribute("aria-expanded", isOpen);
        item.querySelector(".detail")?.remove();
        if (!isOpen) return;
        const text = JSON.stringify(item.event, null, 2);
        const copy = button("Copy JSON", async () => {
            await navigator.clipboard.writeText(text);
            copy.textContent = "Copied";
        });
        // Browsers give the clipboard only to pages that nobody can have changed on the way.
        copy.hidden = !navigator.clipboard;
        item.append(
            h(
                "div",
                { class: "detail" },
                tree(item.event, (path, value, isWanted) =>
                    this.change({ where: both(this.params.get("where") ?? "", conditionOf(path, value, isWanted)) }),
                ),
                h("p", { class: "acts" }, copy),
            ),
        );
    }

    focus(line, hasMoved) {
        this.list.querySelector("button.line[tabindex='0']")?.setAttribute("tabindex", "-1");
        line.setAttribute("tabindex", "0");
        if (hasMoved) line.focus();
    }

    key(event) {
        const line = event.target.closest?.("button.line");
        if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
        const lines = [...this.list.querySelectorAll("button.line")];
        const at = lines.indexOf(line);
        const isOpen = line.getAttribute("aria-expanded") === "true";
        const places = {
            ArrowDown: at + 1,
            ArrowUp: at - 1,
            Home: 0,
            End: lines.length - 1,
            PageDown: at + 10,
            PageUp: at - 10,
        };
        if (event.key in places) {
            this.focus(lines[Math.max(0, Math.min(places[event.key], lines.length - 1))], true);
        } else if ((event.key === "ArrowRight" && !isOpen) || (event.key === "ArrowLeft" && isOpen)) {
            this.expand(line.parentElement, !isOpen);
        } else {
            return;
        }
        event.preventDefault();
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
        if (!hasQueries) return this.times.hide();
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
                let data = [];
                for await (const line of linesOf(answer)) {
                    if (line.startsWith("data:")) data.push(line.slice(5).trim());
                    else if (line.startsWith("id:")) last = line.slice(3).trim();
                    else if (line === "" && data.length) {
                        this.arrive(parse(data.join("\n")));
                        data = [];
                    }
                }
            } catch (error) {
                if (isAborted(error)) return;
                if (error.status >= 400 && error.status < 500) return this.filter.wrong(error);
            }
            this.follow.dataset.state = "lost";
            announce("The server does not answer; the log goes on when it does");
            await new Promise((resolve) => setTimeout(resolve, wait));
        }
    }

    arrive(event) {
        const day = this.dayOf(event);
        const first = this.list.firstElementChild;
        const item = this.item(event);
        item.classList.add("new");
        if (day && first?.className === "day" && first.textContent === day) first.after(item);
        else this.list.prepend(...(day ? [h("li", { class: "day" }, day)] : []), item);
        if (!this.list.querySelector("button.line[tabindex='0']")) item.firstChild.setAttribute("tabindex", "0");
        this.day ??= day;
        this.seen += 1;
        this.end.textContent = this.end.textContent === "No events." ? "" : this.end.textContent;
        if (this.list.childElementCount > EVENTS_MAX) {
            this.list.lastElementChild.remove();
            this.next = null;
            this.more.hidden = true;
            this.end.textContent = "Older events are left out while this follows.";
        }
        this.recount ??= setTimeout(() => {
            this.recount = null;
            this.count();
        }, 2000);
    }
}
