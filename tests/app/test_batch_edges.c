/* SPDX-License-Identifier: Apache-2.0 */
/* Batches at their edges: names that are taken, more pieces than a folder holds, paths that are too long, a list that is damaged; and
 * attempts that cannot be started. */
#include "batch_fixture.h"

#include "app/batch_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>

static sk_status begun(const char *out, const char *const *videos, size_t n, bool dry, bool restart,
                       sk_batch **b)
{
    static char *const no_words[] = {NULL};
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    const sk_batch_how how = {.retries = 1};
    sk_source_defaults(&media);
    *b = NULL;
    assert_ok(sk_source_list_make(videos, n, &list, &err), &err);
    const sk_batch_wish wish = {.out = out,
                                .command = "track",
                                .words = no_words,
                                .videos = &list,
                                .media = &media,
                                .how = &how,
                                .dry = dry,
                                .restart = restart};
    const sk_status status = sk_batch_begin(&wish, b, &err);
    sk_source_list_free(&list);
    return status;
}

/* Of videos that are called the same, and come one after the other, each has a folder of its own. */
static void names_that_are_taken(void **state)
{
    (void)state;
    static const char *const videos[] = {"x/a.mp4", "y/a.mp4", "z/a.mp4"};
    static const char *const names[] = {"a", "a_2", "a_3"};
    sk_batch *b = NULL;
    for (int i = 0; i < 3; i++) {
        char folder_of[2] = {"xyz"[i], '\0'};
        assert_ok(sk_folder_make(folder_of, &err), &err);
        put(videos[i], "x");
        assert_ok(begun("names", videos + i, 1, false, false, &b), &err);
        assert_true(b->pieces == i + 1 && b->videos == i + 1);
        for (int k = 0; k <= i; k++) {
            assert_string_equal(sk_batch_piece_of(b, k, &err)->name, names[k]);
            assert_string_equal(sk_batch_piece_of(b, k, &err)->source, videos[k]);
        }
        sk_batch_close(&b);
    }
}

static void more_than_a_folder_holds(void **state)
{
    (void)state;
    enum { MANY = 2001 };
    static char names[MANY][16];
    static const char *videos[MANY];
    sk_batch *b = NULL;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "v%04d.mp4", i);
        videos[i] = names[i];
    }
    static const int counts[] = {1000, 1001, 2001}; /* it goes on with more, over a folder's end */
    for (int i = 0; i < 3; i++) {
        assert_ok(begun("large", videos, (size_t)counts[i], false, false, &b), &err);
        assert_int_equal(b->pieces, counts[i]);
        sk_batch_close(&b);
        assert_ok(sk_batch_open("large", &b, &err), &err);
        assert_true(b->pieces == counts[i] && b->round == i + 1);
        for (int k = 0; k < counts[i]; k += k == 999 ? 1 : 111) {
            const sk_batch_piece *p = sk_batch_piece_of(b, k, &err);
            assert_true(p && p->number == k && p->kind == SK_BATCH_VIDEO);
            assert_string_equal(p->source, names[k]);
        }
        assert_null(sk_batch_piece_of(b, counts[i], &err));
        assert_null(sk_batch_piece_of(b, -1, &err));
        sk_batch_close(&b);
        assert_int_equal(sk_file_exists("large/.batch/pieces/0001/list"), i > 0);
        assert_int_equal(sk_file_exists("large/.batch/pieces/0002/list"), i > 1);
    }
}

static void paths_that_are_too_long(void **state)
{
    (void)state;
    static const char *const videos[] = {"x/a.mp4"};
    static char out[4200];
    sk_batch *b = NULL;
    for (int over = 0; over < 2; over++) { /* the whole path has 3900 characters, or one more */
        const size_t length = (size_t)(3900 + over);
        memset(out, 'o', length);
        for (size_t i = 0; i + 1 < length; i += 100)
            out[i] = '/';
        out[length] = '\0';
        const sk_status status = begun(out, videos, 1, true, false, &b);
        assert_int_equal(status, over ? SK_ERR_LIMIT : SK_OK);
        if (over)
            assert_non_null(strstr(err.message, "oo…: this path is too long"));
        sk_batch_close(&b);
        assert_int_equal(sk_batch_open(out, &b, &err), over ? SK_ERR_LIMIT : SK_ERR_NOT_FOUND);
        assert_int_equal(strstr(err.message, "oo…: this path is too long") != NULL, over);
    }
}

