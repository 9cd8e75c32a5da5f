/* SPDX-License-Identifier: Apache-2.0 */
/* A whole node and who talks to it, both in this process: what it says on which topics for which images, what others see of it in ROS's
 * graph, and how it ends. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "ros/dds.h"
#include "ros/discovery.h"
#include "ros/node.h"
#include "ros/ros_graph.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOMAIN   98
#define WIDTH    64
#define HEIGHT   48
#define PATIENCE 20000000000 /* ns */

static sk_error err;
static sk_participant *peer;
static char node_name[32];

static bool there_is_no_library(void)
{
    if (sk_dds_load(&err) == SK_OK)
        return false;
    print_message("skipped: %s\n", err.message);
    return true;
}

/* --- who talks to it --- */

typedef struct ear {
    sk_dds_type type;
    sk_subscriber *subscriber;
} ear;

static void listen(ear *e, const char *topic, const char *type, const sk_dds_twist *twist, bool kept)
{
    const sk_dds_quality quality = {.reliable = true, .transient_local = kept, .depth = 100};
    assert_ok(sk_dds_type_make(type, twist, &e->type, &err), &err);
    assert_ok(sk_subscriber_open(peer, topic, &e->type, &quality, "", false, &e->subscriber, &err), &err);
}

static void deafen(ear *e)
{
    sk_subscriber_close(&e->subscriber);
    sk_dds_type_free(&e->type);
}

/* The next message; it must come. */
static sk_dds_taken hear(ear *e)
{
    sk_dds_taken taken;
    for (const int64_t end = sk_clock_ns() + PATIENCE; sk_clock_ns() < end;
         sk_participant_wait(peer, 20000000))
        if (sk_subscriber_take(e->subscriber, &taken))
            return taken;
    fail_msg("nothing was heard of %s", e->type.name);
    return taken;
}

/* --- the graph --- */

typedef struct seen {
    const char *topic, *type;
    bool reliable, kept;
    int found;
} seen;

static void look(void *context, const sk_dds_speaker *speaker)
{
    for (seen *s = context; s->topic; s++)
        s->found += strcmp(speaker->topic, s->topic) == 0 && strcmp(speaker->type, s->type) == 0 &&
                    speaker->reliable == s->reliable && speaker->transient_local == s->kept;
}

static void expect_speakers(seen *wanted)
{
    for (const int64_t end = sk_clock_ns() + PATIENCE; sk_clock_ns() < end; sk_clock_sleep_ns(20000000)) {
        bool all = true;
        for (seen *s = wanted; s->topic; s++)
            s->found = 0;
        assert_ok(sk_participant_speakers(peer, look, wanted, &err), &err);
        for (seen *s = wanted; s->topic; s++)
            all = all && s->found == 1;
        if (all)
            return;
    }
    for (seen *s = wanted; s->topic; s++)
        if (s->found != 1)
            fail_msg("%s %s: %d of them", s->topic, s->type, s->found);
}

static void put_gid(const uint8_t **at, const sk_dds_guid guid, size_t bytes)
{
    static const uint8_t zeros[8];
    assert_memory_equal(*at, guid.v, 16);
    assert_memory_equal(*at + 16, zeros, bytes - 16);
    *at += bytes;
}

static uint32_t count_at(const uint8_t **at)
{
    uint32_t n;
    memcpy(&n, *at, sizeof n);
    *at += sizeof n;
    return n;
}

