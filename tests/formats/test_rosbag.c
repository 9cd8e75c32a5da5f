/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/mcap.h"
#include "formats/ros_messages.h"
#include "formats/rosbag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGES 40

static sk_status write_messages(sk_bag_writer *writer, sk_error *err)
{
    sk_cdr_writer cdr = {0};
    size_t strings = 0, headers = 0;
    sk_status status = SK_OK;
    SK_TRY_GOTO(
        sk_bag_writer_topic(writer, "/chatter", sk_msg_type_find("std_msgs/msg/String"), &strings, err));
    SK_TRY_GOTO(
        sk_bag_writer_topic(writer, "/heads", sk_msg_type_find("std_msgs/msg/Header"), &headers, err));
    for (int i = 0; i < MESSAGES; i++) {
        char text[4096];
        memset(text, 'a' + i % 26, sizeof text);
        snprintf(text, 16, "message %d", i);
        text[strlen(text)] = ' ';
        const sk_msg_string message = {.data = {text, sizeof text}};
        const sk_msg_header header = {.stamp = sk_msg_time_of(i * (int64_t)100000000)};
        SK_TRY_GOTO(sk_msg_encode(&sk_msg_string_layout, &message, &cdr, err));
        SK_TRY_GOTO(sk_bag_writer_write(writer, strings, 1000 + i, cdr.data, cdr.length, err));
        SK_TRY_GOTO(sk_msg_encode(&sk_msg_header_layout, &header, &cdr, err));
        SK_TRY_GOTO(
            sk_bag_writer_write(writer, headers, 2000 - i, cdr.data, cdr.length, err)); /* backwards */
    }
done:
    sk_cdr_writer_free(&cdr);
    return status;
}

static void write_bag(const char *path, sk_bag_kind kind, bool finish)
{
    sk_bag_writer *writer = NULL;
    sk_error err = {0};
    assert_ok(sk_bag_writer_open(path, kind, &writer, &err), &err);
    assert_ok(write_messages(writer, &err), &err);
    if (finish)
        assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    else
        sk_bag_writer_close(&writer);
}

/* How many of the first topic's messages can be read and are right. */
static int readable(sk_bag *bag)
{
    sk_error err = {0};
    int good = 0;
    assert_ok(sk_bag_choose(bag, 0, &err), &err);
    for (size_t i = 0; i < sk_bag_messages(bag); i++) {
        sk_bag_message message;
        sk_msg_string text;
        char expected[16];
        if (sk_bag_read(bag, i, &message, &err) != SK_OK)
            continue;
        assert_ok(sk_msg_decode(&sk_msg_string_layout, message.bytes, message.count, NULL, &text, &err),
                  &err);
        const int number = (int)(message.log_ns - 1000);
        snprintf(expected, sizeof expected, "message %d ", number);
        assert_int_equal(text.data.length, 4096);
        assert_memory_equal(text.data.data, expected, strlen(expected));
        good++;
    }
    return good;
}

static void check_whole(const char *path)
{
    sk_bag *bag = NULL;
    sk_error err = {0};
    assert_true(sk_path_is_bag(path));
    assert_ok(sk_bag_open(path, &bag, &err), &err);
    assert_null(sk_bag_problem(bag, 0));
    assert_int_equal(sk_bag_topics(bag), 2);
    assert_string_equal(sk_bag_topic_at(bag, 0)->name, "/chatter");
    assert_string_equal(sk_bag_topic_at(bag, 0)->type, "std_msgs/msg/String");
    assert_string_equal(sk_bag_topic_at(bag, 0)->encoding, "cdr");
    assert_int_equal(sk_bag_topic_at(bag, 1)->messages, MESSAGES);
    assert_int_equal(readable(bag), MESSAGES);
    sk_bag_message message;
    sk_msg_header header;
    assert_ok(sk_bag_choose(bag, 1, &err), &err);
    assert_ok(sk_bag_read(bag, 0, &message, &err), &err); /* by time: the last one that was written */
    assert_int_equal(message.log_ns, 2000 - (MESSAGES - 1));
    assert_ok(sk_msg_decode(&sk_msg_header_layout, message.bytes, message.count, NULL, &header, &err), &err);
    assert_int_equal(sk_msg_time_ns(header.stamp), (MESSAGES - 1) * (int64_t)100000000);
    sk_bag_close(&bag);
}

