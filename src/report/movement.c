/* SPDX-License-Identifier: Apache-2.0 */
#include "report/movement.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TRACKS  ((size_t)1 << 22)
#define MOST_SPANS   ((size_t)1 << 24)
#define STEP_SECONDS 0.2 /* speeds are taken over so long: from frame to frame they would be the jitter's */

void sk_movement_begin(sk_movement *m, int32_t width, int32_t height, double fps)
{
    *m = (sk_movement){.width = width, .height = height, .fps = fps > 0 ? fps : 25, .bin_frames = 1};
    const double longer = fmax(fmax(width, height), 1);
    m->columns = (int32_t)fmax(1, lrint(SK_MOVEMENT_SIDE * width / longer));
    m->rows = (int32_t)fmax(1, lrint(SK_MOVEMENT_SIDE * height / longer));
}

void sk_movement_free(sk_movement *m)
{
    for (size_t i = 0; i < m->n_tracks; i++) {
        sk_free(m->tracks[i].path);
        sk_free(m->tracks[i].spans);
    }
    sk_free(m->tracks);
    sk_free(m->index);
    sk_free(m->order);
    *m = (sk_movement){0};
}

/* --- time --- */

static sk_movement_bin *bin_of(sk_movement *m, int64_t frame)
{
    while ((frame - m->first_frame) / m->bin_frames >= SK_MOVEMENT_BINS) {
        for (int i = 0; i < SK_MOVEMENT_BINS; i++) {
            const sk_movement_bin from = m->bins[i];
            m->bins[i] = (sk_movement_bin){0};
            sk_movement_bin *to = &m->bins[i / 2];
            to->frames += from.frames;
            to->visible += from.visible;
            to->speed += from.speed;
            to->n_speed += from.n_speed;
            to->nearest += from.nearest;
            to->n_nearest += from.n_nearest;
        }
        m->bin_frames *= 2;
    }
    return &m->bins[(frame - m->first_frame) / m->bin_frames];
}

/* --- tracks --- */

static sk_status track_of(sk_movement *m, const sk_sighting *s, sk_movement_track **out, sk_error *err)
{
    const size_t number = (size_t)s->track;
    SK_CHECK_ARG(s->track >= 0, err);
    SK_TRY(sk_array_reserve((void **)&m->index, &m->index_capacity, number + 1, sizeof *m->index, MOST_TRACKS,
                            err));
    for (; m->n_index <= number; m->n_index++)
        m->index[m->n_index] = -1;
    if (m->index[number] < 0) {
        SK_TRY(sk_array_reserve((void **)&m->tracks, &m->tracks_capacity, m->n_tracks + 1, sizeof *m->tracks,
                                MOST_TRACKS, err));
        m->tracks[m->n_tracks] = (sk_movement_track){
            .track = s->track, .first = s->frame, .path_every = 1, .from_frame = -1, .seen_last = -1};
        m->index[number] = (int32_t)m->n_tracks++;
    }
    *out = &m->tracks[m->index[number]];
    return SK_OK;
}

/* Every second point goes, and from now on only every second one comes. Breaks between pieces stay. */
static void thin_path(sk_movement_track *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_path; i++) {
        const bool gap = isnan(t->path[2 * i]);
        if (!gap && i % 2)
            continue;
        if (gap && (kept == 0 || isnan(t->path[2 * kept - 2])))
            continue;
        memmove(t->path + 2 * kept++, t->path + 2 * i, 2 * sizeof *t->path);
    }
    t->n_path = kept;
    t->path_every *= 2;
}

static sk_status add_point(sk_movement_track *t, float x, float y, sk_error *err)
{
    if (t->n_path >= SK_MOVEMENT_PATH)
        thin_path(t);
    /* a path of breaks alone does not get thinner: its end is left out */
    if (t->n_path >= SK_MOVEMENT_PATH)
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&t->path, &t->path_capacity, 2 * (t->n_path + 1), sizeof *t->path,
                            2 * SK_MOVEMENT_PATH, err));
    t->path[2 * t->n_path] = x;
    t->path[2 * t->n_path++ + 1] = y;
    return SK_OK;
}

