/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/predict_settings.h"

#include "base/memory.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/sizes.h"
#include "cli/sleap_options.h"
#include "media/frame_choice.h"
#include "media/overlay.h"
#include "results/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Class numbers or names; names need the model, so the list is resolved against an open one. */
static sk_status parse_classes(const char *text, const char *model_path, int32_t *classes, int32_t capacity,
                               int32_t *count, sk_error *err)
{
    if (!text)
        return SK_OK;
    sk_model *model = NULL;
    char *list = sk_strdup(text);
    sk_status status = list ? sk_model_open(model_path, &model, err) : sk_fail_memory(err, strlen(text));
    for (char *name = list, *rest = NULL; status == SK_OK && (name = strtok_r(name, ",", &rest));
         name = NULL) {
        while (*name == ' ')
            name++;
        char *end;
        long number = strtol(name, &end, 10);
        if (*end != '\0' || end == name) {
            number = -1;
            for (int32_t i = 0; i < sk_model_class_count(model); i++)
                if (strcmp(sk_model_class_name(model, i), name) == 0)
                    number = i;
        }
        if (number < 0 || number >= sk_model_class_count(model) || *count == capacity)
            status = sk_fail(err, SK_ERR_ARG, "--classes: '%s' is no class of %s, which has %d", name,
                             model_path, sk_model_class_count(model));
        else
            classes[(*count)++] = (int32_t)number;
    }
    sk_model_close(&model);
    sk_free(list);
    return status;
}

static sk_status no_such_format(const char *name, bool tracks, sk_error *err)
{
    char known[256] = "";
    for (const sk_sink_kind *const *k = sk_sink_kinds; *k; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", (*k)->name);
    }
    for (const sk_sink_kind *const *k = sk_sink_track_kinds; *k && tracks; k++)
        snprintf(known + strlen(known), sizeof known - strlen(known), ", %s", (*k)->name);
    return sk_fail(err, SK_ERR_ARG, "--format: no result format is called '%s'; there are %s", name, known);
}

static sk_status parse_formats(const char *text, bool tracks, sk_predict_settings *s, sk_error *err)
{
    char *list = sk_strdup(text);
    sk_status status = list ? SK_OK : sk_fail_memory(err, strlen(text));
    s->n_formats = 0;
    for (char *name = list, *rest = NULL; status == SK_OK && (name = strtok_r(name, ", ", &rest));
         name = NULL) {
        const char *format = strcmp(name, "json") == 0 ? "jsonl" : strcmp(name, "txt") == 0 ? "labels" : name;
        if (!sk_sink_find(format))
            status = no_such_format(name, tracks, err);
        else if (s->n_formats == SK_PREDICT_MAX_FORMATS)
            status = sk_fail(err, SK_ERR_ARG, "--format: at most %d formats", SK_PREDICT_MAX_FORMATS);
        else
            s->formats[s->n_formats++] = sk_sink_find(format)->name;
    }
    sk_free(list);
    return status;
}

static bool interrupted(void *context)
{
    (void)context;
    return sk_cli_interrupted();
}

/* What is written besides the results, and how it looks. */
static sk_status read_pictures(const sk_args *args, sk_predict_settings *s, sk_error *err)
{
    s->overlay = sk_args_flag(args, "save-overlay");
    if (sk_command_option(sk_args_command(args), "save-crops", strlen("save-crops"))) /* track has none */
        s->crops = sk_args_flag(args, "save-crops");
    s->line_width = (float)sk_args_real(args, "line-width");
    const char *encoder = sk_args_text(args, "overlay-encoder");
    s->overlay_gpu = strcmp(encoder, "gpu") == 0    ? SK_CHOICE_ON
                     : strcmp(encoder, "auto") == 0 ? SK_CHOICE_AUTO
                                                    : SK_CHOICE_OFF;
    if (!s->overlay && sk_args_given(args, "overlay-encoder"))
        return sk_fail(
            err, SK_ERR_ARG,
            "--overlay-encoder is for the overlay's video, and none is written\ngive --save-overlay, too");
    if (!s->overlay && (sk_args_text(args, "draw") || s->line_width > 0))
        return sk_fail(err, SK_ERR_ARG,
                       "--%s says how the overlay looks, and none is written\ngive --save-overlay, too",
                       sk_args_text(args, "draw") ? "draw" : "line-width");
    if (sk_args_text(args, "draw")) {
        sk_status drawn = sk_overlay_parse_what(sk_args_text(args, "draw"), &s->draw, err);
        if (drawn != SK_OK) {
            sk_error_prefix(err, "--draw");
            return drawn;
        }
    }
    return SK_OK;
}

