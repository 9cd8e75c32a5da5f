/* SPDX-License-Identifier: Apache-2.0 */
/* Several sources in one run: a folder each, what fails does not end the others, and sums of all; crops by class; folders that are
 * numbered. */
#include "predict_fixture.h"

#include "app/crop_run.h"
#include "app/predict_many.h"

#include <unistd.h>

static sk_text said;

static void item_begins(void *context, const sk_predict_item *item)
{
    assert_ptr_equal(context, &said);
    sk_text_appendf(&said, "begin %zu of %zu %s -> %s\n", item->number, item->count, item->source, item->out);
}

static void item_ends(void *context, const sk_predict_item *item)
{
    assert_ptr_equal(context, &said);
    sk_text_appendf(&said, "end %zu %s frames %lld instances %lld\n", item->number,
                    sk_status_text(item->status), (long long)item->report.total_frames,
                    (long long)item->report.instances);
}

static bool stop_in_second(void *context, const sk_predict_progress *p)
{
    (void)context;
    return p->total == 3 && p->done == 2;
}

static void sources_one_by_one(void **state)
{
    (void)state;
    char folder[] = "two", missing[] = "missing", three[] = "three", one[] = "one";
    put_pictures("two", 2);
    put_pictures("three", 3);
    put_pictures("one", 1);
    sk_source_item items[] = {{.source = folder, .name = folder},
                              {.source = missing, .name = missing},
                              {.source = three, .name = three},
                              {.source = one, .name = one}};
    const sk_source_list list = {.items = items, .count = 4, .many = true};
    sk_predict_many_watch watch = {.begin = item_begins, .end = item_ends, .context = &said};
    sk_predict_many_report r;
    sk_predict_settings s = quick(NULL, "all");
    assert_ok(sk_predict_many(&s, &list, &watch, &r, &err), &err);
    assert_true(r.sources == 4 && r.done == 3 && r.failed == 1 && r.incomplete == 0 && !r.stopped);
    assert_true(r.frames == 6 && r.instances == 18 && r.seconds > 0);
    assert_string_equal(
        sk_text_get(&said),
        "begin 0 of 4 two -> all/two\nend 0 ok frames 2 instances 6\nbegin 1 of 4 missing -> all/missing\n"
        "end 1 not found frames 0 instances 0\nbegin 2 of 4 three -> all/three\nend 2 ok frames 3 instances "
        "9\n"
        "begin 3 of 4 one -> all/one\nend 3 ok frames 1 instances 3\n");
    assert_true(sk_file_exists("all/two/results.csv") && sk_file_exists("all/one/results.csv") &&
                !sk_file_exists("all/results.csv"));
    /* stopped in one: those behind it do not begin */
    sk_text_clear(&said);
    watch.frame = stop_in_second;
    s = quick(NULL, "stopped");
    assert_ok(sk_predict_many(&s, &list, &watch, &r, &err), &err);
    assert_true(r.stopped && r.done == 1 && r.failed == 1 && r.frames == 4);
    assert_null(strstr(sk_text_get(&said), "begin 3"));
    /* a link where a source's folder belongs leads elsewhere */
    watch = (sk_predict_many_watch){0};
    assert_ok(sk_folder_make("linked", &err), &err);
    assert_int_equal(symlink("../all", "linked/one"), 0);
    const sk_source_list alone = {.items = items + 3, .count = 1, .many = true};
    s = quick(NULL, "linked");
    assert_ok(sk_predict_many(&s, &alone, &watch, &r, &err), &err);
    assert_true(r.failed == 1 && r.done == 0);
    /* one source: its results lie in the folder itself */
    const sk_source_list single = {.items = items + 3, .count = 1};
    s = quick(NULL, "single");
    assert_ok(sk_predict_many(&s, &single, &watch, &r, &err), &err);
    assert_true(r.done == 1 && sk_file_exists("single/results.csv"));
    s.models[0] = "nothing.pt"; /* of several sources: once, before any begins */
    assert_int_equal(sk_predict_many(&s, &list, &watch, &r, &err), SK_ERR_NOT_FOUND);
    assert_ok(sk_predict_many(&s, &single, &watch, &r, &err), &err);
    assert_int_equal(r.failed, 1);
    sk_text_free(&said);
}

