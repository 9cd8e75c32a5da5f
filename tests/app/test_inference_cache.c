/* SPDX-License-Identifier: Apache-2.0 */
#include "app/inference_cache.h"
#include "base/file.h"
#include "base/memory.h"
#include "skitter/log.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What models found in a video, kept by what is in it. Whole runs are in test_track.sh. */

static char folder[4300], video[4300], copy[4300];

static void write_file(char *path, const char *name, const char *text)
{
    sk_error err = {0};
    snprintf(path, sizeof video, "%s/%s", test_folder(), name);
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static sk_inference_cache *open_it(const char *source, const char *identity, char why[512])
{
    sk_error err = {0};
    sk_inference_cache *cache = NULL;
    const sk_inference_wish wish = {folder, source, identity};
    assert_ok(sk_inference_cache_open(&wish, &cache, why, &err), &err);
    return cache;
}

static char heard[2048];

static void hear(void *context, sk_log_level level, const char *message)
{
    (void)context;
    if (level == SK_LOG_WARN)
        snprintf(heard, sizeof heard, "%s", message);
}

static void append(sk_inference_cache *cache, int64_t index)
{
    static const sk_instances nothing = {0};
    const sk_result_frame frame = {.source = "a.mp4", .index = index, .instances = &nothing};
    sk_inference_cache_append(cache, &frame);
}

static sk_status visit(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    assert_int_equal(frame->index, (*(int64_t *)context)++);
    return SK_OK;
}

static void kept_by_content(void **state)
{
    (void)state;
    char why[512];
    snprintf(folder, sizeof folder, "%s/by_content", test_folder());
    write_file(video, "a.mp4", "frames of a video");
    write_file(copy, "b.mp4", "frames of a video");
    sk_inference_cache *c = open_it(video, "source\ta.mp4\nsource_time\t1\nconf\t0.25\n", why);
    assert_non_null(c);
    append(c, 0), append(c, 1);
    sk_inference_cache_close(&c);

    /* elsewhere, by another name, later: the same; it goes on */
    c = open_it(copy, "source\tb.mp4\nsource_time\t2\nconf\t0.25\n", why);
    assert_int_equal(sk_inference_cache_count(c), 2);
    assert_false(sk_inference_cache_complete(c));
    append(c, 2);
    sk_inference_cache_finish(c);
    sk_inference_cache_close(&c);
    c = open_it(video, "source\ta.mp4\nsource_time\t1\nconf\t0.25\n", why);
    assert_true(sk_inference_cache_complete(c));
    append(c, 3); /* complete is complete */
    int64_t next = 1;
    sk_error err = {0};
    assert_ok(sk_inference_cache_replay(c, 1, visit, &next, &err), &err);
    assert_int_equal(next, 3);
    sk_inference_cache_close(&c);

    /* other settings, other content: other caches */
    c = open_it(video, "source\ta.mp4\nsource_time\t1\nconf\t0.5\n", why);
    assert_int_equal(sk_inference_cache_count(c), 0);
    sk_inference_cache_close(&c);
    write_file(video, "a.mp4", "frames of a vidEo");
    c = open_it(video, "source\ta.mp4\nsource_time\t1\nconf\t0.25\n", why);
    assert_int_equal(sk_inference_cache_count(c), 0);
    sk_inference_cache_close(&c);
}

static void a_torn_end_is_cut_off(void **state)
{
    (void)state;
    char why[512], path[4400];
    snprintf(folder, sizeof folder, "%s/torn", test_folder());
    write_file(video, "t.mp4", "torn");
    sk_inference_cache *c = open_it(video, "conf\t1\n", why);
    append(c, 0), append(c, 1);
    snprintf(path, sizeof path, "%s", sk_inference_cache_path(c));
    sk_inference_cache_close(&c);
    assert_int_equal(truncate(path, sk_file_size(path) - 5), 0);
    c = open_it(video, "conf\t1\n", why);
    assert_int_equal(sk_inference_cache_count(c), 1);
    sk_inference_cache_close(&c);
    assert_int_equal(truncate(path, 20), 0); /* not even its head */
    c = open_it(video, "conf\t1\n", why);
    assert_non_null(c);
    assert_int_equal(sk_inference_cache_count(c), 0);
    sk_inference_cache_close(&c);
}

/* Whatever lies there: no run fails for it, nor is told to choose another folder for its results. */
static void what_is_no_journal(void **state)
{
    (void)state;
    char why[512], path[4400], lock[4400];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/garbage", test_folder());
    write_file(video, "g.mp4", "garbage");
    sk_inference_cache *c = open_it(video, "conf\t1\n", why);
    snprintf(path, sizeof path, "%s", sk_inference_cache_path(c));
    sk_inference_cache_close(&c);
    assert_ok(sk_file_replace(path, "no journal, and longer than the head of one", 43, &err), &err);
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    c = open_it(video, "conf\t1\n", why); /* it is the cache's own: begun anew */
    assert_non_null(strstr(heard, ".skj: what was kept is damaged, and is computed anew"));
    assert_non_null(c);
    append(c, 0);
    assert_int_equal(sk_inference_cache_count(c), 1);
    sk_inference_cache_close(&c);

    /* nothing can be written: it goes without, in words */
    snprintf(lock, sizeof lock, "%.*s.lock", (int)(strlen(path) - strlen(".skj")), path);
    (void)unlink(path), (void)unlink(lock);
    assert_int_equal(mkdir(lock, 0777), 0);
    c = open_it(video, "conf\t1\n", why);
    sk_log_unlisten(&listener);
    assert_null(c);
    assert_non_null(strstr(heard, "--cache"));
}

static void two_at_once(void **state)
{
    (void)state;
    char why[512];
    snprintf(folder, sizeof folder, "%s/two", test_folder());
    write_file(video, "two.mp4", "two");
    sk_inference_cache *first = open_it(video, "", why), *second = open_it(video, "", why);
    assert_null(second); /* one of them fills it; the other goes without */
    assert_non_null(strstr(why, "another run"));
    append(first, 0);
    sk_inference_cache_finish(first);
    second = open_it(video, "", why); /* a complete one is for all */
    assert_true(sk_inference_cache_complete(second));
    sk_inference_cache_close(&second);
    sk_inference_cache_close(&first);
    assert_null(open_it("rtsp://camera/1", "", why));
    assert_non_null(strstr(why, "files of video"));
}

static void listed_and_removed(void **state)
{
    (void)state;
    char why[512];
    sk_error err = {0};
    sk_inference_row *rows = NULL;
    size_t count = 0;
    snprintf(folder, sizeof folder, "%s/listed", test_folder());
    write_file(video, "listed.mp4", "listed");
    sk_inference_cache *c = open_it(video, "conf\t1\n", why);
    sk_inference_cache_finish(c);
    sk_inference_cache_close(&c);
    c = open_it(video, "conf\t2\n", why);
    assert_ok(sk_inference_cache_list(folder, &rows, &count, &err), &err);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(rows[i].name, "listed.mp4");
        assert_true(rows[i].bytes > 0);
        const bool used = strcmp(rows[i].path, sk_inference_cache_path(c)) == 0;
        assert_true(rows[i].complete != used);
        assert_int_equal(sk_inference_cache_remove(rows[i].path, &err), used ? SK_ERR_BUSY : SK_OK);
    }
    sk_inference_cache_list_free(rows, count);
    sk_inference_cache_close(&c);
    /* what is hidden, called otherwise, no journal or no file at all is not listed */
    char path[4400];
    static const char *const others[] = {".hidden.skj", "note.txt", "text.skj"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, others[i]);
        assert_ok(sk_file_replace(path, "text that is longer than the head of a journal is", 49, &err), &err);
    }
    snprintf(path, sizeof path, "%s/folder.skj", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_ok(sk_inference_cache_list(folder, &rows, &count, &err), &err);
    assert_int_equal(count, 1);
    sk_inference_cache_list_free(rows, count);
    assert_int_equal(sk_inference_cache_remove(path, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "folder.skj: cannot be removed: "));
    snprintf(path, sizeof path, "%s/gone.skj", folder);
    assert_ok(sk_inference_cache_remove(path, &err), &err); /* somebody else has just done it */
    assert_false(sk_file_exists(path));
}

