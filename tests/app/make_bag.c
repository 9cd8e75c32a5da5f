/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ros_messages.h"
#include "formats/rosbag.h"

#include <stdio.h>
#include <string.h>

/* Bags for test_bags.sh: make_bag PATH mcap|db3|folder [two|none|killed|eyes] */

#define WIDTH  64
#define HEIGHT 48
#define IMAGES 6

static bool eyes; /* images of two eyes, whose frame_ids are long, in turn */

static sk_status write_image(sk_bag_writer *w, size_t topic, int i, sk_cdr_writer *cdr, sk_error *err)
{
    char frame_id[400];
    snprintf(frame_id, sizeof frame_id, eyes ? "%s_eye_of_robot_%0300d" : "made_up",
             i % 3 == 0 ? "left" : "right", 7);
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    const int64_t stamp = 1700000000500000000 + i * (int64_t)100000000;
    for (int k = 0; k < WIDTH * HEIGHT * 3; k++)
        pixels[k] = (uint8_t)(k * (i + 3) / 7);
    const sk_msg_image image = {.header = {sk_msg_time_of(stamp), sk_msg_text_of(frame_id)},
                                .height = HEIGHT,
                                .width = WIDTH,
                                .encoding = sk_msg_text_of("rgb8"),
                                .step = WIDTH * 3,
                                .data = {pixels, sizeof pixels}};
    SK_TRY(sk_msg_encode(&sk_msg_image_layout, &image, cdr, err));
    SK_TRY(sk_bag_writer_write(w, topic, stamp + 3000000, cdr->data, cdr->length, err));
    return sk_bag_writer_flush(w, err);
}

static sk_status make(const char *path, const char *kind, const char *how, sk_error *err)
{
    sk_bag_writer *w = NULL;
    sk_cdr_writer cdr = {0};
    size_t images = 0, second = 0, texts = 0;
    const sk_msg_string hello = {.data = sk_msg_text_of("hello")};
    const sk_msg_type *type = sk_msg_type_find("sensor_msgs/msg/Image");
    sk_status status = SK_OK;
    SK_TRY(sk_bag_writer_open(path,
                              strcmp(kind, "mcap") == 0  ? SK_BAG_MCAP
                              : strcmp(kind, "db3") == 0 ? SK_BAG_DB3
                                                         : SK_BAG_FOLDER,
                              &w, err));
    eyes = strcmp(how, "eyes") == 0;
    const bool none = strcmp(how, "none") == 0, two = strcmp(how, "two") == 0;
    if (!none)
        SK_TRY_GOTO(sk_bag_writer_topic(w, "/camera/image_raw", type, &images, err));
    if (two)
        SK_TRY_GOTO(sk_bag_writer_topic(w, "/second", type, &second, err));
    SK_TRY_GOTO(sk_bag_writer_topic(w, "/chatter", sk_msg_type_find("std_msgs/msg/String"), &texts, err));
    for (int i = 0; i < IMAGES; i++) {
        SK_TRY_GOTO(sk_msg_encode(&sk_msg_string_layout, &hello, &cdr, err));
        SK_TRY_GOTO(sk_bag_writer_write(w, texts, 1700000000000000000 + i, cdr.data, cdr.length, err));
        if (!none)
            SK_TRY_GOTO(write_image(w, images, i, &cdr, err));
        if (two)
            SK_TRY_GOTO(write_image(w, second, i, &cdr, err));
    }
    if (strcmp(how, "killed") != 0)
        status = sk_bag_writer_finish(&w, err);
done:
    sk_bag_writer_close(&w);
    sk_cdr_writer_free(&cdr);
    return status;
}

int main(int argc, char **argv)
{
    sk_error err = {0};
    if (argc < 3 || make(argv[1], argv[2], argc > 3 ? argv[3] : "", &err) != SK_OK) {
        fprintf(stderr, "make_bag: %s\n", err.message);
        return 1;
    }
    return 0;
}
