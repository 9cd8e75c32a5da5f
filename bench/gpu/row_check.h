/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_GPU_ROW_CHECK_H
#define SK_BENCH_GPU_ROW_CHECK_H

#include <stdbool.h>

/* Final rows made by this machine's GPU from random heads, against the tasks' code on the same heads. `small`: few cases,
 * for slow tools. */
void check_rows(int *checked, int *failed, bool small);
/* How long the steps take for so many candidates. */
void time_rows(void);

#endif
