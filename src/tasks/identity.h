/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_IDENTITY_H
#define SK_TASKS_IDENTITY_H

#include "tasks/assignment.h"
#include "tasks/peaks.h"

/* Who is who, in SLEAP's multi-class models. */

typedef struct sk_identity sk_identity;

/* Up to max_peaks peaks (or crops) against n_classes classes. */
sk_status sk_identity_open(int32_t max_peaks, int32_t n_classes, sk_identity **out,
                           sk_error *err) SK_MUST_CHECK;
void sk_identity_close(sk_identity **identity);

/* Bottom-up: the peaks of one node (x, y in class-map pixels) against the class maps. Each class gets at
 * most one peak: least summed cost, and kept only where the class is also the peak's own best. Writes the
 * index of the class's peak or -1 to peak_of[n_classes] and its probability to probability[n_classes].
 * More peaks than opened for: the first take part. */
void sk_identity_from_maps(sk_identity *identity, const sk_map *classes, const sk_peak *peaks,
                           int32_t n_peaks, int32_t *peak_of, float *probability);

/* The same with the classes' values at each peak already read: values [n_peaks][n_classes]. */
void sk_identity_from_values(sk_identity *identity, const float *values, int32_t n_peaks, int32_t *peak_of,
                             float *probability);

/* Top-down: one row of class probabilities a crop. Writes each crop's class or -1 (surplus crops) and its
 * probability (0 where there is none). */
void sk_identity_from_vectors(sk_identity *identity, const float *vectors, int32_t n_crops, int32_t *class_of,
                              float *probability);

#endif
