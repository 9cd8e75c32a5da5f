/* SPDX-License-Identifier: Apache-2.0 */
#define SK_MEMORY_IMPLEMENTATION
#include "base/memory.h"
#include "base/object.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_uint_fast64_t allocation_count;
static atomic_int_fast64_t live_bytes;
static atomic_uint_fast64_t fail_countdown; /* 0 = off */

/* True when the armed n-th allocation is this one. */
static int must_fail(void)
{
    uint_fast64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left != 0) {
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return left == 1;
    }
    return 0;
}

static void *counted(void *block)
{
    if (block) {
        atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&live_bytes, (int64_t)malloc_usable_size(block), memory_order_relaxed);
    }
    return block;
}

void *sk_malloc(size_t bytes)
{
    return must_fail() ? NULL : counted(malloc(bytes ? bytes : 1));
}

void *sk_calloc(size_t count, size_t bytes)
{
    size_t total;
    if (!sk_mul_size(count, bytes, &total) || must_fail())
        return NULL;
    return counted(calloc(1, total ? total : 1));
}

void *sk_realloc(void *block, size_t bytes)
{
    if (!block)
        return sk_malloc(bytes);
    if (must_fail())
        return NULL;
    int64_t before = (int64_t)malloc_usable_size(block);
    void *grown = realloc(block, bytes ? bytes : 1);
    if (grown) {
        atomic_fetch_sub_explicit(&live_bytes, before, memory_order_relaxed);
        counted(grown);
    }
    return grown;
}

void sk_free(void *block)
{
    if (!block)
        return;
    atomic_fetch_sub_explicit(&live_bytes, (int64_t)malloc_usable_size(block), memory_order_relaxed);
    free(block);
}

void sk_free_blocks(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sk_free(blocks[i]);
}

void *sk_aligned_calloc(size_t alignment, size_t bytes)
{
    if (must_fail())
        return NULL;
    void *block = NULL;
    if (posix_memalign(&block, alignment, bytes ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (alignment >= SK_LARGE_PAGE && bytes >= SK_LARGE_PAGE) /* before the first touch; a wish, not a need */
        (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    memset(block, 0, bytes);
    return counted(block);
}

void sk_memory_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

char *sk_strndup(const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = sk_malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *sk_strdup(const char *text)
{
    return sk_strndup(text, strlen(text));
}

sk_status sk_array_reserve(void **items, size_t *capacity, size_t wanted, size_t element_bytes, size_t limit,
                           sk_error *err)
{
    if (wanted <= *capacity)
        return SK_OK;
    if (wanted > limit)
        return sk_fail(err, SK_ERR_LIMIT, "%zu elements wanted where at most %zu are allowed", wanted, limit);
    size_t grown = *capacity ? *capacity : 8;
    while (grown < wanted)
        grown = grown > limit / 2 ? limit : grown * 2;
    size_t bytes;
    if (!sk_mul_size(grown, element_bytes, &bytes))
        return sk_fail_memory(err, SIZE_MAX);
    void *block = sk_realloc(*items, bytes);
    if (!block)
        return sk_fail_memory(err, bytes);
    *items = block;
    *capacity = grown;
    return SK_OK;
}

uint64_t sk_memory_allocations(void)
{
    return atomic_load(&allocation_count);
}

int64_t sk_memory_live_bytes(void)
{
    return atomic_load(&live_bytes);
}

void sk_memory_fail_nth(uint64_t n)
{
    atomic_store(&fail_countdown, n);
}

uint64_t sk_memory_fail_left(void)
{
    return atomic_load(&fail_countdown);
}

/* --- arena --- */

typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t capacity;
    size_t used;
    _Alignas(16) unsigned char bytes[];
} arena_chunk;

struct sk_arena {
    arena_chunk *head; /* the chunk being filled; full ones follow */
    size_t chunk_bytes;
    size_t limit;
    size_t used;
};

sk_status sk_arena_open(size_t chunk_bytes, sk_arena **out, sk_error *err)
{
    sk_arena *arena = sk_calloc(1, sizeof *arena);
    if (!arena)
        return sk_fail_memory(err, sizeof *arena);
    arena->chunk_bytes = chunk_bytes ? chunk_bytes : 16384;
    *out = arena;
    return SK_OK;
}

void sk_arena_close(sk_arena **arena)
{
    SK_TAKE_OR_RETURN(a, arena);
    for (arena_chunk *chunk = a->head; chunk;) {
        arena_chunk *next = chunk->next;
        sk_free(chunk);
        chunk = next;
    }
    sk_free(a);
}

void *sk_arena_alloc(sk_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes == 0)
        bytes = 16;
    if (arena->limit && (bytes > arena->limit || arena->used > arena->limit - bytes))
        return NULL;
    arena_chunk *chunk = arena->head;
    if (!chunk || chunk->capacity - chunk->used < bytes) {
        size_t capacity = bytes > arena->chunk_bytes ? bytes : arena->chunk_bytes;
        chunk = sk_calloc(1, sizeof *chunk + capacity);
        if (!chunk)
            return NULL;
        chunk->capacity = capacity;
        chunk->next = arena->head;
        arena->head = chunk;
    }
    void *block = chunk->bytes + chunk->used;
    chunk->used += bytes;
    arena->used += bytes;
    return block;
}

char *sk_arena_strndup(sk_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? sk_arena_alloc(arena, length + 1) : NULL;
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *sk_arena_strdup(sk_arena *arena, const char *text)
{
    return sk_arena_strndup(arena, text, strlen(text));
}

void sk_arena_limit(sk_arena *arena, size_t bytes)
{
    arena->limit = bytes;
}

size_t sk_arena_used(const sk_arena *arena)
{
    return arena->used;
}

/* --- blob --- */

struct sk_blob {
    atomic_int references;
    void *data;
    size_t bytes;
    void (*release)(void *);
    void *context;
};

sk_status sk_blob_wrap(void *data, size_t bytes, void (*release)(void *), void *context, sk_blob **out,
                       sk_error *err)
{
    sk_blob *blob = sk_calloc(1, sizeof *blob);
    if (!blob)
        return sk_fail_memory(err, sizeof *blob);
    atomic_init(&blob->references, 1);
    blob->data = data;
    blob->bytes = bytes;
    blob->release = release;
    blob->context = context;
    *out = blob;
    return SK_OK;
}

sk_status sk_blob_alloc(size_t bytes, sk_blob **out, sk_error *err)
{
    void *data = sk_aligned_calloc(64, bytes);
    if (!data)
        return sk_fail_memory(err, bytes);
    sk_status status = sk_blob_wrap(data, bytes, sk_free, data, out, err);
    if (status != SK_OK)
        sk_free(data);
    return status;
}

sk_blob *sk_blob_ref(sk_blob *blob)
{
    if (blob)
        atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
    return blob;
}

void sk_blob_unref(sk_blob **blob)
{
    sk_blob *b = blob ? *blob : NULL;
    if (!b)
        return;
    *blob = NULL;
    if (atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) == 1) {
        if (b->release)
            b->release(b->context);
        sk_free(b);
    }
}

void *sk_blob_data(const sk_blob *blob)
{
    return blob ? blob->data : NULL;
}

size_t sk_blob_bytes(const sk_blob *blob)
{
    return blob ? blob->bytes : 0;
}
