/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/yolo_decode.h"

#include "tasks/order.h"

#include <math.h>
#include <string.h>

enum { MAX_HEADS = 4 * SK_MAX_LEVELS + 2, BLOCK = 32, MAX_REG = 64, MAX_PLACES = 1 << 24 };

typedef struct level {
    const sk_map *box, *classes, *keypoints, *angle;
    int32_t first, width, places;
    float stride;
} level;

struct sk_yolo_decoder {
    sk_yolo_spec spec;
    sk_task task;
    int32_t max_places;
    float *best;     /* [max_places] best class value of each place */
    float *scores;   /* [capacity] scratch of the end-to-end ranking */
    int32_t *order;  /* [capacity] */
    int32_t *places; /* [capacity] */
    int32_t *labels; /* [capacity] */
    int32_t *spare;  /* [capacity] */
    uint64_t *keys;  /* [2 * capacity] */
    /* of the image being decoded */
    sk_yolo_form form;
    sk_map maps[MAX_HEADS];
    level levels[SK_MAX_LEVELS];
};

static float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

static int is_end2end(const sk_yolo_decoder *d)
{
    return d->spec.end2end && d->form != SK_YOLO_DENSE;
}

sk_status sk_yolo_decoder_open(const sk_yolo_spec *spec, sk_task task, int32_t max_places,
                               sk_yolo_decoder **out, sk_error *err)
{
    SK_CHECK_ARG(spec && out, err);
    *out = NULL;
    SK_CHECK_ARG(max_places >= 1 && max_places <= MAX_PLACES, err);
    if (spec->n_classes < 1 || spec->n_levels < 0 || spec->n_levels > SK_MAX_LEVELS ||
        spec->n_heads > MAX_HEADS || spec->reg_max < 1 || spec->reg_max > MAX_REG || spec->n_keypoints < 0 ||
        spec->n_keypoints > 4096 ||
        (spec->n_keypoints > 0 && spec->keypoint_dims != 2 && spec->keypoint_dims != 3))
        return sk_fail(err, SK_ERR_ARG,
                       "a YOLO head with %d classes, %d levels, reg_max %d and %dx%d keypoints cannot be "
                       "decoded",
                       (int)spec->n_classes, (int)spec->n_levels, (int)spec->reg_max, (int)spec->n_keypoints,
                       (int)spec->keypoint_dims);
    sk_yolo_decoder *d = sk_calloc(1, sizeof *d);
    if (!d)
        return sk_fail_memory(err, sizeof *d);
    d->spec = *spec;
    d->task = task;
    d->max_places = max_places;
    if (d->spec.max_det < 1)
        d->spec.max_det = 300;
    size_t capacity = (size_t)sk_yolo_decoder_capacity(d);
    d->best = sk_aligned_calloc(64, ((size_t)max_places + BLOCK) * sizeof *d->best);
    d->scores = sk_calloc(capacity, sizeof *d->scores);
    d->order = sk_calloc(capacity, sizeof *d->order);
    d->places = sk_calloc(capacity, sizeof *d->places);
    d->labels = sk_calloc(capacity, sizeof *d->labels);
    d->spare = sk_calloc(capacity, sizeof *d->spare);
    d->keys = sk_calloc(capacity * 2, sizeof *d->keys);
    if (!d->best || !d->scores || !d->order || !d->places || !d->labels || !d->spare || !d->keys) {
        sk_yolo_decoder_close(&d);
        return sk_fail_memory(err, capacity * 36);
    }
    *out = d;
    return SK_OK;
}

void sk_yolo_decoder_close(sk_yolo_decoder **decoder)
{
    if (!decoder || !*decoder)
        return;
    sk_yolo_decoder *d = *decoder;
    sk_free(d->best);
    sk_free(d->scores);
    sk_free(d->order);
    sk_free(d->places);
    sk_free(d->labels);
    sk_free(d->spare);
    sk_free(d->keys);
    sk_free(d);
    *decoder = NULL;
}

int32_t sk_yolo_decoder_capacity(const sk_yolo_decoder *d)
{
    /* End-to-end models rank (place, class) pairs, cutting back to max_det whenever the list is full. */
    int64_t pairs = d->spec.end2end ? (int64_t)d->spec.max_det * 2 : 0;
    return pairs > d->max_places ? (int32_t)pairs : d->max_places;
}

