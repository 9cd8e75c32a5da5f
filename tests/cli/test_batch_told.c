/* SPDX-License-Identifier: Apache-2.0 */
/* How pieces of a batch are asked for, what is told of their ends, and with which code a batch ends: the work is played. */
#include "terminal.h"

#include "app/batch_slurm.h"
#include "app/batch_work.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/yolo_writer.h"

#include <sys/stat.h>
#include <sys/wait.h>

static said s;
static sk_error err;

/* --- the play: in place of app/batch_work.c and batch_slurm_run.c --- */

static struct play {
    int runs, slurms;
    int64_t count, pieces[8];
    bool all, merges, despite, waits, looks, detach;
    int32_t slots;
    bool stopped, finishes, cancels;
    unsigned keepers; /* bit n: there is keeper.n.claim */
    sk_status status;
} play;

static void end_piece(sk_batch *b, int64_t number, sk_batch_outcome outcome, const char *reason,
                      const sk_batch_work *work)
{
    sk_batch_done end = {.attempt = 1, .outcome = outcome, .frames = 9, .instances = 5, .tracks = 2};
    snprintf(end.reason, sizeof end.reason, "%s", reason);
    const bool done = outcome == SK_BATCH_FINISHED || outcome == SK_BATCH_INCOMPLETE;
    if (done)
        assert_ok(sk_batch_end_put(b, number, &end, true, &err), &err);
    if (work->told)
        work->told(work->context, sk_batch_piece_of(b, number, &err), &end);
}

sk_status sk_batch_work_run(const sk_batch_work *work, sk_batch_worked *worked, sk_error *problem)
{
    play.runs++;
    play.count = work->count;
    play.all = !work->pieces;
    for (int64_t i = 0; work->pieces && i < work->count && i < 8; i++)
        play.pieces[i] = work->pieces[i];
    play.merges = work->merges;
    play.despite = work->despite_cancel;
    play.waits = work->waits;
    play.looks = work->changed != NULL;
    play.slots = work->slots;
    for (int n = 1; n < 16; n++) {
        char name[64], path[SK_BATCH_PATH];
        snprintf(name, sizeof name, "keeper.%d.claim", n);
        play.keepers |= sk_file_exists(sk_batch_path(work->batch, name, path)) ? 1u << n : 0;
    }
    assert_false(work->interrupted(work->context));
    if (work->changed) {
        work->changed(work->context);
        work->changed(work->context); /* nothing is new */
    }
    if (play.finishes)
        end_piece(work->batch, 0, SK_BATCH_FINISHED, "", work);
    if (play.cancels)
        assert_ok(sk_batch_set_cancelled(work->batch, true, &err), &err);
    if (work->batch->pieces > 1)
        end_piece(work->batch, 1, SK_BATCH_LOST, "its machine is gone", work);
    assert_ok(sk_batch_refresh(work->batch, &err),
              &err); /* as those that work do: what was seen may be old */
    *worked = (sk_batch_worked){.stopped = play.stopped};
    return play.status == SK_OK ? SK_OK : sk_fail(problem, play.status, "the disk is full");
}

sk_status sk_batch_settle(sk_batch *batch, const sk_batch_piece *piece, sk_error *problem)
{
    (void)batch, (void)piece, (void)problem;
    return SK_OK;
}

sk_status sk_batch_slurm_run(sk_batch *batch, const sk_batch_slurm_watch *watch, bool *stopped,
                             sk_error *problem)
{
    (void)problem;
    play.slurms++;
    play.detach = watch->detach;
    assert_false(watch->interrupted(watch->context));
    const sk_batch_status status = {.pieces = batch->pieces, .videos = batch->videos, .waiting = 2};
    watch->changed(watch->context, &status);
    watch->say(watch->context, "two tasks are handed over");
    *stopped = play.stopped;
    return SK_OK;
}

#define BATCH "batch --detector background --videos a.mp4"

/* --- here --- */

static void how_many_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int32_t slots;
    } cases[] = {{"", 1},
                 {"--workers 3", 3},
                 {"--workers 1", 1},
                 {"--devices cuda:0", 1},
                 {"--devices cuda:0,cuda:1", 2},
                 {"--devices 0,1,2", 3},
                 {"--devices cuda:0,cuda:1 --workers 5", 5},
                 {"--devices cuda:0,cuda:1 --workers 1", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        play = (struct play){.finishes = true};
        SAID_OK(&s, BATCH " -o slots%zu %s", i, cases[i].words);
        assert_int_equal(play.slots, cases[i].slots);
        assert_true(play.runs == 1 && play.all && play.count == 0 && play.merges && !play.despite &&
                    play.waits && play.looks);
    }
}

