// The script of jird's page, in parts, which are joined to one module. Texts become nodes of text, never markup.
//
// This part: elements, requests, and places (what the fragment of the address says).

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (`onclick`) and children; what is null or false is left out. */
function h(tag, attributes, ...children) {
    const element = tag.startsWith("svg:")
        ? document.createElementNS(SVG, tag.slice(4))
        : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "value" || name === "checked") element[name] = value;
        else if (SHOWN_ATTRIBUTES.has(name)) element.setAttribute(name, escaped(String(value)));
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...nodesOf(children, PLAIN_TAGS.has(tag)));
    return element;
}

/** Shows these children, and no others. */
function fill(element, ...children) {
    element.replaceChildren(...nodesOf(children, false));
}

/** The children as nodes: texts with their hidden characters shown. Where `isPlain`, an element can hold only text. */
function nodesOf(children, isPlain) {
    const isThere = (child) => child !== null && child !== undefined && child !== false;
    const nodes = [];
    for (const child of children.flat()) {
        if (!isThere(child)) continue;
        if (child instanceof Node) nodes.push(child);
        else if (isPlain) nodes.push(escaped(String(child)));
        else nodes.push(...marked(String(child)));
    }
    return nodes;
}

/**
 * Characters that are not seen, or that change the order in which others are seen: controls, marks of direction, and
 * those without a width. Ends of lines and tabs are left, and so are the joiners that Persian and emoji need.
 */
const HIDDEN = new RegExp(
    [
        "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]",
        "\\r(?!\\n)",
        "[\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]",
        "[\\u{e0000}-\\u{e007f}]",
        "\\p{Cs}",
    ].join("|"),
    "u",
);
const ALL_HIDDEN = new RegExp(HIDDEN.source, "gu");
/** In a cell, a line must stay one. */
const BREAKS = /\r\n|[\n\t]/g;
const BREAK_NAMES = { "\n": "\\n", "\t": "\\t", "\r\n": "\\r\\n" };

