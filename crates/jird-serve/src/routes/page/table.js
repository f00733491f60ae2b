// Tables and views by their resources: pages, order, filters, and changes of rows.

const PAGE_ROWS = 100;
const RESERVED = ["select", "order", "limit", "offset", "columns", "on_conflict"];
const OPERATORS = [
    ["eq.", "is"],
    ["neq.", "is not"],
    ["gt.", ">"],
    ["gte.", "≥"],
    ["lt.", "<"],
    ["lte.", "≤"],
    ["ilike.*", "contains"],
    ["is.null", "is null"],
    ["is.not_null", "is not null"],
];

/** How a column takes values, by how it is declared, as SQLite decides it ("Datatypes In SQLite", section 3.1). */
function takes(declared) {
    const type = (declared ?? "").toUpperCase();
    if (type.startsWith("BOOL")) return "boolean";
    if (type.startsWith("JSON")) return "json";
    if (type.includes("INT")) return "number";
    if (/CHAR|CLOB|TEXT/.test(type)) return "text";
    if (type.includes("BLOB")) return "blob";
    if (type === "" || type === "ANY") return "any";
    return /REAL|FLOA|DOUB/.test(type) ? "number" : /NUM|DEC/.test(type) ? "number" : "any";
}

const NUMERAL = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** What a person wrote, as JSON for this column. */
function written(text, kind, old) {
    if (kind === "json") {
        try {
            JSON.parse(text);
        } catch (error) {
            throw new Problem(0, { detail: `this is not JSON: ${error.message}` });
        }
        return text;
    }
    if (kind === "number" && !NUMERAL.test(text))
        throw new Problem(0, { detail: "this column takes numbers, or Null" });
    if (kind === "boolean" && /^(true|false|null)$/.test(text)) return text;
    const isText = kind === "text" || (kind === "any" && typeof old === "string");
    return !isText && NUMERAL.test(text) ? text : JSON.stringify(text);
}

/** A field for a value of a column. */
function fieldFor(kind, value, attributes) {
    if (kind === "boolean") {
        return h(
            "select",
            attributes,
            ["true", "false"].map((text) => h("option", { value: text, selected: String(value) === text }, text)),
        );
    }
    const text =
        value === null || value === undefined ? "" : isNested(value) ? JSON.stringify(value, null, 1) : textOf(value);
    const isLong = kind === "json" || text.length > 40 || text.includes("\n");
    const field = h(isLong ? "textarea" : "input", { class: "code", spellcheck: "false", ...attributes });
    field.value = text;
    return field;
}

/** A link to the rows of a table whose columns have these values; null if no condition can say that. */
function linkTo(table, pairs, text, attributes) {
    const canSay = ([column, value]) =>
        value !== null && value !== undefined && !isNested(value) && !RESERVED.includes(column);
    if (!pairs.every(canSay)) return null;
    const params = new URLSearchParams(pairs.map(([column, value]) => [column, `eq.${textOf(value)}`]));
    const told = pairs.map(([column, value]) => `${column} ${textOf(value)}`).join(", ");
    return h("a", { href: hrefOf("table", table, params), title: `${table}: ${told}`, ...attributes }, text);
}

