/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a model in eight bits: what was written comes back, and what was cut, changed or foreign is told. */
#include "support/test.h"

#include "base/memory.h"
#include "formats/skq.h"

#include <string.h>

static uint8_t *make(size_t *length)
{
    sk_error err;
    uint8_t *file = NULL;
    sk_skq parts = {"{\"a\":1}", 7, "network", 7};
    assert_ok(sk_skq_write(&parts, &file, length, &err), &err);
    return file;
}

static void comes_back(void **state)
{
    (void)state;
    sk_error err;
    size_t length;
    sk_skq parts;
    uint8_t *file = make(&length);
    assert_int_equal(length, SK_SKQ_HEADER + 14);
    assert_true(sk_skq_is(file, length));
    assert_ok(sk_skq_read(file, length, "m.skq", &parts, &err), &err);
    assert_int_equal(parts.json_length, 7);
    assert_memory_equal(parts.json, "{\"a\":1}", 7);
    assert_int_equal(parts.network_length, 7);
    assert_memory_equal(parts.network, "network", 7);
    sk_free(file);
}

static void refused(const uint8_t *file, size_t length, const char *says)
{
    sk_error err = {0};
    sk_skq parts;
    assert_int_not_equal(sk_skq_read(file, length, "m.skq", &parts, &err), SK_OK);
    if (!strstr(err.message, says) || !strstr(err.message, "m.skq"))
        fail_msg("\"%s\" does not say \"%s\" of m.skq", err.message, says);
}

static void tells_what_is_wrong(void **state)
{
    (void)state;
    size_t length;
    uint8_t *file = make(&length);
    refused((const uint8_t *)"PK\3\4rest", 8, "no model in eight bits");
    refused(file, 20, "cut off");
    refused(file, length - 1, "promises");
    for (size_t i = SK_SKQ_HEADER; i < length; i++) {
        file[i] ^= 1;
        refused(file, length, "damaged");
        file[i] ^= 1;
    }
    for (size_t i = 12; i < 16; i++) { /* always 0 */
        file[i] = 1;
        refused(file, length, "damaged");
        file[i] = 0;
    }
    file[8] = 9;
    refused(file, length, "version 9");
    file[8] = 1;
    memset(file + 16, 0xff, 16); /* lengths whose sum wraps around */
    refused(file, length, "promises");
    sk_free(file);
}

/* Every byte of the header counts; what is cut anywhere is told. */
static void every_byte_of_the_header(void **state)
{
    (void)state;
    size_t length;
    uint8_t *file = make(&length);
    for (size_t i = 0; i < SK_SKQ_HEADER; i++)
        for (int bit = 0; bit < 8; bit++) {
            file[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(sk_skq_is(file, length), i >= 8);
            refused(file, length,
                    i < 8    ? "no model in eight bits"
                    : i < 12 ? " of the form; this skitter reads version"
                    : i < 16 ? "damaged"
                    : i < 32 ? "promises"
                             : "damaged");
            file[i] ^= (uint8_t)(1 << bit);
        }
    refused(file, 0, "the file is empty");
    for (size_t n = 1; n < length; n++)
        refused(file, n, n < 8 ? "no model" : n < SK_SKQ_HEADER ? "cut off after" : "promises 7 + 7 bytes");
    assert_false(sk_skq_is(file, 7));
    assert_true(sk_skq_is(file, 8));
    file[11] = 1;
    refused(file, length, "version 16777217 of the form");
    sk_free(file);
}

/* Either part may be empty, the first of 16 MiB at most. */
static void lengths(void **state)
{
    (void)state;
    sk_error err;
    for (int i = 0; i < 4; i++) {
        size_t length;
        uint8_t *file = NULL;
        sk_skq parts = {"abc", i & 1 ? 3 : 0, "xy", i & 2 ? 2 : 0}, back;
        assert_ok(sk_skq_write(&parts, &file, &length, &err), &err);
        assert_ok(sk_skq_read(file, length, "m.skq", &back, &err), &err);
        assert_true(back.json_length == parts.json_length && back.network_length == parts.network_length);
        assert_true(back.json == (const char *)file + SK_SKQ_HEADER &&
                    (const char *)back.network == back.json + back.json_length);
        sk_free(file);
    }
    char *large = sk_calloc(1, SK_SKQ_JSON_MAX + 1);
    assert_non_null(large);
    for (size_t more = 0; more < 2; more++) {
        size_t length = 0;
        uint8_t *file = (uint8_t *)large;
        sk_skq parts = {large, SK_SKQ_JSON_MAX + more, "", 0}, back;
        assert_int_equal(sk_skq_write(&parts, &file, &length, &err), more ? SK_ERR_LIMIT : SK_OK);
        assert_int_equal(file != NULL, !more);
        if (file)
            assert_ok(sk_skq_read(file, length, "m.skq", &back, &err), &err);
        sk_free(file);
    }
    sk_skq endless = {"a", 1, "", SIZE_MAX - 64};
    uint8_t *none = NULL;
    size_t length;
    assert_int_equal(sk_skq_write(&endless, &none, &length, &err), SK_ERR_LIMIT);
    assert_null(none);
    sk_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(tells_what_is_wrong),
                                       cmocka_unit_test(every_byte_of_the_header), cmocka_unit_test(lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
