/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_PAGE_FILES_H
#define SK_SERVER_PAGE_FILES_H

#include <stddef.h>

/* What lies in src/server/page/, in the program itself (cmake/Page.cmake). */
typedef struct sk_page_file {
    const char *name; /* "index.html", "parts/frame.js" */
    const char *type; /* "text/html; charset=utf-8" */
    const unsigned char *bytes;
    size_t n_bytes;
    const char *tag; /* of its contents, in quotation marks */
} sk_page_file;

extern const sk_page_file sk_page_files[]; /* ended by a null name */

#endif
