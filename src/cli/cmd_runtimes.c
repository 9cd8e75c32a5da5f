/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/precisions.h"
#include "cli/shared_options.h"
#include "engines/engine.h"

#include <stdio.h>

#define MOST_MODELS 16

static const sk_operand operands[] = {{.name = "model",
                                       .kind = SK_OPTION_FILE,
                                       .optional = 1,
                                       .repeat = 1,
                                       .help = "only what these models can all use; without it what any can"},
                                      {0}};

static const sk_option options[] = {
    {SK_TEXT("pipelines", "LIST"), .letter = 'p',
     .help = "the pipelines that are on: yolo_obb_detection, yolo_pose, sleap_pose, yolo_detection, generic"},
    {SK_FLAG("options"), .help = "each runtime's own options, for --engine-option, and what it can"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter runtimes", "what can be chosen here"},
    {"skitter runtimes boxes.pt models/sleap_dir",
     "what these two can use together, and what excluded the rest"},
    {"skitter runtimes --options", "what --engine-option takes"},
    {"skitter runtimes --pipelines yolo_obb_detection,sleap_pose", "what both can use"},
    {0}};

/* What an engine can: here, where it is one of the runtimes that are here. */
static sk_capabilities can_here(const sk_runtimes_view *view, const sk_engine *engine)
{
    sk_runtime runtime;
    return sk_runtime_find(engine->name, &runtime) ? sk_runtimes_can(view, runtime) : engine->can;
}

static void json_options(sk_json *j, const sk_runtimes_view *view)
{
    char takes[128];
    sk_json_key_array(j, "engines");
    for (int32_t i = 0; i < sk_engine_count(); i++) {
        const sk_engine *e = sk_engine_at(i);
        sk_json_object(j);
        sk_json_key_string(j, "name", e->name);
        sk_json_key_string(j, "device", sk_device_kind_name(e->can.device));
        const sk_capabilities can = can_here(view, e);
        sk_cli_json_precisions(j, &can);
        sk_json_key_array(j, "options");
        for (const sk_engine_option *o = e->options; o && o->key; o++) {
            sk_json_object(j);
            sk_json_key_strings(j, {"key", o->key}, {"takes", sk_options_takes(o, takes, sizeof takes)},
                                {"usual", o->usual ? o->usual : ""}, {"help", o->help});
            sk_json_close(j);
        }
        sk_json_close(j);
        sk_json_close(j);
    }
    sk_json_close(j);
}

static sk_status print_json(const sk_runtimes_view *view, sk_error *err)
{
    const sk_runtime_gate *gate = &view->gate;
    sk_json j = sk_json_to_file(stdout, 2);
    sk_json_object(&j);
    sk_json_key_array(&j, "pipelines");
    for (int i = 0; i < SK_WORK_COUNT; i++)
        if (view->pipelines & 1u << i)
            sk_json_string(&j, sk_work_name((sk_work)i));
    sk_json_close(&j);
    sk_json_key_array(&j, "allowed");
    for (int32_t i = 0; i < gate->n_allowed; i++)
        sk_json_string(&j, sk_runtime_name(gate->allowed[i]));
    sk_json_close(&j);
    sk_json_key_array(&j, "excluded");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        if (gate->is_allowed[i])
            continue;
        sk_json_object(&j);
        sk_json_key_string(&j, "name", sk_runtime_name((sk_runtime)i));
        sk_json_key_string(&j, "because", gate->because[i]);
        sk_json_close(&j);
    }
    sk_json_close(&j);
    json_options(&j, view);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

static void print_table(const sk_runtimes_view *view)
{
    const sk_runtime_gate *gate = &view->gate;
    char precisions[SK_PRECISIONS_TEXT];
    for (int32_t i = 0; i < gate->n_allowed; i++) {
        const sk_runtime runtime = gate->allowed[i];
        const sk_capabilities can = sk_runtimes_can(view, runtime);
        printf("%-10s %-12s %s: %s\n", sk_runtime_name(runtime), sk_runtime_label(runtime),
               sk_runtime_meaning(runtime), sk_cli_precisions(&can, precisions));
    }
    bool any = false;
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        if (gate->is_allowed[i])
            continue;
        printf("%s%s%-10s %s%s\n", any ? "" : "\nNot here:\n", sk_cli_style(stdout, SK_STYLE_DIM),
               sk_runtime_name((sk_runtime)i), gate->because[i], sk_cli_style(stdout, SK_STYLE_END));
        any = true;
    }
}

/* Every engine there is, here or not: what it can, and its options. */
static void print_options(const sk_runtimes_view *view)
{
    char takes[128], precisions[SK_PRECISIONS_TEXT];
    for (int32_t i = 0; i < sk_engine_count(); i++) {
        const sk_engine *e = sk_engine_at(i);
        const sk_capabilities can = can_here(view, e);
        printf("%s%-10s %s; %s%s%s\n", i ? "\n" : "", e->name, sk_device_kind_name(e->can.device),
               sk_cli_precisions(&can, precisions),
               e->can.free_shapes ? "; any shape at once" : "; a file for each shape",
               e->can.same_bits ? "; the same bits with any number of threads" : "");
        for (const sk_engine_option *o = e->options; o && o->key; o++)
            printf("  %s=%s%s%s%s\n      %s\n", o->key, sk_options_takes(o, takes, sizeof takes),
                   o->usual ? " (" : "", o->usual ? o->usual : "", o->usual ? ")" : "", o->help);
        if (!e->options)
            printf("  no options\n");
    }
}

static sk_status run(const sk_args *args, sk_error *err)
{
    uint32_t pipelines = 0;
    const char *models[MOST_MODELS];
    int32_t n_models = (int32_t)sk_args_count(args, "model");
    if (n_models > MOST_MODELS)
        return sk_fail(err, SK_ERR_ARG, "at most %d models at a time", MOST_MODELS);
    for (int32_t i = 0; i < n_models; i++)
        models[i] = sk_args_at(args, "model", (size_t)i);
    SK_TRY(sk_works_parse(sk_args_text(args, "pipelines"), &pipelines, err));
    sk_runtimes_view *view = sk_calloc(1, sizeof *view);
    if (!view)
        return sk_fail_memory(err, sizeof *view);
    sk_status status = sk_runtimes_look_for(models, n_models, pipelines, view, err);
    if (status == SK_OK && sk_args_flag(args, "json"))
        status = print_json(view, err);
    else if (status == SK_OK && sk_args_flag(args, "options"))
        print_options(view);
    else if (status == SK_OK)
        print_table(view);
    sk_free(view);
    return status;
}

const sk_command sk_command_runtimes = {
    .name = "runtimes",
    .summary = "list the compute runtimes that can be chosen here",
    .description =
        "With models, or several pipelines, only what all of them can use is allowed; for everything else "
        "the list "
        "says which pipeline or which probe excluded it. What a runtime computes in unless --precision says "
        "otherwise comes first; i8 is for models of 'skitter quantize'. docs/troubleshooting.md answers what "
        "to do then.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
