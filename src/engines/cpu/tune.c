/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"
#include "engines/cpu/tune_cache.h"

#include <string.h>
#include <time.h>

/* Which kernel, which register tile, which loop order: a guess that is good everywhere, and a short measurement that
 * is better here. Measured is one thread's share in that thread's processor time, so that other programs do not
 * disturb the result much; the best of a few runs counts.
 *
 * The form (Winograd, taps, rows) decides in which order a sum is added up, and so its last bits: it follows from the
 * shape and the instruction set alone. Measured is what leaves every bit as it is. So a network gives the same results
 * whatever the clock said, and however many threads run it. */

#define MAX_CANDIDATES 24
#define BUDGET_NS                                                                                            \
    700000000LL /* for a whole network; what is not reached keeps the guess until the next opening */
#define RUNS 3

/* Widest group the table offers, no wider than the output. */
static uint8_t widest(const int8_t *tiles, int32_t blocks, int32_t limit)
{
    uint8_t best = 1;
    for (int32_t w = 1; w <= limit && w <= 4; w++)
        if (tiles[w] > 0 && w <= blocks)
            best = (uint8_t)w;
    return best;
}

/* Tiles in a round: V and M of one round should stay in L2 with the weights passing by. */
static uint8_t winograd_batch(const cpu_plan *plan, const cpu_conv *c, uint8_t form, int32_t tile,
                              int64_t budget)
{
    if (c->u8)
        return 24;                /* hardly matters */
    if (form == CPU_CONV_WORDS) { /* V, and M of a group */
        const int64_t each =
            sk_winograd_points(c->stride_h) * SK_BLOCK * (2 * (int64_t)plan->values[c->x].blocks + 16);
        const int64_t tiles = budget / each / 4 * 4;
        return (uint8_t)(tiles < 8 ? 8 : tiles > 48 ? 48 : tiles);
    }
    int64_t per_tile = sk_winograd_points(c->stride_h) * SK_BLOCK * 4 *
                       ((int64_t)plan->values[c->x].blocks + cpu_blocks(c->weights.cout));
    int64_t count = budget / per_tile / tile * tile;
    if (count > 4 * tile)
        count = 4 * tile;
    if (count < tile)
        count = tile;
    return (uint8_t)(count > 120 ? 120 : count);
}

/* With stride 1 wherever it can be done. Stride 2 transforms nine weights into eighty-one: with few channels that costs
 * more than it saves, and on small maps, where a layer's weights outweigh its pixels, it is most of a network's memory for
 * a hundredth of its time. */
static bool winograd_pays(const cpu_plan *plan, const cpu_conv *c)
{
    return cpu_conv_can_winograd(plan, c) &&
           (c->stride_h == 1 || (c->weights.cin >= plan->kernels.winograd2_from &&
                                 c->weights.cout > SK_BLOCK && (c->out_h >= 32 || c->out_w >= 32)));
}

/* Cycles an output pixel takes in a 3x3 convolution, in eighths, as measured on a Zen 4 core: by products of bf16 pairs, where a last
 * block of few outputs takes a part of a vector, and by Winograd in f32, with a transform for every block. */
static bool pairs_are_quicker(const cpu_plan *plan, const cpu_conv *c)
{
    if (plan->kernels.words_native == 1 && c->weights.cin > SK_WORDS_CHANNELS && c->out_h * c->out_w < 1024)
        return true; /* two a cycle: Winograd's weights, eight times as large, come from too far away for a small map */
    const int32_t cin = c->weights.cin, in = cpu_blocks(cin), out = cpu_blocks(c->weights.cout);
    const int32_t used = c->weights.cout - (out - 1) * SK_BLOCK, last = used > 8 ? 4 : used > 4 ? 2 : 1;
    const int32_t pairs = 39 * cin * (4 * (out - 1) + last) / 4 + 96 * out,
                  winograd = 18 * cin * out + 288 * (in + out);
    return pairs < winograd;
}

/* Does it read blocks that are full, as tiles want them? One that has no map yet will. */
static bool reads_whole_blocks(const cpu_plan *plan, const cpu_conv *c)
{
    const sk_value v = c->x % plan->n_values; /* x may be the low form already */
    const cpu_value *x = &plan->values[v], *low = &plan->values[cpu_low(plan, v)];
    return c->weights.cin % SK_BLOCK == 0 && (x->map < 0 || cpu_usual_fill(x)) &&
           (low->map < 0 || cpu_usual_fill(low));
}

