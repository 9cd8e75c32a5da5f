/* SPDX-License-Identifier: Apache-2.0 */
/* What pickles' opcodes take from the stack, and what is made of classes that are known: containers, storages, tensors. */
#include "support/test.h"

#include "base/text.h"
#include "formats/pickle.h"

#include <stdio.h>
#include <string.h>

static sk_pickle *pickle;
static sk_error err;

static sk_status open_bytes(const void *bytes, size_t length)
{
    sk_pickle_close(&pickle);
    return sk_pickle_open(bytes, length, "in", &pickle, &err);
}

static const sk_pickle_value *read_text(const char *text)
{
    if (open_bytes(text, strlen(text)) != SK_OK)
        fail_msg("%s", err.message);
    return sk_pickle_root(pickle);
}

static void refused(const char *text, const char *why)
{
    const sk_status status = open_bytes(text, strlen(text));
    if (status != SK_ERR_FORMAT || !strstr(err.message, why))
        fail_msg("%s, not '%s'", status == SK_OK ? "read" : err.message, why);
    assert_null(pickle);
}

/* Each takes so many from the stack, and none that lies below a mark. */
static void what_opcodes_take(void **state)
{
    (void)state;
    static const struct {
        const char *op, *items[3];
        sk_pickle_kind kind;
    } ops[] = {
        {"\205", {"N"}, SK_PICKLE_TUPLE},
        {"\206", {"N", "N"}, SK_PICKLE_TUPLE},
        {"\207", {"N", "N", "N"}, SK_PICKLE_TUPLE},
        {"R", {"cm\nf\n", ")"}, SK_PICKLE_OBJECT},
        {"\201", {"cm\nf\n", ")"}, SK_PICKLE_OBJECT},
        {"\222", {"cm\nf\n", ")", "}"}, SK_PICKLE_OBJECT},
        {"\223", {"S'm'\n", "S'f'\n"}, SK_PICKLE_GLOBAL},
        {"b", {"]", "N"}, SK_PICKLE_LIST},
        {"a", {"]", "N"}, SK_PICKLE_LIST},
        {"s", {"}", "N", "N"}, SK_PICKLE_DICT},
        {"Q", {"N"}, SK_PICKLE_OBJECT},
        {"2", {"I5\n"}, SK_PICKLE_INT},
        {"p1\n", {"I5\n"}, SK_PICKLE_INT},
        {"0", {"N"}, SK_PICKLE_NONE},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        int needs = 0;
        while (needs < 3 && ops[i].items[needs])
            needs++;
        for (int has = 0; has <= needs; has++)
            for (int marked = 0; marked < 2; marked++) {
                char text[100] = "";
                if (marked)
                    strcat(text, "NNNN("); /* enough below, were there no mark */
                for (int k = needs - has; k < needs; k++)
                    strcat(text, ops[i].items[k]);
                strcat(text, ops[i].op);
                strcat(text, ops[i].op[0] == '0' ? "N." : ".");
                if (ops[i].op[0] == '0' && marked && !has) {
                    read_text(text); /* takes the mark itself */
                } else if (has < needs) {
                    refused(text, "nothing is left on its stack");
                } else {
                    const sk_pickle_value *v = read_text(text);
                    assert_int_equal(v->kind, ops[i].kind);
                    if (v->kind == SK_PICKLE_TUPLE)
                        assert_int_equal(v->length, needs);
                }
            }
    }
    refused("NNN(.", "nothing is left on its stack");
    assert_int_equal(read_text("(N0t.")->length, 0); /* the value, not the mark */
    refused("(N00t.", "a mark is missing");
    refused("(0t.", "a mark is missing");
    assert_int_equal(read_text("((NNt.")->length, 2); /* up to the last mark */
    assert_int_equal(read_text("(N(NN1t.")->length, 1);
    assert_int_equal(read_text("(I1\nI2\nl.")->length, 2);
    assert_int_equal(read_text("](I1\nI2\ne.")->length, 2);
    assert_int_equal(read_text("(I1\nI2\nI3\nI4\nd.")->length, 2);
    assert_int_equal(read_text("}(I1\nI2\nI3\nI4\nu.")->length, 2);
    refused("(I1\nI2\nI3\nd.", "keys are set on something that is no dictionary");
    refused("(o.", "an object without a class");
    refused("N(I1\ne.", "items are appended to something that is no list");
    refused("I1\nS'f'\n\223.", "a class is named by something that is no string");
    refused("S'm'\nI1\n\223.", "a class is named by something that is no string");
    refused("(I1\nNb.", "cannot have any");
}

