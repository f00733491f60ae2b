// The page: what is served, and the view that the address asks for.

let sources = [];
let hasQueries = false;
let view = null;
let viewOf = "";

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
    );
}

/** Shows what the address asks for. */
function show() {
    const { kind, name, params } = here();
    const main = document.getElementById("main");
    if (viewOf !== `${kind}/${name}`) {
        view?.close();
        document.querySelector("dialog[open]:not(#token)")?.close();
        const source = sources.find(
            (one) => one.name === name && KINDS.some(([of, , path]) => of === one.kind && path === kind),
        );
        view =
            kind === "query" && hasQueries
                ? new QueryView()
                : !source
                  ? null
                  : kind === "store"
                    ? new LogView(source)
                    : kind === "table"
                      ? new TableView(source)
                      : hasQueries
                        ? new FileView(source)
                        : null;
        viewOf = `${kind}/${name}`;
        fill(
            main,
            view?.element ??
                h(
                    "p",
                    { class: "empty" },
                    sources.length
                        ? "There is nothing of this name. Choose what to look at."
                        : "Nothing is served yet.",
                ),
        );
        document.title = name || kind ? `${name || "Query"} · jird` : "jird";
    }
    for (const link of document.querySelectorAll("#sources a")) {
        const isHere = link.getAttribute("href").split("?")[0] === hrefOf(kind, name);
        link.toggleAttribute("aria-current", isHere);
        if (!isHere) continue;
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    view?.update(params);
}

async function begin() {
    const main = document.getElementById("main");
    try {
        const answer = await ask("/sources", { headers: { Accept: "application/json" } });
        sources = await answer.json();
        hasQueries = await ask("/query", { method: "OPTIONS" }).then(
            () => true,
            (error) => error.status !== 404,
        );
    } catch (error) {
        return fill(main, h("p", { class: "wrong", role: "alert" }, error.message), button("Try again", begin));
    }
    showSources();
    if (!location.hash && sources.length) {
        const first = KINDS.flatMap(([kind]) => sources.filter((source) => source.kind === kind))[0];
        history.replaceState(null, "", hrefOf(KINDS.find(([kind]) => kind === first.kind)[2], first.name));
    }
    show();
}

addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = document.querySelector("#main .filter input, #main .chip-form select, #main textarea");
    if (!box) return;
    event.preventDefault();
    box.focus();
});
begin();
