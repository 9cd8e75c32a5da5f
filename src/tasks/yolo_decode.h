/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_YOLO_DECODE_H
#define SK_TASKS_YOLO_DECODE_H

#include "models/model.h"
#include "base/instances.h"
#include "tasks/candidates.h"
#include "tasks/map.h"

/* Turns a YOLO network's outputs for one image into candidates above a confidence. The same candidates
 * come out whichever form the outputs have; the work after a scan of the class scores is proportional to
 * the candidates. */

typedef enum sk_yolo_form {
    SK_YOLO_DENSE = 1, /* one map: output0 [4+nc+extra][A], decoded by the graph's tail */
    SK_YOLO_FOUND,     /* one map: what end-to-end models or engines found, [R][4 box, score, class, extra] */
    SK_YOLO_HEADS      /* the raw heads in the order of sk_yolo_spec.heads */
} sk_yolo_form;

typedef struct sk_yolo_decoder sk_yolo_decoder;

/* `max_places`: the most anchors (or found ones) an image may have. The specification is copied. */
sk_status sk_yolo_decoder_open(const sk_yolo_spec *spec, sk_task task, int32_t max_places,
                               sk_yolo_decoder **out, sk_error *err) SK_MUST_CHECK;
void sk_yolo_decoder_close(sk_yolo_decoder **decoder);

/* Capacity a candidate list needs for this decoder. */
int32_t sk_yolo_decoder_capacity(const sk_yolo_decoder *decoder);

/* Candidates with score > confidence and, where `wanted` (one byte a class) is given, of a wanted class.
 * Those of end-to-end models come in their final order, others by place. A candidate whose box is not
 * finite is dropped. */
sk_status sk_yolo_decode(sk_yolo_decoder *decoder, sk_yolo_form form, const sk_map *maps, int32_t n_maps,
                         float confidence, const uint8_t *wanted, sk_candidates *out,
                         sk_error *err) SK_MUST_CHECK;

/* The keypoints at a candidate's place, in network input pixels, from the maps of the last sk_yolo_decode. */
void sk_yolo_decode_keypoints(const sk_yolo_decoder *decoder, int32_t place, sk_keypoint *out);

#endif
