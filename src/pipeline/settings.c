/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "base/sized.h"
#include "pipeline/internal.h"

#include <math.h>
#include <string.h>

/* Settings: their defaults, and the pipeline's own copy of everything they point to. */

static sk_sleap_options sleap_defaults(void)
{
    sk_detector_settings d;
    sk_detector_defaults(&d);
    return d.sleap;
}

static sk_pipeline_settings defaults(void)
{
    sk_detector_settings d;
    sk_detector_defaults(&d);
    return (sk_pipeline_settings){.size = sizeof(sk_pipeline_settings),
                                  .runtime = d.runtime,
                                  .batch = d.batch,
                                  .confidence = d.confidence,
                                  .iou = d.iou,
                                  .max_det = d.max_det,
                                  .peak_threshold = d.peak_threshold,
                                  .mode = SK_PIPELINE_THROUGHPUT,
                                  .batch_wait_ms = 20,
                                  .max_age_ms = 500};
}

void sk_pipeline_defaults(sk_pipeline_settings *settings)
{
    const sk_pipeline_settings whole = defaults();
    if (settings)
        sk_sized_write(settings, &whole, sizeof whole);
}

void sk_sleap_options_defaults(sk_sleap_options *options)
{
    const sk_sleap_options whole = sleap_defaults();
    if (options)
        sk_sized_write(options, &whole, sizeof whole);
}

sk_status sk_pipeline_read_frame(const sk_frame *given, sk_frame *whole, sk_error *err)
{
    SK_CHECK_ARG(given, err);
    *whole = (sk_frame){.size = sizeof *whole};
    SK_TRY(sk_sized_read(given, whole, sizeof *whole, "a frame", err));
    if (whole->stream && whole->event)
        return sk_fail(err, SK_ERR_ARG, "frame %lld has a stream and an event; give one of them",
                       (long long)whole->index);
    return SK_OK;
}

static sk_status copy_text(const char *text, char **out, sk_error *err)
{
    *out = text && text[0] ? sk_strdup(text) : NULL;
    return *out || !text || !text[0] ? SK_OK : sk_fail_memory(err, strlen(text));
}

/* --- the copy --- */

static sk_status check(const sk_pipeline_settings *s, sk_error *err)
{
    if (s->batch == 0 && s->max_det == 0 && s->confidence == 0 && s->iou == 0)
        return sk_fail(
            err, SK_ERR_ARG,
            "the settings are empty: sk_pipeline_defaults(&settings) fills them in, then change what is "
            "to be different");
    if (s->rect < SK_RECT_AUTO || s->rect > SK_RECT_OFF || s->heads < SK_HEADS_AUTO ||
        s->heads > SK_HEADS_ONE_TO_ONE)
        return sk_fail(err, SK_ERR_ARG, "rect %d or heads %d is not known", (int)s->rect, (int)s->heads);
    if ((uint32_t)s->crop_turned > SK_CHOICE_AUTO || (uint32_t)s->mask_neighbours > SK_CHOICE_AUTO)
        return sk_fail(err, SK_ERR_ARG, "crop_turned %d or mask_neighbours %d is not known",
                       (int)s->crop_turned, (int)s->mask_neighbours);
    if (s->crop_batch < 0 || s->crop_batch > 64)
        return sk_fail(err, SK_ERR_ARG, "crop_batch is %d; allowed are 1 to 64, or 0", s->crop_batch);
    if (s->n_classes < 0 || (s->n_classes > 0 && !s->classes))
        return sk_fail(err, SK_ERR_ARG, "n_classes is %d, and classes %s", s->n_classes,
                       s->classes ? "are given" : "is null");
    if (isnan(s->peak_threshold))
        return sk_fail(err, SK_ERR_ARG, "peak_threshold is no number (NaN)");
    if (s->max_instances < 0)
        return sk_fail(err, SK_ERR_ARG,
                       "max_instances is %d: give how many of a frame are kept, or 0 for all",
                       s->max_instances);
    if (s->height < 0 || s->width < 0 || s->threads < 0)
        return sk_fail(err, SK_ERR_ARG, "height %d, width %d or threads %d is negative", s->height, s->width,
                       s->threads);
    return SK_OK;
}

static sk_status check_sleap(const sk_sleap_options *o, sk_error *err)
{
    if ((uint32_t)o->refinement > SK_SLEAP_REFINE_NONE || (uint32_t)o->overlap > SK_OVERLAP_OKS)
        return sk_fail(err, SK_ERR_ARG, "refinement %d or overlap %d is not known", o->refinement,
                       o->overlap);
    if (o->n_points < 2 || o->n_points > 1000)
        return sk_fail(err, SK_ERR_ARG, "n_points is %d: an edge has 2 to 1000 samples", o->n_points);
    const float numbers[] = {o->centroid_peak_threshold,  o->max_edge_length_ratio, o->dist_penalty_weight,
                             o->min_instance_peaks,       o->min_line_scores,       o->overlap_threshold,
                             o->min_mean_node_score,      o->min_instance_score,    o->min_centroid_distance,
                             o->min_visible_node_fraction};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (isnan(numbers[i]))
            return sk_fail(err, SK_ERR_ARG, "one of SLEAP's options is no number (NaN)");
    if (fabsf(o->min_line_scores) > 1 || o->min_visible_node_fraction < 0 || o->min_visible_node_fraction > 1)
        return sk_fail(err, SK_ERR_ARG,
                       "min_line_scores %g is outside -1 … 1, or min_visible_node_fraction %g "
                       "outside 0 … 1",
                       (double)o->min_line_scores, (double)o->min_visible_node_fraction);
    return SK_OK;
}

