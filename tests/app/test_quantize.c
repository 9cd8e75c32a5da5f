/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bits of a tiny network: which frames it is made with, what is told while it is made, what the report says of it, by whole
 * frames and by crops, with truth and without. */
#include "runner/runner_fixture.h"
#include "support/recorded.h"

#include "app/predict.h"
#include "app/quantize_internal.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "skitter/version.h"

#include <math.h>
#include <unistd.h>

static sk_error err;
static char detect[4300], pose[4300], obb[4300], classify[4300];

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* Noise in which squares stand, so that frames differ from each other by more than chance. */
static void put_pictures(const char *folder, int count, int32_t width, int32_t height)
{
    char path[256];
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = make_frame(width, height, i);
        f.stride = 3 * (ptrdiff_t)width;
        for (int32_t y = 0; y < height; y++)
            for (int32_t x = 0; x < width; x++)
                if (x / 8 == i % 4 || y / 8 == i % 3)
                    memset(f.data + y * f.stride + 3 * x, 30 * (i % 8), 3);
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

static sk_quantize_settings quick(const char *model, const char *output)
{
    sk_quantize_settings s;
    sk_quantize_defaults(&s);
    s.model = model;
    s.data = "pictures";
    s.output = output;
    s.frames = 8;
    s.height = s.width = 32;
    s.threads = 1;
    s.confidence = 0.01F;
    s.overwrite = true;
    return s;
}

static void defaults(void **state)
{
    (void)state;
    sk_quantize_settings s;
    sk_quantize_defaults(&s);
    assert_true(s.frames == 100 && s.percent == 99.99 && s.confidence == 0.25F && s.peak_threshold == 0.2F);
    assert_true(s.precision == SK_QUANTIZE_I8 && !s.overwrite && !s.report && !s.truth && s.threads == 0);
}

/* --- the whole --- */

/* What there is none of is recorded as -1. */
static double known(double figure)
{
    return isnan(figure) ? -1 : figure;
}

/* A float's last digits are another processor's business. */
static void say(const char *title, const sk_quantize_report *r)
{
    const sk_loss *l = &r->about.loss;
    recorded_say("%s: %s of %s by %s, finder '%s'", title, r->about.precision, r->about.source, r->about.data,
                 r->about.finder);
    recorded_say("frames %d of %d layers %d kept %d measured %d by %s at %dx%d", r->about.frames, r->asked,
                 r->about.layers, r->about.kept, r->about.measured, r->about.measured_by, r->about.width,
                 r->about.height);
    recorded_say("loss frames %d instances %lld lost %s added %s percent ~~%.7g correlation %.2f", l->frames,
                 (long long)l->instances, l->lost ? "some" : "none", l->added ? "some" : "none", l->percent,
                 r->correlation);
    recorded_say("boxes ~~%.7g ~~%.7g points ~~%.7g ~~%.7g scores ~~%.7g ~~%.7g", known(l->box_px),
                 known(l->box_px_95), known(l->keypoint_px), known(l->keypoint_px_95), known(l->score),
                 known(l->score_95));
    for (int32_t i = 0; i < r->n_rows; i++) {
        const sk_quantize_row *row = &r->rows[i];
        recorded_say("  %s %s error ~~%.7g weights ~%.7g low ~%.7g high ~%.7g alone ~~%.7g", row->name,
                     row->kept ? "f32" : "i8", row->error, row->weight_error, (double)row->low,
                     (double)row->high, row->sensitivity);
    }
    if (r->truth_of[0])
        for (int i = 0; i < 2; i++)
            recorded_say("truth of %s: ap ~%.7g ap50 ~%.7g precision ~%.7g recall ~%.7g median ~%.7g",
                         r->truth_of, r->truth[i].ap, r->truth[i].ap50, r->truth[i].precision,
                         r->truth[i].recall, r->truth[i].median_px);
}

static void run_and_say(const char *title, const sk_quantize_settings *s)
{
    sk_quantize_report r;
    sk_model *model = NULL;
    assert_ok(sk_quantize_run(s, &r, &err), &err);
    assert_true(r.seconds > 0 && r.bytes == sk_file_size(s->output) && r.bytes > 1000);
    assert_string_equal(r.about.made_by, sk_version_text());
    assert_int_equal(strlen(r.about.source_sha256), 64);
    assert_int_equal(r.about.layers + r.about.kept >= r.n_rows, 1);
    say(title, &r);
    assert_ok(sk_model_open(s->output, &model, &err),
              &err); /* what the file says of itself is what was told */
    assert_true(sk_graph_is_quantised(model->graph) && model->quantised);
    assert_string_equal(model->quantised->precision, r.about.precision);
    assert_string_equal(model->quantised->source_sha256, r.about.source_sha256);
    assert_int_equal(model->quantised->layers, r.about.layers);
    assert_int_equal(model->quantised->kept, r.about.kept);
    assert_true(fabs(model->quantised->loss.percent - r.about.loss.percent) < 1e-4);
    sk_model_close(&model);
    sk_quantize_report_free(&r);
    assert_true(r.rows == NULL && r.n_rows == 0);
}

static void kinds_of_models(void **state)
{
    (void)state;
    if (!(sk_cpu_flags() & SK_CPU_AVX2)) { /* sums of others round otherwise */
        print_message("skipped: not a processor like that of the recording\n");
        skip();
    }
    sk_quantize_settings s = quick(detect, "a.skq");
    s.report = "a.json";
    run_and_say("boxes", &s);
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("a.json", 1 << 20, &text, &length, &err), &err);
    assert_non_null(strstr(text, "\"measured_by\": \"cpu, i8"));
    sk_free(text);
    s = quick(pose, "b.skq");
    s.precision = SK_QUANTIZE_MIXED;
    run_and_say("poses, mixed", &s);
    s = quick(obb, "c.skq");
    s.ranges = SK_RANGE_PERCENTILE;
    s.percent = 99;
    run_and_say("turned boxes, by a percentile", &s);
    s = quick(classify, "d.skq");
    s.frames = 4; /* the least: five, one of them for measuring */
    run_and_say("classes", &s);
    s = quick(pose, "e.skq");
    s.finder = detect;
    s.frames = 12;
    run_and_say("crops of what another finds", &s);
    static const char *const sleap[] = {"unet_no_decoder", "unet_single_kernel5_convs3",
                                        "unet_bottomup_transposed"};
    for (int i = 0; i < 3; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", test_source("tests/fixtures/sleap_nn"), sleap[i]);
        s = quick(path, "f.skq");
        s.height = s.width = 0;
        s.peak_threshold = i == 1 ? 0.05F : 0.01F;
        run_and_say(sleap[i], &s);
    }
    recorded_check("tests/app/told/quantize.txt");
}

