/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/json_write.h"
#include "base/memory.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_sample(sk_json *json)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", "mouse \"A\"\n\t\\ é🐀");
    sk_json_key_int(json, "frames", -42);
    sk_json_key_bool(json, "ok", true);
    sk_json_key(json, "none");
    sk_json_null(json);
    sk_json_key(json, "xy");
    sk_json_array(json);
    sk_json_float(json, 0.5);
    sk_json_float(json, 0.1f);
    sk_json_float(json, NAN);
    sk_json_float(json, INFINITY);
    sk_json_array(json);
    sk_json_close(json);
    sk_json_object(json);
    sk_json_close(json);
    sk_json_close(json);
    sk_json_key(json, "big");
    sk_json_uint(json, UINT64_MAX);
    sk_json_close(json);
}

static void one_line(void **state)
{
    (void)state;
    sk_text text = {0};
    sk_error err = {0};
    sk_json json = sk_json_to_text(&text, 0);
    write_sample(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    assert_string_equal(sk_text_get(&text),
                        "{\"name\":\"mouse \\\"A\\\"\\n\\t\\\\ é🐀\",\"frames\":-42,\"ok\":true,\"none\":null,"
                        "\"xy\":[0.5,0.100000001,null,null,[],{}],\"big\":18446744073709551615}\n");
    sk_json_int(&json, 7); /* the next JSON line */
    assert_ok(sk_json_end(&json, &err), &err);
    assert_string_equal(sk_text_get(&text) + text.length - 4, "}\n7\n");
    sk_text_free(&text);
}

/* Another library must read back what we wrote. */
static void indented_is_read_by_jansson(void **state)
{
    (void)state;
    sk_text text = {0};
    sk_error err = {0};
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key(&json, "a");
    sk_json_array(&json);
    sk_json_int(&json, 1);
    sk_json_double(&json, 0.1);
    sk_json_double(&json, 0.1 + 0.2);
    sk_json_real(&json, 2);
    sk_json_real(&json, 1e300);
    sk_json_close(&json);
    sk_json_close(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    assert_string_equal(
        sk_text_get(&text),
        "{\n  \"a\": [\n    1,\n    0.1,\n    0.30000000000000004,\n    2.0,\n    1e+300\n  ]\n}\n");
    json_t *root = json_loads(sk_text_get(&text), 0, NULL);
    assert_non_null(root);
    assert_true(json_real_value(json_array_get(json_object_get(root, "a"), 1)) == 0.1);
    json_decref(root);
    sk_text_free(&text);
}

static void any_bytes_make_valid_json(void **state)
{
    (void)state;
    uint32_t random = 12345;
    for (int round = 0; round < 300; round++) {
        char bytes[40];
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 1664525 + 1013904223;
            bytes[i] = (char)(random >> 24);
        }
        sk_text text = {0};
        sk_error err = {0};
        sk_json json = sk_json_to_text(&text, 0);
        sk_json_array(&json);
        sk_json_string_bytes(&json, bytes, sizeof bytes);
        sk_json_string(&json, NULL);
        sk_json_close(&json);
        assert_ok(sk_json_end(&json, &err), &err);
        json_error_t why;
        json_t *root = json_loads(sk_text_get(&text), JSON_ALLOW_NUL, &why);
        if (!root)
            fail_msg("%s: %s", why.text, sk_text_get(&text));
        json_decref(root);
        sk_text_free(&text);
    }
}

/* JSON is printed on terminals, which obey these in any form. */
static void control_characters_are_escaped(void **state)
{
    (void)state;
    sk_text text = {0};
    sk_error err = {0};
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_string(&json, "\x1b[2J \x7f \xC2\x9b"
                          "31m \xC2\xA0é");
    assert_ok(sk_json_end(&json, &err), &err);
    assert_string_equal(sk_text_get(&text), "\"\\u001b[2J \\u007f \\u009b31m \xC2\xA0é\"\n");
    sk_text_free(&text);
}

static void misuse_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 0);
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL); /* nothing written */
    json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_json_int(&json, 1); /* no key */
    sk_json_close(&json);
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    json = sk_json_to_text(&text, 0);
    sk_json_array(&json);
    sk_json_key(&json, "x");
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "a key outside of an object"));
    json = sk_json_to_text(&text, 0);
    sk_json_key(&json, "x"); /* in nothing at all */
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "a key outside of an object"));
    json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_json_key(&json, "x");
    sk_json_key(&json, "y"); /* where a value belongs */
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "a key outside of an object"));
    json = sk_json_to_text(&text, 0);
    sk_json_int(&json, 1);
    sk_json_int(&json, 2);
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    json = sk_json_to_text(&text, 0);
    sk_json_close(&json);
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    json = sk_json_to_text(&text, 0);
    for (int i = 0; i < SK_JSON_DEPTH + 5; i++)
        sk_json_array(&json);
    for (int i = 0; i < SK_JSON_DEPTH + 5; i++)
        sk_json_close(&json);
    assert_int_equal(sk_json_end(&json, &err), SK_ERR_INTERNAL);
    sk_text_free(&text);
}

static void into_a_file_and_a_full_disk(void **state)
{
    (void)state;
    sk_error err = {0};
    char *memory = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&memory, &bytes);
    assert_non_null(file);
    sk_json json = sk_json_to_file(file, 0);
    write_sample(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    fclose(file);
    assert_true(bytes > 50 && memory[bytes - 1] == '\n');
    free(memory);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        json = sk_json_to_file(full, 0);
        write_sample(&json);
        assert_int_equal(sk_json_end(&json, &err), SK_ERR_IO);
        fclose(full);
    }
}

static sk_status write_all(void *context, sk_error *err)
{
    (void)context;
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    write_sample(&json);
    sk_status status = sk_json_end(&json, err);
    sk_text_free(&text);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(write_all, NULL) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line),
        cmocka_unit_test(indented_is_read_by_jansson),
        cmocka_unit_test(any_bytes_make_valid_json),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(into_a_file_and_a_full_disk),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