bool sk_cli_has_detections(const sk_args *args)
{
    return sk_command_option(sk_args_command(args), "detections", strlen("detections")) &&
           sk_args_given(args, "detections");
}

bool sk_cli_has_background(const sk_args *args)
{
    return sk_command_option(sk_args_command(args), "detector", strlen("detector")) &&
           strcmp(sk_args_text(args, "detector"), "background") == 0;
}

static sk_status read_models(const sk_args *args, sk_predict_settings *s, sk_error *err)
{
    const char *command = sk_args_command(args)->name;
    const bool given = sk_cli_has_detections(args) || sk_cli_has_background(args);
    if (sk_cli_has_background(args) && sk_args_count(args, "model") > 1)
        return sk_fail(err, SK_ERR_ARG,
                       "--detector background finds animals without a model\n"
                       "give one --model, which looks at crops of them, or none");
    if (sk_cli_has_detections(args) && sk_args_count(args, "model") > 1)
        return sk_fail(err, SK_ERR_ARG,
                       "--detections are found already\n"
                       "give one --model, which looks at crops of them, or none");
    if (sk_cli_has_detections(args) && sk_args_count(args, "model") && sk_args_count(args, "source") != 1)
        return sk_fail(err, SK_ERR_ARG,
                       "--detections and a --model that looks at crops of them need the one video they were "
                       "found in: skitter track VIDEO --detections FILE --model M");
    if (sk_args_count(args, "model") < 1 && !given)
        return sk_fail(err, SK_ERR_ARG, "%s needs a model: --model M", command);
    if (sk_args_count(args, "model") > SK_PIPELINE_MAX_MODELS)
        return sk_fail(err, SK_ERR_ARG, "--model: at most %d", SK_PIPELINE_MAX_MODELS);
    for (size_t i = 0; i < sk_args_count(args, "model"); i++)
        s->models[s->n_models++] = sk_args_at(args, "model", i);
    const bool off = sk_command_option(sk_args_command(args), "pose", strlen("pose")) &&
                     strcmp(sk_args_text(args, "pose"), "off") == 0;
    if (off && given)
        s->n_models = 0;
    return off && s->n_models > 1 ? sk_predict_keep_finder(s, err) : SK_OK;
}

static sk_choice read_choice(const sk_args *args, const char *name)
{
    const char *text = sk_args_text(args, name);
    return strcmp(text, "on") == 0 ? SK_CHOICE_ON : strcmp(text, "off") == 0 ? SK_CHOICE_OFF : SK_CHOICE_AUTO;
}

/* A video's frames, found in parts: --find-only and --found. */
static sk_status read_parts(const sk_args *args, sk_predict_settings *s, sk_predict_borrowed *b,
                            sk_error *err)
{
    const size_t count = sk_args_count(args, "found");
    const char *given = count ? "found" : "find-only";
    s->find_only = sk_args_flag(args, "find-only") > 0;
    if (!count && !s->find_only)
        return SK_OK;
    if (sk_cli_has_detections(args) || sk_cli_has_background(args))
        return sk_fail(err, SK_ERR_ARG,
                       "--%s is about what models find in each frame by itself, and here %s finds\n"
                       "leave it out: such a video is done in one piece",
                       given, sk_cli_has_background(args) ? "--detector background" : "--detections");
    if (count && sk_args_count(args, "source") != 1)
        return sk_fail(err, SK_ERR_ARG, "--found: what it names was found in one video; name that one");
    b->found = sk_calloc(count + 1, sizeof *b->found);
    if (!b->found)
        return sk_fail_memory(err, count * sizeof *b->found);
    for (size_t i = 0; i < count; i++)
        b->found[i] = sk_args_at(args, "found", i);
    s->found = b->found;
    s->n_found = (int32_t)count;
    return SK_OK;
}

