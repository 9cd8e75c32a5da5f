/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_identity.h"

#include "app/source_identity.h"
#include "base/memory.h"
#include "engines/engine.h"
#include "media/frame_choice.h"
#include "models/model.h"
#include "skitter/version.h"
#include "tasks/stage.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

sk_source_colours sk_run_colours_of(const sk_predict_settings *settings, const sk_pipeline_info *about)
{
    return settings->colours == SK_PREDICT_COLOURS_TAGGED  ? SK_COLOURS_TAGGED
           : settings->colours == SK_PREDICT_COLOURS_BT601 ? SK_COLOURS_BT601
                                                           : about->colours;
}

/* --- members that are more than one value of the settings --- */

static void write_version(const sk_run_facts *f, sk_text *out)
{
    (void)f;
    sk_text_append(out, sk_version_text());
}

static void write_classes(const sk_run_facts *f, sk_text *out)
{
    const sk_detector_settings *d = &f->settings->detector;
    for (int32_t i = 0; i < d->n_classes; i++)
        sk_text_appendf(out, "%s%d", i ? "," : "", d->classes[i]);
    if (!d->n_classes)
        sk_text_append(out, "all");
}

static void write_imgsz(const sk_run_facts *f, sk_text *out)
{
    const sk_detector_settings *d = &f->settings->detector;
    sk_text_appendf(out, "%dx%d", d->height, d->width);
}

/* What was chosen, not what was asked for: "auto" is answered by the runtime and the model. */
static void write_shape(const sk_run_facts *f, sk_text *out)
{
    sk_text_append(out, f->about->rect == SK_RECT_ON ? "rect" : "square");
}

static void write_heads(const sk_run_facts *f, sk_text *out)
{
    sk_text_append(out, f->about->heads == SK_HEADS_ONE_TO_ONE ? "one-to-one" : "one-to-many");
}

static void write_frames(const sk_run_facts *f, sk_text *out)
{
    char frames[SK_FRAMES_TEXT];
    sk_text_append(out, sk_frames_text(&f->settings->media, frames, sizeof frames));
}

/* What was taken instead of the runtime that was asked for. */
static void write_fallback(const sk_run_facts *f, sk_text *out)
{
    if (f->settings->runtime_fell_back)
        sk_text_appendf(out, "%s -> %s", f->settings->runtime_requested, f->settings->detector.runtime);
}

static bool same_bits(const sk_run_facts *f)
{
    return sk_engine_can(f->settings->detector.runtime)->same_bits;
}

/* Skitter's own results are the same bits whatever frames go together; other libraries' kernels depend on it. */
static void write_batch(const sk_run_facts *f, sk_text *out)
{
    if (!same_bits(f))
        sk_text_appendf(out, "%d", f->settings->detector.batch);
}

static void write_devices(const sk_run_facts *f, sk_text *out)
{
    const char *devices = f->settings->devices;
    const char *runtime = f->settings->detector.runtime;
    if (devices && !(same_bits(f) && (strcmp(devices, "auto") == 0 || strcmp(devices, runtime) == 0)))
        sk_text_append(out, devices);
}

static void write_engine_options(const sk_run_facts *f, sk_text *out)
{
    const sk_detector_settings *d = &f->settings->detector;
    const sk_engine *engine = sk_engine_find(d->runtime);
    if (engine && d->engine_options)
        sk_options_identity(engine->name, engine->options, d->engine_options, out);
}

static void write_precision(const sk_run_facts *f, sk_text *out)
{
    sk_text_append(out, f->about->precision);
}

static void write_decoder(const sk_run_facts *f, sk_text *out)
{
    sk_text_append(out, f->info.hwaccel ? f->info.hwaccel : "");
}

static void write_colours(const sk_run_facts *f, sk_text *out)
{
    sk_text_append(out, sk_run_colours_of(f->settings, f->about) == SK_COLOURS_BT601 ? "bt601" : "tagged");
}

