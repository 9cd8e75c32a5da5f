/* SPDX-License-Identifier: Apache-2.0 */
/* How deep, how many and how long: settings' files at their limits, and where in the file it is told. */
#include "support/test.h"

#include "base/text.h"
#include "formats/config.h"
#include "formats/python_literal.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_config *config;

typedef sk_status opener(const char *, size_t, const char *, sk_config **, sk_error *);

static sk_status read_text(opener *open, const char *text)
{
    sk_config_close(&config);
    return open(text, strlen(text), "in", &config, &err);
}

static void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, status == SK_OK ? "read" : err.message, why);
}

/* Lists, maps, and both in turn: 64 of them, and not one more. JSON counts what lies in them, too. */
static void how_deep(void **state)
{
    (void)state;
    for (int yaml = 0; yaml < 2; yaml++)
        for (int kind = 0; kind < 3; kind++)
            for (int levels = 62; levels <= 66; levels++) {
                sk_text text = {0};
                for (int i = 0; i < levels; i++)
                    sk_text_append(&text, kind == 0 || (kind == 2 && i % 2) ? "[" : "{\"a\": ");
                sk_text_append(&text, "1");
                for (int i = levels; i-- > 0;)
                    sk_text_append(&text, kind == 0 || (kind == 2 && i % 2) ? "]" : "}");
                const sk_status status =
                    read_text(yaml ? sk_config_open_yaml : sk_config_open_json, text.data);
                if (levels <= 64)
                    assert_ok(status, &err);
                else
                    told(status, SK_ERR_LIMIT, "in: nested deeper than 64 levels");
                if (levels > 64 && yaml) { /* where the first one too deep begins */
                    char place[64];
                    const int column = kind == 0 ? 65 : kind == 1 ? 6 * 64 + 1 : 32 * 6 + 32 + 1;
                    snprintf(place, sizeof place, "(line 1, column %d)", column);
                    told(status, SK_ERR_LIMIT, place);
                }
                sk_text_free(&text);
            }
}

/* Each name stands for ten of the one before: what they expand to is counted, not made. */
static void names_that_expand(void **state)
{
    (void)state;
    for (int last = 2; last <= 3; last++) {
        sk_text text = {0};
        sk_text_append(&text, "a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n");
        for (char c = 'b'; c <= 'f'; c++) {
            sk_text_appendf(&text, "%c: &%c [", c, c);
            for (int i = 0; i < 10; i++)
                sk_text_appendf(&text, "%s*%c", i ? ", " : "", c - 1);
            sk_text_append(&text, "]\n");
        }
        sk_text_append(&text, "g: [");
        for (int i = 0; i < last; i++)
            sk_text_append(&text, i ? ", *f" : "*f");
        sk_text_append(&text, "]\n");
        const sk_status status = read_text(sk_config_open_yaml, text.data);
        if (last == 2) {
            assert_ok(status, &err);
            const sk_config_value *root = sk_config_root(config);
            assert_int_equal(sk_config_count(sk_config_get(root, "g")), 2);
            assert_int_equal(sk_config_int_or(root, "g.1.9.9.9.9.9.9", 5), 0);
        } else {
            told(status, SK_ERR_LIMIT,
                 "in: its YAML aliases expand to more than 4194304 values (line 7, column 4)");
        }
        sk_text_free(&text);
    }
    told(read_text(sk_config_open_yaml, "a: 1\nb:\n - &x [1, *x]"), SK_ERR_FORMAT,
         "in: the YAML alias *x (line 3, column 11) points into itself");
    told(read_text(sk_config_open_yaml, "a: [*none]"), SK_ERR_FORMAT,
         "in: the YAML alias *none (line 1, column 5) has no anchor");
    /* of two anchors of one name the later counts */
    assert_ok(read_text(sk_config_open_yaml, "[&x 1, *x, &x 2, *x, &y {b: *x}, *y]"), &err);
    const sk_config_value *root = sk_config_root(config);
    assert_true(sk_config_int_or(root, "1", 0) == 1 && sk_config_int_or(root, "3", 0) == 2 &&
                sk_config_int_or(root, "5.b", 0) == 2);
}

static void how_many_names(void **state)
{
    (void)state;
    for (int n = 10000; n <= 10001; n++) {
        sk_text text = {0};
        sk_text_append(&text, "- &x 1\n");
        for (int i = 0; i < n; i++)
            sk_text_append(&text, "- *x\n");
        const sk_status status = read_text(sk_config_open_yaml, text.data);
        if (n == 10000)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_LIMIT, "in: more than 10000 YAML aliases (line 10002, column 3)");
        sk_text_free(&text);
    }
}

/* A second document is passed over, or told where nothing else may be in the file. */
static void documents(void **state)
{
    (void)state;
    static const char two[] = "--- {a: 1}\n---\n b: 2\n";
    assert_ok(read_text(sk_config_open_yaml, two), &err);
    assert_int_equal(sk_config_int_or(sk_config_root(config), "a", 0), 1);
    told(read_text(sk_config_open_yaml_alone, two), SK_ERR_FORMAT,
         "in: a second YAML document begins (line 2, column 1)");
    assert_ok(read_text(sk_config_open_yaml_alone, "--- {a: 1}\n...\n# more\n"), &err);
    told(read_text(sk_config_open_yaml_alone, "a: 1\n]"), SK_ERR_FORMAT, "in: ");
    assert_ok(read_text(sk_config_open_yaml_alone, ""), &err);
    assert_true(sk_config_is_null(sk_config_root(config)));
}

