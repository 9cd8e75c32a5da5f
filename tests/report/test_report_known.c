/* SPDX-License-Identifier: Apache-2.0 */
#include "report/movement.h"
#include "report/report_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "support/known.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>

/* Walks that anybody can walk again: what is gathered of them, and the drawings and the page made of it, are known to the last
 * letter. They have what a report distinguishes: animals that are covered, lost, gone and back, that jump, touch and are taken for each
 * other, more of them than a legend, a table or a drawing has room for, and videos longer than a drawing has points. */

typedef struct walk {
    const char *name;
    int32_t width, height;
    double fps;
    int tracks, frames;
    int64_t first;   /* the first frame's number */
    bool has_times;  /* else they are pictures */
    int64_t jump_at; /* every so many frames somebody jumps; 0: never */
} walk;

static const walk walks[] = {
    {"few", 640, 480, 25, 6, 400, 100, true, 37},
    {"many", 300, 400, 0, 70, 60, 0, false, 11},
    {"crowd", 0, 0, 30, 310, 4, 5, true, 2},
    {"long", 200, 100, 60, 2, 5000, 0, true, 900},
};

static uint32_t seed;

static int dice(int n)
{
    seed = 1664525u * seed + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)n);
}

enum { MOST = 310 };

typedef struct animal {
    double x, y, dx, dy;
    int hidden, lost, gone; /* frames to go */
} animal;

/* One animal's step, in eighths of a pixel: the same on every machine. */
static void step(animal *a, double width, double height)
{
    if (dice(10) == 0)
        a->dx = (dice(65) - 32) / 8.0, a->dy = (dice(65) - 32) / 8.0;
    a->x += a->dx, a->y += a->dy;
    if (a->x < 0 || a->x >= width)
        a->dx = -a->dx, a->x += 2 * a->dx;
    if (a->y < 0 || a->y >= height)
        a->dy = -a->dy, a->y += 2 * a->dy;
    a->hidden -= a->hidden > 0;
    a->lost -= a->lost > 0;
    a->gone -= a->gone > 0;
    switch (dice(120)) {
    case 0: a->hidden = 1 + dice(9); break;
    case 1: a->lost = 8 + dice(30); break;
    case 2: a->gone = 1 + dice(40); break;
    default: break;
    }
}

static int32_t look(const walk *w, int64_t frame, animal *animals, sk_sighting *out)
{
    const double width = w->width ? w->width : 500, height = w->height ? w->height : 400;
    int32_t n = 0;
    for (int k = 0; k < w->tracks; k++) {
        animal *a = &animals[k];
        step(a, width, height);
        if (w->jump_at && frame % w->jump_at == 0 && k == (int)(frame / w->jump_at) % w->tracks)
            a->x = width - 1 - a->x;
        if (a->gone > 0 || (k == w->tracks - 1 && frame < w->first + 2))
            continue;
        const bool seen = a->hidden == 0 && a->lost == 0;
        out[n++] = (sk_sighting){.frame = frame,
                                 .track = k == 1 ? w->tracks + 3 : k,
                                 .place = k,
                                 .detection = seen ? k : -1,
                                 .state = a->lost     ? SK_TRACK_LOST
                                          : a->hidden ? SK_TRACK_COVERED
                                                      : SK_TRACK_ACTIVE,
                                 .x = a->x,
                                 .y = a->y,
                                 .heading = dice(50) == 0 ? NAN : dice(720) / 100.0 - 0.4,
                                 .major = 12 + k % 5 + dice(16) / 8.0,
                                 .minor = 6,
                                 .score = 0.875,
                                 .certainty = dice(12) ? 1 : dice(9) / 8.0};
    }
    return n;
}

