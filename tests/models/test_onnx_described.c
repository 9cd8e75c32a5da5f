/* SPDX-License-Identifier: Apache-2.0 */
/* What is understood of a file: from its inputs and outputs alone, from Ultralytics' metadata, from sleap-nn's description beside it and
 * from our own; everything a model then says of itself, as text that was looked at (tests/models/whole/described_*.txt). */
#include "onnx_described.h"

static const described guesses[] = {
    {"boxes of two classes", PICTURE, F32, ROWS(6, 126), {{0}}, NULL},
    {"named classes", PICTURE, F32, ROWS(6, 126), {{"names", "['a', 'b']"}}, NULL},
    {"classes of another number", PICTURE, F32, ROWS(6, 126), {{"names", "['a', 'b', 'c']"}}, NULL},
    {"damaged names", PICTURE, F32, ROWS(6, 126), {{"names", "['a', "}}, NULL},
    {"any size", ANY, F32, ROWS(6, 8400), {{0}}, NULL},
    {"four levels", PICTURE, F32, ROWS(6, 510), {{0}}, NULL},
    {"levels nobody knows", PICTURE, F32, ROWS(6, 127), {{0}}, NULL},
    {"as many as there are values", PICTURE, F32, ROWS(6, 6), {{0}}, NULL},
    {"one more than there are values", PICTURE, F32, ROWS(6, 7), {{0}}, NULL},
    {"four values", PICTURE, F32, ROWS(4, 126), {{0}}, NULL},
    {"five values", PICTURE, F32, ROWS(5, 126), {{0}}, NULL},
    {"chosen", PICTURE, F32, ROWS(1000, 6), {{0}}, NULL},
    {"too many to be chosen", PICTURE, F32, ROWS(1001, 6), {{0}}, NULL},
    {"old rows", PICTURE, F32, ROWS(378, 6), {{0}}, NULL},
    {"old rows, four levels", PICTURE, F32, ROWS(381, 7), {{"names", "{0: 'a', 1: 'b'}"}}, NULL},
    {"old rows, no class", PICTURE, F32, ROWS(378, 5), {{0}}, NULL},
    {"old rows, two levels", PICTURE, F32, ROWS(360, 7), {{0}}, NULL},
    {"scores", PICTURE, F32, {{2, {1, 2}}}, {{0}}, NULL},
    {"one score", PICTURE, F32, {{2, {1, 1}}}, {{0}}, NULL},
    {"a map", PICTURE, F32, {{4, {1, 2, 8, 12}}}, {{0}}, NULL},
    {"two outputs", PICTURE, F32, {{3, {1, 6, 126}}, {4, {1, 2, 8, 12}}}, {{0}}, NULL},
    {"bytes", PICTURE, SK_DTYPE_U8, ROWS(6, 126), {{0}}, NULL},
    {"halves", PICTURE, SK_DTYPE_F16, ROWS(6, 126), {{0}}, NULL},
    {"whole numbers", PICTURE, SK_DTYPE_I64, ROWS(6, 126), {{0}}, NULL},
    {"no picture", {3, {3, 64, 96}}, F32, ROWS(6, 126), {{0}}, NULL},
    {"one pixel", {4, {1, 3, 1, 1}}, F32, ROWS(6, 126), {{0}}, NULL},
    {"one row", {4, {1, 3, 1, -1}}, F32, ROWS(6, 126), {{0}}, NULL},
    {"one column", {4, {1, 3, -1, 1}}, F32, ROWS(6, 126), {{0}}, NULL},
    {"64 channels", {4, {2, 64, 32, 32}}, F32, ROWS(6, 126), {{0}}, NULL},
    {"65 channels", {4, {1, 65, 32, 32}}, F32, ROWS(6, 126), {{0}}, NULL},
    {"one channel", {4, {-1, 1, 32, 64}}, F32, ROWS(6, 126), {{0}}, NULL},
};

#define NAMES2                                                                                               \
    {                                                                                                        \
        "names", "{0: 'a', 1: 'b'}"                                                                          \
    }

