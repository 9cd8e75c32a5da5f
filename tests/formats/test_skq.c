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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(tells_what_is_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
