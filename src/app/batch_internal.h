/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_INTERNAL_H
#define SK_APP_BATCH_INTERNAL_H

#include "app/batch.h"

#include <stdarg.h>

/* Between the files of a batch. */

sk_status batch_how_copy(const sk_batch_how *from, sk_batch_how *to, sk_error *err) SK_MUST_CHECK;
void batch_how_free(sk_batch_how *how);
sk_status batch_write(const sk_batch *batch, sk_error *err) SK_MUST_CHECK; /* batch.json */
sk_status batch_write_shard(const sk_batch *batch, int64_t shard, sk_error *err) SK_MUST_CHECK;
void batch_shard_free(sk_batch_piece *shard);
void batch_remove_tree(const char *path);
/* What is in the files that words name: a hash a word, "" where it names none. Ended by sk_batch_words_free. */
sk_status batch_stamp_words(char *const *words, char ***stamps, sk_error *err) SK_MUST_CHECK;
/* A batch that goes on: are they what they were, and do relative paths of videos go from where they went? */
sk_status batch_stamp_check(const sk_batch *batch, char *const *now, sk_error *err) SK_MUST_CHECK;
sk_status batch_stamp_folder(const sk_batch *batch, const sk_source_list *videos,
                             sk_error *err) SK_MUST_CHECK;
/* A sentence for whoever looks on; nobody: null. */
void batch_say(void (*tell)(void *context, const char *text), void *context, const char *format,
               va_list args);

#endif
