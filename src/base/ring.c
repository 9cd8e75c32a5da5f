/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ring.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/memory.h"

#include <stdatomic.h>
#include <string.h>

#define LINE  128
#define MOST  (1u << 20)
#define SPINS 200 /* a few microseconds: longer than a hand-over, far shorter than a frame */

/* head and tail count items ever pushed and popped, and are each written by one side only; 64 bits never
 * wrap, so the capacity need not be a power of two. A side that waits spins on the other's counter, then
 * sleeps on `wake`, which the other side and sk_ring_end raise. */
struct sk_ring {
    _Alignas(LINE) _Atomic uint64_t head; /* written by the producer */
    _Atomic uint32_t producer_asleep;
    _Alignas(LINE) _Atomic uint64_t tail; /* written by the consumer */
    _Atomic uint32_t consumer_asleep;
    _Alignas(LINE) _Atomic uint32_t ended;
    _Atomic uint32_t wake; /* what sleepers wait on: raised at every change while somebody sleeps */
    size_t item_bytes;
    uint32_t capacity;
    unsigned char *items;
};

sk_status sk_ring_open(size_t capacity, size_t item_bytes, sk_ring **out, sk_error *err)
{
    *out = NULL;
    if (capacity < 1 || capacity > MOST || item_bytes < 1)
        return sk_fail(err, SK_ERR_ARG, "a ring holds 1 to %u items of at least one byte, not %zu of %zu",
                       MOST, capacity, item_bytes);
    sk_ring *ring = sk_aligned_calloc(LINE, sizeof *ring);
    if (!ring)
        return sk_fail_memory(err, sizeof *ring);
    ring->items = sk_calloc(capacity, item_bytes);
    if (!ring->items) {
        sk_free(ring);
        return sk_fail_memory(err, item_bytes);
    }
    ring->capacity = (uint32_t)capacity;
    ring->item_bytes = item_bytes;
    *out = ring;
    return SK_OK;
}

void sk_ring_close(sk_ring **ring)
{
    sk_ring *r = ring ? *ring : NULL;
    if (!r)
        return;
    *ring = NULL;
    sk_free(r->items);
    sk_free(r);
}

static void wake_sleeper(sk_ring *ring, _Atomic uint32_t *asleep)
{
    if (atomic_load(asleep)) {
        atomic_fetch_add(&ring->wake, 1);
        sk_futex_wake(&ring->wake, 2);
    }
}

/* Waits until *counter differs from `seen`, the ring ended, or time is up; true unless time is up. For the
 * order of flag and word see futex.h. */
static bool wait_for_change(sk_ring *ring, _Atomic uint64_t *counter, uint64_t seen, _Atomic uint32_t *asleep,
                            int64_t timeout_ns)
{
    int64_t until = timeout_ns > 0 ? sk_clock_ns() + timeout_ns : 0;
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(counter, memory_order_acquire) != seen || atomic_load(&ring->ended))
            return true;
        sk_cpu_relax();
    }
    bool changed = true;
    atomic_store(asleep, 1);
    for (;;) {
        uint32_t wake = atomic_load(&ring->wake);
        if (atomic_load(counter) != seen || atomic_load(&ring->ended))
            break;
        int64_t left = timeout_ns < 0 ? -1 : until - sk_clock_ns();
        if (timeout_ns >= 0 && left <= 0) {
            changed = false;
            break;
        }
        sk_futex_wait(&ring->wake, wake, left);
    }
    atomic_store(asleep, 0);
    return changed;
}

sk_ring_answer sk_ring_push(sk_ring *ring, const void *item, int64_t timeout_ns)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (;;) {
        if (atomic_load(&ring->ended))
            return SK_RING_ENDED;
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head - tail < ring->capacity)
            break;
        if (timeout_ns == 0 || !wait_for_change(ring, &ring->tail, tail, &ring->producer_asleep, timeout_ns))
            return SK_RING_FULL;
    }
    memcpy(ring->items + (head % ring->capacity) * ring->item_bytes, item, ring->item_bytes);
    atomic_store(&ring->head, head + 1);
    wake_sleeper(ring, &ring->consumer_asleep);
    return SK_RING_DONE;
}

sk_ring_answer sk_ring_pop(sk_ring *ring, void *item, int64_t timeout_ns)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (;;) {
        /* `ended` first: an item pushed before the end must still be seen */
        uint32_t ended = atomic_load(&ring->ended);
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (head != tail)
            break;
        if (ended)
            return SK_RING_ENDED;
        if (timeout_ns == 0 || !wait_for_change(ring, &ring->head, head, &ring->consumer_asleep, timeout_ns))
            return SK_RING_EMPTY;
    }
    memcpy(item, ring->items + (tail % ring->capacity) * ring->item_bytes, ring->item_bytes);
    atomic_store(&ring->tail, tail + 1);
    wake_sleeper(ring, &ring->producer_asleep);
    return SK_RING_DONE;
}

void sk_ring_end(sk_ring *ring)
{
    atomic_store(&ring->ended, 1);
    atomic_fetch_add(&ring->wake, 1);
    sk_futex_wake(&ring->wake, 2);
}

size_t sk_ring_count(const sk_ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    return head - tail < ring->capacity ? head - tail : ring->capacity;
}

size_t sk_ring_capacity(const sk_ring *ring)
{
    return ring->capacity;
}