/** A hidden character, as JSON or JavaScript would escape it. */
function escapeOf(character) {
    const code = character.codePointAt(0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** A text whose hidden characters are escaped. */
const escaped = (text) => (HIDDEN.test(text) ? text.replace(ALL_HIDDEN, escapeOf) : text);

/** A text as nodes, in which hidden characters are marked. `isLine`: so are the ends of lines, and tabs. */
function marked(text, isLine = false) {
    if (!HIDDEN.test(text) && !(isLine && /[\n\t]/.test(text))) return [text];
    const all = isLine ? new RegExp(`${BREAKS.source}|${HIDDEN.source}`, "gu") : ALL_HIDDEN;
    const nodes = [];
    let end = 0;
    for (const { 0: found, index } of text.matchAll(all)) {
        if (index > end) nodes.push(text.slice(end, index));
        const mark = document.createElement("span");
        mark.className = "hidden-mark";
        mark.textContent = BREAK_NAMES[found] ?? escapeOf(found);
        nodes.push(mark);
        end = index + found.length;
    }
    if (end < text.length) nodes.push(text.slice(end));
    return nodes;
}

/** Attributes that browsers show or read out. */
const SHOWN_ATTRIBUTES = new Set(["title", "aria-label", "placeholder"]);
/** Elements that hold nothing but text. */
const PLAIN_TAGS = new Set(["option", "title", "svg:title", "svg:text"]);

function button(text, onclick, attributes) {
    return h("button", { type: "button", onclick, ...attributes }, text);
}

const count = (number) => number.toLocaleString("en-US");
const plural = (number, one) => `${count(number)} ${one}${number === 1 ? "" : "s"}`;

/** Tells screen readers, and nobody else. */
function announce(text) {
    document.getElementById("said").textContent = escaped(text);
}

/** Why a request failed: problem details (RFC 9457). */
class Problem extends Error {
    constructor(status, details) {
        super(details.detail ?? details.title ?? `the server answers ${status}`);
        this.status = status;
        this.offset = details.offset;
        this.line = details.line;
        this.column = details.column;
    }

    static async of(answer) {
        const text = await answer.text();
        let details = {};
        try {
            details = JSON.parse(text);
        } catch {
            details.detail = text.slice(0, 300);
        }
        return new Problem(answer.status, details ?? {});
    }
}

const isAborted = (error) => error?.name === "AbortError";

let token = sessionStorage.getItem("jird.token");
let tokenAsked = null;

/** Asks the person for the server's token, once for all requests that wait for it. */
function askForToken(wasWrong) {
    tokenAsked ??= new Promise((resolve, reject) => {
        const dialog = document.getElementById("token");
        const input = dialog.querySelector("input");
        const wrong = document.getElementById("token-wrong");
        wrong.textContent = wasWrong ? "This is not the server’s token." : "";
        input.value = "";
        const end = (given) => {
            tokenAsked = null;
            dialog.onclose = null;
            dialog.close();
            if (given) resolve(given);
            else reject(new Problem(401, { detail: "the server needs its token: reload the page to give it" }));
        };
        dialog.querySelector("form").onsubmit = (event) => {
            event.preventDefault();
            const given = input.value.trim();
            if (/^[!-~]+$/.test(given)) end(given);
            else wrong.textContent = "A token has ASCII letters, digits and signs.";
        };
        dialog.onclose = () => end(null);
        dialog.showModal();
    });
    return tokenAsked;
}

/** Sends a request to this server, by a path relative to the page, which a proxy may show anywhere. What is not a success is thrown as a `Problem`. */
async function ask(path, { method = "GET", headers = {}, body, signal } = {}) {
    for (;;) {
        const used = token;
        const sent = new Headers(headers);
        if (used) sent.set("Authorization", `Bearer ${used}`);
        let answer;
        try {
            answer = await fetch(path, { method, headers: sent, body, signal });
        } catch (error) {
            if (isAborted(error)) throw error;
            throw new Problem(0, { detail: "the server cannot be reached" });
        }
        if (answer.status === 401) {
            await answer.body?.cancel();
            if (token === used) {
                token = await askForToken(used !== null);
                sessionStorage.setItem("jird.token", token);
            }
            continue;
        }
        if (!answer.ok) throw await Problem.of(answer);
        return answer;
    }
}

/** The lines of an answer as they come: those that each chunk completes. */
async function* chunksOf(answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    // The pieces of a line that has not ended; joining them for each chunk would take a square of time.
    let pieces = [];
    try {
        for (;;) {
            const { value, done } = await reader.read();
            if (done) break;
            const lines = value.split("\n");
            if (lines.length === 1) {
                pieces.push(value);
                continue;
            }
            lines[0] = pieces.join("") + lines[0];
            pieces = [lines.pop()];
            yield lines;
        }
        const rest = pieces.join("");
        if (rest) yield [rest];
    } finally {
        reader.cancel().catch(() => {});
    }
}

/** The lines of an answer as they come. */
async function* linesOf(answer) {
    for await (const lines of chunksOf(answer)) yield* lines;
}

/** Lets the browser draw, and react to its reader. */
const pause = () => new Promise((resolve) => setTimeout(resolve));

/** Sends SQL, for so many rows if there is a limit; the signal takes it back. */
function askSql(sql, accept, signal, limit) {
    const headers = { "Content-Type": "application/json", Accept: accept };
    return ask("query", { method: "POST", headers, body: JSON.stringify({ sql, limit }), signal });
}

/** The rows of a query, at most so many, and whether there are more. */
async function rowsOf(sql, max, signal) {
    const asked = (limit) => askSql(sql, "application/x-ndjson", signal, limit);
    const answer = await asked(max + 1).catch((error) => {
        // The SQL is wrong, or this server allows fewer rows.
        if (error.status !== 400) throw error;
        return asked();
    });
    const rows = [];
    for await (const line of linesOf(answer)) {
        if (!line) continue;
        if (rows.length === max) return { rows, isAll: false };
        rows.push(parse(line));
    }
    return { rows, isAll: true };
}

/** Where the page is: `#/KIND/NAME?PARAMETERS`. */
function here() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
    const [kind = "", name = ""] = path.split("/").map((part) => {
        try {
            return decodeURIComponent(part);
        } catch {
            return part;
        }
    });
    return { kind, name, params: new URLSearchParams(query) };
}

function hrefOf(kind, name, params) {
    const query = params?.toString();
    return `#/${kind}${name ? `/${encodeURIComponent(name)}` : ""}${query ? `?${query}` : ""}`;
}

/** Leads to a place, which the way back leads away from. Empty parameters are left out. */
function go(kind, name, params) {
    for (const [key, value] of [...params]) if (value === "") params.delete(key);
    const href = hrefOf(kind, name, params);
    if (href === location.hash) show();
    else location.hash = href;
}

/** The message of a problem, and the place in the text where it is. */
function problemOf(error, text = "") {
    const parts = [h("span", {}, error.message)];
    const at = placeOf(error, text);
    if (at !== null) {
        const begin = Math.max(0, at - 30);
        const end = Math.min(text.length, at + 30);
        parts.push(
            h(
                "code",
                { class: "at" },
                begin > 0 ? "…" : "",
                text.slice(begin, at),
                h("mark", {}, text.slice(at, at + 1) || "␣"),
                text.slice(at + 1, end),
                end < text.length ? "…" : "",
            ),
        );
    }
    return parts;
}

/** Where in the text a problem is, in units of the text. */
function placeOf(error, text) {
    if (!text) return null;
    if (Number.isInteger(error.offset)) {
        const bytes = new TextEncoder().encode(text);
        return error.offset <= bytes.length ? new TextDecoder().decode(bytes.slice(0, error.offset)).length : null;
    }
    if (!Number.isInteger(error.line) || !Number.isInteger(error.column)) return null;
    const lines = text.split("\n");
    if (error.line < 1 || error.line > lines.length) return null;
    const before = lines.slice(0, error.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    return Math.min(before + error.column - 1, text.length);
}
