/* SPDX-License-Identifier: Apache-2.0 */
#include "app/artifacts.h"
#include "app/inference_cache.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/artifact_table.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/shared_options.h"

#include <stdio.h>
#include <string.h>

#define MOST_PLACES 256

static const sk_operand operands[] = {
    {.name = "action",
     .kind = SK_OPTION_CHOICE,
     .choices = "list|verify|clean",
     .optional = 1,
     .help = "what to do; list without it"},
    {.name = "place",
     .kind = SK_OPTION_FILE,
     .optional = 1,
     .repeat = 1,
     .help = "models, artifacts or folders; all that this user made without it"},
    {0}};

static const sk_option options[] = {{SK_FLAG("all"), .help = "clean: also those that are fresh"},
                                    {SK_FLAG("dry-run"), .help = "clean: say what would go, and leave it"},
                                    SK_CLI_OPTION_JSON,
                                    {0}};

static const sk_example examples[] = {
    {"skitter artifacts", "what was made, for which model and size"},
    {"skitter artifacts verify models/", "are they whole, and made from the models that lie there now?"},
    {"skitter artifacts clean", "takes away what is stale, damaged, or without its model"},
    {"skitter artifacts clean --all yolo11n.pt", "everything made from one model"},
    {0}};

typedef struct outcome {
    int32_t useless, removed, failed;
    int64_t freed;
} outcome;

/* What becomes of a row; null when it only is shown. */
static const char *clean_row(const sk_artifact_row *r, bool all, bool dry, outcome *o)
{
    sk_error err = {0};
    if (!dry)
        sk_artifact_sweep(r->path);
    if (r->state == SK_ARTIFACT_USER ||
        (!all && (r->record.exported || r->unread || !sk_artifacts_useless(r))))
        return "kept"; /* somebody else's; a person's own export; one whose model may be being saved right now */
    if (!dry && sk_artifact_remove(r, &err) != SK_OK) {
        sk_cli_warn("%s", err.message);
        o->failed++;
        return "kept";
    }
    o->removed++;
    o->freed += r->bytes;
    return dry ? "would go" : "removed";
}

static sk_status conclude(const char *action, int32_t count, const outcome *o, bool json, sk_error *err)
{
    char size[SK_TEXT_UNIT];
    if (strcmp(action, "clean") == 0 && !json && sk_cli_verbosity() > 0)
        printf("%d of %d, %s\n", o->removed, count, sk_text_bytes((double)o->freed, size, sizeof size));
    else if (count == 0 && !json && sk_cli_verbosity() > 0)
        printf("no artifacts\n");
    if (o->failed)
        return sk_fail(err, SK_ERR_IO, "%d could not be removed", o->failed);
    if (strcmp(action, "verify") == 0 && o->useless)
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%d of %d cannot be used as they are\nruns make their own anew and leave yours alone: 'skitter "
            "export --overwrite' makes an export anew, 'skitter artifacts clean' takes away what runs made",
            o->useless, count);
    return SK_OK;
}

/* What was found in videos; only where no place is named. */
static sk_status look_at_caches(const sk_args *args, bool clean, sk_json *json, outcome *o, int32_t *count,
                                sk_error *err)
{
    sk_inference_row *rows = NULL;
    size_t n = 0;
    const bool dry = sk_args_flag(args, "dry-run");
    SK_TRY(sk_inference_cache_list(NULL, &rows, &n, err));
    for (size_t i = 0; i < n; i++) {
        sk_error problem = {0};
        char size[SK_TEXT_UNIT];
        const bool goes = clean && sk_args_flag(args, "all") &&
                          (dry || sk_inference_cache_remove(rows[i].path, &problem) == SK_OK);
        const char *state = rows[i].complete ? "found" : "begun";
        const char *did = !clean ? state : !goes ? "kept" : dry ? "would go" : "removed";
        o->removed += goes;
        o->freed += goes ? rows[i].bytes : 0;
        if (json) {
            sk_json_object(json);
            sk_json_key_strings(json, {"path", rows[i].path}, {"video", rows[i].name}, {"state", state});
            sk_json_key_int(json, "bytes", rows[i].bytes);
            if (clean)
                sk_json_key_string(json, "done", did);
            sk_json_close(json);
        } else {
            printf("%-10s %-18s %9s  %s: what was found in %s\n", did, "",
                   sk_text_bytes((double)rows[i].bytes, size, sizeof size), rows[i].path, rows[i].name);
        }
    }
    *count += (int32_t)n;
    sk_inference_cache_list_free(rows, n);
    return SK_OK;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    const char *action = sk_args_text(args, "action"), *places[MOST_PLACES];
    action = action ? action : "list";
    bool clean = strcmp(action, "clean") == 0, json = sk_args_flag(args, "json");
    bool deep = strcmp(action, "list") != 0;
    int32_t n_places = 0, count = 0;
    sk_artifact_row *rows = NULL;
    outcome o = {0};
    if (sk_args_count(args, "place") > MOST_PLACES)
        return sk_fail(err, SK_ERR_ARG, "at most %d places at a time", MOST_PLACES);
    for (size_t i = 0; i < sk_args_count(args, "place"); i++)
        places[n_places++] = sk_args_at(args, "place", i);
    SK_TRY(sk_artifacts_list(places, n_places, deep, &rows, &count, err));
    sk_json j = sk_json_to_file(stdout, 2);
    if (json) {
        sk_json_object(&j);
        sk_json_key_array(&j, "artifacts");
    }
    for (int32_t i = 0; i < count; i++) {
        o.useless += sk_artifacts_useless(&rows[i]);
        const char *did =
            clean ? clean_row(&rows[i], sk_args_flag(args, "all"), sk_args_flag(args, "dry-run"), &o) : NULL;
        if (json)
            sk_cli_print_artifact_json(&j, &rows[i], did);
        else
            sk_cli_print_artifact(&rows[i], did);
    }
    sk_free(rows);
    if (json) {
        sk_json_close(&j);
        sk_json_key_array(&j, "inference");
    }
    if (n_places == 0 && strcmp(action, "verify") != 0)
        SK_TRY(look_at_caches(args, clean, json ? &j : NULL, &o, &count, err));
    if (json) {
        sk_json_close(&j);
        sk_json_close(&j);
        SK_TRY(sk_json_end(&j, err));
    }
    return conclude(action, count, &o, json, err);
}

const sk_command sk_command_artifacts = {
    .name = "artifacts",
    .summary = "look after the model files that runtimes made",
    .description =
        "Runtimes such as onnx_cpu, openvino and tensorrt run files of their own, which skitter makes beside "
        "the "
        "model (model.pt: model.onnx, model.engine; a folder: folder.onnx/, folder.tensorrt/) or, where that "
        "cannot be, in the user's cache folder. verify reads them whole and ends with 1 when one is damaged, "
        "stale "
        "or without its model; beside a MODEL it also asks files without a record, or with one that is not "
        "this "
        "user's, whether they compute what the model computes. clean takes away what runs made; your own "
        "exports "
        "only with --all, files that skitter did not make never. What 'track' found in videos and keeps is "
        "listed "
        "behind them, and goes with clean --all.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
