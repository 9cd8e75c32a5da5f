/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_core_internal.h"

#include "app/live_header.h"
#include "app/overlay_run.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sized.h"
#include "kernels/plain.h"

#include <math.h>
#include <string.h>

/* What was found, as messages tell it; who is who; and the picture with both drawn in. */

sk_status sk_node_open_told(sk_node_core *c, sk_error *err)
{
    const sk_pipeline_info *about = sk_pipeline_about(c->pipeline);
    sk_overlay_settings draw;
    sk_overlay_defaults(&draw);
    draw.n_classes = about->n_classes;
    draw.class_names = about->class_names;
    draw.n_edges = about->n_edges;
    draw.edges = about->edges;
    SK_TRY(sk_overlay_open(&draw, &c->overlay, err));
    c->class_numbers = sk_calloc((size_t)about->n_classes + 1, sizeof *c->class_numbers);
    if (!c->class_numbers)
        return sk_fail_memory(err, sizeof *c->class_numbers);
    for (int32_t i = 0; i < about->n_classes; i++)
        snprintf(c->class_numbers[i], sizeof c->class_numbers[i], "%d", i);
    if (!sk_node_settings_follows(c->settings))
        return SK_OK;
    c->header = sk_live_header_of(about);
    sk_track_wish_defaults(&c->wish);
    c->wish.online = true;
    c->wish.track.method = sk_node_settings_get(c->settings, "tracker");
    c->wish.track.animals = sk_node_settings_int(c->settings, "animals");
    c->wish.track.tell_covered = true;
    return sk_track_teller_open(&c->wish, &c->header, &c->teller, err);
}

void sk_node_close_told(sk_node_core *c)
{
    sk_track_teller_close(&c->teller);
    sk_overlay_close(&c->overlay);
    sk_free_all(c->drawn, c->row, c->class_numbers, c->out.track_of);
}

sk_status sk_node_follow(sk_node_core *c, sk_error *err)
{
    const sk_result *of = c->out.of;
    c->out.told.instances = of->instances;
    c->out.told.n_objects = sk_instances_count(of->instances);
    c->out.tracks = (sk_result_frame){0};
    if (!c->teller)
        return SK_OK;
    const int64_t stamp = c->out.told.stamp_ns;
    if (c->entry > 0 && stamp < c->last_ns) {
        sk_log(SK_LOG_WARN, "stamps went back by %.3f s: tracks begin anew",
               (double)(c->last_ns - stamp) * 1e-9);
        c->entry = 0;
    }
    if (c->entry == 0)
        c->first_ns = stamp;
    c->last_ns = stamp;
    const sk_result_frame known = {.source = "",
                                   .index = c->entry,
                                   .time = (double)(stamp - c->first_ns) * 1e-9,
                                   .width = of->width,
                                   .height = of->height,
                                   .instances = of->instances};
    const sk_status status = sk_track_teller_tell(c->teller, c->entry, &known, &c->out.tracks, err);
    c->entry += c->entry > 0 || status == SK_OK; /* what could not begin begins with the next picture */
    SK_TRY(status);
    const int32_t n = c->out.told.n_objects;
    SK_TRY(sk_array_reserve((void **)&c->out.track_of, &c->out.track_capacity, (size_t)n + 1,
                            sizeof *c->out.track_of, SIZE_MAX / 64, err));
    c->out.told.n_tracks = c->out.tracks.instances->count;
    for (int32_t i = 0; i < n; i++)
        c->out.track_of[i] = -1;
    for (int32_t i = 0; i < c->out.told.n_tracks; i++) {
        const sk_sighting *s = &c->out.tracks.sightings[i];
        if (s->detection >= 0 && s->detection < n)
            c->out.track_of[s->detection] = s->track;
    }
    return SK_OK;
}

/* --- as messages have it --- */

static void set_box(sk_node_object *o, double x1, double y1, double x2, double y2)
{
    o->x = (x1 + x2) / 2;
    o->y = (y1 + y2) / 2;
    o->size_x = x2 - x1;
    o->size_y = y2 - y1;
    o->theta = 0;
}

