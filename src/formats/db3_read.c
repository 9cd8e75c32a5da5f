/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/bag_file.h"
#include "formats/sqlite.h"

#include "base/file.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A hostile file may claim rows without end, or a table that is something else: only plain tables are read, rows are counted
 * against the file's length, and SQLite's steps against both. */
#define MOST_ROW_BYTES  (1 << 30)
#define LEAST_ROW_BYTES 4
#define STEPS_A_CALL    10000
#define STEPS_SURE      ((int64_t)100 << 20)
#define STEPS_A_BYTE    64

typedef struct topic_id {
    int64_t id;
    size_t topic;
} topic_id;

typedef struct db3_file {
    sk_bag_file base;
    sqlite3 *database;
    sqlite3_stmt *by_id;
    int64_t length;
    int64_t steps; /* that are left */
    bool by_row;   /* `offset` of an entry is the row's number, else its `id` */
    struct {
        int64_t id;
        size_t topic;
    } * ids; /* of topics in the file */
    size_t n_ids, ids_capacity;
    sk_bag_entries all; /* `chunk` is the topic's index, `offset` the row */
} db3_file;

static int64_t size_beside(const char *path, const char *ending)
{
    char name[4200];
    const bool fits = snprintf(name, sizeof name, "%s%s", path, ending) < (int)sizeof name;
    const int64_t size = fits ? sk_file_size(name) : 0;
    return size > 0 ? size : 0;
}

static bool beside(const char *path, const char *ending)
{
    return size_beside(path, ending) > 0;
}

static sk_status fail(const db3_file *d, sk_error *err)
{
    if (d->steps <= 0)
        return sk_fail(err, SK_ERR_LIMIT, "%s: damaged: its tables have no end", d->base.path);
    if (beside(d->base.path, "-journal"))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: its recorder was killed while it wrote; SQLite says %s. This puts it right: "
                       "sqlite3 '%s' 'PRAGMA quick_check'",
                       d->base.path, sk_sqlite.errmsg(d->database), d->base.path);
    return sk_fail(err, SK_ERR_FORMAT, "%s: not a bag, or damaged: SQLite says %s", d->base.path,
                   sk_sqlite.errmsg(d->database));
}

static int count_steps(void *context)
{
    db3_file *d = context;
    d->steps -= STEPS_A_CALL;
    return d->steps <= 0;
}

static sk_status prepare(db3_file *d, const char *sql, sqlite3_stmt **out, sk_error *err)
{
    return sk_sqlite.prepare_v2(d->database, sql, -1, out, NULL) == SK_SQLITE_OK ? SK_OK : fail(d, err);
}

