/* SPDX-License-Identifier: Apache-2.0 */
/* What SLURM's programs print about the tasks of a job, word by word, and what is made of it; programs that fail or do not know the job
 * any more. */
#include "support/test.h"

#include "app/batch_slurm.h"
#include "app/batch_slurm_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static sk_error err;
static char out[2048], programs[2100];
static sk_batch b = {.out = out, .pieces = 12};

/* A program of this name that runs a line of shell. */
static void fake(const char *name, const char *script)
{
    char path[2200], text[2200];
    snprintf(path, sizeof path, "%s/%s", programs, name);
    const int n = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    assert_ok(sk_file_replace(path, text, (size_t)n, &err), &err);
    assert_int_equal(chmod(path, 0755), 0);
}

/* A job of three tasks, with this number. */
static slurm_job fresh(const char *id)
{
    slurm_job job;
    bool there = false;
    char path[SK_BATCH_PATH];
    assert_ok(sk_file_replace(slurm_file(&b, 1, "tasks", path), "0\n1\n2\n", 6, &err), &err);
    assert_ok(sk_file_replace(slurm_file(&b, 1, "job", path), id, strlen(id), &err), &err);
    assert_ok(slurm_job_read(&b, 1, &job, &there, &err), &err);
    assert_true(there && job.n_tasks == 3);
    return job;
}

/* "states words@nodes" of the tasks. */
static const char *told(const slurm_job *job)
{
    static const char letters[] = "?WRE";
    static char text[400];
    text[0] = '\0';
    for (int64_t i = 0; i < job->n_tasks; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c %s@%s", i ? "; " : "",
                 letters[job->tasks[i].state], job->tasks[i].word, job->tasks[i].node);
    return text;
}

static void expect(const char *printed, const char *wanted)
{
    slurm_job job = fresh("77");
    bool reached = false;
    char why[256], script[1000];
    snprintf(script, sizeof script, "printf '%s'", printed);
    fake("squeue", script);
    assert_ok(slurm_ask(&job, &b, &reached, why, &err), &err);
    assert_true(reached && !why[0]);
    if (strcmp(told(&job), wanted) != 0)
        fail_msg("%s: '%s' instead of '%s'", printed, told(&job), wanted);
    slurm_job_free(&job);
}

static void lines_of_tasks(void **state)
{
    (void)state;
    expect("77_0 RUNNING n1\\n77_1 PENDING \\n77_2 COMPLETED n2\\n",
           "R RUNNING@n1; W PENDING@; E COMPLETED@n2");
    expect("77_2 RUNNING n1\\n", "E @; E @; R RUNNING@n1"); /* those that are not named have ended */
    expect("", "E @; E @; E @");
    /* other jobs, tasks that there are not, lines that are none */
    expect("777_0 RUNNING a\\n7_0 RUNNING a\\n77 RUNNING a\\n77_ RUNNING a\\n77_x RUNNING a\\n77_3 RUNNING "
           "a\\n77_-1 "
           "RUNNING a\\nsquack\\n77_1 RUNNING b",
           "E @; R RUNNING@b; E @");
    /* by bars, and words that were cut off */
    expect("77_0|NODE_FAIL|n1\\n77_1|CANCELLED by 5|n2\\n77_2|RUNNING+|n3\\n",
           "E NODE_FAIL@n1; E CANCELLED@n2; R RUNNING@n3");
    expect("77_0 RUNNING+ n1\\n77_1\\n77_2 \\n", "R RUNNING@n1; W @; W @");
    expect(
        "77_0 A_WORD_THAT_IS_MUCH_TOO_LONG a-name-of-a-node-that-is-much-longer-than-any-cluster-has-it\\n",
        "E A_WORD_THAT_IS_MUCH@a-name-of-a-node-that-is-much-longer-than-a; E @; E @");
    expect("77_0 ABCDEFGHIJKLMNOPQRS x\\n77_1 ABCDEFGHIJKLMNOPQRST y\\n", "E ABCDEFGHIJKLMNOPQRS@x; E "
                                                                          "ABCDEFGHIJKLMNOPQRS@y; E @");
}

