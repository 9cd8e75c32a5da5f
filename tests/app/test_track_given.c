/* SPDX-License-Identifier: Apache-2.0 */
/* A run that follows what somebody else finds: which frames are asked for, whose they are, how the run stands where frames are missing, it
 * is stopped or it fails, and memory that runs out. */
#include "support/fault.h"
#include "track_fixture.h"

#include "app/track_given.h"
#include "skitter/log.h"

#include <fcntl.h>
#include <unistd.h>

#define FRAMES 6

typedef struct giver {
    int64_t next, fails_at, missing;
    int standings;
    sk_text asked;
} giver;

static sk_status gives(void *context, int64_t last, sk_result_frame *out, bool *any, sk_error *e)
{
    static sk_found items[2];
    static const sk_instances found = {.items = items, .count = 2, .capacity = 2};
    giver *g = context;
    sk_text_appendf(&g->asked, "%lld ", (long long)last);
    if (g->fails_at == last + 1)
        return sk_fail(e, SK_ERR_RUNTIME, "no frame %lld", (long long)last + 1);
    *any = last + 1 < FRAMES;
    for (int i = 0; i < 2; i++)
        items[i] = (sk_found){
            .score = 0.9F,
            .track_id = -1,
            .has = SK_HAS_BOX,
            .box = {100.0F * (float)i + (float)last, 10, 100.0F * (float)i + (float)last + 30, 25}};
    *out = (sk_result_frame){.source = "theirs.mp4",
                             .index = last + 1,
                             .time = 0.05 * (double)(last + 1),
                             .width = 640,
                             .height = 480,
                             .instances = &found};
    return SK_OK;
}

static sk_source_status stands(void *context)
{
    giver *g = context;
    g->standings++;
    return (sk_source_status){.missing = g->missing};
}

static int64_t shown, stop_at;

static bool watches(void *context, const sk_predict_progress *p)
{
    (void)context;
    assert_int_equal(p->total, FRAMES);
    shown = p->done;
    return p->done == stop_at;
}

static const char *const class_names[] = {"mouse"};

static sk_status follow(giver *g, const char *out, bool named, bool restart, sk_predict_report *report)
{
    sk_track_wish wish;
    sk_predict_settings s;
    sk_track_run *run = NULL;
    sk_track_wish_defaults(&wish);
    wish.report = false;
    wish.online = true;
    sk_predict_defaults(&s);
    s.source = "ours.mp4";
    s.out = out;
    s.restart = restart;
    s.n_formats = 1;
    s.formats[0] = "csv";
    assert_ok(sk_track_run_open(&wish, &run, &err), &err);
    run->without_video = true;
    const sk_given given = {.settings = &s,
                            .run = run,
                            .name = "theirs",
                            .header = {.source = "ours.mp4",
                                       .source_kind = "video",
                                       .width = 640,
                                       .height = 480,
                                       .rate = 20,
                                       .source_frames = -1,
                                       .task = "detections",
                                       .n_classes = 1,
                                       .class_names = class_names,
                                       .has = SK_HAS_BOX,
                                       .tracked = true,
                                       .runtime_requested = "none",
                                       .runtime = "none",
                                       .device = "none",
                                       .precision = "none",
                                       .settings = "",
                                       .version = "0"},
                            .identity = "given\tby a test\n",
                            .frames = FRAMES,
                            .named = named,
                            .next = gives,
                            .standing = g->missing >= 0 ? stands : NULL,
                            .context = g};
    sk_text_clear(&g->asked);
    g->standings = 0;
    memset(report, 0xa5, sizeof *report); /* all of it is set */
    const sk_status status = sk_track_given_run(&given, watches, NULL, report, &err);
    sk_track_run_close(&run);
    return status;
}

static bool has(const char *folder, const char *name, const char *part)
{
    char *text = text_of(folder, name);
    const bool there = strstr(text, part) != NULL;
    sk_free(text);
    return there;
}

static void whose_frames(void **state)
{
    (void)state;
    static const char *const folders[] = {"ours", "theirs"};
    for (int named = 0; named < 2; named++) {
        giver g = {.fails_at = -1, .missing = named ? 0 : -1};
        sk_predict_report r;
        stop_at = -1;
        assert_ok(follow(&g, folders[named], named, false, &r), &err);
        assert_string_equal(sk_text_get(&g.asked), "-1 0 1 2 3 4 5 ");
        assert_true(r.frames == FRAMES && r.total_frames == FRAMES && r.instances == 2 * FRAMES && !r.cached);
        assert_true(!r.stopped && !r.nothing_to_do && r.missing == 0 && shown == FRAMES);
        assert_int_equal(g.standings, named);
        assert_true(r.seconds > 0 && r.seconds < 60 && r.n_files >= 2);
        assert_int_equal(has(folders[named], "results.csv", "\nours.mp4,"), !named);
        assert_int_equal(has(folders[named], "results.csv", "\ntheirs.mp4,"), named);
        assert_true(has(folders[named], "run.json", "\"finished\""));
        assert_ok(follow(&g, folders[named], named, false, &r), &err); /* again: nobody is asked */
        assert_string_equal(sk_text_get(&g.asked), "");
        assert_true(r.nothing_to_do && r.frames == 0 && r.total_frames == FRAMES && g.standings == 0);
        assert_true(has(folders[named], "run.json", "\"finished\""));
        assert_ok(follow(&g, folders[named], named, true, &r), &err); /* from the first on */
        assert_true(!r.nothing_to_do && r.frames == FRAMES && r.total_frames == FRAMES);
        sk_text_free(&g.asked);
    }
}

