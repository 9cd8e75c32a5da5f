/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/precisions.h"
#include "cli/shared_options.h"
#include "models/quantised.h"
#include "ros/dds_api.h"

#include <stdio.h>
#include <string.h>

static const sk_operand operands[] = {{.name = "model",
                                       .kind = SK_OPTION_FILE,
                                       .optional = 1,
                                       .repeat = 1,
                                       .help = "models in eight bits: what they lost is told, too"},
                                      {0}};

static const sk_option options[] = {SK_CLI_OPTION_JSON, {0}};

static const sk_example examples[] = {
    {"skitter doctor", "which compute runtimes work here, and what would help"},
    {"skitter doctor --json", "the same for programs"},
    {"skitter doctor model.skq", "and what a model in eight bits lost"},
    {0}};

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

/* Who computes what it is made for; the others do with --precision f32. */
static void print_who_runs_it(const sk_quantised *q)
{
    sk_precision needed = SK_PRECISION_I8;
    int n = 0;
    if (strcmp(q->precision, "fp8") == 0)
        needed = SK_PRECISION_FP8;
    printf("%16scomputed in %s by ", "", sk_precision_name(needed));
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        if (sk_engine_can(sk_runtime_name((sk_runtime)i))->precisions & 1u << needed)
            printf("%s%s", n++ ? ", " : "", sk_runtime_name((sk_runtime)i));
    printf("%s; elsewhere --precision f32, with its rounded weights\n",
           needed == SK_PRECISION_FP8 ? " on GPUs of compute capability 8.9 and newer" : "");
}

/* Read before anything is printed: where one cannot be, nothing is. */
static sk_status read_models(const sk_args *args, sk_quantised *models, sk_error *err)
{
    for (size_t i = 0; i < sk_args_count(args, "model"); i++) {
        const char *path = sk_args_at(args, "model", i);
        bool is = false;
        if (!sk_file_exists(path))
            return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no such file or folder", path);
        SK_TRY(sk_quantised_look(path, &models[i], &is, err));
        if (!is)
            return sk_fail(err, SK_ERR_ARG,
                           "%s: is no model in eight bits (.skq); 'skitter info' tells of others", path);
    }
    return SK_OK;
}

/* Two lines a model in eight bits. */
static void print_models(const sk_args *args, const sk_quantised *models)
{
    char text[SK_QUANTISED_TEXT];
    for (size_t i = 0; i < sk_args_count(args, "model"); i++) {
        printf("%s%s: %s\n", i ? "" : "\n", sk_args_at(args, "model", i),
               sk_quantised_text(&models[i], text));
        print_who_runs_it(&models[i]);
    }
}

static void put_models(const sk_args *args, const sk_quantised *models, sk_json *j)
{
    sk_json_key_array(j, "models");
    for (size_t i = 0; i < sk_args_count(args, "model"); i++) {
        sk_json_object(j);
        sk_json_key_string(j, "path", sk_args_at(args, "model", i));
        sk_quantised_write(&models[i], j);
        sk_json_close(j);
    }
    sk_json_close(j);
}

static sk_status print_json(const sk_args *args, const sk_runtimes_view *view, const sk_quantised *models,
                            sk_error *err)
{
    sk_json j = sk_json_to_file(stdout, 2);
    sk_json_object(&j);
    sk_json_key_array(&j, "runtimes");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const sk_probe_row *row = &view->rows[i];
        sk_json_object(&j);
        sk_json_key_string(&j, "name", sk_runtime_name((sk_runtime)i));
        sk_json_key_string(&j, "label", sk_runtime_label((sk_runtime)i));
        sk_json_key_bool(&j, "available", row->available);
        sk_json_key_strings(&j, {"reason", row->reason}, {"remedy", text_or_null(row->remedy)},
                            {"library", text_or_null(row->library)}, {"version", text_or_null(row->version)});
        sk_json_key_array(&j, "devices");
        for (int32_t d = 0; d < row->n_devices; d++)
            sk_json_string(&j, row->devices[d]);
        sk_json_close(&j);
        const sk_capabilities can = sk_runtimes_can(view, (sk_runtime)i);
        sk_cli_json_precisions(&j, &can);
        sk_json_close(&j);
    }
    sk_json_close(&j);
    sk_error problem = {0};
    const bool dds = sk_dds_load(&problem) == SK_OK;
    sk_json_key_object(&j, "ros2");
    sk_json_key_bool(&j, "available", dds);
    sk_json_key_strings(&j, {"library", dds ? sk_dds.path : NULL}, {"reason", dds ? NULL : problem.message});
    sk_json_close(&j);
    if (sk_args_count(args, "model"))
        put_models(args, models, &j);
    sk_json_close(&j);
    return sk_json_end(&j, err);
}

/* What 'skitter node' needs. */
static void print_dds(const char *good, const char *dim, const char *end)
{
    sk_error problem = {0};
    const bool there = sk_dds_load(&problem) == SK_OK;
    printf("\n%s%-10s %-3s%s  %s\n", there ? good : dim, "ROS 2", there ? "yes" : "no", end,
           there ? "Cyclone DDS, for 'skitter node'" : problem.message);
    if (there)
        printf("%16s%s\n", "", sk_dds.path);
}

static void print_table(const sk_runtimes_view *view)
{
    const char *good = sk_cli_style(stdout, SK_STYLE_GREEN), *dim = sk_cli_style(stdout, SK_STYLE_DIM),
               *end = sk_cli_style(stdout, SK_STYLE_END);
    char precisions[SK_PRECISIONS_TEXT];
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const sk_probe_row *row = &view->rows[i];
        printf("%s%-10s %-3s%s  %s\n", row->available ? good : dim, sk_runtime_name((sk_runtime)i),
               row->available ? "yes" : "no", end,
               row->available ? sk_runtime_meaning((sk_runtime)i) : row->reason);
        if (row->available && row->library[0])
            printf("%16s%s, version %s\n", "", row->library, row->version[0] ? row->version : "not told");
        for (int32_t d = 0; d < row->n_devices; d++)
            printf("%16s%s\n", "", row->devices[d]);
        const sk_capabilities can = sk_runtimes_can(view, (sk_runtime)i);
        if (row->available)
            printf("%16scomputes in %s\n%16s%s\n", "", sk_cli_precisions(&can, precisions), "", row->reason);
        else if (row->remedy[0])
            printf("%16s-> %s\n", "", row->remedy);
    }
    print_dds(good, dim, end);
}

static sk_status run(const sk_args *args, sk_error *err)
{
    const size_t n = sk_args_count(args, "model");
    sk_runtimes_view *view = sk_calloc(1, sizeof *view);
    sk_quantised *models = sk_calloc(n + 1, sizeof *models);
    sk_status status = view && models ? SK_OK : sk_fail_memory(err, sizeof *view + (n + 1) * sizeof *models);
    if (status == SK_OK)
        status = read_models(args, models, err);
    if (status == SK_OK)
        sk_runtimes_look(0, true, view);
    if (status == SK_OK && sk_args_flag(args, "json"))
        status = print_json(args, view, models, err);
    else if (status == SK_OK) {
        print_table(view);
        print_models(args, models);
    }
    sk_free_all(view, models);
    return status;
}

const sk_command sk_command_doctor = {
    .name = "doctor",
    .summary = "test every compute runtime and say what would help",
    .description =
        "Each runtime's engine is loaded and made to compute a small convolution, in a process of its own "
        "with a time limit, so that a crashing or hanging driver only costs its row. Nothing is "
        "installed or changed.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
