/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "base/text.h"
#include "formats/mcap.h"
#include "formats/rosbag.h"
#include "formats/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bags that would take for ever: little that unpacks to much, again and again; rows that are not found by a key. */

#define UNPACKED ((size_t)60 << 20)

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static void put(sk_text *file, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        sk_text_append_bytes(file, &(char){(char)(value >> 8 * i)}, 1);
}

/* Channel 1, "/a" of an unknown type. */
static void put_channel(sk_text *file)
{
    put(file, SK_MCAP_CHANNEL, 1);
    put(file, 2 + 2 + 4 + 2 + 4 + 3 + 4, 8);
    put(file, 1, 2);
    put(file, 0, 2);
    put(file, 2, 4);
    sk_text_append(file, "/a");
    put(file, 3, 4);
    sk_text_append(file, "cdr");
    put(file, 0, 4);
}

/* A chunk of UNPACKED bytes that are a few: one message. */
static void pack_chunk(uint8_t **packed, size_t *bytes)
{
    sk_error err = {0};
    uint8_t *records = calloc(1, UNPACKED);
    assert_non_null(records);
    records[0] = SK_MCAP_MESSAGE;
    for (int i = 0; i < 4; i++) /* all the rest of it */
        records[1 + i] = (uint8_t)((UNPACKED - 9) >> 8 * i);
    records[9] = 1; /* the channel */
    assert_ok(sk_pack(SK_PACKING_ZSTD, records, UNPACKED, packed, bytes, &err), &err);
    free(records);
}

static void put_chunk(sk_text *file, const uint8_t *packed, size_t bytes)
{
    put(file, SK_MCAP_CHUNK, 1);
    put(file, 16 + 8 + 4 + 4 + 4 + 8 + bytes, 8);
    put(file, 0, 8); /* when its messages begin … */
    put(file, 0, 8); /* … and end */
    put(file, UNPACKED, 8);
    put(file, 0, 4);
    put(file, 4, 4);
    sk_text_append(file, "zstd");
    put(file, bytes, 8);
    sk_text_append_bytes(file, (const char *)packed, bytes);
}

static void save(const char *path, const sk_text *file)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(sk_text_get(file), 1, file->length, f), file->length);
    fclose(f);
}

static void chunks_that_must_be_looked_into_have_an_end(void **state)
{
    sk_text file = {0};
    uint8_t *packed = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    sk_bag *bag = NULL;
    (void)state;
    pack_chunk(&packed, &bytes);
    sk_text_append(&file, SK_MCAP_MAGIC);
    put_channel(&file);
    for (int i = 0; i < 300; i++) /* 18 GB */
        put_chunk(&file, packed, bytes);
    save(path_of("many.mcap"), &file);
    assert_int_equal(sk_bag_open(path_of("many.mcap"), &bag, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "unpack to has no end"));
    assert_non_null(strstr(err.message, "mcap recover"));
    assert_null(bag);
    unlink(path_of("many.mcap"));
    sk_text_free(&file);
    sk_free(packed);
}

/* Two chunks, whose indexes ask for them in turn; and a second pass begins anew. */
static void chunks_that_are_asked_for_in_turn_have_an_end(void **state)
{
    enum { TURNS = 64 };
    sk_text file = {0};
    uint8_t *packed = NULL;
    size_t bytes = 0, good = 0;
    sk_error err = {0};
    sk_bag *bag = NULL;
    sk_bag_message message;
    (void)state;
    pack_chunk(&packed, &bytes);
    sk_text_append(&file, SK_MCAP_MAGIC);
    put_channel(&file);
    for (int chunk = 0; chunk < 2; chunk++) {
        put_chunk(&file, packed, bytes);
        put(&file, SK_MCAP_MESSAGE_INDEX, 1);
        put(&file, 2 + 4 + TURNS * 16, 8);
        put(&file, 1, 2);
        put(&file, TURNS * 16, 4);
        for (uint64_t i = 0; i < TURNS; i++) {
            put(&file, 2 * i + (uint64_t)chunk, 8);
            put(&file, 0, 8);
        }
    }
    save(path_of("turns.mcap"), &file);
    assert_ok(sk_bag_open(path_of("turns.mcap"), &bag, &err), &err);
    assert_ok(sk_bag_choose(bag, 0, &err), &err);
    assert_int_equal(sk_bag_messages(bag), 2 * TURNS);
    for (size_t i = 0; i < 2 * TURNS; i++)
        good += sk_bag_read(bag, i, &message, &err) == SK_OK;
    assert_true(good > 2 && good < TURNS / 2);
    assert_non_null(strstr(err.message, "unpack to has no end"));
    assert_ok(sk_bag_read(bag, 0, &message, &err), &err);
    sk_bag_close(&bag);
    unlink(path_of("turns.mcap"));
    sk_text_free(&file);
    sk_free(packed);
}

