/* SPDX-License-Identifier: Apache-2.0 */
/* Who finds animals on a still background, asked frame by frame: which frames make the background, what a run that goes on is shown
 * again, and sources that have no frames to spare. */
#include "support/test.h"

#include "app/finder_background.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/draw.h"
#include "media/reader.h"
#include "media/source_told.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH  64
#define HEIGHT 48
#define COUNT  18

static sk_error err;

/* Pictures that are grey all over, each of its own shade. */
static void put_shades(const char *folder, const uint8_t *shades, int n, int32_t last_width)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    char path[128];
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < n; i++) {
        const int32_t width = i + 1 == n ? last_width : WIDTH;
        const sk_frame f = {.format = SK_PIXEL_RGB,
                            .width = width,
                            .height = HEIGHT,
                            .stride = 3 * (ptrdiff_t)width,
                            .data = pixels};
        memset(pixels, shades[i], sizeof pixels);
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
}

typedef struct trial {
    sk_track_wish wish;
    sk_source_settings media;
    sk_source_info info;
    sk_finder_background f;
    sk_finder_source source;
} trial;

static void begin_trial(trial *t, const char *folder)
{
    *t = (trial){.media = SK_SOURCE_SETTINGS_INIT,
                 .info = {.width = WIDTH, .height = HEIGHT, .frames = COUNT, .kind = SK_SOURCE_PICTURES}};
    sk_track_wish_defaults(&t->wish);
    t->wish.background.following = 0;
    t->wish.background.steady_light = false;
    sk_source_defaults(&t->media);
    t->source = (sk_finder_source){.source = folder, .media = &t->media, .info = &t->info, .last = -1};
    assert_ok(sk_finder_background_open(&t->wish, &t->f, &err), &err);
}

/* Looks at a frame of one shade, and says which shade the background has. */
static int ground_of(trial *t, uint8_t shade)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const sk_instances *found = NULL;
    const sk_frame f = {.size = sizeof f,
                        .format = SK_PIXEL_RGB,
                        .width = WIDTH,
                        .height = HEIGHT,
                        .stride = 3 * WIDTH,
                        .data = pixels,
                        .index = COUNT};
    memset(pixels, shade, sizeof pixels);
    assert_ok(t->f.finder.find(t->f.finder.context, &f, &found, &err), &err);
    assert_ptr_equal(found, &t->f.found);
    assert_true(found->capacity == 4096 && found->n_keypoints == 0);
    return sk_background_picture(t->f.background)[WIDTH + 1];
}

static sk_status begin_run(trial *t)
{
    return t->f.finder.begin(t->f.finder.context, &t->source, &err);
}

static int ground_of_run(trial *t, uint8_t shade)
{
    assert_ok(begin_run(t), &err);
    const int ground = ground_of(t, shade);
    t->f.finder.end(t->f.finder.context);
    assert_null(t->f.background);
    return ground;
}

/* The background is the median of frames from all over: which ones tells their shade. */
static void frames_that_make_it(void **state)
{
    (void)state;
    uint8_t shades[COUNT];
    trial t;
    for (int i = 0; i < COUNT; i++)
        shades[i] = i % 6 == 0 ? 40 : i % 3 == 0 ? 80 : i % 2 == 0 ? 120 : 160;
    put_shades("shades", shades, COUNT, WIDTH); /* 3 of 40, 3 of 80, 6 of 120, 6 of 160 */
    begin_trial(&t, "shades");
    const int32_t wanted = 31;
    assert_int_equal(ground_of_run(&t, 200), 120); /* all of them */
    t.info.frames = wanted;
    assert_int_equal(ground_of_run(&t, 200), 120);
    t.info.frames = 2 * wanted - 1; /* as if there were more: still each */
    assert_int_equal(ground_of_run(&t, 200), 120);
    t.info.frames = 3 * (int64_t)wanted; /* every third: 40 80 40 80 40 80 */
    const int third = ground_of_run(&t, 200);
    assert_true(third == 40 || third == 80 || third == 60);
    t.info.frames = 6 * (int64_t)wanted + 5; /* every sixth */
    assert_int_equal(ground_of_run(&t, 200), 40);
    t.info.frames = 3 * (int64_t)wanted; /* every third of every second: every sixth */
    t.media.step = 2;
    assert_int_equal(ground_of_run(&t, 200), 40);
    t.media.step = 0; /* as one */
    assert_int_equal(ground_of_run(&t, 200), third);
    t.media.step = 1;
    t.info.frames = 6 * (int64_t)wanted;
    const sk_frame_range ranges[] = {{1, 6, 4}, {7, 12, 4}, {13, 18, 4}}; /* 1 5, 7 11, 13 17: all of 160 */
    t.media.ranges = ranges;
    t.media.n_ranges = 3;
    assert_int_equal(ground_of_run(&t, 200), 160); /* those that are asked for, each */
    t.media.ranges = NULL;
    t.media.n_ranges = 0;
    t.info.frames = -1; /* nobody knows how many */
    t.media.first = 12;
    t.media.last = 13;
    t.media.loop = 0; /* which would never end */
    assert_int_equal(ground_of_run(&t, 200), 40);
    sk_finder_background_close(&t.f);
}

