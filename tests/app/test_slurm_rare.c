/* SPDX-License-Identifier: Apache-2.0 */
/* What is rare where pieces are handed to SLURM: arrays of other lengths, refusals without a reason, jobs whose number nobody heard, too
 * many words; and where memory ends. */
#include "slurm_fixture.h"
#include "support/fault.h"

static const char *const videos[] = {"a.mp4", "b.mp4", "c.mp4"};

static void lengths_of_arrays(void **state)
{
    (void)state;
    static const struct {
        const char *scontrol;
        int64_t most;
    } rows[] = {{"echo 'MaxArraySize = 5'; exit 1", 1000}, /* it says no: SLURM's own default */
                {"echo 'MaxArraySize = 5'", 4},
                {"echo 'MaxJobCount = 9'; echo 'MaxArraySize            = 11'; echo 'x = 3'", 10},
                {"echo nothing", 1000},
                {"echo MaxArraySize", 1000},
                {"echo 'MaxArraySize = 0'", 1000},
                {"echo 'MaxArraySize = 1'", 1000},
                {"echo 'MaxArraySize = 2'", 1}};
    static const int64_t pieces[2001];
    usual_programs();
    sk_batch *b = begin("arrays", videos, 1, 1, 1);
    slurm_job job;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t most = rows[i].most;
        char wanted[256];
        fake("scontrol", rows[i].scontrol);
        b->how.pieces_per_task = 1;
        assert_ok(slurm_submit(b, 1, pieces, most, &job, &err), &err);
        assert_int_equal(job.n_tasks, most);
        slurm_job_free(&job);
        assert_int_equal(slurm_submit(b, 1, pieces, most + 1, &job, &err), SK_ERR_LIMIT);
        snprintf(wanted, sizeof wanted,
                 "%lld pieces by 1 a task are more than the %lld tasks that SLURM takes in",
                 (long long)most + 1, (long long)most);
        assert_int_equal(strncmp(err.message, wanted, strlen(wanted)), 0);
        slurm_job_free(&job);
        b->how.pieces_per_task = 0; /* as many in each as are needed, and no more */
        assert_ok(slurm_submit(b, 1, pieces, 2 * most + 1, &job, &err), &err);
        assert_int_equal(job.n_tasks, (2 * most + 1 + 2) / 3);
        for (int64_t t = 0; t < job.n_tasks; t++)
            assert_int_equal(job.begins[t], 3 * t);
        assert_int_equal(job.begins[job.n_tasks], 2 * most + 1);
        slurm_job_free(&job);
    }
    sk_batch_close(&b);
}

