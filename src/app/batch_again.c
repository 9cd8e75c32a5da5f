/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_again.h"

#include "app/batch_internal.h"
#include "app/batch_state.h"
#include "app/source_identity.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_MOST ((size_t)16 << 20)

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool sk_batch_again_has(const sk_batch_again *again, const char *source)
{
    return again->count && bsearch(&source, (const void *)again->known, again->count, sizeof *again->known,
                                   compare_texts) != NULL;
}

/* Its done file goes; claims stay, so that the next attempt has the next number. */
static void forget(const sk_batch *b, int64_t number, const char *why)
{
    char path[SK_BATCH_PATH];
    sk_batch_done done;
    if (!sk_batch_done_read(b, number, &done))
        return;
    done.outcome = SK_BATCH_STOPPED;
    snprintf(done.reason, sizeof done.reason, "%s", why);
    (void)!sk_batch_end_put(b, number, &done, false, NULL);
    (void)unlink(sk_batch_file(b, number, 0, "done", path));
    batch_remove_tree(sk_batch_work_path(b, number, done.attempt, path));
}

/* Was this part found in the video as it is now? */
static bool is_of_now(const sk_batch *b, int64_t number, const char *source)
{
    char path[SK_BATCH_PATH], file[SK_BATCH_PATH + 16], *data = NULL;
    sk_batch_done done;
    sk_config *config = NULL;
    sk_text size = {0}, time = {0};
    size_t bytes = 0;
    bool same = true;
    if (!sk_batch_done_read(b, number, &done))
        return true;
    snprintf(file, sizeof file, "%s/run.json", sk_batch_work_path(b, number, done.attempt, path));
    if (sk_file_read_own(file, RUN_MOST, &data, &bytes, NULL) == SK_OK &&
        sk_config_open_json(data, bytes, file, &config, NULL) == SK_OK) {
        const sk_config_value *was = sk_config_get(sk_config_root(config), "identity");
        sk_source_size(source, &size);
        sk_source_time(source, &time);
        same = strcmp(sk_config_text_or(was, "source_size", ""), sk_text_get(&size)) == 0 &&
               strcmp(sk_config_text_or(was, "source_time", ""), sk_text_get(&time)) == 0;
    }
    sk_config_close(&config);
    sk_text_free(&size);
    sk_text_free(&time);
    sk_free(data);
    return same;
}

/* Parts of a video that is not told as one yet and was replaced since would be refused by its merge for ever. */
static void drop_old_parts(sk_batch *b, const sk_batch_piece *merge, sk_batch_again *again)
{
    bool dropped = false;
    for (int64_t i = merge->number - merge->parts; i < merge->number; i++)
        if (!is_of_now(b, i, merge->source)) {
            forget(b, i, "its video has changed since");
            dropped = true;
        }
    if (dropped && !again->n_changed++)
        again->changed = merge;
}

/* A person who removes a video's result wants another one. A video that was written to behind its result is told of. */
static void look_at(sk_batch *b, const sk_batch_piece *p, bool dry, sk_batch_again *again)
{
    char path[SK_BATCH_PATH];
    struct stat result, source;
    sk_batch_done done;
    if (stat(sk_batch_result_path(b, p, path), &result) == 0) {
        if (stat(p->source, &source) == 0 && S_ISREG(source.st_mode) &&
            source.st_mtim.tv_sec > result.st_mtim.tv_sec) {
            again->newer = again->newer ? again->newer : p;
            again->n_newer++;
        }
        return;
    }
    const int64_t first = p->number - (p->kind == SK_BATCH_MERGE ? p->parts : 0);
    if (!sk_batch_done_read(b, p->number, &done)) {
        if (p->kind == SK_BATCH_MERGE && !dry)
            drop_old_parts(b, p, again);
        return;
    }
    if (sk_file_is_directory(sk_batch_work_path(b, p->number, done.attempt, path)))
        return; /* not yet put in its place */
    for (int64_t i = first; i <= p->number && !dry; i++)
        forget(b, i, "its result was removed");
    again->removed = again->removed ? again->removed : p;
    again->n_removed++;
}

sk_status sk_batch_again_read(sk_batch *b, bool dry, sk_batch_again *again, sk_error *err)
{
    *again = (sk_batch_again){.known = sk_calloc((size_t)b->pieces + 1, sizeof *again->known)};
    if (!again->known)
        return sk_fail_memory(err, (size_t)b->pieces * sizeof *again->known);
    for (int64_t i = 0; i < b->pieces; i++) {
        const sk_batch_piece *p = sk_batch_piece_of(b, i, err);
        if (!p)
            return sk_batch_piece_lacking(err);
        if (p->kind == SK_BATCH_PART)
            continue;
        again->known[again->count++] = p->source;
        look_at(b, p, dry, again);
    }
    qsort((void *)again->known, again->count, sizeof *again->known, compare_texts);
    return SK_OK;
}

void sk_batch_again_free(sk_batch_again *again)
{
    sk_free((void *)again->known);
    *again = (sk_batch_again){0};
}
