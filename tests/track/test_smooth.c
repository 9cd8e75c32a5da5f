/* SPDX-License-Identifier: Apache-2.0 */
/* Smoothed sightings beside a plain second computation: a parabola by least squares, solved by elimination. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/memory.h"
#include "track/follower.h"
#include "track/smooth.h"

#include <math.h>
#include <string.h>

enum { MOST = 5200, VALUES = 12, BOX = 3, GROUPS = 6 };

/* One track as the test knows it. */
typedef struct known {
    int64_t frame[MOST], detection[MOST];
    double weight[MOST], value[MOST][VALUES]; /* place, heading, box; angles go on */
    int n;
} known;

static known tracks[5];

/* The parabola around sighting `at` of value `v`; how much it counts itself in *own. False: too few. */
static bool fitted(const known *k, int at, double half, bool soft, int v, double *out, double *own)
{
    double a[3][5] = {{0}};
    int n = 0;
    for (int i = 0; i < k->n; i++) {
        const double t = (double)(k->frame[i] - k->frame[at]);
        if (fabs(t) > half)
            continue;
        const double w = soft ? k->weight[i] * pow(1 - pow(fabs(t) / (half + 1), 3), 3) : 1;
        const double p[3] = {1, t, t * t};
        n++;
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++)
                a[r][c] += w * p[r] * p[c];
            a[r][3] += w * p[r] * k->value[i][v];
        }
    }
    if (n < 4)
        return false;
    a[0][4] = soft ? k->weight[at] : 1;
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++)
            if (q != r) {
                const double share = a[q][r] / a[r][r];
                for (int c = 0; c < 5; c++)
                    a[q][c] -= share * a[r][c];
            }
    *out = a[0][3] / a[0][0];
    *own = a[0][4] / a[0][0];
    return true;
}

static int group_of(int v)
{
    return v < BOX ? 0 : v == VALUES - 1 ? 5 : 1 + (v - BOX) / 2;
}

/* What `sk_smooth` says of the store, beside the windows `half` of each group (0: as it is). */
static void compare(const sk_smoothed *got, int n_tracks, const double *half, int every)
{
    for (int t = 0; t < n_tracks; t++)
        for (int i = 0; i < tracks[t].n; i += every) {
            const sk_smoothed *g = &got[tracks[t].detection[i]];
            for (int v = 0; v < VALUES; v++) {
                double want = tracks[t].value[i][v], own;
                if (half[group_of(v)] > 0)
                    (void)fitted(&tracks[t], i, half[group_of(v)], v >= BOX, v, &want, &own);
                double told = v == 0 ? g->dx : v == 1 ? g->dy : v == 2 ? g->turn : g->box[v - BOX];
                if (v < BOX)
                    want -= tracks[t].value[i][v];
                else if (v == BOX + 2 || v == BOX + 3 || v == BOX + 6 || v == BOX + 7)
                    want = fmax(want, 1e-3);
                else if (v == VALUES - 1)
                    assert_true(fabs(told) < 6.2832);
                const double off = v == VALUES - 1 ? remainder(told - want, 2 * M_PI) : told - want;
                if (!(fabs(off) < 2e-4))
                    fail_msg("track %d, sighting %d, value %d: %.9g, not %.9g", t, i, v, told, want);
            }
        }
}

/* Of who is seen at all, and how. */
typedef struct scene {
    int n_tracks, frames;
    double jitter, fast;
    bool holes;
    double quicker;
} scene;

static sk_detection animal(unsigned *dice, const scene *s, int who, int frame)
{
    const double t = 0.01 * (1 + s->quicker) * frame + who;
    double luck[8];
    for (int i = 0; i < 8; i++)
        luck[i] = recorded_between(dice, -1, 1);
    sk_detection d = {.x = 60 * cos(t) + s->jitter * luck[0],
                      .y = 80 * sin(1.3 * t) + s->jitter * luck[1],
                      .score = 0.75 + 0.25 * luck[2],
                      .directed = true,
                      .class_id = -1,
                      .identity = -1};
    const double w = 30 + s->fast * sin(1.9 * frame) + s->quicker * sin(0.15 * frame) + 0.2 * luck[3],
                 h = 12 + 0.2 * luck[4];
    d.major = w, d.minor = h; /* the long side is the long side */
    d.angle = fmod(8 * M_PI + 3 * t + 0.02 * luck[5], M_PI);
    d.heading = fmod(8 * M_PI + 3 * t + 0.05 * luck[6], 2 * M_PI);
    const double x = 55 * cos(t) + s->jitter * luck[6], y = 75 * sin(t) + s->jitter * luck[7];
    const double a = 20 + s->fast * luck[3], b = 25 + s->jitter * luck[5];
    d.box[0] = x - a / 2, d.box[1] = y - b / 2, d.box[2] = x + a / 2, d.box[3] = y + b / 2;
    return d;
}

