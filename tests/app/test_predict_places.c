/* SPDX-License-Identifier: Apache-2.0 */
/* Where the results of several sources go: folders of their own, one that cannot be made, one that something else lies in; and pictures
 * that are one source together. */
#include "predict_fixture.h"

#include "app/predict_many.h"

#include <unistd.h>

static sk_text said;

static void item_begins(void *context, const sk_predict_item *item)
{
    (void)context;
    sk_text_appendf(&said, "%zu/%zu %s -> %s", item->number, item->count, item->source, item->out);
    assert_true(item->status == SK_OK && item->report.frames == 0 && item->error.message[0] == '\0');
}

static void item_ends(void *context, const sk_predict_item *item)
{
    (void)context;
    if (item->status == SK_OK)
        sk_text_appendf(&said, ": %lld frames\n", (long long)item->report.frames);
    else
        sk_text_appendf(&said, ": %s\n", item->error.message);
}

static const sk_predict_many_watch watch = {.begin = item_begins, .end = item_ends};

static void folders_that_cannot_be_made(void **state)
{
    (void)state;
    char *out = NULL;
    assert_int_equal(sk_predict_fresh_folder("no/where", &out, &err), SK_ERR_IO);
    assert_string_equal(err.message,
                        "runs/no/where1: the folder for the results cannot be made: No such file or "
                        "directory. Name one with --out");
    assert_null(out);
    assert_int_equal(rmdir("runs"), 0);
    assert_ok(sk_file_replace("runs", "x", 1, &err), &err);
    assert_int_not_equal(sk_predict_fresh_folder("track", &out, &err), SK_OK);
    assert_null(out);
    assert_int_equal(unlink("runs"), 0);
    assert_ok(sk_predict_fresh_folder("track", &out, &err), &err);
    assert_string_equal(out, "runs/track1");
    sk_free(out);
}

static void what_lies_in_the_way(void **state)
{
    (void)state;
    char two[] = "two", one[] = "one";
    put_pictures(two, 2);
    put_pictures(one, 1);
    sk_source_item items[] = {{.source = two, .name = two}, {.source = one, .name = one}};
    const sk_source_list list = {.items = items, .count = 2, .many = true};
    sk_predict_many_report r;
    assert_ok(sk_folder_make("out", &err), &err);
    assert_ok(sk_file_replace("out/two", "x", 1, &err), &err); /* a file */
    sk_predict_settings s = quick(NULL, "out");
    assert_ok(sk_predict_many(&s, &list, &watch, &r, &err), &err);
    assert_true(r.sources == 2 && r.failed == 1 && r.done == 1 && r.frames == 1 && r.instances == 3);
    assert_string_equal(
        sk_text_get(&said),
        "0/2 two -> out/two: out/two: is no folder, where the source's results belong; remove "
        "it\n1/2 one -> out/one: 1 frames\n");
    sk_text_clear(&said);
    assert_int_equal(unlink("out/two"), 0);
    assert_ok(sk_folder_make("out/two", &err), &err); /* a folder is none in the way */
    assert_ok(sk_predict_many(&s, &list, &watch, &r, &err), &err);
    assert_true(r.failed == 0 && r.done == 2 && r.frames == 3);
    assert_string_equal(sk_text_get(&said), "0/2 two -> out/two: 2 frames\n1/2 one -> out/one: 0 frames\n");
    sk_text_clear(&said);
}

/* Pictures by their names are one source: a list of them lies in the run's folder. */
static void pictures_by_name(void **state)
{
    (void)state;
    char first[] = "three/002.png", second[] = "three/000.png", name[] = "pictures";
    char *pictures[] = {first, second};
    put_pictures("three", 3);
    sk_source_item items[] = {{.source = NULL, .name = name}};
    const sk_source_list list = {.items = items, .count = 1, .pictures = pictures, .n_pictures = 2};
    sk_predict_many_report r;
    sk_predict_settings s = quick(NULL, "listed");
    assert_ok(sk_predict_many(&s, &list, &watch, &r, &err), &err);
    assert_true(r.sources == 1 && r.done == 1 && r.frames == 2 && r.instances == 6);
    assert_string_equal(sk_text_get(&said), "0/1 listed/pictures.txt -> listed: 2 frames\n");
    sk_text_clear(&said);
    assert_true(count_of("listed", "pictures.txt", "three/002.png\n") == 1 &&
                count_of("listed", "pictures.txt", "three/") == 2);
    assert_true(count_of("listed", "results.jsonl", "/000.png") == 1 &&
                count_of("listed", "results.jsonl", "/001.png") == 0);
    const sk_source_list other = {.items = items, .count = 1, .pictures = pictures, .n_pictures = 1};
    assert_int_equal(sk_predict_many(&s, &other, &watch, &r, &err), SK_ERR_MISMATCH); /* another list */
    assert_non_null(strstr(err.message, "listed holds a run over other pictures: listed/pictures.txt"));
    assert_string_equal(sk_text_get(&said), "");
    s.restart = true;
    assert_ok(sk_predict_many(&s, &other, &watch, &r, &err), &err);
    assert_int_equal(r.frames, 1);
    sk_text_free(&said);
}

int main(void)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&pose, "pose.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_that_cannot_be_made),
                                       cmocka_unit_test(what_lies_in_the_way),
                                       cmocka_unit_test(pictures_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
