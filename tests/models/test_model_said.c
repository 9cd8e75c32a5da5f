/* SPDX-License-Identifier: Apache-2.0 */
/* What a model says of itself, in its file and to whoever opened it: sizes that contradict each other, names and skeletons, strides, files
 * that are told by their first bytes, and what finds animals without a network. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "models/model.h"
#include "models/model_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;

static sk_model *open_fixture(const yolo_fixture *fixture)
{
    sk_model *model = NULL;
    assert_ok(sk_model_open(yolo_save(fixture, "said.pt"), &model, &err), &err);
    return model;
}

static sk_model whole; /* a copy of an opened one; one field of it is another */

static void is_refused(const char *why)
{
    err = (sk_error){0};
    const sk_status status = sk_model_check(&whole, &err);
    if (why ? status != SK_ERR_MISMATCH || !strstr(err.message, why) : status != SK_OK)
        fail_msg("'%s' and not '%s'", err.message, why ? why : "taken");
}

#define TRY(field, value, why)                                                                               \
    do {                                                                                                     \
        const sk_model kept_ = whole;                                                                        \
        whole.field = (value);                                                                               \
        is_refused(why);                                                                                     \
        whole = kept_;                                                                                       \
    } while (0)

static void contradictions_are_refused(void **state)
{
    (void)state;
    static const int32_t edge[][2] = {{0, 2}}, below[][2] = {{-1, 0}}, beyond[][2] = {{0, 3}};
    sk_model *model = open_fixture(&(yolo_fixture){.head = "Pose"});
    whole = *model;
    is_refused(NULL);
    TRY(n_classes, -1, "classes and their names (-1 and 0)");
    TRY(class_names, NULL, "classes and their names (2 and 0)");
    TRY(n_keypoints, -1, "the number of keypoints (-1 and 0)");
    TRY(input.channels, 0, "the size of its input");
    TRY(input.channels, 1, NULL);
    TRY(input.channels, 64, NULL);
    TRY(input.channels, 65, "the size of its input");
    TRY(input.height, -1, "the size of its input (-1 and 128)");
    TRY(input.width, -1, "the size of its input (128 and -1)");
    TRY(input.height, 0, NULL);
    TRY(input.width, 0, NULL);
    TRY(input.stride, -1, "the size of its input");
    TRY(input.stride, 0, NULL);
    TRY(input.fixed_batch, -1, "the size of its input");
    TRY(input.fixed_batch, 1, NULL);
    TRY(n_edges, -1, "a skeleton's edge");
    TRY(n_edges, 1, "a skeleton's edge");
    TRY(sleap.n_edges, 1, "an edge of the part affinity fields");
    whole.n_edges = whole.sleap.n_edges = 1;
    whole.edges = whole.sleap.edges = edge;
    is_refused(NULL);
    TRY(edges, below, "a skeleton's edge and the number of keypoints (-1 and 3)");
    TRY(edges, beyond, "a skeleton's edge and the number of keypoints (3 and 3)");
    TRY(sleap.edges, beyond, "an edge of the part affinity fields and the number of keypoints (3 and 3)");
    TRY(n_outputs, -1, "the number of outputs and the most there may be");
    TRY(n_outputs, (int32_t)(sizeof whole.outputs / sizeof *whole.outputs) + 1, "the most there may be");
    TRY(n_outputs, whole.graph->n_outputs + 1, "the number of outputs (2 and 1)");
    TRY(outputs[0].name, NULL, "the names of outputs (0 and 1)");
    TRY(yolo.n_levels, -1, "its levels and heads");
    TRY(yolo.n_levels, SK_MAX_LEVELS + 1, "its levels and heads");
    TRY(yolo.n_heads, -1, "its levels and heads");
    TRY(yolo.n_heads, (int32_t)(sizeof whole.yolo.heads / sizeof *whole.yolo.heads), NULL);
    TRY(yolo.n_heads, (int32_t)(sizeof whole.yolo.heads / sizeof *whole.yolo.heads) + 1,
        "its levels and heads");
    TRY(yolo.reg_max, -1, "its rows and masks");
    TRY(yolo.reg_max, 1024, NULL);
    TRY(yolo.reg_max, 1025, "its rows and masks");
    TRY(yolo.max_det, -1, "its rows and masks (-1 and");
    TRY(yolo.n_masks, -1, "and -1)");
    TRY(yolo.n_classes, 1, "the number of classes (1 and 2)");
    TRY(yolo.n_keypoints, 2, "the number of keypoints (2 and 3)");
    TRY(yolo.keypoint_dims, 1, "keypoints and their numbers (3 and 1)");
    TRY(yolo.keypoint_dims, 2, NULL);
    TRY(yolo.keypoint_dims, 4, "keypoints and their numbers (3 and 4)");
    TRY(yolo.stride[0], 0, "a level and its stride (0 and 0)");
    TRY(yolo.stride[0], 4096, NULL);
    TRY(yolo.stride[0], 4097, "a level and its stride (0 and 1)");
    TRY(yolo.stride[0], NAN, "a level and its stride (0 and 0)");
    TRY(task, SK_TASK_DETECT, NULL);
    whole.task = SK_TASK_DETECT; /* then nobody asks for keypoints */
    TRY(yolo.n_keypoints, 0, NULL);
    TRY(yolo.keypoint_dims, 0, NULL);
    whole.path = NULL;
    TRY(n_classes, -1, "the model: contradicts itself");
    whole.family = SK_FAMILY_SLEAP;
    TRY(yolo.n_classes, 1, NULL);
    sk_model_close(&model);
}

