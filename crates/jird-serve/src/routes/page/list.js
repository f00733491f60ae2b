// The list of events: lines, days between them, one event in full; and the events that wait to be drawn.

/** A followed event that is longer is not read before someone opens it: reading it takes more than a frame. */
const LONG_EVENT = 1 << 18;
const MESSAGE_MAX = 1000;

/** Events that are not drawn, the newest last, as entries. Beyond the bounds, the oldest are dropped. */
class Waiting {
    constructor(entriesMax, charactersMax) {
        Object.assign(this, { entriesMax, charactersMax });
        this.clear();
    }

    clear() {
        this.all = [];
        this.begin = 0;
        this.characters = 0;
    }

    get length() {
        return this.all.length - this.begin;
    }

    /** Adds one, and returns how many others were dropped for it. */
    push(entry) {
        this.all.push(entry);
        this.characters += entry.length;
        let dropped = 0;
        while (this.length > this.entriesMax || (this.characters > this.charactersMax && this.length > 1)) {
            this.characters -= this.all[this.begin].length;
            this.all[this.begin] = undefined;
            this.begin += 1;
            dropped += 1;
        }
        if (this.begin > 1000 && this.begin * 2 > this.all.length) {
            this.all.splice(0, this.begin);
            this.begin = 0;
        }
        return dropped;
    }

    /** Takes the newest. */
    pop() {
        if (!this.length) return undefined;
        const entry = this.all.pop();
        this.characters -= entry.length;
        return entry;
    }

    /** Takes all, the oldest first. */
    takeAll() {
        const all = this.all.slice(this.begin);
        this.clear();
        return all;
    }
}

/** An event of the list: its text if it was followed, what it says, and how long it is. */
class Entry {
    constructor(text, event) {
        this.text = text;
        this.read = event;
        // Of a page of events, the texts are not known; these are short on the whole.
        this.length = text?.length ?? 1000;
    }

    get event() {
        this.read ??= parse(this.text);
        return this.read;
    }

    /** Whether it is read, or soon would be. */
    get isShort() {
        return this.read !== undefined || this.length <= LONG_EVENT;
    }
}

/** The list. `time` is the way to an event's time; `onFilter(condition)` narrows the view. */
class EventList {
    constructor(time, onFilter) {
        Object.assign(this, { time, onFilter });
        this.element = h("ol", {
            class: "events",
            onkeydown: (event) => this.key(event),
            onclick: (event) => this.click(event),
        });
        this.clear();
    }

    clear() {
        this.element.replaceChildren();
        this.rows = 0;
        this.day = null;
    }

    dayOf(entry) {
        const time = entry.isShort ? timeOf(at(entry.event, this.time)) : null;
        return time === null ? null : clock(time).slice(0, 10);
    }

    /** Adds an older event at the end. */
    append(entry) {
        const day = this.dayOf(entry);
        if (day && day !== this.day) this.element.append(h("li", { class: "day" }, day));
        this.day = day ?? this.day;
        const item = this.item(entry);
        this.element.append(item);
        this.added(item);
    }

    /** Adds a new event at the top. */
    prepend(entry) {
        const day = this.dayOf(entry);
        const first = this.element.firstElementChild;
        const item = this.item(entry);
        item.classList.add("new");
        if (day && first?.className === "day" && first.textContent === day) first.after(item);
        else this.element.prepend(...(day ? [h("li", { class: "day" }, day)] : []), item);
        this.day ??= day;
        this.added(item);
    }

    added(item) {
        this.rows += 1;
        if (!this.element.querySelector("button.line[tabindex='0']")) item.firstChild.setAttribute("tabindex", "0");
    }

    /** Takes the oldest one away. */
    pop() {
        while (this.element.lastElementChild?.className === "day") this.element.lastElementChild.remove();
        const last = this.element.lastElementChild;
        if (!last) return null;
        last.remove();
        this.rows -= 1;
        while (this.element.lastElementChild?.className === "day") this.element.lastElementChild.remove();
        this.day = this.element.lastElementChild ? this.dayOf(this.element.lastElementChild.entry) : null;
        return last.entry;
    }

    /** All events of the list, the oldest first, which it has no longer. */
    takeAll() {
        const entries = [...this.element.children].map((item) => item.entry).filter(Boolean);
        this.clear();
        return entries.reverse();
    }

    /** Draws all again, as for another time zone. */
    redraw() {
        const entries = this.takeAll().reverse();
        for (const entry of entries) this.append(entry);
    }

    /** Whether an event is open. */
    get isOpen() {
        return this.element.querySelector("[aria-expanded='true']") !== null;
    }

    item(entry) {
        const { time, level, message } = entry.isShort ? this.partsOf(entry.event) : this.partsOfLong(entry);
        const shownTime = timeOf(time);
        const item = h(
            "li",
            { class: levelKind(level) },
            h(
                "button",
                { type: "button", class: "line", tabindex: "-1", "aria-expanded": "false" },
                h("time", { title: textOf(time) }, shownTime === null ? "" : clock(shownTime).slice(11, 23)),
                h("span", { class: "level" }, cut(textOf(level ?? ""), 100) || "Information"),
                h("span", { class: "message" }, cut(message, MESSAGE_MAX)),
            ),
        );
        item.entry = entry;
        return item;
    }

    partsOf(event) {
        const level = event?.[pick(event, LEVEL_FIELDS) ?? "@l"];
        return { time: at(event, this.time), level, message: messageOf(event) };
    }

    partsOfLong(entry) {
        return { message: `${count(entry.length)} characters: ${entry.text.slice(0, MESSAGE_MAX)}` };
    }

    click(event) {
        const line = event.target.closest("button.line");
        if (!line) return;
        this.focus(line, false);
        this.expand(line.parentElement, line.getAttribute("aria-expanded") !== "true");
    }

    closeAll() {
        for (const line of this.element.querySelectorAll("[aria-expanded='true']"))
            this.expand(line.parentElement, false);
    }

    expand(item, isOpen) {
        item.firstChild.setAttribute("aria-expanded", isOpen);
        item.querySelector(".detail")?.remove();
        if (!isOpen) return;
        const { event } = item.entry;
        const text = JSON.stringify(event, null, 2);
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
                isNested(event)
                    ? tree(event, (path, value, isWanted) => this.onFilter(conditionOf(path, value, isWanted)))
                    : shown(event),
                h("p", { class: "acts" }, copy),
            ),
        );
    }

    /** Brings the keyboard to the list. */
    focusFirst() {
        this.element.querySelector("button.line[tabindex='0']")?.focus({ preventScroll: true });
    }

    focus(line, hasMoved) {
        this.element.querySelector("button.line[tabindex='0']")?.setAttribute("tabindex", "-1");
        line.setAttribute("tabindex", "0");
        if (hasMoved) line.focus();
    }

    key(event) {
        const line = event.target.closest?.("button.line");
        if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
        const lines = [...this.element.querySelectorAll("button.line")];
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
}
