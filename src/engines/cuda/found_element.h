/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_FOUND_ELEMENT_H
#define SK_ENGINES_CUDA_FOUND_ELEMENT_H

#include "bf16_element.h"
#include "args.h"
#include "tasks/order_formula.h"
#include "tasks/overlap_formula.h"
#include "tasks/yolo_formula.h"

/* From a detector's raw heads to what is found: how the work is shared by threads, and where its values lie. What is computed are
 * the formulas of tasks/ that yolo_decode, nms and rotated_nms use, too. Suppression is done by one block an image: a sequence
 * of loops shared by its threads (GPU_EACH) with gpu_sync between them, so that one thread alone does the same: the host's test
 * of it.
 *
 * Needs before it: GPU_HD, gpu_half_load, gpu_next; gpu_thread and gpu_threads (the block's), gpu_sync, gpu_clear_bits
 * (atomic), gpu_vote, gpu_bits (population count). */

#define GPU_EACH(i, count) for (int32_t i = gpu_thread(); i < (count); i += gpu_threads())

enum {
    GPU_FOUND_WORDS = 960, /* 32 ranks each: above the 30000 that may take part */
    GPU_FOUND_PARTS = 4    /* threads that share the test of one rank against what was kept */
};

typedef struct __attribute__((aligned(16))) gpu_found_box {
    float x1, y1, x2, y2;
} gpu_found_box;

typedef struct gpu_found_shared {
    gpu_found_box box[GPU_FOUND_TILE]; /* of the tile; then of those in it that stay */
    uint32_t keep[2][GPU_FOUND_TILE / 32];
    uint32_t alive[GPU_FOUND_WORDS]; /* a bit a rank */
    int32_t at[GPU_FOUND_WORDS];
    int32_t list[GPU_FOUND_TILE]; /* ranks */
    int32_t changed[3], from, to, count, n_kept;
} gpu_found_shared;

GPU_HD float gpu_found_load(const void *p, int64_t i, int32_t type)
{
    return type == GPU_F16    ? gpu_half_load(p, i)
           : type == GPU_BF16 ? gpu_bf16_load(p, i)
                              : ((const float *)p)[i];
}

GPU_HD int32_t *gpu_found_image(void *space, const gpu_found_space *s, int32_t image)
{
    return (int32_t *)space + (int64_t)image * s->image_words;
}

/* --- candidates --- */

GPU_HD bool gpu_is_wanted(const uint32_t *wanted, int32_t label)
{
    return wanted[label / 32] >> (label % 32) & 1;
}

/* The place's class, or -1 where nothing passes: the first class of the highest score. `at`: number of the pixel in the level's
 * maps. */
GPU_HD int32_t gpu_scan_class(const gpu_scan_args *a, int64_t at, float *score)
{
    const int64_t row = at * a->lds;
    sk_yolo_best top = sk_yolo_best_begin();
    for (int32_t c = 0; c < a->classes; c++)
        sk_yolo_best_take(&top, c, gpu_found_load(a->p[1], row + c, a->type));
    if (!(top.value > a->bound))
        return -1;
    *score = sk_yolo_sigmoid(top.value);
    int32_t best = 0;
    while (best < top.index &&
           !sk_yolo_same_score(gpu_found_load(a->p[1], row + best, a->type), top.value, *score))
        best++;
    if (!(*score > a->confidence) || (a->filter && !gpu_is_wanted(a->wanted, best)))
        return -1;
    return best;
}

/* Distance to one side in grid units. */
GPU_HD float gpu_scan_side(const gpu_scan_args *a, int64_t at, int32_t side)
{
    const int64_t row = at * a->ldb + (int64_t)side * a->reg;
    if (a->reg == 1)
        return gpu_found_load(a->p[2], row, a->type);
    sk_yolo_mean mean = sk_yolo_mean_begin();
    for (int32_t i = 0; i < a->reg; i++)
        sk_yolo_mean_look(&mean, gpu_found_load(a->p[2], row + i, a->type));
    for (int32_t i = 0; i < a->reg; i++)
        sk_yolo_mean_add(&mean, i, gpu_found_load(a->p[2], row + i, a->type));
    return sk_yolo_mean_of(&mean);
}

/* Enters a candidate whose four distances are known; boxes that are not finite are none, and hold no place but in one-to-one
 * heads. */
