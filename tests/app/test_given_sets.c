/* SPDX-License-Identifier: Apache-2.0 */
/* Frames made of what somebody's file says, from sets written by hand: which frames there are, in what order, how many animals one may
 * have, and what each of them is. */
#include "app/given_classes.h"
#include "app/given_frames.h"
#include "skitter/log.h"
#include "support/fault.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 65536 /* animals of a frame that are followed */

static sk_error err;
static char source_a[] = "a.mp4", source_b[] = "b.mp4";
static char *sources[] = {source_a, source_b};
static const int32_t numbers[] = {4, 7};
static sk_annotation_image images[8];
static sk_annotation items[8];
static sk_annotation_set set;
static char warned[512];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", message);
}

static sk_annotation box(int32_t image, double side)
{
    return (sk_annotation){.image = image, .has = SK_HAS_BOX, .score = 0.5, .box = {1, 2, side, side}};
}

/* Images of these frames, and an animal as large as its number plus one in each. */
static void begin(size_t n, const int64_t *frames)
{
    memset(images, 0, sizeof images);
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < n; i++) {
        images[i] =
            (sk_annotation_image){.frame = frames[i], .width = 100 + (int32_t)i, .height = 50 + (int32_t)i};
        items[i] = box((int32_t)i, (double)i + 1);
    }
    set = (sk_annotation_set){.format = "CSV",
                              .n_images = n,
                              .images = images,
                              .n_items = n,
                              .items = items,
                              .n_sources = 1,
                              .sources = sources,
                              .n_classes = 2};
}

static sk_given_frames *opened(void)
{
    sk_given_frames *f = NULL;
    assert_ok(sk_given_frames_open("given.csv", &set, numbers, &f, &err), &err);
    return f;
}

/* The first, how far apart they are, and how many, in whatever order the file has them. */
static void which_frames(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        int64_t frames[5], first, count, step;
    } rows[] = {{1, {9}, 9, 1, 1},
                {2, {9, 3}, 3, 2, 6},
                {3, {9, 3, 5}, 3, 4, 2},
                {3, {5, 8, 11}, 5, 3, 3},
                {3, {11, 5, 8}, 5, 3, 3},
                {4, {20, 5, 11, 8}, 5, 6, 3},
                {5, {0, 7, 3, 1, 2}, 0, 8, 1},
                {3, {7, 7, 7}, 7, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].n, rows[i].frames);
        sk_given_frames *f = opened();
        assert_int_equal(sk_given_frames_first(f), rows[i].first);
        assert_int_equal(sk_given_frames_count(f), rows[i].count);
        for (int64_t k = 0; k < rows[i].count; k++)
            assert_int_equal(sk_given_frames_number(f, rows[i].first + k * rows[i].step), k);
        assert_int_equal(sk_given_frames_number(f, rows[i].first - rows[i].step), -1);
        assert_int_equal(sk_given_frames_number(f, rows[i].first + rows[i].count * rows[i].step), -1);
        if (rows[i].step > 1) {
            assert_int_equal(sk_given_frames_number(f, rows[i].first + 1), -1);
            assert_int_equal(sk_given_frames_number(f, rows[i].first - 1), -1);
        }
        sk_given_frames_close(&f);
        assert_null(f);
    }
    sk_given_frames_close(NULL);
}

