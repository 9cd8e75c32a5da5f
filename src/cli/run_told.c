/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_told.h"

#include "cli/cli.h"

static sk_run_events *told;

static void on_preview(void *context, int64_t frame)
{
    (void)context;
    sk_run_events_preview(told, frame);
}

static void on_warning(const char *text)
{
    sk_run_events_notice(told, text);
}

sk_status sk_cli_told_open(const sk_args *args, sk_preview_wish *wish, const sk_preview_wish **preview,
                           sk_error *err)
{
    *wish = (sk_preview_wish){.path = sk_args_text(args, "preview"), .made = on_preview};
    *preview = wish->path ? wish : NULL;
    if (!sk_args_given(args, "events"))
        return SK_OK;
    SK_TRY(sk_run_events_open((int)sk_args_int(args, "events"), &told, err));
    sk_cli_on_warning(on_warning);
    return SK_OK;
}

sk_run_events *sk_cli_told(void)
{
    return told;
}

void sk_cli_told_close(sk_status status, const sk_error *err)
{
    sk_cli_on_warning(NULL);
    sk_run_events_end(told, status, err);
    sk_run_events_close(&told);
}
