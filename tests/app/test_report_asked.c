/* SPDX-License-Identifier: Apache-2.0 */
/* What a run asks of its report: with which words it is opened, which frames it is told of, which pictures of the video it is shown,
 * and where the time went. A report of this test's own takes the real one's place and writes down what it hears. */
#include "support/test.h"

#include "app/track_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "report/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;

/* --- the report that listens --- */

struct sk_report {
    int unused;
};
static sk_text heard;
static const sk_suspect *moments;
static int32_t n_moments;
static int64_t refused = -1; /* a frame whose picture it cannot take */
static sk_report_settings opened;
static char words[4][512];

static const char *keep(int i, const char *text)
{
    snprintf(words[i], sizeof words[i], "%s", text ? text : "(null)");
    return words[i];
}

sk_status sk_report_open(const sk_report_settings *settings, sk_report **out, sk_error *error)
{
    opened = *settings;
    opened.title = keep(0, settings->title);
    opened.made_by = keep(1, settings->made_by);
    opened.method = keep(2, settings->method);
    opened.animal = keep(3, settings->animal);
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(error, sizeof **out);
}

void sk_report_close(sk_report **report)
{
    sk_free(*report);
    *report = NULL;
}

sk_status sk_report_take(sk_report *report, int64_t frame, double time, const sk_sighting *sightings,
                         int32_t n, sk_error *error)
{
    (void)report, (void)error;
    sk_text_appendf(&heard, "take %lld %g %d/%d; ", (long long)frame, time, n, sightings[0].track);
    return SK_OK;
}

void sk_report_end_frames(sk_report *report)
{
    (void)report;
    sk_text_append(&heard, "end; ");
}

const sk_suspect *sk_report_suspects(const sk_report *report, int32_t *count)
{
    (void)report;
    *count = n_moments;
    return moments;
}

static sk_status see(const char *what, int32_t i, const sk_frame *frame, sk_error *error)
{
    assert_int_equal(frame->format, SK_PIXEL_RGB);
    if (frame->index == refused)
        return sk_fail(error, SK_ERR_IO, "not this one");
    sk_text_appendf(&heard, "%s %d %lld=%d; ", what, i, (long long)frame->index, frame->data[0] / 8);
    return SK_OK;
}

sk_status sk_report_ground(sk_report *report, const sk_frame *frame, sk_error *error)
{
    (void)report;
    return see("ground", -1, frame, error);
}

sk_status sk_report_picture(sk_report *report, int32_t i, const sk_frame *frame, sk_error *error)
{
    (void)report;
    return see("picture", i, frame, error);
}

sk_status sk_report_write(sk_report *report, const char *folder, const sk_report_time *times, int32_t n_times,
                          const sk_report_pictures *pictures, sk_error *error)
{
    (void)report;
    sk_text_appendf(&heard, "write %s:", folder);
    for (int32_t i = 0; i < n_times; i++)
        sk_text_appendf(&heard, " %s %g,", times[i].name, times[i].seconds);
    sk_text_append(&heard, " ");
    return pictures->show(pictures->context, error);
}

/* --- a run of it --- */

static sk_track_run run;
static sk_predict_settings settings;
static sk_run_header header;
static sk_predict_report *report;

static void begin(const char *source)
{
    memset(&run, 0, sizeof run);
    run.wish.track.method = "skitter";
    run.figures.seconds = 1.5;
    sk_predict_defaults(&settings);
    settings.source = source;
    settings.media.format = SK_PIXEL_GRAY;
    settings.media.step = 7;
    header = (sk_run_header){.source = source,
                             .source_kind = "pictures",
                             .version = "1",
                             .started = "2026",
                             .runtime = "cpu",
                             .runtime_requested = "auto",
                             .device = "d",
                             .precision = "f32",
                             .settings = "s"};
    report = NULL;
    n_moments = 0;
    refused = -1;
}

