/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background_internal.h"

#include "base/memory.h"

#include <math.h>

/* Rows become runs of pixels; runs that touch those of the row above hang together (union by the earliest, found again by halving
 * the way); then every blob has its sums and its runs. */

void blobs_free(blob_list *list)
{
    sk_free(list->items);
    sk_free(list->runs);
    *list = (blob_list){0};
}

static int32_t root_of(blob_run *runs, int32_t i)
{
    while (runs[i].blob != i) {
        runs[i].blob = runs[runs[i].blob].blob;
        i = runs[i].blob;
    }
    return i;
}

static void join(blob_run *runs, int32_t a, int32_t b)
{
    a = root_of(runs, a);
    b = root_of(runs, b);
    if (a < b)
        runs[b].blob = a;
    else
        runs[a].blob = b;
}

/* The runs of row y, each joined with those above that it touches, also by a corner. */
static sk_status take_row(const uint8_t *row, int32_t y, int32_t width, size_t above, size_t begin,
                          blob_list *list, sk_error *err)
{
    size_t up = above;
    for (int32_t x = 0; x < width;) {
        if (!row[x]) {
            x++;
            continue;
        }
        int32_t end = x;
        while (end < width && row[end])
            end++;
        const size_t i = list->n_runs;
        SK_TRY(sk_array_reserve((void **)&list->runs, &list->runs_capacity, i + 1, sizeof *list->runs,
                                INT32_MAX, err));
        list->runs[i] = (blob_run){y, x, end, (int32_t)i, -1};
        list->n_runs++;
        while (up < begin && list->runs[up].x1 < x)
            up++;
        for (size_t k = up; k < begin && list->runs[k].x0 <= end; k++)
            join(list->runs, (int32_t)k, (int32_t)i);
        x = end;
    }
    return SK_OK;
}

/* Sums of the whole numbers from a to b-1, and of their squares, of pixels' centres. */
static void add_run(blob_sums *s, const blob_run *run)
{
    const double n = run->x1 - run->x0, y = run->y + 0.5, middle = 0.5 * (run->x0 + run->x1);
    const double spread = n * (n * n - 1) / 12; /* sum of squares of n neighbours about their middle */
    s->n += n;
    s->x += n * middle;
    s->y += n * y;
    s->xx += n * middle * middle + spread;
    s->xy += n * middle * y;
    s->yy += n * y * y;
}

static void add_to_blob(blob *b, const blob_run *run, const uint8_t *difference)
{
    add_run(&b->sums, run);
    for (int32_t x = run->x0; x < run->x1; x++)
        b->contrast += difference[x];
}

sk_status blobs_find(const uint8_t *mask, const uint8_t *difference, int32_t width, int32_t height,
                     size_t most, blob_list *list, bool *too_many, sk_error *err)
{
    list->count = list->n_runs = 0;
    *too_many = false;
    size_t above = 0, begin = 0;
    for (int32_t y = 0; y < height; y++) {
        SK_TRY(take_row(mask + (size_t)y * (size_t)width, y, width, above, begin, list, err));
        above = begin;
        begin = list->n_runs;
    }
    for (size_t i = 0; i < list->n_runs; i++) /* a root is its blob's earliest run: it comes first */
        if (root_of(list->runs, (int32_t)i) == (int32_t)i && ++list->count > most) {
            *too_many = true;
            list->count = 0;
            return SK_OK;
        }
    SK_TRY(sk_array_reserve((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            INT32_MAX, err));
    size_t n = 0;
    for (size_t i = list->n_runs; i-- > 0;) /* roots first need their numbers: they point at themselves */
        list->runs[i].blob = root_of(list->runs, (int32_t)i);
    for (size_t i = 0; i < list->n_runs; i++) {
        blob_run *run = &list->runs[i];
        const bool root = run->blob == (int32_t)i;
        if (root) {
            list->items[n] = (blob){.first_run = -1};
            run->blob = (int32_t)n++;
        } else {
            run->blob = list->runs[run->blob].blob; /* the root's number by now */
        }
        blob *b = &list->items[run->blob];
        add_to_blob(b, run, difference + (size_t)run->y * (size_t)width);
        run->next = b->first_run;
        b->first_run = (int32_t)i;
    }
    return SK_OK;
}

void blob_box(const blob_sums *s, double obb[5])
{
    const double x = s->x / s->n, y = s->y / s->n;
    /* a pixel is not a point: it has a twelfth of spread of its own */
    const double xx = s->xx / s->n - x * x + 1.0 / 12, yy = s->yy / s->n - y * y + 1.0 / 12,
                 xy = s->xy / s->n - x * y;
    const double half = 0.5 * (xx + yy), root = hypot(0.5 * (xx - yy), xy);
    double angle = 0.5 * atan2(2 * xy, xx - yy);
    angle = angle < 0 ? angle + M_PI : angle;
    obb[0] = x;
    obb[1] = y;
    obb[2] =
        4 * sqrt(fmax(half + root, 1.0 / 12)); /* an ellipse's axis is four times its standard deviation */
    obb[3] = 4 * sqrt(fmax(half - root, 1.0 / 12));
    obb[4] = angle >= M_PI ? 0 : angle;
}
