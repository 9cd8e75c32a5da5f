/* SPDX-License-Identifier: Apache-2.0 */
#include "server/asking.h"

#include "formats/ros_messages.h"
#include "formats/rosbag.h"

/* A bag with images of several cameras: the page is told of them, and shows those that were chosen. */

static void write_bag(const char *path)
{
    static uint8_t pixels[32 * 24 * 3];
    static const char *const names[] = {"/left/image_raw", "/right/image_raw", "/one/image_raw",
                                        "/none/image_raw"};
    static const int images[] = {5, 3, 1, 0};
    sk_error err = {0};
    sk_bag_writer *writer = NULL;
    sk_cdr_writer cdr = {0};
    size_t topics[4];
    assert_ok(sk_bag_writer_open(path, SK_BAG_MCAP, &writer, &err), &err);
    for (int k = 0; k < 4; k++)
        assert_ok(sk_bag_writer_topic(writer, names[k], sk_msg_type_find("sensor_msgs/msg/Image"), &topics[k],
                                      &err),
                  &err);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4 && i < images[k]; k++) {
            memset(pixels, k ? 250 : 5, sizeof pixels);
            const sk_msg_image image = {
                .header = {sk_msg_time_of(1700000000000000000 + i), sk_msg_text_of("eye")},
                .height = 24,
                .width = 32,
                .encoding = sk_msg_text_of("rgb8"),
                .step = 32 * 3,
                .data = {pixels, sizeof pixels}};
            assert_ok(sk_msg_encode(&sk_msg_image_layout, &image, &cdr, &err), &err);
            assert_ok(sk_bag_writer_write(writer, topics[k], 1700000000000000000 + i * 40000000, cdr.data,
                                          cdr.length, &err),
                      &err);
        }
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    sk_cdr_writer_free(&cdr);
}

static void contains(const char *target, int code, const char *wanted)
{
    char *text = NULL;
    assert_int_equal(get(target, &text), code);
    if (!strstr(text, wanted))
        fail_msg("%s: '%s' is not in %s", target, wanted, text);
    sk_free(text);
}

static void topics_are_offered(void **state)
{
    (void)state;
    write_bag(place("top/two.mcap"));
    contains("/api/v1/probe?path=two.mcap", 200, "\"frames\":5");
    contains("/api/v1/probe?path=two.mcap", 200, "\"topic\":\"/left/image_raw\"");
    contains("/api/v1/probe?path=two.mcap", 200, /* not one without images */
             "\"topics\":[{\"name\":\"/left/image_raw\",\"type\":\"sensor_msgs/msg/Image\",\"images\":5},"
             "{\"name\":\"/one/image_raw\",\"type\":\"sensor_msgs/msg/Image\",\"images\":1},"
             "{\"name\":\"/right/image_raw\",\"type\":\"sensor_msgs/msg/Image\",\"images\":3}]");
    contains("/api/v1/probe?path=two.mcap&topic=/right/image_raw", 200, "\"frames\":3");
    contains("/api/v1/probe?path=two.mcap&topic=/none", 404, "/left/image_raw");
}

static void pictures_are_those_of_the_topic(void **state)
{
    char *left = NULL, *right = NULL;
    (void)state;
    write_bag(place("top/two.mcap"));
    assert_int_equal(get("/api/v1/frame?source=two.mcap&n=1&topic=/left/image_raw", &left), 200);
    assert_int_equal(get("/api/v1/frame?source=two.mcap&n=1&topic=/right/image_raw", &right), 200);
    assert_int_equal(get("/api/v1/frame?source=two.mcap&n=4&topic=/left/image_raw", NULL), 200);
    assert_int_equal(get("/api/v1/frame?source=two.mcap&n=4&topic=/right/image_raw", NULL), 404);
    assert_int_not_equal(get("/api/v1/frame?source=two.mcap&n=1", NULL), 200);
    sk_free(left);
    sk_free(right);
}

static void results_show_the_topic_they_are_of(void **state)
{
    char line[4096], target[4096];
    (void)state;
    write_bag(place("top/two.mcap"));
    snprintf(line, sizeof line,
             "cd '%s' && '%s' track two.mcap --topic /right/image_raw --detector background -o run "
             "--no-report -q",
             place("top"), getenv("SKITTER_TEST_BINARY"));
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    snprintf(target, sizeof target, "/api/v1/view/frame.jpg?folder=%s&n=2", place("top/run"));
    assert_int_equal(get(target, NULL), 200);
    snprintf(target, sizeof target, "/api/v1/view/frame.jpg?folder=%s&n=4", place("top/run"));
    assert_int_equal(get(target, NULL), 404); /* the left camera has five images, the right one three */
}

static void a_background_is_tried_on_the_topic(void **state)
{
    static const char settings[] = "{\"command\":\"track\",\"frame\":%d,\"settings\":{\"source\":\"two."
                                   "mcap\",\"detector\":\"background\","
                                   "\"topic\":\"/right/image_raw\"}}";
    char body[512];
    (void)state;
    write_bag(place("top/two.mcap"));
    snprintf(body, sizeof body, settings, 2);
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/test-frame", .body = body}, NULL),
                     200);
    snprintf(body, sizeof body, settings, 4);
    assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/test-frame", .body = body}, NULL),
                     404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(topics_are_offered, open_asked, close_asked),
        cmocka_unit_test_setup_teardown(pictures_are_those_of_the_topic, open_asked, close_asked),
        cmocka_unit_test_setup_teardown(results_show_the_topic_they_are_of, open_asked, close_asked),
        cmocka_unit_test_setup_teardown(a_background_is_tried_on_the_topic, open_asked, close_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