static sk_status add_to_path(const sk_movement *m, sk_movement_track *t, const sk_sighting *s, sk_error *err)
{
    /* nobody saw it for half a second: where it went is not known */
    const bool lost = t->seen_last >= 0 && (double)(s->frame - t->seen_last) > 0.5 * m->fps;
    if (lost && t->n_path && !isnan(t->path[2 * t->n_path - 2]))
        SK_TRY(add_point(t, NAN, NAN, err));
    if ((s->frame - t->first) % t->path_every == 0 || lost || t->n_path == 0)
        SK_TRY(add_point(t, (float)s->x, (float)s->y, err));
    return SK_OK;
}

static sk_status add_to_spans(sk_movement_track *t, const sk_sighting *s, sk_error *err)
{
    sk_movement_span *last = t->n_spans ? &t->spans[t->n_spans - 1] : NULL;
    if (last && last->state == s->state && last->last == s->frame - 1) {
        last->last = s->frame;
        return SK_OK;
    }
    SK_TRY(sk_array_reserve((void **)&t->spans, &t->spans_capacity, t->n_spans + 1, sizeof *t->spans,
                            MOST_SPANS, err));
    t->spans[t->n_spans++] = (sk_movement_span){s->frame, s->frame, s->state};
    return SK_OK;
}

static int speed_class(double speed)
{
    const double at = speed > SK_MOVEMENT_SLOWEST ? 4 * log2(speed / SK_MOVEMENT_SLOWEST) : 0;
    return at >= SK_MOVEMENT_SPEEDS - 1 ? SK_MOVEMENT_SPEEDS - 1 : (int)at;
}

double sk_movement_speed(const sk_movement_track *t, double part)
{
    int64_t all = 0, below = 0;
    for (int i = 0; i < SK_MOVEMENT_SPEEDS; i++)
        all += t->speeds[i];
    if (all == 0)
        return NAN;
    for (int i = 0; i < SK_MOVEMENT_SPEEDS; i++) {
        const double wanted = part * (double)all - (double)below;
        if ((double)t->speeds[i] >= wanted)
            return SK_MOVEMENT_SLOWEST *
                   exp2((i + (t->speeds[i] ? fmax(wanted, 0) / (double)t->speeds[i] : 0)) / 4);
        below += t->speeds[i];
    }
    return t->top_speed;
}

/* A step of STEP_SECONDS, or the first one after it: its length is walked, its speed counts for all its frames. */
static void add_step(sk_movement *m, sk_movement_track *t, const sk_sighting *s, double time)
{
    const double passed = time - t->from_time;
    const bool begun = t->from_frame >= 0;
    if (begun && passed + 0.5 / m->fps < STEP_SECONDS && passed >= 0)
        return;
    if (begun && passed > 0 && passed <= 5 * STEP_SECONDS) {
        const double way = hypot(s->x - t->from_x, s->y - t->from_y), speed = way / passed;
        const int64_t frames = s->frame - t->from_frame;
        t->distance += way;
        t->seconds += passed;
        t->top_speed = fmax(t->top_speed, speed);
        t->speeds[speed_class(speed)] += frames;
        for (int64_t frame = t->from_frame + 1; frame <= s->frame; frame++) {
            bin_of(m, frame)->speed += speed;
            bin_of(m, frame)->n_speed++;
        }
    }
    t->from_x = s->x;
    t->from_y = s->y;
    t->from_time = time;
    t->from_frame = s->frame;
}

static void add_seen(sk_movement *m, sk_movement_track *t, const sk_sighting *s)
{
    const int64_t gap = t->seen_last >= 0 ? s->frame - t->seen_last - 1 : 0;
    t->gaps += gap > 0;
    t->longest_gap = gap > t->longest_gap ? gap : t->longest_gap;
    t->seen++;
    t->seen_last = s->frame;
    t->body += (s->major - t->body) / (double)t->seen;
    const double turn = s->heading / (2 * M_PI);
    if (isfinite(turn))
        t->headings[(int)((turn - floor(turn)) * SK_MOVEMENT_HEADINGS) % SK_MOVEMENT_HEADINGS]++;
    if (m->width > 0 && s->x >= 0 && s->y >= 0 && s->x < m->width && s->y < m->height)
        m->occupancy[(int)(s->y * m->rows / m->height) * m->columns + (int)(s->x * m->columns / m->width)]++;
}

