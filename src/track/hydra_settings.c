/* SPDX-License-Identifier: Apache-2.0 */
#include "track/hydra_settings.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Seconds, or frames of an older configuration. */
static void seconds(const sk_hydra_config *c, const char *key, const char *frames_key, double fps,
                    double *out)
{
    if (!sk_hydra_number(c, key, out) && frames_key && sk_hydra_number(c, frames_key, out))
        *out /= fps;
}

static bool is_on(const sk_hydra_config *c, const char *key, bool fallback)
{
    bool on = fallback;
    sk_hydra_truth(c, key, &on);
    return on;
}

static void read_filter(const sk_hydra_config *c, sk_track_settings *t)
{
    double value = 0;
    sk_hydra_number(c, "yolo_confidence_threshold", &t->filter.score);
    sk_hydra_number(c, "yolo_iou_threshold", &t->filter.overlap);
    if (sk_hydra_number(c, "max_targets", &value) || sk_hydra_number(c, "animals_per_arena", &value)) {
        t->animals = (int32_t)value;
        t->filter.most = (int32_t)value;
    }
    if (is_on(c, "enable_size_filtering", false) && t->body > 0) {
        const double disc = M_PI * (t->body / 2) * (t->body / 2);
        double least = 0.3, most = 3;
        sk_hydra_number(c, "min_object_size_multiplier", &least);
        sk_hydra_number(c, "max_object_size_multiplier", &most);
        t->filter.area_least = least * disc;
        t->filter.area_most = most * disc;
    }
    if (is_on(c, "enable_aspect_ratio_filtering", false)) {
        double aspect = 2, least = 0.5, most = 2;
        sk_hydra_number(c, "reference_aspect_ratio", &aspect);
        sk_hydra_number(c, "min_aspect_ratio_multiplier", &least);
        sk_hydra_number(c, "max_aspect_ratio_multiplier", &most);
        t->filter.aspect_least = least * aspect;
        t->filter.aspect_most = most * aspect;
    }
}

static void read_motion_and_life(const sk_hydra_config *c, double fps, sk_track_settings *t)
{
    sk_hydra_number(c, "kalman_longitudinal_noise_multiplier", &t->motion.longitudinal_noise);
    sk_hydra_number(c, "kalman_lateral_noise_multiplier", &t->motion.lateral_noise);
    sk_hydra_number(c, "kalman_velocity_damping", &t->motion.damping);
    seconds(c, "kalman_maturity_age_seconds", "kalman_maturity_age", fps, &t->motion.maturity);
    sk_hydra_number(c, "kalman_initial_velocity_retention", &t->motion.young_retention);
    sk_hydra_number(c, "kalman_max_velocity_multiplier", &t->motion.most_speed);
    sk_hydra_number(c, "max_assignment_distance_multiplier", &t->life.gate);
    sk_hydra_number(c, "min_respawn_distance_multiplier", &t->life.apart);
    sk_hydra_number(c, "association_high_confidence_threshold", &t->life.strong);
    seconds(c, "lost_threshold_seconds", "lost_threshold_frames", fps, &t->life.covered);
    seconds(c, "min_detections_to_start_seconds", NULL, fps, &t->life.start);
}

static sk_status read_offline(const sk_hydra_config *c, const char *what, double fps, sk_offline_settings *s,
                              sk_error *err)
{
    sk_hydra_truth(c, "enable_backward_tracking", &s->backward);
    seconds(c, "stitch_max_gap_seconds", NULL, fps, &s->stitch_gap);
    seconds(c, "interpolation_max_gap_seconds", NULL, fps, &s->interpolate_gap);
    seconds(c, "min_trajectory_length_seconds", "min_trajectory_length", fps, &s->shortest);
    double value = 0;
    if (sk_hydra_number(c, "heading_flip_max_burst", &value))
        s->flip_burst = (int32_t)value;
    if (sk_hydra_number(c, "max_velocity_break", &value) && s->track.body > 0)
        s->velocity_limit = value * s->track.body / fps;
    const char *method = sk_hydra_text(c, "interpolation_method");
    if (!method)
        return SK_OK;
    static const struct {
        const char *name;
        sk_interpolation method;
    } methods[] = {{"linear", SK_INTERPOLATION_LINEAR},
                   {"cubic", SK_INTERPOLATION_CUBIC},
                   {"spline", SK_INTERPOLATION_CUBIC},
                   {"none", SK_INTERPOLATION_NONE}};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (!strcasecmp(method, methods[i].name)) {
            s->method = methods[i].method;
            return SK_OK;
        }
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s: interpolation_method is \"%.40s\"; it can be Linear, Cubic, Spline or None", what,
                   method);
}