static void names_types_and_who_has_what(void **state)
{
    (void)state;
    if (there_is_no_library())
        skip();
    static const sk_dds_quality three = {.reliable = true, .depth = 3}, loose = {.depth = 1},
                                kept = {.reliable = true, .transient_local = true, .depth = 5};
    for (int humble = 0; humble < 2; humble++) {
        const size_t gid = humble ? 24 : 16;
        const sk_dds_twist twist = {.gid_bytes = humble ? 24 : 0}, service = {.service = true};
        const sk_ros_graph_settings how = {
            .domain = DOMAIN, .humble = humble, .messages = humble ? "fly_msgs" : NULL};
        sk_ros_names names;
        sk_ros_graph *graph = NULL;
        sk_publisher *publishers[3], *asking = NULL;
        sk_subscriber *images = NULL;
        sk_ros_graph_service served;
        sk_dds_type request = {0};
        ear announcements = {0};
        char topic[6][96];
        assert_ok(sk_ros_names_init(&names, node_name, "/left", &err), &err);
        listen(&announcements, "ros_discovery_info", "rmw_dds_common/msg/ParticipantEntitiesInfo", &twist,
               true);
        assert_ok(sk_ros_graph_open(&how, &names, &graph, &err), &err);
        assert_ok(sk_ros_graph_publish(graph, "~/found", "vision_msgs/msg/Detection2DArray", &three,
                                       &publishers[0], &err),
                  &err);
        assert_ok(sk_ros_graph_publish(graph, "tracks", "skitter_msgs/msg/TrackArray", &loose, &publishers[1],
                                       &err),
                  &err);
        assert_ok(sk_ros_graph_publish(graph, "/out", "std_msgs/msg/String", &kept, &publishers[2], &err),
                  &err);
        assert_ok(sk_ros_graph_subscribe(graph, "image", "sensor_msgs/msg/Image", &loose, &images, &err),
                  &err);
        assert_ok(sk_ros_graph_serve(graph, "~/list", "rcl_interfaces/srv/ListParameters", &served, &err),
                  &err);
        assert_int_equal(
            sk_ros_graph_publish(graph, "two words", "std_msgs/msg/String", &loose, &asking, &err),
            SK_ERR_ARG);
        snprintf(topic[0], sizeof topic[0], "rt/left/%s/found", node_name);
        snprintf(topic[1], sizeof topic[1], "rr/left/%s/listReply", node_name);
        snprintf(topic[2], sizeof topic[2], "rq/left/%s/listRequest", node_name);
        seen wanted[] = {
            {topic[0], "vision_msgs::msg::dds_::Detection2DArray_", true, false, 0},
            {"rt/left/tracks",
             humble ? "fly_msgs::msg::dds_::TrackArray_" : "skitter_msgs::msg::dds_::TrackArray_", false,
             false, 0},
            {"rt/out", "std_msgs::msg::dds_::String_", true, true, 0},
            {topic[1], "rcl_interfaces::srv::dds_::ListParameters_Response_", true, false, 0},
            {"ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_", true, true, 0},
            {0}};
        expect_speakers(wanted);
        /* a request arrives, with what comes before its message */
        assert_ok(sk_dds_type_make("rcl_interfaces/srv/ListParameters_Request", &service, &request, &err),
                  &err);
        assert_ok(sk_publisher_open(peer, topic[2], &request, &three, "", &asking, &err), &err);
        for (int i = 0; i < 1000 && sk_publisher_listeners(asking) == 0; i++)
            sk_clock_sleep_ns(20000000);
        assert_int_equal(sk_publisher_listeners(asking), 1);
        sk_cdr_writer writer = {0};
        sk_dds_taken taken;
        sk_cdr_writer_begin(&writer);
        sk_cdr_put_u64(&writer, 7);
        sk_cdr_put_i64(&writer, 41);
        sk_cdr_put_count(&writer, 0);
        sk_cdr_put_u64(&writer, 0);
        assert_ok(sk_publisher_write(asking, writer.data, writer.length, &err), &err);
        for (int i = 0; i < 1000 && !sk_subscriber_take(served.requests, &taken); i++)
            sk_clock_sleep_ns(20000000);
        assert_true(taken.count >= 20 && taken.bytes[4] == 7 && taken.bytes[12] == 41);
        sk_dds_taken_release(&taken);
        sk_cdr_writer_free(&writer);
        sk_publisher_close(&asking);
        /* whose endpoints these are: readers, then writers, in the order they were made */
        assert_ok(sk_ros_graph_announce(graph, &err), &err);
        taken = hear(&announcements);
        const uint8_t *at = taken.bytes + 4, *from = at;
        put_gid(&at, sk_participant_guid(sk_ros_graph_participant(graph)), gid);
        assert_int_equal(count_at(&at), 1);
        assert_int_equal(count_at(&at), 6);
        assert_string_equal((const char *)at, "/left");
        at = from + (((size_t)(at + 6 - from) + 3) & ~(size_t)3);
        const uint32_t length = count_at(&at);
        assert_string_equal((const char *)at, node_name);
        assert_int_equal(length, strlen(node_name) + 1);
        at = from + (((size_t)(at + length - from) + 3) & ~(size_t)3);
        assert_int_equal(count_at(&at), 2);
        put_gid(&at, sk_subscriber_guid(images), gid);
        put_gid(&at, sk_subscriber_guid(served.requests), gid);
        assert_int_equal(count_at(&at), 4);
        for (int i = 0; i < 3; i++)
            put_gid(&at, sk_publisher_guid(publishers[i]), gid);
        put_gid(&at, sk_publisher_guid(served.replies), gid);
        assert_int_equal(at - taken.bytes, taken.count);
        sk_dds_taken_release(&taken);
        /* no more than there is room for: a service has two, the announcement one */
        int more = 0;
        while (sk_ros_graph_publish(graph, "more", "std_msgs/msg/String", &loose, &asking, &err) == SK_OK)
            more++;
        assert_int_equal(more, 64 - 7);
        assert_non_null(strstr(err.message, "at most 64"));
        const sk_dds_guid who = sk_participant_guid(sk_ros_graph_participant(graph));
        sk_ros_graph_close(&graph);
        assert_null(graph);
        taken = hear(&announcements); /* gone: it has no nodes */
        at = taken.bytes + 4;
        put_gid(&at, who, gid);
        assert_int_equal(count_at(&at), 0);
        sk_dds_taken_release(&taken);
        deafen(&announcements);
        sk_dds_type_free(&request);
    }
}

