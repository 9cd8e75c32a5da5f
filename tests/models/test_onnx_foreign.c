/* SPDX-License-Identifier: Apache-2.0 */
/* Files that other programs wrote: what they say of themselves, and what is guessed. */
#include "onnx_model_fixture.h"

/* --- Ultralytics' metadata --- */

typedef struct change {
    const char *key, *value; /* value null: removed */
} change;

static int open_size; /* whether the file takes frames of every size */

/* Our export without our own key and with changes, opened. */
static sk_status open_changed(sk_model *from, const change *changes, int n, sk_model **out, sk_error *err)
{
    sk_onnx_settings s = sk_onnx_defaults();
    s.dynamic_size = open_size;
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    const char *path = in_folder("changed.onnx");
    const char *kept[40][2];
    int32_t count = 0;
    sk_error ignored;
    assert_ok(sk_model_to_onnx(from, &s, &onnx, &ignored), &ignored);
    for (int32_t i = 0; i < onnx->n_metadata; i++) {
        const char *key = onnx->metadata[i][0], *value = onnx->metadata[i][1];
        for (int c = 0; c < n; c++)
            if (strcmp(changes[c].key, key) == 0)
                value = changes[c].value;
        if (strcmp(key, SK_ONNX_OWN_KEY) == 0 || !value)
            continue;
        kept[count][0] = key;
        kept[count++][1] = value;
    }
    onnx->metadata = kept;
    onnx->n_metadata = count;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &ignored), &ignored);
    assert_ok(sk_file_replace(path, bytes, length, &ignored), &ignored);
    sk_free(bytes);
    sk_onnx_close(&onnx);
    return sk_model_open(path, out, err);
}

static void reads_ultralytics_metadata(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    change described = {"description", "Ultralytics YOLOv8n-pose model trained on flies"};
    assert_ok(open_changed(model, &described, 1, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_POSE);
    assert_string_equal(again->architecture, "yolov8");
    compare_names(again->class_names, classes, 2);
    compare_names(again->keypoint_names, parts, 2);
    assert_int_equal(again->n_edges, 1);
    assert_memory_equal(again->edges, edges, sizeof edges);
    assert_int_equal(again->yolo.keypoint_dims, 2);
    assert_int_equal(again->outputs[0].kind, SK_OUTPUT_YOLO);
    assert_int_equal(again->yolo.n_levels, 3);
    assert_true(again->yolo.stride[2] == 32);
    assert_true(again->yolo.reg_max >= 1); /* what the decoder asks for */
    assert_int_equal(again->input.height, 64);
    assert_int_equal(again->input.width, 96);
    assert_int_equal(again->input.fixed_size, 1);
    assert_int_equal(again->input.stride, 32);
    compare_results(model, again, 1, 64, 96, 1e-5);
    sk_model_close(&again);
    sk_model_close(&model);
}

static void explains_bad_metadata(void **state)
{
    (void)state;
    static const struct {
        change change;
        sk_status status;
        const char *says;
    } cases[] = {
        {{"names", "{0: 'fly', 1: "}, SK_ERR_FORMAT, "names"},
        {{"names", "{0: 'fly', 7: 'mouse'}"}, SK_ERR_FORMAT, "names"},
        {{"names", "{0: 'fly', 0.5: 'mouse'}"}, SK_ERR_FORMAT, "names"},
        {{"names", "{}"}, SK_ERR_FORMAT, "names"},
        {{"names", "{0: 'a', 1: 'b', 2: 'c'}"}, SK_ERR_MISMATCH, "does not fit"},
        {{"kpt_shape", "[3, 3]"}, SK_ERR_MISMATCH, "does not fit"},
        {{"kpt_shape", "[3]"}, SK_ERR_FORMAT, "kpt_shape"},
        {{"kpt_shape", NULL}, SK_ERR_FORMAT, "kpt_shape"},
        {{"imgsz", "[0, 64]"}, SK_ERR_FORMAT, "imgsz"},
        {{"imgsz", "[64, 0]"}, SK_ERR_FORMAT, "imgsz"},
        {{"imgsz", "[64]"}, SK_ERR_FORMAT, "imgsz"},
        {{"imgsz", "[65537, 64]"}, SK_ERR_FORMAT, "imgsz"},
        {{"imgsz", "[64, 65537]"}, SK_ERR_FORMAT, "imgsz"},
        {{"stride", "many"}, SK_ERR_FORMAT, "stride"},
        {{"stride", "0"}, SK_ERR_FORMAT, "stride"},
        {{"stride", "4097"}, SK_ERR_FORMAT, "stride"},
        {{"task", "juggle"}, SK_ERR_UNSUPPORTED, "juggle"},
    };
    sk_model *model = make_yolo(), *again = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        assert_int_equal(open_changed(model, &cases[i].change, 1, &again, &err), cases[i].status);
        assert_null(again);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "changed.onnx"))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].says);
    }
    sk_model_close(&model);
}

