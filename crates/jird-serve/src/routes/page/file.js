// Files by queries: pages, order and conditions.

/** The rows of a file, by queries. */
class FileView {
    constructor(source) {
        this.source = source;
        const apply = (where) => this.change({ where, offset: "" });
        this.filter = new FilterBox({
            label: "Filter",
            example: "price > 10 and name like 'A%'",
            onApply: apply,
            onClear: () => apply(""),
        });
        this.grid = new Grid({
            label: `Rows of ${source.name}`,
            onOrder: (name) => this.order(name),
            onChosen: (row, name) =>
                this.bar.show(
                    name,
                    row[name],
                    !isNested(row[name]) &&
                        button("Filter by this value", () =>
                            this.change({
                                where: both(
                                    this.params.get("where") ?? "",
                                    conditionOf([name], row[name] ?? null, true),
                                ),
                                offset: "",
                            }),
                        ),
                ),
        });
        this.bar = new CellBar();
        this.range = h("output", { class: "rows", "aria-live": "polite" });
        this.previous = button("Previous", () => this.page(-1));
        this.following = button("Next", () => this.page(1));
        this.element = h(
            "section",
            { class: "table", "aria-label": `File ${source.name}` },
            h(
                "header",
                { class: "bar" },
                h("h1", {}, source.name),
                h("span", { class: "badge" }, "file"),
                h("nav", { class: "pages", "aria-label": "Pages" }, this.range, this.previous, this.following),
                downloads((form) => this.save(form), ["NDJSON", "JSON", "CSV"]),
            ),
            this.filter.element,
            this.grid.element,
            this.bar.element,
        );
    }

    change(changes) {
        const params = new URLSearchParams(this.params);
        for (const [name, value] of Object.entries(changes)) params.set(name, value);
        go("file", this.source.name, params);
    }

    async update(params) {
        this.abort?.abort();
        this.abort = new AbortController();
        this.params = params;
        this.filter.show(params.get("where") ?? "");
        this.bar.hide();
        const offset = Math.max(0, Math.floor(Number(params.get("offset") ?? 0)) || 0);
        const order = this.orderNow();
        try {
            const sql = `${this.sql()} limit ${PAGE_ROWS + 1} offset ${offset}`;
            const { rows, isAll } = await rowsOf(sql, PAGE_ROWS, this.abort.signal);
            this.grid.show(columnsOf(rows), rows, order);
            this.range.textContent = rows.length ? `${count(offset + 1)}–${count(offset + rows.length)}` : "no rows";
            this.previous.disabled = offset === 0;
            this.following.disabled = isAll;
        } catch (error) {
            if (!isAborted(error)) this.filter.wrong(error);
        }
    }

    /** The query of all rows that the condition chooses. */
    sql() {
        const order = this.orderNow();
        const where = this.params.has("where") ? ` where (${this.params.get("where")}\n)` : "";
        const by = order ? ` order by ${sqlName(order.name)}${order.isDown ? " desc" : ""}` : "";
        return `select * from ${sqlName(this.source.name)}${where}${by}`;
    }

    /** Downloads these rows, on all pages. */
    async save(form) {
        try {
            const answer = await askSql(this.sql(), MEDIA[form], this.abort.signal);
            saveAs(`${this.source.name}.${form.toLowerCase()}`, await answer.blob());
        } catch (error) {
            if (!isAborted(error)) this.filter.wrong(error);
        }
    }

    close() {
        this.abort?.abort();
    }

    orderNow() {
        const order = this.params.get("order");
        return order ? { name: order.replace(/\.(asc|desc)$/, ""), isDown: order.endsWith(".desc") } : null;
    }

    order(name) {
        const now = this.orderNow();
        this.change({ order: now?.name !== name ? `${name}.asc` : now.isDown ? "" : `${name}.desc`, offset: "" });
    }

    page(by) {
        const offset = Math.max(0, Number(this.params.get("offset") ?? 0) + by * PAGE_ROWS);
        this.change({ offset: offset ? String(offset) : "" });
    }
}

/** The names in rows, in the order in which they are met. */
function columnsOf(rows) {
    return [...new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))];
}
