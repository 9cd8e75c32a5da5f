/* SPDX-License-Identifier: Apache-2.0 */
/* What is written as MCAP, walked byte by byte as the format's description has it (mcap.dev/spec), and not by our own reader:
 * whatever the file says about itself, offsets, counts, times and checksums, must be so. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/bag_file.h"
#include "formats/mcap.h"
#include "formats/ros_messages.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

enum { HEADER = 1, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, INDEX, CHUNK_INDEX };
enum { STATISTICS = 11, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END };
enum { CHANNELS = 3, CHUNKS = 3 };
#define QOS "- depth: 7"

typedef struct record {
    int op;
    const uint8_t *at, *end, *begin; /* fields; begin: with opcode and length */
} record;

static uint64_t number(record *r, int bytes)
{
    uint64_t value = 0;
    assert_true(r->end - r->at >= bytes);
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    return value;
}

static void expect_text(record *r, const char *want)
{
    const uint64_t length = number(r, 4);
    assert_int_equal(length, strlen(want));
    assert_true((uint64_t)(r->end - r->at) >= length);
    assert_memory_equal(r->at, want, length);
    r->at += length;
}

static record next(const uint8_t **at, const uint8_t *end)
{
    record r = {.op = **at, .begin = *at, .at = *at + 1, .end = end};
    const uint64_t length = number(&r, 8);
    assert_true(length <= (uint64_t)(end - r.at));
    r.end = *at = r.at + length;
    return r;
}

static const char *const topics[CHANNELS] = {"/a", "/b", "/c"};
static const char *const types[CHANNELS] = {"std_msgs/msg/String", "std_msgs/msg/Header",
                                            "std_msgs/msg/String"};

/* Two messages of /a and one of /b in the first chunk, one of /b, one of /a late, and one of each in the last; times go back. */
static const struct {
    int channel;
    int64_t ns;
    bool ends;
} written[] = {{0, 500, false}, {0, 300, false}, {1, 400, true}, {1, 900, true},
               {0, 100, false}, {1, 50, false},  {2, 700, true}};
enum { WRITTEN = sizeof written / sizeof *written };

typedef struct seen {
    uint64_t messages[CHANNELS], all, chunk_at[CHUNKS], chunk_length[CHUNKS], index_length[CHUNKS],
        bytes[CHUNKS];
    uint64_t first[CHUNKS], last[CHUNKS], index_at[CHUNKS][CHANNELS], metadata_at, metadata_length;
    int chunks, schemas, channels, metadata;
} seen;

static void check_schema(record r, seen *s, bool count)
{
    const uint64_t id = number(&r, 2);
    assert_in_range(id, 1, CHANNELS);
    const char *type = types[id - 1];
    expect_text(&r, type);
    expect_text(&r, "ros2msg");
    const uint64_t length = number(&r, 4);
    assert_int_equal(length, r.end - r.at);
    assert_true(length > 5);
    assert_non_null(memmem(r.at, length, strstr(type, "String") ? "string data" : "frame_id", 8));
    s->schemas += count;
}

static void check_channel(record r, seen *s, bool count)
{
    const uint64_t id = number(&r, 2);
    assert_in_range(id, 1, CHANNELS);
    assert_int_equal(number(&r, 2), id == 2 ? 2 : 1); /* the schema of the first channel of its type */
    expect_text(&r, topics[id - 1]);
    expect_text(&r, "cdr");
    const uint64_t rest = number(&r, 4);
    assert_int_equal(rest, r.end - r.at);
    expect_text(&r, "offered_qos_profiles");
    expect_text(&r, QOS);
    expect_text(&r, "topic_type_hash");
    assert_int_equal(number(&r, 4), 7 + 64);
    assert_memory_equal(r.at, "RIHS01_", 7);
    assert_int_equal(r.end - r.at, 7 + 64);
    s->channels += count;
}

