/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/yolo_decode.h"

#include "base/object.h"
#include "tasks/order.h"
#include "tasks/yolo_heads.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 32, MAX_PLACES = 1 << 24 };

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
    sk_map dense;        /* forms with one map */
    sk_yolo_heads heads; /* raw heads */
};

sk_status sk_yolo_decoder_open(const sk_yolo_spec *spec, sk_task task, int32_t max_places,
                               sk_yolo_decoder **out, sk_error *err)
{
    SK_CHECK_ARG(spec && out, err);
    *out = NULL;
    SK_CHECK_ARG(max_places >= 1 && max_places <= MAX_PLACES, err);
    if (spec->n_classes < 1 || spec->n_levels < 0 || spec->n_levels > SK_MAX_LEVELS ||
        spec->n_heads > SK_YOLO_MAX_HEADS || spec->reg_max < 1 || spec->reg_max > SK_YOLO_MAX_REG ||
        spec->n_keypoints < 0 || spec->n_keypoints > 4096 ||
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
    SK_TAKE_OR_RETURN(d, decoder);
    sk_free_all(d->best, d->scores, d->order, d->places, d->labels, d->spare, d->keys, d);
}

int32_t sk_yolo_decoder_capacity(const sk_yolo_decoder *d)
{
    /* End-to-end models rank (place, class) pairs, cutting back to max_det whenever the list is full. */
    int64_t pairs = d->spec.end2end ? (int64_t)d->spec.max_det * 2 : 0;
    return pairs > d->max_places ? (int32_t)pairs : d->max_places;
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

static void dense_box(const sk_yolo_decoder *d, int32_t place, float box[4], float *angle)
{
    const sk_map *m = &d->dense;
    float v[4];
    for (int k = 0; k < 4; k++)
        v[k] = sk_map_place(m, k, place);
    *angle = 0;
    if (d->task == SK_TASK_OBB) {
        memcpy(box, v, sizeof v);
        *angle = sk_map_place(m, m->channels - 1, place);
        return;
    }
    if (d->spec.dense_corners) {
        memcpy(box, v, sizeof v);
        return;
    }
    sk_yolo_box_of_centre(v[0], v[1], v[2], v[3], box);
}

static void push(sk_candidates *out, const float box[4], float angle, float score, int32_t class_id,
                 int32_t place)
{
    if (!sk_yolo_box_is_finite(box, angle) || out->count >= out->capacity)
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
        return sk_map_place(&d->dense, 4 + c, place);
    const sk_yolo_level *l = sk_yolo_heads_level(&d->heads, place);
    return sk_map_place(l->classes, c, place - l->first);
}

/* The first class of the highest score. */
static int32_t best_class(const sk_yolo_decoder *d, int32_t place, float *score)
{
    sk_yolo_best best = sk_yolo_best_begin();
    for (int32_t c = 0; c < d->spec.n_classes; c++)
        sk_yolo_best_take(&best, c, class_value(d, place, c));
    *score = d->form == SK_YOLO_DENSE ? best.value : sk_yolo_sigmoid(best.value);
    for (int32_t c = 0; d->form != SK_YOLO_DENSE && c < best.index; c++)
        if (sk_yolo_same_score(class_value(d, place, c), best.value, *score))
            return c;
    return best.index;
}

/* Places whose best class may pass, by place; d->best holds the best value of each. */
static int32_t find_places(sk_yolo_decoder *d, float confidence, int32_t *found)
{
    if (d->form == SK_YOLO_DENSE) {
        const sk_map *m = &d->dense;
        best_of_channels(m, 4, d->spec.n_classes, m->width, d->best);
        return places_above(d->best, m->width, confidence, 0, found, 0);
    }
    int32_t count = 0;
    float bound = sk_yolo_logit_below(confidence, SK_YOLO_MARGIN);
    for (int32_t k = 0; k < d->spec.n_levels; k++) {
        const sk_yolo_level *l = &d->heads.levels[k];
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
            sk_yolo_heads_box(&d->heads, place, box, &angle);
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
    float bound = sk_yolo_logit_below(confidence, SK_YOLO_MARGIN);
    for (int32_t i = 0; i < count; i++)
        d->scores[i] = sk_yolo_sigmoid(d->best[d->spare[i]]);
    sk_order_descending(d->scores, count, d->order, d->keys);
    count = count < limit ? count : limit;
    for (int32_t i = 0; i < count; i++)
        d->places[i] = d->spare[d->order[i]];
    for (int32_t i = 0; i < count; i++) {
        for (int32_t c = 0; c < d->spec.n_classes; c++) {
            float v = class_value(d, d->places[i], c), score = v > bound ? sk_yolo_sigmoid(v) : 0;
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
        sk_yolo_heads_box(&d->heads, place, box, &angle);
        push(out, box, angle, score, label, place);
    }
}

static void decode_found(sk_yolo_decoder *d, float confidence, const uint8_t *wanted, sk_candidates *out)
{
    const sk_map *m = &d->dense;
    for (int32_t r = 0; r < m->width; r++) {
        float score = sk_map_place(m, 4, r), label = sk_map_place(m, 5, r), box[4];
        if (!(score > confidence) || !(label >= 0) || label >= (float)d->spec.n_classes)
            continue;
        if (wanted && !wanted[(int32_t)label])
            continue;
        for (int k = 0; k < 4; k++)
            box[k] = sk_map_place(m, k, r);
        push(out, box, d->task == SK_TASK_OBB ? sk_map_place(m, m->channels - 1, r) : 0, score,
             (int32_t)label, r);
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
        SK_TRY(sk_yolo_heads_bind(&d->heads, &d->spec, d->task, maps, n_maps, d->max_places, err));
        if (d->spec.end2end)
            decode_end2end(d, confidence, wanted, out);
        else
            decode_many(d, confidence, wanted, out);
        return SK_OK;
    }
    d->dense = maps[0];
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
        decode_found(d, confidence, wanted, out);
    return SK_OK;
}

void sk_yolo_decode_keypoints(const sk_yolo_decoder *d, int32_t place, sk_keypoint *out)
{
    if (d->form == SK_YOLO_HEADS) {
        sk_yolo_heads_keypoints(&d->heads, place, out);
        return;
    }
    int32_t dims = d->spec.keypoint_dims, base = d->form == SK_YOLO_DENSE ? 4 + d->spec.n_classes : 6;
    for (int32_t k = 0; k < d->spec.n_keypoints; k++) {
        int32_t c = base + k * dims;
        out[k] = (sk_keypoint){sk_map_place(&d->dense, c, place), sk_map_place(&d->dense, c + 1, place),
                               dims == 3 ? sk_map_place(&d->dense, c + 2, place) : 1};
    }
}
