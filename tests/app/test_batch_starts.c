/* SPDX-License-Identifier: Apache-2.0 */
/* How a batch and its processes start: by which program, with what given to it and nothing else; what --restart removes and what is
 * somebody else's; and what is left running by a worker that is gone. */
#include "batch_fixture.h"

#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static sk_status begun(const char *out, const char *const *videos, size_t n, bool restart, sk_batch **b)
{
    static char *const no_words[] = {NULL};
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    const sk_batch_how how = {.retries = 1, .losses = 1};
    sk_source_defaults(&media);
    *b = NULL;
    assert_ok(sk_source_list_make(videos, n, &list, &err), &err);
    const sk_batch_wish wish = {.out = out,
                                .command = "track",
                                .words = no_words,
                                .videos = &list,
                                .media = &media,
                                .how = &how,
                                .restart = restart};
    const sk_status status = sk_batch_begin(&wish, b, &err);
    sk_source_list_free(&list);
    return status;
}

static const char *const three[] = {"good.mp4", "other.mp4", "third.mp4"};

/* --- by which program --- */

/* This one, where it is called skitter; else the one beside it; else the one that is found. */
static void programs(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool beside, folder_beside;
        const char *wanted;
    } rows[] = {{"skitter-9.9", false, false, "skitter-9.9"},
                {"skitter-9.9", true, false, "skitter-9.9"},
                {"robot", false, false, "skitter"},
                {"robot", false, true, "skitter"},
                {"robot", true, false, "/skitter"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char place[32], command[8192], *said = NULL;
        size_t length = 0;
        snprintf(place, sizeof place, "programs%zu", i);
        assert_ok(sk_folder_make(place, &err), &err);
        snprintf(command, sizeof command, "cp /proc/%lld/exe %s/%s && %s/%s %s >said", (long long)getpid(),
                 place, rows[i].name, place, rows[i].name, place);
        if (rows[i].beside) {
            char beside[64];
            snprintf(beside, sizeof beside, "%s/skitter", place);
            put(beside, "x");
        }
        if (rows[i].folder_beside) {
            char beside[64];
            snprintf(beside, sizeof beside, "%s/skitter", place);
            assert_ok(sk_folder_make(beside, &err), &err);
        }
        assert_int_equal(system(command), 0);
        assert_ok(sk_file_read("said", 8192, &said, &length, &err), &err);
        const char *end = strstr(said, "program: ");
        assert_non_null(end);
        end += strlen("program: ");
        if (strcmp(rows[i].wanted, "skitter") == 0) {
            assert_string_equal(end, "skitter\n");
        } else {
            char wanted[4200];
            snprintf(wanted, sizeof wanted, "%s/%s/%s\n", folder, place,
                     rows[i].wanted + (rows[i].wanted[0] == '/'));
            assert_string_equal(end, wanted);
        }
        sk_free(said);
    }
}

/* What the copy of this program does: begins a batch, and says what it is done by. */
static int say_program(const char *place)
{
    char out[64];
    sk_batch *b = NULL;
    snprintf(out, sizeof out, "%s/out", place);
    put(three[0], "no video");
    if (begun(out, three, 1, false, &b) != SK_OK)
        return 1;
    printf("program: %s\n", b->program);
    sk_batch_close(&b);
    return 0;
}

/* --- what is given to a process --- */

static void what_a_process_has(void **state)
{
    (void)state;
    char path[SK_BATCH_PATH], *text = NULL, wanted[128];
    sk_batch_done end;
    sk_batch_attempt a;
    sk_claim_holder holder;
    const sk_batch_look look = {0};
    size_t length = 0;
    int code = 0;
    sk_batch *b = begin("given", three, 1, 1, 1);
    put("program",
        "#!/bin/sh\n"
        "read line && echo fed >&2\n"
        "set -- $(cat /proc/$$/stat)\n"
        "[ \"$1\" = \"$6\" ] && echo \"leads $1\" >&2\n"
        "for f in /proc/$$/fd/*; do case $f in */10|*/255) ;; *) [ -e $f ] && echo \"has ${f##*/}\" >&2;; "
        "esac; done\n"
        "echo '{\"frames\":3}'; echo told >&2\n"
        "while [ ! -e leave ]; do sleep 0.02; done\nexit 0\n");
    assert_int_equal(chmod("program", 0755), 0);
    (void)unlink("leave");
    assert_ok(sk_batch_attempt_start(b, sk_batch_piece_of(b, 0, &err), &look, 0, &a, &err), &err);
    assert_true(
        sk_claim_read(sk_batch_file(b, 0, 1, "claim", path), &holder)); /* others can find it, at once */
    assert_true(holder.child == a.pid && holder.child_started == sk_process_started(a.pid) &&
                holder.child_started > 0 && holder.pid == getpid());
    const int64_t pid = a.pid;
    put("leave", "");
    while (!sk_batch_attempt_listen(&a, &code))
        usleep(2000);
    assert_ok(sk_batch_attempt_finish(b, &a, code, NULL, &end, &err), &err);
    assert_true(end.outcome == SK_BATCH_FINISHED && end.frames == 3 && end.seconds > 0);
    assert_ok(sk_file_read(sk_batch_file(b, 0, 1, "log", path), 65536, &text, &length, &err), &err);
    assert_null(strstr(text, "fed\n")); /* nobody types */
    snprintf(wanted, sizeof wanted, "leads %lld\n",
             (long long)pid); /* a person's Ctrl-C is the worker's alone */
    assert_non_null(strstr(text, wanted));
    if (!strstr(text, "has 0\nhas 1\nhas 2\nhas 3\n") || !strstr(text, "\ntold\n"))
        fail_msg("%s", text);
    for (int file = 4; file < 40; file++) { /* no ends of others' pipes: they would never end */
        snprintf(wanted, sizeof wanted, "has %d\n", file);
        if (file != 10 && strstr(text, wanted))
            fail_msg("%s", text);
    }
    sk_free(text);
    sk_batch_close(&b);
}

