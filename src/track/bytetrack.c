/* SPDX-License-Identifier: Apache-2.0 */
#include "track/kind.h"

#include "base/memory.h"
#include "track/boxes.h"
#include "track/even.h"

#include <math.h>

/* ByteTrack (Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every Detection Box", 2022): strong detections are
 * paired first, then weak ones with the tracks that are left, so that covered animals are not lost. Where the paper leaves things
 * open, what boxmot 25 does is done (tests/parity/track_methods.py compares): filters over centre, aspect and height, of turned boxes over
 * centre, sides and angle; a new track is told of when it is seen a second time, except in the first frame. */

#define WEAK_COST  0.5        /* most of a pair with a weak detection, 1 - overlap */
#define YOUNG_COST 0.7        /* most of a pair with a track that was seen once, 1 - overlap * score */
#define TWIN       0.85       /* a followed and a lost track that overlap more are one */
#define SEE        (1.0 / 20) /* deviations of places and rates, of the side */
#define GO         (1.0 / 160)

typedef enum standing { YOUNG, FOLLOWED, LOST, ENDED } standing;

typedef struct follower {
    sk_box_track told; /* first: sk_box_list_tell reads these */
    standing status;
    bool late; /* found again in the frame after it had been given up: the next loss ends it */
    int64_t first, last;
    /* x, y, aspect (width through height), height; turned: x, y, w, h, angle */
    sk_even even[5];
} follower;

