/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "graph/reference.h"
#include "models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_model *open_fixture(const yolo_fixture *fixture)
{
    sk_error err;
    sk_model *model;
    assert_ok(sk_model_open(yolo_save(fixture, "tiny.pt"), &model, &err), &err);
    return model;
}

/* Runs the model on a fixed picture of 32x16; the caller frees the outputs. */
static int run(const sk_model *model, bool cut, sk_tensor *outs, int room)
{
    sk_error err;
    sk_graph *graph;
    float image[3 * 32 * 16];
    for (int i = 0; i < 3 * 32 * 16; i++)
        image[i] = (float)((i * 37) % 101) / 101.0f;
    sk_tensor in = {SK_DTYPE_F32, sk_shape_of(4, 1, 3, 32, 16), image};
    assert_ok(sk_graph_specialise(model->graph, &in.shape, 1, &graph, &err), &err);
    if (cut)
        assert_ok(sk_graph_cut_tail(graph, &err), &err);
    int n = graph->n_outputs;
    assert_true(n <= room);
    assert_ok(sk_reference_run(graph, &in, 1, outs, n, &err), &err);
    sk_graph_close(&graph);
    return n;
}

static void free_outputs(sk_tensor *outs, int n)
{
    for (int i = 0; i < n; i++)
        sk_free(outs[i].data);
}

static void meta(void **state)
{
    (void)state;
    sk_model *model = open_fixture(&(yolo_fixture){.head = "Pose"});
    assert_int_equal(model->task, SK_TASK_POSE);
    assert_string_equal(sk_task_name(sk_model_task(model)), "pose");
    assert_int_equal(model->format, SK_FORMAT_ULTRALYTICS);
    assert_string_equal(model->architecture, "yolov8");
    assert_int_equal(sk_model_class_count(model), 2);
    assert_string_equal(sk_model_class_name(model, 1), "fly");
    assert_string_equal(sk_model_class_name(model, 2), "");
    assert_int_equal(sk_model_keypoint_count(model), 3);
    assert_string_equal(sk_model_keypoint_name(model, 0), "");
    assert_int_equal(model->input.height, 128); /* 100, upwards to the stride */
    assert_int_equal(model->input.stride, 32);
    assert_int_equal(strlen(model->content_hash), 64);
    const char *version = NULL, *epochs = NULL;
    for (int i = 0; i < model->n_facts; i++) {
        version = strcmp(model->facts[i][0], "version") == 0 ? model->facts[i][1] : version;
        epochs = strcmp(model->facts[i][0], "train.epochs") == 0 ? model->facts[i][1] : epochs;
    }
    assert_string_equal(version, "8.3.63");
    assert_string_equal(epochs, "5");
    sk_model_close(&model);
    model = open_fixture(&(yolo_fixture){.head = "Classify"});
    assert_int_equal(model->input.height, 128); /* of classifiers, too */
    assert_int_equal(model->input.stride, 32);
    sk_model_close(&model);
}

