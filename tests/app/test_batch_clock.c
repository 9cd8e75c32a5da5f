/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch does by the clock: signs of life, looking whether it is cancelled, looking again at what others do, ending who does not
 * end, and patience with programs that do not answer. The clock stands still here unless somebody moves it. */
#include "batch_fixture.h"

#include "app/batch_slurm.h"
#include "app/batch_slurm_internal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

typedef int read_clock(clockid_t which, struct timespec *out);
static bool stands; /* the clock */
static atomic_llong shown = 1000000 * SECOND, step, asked;

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *out)
{
    static read_clock *real;
    if (stands && which == CLOCK_MONOTONIC) {
        const int64_t now = atomic_fetch_add(&shown, atomic_load(&step));
        atomic_fetch_add(&asked, 1);
        *out = (struct timespec){now / SECOND, now % SECOND};
        return 0;
    }
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(which, out);
}

static int descriptors(void)
{
    int n = 0;
    DIR *open_ones = opendir("/proc/self/fd");
    while (readdir(open_ones))
        n++;
    closedir(open_ones);
    return n;
}

/* --- pieces --- */

typedef struct scene {
    sk_batch *batch;
    int stage, changes, changes_then;
    pid_t other;
    sk_text ends;
} scene;

static void told(void *context, const sk_batch_piece *piece, const sk_batch_done *e)
{
    sk_text_appendf(&((scene *)context)->ends, "%s %d %s: %s\n", piece->name, e->attempt,
                    sk_batch_outcome_name(e->outcome), e->reason);
}

static void changed(void *context)
{
    ((scene *)context)->changes++;
}

static int64_t claimed_frames(const sk_batch *b, int32_t attempt)
{
    char path[SK_BATCH_PATH];
    sk_claim_holder holder = {0};
    return sk_claim_read(sk_batch_file(b, 0, attempt, "claim", path), &holder) ? holder.frames : -1;
}

/* Called once a round; the clock of a round was read before it. */
static bool until_cancelled(void *context)
{
    scene *s = context;
    switch (s->stage) {
    case 0: /* until it has told of its frames, and once more, to hear of them */
        s->stage += access("sent", F_OK) == 0;
        return false;
    case 1:
        s->changes_then = s->changes;
        shown += 5 * SECOND - 1;
        break;
    case 3: /* not yet */
        assert_int_equal(claimed_frames(s->batch, 1), 0);
        assert_int_equal(s->changes, s->changes_then + 1);
        shown += 1;
        break;
    case 5: /* a sign of life, with what was done */
        assert_int_equal(claimed_frames(s->batch, 1), 3);
        assert_int_equal(s->changes, s->changes_then + 1);
        assert_ok(sk_batch_set_cancelled(s->batch, true, &err), &err);
        shown += 5 * SECOND - 1;
        break;
    case 7: shown += 1; break;
    case 9: put("go", ""); break; /* only who goes on despite that comes so far */
    default: break;
    }
    s->stage++;
    return false;
}

static void signs_of_life_and_the_order_to_end(void **state)
{
    (void)state;
    static const char *const videos[] = {"gated.mp4"};
    for (int despite = 0; despite < 2; despite++) {
        char out[16];
        snprintf(out, sizeof out, "beats%d", despite);
        (void)unlink("go");
        (void)unlink("sent");
        scene s = {.batch = begin(out, videos, 1, 1, 1)};
        sk_batch_worked worked;
        const sk_batch_work how = {.batch = s.batch,
                                   .slots = 1,
                                   .despite_cancel = despite,
                                   .interrupted = until_cancelled,
                                   .changed = changed,
                                   .told = told,
                                   .context = &s};
        const int before = descriptors();
        stands = true;
        assert_ok(sk_batch_work_run(&how, &worked, &err), &err);
        stands = false;
        assert_int_equal(descriptors(), before);
        assert_int_equal(worked.stopped, !despite);
        assert_int_equal(worked.done, despite);
        assert_int_equal(s.stage > 9, despite);
        assert_string_equal(sk_text_get(&s.ends), despite
                                                      ? "gated 1 finished: \n"
                                                      : "gated 1 stopped: cancelled: skitter batch cancel\n");
        sk_text_free(&s.ends);
        sk_batch_close(&s.batch);
    }
}

