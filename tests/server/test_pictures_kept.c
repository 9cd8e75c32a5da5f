/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of videos for the page: a few readers are kept open, each request gets its own video's picture, and a file that is another by
 * now is opened anew. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"
#include "media/reader.h"
#include "media/video_sink.h"
#include "server/inside.h"
#include "server/pictures.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What rubbish by a picture's name is: damaged, or, without FFmpeg, perhaps of a form that only FFmpeg reads. */
#ifdef SKITTER_HAVE_FFMPEG
#define RUBBISH SK_ERR_FORMAT
#else
#define RUBBISH SK_ERR_UNSUPPORTED
#endif

static sk_server server;

static int begin(void **state)
{
    (void)state;
    return sk_pictures_open(&server.pictures, NULL) == SK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    sk_pictures_close(&server.pictures);
    return server.pictures ? -1 : 0;
}

static const char *at(const char *name)
{
    static char paths[4][1200];
    static int n;
    char *path = paths[n++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

/* A picture of one grey, so wide. */
static void paint(const char *name, int grey, int width)
{
    static uint8_t pixels[3 * 64 * 32];
    sk_frame f = SK_FRAME_INIT;
    sk_error err = {0};
    memset(pixels, grey, sizeof pixels);
    f.format = SK_PIXEL_RGB, f.width = width, f.height = 32, f.stride = 3 * (ptrdiff_t)width, f.data = pixels;
    assert_ok(sk_picture_write_drawing(at(name), &f, &err), &err);
}

/* The reply's grey and width; -1: it failed, with *status. */
static int ask(const char *name, const char *query, int *width, sk_status *status)
{
    sk_request r = {0};
    sk_reply reply;
    sk_error err = {0};
    sk_slot slot = {0};
    char target[200];
    int grey = -1;
    snprintf(target, sizeof target, "/x?%s", query);
    sk_reply_init(&reply);
    assert_ok(sk_request_target(&r, target, &err), &err);
    *status = sk_serve_picture_of(&server, &r, at(name), NULL, &reply, &err);
    if (*status == SK_OK) {
        assert_string_equal(reply.type, "image/jpeg");
        const sk_picture_task task = {.path = "reply",
                                      .format = SK_PIXEL_RGB,
                                      .data = sk_blob_data(reply.blob),
                                      .length = sk_blob_bytes(reply.blob)};
        assert_ok(sk_picture_decode_bytes(&task, &slot, &err), &err);
        grey = slot.frame.data[0];
        *width = slot.frame.width;
    }
    sk_slot_free(&slot);
    sk_request_free(&r);
    sk_reply_free(&reply);
    return grey;
}

static void must_show(const char *name, const char *query, int grey, int width)
{
    int wide = 0;
    sk_status status;
    const int got = ask(name, query, &wide, &status);
    if (got < grey - 2 || got > grey + 2 || wide != width)
        fail_msg("%s %s: %s, grey %d, %d wide", name, query, sk_status_text(status), got, wide);
}

static void must_fail(const char *name, const char *query, sk_status expected)
{
    int wide = 0;
    sk_status status;
    ask(name, query, &wide, &status);
    if (status != expected)
        fail_msg("%s %s: %s", name, query, sk_status_text(status));
}

/* More videos than are kept, in every order. */
static void everybody_gets_his_own(void **state)
{
    (void)state;
    char name[32];
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "many%d.png", i);
        paint(name, 30 * i + 10, 64);
    }
    for (int round = 0; round < 40; round++) {
        const int i = round * round % 7;
        snprintf(name, sizeof name, "many%d.png", i);
        must_show(name, "n=0", 30 * i + 10, 64);
    }
}