static double goes_on(double angle, double before, double whole)
{
    return angle + whole * round((before - angle) / whole);
}

/* Fills the store and what is known; of each detection its track, and whether its heading is turned. */
static void fill(sk_seen_store *store, const scene *s, int32_t *track, uint8_t *turned)
{
    sk_error err;
    unsigned dice = 77;
    int64_t all = 0;
    for (int t = 0; t < s->n_tracks; t++)
        tracks[t].n = 0;
    for (int frame = 0; frame < s->frames; frame++) {
        sk_detection found[6];
        int n = 0;
        for (int t = 0; t < s->n_tracks; t++) {
            const sk_detection d = animal(&dice, s, t, frame);
            if (s->holes && (frame % (5 + t) == 3 || (t == 1 && frame > 40 && frame < 90)))
                continue;
            known *k = &tracks[t];
            const bool flip = frame % 7 == 2;
            const double worse = sk_score_worse(d.score), *before = k->n ? k->value[k->n - 1] : NULL;
            const double box[4] = {(d.box[0] + d.box[2]) / 2, (d.box[1] + d.box[3]) / 2, d.box[2] - d.box[0],
                                   d.box[3] - d.box[1]};
            double *v = k->value[k->n];
            v[0] = d.x, v[1] = d.y, v[2] = fmod(d.heading + (flip ? M_PI : 0), 2 * M_PI);
            memcpy(v + BOX, box, sizeof box);
            v[7] = d.x, v[8] = d.y, v[9] = d.major, v[10] = d.minor, v[11] = d.angle;
            if (before) {
                v[2] = goes_on(v[2], before[2], 2 * M_PI);
                v[11] = goes_on(v[11], before[11], M_PI);
            }
            k->frame[k->n] = frame;
            k->weight[k->n] = 1 / (worse * worse);
            k->detection[k->n++] = all;
            track[all] = t, turned[all++] = flip;
            found[n++] = d;
        }
        found[n] = animal(&dice, s, 9, frame); /* nobody's */
        track[all] = -1, turned[all++] = 0;
        assert_ok(sk_seen_store_add(store, frame, frame / 25.0, found, n + 1, &err), &err);
    }
}

/* Which window tells each group best, each sighting left out in turn. */
static void best_windows(int n_tracks, double *half)
{
    static const double tried[] = {2, 3, 4, 5, 6, 8, 11, 15, 21, 30};
    double errors[GROUPS][10] = {{0}};
    int samples = 0;
    for (int t = 0; t < n_tracks; t++)
        for (int i = 0; i < tracks[t].n; i++) {
            double out, own;
            if (!fitted(&tracks[t], i, 2, true, BOX, &out, &own) || own > 0.95)
                continue;
            samples++;
            const double *box = tracks[t].value[i] + BOX;
            for (int v = BOX; v < VALUES; v++)
                for (int k = 0; k < 10; k++) {
                    const int odd = (v - BOX) % 2;
                    const double side = v == VALUES - 1 ? 1 : v >= BOX + 6 ? box[6 + odd] : box[2 + odd];
                    assert_true(fitted(&tracks[t], i, tried[k], true, v, &out, &own));
                    const double off = (out - tracks[t].value[i][v]) / (1 - own) / side;
                    errors[group_of(v)][k] += tracks[t].weight[i] * fmin(off * off, 0.25 * 0.25);
                }
        }
    assert_true(samples >= 200);
    half[0] = 0;
    for (int g = 1; g < GROUPS; g++) {
        int best = 0;
        for (int k = 1; k < 10; k++)
            best = errors[g][k] < errors[g][best] ? k : best;
        half[g] = tried[best];
    }
}

