/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_NODE_CORE_H
#define SKITTER_NODE_CORE_H

#include "skitter/instance.h"
#include "skitter/pipeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a robot's vision node is made of, without any robot's software: parameters by their names; pictures in, as messages
 * carry them; out come what was found, who is who, a picture with both drawn in, and how the node is. Every node holds this
 * one: `skitter node`, which speaks ROS 2's wire protocol by itself, and that of generated packages (rclcpp).
 *
 *     sk_node_settings *how;                                     every parameter at its default
 *     sk_node_settings_open(&how, &err);
 *     sk_node_settings_set(how, "weights_path", "yolo11n.pt", &err);
 *     sk_node_core_open(how, &core, &err);                       reads the model, warms up, traces: takes seconds
 *
 *     one thread, for every message:                             another thread:
 *     sk_node_core_submit(core, &image, &err);                   while (sk_node_core_take(core, -1, &result, &err) == SK_OK
 *                                                                       && result) {
 *                                                                    publish(result);
 *                                                                    sk_node_core_give_back(core, result);
 *                                                                }
 *     sk_node_core_finish(core);                                 take then gives null
 *
 * Threads: any may submit; one takes, draws and gives back. Everything else may be called from any thread, except close. */

/* ---- parameters ---- */

/* What a parameter's value is; the numbers are those of rcl_interfaces/ParameterType. */
typedef enum sk_node_type {
    SK_NODE_BOOL = 1,
    SK_NODE_INT = 2,
    SK_NODE_DOUBLE = 3,
    SK_NODE_TEXT = 4,
    /* whole numbers by commas, also in brackets: "0, 2" */
    SK_NODE_INTS = 7
} sk_node_type;

/* A parameter. Its texts are ours and constant. Fields may be added at the end. */
typedef struct sk_node_param {
    /* sizeof(sk_node_param), by SK_NODE_PARAM_INIT */
    uint32_t size;
    sk_node_type type;
    const char *name;
    /* the default, as text: "0.25", "true", "[]" */
    const char *fallback;
    /* one line for people */
    const char *help;
    /* numbers: what they may be, where least < most */
    double least, most;
    /* the words it may be, parted by '|'; null: any */
    const char *choices;
    /* may be changed while the core is open: sk_node_core_set */
    bool live;
    /* says what counts as found: a node that runs may change it by opening a core anew */
    bool found;
} sk_node_param;
#define SK_NODE_PARAM_INIT SK_INIT_BY_SIZE(sk_node_param)

/* All of them in a fixed order; false past the end. */
SK_API bool sk_node_param_get(int32_t index, sk_node_param *out);

typedef struct sk_node_settings sk_node_settings;
SK_API sk_status sk_node_settings_open(sk_node_settings **out, sk_error *err) SK_MUST_CHECK;
SK_API void sk_node_settings_close(sk_node_settings **settings);
/* Copies the value. SK_ERR_NOT_FOUND: no such parameter; SK_ERR_ARG: not of its type, out of its bounds, none of its words. */
SK_API sk_status sk_node_settings_set(sk_node_settings *settings, const char *name, const char *value,
                                      sk_error *err) SK_MUST_CHECK;
/* As it was set, or the default; null: no such parameter. The settings', until it is set again. */
SK_API const char *sk_node_settings_get(const sk_node_settings *settings, const char *name);

/* Are animals followed from picture to picture? Without a word here: where a parameter of following (tracker, animals) was set. */
SK_API void sk_node_settings_follow(sk_node_settings *settings, bool follow);

/* ---- opening and closing ---- */

typedef struct sk_node_core sk_node_core;

/* Reads the model of `weights_path` (and of `second_weights_path` one that looks at crops), chooses the runtime, and gets
 * ready: warm-up and trace, unless use_compile is false. SK_ERR_ARG: parameters that contradict each other, both named. */
SK_API sk_status sk_node_core_open(const sk_node_settings *settings, sk_node_core **out,
                                   sk_error *err) SK_MUST_CHECK;
