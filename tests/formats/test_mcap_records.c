/* SPDX-License-Identifier: Apache-2.0 */
/* MCAP files put together by hand, record by record: lengths that are wrong by one, and what is described twice, later or not at all. */
#include "support/test.h"

#include "base/memory.h"
#include "base/text.h"
#include "formats/bag_file.h"
#include "formats/mcap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static sk_text file, inner; /* the file, and a chunk's records */
static sk_bag_file *bag;
static sk_error err;
static char path[512];

static void put(sk_text *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        sk_text_append_bytes(to, &(char){(char)(value & 0xff)}, 1);
}

static void put_text(sk_text *to, const char *text)
{
    put(to, strlen(text), 4);
    sk_text_append(to, text);
}

static void put_schema(sk_text *to, unsigned id, const char *name)
{
    put(to, SK_MCAP_SCHEMA, 1);
    put(to, 2 + 4 + strlen(name), 8);
    put(to, id, 2);
    put_text(to, name);
}

static void put_channel(sk_text *to, unsigned id, unsigned schema, const char *topic)
{
    put(to, SK_MCAP_CHANNEL, 1);
    put(to, 4 + 4 + strlen(topic) + 7, 8);
    put(to, id, 2);
    put(to, schema, 2);
    put_text(to, topic);
    put_text(to, "cdr");
}

/* Its bytes are its time, again and again; returns where it begins. */
static size_t put_message(sk_text *to, unsigned channel, unsigned ns, size_t bytes)
{
    const size_t begin = to->length;
    put(to, SK_MCAP_MESSAGE, 1);
    put(to, 22 + bytes, 8);
    put(to, channel, 2);
    put(to, 99, 4);
    put(to, ns, 8);
    put(to, 77, 8);
    for (size_t i = 0; i < bytes; i++)
        put(to, ns, 1);
    return begin;
}

/* What stands in `inner`; `packed` and `unpacked` are added to what it says of its lengths, `behind`: bytes of nobody. */
static void put_chunk(int64_t packed, int64_t unpacked, size_t behind, uint32_t sum)
{
    put(&file, SK_MCAP_CHUNK, 1);
    put(&file, 16 + 8 + 4 + 4 + 8 + inner.length + behind, 8);
    put(&file, 0, 16);
    put(&file, inner.length + (uint64_t)unpacked, 8);
    put(&file, sum, 4);
    put(&file, 0, 4);
    put(&file, inner.length + (uint64_t)packed, 8);
    sk_text_append_bytes(&file, sk_text_get(&inner), inner.length);
    put(&file, 0, (int)behind);
}

static void put_index(unsigned channel, const uint64_t (*entries)[2], size_t count, int64_t wrong)
{
    put(&file, SK_MCAP_MESSAGE_INDEX, 1);
    put(&file, 6 + 16 * count, 8);
    put(&file, channel, 2);
    put(&file, 16 * count + (uint64_t)wrong, 4);
    for (size_t i = 0; i < count; i++) {
        put(&file, entries[i][0], 8);
        put(&file, entries[i][1], 8);
    }
}

static void begin(void)
{
    sk_text_free(&file);
    sk_text_free(&inner);
    file = inner = (sk_text){0};
    sk_text_append_bytes(&file, SK_MCAP_MAGIC, SK_MCAP_MAGIC_BYTES);
}

static sk_status open_file(bool footer)
{
    if (footer) {
        put(&file, SK_MCAP_FOOTER, 1);
        put(&file, 20, 8);
        put(&file, 0, 20);
    }
    if (bag)
        bag->close(bag);
    bag = NULL;
    snprintf(path, sizeof path, "%s/made.mcap", test_folder());
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(sk_text_get(&file), 1, file.length, f), file.length);
    fclose(f);
    return sk_bag_file_open_mcap(path, &bag, &err);
}

static void expect(const char *problem, size_t topics, uint64_t messages)
{
    assert_ok(open_file(true), &err);
    assert_string_equal(bag->problem, problem);
    assert_int_equal(bag->n_topics, topics);
    if (topics)
        assert_int_equal(bag->topics[0].messages, messages);
}

static void fill(void)
{
    put_schema(&inner, 1, "std_msgs/msg/String");
    put_channel(&inner, 1, 1, "/a");
    put_message(&inner, 1, 5, 3);
    put_message(&inner, 1, 7, 0);
}

#define DAMAGED "1 of its chunks are damaged and left out"

