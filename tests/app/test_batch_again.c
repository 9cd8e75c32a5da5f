/* SPDX-License-Identifier: Apache-2.0 */
/* A batch that is begun again: what it has stays, what was removed or changed is done anew, what is another batch is refused. */
#include "support/test.h"

#include "app/batch.h"
#include "app/batch_state.h"
#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static sk_text told;
static int alive_calls;

static void put(const char *path, const char *text)
{
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void tell(void *context, const char *note)
{
    assert_null(context);
    sk_text_appendf(&told, "%s\n", note);
}

static void alive(void *context)
{
    assert_null(context);
    alive_calls++;
}

typedef struct wish {
    const char *out, *command, *why_whole;
    char *words[4];
    const char *videos[4];
    int n_videos;
    int64_t split;
    bool restart, dry;
} wish;

static sk_status begin(const wish *w, sk_batch **b)
{
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    const sk_batch_how how = {.retries = 1};
    sk_source_defaults(&media);
    sk_text_clear(&told);
    alive_calls = 0;
    *b = NULL;
    assert_ok(sk_source_list_make(w->videos, (size_t)w->n_videos, &list, &err), &err);
    const sk_batch_wish made = {.out = w->out,
                                .command = w->command ? w->command : "track",
                                .words = w->words,
                                .videos = &list,
                                .media = &media,
                                .how = &how,
                                .split = w->split,
                                .why_whole = w->why_whole,
                                .restart = w->restart,
                                .dry = w->dry,
                                .tell = tell,
                                .alive = alive};
    const sk_status status = sk_batch_begin(&made, b, &err);
    sk_source_list_free(&list);
    return status;
}

/* As somebody who has done the piece leaves it. */
static void finish(sk_batch *b, int64_t number)
{
    char path[SK_BATCH_PATH], file[SK_BATCH_PATH + 32];
    const sk_batch_piece *p = sk_batch_piece_of(b, number, &err);
    const sk_batch_done e = {.attempt = 1, .outcome = SK_BATCH_FINISHED, .tracks = -1, .round = b->round};
    assert_ok(sk_batch_end_put(b, number, &e, true, &err), &err);
    assert_ok(sk_folder_make(sk_batch_result_path(b, p, path), &err), &err);
    snprintf(file, sizeof file, "%s/results.csv", path);
    put(file, "x");
    snprintf(file, sizeof file, "%s/run.json", path);
    put(file, "{\"skitter\": \"0\"}");
    snprintf(file, sizeof file, "%s/journal.skj", path);
    put(file, "x");
}

static bool is_done(sk_batch *b, int64_t number)
{
    sk_batch_done done;
    return sk_batch_done_read(b, number, &done);
}

static char word_a[] = "--conf=0.5", word_b[] = "--conf=0.6", word_c[] = "--config=c.json";

static void what_it_has_stays(void **state)
{
    (void)state;
    sk_batch *b = NULL;
    put("a.mp4", "x");
    put("b.mp4", "x");
    put("c.mp4", "x");
    wish w = {.out = "out", .words = {word_a}, .videos = {"a.mp4", "b.mp4"}, .n_videos = 2};
    assert_ok(begin(&w, &b), &err);
    assert_true(b->pieces == 2 && b->videos == 2 && b->round == 1 && alive_calls == 2);
    assert_string_equal(sk_text_get(&told), "");
    char id[17];
    snprintf(id, sizeof id, "%s", b->id);
    finish(b, 0);
    finish(b, 1);
    sk_batch_close(&b);
    w.videos[2] = "c.mp4"; /* one more, and one of the same name from elsewhere */
    assert_ok(sk_folder_make("other", &err), &err);
    put("other/a.mp4", "x");
    w.videos[3] = "other/a.mp4";
    w.n_videos = 4;
    assert_ok(begin(&w, &b), &err);
    assert_true(b->pieces == 4 && b->videos == 4 && b->round == 2 && is_done(b, 0) && is_done(b, 1) &&
                !is_done(b, 2));
    assert_string_equal(b->id, id);
    assert_string_equal(sk_batch_piece_of(b, 0, &err)->name, "a");
    assert_string_equal(sk_batch_piece_of(b, 2, &err)->source, "c.mp4");
    assert_string_not_equal(sk_batch_piece_of(b, 3, &err)->name, "a"); /* its own folder */
    sk_batch_close(&b);
    /* a result that was removed is made anew; dry, it is only said */
    assert_int_equal(system("rm -r out/b"), 0);
    w.dry = true;
    assert_ok(begin(&w, &b), &err);
    assert_non_null(
        strstr(sk_text_get(&told), "out/b: results that were removed; these videos are done anew\n"));
    sk_batch_close(&b);
    w.dry = false;
    assert_ok(begin(&w, &b), &err);
    assert_non_null(
        strstr(sk_text_get(&told), "out/b: results that were removed; these videos are done anew\n"));
    assert_true(is_done(b, 0) && !is_done(b, 1) && b->round == 3);
    sk_batch_done end;
    assert_true(sk_batch_end_read(b, 1, 1, &end));
    assert_true(end.outcome == SK_BATCH_STOPPED && strcmp(end.reason, "its result was removed") == 0);
    sk_batch_close(&b);
    /* a video that was written to since is told of, and stays done */
    struct timespec times[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    assert_int_equal(utimensat(AT_FDCWD, "a.mp4", times, 0), 0);
    assert_ok(begin(&w, &b), &err);
    assert_non_null(
        strstr(sk_text_get(&told), "a.mp4: written to since its result was; to have it done anew, remove "));
    assert_true(is_done(b, 0));
    sk_batch_close(&b);
}

static void another_batch_is_refused(void **state)
{
    (void)state;
    sk_batch *b = NULL;
    put("c.json", "{}");
    wish w = {.out = "words", .words = {word_a, word_c}, .videos = {"b.mp4"}, .n_videos = 1};
    assert_ok(begin(&w, &b), &err);
    finish(b, 0);
    sk_batch_close(&b);
    wish other = w;
    other.words[0] = word_b;
    assert_int_equal(begin(&other, &b), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message,
                           "holds another batch: it was begun as 'track --conf=0.5 --config=c.json', and now "
                           "it is 'track --conf=0.6 "
                           "--config=c.json'. Choose another --out, or begin anew here with --restart"));
    other = w;
    other.words[1] = NULL;
    assert_int_equal(begin(&other, &b), SK_ERR_MISMATCH);
    other = w;
    other.words[2] = word_b;
    assert_int_equal(begin(&other, &b), SK_ERR_MISMATCH);
    other = w;
    other.command = "predict";
    assert_int_equal(begin(&other, &b), SK_ERR_MISMATCH);
    other = w;
    other.split = 100;
    assert_int_equal(begin(&other, &b), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "with another --split"));
    put("c.json", "{\"x\": 1}"); /* the same words, and another file */
    assert_int_equal(begin(&w, &b), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "c.json: is not the file that this batch was begun with"));
    put("c.json", "{}");
    assert_ok(sk_folder_make("elsewhere", &err), &err);
    char here[4096], out[4200];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(out, sizeof out, "%s/words", here);
    put("elsewhere/c.json", "{}");
    put("elsewhere/b.mp4", "x");
    assert_int_equal(chdir("elsewhere"), 0);
    other = w;
    other.out = out;
    assert_int_equal(begin(&other, &b), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "this batch was begun in the folder "));
    assert_non_null(strstr(err.message, "from which 'b.mp4' is another file"));
    assert_int_equal(chdir(here), 0);
    /* --restart removes what it had */
    other = w;
    other.words[0] = word_b;
    other.restart = other.dry = true;
    assert_ok(begin(&other, &b), &err);
    assert_true(sk_file_exists("words/b/results.csv"));
    sk_batch_close(&b);
    other.dry = false;
    assert_ok(begin(&other, &b), &err);
    assert_true(!sk_file_exists("words/b") && b->round == 1 && !is_done(b, 0) && b->pieces == 1);
    sk_batch_close(&b);
}

