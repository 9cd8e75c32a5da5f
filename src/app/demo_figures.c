/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "media/video_sink.h"
#include "base/instances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Drawings of the report, as SVG and as pictures in the page. Colours that must suit light and dark are the page's. */

/* --- where the time goes --- */

enum { STAGES = 6, ROW = 30, LEFT = 180, WIDE = 420, RIGHT = 200 };
static const char *const stage_names[STAGES] = {"decode", "pre", "network", "post", "write", "overlay"};

static void stage_times(const sk_predict_report *p, double ms[STAGES])
{
    const double seconds[STAGES] = {p->decode, p->pre, p->network, p->post, p->write, p->overlay};
    for (int i = 0; i < STAGES; i++)
        ms[i] = p->frames > 0 ? 1e3 * seconds[i] / (double)p->frames : 0;
}

static double stage_sum(const sk_predict_report *p)
{
    double ms[STAGES], sum = 0;
    stage_times(p, ms);
    for (int i = 0; i < STAGES; i++)
        sum += ms[i];
    return sum;
}

static void stage_bar(const sk_predict_report *p, const char *name, double scale, int row, sk_text *page)
{
    double ms[STAGES], at = LEFT;
    int top = row * ROW;
    stage_times(p, ms);
    sk_text_appendf(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8, top + 18);
    sk_text_append_markup(page, name);
    sk_text_append(page, "</text>");
    for (int i = 0; i < STAGES; i++) {
        double width = ms[i] * scale;
        sk_text_appendf(
            page,
            "<rect class=\"s%d\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"20\"><title>%s %.2f ms"
            "</title></rect>",
            i, at, top + 4, fmax(width, 0), stage_names[i], ms[i]);
        at += width;
    }
    sk_text_appendf(page, "<text x=\"%.1f\" y=\"%d\">%.1f frames/s</text>\n", at + 6, top + 18,
                    p->seconds > 0 ? (double)p->frames / p->seconds : 0);
}

void sk_demo_figure_stages(const sk_demo_report *r, sk_text *page)
{
    double most = 0;
    int rows = 0;
    for (int32_t i = 0; i < r->n_entries; i++)
        for (int part = 0; part < SK_DEMO_PARTS; part++) {
            bool there = !r->entries[i].failed && r->entries[i].parts[part].frames > 0;
            rows += there;
            most = there ? fmax(most, stage_sum(&r->entries[i].parts[part])) : most;
        }
    if (rows == 0 || !(most > 0)) {
        sk_text_append(page,
                       "<p>Both parts had been done by an earlier run, so there is nothing to show.</p>\n");
        return;
    }
    sk_text_appendf(page,
                    "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"milliseconds a frame by stage\">\n",
                    LEFT + WIDE + RIGHT, rows * ROW + 4);
    int row = 0;
    for (int32_t i = 0; i < r->n_entries; i++)
        for (int part = 0; part < SK_DEMO_PARTS; part++) {
            char name[64];
            if (r->entries[i].failed || r->entries[i].parts[part].frames <= 0)
                continue;
            snprintf(name, sizeof name, "%s, %s", sk_demo_part_names[part], r->entries[i].runtime);
            stage_bar(&r->entries[i].parts[part], name, WIDE / most, row++, page);
        }
    sk_text_append(page, "</svg>\n<p class=\"legend\">");
    for (int i = 0; i < STAGES; i++)
        sk_text_appendf(page, "<span><i class=\"s%d\"></i>%s</span> ", i, stage_names[i]);
    sk_text_append(page, "</p>\n");
}

/* --- how far the keypoints are off --- */

