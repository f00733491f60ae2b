// Downloads of what a view shows.

const MEDIA = { NDJSON: "application/x-ndjson", JSON: "application/json", CSV: "text/csv" };
/** Events of a request, and of a download. */
const SAVED_PAGE = 10000;
const SAVED_EVENTS = 200000;

/** Buttons that download in these forms. */
function downloads(onSave, forms) {
    return h(
        "span",
        { class: "group downloads", role: "group", "aria-label": "Download" },
        forms.map((form) => {
            const one = button(
                form,
                async () => {
                    one.disabled = true;
                    await onSave(form);
                    one.disabled = false;
                },
                { "aria-label": `Download as ${form}`, title: `Download as ${form}` },
            );
            return one;
        }),
    );
}

/** Gives the browser a file. */
function saveAs(name, parts, media) {
    const url = URL.createObjectURL(parts instanceof Blob ? parts : new Blob(parts, { type: media }));
    h("a", { href: url, download: name.replace(/[^\p{L}\p{N}._ -]/gu, "_") }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** The events that a filter chooses, as lines, the newest first, and whether these are all. */
async function eventLines(asked, signal) {
    const lines = [];
    let next = `events?${asked}${asked ? "&" : ""}limit=${SAVED_PAGE}`;
    while (next && lines.length < SAVED_EVENTS) {
        const answer = await ask(next, { headers: { Accept: MEDIA.NDJSON }, signal });
        for await (const some of chunksOf(answer)) for (const line of some) if (line) lines.push(line);
        next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(answer.headers.get("Link") ?? "")?.[1];
    }
    return { lines, isAll: !next };
}

/** Events in a form, as parts of a file, and the form's name. */
function inForm(form, lines) {
    const joined = (between) => lines.flatMap((line, index) => (index ? [between, line] : [line]));
    if (form === "NDJSON") return [[...joined("\n"), lines.length ? "\n" : ""], MEDIA.NDJSON];
    if (form === "JSON") return [["[", ...joined(",\n"), "]\n"], MEDIA.JSON];
    return [csvOf(lines), MEDIA.CSV];
}

/** Events as CSV (RFC 4180): a column for each field, in the order in which they are met; nested values are JSON. */
function csvOf(lines) {
    // What is no object has its value in a column of its own.
    const rows = lines.map(parse).map((event) => (isNested(event) && !Array.isArray(event) ? event : { value: event }));
    const columns = new Set();
    for (const row of rows) for (const name of Object.keys(row)) columns.add(name);
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lineOf = (cells) => `${cells.map(quoted).join(",")}\r\n`;
    const names = [...columns];
    const cell = (value) => (value === null ? "" : textOf(value));
    return [lineOf(names), ...rows.map((row) => lineOf(names.map((name) => cell(row[name]))))];
}
