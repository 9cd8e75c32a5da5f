/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: whichever one is missing, what was asked for is refused in words, and none stays open; and one of the number 0, which
 * there is where nobody gave the process an input, is as good as any other. */
#include "server/asking.h"
#include "server/starving.h"

#include "server/archive.h"
#include "server/ask_program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

static char last_message[1024]; /* of a refusal */

static int count_open(void)
{
    int n = 0;
    for (int file = 0; file < 200; file++)
        n += fcntl(file, F_GETFD) != -1;
    return n;
}

typedef sk_status (*work)(sk_error *err);

/* With room for no more descriptors than there are, then for one more, and so on, until it is done. How often it was refused. */
static int every_descriptor(work fn)
{
    struct rlimit before, less;
    sk_error err = {0};
    assert_ok(fn(&err), &err);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int open = count_open();
    int refused = 0;
    for (rlim_t limit = 0; limit < 64; limit++) {
        err = (sk_error){0};
        less = (struct rlimit){.rlim_cur = limit, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
        const sk_status status = fn(&err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (count_open() != open)
            fail_msg("room for %d: %d descriptors were open, and are %d", (int)limit, open, count_open());
        if (status != SK_OK) {
            refused++;
            assert_true(err.message[0] != '\0');
            if (status != SK_ERR_IO && status != SK_ERR_RUNTIME)
                fail_msg("room for %d: %s", (int)limit, err.message);
            snprintf(last_message, sizeof last_message, "%s", err.message);
        }
    }
    assert_ok(fn(&err), &err);
    return refused;
}

/* The same with nothing at 0: it goes well, and nothing is there afterwards. */
static void without_an_input(work fn)
{
    sk_error err = {0};
    const int kept = fcntl(0, F_DUPFD_CLOEXEC, 100);
    assert_true(kept >= 100);
    close(0);
    const int before = count_open();
    const sk_status status = fn(&err);
    const int after = count_open();
    const bool free = fcntl(0, F_GETFD) == -1 && errno == EBADF;
    assert_int_equal(dup2(kept, 0), 0);
    close(kept);
    assert_ok(status, &err);
    assert_true(free);
    assert_int_equal(after, before);
}

/* --- what is done --- */

static sk_status serve_one(const char *target, sk_error *err)
{
    sk_request r = {.method = SK_METHOD_GET};
    sk_reply reply;
    sk_reply_init(&reply);
    sk_status status = sk_request_target(&r, target, err);
    if (status == SK_OK) {
        sk_routes_serve(asked, &r, &reply);
        if (reply.code != 200)
            status =
                sk_fail(err, reply.code == 500 ? SK_ERR_IO : SK_ERR_INTERNAL, "%s", sk_text_get(&reply.text));
    }
    sk_request_free(&r);
    sk_reply_free(&reply);
    return status;
}

static sk_status list_folder(sk_error *err)
{
    return serve_one("/api/v1/files?path=sub", err);
}

static sk_status read_settings(sk_error *err)
{
    return serve_one("/api/v1/config?path=ours.json", err);
}

static sk_status open_file(sk_error *err)
{
    int file = -1;
    char text[8] = "";
    const sk_status status = sk_roots_open(&asked->roots, "sub/deep/er/b.txt", false, &file, err);
    assert_int_equal(status == SK_OK, file >= 0);
    if (status == SK_OK) {
        assert_int_equal(read(file, text, sizeof text), 2);
        assert_string_equal(text, "xy");
        assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
        close(file);
    }
    return status;
}

static sk_status open_folder(sk_error *err)
{
    int file = -1;
    const sk_status status = sk_roots_open(&asked->roots, "sub/deep", true, &file, err);
    assert_int_equal(status == SK_OK, file >= 0);
    if (status == SK_OK) {
        assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
        close(file);
    }
    return status;
}

static sk_status pack_folder(sk_error *err)
{
    int file = -1;
    const int folder = open(place("top/sub"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return sk_fail(err, SK_ERR_IO, "no folder");
    const sk_status status = sk_archive_make(asked, folder, "sub", &file, err);
    assert_int_equal(status == SK_OK, file >= 0);
    if (status == SK_OK) {
        assert_true(lseek(file, 0, SEEK_END) > 100);
        close(file);
    }
    return status;
}

static sk_status ask_shell(sk_error *err)
{
    sk_program_answer a = {0};
    char sh[] = "sh", c[] = "-c", line[] = "echo out; echo err >&2; echo event >&3";
    char *words[] = {sh, c, line, NULL};
    const sk_status status = sk_program_ask("/bin/sh", words, 60000, 1000, NULL, &a, err);
    if (status == SK_OK) {
        assert_string_equal(sk_text_get(&a.out), "out\n");
        assert_string_equal(sk_text_get(&a.err), "err\n");
        assert_string_equal(sk_text_get(&a.events), "event\n");
    }
    sk_program_answer_free(&a);
    return status;
}

/* A run that is started and has ended. */
static sk_status start_run(sk_error *err)
{
    sk_page_run *run = sk_calloc(1, sizeof *run);
    int ended = 0;
    snprintf(run->id, sizeof run->id, "5");
    sk_page_run_forget(run);
    run->wish.command = sk_strdup("-c");
    sk_status status =
        sk_wish_add(&run->wish, err, "%s", "echo heard; echo '{\"event\":\"end\",\"status\":0}' >&3");
    if (status == SK_OK)
        status = sk_page_run_start(asked->runs, run, err);
    if (status == SK_OK) {
        while (sk_page_run_is_alive(run, &ended)) {
        }
        (void)sk_page_run_hear(asked->runs, run);
        assert_true(run->told.ended);
        assert_int_equal(run->log_count, 1);
        assert_string_equal(run->log[0], "heard");
    } else {
        assert_true(run->pid == 0 && run->state == SK_PAGE_QUEUED);
    }
    sk_page_run_free(run);
    return status;
}

static void each_is_refused_or_done(void **state)
{
    (void)state;
    static const struct {
        work fn;
        int least; /* descriptors it needs at one time, or more */
        const char *message;
    } cases[] = {{list_folder, 1, "Too many open files"},
                 {read_settings, 1, "Too many open files"},
                 {open_file, 2, "sub/deep/er/b.txt: Too many open files"},
                 {open_folder, 2, "sub/deep: Too many open files"},
                 {pack_folder, 3, "Too many open files"},
                 {ask_shell, 5, "the program could not be started: "},
                 {start_run, 3, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int refused = every_descriptor(cases[i].fn);
        if (refused < cases[i].least || !strstr(last_message, cases[i].message))
            fail_msg("case %zu: refused %d times, %s", i, refused, last_message);
        without_an_input(cases[i].fn);
    }
}

static int open_alone(void **state)
{
    setenv("SKITTER_TEST_BINARY", "/bin/sh", 1);
    open_asked(state);
    let_the_keeper_go(asked->runs);
    mkdir(place("top/sub"), 0700);
    mkdir(place("top/sub/deep"), 0700);
    mkdir(place("top/sub/deep/er"), 0700);
    put("top/sub/a.txt", "x");
    put("top/sub/deep/er/b.txt", "xy");
    put("top/ours.json", "{\"gate\":2.5,\"run\":{\"conf\":0.5}}");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_refused_or_done)};
    return cmocka_run_group_tests(tests, open_alone, close_asked);
}
