/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live_header.h"
#include "app/node_core_internal.h"
#include "base/clock.h"
#include "ros/node_inside.h"

static bool wanted(sk_publisher *publisher)
{
    return publisher && sk_publisher_listeners(publisher) > 0;
}

static sk_status send(sk_ros_node *node, sk_publisher *publisher, sk_error *err)
{
    return sk_publisher_write(publisher, node->writer.data, node->writer.length, err);
}

static sk_status publish_annotated(sk_ros_node *node, const sk_msg_header *header,
                                   const sk_node_result *result, sk_error *err)
{
    const size_t bytes = (size_t)result->width * (size_t)result->height * 3;
    SK_TRY(sk_array_reserve((void **)&node->drawn, &node->drawn_capacity, bytes, 1, SIZE_MAX / 2, err));
    SK_TRY(sk_node_core_draw(node->core, result, node->drawn, bytes, err));
    const sk_msg_image image = {.header = *header,
                                .width = (uint32_t)result->width,
                                .height = (uint32_t)result->height,
                                .encoding = sk_msg_text_of("rgb8"),
                                .step = (uint32_t)result->width * 3,
                                .data = {node->drawn, bytes}};
    SK_TRY(sk_msg_encode(&sk_msg_image_layout, &image, &node->writer, err));
    return send(node, node->out.annotated, err);
}

/* All that was found, whether a tracker has made something of it or not; those it follows with their tracks. */
static sk_status with_tracks(sk_ros_node *node, const sk_node_result *result, sk_instances *out,
                             sk_error *err)
{
    const sk_node_out *from = (const sk_node_out *)result;
    *out = *result->instances;
    if (!from->tracks.sightings)
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&node->found, &node->found_capacity, (size_t)out->count + 1,
                            sizeof *node->found, SIZE_MAX / 4096, err));
    for (int32_t i = 0; i < out->count; i++) {
        node->found[i] = out->items[i];
        node->found[i].track_id = from->track_of[i];
    }
    out->items = node->found;
    return SK_OK;
}

/* What was changed since the last image; says whether images are to be drawn. */
static bool look_at_changes(sk_ros_node *node)
{
    char *before = NULL;
    pthread_mutex_lock(&node->lock);
    const bool annotate = node->annotate;
    if (node->next_frame_id) {
        before = node->frame_id;
        node->frame_id = node->next_frame_id;
        node->next_frame_id = NULL;
    }
    pthread_mutex_unlock(&node->lock);
    sk_free(before);
    return annotate;
}

static sk_status publish(sk_ros_node *node, const sk_node_result *result, sk_error *err)
{
    const node_image *image = result->user;
    const sk_result_frame *tracks = &((const sk_node_out *)result)->tracks;
    sk_instances list;
    const sk_result_frame found = {
        .source = "", .width = result->width, .height = result->height, .instances = &list};
    const bool annotate = look_at_changes(node);
    sk_msg_header header = image->header;
    if (node->frame_id && node->frame_id[0])
        header.frame_id = sk_msg_text_of(node->frame_id);
    SK_TRY(with_tracks(node, result, &list, err));
    if (wanted(node->out.detections)) {
        SK_TRY(sk_ros_result_detections(node->result, &header, &found, &node->writer, err));
        SK_TRY(send(node, node->out.detections, err));
    }
    if (wanted(node->out.keypoints)) {
        SK_TRY(sk_ros_result_instances(node->result, &header, &found, &node->writer, err));
        SK_TRY(send(node, node->out.keypoints, err));
    }
    if (wanted(node->out.tracks)) {
        SK_TRY(sk_ros_result_tracks(node->result, &header, tracks, &node->writer, err));
        SK_TRY(send(node, node->out.tracks, err));
    }
    if (annotate && wanted(node->out.annotated))
        SK_TRY(publish_annotated(node, &header, result, err));
    return SK_OK;
}

static void count(sk_ros_node *node, const sk_node_result *result, sk_status status)
{
    const node_image *image = result->user;
    const double ms = (double)(sk_clock_ns() - image->came_ns) * 1e-6;
    pthread_mutex_lock(&node->lock);
    node_counts *c = &node->counts;
    c->published += status == SK_OK;
    c->failed += status != SK_OK;
    c->latency_sum += ms;
    c->latency_count++;
    c->latency_most = ms > c->latency_most ? ms : c->latency_most;
    pthread_mutex_unlock(&node->lock);
}

static void *tell(void *context)
{
    sk_ros_node *node = context;
    for (;;) {
        const sk_node_result *result = NULL;
        sk_error err = {0};
        sk_status status = sk_node_core_take(node->core, -1, &result, &err);
        if (status == SK_ERR_CANCELLED || (status == SK_OK && !result))
            return NULL;
        if (status != SK_OK) {
            node_complain(node, err.message);
            continue;
        }
        status = result->status;
        if (status != SK_OK)
            node_complain(node, result->problem);
        else if ((status = publish(node, result, &err)) != SK_OK)
            node_complain(node, err.message);
        count(node, result, status);
        sk_node_core_give_back(node->core, result);
    }
}

sk_status node_begin_telling(sk_ros_node *node, sk_error *err)
{
    node->header = sk_live_header_of(sk_node_core_about(node->core)); /* names that messages carry */
    SK_TRY(sk_ros_result_open(&node->header, &node->result, err));
    if (pthread_create(&node->teller, NULL, tell, node) != 0)
        return sk_fail(err, SK_ERR_RUNTIME, "no thread could be started");
    node->telling = true;
    return SK_OK;
}

void node_end_telling(sk_ros_node *node)
{
    if (node->telling) {
        sk_node_core_finish(node->core);
        pthread_join(node->teller, NULL);
        node->telling = false;
    }
    sk_ros_result_close(&node->result);
}
