/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "base/file.h"
#include "eval/eval.h"
#include "eval/pairing.h"

#include <stdio.h>
#include <string.h>

/* What was found in the frames held back, f32's and eight bits', against the truth where there is one. */

struct sk_quantize_truth {
    sk_annotation_set truth, found[2];
    bool classless; /* the model tells no classes */
};

static sk_status begin_found(const sk_quantize_job *job, sk_annotation_set *set, sk_error *err)
{
    const sk_task_description *d = &job->gives;
    int32_t ignored;
    SK_TRY(sk_annotations_begin(set, "frames held back", err));
    for (int32_t i = 0; i < d->n_classes; i++) {
        const char *name = d->class_names && d->class_names[i] ? d->class_names[i] : "";
        SK_TRY(sk_annotations_class(set, i, name, strlen(name), &ignored, err));
    }
    if (d->n_classes == 0)
        SK_TRY(sk_annotations_class(set, 0, "", 0, &ignored, err));
    return d->n_keypoints > 0
               ? sk_annotations_keypoints(set, d->n_keypoints, (const char *const *)d->keypoint_names, err)
               : SK_OK;
}

sk_status sk_quantize_truth_open(const sk_quantize_job *job, sk_quantize_truth **out, sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    if (!job->s->truth)
        return SK_OK;
    sk_quantize_truth *t = sk_calloc(1, sizeof *t);
    if (!t)
        return sk_fail_memory(err, sizeof *t);
    *out = t;
    t->classless = job->gives.n_classes == 0;
    SK_TRY_GOTO(sk_annotations_read(job->s->truth, &t->truth, err));
    for (int i = 0; i < 2; i++)
        SK_TRY_GOTO(begin_found(job, &t->found[i], err));
done:
    if (status != SK_OK)
        sk_quantize_truth_close(out);
    return status;
}

void sk_quantize_truth_close(sk_quantize_truth **truth)
{
    sk_quantize_truth *t = *truth;
    *truth = NULL;
    if (!t)
        return;
    sk_annotations_free(&t->truth);
    for (int i = 0; i < 2; i++)
        sk_annotations_free(&t->found[i]);
    sk_free(t);
}

/* By the frames alone, with eval's rules of which is which. */
static sk_status share_frames(const sk_quantize_job *job, bool *share, sk_error *err)
{
    const sk_quantize_truth *t = job->truth;
    const sk_instances nothing = {0};
    sk_quantize_truth frames = {.classless = t->classless};
    sk_pairing pairing = {0};
    sk_error why = {0};
    sk_status status = SK_OK;
    *share = false;
    SK_TRY_GOTO(begin_found(job, &frames.found[0], err));
    for (int32_t i = 0; i < job->n_frames; i++)
        if (job->frames[i].held)
            SK_TRY_GOTO(sk_quantize_truth_add(&frames, 0, &job->frames[i], &nothing, err));
    status = sk_pairing_open(&frames.found[0], &t->truth, t->classless, &pairing, &why);
    for (size_t i = 0; status == SK_OK && i < frames.found[0].n_images; i++)
        *share |= pairing.image[i] >= 0;
    if (status == SK_ERR_MISMATCH)
        status = SK_OK; /* none is shared */
    else if (status != SK_OK && err)
        *err = why;
    sk_pairing_free(&pairing);
done:
    sk_annotations_free(&frames.found[0]);
    return status;
}

sk_status sk_quantize_truth_check(const sk_quantize_job *job, sk_error *err)
{
    const sk_quantize_frame *held[3] = {0};
    char names[3][80] = {"", "", ""};
    int32_t n = 0;
    bool share = true;
    if (!job->truth)
        return SK_OK;
    SK_TRY(share_frames(job, &share, err));
    if (share)
        return SK_OK;
    for (int32_t i = 0; i < job->n_frames && n < 3; i++)
        if (job->frames[i].held)
            held[n++] = &job->frames[i];
    for (int32_t i = 0; i < n; i++) {
        const char *between = i ? ", " : "";
        if (held[i]->name)
            snprintf(names[i], sizeof names[i], "%s%.60s", between, sk_path_name(held[i]->name));
        else
            snprintf(names[i], sizeof names[i], "%s%lld", between, (long long)held[i]->index);
    }
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "%s: --truth says nothing of the frames of %s (--data) that are kept apart to measure on (%s%s%s%s)\n"
        "give the truth of these frames; leave --truth out to measure against f32 alone",
        job->s->truth, job->s->data, names[0], names[1], names[2],
        sk_quantize_count(job, true) > n ? " …" : "");
}

static void fill(const sk_instances *found, const sk_found *from, sk_annotation *to, sk_annotation_set *set)
{
    to->has = from->has;
    to->score = (double)from->score;
    for (int i = 0; i < 2; i++) {
        to->box[i] = (double)from->box[i];
        to->box[2 + i] = (double)(from->box[2 + i] - from->box[i]);
    }
    for (int i = 0; i < 5; i++)
        to->obb[i] = (double)from->obb[i];
    for (int32_t k = 0; (from->has & SK_HAS_KEYPOINTS) && k < found->n_keypoints; k++) {
        const sk_keypoint *p = &found->keypoints[from->first_keypoint + k];
        set->points[to->first + (size_t)k] =
            (sk_annotation_point){(double)p->x, (double)p->y, (double)p->score, 2};
    }
}

sk_status sk_quantize_truth_add(sk_quantize_truth *t, int which, const sk_quantize_frame *frame,
                                const sk_instances *found, sk_error *err)
{
    sk_annotation_set *set = &t->found[which];
    int32_t source = -1, image;
    if (frame->name)
        SK_TRY(sk_annotations_source(set, frame->name, strlen(frame->name), &source, err));
    SK_TRY(sk_annotations_image(set, source, frame->name ? 0 : frame->index, -1, &image, err));
    for (int32_t i = 0; i < found->count; i++) {
        const sk_found *item = &found->items[i];
        sk_annotation *to = NULL;
        SK_TRY(sk_annotations_add(set, image, item->class_id < 0 ? 0 : item->class_id,
                                  (item->has & SK_HAS_KEYPOINTS) != 0, &to, err));
        fill(found, item, to, set);
        set->has |= item->has;
    }
    return SK_OK;
}

sk_status sk_quantize_truth_measure(sk_quantize_truth *t, sk_quantize_report *report, sk_error *err)
{
    for (int i = 0; i < 2; i++) {
        sk_eval_settings s;
        sk_eval_report r = {0};
        sk_eval_defaults(&s);
        s.covered_only = true;
        s.any_class = t->classless;
        t->found[i].every_frame = true;
        SK_TRY(sk_eval_run(&t->found[i], &t->truth, &s, &r, err));
        const sk_eval_score *score = (r.compared & SK_HAS_KEYPOINTS) ? &r.all.pose
                                     : (r.compared & SK_HAS_OBB)     ? &r.all.obb
                                                                     : &r.all.box;
        snprintf(report->truth_of, sizeof report->truth_of, "%s",
                 (r.compared & SK_HAS_KEYPOINTS) ? "poses (OKS)"
                 : (r.compared & SK_HAS_OBB)     ? "oriented boxes"
                                                 : "boxes");
        report->truth[i] =
            (sk_quantize_score){.ap = score->ap,
                                .ap50 = score->ap50,
                                .recall = score->recall,
                                .precision = score->precision,
                                .median_px = (r.compared & SK_HAS_KEYPOINTS) ? r.all.points.median : -1};
        sk_eval_free(&r);
    }
    return SK_OK;
}
