/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TASKS_CASES_TEST_H
#define SK_TESTS_TASKS_CASES_TEST_H

#include <stddef.h>
#include <stdint.h>

/* The noise and the hash of make_cases.py. */
static inline void case_noise(uint8_t *out, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t v = ((uint32_t)i + seed * 7919u) * 2654435761u;
        v ^= v >> 15;
        v *= 2246822519u;
        v ^= v >> 13;
        out[i] = (uint8_t)v;
    }
}

static inline uint64_t case_hash(const uint8_t *data, size_t count)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; i++)
        h = (h ^ data[i]) * 0x100000001B3u;
    return h;
}

/* A repeatable random float in 0 … 1. */
static inline float case_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

#endif
