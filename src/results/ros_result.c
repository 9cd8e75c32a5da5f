/* SPDX-License-Identifier: Apache-2.0 */
#include "results/ros_result.h"

#include "base/instances.h"
#include "base/object.h"

#include <math.h>
#include <stdio.h>

#define NUMBER 16 /* an int32_t as text */

struct sk_ros_result {
    const sk_run_header *header;
    sk_msg_text *skeleton_names;
    /* of the frame, as many as instances */
    sk_msg_detection *detections;
    sk_msg_hypothesis_with_pose *hypotheses;
    sk_msg_instance *instances;
    sk_msg_keypoint *keypoints;
    sk_msg_track *tracks;
    char (*ids)[NUMBER], (*classes)[NUMBER];
    size_t capacity;
};

sk_status sk_ros_result_open(const sk_run_header *header, sk_ros_result **out, sk_error *err)
{
    sk_ros_result *r = sk_calloc(1, sizeof *r);
    sk_status status = SK_OK;
    if (!r || !(r->skeleton_names = sk_calloc((size_t)header->n_keypoints + 1, sizeof *r->skeleton_names)))
        status = sk_fail_memory(err, sizeof *r);
    else
        r->header = header;
    for (int32_t i = 0; status == SK_OK && i < header->n_keypoints; i++)
        r->skeleton_names[i] = sk_msg_text_of(header->keypoint_names[i]);
    return SK_HAND_OVER(status, r, out, sk_ros_result_close);
}

static void free_frame(sk_ros_result *r)
{
    sk_free_all(r->detections, r->hypotheses, r->instances, r->keypoints, r->tracks, r->ids, r->classes);
}

void sk_ros_result_close(sk_ros_result **slot)
{
    SK_TAKE_OR_RETURN(r, slot);
    free_frame(r);
    sk_free_all(r->skeleton_names, r);
}

static sk_status reserve(sk_ros_result *r, const sk_result_frame *frame, sk_error *err)
{
    const size_t n = (size_t)frame->instances->count;
    if (n <= r->capacity && r->detections)
        return SK_OK;
    const size_t more = n + n / 2 + 16, points = more * ((size_t)r->header->n_keypoints + 1);
    free_frame(r);
    r->detections = sk_calloc(more, sizeof *r->detections);
    r->hypotheses = sk_calloc(more, sizeof *r->hypotheses);
    r->instances = sk_calloc(more, sizeof *r->instances);
    r->keypoints = sk_calloc(points, sizeof *r->keypoints);
    r->tracks = sk_calloc(more, sizeof *r->tracks);
    r->ids = sk_calloc(more, sizeof *r->ids);
    r->classes = sk_calloc(more, sizeof *r->classes);
    r->capacity = more;
    if (r->detections && r->hypotheses && r->instances && r->keypoints && r->tracks && r->ids && r->classes)
        return SK_OK;
    r->capacity = 0;
    return sk_fail_memory(err, points * sizeof *r->keypoints);
}

static sk_msg_bounding_box box_of(const sk_instances *list, const sk_found *found)
{
    double x1 = found->box[0], y1 = found->box[1], x2 = found->box[2], y2 = found->box[3];
    if (found->has & SK_HAS_OBB)
        return (sk_msg_bounding_box){
            .center = {.position = {found->obb[0], found->obb[1]}, .theta = found->obb[4]},
            .size_x = found->obb[2],
            .size_y = found->obb[3]};
    if (!(found->has & SK_HAS_BOX)) {
        x1 = y1 = INFINITY;
        x2 = y2 = -INFINITY;
        for (int32_t k = 0; k < list->n_keypoints; k++) {
            const sk_keypoint *p = &list->keypoints[found->first_keypoint + k];
            if (isnan(p->x))
                continue;
            x1 = fmin(x1, p->x), x2 = fmax(x2, p->x);
            y1 = fmin(y1, p->y), y2 = fmax(y2, p->y);
        }
        if (x1 > x2)
            return (sk_msg_bounding_box){.center = {{NAN, NAN}, NAN}, .size_x = NAN, .size_y = NAN};
    }
    return (sk_msg_bounding_box){
        .center = {.position = {(x1 + x2) / 2, (y1 + y2) / 2}}, .size_x = x2 - x1, .size_y = y2 - y1};
}

static sk_msg_text class_of(sk_ros_result *r, int32_t index, int32_t class_id)
{
    if (class_id < 0)
        return (sk_msg_text){0};
    if (class_id < r->header->n_classes && r->header->class_names[class_id][0])
        return sk_msg_text_of(r->header->class_names[class_id]);
    snprintf(r->classes[index], NUMBER, "%d", class_id);
    return sk_msg_text_of(r->classes[index]);
}

