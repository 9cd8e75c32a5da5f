/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_NODE_INSIDE_H
#define SK_ROS_NODE_INSIDE_H

#include "base/instances.h"
#include "formats/ros_messages.h"
#include "results/ros_result.h"
#include "ros/node.h"
#include "ros/param_services.h"
#include "ros/ros_graph.h"

#include <pthread.h>

/* Between the files of the node. Two threads: the one that called sk_ros_node_run waits for images and requests, and hands images
 * to the core (node.c, node_images.c); the other takes results from it and publishes them (node_tell.c). */

typedef struct sk_ros_node sk_ros_node;

/* An image on its way: the message's memory is the library's and is read in place, until the result was published. */
typedef struct node_image {
    sk_ros_node *node;
    struct node_image *next; /* of those that are free */
    sk_dds_taken taken;
    sk_msg_header header; /* its text lies in the message */
    int64_t came_ns;      /* clock of base/clock.h */
} node_image;

typedef struct node_counts {
    int64_t received, replaced, published, failed;
    double latency_sum,
        latency_most; /* ms from taking an image to having published, since the last diagnosis */
    int64_t latency_count;
} node_counts;

/* Problems that may come with every image. Those that differ in numbers only are of one kind. */
#define NODE_COMPLAINTS   16
#define NODE_COMPLAINT_NS ((int64_t)30 * 1000000000)
typedef struct node_complaint {
    uint64_t kind;    /* 0: none */
    int64_t told_ns;  /* when it was told last */
    int64_t silenced; /* since then */
} node_complaint;

struct sk_ros_node {
    const sk_ros_node_settings *settings;
    sk_ros_graph *graph;
    char name[2 * SK_ROS_NAME]; /* whole */
    char input[SK_ROS_NAME];    /* the topic of the images, whole and remapped */
    bool left_behind;           /* a thread is still opening a core that nobody waits for */
    sk_param_services *services;
    sk_subscriber *images;
    bool compressed, every;
    struct {
        sk_publisher *detections, *keypoints, *tracks, *annotated, *diagnostics, *log;
    } out;
    sk_node_core *core;
    pthread_t teller;
    bool telling;    /* the thread is there */
    sk_error broken; /* why the node cannot go on; SK_OK: it can */

    pthread_mutex_t lock; /* of what follows */
    node_image *free_images;
    node_counts counts;
    char *next_frame_id; /* for the thread that tells, to take; null: as before */
    bool annotate;
    node_complaint complaints[NODE_COMPLAINTS];

    pthread_mutex_t log_lock; /* of the log's publisher, whose reader may let it wait: nothing else is */
    sk_cdr_writer log_writer;

    /* of the thread that tells */
    char *frame_id; /* in the images' place; null or "": theirs */
    sk_run_header header;
    sk_ros_result *result;
    sk_found *found; /* of the frame, with their tracks */
    size_t found_capacity;
    uint8_t *drawn;
    size_t drawn_capacity;
    sk_cdr_writer writer;

    /* of the thread that waits */
    int64_t last_diagnosis_ns, last_asked_ns;
};

/* Tells the person, and the graph on /rosout. Any thread. */
void node_say(sk_ros_node *node, sk_ros_node_level level, const char *format, ...) SK_PRINTF(3, 4);
/* The same for a problem that may come with every image: each kind is told at once, then every half minute with how often. */
void node_complain(sk_ros_node *node, const char *text);

/* A core by the parameters as they are. SK_ERR_CANCELLED as soon as the node is interrupted, whatever it is waiting for. */
sk_status node_open_core(sk_ros_node *node, sk_node_core **out, sk_error *err) SK_MUST_CHECK;

/* Says that no image comes, and why perhaps, when it is time to. */
void node_note_quiet(sk_ros_node *node);

/* A change of parameters: sk_param_owner's. */
sk_status node_apply(void *context, bool anew, sk_error *err) SK_MUST_CHECK;

/* Takes what has come and submits it. */
sk_status node_take_images(sk_ros_node *node, sk_error *err) SK_MUST_CHECK;
void node_free_images(sk_ros_node *node);

/* What the thread that tells needs, for the core that is open; and the thread. */
sk_status node_begin_telling(sk_ros_node *node, sk_error *err) SK_MUST_CHECK;
void node_end_telling(sk_ros_node *node); /* once every result is out */
sk_status node_publish_diagnosis(sk_ros_node *node, sk_error *err) SK_MUST_CHECK;

#endif
