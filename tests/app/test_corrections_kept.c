/* SPDX-License-Identifier: Apache-2.0 */
/* A step that could not be kept is said, and has not been taken: a disk that takes no more, or fails, at each call that writes the file of
 * corrections. */
#include "track_fixture.h"

#include "app/correct.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the calls that write it --- */

typedef enum call { TRUNCATE, WRITE, SYNC, CLOSE, CALLS } call;
static int code[CALLS]; /* 0: it works */
static int done[CALLS], folders_synced;
static size_t most; /* so many bytes are written before it fails; 0: none */

/* Whether the descriptor is that of the file, and whether this call of it is to fail. */
static bool fails(int file, call which)
{
    char link[64], path[512];
    struct stat info;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    if (which == SYNC && fstat(file, &info) == 0 && S_ISDIR(info.st_mode))
        folders_synced++;
    if (!strstr(path, "/corrections.jsonl"))
        return false;
    done[which]++;
    errno = code[which];
    return code[which] != 0;
}

#define REAL(pointer, name)                                                                                  \
    do {                                                                                                     \
        void *symbol_ = dlsym(RTLD_NEXT, name);                                                              \
        memcpy(&(pointer), &symbol_, sizeof(pointer));                                                       \
    } while (0)

__attribute__((visibility("default"))) int ftruncate(int file, off_t length)
{
    static int (*real)(int, off_t);
    if (!real)
        REAL(real, "ftruncate");
    return fails(file, TRUNCATE) ? -1 : real(file, length);
}

__attribute__((visibility("default"))) ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        REAL(real, "pwrite");
    if (!fails(file, WRITE))
        return real(file, bytes, count, at);
    if (!most)
        return -1;
    const ssize_t some = real(file, bytes, count < most ? count : most, at);
    most = 0;
    return some;
}

__attribute__((visibility("default"))) int fsync(int file)
{
    static int (*real)(int);
    if (!real)
        REAL(real, "fsync");
    return fails(file, SYNC) ? -1 : real(file);
}

__attribute__((visibility("default"))) int close(int file)
{
    static int (*real)(int);
    if (!real)
        REAL(real, "close");
    const bool wrong = fails(file, CLOSE);
    const int as = errno, status = real(file);
    if (wrong)
        errno = as;
    return wrong ? -1 : status;
}

/* --- steps --- */

static sk_run_view *look(void)
{
    sk_run_view *v = NULL;
    assert_ok(sk_run_view_open("run", &v, &err), &err);
    return v;
}

static sk_status leave_out(sk_run_view *v, int64_t frame)
{
    const sk_correction c = {
        .kind = SK_CORRECTION_DELETE, .a = 1, .b = -1, .from = frame, .to = frame, .prefer = -1};
    memset(done, 0, sizeof done);
    folders_synced = 0;
    return sk_correct_step(v, SK_STEP_ADD, &c, &err);
}

static size_t count(const sk_run_view *v)
{
    sk_run_view_info info;
    sk_run_view_get_info(v, &info);
    assert_string_equal(info.notice, "");
    return info.corrections->count;
}

static size_t lines(void)
{
    char *text = text_of("run", "corrections.jsonl");
    size_t n = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        n++;
    assert_true(!text[0] || text[strlen(text) - 1] == '\n');
    sk_free(text);
    return n;
}

static void what_cannot_be_kept(void **state)
{
    (void)state;
    static const struct {
        call which;
        int code;
        size_t most;
        const char *told; /* null: it is kept all the same */
    } rows[] = {{TRUNCATE, EIO, 0, "cutting off a line that was not finished failed: Input/output error"},
                {WRITE, EIO, 0, "writing failed: Input/output error"},
                {WRITE, ENOSPC, 20, "writing failed: No space left on device"},
                {SYNC, EIO, 0, "syncing failed: Input/output error"},
                {SYNC, EINVAL, 0, NULL}, /* a file system that has nothing to sync */
                {CLOSE, EIO, 0, "closing failed: Input/output error"}};
    sk_run_view *v = look();
    for (int first = 1; first >= 0; first--) { /* the file is made, or goes on */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const size_t before = first ? 0 : count(v);
            if (first) {
                (void)unlink("run/corrections.jsonl");
                sk_run_view_close(&v);
                v = look();
            }
            const size_t had = first ? 0 : lines();
            code[rows[i].which] = rows[i].code;
            most = rows[i].most;
            const sk_status status = leave_out(v, first ? 13 : (int64_t)i);
            memset(code, 0, sizeof code);
            if (!rows[i].told) {
                assert_ok(status, &err);
                assert_int_equal(count(v), before + 1);
                continue;
            }
            assert_int_equal(status, SK_ERR_IO);
            char wanted[200];
            snprintf(wanted, sizeof wanted, "run/corrections.jsonl: %s", rows[i].told);
            assert_int_equal(strncmp(err.message, wanted, strlen(wanted)), 0);
            if (rows[i].which == CLOSE) /* it may be there: who looks is told what there is */
                continue;
            assert_int_equal(count(v), before);
            assert_int_equal(lines(), had);
            assert_ok(leave_out(v, first ? 13 : (int64_t)i), &err); /* and the next time it is taken */
            assert_int_equal(count(v), before + 1);
            assert_int_equal(lines(), had + (had ? 1 : 2));
        }
    }
    sk_run_view_close(&v);
}

/* A step is on the disk when it has been taken; so is the file's name, once. */
static void on_the_disk(void **state)
{
    (void)state;
    (void)unlink("run/corrections.jsonl");
    sk_run_view *v = look();
    for (int i = 0; i < 3; i++) {
        assert_ok(leave_out(v, 4 + i), &err);
        assert_true(done[SYNC] == 1 && done[WRITE] >= 1 && done[CLOSE] >= 1);
        assert_int_equal(folders_synced, i == 0);
        assert_int_equal(lines(), 2 + i);
    }
    sk_run_view_close(&v);
}

/* A line without its end was being written when somebody died: the next step takes its place. */
static void an_end_that_is_missing(void **state)
{
    (void)state;
    char *text = text_of("run", "corrections.jsonl");
    const size_t whole = strlen(text);
    sk_text torn = {0};
    sk_text_append(&torn, text);
    sk_text_append(
        &torn, "{\"do\":\"delete\",\"tracks\":[1],\"from\":0,\"to\":0, and a long remark that is nobody's");
    put("run/corrections.jsonl", sk_text_get(&torn));
    sk_text_free(&torn);
    sk_run_view *v = look();
    const size_t before = count(v);
    errno = ENOENT; /* what failed before says nothing of this file */
    sk_corrections again = {0};
    assert_ok(sk_corrections_load(v, &again, &err), &err);
    assert_int_equal(again.count, before);
    sk_corrections_free(&again);
    assert_ok(leave_out(v, 11), &err);
    assert_int_equal(count(v), before + 1);
    char *now = text_of("run", "corrections.jsonl");
    assert_int_equal(strncmp(now, text, whole), 0);
    assert_int_equal(strncmp(now + whole, "{\"do\":\"delete\"", 14), 0);
    assert_null(strstr(now, "remark"));
    assert_int_equal(strlen(now), whole + strcspn(now + whole, "\n") + 1);
    sk_free(text);
    sk_free(now);
    sk_run_view_close(&v);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    static const char *const formats[] = {"jsonl", NULL};
    static track_trial t;
    put_mice("mice.csv", 14);
    trial_defaults(&t, "mice.csv", "run", formats);
    assert_ok(trial_run(&t), &err);
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_kept), cmocka_unit_test(on_the_disk),
                                       cmocka_unit_test(an_end_that_is_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
