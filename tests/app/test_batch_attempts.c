/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt at a piece: what is heard of it line by line, how its end is judged, what it takes over from the one before, and what is
 * left once the piece is settled. */
#include "batch_fixture.h"

#include "app/batch_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static const char *const one_video[] = {"good.mp4"};

static const char *text_in(const char *path)
{
    static char kept[256];
    char *text = NULL;
    size_t length = 0;
    snprintf(kept, sizeof kept, "-");
    if (sk_file_read(path, 1 << 20, &text, &length, NULL) == SK_OK)
        snprintf(kept, sizeof kept, "%s", text);
    sk_free(text);
    return kept;
}

/* --- listening --- */

static pid_t waiting_child(int *let_go)
{
    int ends[2], ready[2];
    char byte = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC) | pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 3; i < 64; i++) /* also those of others that it should not hold open */
            if (i != ends[0] && i != ready[1])
                close(i);
        (void)!write(ready[1], "x", 1);
        (void)!read(ends[0], &byte, 1);
        _exit(7);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    close(ends[0]);
    *let_go = ends[1];
    return child;
}

static void say(int file, const char *text)
{
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
}

static void line_by_line(void **state)
{
    (void)state;
    int events[2], let_go = -1, code = 0;
    assert_int_equal(pipe2(events, O_CLOEXEC | O_NONBLOCK), 0);
    sk_batch_attempt a = {.pid = waiting_child(&let_go),
                          .events = events[0],
                          .summary = -1,
                          .total = 77,
                          .claim = {.file = -1}};
    assert_false(sk_batch_attempt_listen(&a, &code)); /* nothing was said */
    assert_true(a.events == events[0] && a.total == 77);
    say(events[1], "{\"event\":\"progress\",\"frame\":3,\"tot");
    assert_false(sk_batch_attempt_listen(&a, &code)); /* half a line is kept */
    assert_true(a.frames == 0 &&
                strcmp(sk_text_get(&a.heard), "{\"event\":\"progress\",\"frame\":3,\"tot") == 0);
    say(events[1], "al\":10,\"instances\":5}\n{\"ev");
    assert_false(sk_batch_attempt_listen(&a, &code));
    assert_true(a.frames == 3 && a.total == 10 && a.instances == 5);
    assert_true(a.claim.holder.frames == 3 && a.claim.holder.total == 10);
    assert_string_equal(sk_text_get(&a.heard), "{\"ev");
    say(events[1], "ent\":\"progress\",\"frame\":4,\"total\":0}\nno JSON\n{\"event\":\"progress\"}\n");
    assert_false(sk_batch_attempt_listen(&a, &code)); /* what is not said stays */
    assert_true(a.frames == 4 && a.total == 10 && a.instances == 5 && !a.heard_end);
    assert_string_equal(sk_text_get(&a.heard), "");
    say(events[1],
        "{\"event\":\"progress\",\"total\":1}\n{\"event\":\"other\",\"frame\":99,\"frames\":99}\n");
    assert_false(sk_batch_attempt_listen(&a, &code));
    assert_true(a.frames == 4 && a.total == 1 && a.claim.holder.total == 1);
    say(events[1], "{\"event\":\"result\",\"frame\":90,\"frames\":8,\"instances\":16,\"message\":\"x\"}\n");
    assert_false(sk_batch_attempt_listen(&a, &code));
    assert_true(a.frames == 8 && a.instances == 16 && a.claim.holder.frames == 8);
    assert_true(!a.heard_end && !a.message[0]);
    say(events[1], "{\"event\":\"result\"}\n{\"event\":\"end\",\"message\":\"it is over\",\"frames\":1}\n");
    assert_false(sk_batch_attempt_listen(&a, &code));
    assert_true(a.frames == 8 && a.instances == 16 && a.heard_end);
    assert_string_equal(a.message, "it is over");
    close(events[1]);
    assert_false(sk_batch_attempt_listen(&a, &code)); /* its end is closed, it runs on */
    assert_int_equal(a.events, -1);
    assert_int_equal(fcntl(events[0], F_GETFD), -1);
    close(let_go);
    while (!sk_batch_attempt_listen(&a, &code))
        usleep(1000);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 7);
    code = 5;
    assert_true(
        sk_batch_attempt_listen(&a, &code)); /* somebody else has waited for it: nobody knows how it ended */
    assert_int_equal(code, -1);
    sk_text_free(&a.heard);
    sk_text_free(&a.printed);
}

