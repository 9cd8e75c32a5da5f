/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/eval.h"

#include "base/memory.h"
#include "base/text.h"
#include "eval/classes.h"
#include "eval/keypoints.h"
#include "eval/tracks.h"
#include "tasks/overlap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_SIGMA 0.05
#define COCO_BOXES    100
#define COCO_POSES    20

const double sk_eval_coco_sigmas[17] = {.026, .025, .025, .035, .035, .079, .079, .072, .072,
                                        .062, .062, .107, .107, .087, .087, .089, .089};

void sk_eval_defaults(sk_eval_settings *settings)
{
    *settings = (sk_eval_settings){.min_visible = 0.3,
                                   .box_max_det = COCO_BOXES,
                                   .pose_max_det = COCO_POSES,
                                   .pck = {0.05, 0.1, 0.2},
                                   .n_pck = 3};
}

static double box_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                             bool crowd)
{
    (void)context;
    return sk_overlap_boxes(found->box, wanted->box, crowd);
}

static double obb_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                             bool crowd)
{
    (void)context;
    return sk_overlap_oriented(found->obb, wanted->obb, crowd);
}

typedef struct run {
    const sk_annotation_set *result, *truth;
    const sk_eval_settings *settings;
    sk_pairing pairing;
    sk_eval_report *report;
    sk_keypoint_task points;
    sk_precision_result box, obb, pose;
} run;

