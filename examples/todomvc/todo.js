// ToDoMVC without a framework: the tasks are rows of the table `tasks`, and each action is a request to `jird serve`.
// The server is at http://localhost:8082, or where `?server=http://HOST:PORT` says.

const server = new URLSearchParams(location.search).get("server") ?? "http://localhost:8082";
const part = (id) => document.getElementById(id);
const CONDITIONS = { "#/active": "done=eq.false", "#/done": "done=eq.true" };

async function send(method, path, body) {
    const options = { method };
    if (body) {
        options.body = JSON.stringify(body);
        options.headers = { "Content-Type": "application/json" };
    }
    const answer = await fetch(`${server}/tasks${path}`, options);
    if (!answer.ok) throw new Error((await answer.json()).detail);
    return answer;
}

/** Sends a request that changes something, and shows the tasks as they are then. */
async function change(method, path, body) {
    try {
        await send(method, path, body);
    } catch (error) {
        return tell(error);
    }
    return show();
}

function tell(error) {
    part("trouble").textContent =
        error instanceof TypeError
            ? `Nothing answers at ${server}: start jird serve tasks.db --write --cors ${location.origin}`
            : error.message;
}

async function show() {
    try {
        const condition = CONDITIONS[location.hash];
        const [tasks, open, done] = await Promise.all([
            send("GET", `?order=id${condition ? `&${condition}` : ""}`).then((answer) => answer.json()),
            howMany("done=eq.false"),
            howMany("done=eq.true"),
        ]);
        part("trouble").textContent = "";
        part("list").replaceChildren(...tasks.map(item));
        part("foot").hidden = open + done === 0;
        part("all").hidden = open + done === 0;
        part("all").setAttribute("aria-pressed", open === 0);
        part("left").textContent = `${open} ${open === 1 ? "task" : "tasks"} left`;
        part("clear").hidden = done === 0;
        for (const link of document.querySelectorAll("nav a")) {
            const isHere = link.hash === (location.hash || "#/");
            link.toggleAttribute("aria-current", isHere);
        }
    } catch (error) {
        tell(error);
    }
}

/** The number of rows for which the condition holds; none of them is sent. */
async function howMany(condition) {
    const answer = await fetch(`${server}/tasks?${condition}&select=id&limit=0`, {
        headers: { Prefer: "count=exact" },
    });
    return Number(answer.headers.get("Content-Range").split("/")[1]);
}

function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
}

function item(task) {
    const path = `/${task.id}`;
    const check = element("input", {
        type: "checkbox",
        checked: task.done,
        onchange: () => change("PATCH", path, { done: check.checked }),
    });
    check.setAttribute("aria-label", `${task.title} is done`);
    const title = element("span", {
        className: "title",
        textContent: task.title,
        ondblclick: () => edit(title, task),
    });
    const remove = element("button", { type: "button", textContent: "×", onclick: () => change("DELETE", path) });
    remove.setAttribute("aria-label", `Delete ${task.title}`);
    return element("li", { className: task.done ? "done" : "" }, check, title, remove);
}

/** Lets a person change the title. Enter and leaving save, Escape does not; an empty title deletes the task. */
function edit(title, task) {
    const input = element("input", { className: "edit", value: task.title });
    input.setAttribute("aria-label", `New title of ${task.title}`);
    let isOver = false;
    const end = (text) => {
        if (isOver) return;
        isOver = true;
        if (text === "") change("DELETE", `/${task.id}`);
        else if (text === null || text === task.title) show();
        else change("PATCH", `/${task.id}`, { title: text });
    };
    input.onblur = () => end(input.value.trim());
    input.onkeydown = (event) => {
        if (event.key === "Enter") end(input.value.trim());
        else if (event.key === "Escape") end(null);
    };
    title.replaceWith(input);
    input.focus();
}

part("new").onsubmit = (event) => {
    event.preventDefault();
    const title = part("title").value.trim();
    if (!title) return;
    part("title").value = "";
    change("POST", "", { title });
};
part("all").onclick = () => {
    const isDone = part("all").getAttribute("aria-pressed") !== "true";
    change("PATCH", `?done=eq.${!isDone}`, { done: isDone });
};
part("clear").onclick = () => change("DELETE", "?done=eq.true");
addEventListener("hashchange", show);
show();
