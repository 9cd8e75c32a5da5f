/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/param_services.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "formats/ros_messages.h"

#define WAIT_NS    5000000
#define MOST_WAITS 20

static const struct {
    const char *name, *type;
} kinds[SK_PARAM_SERVICES] = {
    [SK_PARAM_DESCRIBE] = {"~/describe_parameters", "rcl_interfaces/srv/DescribeParameters"},
    [SK_PARAM_GET_TYPES] = {"~/get_parameter_types", "rcl_interfaces/srv/GetParameterTypes"},
    [SK_PARAM_GET] = {"~/get_parameters", "rcl_interfaces/srv/GetParameters"},
    [SK_PARAM_LIST] = {"~/list_parameters", "rcl_interfaces/srv/ListParameters"},
    [SK_PARAM_SET] = {"~/set_parameters", "rcl_interfaces/srv/SetParameters"},
    [SK_PARAM_SET_ATOMICALLY] = {"~/set_parameters_atomically",
                                 "rcl_interfaces/srv/SetParametersAtomically"}};

struct sk_param_services {
    sk_param_owner owner;
    const char *node;
    sk_ros_graph_service ends[SK_PARAM_SERVICES];
    sk_publisher *events;
    sk_cdr_writer writer;
};

sk_status sk_param_services_open(sk_ros_graph *graph, const sk_param_owner *owner, const char *node,
                                 sk_param_services **out, sk_error *err)
{
    static const sk_dds_quality quality = {.reliable = true,
                                           .depth = 1000}; /* rmw_qos_profile_parameter_events */
    sk_param_services *s = sk_calloc(1, sizeof *s);
    sk_status status = s ? SK_OK : sk_fail_memory(err, sizeof *s);
    if (s) {
        s->owner = *owner;
        s->node = node;
    }
    for (int i = 0; status == SK_OK && i < SK_PARAM_SERVICES; i++)
        status = sk_ros_graph_serve(graph, kinds[i].name, kinds[i].type, &s->ends[i], err);
    if (status == SK_OK)
        status = sk_ros_graph_publish(graph, "/parameter_events", "rcl_interfaces/msg/ParameterEvent",
                                      &quality, &s->events, err);
    return SK_HAND_OVER(status, s, out, sk_param_services_close);
}

void sk_param_services_close(sk_param_services **slot)
{
    SK_TAKE_OR_RETURN(s, slot);
    sk_cdr_writer_free(&s->writer);
    sk_free(s);
}

/* Each in a message of its own: a value is borrowed until the next is asked for. */
static sk_status tell_change(sk_param_services *s, int32_t index, sk_error *err)
{
    sk_param_about about;
    if (!sk_params_at(s->owner.params, index, &about))
        return SK_OK;
    const sk_param_value *v = &about.value;
    const sk_msg_parameter changed = {.name = sk_msg_text_of(about.row.name),
                                      .value = {.type = (uint8_t)v->type,
                                                .bool_value = v->truth,
                                                .integer_value = v->number,
                                                .double_value = v->real,
                                                .string_value = sk_msg_text_of(v->text),
                                                .integer_array_value = {v->list, v->count}}};
    const sk_msg_parameter_event event = {.stamp = sk_msg_time_of(sk_clock_wall_ns()),
                                          .node = sk_msg_text_of(s->node),
                                          .changed_parameters = {&changed, 1}};
    SK_TRY(sk_msg_encode(&sk_msg_parameter_event_layout, &event, &s->writer, err));
    return sk_publisher_write(s->events, s->writer.data, s->writer.length, err);
}

/* A client's question may be here before the news that it listens for the answer, which would be lost then. Each client has one
 * end of either kind. */
static void wait_for_listener(const sk_ros_graph_service *ends)
{
    for (int i = 0;
         i < MOST_WAITS && sk_publisher_listeners(ends->replies) < sk_subscriber_speakers(ends->requests);
         i++)
        sk_clock_sleep_ns(WAIT_NS);
}

/* A request that is none is left without a reply: there is nobody to whom it could be said. Who asks and then takes no reply ends
 * nothing either. */
static void serve_one(sk_param_services *s, sk_param_service service, const sk_dds_taken *request)
{
    int32_t changed[SK_PARAM_MOST], n_changed = 0;
    sk_error problem = {0};
    if (sk_param_answer(&s->owner, service, request->bytes, request->count, &s->writer, changed, &n_changed,
                        &problem) != SK_OK) {
        sk_log(SK_LOG_WARN, "%s: %s", kinds[service].name, problem.message);
        return;
    }
    wait_for_listener(&s->ends[service]);
    sk_status status =
        sk_publisher_write(s->ends[service].replies, s->writer.data, s->writer.length, &problem);
    for (int32_t i = 0; i < n_changed; i++) {
        const sk_status told = tell_change(s, changed[i], status == SK_OK ? &problem : NULL);
        status = status == SK_OK ? told : status;
    }
    if (status != SK_OK)
        sk_log(SK_LOG_WARN, "%s: %s", kinds[service].name, problem.message);
}

void sk_param_services_turn(sk_param_services *s)
{
    for (int i = 0; i < SK_PARAM_SERVICES; i++) {
        sk_dds_taken request;
        if (!sk_subscriber_take(s->ends[i].requests, &request))
            continue;
        serve_one(s, (sk_param_service)i, &request);
        sk_dds_taken_release(&request);
    }
}