static const described ultralytics[] = {
    {"detect",
     PICTURE,
     F32,
     ROWS(6, 126),
     {{"task", "detect"}, NAMES2, {"stride", "32"}, {"imgsz", "[64, 96]"}},
     NULL},
    {"everything said",
     ANY,
     F32,
     ROWS(6, 126),
     {{"task", "detect"},
      NAMES2,
      {"description", "Ultralytics YOLO12s model"},
      {"author", "A"},
      {"date", "D"},
      {"version", "V"},
      {"license", "L"},
      {"imgsz", "[64, 96]"}},
     NULL},
    {"more said",
     ANY,
     F32,
     ROWS(300, 6),
     {{"task", "detect"},
      NAMES2,
      {"docs", "here"},
      {"args", "{'nms': True}"},
      {"stride", "16"},
      {"date", ""}},
     NULL},
    {"names in any order",
     PICTURE,
     F32,
     ROWS(6, 126),
     {{"task", "detect"}, {"names", "{1: 'b', 0: 'a'}"}},
     NULL},
    {"a name twice", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, {"names", "{1: 'b', 1: 'a'}"}}, NULL},
    {"a name below", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, {"names", "{-1: 'b', 0: 'a'}"}}, NULL},
    {"a name beyond", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, {"names", "{2: 'b', 0: 'a'}"}}, NULL},
    {"a name that is none", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, {"names", "['a', 3]"}}, NULL},
    {"no names", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, {"names", ""}}, NULL},
    {"pose",
     PICTURE,
     F32,
     ROWS(12, 126),
     {{"task", "pose"},
      NAMES2,
      {"kpt_shape", "[2, 3]"},
      {"kpt_names", "{0: ['h', 't']}"},
      {"skeleton", "[[0, 1]]"}},
     NULL},
    {"pose, names in a list",
     PICTURE,
     F32,
     ROWS(10, 126),
     {{"task", "pose"},
      NAMES2,
      {"kpt_shape", "[2, 2]"},
      {"kpt_names", "['h', 't']"},
      {"skeleton", "[[1, 2]]"}},
     NULL},
    {"pose, too few names",
     PICTURE,
     F32,
     ROWS(12, 126),
     {{"task", "pose"},
      NAMES2,
      {"kpt_shape", "[2, 3]"},
      {"kpt_names", "['h']"},
      {"skeleton", "[[1, 0], [0, 0]]"}},
     NULL},
    {"pose, no points",
     PICTURE,
     F32,
     ROWS(12, 126),
     {{"task", "pose"}, NAMES2, {"kpt_shape", "[0, 3]"}},
     NULL},
    {"pose, nothing of points", PICTURE, F32, ROWS(12, 126), {{"task", "pose"}, NAMES2}, NULL},
    {"pose, chosen", PICTURE, F32, ROWS(300, 12), {{"task", "pose"}, NAMES2, {"kpt_shape", "[2, 3]"}}, NULL},
    {"turned boxes", PICTURE, F32, ROWS(7, 126), {{"task", "obb"}, NAMES2}, NULL},
    {"turned boxes, chosen", PICTURE, F32, ROWS(300, 7), {{"task", "obb"}, NAMES2}, NULL},
    {"masks", PICTURE, F32, {{3, {1, 9, 126}}, {4, {1, 3, 16, 24}}}, {{"task", "segment"}, NAMES2}, NULL},
    {"masks without masks", PICTURE, F32, ROWS(6, 126), {{"task", "segment"}, NAMES2}, NULL},
    {"masks that are no maps",
     PICTURE,
     F32,
     {{3, {1, 6, 126}}, {3, {1, 3, 16}}},
     {{"task", "segment"}, NAMES2},
     NULL},
    {"classes", PICTURE, F32, {{2, {1, 2}}}, {{"task", "classify"}, NAMES2}, NULL},
    {"classes, a stride", PICTURE, F32, {{2, {1, 2}}}, {{"task", "classify"}, NAMES2, {"stride", "7"}}, NULL},
    {"classes as rows", PICTURE, F32, ROWS(6, 126), {{"task", "classify"}, NAMES2}, NULL},
    {"a head nobody knows",
     PICTURE,
     F32,
     ROWS(300, 6),
     {{"task", "detect"}, NAMES2, {"head", "RTDETRDecoder"}},
     NULL},
    {"no picture", {3, {3, 64, 96}}, F32, ROWS(6, 126), {{"task", "detect"}, NAMES2}, NULL},
    {"another task", PICTURE, F32, ROWS(6, 126), {{"task", "juggle"}, NAMES2}, NULL},
    {"a task alone", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}}, NULL},
    {"sizes of 65536",
     ANY,
     F32,
     ROWS(6, 126),
     {{"task", "detect"}, NAMES2, {"imgsz", "[65536, 65536]"}},
     NULL},
    {"a size of 65537", ANY, F32, ROWS(6, 126), {{"task", "detect"}, NAMES2, {"imgsz", "[32, 65537]"}}, NULL},
    {"a size of one", ANY, F32, ROWS(6, 126), {{"task", "detect"}, NAMES2, {"imgsz", "[1, 1]"}}, NULL},
    {"stride 1", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, NAMES2, {"stride", "1"}}, NULL},
    {"stride 4096", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, NAMES2, {"stride", "4096"}}, NULL},
    {"stride 4097", PICTURE, F32, ROWS(6, 126), {{"task", "detect"}, NAMES2, {"stride", "4097"}}, NULL},
};

