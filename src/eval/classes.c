/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/classes.h"

#include "base/memory.h"

#include <string.h>

#define BEST         5
#define MOST_CLASSES 1024 /* with a confusion matrix */

/* The best answers to one picture, falling. */
typedef struct answers {
    int32_t count, class_id[BEST];
    double score[BEST];
} answers;

static void add(answers *a, int32_t class_id, double score)
{
    int32_t at = a->count;
    while (at > 0 && score > a->score[at - 1])
        at--;
    if (at == BEST)
        return;
    a->count += a->count < BEST;
    size_t moved = (size_t)(a->count - 1 - at);
    memmove(&a->score[at + 1], &a->score[at], moved * sizeof *a->score);
    memmove(&a->class_id[at + 1], &a->class_id[at], moved * sizeof *a->class_id);
    a->score[at] = score;
    a->class_id[at] = class_id;
}

sk_status sk_eval_classes(const sk_annotation_set *result, const sk_annotation_set *truth,
                          const sk_pairing *p, sk_eval_report *report, sk_error *err)
{
    answers *all = sk_calloc(truth->n_images + 1, sizeof *all);
    size_t side = (size_t)p->n_classes + 1;
    bool small = p->n_classes <= MOST_CLASSES;
    int64_t *counts = small ? sk_calloc(side * side, sizeof *counts) : NULL;
    if (!all || (small && !counts)) {
        sk_free(all);
        sk_free(counts);
        return sk_fail_memory(err, truth->n_images * sizeof *all + side * side * sizeof *counts);
    }
    for (size_t i = 0; i < result->n_items; i++) {
        const sk_annotation *a = &result->items[i];
        if (p->image[a->image] >= 0)
            add(&all[p->image[a->image]], p->result_class[a->class_id], a->score);
    }
    int64_t first = 0, among = 0;
    for (size_t i = 0; i < truth->n_items; i++) {
        const answers *a = &all[truth->items[i].image];
        int32_t wanted = p->truth_class[truth->items[i].class_id];
        first += a->count > 0 && a->class_id[0] == wanted;
        for (int32_t k = 0; k < a->count; k++)
            among += a->class_id[k] == wanted;
        if (counts) /* without an answer: nothing was found */
            counts[(size_t)(a->count ? a->class_id[0] : p->n_classes) * side + (size_t)wanted]++;
    }
    report->confusion = (sk_confusion){small ? p->n_classes : 0, counts};
    report->classified = (int64_t)truth->n_items;
    report->top1 = (double)first / (double)truth->n_items;
    report->top5 = (double)among / (double)truth->n_items;
    sk_free(all);
    return SK_OK;
}
