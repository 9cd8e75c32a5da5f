/* SPDX-License-Identifier: Apache-2.0 */
/* A machine whose name is as long as Linux allows has it in the name of its locks: machines that share a cache folder do not meet there.
 * The name is given to a process of its own, which needs the right to. */
#include "support/test.h"

#include "base/file.h"
#include "runtime/run_lock.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char name[] = "a-machine-in-the-basement-of-the-institute-for-the-study-of-ants"; /* 64 */

static int lock_is_called_so(const char *folder)
{
    sk_error err = {0};
    sk_run_lock *lock = NULL;
    if (unshare(CLONE_NEWUTS) != 0 || sethostname(name, strlen(name)) != 0)
        return 77;
    setenv("SKITTER_CACHE_DIR", folder, 1);
    if (sk_run_lock_open("here", &lock, &err) != SK_OK)
        return 2;
    char *runs = sk_path_join(folder, "runs");
    DIR *d = opendir(runs);
    int found = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        found += strncmp(e->d_name, name, strlen(name)) == 0;
    if (d)
        closedir(d);
    sk_free(runs);
    sk_run_lock_close(&lock);
    return found == 1 ? 0 : 3;
}

static void it_is_in_the_lock(void **state)
{
    (void)state;
    int status = 0;
    assert_int_equal(strlen(name), 64);
    const char *folder = test_folder();
    pid_t child = fork();
    if (child == 0)
        _exit(lock_is_called_so(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* not ours to name the machine */
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_in_the_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
