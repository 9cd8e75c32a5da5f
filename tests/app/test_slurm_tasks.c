/* SPDX-License-Identifier: Apache-2.0 */
/* Which pieces a task of a SLURM array has: read from the list that was written when it was handed over. */
#include "support/test.h"

#include "app/batch_slurm.h"
#include "app/batch_slurm_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static char out[2048];
static sk_batch b = {.out = out, .pieces = 12};

static void put(int64_t submission, const char *ending, const char *text)
{
    char path[SK_BATCH_PATH];
    assert_ok(sk_file_replace(slurm_file(&b, submission, ending, path), text, strlen(text), &err), &err);
}

static void lists(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int tasks;        /* -1: it is damaged */
        const char *told; /* the pieces of each task */
    } rows[] = {{"0\n", 1, "0;"},  {"0 1 2\n3\n11 4\n", 3, "0,1,2;3;11,4;"},
                {"", 0, ""},       {"12\n", -1, ""},
                {"-1\n", -1, ""},  {"1 x\n", -1, ""},
                {"1,2\n", -1, ""}, {"1\nx\n", -1, ""},
                {"1\n2", 1, "1;"}, /* a line without its end is no task */
                {"1 2", 0, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        slurm_job job;
        bool there = false;
        put(3, "tasks", rows[i].text);
        const sk_status status = slurm_job_read(&b, 3, &job, &there, &err);
        assert_true(there);
        if (rows[i].tasks < 0) {
            assert_int_equal(status, SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, "0003.tasks: is damaged"));
        } else {
            if (status != SK_OK)
                fail_msg("row %zu: %s", i, err.message);
            assert_int_equal(job.n_tasks, rows[i].tasks);
            assert_int_equal(job.submission, 3);
        }
        slurm_job_free(&job);
        char told[128] = "";
        for (int task = 0; task < rows[i].tasks; task++) {
            int64_t *pieces = NULL, n = 0;
            assert_ok(sk_batch_slurm_task(&b, 3, task, &pieces, &n, &err), &err);
            for (int64_t k = 0; k < n; k++)
                snprintf(told + strlen(told), sizeof told - strlen(told), "%s%lld", k ? "," : "",
                         (long long)pieces[k]);
            strcat(told, ";");
            sk_free(pieces);
        }
        assert_string_equal(told, rows[i].told);
    }
}

static void what_is_not_there(void **state)
{
    (void)state;
    slurm_job job;
    bool there = true;
    int64_t *pieces = NULL, n = 0;
    assert_ok(slurm_job_read(&b, 9, &job, &there, &err), &err);
    assert_false(there);
    slurm_job_free(&job);
    put(4, "tasks", "0\n1\n");
    static const int64_t asked[][2] = {{4, 2}, {4, -1}, {9, 0}};
    for (int i = 0; i < 3; i++) {
        char words[96];
        assert_int_equal(sk_batch_slurm_task(&b, asked[i][0], asked[i][1], &pieces, &n, &err), SK_ERR_ARG);
        snprintf(words, sizeof words, "task %lld of submission %lld: there is no such in ",
                 (long long)asked[i][1], (long long)asked[i][0]);
        assert_int_equal(strncmp(err.message, words, strlen(words)), 0);
        assert_null(pieces);
        assert_int_equal(n, 0);
    }
}

/* The job's number is what sbatch said: digits, and no more of it. */
static void numbers_of_jobs(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"4711\n", "4711"}, {"4711;cluster\n", "4711"}, {"", ""}, {"x1", ""}};
    put(5, "tasks", "0\n");
    for (int i = 0; i < 4; i++) {
        slurm_job job;
        bool there = false;
        put(5, "job", rows[i][0]);
        assert_ok(slurm_job_read(&b, 5, &job, &there, &err), &err);
        assert_string_equal(job.id, rows[i][1]);
        assert_false(job.ended);
        slurm_job_free(&job);
        assert_null(job.pieces);
    }
}

int main(void)
{
    char folder[2100];
    snprintf(out, sizeof out, "%s/batch", test_folder());
    snprintf(folder, sizeof folder, "%s/.batch/slurm", out);
    if (sk_folder_make(folder, &err) != SK_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(numbers_of_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
