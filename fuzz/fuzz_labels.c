/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/memory.h"
#include "results/label_rows.h"

#include <string.h>

/* Label text, in both its parts: the lines and what they mean together. The first byte says what is known beforehand; from 128
 * on the rest is a data.yaml, read up to where its pictures would be. */
static void fuzz_rows(const char *text, size_t size, int known)
{
    sk_error err = {0};
    sk_annotation_set set = {0};
    sk_label_rows rows = {0};
    sk_label_form form;
    int32_t source, image;
    if (sk_annotations_begin(&set, "label text", &err) == SK_OK &&
        sk_annotations_source(&set, "a", 1, &source, &err) == SK_OK &&
        sk_annotations_image(&set, source, -1, -1, &image, &err) == SK_OK) {
        set.images[image].width = 640;
        set.images[image].height = 480;
        if (sk_label_rows_parse("fuzz", text, size, image, &rows, &err) == SK_OK &&
            sk_label_rows_form("fuzz", &rows, known % 20, known / 20 % 3 == 0 ? 0 : known / 20 % 3 + 1, &form,
                               &err) == SK_OK &&
            sk_label_rows_add(&rows, &form, known & 1, &set, &err) == SK_OK)
            for (size_t i = 0; i < set.n_items; i++) {
                SK_FUZZ_CHECK(set.items[i].has & SK_HAS_BOX);
                if (set.items[i].has & SK_HAS_KEYPOINTS)
                    SK_FUZZ_CHECK(set.items[i].first + (size_t)set.n_keypoints <= set.n_points);
            }
        else
            SK_FUZZ_CHECK(err.message[0]);
    }
    sk_label_rows_free(&rows);
    sk_annotations_free(&set);
}

SK_FUZZ(labels, data, size)
{
    if (size == 0)
        return;
    char *text = sk_strndup((const char *)data + 1, size - 1);
    if (!text)
        return;
    if (data[0] < 128) {
        fuzz_rows(text, size - 1, data[0]);
    } else {
        sk_annotation_set set = {0};
        sk_error err = {0};
        sk_annotation_reading how = {.split = "a split that no file has"};
        (void)!sk_annotations_read_data_yaml("fuzz", text, size - 1, &how, &set, &err);
        sk_annotations_free(&set);
    }
    sk_free(text);
}
