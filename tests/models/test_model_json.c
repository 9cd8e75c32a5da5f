/* SPDX-License-Identifier: Apache-2.0 */
/* What a model says beside its graph, key by key: each number at its bounds and beyond them, each key left out, each list of another
 * length or of other things. What is taken comes back as it was written. */
#include "onnx_model_fixture.h"

#include "base/text.h"

static sk_error err;
static char *pose, *bottomup; /* a YOLO's and a SLEAP's */

static int both_texts(void **state)
{
    (void)state;
    sk_model *model = make_yolo();
    assert_ok(sk_model_to_json(model, &pose, &err), &err);
    sk_model_close(&model);
    model = make_sleap();
    model->sleap.ensure_grayscale = 0;
    assert_ok(sk_model_to_json(model, &bottomup, &err), &err);
    sk_model_close(&model);
    return 0;
}

static int no_texts(void **state)
{
    (void)state;
    sk_free_all(pose, bottomup);
    return 0;
}

/* Where the value of "key" behind `in` begins, and how long it is: a number, text, list or object. */
static const char *find_value(const char *text, const char *in, const char *key, size_t *length)
{
    char quoted[64];
    if (in) {
        snprintf(quoted, sizeof quoted, "\"%s\":{", in);
        text = strstr(text, quoted);
        assert_non_null(text);
        text++;
    }
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    if (!at)
        fail_msg("there is no %s", key);
    at += strlen(quoted);
    int open = 0;
    bool word = false;
    const char *end = at;
    for (; word || open > 0 || !strchr(",]}", *end); end++) {
        word = *end == '"' ? !word : word;
        if (!word)
            open += (*end == '[' || *end == '{') - (*end == ']' || *end == '}');
    }
    *length = (size_t)(end - at);
    return at;
}

/* The text with another value of a key; null: without the key. */
static char *with(const char *text, const char *in, const char *key, const char *value)
{
    size_t length;
    sk_text out = {0};
    char *result = NULL;
    const char *at = find_value(text, in, key, &length), *from = at - (value ? 0 : strlen(key) + 3);
    sk_text_append_bytes(&out, text, (size_t)(from - text));
    if (value)
        sk_text_append(&out, value);
    sk_text_append(&out, at + length + (!value && at[length] == ','));
    if (!value && at[length] != ',') { /* the last one: the comma before it */
        char *comma = out.data + (from - text) - 1;
        memmove(comma, comma + 1, strlen(comma));
    }
    assert_ok(sk_text_take(&out, &result, &err), &err);
    return result;
}

static sk_status read_back(const char *text, char **again)
{
    sk_model *model = NULL;
    *again = NULL;
    err = (sk_error){0};
    assert_ok(sk_model_create(&model, &err), &err);
    const sk_status status = sk_model_from_json(model, text, "m.onnx", &err);
    if (status == SK_OK)
        assert_ok(sk_model_to_json(model, again, &err), &err);
    sk_model_close(&model);
    return status;
}

/* Is the text taken, and comes back as `wanted`? Or, without that: refused at `key`? */
static void comes_to(const char *text, const char *wanted, const char *key)
{
    char *again = NULL, words[200];
    const sk_status status = read_back(text, &again);
    if (wanted) {
        if (status != SK_OK)
            fail_msg("%s: %s", key, err.message);
        assert_string_equal(again, wanted);
    } else {
        snprintf(words, sizeof words,
                 "m.onnx: its skitter metadata is damaged at '%s'; export the model again", key);
        if (status != SK_ERR_FORMAT || strcmp(err.message, words) != 0)
            fail_msg("%s: %d '%s' of %s", key, status, status == SK_OK ? "taken" : err.message, text);
    }
    sk_free(again);
}