/** A table or view: its filters, a page of its rows, and editors for them. */
class TableView {
    constructor(source) {
        this.source = source;
        this.path = encodeURIComponent(source.name);
        this.isChanged = source.writable && typeof source.key === "string";
        this.grid = new Grid({
            label: `Rows of ${source.name}`,
            onOrder: (name) => this.order(name),
            // A comma separates columns in the order that is asked for.
            canOrder: (name) => !name.includes(","),
            onOpen: this.isChanged ? (cell, row, name) => this.edit(cell, row, name) : null,
            onChosen: (row, name) => this.chosen(row, name),
            acts: this.isChanged ? (row) => this.deleter(row) : null,
            linkOf: (row, name) => this.linkOf(row, name, "→", { class: "link", tabindex: "-1" }),
        });
        this.bar = new CellBar();
        this.filters = h("div", { class: "chips", role: "group", "aria-label": "Filters" });
        this.message = h("p", { class: "wrong", role: "alert" });
        this.range = h("output", { class: "rows", "aria-live": "polite" });
        this.previous = button("Previous", () => this.page(-1));
        this.following = button("Next", () => this.page(1));
        const kind = source.kind === "view" ? "view" : source.writable ? "" : "read-only";
        this.element = h(
            "section",
            { class: "table", "aria-label": `Table ${source.name}` },
            h(
                "header",
                { class: "bar" },
                h("h1", {}, source.name),
                kind && h("span", { class: "badge" }, kind),
                source.writable && button("Add row", () => this.addRow()),
                h("nav", { class: "pages", "aria-label": "Pages" }, this.range, this.previous, this.following),
                downloads((form) => this.save(form), ["NDJSON", "JSON", "CSV"]),
            ),
            this.filters,
            this.message,
            this.grid.element,
            this.bar.element,
        );
        if (source.writable && !this.isChanged) {
            this.message.before(
                h("p", { class: "quiet" }, "Rows cannot be edited here: no single column is the primary key."),
            );
        }
    }

    change(changes) {
        const params = new URLSearchParams(this.params);
        for (const [name, value] of Object.entries(changes)) params.set(name, value);
        go("table", this.source.name, params);
    }

    async update(params) {
        this.abort?.abort();
        this.abort = new AbortController();
        this.params = params;
        this.editor?.remove();
        this.bar.hide();
        this.showFilters();
        const asked = new URLSearchParams(params);
        const offset = Number(params.get("offset") ?? 0);
        asked.set("limit", PAGE_ROWS);
        // Rows that are the same in the order need one of their own, or they could be on two pages.
        const key = this.source.key;
        if (params.has("order") && typeof key === "string" && !this.orderNow(key))
            asked.set("order", `${params.get("order")},${key}`);
        try {
            const headers = { Accept: "application/json", Prefer: "count=exact" };
            const answer = await ask(`${this.path}?${asked}`, { headers, signal: this.abort.signal });
            const rows = parse(await answer.text());
            const total = Number(/\/(\d+)$/.exec(answer.headers.get("Content-Range") ?? "")?.[1] ?? rows.length);
            this.columns = this.source.columns?.map(({ name }) => name) ?? Object.keys(rows[0] ?? {});
            this.grid.show(this.columns, rows, this.orderNow());
            fill(this.message);
            this.range.textContent = rows.length
                ? `${count(offset + 1)}–${count(offset + rows.length)} of ${count(total)}`
                : `${plural(total, "row")}`;
            this.previous.disabled = offset === 0;
            this.following.disabled = offset + rows.length >= total;
        } catch (error) {
            if (isAborted(error)) return;
            this.grid.show([], []);
            this.range.textContent = "";
            fill(this.message, problemOf(error));
        }
    }

    close() {
        this.abort?.abort();
    }

    /** The order that is asked for; with a name, whether it is by this column. */
    orderNow(name) {
        const order = this.params.get("order");
        if (!order) return name ? false : null;
        const found = { name: order.replace(/\.(asc|desc)$/, ""), isDown: order.endsWith(".desc") };
        return name ? found.name === name : found;
    }

    order(name) {
        const now = this.orderNow();
        const order = now?.name !== name ? `${name}.asc` : now.isDown ? "" : `${name}.desc`;
        this.change({ order, offset: "" });
    }

    page(by) {
        const offset = Math.max(0, Number(this.params.get("offset") ?? 0) + by * PAGE_ROWS);
        this.change({ offset: offset ? String(offset) : "" });
    }