static void tell_track(const sk_movement_track *t, sk_text *out)
{
    sk_text_appendf(
        out, "track %d: %lld-%lld seen %lld gaps %lld longest %lld way %.3f in %.3f top %.3f body %.4f",
        t->track, (long long)t->first, (long long)t->last, (long long)t->seen, (long long)t->gaps,
        (long long)t->longest_gap, t->distance, t->seconds, t->top_speed, t->body);
    for (int i = 0; i < 5; i++)
        sk_text_appendf(out, " %.3f", sk_movement_speed(t, (const double[]){0, 0.05, 0.5, 0.95, 1}[i]));
    sk_text_append(out, "\nspeeds");
    for (int i = 0; i < SK_MOVEMENT_SPEEDS; i++)
        sk_text_appendf(out, " %lld", (long long)t->speeds[i]);
    sk_text_append(out, "\nheadings");
    for (int i = 0; i < SK_MOVEMENT_HEADINGS; i++)
        sk_text_appendf(out, " %lld", (long long)t->headings[i]);
    sk_text_appendf(out, "\npath of every %lld", (long long)t->path_every);
    for (size_t i = 0; i < 2 * t->n_path; i++)
        sk_text_appendf(out, isnan(t->path[i]) ? " -" : " %.3f", (double)t->path[i]);
    sk_text_append(out, "\nspans");
    for (size_t i = 0; i < t->n_spans; i++)
        sk_text_appendf(out, " %lld-%lld:%d", (long long)t->spans[i].first, (long long)t->spans[i].last,
                        (int)t->spans[i].state);
    sk_text_append(out, "\n");
}

static void tell_movement(const sk_movement *m, sk_text *out)
{
    sk_text_appendf(out, "%d x %d at %g: %lld frames %lld-%lld, %d x %d cells, %lld seen\n", m->width,
                    m->height, m->fps, (long long)m->frames, (long long)m->first_frame,
                    (long long)m->last_frame, m->columns, m->rows, (long long)sk_movement_seen(m));
    for (size_t i = 0; i < m->n_tracks; i++)
        tell_track(&m->tracks[i], out);
    for (int i = 0; i < SK_MOVEMENT_BINS; i++)
        sk_text_appendf(out, "%lld %lld %.3f %lld %.3f %lld\n", (long long)m->bins[i].frames,
                        (long long)m->bins[i].visible, m->bins[i].speed, (long long)m->bins[i].n_speed,
                        m->bins[i].nearest, (long long)m->bins[i].n_nearest);
    for (int i = 0; i < SK_MOVEMENT_SIDE * SK_MOVEMENT_SIDE; i++)
        sk_text_appendf(out, " %lld", (long long)m->occupancy[i]);
    for (int a = 0; a < SK_MOVEMENT_PAIRS; a++)
        for (int b = 0; b < SK_MOVEMENT_PAIRS; b++)
            sk_text_appendf(out, " %.3f/%lld", m->pair_sum[a][b], (long long)m->pair_count[a][b]);
}

static void tell_suspects(const sk_suspects *s, sk_text *out)
{
    sk_text_appendf(out, "%d of %lld\n", s->n_worst, (long long)s->count);
    for (int32_t i = 0; i < s->n_worst; i++) {
        const sk_suspect *m = &s->worst[i];
        sk_text_appendf(out,
                        "%d %d: %lld-%lld, %lld at %.3f %.3f body %.3f far %.3f sure %.3f why %u: %.4f\n",
                        m->a, m->b, (long long)m->first, (long long)m->last, (long long)m->frame, m->x, m->y,
                        m->body, m->distance, m->certainty, m->why, m->weight);
    }
}

typedef struct known_walk {
    uint64_t movement, suspects, page;
    uint64_t plots[9]; /* in the order of sk_report_plots; 0: there is nothing to draw */
} known_walk;

static const known_walk known[] = {
    {0xb7c15e7e275dfa90,
     0xc22d1fdf14b2b849,
     0x54b6b2b597ba6944,
     {0xd39c59352051b667, 0x7c8b25ddfff30f35, 0xb157861f951c8840, 0x5f49d53a81cca6f8, 0x5a9bafce5b6a2b65,
      0x4d29edf10b9cfade, 0x24ab3d8960c0400d, 0xf40562b62c6a21b4, 0xd57fb15e5aacf808}},
    {0x471f130651e5439c,
     0xe9d4a30d607299a8,
     0xefa4639b5ce89e8f,
     {0xeec3fd74e81473c3, 0x3d967c5088aac65e, 0x10fddd2044e7677f, 0x955a9e7c4f936ae6, 0x39c45e32fba20357,
      0x7458549088b84954, 0x980eedd653025b71, 0x0dce3503018c92c7, 0x7327537ef9baeaf0}},
    {0xd2b161c36a9b09c1,
     0x375ff0d092e66030,
     0xc95d5c5d330e6768,
     {0, 0, 0, 0, 0x6ebf654b6fe6e841, 0xf93c2c8b5832ff17, 0x89e39e23d1c7c953, 0x8256e20adda1d38b,
      0x7c4863a64d9cdc5c}},
    {0x63c2a07f0a72d0c2,
     0x55c6098dc5f2d894,
     0x6a98ddb22dafb44c,
     {0x4ce93c32df83959a, 0xd18b2d9ae8c8a8c0, 0x4e3ec405ce1db0e2, 0xdc6ee0e1a2a8fd94, 0x24440998cc5de346,
      0x5061d9dd3e2ac7f4, 0x06787f62345b7358, 0x8129d894d2b783e1, 0x2cee10dd4c32d4fd}},
};

