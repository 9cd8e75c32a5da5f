/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/batch_actions.h"
#include "cli/batch_run.h"
#include "cli/command.h"
#include "cli/predict_options.h"
#include "cli/track_settings.h"

static const sk_operand operands[] = {{.name = "what",
                                       .kind = SK_OPTION_FILE,
                                       .optional = 1,
                                       .repeat = 1,
                                       .help = "a plan (YAML), to run it; or status, merge, cancel or work, "
                                               "and the folder of the results or a plan"},
                                      {0}};

static const sk_option options[] = {
    {SK_FILE("videos", "WHICH"), .repeat = 1, .help = "videos, folders or 'patterns' of them, a list.txt"},
    {SK_CHOICE("command", "WHICH", "track|predict"), .fallback = "track", .help = "what is done with each"},
    {SK_FOLDER("out", "DIR"), .letter = 'o', .help = "folder for the results, one in it for each video"},
    {SK_INT("workers", "N", 0, 512), .letter = 'w', .fallback = "0",
     .help = "pieces at once, each a process; 0: one for each of --devices, or one. With --slurm at most so "
             "many tasks "
             "at a time; 0: as many as SLURM runs"},
    {SK_INT("split", "FRAMES", 0, 1000000000), .fallback = "0",
     .help = "videos longer than this are found in parts of so many frames, and told as one; 0: videos stay "
             "whole"},
    {SK_INT("retries", "N", 0, 100), .fallback = "2", .help = "how often a piece that failed is tried again"},
    {SK_INT("losses", "N", 0, 1000), .fallback = "20",
     .help = "how often one that was preempted, stopped or lost its machine is"},
    {SK_FLAG("slurm"), .help = "as an array of SLURM tasks, looked after until all are done"},
    {SK_TEXT("partition", "NAME"), .help = "SLURM: --partition"},
    {SK_TEXT("time", "LIMIT"), .help = "SLURM: --time of a task, such as 02:00:00"},
    {SK_TEXT("gpus", "N"), .help = "SLURM: GPUs of a task, --gres=gpu:N; also a100:1"},
    {SK_TEXT("memory", "SIZE"), .help = "SLURM: --mem of a task, such as 8G"},
    {SK_TEXT("cpus", "N"), .help = "SLURM: --cpus-per-task"},
    {SK_TEXT("module", "NAME"), .repeat = 1,
     .help = "SLURM: a module to load first, or a line of shell (with a blank in it)"},
    {SK_TEXT("sbatch", "OPTION"), .repeat = 1,
     .help = "SLURM: one more option of sbatch, such as --account=lab"},
    {SK_INT("pieces-per-task", "N", 0, 10000000), .fallback = "0",
     .help = "SLURM: pieces that one task does, one after the other; 0: one, or as many as the longest array "
             "needs"},
    {SK_FLAG("detach"), .help = "SLURM: hand over and return; a job behind the others merges and sums up"},
    {SK_FLAG("dry-run"), .help = "list pieces and their commands, and do nothing"},
    {SK_FLAG("prepare"), .help = "write the list of pieces, and run none: for 'skitter batch work --pieces'"},
    {SK_FLAG("restart"), .help = "remove what a batch left in the folder, results too, and begin anew"},
    {SK_FLAG("watch"), .help = "status: until all is done, drawn anew"},
    {SK_FLAG("json"), .help = "status as one JSON object on standard output"},
    {SK_TEXT("pieces", "LIST"), .help = "work: these pieces, by number: 0-9,12"},
    {SK_INT("submission", "N", 1, 100000),
     .help = "work: those of this SLURM task; for the script that skitter writes"},
    {SK_FILE("model", "M"), .letter = 'm', .repeat = 1,
     .help = "what finds the animals; a second one looks at crops"},
    SK_CLI_OPTIONS_TRACK,
    {SK_TEXT("format", "LIST"), .letter = 'f', .help = "result files, as of the command"},
    SK_CLI_OPTIONS_OVERLAY,
    {SK_FLAG("save-crops"), .help = "predict: also a picture of every instance"},
    {SK_FLAG("no-empty"), .help = "leave frames without animals out of jsonl, slp and coco"},
    SK_CLI_OPTIONS_RUNTIME,
    SK_CLI_OPTIONS_FOUND(NULL),
    SK_CLI_OPTIONS_SOURCE,
    {SK_FLAG("strict"), .help = "a picture that cannot be read ends its piece"},
    {SK_CHOICE("obb-form", "FORM", "long-side|quarter"), .needs = SK_NEEDS_OBB,
     .help = "oriented boxes: w >= h and an angle below 180 degrees, or an angle below 90"},
    {SK_FLAG("no-winograd"), .needs = SK_NEEDS_CPU, .help = "cpu: direct convolutions only"},
    {0}};

static const sk_example examples[] = {
    {"skitter batch plan.yaml", "a list of videos and one configuration, here"},
    {"skitter batch --videos 'data/*.mp4' -m model.pt --animals 4 -o results --workers 2",
     "the same without a plan"},
    {"skitter batch plan.yaml --slurm --partition gpu --gpus 1 --time 02:00:00", "on a cluster"},
    {"skitter batch status results --watch", "how far it is"},
    {"skitter batch cancel results", "stops it, wherever it runs; the same command goes on"},
    {0}};

static sk_status run(const sk_args *args, sk_error *err)
{
    const size_t n = sk_args_count(args, "what");
    const char *first = n ? sk_args_at(args, "what", 0) : NULL;
    const bool acts = first && sk_cli_batch_is_action(first);
    if (n > (acts ? 2 : 1))
        return sk_fail(err, SK_ERR_ARG,
                       "'%s': one plan, or one of status, cancel, merge and work, and the batch's folder",
                       sk_args_at(args, "what", n - 1));
    if (!acts)
        return sk_cli_batch_begin(args, first, err);
    return sk_cli_batch_act(first, args, n > 1 ? sk_args_at(args, "what", 1) : NULL, err);
}

const sk_command sk_command_batch = {
    .name = "batch",
    .summary = "many videos by one configuration, on this machine or on a cluster",
    .description =
        "A list of videos and one configuration become pieces, a video each or some frames of a long one. "
        "Each is done by a "
        "process of its own, here or as a task of SLURM; those that fail or are lost are tried again. "
        "Nothing is done twice: "
        "after Ctrl-C, a crash or the loss of a machine the same command goes on. The results are the bytes "
        "of one run over "
        "all videos; summary.html and summary.csv tell of all.\n\n"
        "A plan is YAML whose keys are the options of this command and of track or predict; docs/batch.md.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
