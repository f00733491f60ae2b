/* Inserts task rows as fast as C goes: one prepared statement for some rows each, bound and stepped in a loop. */

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct task {
    int64_t id;
    const char *title;
    int title_bytes;
    int done;
};

struct table {
    sqlite3 *db;
    sqlite3_stmt *insert;
    int rows;
    int numbered;
    sqlite3_destructor_type texts;
};

int bench_tasks_finish(struct table *table) {
    sqlite3_finalize(table->insert);
    int status = sqlite3_exec(table->db, "commit", 0, 0, 0);
    int closed = sqlite3_close(table->db);
    free(table);
    return status ? status : closed;
}

/* NULL if it cannot be done. */
struct table *bench_tasks_create(const char *path, const char *begin, int rows, int numbered, int copies) {
    struct table *table = calloc(1, sizeof *table);
    char *sql = malloc(64 + 8 * (size_t)rows);
    if (!table || !sql) return NULL;
    table->rows = rows;
    table->numbered = numbered;
    table->texts = copies ? SQLITE_TRANSIENT : SQLITE_STATIC;
    char *end = stpcpy(sql, numbered ? "insert into tasks (id, title, done) values " : "insert into tasks (title, done) values ");
    for (int row = 0; row < rows; row++) {
        end = stpcpy(end, numbered ? "(?,?,?)," : "(?,?),");
    }
    end[-1] = 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int status = sqlite3_open_v2(path, &table->db, flags, 0);
    if (!status) status = sqlite3_exec(table->db, begin, 0, 0, 0);
    if (!status) status = sqlite3_prepare_v3(table->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &table->insert, 0);
    if (!status) status = sqlite3_exec(table->db, "begin", 0, 0, 0);
    free(sql);
    if (status) {
        bench_tasks_finish(table);
        return NULL;
    }
    return table;
}

/* `count` is a multiple of the rows per statement. */
int bench_tasks_insert(struct table *table, const struct task *task, size_t count) {
    sqlite3_stmt *insert = table->insert;
    for (size_t done = 0; done < count; done += table->rows) {
        int place = 0;
        for (int row = 0; row < table->rows; row++, task++) {
            if (table->numbered) sqlite3_bind_int64(insert, ++place, task->id);
            sqlite3_bind_text(insert, ++place, task->title, task->title_bytes, table->texts);
            sqlite3_bind_int(insert, ++place, task->done);
        }
        if (sqlite3_step(insert) != SQLITE_DONE) return sqlite3_reset(insert);
        sqlite3_reset(insert);
    }
    return 0;
}

/* Copies what fits of the last error's message. Returns the length of the whole message. */
size_t bench_tasks_error(struct table *table, char *into, size_t capacity) {
    const char *message = sqlite3_errmsg(table->db);
    size_t length = strlen(message);
    memcpy(into, message, length < capacity ? length : capacity);
    return length;
}
