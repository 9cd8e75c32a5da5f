/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ONNX_DESCRIBED_H
#define SK_TESTS_ONNX_DESCRIBED_H

/* Files whose outputs have given shapes, with what is said in and beside them; what a model made of one says of itself, as text. */
#include "onnx_bench.h"

#include "base/file.h"
#include "base/text.h"
#include "models/model_json.h"
#include "models/onnx_meta.h"
#include "skitter/version.h"

typedef struct described {
    const char *name;
    sk_shape in;
    sk_dtype type;
    sk_shape out[2];
    const char *said[8][2]; /* the metadata */
    const char *beside;     /* sleap-nn's description; null: none */
} described;

#define PICTURE                                                                                              \
    {                                                                                                        \
        4,                                                                                                   \
        {                                                                                                    \
            1, 3, 64, 96                                                                                     \
        }                                                                                                    \
    }
#define ANY                                                                                                  \
    {                                                                                                        \
        4,                                                                                                   \
        {                                                                                                    \
            -1, 3, -1, -1                                                                                    \
        }                                                                                                    \
    }
#define ROWS(a, b)                                                                                           \
    {                                                                                                        \
        {                                                                                                    \
            3,                                                                                               \
            {                                                                                                \
                1, a, b                                                                                      \
            }                                                                                                \
        }                                                                                                    \
    }
#define F32 SK_DTYPE_F32

/* Bytes of a file whose outputs have these shapes; what they hold does not matter. */
static inline void write_file(const described *d, uint8_t **bytes, size_t *length)
{
    static const char *const outs[] = {"output0", "output1"}, *const dims[2][2] = {{"m", "d0"}, {"m", "d1"}};
    bench t;
    sk_error err;
    sk_onnx_value ends[2];
    const char *metadata[8][2];
    sk_onnx_node nodes[4] = {node_with("Cast", NAMES("x"), OUT("c"), ATTRS(attr_int("to", 1))),
                             node_with("ReduceMean", NAMES("c"), OUT("m"), ATTRS(attr_int("keepdims", 0))),
                             node("Expand", 2, dims[0], &outs[0]), node("Expand", 2, dims[1], &outs[1])};
    const int n_out = d->out[1].rank ? 2 : 1;
    bench_open(&t, 17, nodes, 2 + n_out);
    t.model->producer = "maker";
    t.model->producer_version = "1.2";
    t.input.shape = d->in;
    t.input.dtype = d->type;
    for (int i = 0; i < SK_MAX_RANK; i++)
        t.input.param[i] = "";
    for (int i = 0; i < n_out; i++) {
        weight_i64(&t, dims[i][1], d->out[i].rank, d->out[i].dim);
        ends[i] = (sk_onnx_value){.name = outs[i], .dtype = F32, .shape = {.rank = -1}};
    }
    t.model->graph.outputs = ends;
    t.model->graph.n_outputs = n_out;
    for (; t.model->n_metadata < 8 && d->said[t.model->n_metadata][0]; t.model->n_metadata++)
        memcpy(metadata[t.model->n_metadata], d->said[t.model->n_metadata], sizeof *metadata);
    t.model->metadata = metadata;
    assert_ok(sk_onnx_write(t.model, bytes, length, &err), &err);
    sk_onnx_close(&t.model);
}

static inline sk_status read_described(const described *d, sk_model **model, sk_error *err)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    sk_error ignored;
    const char *folder = NULL;
    char path[4200];
    write_file(d, &bytes, &length);
    if (d->beside) {
        folder = test_folder();
        snprintf(path, sizeof path, "%s/export_metadata.json", folder);
        assert_ok(sk_file_replace(path, d->beside, strlen(d->beside), &ignored), &ignored);
    }
    assert_ok(sk_model_create(model, &ignored), &ignored);
    const sk_status status = sk_onnx_read_model(bytes, length, "f", folder, *model, err);
    sk_free(bytes);
    return status;
}

/* The text without what is another on every machine and in every version. */
static inline void tell_cleaned(sk_text *told, char *text)
{
    static const char *const breaks[] = {
        ",\"input\":", ",\"outputs\":", ",\"yolo\":", ",\"sleap\":", ",\"facts\":"};
    char *folder = strstr(text, test_folder()), *version = strstr(text, sk_version_text());
    if (folder)
        memmove(folder, folder + strlen(test_folder()), strlen(folder + strlen(test_folder())) + 1);
    if (version && version > strstr(text, "\"skitter\":"))
        memmove(version, version + strlen(sk_version_text()),
                strlen(version + strlen(sk_version_text())) + 1);
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        char *at = strstr(text, breaks[i]);
        if (at)
            *at = '\n';
    }
    sk_text_append(told, "    ");
    for (const char *c = text; *c; c++) {
        sk_text_append_bytes(told, c, 1);
        if (*c == '\n')
            sk_text_append(told, "    ");
    }
    sk_text_append(told, "\n");
}

static inline void tell_described(sk_text *told, const described *d)
{
    sk_model *model = NULL;
    sk_error err = {0};
    char *json = NULL;
    sk_text_appendf(told, "%s\n", d->name);
    if (read_described(d, &model, &err) == SK_OK) {
        assert_ok(sk_model_to_json(model, &json, &err), &err);
        tell_cleaned(told, json);
        sk_free(json);
    } else {
        tell_cleaned(told, err.message);
    }
    sk_model_close(&model);
}

#endif
