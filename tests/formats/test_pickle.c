/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "support/torch_writer.h"

#include "formats/pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sk_pickle_value *parse(const void *bytes, size_t length, sk_pickle **p)
{
    sk_error err;
    assert_ok(sk_pickle_open(bytes, length, "test.pkl", p, &err), &err);
    return sk_pickle_root(*p);
}
#define PARSE(text, p) parse(text, sizeof text - 1, p)

static void refuse(const void *bytes, size_t length, sk_status expected, const char *part)
{
    sk_error err = {0};
    sk_pickle *p = (sk_pickle *)1;
    sk_status status = sk_pickle_open(bytes, length, "test.pkl", &p, &err);
    if (status != expected || !strstr(err.message, part) || !strstr(err.message, "test.pkl"))
        fail_msg("expected '%s' (%d), got '%s' (%d)", part, expected, err.message, status);
    assert_null(p);
}
#define REFUSE(text, status, part) refuse(text, sizeof text - 1, status, part)

static void plain_values(void **state)
{
    (void)state;
    sk_pickle *p;
    /* [None, True, False, 7, 300, -2, 1.5, "hé", b"x"] with the opcodes of several protocols */
    const sk_pickle_value *v = PARSE("\x80\x04](N\x88\x89K\x07M\x2c\x01J\xfe\xff\xff\xffG\x3f\xf8\0\0\0\0\0\0"
                                     "\x8c\x03h\xc3\xa9"
                                     "C\x01xe.",
                                     &p);
    assert_int_equal(v->kind, SK_PICKLE_LIST);
    assert_int_equal(v->length, 9);
    assert_int_equal(sk_pickle_at(v, 0)->kind, SK_PICKLE_NONE);
    assert_true(sk_pickle_at(v, 1)->u.boolean);
    assert_false(sk_pickle_at(v, 2)->u.boolean);
    assert_int_equal(sk_pickle_at(v, 3)->u.integer, 7);
    assert_int_equal(sk_pickle_at(v, 4)->u.integer, 300);
    assert_int_equal(sk_pickle_at(v, 5)->u.integer, -2);
    assert_true(sk_pickle_at(v, 6)->u.real == 1.5);
    assert_string_equal(sk_pickle_text(sk_pickle_at(v, 7)), "h\xc3\xa9");
    assert_int_equal(sk_pickle_at(v, 8)->kind, SK_PICKLE_BYTES);
    assert_null(sk_pickle_text(sk_pickle_at(v, 8)));
    assert_null(sk_pickle_at(v, 9));
    sk_pickle_close(&p);
    assert_null(p);
}

static void protocol_zero(void **state)
{
    (void)state;
    sk_pickle *p;
    const sk_pickle_value *v =
        PARSE("(dp0\nS'a'\np1\nI12\nsS'b'\nF2.5\nsS'c'\nI01\nsS'd'\nL99L\nsS'e'\n(lp2\ng1\nas.", &p);
    assert_int_equal(v->kind, SK_PICKLE_DICT);
    int64_t i;
    double d;
    assert_true(sk_pickle_to_int(sk_pickle_get(v, "a"), &i) && i == 12);
    assert_true(sk_pickle_to_real(sk_pickle_get(v, "b"), &d) && d == 2.5);
    assert_int_equal(sk_pickle_get(v, "c")->kind, SK_PICKLE_BOOL);
    assert_true(sk_pickle_to_int(sk_pickle_get(v, "d"), &i) && i == 99);
    assert_string_equal(sk_pickle_text(sk_pickle_at(sk_pickle_get(v, "e"), 0)), "a");
    sk_pickle_close(&p);
}

static void long_integers(void **state)
{
    (void)state;
    sk_pickle *p;
    const sk_pickle_value *v = PARSE("\x80\x02](\x8a\0"
                                     "\x8a\x01\xff"
                                     "\x8a\x02\0\x01"
                                     "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
                                     "\x8a\x09\0\0\0\0\0\0\0\x80\0"
                                     "\x8a\x09\0\0\0\0\0\0\0\0\x80"
                                     "\x8b\x01\0\0\0\x05"
                                     "e.",
                                     &p);
    const int64_t expected[] = {0, -1, 256, INT64_MAX, INT64_MAX, INT64_MIN, 5};
    for (size_t i = 0; i < 7; i++)
        assert_true(sk_pickle_at(v, i)->u.integer == expected[i]);
    sk_pickle_close(&p);
}

