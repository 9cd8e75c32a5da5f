/* SPDX-License-Identifier: Apache-2.0 */
/* The demo for a first visit: drawn once, where it can be. */
#include "server/asking.h"

/* What is in the way of its video is said, and no half of it stays; then it is drawn. */
static void the_demo(void **state)
{
    (void)state;
    put("top/v.mp4", "x");
    put("top/m", "x");
    mkdir(place("top/skitter-demo-page"), 0700);
    mkdir(place("top/skitter-demo-page/scene.mp4"), 0700);
    must_answer("POST", "/api/v1/demo", "{}", 500,
                "/top/skitter-demo-page/scene.mp4 cannot be written: Is a directory");
    assert_false(sk_file_exists(place("top/skitter-demo-page/.scene.mp4")));
    assert_int_equal(rmdir(place("top/skitter-demo-page/scene.mp4")), 0);
    put("top/skitter-demo-page/scene.mp4", "drawn before"); /* … is not drawn again */
    must_answer("POST", "/api/v1/demo", "{}", 200, "/top/skitter-demo-page\",\"animals\":");
    char *text = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    assert_ok(sk_file_read(place("top/skitter-demo-page/scene.mp4"), 1 << 20, &text, &bytes, &err), &err);
    assert_string_equal(text, "drawn before");
    sk_free(text);
    for (int32_t i = 0; i < asked->roots.count; i++)
        asked->roots.items[i].writable = false;
    must_answer("POST", "/api/v1/demo", "{}", 422,
                "no folder may be written, and the demo's video needs one");
    must_answer("POST", "/api/v1/runs",
                "{\"command\":\"track\",\"settings\":{\"source\":[\"v.mp4\"],\"model\":[\"m\"]}}", 400,
                "\"no folder may be written\"");
    asked->roots.items[0].writable = true;
}
static int open_with_models(void **state)
{
    sk_error err = {0};
    setenv("SKITTER_MODELS", test_source("share/models"), 1);
    open_asked(state);
    assert_ok(sk_roots_add(&asked->roots, test_source("share/models"), false, &err), &err);
    return 0;
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_demo)};
    return cmocka_run_group_tests(tests, open_with_models, close_asked);
}