/* Cut anywhere a pickle is refused, in words that say where. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char whole[] =
        "\200\5\225\1\0\0\0\0\0\0\0]\224(N\210\211K\1M\1\1J\1\1\1\1G\0\0\0\0\0\0\0\0"
        "I1\nL1L\nF1\n\212\1\1\213\1\0\0\0\1X\1\0\0\0a\214\1a\215\1\0\0\0\0\0\0\0a"
        "T\1\0\0\0aU\1aB\1\0\0\0aC\1a\216\1\0\0\0\0\0\0\0aS'a'\nVa\n\226\1\0\0\0\0\0\0\0a"
        "cm\nf\nPid\nh\0j\0\0\0\0g0\n}q\1\217r\2\0\0\0(N\220)p3\n(im\nf\ne.";
    assert_ok(open_bytes(whole, sizeof whole - 1), &err);
    assert_int_equal(sk_pickle_root(pickle)->length, 32);
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char said[60];
        assert_int_equal(open_bytes(whole, n), SK_ERR_FORMAT);
        snprintf(said, sizeof said, " of %zu: ", n);
        assert_non_null(strstr(err.message, "in: pickle, byte "));
        assert_non_null(strstr(err.message, said));
    }
    assert_int_equal(open_bytes("NN\377", 3), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "in: pickle, byte 2 of 3: opcode 0xff is none"));
    assert_int_equal(open_bytes("N\200\6.", 4), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "byte 1 of 4: pickle protocol 6 is newer than 5"));
    assert_ok(open_bytes("N.", SK_PICKLE_MAX_BYTES), &err); /* behind its end nothing is read */
    assert_int_equal(open_bytes("N.", SK_PICKLE_MAX_BYTES + 1), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "in: a pickle of "));
}

/* Objects keep what they were made of; what is appended or set hangs below them. */
static void objects_and_what_hangs_below(void **state)
{
    (void)state;
    const sk_pickle_value *v = read_text("(I7\nI8\nim\nf\n.");
    assert_true(v->u.object.args->length == 2 && sk_pickle_at(v->u.object.args, 0)->u.integer == 7 &&
                sk_pickle_at(v->u.object.args, 1)->u.integer == 8);
    v = read_text("(cm\na.f\nI7\nI8\no.");
    assert_true(v->u.object.args->length == 2 && sk_pickle_at(v->u.object.args, 0)->u.integer == 7);
    assert_string_equal(sk_pickle_class(v, NULL), "f"); /* of a class in a class its own name */
    v = read_text("cm\nf\n)RI1\naI2\na.");
    assert_true(v->kind == SK_PICKLE_OBJECT && v->u.object.items->kind == SK_PICKLE_LIST &&
                v->u.object.items->length == 2);
    v = read_text("cm\nf\n)RS'k'\nI1\nsI9\nI2\ns.");
    assert_true(sk_pickle_get(v, "k")->u.integer == 1 && sk_pickle_get_int(v, 9)->u.integer == 2);
    refused("cm\nf\n)RS'k'\nI1\nsI9\na.", "no list");
    refused("cm\nf\n)RI9\naS'k'\nI1\ns.", "no dictionary");
    /* state: a dictionary, or a pair of them; before what hangs below */
    v = read_text("cm\nf\n)RS'k'\nI1\ns}S'k'\nI2\nsb.");
    assert_int_equal(sk_pickle_get(v, "k")->u.integer, 2);
    v = read_text("cm\nf\n)RS'w'\nI5\ns(}S'k'\nI2\ns}S'l'\nI3\ns}S'm'\nI4\nstb.");
    assert_int_equal(sk_pickle_get(v, "k")->u.integer, 2);
    assert_int_equal(sk_pickle_get(v, "l")->u.integer, 3);
    assert_null(sk_pickle_get(v, "m")); /* there are no three */
    assert_int_equal(sk_pickle_get(v, "w")->u.integer, 5);
    v = read_text("cm\nf\n)R(}S'k'\nI2\ns}S'k'\nI3\nstb.");
    assert_int_equal(sk_pickle_get(v, "k")->u.integer, 2); /* the first */
    v = read_text("cm\nf\n)R(N}S'k'\nI3\nstb.");
    assert_int_equal(sk_pickle_get(v, "k")->u.integer, 3);
    assert_null(sk_pickle_get(read_text("cm\nf\n)R(t."), "k"));
    v = read_text("ccopy_reg\n_reconstructor\n(cm\nf\nNNtR.");
    assert_string_equal(sk_pickle_class(v, NULL), "f");
    v = read_text("ccopyreg\n_reconstructor\n(cm\nf\nNNtR.");
    assert_string_equal(sk_pickle_class(v, NULL), "f");
    v = read_text("ccopyreg\n_reconstructor\n)R.");
    assert_string_equal(sk_pickle_class(v, NULL), "_reconstructor");
    v = read_text("cother\n_reconstructor\n(cm\nf\nNNtR.");
    assert_string_equal(sk_pickle_class(v, NULL), "_reconstructor");
}