static void check_chunk(record r, const uint8_t *file, seen *s)
{
    const int c = s->chunks++;
    assert_true(c < CHUNKS);
    s->chunk_at[c] = (uint64_t)(r.begin - file);
    s->chunk_length[c] = (uint64_t)(r.end - r.begin);
    const uint64_t first = number(&r, 8), last = number(&r, 8), bytes = number(&r, 8);
    const uint32_t sum = (uint32_t)number(&r, 4);
    expect_text(&r, "");
    assert_int_equal(number(&r, 8), bytes);
    assert_int_equal(bytes, r.end - r.at);
    assert_int_equal(sum, crc32(0, r.at, (uInt)bytes));
    s->bytes[c] = bytes, s->first[c] = UINT64_MAX;
    for (const uint8_t *at = r.at; at < r.end;) {
        record in = next(&at, r.end);
        if (in.op == SCHEMA)
            check_schema(in, s, false);
        else if (in.op == CHANNEL)
            check_channel(in, s, false);
        else {
            assert_int_equal(in.op, MESSAGE);
            const uint64_t channel = number(&in, 2);
            assert_int_equal(channel, written[s->all].channel + 1);
            assert_int_equal(number(&in, 4), s->messages[channel - 1]++); /* sequence */
            const uint64_t ns = number(&in, 8);
            assert_int_equal(ns, written[s->all].ns);
            assert_int_equal(number(&in, 8), ns);
            assert_int_equal(in.end - in.at, 4 + s->all); /* bytes as they were given */
            assert_int_equal(*in.at, s->all++);
            s->first[c] = ns < s->first[c] ? ns : s->first[c];
            s->last[c] = ns > s->last[c] ? ns : s->last[c];
        }
    }
    assert_int_equal(first, s->first[c]);
    assert_int_equal(last, s->last[c]);
}

/* Every entry of an index points at a message of its channel and time. */
static void check_index(record r, const uint8_t *file, seen *s)
{
    const int c = s->chunks - 1;
    const uint8_t *records = file + s->chunk_at[c] + s->chunk_length[c] - s->bytes[c];
    const uint64_t channel = number(&r, 2), bytes = number(&r, 4);
    assert_int_equal(bytes, r.end - r.at);
    s->index_at[c][channel - 1] = (uint64_t)(r.begin - file);
    s->index_length[c] += (uint64_t)(r.end - r.begin);
    assert_true(bytes > 0 && bytes % 16 == 0);
    while (r.at < r.end) {
        const uint64_t ns = number(&r, 8), offset = number(&r, 8);
        assert_true(offset < s->bytes[c]);
        const uint8_t *at = records + offset;
        record message = next(&at, records + s->bytes[c]);
        assert_int_equal(message.op, MESSAGE);
        assert_int_equal(number(&message, 2), channel);
        number(&message, 4);
        assert_int_equal(number(&message, 8), ns);
    }
}

static void check_statistics(record r, const seen *s)
{
    assert_int_equal(number(&r, 8), WRITTEN);
    assert_int_equal(number(&r, 2), 2); /* types */
    assert_int_equal(number(&r, 4), CHANNELS);
    assert_int_equal(number(&r, 4), 0);
    assert_int_equal(number(&r, 4), s->metadata);
    assert_int_equal(number(&r, 4), CHUNKS);
    assert_int_equal(number(&r, 8), 50);
    assert_int_equal(number(&r, 8), 900);
    assert_int_equal(number(&r, 4), CHANNELS * 10);
    for (uint64_t i = 0; i < CHANNELS; i++) {
        assert_int_equal(number(&r, 2), i + 1);
        assert_int_equal(number(&r, 8), s->messages[i]);
    }
    assert_true(r.at == r.end);
}

static void check_chunk_index(record r, const seen *s, int c)
{
    uint64_t indexed = 0;
    assert_int_equal(number(&r, 8), s->first[c]);
    assert_int_equal(number(&r, 8), s->last[c]);
    assert_int_equal(number(&r, 8), s->chunk_at[c]);
    assert_int_equal(number(&r, 8), s->chunk_length[c]);
    for (int i = 0; i < CHANNELS; i++)
        indexed += s->index_at[c][i] != 0;
    assert_int_equal(number(&r, 4), indexed * 10);
    for (uint64_t i = 0; i < indexed; i++) {
        const uint64_t channel = number(&r, 2);
        assert_int_equal(number(&r, 8), s->index_at[c][channel - 1]);
    }
    assert_int_equal(number(&r, 8), s->index_length[c]);
    expect_text(&r, "");
    assert_int_equal(number(&r, 8), s->bytes[c]);
    assert_int_equal(number(&r, 8), s->bytes[c]);
    assert_true(r.at == r.end);
}

