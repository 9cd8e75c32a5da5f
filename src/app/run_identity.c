/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_identity.h"

#include "models/model.h"
#include "skitter/version.h"
#include "tasks/pipeline.h"

#include <stdio.h>
#include <string.h>

sk_source_colours sk_run_colours_of(const sk_predict_settings *settings, const sk_detector_info *about)
{
    return settings->tagged_colours ? SK_COLOURS_TAGGED : about->colours;
}

void sk_run_identity_of(const sk_predict_settings *settings, const sk_detector_info *about,
                        sk_run_identity *identity)
{
    const sk_detector_settings *d = &settings->detector;
    const sk_source_settings *m = &settings->media;
    char classes[256] = "all";
    if (d->n_classes) {
        classes[0] = '\0';
        for (int32_t i = 0; i < d->n_classes; i++) {
            size_t used = strlen(classes);
            snprintf(classes + used, sizeof classes - used, "%s%d", i ? "," : "", d->classes[i]);
        }
    }
    if (about->task >= SK_TASK_SINGLE_INSTANCE)
        snprintf(identity->settings, sizeof identity->settings,
                 "peak_threshold %g; max_instances %d; frames %lld:%lld:%lld", (double)d->peak_threshold,
                 d->max_instances, (long long)m->first, (long long)m->last, (long long)m->step);
    else
        snprintf(
            identity->settings, sizeof identity->settings,
            "conf %g; iou %g; max_det %d; classes %s; agnostic %d; imgsz %dx%d %s%s; frames %lld:%lld:%lld",
            (double)d->confidence, d->iou, d->max_det, classes, d->agnostic, d->height, d->width,
            about->rect == SK_RECT_ON ? "rect" : "square",
            about->heads == SK_HEADS_ONE_TO_ONE ? "; one-to-one heads" : "", (long long)m->first,
            (long long)m->last, (long long)m->step);
    size_t used_by = strlen(identity->settings);
    snprintf(identity->settings + used_by, sizeof identity->settings - used_by, "; colours %s",
             sk_run_colours_of(settings, about) == SK_COLOURS_BT601 ? "bt601" : "tagged");
    if (settings->runtime_fell_back) {
        size_t length = strlen(identity->settings);
        snprintf(identity->settings + length, sizeof identity->settings - length,
                 "; runtime fallback %s -> %s", settings->runtime_requested, d->runtime);
    }
    int used = snprintf(identity->fingerprint, sizeof identity->fingerprint,
                        "skitter %s; source %s; loop %d; runtime %s %s; %s", sk_version_text(),
                        settings->source, m->loop, d->runtime, about->precision, identity->settings);
    for (int32_t i = 0; i < about->n_models && used > 0 && (size_t)used < sizeof identity->fingerprint; i++)
        used += snprintf(identity->fingerprint + used, sizeof identity->fingerprint - (size_t)used,
                         "; model %s", about->models[i]->content_hash);
}

static const char *kind_name(sk_source_kind kind)
{
    return kind == SK_SOURCE_VIDEO ? "video" : kind == SK_SOURCE_PICTURES ? "pictures" : "live";
}

static void say_shape(const sk_predict_settings *settings, const sk_detector_info *about, sk_run_header *h)
{
    sk_task_settings task = sk_task_settings_of(&settings->detector);
    task.rect = about->rect == SK_RECT_ON;
    if (about->rect == SK_RECT_AUTO)
        return;
    h->shape = task.rect ? "rect" : "square";
    h->heads = about->heads == SK_HEADS_ONE_TO_ONE ? "one-to-one" : "one-to-many";
    if (!task.rect || (h->width > 0 && h->height > 0))
        (void)sk_task_input_size(about->models[0], &task, h->width > 0 ? h->width : 640,
                                 h->height > 0 ? h->height : 640, &h->input_width, &h->input_height);
}

void sk_run_header_of(const sk_predict_settings *settings, const sk_detector_info *about,
                      const sk_source_info *source, const sk_run_identity *identity, sk_run_header *header)
{
    sk_run_header *h = header;
    *h = (sk_run_header){.source = settings->source,
                         .source_kind = kind_name(source->kind),
                         .width = source->width,
                         .height = source->height,
                         .rate = source->rate,
                         .source_frames = source->total,
                         .task = sk_task_name(about->task),
                         .n_models = about->n_models,
                         .n_classes = about->n_classes,
                         .class_names = about->class_names,
                         .n_keypoints = about->n_keypoints,
                         .keypoint_names = about->keypoint_names,
                         .n_edges = about->n_edges,
                         .edges = about->edges,
                         .has = about->has,
                         .identities = about->identities,
                         .runtime_requested = settings->runtime_requested,
                         .runtime = about->runtime,
                         .device = about->device,
                         .precision = about->precision,
                         .settings = identity->settings,
                         .version = sk_version_text()};
    say_shape(settings, about, h);
    for (int32_t i = 0; i < about->n_models; i++) {
        h->model_paths[i] = about->models[i]->path;
        h->model_hashes[i] = about->models[i]->content_hash;
    }
}