#define PEAKS                                                                                                \
    {                                                                                                        \
        {                                                                                                    \
            2,                                                                                               \
            {                                                                                                \
                1, 2                                                                                         \
            }                                                                                                \
        }                                                                                                    \
    }
#define POINTS "\"node_names\": [\"A\", \"B\"]"

static const described beside[] = {
    {"single", ANY, SK_DTYPE_U8, PEAKS, {{0}}, "{\"model_type\": \"single_instance\", " POINTS "}"},
    {"centroid",
     ANY,
     SK_DTYPE_U8,
     PEAKS,
     {{0}},
     "{\"model_type\": \"centroid\", " POINTS ", \"anchor_part\": \"B\"}"},
    {"crops",
     ANY,
     SK_DTYPE_U8,
     PEAKS,
     {{0}},
     "{\"model_type\": \"centered_instance\", \"crop_size\": [48, 80], \"output_stride\": 2.5, " POINTS "}"},
    {"crops of a fixed size",
     PICTURE,
     SK_DTYPE_U8,
     PEAKS,
     {{0}},
     "{\"model_type\": \"centered_instance\", \"crop_size\": [48, 80], " POINTS "}"},
    {"whole frames",
     ANY,
     SK_DTYPE_U8,
     PEAKS,
     {{0}},
     "{\"model_type\": \"topdown\", \"crop_size\": [48, 80]}"},
    {"bottom up",
     ANY,
     F32,
     {{2, {1, 2}}, {3, {1, 2, 3}}},
     {{0}},
     "{\"model_type\": \"bottomup\", " POINTS ", \"edge_inds\": [[0, 1], [1, 0]], \"output_stride\": 4, "
     "\"sleap_nn_version\": \"1\", \"export_timestamp\": \"2\", \"model_name\": \"3\", \"backbone\": \"4\", "
     "\"precision\": \"5\", \"normalization\": \"6\", \"checkpoint_path\": \"7\"}"},
    {"classes, bottom up",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"multi_class_bottomup\", \"class_names\": [\"f\", null, \"m\"]}"},
    {"classes, top down", ANY, F32, PEAKS, {{0}}, "{\"model_type\": \"multi_class_topdown\"}"},
    {"classes, both", ANY, F32, PEAKS, {{0}}, "{\"model_type\": \"multi_class_topdown_combined\"}"},
    {"an edge beyond",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"bottomup\", " POINTS ", \"edge_inds\": [[0, 2]]}"},
    {"an edge below",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"bottomup\", " POINTS ", \"edge_inds\": [[-1, 1]]}"},
    {"half an edge",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"bottomup\", " POINTS ", \"edge_inds\": [[0]]}"},
    {"the largest crop",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"centered_instance\", \"crop_size\": [65536, 65536]}"},
    {"a crop too large",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"centered_instance\", \"crop_size\": [65537, 1]}"},
    {"half a crop", ANY, F32, PEAKS, {{0}}, "{\"model_type\": \"centered_instance\", \"crop_size\": [64]}"},
    {"no crop below",
     ANY,
     F32,
     PEAKS,
     {{0}},
     "{\"model_type\": \"centered_instance\", \"crop_size\": [-1, 64]}"},
    {"another kind", ANY, F32, PEAKS, {{0}}, "{\"model_type\": \"juggling\"}"},
    {"no kind", ANY, F32, PEAKS, {{0}}, "{}"},
    {"no description", ANY, F32, PEAKS, {{0}}, "{"},
};

