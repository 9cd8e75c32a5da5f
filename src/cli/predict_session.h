/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_SESSION_H
#define SK_CLI_PREDICT_SESSION_H

#include "app/predict_many.h"
#include "cli/args.h"

/* Runs predict over these sources with progress, summaries and Ctrl-C; the status says how it went. `fresh` is the folder that
 * was made because none was named; null: one was. */
sk_status sk_cli_predict_all(const sk_args *args, const sk_predict_settings *settings,
                             const sk_source_list *list, const char *fresh, sk_error *err) SK_MUST_CHECK;

#endif
