/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_SKELETON_JSON_H
#define SK_FORMATS_SKELETON_JSON_H

#include "formats/config.h"

/* Skeletons as networkx graphs written by jsonpickle: in training configurations, skeleton files and .slp
 * metadata. jsonpickle writes an object out where it first occurs and {"py/id": n} afterwards, n counting
 * the objects written so far from 1; nothing is constructed here, the few forms that occur are read as
 * data. */

typedef struct sk_skeleton {
    const char *name; /* "" when unnamed */
    int32_t n_nodes;
    const char **node_names;
    int32_t n_edges; /* body edges (source, destination) in order of insertion */
    int32_t (*edges)[2];
    int32_t n_symmetries; /* left-right pairs, each once */
    int32_t (*symmetries)[2];
} sk_skeleton;

#define SK_SKELETON_MAX_NODES 4096
#define SK_SKELETON_MAX_EDGES 16384

/* Reads one skeleton into the arena. `nodes` is the list of {"name": …} that .slp metadata numbers its
 * nodes by; null elsewhere. `what` names the file in errors. */
sk_status sk_skeleton_read(const sk_config_value *skeleton, const sk_config_value *nodes, sk_arena *arena,
                           const char *what, sk_skeleton *out, sk_error *err) SK_MUST_CHECK;

#endif