/* No other thread may be using it. Frames in flight are given up, pictures that were lent are released. */
SK_API void sk_node_core_close(sk_node_core **core);
/* Task, names, skeleton, runtime asked for and computing. */
SK_API const sk_pipeline_info *sk_node_core_about(const sk_node_core *core);
/* A parameter that is `live`; SK_ERR_BUSY for others: they need the core opened anew. */
SK_API sk_status sk_node_core_set(sk_node_core *core, const char *name, const char *value,
                                  sk_error *err) SK_MUST_CHECK;

/* ---- pictures in ---- */

/* A picture as sensor_msgs/Image or CompressedImage has it. */
typedef struct sk_node_image {
    /* sizeof(sk_node_image), by SK_NODE_IMAGE_INIT */
    uint32_t size;
    /* pixels; compressed: not looked at */
    int32_t width, height;
    /* "rgb8", "bgr8", "mono8", "mono16", "rgba8", "bgra8", "bayer_rggb8", "yuv422_yuy2", "nv12" …; null: compressed, by its own
     * first bytes (JPEG, PNG, TIFF) */
    const char *encoding;
    /* of values of 16 bits */
    bool big_endian;
    /* bytes from one row to the next; 0: no gaps */
    uint32_t step;
    /* the message's bytes … */
    const uint8_t *data;
    /* … so many; checked against all of the above */
    size_t length;
    /* header.stamp, ns since 1970 */
    int64_t stamp_ns;
    /* comes back in the result and goes to `release` */
    void *user;
    /* Null: the bytes are copied before submit returns. Set: they are lent, and this is called once when they and `user` are
     * no longer needed, whatever became of the picture: after its result was given back, or when a newer one took its place;
     * not where submit failed. From any thread, under no lock. */
    void (*release)(void *user);
} sk_node_image;
#define SK_NODE_IMAGE_INIT SK_INIT_BY_SIZE(sk_node_image)

/* With qos_reliability "best_effort" the newest picture wins and this never waits; with "reliable" every picture is looked at,
 * and this waits while as many as can be are on their way. frame_skip pictures are left out after each that is looked at. */
SK_API sk_status sk_node_core_submit(sk_node_core *core, const sk_node_image *image,
                                     sk_error *err) SK_MUST_CHECK;
/* No more pictures: take gives the rest, then null. Submit begins anew. */
SK_API void sk_node_core_finish(sk_node_core *core);

/* ---- results out ---- */

/* One found animal, as messages have it. Fields may be added at the end. */
typedef struct sk_node_object {
    /* sizeof(sk_node_object), by SK_NODE_OBJECT_INIT */
    uint32_t size;
    /* -1: none */
    int32_t class_id;
    /* the class's name, its number where it has none, "" without a class */
    const char *class_name;
    float score;
    /* -1: not followed */
    int32_t track;
    /* Its box, in pixels: middle, sides along its own axes, and how far these are turned, radians clockwise on the screen; 0:
     * upright. Of an animal with keypoints alone: what holds them. All 0 where there is neither. */
    double x, y, size_x, size_y, theta;
    /* n_keypoints of sk_pipeline_info; null: none */
    const sk_keypoint *points;
} sk_node_object;
#define SK_NODE_OBJECT_INIT SK_INIT_BY_SIZE(sk_node_object)

/* One track in one frame. Fields may be added at the end. */
typedef struct sk_node_track {
    /* sizeof(sk_node_track), by SK_NODE_TRACK_INIT */
    uint32_t size;
    /* from 0, never given twice */
    int32_t id;
    /* "active", "covered", "lost" */
    const char *state;
    double x, y;
    /* where the head points, radians clockwise on the screen from the right */
    double heading;
    /* of the assignment, 0 … 1 */
    float certainty;
    /* what was found of it, or where it should be */
    sk_node_object object;
} sk_node_track;
#define SK_NODE_TRACK_INIT SK_INIT_BY_SIZE(sk_node_track)

