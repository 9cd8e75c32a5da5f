/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite bags: when rows come into the file, what its tables may lack, and messages that are not there. */
#include "support/test.h"

#include "base/memory.h"
#include "formats/bag_file.h"
#include "formats/db3.h"
#include "formats/rosbag.h"
#include "formats/sqlite.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static char path[512];

static const char *name_it(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

/* What another program sees in the file now. */
static int64_t rows(const char *table)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *s = NULL;
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(sk_sqlite.open_v2(path, &database, SK_SQLITE_READONLY, NULL), SK_SQLITE_OK);
    assert_int_equal(sk_sqlite.prepare_v2(database, sql, -1, &s, NULL), SK_SQLITE_OK);
    assert_int_equal(sk_sqlite.step(s), SK_SQLITE_ROW);
    const int64_t count = sk_sqlite.column_int64(s, 0);
    sk_sqlite.finalize(s);
    sk_sqlite.close_v2(database);
    return count;
}

static void rows_come_in_batches(void **state)
{
    (void)state;
    sk_db3_writer *w = NULL;
    uint16_t channel = 0, second = 0;
    assert_ok(sk_db3_writer_finish(&w, "a: b", &err), &err); /* of none */
    sk_db3_writer_close(&w);
    assert_ok(sk_db3_writer_open(name_it("batches.db3"), &w, &err), &err);
    assert_ok(sk_db3_writer_flush(w, &err), &err); /* of nothing */
    assert_ok(sk_db3_writer_topic(w, "/a", sk_msg_type_find("std_msgs/msg/String"), "", &channel, &err),
              &err);
    assert_int_equal(sk_db3_writer_write(w, channel, 1, "", (size_t)INT_MAX + 1, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "batches.db3: a message of 2147483648 bytes"));
    for (int i = 1; i <= 2 * SK_DB3_BATCH + 3; i++) {
        assert_ok(sk_db3_writer_write(w, channel, i, "abcd", (size_t)(i % 5), &err), &err);
        if (i % SK_DB3_BATCH == 0 || i % SK_DB3_BATCH == SK_DB3_BATCH - 1 || i == 1)
            assert_int_equal(rows("messages"), i / SK_DB3_BATCH * SK_DB3_BATCH);
    }
    assert_ok(sk_db3_writer_topic(w, "/b", sk_msg_type_find("std_msgs/msg/String"), "q", &second, &err),
              &err);
    assert_int_equal(rows("messages"), 2 * SK_DB3_BATCH + 3);
    assert_true(rows("topics") == 2 && second == channel + 1);
    assert_ok(sk_db3_writer_write(w, second, 0, "", 0, &err), &err);
    assert_int_equal(rows("messages"), 2 * SK_DB3_BATCH + 3);
    assert_ok(sk_db3_writer_flush(w, &err), &err);
    assert_int_equal(rows("messages"), 2 * SK_DB3_BATCH + 4);
    assert_ok(sk_db3_writer_write(w, channel, 0, "x", 1, &err), &err);
    assert_ok(sk_db3_writer_finish(&w, NULL, &err), &err);
    assert_null(w);
    assert_int_equal(rows("messages"), 2 * SK_DB3_BATCH + 5);
    assert_int_equal(rows("metadata"), 0);
    assert_ok(sk_db3_writer_open(path, &w, &err), &err); /* in place of it */
    assert_ok(sk_db3_writer_finish(&w, "a: b", &err), &err);
    assert_true(rows("messages") == 0 && rows("topics") == 0 && rows("metadata") == 1);
}

static void make(const char *name, const char *sql)
{
    sqlite3 *database = NULL;
    unlink(name_it(name));
    assert_int_equal(sk_sqlite.open_v2(path, &database, SK_SQLITE_READWRITE | SK_SQLITE_CREATE, NULL),
                     SK_SQLITE_OK);
    assert_int_equal(sk_sqlite.exec(database, sql, NULL, NULL, NULL), SK_SQLITE_OK);
    sk_sqlite.close_v2(database);
}

#define TOPICS "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);"
#define MESSAGES                                                                                             \
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);"

static void tables_that_are_missing(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *why;
    } cases[] = {
        {"CREATE TABLE other(a)", "no bag of ROS 2: it has no table 'topics'"},
        {TOPICS, "no bag of ROS 2: it has no table 'messages'"},
        {MESSAGES, "no bag of ROS 2: it has no table 'topics'"},
        {TOPICS
         "CREATE TABLE other(a); CREATE VIEW messages AS SELECT 1 AS id, 1 AS topic_id, 1 AS timestamp, "
         "x'00' AS data",
         "it has no table 'messages'"},
        {TOPICS "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, data BLOB)",
         "SQLite says no such column: timestamp"},
        {TOPICS "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER)",
         "SQLite says no such column: data"},
        {"CREATE TABLE topics(id INTEGER, name TEXT, type TEXT);" MESSAGES,
         "SQLite says no such column: serialization_format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_bag_file *bag = NULL;
        make("missing.db3", cases[i].sql);
        assert_int_equal(sk_bag_file_open_db3(path, &bag, &err), SK_ERR_FORMAT);
        assert_null(bag);
        if (!strstr(err.message, cases[i].why) || !strstr(err.message, "missing.db3"))
            fail_msg("'%s' is not in: %s", cases[i].why, err.message);
    }
    sk_bag_file *bag = NULL;
    make("empty.db3", TOPICS MESSAGES);
    assert_ok(sk_bag_file_open_db3(path, &bag, &err), &err);
    assert_true(bag->n_topics == 0 && !bag->problem[0]);
    bag->close(bag);
}