void sk_demo_figure_errors(const sk_demo_report *r, sk_text *page)
{
    const sk_eval_report *e = &r->entries[0].scores[SK_DEMO_POSES];
    double most = 0;
    for (int32_t k = 0; k < e->n_keypoints; k++)
        most = fmax(most, e->keypoints[k].points.p90_percent);
    if (!(most > 0))
        return;
    sk_text_appendf(
        page,
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"error of each keypoint in percent of the "
        "body's length\">\n",
        LEFT + WIDE + RIGHT, e->n_keypoints * ROW + 4);
    for (int32_t k = 0; k < e->n_keypoints; k++) {
        const sk_eval_errors *p = &e->keypoints[k].points;
        int top = k * ROW;
        sk_text_appendf(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8, top + 18);
        sk_text_append_markup(page, e->keypoints[k].name);
        sk_text_append(page, "</text>");
        if (p->measured <= 0)
            continue;
        double median = p->median_percent * WIDE / most, p90 = p->p90_percent * WIDE / most;
        sk_text_appendf(page,
                        "<rect class=\"s2\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"20\"/>"
                        "<line class=\"whisker\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                        "<text x=\"%.1f\" y=\"%d\">%.2f %%, %.2f %%</text>\n",
                        LEFT, top + 4, median, LEFT + median, top + 14, LEFT + p90, top + 14, LEFT + p90 + 6,
                        top + 18, p->median_percent, p->p90_percent);
    }
    sk_text_append(
        page,
        "</svg>\n<p class=\"note\">bar: median; line: up to the 90th percentile; both in percent of the "
        "body's length</p>\n");
}

/* --- frames --- */

#define SAMPLES 4
#define TRAIL   30   /* frames before a picture that its trails come from */
#define MOST    1024 /* animals in a frame */

typedef struct canvas {
    sk_overlay *tracks, *poses;
    sk_instances items;
    sk_overlay_track who[MOST];
    sk_frame scrap; /* what trails are drawn into before the picture they end in */
} canvas;

static int32_t species_of(const char *name)
{
    for (int32_t i = 0; i < SK_SPECIES_COUNT; i++)
        if (strcmp(name, sk_species_names[i]) == 0)
            return i;
    return -1;
}

/* What one part found in a frame, as the overlay wants it. */
static void take_frame(const sk_annotation_set *set, int64_t frame, uint32_t has, canvas *c)
{
    sk_instances *out = &c->items;
    out->count = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        const sk_annotation *a = &set->items[i];
        if (set->images[a->image].frame != frame || !(a->has & has))
            continue;
        sk_found *in = out->count < MOST ? sk_instances_add(out) : NULL;
        if (!in)
            return;
        in->has =
            has == SK_HAS_OBB ? has | (a->has & SK_HAS_BOX) : has; /* the label stands at the box's corner */
        in->class_id = species_of(set->classes[a->class_id].name);
        in->score = (float)a->score;
        in->track_id = (int32_t)a->track;
        for (int k = 0; k < 5; k++)
            in->obb[k] = (float)a->obb[k];
        for (int k = 0; k < 4; k++)
            in->box[k] = (float)(k < 2 ? a->box[k] : a->box[k - 2] + a->box[k]);
        c->who[out->count - 1] = (sk_overlay_track){.track = in->track_id}; /* its box says where */
        for (int32_t k = 0; has == SK_HAS_KEYPOINTS && k < set->n_keypoints && k < out->n_keypoints; k++) {
            const sk_annotation_point *p = &set->points[a->first + (size_t)k];
            out->keypoints[in->first_keypoint + k] = (sk_keypoint){(float)p->x, (float)p->y, (float)p->score};
        }
    }
}

static sk_status open_canvas(const sk_demo_settings *s, const sk_demo_sets *sets, canvas *c, sk_error *err)
{
    sk_overlay_settings o;
    sk_overlay_defaults(&o);
    o.class_names = sk_species_names;
    o.n_classes = SK_SPECIES_COUNT;
    o.what &= ~SK_DRAW_SCORES;
    o.trail = TRAIL;
    SK_TRY(sk_overlay_open(&o, &c->tracks, err));
    o.what &= ~(SK_DRAW_LABELS | SK_DRAW_TRAILS);
    o.edges = sk_scene_edges;
    o.n_edges = SK_SCENE_EDGES;
    SK_TRY(sk_overlay_open(&o, &c->poses, err));
    c->scrap = (sk_frame){.format = SK_PIXEL_RGB,
                          .width = s->scene.width,
                          .height = s->scene.height,
                          .stride = 3 * (ptrdiff_t)s->scene.width};
    c->scrap.data = sk_calloc((size_t)s->scene.height, (size_t)c->scrap.stride);
    if (!c->scrap.data)
        return sk_fail_memory(err, (size_t)s->scene.height * (size_t)c->scrap.stride);
    return sk_instances_alloc(512, sets->found[SK_DEMO_POSES].n_keypoints, &c->items, err);
}

