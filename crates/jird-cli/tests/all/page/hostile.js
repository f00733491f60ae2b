// What a hostile page tries; `attempts(server)` is called with the address of the server.
async (server) => {
    const told = [];
    const attempt = async (name, path, options = {}) => {
        try {
            const answer = await fetch(server + path, options);
            told.push([name, answer.type, answer.status, (await answer.text()).slice(0, 200)]);
        } catch (error) {
            told.push([name, "refused"]);
        }
    };
    const event = '{"@t":"2026-02-02T00:00:00Z","evil":true}';
    const json = { "Content-Type": "application/json" };
    for (const mode of ["no-cors", "cors"]) {
        for (const path of [
            "/tasks",
            "/tasks/1",
            "/sources",
            "/openapi.json",
            "/metrics",
            "/events",
            "/query?sql=select+1",
        ]) {
            await attempt(`${mode} GET ${path}`, path, { mode });
        }
        for (const path of ["/tasks", "/ingest", "/ingest/clef", "/api/events/raw", "/_bulk", "/v1/logs", "/query"]) {
            for (const media of [
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
            ]) {
                const body =
                    path === "/query" ? '{"sql":"select 1"}' : path === "/tasks" ? '{"title":"evil"}' : event;
                await attempt(`${mode} POST ${path} ${media}`, path, {
                    mode,
                    method: "POST",
                    body,
                    headers: { "Content-Type": media },
                });
            }
        }
    }
    await attempt("POST as JSON", "/tasks", { method: "POST", body: '{"title":"evil"}', headers: json });
    await attempt("SQL as JSON", "/query", { method: "POST", body: '{"sql":"select 1"}', headers: json });
    await attempt("events as NDJSON", "/ingest", {
        method: "POST",
        body: event,
        headers: { "Content-Type": "application/x-ndjson" },
    });
    await attempt("PATCH", "/tasks/1", { method: "PATCH", body: '{"title":"evil"}', headers: json });
    await attempt("DELETE", "/tasks/1", { method: "DELETE" });
    navigator.sendBeacon(server + "/ingest", event);
    navigator.sendBeacon(server + "/tasks", new Blob(['{"title":"evil"}'], { type: "text/plain" }));
    const frame = document.body.appendChild(document.createElement("iframe"));
    frame.name = "frame";
    for (const [path, media] of [
        ["/tasks", "text/plain"],
        ["/ingest", "text/plain"],
        ["/query", "application/x-www-form-urlencoded"],
    ]) {
        const form = document.body.appendChild(document.createElement("form"));
        Object.assign(form, { method: "POST", action: server + path, enctype: media, target: "frame" });
        const input = form.appendChild(document.createElement("input"));
        Object.assign(input, { name: '{"title":"evil","note":"', value: '"}' });
        form.submit();
        await new Promise((resolve) => {
            frame.onload = resolve;
            setTimeout(resolve, 300);
        });
    }
    let seen = "nothing";
    for (const path of ["/tasks", "/events"]) {
        const script = document.createElement("script");
        script.src = server + path;
        await new Promise((resolve) => {
            script.onload = () => {
                seen = "a script";
                resolve();
            };
            script.onerror = resolve;
            document.body.append(script);
        });
    }
    const source = new EventSource(server + "/events?follow=true");
    await new Promise((resolve) => {
        source.onopen = () => {
            seen = "events";
            resolve();
        };
        source.onerror = resolve;
    });
    source.close();
    frame.src = server + "/";
    await new Promise((resolve) => {
        frame.onload = resolve;
        setTimeout(resolve, 300);
    });
    try {
        if (frame.contentDocument?.querySelector("#sources")) seen = "a frame";
    } catch {}
    return { told, seen };
};
