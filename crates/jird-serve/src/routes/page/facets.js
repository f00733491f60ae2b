// Facets: the fields of the events that are seen, and their most frequent values.

/** A panel of fields and values; `onFilter(condition)` narrows the view to one of them. */
class Facets {
    constructor(onFilter) {
        this.onFilter = onFilter;
        this.asked = "";
        this.told = h("p", { class: "quiet" });
        this.fields = h("div", { class: "facet-fields" });
        this.element = h(
            "details",
            { class: "facets", ontoggle: () => this.element.open && this.load() },
            h("summary", {}, "Fields and their values"),
            this.told,
            this.fields,
        );
    }

    /** From now on, these events are seen. */
    update(asked, signal) {
        Object.assign(this, { asked, signal });
        if (this.element.open) this.load();
    }

    async load() {
        const { signal } = this;
        this.fields.classList.add("waiting");
        try {
            const answer = await ask(`events/facets?${this.asked}`, {
                headers: { Accept: "application/json" },
                signal,
            });
            this.show(parse(await answer.text()));
        } catch (error) {
            if (isAborted(error)) return;
            fill(this.fields);
            fill(this.told, error.status === 400 ? "" : problemOf(error));
        }
        this.fields.classList.remove("waiting");
    }

    show({ events, all, fields }) {
        const which = all ? "All" : "The newest";
        fill(this.told, `${which} ${plural(events, "event")} ${events === 1 ? "is" : "are"} counted.`);
        // A field with another value in each event tells nothing here, as one with times or numbers of orders.
        const isTelling = ({ field, values }) => values[0]?.events > 1 || LEVEL_FIELDS.includes(field.slice(1));
        const telling = fields.filter(isTelling);
        fill(
            this.fields,
            telling.map((field) => this.field(field)),
        );
    }

    field({ field, events, distinct, values, others }) {
        const path = pathOf(field);
        const most = values[0]?.events ?? 1;
        const rest = distinct - values.length;
        const notes = [
            rest > 0 && `${plural(rest, "other value")}`,
            others > 0 && `${plural(others, "event")} with values that were not counted`,
        ];
        return h(
            "section",
            {},
            h("h2", {}, sqlPath(path), h("small", {}, ` ${plural(events, "event")}`)),
            h(
                "ul",
                {},
                values.map(({ value, events }) => {
                    const text = value === "" ? "(empty)" : textOf(value);
                    const part = h("meter", { min: "0", max: most, value: String(events), "aria-hidden": "true" });
                    return h(
                        "li",
                        {},
                        button(
                            [
                                h("span", { class: `v ${kindOf(value)}` }, marked(cut(text, 80), true)),
                                h("b", {}, count(events)),
                                part,
                            ],
                            () => this.onFilter(conditionOf(path, value, true)),
                            {
                                "aria-label": `Only events whose ${sqlPath(path)} is ${text}: ${count(events)}`,
                            },
                        ),
                    );
                }),
            ),
            notes.some(Boolean) && h("p", { class: "quiet" }, notes.filter(Boolean).join("; ")),
        );
    }
}
