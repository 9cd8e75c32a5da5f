/* SPDX-License-Identifier: Apache-2.0 */
/* What a command tells of its runs, and with which code it ends: the runs are played, not made. */
#include "terminal.h"

#include "base/memory.h"
#include "base/text.h"
#include "cli/predict_session.h"

static said s;

/* --- the play: in place of app/predict_many.c --- */

static struct play {
    size_t n;
    sk_predict_item items[3];
    sk_predict_many_report report;
    sk_status status;
    int64_t frames; /* so often the watch is called */
    bool torn;      /* it ends in the middle of a source */
    bool unknown;   /* nobody knows how many there are */
} play;

sk_status sk_predict_fresh_folder(const char *command, char **out, sk_error *err)
{
    *out = sk_strdup(command);
    return *out ? SK_OK : sk_fail_memory(err, strlen(command));
}

sk_status sk_predict_many(const sk_predict_settings *settings, const sk_source_list *list,
                          const sk_predict_many_watch *watch, sk_predict_many_report *report, sk_error *err)
{
    (void)settings;
    (void)list;
    for (size_t i = 0; i < play.n; i++) {
        const sk_predict_item *item = &play.items[i];
        watch->begin(watch->context, item);
        for (int64_t k = 1; k <= play.frames; k++) {
            const sk_predict_progress p = {.done = k + 4,
                                           .total = play.unknown ? -1 : play.frames + 4,
                                           .continued = 4,
                                           .instances = 2 * k,
                                           .seconds = 0.5 * (double)k};
            assert_false(watch->frame(watch->context, &p));
        }
        if (!play.torn)
            watch->end(watch->context, item);
    }
    *report = play.report;
    return play.status == SK_OK ? SK_OK : sk_fail(err, play.status, "it did not even begin");
}

static void show_summary(void *context, FILE *to)
{
    fprintf(to, "more of %s\n", (const char *)context);
}

static void show_json(void *context, sk_json *json)
{
    sk_json_key_string(json, "more", context);
}

static const sk_predict_show both = {"label", show_summary, show_json, (void *)(uintptr_t) "it"},
                             none = {"label", NULL, NULL, NULL};

static void tell(const char *words, const char *out, bool many, const char *fresh,
                 const sk_predict_show *show)
{
    const char *argv[8];
    char line[256];
    int argc = 0;
    snprintf(line, sizeof line, "film.mp4 -m m.pt %s", words);
    for (char *rest = NULL, *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    sk_args *args = NULL;
    s.error = (sk_error){0};
    assert_ok(sk_args_parse(sk_command_find("predict"), argc, argv, &args, &s.error), &s.error);
    const sk_predict_settings settings = {.out = out, .runtime_requested = "auto"};
    const sk_source_list list = {.count = play.n, .many = many};
    sk_cli_set_verbosity(sk_args_flag(args, "quiet") ? 0 : 1);
    said_begin(&s);
    s.status = sk_cli_predict_all(args, &settings, &list, fresh, show, &s.error);
    said_end(&s);
    sk_cli_set_verbosity(1);
    sk_args_close(&args);
}

/* One source that went well: 10 frames, 20 instances. */
static sk_predict_item *begin(void)
{
    play = (struct play){.n = 1};
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[][2] = {{"a.mp4", "out/a"}, {"b.mp4", "out/b"}, {"c.mp4", "out/c"}};
        play.items[i] = (sk_predict_item){.source = names[i][0],
                                          .out = names[i][1],
                                          .number = i,
                                          .count = 3,
                                          .report = {.frames = 10,
                                                     .total_frames = 10 + (int64_t)i,
                                                     .instances = 20,
                                                     .seconds = 2.5,
                                                     .runtime = "cpu",
                                                     .device = "a processor",
                                                     .precision = "f32"}};
    }
    play.report = (sk_predict_many_report){.sources = 3, .done = 3, .frames = 33, .instances = 60};
    return &play.items[0];
}

