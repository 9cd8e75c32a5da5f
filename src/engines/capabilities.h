/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CAPABILITIES_H
#define SK_ENGINES_CAPABILITIES_H

#include "base/error.h"
#include "skitter/frame.h"

#include <stdbool.h>
#include <stdint.h>

/* What an engine says of itself before anything is opened. Whoever has to choose asks these, never an engine's name. */

typedef enum sk_precision {
    SK_PRECISION_AUTO = 0, /* default: what the engine is made for; sk_capabilities.usual */
    SK_PRECISION_F32 = 1,  /* the results of the reference executor up to rounding */
    SK_PRECISION_F16 = 2,
    SK_PRECISION_BF16 = 3,
    SK_PRECISION_I8 = 4,
    SK_PRECISION_TF32 = 5, /* f32 with matrix products of 10-bit mantissas, on tensor cores */
    SK_PRECISION_FP8 = 6   /* e4m3 (graph/f8_formula.h) with f32 sums, on tensor cores */
} sk_precision;

const char *sk_precision_name(sk_precision precision); /* "f32", … */
/* False for a word that names none; null and "" are SK_PRECISION_AUTO. */
bool sk_precision_find(const char *name, sk_precision *out);
/* The same with a sentence for people. */
sk_status sk_precision_read(const char *name, sk_precision *out, sk_error *err) SK_MUST_CHECK;

/* What computes. */
typedef enum sk_device_kind {
    SK_DEVICE_CPU =
        0, /* this machine's cores: several instances may share them, and be bound to some of them */
    SK_DEVICE_NVIDIA,
    SK_DEVICE_AMD,
    SK_DEVICE_INTEL, /* graphics */
    SK_DEVICE_NPU,
    SK_DEVICE_NONE /* of no engine */
} sk_device_kind;

const char *sk_device_kind_name(sk_device_kind kind); /* "processor", "NVIDIA GPU", … */

/* Where inputs may lie: a bit for each sk_place. Pinned memory (sk_engine.host_alloc) goes to the device without a copy;
 * frames in the device's own memory are read there (sk_session_input.frames). */
#define SK_READS(place) (1u << (place))
#define SK_READS_DEVICE (SK_READS(SK_PLACE_CUDA) | SK_READS(SK_PLACE_ROCM))

/* Stages around the network that an engine takes over when a descriptor asks for it (engines/stages.h): bits. */
#define SK_OFFERS_FRAMES 1u  /* fits frames in */
#define SK_OFFERS_SPARSE 2u  /* brings back only the places that can pass */
#define SK_OFFERS_PEAKS  4u  /* finds peaks */
#define SK_OFFERS_FOUND  8u  /* decodes and suppresses: brings back what is found */
#define SK_OFFERS_CROPS  16u /* cuts a second model's crops from frames on the device */

/* From when on a submit is a replay: the same addresses, no allocation, no thought about shapes. */
typedef enum sk_replay {
    SK_REPLAY_FROM_OPEN = 0, /* open has made a plan, or bound a request; there is nothing to capture */
    SK_REPLAY_CAPTURED,      /* from sk_engine.capture on; before it submits are right, but slower */
    SK_REPLAY_NEVER          /* every submit begins anew */
} sk_replay;

typedef struct sk_capabilities {
    sk_device_kind device; /* unless an option names another */
    uint32_t reads;        /* SK_READS(…) */
    uint32_t offers;       /* SK_OFFERS_… */
    uint32_t precisions; /* bit 1 << sk_precision: what sessions may be opened in; a device may have fewer */
    sk_precision usual;  /* what SK_PRECISION_AUTO means */
    sk_replay replay;
    bool asynchronous; /* submit may return before the work is done */
    bool
        free_shapes; /* a session for a new shape opens at once; else a file is made for each, which takes long */
    bool same_bits;    /* results are the same bits however many threads, instances and frames at once */
    bool for_checking; /* what others are compared with, too slow for more: never chosen unless named */
} sk_capabilities;

/* What a session is opened in: what was asked for, or the usual. */
sk_precision sk_precision_settle(const sk_capabilities *can, sk_precision asked);

#endif
