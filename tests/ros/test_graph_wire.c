/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/ros_graph.h"

#include "base/text.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* What a node's endpoints are called and how they are set up when they reach the DDS library: names, types, hashes, qualities. */

enum { DOMAIN = 97 };

static sk_dds_library real;
static sk_text heard; /* one line a topic, then what its endpoint asks for */

static sk_dds_entity create_topic(sk_dds_entity participant, const sk_dds_descriptor *descriptor,
                                  const char *name, const sk_dds_qos *qos, const void *listener)
{
    sk_text_appendf(&heard, "topic %s of %s\n", name, descriptor->name);
    return real.dds_create_topic(participant, descriptor, name, qos, listener);
}

static void set_user_data(sk_dds_qos *qos, const void *data, size_t bytes)
{
    sk_text_appendf(&heard, "user data %.*s\n", (int)bytes, (const char *)data);
    real.dds_qset_userdata(qos, data, bytes);
}

static void set_history(sk_dds_qos *qos, int kind, int32_t depth)
{
    sk_text_appendf(&heard, "%s %d\n", kind == SK_DDS_KEEP_ALL ? "all" : "last", depth);
    real.dds_qset_history(qos, kind, depth);
}

static void set_reliability(sk_dds_qos *qos, int kind, int64_t blocking_ns)
{
    sk_text_append(&heard, kind == SK_DDS_RELIABLE ? "reliable\n" : "best effort\n");
    real.dds_qset_reliability(qos, kind, blocking_ns);
}

static void set_durability(sk_dds_qos *qos, int kind)
{
    sk_text_append(&heard, kind == SK_DDS_TRANSIENT_LOCAL ? "transient local\n" : "volatile\n");
    real.dds_qset_durability(qos, kind);
}

static sk_ros_graph *open_graph(const sk_ros_graph_settings *settings, const sk_ros_names *names)
{
    sk_ros_graph *g = NULL;
    sk_error err = {0};
    if (sk_dds_load(&err) != SK_OK) {
        print_message("skipped: %s\n", err.message);
        skip();
    }
    assert_ok(sk_ros_graph_open(settings, names, &g, &err), &err);
    real = sk_dds;
    sk_dds.dds_create_topic = create_topic;
    sk_dds.dds_qset_userdata = set_user_data;
    sk_dds.dds_qset_history = set_history;
    sk_dds.dds_qset_reliability = set_reliability;
    sk_dds.dds_qset_durability = set_durability;
    sk_text_clear(&heard);
    return g;
}

static void close_graph(sk_ros_graph **g)
{
    sk_dds = real;
    sk_ros_graph_close(g);
    assert_null(*g);
    sk_text_free(&heard);
}

static void must_have_heard(const char *text)
{
    if (!strstr(sk_text_get(&heard), text))
        fail_msg("missing: %s\namong:\n%s", text, sk_text_get(&heard));
}

/* ROS's names as long as they may be: nothing of them is cut off on the wire. */
static void long_names_arrive_whole(void **state)
{
    (void)state;
    const sk_ros_graph_settings settings = {.domain = DOMAIN};
    const sk_dds_quality quality = {.reliable = true, .depth = 10};
    sk_ros_names names;
    sk_error err = {0};
    char topic[SK_ROS_NAME], expected[400];
    sk_publisher *out = NULL;
    sk_subscriber *in = NULL;
    sk_ros_graph_service service;
    assert_ok(sk_ros_names_init(&names, "eye", "/", &err), &err);
    sk_ros_graph *g = open_graph(&settings, &names);
    memset(topic, 'a', sizeof topic);
    topic[0] = '/';
    topic[SK_ROS_NAME - 1] = '\0';
    assert_ok(sk_ros_graph_publish(g, topic, "sensor_msgs/msg/Image", &quality, &out, &err), &err);
    snprintf(expected, sizeof expected, "topic rt%s of sensor_msgs::msg::dds_::Image_\n", topic);
    must_have_heard(expected);
    sk_text_clear(&heard);
    topic[1] = 'b';
    assert_ok(sk_ros_graph_subscribe(g, topic, "sensor_msgs/msg/Image", &quality, &in, &err), &err);
    snprintf(expected, sizeof expected, "topic rt%s of sensor_msgs::msg::dds_::Image_\n", topic);
    must_have_heard(expected);
    assert_ok(sk_ros_graph_serve(g, topic, "rcl_interfaces/srv/GetParameters", &service, &err), &err);
    snprintf(expected, sizeof expected,
             "topic rq%sRequest of rcl_interfaces::srv::dds_::GetParameters_Request_\n", topic);
    must_have_heard(expected);
    snprintf(expected, sizeof expected,
             "topic rr%sReply of rcl_interfaces::srv::dds_::GetParameters_Response_\n", topic);
    must_have_heard(expected);
    close_graph(&g);
}

