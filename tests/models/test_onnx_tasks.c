/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of Ultralytics of every task: what their outputs are is told by the task, the names and the shapes, and said in words where
 * these do not fit each other. */
#include "onnx_model_fixture.h"

/* As many places as pictures of 64 x 96 have at strides 8, 16 and 32. */
enum { PLACES = 8 * 12 + 4 * 6 + 2 * 3 };

static sk_shape wanted[2]; /* of the outputs; rank 0: there is none */

/* Outputs of the shapes that are wanted; what they say does not matter. */
static void build(sk_builder *b)
{
    static float zeros[16384];
    sk_shape fixed = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &fixed);
    sk_value mean = sk_b_reduce(b, SK_REDUCE_MEAN, x, (const int[]){0, 1, 2, 3}, 4, false);
    for (int i = 0; i < 2 && wanted[i].rank; i++) {
        assert_true(sk_shape_count(&wanted[i]) <= 16384);
        sk_value zero = sk_b_constant(b, i ? "one" : "none", SK_DTYPE_F32, &wanted[i], zeros);
        sk_b_output(b, sk_b_add(b, zero, mean), i ? "output1" : "output0");
    }
}

typedef const char *said[2];

static sk_status open_saying(const said *metadata, int32_t n, sk_model **out, sk_error *err)
{
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    sk_model *model = make_model(build);
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_error ignored;
    const char *path = in_folder("said.onnx");
    model->n_outputs = wanted[1].rank ? 2 : 1;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "output0", 0};
    model->outputs[1] = (sk_output_spec){SK_OUTPUT_OTHER, "output1", 0};
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &ignored), &ignored);
    onnx->metadata = (const char *(*)[2])(uintptr_t)metadata;
    onnx->n_metadata = n;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &ignored), &ignored);
    assert_ok(sk_file_replace(path, bytes, length, &ignored), &ignored);
    sk_free(bytes);
    sk_onnx_close(&onnx);
    sk_model_close(&model);
    *err = (sk_error){0};
    return sk_model_open(path, out, err);
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return "";
}

/* … of every place; the best thirty of them. */
#define ROWS(channels)                                                                                       \
    {                                                                                                        \
        3,                                                                                                   \
        {                                                                                                    \
            1, channels, PLACES                                                                              \
        }                                                                                                    \
    }
#define BEST(numbers)                                                                                        \
    {                                                                                                        \
        3,                                                                                                   \
        {                                                                                                    \
            1, 30, numbers                                                                                   \
        }                                                                                                    \
    }

