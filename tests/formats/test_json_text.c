/* SPDX-License-Identifier: Apache-2.0 */
/* Texts on their way into JSON: what is no UTF-8 is replaced, what a terminal would obey is escaped, and nothing is left behind. */
#include "support/fault.h"
#include "support/test.h"

#include "formats/json_text.h"

#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *wanted)
{
    json_t *value = sk_json_text(text);
    assert_non_null(value);
    char *dump = sk_json_dump(value, JSON_ENCODE_ANY);
    assert_string_equal(dump, wanted);
    free(dump);
    json_decref(value);
}

static void texts_are_clean(void **state)
{
    (void)state;
    expect("plain", "\"plain\"");
    expect("K\xc3\xa4"
           "fer",
           "\"K\xc3\xa4"
           "fer\"");
    expect("a\xff", "\"a\xef\xbf\xbd\"");
    expect("a\x1b[31m", "\"a\\u001B[31m\"");
    expect("a\xc2\x9b"
           "b",
           "\"a\\u009Bb\""); /* a control character of eight bits */
}

static sk_status dump_one(void *context, sk_error *err)
{
    json_t *value = sk_json_text(context);
    if (!value)
        return sk_fail_memory(err, 1);
    char *dump = sk_json_dump(value, JSON_ENCODE_ANY);
    json_decref(value);
    free(dump);
    return SK_OK;
}

static void nothing_is_left(void **state)
{
    (void)state;
    static char plain[] = "a plain text that is long enough to be seen",
                strange[] = "another one, with \xc2\x9b in it";
    test_leaves_nothing(dump_one, plain);
    test_leaves_nothing(dump_one, strange);
    assert_true(test_every_allocation(dump_one, plain) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_clean),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
