/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_artifact.h"

#include "engines/compare.h"
#include "engines/tolerance.h"

#include <math.h>

/* One run of values: a whole output, or some of its channels. Values that are all alike have no correlation; the difference
 * alone decides. */
static void compare(const float *got, const float *want, int64_t count, sk_parity *out)
{
    if (count <= 0)
        return;
    sk_likeness a = sk_compare(got, want, (size_t)count);
    bool alike = a.constant && isfinite(a.max_diff);
    out->pcc = fmin(out->pcc, alike ? 1 : a.pcc);
    out->max_difference = fmax(out->max_difference, a.max_diff / fmax(1, a.scale));
}

static bool same_form(const sk_tensor *a, const sk_tensor *b)
{
    return a->dtype == SK_DTYPE_F32 && b->dtype == SK_DTYPE_F32 && sk_shape_equal(&a->shape, &b->shape);
}

/* [B][4 + classes + extra][anchors] */
static bool is_dense(const sk_model *model, int32_t i, const sk_shape *shape)
{
    return model && i < model->n_outputs && model->outputs[i].kind == SK_OUTPUT_YOLO && shape->rank == 3 &&
           shape->dim[1] > 4;
}

sk_parity sk_parity_compare(const sk_tensor *got, const sk_tensor *want, int32_t n, const sk_model *model)
{
    sk_parity result = {.pcc = 1};
    for (int32_t i = 0; i < n; i++) {
        if (!same_form(&got[i], &want[i]))
            return (sk_parity){.pcc = 0, .max_difference = INFINITY};
        const float *a = got[i].data, *b = want[i].data;
        const int64_t *d = want[i].shape.dim;
        if (!is_dense(model, i, &want[i].shape)) {
            compare(a, b, sk_shape_count(&want[i].shape), &result);
            continue;
        }
        /* boxes, scores and the rest each for itself */
        int64_t plane = d[2], classes = model->n_classes < d[1] - 4 ? model->n_classes : d[1] - 4;
        for (int64_t k = 0; k < d[0]; k++) {
            int64_t at = k * d[1] * plane;
            compare(a + at, b + at, 4 * plane, &result);
            at += 4 * plane;
            compare(a + at, b + at, classes * plane, &result);
            at += classes * plane;
            compare(a + at, b + at, (d[1] - 4 - classes) * plane, &result);
        }
    }
    return result;
}

void sk_parity_compare_rounding(const sk_tensor *got, const sk_tensor *want, const sk_tensor *plain,
                                int32_t n, const sk_model *model, sk_parity *parity)
{
    for (int32_t i = 0; i < n; i++) {
        const int64_t *d = want[i].shape.dim;
        const bool dense = is_dense(model, i, &want[i].shape);
        if (!same_form(&got[i], &want[i]) || !same_form(&plain[i], &want[i])) {
            parity->rounding = INFINITY;
            return;
        }
        const size_t all = (size_t)sk_shape_count(&want[i].shape), batch = dense ? (size_t)d[0] : 1;
        for (size_t k = 0; k < batch; k++) {
            const size_t at = k * (all / batch);
            const float *a = (const float *)got[i].data + at, *b = (const float *)want[i].data + at,
                        *c = (const float *)plain[i].data + at;
            const double r = dense ? sk_compare_rounding_dense(a, b, c, d[1], d[2], model->n_classes)
                                   : sk_compare_rounding(a, b, c, all);
            parity->rounding = fmax(parity->rounding, r);
        }
    }
}

sk_status sk_parity_judge_rounding(const sk_parity *p, sk_precision precision, sk_error *err)
{
    /* Who rounds once more may be a little further away where his answers are much alike: OpenVINO with a yolo11n-pose.pt 2.09 times as
     * far, correlating by 0.9976. */
    const double most = sk_tolerance_of(precision)->rounding;
    if (p->rounding <= most || (p->pcc >= 0.99 && p->rounding <= 1.5 * most))
        return SK_OK;
    return sk_fail(err, SK_ERR_MISMATCH,
                   "its answers differ from skitter's own: they are %.3g times as far from f32 as those of "
                   "skitter's eight bits (at most %g), correlation %.6f",
                   p->rounding, most, p->pcc);
}

sk_status sk_parity_judge(const sk_parity *p, sk_precision precision, sk_error *err)
{
    /* f32 engines agree to about 1e-6 here; what is refused is a wrong graph, not rounding. */
    const sk_tolerance *t = sk_tolerance_of(precision);
    if (p->pcc >= t->pcc && p->max_difference <= t->difference)
        return SK_OK;
    return sk_fail(err, SK_ERR_MISMATCH,
                   "its answers differ from skitter's own: correlation %.6f (at least %g is needed), largest "
                   "difference %.2g (at most %.2g)",
                   p->pcc, t->pcc, p->max_difference, t->difference);
}

sk_status sk_parity_judge_origin(const sk_parity *p, sk_precision precision, const char *model, sk_error *err)
{
    /* f16 differs by a hundredth of a score at most; int8 by so much that it could be anything. */
    const sk_tolerance *t = sk_tolerance_of(precision);
    if (t->origin_pcc > 0 && p->pcc >= t->origin_pcc && p->max_difference <= t->origin_difference)
        return SK_OK;
    return sk_fail(err, SK_ERR_MISMATCH,
                   "it does not compute what %s computes (correlation %.6f, largest difference %.2g): other "
                   "weights, or another precision; to run it all the same give it as the model",
                   model, p->pcc, p->max_difference);
}