    showFilters() {
        const now = [...this.params].filter(([name]) => !RESERVED.includes(name));
        const columns = (this.source.columns ?? [])
            .map(({ name }) => name)
            .filter((name) => !RESERVED.includes(name));
        const column = h(
            "select",
            { "aria-label": "Column" },
            columns.map((name) => h("option", { value: name }, name)),
        );
        const operator = h(
            "select",
            { "aria-label": "Condition" },
            OPERATORS.map(([code, text]) => h("option", { value: code }, text)),
        );
        const value = h("input", {
            type: "text",
            class: "code",
            "aria-label": "Value",
            placeholder: "value",
            spellcheck: "false",
        });
        operator.addEventListener("change", () => {
            value.hidden = operator.value.startsWith("is.");
        });
        const form = h(
            "form",
            {
                class: "chip-form",
                onsubmit: (event) => {
                    event.preventDefault();
                    const code = operator.value;
                    this.filterBy(
                        column.value,
                        code.startsWith("is.") ? code : code + value.value + (code.endsWith("*") ? "*" : ""),
                    );
                },
            },
            column,
            operator,
            value,
            h("button", { type: "submit" }, "Filter"),
        );
        fill(
            this.filters,
            now.map(([name, condition]) => {
                const [code, text] = OPERATORS.find(([code]) => condition.startsWith(code)) ?? ["", ""];
                const rest = condition.slice(code.length).replace(code.endsWith("*") ? /\*$/ : /$^/, "");
                return h(
                    "span",
                    { class: "chip" },
                    h("b", {}, name),
                    ` ${text} `,
                    h("code", {}, rest),
                    button("×", () => this.unfilter(name, condition), {
                        "aria-label": `Remove the filter ${name} ${text} ${rest}`,
                    }),
                );
            }),
            columns.length > 0 && form,
        );
    }

    filterBy(name, condition) {
        const params = new URLSearchParams(this.params);
        params.delete("offset");
        if (!params.getAll(name).includes(condition)) params.append(name, condition);
        go("table", this.source.name, params);
    }

    unfilter(name, condition) {
        const params = new URLSearchParams(
            [...this.params].filter((pair) => pair[0] !== name || pair[1] !== condition),
        );
        params.delete("offset");
        go("table", this.source.name, params);
    }

    /** A link to the row that a foreign key of this column leads to, if it leads to one. */
    linkOf(row, name, text, attributes) {
        const link = this.source.links?.find(({ columns }) => columns.includes(name));
        if (!link) return null;
        const pairs = link.columns.map((column, index) => [link.to[index], row[column]]);
        return linkTo(link.table, pairs, text ?? `→ ${link.table}`, attributes);
    }

    /** Links to the rows of other tables whose foreign keys lead to this row by this column. */
    linksBack(row, name) {
        return sources.flatMap(({ name: table, links = [] }) =>
            links
                .filter((link) => link.table === this.source.name && link.to.includes(name))
                .map(({ columns, to }) => {
                    const pairs = columns.map((column, index) => [column, row[to[index]]]);
                    return linkTo(table, pairs, `← ${table} by ${columns.join(", ")}`);
                }),
        );
    }

    /** Downloads the rows that the filters choose, in their order, on all pages. */
    async save(form) {
        try {
            const asked = new URLSearchParams(this.params);
            asked.delete("offset");
            const answer = await ask(`${this.path}?${asked}`, {
                headers: { Accept: MEDIA[form] },
                signal: this.abort.signal,
            });
            saveAs(`${this.source.name}.${form.toLowerCase()}`, await answer.blob());
        } catch (error) {
            if (!isAborted(error)) fill(this.message, problemOf(error));
        }
    }

    chosen(row, name) {
        const value = row[name];
        const canFilter = !isNested(value) && !RESERVED.includes(name);
        this.bar.show(
            name,
            value,
            this.canEdit(row, name) && button("Edit", () => this.edit(this.grid.cellOf(row, name), row, name)),
            canFilter &&
                button("Filter by this value", () =>
                    this.filterBy(name, value === null ? "is.null" : `eq.${textOf(value)}`),
                ),
            this.linkOf(row, name),
            ...this.linksBack(row, name),
        );
    }

