/* SPDX-License-Identifier: Apache-2.0 */
/* Files that say one size twice, differently, or a size that nothing stands behind. Each was once read beyond its end,
 * or took the memory it claimed. */
#include "onnx_model_fixture.h"
#include "support/h5_writer.h"
#include "support/yolo_writer.h"

#include "engines/engine.h"
#include "formats/hdf5_file.h"
#include "formats/onnx.h"

static sk_status open_status(const char *path, sk_error *err)
{
    sk_model *model = NULL;
    sk_status status = sk_model_open(path, &model, err);
    sk_model_close(&model);
    return status;
}

/* A classify head whose weight has two rows: names are sized by one number and looked up by the other. */
static void classes_told_twice(void **state)
{
    (void)state;
    sk_error err = {0};
    assert_ok(open_status(yolo_save(&(yolo_fixture){.head = "Classify"}, "cls.pt"), &err), &err);
    const int64_t said[] = {1, 3, 1000};
    for (int i = 0; i < 3; i++) {
        const char *path = yolo_save(&(yolo_fixture){.head = "Classify", .classes_said = said[i]}, "cls.pt");
        assert_int_equal(open_status(path, &err), SK_ERR_MISMATCH);
        assert_non_null(strstr(err.message, "2 classes"));
    }
}

/* The JSON in our own exports with one piece replaced. */
static sk_status changed_metadata(sk_model *model, const char *from, const char *to, sk_error *err)
{
    sk_model *again = NULL;
    char *json = NULL, *changed = NULL;
    assert_ok(sk_model_to_json(model, &json, err), err);
    char *at = strstr(json, from);
    if (!at)
        fail_msg("'%s' is not in %s", from, json);
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - json), json, to, at + strlen(from)) > 0);
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length;
    sk_onnx_settings s = sk_onnx_defaults();
    assert_ok(sk_model_to_onnx(model, &s, &onnx, err), err);
    const char *(*pairs)[2] = sk_calloc((size_t)onnx->n_metadata, sizeof *pairs);
    for (int32_t i = 0; i < onnx->n_metadata; i++) {
        bool own = onnx->metadata[i][1][0] == '{' && strstr(onnx->metadata[i][1], "n_classes");
        pairs[i][0] = onnx->metadata[i][0];
        pairs[i][1] = own ? changed : onnx->metadata[i][1];
    }
    onnx->metadata = (void *)pairs;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, err), err);
    char path[4096];
    snprintf(path, sizeof path, "%s/changed.onnx", test_folder());
    assert_ok(sk_file_replace(path, bytes, length, err), err);
    sk_status status = sk_model_open(path, &again, err);
    sk_model_close(&again);
    sk_onnx_close(&onnx);
    sk_free(pairs);
    sk_free(bytes);
    sk_free(json);
    free(changed);
    return status;
}

static void metadata_told_twice(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *yolo = make_yolo();
    assert_ok(changed_metadata(yolo, "\"version\":", "\"version\":", &err), &err);
    static const char *const changes[][2] = {
        {"\"n_classes\":2", "\"n_classes\":3"},         {"\"n_keypoints\":2", "\"n_keypoints\":40"},
        {"\"keypoint_dims\":2", "\"keypoint_dims\":0"}, {"\"classes\":2", "\"classes\":1000"},
        {"\"channels\":3", "\"channels\":1"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        sk_status status = changed_metadata(yolo, changes[i][0], changes[i][1], &err);
        if (status != SK_ERR_MISMATCH && status != SK_ERR_FORMAT)
            fail_msg("%s: %s", changes[i][1], sk_status_text(status));
    }
    sk_model_close(&yolo);
}

/* Our own metadata with a number of classes and no names at all. */
static void names_missing(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = make_yolo(), *again = NULL;
    char *json = NULL;
    assert_ok(sk_model_to_json(model, &json, &err), &err);
    char *list = strstr(json, "\"classes\":["), *end = list ? strchr(list, ']') : NULL;
    assert_non_null(end);
    memmove(list + strlen("\"classes\":["), end, strlen(end) + 1);
    assert_ok(sk_model_create(&again, &err), &err);
    assert_int_equal(sk_model_from_json(again, json, "m.onnx", &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "'classes'"));
    sk_model_close(&again);
    sk_model_close(&model);
    sk_free(json);
}

static void build_einsum(sk_builder *b)
{
    sk_value x = sk_b_input(b, "x", SK_DTYPE_F32, &(sk_shape){.rank = 4, .dim = {-1, 3, -1, -1}});
    sk_attrs same = {.einsum = {"bchw,bchw->bchw"}};
    sk_value in[2] = {x, x};
    sk_b_output(b, sk_b_node(b, SK_OP_EINSUM, &same, in, 2, "einsum"), "y");
}

/* The equation lay in the graph, which is gone when the bytes are made. */
static void exported_texts_outlive_the_graph(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = make_model(build_einsum);
    sk_onnx_model *onnx = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    model->n_outputs = 1;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "y", 0};
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    void *blocks[64]; /* what was freed is written over */
    for (int i = 0; i < 64; i++) {
        blocks[i] = sk_malloc((size_t)64 << (i % 12));
        memset(blocks[i], 'Z', (size_t)64 << (i % 12));
    }
    const char *equation = NULL;
    for (int32_t i = 0; i < onnx->graph.n_nodes; i++)
        if (strcmp(onnx->graph.nodes[i].op, "Einsum") == 0)
            equation = onnx->graph.nodes[i].attrs[0].s;
    assert_non_null(equation);
    assert_string_equal(equation, "bchw,bchw->bchw");
    for (int i = 0; i < 64; i++)
        sk_free(blocks[i]);
    sk_onnx_close(&onnx);
    sk_model_close(&model);
}

