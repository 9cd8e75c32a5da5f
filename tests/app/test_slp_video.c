/* SPDX-License-Identifier: Apache-2.0 */
#include "app/slp_video.h"
#include "base/memory.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A .slp stands for its video, which may have moved with it. */
static void finds_the_video_beside_its_labels(void **state)
{
    (void)state;
    test_data_or_skip();
    char slp[4300], video[4300], command[9000];
    snprintf(slp, sizeof slp, "%s/clip.predictions.slp", test_folder());
    snprintf(video, sizeof video, "%s/clip.mp4", test_folder());
    snprintf(command, sizeof command, "cp '%s' '%s'", test_data("slp/clip.predictions.slp"), slp);
    assert_int_equal(system(command), 0);
    sk_error err = {0};
    char *found = NULL;
    assert_int_equal(sk_slp_video(slp, &found, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "clip.mp4"));
    assert_int_equal(symlink(test_data("video/clip.mp4"), video), 0);
    assert_ok(sk_slp_video(slp, &found, &err), &err);
    assert_string_equal(found, video);
    sk_free(found);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    char *found = NULL;
    assert_int_not_equal(sk_slp_video(test_source("README.md"), &found, &err), SK_OK);
    assert_null(found);
    assert_non_null(strstr(err.message, "README.md"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_video_beside_its_labels),
        cmocka_unit_test(foreign_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