static void how_it_ends(void **state)
{
    (void)state;
    play = (struct play){.finishes = true};
    SAID_OK(&s, BATCH " -o one");
    assert_string_equal(s.err, "0 of 1 videos done, 0 running, 1 waiting\n");
    said_has(s.out, "1 of 1 videos done, 0 running, 0 waiting\n9 frames, 5 instances, ");
    said_has(s.out, "/one/summary.html\n");
    said_has(s.out, "/one/summary.csv\n");
    assert_false(sk_file_exists("one/.batch/keeper.1.claim"));
    play = (struct play){.finishes = true};
    SAID_OK(&s, BATCH " -o quiet -q");
    assert_string_equal(s.out, "");
    assert_string_equal(s.err, "");
    assert_true(sk_file_exists("quiet/summary.csv"));
    play = (struct play){.finishes = true};
    SAID_OK(&s, BATCH " -o json --json");
    assert_int_equal(s.out[0], '{');
    said_lacks(s.out, "summary.html");
    /* one of two is lost: that is told, and how to go on */
    play = (struct play){.finishes = true};
    SAID_REFUSES(&s, SK_ERR_IO, "1 of 2 videos are not done\n'skitter batch status ",
                 BATCH " --videos b.mp4 -o two");
    said_has(s.error.message, "/two' says why; the same command tries them again");
    said_has(s.err, "b.mp4: lost, attempt 1: its machine is gone\n");
    said_lacks(s.err, "a.mp4");
    play = (struct play){.finishes = true, .stopped = true};
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "stopped with 1 of 2 videos done; the same command goes on",
                 BATCH " --videos b.mp4 -o stopped");
    play = (struct play){.finishes = true, .cancels = true};
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "stopped with 1 of 2 videos done; the same command goes on",
                 BATCH " --videos b.mp4 -o cancelled");
    said_has(s.out, "; cancelled\n");
    play = (struct play){.finishes = true, .stopped = true}; /* all the same it is done */
    SAID_OK(&s, BATCH " -o late");
    play = (struct play){.status = SK_ERR_IO};
    SAID_REFUSES(&s, SK_ERR_IO, "the disk is full", BATCH " -o full");
    assert_string_equal(s.out, "");
    assert_false(sk_file_exists("full/.batch/keeper.1.claim"));
}

/* Whoever looks after a batch is the next in number, after those that are gone; they are left as they are. */
static void keepers(void **state)
{
    (void)state;
    play = (struct play){.finishes = true};
    SAID_OK(&s, BATCH " -o held");
    assert_int_equal(play.keepers, 1u << 1);
    for (int n = 5; n > 0; n -= 3) { /* 5 and 2 */
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            sk_claim claim;
            char path[64];
            snprintf(path, sizeof path, "held/.batch/keeper.%d.claim", n);
            _exit(sk_claim_take(path, 0, &claim, NULL) == SK_OK ? 0 : 1);
        }
        int code = 0;
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_int_equal(code, 0);
    }
    play = (struct play){.finishes = true};
    SAID_OK(&s, BATCH " -o held");
    assert_int_equal(play.keepers, 1u << 2 | 1u << 5 | 1u << 6);
    assert_true(sk_file_exists("held/.batch/keeper.5.claim") &&
                !sk_file_exists("held/.batch/keeper.6.claim"));
    play = (struct play){0};
    SAID_OK(&s, "batch work held --pieces 0"); /* others look after it */
    assert_int_equal(play.keepers, 1u << 2 | 1u << 5);
}