/* --- what is told meanwhile --- */

typedef struct watched {
    char text[512];
    const char *stop;
    int64_t last, total;
    char step[64];
} watched;

static bool watch(void *context, const char *step, int64_t done, int64_t total)
{
    watched *w = context;
    if (strcmp(step, w->step) != 0) {
        snprintf(w->text + strlen(w->text), sizeof w->text - strlen(w->text), "%s %lld; ", step,
                 (long long)total);
        snprintf(w->step, sizeof w->step, "%s", step);
        w->last = 0;
    }
    assert_int_equal(done, ++w->last); /* one after the other */
    assert_true(done <= total);
    w->total = total;
    return w->stop && strcmp(step, w->stop) == 0;
}

/* Against what f32 itself found: it is all right, and eight bits at most as good. */
static void against_the_truth(void **state)
{
    (void)state;
    sk_predict_settings p;
    static sk_predict_report pr;
    sk_quantize_report r;
    sk_predict_defaults(&p);
    p.source = "pictures";
    p.n_models = 1;
    p.models[0] = pose;
    p.out = "predicted";
    p.detector.confidence = 0.01F;
    p.detector.height = p.detector.width = 32;
    p.detector.max_det = 20; /* as many poses of a frame as `eval` counts */
    p.detector.rect = SK_RECT_OFF;
    p.detector.threads = 1;
    assert_ok(sk_predict_run(&p, NULL, NULL, &pr, &err), &err);
    sk_quantize_settings s = quick(pose, "t.skq");
    s.truth = "predicted";
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    assert_string_equal(r.truth_of, "poses (OKS)");
    assert_true(r.truth[0].ap > 0.97 && r.truth[0].recall > 0.97 && r.truth[0].precision > 0.97);
    assert_true(fabs(r.truth[0].median_px) < 0.05);
    assert_true(r.truth[1].ap <= r.truth[0].ap && r.truth[1].ap > 0 &&
                r.truth[1].median_px > r.truth[0].median_px);
    sk_quantize_report_free(&r);
    assert_true(r.n_notices == 1 && strstr(r.notices[0], "measured on 2 frames alone"));
    /* of other pictures: told before anything is computed */
    put("other.csv", "frame,x1,y1,x2,y2\n1000,2,3,30,30\n");
    s.truth = "other.csv";
    watched steps = {0};
    s.watch = watch;
    s.context = &steps;
    assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_MISMATCH);
    assert_non_null(
        strstr(err.message, "other.csv: --truth says nothing of the frames of pictures (--data)"));
    assert_non_null(strstr(err.message, "(006.png, 014.png)"));
    assert_string_equal(steps.step, "reading frames");
    s.watch = NULL;
    s.truth = "nowhere.csv";
    assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_NOT_FOUND);
}

