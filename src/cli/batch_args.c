/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/batch_args.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "media/frame_choice.h"
#include "media/reader.h"
#include "media/text_list.h"

#include <stdio.h>
#include <string.h>

extern const sk_command sk_command_batch;

int sk_batch_is_own(const char *name)
{
    static const char *const own[] = {
        "command",    "videos",          "video-list", "out",     "workers", "devices", "split", "retries",
        "losses",     "slurm",           "partition",  "time",    "gpus",    "memory",  "cpus",  "module",
        "sbatch",     "pieces-per-task", "detach",     "prepare", "dry-run", "watch",   "json",  "restart",
        "submission", "pieces",          "help",       "quiet",   "verbose"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], name) == 0)
            return 1;
    return 0;
}

/* --- the plan --- */

/* What belongs into a plan: not what is said anew each time. */
static bool may_be_planned(const char *name)
{
    static const char *const not [] = {"dry-run", "watch", "json",    "restart", "submission", "pieces",
                                       "help",    "quiet", "verbose", "prepare", "detach"};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (strcmp(not [i], name) == 0)
            return false;
    return true;
}

static char kind(void *context, const char *name)
{
    (void)context;
    const sk_option *o = sk_command_option(&sk_command_batch, name, strlen(name));
    if (!o || !may_be_planned(o->name))
        return 0;
    return (char)(o->kind == SK_OPTION_FLAG ? '-' : o->repeat ? '*' : '1');
}

static const char *near(void *context, const char *name)
{
    const char *names[256];
    size_t n = 0;
    (void)context;
    for (const sk_option *o = sk_command_batch.options; o->name && n < 256; o++)
        if (may_be_planned(o->name))
            names[n++] = o->name;
    return sk_text_suggest(name, names, n);
}

/* A value as the command line's own parser judges it. */
static void check_value(const sk_batch_plan *plan, const sk_batch_entry *e, sk_problems *problems)
{
    sk_text word = {0};
    sk_args *args = NULL;
    sk_error why = {0};
    sk_text_appendf(&word, e->text ? "--%s=%s" : "--%s", e->name, e->text);
    const char *words[] = {sk_text_get(&word)};
    if (sk_args_parse(&sk_command_batch, 1, words, &args, &why) != SK_OK)
        sk_batch_plan_wrong(plan, e, problems, "%s", why.message);
    sk_args_close(&args);
    sk_text_free(&word);
}

/* What matches nothing, or is not there, is said before anything is begun. */
static sk_status check_videos(const sk_source_list *list, sk_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *source = list->items[i].source;
        if (source && !sk_uri_is_live(source) && !sk_uri_is_once(source) && !sk_file_exists(source) &&
            !strchr(source, '%'))
            return sk_fail(err, SK_ERR_NOT_FOUND, "%s: %s", source,
                           strpbrk(source, "*?[") ? "no file matches this pattern"
                                                  : "there is no such video");
    }
    return SK_OK;
}

static void check_place(const sk_batch_plan *plan, const sk_batch_entry *e, sk_problems *problems)
{
    static const char *const files[] = {"model", "roi-mask", "config", "video-list"};
    sk_source_list list = {0};
    sk_error why = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(e->name, files[i]) == 0 && !sk_file_exists(e->text))
            sk_batch_plan_wrong(plan, e, problems,
                                "%s: there is no such file; paths go from the current folder", e->text);
    if (strcmp(e->name, "videos") == 0 &&
        (sk_source_list_make(&e->text, 1, &list, &why) != SK_OK || check_videos(&list, &why) != SK_OK))
        sk_batch_plan_wrong(plan, e, problems, "%s", why.message);
    sk_source_list_free(&list);
}

static void check_plan(const sk_batch_plan *plan, const sk_args *args, sk_problems *problems)
{
    const char *command = sk_args_text(args, "command");
    for (size_t i = 0; i < plan->count && !sk_args_given(args, "command"); i++)
        if (strcmp(plan->entries[i].name, "command") == 0)
            command = plan->entries[i].text;
    const sk_command *runs = sk_command_find(command);
    for (size_t i = 0; i < plan->count; i++) {
        const sk_batch_entry *e = &plan->entries[i];
        const size_t before = problems->count;
        const sk_option *o = sk_command_option(&sk_command_batch, e->name, strlen(e->name));
        check_value(plan, e, problems);
        if (problems->count == before && e->text)
            check_place(plan, e, problems);
        if (runs && o && !sk_batch_is_own(o->name) && !sk_command_option(runs, o->name, strlen(o->name)))
            sk_batch_plan_wrong(plan, e, problems, "'%s' is no option of %s, the command of this batch",
                                e->name, command);
    }
}

