/* SPDX-License-Identifier: Apache-2.0 */
#include "results/label_rows.h"

#include "base/memory.h"
#include "results/shape.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NUMBERS ((size_t)1 << 28)
#define MOST_IN_LINE 200000
#define FAR_OUTSIDE  10 /* times the picture's size: such numbers were never divided by it */

static sk_status wrong(const char *what, size_t line, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s:%zu: %s. A line of label text is a class and numbers divided by the "
                   "picture's size: class x y w h …",
                   what, line, why);
}

/* One line, up to `end`. */
static sk_status parse_line(const char *what, size_t line, const char *at, const char *end, int32_t image,
                            sk_label_rows *rows, sk_error *err)
{
    size_t first = rows->n_numbers;
    double class_id = -1;
    for (size_t n = 0;; n++) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
            at++;
        if (at == end)
            break;
        char *after;
        double value = strtod(at, &after);
        if (after == at || after > end || (after < end && !strchr(" \t\r", *after)))
            return wrong(what, line, "not a number", err);
        if (n > MOST_IN_LINE)
            return wrong(what, line, "more numbers than a polygon has", err);
        at = after;
        if (n == 0) {
            class_id = value;
            continue;
        }
        if (!isfinite(value))
            return wrong(what, line, "not a finite number", err);
        SK_TRY(sk_array_reserve((void **)&rows->numbers, &rows->numbers_capacity, rows->n_numbers + 1,
                                sizeof *rows->numbers, MOST_NUMBERS, err));
        rows->numbers[rows->n_numbers++] = value;
    }
    size_t count = rows->n_numbers - first;
    if (class_id < 0 || class_id > 1e6 || class_id != floor(class_id))
        return wrong(what, line, "the class is not a whole number from 0", err);
    if (count < 4)
        return wrong(what, line, "fewer than four numbers follow the class", err);
    for (size_t i = 0; i < 4; i++)
        if (fabs(rows->numbers[first + i]) > FAR_OUTSIDE)
            return wrong(what, line, "a place far outside the picture: pixels, not parts of its size?", err);
    SK_TRY(sk_array_reserve((void **)&rows->rows, &rows->rows_capacity, rows->n_rows + 1, sizeof *rows->rows,
                            MOST_NUMBERS / 4, err));
    rows->rows[rows->n_rows++] = (sk_label_row){image, (int32_t)class_id, (uint32_t)count, first};
    return SK_OK;
}

sk_status sk_label_rows_parse(const char *what, const char *text, size_t length, int32_t image,
                              sk_label_rows *rows, sk_error *err)
{
    if (memchr(text, '\0', length))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a text file", what);
    const char *at = text, *end = text + length;
    if (length >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *from = at;
        while (from < stop && strchr(" \t\r", *from))
            from++;
        if (from < stop)
            SK_TRY(parse_line(what, line, from, stop, image, rows, err));
        at = stop + 1;
    }
    return SK_OK;
}

void sk_label_rows_free(sk_label_rows *rows)
{
    sk_free(rows->rows);
    sk_free(rows->numbers);
    *rows = (sk_label_rows){0};
}

/* --- which form --- */

static bool all_count(const sk_label_rows *r, uint32_t count)
{
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].count != count)
            return false;
    return true;
}

static bool whole_at(const sk_label_rows *r, uint32_t at)
{
    for (size_t i = 0; i < r->n_rows; i++) {
        double v = r->numbers[r->rows[i].first + at];
        if (v < 0 || v > 1e15 || v != floor(v))
            return false;
    }
    return true;
}

/* Rows of `count` numbers, or one more for the confidence, or two for the track as well. */
static bool fits(const sk_label_rows *r, uint32_t count, sk_label_form *form)
{
    form->confidence = all_count(r, count + 1) || (all_count(r, count + 2) && whole_at(r, count + 1));
    form->track = form->confidence && all_count(r, count + 2);
    return form->confidence || all_count(r, count);
}