/* The disk is full: that is told once, and the run goes on. */
static void when_the_disk_is_full(void **state)
{
    (void)state;
    char why[512];
    sk_error err = {0};
    struct rlimit most;
    sk_log_listener *listener = NULL;
    snprintf(folder, sizeof folder, "%s/full", test_folder());
    write_file(video, "full.mp4", "full");
    sk_inference_cache *c = open_it(video, "conf\t1\n", why);
    append(c, 0);
    sk_inference_cache_flush(c);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &most), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    heard[0] = '\0';
    const struct rlimit here = {.rlim_cur = (rlim_t)sk_file_size(sk_inference_cache_path(c)),
                                .rlim_max = most.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &here), 0);
    for (int64_t i = 1; i < 4; i++) {
        append(c, i);
        sk_inference_cache_flush(c);
        assert_int_equal(strstr(heard, "what is found is no longer kept for another tracking: ") != NULL,
                         i == 1);
        heard[0] = '\0';
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
    append(c, 4);
    sk_inference_cache_finish(c); /* no more of it */
    sk_inference_cache_close(&c);
    sk_log_unlisten(&listener);
    c = open_it(video, "conf\t1\n", why);
    assert_false(sk_inference_cache_complete(c));
    assert_in_range(sk_inference_cache_count(c), 1, 2);
    sk_inference_cache_close(&c);
    /* nobody's */
    assert_true(sk_inference_cache_count(NULL) == 0 && !sk_inference_cache_complete(NULL) &&
                !sk_inference_cache_path(NULL));
    sk_inference_cache_append(NULL, NULL);
    sk_inference_cache_flush(NULL);
    sk_inference_cache_finish(NULL);
    assert_ok(sk_inference_cache_replay(NULL, 0, visit, NULL, &err), &err);
}