static void every_word(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        char state;
    } rows[] = {{"PENDING", 'W'},      {"REQUEUED", 'W'},      {"REQUEUE_FED", 'W'},   {"REQUEUE_HOLD", 'W'},
                {"SPECIAL_EXIT", 'W'}, {"RESV_DEL_HOLD", 'W'}, {"RUNNING", 'R'},       {"CONFIGURING", 'R'},
                {"COMPLETING", 'R'},   {"SUSPENDED", 'R'},     {"STOPPED", 'R'},       {"SIGNALING", 'R'},
                {"STAGE_OUT", 'R'},    {"RESIZING", 'R'},      {"COMPLETED", 'E'},     {"FAILED", 'E'},
                {"TIMEOUT", 'E'},      {"NODE_FAIL", 'E'},     {"OUT_OF_MEMORY", 'E'}, {"PREEMPTED", 'E'},
                {"CANCELLED", 'E'},    {"BOOT_FAIL", 'E'},     {"PENDIN", 'E'},        {"RUNNINGX", 'E'}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char printed[80], wanted[120];
        snprintf(printed, sizeof printed, "77_1 %s n\\n", rows[i].word);
        snprintf(wanted, sizeof wanted, "E @; %c %s@n; E @", rows[i].state, rows[i].word);
        expect(printed, wanted);
    }
}

/* One that is away says nothing of the tasks; one that has forgotten the job says that they have ended. */
static void answers_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        bool reached;
        const char *why, *told;
    } rows[] = {
        {"echo 'away for now' >&2; echo more >&2; exit 1", false, "away for now", "? @; ? @; ? @"},
        {"exit 3", false, "", "? @; ? @; ? @"},
        {"echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", true, "", "E @; E @; E @"},
        {"echo '77_0 RUNNING n'; echo 'Invalid job id' >&2; exit 0", true, "", "R RUNNING@n; E @; E @"},
        {"echo '77_0 RUNNING n'; exit 1", false, "", "? @; ? @; ? @"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        slurm_job job = fresh("77");
        bool reached = !rows[i].reached;
        char why[256] = "x";
        fake("squeue", rows[i].script);
        assert_ok(slurm_ask(&job, &b, &reached, why, &err), &err);
        assert_int_equal(reached, rows[i].reached);
        assert_string_equal(why, rows[i].why);
        assert_string_equal(told(&job), rows[i].told);
        slurm_job_free(&job);
    }
}

/* The accounting tells why they ended; how they are, squeue has told. */
static void the_accounting(void **state)
{
    (void)state;
    slurm_job job = fresh("77");
    bool reached = false;
    char why[256];
    fake("squeue", "echo '77_0 RUNNING n'");
    assert_ok(slurm_ask(&job, &b, &reached, why, &err), &err);
    fake("sacct", "[ \"$6\" = 77 ] && printf '77_0|COMPLETED|m\\n77_1|NODE_FAIL|n1\\n77_2|RUNNING|n2\\n'");
    slurm_account(&job);
    assert_string_equal(told(&job), "R COMPLETED@m; E NODE_FAIL@n1; E RUNNING@n2");
    fake("sacct", "echo '77_1|FAILED|n9'; exit 1"); /* there is none */
    slurm_account(&job);
    assert_string_equal(told(&job), "R COMPLETED@m; E NODE_FAIL@n1; E RUNNING@n2");
    fake("sacct", "echo '_1|FAILED|n9'");
    job.id[0] = '\0'; /* nobody knows its number */
    slurm_account(&job);
    assert_string_equal(told(&job), "R COMPLETED@m; E NODE_FAIL@n1; E RUNNING@n2");
    slurm_job_free(&job);
}

int main(void)
{
    char folder[2100], path[8192];
    snprintf(out, sizeof out, "%s/batch", test_folder());
    snprintf(folder, sizeof folder, "%s/.batch/slurm", out);
    snprintf(programs, sizeof programs, "%s/bin", out);
    snprintf(path, sizeof path, "%s:%.4000s", programs, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    setenv("PATH", path, 1);
    if (sk_folder_make(folder, &err) != SK_OK || sk_folder_make(programs, &err) != SK_OK)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_tasks), cmocka_unit_test(every_word),
                                       cmocka_unit_test(answers_that_are_none),
                                       cmocka_unit_test(the_accounting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