static void outputs_are_told_by_their_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *task, *points;
        sk_shape shapes[2];
        sk_task is;
        int kind; /* -1: does not fit */
        int stride;
    } cases[] = {
        {"detect", NULL, {ROWS(6)}, SK_TASK_DETECT, SK_OUTPUT_YOLO, 32},
        {"detect", NULL, {ROWS(7)}, SK_TASK_DETECT, -1, 0},
        {"detect", NULL, {BEST(6)}, SK_TASK_DETECT, SK_OUTPUT_YOLO_END2END, 32},
        {"obb", NULL, {ROWS(7)}, SK_TASK_OBB, SK_OUTPUT_YOLO, 32},
        {"obb", NULL, {ROWS(6)}, SK_TASK_OBB, -1, 0},
        {"obb", NULL, {BEST(7)}, SK_TASK_OBB, SK_OUTPUT_YOLO_END2END, 32},
        {"pose", "[1, 3]", {ROWS(9)}, SK_TASK_POSE, SK_OUTPUT_YOLO, 32},
        {"pose", "[2, 2]", {ROWS(10)}, SK_TASK_POSE, SK_OUTPUT_YOLO, 32},
        {"pose", "[2, 3]", {BEST(12)}, SK_TASK_POSE, SK_OUTPUT_YOLO_END2END, 32},
        {"pose", "[2, 3]", {ROWS(11)}, SK_TASK_POSE, -1, 0},
        {"segment", NULL, {ROWS(11), {4, {1, 5, 16, 24}}}, SK_TASK_SEGMENT, SK_OUTPUT_YOLO, 32},
        {"segment", NULL, {ROWS(10), {4, {1, 5, 16, 24}}}, SK_TASK_SEGMENT, -1, 0},
        {"classify", NULL, {{2, {1, 2}}}, SK_TASK_CLASSIFY, SK_OUTPUT_CLASS_SCORES, 1},
        {"classify", NULL, {{2, {1, 3}}}, SK_TASK_CLASSIFY, -1, 0},
        {"classify", NULL, {ROWS(6)}, SK_TASK_CLASSIFY, -1, 0},
        {"detect", NULL, {{2, {1, 2}}}, SK_TASK_DETECT, -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        const said metadata[] = {{"task", cases[i].task},
                                 {"names", "{0: 'fly', 1: 'mouse'}"},
                                 {"imgsz", "[64, 96]"},
                                 {"description", "Ultralytics YOLO11n model"},
                                 {"kpt_shape", cases[i].points}};
        memcpy(wanted, cases[i].shapes, sizeof wanted);
        const sk_status status = open_saying(metadata, cases[i].points ? 5 : 4, &model, &err);
        if (status != (cases[i].kind < 0 ? SK_ERR_MISMATCH : SK_OK))
            fail_msg("case %zu: %s (%d)", i, err.message, status);
        if (cases[i].kind < 0) {
            assert_non_null(strstr(err.message, "said.onnx: 'output0' has the shape 1x"));
            assert_non_null(strstr(err.message, cases[i].task));
            assert_null(model);
            continue;
        }
        assert_int_equal(model->task, cases[i].is);
        if ((int)model->outputs[0].kind != cases[i].kind)
            fail_msg("case %zu: kind %d", i, model->outputs[0].kind);
        assert_int_equal(model->yolo.end2end, cases[i].kind == SK_OUTPUT_YOLO_END2END);
        if (model->yolo.end2end)
            assert_int_equal(model->yolo.max_det, 30);
        else if (cases[i].kind == SK_OUTPUT_YOLO)
            assert_true(model->yolo.n_levels == 3 && model->yolo.stride[0] == 8 &&
                        model->yolo.stride[2] == 32);
        assert_int_equal(model->input.stride, cases[i].stride);
        assert_int_equal(model->yolo.n_masks, cases[i].is == SK_TASK_SEGMENT ? 5 : 0);
        if (cases[i].is == SK_TASK_SEGMENT)
            assert_int_equal(model->outputs[1].kind, SK_OUTPUT_YOLO_PROTO);
        assert_true(model->n_classes == 2 && model->yolo.n_classes == 2);
        sk_model_close(&model);
    }
}

static void numbers_of_keypoints_and_strides(void **state)
{
    (void)state;
    static const struct {
        const char *points, *stride, *part;
    } cases[] = {{"[1, 1]", "32", "kpt_shape"}, {"[1, 4]", "32", "kpt_shape"},
                 {"[0, 3]", "32", "kpt_shape"}, {"[100001, 3]", "32", "kpt_shape"},
                 {"three", "32", "kpt_shape"},  {"[1, 3]", "", "stride"},
                 {"[1, 3]", "1", NULL},         {"[1, 3]", "4096", NULL}};
    wanted[0] = (sk_shape)ROWS(9);
    wanted[1] = (sk_shape){0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        const said metadata[] = {{"task", "pose"},
                                 {"names", "{0: 'fly', 1: 'mouse'}"},
                                 {"description", "Ultralytics YOLO11n-pose model"},
                                 {"kpt_shape", cases[i].points},
                                 {"stride", cases[i].stride}};
        const sk_status status = open_saying(metadata, 5, &model, &err);
        if (status != (cases[i].part ? SK_ERR_FORMAT : SK_OK) ||
            (cases[i].part && !strstr(err.message, cases[i].part)))
            fail_msg("case %zu: %s (%d)", i, err.message, status);
        if (!cases[i].part)
            assert_int_equal(model->input.stride, atoi(cases[i].stride));
        sk_model_close(&model);
    }
}