/* Whoever made this table said of no column that it is its key: each row is its own message, found at once. */
static void rows_without_a_key(void **state)
{
    static const char *const tables[] = {
        "CREATE TABLE messages(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)",
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB) "
        "WITHOUT ROWID"};
    sk_error err = {0};
    (void)state;
    if (sk_sqlite_load(&err) != SK_OK)
        skip();
    for (int keyed = 0; keyed < 2; keyed++) {
        sqlite3 *database = NULL;
        sk_bag *bag = NULL;
        sk_bag_message message;
        unlink(path_of("rows.db3"));
        assert_int_equal(
            sk_sqlite.open_v2(path_of("rows.db3"), &database, SK_SQLITE_READWRITE | SK_SQLITE_CREATE, NULL),
            SK_SQLITE_OK);
        sk_sqlite.exec(
            database,
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);"
            "INSERT INTO topics VALUES(1, '/a', 'std_msgs/msg/String', 'cdr')",
            NULL, NULL, NULL);
        sk_sqlite.exec(database, tables[keyed], NULL, NULL, NULL);
        for (int i = 0; i < 100; i++) {
            char sql[128];
            snprintf(sql, sizeof sql, "INSERT INTO messages VALUES(%d, 1, %d, x'0001000005%02x')",
                     keyed ? i : 7, i, i);
            assert_int_equal(sk_sqlite.exec(database, sql, NULL, NULL, NULL), SK_SQLITE_OK);
        }
        sk_sqlite.close_v2(database);
        assert_ok(sk_bag_open(path_of("rows.db3"), &bag, &err), &err);
        assert_ok(sk_bag_choose(bag, 0, &err), &err);
        assert_int_equal(sk_bag_messages(bag), 100);
        for (size_t i = 0; i < 100; i++) {
            assert_ok(sk_bag_read(bag, i, &message, &err), &err);
            assert_int_equal(message.count, 6);
            assert_int_equal(message.bytes[5], i);
        }
        sk_bag_close(&bag);
        unlink(path_of("rows.db3"));
    }
}

/* A table whose pages lead to one and the same page again and again has more rows than its file could hold. */
static void rows_without_end(void **state)
{
    enum { PAGE = 512 };
    static uint8_t bytes[64 * PAGE];
    sk_error err = {0};
    sqlite3 *database = NULL;
    sqlite3_stmt *s = NULL;
    (void)state;
    if (sk_sqlite_load(&err) != SK_OK)
        skip();
    unlink(path_of("endless.db3"));
    assert_int_equal(
        sk_sqlite.open_v2(path_of("endless.db3"), &database, SK_SQLITE_READWRITE | SK_SQLITE_CREATE, NULL),
        SK_SQLITE_OK);
    sk_sqlite.exec(
        database,
        "PRAGMA page_size = 512;"
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);"
        "INSERT INTO topics VALUES(1, '/a', 'std_msgs/msg/String', 'cdr');"
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)",
        NULL, NULL, NULL);
    for (int i = 0; i < 100; i++)
        assert_int_equal(
            sk_sqlite.exec(database, "INSERT INTO messages VALUES(NULL, 1, 5, x'00')", NULL, NULL, NULL),
            SK_SQLITE_OK);
    assert_int_equal(sk_sqlite.prepare_v2(database,
                                          "SELECT rootpage FROM sqlite_master WHERE name = 'messages'", -1,
                                          &s, NULL),
                     SK_SQLITE_OK);
    assert_int_equal(sk_sqlite.step(s), SK_SQLITE_ROW);
    const int64_t root = sk_sqlite.column_int64(s, 0);
    sk_sqlite.finalize(s);
    sk_sqlite.close_v2(database);
    FILE *f = fopen(path_of("endless.db3"), "r+b");
    assert_non_null(f);
    const size_t count = fread(bytes, 1, sizeof bytes, f);
    uint8_t *page = bytes + (root - 1) * PAGE;
    assert_true(page[0] == 5 && count < sizeof bytes); /* it has leaves below it */
    for (int times = 1; times <= 80; times += 79) {
        sk_bag *bag = NULL;
        page[3] = 0;
        page[4] = (uint8_t)times;
        for (int i = 1; i < times; i++)
            memcpy(page + 12 + 2 * i, page + 12, 2); /* the same place, again */
        rewind(f);
        assert_int_equal(fwrite(bytes, 1, count, f), count);
        fflush(f);
        if (times == 1) {
            assert_ok(sk_bag_open(path_of("endless.db3"), &bag, &err), &err);
            sk_bag_close(&bag);
            continue;
        }
        assert_int_equal(sk_bag_open(path_of("endless.db3"), &bag, &err), SK_ERR_LIMIT);
        assert_non_null(strstr(err.message, "endless.db3: damaged: its tables have no end"));
        assert_null(bag);
    }
    fclose(f);
    unlink(path_of("endless.db3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_that_must_be_looked_into_have_an_end),
                                       cmocka_unit_test(chunks_that_are_asked_for_in_turn_have_an_end),
                                       cmocka_unit_test(rows_without_a_key),
                                       cmocka_unit_test(rows_without_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
