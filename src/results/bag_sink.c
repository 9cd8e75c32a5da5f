/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sink.h"

#include "base/frame.h"
#include "base/memory.h"
#include "formats/ros_messages.h"
#include "formats/rosbag.h"
#include "results/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    sk_cdr_writer cdr;
    /* one frame's */
    sk_msg_detection *detections;
    sk_msg_hypothesis_with_pose *hypotheses;
    sk_msg_instance *instances;
    sk_msg_track *tracks;
    sk_msg_keypoint *points;
    char (*ids)[16];
    size_t items, points_capacity; /* room in them */
    sk_msg_text *names, *classes;  /* of keypoints and classes, as UTF-8 */
    char **texts;                  /* where they lie */
    size_t n_texts;
    int32_t *edges;
} bag_sink;

/* --- what holds for all frames --- */

/* Readers of ROS take texts that are not UTF-8 for damage. A class without a name is called by its number. */
static sk_status note_names(bag_sink *s, const char *const *names, int32_t count, sk_msg_text *out,
                            sk_error *err)
{
    for (int32_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        char *copy = sk_text_utf8_copy(names[i] && names[i][0] ? names[i] : number);
        if (!copy)
            return sk_fail_memory(err, sizeof number);
        s->texts[s->n_texts++] = copy;
        out[i] = sk_msg_text_of(copy);
    }
    return SK_OK;
}

static sk_status note_skeleton(bag_sink *s, sk_error *err)
{
    const sk_run_header *h = s->header;
    s->names = sk_calloc((size_t)h->n_keypoints + 1, sizeof *s->names);
    s->classes = sk_calloc((size_t)h->n_classes + 1, sizeof *s->classes);
    s->texts = sk_calloc((size_t)h->n_keypoints + (size_t)h->n_classes + 1, sizeof *s->texts);
    s->edges = sk_calloc(2 * (size_t)h->n_edges + 1, sizeof *s->edges);
    if (!s->names || !s->classes || !s->texts || !s->edges)
        return sk_fail_memory(err, (size_t)h->n_keypoints * sizeof *s->names);
    SK_TRY(note_names(s, h->keypoint_names, h->n_keypoints, s->names, err));
    SK_TRY(note_names(s, h->class_names, h->n_classes, s->classes, err));
    for (int32_t i = 0; i < h->n_edges; i++) {
        s->edges[2 * i] = h->edges[i][0];
        s->edges[2 * i + 1] = h->edges[i][1];
    }
    return SK_OK;
}

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

/* --- a frame --- */

static sk_status make_room(bag_sink *s, const sk_instances *all, sk_error *err)
{
    const size_t n = (size_t)all->count + 1, points = n * ((size_t)all->n_keypoints + 1);
    if (n > s->items) {
        sk_free_all(s->detections, s->hypotheses, s->instances, s->tracks, s->ids);
        s->items = 2 * n;
        s->detections = sk_calloc(s->items, sizeof *s->detections);
        s->hypotheses = sk_calloc(s->items, sizeof *s->hypotheses);
        s->instances = sk_calloc(s->items, sizeof *s->instances);
        s->tracks = sk_calloc(s->items, sizeof *s->tracks);
        s->ids = sk_calloc(s->items, sizeof *s->ids);
        if (!s->detections || !s->hypotheses || !s->instances || !s->tracks || !s->ids) {
            s->items = 0;
            return sk_fail_memory(err, 2 * n * sizeof *s->hypotheses);
        }
    }
    return sk_array_reserve((void **)&s->points, &s->points_capacity, points, sizeof *s->points,
                            SIZE_MAX / 256, err);
}

static sk_msg_bounding_box box_of(const sk_instances *all, const sk_found *in)
{
    if (in->has & SK_HAS_OBB)
        return (sk_msg_bounding_box){{{(double)in->obb[0], (double)in->obb[1]}, (double)in->obb[4]},
                                     (double)in->obb[2],
                                     (double)in->obb[3]};
    double b[4];
    sk_instance_bounds(all, in, b);
    return (sk_msg_bounding_box){{{b[0] + b[2] / 2, b[1] + b[3] / 2}, 0}, b[2], b[3]};
}

static void fill_points(bag_sink *s, const sk_instances *all, int32_t i)
{
    const sk_found *in = &all->items[i];
    sk_msg_keypoint *points = s->points + (size_t)i * (size_t)all->n_keypoints;
    const bool found = in->has & SK_HAS_KEYPOINTS;
    for (int32_t k = 0; found && k < s->header->n_keypoints; k++) {
        const sk_keypoint *p = &all->keypoints[in->first_keypoint + k];
        const bool visible = !isnan(p->x) && !isnan(p->y);
        points[k] = (sk_msg_keypoint){.name = s->names[k],
                                      .x = visible ? (double)p->x : 0,
                                      .y = visible ? (double)p->y : 0,
                                      .score = visible ? p->score : 0,
                                      .visible = visible};
    }
    s->instances[i].keypoints.items = points;
    s->instances[i].keypoints.count = found ? (size_t)s->header->n_keypoints : 0;
}