static void steps_are_told_and_can_be_stopped(void **state)
{
    (void)state;
    sk_quantize_report r;
    sk_quantize_settings s = quick(detect, "steps.skq");
    watched all = {0};
    s.watch = watch;
    s.context = &all;
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    const int32_t layers = r.n_rows;
    sk_quantize_report_free(&r);
    char wanted[512];
    assert_true(layers > 5 && layers <= 32);
    assert_non_null(strstr(all.text, "reading frames 10; calibrating "));
    snprintf(wanted, sizeof wanted, "measuring each layer %d; measuring layers 2; measuring what is lost 2; ",
             layers);
    assert_non_null(strstr(all.text, wanted));
    assert_int_equal(all.last, all.total);
    assert_int_equal(unlink("steps.skq"), 0);
    static const char *const steps[] = {"reading frames", "calibrating", "measuring each layer",
                                        "measuring layers", "measuring what is lost"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        watched some = {.stop = steps[i]};
        s.context = &some;
        assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_CANCELLED);
        assert_string_equal(err.message, "interrupted; nothing was written");
        assert_string_equal(some.step, steps[i]);
        assert_int_equal(some.last, 1);
        assert_false(sk_file_exists("steps.skq"));
        assert_true(r.rows == NULL && r.n_rows == 0);
    }
}

