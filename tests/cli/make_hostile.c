/* SPDX-License-Identifier: Apache-2.0 */
/* Writes model files that attack their reader into a folder: make_hostile FOLDER. Nothing in them executes; each says one
 * size twice, or one that nothing stands behind. tests/cli/test_hostile.sh lets the program loose on them. */
#include "models/onnx_model_fixture.h"
#include "support/yolo_writer.h"

#include "formats/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static void save(const char *name, const void *bytes, size_t length)
{
    sk_error err = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (sk_file_replace(path, bytes, length, &err) != SK_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

static void save_checkpoint(const char *name, const yolo_fixture *fixture, tw_hook *hook, void *context)
{
    tw_pickle p = {.hook = hook, .context = context};
    tw_zip zip = {0};
    yolo_write(fixture, &p);
    tw_checkpoint(&zip, "best", &p);
    save(name, zip.out.bytes, zip.out.length);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
}

/* One number of the pickle, counted from its beginning, becomes another. */
typedef struct change {
    int64_t from, to;
    int times;
} change;

static int64_t replace_number(void *context, int64_t value)
{
    change *c = context;
    if (value != c->from || c->times == 0)
        return value;
    c->times--;
    return c->to;
}

static void spans(void)
{
    tw_pickle p = {0};
    tw_zip zip = {0};
    tw_start(&p);
    tw_object_begin(&p, "ultralytics.nn.tasks", "DetectionModel");
    tw_text(&p, "weight");
    tw_tensor(&p, SK_DTYPE_F32, &(sk_shape){.rank = 1, .dim = {2}}, (const float[]){1, 2}, false);
    tw_text(&p, "wrapped");
    tw_tensor_raw(&p, "FloatStorage", "0", 2, 1, (const int64_t[]){2, 2},
                  (const int64_t[]){INT64_MAX, INT64_MAX}, 2);
    tw_object_end(&p);
    tw_stop(&p);
    tw_checkpoint(&zip, "best", &p);
    save("span_wrap.pt", zip.out.bytes, zip.out.length);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
}

static void build_einsum(sk_builder *b)
{
    sk_value x = sk_b_input(b, "x", SK_DTYPE_F32, &(sk_shape){.rank = 4, .dim = {-1, 3, -1, -1}});
    sk_attrs same = {.einsum = {"bchw,bchw->bchw"}};
    sk_value in[2] = {x, x};
    sk_b_output(b, sk_b_node(b, SK_OP_EINSUM, &same, in, 2, "einsum"), "y");
}

/* A value of 8 GiB out of one number: folded, it would be made before anything runs. */
static void build_bomb(sk_builder *b)
{
    sk_value x = sk_b_input(b, "x", SK_DTYPE_F32, &(sk_shape){.rank = 4, .dim = {-1, 3, -1, -1}});
    const int64_t large[4] = {1, 3, 20000, 30000};
    sk_value shape = sk_b_constant(b, "shape", SK_DTYPE_I64, &(sk_shape){.rank = 1, .dim = {4}}, large);
    sk_value in[2] = {sk_b_f32(b, 1), shape};
    sk_b_output(b, x, "y");
    sk_b_output(b, sk_b_node(b, SK_OP_EXPAND, NULL, in, 2, "expand"), "z");
}

static void save_onnx(const char *name, sk_model *model, bool without_names)
{
    sk_error err = {0};
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length;
    sk_onnx_settings s = sk_onnx_defaults();
    if (sk_model_to_onnx(model, &s, &onnx, &err) != SK_OK) {
        fprintf(stderr, "%s: %s\n", name, err.message);
        exit(1);
    }
    for (int32_t i = 0; without_names && i < onnx->n_metadata; i++) {
        char *list = strstr((char *)(uintptr_t)onnx->metadata[i][1], "\"classes\":["),
             *end = list ? strchr(list, ']') : NULL;
        if (end)
            memmove(list + strlen("\"classes\":["), end, strlen(end) + 1);
    }
    if (sk_onnx_write(onnx, &bytes, &length, &err) != SK_OK) {
        fprintf(stderr, "%s: %s\n", name, err.message);
        exit(1);
    }
    save(name, bytes, length);
    sk_free(bytes);
    sk_onnx_close(&onnx);
    sk_model_close(&model);
}

static sk_model *other(void (*build)(sk_builder *), int32_t n_outputs)
{
    sk_model *model = make_model(build);
    model->n_outputs = n_outputs;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "y", 0};
    model->outputs[1] = (sk_output_spec){SK_OUTPUT_OTHER, "z", 0};
    return model;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    spans();
    save_checkpoint("classify_1000.pt", &(yolo_fixture){.head = "Classify", .classes_said = 1000}, NULL,
                    NULL);
    save_checkpoint("classify_1.pt", &(yolo_fixture){.head = "Classify", .classes_said = 1}, NULL, NULL);
    save_checkpoint("imgsz.pt", &(yolo_fixture){.imgsz = 16384}, NULL, NULL);
    static const int64_t numbers[] = {-1, 0, 1 << 30, (int64_t)1 << 40, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 6; i++) /* channels, kernels and counts of 8 and of 2 that are not so */
    {
        change c = {i % 2 ? 8 : 2, numbers[i], 1 + i};
        char name[64];
        snprintf(name, sizeof name, "number_%d.pt", i);
        save_checkpoint(name, &(yolo_fixture){.head = "Pose"}, replace_number, &c);
    }
    save_onnx("names_missing.onnx", make_yolo(), true);
    save_onnx("einsum.onnx", other(build_einsum, 1), false);
    save_onnx("expand.onnx", other(build_bomb, 2), false);
    return 0;
}