/* Sixteen GiB are kept, and what was used last: of seven caches of three, which are hollow, the two unused for longest go. */
static void old_ones_go(void **state)
{
    (void)state;
    static const int order[] = {3, 0, 5, 1, 6, 4, 2}; /* the fourth is the oldest */
    char why[512], identity[32], paths[7][4400];
    const off_t large = (off_t)3 << 30;
    snprintf(folder, sizeof folder, "%s/old", test_folder());
    write_file(video, "old.mp4", "old");
    sk_inference_cache *c = NULL;
    for (int i = 0; i < 7; i++) {
        snprintf(identity, sizeof identity, "conf\t%d\n", i);
        c = open_it(video, identity, why);
        snprintf(paths[i], sizeof paths[i], "%s", sk_inference_cache_path(c));
        sk_inference_cache_close(&c);
    }
    for (int i = 0; i < 7; i++) {
        const struct timespec when[2] = {{.tv_sec = 1000000 + 100 * i}, {.tv_sec = 1000000 + 100 * i}};
        if (truncate(paths[order[i]], large) != 0)
            skip(); /* a file system without holes, or without room */
        assert_int_equal(utimensat(AT_FDCWD, paths[order[i]], when, 0), 0);
    }
    c = open_it(video, "conf\tnew\n", why);
    for (int i = 0; i < 7; i++)
        assert_int_equal(sk_file_exists(paths[order[i]]), i > 1);
    assert_true(sk_file_exists(sk_inference_cache_path(c)));
    sk_inference_cache_close(&c);
    for (int i = 0; i < 7; i++) {
        const struct timespec when[2] = {{.tv_sec = 1000000 + 100 * i}, {.tv_sec = 1000000 + 100 * i}};
        assert_true(i < 2 || utimensat(AT_FDCWD, paths[order[i]], when, 0) == 0);
    }
    c = open_it(video, "conf\tnewer\n", why); /* the rest fits */
    for (int i = 2; i < 7; i++)
        assert_true(sk_file_exists(paths[order[i]]));
    sk_inference_cache_close(&c);
    sk_folder_empty_own(folder, NULL);
}

/* Only files of video have a content that stays. */
static void what_is_not_kept(void **state)
{
    (void)state;
    char why[512];
    snprintf(folder, sizeof folder, "%s/not", test_folder());
    static const char *const sources[] = {"rtsp://camera/1", "/tmp", "a/%03d.png", "-"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        assert_null(open_it(sources[i], "", why));
        assert_string_equal(
            why, "what is found is not kept for another tracking: that is done for files of video");
    }
    assert_false(sk_file_exists(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_by_content),    cmocka_unit_test(a_torn_end_is_cut_off),
        cmocka_unit_test(what_is_no_journal), cmocka_unit_test(two_at_once),
        cmocka_unit_test(listed_and_removed), cmocka_unit_test(when_the_disk_is_full),
        cmocka_unit_test(old_ones_go),        cmocka_unit_test(what_is_not_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