static void begins(const char *text, const char *with)
{
    if (strncmp(text, with, strlen(with)) != 0)
        fail_msg("'%s' does not begin: %s", with, text);
}

static void ends_with(sk_status status, const char *message)
{
    assert_int_equal(s.status, status);
    assert_string_equal(s.error.message, message);
}

static void one_source(void **state)
{
    (void)state;
    begin();
    tell("", "out", false, NULL, &both);
    ends_with(SK_OK, "");
    begins(s.out, "more of it\n10 frames, 20 instances, 2.50 s, 4.0 frames/s\nruntime cpu "
                  "(requested auto), f32, a processor\n");
    assert_string_equal(s.err, "");
    tell("", "out", false, NULL, &none);
    begins(s.out, "10 frames, ");
    tell("-q", "out", false, NULL, &both);
    assert_string_equal(s.out, "");
    tell("", NULL, false, NULL, &both); /* results have standard output */
    assert_string_equal(s.out, "");
    begins(s.err, "more of it\n10 frames, ");
    tell("--json", "out", false, NULL, &both);
    begins(s.out, "{\n  \"frames\": 10,\n");
    said_has(s.out, ",\n  \"more\": \"it\"\n}\n");
    tell("--json", "out", false, NULL, &none);
    said_lacks(s.out, "more");
    snprintf(play.items[0].report.notice, sizeof play.items[0].report.notice, "a notice");
    tell("", "out", false, NULL, &none);
    assert_string_equal(s.err, "skitter: warning: a notice\n");
    begin()->report.missing = 1; /* one frame is enough */
    play.report.incomplete = 1;
    tell("", "out", false, NULL, &none);
    ends_with(
        SK_ERR_INCOMPLETE,
        "film.mp4: cut off: 1 of the frames its header promises are not in the file. The 10 that are there "
        "are written, but the run is not finished. With the whole file, begin anew: --restart");
    /* one that failed: its own words and code; nothing of it is printed */
    sk_predict_item *item = begin();
    item->status = SK_ERR_FORMAT;
    snprintf(item->error.message, sizeof item->error.message, "a.mp4: is no video");
    play.report.failed = 1;
    for (int json = 0; json < 2; json++) {
        tell(json ? "--json" : "", "out", false, NULL, &both);
        ends_with(SK_ERR_FORMAT, "a.mp4: is no video");
        said_lacks(s.out, "frames");
        said_lacks(s.out, "}");
    }
    begin();
    play.status = SK_ERR_ARG;
    tell("", "out", false, NULL, &none);
    ends_with(SK_ERR_ARG, "it did not even begin");
    tell("--json", "out", true, NULL, &none);
    ends_with(SK_ERR_ARG, "it did not even begin");
    tell("", "out", true, NULL, &none);
    said_lacks(s.out, "sources finished");
}

static void interruptions(void **state)
{
    (void)state;
    static const char whole[] = "interrupted after 33 frames; everything up to there is written";
    char text[256];
    begin()->report.stopped = true;
    play.report.stopped = true;
    for (int many = 0; many < 2; many++) {
        tell("", "out", many, NULL, &none);
        snprintf(text, sizeof text, "%s, and the same command goes on from there", whole);
        ends_with(SK_ERR_CANCELLED, text);
        tell("", "runs/predict7", many, "runs/predict7", &none);
        snprintf(text, sizeof text, "%s, and the same command with --out runs/predict7 goes on from there",
                 whole);
        ends_with(SK_ERR_CANCELLED, text);
        tell("", NULL, many, NULL, &none); /* nothing is kept */
        ends_with(SK_ERR_CANCELLED, whole);
        tell("", NULL, many, "fresh", &none);
        ends_with(SK_ERR_CANCELLED, whole);
    }
    play.items[0].report.live = true;
    tell("", "out", false, "fresh", &none);
    ends_with(SK_ERR_CANCELLED, whole);
    /* a failure before it is the worse news; a failure by it is none */
    sk_predict_item *item = begin();
    play.report.stopped = true;
    play.report.failed = 1;
    item->status = SK_ERR_IO;
    snprintf(item->error.message, sizeof item->error.message, "the disk is full");
    tell("", "out", false, NULL, &none);
    ends_with(SK_ERR_IO, "the disk is full");
    item->status = SK_ERR_CANCELLED;
    tell("", "out", true, NULL, &none);
    snprintf(text, sizeof text, "%s, and the same command goes on from there", whole);
    ends_with(SK_ERR_CANCELLED, text);
    said_lacks(s.err, "error");
    begin();
    play.n = 2;
    play.items[0].status = SK_ERR_IO; /* the first that failed says how it was */
    play.items[1].status = SK_ERR_CANCELLED;
    play.report.stopped = true;
    play.report.failed = 2;
    tell("", "out", true, NULL, &none);
    ends_with(SK_ERR_IO,
              "2 of 3 sources failed; the same command tries them again and leaves the others as they are");
    begin();
    play.frames = 3;
    play.torn = true; /* the line on the way is ended, and nothing stays allocated */
    play.status = SK_ERR_MEMORY;
    tell("", "out", false, NULL, &none);
    ends_with(SK_ERR_MEMORY, "it did not even begin");
    said_has(s.err, "label: 3 frames in 1.5 s");
}

