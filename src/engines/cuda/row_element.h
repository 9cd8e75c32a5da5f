/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_ROW_ELEMENT_H
#define SK_ENGINES_CUDA_ROW_ELEMENT_H

#include "args.h"

/* From a detector's raw heads to final rows, with the rules and the arithmetic of tasks/yolo_decode, nms and rotated_nms,
 * written once for device and host. Suppression is done by one block an image: a sequence of loops shared by its threads
 * (GPU_EACH) with gpu_sync between them, so that one thread alone does the same: the host's test of it.
 *
 * Needs before it: GPU_HD, gpu_half_load, gpu_next; gpu_thread and gpu_threads (the block's), gpu_sync, gpu_clear_bits
 * (atomic), gpu_vote, gpu_bits (population count), gpu_float_bits and gpu_bits_float (as they are). Not to be compiled with
 * contracted sums: rounding is the CPU's. */

#define GPU_EACH(i, count) for (int32_t i = gpu_thread(); i < (count); i += gpu_threads())

enum {
    GPU_ROW_WORDS = 960, /* 32 ranks each: above the 30000 that may take part */
    GPU_ROW_TILE = 1024, /* ranks settled together; SK_ROWS_MOST_DET */
    GPU_ROW_PARTS = 4    /* threads that share the test of one rank against what was kept */
};

typedef struct __attribute__((aligned(16))) gpu_row_box {
    float x1, y1, x2, y2;
} gpu_row_box;

typedef struct gpu_row_shared {
    gpu_row_box box[GPU_ROW_TILE]; /* of the tile; then of those in it that stay */
    uint32_t keep[2][GPU_ROW_TILE / 32];
    uint32_t alive[GPU_ROW_WORDS]; /* a bit a rank */
    int32_t at[GPU_ROW_WORDS];
    int32_t list[GPU_ROW_TILE], kept[GPU_ROW_TILE]; /* ranks */
    int32_t changed[3], from, to, count, n_kept;
} gpu_row_shared;

GPU_HD float gpu_row_load(const void *p, int64_t i, int32_t type)
{
    return type == GPU_F16 ? gpu_half_load(p, i) : ((const float *)p)[i];
}

GPU_HD float gpu_row_sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

GPU_HD bool gpu_row_finite(float v)
{
    return v - v == 0.0f;
}

GPU_HD int32_t *gpu_row_image(void *space, const gpu_row_space *s, int32_t image)
{
    return (int32_t *)space + (int64_t)image * s->image_words;
}

/* --- candidates --- */

/* The place's class, or -1 where nothing passes: the first class of the highest score, compared after the sigmoid, as
 * distinct logits may round to equal scores. `at`: number of the pixel in the level's maps. */
GPU_HD int32_t gpu_scan_class(const gpu_scan_args *a, int64_t at, float *score)
{
    const int64_t row = at * a->lds;
    int32_t best = 0;
    float top = -INFINITY;
    for (int32_t c = 0; c < a->classes; c++) {
        const float v = gpu_row_load(a->p[1], row + c, a->type);
        if (v > top) {
            top = v;
            best = c;
        }
    }
    if (!(top > a->bound))
        return -1;
    *score = gpu_row_sigmoid(top);
    for (int32_t c = 0; c < best; c++) {
        const float v = gpu_row_load(a->p[1], row + c, a->type);
        if ((top > 8 || v > top - 1e-5f) && gpu_row_sigmoid(v) >= *score) {
            best = c;
            break;
        }
    }
    if (!(*score > a->confidence) || (a->filter && !(a->wanted[best / 32] >> (best % 32) & 1)))
        return -1;
    return best;
}

/* Distance to one side in grid units: with distributions the mean of 0 … reg-1 under a softmax. */
GPU_HD float gpu_scan_side(const gpu_scan_args *a, int64_t at, int32_t side)
{
    const int64_t row = at * a->ldb + (int64_t)side * a->reg;
    if (a->reg == 1)
        return gpu_row_load(a->p[2], row, a->type);
    float top = -INFINITY, sum = 0, mean = 0;
    for (int32_t i = 0; i < a->reg; i++) {
        const float v = gpu_row_load(a->p[2], row + i, a->type);
        top = v > top ? v : top;
    }
    for (int32_t i = 0; i < a->reg; i++) {
        const float p = expf(gpu_row_load(a->p[2], row + i, a->type) - top);
        sum += p;
        mean += p * (float)i;
    }
    return mean / sum;
}

