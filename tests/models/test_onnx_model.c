/* SPDX-License-Identifier: Apache-2.0 */
/* Models written by this program come back as they were. */
#include "onnx_model_fixture.h"

static void compare_edges(const int32_t (*a)[2], int32_t n_a, const int32_t (*b)[2], int32_t n_b)
{
    assert_int_equal(n_a, n_b);
    if (n_a)
        assert_memory_equal(a, b, (size_t)n_a * sizeof *a);
}

static void compare_models(const sk_model *a, const sk_model *b)
{
    assert_int_equal(a->task, b->task);
    assert_string_equal(a->architecture, b->architecture);
    assert_int_equal(a->n_classes, b->n_classes);
    compare_names(a->class_names, b->class_names, a->n_classes);
    assert_int_equal(a->n_keypoints, b->n_keypoints);
    compare_names(a->keypoint_names, b->keypoint_names, a->n_keypoints);
    compare_edges(a->edges, a->n_edges, b->edges, b->n_edges);
    assert_int_equal(a->input.channels, b->input.channels);
    assert_int_equal(a->input.stride, b->input.stride);
    assert_true(a->input.scale == b->input.scale && a->input.std[1] == b->input.std[1]);
    assert_int_equal(a->input.dtype, b->input.dtype);
    assert_int_equal(a->n_outputs, b->n_outputs);
    assert_int_equal(a->outputs_nhwc, b->outputs_nhwc);
    for (int32_t i = 0; i < a->n_outputs; i++) {
        assert_int_equal(a->outputs[i].kind, b->outputs[i].kind);
        assert_string_equal(a->outputs[i].name, b->outputs[i].name);
        assert_true(a->outputs[i].stride == b->outputs[i].stride);
    }
    if (a->task < SK_TASK_SINGLE_INSTANCE) {
        assert_memory_equal(&a->yolo, &b->yolo, sizeof a->yolo);
        return;
    }
    const sk_sleap_spec *s = &a->sleap, *t = &b->sleap;
    assert_memory_equal(s->crop_size, t->crop_size, sizeof s->crop_size);
    assert_memory_equal(s->target_size, t->target_size, sizeof s->target_size);
    assert_true(s->input_scale == t->input_scale);
    assert_int_equal(s->pad_to_stride, t->pad_to_stride);
    assert_int_equal(s->ensure_rgb * 2 + s->ensure_grayscale, t->ensure_rgb * 2 + t->ensure_grayscale);
    assert_int_equal(s->legacy * 2 + s->resize_antialias, t->legacy * 2 + t->resize_antialias);
    assert_true((s->anchor_part == NULL) == (t->anchor_part == NULL));
    if (s->anchor_part)
        assert_string_equal(s->anchor_part, t->anchor_part);
    compare_edges(s->edges, s->n_edges, t->edges, t->n_edges);
    compare_names(s->class_names, t->class_names, a->n_classes);
}

static sk_model *export_and_open(const sk_model *model, const sk_onnx_settings *settings)
{
    sk_error err;
    sk_model *again = NULL;
    const char *path = in_folder("again.onnx");
    assert_ok(sk_model_export_onnx(model, settings, path, &err), &err);
    assert_ok(sk_model_open(path, &again, &err), &err);
    return again;
}

static void models_come_back(void **state)
{
    (void)state;
    sk_model *(*const makers[])(void) = {make_yolo, make_sleap};
    for (int i = 0; i < 2; i++)
        for (int variant = 0; variant < 6; variant++) {
            sk_model *model = makers[i]();
            sk_onnx_settings s = sk_onnx_defaults();
            s.dynamic_batch = variant == 1 || variant == 3;
            s.dynamic_size = variant == 2 || variant == 3;
            s.half = variant >= 4;
            s.half_io = variant == 5;
            s.batch = 2;
            sk_model *again = export_and_open(model, &s);
            compare_models(model, again);
            assert_int_equal(again->format, SK_FORMAT_ONNX);
            assert_int_equal(again->input.fixed_size, !s.dynamic_size);
            assert_int_equal(again->input.fixed_batch, s.dynamic_batch ? 0 : 2);
            assert_int_equal(strlen(again->content_hash), 64);
            compare_results(model, again, s.dynamic_batch ? 3 : 2, s.dynamic_size ? 128 : 64, 96,
                            s.half ? 2e-2 : 1e-5);
            sk_model_close(&again);
            sk_model_close(&model);
        }
}

/* The tail can still be cut off, and the heads are the ones the specification lists. */
static void the_tail_comes_back(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_model *model = make_yolo(), *again;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        s.dynamic_batch = s.dynamic_size = dynamic;
        again = export_and_open(model, &s);
        assert_ok(sk_graph_cut_tail(again->graph, &err), &err);
        assert_int_equal(again->graph->n_outputs, 9);
        sk_model_close(&again);
    }
    s.with_tail = 0;
    again = export_and_open(model, &s);
    assert_int_equal(again->n_outputs, 9);
    assert_string_equal(again->outputs[0].name, "box0");
    assert_string_equal(again->outputs[5].name, "keypoints1");
    assert_int_equal(again->outputs[8].kind, SK_OUTPUT_OTHER);
    sk_model_close(&again);
    sk_model_close(&model);
}