/* A frame that any image lacks makes pictures of all; of several sources each has its own, or nobody can tell. */
static void what_is_a_video(void **state)
{
    (void)state;
    static const int64_t frames[] = {4, 2, 6};
    for (int without = -1; without < 3; without++) {
        begin(3, frames);
        if (without >= 0)
            images[without].frame = -1;
        sk_given_frames *f = opened();
        assert_int_equal(sk_given_frames_first(f), without < 0 ? 2 : 0);
        assert_int_equal(sk_given_frames_count(f), 3);
        assert_string_equal(sk_given_frames_source(f), "a.mp4");
        sk_given_frames_close(&f);
    }
    for (size_t n = 0; n < 4; n++) {
        sk_given_frames *f = NULL;
        begin(n, frames);
        set.n_sources = 2;
        const sk_status status = sk_given_frames_open("given.csv", &set, numbers, &f, &err);
        assert_int_equal(status, n == 1 || n == 3 ? SK_ERR_FORMAT : SK_OK);
        if (status == SK_OK) {
            assert_null(sk_given_frames_source(f));
            assert_int_equal(sk_given_frames_count(f), (int64_t)n);
            assert_int_equal(sk_given_frames_first(f), 0);
        } else {
            assert_string_equal(
                err.message, "given.csv: is about 2 videos, 'a.mp4' and 'b.mp4' among them; tracks are made "
                             "of one at a time: write each into a file of its own");
            assert_null(f);
        }
        sk_given_frames_close(&f);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const int64_t frames[] = {4, 2};
    int32_t width = -1, height = -1;
    begin(0, frames);
    sk_given_frames *f = opened();
    sk_given_frames_size(f, &width, &height);
    assert_true(width == 0 && height == 0);
    sk_given_frames_close(&f);
    begin(2, frames);
    f = opened();
    sk_given_frames_size(f, &width, &height); /* the first image's */
    assert_true(width == 100 && height == 50);
    sk_result_frame frame;
    assert_ok(sk_given_frames_get(f, 0, &frame, &err), &err);
    assert_true(frame.index == 2 && frame.width == 100 && frame.height == 50);
    for (int again = 0; again < 2; again++) {
        assert_ok(sk_given_frames_get(f, 0, &frame, &err), &err);
        assert_int_equal(frame.instances->count, 1);
    }
    sk_given_frames_close(&f);
}

/* The widest gap between animals, not between images; of two as wide the first. */
static void gaps(void **state)
{
    (void)state;
    static const int64_t frames[] = {2, 5, 6, 10, 14, 40};
    int64_t from = -1, to = -1;
    begin(6, frames);
    set.n_items = 5;
    sk_given_frames *f = opened();
    sk_given_frames_gap(f, &from, &to);
    assert_true(from == 6 && to == 10);
    sk_given_frames_close(&f);
    set.n_items = 2; /* the first one */
    f = opened();
    sk_given_frames_gap(f, &from, &to);
    assert_true(from == 2 && to == 5);
    sk_given_frames_close(&f);
    set.n_items = 0;
    f = opened();
    sk_given_frames_gap(f, &from, &to);
    assert_true(from == 2 && to == 2);
    sk_given_frames_close(&f);
}

/* In the file's order within a frame; those of a crowd are nobody. */
static void whose_turn(void **state)
{
    (void)state;
    static const int64_t frames[] = {8, 3, 5};
    static const int32_t image_of[] = {0, 1, 0, 2, 1, 0};
    static const int64_t asked[] = {0, 1, 1, 2, 2, 0, 2, 1, 0};
    begin(3, frames); /* 3, 5, 8 and what lies between */
    for (int32_t i = 0; i < 6; i++) {
        items[i] = box(image_of[i], i + 1);
        items[i].crowd = i == 2;
        items[i].class_id = i == 1 ? -1 : i % 2;
        items[i].score = 0.125 * i;
    }
    set.n_items = 6;
    sk_given_frames *f = opened();
    assert_int_equal(sk_given_frames_count(f), 6);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        static const int64_t number_of[] = {0, 2, 5};
        static const int wanted[3][3] = {{1, 4, -1}, {3, -1, -1}, {0, 5, -1}};
        sk_result_frame frame;
        int32_t n = 0;
        assert_ok(sk_given_frames_get(f, number_of[asked[i]], &frame, &err), &err);
        assert_int_equal(frame.index, 3 + number_of[asked[i]]);
        for (; wanted[asked[i]][n] >= 0; n++) {
            const int item = wanted[asked[i]][n];
            assert_true(n < frame.instances->count);
            const sk_found *in = &frame.instances->items[n];
            assert_true(in->box[0] == 1 && in->box[1] == 2 && in->box[2] == (float)(item + 2) &&
                        in->box[3] == (float)(item + 3));
            assert_int_equal(in->class_id, item == 1 ? -1 : numbers[item % 2]);
            assert_true(in->score == 0.125F * (float)item && in->has == SK_HAS_BOX && in->track_id == -1);
        }
        assert_int_equal(frame.instances->count, n);
    }
    sk_given_frames_close(&f);
}

/* Oriented boxes and points are as the file has them; who has no points gets none of another's. */
static void what_they_are(void **state)
{
    (void)state;
    static const int64_t frames[] = {0};
    sk_annotation_point points[] = {{9, 9, 9, 2}, {10, 20, 0.5, 2}, {30, 40, 0.25, 1}, {8, 8, 8, 2}};
    begin(1, frames);
    set.n_keypoints = 2;
    set.points = points, set.n_points = 4;
    items[0] = box(0, 5);
    items[1] = (sk_annotation){
        .has = SK_HAS_OBB | SK_HAS_KEYPOINTS, .obb = {50, 60, 30, 10, 0.5}, .score = 1, .first = 1};
    set.n_items = 2;
    sk_given_frames *f = opened();
    sk_result_frame frame;
    assert_ok(sk_given_frames_get(f, 0, &frame, &err), &err);
    assert_int_equal(frame.instances->count, 2);
    assert_int_equal(frame.instances->n_keypoints, 2);
    const sk_found *b = &frame.instances->items[0], *a = &frame.instances->items[1];
    const float obb[] = {50, 60, 30, 10, 0.5F};
    assert_memory_equal(a->obb, obb, sizeof obb);
    const sk_keypoint *p = frame.instances->keypoints + a->first_keypoint;
    assert_true(p[0].x == 10 && p[0].y == 20 && p[0].score == 0.5F);
    assert_true(p[1].x == 30 && p[1].y == 40 && p[1].score == 0.25F);
    p = frame.instances->keypoints + b->first_keypoint;
    for (int k = 0; k < 2; k++)
        assert_true(isnan(p[k].x) && isnan(p[k].y) && p[k].score == 0);
    sk_given_frames_close(&f);
}

