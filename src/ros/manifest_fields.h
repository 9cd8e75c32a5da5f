/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_MANIFEST_FIELDS_H
#define SK_ROS_MANIFEST_FIELDS_H

#include "ros/manifest.h"

/* A manifest's values taken out by name, what is wrong with them told at their place. Memory that runs out is in `status`. */
typedef struct sk_manifest_reader {
    sk_manifest *manifest;
    sk_problems *problems;
    sk_status status;
} sk_manifest_reader;

/* "PATH:LINE:COLUMN: …" */
void sk_manifest_wrong(const sk_manifest *manifest, const sk_config_value *at, sk_problems *problems,
                       const char *format, ...) SK_PRINTF(4, 5);

/* `what` is the map's own name: "model", "ros.publishers[2]"; "" is the whole file. A value that is missing where it is
 * required, or of another kind, is a problem and null or "". */
const sk_config_value *sk_manifest_field(sk_manifest_reader *r, const sk_config_value *map, const char *what,
                                         const char *key, sk_config_kind kind, bool required);
const char *sk_manifest_text(sk_manifest_reader *r, const sk_config_value *map, const char *what,
                             const char *key, bool required, const char *otherwise);
void sk_manifest_list(sk_manifest_reader *r, const sk_config_value *map, const char *what, const char *key,
                      bool required, sk_manifest_names *out);
/* Zeroed memory of the manifest's; null after a failure. */
void *sk_manifest_room(sk_manifest_reader *r, size_t count, size_t bytes);

/* The sections; manifest_sections.c */
void sk_manifest_read_sections(sk_manifest_reader *r);

#endif