/* What is read and what is made stays as it is, whatever the report is to be called. */
static void a_report_replaces_nothing_else(void **state)
{
    (void)state;
    sk_quantize_report r;
    char command[8700];
    snprintf(command, sizeof command, "cp -r '%s' net && chmod -R u+w net",
             test_source("tests/fixtures/sleap_nn/unet_no_decoder"));
    assert_int_equal(system(command), 0);
    assert_ok(sk_folder_make("run", &err), &err);
    put("run/run.json", "{}");
    put("given.json", "{}");
    put("old.json", "{}");
    put("film.y4m", "x");
    assert_int_equal(link(detect, "second.json") | symlink("film.y4m", "link.json"), 0);
    const struct {
        const char *report, *words;
    } rows[] = {
        {"detect.pt", "detect.pt: is the model, which is not written over; --report names another file"},
        {"second.json", "second.json: is the model"},
        {"film.y4m", "film.y4m: is the data (--data)"},
        {"link.json", "link.json: is the data (--data)"},
        {"given.json", "given.json: is the truth (--truth)"},
        {"net/training_config.yaml", "is a file of the finder (--finder) (net)"},
        {"run/run.json", "is a file of the detections (--detections) (run)"},
        {"rr.skq", "rr.skq: is the model in eight bits (-o)"},
        {"./rr.skq", "./rr.skq: is the model in eight bits (-o)"},
        {"new.csv",
         "new.csv: the name is a table's, and a report in JSON is what is written; call it new.json"},
        {"net", "net: is "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int overwrite = 0; overwrite < 2; overwrite++) {
            sk_quantize_settings s = quick(detect, "rr.skq");
            s.data = "film.y4m";
            s.truth = "given.json";
            s.finder = "net";
            s.detections = "run";
            s.report = rows[i].report;
            s.overwrite = overwrite;
            assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_ARG);
            if (!strstr(err.message, rows[i].words))
                fail_msg("'%s' is not in '%s'", rows[i].words, err.message);
        }
    sk_quantize_settings s = quick(detect, "rr.skq");
    s.finder = "finder.skq"; /* the file to make */
    s.output = "./finder.skq";
    assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "./finder.skq: is the finder (--finder)"));
    s = quick("net/best.ckpt", "rr.skq"); /* by a file of its folder */
    put("net/export_metadata.json", "{}");
    s.report = "net/export_metadata.json";
    assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "net/export_metadata.json: is a file of the model (net/best.ckpt)"));
    s = quick(detect, "rr.skq");
    s.report = "old.json";
    s.overwrite = false;
    assert_int_equal(sk_quantize_run(&s, &r, &err), SK_ERR_BUSY);
    assert_string_equal(err.message,
                        "old.json: is there already; --overwrite replaces it, --report names another file");
    assert_false(sk_file_exists("rr.skq"));
    s.overwrite = true;
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    assert_true(sk_file_size("old.json") > 2);
    sk_quantize_report_free(&r);
}