static void as_many_as_are_followed(void **state)
{
    (void)state;
    static const int64_t frames[] = {3, 4};
    sk_annotation *many = calloc(MOST + 2, sizeof *many);
    assert_non_null(many);
    for (int more = 0; more < 2; more++) {
        sk_given_frames *f = NULL;
        begin(2, frames);
        many[0] = box(0, 1);
        for (int i = 1; i < MOST + 1 + more; i++)
            many[i] = box(1, 1);
        set.items = many;
        set.n_items = (size_t)(MOST + 1 + more);
        const sk_status status = sk_given_frames_open("given.csv", &set, numbers, &f, &err);
        assert_int_equal(status, more ? SK_ERR_LIMIT : SK_OK);
        if (more) {
            assert_string_equal(err.message,
                                "given.csv: a frame has 65537 detections; at most 65536 are followed");
        } else {
            sk_result_frame frame;
            assert_ok(sk_given_frames_get(f, 1, &frame, &err), &err);
            assert_int_equal(frame.instances->count, MOST);
        }
        sk_given_frames_close(&f);
    }
    free(many);
}

/* How many have no place or no size, and where the first of them is. */
static void unsound(void **state)
{
    (void)state;
    static const int64_t frames[] = {3, 4, 5, 6};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (int n = 0; n < 5; n++) {
        begin(4, frames);
        for (int i = 4 - n; i < 4; i++)
            items[i].box[2] = -1;
        warned[0] = '\0';
        sk_given_frames *f = opened();
        sk_given_frames_close(&f);
        char wanted[100] = "";
        if (n)
            snprintf(wanted, sizeof wanted, "given.csv: %d of 4 detections, the first of them in frame %d, ",
                     n, 7 - n);
        assert_int_equal(strncmp(warned, wanted, n ? strlen(wanted) : 1), 0);
    }
    sk_log_unlisten(&listener);
}

/* COCO's numbers begin with 1, unless any of them is 0. */
static void numbers_of_classes(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        int64_t numbers[3];
        int32_t wanted[3];
        int changed;
    } rows[] = {{"COCO dataset", {1, 2, 3}, {0, 1, 2}, 0}, {"COCO results", {5, 2, 1}, {4, 1, 0}, 0},
                {"COCO dataset", {0, 2, 3}, {0, 2, 3}, 0}, {"COCO dataset", {3, 0, 2}, {3, 0, 2}, 0},
                {"COCO dataset", {3, 2, 0}, {3, 2, 0}, 0}, {"COCO dataset", {-1, 2, 3}, {0, 1, 2}, 0},
                {"CSV", {1, 2, 3}, {1, 2, 3}, 0},          {"COCO dataset", {2, 2, 2}, {1, 0, 2}, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char names[3][2] = {"a", "b", "c"};
        sk_annotation_class classes[3];
        sk_given_classes given = {0};
        for (int k = 0; k < 3; k++)
            classes[k] = (sk_annotation_class){rows[i].numbers[k], names[k]};
        const sk_annotation_set some = {.format = rows[i].format, .classes = classes, .n_classes = 3};
        assert_ok(sk_given_classes_of(&some, &given, &err), &err);
        int32_t most = 0;
        for (int k = 0; k < 3; k++) {
            if (given.number[k] != rows[i].wanted[k])
                fail_msg("row %zu: class %d is %d", i, k, given.number[k]);
            assert_string_equal(given.names[given.number[k]], names[k]);
            most = given.number[k] > most ? given.number[k] : most;
        }
        assert_true(given.count == most + 1 && given.changed == rows[i].changed);
        for (int32_t k = 0; k < given.count; k++) /* numbers that nobody has are called nothing */
            assert_true(k == given.number[0] || k == given.number[1] || k == given.number[2] ||
                        given.names[k][0] == '\0');
        sk_given_classes_free(&given);
        assert_true(!given.number && !given.names && given.count == 0);
    }
    const sk_annotation_set nothing = {.format = "CSV"};
    sk_given_classes given = {0};
    assert_ok(sk_given_classes_of(&nothing, &given, &err), &err);
    assert_true(given.count == 0 && given.changed == 0);
    sk_given_classes_free(&given);
}

static sk_status use(void *context, sk_error *error)
{
    (void)context;
    sk_given_frames *f = NULL;
    sk_result_frame frame;
    SK_TRY(sk_given_frames_open("given.csv", &set, numbers, &f, error));
    const sk_status status = sk_given_frames_get(f, 1, &frame, error);
    sk_given_frames_close(&f);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    static const int64_t frames[] = {3, 4};
    begin(2, frames);
    assert_true(test_every_allocation(use, NULL) >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_frames),
        cmocka_unit_test(what_is_a_video),
        cmocka_unit_test(sizes),
        cmocka_unit_test(gaps),
        cmocka_unit_test(whose_turn),
        cmocka_unit_test(what_they_are),
        cmocka_unit_test(unsound),
        cmocka_unit_test(as_many_as_are_followed),
        cmocka_unit_test(numbers_of_classes),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
