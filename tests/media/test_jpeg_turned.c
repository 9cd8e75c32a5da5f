/* SPDX-License-Identifier: Apache-2.0 */
/* A JPEG is shown as its Exif block says it was held, behind whatever other blocks that lies. */
#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"
#include "media/reader.h"
#include "media/video_sink.h"
#include "support/test.h"

#include <string.h>

enum { W = 48, H = 32 };

static uint8_t file[1 << 14];
static size_t count;

static void put(const void *bytes, size_t n)
{
    memcpy(file + count, bytes, n);
    count += n;
}

/* A block of so many bytes, with its length before it. */
static void block(int marker, const void *bytes, size_t n)
{
    const uint8_t head[4] = {0xff, (uint8_t)marker, (uint8_t)((n + 2) >> 8), (uint8_t)(n + 2)};
    put(head, 4);
    put(bytes, n);
}

static void exif(int orientation, bool big)
{
    static const uint8_t little_end[] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0",
                         big_end[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01";
    uint8_t bytes[32] = {0};
    memcpy(bytes, big ? big_end : little_end, 24);
    bytes[big ? 25 : 24] = (uint8_t)orientation;
    block(0xe1, bytes, 32);
}

/* A picture that is red at its upper left corner and blue elsewhere, with what `add` puts behind its first two bytes. */
static sk_slot decoded(void (*add)(int orientation), int orientation)
{
    static uint8_t pixels[3 * W * H];
    uint8_t *jpeg = NULL;
    size_t length = 0;
    sk_error err = {0};
    sk_slot slot = {0};
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB, f.width = W, f.height = H, f.stride = 3 * W, f.data = pixels;
    for (int i = 0; i < W * H; i++) {
        const bool corner = i % W < 16 && i / W < 16;
        pixels[3 * i] = corner ? 250 : 0, pixels[3 * i + 1] = 0, pixels[3 * i + 2] = corner ? 0 : 250;
    }
    assert_ok(sk_picture_jpeg(&f, 95, &jpeg, &length, &err), &err);
    count = 0;
    put(jpeg, 2);
    add(orientation);
    put(jpeg + 2, length - 2);
    sk_free(jpeg);
    const sk_picture_task task = {.path = "a.jpg", .format = SK_PIXEL_RGB, .data = file, .length = count};
    assert_ok(sk_picture_decode_bytes(&task, &slot, &err), &err);
    return slot;
}

static void nothing(int orientation)
{
    (void)orientation;
}

static void alone(int orientation)
{
    exif(orientation, false);
}

static void big_endian(int orientation)
{
    exif(orientation, true);
}

static void behind_others(int orientation)
{
    block(0xe1, "http://ns.adobe.com/xap/1.0/\0<x/>", 34); /* another kind of block by the same marker */
    block(0xfe, "a remark", 8);
    block(0xed, "", 0);
    block(0xe1, "Exif\0\0short", 11);
    exif(orientation, true);
    exif(orientation == 1 ? 3 : 1, false); /* the first counts */
}

static void is_red_at(const sk_slot *slot, int orientation, const char *how)
{
    static const bool sideways[] = {0, 0, 0, 0, 0, 1, 1, 1, 1}, right[] = {0, 0, 1, 1, 0, 0, 1, 1, 0},
                      below[] = {0, 0, 0, 1, 1, 0, 0, 1, 1};
    const sk_frame *f = &slot->frame;
    const int x = right[orientation] ? f->width - 4 : 3, y = below[orientation] ? f->height - 4 : 3;
    const uint8_t *here = f->data + f->stride * y + 3 * (ptrdiff_t)x,
                  *there = f->data + f->stride * (f->height - 1 - y) + 3 * (ptrdiff_t)(f->width - 1 - x);
    if (f->width != (sideways[orientation] ? H : W) || here[0] < 200 || here[2] > 60 || there[0] > 60 ||
        there[2] < 200)
        fail_msg("%s, orientation %d: %d x %d", how, orientation, f->width, f->height);
}

static void held_as_the_camera_was(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*add)(int);
    } ways[] = {{"alone", alone}, {"big-endian", big_endian}, {"behind others", behind_others}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int orientation = 1; orientation <= 8; orientation++) {
            sk_slot slot = decoded(ways[i].add, orientation);
            is_red_at(&slot, orientation, ways[i].name);
            sk_slot_free(&slot);
        }
    sk_slot slot = decoded(nothing, 0);
    is_red_at(&slot, 1, "nothing");
    sk_slot_free(&slot);
    slot = decoded(alone, 9); /* there is no such */
    is_red_at(&slot, 1, "nonsense");
    sk_slot_free(&slot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(held_as_the_camera_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