/* Every way the same network can be written gives the same numbers. */
static void forms_agree(void **state)
{
    (void)state;
    const yolo_fixture forms[] = {
        {.f32 = true},
        {.f32 = true, .flat_paths = true, .in_ema = true},
        {.f32 = true, .plain_dicts = true, .bare = true},
        {.f32 = true, .model_class = "YOLOv10DetectionModel", .model_module = "ultralytics.yolo.nn"},
    };
    sk_tensor first, out;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        sk_model *model = open_fixture(&forms[i]);
        assert_int_equal(run(model, false, i ? &out : &first, 1), 1);
        if (i) {
            assert_true(sk_shape_equal(&first.shape, &out.shape));
            assert_memory_equal(first.data, out.data, sk_tensor_bytes(&out));
            sk_free(out.data);
        }
        sk_model_close(&model);
    }
    sk_free(first.data);
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* The tail against the same decode written out by hand on the raw maps, which also pins down the order of heads. */
static void check_tail(const char *head, int reg_max)
{
    sk_model *model = open_fixture(&(yolo_fixture){.head = head, .reg_max = reg_max});
    const sk_yolo_spec *spec = &model->yolo;
    sk_tensor raw[8], outs[2];
    int n_raw = run(model, true, raw, 8), n_out = run(model, false, outs, 2);
    assert_int_equal(n_raw, spec->n_heads);
    assert_int_equal(spec->heads[0].kind, SK_HEAD_BOX);
    assert_int_equal(spec->heads[1].kind, SK_HEAD_CLASS);
    int h = 16, w = 8, anchors = h * w;
    assert_int_equal(raw[0].shape.dim[1], 4 * spec->reg_max);
    assert_int_equal(raw[0].shape.dim[2] * raw[0].shape.dim[3], anchors);
    const float *box = raw[0].data, *score = raw[1].data, *extra = n_raw > 2 ? raw[2].data : NULL,
                *out = outs[0].data;
    assert_false(spec->end2end);
    for (int a = 0; a < anchors; a++) {
        float distance[4];
        for (int side = 0; side < 4; side++) {
            float sum = 0, mean = 0;
            for (int bin = 0; bin < spec->reg_max; bin++) {
                float e = expf(box[(side * spec->reg_max + bin) * anchors + a]);
                sum += e;
                mean += e * (float)bin;
            }
            distance[side] = spec->reg_max > 1 ? mean / sum : box[side * anchors + a];
        }
        float ax = (float)(a % w) + 0.5f, ay = (float)(a / w) + 0.5f, s = 2, angle = 0;
        float cx = ax + (distance[2] - distance[0]) / 2, cy = ay + (distance[3] - distance[1]) / 2;
        if (model->task == SK_TASK_OBB) {
            angle = (sigmoid(extra[a]) - 0.25f) * (float)M_PI;
            float dx = cx - ax, dy = cy - ay;
            cx = ax + dx * cosf(angle) - dy * sinf(angle);
            cy = ay + dx * sinf(angle) + dy * cosf(angle);
            assert_float_equal(out[6 * anchors + a], angle, 1e-5f);
        }
        assert_float_equal(out[0 * anchors + a], cx * s, 1e-4f);
        assert_float_equal(out[1 * anchors + a], cy * s, 1e-4f);
        assert_float_equal(out[2 * anchors + a], (distance[0] + distance[2]) * s, 1e-4f);
        assert_float_equal(out[3 * anchors + a], (distance[1] + distance[3]) * s, 1e-4f);
        assert_float_equal(out[4 * anchors + a], sigmoid(score[a]), 1e-6f);
        assert_float_equal(out[5 * anchors + a], sigmoid(score[anchors + a]), 1e-6f);
        if (model->task == SK_TASK_POSE) {
            assert_float_equal(out[6 * anchors + a], (2 * extra[a] + ax - 0.5f) * s, 1e-4f);
            assert_float_equal(out[10 * anchors + a], (2 * extra[4 * anchors + a] + ay - 0.5f) * s, 1e-4f);
            assert_float_equal(out[14 * anchors + a], sigmoid(extra[8 * anchors + a]), 1e-6f);
        }
        if (model->task == SK_TASK_SEGMENT)
            assert_float_equal(out[10 * anchors + a], extra[4 * anchors + a], 1e-6f);
    }
    if (model->task == SK_TASK_SEGMENT) {
        assert_int_equal(n_out, 2);
        assert_int_equal(model->outputs[1].kind, SK_OUTPUT_YOLO_PROTO);
        assert_int_equal(spec->heads[3].kind, SK_HEAD_PROTO);
        assert_int_equal(outs[1].shape.dim[2], 32);
        assert_memory_equal(outs[1].data, raw[3].data, sk_tensor_bytes(&outs[1]));
    }
    free_outputs(raw, n_raw);
    free_outputs(outs, n_out);
    sk_model_close(&model);
}

static void tails(void **state)
{
    (void)state;
    check_tail("Detect", 4);
    check_tail("Detect", 1);
    check_tail("Pose", 4);
    check_tail("OBB", 4);
    check_tail("Segment", 4);
}

