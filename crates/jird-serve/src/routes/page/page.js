// The page: what is served, and the view that the address asks for.

let sources = [];
let hasQueries = false;
let view = null;
let viewOf = "";
let turns = 0;

/** Whether the server has a table of its own of this name. */
const hasOwn = (name) => sources.some((source) => source.kind === "own" && source.name === name);

const KINDS = [
    ["store", "Stores", "store"],
    ["table", "Tables", "table"],
    ["view", "Views", "table"],
    ["file", "Files", "file"],
];

function showSources() {
    const item = (href, text) => h("li", {}, h("a", { href }, text));
    fill(
        document.getElementById("sources"),
        KINDS.map(([kind, title, path]) => {
            const all = sources.filter((source) => source.kind === kind);
            return (
                all.length > 0 &&
                h(
                    "section",
                    {},
                    h("h2", {}, title),
                    h(
                        "ul",
                        {},
                        all.map(({ name }) => item(hrefOf(path, name), name)),
                    ),
                )
            );
        }),
        hasQueries && h("section", {}, h("h2", {}, "SQL"), h("ul", {}, item("#/query", "Query"))),
        hasOwn("alerts") && h("section", {}, h("h2", {}, "Alerts"), h("ul", {}, item("#/alerts", "Alerts"))),
        hasOwn("saved") && savedViews.element,
    );
}

/** The view of a place; null if nothing is there. */
function viewAt({ kind, name }) {
    if (kind === "query") return hasQueries ? new QueryView() : null;
    if (kind === "alerts") return hasOwn("alerts") ? new AlertsView() : null;
    const isIt = (source) =>
        source.name === name && KINDS.some(([of, , path]) => of === source.kind && path === kind);
    const source = sources.find(isIt);
    if (!source) return null;
    if (kind === "store") return new LogView(source);
    if (kind === "table") return new TableView(source);
    return hasQueries ? new FileView(source) : null;
}

/** Shows what the address asks for; `main` is busy until it is there. */
async function show() {
    const place = here();
    const { kind, name, params } = place;
    const main = document.getElementById("main");
    const { hash } = location;
    if (viewOf !== `${kind}/${name}`) {
        view?.close();
        document.querySelector("dialog[open]:not(#token)")?.close();
        view = viewAt(place);
        viewOf = `${kind}/${name}`;
        const nothing = sources.length ? "There is nothing of this name." : "Nothing is served yet.";
        fill(main, view?.element ?? h("p", { class: "empty" }, nothing));
        const title = name || { query: "Query", alerts: "Alerts" }[kind];
        document.title = escaped(title ? `${title} · jird` : "jird");
    }
    showPlace(place);
    main.dataset.shows = hash;
    main.setAttribute("aria-busy", "true");
    const turn = ++turns;
    try {
        await view?.update(params);
    } finally {
        // Another place may have been asked for meanwhile.
        if (turn === turns) main.setAttribute("aria-busy", "false");
    }
}

/** Shows in the list of what is served where the page is. */
function showPlace({ kind, name }) {
    for (const link of document.querySelectorAll("#sources a")) {
        const href = link.getAttribute("href");
        const isHere = link.closest(".saved") ? href === location.hash : href.split("?")[0] === hrefOf(kind, name);
        link.toggleAttribute("aria-current", isHere);
        if (!isHere) continue;
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
}

async function askForSources() {
    const answer = await ask("sources", { headers: { Accept: "application/json" } });
    sources = await answer.json();
}

async function begin() {
    const main = document.getElementById("main");
    try {
        await askForSources();
        hasQueries = await ask("query", { method: "OPTIONS" }).then(
            () => true,
            (error) => error.status !== 404,
        );
    } catch (error) {
        return fill(main, h("p", { class: "wrong", role: "alert" }, error.message), button("Try again", begin));
    }
    showSources();
    if (hasOwn("saved")) savedViews.load();
    const first = KINDS.flatMap(([kind]) => sources.filter((source) => source.kind === kind))[0];
    if (!location.hash && first) {
        history.replaceState(null, "", hrefOf(KINDS.find(([kind]) => kind === first.kind)[2], first.name));
    }
    show();
}

addEventListener("hashchange", show);
// Tables may have been made meanwhile.
addEventListener("focus", () => {
    if (!sources.length) return;
    const told = JSON.stringify(sources);
    askForSources().then(
        () => {
            if (hasOwn("saved")) savedViews.load();
            if (JSON.stringify(sources) === told) return;
            showSources();
            showPlace(here());
        },
        () => {},
    );
});
addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = document.querySelector("#main .filter input, #main .chip-form select, #main textarea");
    if (!box) return;
    event.preventDefault();
    box.focus();
});
begin();
