/* SPDX-License-Identifier: Apache-2.0 */
/* Bags of several files, what metadata.yaml says of them, messages that are packed one by one, and what is in the tables of a .db3. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/db3.h"
#include "formats/mcap.h"
#include "formats/ros_messages.h"
#include "formats/rosbag.h"
#include "formats/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;

/* One of four, used in turn. */
static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static void save(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, err.message, why);
}

/* A file with one message a topic and byte of `what`: the byte, at this time and each one later by two. */
static void write_file(const char *name, const char *topic, const char *what, int64_t ns)
{
    sk_mcap_writer *writer = NULL;
    uint16_t channel = 0;
    assert_ok(sk_mcap_writer_open(in_folder(name), SK_PACKING_NONE, &writer, &err), &err);
    assert_ok(
        sk_mcap_writer_topic(writer, topic, sk_msg_type_find("std_msgs/msg/String"), "", &channel, &err),
        &err);
    for (; *what; what++, ns += 2)
        assert_ok(sk_mcap_writer_write(writer, channel, ns, what, 1, &err), &err);
    assert_ok(sk_mcap_writer_finish(&writer, NULL, &err), &err);
}

static void expect(sk_bag *bag, const char *topic, const char *bytes, int64_t promised)
{
    char got[32] = "";
    size_t at = 0;
    while (at < sk_bag_topics(bag) && strcmp(sk_bag_topic_at(bag, at)->name, topic) != 0)
        at++;
    assert_true(at < sk_bag_topics(bag));
    assert_int_equal(sk_bag_topic_at(bag, at)->messages, strlen(bytes));
    assert_int_equal(sk_bag_topic_at(bag, at)->promised, promised);
    assert_ok(sk_bag_choose(bag, at, &err), &err);
    assert_int_equal(sk_bag_messages(bag), strlen(bytes));
    for (size_t i = 0; i < sk_bag_messages(bag); i++) {
        sk_bag_message message;
        assert_ok(sk_bag_read(bag, i, &message, &err), &err);
        assert_true(message.count == 1 && message.log_ns == sk_bag_time(bag, i));
        got[i] = (char)message.bytes[0];
    }
    assert_string_equal(got, bytes);
}

#define INFO "rosbag2_bagfile_information:\n  version: 8\n"

/* The files that are listed, in whatever folder they were when that was written; one after the other where times are equal. */
static void files_that_are_listed(void **state)
{
    (void)state;
    sk_bag *bag = NULL;
    assert_int_equal(mkdir(in_folder("parts"), 0700), 0);
    write_file("parts/a_10.mcap", "/b", "xyz", 100);
    write_file("parts/a_9.mcap", "/b", "ab", 101);
    write_file("parts/a_11.mcap", "/a", "m", 7);
    write_file("parts/other.mcap", "/c", "q", 1);
    save("parts/metadata.yaml", INFO "  relative_file_paths:\n    - elsewhere/a_10.mcap\n    - a_9.mcap\n"
                                     "    - /tmp/a_11.mcap\n"
                                     "  topics_with_message_count:\n"
                                     "    - topic_metadata: {name: /b}\n      message_count: 6\n"
                                     "    - topic_metadata: {name: /none}\n      message_count: 3\n"
                                     "    - message_count: 4\n");
    assert_true(sk_path_is_bag(in_folder("parts")) && sk_path_has_bag_metadata(in_folder("parts")));
    assert_ok(sk_bag_open(in_folder("parts"), &bag, &err), &err);
    assert_int_equal(sk_bag_topics(bag), 2);
    assert_string_equal(sk_bag_topic_at(bag, 0)->name, "/a");
    assert_null(sk_bag_problem(bag, 0));
    expect(bag, "/b", "xaybz", 6);
    expect(bag, "/a", "m", -1);
    sk_bag_close(&bag);
    /* none are listed: all that lie there, numbers in their names counted */
    save("parts/metadata.yaml", INFO);
    write_file("parts/a_9.mcap", "/b", "ab", 100);
    assert_ok(sk_bag_open(in_folder("parts"), &bag, &err), &err);
    expect(bag, "/b", "axbyz", -1);
    expect(bag, "/c", "q", -1);
    assert_null(sk_bag_problem(bag, 0));
    sk_bag_close(&bag);
    save("parts/metadata.yaml", INFO "  relative_file_paths: [a_9.mcap, [a, b]]\n");
    told(sk_bag_open(in_folder("parts"), &bag, &err), SK_ERR_FORMAT,
         "parts/metadata.yaml: 'relative_file_paths' is no list of names");
    save("parts/metadata.yaml", INFO "  relative_file_paths: [a_9.mcap, gone.mcap]\n");
    told(sk_bag_open(in_folder("parts"), &bag, &err), SK_ERR_NOT_FOUND, "gone.mcap");
    save("parts/metadata.yaml", INFO "  relative_file_paths: [a_9.mcap.zstd]\n");
    told(sk_bag_open(in_folder("parts"), &bag, &err), SK_ERR_UNSUPPORTED, "unpack it first: zstd -d '");
    save("parts/metadata.yaml", "something: else\n");
    told(sk_bag_open(in_folder("parts"), &bag, &err), SK_ERR_FORMAT, "has no rosbag2_bagfile_information");
    assert_false(sk_path_has_bag_metadata(in_folder("parts")));
    unlink(in_folder("parts/metadata.yaml"));
    assert_ok(sk_bag_open(in_folder("parts"), &bag, &err), &err);
    expect(bag, "/b", "axbyz", -1);
    assert_non_null(strstr(sk_bag_problem(bag, 0), "parts: there is no metadata.yaml"));
    assert_null(sk_bag_problem(bag, 1));
    sk_bag_close(&bag);
    assert_null(bag);
}