typedef struct state {
    sk_box_work work;
    int64_t step; /* from 1 */
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

/* --- the filter --- */

static bool is_turned(const follower *f)
{
    return f->told.box.turned != 0;
}

static double square(double x)
{
    return x * x;
}

/* Deviation of coordinate k as the side's share says; the angle's and the aspect's are fixed. */
static double deviation(const follower *f, int k, double share, double fixed)
{
    if (is_turned(f))
        return k == 4 ? fixed : share * f->even[k & 1 ? 3 : 2].at;
    return k == 2 ? fixed : share * f->even[3].at;
}

static void measure(const follower *f, const sk_detection *d, double z[5])
{
    sk_box b = sk_box_of(d, is_turned(f));
    if (is_turned(f)) {
        sk_box_align(&b, &f->told.box);
        z[2] = b.w;
    } else {
        z[2] = b.w / b.h;
    }
    z[0] = b.x;
    z[1] = b.y;
    z[3] = b.h;
    z[4] = b.angle;
}

/* The box that the filter holds. */
static void settle(follower *f)
{
    sk_even *e = f->even;
    e[2].at = fmax(e[2].at, 1e-4);
    e[3].at = fmax(e[3].at, 1e-4);
    e[4].at = sk_angle_between(e[4].at, 0);
    f->told.box = sk_box_make(e[0].at, e[1].at, is_turned(f) ? e[2].at : e[2].at * e[3].at, e[3].at, e[4].at,
                              is_turned(f));
    f->told.vx = e[0].rate;
    f->told.vy = e[1].rate;
    f->told.uncertainty = sqrt(fmax((e[0].aa + e[1].aa) / 2, 0));
}

static void predict(follower *f)
{
    const int n = is_turned(f) ? 5 : 4;
    double noise[5], rate_noise[5];
    if (f->status != FOLLOWED) /* what is not seen keeps its size */
        for (int k = is_turned(f) ? 2 : 3; k < n; k++)
            f->even[k].rate = 0;
    for (int k = 0; k < n; k++) {
        noise[k] = square(deviation(f, k, SEE, 1e-2));
        rate_noise[k] = square(deviation(f, k, GO, 1e-5));
    }
    for (int k = 0; k < n; k++)
        sk_even_predict(&f->even[k], noise[k], rate_noise[k]);
    settle(f);
}

static void correct(state *s, follower *f, const sk_detection *d, int32_t index, double certainty)
{
    const int n = is_turned(f) ? 5 : 4;
    double z[5], noise[5];
    measure(f, d, z);
    for (int k = 0; k < n; k++)
        noise[k] = square(deviation(f, k, SEE, 1e-1));
    for (int k = 0; k < n; k++)
        sk_even_correct(&f->even[k], z[k], noise[k]);
    f->even[4].rate *= 0.8;
    settle(f);
    sk_box_track_seen(&f->told, d, index, certainty);
    sk_box_list_enter(&s->work.list, &f->told);
    f->status = FOLLOWED;
    f->last = s->step;
}

static void begin(state *s, const sk_detection *d, int32_t index)
{
    follower *f = &s->all[s->n++];
    *f = (follower){.told = {.track = -1, .place = -1}, .first = s->step, .last = s->step};
    f->told.box = sk_box_of(d, !d->upright);
    double z[5];
    measure(f, d, z);
    for (int k = 0; k < 5; k++)
        f->even[k].at = z[k];
    for (int k = 0; k < 5; k++) {
        f->even[k].aa = square(deviation(f, k, 2 * SEE, 1e-2));
        f->even[k].rr = square(deviation(f, k, 10 * GO, 1e-5));
    }
    settle(f);
    sk_box_track_seen(&f->told, d, index, 1);
    if (s->step == 1) {
        f->status = FOLLOWED;
        sk_box_list_enter(&s->work.list, &f->told);
    }
}

/* --- rounds of pairs --- */

static bool plays(standing now, int round)
{
    return round == 0 ? now == FOLLOWED || now == LOST : round == 1 ? now == FOLLOWED : now == YOUNG;
}

/* Pairs of one round: 0 strong detections with all, 1 weak ones with those followed, 2 strong ones that are left with the young. */
static sk_status pair_up(state *s, int round, const sk_detection *detections, int32_t n, sk_error *err)
{
    const double strong = s->work.settings.boxes.strong;
    const double apart = round == 0 ? s->work.settings.boxes.match : round == 1 ? WEAK_COST : YOUNG_COST;
    int32_t rows = 0, columns = 0;
    for (int32_t i = 0; i < s->n; i++)
        if (plays(s->all[i].status, round) && s->all[i].last != s->step) {
            s->work.rows[rows] = s->all[i].told.box;
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
    for (int32_t k = 0; k < s->work.pairs.n; k++) {
        sk_assign_pair *p = &s->work.pairs.pairs[k];
        p->cost = 1 - p->cost * (round == 1 ? 1 : detections[s->work.column_of[p->column]].score);
    }
    SK_TRY(sk_box_pairs_solve(&s->work.pairs, rows, columns, apart, err));
    for (int32_t i = 0; i < rows; i++) {
        const int32_t column = s->work.pairs.match[i];
        if (column < 0)
            continue;
        const int32_t j = s->work.column_of[column];
        const double certainty = sk_box_overlap(&s->work.rows[i], &s->work.columns[column]);
        s->work.used[j] = 1;
        correct(s, &s->all[s->work.row_of[i]], &detections[j], j, certainty);
    }
    return SK_OK;
}

/* Of a followed and a lost track upon each other the one that was followed for longer stays. */
static sk_status end_twins(state *s, sk_error *err)
{
    int32_t rows = 0, columns = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const follower *f = &s->all[i];
        if (f->status == LOST) {
            s->work.columns[columns] = f->told.box;
            s->work.column_of[columns++] = i;
        } else if (f->status != ENDED) {
            s->work.rows[rows] = f->told.box;
            s->work.row_of[rows++] = i;
        }
    }
    SK_TRY(sk_box_pairs_find(&s->work.pairs, s->work.rows, rows, s->work.columns, columns, err));
    for (int32_t k = 0; k < s->work.pairs.n; k++) {
        if (!(s->work.pairs.pairs[k].cost > TWIN))
            continue;
        follower *a = &s->all[s->work.row_of[s->work.pairs.pairs[k].row]];
        follower *b = &s->all[s->work.column_of[s->work.pairs.pairs[k].column]];
        (a->last - a->first > b->last - b->first ? b : a)->status = ENDED;
    }
    return SK_OK;
}

static void sweep(state *s)
{
    int32_t left = 0;
    for (int32_t i = 0; i < s->n; i++) {
        if (s->all[i].status == ENDED)
            sk_box_list_leave(&s->work.list, &s->all[i].told);
        else
            s->all[left++] = s->all[i];
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
                           : passed > (double)(kept + 3) ? kept + 3
                                                         : (int64_t)(passed + 0.5);
    s->step += frames;
    for (int32_t i = 0; i < s->n; i++) {
        follower *f = &s->all[i];
        f->told.detection = -1;
        f->told.missed += (int32_t)frames;
        for (int64_t k = 0; k < frames && f->status != YOUNG; k++)
            predict(f);
    }
    for (int32_t j = 0; j < n; j++)
        s->work.used[j] = 0;
    SK_TRY(pair_up(s, 0, detections, n, err));
    SK_TRY(pair_up(s, 1, detections, n, err));
    SK_TRY(pair_up(s, 2, detections, n, err));
    for (int32_t i = 0; i < s->n; i++) {
        follower *f = &s->all[i];
        if (f->last == s->step)
            continue;
        if (f->status == YOUNG || (f->status == FOLLOWED && f->late) || (f->status == LOST && f->late))
            f->status = ENDED;
        else
            f->status = LOST;
        f->late = f->late || s->step - f->last > kept; /* one frame of grace is left to it */
    }
    for (int32_t j = 0; j < n; j++)
        if (!s->work.used[j] && detections[j].score > s->work.settings.boxes.strong)
            begin(s, &detections[j], j);
    SK_TRY(end_twins(s, err));
    sweep(s);
    *n_out = sk_box_list_tell(&s->work.list, s->all, sizeof *s->all, s->n, frame, &s->work.settings);
    *out = s->work.list.sightings;
    return SK_OK;
}

const sk_tracker_kind sk_tracker_bytetrack = {"bytetrack", open, step, close, .counts = false};