/* The heads of each level, checked against the specification. */
static sk_status bind_heads(sk_yolo_decoder *d, const sk_map *maps, int32_t n_maps, sk_error *err)
{
    const sk_yolo_spec *spec = &d->spec;
    if (n_maps < spec->n_heads || spec->n_levels < 1)
        return sk_fail(err, SK_ERR_MISMATCH, "the network gave %d outputs; its %d raw heads are expected",
                       (int)n_maps, (int)spec->n_heads);
    memset(d->levels, 0, sizeof d->levels);
    for (int32_t i = 0; i < spec->n_heads; i++) {
        const sk_head_spec *head = &spec->heads[i];
        if (head->kind == SK_HEAD_PROTO || head->kind == SK_HEAD_MASK)
            continue;
        if (head->level < 0 || head->level >= spec->n_levels)
            return sk_fail(err, SK_ERR_MISMATCH, "raw head %d belongs to level %d of %d", (int)i,
                           (int)head->level, (int)spec->n_levels);
        d->maps[i] = maps[i];
        const sk_map *map = &d->maps[i];
        level *l = &d->levels[head->level];
        int32_t channels = 1;
        switch (head->kind) {
        case SK_HEAD_BOX:
            l->box = map;
            channels = 4 * spec->reg_max;
            break;
        case SK_HEAD_CLASS:
            l->classes = map;
            channels = spec->n_classes;
            break;
        case SK_HEAD_KEYPOINTS:
            l->keypoints = map;
            channels = spec->n_keypoints * spec->keypoint_dims;
            break;
        default: l->angle = map; break;
        }
        if (map->channels != channels)
            return sk_fail(err, SK_ERR_MISMATCH, "raw head %d has %d channels; %d are expected", (int)i,
                           (int)map->channels, (int)channels);
    }
    int64_t first = 0;
    for (int32_t k = 0; k < spec->n_levels; k++) {
        level *l = &d->levels[k];
        if (!l->box || !l->classes || (d->task == SK_TASK_POSE && !l->keypoints) ||
            (d->task == SK_TASK_OBB && !l->angle))
            return sk_fail(err, SK_ERR_MISMATCH, "level %d lacks a raw head of its task", (int)k);
        const sk_map *others[3] = {l->classes, l->keypoints, l->angle};
        for (int j = 0; j < 3; j++)
            if (others[j] && (others[j]->height != l->box->height || others[j]->width != l->box->width))
                return sk_fail(err, SK_ERR_MISMATCH, "the raw heads of level %d differ in size", (int)k);
        l->first = (int32_t)first;
        l->width = l->box->width;
        l->places = l->box->height * l->box->width;
        l->stride = spec->stride[k];
        first += l->places;
    }
    if (first > d->max_places)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "the network gave %lld anchors; this stage was opened for at most %d",
                       (long long)first, (int)d->max_places);
    return SK_OK;
}

/* The largest value over channels [c0, c0 + n) at every place; NaN never wins. */
static void best_of_channels(const sk_map *map, int32_t c0, int32_t n, int32_t places, float *restrict best)
{
    if (map->place_stride == 1) {
        for (int32_t i = 0; i < places; i++)
            best[i] = -INFINITY;
        for (int32_t c = 0; c < n; c++) {
            const float *restrict v = map->data + (c0 + c) * map->channel_stride;
            for (int32_t i = 0; i < places; i++)
                best[i] = v[i] > best[i] ? v[i] : best[i];
        }
        return;
    }
    for (int32_t i = 0; i < places; i++) {
        const float *v = map->data + i * map->place_stride + c0 * map->channel_stride;
        float top = -INFINITY;
        for (int32_t c = 0; c < n; c++) {
            float x = v[c * map->channel_stride];
            top = x > top ? x : top;
        }
        best[i] = top;
    }
}

/* Appends to `found` the places whose value passes; a block without any costs one vector sum. */
static int32_t places_above(const float *best, int32_t places, float limit, int32_t first, int32_t *found,
                            int32_t count)
{
    int32_t i = 0;
    for (; i + BLOCK <= places; i += BLOCK) {
        int32_t hits = 0;
        for (int32_t k = 0; k < BLOCK; k++)
            hits += best[i + k] > limit;
        if (!hits)
            continue;
        for (int32_t k = 0; k < BLOCK; k++)
            if (best[i + k] > limit)
                found[count++] = first + i + k;
    }
    for (; i < places; i++)
        if (best[i] > limit)
            found[count++] = first + i;
    return count;
}

static const level *level_of(const sk_yolo_decoder *d, int32_t place)
{
    int32_t k = 0;
    while (k + 1 < d->spec.n_levels && place >= d->levels[k + 1].first)
        k++;
    return &d->levels[k];
}