static sk_report *open_report(const walk *w)
{
    sk_report *r = NULL;
    sk_error err = {0};
    const sk_report_settings settings = {.title = w->name,
                                         .source = w->tracks > 50 ? NULL : "videos/<walk>.mp4",
                                         .made_by = "a test & its dice",
                                         .method = w->tracks > 50 ? NULL : "skitter, offline",
                                         .width = w->width,
                                         .height = w->height,
                                         .fps = w->fps,
                                         .animal = w->tracks > 100 ? "ant" : NULL};
    assert_ok(sk_report_open(&settings, &r, &err), &err);
    return r;
}

static bool files_are_known(const walk *w, const known_walk *k, const char *folder)
{
    bool same = true;
    char path[4200], name[128];
    for (int i = 0; sk_report_plots[2 * i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, sk_report_plots[2 * i]);
        snprintf(name, sizeof name, "%s/%s", w->name, sk_report_plots[2 * i]);
        if (sk_file_exists(path))
            same = test_known_file(path, name, k->plots[i]) && same;
        else
            assert_int_equal(k->plots[i], 0);
    }
    snprintf(path, sizeof path, "%s/report.html", folder);
    snprintf(name, sizeof name, "%s/report.html", w->name);
    return test_known_file(path, name, k->page) && same;
}

static void walks_are_known(void **state)
{
    (void)state;
    bool same = true;
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        const walk *w = &walks[i];
        animal animals[MOST] = {0};
        sk_sighting sightings[MOST];
        sk_movement *m = sk_calloc(1, sizeof *m);
        sk_suspects *s = sk_calloc(1, sizeof *s);
        sk_report *r = open_report(w);
        sk_error err = {0};
        seed = 7u + (uint32_t)i;
        for (int k = 0; k < w->tracks; k++)
            animals[k] = (animal){.x = dice(8 * (w->width ? w->width : 500)) / 8.0,
                                  .y = dice(8 * (w->height ? w->height : 400)) / 8.0,
                                  .dx = 1.5,
                                  .dy = -0.5};
        sk_movement_begin(m, w->width, w->height, w->fps);
        for (int64_t frame = w->first; frame < w->first + w->frames; frame++) {
            const double time = w->has_times ? (double)(frame - w->first) / (w->fps > 0 ? w->fps : 25) : 0;
            const int32_t n = look(w, frame, animals, sightings);
            assert_ok(sk_movement_take(m, frame, time, sightings, n, &err), &err);
            assert_ok(sk_suspects_take(s, sightings, n, &err), &err);
            assert_ok(sk_report_take(r, frame, time, sightings, n, &err), &err);
        }
        sk_suspects_end(s);
        sk_report_end_frames(r);
        sk_text told = {0};
        char folder[4096];
        tell_movement(m, &told);
        same = test_known(w->name, sk_text_get(&told), told.length, known[i].movement) && same;
        sk_text_free(&told);
        tell_suspects(s, &told);
        same = test_known("suspects", sk_text_get(&told), told.length, known[i].suspects) && same;
        sk_text_free(&told);
        snprintf(folder, sizeof folder, "%s/%s", test_folder(), w->name);
        const sk_report_time times[] = {{"network", 1.5}, {"<other>", 0.25}};
        assert_ok(sk_report_write(r, folder, times, i == 0 ? 2 : 0, NULL, &err), &err);
        same = files_are_known(w, &known[i], folder) && same;
        sk_movement_free(m);
        sk_suspects_free(s);
        sk_free(m);
        sk_free(s);
        sk_report_close(&r);
    }
    assert_true(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
