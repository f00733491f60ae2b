// The calls of @supabase/postgrest-js as its documentation has them, against the server at argv[2]. Prints a line for
// each method, and fails at the first answer that is not as wanted.
const assert = require("node:assert");
const { PostgrestClient } = require("@supabase/postgrest-js");

const db = new PostgrestClient(process.argv[2]);
const names = (rows) => rows.map((row) => row.name);

/** Checks data, or an error with the wanted members. */
async function is(method, query, wanted, more = {}) {
    const { data, error, count, status } = await query;
    if (more.error) {
        assert.ok(error, `${method}: no error, but ${JSON.stringify(data)}`);
        assert.strictEqual(typeof error.message, "string", method);
        for (const [name, value] of Object.entries(more.error)) {
            assert.ok(value instanceof RegExp ? value.test(error[name]) : error[name] === value, `${method}: ${JSON.stringify(error)}`);
        }
        for (const name of ["message", "code", "details", "hint"]) assert.ok(name in error, `${method}: no ${name}`);
    } else {
        assert.ok(!error, `${method}: ${JSON.stringify(error)}`);
        assert.deepStrictEqual(data, wanted, `${method}: ${JSON.stringify(data)}`);
    }
    if ("count" in more) assert.strictEqual(count, more.count, method);
    if ("status" in more) assert.strictEqual(status, more.status, method);
    console.log(`ran ${method}`);
}

