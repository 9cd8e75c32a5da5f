/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_LOOKS_H
#define SK_TRACK_LOOKS_H

#include "skitter/frame.h"
#include "track/track.h"

/* What an animal looks like, in SK_TRACK_LOOKS numbers: how bright its body is (16), its colours (16), the direction of its
 * texture along the body (8), how brightness runs along it (8). The body is the ellipse within the (turned) box. The same
 * animal gives much the same numbers wherever it is and however it is turned, head and tail swapped included. */

/* Frames of the host in RGB, BGR, RGBA, BGRA or grey; false for others, and where less than half of the body lies in the frame. */
bool sk_looks_of(const sk_frame *frame, const sk_detection *detection, float out[SK_TRACK_LOOKS]);

/* How far two are from each other, 0 … 2 (square of the distance of unit vectors). */
double sk_looks_apart(const float *a, const float *b);

#endif
