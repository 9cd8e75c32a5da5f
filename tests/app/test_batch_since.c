/* SPDX-License-Identifier: Apache-2.0 */
/* What has become of a batch since: results that were removed, videos that were written to behind their results, parts of another
 * file. */
#include "batch_fixture.h"

#include "app/batch_again.h"
#include "app/source_identity.h"

#include <fcntl.h>

#define MANY 6
static const char *const videos[MANY] = {"f.mp4", "b.mp4", "d.mp4", "p.mp4", "q.mp4", "a.mp4"};

static sk_batch_piece *piece_of(sk_batch *b, int64_t number)
{
    return (sk_batch_piece *)(uintptr_t)sk_batch_piece_of(b, number, &err);
}

/* Three videos, two parts and their merge. */
static sk_batch *six(const char *out)
{
    sk_batch *b = begin(out, videos, MANY, 0, 0);
    for (int64_t i = 3; i < MANY; i++) {
        piece_of(b, i)->kind = i < 5 ? SK_BATCH_PART : SK_BATCH_MERGE;
        piece_of(b, i)->parts = i == 4 ? 1 : 2;
    }
    return b;
}

static void done(sk_batch *b, int64_t number, int32_t attempt)
{
    const sk_batch_done end = {.attempt = attempt, .frames = 5, .round = b->round, .host = "here"};
    assert_ok(sk_batch_end_put(b, number, &end, true, &err), &err);
}

static bool is_done(const sk_batch *b, int64_t number)
{
    sk_batch_done end;
    return sk_batch_done_read(b, number, &end);
}

