/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_QUANTISED_H
#define SK_MODELS_QUANTISED_H

#include "base/json_write.h"
#include "graph/quantise_plan.h"

#include <stdbool.h>

/* What a network in eight bits was made from, and what it lost: measured against the same network in f32 on frames that
 * were not used to make it. A .skq carries it, and so does the ONNX file that is exported from one; an ONNX file in eight bits from
 * elsewhere has none. */

typedef struct sk_loss {
    int32_t frames;      /* looked at */
    int64_t instances;   /* that f32 found there … */
    int64_t lost, added; /* … of which not found any more, and such as f32 did not find */
    double box_px,
        box_px_95; /* how far corners of boxes lie apart: median, 95 %; NaN, as those below: there are none */
    double keypoint_px, keypoint_px_95;
    double score, score_95;
    /* One number of it all, in percent; 0: the same results. 100 less the mean overlap (of poses: nearness of points in tenths of
     * the pose's size), where what is lost or added overlaps by nothing. */
    double percent;
} sk_loss;

typedef struct sk_quantised {
    char precision[8]; /* "i8", "mixed", "fp8" */
    char source[256];  /* file name of the model it was made from … */
    char source_sha256[65];
    char data[256]; /* … and of the frames */
    char
        finder[256]; /* crops: of the model, or the detections, that they were cut around; "": whole frames */
    int32_t frames;  /* that it was made with */
    int32_t layers, kept; /* convolutions in eight bits, and those that stay f32 */
    char made_by[32];     /* skitter's version; "": another program, nothing of this is known */
    bool measured;        /* loss was measured: something was found */
    char measured_by
        [64]; /* the runtime, and how it computed: "cpu, i8"; "": an older export, measured by the cpu, too */
    int32_t height, width; /* of the network's input when it was measured; 0: not known */
    sk_loss loss;
    /* of each layer: how far its output reached */
    int32_t n_reach;
    const sk_quantise_reach *reach;
} sk_quantised;

/* "i8, loss 1.20 % on cpu, 25 frames at 640x480: …": one line without its end. */
#define SK_QUANTISED_TEXT 320
const char *sk_quantised_text(const sk_quantised *quantised, char buffer[SK_QUANTISED_TEXT]);
/* The loss as that line has it, in percent with two digits; of one that was measured. What people compare with. */
double sk_quantised_told_loss(const sk_quantised *quantised);

/* What a file says of itself; *is false: it is neither a .skq nor an ONNX file in eight bits. Lists of layers are not kept. */
sk_status sk_quantised_look(const char *path, sk_quantised *out, bool *is, sk_error *err) SK_MUST_CHECK;

/* Its members into an object that is open. */
void sk_quantised_write(const sk_quantised *quantised, sk_json *json);
/* The same as a text of its own, ended with sk_free; and where ONNX files carry it. */
#define SK_QUANTISED_KEY "skitter_quantised"
sk_status sk_quantised_to_json(const sk_quantised *quantised, char **out, sk_error *err) SK_MUST_CHECK;
/* From the JSON of a file; what is absent stays 0. Lists lie in the arena. */
sk_status sk_quantised_read(const char *json, size_t length, const char *what, sk_arena *arena,
                            sk_quantised *out, sk_error *err) SK_MUST_CHECK;

#endif