static void write_refinement(const sk_run_facts *f, sk_text *out)
{
    static const char *const ways[] = {"integral", "local", "none"};
    sk_text_append(out, ways[f->settings->detector.sleap.refinement]);
}

static void write_overlap(const sk_run_facts *f, sk_text *out)
{
    static const char *const ways[] = {"off", "iou", "oks"};
    sk_text_append(out, ways[f->settings->detector.sleap.overlap]);
}

static void write_centroid_threshold(const sk_run_facts *f, sk_text *out)
{
    const float own = f->settings->detector.sleap.centroid_peak_threshold;
    char number[SK_TEXT_NUMBER];
    sk_text_append(out, sk_text_number((double)(own < 0 ? f->settings->detector.peak_threshold : own), 7,
                                       number, sizeof number));
}

/* Of two models only: how crops for the second are cut. */
static void write_choice(const sk_run_facts *f, sk_choice choice, sk_text *out)
{
    static const char *const names[] = {"off", "on", "auto"};
    if (f->about->n_models > 1)
        sk_text_append(out, names[choice]);
}

static void write_crop_batch(const sk_run_facts *f, sk_text *out)
{
    if (f->about->n_models > 1 && !same_bits(f))
        sk_text_appendf(out, "%d", f->settings->detector.crop_batch);
}

static void write_turned(const sk_run_facts *f, sk_text *out)
{
    write_choice(f, f->settings->detector.crop_turned, out);
}

static void write_masked(const sk_run_facts *f, sk_text *out)
{
    write_choice(f, f->settings->detector.mask_neighbours, out);
}

static void write_models(const sk_run_facts *f, sk_text *out)
{
    for (int32_t i = 0; i < f->about->n_models; i++)
        sk_text_appendf(out, "%s%s", i ? " " : "", f->models[i]->content_hash);
}

static void write_source(const sk_run_facts *f, sk_text *out)
{
    sk_text_append(out, f->settings->source);
}

static void write_place(const sk_run_facts *f, sk_text *out)
{
    sk_source_place(f->settings->source, out);
}

static void write_size(const sk_run_facts *f, sk_text *out)
{
    sk_source_size(f->settings->source, out);
}

static void write_time(const sk_run_facts *f, sk_text *out)
{
    sk_source_time(f->settings->source, out);
}

static void write_sample(const sk_run_facts *f, sk_text *out)
{
    sk_source_sample(f->settings->source, out);
}

static void write_pictures(const sk_run_facts *f, sk_text *out)
{
    if (f->source)
        sk_source_pictures(f->source, out);
}

/* --- the table --- */

#define SETTING(field) offsetof(sk_predict_settings, field), NULL

/* Everything that changes a result. A setting that does gets a line here, and nothing else: run.json, headers and the
 * question whether a run may be continued follow. */
