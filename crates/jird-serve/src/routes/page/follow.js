// Following: new events are drawn once a frame, from the newest on, and only as many as fit into a frame. Those that
// are not drawn wait as texts; scrolling draws them.

/** The events that are kept while the log is followed, and their characters. */
const KEPT_EVENTS = 5000;
const KEPT_CHARACTERS = 1 << 25;
/** More new events than this are not put above the others one by one: the list begins again with the newest. */
const FRAME_EVENTS = 50;
const FRAME_CHARACTERS = 1 << 19;
/** The lines that a frame begins with, those that are drawn without scrolling, and the most that stay. */
const SCREEN_LINES = 40;
const LINES = 100;
const LINES_MAX = 300;
/** The part of a frame that may go into drawing, and into taking events from the stream, in milliseconds. */
const DRAW_TIME = 8;
const TAKE_TIME = 8;

/** New events of a log, on their way to its list. `onChange` is called after each frame that has changed something. */
class Follower {
    constructor(list, onChange) {
        Object.assign(this, { list, onChange });
        /** Between the list and the older events of the server. */
        this.older = new Waiting(KEPT_EVENTS, KEPT_CHARACTERS);
        /** New since the last frame. */
        this.fresh = new Waiting(KEPT_EVENTS, KEPT_CHARACTERS);
        this.button = button("New events", () => this.showFresh(), { class: "strong fresh-events", hidden: true });
        this.clear();
    }

    clear() {
        cancelAnimationFrame(this.frame);
        this.frame = null;
        this.older.clear();
        this.fresh.clear();
        this.came = 0;
        this.left = 0;
        this.isTorn = false;
        this.button.hidden = true;
    }

    /** An event has come. */
    take(text) {
        this.came += 1;
        const dropped = this.fresh.push(new Entry(text));
        this.left += dropped;
        this.isTorn ||= dropped > 0;
        this.schedule();
    }

    schedule() {
        this.frame ??= requestAnimationFrame(() => {
            this.frame = null;
            this.draw();
        });
    }

    /** Whether someone reads in the list, which must not move then. */
    get isReading() {
        return this.list.isOpen || this.list.element.getBoundingClientRect().top < -60;
    }

    draw() {
        if (this.fresh.length && this.isReading) {
            this.button.textContent = `↑ ${plural(this.fresh.length, "new event")}`;
            this.button.hidden = false;
            return this.onChange();
        }
        this.button.hidden = true;
        const hadFocus = this.list.element.contains(document.activeElement);
        const until = performance.now() + DRAW_TIME;
        const isFlood = this.isTorn || this.fresh.length > FRAME_EVENTS || this.fresh.characters > FRAME_CHARACTERS;
        if (isFlood) this.beginAgain();
        for (const entry of this.fresh.takeAll()) this.list.prepend(entry);
        while (this.list.rows > LINES_MAX) this.setAside(this.list.pop());
        const lines = isFlood ? SCREEN_LINES : LINES;
        while (this.list.rows < lines && this.older.length && performance.now() < until) this.drawOlder();
        if (this.list.rows < LINES && this.older.length) this.schedule();
        if (hadFocus && !this.list.element.contains(document.activeElement)) this.list.focusFirst();
        this.onChange();
    }

    /** Takes all lines away; those that fit are drawn again, from the newest on. */
    beginAgain() {
        if (this.isTorn) {
            // Events after these were dropped already.
            this.left += this.list.rows + this.older.length;
            this.list.clear();
            this.older.clear();
            this.isTorn = false;
        }
        for (const entry of this.list.takeAll()) this.setAside(entry);
        for (const entry of this.fresh.takeAll()) this.setAside(entry);
    }

    setAside(entry) {
        this.left += this.older.push(entry);
    }

    /** Draws the newest of those that wait below the list; false if none does. */
    drawOlder() {
        const entry = this.older.pop();
        if (entry) this.list.append(entry);
        return entry !== undefined;
    }

    showFresh() {
        this.list.closeAll();
        scrollTo(0, Math.min(scrollY, scrollY + this.list.element.getBoundingClientRect().top - 60));
        this.list.focusFirst();
        this.schedule();
    }
}

/** Takes events from an answer that has no end. Between them, the browser draws: the server waits for a slow page. */
async function takeEvents(answer, onEvent, onId) {
    let data = [];
    let begun = performance.now();
    for await (const lines of chunksOf(answer)) {
        for (const line of lines) {
            if (line.startsWith("data:")) data.push(line.slice(5).trim());
            else if (line.startsWith("id:")) onId(line.slice(3).trim());
            else if (line === "" && data.length) {
                onEvent(data.join("\n"));
                data = [];
            }
        }
        if (performance.now() - begun > TAKE_TIME) {
            await pause();
            begun = performance.now();
        }
    }
}