/* Paths: parts of up to 127 letters, numbers in lists, empty ones. */
static void paths(void **state)
{
    (void)state;
    for (int n = 126; n <= 129; n++) {
        char key[140] = "", text[300];
        memset(key, 'k', (size_t)n);
        snprintf(text, sizeof text, "{\"%s\": [10, {\"b\": 11}]}", key);
        assert_ok(read_text(sk_config_open_json, text), &err);
        const sk_config_value *root = sk_config_root(config);
        assert_non_null(sk_config_get(root, key));
        assert_int_equal(sk_config_find(root, key) != NULL, n <= 127);
        strcat(key, ".1.b");
        assert_int_equal(sk_config_int_or(root, key, 0), n <= 127 ? 11 : 0);
    }
    assert_ok(read_text(sk_config_open_json, "{\"a\": [10, [20, 21]], \"\": {\"x\": 5}}"), &err);
    static const struct {
        const char *path;
        int wanted;
    } cases[] = {{"a.0", 10}, {"a.1.1", 21}, {"a.2", -1}, {"a.1.1.0", -1}, {"a.x", -1}, {"a.0x", -1},
                 {"a.", -1},  {"a..0", -1},  {".x", 5},   {"a.00", 10},    {"b", -1},   {"a.1.0.", 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sk_config_int_or(sk_config_root(config), cases[i].path, -1) != cases[i].wanted)
            fail_msg("'%s'", cases[i].path);
}

/* Keys that are no texts have names; of repeated ones the first has the place, the last the value. */
static void names_of_keys(void **state)
{
    (void)state;
    assert_ok(read_text(sk_python_literal_open,
                        "{0: 10, -7: 11, 2.5: 12, True: 13, None: 14, False: 15, 'k': 16, "
                        "(1, 2): 17, (1, 2): 18, -9223372036854775808: 19}"),
              &err);
    static const char *const names[] = {"0",     "-7", "2.5", "true", "null",
                                        "false", "k",  "",    "",     "-9223372036854775808"};
    const sk_config_value *root = sk_config_root(config);
    assert_int_equal(sk_config_count(root), 10);
    for (int i = 0; i < 10; i++) {
        assert_string_equal(root->u.pairs[i].name, names[i]);
        assert_int_equal(root->u.pairs[i].value->u.integer, 10 + i);
        assert_null(root->u.pairs[i].again);
    }
    assert_ok(
        read_text(sk_python_literal_open, "{'a': 1, 'b': 2, 'a': 3, 'c': 4, 'b': 5, 'a': 6, 7: 8, '7': 9}"),
        &err);
    root = sk_config_root(config);
    static const char *const left[] = {"a", "b", "c", "7"};
    static const int values[] = {6, 5, 4, 9};
    assert_int_equal(sk_config_count(root), 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(root->u.pairs[i].name, left[i]);
        assert_int_equal(root->u.pairs[i].value->u.integer, values[i]);
        assert_int_equal(root->u.pairs[i].again != NULL, i != 2);
    }
}

/* Whole reals up to 2^53 are integers; a text with a zero in it is no text. */
static void numbers_and_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t wanted; /* -5: none */
    } cases[] = {{"9007199254740991.0", 9007199254740991},
                 {"-9007199254740991.0", -9007199254740991},
                 {"9007199254740992.0", -5},
                 {"-9007199254740992.0", -5},
                 {"0.5", -5},
                 {"-3.0", -3},
                 {"1e3", 1000},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775808", INT64_MIN},
                 {"9223372036854775808", -5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[60];
        snprintf(text, sizeof text, "{'a': %s}", cases[i].text);
        assert_ok(read_text(sk_python_literal_open, text), &err);
        assert_true(sk_config_int_or(sk_config_root(config), "a", -5) == cases[i].wanted);
    }
    assert_ok(read_text(sk_config_open_yaml, "{\"a\": \"x\\0y\", \"b\": \"xy\"}"), &err);
    assert_string_equal(sk_config_text_or(sk_config_root(config), "a", "-"), "-");
    assert_int_equal(sk_config_get(sk_config_root(config), "a")->length, 3);
    assert_string_equal(sk_config_text_or(sk_config_root(config), "b", "-"), "xy");
    assert_null(sk_config_root(NULL));
    sk_config *none = NULL; /* how much is read: told before it is */
    assert_int_equal(sk_config_open_json("{}", SK_CONFIG_MAX_BYTES + 1, "in", &none, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "in: 67108865 bytes of configuration; at most 67108864 are read"));
    assert_int_equal(sk_config_open_yaml("{}", SK_CONFIG_MAX_BYTES + 1, "in", &none, &err), SK_ERR_LIMIT);
    assert_int_equal(sk_python_literal_open("{}", SK_CONFIG_MAX_BYTES + 1, "in", &none, &err), SK_ERR_LIMIT);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_deep),
        cmocka_unit_test(names_that_expand),
        cmocka_unit_test(how_many_names),
        cmocka_unit_test(documents),
        cmocka_unit_test(paths),
        cmocka_unit_test(names_of_keys),
        cmocka_unit_test(numbers_and_texts),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_config_close(&config);
    return failed;
}