static void fill(bag_sink *s, const sk_result_frame *frame, const sk_msg_header *header, int32_t i)
{
    const sk_instances *all = frame->instances;
    const sk_found *in = &all->items[i];
    const bool named = in->class_id >= 0 && in->class_id < s->header->n_classes;
    const sk_msg_text name = named ? s->classes[in->class_id] : sk_msg_text_of("");
    const sk_msg_bounding_box box = box_of(all, in);
    s->ids[i][0] = '\0';
    if (in->track_id >= 0)
        snprintf(s->ids[i], sizeof s->ids[i], "%d", in->track_id);
    s->hypotheses[i] = (sk_msg_hypothesis_with_pose){.hypothesis = {name, (double)in->score}};
    s->hypotheses[i].pose.pose.orientation.w = 1;
    s->detections[i] = (sk_msg_detection){
        .header = *header, .results = {&s->hypotheses[i], 1}, .bbox = box, .id = sk_msg_text_of(s->ids[i])};
    s->instances[i] = (sk_msg_instance){
        .class_id = in->class_id, .class_name = name, .score = in->score, .track = in->track_id, .box = box};
    fill_points(s, all, i);
    if (!frame->sightings)
        return;
    const sk_sighting *t = &frame->sightings[i];
    s->tracks[i] = (sk_msg_track){.id = t->track,
                                  .state = sk_msg_text_of(sk_track_state_name(t->state)),
                                  .x = t->x,
                                  .y = t->y,
                                  .heading = t->heading,
                                  .certainty = (float)t->certainty,
                                  .instance = s->instances[i]};
}

static sk_status send(bag_sink *s, size_t topic, const sk_msg_layout *layout, const void *message,
                      int64_t stamp, sk_error *err)
{
    SK_TRY(sk_msg_encode(layout, message, &s->cdr, err));
    return sk_bag_writer_write(s->writer, topic, stamp, s->cdr.data, s->cdr.length, err);
}

/* Also frames in which nothing was found: who waits for an answer to an image gets one. */
static sk_status write_frame(sk_sink *base, const sk_result_frame *frame, sk_error *err)
{
    bag_sink *s = (bag_sink *)base;
    const size_t count = (size_t)frame->instances->count;
    const int64_t stamp = frame->wall_ns ? frame->wall_ns : sk_time_ns(frame->time);
    const sk_msg_header header = {sk_msg_time_of(stamp), sk_msg_text_of(s->header->frame_id)};
    if (s->header->no_empty && count == 0)
        return SK_OK;
    SK_TRY(make_room(s, frame->instances, err));
    for (int32_t i = 0; i < frame->instances->count; i++)
        fill(s, frame, &header, i);
    const sk_msg_detection_array found = {.header = header, .detections = {s->detections, count}};
    SK_TRY(send(s, s->detections_topic, &sk_msg_detection_array_layout, &found, stamp, err));
    if (s->header->n_keypoints > 0) {
        const sk_msg_instance_array poses = {.header = header,
                                             .skeleton_names = {s->names, (size_t)s->header->n_keypoints},
                                             .skeleton_edges = {s->edges, 2 * (size_t)s->header->n_edges},
                                             .instances = {s->instances, count}};
        SK_TRY(send(s, s->keypoints_topic, &sk_msg_instance_array_layout, &poses, stamp, err));
    }
    if (!s->header->tracked)
        return SK_OK;
    const sk_msg_track_array tracks = {.header = header, .tracks = {s->tracks, frame->sightings ? count : 0}};
    return send(s, s->tracks_topic, &sk_msg_track_array_layout, &tracks, stamp, err);
}

static sk_status flush(sk_sink *base, sk_error *err)
{
    return sk_bag_writer_flush(((bag_sink *)base)->writer, err);
}

static sk_status close_bag(sk_sink *base, sk_error *err)
{
    bag_sink *s = (bag_sink *)base;
    sk_status status = sk_bag_writer_finish(&s->writer, err);
    for (size_t i = 0; i < s->n_texts; i++)
        sk_free(s->texts[i]);
    sk_cdr_writer_free(&s->cdr);
    sk_free_all(s->detections, s->hypotheses, s->instances, s->tracks, s->points, s->ids, s->names,
                s->classes, s->texts, s->edges, s);
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
        status = note_skeleton(s, err);
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
