/* SPDX-License-Identifier: Apache-2.0 */
#include "media/overlay.h"

#include "base/memory.h"
#include "base/object.h"
#include "media/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RIM        0x101010
#define MAX_TRACKS 1024 /* trails remembered; track ids share a place modulo this */
#define MAX_TRAIL  64

typedef struct trail {
    int32_t track;
    int32_t count, next;
    int64_t last_frame;
    float xy[MAX_TRAIL][2];
} trail;

struct sk_overlay {
    sk_overlay_settings settings;
    trail *trails;
    int64_t frame;
};

void sk_overlay_defaults(sk_overlay_settings *settings)
{
    *settings = (sk_overlay_settings){.min_keypoint_score = 0.3f, .trail = 30, .what = SK_DRAW_ALL};
}

sk_status sk_overlay_parse_what(const char *list, uint32_t *what, sk_error *err)
{
    static const char *const names[] = {"boxes", "labels", "scores", "keypoints", "skeleton", "trails"};
    uint32_t wanted = 0, unwanted = 0;
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ","), no = strncmp(at, "no-", 3) == 0 ? 3 : 0;
        uint32_t bit = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (length - no == strlen(names[i]) && memcmp(at + no, names[i], length - no) == 0)
                bit = 1u << i;
        if (!bit)
            return sk_fail(
                err, SK_ERR_ARG,
                "'%.*s' is nothing that is drawn; there are boxes, labels, scores, keypoints, skeleton "
                "and trails, and each with no- in front",
                (int)(length < 60 ? length : 60), at);
        *(no ? &unwanted : &wanted) |= bit;
        at += length + (at[length] == ',');
    }
    if (wanted && unwanted)
        return sk_fail(err, SK_ERR_ARG, "'%.100s': name what to draw (boxes,labels) or what not (no-scores)",
                       list);
    *what = wanted ? wanted : SK_DRAW_ALL & ~unwanted;
    return SK_OK;
}

sk_status sk_overlay_open(const sk_overlay_settings *settings, sk_overlay **out, sk_error *err)
{
    sk_overlay *overlay = sk_calloc(1, sizeof *overlay);
    if (overlay)
        overlay->trails = sk_calloc(MAX_TRACKS, sizeof *overlay->trails);
    if (!overlay || !overlay->trails) {
        sk_free(overlay);
        return sk_fail_memory(err, MAX_TRACKS * sizeof *overlay->trails);
    }
    overlay->settings = *settings;
    if (overlay->settings.trail > MAX_TRAIL)
        overlay->settings.trail = MAX_TRAIL;
    for (int i = 0; i < MAX_TRACKS; i++)
        overlay->trails[i].track = -1;
    *out = overlay;
    return SK_OK;
}

void sk_overlay_close(sk_overlay **overlay)
{
    SK_TAKE_OR_RETURN(o, overlay);
    sk_free_all(o->trails, o);
}

static void rimmed_line(sk_frame *frame, float x0, float y0, float x1, float y1, float thickness,
                        uint32_t colour)
{
    sk_draw_line(frame, x0, y0, x1, y1, thickness + 2, RIM);
    sk_draw_line(frame, x0, y0, x1, y1, thickness, colour);
}

static void rimmed_polygon(sk_frame *frame, const float *xy, int n, float thickness, uint32_t colour)
{
    sk_draw_polygon(frame, xy, n, thickness + 2, RIM);
    sk_draw_polygon(frame, xy, n, thickness, colour);
}

/* Dashes of about six line widths. */
static void dashed_polygon(sk_frame *frame, const float *xy, int n, float thickness, uint32_t colour)
{
    for (int i = 0; i < n; i++) {
        const float *a = &xy[2 * i], *b = &xy[2 * ((i + 1) % n)];
        const float length = hypotf(b[0] - a[0], b[1] - a[1]);
        if (!isfinite(length))
            continue;
        const int pieces = (int)fminf(200, fmaxf(3, roundf(length / (6 * thickness))));
        for (int k = 0; k < pieces; k += 2) {
            const float from = (float)k / (float)pieces, to = fminf(1, (float)(k + 1) / (float)pieces);
            rimmed_line(frame, a[0] + from * (b[0] - a[0]), a[1] + from * (b[1] - a[1]),
                        a[0] + to * (b[0] - a[0]), a[1] + to * (b[1] - a[1]), thickness, colour);
        }
    }
}

