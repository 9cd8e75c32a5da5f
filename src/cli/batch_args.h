/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_BATCH_ARGS_H
#define SK_CLI_BATCH_ARGS_H

#include "app/batch.h"
#include "app/batch_plan.h"
#include "cli/args.h"

/* What 'skitter batch' was asked for: by the command line, and by a plan where that says nothing. */
typedef struct sk_batch_asked {
    const sk_args *args; /* all of it */
    sk_args *filled;     /* … where there is a plan */
    sk_batch_plan plan;
    char *text; /* the plan's */
    sk_source_list videos;
    sk_source_settings media; /* which frames */
    sk_frame_range *ranges;
    char **words;     /* of predict or track */
    sk_batch_how how; /* borrowed from the arguments, but for its lists */
} sk_batch_asked;

/* Begins as {0}; ended by sk_batch_asked_free, after a failure, too. `plan` null: none. Problems of a plan are told one by one,
 * and are then one error. */
sk_status sk_batch_asked_read(const sk_args *args, const char *plan, sk_batch_asked *asked,
                              sk_error *err) SK_MUST_CHECK;
/* The plan alone, for where its results are: videos and models that are gone by now do not matter. */
sk_status sk_batch_asked_place(const sk_args *args, const char *plan, sk_batch_asked *a,
                               sk_error *err) SK_MUST_CHECK;
void sk_batch_asked_free(sk_batch_asked *asked);
/* Options of the batch itself, not of the command that it runs. */
int sk_batch_is_own(const char *option);

#endif