/* What cannot be read is refused, and removed where somebody begins anew. */
static void a_list_that_is_damaged(void **state)
{
    (void)state;
    static const char *const videos[] = {"x/a.mp4"};
    sk_batch *b = NULL;
    assert_ok(begun("damaged", videos, 1, false, false, &b), &err);
    sk_batch_close(&b);
    put("damaged/.batch/batch.json", "{");
    assert_int_equal(begun("damaged", videos, 1, false, false, &b), SK_ERR_FORMAT);
    assert_null(b);
    assert_ok(begun("damaged", videos, 1, true, true, &b), &err); /* dry: it is still there */
    sk_batch_close(&b);
    assert_int_equal(begun("damaged", videos, 1, false, false, &b), SK_ERR_FORMAT);
    put("damaged/.batch/work/left", "x");
    put("damaged/.batch/cancelled", "");
    assert_ok(begun("damaged", videos, 1, false, true, &b), &err);
    assert_true(b->pieces == 1 && b->round == 1 && !sk_batch_is_cancelled(b));
    assert_false(sk_file_exists("damaged/.batch/work/left"));
    sk_batch_close(&b);
}

/* --- attempts --- */

static int descriptors(void)
{
    int n = 0;
    DIR *open_ones = opendir("/proc/self/fd");
    while (readdir(open_ones))
        n++;
    closedir(open_ones);
    return n;
}

/* With few descriptors left something fails, whatever it is: it is put down, told, and nothing stays open. */
static void few_descriptors(void **state)
{
    (void)state;
    static const char *const videos[] = {"good.mp4"};
    struct rlimit most;
    int failures = 0;
    sk_batch *b = begin("few", videos, 1, 1, 1);
    const sk_batch_piece *piece = sk_batch_piece_of(b, 0, &err);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    const int before = descriptors();
    for (int room = 1; room < 9; room++) {
        const int free_one = dup(0);
        close(free_one);
        const struct rlimit few = {.rlim_cur = (rlim_t)(free_one + room), .rlim_max = most.rlim_max};
        const sk_batch_look look = {.attempts = room};
        sk_batch_attempt a;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const sk_status status = sk_batch_attempt_start(b, piece, &look, 0, &a, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
        if (status == SK_OK) {
            int code = 0;
            sk_batch_done end;
            while (!sk_batch_attempt_listen(&a, &code))
                usleep(10000);
            assert_ok(sk_batch_attempt_finish(b, &a, code, NULL, &end, &err), &err);
            break;
        }
        failures++;
        assert_true(status == SK_ERR_IO || status == SK_ERR_RUNTIME);
        assert_true(!a.piece && a.events == -1 && a.summary == -1 && a.claim.file == -1);
        assert_int_equal(descriptors(), before);
    }
    assert_true(failures > 2);
    sk_batch_close(&b);
}

/* What was said at last, in a log that may be long or strange. */
static void last_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body, *reason;
    } rows[] = {
        {"w1.mp4", "printf 'one\\ntwo\\n\\n\\n' >&2; exit 7", "two"},
        {"w2.mp4", "printf 'only' >&2; exit 7", "only"},
        {"w3.mp4", "printf '\\n\\n' >&2; exit 7", "exit code 7"},
        {"w4.mp4", "exit 255", "exit code 255"},
        {"w5.mp4", "echo logged >&2; echo '{\"event\":\"end\",\"message\":\"told\"}' >&3; exit 9", "told"},
        {"w6.mp4", "echo logged >&2; echo 'no JSON' >&3; exit 9", "logged"},
        {"w7.mp4", "kill -15 $$", "ended by signal 15 (Terminated)"},
        {"w8.mp4", "kill -9 $$", "ended by signal 9 (Killed): out of memory?"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[16], script[512];
        sk_batch_worked worked;
        sk_batch_done end;
        snprintf(out, sizeof out, "words%zu", i);
        sk_batch *b = begin(out, &rows[i].name, 1, 0, 0);
        snprintf(script, sizeof script, "#!/bin/sh\n%s\n", rows[i].body);
        put("program", script);
        assert_int_equal(chmod("program", 0755), 0);
        const sk_batch_work how = {.batch = b, .slots = 1};
        assert_ok(sk_batch_work_run(&how, &worked, &err), &err);
        assert_true(worked.failed == 1 && sk_batch_end_read(b, 0, 1, &end));
        assert_string_equal(end.reason, rows[i].reason);
        assert_int_equal(end.outcome, SK_BATCH_FAILED);
        sk_batch_close(&b);
    }
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_taken),    cmocka_unit_test(more_than_a_folder_holds),
        cmocka_unit_test(paths_that_are_too_long), cmocka_unit_test(a_list_that_is_damaged),
        cmocka_unit_test(few_descriptors),         cmocka_unit_test(last_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
