/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "media/draw.h"
#include "media/overlay.h"
#include "skitter/source.h"
#include "media/video_sink.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WIDTH  160
#define HEIGHT 120

static uint8_t pixels[HEIGHT][WIDTH][3];

static sk_frame canvas(uint8_t grey)
{
    memset(pixels, grey, sizeof pixels);
    return (sk_frame){.format = SK_PIXEL_RGB,
                      .width = WIDTH,
                      .height = HEIGHT,
                      .stride = WIDTH * 3,
                      .data = &pixels[0][0][0]};
}

static void lines_stay_inside_and_hit_their_pixels(void **state)
{
    (void)state;
    sk_frame frame = canvas(0);
    sk_draw_line(&frame, 10, 20.5f, 50, 20.5f, 1, 0xFF8000);
    assert_int_equal(pixels[20][30][0], 255);
    assert_int_equal(pixels[20][30][1], 128);
    assert_int_equal(pixels[20][30][2], 0);
    assert_int_equal(pixels[22][30][0], 0);
    /* Anything, anywhere: only the picture may be touched (sanitizers watch). */
    const float wild[] = {-1e9f, -50, 0, 3, 60, 500, 1e9f, NAN, INFINITY};
    for (size_t a = 0; a < 9; a++)
        for (size_t b = 0; b < 9; b++)
            for (size_t c = 0; c < 9; c++) {
                sk_draw_line(&frame, wild[a], wild[b], wild[c], wild[a], 5, 0x123456);
                sk_draw_disc(&frame, wild[a], wild[b], 7, 0xFFFFFF);
            }
    sk_draw_text(&frame, -8, -3, 2, 0xFFFFFF, "edge \xc3\xa9");
    sk_draw_text(&frame, WIDTH - 4, HEIGHT - 4, 2, 0xFFFFFF, "edge");
    sk_draw_fill(&frame, -100, -100, 1000, 1000, 0x808080, 0.5f);
}

/* A coloured line must differ from its ground on white and on black. */
static void is_legible_on_light_and_dark(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const names[] = {"fly"};
    static const int32_t edges[][2] = {{0, 1}};
    sk_overlay_settings settings;
    sk_overlay_defaults(&settings);
    settings.n_classes = 1;
    settings.class_names = names;
    settings.n_edges = 1;
    settings.edges = edges;
    sk_keypoint points[2] = {{40, 80, 0.9f}, {120, 80, 0.9f}};
    sk_found item = {
        .has = SK_HAS_BOX | SK_HAS_KEYPOINTS, .score = 0.87f, .box = {20, 40, 140, 110}, .track_id = 3};
    sk_instances all = {.count = 1, .capacity = 1, .items = &item, .n_keypoints = 2, .keypoints = points};
    for (int ground = 0; ground <= 255; ground += 255) {
        sk_overlay *overlay = NULL;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        sk_frame frame = canvas((uint8_t)ground);
        sk_overlay_draw(overlay, &frame, &all);
        int least = 255, greatest = 0; /* brightness across the box's left edge */
        for (int x = 15; x < 26; x++) {
            int sum = (pixels[90][x][0] + pixels[90][x][1] + pixels[90][x][2]) / 3;
            least = sum < least ? sum : least;
            greatest = sum > greatest ? sum : greatest;
        }
        assert_true(greatest - least > 60);
        sk_overlay_close(&overlay);
    }
}