/* Somebody else has the piece, and is gone after a while: that is seen when two seconds have passed. */
static pid_t somebody_with(const sk_batch *b, int32_t attempt)
{
    int pipes[2];
    char byte, path[SK_BATCH_PATH];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        sk_claim claim;
        if (sk_claim_take(sk_batch_file(b, 0, attempt, "claim", path), b->round, &claim, NULL) == SK_OK)
            (void)!write(pipes[1], "x", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static bool until_it_is_gone(void *context)
{
    scene *s = context;
    switch (s->stage++) {
    case 1:
        kill(s->other, SIGKILL);
        assert_int_equal(waitpid(s->other, NULL, 0), s->other);
        shown += 2 * SECOND - 1;
        break;
    case 3:
        assert_int_equal(claimed_frames(s->batch, 2), -1); /* not yet */
        shown += 1;
        break;
    default: break;
    }
    return s->stage > 500;
}

static void what_others_have_is_waited_for(void **state)
{
    (void)state;
    static const char *const videos[] = {"good.mp4"};
    for (int listed = 0; listed < 2; listed++) { /* with a list of what there is, older than the claim */
        scene s = {.batch = begin(listed ? "waits1" : "waits0", videos, 1, 1, 1)};
        sk_batch_worked worked;
        if (listed)
            assert_ok(sk_batch_refresh(s.batch, &err), &err);
        s.other = somebody_with(s.batch, 1);
        const sk_batch_work how = {.batch = s.batch,
                                   .slots = 1,
                                   .waits = true,
                                   .interrupted = until_it_is_gone,
                                   .told = told,
                                   .context = &s};
        stands = true;
        assert_ok(sk_batch_work_run(&how, &worked, &err), &err);
        stands = false;
        assert_true(worked.done == 1 && worked.elsewhere == 0 && !worked.stopped);
        assert_string_equal(sk_text_get(&s.ends), "good 2 finished: \n");
        sk_batch_done end;
        assert_true(sk_batch_end_read(s.batch, 0, 1, &end));
        assert_int_equal(end.outcome, SK_BATCH_LOST);
        assert_non_null(strstr(end.reason, "is gone"));
        sk_text_free(&s.ends);
        sk_batch_close(&s.batch);
    }
}

/* Who thought it dead was first: theirs counts, and what this one made is removed. */
static bool put_before_it_ends(void *context)
{
    scene *s = context;
    const sk_batch_done theirs = {.attempt = 9, .outcome = SK_BATCH_FINISHED, .tracks = -1};
    if (s->stage == 0 && access("sent", F_OK) == 0) {
        s->stage = 1;
        assert_ok(sk_batch_end_put(s->batch, 0, &theirs, true, &err), &err);
        put("go", "");
    }
    return false;
}

static void another_was_first(void **state)
{
    (void)state;
    static const char *const videos[] = {"gated.mp4"};
    char path[SK_BATCH_PATH];
    (void)unlink("go");
    (void)unlink("sent");
    scene s = {.batch = begin("second", videos, 1, 1, 1)};
    sk_batch_worked worked;
    const sk_batch_work how = {
        .batch = s.batch, .slots = 1, .interrupted = put_before_it_ends, .told = told, .context = &s};
    assert_ok(sk_batch_work_run(&how, &worked, &err), &err);
    assert_int_equal(worked.done, 1);
    assert_string_equal(sk_text_get(&s.ends), "gated 1 finished: another attempt was first\n");
    assert_false(sk_file_exists(sk_batch_work_path(s.batch, 0, 1, path)));
    assert_false(sk_file_exists("second/gated"));
    sk_batch_done done;
    assert_true(sk_batch_done_read(s.batch, 0, &done) && done.attempt == 9);
    /* it is done, although the look that was taken did not show that: nothing is started */
    const sk_batch_look old = {.state = SK_PIECE_WAITING, .attempts = 1};
    sk_batch_attempt a;
    const int before = descriptors();
    assert_int_equal(sk_batch_attempt_start(s.batch, sk_batch_piece_of(s.batch, 0, &err), &old, 0, &a, &err),
                     SK_ERR_BUSY);
    assert_string_equal(err.message, "piece 0 is done");
    assert_true(a.claim.file == -1 && a.events == -1 && a.summary == -1 && !a.piece && a.pid == 0);
    assert_int_equal(descriptors(), before);
    sk_text_free(&s.ends);
    sk_batch_close(&s.batch);
}

/* A worker that cannot go on ends what it has started. */
static void a_worker_that_fails(void **state)
{
    (void)state;
    static const char *const videos[] = {"gated.mp4", "good.mp4"};
    (void)unlink("go");
    (void)unlink("sent");
    scene s = {.batch = begin("fails", videos, 2, 1, 1)};
    sk_batch_worked worked;
    const sk_batch_work how = {.batch = s.batch, .slots = 2, .told = told, .context = &s};
    assert_ok(sk_folder_make("fails/good", &err), &err);
    put("fails/good/mine", "x");
    const int before = descriptors();
    assert_int_equal(sk_batch_work_run(&how, &worked, &err), SK_ERR_IO);
    assert_int_equal(descriptors(), before);
    sk_batch_done end;
    assert_true(sk_batch_end_read(s.batch, 0, 1, &end));
    assert_int_equal(end.outcome, SK_BATCH_STOPPED);
    assert_string_equal(end.reason, "its worker failed");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
    sk_text_free(&s.ends);
    sk_batch_close(&s.batch);
}

/* It is asked once; who does not end is ended when fifteen seconds have passed. */
static void who_does_not_end(void **state)
{
    (void)state;
    int pipes[2], status = 0;
    char byte;
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        sigset_t mask;
        int signal = 0;
        sigemptyset(&mask);
        sigaddset(&mask, SIGINT);
        sigprocmask(SIG_BLOCK, &mask, NULL);
        (void)!write(pipes[1], "x", 1);
        while (sigwait(&mask, &signal) == 0)
            (void)!write(pipes[1], "i", 1);
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    sk_batch_attempt a = {.pid = child, .events = -1, .summary = -1, .claim = {.file = -1}}, none = {0};
    stands = true;
    sk_batch_attempt_stop(&none); /* nobody, and not everybody of this process's group */
    assert_int_equal(none.asked, 0);
    sk_batch_attempt_stop(&a);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_true(byte == 'i' && a.asked == 1);
    shown += 15 * SECOND - 1;
    sk_batch_attempt_stop(&a);
    assert_int_equal(a.asked, 1);
    assert_false(sk_batch_attempt_listen(&a, &status));
    shown += 1;
    sk_batch_attempt_stop(&a);
    stands = false;
    assert_int_equal(a.asked, 2);
    for (int i = 0; i < 2000 && !sk_batch_attempt_listen(&a, &status); i++)
        usleep(10000);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = 0;
    assert_true(sk_batch_attempt_listen(&a, &status)); /* there is no such process any more */
    assert_int_equal(status, -1);
    close(pipes[0]);
    close(pipes[1]);
}

/* --- programs that are asked --- */

static void patience(void **state)
{
    (void)state;
    static const char *const words[] = {"sleep", "100", NULL};
    sk_text printed = {0}, complained = {0};
    int code = 0;
    const int before = descriptors();
    const time_t begun = time(NULL);
    stands = true;
    step = 20 * SECOND;
    asked = 0;
    assert_int_equal(sk_batch_ask(words, &printed, &complained, &code, &err), SK_ERR_TIMEOUT);
    stands = false;
    assert_string_equal(err.message, "sleep has not answered for a minute");
    assert_int_equal(asked, 5); /* the begin, then 20, 40, 60 and 80 seconds after it */
    assert_int_equal(code, -1);
    assert_true(time(NULL) - begun < 50); /* it is not waited for */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(descriptors(), before);
    /* squeue, too: the job is as it was */
    slurm_job job = {.n_tasks = 1, .tasks = &(slurm_task){.state = SLURM_RUNS}};
    char why[256], *path = NULL, *old = sk_strdup(getenv("PATH"));
    bool reached = true;
    put("squeue", "#!/bin/sh\nexec sleep 100\n");
    assert_int_equal(chmod("squeue", 0755), 0);
    assert_true(asprintf(&path, "%s:%s", folder, old) > 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    snprintf(job.id, sizeof job.id, "17");
    stands = true;
    assert_ok(slurm_ask(&job, NULL, &reached, why, &err), &err);
    stands = false;
    step = 0;
    assert_string_equal(why, "squeue does not answer");
    assert_true(!reached && job.tasks[0].state == SLURM_RUNS);
    assert_int_equal(setenv("PATH", old, 1), 0);
    free(path);
    sk_free(old);
    sk_text_free(&printed);
    sk_text_free(&complained);
}

/* What cannot be started, or not be heard, leaves no descriptor open. */
static void nothing_is_left_open(void **state)
{
    (void)state;
    static const char *const nobody[] = {"/no/such/program", NULL}, *const somebody[] = {"true", NULL};
    sk_text printed = {0}, complained = {0};
    struct rlimit most;
    int code = 0;
    const int before = descriptors();
    assert_int_equal(sk_batch_ask(nobody, &printed, &complained, &code, &err), SK_ERR_NOT_FOUND);
    assert_ok(sk_batch_ask(somebody, &printed, &complained, &code, &err), &err);
    assert_int_equal(descriptors(), before);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    for (int room = 0; room < 6; room++) { /* for so many more: two pipes, and a copy of an end meanwhile */
        const int free_one = dup(0);
        close(free_one);
        struct rlimit few = {.rlim_cur = (rlim_t)(free_one + room), .rlim_max = most.rlim_max};
        if (few.rlim_cur >= 12)
            break;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const sk_status status = sk_batch_ask(somebody, &printed, &complained, &code, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
        assert_int_equal(status, SK_ERR_IO);
        assert_non_null(strstr(err.message, "a pipe cannot be opened: "));
        assert_int_equal(descriptors(), before);
    }
    sk_text_free(&printed);
    sk_text_free(&complained);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_open),
        cmocka_unit_test(signs_of_life_and_the_order_to_end),
        cmocka_unit_test(what_others_have_is_waited_for),
        cmocka_unit_test(another_was_first),
        cmocka_unit_test(a_worker_that_fails),
        cmocka_unit_test(who_does_not_end),
        cmocka_unit_test(patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
