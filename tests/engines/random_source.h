/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RANDOM_SOURCE_H
#define SK_TESTS_RANDOM_SOURCE_H

#include <stdint.h>

/* Numbers that are the same for the same seed, everywhere. */
typedef struct random_source {
    uint64_t state;
} random_source;

static inline uint32_t random_next(random_source *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33);
}
static inline int random_below(random_source *r, int n)
{
    return (int)(random_next(r) % (uint32_t)n);
}
static inline float random_unit(random_source *r) /* -1 … 1 */
{
    return (float)random_next(r) / 1073741824.0f - 1.0f;
}

#endif
