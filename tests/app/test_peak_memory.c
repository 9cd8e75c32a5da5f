/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The largest memory of the program itself, through every door that runs a network. Sanitizers and emulators have a memory of
 * their own: builds for them leave this test out (cmake/Tests.cmake). */

#define LIMIT_MB 120.0

/* Runs the program; its largest resident size in MB. */
static double peak_mb(const char *const *arguments)
{
    const char *binary = getenv("SKITTER_TEST_BINARY");
    assert_non_null(binary);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const char *argv[24] = {"skitter"};
        for (int i = 0; arguments[i] && i < 22; i++)
            argv[i + 1] = arguments[i];
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        execv(binary, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int code = 0;
    struct rusage usage;
    assert_int_equal(wait4(pid, &code, 0, &usage), pid);
    if (!WIFEXITED(code) || WEXITSTATUS(code) != 0)
        fail_msg("skitter %s ended with %d", arguments[0], WIFEXITED(code) ? WEXITSTATUS(code) : -1);
    return (double)usage.ru_maxrss / 1024;
}

static void expect_below(double limit, const char *door, const char *const *arguments)
{
    double mb = peak_mb(arguments);
    print_message("%s: %.1f MB\n", door, mb);
    if (mb > limit)
        fail_msg("%s: %.1f MB at its largest, more than %.0f", door, mb, limit);
}

/* What a program without anything to do costs: nothing that only some doors need is loaded. */
static void starting_is_small(void **state)
{
    (void)state;
    expect_below(16, "--version", (const char *const[]){"--version", NULL});
}

static void networks_stay_small(void **state)
{
    (void)state;
    test_data_or_skip();
    char model[512], input[512], output[512], out[512];
    snprintf(model, sizeof model, "%s", test_data("yolo/yolo11n-pose/yolo11n-pose.pt"));
    snprintf(input, sizeof input, "%s", test_data("yolo/yolo11n-pose/bus_input_u8.npy"));
    snprintf(output, sizeof output, "%s/output.npy", test_folder());
    snprintf(out, sizeof out, "%s/picture", test_folder());
    const char *picture = test_data("yolo/bus.jpg");
    expect_below(LIMIT_MB, "net",
                 (const char *const[]){"net", model, "-i", input, "-o", output, "--runtime", "cpu",
                                       "--threads", "2", NULL});
    expect_below(
        LIMIT_MB, "bench",
        (const char *const[]){"bench", model, "--runtime", "cpu", "--threads", "2", "-n", "4", NULL});
    expect_below(LIMIT_MB, "predict, a picture",
                 (const char *const[]){"predict", picture, "-m", model, "-o", out, "--runtime", "cpu",
                                       "--threads", "2", "-q", NULL});
#ifdef SKITTER_HAVE_FFMPEG
    const char *video = test_data("video/clip.mp4");
    snprintf(out, sizeof out, "%s/video", test_folder());
    expect_below(LIMIT_MB, "predict, a video of 1024 x 1024",
                 (const char *const[]){"predict", video, "-m", model, "-o", out, "--runtime", "cpu",
                                       "--threads", "2", "--frames", "0:20", "-q", NULL});
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starting_is_small),
        cmocka_unit_test(networks_stay_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
