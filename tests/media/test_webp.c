/* SPDX-License-Identifier: Apache-2.0 */
/* A WebP is shown as its Exif block says it was held, wherever that block lies and whether or not it begins with its name. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "base/file.h"
#include "media/reader.h"

#include <stdio.h>
#include <string.h>

/* Three by two pixels, without loss: red, green, blue; below them (10, 20, 30), (200, 100, 50), black. */
static const unsigned char packed[] = {0x2f, 0x02, 0x40, 0x00, 0x00, 0x2f, 0x40, 0x90, 0x6d, 0xb3, 0x39,
                                       0x0c, 0xec, 0xfe, 0x32, 0xd7, 0x20, 0x93, 0xb6, 0xc9, 0x5f, 0xff,
                                       0x76, 0x66, 0x6d, 0x64, 0xd2, 0x36, 0xad, 0x87, 0xde, 0xf3, 0xef,
                                       0x72, 0xf3, 0x1f, 0x20, 0xee, 0xe4, 0x51, 0xb3, 0x05, 0x02, 0x01,
                                       0x32, 0x44, 0x8b, 0x25, 0x11, 0xfd, 0x8f, 0x1c};

static unsigned char file[512];
static size_t count;

static void chunk(const char *name, const void *bytes, size_t size)
{
    memcpy(file + count, name, 4);
    for (int i = 0; i < 4; i++)
        file[count + 4 + (size_t)i] = (unsigned char)(size >> 8 * i);
    memcpy(file + count + 8, bytes, size);
    count += 8 + size;
    if (size % 2)
        file[count++] = 0;
}

/* Decodes it, with an Exif block of this orientation: 0 none. */
static sk_slot decoded(int orientation, bool named, bool before, bool odd)
{
    const unsigned char head[10] = {orientation ? 8 : 0, 0, 0, 0, 2, 0, 0, 1, 0, 0};
    unsigned char exif[40] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0";
    exif[24] = (unsigned char)orientation;
    char path[4300];
    sk_slot slot = {0};
    sk_error err = {0};
    count = 12;
    memcpy(file, "RIFF\0\0\0\0WEBP", 12);
    chunk("VP8X", head, 10);
    if (odd)
        chunk("ODD!", "abc", 3);
    if (before && orientation)
        chunk("EXIF", named ? exif : exif + 6, named ? 32 : 26);
    chunk("VP8L", packed, sizeof packed);
    if (!before && orientation)
        chunk("EXIF", named ? exif : exif + 6, named ? 32 : 26);
    for (int i = 0; i < 4; i++)
        file[4 + i] = (unsigned char)((count - 8) >> 8 * i);
    snprintf(path, sizeof path, "%s/a.webp", test_folder());
    assert_ok(sk_file_replace(path, file, count, &err), &err);
    assert_ok(sk_picture_decode(path, SK_PIXEL_RGB, 0, &slot, &err), &err);
    return slot;
}

static void held_as_the_camera_was(void **state)
{
    (void)state;
    static const struct {
        int orientation, width, red_x, red_y; /* where the red corner comes to be */
    } cases[] = {{0, 3, 0, 0}, {1, 3, 0, 0}, {2, 3, 2, 0}, {3, 3, 2, 1}, {4, 3, 0, 1},
                 {5, 2, 0, 0}, {6, 2, 1, 0}, {7, 2, 1, 2}, {8, 2, 0, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form < 8; form++) {
            sk_slot slot = decoded(cases[i].orientation, form & 1, form & 2, form & 4);
            const sk_frame *f = &slot.frame;
            const uint8_t *red = f->data + f->stride * cases[i].red_y + 3 * (ptrdiff_t)cases[i].red_x;
            if (f->width != cases[i].width || f->height != 5 - cases[i].width || red[0] != 255 ||
                red[1] != 0 || red[2] != 0)
                fail_msg("orientation %d, form %d: %d x %d", cases[i].orientation, form, f->width, f->height);
            sk_slot_free(&slot);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(held_as_the_camera_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_without_video(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