/* Of a summary without end a mebibyte is kept; all of it is read. */
static void a_long_summary(void **state)
{
    (void)state;
    static char many[3 << 19];
    int let_go = -1, code = 0;
    memset(many, 'x', sizeof many);
    assert_ok(sk_file_replace("long", many, sizeof many, &err), &err);
    sk_batch_attempt a = {.pid = waiting_child(&let_go),
                          .events = -1,
                          .summary = open("long", O_RDONLY | O_CLOEXEC),
                          .claim = {.file = -1}};
    assert_false(sk_batch_attempt_listen(&a, &code));
    assert_int_equal(a.printed.length, 1 << 20);
    assert_int_equal(a.summary, -1);
    close(let_go);
    assert_int_equal(waitpid((pid_t)a.pid, NULL, 0), a.pid);
    sk_text_free(&a.heard);
    sk_text_free(&a.printed);
}

/* --- how an end is judged --- */

static void ends(void **state)
{
    (void)state;
    enum { EXIT = 256 };
    static const struct {
        int status;
        const char *stopped, *message, *printed, *reason;
        sk_batch_outcome outcome;
        int64_t frames, instances, tracks;
    } rows[] = {{0, NULL, "m",
                 "{\"total_frames\":10,\"frames\":9,\"instances\":20,\"detections\":19,\"tracks\":3}", "",
                 SK_BATCH_FINISHED, 10, 20, 3},
                {0, "told", "m", "{\"frames\":9,\"detections\":19}", "", SK_BATCH_FINISHED, 9, 19, -1},
                {0, NULL, "", "no JSON", "", SK_BATCH_FINISHED, 1, 2, -1},
                {0, NULL, "", "{}", "", SK_BATCH_FINISHED, 1, 2, -1},
                {4 * EXIT, NULL, "cut", "", "cut", SK_BATCH_INCOMPLETE, 1, 2, -1},
                {4 * EXIT, "told", "", "", "exit code 4", SK_BATCH_INCOMPLETE, 1, 2, -1},
                {1 * EXIT, "told", "m", "", "told", SK_BATCH_STOPPED, 1, 2, -1},
                {2 * EXIT, "told", "m", "", "told", SK_BATCH_STOPPED, 1, 2, -1},
                {9, "told", "m", "", "told", SK_BATCH_STOPPED, 1, 2, -1},
                {130 * EXIT, NULL, "m", "", "interrupted", SK_BATCH_STOPPED, 1, 2, -1},
                {130 * EXIT, "told", "m", "", "told", SK_BATCH_STOPPED, 1, 2, -1},
                {129 * EXIT, NULL, "m", "", "m", SK_BATCH_FAILED, 1, 2, -1},
                {131 * EXIT, NULL, "", "", "exit code 131", SK_BATCH_FAILED, 1, 2, -1},
                {1 * EXIT, NULL, "", "", "exit code 1", SK_BATCH_FAILED, 1, 2, -1},
                {2 * EXIT, NULL, "m", "", "m", SK_BATCH_REFUSED, 1, 2, -1},
                {3 * EXIT, NULL, "", "", "exit code 3", SK_BATCH_REFUSED, 1, 2, -1},
                {5 * EXIT, NULL, "m", "", "m", SK_BATCH_FAILED, 1, 2, -1},
                {9, NULL, "m", "", "ended by signal 9 (Killed): out of memory?", SK_BATCH_FAILED, 1, 2, -1},
                {15, NULL, "m", "", "ended by signal 15 (Terminated)", SK_BATCH_FAILED, 1, 2, -1},
                {-1, NULL, "m", "", "m", SK_BATCH_FAILED, 1, 2, -1},
                {-1, NULL, "", "", "exit code -1", SK_BATCH_FAILED, 1, 2, -1}};
    static char name[] = "judged", none[] = "";
    sk_batch *b = begin("judged", one_video, 1, 1, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_batch_piece piece = {.number = (int64_t)i, .source = name, .name = name, .frames = none};
        sk_batch_attempt a = {.piece = &piece,
                              .attempt = 2,
                              .events = -1,
                              .summary = -1,
                              .claim = {.file = -1},
                              .begun_ms = 5,
                              .frames = 1,
                              .instances = 2};
        sk_batch_done e, read;
        snprintf(a.message, sizeof a.message, "%s", rows[i].message);
        snprintf(a.claim.holder.host, sizeof a.claim.holder.host, "here");
        snprintf(a.claim.holder.slurm, sizeof a.claim.holder.slurm, "12_%zu", i);
        sk_text_append(&a.printed, rows[i].printed);
        assert_ok(sk_batch_attempt_finish(b, &a, rows[i].status, rows[i].stopped, &e, &err), &err);
        const bool done = rows[i].outcome <= SK_BATCH_INCOMPLETE;
        assert_int_equal(sk_batch_done_read(b, (int64_t)i, &read), done);
        if (!done)
            assert_true(sk_batch_end_read(b, (int64_t)i, 2, &read));
        if (e.outcome != rows[i].outcome || e.frames != rows[i].frames || e.instances != rows[i].instances ||
            e.tracks != rows[i].tracks || strcmp(e.reason, rows[i].reason) != 0)
            fail_msg("%zu: %d %lld %lld %lld %s", i, (int)e.outcome, (long long)e.frames,
                     (long long)e.instances, (long long)e.tracks, e.reason);
        assert_true(read.outcome == e.outcome && read.frames == e.frames && read.attempt == 2 &&
                    read.round == b->round);
        assert_true(read.started_ms == 5 && read.ended_ms > 1000000000000 && strcmp(read.host, "here") == 0);
        assert_int_equal(strncmp(read.slurm, "12_", 3), 0);
        assert_true(!a.piece && a.events == -1 && a.claim.file == -1 && !a.printed.length && a.frames == 0);
    }
    sk_batch_close(&b);
}

