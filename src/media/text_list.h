/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_TEXT_LIST_H
#define SK_MEDIA_TEXT_LIST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A text file that names sources, one a line, as Ultralytics takes them. Empty lines and those that begin with '#' are passed
 * over. A path is looked for from the current folder, then beside the list. */

bool sk_path_is_text_list(const char *path); /* a regular file called *.txt */

typedef sk_status (*sk_text_list_visit)(void *context, const char *name, sk_error *err);
sk_status sk_text_list_read(const char *path, sk_text_list_visit visit, void *context,
                            sk_error *err) SK_MUST_CHECK;

bool sk_path_is_video(const char *path); /* by its suffix; what folders and patterns are searched for */

#endif