/* One of four, used in turn. */
static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    write_bag(in_folder("whole.mcap"), SK_BAG_MCAP, true);
    check_whole(in_folder("whole.mcap"));
    write_bag(in_folder("whole.db3"), SK_BAG_DB3, true);
    check_whole(in_folder("whole.db3"));
    assert_false(sk_file_exists(in_folder("whole.db3-journal")));
    write_bag(in_folder("bag with a \"name\""), SK_BAG_FOLDER, true);
    check_whole(in_folder("bag with a \"name\""));
}

/* What mcap packs by lz4 and zstd is read alike. */
static void packed_chunks(void **state)
{
    (void)state;
    for (int packing = SK_PACKING_LZ4; packing <= SK_PACKING_ZSTD; packing++) {
        sk_error err = {0};
        sk_mcap_writer *writer = NULL;
        sk_cdr_writer cdr = {0};
        uint16_t channel = 0;
        char text[4096];
        sk_bag *bag = NULL;
        assert_ok(sk_mcap_writer_open(in_folder("packed.mcap"), (sk_packing)packing, &writer, &err), &err);
        assert_ok(sk_mcap_writer_topic(writer, "/chatter", sk_msg_type_find("std_msgs/msg/String"), "",
                                       &channel, &err),
                  &err);
        for (int i = 0; i < MESSAGES; i++) {
            memset(text, 'x', sizeof text);
            text[snprintf(text, 16, "message %d", i)] = ' ';
            const sk_msg_string message = {.data = {text, sizeof text}};
            assert_ok(sk_msg_encode(&sk_msg_string_layout, &message, &cdr, &err), &err);
            assert_ok(sk_mcap_writer_write(writer, channel, 1000 + i, cdr.data, cdr.length, &err), &err);
        }
        assert_ok(sk_mcap_writer_finish(&writer, NULL, &err), &err);
        assert_in_range(sk_file_size(in_folder("packed.mcap")), 1000, 20000);
        assert_ok(sk_bag_open(in_folder("packed.mcap"), &bag, &err), &err);
        assert_null(sk_bag_problem(bag, 0));
        assert_int_equal(readable(bag), MESSAGES);
        sk_bag_close(&bag);
        sk_cdr_writer_free(&cdr);
    }
}

/* A writer that ends without finishing stands for one that was killed. */
static void unfinished_bags_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        sk_bag_kind kind;
        const char *told;
    } cases[] = {{"killed.mcap", SK_BAG_MCAP, "nobody finished it"},
                 {"killed.db3", SK_BAG_DB3, NULL},
                 {"killed_bag", SK_BAG_FOLDER, "no metadata.yaml"}};
    for (size_t i = 0; i < 3; i++) {
        sk_error err = {0};
        sk_bag *bag = NULL;
        write_bag(in_folder(cases[i].name), cases[i].kind, false);
        assert_true(sk_path_is_bag(in_folder(cases[i].name)));
        assert_ok(sk_bag_open(in_folder(cases[i].name), &bag, &err), &err);
        if (cases[i].told)
            assert_non_null(strstr(sk_bag_problem(bag, 0), cases[i].told));
        assert_in_range(readable(bag), MESSAGES / 2, MESSAGES);
        sk_bag_close(&bag);
    }
}

static char *load(const char *path, size_t *bytes)
{
    char *data = NULL;
    sk_error err = {0};
    assert_ok(sk_file_read(path, 1 << 24, &data, bytes, &err), &err);
    return data;
}