/* A track keeps its colour from frame to frame, whatever else is drawn; one that was not found has gaps in its outline. */
static void tracks_keep_their_colours(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_overlay_settings settings;
    sk_overlay_defaults(&settings);
    settings.what = SK_DRAW_BOXES;
    sk_found item = {.has = SK_HAS_BOX, .box = {20, 40, 140, 110}, .track_id = 5, .class_id = 0};
    sk_instances all = {.count = 1, .capacity = 1, .items = &item};
    sk_overlay_track track = {.track = 5, .x = 80, .y = 75};
    int coloured[2] = {0};
    for (int covered = 0; covered < 2; covered++) {
        sk_overlay *overlay = NULL;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        sk_frame frame = canvas(200);
        track.covered = covered;
        sk_overlay_draw_tracks(overlay, &frame, &all, &track);
        for (int y = 42; y < 108; y++) { /* down the left edge */
            const bool drawn = pixels[y][20][0] != 200 || pixels[y][20][1] != 200 || pixels[y][20][2] != 200;
            coloured[covered] += drawn;
        }
        sk_overlay_close(&overlay);
    }
    assert_int_equal(coloured[0], 66);
    assert_true(coloured[1] > 10 && coloured[1] < 55);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < i; k++)
            assert_true(sk_draw_identity(i) != sk_draw_identity(k));
    assert_true(sk_draw_identity(17) == sk_draw_identity(5));
}

#ifdef SKITTER_HAVE_FFMPEG
static void write_part(const char *path, int first, int last)
{
    sk_error err = {0};
    sk_video_sink *sink = NULL;
    assert_ok(sk_video_sink_open(path, WIDTH + 1, HEIGHT, 25, &sink, &err), &err);
    for (int i = first; i < last; i++) {
        static uint8_t wide[HEIGHT + 1][WIDTH + 1][3]; /* one row to spare */
        memset(wide, 4 * i, sizeof wide);              /* every frame has its own grey */
        sk_frame frame = {.format = SK_PIXEL_RGB,
                          .width = WIDTH + 1,
                          .height = HEIGHT,
                          .stride = (WIDTH + 1) * 3,
                          .data = &wide[0][0][0],
                          .index = i,
                          .time_ns = i * INT64_C(40000000)};
        assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
}

/* Where the GPU encodes no video (here: there is none) the processor does, and the file is a video all the same. */
static void the_processor_encodes_where_the_gpu_cannot(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_video_sink *sink = NULL;
    char path[4096];
    static uint8_t blank[HEIGHT + 1][WIDTH][3];
    snprintf(path, sizeof path, "%s/gpu.mp4", test_folder());
    assert_ok(sk_video_sink_open_gpu(path, WIDTH, HEIGHT, 25, &sink, &err), &err);
    assert_true(strlen(sk_video_sink_encoder(sink)) > 3);
    for (int i = 0; i < 5; i++) {
        const sk_frame frame = {.format = SK_PIXEL_RGB,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .stride = (ptrdiff_t)WIDTH * 3,
                                .data = &blank[0][0][0],
                                .index = i,
                                .time_ns = i * INT64_C(40000000)};
        assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
    /* Played three times by going back to its beginning, as decoders on a device are: each time all of it. */
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    settings.loop = 3;
    settings.hwaccel = "auto";
    assert_ok(sk_source_open(path, &settings, &source, &err), &err);
    for (int i = 0; i < 15; i++) {
        const sk_frame *frame = NULL;
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->index, i);
        sk_source_release(source, frame);
    }
    const sk_frame *frame = NULL;
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    sk_source_close(&source);
}

/* Times as damaged headers, set clocks and recordings that paused over night have them. */
static void any_time_can_be_written(void **state)
{
    (void)state;
    static const double starts[] = {0, -1.4e14, 1e300, NAN, 1e9, 40},
                        jumps[] = {0, 1e5, -1e5, 1e13, -1e300, NAN};
    char path[4200], joined[4200];
    const char *parts[2] = {path, path};
    snprintf(path, sizeof path, "%s/times.mp4", test_folder());
    snprintf(joined, sizeof joined, "%s/times_joined.mp4", test_folder());
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
        for (size_t j = 0; j < sizeof jumps / sizeof *jumps; j++) {
            sk_error err = {0};
            sk_video_sink *sink = NULL;
            sk_frame frame = canvas(90);
            unlink(path);
            unlink(joined);
            assert_ok(sk_video_sink_open(path, WIDTH, HEIGHT, 25, &sink, &err), &err);
            for (int i = 0; i < 6; i++) {
                frame.time_ns = sk_time_ns(starts[s] + i / 25.0 + (i >= 3 ? jumps[j] : 0));
                assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
            }
            assert_ok(sk_video_sink_close(&sink, &err), &err);
            assert_ok(sk_video_join(parts, 1, joined, &err), &err);
        }
    /* a part that begins long after the other's end */
    char late[4200];
    snprintf(late, sizeof late, "%s/late.mp4", test_folder());
    unlink(path);
    unlink(joined);
    write_part(path, 0, 5);
    write_part(late, 3000000, 3000005);
    parts[1] = late;
    sk_error err = {0};
    assert_ok(sk_video_join(parts, 2, joined, &err), &err);
}

static void assert_plays(const char *path, int first, int count)
{
    sk_error err = {0};
    sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&settings);
    sk_source *source = NULL;
    assert_ok(sk_source_open(path, &settings, &source, &err), &err);
    const sk_frame *frame = NULL;
    for (int i = 0; i < count; i++) {
        assert_ok(sk_source_next(source, &frame, &err), &err);
        assert_non_null(frame);
        assert_int_equal(frame->width, WIDTH);
        assert_true(abs(frame->data[60 * frame->stride + 90] - 4 * (first + i)) <= 4);
        sk_source_release(source, frame);
    }
    assert_ok(sk_source_next(source, &frame, &err), &err);
    assert_null(frame);
    sk_source_close(&source);
}

