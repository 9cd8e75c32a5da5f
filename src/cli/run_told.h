/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_RUN_TOLD_H
#define SK_CLI_RUN_TOLD_H

#include "app/preview.h"
#include "app/run_events.h"
#include "cli/args.h"

/* What a run tells the program that started it, of commands with these options. One run a process. */

#define SK_CLI_OPTIONS_TOLD                                                                                  \
    {SK_INT("events", "FD", 1, 1048576),                                                                     \
     .help = "for programs: also tell how the run goes, a JSON object a line, on this open descriptor"},     \
    {                                                                                                        \
        SK_FILE("preview", "FILE"),                                                                          \
            .help = "for programs: a small JPEG of the run as it goes, replaced twice a second at most"      \
    }

/* `preview` is what sk_predict_settings.preview is to be; *wish lives as long. Ended by sk_cli_told_close. */
sk_status sk_cli_told_open(const sk_args *args, sk_preview_wish *wish, const sk_preview_wish **preview,
                           sk_error *err) SK_MUST_CHECK;
/* Null: nobody listens; every call of app/run_events.h takes that. */
sk_run_events *sk_cli_told(void);
/* The last line. */
void sk_cli_told_close(sk_status status, const sk_error *err);

#endif