/* --- the node --- */

typedef struct running {
    sk_ros_node_settings settings;
    sk_ros_node_report report;
    sk_status status;
    sk_error error;
    atomic_bool end;
    pthread_mutex_t lock;
    char said[8192];
} running;

static bool interrupted(void *context)
{
    running *r = context;
    return atomic_load(&r->end);
}

static void hear_it(void *context, sk_ros_node_level level, const char *text)
{
    running *r = context;
    pthread_mutex_lock(&r->lock);
    const size_t at = strlen(r->said);
    snprintf(r->said + at, sizeof r->said - at, "%d %s\n", (int)level, text);
    pthread_mutex_unlock(&r->lock);
}

static bool was_said(running *r, const char *part)
{
    for (const int64_t end = sk_clock_ns() + PATIENCE; sk_clock_ns() < end; sk_clock_sleep_ns(20000000)) {
        pthread_mutex_lock(&r->lock);
        const bool said = strstr(r->said, part) != NULL;
        pthread_mutex_unlock(&r->lock);
        if (said)
            return true;
    }
    print_message("not said: %s\namong: %s\n%s\n", part, r->said, r->error.message);
    return false;
}

static void *run_node(void *context)
{
    running *r = context;
    r->status = sk_ros_node_run(&r->settings, &r->report, &r->error);
    return NULL;
}

static void put(sk_params *params, const char *rule)
{
    assert_ok(sk_params_put_rule(params, rule, &err), &err);
}

static uint8_t pixels[3][HEIGHT * WIDTH * 3]; /* rgb, bgr, grey */

static void paint(void)
{
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const uint8_t rgb[3] = {(uint8_t)(i * 7), (uint8_t)(i / WIDTH * 5), (uint8_t)((i * i) % 251)};
        for (int c = 0; c < 3; c++) {
            pixels[0][3 * i + c] = rgb[c];
            pixels[1][3 * i + c] = rgb[2 - c];
        }
        pixels[2][i] = rgb[0];
    }
}

