/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sink.h"

#include "base/frame.h"
#include "base/memory.h"
#include "formats/rosbag.h"
#include "results/ros_result.h"
#include "results/shape.h"

/* A bag of ROS 2: one message a frame and topic, with the stamp of the image it was found in. What skitter's node publishes on
 * the wire, under the same types: objects, poses where the model has keypoints, tracks where there are any. */

extern const sk_sink_kind sk_sink_mcap, sk_sink_db3, sk_sink_rosbag2;

#define TOPIC_DETECTIONS "/skitter/detections"
#define TOPIC_KEYPOINTS  "/skitter/keypoints"
#define TOPIC_TRACKS     "/skitter/tracks"

typedef struct bag_sink {
    sk_sink base;
    sk_bag_writer *writer;
    const sk_run_header *header;
    size_t detections_topic, keypoints_topic, tracks_topic;
    sk_ros_result *result;
    sk_cdr_writer cdr;
} bag_sink;

static sk_status add_topics(bag_sink *s, sk_error *err)
{
    const sk_run_header *h = s->header;
    SK_TRY(sk_bag_writer_topic(s->writer, TOPIC_DETECTIONS,
                               sk_msg_type_find(sk_msg_detection_array_layout.type), &s->detections_topic,
                               err));
    if (h->n_keypoints > 0)
        SK_TRY(sk_bag_writer_topic(s->writer, TOPIC_KEYPOINTS,
                                   sk_msg_type_find(sk_msg_instance_array_layout.type), &s->keypoints_topic,
                                   err));
    if (h->tracked)
        SK_TRY(sk_bag_writer_topic(s->writer, TOPIC_TRACKS, sk_msg_type_find(sk_msg_track_array_layout.type),
                                   &s->tracks_topic, err));
    return SK_OK;
}

typedef sk_status (*teller)(sk_ros_result *result, const sk_msg_header *header, const sk_result_frame *frame,
                            sk_cdr_writer *writer, sk_error *err);

static sk_status tell(bag_sink *s, size_t topic, teller what, const sk_result_frame *frame, sk_error *err)
{
    const int64_t stamp = frame->wall_ns ? frame->wall_ns : sk_time_ns(frame->time);
    const sk_msg_header header = {sk_msg_time_of(stamp),
                                  sk_msg_text_of(frame->frame_id ? frame->frame_id : s->header->frame_id)};
    SK_TRY(what(s->result, &header, frame, &s->cdr, err));
    return sk_bag_writer_write(s->writer, topic, stamp, s->cdr.data, s->cdr.length, err);
}

/* Also frames in which nothing was found: who waits for an answer to an image gets one. */
static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    bag_sink *s = (bag_sink *)base;
    if (s->header->no_empty && frame->instances->count == 0)
        return SK_OK;
    SK_TRY(tell(s, s->detections_topic, sk_ros_result_detections, frame, err));
    if (s->header->n_keypoints > 0)
        SK_TRY(tell(s, s->keypoints_topic, sk_ros_result_instances, frame, err));
    return s->header->tracked ? tell(s, s->tracks_topic, sk_ros_result_tracks, frame, err) : SK_OK;
}

static sk_status flush(sk_sink *base, sk_error *err)
{
    return sk_bag_writer_flush(((bag_sink *)base)->writer, err);
}

static sk_status close_bag(sk_sink *base, sk_error *err)
{
    bag_sink *s = (bag_sink *)base;
    sk_status status = sk_bag_writer_finish(&s->writer, err);
    sk_ros_result_close(&s->result);
    sk_cdr_writer_free(&s->cdr);
    sk_free(s);
    return status;
}

static sk_status open_bag(const char *path, const sk_run_header *header, const sk_sink_kind *kind,
                          sk_bag_kind how, sk_sink **out, sk_error *err)
{
    SK_TRY(sk_run_header_needs_shapes(header, kind->name, err));
    bag_sink *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->base = (sk_sink){.kind = kind, .write = write_frame, .flush = flush, .close = close_bag};
    s->header = header;
    sk_status status = sk_bag_writer_open(path, how, &s->writer, err);
    if (status == SK_OK)
        status = sk_ros_result_open(header, &s->result, err);
    if (status == SK_OK)
        status = add_topics(s, err);
    if (status != SK_OK) {
        sk_bag_writer_close(&s->writer);
        (void)!close_bag(&s->base, NULL);
        return status;
    }
    *out = &s->base;
    return SK_OK;
}

static sk_status open_mcap(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_bag(path, header, &sk_sink_mcap, SK_BAG_MCAP, out, err);
}

static sk_status open_db3(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_bag(path, header, &sk_sink_db3, SK_BAG_DB3, out, err);
}

static sk_status open_rosbag2(const char *path, const sk_run_header *header, sk_sink **out, sk_error *err)
{
    return open_bag(path, header, &sk_sink_rosbag2, SK_BAG_FOLDER, out, err);
}

const sk_sink_kind sk_sink_mcap = {.name = "mcap",
                                   .file = "results.mcap",
                                   .help = "bag of ROS 2: detections, keypoints, tracks as messages",
                                   .open = open_mcap};
const sk_sink_kind sk_sink_db3 = {.name = "db3",
                                  .file = "results.db3",
                                  .help = "the same as SQLite, the default up to ROS 2 Humble",
                                  .open = open_db3};
const sk_sink_kind sk_sink_rosbag2 = {.name = "rosbag2",
                                      .file = "rosbag2/",
                                      .help = "the same as a folder with metadata.yaml",
                                      .open = open_rosbag2};
