/* SPDX-License-Identifier: Apache-2.0 */
#include "track/kind.h"

#include "base/memory.h"
#include "track/boxes.h"
#include "track/even.h"
#include "track/whole_choice.h"

#include <math.h>

/* OC-SORT (Cao et al., "Observation-Centric SORT: Rethinking SORT for Robust Multi-Object Tracking", 2023): what was seen counts
 * for more than what a filter makes of it. Pairs that keep a track's direction are worth more; who is left is paired by where
 * it was last seen; and a track that is found again has its filter led along the straight way from where it was lost. Where
 * the paper leaves things open, what boxmot 25 does is done (tests/parity/track_methods.py compares). */

#define LONGEST_SPAN 30

typedef struct look {
    int64_t age; /* of the track; 0: none */
    double x, y;
} look;

typedef struct follower {
    sk_box_track told;        /* first: sk_box_list_tell reads these; its box is the prediction until told */
    int64_t age;              /* frames since its first */
    int32_t unseen;           /* frames since the last look */
    int32_t streak;           /* looks in a row */
    bool looked;              /* after its first look */
    sk_box last;              /* the last look's box */
    look looks[LONGEST_SPAN]; /* by age, around */
    double way_x, way_y;      /* direction of the last looks, a unit; 0: none */
    sk_even even[5];          /* x, y, area, ratio (its rate stays 0), angle */
    /* For the way back, while it is not seen: */
    sk_even frozen[5];
    bool observed, has_frozen;
    double anchor[5]; /* measurement from which the straight way begins */
    int32_t gap;      /* frames since */
} follower;

typedef struct state {
    sk_box_work work;
    sk_whole_choice choice;
    const sk_detection *detections; /* of this step */
    int64_t step;                   /* from 1 */
    follower *all;
    size_t all_room;
    int32_t n;
} state;

static void close(void *opaque)
{
    state *s = opaque;
    if (!s)
        return;
    sk_free(s->all);
    sk_whole_choice_free(&s->choice);
    sk_box_work_close(&s->work);
    sk_free(s);
}

static sk_status open(const sk_track_settings *settings, void **out, sk_error *err)
{
    state *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    const sk_status status = sk_box_work_open(&s->work, settings, err);
    if (status == SK_OK)
        *out = s;
    else
        close(s);
    return status;
}

static sk_status reserve(state *s, int32_t n, sk_error *err)
{
    SK_BOXES_RESERVE(s->all, s->all_room, (size_t)s->n + (size_t)n + 1);
    return sk_box_work_reserve(&s->work, s->n + n, err);
}

/* --- the filter: centre, area and ratio of the sides, and the angle of turned boxes --- */

static sk_box box_of_state(const follower *f)
{
    const double w = sqrt(fmax(f->even[2].at * f->even[3].at, 1e-12));
    return sk_box_make(f->even[0].at, f->even[1].at, w, f->even[2].at / fmax(w, 1e-6), f->even[4].at,
                       f->last.turned != 0);
}

static void measure(const sk_box *b, double z[5])
{
    z[0] = b->x;
    z[1] = b->y;
    z[2] = fmax(b->w * b->h, 1e-6);
    z[3] = fmax(b->w / (b->h + 1e-6), 1e-6);
    z[4] = b->angle;
}

static void bound(follower *f)
{
    f->even[2].at = fmax(f->even[2].at, 1e-6);
    f->even[3].at = fmax(f->even[3].at, 1e-6);
    f->even[4].at = sk_angle_between(f->even[4].at, 0);
}

static void predict_filter(follower *f)
{
    static const double rate_noise[5] = {1e-2, 1e-2, 1e-4, 0, 1e-4};
    if (f->even[2].at + f->even[2].rate <= 0)
        f->even[2].rate = 0;
    for (int k = 0; k < 5; k++)
        sk_even_predict(&f->even[k], 1, rate_noise[k]);
    bound(f);
}

static void correct_filter(follower *f, const double z[5])
{
    static const double noise[5] = {1, 1, 10, 10, 10};
    for (int k = 0; k < 5; k++)
        sk_even_correct(&f->even[k], z[k], noise[k]);
    f->even[4].rate *= 0.8;
    bound(f);
}

/* The measurement of a box, the angle and the ratio as the filter has them. */
static void measure_like(const follower *f, const sk_box *b, double z[5])
{
    sk_box aligned = *b;
    if (b->turned != 0) {
        sk_box like = box_of_state(f);
        const double side = sqrt(b->w * b->h);
        like.w = sqrt(f->even[3].at) * side; /* only the ratio counts */
        like.h = side / sqrt(f->even[3].at);
        sk_box_align(&aligned, &like);
    }
    measure(&aligned, z);
}

