/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/yolo_score.h"

#include "base/memory.h"
#include "eval/by_image.h"

#define LEAST_OVERLAP 0.45
#define MOST_CLASSES  1024

typedef struct run {
    const sk_precision_task *task;
    sk_confusion *out;
    sk_by_image *found, *wanted;
    size_t n_found, n_wanted;
    bool *taken;
} run;

static void count(run *r, int32_t found, int32_t wanted)
{
    r->out->counts[(size_t)found * ((size_t)r->out->n_classes + 1) + (size_t)wanted]++;
}

static sk_status collect(run *r, sk_error *err)
{
    const sk_precision_task *t = r->task;
    r->found = sk_calloc(t->result->n_items + 1, sizeof *r->found);
    r->wanted = sk_calloc(t->truth->n_items + 1, sizeof *r->wanted);
    r->taken = sk_calloc(t->truth->n_items + 1, sizeof *r->taken);
    if (!r->found || !r->wanted || !r->taken)
        return sk_fail_memory(err, (t->result->n_items + t->truth->n_items) * sizeof *r->found);
    for (size_t i = 0; i < t->result->n_items; i++) {
        const sk_annotation *a = &t->result->items[i];
        int32_t image = t->pairing->image[a->image];
        if (image >= 0 && (a->has & t->has) && a->score >= t->confidence)
            r->found[r->n_found++] = (sk_by_image){t->pairing->rank[image], a->score, i};
    }
    for (size_t i = 0; i < t->truth->n_items; i++)
        if (t->truth->items[i].has & t->has)
            r->wanted[r->n_wanted++] = (sk_by_image){t->pairing->rank[t->truth->items[i].image], 0, i};
    sk_by_image_sort(r->found, r->n_found);
    sk_by_image_sort(r->wanted, r->n_wanted);
    return SK_OK;
}

/* The free truth of the picture that this detection overlaps most; truth that need not be found, if no other. */
static void place(run *r, const sk_by_image *f, size_t first, size_t n)
{
    const sk_precision_task *t = r->task;
    const sk_annotation *a = &t->result->items[f->index];
    double best = LEAST_OVERLAP;
    ptrdiff_t match = -1;
    bool pardoned = false;
    for (size_t g = first; g < first + n; g++) {
        const sk_annotation *w = &t->truth->items[r->wanted[g].index];
        bool crowd = sk_annotation_is_crowd(w, t->min_visible);
        if (r->taken[g] && !crowd)
            continue;
        double similar = t->similarity(t->context, a, w, crowd);
        pardoned |= crowd && similar > LEAST_OVERLAP;
        if (!crowd && similar > best) {
            best = similar;
            match = (ptrdiff_t)g;
        }
    }
    int32_t class_id = t->pairing->result_class[a->class_id];
    if (match >= 0) {
        r->taken[match] = true;
        count(r, class_id, t->pairing->truth_class[t->truth->items[r->wanted[match].index].class_id]);
    } else if (!pardoned) {
        count(r, class_id, r->out->n_classes);
    }
}

sk_status sk_confusion_run(const sk_precision_task *task, sk_confusion *out, sk_error *err)
{
    *out = (sk_confusion){0};
    if (task->pairing->n_classes > MOST_CLASSES) /* nobody could look at it */
        return SK_OK;
    run r = {.task = task, .out = out};
    sk_status status = SK_OK;
    size_t side = (size_t)task->pairing->n_classes + 1;
    out->counts = sk_calloc(side * side, sizeof *out->counts);
    if (!out->counts) {
        status = sk_fail_memory(err, side * side * sizeof *out->counts);
        goto done;
    }
    out->n_classes = task->pairing->n_classes;
    SK_TRY_GOTO(collect(&r, err));
    for (size_t f = 0, first = 0; f < r.n_found; f++) {
        while (first < r.n_wanted && r.wanted[first].image < r.found[f].image)
            first++;
        size_t n = 0;
        while (first + n < r.n_wanted && r.wanted[first + n].image == r.found[f].image)
            n++;
        place(&r, &r.found[f], first, n);
    }
    for (size_t g = 0; g < r.n_wanted; g++) {
        const sk_annotation *w = &task->truth->items[r.wanted[g].index];
        if (!r.taken[g] && !sk_annotation_is_crowd(w, task->min_visible))
            count(&r, out->n_classes, task->pairing->truth_class[w->class_id]);
    }
done:
    sk_free_all(r.found, r.wanted, r.taken);
    if (status != SK_OK)
        sk_confusion_free(out);
    return status;
}

void sk_confusion_free(sk_confusion *confusion)
{
    sk_free(confusion->counts);
    *confusion = (sk_confusion){0};
}