static void note_detection(sk_ros_result *r, const sk_msg_header *header, const sk_instances *list, int32_t i)
{
    const sk_found *found = &list->items[i];
    r->ids[i][0] = '\0';
    if (found->track_id >= 0)
        snprintf(r->ids[i], NUMBER, "%d", found->track_id);
    r->hypotheses[i] = (sk_msg_hypothesis_with_pose){
        .hypothesis = {.class_id = class_of(r, i, found->class_id), .score = (double)found->score}};
    r->hypotheses[i].pose.pose.orientation.w = 1; /* as ROS initialises it: no turn */
    r->detections[i] = (sk_msg_detection){.header = *header,
                                          .results = {&r->hypotheses[i], 1},
                                          .bbox = box_of(list, found),
                                          .id = sk_msg_text_of(r->ids[i])};
}

sk_status sk_ros_result_detections(sk_ros_result *r, const sk_msg_header *header,
                                   const sk_result_frame *frame, sk_cdr_writer *writer, sk_error *err)
{
    SK_TRY(reserve(r, frame, err));
    const sk_instances *list = frame->instances;
    size_t n = 0;
    for (int32_t i = 0; i < list->count; i++) {
        if (frame->sightings && frame->sightings[i].detection < 0)
            continue; /* nobody saw it here */
        note_detection(r, header, list, i);
        r->detections[n++] = r->detections[i];
    }
    const sk_msg_detection_array message = {.header = *header, .detections = {r->detections, n}};
    return sk_msg_encode(&sk_msg_detection_array_layout, &message, writer, err);
}

static void note_instance(sk_ros_result *r, const sk_instances *list, int32_t i)
{
    const sk_found *found = &list->items[i];
    const bool points = found->has & SK_HAS_KEYPOINTS && list->n_keypoints <= r->header->n_keypoints;
    const int32_t n = points ? list->n_keypoints : 0;
    sk_msg_keypoint *to = r->keypoints + (size_t)i * (size_t)r->header->n_keypoints;
    for (int32_t k = 0; k < n; k++) {
        const sk_keypoint *p = &list->keypoints[found->first_keypoint + k];
        to[k] = (sk_msg_keypoint){.name = r->skeleton_names[k],
                                  .x = (double)p->x,
                                  .y = (double)p->y,
                                  .score = p->score,
                                  .visible = !isnan(p->x)};
    }
    r->instances[i] = (sk_msg_instance){.class_id = found->class_id,
                                        .class_name = class_of(r, i, found->class_id),
                                        .score = found->score,
                                        .track = found->track_id,
                                        .box = box_of(list, found),
                                        .keypoints = {to, (size_t)n}};
}

sk_status sk_ros_result_instances(sk_ros_result *r, const sk_msg_header *header, const sk_result_frame *frame,
                                  sk_cdr_writer *writer, sk_error *err)
{
    SK_TRY(reserve(r, frame, err));
    const sk_instances *list = frame->instances;
    const size_t points = (size_t)r->header->n_keypoints, edges = 2 * (size_t)r->header->n_edges;
    size_t n = 0;
    for (int32_t i = 0; i < list->count; i++) {
        if (frame->sightings && frame->sightings[i].detection < 0)
            continue;
        note_instance(r, list, i);
        r->instances[n++] = r->instances[i];
    }
    const sk_msg_instance_array message = {.header = *header,
                                           .skeleton_names = {r->skeleton_names, points},
                                           .skeleton_edges = {edges ? r->header->edges[0] : NULL, edges},
                                           .instances = {r->instances, n}};
    return sk_msg_encode(&sk_msg_instance_array_layout, &message, writer, err);
}

sk_status sk_ros_result_tracks(sk_ros_result *r, const sk_msg_header *header, const sk_result_frame *frame,
                               sk_cdr_writer *writer, sk_error *err)
{
    static const char *const states[] = {
        [SK_TRACK_ACTIVE] = "active", [SK_TRACK_COVERED] = "covered", [SK_TRACK_LOST] = "lost"};
    SK_TRY(reserve(r, frame, err));
    const sk_instances *list = frame->instances;
    for (int32_t i = 0; i < list->count; i++) {
        const sk_sighting *s = &frame->sightings[i];
        note_instance(r, list, i);
        r->tracks[i] = (sk_msg_track){.id = s->track,
                                      .state = sk_msg_text_of(states[s->state]),
                                      .x = s->x,
                                      .y = s->y,
                                      .heading = s->heading,
                                      .certainty = (float)s->certainty,
                                      .instance = r->instances[i]};
    }
    const sk_msg_track_array message = {.header = *header, .tracks = {r->tracks, (size_t)list->count}};
    return sk_msg_encode(&sk_msg_track_array_layout, &message, writer, err);
}