static void number(const char *text, const char *in, const char *key, long low, long high)
{
    const long values[] = {low, high, low - 1, high + 1};
    for (int i = 0; i < 4; i++) {
        char value[32];
        snprintf(value, sizeof value, "%ld", values[i]);
        char *other = with(text, in, key, value);
        comes_to(other, i < 2 ? other : NULL, key);
        sk_free(other);
    }
    static const char *const none[] = {"\"a\"", "[]", "null", "0.5"};
    for (int i = 0; i < 4; i++) {
        char *other = with(text, in, key, none[i]);
        comes_to(other, NULL, key);
        sk_free(other);
    }
    char *absent = with(text, in, key, NULL), *zero = with(text, in, key, "0");
    comes_to(absent, low <= 0 ? zero : NULL, key);
    sk_free_all(absent, zero);
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *in, *key;
        long low, high;
    } yolo[] = {{"input", "channels", 1, 64},
                {"input", "height", 0, 1 << 20},
                {"input", "width", 0, 1 << 20},
                {"input", "stride", 0, 4096},
                {"input", "fixed_size", 0, 1},
                {"input", "fixed_batch", 0, 1 << 20},
                {"input", "rgb", 0, 1},
                {"input", "dtype", SK_DTYPE_F32, SK_DTYPE_U8},
                {NULL, "kind", SK_OUTPUT_YOLO, SK_OUTPUT_OTHER},
                {NULL, "outputs_nhwc", 0, 1},
                {"yolo", "reg_max", 0, 1024},
                {"yolo", "classes", 0, 100000},
                {"yolo", "keypoints", 0, 100000},
                {"yolo", "keypoint_dims", 0, 3},
                {"yolo", "end2end", 0, 1},
                {"yolo", "nms_tail", 0, 1},
                {"yolo", "dense_corners", 0, 1},
                {"yolo", "max_det", 0, 1 << 20},
                {"yolo", "keypoints_26", 0, 1},
                {"yolo", "angle_raw", 0, 1},
                {"yolo", "masks", 0, 1 << 20}},
      sleap[] = {{"sleap", "pad_to_stride", 0, 4096},
                 {"sleap", "ensure_rgb", 0, 1},
                 {"sleap", "ensure_grayscale", 0, 1},
                 {"sleap", "resize_antialias", 0, 1},
                 {"sleap", "legacy", 0, 1}};
    for (size_t i = 0; i < sizeof yolo / sizeof *yolo; i++)
        number(pose, yolo[i].in, yolo[i].key, yolo[i].low, yolo[i].high);
    for (size_t i = 0; i < sizeof sleap / sizeof *sleap; i++)
        number(bottomup, sleap[i].in, sleap[i].key, sleap[i].low, sleap[i].high);
}

