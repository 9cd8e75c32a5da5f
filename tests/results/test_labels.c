/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "results/annotations.h"

#include "label_files.h"

#include <stdio.h>
#include <string.h>

/* Ultralytics' label text and data.yaml: what lines mean, and where files are looked for. */

static void boxes_of_a_data_yaml(void **state)
{
    (void)state;
    const char *folder = make_set("boxes", "1 0.5 0.5 0.25 0.5\n1 0.5 0.5 0.25 0.5\r\n0 0.1 0.2 0.2 0.4\n\n");
    write_text(in(folder, "data.yaml"), "val: images/val\ntest: missing\nnames: [cat, dog, cow]\n");
    sk_annotation_set set;
    sk_error err = {0};
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
    assert_int_equal(set.n_images, 2); /* the picture without labels too */
    assert_int_equal(set.n_items, 2);  /* the line that stands twice, once */
    assert_int_equal(set.n_classes, 3);
    assert_int_equal(set.has, SK_HAS_BOX);
    assert_string_equal(set.classes[set.items[0].class_id].name, "dog");
    expect_four(set.items[0].box, 75, 25, 50, 50);
    expect_four(set.items[1].box, 0, 0, 40, 40);
    assert_true(set.every_frame);
    assert_non_null(strstr(sk_text_get(&set.notes), "1 of 2 pictures have no label file"));
    assert_non_null(strstr(sk_text_get(&set.notes), "1 label lines that stood twice"));
    sk_annotations_free(&set);
    sk_annotation_reading how = {.split = "test"};
    assert_int_equal(sk_annotations_read_as(in(folder, "data.yaml"), &how, &set, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "missing"));
    how.split = "train";
    assert_int_equal(sk_annotations_read_as(in(folder, "data.yaml"), &how, &set, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "--split"));
    /* without data.yaml, by the folder of labels alone */
    assert_ok(sk_annotations_read(in(folder, "labels/val"), &set, &err), &err);
    assert_int_equal(set.n_images, 2);
    expect_four(set.items[0].box, 75, 25, 50, 50);
    sk_annotations_free(&set);
}

static void names_and_paths_in_every_form(void **state)
{
    (void)state;
    const char *folder = make_set("forms", "7 0.5 0.5 0.5 0.5\n");
    write_text(in(folder, "list.txt"), "./images/val/a.png\n./images/val/b.png\n./notes.md\n");
    static const char *const places[] = {"val: images/val",
                                         "val: list.txt",
                                         "val: [images/val]",
                                         "val: ../images/val",
                                         "path: nowhere/at/all\nval: images/val",
                                         "path: .\nval: images/val",
                                         "validation: images/val"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml, "%s\nnames:\n  0: cat\n  7: 12\nkpt_shape: null\n", places[i]);
        write_text(in(folder, "data.yaml"), yaml);
        sk_annotation_set set;
        sk_error err = {0};
        assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
        assert_int_equal(set.n_images, 2);
        assert_int_equal(set.n_items, 1);
        assert_string_equal(set.classes[set.items[0].class_id].name, "12");
        assert_int_equal(strstr(sk_text_get(&set.notes), "beside the file") != NULL, i == 4 || i == 5);
        sk_annotations_free(&set);
    }
}

static void poses_polygons_and_corners(void **state)
{
    (void)state;
    sk_annotation_set set;
    sk_error err = {0};
    const char *folder = make_set("pose", "0 0.5 0.5 0.5 0.5 0.25 0.5 2 0 0 0 0.75 0.1 1\n");
    write_text(in(folder, "data.yaml"),
               "val: images/val\nnames: [cat]\nkpt_shape: [3, 3]\nkpt_names:\n  0: [a, b, c]\n");
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
    assert_int_equal(set.n_keypoints, 3);
    assert_string_equal(set.keypoint_names[2], "c");
    assert_float_equal(set.points[0].x, 50, 1e-6);
    assert_int_equal(set.points[0].visible, 2);
    assert_true(isnan(set.points[1].x));
    assert_int_equal(set.points[2].visible, 1);
    sk_annotations_free(&set);
    static const char *const shapes[] = {"[0, 3]", "[-1, 3]", "[100000, 3]", "[3, 1]",
                                         "[3, 4]", "[3]",     "3",           "[x, 3]"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char yaml[128];
        snprintf(yaml, sizeof yaml, "val: images/val\nnames: [cat]\nkpt_shape: %s\n", shapes[i]);
        write_text(in(folder, "data.yaml"), yaml);
        if (sk_annotations_read(in(folder, "data.yaml"), &set, &err) != SK_ERR_FORMAT)
            fail_msg("taken: kpt_shape %s", shapes[i]);
        assert_non_null(strstr(err.message, "kpt_shape is [number of keypoints, 2 or 3]"));
    }
    folder = make_set("obb", "0 0.25 0.2 0.75 0.2 0.75 0.6 0.25 0.6\n");
    write_text(in(folder, "data.yaml"), "val: images/val\nnc: 1\n");
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
    assert_int_equal(set.has, SK_HAS_BOX | SK_HAS_OBB);
    expect_four(set.items[0].obb, 100, 40, 100, 40);
    sk_annotations_free(&set);
    folder = make_set("polygon", "0 0.25 0.2 0.75 0.2 0.5 0.6\n0 0 0 1 0 1 1 0.5 1 0 1\n");
    write_text(in(folder, "data.yaml"), "val: images/val\nnc: 1\n");
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &set, &err), &err);
    assert_int_equal(set.has, SK_HAS_BOX);
    expect_four(set.items[0].box, 50, 20, 100, 40);
    expect_four(set.items[1].box, 0, 0, 200, 100);
    sk_annotations_free(&set);
}