/* Numbers of topics in any order and of any size; rows of a topic that there is not; nothing where a text or the data should be. */
static void topics_and_their_rows(void **state)
{
    (void)state;
    sk_bag_file *bag = NULL;
    make("so%me ?#&+ ü.db3", TOPICS MESSAGES
         "INSERT INTO topics VALUES(900, '/a', 't/A', 'cdr'), (-5, '/b', NULL, NULL),"
         " (7, '/c', 't/C', 'x');"
         "INSERT INTO messages VALUES(1, 7, 30, x'01'), (2, 900, 20, x'0202'), (3, 8, 5, x'03'),"
         " (4, -5, -9, NULL), (9000000000, 900, 10, x'040404'), (6, 7, 9000000000000000000, x'');");
    assert_ok(sk_bag_file_open_db3(path, &bag, &err), &err);
    assert_string_equal(bag->problem, "");
    assert_int_equal(bag->n_topics, 3);
    size_t seen = 0;
    for (size_t t = 0; t < 3; t++) {
        const sk_bag_topic *topic = &bag->topics[t];
        sk_bag_entries list = {0};
        const char which = topic->name[1];
        assert_string_equal(topic->type, which == 'a' ? "t/A" : which == 'b' ? "" : "t/C");
        assert_ok(bag->list(bag, t, &list, &err), &err);
        assert_int_equal(list.count, topic->messages);
        assert_int_equal(list.count, which == 'b' ? 1 : 2);
        for (size_t i = 0; i < list.count; i++, seen++) {
            const uint8_t *bytes = NULL;
            size_t count = 99;
            assert_ok(bag->read(bag, t, &list.items[i], &bytes, &count, &err), &err);
            const int64_t ns = list.items[i].log_ns;
            assert_true(bytes != NULL);
            assert_int_equal(count, ns == 30 ? 1 : ns == 20 ? 2 : ns == 10 ? 3 : 0);
            if (count)
                assert_int_equal(bytes[0], ns == 30 ? 1 : ns == 20 ? 2 : 4);
        }
        const uint8_t *bytes = NULL;
        size_t count = 0;
        const sk_bag_entry gone = {.offset = 77};
        assert_int_equal(bag->read(bag, t, &gone, &bytes, &count, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "message 77 is gone"));
        sk_free(list.items);
    }
    assert_int_equal(seen, 5);
    bag->close(bag);
    unlink(path);
}

/* 64 topics, each of its own number, and no more. */
static void how_many_topics(void **state)
{
    (void)state;
    for (int kind = SK_BAG_MCAP; kind <= SK_BAG_DB3; kind++) {
        sk_bag_writer *w = NULL;
        sk_bag *bag = NULL;
        size_t number = 0, most = 0;
        char topic[16];
        const sk_msg_type *type = sk_msg_type_find("std_msgs/msg/String");
        assert_ok(sk_bag_writer_open(name_it(kind == SK_BAG_DB3 ? "topics.db3" : "topics.mcap"),
                                     (sk_bag_kind)kind, &w, &err),
                  &err);
        for (sk_status status = SK_OK; status == SK_OK && most < 1000; most += status == SK_OK) {
            snprintf(topic, sizeof topic, "/t%03zu", most);
            status = sk_bag_writer_topic(w, topic, type, &number, &err);
            if (status == SK_OK) {
                assert_int_equal(number, most);
                assert_ok(sk_bag_writer_write(w, number, (int64_t)most, topic, 5, &err), &err);
            } else {
                assert_int_equal(status, SK_ERR_LIMIT);
            }
        }
        char words[40];
        snprintf(words, sizeof words, "more than %zu topics", most);
        assert_int_equal(most, 64);
        assert_non_null(strstr(err.message, words));
        assert_ok(sk_bag_writer_finish(&w, &err), &err);
        assert_ok(sk_bag_open(path, &bag, &err), &err);
        assert_int_equal(sk_bag_topics(bag), most);
        for (size_t i = 0; i < most; i++) {
            sk_bag_message message;
            assert_ok(sk_bag_choose(bag, i, &err), &err);
            assert_int_equal(sk_bag_messages(bag), 1);
            assert_ok(sk_bag_read(bag, 0, &message, &err), &err);
            assert_int_equal(message.log_ns, i);
            assert_memory_equal(message.bytes, sk_bag_topic_at(bag, i)->name, 5);
        }
        sk_bag_close(&bag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_batches),
        cmocka_unit_test(tables_that_are_missing),
        cmocka_unit_test(topics_and_their_rows),
        cmocka_unit_test(how_many_topics),
    };
    if (sk_sqlite_load(&err) != SK_OK) {
        puts(err.message);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
