/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include "base/file.h"
#include "base/memory.h"
#include "models/onnx_export.h"
#include "support/torch_writer.h"

#include <stdio.h>

/* Models from bytes in memory: every kind that skitter/model.h names is the model that the file or folder is. */

static char *load(const char *path, size_t *length)
{
    sk_error err = {0};
    char *bytes = NULL;
    assert_ok(sk_file_read(path, 64 << 20, &bytes, length, &err), &err);
    return bytes;
}

/* Everything found in a frame of stripes and noise, as numbers. */
static size_t poses_of(sk_pipeline *p, float *out, size_t capacity)
{
    sk_error err = {0};
    const sk_result *r = NULL;
    lent *l = make_lent(3, 96, 64);
    assert_ok(sk_pipeline_run(p, &l->frame, &r, &err), &err);
    const sk_instances *found = r->instances;
    size_t n = 0;
    for (int32_t i = 0; i < sk_instances_count(found); i++) {
        sk_instance one = SK_INSTANCE_INIT;
        assert_true(sk_instances_get(found, i, &one));
        if (n < capacity)
            out[n++] = one.score;
        const sk_keypoint *points = sk_instances_keypoints(found, i);
        for (int32_t k = 0; points && k < sk_instances_keypoint_count(found); k++)
            for (int v = 0; v < 2 && n < capacity; v++)
                out[n++] = v ? points[k].y : points[k].x;
    }
    sk_pipeline_close(&p);
    free_lent(l);
    return n;
}

static void same_as_the_file(const char *path, const void *bytes, size_t length,
                             const sk_pipeline_settings *s)
{
    enum { MOST = 20000 };
    static float want[MOST], got[MOST];
    sk_error err = {0};
    sk_pipeline *by_path = NULL, *by_bytes = NULL;
    sk_model *model = NULL;
    unsigned char *copy = malloc(length);
    memcpy(copy, bytes, length);
    assert_ok(sk_model_open_bytes(copy, length, "a name", SK_HEADS_AUTO, &model, &err), &err);
    memset(copy, 0x5a, length); /* the caller's again */
    free(copy);
    const sk_model *list = model;
    assert_ok(sk_pipeline_open_models(&list, 1, s, &by_bytes, &err), &err);
    sk_model_close(&model);
    assert_ok(sk_pipeline_open(&path, 1, s, &by_path, &err), &err);
    assert_int_equal(sk_pipeline_about(by_bytes)->models[0]->task,
                     sk_pipeline_about(by_path)->models[0]->task);
    const size_t n = poses_of(by_path, want, MOST);
    assert_true(n > 0);
    assert_int_equal(poses_of(by_bytes, got, MOST), n);
    assert_memory_equal(want, got, n * sizeof *want);
    for (size_t cut = 0; cut < 8; cut++) { /* a part of it is refused, or says that it is a part */
        if (sk_model_open_bytes(bytes, length * cut / 8, "half a file", SK_HEADS_AUTO, &model, &err) !=
            SK_OK) {
            assert_null(model);
            assert_non_null(strstr(err.message, "half a file"));
        }
        sk_model_close(&model);
    }
}

static void a_checkpoint(void **state)
{
    (void)state;
    const sk_pipeline_settings s = tiny_settings();
    size_t length;
    char *bytes = load(tiny_path(), &length);
    same_as_the_file(tiny_path(), bytes, length, &s);
    sk_free(bytes);
}

static void an_onnx_file(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    char path[600];
    snprintf(path, sizeof path, "%s/tiny.onnx", test_folder());
    sk_onnx_settings how = sk_onnx_defaults();
    how.height = how.width = 32;
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    assert_ok(sk_model_export_onnx(model, &how, path, &err), &err);
    sk_model_close(&model);
    const sk_pipeline_settings s = tiny_settings();
    size_t length;
    char *bytes = load(path, &length);
    same_as_the_file(path, bytes, length, &s);
    sk_free(bytes);
}

static void a_zipped_sleap_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"best.ckpt", "training_config.yaml"};
    sk_pipeline_settings s = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&s);
    s.threads = 1;
    s.peak_threshold = 0.001f; /* noise shows no animals */
    s.quick_open = true;
    char folder[600];
    snprintf(folder, sizeof folder, "%s", test_source("share/models/demo-bottomup"));
    for (int deflate = 0; deflate < 2; deflate++) {
        tw_zip zip = {.deflate = deflate};
        for (int i = 0; i < 2; i++) {
            char path[700], inside[100];
            snprintf(path, sizeof path, "%s/%s", folder, names[i]);
            snprintf(inside, sizeof inside, "%s%s", deflate ? "my model/" : "", names[i]);
            size_t length;
            char *bytes = load(path, &length);
            tw_zip_add(&zip, inside, bytes, length);
            sk_free(bytes);
        }
        tw_zip_finish(&zip);
        same_as_the_file(folder, zip.out.bytes, zip.out.length, &s);
        tw_zip_free(&zip);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_checkpoint), cmocka_unit_test(an_onnx_file),
                                       cmocka_unit_test(a_zipped_sleap_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
