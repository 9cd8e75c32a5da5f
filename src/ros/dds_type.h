/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_DDS_TYPE_H
#define SK_ROS_DDS_TYPE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message type as Cyclone DDS wants it: how it would lie in a C structure, as instructions. */
typedef struct sk_dds_type {
    char *name; /* "sensor_msgs::msg::dds_::Image_" */
    uint32_t size, align;
    uint32_t n_ops;
    uint32_t *ops;
    size_t capacity; /* of ops */
} sk_dds_type;

/* How a type on the wire differs from its .msg. */
typedef struct sk_dds_twist {
    bool
        service; /* a request or a reply: a client's number and the call's stand before it, as rmw_cyclonedds has it */
    uint32_t gid_bytes; /* of rmw_dds_common/Gid; 0: as its .msg says */
} sk_dds_twist;

/* From a type of formats/ros_types.h: "sensor_msgs/msg/Image". `twist` may be null. */
sk_status sk_dds_type_make(const char *name, const sk_dds_twist *twist, sk_dds_type *out,
                           sk_error *err) SK_MUST_CHECK;
void sk_dds_type_free(sk_dds_type *type);

/* A sample: a message in that structure, made from its CDR, whose texts and bytes it borrows. Starts as {0}; its memory is
 * kept from one to the next. */
typedef struct sk_dds_sample {
    void *data;
    size_t capacity;
} sk_dds_sample;

/* SK_ERR_FORMAT where the bytes are no message of that type. */
sk_status sk_dds_sample_make(sk_dds_sample *sample, const sk_dds_type *type, const void *cdr, size_t bytes,
                             sk_error *err) SK_MUST_CHECK;
void sk_dds_sample_free(sk_dds_sample *sample);

#endif
