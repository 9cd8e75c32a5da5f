/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BENCH_MODEL_CHECK_H
#define SK_BENCH_MODEL_CHECK_H

/* Parts of cuda_check that need a model file. Both return how many things were wrong, and print what they saw. */

/* A whole model through the whole engine at side x side: YOLO from frames (RGB, NV12) by the letterbox kernel to the places
 * that pass, SLEAP from byte pictures to its maps; tiles as guessed, two slots, twice each; against the reference executor. */
int check_model(const char *path, int side);

/* Fills the GPU's memory, then opens: a clear error, nothing left behind, and it works again once there is room. */
int check_memory(const char *path);

#endif