/* Types carry their hash, but not as up to Humble, and not under another package's name. */
static void types_are_named_and_hashed(void **state)
{
    (void)state;
    static const struct {
        bool humble;
        const char *messages, *type, *topic;
        bool hash;
    } cases[] = {
        {false, NULL, "skitter_msgs/msg/TrackArray",
         "topic rt/eye/x of skitter_msgs::msg::dds_::TrackArray_\n", true},
        {true, NULL, "skitter_msgs/msg/TrackArray",
         "topic rt/eye/x of skitter_msgs::msg::dds_::TrackArray_\n", false},
        {false, "lab_msgs", "skitter_msgs/msg/TrackArray",
         "topic rt/eye/x of lab_msgs::msg::dds_::TrackArray_\n", false},
        {false, "lab_msgs", "sensor_msgs/msg/Image", "topic rt/eye/x of sensor_msgs::msg::dds_::Image_\n",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_ros_graph_settings settings = {
            .domain = DOMAIN, .humble = cases[i].humble, .messages = cases[i].messages};
        const sk_dds_quality quality = {.depth = 3};
        sk_ros_names names;
        sk_error err = {0};
        sk_publisher *out = NULL;
        assert_ok(sk_ros_names_init(&names, "eye", "/", &err), &err);
        sk_ros_graph *g = open_graph(&settings, &names);
        assert_ok(sk_ros_graph_publish(g, "~/x", cases[i].type, &quality, &out, &err), &err);
        must_have_heard(cases[i].topic);
        assert_true((strstr(sk_text_get(&heard), "user data typehash=RIHS01_") != NULL) == cases[i].hash);
        close_graph(&g);
    }
}

/* A quality that is asked for is the one that the library is given. */
static void qualities_are_passed_on(void **state)
{
    (void)state;
    static const struct {
        sk_dds_quality quality;
        const char *history, *reliability, *durability;
    } cases[] = {
        {{.depth = 3}, "last 3\n", "best effort\n", "volatile\n"},
        {{.reliable = true, .depth = 10}, "last 10\n", "reliable\n", "volatile\n"},
        {{.reliable = true, .transient_local = true, .depth = 1000},
         "last 1000\n",
         "reliable\n",
         "transient local\n"},
        {{.reliable = true, .every = true, .depth = 64}, "all ", "reliable\n", "volatile\n"},
    };
    const sk_ros_graph_settings settings = {.domain = DOMAIN};
    sk_ros_names names;
    sk_error err = {0};
    assert_ok(sk_ros_names_init(&names, "eye", "/", &err), &err);
    sk_ros_graph *g = open_graph(&settings, &names);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int reading = 0; reading < 2; reading++) {
            char topic[32];
            sk_publisher *out = NULL;
            sk_subscriber *in = NULL;
            snprintf(topic, sizeof topic, "topic%zu_%d", i, reading);
            sk_text_clear(&heard);
            if (reading)
                assert_ok(
                    sk_ros_graph_subscribe(g, topic, "sensor_msgs/msg/Image", &cases[i].quality, &in, &err),
                    &err);
            else
                assert_ok(
                    sk_ros_graph_publish(g, topic, "sensor_msgs/msg/Image", &cases[i].quality, &out, &err),
                    &err);
            must_have_heard(cases[i].history);
            must_have_heard(cases[i].reliability);
            must_have_heard(cases[i].durability);
        }
    close_graph(&g);
}

/* A service's two ends share a number of their own; another service has another one. */
static void services_are_numbered(void **state)
{
    (void)state;
    const sk_ros_graph_settings settings = {.domain = DOMAIN};
    sk_ros_names names;
    sk_error err = {0};
    sk_ros_graph_service service;
    assert_ok(sk_ros_names_init(&names, "eye", "/", &err), &err);
    sk_ros_graph *g = open_graph(&settings, &names);
    for (int i = 1; i <= 2; i++) {
        char ending[32], name[32];
        snprintf(name, sizeof name, "~/service%d", i);
        sk_text_clear(&heard);
        assert_ok(sk_ros_graph_serve(g, name, "rcl_interfaces/srv/GetParameters", &service, &err), &err);
        snprintf(ending, sizeof ending, ".0.0.0.%d;typehash=", i);
        const char *first = strstr(sk_text_get(&heard), "serviceid=");
        const char *second = first ? strstr(first + 1, "serviceid=") : NULL;
        assert_non_null(second);
        const char *end = strstr(first, ending);
        assert_non_null(end);
        assert_memory_equal(first, second, (size_t)(end - first) + strlen(ending));
        int dots = 0;
        for (const char *c = first; c < end; c++)
            dots += *c == '.';
        assert_int_equal(dots, 11); /* twelve bytes of the participant's number, in hexadecimal */
    }
    close_graph(&g);
}

/* More than a node could need: refused, not written behind the lists. */
static void endpoints_have_an_end(void **state)
{
    (void)state;
    const sk_ros_graph_settings settings = {.domain = DOMAIN};
    const sk_dds_quality quality = {.depth = 1};
    sk_ros_names names;
    sk_error err = {0};
    sk_publisher *out = NULL;
    sk_status status = SK_OK;
    int n = 0;
    assert_ok(sk_ros_names_init(&names, "eye", "/", &err), &err);
    sk_ros_graph *g = open_graph(&settings, &names);
    for (; status == SK_OK && n < 100; n++) {
        char topic[32];
        snprintf(topic, sizeof topic, "topic%d", n);
        status = sk_ros_graph_publish(g, topic, "std_msgs/msg/Header", &quality, &out, &err);
    }
    assert_int_equal(status, SK_ERR_LIMIT);
    assert_int_equal(n, 64); /* one of 64 is its own announcement; the 64th of these is refused */
    assert_ok(sk_ros_graph_announce(g, &err), &err);
    close_graph(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_names_arrive_whole), cmocka_unit_test(types_are_named_and_hashed),
        cmocka_unit_test(qualities_are_passed_on), cmocka_unit_test(services_are_numbered),
        cmocka_unit_test(endpoints_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