static void aged(const char *path, time_t second, long ns)
{
    const struct timespec times[2] = {{second, ns}, {second, ns}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static sk_batch_again since(sk_batch *b, bool dry)
{
    sk_batch_again again;
    assert_ok(sk_batch_again_read(b, dry, &again, &err), &err);
    assert_int_equal(again.count, 4); /* a video in parts is one */
    static const char *const sorted[] = {"a.mp4", "b.mp4", "d.mp4", "f.mp4"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(again.known[i], sorted[i]);
        assert_true(sk_batch_again_has(&again, sorted[i]));
    }
    assert_false(sk_batch_again_has(&again, "p.mp4") || sk_batch_again_has(&again, "c.mp4") ||
                 sk_batch_again_has(&again, "a") || sk_batch_again_has(&again, "z.mp4"));
    return again;
}

static void videos_that_are_newer(void **state)
{
    (void)state;
    sk_batch *b = six("newer");
    sk_batch_again again = since(b, false);
    assert_true(!again.newer && !again.removed && !again.changed && !again.n_newer && !again.n_removed &&
                !again.n_changed);
    sk_batch_again_free(&again);
    for (int i = 0; i < 3; i++) {
        char path[SK_BATCH_PATH];
        assert_ok(sk_folder_make(sk_batch_result_path(b, piece_of(b, i), path), &err), &err);
        aged(path, 1000000, 5);
        aged(videos[i], 1000000, 999); /* of the same second: not newer */
    }
    again = since(b, false);
    assert_true(!again.newer && again.n_newer == 0);
    sk_batch_again_free(&again);
    aged(videos[1], 1000001, 0);
    again = since(b, true);
    assert_true(again.newer == piece_of(b, 1) && again.n_newer == 1 && again.n_removed == 0);
    sk_batch_again_free(&again);
    aged(videos[2], 2000000, 0);
    aged(videos[0], 999999, 0);
    again = since(b, false);
    assert_true(again.newer == piece_of(b, 1) && again.n_newer == 2); /* the first of them */
    sk_batch_again_free(&again);
    assert_int_equal(unlink(videos[1]), 0); /* one that is gone, and a folder, are not newer */
    assert_int_equal(unlink(videos[2]), 0);
    assert_ok(sk_folder_make(videos[2], &err), &err);
    again = since(b, false);
    assert_true(!again.newer && again.n_newer == 0);
    sk_batch_again_free(&again);
    assert_int_equal(rmdir(videos[2]), 0);
    sk_batch_close(&b);
}

static void results_that_were_removed(void **state)
{
    (void)state;
    char path[SK_BATCH_PATH];
    sk_batch_done end;
    sk_batch *b = six("removed");
    done(b, 1, 2);
    done(b, 2, 1);
    for (int64_t i = 3; i < 6; i++)
        done(b, i, 1);
    assert_ok(sk_folder_make(sk_batch_result_path(b, piece_of(b, 2), path), &err),
              &err); /* its result is there */
    sk_batch_again again = since(b, true);
    assert_true(again.removed == piece_of(b, 1) && again.n_removed == 2 && again.n_changed == 0);
    sk_batch_again_free(&again);
    for (int64_t i = 1; i < 6; i++) /* dry: nothing was done about it */
        assert_true(is_done(b, i) && !sk_batch_end_read(b, i, 1, &end));
    /* one that is not yet in its place is not removed */
    assert_ok(sk_folder_make(sk_batch_work_path(b, 1, 2, path), &err), &err);
    again = since(b, false);
    assert_true(again.removed == piece_of(b, 5) && again.n_removed == 1 && is_done(b, 1) && is_done(b, 2));
    sk_batch_again_free(&again);
    for (int64_t i = 3; i < 6; i++) { /* a video in parts: all of them, and it */
        assert_false(is_done(b, i));
        assert_true(sk_batch_end_read(b, i, 1, &end) && end.outcome == SK_BATCH_STOPPED && end.frames == 5);
        assert_string_equal(end.reason, "its result was removed");
    }
    assert_int_equal(rmdir(sk_batch_work_path(b, 1, 2, path)), 0);
    again = since(b, false);
    assert_true(again.removed == piece_of(b, 1) && again.n_removed == 1 && !is_done(b, 1) && is_done(b, 2));
    assert_true(sk_batch_end_read(b, 1, 2, &end) && !sk_batch_end_read(b, 2, 1, &end));
    sk_batch_again_free(&again);
    again = since(b, false); /* told once */
    assert_true(!again.removed && again.n_removed == 0);
    sk_batch_again_free(&again);
    sk_batch_close(&b);
}

/* What a part's run says of the video it looked at. */
static void said(sk_batch *b, int64_t number, const char *size, const char *time)
{
    char path[SK_BATCH_PATH], file[SK_BATCH_PATH + 16];
    sk_text text = {0};
    sk_text_appendf(&text, "{\"identity\":{\"source_size\":\"%s\",\"source_time\":\"%s\"}}", size, time);
    sk_batch_work_path(b, number, 1, path);
    assert_ok(sk_folder_make(path, &err), &err);
    snprintf(file, sizeof file, "%s/run.json", path);
    put(file, sk_text_get(&text));
    sk_text_free(&text);
}

static void parts_of_another_file(void **state)
{
    (void)state;
    sk_text size = {0}, time = {0};
    sk_batch_done end;
    char path[SK_BATCH_PATH];
    sk_batch *b = six("changed");
    sk_source_size("a.mp4", &size);
    sk_source_time("a.mp4", &time);
    for (int row = 0; row < 4; row++) { /* the same; another size; another time; dry */
        b->out[strlen(b->out) - 1] = (char)('0' + row);
        assert_ok(sk_folder_make(sk_batch_path(b, "pieces/0000", path), &err), &err);
        done(b, 3, 1);
        done(b, 4, 1);
        said(b, 3, sk_text_get(&size), sk_text_get(&time));
        said(b, 4, row == 1 || row == 3 ? "1" : sk_text_get(&size), row == 2 ? "1" : sk_text_get(&time));
        sk_batch_again again = since(b, row == 3);
        const bool dropped = row == 1 || row == 2;
        assert_true(again.n_changed == dropped && again.n_removed == 0 && again.n_newer == 0);
        assert_ptr_equal(again.changed, dropped ? piece_of(b, 5) : NULL);
        assert_true(is_done(b, 3));
        assert_int_equal(is_done(b, 4), !dropped);
        assert_int_equal(sk_file_exists(sk_batch_work_path(b, 4, 1, path)), !dropped);
        assert_true(sk_file_exists(sk_batch_work_path(b, 3, 1, path)));
        if (dropped) {
            assert_true(sk_batch_end_read(b, 4, 1, &end) && end.outcome == SK_BATCH_STOPPED);
            assert_string_equal(end.reason, "its video has changed since");
        }
        sk_batch_again_free(&again);
    }
    sk_text_free(&size);
    sk_text_free(&time);
    sk_batch_close(&b);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    if (chdir(folder) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(videos_that_are_newer),
                                       cmocka_unit_test(results_that_were_removed),
                                       cmocka_unit_test(parts_of_another_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