/* Leads the filter, as it was when the track was lost, along the straight way to where it is found. */
static void lead_back(follower *f, const double z[5])
{
    const double *a = f->anchor;
    const double w0 = sqrt(a[2] * a[3]), h0 = sqrt(a[2] / a[3]), w1 = sqrt(z[2] * z[3]),
                 h1 = sqrt(z[2] / z[3]);
    const double turn = sk_angle_between(z[4], a[4]);
    for (int k = 0; k < 5; k++)
        f->even[k] = f->frozen[k];
    for (int32_t i = 1; i <= f->gap; i++) {
        const double part = (double)i / f->gap, w = w0 + part * (w1 - w0), h = h0 + part * (h1 - h0);
        const sk_box at = {.x = a[0] + part * (z[0] - a[0]),
                           .y = a[1] + part * (z[1] - a[1]),
                           .w = w,
                           .h = h,
                           .angle = sk_angle_between(a[4] + part * turn, 0),
                           .turned = f->last.turned};
        double between[5];
        measure_like(f, &at, between);
        correct_filter(f, between);
        if (i < f->gap)
            predict_filter(f);
    }
}

/* --- looks --- */

/* The oldest look of the last `span` frames, else the last of all. */
static void earlier(const follower *f, int32_t span, double *x, double *y)
{
    for (int32_t back = span; back >= 1; back--) {
        const int64_t age = f->age - back;
        if (age <= 0)
            continue; /* before it was seen at all */
        const look *l = &f->looks[age % LONGEST_SPAN];
        if (l->age == age) {
            *x = l->x;
            *y = l->y;
            return;
        }
    }
    *x = f->last.x;
    *y = f->last.y;
}

static void correct(state *s, follower *f, const sk_detection *d, int32_t index, double certainty)
{
    const sk_box box = sk_box_of(d, f->last.turned != 0);
    double z[5];
    if (f->looked) {
        double x, y;
        earlier(f, s->work.settings.boxes.span, &x, &y);
        const double far = hypot(box.x - x, box.y - y) + 1e-6;
        f->way_x = (box.x - x) / far;
        f->way_y = (box.y - y) / far;
    }
    f->last = box;
    f->looked = true;
    f->looks[f->age % LONGEST_SPAN] = (look){f->age, box.x, box.y};
    f->unseen = 0;
    f->streak++;
    measure_like(f, &box, z);
    f->gap++;
    if (!f->observed && f->has_frozen) {
        lead_back(f, z);
        correct_filter(
            f, z); /* a second time; the way begins where it began should the track be lost at once again */
    } else {
        correct_filter(f, z);
    }
    for (int k = 0; k < 5; k++)
        f->anchor[k] = z[k];
    f->gap = 0;
    f->observed = true;
    f->told.box = box;
    f->told.vx = f->even[0].rate;
    f->told.vy = f->even[1].rate;
    f->told.uncertainty = sqrt(fmax((f->even[0].aa + f->even[1].aa) / 2, 0));
    sk_box_track_seen(&f->told, d, index, certainty);
}

static void miss(follower *f)
{
    if (f->observed) {
        for (int k = 0; k < 5; k++)
            f->frozen[k] = f->even[k];
        f->has_frozen = true;
    }
    f->observed = false;
    f->gap++;
}

static void predict(follower *f)
{
    predict_filter(f);
    f->age++;
    f->unseen++;
    f->told.missed++;
    f->told.detection = -1;
    f->told.box = box_of_state(f);
}

static void begin(state *s, const sk_detection *d, int32_t index)
{
    follower *f = &s->all[s->n++];
    *f = (follower){.told = {.track = -1, .place = -1}, .last = sk_box_of(d, !d->upright)};
    double z[5];
    measure(&f->last, z);
    for (int k = 0; k < 5; k++)
        f->even[k] = (sk_even){.at = z[k], .aa = 10, .rr = k == 3 ? 0 : 10000};
    bound(f);
    f->told.box = f->last;
    sk_box_track_seen(&f->told, d, index, 1);
}

/* --- rounds of pairs --- */

/* What going on in its direction is worth to a pair; without one (0, 0) it is across all ways, and worth nothing. */
static double keeps_way(const state *s, const follower *f, const sk_box *to, double score)
{
    double x, y;
    earlier(f, s->work.settings.boxes.span, &x, &y);
    const double dx = to->x - x, dy = to->y - y, far = hypot(dx, dy) + 1e-6;
    const double along = fmin(fmax((f->way_x * dx + f->way_y * dy) / far, -1), 1);
    return (SK_PI_D / 2 - acos(along)) / SK_PI_D * s->work.settings.boxes.inertia * score;
}

static double worth_of(const void *context, int32_t row, int32_t column, double overlap)
{
    const state *s = context;
    return overlap + keeps_way(s, &s->all[s->work.row_of[row]], &s->work.columns[column],
                               s->detections[s->work.column_of[column]].score);
}

