/* SPDX-License-Identifier: Apache-2.0 */
/* Images that come to a node: which of several it looks at, what it says of each, and what it does with those that are none. */
#include "node_turns.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"

enum { WIDTH = 64, HEIGHT = 48 };

/* --- images --- */

static uint8_t pixels[WIDTH * HEIGHT * 3];

static void come(int32_t sec, uint32_t width, uint32_t height)
{
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i >> 3);
    const sk_msg_image m = {.header = {.stamp = {sec, 5}, .frame_id = sk_msg_text_of("cam")},
                            .height = height,
                            .width = width,
                            .encoding = sk_msg_text_of("rgb8"),
                            .step = WIDTH * 3,
                            .data = {pixels, sizeof pixels}};
    sk_cdr_writer writer = {0};
    assert_ok(sk_msg_encode(&sk_msg_image_layout, &m, &writer, &err), &err);
    numbered_come("rt/image", writer.data, writer.length);
    sk_cdr_writer_free(&writer);
}

static void three_at_once(int turn)
{
    if (turn == 1)
        for (int i = 1; i <= 3; i++)
            come(i, WIDTH, HEIGHT);
    now_ns = (1000 + turn) * SECOND;
    until_given_back();
}

static void of_three_images_the_newest_or_every_one(void **state)
{
    (void)state;
    for (int every = 0; every < 2; every++) {
        sk_ros_node_report report;
        if (!numbered_begin())
            skip();
        assert_ok(
            run(&(wish){.head = "Pose",
                        .rules = {"diagnostics_period:=1.0", "input_topic:=/image", "publish_annotated:=true",
                                  every ? "qos_reliability:=reliable" : "qos_reliability:=best_effort",
                                  every ? "frame_id:=arena" : "frame_id:="},
                        .track = true,
                        .turns = 6,
                        .on_turn = three_at_once},
                &report),
            &err);
        assert_int_equal(report.received, 3);
        assert_int_equal(report.published, every ? 3 : 1);
        assert_int_equal(report.failed, 0);
#define OF(sec, frame)                                                                                       \
    "/detections " sec " " frame "\n/keypoints " sec " " frame "\n/tracks " sec " " frame                    \
    "\n/annotated " sec " " frame "\n"
        assert_string_equal(wrote,
                            every ? OF("1", "arena") OF("2", "arena") OF("3", "arena") : OF("3", "cam"));
        assert_non_null(
            strstr(last_facts, every ? "\nmessages replaced by newer ones=0\nresults published=3\n"
                                     : "\nmessages replaced by newer ones=2\nresults published=1\n"));
        numbered_end_of_it();
    }
}

static void one_each(int turn)
{
    until_given_back();
    now_ns = (turn < 5 ? 1000 + turn : 1040) * SECOND;
    if (turn > 1 && turn < 5)
        come(turn, WIDTH, HEIGHT);
}

/* Writing takes 3, 5 and 10 ms of a clock that otherwise stands still. */
static int32_t take_time(const char *topic, const void *sample)
{
    static const int64_t ms[] = {3, 5, 10};
    static int n;
    if (strstr(topic, "/detections"))
        now_ns += ms[n++ % 3] * 1000000;
    return look(topic, sample);
}

/* How long it took from an image to what is said of it: the mean and the most, since it was told last. */
static void times_are_told(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=30.0", "input_topic:=/image"},
                          .turns = 5,
                          .on_turn = one_each,
                          .on_write = take_time},
                  &report),
              &err);
    assert_non_null(strstr(last_facts, "\nresults published=3\nnode ms mean=6.000\nnode ms max=10.000\n"));
    numbered_end_of_it();
}

static void none_that_is_one(int turn)
{
    if (turn == 1)
        numbered_come("rt/image", "\0\1\0\0abc", 7);
    if (turn == 2)
        come(2, 0x80000000u, 1);
    if (turn == 3)
        come(3, 1, 0xffffffffu);
    if (turn == 4)
        come(4, INT32_MAX, 1);
    if (turn == 5)
        come(5, 0, HEIGHT);
    if (turn == 6)
        come(6, WIDTH, HEIGHT);
    if (turn == 7)
        until_given_back();
}

