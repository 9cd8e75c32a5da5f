/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_internal.h"

#include "media/draw.h"

#include <math.h>
#include <stdio.h>

/* The drawings of a report. Tracks have the colours they have in the overlay video. */

#define INK     0x333333u
#define DIM     0x707478u
#define LINE    0x2a6fb0u
#define LEGENDS 24 /* tracks that are named beside a drawing; the others are there without */

static uint32_t colour_of(int32_t track)
{
    return sk_draw_identity(track);
}

static double seconds_of(const sk_movement *m, int64_t frame)
{
    return (double)(frame - m->first_frame) / m->fps;
}

static double duration(const sk_movement *m)
{
    return fmax(seconds_of(m, m->last_frame + 1), 1 / m->fps);
}

static void legend(const sk_report *r, sk_chart *chart, float x, float y)
{
    char name[48];
    for (size_t i = 0; i < r->movement.n_tracks && i < LEGENDS; i++) {
        const int32_t track = r->movement.tracks[i].track;
        sk_chart_disc(chart, x + 5, y + 18 * (float)i - 4, 5, colour_of(track));
        snprintf(name, sizeof name, "%s %d", r->animal, track);
        sk_chart_text(chart, x + 16, y + 18 * (float)i, 12, -1, INK, name);
    }
    if (r->movement.n_tracks > LEGENDS) {
        snprintf(name, sizeof name, "and %zu more", r->movement.n_tracks - LEGENDS);
        sk_chart_text(chart, x + 16, y + 18 * LEGENDS, 12, -1, DIM, name);
    }
}

/* The frame's place in a chart: as large as fits, its proportions kept. */
static sk_axes arena(const sk_movement *m, float left, float top, float width, float most)
{
    const double w = m->width > 0 ? m->width : 1, h = m->height > 0 ? m->height : 1;
    const float high = (float)fmin(most, width * h / w);
    return (sk_axes){left, top, (float)(high * w / h), high, 0, w, h, 0};
}

/* --- where they went --- */

static bool draw_paths(const sk_report *r, sk_chart *chart)
{
    const sk_movement *m = &r->movement;
    if (m->width <= 0 || m->n_tracks == 0)
        return false;
    const sk_axes a = arena(m, 56, 16, 700, 620);
    const int high = (int)fmax(a.height + 70, 18.0 * (fmin((double)m->n_tracks, LEGENDS) + 2));
    sk_chart_begin(chart, 900, high, "where the animals went");
    if (r->ground.data)
        sk_chart_picture(chart, a.left, a.top, a.width, a.height, &r->ground);
    sk_axes_draw(chart, &a, "x, pixels", "y, pixels");
    for (size_t i = 0; i < m->n_tracks; i++) {
        const sk_movement_track *t = &m->tracks[i];
        float xy[2 * SK_MOVEMENT_PATH];
        for (size_t k = 0; k < t->n_path; k++) {
            const bool there = !isnan(t->path[2 * k]);
            xy[2 * k] = there ? sk_axes_x(&a, (double)t->path[2 * k]) : NAN;
            xy[2 * k + 1] = there ? sk_axes_y(&a, (double)t->path[2 * k + 1]) : NAN;
        }
        sk_chart_line(chart, xy, t->n_path, 1.5f, colour_of(t->track));
        if (t->n_path && !isnan(xy[2 * t->n_path - 2]))
            sk_chart_disc(chart, xy[2 * t->n_path - 2], xy[2 * t->n_path - 1], 4, colour_of(t->track));
    }
    legend(r, chart, a.left + a.width + 16, 30);
    return true;
}

