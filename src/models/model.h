/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_MODEL_H
#define SK_MODELS_MODEL_H

#include "graph/graph.h"
#include "models/quantised.h"
#include "skitter/model.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What a checkpoint means: the graph, what its outputs are, and how frames go in and results come out. Built by
 * models/yolo.c, sleap_keras.c, sleap_nn.c, onnx_model.c; read by everything above. Everything is owned by the
 * model's arena. Immutable once open; may be read from any thread. */

typedef enum sk_model_format {
    SK_FORMAT_ULTRALYTICS = 1, /* .pt */
    SK_FORMAT_SLEAP_KERAS,     /* SLEAP <= 1.4 folder */
    SK_FORMAT_SLEAP_NN,        /* sleap-nn folder */
    SK_FORMAT_ONNX,            /* Ultralytics', sleap-nn's or our own */
    SK_FORMAT_SKQ              /* our own, in eight bits (models/quantised.h) */
} sk_model_format;

/* Who knows what surrounds the network: tasks/ has a table of functions for each (tasks/family.h). */
typedef enum sk_family_id {
    SK_FAMILY_NONE = 0, /* outputs that nobody interprets */
    SK_FAMILY_YOLO,     /* boxes, poses, oriented boxes, masks */
    SK_FAMILY_CLASSIFY, /* what a whole frame shows; of Ultralytics, like YOLO */
    SK_FAMILY_SLEAP,
    SK_FAMILY_GIVEN /* no network: boxes come with the frames (sk_model_of_given) */
} sk_family_id;

/* The task with the highest number. */
sk_task sk_task_last(void);

/* Does sk_yolo_spec say something of models of this family, and do they have Ultralytics' metadata? */
bool sk_family_is_ultralytics(sk_family_id family);

/* What an output of the graph is. */
typedef enum sk_output_kind {
    SK_OUTPUT_YOLO = 1,      /* Ultralytics' dense output0 [B][4+nc+extra][A] */
    SK_OUTPUT_YOLO_END2END,  /* [B][max_det][4 box, score, class, extra] */
    SK_OUTPUT_YOLO_PROTO,    /* segment prototypes */
    SK_OUTPUT_CLASS_SCORES,  /* classify: [B][nc] after softmax */
    SK_OUTPUT_CONFMAPS,      /* SLEAP confidence maps [B][nodes][h][w] */
    SK_OUTPUT_PAFS,          /* part affinity fields [B][2*edges][h][w] */
    SK_OUTPUT_OFFSETS,       /* offset refinement [B][2*nodes][h][w], x then y */
    SK_OUTPUT_CLASS_MAPS,    /* [B][classes][h][w] */
    SK_OUTPUT_CLASS_VECTORS, /* [B][classes] */
    SK_OUTPUT_OTHER          /* named, not interpreted (e.g. peaks inside a sleap-nn export) */
} sk_output_kind;

typedef struct sk_output_spec {
    sk_output_kind kind;
    const char *name; /* as the original calls it: "output0", "MultiInstanceConfmapsHead_0" */
    float stride;     /* SLEAP maps: input pixels per map pixel */
} sk_output_spec;

/* YOLO heads before the tail, in the order sk_graph_cut_tail leaves them. */
typedef enum sk_head_kind {
    SK_HEAD_BOX = 1,   /* [B][4*reg_max][h][w] */
    SK_HEAD_CLASS,     /* [B][nc][h][w], logits */
    SK_HEAD_KEYPOINTS, /* [B][K*D][h][w] */
    SK_HEAD_ANGLE,     /* [B][1][h][w] */
    SK_HEAD_MASK,      /* [B][32][h][w] coefficients */
    SK_HEAD_PROTO
} sk_head_kind;

typedef struct sk_head_spec {
    sk_head_kind kind;
    int32_t level; /* 0 = finest */
} sk_head_spec;

#define SK_MAX_LEVELS 5

typedef struct sk_yolo_spec {
    int32_t n_levels;
    float stride[SK_MAX_LEVELS];
    int32_t reg_max; /* 16 with DFL, 1 without */
    int32_t n_classes;
    int32_t n_keypoints, keypoint_dims; /* dims 2 or 3 */
    int32_t end2end;                    /* one-to-one heads: no NMS */
    int32_t nms_tail;                   /* 1: the tail is an exporter's NMS; cut off, output0 is dense */
    int32_t dense_corners;              /* 1: dense boxes are x1, y1, x2, y2; 0: centre, width, height */
    int32_t max_det;                    /* most of the end-to-end output, 300 */
    int32_t keypoints_26;               /* 1: kx = (v + ax) * s; 0: (2v + ax - 0.5) * s */
    int32_t angle_raw;                  /* 1: raw radians; 0: (sigmoid(v) - 0.25) * pi */
    int32_t n_masks;                    /* segment: coefficients */
    int32_t n_heads;
    sk_head_spec heads[4 * SK_MAX_LEVELS + 2];
} sk_yolo_spec;