/* Who had the piece is gone, and what it had started still runs: that is ended before the piece is done again. */
static void what_was_left_running(void **state)
{
    (void)state;
    sk_batch_look look = {.state = SK_PIECE_GONE, .attempts = 1, .why_gone = "it is gone"};
    sk_batch_attempt a;
    sk_batch_done end;
    int code = 0, status = 0;
    sk_batch *b = begin("orphan", three, 1, 1, 1);
    const pid_t left = fork();
    if (left == 0) {
        for (;;)
            pause();
    }
    sk_claim_self(&look.holder);
    look.holder.child = left;
    look.holder.child_started = sk_process_started(left);
    look.holder.round = 7;
    look.holder.frames = 8;
    look.holder.since_ms = 9;
    assert_ok(sk_batch_attempt_start(b, sk_batch_piece_of(b, 0, &err), &look, 0, &a, &err), &err);
    assert_int_equal(a.attempt, 2);
    assert_int_equal(waitpid(left, &status, 0), left);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_true(sk_batch_end_read(b, 0, 1, &end));
    assert_true(end.outcome == SK_BATCH_LOST && end.round == 7 && end.frames == 8 && end.started_ms == 9 &&
                end.tracks == -1 && end.ended_ms > 1000000000000);
    assert_string_equal(end.reason, "it is gone");
    assert_string_equal(end.host, look.holder.host);
    while (!sk_batch_attempt_listen(&a, &code))
        usleep(2000);
    assert_ok(sk_batch_attempt_finish(b, &a, code, NULL, &end, &err), &err);
    assert_int_equal(end.outcome, SK_BATCH_FINISHED);
    sk_batch_close(&b);
}

/* --- beginning anew --- */

/* Results that the batch put there go; a folder that is no result, and one of a piece that was never done, are somebody else's. */
static void what_restart_removes(void **state)
{
    (void)state;
    static const char *const mine[] = {"anew/.batch/pieces/old", "anew/.batch/work/old",
                                       "anew/.batch/slurm/old"};
    char path[SK_BATCH_PATH];
    sk_batch *b = begin("anew", three, 3, 1, 1);
    for (int i = 0; i < 3; i++)
        put(mine[i], "x");
    put("anew/.batch/keeper.1.claim", "{}"); /* of whoever looks after it now */
    assert_ok(sk_batch_set_cancelled(b, true, &err), &err);
    for (int64_t i = 0; i < 2; i++) {
        const sk_batch_done done = {.attempt = 1, .outcome = SK_BATCH_FINISHED, .tracks = -1};
        assert_ok(sk_batch_end_put(b, i, &done, true, &err), &err);
    }
    assert_ok(sk_folder_make("anew/good", &err), &err);
    put("anew/good/run.json", "{}");
    assert_ok(sk_folder_make("anew/other", &err), &err);
    put("anew/other/letters", "mine");
    assert_ok(sk_folder_make("anew/third", &err), &err);
    put("anew/third/run.json", "{}");
    char id[17];
    snprintf(id, sizeof id, "%s", b->id);
    assert_int_equal(strspn(id, "0123456789abcdef"), 16);
    sk_batch_close(&b);
    assert_int_equal(begun("anew", three, 3, true, &b), SK_ERR_IO);
    assert_non_null(strstr(err.message, "anew/other: is there already, and not by this batch"));
    assert_false(sk_file_exists("anew/good") || sk_file_exists("anew/.batch/cancelled") ||
                 sk_file_exists("anew/.batch/batch.json"));
    assert_true(sk_file_exists("anew/other/letters") && sk_file_exists("anew/third/run.json") &&
                sk_file_exists("anew/.batch/keeper.1.claim"));
    for (int i = 0; i < 3; i++)
        assert_false(sk_file_exists(mine[i]));
    assert_ok(begun("anew", three, 1, true, &b), &err);
    assert_string_not_equal(b->id, id); /* jobs of the one before are not its own */
    assert_true(b->round == 1 && !sk_batch_is_cancelled(b));
    assert_false(sk_file_exists(sk_batch_file(b, 0, 0, "done", path)));
    sk_batch_close(&b);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        snprintf(folder, sizeof folder, ".");
        return say_program(argv[1]);
    }
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    for (int file = 3; file < 1024; file++) /* what this process was given by others is not for its own */
        (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs),
        cmocka_unit_test(what_a_process_has),
        cmocka_unit_test(what_was_left_running),
        cmocka_unit_test(what_restart_removes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
