/* SPDX-License-Identifier: Apache-2.0 */
/* Storages and tensors in pickles: every type by its name, every argument in its place, and what is none. */
#include "support/test.h"

#include "formats/pickle.h"

#include <stdio.h>
#include <string.h>

static sk_pickle *pickle;
static sk_error err;

static sk_status open_text(const char *text)
{
    sk_pickle_close(&pickle);
    return sk_pickle_open(text, strlen(text), "in", &pickle, &err);
}

static const sk_pickle_value *read_text(const char *text)
{
    if (open_text(text) != SK_OK)
        fail_msg("%s", err.message);
    return sk_pickle_root(pickle);
}

static const struct {
    const char *name;
    sk_dtype dtype;
} types[] = {
    {"FloatStorage", SK_DTYPE_F32},  {"HalfStorage", SK_DTYPE_F16},   {"BFloat16Storage", SK_DTYPE_BF16},
    {"DoubleStorage", SK_DTYPE_F64}, {"LongStorage", SK_DTYPE_I64},   {"IntStorage", SK_DTYPE_I32},
    {"ShortStorage", SK_DTYPE_I16},  {"CharStorage", SK_DTYPE_I8},    {"ByteStorage", SK_DTYPE_U8},
    {"BoolStorage", SK_DTYPE_BOOL},  {"UntypedStorage", SK_DTYPE_U8}, {"float32", SK_DTYPE_F32},
    {"float", SK_DTYPE_F32},         {"float16", SK_DTYPE_F16},       {"half", SK_DTYPE_F16},
    {"bfloat16", SK_DTYPE_BF16},     {"float64", SK_DTYPE_F64},       {"double", SK_DTYPE_F64},
    {"int64", SK_DTYPE_I64},         {"int32", SK_DTYPE_I32},         {"int16", SK_DTYPE_I16},
    {"int8", SK_DTYPE_I8},           {"uint8", SK_DTYPE_U8},          {"uint16", SK_DTYPE_U16},
    {"uint32", SK_DTYPE_U32},        {"uint64", SK_DTYPE_U64},        {"bool", SK_DTYPE_BOOL},
    {"QInt8Storage", SK_DTYPE_NONE}, {"complex64", SK_DTYPE_NONE},    {"", SK_DTYPE_NONE},
};

static void types_by_name(void **state)
{
    (void)state;
    static const char *const modules[] = {"torch", "torch.storage", "other", "torch.", ""};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t m = 0; m < sizeof modules / sizeof *modules; m++) {
            char text[300];
            const sk_dtype wanted = m < 2 ? types[i].dtype : SK_DTYPE_NONE;
            snprintf(text, sizeof text, "(S'storage'\nc%s\n%s\nS'k7'\nS'cuda:1'\nI12\ntQ.", modules[m],
                     types[i].name);
            const sk_pickle_value *v = read_text(text);
            assert_int_equal(v->kind, SK_PICKLE_STORAGE);
            assert_int_equal(v->u.storage.dtype, wanted);
            assert_string_equal(v->u.storage.key, "k7");
            assert_string_equal(v->u.storage.location, "cuda:1");
            assert_int_equal(v->u.storage.count, 12);
            /* said again of a tensor: then that counts */
            snprintf(
                text, sizeof text,
                "ctorch._utils\n_rebuild_tensor_v3\n((S'storage'\nctorch\nIntStorage\nS'0'\nNI4\ntQI0\n(I4\nt"
                "(I1\ntI00\nNc%s\n%s\ntR.",
                modules[m], types[i].name);
            v = read_text(text);
            assert_int_equal(v->kind, SK_PICKLE_TENSOR);
            assert_int_equal(v->u.tensor.dtype, wanted);
            assert_int_equal(v->u.tensor.storage->u.storage.dtype, SK_DTYPE_I32);
            assert_string_equal(v->u.tensor.storage->u.storage.location, "");
        }
}