static void check_summary(const uint8_t *file, const uint8_t *begin, const uint8_t *end, seen *s)
{
    int chunks = 0, op = 0;
    uint32_t sum;
    const uint8_t *groups[16] = {0}, *stops[16] = {0}, *offsets = NULL;
    for (const uint8_t *at = begin; at < end;) {
        record r = next(&at, end);
        if (r.op != op && r.op < SUMMARY_OFFSET)
            assert_null(groups[r.op]); /* one group of each */
        groups[r.op] = groups[r.op] ? groups[r.op] : r.begin;
        stops[r.op] = at;
        op = r.op;
        switch (r.op) {
        case SCHEMA: check_schema(r, s, true); break;
        case CHANNEL: check_channel(r, s, true); break;
        case STATISTICS: check_statistics(r, s); break;
        case CHUNK_INDEX: check_chunk_index(r, s, chunks++); break;
        case METADATA_INDEX:
            assert_int_equal(number(&r, 8), s->metadata_at);
            assert_int_equal(number(&r, 8), s->metadata_length);
            expect_text(&r, "rosbag2");
            break;
        case SUMMARY_OFFSET: {
            offsets = offsets ? offsets : r.begin;
            const uint64_t of = number(&r, 1), from = number(&r, 8);
            assert_true(of < SUMMARY_OFFSET && groups[of] == file + from);
            assert_true(number(&r, 8) == (uint64_t)(stops[of] - file) - from);
            groups[of] = NULL; /* told */
            break;
        }
        case FOOTER:
            assert_true(number(&r, 8) == (uint64_t)(begin - file));
            assert_true(number(&r, 8) == (uint64_t)(offsets - file));
            sum = (uint32_t)crc32(0, begin, (uInt)(r.at - begin));
            assert_int_equal(number(&r, 4), sum);
            assert_true(at == end);
            break;
        default: fail_msg("opcode %d in the summary", r.op);
        }
    }
    for (int i = 0; i < SUMMARY_OFFSET; i++)
        assert_true(i == FOOTER || !groups[i]); /* every group was told */
    assert_int_equal(chunks, CHUNKS);
    assert_int_equal(op, FOOTER);
}

static void write_file(const char *path, const char *metadata)
{
    sk_error err = {0};
    sk_mcap_writer *w = NULL;
    uint16_t ids[CHANNELS];
    assert_ok(sk_mcap_writer_open(path, SK_PACKING_NONE, &w, &err), &err);
    for (int i = 0; i < CHANNELS; i++)
        assert_ok(sk_mcap_writer_topic(w, topics[i], sk_msg_type_find(types[i]), QOS, &ids[i], &err), &err);
    for (int i = 0; i < WRITTEN; i++) {
        const uint8_t bytes[4 + WRITTEN] = {(uint8_t)i};
        assert_ok(sk_mcap_writer_write(w, ids[written[i].channel], written[i].ns, bytes, 4 + (size_t)i, &err),
                  &err);
        if (written[i].ends)
            assert_ok(sk_mcap_writer_flush(w, &err), &err);
    }
    assert_ok(sk_mcap_writer_finish(&w, metadata, &err), &err);
}

static void the_file_says_the_truth_about_itself(void **state)
{
    (void)state;
    static const char magic[] = "\x89MCAP0\r\n";
    for (int with = 0; with < 2; with++) {
        sk_error err = {0};
        char path[512], *bytes = NULL;
        size_t length = 0;
        seen s = {0};
        snprintf(path, sizeof path, "%s/walk.mcap", test_folder());
        write_file(path, with ? "version: 9" : NULL);
        assert_ok(sk_file_read(path, 1 << 20, &bytes, &length, &err), &err);
        const uint8_t *file = (const uint8_t *)bytes, *end = file + length - 8, *at = file + 8;
        assert_memory_equal(file, magic, 8);
        assert_memory_equal(end, magic, 8);
        for (int op = 0; op != DATA_END;) {
            record r = next(&at, end);
            op = r.op;
            switch (op) {
            case HEADER: expect_text(&r, "ros2"); break;
            case CHUNK: check_chunk(r, file, &s); break;
            case INDEX: check_index(r, file, &s); break;
            case METADATA:
                s.metadata++, s.metadata_at = (uint64_t)(r.begin - file),
                              s.metadata_length = (uint64_t)(r.end - r.begin);
                expect_text(&r, "rosbag2");
                assert_true(number(&r, 4) == 4 + 19 + 4 + 10); /* of the key and its value */
                expect_text(&r, "serialized_metadata");
                expect_text(&r, "version: 9");
                break;
            default: assert_int_equal(op, DATA_END);
            }
        }
        assert_int_equal(s.all, WRITTEN);
        assert_int_equal(s.metadata, with);
        check_summary(file, at, end, &s);
        assert_int_equal(s.schemas, 2);
        assert_int_equal(s.channels, CHANNELS);
        sk_free(bytes);
    }
}

/* --- messages outside of chunks --- */