static void what_is_a_bag(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("no"), 0700), 0);
    save("no/.hidden.mcap", "x");
    save("no/a.txt", "x");
    assert_false(sk_path_is_bag(in_folder("no")) || sk_path_is_bag(in_folder("no/a.txt")));
    assert_false(sk_path_is_bag(in_folder("no/absent.mcap")));
    sk_bag *bag = NULL;
    told(sk_bag_open(in_folder("no"), &bag, &err), SK_ERR_NOT_FOUND,
         "no: the folder holds no .mcap and no .db3 file");
    save("no/a.db3", "x");
    assert_true(sk_path_is_bag(in_folder("no")) && sk_path_is_bag(in_folder("no/a.db3")));
    unlink(in_folder("no/a.db3"));
    save("no/metadata.yaml", INFO);
    assert_true(sk_path_is_bag(in_folder("no")));
}

/* --- messages that are packed one by one --- */

static void write_packed(const uint8_t *bytes, size_t count)
{
    sk_mcap_writer *writer = NULL;
    uint16_t channel = 0;
    assert_ok(sk_mcap_writer_open(in_folder("packed/a.mcap"), SK_PACKING_NONE, &writer, &err), &err);
    assert_ok(sk_mcap_writer_topic(writer, "/a", sk_msg_type_find("std_msgs/msg/String"), "", &channel, &err),
              &err);
    assert_ok(sk_mcap_writer_write(writer, channel, 1, bytes, count, &err), &err);
    assert_ok(sk_mcap_writer_finish(&writer, NULL, &err), &err);
}

static sk_status read_packed(const char *text)
{
    sk_bag *bag = NULL;
    sk_bag_message message;
    assert_ok(sk_bag_open(in_folder("packed"), &bag, &err), &err);
    assert_ok(sk_bag_choose(bag, 0, &err), &err);
    const sk_status status = sk_bag_read(bag, 0, &message, &err);
    if (status == SK_OK && (message.count != strlen(text) || memcmp(message.bytes, text, message.count) != 0))
        fail_msg("%zu bytes, not '%s'", message.count, text);
    sk_bag_close(&bag);
    return status;
}

/* A frame of Zstandard that says how long its content is, and little else. */
static void claim(uint64_t bytes, size_t count)
{
    static uint8_t frame[600000];
    memset(frame, 0, sizeof frame);
    memcpy(frame, "\x28\xb5\x2f\xfd\xe0", 5);
    for (int i = 0; i < 8; i++)
        frame[5 + i] = (uint8_t)(bytes >> 8 * i);
    frame[13] = 7; /* a block of a kind that there is not */
    write_packed(frame, count);
}