/* --- what an attempt takes over --- */

static void put_kept(sk_batch *b, int32_t attempt, const char *file, const char *text)
{
    char path[SK_BATCH_PATH], whole[SK_BATCH_PATH + 32];
    sk_batch_work_path(b, 0, attempt, path);
    assert_ok(sk_folder_make(path, &err), &err);
    snprintf(whole, sizeof whole, "%s/%s", path, file);
    if (text)
        put(whole, text);
    else
        assert_ok(sk_folder_make(whole, &err), &err);
}

/* From the last that has kept something; after a second failure from none. */
static void taken_over(void **state)
{
    (void)state;
    for (int32_t failures = 0; failures < 4; failures++) {
        char out[16], path[SK_BATCH_PATH], file[SK_BATCH_PATH + 32];
        snprintf(out, sizeof out, "kept%d", failures);
        sk_batch *b = begin(out, one_video, 1, 1, 1);
        put_kept(b, 1, "journal.skj", "first");
        put_kept(b, 1, "run.json", "one");
        put_kept(b, 2, "journal.skj", "second");
        put_kept(b, 2, "run.json", failures == 0 ? "two" : "");
        put_kept(b, 2, "other", "two");
        put_kept(b, 3, "run.json", "three"); /* no journal: nothing was kept */
        put_kept(b, 4, "journal.skj", NULL);
        put_kept(b, 9, "journal.skj", "later");
        const sk_batch_look look = {.attempts = failures == 3 ? 1 : 4,
                                    .failures = failures == 3 ? 0 : failures};
        sk_batch_attempt a;
        assert_ok(sk_batch_attempt_start(b, sk_batch_piece_of(b, 0, &err), &look, 0, &a, &err), &err);
        assert_int_equal(a.attempt, look.attempts + 1);
        sk_batch_work_path(b, 0, failures == 3 ? 2 : 5, path);
        snprintf(file, sizeof file, "%s/journal.skj", path);
        assert_string_equal(text_in(file), failures == 2 ? "-" : failures == 3 ? "first" : "second");
        snprintf(file, sizeof file, "%s/run.json", path);
        assert_string_equal(text_in(file), failures == 0   ? "two"
                                           : failures == 1 ? ""
                                           : failures == 2 ? "-"
                                                           : "one");
        snprintf(file, sizeof file, "%s/other", path);
        assert_int_equal(sk_file_exists(file), failures == 3); /* that lay there before */
        assert_true(a.pid > 0 && a.claim.holder.child == a.pid && a.total == -1 &&
                    a.begun_ms > 1000000000000);
        int code = 0;
        sk_batch_done end;
        while (!sk_batch_attempt_listen(&a, &code))
            usleep(1000);
        assert_ok(sk_batch_attempt_finish(b, &a, code, NULL, &end, &err), &err);
        assert_true(end.outcome == SK_BATCH_FINISHED && end.frames == 10 && end.instances == 20 &&
                    end.tracks == 3);
        sk_batch_close(&b);
    }
}

/* --- settling --- */

static bool has_work(sk_batch *b, int64_t number, int32_t attempt)
{
    char path[SK_BATCH_PATH];
    return sk_file_is_directory(sk_batch_work_path(b, number, attempt, path));
}

static void put_work(sk_batch *b, int64_t number, int32_t attempt)
{
    char path[SK_BATCH_PATH], file[SK_BATCH_PATH + 16];
    assert_ok(sk_folder_make(sk_batch_work_path(b, number, attempt, path), &err), &err);
    snprintf(file, sizeof file, "%s/results.csv", path);
    put(file, attempt == 1 ? "by 1" : attempt == 2 ? "by 2" : "by another");
}