GPU_HD void gpu_scan_enter(const gpu_scan_args *a, int32_t image, int32_t place, int32_t label, float score,
                           const float r[4])
{
    int32_t *words = gpu_found_image(a->p[0], &a->space, image);
    const float ax = sk_yolo_anchor(place % a->width), ay = sk_yolo_anchor(place / a->width);
    float box[4], angle = 0;
    if (a->oriented) {
        angle = sk_yolo_angle(gpu_found_load(a->p[3], ((int64_t)image * a->places + place) * a->lda, a->type),
                              a->angle_raw);
        sk_yolo_box_oriented(ax, ay, a->stride, r, angle, box);
    } else if (a->corners) {
        sk_yolo_box_corners(ax, ay, a->stride, r, box);
    } else {
        sk_yolo_box(ax, ay, a->stride, r, box);
    }
    if (!a->corners &&
        !sk_yolo_box_is_finite(box, angle)) /* of one-to-one heads it takes its place in the order */
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
    ((uint64_t *)(words + a->space.keys))[slot] = sk_order_key(score, all);
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

GPU_HD int32_t gpu_found_count(const int32_t *words, const gpu_found_space *space)
{
    return words[0] < space->total ? words[0] : space->total;
}

/* What is ranked: places, or pairs of the best places with classes. */
GPU_HD const uint64_t *gpu_rank_keys(const gpu_rank_args *a, const int32_t *words)
{
    return (const uint64_t *)(words + (a->what == GPU_RANK_PAIRS ? a->space.pairs : a->space.keys));
}

GPU_HD int32_t gpu_pairs_count(const int32_t *words, int32_t most, int32_t classes)
{
    return words[2] < most * classes ? words[2] : most * classes;
}

GPU_HD int32_t gpu_rank_count(const gpu_rank_args *a, const int32_t *words)
{
    return a->what == GPU_RANK_PAIRS ? gpu_pairs_count(words, a->most, a->classes)
                                     : gpu_found_count(words, &a->space);
}

/* Once an image, by anyone, before anything is entered: no pairs yet. */
GPU_HD void gpu_rank_begin(const gpu_rank_args *a, int32_t *words)
{
    if (a->what == GPU_RANK_PLACES)
        words[2] = 0;
}

/* Leaves a candidate's box where its rank says; of one-to-one heads only its key. */
GPU_HD void gpu_rank_enter(const gpu_rank_args *a, int32_t *words, uint64_t key, int32_t rank)
{
    if (a->what != GPU_RANK_BOXES) {
        if (rank < a->most)
            ((uint64_t *)(words + (a->what == GPU_RANK_PAIRS ? a->space.kept : a->space.sorted)))[rank] = key;
        return;
    }
    const int32_t place = sk_order_index(key);
    const int64_t total = a->space.total;
    const float *box = (const float *)(words + a->space.boxes) + 4 * (int64_t)place;
    const float shift = sk_class_shift(words[a->space.classes + place], a->offset);
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
    const float reach = sk_gauss_reach(box[2], box[3]);
    const sk_gauss g = sk_gauss_of(box[0] + shift, box[1] + shift, box[2], box[3],
                                   ((const float *)(words + a->space.angles))[place]);
    col[0] = g.x;
    col[total] = g.y;
    col[2 * total] = g.a;
    col[3 * total] = g.b;
    col[4 * total] = g.c;
    col[5 * total] = reach;
    words[a->space.dropped + rank] = 0;
}

/* --- one-to-one heads: pairs of the best places with classes --- */

GPU_HD int32_t gpu_pairs_places(const gpu_pairs_args *a, const int32_t *words)
{
    const int32_t n = gpu_found_count(words, &a->space);
    return n < a->most ? n : a->most;
}

/* item: a place's rank times classes, plus a class. */
GPU_HD void gpu_pairs_item(const gpu_pairs_args *a, int32_t *words, int32_t image, int32_t item)
{
    const int32_t rank = item / a->classes, c = item % a->classes;
    const int32_t place = sk_order_index(((const uint64_t *)(words + a->space.sorted))[rank]);
    int32_t l = 0;
    while (l + 1 < a->n_levels && place >= a->first[l + 1])
        l++;
    const float v = gpu_found_load(
        a->p[1 + l], ((int64_t)image * a->places[l] + place - a->first[l]) * a->ld[l] + c, a->type);
    const float score = v > a->bound ? sk_yolo_sigmoid(v) : 0;
    if (!(score > a->confidence))
        return;
    const int32_t slot = gpu_next(words + 2);
    if (slot < a->most * a->classes) /* else: a step that is being timed */
        ((uint64_t *)(words + a->space.pairs))[slot] = sk_order_key(score, item);
}

/* --- oriented boxes: one pass, not greedy --- */

GPU_HD sk_gauss gpu_found_gauss(const float *p, int64_t column)
{
    const sk_gauss g = {p[0], p[column], p[2 * column], p[3 * column], p[4 * column]};
    return g;
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
    for (int32_t i = from; i < to; i++)
        if (sk_gauss_near(col[i] - x, col[total + i] - y, a->reach, col[5 * total + i], own) &&
            sk_gauss_overlap(gpu_found_gauss(col + i, total), gpu_found_gauss(col + j, total)) > a->limit) {
            words[a->space.dropped + j] = 1; /* whoever finds it writes the same */
            return;
        }
}

/* --- suppression of upright boxes: greedy --- */

GPU_HD float gpu_found_area(const gpu_found_box *b)
{
    return sk_box_area(b->x1, b->y1, b->x2, b->y2);
}

/* Overlaps by more than the limit? The division decides; most pairs are settled without it. */
GPU_HD bool gpu_found_overlaps(const gpu_found_box *a, const gpu_found_box *b, float area_b, float limit)
{
    const gpu_found_box p = *a;
    const float shared = sk_box_shared(p.x1, p.y1, p.x2, p.y2, b->x1, b->y1, b->x2, b->y2);
    if (!(shared > 0)) /* limits are not negative */
        return false;
    const float joined = sk_box_joined(gpu_found_area(&p), area_b, shared);
    if (joined > 0 && shared < limit * joined * 0.999f)
        return false;
    return shared / joined > limit;
}

/* Bits of the better ones [32 w, 32 w + 32) that overlap j, in a tile whose boxes are here. */
GPU_HD uint32_t gpu_found_mask(const gpu_found_box *boxes, int32_t w, int32_t j, float limit)
{
    const int32_t from = w * 32, to = from + 32 < j ? from + 32 : j;
    const gpu_found_box own = boxes[j];
    const float area = gpu_found_area(&own);
    uint32_t word = 0;
    for (int32_t i = from; i < to; i++)
        if (gpu_found_overlaps(&boxes[i], &own, area, limit))
            word |= (uint32_t)1 << (i - from);
    return word;
}

GPU_HD const gpu_found_box *gpu_found_boxes(const gpu_rank_args *a, const int32_t *words)
{
    return (const gpu_found_box *)(words + a->space.ranked);
}

/* The first tile's masks, by all blocks; item: a word of a rank. */
GPU_HD int32_t gpu_mask_items(int32_t n)
{
    const int32_t m = n < GPU_FOUND_TILE ? n : GPU_FOUND_TILE;
    return (m + 31) / 32 * m;
}

GPU_HD void gpu_mask_item(const gpu_rank_args *a, int32_t *words, int32_t n, int32_t item)
{
    const int32_t m = n < GPU_FOUND_TILE ? n : GPU_FOUND_TILE, w = item / m, j = item % m;
    if (32 * w < j)
        words[a->space.mask + w * GPU_FOUND_TILE + j] =
            (int32_t)gpu_found_mask(gpu_found_boxes(a, words), w, j, a->limit);
}

/* The first `limit` ranks alive, in order; they are alive no more. Returns how many. */
GPU_HD int32_t gpu_found_select(gpu_found_shared *s, int32_t words, int32_t *list, int32_t limit)
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
GPU_HD void gpu_found_settle(gpu_found_shared *s, const int32_t *mask, int32_t m)
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
                hit |= (uint32_t)mask[w * GPU_FOUND_TILE + j] & now[w];
            gpu_vote(&s->keep[1 - pass % 2][j / 32], now[j / 32], j % 32, j < m && hit == 0,
                     &s->changed[pass % 3]);
        }
        gpu_sync();
        if (!s->changed[pass % 3])
            return; /* both are the same now */
    }
}

