/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/track_settings.h"

#include "app/track_config.h"
#include "app/track_region.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

static sk_status unknown_setting(const char *text, sk_error *err)
{
    sk_text known = {0};
    for (size_t i = 0; sk_track_setting_at(i); i++)
        sk_text_appendf(&known, "%s%s", i ? ", " : "", sk_track_setting_at(i)->name);
    sk_status status = sk_fail(err, SK_ERR_ARG, "--set %.80s: the tracker has no such setting; there are %s",
                               text, sk_text_get(&known));
    sk_text_free(&known);
    return status;
}

/* "gate=3" */
static sk_status set_one(const char *text, sk_track_wish *wish, sk_error *err)
{
    char name[64];
    const char *sign = strchr(text, '=');
    if (!sign || (size_t)(sign - text) >= sizeof name)
        return sk_fail(err, SK_ERR_ARG, "--set %.80s: write it as NAME=NUMBER, such as gate=3", text);
    memcpy(name, text, (size_t)(sign - text));
    name[sign - text] = '\0';
    const sk_track_setting *setting = sk_track_setting_find(name);
    if (!setting)
        return unknown_setting(text, err);
    char *end;
    const double value = strtod(sign + 1, &end);
    if (end == sign + 1 || *end)
        return sk_fail(err, SK_ERR_ARG, "--set %.80s: '%.40s' is no number", text, sign + 1);
    sk_error why = {0};
    if (sk_track_setting_set(setting, value, wish, &why) != SK_OK)
        return sk_fail(err, SK_ERR_ARG, "--set %.80s: %s", text, why.message);
    return SK_OK;
}

static sk_status read_regions(const sk_args *args, sk_track_door *d, sk_error *err)
{
    static const char *const names[] = {"roi", "roi-exclude"};
    if (sk_args_given(args, "roi") || sk_args_given(args, "roi-exclude") || sk_args_given(args, "roi-mask")) {
        sk_region_close(&d->region); /* of a configuration: the person's own counts more */
        sk_text_clear(&d->region_text);
    }
    for (int exclude = 0; exclude < 2; exclude++)
        for (size_t i = 0; i < sk_args_count(args, names[exclude]); i++)
            SK_TRY(sk_track_region_add(sk_args_at(args, names[exclude], i), exclude, &d->region,
                                       &d->region_text, err));
    if (sk_args_text(args, "roi-mask"))
        SK_TRY(sk_track_region_mask(sk_args_text(args, "roi-mask"), &d->region, &d->region_text, err));
    d->wish.track.filter.region = d->region;
    d->wish.region_text = sk_text_get(&d->region_text);
    return SK_OK;
}

static sk_status read_config(const char *path, sk_track_door *d, sk_error *err)
{
    sk_text warnings = {0};
    sk_status status = sk_track_config_read(path, &d->wish, &d->region, &d->region_text, &warnings, err);
    for (char *line = (char *)(uintptr_t)sk_text_get(&warnings), *rest = NULL;
         status == SK_OK && warnings.length && (line = strtok_r(line, "\n", &rest)); line = NULL)
        sk_cli_warn("%s", line);
    sk_text_free(&warnings);
    return status;
}

/* The person's own words count more: what they make meaningless is not told of either. */
static void tell_notes(const sk_args *args, const sk_track_config_run *config, bool finds, bool models)
{
    char *rest = NULL;
    for (char *line = (char *)(uintptr_t)sk_text_get(&config->notes);
         config->notes.length && (line = strtok_r(line, "\n", &rest)); line = NULL) {
        const bool about_models = strncmp(line, "model: ", 7) == 0;
        if (finds && (about_models ? models : !sk_args_given(args, "runtime")))
            sk_cli_warn("%s: %s", sk_args_text(args, "config"), line + (about_models ? 7 : 0));
    }
}

typedef struct more_list {
    sk_args_more *items;
    size_t count, capacity;
} more_list;

static sk_status push(more_list *list, const char *name, const char *text, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                            65536, err));
    list->items[list->count++] = (sk_args_more){name, text};
    return SK_OK;
}

/* Does the person say it, or something that stands in its place? */
static bool is_said(const sk_args *args, const char *name)
{
    static const char *const finds[] = {"model", "detector", "detections"}, *const reads[] = {"source",
                                                                                              "video-list"};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; strcmp(finds[i], name) == 0 && k < 3; k++)
            if (sk_args_count(args, finds[k]))
                return true;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; strcmp(reads[i], name) == 0 && k < 2; k++)
            if (sk_args_count(args, reads[k]))
                return true;
    return sk_args_count(args, name) > 0;
}

