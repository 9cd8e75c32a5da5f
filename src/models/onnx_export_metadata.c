/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_export.h"

#include "base/text.h"
#include "models/model_json.h"
#include "models/onnx_import.h"

#include <string.h>
#include <time.h>

/* Ultralytics' metadata are texts as Python's str() writes them, and its own loader reads them back as
 * literals. */

#define MAX_KEYS 32

typedef struct metadata {
    sk_onnx_model *onnx;
    sk_error *err;
    sk_status status;
} metadata;

static void add(metadata *m, const char *key, const char *value)
{
    const char *kept = m->status == SK_OK ? sk_arena_strdup(m->onnx->arena, value) : NULL;
    if (!kept || m->onnx->n_metadata >= MAX_KEYS) {
        if (m->status == SK_OK)
            m->status = sk_fail_memory(m->err, strlen(value));
        return;
    }
    m->onnx->metadata[m->onnx->n_metadata][0] = key;
    m->onnx->metadata[m->onnx->n_metadata++][1] = kept;
}

/* Adds the text and frees it. */
static void add_text(metadata *m, const char *key, sk_text *text)
{
    if (m->status == SK_OK)
        m->status = sk_text_status(text, m->err);
    if (m->status == SK_OK)
        add(m, key, sk_text_get(text));
    sk_text_free(text);
}

static void add_number(metadata *m, const char *key, int32_t value)
{
    sk_text text = {0};
    sk_text_appendf(&text, "%d", value);
    add_text(m, key, &text);
}

/* 'text', quotes, backslashes and control characters escaped. */
static void append_python(sk_text *text, const char *value)
{
    sk_text_append(text, "'");
    for (const char *c = value; *c; c++) {
        if (*c == '\'' || *c == '\\')
            sk_text_appendf(text, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7F)
            sk_text_appendf(text, "\\x%02x", (unsigned)(unsigned char)*c);
        else
            sk_text_append_bytes(text, c, 1);
    }
    sk_text_append(text, "'");
}

static void add_names(metadata *m, const sk_model *model)
{
    sk_text text = {0};
    sk_text_append(&text, "{");
    for (int32_t i = 0; i < model->n_classes; i++) {
        sk_text_appendf(&text, "%s%d: ", i ? ", " : "", i);
        append_python(&text, model->class_names && model->class_names[i] ? model->class_names[i] : "");
    }
    sk_text_append(&text, "}");
    add_text(m, "names", &text);
}

static void add_keypoints(metadata *m, const sk_model *model)
{
    sk_text text = {0};
    if (model->task != SK_TASK_POSE)
        return;
    sk_text_appendf(&text, "[%d, %d]", model->n_keypoints, model->yolo.keypoint_dims);
    add_text(m, "kpt_shape", &text);
    if (!model->keypoint_names)
        return;
    /* per class; ours are the same for all */
    sk_text_append(&text, "{");
    for (int32_t c = 0; c < model->n_classes; c++) {
        sk_text_appendf(&text, "%s%d: [", c ? ", " : "", c);
        for (int32_t i = 0; i < model->n_keypoints; i++) {
            sk_text_append(&text, i ? ", " : "");
            append_python(&text, model->keypoint_names[i] ? model->keypoint_names[i] : "");
        }
        sk_text_append(&text, "]");
    }
    sk_text_append(&text, "}");
    add_text(m, "kpt_names", &text);
    if (model->n_edges == 0)
        return;
    sk_text_append(&text, "["); /* ours; other programs pass over it */
    for (int32_t i = 0; i < model->n_edges; i++)
        sk_text_appendf(&text, "%s[%d, %d]", i ? ", " : "", model->edges[i][0], model->edges[i][1]);
    sk_text_append(&text, "]");
    add_text(m, "skeleton", &text);
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return NULL;
}

static void add_date(metadata *m)
{
    char text[40];
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &parts) > 0)
        add(m, "date", text);
}

static void add_args(metadata *m, const sk_onnx_settings *s)
{
    sk_text text = {0};
    sk_text_appendf(
        &text, "{'batch': %d, 'half': %s, 'dynamic': %s, 'simplify': %s, 'opset': %d, 'nms': False}",
        s->batch, s->half ? "True" : "False", s->dynamic_batch || s->dynamic_size ? "True" : "False",
        s->optimise ? "True" : "False", s->opset);
    add_text(m, "args", &text);
}

static void add_ultralytics(metadata *m, const sk_model *model, const sk_onnx_settings *s)
{
    sk_text text = {0};
    const char *version = fact(model, "version"), *license = fact(model, "license"),
               *docs = fact(model, "docs");
    sk_text_appendf(&text, "%s %s model, written by skitter",
                    model->architecture && *model->architecture ? model->architecture : "YOLO",
                    sk_task_name(model->task));
    add_text(m, "description", &text);
    add(m, "author", "skitter");
    if (!s->undated)
        add_date(m);
    add(m, "version", version ? version : "");
    add(m, "license", license ? license : "that of the checkpoint this was made from");
    add(m, "docs", docs ? docs : "");
    add_number(m, "stride", model->input.stride > 0 ? model->input.stride : 32);
    add(m, "task", sk_task_name(model->task));
    add_number(m, "batch", s->batch);
    sk_text_appendf(&text, "[%d, %d]", s->height, s->width);
    add_text(m, "imgsz", &text);
    add_names(m, model);
    add_args(m, s);
    add_number(m, "channels", model->input.channels);
    add(m, "end2end", model->yolo.end2end ? "True" : "False");
    add_keypoints(m, model);
}

sk_status sk_onnx_add_metadata(const sk_model *as_written, const sk_onnx_settings *settings,
                               sk_onnx_model *onnx, sk_error *err)
{
    metadata m = {.onnx = onnx, .err = err};
    char *json = NULL;
    onnx->metadata = sk_arena_alloc(onnx->arena, MAX_KEYS * sizeof *onnx->metadata);
    if (!onnx->metadata)
        return sk_fail_memory(err, MAX_KEYS * sizeof *onnx->metadata);
    /* Without the tail no other program could make anything of the outputs. */
    if (sk_family_is_ultralytics(as_written->family) && settings->with_tail)
        add_ultralytics(&m, as_written, settings);
    SK_TRY(m.status);
    SK_TRY(sk_model_to_json(as_written, &json, err));
    add(&m, SK_ONNX_OWN_KEY, json);
    sk_free(json);
    json = NULL;
    if (as_written->quantised && m.status == SK_OK)
        m.status = sk_quantised_to_json(as_written->quantised, &json, err);
    if (json)
        add(&m, SK_QUANTISED_KEY, json);
    sk_free(json);
    return m.status;
}
