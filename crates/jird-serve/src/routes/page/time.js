// Times: in UTC or in the zone of the browser, which the reader chooses, and fields for them.

const ZONE_KEPT = "jird.zone";
let isLocal = false;
try {
    isLocal = localStorage.getItem(ZONE_KEPT) === "local";
} catch {
    // This browser keeps nothing: times are in UTC.
}

/** From now on, times are shown in this zone, also after a reload. */
function keepZone(wantsLocal) {
    isLocal = wantsLocal;
    try {
        localStorage.setItem(ZONE_KEPT, wantsLocal ? "local" : "utc");
    } catch {
        // It holds until the page is left.
    }
}

const zoneName = () => (isLocal ? Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC");

/** The minutes by which the zone's clock is ahead of UTC at this time. */
const aheadOf = (time) => (isLocal ? -new Date(time).getTimezoneOffset() : 0);

/** A time as the zone's clock shows it: `2024-03-05T08:00:00.000`. */
const clock = (time) => iso(time + aheadOf(time) * 60e3).slice(0, -1);

/** A time with its zone: `2024-03-05T08:00:00.000+01:00`, or with `Z`. */
function stamp(time) {
    const ahead = aheadOf(time);
    if (!ahead) return `${clock(time)}Z`;
    const part = (number) => String(Math.floor(number)).padStart(2, "0");
    return `${clock(time)}${ahead < 0 ? "-" : "+"}${part(Math.abs(ahead) / 60)}:${part(Math.abs(ahead) % 60)}`;
}

/** A field for a time, in the zone that is shown. What it shows already is left as it was written in the address. */
class TimeField {
    constructor(label) {
        this.input = h("input", { type: "datetime-local", step: "1", "aria-label": label });
        this.kept = "";
    }

    show(text) {
        this.kept = text;
        const time = text && !AGO_FORM.test(text) ? timeOf(text) : null;
        // Milliseconds stand there only if there are some.
        this.shown = time === null ? "" : clock(time).replace(/\.000$/, "");
        this.input.value = this.shown;
        // As the browser writes it.
        this.shown = this.input.value;
    }

    /** The time for the address; empty if none is wanted. */
    get text() {
        const { value } = this.input;
        if (value === this.shown) return this.kept;
        if (!value) return "";
        return iso(isLocal ? new Date(value).getTime() : Date.parse(`${value}Z`));
    }
}

/** Two buttons that choose the zone; `onChange` draws again. */
class ZoneSwitch {
    constructor(onChange) {
        const choice = (text, wantsLocal) =>
            button(
                text,
                () => {
                    keepZone(wantsLocal);
                    this.show();
                    onChange();
                },
                { title: wantsLocal ? "Times of this browser’s zone" : "Coordinated Universal Time" },
            );
        this.choices = [choice("UTC", false), choice("Local", true)];
        this.element = h("span", { class: "group", role: "group", "aria-label": "Time zone" }, this.choices);
        this.show();
    }

    show() {
        this.choices.forEach((one, index) => one.setAttribute("aria-pressed", String((index === 1) === isLocal)));
    }
}
