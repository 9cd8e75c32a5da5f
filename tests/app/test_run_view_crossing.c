/* SPDX-License-Identifier: Apache-2.0 */
/* A run in which animals cross, looked at: frames and their ends, tracks, moments of doubt, ways and distances, before corrections and
 * after. */
#include "track_fixture.h"

#include "app/correct.h"
#include "app/run_view_json.h"

#include <math.h>
#include <unistd.h>

/* Two that cross in the middle, lie on each other there and are found once; a third that comes late and has a pose. */
static void put_crossing(const char *name)
{
    sk_text csv = {0};
    sk_text_append(&csv, "source,frame,class,name,score,x1,y1,x2,y2,cx,cy,w,h,angle,nose_x,nose_y,nose_score,"
                         "tail_x,tail_y,tail_score\n");
    for (int f = 0; f < 40; f++) {
        const int x = 40 + 4 * f, z = 200 - 4 * f;
        if (f < 18 || f > 22) {
            sk_text_appendf(&csv, "v.mp4,%d,0,fly,0.9,%d,90,%d,110,%d,100,30,14,0.1,,,,,,\n", f, x - 15,
                            x + 15, x);
            sk_text_appendf(&csv, "v.mp4,%d,1,bee,0.8,%d,92,%d,112,%d,102,28,12,3.0,,,,,,\n", f, z - 14,
                            z + 14, z);
        } else {
            sk_text_appendf(&csv, "v.mp4,%d,0,fly,0.6,105,90,135,112,120,101,30,16,0,,,,,,\n", f);
        }
        if (f > 11)
            sk_text_appendf(&csv, "v.mp4,%d,0,fly,0.7,20,%d,60,%d,40,%d,40,12,1.5,40,%d,0.9,40,%d,0.8\n", f,
                            200 + f, 220 + f, 210 + f, 190 + f, 230 + f);
    }
    put(name, sk_text_get(&csv));
    sk_text_free(&csv);
}

static void end(sk_json *json, sk_text *one, sk_text *all, const char *title)
{
    assert_ok(sk_json_end(json, &err), &err);
    sk_text_appendf(all, "--- %s\n", title);
    tell_rounded(all, sk_text_get(one), strlen(sk_text_get(one)));
    sk_text_clear(one);
}

static void tell_all(sk_run_view *v, sk_text *all)
{
    sk_text one = {.limit = 1 << 22};
    static const struct {
        int64_t from, to;
        int32_t most;
    } parts[] = {{0, 0, 10},  {17, 23, 3},  {20, 20, 1}, {38, 100, 10},
                 {40, 50, 5}, {-5, 1, 100}, {5, 4, 10},  {5, 9, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sk_json json = sk_json_to_text(&one, 0);
        assert_ok(sk_run_view_json_frames(v, parts[i].from, parts[i].to, parts[i].most, &json, &err), &err);
        end(&json, &one, all, "frames");
    }
    sk_json json = sk_json_to_text(&one, 1);
    assert_ok(sk_run_view_json_tracks(v, &json, &err), &err);
    end(&json, &one, all, "tracks");
    json = sk_json_to_text(&one, 1);
    assert_ok(sk_run_view_json_suspects(v, &json, &err), &err);
    end(&json, &one, all, "suspects");
    json = sk_json_to_text(&one, 0);
    sk_run_view_json_corrections(v, &json);
    end(&json, &one, all, "corrections");
    static const sk_run_series series[] = {
        {0, 1, 0, -1, 10}, {1, -1, 10, 20, 100}, {2, 0, 5, 15, 4}, {7, 0, 0, -1, 3}, {0, 2, 39, 39, 1}};
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        static sk_run_point points[128];
        int32_t n = -1;
        assert_ok(sk_run_view_series(v, &series[i], points, &n, &err), &err);
        sk_text_appendf(all, "--- series %d %d, %d points\n", series[i].track, series[i].other, n);
        for (int32_t k = 0; k < n; k++)
            sk_text_appendf(all, "%lld %.4f %.2f %.2f %.3f %.2f %.2f %d\n", (long long)points[k].frame,
                            points[k].time, points[k].x, points[k].y, points[k].heading, points[k].speed,
                            points[k].distance, points[k].state);
    }
    for (int32_t a = 0; a < 3; a++)
        for (int32_t b = a + 1; b < 4; b++) {
            int64_t count = -1;
            char words[64];
            assert_ok(sk_run_view_both(v, a, b, &count, words, sizeof words, &err), &err);
            sk_text_appendf(all, "both %d %d: %lld (%s)\n", a, b, (long long)count, words);
        }
    static const int64_t spans[][2] = {{0, -1}, {0, 5}, {11, 12}, {39, 39}, {40, -1}, {20, 20}};
    for (int32_t track = 0; track < 4; track++)
        for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
            bool has = false;
            assert_ok(sk_run_view_has(v, track, spans[i][0], spans[i][1], &has, &err), &err);
            sk_text_appendf(all, "%d in %lld-%lld: %d\n", track, (long long)spans[i][0],
                            (long long)spans[i][1], has);
        }
    static sk_run_seen seen[SK_RUN_SEEN_MOST];
    for (int64_t place = -1; place < 42; place += 10) {
        int32_t n = -1;
        double time = -1;
        assert_ok(sk_run_view_seen(v, place, seen, &n, &time, &err), &err);
        sk_text_appendf(all, "place %lld: %d at %.3f", (long long)place, n, n ? time : -1);
        for (int32_t i = 0; i < n; i++)
            sk_text_appendf(all, "; %d %.1f %.1f %.2f %.1f %.3f %.2f %d", seen[i].track, (double)seen[i].x,
                            (double)seen[i].y, (double)seen[i].heading, (double)seen[i].major,
                            (double)seen[i].certainty, (double)seen[i].score, seen[i].state);
        sk_text_append(all, "\n");
    }
    sk_text_free(&one);
}