/* Bits that sort ascending as unsigned when scores, which are positive, sort descending; then the place. */
GPU_HD uint64_t gpu_row_key(float score, int32_t place)
{
    return (uint64_t) ~(gpu_float_bits(score) | 0x80000000u) << 32 | (uint32_t)place;
}

GPU_HD float gpu_row_score(uint64_t key)
{
    return gpu_bits_float(~(uint32_t)(key >> 32) & 0x7fffffffu);
}

/* Enters a candidate whose four distances are known; boxes that are not finite are none. */
GPU_HD void gpu_scan_enter(const gpu_scan_args *a, int32_t image, int32_t place, int32_t label, float score,
                           const float r[4])
{
    int32_t *words = gpu_row_image(a->p[0], &a->space, image);
    const float ax = (float)(place % a->width) + 0.5f, ay = (float)(place / a->width) + 0.5f, s = a->stride;
    float box[4], angle = 0;
    if (a->oriented) {
        const float v = gpu_row_load(a->p[3], ((int64_t)image * a->places + place) * a->lda, a->type);
        angle = a->angle_raw ? v : (gpu_row_sigmoid(v) - 0.25f) * (float)3.14159265358979323846;
        const float xf = (r[2] - r[0]) / 2, yf = (r[3] - r[1]) / 2, c = cosf(angle), sn = sinf(angle);
        box[0] = (xf * c - yf * sn + ax) * s;
        box[1] = (xf * sn + yf * c + ay) * s;
        box[2] = (r[0] + r[2]) * s;
        box[3] = (r[1] + r[3]) * s;
    } else {
        const float x1 = ax - r[0], y1 = ay - r[1], x2 = ax + r[2], y2 = ay + r[3];
        const float cx = (x1 + x2) / 2 * s, cy = (y1 + y2) / 2 * s, w = (x2 - x1) * s, h = (y2 - y1) * s;
        box[0] = cx - w / 2;
        box[1] = cy - h / 2;
        box[2] = cx + w / 2;
        box[3] = cy + h / 2;
    }
    for (int32_t k = 0; k < 4; k++)
        if (!gpu_row_finite(box[k]))
            return;
    if (!gpu_row_finite(angle))
        return;
    const int32_t all = a->first + place, slot = gpu_next(words);
    if (slot >= a->space.total) /* a step that is being timed, again and again */
        return;
    float *to = (float *)(words + a->space.boxes) + 4 * (int64_t)all;
    for (int32_t k = 0; k < 4; k++)
        to[k] = box[k];
    if (a->oriented)
        ((float *)(words + a->space.angles))[all] = angle;
    words[a->space.classes + all] = label;
    ((uint64_t *)(words + a->space.keys))[slot] = gpu_row_key(score, all);
}

GPU_HD void gpu_scan_element(const gpu_scan_args *a, int64_t i)
{
    float score = 0, r[4];
    const int32_t label = gpu_scan_class(a, i, &score);
    if (label < 0)
        return;
    for (int32_t side = 0; side < 4; side++)
        r[side] = gpu_scan_side(a, i, side);
    gpu_scan_enter(a, (int32_t)(i / a->places), (int32_t)(i % a->places), label, score, r);
}

/* --- ranking: a candidate's rank is how many keys are smaller --- */

GPU_HD int32_t gpu_row_count(const int32_t *words, const gpu_row_space *space)
{
    return words[0] < space->total ? words[0] : space->total;
}

GPU_HD void gpu_row_covariance(float w, float h, float angle, float *a, float *b, float *c)
{
    const float u = w * w / 12, v = h * h / 12, cs = cosf(angle), sn = sinf(angle);
    const float cs2 = cs * cs, sn2 = sn * sn;
    *a = u * cs2 + v * sn2;
    *b = u * sn2 + v * cs2;
    *c = (u - v) * cs * sn;
}