static void several_sources(void **state)
{
    (void)state;
    begin();
    play.n = 3;
    play.items[1].report.missing = 1;
    play.items[2].report.nothing_to_do = true;
    tell("", "out", true, NULL, &both);
    ends_with(SK_OK, "");
    assert_string_equal(s.err, "[1/3] a.mp4\n[2/3] b.mp4\n[3/3] c.mp4\n");
    assert_string_equal(s.out, "a.mp4: finished, 10 frames, 20 instances, 2.50 s: out/a\nmore of it\n"
                               "b.mp4: incomplete, 11 frames, 20 instances, 2.50 s: out/b\nmore of it\n"
                               "c.mp4: finished already, 12 frames, 20 instances, 2.50 s: out/c\nmore of it\n"
                               "3 of 3 sources finished: 33 frames, 60 instances; in out\n");
    tell("-q", "out", true, NULL, &both);
    assert_string_equal(s.out, "");
    assert_string_equal(s.err, "");
    play.report.incomplete = 2;
    tell("", "out", true, NULL, &none);
    ends_with(SK_ERR_INCOMPLETE,
              "2 of 3 videos are cut off: frames that their headers promise are not in the files. "
              "With whole files, begin anew: --restart");
    /* the second fails, the third is stopped */
    begin();
    play.n = 3;
    play.items[1].status = SK_ERR_FORMAT;
    snprintf(play.items[1].error.message, sizeof play.items[1].error.message, "b.mp4: is no video");
    play.items[2].report.stopped = true;
    play.items[2].out = NULL;
    play.report.failed = 1;
    play.report.done = 2;
    tell("", NULL, true, NULL, &none);
    ends_with(SK_ERR_IO, "1 of 3 sources failed");
    assert_string_equal(s.out, "");
    assert_string_equal(s.err,
                        "[1/3] a.mp4\na.mp4: finished, 10 frames, 20 instances, 2.50 s: out/a\n[2/3] b.mp4\n"
                        "skitter: error: b.mp4: is no video\n[3/3] c.mp4\n"
                        "c.mp4: stopped, 12 frames, 20 instances, 2.50 s\n"
                        "2 of 3 sources finished: 33 frames, 60 instances\n");
    tell("", "out", true, NULL, &none);
    ends_with(SK_ERR_IO,
              "1 of 3 sources failed; the same command tries them again and leaves the others as they are");
    tell("", "out", true, "runs/predict1", &none);
    ends_with(SK_ERR_IO,
              "1 of 3 sources failed; the same command with --out runs/predict1 tries them again and "
              "leaves the others as they are");
    play.report.incomplete = 1;
    tell("--json", "out", true, NULL, &both);
    assert_int_equal(s.status, SK_ERR_IO);
    begins(s.out,
           "{\n  \"sources\": [\n    {\n      \"source\": \"a.mp4\",\n      \"out\": \"out/a\",\n      "
           "\"state\": \"finished\",\n      \"frames\": 10,");
    said_has(
        s.out,
        "\"source\": \"b.mp4\",\n      \"out\": \"out/b\",\n      \"state\": \"failed\",\n      \"error\": "
        "\"b.mp4: is no video\",\n");
    said_has(
        s.out,
        "\"source\": \"c.mp4\",\n      \"out\": \"-\",\n      \"state\": \"stopped\",\n      \"frames\"");
    said_has(
        s.out,
        "      \"more\": \"it\"\n    }\n  ],\n  \"frames\": 33,\n  \"instances\": 60,\n  \"failed\": 1,\n  "
        "\"incomplete\": 1\n}\n");
    tell("--json", "out", true, NULL, &none);
    said_lacks(s.out, "\"more\"");
}