/* The converter reads in vectors: no more than the header says may be read behind the last row. */
static void frames_are_not_read_past_their_end(void **state)
{
    (void)state;
    sk_error err = {0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char path[4300];
    snprintf(path, sizeof path, "%s/end.mp4", test_folder());
    for (int width = 320; width < 340; width++) {
        const size_t bytes = (size_t)width * 3 * HEIGHT + SK_VIDEO_SINK_SPARE;
        const size_t room = (bytes + page - 1) / page * page;
        uint8_t *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        assert_int_equal(mprotect(memory + room, page, PROT_NONE), 0);
        sk_frame frame = {.format = SK_PIXEL_RGB,
                          .width = width,
                          .height = HEIGHT,
                          .stride = (ptrdiff_t)width * 3,
                          .data = memory + room - bytes};
        sk_video_sink *sink = NULL;
        assert_ok(sk_video_sink_open(path, width, HEIGHT, 25, &sink, &err), &err);
        assert_ok(sk_video_sink_write(sink, &frame, &err), &err);
        assert_ok(sk_video_sink_close(&sink, &err), &err);
        munmap(memory, room + page);
    }
}

static void videos_are_written_and_joined(void **state)
{
    (void)state;
    sk_error err = {0};
    char a[4300], b[4300], whole[4300];
    snprintf(a, sizeof a, "%s/a.mp4", test_folder());
    snprintf(b, sizeof b, "%s/b.mp4", test_folder());
    snprintf(whole, sizeof whole, "%s/whole.mp4", test_folder());
    write_part(a, 0, 25);
    write_part(b, 25, 60);
    assert_plays(a, 0, 25);
    assert_ok(sk_video_join((const char *const[]){a, b}, 2, whole, &err), &err);
    assert_plays(whole, 0, 60);
    assert_int_not_equal(sk_video_sink_open("/nowhere/x.mp4", 10, 10, 25, &(sk_video_sink *){0}, &err),
                         SK_OK);
}
#endif

/* How far back a trail goes: as many frames as were wanted, 64 at most, and not over a pause that is longer. */
static void trails_have_an_end(void **state)
{
    (void)state;
    static const struct {
        int trail, pause, from, to; /* columns that are coloured of those that were passed */
    } all[] = {{1000, 0, 88, 119}, {64, 0, 88, 119},   {40, 0, 100, 119}, {2, 0, 119, 119},
               {1, 0, 999, 999},   {40, 39, 100, 119}, {40, 41, 999, 999}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_error err = {0};
        sk_overlay_settings settings;
        sk_overlay_defaults(&settings);
        settings.what = SK_DRAW_TRAILS;
        settings.trail = all[i].trail;
        sk_overlay *overlay = NULL;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        sk_frame frame = canvas(0);
        for (int k = 0; k < 200; k++) { /* half a column a frame */
            const float x = 20 + 0.5f * (float)k;
            sk_found item = {.has = SK_HAS_BOX, .box = {x - 1, 59.5f, x + 1, 61.5f}, .track_id = 7};
            sk_instances one = {.count = 1, .capacity = 1, .items = &item}, none = {0};
            for (int away = 0; k == 199 && away < all[i].pause; away++)
                sk_overlay_draw(overlay, &frame, &none);
            frame = canvas(0);
            sk_overlay_draw(overlay, &frame, &one);
        }
        int first = 999, last = 999;
        for (int x = 0; x < WIDTH; x++)
            if (pixels[60][x][0] + pixels[60][x][1] + pixels[60][x][2] > 200) {
                first = first == 999 ? x : first;
                last = x;
            }
        if (abs(first - all[i].from) > 2 || abs(last - all[i].to) > 2)
            fail_msg("trail %d, pause %d: columns %d to %d", all[i].trail, all[i].pause, first, last);
        sk_overlay_close(&overlay);
    }
}

/* A point that was not found is left out, and no other; an edge needs both of its ends. */
static void points_are_drawn_by_their_scores(void **state)
{
    (void)state;
    static const int32_t edges[][2] = {{0, 1}, {1, 2}, {0, 2}, {2, 9}};
    for (int hidden = -1; hidden < 3; hidden++) {
        sk_error err = {0};
        sk_overlay_settings settings;
        sk_overlay_defaults(&settings);
        settings.what = SK_DRAW_KEYPOINTS | SK_DRAW_SKELETON;
        settings.n_edges = 4;
        settings.edges = edges;
        settings.min_keypoint_score = 0.5f;
        sk_keypoint points[3] = {{20, 20, 0.5f}, {140, 20, 0.9f}, {80, 100, 0.9f}};
        if (hidden >= 0)
            points[hidden].score = 0.49f;
        sk_found item = {.has = SK_HAS_KEYPOINTS, .track_id = -1};
        sk_instances all = {.count = 1, .capacity = 1, .items = &item, .n_keypoints = 3, .keypoints = points};
        sk_overlay *overlay = NULL;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        sk_frame frame = canvas(77);
        sk_overlay_draw(overlay, &frame, &all);
        for (int k = 0; k < 3; k++) {
            const int x = (int)points[k].x, y = (int)points[k].y;
            const bool drawn = pixels[y][x][0] != 77 || pixels[y][x][1] != 77 || pixels[y][x][2] != 77;
            assert_int_equal(drawn, k != hidden);
            const int a = edges[k][0], b = edges[k][1], mx = (int)((points[a].x + points[b].x) / 2),
                      my = (int)((points[a].y + points[b].y) / 2);
            const bool edge = pixels[my][mx][0] != 77 || pixels[my][mx][1] != 77 || pixels[my][mx][2] != 77;
            assert_int_equal(edge, a != hidden && b != hidden);
        }
        sk_overlay_close(&overlay);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_keep_their_colours),
        cmocka_unit_test(lines_stay_inside_and_hit_their_pixels),
        cmocka_unit_test(is_legible_on_light_and_dark),
        cmocka_unit_test(trails_have_an_end),
        cmocka_unit_test(points_are_drawn_by_their_scores),
#ifdef SKITTER_HAVE_FFMPEG
        cmocka_unit_test(frames_are_not_read_past_their_end),
        cmocka_unit_test(videos_are_written_and_joined),
        cmocka_unit_test(the_processor_encodes_where_the_gpu_cannot),
        cmocka_unit_test(any_time_can_be_written),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