/* What a chunk says of its lengths is what there is, by a byte. */
static void lengths_of_chunks(void **state)
{
    (void)state;
    static const int64_t wrong[] = {1, 2, 8, 39, 40, 41, 80, 1000, INT64_MAX - 500, -9000};
    for (size_t behind = 0; behind < 3; behind++) {
        begin();
        fill();
        put_chunk(0, 0, behind, 0);
        expect("", 1, 2);
        assert_string_equal(bag->topics[0].type, "std_msgs/msg/String");
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            begin();
            fill();
            put_chunk(wrong[i] + (int64_t)behind, wrong[i] + (int64_t)behind, behind, 0);
            expect(DAMAGED, 0, 0);
        }
    }
    for (int64_t less = -1; less <= 1; less += 2) { /* unpacked, which nothing is */
        begin();
        fill();
        put_chunk(0, less, 0, 0);
        expect(DAMAGED, 0, 0);
    }
    for (size_t length = 0; length < 40; length++) { /* its head is cut short */
        begin();
        put(&file, SK_MCAP_CHUNK, 1);
        put(&file, length, 8);
        put(&file, 0, (int)length);
        expect(DAMAGED, 0, 0);
    }
    begin(); /* empty, and there */
    put_chunk(0, 0, 0, 0);
    expect("", 0, 0);
    begin(); /* packed by nobody knows what */
    put(&file, SK_MCAP_CHUNK, 1);
    put(&file, 16 + 8 + 4 + 4 + 3 + 8, 8);
    put(&file, 0, 16 + 8 + 4);
    put_text(&file, "bz2");
    put(&file, 0, 8);
    assert_int_equal(open_file(true), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "made.mcap: a chunk"));
    assert_null(bag);
}

static void sums_of_chunks(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        begin();
        fill();
        const uint32_t sum = (uint32_t)crc32(0, (const Bytef *)sk_text_get(&inner), (uInt)inner.length);
        put_chunk(0, 0, 0, wrong == 0 ? sum : wrong == 1 ? sum ^ 1 : sum ^ 0x80000000);
        expect(wrong ? DAMAGED : "", wrong ? 0 : 1, 2);
    }
}

/* A chunk that no index knows is gone through; up to what is cut short in it. */
static void records_in_chunks(void **state)
{
    (void)state;
    for (int more = 0; more < 12; more++) { /* bytes behind that are no record yet, or one that is cut */
        begin();
        fill();
        put(&inner, SK_MCAP_MESSAGE, 1);
        put(&inner, 3, 8);
        put(&inner, 0, more);
        put_chunk(0, 0, 0, 0);
        if (more < 3)
            expect(DAMAGED, 1, 2);
        else
            expect("", 1, 2);
    }
    for (size_t length = 20; length <= 23; length++) { /* shorter than a message's head: none */
        begin();
        fill();
        put(&inner, SK_MCAP_MESSAGE, 1);
        put(&inner, length, 8);
        put(&inner, 1, 2);
        put(&inner, 0, (int)length - 2);
        put_chunk(0, 0, 0, 0);
        expect("", 1, length < 22 ? 2 : 3);
    }
}

/* With an index its entries count, and the chunk is looked into only for what is not described elsewhere. */
static void indexes(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++)
        for (int form = 0; form < 4; form++) {
            begin();
            if (where)
                put_channel(&file, 1, 0, "/a");
            fill();
            const size_t at = put_message(&inner, 1, 9, 4), other = put_message(&inner, 2, 9, 1);
            put_chunk(0, 0, 0, 0);
            const uint64_t entries[][2] = {{9, at}, {9, other}, {9, 0}, {9, inner.length}, {9, at + 1}};
            if (form == 0)
                put_index(1, entries, 5, 0);
            else if (form == 1)
                put_index(1, entries, 5, 1); /* one byte too many: as if there were none */
            else if (form == 2) {            /* too short to be one */
                put(&file, SK_MCAP_MESSAGE_INDEX, 1);
                put(&file, 5, 8);
                put(&file, 1, 5);
            } else
                put_index(1, entries, 5, -1); /* the last is not whole */
            expect(form == 0 || form == 3 ? "" : "of 1 messages it does not say what they are", 1,
                   form == 0   ? 5
                   : form == 3 ? 4
                               : 3);
            sk_bag_entries list = {0};
            assert_ok(bag->list(bag, 0, &list, &err), &err);
            assert_int_equal(list.count, bag->topics[0].messages);
            for (size_t i = 0; form == 0 && i < list.count; i++) {
                const uint8_t *bytes = NULL;
                size_t count = 0;
                char words[100];
                const sk_status status = bag->read(bag, 0, &list.items[i], &bytes, &count, &err);
                assert_int_equal(status, i ? SK_ERR_FORMAT : SK_OK);
                if (!i)
                    assert_true(count == 4 && bytes[0] == 9 && bytes[3] == 9);
                snprintf(words, sizeof words, "there is no message where its index has one (%llu)",
                         (unsigned long long)entries[i][1]);
                if (i)
                    assert_non_null(strstr(err.message, words));
            }
            sk_free(list.items);
        }
    begin(); /* before any chunk: of none */
    put_channel(&file, 1, 0, "/a");
    put_index(1, (const uint64_t[][2]){{1, 1}}, 1, 0);
    expect("", 1, 0);
    begin(); /* two chunks: each message is its own chunk's */
    fill();
    put_chunk(0, 0, 0, 0);
    sk_text_clear(&inner);
    const uint64_t second[][2] = {{70, put_message(&inner, 1, 70, 2)}, {80, put_message(&inner, 1, 80, 1)}};
    put_chunk(0, 0, 0, 0);
    put_index(1, second, 2, 0);
    expect("", 1, 4);
    sk_bag_entries list = {0};
    assert_ok(bag->list(bag, 0, &list, &err), &err);
    assert_int_equal(list.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *bytes = NULL;
        size_t count = 0;
        assert_ok(bag->read(bag, 0, &list.items[i], &bytes, &count, &err), &err);
        assert_true(count == 0 || bytes[0] == list.items[i].log_ns);
    }
    sk_free(list.items);
}