static const sk_run_member members[] = {
    {"skitter", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_version},
    {"source", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_source},
    {"source_path", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_place},
    {"source_size", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_size},
    {"source_time", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_time},
    {"source_sample", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_sample},
    {"pictures", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_pictures},
    {"models", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_models},
    {"runtime", SK_RUN_HIDDEN, SK_RUN_TEXT, SETTING(detector.runtime)},
    {"precision", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_precision},
    {"precision_asked", SK_RUN_HIDDEN, SK_RUN_TEXT, SETTING(detector.precision)},
    {"provider", SK_RUN_HIDDEN, SK_RUN_TEXT, SETTING(detector.provider)},
    {"openvino_device", SK_RUN_HIDDEN, SK_RUN_TEXT, SETTING(detector.openvino_device)},
    {"openvino_throughput", SK_RUN_HIDDEN, SK_RUN_FLAG, SETTING(detector.openvino_throughput)},
    {"engine_options", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_engine_options},
    {"devices", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_devices},
    {"batch", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_batch},
    {"winograd", SK_RUN_HIDDEN, SK_RUN_FLAG, SETTING(detector.winograd)},
    {"hwaccel", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_decoder},
    {"colours", SK_RUN_ALWAYS, SK_RUN_CALL, 0, write_colours},
    {"loop", SK_RUN_HIDDEN, SK_RUN_INT, SETTING(media.loop)},
    {"topic", SK_RUN_ALWAYS, SK_RUN_TEXT, SETTING(media.topic)},
    {"conf", SK_RUN_YOLO, SK_RUN_REAL32, SETTING(detector.confidence)},
    {"iou", SK_RUN_YOLO, SK_RUN_REAL, SETTING(detector.iou)},
    {"max_det", SK_RUN_YOLO, SK_RUN_INT, SETTING(detector.max_det)},
    {"classes", SK_RUN_YOLO, SK_RUN_CALL, 0, write_classes},
    {"agnostic", SK_RUN_YOLO, SK_RUN_FLAG, SETTING(detector.agnostic)},
    {"imgsz", SK_RUN_YOLO, SK_RUN_CALL, 0, write_imgsz},
    {"shape", SK_RUN_YOLO, SK_RUN_CALL, 0, write_shape},
    {"heads", SK_RUN_YOLO, SK_RUN_CALL, 0, write_heads},
    {"obb_quarter", SK_RUN_YOLO, SK_RUN_FLAG, SETTING(detector.obb_quarter)},
    {"crop_batch", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_crop_batch},
    {"crop_turned", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_turned},
    {"mask_neighbours", SK_RUN_HIDDEN, SK_RUN_CALL, 0, write_masked},
    {"peak_threshold", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.peak_threshold)},
    {"max_instances", SK_RUN_SLEAP, SK_RUN_INT, SETTING(detector.max_instances)},
    {"centroid_peak_threshold", SK_RUN_SLEAP, SK_RUN_CALL, 0, write_centroid_threshold},
    {"refinement", SK_RUN_SLEAP, SK_RUN_CALL, 0, write_refinement},
    {"integral_patch_size", SK_RUN_SLEAP, SK_RUN_INT, SETTING(detector.sleap.integral_patch_size)},
    {"max_edge_length_ratio", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.max_edge_length_ratio)},
    {"dist_penalty_weight", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.dist_penalty_weight)},
    {"n_points", SK_RUN_SLEAP, SK_RUN_INT, SETTING(detector.sleap.n_points)},
    {"min_line_scores", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.min_line_scores)},
    {"min_instance_peaks", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.min_instance_peaks)},
    {"filter_overlapping", SK_RUN_SLEAP, SK_RUN_CALL, 0, write_overlap},
    {"filter_overlapping_threshold", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.overlap_threshold)},
    {"filter_min_visible_nodes", SK_RUN_SLEAP, SK_RUN_INT, SETTING(detector.sleap.min_visible_nodes)},
    {"filter_min_visible_node_fraction", SK_RUN_SLEAP, SK_RUN_REAL32,
     SETTING(detector.sleap.min_visible_node_fraction)},
    {"filter_min_mean_node_score", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.min_mean_node_score)},
    {"filter_min_instance_score", SK_RUN_SLEAP, SK_RUN_REAL32, SETTING(detector.sleap.min_instance_score)},
    {"filter_min_centroid_distance", SK_RUN_SLEAP, SK_RUN_REAL32,
     SETTING(detector.sleap.min_centroid_distance)},
    {"frames", SK_RUN_ALWAYS, SK_RUN_CALL, 0, write_frames},
    {"runtime fallback", SK_RUN_ALWAYS, SK_RUN_CALL, 0, write_fallback},
};
#define N_MEMBERS (sizeof members / sizeof *members)

const sk_run_member *sk_run_identity_member(size_t index)
{
    return index < N_MEMBERS ? &members[index] : NULL;
}