/* Value of a head's channel at a place of its level. */
static float head_at(const sk_map *map, int32_t channel, int32_t inside)
{
    return map->data[channel * map->channel_stride + inside * map->place_stride];
}

/* Distances left, top, right, bottom in grid units. With DFL each is the mean of 0 … reg_max-1 under a
 * softmax. */
static void distances(const sk_yolo_decoder *d, const level *l, int32_t inside, float out[4])
{
    int32_t reg = d->spec.reg_max;
    for (int32_t side = 0; side < 4; side++) {
        if (reg == 1) {
            out[side] = head_at(l->box, side, inside);
            continue;
        }
        float v[MAX_REG], top = -INFINITY, sum = 0, mean = 0;
        for (int32_t i = 0; i < reg; i++) {
            v[i] = head_at(l->box, side * reg + i, inside);
            top = v[i] > top ? v[i] : top;
        }
        for (int32_t i = 0; i < reg; i++) {
            float p = expf(v[i] - top);
            sum += p;
            mean += p * (float)i;
        }
        out[side] = mean / sum;
    }
}

static void decode_box(const sk_yolo_decoder *d, int32_t place, float box[4], float *angle)
{
    const level *l = level_of(d, place);
    int32_t inside = place - l->first;
    float ax = (float)(inside % l->width) + 0.5f, ay = (float)(inside / l->width) + 0.5f, s = l->stride;
    float r[4];
    distances(d, l, inside, r);
    *angle = 0;
    if (d->task == SK_TASK_OBB) {
        float v = head_at(l->angle, 0, inside);
        float a = d->spec.angle_raw ? v : (sigmoid(v) - 0.25f) * (float)3.14159265358979323846;
        float xf = (r[2] - r[0]) / 2, yf = (r[3] - r[1]) / 2, c = cosf(a), sn = sinf(a);
        box[0] = (xf * c - yf * sn + ax) * s;
        box[1] = (xf * sn + yf * c + ay) * s;
        box[2] = (r[0] + r[2]) * s;
        box[3] = (r[1] + r[3]) * s;
        *angle = a;
        return;
    }
    float x1 = ax - r[0], y1 = ay - r[1], x2 = ax + r[2], y2 = ay + r[3];
    if (is_end2end(d)) {
        box[0] = x1 * s;
        box[1] = y1 * s;
        box[2] = x2 * s;
        box[3] = y2 * s;
        return;
    }
    /* By way of centre and size, as the dense output goes, so that both forms round alike. */
    float cx = (x1 + x2) / 2 * s, cy = (y1 + y2) / 2 * s, w = (x2 - x1) * s, h = (y2 - y1) * s;
    box[0] = cx - w / 2;
    box[1] = cy - h / 2;
    box[2] = cx + w / 2;
    box[3] = cy + h / 2;
}

static void dense_box(const sk_yolo_decoder *d, int32_t place, float box[4], float *angle)
{
    const sk_map *m = &d->maps[0];
    float v[4];
    for (int k = 0; k < 4; k++)
        v[k] = head_at(m, k, place);
    *angle = 0;
    if (d->task == SK_TASK_OBB) {
        memcpy(box, v, sizeof v);
        *angle = head_at(m, m->channels - 1, place);
        return;
    }
    box[0] = v[0] - v[2] / 2;
    box[1] = v[1] - v[3] / 2;
    box[2] = v[0] + v[2] / 2;
    box[3] = v[1] + v[3] / 2;
}

static void push(sk_candidates *out, const float box[4], float angle, float score, int32_t class_id,
                 int32_t place)
{
    if (!isfinite(box[0]) || !isfinite(box[1]) || !isfinite(box[2]) || !isfinite(box[3]) ||
        !isfinite(angle) || out->count >= out->capacity)
        return;
    int32_t n = out->count++;
    for (int k = 0; k < 4; k++)
        out->box[k][n] = box[k];
    out->angle[n] = angle;
    out->score[n] = score;
    out->class_id[n] = class_id;
    out->place[n] = place;
}

/* Value of class c at a place, as logit (heads) or score (dense). */
static float class_value(const sk_yolo_decoder *d, int32_t place, int32_t c)
{
    if (d->form == SK_YOLO_DENSE)
        return head_at(&d->maps[0], 4 + c, place);
    const level *l = level_of(d, place);
    return head_at(l->classes, c, place - l->first);
}