static void send_image(sk_publisher *images, int32_t sec, const char *encoding, const uint8_t *data,
                       uint32_t step, size_t bytes)
{
    const sk_msg_image m = {.header = {.stamp = {sec, 5}, .frame_id = sk_msg_text_of("cam")},
                            .height = HEIGHT,
                            .width = WIDTH,
                            .encoding = sk_msg_text_of(encoding),
                            .step = step,
                            .data = {data, bytes}};
    sk_cdr_writer writer = {0};
    assert_ok(sk_msg_encode(&sk_msg_image_layout, &m, &writer, &err), &err);
    assert_ok(sk_publisher_write(images, writer.data, writer.length, &err), &err);
    sk_cdr_writer_free(&writer);
}

typedef struct decoded {
    sk_arena *arena;
    sk_dds_taken taken;
} decoded;

static decoded decode(ear *e, const sk_msg_layout *layout, void *message)
{
    decoded d = {0};
    d.taken = hear(e);
    assert_ok(sk_arena_open(0, &d.arena, &err), &err);
    assert_ok(sk_msg_decode(layout, d.taken.bytes, d.taken.count, d.arena, message, &err), &err);
    return d;
}

static void done(decoded *d)
{
    sk_arena_close(&d->arena);
    sk_dds_taken_release(&d->taken);
}

static void expect_header(const sk_msg_header *h, int32_t sec, const char *frame_id)
{
    assert_int_equal(h->stamp.sec, sec);
    assert_int_equal(h->stamp.nanosec, 5);
    assert_true(sk_msg_text_is(h->frame_id, frame_id));
}

/* By a service while it runs: the next image has another frame, and others are told of the change. */
static void change_parameters(sk_publisher *images, ear *found)
{
    static const sk_dds_quality reliable = {.reliable = true, .depth = 10};
    static const sk_dds_twist service = {.service = true}, plain = {0};
    char topic[2][96];
    ear replies = {0}, events = {0};
    sk_dds_type type = {0};
    sk_publisher *requests = NULL;
    sk_cdr_writer writer = {0};
    snprintf(topic[0], sizeof topic[0], "rq/left/%s/set_parametersRequest", node_name);
    snprintf(topic[1], sizeof topic[1], "rr/left/%s/set_parametersReply", node_name);
    listen(&replies, topic[1], "rcl_interfaces/srv/SetParameters_Response", &service, false);
    listen(&events, "rt/parameter_events", "rcl_interfaces/msg/ParameterEvent", &plain, false);
    assert_ok(sk_dds_type_make("rcl_interfaces/srv/SetParameters_Request", &service, &type, &err), &err);
    assert_ok(sk_publisher_open(peer, topic[0], &type, &reliable, "", &requests, &err), &err);
    for (int i = 0; i < 1000 && (sk_publisher_listeners(requests) == 0 ||
                                 sk_subscriber_speakers(replies.subscriber) == 0 ||
                                 sk_subscriber_speakers(events.subscriber) == 0);
         i++)
        sk_clock_sleep_ns(20000000);
    const sk_msg_parameter wanted[2] = {
        {sk_msg_text_of("frame_id"),
         {.type = SK_MSG_PARAMETER_STRING, .string_value = sk_msg_text_of("arena")}},
        {sk_msg_text_of("no_such"), {.type = SK_MSG_PARAMETER_INTEGER, .integer_value = 7}}};
    const sk_msg_parameters request = {.parameters = {wanted, 2}};
    sk_cdr_writer_begin(&writer);
    sk_cdr_put_u64(&writer, 0x1234567890);
    sk_cdr_put_i64(&writer, 42);
    sk_msg_put(&sk_msg_set_parameters_request_layout, &request, &writer);
    assert_ok(sk_publisher_write(requests, writer.data, writer.length, &err), &err);
    sk_dds_taken taken = hear(&replies); /* the numbers it came with, and one result each */
    uint64_t who;
    int64_t which;
    memcpy(&who, taken.bytes + 4, sizeof who);
    memcpy(&which, taken.bytes + 12, sizeof which);
    assert_true(who == 0x1234567890 && which == 42);
    const uint8_t *at = taken.bytes + 20;
    assert_int_equal(count_at(&at), 2);
    assert_int_equal(*at, 1);
    sk_dds_taken_release(&taken);
    sk_msg_parameter_event event;
    decoded d = decode(&events, &sk_msg_parameter_event_layout, &event);
    char whole[96];
    snprintf(whole, sizeof whole, "/left/%s", node_name);
    assert_true(sk_msg_text_is(event.node, whole));
    assert_int_equal(event.changed_parameters.count, 1);
    assert_int_equal(event.new_parameters.count + event.deleted_parameters.count, 0);
    assert_true(sk_msg_text_is(event.changed_parameters.items[0].name, "frame_id"));
    assert_int_equal(event.changed_parameters.items[0].value.type, SK_MSG_PARAMETER_STRING);
    assert_true(sk_msg_text_is(event.changed_parameters.items[0].value.string_value, "arena"));
    done(&d);
    send_image(images, 300, "rgb8", pixels[0], WIDTH * 3, sizeof pixels[0]);
    sk_msg_detection_array boxes;
    d = decode(found, &sk_msg_detection_array_layout, &boxes);
    expect_header(&boxes.header, 300, "arena");
    done(&d);
    sk_cdr_writer_free(&writer);
    sk_publisher_close(&requests);
    deafen(&replies);
    deafen(&events);
    sk_dds_type_free(&type);
}