/* Leaves a candidate's box where its rank says. */
GPU_HD void gpu_rank_enter(const gpu_rank_args *a, int32_t *words, uint64_t key, int32_t rank)
{
    const int32_t place = (int32_t)(uint32_t)key;
    const int64_t total = a->space.total;
    const float *box = (const float *)(words + a->space.boxes) + 4 * (int64_t)place;
    const float shift = (float)words[a->space.classes + place] * a->offset;
    if (rank >= a->most)
        return;
    ((uint64_t *)(words + a->space.sorted))[rank] = key;
    if (!a->oriented) {
        float *to = (float *)(words + a->space.ranked) + 4 * (int64_t)rank;
        for (int32_t k = 0; k < 4; k++)
            to[k] = box[k] + shift;
        return;
    }
    float *col = (float *)(words + a->space.ranked) + rank;
    col[0] = box[0] + shift;
    col[total] = box[1] + shift;
    const float w = box[2], h = box[3], u = w * w / 12, v = h * h / 12, wide = u > v ? u : v;
    gpu_row_covariance(w, h, ((const float *)(words + a->space.angles))[place], &col[2 * total],
                       &col[3 * total], &col[4 * total]);
    col[5 * total] = u * v >= 1e-3f && u * v >= 1e-4f * wide * wide ? wide : INFINITY;
    words[a->space.dropped + rank] = 0;
}

/* --- oriented boxes: one pass, not greedy --- */

/* One minus the Hellinger distance of two Gaussians: tasks/rotated_nms.c. */
GPU_HD float gpu_row_probiou(const float *p, const float *q, int64_t column)
{
    const float eps = 1e-7f;
    const float x1 = p[0], y1 = p[column], a1 = p[2 * column], b1 = p[3 * column], c1 = p[4 * column];
    const float x2 = q[0], y2 = q[column], a2 = q[2 * column], b2 = q[3 * column], c2 = q[4 * column];
    const float sa = a1 + a2, sb = b1 + b2, sc = c1 + c2;
    const float det = sa * sb - sc * sc;
    const float dx = x1 - x2, dy = y1 - y2;
    const float t1 = (sa * (dy * dy) + sb * (dx * dx)) / (det + eps) * 0.25f;
    const float t2 = sc * (x2 - x1) * (y1 - y2) / (det + eps) * 0.5f;
    float d1 = a1 * b1 - c1 * c1, d2 = a2 * b2 - c2 * c2;
    d1 = d1 > 0 ? d1 : 0;
    d2 = d2 > 0 ? d2 : 0;
    const float t3 = logf(det / (4 * sqrtf(d1 * d2) + eps) + eps) * 0.5f;
    float bd = t1 + t2 + t3;
    bd = bd < eps ? eps : bd > 100 ? 100 : bd;
    return 1 - sqrtf(1 - expf(-bd) + eps);
}

/* How many better ranks one thread tests: few while there are threads enough. */
GPU_HD int32_t gpu_drop_chunk(int32_t n)
{
    return n <= 512 ? 8 : n <= 4096 ? 32 : 64;
}

GPU_HD int32_t gpu_drop_items(int32_t n)
{
    return (n + gpu_drop_chunk(n) - 1) / gpu_drop_chunk(n) * n; /* 30000 give 14 million */
}

/* One rank against one chunk of those that may be better. */
GPU_HD void gpu_drop_item(const gpu_rank_args *a, int32_t *words, int32_t n, int32_t item)
{
    const int32_t chunk = gpu_drop_chunk(n), j = item % n, from = item / n * chunk;
    const int32_t to = from + chunk < j ? from + chunk : j;
    if (from >= to || words[a->space.dropped + j]) /* another may have found one already */
        return;
    const int64_t total = a->space.total;
    const float *col = (const float *)(words + a->space.ranked);
    const float x = col[j], y = col[total + j], own = col[5 * total + j];
    for (int32_t i = from; i < to; i++) {
        const float dx = col[i] - x, dy = col[total + i] - y;
        if (dx * dx + dy * dy <= a->reach * (col[5 * total + i] + own) &&
            gpu_row_probiou(col + i, col + j, total) > a->limit) {
            words[a->space.dropped + j] = 1; /* whoever finds it writes the same */
            return;
        }
    }
}

