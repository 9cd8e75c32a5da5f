/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_SESSION_H
#define SK_ENGINES_CUDA_SESSION_H

#include "base/copiers.h"
#include "engines/cuda/plan.h"

/* An open plan on a device: addresses, streams, one captured graph for each slot.
 *
 * Slot k owns a block on the device and a pinned one of the same layout on the host, with the inputs and outputs. With more
 * than one slot, uploads and downloads have streams of their own and overlap with the neighbours' compute; and where
 * activations are small, so that one submit does not fill the device, slots compute side by side, each in an arena and on a
 * stream of its own. Slots that share an arena share the stream, and run one after the other. */

typedef struct gpu_slot {
    uint8_t *device, *host;
    uint8_t *memory;     /* activations; not owned */
    gpu_stream *compute; /* not owned */
    gpu_graph *graph;    /* null: launched step by step */
    gpu_event *begun, *uploaded, *started, *computed, *downloaded;
    int32_t *written; /* sparse outputs: [image][count, places …] now in … */
    float *whole
        [SK_SESSION_MAX_OUTPUTS]; /* … these arrays; maps that were looked at for peaks, if they are needed */
    sk_peak_word *table;          /* peaks, in order */
} gpu_slot;

typedef struct gpu_session {
    sk_session base;
    gpu_plan plan;
    gpu_device_info about;
    int32_t device;
    uint8_t *memory, *weights; /* on the device; the activations of site 0 */
    struct {
        uint8_t *memory;
        gpu_stream *compute;
    } sites
        [SK_SESSION_MAX_SLOTS]; /* from 1 on: a site is a stream and activations of its own: submits compute side by side */
    int32_t n_sites;
    gpu_slot slots[SK_SESSION_MAX_SLOTS];
    int32_t n_slots;
    gpu_stream *rest;                      /* for what a download left out: never behind the next submit */
    gpu_stream *compute, *up, *down;       /* up and down are compute with one slot */
    gpu_stream *branches[GPU_MAX_STREAMS]; /* capture only; [0] is compute */
    gpu_event **step_events;               /* capture only, one for each recorded step */
    gpu_event *branch_begin, *branch_end[GPU_MAX_STREAMS], *timer[2];
    int32_t *peak_order; /* scratch: [channel][capacity] */
    int32_t *taps;       /* scratch: of the longer side of a letterboxed crop, twice */
    sk_copiers copiers;  /* of frames in ordinary memory */
    uint32_t *ready;     /* pinned: which parts of one are copied; see pull.h */
    uint32_t turn;       /* what says so in this submit */
    bool overlapped;     /* other submits are on their way */
    bool lost;
} gpu_session;

/* Error numbers of the device in words; SK_OK for 0. `what` begins the message. */
sk_status gpu_check(gpu_session *s, int error, const char *what, sk_error *err);

/* Address of a reference in a slot. */
void *gpu_address(const gpu_session *s, const gpu_ref *ref, int32_t slot);
/* Launches a step; `pdl`: see gpu_launch. */
int gpu_run_step(const gpu_session *s, const gpu_step *step, int32_t slot, bool pdl, gpu_stream *stream);
/* Mean time of one launch of the step, over `repeats` in one graph. */
sk_status gpu_time_step(gpu_session *s, const gpu_step *step, int32_t repeats, float *us,
                        sk_error *err) SK_MUST_CHECK;
/* Median time of the slot's graph without transfers. */
sk_status gpu_time_graph(gpu_session *s, int32_t slot, int32_t runs, float *us, sk_error *err) SK_MUST_CHECK;

/* upload.c: one input of one submit, on the stream for uploads. */
sk_status gpu_upload(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
                     sk_error *err) SK_MUST_CHECK;
sk_status gpu_upload_open(gpu_session *s, sk_error *err) SK_MUST_CHECK;
void gpu_upload_close(gpu_session *s);
/* Whether this submit's input is one that is worth launching everything for before it is there … */
bool gpu_is_early(const gpu_session *s, const sk_session_input *input);
/* … and that: `then` launches what comes behind the upload, while the input is copied. */
typedef sk_status gpu_then(gpu_session *s, int32_t slot, sk_error *err);
sk_status gpu_upload_early(gpu_session *s, int32_t slot, const sk_session_input *input, gpu_then *then,
                           sk_error *err) SK_MUST_CHECK;
/* The upload stream waits until the frame's pixels are there. */
int gpu_wait_for_pixels(gpu_session *s, const sk_frame *frame);

/* crop_list.c: one frame that lies on the device, and where crops of it lie. */
sk_status gpu_bring_crops(gpu_session *s, int32_t index, int32_t slot, const sk_session_input *input,
                          sk_error *err) SK_MUST_CHECK;

/* download.c: whether kernels copy (pull.h): for one submit at a time, as they take part of the device. */
bool gpu_pulls(const gpu_session *s);
/* `rows` times `bytes`, `pitch` apart, of a slot's results to its pinned memory, on the stream for downloads. */
int gpu_download(gpu_session *s, int32_t slot, size_t offset, size_t bytes, size_t rows, size_t pitch);

/* sparse.c */
sk_status gpu_sparse_open(gpu_session *s, sk_error *err) SK_MUST_CHECK;
void gpu_sparse_close(gpu_session *s);
int gpu_sparse_download(gpu_session *s, int32_t slot);
sk_status gpu_sparse_unpack(gpu_session *s, int32_t slot, sk_error *err) SK_MUST_CHECK;

/* peaks.c */
sk_status gpu_peaks_open(gpu_session *s, sk_error *err) SK_MUST_CHECK;
void gpu_peaks_close(gpu_session *s);
int gpu_peaks_download(gpu_session *s, int32_t slot);
sk_status gpu_peaks_unpack(gpu_session *s, int32_t slot, sk_error *err) SK_MUST_CHECK;

/* tune.c: gives every tensor-core step its tile. */
sk_status gpu_choose_tiles(gpu_session *s, sk_error *err) SK_MUST_CHECK;

#endif
