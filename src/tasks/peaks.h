/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PEAKS_H
#define SK_TASKS_PEAKS_H

#include "tasks/map.h"

/* Peaks of SLEAP's confidence maps, in map pixels with pixel centres at integers. */

typedef struct sk_peak {
    float x, y; /* NaN: below the threshold */
    float value;
    int32_t channel;
} sk_peak;

typedef enum sk_refinement {
    SK_REFINE_NONE = 0,
    SK_REFINE_INTEGRAL, /* centre of mass of a patch around the peak */
    SK_REFINE_LOCAL     /* a quarter pixel toward the higher neighbour */
} sk_refinement;

enum { SK_PEAK_PATCH = 5 }; /* its usual side */

/* The highest value of every channel: out[channels]. Below the threshold x, y become NaN and the value 0. */
void sk_peaks_global(const sk_map *map, float threshold, sk_peak *out);

/* Every pixel above the threshold and above all its eight neighbours, channel after channel, rows from the
 * top. Returns how many there are, which may exceed `capacity`; only that many are written. NaN is never a
 * peak. */
int32_t sk_peaks_local(const sk_map *map, float threshold, sk_peak *out, int32_t capacity);

/* Moves a grid peak to sub-pixel precision; pixels outside the map count as 0. A peak stays where it is
 * when the patch gives no finite result. */
void sk_peak_refine(const sk_map *map, sk_refinement how, int32_t patch, sk_peak *peak);
/* Adds the network's own correction: channels 2k and 2k + 1 of `offsets` are x and y of channel k. */
void sk_peak_offset(const sk_map *offsets, sk_peak *peak);

#endif