/* --- suppression of upright boxes: greedy --- */

GPU_HD float gpu_row_area(const gpu_row_box *b)
{
    return (b->x2 - b->x1) * (b->y2 - b->y1);
}

/* Overlaps by more than the limit? The division decides; most pairs are settled without it. */
GPU_HD bool gpu_row_overlaps(const gpu_row_box *a, const gpu_row_box *b, float area_b, float limit)
{
    const gpu_row_box p = *a;
    const float left = p.x1 > b->x1 ? p.x1 : b->x1, top = p.y1 > b->y1 ? p.y1 : b->y1;
    const float right = p.x2 < b->x2 ? p.x2 : b->x2, bottom = p.y2 < b->y2 ? p.y2 : b->y2;
    const float w = right - left, h = bottom - top;
    if (!(w > 0) || !(h > 0))
        return false;
    const float inter = w * h, whole = gpu_row_area(&p) + area_b - inter;
    if (whole > 0 && inter < limit * whole * 0.999f)
        return false;
    return inter / whole > limit;
}

/* Bits of the better ones [32 w, 32 w + 32) that overlap j, in a tile whose boxes are here. */
GPU_HD uint32_t gpu_row_mask(const gpu_row_box *boxes, int32_t w, int32_t j, float limit)
{
    const int32_t from = w * 32, to = from + 32 < j ? from + 32 : j;
    const gpu_row_box own = boxes[j];
    const float area = gpu_row_area(&own);
    uint32_t word = 0;
    for (int32_t i = from; i < to; i++)
        if (gpu_row_overlaps(&boxes[i], &own, area, limit))
            word |= (uint32_t)1 << (i - from);
    return word;
}

GPU_HD const gpu_row_box *gpu_row_boxes(const gpu_rank_args *a, const int32_t *words)
{
    return (const gpu_row_box *)(words + a->space.ranked);
}

/* The first tile's masks, by all blocks; item: a word of a rank. */
GPU_HD int32_t gpu_mask_items(int32_t n)
{
    const int32_t m = n < GPU_ROW_TILE ? n : GPU_ROW_TILE;
    return (m + 31) / 32 * m;
}

GPU_HD void gpu_mask_item(const gpu_rank_args *a, int32_t *words, int32_t n, int32_t item)
{
    const int32_t m = n < GPU_ROW_TILE ? n : GPU_ROW_TILE, w = item / m, j = item % m;
    if (32 * w < j)
        words[a->space.mask + w * GPU_ROW_TILE + j] =
            (int32_t)gpu_row_mask(gpu_row_boxes(a, words), w, j, a->limit);
}

/* The first `limit` ranks alive, in order; they are alive no more. Returns how many. */
GPU_HD int32_t gpu_row_select(gpu_row_shared *s, int32_t words, int32_t *list, int32_t limit)
{
    if (gpu_thread() == 0) {
        int32_t count = 0, w = s->from;
        for (; w < words && count < limit; w++) {
            s->at[w] = count;
            count += gpu_bits(s->alive[w]);
        }
        s->to = w;
        s->count = count < limit ? count : limit;
    }
    gpu_sync();
    const int32_t from = s->from, to = s->to, count = s->count;
    GPU_EACH(i, (to - from) * 32)
    {
        const uint32_t bit = (uint32_t)1 << (i % 32), word = s->alive[from + i / 32];
        const int32_t at = s->at[from + i / 32] + gpu_bits(word & (bit - 1));
        if ((word & bit) && at < limit)
            list[at] = from * 32 + i;
    }
    gpu_sync();
    GPU_EACH(i, count)
    {
        gpu_clear_bits(&s->alive[list[i] / 32], (uint32_t)1 << (list[i] % 32));
    }
    if (gpu_thread() == 0 && to > from)
        s->from = to - 1;
    gpu_sync();
    return count;
}

/* Who stays among the m of the tile, into keep[0]: whoever no better one that stays overlaps. Begun with all, each pass
 * settles at least one more, and what no pass changes is the greedy result. */