/* From the middle to the head. */
static void draw_heading(sk_frame *frame, const sk_overlay_track *t, float thickness, uint32_t colour)
{
    const float x = t->x + t->reach * cosf(t->heading), y = t->y + t->reach * sinf(t->heading);
    if (!isfinite(x) || !isfinite(y) || t->reach <= 0)
        return;
    rimmed_line(frame, t->x, t->y, x, y, thickness, colour);
    sk_draw_disc(frame, x, y, 1.6f * thickness + 1, RIM);
    sk_draw_disc(frame, x, y, 1.6f * thickness, colour);
}

static void obb_corners(const float obb[5], float xy[8])
{
    float c = cosf(obb[4]), s = sinf(obb[4]), w = obb[2] / 2, h = obb[3] / 2;
    static const float sign[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (int i = 0; i < 4; i++) {
        xy[2 * i] = obb[0] + sign[i][0] * w * c - sign[i][1] * h * s;
        xy[2 * i + 1] = obb[1] + sign[i][0] * w * s + sign[i][1] * h * c;
    }
}

/* Middle of an instance: of its box, else of the keypoints that were found. */
static bool centre_of(const sk_instances *all, const sk_found *in, float *x, float *y)
{
    if (in->has & SK_HAS_OBB) {
        *x = in->obb[0], *y = in->obb[1];
        return true;
    }
    if (in->has & SK_HAS_BOX) {
        *x = (in->box[0] + in->box[2]) / 2, *y = (in->box[1] + in->box[3]) / 2;
        return true;
    }
    int found = 0;
    *x = *y = 0;
    for (int32_t k = 0; k < all->n_keypoints; k++) {
        const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
        if (isnan(p->x))
            continue;
        *x += p->x, *y += p->y;
        found++;
    }
    if (found)
        *x /= (float)found, *y /= (float)found;
    return found > 0;
}

static void draw_trail(sk_overlay *overlay, sk_frame *frame, const sk_instances *all, const sk_found *in,
                       float thickness, uint32_t colour)
{
    float x, y;
    if (!(overlay->settings.what & SK_DRAW_TRAILS) || in->track_id < 0 || overlay->settings.trail < 2 ||
        !centre_of(all, in, &x, &y))
        return;
    trail *t = &overlay->trails[in->track_id % MAX_TRACKS];
    if (t->track != in->track_id || overlay->frame - t->last_frame > overlay->settings.trail)
        *t = (trail){.track = in->track_id};
    t->xy[t->next][0] = x, t->xy[t->next][1] = y;
    t->next = (t->next + 1) % MAX_TRAIL;
    t->last_frame = overlay->frame;
    if (t->count < overlay->settings.trail)
        t->count++;
    for (int i = 1; i < t->count; i++) {
        const float *a = t->xy[(t->next - i + MAX_TRAIL) % MAX_TRAIL];
        const float *b = t->xy[(t->next - i - 1 + MAX_TRAIL) % MAX_TRAIL];
        sk_draw_line(frame, a[0], a[1], b[0], b[1], thickness, colour);
    }
}

static void draw_skeleton(const sk_overlay *overlay, sk_frame *frame, const sk_instances *all,
                          const sk_found *in, float thickness, uint32_t colour)
{
    const sk_keypoint *p = all->keypoints + in->first_keypoint;
    float least = overlay->settings.min_keypoint_score;
    const uint32_t what = overlay->settings.what;
    for (int32_t e = 0; e < overlay->settings.n_edges && (what & SK_DRAW_SKELETON); e++) {
        int32_t a = overlay->settings.edges[e][0], b = overlay->settings.edges[e][1];
        if (a < all->n_keypoints && b < all->n_keypoints && p[a].score >= least && p[b].score >= least)
            rimmed_line(frame, p[a].x, p[a].y, p[b].x, p[b].y, thickness, colour); /* NaN draws nothing */
    }
    for (int32_t k = 0; k < all->n_keypoints && (what & SK_DRAW_KEYPOINTS); k++) {
        if (!(p[k].score >= least))
            continue;
        sk_draw_disc(frame, p[k].x, p[k].y, 1.3f * thickness + 1, RIM);
        sk_draw_disc(frame, p[k].x, p[k].y, 1.3f * thickness, sk_draw_palette(k + 1));
    }
}

/* "#3 mouse 0.87", or the parts of it that are wanted. */
static void label_of(const sk_overlay *overlay, const sk_found *in, char *text, size_t capacity)
{
    const uint32_t what = overlay->settings.what;
    bool known = in->class_id >= 0 && in->class_id < overlay->settings.n_classes;
    const char *name = (what & SK_DRAW_LABELS) && known ? overlay->settings.class_names[in->class_id] : "";
    char track[16] = "", score[16] = "";
    if ((what & SK_DRAW_LABELS) && in->track_id >= 0)
        snprintf(track, sizeof track, "#%d", in->track_id);
    if (what & SK_DRAW_SCORES)
        snprintf(score, sizeof score, "%.2f", (double)in->score);
    snprintf(text, capacity, "%s%s%.60s%s%s", track, track[0] && (name[0] || score[0]) ? " " : "", name,
             name[0] && score[0] ? " " : "", score);
}

static void draw_label(const sk_overlay *overlay, sk_frame *frame, const sk_instances *all,
                       const sk_found *in, int scale, uint32_t colour)
{
    float x, y;
    char text[96];
    label_of(overlay, in, text, sizeof text);
    if (!text[0] || !centre_of(all, in, &x, &y))
        return;
    if (in->has & SK_HAS_BOX)
        x = in->box[0], y = in->box[1];
    int width = sk_draw_text_width(scale, text) + 2 * scale, height = sk_draw_text_height(scale) + 2 * scale;
    if (isnan(x) || isnan(y))
        return;
    const int left = (int)fmaxf(fminf(x, (float)(frame->width - width)), 0);
    const int top = (int)fminf(fmaxf(y - (float)height, 0), (float)frame->height);
    /* Dark text on bright colours, white on dark ones. */
    int brightness =
        (int)(((colour >> 16) & 255) * 299 + ((colour >> 8) & 255) * 587 + (colour & 255) * 114) / 1000;
    sk_draw_fill(frame, left, top, width, height, colour, 0.85f);
    sk_draw_text(frame, left + scale, top + scale, scale, brightness > 140 ? 0x000000 : 0xFFFFFF, text);
}

static void draw_box(sk_frame *frame, const sk_found *in, bool dashed, float thickness, uint32_t colour)
{
    float xy[8] = {in->box[0], in->box[1], in->box[2], in->box[1],
                   in->box[2], in->box[3], in->box[0], in->box[3]};
    if (in->has & SK_HAS_OBB)
        obb_corners(in->obb, xy);
    else if (!(in->has & SK_HAS_BOX))
        return;
    if (dashed)
        dashed_polygon(frame, xy, 4, thickness, colour);
    else
        rimmed_polygon(frame, xy, 4, thickness, colour);
}

void sk_overlay_draw_tracks(sk_overlay *overlay, sk_frame *frame, const sk_instances *all,
                            const sk_overlay_track *tracks)
{
    int shorter = frame->width < frame->height ? frame->width : frame->height;
    float thickness =
        overlay->settings.line_width > 0 ? overlay->settings.line_width : fmaxf(1.0f, (float)shorter / 360);
    int scale = shorter / 480 + 1;
    overlay->frame++;
    for (int32_t i = 0; i < all->count; i++) {
        const sk_found *in = &all->items[i];
        const sk_overlay_track *track = tracks ? &tracks[i] : NULL;
        uint32_t colour = track               ? sk_draw_identity(track->track)
                          : in->track_id >= 0 ? sk_draw_palette(in->track_id)
                          : in->class_id >= 0 ? sk_draw_palette(in->class_id)
                                              : sk_draw_palette(i);
        draw_trail(overlay, frame, all, in, thickness, colour);
        if (overlay->settings.what & SK_DRAW_BOXES)
            draw_box(frame, in, track && track->covered, thickness, colour);
        if (track && (overlay->settings.what & SK_DRAW_BOXES))
            draw_heading(frame, track, thickness, colour);
        if (in->has & SK_HAS_KEYPOINTS)
            draw_skeleton(overlay, frame, all, in, thickness, colour);
        draw_label(overlay, frame, all, in, scale, colour);
    }
}

void sk_overlay_draw(sk_overlay *overlay, sk_frame *frame, const sk_instances *all)
{
    sk_overlay_draw_tracks(overlay, frame, all, NULL);
}
