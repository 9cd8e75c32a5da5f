/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_BATCH_FIXTURE_H
#define SK_TESTS_APP_BATCH_FIXTURE_H

#include "support/test.h"

#include "app/batch_attempt.h"
#include "app/batch_status.h"
#include "app/batch_work.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A batch in the folder of the test, the current one, whose pieces are done by a program that behaves as its video is called. */

static char folder[2048];
static sk_error err;

/* Its folder and video are the last words; events go to 3, the summary to its standard output. */
static const char program[] =
    "#!/bin/sh\n"
    "for w; do case $w in --out=*) out=${w#--out=};; esac; video=$w; done\n"
    "attempt=${out##*.}\n"
    "echo \"$attempt $*\" >>'%s/asked'\n"
    "mkdir -p \"$out\"; echo kept >\"$out/journal.skj.new\"\n"
    "echo '{\"event\":\"progress\",\"frame\":3,\"total\":10,\"instances\":5}' >&3\n"
    "case $video in\n"
    "*good*) echo \"of $attempt\" >\"$out/results.csv\"; echo "
    "'{\"total_frames\":10,\"instances\":20,\"tracks\":3}';;\n"
    "*listed*) echo '{\"event\":\"result\",\"frames\":8,\"instances\":16}' >&3;;\n"
    "*cut*) echo '{\"frames\":7,\"detections\":14}'; exit 4;;\n"
    "*refused*) echo '{\"event\":\"end\",\"status\":2,\"message\":\"no such option\"}' >&3; exit 2;;\n"
    "*absent*) echo 'first line' >&2; echo 'the runtime is absent' >&2; exit 3;;\n"
    "*once*) [ \"$attempt\" = 2 ] || { echo kept >\"$out/journal.skj\"; exit 1; }; cat \"$out/journal.skj\" "
    ">\"$out/results.csv\";;\n"
    "*killed*) kill -9 $$;;\n"
    "*interrupted*) exit 130;;\n"
    "*slow*) trap 'exit 130' INT; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.2; "
    "done;;\n"
    "*gated*) trap 'exit 130' INT; : >sent; while [ ! -e go ]; do sleep 0.05; done; echo \"of $attempt\" "
    ">\"$out/results.csv\";;\n"
    "*) exit 5;;\n"
    "esac\n";

static inline void put(const char *path, const char *text)
{
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static inline sk_batch *begin(const char *out, const char *const *videos, size_t n, int32_t retries,
                              int32_t losses)
{
    sk_batch *b = NULL;
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    static char *const no_words[] = {NULL};
    char path[4096], text[4096];
    sk_source_defaults(&media);
    for (size_t i = 0; i < n; i++)
        put(videos[i], "no video");
    assert_ok(sk_source_list_make(videos, n, &list, &err), &err);
    const sk_batch_how how = {.retries = retries, .losses = losses};
    const sk_batch_wish wish = {
        .out = out, .command = "track", .words = no_words, .videos = &list, .media = &media, .how = &how};
    assert_ok(sk_batch_begin(&wish, &b, &err), &err);
    sk_source_list_free(&list);
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(text, sizeof text, program, folder);
    put(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    sk_free(b->program);
    b->program = sk_strdup(path);
    (void)unlink("asked");
    return b;
}

#endif