/* Gigabytes of zeros that were never written, in a file of some kilobytes; and one dataset under many names. */
static void datasets_without_data(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    sk_blob *blob = NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/hollow.h5", test_folder());
    h5_writer w = h5_create(path);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "part%d", i);
        h5_put_hollow(&w, name, 2, (const int64_t[]){1 << 12, 7 << 10}); /* 112 MiB each */
    }
    h5_put_hollow(&w, "whole", 2, (const int64_t[]){1 << 13, 1 << 14}); /* 512 MiB */
    h5_finish(&w);
    assert_true(sk_file_size(path) < 100000);
    unsetenv("SKITTER_MEMORY_LIMIT");
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_int_equal(sk_hdf5_dataset_read(file, "whole", SK_DTYPE_F32, (size_t)1 << 30, &blob, NULL, &err),
                     SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "SKITTER_MEMORY_LIMIT=1G"));
    sk_hdf5_close(&file);
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    int read = 0;
    for (; read < 4; read++) {
        char name[16];
        snprintf(name, sizeof name, "part%d", read);
        sk_status status = sk_hdf5_dataset_read(file, name, SK_DTYPE_F32, (size_t)1 << 30, &blob, NULL, &err);
        sk_blob_unref(&blob);
        if (status != SK_OK) {
            assert_int_equal(status, SK_ERR_LIMIT);
            break;
        }
    }
    assert_int_equal(read, 2); /* 224 MiB of the 256 that so small a file may ask for */
    sk_hdf5_close(&file);
    setenv("SKITTER_MEMORY_LIMIT", "600M", 1);
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "whole", SK_DTYPE_F32, (size_t)1 << 30, &blob, NULL, &err), &err);
    sk_blob_unref(&blob);
    sk_hdf5_close(&file);
    unsetenv("SKITTER_MEMORY_LIMIT");
}

static sk_status open_session(const sk_model *model, int64_t batch, int64_t h, int64_t w, sk_error *err)
{
    sk_session *session = NULL;
    sk_shape shape = sk_shape_of(4, batch, 3, h, w);
    sk_session_settings s = sk_session_defaults();
    s.threads = 1;
    sk_status status = sk_session_open(sk_engine_find("cpu"), model->graph, &shape, 1, &s, &session, err);
    sk_session_close(&session);
    return status;
}

/* A checkpoint of some kilobytes that says it was trained on pictures of 16384 pixels. */
static void sizes_that_fill_the_memory(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(yolo_save(&(yolo_fixture){.imgsz = 16384}, "large.pt"), &model, &err), &err);
    assert_int_equal(model->input.height, 16384);
    unsetenv("SKITTER_MEMORY_LIMIT");
    assert_int_equal(open_session(model, 1, model->input.height, model->input.width, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "smaller image size"));
    assert_non_null(strstr(err.message, "SKITTER_MEMORY_LIMIT="));
    assert_ok(open_session(model, 2, 64, 64, &err), &err);
    setenv("SKITTER_MEMORY_LIMIT", "50k", 1);
    assert_int_equal(open_session(model, 2, 64, 64, &err), SK_ERR_LIMIT);
    unsetenv("SKITTER_MEMORY_LIMIT");
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_told_twice),    cmocka_unit_test(metadata_told_twice),
        cmocka_unit_test(names_missing),         cmocka_unit_test(exported_texts_outlive_the_graph),
        cmocka_unit_test(datasets_without_data), cmocka_unit_test(sizes_that_fill_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
