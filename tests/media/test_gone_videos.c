/* SPDX-License-Identifier: Apache-2.0 */
/* A video that is to be played again and is not there any more, or is another by then: told, once the frames that came are given. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "base/file.h"
#include "media/made_video.h"
#include "skitter/source.h"

#include <unistd.h>

static void gone_when_played_again(void **state)
{
    (void)state;
    static const struct {
        bool replaced; /* by something that is no video; else it is removed */
        sk_status status;
    } cases[] = {{false, SK_ERR_NOT_FOUND}, {true, SK_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = made_video("gone.avi", 20, "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p");
        sk_error err = {0};
        sk_source_settings settings = SK_SOURCE_SETTINGS_INIT;
        sk_source *source = NULL;
        const sk_frame *frame = NULL;
        sk_source_defaults(&settings);
        settings.loop = 3;
        settings.queue = 1; /* it cannot be far ahead */
        assert_ok(sk_source_open(path, &settings, &source, &err), &err);
        sk_source_info info = SK_SOURCE_INFO_INIT;
        sk_source_get_info(source, &info);
        assert_int_equal(info.frames, 60);
        if (cases[i].replaced) {
            assert_int_equal(unlink(path), 0);
            assert_ok(sk_file_replace(path, "nothing that is a video", 23, &err), &err);
        } else {
            assert_int_equal(unlink(path), 0);
        }
        for (int k = 0; k < 20; k++) { /* what is open stays readable */
            assert_ok(sk_source_next(source, &frame, &err), &err);
            assert_non_null(frame);
            assert_true(frame->index == k && made_number(frame) == k);
            sk_source_release(source, frame);
        }
        const sk_status status = sk_source_next(source, &frame, &err);
        if (status != cases[i].status || !strstr(err.message, "gone.avi"))
            fail_msg("case %zu: %s: %s", i, sk_status_text(status), err.message);
        assert_null(frame);
        sk_source_close(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gone_when_played_again)};
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