static void some_pieces(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int64_t count, pieces[3];
    } cases[] = {{"0", 1, {0}},           {"2", 1, {2}},       {"0-1", 2, {0, 1}},
                 {"1-1", 1, {1}},         {"1-99", 2, {1, 2}}, {"2,0", 2, {2, 0}},
                 {"0-1,2", 3, {0, 1, 2}}, {"1,", 1, {1}},      {"0-2,0-2", 3, {0, 1, 2}}};
    SAID_OK(&s, BATCH " --videos b.mp4 --videos c.mp4 -o three --prepare");
    assert_string_equal(s.out, "3\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        play = (struct play){0};
        said_run(&s, "batch work three --pieces %s", cases[i].words);
        assert_int_equal(s.status, SK_ERR_IO); /* none is done */
        assert_int_equal(play.count, cases[i].count);
        for (int64_t k = 0; k < cases[i].count; k++)
            assert_int_equal(play.pieces[k], cases[i].pieces[k]);
        assert_true(play.slots == 1 && play.merges && !play.despite && !play.waits && !play.looks);
        char words[64];
        snprintf(words, sizeof words, "piece %d is not done", (int)cases[i].pieces[0]);
        assert_string_equal(s.error.message, words);
    }
    play = (struct play){.stopped = true};
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "stopped; piece 0 is not done", "batch work three --pieces 0-2");
    SAID_REFUSES(&s, SK_ERR_ARG, "--pieces ,: numbers from 0 to 2: 3, 0-9, 0-9,12",
                 "batch work three --pieces ,");
    static const char *const wrong[] = {"3", "0,3", "0-1,3", "-1", "0,-1", "1-0", "0-", "0;1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        SAID_REFUSES(&s, SK_ERR_ARG, "numbers from 0 to 2", "batch work three --pieces=%s", wrong[i]);
    SAID_REFUSES(&s, SK_ERR_ARG, "which pieces?", "batch work three --submission 1"); /* no task of SLURM's */
    play = (struct play){.finishes = true};
    SAID_OK(&s, "batch work three --pieces 0");
    assert_string_equal(s.out, "");
    play = (struct play){0};
    SAID_REFUSES(&s, SK_ERR_IO, "piece 1 is not done", "batch work three --pieces 0-1");
    /* what is merged is what there is to merge, also of a batch that was cancelled */
    play = (struct play){0};
    SAID_REFUSES(&s, SK_ERR_IO, "2 of 3 videos are not done", "batch merge three");
    assert_true(play.runs == 1 && play.count == 0 && play.despite && !play.waits);
    /* words are relative to the folder that it was begun in */
    assert_int_equal(mkdir("gone", 0700), 0);
    assert_int_equal(chdir("gone"), 0);
    SAID_OK(&s, "batch --detector background --videos ../a.mp4 -o ../moved --prepare");
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir("gone"), 0);
    play = (struct play){0};
    SAID_REFUSES(&s, SK_ERR_IO, "/gone: the folder that the batch was begun in is not there",
                 "batch work moved --pieces 0");
    assert_int_equal(play.runs, 0);
}

/* A film of three frames in three parts, and what puts them together. */
static void parts(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    skip();
#endif
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    (void)yolo_save(&fixture, "m.pt");
    SAID_OK(&s, "batch -m m.pt --videos %s --split 1 -o parts --prepare",
            test_source("tests/fixtures/colours/bt709.mp4"));
    assert_string_equal(s.out, "4\n");
    play = (struct play){0};
    SAID_REFUSES(&s, SK_ERR_IO, "piece 0 is not done", "batch work parts --pieces 0");
    said_has(s.err, "bt709.mp4 1:2: lost, attempt 1: its machine is gone\n");
    sk_batch *b = NULL; /* somebody else does it: that is not done either */
    sk_claim claim;
    char path[SK_BATCH_PATH];
    assert_ok(sk_batch_open("parts", &b, &err), &err);
    assert_ok(sk_claim_take(sk_batch_file(b, 0, 1, "claim", path), 0, &claim, &err), &err);
    SAID_REFUSES(&s, SK_ERR_IO, "piece 0 is not done", "batch work parts --pieces 0");
    SAID_OK(&s, "batch status parts");
    said_has(s.out, "0 of 1 videos done (0 of 4 pieces), 1 running, 3 waiting\n");
    sk_claim_close(&claim);
    assert_int_equal(unlink(path), 0);
    /* whoever does the last part makes the film of them: until then nothing is wrong */
    SAID_OK(&s, "batch work parts --pieces 3");
    assert_true(play.count == 1 && play.pieces[0] == 3);
    SAID_REFUSES(&s, SK_ERR_IO, "piece 2 is not done", "batch work parts --pieces 2-3");
    play = (struct play){0};
    SAID_REFUSES(&s, SK_ERR_IO, "1 of 1 videos are not done", "batch merge parts");
    assert_true(play.runs == 1 && play.count == 1 && play.pieces[0] == 3 && play.despite);
    /* with all of them done, a merge that nobody made is a piece that is not done */
    for (int64_t i = 0; i < 3; i++) {
        const sk_batch_done good = {.attempt = 1, .outcome = SK_BATCH_FINISHED, .frames = 1, .tracks = -1};
        assert_ok(sk_batch_end_put(b, i, &good, true, &err), &err);
    }
    sk_batch_close(&b);
    SAID_REFUSES(&s, SK_ERR_IO, "piece 3 is not done", "batch work parts --pieces 3");
    SAID_OK(&s, "batch status parts");
    said_has(s.out, "0 of 1 videos done (3 of 4 pieces), 0 running, 1 waiting\n");
}

