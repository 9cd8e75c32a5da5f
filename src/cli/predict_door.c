/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/predict_door.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/network_options.h"
#include "cli/run_told.h"
#include "media/reader.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

static uint32_t source_has(const char *source)
{
    if (!source) /* pictures, given one by one */
        return SK_NEEDS_FILE;
    if (sk_uri_is_bag(source)) /* skitter reads it, not FFmpeg */
        return SK_NEEDS_FILE | SK_NEEDS_BAG;
    const bool live = sk_uri_is_live(source);
    const bool address =
        live && strncasecmp(source, "http", 4) == 0; /* a file behind a server, or a stream */
    return (live ? SK_NEEDS_LIVE : 0) | ((!live || address) && !sk_uri_is_once(source) ? SK_NEEDS_FILE : 0) |
           (!sk_uri_is_pictures(source) ? SK_NEEDS_VIDEO : 0);
}

/* Options that this runtime or these sources have no use for. */
static sk_status refuse_meaningless(const sk_args *args, const sk_predict_settings *s,
                                    const sk_source_list *list, sk_error *err)
{
    uint32_t has = 0;
    for (size_t i = 0; i < list->count; i++)
        has |= source_has(list->items[i].source);
    SK_TRY(sk_cli_refuse_for_runtimes(args, &s->detector.runtime, 1, err));
    return sk_cli_refuse_meaningless(args, SK_NEEDS_OF_SOURCES, has,
                                     list->count > 1 ? "none of these sources" : sk_args_text(args, "source"),
                                     err);
}

/* sleap-nn's -o labels.slp: here it would be a folder of that name, without such a file in it. */
static sk_status refuse_file_name(const char *out, sk_error *err)
{
    static const char *const asked[][2] = {
        {".slp", "--format slp"},   {".csv", "--format csv"},     {".jsonl", "--format jsonl"},
        {".json", "--format coco"}, {".h5", "--format analysis"}, {".mp4", "--save-overlay"},
        {".avi", "--save-overlay"}, {".mcap", "--format mcap"},   {".db3", "--format db3"}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (!sk_path_has_extension(out, asked[i][0]) || sk_file_is_directory(out))
            continue;
        const int stem = (int)(strlen(out) - strlen(asked[i][0]));
        return sk_fail(err, SK_ERR_ARG,
                       "--out %s: results go into a folder, and this is the name of a file\n"
                       "write '--out %.*s %s'",
                       out, stem, out, asked[i][1]);
    }
    return SK_OK;
}

/* Where results go: the folder named, a fresh one, or standard output (out null). */
static sk_status choose_out(const sk_args *args, const char *command, sk_predict_settings *s, char **fresh,
                            sk_error *err)
{
    s->out = sk_args_text(args, "out");
    if (!s->out) {
        SK_TRY(sk_predict_fresh_folder(command, fresh, err));
        s->out = *fresh;
    } else if (strcmp(s->out, "-") == 0) {
        s->out = NULL;
        if (sk_args_flag(args, "json"))
            return sk_fail(
                err, SK_ERR_ARG,
                "--json and '--out -' both want standard output\nleave --json out, or name a folder");
        if (!sk_args_given(args, "format")) {
            s->n_formats = 1;
            s->formats[0] = "jsonl";
        }
    } else {
        return refuse_file_name(s->out, err);
    }
    return SK_OK;
}

static sk_status choose_runtime(const sk_args *args, sk_predict_settings *s, sk_runtime_choice *choice,
                                char engine[32], sk_error *err)
{
    s->detector.provider = sk_args_text(args, "execution-provider");
    s->detector.openvino_device = sk_args_text(args, "openvino-device");
    s->detector.precision = sk_args_text(args, "precision");
    s->detector.openvino_throughput = sk_cli_openvino_throughput(args);
    const sk_runtimes_wish wish = {.runtime = sk_args_text(args, "runtime"),
                                   .provider = s->detector.provider,
                                   .allow_fallback = sk_args_flag(args, "allow-fallback") > 0};
    SK_TRY(sk_runtimes_choose(s->models, s->n_models, &wish, choice, engine, err));
    SK_TRY(sk_cli_judge_loss(args, s->models, s->n_models, err));
    if (choice->fell_back)
        s->detector.provider = NULL; /* it went with the runtime */
    s->detector.runtime = engine;
    s->runtime_requested = choice->requested;
    s->runtime_fell_back = choice->fell_back;
    return SK_OK;
}

/* track's --video-list: a list among the sources. */
static const char *video_list(const sk_args *args)
{
    const bool has = sk_command_option(sk_args_command(args), "video-list", strlen("video-list"));
    return has ? sk_args_text(args, "video-list") : NULL;
}

static sk_status list_sources(const sk_args *args, sk_source_list *list, sk_error *err)
{
    size_t count = sk_args_count(args, "source");
    const char **given = sk_calloc(count + 2, sizeof *given);
    if (!given)
        return sk_fail_memory(err, count * sizeof *given);
    for (size_t i = 0; i < count; i++)
        given[i] = sk_args_at(args, "source", i);
    if (video_list(args))
        given[count++] = video_list(args);
    sk_status status = sk_source_list_make(given, count, list, err);
    sk_free((void *)given);
    return status;
}

static sk_status open_door(const sk_args *args, const char *command, sk_predict_door *d, sk_error *err)
{
    sk_predict_settings *s = &d->settings;
    SK_TRY(sk_cli_predict_settings(args, s, &d->borrowed, err));
    SK_TRY(sk_cli_engine_options(args, d->options, &s->detector.engine_options, err));
    if (sk_cli_has_detections(args) && s->n_models == 0)
        return choose_out(args, command, s, &d->fresh, err);
    if (sk_args_count(args, "source") == 0 && !video_list(args))
        return sk_fail(err, SK_ERR_ARG, "%s needs a video: skitter %s VIDEO --model M", command, command);
    SK_TRY(list_sources(args, &d->sources, err));
    if (sk_cli_has_background(args) && s->n_models == 0)
        return choose_out(args, command, s, &d->fresh, err);
    SK_TRY(choose_runtime(args, s, &d->choice, d->engine, err));
    SK_TRY(refuse_meaningless(args, s, &d->sources, err));
    SK_TRY(choose_out(args, command, s, &d->fresh, err));
    if (d->choice.notice[0])
        sk_cli_warn("%s", d->choice.notice);
    return SK_OK;
}

sk_status sk_cli_predict_open(const sk_args *args, const char *command, sk_predict_door *door, sk_error *err)
{
    memset(door, 0, sizeof *door);
    sk_predict_defaults(&door->settings);
    SK_TRY(sk_cli_told_open(args, &door->preview, &door->settings.preview, err));
    return open_door(args, command, door, err);
}

void sk_cli_predict_close(sk_predict_door *d, sk_status status, const sk_error *err)
{
    sk_cli_told_close(status, err);
    if (status != SK_OK && d->fresh && rmdir(d->fresh) == 0) /* nothing was written: the number stays free */
        (void)rmdir("runs");
    sk_source_list_free(&d->sources);
    sk_cli_predict_borrowed_free(&d->borrowed);
    sk_free(d->fresh);
    d->fresh = NULL;
}
