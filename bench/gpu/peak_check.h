/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_GPU_PEAK_CHECK_H
#define SK_BENCH_GPU_PEAK_CHECK_H

#include <stdbool.h>

/* Peaks found on this machine's GPU in painted maps against the CPU's stages; 0, or 1 with the difference told. `small`: for
 * slow tools. */
int check_peaks(bool small);

#endif
