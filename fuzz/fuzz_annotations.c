/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/memory.h"
#include "eval/eval.h"
#include "mutate.h"

/* Result and truth files of every format; what was read is then measured against itself. */
SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(annotations, data, size)
{
    sk_annotation_set set;
    sk_error err = {0};
    sk_status status = sk_annotations_parse("fuzz", data, size, &set, &err);
    if (status != SK_OK) {
        SK_FUZZ_CHECK(!set.items && !set.sources && err.code == status && err.message[0]);
        return;
    }
    for (size_t i = 0; i < set.n_items; i++) {
        const sk_annotation *a = &set.items[i];
        SK_FUZZ_CHECK(a->image >= 0 && (size_t)a->image < set.n_images);
        SK_FUZZ_CHECK(a->class_id >= 0 && (size_t)a->class_id < set.n_classes);
        if (a->has & SK_HAS_KEYPOINTS)
            SK_FUZZ_CHECK(a->first + (size_t)set.n_keypoints <= set.n_points);
    }
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    sk_eval_report report = {0};
    if (set.n_items < 2000 && sk_eval_run(&set, &set, &settings, &report, &err) == SK_OK) {
        SK_FUZZ_CHECK(report.compared || report.classified || report.tracks[SK_TRACKS_POINT].measured);
        SK_FUZZ_CHECK(report.all.box.right <= report.all.box.wanted);
        sk_eval_free(&report);
    }
    sk_annotations_free(&set);
}