static void tell(void *context, const char *line)
{
    (void)context;
    sk_cli_print_to(stderr, "%s\n", line);
}

static sk_status fill_args(const sk_args *args, sk_batch_asked *a, sk_error *err)
{
    sk_args_more *more = sk_calloc(a->plan.count + 1, sizeof *more);
    size_t n = 0;
    if (!more)
        return sk_fail_memory(err, a->plan.count * sizeof *more);
    for (size_t i = 0; i < a->plan.count; i++) {
        const sk_option *o =
            sk_command_option(&sk_command_batch, a->plan.entries[i].name, strlen(a->plan.entries[i].name));
        if (o && !sk_args_given(args, o->name))
            more[n++] = (sk_args_more){o->name, a->plan.entries[i].text ? a->plan.entries[i].text : ""};
    }
    const sk_status status = sk_args_with(args, more, n, &a->filled, err);
    sk_free(more);
    if (status == SK_OK)
        a->args = a->filled;
    return status;
}

static sk_status read_plan(const sk_args *args, const char *path, bool checked, sk_batch_asked *a,
                           sk_error *err)
{
    static const sk_batch_plan_keys keys = {kind, near, NULL};
    sk_problems problems = {0};
    size_t bytes = 0;
    if (sk_path_is_video(path) || sk_file_is_directory(path))
        return sk_fail(
            err, SK_ERR_ARG,
            "%s: not a plan; videos and folders of them are named by --videos: skitter batch --videos "
            "'%s' --model M -o RESULTS",
            path, path);
    SK_TRY(sk_file_read(path, 2 * SK_BATCH_PLAN_BYTES, &a->text, &bytes, err));
    sk_status status = sk_batch_plan_read(a->text, bytes, path, &keys, &a->plan, &problems, err);
    if (status == SK_OK && checked)
        check_plan(&a->plan, args, &problems);
    if (status == SK_OK && problems.count > 0) {
        sk_problems_each(&problems, tell, NULL);
        status = sk_fail(err, SK_ERR_ARG, "%s: %zu problem%s; nothing was begun", path, problems.count,
                         problems.count == 1 ? "" : "s");
    }
    sk_problems_free(&problems);
    return status == SK_OK ? fill_args(args, a, err) : status;
}

/* --- words --- */

static sk_status make_words(sk_batch_asked *a, sk_error *err)
{
    size_t n = 0, capacity = 0;
    for (const sk_option *o = sk_command_batch.options; o->name; o++) {
        const size_t count = sk_batch_is_own(o->name)    ? 0
                             : o->kind == SK_OPTION_FLAG ? (size_t)(sk_args_flag(a->args, o->name) > 0)
                                                         : sk_args_count(a->args, o->name);
        for (size_t i = o->repeat || count == 0 ? 0 : count - 1; i < count; i++) {
            sk_text word = {0};
            SK_TRY(sk_array_reserve((void **)&a->words, &capacity, n + 2, sizeof *a->words, 1000000, err));
            a->words[n] = a->words[n + 1] = NULL;
            if (o->kind == SK_OPTION_FLAG)
                sk_text_appendf(&word, "--%s", o->name);
            else
                sk_text_appendf(&word, "--%s=%s", o->name, sk_args_at(a->args, o->name, i));
            SK_TRY(sk_text_take(&word, &a->words[n], err));
            n++;
        }
    }
    if (!a->words && !(a->words = sk_calloc(1, sizeof *a->words)))
        return sk_fail_memory(err, 8);
    return SK_OK;
}

/* The command itself says what it does not understand. */
static sk_status check_words(const sk_batch_asked *a, sk_error *err)
{
    const sk_command *runs = sk_command_find(sk_args_text(a->args, "command"));
    sk_args *args = NULL;
    int n = 0;
    while (a->words[n])
        n++;
    const char **words = sk_calloc((size_t)n + 2, sizeof *words);
    if (!words)
        return sk_fail_memory(err, 8);
    for (int i = 0; i < n; i++)
        words[i] = a->words[i];
    words[n] = "video.mp4";
    sk_status status = sk_args_parse(runs, n + 1, words, &args, err);
    if (status == SK_OK && strcmp(runs->name, "track") == 0 && sk_args_given(args, "detections"))
        status = sk_fail(err, SK_ERR_ARG, "--detections are of one video, and a batch is of many");
    if (status == SK_OK && sk_args_count(args, "model") == 0 &&
        (strcmp(runs->name, "predict") == 0 ||
         (strcmp(sk_args_text(args, "detector"), "background") != 0 && !sk_args_given(args, "config"))))
        status = sk_fail(err, SK_ERR_ARG, "a batch needs a model: --model M, or 'model: M' in its plan");
    sk_args_close(&args);
    sk_free((void *)words);
    return status;
}

