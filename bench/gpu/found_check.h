/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_GPU_FOUND_CHECK_H
#define SK_BENCH_GPU_FOUND_CHECK_H

#include <stdbool.h>

/* What is found by this machine's GPU from random heads, against the tasks' code on the same heads. `small`: few cases,
 * for slow tools. */
void check_found(int *checked, int *failed, bool small);
/* How long the steps take for so many candidates. */
void time_found(void);

#endif
