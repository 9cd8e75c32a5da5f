/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a source by number, small or whole, with a run's tracks drawn in; kept while nothing is drawn. */
#include "track_fixture.h"

#include "app/frame_reader.h"
#include "media/overlay.h"
#include "media/video_sink.h"
#include "skitter/source.h"

#include <unistd.h>

#define WIDTH  320
#define HEIGHT 256

static void put_pictures(int count)
{
    char path[64];
    uint8_t *pixels = sk_malloc((size_t)WIDTH * HEIGHT * 3);
    const sk_frame f = {
        .format = SK_PIXEL_RGB, .width = WIDTH, .height = HEIGHT, .stride = 3 * WIDTH, .data = pixels};
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < count; i++) {
        memset(pixels, 60 + 4 * i, (size_t)WIDTH * HEIGHT * 3);
        snprintf(path, sizeof path, "pictures/%03d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
    sk_free(pixels);
}

typedef struct seen {
    int32_t width, height, level; /* level: of the upper right corner, where nobody is */
    int changed[8][10];           /* cells of 32 pixels: how many differ from that */
} seen;

static seen look(const sk_blob *jpeg)
{
    seen s = {0};
    sk_source *source = NULL;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    const sk_frame *f = NULL;
    assert_ok(sk_file_replace("seen.jpg", sk_blob_data(jpeg), sk_blob_bytes(jpeg), &err), &err);
    sk_source_defaults(&media);
    assert_ok(sk_source_open("seen.jpg", &media, &source, &err), &err);
    assert_ok(sk_source_next(source, &f, &err), &err);
    s.width = f->width;
    s.height = f->height;
    s.level = f->data[3 * (f->width > 1 ? f->width - 2 : 0)];
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            s.changed[y / 32][x / 32] += abs(f->data[y * f->stride + 3 * x] - s.level) > 30 ||
                                         abs(f->data[y * f->stride + 3 * x + 1] - s.level) > 30;
    sk_source_release(source, f);
    sk_source_close(&source);
    return s;
}

static sk_frame_reader *reader;

static seen picture(const sk_frame_wanted *w)
{
    sk_blob *jpeg = NULL;
    int64_t given = -1;
    assert_ok(sk_frame_reader_jpeg(reader, w, &jpeg, &given, &err), &err);
    assert_int_equal(given, w->n);
    const seen s = look(jpeg);
    sk_blob_unref(&jpeg);
    return s;
}

static void by_number(void **state)
{
    (void)state;
    sk_blob *one = NULL, *two = NULL;
    const sk_frame *frame = NULL;
    int64_t given;
    put_pictures(20);
    assert_ok(sk_frame_reader_open("pictures", NULL, &reader, &err), &err);
    static const int64_t numbers[] = {3, 19, 0, 4, 3, 3, 2, 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const seen s = picture(&(sk_frame_wanted){.n = numbers[i]});
        assert_true(s.width == WIDTH && s.height == HEIGHT && abs(s.level - (60 + 4 * (int)numbers[i])) <= 2);
        assert_ok(sk_frame_reader_get(reader, numbers[i], &frame, &err), &err);
        assert_true(frame->index == numbers[i] && frame->data[0] == 60 + 4 * numbers[i]);
    }
    static const int widths[][3] = {{0, 320, 256},   {320, 320, 256}, {321, 320, 256},
                                    {319, 319, 255}, {160, 160, 128}, {1, 1, 1}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const seen s = picture(&(sk_frame_wanted){.n = 5, .width = widths[i][0]});
        assert_true(s.width == widths[i][1] && s.height == widths[i][2]);
    }
    const sk_frame_wanted same = {.n = 7}, narrow = {.n = 7, .width = 50};
    assert_ok(sk_frame_reader_jpeg(reader, &same, &one, &given, &err), &err);
    assert_ok(sk_frame_reader_jpeg(reader, &same, &two, &given, &err), &err);
    assert_ptr_equal(one, two); /* kept */
    sk_blob_unref(&two);
    assert_ok(sk_frame_reader_jpeg(reader, &narrow, &two, &given, &err), &err);
    assert_ptr_not_equal(one, two); /* of another size */
    sk_blob_unref(&two);
    for (int i = 0; i < 40; i++) /* more than are kept: the oldest goes, who was asked for stays */
        for (int again = 0; again < 2; again++) {
            const sk_frame_wanted w = again ? same : (sk_frame_wanted){.n = i % 20, .width = 20 + i};
            assert_ok(sk_frame_reader_jpeg(reader, &w, &two, &given, &err), &err);
            if (again)
                assert_ptr_equal(one, two);
            sk_blob_unref(&two);
        }
    sk_blob_unref(&one);
    assert_int_equal(sk_frame_reader_jpeg(reader, &(sk_frame_wanted){.n = 20}, &one, &given, &err),
                     SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "has no frame 20"));
    assert_int_equal(sk_frame_reader_jpeg(reader, &(sk_frame_wanted){.n = -1}, &one, &given, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_frame_reader_get(reader, -1, &frame, &err), SK_ERR_ARG);
    assert_null(one);
    sk_frame_reader_close(&reader);
    assert_null(reader);
    assert_int_equal(sk_frame_reader_open("0", NULL, &reader, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "0: gives its frames once; there is nothing to go back to");
    assert_int_equal(sk_frame_reader_open("-", NULL, &reader, &err), SK_ERR_UNSUPPORTED);
    assert_int_not_equal(sk_frame_reader_open("nowhere.mp4", NULL, &reader, &err), SK_OK);
    assert_null(reader);
}

/* The first mouse is at x = 20 + 4 n, y = 50; the third at 150, 200 + n. */
static void with_tracks(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"jsonl", NULL};
    sk_run_view *view = NULL;
    put_mice("mice.csv", 16);
    trial_defaults(&t, "mice.csv", "run", formats);
    assert_ok(trial_run(&t), &err);
    assert_ok(sk_run_view_open("run", &view, &err), &err);
    assert_ok(sk_frame_reader_open("pictures", NULL, &reader, &err), &err);
    seen s = picture(&(sk_frame_wanted){.n = 15, .view = view, .draw = SK_DRAW_BOXES});
    assert_true(s.changed[1][2] > 20 && s.changed[6][4] > 10 &&
                s.changed[3][6] > 5); /* 80,50; 150,215; 200,120 */
    assert_true(s.changed[1][0] == 0 && s.changed[1][5] == 0 && s.changed[7][0] == 0);
    s = picture(&(sk_frame_wanted){.n = 15, .view = view, .draw = SK_DRAW_TRAILS});
    assert_true(s.changed[1][1] > 20); /* where the first came along */
    s = picture(&(sk_frame_wanted){.n = 15});
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 10; x++)
            assert_int_equal(s.changed[y][x], 0); /* what was drawn is not kept */
    s = picture(&(sk_frame_wanted){.n = 0, .view = view, .draw = SK_DRAW_BOXES});
    assert_true(s.changed[1][0] > 20 && s.changed[1][2] == 0);
    s = picture(
        &(sk_frame_wanted){.n = 17, .view = view, .draw = SK_DRAW_ALL}); /* the run did not look at it */
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 10; x++)
            assert_int_equal(s.changed[y][x], 0);
    s = picture(&(sk_frame_wanted){.n = 15, .view = view, .draw = SK_DRAW_BOXES, .width = 160});
    assert_true(s.width == 160 && s.changed[0][1] > 5);
    sk_frame_reader_close(&reader);
    sk_run_view_close(&view);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_number), cmocka_unit_test(with_tracks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