static bool draw_occupancy(const sk_report *r, sk_chart *chart)
{
    const sk_movement *m = &r->movement;
    int64_t most = 0;
    for (int i = 0; m->width > 0 && i < m->columns * m->rows; i++)
        most = m->occupancy[i] > most ? m->occupancy[i] : most;
    if (most == 0)
        return false;
    const sk_axes a = arena(m, 56, 16, 700, 620);
    sk_chart_begin(chart, 900, (int)a.height + 70, "how often animals were where");
    const float w = a.width / (float)m->columns, h = a.height / (float)m->rows;
    for (int y = 0; y < m->rows; y++)
        for (int x = 0; x < m->columns; x++) {
            const int64_t here = m->occupancy[y * m->columns + x];
            if (here) /* by the root: a corner where they sleep does not hide all the rest */
                sk_chart_box(chart, a.left + w * (float)x, a.top + h * (float)y, w + 0.2f, h + 0.2f,
                             sk_chart_heat(sqrt((double)here / (double)most)));
        }
    sk_axes_draw(chart, &a, "x, pixels", "y, pixels");
    const float left = a.left + a.width + 24;
    const double all = (double)sk_movement_seen(m);
    for (int i = 0; i < 100; i++)
        sk_chart_box(chart, left, a.top + 2 * (float)(99 - i), 18, 2.2f, sk_chart_heat(i / 99.0));
    char text[48];
    snprintf(text, sizeof text, "%.2g %%", 100 * (double)most / all);
    sk_chart_text(chart, left + 24, a.top + 10, 12, -1, INK, text);
    sk_chart_text(chart, left + 24, a.top + 200, 12, -1, INK, "0 %");
    return true;
}

/* --- over time --- */

typedef double (*bin_value)(const sk_movement_bin *bin);

static double mean_speed(const sk_movement_bin *b)
{
    return b->n_speed ? b->speed / (double)b->n_speed : NAN;
}

static double mean_nearest(const sk_movement_bin *b)
{
    return b->n_nearest ? b->nearest / (double)b->n_nearest : NAN;
}

static double mean_visible(const sk_movement_bin *b)
{
    return b->frames ? (double)b->visible / (double)b->frames : NAN;
}

static bool draw_over_time(const sk_report *r, sk_chart *chart, const char *title, const char *name,
                           bin_value value)
{
    const sk_movement *m = &r->movement;
    float xy[2 * SK_MOVEMENT_BINS];
    double most = 0;
    size_t n = 0;
    for (int i = 0; i < SK_MOVEMENT_BINS; i++)
        most = fmax(most, value(&m->bins[i])); /* fmax leaves out what is no number */
    if (!(most > 0) || !isfinite(most))
        return false;
    const double step = sk_axes_step(most, 5);
    const sk_axes a = {72, 16, 800, 260, 0, duration(m), 0, ceil(most / step) * step};
    sk_chart_begin(chart, 900, 336, title);
    sk_axes_draw(chart, &a, "time, s", name);
    for (int i = 0; i < SK_MOVEMENT_BINS; i++) {
        const double v = value(&m->bins[i]);
        if (m->bins[i].frames == 0 && isnan(v) && (n == 0 || isnan(xy[2 * n - 2])))
            continue;
        xy[2 * n] = isnan(v) ? NAN : sk_axes_x(&a, ((double)i + 0.5) * (double)m->bin_frames / m->fps);
        xy[2 * n++ + 1] = isnan(v) ? NAN : sk_axes_y(&a, v);
    }
    sk_chart_line(chart, xy, n, 1.6f, LINE);
    return true;
}

static bool draw_speed(const sk_report *r, sk_chart *chart)
{
    return draw_over_time(r, chart, "mean speed of all animals", "speed, pixels/s", mean_speed);
}

static bool draw_nearest(const sk_report *r, sk_chart *chart)
{
    return draw_over_time(r, chart, "mean distance of an animal from the nearest other", "distance, pixels",
                          mean_nearest);
}

static bool draw_visible(const sk_report *r, sk_chart *chart)
{
    return draw_over_time(r, chart, "animals seen in a frame", "animals seen", mean_visible);
}

/* --- of each --- */

static bool draw_speeds(const sk_report *r, sk_chart *chart)
{
    const sk_movement *m = &r->movement;
    double most = 0;
    size_t rows = 0;
    for (size_t i = 0; i < m->n_tracks && rows < 40; i++, rows++)
        most = fmax(most, sk_movement_speed(&m->tracks[i], 0.95));
    if (!(most > 0))
        return false;
    const double step = sk_axes_step(most, 6);
    const sk_axes a = {
        .left = 96, .top = 16, .width = 770, .height = 22 * (float)rows, .x1 = ceil(most / step) * step};
    sk_chart_begin(chart, 900, (int)a.height + 70, "how fast each animal was");
    sk_axes_draw(chart, &a, "speed, pixels/s", NULL);
    for (size_t i = 0; i < rows; i++) {
        const sk_movement_track *t = &m->tracks[i];
        const float y = a.top + 22 * ((float)i + 0.5f);
        char name[48];
        snprintf(name, sizeof name, "%s %d", r->animal, t->track);
        sk_chart_text(chart, a.left - 8, y + 4, 12, 1, INK, name);
        if (isnan(sk_movement_speed(t, 0.5)))
            continue;
        float x[5];
        for (int k = 0; k < 5; k++)
            x[k] = sk_axes_x(&a, sk_movement_speed(t, (const double[]){0.05, 0.25, 0.5, 0.75, 0.95}[k]));
        sk_chart_line(chart, (const float[]){x[0], y, x[4], y}, 2, 1.5f, colour_of(t->track));
        sk_chart_box(chart, x[1], y - 6, fmaxf(x[3] - x[1], 1), 12, colour_of(t->track));
        sk_chart_box(chart, x[2] - 1, y - 6, 2, 12, 0xffffff);
    }
    return true;
}

