/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_KERNELS_HARNESS_STATE_H
#define SK_TESTS_KERNELS_HARNESS_STATE_H

#include "harness.h"

#include <setjmp.h>
#include <signal.h>

#define KERNEL_BUFFERS 64
#define KERNEL_SEEN    4096

typedef struct kernel_guarded {
    unsigned char *map; /* whole mapping: page that may not be touched, bands and data, another such page */
    size_t map_bytes;
    unsigned char *data;
    size_t bytes;
} kernel_guarded;

typedef struct kernel_seen {
    const char *name;
    kernel_fn fn;
} kernel_seen;

typedef struct kernel_state {
    /* options */
    bool bench, list, self_test;
    bool quiet;      /* failures are counted, not printed */
    bool first_only; /* ends at the first failure */
    const char *filter, *only_level, *only_family;
    uint64_t seed;
    /* now */
    uint64_t random;
    const char *variant;
    char shape[256];
    kernel_guarded buffers[KERNEL_BUFFERS];
    int buffer_count;
    kernel_seen seen[KERNEL_SEEN];
    int seen_count;
    bool variant_failed;
    /* totals */
    int variants, cases, failures;
    sigjmp_buf crash; /* where a kernel that touched a forbidden page comes out */
} kernel_state;

void kernel_buffers_free(kernel_state *state);

/* Runs one check and turns a crash into a failure. */
void kernel_guarded_call(kernel_run *run, void (*check)(kernel_run *run));

/* Are broken kernels found? Returns how many were not, and prints them. */
int kernel_self_test(kernel_run *run);

#endif
