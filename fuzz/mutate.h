/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FUZZ_MUTATE_H
#define SK_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mutations that keep a format's structure: one number, name or part of a whole file becomes another, and lengths around
 * it are made right again. Bytes flipped blindly rarely get past the container. Each changes `data` of `size` bytes in
 * place, with room for `room`, and returns the new size; it is decided by `seed` alone.
 *
 *     SK_FUZZ_MUTATE(sk_mutate_pickle)
 *
 * beside SK_FUZZ makes the fuzzer use it for every second mutation, and the replay apply it some times to every seed. */

typedef size_t sk_mutator(uint8_t *data, size_t size, size_t room, unsigned seed);

size_t sk_mutate_protobuf(uint8_t *data, size_t size, size_t room,
                          unsigned seed); /* fields of (nested) messages */
size_t sk_mutate_pickle(uint8_t *data, size_t size, size_t room, unsigned seed); /* arguments of opcodes */
size_t sk_mutate_fields(uint8_t *data, size_t size, size_t room,
                        unsigned seed); /* little-endian sizes and offsets */
size_t sk_mutate_text(uint8_t *data, size_t size, size_t room,
                      unsigned seed); /* numbers and words of JSON, YAML, CSV */

/* libFuzzer's own; absent in a replay. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) __attribute__((weak));

#define SK_FUZZ_MUTATE(mutator)                                                                              \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)                   \
    {                                                                                                        \
        if (LLVMFuzzerMutate && seed % 2)                                                                    \
            return LLVMFuzzerMutate(data, size, room);                                                       \
        return mutator(data, size, room, seed / 2);                                                          \
    }

#endif