static void hold_points(sk_node_object *o, int32_t n)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < n; i++) {
        const double at[2] = {(double)o->points[i].x, (double)o->points[i].y};
        for (int k = 0; k < 2 && !isnan(at[0]); k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    if (low[0] <= high[0])
        set_box(o, low[0], low[1], high[0], high[1]);
}

static const char *class_name(const sk_node_core *c, int32_t class_id)
{
    const sk_pipeline_info *about = sk_pipeline_about(c->pipeline);
    if (class_id < 0 || class_id >= about->n_classes)
        return "";
    const char *name = about->class_names[class_id];
    return name && name[0] ? name : c->class_numbers[class_id];
}

static bool fill_object(const sk_node_core *c, const sk_instances *list, int32_t index, sk_node_object *out)
{
    sk_instance found = SK_INSTANCE_INIT;
    if (!sk_instances_get(list, index, &found))
        return false;
    *out = (sk_node_object){.size = sizeof *out,
                            .class_id = found.class_id,
                            .class_name = class_name(c, found.class_id),
                            .score = found.score,
                            .track = found.track_id,
                            .points = sk_instances_keypoints(list, index)};
    if (!(found.has & SK_HAS_KEYPOINTS))
        out->points = NULL;
    if (found.has & SK_HAS_OBB) {
        out->x = (double)found.obb[0];
        out->y = (double)found.obb[1];
        out->size_x = (double)found.obb[2];
        out->size_y = (double)found.obb[3];
        out->theta = (double)found.obb[4];
    } else if (found.has & SK_HAS_BOX) {
        set_box(out, (double)found.box[0], (double)found.box[1], (double)found.box[2], (double)found.box[3]);
    } else if (out->points) {
        hold_points(out, sk_instances_keypoint_count(list));
    }
    return true;
}

bool sk_node_result_object(const sk_node_result *result, int32_t index, sk_node_object *out)
{
    const sk_node_out *o = (const sk_node_out *)result;
    sk_node_object whole;
    if (!result || index < 0 || index >= result->n_objects)
        return false;
    if (!fill_object(o->core, result->instances, index, &whole))
        return false;
    if (o->tracks.sightings)
        whole.track = o->track_of[index];
    sk_sized_write(out, &whole, sizeof whole);
    return true;
}

bool sk_node_result_track(const sk_node_result *result, int32_t index, sk_node_track *out)
{
    static const char *const states[] = {"active", "covered", "lost"};
    const sk_node_out *o = (const sk_node_out *)result;
    if (!result || index < 0 || index >= result->n_tracks)
        return false;
    const sk_sighting *s = &o->tracks.sightings[index];
    sk_node_track whole = {.size = sizeof whole,
                           .id = s->track,
                           .state = states[s->state],
                           .x = s->x,
                           .y = s->y,
                           .heading = s->heading,
                           .certainty = (float)s->certainty};
    if (!fill_object(o->core, o->tracks.instances, index, &whole.object))
        return false;
    if (s->detection < 0)
        whole.object.points = NULL; /* nothing was found of it */
    sk_sized_write(out, &whole, sizeof whole);
    return true;
}

/* --- drawn --- */

/* All rows as RGB without gaps. */
static sk_status copy_rgb(sk_node_core *c, const sk_frame *from, uint8_t *rgb, sk_error *err)
{
    const sk_pixel_format plain = sk_plain_format(from->format);
    const sk_nv12_weights w = sk_nv12_weights_of(from->matrix, from->full_range);
    const size_t width = (size_t)from->width;
    SK_TRY(sk_array_reserve((void **)&c->row, &c->row_bytes, 3 * width + 64, 1, SIZE_MAX / 2, err));
    for (int32_t y = 0; y < from->height; y++) {
        uint8_t *to = rgb + (size_t)y * 3 * width;
        if (from->format == plain)
            memcpy(c->row, from->data + y * from->stride, plain == SK_PIXEL_GRAY ? width : 3 * width);
        else
            sk_plain_row(from, &w, y, c->row);
        for (size_t x = 0; x < width; x++)
            for (size_t k = 0; k < 3; k++)
                to[3 * x + k] = c->row[plain == SK_PIXEL_GRAY  ? x
                                       : plain == SK_PIXEL_BGR ? 3 * x + 2 - k
                                                               : 3 * x + k];
    }
    return SK_OK;
}

static sk_status note_tracks(sk_node_core *c, const sk_result_frame *tracks, sk_error *err)
{
    const int32_t n = tracks->instances->count;
    SK_TRY(sk_array_reserve((void **)&c->drawn, &c->drawn_capacity, (size_t)n + 1, sizeof *c->drawn,
                            SIZE_MAX / 64, err));
    for (int32_t i = 0; i < n; i++)
        c->drawn[i] = sk_overlay_track_of(&tracks->sightings[i]);
    return SK_OK;
}

sk_status sk_node_core_draw(sk_node_core *c, const sk_node_result *result, uint8_t *rgb, size_t bytes,
                            sk_error *err)
{
    const sk_frame *frame = c->out.of ? c->out.of->frame : NULL;
    if (!result || !frame)
        return sk_fail(err, SK_ERR_ARG, "there is no picture to draw on");
    if (!rgb || bytes < (size_t)frame->width * (size_t)frame->height * 3)
        return sk_fail(err, SK_ERR_ARG, "%zu bytes hold no picture of %d x %d pixels", bytes, frame->width,
                       frame->height);
    SK_TRY(copy_rgb(c, frame, rgb, err));
    sk_frame canvas = SK_FRAME_INIT;
    canvas.format = SK_PIXEL_RGB;
    canvas.width = frame->width;
    canvas.height = frame->height;
    canvas.data = rgb;
    canvas.stride = (ptrdiff_t)3 * frame->width;
    canvas.index = frame->index;
    const bool followed = c->out.tracks.sightings != NULL;
    if (followed)
        SK_TRY(note_tracks(c, &c->out.tracks, err));
    if (result->instances)
        sk_overlay_draw_tracks(c->overlay, &canvas, followed ? c->out.tracks.instances : result->instances,
                               followed ? c->drawn : NULL);
    return SK_OK;
}
