/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_PULL_H
#define SK_ENGINES_CUDA_PULL_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes copied by a kernel that reads and writes them where they lie, in pinned memory or on the device: it begins at once, where a
 * copy engine takes some microseconds to be told and to tell. All addresses and distances are multiples of 16. */
enum { GPU_MAX_PIECES = 3, GPU_FLAG_WORDS = 16 /* a flag has a cache line of its own */ };

typedef struct gpu_piece {
    void *to;
    const void *from;
    size_t bytes;
    size_t rows, pitch; /* so many times, this far apart on both sides; 0 is 1 */
} gpu_piece;

/* In parts of `part` bytes, a multiple of 16. `ready`, for one piece of one row only: null, or a flag in pinned memory for each part, which is
 * read once its flag is `value`; whoever writes the flags must not wait for the device meanwhile, and writes the next value only when
 * the device is through with this one. */
int gpu_pull(const gpu_piece *pieces, int32_t n, size_t part, const uint32_t *ready, uint32_t value,
             gpu_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