static void dictionaries_keep_order_and_overwrite(void **state)
{
    (void)state;
    tw_pickle w = {0};
    char key[16];
    tw_start(&w);
    tw_ordered_begin(&w);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 500; i++) {
            snprintf(key, sizeof key, "k%d", i);
            tw_text(&w, key);
            tw_int(&w, i + 1000 * round);
        }
    }
    tw_int(&w, 7);
    tw_text(&w, "seven");
    tw_dict_end(&w);
    tw_stop(&w);
    sk_pickle *p;
    const sk_pickle_value *v = parse(w.out.bytes, w.out.length, &p);
    assert_int_equal(v->length, 501);
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_string_equal(v->u.pairs[i].key->u.text, key);
        assert_int_equal(sk_pickle_get(v, key)->u.integer, i + 1000);
    }
    assert_string_equal(sk_pickle_text(sk_pickle_get_int(v, 7)), "seven");
    assert_null(sk_pickle_get(v, "k500"));
    assert_null(sk_pickle_get_int(v, 8));
    sk_pickle_close(&p);
    tw_pickle_free(&w);
}

static void objects_are_inert(void **state)
{
    (void)state;
    sk_pickle *p;
    const sk_pickle_value *v = PARSE("cposix\nsystem\n(X\x0c\0\0\0touch /pwnedtR.", &p);
    const char *module;
    assert_int_equal(v->kind, SK_PICKLE_OBJECT);
    assert_string_equal(sk_pickle_class(v, &module), "system");
    assert_string_equal(module, "posix");
    assert_string_equal(sk_pickle_text(sk_pickle_at(v->u.object.args, 0)), "touch /pwned");
    sk_pickle_close(&p);

    /* eval through STACK_GLOBAL, INST and OBJ */
    v = PARSE("\x80\x04\x8c\x08"
              "builtins\x8c\x04"
              "eval\x93\x8c\x01x\x85R.",
              &p);
    assert_string_equal(sk_pickle_class(v, NULL), "eval");
    sk_pickle_close(&p);
    v = PARSE("(S'x'\nios\nsystem\n.", &p);
    assert_string_equal(sk_pickle_class(v, NULL), "system");
    assert_int_equal(v->u.object.args->length, 1);
    sk_pickle_close(&p);
    /* NEWOBJ_EX: class, arguments, keywords */
    v = PARSE("\x80\x04"
              "cos\nsystem\n\x8c\x01x\x85}\x8c\x01kK\x01s\x92.",
              &p);
    assert_string_equal(sk_pickle_class(v, NULL), "system");
    assert_int_equal(v->u.object.args->length, 1);
    assert_string_equal(sk_pickle_text(sk_pickle_at(v->u.object.args, 0)), "x");
    sk_pickle_close(&p);
    v = PARSE("(cos\nsystem\nS'x'\no.", &p);
    assert_string_equal(sk_pickle_class(v, NULL), "system");
    sk_pickle_close(&p);
}

static void containers(void **state)
{
    (void)state;
    sk_pickle *p;
    const sk_pickle_value *v = PARSE("\x80\x02](c__builtin__\nset\n](K\x01K\x02"
                                     "e\x85R"
                                     "ctorch\nSize\nK\x03K\x04\x86\x85R"
                                     "ccollections\nOrderedDict\n](K\x05K\x06\x86"
                                     "e\x85R"
                                     "c__builtin__\ngetattr\nNN\x86R"
                                     "cpathlib\nPosixPath\nX\x01\0\0\0/\x85R"
                                     "\x8f(K\x01\x90"
                                     "(K\x09\x91"
                                     "e.",
                                     &p);
    assert_int_equal(v->length, 7);
    assert_true(sk_pickle_at(v, 0)->is_set && sk_pickle_at(v, 0)->length == 2);
    assert_int_equal(sk_pickle_at(v, 1)->kind, SK_PICKLE_TUPLE);
    assert_int_equal(sk_pickle_at(v, 1)->length, 2);
    assert_int_equal(sk_pickle_get_int(sk_pickle_at(v, 2), 5)->u.integer, 6);
    assert_string_equal(sk_pickle_class(sk_pickle_at(v, 3), NULL), "getattr");
    assert_string_equal(sk_pickle_class(sk_pickle_at(v, 4), NULL), "PosixPath");
    assert_true(sk_pickle_at(v, 5)->is_set && sk_pickle_at(v, 6)->is_set);
    sk_pickle_close(&p);
}