/* All it heard of a run whose last frame is this; -1: no frame came. Static text. */
static const char *told(const char *out, int64_t last, sk_status wanted)
{
    static char text[4096];
    static const sk_instances nobody = {0};
    sk_run_folder *folder = NULL;
    sk_consumers list = {0};
    assert_ok(sk_run_folder_open(out, &folder, &err), &err);
    assert_ok(sk_consumers_add(&list, sk_consumer_report(&run, &settings, report), &err), &err);
    sk_consumer *c = list.items[0];
    assert_ok(c->kind->begin(c, &header, folder, &err), &err);
    const sk_result_frame frame = {.index = last, .instances = &nobody};
    sk_passing passing = {.result = &frame};
    if (last >= 0)
        assert_ok(c->kind->take(c, &passing, &err), &err);
    sk_text_clear(&heard);
    assert_int_equal(c->kind->complete(c, &err), wanted);
    snprintf(text, sizeof text, "%s", sk_text_get(&heard));
    sk_text_free(&heard);
    sk_consumers_close(&list);
    sk_run_folder_close(&folder);
    return text;
}

static void suspect(const sk_suspect *list, int32_t n)
{
    moments = list;
    n_moments = n;
}

#define WRITE "write out: tracking 1.5, "

/* --- words --- */

static void how_it_is_opened(void **state)
{
    (void)state;
    static const char *const fly[] = {"fly", "bee"}, *const nameless[] = {""};
    static const struct {
        const char *source, *title;
    } names[] = {{"v.mp4", "v.mp4"}, {"a/b/v.mp4", "v.mp4"}, {"/v", "v"}, {"a/folder/", "a/folder/"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin(names[i].source);
        run.without_video = true;
        (void)told("out", -1, SK_OK);
        assert_string_equal(opened.title, names[i].title);
        assert_string_equal(opened.source, names[i].source);
    }
    static const double rates[][3] = {{0, 30, 30}, {12, 30, 12}, {0.5, 30, 0.5}, {-1, 30, 30}, {0, 0, 0}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        begin("v.mp4");
        run.without_video = true;
        run.wish.track.fps = rates[i][0], header.rate = rates[i][1];
        header.width = 64, header.height = 48;
        run.wish.online = i == 1;
        header.n_classes = i == 4 ? 0 : i == 3 ? 2 : 1;
        header.class_names = i == 2 ? nameless : i == 4 ? NULL : fly;
        (void)told("out", -1, SK_OK);
        assert_true(opened.fps == rates[i][2] && opened.width == 64 && opened.height == 48);
        assert_string_equal(opened.method, i == 1 ? "skitter, online" : "skitter, offline");
        assert_string_equal(opened.animal, i < 2 ? "fly" : "(null)");
        assert_non_null(strstr(opened.made_by, "skitter 1; 2026; runtime cpu (requested auto); device d"));
    }
}

/* Frames with tracks are told of, whether they come or are known; those that could not be read, or were not followed, are not. */
static void what_it_is_told(void **state)
{
    (void)state;
    static const sk_sighting tracks[3] = {{.track = 7}, {.track = 8}, {.track = 9}};
    const sk_instances three = {.count = 3};
    sk_result_frame frame = {.index = 4, .time = 0.5, .instances = &three, .sightings = tracks};
    sk_passing passing = {.result = &frame};
    sk_run_folder *folder = NULL;
    sk_consumers list = {0};
    bool lacks = false;
    begin("v.mp4");
    assert_ok(sk_run_folder_open(NULL, &folder, &err), &err);
    assert_ok(sk_consumers_add(&list, sk_consumer_report(&run, &settings, NULL), &err), &err);
    sk_consumer *c = list.items[0];
    assert_string_equal(c->kind->name, "report");
    assert_string_equal(c->files[0], "report.html");
    assert_string_equal(c->files[1], "plots/");
    assert_null(c->files[2]);
    assert_ok(c->kind->begin(c, &header, folder, &err), &err);
    assert_ok(c->kind->take(c, &passing, &err), &err);
    frame.index = 5;
    assert_ok(c->kind->retell(c, 0, &frame, &lacks, &err), &err);
    frame.problem = "torn";
    assert_ok(c->kind->take(c, &passing, &err), &err);
    frame.problem = NULL, frame.sightings = NULL;
    assert_ok(c->kind->take(c, &passing, &err), &err);
    assert_ok(c->kind->retell(c, 0, &frame, &lacks, &err), &err);
    assert_ok(c->kind->complete(c, &err), &err); /* a run that keeps nothing has no page */
    assert_false(lacks);
    assert_string_equal(sk_text_get(&heard), "take 4 0.5 3/7; take 5 0.5 3/7; ");
    sk_text_free(&heard);
    sk_consumers_close(&list);
    sk_run_folder_close(&folder);
}

static void where_the_time_went(void **state)
{
    (void)state;
    static sk_predict_report times;
    begin("nowhere.mp4"); /* what cannot be opened leaves it without pictures */
    report = &times;
    times = (sk_predict_report){.seconds = 9, .decode = 1, .pre = 2, .network = 3, .post = 4, .write = 6};
    assert_string_equal(told("out", 3, SK_OK), "end; " WRITE);
    times.frames = 1;
    assert_string_equal(told("out", 3, SK_OK),
                        "end; write out: tracking 1.5, reading the video 1, before the network 2, network 3, "
                        "after the network 4, record 6, all frames, from first to last 9, ");
    times = (sk_predict_report){.frames = 2, .crops = 0.25};
    assert_string_equal(told("out", 3, SK_OK), "end; write out: tracking 1.5, crops 0.25, ");
}

/* --- pictures --- */

#define N_PICTURES 20

/* Each as grey as its number is large; the fifth is none. */
static int put_pictures(void **state)
{
    (void)state;
    uint8_t pixels[8 * 8 * 3];
    char path[64];
    assert_ok(sk_folder_make("in", &err), &err);
    for (int i = 0; i < N_PICTURES; i++) {
        sk_frame f = SK_FRAME_INIT;
        memset(pixels, i * 8, sizeof pixels);
        f.format = SK_PIXEL_RGB, f.width = f.height = 8, f.stride = 24, f.data = pixels;
        snprintf(path, sizeof path, "in/%02d.png", i);
        assert_ok(i == 4 ? sk_file_replace(path, "none", 4, &err) : sk_picture_write(path, &f, &err), &err);
    }
    return 0;
}

static void moments_in_one_way(void **state)
{
    (void)state;
    static const sk_suspect some[] = {{.frame = 3}, {.frame = 1}, {.frame = 3}, {.frame = 23},
                                      {.frame = 0}, {.frame = 4}, {.frame = 19}};
    begin("in");
    assert_string_equal(told("out", 19, SK_OK), "end; ground -1 0=0; " WRITE);
    suspect(some, 3);
    assert_string_equal(told("out", 19, SK_OK),
                        "end; ground -1 0=0; " WRITE "picture 1 1=1; picture 0 3=3; picture 2 3=3; ");
    suspect(some, 7); /* one is not there, one cannot be read */
    assert_string_equal(told("out", 19, SK_OK),
                        "end; ground -1 0=0; picture 4 0=0; " WRITE
                        "picture 1 1=1; picture 0 3=3; picture 2 3=3; picture 6 19=19; ");
    settings.media.first = 1;
    suspect(some, 3);
    assert_string_equal(told("out", 19, SK_OK),
                        "end; ground -1 1=1; picture 1 1=1; " WRITE "picture 0 3=3; picture 2 3=3; ");
    /* no more than twelve, the worst */
    sk_suspect many[14] = {{0}};
    for (int i = 0; i < 14; i++)
        many[i].frame = 19 - i;
    settings.media.first = 0;
    suspect(many, 14);
    assert_string_equal(told("out", 19, SK_OK),
                        "end; ground -1 0=0; " WRITE
                        "picture 11 8=8; picture 10 9=9; picture 9 10=10; picture 8 11=11; picture 7 12=12; "
                        "picture 6 13=13; picture 5 14=14; picture 4 15=15; picture 3 16=16; "
                        "picture 2 17=17; picture 1 18=18; picture 0 19=19; ");
    /* what the report cannot take ends it */
    refused = 0;
    assert_string_equal(told("out", 19, SK_ERR_IO), "end; ");
    refused = 10;
    assert_string_equal(told("out", 19, SK_ERR_IO),
                        "end; ground -1 0=0; " WRITE "picture 11 8=8; picture 10 9=9; ");
}

#ifdef SKITTER_HAVE_FFMPEG
static void put_film(const char *name, int frames)
{
    sk_text film = {.limit = 1 << 20};
    uint8_t pixels[16 * 16 * 3 / 2];
    sk_text_append(&film, "YUV4MPEG2 W16 H16 F25:1 Ip C420jpeg\n");
    for (int i = 0; i < frames; i++) {
        memset(pixels, 128, sizeof pixels);
        memset(pixels, 24 + 16 * i, 256);
        sk_text_append(&film, "FRAME\n");
        sk_text_append_bytes(&film, (const char *)pixels, sizeof pixels);
    }
    assert_ok(sk_file_replace(name, film.data, film.length, &err), &err);
    sk_text_free(&film);
}
#endif

static bool shows(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* Played over and over: the picture of a later round is that of the first. Where not all of a file's rounds are alike, or nobody knows
 * how long one is, none is taken for another. */
static void rounds_of_a_file(void **state)
{
    (void)state;
    static const sk_suspect later[] = {{.frame = 43}, {.frame = 20}, {.frame = 39}};
    for (int rounds = 2; rounds < 4; rounds++) {
        begin("in"); /* counted, whatever was read of it */
        settings.media.loop = rounds;
        suspect(later, 3);
        assert_string_equal(told("out", 30, SK_OK),
                            "end; ground -1 0=0; picture 1 0=0; " WRITE "picture 0 3=3; picture 2 19=19; ");
    }
    settings.media.last = 1; /* a part of it */
    assert_false(shows(told("out", 30, SK_OK), "picture 0 3=3"));
    settings.media.last = -1, settings.media.first = 1;
    assert_false(shows(told("out", 30, SK_OK), "picture 0 3=3"));
    begin("in/07.png"); /* one picture is all there is */
    settings.media.loop = 3;
    suspect((const sk_suspect[]){{.frame = 2}}, 1);
    assert_string_equal(told("out", 2, SK_OK), "end; ground -1 0=7; picture 0 0=7; " WRITE);
#ifdef SKITTER_HAVE_FFMPEG
    put_film("film.y4m", 10);
    begin("film.y4m");
    header.source_kind = "video";
    settings.media.loop = 3;
    suspect((const sk_suspect[]){{.frame = 23}}, 1);
    const char *text = told("out", 29, SK_OK); /* so many were read: the estimate holds */
    assert_true(shows(text, "ground -1 0="));
    assert_true(shows(text, "picture 0 3="));
    assert_false(shows(told("out", 28, SK_OK), "picture 0 3="));
    assert_false(shows(told("out", 30, SK_OK), "picture 0 3="));
    assert_false(shows(told("out", 9, SK_OK), "picture 0 3="));
#endif
}

static void nothing_to_be_shown(void **state)
{
    (void)state;
    begin("in");
    run.without_video = true;
    assert_string_equal(told("out", 19, SK_OK), "end; " WRITE);
    run.without_video = false;
    header.source_kind = "live";
    assert_string_equal(told("out", 19, SK_OK), "end; " WRITE);
    header.source_kind = "video";
    assert_string_equal(told("out", 19, SK_OK), "end; ground -1 0=0; " WRITE);
    /* a pipe is not read a second time */
    char byte = 'x';
    assert_int_equal(mkfifo("pipe.y4m", 0600), 0);
    const int pipe_end = open("pipe.y4m", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(pipe_end >= 0 && write(pipe_end, &byte, 1) == 1);
    begin("pipe.y4m");
    assert_string_equal(told("out", 19, SK_OK), "end; " WRITE);
    assert_int_equal(read(pipe_end, &byte, 1), 1);
    (void)close(pipe_end);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_it_is_opened),    cmocka_unit_test(what_it_is_told),
        cmocka_unit_test(where_the_time_went), cmocka_unit_test(moments_in_one_way),
        cmocka_unit_test(rounds_of_a_file),    cmocka_unit_test(nothing_to_be_shown),
    };
    return cmocka_run_group_tests(tests, put_pictures, NULL);
}
