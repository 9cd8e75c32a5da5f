/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_NODE_FIXTURE_H
#define SK_TESTS_APP_NODE_FIXTURE_H

#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/node_core_internal.h"
#include "app/node_settings.h"
#include "skitter/skitter.h"

/* A robot's node with a tiny network. */

static sk_error err;

#define WIDTH  48
#define HEIGHT 40
static uint8_t rgb[WIDTH * HEIGHT * 3];

static inline sk_node_settings *node_settings(const char *head)
{
    sk_node_settings *s = NULL;
    const yolo_fixture fixture = {.head = head, .f32 = true, .imgsz = 32};
    assert_ok(sk_node_settings_open(&s, &err), &err);
    assert_ok(sk_node_settings_set(s, "weights_path", yolo_save(&fixture, "node.pt"), &err), &err);
    assert_ok(sk_node_settings_set(s, "imgsz", "32", &err), &err);
    assert_ok(sk_node_settings_set(s, "confidence_threshold", "0.01", &err), &err);
    assert_ok(sk_node_settings_set(s, "max_detections", "4", &err), &err);
    assert_ok(sk_node_settings_set(s, "qos_reliability", "reliable", &err), &err);
    return s;
}

static inline sk_node_core *open_core(const char *head, bool follow)
{
    sk_node_core *core = NULL;
    sk_node_settings *s = node_settings(head);
    sk_node_settings_follow(s, follow);
    assert_ok(sk_node_core_open(s, &core, &err), &err);
    sk_node_settings_close(&s);
    return core;
}

static inline void put_noise(void)
{
    uint32_t noise = 9;
    for (size_t i = 0; i < sizeof rgb; i++) {
        noise = noise * 1664525u + 1013904223u;
        rgb[i] = (uint8_t)(noise >> 24);
    }
}

static inline const sk_node_result *look(sk_node_core *core, const char *encoding, const void *data,
                                         size_t length, int64_t stamp)
{
    sk_node_image image = SK_NODE_IMAGE_INIT;
    const sk_node_result *got = NULL;
    image.width = WIDTH, image.height = HEIGHT;
    image.encoding = encoding;
    image.data = data;
    image.length = length;
    image.stamp_ns = stamp;
    assert_ok(sk_node_core_submit(core, &image, &err), &err);
    assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
    assert_non_null(got);
    assert_int_equal(got->status, SK_OK);
    assert_int_equal(got->stamp_ns, stamp);
    assert_true(got->width == WIDTH && got->height == HEIGHT && got->latency_ms > 0);
    return got;
}

#endif