static void tell_all(const described *all, size_t count, const char *file)
{
    sk_text told = {0};
    for (size_t i = 0; i < count; i++)
        tell_described(&told, &all[i]);
    test_text_is(file, sk_text_get(&told));
    sk_text_free(&told);
}

#define TEST(name)                                                                                           \
    static void name##_are_understood(void **state)                                                          \
    {                                                                                                        \
        (void)state;                                                                                         \
        tell_all(name, sizeof name / sizeof *name, "tests/models/whole/described_" #name ".txt");            \
    }

TEST(guesses)
TEST(ultralytics)
TEST(beside)

/* Up to 99999 classes are guessed. */
static void as_many_classes(void **state)
{
    (void)state;
    for (int64_t n = 99999; n <= 100000; n++)
        for (int boxes = 0; boxes < 2; boxes++) {
            sk_error err = {0};
            sk_model *model = NULL;
            described d = {"many", PICTURE, F32, {{2, {1, n}}}, {{0}}, NULL};
            if (boxes)
                d.out[0] = (sk_shape){3, {1, 378, n}};
            assert_ok(read_described(&d, &model, &err), &err);
            /* of 378 rows with so many numbers each, others are rows that stand the other way round */
            assert_int_equal(model->n_classes, n == 99999 ? n - (boxes ? 5 : 0) : boxes ? 374 : 0);
            sk_model_close(&model);
        }
}

/* Our own description must fit the network. */
static void own_descriptions(void **state)
{
    (void)state;
    static const struct {
        sk_shape in, out[2];
        sk_dtype type;
        const char *words;
    } cases[] = {
        {PICTURE, ROWS(6, 126), F32, ""},
        {PICTURE,
         {{3, {1, 6, 126}}, {1, {1}}},
         F32,
         "f: its skitter metadata name 1 outputs, the network has 2; export"},
        {{4, {1, 4, 64, 96}},
         ROWS(6, 126),
         F32,
         "f: its skitter metadata do not fit the network's input; export"},
        {{3, {1, 3, 64}},
         ROWS(6, 126),
         F32,
         "f: its skitter metadata do not fit the network's input; export"},
        {PICTURE, ROWS(6, 126), SK_DTYPE_U8, ""},
    };
    const described whole = {"whole", PICTURE, SK_DTYPE_U8, ROWS(6, 126), {{0}}, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL, *again = NULL;
        char *json = NULL;
        assert_ok(read_described(&whole, &model, &err), &err);
        assert_ok(sk_model_to_json(model, &json, &err), &err);
        described d = {"own", cases[i].in, cases[i].type, {{0}}, {{"skitter", json}}, NULL};
        memcpy(d.out, cases[i].out, sizeof d.out);
        const sk_status status = read_described(&d, &again, &err);
        if (status != (*cases[i].words ? SK_ERR_MISMATCH : SK_OK) || !strstr(err.message, cases[i].words))
            fail_msg("case %zu: %d, '%s'", i, status, err.message);
        if (status == SK_OK) /* what was written for bytes and takes numbers now, takes numbers */
            assert_int_equal(again->input.dtype, cases[i].type);
        sk_free(json);
        sk_model_close(&again);
        sk_model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_are_understood), cmocka_unit_test(ultralytics_are_understood),
        cmocka_unit_test(beside_are_understood),  cmocka_unit_test(as_many_classes),
        cmocka_unit_test(own_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