/* What is no storage of torch is kept as it is, and nothing made of it. */
static void persistent_things_that_are_no_storage(void **state)
{
    (void)state;
    static const char *const ids[] = {
        "(t",
        "N",
        "(S'storage'\nt",
        "(S'storage'\nctorch\nFloatStorage\nt",
        "(S'storage'\nctorch\nFloatStorage\nS'0'\nt",
        "(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nt",
        "(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nNt",
        "(S'storage'\nctorch\nFloatStorage\nI0\nS'cpu'\nI4\nt",
        "(S'storage'\nS'FloatStorage'\nS'0'\nS'cpu'\nI4\nt",
        "(S'module'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI4\nt",
        "(I1\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI4\nt",
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char text[200];
        snprintf(text, sizeof text, "%sQ.", ids[i]);
        const sk_pickle_value *v = read_text(text);
        assert_int_equal(v->kind, SK_PICKLE_OBJECT);
        assert_null(v->u.object.callable);
        assert_int_equal(v->u.object.args != NULL, ids[i][0] == '(');
        assert_null(sk_pickle_class(v, NULL));
    }
    assert_int_equal(read_text("Pstorage\n.")->kind, SK_PICKLE_OBJECT);
    const sk_pickle_value *v = read_text("(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI0\ntQ.");
    assert_true(v->kind == SK_PICKLE_STORAGE && v->u.storage.count == 0);
    assert_int_equal(open_text("(S'storage'\nctorch\nFloatStorage\nS'9'\nS'cpu'\nI-1\ntQ."), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "storage '9' has -1 elements"));
}

#define STORAGE "(S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI40\ntQ"

static void arguments_of_tensors(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        bool good;
    } cases[] = {
        {"I3\n(I2\nI5\nt(I7\nI1\nt", true},
        {"I0\n(I0\nI5\nt(I0\nI1\nt", true},
        {"I3\n](I2\nI5\ne](I7\nI1\ne", true}, /* lists as well */
        {"F3\n(F2\nI5\nt(I7\nI1\nt", true},   /* whole numbers */
        {"I-1\n(I2\nI5\nt(I7\nI1\nt", false},
        {"N(I2\nI5\nt(I7\nI1\nt", false},
        {"F0.5\n(I2\nI5\nt(I7\nI1\nt", false},
        {"I3\n(I-2\nI5\nt(I7\nI1\nt", false},
        {"I3\n(I2\nI-1\nt(I7\nI1\nt", false},
        {"I3\n(I2\nNt(I7\nI1\nt", false},
        {"I3\n(I2\nI5\nt(I7\nI-1\nt", false},
        {"I3\n(I2\nI5\nt(I7\nt", false},
        {"I3\n(I2\nt(I7\nI1\nt", false},
        {"I3\nI2\n(I7\nI1\nt", false},
        {"I3\n(I2\nI5\ntN", false},
        {"I3\n(I2\nI5\nt", false},
        {"I3\n", false},
        {"", false},
    };
    static const char *const makers[] = {"_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int maker = 0; maker < 6; maker++) {
            char text[400];
            snprintf(text, sizeof text, "ctorch.%s\n%s\n(" STORAGE "%stR.", maker < 3 ? "_utils" : "_tensor",
                     makers[maker % 3], cases[i].arguments);
            const sk_status status = open_text(text);
            if (!cases[i].good) {
                assert_int_equal(status, SK_ERR_FORMAT);
                assert_non_null(
                    strstr(err.message, "a tensor on storage '0' has a broken offset, size or stride"));
                continue;
            }
            assert_ok(status, &err);
            const sk_pickle_value *v = sk_pickle_root(pickle);
            assert_int_equal(v->kind, SK_PICKLE_TENSOR);
            const bool empty = i == 1;
            assert_int_equal(v->u.tensor.offset, empty ? 0 : 3);
            assert_int_equal(v->u.tensor.shape.rank, 2);
            assert_true(v->u.tensor.shape.dim[0] == (empty ? 0 : 2) && v->u.tensor.shape.dim[1] == 5);
            assert_true(v->u.tensor.stride[0] == (empty ? 0 : 7) && v->u.tensor.stride[1] == 1);
            assert_int_equal(v->u.tensor.dtype, maker % 3 == 2 ? SK_DTYPE_NONE : SK_DTYPE_F32);
        }
    for (int rank = SK_MAX_RANK - 1; rank <= SK_MAX_RANK + 1; rank++) {
        char text[1000] = "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "I0\n";
        for (int k = 0; k < 2; k++) {
            strcat(text, "(");
            for (int i = 0; i < rank; i++)
                strcat(text, "I1\n");
            strcat(text, "t");
        }
        strcat(text, "tR.");
        assert_int_equal(open_text(text), rank <= SK_MAX_RANK ? SK_OK : SK_ERR_FORMAT);
    }
}

