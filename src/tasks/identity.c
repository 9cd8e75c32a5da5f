/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/identity.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/peak_formula.h"

struct sk_identity {
    int32_t max_peaks, n_classes;
    double *cost;       /* [max_peaks][n_classes] */
    int32_t *column_of; /* [max_peaks] */
    sk_assignment *assignment;
};

sk_status sk_identity_open(int32_t max_peaks, int32_t n_classes, sk_identity **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(max_peaks >= 1 && n_classes >= 1 && n_classes <= 4096, err);
    sk_identity *id = sk_calloc(1, sizeof *id);
    if (!id)
        return sk_fail_memory(err, sizeof *id);
    sk_status status;
    id->max_peaks = max_peaks;
    id->n_classes = n_classes;
    SK_TRY_GOTO(sk_assignment_open(max_peaks, n_classes, &id->assignment, err));
    id->cost = sk_calloc((size_t)max_peaks * (size_t)n_classes, sizeof *id->cost);
    id->column_of = sk_calloc((size_t)max_peaks, sizeof *id->column_of);
    if (!id->cost || !id->column_of) {
        status = sk_fail_memory(err, (size_t)max_peaks * (size_t)n_classes * sizeof *id->cost);
        goto done;
    }
done:
    return SK_HAND_OVER(status, id, out, sk_identity_close);
}

void sk_identity_close(sk_identity **identity)
{
    SK_TAKE_OR_RETURN(id, identity);
    sk_assignment_close(&id->assignment);
    sk_free_all(id->cost, id->column_of, id);
}

/* Gives each class its peak by the costs of the first n. */
static void assign(sk_identity *id, int32_t n, int32_t *peak_of, float *probability)
{
    for (int32_t c = 0; c < id->n_classes; c++) {
        peak_of[c] = -1;
        probability[c] = 0;
    }
    sk_assignment_solve(id->assignment, id->cost, n, id->n_classes, id->column_of);
    for (int32_t i = 0; i < n; i++) {
        int32_t c = id->column_of[i];
        if (c < 0)
            continue;
        const double *row = id->cost + (size_t)i * (size_t)id->n_classes;
        int best = 1;
        for (int32_t k = 0; k < id->n_classes; k++)
            best &= !(row[k] < row[c]);
        if (best) {
            peak_of[c] = i;
            probability[c] = (float)-row[c];
        }
    }
}

void sk_identity_from_maps(sk_identity *id, const sk_map *classes, const sk_peak *peaks, int32_t n_peaks,
                           int32_t *peak_of, float *probability)
{
    int32_t n = n_peaks < id->max_peaks ? n_peaks : id->max_peaks;
    for (int32_t i = 0; i < n; i++)
        for (int32_t c = 0; c < id->n_classes; c++)
            id->cost[(size_t)i * (size_t)id->n_classes + (size_t)c] =
                -(double)sk_map_at(classes, c, sk_peak_pixel(peaks[i].y, classes->height),
                                   sk_peak_pixel(peaks[i].x, classes->width));
    assign(id, n, peak_of, probability);
}

/* The costs of the first peaks, from their probabilities; returns how many. */
static int32_t take_costs(sk_identity *id, const float *values, int32_t count)
{
    int32_t n = count < id->max_peaks ? count : id->max_peaks;
    for (int32_t i = 0; i < n * id->n_classes; i++)
        id->cost[i] = -(double)values[i];
    return n;
}

void sk_identity_from_values(sk_identity *id, const float *values, int32_t n_peaks, int32_t *peak_of,
                             float *probability)
{
    assign(id, take_costs(id, values, n_peaks), peak_of, probability);
}

void sk_identity_from_vectors(sk_identity *id, const float *vectors, int32_t n_crops, int32_t *class_of,
                              float *probability)
{
    const int32_t n = take_costs(id, vectors, n_crops);
    for (int32_t i = 0; i < n_crops; i++) {
        class_of[i] = -1;
        probability[i] = 0;
    }
    sk_assignment_solve(id->assignment, id->cost, n, id->n_classes, id->column_of);
    for (int32_t i = 0; i < n; i++) {
        class_of[i] = id->column_of[i];
        if (class_of[i] >= 0)
            probability[i] = vectors[i * id->n_classes + class_of[i]];
    }
}
