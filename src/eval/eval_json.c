/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracks.h"

#include <string.h>

static void json_ratio(sk_json *json, const char *key, double value)
{
    sk_json_key(json, key);
    if (value < 0)
        sk_json_null(json); /* nothing to divide by */
    else
        sk_json_double(json, value);
}

static void score_to_json(const sk_eval_score *s, const char *key, sk_json *json)
{
    sk_json_key_object(json, key);
    sk_json_key_ints(json, {"wanted", s->wanted}, {"ignored", s->ignored}, {"found", s->found},
                     {"right", s->right}, {"wrong", s->wrong}, {"missed", s->missed});
    json_ratio(json, "precision", s->precision);
    json_ratio(json, "recall", s->recall);
    json_ratio(json, "f1", s->f1);
    json_ratio(json, "ap", s->ap);
    json_ratio(json, "ap50", s->ap50);
    json_ratio(json, "ap75", s->ap75);
    json_ratio(json, "ar", s->ar);
    json_ratio(json, "best_f1", s->best_f1);
    json_ratio(json, "best_confidence", s->best_confidence);
    sk_json_close(json);
}

static void errors_to_json(const sk_eval_report *r, const sk_eval_errors *e, sk_json *json)
{
    sk_json_key_object(json, "keypoints");
    sk_json_key_int(json, "wanted", e->wanted);
    sk_json_key_int(json, "measured", e->measured);
    json_ratio(json, "median_px", e->median);
    json_ratio(json, "mean_px", e->mean);
    json_ratio(json, "p90_px", e->p90);
    json_ratio(json, "median_percent", e->median_percent);
    json_ratio(json, "mean_percent", e->mean_percent);
    json_ratio(json, "p90_percent", e->p90_percent);
    sk_json_key_object(json, "pck");
    for (int32_t k = 0; k < r->n_pck; k++) {
        char name[SK_TEXT_NUMBER];
        json_ratio(json, sk_text_number(r->pck[k], 6, name, sizeof name), e->pck[k]);
    }
    sk_json_close(json);
    sk_json_close(json);
}

static void row_to_json(const sk_eval_report *r, const sk_eval_row *row, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", row->name);
    if (r->compared & SK_HAS_BOX)
        score_to_json(&row->box, "boxes", json);
    if (r->compared & SK_HAS_OBB)
        score_to_json(&row->obb, "oriented_boxes", json);
    if (r->compared & SK_HAS_KEYPOINTS) {
        score_to_json(&row->pose, "oks", json);
        errors_to_json(r, &row->points, json);
    }
    sk_json_close(json);
}

static void yolo_row_to_json(const char *name, const sk_yolo_row *row, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", name);
    sk_json_key_int(json, "images", row->images);
    sk_json_key_int(json, "instances", row->instances);
    json_ratio(json, "precision", row->precision);
    json_ratio(json, "recall", row->recall);
    json_ratio(json, "map50", row->ap50);
    json_ratio(json, "map50_95", row->ap);
    sk_json_close(json);
}

static void yolo_to_json(const sk_eval_report *r, const char *key, const sk_yolo_score *s, sk_json *json)
{
    if (!s->measured)
        return;
    sk_json_key_object(json, key);
    json_ratio(json, "confidence", s->confidence);
    sk_json_key(json, "all");
    yolo_row_to_json("all", &s->all, json);
    sk_json_key_array(json, "classes");
    for (int32_t c = 0; c < s->n_classes; c++)
        if (s->classes[c].instances > 0)
            yolo_row_to_json(r->classes[c].name, &s->classes[c], json);
    sk_json_close(json);
    sk_json_close(json);
}