/* Tiles want rows of 16 pixels, too. */
static bool tiles_pay(const cpu_plan *plan, const cpu_conv *c)
{
    return plan->kernels.bf16_tiles && c->weights.groups == 1 && reads_whole_blocks(plan, c) &&
           c->out_w >= 16;
}

/* Is it Winograd's, on maps of bf16 with products of words? With stride 1 from a whole block of channels on; with stride 2, where it
 * saves no more than the transforms of a small map cost, only where there is much to multiply. A quick answer: 128 channels onto
 * 40x40, or 64 onto 80x80, are where it begins to gain on Zen 4. Tiles of AMX are quicker than either. */
static bool words_pay(const cpu_plan *plan, const cpu_conv *c)
{
    if (!plan->bf16 || c->stride_h > plan->kernels.words_native || tiles_pay(plan, c) || c->u8 ||
        !cpu_conv_can_winograd(plan, c) || c->weights.cin < SK_BLOCK || c->weights.cin > SK_WORDS_CHANNELS)
        return false;
    return c->stride_h == 1 ||
           (c->out_w >= 32 && c->out_h >= 32 && (int64_t)c->weights.cin * c->out_w >= 128 * 40);
}

/* Twice f32's products in the same time: Winograd with stride 1 saves more than that, unless there are few channels. */
bool cpu_conv_is_bf16(const cpu_plan *plan, const cpu_conv *c)
{
    if (plan->kernels.bf16_tiles) /* products of pairs in vectors are no quicker than f32's there */
        return plan->bf16 && !c->u8 && (tiles_pay(plan, c) || words_pay(plan, c));
    return plan->bf16 && plan->kernels.bf16_native && !c->u8 &&
           (words_pay(plan, c) ||
            !(cpu_conv_can_winograd(plan, c) && c->stride_h == 1 && !pairs_are_quicker(plan, c)));
}

/* In eight bits Winograd multiplies words: a quarter of the products, half as many an instruction, and the transforms, which few
 * channels do not pay for. On small maps the weights, eight times as large, come from too far away. */
static bool winograd_pays_u8(const cpu_plan *plan, const cpu_conv *c)
{
    return c->u8 && c->weights.cin >= 24 && c->weights.cout >= 24 && c->out_h * c->out_w >= 1024 &&
           cpu_conv_can_winograd_u8(plan, c);
}

static bool rows_pay(const cpu_plan *plan, const cpu_conv *c)
{
    return cpu_conv_can_rows(plan, c) && (c->stride_w == 1 || plan->kernels.rows_stride2);
}

/* Register tiles of the kernel that goes tap by tap. */
static const int8_t *tap_tiles(const cpu_plan *plan, const cpu_conv *c)
{
    return c->u8 ? plan->kernels_u8.conv_tile : plan->kernels.conv_tile;
}

cpu_conv_choice cpu_conv_default(const cpu_plan *plan, const cpu_conv *c)
{
    const sk_kernels_f32 *k = &plan->kernels;
    const int8_t *taps = tap_tiles(plan, c);
    const int32_t blocks = cpu_blocks(c->weights.cout);
    cpu_conv_choice choice = {.form = CPU_CONV_TAPS, .width = widest(taps, blocks, 4)};
    if (words_pay(plan, c)) {
        choice.form = CPU_CONV_WORDS;
        choice.tile = (uint8_t)taps[choice.width];
        choice.batch_tiles = winograd_batch(plan, c, choice.form, choice.tile, 384 << 10);
        return choice;
    }
    if (cpu_conv_is_bf16(plan, c)) {
        choice.form = CPU_CONV_BF16;
        choice.tile = (uint8_t)taps[choice.width];
        return choice;
    }
    if (winograd_pays_u8(plan, c)) {
        choice.form = CPU_CONV_WINOGRAD;
        choice.tile = (uint8_t)taps[choice.width];
        choice.batch_tiles = winograd_batch(plan, c, choice.form, choice.tile, 0);
        return choice;
    }
    if (winograd_pays(plan, c)) {
        choice.form = CPU_CONV_WINOGRAD;
        choice.tile = (uint8_t)k->conv_tile[choice.width];
        choice.batch_tiles = winograd_batch(plan, c, choice.form, choice.tile, 640 << 10);
        return choice;
    }
    if (rows_pay(plan, c)) {
        choice.form = CPU_CONV_ROWS;
        choice.width = widest(k->conv3_tile, blocks, 2);
        choice.tile = (uint8_t)k->conv3_tile[choice.width];
        choice.groups_outer = 1;
        return choice;
    }
    choice.tile = (uint8_t)taps[choice.width];
    return choice;
}

