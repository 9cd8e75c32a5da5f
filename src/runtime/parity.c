/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_artifact.h"

#include <math.h>

/* One run of values: a whole output, or some of its channels. */
typedef struct sums {
    double n, a, b, aa, bb, ab, largest, difference;
    bool broken; /* a number that is none */
} sums;

static void add(sums *s, const float *got, const float *want, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double x = (double)got[i], y = (double)want[i];
        s->broken = s->broken || !isfinite(x) || !isfinite(y);
        s->n += 1;
        s->a += x;
        s->b += y;
        s->aa += x * x;
        s->bb += y * y;
        s->ab += x * y;
        s->largest = fmax(s->largest, fabs(y));
        s->difference = fmax(s->difference, fabs(x - y));
    }
}

static void conclude(const sums *s, sk_parity *out)
{
    if (s->n == 0)
        return;
    double difference = s->difference / fmax(1, s->largest);
    double va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;
    double pcc = 1;
    /* Values that are all alike have no correlation; the difference alone decides. */
    if (va > 1e-12 * fmax(1, s->aa) && vb > 1e-12 * fmax(1, s->bb))
        pcc = (s->ab - s->a * s->b / s->n) / sqrt(va * vb);
    if (s->broken) {
        difference = INFINITY;
        pcc = 0;
    }
    out->pcc = fmin(out->pcc, pcc);
    out->max_difference = fmax(out->max_difference, difference);
}

sk_parity sk_parity_compare(const sk_tensor *got, const sk_tensor *want, int32_t n, const sk_model *model)
{
    sk_parity result = {.pcc = 1};
    for (int32_t i = 0; i < n; i++) {
        if (got[i].dtype != SK_DTYPE_F32 || want[i].dtype != SK_DTYPE_F32 ||
            !sk_shape_equal(&got[i].shape, &want[i].shape))
            return (sk_parity){.pcc = 0, .max_difference = INFINITY};
        const float *a = got[i].data, *b = want[i].data;
        const int64_t *d = want[i].shape.dim;
        bool rows = model && i < model->n_outputs && model->outputs[i].kind == SK_OUTPUT_YOLO &&
                    want[i].shape.rank == 3 && d[1] > 4;
        if (!rows) {
            sums all = {0};
            add(&all, a, b, sk_shape_count(&want[i].shape));
            conclude(&all, &result);
            continue;
        }
        sums boxes = {0}, scores = {0}, extra = {0}; /* [B][4 + classes + extra][anchors] */
        int64_t plane = d[2], classes = model->n_classes < d[1] - 4 ? model->n_classes : d[1] - 4;
        for (int64_t k = 0; k < d[0]; k++) {
            int64_t at = k * d[1] * plane;
            add(&boxes, a + at, b + at, 4 * plane);
            add(&scores, a + at + 4 * plane, b + at + 4 * plane, classes * plane);
            at += (4 + classes) * plane;
            add(&extra, a + at, b + at, (d[1] - 4 - classes) * plane);
        }
        conclude(&boxes, &result);
        conclude(&scores, &result);
        conclude(&extra, &result);
    }
    return result;
}

sk_status sk_parity_judge(const sk_parity *p, sk_precision precision, sk_error *err)
{
    /* f32 engines agree to about 1e-6 here; what is refused is a wrong graph, not rounding. */
    double least = precision == SK_PRECISION_F32 ? 0.9999 : precision == SK_PRECISION_I8 ? 0.97 : 0.999;
    double most = precision == SK_PRECISION_F32 ? 1e-3 : precision == SK_PRECISION_I8 ? 0.5 : 0.1;
    if (p->pcc >= least && p->max_difference <= most)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "its answers differ from skitter's own: correlation %.6f (at least %.4f is needed), largest "
        "difference %.2g (at most %.2g)",
        p->pcc, least, p->max_difference, most);
}

sk_status sk_parity_judge_origin(const sk_parity *p, sk_precision precision, const char *model, sk_error *err)
{
    /* f16 differs by a hundredth of a score at most; int8 by so much that it could be anything. */
    bool f32 = precision == SK_PRECISION_F32, i8 = precision == SK_PRECISION_I8;
    double least = f32 ? 0.999999 : 0.9999, most = f32 ? 5e-5 : 0.02;
    bool rounding = !i8 && p->pcc >= least && p->max_difference <= most;
    if (rounding)
        return SK_OK;
    return sk_fail(err, SK_ERR_MISMATCH,
                   "it does not compute what %s computes (correlation %.6f, largest difference %.2g): other "
                   "weights, or another precision; to run it all the same give it as the model",
                   model, p->pcc, p->max_difference);
}
