/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_TEXT_OF_H
#define SK_TESTS_APP_TEXT_OF_H

#include "base/file.h"
#include "support/test.h"

#include <stdio.h>

static sk_error err;

/* A text file of a folder: ended by sk_free. */
static inline char *text_of(const char *folder, const char *name)
{
    char path[512], *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_file_read(path, 1 << 24, &text, &length, &err), &err);
    return text;
}

#endif
