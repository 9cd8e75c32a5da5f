/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "eval/eval.h"
#include "formats/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The figures of `yolo val`: against those that Ultralytics 8.4.190 gave for the same detections (tests/parity/yolo_val.py
 * made the fixture), and by hand. */

static void read_fixture(const char *kind, sk_annotation_set *result, sk_annotation_set *truth)
{
    sk_error err = {0};
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/yolo_val/%s/data.yaml", kind);
    assert_ok(sk_annotations_read(test_source(path), truth, &err), &err);
    snprintf(path, sizeof path, "tests/fixtures/yolo_val/%s/found", kind);
    sk_annotation_reading how = {.other = truth};
    assert_ok(sk_annotations_read_as(test_source(path), &how, result, &err), &err);
}

static void near(const sk_config_value *list, size_t i, double value, double limit, const char *what)
{
    double wanted = -1;
    assert_true(sk_config_to_real(sk_config_at(list, i), &wanted));
    if (!(fabs(wanted - value) <= limit))
        fail_msg("%s: %.9f, Ultralytics has %.9f", what, value, wanted);
}

static void check_score(const sk_eval_report *r, const sk_yolo_score *s, const sk_config_value *rows,
                        double limit)
{
    assert_true(s->measured);
    assert_true(sk_config_count(rows) > 1);
    size_t seen = 0;
    for (int32_t c = -1; c < s->n_classes; c++) {
        const sk_yolo_row *row = c < 0 ? &s->all : &s->classes[c];
        const char *name = c < 0 ? "all" : r->classes[c].name;
        const sk_config_value *wanted = sk_config_get(rows, name);
        if (row->instances == 0 && !wanted)
            continue;
        near(wanted, 0, row->precision, limit, name);
        near(wanted, 1, row->recall, limit, name);
        near(wanted, 2, row->ap50, limit, name);
        near(wanted, 3, row->ap, limit, name);
        seen++;
    }
    assert_int_equal(seen, sk_config_count(rows));
}

static void check_against_ultralytics(const char *kind)
{
    sk_annotation_set result, truth;
    read_fixture(kind, &result, &truth);
    sk_error err = {0};
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    sk_eval_report r;
    assert_ok(sk_eval_run(&result, &truth, &settings, &r, &err), &err);
    char path[256], *text;
    size_t length;
    snprintf(path, sizeof path, "tests/fixtures/yolo_val/%s/expected.json", kind);
    assert_ok(sk_file_read(test_source(path), 1 << 20, &text, &length, &err), &err);
    sk_config *config;
    assert_ok(sk_config_open_json(text, length, path, &config, &err), &err);
    const sk_config_value *root = sk_config_root(config), *figures = sk_config_get(root, "figures");
    if (strcmp(kind, "obb") == 0) {
        check_score(&r, &r.yolo_obb, sk_config_get(figures, "oriented_boxes"), 1e-6);
    } else {
        check_score(&r, &r.yolo_box, sk_config_get(figures, "boxes"), 1e-6);
        check_score(&r, &r.yolo_pose, sk_config_get(figures, "oks"), 1e-6);
    }
    const sk_config_value *matrix = sk_config_get(root, "confusion");
    size_t side = (size_t)r.confusion.n_classes + 1;
    assert_int_equal(sk_config_count(matrix), side);
    for (size_t i = 0; i < side * side; i++) {
        int64_t wanted = -1;
        assert_true(sk_config_to_int(sk_config_at(sk_config_at(matrix, i / side), i % side), &wanted));
        assert_int_equal(r.confusion.counts[i], wanted);
    }
    char name[64];
    int plots = 0;
    snprintf(r.classes[0].name, sizeof r.classes[0].name, "</text><script>\x1b\xff\xc3");
    for (sk_text svg = {0}; sk_eval_plot(&r, plots, name, &svg); plots++) {
        const char *drawn = sk_text_get(&svg);
        assert_non_null(strstr(drawn, "</svg>"));
        assert_null(strstr(drawn, "<script>"));
        for (size_t at = 0, end = strlen(drawn), step; at < end; at += step) {
            step = sk_text_utf8(drawn + at, end - at); /* or no program opens it */
            assert_true(step > 0 && (drawn[at] < 0 || drawn[at] >= ' ' || drawn[at] == '\n'));
        }
        sk_text_free(&svg);
    }
    assert_int_equal(plots, 10); /* four curves of two kinds, and the matrix twice */
    sk_config_close(&config);
    sk_free(text);
    sk_eval_free(&r);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
}