static void modules_and_state(void **state)
{
    (void)state;
    tw_pickle w = {0};
    sk_shape shape = sk_shape_of(1, 2);
    tw_start(&w);
    tw_object_begin(&w, "torch.nn.modules.conv", "Conv2d");
    tw_text(&w, "_parameters");
    tw_ordered_begin(&w);
    tw_text(&w, "weight");
    tw_tensor(&w, SK_DTYPE_F16, &shape, (float[]){1, 2}, true);
    tw_text(&w, "bias");
    tw_none(&w);
    tw_dict_end(&w);
    tw_text(&w, "_buffers");
    tw_dict_begin(&w);
    tw_text(&w, "mean");
    tw_tensor(&w, SK_DTYPE_F32, &shape, (float[]){1, 2}, false);
    tw_dict_end(&w);
    tw_text(&w, "groups");
    tw_int(&w, 1);
    tw_object_end(&w);
    tw_stop(&w);
    sk_pickle *p;
    const sk_pickle_value *v = parse(w.out.bytes, w.out.length, &p);
    assert_string_equal(sk_pickle_class(v, NULL), "Conv2d");
    const sk_pickle_value *weight = sk_pickle_parameter(v, "weight");
    assert_int_equal(weight->kind, SK_PICKLE_TENSOR);
    assert_int_equal(weight->u.tensor.dtype, SK_DTYPE_F16);
    assert_int_equal(weight->u.tensor.shape.dim[0], 2);
    assert_string_equal(weight->u.tensor.storage->u.storage.key, "0");
    assert_null(sk_pickle_parameter(v, "bias"));
    assert_non_null(sk_pickle_parameter(v, "mean"));
    assert_null(sk_pickle_child(v, "cv1"));
    assert_int_equal(sk_pickle_get(v, "groups")->u.integer, 1);
    assert_null(sk_pickle_get(NULL, "x"));
    sk_pickle_close(&p);
    tw_pickle_free(&w);
}

static void cycles_are_data(void **state)
{
    (void)state;
    sk_pickle *p;
    const sk_pickle_value *v = PARSE("\x80\x02]q\0h\0a.", &p);
    assert_ptr_equal(sk_pickle_at(v, 0), v);
    sk_pickle_close(&p);
}

static void hostile(void **state)
{
    (void)state;
    REFUSE("", SK_ERR_FORMAT, "ends in the middle");
    REFUSE("\x80\x02.", SK_ERR_FORMAT, "nothing is left");
    REFUSE("\x80\x09N.", SK_ERR_UNSUPPORTED, "protocol 9");
    REFUSE("X\xff\xff\xff\x7fhello", SK_ERR_FORMAT, "begins where");
    REFUSE("\x8d\xff\xff\xff\xff\xff\xff\xff\xffhello", SK_ERR_FORMAT, "begins where");
    REFUSE("\x8b\xff\xff\xff\xff", SK_ERR_FORMAT, "an integer of");
    REFUSE("Nr\xff\xff\xff\xff.", SK_ERR_LIMIT, "memo index");
    REFUSE("Np99999999999999999999\n.", SK_ERR_LIMIT, "memo index");
    REFUSE("h\x05.", SK_ERR_FORMAT, "memo entry 5");
    REFUSE("t.", SK_ERR_FORMAT, "a mark is missing");
    REFUSE("(u.", SK_ERR_FORMAT, "nothing is left");
    REFUSE("N(NNu.", SK_ERR_FORMAT, "no dictionary");
    REFUSE("}(Nu.", SK_ERR_FORMAT, "no dictionary");
    REFUSE("KaN\x61.", SK_ERR_FORMAT, "no list");
    REFUSE("N}b.", SK_ERR_FORMAT, "cannot have any");
    REFUSE("\x82\x01.", SK_ERR_UNSUPPORTED, "opcode 0x82");
    REFUSE("\xff", SK_ERR_UNSUPPORTED, "opcode 0xff");
    REFUSE("Ix\n.", SK_ERR_FORMAT, "no integer");
    REFUSE("(NR.", SK_ERR_FORMAT, "nothing is left");
    REFUSE("ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
           "0NK\x04tQ"
           "J\xff\xff\xff\xffK\x04\x85K\x01\x85\x89NtR.",
           SK_ERR_FORMAT, "broken offset");
    REFUSE("(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
           "0NJ\xff\xff\xff\xfftQ.",
           SK_ERR_FORMAT, "elements");
}