/* Real numbers, and the lists of them: what is left out is 0. */
static void reals(void **state)
{
    (void)state;
    static const struct {
        bool sleap;
        const char *in, *key, *value, *back; /* "": as it was given; null: refused */
    } cases[] = {{false, "input", "scale", "0.5", ""},
                 {false, "input", "scale", "\"a\"", NULL},
                 {false, "input", "scale", "1e39", NULL},
                 {false, "input", "scale", "-1e39", NULL}, /* beyond what a float holds */
                 {false, "input", "scale", "9.99999968e+37", ""},
                 {false, "input", "scale", NULL, "0"},
                 {false, "input", "mean", "[0.5,0.25,0.125]", ""},
                 {false, "input", "mean", "[0.5]", "[0.5,0,0]"},
                 {false, "input", "mean", "[0.5,true,\"a\"]", NULL},
                 {false, "input", "std", "[0.5,0.25,0.125]", ""},
                 {false, "input", "std", "[1,2,\"a\"]", NULL},
                 {false, "input", "std", NULL, "[0,0,0]"},
                 {false, "yolo", "strides", "[1,2,4,8,16]", ""},
                 {false, "yolo", "strides", "[]", ""},
                 {false, "yolo", "strides", "[1,2,\"a\"]", NULL},
                 {true, "sleap", "input_scale", "0.125", ""},
                 {true, "sleap", "input_scale", "\"a\"", NULL},
                 {true, "sleap", "input_scale", NULL, "0"},
                 {true, NULL, "crop", "[7,9]", ""},
                 {true, NULL, "crop", "[1048576,0]", ""},
                 {true, NULL, "crop", "[0,1048577]", NULL},
                 {true, NULL, "crop", "[-1,0]", NULL},
                 {true, NULL, "crop", "[7]", NULL},
                 {true, NULL, "crop", NULL, NULL},
                 {true, NULL, "target", "[0,1048576]", ""},
                 {true, NULL, "target", "[1048577,0]", NULL},
                 {true, NULL, "target", "[0,-1]", NULL},
                 {true, NULL, "target", "[\"a\",1]", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *base = cases[i].sleap ? bottomup : pose;
        char *other = with(base, cases[i].in, cases[i].key, cases[i].value), *wanted = NULL;
        if (cases[i].back)
            wanted = with(base, cases[i].in, cases[i].key, *cases[i].back ? cases[i].back : cases[i].value);
        comes_to(other, wanted, cases[i].key);
        sk_free_all(other, wanted);
    }
}

static void names_pairs_and_texts(void **state)
{
    (void)state;
    static const struct {
        bool sleap;
        const char *in, *key, *value;
        bool taken;
        const char *at; /* the key that is named; null: the same */
    } cases[] = {
        {false, NULL, "classes", "[\"a\",\"b\"]", true, NULL},
        {false, NULL, "classes", "[\"a\"]", false, NULL},
        {false, NULL, "classes", "[\"a\",\"b\",\"c\"]", false, NULL},
        {false, NULL, "classes", "[\"a\",1]", false, NULL},
        {false, NULL, "classes", "{\"a\":1,\"b\":2}", false, NULL},
        {false, NULL, "classes", "[]", false, NULL}, /* what is counted has names */
        {false, NULL, "keypoints", "[]", true, NULL},
        {false, NULL, "keypoints", "[\"a\"]", false, NULL},
        {false, NULL, "keypoints", "[\"a\",null]", false, NULL},
        {false, NULL, "edges", "[]", true, NULL},
        {false, NULL, "edges", "[[0,1],[1,0],[1,1]]", true, NULL},
        {false, NULL, "edges", "[[0,2]]", false, NULL},
        {false, NULL, "edges", "[[-1,0]]", false, NULL},
        {false, NULL, "edges", "[[0]]", false, NULL},
        {false, NULL, "edges", "[0,1]", false, NULL},
        {false, NULL, "n_classes", "100001", false, NULL},
        {false, NULL, "n_classes", "-1", false, NULL},
        {false, NULL, "n_classes", "1", false, "classes"},
        {false, NULL, "n_keypoints", "100001", false, NULL},
        {false, NULL, "n_keypoints", "-1", false, NULL},
        {false, NULL, "n_keypoints", "1", false, "keypoints"},
        {false, NULL, "family", "\"yolo99\"", true, NULL},
        {false, NULL, "facts", "[]", true, NULL},
        {false, NULL, "facts", "[[\"a\",\"b\"],[\"c\",\"\"]]", true, NULL},
        {false, NULL, "facts", "[[\"a\"]]", false, NULL},
        {false, NULL, "facts", "[[1,\"a\"]]", false, NULL},
        {false, NULL, "facts", "[[\"a\",1]]", false, NULL},
        {false, NULL, "outputs", "[]", true, NULL},
        {false, NULL, "outputs",
         "[{\"kind\":1,\"name\":\"a\",\"stride\":0.5},{\"kind\":10,\"name\":\"\",\"stride\":2}]", true, NULL},
        {false, NULL, "outputs", "[{\"kind\":1,\"name\":\"a\",\"stride\":\"b\"}]", false, "stride"},
        {false, NULL, "outputs", "[{\"name\":\"a\",\"stride\":1}]", false, "kind"},
        {false, "yolo", "heads", "[]", true, NULL},
        {false, "yolo", "heads", "[[1,0],[6,4]]", true, NULL},
        {false, "yolo", "heads", "[[0,0]]", false, NULL},
        {false, "yolo", "heads", "[[7,0]]", false, NULL},
        {false, "yolo", "heads", "[[1,-1]]", false, NULL},
        {false, "yolo", "heads", "[[1,5]]", false, NULL},
        {false, "yolo", "heads", "[[1]]", false, NULL},
        {false, "yolo", "heads", "[[\"a\",1]]", false, NULL},
        {false, "yolo", "strides", "[1,2,3,4,5,6]", false, "heads"},
        {false, NULL, "task", "0", true, NULL},
        {false, NULL, "task", "-1", false, NULL},
        {false, NULL, "version", "0", false, NULL},
        {false, NULL, "version", "\"1\"", false, NULL},
        {true, "sleap", "edges", "[]", true, NULL},
        {true, "sleap", "edges", "[[1,0]]", true, NULL},
        {true, "sleap", "edges", "[[2,0]]", false, NULL},
        {true, "sleap", "anchor_part", "\"tail\"", true, NULL},
        {true, "sleap", "anchor_part", "null", true, NULL},
        {true, "sleap", "classes", "[]", true, NULL},
        {true, "sleap", "classes", "[\"a\"]", false, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *other = with(cases[i].sleap ? bottomup : pose, cases[i].in, cases[i].key, cases[i].value);
        comes_to(other, cases[i].taken ? other : NULL, cases[i].at ? cases[i].at : cases[i].key);
        sk_free(other);
    }
    char *other = with(pose, NULL, "family", NULL), *wanted = with(pose, NULL, "family", "\"\"");
    comes_to(other, wanted, "family");
    sk_free_all(other, wanted);
}

/* So many of them are taken, one more is not; facts beyond the last are left out. */
static void lists_have_limits(void **state)
{
    (void)state;
    static const struct {
        const char *in, *key, *item;
        int most;
        bool left_out;
    } cases[] = {{NULL, "outputs", "{\"kind\":10,\"name\":\"a\",\"stride\":1}", 32, false},
                 {"yolo", "heads", "[1,1]", 4 * SK_MAX_LEVELS + 2, false},
                 {NULL, "edges", "[0,1]", 100000, false},
                 {NULL, "facts", "[\"a\",\"b\"]", 256, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *most = NULL;
        for (int more = 0; more < 2; more++) {
            sk_text list = {0};
            for (int k = 0; k < cases[i].most + more; k++)
                sk_text_appendf(&list, "%s%s", k ? "," : "[", cases[i].item);
            sk_text_append(&list, "]");
            char *other = with(pose, cases[i].in, cases[i].key, sk_text_get(&list));
            if (!more)
                most = other;
            comes_to(other, more && !cases[i].left_out ? NULL : most, cases[i].key);
            if (more)
                sk_free(other);
            sk_text_free(&list);
        }
        sk_free(most);
    }
}

static void newer_ones_and_other_tasks(void **state)
{
    (void)state;
    char *other = with(pose, NULL, "version", "2"), *again = NULL;
    assert_int_equal(read_back(other, &again), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "m.onnx: exported by a newer skitter ("));
    assert_null(strstr(err.message, "unknown version"));
    sk_free(other);
    assert_int_equal(read_back("{\"version\":2}", &again), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "m.onnx: exported by a newer skitter (unknown version); update this one");
    for (int task = SK_TASK_UNKNOWN; task <= (int)sk_task_last() + 1; task++) {
        char number[16];
        sk_model *model = NULL;
        snprintf(number, sizeof number, "%d", task);
        const bool sleap = task >= SK_TASK_SINGLE_INSTANCE && task <= (int)sk_task_last();
        other = with(sleap ? bottomup : pose, NULL, "task", number);
        assert_ok(sk_model_create(&model, &err), &err);
        const sk_status status = sk_model_from_json(model, other, "m.onnx", &err);
        assert_int_equal(status, task <= (int)sk_task_last() ? SK_OK : SK_ERR_FORMAT);
        if (status == SK_OK) {
            assert_int_equal(model->task, task);
            assert_int_equal(model->family == SK_FAMILY_SLEAP, sleap);
            assert_true(sleap ? model->sleap.legacy && !model->yolo.n_levels : model->yolo.n_levels == 3);
        }
        sk_model_close(&model);
        sk_free(other);
    }
    assert_int_equal(read_back("{", &again), SK_ERR_FORMAT);
    assert_int_equal(read_back("[]", &again), SK_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_bounds),        cmocka_unit_test(reals),
        cmocka_unit_test(names_pairs_and_texts),      cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(newer_ones_and_other_tasks),
    };
    return cmocka_run_group_tests(tests, both_texts, no_texts);
}