static void rose(const sk_report *r, sk_chart *chart, float x, float y, float radius)
{
    double sums[SK_MOVEMENT_HEADINGS] = {0}, most = 0;
    for (size_t i = 0; i < r->movement.n_tracks; i++)
        for (int k = 0; k < SK_MOVEMENT_HEADINGS; k++)
            sums[k] += (double)r->movement.tracks[i].headings[k];
    for (int k = 0; k < SK_MOVEMENT_HEADINGS; k++)
        most = fmax(most, sums[k]);
    for (int ring = 1; ring <= 2; ring++) {
        float circle[2 * 73];
        for (int k = 0; k < 73; k++) {
            circle[2 * k] = x + radius * (float)ring / 2 * cosf((float)k * (float)M_PI / 36);
            circle[2 * k + 1] = y + radius * (float)ring / 2 * sinf((float)k * (float)M_PI / 36);
        }
        sk_chart_line(chart, circle, 73, 1, 0xddddddu);
    }
    for (int k = 0; k < SK_MOVEMENT_HEADINGS; k++) { /* by the root, so that areas can be compared */
        const float length = radius * (float)sqrt(sums[k] / most);
        float wedge[2 * 12] = {x, y};
        for (int e = 0; e <= 9; e++) {
            const float at = ((float)k + (float)e / 9) * 2 * (float)M_PI / SK_MOVEMENT_HEADINGS;
            wedge[2 * e + 2] = x + length * cosf(at);
            wedge[2 * e + 3] = y + length * sinf(at);
        }
        wedge[22] = x;
        wedge[23] = y;
        sk_chart_line(chart, wedge, 12, 1.6f, LINE);
    }
}

static bool draw_headings(const sk_report *r, sk_chart *chart)
{
    if (sk_movement_seen(&r->movement) == 0)
        return false;
    sk_chart_begin(chart, 420, 420, "which way animals looked");
    rose(r, chart, 210, 210, 150);
    sk_chart_text(chart, 404, 214, 12, 1, INK, "right");
    sk_chart_text(chart, 16, 214, 12, -1, INK, "left");
    sk_chart_text(chart, 210, 40, 12, 0, INK, "up");
    sk_chart_text(chart, 210, 388, 12, 0, INK, "down");
    return true;
}

static bool draw_distances(const sk_report *r, sk_chart *chart)
{
    const sk_movement *m = &r->movement;
    const int n = m->n_tracks < SK_MOVEMENT_PAIRS ? (int)m->n_tracks : SK_MOVEMENT_PAIRS;
    double most = 0;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            if (m->pair_count[a][b])
                most = fmax(most, m->pair_sum[a][b] / (double)m->pair_count[a][b]);
    if (!(most > 0))
        return false;
    const float cell = fminf(40, 560.0f / (float)n), side = cell * (float)n;
    sk_chart_begin(chart, (int)side + 150, (int)side + 60, "mean distance between animals");
    char text[48];
    for (int a = 0; a < n; a++) {
        snprintf(text, sizeof text, "%d", m->tracks[a].track);
        sk_chart_text(chart, 44, 20 + cell * ((float)a + 0.5f) + 4, 11, 1, INK, text);
        sk_chart_text(chart, 50 + cell * ((float)a + 0.5f), 34 + side, 11, 0, INK, text);
        for (int b = 0; b < n; b++) {
            const int low = a < b ? a : b, high = a < b ? b : a;
            if (a == b || !m->pair_count[low][high])
                continue;
            const double mean = m->pair_sum[low][high] / (double)m->pair_count[low][high];
            sk_chart_box(chart, 50 + cell * (float)b, 20 + cell * (float)a, cell - 1, cell - 1,
                         sk_chart_heat(1 - 0.92 * mean / most));
        }
    }
    snprintf(text, sizeof text, "%.0f px", most);
    for (int i = 0; i < 100; i++)
        sk_chart_box(chart, side + 64, 20 + 1.5f * (float)i, 16, 1.7f,
                     sk_chart_heat(1 - 0.92 * (99 - i) / 99.0));
    sk_chart_text(chart, side + 86, 30, 12, -1, INK, text);
    sk_chart_text(chart, side + 86, 168, 12, -1, INK, "0 px");
    return true;
}

