// Alerts: searches and conditions that the server counts, again and again.

/** How often the list is asked for while it is seen, in milliseconds. */
const ALERTS_EVERY = 5000;

/** The alerts, and whether they fire. */
class AlertsView {
    constructor() {
        this.store = sources.find(({ kind }) => kind === "store");
        this.body = h("tbody");
        this.message = h("p", { class: "wrong", role: "alert" });
        this.none = h("p", { class: "empty" });
        const heads = ["State", "Name", "Fires after more than", "Now", "Events", "Change"];
        this.table = h(
            "div",
            { class: "scroll alerts", tabindex: "0", role: "group", "aria-label": "All alerts" },
            h(
                "table",
                {},
                h(
                    "thead",
                    {},
                    h(
                        "tr",
                        {},
                        heads.map((text) => h("th", { scope: "col" }, text)),
                    ),
                ),
                this.body,
            ),
        );
        this.element = h(
            "section",
            { "aria-label": "Alerts" },
            h(
                "header",
                { class: "bar" },
                h("h1", {}, "Alerts"),
                button("New alert…", () => this.edit({ minutes: 5, more_than: 0 })),
            ),
            this.message,
            this.none,
            this.table,
        );
    }

    async update(params) {
        this.close();
        this.abort = new AbortController();
        await this.load();
        this.timer = setInterval(() => document.visibilityState === "visible" && this.load(), ALERTS_EVERY);
        // From the log: an alert for what is seen there.
        if (params.has("new")) {
            this.edit({ search: params.get("search"), condition: params.get("where"), minutes: 5, more_than: 0 });
            history.replaceState(null, "", "#/alerts");
            document.getElementById("main").dataset.shows = location.hash;
        }
    }

    close() {
        this.abort?.abort();
        clearInterval(this.timer);
    }

    async load() {
        try {
            const headers = { Accept: "application/json" };
            const rows = await (
                await ask("alerts?order=firing.desc,name", { headers, signal: this.abort.signal })
            ).json();
            fill(this.message);
            this.table.hidden = rows.length === 0;
            this.none.textContent = rows.length
                ? ""
                : "No alerts yet. An alert fires while more events come than it allows.";
            const text = JSON.stringify(rows);
            // What has not changed keeps the keyboard's place.
            if (text !== this.shown)
                fill(
                    this.body,
                    rows.map((row) => this.row(row)),
                );
            this.shown = text;
        } catch (error) {
            if (!isAborted(error)) fill(this.message, problemOf(error));
        }
    }

    row(row) {
        const { name, condition, search, more_than: most, minutes, firing, events, changed, problem } = row;
        const params = new URLSearchParams();
        if (search) params.set("search", search);
        if (condition) params.set("where", condition);
        params.set("since", `${minutes}m`);
        const since = timeOf(changed);
        return h(
            "tr",
            { class: firing ? "firing" : null },
            h(
                "td",
                {},
                firing ? "● Firing" : "Quiet",
                since !== null && h("small", {}, ` since ${clock(since).slice(0, 19).replace("T", " ")}`),
            ),
            h("td", {}, h("b", {}, name), problem && h("p", { class: "wrong" }, cut(problem, LONG))),
            h("td", {}, `${plural(most, "event")} in ${minutes} min`),
            h("td", { class: "right" }, events === null ? "" : count(events)),
            h(
                "td",
                {},
                h(
                    "a",
                    { href: hrefOf("store", this.store.name, params) },
                    cut([search, condition].filter(Boolean).join(" · ") || "all events", 60),
                ),
            ),
            h(
                "td",
                {},
                button("Edit…", () => this.edit(row), { "aria-label": `Edit ${name}` }),
            ),
        );
    }

    /** Makes an alert, or changes one. What the server would not understand is told before it is kept. */
    edit(row) {
        const text = (value, attributes) =>
            h("input", { type: "text", autocomplete: "off", spellcheck: "false", value: value ?? "", ...attributes });
        const number = (value, min, max) =>
            h("input", { type: "number", min, max, step: "1", required: true, value });
        const fields = {
            name: text(row.name, { required: true, maxlength: "200" }),
            search: text(row.search, { placeholder: "timeout payment" }),
            condition: text(row.condition, { class: "code", placeholder: "\"@l\" = 'Error'" }),
            more_than: number(row.more_than, "0", "1000000000"),
            minutes: number(row.minutes, "1", "10080"),
        };
        const titles = {
            name: "Name",
            search: "Search",
            condition: "Where",
            more_than: "More events than",
            minutes: "In minutes",
        };
        const path = `alerts/${encodeURIComponent(row.id)}`;
        const save = async () => {
            const [search, condition] = [fields.search.value.trim(), fields.condition.value.trim()];
            const asked = new URLSearchParams({ limit: "0" });
            if (search) asked.set("search", search);
            if (condition) asked.set("where", condition);
            await ask(`events?${asked}`);
            const changed = {
                name: fields.name.value.trim(),
                search: search || null,
                condition: condition || null,
                more_than: Number(fields.more_than.value),
                minutes: Number(fields.minutes.value),
            };
            await (row.id === undefined ? changeOwn("alerts", "POST", changed) : changeOwn(path, "PATCH", changed));
            announce("Saved");
            await this.load();
        };
        const remove = async () => {
            await changeOwn(path, "DELETE");
            await this.load();
        };
        const rows = Object.entries(fields).map(([key, field]) => [titles[key], field]);
        const acts = row.id === undefined ? [] : [["Delete", remove]];
        askInDialog(row.id === undefined ? "New alert" : "Alert", rows, "Save", save, ...acts);
    }
}