static void folders_are_numbered(void **state)
{
    (void)state;
    static const char *const wanted[] = {"runs/track1", "runs/track2", "runs/track4", "runs/predict1"};
    char *out = NULL;
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            assert_ok(sk_folder_make("runs/track3", &err), &err);
        assert_ok(sk_predict_fresh_folder(i < 3 ? "track" : "predict", &out, &err), &err);
        assert_string_equal(out, wanted[i]);
        assert_true(sk_file_is_directory(out));
        sk_free(out);
    }
}

/* Crops lie by class, are named by picture and number, and are as large as their boxes; turned ones are turned upright. */
static void crops(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly", "a/b\n", ""};
    static const sk_run_header header = {
        .source_kind = "pictures", .n_classes = 3, .class_names = classes, .has = SK_HAS_BOX};
    sk_instances found = {0};
    sk_crop_run *run = NULL;
    bool all = true;
    sk_frame f = make_frame(48, 40, 0);
    assert_ok(sk_folder_make("cut", &err), &err);
    assert_ok(sk_instances_alloc(6, 0, &found, &err), &err);
    for (int i = 0; i < 5; i++) {
        sk_found *one = sk_instances_add(&found);
        *one = (sk_found){.has = i == 4 ? SK_HAS_OBB : SK_HAS_BOX,
                          .class_id = i < 3    ? i
                                      : i == 3 ? -1
                                               : 0,
                          .box = {4, 6, 20, 16},
                          .obb = {24, 20, 16, 8, 0}};
    }
    const sk_result_frame r = {
        .source = "in/p.png", .index = 3, .width = 48, .height = 40, .instances = &found};
    assert_ok(sk_crop_run_open("cut", &header, &run, &err), &err);
    assert_ok(sk_crop_run_has(run, &r, &all, &err), &err);
    assert_false(all);
    sk_crop_run_close(&run);
    assert_ok(sk_crop_run_open("cut", &header, &run, &err), &err);
    assert_ok(sk_crop_run_write(run, &f, &r, &err), &err);
    static const char *const files[] = {"cut/crops/fly/p_0.jpg", "cut/crops/a_b_/p_1.jpg",
                                        "cut/crops/class_2/p_2.jpg", "cut/crops/p_3.jpg",
                                        "cut/crops/fly/p_4.jpg"};
    for (int i = 0; i < 5; i++)
        if (!sk_file_exists(files[i]))
            fail_msg("%s is not there", files[i]);
    sk_crop_run_close(&run);
    for (int i = 0; i < 5; i += 4) {
        sk_source *source = NULL;
        sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
        const sk_frame *got = NULL;
        sk_source_defaults(&media);
        assert_ok(sk_source_open(files[i], &media, &source, &err), &err);
        assert_ok(sk_source_next(source, &got, &err), &err);
        assert_true(got->width == (i ? 16 : 25) &&
                    got->height == (i ? 8 : 21)); /* upright ones have some room around them */
        sk_source_release(source, got);
        sk_source_close(&source);
    }
    assert_ok(sk_crop_run_open("cut", &header, &run, &err), &err);
    assert_ok(sk_crop_run_has(run, &r, &all, &err), &err);
    assert_true(all);
    sk_crop_run_close(&run);
    assert_int_equal(unlink(files[2]), 0);
    assert_ok(sk_crop_run_open("cut", &header, &run, &err), &err);
    assert_ok(sk_crop_run_has(run, &r, &all, &err), &err);
    assert_false(all);
    sk_crop_run_close(&run);
    sk_instances_free(&found);
    free(f.data);
}

int main(void)
{
    const yolo_fixture fixture = {.head = "Detect", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "many.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_one_by_one),
        cmocka_unit_test(folders_are_numbered),
        cmocka_unit_test(crops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
