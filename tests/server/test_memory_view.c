/* SPDX-License-Identifier: Apache-2.0 */
/* A run's results where there is no memory: looked at, corrected, taken along as a file. */
#include "server/viewing.h"
#include "server/starving.h"

#include <dirent.h>

static int open_hungry(void **state)
{
    const int failed = open_viewed(state);
    if (!failed)
        let_the_keeper_go(asked->runs);
    return failed;
}

/* The state folder's entries, hidden ones too. */
static int files_of_state(void)
{
    int n = 0;
    DIR *dir = opendir(asked->state);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void looked_at(void **state)
{
    (void)state;
    static const char *const targets[] = {"?folder=run",
                                          "/frames?folder=run&from=3&to=5",
                                          "/tracks?folder=run",
                                          "/suspects?folder=run",
                                          "/series?folder=run&kind=speed&tracks=0,1&points=4",
                                          "/download?folder=run&format=csv"};
    const int before = files_of_state();
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char at[256];
        snprintf(at, sizeof at, "/api/v1/view%s", targets[i]);
        starve(&(wanted){.method = "GET", .target = at, .other = true}); /* less of a run may be told */
        assert_int_equal(files_of_state(), before);
    }
}

/* A file that is made: at its begin, which is ours; writing it takes thousands. */
static void made(void **state)
{
    (void)state;
    wanted w = {.method = "GET", .target = "/api/v1/view/download?folder=run&format=mot", .other = true};
    const int before = files_of_state();
    sk_error err = {0};
    assert_ok(serve(&w, &err), &err);
    free(w.answer); /* NOLINT: strdup's */
    w.answer = NULL;
    const int64_t live = sk_memory_live_bytes();
    for (uint64_t n = 1; n <= 70; n++) {
        err = (sk_error){0};
        sk_memory_fail_nth(n);
        const sk_status status = serve(&w, &err);
        sk_memory_fail_nth(0);
        if (sk_memory_live_bytes() != live || (status != SK_OK && status != SK_ERR_MEMORY))
            fail_msg("allocation %d failing: %s", (int)n, err.message);
        free(w.answer); /* NOLINT: strdup's */
        w.answer = NULL;
        assert_int_equal(files_of_state(), before);
    }
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    puts("skipped: built without video");
    return 77;
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(looked_at), cmocka_unit_test(made)};
    return cmocka_run_group_tests(tests, open_hungry, close_viewed);
}
