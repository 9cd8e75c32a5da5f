/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "formats/config.h"
#include "formats/python_literal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef sk_status (*opener)(const char *, size_t, const char *, sk_config **, sk_error *);

static sk_config *open_text(opener open, const char *text)
{
    sk_config *config = NULL;
    sk_error err = {0};
    assert_ok(open(text, strlen(text), "test", &config, &err), &err);
    return config;
}

static void refuse(opener open, const char *text, sk_status expected, const char *hint)
{
    sk_config *config = NULL;
    sk_error err = {0};
    int64_t before = sk_memory_live_bytes();
    sk_status status = open(text, strlen(text), "some.file", &config, &err);
    if (status != expected || config || !strstr(err.message, hint) || !strstr(err.message, "some.file"))
        fail_msg("\"%.60s\" gave %d \"%s\", expected %d with \"%s\"", text, status, err.message, expected,
                 hint);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void json_and_yaml_give_the_same_tree(void **state)
{
    (void)state;
    static const char json[] =
        "{\"a\": {\"b\": [1, 2.5, null, true, \"x\"]}, \"s\": \"\", \"e\": {}, \"n\": -7}";
    static const char yaml[] = "a:\n  b:\n  - 1\n  - 2.5\n  - null\n  - true\n  - x\ns: ''\ne: {}\nn: -7\n";
    for (int i = 0; i < 2; i++) {
        sk_config *config = i ? open_text(sk_config_open_yaml, yaml) : open_text(sk_config_open_json, json);
        const sk_config_value *root = sk_config_root(config);
        assert_int_equal(sk_config_count(root), 4);
        assert_string_equal(root->u.pairs[1].name, "s");
        assert_int_equal(sk_config_int_or(root, "a.b.0", -1), 1);
        assert_true(sk_config_real_or(root, "a.b.1", -1) == 2.5);
        assert_true(sk_config_is_null(sk_config_find(root, "a.b.2")));
        assert_non_null(sk_config_find(root, "a.b.2"));
        assert_true(sk_config_bool_or(root, "a.b.3", false));
        assert_string_equal(sk_config_text_or(root, "a.b.4", "no"), "x");
        assert_string_equal(sk_config_text_or(root, "s", "no"), "");
        assert_int_equal(sk_config_int_or(root, "n", 0), -7);
        assert_null(sk_config_find(root, "a.b.5"));
        assert_null(sk_config_find(root, "a.b.x"));
        assert_null(sk_config_find(root, "a.c.d"));
        assert_int_equal(sk_config_int_or(root, "a.b.4", 42), 42); /* another kind: the fallback */
        assert_true(sk_config_is(sk_config_get(root, "e"), SK_CONFIG_MAP));
        sk_config_close(&config);
        assert_null(config);
    }
}

static void yaml_scalars_are_typed_as_omegaconf_does(void **state)
{
    (void)state;
    sk_config *config =
        open_text(sk_config_open_yaml,
                  "[~, null, '', '12', 12, 0x1F, 0b101, 017, 1_000, 1e-3, 1.0e-06, .5, -.inf, .nan,"
                  " yes, Off, 1:30, 0.1.2, \"true\", 08, -4, 1e5, 99999999999999999999, +3, e5]");
    const sk_config_value *v = sk_config_root(config);
    const sk_config_kind kinds[] = {
        SK_CONFIG_NULL, SK_CONFIG_NULL,   SK_CONFIG_STRING, SK_CONFIG_STRING, SK_CONFIG_INT,
        SK_CONFIG_INT,  SK_CONFIG_INT,    SK_CONFIG_INT,    SK_CONFIG_INT,    SK_CONFIG_REAL,
        SK_CONFIG_REAL, SK_CONFIG_REAL,   SK_CONFIG_REAL,   SK_CONFIG_REAL,   SK_CONFIG_BOOL,
        SK_CONFIG_BOOL, SK_CONFIG_STRING, SK_CONFIG_STRING, SK_CONFIG_STRING, SK_CONFIG_STRING,
        SK_CONFIG_INT,  SK_CONFIG_REAL,   SK_CONFIG_REAL,   SK_CONFIG_INT,    SK_CONFIG_STRING};
    assert_int_equal(sk_config_count(v), sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < sk_config_count(v); i++)
        if (sk_config_at(v, i)->kind != kinds[i])
            fail_msg("item %zu is of kind %d, expected %d", i, sk_config_at(v, i)->kind, kinds[i]);
    assert_int_equal(v->u.items[5]->u.integer, 31);
    assert_int_equal(v->u.items[6]->u.integer, 5);
    assert_int_equal(v->u.items[7]->u.integer, 15);
    assert_int_equal(v->u.items[8]->u.integer, 1000);
    assert_true(v->u.items[9]->u.real == 1e-3 && v->u.items[10]->u.real == 1e-6 &&
                v->u.items[11]->u.real == 0.5);
    assert_true(isinf(v->u.items[12]->u.real) && v->u.items[12]->u.real < 0 && isnan(v->u.items[13]->u.real));
    assert_true(v->u.items[14]->u.boolean && !v->u.items[15]->u.boolean);
    assert_true(v->u.items[22]->u.real > 9e19);
    sk_config_close(&config);
}

static void yaml_aliases_share_and_bombs_are_refused(void **state)
{
    (void)state;
    sk_config *config = open_text(sk_config_open_yaml, "a: &x [1, 2]\nb: *x\na2: !!str 5\n? [k, l]\n: 3\n");
    const sk_config_value *root = sk_config_root(config);
    assert_ptr_equal(sk_config_get(root, "a"), sk_config_get(root, "b"));
    assert_string_equal(sk_config_text_or(root, "a2", ""), "5");
    sk_config_close(&config);
    refuse(sk_config_open_yaml, "a: &x [*x]\n", SK_ERR_FORMAT, "into itself");
    refuse(sk_config_open_yaml, "a: *nobody\n", SK_ERR_FORMAT, "*nobody");

    char bomb[4096];
    size_t n = (size_t)snprintf(bomb, sizeof bomb, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++) {
        n += (size_t)snprintf(bomb + n, sizeof bomb - n, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            n += (size_t)snprintf(bomb + n, sizeof bomb - n, "*a%d%s", i - 1, j < 9 ? ", " : "]\n");
    }
    refuse(sk_config_open_yaml, bomb, SK_ERR_LIMIT, "expand");
}

static void depth_is_bounded(void **state)
{
    (void)state;
    static char deep[200001];
    memset(deep, '[', 200000);
    refuse(sk_config_open_yaml, deep, SK_ERR_LIMIT, "nested");
    refuse(sk_python_literal_open, deep, SK_ERR_LIMIT, "nested");
    refuse(sk_config_open_json, deep, SK_ERR_FORMAT, "JSON");
    deep[100] = '\0';
    memset(deep + 100, ']', 100);
    deep[200] = '\0';
    refuse(sk_config_open_json, deep, SK_ERR_LIMIT, "nested");
}

static void broken_text_is_refused_with_a_place(void **state)
{
    (void)state;
    refuse(sk_config_open_json, "{\"a\": }", SK_ERR_FORMAT, "line 1");
    refuse(sk_config_open_json, "", SK_ERR_FORMAT, "JSON");
    refuse(sk_config_open_yaml, "a: [1, 2\nb: 3", SK_ERR_FORMAT, "line 2");
    refuse(sk_config_open_yaml, "a:\n\t- b", SK_ERR_FORMAT, "YAML");
    refuse(sk_python_literal_open, "{0: 'person'", SK_ERR_FORMAT, "byte 12");
    refuse(sk_python_literal_open, "__import__('os')", SK_ERR_FORMAT, "name");
    refuse(sk_python_literal_open, "[1 2]", SK_ERR_FORMAT, "comma");
    refuse(sk_python_literal_open, "{1, 2: 3}", SK_ERR_FORMAT, "mixed");
    refuse(sk_python_literal_open, "'abc", SK_ERR_FORMAT, "without end");
    refuse(sk_python_literal_open, "'a\\x4'", SK_ERR_FORMAT, "escape");
    refuse(sk_python_literal_open, "", SK_ERR_FORMAT, "missing");
    refuse(sk_python_literal_open, "1 2", SK_ERR_FORMAT, "after");
}

static void python_literals_are_read(void **state)
{
    (void)state;
    sk_config *config =
        open_text(sk_python_literal_open,
                  " {0: 'person', 1: \"it's\", 'k': (1, 2.5, -3e2), None: [True, False, None,], 'u': "
                  "'h\\xe9\\u2713\\'\\n' 'b',"
                  " 't': (7), 's': {1, 2}, 'r': r'a\\d', 'e': (), 'big': 1_000, 'h': 0xff, 'inf': -inf} ");
    const sk_config_value *root = sk_config_root(config);
    assert_int_equal(sk_config_count(root), 12);
    assert_string_equal(sk_config_text_or(root, "0", ""), "person");
    assert_string_equal(sk_config_text_or(root, "1", ""), "it's");
    assert_int_equal(root->u.pairs[1].key->u.integer, 1);
    assert_int_equal(sk_config_count(sk_config_get(root, "k")), 3);
    assert_true(sk_config_real_or(root, "k.2", 0) == -300.0);
    assert_true(sk_config_bool_or(root, "null.0", false));
    assert_string_equal(sk_config_text_or(root, "u", ""), "h\xc3\xa9\xe2\x9c\x93'\nb");
    assert_int_equal(sk_config_int_or(root, "t", 0), 7);
    assert_int_equal(sk_config_count(sk_config_get(root, "s")), 2);
    assert_string_equal(sk_config_text_or(root, "r", ""), "a\\d");
    assert_true(sk_config_is(sk_config_get(root, "e"), SK_CONFIG_LIST));
    assert_int_equal(sk_config_int_or(root, "big", 0), 1000);
    assert_int_equal(sk_config_int_or(root, "h", 0), 255);
    assert_true(isinf(sk_config_real_or(root, "inf", 0)));
    sk_config_close(&config);

    /* every escape: octal ones end after three digits or before what is none, unknown ones stay, a line goes on */
    config = open_text(sk_python_literal_open, "['\\101\\60x\\0601\\18', '\\a\\b\\f\\n\\r\\t\\v\\\\\\\"', "
                                               "'\\U0001F400\\q', 'a\\\nb', \"\"\"it's\n\"2\" \"\"\"]");
    root = sk_config_root(config);
    assert_int_equal(sk_config_count(root), 5);
    assert_string_equal(sk_config_text_or(root, "0", ""), "A0x01\x01"
                                                          "8");
    assert_string_equal(sk_config_text_or(root, "1", ""), "\a\b\f\n\r\t\v\\\"");
    assert_string_equal(sk_config_text_or(root, "2", ""), "\xf0\x9f\x90\x80\\q");
    assert_string_equal(sk_config_text_or(root, "3", ""), "ab");
    assert_string_equal(sk_config_text_or(root, "4", ""), "it's\n\"2\" ");
    sk_config_close(&config);

    config = open_text(sk_python_literal_open, "[640, 640]");
    assert_int_equal(sk_config_int_or(sk_config_root(config), "1", 0), 640);
    sk_config_close(&config);
}

static void repeated_keys_take_the_last_value(void **state)
{
    (void)state;
    sk_config *config = open_text(sk_python_literal_open, "{'a': 1, 'b': 2, 'a': 3}");
    const sk_config_value *root = sk_config_root(config);
    assert_int_equal(sk_config_count(root), 2);
    assert_string_equal(root->u.pairs[0].name, "a");
    assert_int_equal(sk_config_int_or(root, "a", 0), 3);
    sk_config_close(&config);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    static const struct {
        opener open;
        const char *text;
    } cases[] = {{sk_config_open_json, "{\"a\": [1, \"x\", {\"b\": null}]}"},
                 {sk_config_open_yaml, "a: &k [1, x]\nb: *k\n"},
                 {sk_python_literal_open, "{0: 'person', 1: [1, 2, ('x',)]}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t before = sk_memory_live_bytes();
        int succeeded = 0;
        for (uint64_t n = 1; n < 1000 && !succeeded; n++) {
            sk_config *config = NULL;
            sk_error err = {0};
            sk_memory_fail_nth(n);
            sk_status status = cases[i].open(cases[i].text, strlen(cases[i].text), "t", &config, &err);
            sk_memory_fail_nth(0);
            succeeded = status == SK_OK;
            if (!succeeded) {
                assert_int_equal(status, SK_ERR_MEMORY);
                assert_null(config);
            }
            sk_config_close(&config);
            assert_int_equal(sk_memory_live_bytes(), before);
        }
        assert_true(succeeded);
    }
}

static void yaml_knows_where_its_values_are(void **state)
{
    (void)state;
    sk_config *config = open_text(sk_config_open_yaml, "a: 1\nb:\n  - x\n  - {k: &v 2, l: *v}\na: 3\n");
    const sk_config_value *root = sk_config_root(config);
    static const struct {
        const char *path;
        uint32_t line, column;
    } rows[] = {{"a", 5, 4}, {"b", 3, 3}, {"b.0", 3, 5}, {"b.1", 4, 5}, {"b.1.k", 4, 9}, {"b.1.l", 4, 9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_config_value *value = sk_config_find(root, rows[i].path);
        assert_int_equal(value->line, rows[i].line);
        assert_int_equal(value->column, rows[i].column);
    }
    assert_int_equal(root->u.pairs[0].again->line, 5); /* a key that is there twice */
    assert_null(root->u.pairs[1].again);
    sk_config_close(&config);
    refuse(sk_config_open_yaml, "a:\n  - *b", SK_ERR_FORMAT, "line 2, column 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_yaml_give_the_same_tree),
        cmocka_unit_test(yaml_knows_where_its_values_are),
        cmocka_unit_test(yaml_scalars_are_typed_as_omegaconf_does),
        cmocka_unit_test(yaml_aliases_share_and_bombs_are_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(broken_text_is_refused_with_a_place),
        cmocka_unit_test(python_literals_are_read),
        cmocka_unit_test(repeated_keys_take_the_last_value),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