/* Two copies of the heads: those that need suppression unless the others are asked for, whatever the file says; and what
 * is not there is refused. */
static void choice_of_heads(void **state)
{
    (void)state;
    static const char *const twice[] = {"v10Detect", "Pose26", "OBB26"};
    sk_error err;
    sk_model *model = NULL;
    for (int i = 0; i < 3; i++) {
        const char *path = yolo_save(&(yolo_fixture){.head = twice[i], .reg_max = i ? 1 : 4}, "twice.pt");
        for (sk_heads heads = SK_HEADS_AUTO; heads <= SK_HEADS_ONE_TO_ONE; heads++) {
            assert_ok(sk_model_open_heads(path, heads, &model, &err), &err);
            assert_int_equal(model->yolo.end2end, heads == SK_HEADS_ONE_TO_ONE);
            assert_int_equal(model->outputs[0].kind,
                             heads == SK_HEADS_ONE_TO_ONE ? SK_OUTPUT_YOLO_END2END : SK_OUTPUT_YOLO);
            sk_model_close(&model);
        }
    }
    const char *path = yolo_save(&(yolo_fixture){.head = "Pose"}, "once.pt");
    assert_int_equal(sk_model_open_heads(path, SK_HEADS_ONE_TO_ONE, &model, &err), SK_ERR_UNSUPPORTED);
    assert_null(model);
    assert_non_null(strstr(err.message, "no one-to-one heads"));
    assert_ok(sk_model_open_heads(path, SK_HEADS_ONE_TO_MANY, &model, &err), &err);
    sk_model_close(&model);
}

/* End-to-end rows: sorted by score, each equal to what its anchor and class give before the selection. */
static void end2end(void **state)
{
    (void)state;
    static const char *const heads[] = {"v10Detect", "Pose26", "OBB26"};
    for (int i = 0; i < 3; i++) {
        sk_error err;
        sk_model *model = NULL;
        const yolo_fixture fixture = {.head = heads[i], .reg_max = i ? 1 : 4};
        assert_ok(sk_model_open_heads(yolo_save(&fixture, "tiny.pt"), SK_HEADS_ONE_TO_ONE, &model, &err),
                  &err);
        sk_tensor out, raw[4];
        assert_true(model->yolo.end2end);
        assert_int_equal(model->outputs[0].kind, SK_OUTPUT_YOLO_END2END);
        assert_int_equal(run(model, false, &out, 1), 1);
        int n_raw = run(model, true, raw, 4), width = (int)out.shape.dim[2];
        assert_int_equal(out.shape.dim[1], 128); /* fewer anchors than 300 */
        assert_int_equal(width, i == 0 ? 6 : i == 1 ? 15 : 7);
        const float *rows = out.data, *score = raw[1].data;
        float best = -1;
        for (int a = 0; a < 2 * 128; a++)
            best = score[a] > best || a == 0 ? score[a] : best;
        assert_float_equal(rows[4], sigmoid(best), 1e-6f);
        for (int r = 1; r < 128; r++)
            assert_true(rows[r * width + 4] <= rows[(r - 1) * width + 4]);
        for (int r = 0; r < 128; r++)
            assert_true(rows[r * width + 5] == 0 || rows[r * width + 5] == 1);
        free_outputs(raw, n_raw);
        sk_free(out.data);
        sk_model_close(&model);
    }
}

static void refuse(const yolo_fixture *fixture, sk_status expected, const char *part)
{
    sk_error err = {0};
    sk_model *model = (sk_model *)1;
    const char *path = yolo_save(fixture, "broken.pt");
    int64_t live = sk_memory_live_bytes();
    sk_status status = sk_model_open(path, &model, &err);
    if (status != expected || !strstr(err.message, part) || !strstr(err.message, "broken.pt"))
        fail_msg("expected '%s' (%d), got '%s' (%d)", part, expected, err.message, status);
    assert_null(model);
    assert_true(sk_memory_live_bytes() == live);
}