/* Views and virtual tables could compute anything. */
static sk_status need_table(db3_file *d, const char *name, sk_error *err)
{
    sqlite3_stmt *s = NULL;
    SK_TRY(prepare(d, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1", &s, err));
    sk_sqlite.bind_text(s, 1, name, -1, NULL);
    const int code = sk_sqlite.step(s);
    const char *sql = code == SK_SQLITE_ROW ? (const char *)sk_sqlite.column_text(s, 0) : NULL;
    const bool plain = sql && strncmp(sql, "CREATE TABLE", 12) == 0;
    sk_status status = SK_OK;
    if (code != SK_SQLITE_ROW && code != SK_SQLITE_DONE)
        status = fail(d, err);
    else if (!plain)
        status = sk_fail(err, SK_ERR_FORMAT, "%s: an SQLite file, but no bag of ROS 2: it has no table '%s'",
                         d->base.path, name);
    sk_sqlite.finalize(s);
    return status;
}

static sk_status read_topics(db3_file *d, sk_error *err)
{
    sqlite3_stmt *s = NULL;
    sk_status status = SK_OK;
    int code;
    SK_TRY(prepare(d, "SELECT id, name, type, serialization_format FROM topics", &s, err));
    while (status == SK_OK && (code = sk_sqlite.step(s)) == SK_SQLITE_ROW) {
        const char *text[3];
        for (int i = 0; i < 3; i++) {
            text[i] = (const char *)sk_sqlite.column_text(s, i + 1);
            text[i] = text[i] ? text[i] : "";
        }
        status =
            sk_array_reserve((void **)&d->ids, &d->ids_capacity, d->n_ids + 1, sizeof *d->ids, 4096, err);
        if (status == SK_OK) {
            d->ids[d->n_ids].id = sk_sqlite.column_int64(s, 0);
            status = sk_bag_file_topic(&d->base, text[0], text[1], text[2], &d->ids[d->n_ids].topic, err);
            d->n_ids += status == SK_OK;
        }
    }
    if (status == SK_OK && code != SK_SQLITE_DONE)
        status = fail(d, err);
    sk_sqlite.finalize(s);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const topic_id *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static size_t topic_of(const db3_file *d, int64_t id)
{
    const topic_id wanted = {.id = id};
    const topic_id *found = d->n_ids ? bsearch(&wanted, d->ids, d->n_ids, sizeof *d->ids, by_id) : NULL;
    return found ? found->topic : SIZE_MAX;
}

/* Rows are found by SQLite's own number, which every table has but one WITHOUT ROWID (whose key is an index); by the column `id`
 * they are found at once only where whoever made the table said that it is the key. Of rosbag2's both are the same. */
static bool has_row_numbers(db3_file *d)
{
    sqlite3_stmt *s = NULL;
    const bool has =
        sk_sqlite.prepare_v2(d->database, "SELECT _rowid_ FROM messages", -1, &s, NULL) == SK_SQLITE_OK;
    sk_sqlite.finalize(s);
    return has;
}

/* A file that was cut off is read up to there. */
static sk_status read_rows(db3_file *d, sk_error *err)
{
    sqlite3_stmt *s = NULL;
    sk_status status = SK_OK;
    int code;
    int64_t left = d->length / LEAST_ROW_BYTES;
    if (d->n_ids)
        qsort(d->ids, d->n_ids, sizeof *d->ids, by_id);
    SK_TRY(prepare(d,
                   d->by_row ? "SELECT _rowid_, topic_id, timestamp FROM messages"
                             : "SELECT id, topic_id, timestamp FROM messages",
                   &s, err));
    while (status == SK_OK && (code = sk_sqlite.step(s)) == SK_SQLITE_ROW && left-- > 0) {
        const size_t topic = topic_of(d, sk_sqlite.column_int64(s, 1));
        if (topic == SIZE_MAX)
            continue;
        d->base.topics[topic].messages++;
        status = sk_bag_entries_add(&d->all,
                                    (sk_bag_entry){.log_ns = sk_sqlite.column_int64(s, 2),
                                                   .chunk = topic,
                                                   .offset = (uint64_t)sk_sqlite.column_int64(s, 0)},
                                    err);
    }
    if (status == SK_OK && (left < 0 || d->steps <= 0))
        status = sk_fail(err, SK_ERR_LIMIT, "%s: damaged: its tables have no end", d->base.path);
    else if (status == SK_OK && code != SK_SQLITE_DONE && d->all.count == 0)
        status = fail(d, err);
    else if (status == SK_OK && code != SK_SQLITE_DONE)
        snprintf(d->base.problem, sizeof d->base.problem, "it is damaged behind %zu messages: %.150s",
                 d->all.count, sk_sqlite.errmsg(d->database));
    sk_sqlite.finalize(s);
    return status;
}

static sk_status list(sk_bag_file *base, size_t topic, sk_bag_entries *out, sk_error *err)
{
    const db3_file *d = (const db3_file *)base;
    for (size_t i = 0; i < d->all.count; i++)
        if (d->all.items[i].chunk == topic)
            SK_TRY(sk_bag_entries_add(out, d->all.items[i], err));
    return SK_OK;
}

static sk_status read_message(sk_bag_file *base, size_t topic, const sk_bag_entry *entry,
                              const uint8_t **bytes, size_t *count, sk_error *err)
{
    db3_file *d = (db3_file *)base;
    (void)topic;
    d->steps = STEPS_SURE;
    sk_sqlite.reset(d->by_id);
    sk_sqlite.bind_int64(d->by_id, 1, (int64_t)entry->offset);
    const int code = sk_sqlite.step(d->by_id);
    if (code != SK_SQLITE_ROW)
        return code == SK_SQLITE_DONE ? sk_fail(err, SK_ERR_FORMAT, "%s: message %llu is gone", d->base.path,
                                                (unsigned long long)entry->offset)
                                      : fail(d, err);
    const void *data = sk_sqlite.column_blob(d->by_id, 0);
    const int length = sk_sqlite.column_bytes(d->by_id, 0);
    *bytes = data ? data : (const uint8_t *)"";
    *count = data ? (size_t)length : 0;
    return SK_OK;
}

static void close_db3(sk_bag_file *base)
{
    db3_file *d = (db3_file *)base;
    if (d->by_id)
        sk_sqlite.finalize(d->by_id);
    if (d->database)
        sk_sqlite.close_v2(d->database);
    sk_bag_file_free(base);
    sk_free_all(d->ids, d->all.items, d);
}

/* Nothing is made beside the file (no lock, no index of a -wal) unless a recorder left or keeps something there. */
static sk_status open_database(db3_file *d, sk_error *err)
{
    const bool alone = !beside(d->base.path, "-wal") && !beside(d->base.path, "-journal");
    sk_text name = {0};
    sk_text_append(&name, "file:");
    for (const unsigned char *c = (const unsigned char *)d->base.path; *c; c++)
        sk_text_appendf(&name, isalnum(*c) || strchr("/._-", *c) ? "%c" : "%%%02x", *c);
    sk_text_append(&name, alone ? "?immutable=1" : "?mode=ro");
    sk_status status = sk_text_status(&name, err);
    if (status == SK_OK &&
        sk_sqlite.open_v2(sk_text_get(&name), &d->database,
                          SK_SQLITE_READONLY | SK_SQLITE_URI | SK_SQLITE_NOMUTEX, NULL) != SK_SQLITE_OK)
        status = d->database ? fail(d, err) : sk_fail_memory(err, 1);
    sk_text_free(&name);
    if (status != SK_OK)
        return status;
    /* no row is longer than the file: one that computes its columns is a trap */
    const int64_t there = d->length + (alone ? 0 : size_beside(d->base.path, "-wal"));
    sk_sqlite.limit(d->database, SK_SQLITE_LENGTH, there < MOST_ROW_BYTES ? (int)there : MOST_ROW_BYTES);
    sk_sqlite.progress_handler(d->database, STEPS_A_CALL, count_steps, d);
    sk_sqlite.exec(d->database, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    return SK_OK;
}

static sk_status begin(db3_file *d, const char *path, sk_error *err)
{
    int file = -1;
    char magic[16] = "";
    SK_TRY(sk_sqlite_load(err));
    d->base.path = sk_strdup(path);
    if (!d->base.path)
        return sk_fail_memory(err, strlen(path));
    SK_TRY(sk_file_open(path, &file, &d->length, err)); /* a pipe, a folder: refused by its words */
    const ssize_t got = read(file, magic, sizeof magic);
    close(file);
    if (got != (ssize_t)sizeof magic || memcmp(magic, "SQLite format 3", sizeof magic) != 0)
        return sk_fail(
            err, SK_ERR_FORMAT, "%s: not an SQLite file%s", path,
            d->length == 0 ? ": it is empty; its recorder wrote nothing, or copying it failed"
            : got >= 5 && memcmp(magic, "\x89MCAP", 5) == 0
                ? ": it is an MCAP bag; give it the ending .mcap"
                : ": a bag of ROS 2 with this ending is one; of something else, give it its own ending");
    d->steps = STEPS_SURE + (d->length < INT64_MAX / STEPS_A_BYTE / 2 ? d->length * STEPS_A_BYTE : 0);
    return open_database(d, err);
}

sk_status sk_bag_file_open_db3(const char *path, sk_bag_file **out, sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    db3_file *d = sk_calloc(1, sizeof *d);
    if (!d)
        return sk_fail_memory(err, sizeof *d);
    d->base.list = list;
    d->base.read = read_message;
    d->base.close = close_db3;
    SK_TRY_GOTO(begin(d, path, err));
    SK_TRY_GOTO(need_table(d, "topics", err));
    SK_TRY_GOTO(need_table(d, "messages", err));
    SK_TRY_GOTO(read_topics(d, err));
    d->by_row = has_row_numbers(d);
    SK_TRY_GOTO(read_rows(d, err));
    SK_TRY_GOTO(prepare(d,
                        d->by_row ? "SELECT data FROM messages WHERE _rowid_ = ?1"
                                  : "SELECT data FROM messages WHERE id = ?1",
                        &d->by_id, err));
done:
    if (status == SK_OK)
        *out = &d->base;
    else
        close_db3(&d->base);
    return status;
}
