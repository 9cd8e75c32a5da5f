/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *lock_path(const char *name)
{
    char *path = sk_path_join(test_folder(), name);
    assert_non_null(path);
    return path;
}

static void one_holder_at_a_time(void **state)
{
    (void)state;
    char *path = lock_path("a.lock");
    sk_error err = {0};
    sk_lock *first = NULL, *second = NULL;
    sk_lock_holder holder;
    bool taken = true;
    assert_ok(sk_lock_query(path, &taken, &holder, &err), &err); /* no file yet */
    assert_false(taken);
    assert_ok(sk_lock_open(path, 0, &first, NULL, &err), &err);
    assert_ok(sk_lock_query(path, &taken, &holder, &err), &err);
    assert_true(taken);
    assert_int_equal(holder.pid, getpid());
    assert_int_equal(sk_lock_open(path, 0, &second, &holder, &err),
                     SK_ERR_BUSY); /* also inside one process */
    assert_null(second);
    assert_int_equal(holder.pid, getpid());
    assert_non_null(strstr(holder.command, "test_base_lock"));
    assert_true(holder.host[0] != '\0');
    assert_true(sk_clock_wall_ms() - holder.since_ms < 60000);
    assert_non_null(strstr(err.message, "a.lock"));
    assert_non_null(strstr(err.message, "test_base_lock"));
    sk_lock_close(&first);
    assert_null(first);
    assert_ok(sk_lock_query(path, &taken, &holder, &err), &err);
    assert_false(taken);
    assert_int_equal(holder.pid, 0);
    assert_ok(sk_lock_open(path, 0, &second, NULL, &err), &err);
    sk_lock_close(&second);
    sk_lock_close(&second);
    assert_int_equal(sk_file_size(path), 0);
    sk_free(path);
}

static void death_frees_it(void **state)
{
    (void)state;
    char *path = lock_path("b.lock");
    sk_error err = {0};
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sk_lock *lock = NULL;
        char answer = sk_lock_open(path, 0, &lock, NULL, NULL) == SK_OK ? 'y' : 'n';
        if (write(ready[1], &answer, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char answer = 0;
    assert_int_equal(read(ready[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    sk_lock *lock = NULL;
    sk_lock_holder holder = {0};
    assert_int_equal(sk_lock_open(path, 0, &lock, &holder, &err), SK_ERR_BUSY);
    assert_int_equal(holder.pid, child);
    int64_t start = sk_clock_ns();
    assert_int_equal(sk_lock_open(path, 30, &lock, NULL, &err), SK_ERR_BUSY);
    assert_true(sk_clock_ns() - start >= 30 * 1000000ll);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_ok(sk_lock_open(path, 5000, &lock, NULL, &err), &err);
    bool taken;
    assert_ok(sk_lock_query(path, &taken, &holder, &err), &err);
    assert_int_equal(holder.pid, getpid()); /* not what the dead left behind */
    sk_lock_close(&lock);
    close(ready[0]);
    close(ready[1]);
    sk_free(path);
}

static void *free_it_soon(void *argument)
{
    sk_clock_sleep_ns(30000000);
    sk_lock_close(argument);
    return NULL;
}

static void waits_until_it_is_free(void **state)
{
    (void)state;
    char *path = lock_path("c.lock");
    sk_error err = {0};
    sk_lock *first = NULL, *second = NULL;
    assert_ok(sk_lock_open(path, 0, &first, NULL, &err), &err);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_it_soon, &first), 0);
    assert_ok(sk_lock_open(path, -1, &second, NULL, &err), &err);
    pthread_join(thread, NULL);
    assert_null(first);
    sk_lock_close(&second);
    sk_free(path);
}

static void nonsense_in_the_file_is_no_holder(void **state)
{
    (void)state;
    char *path = lock_path("d.lock");
    sk_error err = {0};
    char noise[3000];
    memset(noise, 0xFE, sizeof noise);
    assert_ok(sk_file_replace(path, noise, sizeof noise, &err), &err);
    bool taken = true;
    sk_lock_holder holder;
    assert_ok(sk_lock_query(path, &taken, &holder, &err), &err);
    assert_false(taken);
    sk_lock *lock = NULL, *second = NULL;
    assert_ok(sk_lock_open(path, 0, &lock, NULL, &err), &err);
    FILE *file = fopen(path, "w"); /* somebody scribbles over it while it is held */
    fwrite(noise, 1, sizeof noise, file);
    fclose(file);
    assert_int_equal(sk_lock_open(path, 0, &second, &holder, &err), SK_ERR_BUSY);
    assert_int_equal(holder.pid, 0);
    sk_lock_close(&lock);
    assert_int_equal(sk_lock_open(test_missing("x.lock"), 0, &lock, NULL, &err), SK_ERR_NOT_FOUND);
    sk_free(path);
}

static sk_status take_and_free(void *context, sk_error *err)
{
    sk_lock *lock = NULL;
    SK_TRY(sk_lock_open(context, 0, &lock, NULL, err));
    sk_lock_close(&lock);
    return SK_OK;
}

/* Whoever waits on a file that its holder takes away gets a lock that counts, or waits on. */
static void removed_files_exclude_too(void **state)
{
    (void)state;
    char *path = lock_path("gone.lock");
    sk_error err = {0};
    sk_lock *first = NULL, *second = NULL, *third = NULL;
    pid_t child = fork(); /* before the lock is taken: it would be the child's too */
    assert_true(child >= 0);
    if (child == 0) { /* opens the first file, and must end up with the second */
        sk_lock *mine = NULL;
        bool taken = false;
        sk_lock_holder holder = {0};
        sk_status status = SK_OK;
        for (int i = 0; i < 2000 && status == SK_OK && !taken; i++) {
            status = sk_lock_query(path, &taken, NULL, NULL);
            sk_clock_sleep_ns(5000000);
        }
        if (status == SK_OK)
            status = sk_lock_open(path, 20000, &mine, NULL, NULL);
        if (status == SK_OK)
            status = sk_lock_query(path, &taken, &holder, NULL);
        _exit(status == SK_OK && taken && holder.pid == getpid() ? 0 : 1);
    }
    assert_ok(sk_lock_open(path, 0, &first, NULL, &err), &err);
    sk_clock_sleep_ns(100000000);
    sk_lock_remove(&first);
    assert_null(first);
    if (sk_lock_open(path, 0, &second, NULL, &err) == SK_OK) {
        assert_int_equal(sk_lock_open(path, 0, &third, NULL, &err), SK_ERR_BUSY);
        sk_clock_sleep_ns(50000000);
        sk_lock_remove(&second);
    }
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    sk_free(path);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    char *path = lock_path("e.lock");
    assert_int_equal(test_every_allocation(take_and_free, path), 2);
    sk_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_holder_at_a_time),    cmocka_unit_test(death_frees_it),
        cmocka_unit_test(waits_until_it_is_free),  cmocka_unit_test(nonsense_in_the_file_is_no_holder),
        cmocka_unit_test(survives_lack_of_memory), cmocka_unit_test(removed_files_exclude_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