/* What is read once, or is live, has no frames to spare: the first that is looked at is the background. */
static void nothing_to_spare(void **state)
{
    (void)state;
    trial t;
    begin_trial(&t, "shades");
    t.info.once = true;
    assert_int_equal(ground_of_run(&t, 200), 200);
    t.info.once = false;
    t.info.kind = SK_SOURCE_LIVE;
    assert_int_equal(ground_of_run(&t, 210), 210);
    t.info.kind = SK_SOURCE_VIDEO;
    assert_int_equal(ground_of_run(&t, 200), 120);
    static const int32_t sizes[][2] = {{0, HEIGHT}, {WIDTH, 0}, {-1, 5}, {0, 0}};
    for (int i = 0; i < 4; i++) { /* its size is told by its first frame */
        t.info.width = sizes[i][0];
        t.info.height = sizes[i][1];
        assert_ok(begin_run(&t), &err);
        assert_null(t.f.background);
        assert_int_equal(ground_of(&t, 220), 220);
        assert_int_equal(ground_of(&t, 90), 220); /* and stays */
        t.f.finder.end(t.f.finder.context);
    }
    t.info.width = WIDTH;
    t.info.height = HEIGHT;
    assert_ok(begin_run(&t), &err); /* begun twice: what was there goes */
    assert_ok(begin_run(&t), &err);
    assert_int_equal(ground_of(&t, 200), 120);
    sk_finder_background_close(&t.f);
    sk_finder_background_close(&t.f);
}

/* The background follows; one that goes on behind frame 8 stands where one stands that has seen frames 0 to 8. */
static void a_run_that_goes_on(void **state)
{
    (void)state;
    uint8_t shades[COUNT], before[WIDTH * HEIGHT];
    trial t;
    for (int i = 0; i < COUNT; i++)
        shades[i] = (uint8_t)(i < 10 ? 100 : 180);
    put_shades("follows", shades, COUNT, WIDTH);
    for (int last = -1; last < COUNT; last += 3) {
        begin_trial(&t, "follows");
        t.wish.background.following = 4;
        assert_ok(begin_run(&t), &err);
        sk_source *source = NULL;
        const sk_frame *frame = NULL;
        const sk_instances *found = NULL;
        assert_ok(sk_source_open("follows", &t.media, &source, &err), &err);
        for (;;) {
            assert_ok(sk_source_next(source, &frame, &err), &err);
            if (!frame || frame->index > last)
                break;
            assert_ok(t.f.finder.find(t.f.finder.context, frame, &found, &err), &err);
            sk_source_release(source, frame);
        }
        if (frame)
            sk_source_release(source, frame);
        sk_source_close(&source);
        if (last >= 0)
            memcpy(before, sk_background_picture(t.f.background), sizeof before);
        t.f.finder.end(t.f.finder.context);
        t.source.last = last;
        assert_ok(begin_run(&t), &err);
        if (last >= 0)
            assert_memory_equal(before, sk_background_picture(t.f.background), sizeof before);
        sk_finder_background_close(&t.f);
    }
    assert_true(before[5] > 100); /* it has followed */
}

static void what_fails(void **state)
{
    (void)state;
    trial t;
    uint8_t shades[4] = {100, 100, 100, 100};
    put_shades("sizes", shades, 4, WIDTH / 2); /* the last has another size */
    begin_trial(&t, test_missing("folder"));
    assert_int_equal(begin_run(&t), SK_ERR_NOT_FOUND);
    sk_finder_background_close(&t.f);
    begin_trial(&t, "sizes");
    assert_int_not_equal(begin_run(&t), SK_OK);
    t.media.last = 3;
    assert_ok(begin_run(&t), &err);
    t.info.once = true; /* no frames are spared, but it goes on: the last one is shown to it */
    t.media.last = -1;
    t.source.last = 2;
    assert_ok(begin_run(&t), &err);
    t.source.last = 3;
    assert_int_not_equal(begin_run(&t), SK_OK);
    sk_finder_background_close(&t.f);
    begin_trial(&t, "sizes");
    t.wish.background.gamma = -1;
    assert_int_not_equal(begin_run(&t), SK_OK);
    sk_finder_background_close(&t.f);
}

static void what_it_is(void **state)
{
    (void)state;
    trial t;
    begin_trial(&t, "shades");
    const sk_finder *f = &t.f.finder;
    assert_string_equal(f->name, "background");
    assert_true(f->n_classes == 1 && f->oriented && f->context == &t.f);
    assert_string_equal(f->class_names[0], "animal");
    sk_text text = {0};
    sk_finder_background_identity(&t.wish, &text);
    assert_string_equal(f->identity, sk_text_get(&text));
    assert_int_equal(strncmp(f->identity, "detector\tbackground\n", 20), 0);
    int lines = 0, wanted = 1;
    for (const char *at = f->identity; *at; at++)
        lines += *at == '\n';
    for (size_t i = 0; sk_track_setting_at(i); i++)
        wanted += sk_track_setting_finds(sk_track_setting_at(i));
    assert_true(lines == wanted && wanted > 8);
    sk_text_clear(&text);
    t.wish.background.least_area = 33.25; /* settings are told as they are */
    sk_finder_background_identity(&t.wish, &text);
    assert_non_null(strstr(sk_text_get(&text), "\t33.25\n"));
    assert_null(strstr(f->identity, "\t33.25\n"));
    sk_text_free(&text);
    sk_finder_background_close(&t.f);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_that_make_it), cmocka_unit_test(nothing_to_spare),
        cmocka_unit_test(a_run_that_goes_on), cmocka_unit_test(what_fails), cmocka_unit_test(what_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