/* Of two descriptions the first counts, 0 is no schema, and what nobody describes is counted. */
static void descriptions(void **state)
{
    (void)state;
    begin();
    put_schema(&file, 0, "zero");
    put_schema(&file, 3, "three");
    put_schema(&file, 3, "again");
    put_schema(&file, 65535, "last");
    put_channel(&file, 0, 3, "/zero");
    put_channel(&file, 1, 0, "/none");
    put_channel(&file, 1, 3, "/again");
    put_channel(&file, 65535, 65535, "/last");
    put_channel(&file, 2, 9, "/later");
    put_schema(&file, 9, "later");
    put_message(&file, 0, 1, 1);
    put_message(&file, 65535, 2, 1);
    put_message(&file, 65534, 3, 1);
    put_message(&file, 65534, 3, 1);
    expect("of 2 messages it does not say what they are", 4, 1);
    static const char *const names[] = {"/zero", "/none", "/last", "/later"}, *const types[] = {"three", "",
                                                                                                "last", ""};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(bag->topics[i].name, names[i]);
        assert_string_equal(bag->topics[i].type, types[i]);
    }
    assert_int_equal(bag->topics[2].messages, 1);
    begin(); /* by an index, by its bytes */
    put_chunk(0, 0, 0, 0);
    put_index(5, (const uint64_t[][2]){{1, 1}, {2, 2}, {3, 3}}, 3, 0);
    expect("of 3 messages it does not say what they are", 0, 0);
}

static void ends_of_files(void **state)
{
    (void)state;
    for (int more = 0; more < 10; more++) { /* bytes behind the last record */
        char words[100];
        begin();
        put_channel(&file, 1, 0, "/a");
        const size_t at = file.length;
        put(&file, 0, more);
        assert_ok(open_file(false), &err);
        snprintf(words, sizeof words, "from byte %zu on it is not MCAP", at);
        assert_string_equal(bag->problem, more < 9 ? "nobody finished it: it has no end (footer)" : words);
    }
    for (int missing = 0; missing < 3; missing++) {
        char words[100];
        begin();
        put_channel(&file, 1, 0, "/a");
        const size_t at = file.length;
        put(&file, SK_MCAP_HEADER, 1);
        put(&file, missing == 2 ? UINT64_MAX : 5 + (uint64_t)missing, 8);
        put(&file, 0, 5);
        assert_ok(open_file(false), &err);
        snprintf(words, sizeof words, "it is cut off: the record at byte %zu is not complete", at);
        assert_string_equal(bag->problem, missing ? words : "nobody finished it: it has no end (footer)");
        assert_int_equal(bag->n_topics, 1);
    }
    begin(); /* behind the end nothing is read */
    assert_ok(open_file(true), &err);
    put_channel(&file, 1, 0, "/a");
    assert_ok(open_file(false), &err);
    assert_true(bag->n_topics == 0 && !bag->problem[0]);
}

/* A description may have 16 MiB, and no byte more. */
static void long_descriptions(void **state)
{
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        const uint64_t most = (uint64_t)16 << 20;
        begin();
        put(&file, SK_MCAP_SCHEMA, 1);
        put(&file, most + more, 8);
        assert_ok(open_file(false), &err);
        bag->close(bag);
        bag = NULL;
        assert_int_equal(truncate(path, (off_t)(file.length + most + more)), 0);
        const sk_status status = sk_bag_file_open_mcap(path, &bag, &err);
        assert_int_equal(status, more ? SK_ERR_LIMIT : SK_OK);
        if (more)
            assert_non_null(
                strstr(err.message, "a description of 16777217 bytes; at most 16777216 are read"));
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_chunks), cmocka_unit_test(sums_of_chunks),
        cmocka_unit_test(records_in_chunks), cmocka_unit_test(indexes),
        cmocka_unit_test(descriptions),      cmocka_unit_test(ends_of_files),
        cmocka_unit_test(long_descriptions),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (bag)
        bag->close(bag);
    sk_text_free(&file);
    sk_text_free(&inner);
    return failed;
}
