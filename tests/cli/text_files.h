/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_CLI_TEXT_FILES_H
#define SK_TESTS_CLI_TEXT_FILES_H

#include "said.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* Small files of words that commands read and write. */

static inline void write_file(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static inline char *read_file(const char *name)
{
    static char text[SAID_MOST];
    FILE *file = fopen(name, "r");
    if (!file)
        fail_msg("there is no %s", name);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

#endif