static void settled(void **state)
{
    (void)state;
    static char name[] = "place", none[] = "";
    sk_batch *b = begin("settled", one_video, 1, 1, 1);
    sk_batch_piece piece = {
        .number = 5, .kind = SK_BATCH_PART, .parts = 2, .source = name, .name = name, .frames = none};
    const sk_batch_done second = {.attempt = 2, .outcome = SK_BATCH_FINISHED, .tracks = -1};
    for (int64_t number = 1; number < 7; number++)
        for (int32_t attempt = 1; attempt < 4; attempt++)
            put_work(b, number, attempt);
    assert_ok(sk_batch_settle(b, &piece, &err), &err); /* not done: nothing is touched */
    assert_true(has_work(b, 5, 1) && has_work(b, 5, 2) && has_work(b, 5, 3));
    for (int64_t number = 2; number < 6; number++)
        assert_ok(sk_batch_end_put(b, number, &second, true, &err), &err);
    assert_ok(sk_batch_settle(b, &piece, &err), &err); /* a part stays until it is merged */
    assert_true(!has_work(b, 5, 1) && has_work(b, 5, 2) && has_work(b, 5, 3) &&
                !sk_file_exists("settled/place"));
    assert_true(has_work(b, 4, 1) && has_work(b, 4, 2));
    piece.kind = SK_BATCH_VIDEO;
    piece.number = 4;
    assert_ok(sk_batch_settle(b, &piece, &err), &err);
    assert_true(!has_work(b, 4, 1) && !has_work(b, 4, 2) && has_work(b, 4, 3));
    assert_true(has_work(b, 3, 2) && has_work(b, 5, 2) && has_work(b, 2, 2)); /* others' are theirs */
    assert_string_equal(text_in("settled/place/results.csv"), "by 2");
    assert_ok(sk_batch_settle(b, &piece, &err), &err); /* once more: it lies there */
    put_work(b, 4, 2);
    assert_int_equal(sk_batch_settle(b, &piece, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "/settled/place: the result ("));
    assert_non_null(strstr(err.message,
                           "/.batch/work/0000004.2) cannot be put there: Directory not empty. Make way, and "
                           "start again"));
    assert_true(has_work(b, 4, 2));
    static char merged[] = "merged";
    piece = (sk_batch_piece){
        .number = 5, .kind = SK_BATCH_MERGE, .parts = 2, .source = name, .name = merged, .frames = none};
    assert_ok(sk_batch_settle(b, &piece, &err), &err);
    assert_string_equal(text_in("settled/merged/results.csv"), "by 2");
    assert_true(!has_work(b, 3, 2) && !has_work(b, 4, 2)); /* its parts' */
    assert_true(has_work(b, 3, 1) && has_work(b, 2, 2) && has_work(b, 6, 2) && has_work(b, 1, 1));
    sk_batch_close(&b);
}

/* What was seen of a piece when the files were listed is brought up to date by who does it. */
static void seen(void **state)
{
    (void)state;
    static const char *const videos[] = {"good1.mp4", "odd.mp4"};
    sk_batch *b = begin("seen", videos, 2, 1, 1);
    assert_ok(sk_batch_refresh(b, &err), &err);
    for (int64_t i = 0; i < 2; i++) {
        const sk_batch_look look = {0};
        sk_batch_attempt a;
        sk_batch_done end;
        int code = 0;
        char path[SK_BATCH_PATH];
        assert_int_equal(b->seen[i], SK_BATCH_SEEN_NOTHING);
        assert_ok(sk_batch_attempt_start(b, sk_batch_piece_of(b, i, &err), &look, 0, &a, &err), &err);
        assert_int_equal(b->seen[i], SK_BATCH_SEEN_CLAIM);
        while (!sk_batch_attempt_listen(&a, &code))
            usleep(1000);
        assert_true(sk_file_exists(sk_batch_file(b, i, 1, "log", path)));
        assert_ok(sk_batch_attempt_finish(b, &a, code, NULL, &end, &err), &err);
        assert_int_equal(sk_file_exists(path), i == 1);
        assert_int_equal(b->seen[i], i ? SK_BATCH_SEEN_CLAIM : SK_BATCH_SEEN_DONE);
        assert_int_equal(b->seen_done[0], 1);
    }
    sk_batch_close(&b);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(line_by_line), cmocka_unit_test(a_long_summary),
                                       cmocka_unit_test(ends),         cmocka_unit_test(taken_over),
                                       cmocka_unit_test(settled),      cmocka_unit_test(seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
