/* SPDX-License-Identifier: Apache-2.0 */
/* What an Ultralytics checkpoint says of itself as text, what it is refused with where its 'model' is none, and how YOLO26 makes
 * its masks. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "graph/reference.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>

static sk_model *open_fixture(const yolo_fixture *fixture)
{
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(yolo_save(fixture, "said.pt"), &model, &err), &err);
    return model;
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return NULL;
}

static void is_told(const sk_model *model, const char *key, const char *wanted)
{
    const char *told = fact(model, key);
    if (!told || !wanted ? told != wanted : strcmp(told, wanted) != 0)
        fail_msg("%s is '%s', not '%s'", key, told ? told : "not told", wanted ? wanted : "nothing");
}

static void facts_are_text(void **state)
{
    (void)state;
    sk_model *model = open_fixture(&(yolo_fixture){.epoch = 7});
    static const char *const wanted[][2] = {{"version", "8.3.63"},
                                            {"epoch", "7"},
                                            {"best_fitness", "0.625"},
                                            {"docs", "true"},
                                            {"license", "false"},
                                            {"git.branch", "main"},
                                            {"git.commit", NULL},
                                            {"git.origin", NULL},
                                            {"train.batch", "1x2x3"},
                                            {"train.imgsz", "100"},
                                            {"train.optimizer", NULL},
                                            {"train.task", NULL},
                                            {"train.data", "mice.yaml"},
                                            {"train.epochs", "5"},
                                            {"weights", "model"},
                                            {"scale", "n"},
                                            {"date", NULL},
                                            {"train.model", "1x2x3x4x5x6x7x8"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        is_told(model, wanted[i][0], wanted[i][1]);
    sk_model_close(&model);
    model = open_fixture(&(yolo_fixture){.epoch = -1, .in_ema = true}); /* training is over */
    is_told(model, "epoch", NULL);
    is_told(model, "best_fitness", "0.625");
    is_told(model, "weights", "ema");
    sk_model_close(&model);
}

/* Heads that are there once say nothing of it. */
static void heads_are_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = open_fixture(&(yolo_fixture){.head = "Pose"});
    is_told(model, "heads", NULL);
    sk_model_close(&model);
    const char *path = yolo_save(&(yolo_fixture){.head = "v10Detect"}, "twice.pt");
    for (sk_heads heads = SK_HEADS_ONE_TO_MANY; heads <= SK_HEADS_ONE_TO_ONE; heads++) {
        assert_ok(sk_model_open_heads(path, heads, &model, &err), &err);
        is_told(model, "heads",
                heads == SK_HEADS_ONE_TO_ONE ? "one-to-one (end to end, no suppression)"
                                             : "one-to-many, with suppression");
        sk_model_close(&model);
    }
    path = yolo_save(&(yolo_fixture){.head = "v10Detect", .drop = "model.6.cv2"}, "fused.pt");
    assert_ok(sk_model_open(path, &model, &err), &err); /* only one copy is left */
    assert_true(model->yolo.end2end);
    sk_model_close(&model);
}

/* Sizes go upwards to the stride, and those that make no sense are the usual ones. */
static void sizes_of_training(void **state)
{
    (void)state;
    static const int64_t cases[][2] = {{8, 32},    {7, 640},   {32, 32},       {33, 64},
                                       {640, 640}, {641, 672}, {16384, 16384}, {16385, 640}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = open_fixture(&(yolo_fixture){.imgsz = cases[i][0]});
        assert_int_equal(model->input.height, cases[i][1]);
        assert_int_equal(model->input.width, cases[i][1]);
        assert_true(model->input.channels == 3 && model->input.rgb && model->input.dtype == SK_DTYPE_F32);
        assert_float_equal(model->input.scale * 255, 1, 1e-6f);
        sk_model_close(&model);
    }
    sk_model *model = open_fixture(&(yolo_fixture){.head = "Classify", .imgsz = 7});
    assert_int_equal(model->input.height, 224);
    sk_model_close(&model);
}