/* COCO's persons are known by their points; files of them name none. */
static void persons_have_names_and_bones(void **state)
{
    (void)state;
    static const int bones[19]
                          [2] = {{16, 14}, {14, 12}, {17, 15}, {15, 13}, {12, 13}, {6, 12}, {7, 13},
                                 {6, 7},   {6, 8},   {7, 9},   {8, 10},  {9, 11},  {2, 3},  {1, 2},
                                 {1, 3},   {2, 4},   {3, 5},   {4, 6},   {5, 7}}; /* as COCO counts them */
    sk_model *model = open_fixture(&(yolo_fixture){.head = "Pose", .only_class = "person", .keypoints = 17});
    assert_int_equal(sk_model_keypoint_count(model), 17);
    assert_string_equal(sk_model_keypoint_name(model, 0), "nose");
    assert_string_equal(sk_model_keypoint_name(model, 5), "left_shoulder");
    assert_string_equal(sk_model_keypoint_name(model, 16), "right_ankle");
    assert_int_equal(model->n_edges, 19);
    for (int i = 0; i < 19; i++)
        assert_true(model->edges[i][0] == bones[i][0] - 1 && model->edges[i][1] == bones[i][1] - 1);
    sk_model_close(&model);
    static const yolo_fixture others[] = {
        {.head = "Pose", .only_class = "people", .keypoints = 17},
        {.head = "Pose", .only_class = "person", .keypoints = 16},
        {.head = "Pose", .only_class = "person", .keypoints = 17, .dims = 2},
        {.head = "Pose", .keypoints = 17},
        {.head = "Pose", .keypoints = 1},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        model = open_fixture(&others[i]);
        assert_int_equal(model->n_keypoints, others[i].keypoints);
        assert_int_equal(model->yolo.keypoint_dims, others[i].dims ? others[i].dims : 3);
        assert_null(model->keypoint_names);
        assert_string_equal(sk_model_keypoint_name(model, 0), "");
        assert_true(model->n_edges == 0 && !model->edges);
        sk_model_close(&model);
    }
}