static void crossing(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"csv", "jsonl", NULL};
    sk_text all = {.limit = 1 << 23};
    sk_run_view *v = NULL;
    put_crossing("crossing.csv");
    trial_defaults(&t, "crossing.csv", "run", formats);
    assert_ok(trial_run(&t), &err);
    assert_ok(sk_run_view_open("run", &v, &err), &err);
    tell_all(v, &all);
    const sk_correction
        swap = {.kind = SK_CORRECTION_SWAP, .a = 0, .b = 1, .from = 25, .to = -1, .prefer = -1},
        rename = {.kind = SK_CORRECTION_RENAME,
                  .a = 2,
                  .b = -1,
                  .from = 0,
                  .to = -1,
                  .prefer = -1,
                  .name = "late"},
        delete = {.kind = SK_CORRECTION_DELETE, .a = 2, .b = -1, .from = 30, .to = 35, .prefer = -1};
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &swap, &err), &err);
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &rename, &err), &err);
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &delete, &err), &err);
    sk_text_append(&all, "=== corrected\n");
    tell_all(v, &all);
    sk_run_view_close(&v);
    test_text_is("tests/app/told/run_view_crossing.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* A run.json that tells of more keypoints than the results have: such frames are refused, not shown with points of nobody. */
static void frames_that_do_not_fit(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"jsonl", NULL};
    sk_run_view *v = NULL;
    sk_result_frame frame;
    char *text = NULL;
    size_t length = 0;
    put_crossing("changed.csv");
    trial_defaults(&t, "changed.csv", "changed", formats);
    assert_ok(trial_run(&t), &err);
    assert_ok(sk_run_view_open("changed", &v, &err), &err);
    assert_ok(sk_run_view_frame(v, 15, &frame, &err), &err);
    assert_int_equal(sk_run_view_frame(v, 40, &frame, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message,
                        "changed: the run did not look at frame 40; it has 40 of the frames from 0 to 39");
    sk_run_view_close(&v);
    assert_ok(sk_file_read("changed/run.json", 1 << 22, &text, &length, &err), &err);
    sk_text all = {.limit = 1 << 22};
    char *at = strstr(text, "\"tail\"");
    assert_non_null(at);
    sk_text_append_bytes(&all, text, (size_t)(at - text));
    sk_text_append(&all, "\"back\", ");
    sk_text_append(&all, at);
    put("changed/run.json", sk_text_get(&all));
    sk_text_free(&all);
    sk_free(text);
    assert_ok(sk_run_view_open("changed", &v, &err), &err);
    assert_int_equal(sk_run_view_frame(v, 15, &frame, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message,
                        "changed/results.jsonl: frame 15 does not fit what run.json says of the run");
    sk_run_view_close(&v);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(crossing), cmocka_unit_test(frames_that_do_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