static void how_it_stands(void **state)
{
    (void)state;
    giver g = {.fails_at = -1, .missing = 3};
    sk_predict_report r;
    stop_at = 2; /* stopped: nobody asks what is missing */
    assert_ok(follow(&g, "stands", false, false, &r), &err);
    assert_string_equal(sk_text_get(&g.asked), "-1 0 ");
    assert_true(r.stopped && r.missing == 0 && r.frames == 2 && r.total_frames == 2 && r.instances == 4);
    assert_true(has("stands", "run.json", "\"stopped\"") && !has("stands", "run.json", "\"finished\""));
    stop_at = -1; /* it goes on, and ends without all that there should be */
    assert_ok(follow(&g, "stands", false, false, &r), &err);
    assert_string_equal(sk_text_get(&g.asked), "1 2 3 4 5 ");
    assert_true(!r.stopped && r.missing == 3 && r.source.missing == 3 && r.frames == 4);
    assert_true(r.total_frames == FRAMES && r.instances == 2 * FRAMES && g.standings == 1);
    assert_true(has("stands", "run.json", "\"incomplete\"") && !has("stands", "run.json", "\"finished\""));
    g.missing = 0; /* what was missing has come, or is not missed any more */
    assert_ok(follow(&g, "stands", false, false, &r), &err);
    assert_string_equal(sk_text_get(&g.asked), "5 ");
    assert_true(!r.nothing_to_do && r.frames == 0 && r.total_frames == FRAMES && r.missing == 0);
    assert_true(has("stands", "run.json", "\"finished\""));
    g.fails_at = 4;
    assert_int_equal(follow(&g, "falls", false, false, &r), SK_ERR_RUNTIME);
    assert_string_equal(err.message, "no frame 4");
    assert_string_equal(sk_text_get(&g.asked), "-1 0 1 2 3 ");
    assert_true(r.frames == 4 && r.total_frames == 4 && g.standings == 0);
    assert_true(has("falls", "run.json", "\"failed\""));
    g.fails_at = -1;
    assert_ok(follow(&g, "falls", false, false, &r), &err); /* and goes on behind what it had */
    assert_true(r.total_frames == FRAMES && has("falls", "run.json", "\"finished\""));
    sk_text_free(&g.asked);
}

/* --- detections of a file --- */

static char warned[1024];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", message);
}

static void numbers_that_are_wrong(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"csv", NULL};
    put("far.csv", "source,frame,class,name,score,cx,cy,w,h,angle\nv.mp4,3,0,mouse,0.9,20,50,30,12,0\n"
                   "v.mp4,5,0,mouse,0.9,20,50,30,12,0\nv.mp4,9000000,0,mouse,0.9,20,50,30,12,0\n");
    trial_defaults(&t, "far.csv", "far", formats);
    assert_int_equal(trial_run(&t), SK_ERR_LIMIT);
    assert_string_equal(err.message,
                        "far.csv: is about 3 frames, but their numbers reach over 8999998: there is nothing "
                        "between frames 5 and 9000000. If that number is wrong, mend it; for a part of them "
                        "give --frames, such as --frames 0:6");
    assert_false(sk_file_exists("far"));
    trial_defaults(&t, "far.csv", "far", formats);
    t.settings.media.last = 6; /* a part of them */
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.total_frames == 3 && t.report.instances == 2);
}

/* What is said of a rate that nobody knows, and what is taken. */
static void rates(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"csv", NULL};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    put_mice("rated.csv", 3);
    for (int said = 0; said < 2; said++) {
        warned[0] = '\0';
        trial_defaults(&t, "rated.csv", said ? "rate50" : "rate0", formats);
        t.wish.track.fps = said ? 50 : 0;
        t.wish.online = true;
        assert_ok(trial_run(&t), &err);
        assert_true(has(t.out, "results.csv", said ? "v.mp4,2,0.04" : "v.mp4,2,0.08"));
        assert_int_equal(strstr(warned, "rated.csv: nothing says how many frames a second") != NULL, !said);
    }
    sk_log_unlisten(&listener);
}

static sk_status follow_file(void *context, sk_error *e)
{
    track_trial *t = context;
    sk_track_run *run = NULL;
    SK_TRY(sk_track_run_open(&t->wish, &run, e));
    const sk_track_detections given = {t->detections, &t->settings, run};
    const sk_status status = sk_track_detections_run(&given, NULL, NULL, &t->report, e);
    sk_track_run_close(&run);
    return status;
}

/* Its lines go nowhere: nothing is kept, and no disk is waited for. */
static void without_memory(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"csv", NULL};
    put_mice("few.csv", 2);
    trial_defaults(&t, "few.csv", NULL, formats);
    t.wish.online = true;
    const int kept = dup(1), nowhere = open("/dev/null", O_WRONLY);
    assert_true(fflush(stdout) == 0 && kept >= 0 && nowhere >= 0 && dup2(nowhere, 1) == 1);
    const int failed = test_every_allocation(follow_file, &t);
    assert_true(fflush(stdout) == 0 && dup2(kept, 1) == 1);
    close(kept);
    close(nowhere);
    assert_true(failed >= 20 && t.report.frames == 2 && t.report.instances == 6);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_frames),           cmocka_unit_test(how_it_stands),
        cmocka_unit_test(numbers_that_are_wrong), cmocka_unit_test(rates),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