/* What a configuration of our own says about the run, checked as the command line is. */
static sk_status add_own(const sk_args *args, const sk_track_config_run *config, more_list *list,
                         sk_error *err)
{
    const sk_command *command = sk_args_command(args);
    sk_args *said = NULL;
    if (!config->n_words)
        return SK_OK;
    sk_status status =
        sk_args_parse(command, config->n_words, (const char *const *)config->words, &said, err);
    for (size_t i = 0; status == SK_OK && !is_said(args, "source") && i < sk_args_count(said, "source"); i++)
        status = push(list, "source", sk_args_at(said, "source", i), err);
    for (const sk_option *o = command->options; status == SK_OK && o->name; o++)
        for (size_t i = 0; status == SK_OK && !is_said(args, o->name) && i < sk_args_count(said, o->name);
             i++)
            status = push(list, o->name, sk_args_at(said, o->name, i), err);
    sk_args_close(&said);
    if (status != SK_OK)
        sk_error_prefix(err, "%s", sk_args_text(args, "config"));
    return status;
}

sk_status sk_cli_track_config_args(const sk_args *args, sk_track_config_run *config, sk_args **out,
                                   sk_error *err)
{
    *out = NULL;
    if (!sk_args_text(args, "config"))
        return SK_OK;
    SK_TRY(sk_track_config_run_read(sk_args_text(args, "config"), config, err));
    const bool given = sk_args_given(args, "detections");
    const bool chosen = sk_args_count(args, "model") > 0 || sk_args_given(args, "detector");
    const bool background =
        chosen ? strcmp(sk_args_text(args, "detector"), "background") == 0 : config->background;
    const bool finds = !given && !background, models = finds && !chosen;
    const sk_args_more all[] = {
        {"source",
         sk_args_count(args, "source") || sk_args_given(args, "video-list") || given ? NULL : config->source},
        {"detector", !given && !chosen && background ? "background" : NULL},
        {"model", models ? config->models[0] : NULL},
        {"model", models ? config->models[1] : NULL},
        {"runtime", finds && !sk_args_given(args, "runtime") && config->runtime[0] ? config->runtime : NULL},
        {"mask-neighbours",
         models && config->models[1] && config->masked >= 0 && !sk_args_given(args, "mask-neighbours")
             ? (config->masked ? "on" : "off")
             : NULL},
        {"frames", !sk_args_given(args, "frames") && config->frames[0] ? config->frames : NULL},
        {"classes", finds && !sk_args_given(args, "classes") && config->classes[0] ? config->classes : NULL}};
    more_list more = {0};
    sk_status status = SK_OK;
    for (size_t i = 0; status == SK_OK && i < sizeof all / sizeof *all; i++)
        if (all[i].text)
            status = push(&more, all[i].name, all[i].text, err);
    if (status == SK_OK)
        status = add_own(args, config, &more, err);
    if (status == SK_OK)
        tell_notes(args, config, finds, models);
    if (status == SK_OK)
        status = sk_args_with(args, more.items, more.count, out, err);
    sk_free(more.items);
    return status;
}

sk_status sk_cli_track_settings(const sk_args *args, sk_track_door *d, sk_error *err)
{
    sk_track_wish_defaults(&d->wish);
    sk_track_settings *t = &d->wish.track;
    if (d->base)
        SK_TRY(read_config(d->base, d, err));
    if (sk_args_text(args, "config"))
        SK_TRY(read_config(sk_args_text(args, "config"), d, err));
    if (sk_args_given(args, "tracker"))
        t->method = sk_args_text(args, "tracker");
    for (size_t i = 0; i < sk_args_count(args, "set"); i++)
        SK_TRY(set_one(sk_args_at(args, "set", i), &d->wish, err));
    if (sk_args_given(args, "animals"))
        t->animals = (int32_t)sk_args_int(args, "animals");
    if (sk_args_given(args, "offline-steps"))
        d->wish.offline.upstream = strcmp(sk_args_text(args, "offline-steps"), "upstream") == 0;
    if (sk_args_given(args, "offline-steps") && sk_args_flag(args, "online"))
        return sk_fail(err, SK_ERR_ARG,
                       "--online is without the steps that --offline-steps chooses\nleave one of them out");
    if (sk_args_given(args, "looks"))
        d->wish.looks = strcmp(sk_args_text(args, "looks"), "on") == 0;
    if (d->wish.looks && sk_args_given(args, "detections") && sk_args_count(args, "model") == 0)
        return sk_fail(
            err, SK_ERR_ARG,
            "--looks on needs pictures of the animals, and --detections has none\nleave it out, or let "
            "a model find them");
    if (sk_args_given(args, "fps"))
        t->fps = sk_args_real(args, "fps");
    t->tell_covered |= sk_args_flag(args, "tell-covered") > 0;
    d->wish.online |= sk_args_flag(args, "online") > 0;
    d->wish.report = !sk_args_flag(args, "no-report");
    d->wish.cached = !sk_args_flag(args, "no-cache");
    d->wish.cache = sk_args_text(args, "cache");
    if (d->wish.cache && !d->wish.cached)
        return sk_fail(err, SK_ERR_ARG, "--cache and --no-cache cannot both be meant\nleave one of them out");
    return read_regions(args, d, err);
}

void sk_cli_track_close(sk_track_door *d)
{
    sk_region_close(&d->region);
    sk_text_free(&d->region_text);
}
