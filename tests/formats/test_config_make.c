/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that the program makes itself: every kind of value, in maps and lists, and mistakes that are kept until the end. */
#include "support/fault.h"
#include "support/test.h"

#include "base/memory.h"
#include "formats/config_make.h"

#include <string.h>

static sk_error err;

static void begin(sk_maker *m)
{
    sk_make_begin(m, "the tree");
}

/* What reads like the text, as JSON. */
static void same(const sk_config_value *a, const sk_config_value *b)
{
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
    case SK_CONFIG_NULL: break;
    case SK_CONFIG_BOOL: assert_int_equal(a->u.boolean, b->u.boolean); break;
    case SK_CONFIG_INT: assert_int_equal(a->u.integer, b->u.integer); break;
    case SK_CONFIG_REAL: assert_true(a->u.real == b->u.real); break;
    case SK_CONFIG_STRING:
        assert_int_equal(a->length, b->length);
        assert_string_equal(a->u.text, b->u.text);
        break;
    case SK_CONFIG_LIST:
        assert_int_equal(a->length, b->length);
        for (size_t i = 0; i < a->length; i++)
            same(a->u.items[i], b->u.items[i]);
        break;
    case SK_CONFIG_MAP:
        assert_int_equal(a->length, b->length);
        for (size_t i = 0; i < a->length; i++) {
            assert_string_equal(a->u.pairs[i].name, b->u.pairs[i].name);
            same(a->u.pairs[i].value, b->u.pairs[i].value);
        }
        break;
    }
}

static sk_status make_all(sk_maker *m, sk_config **out, sk_error *error)
{
    sk_text grown = {0};
    sk_text_append(&grown, "grown");
    begin(m);
    sk_make_text(m, "text", "a");
    sk_make_int(m, "whole", -7);
    sk_make_real(m, "real", 0.5);
    sk_make_bool(m, "true", true);
    sk_make_bool(m, "false", false);
    sk_make_grown(m, "grown", &grown);
    sk_make_owned(m, "owned", sk_strdup("owned"));
    sk_make_list(m, "list");
    for (int i = 0; i < 40; i++)
        sk_make_int(m, NULL, i);
    sk_make_map(m, NULL);
    sk_make_text(m, "name", "inner");
    sk_make_list(m, "none");
    sk_make_close(m);
    sk_make_map(m, "empty");
    sk_make_close(m);
    sk_make_close(m);
    sk_make_close(m);
    sk_make_text(m, "last", "");
    sk_text_free(&grown);
    return sk_make_finish(m, out, error);
}

static void every_kind_of_value(void **state)
{
    (void)state;
    sk_maker m;
    sk_config *made = NULL, *read = NULL, *around = NULL;
    sk_text text = {0};
    assert_ok(make_all(&m, &made, &err), &err);
    sk_text_append(
        &text, "{\"text\":\"a\",\"whole\":-7,\"real\":0.5,\"true\":true,\"false\":false,\"grown\":\"grown\","
               "\"owned\":\"owned\",\"list\":[");
    for (int i = 0; i < 40; i++)
        sk_text_appendf(&text, "%d,", i);
    sk_text_append(&text, "{\"name\":\"inner\",\"none\":[],\"empty\":{}}],\"last\":\"\"}");
    assert_ok(sk_config_open_json(sk_text_get(&text), text.length, "in", &read, &err), &err);
    same(sk_config_root(made), sk_config_root(read));
    same(sk_config_root(read), sk_config_root(made));
    /* a value of another tree, as it is */
    begin(&m);
    sk_make_value(&m, "all", sk_config_root(read));
    assert_ok(sk_make_finish(&m, &around, &err), &err);
    assert_ptr_equal(sk_config_get(sk_config_root(around), "all"), sk_config_root(read));
    sk_config_close(&around);
    sk_config_close(&made);
    sk_config_close(&read);
    sk_text_free(&text);
}

static void refused(sk_maker *m, sk_status status, const char *why)
{
    sk_config *out = NULL;
    sk_make_text(m, "more", "is passed over");
    sk_make_int(m, "more", 1);
    sk_make_list(m, "more");
    sk_make_close(m);
    err = (sk_error){0};
    assert_int_equal(sk_make_finish(m, &out, &err), status);
    assert_null(out);
    if (!strstr(err.message, why))
        fail_msg("'%s', not '%s'", err.message, why);
    assert_true(err.code == status && !m->config && m->depth == 0);
}

static void mistakes_are_kept(void **state)
{
    (void)state;
    sk_maker m;
    begin(&m);
    sk_make_int(&m, NULL, 1);
    refused(&m, SK_ERR_ARG, "the tree: a map's values have keys, a list's have none");
    begin(&m);
    sk_make_list(&m, "list");
    sk_make_int(&m, "key", 1);
    refused(&m, SK_ERR_ARG, "a map's values have keys");
    begin(&m);
    sk_make_close(&m);
    refused(&m, SK_ERR_ARG, "the tree: nothing to close");
    begin(&m);
    sk_make_owned(&m, "key", NULL);
    refused(&m, SK_ERR_MEMORY, "");
    begin(&m);
    const sk_text failed = {.failed = SK_ERR_LIMIT};
    sk_make_grown(&m, "key", &failed);
    refused(&m, SK_ERR_LIMIT, "");
    sk_config *out = NULL;
    begin(&m);
    sk_make_list(&m, "open");
    assert_int_equal(sk_make_finish(&m, &out, NULL), SK_ERR_ARG); /* nobody asks why */
    begin(&m);
    sk_make_map(&m, "open");
    assert_int_equal(sk_make_finish(&m, &out, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "the tree: a map or list is open"));
}

static void as_deep_as_it_goes(void **state)
{
    (void)state;
    for (int deep = SK_MAKE_DEPTH - 2; deep <= SK_MAKE_DEPTH; deep++) {
        sk_maker m;
        sk_config *out = NULL;
        begin(&m);
        for (int i = 0; i < deep; i++)
            sk_make_map(&m, "in");
        sk_make_int(&m, "at", deep);
        for (int i = 0; i < deep; i++)
            sk_make_close(&m);
        if (deep >= SK_MAKE_DEPTH) {
            refused(&m, SK_ERR_LIMIT, "the tree: nested deeper than 8");
            continue;
        }
        assert_ok(sk_make_finish(&m, &out, &err), &err);
        const sk_config_value *v = sk_config_root(out);
        for (int i = 0; i < deep; i++)
            v = sk_config_get(v, "in");
        assert_int_equal(sk_config_int_or(v, "at", -1), deep);
        sk_config_close(&out);
    }
}

static sk_status make_and_close(void *context, sk_error *error)
{
    (void)context;
    sk_maker m;
    sk_config *out = NULL;
    SK_TRY(make_all(&m, &out, error));
    sk_config_close(&out);
    return SK_OK;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(make_and_close, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value),
        cmocka_unit_test(mistakes_are_kept),
        cmocka_unit_test(as_deep_as_it_goes),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