static void save(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb"); /* not by sk_file_replace, which waits for the disk */
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Cut anywhere: what lies before the cut is read, and that it is cut is said. */
static void cut_files(void **state)
{
    (void)state;
    static const char *const names[] = {"cut.mcap", "cut.db3"};
    for (int kind = SK_BAG_MCAP; kind <= SK_BAG_DB3; kind++) {
        size_t bytes = 0;
        int most = 0;
        write_bag(in_folder(names[kind]), (sk_bag_kind)kind, true);
        char *data = load(in_folder(names[kind]), &bytes);
        for (size_t cut = 0; cut < bytes; cut += cut < 200 ? 1 : bytes / 61) {
            sk_error err = {0};
            sk_bag *bag = NULL;
            save(in_folder(names[kind]), data, cut);
            if (sk_bag_open(in_folder(names[kind]), &bag, &err) != SK_OK) {
                assert_non_null(strstr(err.message, names[kind]));
                continue;
            }
            if (kind == SK_BAG_MCAP)
                assert_non_null(sk_bag_problem(bag, 0));
            if (sk_bag_topics(bag)) {
                const int good = readable(bag);
                assert_true(kind == SK_BAG_DB3 || good >= most);
                most = good > most ? good : most;
            }
            sk_bag_close(&bag);
        }
        assert_true(most > 10);
        sk_free(data);
    }
}

static void damaged_chunks_are_left_out(void **state)
{
    (void)state;
    size_t bytes = 0;
    sk_error err = {0};
    sk_bag *bag = NULL;
    write_bag(in_folder("damaged.mcap"), SK_BAG_MCAP, true);
    char *data = load(in_folder("damaged.mcap"), &bytes);
    data[30000] ^= 1;
    save(in_folder("damaged.mcap"), data, bytes);
    sk_free(data);
    assert_ok(sk_bag_open(in_folder("damaged.mcap"), &bag, &err), &err);
    assert_int_equal(sk_bag_topic_at(bag, 0)->messages, MESSAGES); /* by its index */
    assert_in_range(readable(bag), 10, MESSAGES - 5);
    sk_bag_message message;
    assert_ok(sk_bag_choose(bag, 0, &err), &err);
    assert_int_equal(sk_bag_read(bag, 0, &message, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "checksum"));
    sk_bag_close(&bag);
}

static void refused(const char *name, const char *data, size_t bytes, const char *why)
{
    sk_error err = {0};
    sk_bag *bag = NULL;
    save(in_folder(name), data, bytes);
    assert_int_not_equal(sk_bag_open(in_folder(name), &bag, &err), SK_OK);
    assert_null(bag);
    if (!strstr(err.message, why))
        fail_msg("'%s' is not in: %s", why, err.message);
}

static void what_is_no_bag_is_told(void **state)
{
    (void)state;
    refused("a.mcap", "", 0, "it is empty");
    refused("a.mcap", "hello, I am a text", 18, "not an MCAP file");
    refused("a.mcap", "hello, I am a text", 18, "'mcap recover'"); /* and what helps */
    refused("a.mcap", "SQLite format 3\0and more", 24, "give it the ending .db3");
    refused("a.mcap", "#ROSBAG V2.0\n", 13, "rosbags-convert");
    refused("a.mcap", "\x28\xb5\x2f\xfd and more", 13, "zstd -d");
    refused("a.mcap", "\x89MCAP1\r\n", 8, "version 0");
    refused("a.db3", "", 0, "it is empty");
    refused("a.db3", "hello, I am a text", 18, "not an SQLite file");
    refused("a.db3", "\x89MCAP0\r\nand more of it", 23, "give it the ending .mcap");
    refused("a.db3", "SQLite format 3\0and nothing else", 32, "SQLite says");
    /* a chunk of a few bytes that claims to unpack to 2^40: left out, not tried */
    static const char bomb[] = SK_MCAP_MAGIC "\x06\x2c\0\0\0\0\0\0\0"
                                             "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                             "\0\0\0\0\0\1\0\0\0\0\0\0\4\0\0\0zstd\4\0\0\0\0\0\0\0abcd";
    sk_bag *bag = NULL;
    sk_error err = {0};
    save(in_folder("bomb.mcap"), bomb, sizeof bomb - 1);
    assert_ok(sk_bag_open(in_folder("bomb.mcap"), &bag, &err), &err);
    assert_int_equal(sk_bag_topics(bag), 0);
    assert_non_null(sk_bag_problem(bag, 0));
    sk_bag_close(&bag);
}

/* Little that unpacks to messages without end: memory is taken for as many as such a file may have. */
static void messages_without_end_are_refused(void **state)
{
    enum { RECORD = 9 + 22, COUNT = 1200000 };
    static const char name[] = "a.mcap";
    uint8_t *records = calloc(COUNT, RECORD), *packed = NULL, head[9 + 36] = {6};
    size_t bytes = 0, unpacked = (size_t)COUNT * RECORD;
    sk_error err = {0};
    sk_text file = {0};
    (void)state;
    assert_non_null(records);
    for (size_t i = 0; i < COUNT; i++) {
        records[i * RECORD] = 5;
        records[i * RECORD + 1] = 22;
    }
    assert_ok(sk_pack(SK_PACKING_ZSTD, records, unpacked, &packed, &bytes, &err), &err);
    assert_true(bytes < 65536);
    for (size_t i = 0; i < 4; i++) {
        head[1 + i] = (uint8_t)((44 + bytes) >> 8 * i);
        head[9 + 16 + i] = (uint8_t)(unpacked >> 8 * i);
        head[9 + 32 + i] = (uint8_t) "zstd"[i];
    }
    head[9 + 28] = 4;
    sk_text_append(&file, SK_MCAP_MAGIC);
    sk_text_append_bytes(&file, (const char *)head, 9 + 36);
    for (size_t i = 0; i < 8; i++)
        sk_text_append_bytes(&file, &(char){(char)(bytes >> 8 * i)}, 1);
    sk_text_append_bytes(&file, (const char *)packed, bytes);
    refused(name, sk_text_get(&file), file.length, "more messages come out of its chunks");
    sk_text_free(&file);
    sk_free(packed);
    free(records);
}

static void times_are_what_stamps_can_say(void **state)
{
    static const char *const names[] = {"far.mcap", "far.db3"};
    static const int64_t times[] = {INT64_MAX, 1, INT64_MIN};
    static const uint8_t message[] = {0, 1, 0, 0, 1, 0, 0, 0, 0};
    const int64_t most = (int64_t)INT32_MAX * 1000000000;
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 3; t++) {
            sk_error err = {0};
            sk_bag_writer *writer = NULL;
            sk_bag *bag = NULL;
            size_t topic = 0;
            unlink(in_folder(names[k]));
            assert_ok(sk_bag_writer_open(in_folder(names[k]), k ? SK_BAG_DB3 : SK_BAG_MCAP, &writer, &err),
                      &err);
            assert_ok(
                sk_bag_writer_topic(writer, "/a", sk_msg_type_find("std_msgs/msg/String"), &topic, &err),
                &err);
            assert_ok(sk_bag_writer_write(writer, topic, times[t], message, sizeof message, &err), &err);
            assert_ok(sk_bag_writer_finish(&writer, &err), &err);
            assert_ok(sk_bag_open(in_folder(names[k]), &bag, &err), &err);
            assert_ok(sk_bag_choose(bag, 0, &err), &err);
            assert_int_equal(sk_bag_messages(bag), 1);
            assert_true(sk_bag_time(bag, 0) == (t == 0 ? most : t == 1 ? 1 : -most));
            sk_bag_close(&bag);
        }
}

