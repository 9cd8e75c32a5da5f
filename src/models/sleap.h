/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_SLEAP_H
#define SK_MODELS_SLEAP_H

#include "base/hash.h"
#include "formats/config.h"
#include "formats/skeleton_json.h"
#include "models/model.h"

/* What SLEAP's two eras have in common: a folder (or the same folder zipped) with a training configuration
 * beside the weights, and heads that say what the maps are. */

/* --- the folder --- */

typedef struct sk_sleap_source sk_sleap_source;

/* `path`: a model folder, its zip, or a file inside the folder: the configuration, or the weights to use. */
sk_status sk_sleap_source_open(const char *path, sk_sleap_source **out, sk_error *err) SK_MUST_CHECK;
void sk_sleap_source_close(sk_sleap_source **source);
bool sk_sleap_source_has(const sk_sleap_source *source, const char *name);
/* A file's bytes; borrowed until close, valid for every later read too. Large files are mapped. */
sk_status sk_sleap_source_read(sk_sleap_source *source, const char *name, const char **bytes, size_t *length,
                               sk_error *err) SK_MUST_CHECK;
/* The weights file's name: the one the path named, else the usual one. */
const char *sk_sleap_source_weights(const sk_sleap_source *source, const char *usual);
/* "folder/name", for errors; borrowed until close or the next call. */
const char *sk_sleap_source_path(sk_sleap_source *source, const char *name);
/* SHA-256 over every file read so far, in order; 64 hex digits. */
void sk_sleap_source_hash(const sk_sleap_source *source, char text[65]);

/* The same for a model that is read: from the bytes it was given, a zip, where there are any. */
sk_status sk_sleap_source_of(const sk_model *model, const char *path, sk_sleap_source **out,
                             sk_error *err) SK_MUST_CHECK;
sk_status sk_sleap_format_of_given(const sk_model *model, int *format, sk_error *err) SK_MUST_CHECK;

/* *format becomes SK_FORMAT_SLEAP_NN or SK_FORMAT_SLEAP_KERAS when the path is such a folder, its zip or a
 * file in it; 0 otherwise. Fails only when memory is out. */
sk_status sk_sleap_format_of(const char *path, int *format, sk_error *err) SK_MUST_CHECK;

/* --- the heads --- */

typedef struct sk_sleap_heads {
    sk_task task;
    const char *type;                /* "bottomup", "multi_instance", … as written */
    const sk_config_value *confmaps; /* part_names, anchor_part, output_stride, offset_refinement */
    const sk_config_value *pafs;     /* edges, output_stride; null where the task has none */
    const sk_config_value *classes;  /* class maps or vectors: classes, output_stride; null likewise */
} sk_sleap_heads;

/* The one head type that is not null in `model.heads` or `model_config.head_configs`. */
sk_status sk_sleap_heads_find(const sk_config_value *heads, const char *what, sk_sleap_heads *out,
                              sk_error *err) SK_MUST_CHECK;

/* Task, keypoints, edges (drawing and PAF), classes and anchor, in the heads' channel order; the skeleton
 * (may be empty) fills what the heads leave out. `by_skeleton` (sleap-nn): where it has as many nodes as the head has
 * parts, channels are its nodes, whatever the head calls them. Names are copied into the model's arena. */
sk_status sk_sleap_fill_names(sk_model *model, const sk_sleap_heads *heads, const sk_skeleton *skeleton,
                              bool by_skeleton, const char *what, sk_error *err) SK_MUST_CHECK;

/* What an output is, by its head's name ("MultiInstanceConfmapsHead_0"). */
sk_output_kind sk_sleap_output_kind(const char *head_name);

/* Adds an output; its channels (-1: not known) and stride are checked against the names and the
 * configuration. */
sk_status sk_sleap_add_output(sk_model *model, const sk_sleap_heads *heads, const char *name,
                              int64_t channels, double stride, const char *what, sk_error *err) SK_MUST_CHECK;
/* Whether everything the task needs is there. */
sk_status sk_sleap_check_outputs(const sk_model *model, const char *what, sk_error *err) SK_MUST_CHECK;

/* A size to begin with where the file names none: multiples of the stride. */
void sk_sleap_default_size(sk_model *model);

/* Facts from a configuration: scalars as text; absent and null ones are left out. */
void sk_sleap_add_fact(sk_model *model, const char *key, const sk_config_value *root, const char *path);

#endif