/* Those of the tile that stay, in order, after the ones kept before. Returns how many. */
GPU_HD int32_t gpu_found_append(gpu_found_shared *s, int32_t *kept, int32_t m, int32_t before,
                                int32_t max_det)
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
            kept[at] = s->list[j];
    }
    const int32_t stay = s->count;
    gpu_sync();
    return stay;
}

/* Takes out of those further down what the `stay` ranks kept last overlap. */
GPU_HD void gpu_found_take_out(const gpu_rank_args *a, gpu_found_shared *s, const gpu_found_box *boxes,
                               const int32_t *kept, int32_t n_words, int32_t stay)
{
    const int32_t from = s->from;
    GPU_EACH(k, stay)
    {
        s->box[k] = boxes[kept[k]];
    }
    gpu_sync();
    GPU_EACH(item, (n_words - from) * 32 * GPU_FOUND_PARTS)
    {
        const int32_t rank = from * 32 + item / GPU_FOUND_PARTS;
        const uint32_t bit = (uint32_t)1 << (rank % 32);
        if (!(s->alive[rank / 32] & bit))
            continue;
        const gpu_found_box own = boxes[rank];
        const float area = gpu_found_area(&own);
        for (int32_t k = item % GPU_FOUND_PARTS; k < stay; k += GPU_FOUND_PARTS)
            if (gpu_found_overlaps(&s->box[k], &own, area, a->limit)) {
                gpu_clear_bits(&s->alive[rank / 32], bit);
                break;
            }
    }
    gpu_sync();
}

