/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_ARCHIVE_H
#define SK_SERVER_ARCHIVE_H

#include "server/inside.h"

/* A folder of a run as one file for taking along: a zip archive of its regular files, in order of their names, below `name`/ …
 * Links are not followed. `folder` is an open descriptor, closed here. The archive has no name of its own on the disk: *file,
 * at its beginning, is all there is, and the caller's to close. */
sk_status sk_archive_make(const sk_server *server, int folder, const char *name, int *file,
                          sk_error *err) SK_MUST_CHECK;

#endif