typedef struct bag_use {
    char path[512];
    sk_bag_kind kind;
} bag_use;

static sk_status use_a_bag(void *context, sk_error *err)
{
    sk_bag_writer *writer = NULL;
    sk_bag *bag = NULL;
    sk_bag_message message;
    const bag_use *use = context;
    const char *path = use->path;
    sk_status status = sk_bag_writer_open(path, use->kind, &writer, err);
    if (status == SK_OK)
        status = write_messages(writer, err);
    if (status == SK_OK)
        status = sk_bag_writer_finish(&writer, err);
    sk_bag_writer_close(&writer);
    if (status == SK_OK)
        status = sk_bag_open(path, &bag, err);
    if (status == SK_OK)
        status = sk_bag_choose(bag, 0, err);
    if (status == SK_OK)
        status = sk_bag_read(bag, 3, &message, err);
    sk_bag_close(&bag);
    return status;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    bag_use folder = {.kind = SK_BAG_FOLDER}, file = {.kind = SK_BAG_DB3};
    snprintf(folder.path, sizeof folder.path, "%s", in_folder("fault_bag"));
    snprintf(file.path, sizeof file.path, "%s", in_folder("fault.db3"));
    assert_true(test_every_allocation(use_a_bag, &folder) > 20);
    assert_true(test_every_allocation(use_a_bag, &file) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),       cmocka_unit_test(packed_chunks),
        cmocka_unit_test(unfinished_bags_are_read),      cmocka_unit_test(cut_files),
        cmocka_unit_test(damaged_chunks_are_left_out),   cmocka_unit_test(what_is_no_bag_is_told),
        cmocka_unit_test(times_are_what_stamps_can_say), cmocka_unit_test(messages_without_end_are_refused),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
