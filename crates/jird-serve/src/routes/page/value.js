// Values: read exactly, shown by kind, and written as SQL.

/** A number that JavaScript cannot hold: its digits as they stand in the JSON. */
class Exact {
    constructor(text) {
        this.text = text;
    }

    toString() {
        return this.text;
    }

    toJSON() {
        return JSON.rawJSON?.(this.text) ?? Number(this.text);
    }
}

/** Reads JSON. Where a number would become another one, or lose how it is written, its digits are kept. */
function parse(text) {
    return JSON.parse(text, (_, value, context) =>
        typeof value === "number" && context?.source !== undefined && String(value) !== context.source
            ? new Exact(context.source)
            : value,
    );
}

const isNumber = (value) => typeof value === "number" || value instanceof Exact;
/** The way that a JSON Pointer (RFC 6901) names. */
const pathOf = (pointer) =>
    pointer
        .split("/")
        .slice(1)
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** What stands in a value at the end of a way. */
const at = (value, path) => path.reduce((part, name) => part?.[name], value);

const isNested = (value) => typeof value === "object" && value !== null && !(value instanceof Exact);

function kindOf(value) {
    if (value === null || value === undefined) return "null";
    if (isNumber(value)) return "number";
    return typeof value === "object" ? "nested" : typeof value;
}

/** A value as one line of text. */
function textOf(value) {
    if (value === undefined) return "";
    return typeof value === "string" ? value : isNested(value) ? JSON.stringify(value) : String(value);
}

const LONG = 300;

/** A text, cut if it is long, with a mark where. */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** A value in a cell: one line, cut if it is long. */
function shown(value) {
    return h("span", { class: `v ${kindOf(value)}` }, marked(cut(textOf(value), LONG), true));
}

/** Words that SQL does not take for a name. */
const WORDS = new Set(
    `all and any as asc between by case cast create cross current date desc distinct else end escape except
     exists extract false fetch filter for from full group having ilike in inner intersect interval into is
     join lateral left like limit natural not null offset on or order outer over overlaps partition position
     qualify right select set similar some table then time timestamp to trim true union unnest using values
     when where window with within`.split(/\s+/),
);

/** A name as SQL, in quotes where it needs them. */
function sqlName(name) {
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !WORDS.has(name.toLowerCase())
        ? name
        : `"${name.replaceAll('"', '""')}"`;
}

/** A field, by the way to it: names, and places in arrays. */
function sqlPath(path) {
    return path
        .map((part, index) => (typeof part === "number" ? `[${part}]` : (index ? "." : "") + sqlName(part)))
        .join("");
}

function sqlValue(value) {
    return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** A condition that holds for events with this value, or for those without it. */
function conditionOf(path, value, isWanted) {
    const name = sqlPath(path);
    if (value === null) return `${name} is ${isWanted ? "" : "not "}null`;
    const is = sqlValue(value);
    return isWanted ? `${name} = ${is}` : `(${name} <> ${is} or ${name} is null)`;
}

/** Both conditions. */
function both(one, other) {
    if (!one.trim()) return other;
    return `${/\bor\b/i.test(one) ? `(${one.trim()})` : one.trim()} and ${other}`;
}

/** A value as a tree of lines. `filter(path, value, isWanted)` is called for what stands in it. */
function tree(value, filter, path = []) {
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    return h(
        "ul",
        { class: "tree" },
        entries.map(([name, part]) => {
            const way = [...path, name];
            const key = h("span", { class: "key" }, String(name));
            if (isNested(part) && Object.keys(part).length > 0) return h("li", {}, key, tree(part, filter, way));
            const text = isNested(part) ? JSON.stringify(part) : textOf(part);
            const leaf = h("span", { class: `v ${kindOf(part)}` }, text);
            if (isNested(part) || !filter) return h("li", {}, key, h("div", {}, leaf));
            const field = sqlPath(way);
            const act = (sign, isWanted, label, title) =>
                button(sign, () => filter(way, part, isWanted), { "aria-label": label, title });
            const acts = [
                act("=", true, `Only events whose ${field} is this`, "Filter by this value"),
                act("≠", false, `Only events whose ${field} is another`, "Leave out this value"),
            ];
            return h("li", {}, key, h("div", {}, leaf, h("span", { class: "acts" }, acts)));
        }),
    );
}

const LEVELS = [
    ["verbose", /^(verbose|trace|vrb|trc|finest)/i],
    ["debug", /^(debug|dbg|fine)/i],
    ["warning", /^(warn|wrn)/i],
    ["error", /^(err|severe)/i],
    ["fatal", /^(fatal|ftl|crit|emerg|alert|panic)/i],
];
const LEVEL_NAMES = ["verbose", "debug", "information", "warning", "error", "fatal"];

/** What a level means, for its colour. Events without a level inform. */
function levelKind(level) {
    const text = textOf(level);
    return LEVELS.find(([, names]) => names.test(text))?.[0] ?? "information";
}

const pick = (event, names) => names.find((name) => event[name] !== undefined && event[name] !== null);
const LEVEL_FIELDS = [
    "@l",
    "level",
    "Level",
    "severity",
    "SeverityText",
    "severityText",
    "severity_text",
    "log.level",
    "lvl",
];
const MESSAGE_FIELDS = ["@m", "Message", "message", "msg", "@mt", "MessageTemplate", "Body", "body", "event"];
const TEMPLATES = new Set(["@mt", "MessageTemplate"]);

/** What an event says, in a line. */
function messageOf(event) {
    if (!isNested(event)) return textOf(event);
    const field = pick(event, MESSAGE_FIELDS);
    if (TEMPLATES.has(field)) return ofTemplate(textOf(event[field]), event);
    if (field && !isNested(event[field])) return textOf(event[field]);
    return JSON.stringify(event);
}

/** The most characters of a message, about, and the most holes that are filled: the text behind them is left out. */
const [RENDERED_MAX, HOLES_MAX] = [65536, 100];

/** A message template (messagetemplates.org) with the event's values. The server's search does the same. */
function ofTemplate(template, event) {
    const property = (name) =>
        [event, event.Properties].find((all) => isNested(all) && Object.hasOwn(all, name))?.[name];
    const renderings = Array.isArray(event["@r"]) ? event["@r"] : [];
    let [message, end, formatted, holes] = ["", 0, 0, 0];
    for (const found of template.matchAll(/\{\{|\}\}|\{[@$]?([\p{L}\p{N}_.]+)([^{}]*)\}/gu)) {
        const [hole, name, rest] = found;
        message += template.slice(end, found.index);
        end = found.index + hole.length;
        if (!name) {
            message += hole[0];
            continue;
        }
        // A template could name a long property as often as it likes.
        if (++holes > HOLES_MAX || message.length > RENDERED_MAX) return message;
        // What the program formatted stands in the event, in the order of the holes with a format.
        const rendering = rest.includes(":") ? renderings[formatted++] : undefined;
        const value = typeof rendering === "string" ? rendering : property(name);
        message += value === undefined ? hole : textOf(value);
    }
    return message + template.slice(end);
}

/** The milliseconds since 1970 of what an event has as its time; null if it has none. */
function timeOf(value) {
    if (isNumber(value)) {
        let number = Number(value);
        while (Math.abs(number) > 1e14) number /= 1000;
        return Math.abs(number) < 1e11 ? number * 1000 : number;
    }
    const time =
        typeof value === "string" ? Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(value) ? value : `${value}Z`) : NaN;
    return Number.isNaN(time) ? null : time;
}

const iso = (time) => new Date(time).toISOString();