/* Without a format, RGB. */
static sk_status copy_expected(sk_pipeline *p, const sk_frame *given, sk_error *err)
{
    SK_TRY(sk_pipeline_read_frame(given, &p->expect, err));
    if (p->expect.format == SK_PIXEL_NONE)
        p->expect.format = SK_PIXEL_RGB;
    return sk_frame_check_kind(&p->expect, err);
}

static sk_status copy_classes(sk_pipeline *p, const int32_t *classes, int32_t count, sk_error *err)
{
    const size_t bytes = (size_t)count * sizeof *p->classes;
    if (count <= 0)
        return SK_OK;
    p->classes = sk_malloc(bytes);
    if (!p->classes)
        return sk_fail_memory(err, bytes);
    memcpy(p->classes, classes, bytes);
    return SK_OK;
}

static void to_detector(sk_pipeline *p)
{
    const sk_pipeline_settings *s = &p->settings;
    sk_detector_settings *d = &p->detector;
    sk_detector_defaults(d);
    d->runtime = p->runtime ? p->runtime : d->runtime;
    d->precision = p->precision;
    d->engine_options = p->options;
    d->threads = s->threads;
    d->batch = s->batch;
    d->height = s->height;
    d->width = s->width;
    d->rect = s->rect;
    d->heads = s->heads;
    d->confidence = s->confidence;
    d->iou = s->iou;
    d->max_det = s->max_det;
    d->agnostic = s->agnostic;
    d->obb_quarter = s->obb_quarter;
    d->classes = p->classes;
    d->n_classes = s->n_classes;
    d->peak_threshold = s->peak_threshold;
    d->max_instances = s->max_instances;
    d->sleap = p->sleap;
    d->crop_turned = s->crop_turned;
    d->crop_batch = s->crop_batch;
    d->mask_neighbours = s->mask_neighbours;
}

sk_status sk_pipeline_copy_settings(sk_pipeline *p, const sk_pipeline_settings *given, sk_error *err)
{
    sk_pipeline_settings *s = &p->settings;
    *s = defaults();
    p->sleap = sleap_defaults();
    p->expect = (sk_frame){.size = sizeof p->expect, .format = SK_PIXEL_RGB};
    if (given)
        SK_TRY(sk_sized_read(given, s, sizeof *s, "settings of a pipeline", err));
    SK_TRY(check(s, err));
    if (s->sleap)
        SK_TRY(sk_sized_read(s->sleap, &p->sleap, sizeof p->sleap, "options of SLEAP", err));
    SK_TRY(check_sleap(&p->sleap, err));
    if (s->expect)
        SK_TRY(copy_expected(p, s->expect, err));
    SK_TRY(copy_text(s->runtime, &p->runtime, err));
    SK_TRY(copy_text(s->devices, &p->devices, err));
    SK_TRY(copy_text(s->precision, &p->precision, err));
    SK_TRY(copy_text(s->options, &p->options, err));
    SK_TRY(copy_classes(p, s->classes, s->n_classes, err));
    s->runtime = p->runtime;
    s->devices = p->devices;
    s->precision = p->precision;
    s->options = p->options;
    s->classes = p->classes;
    s->sleap = &p->sleap;
    s->expect = &p->expect;
    to_detector(p);
    return SK_OK;
}

sk_status sk_pipeline_copy_detector(sk_pipeline *p, const sk_detector_settings *given, sk_error *err)
{
    sk_detector_settings *d = &p->detector;
    char **texts[] = {&p->runtime, &p->precision, &p->options, &p->provider, &p->device_name};
    const char *from[] = {given->runtime, given->precision, given->engine_options, given->provider,
                          given->openvino_device};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sk_free(*texts[i]);
        SK_TRY(copy_text(from[i], texts[i], err));
    }
    sk_free(p->classes);
    p->classes = NULL;
    SK_TRY(copy_classes(p, given->classes, given->n_classes, err));
    *d = *given;
    d->runtime = p->runtime ? p->runtime : "cpu";
    d->precision = p->precision;
    d->engine_options = p->options;
    d->provider = p->provider;
    d->openvino_device = p->device_name;
    d->classes = p->classes;
    return SK_OK;
}

void sk_pipeline_free_settings(sk_pipeline *p)
{
    sk_free_all(p->provider, p->device_name, p->runtime, p->devices, p->precision, p->options, p->classes);
}