#define TENSOR_OF     "(" STORAGE "I0\n(I4\nt(I1\ntt"
#define TENSOR        "ctorch._utils\n_rebuild_tensor_v2\n" TENSOR_OF "R"
#define FROM_TYPE(of) "ctorch._tensor\n_rebuild_from_type_v2\n(" of "NtR."

/* Parameters and tensors of other types are their tensor; of anything else an object, which only says what it was. */
static void tensors_in_wrappings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        sk_pickle_kind kind;
        const char *class;
    } cases[] = {
        {"ctorch._utils\n_rebuild_parameter\n(" TENSOR "\210NtR.", SK_PICKLE_TENSOR, NULL},
        {"ctorch._utils\n_rebuild_parameter_with_state\n(" TENSOR "\210NNtR.", SK_PICKLE_TENSOR, NULL},
        {"ctorch._utils\n_rebuild_parameter\n(I1\ntR.", SK_PICKLE_OBJECT, "_rebuild_parameter"},
        {"ctorch._utils\n_rebuild_parameter\n)R.", SK_PICKLE_OBJECT, "_rebuild_parameter"},
        {"ctorch._utils\n_rebuild_other\n(" TENSOR "tR.", SK_PICKLE_OBJECT, "_rebuild_other"},
        {"cother\n_rebuild_parameter\n(" TENSOR "tR.", SK_PICKLE_OBJECT, "_rebuild_parameter"},
        {"cother\n_rebuild_tensor_v2\n" TENSOR_OF "R.", SK_PICKLE_OBJECT, "_rebuild_tensor_v2"},
        {"ctorch._utils\n_rebuild_tensor_v2\n)R.", SK_PICKLE_OBJECT, "_rebuild_tensor_v2"},
        {"ctorch._utils\n_rebuild_tensor_v2\n(I1\nI0\n(I4\nt(I1\nttR.", SK_PICKLE_OBJECT,
         "_rebuild_tensor_v2"},
        {FROM_TYPE("ctorch._utils\n_rebuild_tensor_v2\nN" TENSOR_OF), SK_PICKLE_TENSOR, NULL},
        {FROM_TYPE("ctorch._utils\n_rebuild_parameter\nN(" TENSOR "t"), SK_PICKLE_TENSOR, NULL},
        {FROM_TYPE("ctorch._utils\n_rebuild_tensor_v2\n"), SK_PICKLE_OBJECT, "_rebuild_from_type_v2"},
        {FROM_TYPE("NN" TENSOR_OF), SK_PICKLE_OBJECT, "_rebuild_from_type_v2"},
        {FROM_TYPE("ctorch._utils\n_other\nN" TENSOR_OF), SK_PICKLE_OBJECT, "_rebuild_from_type_v2"},
        /* not twice */
        {FROM_TYPE("ctorch._tensor\n_rebuild_from_type_v2\nN(ctorch._utils\n_rebuild_tensor_v2\nN" TENSOR_OF
                   "Nt"),
         SK_PICKLE_OBJECT, "_rebuild_from_type_v2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_pickle_value *v = read_text(cases[i].text);
        if (v->kind != cases[i].kind)
            fail_msg("case %zu is of kind %d", i, (int)v->kind);
        if (cases[i].class)
            assert_string_equal(sk_pickle_class(v, NULL), cases[i].class);
        else
            assert_true(sk_pickle_class(v, NULL) == NULL && v->u.tensor.shape.dim[0] == 4);
    }
    assert_int_equal(read_text(TENSOR "}b.")->kind, SK_PICKLE_TENSOR); /* state of a tensor is nobody's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_by_name),
        cmocka_unit_test(persistent_things_that_are_no_storage),
        cmocka_unit_test(arguments_of_tensors),
        cmocka_unit_test(tensors_in_wrappings),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_pickle_close(&pickle);
    return failed;
}