GPU_HD void gpu_row_settle(gpu_row_shared *s, const int32_t *mask, int32_t m)
{
    const int32_t n_words = (m + 31) / 32;
    GPU_EACH(w, n_words)
    {
        s->keep[0][w] = m >= 32 * w + 32 ? ~(uint32_t)0 : ((uint32_t)1 << (m - 32 * w)) - 1;
    }
    if (gpu_thread() == 0)
        s->changed[0] = 0;
    gpu_sync();
    for (int32_t pass = 0;; pass++) {
        const uint32_t *now = s->keep[pass % 2];
        if (gpu_thread() == 0)
            s->changed[(pass + 1) % 3] = 0; /* nobody looks at it any more */
        GPU_EACH(j, n_words * 32)
        {
            uint32_t hit = 0;
            for (int32_t w = 0; w * 32 < j && j < m; w++)
                hit |= (uint32_t)mask[w * GPU_ROW_TILE + j] & now[w];
            gpu_vote(&s->keep[1 - pass % 2][j / 32], now[j / 32], j % 32, j < m && hit == 0,
                     &s->changed[pass % 3]);
        }
        gpu_sync();
        if (!s->changed[pass % 3])
            return; /* both are the same now */
    }
}

/* Those of the tile that stay, in order, after the ones kept before. Returns how many. */
GPU_HD int32_t gpu_row_append(gpu_row_shared *s, int32_t m, int32_t before, int32_t max_det)
{
    const int32_t n_words = (m + 31) / 32;
    if (gpu_thread() == 0) {
        int32_t stay = 0;
        for (int32_t w = 0; w < n_words; w++) {
            s->at[w] = stay;
            stay += gpu_bits(s->keep[0][w]);
        }
        s->count = stay;
        s->n_kept = before + stay < max_det ? before + stay : max_det;
    }
    gpu_sync();
    GPU_EACH(j, m)
    {
        const uint32_t word = s->keep[0][j / 32], bit = (uint32_t)1 << (j % 32);
        const int32_t at = before + s->at[j / 32] + gpu_bits(word & (bit - 1));
        if ((word & bit) && at < max_det)
            s->kept[at] = s->list[j];
    }
    const int32_t stay = s->count;
    gpu_sync();
    return stay;
}

/* Takes out of those further down what the `stay` ranks kept last overlap. */
GPU_HD void gpu_row_take_out(const gpu_rank_args *a, gpu_row_shared *s, const gpu_row_box *boxes,
                             int32_t n_words, int32_t before, int32_t stay)
{
    const int32_t from = s->from;
    GPU_EACH(k, stay)
    {
        s->box[k] = boxes[s->kept[before + k]];
    }
    gpu_sync();
    GPU_EACH(item, (n_words - from) * 32 * GPU_ROW_PARTS)
    {
        const int32_t rank = from * 32 + item / GPU_ROW_PARTS;
        const uint32_t bit = (uint32_t)1 << (rank % 32);
        if (!(s->alive[rank / 32] & bit))
            continue;
        const gpu_row_box own = boxes[rank];
        const float area = gpu_row_area(&own);
        for (int32_t k = item % GPU_ROW_PARTS; k < stay; k += GPU_ROW_PARTS)
            if (gpu_row_overlaps(&s->box[k], &own, area, a->limit)) {
                gpu_clear_bits(&s->alive[rank / 32], bit);
                break;
            }
    }
    gpu_sync();
}

/* Tiles of ranks, best first: settled among themselves, then whatever they overlap further down is taken out. The masks of
 * the first tile are there. */
