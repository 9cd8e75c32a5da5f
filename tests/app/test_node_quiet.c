/* SPDX-License-Identifier: Apache-2.0 */
/* No picture comes: what a node says of the cause, word by word. */
#include "support/test.h"

#include "app/node_core_internal.h"
#include "skitter/skitter.h"

#include <stdio.h>
#include <string.h>

#define RAW    "sensor_msgs/msg/Image"
#define PACKED "sensor_msgs/msg/CompressedImage"
#define ASKED  "no image on /cam/image for 7 s: "

typedef struct one {
    const char *topic, *type;
    bool reliable, kept;
} one;

/* What is said where these publish. */
static const char *said(const char *transport, const char *reliability, const char *durability,
                        const one *list, int32_t n)
{
    static char text[2048];
    sk_error err = {0};
    sk_node_speaker speakers[16];
    sk_node_core core = {0};
    assert_ok(sk_node_settings_open(&core.settings, &err), &err);
    assert_ok(sk_node_settings_set(core.settings, "input_transport", transport, &err), &err);
    assert_ok(sk_node_settings_set(core.settings, "qos_reliability", reliability, &err), &err);
    assert_ok(sk_node_settings_set(core.settings, "qos_durability", durability, &err), &err);
    for (int32_t i = 0; i < n; i++) {
        speakers[i] = (sk_node_speaker)SK_NODE_SPEAKER_INIT;
        speakers[i].topic = list[i].topic;
        speakers[i].type = list[i].type;
        speakers[i].reliable = list[i].reliable;
        speakers[i].transient_local = list[i].kept;
    }
    sk_node_core_explain_quiet(&core, "/cam/image", 7.4, speakers, n, text, sizeof text);
    sk_node_settings_close(&core.settings);
    return text;
}

#define SAYS(transport, reliability, durability, wanted, ...)                                                \
    do {                                                                                                     \
        const one list_[] = {__VA_ARGS__};                                                                   \
        assert_string_equal(said(transport, reliability, durability, list_, sizeof list_ / sizeof *list_),   \
                            wanted);                                                                         \
    } while (0)
#define RAW_SAYS(wanted, ...) SAYS("raw", "best_effort", "volatile", wanted, __VA_ARGS__)

