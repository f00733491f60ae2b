// A grid of rows, with heads that order and cells that the arrow keys go through, and a box for conditions.

/**
 * A box for an SQL condition, with what is wrong with it beside it. `before` and `after` are other fields of the same
 * form; `onApply(condition)` is called for all of them, and `onClear()` when they are to be empty.
 */
class FilterBox {
    constructor({ label, example, onApply, onClear, before = [], after = [] }) {
        this.input = h("input", {
            type: "text",
            name: "where",
            class: "code",
            placeholder: example,
            spellcheck: "false",
            autocomplete: "off",
            autocapitalize: "off",
            "aria-label": label,
            "aria-describedby": "filter-wrong",
        });
        this.clear = button(
            "Clear",
            () => {
                this.input.value = "";
                onClear();
                this.element.querySelector("input").focus();
            },
            { hidden: true },
        );
        this.message = h("p", { class: "wrong", id: "filter-wrong", role: "alert" });
        this.element = h(
            "form",
            {
                class: "filter",
                role: "search",
                novalidate: true,
                onsubmit: (event) => {
                    event.preventDefault();
                    onApply(this.input.value.trim());
                },
            },
            before,
            h("label", { class: "where" }, h("span", {}, "where"), this.input),
            after,
            this.clear,
            h("button", { type: "submit", class: "strong" }, "Apply"),
            this.message,
        );
    }

    /** Shows a condition; `isFiltered`: there is something to clear. */
    show(text, isFiltered = text !== "") {
        if (this.input.value.trim() !== text) this.input.value = text;
        this.text = text;
        this.clear.hidden = !isFiltered;
        this.wrong(null);
    }

    /** Shows what is wrong; null if nothing is. */
    wrong(error) {
        this.input.toggleAttribute("aria-invalid", Boolean(error));
        fill(this.message, error ? problemOf(error, this.text) : []);
    }
}

/**
 * A grid. `onOrder(name)` orders, `onOpen(cell, row, name)` edits, `onChosen(row, name)` tells which cell is chosen;
 * `acts(row)` gives what stands at the end of a row, and `linkOf(row, name)` where a cell leads to.
 */
class Grid {
    constructor({ label, onOrder, canOrder = () => true, onOpen, onChosen, acts, linkOf }) {
        Object.assign(this, { onOrder, canOrder, onOpen, onChosen, acts, linkOf });
        this.body = h("tbody");
        this.head = h("tr", {});
        this.table = h(
            "table",
            {
                role: "grid",
                "aria-label": label,
                onkeydown: (event) => this.key(event),
                onclick: (event) => this.choose(event.target.closest?.("td[data-name]"), false),
                ondblclick: (event) => this.open(event.target.closest?.("td[data-name]")),
            },
            h("thead", {}, this.head),
            this.body,
        );
        this.element = h("div", { class: "scroll", onscroll: () => this.tellCut() }, this.table);
        new ResizeObserver(() => this.tellCut()).observe(this.element);
    }

    /** Whether columns go on to the right of what is seen: what stands there has a mark then. */
    tellCut() {
        const { scrollWidth, scrollLeft, clientWidth } = this.element;
        this.element.classList.toggle("cut", scrollWidth - scrollLeft - clientWidth > 2);
    }

    /** Shows rows. `columns` are names; `order` is `{ name, isDown }` or null. */
    show(columns, rows, order = null) {
        this.columns = columns;
        // Columns of numbers stand at the right.
        const isRight = (name) =>
            rows.some((row) => isNumber(row[name])) && rows.every((row) => /number|null/.test(kindOf(row[name])));
        this.right = new Set(columns.filter(isRight));
        fill(
            this.head,
            columns.map((name) => {
                const sort = order?.name === name ? (order.isDown ? "descending" : "ascending") : null;
                const text = [
                    name,
                    sort && h("span", { class: "sort", "aria-hidden": "true" }, order.isDown ? "↓" : "↑"),
                ];
                return h(
                    "th",
                    { scope: "col", "aria-sort": sort, class: this.right.has(name) ? "right" : null },
                    this.onOrder && this.canOrder(name)
                        ? button(text.filter(Boolean), () => this.onOrder(name))
                        : text,
                );
            }),
            this.acts && h("th", { scope: "col" }, h("span", { class: "said" }, "Change")),
        );
        this.body.replaceChildren();
        this.add(rows);
    }

