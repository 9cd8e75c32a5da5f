/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_DOOR_H
#define SK_CLI_PREDICT_DOOR_H

#include "app/predict_many.h"
#include "app/preview.h"
#include "app/runtimes.h"
#include "cli/args.h"
#include "cli/predict_settings.h"
#include "engines/options.h"

/* A run over sources as the command line asks for it: predict's, and that of commands that do more with what is found. */
typedef struct sk_predict_door {
    sk_predict_settings settings;
    sk_source_list sources;
    char *fresh; /* the folder that was made for this run; null: the person named one */
    /* What the settings point into: */
    sk_runtime_choice choice;
    char engine[32], options[SK_OPTIONS_TEXT];
    sk_predict_borrowed borrowed;
    sk_preview_wish preview;
} sk_predict_door;

/* `command` names fresh folders: runs/<command>1. Ended by sk_cli_predict_close, after a failure, too. */
sk_status sk_cli_predict_open(const sk_args *args, const char *command, sk_predict_door *door,
                              sk_error *err) SK_MUST_CHECK;
/* `status`: how the run went, `err` why it did not go well. */
void sk_cli_predict_close(sk_predict_door *door, sk_status status, const sk_error *err);

#endif