cpu_conv_choice cpu_conv_default_first_u8(const cpu_plan *plan, const cpu_conv *c)
{
    cpu_conv_choice choice = {.form = CPU_CONV_FIRST};
    choice.width = widest(plan->kernels_u8.conv_tile, cpu_blocks(c->weights.cout), 4);
    choice.tile = (uint8_t)plan->kernels_u8.conv_tile[choice.width];
    return choice;
}

static void add_candidate(cpu_conv_choice *list, int32_t *count, const cpu_conv_choice *choice)
{
    for (int32_t i = 0; i < *count; i++)
        if (memcmp(&list[i], choice, sizeof *choice) == 0)
            return;
    if (*count < MAX_CANDIDATES)
        list[(*count)++] = *choice;
}

/* A choice in both loop orders, where there is more than one group to order. */
static void add_orders(cpu_conv_choice *list, int32_t *count, cpu_conv_choice choice, int32_t blocks)
{
    add_candidate(list, count, &choice);
    if (blocks > choice.width) {
        choice.groups_outer = !choice.groups_outer;
        add_candidate(list, count, &choice);
    }
}

/* What is worth measuring, all of one form; the guess comes first. */
static int32_t candidates(const cpu_plan *plan, const cpu_conv *c, cpu_conv_choice *list)
{
    const sk_kernels_f32 *k = &plan->kernels;
    const int32_t blocks = cpu_blocks(c->weights.cout);
    int32_t count = 0;
    cpu_conv_choice guess = cpu_conv_default(plan, c);
    add_candidate(list, &count, &guess);
    const bool tiled = guess.form == CPU_CONV_WINOGRAD || guess.form == CPU_CONV_WORDS;
    const int8_t *tiles = guess.form == CPU_CONV_ROWS ? k->conv3_tile : tap_tiles(plan, c);
    for (int32_t w = 4; w >= 1; w--) {
        if (tiles[w] == 0 || w > blocks || (w == 1 && blocks > 1 && tiles[2]) || (w == 3 && blocks % 3))
            continue;
        const bool groups = blocks >= w * plan->threads && plan->threads > 1; /* enough for every thread */
        cpu_conv_choice choice = {.form = guess.form, .width = (uint8_t)w, .tile = (uint8_t)tiles[w]};
        if (tiled) {
            choice.batch_tiles = winograd_batch(plan, c, choice.form, choice.tile, 640 << 10);
            add_candidate(list, &count, &choice);
            choice.batch_tiles = winograd_batch(plan, c, choice.form, choice.tile, 320 << 10);
            add_candidate(list, &count, &choice);
        } else if (guess.form == CPU_CONV_BF16) {
            add_candidate(list, &count, &choice);
        } else {
            add_orders(list, &count, choice, blocks);
        }
        if (groups && c->out_h < (tiled ? 25 : 4 * plan->threads)) {
            choice.split_groups = 1;
            add_candidate(list, &count, &choice);
        }
    }
    return count;
}

static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Nanoseconds of one thread's share. */
static int64_t measure(const cpu_plan *plan, const cpu_step *step)
{
    const cpu_frame frame = {.plan = plan, .scratch = plan->scratch};
    int64_t best = INT64_MAX;
    for (int i = 0; i <= RUNS; i++) { /* the first one warms up */
        int64_t t = thread_ns();
        cpu_conv_run(step, &frame, 0, plan->threads);
        t = thread_ns() - t;
        if (i > 0 && t < best)
            best = t;
    }
    return best;
}