static bool try_pose(const sk_label_rows *r, int32_t n, int32_t per, sk_label_form *form)
{
    if (n < 1 || n > SK_ANNOTATION_MAX_KEYPOINTS || !fits(r, 4 + (uint32_t)(n * per), form))
        return false;
    form->n_keypoints = n;
    form->per_keypoint = per;
    return true;
}

/* Labels made by hand say 0, 1 or 2 of every keypoint. */
static bool looks_like_pose(const sk_label_rows *r)
{
    uint32_t count = r->rows[0].count;
    if (count < 7 || (count - 4) % 3 || !all_count(r, count))
        return false;
    for (uint32_t k = 6; k < count; k += 3)
        for (size_t i = 0; i < r->n_rows; i++) {
            double v = r->numbers[r->rows[i].first + k];
            if (v != 0 && v != 1 && v != 2)
                return false;
        }
    return true;
}

static sk_status polygons(const char *what, const sk_label_rows *r, sk_label_form *form, sk_error *err)
{
    form->polygon = form->corners = true;
    if (fits(r, 8, form))
        return SK_OK;
    form->corners = false;
    form->confidence = r->rows[0].count % 2;
    for (size_t i = 0; i < r->n_rows; i++)
        if (r->rows[i].count < 6 || (r->rows[i].count % 2 == 1) != form->confidence)
            return sk_fail(
                err, SK_ERR_FORMAT,
                "%s: its label lines do not agree: one has %u numbers behind the class, another %u. Boxes "
                "have 4, oriented boxes 8, polygons any even number, poses as kpt_shape in a data.yaml "
                "says; one more is the confidence",
                what, r->rows[0].count, r->rows[i].count);
    return SK_OK;
}

sk_status sk_label_rows_form(const char *what, const sk_label_rows *r, int32_t n_keypoints,
                             int32_t per_keypoint, sk_label_form *out, sk_error *err)
{
    *out = (sk_label_form){0};
    if (r->n_rows == 0)
        return SK_OK;
    if (per_keypoint) {
        if (try_pose(r, n_keypoints, per_keypoint, out))
            return SK_OK;
    } else if (try_pose(r, n_keypoints, 3, out) || try_pose(r, n_keypoints, 2, out)) {
        return SK_OK;
    } else if (looks_like_pose(r)) {
        return try_pose(r, (int32_t)(r->rows[0].count - 4) / 3, 3, out)
                   ? SK_OK
                   : sk_fail(err, SK_ERR_LIMIT, "%s: more than %d keypoints", what,
                             SK_ANNOTATION_MAX_KEYPOINTS);
    }
    *out = (sk_label_form){0};
    if (fits(r, 4, out))
        return SK_OK;
    *out = (sk_label_form){0};
    return polygons(what, r, out, err);
}

/* --- into the set --- */

static void polygon_to_box(const double *v, uint32_t count, double w, double h, double box[4])
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        double place = v[i] * (i % 2 ? h : w);
        low[i % 2] = fmin(low[i % 2], place);
        high[i % 2] = fmax(high[i % 2], place);
    }
    box[0] = low[0], box[1] = low[1];
    box[2] = high[0] - low[0], box[3] = high[1] - low[1];
}

/* In results the third number is a confidence, and 0 0 0 was not found; in labels, how well the point is seen. */
static void add_points(const sk_label_form *f, bool truth, const double *v, double w, double h,
                       sk_annotation_point *points)
{
    for (int32_t k = 0; k < f->n_keypoints; k++, v += f->per_keypoint) {
        bool three = f->per_keypoint == 3;
        bool there = truth ? (three ? v[2] != 0 : v[0] >= 0 && v[1] >= 0) : v[0] != 0 || v[1] != 0;
        points[k] = (sk_annotation_point){NAN, NAN, 1, 0};
        if (!there)
            continue;
        points[k].x = v[0] * w;
        points[k].y = v[1] * h;
        points[k].score = truth || !three ? 1 : v[2];
        points[k].visible = truth && three && v[2] < 2 ? 1 : 2;
    }
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const sk_label_rows *r = context;
    const sk_label_row *x = &r->rows[*(const size_t *)a], *y = &r->rows[*(const size_t *)b];
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return memcmp(&r->numbers[x->first], &r->numbers[y->first], x->count * sizeof(double));
}