/* Round 0: strong detections with predictions; 1: weak ones; 2: strong ones that are left with last looks. */
static sk_status pair_up(state *s, int round, const sk_detection *detections, int32_t n, sk_error *err)
{
    const double strong = s->work.settings.boxes.strong, least = s->work.settings.boxes.overlap;
    int32_t rows = 0, columns = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const follower *f = &s->all[i];
        if (f->unseen == 0 || (round == 2 && !f->looked))
            continue;
        s->work.rows[rows] = round == 2 ? f->last : f->told.box;
        s->work.row_of[rows++] = i;
    }
    for (int32_t j = 0; j < n && rows; j++) {
        const double score = detections[j].score;
        const bool fits =
            round == 1 ? score < strong && score > s->work.settings.filter.score : score > strong;
        if (!fits || s->work.used[j])
            continue;
        s->work.columns[columns] = sk_box_of(&detections[j], !detections[j].upright);
        s->work.column_of[columns++] = j;
    }
    SK_TRY(sk_box_pairs_find(&s->work.pairs, s->work.rows, rows, s->work.columns, columns, err));
    if (round == 0) {
        double best = 0;
        for (int32_t j = 0; j < columns; j++)
            best = fmax(best, detections[s->work.column_of[j]].score);
        s->detections = detections;
        SK_TRY(sk_whole_choice_make(&s->choice, &s->work.pairs, s->work.rows, rows, s->work.columns, columns,
                                    least, s->work.settings.boxes.inertia * best / 2, worth_of, s, err));
    } else {
        for (int32_t k = 0; k < s->work.pairs.n; k++)
            s->work.pairs.pairs[k].cost = -s->work.pairs.pairs[k].cost;
        SK_TRY(sk_box_pairs_solve(&s->work.pairs, rows, columns, 0, err));
    }
    for (int32_t i = 0; i < rows; i++) {
        const int32_t column = s->work.pairs.match[i];
        if (column < 0)
            continue;
        const double overlap = sk_box_overlap(&s->work.rows[i], &s->work.columns[column]);
        if (overlap < least)
            continue;
        s->work.used[s->work.column_of[column]] = 1;
        correct(s, &s->all[s->work.row_of[i]], &detections[s->work.column_of[column]],
                s->work.column_of[column], overlap);
    }
    return SK_OK;
}

static void sweep(state *s, int64_t kept)
{
    int32_t left = 0;
    for (int32_t i = 0; i < s->n; i++) {
        follower *f = &s->all[i];
        if (f->unseen > kept) {
            sk_box_list_leave(&s->work.list, &f->told);
            continue;
        }
        const int32_t hits = s->work.settings.boxes.hits;
        f->told.untold = f->unseen == 0 && f->streak < hits && s->step > hits;
        if (f->unseen == 0 && !f->told.untold)
            sk_box_list_enter(&s->work.list, &f->told);
        if (left != i)
            s->all[left] = *f;
        left++;
    }
    s->n = left;
}

static sk_status step(void *opaque, int64_t frame, double passed, const sk_detection *detections, int32_t n,
                      sk_sighting **out, int32_t *n_out, sk_error *err)
{
    state *s = opaque;
    const int64_t kept = (int64_t)(s->work.settings.boxes.kept * s->work.settings.fps);
    SK_TRY(reserve(s, n, err));
    const int64_t frames = passed < 1.5 || !s->step      ? 1
                           : passed > (double)(kept + 2) ? kept + 2
                                                         : (int64_t)(passed + 0.5);
    s->step += frames;
    for (int32_t i = 0; i < s->n; i++) {
        if (s->all[i].unseen > 0) /* at the last look; frames between two looks are nobody's fault */
            s->all[i].streak = 0;
        for (int64_t k = 0; k < frames; k++) {
            predict(&s->all[i]);
            if (k + 1 < frames)
                miss(&s->all[i]);
        }
    }
    for (int32_t j = 0; j < n; j++)
        s->work.used[j] = 0;
    SK_TRY(pair_up(s, 0, detections, n, err));
    if (s->work.settings.boxes.weak)
        SK_TRY(pair_up(s, 1, detections, n, err));
    SK_TRY(pair_up(s, 2, detections, n, err));
    for (int32_t i = 0; i < s->n; i++)
        if (s->all[i].unseen > 0)
            miss(&s->all[i]);
    for (int32_t j = 0; j < n; j++)
        if (!s->work.used[j] && detections[j].score > s->work.settings.boxes.strong)
            begin(s, &detections[j], j);
    sweep(s, kept);
    *n_out = sk_box_list_tell(&s->work.list, s->all, sizeof *s->all, s->n, frame, &s->work.settings);
    *out = s->work.list.sightings;
    return SK_OK;
}

const sk_tracker_kind sk_tracker_ocsort = {"ocsort", open, step, close, .counts = false};