/* The size that is told counts where the file's own does not say it. */
static void sizes_that_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *imgsz;
        int open, height, width;
    } cases[] = {{"[128, 160]", 1, 128, 160},   {"[128, 160]", 0, 64, 96},     {NULL, 0, 64, 96},
                 {"[65536, 64]", 1, 65536, 64}, {"[64, 65536]", 1, 64, 65536}, {"[65536, 65536]", 0, 64, 96}};
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const change told = {"imgsz", cases[i].imgsz};
        open_size = cases[i].open;
        assert_ok(open_changed(model, &told, 1, &again, &err), &err);
        assert_int_equal(again->input.height, cases[i].height);
        assert_int_equal(again->input.width, cases[i].width);
        assert_int_equal(again->input.fixed_size, !cases[i].open);
        assert_int_equal(again->input.stride, 32);
        sk_model_close(&again);
    }
    open_size = 0;
    sk_model_close(&model);
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return "";
}

/* RT-DETR's rows look like end-to-end ones and mean something else. */
static void does_not_decode_unknown_heads(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    change described = {"description", "Ultralytics rtdetr-l model"};
    assert_ok(open_changed(model, &described, 1, &again, &err), &err);
    assert_int_equal(again->outputs[0].kind, SK_OUTPUT_OTHER);
    assert_string_not_equal(fact(again, "undecoded"), "");
    sk_model_close(&again);
    sk_model_close(&model);
}

static void guesses_and_says_so(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    const change none[] = {{"task", NULL}, {"names", NULL}};
    assert_ok(open_changed(model, none, 2, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_DETECT);
    assert_int_equal(again->n_classes, 6);
    assert_string_equal(sk_model_class_name(again, 3), "");
    assert_non_null(strstr(fact(again, "guess"), "taken for detect"));
    sk_model_close(&again);
    sk_model_close(&model);
    model = make_sleap();
    assert_ok(open_changed(model, NULL, 0, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_UNKNOWN);
    assert_int_equal(again->outputs[1].kind, SK_OUTPUT_OTHER);
    sk_model_close(&again);
    sk_model_close(&model);
}

/* Dense rows, and behind them something whose size depends on the picture, as an exporter's suppression of overlaps. */
static bool nms_corners, nms_strange;
static void build_nms(sk_builder *b)
{
    sk_shape fixed = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &fixed), map[3], part[3], corner[2];
    for (int i = 0; i < 3; i++) {
        sk_value cells = conv(b, sk_b_max_pool(b, x, 4 << i, 4 << i, 0, "pool"), 10, 3, 2, 2, "head");
        map[i] = sk_b_reshape(b, cells, (int64_t[]){1, 10, -1}, 3);
    }
    sk_b_split(b, sk_b_concat(b, map, 3, 2), 1, (int64_t[]){4, 2, 4}, 3, part);
    sk_b_split(b, part[0], 1, NULL, 2, corner);
    sk_value low = sk_b_sub(b, sk_b_f32(b, 3), corner[0]), high = sk_b_add(b, sk_b_f32(b, 3), corner[1]);
    sk_value centre = sk_b_mul(b, sk_b_add(b, low, high), sk_b_f32(b, 0.5f)), size = sk_b_sub(b, high, low);
    sk_value corners[2] = {low, nms_strange ? low : high}, centres[2] = {centre, size};
    sk_value box = sk_b_mul(b, sk_b_concat(b, nms_corners ? corners : centres, 2, 1), sk_b_f32(b, 8));
    sk_value out[3] = {box, sk_b_unary(b, SK_UNARY_SIGMOID, part[1]), part[2]};
    sk_value rows = sk_b_transpose(b, sk_b_concat(b, out, 3, 1), (int[]){0, 2, 1}, 3);
    sk_value found = sk_b_node(b, SK_OP_NON_ZERO, NULL, &rows, 1, "found");
    sk_attrs to = {.cast = {SK_DTYPE_F32}};
    sk_value real = sk_b_node(b, SK_OP_CAST, &to, &found, 1, "real");
    sk_value sum = sk_b_reduce(b, SK_REDUCE_SUM, real, (int[]){0, 1}, 2, false);
    sk_value all = sk_b_add(b, rows, sk_b_mul(b, sum, sk_b_f32(b, 0)));
    sk_b_output(b, sk_b_reshape(b, all, (int64_t[]){1, 126, 10}, 3), "output0");
}

static void leaves_suppression_to_predict(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        sk_error err = {0};
        nms_corners = k > 0;
        nms_strange = k == 2; /* boxes made in a way nobody knows: nothing is cut off */
        sk_model *model = make_yolo(), *again = NULL, *plain = make_model(build_nms);
        sk_graph_close(&model->graph);
        model->graph = plain->graph;
        plain->graph = NULL;
        sk_model_close(&plain);
        model->input.fixed_size = 1;
        model->outputs[0].kind = SK_OUTPUT_YOLO_END2END;
        assert_ok(open_changed(model, NULL, 0, &again, &err), &err);
        assert_int_equal(again->outputs[0].kind, SK_OUTPUT_YOLO_END2END);
        assert_true(again->yolo.end2end && again->yolo.max_det == 126);
        assert_int_equal(again->yolo.nms_tail, k < 2);
        if (k < 2) {
            sk_graph *fixed = NULL;
            sk_shape shape = sk_shape_of(4, 1, 3, 64, 96);
            assert_int_equal(again->yolo.dense_corners, k);
            assert_int_equal(again->yolo.n_levels, 3);
            assert_ok(sk_graph_specialise(again->graph, &shape, 1, &fixed, &err), &err);
            assert_ok(sk_graph_cut_tail(fixed, &err), &err);
            const sk_shape *s = &fixed->values[fixed->outputs[0]].shape;
            assert_int_equal(fixed->n_outputs, 1);
            assert_true(s->rank == 3 && s->dim[1] == 10 && s->dim[2] == 126);
            sk_graph_close(&fixed);
        }
        sk_model_close(&again);
        sk_model_close(&model);
    }
}