/* --- distances --- */

/* The nearest other one of those in `order`, from left to right: outwards until the next is farther in x alone. */
static double nearest_of(const sk_sighting *s, const int32_t *order, int32_t n, int32_t i)
{
    const sk_sighting *me = &s[order[i]];
    double best = INFINITY;
    for (int way = -1; way <= 1; way += 2)
        for (int32_t k = i + way; k >= 0 && k < n && fabs(s[order[k]].x - me->x) < best; k += way)
            best = fmin(best, hypot(s[order[k]].x - me->x, s[order[k]].y - me->y));
    return best;
}

/* By insertion: sightings come by place, which has nothing to do with x, but a frame has few enough. */
static void sort_by_x(const sk_sighting *s, int32_t *order, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        const int32_t moved = order[i];
        int32_t k = i;
        for (; k > 0 && s[order[k - 1]].x > s[moved].x; k--)
            order[k] = order[k - 1];
        order[k] = moved;
    }
}

static void add_pairs(sk_movement *m, const sk_sighting *s, int32_t seen)
{
    const sk_sighting *first[SK_MOVEMENT_PAIRS] = {0};
    for (int32_t i = 0; i < seen; i++) {
        const int32_t place = m->index[s[m->order[i]].track];
        if (place < SK_MOVEMENT_PAIRS)
            first[place] = &s[m->order[i]];
    }
    for (int a = 0; a < SK_MOVEMENT_PAIRS; a++)
        for (int b = a + 1; first[a] && b < SK_MOVEMENT_PAIRS; b++)
            if (first[b]) {
                m->pair_sum[a][b] += hypot(first[a]->x - first[b]->x, first[a]->y - first[b]->y);
                m->pair_count[a][b]++;
            }
}

static void add_distances(sk_movement *m, const sk_sighting *s, int32_t n, sk_movement_bin *bin)
{
    int32_t seen = 0;
    for (int32_t i = 0; i < n; i++) /* one that is covered is there: without it others would seem lonely */
        if (s[i].state != SK_TRACK_LOST)
            m->order[seen++] = i;
    add_pairs(m, s, seen);
    sort_by_x(s, m->order, seen);
    for (int32_t i = 0; i < seen && seen > 1; i++) {
        bin->nearest += nearest_of(s, m->order, seen, i);
        bin->n_nearest++;
    }
}

sk_status sk_movement_take(sk_movement *m, int64_t frame, double time, const sk_sighting *s, int32_t n,
                           sk_error *err)
{
    if (m->frames++ == 0)
        m->first_frame = frame;
    time = time > 0 ? time : (double)frame / m->fps; /* pictures have none */
    m->last_frame = frame;
    sk_movement_bin *bin = bin_of(m, frame);
    bin->frames++;
    SK_TRY(sk_array_reserve((void **)&m->order, &m->order_capacity, (size_t)n + 1, sizeof *m->order,
                            SK_TRACK_MOST + 1, err));
    for (int32_t i = 0; i < n; i++) {
        sk_movement_track *t = NULL;
        SK_TRY(track_of(m, &s[i], &t, err));
        t->last = frame;
        SK_TRY(add_to_spans(t, &s[i], err));
        if (s[i].detection < 0)
            continue;
        SK_TRY(add_to_path(m, t, &s[i], err));
        add_step(m, t, &s[i], time);
        add_seen(m, t, &s[i]);
        bin->visible++;
    }
    add_distances(m, s, n, bin);
    return SK_OK;
}

int64_t sk_movement_seen(const sk_movement *m)
{
    int64_t seen = 0;
    for (size_t i = 0; i < m->n_tracks; i++)
        seen += m->tracks[i].seen;
    return seen;
}