static const struct {
    scene scene;
    double frames, fps;
    bool boxes;
    double places, usual; /* the window that is taken; usual -1: the best of this video */
} cases[] = {{{3, 150, 1, 1, true, 0}, 9, 25, true, 4.5, 4.5},
             {{3, 150, 1, 1, false, 0}, 10, 25, true, 5, 5},
             {{2, 150, 1, 1, true, 0}, 62, 25, true, 31, 31},
             {{2, 200, 1, 1, false, 0}, 63, 25, true, 31, 31}, /* more than is looked at */
             {{2, 200, 1, 1, false, 0}, 1000, 25, true, 31, 31},
             {{2, 150, 1, 1, false, 0}, 60.5, 25, true, 30.25, 30.25},
             {{1, 3, 1, 1, false, 0}, 9, 25, true, 4.5, 4.5}, /* too few, just enough */
             {{1, 4, 1, 1, false, 0}, 9, 25, true, 4.5, 4.5},
             {{2, 40, 1, 25, false, 0}, 6, 25, true, 3, 3}, /* sides that would fall below nothing */
             {{2, 60, 1, 1, false, 0}, 0, 25, true, 0, 4},
             {{2, 60, 1, 1, false, 0}, 0, 5, true, 0, 2},
             {{2, 60, 1, 1, false, 0}, 0, 15, true, 0, 3},
             {{2, 60, 1, 1, false, 0}, 0, 300, true, 0, 30},
             {{1, 201, 1, 1, false, 0}, 0, 25, true, 0, 4}, /* one too few to compare windows, just enough */
             {{1, 202, 1, 1, false, 0}, 0, 25, true, 0, -1},
             {{3, 200, 2, 0.2, false, 3}, 0, 25, true, 0, -1},
             {{3, 200, 0.1, 4, true, 5}, 0, 25, true, 0, -1},
             {{1, 300, 0.5, 1.5, true, 9}, 0, 25, true, 0, -1},
             {{5, 4200, 1, 1, false, 0}, 9, 25, true, 4.5, 4.5}, /* so many are shared by cores */
             {{2, 60, 1, 1, false, 0}, 0, 25, false, 0, 0}};

static void as_a_plain_computation_says(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sk_error err;
        sk_seen_store *store;
        sk_smoothed *got = NULL;
        const size_t most = (size_t)cases[c].scene.frames * 6;
        int32_t *track = sk_calloc(most, sizeof *track);
        uint8_t *turned = sk_calloc(most, 1);
        const sk_smooth_settings how = {cases[c].frames, cases[c].boxes, cases[c].fps};
        double half[GROUPS];
        assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
        fill(store, &cases[c].scene, track, turned);
        assert_ok(sk_smooth(store, track, turned, cases[c].scene.n_tracks, &how, &got, &err), &err);
        for (int g = 0; g < GROUPS; g++)
            half[g] = g ? cases[c].usual : cases[c].places;
        if (cases[c].usual < 0)
            best_windows(cases[c].scene.n_tracks, half);
        compare(got, cases[c].scene.n_tracks, half, most > 10000 ? 37 : 1);
        sk_seen_store_close(&store);
        sk_free(track);
        sk_free(turned);
    }
}

/* What is told of a sighting: places only where they were asked for, boxes of those that have one. */
static void what_is_told(void **state)
{
    (void)state;
    const sk_smoothed smooth = {1.5f, -2.5f, 0.5f, {10, 20, 4, 6, 11, 21, 9, 3, 0.25f}};
    for (int k = 0; k < 16; k++) {
        const sk_smooth_settings how = {k & 1 ? 5 : 0, k & 2, 25};
        const sk_detection d = {.pointed = k & 4, .upright = k & 8};
        for (int wrap = 0; wrap < 3; wrap++) {
            const double heading = wrap == 0 ? 1 : wrap == 1 ? 6 : 0.1;
            sk_smoothed now = smooth;
            now.turn = wrap == 2 ? -0.5f : 0.5f;
            sk_sighting s = {.x = 100, .y = 200, .heading = heading, .box = {.turned = {7}}};
            sk_smoothed_apply(&now, &how, &d, &s);
            const double turn = k & 1 ? wrap == 0   ? 1.5
                                        : wrap == 1 ? 6.5 - 2 * M_PI
                                                    : 2 * M_PI - 0.4
                                      : heading;
            assert_true(s.x == (k & 1 ? 101.5 : 100) && s.y == (k & 1 ? 197.5 : 200));
            assert_true(fabs(s.heading - turn) < 1e-9);
            if (!(k & 2) || k & 4) {
                assert_true(s.box.turned[0] == 7 && s.box.turned[2] == 0 && s.box.upright[0] == 0);
                continue;
            }
            assert_true(s.box.upright[0] == 8 && s.box.upright[1] == 17 && s.box.upright[2] == 12 &&
                        s.box.upright[3] == 23);
            const double upright[5] = {10, 20, 6, 4, M_PI / 2}, lying[5] = {11, 21, 9, 3, 0.25};
            for (int i = 0; i < 5; i++)
                assert_true(fabs(s.box.turned[i] - (k & 8 ? upright : lying)[i]) < 1e-9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_plain_computation_says),
                                       cmocka_unit_test(what_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