/* The original YOLOv5: [B][A][x y w h objectness classes …], three anchors a cell. */
static void build_yolov5(sk_builder *b)
{
    sk_shape open = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &open), rows[3];
    for (int i = 0; i < 3; i++) {
        sk_value map = conv(b, sk_b_max_pool(b, x, 4 << i, 4 << i, 0, "pool"), 21, 3, 2, 2, "head");
        sk_value cells = sk_b_reshape(b, map, (int64_t[]){1, 3, 7, -1}, 4);
        rows[i] = sk_b_reshape(b, sk_b_transpose(b, cells, (int[]){0, 1, 3, 2}, 4), (int64_t[]){1, -1, 7}, 3);
    }
    sk_b_output(b, sk_b_unary(b, SK_UNARY_SIGMOID, sk_b_concat(b, rows, 3, 1)), "output");
}

static void reads_the_original_yolov5(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    sk_model *model = make_model(build_yolov5), *again = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    static const char *metadata[][2] = {{"stride", "32"}, {"names", "['fly', 'mouse']"}};
    model->n_outputs = 1;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "output", 0};
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    onnx->metadata = metadata;
    onnx->n_metadata = 2;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace(in_folder("yolov5.onnx"), bytes, length, &err), &err);
    assert_ok(sk_model_open(in_folder("yolov5.onnx"), &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_DETECT);
    assert_int_equal(again->outputs[0].kind, SK_OUTPUT_YOLO);
    assert_int_equal(again->n_classes, 2);
    assert_string_equal(sk_model_class_name(again, 1), "mouse");
    sk_shape shape = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_graph *fixed[2] = {NULL, NULL};
    sk_tensor in = {SK_DTYPE_F32, shape, sk_calloc(3 * 64 * 96, sizeof(float))}, rows, dense;
    for (int i = 0; i < 3 * 64 * 96; i++)
        ((float *)in.data)[i] = (float)(i % 251) / 250;
    assert_ok(sk_graph_specialise(model->graph, &shape, 1, &fixed[0], &err), &err);
    assert_ok(sk_graph_specialise(again->graph, &shape, 1, &fixed[1], &err), &err);
    assert_ok(sk_reference_run(fixed[0], &in, 1, &rows, 1, &err), &err);
    assert_ok(sk_reference_run(fixed[1], &in, 1, &dense, 1, &err), &err);
    int64_t n = rows.shape.dim[1];
    assert_true(sk_shape_equal(&dense.shape, &(sk_shape){3, {1, 6, n}}));
    for (int64_t i = 0; i < n; i++) {
        double objectness = sk_tensor_at(&rows, i * 7 + 4);
        for (int64_t c = 0; c < 6; c++) {
            double expected = sk_tensor_at(&rows, i * 7 + (c < 4 ? c : c + 1)) * (c < 4 ? 1 : objectness);
            assert_true(fabs(sk_tensor_at(&dense, c * n + i) - expected) < 1e-5);
        }
    }
    sk_free(in.data);
    sk_free(rows.data);
    sk_free(dense.data);
    sk_free(bytes);
    sk_graph_close(&fixed[0]);
    sk_graph_close(&fixed[1]);
    sk_onnx_close(&onnx);
    sk_model_close(&again);
    sk_model_close(&model);
}