    kind(name) {
        return takes(this.source.columns?.find((column) => column.name === name)?.type);
    }

    canEdit(row, name) {
        return this.isChanged && this.isFound(row) && this.kind(name) !== "blob";
    }

    /** Whether the row has an address: SQLite lets keys be null. */
    isFound(row) {
        const key = row[this.source.key];
        return key !== null && key !== "" && !isNested(key);
    }

    rowPath(row) {
        return `${this.path}/${encodeURIComponent(textOf(row[this.source.key]))}`;
    }

    /** The row as it is now, and its tag. */
    async fresh(row) {
        const answer = await ask(this.rowPath(row), { headers: { Accept: "application/json" } });
        return { row: parse(await answer.text()), tag: answer.headers.get("ETag") };
    }

    /** Edits a cell. The row is asked for first: a change of somebody else is never overwritten unseen. */
    async edit(cell, row, name) {
        if (!cell || !this.canEdit(row, name)) return;
        this.editor?.remove();
        let now;
        try {
            now = await this.fresh(row);
        } catch (error) {
            return fill(this.message, problemOf(error));
        }
        fill(this.message);
        const line = this.grid.replace(row, now.row);
        if (!line) return;
        this.grid.choose(line.children[this.columns.indexOf(name)], true);
        new Editor(this, now, name);
    }

    /** A row was changed. */
    changed(old, row, name) {
        const line = this.grid.replace(old, row);
        const cell = line?.children[this.columns.indexOf(name)];
        line?.classList.add("fresh");
        this.grid.choose(cell, true);
        announce("Saved");
    }

    deleter(row) {
        if (!this.isFound(row)) return "";
        const key = textOf(row[this.source.key]);
        const first = button(
            "Delete",
            async () => {
                try {
                    const { row: now, tag } = await this.fresh(row);
                    const isSame = JSON.stringify(now) === JSON.stringify(row);
                    const line = isSame ? first.closest("tr") : this.grid.replace(row, now);
                    const sure = button(
                        isSame ? "Really delete" : "Changed meanwhile. Delete",
                        () => this.remove(now, tag),
                        {
                            class: "danger",
                            "aria-label": `Really delete row ${key}`,
                            onblur: () => sure.replaceWith(this.deleter(now)),
                        },
                    );
                    line.lastElementChild.replaceChildren(sure);
                    sure.focus();
                } catch (error) {
                    fill(this.message, problemOf(error));
                }
            },
            { "aria-label": `Delete row ${key}` },
        );
        return first;
    }

    async remove(row, tag) {
        try {
            await ask(this.rowPath(row), { method: "DELETE", headers: { "If-Match": tag } });
            announce("Deleted");
        } catch (error) {
            const text = error.status === 412 ? "The row was changed meanwhile, and was not deleted." : error.message;
            await this.update(this.params);
            return fill(this.message, text);
        }
        return this.update(this.params);
    }

    addRow() {
        const wrong = h("p", { class: "wrong", role: "alert" });
        const fields = (this.source.columns ?? [])
            .filter(({ name }) => this.kind(name) !== "blob")
            .map(({ name, type }) => {
                const kind = this.kind(name);
                const field =
                    kind === "boolean"
                        ? h(
                              "select",
                              {},
                              ["", "true", "false"].map((text) => h("option", { value: text }, text || "default")),
                          )
                        : h(kind === "json" ? "textarea" : "input", {
                              class: "code",
                              placeholder: "default",
                              spellcheck: "false",
                          });
                return { name, kind, field, label: h("label", {}, h("span", {}, name, h("small", {}, type)), field) };
            });
        const dialog = h(
            "dialog",
            { "aria-label": `New row of ${this.source.name}`, onclose: () => dialog.remove() },
            h(
                "form",
                {
                    onsubmit: async (event) => {
                        event.preventDefault();
                        try {
                            const members = fields
                                .filter(({ field }) => field.value !== "")
                                .map(
                                    ({ name, kind, field }) =>
                                        `${JSON.stringify(name)}:${written(field.value, kind)}`,
                                );
                            await ask(this.path, {
                                method: "POST",
                                headers: { "Content-Type": "application/json" },
                                body: `{${members.join(",")}}`,
                            });
                            dialog.close();
                            announce("Added");
                            await this.update(this.params);
                        } catch (error) {
                            fill(wrong, problemOf(error));
                        }
                    },
                },
                h("h2", {}, `New row of ${this.source.name}`),
                h(
                    "div",
                    { class: "fields" },
                    fields.map(({ label }) => label),
                ),
                wrong,
                h(
                    "p",
                    { class: "acts" },
                    button("Cancel", () => dialog.close()),
                    h("button", { type: "submit", class: "strong" }, "Add row"),
                ),
            ),
        );
        document.body.append(dialog);
        dialog.showModal();
    }
}