/* The first class of the highest score. Scores are compared after the sigmoid, as the original does:
 * distinct logits may round to equal scores. */
static int32_t best_class(const sk_yolo_decoder *d, int32_t place, float *score)
{
    int32_t best = 0;
    float top = -INFINITY;
    for (int32_t c = 0; c < d->spec.n_classes; c++) {
        float v = class_value(d, place, c);
        if (v > top) {
            top = v;
            best = c;
        }
    }
    if (d->form == SK_YOLO_DENSE) {
        *score = top;
        return best;
    }
    *score = sigmoid(top);
    for (int32_t c = 0; c < best; c++) {
        float v = class_value(d, place, c);
        if ((top > 8 || v > top - 1e-5f) && sigmoid(v) >= *score)
            return c;
    }
    return best;
}

/* A bound just below the logit of a confidence; the exact test follows on the score. */
static float logit_bound(float confidence)
{
    if (!(confidence > 0))
        return -INFINITY;
    if (confidence >= 1)
        return INFINITY;
    double logit = log((double)confidence / (1.0 - (double)confidence));
    return (float)(logit - 1e-4 * (1 + fabs(logit)));
}

/* Places whose best class may pass, by place; d->best holds the best value of each. */
static int32_t find_places(sk_yolo_decoder *d, float confidence, int32_t *found)
{
    if (d->form == SK_YOLO_DENSE) {
        const sk_map *m = &d->maps[0];
        best_of_channels(m, 4, d->spec.n_classes, m->width, d->best);
        return places_above(d->best, m->width, confidence, 0, found, 0);
    }
    int32_t count = 0;
    float bound = logit_bound(confidence);
    for (int32_t k = 0; k < d->spec.n_levels; k++) {
        const level *l = &d->levels[k];
        best_of_channels(l->classes, 0, d->spec.n_classes, l->places, d->best + l->first);
        count = places_above(d->best + l->first, l->places, bound, l->first, found, count);
    }
    return count;
}

static void decode_many(sk_yolo_decoder *d, float confidence, const uint8_t *wanted, sk_candidates *out)
{
    int32_t count = find_places(d, confidence, d->places);
    for (int32_t i = 0; i < count; i++) {
        int32_t place = d->places[i];
        float score, box[4], angle;
        int32_t c = best_class(d, place, &score);
        if (!(score > confidence) || (wanted && !wanted[c]))
            continue;
        if (d->form == SK_YOLO_DENSE)
            dense_box(d, place, box, &angle);
        else
            decode_box(d, place, box, &angle);
        push(out, box, angle, score, c, place);
    }
}

/* Keeps the best `limit` of the (place, class) pairs listed in the candidates' arrays, from the best on. */
static int32_t best_pairs(sk_yolo_decoder *d, sk_candidates *out, int32_t pairs, int32_t limit)
{
    sk_order_descending(out->score, pairs, d->order, d->keys);
    int32_t kept = pairs < limit ? pairs : limit;
    for (int32_t i = 0; i < kept; i++) {
        d->scores[i] = out->score[d->order[i]];
        d->labels[i] = out->class_id[d->order[i]];
        d->spare[i] = out->place[d->order[i]];
    }
    memcpy(out->score, d->scores, (size_t)kept * sizeof *d->scores);
    memcpy(out->class_id, d->labels, (size_t)kept * sizeof *d->labels);
    memcpy(out->place, d->spare, (size_t)kept * sizeof *d->spare);
    return kept;
}

/* One-to-one heads: the best max_det places by their best class, then the best max_det (place, class)
 * pairs of those. Whatever does not pass the confidence cannot appear in the result, so only what passes
 * is ranked. */
static void decode_end2end(sk_yolo_decoder *d, float confidence, const uint8_t *wanted, sk_candidates *out)
{
    int32_t count = find_places(d, confidence, d->spare), limit = d->spec.max_det, pairs = 0;
    float bound = logit_bound(confidence);
    for (int32_t i = 0; i < count; i++)
        d->scores[i] = sigmoid(d->best[d->spare[i]]);
    sk_order_descending(d->scores, count, d->order, d->keys);
    count = count < limit ? count : limit;
    for (int32_t i = 0; i < count; i++)
        d->places[i] = d->spare[d->order[i]];
    for (int32_t i = 0; i < count; i++) {
        for (int32_t c = 0; c < d->spec.n_classes; c++) {
            float v = class_value(d, d->places[i], c), score = v > bound ? sigmoid(v) : 0;
            if (!(score > confidence))
                continue;
            if (pairs == out->capacity)
                pairs = best_pairs(d, out, pairs, limit);
            out->score[pairs] = score;
            out->class_id[pairs] = c;
            out->place[pairs++] = d->places[i];
        }
    }
    pairs = best_pairs(d, out, pairs, limit);
    /* The list is rewritten in place: a pair never moves back. */
    for (int32_t i = 0; i < pairs; i++) {
        float box[4], angle, score = out->score[i];
        int32_t label = out->class_id[i], place = out->place[i];
        if (wanted && !wanted[label])
            continue;
        decode_box(d, place, box, &angle);
        push(out, box, angle, score, label, place);
    }
}