static void broken_models(void **state)
{
    (void)state;
    refuse(&(yolo_fixture){.nan_at = "model.2.cv1.conv"}, SK_ERR_FORMAT, "tensor 'model.2.cv1.weight' holds");
    refuse(&(yolo_fixture){.nan_at = "model.0.bn", .f32 = true}, SK_ERR_FORMAT, "not finite");
    refuse(&(yolo_fixture){.nan_at = "model.6.cv3.0.1"}, SK_ERR_FORMAT, "model.6.cv3.0.1.weight");
    refuse(&(yolo_fixture){.bad_shape_at = "model.1.conv"}, SK_ERR_MISMATCH, "layer 1 (Conv)");
    refuse(&(yolo_fixture){.bad_shape_at = "model.6.cv2.0.1"}, SK_ERR_MISMATCH, "model.6.cv2.0.1");
    refuse(&(yolo_fixture){.drop = "model.2.cv2"}, SK_ERR_FORMAT, "part 'cv2' is missing");
    refuse(&(yolo_fixture){.drop = "model.3.m"}, SK_ERR_FORMAT, "layer 3 (SPPF)");
    refuse(&(yolo_fixture){.drop = "model.0.act"}, SK_ERR_FORMAT, "'act' is missing");
    refuse(&(yolo_fixture){.drop = "model.0.conv"}, SK_ERR_UNSUPPORTED, "a Conv2d was expected");
    refuse(&(yolo_fixture){.drop = "model.6.cv3"}, SK_ERR_MISMATCH, "'cv3'");
    refuse(&(yolo_fixture){.drop = "model.6.dfl"}, SK_ERR_FORMAT, "dfl.conv");
    refuse(&(yolo_fixture){.drop = "model"}, SK_ERR_UNSUPPORTED, "is not known");
    refuse(&(yolo_fixture){.rename = "model.2.m.0"}, SK_ERR_UNSUPPORTED, "layer 2 (C2f), at model.2.m.0");
    refuse(&(yolo_fixture){.rename = "model.2.m.0"}, SK_ERR_UNSUPPORTED,
           "ultralytics.nn.modules.block.Mystery");
    refuse(&(yolo_fixture){.rename = "model.6"}, SK_ERR_UNSUPPORTED, "layer 6 is a head of class");
    refuse(&(yolo_fixture){.rename = "model.0.act"}, SK_ERR_UNSUPPORTED, "activation 'Mystery'");
    refuse(&(yolo_fixture){.drop = "model.1"}, SK_ERR_FORMAT, "layer");
    refuse(&(yolo_fixture){.model_module = "models.yolo", .model_class = "Model"}, SK_ERR_UNSUPPORTED,
           "original YOLOv5");
    refuse(&(yolo_fixture){.model_module = "evil", .model_class = "Model"}, SK_ERR_UNSUPPORTED, "evil.Model");
}

/* A module that contains itself: the depth limit ends the walk. */
static void recursive_model(void **state)
{
    (void)state;
    tw_pickle p = {0};
    tw_zip zip = {0};
    yolo_write(&(yolo_fixture){0}, &p);
    /* Take the fixture apart at its first Conv: easier to write the cycle by hand. */
    tw_pickle_free(&p);
    tw_start(&p);
    tw_object_begin(&p, "ultralytics.nn.tasks", "DetectionModel");
    tw_text(&p, "_modules");
    tw_dict_begin(&p);
    tw_text(&p, "model");
    tw_object_begin(&p, "torch.nn.modules.container", "Sequential");
    tw_text(&p, "_modules");
    tw_dict_begin(&p);
    tw_text(&p, "0");
    tw_global(&p, "torch.nn.modules.container", "Sequential");
    tw_bytes(&p.out, ")\x81", 2);
    uint32_t self = tw_memoize(&p);
    tw_dict_begin(&p);
    tw_text(&p, "_modules");
    tw_dict_begin(&p);
    for (int i = 0; i < 3; i++) {
        tw_int(&p, i);
        tw_get(&p, self);
    }
    tw_dict_end(&p);
    tw_object_end(&p);
    tw_text(&p, "1");
    tw_object_begin(&p, "ultralytics.nn.modules.head", "Detect");
    tw_text(&p, "nc");
    tw_int(&p, 1);
    tw_object_end(&p);
    tw_dict_end(&p);
    tw_object_end(&p);
    tw_dict_end(&p);
    tw_object_end(&p);
    tw_stop(&p);
    tw_checkpoint(&zip, "best", &p);
    sk_error err = {0};
    sk_model *model;
    assert_int_equal(sk_model_open(tw_save(&zip, "cycle.pt"), &model, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "nested deeper"));
    tw_zip_free(&zip);
    tw_pickle_free(&p);
}