static void choose(const cpu_plan *plan, cpu_step *step, float *zeros)
{
    cpu_conv *c = step->data;
    cpu_conv_choice list[MAX_CANDIDATES], best = c->choice;
    int32_t count = candidates(plan, c, list);
    int64_t best_ns = INT64_MAX;
    c->p.weights = zeros;
    c->p.bias = zeros;
    if (c->u8)
        cpu_conv_set_weights_u8(plan, c, zeros, (const int32_t *)(const void *)zeros);
    for (int32_t i = 0; i < count; i++) {
        c->choice = list[i];
        cpu_conv_apply(plan, c);
        int64_t ns = measure(plan, step);
        /* The guess is only given up for something clearly better. */
        if (best_ns == INT64_MAX || ns < best_ns - best_ns / 50) {
            best_ns = ns;
            best = list[i];
        }
    }
    c->choice = best;
    cpu_conv_apply(plan, c);
}

static bool open_choice(const cpu_step *step)
{
    const cpu_conv *c = step->data;
    return step->run == cpu_conv_run && c->choice.form != CPU_CONV_FIRST &&
           c->choice.form != CPU_CONV_DEPTHWISE && c->kernel_h > 0 && c->kernel_w > 0;
}

/* A choice from the cache, if it is one that could be made here: the file may be damaged, or somebody else's. */
static bool find_choice(const cpu_plan *plan, const cpu_conv *c, cpu_conv_choice *choice)
{
    cpu_conv_choice list[MAX_CANDIDATES], found;
    if (!cpu_tune_cache_find(plan->tune_cache, plan, c, &found))
        return false;
    int32_t count = candidates(plan, c, list);
    for (int32_t i = 0; i < count; i++)
        if (memcmp(&list[i], &found, sizeof found) == 0) {
            *choice = found;
            return true;
        }
    return false;
}

sk_status cpu_tune_load(cpu_plan *plan, sk_error *err)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        cpu_conv *c = plan->steps[i].data;
        if (!open_choice(&plan->steps[i]))
            continue;
        c->tuned = !plan->tune;
    }
    if (!plan->tune)
        return SK_OK;
    SK_TRY(cpu_tune_cache_open(plan, &plan->tune_cache, err));
    for (size_t i = 0; i < plan->n_steps; i++) {
        cpu_conv *c = plan->steps[i].data;
        cpu_conv_choice list[MAX_CANDIDATES];
        if (!open_choice(&plan->steps[i]))
            continue;
        if (find_choice(plan, c, &c->choice)) {
            c->tuned = true;
            continue;
        }
        int32_t count = candidates(plan, c, list); /* room for whatever may be tried */
        for (int32_t k = 0; k < count; k++) {
            size_t need = cpu_conv_scratch(plan, c, &list[k]);
            plan->scratch_floats = need > plan->scratch_floats ? need : plan->scratch_floats;
        }
    }
    return SK_OK;
}

/* The largest packed weights any candidate of any unmeasured step reads. */
static size_t most_weights(const cpu_plan *plan)
{
    size_t most = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const cpu_conv *c = plan->steps[i].data;
        cpu_conv_choice list[MAX_CANDIDATES];
        if (!open_choice(&plan->steps[i]) || c->tuned)
            continue;
        int32_t count = candidates(plan, c, list);
        for (int32_t k = 0; k < count; k++) {
            size_t need = cpu_packed_floats(c, &list[k]) + SK_BLOCK * (size_t)c->p.out_blocks;
            most = need > most ? need : most;
        }
    }
    return most;
}

sk_status cpu_tune(cpu_plan *plan, sk_error *err)
{
    const size_t floats = plan->tune ? most_weights(plan) : 0;
    if (floats == 0)
        return SK_OK;
    float *zeros = sk_aligned_calloc(64, floats * sizeof *zeros);
    if (!zeros)
        return sk_fail_memory(err, floats * sizeof *zeros);
    memset(zeros, 0, floats * sizeof *zeros); /* pages of its own, not the system's one page of zeros */
    const int64_t start = thread_ns();
    bool changed = false;
    for (size_t i = 0; i < plan->n_steps && thread_ns() - start < BUDGET_NS; i++) {
        cpu_conv *c = plan->steps[i].data;
        if (!open_choice(&plan->steps[i]) || c->tuned)
            continue;
        if (!find_choice(plan, c, &c->choice)) { /* the same shape may have come before */
            choose(plan, &plan->steps[i], zeros);
            cpu_tune_cache_add(plan->tune_cache, plan, c, &c->choice);
            changed = true;
        }
        cpu_conv_apply(plan, c);
        c->tuned = true;
    }
    sk_free(zeros);
    if (changed)
        cpu_tune_cache_save(plan->tune_cache);
    return SK_OK;
}