static void confusion_to_json(const sk_eval_report *r, sk_json *json)
{
    const sk_confusion *c = &r->confusion;
    if (!c->n_classes)
        return;
    sk_json_key_object(json, "confusion_matrix");
    sk_json_key_string(json, "of",
                       r->classified              ? "pictures"
                       : r->compared & SK_HAS_OBB ? "oriented_boxes"
                                                  : "boxes");
    sk_json_key_array(json, "names");
    for (int32_t i = 0; i < c->n_classes; i++)
        sk_json_string(json, r->classes[i].name);
    sk_json_string(json, "background");
    sk_json_close(json);
    sk_json_key_array(json, "found_by_true");
    for (int32_t i = 0; i <= c->n_classes; i++) {
        sk_json_array(json);
        for (int32_t k = 0; k <= c->n_classes; k++)
            sk_json_int(json, c->counts[(size_t)i * ((size_t)c->n_classes + 1) + (size_t)k]);
        sk_json_close(json);
    }
    sk_json_close(json);
    sk_json_close(json);
}

static void curve_to_json(const char *key, const sk_yolo_score *s, int32_t class_id, int which, sk_json *json)
{
    sk_json_key_array(json, key);
    for (int i = 0; i < SK_YOLO_POINTS; i++)
        sk_json_double(json, sk_yolo_curve(s, class_id, which, i));
    sk_json_close(json);
}

void sk_eval_curves_to_json(const sk_eval_report *r, sk_json *json)
{
    static const char *const keys[] = {"precision_by_recall", "f1_by_confidence", "precision_by_confidence",
                                       "recall_by_confidence"};
    const struct {
        const char *key;
        const sk_yolo_score *score;
    } kinds[] = {{"boxes", &r->yolo_box}, {"oriented_boxes", &r->yolo_obb}, {"oks", &r->yolo_pose}};
    sk_json_object(json);
    sk_json_key_string(json, "points", "1000 from 0 to 1, of recall or of confidence");
    for (int i = 0; i < 3; i++) {
        if (!kinds[i].score->measured)
            continue;
        sk_json_key_array(json, kinds[i].key);
        for (int32_t c = 0; c < kinds[i].score->n_classes; c++) {
            if (kinds[i].score->classes[c].instances == 0)
                continue;
            sk_json_object(json);
            sk_json_key_string(json, "name", r->classes[c].name);
            for (int which = 0; which < 4; which++)
                curve_to_json(keys[which], kinds[i].score, c, which, json);
            sk_json_close(json);
        }
        sk_json_close(json);
    }
    sk_json_close(json);
}

void sk_eval_to_json(const sk_eval_report *r, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_int(json, "frames", (int64_t)r->frames);
    sk_json_key_int(json, "frames_in_result", (int64_t)r->covered);
    if (r->classified) {
        sk_json_key_object(json, "classification");
        sk_json_key_int(json, "pictures", r->classified);
        json_ratio(json, "top1", r->top1);
        json_ratio(json, "top5", r->top5);
        sk_json_close(json);
    }
    sk_json_key(json, "all");
    row_to_json(r, &r->all, json);
    sk_json_key_array(json, "classes");
    for (size_t c = 0; c < r->n_classes; c++)
        row_to_json(r, &r->classes[c], json);
    sk_json_close(json);
    sk_json_key_object(json, "ultralytics");
    yolo_to_json(r, "boxes", &r->yolo_box, json);
    yolo_to_json(r, "oriented_boxes", &r->yolo_obb, json);
    yolo_to_json(r, "oks", &r->yolo_pose, json);
    sk_json_close(json);
    confusion_to_json(r, json);
    sk_tracks_to_json(r, json);
    if (r->compared & SK_HAS_KEYPOINTS) {
        sk_json_key_string(json, "body_length", r->length);
        sk_json_key_string(json, "poses_matched_by", r->matched);
        sk_json_key_array(json, "keypoints");
        for (int32_t k = 0; k < r->n_keypoints; k++) {
            sk_json_object(json);
            sk_json_key_string(json, "name", r->keypoints[k].name);
            errors_to_json(r, &r->keypoints[k].points, json);
            sk_json_close(json);
        }
        sk_json_close(json);
    }
    sk_json_key_array(json, "notes");
    for (const char *line = sk_text_get(&r->notes); *line;) {
        size_t length = strcspn(line, "\n");
        sk_json_string_bytes(json, line, length);
        line += length + (line[length] == '\n');
    }
    sk_json_close(json);
    sk_json_close(json);
}