static void another_file_in_its_place_is_opened(void **state)
{
    (void)state;
    sk_error err = {0};
    paint("changing.png", 40, 64);
    must_show("changing.png", "", 40, 64);
    must_show("changing.png", "", 40, 64);
    paint("other.png", 200, 48);
    assert_int_equal(rename(at("other.png"), at("changing.png")), 0);
    must_show("changing.png", "", 200, 48);
    assert_ok(sk_file_replace(at("changing.png"), "no picture", 10, &err), &err);
    must_fail("changing.png", "", RUBBISH);
    must_fail("changing.png", "", RUBBISH);
    paint("changing.png", 90, 64);
    must_show("changing.png", "", 90, 64);
    must_fail("missing.png", "", SK_ERR_NOT_FOUND);
}

/* Other bytes in the same file, of the same length and time: nobody can tell but who opens it anew. */
static void paint_over(const char *name, int grey)
{
    struct stat was, is;
    sk_error err = {0};
    char *bytes = NULL;
    size_t length = 0;
    paint("over.png", grey, 64);
    assert_ok(sk_file_read(at("over.png"), 1 << 20, &bytes, &length, &err), &err);
    assert_int_equal(stat(at(name), &was), 0);
    assert_int_equal(was.st_size, length);
    const int file = open(at(name), O_WRONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, length, 0), length);
    const struct timespec times[2] = {was.st_atim, was.st_mtim};
    assert_int_equal(futimens(file, times), 0);
    close(file);
    assert_int_equal(stat(at(name), &is), 0);
    assert_true(is.st_ino == was.st_ino && is.st_mtim.tv_nsec == was.st_mtim.tv_nsec);
    sk_free(bytes);
}

/* Four stay open; for a fifth the one goes that was not asked for the longest time. */
static void the_last_four_stay_open(void **state)
{
    (void)state;
    static const char *const asked_for[] = {"k0.png", "k1.png", "k2.png", "k3.png", "k0.png", "k4.png"};
    char name[32];
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "k%d.png", i);
        paint(name, 50, 64);
    }
    for (size_t i = 0; i < sizeof asked_for / sizeof *asked_for; i++)
        must_show(asked_for[i], "n=0", 50, 64);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "k%d.png", i);
        paint_over(name, 150);
    }
    must_show("k0.png", "n=0", 50, 64);
    must_show("k2.png", "n=0", 50, 64);
    must_show("k3.png", "n=0", 50, 64);
    must_show("k4.png", "n=0", 50, 64);
    must_show("k1.png", "n=0", 150, 64); /* … in the place of k0, which was asked for first just now */
    must_show("k2.png", "n=0", 50, 64);
    must_show("k0.png", "n=0", 150, 64);
    must_fail("k2.png", "n=1", SK_ERR_NOT_FOUND); /* that is no reason to close it */
    must_show("k2.png", "n=0", 50, 64);
}

static void wishes_have_their_ends(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        sk_status status;
        int width;
    } cases[] = {{"n=0", SK_OK, 64},
                 {"n=1", SK_ERR_NOT_FOUND, 0},
                 {"n=-1", SK_ERR_ARG, 0},
                 {"n=x", SK_ERR_ARG, 0},
                 {"width=16", SK_OK, 16},
                 {"width=15", SK_ERR_ARG, 0},
                 {"width=16384", SK_OK, 64},
                 {"width=16385", SK_ERR_ARG, 0},
                 {"width=32&n=0", SK_OK, 32},
                 {"within=1", SK_OK, 64},
                 {"within=0", SK_ERR_ARG, 0},
                 {"within=60000", SK_OK, 64},
                 {"within=60001", SK_ERR_ARG, 0}};
    paint("ends.png", 77, 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cases[i].status == SK_OK)
            must_show("ends.png", cases[i].query, 77, cases[i].width);
        else
            must_fail("ends.png", cases[i].query, cases[i].status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_gets_his_own), cmocka_unit_test(another_file_in_its_place_is_opened),
        cmocka_unit_test(the_last_four_stay_open), cmocka_unit_test(wishes_have_their_ends)};
    return cmocka_run_group_tests(tests, begin, end);
}
