/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run's journal that somebody else wrote, or that a dying disk changed: opened as the run "a", played, cut, and gone on
 * with. What is not a journal of ours is left as it was. */

static sk_status visit(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    int64_t *seen = context;
    SK_FUZZ_CHECK(frame->source && frame->instances->count >= 0);
    (*seen)++;
    return SK_OK;
}

SK_FUZZ(journal, data, size)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/skitter-fuzz-journal-%d", (int)getpid());
    sk_error err = {0};
    sk_journal *journal = NULL;
    char *other = NULL;
    int64_t seen = 0;
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    fwrite(data, 1, size, file);
    fclose(file);
    sk_status status = sk_journal_open(path, "a", "now", false, &journal, &other, &err);
    if (status != SK_OK)
        SK_FUZZ_CHECK(!journal && err.message[0] && sk_file_size(path) == (int64_t)size);
    if (journal) {
        const int64_t count = sk_journal_count(journal);
        status = sk_journal_replay(journal, visit, &seen, &err);
        SK_FUZZ_CHECK(status != SK_OK || seen == count);
        if (sk_journal_truncate(journal, count / 2, &err) == SK_OK)
            SK_FUZZ_CHECK(sk_journal_count(journal) == count / 2);
        sk_instances none = {0};
        sk_result_frame frame = {.source = "x", .index = 1, .instances = &none};
        (void)!sk_journal_append(journal, &frame, &err);
        (void)!sk_journal_finish(journal, &err);
    }
    sk_journal_close(&journal);
    sk_free(other);
    unlink(path);
}
