/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_RING_H
#define SK_BASE_RING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A queue of fixed length from one thread to one other: frames on their way from the decoder to the engine.
 * Items are copied in and out (pointers and indices, usually). No allocation after opening, no lock; a side
 * that must wait spins shortly, then sleeps.
 *
 * Ending: either side calls sk_ring_end. From then on pushes are refused, and pops give what is still inside,
 * then say that it is over. So a producer ends after its last item, and a consumer that has enough ends to
 * stop the producer; both are woken at once. */
typedef struct sk_ring sk_ring;

/* Holds up to `capacity` items (1 … 2^20) of item_bytes each. */
sk_status sk_ring_open(size_t capacity, size_t item_bytes, sk_ring **out, sk_error *err) SK_MUST_CHECK;
void sk_ring_close(sk_ring **ring); /* when both threads are done with it; items inside are forgotten */

typedef enum sk_ring_answer {
    SK_RING_DONE = 0,
    SK_RING_FULL = 1,  /* push: no room now (or in time) */
    SK_RING_EMPTY = 2, /* pop: nothing there now (or in time) */
    SK_RING_ENDED = 3
} sk_ring_answer;

/* timeout_ns: 0 = do not wait, negative = wait for as long as it takes. */
sk_ring_answer sk_ring_push(sk_ring *ring, const void *item, int64_t timeout_ns);
sk_ring_answer sk_ring_pop(sk_ring *ring, void *item, int64_t timeout_ns);
#define SK_RING_FOREVER ((int64_t)-1)

void sk_ring_end(sk_ring *ring); /* from any thread, any number of times */

/* Items inside right now; exact only on the two threads' own behalf. */
size_t sk_ring_count(const sk_ring *ring);
size_t sk_ring_capacity(const sk_ring *ring);

#endif
