/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a run that is empty, that changes under somebody's eyes, or that has many tracks; and pictures that
 * a run leaves out. */
#include "support/test.h"

#include "app/consumers.h"
#include "app/correct.h"
#include "app/run_view.h"
#include "base/file.h"
#include "base/memory.h"
#include "skitter/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

static void put_record(const char *folder, const char *state, const char *started)
{
    char text[1024], path[128];
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(path, sizeof path, "%s/run.json", folder);
    snprintf(text, sizeof text,
             "{\"skitter\":\"1\",\"started\":\"%s\",\"state\":\"%s\",\"source\":\"v.mp4\",\"source_kind\":"
             "\"live\","
             "\"width\":640,\"height\":480,\"rate\":25,\"frames\":14,\"task\":\"pose\",\"classes\":[\"fly\"],"
             "\"keypoints\":[],\"identity\":{\"tracker\":\"skitter\"}}",
             started, state);
    put(path, text);
}

/* Tracks 0 to n - 1 in every frame; of those the second only in even frames. */
static void put_lines(const char *folder, int frames, int n)
{
    char path[128];
    sk_text lines = {.limit = 1 << 22};
    for (int f = 0; f < frames; f++) {
        sk_text_appendf(&lines, "{\"source\":\"v.mp4\",\"frame\":%d,\"time\":%.2f,\"instances\":[", f,
                        0.04 * f);
        for (int i = 0, told = 0; i < n; i++)
            if (i != 1 || f % 2 == 0)
                sk_text_appendf(
                    &lines,
                    "%s{\"class\":0,\"score\":1,\"box\":[%d,0,%d,9],\"track\":%d,\"tracking_score\":1,"
                    "\"state\":\"active\",\"x\":%d,\"y\":4,\"heading\":0,\"uncertainty\":1}",
                    told++ ? "," : "", 40 * i, 40 * i + 20, i, 40 * i + 10);
        sk_text_append(&lines, "]}\n");
    }
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    put(path, sk_text_get(&lines));
    sk_text_free(&lines);
}

static sk_run_view *look(const char *folder)
{
    sk_run_view *v = NULL;
    assert_ok(sk_run_view_open(folder, &v, &err), &err);
    return v;
}

static void stretches_and_lists_of_tracks(void **state)
{
    (void)state;
    int64_t count = 0;
    char words[200];
    put_record("many", "finished", "2026");
    for (int frames = 9; frames < 16; frames += 2) { /* 5, 6, 7 and 8 of them with both */
        put_lines("many", frames, 3);
        sk_run_view *v = look("many");
        assert_ok(sk_run_view_both(v, 0, 1, &count, words, sizeof words, &err), &err);
        assert_int_equal(count, (frames + 1) / 2);
        assert_string_equal(words, frames == 9 ? "0, 2, 4, 6, 8" : "0, 2, 4, 6, 8, …");
        sk_run_view_close(&v);
    }
    static const struct {
        int tracks;
        const char *list;
    } rows[] = {{12, "there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"},
                {13, "there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …"},
                {20, "there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …"}};
    for (int i = 0; i < 3; i++) {
        static const struct {
            int64_t from, to;
            const char *when;
        } spans[] = {{0, -1, "there is no track 77; "},
                     {0, 5, "there is no track 77 in frames 0 to 5; "},
                     {3, -1, "there is no track 77 from frame 3 on; "}};
        put_lines("many", 14, rows[i].tracks);
        sk_run_view *v = look("many");
        for (int k = 0; k < 3; k++) {
            const sk_correction c = {.kind = SK_CORRECTION_DELETE,
                                     .a = 77,
                                     .b = -1,
                                     .from = spans[k].from,
                                     .to = spans[k].to,
                                     .prefer = -1};
            assert_int_equal(sk_correct_step(v, SK_STEP_ADD, &c, &err), SK_ERR_NOT_FOUND);
            assert_non_null(strstr(err.message, spans[k].when));
            assert_string_equal(strstr(err.message, "there are"), rows[i].list);
        }
        sk_run_view_close(&v);
    }
    /* who is twice in a frame is not one */
    sk_run_view *v = look("many");
    sk_correction c = {.kind = SK_CORRECTION_MERGE, .a = 0, .b = 1, .from = 0, .to = -1, .prefer = -1};
    assert_int_equal(sk_correct_step(v, SK_STEP_ADD, &c, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "tracks 0 and 1 are both in 7 frames (0, 2, 4, 6, 8, …), so"));
    sk_run_view_close(&v);
    put_lines("many", 1, 3);
    put_record("many", "finished", "2027");
    v = look("many");
    assert_int_equal(sk_correct_step(v, SK_STEP_ADD, &c, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "are both in 1 frame (0), so they are two animals there"));
    assert_false(sk_file_exists("many/corrections.jsonl")); /* what is refused is not kept */
    sk_run_view_close(&v);
}