/* Tiles of ranks, best first: settled among themselves, then whatever they overlap further down is taken out. The masks of
 * the first tile are there. */
GPU_HD void gpu_found_greedy(const gpu_rank_args *a, gpu_found_shared *s, int32_t *words, int32_t n)
{
    const gpu_found_box *boxes = gpu_found_boxes(a, words);
    int32_t *mask = words + a->space.mask, *kept = words + a->space.stay,
            m = n < GPU_FOUND_TILE ? n : GPU_FOUND_TILE, before = 0;
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
        gpu_found_settle(s, mask, m);
        const int32_t stay = gpu_found_append(s, kept, m, before, a->max_det);
        if (before + stay >= a->max_det || n <= GPU_FOUND_TILE)
            return;
        gpu_found_take_out(a, s, boxes, kept + before, n_words, stay);
        before += stay;
        m = gpu_found_select(s, n_words, s->list, GPU_FOUND_TILE);
        GPU_EACH(i, m)
        {
            s->box[i] = boxes[s->list[i]];
        }
        gpu_sync();
        GPU_EACH(item, (m + 31) / 32 * m)
        {
            const int32_t w = item / m, j = item % m;
            if (32 * w < j)
                mask[w * GPU_FOUND_TILE + j] = (int32_t)gpu_found_mask(s->box, w, j, a->limit);
        }
        gpu_sync();
    }
}

/* An image's ranks that stay, as keys, best first. */
GPU_HD void gpu_suppress_block(const gpu_rank_args *a, gpu_found_shared *s, int32_t image)
{
    int32_t *words = gpu_found_image(a->p[0], &a->space, image), n = gpu_found_count(words, &a->space);
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
        const int32_t kept = gpu_found_select(s, (n + 31) / 32, words + a->space.stay, a->max_det);
        if (gpu_thread() == 0)
            s->n_kept = kept;
        gpu_sync();
    } else {
        gpu_found_greedy(a, s, words, n);
        gpu_sync();
    }
    const uint64_t *sorted = (const uint64_t *)(words + a->space.sorted);
    uint64_t *kept = (uint64_t *)(words + a->space.kept);
    const int32_t count = s->n_kept;
    GPU_EACH(i, count)
    {
        kept[i] = sorted[words[a->space.stay + i]];
    }
    if (gpu_thread() == 0)
        words[1] = count;
}

/* --- what is found --- */

GPU_HD float gpu_found_keypoint(const gpu_final_args *a, int32_t image, int32_t place, int32_t value)
{
    int32_t l = 0;
    while (l + 1 < a->n_levels && place >= a->first[l + 1])
        l++;
    const int32_t inside = place - a->first[l], part = value % a->dims;
    const float v =
        gpu_found_load(a->p[2 + l], ((int64_t)image * a->places[l] + inside) * a->ld[l] + value, a->type);
    if (part == 2)
        return sk_yolo_sigmoid(v);
    return sk_yolo_keypoint(v, sk_yolo_anchor(part == 0 ? inside % a->width[l] : inside / a->width[l]),
                            a->stride[l], a->keypoints_26);
}

GPU_HD float gpu_found_value(const gpu_final_args *a, const int32_t *words, uint64_t key, int32_t image,
                             int32_t column)
{
    int32_t place = sk_order_index(key), label = 0;
    if (a->classes) {
        label = place % a->classes;
        place = sk_order_index(((const uint64_t *)(words + a->space.sorted))[place / a->classes]);
        const float *box = (const float *)(words + a->space.boxes) + 4 * (int64_t)place;
        if ((a->filter && !gpu_is_wanted(a->wanted, label)) ||
            !sk_yolo_box_is_finite(box,
                                   a->oriented ? ((const float *)(words + a->space.angles))[place] : 0.0f))
            return 0.0f;
    } else {
        label = words[a->space.classes + place];
    }
    if (column < 4)
        return ((const float *)(words + a->space.boxes))[4 * (int64_t)place + column];
    if (column == 4)
        return sk_order_score(key);
    if (column == 5)
        return (float)label;
    if (a->oriented)
        return ((const float *)(words + a->space.angles))[place];
    return gpu_found_keypoint(a, image, place, column - 6);
}

/* One value of what is found: zeros where there are fewer. */
GPU_HD float gpu_final_value(const gpu_final_args *a, const int32_t *words, int32_t image, int32_t index,
                             int32_t column)
{
    const int32_t count = a->classes ? gpu_pairs_count(words, a->max_det, a->classes) : words[1];
    return index < count
               ? gpu_found_value(a, words, ((const uint64_t *)(words + a->space.kept))[index], image, column)
               : 0.0f;
}

#endif