async function main() {
    // Changes, and what they return.
    await is("insert", db.from("people").insert({ id: 1, name: "Ann" }), null, { status: 201 });
    await is("insert []", db.from("people").insert([{ id: 2, name: "Bob" }, { id: 3, name: "Cid", age: 7 }]), null, { status: 201 });
    await is("insert select", db.from("people").insert({ name: "Dee" }).select(), [
        { id: 4, name: "Dee", age: null, ok: false, tags: null, meta: null },
    ], { status: 201 });
    await is("insert [] select columns", db.from("people").insert([{ name: "Eve", age: 30 }, { name: "Fay", ok: true }]).select("id,name,ok"), [
        { id: 5, name: "Eve", ok: false },
        { id: 6, name: "Fay", ok: true },
    ]);
    await is("insert select single", db.from("people").insert({ name: "Gus" }).select("name").single(), { name: "Gus" });
    await is("insert count", db.from("people").insert([{ name: "Hal" }], { count: "exact" }), null);
    await is("insert twice", db.from("people").insert({ id: 1, name: "again" }), null, { error: { code: "23505" }, status: 409 });
    await is("insert unknown column", db.from("people").insert({ nme: "x" }), null, { error: { message: /nme/ }, status: 400 });
    await is("insert too little", db.from("people").insert({ age: 1 }), null, { error: { code: "23502" }, status: 422 });
    await is("upsert", db.from("people").upsert({ id: 1, name: "Ann", age: 41 }).select("name,age"), [{ name: "Ann", age: 41 }]);
    await is("upsert []", db.from("people").upsert([{ id: 2, name: "Bob", age: 20 }, { id: 20, name: "Ida" }]).select("id"), [{ id: 2 }, { id: 20 }]);
    await is("upsert without the key", db.from("people").upsert({ name: "Jim" }).select("id,name"), [{ id: 21, name: "Jim" }]);
    await is("upsert onConflict", db.from("people").upsert({ name: "Jim", age: 5 }, { onConflict: "name" }).select("id,age"), [{ id: 21, age: 5 }]);
    await is("upsert ignoreDuplicates", db.from("people").upsert([{ id: 1, name: "zzz" }, { id: 22, name: "Kay" }], { ignoreDuplicates: true }).select("name"), [{ name: "Kay" }]);
    await is("upsert unknown key", db.from("people").upsert({ name: "x" }, { onConflict: "age" }), null, { status: 400, error: {} });
    await is("update", db.from("people").update({ age: 8 }).eq("id", 3), null, { status: 204 });
    await is("update select", db.from("people").update({ age: 9 }).gt("id", 2).lt("id", 5).select("id,age"), [{ id: 3, age: 9 }, { id: 4, age: 9 }], { status: 200 });
    await is("update the same", db.from("people").update({ age: 9 }).eq("id", 3).select("id"), [{ id: 3 }]);
    await is("update nothing", db.from("people").update({ age: 9 }).eq("id", 99).select(), []);
    await is("update json", db.from("people").update({ tags: ["a", "b c"], meta: { owner: { name: "Zoe", n: 1.5 }, list: [1, 2] } }).eq("id", 1).select("tags,meta").single(), {
        tags: ["a", "b c"],
        meta: { owner: { name: "Zoe", n: 1.5 }, list: [1, 2] },
    });
    await is("update the key", db.from("people").update({ id: 30 }).eq("id", 20).select("id,name"), [{ id: 30, name: "Ida" }]);
    await is("update maybeSingle", db.from("people").update({ age: 1 }).eq("id", 99).select().maybeSingle(), null);
    await is("update single of several", db.from("people").update({ age: 77 }).gt("id", 0).select("id").single(), null, { error: { code: "PGRST116" }, status: 406 });
    await is("it was not done", db.from("people").select("id").eq("age", 77), []);
    await is("delete select", db.from("people").delete().in("id", [21, 22]).select("name"), [{ name: "Jim" }, { name: "Kay" }]);
    await is("delete", db.from("people").delete().eq("name", "Hal"), null, { status: 204 });
    await is("delete nothing", db.from("people").delete().eq("id", 99).select(), []);
    await is("delete all", db.from("people").delete(), null, { error: {}, status: 400 });

    // Filters.
    const ids = async (method, change, wanted) => is(method, change(db.from("people").select("id")).order("id"), wanted.map((id) => ({ id })));
    await ids("eq", (q) => q.eq("name", "Ann"), [1]);
    await ids("neq", (q) => q.neq("name", "Ann").lt("id", 4), [2, 3]);
    await ids("gt lt", (q) => q.gt("id", 1).lt("id", 3), [2]);
    await ids("gte lte", (q) => q.gte("id", 1).lte("id", 2), [1, 2]);
    await ids("like", (q) => q.like("name", "%n%"), [1]);
    await ids("likeAllOf", (q) => q.likeAllOf("name", ["%n", "A%"]), [1]);
    await ids("likeAnyOf", (q) => q.likeAnyOf("name", ["B%", "C%"]), [2, 3]);
    await ids("ilike", (q) => q.ilike("name", "a%"), [1]);
    await ids("ilikeAllOf", (q) => q.ilikeAllOf("name", ["%N", "a%"]), [1]);
    await ids("ilikeAnyOf", (q) => q.ilikeAnyOf("name", ["b%", "c%"]), [2, 3]);
    await ids("is null", (q) => q.is("age", null), [6, 7, 30]);
    await ids("is true", (q) => q.is("ok", true), [6]);
    await ids("eq true", (q) => q.eq("ok", true), [6]);
    await ids("isDistinct", (q) => q.isDistinct("age", 9).lt("id", 7), [1, 2, 5, 6]);
    await ids("in", (q) => q.in("name", ["Ann", "a,b", 'q"q', "Bob"]), [1, 2]);
    await ids("in nothing", (q) => q.in("id", []), []);
    await ids("contains array", (q) => q.contains("tags", ["a"]), [1]);
    await ids("contains text", (q) => q.contains("tags", ["b c", "a"]), [1]);
    await ids("contains not", (q) => q.contains("tags", ["x"]), []);
    await ids("contains object", (q) => q.contains("meta", { owner: { name: "Zoe" } }), [1]);
    await ids("containedBy", (q) => q.containedBy("tags", ["a", "b c", "d"]), [1]);
    await ids("overlaps", (q) => q.overlaps("tags", ["d", "a"]), [1]);
    await ids("match", (q) => q.match({ id: 1, name: "Ann" }), [1]);
    await ids("not", (q) => q.not("age", "is", null).not("id", "in", "(1,2)").lt("id", 5), [3, 4]);
    await ids("or", (q) => q.or("id.eq.1,name.eq.Bob"), [1, 2]);
    await ids("or with lists and groups", (q) => q.or("id.in.(1,2),and(age.eq.9,not.or(id.eq.3,name.like.X*))"), [1, 2, 4]);
    await ids("or beside eq", (q) => q.or("id.eq.1,id.eq.2").eq("name", "Bob"), [2]);
    await ids("filter", (q) => q.filter("name", "in", '("Ann","Bob")'), [1, 2]);
    await ids("filter in json", (q) => q.filter("meta->owner->>name", "eq", "Zoe"), [1]);
    await ids("filter of a cast", (q) => q.filter("id::text", "like", "3*"), [3, 30]);
    for (const [method, query] of [
        ["textSearch", db.from("people").select().textSearch("name", "x")],
        ["regexMatch", db.from("people").select().regexMatch("name", "x")],
        ["rangeGt", db.from("people").select().rangeGt("age", "[1,2)")],
        ["an unknown operator", db.from("people").select().filter("id", "foo", 1)],
        ["an unknown column", db.from("people").select().eq("idd", 1)],
        ["an open bracket", db.from("people").select().or("id.eq.1,and(id.eq.2")],
    ]) {
        await is(`refused: ${method}`, query, null, { error: { code: "PGRST100" }, status: 400 });
    }

    // Columns, order, pages, forms.
    await is("select alias, cast and json", db.from("people").select("key:id::text,who:name,owner:meta->owner->>name,meta->list,first:meta->list->0").eq("id", 1), [
        { key: "1", who: "Ann", owner: "Zoe", list: [1, 2], first: 1 },
    ]);
    await is("order", db.from("people").select("name").order("age", { ascending: false, nullsFirst: false }).order("name").limit(3), [{ name: "Ann" }, { name: "Eve" }, { name: "Bob" }]);
    await is("order in json", db.from("people").select("id").order("meta->owner->n", { nullsFirst: false }).limit(1), [{ id: 1 }]);
    await is("range", db.from("people").select("id", { count: "exact" }).order("id").range(1, 2), [{ id: 2 }, { id: 3 }], { count: 8, status: 206 });
    await is("head", db.from("people").select("*", { count: "exact", head: true }), null, { count: 8 });
    await is("single", db.from("people").select("name").eq("id", 1).single(), { name: "Ann" });
    await is("single of none", db.from("people").select().eq("id", 99).single(), null, { error: { code: "PGRST116", details: /0 rows/ }, status: 406 });
    await is("single of several", db.from("people").select().single(), null, { error: { code: "PGRST116" }, status: 406 });
    await is("maybeSingle", db.from("people").select("name").eq("id", 1).maybeSingle(), { name: "Ann" });
    await is("maybeSingle of none", db.from("people").select().eq("id", 99).maybeSingle(), null);
    await is("csv", db.from("people").select("id,name").lt("id", 3).csv(), "id,name\n1,Ann\n2,Bob\n");
    await is("throwOnError", db.from("people").select("id").eq("id", 1).throwOnError(), [{ id: 1 }]);
    await assert.rejects(async () => { await db.from("nobody").select().throwOnError(); }, { code: "PGRST205" });

    // Tables that foreign keys lead to.
    await is("insert posts", db.from("posts").insert([
        { id: 1, title: "One", author: 1, body: null },
        { id: 2, title: "Two", author: 1, editor: 2 },
        { id: 3, title: "Three" },
    ]), null);
    await is("embedded", db.from("posts").select("title,author(name,ok)").order("id"), [
        { title: "One", author: { name: "Ann", ok: false } },
        { title: "Two", author: { name: "Ann", ok: false } },
        { title: "Three", author: null },
    ]);
    await is("embedded by its table", db.from("posts").select("id,who:people!editor(name)").eq("id", 2).single(), { id: 2, who: { name: "Bob" } });
    await is("embedded, several ways", db.from("posts").select("people(name)"), null, { error: { code: "PGRST201" }, status: 400 });
    await is("embedded inner", db.from("posts").select("id,author!inner(id)", { count: "exact" }).order("id"), [{ id: 1, author: { id: 1 } }, { id: 2, author: { id: 1 } }], { count: 2 });
    await is("embedded many", db.from("people").select("name,posts!author(title,tags:people!author(tags))").lt("id", 3).order("id"), [
        { name: "Ann", posts: [{ title: "One", tags: { tags: ["a", "b c"] } }, { title: "Two", tags: { tags: ["a", "b c"] } }] },
        { name: "Bob", posts: [] },
    ]);
    const people = () => db.from("people").select("id,posts!author(id)").lt("id", 3).order("id");
    await is("condition on embedded", people().eq("posts.title", "Two"), [{ id: 1, posts: [{ id: 2 }] }, { id: 2, posts: [] }]);
    await is("conditions on embedded and on rows", people().gt("posts.id", 1).in("posts.title", ["One", "Two"]).eq("name", "Ann"), [{ id: 1, posts: [{ id: 2 }] }]);
    await is("condition on embedded inner", db.from("people").select("id,posts!author!inner(id)", { count: "exact" }).eq("posts.title", "Two").gt("id", 0), [{ id: 1, posts: [{ id: 2 }] }], { count: 1 });
    await is("or on embedded", people().or("title.eq.Two,title.like.O*", { referencedTable: "posts" }).or("id.eq.1,id.eq.9"), [{ id: 1, posts: [{ id: 1 }, { id: 2 }] }]);
    await is("order of embedded", people().order("id", { referencedTable: "posts", ascending: false }), [{ id: 1, posts: [{ id: 2 }, { id: 1 }] }, { id: 2, posts: [] }]);
    await is("limit of embedded", people().order("id", { referencedTable: "posts", ascending: false }).limit(1, { referencedTable: "posts" }), [{ id: 1, posts: [{ id: 2 }] }, { id: 2, posts: [] }]);
    await is("range of embedded", people().range(1, 1, { referencedTable: "posts" }), [{ id: 1, posts: [{ id: 2 }] }, { id: 2, posts: [] }]);
    await is("condition on embedded by its alias", db.from("posts").select("id,who:author(name)").eq("who.name", "Bob").eq("id", 1), [{ id: 1, who: null }]);
    await is("condition in embedded of embedded", db.from("people").select("id,posts!author(id,w:people!author(name))").eq("posts.w.name", "Bob").eq("id", 1), [{ id: 1, posts: [{ id: 1, w: null }, { id: 2, w: null }] }]);
    await is("embedded is null", db.from("people").select("id,posts!author()").is("posts", null).lt("id", 4).order("id"), [{ id: 2, posts: [] }, { id: 3, posts: [] }]);
    await is("embedded is not null", db.from("people").select("id,posts!author(id)").not("posts", "is", null).eq("posts.id", 1), [{ id: 1, posts: [{ id: 1 }] }]);
    await is("count of embedded", db.from("people").select("id,posts!author(count)").lt("id", 3).order("id"), [{ id: 1, posts: [{ count: 2 }] }, { id: 2, posts: [{ count: 0 }] }]);
    await is("order by another table", db.from("posts").select("id,author(name)").order("author(name)", { ascending: true, nullsFirst: true }).order("id", { ascending: false }), [
        { id: 3, author: null },
        { id: 2, author: { name: "Ann" } },
        { id: 1, author: { name: "Ann" } },
    ]);
    for (const [method, query] of [
        ["a condition on a table that is not selected", db.from("people").select("id").eq("posts.title", "Two")],
        ["an unknown column of embedded", people().eq("posts.titel", "Two")],
        ["order by several rows", db.from("people").select("id").order("posts!author(id)")],
        ["a change with a condition on embedded", db.from("people").update({ age: 5 }).eq("id", 1).eq("posts.id", 1).select("id,posts!author(id)")],
        ["a value for a table", people().eq("posts", 1)],
    ]) {
        await is(`refused: ${method}`, query, null, { error: { code: "PGRST100" }, status: 400 });
    }
    await is("embedded of nobody", db.from("posts").select("nobody(*)"), null, { error: { code: "PGRST200" }, status: 400 });
    await is("insert select embedded", db.from("posts").insert({ title: "Four", author: 2 }).select("title,author(name)").single(), { title: "Four", author: { name: "Bob" } });
    await is("a key to nobody", db.from("posts").insert({ title: "x", author: 99 }), null, { error: { code: "23503" }, status: 409 });
    await is("rpc", db.rpc("anything"), null, { error: {}, status: 404 });
    assert.deepStrictEqual(names((await db.from("people").select("name").in("id", [1, 2])).data), ["Ann", "Bob"]);
    console.log("all of them");
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