static void poses_as_yolo_val(void **state)
{
    (void)state;
    check_against_ultralytics("pose");
}

static void oriented_boxes_as_yolo_val(void **state)
{
    (void)state;
    check_against_ultralytics("obb");
}

/* Two of four pictures were looked at: said, and measured alone when asked for. */
static void part_of_the_truth_is_told(void **state)
{
    (void)state;
    static const char truth_csv[] = "frame,x1,y1,x2,y2\n0,0,0,9,9\n1,0,0,9,9\n2,0,0,9,9\n3,0,0,9,9\n";
    static const char result_csv[] = "frame,score,x1,y1,x2,y2\n0,0.9,0,0,9,9\n1,0.8,0,0,9,9\n";
    sk_annotation_set result, truth;
    sk_error err = {0};
    assert_ok(sk_annotations_parse("t", truth_csv, sizeof truth_csv - 1, &truth, &err), &err);
    assert_ok(sk_annotations_parse("r", result_csv, sizeof result_csv - 1, &result, &err), &err);
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    sk_eval_report r;
    assert_ok(sk_eval_run(&result, &truth, &settings, &r, &err), &err);
    assert_int_equal(r.frames, 4);
    assert_int_equal(r.covered, 2);
    assert_float_equal(r.all.box.recall, 0.5, 1e-12);
    assert_non_null(strstr(sk_text_get(&r.notes), "2 of the truth's 4 frames"));
    assert_non_null(strstr(sk_text_get(&r.notes), "--covered"));
    sk_eval_free(&r);
    settings.covered_only = true;
    assert_ok(sk_eval_run(&result, &truth, &settings, &r, &err), &err);
    assert_float_equal(r.all.box.recall, 1, 1e-12);
    assert_float_equal(r.all.box.ap, 1, 1e-12);
    assert_non_null(strstr(sk_text_get(&r.notes), "only the 2 of the truth's 4 frames"));
    sk_eval_free(&r);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
}

/* Folders called as classes against the answers of a classifier. */
static void classes_of_pictures(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const pictures[] = {"cat/a.png", "cat/b.png", "dog/c.png", "dog/d.png"};
    char folder[4300], path[4400];
    snprintf(folder, sizeof folder, "%s/set", test_folder());
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/val/%.3s", folder, pictures[i]);
        assert_ok(sk_folder_make(path, &err), &err);
        snprintf(path, sizeof path, "%s/val/%s", folder, pictures[i]);
        assert_ok(sk_file_replace(path, "", 0, &err), &err); /* only its name counts */
    }
    static const char csv[] = "source,frame,time,instance,track,class,name,score\n"
                              "x/a.png,0,0,0,,0,cat,0.9\nx/a.png,0,0,1,,1,dog,0.1\n"
                              "x/b.png,1,0,0,,1,dog,0.6\nx/b.png,1,0,1,,0,cat,0.4\n"
                              "x/c.png,2,0,0,,1,dog,0.8\nx/c.png,2,0,1,,0,cat,0.2\n";
    sk_annotation_set result, truth;
    assert_ok(sk_annotations_parse("r", csv, sizeof csv - 1, &result, &err), &err);
    assert_ok(sk_annotations_read(folder, &truth, &err), &err);
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    sk_eval_report r;
    assert_ok(sk_eval_run(&result, &truth, &settings, &r, &err), &err);
    assert_int_equal(r.classified, 4);
    assert_float_equal(r.top1, 0.5, 1e-12);
    assert_float_equal(r.top5, 0.75, 1e-12); /* d.png has no answer */
    static const int64_t counts[9] = {1, 0, 0, 1, 1, 0, 0, 1, 0};
    assert_int_equal(r.confusion.n_classes, 2);
    assert_memory_equal(r.confusion.counts, counts, sizeof counts);
    sk_eval_free(&r);
    sk_annotations_free(&result);
    sk_annotations_free(&truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_as_yolo_val),
        cmocka_unit_test(oriented_boxes_as_yolo_val),
        cmocka_unit_test(part_of_the_truth_is_told),
        cmocka_unit_test(classes_of_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