static void decode_rows(sk_yolo_decoder *d, float confidence, const uint8_t *wanted, sk_candidates *out)
{
    const sk_map *m = &d->maps[0];
    for (int32_t r = 0; r < m->width; r++) {
        float score = head_at(m, 4, r), label = head_at(m, 5, r), box[4];
        if (!(score > confidence) || !(label >= 0) || label >= (float)d->spec.n_classes)
            continue;
        if (wanted && !wanted[(int32_t)label])
            continue;
        for (int k = 0; k < 4; k++)
            box[k] = head_at(m, k, r);
        push(out, box, d->task == SK_TASK_OBB ? head_at(m, m->channels - 1, r) : 0, score, (int32_t)label, r);
    }
}

sk_status sk_yolo_decode(sk_yolo_decoder *d, sk_yolo_form form, const sk_map *maps, int32_t n_maps,
                         float confidence, const uint8_t *wanted, sk_candidates *out, sk_error *err)
{
    SK_CHECK_ARG(d && maps && n_maps >= 1 && out, err);
    SK_CHECK_ARG(out->capacity >= sk_yolo_decoder_capacity(d), err);
    d->form = form;
    out->count = 0;
    if (form == SK_YOLO_HEADS) {
        SK_TRY(bind_heads(d, maps, n_maps, err));
        if (d->spec.end2end)
            decode_end2end(d, confidence, wanted, out);
        else
            decode_many(d, confidence, wanted, out);
        return SK_OK;
    }
    d->maps[0] = maps[0];
    int32_t extra = d->task == SK_TASK_POSE      ? d->spec.n_keypoints * d->spec.keypoint_dims
                    : d->task == SK_TASK_OBB     ? 1
                    : d->task == SK_TASK_SEGMENT ? d->spec.n_masks
                                                 : 0;
    int32_t channels = (form == SK_YOLO_DENSE ? 4 + d->spec.n_classes : 6) + extra;
    if (maps[0].channels != channels || maps[0].height != 1)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "the network's output has %d values a detection; %d are expected",
                       (int)maps[0].channels, (int)channels);
    if (maps[0].width > d->max_places)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "the network gave %d places; this stage was opened for at most %d", (int)maps[0].width,
                       (int)d->max_places);
    if (form == SK_YOLO_DENSE)
        decode_many(d, confidence, wanted, out);
    else
        decode_rows(d, confidence, wanted, out);
    return SK_OK;
}

void sk_yolo_decode_keypoints(const sk_yolo_decoder *d, int32_t place, sk_keypoint *out)
{
    const sk_yolo_spec *spec = &d->spec;
    int32_t dims = spec->keypoint_dims;
    const level *l = d->form == SK_YOLO_HEADS ? level_of(d, place) : NULL;
    const sk_map *m = l ? l->keypoints : &d->maps[0];
    int32_t base = l                          ? 0
                   : d->form == SK_YOLO_DENSE ? 4 + spec->n_classes
                                              : 6,
            at = l ? place - l->first : place;
    float ax = l ? (float)(at % l->width) + 0.5f : 0, ay = l ? (float)(at / l->width) + 0.5f : 0;
    for (int32_t k = 0; k < spec->n_keypoints; k++) {
        float x = head_at(m, base + k * dims, at), y = head_at(m, base + k * dims + 1, at);
        float v = dims == 3 ? head_at(m, base + k * dims + 2, at) : 1;
        if (l && spec->keypoints_26) {
            x = (x + ax) * l->stride;
            y = (y + ay) * l->stride;
        } else if (l) {
            x = (x * 2 + (ax - 0.5f)) * l->stride;
            y = (y * 2 + (ay - 0.5f)) * l->stride;
        }
        if (l && dims == 3)
            v = sigmoid(v);
        out[k] = (sk_keypoint){x, y, v};
    }
}
