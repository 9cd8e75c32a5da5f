/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_SLEAP_RUN_H
#define SK_TESTS_SUPPORT_SLEAP_RUN_H

#include "models/model.h"

/* Runs a model's network in the reference executor on one batch [n][channels][h][w] of f32. Outputs are
 * the graph's, ended by sleap_run_free. Fails the test on any error. */
typedef struct sleap_run {
    sk_tensor outputs[32];
    int32_t n_outputs;
} sleap_run;

sleap_run sleap_run_network(const sk_model *model, const float *pixels, int64_t n, int64_t height,
                            int64_t width);
void sleap_run_free(sleap_run *run);
/* The first output of a kind; fails the test when there is none. */
const sk_tensor *sleap_run_output(const sleap_run *run, const sk_model *model, sk_output_kind kind,
                                  float *stride);

/* Peaks as SLEAP finds them, written plainly: no other room's code. Coordinates in map pixels times
 * stride. */
typedef struct sleap_peak {
    float x, y, value; /* x and y NaN when below the threshold */
    int32_t channel;
} sleap_peak;

/* The maximum of every channel of one map [channels][h][w], refined by a 5x5 weighted mean. */
void sleap_global_peaks(const float *map, int64_t channels, int64_t h, int64_t w, float stride,
                        float threshold, sleap_peak *out);
/* Every local maximum, row by row; at most `limit`. Returns how many. */
int sleap_local_peaks(const float *map, int64_t channels, int64_t h, int64_t w, float stride, float threshold,
                      sleap_peak *out, int limit);

/* A .npy file of the reference data as f32; data is ended by sk_free. Fails the test on any error. */
typedef struct npy_array {
    sk_shape shape;
    float *data;
} npy_array;
npy_array npy_read(const char *path);

#endif
