/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_PREDICT_SETTINGS_H
#define SK_CLI_PREDICT_SETTINGS_H

#include "app/predict.h"
#include "cli/args.h"

#define SK_PREDICT_MAX_CLASSES 1024

/* What the settings point into, besides the arguments; it lives as long as they do. */
typedef struct sk_predict_borrowed {
    sk_frame_range *ranges;
    const char **found;
    int32_t classes[SK_PREDICT_MAX_CLASSES];
} sk_predict_borrowed;

/* The settings of a run as the command line has them, but for runtime, sources and where results go. `borrowed` begins empty
 * and is ended by sk_cli_predict_borrowed_free, after a failure, too. */
sk_status sk_cli_predict_settings(const sk_args *args, sk_predict_settings *settings,
                                  sk_predict_borrowed *borrowed, sk_error *err) SK_MUST_CHECK;
/* Is there a file of detections in the place of models? */
bool sk_cli_has_detections(const sk_args *args);
bool sk_cli_has_background(const sk_args *args); /* … or a background? */
void sk_cli_predict_borrowed_free(sk_predict_borrowed *borrowed);

#endif
