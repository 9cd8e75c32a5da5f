/* SPDX-License-Identifier: Apache-2.0 */
/* A video in parts: each is found by a process of its own, the merge waits for them and is told where they lie, parts go once it is done;
 * where the video has changed since, they are done anew. */
#include "support/test.h"

#include "app/batch_status.h"
#include "app/batch_work.h"
#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[2048];
static sk_error err;
static sk_text told;

static void put(const char *path, const char *text)
{
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

/* Says what it was asked, and ends as the file "ends" says. */
static const char program[] =
    "#!/bin/sh\n"
    "for w; do case $w in --out=*) out=${w#--out=};; --frames=*) part=$w;; esac; done\n"
    "shift; echo \"$*\" >>'%s/asked'\n"
    "mkdir -p \"$out\"; echo x >\"$out/results.csv\"\n"
    "case $part in *=1:2) exit $(cat '%s/ends');; esac\n"
    "exit 0\n";

static void tell(void *context, const char *note)
{
    (void)context;
    sk_text_appendf(&told, "%s\n", note);
}

static sk_batch *begin(const char *out)
{
    static const char *const videos[] = {"v.mp4"};
    static char *const no_words[] = {NULL};
    sk_batch *b = NULL;
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    char path[4096], text[8192];
    sk_source_defaults(&media);
    assert_ok(sk_source_list_make(videos, 1, &list, &err), &err);
    const sk_batch_how how = {.retries = 0, .losses = 1};
    const sk_batch_wish wish = {.out = out,
                                .command = "predict",
                                .words = no_words,
                                .videos = &list,
                                .media = &media,
                                .how = &how,
                                .split = 1,
                                .tell = tell};
    sk_text_clear(&told);
    assert_ok(sk_batch_begin(&wish, &b, &err), &err);
    sk_source_list_free(&list);
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(text, sizeof text, program, folder, folder);
    put(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    sk_free(b->program);
    b->program = sk_strdup(path);
    (void)unlink("asked");
    return b;
}

static sk_batch_worked work(sk_batch *b, const int64_t *pieces, int64_t count)
{
    sk_batch_worked w;
    const sk_batch_work how = {.batch = b, .pieces = pieces, .count = count, .slots = 1, .merges = true};
    assert_ok(sk_batch_work_run(&how, &w, &err), &err);
    return w;
}

static bool is_done(sk_batch *b, int64_t number)
{
    sk_batch_done done;
    return sk_batch_done_read(b, number, &done);
}

/* Copies of a video of three frames: three parts and a merge. */
static void need_video(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    skip();
#endif
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(test_source("tests/fixtures/colours/bt709.mp4"), 1 << 24, &bytes, &length, &err),
              &err);
    assert_ok(sk_file_replace("v.mp4", bytes, length, &err), &err);
    sk_free(bytes);
}

static void parts_and_their_merge(void **state)
{
    (void)state;
    need_video();
    put("ends", "0");
    sk_batch *b = begin("split");
    const int64_t n = b->pieces;
    assert_true(n >= 3 && sk_batch_piece_of(b, n - 1, &err)->kind == SK_BATCH_MERGE);
    assert_false(sk_batch_parts_done(b, sk_batch_piece_of(b, n - 1, &err)));
    sk_batch_look look;
    sk_batch_look_at(b, sk_batch_piece_of(b, n - 1, &err), &look);
    assert_int_equal(look.state, SK_PIECE_BLOCKED);
    const int64_t first[] = {0};
    sk_batch_worked w = work(b, first, 1); /* one part: its merge cannot be yet */
    assert_true(w.done == 1 && w.elsewhere == 1);
    w = work(b, NULL, 0);
    assert_true(w.done == n - 1 && w.failed == 0 && w.elsewhere == 0);
    for (int64_t i = 0; i < n; i++) {
        char path[SK_BATCH_PATH];
        assert_true(is_done(b, i) && !sk_file_exists(sk_batch_work_path(b, i, 1, path)));
    }
    assert_true(sk_file_exists("split/v/results.csv"));
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("asked", 1 << 20, &text, &length, &err), &err);
    const char *merge = strstr(text, "--found=");
    assert_non_null(merge);
    int found = 0, parts = 0;
    for (const char *at = text; (at = strstr(at, "--found=")); at++)
        found++;
    for (const char *at = text; (at = strstr(at, "--find-only")); at++)
        parts++;
    assert_true(found == n - 1 && parts == n - 1);
    sk_free(text);
    sk_batch_close(&b);
}

/* In whatever order they are named: a merge that came first is made once its parts are there. */
static void the_merge_first(void **state)
{
    (void)state;
    need_video();
    put("ends", "0");
    sk_batch *b = begin("turned");
    assert_int_equal(b->pieces, 4);
    const int64_t order[] = {3, 2, 0, 1};
    sk_batch_worked w;
    const sk_batch_work how = {.batch = b, .pieces = order, .count = 4, .slots = 1};
    assert_ok(sk_batch_work_run(&how, &w, &err), &err);
    assert_true(w.done == 4 && is_done(b, 3) && sk_file_exists("turned/v/results.csv"));
    sk_batch_close(&b);
}