/* Who offers less than the node asks for, or asks for more than it offers, is told of. */
static void note_who_asks_for_something_else(running *r)
{
    static const sk_dds_quality loose = {.depth = 1};
    static const sk_dds_twist plain = {0};
    char topic[96];
    sk_dds_type type = {0};
    sk_publisher *images = NULL;
    ear late = {0};
    assert_null(strstr(r->said, "offers another"));
    assert_null(strstr(r->said, "asks for another"));
    assert_ok(sk_dds_type_make("sensor_msgs/msg/Image", &plain, &type, &err), &err);
    assert_ok(sk_publisher_open(peer, "rt/left/image", &type, &loose, "", &images, &err), &err);
    assert_true(
        was_said(r, "a publisher of /left/image offers another reliability than qos_reliability asks for"));
    snprintf(topic, sizeof topic, "rt/left/%s/detections", node_name);
    listen(&late, topic, "vision_msgs/msg/Detection2DArray", &plain, true);
    assert_true(was_said(r, "a subscriber of ~/detections asks for another durability than the node offers"));
    sk_publisher_close(&images);
    deafen(&late);
    sk_dds_type_free(&type);
}

/* The newest image wins: the others are counted, and given back. */
static void the_newest_image_wins(void **state)
{
    (void)state;
    if (there_is_no_library())
        skip();
    const yolo_fixture fixture = {.f32 = true, .imgsz = 64};
    static const sk_dds_quality reliable = {.reliable = true, .depth = 100};
    static const sk_dds_twist plain = {0};
    char rule[4300], topic[96];
    sk_ros_names names;
    sk_params *params = NULL;
    ear found = {0};
    sk_dds_type type = {0};
    sk_publisher *images = NULL;
    static running r;
    pthread_t thread;
    assert_ok(sk_ros_names_init(&names, node_name, "/right", &err), &err);
    assert_ok(sk_params_open(&params, &err), &err);
    snprintf(rule, sizeof rule, "weights_path:=%s", yolo_save(&fixture, "boxes.pt"));
    put(params, rule);
    put(params, "input_topic:=/eyes");
    put(params, "qos_depth:=50");
    put(params, "compute_runtime:=cpu");
    r = (running){.settings = {.names = &names,
                               .params = params,
                               .domain = DOMAIN,
                               .interrupted = interrupted,
                               .say = hear_it,
                               .context = &r}};
    pthread_mutex_init(&r.lock, NULL);
    assert_int_equal(pthread_create(&thread, NULL, run_node, &r), 0);
    assert_true(was_said(&r, "the newest image (best effort)"));
    snprintf(topic, sizeof topic, "rt/right/%s/detections", node_name);
    listen(&found, topic, "vision_msgs/msg/Detection2DArray", &plain, false);
    assert_ok(sk_dds_type_make("sensor_msgs/msg/Image", &plain, &type, &err), &err);
    assert_ok(sk_publisher_open(peer, "rt/eyes", &type, &reliable, "", &images, &err), &err);
    for (int i = 0;
         i < 1000 && (sk_publisher_listeners(images) == 0 || sk_subscriber_speakers(found.subscriber) == 0);
         i++)
        sk_clock_sleep_ns(20000000);
    sk_clock_sleep_ns(200000000);
    paint();
    enum { MANY = 40 };
    for (int i = 0; i < MANY; i++)
        send_image(images, i, "rgb8", pixels[0], WIDTH * 3, sizeof pixels[0]);
    int32_t last = -1;
    int heard = 0;
    while (last < MANY - 1) { /* in order, and the last one in any case */
        sk_msg_detection_array boxes;
        decoded d = decode(&found, &sk_msg_detection_array_layout, &boxes);
        assert_true(boxes.header.stamp.sec > last);
        last = boxes.header.stamp.sec;
        heard++;
        done(&d);
    }
    atomic_store(&r.end, true);
    pthread_join(thread, NULL);
    assert_ok(r.status, &r.error);
    assert_int_equal(r.report.received, MANY);
    assert_int_equal(r.report.published, heard);
    assert_int_equal(r.report.failed, 0);
    sk_publisher_close(&images);
    deafen(&found);
    sk_dds_type_free(&type);
    sk_params_close(&params);
    pthread_mutex_destroy(&r.lock);
}

