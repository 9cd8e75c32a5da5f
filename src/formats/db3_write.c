/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/db3.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "formats/sqlite.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct sk_db3_writer {
    sqlite3 *database;
    sqlite3_stmt *insert;
    char *path;
    uint16_t n_topics;
    int waiting; /* messages that are not in the file yet */
};

static const char tables[] =
    "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;"
    "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);"
    "CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT "
    "NULL);"
    "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,"
    " serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,"
    " type_description_hash TEXT NOT NULL);"
    "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,"
    " encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);"
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,"
    " data BLOB NOT NULL);"
    "CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
    "INSERT INTO schema(schema_version, ros_distro) VALUES (4, 'skitter');";

static sk_status fail(const sk_db3_writer *w, sk_error *err)
{
    return sk_fail(err, SK_ERR_IO, "%s: cannot be written: SQLite says %s", w->path,
                   w->database ? sk_sqlite.errmsg(w->database) : "out of memory");
}

static sk_status execute(sk_db3_writer *w, const char *sql, sk_error *err)
{
    return sk_sqlite.exec(w->database, sql, NULL, NULL, NULL) == SK_SQLITE_OK ? SK_OK : fail(w, err);
}

/* One row of texts, behind an optional number. */
static sk_status insert_texts(sk_db3_writer *w, const char *sql, int64_t number, const char *const *texts,
                              int count, sk_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sk_sqlite.prepare_v2(w->database, sql, -1, &s, NULL) != SK_SQLITE_OK)
        return fail(w, err);
    sk_sqlite.bind_int64(s, 1, number);
    for (int i = 0; i < count; i++)
        sk_sqlite.bind_text(s, i + 2, texts[i], -1, NULL);
    sk_status status = sk_sqlite.step(s) == SK_SQLITE_DONE ? SK_OK : fail(w, err);
    sk_sqlite.finalize(s);
    return status;
}

/* What a writer that was killed left beside the file: SQLite would put it into the new one. */
static void remove_left(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        sk_text name = {0};
        sk_text_appendf(&name, "%s%s", path, endings[i]);
        if (name.failed == SK_OK)
            (void)unlink(name.data);
        sk_text_free(&name);
    }
}

sk_status sk_db3_writer_open(const char *path, sk_db3_writer **out, sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    *out = NULL;
    SK_TRY(sk_sqlite_load(err));
    sk_db3_writer *w = sk_calloc(1, sizeof *w);
    if (!w)
        return sk_fail_memory(err, sizeof *w);
    w->path = sk_strdup(path);
    if (!w->path) {
        status = sk_fail_memory(err, strlen(path));
        goto done;
    }
    remove_left(path);
    /* what is planted there is refused before SQLite sees it */
    SK_TRY_GOTO(sk_file_open_own(path, O_RDWR | O_CREAT | O_TRUNC, &file, err));
    close(file);
    if (sk_sqlite.open_v2(path, &w->database, SK_SQLITE_READWRITE | SK_SQLITE_CREATE | SK_SQLITE_NOMUTEX,
                          NULL) != SK_SQLITE_OK) {
        status = fail(w, err);
        goto done;
    }
    SK_TRY_GOTO(execute(w, tables, err));
    if (sk_sqlite.prepare_v2(w->database,
                             "INSERT INTO messages (topic_id, timestamp, data) VALUES (?1, ?2, ?3)", -1,
                             &w->insert, NULL) != SK_SQLITE_OK)
        status = fail(w, err);
done:
    return SK_HAND_OVER(status, w, out, sk_db3_writer_close);
}

sk_status sk_db3_writer_topic(sk_db3_writer *w, const char *topic, const sk_msg_type *type, const char *qos,
                              uint16_t *channel, sk_error *err)
{
    char hash[SK_MSG_HASH];
    sk_text definition = {0};
    SK_TRY(sk_db3_writer_flush(w, err));
    SK_TRY(sk_msg_type_hash(type, hash, err));
    *channel = ++w->n_topics;
    SK_TRY(insert_texts(w, "INSERT INTO topics VALUES (?1, ?2, ?3, ?4, ?5, ?6)", *channel,
                        (const char *const[]){topic, type->name, "cdr", qos, hash}, 5, err));
    sk_msg_type_definition(type, &definition);
    sk_status status = sk_text_status(&definition, err);
    if (status == SK_OK)
        status = insert_texts(w, "INSERT INTO message_definitions VALUES (?1, ?2, ?3, ?4, ?5)", *channel,
                              (const char *const[]){type->name, "ros2msg", sk_text_get(&definition), hash}, 4,
                              err);
    sk_text_free(&definition);
    return status;
}

sk_status sk_db3_writer_write(sk_db3_writer *w, uint16_t channel, int64_t log_ns, const void *bytes,
                              size_t count, sk_error *err)
{
    if (count > INT_MAX)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a message of %zu bytes", w->path, count);
    if (w->waiting == 0)
        SK_TRY(execute(w, "BEGIN", err));
    w->waiting++;
    sk_sqlite.reset(w->insert);
    sk_sqlite.bind_int64(w->insert, 1, channel);
    sk_sqlite.bind_int64(w->insert, 2, log_ns);
    sk_sqlite.bind_blob(w->insert, 3, bytes, (int)count, NULL);
    if (sk_sqlite.step(w->insert) != SK_SQLITE_DONE)
        return fail(w, err);
    return w->waiting >= SK_DB3_BATCH ? sk_db3_writer_flush(w, err) : SK_OK;
}

sk_status sk_db3_writer_flush(sk_db3_writer *w, sk_error *err)
{
    if (!w->waiting)
        return SK_OK;
    w->waiting = 0;
    sk_sqlite.reset(w->insert);
    return execute(w, "COMMIT", err);
}

sk_status sk_db3_writer_finish(sk_db3_writer **writer, const char *metadata, sk_error *err)
{
    sk_db3_writer *w = *writer;
    if (!w)
        return SK_OK;
    sk_status status = sk_db3_writer_flush(w, err);
    if (status == SK_OK && metadata)
        status = insert_texts(w, "INSERT INTO metadata (metadata_version, metadata) VALUES (?1, ?2)", 8,
                              (const char *const[]){metadata}, 1, err);
    sk_sqlite.finalize(w->insert);
    w->insert = NULL;
    if (status == SK_OK) /* one file again, which can be copied alone */
        status = execute(w, "PRAGMA journal_mode = DELETE", err);
    if (sk_sqlite.close_v2(w->database) != SK_SQLITE_OK && status == SK_OK)
        status = fail(w, err);
    w->database = NULL;
    sk_db3_writer_close(writer);
    return status;
}

void sk_db3_writer_close(sk_db3_writer **pointer)
{
    SK_TAKE_OR_RETURN(w, pointer);
    if (w->insert)
        sk_sqlite.finalize(w->insert);
    if (w->database)
        sk_sqlite.close_v2(w->database);
    sk_free_all(w->path, w);
}
