/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_KINDS_H
#define SK_SERVER_KINDS_H

/* What a file or folder is to the page, by its name and by what a folder holds; nothing is opened. */

/* "video", "image", "model", "config" or "other" */
const char *sk_kind_of_file(const char *name);
/* The folder `name` in an open folder: "run", "model" (SLEAP's are folders) or "folder". */
const char *sk_kind_of_folder(int folder, const char *name);

#endif