/* --- sleap-nn's exports: a folder, uint8 in, peaks out --- */

static void build_peaks(sk_builder *b)
{
    sk_shape open = {.rank = 4, .dim = {-1, 1, -1, -1}};
    sk_value x = sk_b_input(b, "image", SK_DTYPE_U8, &open);
    sk_attrs cast = {.cast.to = SK_DTYPE_F32}, arg = {.arg = {.axis = 1}};
    sk_value f = sk_b_node(b, SK_OP_CAST, &cast, &x, 1, "cast");
    sk_value half = sk_b_max_pool(b, f, 2, 2, 0, "pool");
    /* up again and beside the input: sizes must be even */
    sk_value map = sk_b_concat(b, (sk_value[]){f, sk_b_upsample_nearest(b, half, 2)}, 2, 1);
    sk_value flat = sk_b_reshape(b, map, (int64_t[]){0, -1}, 2);
    sk_b_output(b, sk_b_node(b, SK_OP_ARG_MAX, &arg, &flat, 1, "peaks"), "peaks");
}

static void reads_sleap_export_folders(void **state)
{
    (void)state;
    static const char json[] =
        "{\"model_type\": \"bottomup\", \"n_nodes\": 2, \"node_names\": [\"A\", \"B\"], \"edge_inds\": [[0, "
        "1]], "
        "\"input_scale\": 0.5, \"crop_size\": null, \"output_stride\": 2, \"sleap_nn_version\": \"0.3.5\"}";
    sk_error err;
    sk_model *model = make_model(build_peaks), *again = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    char folder[3000], path[4096];
    snprintf(folder, sizeof folder, "%s/export", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    model->input.channels = 1;
    model->input.dtype = SK_DTYPE_U8;
    model->n_outputs = 1;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "peaks", 0};
    s.dynamic_batch = s.dynamic_size = 1;
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    onnx->n_metadata = 0;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    snprintf(path, sizeof path, "%s/export_metadata.json", folder);
    assert_ok(sk_file_replace(path, json, sizeof json - 1, &err), &err);
    assert_ok(sk_model_open(folder, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_BOTTOMUP);
    assert_int_equal(again->n_keypoints, 2);
    assert_int_equal(again->n_edges, 1);
    assert_int_equal(again->input.dtype, SK_DTYPE_U8);
    assert_true(again->input.scale == 1 && again->sleap.input_scale == 1);
    assert_int_equal(again->input.stride, 2);
    assert_string_equal(again->outputs[0].name, "peaks");
    assert_string_equal(fact(again, "sleap_nn_version"), "0.3.5");
    sk_model_close(&again);
    static const char bad[] =
        "{\"model_type\": \"bottomup\", \"node_names\": [\"A\"], \"edge_inds\": [[0, 1]]}";
    assert_ok(sk_file_replace(path, bad, sizeof bad - 1, &err), &err);
    assert_int_equal(sk_model_open(folder, &again, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "edge_inds"));
    sk_free(bytes);
    sk_onnx_close(&onnx);
    sk_model_close(&model);
}

/* --- damage --- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ultralytics_metadata),    cmocka_unit_test(explains_bad_metadata),
        cmocka_unit_test(sizes_that_are_told),           cmocka_unit_test(does_not_decode_unknown_heads),
        cmocka_unit_test(leaves_suppression_to_predict), cmocka_unit_test(guesses_and_says_so),
        cmocka_unit_test(reads_the_original_yolov5),     cmocka_unit_test(reads_sleap_export_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