static void causes(void **state)
{
    (void)state;
    assert_string_equal(
        said("raw", "best_effort", "volatile", NULL, 0), ASKED
        "nobody publishes on it, nor images on any topic: is the camera's driver running, and on this domain "
        "(ROS_DOMAIN_ID)?");
    RAW_SAYS(ASKED "nobody publishes on it, nor images on any topic: is the camera's driver running, and on "
                   "this domain (ROS_DOMAIN_ID)?",
             {"/chatter", "std_msgs/msg/String", false, false});
    RAW_SAYS(ASKED "nobody publishes on it; such images come on /cam/image_raw: input_topic:=/cam/image_raw",
             {"/cam/image_raw", RAW, false, false}, {"/chatter", "std_msgs/msg/String", false, false});
    /* the most alike first, each once, four of them */
    RAW_SAYS(ASKED "nobody publishes on it; such images come on /cam/image_raw, /left/image, /x: "
                   "input_topic:=/cam/image_raw",
             {"/x", RAW, false, false}, {"/left/image", RAW, false, false},
             {"/cam/image_raw", RAW, false, false}, {"/left/image", RAW, false, false});
    RAW_SAYS(ASKED "nobody publishes on it; such images come on /cam/image2, /cam/imag, /cam/im, /cam/i and "
                   "2 more: input_topic:=/cam/image2",
             {"/c", RAW, false, false}, {"/cam/i", RAW, false, false}, {"/cam/im", RAW, false, false},
             {"/cam/image2", RAW, false, false}, {"/d", RAW, false, false}, {"/cam/imag", RAW, false, false});
    /* the other form */
    RAW_SAYS(ASKED "nobody publishes on it; compressed ones come on /cam/image/compressed: "
                   "input_transport:=compressed input_topic:=/cam/image",
             {"/cam/image/compressed", PACKED, false, false}, {"/other", PACKED, false, false});
    RAW_SAYS(ASKED "nobody publishes on it; compressed ones come on /jpeg: input_transport:=compressed "
                   "input_topic:=/jpeg",
             {"/jpeg", PACKED, false, false});
    SAYS("compressed", "best_effort", "volatile",
         ASKED "nobody publishes on it; images that are not compressed come on /raw: input_transport:=raw "
               "input_topic:=/raw",
         {"/raw", RAW, false, false});
    SAYS("compressed", "best_effort", "volatile",
         ASKED "nobody publishes on it; such images come on /jpeg: input_topic:=/jpeg",
         {"/raw", RAW, false, false}, {"/jpeg", PACKED, false, false});
    /* another type on the topic */
    RAW_SAYS(ASKED "1 publisher there, of type " PACKED ", where " RAW
                   " is asked for (input_transport:=compressed takes it)",
             {"/cam/image", PACKED, false, false});
    SAYS("compressed", "best_effort", "volatile",
         ASKED "2 publishers there, of type " RAW ", where " PACKED
               " is asked for (input_transport:=raw takes it)",
         {"/cam/image", RAW, false, false}, {"/cam/image", RAW, false, false});
    RAW_SAYS(ASKED "1 publisher there, of type std_msgs/msg/String, where " RAW
                   " is asked for; such images come on /b: input_topic:=/b",
             {"/cam/image", "std_msgs/msg/String", false, false}, {"/b", RAW, false, false});
    RAW_SAYS(ASKED "1 publisher there, of type std_msgs/msg/String, where " RAW " is asked for",
             {"/cam/image", "std_msgs/msg/String", false, false});
    /* another quality of service */
    SAYS("raw", "reliable", "volatile",
         ASKED "1 publisher there, and what comes is not let through: it is offered best effort, and "
               "qos_reliability:=reliable asks for more; "
               "qos_reliability:=best_effort takes what anybody offers",
         {"/cam/image", RAW, false, true});
    SAYS("raw", "reliable", "transient_local",
         ASKED "2 publishers there, and what comes is not let through: it is offered volatile, and "
               "qos_durability:=transient_local asks for more; "
               "qos_durability:=volatile takes what anybody offers",
         {"/cam/image", "std_msgs/msg/String", true, true}, {"/cam/image", RAW, true, false});
    /* nothing wrong with at least one */
    SAYS("raw", "reliable", "transient_local",
         ASKED "1 publisher there, of the right type and quality of service, and nothing is sent",
         {"/cam/image", RAW, true, true});
    SAYS("raw", "reliable", "volatile",
         ASKED "2 publishers there, of the right type and quality of service, and nothing is sent",
         {"/cam/image", RAW, true, false}, {"/cam/image", RAW, false, false}, {"/other", RAW, true, true});
    RAW_SAYS(ASKED "1 publisher there, of the right type and quality of service, and nothing is sent",
             {"/cam/image", RAW, false, false});
}

/* Where there is less room than words: they are cut off there, and nothing behind is touched. */
static void little_room(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const topics[] = {"/c", "/cam/i", "/cam/im", "/cam/image2", "/d", "/cam/imag"};
    sk_node_speaker speakers[7];
    sk_node_core core = {0};
    char whole[1024], text[1024];
    assert_ok(sk_node_settings_open(&core.settings, &err), &err);
    for (int i = 0; i < 7; i++) {
        speakers[i] = (sk_node_speaker)SK_NODE_SPEAKER_INIT;
        speakers[i].topic = i < 6 ? topics[i] : "/cam/image";
        speakers[i].type = i < 6 ? RAW : "std_msgs/msg/String";
    }
    for (int32_t n = 0; n <= 7; n++) {
        sk_node_core_explain_quiet(&core, "/cam/image", 7.4, speakers, n, whole, sizeof whole);
        const size_t length = strlen(whole);
        for (size_t capacity = 1; capacity <= length + 1; capacity++) {
            memset(text, '#', sizeof text);
            sk_node_core_explain_quiet(&core, "/cam/image", 7.4, speakers, n, text, capacity);
            assert_int_equal(strlen(text), capacity - 1);
            assert_memory_equal(text, whole, capacity - 1);
            assert_int_equal(strspn(text + capacity, "#"), sizeof text - capacity);
        }
    }
    sk_node_settings_close(&core.settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(causes), cmocka_unit_test(little_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
