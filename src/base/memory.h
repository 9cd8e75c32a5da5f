/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_MEMORY_H
#define SK_BASE_MEMORY_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* All of skitter's own memory passes through these functions, so that a test can count allocations (the hot
 * loop must make none) and fail the n-th one (every path must survive it). */

/* Like malloc/calloc/realloc/free, but null for size 0 is never returned: size 0 gives a valid, distinct
 * block. */
void *sk_malloc(size_t bytes);
void *sk_calloc(size_t count, size_t bytes); /* null when count * bytes overflows */
void *sk_realloc(void *block, size_t bytes);
void sk_free(void *block);
/* Frees several blocks (each may be null): sk_free_all(x->names, x->values, x). */
#define sk_free_all(...)                                                                                     \
    sk_free_blocks((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void sk_free_blocks(void *const *blocks, size_t count);

/* Zero-filled, `alignment` a power of two >= sizeof(void *). Ended by sk_free. Aligned to SK_LARGE_PAGE or more, a
 * large block lies in large pages where the system gives them. */
#define SK_LARGE_PAGE ((size_t)2 << 20)
void *sk_aligned_calloc(size_t alignment, size_t bytes);

char *sk_strdup(const char *text);
char *sk_strndup(const char *text, size_t length); /* copies exactly `length` bytes and a final zero */

#if defined(__clang_analyzer__) && !defined(SK_MEMORY_IMPLEMENTATION)
/* Static analysis knows what these do: zero, leak, use after free. */
#include <stdlib.h>
#include <string.h>
#define sk_malloc(bytes)                    malloc(bytes)
#define sk_calloc(count, bytes)             calloc((count), (bytes))
#define sk_realloc(block, bytes)            realloc((block), (bytes))
#define sk_free(block)                      free(block)
#define sk_aligned_calloc(alignment, bytes) ((void)(alignment), calloc(1, (bytes)))
#define sk_strdup(text)                     strdup(text)
#endif

/* Grows an array so that it holds at least `wanted` elements (doubling); updates *items and *capacity.
 * `limit` guards against hostile counts: more than that many elements is SK_ERR_LIMIT. */
sk_status sk_array_reserve(void **items, size_t *capacity, size_t wanted, size_t element_bytes, size_t limit,
                           sk_error *err) SK_MUST_CHECK;

/* a * b and a + b with a check; false on overflow. */
static inline int sk_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline int sk_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* What tests see. Counters are process-wide and atomic. */
uint64_t sk_memory_allocations(void); /* calls that returned new memory, so far */
int64_t sk_memory_live_bytes(void);   /* usable bytes not yet freed */
/* Makes the n-th allocation from now fail (1 = the next one), once; 0 turns it off. */
/* After much was freed: lets the system have it again, where the C library would keep it for later. Costs a
 * millisecond or so. */
void sk_memory_give_back(void);

void sk_memory_fail_nth(uint64_t n);
/* How many allocations are still to come before the armed one; 0 when it has failed or none is armed. */
uint64_t sk_memory_fail_left(void);

/* Arena: many small blocks with one lifetime, freed together. Not thread-safe. */
typedef struct sk_arena sk_arena;

sk_status sk_arena_open(size_t chunk_bytes, sk_arena **out, sk_error *err) SK_MUST_CHECK;
void sk_arena_close(sk_arena **arena);
/* 16-byte aligned, zero-filled; null when memory is out or the arena's limit is reached. */
void *sk_arena_alloc(sk_arena *arena, size_t bytes);
char *sk_arena_strdup(sk_arena *arena, const char *text);
char *sk_arena_strndup(sk_arena *arena, const char *text, size_t length);
/* Refuses to hand out more than `bytes` in all; 0 = no limit. Guards parsers against bombs. */
void sk_arena_limit(sk_arena *arena, size_t bytes);
size_t sk_arena_used(const sk_arena *arena);

/* Reference-counted bytes: weights shared between graphs, sessions and threads. The count is atomic; the
 * bytes are not to be written once shared. */
typedef struct sk_blob sk_blob;

sk_status sk_blob_alloc(size_t bytes, sk_blob **out,
                        sk_error *err) SK_MUST_CHECK; /* 64-byte aligned, zeroed */
/* Wraps foreign memory; `release(context)` runs when the last reference goes. */
sk_status sk_blob_wrap(void *data, size_t bytes, void (*release)(void *), void *context, sk_blob **out,
                       sk_error *err) SK_MUST_CHECK;
sk_blob *sk_blob_ref(sk_blob *blob);
void sk_blob_unref(sk_blob **blob); /* nulls the pointer; null is allowed */
void *sk_blob_data(const sk_blob *blob);
size_t sk_blob_bytes(const sk_blob *blob);

#endif
