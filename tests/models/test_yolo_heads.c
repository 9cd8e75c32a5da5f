/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of YOLO on a picture itself, in words: what becomes of every kind of them, an operation a line, what is said of them beside the
 * graph, and the words they are refused with. Compared with tests/models/whole/yolo_heads.txt. */
#include "graph_words.h"
#include "pickle_words.h"

#include "models/model.h"

static sk_error err;

#define MODULES(class_name, parts) "{class: torch.nn.modules.container." class_name ", _modules: {" parts "}}"
#define CONV(out)                                                                                            \
    "{class: torch.nn.modules.conv.Conv2d, in_channels: 3, out_channels: " out                               \
    ", kernel_size: 1, stride: 1, padding: 0, _parameters: {weight: {tensor: [" out ", 3, 1, 1]}}}"
#define ONE(out) MODULES("ModuleList", "'0': " CONV(out))
#define TWO(out)                                                                                             \
    MODULES("ModuleList",                                                                                    \
            "'0': " CONV(out) ", '1': " MODULES("Sequential", "'0': " IDENTITY ", '1': " CONV(out)))
#define IDENTITY      "{class: torch.nn.modules.linear.Identity}"
#define BRANCHES(out) "cv2: " ONE("4") ", cv3: " ONE(out)
#define STRIDE        ", stride: {tensor: [1], values: [8]}"
#define DFL(bins)                                                                                            \
    "dfl: {class: ultralytics.nn.modules.block.DFL, _modules: {conv: {class: torch.nn.modules.conv.Conv2d, " \
    "_parameters: {weight: {tensor: [1, 4, 1, 1], values: [" bins "]}}}}}"
#define HEAD(class_name, parts, says) class_name, parts, says, NULL, SK_HEADS_AUTO
#define PROTO26                                                                                              \
    "proto: {class: ultralytics.nn.modules.block.Proto26, _modules: {feat_refine: " MODULES(                 \
        "ModuleList", "'0': " IDENTITY) ", feat_fuse: " CONV("3") ", cv1: " IDENTITY ", upsample: " IDENTITY \
                                                                  ", cv2: " IDENTITY                         \
                                                                  ", cv3: " CONV("5") "}}"
#define LINEAR(weight, bias)                                                                                 \
    "conv: " IDENTITY ", linear: {class: torch.nn.modules.linear.Linear, out_features: 2, _parameters: "     \
    "{weight: {tensor: " weight "}, bias: {tensor: " bias "}}}"
#define TWICE "cv2: " ONE("4") ", cv3: " ONE("2") ", one2one_cv2: " ONE("4") ", one2one_cv3: " ONE("2")

