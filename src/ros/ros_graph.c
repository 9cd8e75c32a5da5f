/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/ros_graph.h"

#include "base/memory.h"
#include "base/object.h"
#include "formats/ros_messages.h"
#include "ros/discovery.h"

#include <stdio.h>
#include <string.h>

#define MOST_ENDS    64
#define HUMBLE_GID   24
#define OWN_MESSAGES "skitter_msgs"
#define ANNOUNCEMENT "rmw_dds_common/msg/ParticipantEntitiesInfo"

struct sk_ros_graph {
    sk_ros_graph_settings settings;
    const sk_ros_names *names;
    sk_participant *participant;
    sk_publisher *announcer;
    int n_types, n_publishers, n_subscribers;
    sk_dds_type *types[MOST_ENDS];
    sk_publisher *publishers[MOST_ENDS];
    sk_subscriber *subscribers[MOST_ENDS];
    sk_cdr_writer writer;
    int64_t services; /* for numbers of their own */
};

static sk_status make_type(sk_ros_graph *g, const char *name, bool service, const sk_dds_type **out,
                           sk_error *err)
{
    const sk_dds_twist twist = {.service = service, .gid_bytes = g->settings.humble ? HUMBLE_GID : 0};
    if (g->n_types == MOST_ENDS)
        return sk_fail(err, SK_ERR_LIMIT, "a node has at most %d endpoints", MOST_ENDS);
    sk_dds_type *type = sk_calloc(1, sizeof *type);
    if (!type)
        return sk_fail_memory(err, sizeof *type);
    sk_status status = sk_dds_type_make(name, &twist, type, err);
    if (status == SK_OK)
        *out = g->types[g->n_types++] = type;
    else
        sk_free(type);
    return status;
}

/* "typehash=RIHS01_…;", by which ROS 2 since Iron tells types of one name apart. */
static sk_status tell_hash(const sk_ros_graph *g, const char *type, const char *more, char *out,
                           size_t capacity, sk_error *err)
{
    char hash[SK_MSG_HASH] = "";
    if (!g->settings.humble)
        SK_TRY(sk_msg_type_hash(sk_msg_type_find(type), hash, err));
    snprintf(out, capacity, "%s%s%s%s", more, hash[0] ? "typehash=" : "", hash, hash[0] ? ";" : "");
    return SK_OK;
}

sk_status sk_ros_graph_open(const sk_ros_graph_settings *settings, const sk_ros_names *names,
                            sk_ros_graph **out, sk_error *err)
{
    static const sk_dds_quality quality = {.reliable = true, .transient_local = true, .depth = 1};
    sk_ros_graph *g = sk_calloc(1, sizeof *g);
    char text[512];
    const sk_dds_type *type;
    sk_text configuration = {0};
    sk_status status = SK_OK;
    if (!g) {
        status = sk_fail_memory(err, sizeof *g);
        goto done;
    }
    g->settings = *settings;
    g->names = names;
    snprintf(text, sizeof text, "enclave=%s;", settings->enclave ? settings->enclave : "/");
    SK_TRY_GOTO(sk_ros_discovery(&configuration, err));
    SK_TRY_GOTO(
        sk_participant_open(settings->domain, sk_text_get(&configuration), text, &g->participant, err));
    SK_TRY_GOTO(make_type(g, ANNOUNCEMENT, false, &type, err));
    SK_TRY_GOTO(tell_hash(g, ANNOUNCEMENT, "", text, sizeof text, err));
    SK_TRY_GOTO(
        sk_publisher_open(g->participant, "ros_discovery_info", type, &quality, text, &g->announcer, err));
done:
    sk_text_free(&configuration);
    return SK_HAND_OVER(status, g, out, sk_ros_graph_close);
}

static sk_status announce(sk_ros_graph *g, bool gone, sk_error *err);

void sk_ros_graph_close(sk_ros_graph **slot)
{
    SK_TAKE_OR_RETURN(g, slot);
    if (g->announcer)
        (void)announce(g, true, NULL);
    for (int i = 0; i < g->n_publishers; i++)
        sk_publisher_close(&g->publishers[i]);
    for (int i = 0; i < g->n_subscribers; i++)
        sk_subscriber_close(&g->subscribers[i]);
    sk_publisher_close(&g->announcer);
    sk_participant_close(&g->participant);
    for (int i = 0; i < g->n_types; i++) {
        sk_dds_type_free(g->types[i]);
        sk_free(g->types[i]);
    }
    sk_cdr_writer_free(&g->writer);
    sk_free(g);
}

sk_participant *sk_ros_graph_participant(const sk_ros_graph *graph)
{
    return graph->participant;
}

/* --- endpoints --- */

typedef struct wire_end {
    char topic[SK_ROS_NAME + 16];
    char user_data[256];
    const sk_dds_type *type;
} wire_end;

/* Another package's name for the same message. What its hash is, depends on that name, too: it is left out, which is allowed. */
static sk_status rename_type(sk_ros_graph *g, const char *type, wire_end *out, sk_error *err)
{
    char name[SK_ROS_NAME], wire[SK_MSG_DDS_NAME];
    snprintf(name, sizeof name, "%s%s", g->settings.messages, type + strlen(OWN_MESSAGES));
    char *copy = sk_strdup(sk_msg_type_dds_name(name, wire));
    if (!copy)
        return sk_fail_memory(err, strlen(wire));
    sk_dds_type *its = g->types[g->n_types - 1];
    sk_free(its->name);
    its->name = copy;
    out->user_data[0] = '\0';
    return SK_OK;
}