static void known_containers(void **state)
{
    (void)state;
    static const struct {
        const char *class;
        sk_pickle_kind kind;
        bool set;
        size_t length;
    } made[] = {
        {"__builtin__\nlist", SK_PICKLE_LIST, false, 2},
        {"builtins\nlist", SK_PICKLE_LIST, false, 2},
        {"__builtin__\nset", SK_PICKLE_LIST, true, 2},
        {"builtins\nset", SK_PICKLE_LIST, true, 2},
        {"__builtin__\nfrozenset", SK_PICKLE_LIST, true, 2},
        {"builtins\nfrozenset", SK_PICKLE_LIST, true, 2},
        {"builtins\ndict", SK_PICKLE_DICT, false, 2},
        {"__builtin__\ndict", SK_PICKLE_DICT, false, 2},
        {"collections\nOrderedDict", SK_PICKLE_DICT, false, 2},
        {"collections\ndefaultdict", SK_PICKLE_DICT, false, 0},
        {"torch\nSize", SK_PICKLE_TUPLE, false, 2},
        {"other\nset", SK_PICKLE_OBJECT, false, 0},
        {"collections\ndeque", SK_PICKLE_OBJECT, false, 0},
        {"other\nOrderedDict", SK_PICKLE_OBJECT, false, 0},
        {"other\nSize", SK_PICKLE_OBJECT, false, 0},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char text[200];
        snprintf(text, sizeof text, "c%s\n(((I1\nI2\nt(I3\nI4\ntttR.", made[i].class);
        const sk_pickle_value *v = read_text(text);
        assert_true(v->kind == made[i].kind && v->is_set == made[i].set);
        if (v->kind == SK_PICKLE_OBJECT)
            continue;
        assert_int_equal(v->length, made[i].length);
        if (v->kind == SK_PICKLE_DICT && v->length)
            assert_true(sk_pickle_get_int(v, 1)->u.integer == 2 && sk_pickle_get_int(v, 3)->u.integer == 4);
        else if (v->length)
            assert_int_equal(sk_pickle_at(sk_pickle_at(v, 1), 0)->u.integer, 3);
        snprintf(text, sizeof text, "c%s\n)R.", made[i].class); /* of nothing */
        v = read_text(text);
        assert_int_equal(v->kind, made[i].kind == SK_PICKLE_TUPLE ? SK_PICKLE_OBJECT : made[i].kind);
        assert_int_equal(v->length, 0);
    }
    const sk_pickle_value *v = read_text("cbuiltins\ndict\n(}I1\nI2\nsI3\nI4\nstR.");
    assert_true(v->length == 2 && sk_pickle_get_int(v, 3)->u.integer == 4);
    refused("cbuiltins\ndict\n(((I1\ntttR.", "made from something other than pairs");
    refused("cbuiltins\ndict\n((I1\nttR.", "made from something other than pairs");
}

/* Keys: the same number, text or bytes is one key; other things only where they are the same thing. */
static void keys_that_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(read_text("(I1\nNI1\nNL1L\nNd.")->length, 1);
    assert_int_equal(read_text("(I300\nNI300\nNI-300\nNd.")->length, 2);
    assert_int_equal(read_text("(S'a'\nNVa\nNS'ab'\nNS'b'\nNd.")->length, 3);
    assert_int_equal(read_text("(C\1aNC\1aNS'a'\nNd.")->length, 2); /* bytes are no text */
    assert_int_equal(read_text("(F1\nNF1\nNI1\nNd.")->length, 3);
    assert_int_equal(read_text("(NNNNd.")->length, 1);
    assert_int_equal(read_text("(\210N\210N\211Nd.")->length, 2);
    const sk_pickle_value *v = read_text("(I1\nS'a'\nI2\nS'b'\nI1\nS'c'\nd.");
    assert_string_equal(sk_pickle_text(sk_pickle_get_int(v, 1)),
                        "c"); /* the later counts, at the first's place */
    assert_int_equal(v->u.pairs[0].key->u.integer, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_opcodes_take),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(objects_and_what_hangs_below),
        cmocka_unit_test(known_containers),
        cmocka_unit_test(keys_that_are_the_same),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_pickle_close(&pickle);
    return failed;
}