static sk_status list_videos(sk_batch_asked *a, sk_error *err)
{
    const size_t count = sk_args_count(a->args, "videos");
    const char *list = sk_args_text(a->args, "video-list");
    const char **given = sk_calloc(count + 2, sizeof *given);
    size_t n = 0;
    if (!given)
        return sk_fail_memory(err, 8);
    for (size_t i = 0; i < count; i++)
        given[n++] = sk_args_at(a->args, "videos", i);
    if (list)
        given[n++] = list;
    sk_status status = n ? sk_source_list_make(given, n, &a->videos, err)
                         : sk_fail(err, SK_ERR_ARG, "a batch needs videos: --videos 'data/*.mp4', or a plan");
    sk_free((void *)given);
    return status == SK_OK ? check_videos(&a->videos, err) : status;
}

static char *borrowed(const sk_args *args, const char *name)
{
    return (char *)(uintptr_t)sk_args_text(args,
                                           name); /* sk_batch_how owns its copy; this one is only read */
}

static sk_status list_lines(const sk_args *args, const char *name, char ***out, sk_error *err)
{
    const size_t count = sk_args_count(args, name);
    *out = sk_calloc(count + 1, sizeof **out);
    for (size_t i = 0; *out && i < count; i++)
        (*out)[i] = (char *)(uintptr_t)sk_args_at(args, name, i);
    return *out ? SK_OK : sk_fail_memory(err, 8);
}

static sk_status read_how(sk_batch_asked *a, sk_error *err)
{
    const sk_args *args = a->args;
    a->how = (sk_batch_how){.workers = (int32_t)sk_args_int(args, "workers"),
                            .retries = (int32_t)sk_args_int(args, "retries"),
                            .losses = (int32_t)sk_args_int(args, "losses"),
                            .devices = borrowed(args, "devices"),
                            .slurm = sk_args_flag(args, "slurm") > 0,
                            .partition = borrowed(args, "partition"),
                            .time = borrowed(args, "time"),
                            .gpus = borrowed(args, "gpus"),
                            .memory = borrowed(args, "memory"),
                            .cpus = borrowed(args, "cpus"),
                            .pieces_per_task = (int32_t)sk_args_int(args, "pieces-per-task")};
    for (const char *c = a->how.devices; c && *c; c += strcspn(c, ","), c += *c == ',')
        if (strncmp(c, "cuda:", 5) != 0 && strncmp(c, "rocm:", 5) != 0 && c[strspn(c, "0123456789")] != ',' &&
            c[strspn(c, "0123456789")] != '\0')
            return sk_fail(err, SK_ERR_ARG,
                           "--devices %s: of a batch these are GPUs that its workers share, cuda:0,cuda:1",
                           a->how.devices);
    SK_TRY(list_lines(args, "module", &a->how.modules, err));
    return list_lines(args, "sbatch", &a->how.sbatch, err);
}

sk_status sk_batch_asked_read(const sk_args *args, const char *plan, sk_batch_asked *a, sk_error *err)
{
    a->args = args;
    a->media.size = sizeof a->media;
    sk_source_defaults(&a->media);
    if (plan)
        SK_TRY(read_plan(args, plan, true, a, err));
    SK_TRY(make_words(a, err));
    SK_TRY(check_words(a, err));
    SK_TRY(list_videos(a, err));
    if (sk_args_given(a->args, "frames"))
        SK_TRY(sk_frames_parse(sk_args_text(a->args, "frames"), &a->media, &a->ranges, err));
    return read_how(a, err);
}

sk_status sk_batch_asked_place(const sk_args *args, const char *plan, sk_batch_asked *a, sk_error *err)
{
    a->args = args;
    return read_plan(args, plan, false, a, err);
}

void sk_batch_asked_free(sk_batch_asked *a)
{
    sk_batch_words_free(a->words);
    sk_source_list_free(&a->videos);
    sk_args_close(&a->filled);
    sk_batch_plan_free(&a->plan);
    sk_free_all((void *)a->how.modules, (void *)a->how.sbatch, a->ranges, a->text);
    *a = (sk_batch_asked){0};
}
