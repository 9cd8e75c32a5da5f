/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_SESSION_H
#define SK_CLI_PREDICT_SESSION_H

#include "app/predict_many.h"
#include "base/json_write.h"
#include "cli/args.h"

#include <stdio.h>

/* How a command shows its runs. */
typedef struct sk_predict_show {
    const char *label; /* before the progress bar */
    /* What else there is to say of the source that ended last, after the first line; may be null */
    void (*summary)(void *context, FILE *to);
    void (*json)(void *context, sk_json *json); /* … as members; may be null */
    void *context;
} sk_predict_show;

/* Runs predict over these sources with progress, summaries and Ctrl-C; the status says how it went. `fresh` is the folder that
 * was made because none was named; null: one was. */
sk_status sk_cli_predict_all(const sk_args *args, const sk_predict_settings *settings,
                             const sk_source_list *list, const char *fresh, const sk_predict_show *show,
                             sk_error *err) SK_MUST_CHECK;

/* SK_ERR_INCOMPLETE, in words: the source's header promises more frames than came; so many of several sources' do. */
sk_status sk_cli_fail_cut_off(const char *source, int64_t missing, int64_t there, sk_error *err);
sk_status sk_cli_fail_cut_off_some(size_t incomplete, size_t sources, sk_error *err);

#endif