sk_status sk_cli_predict_settings(const sk_args *args, sk_predict_settings *s, sk_predict_borrowed *b,
                                  sk_error *err)
{
    SK_TRY(read_models(args, s, err));
    sk_detector_settings *d = &s->detector;
    d->confidence = (float)sk_args_real(args, "conf");
    d->iou = sk_args_real(args, "iou");
    d->max_det = (int32_t)sk_args_int(args, "max-det");
    d->agnostic = sk_args_flag(args, "agnostic");
    d->peak_threshold = (float)sk_args_real(args, "peak-threshold");
    d->max_instances = (int32_t)sk_args_int(args, "max-instances");
    d->rect = sk_cli_rect(args);
    d->heads = sk_cli_heads(args);
    SK_TRY(sk_cli_read_sleap(args, &d->sleap, err));
    d->batch = (int32_t)sk_args_int(args, "batch");
    d->threads = (int32_t)sk_args_int(args, "threads");
    d->winograd = !sk_args_flag(args, "no-winograd");
    d->obb_quarter = strcmp(sk_args_text(args, "obb-form"), "quarter") == 0;
    SK_TRY(read_pictures(args, s, err));
    s->no_empty = sk_args_flag(args, "no-empty");
    s->restart = sk_args_flag(args, "restart");
    SK_TRY(read_parts(args, s, b, err));
    const char *colour = sk_args_text(args, "colour");
    s->colours = strcmp(colour, "tagged") == 0  ? SK_PREDICT_COLOURS_TAGGED
                 : strcmp(colour, "bt601") == 0 ? SK_PREDICT_COLOURS_BT601
                                                : SK_PREDICT_COLOURS_ORIGINAL;
    s->overwrite = sk_args_flag(args, "overwrite");
    s->strict = sk_args_flag(args, "strict");
    s->media.loop = (int32_t)sk_args_int(args, "loop");
    s->devices = sk_args_text(args, "devices");
    s->allow_failover = sk_args_flag(args, "allow-failover");
    s->media.hwaccel = sk_args_text(args, "hwaccel");
    s->media.max_pixels = sk_args_given(args, "max-pixels") ? sk_args_int(args, "max-pixels") : 0;
    s->media.topic = sk_args_text(args, "topic");
    s->media.reconnect_seconds = sk_args_real(args, "reconnect");
    s->media.interrupted = interrupted;
    s->media.queue = d->batch > 1 ? 2 * d->batch + 4 : 0; /* one batch in the network, one on its way to it */
    SK_TRY(sk_cli_parse_size(sk_args_text(args, "imgsz"), &d->height, &d->width, err));
    if (sk_args_given(args, "frames"))
        SK_TRY(sk_frames_parse(sk_args_text(args, "frames"), &s->media, &b->ranges, err));
    const bool tracks = strcmp(sk_args_command(args)->name, "track") == 0;
    if (tracks) {
        d->crop_batch = (int32_t)sk_args_int(args, "crop-batch");
        d->crop_turned = read_choice(args, "crop-turned");
        d->mask_neighbours = read_choice(args, "mask-neighbours");
    }
    SK_TRY(parse_formats(sk_args_text(args, "format"), tracks, s, err));
    if (s->n_models == 0)
        return SK_OK;
    SK_TRY(sk_cli_refuse_for_models(args, s->models, s->n_models, err));
    int32_t count = 0;
    SK_TRY(parse_classes(sk_args_text(args, "classes"), s->models[0], b->classes, SK_PREDICT_MAX_CLASSES,
                         &count, err));
    d->classes = count ? b->classes : NULL;
    d->n_classes = count;
    return SK_OK;
}

void sk_cli_predict_borrowed_free(sk_predict_borrowed *b)
{
    sk_free(b->ranges);
    sk_free((void *)b->found);
    *b = (sk_predict_borrowed){0};
}
