/* SPDX-License-Identifier: Apache-2.0 */
/* No image comes: when that is said, and what is said of who publishes, with the library's own words of others put in its mouth. */
#include "own_network.h"
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/node_core_internal.h"
#include "base/clock.h"
#include "base/memory.h"
#include "ros/node_inside.h"

#include <stdio.h>
#include <string.h>

#define SECOND ((int64_t)1000000000)

static sk_error err;
static sk_ros_names names;
static sk_ros_node node;
static sk_ros_node_settings settings;
static char last_said[2048];
static int said;
static sk_ros_node_level last_level;

static void hear(void *context, sk_ros_node_level level, const char *text)
{
    (void)context;
    said++;
    last_level = level;
    snprintf(last_said, sizeof last_said, "%.*s", (int)sizeof last_said - 1, text);
}

/* --- what the library says --- */

enum { READER = 12345, MOST_ENDS = 200 };

typedef struct end_of {
    const char *topic, *type;
    bool reliable, kept, own, dead, without_data, without_quality;
} end_of;

static const end_of *ends;
static int n_ends, next_end, loans, deleted;
static sk_dds_endpoint given[MOST_ENDS];

static sk_dds_entity reader_of_publications(sk_dds_entity participant, sk_dds_entity topic,
                                            const sk_dds_qos *qos, const void *listener)
{
    (void)participant, (void)qos, (void)listener;
    assert_int_equal(topic, SK_DDS_PUBLICATIONS);
    next_end = 0;
    return READER;
}

static sk_dds_entity no_reader(sk_dds_entity participant, sk_dds_entity topic, const sk_dds_qos *qos,
                               const void *listener)
{
    (void)participant, (void)topic, (void)qos, (void)listener;
    return -1;
}

static int32_t take_ends(sk_dds_entity reader, void **samples, sk_dds_info *infos, size_t count,
                         uint32_t most)
{
    int32_t n = 0;
    assert_true(reader == READER && count >= most);
    for (; n < (int32_t)most && next_end < n_ends; n++, next_end++) {
        const end_of *e = &ends[next_end];
        sk_dds_endpoint *g = &given[next_end];
        *g = (sk_dds_endpoint){.topic_name = (char *)(uintptr_t)e->topic,
                               .type_name = (char *)(uintptr_t)e->type,
                               .qos = e->without_quality ? NULL : (sk_dds_qos *)(uintptr_t)e};
        if (e->own)
            g->participant_key = sk_participant_guid(sk_ros_graph_participant(node.graph));
        samples[n] = g;
        infos[n] =
            (sk_dds_info){.valid_data = !e->without_data,
                          .instance_state = e->dead ? 2 * (int32_t)SK_DDS_ALIVE : (int32_t)SK_DDS_ALIVE};
    }
    loans += n;
    return n;
}

static int32_t take_back(sk_dds_entity reader, void **samples, int32_t count)
{
    assert_true(reader == READER && samples[0]);
    loans -= count;
    return 0;
}

static bool its_reliability(const sk_dds_qos *qos, int *kind, int64_t *blocking)
{
    *kind = ((const end_of *)(const void *)qos)->reliable ? SK_DDS_RELIABLE : SK_DDS_BEST_EFFORT;
    *blocking = 0;
    return true;
}

static bool its_durability(const sk_dds_qos *qos, int *kind)
{
    *kind = ((const end_of *)(const void *)qos)->kept ? SK_DDS_TRANSIENT_LOCAL : SK_DDS_VOLATILE;
    return true;
}

static int32_t delete_reader(sk_dds_entity entity)
{
    assert_int_equal(entity, READER);
    deleted++;
    return 0;
}

/* Five seconds without an image have passed: what is said. */
static const char *asked(const end_of *who, int n)
{
    const sk_dds_library really = sk_dds;
    ends = who;
    n_ends = n;
    deleted = said = 0;
    if (who)
        sk_dds.dds_create_reader = reader_of_publications;
    else
        sk_dds.dds_create_reader = no_reader;
    sk_dds.dds_take = take_ends;
    sk_dds.dds_return_loan = take_back;
    sk_dds.dds_qget_reliability = its_reliability;
    sk_dds.dds_qget_durability = its_durability;
    sk_dds.dds_delete = delete_reader;
    node.core->quiet.from_ns = sk_node_now_ns() - 5 * SECOND;
    node.core->quiet.times_told = 0;
    node.last_asked_ns = sk_clock_ns() - SECOND;
    node_note_quiet(&node);
    sk_dds = really;
    assert_int_equal(said, 1);
    assert_int_equal(loans, 0);
    assert_int_equal(deleted, who ? 1 : 0);
    return last_said;
}

#define ASKED(...)                                                                                           \
    asked((const end_of[]){__VA_ARGS__}, sizeof((const end_of[]){__VA_ARGS__}) / sizeof(end_of))
#define IMAGE "sensor_msgs::msg::dds_::Image_"