static void refusals(void **state)
{
    (void)state;
    static const int64_t pieces[1];
    slurm_job job;
    int64_t cancelled = 7;
    usual_programs();
    sk_batch *b = begin("refusals", videos, 1, 1, 1);
    fake("sbatch", "exit 3");
    assert_int_equal(slurm_submit(b, 1, pieces, 1, &job, &err), SK_ERR_RUNTIME);
    assert_string_equal(err.message,
                        "SLURM refused: it gave no reason. Does 'sbatch' work by hand here, with this "
                        "partition, time and account?");
    slurm_job_free(&job);
    char path[4200];
    snprintf(path, sizeof path, "%s/nothing", folder);
    assert_int_equal(setenv("PATH", path, 1), 0); /* where there is no SLURM at all */
    assert_int_equal(slurm_submit(b, 1, pieces, 1, &job, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "sbatch: there is no SLURM on this machine. Leave --slurm out, or log in where "
                        "there is one");
    assert_int_equal(job.n_tasks, 1); /* and as many as SLURM takes by itself */
    slurm_job_free(&job);
    assert_int_equal(sk_batch_slurm_cancel(b, &cancelled, &err), SK_ERR_UNSUPPORTED);
    assert_int_equal(strncmp(err.message, "squeue: there is no SLURM", 25), 0);
    assert_int_equal(cancelled, 0);
    assert_int_equal(setenv("PATH", searched, 1), 0);
    sk_batch_close(&b);
}

/* With as many words as there is room for, and one more: nothing is asked with some of them. */
static void many_words(void **state)
{
    (void)state;
    static const int64_t pieces[1];
    static char line[] = "--nice";
    char *lines[60] = {NULL}, **words = NULL;
    slurm_job job;
    usual_programs();
    sk_batch *b = begin("words", videos, 1, 1, 1);
    for (int n = 0; n < 54; n++)
        lines[n] = line;
    char **own = b->how.sbatch;
    b->how.sbatch = lines;
    for (int more = 0; more < 2; more++) { /* 63 words, then 64 */
        lines[53] = more ? line : NULL;
        assert_int_equal(sk_batch_slurm_words(b, 1, 1, &words, &err), more ? SK_ERR_LIMIT : SK_OK);
        assert_true((words != NULL) == !more && (more || (words[62] && !words[63])));
        sk_batch_words_free(words);
        assert_int_equal(slurm_submit(b, 1, pieces, 1, &job, &err), more ? SK_ERR_LIMIT : SK_OK);
        slurm_job_free(&job);
    }
    assert_string_equal(err.message, "sbatch: more than 63 words; give fewer --sbatch options");
    b->how.sbatch = own;
    sk_batch_close(&b);
}

/* What sbatch said was not heard: the job is asked for by its name. */
static void numbers_that_nobody_heard(void **state)
{
    (void)state;
    static const struct {
        const char *squeue, *scancel;
        sk_status status;
        int64_t cancelled;
        bool asked; /* to cancel it */
    } rows[] = {{"echo 77", ":", SK_OK, 1, true},
                {":", ":", SK_OK, 0, false},
                {"echo away >&2; exit 1", ":", SK_ERR_RUNTIME, 0, false},
                {"echo 77", "echo 'error: Invalid job id 77' >&2; exit 1", SK_OK, 0, true},
                {"echo 77", "echo 'no right' >&2; exit 1", SK_ERR_RUNTIME, 0, true}};
    char path[SK_BATCH_PATH], why[256], wanted[128];
    bool reached = false, there = false;
    slurm_job job;
    sk_batch *b = begin("unheard", videos, 3, 1, 1);
    put(slurm_file(b, 1, "tasks", path), "0 1\n2\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t cancelled = 7;
        usual_programs();
        fake("squeue", rows[i].squeue);
        fake("scancel", rows[i].scancel);
        assert_int_equal(sk_batch_slurm_cancel(b, &cancelled, &err), rows[i].status);
        assert_int_equal(cancelled, rows[i].cancelled);
        snprintf(wanted, sizeof wanted, "squeue -h -t all --name=skitter-%s-0001 -o %%F\n%s", b->id,
                 rows[i].asked ? "scancel 77\n" : "");
        assert_string_equal(text_in("asked"), wanted);
    }
    assert_non_null(strstr(err.message, "no right"));
    /* its state: a number is kept once it is known, nothing is concluded where nobody answers */
    fake("squeue", "echo away >&2; exit 1");
    assert_ok(slurm_job_read(b, 1, &job, &there, &err), &err);
    assert_true(there && job.n_tasks == 2 && !job.id[0]);
    assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
    assert_false(reached);
    assert_non_null(strstr(why, "SLURM refused: away. Does 'squeue' work by hand here"));
    assert_true(job.tasks[0].state == SLURM_NOT_KNOWN && !sk_file_exists(slurm_file(b, 1, "job", path)));
    fake("squeue", "case \"$*\" in *--name=*) echo 78 ;; *' -j 78 '*) echo '78_1 RUNNING n' ;; esac");
    assert_ok(slurm_ask(&job, b, &reached, why, &err), &err);
    assert_true(reached && !why[0] && strcmp(job.id, "78") == 0);
    assert_true(job.tasks[0].state == SLURM_ENDED && job.tasks[1].state == SLURM_RUNS);
    assert_string_equal(text_in(slurm_file(b, 1, "job", path)), "78");
    slurm_job_free(&job);
    assert_ok(slurm_job_read(b, 1, &job, &there, &err), &err);
    assert_string_equal(job.id, "78");
    slurm_job_free(&job);
    sk_batch_close(&b);
}

/* --- without memory --- */

static sk_status words_of(void *context, sk_error *error)
{
    char **words = NULL;
    const sk_status status = sk_batch_slurm_words(context, 1, 3, &words, error);
    size_t n = 0;
    while (words && words[n])
        n++;
    assert_int_equal(n, status == SK_OK ? 10 : 0); /* all of them, or none */
    sk_batch_words_free(words);
    return status;
}

static sk_status task_of(void *context, sk_error *error)
{
    int64_t *pieces = NULL, count = 0;
    const sk_status status = sk_batch_slurm_task(context, 1, 0, &pieces, &count, error);
    if (status == SK_OK)
        assert_true(count == 2 && pieces[0] == 0 && pieces[1] == 1);
    sk_free(pieces);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    char path[SK_BATCH_PATH];
    usual_programs();
    sk_batch *b = begin("memory", videos, 3, 1, 1);
    put(slurm_file(b, 1, "tasks", path), "0 1\n2\n");
    assert_true(test_every_allocation(words_of, b) >= 5);
    assert_true(test_every_allocation(task_of, b) >= 4);
    sk_batch_close(&b);
}

int main(void)
{
    if (!begin_slurm())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_arrays), cmocka_unit_test(refusals),
        cmocka_unit_test(many_words),        cmocka_unit_test(numbers_that_nobody_heard),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
