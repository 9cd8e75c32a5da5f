/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <string.h>

static void fills_code_and_text(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_int_equal(sk_fail(&err, SK_ERR_FORMAT, "%s: byte %d", "model.pt", 7), SK_ERR_FORMAT);
    assert_int_equal(err.code, SK_ERR_FORMAT);
    assert_string_equal(err.message, "model.pt: byte 7");
    assert_int_equal(sk_fail(NULL, SK_ERR_IO, "nobody listens"), SK_ERR_IO);
}

static void cuts_long_text_at_a_character(void **state)
{
    (void)state;
    sk_error err = {0};
    char text[4 * SK_ERROR_MESSAGE_MAX] = "";
    for (int i = 0; i < SK_ERROR_MESSAGE_MAX; i++)
        strcat(text, "é");
    sk_fail(&err, SK_ERR_IO, "%s", text);
    size_t length = strlen(err.message);
    assert_true(length < SK_ERROR_MESSAGE_MAX);
    assert_string_equal(err.message + length - strlen("…"), "…");
    for (size_t i = 0; i + strlen("…") < length; i += 2)
        assert_memory_equal(err.message + i, "é", 2);
}

static void prefixes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_fail(&err, SK_ERR_IO, "no such file");
    sk_error_prefix(&err, "opening %s", "a.onnx");
    assert_string_equal(err.message, "opening a.onnx: no such file");
}

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int i = SK_OK; i <= SK_ERR_INCOMPLETE; i++)
        assert_string_not_equal(sk_status_text((sk_status)i), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_code_and_text),
        cmocka_unit_test(cuts_long_text_at_a_character),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(every_status_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