static void write_value(const sk_run_member *m, const sk_run_facts *facts, sk_text *out)
{
    const char *at = (const char *)facts->settings + m->at;
    char number[SK_TEXT_NUMBER];
    switch (m->form) {
    case SK_RUN_CALL: m->write(facts, out); break;
    case SK_RUN_REAL32:
        sk_text_append(out,
                       sk_text_number((double)*(const float *)(const void *)at, 7, number, sizeof number));
        break;
    case SK_RUN_REAL:
        sk_text_append(out, sk_text_number(*(const double *)(const void *)at, 15, number, sizeof number));
        break;
    case SK_RUN_INT: sk_text_appendf(out, "%d", *(const int32_t *)(const void *)at); break;
    case SK_RUN_FLAG: sk_text_append(out, *(const bool *)at ? "1" : "0"); break;
    case SK_RUN_TEXT: {
        const char *text = *(const char *const *)(const void *)at;
        sk_text_append(out, text ? text : "");
    }
    }
}

/* A value in one line, whatever is in it. */
static void append_line(sk_text *out, const char *name, const char *value)
{
    sk_text_appendf(out, "%s\t", name);
    for (const char *c = value; *c; c++) {
        if (*c == '\n')
            sk_text_append(out, "\\n");
        else if (*c == '\\')
            sk_text_append(out, "\\\\");
        else
            sk_text_append_bytes(out, c, 1);
    }
    sk_text_append(out, "\n");
}

static bool has_model(const sk_run_facts *facts, bool sleap)
{
    for (int32_t i = 0; i < facts->about->n_models; i++)
        if (facts->models[i]->family != SK_FAMILY_GIVEN &&
            (facts->models[i]->family == SK_FAMILY_SLEAP) == sleap)
            return true;
    return false;
}

sk_status sk_run_identity_of(const sk_run_facts *facts, sk_run_identity *identity, sk_error *err)
{
    sk_text value = {0};
    sk_status status = SK_OK;
    const bool applies[] = {[SK_RUN_ALWAYS] = true,
                            [SK_RUN_YOLO] = has_model(facts, false),
                            [SK_RUN_SLEAP] = has_model(facts, true)};
    for (size_t i = 0; i < N_MEMBERS && status == SK_OK; i++) {
        const sk_run_member *m = &members[i];
        sk_text_clear(&value);
        write_value(m, facts, &value);
        append_line(&identity->text, m->name, sk_text_get(&value));
        if (m->shown != SK_RUN_HIDDEN && applies[m->shown] && value.length)
            sk_text_appendf(&identity->settings, "%s%s %s", identity->settings.length ? "; " : "", m->name,
                            sk_text_get(&value));
        status = sk_text_status(&value, err);
    }
    sk_text_free(&value);
    if (status == SK_OK)
        status = sk_text_status(&identity->text, err);
    return status == SK_OK ? sk_text_status(&identity->settings, err) : status;
}

void sk_run_identity_free(sk_run_identity *identity)
{
    sk_text_free(&identity->text);
    sk_text_free(&identity->settings);
}

/* --- reading an identity's text --- */

typedef struct line {
    const char *name, *value;
    size_t name_length, value_length;
} line;

static bool next_line(const char **at, line *out)
{
    const char *end = strchr(*at, '\n'), *tab = end ? memchr(*at, '\t', (size_t)(end - *at)) : NULL;
    if (!tab)
        return false;
    *out = (line){*at, tab + 1, (size_t)(tab - *at), (size_t)(end - tab - 1)};
    *at = end + 1;
    return true;
}

static bool find_line(const char *text, const line *wanted, line *out)
{
    while (next_line(&text, out))
        if (out->name_length == wanted->name_length &&
            memcmp(out->name, wanted->name, wanted->name_length) == 0)
            return true;
    return false;
}

