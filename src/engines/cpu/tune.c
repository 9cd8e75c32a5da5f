/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"

/* Which kernel, which register tile, which loop order. */

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
static uint8_t winograd_batch(const cpu_plan *plan, const cpu_conv *c, int32_t tile)
{
    const int64_t budget = 640 << 10;
    int64_t per_tile = 36 * SK_BLOCK * 4 * ((int64_t)plan->values[c->x].blocks + cpu_blocks(c->weights.cout));
    int64_t count = budget / per_tile / tile * tile;
    if (count > 4 * tile)
        count = 4 * tile;
    if (count < tile)
        count = tile;
    return (uint8_t)(count > 120 ? 120 : count);
}

cpu_conv_choice cpu_conv_default(const cpu_plan *plan, const cpu_conv *c)
{
    const sk_kernels_f32 *k = &plan->kernels;
    const int32_t blocks = cpu_blocks(c->weights.cout);
    cpu_conv_choice choice = {.form = CPU_CONV_TAPS, .width = widest(k->conv_tile, blocks, 4)};
    if (cpu_conv_can_winograd(plan, c) && c->weights.cin >= SK_BLOCK) {
        choice.form = CPU_CONV_WINOGRAD;
        choice.tile = (uint8_t)k->conv_tile[choice.width];
        choice.batch_tiles = winograd_batch(plan, c, choice.tile);
        return choice;
    }
    if (cpu_conv_can_rows(plan, c)) {
        choice.form = CPU_CONV_ROWS;
        choice.width = widest(k->conv3_tile, blocks, 2);
        choice.tile = (uint8_t)k->conv3_tile[choice.width];
        choice.groups_outer = 1;
        return choice;
    }
    choice.tile = (uint8_t)k->conv_tile[choice.width];
    return choice;
}

sk_status cpu_tune(cpu_plan *plan, sk_pool *pool, sk_error *err)
{
    (void)plan, (void)pool, (void)err;
    return SK_OK;
}
