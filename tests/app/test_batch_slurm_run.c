/* SPDX-License-Identifier: Apache-2.0 */
/* A batch looked after on SLURM, look by look: what its programs are asked, what they answer and what is then done. Tasks are played by
 * the test: between two looks it puts down what they would have. */
#include "support/test.h"

#include "app/batch_slurm.h"
#include "app/batch_slurm_internal.h"
#include "app/batch_status.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[2048];
static sk_error err;

static void put(const char *path, const char *text)
{
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void fake(const char *name, const char *body)
{
    char path[4096], text[8192];
    snprintf(path, sizeof path, "%s/bin/%s", folder, name);
    snprintf(text, sizeof text, "#!/bin/sh\necho \"%s $*\" >>'%s/asked'\n%s\n", name, folder, body);
    put(path, text);
    assert_int_equal(chmod(path, 0755), 0);
}

static sk_batch *begin(const char *out, int32_t retries, int32_t losses)
{
    static const char *const videos[] = {"a.mp4", "b.mp4", "c.mp4"};
    static char *const no_words[] = {NULL};
    sk_batch *b = NULL;
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&media);
    for (int i = 0; i < 3; i++)
        put(videos[i], "no video");
    assert_ok(sk_source_list_make(videos, 3, &list, &err), &err);
    const sk_batch_how how = {.retries = retries, .losses = losses, .slurm = true};
    const sk_batch_wish wish = {
        .out = out, .command = "track", .words = no_words, .videos = &list, .media = &media, .how = &how};
    assert_ok(sk_batch_begin(&wish, &b, &err), &err);
    sk_source_list_free(&list);
    put("number", "100");
    put("states", "");
    (void)unlink("asked");
    fake("scontrol", "echo 'MaxArraySize            = 1001'");
    fake("sbatch", "n=$(($(cat number) + 1)); printf %s $n >number; echo $n");
    fake("squeue", "cat states");
    fake("sacct", "sed 's/ /|/g' states");
    return b;
}

typedef struct play {
    sk_batch *b;
    sk_text all;
    int looks, stop_at;
    void (*act)(struct play *p);
} play;

static void say(void *context, const char *text)
{
    sk_text_appendf(&((play *)context)->all, "said: %s\n", text);
}

static void changed(void *context, const sk_batch_status *s)
{
    play *p = context;
    sk_text_appendf(&p->all, "look %d: %lld done, %lld running, %lld waiting, %lld failed\n", ++p->looks,
                    (long long)s->done, (long long)s->running, (long long)s->waiting, (long long)s->failed);
    assert_true(p->looks < 40);
    if (p->act)
        p->act(p);
}

static bool interrupted(void *context)
{
    const play *p = context;
    return p->stop_at && p->looks >= p->stop_at;
}

static void finish(sk_batch *b, int64_t number, int32_t attempt)
{
    const sk_batch_done e = {
        .attempt = attempt, .outcome = SK_BATCH_FINISHED, .frames = 5, .tracks = -1, .round = b->round};
    assert_ok(sk_batch_end_put(b, number, &e, true, &err), &err);
}

static void look_after(play *p, bool detach, bool stopped_wanted)
{
    bool stopped = !stopped_wanted;
    const sk_batch_slurm_watch watch = {
        .interrupted = interrupted, .changed = changed, .say = say, .context = p, .detach = detach};
    assert_ok(sk_batch_slurm_run(p->b, &watch, &stopped, &err), &err);
    assert_int_equal(stopped, stopped_wanted);
}

static void tell_asked(play *p)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("asked", 1 << 20, &text, &length, &err), &err);
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        if (strncmp(line, "sbatch", 6) == 0 || strncmp(line, "sacct", 5) == 0) {
            const char *array = strstr(line, "--array=");
            const bool here = array && array < line + n;
            sk_text_appendf(&p->all, "%.6s %.*s\n", line, here ? (int)strcspn(array, " \n") : 0,
                            here ? array : "");
        }
        line += n + (line[n] == '\n');
    }
    int asked = 0; /* jobs that have ended are not asked for any more */
    for (const char *at = text; (at = strstr(at, "squeue ")); at++)
        asked++;
    sk_text_appendf(&p->all, "squeue %d times\n", asked);
    sk_free(text);
    sk_batch_close(&p->b);
}

/* The first is done at once; the second's node fails under it; the third is done at its second look. */
static sk_claim claimed = {.file = -1};

static void node_fails(play *p)
{
    char path[SK_BATCH_PATH];
    switch (p->looks) {
    case 1:
        finish(p->b, 0, 1);
        assert_int_equal(setenv("SLURM_ARRAY_JOB_ID", "101", 1) | setenv("SLURM_ARRAY_TASK_ID", "1", 1) |
                             setenv("SLURM_JOB_ID", "102", 1),
                         0);
        assert_ok(sk_claim_take(sk_batch_file(p->b, 1, 1, "claim", path), p->b->round, &claimed, &err), &err);
        assert_int_equal(
            unsetenv("SLURM_ARRAY_JOB_ID") | unsetenv("SLURM_ARRAY_TASK_ID") | unsetenv("SLURM_JOB_ID"), 0);
        put("states", "101_0 COMPLETED n1\n101_1 RUNNING n7\n101_2 RUNNING n1\n");
        break;
    case 2:
        finish(p->b, 2, 1);
        put("states", "101_0 COMPLETED n1\n101_1 NODE_FAIL n7\n101_2 COMPLETED n1\n");
        break;
    case 5:
        put("states", "101_0 COMPLETED n1\n101_1 NODE_FAIL n7\n101_2 COMPLETED n1\n102_0 RUNNING n2\n");
        break;
    case 6:
        finish(p->b, 1, 2);
        put("states", "101_1 NODE_FAIL n7\n102_0 COMPLETED n2\n");
        break;
    default: break;
    }
}

