/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_BAG_TOPIC_H
#define SK_MEDIA_BAG_TOPIC_H

#include "formats/rosbag.h"

/* Inside media/: which topic of a bag is a source. */

typedef enum sk_bag_images {
    SK_BAG_NO_IMAGES,
    SK_BAG_RAW,       /* sensor_msgs/Image */
    SK_BAG_COMPRESSED /* sensor_msgs/CompressedImage */
} sk_bag_images;

sk_bag_images sk_bag_images_of(const sk_bag_topic *topic);

/* SK_ERR_UNSUPPORTED for a bag of ROS 1, with what makes one of ROS 2 of it. */
sk_status sk_bag_refuse_ros1(const char *path, sk_error *err) SK_MUST_CHECK;

/* The topic called `wanted`, with or without its first slash; null: the only one with images. SK_ERR_NOT_FOUND names those that
 * there are. */
sk_status sk_bag_find_images(const sk_bag *bag, const char *path, const char *wanted, size_t *topic,
                             sk_error *err) SK_MUST_CHECK;

#endif
