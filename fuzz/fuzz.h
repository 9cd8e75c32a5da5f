/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FUZZ_FUZZ_H
#define SK_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* A fuzz target is one file, fuzz/fuzz_<thing>.c, with seeds in fuzz/seeds/<thing>/:
 *
 *     #include "fuzz.h"
 *
 *     SK_FUZZ(npy, data, size)
 *     {
 *         … feed `size` bytes at `data` to the parser; free everything …
 *     }
 *
 * With SKITTER_FUZZ it becomes a libFuzzer program. In every other build with tests it becomes a program that
 * replays its seeds (and any file or folder named on its command line), which ctest runs as fuzz_<thing>:
 * what a fuzzer once found stays found without clang. After each input the replay checks that no memory of
 * ours is left over. */
#define SK_FUZZ(name, data, size)                                                                            \
    static void fuzz_##name(const uint8_t *data, size_t size);                                               \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                            \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                             \
    {                                                                                                        \
        fuzz_##name(data, size);                                                                             \
        return 0;                                                                                            \
    }                                                                                                        \
    static void fuzz_##name(const uint8_t *data, size_t size)

/* Ends the program loudly when something that must hold does not; for claims beyond "does not crash". */
#define SK_FUZZ_CHECK(condition)                                                                             \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            __builtin_trap();                                                                                \
    } while (0)

#endif