static sk_status bad_shape(const char *what, size_t i, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: shape %zu of roi_shapes %s", what, i + 1, why);
}

static sk_status add_polygon(const sk_config_value *points, bool include, const char *what, size_t at,
                             sk_region *region, sk_error *err)
{
    const size_t n = sk_config_count(points);
    if (n < 3 || n > 100000)
        return bad_shape(what, at, "needs three corners at least (params: [[x, y], …])", err);
    double *xy = sk_malloc(2 * n * sizeof *xy);
    if (!xy)
        return sk_fail_memory(err, 2 * n * sizeof *xy);
    sk_status status = SK_OK;
    for (size_t i = 0; i < n && status == SK_OK; i++) {
        const sk_config_value *point = sk_config_at(points, i);
        if (sk_config_count(point) != 2 || !sk_config_to_real(sk_config_at(point, 0), &xy[2 * i]) ||
            !sk_config_to_real(sk_config_at(point, 1), &xy[2 * i + 1]) || !isfinite(xy[2 * i]) ||
            !isfinite(xy[2 * i + 1]))
            status = bad_shape(what, at, "has a corner that is not two numbers", err);
    }
    if (status == SK_OK)
        status = sk_region_add_polygon(region, include, xy, (int32_t)n, err);
    sk_free(xy);
    return status;
}

static sk_status add_shape(const sk_config_value *shape, const char *what, size_t at, sk_region *region,
                           sk_error *err)
{
    const char *type = sk_config_text_or(shape, "type", "");
    const char *mode = sk_config_text_or(shape, "mode", "include");
    const sk_config_value *params = sk_config_get(shape, "params");
    if (strcmp(mode, "include") != 0 && strcmp(mode, "exclude") != 0)
        return bad_shape(what, at, "has a mode that is neither include nor exclude", err);
    const bool include = !strcmp(mode, "include");
    if (!strcmp(type, "polygon"))
        return add_polygon(params, include, what, at, region, err);
    double v[3] = {0};
    if (strcmp(type, "circle") != 0)
        return bad_shape(what, at, "is neither a circle nor a polygon", err);
    for (size_t k = 0; k < 3; k++)
        if (sk_config_count(params) != 3 || !sk_config_to_real(sk_config_at(params, k), &v[k]) ||
            !isfinite(v[k]))
            return bad_shape(what, at, "needs a centre and a radius (params: [x, y, r])", err);
    if (!(v[2] > 0))
        return bad_shape(what, at, "has no radius", err);
    return sk_region_add_circle(region, include, v[0], v[1], v[2], err);
}

static sk_status read_region(const sk_hydra_config *c, const char *what, sk_region **region, sk_error *err)
{
    const sk_config_value *shapes = sk_hydra_list(c, "roi_shapes");
    if (!shapes)
        return SK_OK;
    sk_status status = sk_region_open(region, err);
    for (size_t i = 0; status == SK_OK && i < sk_config_count(shapes); i++)
        status = add_shape(sk_config_at(shapes, i), what, i, *region, err);
    if (status != SK_OK)
        sk_region_close(region);
    return status;
}

sk_status sk_hydra_settings(const sk_hydra_config *c, const char *what, sk_offline_settings *s,
                            sk_region **region, sk_error *err)
{
    *region = NULL;
    sk_hydra_number(c, "fps", &s->track.fps);
    sk_hydra_number(c, "reference_body_size", &s->track.body);
    const double fps = s->track.fps > 0 ? s->track.fps : 30;
    read_filter(c, &s->track);
    read_motion_and_life(c, fps, &s->track);
    SK_TRY(read_offline(c, what, fps, s, err));
    SK_TRY(read_region(c, what, region, err));
    if (*region)
        s->track.filter.region = *region;
    return SK_OK;
}