typedef struct sk_sleap_spec {
    int32_t crop_size[2];   /* centred-instance models: h, w; 0 = none */
    float input_scale;      /* resize of the frame before the network */
    int32_t target_size[2]; /* size matching: h, w; 0 = none */
    int32_t pad_to_stride;  /* network input is padded to a multiple */
    int32_t ensure_rgb, ensure_grayscale;
    const char *anchor_part; /* may be null */
    int32_t n_edges;         /* of the PAFs, in channel order */
    const int32_t (*edges)[2];
    int32_t resize_antialias;       /* 1: sleap-nn */
    int32_t legacy;                 /* 1: SLEAP <= 1.4 rules (crop, +0.5, offsets) */
    const char *const *class_names; /* multi-class identities; count = sk_model n_classes */
} sk_sleap_spec;

/* How uint8 frames become the network's input. */
typedef struct sk_input_spec {
    int32_t channels;      /* 3 or 1 */
    int32_t height, width; /* default size: 640, 640; from the checkpoint where it says */
    int32_t stride;        /* sizes must be multiples of this */
    int32_t fixed_size;    /* 1: the file allows only this size (static ONNX) */
    int32_t fixed_batch;   /* 0: any */
    float scale;           /* value = u8 * scale (1/255) … */
    float mean[3], std[3]; /* … then (v - mean) / std; 0 and 1 normally */
    int32_t rgb;           /* 1: channel order R, G, B */
    sk_dtype dtype;        /* of the graph's input: f32, f16; u8 for sleap-nn exports */
} sk_input_spec;

struct sk_model {
    sk_arena *arena;
    sk_graph *graph;
    sk_model_format format;
    sk_task task;
    sk_family_id family; /* both by sk_model_set_task */
    const char *path;
    const char *architecture; /* "yolo11", "yolov8", "sleap-nn unet" … */
    int32_t n_classes;
    const char *const *class_names;
    int32_t n_keypoints;
    const char *const *keypoint_names; /* null where the checkpoint names none */
    int32_t n_edges;                   /* skeleton for drawing and .slp */
    const int32_t (*edges)[2];
    sk_input_spec input;
    int32_t n_outputs;
    sk_output_spec outputs[32];
    sk_yolo_spec yolo;             /* what Ultralytics makes: YOLO and CLASSIFY */
    sk_heads wanted_heads;         /* for the reader, before it begins */
    sk_sleap_spec sleap;           /* SLEAP */
    const sk_quantised *quantised; /* null: not in eight bits, or not by us */
    int32_t outputs_nhwc;          /* 1: the original returns its maps NHWC (Keras); `net` writes them so */
    /* provenance: key/value pairs for people ("version" "8.3.63", "date" …) */
    int32_t n_facts;
    const char *(*facts)[2];
    char content_hash[65]; /* SHA-256 of the source file(s), hex */
    /* While it is read from memory: the bytes of its file. */
    const void *given;
    size_t given_length;
    int32_t in_memory;     /* 1: `path` is a name only: the file cannot be read again */
    atomic_int holders;    /* sk_model_hold, sk_model_close */
    struct sk_model *self; /* for holders of a const one */
    int32_t forgotten;     /* 1: sk_model_forget_network: graph is null, the rest stays */
    int32_t truncated;     /* 1: only what `info` needs could be read; graph is null or has no weights */
};

/* One more holder: each ends its hold by sk_model_close, and the last one the model. Never null. Thread-safe. */
sk_model *sk_model_hold(const sk_model *model);
/* Does the caller, who holds it, hold it alone? Then nobody else can come to hold it. */
bool sk_model_held_alone(const sk_model *model);

/* Frees the graph with its weights, once every session on it is open: packed weights are the sessions' own. What is known
 * about the model stays; whoever needs the network again reads the file again (sk_net_open).
 * Only for whoever holds the model alone; one that came from memory keeps them. */
void sk_model_forget_network(sk_model *model);

/* For importers. */
sk_status sk_model_create(sk_model **out, sk_error *err) SK_MUST_CHECK;
/* A model without a network, first of two: what somebody else finds, and hands in with each frame. `name`, for people: what
 * finds; its hash is that of `identity`. */
sk_status sk_model_of_given(const char *name, const char *identity, int32_t n_classes,
                            const char *const *class_names, bool oriented, sk_model **out,
                            sk_error *err) SK_MUST_CHECK;
/* Names the task and, with it, the family. */
void sk_model_set_task(sk_model *model, sk_task task);
void sk_model_add_fact(sk_model *model, const char *key, const char *value);

/* One per kind of source; each fills a fresh model. sk_model_open looks at the path and calls the right one. */
sk_status sk_model_read_ultralytics(const char *path, sk_model *model, sk_error *err) SK_MUST_CHECK;
/* From memory, borrowed for the call; `what` names it in errors. */
sk_status sk_model_read_ultralytics_memory(const void *bytes, size_t length, const char *what,
                                           sk_model *model, sk_error *err) SK_MUST_CHECK;
sk_status sk_model_read_sleap_keras(const char *folder, sk_model *model, sk_error *err) SK_MUST_CHECK;
sk_status sk_model_read_sleap_nn(const char *folder, sk_model *model, sk_error *err) SK_MUST_CHECK;
sk_status sk_model_read_onnx(const char *path, sk_model *model, sk_error *err) SK_MUST_CHECK;
sk_status sk_model_read_skq(const char *path, sk_model *model, sk_error *err) SK_MUST_CHECK;
sk_status sk_skq_read_model(const void *bytes, size_t length, const char *path, sk_model *model,
                            sk_error *err) SK_MUST_CHECK;

#endif