/* Marks lines that stand twice in a picture's labels; Ultralytics takes each once. */
static sk_status find_twins(const sk_label_rows *r, bool *twin, size_t *count, sk_error *err)
{
    size_t *order = sk_calloc(r->n_rows, sizeof *order);
    if (!order)
        return sk_fail_memory(err, r->n_rows * sizeof *order);
    for (size_t i = 0; i < r->n_rows; i++)
        order[i] = i;
    qsort_r(order, r->n_rows, sizeof *order, compare_rows, (void *)(uintptr_t)r);
    for (size_t i = 1; i < r->n_rows; i++)
        if (compare_rows(&order[i - 1], &order[i], (void *)(uintptr_t)r) == 0) {
            twin[order[i]] = true;
            ++*count;
        }
    sk_free(order);
    return SK_OK;
}

static sk_status add_row(const sk_label_rows *r, const sk_label_row *row, const sk_label_form *f, bool truth,
                         sk_annotation_set *set, sk_error *err)
{
    const sk_annotation_image *im = &set->images[row->image];
    const double *v = &r->numbers[row->first];
    double w = im->width ? im->width : 1, h = im->height ? im->height : 1;
    int32_t class_id;
    const char *name = "";
    for (size_t c = 0; c < set->n_classes; c++)
        if (set->classes[c].number == row->class_id)
            name = set->classes[c].name;
    SK_TRY(sk_annotations_class(set, row->class_id, name, strlen(name), &class_id, err));
    sk_annotation *a;
    SK_TRY(sk_annotations_add(set, row->image, class_id, true, &a, err));
    uint32_t shape = row->count - f->confidence - f->track;
    if (f->polygon) {
        polygon_to_box(v, shape, w, h, a->box);
        if (f->corners) {
            double corners[8];
            for (int i = 0; i < 8; i++)
                corners[i] = v[i] * (i % 2 ? h : w);
            sk_obb_of_corners(corners, a->obb);
            a->has |= SK_HAS_OBB;
        }
    } else {
        a->box[0] = (v[0] - v[2] / 2) * w, a->box[1] = (v[1] - v[3] / 2) * h;
        a->box[2] = v[2] * w, a->box[3] = v[3] * h;
    }
    a->has |= SK_HAS_BOX;
    if (f->n_keypoints)
        add_points(f, truth, v + 4, w, h, &set->points[a->first]);
    if (f->confidence)
        a->score = v[shape];
    if (f->track)
        a->track = (int64_t)v[shape + 1];
    set->has |= a->has;
    return SK_OK;
}

sk_status sk_label_rows_add(const sk_label_rows *r, const sk_label_form *f, bool truth,
                            sk_annotation_set *set, sk_error *err)
{
    sk_status status = SK_OK;
    size_t twins = 0;
    bool *twin = sk_calloc(r->n_rows, sizeof *twin);
    if (!twin)
        return sk_fail_memory(err, r->n_rows);
    if (truth)
        SK_TRY_GOTO(find_twins(r, twin, &twins, err));
    if (f->n_keypoints && !set->n_keypoints)
        SK_TRY_GOTO(sk_annotations_keypoints(set, f->n_keypoints, NULL, err));
    for (size_t i = 0; i < r->n_rows; i++)
        if (!twin[i])
            SK_TRY_GOTO(add_row(r, &r->rows[i], f, truth, set, err));
    if (twins)
        sk_annotations_note(set, "%zu label lines that stood twice were taken once", twins);
    set->unscored = !f->confidence;
done:
    sk_free(twin);
    return status;
}