static sk_status describe(sk_ros_graph *g, const char *whole, const char *type, wire_end *out, sk_error *err)
{
    snprintf(out->topic, sizeof out->topic, "rt%s", whole);
    SK_TRY(make_type(g, type, false, &out->type, err));
    SK_TRY(tell_hash(g, type, "", out->user_data, sizeof out->user_data, err));
    const bool own = strncmp(type, OWN_MESSAGES "/", strlen(OWN_MESSAGES) + 1) == 0;
    return own && g->settings.messages ? rename_type(g, type, out, err) : SK_OK;
}

sk_status sk_ros_graph_publish(sk_ros_graph *g, const char *topic, const char *type,
                               const sk_dds_quality *quality, sk_publisher **out, sk_error *err)
{
    char whole[SK_ROS_NAME];
    wire_end end;
    SK_TRY(sk_ros_names_resolve(g->names, topic, whole, err));
    SK_TRY(describe(g, whole, type, &end, err));
    SK_TRY(sk_publisher_open(g->participant, end.topic, end.type, quality, end.user_data, out, err));
    g->publishers[g->n_publishers++] = *out; /* never more than types */
    return SK_OK;
}

sk_status sk_ros_graph_subscribe(sk_ros_graph *g, const char *topic, const char *type,
                                 const sk_dds_quality *quality, sk_subscriber **out, sk_error *err)
{
    char whole[SK_ROS_NAME];
    SK_TRY(sk_ros_names_resolve(g->names, topic, whole, err));
    return sk_ros_graph_subscribe_whole(g, whole, type, quality, out, err);
}

sk_status sk_ros_graph_subscribe_whole(sk_ros_graph *g, const char *topic, const char *type,
                                       const sk_dds_quality *quality, sk_subscriber **out, sk_error *err)
{
    wire_end end;
    SK_TRY(describe(g, topic, type, &end, err));
    SK_TRY(sk_subscriber_open(g->participant, end.topic, end.type, quality, end.user_data, false, out, err));
    g->subscribers[g->n_subscribers++] = *out;
    return SK_OK;
}

/* Both ends of a service carry the same number, by which a client knows that they belong together. */
static void service_id(sk_ros_graph *g, char *out, size_t capacity)
{
    const sk_dds_guid guid = sk_participant_guid(g->participant);
    int at = snprintf(out, capacity, "serviceid=");
    for (int i = 0; i < 12; i++)
        at += snprintf(out + at, capacity - (size_t)at, "%x.", guid.v[i]);
    snprintf(out + at, capacity - (size_t)at, "0.0.0.%x;", (unsigned)++g->services);
}

sk_status sk_ros_graph_serve(sk_ros_graph *g, const char *name, const char *type, sk_ros_graph_service *out,
                             sk_error *err)
{
    static const sk_dds_quality quality = {.reliable = true, .depth = 1000}; /* rmw_qos_profile_parameters */
    char whole[SK_ROS_NAME], topic[SK_ROS_NAME + 16], its_type[160], id[96], user_data[256];
    const sk_dds_type *request, *reply;
    SK_TRY(sk_ros_names_resolve(g->names, name, whole, err));
    service_id(g, id, sizeof id);
    snprintf(its_type, sizeof its_type, "%s_Request", type);
    snprintf(topic, sizeof topic, "rq%sRequest", whole);
    SK_TRY(make_type(g, its_type, true, &request, err));
    SK_TRY(tell_hash(g, its_type, id, user_data, sizeof user_data, err));
    SK_TRY(
        sk_subscriber_open(g->participant, topic, request, &quality, user_data, false, &out->requests, err));
    g->subscribers[g->n_subscribers++] = out->requests;
    snprintf(its_type, sizeof its_type, "%s_Response", type);
    snprintf(topic, sizeof topic, "rr%sReply", whole);
    SK_TRY(make_type(g, its_type, true, &reply, err));
    SK_TRY(tell_hash(g, its_type, id, user_data, sizeof user_data, err));
    SK_TRY(sk_publisher_open(g->participant, topic, reply, &quality, user_data, &out->replies, err));
    g->publishers[g->n_publishers++] = out->replies;
    return SK_OK;
}

/* --- the announcement --- */

/* Written by hand: the length of a global id is another in Humble. */
static void put_gid(sk_ros_graph *g, sk_dds_guid guid)
{
    static const uint8_t nothing[HUMBLE_GID - sizeof guid.v] = {0};
    sk_cdr_put_bytes(&g->writer, guid.v, sizeof guid.v);
    if (g->settings.humble)
        sk_cdr_put_bytes(&g->writer, nothing, sizeof nothing);
}

static sk_status announce(sk_ros_graph *g, bool gone, sk_error *err)
{
    sk_cdr_writer *w = &g->writer;
    sk_cdr_writer_begin(w);
    put_gid(g, sk_participant_guid(g->participant));
    sk_cdr_put_count(w, gone ? 0 : 1);
    if (!gone) {
        sk_cdr_put_text(w, g->names->name_space, strlen(g->names->name_space));
        sk_cdr_put_text(w, g->names->node, strlen(g->names->node));
        sk_cdr_put_count(w, (size_t)g->n_subscribers);
        for (int i = 0; i < g->n_subscribers; i++)
            put_gid(g, sk_subscriber_guid(g->subscribers[i]));
        sk_cdr_put_count(w, (size_t)g->n_publishers);
        for (int i = 0; i < g->n_publishers; i++)
            put_gid(g, sk_publisher_guid(g->publishers[i]));
    }
    SK_TRY(sk_cdr_writer_status(w, err));
    return sk_publisher_write(g->announcer, w->data, w->length, err);
}

sk_status sk_ros_graph_announce(sk_ros_graph *g, sk_error *err)
{
    return announce(g, false, err);
}