static void images_become_messages(void **state)
{
    (void)state;
    if (there_is_no_library())
        skip();
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 64};
    char rule[4300], topic[8][96];
    sk_ros_names names;
    sk_params *params = NULL;
    ear found = {0}, points = {0}, tracks = {0}, drawn = {0}, diagnoses = {0}, log = {0};
    sk_dds_type image_type = {0};
    sk_publisher *images = NULL;
    static running r;
    pthread_t thread;
    static const sk_dds_quality reliable = {.reliable = true, .depth = 100};
    static const sk_dds_twist plain = {0};
    assert_ok(sk_ros_names_init(&names, node_name, "/left", &err), &err);
    assert_ok(sk_ros_names_remap(&names, "~/tracks:=/who", &err), &err);
    assert_ok(sk_params_open(&params, &err), &err);
    snprintf(rule, sizeof rule, "weights_path:=%s", yolo_save(&fixture, "pose.pt"));
    put(params, rule);
    put(params, "input_topic:=image");
    put(params, "qos_reliability:=reliable");
    put(params, "qos_depth:=20");
    put(params, "confidence_threshold:=0.3");
    put(params, "max_detections:=4");
    put(params, "diagnostics_period:=0.1");
    put(params, "compute_runtime:=cpu");
    r = (running){.settings = {.names = &names,
                               .params = params,
                               .domain = DOMAIN,
                               .track = true,
                               .interrupted = interrupted,
                               .say = hear_it,
                               .context = &r}};
    pthread_mutex_init(&r.lock, NULL);
    assert_int_equal(pthread_create(&thread, NULL, run_node, &r), 0);
    assert_true(was_said(&r, "is active on domain 98: /left/image -> "));
    assert_non_null(strstr(r.said, "every image (reliable)"));
    snprintf(topic[0], sizeof topic[0], "rt/left/%s/detections", node_name);
    snprintf(topic[1], sizeof topic[1], "rt/left/%s/keypoints", node_name);
    snprintf(topic[2], sizeof topic[2], "rt/left/%s/annotated", node_name);
    listen(&found, topic[0], "vision_msgs/msg/Detection2DArray", &plain, false);
    listen(&points, topic[1], "skitter_msgs/msg/InstanceArray", &plain, false);
    listen(&tracks, "rt/who", "skitter_msgs/msg/TrackArray", &plain, false);
    listen(&drawn, topic[2], "sensor_msgs/msg/Image", &plain, false);
    listen(&diagnoses, "rt/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", &plain, false);
    listen(&log, "rt/rosout", "rcl_interfaces/msg/Log", &plain, true);
    assert_ok(sk_dds_type_make("sensor_msgs/msg/Image", &plain, &image_type, &err), &err);
    assert_ok(sk_publisher_open(peer, "rt/left/image", &image_type, &reliable, "", &images, &err), &err);
    for (int i = 0;
         i < 1000 &&
         (sk_publisher_listeners(images) == 0 || sk_subscriber_speakers(found.subscriber) == 0 ||
          sk_subscriber_speakers(drawn.subscriber) == 0 || sk_subscriber_speakers(tracks.subscriber) == 0 ||
          sk_subscriber_speakers(points.subscriber) == 0);
         i++)
        sk_clock_sleep_ns(20000000);
    sk_clock_sleep_ns(200000000); /* the node sees who listens, too */
    sk_msg_log said;
    decoded d = decode(&log, &sk_msg_log_layout, &said);
    assert_true(said.level == 20 && sk_msg_text_is(said.name, node_name) &&
                strstr(said.msg.data, "is active on domain 98"));
    done(&d);

    paint();
    static const char *const encodings[] = {"rgb8", "bgr8", "mono8"};
    double first[4][3] = {{0}};
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        const uint32_t step = WIDTH * (i < 2 ? 3 : 1);
        send_image(images, 100 + i, encodings[i], pixels[i], step, (size_t)step * HEIGHT);
        sk_msg_detection_array boxes;
        sk_msg_instance_array poses;
        sk_msg_track_array followed;
        sk_msg_image picture;
        decoded got[4] = {decode(&found, &sk_msg_detection_array_layout, &boxes),
                          decode(&points, &sk_msg_instance_array_layout, &poses),
                          decode(&tracks, &sk_msg_track_array_layout, &followed),
                          decode(&drawn, &sk_msg_image_layout, &picture)};
        expect_header(&boxes.header, 100 + i, "cam");
        expect_header(&poses.header, 100 + i, "cam");
        expect_header(&followed.header, 100 + i, "cam");
        expect_header(&picture.header, 100 + i, "cam");
        assert_in_range(boxes.detections.count, 1, 4);
        assert_int_equal(poses.instances.count, boxes.detections.count);
        assert_int_equal(poses.skeleton_names.count, 3);
        for (size_t k = 0; k < boxes.detections.count; k++) {
            const sk_msg_detection *b = &boxes.detections.items[k];
            const sk_msg_instance *p = &poses.instances.items[k];
            expect_header(&b->header, 100 + i, "cam");
            assert_int_equal(b->results.count, 1);
            assert_true(
                sk_msg_text_is(b->results.items[0].hypothesis.class_id, p->class_id ? "fly" : "mouse"));
            assert_true(b->results.items[0].hypothesis.score >= 0.3);
            assert_true(b->bbox.center.position.x == p->box.center.position.x &&
                        b->bbox.size_y == p->box.size_y);
            assert_int_equal(p->keypoints.count, 3);
            const double now[3] = {b->bbox.center.position.x, b->bbox.size_x,
                                   b->results.items[0].hypothesis.score};
            if (i == 0)
                memcpy(first[k], now, sizeof now);
            else if (i == 1) /* the same picture in another order of its channels */
                assert_memory_equal(first[k], now, sizeof now);
        }
        n = i == 0 ? boxes.detections.count : n;
        assert_true(i != 1 || boxes.detections.count == n);
        assert_true(picture.width == WIDTH && picture.height == HEIGHT &&
                    sk_msg_text_is(picture.encoding, "rgb8"));
        assert_true(picture.step == WIDTH * 3 && picture.data.count == (size_t)WIDTH * 3 * HEIGHT);
        assert_true(i != 0 ||
                    memcmp(picture.data.items, pixels[0], picture.data.count) != 0); /* something is drawn */
        for (int k = 0; k < 4; k++)
            done(&got[k]);
    }
    /* what cannot be read is complained of, once for each kind, and ends nothing */
    send_image(images, 200, "32FC1", pixels[0], WIDTH * 4, sizeof pixels[0]);
    assert_true(was_said(&r, "32FC1"));
    send_image(images, 201, "rgb8", pixels[0], WIDTH * 3, 100);
    assert_true(was_said(&r, "100"));
    send_image(images, 202, "rgb8", pixels[0], WIDTH * 3, sizeof pixels[0]);
    sk_msg_detection_array boxes;
    d = decode(&found, &sk_msg_detection_array_layout, &boxes);
    expect_header(&boxes.header, 202, "cam");
    done(&d);

    change_parameters(images, &found);
    note_who_asks_for_something_else(&r);

    /* how it is */
    bool told = false;
    for (int i = 0; i < 100 && !told; i++) {
        sk_msg_diagnostic_array a;
        d = decode(&diagnoses, &sk_msg_diagnostic_array_layout, &a);
        assert_int_equal(a.status.count, 1);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%s: inference", node_name);
        assert_true(sk_msg_text_is(a.status.items[0].name, wanted));
        for (size_t k = 0; k < a.status.items[0].values.count; k++) {
            const sk_msg_key_value *v = &a.status.items[0].values.items[k];
            told = told || (sk_msg_text_is(v->key, "results published") && sk_msg_text_is(v->value, "5"));
            if (sk_msg_text_is(v->key, "messages replaced by newer ones"))
                assert_true(sk_msg_text_is(v->value, "0"));
        }
        done(&d);
    }
    assert_true(told);
    atomic_store(&r.end, true);
    pthread_join(thread, NULL);
    assert_ok(r.status, &r.error);
    assert_int_equal(r.report.received, 7);
    assert_int_equal(r.report.published, 5);
    assert_int_equal(r.report.failed, 2);
    assert_false(r.report.left_behind);
    sk_publisher_close(&images);
    ear *const ears[] = {&found, &points, &tracks, &drawn, &diagnoses, &log};
    for (size_t i = 0; i < sizeof ears / sizeof *ears; i++)
        deafen(ears[i]);
    sk_dds_type_free(&image_type);
    sk_params_close(&params);
    pthread_mutex_destroy(&r.lock);
}

