/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_GPU_SLEAP_CHECK_H
#define SK_BENCH_GPU_SLEAP_CHECK_H

#include <stdbool.h>

/* What surrounds SLEAP's networks on this machine's GPU against the CPU's stages: frames on their way in, peaks of painted
 * maps. How many of the two are wrong, with the difference told. `small`: for slow tools. */
int check_sleap(bool small);

#endif