static const struct {
    const char *class_name, *parts, *says, *from; /* from: null: [0] */
    sk_heads heads;
} cases[] = {
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("Detect", "cv2: " ONE("16") ", cv3: " ONE("2") ", " DFL("0, 1, 2, 3"), "nc: 2, reg_max: 4" STRIDE)},
    {HEAD("Detect", "cv2: " ONE("16") ", cv3: " ONE("2") ", " DFL("0, 1, 2, 4"), "nc: 2, reg_max: 4" STRIDE)},
    {HEAD("Detect", "cv2: " ONE("12") ", cv3: " ONE("2") ", " DFL("0, 1, 2, 3"), "nc: 2, reg_max: 3" STRIDE)},
    {HEAD("Detect", "cv2: " ONE("16") ", cv3: " ONE("2"), "nc: 2, reg_max: 4" STRIDE)},
    {"Detect", "cv2: " TWO("4") ", cv3: " TWO("2"),
     "nc: 2, reg_max: 1, stride: {tensor: [2], values: [8, 64]}", "[0, 0]", SK_HEADS_AUTO},
    {"Detect", "cv2: " TWO("4") ", cv3: " ONE("2"),
     "nc: 2, reg_max: 1, stride: {tensor: [2], values: [8, 64]}", "[0, 0]", SK_HEADS_AUTO},
    {"Detect", "cv2: " TWO("4") ", cv3: " TWO("2"), "nc: 2, reg_max: 1" STRIDE, "[0, 0]", SK_HEADS_AUTO},
    {"Detect", "", "nc: 2, reg_max: 1" STRIDE, "[0, 0, 0, 0, 0, 0]", SK_HEADS_AUTO},
    {"Detect", "", "nc: 2, reg_max: 1, stride: {tensor: [5], values: [1, 2, 4, 8, 16]}", "[0, 0, 0, 0, 0]",
     SK_HEADS_AUTO},
    /* numbers */
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, max_det: 1" STRIDE)},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, max_det: 100000" STRIDE)},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, max_det: 100001" STRIDE)},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, max_det: 0" STRIDE)},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 0" STRIDE)},
    {HEAD("Detect", BRANCHES("2"), "nc: 2" STRIDE)},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, stride: {tensor: [1], values: [1024]}")},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, stride: {tensor: [1], values: [1]}")},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, stride: {tensor: [1], values: [0.5]}")},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, stride: {tensor: [1, 1], values: [8]}")},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1, stride: [8]")},
    {HEAD("Detect", BRANCHES("2"), "nc: 2, reg_max: 1")},
    {HEAD("Detect", "cv2: " ONE("5") ", cv3: " ONE("2"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("Detect", BRANCHES("3"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("Detect", "cv3: " ONE("2"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("Detect", "cv2: " MODULES("ModuleList", "'0': " IDENTITY) ", cv3: " ONE("2"),
          "nc: 2, reg_max: 1" STRIDE)},
    /* the other tasks */
    {HEAD("Pose", BRANCHES("2") ", cv4: " ONE("6"), "nc: 2, reg_max: 1, kpt_shape: [2, 3]" STRIDE)},
    {HEAD("Pose", BRANCHES("2") ", cv4: " ONE("4"), "nc: 2, reg_max: 1, kpt_shape: [2, 2]" STRIDE)},
    {HEAD("Pose", BRANCHES("2") ", cv4: " ONE("4"), "nc: 2, reg_max: 1, kpt_shape: [2, 3]" STRIDE)},
    {HEAD("Pose26", BRANCHES("2") ", cv4: " MODULES("ModuleList", "'0': " IDENTITY) ", cv4_kpts: " ONE("6"),
          "nc: 2, reg_max: 1, kpt_shape: [2, 3]" STRIDE)},
    {HEAD("Pose26", BRANCHES("2") ", cv4: " MODULES("ModuleList", "'0': " IDENTITY) ", cv4_kpts: " ONE("5"),
          "nc: 2, reg_max: 1, kpt_shape: [2, 3]" STRIDE)},
    {HEAD("OBB", BRANCHES("2") ", cv4: " ONE("1"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("OBB", BRANCHES("2") ", cv4: " ONE("2"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("OBB26", BRANCHES("2") ", cv4: " ONE("1"), "nc: 2, reg_max: 1" STRIDE)},
    {HEAD("Segment", BRANCHES("2") ", cv4: " ONE("5") ", proto: " CONV("5"),
          "nc: 2, reg_max: 1, nm: 5" STRIDE)},
    {HEAD("Segment", BRANCHES("2") ", cv4: " ONE("32") ", proto: " CONV("32"), "nc: 2, reg_max: 1" STRIDE)},
    {"Segment26", "cv2: " TWO("4") ", cv3: " TWO("2") ", cv4: " TWO("5") ", " PROTO26,
     "nc: 2, reg_max: 1, nm: 5, stride: {tensor: [2], values: [8, 16]}", "[0, 0]", SK_HEADS_AUTO},
    {HEAD("Segment26", BRANCHES("2") ", cv4: " ONE("5") ", proto: " CONV("5"),
          "nc: 2, reg_max: 1, nm: 5" STRIDE)},
    /* both copies of heads */
    {"v10Detect", TWICE, "nc: 2, reg_max: 1" STRIDE, NULL, SK_HEADS_AUTO},
    {"v10Detect", TWICE, "nc: 2, reg_max: 1, max_det: 77" STRIDE, NULL, SK_HEADS_ONE_TO_ONE},
    {"OBB26", TWICE ", cv4: " ONE("1") ", one2one_cv4: " ONE("1"), "nc: 2, reg_max: 1" STRIDE, NULL,
     SK_HEADS_ONE_TO_ONE},
    {"OBB26", TWICE ", cv4: " ONE("1"), "nc: 2, reg_max: 1" STRIDE, NULL, SK_HEADS_ONE_TO_ONE},
    {"v10Detect", "one2one_cv2: " ONE("4") ", one2one_cv3: " ONE("2"), "nc: 2, reg_max: 1" STRIDE, NULL,
     SK_HEADS_AUTO},
    /* what a whole frame shows */
    {HEAD("Classify", LINEAR("[2, 3]", "[2]"), "")},
    {"Classify", LINEAR("[2, 6]", "[2]"), "", "[0, 0]", SK_HEADS_AUTO},
    {HEAD("Classify", LINEAR("[2, 3]", "[3]"), "")},
    {HEAD("Classify", LINEAR("[6]", "[2]"), "")},
    {HEAD("Classify", LINEAR("[2, 3]", "[2, 1]"), "")},
    {HEAD("Classify", LINEAR("[3, 3]", "[3]"), "")},
    {HEAD("Classify", "conv: " IDENTITY, "nc: 2")},
};

static void put_spec(const sk_model *m, sk_text *out)
{
    const sk_yolo_spec *y = &m->yolo;
    sk_text_appendf(out, "    %s by %d: %d levels by", sk_task_name(m->task), m->input.stride, y->n_levels);
    for (int i = 0; i < y->n_levels; i++)
        sk_text_appendf(out, " %g", (double)y->stride[i]);
    sk_text_appendf(
        out, ", %d bins, %d classes, %d keypoints of %d, end to end %d, at most %d, 26: %d %d, masks %d;",
        y->reg_max, y->n_classes, y->n_keypoints, y->keypoint_dims, y->end2end, y->max_det, y->keypoints_26,
        y->angle_raw, y->n_masks);
    for (int i = 0; i < y->n_heads; i++)
        sk_text_appendf(out, " %d/%d", y->heads[i].kind, y->heads[i].level);
    for (int i = 0; i < m->n_outputs; i++)
        sk_text_appendf(out, ", %s of kind %d", m->outputs[i].name, m->outputs[i].kind);
    sk_text_append(out, "\n");
}

static void put_graph(const sk_graph *g, sk_text *out)
{
    int line[2000] = {0}, next = 0;
    assert_true(g->n_values < 2000);
    for (size_t i = 0; i < g->n_nodes; i++) {
        sk_text_append(out, g->nodes[i].flags & SK_NODE_TAIL ? "  tail" : "");
        words_node(g, &g->nodes[i], line, &next, out);
    }
    for (int i = 0; i < g->n_outputs; i++) {
        sk_text_append(out, "    gives ");
        words_value(g, g->outputs[i], line, out);
        sk_text_append(out, "\n");
    }
}

static void heads(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_text yaml = {0};
        sk_model *model = NULL;
        sk_text_appendf(&yaml,
                        "{class: ultralytics.nn.tasks.DetectionModel, _modules: {model: {class: "
                        "torch.nn.modules.container.Sequential, _modules: {'0': " IDENTITY
                        ", '1': {class: ultralytics.nn.modules.head.%s, f: %s, _modules: {%s}, %s}}}}}",
                        cases[i].class_name, cases[i].from ? cases[i].from : "[0]", cases[i].parts,
                        cases[i].says);
        tw_zip zip = pickle_words(sk_text_get(&yaml));
        assert_ok(sk_model_create(&model, &err), &err);
        model->wanted_heads = cases[i].heads;
        const sk_status status =
            sk_model_read_ultralytics_memory(zip.out.bytes, zip.out.length, "best.pt", model, &err);
        sk_text_appendf(&all, "%zu: %s {%s}%s\n", i, cases[i].class_name, cases[i].says,
                        cases[i].heads == SK_HEADS_ONE_TO_ONE ? ", one to one" : "");
        if (status != SK_OK) {
            sk_text_appendf(&all, "    %d: %s\n", status, err.message);
        } else {
            put_spec(model, &all);
            put_graph(model->graph, &all);
        }
        sk_model_close(&model);
        tw_zip_free(&zip);
        sk_text_free(&yaml);
    }
    words_check(&all, "tests/models/whole/yolo_heads.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