/* The size it was made for is its usual one from then on, rounded up as the network needs it. */
static void the_size_is_kept(void **state)
{
    (void)state;
    static const struct {
        int32_t asked, usual;
    } sizes[] = {{0, 32}, {64, 64}, {50, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sk_quantize_report r;
        sk_model *model = NULL;
        sk_quantize_settings s = quick(detect, "size.skq");
        s.height = s.width = sizes[i].asked;
        assert_ok(sk_quantize_run(&s, &r, &err), &err);
        assert_ok(sk_model_open("size.skq", &model, &err), &err);
        assert_true(model->input.height == sizes[i].usual && model->input.width == sizes[i].usual);
        assert_true(!model->input.fixed_size);
        assert_true(model->quantised->height == sizes[i].usual && r.about.width == sizes[i].usual);
        sk_model_close(&model);
        sk_quantize_report_free(&r);
    }
}

static void refusals(void **state)
{
    (void)state;
    sk_quantize_report r;
#define REFUSED(code, words)                                                                                 \
    do {                                                                                                     \
        assert_int_equal(sk_quantize_run(&s, &r, &err), code);                                               \
        if (!strstr(err.message, words))                                                                     \
            fail_msg("'%s' is not in '%s'", words, err.message);                                             \
        s = quick(detect, "r.skq");                                                                          \
    } while (0)
    sk_quantize_settings s = quick(NULL, "r.skq");
    REFUSED(SK_ERR_ARG, "a model, frames (--data) and a file to write (-o) are needed");
    s.data = NULL;
    REFUSED(SK_ERR_ARG, "are needed");
    s.output = NULL;
    REFUSED(SK_ERR_ARG, "are needed");
    s.output = "r.pt";
    REFUSED(SK_ERR_ARG, "r.pt: a model in eight bits has a name that ends in .skq");
    assert_ok(sk_folder_make("folder.skq", &err), &err);
    s.output = "folder.skq";
    REFUSED(SK_ERR_ARG, "folder.skq: is a folder, where a file is to be written");
    s.output = "nowhere/r.skq";
    REFUSED(SK_ERR_IO, "nowhere/r.skq: there is no folder nowhere; make it first");
    s.report = "nowhere/r.json";
    REFUSED(SK_ERR_IO, "nowhere/r.json: there is no folder nowhere; make it first");
    put("there.skq", "x");
    s.output = "there.skq";
    s.overwrite = false;
    REFUSED(SK_ERR_BUSY, "there.skq: is there already; --overwrite replaces it");
    s.model = "a.skq";
    REFUSED(SK_ERR_ARG, "a.skq: is in eight bits already; give the model it was made from: detect.pt");
    put("there.skq", "x"); /* what cannot be at all is said before what could be with --overwrite */
    s.model = "a.skq";
    s.output = "there.skq";
    s.overwrite = false;
    REFUSED(SK_ERR_ARG, "a.skq: is in eight bits already");
    s.data = "few";
    REFUSED(SK_ERR_ARG, "few: has 4 frames; at least 5 are needed, one of five to measure what is lost");
    s.data = "one";
    REFUSED(SK_ERR_ARG, "one: has 1 frame; at least 5");
    s.finder = detect;
    s.detections = "d.csv";
    REFUSED(SK_ERR_ARG, "--finder and --detections: one of them says where the animals are");
    s.finder = pose;
    REFUSED(SK_ERR_ARG, "");
    s.detections = "none.csv";
    put("none.csv", "frame,x1,y1,x2,y2\n");
    REFUSED(SK_ERR_ARG, "none.csv: holds no detections; there is nothing to look at");
    put("d.csv", "frame,x1,y1,x2,y2\n1,2,3,30,30\n");
    s.model = pose;
    s.detections = "d.csv";
    REFUSED(SK_ERR_UNSUPPORTED, "pictures: --detections are of a video's frames, by their numbers");
    s.finder = classify;
    s.model = pose;
    REFUSED(SK_ERR_ARG, "does not find what");
    s.model = pose;
    s.finder = detect;
    s.confidence = 0.9999F;
    REFUSED(SK_ERR_ARG, "finds nothing in 10 frames of it, so there are no crops to look at");
    s.data = "sizes";
    s.model = pose;
    s.height = s.width = 0;
    assert_ok(sk_quantize_run(&s, &r, &err), &err); /* pictures of several sizes share one network */
    sk_quantize_report_free(&r);
}

int main(void)
{
    static const struct {
        const char *head, *file;
        char *path;
    } models[] = {{"Detect", "detect.pt", detect},
                  {"Pose", "pose.pt", pose},
                  {"OBB", "obb.pt", obb},
                  {"Classify", "classify.pt", classify}};
    if (chdir(test_folder()) != 0 || setenv("SKITTER_CPU_MASK", "avx2", 1) != 0)
        return 1;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const yolo_fixture fixture = {.head = models[i].head, .f32 = true, .imgsz = 32};
        snprintf(models[i].path, 4300, "%s", yolo_save(&fixture, models[i].file));
    }
    put_pictures("pictures", 16, 48, 40);
    put_pictures("few", 4, 48, 40);
    put_pictures("one", 1, 48, 40);
    put_pictures("sizes", 4, 48, 40);
    put_pictures("sizes/more", 4, 40, 48);
    for (int i = 0; i < 4; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "sizes/more/%03d.png", i);
        snprintf(to, sizeof to, "sizes/x%03d.png", i);
        if (rename(from, to) != 0)
            return 1;
    }
    if (rmdir("sizes/more") != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(kinds_of_models),
        cmocka_unit_test(against_the_truth),
        cmocka_unit_test(steps_are_told_and_can_be_stopped),
        cmocka_unit_test(a_report_replaces_nothing_else),
        cmocka_unit_test(the_size_is_kept),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