static void packed_messages(void **state)
{
    (void)state;
    uint8_t *packed = NULL;
    size_t count = 0;
    sk_bag *bag = NULL;
    assert_int_equal(mkdir(in_folder("packed"), 0700), 0);
    assert_ok(sk_pack(SK_PACKING_ZSTD, "a message", 9, &packed, &count, &err), &err);
    write_packed(packed, count);
    save("packed/metadata.yaml", INFO "  compression_mode: MESSAGE\n  compression_format: zstd\n");
    assert_ok(read_packed("a message"), &err);
    save("packed/metadata.yaml", INFO "  compression_mode: message\n  compression_format: lz4\n");
    told(sk_bag_open(in_folder("packed"), &bag, &err), SK_ERR_UNSUPPORTED,
         "metadata.yaml: messages packed by 'lz4'; zstd is read");
    save("packed/metadata.yaml", INFO "  compression_mode: file\n  compression_format: zstd\n");
    assert_ok(sk_bag_open(in_folder("packed"), &bag, &err), &err); /* as it is */
    assert_ok(sk_bag_choose(bag, 0, &err), &err);
    sk_bag_message message;
    assert_ok(sk_bag_read(bag, 0, &message, &err), &err);
    assert_int_equal(message.count, count);
    sk_bag_close(&bag);
    save("packed/metadata.yaml", INFO "  compression_mode: message\n  compression_format: zstd\n");
    write_packed((const uint8_t *)"plain", 5);
    told(read_packed(""), SK_ERR_FORMAT, "without saying how long it is");
    sk_free(packed);
    /* little that claims to be much: up to 64 MiB, beyond that 4096 for each byte, up to 2 GiB */
    static const struct {
        uint64_t bytes;
        size_t count;
        bool tried;
    } claims[] = {{(uint64_t)64 << 20, 40, true},
                  {((uint64_t)64 << 20) + 1, 40, false},
                  {((uint64_t)64 << 20) + 4095, 16384, true},
                  {((uint64_t)64 << 20) + 4096, 16384, false},
                  {((uint64_t)2 << 30) + 1, 600000, false}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        claim(claims[i].bytes, claims[i].count);
        if (claims[i].tried)
            told(read_packed(""), SK_ERR_FORMAT, "damaged: zstd says");
        else
            told(read_packed(""), SK_ERR_LIMIT, "bytes that claims to unpack to");
    }
}

/* --- what is written --- */

static sk_status write_bag(const char *path, sk_bag_kind kind, sk_error *e)
{
    sk_bag_writer *writer = NULL;
    sk_status status = sk_bag_writer_open(path, kind, &writer, e);
    for (int i = 0; status == SK_OK && i < 2; i++) {
        size_t topic = 0;
        status = sk_bag_writer_topic(writer, i ? "/b" : "/a",
                                     sk_msg_type_find(i ? "std_msgs/msg/Header" : "std_msgs/msg/String"),
                                     &topic, e);
        assert_true(status != SK_OK || topic == (size_t)i);
    }
    static const int64_t times[] = {500, 900, 200, 400};
    for (size_t i = 0; status == SK_OK && i < 4; i++)
        status = sk_bag_writer_write(writer, i == 2, times[i], &"012345"[i], 3, e);
    if (status == SK_OK)
        status = sk_bag_writer_finish(&writer, e);
    sk_bag_writer_close(&writer);
    return status;
}

static char *load(const char *path, size_t *bytes)
{
    char *data = NULL;
    assert_ok(sk_file_read(path, 1 << 24, &data, bytes, &err), &err);
    return data;
}

static void metadata_of_folders(void **state)
{
    (void)state;
    char wanted[4000], hash[2][SK_MSG_HASH];
    size_t bytes = 0;
    assert_ok(sk_msg_type_hash(sk_msg_type_find("std_msgs/msg/String"), hash[0], &err), &err);
    assert_ok(sk_msg_type_hash(sk_msg_type_find("std_msgs/msg/Header"), hash[1], &err), &err);
    assert_ok(write_bag(in_folder("say \"\\\x05//"), SK_BAG_FOLDER, &err), &err);
    char *text = load(in_folder("say \"\\\x05/metadata.yaml"), &bytes);
#define NAME "\"say \\\"\\\\\\x05_0.mcap\"\n"
    snprintf(wanted, sizeof wanted,
             "rosbag2_bagfile_information:\n  version: 8\n  storage_identifier: mcap\n  duration:\n"
             "    nanoseconds: 700\n  starting_time:\n    nanoseconds_since_epoch: 200\n  message_count: 4\n"
             "  topics_with_message_count:\n"
             "    - topic_metadata:\n        name: \"/a\"\n        type: std_msgs/msg/String\n"
             "        serialization_format: cdr\n        offered_qos_profiles: \"\"\n"
             "        type_description_hash: %s\n      message_count: 3\n"
             "    - topic_metadata:\n        name: \"/b\"\n        type: std_msgs/msg/Header\n"
             "        serialization_format: cdr\n        offered_qos_profiles: \"\"\n"
             "        type_description_hash: %s\n      message_count: 1\n"
             "  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:\n    - " NAME
             "  files:\n    - path: " NAME "      starting_time:\n        nanoseconds_since_epoch: 200\n"
             "      duration:\n        nanoseconds: 700\n      message_count: 4\n"
             "  custom_data: ~\n  ros_distro: skitter\n",
             hash[0], hash[1]);
    assert_string_equal(text, wanted);
    sk_free(text);
    sk_bag *bag = NULL;
    assert_ok(sk_bag_open(in_folder("say \"\\\x05"), &bag, &err), &err);
    assert_true(sk_bag_topic_at(bag, 0)->promised == 3 && sk_bag_topic_at(bag, 1)->promised == 1);
    sk_bag_close(&bag);
    sk_bag_writer *writer = NULL;
    assert_ok(sk_bag_writer_open(in_folder("empty"), SK_BAG_FOLDER, &writer, &err), &err);
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    text = load(in_folder("empty/metadata.yaml"), &bytes);
    assert_non_null(strstr(text, "nanoseconds: 0\n  starting_time:\n    nanoseconds_since_epoch: 0\n"));
    assert_non_null(strstr(text, "topics_with_message_count: []\n"));
    sk_free(text);
    assert_ok(sk_bag_writer_finish(&writer, &err), &err); /* of none */
}

