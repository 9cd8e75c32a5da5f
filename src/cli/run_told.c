/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_told.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/cli.h"

#include <string.h>

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

/* It is for programs, which would wait for ever for a picture that cannot be written. */
static sk_status check_folder(const char *path, sk_error *err)
{
    char *folder = sk_path_folder(path);
    if (!folder)
        return sk_fail_memory(err, strlen(path));
    const sk_status status =
        sk_file_is_directory(folder)
            ? SK_OK
            : sk_fail(err, SK_ERR_NOT_FOUND, "--preview %s: there is no folder %s. Make it, or name another",
                      path, folder);
    sk_free(folder);
    return status;
}

sk_status sk_cli_told_open(const sk_args *args, sk_preview_wish *wish, const sk_preview_wish **preview,
                           sk_error *err)
{
    *wish = (sk_preview_wish){.path = sk_args_text(args, "preview"), .made = on_preview};
    *preview = wish->path ? wish : NULL;
    if (wish->path)
        SK_TRY(check_folder(wish->path, err));
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