static void append_difference(sk_text *out, const line *name, const line *before, const line *now)
{
    static const int most = 120; /* of a value: hashes and paths whole, a list of classes perhaps not */
    sk_text_appendf(out, "%s%.*s ", out->length ? ", " : "", (int)name->name_length, name->name);
    const line *both[2] = {before, now};
    for (int i = 0; i < 2; i++) {
        size_t length = both[i] ? both[i]->value_length : 0;
        if (i)
            sk_text_append(out, " -> ");
        if (length)
            sk_text_appendf(out, "%.*s%s", length > (size_t)most ? most : (int)length, both[i]->value,
                            length > (size_t)most ? "…" : "");
        else
            sk_text_append(out, "(none)");
    }
}

void sk_run_identity_difference(const char *before, const char *now, sk_text *out)
{
    line a, b;
    for (const char *at = before; next_line(&at, &a);) {
        bool there = find_line(now, &a, &b);
        if (!there || a.value_length != b.value_length || memcmp(a.value, b.value, a.value_length) != 0)
            append_difference(out, &a, &a, there ? &b : NULL);
    }
    for (const char *at = now; next_line(&at, &b);)
        if (!find_line(before, &b, &a))
            append_difference(out, &b, NULL, &b);
}

void sk_run_identity_json(const char *text, const char *key, sk_json *json)
{
    char name[64];
    sk_json_key_object(json, key);
    for (line l; next_line(&text, &l);) {
        snprintf(name, sizeof name, "%.*s", (int)l.name_length, l.name);
        sk_json_key(json, name);
        sk_json_string_bytes(json, l.value, l.value_length);
    }
    sk_json_close(json);
}

/* --- headers --- */

static const char *kind_name(sk_source_kind kind)
{
    return kind == SK_SOURCE_VIDEO ? "video" : kind == SK_SOURCE_PICTURES ? "pictures" : "live";
}

static void say_shape(const sk_run_facts *facts, sk_run_header *h)
{
    const sk_predict_settings *settings = facts->settings;
    const sk_pipeline_info *about = facts->about;
    sk_task_settings task = sk_task_settings_of(&settings->detector);
    task.rect = about->rect == SK_RECT_ON;
    if (about->rect == SK_RECT_AUTO)
        return;
    h->shape = task.rect ? "rect" : "square";
    h->heads = about->heads == SK_HEADS_ONE_TO_ONE ? "one-to-one" : "one-to-many";
    if (!task.rect || (h->width > 0 && h->height > 0))
        (void)sk_task_input_size(facts->models[0], &task, h->width > 0 ? h->width : 640,
                                 h->height > 0 ? h->height : 640, &h->input_width, &h->input_height);
}

void sk_run_header_of(const sk_run_facts *facts, const sk_run_identity *identity, sk_run_header *header)
{
    const sk_predict_settings *settings = facts->settings;
    const sk_pipeline_info *about = facts->about;
    const sk_source_info *source = &facts->info;
    sk_run_header *h = header;
    *h = (sk_run_header){.source = settings->source,
                         .source_kind = kind_name(source->kind),
                         .width = source->width,
                         .height = source->height,
                         .rate = source->rate,
                         .source_frames = source->total,
                         .stamped = source->stamped,
                         .task = sk_task_name(about->task),
                         .n_models = about->n_models,
                         .n_classes = about->n_classes,
                         .class_names = about->class_names,
                         .n_keypoints = about->n_keypoints,
                         .keypoint_names = about->keypoint_names,
                         .n_edges = about->n_edges,
                         .edges = about->edges,
                         .has = about->has,
                         .no_empty = facts->settings->no_empty,
                         .identities = about->identities,
                         .runtime_requested = settings->runtime_requested,
                         .runtime = about->runtime,
                         .device = about->device,
                         .precision = about->precision,
                         .settings = sk_text_get(&identity->settings),
                         .version = sk_version_text()};
    sk_text_shorten(source->frame_id ? source->frame_id : "", h->frame_id, sizeof h->frame_id);
    say_shape(facts, h);
    for (int32_t i = 0; i < about->n_models; i++) {
        h->model_paths[i] = facts->models[i]->path;
        h->model_hashes[i] = facts->models[i]->content_hash;
    }
}