/* --- files that hold something else --- */

typedef enum { OF_A_CLASS, LIGHTNING, STATE_DICT, EMPTY, WEIGHTS_ALONE } root_kind;

static void write_root(tw_pickle *p, root_kind kind)
{
    tw_start(p);
    if (kind == OF_A_CLASS) {
        tw_object_begin(p, "some.where", "Thing");
        tw_text(p, "x");
        tw_int(p, 1);
        tw_object_end(p);
    } else {
        tw_dict_begin(p);
        if (kind == LIGHTNING) {
            tw_text(p, "pytorch-lightning_version");
            tw_text(p, "2.0");
        } else if (kind == STATE_DICT || kind == WEIGHTS_ALONE) {
            const sk_shape one = {.rank = 1, .dim = {1}};
            if (kind == WEIGHTS_ALONE) {
                tw_text(p, "model");
                tw_dict_begin(p);
            }
            tw_text(p, "a.weight");
            tw_tensor(p, SK_DTYPE_F32, &one, (const float[]){1}, false);
            if (kind == WEIGHTS_ALONE)
                tw_dict_end(p);
        } else if (kind == EMPTY) {
            tw_text(p, "epoch");
            tw_int(p, 3);
        }
        tw_dict_end(p);
    }
    tw_stop(p);
}

static void other_files_are_called_what_they_are(void **state)
{
    (void)state;
    static const char *const words[] = {
        [OF_A_CLASS] = "root.pt: holds 'some.where.Thing' instead of a model checkpoint",
        [LIGHTNING] = "root.pt: a Lightning checkpoint. For a sleap-nn model give the folder",
        [STATE_DICT] = "root.pt: weights alone (a state_dict), without the network",
        [EMPTY] = "root.pt: not an Ultralytics checkpoint: there is no 'model' and no 'ema' in it",
        [WEIGHTS_ALONE] = "root.pt: its 'model' is weights alone"};
    for (root_kind kind = OF_A_CLASS; kind <= WEIGHTS_ALONE; kind++) {
        tw_pickle p = {0};
        tw_zip zip = {0};
        sk_error err = {0};
        sk_model *model = (sk_model *)&err;
        write_root(&p, kind);
        tw_checkpoint(&zip, "best", &p);
        assert_int_equal(sk_model_open(tw_save(&zip, "root.pt"), &model, &err), SK_ERR_UNSUPPORTED);
        if (!strstr(err.message, words[kind]))
            fail_msg("%s", err.message);
        assert_null(model);
        tw_zip_free(&zip);
        tw_pickle_free(&p);
    }
}

/* --- layers --- */

static void refuse(const yolo_fixture *fixture, sk_status expected, const char *part)
{
    sk_error err = {0};
    sk_model *model = NULL;
    const sk_status status = sk_model_open(yolo_save(fixture, "broken.pt"), &model, &err);
    if (status != expected || !strstr(err.message, part))
        fail_msg("expected '%s' (%d), got '%s' (%d)", part, expected, err.message, status);
    assert_null(model);
}