/* What predict and val save: sizes come from the truth, forms from the count of numbers. */
static void results_are_told_by_their_numbers(void **state)
{
    (void)state;
    const char *folder = make_set("truth", "0 0.5 0.5 0.5 0.5 0.25 0.5 2 0 0 0 0 0 0\n");
    write_text(in(folder, "data.yaml"), "val: images/val\nnames: [cat]\nkpt_shape: [3, 3]\n");
    sk_annotation_set truth, set;
    sk_error err = {0};
    assert_ok(sk_annotations_read(in(folder, "data.yaml"), &truth, &err), &err);
    char found[4300];
    snprintf(found, sizeof found, "%s/found", folder);
    assert_ok(sk_folder_make(found, &err), &err);
    static const struct {
        const char *line;
        double score;
        int64_t track;
        uint32_t has;
    } cases[] = {
        {"0 0.5 0.5 0.5 0.5 0.25 0.5 0.9 0 0 0 0 0 0 0.75", 0.75, -1, SK_HAS_BOX | SK_HAS_KEYPOINTS},
        {"0 0.5 0.5 0.5 0.5 0.25 0.5 0.9 0 0 0 0 0 0 0.75 12", 0.75, 12, SK_HAS_BOX | SK_HAS_KEYPOINTS},
        {"0 0.5 0.5 0.5 0.5 0.75", 0.75, -1, SK_HAS_BOX},
        {"0 0.5 0.5 0.5 0.5 0.75 3", 0.75, 3, SK_HAS_BOX},
        {"0 0.5 0.5 0.5 0.5", 1, -1, SK_HAS_BOX},
        {"0 0.25 0.25 0.75 0.25 0.75 0.75 0.25 0.75 0.5", 0.5, -1, SK_HAS_BOX | SK_HAS_OBB},
    };
    sk_annotation_reading how = {.other = &truth};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(in(found, "a.txt"), cases[i].line);
        assert_ok(sk_annotations_read_as(found, &how, &set, &err), &err);
        assert_int_equal(set.items[0].has, cases[i].has);
        assert_float_equal(set.items[0].score, cases[i].score, 1e-9);
        assert_int_equal(set.items[0].track, cases[i].track);
        expect_four(set.items[0].box, 50, 25, 100, 50);
        assert_int_equal(set.unscored, cases[i].score == 1);
        sk_annotations_free(&set);
    }
    /* a picture that nobody knows */
    write_text(in(found, "z.txt"), "0 0.5 0.5 0.5 0.5\n");
    assert_int_equal(sk_annotations_read_as(found, &how, &set, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "--images"));
    sk_annotations_free(&truth);
}

static void bad_labels_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {{"0 0.5 0.5 0.5 0.5\n0 0.5 half 0.5 0.5\n", "a.txt:2: not a number"},
                 {"0 0.5 0.5\n", "fewer than four"},
                 {"-1 0.5 0.5 0.5 0.5\n", "class"},
                 {"0 120 80 20 20\n", "pixels"},
                 {"0 nan 0.5 0.5 0.5\n", "finite"},
                 {"3 0.5 0.5 0.5 0.5\n", "class 3"},
                 {"0 0.5 0.5 0.5 0.5\n0 0.1 0.1 0.2 0.2 0.3 0.3\n", "do not agree"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *folder = make_set("bad", cases[i].text);
        write_text(in(folder, "data.yaml"), "val: images/val\nnc: 1\n");
        sk_annotation_set set;
        sk_error err = {0};
        assert_int_equal(sk_annotations_read(in(folder, "data.yaml"), &set, &err), SK_ERR_FORMAT);
        if (!strstr(err.message, cases[i].word))
            fail_msg("%zu: %s", i, err.message);
        assert_null(set.items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_of_a_data_yaml),       cmocka_unit_test(names_and_paths_in_every_form),
        cmocka_unit_test(poses_polygons_and_corners), cmocka_unit_test(results_are_told_by_their_numbers),
        cmocka_unit_test(bad_labels_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