static bool draw_presence(const sk_report *r, sk_chart *chart)
{
    const sk_movement *m = &r->movement;
    const size_t rows = m->n_tracks < 60 ? m->n_tracks : 60;
    if (rows == 0)
        return false;
    const sk_axes a = {.left = 96, .top = 16, .width = 770, .height = 16 * (float)rows, .x1 = duration(m)};
    sk_chart_begin(chart, 900, (int)a.height + 70, "when each animal was seen");
    sk_axes_draw(chart, &a, "time, s", NULL);
    for (size_t i = 0; i < rows; i++) {
        const sk_movement_track *t = &m->tracks[i];
        char name[48];
        snprintf(name, sizeof name, "%s %d", r->animal, t->track);
        sk_chart_text(chart, a.left - 8, a.top + 16 * (float)i + 12, 11, 1, INK, name);
        const float y = a.top + 16 * (float)i;
        float end = -1; /* spans narrower than a third of a unit are drawn together with the one before */
        for (size_t k = 0; k < t->n_spans; k++) {
            const sk_movement_span *s = &t->spans[k];
            const float x0 = sk_axes_x(&a, seconds_of(m, s->first)),
                        x1 = sk_axes_x(&a, seconds_of(m, s->last + 1));
            if (x1 <= end + 0.34f && s->state == SK_TRACK_ACTIVE)
                continue;
            if (s->state == SK_TRACK_ACTIVE)
                sk_chart_box(chart, x0, y + 2, fmaxf(x1 - x0, 0.5f), 12, colour_of(t->track));
            else if (s->state == SK_TRACK_COVERED)
                sk_chart_box(chart, x0, y + 6, fmaxf(x1 - x0, 0.5f), 4,
                             sk_chart_mix(colour_of(t->track), 0xffffff, 0.4));
            end = x1;
        }
    }
    return true;
}

const report_plot report_plot_list[] = {
    {"paths", "Where they went",
     "A dot marks where a path ends. A line breaks where an animal was not seen "
     "for more than half a second.",
     draw_paths},
    {"occupancy", "Where they were most",
     "Share of all sightings; all animals together, on a scale that goes by the square root.",
     draw_occupancy},
    {"speed", "How fast they were",
     "Mean over all animals; speeds are taken over 0.2 s, so that the jitter of "
     "single detections does not count as movement.",
     draw_speed},
    {"speeds", "How fast each was",
     "Box: the middle half of the time, with the median; line: from the slowest "
     "to the fastest twentieth.",
     draw_speeds},
    {"headings", "Which way they looked", "All animals together; areas can be compared.", draw_headings},
    {"nearest", "How near they were to each other", "Mean distance from the nearest other animal.",
     draw_nearest},
    {"distances", "Who was near whom",
     "Mean distance of two animals over the frames in which both were seen; "
     "dark is near.",
     draw_distances},
    {"seen", "How many were seen", NULL, draw_visible},
    {"presence", "When each was seen", "Thick: seen; thin: covered, its place predicted; empty: lost.",
     draw_presence},
    {0},
};

const char *const sk_report_plots[] = {"plots/paths.svg",
                                       "plots/paths.png",
                                       "plots/occupancy.svg",
                                       "plots/occupancy.png",
                                       "plots/speed.svg",
                                       "plots/speed.png",
                                       "plots/speeds.svg",
                                       "plots/speeds.png",
                                       "plots/headings.svg",
                                       "plots/headings.png",
                                       "plots/nearest.svg",
                                       "plots/nearest.png",
                                       "plots/distances.svg",
                                       "plots/distances.png",
                                       "plots/seen.svg",
                                       "plots/seen.png",
                                       "plots/presence.svg",
                                       "plots/presence.png",
                                       NULL};
