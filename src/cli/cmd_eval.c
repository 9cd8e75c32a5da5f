/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/eval_table.h"
#include "cli/shared_options.h"
#include "eval/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sk_operand operands[] = {{.name = "result",
                                       .kind = SK_OPTION_FILE,
                                       .help = "what was found: results.csv, results.jsonl, COCO JSON, a "
                                               ".slp, MOTChallenge text, the folder of a run, or a folder of "
                                               "Ultralytics' label text"},
                                      {.name = "truth",
                                       .kind = SK_OPTION_FILE,
                                       .help = "what is there, in any of these formats, or a data.yaml"},
                                      {0}};

static const sk_option options[] = {
    {SK_REAL("conf", "X", 0, 1), .letter = 'c', .fallback = "0",
     .help = "leave out detections with a confidence below this"},
    {SK_FLAG("any-class"), .help = "classes do not matter: an animal is an animal"},
    {SK_TEXT("sigmas", "LIST"), .fallback = "0.05",
     .help = "OKS: how far a keypoint may be off; one for all, one for each, or 'coco' for COCO's person"},
    {SK_TEXT("pck", "LIST"), .fallback = "0.05,0.1,0.2",
     .help = "parts of the body's length within which a keypoint counts as right"},
    {SK_TEXT("body", "A,B"),
     .help =
         "two keypoints whose distance is the body's length; without it the truth's 'length', the oriented "
         "box's long side or the farthest two keypoints"},
    {SK_REAL("min-visible", "X", 0, 1), .fallback = "0.3",
     .help = "truth of which less is seen need not be found, and is not wrong to find"},
    {SK_INT("max-det", "N", 1, 1000000),
     .help =
         "detections of a frame and class that count, best first; without it COCO's 100 boxes and 20 poses"},
    {SK_REAL("shift", "X", -10, 10), .fallback = "0",
     .help = "added to the result's keypoints; 0.5 where it counts from pixel centres (SLEAP) and the truth "
             "from edges"},
    {SK_REAL("distance", "PX", 1e-3, 1e6),
     .help = "tracks by their centres: this far apart, or more, is not similar at all, half of it by 0.5; "
             "without it a body's length"},
    {SK_FOLDER("plots", "FOLDER"),
     .help = "write the curves and the confusion matrix of 'yolo val' there, as SVG, and curves.json"},
    {SK_FLAG("covered"),
     .help = "measure only frames that the result has: for a run over part of the truth's"},
    {SK_TEXT("split", "NAME"), .fallback = "val",
     .help = "which pictures of a data.yaml: train, val or test"},
    {SK_FOLDER("images", "FOLDER"),
     .help = "where the pictures are that label text is about; without it a folder 'images' in place of "
             "'labels'"},
    SK_CLI_OPTION_JSON,
    {0}};

static const sk_example examples[] = {
    {"skitter eval run1 truth.csv", "a run of 'skitter predict' against a table"},
    {"skitter eval results.json person_keypoints_val.json --sigmas coco", "as COCO's evaluator does"},
    {"skitter eval run2/results.slp labels.slp --body head,abdomen", "poses against labels made in SLEAP"},
    {"skitter eval run1 dataset/data.yaml --plots plots",
     "against Ultralytics' labels, with what 'yolo val' draws"},
    {"skitter eval run1 truth.csv --json | jq .all.boxes.ap", "for programs"},
    {0}};

/* Numbers parted by commas, each within (0, most]. */
static sk_status parse_list(const char *option, const char *text, double most, double *out, int32_t capacity,
                            int32_t *count, sk_error *err)
{
    *count = 0;
    for (const char *at = text;;) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') || !(value > 0) || value > most)
            return sk_fail(err, SK_ERR_ARG, "--%s %s: numbers above 0 and up to %g, parted by commas", option,
                           text, most);
        if (*count == capacity)
            return sk_fail(err, SK_ERR_ARG, "--%s: at most %d numbers", option, capacity);
        out[(*count)++] = value;
        if (*end == '\0')
            return SK_OK;
        at = end + 1;
    }
}

#define MAX_SIGMAS 1024

static sk_status read_settings(const sk_args *args, sk_eval_settings *s, double *sigmas, char *body,
                               sk_error *err)
{
    s->confidence = sk_args_real(args, "conf");
    s->any_class = sk_args_flag(args, "any-class");
    s->min_visible = sk_args_real(args, "min-visible");
    s->covered_only = sk_args_flag(args, "covered");
    s->shift = sk_args_real(args, "shift");
    s->distance = sk_args_given(args, "distance") ? sk_args_real(args, "distance") : 0;
    if (sk_args_given(args, "max-det"))
        s->box_max_det = s->pose_max_det = (int32_t)sk_args_int(args, "max-det");
    SK_TRY(parse_list("pck", sk_args_text(args, "pck"), 10, s->pck, SK_EVAL_MAX_PCK, &s->n_pck, err));
    if (strcmp(sk_args_text(args, "sigmas"), "coco") == 0) {
        s->sigmas = sk_eval_coco_sigmas;
        s->n_sigmas = 17;
    } else {
        SK_TRY(parse_list("sigmas", sk_args_text(args, "sigmas"), 10, sigmas, MAX_SIGMAS, &s->n_sigmas, err));
        s->sigmas = sigmas;
    }
    if (body) {
        char *comma = strchr(body, ',');
        if (!comma || comma == body || !comma[1])
            return sk_fail(err, SK_ERR_ARG, "--body %s: two keypoints, parted by a comma", body);
        *comma = '\0';
        s->body_from = body;
        s->body_to = comma + 1;
    }
    return SK_OK;
}