/* All rows of a table, columns parted by bars. */
static void expect_rows(sqlite3 *database, const char *sql, const char *wanted)
{
    char got[4000] = "";
    sqlite3_stmt *s = NULL;
    assert_int_equal(sk_sqlite.prepare_v2(database, sql, -1, &s, NULL), SK_SQLITE_OK);
    while (sk_sqlite.step(s) == SK_SQLITE_ROW) {
        strcat(got, (const char *)sk_sqlite.column_text(s, 0));
        strcat(got, "\n");
    }
    sk_sqlite.finalize(s);
    assert_string_equal(got, wanted);
}

static void tables_of_db3(void **state)
{
    (void)state;
    sqlite3 *database = NULL;
    char hash[2][SK_MSG_HASH], wanted[1000];
    if (sk_sqlite_load(&err) != SK_OK)
        skip();
    assert_ok(sk_msg_type_hash(sk_msg_type_find("std_msgs/msg/String"), hash[0], &err), &err);
    assert_ok(sk_msg_type_hash(sk_msg_type_find("std_msgs/msg/Header"), hash[1], &err), &err);
    save("tables.db3-journal", "left by one that was killed");
    save("tables.db3-wal", "left by one that was killed");
    assert_ok(write_bag(in_folder("tables.db3"), SK_BAG_DB3, &err), &err);
    assert_false(sk_file_exists(in_folder("tables.db3-journal")) ||
                 sk_file_exists(in_folder("tables.db3-wal")));
    assert_int_equal(sk_sqlite.open_v2(in_folder("tables.db3"), &database, SK_SQLITE_READONLY, NULL),
                     SK_SQLITE_OK);
    expect_rows(database, "SELECT schema_version || '|' || ros_distro FROM schema", "4|skitter\n");
    expect_rows(database,
                "SELECT id || '|' || topic_id || '|' || timestamp || '|' || hex(data) FROM messages",
                "1|1|500|303132\n2|1|900|313233\n3|2|200|323334\n4|1|400|333435\n");
    snprintf(wanted, sizeof wanted, "1|/a|std_msgs/msg/String|cdr||%s\n2|/b|std_msgs/msg/Header|cdr||%s\n",
             hash[0], hash[1]);
    expect_rows(database,
                "SELECT id || '|' || name || '|' || type || '|' || serialization_format || '|' || "
                "offered_qos_profiles || '|' || type_description_hash FROM topics",
                wanted);
    snprintf(wanted, sizeof wanted, "1|std_msgs/msg/String|ros2msg|%s\n2|std_msgs/msg/Header|ros2msg|%s\n",
             hash[0], hash[1]);
    expect_rows(database,
                "SELECT id || '|' || topic_type || '|' || encoding || '|' || type_description_hash FROM "
                "message_definitions",
                wanted);
    expect_rows(database, "SELECT metadata_version || '|' || substr(metadata, 1, 47) FROM metadata",
                "8|version: 8\nstorage_identifier: sqlite3\nduration\n");
    sk_sqlite.close_v2(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_are_listed), cmocka_unit_test(what_is_a_bag),
        cmocka_unit_test(packed_messages),       cmocka_unit_test(metadata_of_folders),
        cmocka_unit_test(tables_of_db3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