static void draw_identities(const sk_demo_sets *sets, canvas *c, sk_frame *frame)
{
    const uint32_t has = sets->tracks.has & SK_HAS_OBB ? SK_HAS_OBB : SK_HAS_BOX;
    for (int64_t at = frame->index - TRAIL; at <= frame->index; at++) {
        take_frame(&sets->tracks, at, has, c);
        sk_overlay_draw_tracks(c->tracks, at < frame->index ? &c->scrap : frame, &c->items, c->who);
    }
}

static sk_status add_frame(const sk_demo_settings *s, const sk_demo_sets *sets, canvas *c,
                           const sk_frame *frame, int number, sk_text *page, sk_error *err)
{
    /* The source's frame is lent; the drawing goes into it all the same, nobody looks at it again. */
    sk_frame own = *frame;
    take_frame(&sets->found[SK_DEMO_POSES], frame->index, SK_HAS_KEYPOINTS, c);
    sk_overlay_draw(c->poses, &own, &c->items);
    draw_identities(sets, c, &own);
    uint8_t *bytes = NULL;
    size_t length = 0;
    SK_TRY(sk_picture_jpeg(&own, 85, &bytes, &length, err));
    sk_status status = SK_OK;
    if (number == 0) { /* one also as a file */
        char *path = sk_path_join(s->out, "sample.jpg");
        status = path ? sk_file_replace(path, bytes, length, err) : sk_fail_memory(err, 64);
        sk_free(path);
    }
    sk_text_appendf(page,
                    "<figure><img alt=\"frame %lld with identities and poses\" width=\"%d\" height=\"%d\" "
                    "src=\"data:image/jpeg;base64,",
                    (long long)frame->index, frame->width, frame->height);
    sk_text_append_base64(page, bytes, length);
    sk_text_appendf(page, "\"/><figcaption>frame %lld</figcaption></figure>\n", (long long)frame->index);
    sk_free(bytes);
    return status;
}

sk_status sk_demo_figure_frames(const sk_demo_settings *s, const sk_demo_report *r, const sk_demo_sets *sets,
                                sk_text *page, sk_error *err)
{
    sk_source *source = NULL;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&media);
    media.step = r->frames / SAMPLES > 0 ? r->frames / SAMPLES : 1;
    media.first = media.step / 2;
    char *scene = sk_demo_scene(s->out);
    canvas *c = sk_calloc(1, sizeof *c);
    sk_status status = scene && c ? SK_OK : sk_fail_memory(err, sizeof *c);
    if (status != SK_OK) {
        sk_free(scene);
        sk_free(c);
        return status;
    }
    SK_TRY_GOTO(open_canvas(s, sets, c, err));
    SK_TRY_GOTO(sk_source_open(scene, &media, &source, err));
    for (int i = 0; i < SAMPLES; i++) {
        const sk_frame *frame = NULL;
        SK_TRY_GOTO(sk_source_next(source, &frame, err));
        if (!frame)
            break;
        status = add_frame(s, sets, c, frame, i, page, err);
        sk_source_release(source, frame);
        if (status != SK_OK)
            goto done;
    }
done:
    sk_source_close(&source);
    sk_overlay_close(&c->tracks);
    sk_overlay_close(&c->poses);
    sk_instances_free(&c->items);
    sk_free(c->scrap.data);
    sk_free(c);
    sk_free(scene);
    return status;
}
