/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_LOCK_H
#define SK_BASE_LOCK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A lock between processes (and between threads of one), on a file of its own. The system frees it when its
 * holder dies, however it dies. The file tells who holds it and stays behind, empty, when nobody does. */
typedef struct sk_lock sk_lock;

typedef struct sk_lock_holder {
    int64_t pid;      /* 0 = not known (the holder is just writing it, or on another machine's file system) */
    int64_t since_ms; /* wall clock, milliseconds since 1970 */
    char host[64];
    char command[256]; /* its command line, cut */
} sk_lock_holder;

/* Takes the lock, waiting for at most timeout_ms (0: not at all; negative: for as long as it takes). When it
 * stays taken: SK_ERR_BUSY, *holder (if given) says by whom, and so does the error's text. The folder must
 * exist. */
sk_status sk_lock_open(const char *path, int64_t timeout_ms, sk_lock **out, sk_lock_holder *holder,
                       sk_error *err) SK_MUST_CHECK;
void sk_lock_close(sk_lock **lock); /* frees it and nulls the pointer */
/* The same, and takes the file away: for locks in folders that are not ours. Whoever waits for it goes on waiting for
 * the file that then lies at the path. */
void sk_lock_remove(sk_lock **lock);

/* Is it taken, and by whom? Does not disturb anybody who is about to take it. */
sk_status sk_lock_query(const char *path, bool *taken, sk_lock_holder *holder, sk_error *err) SK_MUST_CHECK;

#endif