static void write_bytes(const char *name, const void *bytes, size_t length, char *path, size_t room)
{
    snprintf(path, room, "%s/%s", test_folder(), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void foreign_paths(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model;
    char path[4096];
    assert_int_equal(sk_model_open(test_missing("best.pt"), &model, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_model_open(test_folder(), &model, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "training_config"));
    write_bytes("net.engine", "ftrt", 4, path, sizeof path);
    assert_int_equal(sk_model_open(path, &model, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "TensorRT"));
    const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 6000000\n";
    write_bytes("pointer.pt", lfs, sizeof lfs - 1, path, sizeof path);
    assert_int_equal(sk_model_open(path, &model, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "git lfs pull"));
    write_bytes("empty.pt", "", 0, path, sizeof path);
    assert_int_equal(sk_model_open(path, &model, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "empty"));
    /* an attack: nothing is run, and the message says what it would have been */
    tw_zip zip = {0};
    static const char attack[] = "cposix\nsystem\nX\x04\0\0\0true\x85R.";
    tw_zip_add(&zip, "x/data.pkl", attack, sizeof attack - 1);
    tw_zip_finish(&zip);
    assert_int_equal(sk_model_open(tw_save(&zip, "attack.pt"), &model, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "posix.system"));
    tw_zip_free(&zip);
}

/* A download that broke off still tells what it is. */
static void truncated(void **state)
{
    (void)state;
    tw_pickle p = {0};
    tw_zip zip = {0};
    yolo_write(&(yolo_fixture){.head = "Pose"}, &p);
    tw_checkpoint(&zip, "best", &p);
    zip.out.length -= 2000;
    sk_error err;
    sk_model *model;
    assert_ok(sk_model_open(tw_save(&zip, "cut.pt"), &model, &err), &err);
    assert_true(model->truncated);
    assert_null(model->graph);
    assert_int_equal(model->task, SK_TASK_POSE);
    assert_string_equal(sk_model_class_name(model, 0), "mouse");
    assert_int_equal(model->input.height, 128); /* 100, upwards to the stride, as of one that is whole */
    assert_string_equal(model->facts[model->n_facts - 1][0], "damage");
    assert_non_null(strstr(model->facts[model->n_facts - 1][1], "zip directory missing; file truncated at"));
    sk_model_close(&model);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    const char *path = yolo_save(&(yolo_fixture){.head = "Pose"}, "tiny.pt");
    int64_t live = sk_memory_live_bytes();
    bool finished = false;
    int failures = 0;
    for (uint64_t n = 1; n < 5000 && !finished; n++) {
        sk_error err;
        sk_model *model;
        sk_memory_fail_nth(n);
        sk_status status = sk_model_open(path, &model, &err);
        sk_memory_fail_nth(0);
        failures += status != SK_OK;
        finished = status == SK_OK && n > 500;
        sk_model_close(&model);
        assert_true(sk_memory_live_bytes() == live);
    }
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meta),
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(tails),
        cmocka_unit_test(choice_of_heads),
        cmocka_unit_test(end2end),
        cmocka_unit_test(broken_models),
        cmocka_unit_test(recursive_model),
        cmocka_unit_test(foreign_paths),
        cmocka_unit_test(truncated),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
