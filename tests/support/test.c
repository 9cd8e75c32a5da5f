/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char paths[4][4096];
static int next_path;

static const char *join(const char *folder, const char *relative)
{
    char *path = paths[next_path++ & 3];
    if (snprintf(path, sizeof paths[0], "%s/%s", folder, relative) >= (int)sizeof paths[0])
        abort();
    return path;
}

const char *test_data_folder(void)
{
    const char *folder = getenv("SKITTER_TEST_DATA");
    struct stat info;
    return folder && *folder && stat(folder, &info) == 0 && S_ISDIR(info.st_mode) ? folder : NULL;
}

const char *test_data(const char *relative)
{
    return join(test_data_folder(), relative);
}

const char *test_source(const char *relative)
{
    const char *folder = getenv("SKITTER_TEST_SOURCE");
    return join(folder ? folder : ".", relative);
}

static char own_folder[4096];

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
    (void)info;
    (void)type;
    (void)position;
    return remove(path);
}

static void remove_own_folder(void)
{
    nftw(own_folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_folder(void)
{
    if (!own_folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(own_folder, sizeof own_folder, "%s/skitter-test-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(own_folder)) {
            perror(own_folder);
            exit(1);
        }
        atexit(remove_own_folder);
    }
    return own_folder;
}

const char *test_missing(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "missing/%s", name);
    return join(test_folder(), path);
}

void test_text_is(const char *relative, const char *text)
{
    const bool rewrite = getenv("SKITTER_TEST_REWRITE") != NULL;
    const char *path = test_source(relative);
    FILE *file = fopen(path, rewrite ? "w" : "r");
    size_t at = 0, begin = 0;
    if (!file)
        fail_msg("%s cannot be opened", path);
    if (rewrite) {
        fputs(text, file);
        fclose(file);
        return;
    }
    char line[2][512] = {"", ""}; /* the first that differs */
    for (int c; (c = fgetc(file)) != EOF && text[at] == (char)c; at++)
        begin = c == '\n' ? at + 1 : begin;
    const bool same = feof(file) && !text[at];
    if (fseek(file, (long)begin, SEEK_SET) == 0)
        line[0][fread(line[0], 1, sizeof line[0] - 1, file)] = '\0';
    fclose(file);
    snprintf(line[1], sizeof line[1], "%s", text + begin);
    if (!same)
        fail_msg("%s, byte %zu: it says '%.*s', and here is '%.*s'", path, at, (int)strcspn(line[0], "\n"),
                 line[0], (int)strcspn(line[1], "\n"), line[1]);
}

/* What a test's process still holds at its end has leaked; the build with sanitizers says where it was allocated. Processes that
 * it forks have memory of its, and are not asked. */
static pid_t own_process;
bool test_keeps_memory;

/* Descriptors that are open; of those above them nobody asks. */
enum { FILES_MOST = 256 };
static bool open_before[FILES_MOST];

static bool is_open(int file)
{
    return fcntl(file, F_GETFD) != -1;
}

__attribute__((constructor)) static void note_process(void)
{
    own_process = getpid();
    for (int file = 0; file < FILES_MOST; file++)
        open_before[file] = is_open(file);
}

/* What a test leaves open, by name; null: nothing. */
static const char *left_open(void)
{
    static char name[300];
    for (int file = 3; file < FILES_MOST; file++)
        if (!open_before[file] && is_open(file)) {
            char link[32];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            const ssize_t length = readlink(link, name, sizeof name - 1);
            name[length > 0 ? length : 0] = '\0';
            return name;
        }
    return NULL;
}

__attribute__((destructor)) static void nothing_is_left(void)
{
    const long long left = (long long)sk_memory_live_bytes();
    if (getpid() != own_process || test_keeps_memory || !getenv("SKITTER_TEST_LEAKS"))
        return;
    const char *file = left_open();
    if (left == 0 && !file)
        return;
    if (left)
        fprintf(stderr, "the test leaves %lld bytes allocated\n", left);
    if (file)
        fprintf(stderr, "the test leaves %s open\n", file);
    _exit(1);
}

/* A lock is given back by who holds it: what one forgot to take mostly goes well, so it is asked here. The sanitizers have an
 * answer of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    static int (*_Atomic next)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *) = next;
    if (!unlock) {
        *(void **)&unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
        next = unlock;
    }
    if (lock->__data.__kind == 0 && lock->__data.__lock == 0) {
        static const char words[] = "a lock is given back that nobody holds\n";
        (void)!write(2, words, sizeof words - 1);
        abort();
    }
    return unlock(lock);
}
#endif