static void refuses_settings(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_model *model = make_yolo();
    const char *path = in_folder("never.onnx");
    s.opset = 12;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_ARG);
    s.opset = 19;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_ARG);
    s = sk_onnx_defaults();
    model->input.fixed_size = 1;
    s.dynamic_size = 1;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_UNSUPPORTED);
    model->input.fixed_size = 0;
    model->input.fixed_batch = 4;
    s = sk_onnx_defaults();
    s.batch = 2;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_UNSUPPORTED);
    assert_false(sk_file_exists(path));
    s = sk_onnx_defaults();
    assert_int_equal(sk_model_export_onnx(model, &s, "/no/such/folder/x.onnx", &err), SK_ERR_NOT_FOUND);
    sk_model_close(&model);
}

static void refuses_damaged_json(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_sleap(), *again = NULL;
    char *json = NULL;
    assert_ok(sk_model_to_json(model, &json, &err), &err);
    size_t length = strlen(json), refused = 0;
    for (size_t cut = 0; cut + 2 < length; cut += 7) {
        char *part = strndup(json, cut);
        assert_ok(sk_model_create(&again, &err), &err);
        refused += sk_model_from_json(again, part, "m.onnx", &err) != SK_OK;
        sk_model_close(&again);
        free(part);
    }
    assert_int_equal(refused, (length - 2 + 6) / 7);
    /* numbers made absurd, one at a time */
    for (size_t i = 0, n = 0; i < length; i++) {
        if (json[i] < '0' || json[i] > '9' || json[i - 1] != ':')
            continue;
        char *changed = NULL;
        assert_true(asprintf(&changed, "%.*s-99%s", (int)i, json, json + i) > 0);
        assert_ok(sk_model_create(&again, &err), &err);
        if (sk_model_from_json(again, changed, "m.onnx", &err) == SK_OK)
            n++;
        assert_true(n <= 5); /* scales and strides may be any number */
        sk_model_close(&again);
        free(changed);
    }
    sk_free(json);
    sk_model_close(&model);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    const char *path = in_folder("memory.onnx");
    int64_t before = sk_memory_live_bytes();
    size_t n = 1;
    for (;; n += 1 + n / 40) {
        sk_memory_fail_nth(n);
        sk_status status = sk_model_export_onnx(model, &s, path, &err);
        sk_memory_fail_nth(0);
        assert_int_equal(sk_memory_live_bytes(), before);
        if (status == SK_OK)
            break;
    }
    assert_true(n > 50);
    for (n = 1;; n += 1 + n / 40) {
        sk_memory_fail_nth(n);
        sk_status status = sk_model_open(path, &again, &err);
        sk_memory_fail_nth(0);
        if (status == SK_OK)
            break;
        assert_null(again);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    sk_model_close(&again);
    sk_model_close(&model);
}

/* --- people's models --- */

static int check_folder(const char *folder, const char *suffix)
{
    DIR *dir = opendir(test_data(folder));
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char relative[1024];
        sk_error err;
        sk_model *model = NULL, *again;
        sk_onnx_settings s = sk_onnx_defaults();
        if (*suffix)
            snprintf(relative, sizeof relative, "%s/%.200s/%.200s%s", folder, entry->d_name, entry->d_name,
                     suffix);
        else
            snprintf(relative, sizeof relative, "%s/%.200s", folder, entry->d_name);
        if (entry->d_name[0] == '.' ||
            (*suffix ? !sk_file_is_regular(test_data(relative)) : !sk_file_is_directory(test_data(relative))))
            continue;
        assert_ok(sk_model_open(test_data(relative), &model, &err), &err);
        s.dynamic_batch = s.dynamic_size = count % 2;
        s.height = s.width = 64;
        if (!s.dynamic_size && model->input.fixed_size)
            s.height = s.width = 0;
        if (model->input.fixed_size)
            s.dynamic_size = 0;
        again = export_and_open(model, &s);
        compare_models(model, again);
        compare_results(model, again, 1, again->input.height, again->input.width, 1e-4);
        sk_model_close(&again);
        sk_model_close(&model);
        count++;
    }
    closedir(dir);
    return count;
}

static void real_models_come_back(void **state)
{
    (void)state;
    test_data_or_skip();
    assert_true(check_folder("yolo", ".pt") >= 1);
    assert_true(check_folder("sleap/legacy", "") >= 1);
    assert_true(check_folder("sleap/nn", "") >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back),
        cmocka_unit_test(the_tail_comes_back),
        cmocka_unit_test(refuses_settings),
        cmocka_unit_test(refuses_damaged_json),
        cmocka_unit_test(survives_every_failed_allocation),
        cmocka_unit_test(real_models_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