/** The editor of a cell. Enter saves, Escape leaves it. */
class Editor {
    constructor(view, { row, tag }, name) {
        Object.assign(this, { view, row, tag, name });
        this.kind = view.kind(name);
        this.field = fieldFor(this.kind, row[name], { "aria-label": `New value of ${name}` });
        this.wrong = h("div", { class: "wrong", role: "alert" });
        this.form = h(
            "form",
            {
                class: "editor",
                onsubmit: (event) => {
                    event.preventDefault();
                    this.save(() => written(this.field.value, this.kind, this.row[name]));
                },
                onkeydown: (event) => this.key(event),
                onclick: (event) => event.stopPropagation(),
                ondblclick: (event) => event.stopPropagation(),
            },
            this.field,
            h(
                "span",
                { class: "acts" },
                h("button", { type: "submit", class: "strong" }, "Save"),
                button("Null", () => this.save(() => "null")),
                button("Cancel", () => this.leave()),
            ),
            this.wrong,
        );
        view.editor = this.form;
        view.grid.cellOf(row, name).append(this.form);
        this.field.focus();
        this.field.select?.();
    }

    key(event) {
        event.stopPropagation();
        if (event.key === "Escape") this.leave();
        else if (event.key === "Enter" && !event.shiftKey && event.target === this.field) {
            event.preventDefault();
            this.form.requestSubmit();
        }
    }

    leave() {
        const cell = this.form.closest("td");
        this.form.remove();
        cell?.focus();
    }

    async save(valueOf) {
        const { view, row, name } = this;
        try {
            const body = `{${JSON.stringify(name)}:${valueOf()}}`;
            const headers = {
                "Content-Type": "application/json",
                "If-Match": this.tag,
                Prefer: "return=representation",
            };
            const answer = await ask(view.rowPath(row), { method: "PATCH", headers, body });
            const now = parse(await answer.text());
            this.form.remove();
            view.changed(row, now, name);
        } catch (error) {
            if (error.status === 412) return this.conflict(valueOf);
            fill(this.wrong, problemOf(error));
        }
    }

    /** Somebody else changed the row: the person decides. */
    async conflict(valueOf) {
        const { view, row, name } = this;
        try {
            const { row: now, tag } = await view.fresh(row);
            const others = Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(row[key]));
            fill(
                this.wrong,
                h("p", {}, "The row was changed meanwhile; nothing was saved."),
                h(
                    "ul",
                    {},
                    others.map((key) => h("li", {}, `${key} is now `, shown(now[key]))),
                ),
                h(
                    "span",
                    { class: "acts" },
                    button("Keep theirs", () => {
                        this.form.remove();
                        view.changed(row, now, name);
                    }),
                    button("Save mine", () => {
                        const line = view.grid.replace(row, now);
                        line.children[view.columns.indexOf(name)].append(this.form);
                        Object.assign(this, { row: now, tag });
                        this.save(valueOf);
                    }),
                ),
            );
        } catch (error) {
            const text = error.status === 404 ? "The row was deleted meanwhile." : error.message;
            fill(this.wrong, text);
        }
    }
}