/* A node that cannot be says why, and leaves nobody behind. */
static void what_cannot_be_is_told(void **state)
{
    (void)state;
    if (there_is_no_library())
        skip();
    static const struct {
        const char *rule, *why;
    } cases[] = {{"weights_path:=/none.pt", "/none.pt"},
                 {"input_topic:=a b", "a b"},
                 {"compute_runtime:=warp", "warp"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_ros_names names;
        sk_params *params = NULL;
        static running r;
        assert_ok(sk_ros_names_init(&names, node_name, "/", &err), &err);
        assert_ok(sk_params_open(&params, &err), &err);
        if (sk_params_put_rule(params, cases[i].rule, &err) == SK_OK) { /* some are told before */
            r = (running){.settings = {.names = &names,
                                       .params = params,
                                       .domain = DOMAIN,
                                       .interrupted = interrupted,
                                       .context = &r}};
            run_node(&r);
            assert_int_not_equal(r.status, SK_OK);
            err = r.error;
        }
        if (!strstr(err.message, cases[i].why))
            fail_msg("%s: %s", cases[i].rule, err.message);
        sk_params_close(&params);
    }
}

/* A domain is made once in a process, and ends with everything in it: by the peer. */
static sk_dds_entity there_already(uint32_t domain, const char *configuration)
{
    (void)configuration;
    assert_int_equal(domain, DOMAIN);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    sk_text configuration = {0};
    snprintf(node_name, sizeof node_name, "eye_%ld",
             (long)getpid());                          /* other tests may run beside this one */
    setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF", 1); /* nobody but this process */
    if (sk_dds_load(&err) != SK_OK)
        return 0;
    assert_ok(sk_ros_discovery(&configuration, &err), &err);
    assert_ok(sk_participant_open(DOMAIN, sk_text_get(&configuration), "", &peer, &err), &err);
    sk_text_free(&configuration);
    sk_dds.dds_create_domain = there_already;
    return 0;
}

static int end(void **state)
{
    (void)state;
    sk_participant_close(&peer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_types_and_who_has_what), cmocka_unit_test(images_become_messages),
        cmocka_unit_test(the_newest_image_wins), cmocka_unit_test(what_cannot_be_is_told)};
    return cmocka_run_group_tests(tests, begin, end);
}