/* A part whose video is cut off there: those behind it need not be, and the merge goes on with what there is. */
static void a_video_that_is_cut_off(void **state)
{
    (void)state;
    need_video();
    put("ends", "4");
    sk_batch *b = begin("cut");
    const int64_t n = b->pieces, two[] = {0, 1};
    sk_batch_worked w = work(b, two, 2);
    assert_int_equal(w.done, 3); /* the merge, too */
    assert_true(is_done(b, n - 1) && sk_file_exists("cut/v/results.csv"));
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    assert_ok(sk_batch_watch_open(b, &watcher, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(sk_batch_watch_look(watcher, &s, &err), &err);
    assert_true(s->done == n && s->waiting == 0); /* nobody misses the last part */
    sk_batch_watch_close(&watcher);
    sk_batch_close(&b);
    put("ends", "2"); /* refused: it is given up, and so the merge is never made */
    b = begin("given_up");
    w = work(b, NULL, 0);
    assert_true(w.failed == 1 && !is_done(b, n - 1) && !sk_file_exists("given_up/v"));
    sk_batch_look look;
    sk_batch_look_at(b, sk_batch_piece_of(b, n - 1, &err), &look);
    assert_int_equal(look.state, SK_PIECE_BLOCKED);
    sk_batch_look_at(b, sk_batch_piece_of(b, 1, &err), &look);
    assert_true(look.state == SK_PIECE_GIVEN_UP && look.failures >= 1 &&
                look.last.outcome == SK_BATCH_REFUSED);
    sk_batch_close(&b);
}

/* What was seen of the files when they were listed last is what counts until they are listed again. */
static void as_they_were_listed(void **state)
{
    (void)state;
    need_video();
    sk_batch *b = begin("listed");
    assert_int_equal(b->pieces, 4);
    const sk_batch_piece *merge = sk_batch_piece_of(b, 3, &err);
    const sk_batch_done end = {.attempt = 1, .outcome = SK_BATCH_FINISHED, .round = b->round};
    sk_batch_look look;
    for (int64_t i = 0; i < 3; i++) {
        assert_false(sk_batch_parts_done(b, merge));
        assert_ok(sk_batch_refresh(b, &err), &err);
        assert_false(sk_batch_parts_done(b, merge));
        sk_batch_look_at(b, merge, &look);
        assert_int_equal(look.state, SK_PIECE_BLOCKED);
        sk_batch_watcher *watcher = NULL;
        const sk_batch_status *s = NULL;
        assert_ok(sk_batch_watch_open(b, &watcher, &err), &err);
        for (int k = 0; k < 2; k++) { /* the second time it remembers */
            assert_ok(sk_batch_watch_look(watcher, &s, &err), &err);
            assert_true(s->pieces == 4 && s->done == i);
        }
        sk_batch_watch_close(&watcher);
        assert_ok(sk_batch_end_put(b, i, &end, true, &err), &err);
        assert_int_equal(b->seen[i], SK_BATCH_SEEN_NOTHING);
    }
    assert_false(sk_batch_parts_done(b, merge)); /* the last is not seen yet */
    assert_ok(sk_batch_refresh(b, &err), &err);
    assert_true(sk_batch_parts_done(b, merge));
    sk_batch_look_at(b, merge, &look);
    assert_int_equal(look.state, SK_PIECE_WAITING);
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(b->seen[i], i < 3 ? SK_BATCH_SEEN_DONE : SK_BATCH_SEEN_NOTHING);
    assert_int_equal(b->seen_done[0], 3);
    sk_claim claim;
    char path[SK_BATCH_PATH];
    assert_ok(sk_claim_take(sk_batch_file(b, 3, 1, "claim", path), 1, &claim, &err), &err);
    assert_ok(sk_batch_refresh(b, &err), &err);
    assert_int_equal(b->seen[3], SK_BATCH_SEEN_CLAIM);
    sk_batch_look_at(b, merge, &look);
    assert_true(look.state == SK_PIECE_RUNNING && look.attempts == 1);
    sk_claim_close(&claim);
    sk_batch_close(&b);
}

/* Parts know of which file they are, by run.json. */
static void a_video_that_changed(void **state)
{
    (void)state;
    need_video();
    put("ends", "0");
    sk_batch *b = begin("changed");
    const int64_t first[] = {0};
    (void)work(b, first, 1);
    char path[SK_BATCH_PATH], file[SK_BATCH_PATH + 32];
    snprintf(file, sizeof file, "%s/run.json", sk_batch_work_path(b, 0, 1, path));
    sk_batch_close(&b);
    put(file, "{\"identity\": {\"source_size\": \"1\", \"source_time\": \"2\"}}");
    b = begin("changed");
    assert_string_equal(sk_text_get(&told),
                        "v.mp4: has changed since parts of it were done; these are done anew\n");
    assert_false(is_done(b, 0));
    sk_batch_done end;
    assert_true(sk_batch_end_read(b, 0, 1, &end) && end.outcome == SK_BATCH_STOPPED);
    assert_string_equal(end.reason, "its video has changed since");
    sk_batch_worked w = work(b, NULL, 0);
    assert_int_equal(w.done, b->pieces);
    sk_batch_close(&b);
    b = begin("changed"); /* told as one: nothing is looked at any more */
    assert_string_equal(sk_text_get(&told), "");
    sk_batch_close(&b);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_their_merge), cmocka_unit_test(the_merge_first),
        cmocka_unit_test(a_video_that_is_cut_off), cmocka_unit_test(a_video_that_changed),
        cmocka_unit_test(as_they_were_listed)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_text_free(&told);
    return failed;
}