/* Bones are for drawing: those that make no sense are left out, and refuse nothing. */
static void bones_that_make_sense(void **state)
{
    (void)state;
    static const struct {
        const char *skeleton;
        int n;
    } cases[] = {{"[[0, 1]]", 1}, {"[[1, 0], [0, 1]]", 2},
                 {"[[0, 2]]", 0}, {"[[-1, 0]]", 0},
                 {"[[0]]", 0},    {"[]", 0},
                 {"{0: 1}", 0},   {"[[0, 'a']]", 0},
                 {"[[0, 1", 0},   {"[[0, 1], [0, 5]]", 0}};
    wanted[0] = (sk_shape)ROWS(12);
    wanted[1] = (sk_shape){0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        const said metadata[] = {{"task", "pose"},
                                 {"names", "{0: 'fly', 1: 'mouse'}"},
                                 {"description", "Ultralytics YOLO11n-pose model"},
                                 {"kpt_shape", "[2, 3]"},
                                 {"kpt_names", i % 2 ? "{0: ['head', 'tail']}" : "['head', 'tail']"},
                                 {"skeleton", cases[i].skeleton}};
        assert_ok(open_saying(metadata, 6, &model, &err), &err);
        if (model->n_edges != cases[i].n)
            fail_msg("%s gives %d edges", cases[i].skeleton, model->n_edges);
        if (model->n_edges)
            assert_true(model->edges[0][0] == (i == 1) && model->edges[0][1] == (i == 0));
        assert_string_equal(sk_model_keypoint_name(model, 1), "tail");
        sk_model_close(&model);
    }
}

static void heads_that_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *head, *description;
        bool known;
    } cases[] = {{"Detect", "Ultralytics YOLO11n model", true},
                 {"YOLOEDetect", "Ultralytics model", true},
                 {"RTDETRDecoder", "Ultralytics YOLO11n model", false},
                 {"Detect", "Ultralytics RTDETR model", true}, /* its own word counts */
                 {NULL, "Ultralytics RTDETR-L model", false},
                 {NULL, "Ultralytics YOLOv8n model", true}};
    wanted[0] = (sk_shape)ROWS(6);
    wanted[1] = (sk_shape){0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        const said metadata[] = {{"task", "detect"},
                                 {"names", "{0: 'fly', 1: 'mouse'}"},
                                 {"description", cases[i].description},
                                 {"args", i == 0 ? "{'nms': True}" : "{'nms': False}"},
                                 {"head", cases[i].head}};
        assert_ok(open_saying(metadata, cases[i].head ? 5 : 4, &model, &err), &err);
        if ((fact(model, "undecoded")[0] == '\0') != cases[i].known ||
            (model->outputs[0].kind == SK_OUTPUT_YOLO) != cases[i].known)
            fail_msg("case %zu: '%s', kind %d", i, fact(model, "undecoded"), model->outputs[0].kind);
        assert_string_equal(fact(model, "head"), cases[i].known  ? ""
                                                 : cases[i].head ? cases[i].head
                                                                 : "RT-DETR");
        assert_string_equal(fact(model, "nms"), i == 0 ? "inside the network: its own thresholds apply" : "");
        assert_string_equal(fact(model, "description"), cases[i].description);
        sk_model_close(&model);
    }
}

/* The name without the scale's letter and what follows it, as much of it as a name has room for. */
static void families_by_their_descriptions(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Ultralytics YOLO11n-pose model", "yolo11"},
        {"Ultralytics YOLOv8x model", "yolov8"},
        {"YOLO26", "yolo26"},
        {"Ultralytics YOLO-World model", "yolo"},
        {"Ultralytics YOLOE model", "yoloe"},
        {"somebody's own", "yolo"},
        {"YOLOabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "yoloabcdefghijklmnopqrstuvwxyza"},
        {NULL, "yolo"}};
    wanted[0] = (sk_shape)ROWS(6);
    wanted[1] = (sk_shape){0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        const said metadata[] = {{"task", "detect"},
                                 {"names", "{0: 'fly', 1: 'mouse'}"},
                                 {"stride", "32"},
                                 {"description", cases[i][0]}};
        assert_ok(open_saying(metadata, cases[i][0] ? 4 : 3, &model, &err), &err);
        assert_string_equal(model->architecture, cases[i][1]);
        sk_model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_told_by_their_shapes),
        cmocka_unit_test(numbers_of_keypoints_and_strides),
        cmocka_unit_test(bones_that_make_sense),
        cmocka_unit_test(heads_that_are_known),
        cmocka_unit_test(families_by_their_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
