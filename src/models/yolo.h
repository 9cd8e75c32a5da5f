/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_YOLO_H
#define SK_MODELS_YOLO_H

#include "formats/torch_file.h"
#include "graph/builder.h"
#include "models/model.h"

/* What the YOLO importer's files share. A checkpoint holds the network as a tree of pickled modules; the importer
 * walks that tree and writes each module's forward pass into a graph:
 *   yolo.c          finds the model, runs through its layers
 *   yolo_meta.c     names, task, sizes, provenance
 *   yolo_kernel.c   convolutions: weights, batch norm folding
 *   yolo_conv.c     Ultralytics' convolution blocks, activations
 *   yolo_modules.c  which class is which block; the plain ones
 *   yolo_blocks.c   the composed blocks (C2f, SPPF …)
 *   yolo_attention.c  attention blocks
 *   yolo_head.c     heads; yolo_tail.c: their decode tail
 *
 * Failures stick to the builder (y->b.status); after one, every function returns SK_VALUE_NONE at once. */

#define YOLO_MAX_LAYERS  512 /* of the outer sequence */
#define YOLO_MAX_DEPTH   24  /* modules inside modules */
#define YOLO_MAX_MODULES 20000
#define YOLO_MAX_PARTS   64 /* values one block concatenates */

typedef const sk_pickle_value yolo_module;

typedef struct yolo_reader {
    sk_torch_file *file;
    const char *path;
    sk_model *model;
    sk_builder b;
    yolo_module *root; /* the DetectionModel (PoseModel …) object */
    yolo_module *head; /* the last layer */
    int layer;         /* index of the layer being written, for errors */
    const char *layer_class;
    char scope[256]; /* "model.22.cv2.0" */
    int depth;
    int modules; /* written so far */
} yolo_reader;

/* Fails with "path: layer N (Class), scope: …". Returns SK_VALUE_NONE. */
sk_value sk_yolo_fail(yolo_reader *y, sk_status code, const char *format, ...) SK_PRINTF(3, 4);
bool sk_yolo_ok(const yolo_reader *y);

/* --- the tree --- */
/* Writes one module; the class decides. Null modules fail. */
sk_value sk_yolo_module(yolo_reader *y, yolo_module *module, sk_value x);
/* The same for a named child, which must be there. */
sk_value sk_yolo_child(yolo_reader *y, yolo_module *module, const char *name, sk_value x);
/* For index i of a child that is a list. */
sk_value sk_yolo_list_item(yolo_reader *y, yolo_module *module, const char *list, int index, sk_value x);
/* null where the child is absent or None. */
yolo_module *sk_yolo_find(yolo_module *module, const char *name);
int sk_yolo_list_count(yolo_module *list); /* children of a Sequential or ModuleList; 0 when it is none */
yolo_module *sk_yolo_list_at(yolo_module *list, int index, const char **name);
/* Names while inside a child: returns the length to restore with sk_yolo_leave. */
size_t sk_yolo_enter(yolo_reader *y, const char *name);
void sk_yolo_leave(yolo_reader *y, size_t mark);
/* Integer attributes. `otherwise` where absent. */
int64_t sk_yolo_int(yolo_module *module, const char *name, int64_t otherwise);
bool sk_yolo_flag(yolo_module *module, const char *name, bool otherwise);
/* One integer or a pair, as kernel sizes are written. False when it is neither. */
bool sk_yolo_pair(yolo_module *module, const char *name, int64_t out[2]);

/* --- weights (yolo_kernel.c, yolo_conv.c) --- */
/* A tensor of the module as f32; refuses values that are not finite, by name. Null on failure. */
sk_blob *sk_yolo_weights(yolo_reader *y, yolo_module *module, const char *name, sk_shape *shape);

/* A convolution on its way into the graph. */
typedef struct yolo_kernel {
    sk_blob *weight, *bias; /* bias may be null */
    sk_shape shape;         /* [out][in/groups][kh][kw] */
    sk_window window;
    int groups;
} yolo_kernel;

bool sk_yolo_kernel_read(yolo_reader *y, yolo_module *conv, yolo_kernel *k); /* a Conv2d */
bool sk_yolo_kernel_fold(yolo_reader *y, yolo_kernel *k, yolo_module *norm); /* a BatchNorm2d after it */
/* Adds a parallel convolution with the same stride and a smaller or equal odd kernel. */
bool sk_yolo_kernel_merge(yolo_reader *y, yolo_kernel *k, const yolo_kernel *other);
/* Adds a batch norm of the input itself (RepConv's identity branch). */
bool sk_yolo_kernel_merge_identity(yolo_reader *y, yolo_kernel *k, yolo_module *norm);
sk_value sk_yolo_kernel_emit(yolo_reader *y, yolo_kernel *k, sk_value x);
void sk_yolo_kernel_free(yolo_kernel *k);

sk_value sk_yolo_conv2d(yolo_reader *y, yolo_module *conv, sk_value x); /* torch's Conv2d */
sk_value sk_yolo_conv_transpose2d(yolo_reader *y, yolo_module *conv, yolo_module *norm, sk_value x);
sk_value sk_yolo_conv_block(yolo_reader *y, yolo_module *conv, sk_value x); /* Ultralytics' Conv */
sk_value sk_yolo_rep_conv(yolo_reader *y, yolo_module *module, sk_value x);
sk_value sk_yolo_rep_vgg_dw(yolo_reader *y, yolo_module *module, sk_value x);
sk_value sk_yolo_batch_norm(yolo_reader *y, yolo_module *norm, sk_value x);
/* The activation child of a block; absent or Identity gives x. */
sk_value sk_yolo_activation(yolo_reader *y, yolo_module *act, sk_value x);
bool sk_yolo_is_activation(const char *class_name);

/* --- blocks --- */
typedef sk_value (*yolo_block)(yolo_reader *y, yolo_module *module, sk_value x);
/* null when the class is none of them. */
/* Which class is which, for tables of it; null where it has no such class. */
typedef struct yolo_named_block {
    const char *name;
    yolo_block block;
} yolo_named_block;
#define YOLO_BLOCK_NAMED(table, class_name)                                                                  \
    sk_yolo_block_named((table), sizeof(table) / sizeof((table)[0]), (class_name))
yolo_block sk_yolo_block_named(const yolo_named_block *table, size_t rows, const char *class_name);

yolo_block sk_yolo_block_for(const char *class_name);
yolo_block sk_yolo_attention_for(const char *class_name);

/* --- heads --- */
/* SK_TASK_UNKNOWN when the class is no head. */
sk_task sk_yolo_head_task(const char *class_name);
void sk_yolo_head(yolo_reader *y, yolo_module *head, const sk_value *x, int n);

/* Raw maps of a head, for the decode tail. */
typedef struct yolo_maps {
    int n_levels;
    sk_value box[SK_MAX_LEVELS], score[SK_MAX_LEVELS], extra[SK_MAX_LEVELS];
    int extra_channels; /* 0: none */
    yolo_module *dfl;   /* null or Identity without */
    sk_value proto;     /* SK_VALUE_NONE: none */
} yolo_maps;
/* Writes the tail and the outputs, and fills the model's specification of both. */
void sk_yolo_tail(yolo_reader *y, const yolo_maps *maps);

/* --- facts about the checkpoint (yolo_meta.c) --- */
/* Task, classes, keypoints, sizes, provenance. Needs only the pickle. */
sk_status sk_yolo_meta(yolo_reader *y, const sk_pickle_value *checkpoint, sk_error *err) SK_MUST_CHECK;

#endif