/* What cannot be looked at is told, counted and given back; the next one is looked at. */
static void images_that_are_none_end_nothing(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=0.0", "input_topic:=/image"},
                          .turns = 7,
                          .on_turn = none_that_is_one},
                  &report),
              &err);
    assert_int_equal(report.received, 6);
    assert_int_equal(report.published, 1);
    assert_int_equal(report.failed, 5);
    assert_string_equal(wrote, "/detections 6 cam\n/annotated 6 cam\n");
    expect_said("30 an image of 2147483648 x 1 pixels\n");
    assert_null(strstr(said, "x 4294967295")); /* of the same kind: the numbers alone differ */
    assert_null(strstr(said, "2147483647 x 1 pixels\n"));
    numbered_end_of_it();
}

static int32_t break_detections(const char *topic, const void *sample)
{
    (void)look(topic, sample);
    return strstr(topic, "/detections") ? -7 : 0;
}

static void one_image(int turn)
{
    if (turn == 1)
        come(1, WIDTH, HEIGHT);
    until_given_back();
}

/* A result that cannot be told has failed; one that nobody listens for was looked at all the same. */
static void results_that_reach_nobody(void **state)
{
    (void)state;
    sk_ros_node_report report;
    wish w = {.head = "Pose",
              .rules = {"diagnostics_period:=0.0", "input_topic:=/image"},
              .track = true,
              .turns = 2,
              .on_turn = one_image,
              .on_write = break_detections};
    if (!numbered_begin())
        skip();
    assert_ok(run(&w, &report), &err);
    assert_true(report.received == 1 && report.published == 0 && report.failed == 1);
    assert_string_equal(wrote, "/detections 1 cam\n");
    expect_said("30 DDS: rt/left/eye/detections: it is broken\n");
    numbered_end_of_it();
    assert_true(numbered_begin());
    listeners = 0;
    w.on_write = NULL;
    assert_ok(run(&w, &report), &err);
    assert_true(report.received == 1 && report.published == 1 && report.failed == 0);
    assert_string_equal(wrote, "");
    numbered_end_of_it();
    assert_true(numbered_begin());
    w.rules[2] = "publish_annotated:=false";
    assert_ok(run(&w, &report), &err);
    assert_int_equal(report.published, 1);
    assert_string_equal(wrote, "/detections 1 cam\n/keypoints 1 cam\n/tracks 1 cam\n");
    numbered_end_of_it();
}

static void packed_images(int turn)
{
    const sk_frame frame = {
        .data = pixels, .width = WIDTH, .height = HEIGHT, .stride = WIDTH * 3, .format = SK_PIXEL_RGB};
    char path[4300], *bytes = NULL;
    size_t length = 0;
    sk_cdr_writer writer = {0};
    if (turn > 2) {
        until_given_back();
        return;
    }
    snprintf(path, sizeof path, "%s/packed.png", test_folder());
    assert_ok(sk_picture_write(path, &frame, &err), &err);
    assert_ok(sk_file_read(path, (size_t)1 << 20, &bytes, &length, &err), &err);
    const sk_msg_compressed_image m = {.header = {.stamp = {turn, 5}, .frame_id = sk_msg_text_of("cam")},
                                       .format = sk_msg_text_of("png"),
                                       .data = {(const uint8_t *)bytes, turn == 1 ? 40 : length}};
    assert_ok(sk_msg_encode(&sk_msg_compressed_image_layout, &m, &writer, &err), &err);
    numbered_come("rt/image/compressed", writer.data, writer.length);
    sk_cdr_writer_free(&writer);
    sk_free(bytes);
}

static void packed_images_are_unpacked(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=0.0", "input_topic:=/image",
                                    "input_transport:=compressed"},
                          .turns = 3,
                          .on_turn = packed_images},
                  &report),
              &err);
    assert_true(report.received == 2 && report.published == 1 && report.failed == 1);
    assert_string_equal(wrote, "/detections 2 cam\n/annotated 2 cam\n");
    numbered_end_of_it();
}

static void run_out(int turn)
{
    if (turn != 2)
        return;
    come(1, WIDTH, HEIGHT);
    come(2, WIDTH, HEIGHT);
    sk_memory_fail_nth(
        1); /* a place for the first is there since the first turn; for the second there is none */
}

