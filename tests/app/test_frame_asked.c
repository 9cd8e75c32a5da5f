/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader of single frames asks of the file: where it seeks, what is kept on the way back, when an earlier frame is given, how a
 * picture is made and what is drawn in it. The file, the clock and who draws and packs are this test's own. */
#include "frame_fixture.h"

/* --- asking --- */

static sk_frame_reader *reader;

static void begin(const char *source)
{
    stands = true;
    shown = 50 * SECOND;
    reading_costs = 0;
    gives = -1;
    nothing_yet = false;
    frame_width = 64, frame_height = 48;
    assert_ok(sk_frame_reader_open(source, "topic", &reader, &err), &err);
    (void)told();
}

/* Frame n: which is given. */
static int64_t ask(sk_frame_wanted wanted)
{
    sk_blob *jpeg = NULL;
    int64_t given = -1;
    assert_ok(sk_frame_reader_jpeg(reader, &wanted, &jpeg, &given, &err), &err);
    assert_int_equal(((const uint8_t *)sk_blob_data(jpeg))[0], given);
    sk_blob_unref(&jpeg);
    return given;
}

#define ASK(...) ask((sk_frame_wanted){__VA_ARGS__})

static void how_it_is_opened(void **state)
{
    (void)state;
    static const int32_t rows[][2] = {{1, 2}, {2, 2}, {3, 3}, {7, 7}, {8, 8}, {9, 8}, {64, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cores = rows[i][0];
        assert_ok(sk_frame_reader_open("file:///v.mp4", "eye", &reader, &err), &err);
        assert_string_equal(told(), "open /v.mp4 ");
        assert_true(opened_with.first == 0 && opened_with.last == -1 && opened_with.threads == rows[i][1]);
        assert_string_equal(opened_with.topic, "eye");
        sk_frame_reader_close(&reader);
        assert_string_equal(told(), "closed ");
    }
    static const char *const none[] = {"camera", "pipe"};
    for (int i = 0; i < 2; i++) {
        char wanted[100];
        assert_int_equal(sk_frame_reader_open(none[i], NULL, &reader, &err), SK_ERR_UNSUPPORTED);
        snprintf(wanted, sizeof wanted, "%s: gives its frames once; there is nothing to go back to", none[i]);
        assert_string_equal(err.message, wanted);
        assert_null(reader);
    }
    begin("pictures"); /* each is opened for itself, up to the one behind it */
    const sk_frame *frame = NULL;
    for (int64_t n = 0; n < 3; n++) {
        assert_ok(sk_frame_reader_get(reader, n, &frame, &err), &err);
        assert_true(frame->index == n && opened_with.first == n);
        assert_true(n == 0 || opened_with.last == n + 1);
    }
    assert_ok(sk_frame_reader_get(reader, 2, &frame, &err), &err); /* it is there */
    assert_string_equal(told(), "open pictures 0 closed open pictures 1 closed open pictures 2 closed ");
    sk_frame_reader_close(&reader);
    assert_string_equal(told(), "");
}

static void what_is_none(void **state)
{
    (void)state;
    const sk_frame *frame = NULL;
    sk_blob *jpeg = NULL;
    int64_t given = 0;
    begin("v");
    assert_int_equal(sk_frame_reader_get(reader, -1, &frame, &err), SK_ERR_ARG);
    assert_int_equal(sk_frame_reader_get(reader, 100, &frame, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "v: has no frame 100");
    assert_null(frame);
    assert_ok(sk_frame_reader_get(reader, 99, &frame, &err), &err);
    assert_int_equal(sk_frame_reader_jpeg(reader, &(sk_frame_wanted){.n = 100}, &jpeg, &given, &err),
                     SK_ERR_NOT_FOUND);
    assert_true(!jpeg && given == 100);
    assert_int_equal(sk_frame_reader_jpeg(reader, &(sk_frame_wanted){.n = -1}, &jpeg, &given, &err),
                     SK_ERR_ARG);
    (void)told();
    assert_ok(sk_frame_reader_get(reader, 99, &frame, &err), &err); /* what failed has no frame any more */
    assert_string_equal(told(), "99 ");
    sk_frame_reader_close(&reader);
}

/* Forward each is read for itself. Who goes back by up to eleven wants those before it, too: they are kept on the way. */
static void on_the_way_back(void **state)
{
    (void)state;
    begin("v");
    assert_int_equal(ASK(.n = 50), 50);
    assert_int_equal(ASK(.n = 51), 51);
    assert_string_equal(told(), "50 pack 50 51 pack 51 ");
    assert_int_equal(ASK(.n = 49), 49);
    assert_string_equal(told(),
                        "38 pack 38 39 pack 39 40 pack 40 41 pack 41 42 pack 42 43 pack 43 44 pack 44 45 "
                        "pack 45 46 pack 46 47 pack 47 48 pack 48 49 pack 49 ");
    for (int64_t n = 48; n >= 38; n--) {
        assert_int_equal(ASK(.n = n), n);
        assert_string_equal(told(), "");
    }
    assert_int_equal(ASK(.n = 27), 27); /* eleven back */
    assert_int_equal(strncmp(told(), "16 pack 16 17 pack 17 ", 22), 0);
    assert_int_equal(ASK(.n = 15), 15); /* twelve: somewhere else */
    assert_string_equal(told(), "15 pack 15 ");
    assert_int_equal(ASK(.n = 11), 11);
    assert_int_equal(strncmp(told(), "0 pack 0 1 pack 1 ", 18), 0);
    assert_int_equal(ASK(.n = 60), 60);
    assert_int_equal(ASK(.n = 55), 55);
    (void)told();
    sk_frame_reader_close(&reader);
    begin("v"); /* from the first one on, where fewer lie before it */
    assert_int_equal(ASK(.n = 12), 12);
    assert_int_equal(ASK(.n = 5), 5);
    assert_string_equal(told(), "12 pack 12 0 pack 0 1 pack 1 2 pack 2 3 pack 3 4 pack 4 5 pack 5 ");
    sk_frame_reader_close(&reader);
    begin("pictures"); /* they cost the same from anywhere */
    assert_int_equal(ASK(.n = 50), 50);
    assert_int_equal(ASK(.n = 49), 49);
    assert_string_equal(told(), "open pictures 50 closed pack 50 open pictures 49 closed pack 49 ");
    assert_int_equal(ASK(.n = 49, .width = 32), 49); /* another picture of the same frame */
    assert_string_equal(told(), "shrink to 32x24 pack 49 ");
    assert_int_equal(ASK(.n = 49, .width = 32), 49);
    assert_string_equal(told(), "");
    sk_frame_reader_close(&reader);
}

static void how_wide(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height, wanted;
        const char *told;
    } rows[] = {{64, 48, 0, ""},
                {64, 48, 64, ""},
                {64, 48, 65, ""},
                {64, 48, 63, "shrink to 63x47 "},
                {64, 48, 1, "shrink to 1x1 "},
                {64, 2, 16, "shrink to 16x1 "},
                {64, 48, -5, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char wanted[64];
        begin("v");
        frame_width = rows[i].width, frame_height = rows[i].height;
        assert_int_equal(ASK(.n = 3, .width = rows[i].wanted), 3);
        snprintf(wanted, sizeof wanted, "3 %spack 3 ", rows[i].told);
        assert_string_equal(told(), wanted);
        sk_frame_reader_close(&reader);
    }
}

/* Rather an earlier frame than a later answer, where there is one before; the first is waited for. */
static void in_time(void **state)
{
    (void)state;
    begin("v");
    reading_costs = 30 * MS;
    gives = 40;
    assert_int_equal(ASK(.n = 50, .within = 30), 50); /* nothing to give instead */
    assert_int_equal(ASK(.n = 60, .within = 31), 60); /* in time */
    assert_int_equal(ASK(.n = 70, .within = 30), 40); /* it has come so far */
    gives = 45;
    assert_int_equal(ASK(.n = 70, .within = 30), 45);
    gives = -1;
    assert_int_equal(ASK(.n = 70, .within = 30), 70);
    nothing_yet = true; /* it has come to none: the one before */
    assert_int_equal(ASK(.n = 90, .within = 30), 70);
    assert_int_equal(ASK(.n = 90), 90); /* that frame, whenever */
    sk_frame_reader_close(&reader);
    begin("v"); /* on the way back, too */
    assert_int_equal(ASK(.n = 50), 50);
    reading_costs = 10 * MS;
    (void)told();
    assert_int_equal(ASK(.n = 49, .within = 25), 40);
    assert_string_equal(told(), "38 pack 38 39 pack 39 40 pack 40 ");
    assert_int_equal(ASK(.n = 49, .within = 1000), 49); /* from there */
    assert_int_equal(strncmp(told(), "41 pack 41 42 ", 14), 0);
    sk_frame_reader_close(&reader);
}

/* Trails of the thirty frames before it, on a picture of a pixel; what is drawn may change and is not kept. */
static void what_is_drawn(void **state)
{
    (void)state;
    sk_run_view *view = (sk_run_view *)(void *)&err;
    begin("v");
    assert_int_equal(ASK(.n = 6, .view = view, .draw = 5), 6);
    assert_string_equal(told(), "6 shrink to 64x48 trail 1 trail 2/2/7 trail 1 draw 2/6/7 pack 6 ");
    assert_true(how_drawn.n_classes == 2 && how_drawn.class_names == classes && how_drawn.n_edges == 1 &&
                how_drawn.edges == edges && how_drawn.what == 5 && how_drawn.trail == 30);
    assert_int_equal(ASK(.n = 6, .view = view, .draw = 5), 6);
    assert_string_equal(told(), "shrink to 64x48 trail 1 trail 2/2/7 trail 1 draw 2/6/7 pack 6 ");
    assert_int_equal(ASK(.n = 5, .view = view, .draw = 5), 5); /* the run did not look at it */
    assert_string_equal(told(), "5 shrink to 64x48 trail 1 trail 2/2/7 trail 1 pack 5 ");
    int trails = 0;
    assert_int_equal(ASK(.n = 50, .view = view, .draw = 5), 50);
    for (const char *at = told(); (at = strstr(at, "trail ")); at++)
        trails++;
    assert_int_equal(trails, 15); /* 20, 22 … 48 */
    assert_int_equal(ASK(.n = 30, .view = view, .draw = 5), 30);
    assert_int_equal(strncmp(told(), "30 shrink to 64x48 trail 1 trail 2/2/7 ", 39), 0);
    assert_int_equal(ASK(.n = 31, .view = view, .draw = 5), 31);
    assert_int_equal(strncmp(told(), "31 shrink to 64x48 trail 2/2/7 ", 31), 0);
    sk_frame_reader_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_it_is_opened), cmocka_unit_test(what_is_none),
                                       cmocka_unit_test(on_the_way_back),  cmocka_unit_test(how_wide),
                                       cmocka_unit_test(in_time),          cmocka_unit_test(what_is_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