/* A million brackets: depth costs memory, never the C stack. */
static void deep_nesting(void **state)
{
    (void)state;
    size_t n = 1000000;
    char *bytes = malloc(n * 2 + 2);
    memset(bytes, ']', n);
    memset(bytes + n, 'a', n - 1);
    bytes[2 * n - 1] = '.';
    sk_pickle *p;
    const sk_pickle_value *v = parse(bytes, 2 * n, &p);
    size_t depth = 0;
    for (; v; v = sk_pickle_at(v, 0))
        depth++;
    assert_int_equal(depth, n);
    sk_pickle_close(&p);
    /* tuples and marks likewise */
    memset(bytes, '(', n);
    memset(bytes + n, 't', n);
    bytes[2 * n] = '.';
    parse(bytes, 2 * n + 1, &p);
    sk_pickle_close(&p);
    free(bytes);
}

/* set(big) over and over: each call copies the list, so the arena's limit must end it. */
static void copies_are_bounded(void **state)
{
    (void)state;
    tw_buffer b = {0};
    tw_bytes(&b, "\x80\x02](", 4);
    for (int i = 0; i < 100000; i++)
        tw_byte(&b, 'N');
    tw_bytes(&b, "eq\0c__builtin__\nset\nq\1", 3 + 17 + 2);
    for (int i = 0; i < 100000; i++)
        tw_bytes(&b, "h\1h\0\x85R", 6);
    refuse(b.bytes, b.length, SK_ERR_LIMIT, "unfolds to more than");
    tw_free(&b);
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    tw_pickle w = {0};
    sk_shape shape = sk_shape_of(1, 2);
    tw_start(&w);
    tw_dict_begin(&w);
    for (int i = 0; i < 400; i++) {
        tw_int(&w, i);
        tw_tensor(&w, SK_DTYPE_F32, &shape, (float[]){1, 2}, true);
    }
    tw_dict_end(&w);
    tw_stop(&w);
    int64_t live = sk_memory_live_bytes();
    bool finished = false;
    for (uint64_t n = 1; n < 1000 && !finished; n++) {
        sk_error err;
        sk_pickle *p;
        sk_memory_fail_nth(n);
        sk_status status = sk_pickle_open(w.out.bytes, w.out.length, "test.pkl", &p, &err);
        finished = status == SK_OK;
        if (!finished)
            assert_int_equal(status, SK_ERR_MEMORY);
        sk_pickle_close(&p);
        assert_true(sk_memory_live_bytes() == live);
    }
    sk_memory_fail_nth(0);
    assert_true(finished);
    tw_pickle_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_values),
        cmocka_unit_test(protocol_zero),
        cmocka_unit_test(long_integers),
        cmocka_unit_test(dictionaries_keep_order_and_overwrite),
        cmocka_unit_test(objects_are_inert),
        cmocka_unit_test(containers),
        cmocka_unit_test(modules_and_state),
        cmocka_unit_test(cycles_are_data),
        cmocka_unit_test(hostile),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(copies_are_bounded),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