/* Lines on the way, where there is no terminal: the frames of this part, and what was found. */
static void progress(void **state)
{
    (void)state;
    sk_predict_item *item = begin();
    play.frames = 10;
    tell("", "out", false, NULL, &none);
    assert_string_equal(s.err, "label: 10 frames in 5.0 s, 2.0/s\n");
    tell("-q", "out", false, NULL, &none);
    assert_string_equal(s.err, "");
    play.frames = 12; /* two could not be read */
    tell("", "out", false, NULL, &none);
    begins(s.err, "label: 10 frames in ");
    item->report.cached = 9;
    tell("", "out", false, NULL, &none);
    begins(s.err, "label: 10 frames in ");
    item->report.cached = 10; /* none was looked at */
    tell("", "out", false, NULL, &none);
    said_lacks(s.err, "10 frames");
    item->status = SK_ERR_IO; /* how far it got */
    play.report.failed = 1;
    tell("", "out", false, NULL, &none);
    begins(s.err, "label: 12 frames in 6.0 s, 2.0/s\n");
    /* every source has a line of its own */
    begin();
    play.n = 2;
    play.frames = 4;
    tell("", "out", true, NULL, &none);
    assert_string_equal(
        s.err,
        "[1/3] a.mp4\nlabel: 10 frames in 2.0 s, 5.0/s\n[2/3] b.mp4\nlabel: 10 frames in 2.0 s, 5.0/s\n");
}

/* A bar counts what there is to do now, and says what was found. */
static void bars(void **state)
{
    (void)state;
    static terminal screen;
    setenv("TERM", "xterm", 1);
    begin();
    play.frames = 1; /* the first is shown at once */
    for (int known = 1; known >= 0; known--) {
        play.unknown = !known;
        terminal_begin(&screen, 2);
        sk_args *args = NULL;
        static const char *const words[] = {"film.mp4", "-m", "m.pt", "--json"};
        sk_error err = {0};
        sk_status status = sk_args_parse(sk_command_find("predict"), 4, words, &args, &err);
        const sk_predict_settings settings = {.out = "out", .runtime_requested = "auto"};
        const sk_source_list list = {.count = 1};
        fflush(stdout);
        const int own = dup(1);
        FILE *unseen = tmpfile();
        assert_true(own >= 0 && unseen && dup2(fileno(unseen), 1) == 1);
        if (status == SK_OK)
            status = sk_cli_predict_all(args, &settings, &list, NULL, &none, &err);
        fflush(stdout);
        assert_int_equal(dup2(own, 1), 1);
        close(own);
        fclose(unseen);
        sk_args_close(&args);
        terminal_end(&screen);
        assert_ok(status, &err);
        said_has(screen.text, known ? "label 100% [" : "label 1 frames");
        said_has(screen.text, known ? " 1/1 frames, " : "label 1 frames, ");
        said_has(screen.text, ", 2 found");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_source), cmocka_unit_test(interruptions),
                                       cmocka_unit_test(several_sources), cmocka_unit_test(progress),
                                       cmocka_unit_test(bars)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