static void tasks_that_are_lost(void **state)
{
    (void)state;
    play p = {.b = begin("lost", 1, 3), .act = node_fails};
    look_after(&p, false, false);
    sk_claim_close(&claimed);
    sk_batch_done end;
    assert_true(sk_batch_end_read(p.b, 1, 1, &end));
    assert_int_equal(end.outcome, SK_BATCH_LOST);
    assert_string_equal(end.reason, "SLURM task 101_1 ended: NODE_FAIL on n7");
    tell_asked(&p);
    test_text_is("tests/app/told/slurm_lost.txt", sk_text_get(&p.all));
    sk_text_free(&p.all);
}

/* Tasks that end before they begin are handed over as often as may be, and then it is told where to look. */
static void tasks_that_never_begin(void **state)
{
    (void)state;
    play p = {.b = begin("idle", 1, 1)};
    fake("squeue", "i=0; while [ $i -lt 3 ]; do for j in 101 102 103 104 105; do echo ${j}_$i FAILED n1; "
                   "done; i=$((i+1)); done");
    look_after(&p, false, false);
    sk_text told = {0};
    const char *text = sk_text_get(&p.all), *at;
    tell_asked(&p);
    for (text = sk_text_get(&p.all); (at = strstr(text, folder)); text = at + strlen(folder)) {
        sk_text_append_bytes(&told, text, (size_t)(at - text));
        sk_text_append(&told, "FOLDER");
    }
    sk_text_append(&told, text);
    test_text_is("tests/app/told/slurm_idle.txt", sk_text_get(&told));
    sk_text_free(&told);
    sk_text_free(&p.all);
}

/* While nobody answers nothing is concluded; it is said once when that begins, and once when it ends. */
static void away_for_a_while(play *p)
{
    if (p->looks == 1)
        fake("squeue", "echo 'the controller is away' >&2; exit 1");
    if (p->looks == 3)
        fake("squeue", "cat states");
    if (p->looks == 4)
        for (int i = 0; i < 3; i++)
            finish(p->b, i, 1);
    put("states", p->looks < 5 ? "101_0 RUNNING n1\n101_1 RUNNING n1\n101_2 PENDING\n" : "");
}

static void a_controller_that_is_away(void **state)
{
    (void)state;
    play p = {.b = begin("away", 1, 3), .act = away_for_a_while};
    look_after(&p, false, false);
    tell_asked(&p);
    test_text_is("tests/app/told/slurm_away.txt", sk_text_get(&p.all));
    sk_text_free(&p.all);
}

static void cancel_it(play *p)
{
    put("states", "101_0 RUNNING n1\n101_1 RUNNING n1\n101_2 PENDING\n");
    if (p->looks == 2)
        assert_ok(sk_batch_set_cancelled(p->b, true, &err), &err);
}

static void other_ends(void **state)
{
    (void)state;
    /* handed over, with a job behind it that closes the batch */
    play p = {.b = begin("detached", 1, 3)};
    look_after(&p, true, false);
    tell_asked(&p);
    sk_text_append(&p.all, "--- interrupted\n");
    assert_int_equal(setenv("SKITTER_BATCH_INTERVAL_MS", "1", 1), 0);
    p.b = begin("interrupted", 1, 3);
    p.looks = 0;
    p.stop_at = 1;
    look_after(&p, false, true);
    sk_batch_close(&p.b);
    assert_ok(sk_batch_open("interrupted", &p.b, &err),
              &err); /* the same command goes on: what was handed over is not again */
    put("states", "101_0 RUNNING n1\n101_1 RUNNING n1\n101_2 PENDING\n");
    p.looks = 0;
    look_after(&p, false, true);
    tell_asked(&p);
    assert_int_equal(setenv("SKITTER_BATCH_INTERVAL_MS", "0", 1), 0);
    sk_text_append(&p.all, "--- cancelled\n");
    p = (play){.b = begin("cancelled", 1, 3), .all = p.all, .act = cancel_it};
    look_after(&p, false, false);
    tell_asked(&p);
    sk_text_append(&p.all, "--- refused\n");
    p = (play){.b = begin("refused", 1, 3), .all = p.all};
    fake("sbatch", "echo 'invalid partition' >&2; exit 1");
    bool stopped;
    const sk_batch_slurm_watch watch = {.context = &p};
    assert_int_equal(sk_batch_slurm_run(p.b, &watch, &stopped, &err),
                     SK_ERR_RUNTIME); /* the first: nobody waits for it to come back */
    tell_asked(&p);
    test_text_is("tests/app/told/slurm_ends.txt", sk_text_get(&p.all));
    sk_text_free(&p.all);
}

int main(void)
{
    char path[4096], searched[8192];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/bin", folder);
    snprintf(searched, sizeof searched, "%s:%s", path, getenv("PATH"));
    if (chdir(folder) != 0 || mkdir(path, 0755) != 0 || setenv("PATH", searched, 1) != 0 ||
        setenv("SKITTER_BATCH_INTERVAL_MS", "0", 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_that_are_lost),
        cmocka_unit_test(tasks_that_never_begin),
        cmocka_unit_test(a_controller_that_is_away),
        cmocka_unit_test(other_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