static uint8_t loose[2000];
static size_t loose_bytes;

static void put(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        loose[loose_bytes++] = (uint8_t)value;
}

static void put_text(const char *text)
{
    put(strlen(text), 4);
    memcpy(loose + loose_bytes, text, strlen(text));
    loose_bytes += strlen(text);
}

/* A record's head; its length is put right when it is ended. */
static size_t begin_record(int op)
{
    put((uint64_t)op, 1);
    put(0, 8);
    return loose_bytes;
}

static void end_record(size_t begin)
{
    const size_t length = loose_bytes - begin;
    loose_bytes = begin - 8;
    put(length, 8);
    loose_bytes = begin + length;
}

static void put_message(int sequence, int64_t ns, size_t bytes)
{
    const size_t at = begin_record(MESSAGE);
    put(1, 2);
    put((uint64_t)sequence, 4);
    put((uint64_t)ns, 8);
    put((uint64_t)ns, 8);
    for (size_t i = 0; i < bytes; i++)
        put(40 + i, 1);
    end_record(at);
}

/* A message may have no bytes at all; what is shorter than a message's head is none. */
static void messages_outside_of_chunks(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[512];
    loose_bytes = 0;
    memcpy(loose, "\x89MCAP0\r\n", 8);
    loose_bytes = 8;
    size_t at = begin_record(HEADER);
    put_text("ros2");
    put_text("by hand");
    end_record(at);
    at = begin_record(SCHEMA);
    put(1, 2);
    put_text("std_msgs/msg/String");
    put_text("ros2msg");
    put_text("string data\n");
    end_record(at);
    at = begin_record(CHANNEL);
    put(1, 2);
    put(1, 2);
    put_text("/a");
    put_text("cdr");
    put(0, 4);
    end_record(at);
    put_message(0, 100, 0);
    put_message(1, 300, 3);
    at = begin_record(MESSAGE); /* a byte too short */
    put(1, 2);
    put(0, 19);
    end_record(at);
    put_message(2, 200, 1);
    at = begin_record(DATA_END);
    put(0, 4);
    end_record(at);
    at = begin_record(FOOTER);
    put(0, 20);
    end_record(at);
    memcpy(loose + loose_bytes, "\x89MCAP0\r\n", 8);
    loose_bytes += 8;
    snprintf(path, sizeof path, "%s/loose.mcap", test_folder());
    assert_ok(sk_file_replace(path, (const char *)loose, loose_bytes, &err), &err);
    sk_bag_file *file = NULL;
    sk_bag_entries entries = {0};
    assert_ok(sk_bag_file_open_mcap(path, &file, &err), &err);
    assert_string_equal(file->problem, "");
    assert_int_equal(file->n_topics, 1);
    assert_string_equal(file->topics[0].name, "/a");
    assert_int_equal(file->topics[0].messages, 3);
    assert_ok(file->list(file, 0, &entries, &err), &err);
    assert_int_equal(entries.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *bytes = NULL;
        size_t count = 9;
        assert_ok(file->read(file, 0, &entries.items[i], &bytes, &count, &err), &err);
        assert_int_equal(count, entries.items[i].log_ns == 100 ? 0 : entries.items[i].log_ns == 200 ? 1 : 3);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(bytes[k], 40 + k);
    }
    sk_free(entries.items);
    file->close(file);
}

/* What does not fit onto the disk is told when it is brought there, and at the end. */
static void full_disks_are_told(void **state)
{
    (void)state;
    struct rlimit before, small;
    sk_error err = {0};
    sk_mcap_writer *w = NULL;
    char path[512];
    uint16_t id;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 100;
    snprintf(path, sizeof path, "%s/full.mcap", test_folder());
    for (int flushed = 0; flushed < 2; flushed++) {
        assert_ok(sk_mcap_writer_open(path, SK_PACKING_NONE, &w, &err), &err);
        assert_ok(sk_mcap_writer_topic(w, topics[0], sk_msg_type_find(types[0]), QOS, &id, &err), &err);
        assert_ok(sk_mcap_writer_write(w, id, 5, "abcd", 4, &err), &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const sk_status status =
            flushed ? sk_mcap_writer_flush(w, &err) : sk_mcap_writer_finish(&w, NULL, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, SK_ERR_IO);
        assert_non_null(strstr(err.message, "full.mcap: cannot be written: File too large"));
        sk_mcap_writer_close(&w);
        assert_null(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_says_the_truth_about_itself),
        cmocka_unit_test(messages_outside_of_chunks),
        cmocka_unit_test(full_disks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