static sk_status print_json(const sk_eval_report *report, sk_error *err)
{
    sk_json json = sk_json_to_file(stdout, 2);
    sk_eval_to_json(report, &json);
    return sk_json_end(&json, err);
}

/* Label text says less than any other file: what it is compared with is read first. */
static sk_status read_both(const sk_args *args, sk_annotation_set *result, sk_annotation_set *truth,
                           sk_error *err)
{
    const char *first = sk_args_text(args, "result"), *second = sk_args_text(args, "truth");
    sk_annotation_reading how = {.split = sk_args_text(args, "split"),
                                 .images = sk_args_text(args, "images")};
    bool truth_first = sk_annotations_are_labels(first);
    if (!truth_first) {
        SK_TRY(sk_annotations_read_as(first, &how, result, err));
        how.other = result;
    }
    SK_TRY(sk_annotations_read_as(second, &how, truth, err));
    if (truth_first) {
        how.other = truth;
        SK_TRY(sk_annotations_read_as(first, &how, result, err));
    }
    return SK_OK;
}

static sk_status write_plots(const sk_eval_report *report, const char *folder, sk_error *err)
{
    SK_TRY(sk_folder_make(folder, err));
    sk_status status = SK_OK;
    char name[64];
    sk_text svg = {0};
    for (int i = 0; status == SK_OK && sk_eval_plot(report, i, name, &svg); i++) {
        char *path = sk_path_join(folder, name);
        status = path ? sk_text_status(&svg, err) : sk_fail_memory(err, strlen(folder));
        if (status == SK_OK)
            status = sk_file_replace(path, sk_text_get(&svg), svg.length, err);
        sk_free(path);
        sk_text_clear(&svg);
    }
    sk_text_free(&svg);
    char *path = status == SK_OK ? sk_path_join(folder, "curves.json") : NULL;
    sk_file_writer *writer = NULL;
    if (path && (status = sk_file_writer_open(path, &writer, err)) == SK_OK) {
        sk_json json = sk_json_to_file(sk_file_writer_stream(writer), 0);
        sk_eval_curves_to_json(report, &json);
        status = sk_json_end(&json, err);
        if (status == SK_OK)
            status = sk_file_writer_commit(&writer, err);
    }
    sk_file_writer_close(&writer);
    sk_free(path);
    if (status == SK_OK)
        sk_cli_say("plots are in %s", folder);
    return status;
}

static sk_status run(const sk_args *args, sk_error *err)
{
    sk_eval_settings s;
    sk_eval_defaults(&s);
    sk_annotation_set result = {0}, truth = {0};
    sk_eval_report report = {0};
    double *sigmas = sk_calloc(MAX_SIGMAS, sizeof *sigmas);
    char *body = sk_args_text(args, "body") ? sk_strdup(sk_args_text(args, "body")) : NULL;
    sk_status status = SK_OK;
    if (!sigmas || (sk_args_text(args, "body") && !body)) {
        status = sk_fail_memory(err, MAX_SIGMAS * sizeof *sigmas);
        goto done;
    }
    SK_TRY_GOTO(read_settings(args, &s, sigmas, body, err));
    SK_TRY_GOTO(read_both(args, &result, &truth, err));
    SK_TRY_GOTO(sk_eval_run(&result, &truth, &s, &report, err));
    if (sk_args_text(args, "plots"))
        SK_TRY_GOTO(write_plots(&report, sk_args_text(args, "plots"), err));
    if (sk_args_flag(args, "json"))
        status = print_json(&report, err);
    else
        sk_cli_print_eval(&report);
done:
    sk_eval_free(&report);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
    sk_free(sigmas);
    sk_free(body);
    return status;
}

const sk_command sk_command_eval = {
    .name = "eval",
    .summary = "measure results against the truth",
    .description =
        "Precision, recall and average precision of boxes, oriented boxes (by the exact overlap of the "
        "turned "
        "rectangles) and poses (by COCO's keypoint similarity), the share of keypoints that are right (PCK), "
        "and "
        "their distance in pixels and in percent of the body's length; for every class and for all.\n\n"
        "The numbers equal those of COCO's evaluator on its definitions: all areas, 100 boxes or 20 poses a "
        "frame and "
        "class, precision at 101 recalls, thresholds 0.50 to 0.95. 'precision' and 'recall' are those of all "
        "detections in the file at an overlap of 0.5.\n\n"
        "Where both files have tracks: HOTA with DetA, AssA and LocA, MOTA, MOTP, IDF1, identity switches "
        "and "
        "fragments, by boxes, oriented boxes, centres and keypoints, equal to TrackEval's.\n\n"
        "Frames are paired by number, or by the picture's name where there are several sources; classes and "
        "keypoints by name, or by number where one side has no names. What could not be read or compared is "
        "said "
        "below the table. docs/eval.md defines every number.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .run = run,
};