static void names_and_skeletons_of_files(void **state)
{
    (void)state;
    static const int64_t good[][2] = {{0, 1}, {2, 1}}, low[][2] = {{0, 1}, {-1, 1}}, high[][2] = {{0, 3}};
    static const struct {
        const int64_t (*skeleton)[2];
        int count, edges;
    } cases[] = {{good, 2, 2}, {good, 1, 1}, {good, 0, 0}, {low, 2, 0}, {high, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int by_class = 0; by_class < 2; by_class++) {
            sk_model *model = open_fixture(&(yolo_fixture){.head = "Pose",
                                                           .named_keypoints = true,
                                                           .plain_dicts = by_class,
                                                           .skeleton = cases[i].skeleton,
                                                           .n_skeleton = cases[i].count});
            assert_string_equal(sk_model_keypoint_name(model, 0), "a");
            assert_string_equal(sk_model_keypoint_name(model, 2), "c");
            assert_string_equal(sk_model_keypoint_name(model, 3), "");
            assert_string_equal(sk_model_keypoint_name(model, -1), "");
            assert_int_equal(model->n_edges, cases[i].edges);
            for (int k = 0; k < cases[i].edges; k++)
                assert_true(model->edges[k][0] == good[k][0] && model->edges[k][1] == good[k][1]);
            sk_model_close(&model);
        }
}

static void strides_of_heads(void **state)
{
    (void)state;
    static const struct {
        float says;
        int32_t stride, side; /* 0: refused */
    } cases[] = {{1, 32, 128}, {64, 64, 128}, {1024, 1024, 1024}, {1025, 0, 0},    {0.5f, 0, 0},
                 {-2, 0, 0},   {NAN, 0, 0},   {33, 33, 132},      {INFINITY, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = NULL;
        const char *path = yolo_save(&(yolo_fixture){.stride = cases[i].says}, "stride.pt");
        const sk_status status = sk_model_open(path, &model, &err);
        assert_int_equal(status, cases[i].stride ? SK_OK : SK_ERR_FORMAT);
        if (cases[i].stride) {
            assert_int_equal(model->input.stride, cases[i].stride);
            assert_int_equal(model->input.height, cases[i].side);
            assert_true(model->yolo.stride[0] == cases[i].says);
        } else if (isfinite(cases[i].says)) {
            assert_non_null(strstr(err.message, "level 0 has stride"));
        }
        sk_model_close(&model);
    }
}

static void bins_of_heads(void **state)
{
    (void)state;
    for (int bins = 63; bins <= 65; bins++) {
        sk_model *model = NULL;
        const sk_status status =
            sk_model_open(yolo_save(&(yolo_fixture){.reg_max = bins}, "bins.pt"), &model, &err);
        assert_int_equal(status, bins <= 64 ? SK_OK : SK_ERR_UNSUPPORTED);
        if (status == SK_OK)
            assert_int_equal(model->yolo.reg_max, bins);
        else
            assert_non_null(strstr(err.message, "a head with 1 levels, 2 classes, 65 distance bins"));
        sk_model_close(&model);
    }
}

static void open_bytes(const char *bytes, size_t length, const char *name, const char *part)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    for (int memory = 0; memory < 2; memory++) {
        sk_model *model = NULL;
        const sk_status status = memory
                                     ? sk_model_open_bytes(bytes, length, name, SK_HEADS_AUTO, &model, &err)
                                     : sk_model_open(path, &model, &err);
        assert_int_not_equal(status, SK_OK);
        assert_null(model);
        if (!strstr(err.message, part))
            fail_msg("%s: no '%s' in: %s", name, part, err.message);
    }
}

/* A file is what it begins with; its name helps where that says nothing. */
static void files_are_told_by_their_first_bytes(void **state)
{
    (void)state;
    open_bytes("PK\3\4....", 8, "a.onnx", "zip");
    open_bytes("PK\3\5....", 8, "a.onnx", "ONNX");
    open_bytes("PK\3", 3, "a.onnx", "ONNX");
    open_bytes("\x08\x08xyz", 5, "a.pt", "ONNX");
    open_bytes("\x08\x20xyz", 5, "a.pt", "ONNX");
    sk_model *model = NULL;
    assert_int_equal(sk_model_open_bytes("\x08\x21xyz", 5, "a.pt", SK_HEADS_AUTO, &model, &err),
                     SK_ERR_FORMAT);
    assert_null(strstr(err.message, "ONNX"));
    assert_int_equal(sk_model_open_bytes("\x08\x00xyz", 5, "a.pt", SK_HEADS_AUTO, &model, &err),
                     SK_ERR_FORMAT);
    assert_null(strstr(err.message, "ONNX"));
    assert_int_equal(sk_model_open_bytes(NULL, 5, "a.pt", SK_HEADS_AUTO, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_open_bytes("x", 1, "a.pt", (sk_heads)(SK_HEADS_ONE_TO_ONE + 1), &model, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_model_open_bytes("x", 1, "a.pt", (sk_heads)-1, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_open_bytes("x", 1, "a.pt", SK_HEADS_AUTO, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_open_heads(NULL, SK_HEADS_AUTO, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_open_heads("a.pt", (sk_heads)-1, &model, &err), SK_ERR_ARG);
    for (int named = 0; named < 2; named++) {
        assert_int_not_equal(sk_model_open_bytes("", 0, named ? "" : NULL, SK_HEADS_AUTO, &model, &err),
                             SK_OK);
        assert_non_null(strstr(err.message, "model in memory"));
    }
}

static void finders_without_a_network(void **state)
{
    (void)state;
    static const char *const names[] = {"mouse", NULL, "fly"};
    sk_model *model = NULL, *other = NULL;
    for (int oriented = 0; oriented < 2; oriented++) {
        assert_ok(sk_model_of_given("boxes.csv", "abc", 3, names, oriented, &model, &err), &err);
        assert_int_equal(model->task, oriented ? SK_TASK_OBB : SK_TASK_DETECT);
        assert_int_equal(model->family, SK_FAMILY_GIVEN);
        assert_string_equal(model->path, "boxes.csv");
        assert_string_equal(model->architecture, "given");
        assert_int_equal(sk_model_class_count(model), 3);
        assert_string_equal(sk_model_class_name(model, 0), "mouse");
        assert_string_equal(sk_model_class_name(model, 1), "");
        assert_string_equal(sk_model_class_name(model, 2), "fly");
        assert_true(model->in_memory && model->input.rgb && model->input.channels == 3 &&
                    model->input.height == 640 && model->input.width == 640 && model->input.stride == 1);
        assert_string_equal(model->content_hash,
                            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_true(sk_model_held_alone(model));
        other = sk_model_hold(model);
        assert_ptr_equal(other, model);
        assert_false(sk_model_held_alone(model));
        sk_model_close(&other);
        assert_true(sk_model_held_alone(model));
        sk_model_close(&model);
    }
    assert_ok(sk_model_of_given("none", "", 0, NULL, false, &model, &err), &err);
    assert_int_equal(sk_model_class_count(model), 0);
    sk_model_close(&model);
    assert_int_equal(sk_model_of_given(NULL, "a", 0, NULL, false, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_of_given("a", NULL, 0, NULL, false, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_of_given("a", "a", -1, names, false, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_of_given("a", "a", 1, NULL, false, &model, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_of_given("a", "a", 0, NULL, false, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_model_class_count(NULL) + sk_model_keypoint_count(NULL), 0);
    assert_string_equal(sk_model_class_name(NULL, 0), "");
    assert_string_equal(sk_model_keypoint_name(NULL, 0), "");
    assert_int_equal(sk_model_task(NULL), SK_TASK_UNKNOWN);
}

/* --- layers of several results --- */

static const sk_node *find_node(const sk_graph *g, sk_op op, sk_value in, size_t from)
{
    for (size_t i = from; i < g->n_nodes; i++)
        if (g->nodes[i].op == op && (in == SK_VALUE_NONE || g->nodes[i].in[0] == in))
            return &g->nodes[i];
    return NULL;
}

#define LINEAR "CBLinear{conv:Conv2d(8,16,1,1,1,1) c2s=(8,8)}"

/* One of several results of a layer is taken by its number, or some are brought to a size and added up, as YOLOv9's are. */
static void several_results_of_a_layer(void **state)
{
    (void)state;
    for (int index = 0; index < 2; index++) {
        char words[32];
        snprintf(words, sizeof words, "Index{index=%d}", index);
        sk_model *model =
            open_fixture(&(yolo_fixture){.block = LINEAR, .next_block = words, .next_more = "i=3 f=2"});
        const sk_node *split = find_node(model->graph, SK_OP_SPLIT, SK_VALUE_NONE, 0);
        assert_non_null(split);
        assert_non_null(find_node(model->graph, SK_OP_RESIZE, split->out[index], 0)); /* the upsampling */
        assert_null(find_node(model->graph, SK_OP_RESIZE, split->out[1 - index], 0));
        sk_model_close(&model);
    }
    static const struct {
        const char *words, *more;
        int parts[2]; /* of the layer before; -1: none */
    } fuses[] = {{"CBFuse{idx=(1)}", "i=3 f=(2,1)", {1, -1}},
                 {"CBFuse{idx=(0)}", "i=3 f=(2,1)", {0, -1}},
                 {"CBFuse{idx=(1,0)}", "i=3 f=(2,2,1)", {1, 0}}};
    for (size_t i = 0; i < sizeof fuses / sizeof *fuses; i++) {
        sk_model *model = open_fixture(
            &(yolo_fixture){.block = LINEAR, .next_block = fuses[i].words, .next_more = fuses[i].more});
        const sk_graph *g = model->graph;
        const sk_node *split = find_node(g, SK_OP_SPLIT, SK_VALUE_NONE, 0),
                      *shape = find_node(g, SK_OP_SHAPE, SK_VALUE_NONE, 0);
        assert_true(split && shape);
        const sk_node *first = find_node(g, SK_OP_RESIZE, split->out[fuses[i].parts[0]], 0);
        assert_non_null(first);
        sk_value sum = first->out[0];
        if (fuses[i].parts[1] >= 0) {
            const sk_node *second = find_node(g, SK_OP_RESIZE, split->out[fuses[i].parts[1]], 0),
                          *both = find_node(g, SK_OP_BINARY, sum, 0);
            assert_true(second && both && both->in[1] == second->out[0]);
            sum = both->out[0];
        }
        const sk_node *all = find_node(g, SK_OP_BINARY, sum, 0);
        assert_true(all && all->a.binary.kind == SK_BINARY_ADD &&
                    all->in[1] == shape->in[0]); /* the last one */
        sk_model_close(&model);
    }
    static const struct {
        const char *block, *words, *more, *why;
    } bad[] = {{LINEAR, "Index{index=2}", "i=3 f=2", "index 2 of 2 values"},
               {LINEAR, "Index{index=-1}", "i=3 f=2", "index -1 of 2 values"},
               {LINEAR, "CBFuse{idx=(2)}", "i=3 f=(2,1)", "its indices do not fit the layers it fuses"},
               {LINEAR, "CBFuse{idx=(-1)}", "i=3 f=(2,1)", "its indices do not fit the layers it fuses"},
               {LINEAR, "CBFuse{idx=(1)}", "i=3 f=(2,2,1)", "its indices do not fit the layers it fuses"},
               {"CBLinear{conv:Conv2d(8,16,1,1,1,1)}", "Index{index=0}", "i=3 f=2",
                "its widths are missing or more than 16"},
               {"CBLinear{conv:Conv2d(8,16,1,1,1,1) c2s=(16,0)}", "Index{index=0}", "i=3 f=2",
                "its widths are broken"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_model *model = NULL;
        const yolo_fixture f = {.block = bad[i].block, .next_block = bad[i].words, .next_more = bad[i].more};
        assert_int_equal(sk_model_open(yolo_save(&f, "several.pt"), &model, &err), SK_ERR_FORMAT);
        if (!strstr(err.message, bad[i].why))
            fail_msg("case %zu: %s", i, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(persons_have_names_and_bones),
        cmocka_unit_test(names_and_skeletons_of_files),
        cmocka_unit_test(strides_of_heads),
        cmocka_unit_test(bins_of_heads),
        cmocka_unit_test(files_are_told_by_their_first_bytes),
        cmocka_unit_test(finders_without_a_network),
        cmocka_unit_test(several_results_of_a_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