/* --- looked at --- */

/* Nothing is waited for where what is left has been given up. */
static void watched(void **state)
{
    (void)state;
    SAID_OK(&s, BATCH " --videos b.mp4 -o seen --retries 0 --prepare");
    fflush(NULL);
    FILE *text = fopen("watched.txt", "w+");
    assert_non_null(text);
    const pid_t child = fork();
    if (child == 0) {
        const sk_command *batch = sk_command_find("batch");
        const char *words[] = {"status", "seen", "--watch"};
        sk_args *args = NULL;
        if (dup2(fileno(text), 1) != 1 || sk_args_parse(batch, 3, words, &args, &err) != SK_OK)
            _exit(77);
        setvbuf(stdout, NULL, _IONBF, 0);
        const sk_status status = batch->run(args, &err);
        fflush(stdout);
        _exit(status == SK_OK ? 0 : 78);
    }
    sk_batch *b = NULL;
    assert_ok(sk_batch_open("seen", &b, &err), &err);
    for (int i = 0; i < 300 && sk_file_size("watched.txt") < 20; i++) /* it waits until then */
        sk_clock_sleep_ns(20000000);
    const sk_batch_done good = {.attempt = 1, .outcome = SK_BATCH_FINISHED, .frames = 7, .tracks = -1};
    assert_ok(sk_batch_end_put(b, 0, &good, true, &err), &err);
    sk_claim claim;
    char path[SK_BATCH_PATH];
    assert_ok(sk_claim_take(sk_batch_file(b, 1, 1, "claim", path), 0, &claim, &err), &err);
    sk_batch_done bad = {
        .attempt = 1, .outcome = SK_BATCH_REFUSED, .round = b->round, .reason = "no such option"};
    assert_ok(sk_batch_end_put(b, 1, &bad, false, &err), &err);
    sk_claim_close(&claim);
    sk_batch_close(&b);
    int code = 0;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    static char all[4096];
    rewind(text);
    all[fread(all, 1, sizeof all - 1, text)] = '\0';
    fclose(text);
    said_has(all, "0 of 2 videos done, 0 running, 2 waiting\n");
    said_has(all, "1 of 2 videos done, 0 running, 0 waiting, 1 failed\n7 frames, ");
    SAID_OK(&s, "batch status seen --watch");
    SAID_OK(&s, "batch status seen --watch --json");
    assert_int_equal(s.out[0], '{');
    SAID_OK(&s, "batch cancel seen"); /* not all is done */
    said_has(s.err, "cancelled: workers end the frame they are at");
}

/* --- on SLURM --- */

static void handed_over(void **state)
{
    (void)state;
    play = (struct play){0};
    SAID_OK(&s, BATCH " -o slurm --slurm --detach");
    assert_true(play.slurms == 1 && play.runs == 0 && play.detach);
    said_has(s.err, "0 of 1 videos done, 0 running, 2 waiting\ntwo tasks are handed over\nTasks go on by "
                    "themselves. 'skitter batch status ");
    said_has(s.err, "/slurm' shows how far they are\n");
    assert_string_equal(s.out, "");
    play = (struct play){.stopped = true};
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "no longer looked after", BATCH " -o slurm --slurm");
    assert_false(play.detach);
    said_has(s.err, "/slurm' shows how far they are; the same command looks after them again\n");
    play = (struct play){0};
    SAID_REFUSES(&s, SK_ERR_IO, "1 of 1 videos are not done", BATCH " -o slurm --slurm");
    SAID_OK(&s, "batch cancel slurm"); /* nobody was handed anything */
    assert_string_equal(s.err,
                        "cancelled: workers end the frame they are at; 'skitter batch' goes on from there\n");
    play = (struct play){.stopped = true};
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "stopped with 0 of 1 videos done", BATCH " -o here --detach");
    assert_true(play.runs == 1 && play.slurms == 0);
}

int main(void)
{
    static const char *const files[] = {"a.mp4", "b.mp4", "c.mp4"};
    if (chdir(test_folder()) != 0)
        return 1;
    for (size_t i = 0; i < 3; i++)
        if (sk_file_replace(files[i], "x", 1, &err) != SK_OK)
            return 1;
    unsetenv("SKITTER_PROGRAM");
    unsetenv("SLURM_ARRAY_TASK_ID");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many_at_once), cmocka_unit_test(how_it_ends), cmocka_unit_test(keepers),
        cmocka_unit_test(some_pieces),      cmocka_unit_test(parts),       cmocka_unit_test(watched),
        cmocka_unit_test(handed_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
