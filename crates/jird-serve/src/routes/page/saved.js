// Saved views, which all users of the page share: a name, and the place that it leads to.

/** Asks for something in a dialog, in fields; `onSubmit` may throw what is wrong. */
function askInDialog(title, fields, text, onSubmit, ...acts) {
    const wrong = h("p", { class: "wrong", role: "alert" });
    const dialog = h(
        "dialog",
        { "aria-label": title, onclose: () => dialog.remove() },
        h(
            "form",
            {
                onsubmit: async (event) => {
                    event.preventDefault();
                    try {
                        await onSubmit();
                        dialog.close();
                    } catch (error) {
                        fill(wrong, problemOf(error));
                    }
                },
            },
            h("h2", {}, title),
            fields.map(([name, field]) => h("label", {}, h("span", {}, name), field)),
            wrong,
            h(
                "p",
                { class: "acts" },
                acts.map(([text, act]) =>
                    button(text, async () => {
                        try {
                            await act();
                            dialog.close();
                        } catch (error) {
                            fill(wrong, problemOf(error));
                        }
                    }),
                ),
                button("Cancel", () => dialog.close()),
                h("button", { type: "submit", class: "strong" }, text),
            ),
        ),
    );
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/** Changes a table of the server's own. A name that is taken is told as such. */
async function changeOwn(path, method, row) {
    const headers = row ? { "Content-Type": "application/json" } : {};
    try {
        await ask(path, { method, headers, body: row && JSON.stringify(row) });
    } catch (error) {
        if (error.status === 409) error.message = "There is another one of this name.";
        if (error.status === 405 || error.status === 403) error.message = "Your token does not allow changes.";
        throw error;
    }
}

/** The list of saved views, beside what is served. */
class SavedViews {
    constructor() {
        this.list = h("ul", {});
        this.element = h(
            "section",
            { class: "saved" },
            h("h2", {}, "Saved"),
            this.list,
            button("Save this view…", () => this.save()),
        );
    }

    async load() {
        try {
            const answer = await ask("saved?select=id,name,place&order=name", {
                headers: { Accept: "application/json" },
            });
            this.show(await answer.json());
        } catch {
            // Those that were shown stay.
        }
    }

    show(rows) {
        fill(
            this.list,
            rows.map((row) =>
                h(
                    "li",
                    {},
                    // The place is always one of this page, whatever stands in it.
                    h("a", { href: `#/${row.place}`, title: row.name }, row.name),
                    button("⋯", () => this.edit(row), { "aria-label": `Rename or delete ${row.name}` }),
                ),
            ),
        );
        showPlace(here());
    }

    nameField(name) {
        return h("input", { type: "text", required: true, maxlength: "200", value: name, autocomplete: "off" });
    }

    save() {
        const name = this.nameField("");
        askInDialog("Save this view", [["Name", name]], "Save", async () => {
            await changeOwn("saved", "POST", { name: name.value.trim(), place: location.hash.replace(/^#\/?/, "") });
            announce("Saved");
            await this.load();
        });
    }

    edit(row) {
        const name = this.nameField(row.name);
        const path = `saved/${encodeURIComponent(row.id)}`;
        const rename = async () => {
            await changeOwn(path, "PATCH", { name: name.value.trim() });
            await this.load();
        };
        const remove = async () => {
            await changeOwn(path, "DELETE");
            announce("Deleted");
            await this.load();
        };
        askInDialog(`Saved view ${row.name}`, [["Name", name]], "Rename", rename, ["Delete", remove]);
    }
}

const savedViews = new SavedViews();
