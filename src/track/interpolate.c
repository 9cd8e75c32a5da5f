/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "track/sightings.h"
#include "track/spline.h"

#include <math.h>
#include <string.h>

/* Gaps of a tracklet are filled: docs/tracking_offline.md. */

void sk_interpolate_defaults(sk_interpolate_settings *settings)
{
    *settings = (sk_interpolate_settings){.method = SK_INTERPOLATION_LINEAR, .gap = 10, .flip_burst = 5};
}

/* A column with its frames one after another: values[i] is of frame first + i, NaN where there is none. */
typedef struct column {
    double *values;
    size_t count;
    size_t *known; /* places with a value */
    size_t n_known;
    double *bend;  /* second derivatives at known places, for cubic */
    double *x, *y; /* the known ones, one after another */
    double *work;
} column;

static double between(const column *c, size_t k, size_t at, bool cubic)
{
    const double x0 = (double)c->known[k], x1 = (double)c->known[k + 1], x = (double)at, h = x1 - x0;
    const double y0 = c->values[c->known[k]], y1 = c->values[c->known[k + 1]];
    if (!cubic)
        return y0 + (y1 - y0) / h * (x - x0);
    return sk_spline_between(x0, x1, y0, y1, c->bend[k], c->bend[k + 1], x);
}

static void fill(column *c, const sk_interpolate_settings *s)
{
    c->n_known = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!isnan(c->values[i]))
            c->known[c->n_known++] = i;
    if (c->n_known < 2)
        return;
    for (size_t k = 0; k < c->n_known; k++) {
        c->x[k] = (double)c->known[k];
        c->y[k] = c->values[c->known[k]];
    }
    const bool cubic = s->method == SK_INTERPOLATION_CUBIC && c->n_known >= 4;
    if (cubic)
        sk_spline_bends(c->x, c->y, c->n_known, c->bend, c->work);
    for (size_t k = 0; k + 1 < c->n_known; k++) {
        const size_t gap = c->known[k + 1] - c->known[k] - 1;
        if (s->gap < 0 || gap > (size_t)s->gap)
            continue;
        for (size_t at = c->known[k] + 1; at < c->known[k + 1]; at++)
            c->values[at] = between(c, k, at, cubic);
    }
}

static void mend(double *headings, size_t count, const sk_interpolate_settings *s, uint8_t *work)
{
    if (s->directed)
        sk_headings_mend_directed(headings, count, work);
    else
        sk_headings_mend(headings, count, s->flip_burst);
}

/* Headings in `c->values` through sine and cosine; `other` has room for as many. */
static void fill_headings(column *c, double *other, const sk_interpolate_settings *s)
{
    size_t known = 0;
    for (size_t i = 0; i < c->count; i++)
        known += !isnan(c->values[i]);
    if (known < 2)
        return;
    double *headings = c->values;
    for (size_t i = 0; i < c->count; i++) {
        other[i] = cos(headings[i]);
        headings[i] = sin(headings[i]);
    }
    fill(c, s);
    c->values = other;
    fill(c, s);
    c->values = headings;
    for (size_t i = 0; i < c->count; i++) {
        headings[i] = atan2(headings[i], other[i]);
        headings[i] += headings[i] < 0 ? 2 * M_PI : 0;
    }
}

/* The sightings one a frame, without holes: new ones are covered and have no values. */
static sk_status spread(const sk_seen_index *index, sk_tracklet *out, bool *gaps, sk_error *err)
{
    for (size_t i = 0; i < index->count; i++) {
        const sk_seen *seen = index->items[i];
        for (int64_t frame = i ? index->items[i - 1]->frame + 1 : seen->frame; frame < seen->frame; frame++) {
            const sk_seen none = {.frame = frame,
                                  .detection = SK_SEEN_NO_DETECTION,
                                  .x = NAN,
                                  .y = NAN,
                                  .heading = NAN,
                                  .score = NAN,
                                  .certainty = NAN,
                                  .uncertainty = NAN,
                                  .state = SK_SEEN_COVERED};
            SK_TRY(sk_tracklet_append(out, &none, err));
            *gaps = true;
        }
        SK_TRY(sk_tracklet_append(out, seen, err));
        *gaps = *gaps || isnan(seen->x) || isnan(seen->y) || isnan(seen->heading);
    }
    return SK_OK;
}

static sk_status fill_tracklet(sk_tracklet *t, bool gaps, const sk_interpolate_settings *s, sk_error *err)
{
    const size_t n = t->count;
    double *values = sk_malloc(n * 6 * sizeof *values);
    size_t *known = sk_malloc(n * sizeof *known);
    uint8_t *work = sk_malloc(n);
    sk_status status = values && known && work ? SK_OK : sk_fail_memory(err, n * 6 * sizeof *values);
    if (status != SK_OK)
        goto done;
    column c = {.values = values,
                .count = n,
                .known = known,
                .bend = values + n,
                .work = values + 2 * n,
                .x = values + 4 * n,
                .y = values + 5 * n};
    const size_t places[] = {offsetof(sk_seen, x), offsetof(sk_seen, y)};
    for (size_t k = 0; gaps && k < 2; k++) {
        for (size_t i = 0; i < n; i++)
            memcpy(&values[i], (const char *)&t->items[i] + places[k], sizeof *values);
        fill(&c, s);
        for (size_t i = 0; i < n; i++)
            memcpy((char *)&t->items[i] + places[k], &values[i], sizeof *values);
    }
    for (size_t i = 0; i < n; i++)
        values[i] = t->items[i].heading;
    mend(values, n, s, work);
    if (gaps)
        fill_headings(&c, values + 3 * n, s);
    for (size_t i = 0; i < n; i++) {
        t->items[i].heading = values[i];
        if (gaps && (t->items[i].state == SK_SEEN_UNTOLD || !(t->columns & SK_SEEN_STATE)))
            t->items[i].state = SK_SEEN_COVERED;
    }
done:
    sk_free(values);
    sk_free(known);
    sk_free(work);
    return status;
}

sk_status sk_tracklet_interpolate(sk_tracklet *tracklet, const sk_interpolate_settings *s, sk_error *err)
{
    if (!tracklet->count || s->method == SK_INTERPOLATION_NONE)
        return SK_OK;
    sk_seen_index index = {0};
    sk_tracklet whole = {.id = tracklet->id, .columns = tracklet->columns};
    bool gaps = false;
    sk_status status = sk_seen_index_make(tracklet, SK_SEEN_FIRST, &index, err);
    if (status == SK_OK)
        status = spread(&index, &whole, &gaps, err);
    if (status == SK_OK)
        status = fill_tracklet(&whole, gaps, s, err);
    sk_seen_index_free(&index);
    if (status != SK_OK) {
        sk_tracklet_free(&whole);
        return status;
    }
    sk_tracklet_free(tracklet);
    *tracklet = whole;
    return SK_OK;
}
