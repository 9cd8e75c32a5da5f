/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_ANNOTATIONS_JSON_H
#define SK_RESULTS_ANNOTATIONS_JSON_H

#include "formats/config.h"
#include "formats/json_scan.h"
#include "results/annotations.h"

/* Inside results/: what the two JSON readers share. */

/* `count` numbers out of a list; false when it is no such list. null stands for NaN. */
bool sk_annotations_numbers(const sk_config_value *list, double *out, size_t count);
/* Opens one part of the text as a tree; ended by sk_config_close. */
sk_status sk_annotations_part(const char *what, sk_json_span span, sk_config **out,
                              sk_error *err) SK_MUST_CHECK;
/* Boxes and what truth adds to them (visible, area, length, crowd, track), under the names both formats use. */
void sk_annotations_common(const sk_config_value *object, sk_annotation *a);

#endif
