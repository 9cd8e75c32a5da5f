/* SPDX-License-Identifier: Apache-2.0 */
#include "results/ros_result.h"

#include "base/instances.h"
#include "base/object.h"
#include "base/text.h"
#include "results/shape.h"

#include <math.h>
#include <stdio.h>

#define NUMBER 16 /* an int32_t as text */

struct sk_ros_result {
    const sk_run_header *header;
    sk_msg_text *skeleton_names, *class_names;
    char **texts; /* where those lie */
    size_t n_texts;
    /* of the frame, as many as instances */
    sk_msg_detection *detections;
    sk_msg_hypothesis_with_pose *hypotheses;
    sk_msg_instance *instances;
    sk_msg_keypoint *keypoints;
    sk_msg_track *tracks;
    char (*ids)[NUMBER], (*classes)[NUMBER];
    size_t capacity;
};

/* Readers of ROS take texts that are not UTF-8 for damage. What has no name is called by its number. */
static sk_status note_names(sk_ros_result *r, const char *const *names, int32_t count, sk_msg_text *out,
                            sk_error *err)
{
    for (int32_t i = 0; i < count; i++) {
        char number[NUMBER];
        snprintf(number, sizeof number, "%d", i);
        char *copy = sk_text_utf8_copy(names[i] && names[i][0] ? names[i] : number);
        if (!copy)
            return sk_fail_memory(err, sizeof number);
        r->texts[r->n_texts++] = copy;
        out[i] = sk_msg_text_of(copy);
    }
    return SK_OK;
}

static sk_status note_all_names(sk_ros_result *r, sk_error *err)
{
    const sk_run_header *h = r->header;
    const size_t points = (size_t)h->n_keypoints, classes = (size_t)h->n_classes;
    r->skeleton_names = sk_calloc(points, sizeof *r->skeleton_names);
    r->class_names = sk_calloc(classes, sizeof *r->class_names);
    r->texts = sk_calloc(points + classes, sizeof *r->texts);
    if (!r->skeleton_names || !r->class_names || !r->texts)
        return sk_fail_memory(err, (points + classes) * sizeof *r->texts);
    SK_TRY(note_names(r, h->keypoint_names, h->n_keypoints, r->skeleton_names, err));
    return note_names(r, h->class_names, h->n_classes, r->class_names, err);
}

sk_status sk_ros_result_open(const sk_run_header *header, sk_ros_result **out, sk_error *err)
{
    *out = NULL;
    sk_ros_result *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->header = header;
    const sk_status status = note_all_names(r, err);
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
    for (size_t i = 0; i < r->n_texts; i++)
        sk_free(r->texts[i]);
    sk_free_all(r->skeleton_names, r->class_names, r->texts, r);
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

static bool is_somewhere(const sk_instances *list, const sk_found *found)
{
    bool any = found->has & SK_HAS_BOX;
    for (int32_t k = 0; k < list->n_keypoints && !any; k++)
        any = !isnan(list->keypoints[found->first_keypoint + k].x);
    return any;
}

static sk_msg_bounding_box box_of(const sk_instances *list, const sk_found *found)
{
    double b[4];
    if (found->has & SK_HAS_OBB)
        return (sk_msg_bounding_box){
            .center = {.position = {found->obb[0], found->obb[1]}, .theta = found->obb[4]},
            .size_x = found->obb[2],
            .size_y = found->obb[3]};
    if (!is_somewhere(list, found))
        return (sk_msg_bounding_box){.center = {{NAN, NAN}, NAN}, .size_x = NAN, .size_y = NAN};
    sk_instance_bounds(list, found, b);
    return (sk_msg_bounding_box){
        .center = {.position = {b[0] + b[2] / 2, b[1] + b[3] / 2}}, .size_x = b[2], .size_y = b[3]};
}

static sk_msg_text class_of(sk_ros_result *r, int32_t index, int32_t class_id)
{
    if (class_id < 0)
        return (sk_msg_text){0};
    if (class_id < r->header->n_classes)
        return r->class_names[class_id];
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
    SK_TRY(reserve(r, frame, err));
    const sk_instances *list = frame->instances;
    const int32_t n = frame->sightings ? list->count : 0;
    for (int32_t i = 0; i < n; i++) {
        const sk_sighting *s = &frame->sightings[i];
        note_instance(r, list, i);
        r->tracks[i] = (sk_msg_track){.id = s->track,
                                      .state = sk_msg_text_of(sk_track_state_name(s->state)),
                                      .x = s->x,
                                      .y = s->y,
                                      .heading = s->heading,
                                      .certainty = (float)s->certainty,
                                      .instance = r->instances[i]};
    }
    const sk_msg_track_array message = {.header = *header, .tracks = {r->tracks, (size_t)n}};
    return sk_msg_encode(&sk_msg_track_array_layout, &message, writer, err);
}