static void add_notes(sk_text *to, const char *prefix, const char *lines)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        sk_text_appendf(to, "%s%.*s\n", prefix, (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

/* --- what is compared, and what not --- */

/* A frame that the result does not have was empty for it, or was never looked at; only its maker knows. */
static void note_coverage(run *r)
{
    size_t all = r->truth->n_images, has = r->report->covered;
    sk_text *notes = &r->report->notes;
    if (r->settings->covered_only)
        sk_text_appendf(notes, "only the %zu of the truth's %zu frames that the result has were measured\n",
                        has, all);
    else
        sk_text_appendf(notes,
                        "the result has %zu of the truth's %zu frames%s; in the other %zu everything counts "
                        "as missed. If "
                        "they were never looked at, recall and average precision are too low: --covered "
                        "leaves them out\n",
                        has, all, r->result->every_frame ? "" : " (it lists only frames with detections)",
                        all - has);
}

/* The share of upright boxes that are those around the oriented ones. */
static double around_share(const sk_annotation_set *set)
{
    size_t both = 0, around = 0;
    for (size_t i = 0; i < set->n_items; i++) {
        const sk_annotation *a = &set->items[i];
        if ((a->has & (SK_HAS_BOX | SK_HAS_OBB)) != (SK_HAS_BOX | SK_HAS_OBB))
            continue;
        const double c = fabs(cos(a->obb[4])), s = fabs(sin(a->obb[4]));
        const double w = a->obb[2] * c + a->obb[3] * s, h = a->obb[2] * s + a->obb[3] * c;
        both++;
        around += fabs(w - a->box[2]) <= 0.02 * w && fabs(h - a->box[3]) <= 0.02 * h;
    }
    return both ? (double)around / (double)both : 0;
}

/* Models of oriented boxes have no other upright ones than those around them. */
static void note_upright(run *r)
{
    const uint32_t both = SK_HAS_BOX | SK_HAS_OBB;
    if ((r->result->has & r->truth->has & both) == both && around_share(r->result) > 0.5 &&
        around_share(r->truth) < 0.5)
        sk_text_append(&r->report->notes,
                       "'boxes': the result's upright boxes are those around its oriented ones, and wider "
                       "than the truth's, which are around the animals; 'oriented boxes' says how good it "
                       "is\n");
}

static void note_left_out(run *r)
{
    sk_text *notes = &r->report->notes;
    add_notes(notes, "result: ", sk_text_get(&r->result->notes));
    add_notes(notes, "truth: ", sk_text_get(&r->truth->notes));
    add_notes(notes, "", sk_text_get(&r->pairing.notes));
    size_t frames = 0, detections = 0;
    for (size_t i = 0; i < r->result->n_images; i++)
        frames += r->pairing.image[i] < 0;
    for (size_t i = 0; i < r->result->n_items; i++)
        detections += r->pairing.image[r->result->items[i].image] < 0;
    if (detections)
        sk_text_appendf(notes, "%zu detections in %zu frames that the truth does not list were left out%s\n",
                        detections, frames,
                        r->truth->every_frame
                            ? ""
                            : " (a CSV lists only frames with a row, unless a comment in it says "
                              "'; frames N;')");
    if (r->report->covered < r->truth->n_images && r->result->n_items)
        note_coverage(r);
    if (r->result->unscored && r->result->n_items)
        sk_text_append(
            notes, "the result gives no confidences: all detections count alike, so average precisions say "
                   "little more than precision and recall\n");
    static const struct {
        uint32_t has;
        const char *what;
    } kinds[] = {{SK_HAS_BOX, "boxes"}, {SK_HAS_OBB, "oriented boxes"}, {SK_HAS_KEYPOINTS, "keypoints"}};
    for (size_t i = 0; i < 3; i++)
        if ((r->result->has ^ r->truth->has) & kinds[i].has)
            sk_text_appendf(notes, "%s are not compared: the %s has none\n", kinds[i].what,
                            r->result->has & kinds[i].has ? "truth" : "result");
    note_upright(r);
}

static sk_status find_body(run *r, const char *name, int32_t *out, sk_error *err)
{
    *out = -1;
    if (!name)
        return SK_OK;
    for (int32_t k = 0; k < r->truth->n_keypoints && r->truth->keypoint_names; k++)
        if (strcmp(r->truth->keypoint_names[k], name) == 0)
            *out = k;
    return *out >= 0 ? SK_OK
                     : sk_fail(err, SK_ERR_ARG,
                               "the truth has no keypoint called '%s' to measure the body by", name);
}

static sk_status prepare_points(run *r, sk_error *err)
{
    int32_t n = r->pairing.n_keypoints;
    const sk_eval_settings *s = r->settings;
    r->points =
        (sk_keypoint_task){.result = r->result, .truth = r->truth, .pairing = &r->pairing, .settings = s};
    r->points.sigmas = sk_calloc((size_t)n + 1, sizeof(double));
    if (!r->points.sigmas)
        return sk_fail_memory(err, (size_t)n * sizeof(double));
    if (s->n_sigmas > 1 && s->n_sigmas != n)
        return sk_fail(err, SK_ERR_ARG, "%d sigmas for %d keypoints; give one for all, or one for each",
                       s->n_sigmas, n);
    for (int32_t k = 0; k < n; k++)
        r->points.sigmas[k] = s->n_sigmas == 0 ? DEFAULT_SIGMA : s->sigmas[s->n_sigmas == 1 ? 0 : k];
    SK_TRY(find_body(r, s->body_from, &r->points.body_from, err));
    return find_body(r, s->body_to, &r->points.body_to, err);
}

static sk_status name_rows(run *r, sk_error *err)
{
    sk_eval_report *report = r->report;
    report->n_classes = (size_t)r->pairing.n_classes;
    report->n_keypoints = r->pairing.n_keypoints;
    report->classes = sk_calloc(report->n_classes + 1, sizeof *report->classes);
    report->keypoints = sk_calloc((size_t)report->n_keypoints + 1, sizeof *report->keypoints);
    if (!report->classes || !report->keypoints)
        return sk_fail_memory(err, (report->n_classes + 1) * sizeof *report->classes);
    snprintf(report->all.name, sizeof report->all.name, "all");
    for (size_t c = 0; c < report->n_classes; c++)
        sk_text_shorten(r->pairing.class_names[c], report->classes[c].name, sizeof report->classes[c].name);
    for (int32_t k = 0; k < report->n_keypoints; k++)
        sk_text_shorten(r->pairing.keypoint_names[k], report->keypoints[k].name,
                        sizeof report->keypoints[k].name);
    return SK_OK;
}

/* --- measuring --- */

static sk_precision_task task_for(const run *r, uint32_t has, sk_similarity similarity)
{
    bool pose = has == SK_HAS_KEYPOINTS;
    return (sk_precision_task){.result = r->result,
                               .truth = r->truth,
                               .pairing = &r->pairing,
                               .similarity = similarity,
                               .context = &r->points,
                               .has = has,
                               .max_det = pose ? r->settings->pose_max_det : r->settings->box_max_det,
                               .confidence = r->settings->confidence,
                               .min_visible = r->settings->min_visible,
                               .need_labels = pose};
}

/* COCO's figures, and Ultralytics'. */
static sk_status score(run *r, uint32_t has, sk_similarity similarity, sk_similarity yolo,
                       sk_precision_result *out, sk_yolo_score *yolo_out, sk_error *err)
{
    sk_precision_task task = task_for(r, has, similarity);
    SK_TRY(sk_precision_run(&task, out, err));
    task.similarity = yolo;
    task.need_labels = false;
    if (task.max_det == COCO_BOXES || task.max_det == COCO_POSES)
        task.max_det = INT32_MAX; /* nobody asked for less than the file has */
    return sk_yolo_score_run(&task, yolo_out, err);
}

static sk_status confuse(run *r, sk_error *err)
{
    bool turned = r->report->compared & SK_HAS_OBB;
    sk_precision_task task =
        task_for(r, turned ? SK_HAS_OBB : SK_HAS_BOX, turned ? sk_yolo_obb_similarity : box_similarity);
    return sk_confusion_run(&task, &r->report->confusion, err);
}

static const char *length_source(const run *r)
{
    if (r->settings->body_from)
        return "the distance of two keypoints";
    for (size_t i = 0; i < r->truth->n_items; i++)
        if (!isnan(r->truth->items[i].length))
            return "the truth's column 'length'";
    return r->truth->has & SK_HAS_OBB ? "the oriented box's long side" : "the farthest two keypoints";
}

static sk_status measure_points(run *r, sk_error *err)
{
    sk_eval_match *own = NULL;
    const sk_eval_match *matches = NULL;
    size_t count = 0;
    sk_status status = SK_OK;
    if (r->report->compared & SK_HAS_OBB) {
        matches = r->obb.matches;
        count = r->obb.n_matches;
        r->report->matched = "oriented boxes that overlap by half";
    } else if (r->report->compared & SK_HAS_BOX) {
        matches = r->box.matches;
        count = r->box.n_matches;
        r->report->matched = "boxes that overlap by half";
    } else {
        SK_TRY_GOTO(sk_keypoint_match(&r->points, &own, &count, err));
        matches = own;
        r->report->matched = "the nearest pose within half a body's length";
    }
    r->report->length = length_source(r);
    status = sk_keypoint_errors(&r->points, matches, count, r->report, err);
done:
    sk_free(own);
    return status;
}

static sk_status measure(run *r, sk_error *err)
{
    sk_eval_report *report = r->report;
    report->compared = r->result->has & r->truth->has;
    if (!r->pairing.n_keypoints)
        report->compared &= ~SK_HAS_KEYPOINTS;
    if (r->result->n_items == 0) /* nothing was found: everything the truth has was missed */
        report->compared = r->truth->has & ~(r->pairing.n_keypoints ? 0 : SK_HAS_KEYPOINTS);
    report->compared &= SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS; /* places alone are compared as tracks */
    if (report->compared & SK_HAS_BOX)
        SK_TRY(score(r, SK_HAS_BOX, box_similarity, box_similarity, &r->box, &report->yolo_box, err));
    if (report->compared & SK_HAS_OBB)
        SK_TRY(score(r, SK_HAS_OBB, obb_similarity, sk_yolo_obb_similarity, &r->obb, &report->yolo_obb, err));
    if (report->compared & SK_HAS_KEYPOINTS) {
        SK_TRY(score(r, SK_HAS_KEYPOINTS, sk_keypoint_similarity, sk_yolo_pose_similarity, &r->pose,
                     &report->yolo_pose, err));
        SK_TRY(measure_points(r, err));
    }
    if (report->compared & (SK_HAS_BOX | SK_HAS_OBB))
        SK_TRY(confuse(r, err));
    SK_TRY(sk_tracks_run(r->result, r->truth, &r->pairing, r->settings, &r->points, report, err));
    report->all.box = r->box.all;
    report->all.obb = r->obb.all;
    report->all.pose = r->pose.all;
    for (size_t c = 0; c < report->n_classes; c++) {
        if (r->box.classes)
            report->classes[c].box = r->box.classes[c];
        if (r->obb.classes)
            report->classes[c].obb = r->obb.classes[c];
        if (r->pose.classes)
            report->classes[c].pose = r->pose.classes[c];
    }
    return SK_OK;
}

/* Counts the frames the result has; leaves the others' truth out where that is wished. */
static sk_status cover(run *r, sk_annotation_set *own, sk_error *err)
{
    bool *has = sk_calloc(r->truth->n_images + 1, sizeof *has);
    if (!has)
        return sk_fail_memory(err, r->truth->n_images);
    sk_status status = SK_OK;
    for (size_t i = 0; i < r->result->n_images; i++)
        if (r->pairing.image[i] >= 0)
            has[r->pairing.image[i]] = true;
    for (size_t i = 0; i < r->truth->n_images; i++)
        r->report->covered += has[i];
    if (r->settings->covered_only && r->report->covered < r->truth->n_images) {
        *own = *r->truth;
        own->items = sk_calloc(r->truth->n_items + 1, sizeof *own->items);
        own->n_items = 0;
        if (!own->items)
            status = sk_fail_memory(err, r->truth->n_items * sizeof *own->items);
        for (size_t i = 0; own->items && i < r->truth->n_items; i++)
            if (has[r->truth->items[i].image])
                own->items[own->n_items++] = r->truth->items[i];
        r->truth = own;
    }
    sk_free(has);
    return status;
}

sk_status sk_eval_run(const sk_annotation_set *result, const sk_annotation_set *truth,
                      const sk_eval_settings *settings, sk_eval_report *out, sk_error *err)
{
    SK_CHECK_ARG(result && truth && settings && out, err);
    SK_CHECK_ARG(settings->n_pck >= 0 && settings->n_pck <= SK_EVAL_MAX_PCK, err);
    *out = (sk_eval_report){.frames = truth->n_images, .n_pck = settings->n_pck};
    memcpy(out->pck, settings->pck, sizeof out->pck);
    run r = {.result = result, .truth = truth, .settings = settings, .report = out};
    sk_annotation_set own = {0}; /* the truth with fewer items, if some are left out */
    sk_status status = SK_OK;
    if (truth->n_items == 0) {
        status = sk_fail(err, SK_ERR_FORMAT, "the truth holds no animal to compare with");
        goto done;
    }
    SK_TRY_GOTO(sk_pairing_open(result, truth, settings->any_class, &r.pairing, err));
    SK_TRY_GOTO(cover(&r, &own, err));
    SK_TRY_GOTO(prepare_points(&r, err));
    SK_TRY_GOTO(name_rows(&r, err));
    if (truth->has == 0)
        SK_TRY_GOTO(sk_eval_classes(result, r.truth, &r.pairing, out, err));
    else
        SK_TRY_GOTO(measure(&r, err));
    note_left_out(&r);
    bool tracks = out->tracks[SK_TRACKS_POINT].measured;
    if (!out->compared && !out->classified && !tracks)
        status =
            sk_fail(err, SK_ERR_MISMATCH, "the result and the truth have nothing in common to compare\n%s",
                    sk_text_get(&out->notes));
    else
        status = sk_text_status(&out->notes, err);
done:
    sk_precision_free(&r.box);
    sk_precision_free(&r.obb);
    sk_precision_free(&r.pose);
    sk_free(r.points.sigmas);
    sk_free(own.items);
    sk_pairing_free(&r.pairing);
    if (status != SK_OK)
        sk_eval_free(out);
    return status;
}

void sk_eval_free(sk_eval_report *report)
{
    sk_yolo_score_free(&report->yolo_box);
    sk_yolo_score_free(&report->yolo_obb);
    sk_yolo_score_free(&report->yolo_pose);
    sk_confusion_free(&report->confusion);
    for (int i = 0; i < SK_TRACKS_KINDS; i++)
        sk_free(report->tracks[i].classes);
    sk_free(report->classes);
    sk_free(report->keypoints);
    sk_text_free(&report->notes);
    *report = (sk_eval_report){0};
}