static void what_cannot_be_one(void **state)
{
    (void)state;
    sk_batch *b = NULL;
    assert_ok(sk_folder_make("mine/b", &err), &err);
    wish w = {.out = "mine", .words = {word_a}, .videos = {"b.mp4"}, .n_videos = 1};
    assert_int_equal(begin(&w, &b), SK_ERR_IO);
    assert_non_null(strstr(
        err.message, "mine/b: is there already, and not by this batch. Remove it, or choose another --out"));
    put("p.png", "x");
    put("q.png", "x");
    w = (wish){.out = "pictures", .words = {word_a}, .videos = {"p.png", "q.png"}, .n_videos = 2};
    assert_int_equal(begin(&w, &b), SK_ERR_ARG);
    assert_non_null(strstr(
        err.message, "2 pictures are named one by one: a batch is of videos. Name the pictures' folder"));
    w = (wish){.out = "camera", .words = {word_a}, .videos = {"0"}, .n_videos = 1};
    assert_int_equal(begin(&w, &b), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "0: a batch is of files, which can be read again"));
    w = (wish){.out = "gone", .words = {word_c}, .videos = {"b.mp4"}, .n_videos = 1};
    assert_int_equal(unlink("c.json"), 0);
    assert_int_not_equal(begin(&w, &b), SK_OK); /* a file that its words name is not there */
    assert_null(b);
    w = (wish){.out = "whole",
               .words = {word_a},
               .videos = {"b.mp4"},
               .n_videos = 1,
               .split = 10,
               .why_whole = "they are live"};
    assert_ok(begin(&w, &b), &err);
    assert_string_equal(sk_text_get(&told), "videos are not split: they are live\n");
    sk_batch_close(&b);
    w = (wish){.out = "dry", .words = {word_a}, .videos = {"b.mp4"}, .n_videos = 1, .dry = true};
    assert_ok(begin(&w, &b), &err);
    assert_true(b->pieces == 1 && !sk_file_exists("dry"));
    sk_batch_close(&b);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_has_stays),
        cmocka_unit_test(another_batch_is_refused),
        cmocka_unit_test(what_cannot_be_one),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_text_free(&told);
    return failed;
}