static void a_run_that_is_empty(void **state)
{
    (void)state;
    sk_result_frame f;
    sk_run_view_info info;
    put_record("empty", "running", "2026");
    put_lines("empty", 0, 0);
    sk_run_view *v = look("empty");
    assert_int_equal(sk_run_view_frame(v, 0, &f, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "empty: no frame of the run is there yet");
    sk_run_view_get_info(v, &info);
    assert_true(info.frames == 0 && info.first == -1 && info.last == -1 && info.tracked);
    /* … and then it is not */
    put_lines("empty", 3, 2);
    assert_ok(sk_run_view_refresh(v, &err), &err);
    assert_ok(sk_run_view_frame(v, 2, &f, &err), &err);
    assert_true(f.instances->count == 2 && f.width == 640 && f.height == 480);
    sk_run_view_close(&v);
}

/* Its state or its beginning is another: what was gathered is forgotten, and what cannot be read leaves the view as it was. */
static void a_run_that_changes(void **state)
{
    (void)state;
    const sk_movement *m = NULL;
    const sk_suspects *suspects = NULL;
    sk_result_frame f;
    sk_run_view_info info;
    put_record("changes", "running", "2026");
    put_lines("changes", 4, 3);
    sk_run_view *v = look("changes");
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_int_equal(m->n_tracks, 3);
    put_record("changes", "finished", "2026"); /* the same lines, and it has ended */
    assert_ok(sk_run_view_refresh(v, &err), &err);
    sk_run_view_get_info(v, &info);
    assert_true(info.tracks == -1 && strcmp(info.state, "finished") == 0 && info.frames == 4);
    put_record("changes", "finished", "2027"); /* begun anew, with others */
    put_lines("changes", 6, 2);
    assert_ok(sk_run_view_refresh(v, &err), &err);
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_int_equal(m->n_tracks, 2);
    sk_run_view_get_info(v, &info);
    assert_int_equal(info.frames, 6);
    put_record("changes", "running", "2028");
    assert_int_equal(rename("changes/results.jsonl", "changes/away"), 0);
    assert_int_equal(sk_run_view_refresh(v, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "changes: its frames cannot be read: "));
    assert_ok(sk_run_view_frame(v, 5, &f, &err), &err); /* what it has open it has still */
    assert_int_equal(unlink("changes/run.json"), 0);
    assert_int_equal(sk_run_view_refresh(v, &err), SK_ERR_NOT_FOUND);
    sk_run_view_close(&v);
}

/* --- pictures that are left out --- */

static sk_text heard;

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        sk_text_appendf(&heard, "%s\n", message);
}

/* The first ten are told by name, what a journal knows is not told again, and all are counted. */
static void pictures_that_are_left_out(void **state)
{
    (void)state;
    sk_log_listener *listener = NULL;
    sk_run_folder *folder = NULL;
    sk_consumers list = {0};
    const sk_run_header header = {0};
    const sk_instances nobody = {0};
    bool lacks = false;
    char problem[32];
    sk_consumer *c = sk_consumer_left_out();
    assert_ok(sk_consumers_add(&list, c, &err), &err);
    assert_int_equal(c->needs, SK_NEEDS_NAMES | SK_NEEDS_PROBLEMS);
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    assert_ok(sk_run_folder_open(NULL, &folder, &err), &err);
    assert_ok(c->kind->begin(c, &header, folder, &err), &err);
    sk_result_frame picture = {.source = "p.png", .instances = &nobody, .index = 4};
    sk_passing passing = {.result = &picture};
    assert_ok(c->kind->take(c, &passing, &err), &err); /* nothing is wrong with it */
    assert_int_equal(sk_run_folder_left_out(folder), 0);
    assert_string_equal(sk_run_folder_first_problem(folder), "");
    for (int i = 1; i <= 12; i++) {
        snprintf(problem, sizeof problem, "p%d is torn", i);
        picture.problem = problem;
        assert_ok(i == 1 ? c->kind->retell(c, 0, &picture, &lacks, &err) : c->kind->take(c, &passing, &err),
                  &err);
        assert_int_equal(sk_run_folder_left_out(folder), i);
        assert_string_equal(sk_run_folder_first_problem(folder), "p1 is torn");
    }
    picture.problem = NULL;
    assert_ok(c->kind->retell(c, 0, &picture, &lacks, &err), &err);
    assert_int_equal(sk_run_folder_left_out(folder), 12);
    assert_string_equal(sk_text_get(&heard),
                        "left out: p2 is torn\nleft out: p3 is torn\nleft out: p4 is torn\n"
                        "left out: p5 is torn\nleft out: p6 is torn\nleft out: p7 is torn\n"
                        "left out: p8 is torn\nleft out: p9 is torn\n"
                        "left out: p10 is torn (more are in run.json only)\n");
    sk_log_unlisten(&listener);
    sk_text_free(&heard);
    sk_consumers_close(&list);
    sk_run_folder_close(&folder);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretches_and_lists_of_tracks),
        cmocka_unit_test(a_run_that_is_empty),
        cmocka_unit_test(a_run_that_changes),

        cmocka_unit_test(pictures_that_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