    add(rows) {
        this.body.append(...rows.map((row) => this.rowOf(row)));
        if (!this.table.querySelector("td[tabindex='0']")) {
            this.table.querySelector("td[data-name]")?.setAttribute("tabindex", "0");
        }
        this.tellCut();
    }

    rowOf(row) {
        const element = h(
            "tr",
            {},
            this.columns.map((name) =>
                h(
                    "td",
                    {
                        role: "gridcell",
                        tabindex: "-1",
                        "data-name": name,
                        class: this.right.has(name) ? "right" : null,
                    },
                    shown(row[name]),
                    this.linkOf?.(row, name),
                ),
            ),
            this.acts && h("td", { class: "acts" }, this.acts(row)),
        );
        element.row = row;
        return element;
    }

    /** Shows another row in the place of one. */
    replace(old, row) {
        const element = [...this.body.children].find((candidate) => candidate.row === old);
        if (!element) return null;
        const place = [...element.children].findIndex((cell) => cell.tabIndex === 0);
        const next = this.rowOf(row);
        if (place >= 0) next.children[place]?.setAttribute("tabindex", "0");
        element.replaceWith(next);
        return next;
    }

    cellOf(row, name) {
        const element = [...this.body.children].find((candidate) => candidate.row === row);
        return element?.children[this.columns.indexOf(name)];
    }

    choose(cell, hasMoved) {
        if (!cell) return;
        for (const other of this.body.querySelectorAll("td[tabindex='0']")) other.setAttribute("tabindex", "-1");
        this.body.querySelector("td.chosen")?.classList.remove("chosen");
        cell.setAttribute("tabindex", "0");
        cell.classList.add("chosen");
        if (hasMoved) {
            cell.focus({ preventScroll: true });
            cell.scrollIntoView({ block: "nearest", inline: "nearest" });
        }
        this.onChosen?.(cell.parentElement.row, cell.dataset.name);
    }

    open(cell) {
        if (cell) this.onOpen?.(cell, cell.parentElement.row, cell.dataset.name);
    }

    key(event) {
        const cell = event.target;
        if (!cell.matches?.("td[data-name]") || event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "Enter" || event.key === "F2") {
            event.preventDefault();
            this.choose(cell, false);
            return this.open(cell);
        }
        const line = cell.parentElement;
        const place = cell.cellIndex;
        const rows = [...this.body.children];
        const down = (by) => rows[Math.max(0, Math.min(rows.indexOf(line) + by, rows.length - 1))].children[place];
        const across = (index) => line.children[Math.max(0, Math.min(index, this.columns.length - 1))];
        const moves = {
            ArrowDown: () => down(1),
            ArrowUp: () => down(-1),
            PageDown: () => down(20),
            PageUp: () => down(-20),
            ArrowRight: () => across(place + 1),
            ArrowLeft: () => across(place - 1),
            Home: () => across(0),
            End: () => across(Infinity),
        };
        if (!(event.key in moves)) return;
        event.preventDefault();
        this.choose(moves[event.key](), true);
    }
}

/** Tells the whole value of the chosen cell. */
class CellBar {
    constructor() {
        this.element = h("div", { class: "cellbar", role: "region", "aria-label": "Chosen cell", hidden: true });
    }

    show(name, value, ...acts) {
        this.element.hidden = false;
        let text = textOf(value);
        if (isNested(value)) text = JSON.stringify(value, null, 2);
        fill(
            this.element,
            h("span", { class: "name" }, name),
            h("pre", { class: `v ${kindOf(value)}` }, value === null ? "null" : text),
            h("span", { class: "acts" }, acts),
        );
    }

    hide() {
        this.element.hidden = true;
    }
}
