/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/order.h"

#include "tasks/order_formula.h"

static void insertion_sort(uint64_t *keys, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        int32_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

void sk_order_descending(const float *scores, int32_t count, int32_t *order, uint64_t *keys)
{
    uint64_t *from = keys, *to = keys + count;
    for (int32_t i = 0; i < count; i++)
        from[i] = sk_order_key(scores[i], i);
    if (count <= 48) {
        insertion_sort(from, count);
    } else {
        /* Radix sort of the upper 32 bits, 11 bits a pass; stable, so the index need not be sorted. */
        for (int shift = 32; shift < 64; shift += 11) {
            uint32_t starts[2048] = {0};
            for (int32_t i = 0; i < count; i++)
                starts[from[i] >> shift & 2047]++;
            uint32_t sum = 0;
            for (int b = 0; b < 2048; b++) {
                uint32_t n = starts[b];
                starts[b] = sum;
                sum += n;
            }
            for (int32_t i = 0; i < count; i++)
                to[starts[from[i] >> shift & 2047]++] = from[i];
            uint64_t *t = from;
            from = to;
            to = t;
        }
    }
    for (int32_t i = 0; i < count; i++)
        order[i] = sk_order_index(from[i]);
}