static void who_publishes_what(void **state)
{
    (void)state;
    if (!node.graph)
        skip();
    assert_string_equal(ASKED({.topic = "rt/elsewhere", .type = "std_msgs::msg::dds_::String_"}),
                        "no image on /camera/image for 5 s: nobody publishes on it, nor images on any topic: "
                        "is the camera's driver running, and on this domain (ROS_DOMAIN_ID)?");
    assert_int_equal(last_level, SK_ROS_NODE_WARNING);
    /* names of types as people write them */
    static const char *const types[][2] = {
        {"std_msgs::msg::dds_::String_", "std_msgs/msg/String"},
        {"a::b", "a/b"},
        {"Plain_", "Plain"},
        {"dds__::x::dds_", "dds__/x"},
        {"a_::b_::dds_::c_d_", "a_/b_/c_d"},
        {"a::ddsx::b__", "a/ddsx/b_"},
        {"abcd", "abcd"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted,
                 "no image on /camera/image for 5 s: 1 publisher there, of type %s, where "
                 "sensor_msgs/msg/Image is asked for",
                 types[i][1]);
        assert_string_equal(ASKED({.topic = "rt/camera/image", .type = types[i][0]}), wanted);
    }
    /* its own, those that are gone, services and what says nothing do not count */
    assert_string_equal(ASKED({.topic = "rt/camera/image", .type = IMAGE, .own = true},
                              {.topic = "rt/camera/image", .type = IMAGE, .dead = true},
                              {.topic = "rt/camera/image", .type = IMAGE, .without_data = true},
                              {.topic = "rq/camera/image", .type = IMAGE}, {.topic = "rt", .type = IMAGE},
                              {.topic = NULL, .type = NULL}, {.topic = "rt/cam/image", .type = IMAGE}),
                        "no image on /camera/image for 5 s: nobody publishes on it; such images come on "
                        "/cam/image: input_topic:=/cam/image");
    /* quality of service: the images are asked for as reliable and kept */
    const char *const refused = "no image on /camera/image for 5 s: 1 publisher there, and what comes is not "
                                "let through: it is offered ";
    assert_int_equal(
        strncmp(ASKED({.topic = "rt/camera/image", .type = IMAGE, .kept = true}), refused, strlen(refused)),
        0);
    assert_non_null(strstr(last_said, "best effort"));
    assert_non_null(strstr(ASKED({.topic = "rt/camera/image", .type = IMAGE, .without_quality = true}),
                           "is offered best effort"));
    assert_non_null(
        strstr(ASKED({.topic = "rt/camera/image", .type = IMAGE, .reliable = true}), "is offered volatile"));
    assert_non_null(strstr(ASKED({.topic = "rt/camera/image", .type = IMAGE, .reliable = true, .kept = true}),
                           "of the right type and quality of service, and nothing is sent"));
}

/* More than come at once. */
static void many_publish(void **state)
{
    (void)state;
    if (!node.graph)
        skip();
    static end_of many[MOST_ENDS];
    static char topics[MOST_ENDS][32];
    for (int i = 0; i < MOST_ENDS; i++) {
        snprintf(topics[i], sizeof topics[i], "rt/topic%d", i);
        many[i] = (end_of){.topic = i == 150 ? "rt/camera/image" : topics[i],
                           .type = i == 150 ? "x::y" : "std_msgs::msg::dds_::String_"};
    }
    assert_non_null(strstr(asked(many, MOST_ENDS), "1 publisher there, of type x/y"));
}

static void it_cannot_be_known(void **state)
{
    (void)state;
    if (!node.graph)
        skip();
    const char *text = asked(NULL, 0);
    assert_int_equal(strncmp(text, "DDS: who publishes is not known: ", 33), 0);
    memset(node.complaints, 0, sizeof node.complaints);
}

/* Others are asked once a second, and only when nothing has come for long. */
static void not_too_often(void **state)
{
    (void)state;
    if (!node.graph)
        skip();
    said = 0;
    node.core->quiet.from_ns = sk_node_now_ns() - 5 * SECOND;
    node.core->quiet.times_told = 0;
    node.last_asked_ns = sk_clock_ns() - SECOND / 2;
    const int64_t before = node.last_asked_ns;
    node_note_quiet(&node);
    assert_true(said == 0 && node.last_asked_ns == before);
    node.core->quiet.from_ns = sk_node_now_ns(); /* an image has just come */
    node.last_asked_ns = sk_clock_ns() - SECOND;
    node_note_quiet(&node);
    assert_true(said == 0 && node.last_asked_ns > before);
}

static int begin(void **state)
{
    (void)state;
    const sk_ros_graph_settings how = {.domain = 97};
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    static const char *const given_values[][2] = {
        {"imgsz", "32"}, {"qos_reliability", "reliable"}, {"qos_durability", "transient_local"}};
    sk_node_settings *s = NULL;
    if (sk_dds_load(&err) != SK_OK) {
        print_message("skipped: %s\n", err.message);
        return 0;
    }
    node = (sk_ros_node){.settings = &settings};
    settings = (sk_ros_node_settings){.say = hear, .names = &names};
    pthread_mutex_init(&node.lock, NULL);
    pthread_mutex_init(&node.log_lock, NULL);
    snprintf(node.input, sizeof node.input, "/camera/image");
    assert_ok(sk_node_settings_open(&s, &err), &err);
    assert_ok(sk_node_settings_set(s, "weights_path", yolo_save(&fixture, "quiet.pt"), &err), &err);
    for (size_t i = 0; i < sizeof given_values / sizeof *given_values; i++)
        assert_ok(sk_node_settings_set(s, given_values[i][0], given_values[i][1], &err), &err);
    assert_ok(sk_node_core_open(s, &node.core, &err), &err);
    sk_node_settings_close(&s);
    assert_ok(sk_ros_names_init(&names, "quiet_node", "/", &err), &err);
    assert_ok(sk_ros_graph_open(&how, &names, &node.graph, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (!node.graph)
        return 0;
    sk_ros_graph_close(&node.graph);
    sk_node_core_close(&node.core);
    sk_cdr_writer_free(&node.log_writer);
    return 0;
}

int main(void)
{
    keep_to_this_machine();
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_publishes_what), cmocka_unit_test(many_publish),
                                       cmocka_unit_test(it_cannot_be_known), cmocka_unit_test(not_too_often)};
    return cmocka_run_group_tests(tests, begin, end);
}
