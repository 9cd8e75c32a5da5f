/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_MEDIA_MADE_BAG_H
#define SK_TESTS_MEDIA_MADE_BAG_H

#include "formats/ros_messages.h"
#include "formats/rosbag.h"
#include "media/reader.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* Bags of images that a test puts together. */

#define BEGIN ((int64_t)1700000000 * 1000000000)
#define STEP  ((int64_t)50000000)

typedef struct made {
    const char *encoding;
    int width, height, step;
    const uint8_t *data;
    size_t bytes;
    int64_t stamp;
} made;

static const int64_t *times; /* of recording, where they are not even */

static inline const char *write_bag(const made *images, size_t count)
{
    static char path[512];
    sk_error err = {0};
    sk_bag_writer *writer = NULL;
    sk_cdr_writer cdr = {0};
    size_t topic = 0;
    snprintf(path, sizeof path, "%s/images.mcap", test_folder());
    assert_ok(sk_bag_writer_open(path, SK_BAG_MCAP, &writer, &err), &err);
    assert_ok(sk_bag_writer_topic(writer, "/image", sk_msg_type_find("sensor_msgs/msg/Image"), &topic, &err),
              &err);
    for (size_t i = 0; i < count; i++) {
        const made *m = &images[i];
        const sk_msg_image image = {.header = {sk_msg_time_of(m->stamp), sk_msg_text_of("eye")},
                                    .height = (uint32_t)m->height,
                                    .width = (uint32_t)m->width,
                                    .encoding = sk_msg_text_of(m->encoding),
                                    .step = (uint32_t)m->step,
                                    .data = {m->data, m->bytes}};
        assert_ok(sk_msg_encode(&sk_msg_image_layout, &image, &cdr, &err), &err);
        assert_ok(sk_bag_writer_write(writer, topic, times ? BEGIN + times[i] : BEGIN + (int64_t)i * STEP,
                                      cdr.data, cdr.length, &err),
                  &err);
    }
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    sk_cdr_writer_free(&cdr);
    return path;
}

static inline sk_source *open_bag(const char *path, const sk_source_settings *settings)
{
    sk_source *source = NULL;
    sk_error err = {0};
    assert_ok(sk_source_open(path, settings, &source, &err), &err);
    return source;
}

static inline sk_source_settings defaults(void)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    return s;
}

#endif