/* Without memory the node ends, and what it had taken is given back. */
static void without_memory_it_ends(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    const sk_status status_ = run(
        &(wish){.rules = {"diagnostics_period:=0.0", "input_topic:=/image"}, .turns = 9, .on_turn = run_out},
        &report);
    sk_memory_fail_nth(0);
    assert_int_equal(status_, SK_ERR_MEMORY);
    assert_int_equal(turns, 2);
    assert_true(report.received == 0 && report.published == 0 && report.failed == 0);
    assert_null(coming[0].topic);
    numbered_end_of_it();
}

/* --- sixteen bits --- */

typedef struct picture {
    header header;
    uint32_t height, width;
    const char *encoding;
    uint8_t big_endian;
    uint32_t step;
    sk_dds_sequence data;
} picture;

static uint8_t drawn[3][WIDTH * HEIGHT * 3];
static int n_drawn;

static int32_t keep_drawn(const char *topic, const void *sample)
{
    const picture *p = sample;
    if (strstr(topic, "/annotated") && n_drawn < 3 && p->data.length == sizeof drawn[0])
        memcpy(drawn[n_drawn++], p->data.buffer, sizeof drawn[0]);
    return look(topic, sample);
}

/* The same greys with their high byte last, first, and said to be first where it is last. */
static void greys(int turn)
{
    uint8_t bytes[WIDTH * HEIGHT * 2];
    sk_cdr_writer writer = {0};
    until_given_back();
    if (turn > 3)
        return;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const uint16_t grey = (uint16_t)(i * 21);
        bytes[2 * i + (turn != 2)] = (uint8_t)(grey >> 8);
        bytes[2 * i + (turn == 2)] = (uint8_t)grey;
    }
    const sk_msg_image m = {.height = HEIGHT,
                            .width = WIDTH,
                            .encoding = sk_msg_text_of("mono16"),
                            .is_bigendian = turn == 1 ? 0 : (uint8_t)(turn - 1),
                            .step = WIDTH * 2,
                            .data = {bytes, sizeof bytes}};
    assert_ok(sk_msg_encode(&sk_msg_image_layout, &m, &writer, &err), &err);
    numbered_come("rt/image", writer.data, writer.length);
    sk_cdr_writer_free(&writer);
}

static void bytes_lie_as_the_image_says(void **state)
{
    (void)state;
    sk_ros_node_report report;
    if (!numbered_begin())
        skip();
    assert_ok(run(&(wish){.rules = {"diagnostics_period:=0.0", "input_topic:=/image"},
                          .turns = 4,
                          .on_turn = greys,
                          .on_write = keep_drawn},
                  &report),
              &err);
    assert_int_equal(n_drawn, 3);
    assert_memory_equal(drawn[0], drawn[1], sizeof drawn[0]);
    assert_memory_not_equal(drawn[0], drawn[2], sizeof drawn[0]);
    numbered_end_of_it();
}

/* --- memory --- */

static void a_node_without_memory_does_not_begin(void **state)
{
    (void)state;
    sk_ros_names names;
    sk_params *params = NULL;
    if (!numbered_begin())
        skip();
    assert_ok(sk_ros_names_init(&names, "eye", NULL, &err), &err);
    assert_ok(sk_params_open(&params, &err), &err);
    const sk_ros_node_settings settings = {.names = &names, .params = params, .interrupted = ended};
    for (int i = 1; i <= 2; i++) { /* the node itself, and the first it notes */
        sk_ros_node_report report = {.received = 9, .left_behind = true};
        sk_memory_fail_nth(i);
        const sk_status status_ = sk_ros_node_run(&settings, &report, &err);
        sk_memory_fail_nth(0);
        assert_int_equal(status_, SK_ERR_MEMORY);
        assert_true(report.received == 0 && !report.left_behind);
    }
    sk_params_close(&params);
    numbered_end_of_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_three_images_the_newest_or_every_one),
                                       cmocka_unit_test(times_are_told),
                                       cmocka_unit_test(images_that_are_none_end_nothing),
                                       cmocka_unit_test(results_that_reach_nobody),
                                       cmocka_unit_test(packed_images_are_unpacked),
                                       cmocka_unit_test(without_memory_it_ends),
                                       cmocka_unit_test(bytes_lie_as_the_image_says),
                                       cmocka_unit_test(a_node_without_memory_does_not_begin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
