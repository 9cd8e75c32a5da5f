/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of label text: how many numbers they may have, what these are taken for, and which lines stand twice. */
#include "base/memory.h"
#include "results/label_rows.h"
#include "support/test.h"

#include "repeated.h"

#include <stdio.h>
#include <string.h>

static sk_annotation_set set;
static sk_error err;

static sk_status rows_of(const char *text, int32_t n, int32_t per, sk_label_form *form)
{
    sk_label_rows rows = {0};
    sk_status status = sk_label_rows_parse("in", text, strlen(text), 0, &rows, &err);
    if (status == SK_OK)
        status = sk_label_rows_form("in", &rows, n, per, form, &err);
    sk_label_rows_free(&rows);
    return status;
}

static void numbers_of_a_label_line(void **state)
{
    (void)state;
    sk_label_form form;
    assert_ok(rows_of("1000000 10 -10 10 10\n", 0, 0, &form), &err);
    assert_int_equal(rows_of("1000001 1 1 1 1\n", 0, 0, &form), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "in:1: the class is not a whole number"));
    for (int at = 0; at < 6; at++) { /* only of the first four is it known that they are places */
        char text[200] = "0";
        for (int i = 0; i < 6; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s",
                     i != at  ? "0.5"
                     : at % 2 ? "-10.001"
                              : "10.001");
        assert_int_equal(rows_of(text, 0, 0, &form), at < 4 ? SK_ERR_FORMAT : SK_OK);
    }
    assert_ok(rows_of(repeated("0", " 0.5", "", 200000, "\n"), 0, 0, &form), &err);
    assert_true(form.polygon && !form.corners && !form.confidence);
    assert_int_equal(rows_of(repeated("0", " 0.5", "", 200001, "\n"), 0, 0, &form), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "more numbers than a polygon has"));
    /* 0, 1 or 2 behind every place: a pose, of 1024 keypoints at most */
    assert_ok(rows_of(repeated("0 0.5 0.5 0.5 0.5", " 0.5 0.5 2", "", 1024, "\n"), 0, 0, &form), &err);
    assert_true(form.n_keypoints == 1024 && form.per_keypoint == 3);
    assert_int_equal(rows_of(repeated("0 0.5 0.5 0.5 0.5", " 0.5 0.5 2", "", 1025, "\n"), 0, 0, &form),
                     SK_ERR_LIMIT);
    assert_ok(rows_of("0 0.5 0.5 0.5 0.5 0.5 0.5 0\n1 0.5 0.5 0.5 0.5 0.5 0.5 1\n", 0, 0, &form), &err);
    assert_true(form.n_keypoints == 1 && form.per_keypoint == 3 && !form.confidence);
    static const char *const no_poses[] = {"0 0.5 0.5 0.5 0.5 0.5 0.5 3\n", "0 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
                                           "0 0.5 0.5 0.5 0.5 0.5 0.5 -1\n",
                                           "0 0.5 0.5 0.5 0.5 0.5 0.5 2 0.5 0.5 0.5\n",
                                           "0 0.5 0.5 0.5 0.5 0.5 0.5 2\n0 0.5 0.5 0.5 0.5 0.5 0.5 0.25\n"};
    for (size_t i = 0; i < sizeof no_poses / sizeof *no_poses; i++) {
        assert_ok(rows_of(no_poses[i], 0, 0, &form), &err);
        assert_true(form.n_keypoints == 0 && form.polygon);
    }
    assert_ok(rows_of("0 0.5 0.5 0.5 0.5 0.5 1000000000000000\n", 0, 0, &form), &err);
    assert_true(form.track && form.confidence && !form.polygon);
    assert_ok(rows_of("0 0.5 0.5 0.5 0.5 0.5 1000000000000001\n", 0, 0, &form), &err);
    assert_true(!form.track && form.polygon); /* no track has such a number */
    assert_ok(rows_of("0 0.5 0.5 0.5 0.5 0.5 -1\n", 0, 0, &form), &err);
    assert_true(!form.track && form.polygon);
    assert_int_equal(rows_of("0 0.5 0.5 0.5\n", 0, 0, &form), SK_ERR_FORMAT);
    assert_int_equal(sk_label_rows_parse("in", "0 1\0 1", 6, 0, &(sk_label_rows){0}, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "in: not a text file"));
}

/* Lines that stand twice are those that are the same in everything. */
static void twins_of_label_lines(void **state)
{
    (void)state;
    static const char text[] =
        "0 0.5 0.5 0.2 0.4 0.1 0.1\n0 0.5 0.5 0.2 0.4 0.1 0.1\n1 0.5 0.5 0.2 0.4 0.1 0.1\n"
        "0 0.5 0.5 0.2 0.4 0.1 0.2\n0 0.5 0.5 0.2 0.4 0.1 0.1 0.3 0.3\n"
        "0 0.5 0.5 0.2 0.4 0.1 0.1\n";
    for (int images = 1; images <= 2; images++)
        for (int truth = 0; truth < 2; truth++) {
            sk_label_rows rows = {0};
            sk_label_form form;
            int32_t source, image;
            assert_ok(sk_annotations_begin(&set, "label text", &err), &err);
            for (int i = 0; i < images; i++) {
                assert_ok(sk_annotations_source(&set, i ? "b" : "a", 1, &source, &err), &err);
                assert_ok(sk_annotations_image(&set, source, -1, -1, &image, &err), &err);
                assert_ok(sk_label_rows_parse("in", text, sizeof text - 1, image, &rows, &err), &err);
            }
            assert_ok(sk_label_rows_form("in", &rows, 0, 0, &form, &err), &err);
            assert_ok(sk_label_rows_add(&rows, &form, truth, &set, &err), &err);
            assert_int_equal(set.n_items, images * (truth ? 4 : 6));
            assert_true(set.unscored);
            assert_string_equal(sk_text_get(&set.notes),
                                !truth        ? ""
                                : images == 1 ? "2 label lines that stood twice were taken once\n"
                                              : "4 label lines that stood twice were taken once\n");
            sk_label_rows_free(&rows);
            sk_annotations_free(&set);
        }
    sk_text_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_label_line),
        cmocka_unit_test(twins_of_label_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