static void layers_read_what_lies_before_them(void **state)
{
    (void)state;
    static const struct {
        const char *more, *part; /* null: taken */
    } cases[] = {{"i=3 f=-1", NULL},
                 {"i=3 f=2", NULL},
                 {"i=3 f=1", NULL},
                 {"i=3 f=(2)", NULL},
                 {"i=3", NULL}, /* the one before */
                 {"i=3 f=3", "layer 3, which is not before it"},
                 {"i=3 f=-4", "it takes its input from layer -1, which is not before it"},
                 {"i=3 f=-5", "layer -2, which is not before it"},
                 {"i=3 f='a'", "which is not before it"},
                 {"i=3 f=(1,2)", "module class 'Conv' with 2 inputs is not known"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const yolo_fixture f = {.next_block = "Conv(8,8,1)", .next_more = cases[i].more};
        if (cases[i].part) {
            refuse(&f, strstr(cases[i].part, "2 inputs") ? SK_ERR_UNSUPPORTED : SK_ERR_FORMAT, cases[i].part);
            continue;
        }
        sk_model *model = open_fixture(&f);
        sk_model_close(&model);
    }
    refuse(&(yolo_fixture){.next_block = "Detect{}", .next_more = "i=3 f=-1"}, SK_ERR_UNSUPPORTED,
           "layer 3 (Detect), at model.3: a head that is not the last layer");
    refuse(&(yolo_fixture){.head = "Classify", .drop = "model.6.linear"}, SK_ERR_FORMAT,
           "its part 'linear' is missing");
    refuse(&(yolo_fixture){.head = "Segment", .drop = "model.6.proto"}, SK_ERR_FORMAT,
           "part 'proto' is missing");
    refuse(&(yolo_fixture){.head = "Segment26", .reg_max = 1, .drop = "model.6.proto.feat_fuse"},
           SK_ERR_FORMAT, "at model.6.proto: its part 'feat_fuse' is missing");
    refuse(&(yolo_fixture){.head = "Pose26", .reg_max = 1, .drop = "model.6.cv4_kpts"}, SK_ERR_MISMATCH,
           "level 0 of 'cv4' gives");
    refuse(&(yolo_fixture){.head = "OBB", .drop = "model.6.cv4.0"}, SK_ERR_MISMATCH,
           "level 0 of 'cv4' gives -1 channels where 1 are needed");
}

/* --- masks of YOLO26 --- */

/* Prototypes come of all levels, fused by a convolution of their own, before what YOLO11 does with the finest alone. */
static void masks_of_yolo26(void **state)
{
    (void)state;
    sk_error err = {0};
    float image[3 * 32 * 16];
    for (int i = 0; i < 3 * 32 * 16; i++)
        image[i] = (float)((i * 37) % 101) / 101.0f;
    sk_tensor in = {SK_DTYPE_F32, {.rank = 4, .dim = {1, 3, 32, 16}}, image}, outs[2];
    sk_model *model = open_fixture(&(yolo_fixture){.head = "Segment26", .reg_max = 1, .f32 = true});
    assert_int_equal(model->task, SK_TASK_SEGMENT);
    assert_int_equal(model->n_outputs, 2);
    assert_int_equal(model->outputs[1].kind, SK_OUTPUT_YOLO_PROTO);
    assert_int_equal(model->yolo.n_masks, 5);
    assert_false(model->yolo.keypoints_26 || model->yolo.angle_raw);
    int fused = 0;
    const sk_graph *g = model->graph;
    for (size_t i = 0; i < g->n_nodes; i++)
        fused += g->nodes[i].op == SK_OP_CONV &&
                 strcmp(g->values[g->nodes[i].in[1]].name, "model.6.proto.feat_fuse.weight") == 0;
    assert_int_equal(fused, 1);
    sk_graph *fixed = NULL;
    assert_ok(sk_graph_specialise(g, &in.shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, outs, 2, &err), &err);
    static const int64_t sizes[] = {1, 5, 32, 16}; /* of the finest level, 16 x 8, twice as large */
    assert_memory_equal(outs[1].shape.dim, sizes, sizeof sizes);
    assert_int_equal(outs[0].shape.dim[1], 4 + 2 + 5);
    sk_free(outs[0].data);
    sk_free(outs[1].data);
    sk_graph_close(&fixed);
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_text),
        cmocka_unit_test(heads_are_told),
        cmocka_unit_test(sizes_of_training),
        cmocka_unit_test(other_files_are_called_what_they_are),
        cmocka_unit_test(layers_read_what_lies_before_them),
        cmocka_unit_test(masks_of_yolo26),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