GPU_HD void gpu_row_greedy(const gpu_rank_args *a, gpu_row_shared *s, int32_t *words, int32_t n)
{
    const gpu_row_box *boxes = gpu_row_boxes(a, words);
    int32_t *mask = words + a->space.mask, m = n < GPU_ROW_TILE ? n : GPU_ROW_TILE, before = 0;
    const int32_t n_words = (n + 31) / 32;
    GPU_EACH(w, n_words)
    {
        s->alive[w] = 32 * w < m ? 0 : n >= 32 * w + 32 ? ~(uint32_t)0 : ((uint32_t)1 << (n - 32 * w)) - 1;
    }
    GPU_EACH(i, m)
    {
        s->list[i] = i;
    }
    if (gpu_thread() == 0)
        s->from = m / 32;
    while (m > 0) {
        gpu_row_settle(s, mask, m);
        const int32_t stay = gpu_row_append(s, m, before, a->max_det);
        if (before + stay >= a->max_det || n <= GPU_ROW_TILE)
            return;
        gpu_row_take_out(a, s, boxes, n_words, before, stay);
        before += stay;
        m = gpu_row_select(s, n_words, s->list, GPU_ROW_TILE);
        GPU_EACH(i, m)
        {
            s->box[i] = boxes[s->list[i]];
        }
        gpu_sync();
        GPU_EACH(item, (m + 31) / 32 * m)
        {
            const int32_t w = item / m, j = item % m;
            if (32 * w < j)
                mask[w * GPU_ROW_TILE + j] = (int32_t)gpu_row_mask(s->box, w, j, a->limit);
        }
        gpu_sync();
    }
}

/* An image's ranks that stay, as keys, best first. */
GPU_HD void gpu_suppress_block(const gpu_rank_args *a, gpu_row_shared *s, int32_t image)
{
    int32_t *words = gpu_row_image(a->p[0], &a->space, image), n = gpu_row_count(words, &a->space);
    n = n < a->most ? n : a->most;
    if (gpu_thread() == 0)
        s->n_kept = s->from = 0;
    if (a->oriented) { /* dropped already */
        GPU_EACH(w, (n + 31) / 32)
        {
            uint32_t bits = 0;
            for (int32_t b = 0; b < 32 && 32 * w + b < n; b++)
                bits |= (uint32_t)!words[a->space.dropped + 32 * w + b] << b;
            s->alive[w] = bits;
        }
        gpu_sync();
        const int32_t kept = gpu_row_select(s, (n + 31) / 32, s->kept, a->max_det);
        if (gpu_thread() == 0)
            s->n_kept = kept;
        gpu_sync();
    } else {
        gpu_row_greedy(a, s, words, n);
        gpu_sync();
    }
    const uint64_t *sorted = (const uint64_t *)(words + a->space.sorted);
    uint64_t *kept = (uint64_t *)(words + a->space.kept);
    const int32_t count = s->n_kept;
    GPU_EACH(i, count)
    {
        kept[i] = sorted[s->kept[i]];
    }
    if (gpu_thread() == 0)
        words[1] = count;
}

/* --- rows --- */

GPU_HD float gpu_row_keypoint(const gpu_final_args *a, int32_t image, int32_t place, int32_t value)
{
    int32_t l = 0;
    while (l + 1 < a->n_levels && place >= a->first[l + 1])
        l++;
    const int32_t inside = place - a->first[l], part = value % a->dims;
    const float v =
        gpu_row_load(a->p[2 + l], ((int64_t)image * a->places[l] + inside) * a->ld[l] + value, a->type);
    if (part == 2)
        return gpu_row_sigmoid(v);
    const float at = (float)(part == 0 ? inside % a->width[l] : inside / a->width[l]) + 0.5f;
    return a->keypoints_26 ? (v + at) * a->stride[l] : (v * 2 + (at - 0.5f)) * a->stride[l];
}

GPU_HD float gpu_row_value(const gpu_final_args *a, const int32_t *words, uint64_t key, int32_t image,
                           int32_t column)
{
    const int32_t place = (int32_t)(uint32_t)key;
    if (column < 4)
        return ((const float *)(words + a->space.boxes))[4 * (int64_t)place + column];
    if (column == 4)
        return gpu_row_score(key);
    if (column == 5)
        return (float)words[a->space.classes + place];
    if (a->oriented)
        return ((const float *)(words + a->space.angles))[place];
    return gpu_row_keypoint(a, image, place, column - 6);
}

/* One value of the rows: zeros where there are fewer. */
GPU_HD float gpu_final_value(const gpu_final_args *a, const int32_t *words, int32_t image, int32_t row,
                             int32_t column)
{
    return row < words[1]
               ? gpu_row_value(a, words, ((const uint64_t *)(words + a->space.kept))[row], image, column)
               : 0.0f;
}

#endif