/* What became of one picture. Ours, until it is given back; one is out at a time. May grow at the end. */
typedef struct sk_node_result {
    /* sizeof, as the library knows it */
    uint32_t size;
    /* SK_OK; else what failed for this picture */
    sk_status status;
    /* for people; "" */
    const char *problem;
    /* as the image had them */
    void *user;
    int64_t stamp_ns;
    int32_t width, height;
    /* what was found, and (sk_node_settings_follow) who is who; 0 where it failed */
    int32_t n_objects, n_tracks;
    /* from submit to the end of post-processing */
    double latency_ms;
    /* what was found, as the library's own list */
    const sk_instances *instances;
} sk_node_result;

/* As sk_pipeline_take. */
SK_API sk_status sk_node_core_take(sk_node_core *core, int32_t timeout_ms, const sk_node_result **out,
                                   sk_error *err) SK_MUST_CHECK;
/* False: there is no such one. */
SK_API bool sk_node_result_object(const sk_node_result *result, int32_t index, sk_node_object *out);
SK_API bool sk_node_result_track(const sk_node_result *result, int32_t index, sk_node_track *out);
/* The picture with everything drawn in: width * height * 3 bytes of RGB, rows without gaps. */
SK_API sk_status sk_node_core_draw(sk_node_core *core, const sk_node_result *result, uint8_t *rgb,
                                   size_t bytes, sk_error *err) SK_MUST_CHECK;
SK_API void sk_node_core_give_back(sk_node_core *core, const sk_node_result *result);

/* ---- how it is ---- */

/* Of diagnostic_msgs/DiagnosticStatus. */
typedef enum sk_node_level { SK_NODE_OK = 0, SK_NODE_WARN = 1, SK_NODE_ERROR = 2 } sk_node_level;

/* One line of a diagnosis. */
typedef struct sk_node_fact {
    /* sizeof(sk_node_fact), by SK_NODE_FACT_INIT */
    uint32_t size;
    char key[48];
    char value[208];
} sk_node_fact;
#define SK_NODE_FACT_INIT SK_INIT_BY_SIZE(sk_node_fact)

/* What a person should know first, in one line of at most `capacity` bytes. */
SK_API sk_node_level sk_node_core_health(sk_node_core *core, char *message, size_t capacity);
/* Runtime requested and computing, device, precision, models, pictures that came, were looked at, gave way, failed, and the time
 * of each stage; false past the end. */
SK_API bool sk_node_core_fact(sk_node_core *core, int32_t index, sk_node_fact *out);

/* ---- when nothing comes ---- */

/* From now on pictures are waited for: when the node has subscribed, or has done so again. */
SK_API void sk_node_core_listen(sk_node_core *core);
/* True when it is time to tell a person that none comes: after 5 s (of a camera that was slower before: after four times its
 * longest pause), then after 30 s, 2 min and every 10 min. To be asked about once a second. *seconds, where it is not null: for how
 * long none has come. */
SK_API bool sk_node_core_is_quiet(sk_node_core *core, double *seconds);

/* Somebody who publishes: all that the node's middleware knows of, but the node itself. */
typedef struct sk_node_speaker {
    /* sizeof(sk_node_speaker), by SK_NODE_SPEAKER_INIT */
    uint32_t size;
    /* "/camera/image_raw" */
    const char *topic;
    /* "sensor_msgs/msg/Image" */
    const char *type;
    /* of its quality of service; false: best effort, volatile */
    bool reliable, transient_local;
} sk_node_speaker;
#define SK_NODE_SPEAKER_INIT SK_INIT_BY_SIZE(sk_node_speaker)

/* Why none may come, for people, in at most `capacity` bytes: nobody publishes on `topic` (whole and remapped, as it was
 * subscribed to), somebody does with another type or a quality of service that does not match; and where images are. */
SK_API void sk_node_core_explain_quiet(sk_node_core *core, const char *topic, double seconds,
                                       const sk_node_speaker *speakers, int32_t n, char *text,
                                       size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
