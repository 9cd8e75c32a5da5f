/* SPDX-License-Identifier: Apache-2.0 */
/* Which setting a flag reaches, and which it does not: every flag of predict and of track, a row each. */
#include "support/test.h"

#include "base/memory.h"
#include "cli/applies.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/predict_settings.h"
#include "cli/sizes.h"
#include "cli/sleap_options.h"
#include "cli/track_settings.h"
#include "media/overlay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef printf

static sk_args *args;
static sk_predict_settings p;
static sk_predict_borrowed borrowed;
static sk_track_door door;
static sk_sleap_options sleap;
static sk_error err;
static char model[4096], line[8192];

static void close_all(void)
{
    sk_cli_track_close(&door);
    sk_cli_predict_borrowed_free(&borrowed);
    sk_args_close(&args);
    door = (sk_track_door){0};
    err = (sk_error){0};
}

static void parse(const char *command, const char *words)
{
    const char *argv[32];
    int argc = 0;
    close_all();
    snprintf(line, sizeof line, "%s", words);
    for (char *rest = NULL, *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    assert_ok(sk_args_parse(sk_command_find(command), argc, argv, &args, &err), &err);
}

/* The settings of `command` with these words behind a video and a model. */
static sk_status predict_of(const char *command, const char *words)
{
    char all[6144];
    snprintf(all, sizeof all, "a.mp4 -m %s %s", model, words);
    parse(command, all);
    sk_predict_defaults(&p);
    return sk_cli_predict_settings(args, &p, &borrowed, &err);
}

static sk_status track_of(const char *words)
{
    parse("track", words);
    return sk_cli_track_settings(args, &door, &err);
}

static void parse_predict(const char *words)
{
    char all[6144];
    snprintf(all, sizeof all, "a.mp4 %s", words);
    parse("predict", all);
}

static sk_status sleap_of(const char *words)
{
    parse_predict(words);
    sleap = (sk_sleap_options){.centroid_peak_threshold = -7};
    return sk_cli_read_sleap(args, &sleap, &err);
}

#define REACHES(read, words, condition)                                                                      \
    do {                                                                                                     \
        assert_ok(read(""), &err);                                                                           \
        if (condition)                                                                                       \
            fail_msg("line %d: %s without '%s'", __LINE__, #condition, words);                               \
        assert_ok(read(words), &err);                                                                        \
        if (!(condition))                                                                                    \
            fail_msg("line %d: not %s with '%s'", __LINE__, #condition, words);                              \
    } while (0)
#define IS(read, words, condition)                                                                           \
    do {                                                                                                     \
        assert_ok(read(words), &err);                                                                        \
        if (!(condition))                                                                                    \
            fail_msg("line %d: not %s with '%s'", __LINE__, #condition, words);                              \
    } while (0)
#define REFUSED(read, words, part)                                                                           \
    do {                                                                                                     \
        if ((read(words)) != SK_ERR_ARG || !strstr(err.message, part))                                       \
            fail_msg("line %d: '%s' is not refused with '%s': %s", __LINE__, words, part, err.message);      \
    } while (0)
#define PREDICT(words) predict_of("predict", words)
#define TRACK(words)   predict_of("track", words)

static void flags_of_predict(void **state)
{
    (void)state;
    const sk_detector_settings *d = &p.detector;
    IS(PREDICT, "", d->confidence == 0.25F && d->iou == 0.7 && d->max_det == 300 && d->batch == 1);
    IS(PREDICT, "", p.n_models == 1 && p.n_formats == 2 && strcmp(p.formats[0], "csv") == 0);
    IS(PREDICT, "", p.media.loop == 1 && p.media.reconnect_seconds == 60 && p.media.max_pixels == 0);
    IS(PREDICT, "", d->classes == NULL && d->n_classes == 0 && p.found == NULL && p.n_found == 0);
    REACHES(PREDICT, "--conf 0.5", d->confidence == 0.5F);
    REACHES(PREDICT, "--iou 0.5", d->iou == 0.5);
    REACHES(PREDICT, "--max-det 9", d->max_det == 9);
    REACHES(PREDICT, "--agnostic", d->agnostic);
    REACHES(PREDICT, "--rect on", d->rect == SK_RECT_ON);
    REACHES(PREDICT, "--nms off", d->heads == SK_HEADS_ONE_TO_ONE);
    REACHES(PREDICT, "--batch 8", d->batch == 8);
    REACHES(PREDICT, "--batch 8", p.media.queue == 20);
    IS(PREDICT, "--batch 2", p.media.queue == 8);
    IS(PREDICT, "", p.media.queue == 0);
    REACHES(PREDICT, "--threads 3", d->threads == 3);
    REACHES(PREDICT, "--no-winograd", !d->winograd);
    REACHES(PREDICT, "--obb-form quarter", d->obb_quarter);
    REACHES(PREDICT, "--imgsz 480x640", d->height == 480 && d->width == 640);
    REACHES(PREDICT, "--save-overlay", p.overlay);
    REACHES(PREDICT, "--save-crops", p.crops);
    REACHES(PREDICT, "--save-overlay --line-width 2.5", p.line_width == 2.5F);
    REACHES(PREDICT, "--save-overlay --overlay-encoder gpu", p.overlay_gpu == SK_CHOICE_ON);
    REACHES(PREDICT, "--save-overlay --overlay-encoder processor", p.overlay_gpu == SK_CHOICE_OFF);
    IS(PREDICT, "--save-overlay --overlay-encoder auto", p.overlay_gpu == SK_CHOICE_AUTO);
    REACHES(PREDICT, "--save-overlay --draw boxes", p.draw == SK_DRAW_BOXES);
    REACHES(PREDICT, "--no-empty", p.no_empty);
    REACHES(PREDICT, "--restart", p.restart);
    REACHES(PREDICT, "--overwrite", p.overwrite);
    REACHES(PREDICT, "--strict", p.strict);
    REACHES(PREDICT, "--find-only", p.find_only);
    REACHES(PREDICT, "--found x --found y",
            p.n_found == 2 && strcmp(p.found[0], "x") == 0 && strcmp(p.found[1], "y") == 0);
    IS(PREDICT, "", p.colours == SK_PREDICT_COLOURS_ORIGINAL);
    REACHES(PREDICT, "--colour tagged", p.colours == SK_PREDICT_COLOURS_TAGGED);
    REACHES(PREDICT, "--color bt601", p.colours == SK_PREDICT_COLOURS_BT601);
    REACHES(PREDICT, "--loop 5", p.media.loop == 5);
    REACHES(PREDICT, "--devices cpu:0", p.devices && strcmp(p.devices, "cpu:0") == 0);
    REACHES(PREDICT, "--allow-failover", p.allow_failover);
    REACHES(PREDICT, "--hwaccel auto", strcmp(p.media.hwaccel, "auto") == 0);
    REACHES(PREDICT, "--max-pixels 77", p.media.max_pixels == 77);
    REACHES(PREDICT, "--topic /x", p.media.topic && strcmp(p.media.topic, "/x") == 0);
    REACHES(PREDICT, "--reconnect 5", p.media.reconnect_seconds == 5);
    REACHES(PREDICT, "--frames 3:9:2", p.media.first == 3 && p.media.last == 9 && p.media.step == 2);
    REACHES(PREDICT, "--frames 0-3,7", p.media.n_ranges == 2 && p.media.ranges == borrowed.ranges);
    REACHES(PREDICT, "--format jsonl,slp", p.n_formats == 2 && strcmp(p.formats[1], "slp") == 0);
    IS(PREDICT, "--format json,txt",
       strcmp(p.formats[0], "jsonl") == 0 && strcmp(p.formats[1], "labels") == 0);
    REACHES(PREDICT, "--classes 2,0", d->n_classes == 2 && d->classes[0] == 2 && d->classes[1] == 0);
    IS(PREDICT, "--classes fly,mouse", d->n_classes == 2 && d->classes[0] == 1 && d->classes[1] == 2);
    assert_true(p.media.interrupted && !p.media.interrupted(NULL));
    snprintf(model, sizeof model, "%s", test_source("share/models/demo-bottomup"));
    REACHES(PREDICT, "--peak-threshold 0.5", d->peak_threshold == 0.5F);
    REACHES(PREDICT, "--max-instances 3", d->max_instances == 3);
    REACHES(PREDICT, "--refinement local", d->sleap.refinement == SK_SLEAP_REFINE_LOCAL);
    snprintf(model, sizeof model, "%s", test_source("share/models/demo-obb.pt"));
}

static void what_predict_refuses(void **state)
{
    (void)state;
    parse("predict", "a.mp4");
    sk_predict_defaults(&p);
    assert_int_equal(sk_cli_predict_settings(args, &p, &borrowed, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "predict needs a model: --model M");
    char most[1024] = "";
    for (int i = 0; i < SK_PIPELINE_MAX_MODELS - 1; i++)
        snprintf(most + strlen(most), sizeof most - strlen(most), "-m x%d ", i);
    IS(PREDICT, most, p.n_models == SK_PIPELINE_MAX_MODELS && strcmp(p.models[1], "x0") == 0);
    strcat(most, "-m y");
    REFUSED(PREDICT, most, "--model: at most 2");
    REFUSED(PREDICT, "--overlay-encoder gpu", "--overlay-encoder is for the overlay's video");
    REFUSED(PREDICT, "--draw boxes", "--draw says how the overlay looks");
    REFUSED(PREDICT, "--line-width 2", "--line-width says how the overlay looks");
    REFUSED(PREDICT, "--save-overlay --draw nonsense", "--draw: ");
    REFUSED(PREDICT, "--format nonsense", "no result format is called 'nonsense'; there are ");
    assert_non_null(strstr(err.message, "csv, "));
    assert_null(strstr(err.message, "tracks"));
    REFUSED(TRACK, "--format nonsense", ", tracks");
    REFUSED(PREDICT, "--classes 3", "'3' is no class of ");
    REFUSED(PREDICT, "--classes -1", "'-1' is no class of ");
    REFUSED(PREDICT, "--classes fly,bee", "'bee' is no class of ");
    REFUSED(PREDICT, "--imgsz 0", "--imgsz 0: ");
    REFUSED(PREDICT, "--peak-threshold 0.5", "--peak-threshold means nothing here");
    REFUSED(PREDICT, "--refinement local", "--refinement means nothing here");
    parse("predict", "a.mp4 b.mp4 -m m.pt --found x");
    sk_predict_defaults(&p);
    assert_int_equal(sk_cli_predict_settings(args, &p, &borrowed, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "--found: what it names was found in one video; name that one");
    char formats[512] = "--format csv";
    for (int i = 1; i < SK_PREDICT_MAX_FORMATS; i++)
        strcat(formats, ",csv");
    IS(PREDICT, formats, p.n_formats == SK_PREDICT_MAX_FORMATS);
    strcat(formats, ",csv");
    REFUSED(PREDICT, formats, "--format: at most 16 formats");
}

static sk_status given(const char *words)
{
    parse("track", words);
    sk_predict_defaults(&p);
    return sk_cli_predict_settings(args, &p, &borrowed, &err);
}

static void models_of_track(void **state)
{
    (void)state;
    const sk_detector_settings *d = &p.detector;
    IS(TRACK, "", d->confidence == 0.1F && d->crop_batch == 0 && !p.crops);
    REACHES(TRACK, "--crop-batch 8", d->crop_batch == 8);
    REACHES(TRACK, "--crop-turned on", d->crop_turned == SK_CHOICE_ON);
    REACHES(TRACK, "--crop-turned off", d->crop_turned == SK_CHOICE_OFF);
    REACHES(TRACK, "--mask-neighbours on", d->mask_neighbours == SK_CHOICE_ON);
    REACHES(TRACK, "--mask-neighbors off", d->mask_neighbours == SK_CHOICE_OFF);
    IS(TRACK, "", d->crop_turned == SK_CHOICE_AUTO && d->mask_neighbours == SK_CHOICE_AUTO);
    REFUSED(given, "a.mp4", "track needs a model: --model M");
    REFUSED(given, "a.mp4 --detector background -m x -m y",
            "--detector background finds animals without a model");
    REFUSED(given, "a.mp4 --detections d.csv -m x -m y", "--detections are found already");
    REFUSED(given, "--detections d.csv -m x", "need the one video");
    REFUSED(given, "a.mp4 b.mp4 --detections d.csv -m x", "need the one video");
    IS(given, "a.mp4 --detections d.csv -m x", p.n_models == 1);
    IS(given, "--detections d.csv", p.n_models == 0);
    IS(given, "a.mp4 --detector background", p.n_models == 0);
    IS(given, "a.mp4 --detector background -m x", p.n_models == 1);
    IS(given, "a.mp4 --detector background -m x --pose off", p.n_models == 0);
    IS(given, "a.mp4 --detections d.csv -m x --pose off", p.n_models == 0);
    IS(given, "a.mp4 -m x --pose off", p.n_models == 1); /* there is no second one */
    REFUSED(given, "a.mp4 --detector background --find-only",
            "--find-only is about what models find in each frame by itself, and here --detector background "
            "finds");
    REFUSED(given, "--detections d.csv --found x",
            "--found is about what models find in each frame by itself, and here "
            "--detections finds");
    parse("track", "--detections d.csv");
    assert_true(sk_cli_has_detections(args) && !sk_cli_has_background(args));
    parse("track", "--detector background");
    assert_true(!sk_cli_has_detections(args) && sk_cli_has_background(args));
    parse("track", "a.mp4");
    assert_true(!sk_cli_has_detections(args) && !sk_cli_has_background(args));
    parse("predict", "a.mp4");
    assert_true(!sk_cli_has_detections(args) && !sk_cli_has_background(args));
}

static void flags_of_tracking(void **state)
{
    (void)state;
    const sk_track_wish *w = &door.wish;
    IS(track_of, "",
       w->report && w->cached && !w->cache && !w->online && !w->looks && !w->track.filter.region);
    IS(track_of, "", strcmp(w->region_text, "") == 0);
    REACHES(track_of, "--tracker ocsort", strcmp(w->track.method, "ocsort") == 0);
    REACHES(track_of, "--animals 4", w->track.animals == 4);
    REACHES(track_of, "--offline-steps upstream", w->offline.upstream);
    IS(track_of, "--offline-steps skitter", !w->offline.upstream);
    REACHES(track_of, "--looks on", w->looks);
    IS(track_of, "--looks off", !w->looks);
    REACHES(track_of, "--fps 12.5", w->track.fps == 12.5);
    REACHES(track_of, "--tell-covered", w->track.tell_covered);
    REACHES(track_of, "--online", w->online);
    REACHES(track_of, "--no-report", !w->report);
    REACHES(track_of, "--no-cache", !w->cached);
    REACHES(track_of, "--cache x", w->cache && strcmp(w->cache, "x") == 0);
    REACHES(track_of, "--roi 1,2,3,4", w->track.filter.region == door.region && door.region);
    REACHES(track_of, "--roi-exclude 1,2,3,4 --roi 0,0,9,9", strchr(w->region_text, '!') != NULL);
    REACHES(track_of, "--set gate=3.5", sk_track_setting_get(sk_track_setting_find("gate"), w) == 3.5);
    REFUSED(track_of, "--set gate", "--set gate: write it as NAME=NUMBER, such as gate=3");
    REFUSED(track_of, "--set nonsense=3", "the tracker has no such setting; there are ");
    assert_non_null(strstr(err.message, ", gate"));
    REFUSED(track_of, "--set gate=", "'' is no number");
    REFUSED(track_of, "--set gate=3x", "'3x' is no number");
    REFUSED(track_of, "--set gate=-5", "--set gate=-5: ");
    REFUSED(track_of, "--set aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1",
            "write it as NAME=NUMBER");
    REFUSED(track_of, "--offline-steps skitter --online", "--online is without the steps");
    REFUSED(track_of, "--looks on --detections d.csv", "--looks on needs pictures of the animals");
    IS(track_of, "--looks on --detections d.csv -m x", w->looks);
    REFUSED(track_of, "--cache x --no-cache", "--cache and --no-cache cannot both be meant");
}

static void every_setting_of_the_tracker(void **state)
{
    (void)state;
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *one = sk_track_setting_at(i);
        for (int end = 0; end < 2; end++) {
            char words[128];
            snprintf(words, sizeof words, "--set %s=%.17g", one->name, end ? one->most : one->least);
            IS(track_of, words, sk_track_setting_get(one, &door.wish) == (end ? one->most : one->least));
            const double beyond = end ? one->most + fmax(1, 1e-3 * fabs(one->most))
                                      : one->least - fmax(1, 1e-3 * fabs(one->least));
            snprintf(words, sizeof words, "--set %s=%.17g", one->name, beyond);
            REFUSED(track_of, words, one->name);
        }
    }
}

static void flags_of_sleap(void **state)
{
    (void)state;
    IS(sleap_of, "", sleap.refinement == SK_SLEAP_REFINE_INTEGRAL && sleap.integral_patch_size == 5);
    IS(sleap_of, "", sleap.centroid_peak_threshold == -7 && sleap.overlap == SK_OVERLAP_KEEP);
    IS(sleap_of, "",
       sleap.max_edge_length_ratio == 0.25F && sleap.dist_penalty_weight == 1 && sleap.n_points == 10);
    IS(sleap_of, "", sleap.min_line_scores == 0.25F && sleap.overlap_threshold == 0.8F);
    REACHES(sleap_of, "--centroid-peak-threshold 0.5", sleap.centroid_peak_threshold == 0.5F);
    REACHES(sleap_of, "--refinement none", sleap.refinement == SK_SLEAP_REFINE_NONE);
    REACHES(sleap_of, "--refinement local", sleap.refinement == SK_SLEAP_REFINE_LOCAL);
    REACHES(sleap_of, "--integral-patch-size 7", sleap.integral_patch_size == 7);
    REACHES(sleap_of, "--max-edge-length-ratio 0.5", sleap.max_edge_length_ratio == 0.5F);
    REACHES(sleap_of, "--dist-penalty-weight 2", sleap.dist_penalty_weight == 2);
    REACHES(sleap_of, "--n-points 11", sleap.n_points == 11);
    REACHES(sleap_of, "--min-line-scores -0.5", sleap.min_line_scores == -0.5F);
    REACHES(sleap_of, "--min-instance-peaks 3", sleap.min_instance_peaks == 3);
    REACHES(sleap_of, "--filter-overlapping", sleap.overlap == SK_OVERLAP_IOU);
    REACHES(sleap_of, "--filter-overlapping --filter-overlapping-method oks",
            sleap.overlap == SK_OVERLAP_OKS);
    REACHES(sleap_of, "--filter-overlapping --filter-overlapping-threshold 0.5",
            sleap.overlap_threshold == 0.5F);
    REACHES(sleap_of, "--filter-min-visible-nodes 4", sleap.min_visible_nodes == 4);
    REACHES(sleap_of, "--filter-min-visible-node-fraction 0.5", sleap.min_visible_node_fraction == 0.5F);
    REACHES(sleap_of, "--filter-min-mean-node-score 0.25", sleap.min_mean_node_score == 0.25F);
    REACHES(sleap_of, "--filter-min-instance-score 0.125", sleap.min_instance_score == 0.125F);
    REACHES(sleap_of, "--filter-min-centroid-distance 9", sleap.min_centroid_distance == 9);
    REFUSED(sleap_of, "--integral-patch-size 4", "--integral-patch-size 4: a patch has a peak in its middle");
    REFUSED(sleap_of, "--refinement none --integral-patch-size 7", "is for --refinement integral, not none");
    REFUSED(sleap_of, "--filter-overlapping-method oks", "--filter-overlapping-method does nothing without");
    REFUSED(sleap_of, "--filter-overlapping-threshold 0.5",
            "--filter-overlapping-threshold does nothing without");
}

/* --- what means nothing --- */

static void meaningless_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t need;
        const char *words;
    } rows[] = {{SK_NEEDS_YOLO, "w is a SLEAP model, which has no such setting\nuse '--conf'"},
                {SK_NEEDS_SLEAP, "w is a YOLO model, which has no such setting\n"},
                {SK_NEEDS_OBB, "w finds no oriented boxes\n"},
                {SK_NEEDS_PAFS, "w has no part affinity fields"},
                {SK_NEEDS_SLEAP_POSES, "w gives no poses of a SLEAP model"},
                {SK_NEEDS_CENTROIDS, "w is no SLEAP centroid model"},
                {SK_NEEDS_CENTROIDS_ONLY, "w is not a SLEAP centroid model by itself"},
                {SK_NEEDS_CPU, "w is not the cpu runtime"},
                {SK_NEEDS_OPENVINO, "w is not OpenVINO"},
                {SK_NEEDS_LIVE, "w is no camera and no stream"},
                {SK_NEEDS_BAG, "w is no bag of ROS 2"},
                {SK_NEEDS_VIDEO, "w is not a video"},
                {SK_NEEDS_FILE, "w is a camera or stream"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_option options[] = {
            {SK_FLAG("other"), .help = "h"},
            {SK_FLAG("x"), .needs = rows[i].need, .instead = i ? NULL : "conf", .help = "h"},
            {SK_FLAG("y"), .needs = rows[i].need, .help = "h"},
            {0}};
        const sk_command command = {.name = "try", .options = options};
        const char *argv[] = {"--y"}, *both[] = {"--other", "--x"};
        close_all();
        assert_ok(sk_args_parse(&command, 2, both, &args, &err), &err);
        assert_int_equal(sk_cli_refuse_meaningless(args, rows[i].need, 0, "w", &err), SK_ERR_ARG);
        assert_non_null(strstr(err.message, "--x means nothing here: "));
        if (!strstr(err.message, rows[i].words))
            fail_msg("%s", err.message);
        assert_ok(sk_cli_refuse_meaningless(args, rows[i].need, rows[i].need, "w", &err), &err);
        assert_ok(sk_cli_refuse_meaningless(args, ~rows[i].need, 0, "w", &err), &err);
        sk_args_close(&args);
        assert_ok(sk_args_parse(&command, 1, argv, &args, &err), &err);
        assert_int_equal(sk_cli_refuse_meaningless(args, rows[i].need, 0, "w", &err), SK_ERR_ARG);
        assert_non_null(strstr(err.message, "\nleave it out"));
    }
    close_all();
}

static sk_status for_models(const char *words, const char *one, const char *two)
{
    const char *models[] = {one, two};
    parse_predict(words);
    return sk_cli_refuse_for_models(args, models, two ? 2 : 1, &err);
}

static void models_decide_what_has_meaning(void **state)
{
    (void)state;
    char pose[4096], obb[4096], bottomup[4096], centroid[4096], vectors[4096];
    snprintf(pose, sizeof pose, "%s", test_source("share/models/demo-pose.pt"));
    snprintf(obb, sizeof obb, "%s", test_source("share/models/demo-obb.pt"));
    snprintf(bottomup, sizeof bottomup, "%s", test_source("share/models/demo-bottomup"));
    snprintf(centroid, sizeof centroid, "%s", test_source("tests/fixtures/sleap_nn/unet_stem"));
    snprintf(vectors, sizeof vectors, "%s", test_source("tests/fixtures/sleap_nn/unet_class_vectors"));
    assert_ok(for_models("--conf 0.5", pose, NULL), &err);
    assert_ok(for_models("--conf 0.5", obb, bottomup), &err); /* one of them has it */
    assert_int_equal(for_models("--conf 0.5", bottomup, NULL), SK_ERR_ARG);
    assert_ok(for_models("--obb-form quarter", obb, NULL), &err);
    assert_int_equal(for_models("--obb-form quarter", pose, NULL), SK_ERR_ARG);
    assert_ok(for_models("--n-points 9", bottomup, NULL), &err);
    assert_int_equal(for_models("--n-points 9", vectors, NULL), SK_ERR_ARG);
    assert_ok(for_models("--filter-overlapping", bottomup, NULL), &err);
    assert_int_equal(for_models("--filter-overlapping", pose, bottomup), SK_OK);
    assert_int_equal(for_models("--filter-overlapping", pose, obb), SK_ERR_ARG);
    char both[9000];
    snprintf(both, sizeof both, "%.100s", err.message);
    assert_non_null(strstr(both, "--filter-overlapping means nothing here: "));
    assert_int_equal(for_models("--centroid-peak-threshold 0.5", bottomup, NULL), SK_ERR_ARG);
    /* a model that cannot be opened is only asked where it matters */
    assert_ok(for_models("--batch 2", "/no/such/model", NULL), &err);
    assert_int_not_equal(for_models("--conf 0.5", "/no/such/model", NULL), SK_OK);
    (void)centroid;
}

static void runtimes_decide_what_has_meaning(void **state)
{
    (void)state;
    static const struct {
        const char *words, *runtimes[2];
        int32_t n;
        const char *part; /* null: it has a meaning */
    } rows[] = {{"--no-winograd", {"cpu"}, 1, NULL},
                {"--no-winograd", {"reference"}, 1, "reference is not the cpu runtime"},
                {"--no-winograd", {"reference", "cpu"}, 2, NULL},
                {"--no-winograd", {"reference", "openvino"}, 2, "none of these is not the cpu runtime"},
                {"--openvino-device GPU", {"openvino"}, 1, NULL},
                {"--openvino-device GPU", {"cpu"}, 1, "cpu is not OpenVINO"},
                {"--batch 2", {"nonsense"}, 1, NULL},
                {"--no-winograd", {"nonsense"}, 1, "nonsense is not the cpu runtime"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse_predict(rows[i].words);
        const sk_status status = sk_cli_refuse_for_runtimes(args, rows[i].runtimes, rows[i].n, &err);
        if ((status == SK_OK) != !rows[i].part || (rows[i].part && !strstr(err.message, rows[i].part)))
            fail_msg("%s on %s: %s", rows[i].words, rows[i].runtimes[0], err.message);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t height, width; /* 0: refused */
    } rows[] = {{"1", 1, 1},           {"640", 640, 640},     {"480x640", 480, 640},
                {"1x65536", 1, 65536}, {"65536x1", 65536, 1}, {"65536", 65536, 65536},
                {"0", 0, 0},           {"65537", 0, 0},       {"0x5", 0, 0},
                {"5x0", 0, 0},         {"65537x5", 0, 0},     {"5x65537", 0, 0},
                {"5x", 0, 0},          {"5x6x", 0, 0},        {"5,6", 0, 0},
                {"-5", 0, 0},          {"x", 0, 0},           {"", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t height = -1, width = -2;
        const sk_status status = sk_cli_parse_size(rows[i].text, &height, &width, &err);
        if (rows[i].height) {
            assert_int_equal(status, SK_OK);
            assert_true(height == rows[i].height && width == rows[i].width);
        } else {
            assert_int_equal(status, SK_ERR_ARG);
            assert_true(height == -1 && width == -2);
        }
    }
    int32_t height = 7, width = 8;
    assert_ok(sk_cli_parse_size(NULL, &height, &width, &err), &err);
    assert_true(height == 7 && width == 8);
}

/* --- a configuration and the command line --- */

static sk_status config_of(const char *json, const char *words, sk_args **filled, sk_track_config_run *config)
{
    char path[4200], all[8000];
    snprintf(path, sizeof path, "%s/config.json", test_folder());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(json, file);
    fclose(file);
    snprintf(all, sizeof all, "%s --config %s", words, path);
    parse("track", all);
    return sk_cli_track_config_args(args, config, filled, &err);
}

#define CONFIG(json, words, condition)                                                                       \
    do {                                                                                                     \
        sk_track_config_run config = {0};                                                                    \
        sk_args *filled = NULL;                                                                              \
        assert_ok(config_of(json, words, &filled, &config), &err);                                           \
        assert_non_null(filled);                                                                             \
        if (!(condition))                                                                                    \
            fail_msg("line %d: not %s", __LINE__, #condition);                                               \
        sk_args_close(&filled);                                                                              \
        sk_track_config_run_free(&config);                                                                   \
    } while (0)

static bool text_is(const sk_args *of, const char *name, const char *text)
{
    const char *is = sk_args_text(of, name);
    return is && text ? strcmp(is, text) == 0 : is == text;
}

static void configurations_give_way(void **state)
{
    (void)state;
    static const char own[] =
        "{\"run\": {\"source\": \"v.mp4\", \"model\": [\"a.pt\", \"b.pt\"], \"conf\": 0.3, "
        "\"save-overlay\": true, \"frames\": \"0:9\"}}";
    CONFIG(own, "", text_is(filled, "source", "v.mp4") && sk_args_count(filled, "model") == 2);
    CONFIG(own, "", strcmp(sk_args_at(filled, "model", 0), "a.pt") == 0 && text_is(filled, "conf", "0.3"));
    CONFIG(own, "", sk_args_flag(filled, "save-overlay") == 1 && text_is(filled, "frames", "0:9"));
    CONFIG(own, "w.mp4", sk_args_count(filled, "source") == 1 && text_is(filled, "source", "w.mp4"));
    CONFIG(own, "--video-list l.txt", sk_args_count(filled, "source") == 0);
    CONFIG(own, "-m c.pt", sk_args_count(filled, "model") == 1 && text_is(filled, "model", "c.pt"));
    CONFIG(own, "--detector background", sk_args_count(filled, "model") == 0);
    CONFIG(own, "--detections d.csv", sk_args_count(filled, "model") == 0);
    CONFIG(own, "--conf 0.4", text_is(filled, "conf", "0.4") && sk_args_count(filled, "conf") == 1);
    CONFIG(own, "--frames 3", text_is(filled, "frames", "3"));
    /* one source stands in another's place, and so does whatever finds */
    static const char listed[] = "{\"run\": {\"video-list\": \"l.txt\", \"detections\": \"d.csv\"}}";
    CONFIG(listed, "", text_is(filled, "video-list", "l.txt") && text_is(filled, "detections", "d.csv"));
    CONFIG(listed, "w.mp4", !sk_args_given(filled, "video-list") && text_is(filled, "detections", "d.csv"));
    CONFIG(listed, "-m m.pt", !sk_args_given(filled, "detections") && sk_args_given(filled, "video-list"));
    CONFIG(listed, "--detector background", !sk_args_given(filled, "detections"));
    CONFIG(listed, "--video-list k.txt", text_is(filled, "video-list", "k.txt"));
    CONFIG(listed, "--detections e.csv", text_is(filled, "detections", "e.csv"));
    static const char background[] = "{\"run\": {\"source\": \"v.mp4\", \"detector\": \"background\"}}";
    CONFIG(background, "", text_is(filled, "detector", "background"));
    CONFIG(background, "-m m.pt", text_is(filled, "detector", "model"));
    sk_args *filled = NULL;
    sk_track_config_run config = {0};
    assert_int_equal(config_of("{\"run\": {\"conf\": 7}}", "", &filled, &config), SK_ERR_ARG);
    assert_null(filled);
    assert_non_null(strstr(err.message, "config.json: --conf: 7 is out of range"));
    sk_track_config_run_free(&config);
    parse("track", "a.mp4");
    assert_ok(sk_cli_track_config_args(args, &config, &filled, &err), &err);
    assert_null(filled); /* none is given */
}

static int heard;
static char last_heard[512];
static void hear(const char *text)
{
    heard++;
    snprintf(last_heard, sizeof last_heard, "%s", text);
}

/* How many warnings it takes. */
static int warned(const char *json, const char *words)
{
    sk_track_config_run config = {0};
    sk_args *filled = NULL;
    heard = 0;
    sk_cli_on_warning(hear);
    sk_cli_set_verbosity(0);
    assert_ok(config_of(json, words, &filled, &config), &err);
    sk_cli_set_verbosity(1);
    sk_cli_on_warning(NULL);
    sk_args_close(&filled);
    sk_track_config_run_free(&config);
    return heard;
}

/* Another program's file. */
static void foreign_configurations_give_way(void **state)
{
    (void)state;
    static const char hydra[] = "{\"file_path\": \"v.mp4\", \"detection_method\": \"yolo_obb\", "
                                "\"yolo_obb_direct_model_path\": \"MODEL\", "
                                "\"start_frame\": 5, \"end_frame\": 9, \"yolo_target_classes\": [0, 2], "
                                "\"compute_runtime\": \"cpu\"}";
    static const char behind[] = "{\"file_path\": \"v.mp4\", \"detection_method\": "
                                 "\"background_subtraction\", \"compute_runtime\": \"cpu\"}";
    /* what the person's own words make meaningless is not told of */
    assert_int_equal(warned(hydra, ""), 1);
    assert_non_null(
        strstr(last_heard, "/config.json: its model of boxes MODEL is neither here nor beside it"));
    assert_int_equal(warned(hydra, "-m m.pt"), 0);
    assert_int_equal(warned(hydra, "--detections d"), 0);
    assert_int_equal(warned(hydra, "--detector background"), 0);
    static const char other[] =
        "{\"file_path\": \"v.mp4\", \"detection_method\": \"yolo_obb\", \"compute_runtime\": \"onnx_rocm\", "
        "\"yolo_obb_direct_model_path\": \"MODEL\"}";
    assert_int_equal(warned(other, ""), 2);
    assert_int_equal(warned(other, "-r cpu"), 1);
    assert_int_equal(warned(other, "-r cpu -m m.pt"), 0);
    sk_cli_set_verbosity(0);
    CONFIG(hydra, "", text_is(filled, "source", "v.mp4"));
    CONFIG(hydra, "w.mp4", sk_args_count(filled, "source") == 1);
    CONFIG(hydra, "--video-list l", sk_args_count(filled, "source") == 0);
    CONFIG(hydra, "--detections d", sk_args_count(filled, "source") == 0);
    CONFIG(hydra, "", text_is(filled, "frames", "5:10") || text_is(filled, "frames", "5-9"));
    CONFIG(hydra, "--frames 7", text_is(filled, "frames", "7"));
    CONFIG(hydra, "", text_is(filled, "classes", "0,2"));
    CONFIG(hydra, "--classes 1", text_is(filled, "classes", "1"));
    CONFIG(hydra, "--detections d", text_is(filled, "classes", NULL));
    CONFIG(hydra, "--detector background", text_is(filled, "classes", NULL));
    CONFIG(hydra, "", text_is(filled, "runtime", "cpu"));
    CONFIG(hydra, "-r reference", text_is(filled, "runtime", "reference"));
    CONFIG(hydra, "--detections d", text_is(filled, "runtime", NULL));
    char pair[16000];
    for (int masked = 0; masked < 3; masked++) {
        snprintf(pair, sizeof pair,
                 "{\"file_path\": \"v.mp4\", \"detection_method\": \"yolo_obb\", "
                 "\"yolo_obb_direct_model_path\": \"%s\", "
                 "\"enable_pose_extractor\": true, \"pose_model_type\": \"yolo\", \"pose_yolo_model_dir\": "
                 "\"%s\"%s}",
                 test_source("share/models/demo-obb.pt"), test_source("share/models/demo-pose.pt"),
                 masked == 0   ? ""
                 : masked == 1 ? ", \"suppress_foreign_obb_regions\": true"
                               : ", \"suppress_foreign_obb_regions\": false");
        CONFIG(pair, "", sk_args_count(filled, "model") == 2);
        CONFIG(pair, "", strstr(sk_args_at(filled, "model", 0), "demo-obb.pt") != NULL);
        CONFIG(pair, "", strstr(sk_args_at(filled, "model", 1), "demo-pose.pt") != NULL);
        CONFIG(pair, "",
               text_is(filled, "mask-neighbours",
                       masked == 0   ? "auto"
                       : masked == 1 ? "on"
                                     : "off"));
        CONFIG(pair, "--mask-neighbours auto", text_is(filled, "mask-neighbours", "auto"));
        CONFIG(pair, "-m x",
               sk_args_count(filled, "model") == 1 && !sk_args_given(filled, "mask-neighbours"));
        CONFIG(pair, "--detections d", sk_args_count(filled, "model") == 0);
    }
    CONFIG(behind, "", text_is(filled, "detector", "background"));
    CONFIG(behind, "", text_is(filled, "runtime", NULL));
    CONFIG(behind, "-m m.pt", text_is(filled, "detector", "model") && text_is(filled, "runtime", "cpu"));
    CONFIG(behind, "--detections d", !sk_args_given(filled, "detector"));
    sk_cli_set_verbosity(1);
}

int main(void)
{
    unsetenv("SKITTER_PROGRAM"); /* other runtimes are not asked for: that takes long */
    snprintf(model, sizeof model, "%s", test_source("share/models/demo-obb.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_of_predict),
        cmocka_unit_test(what_predict_refuses),
        cmocka_unit_test(models_of_track),
        cmocka_unit_test(flags_of_tracking),
        cmocka_unit_test(every_setting_of_the_tracker),
        cmocka_unit_test(flags_of_sleap),
        cmocka_unit_test(meaningless_options_are_refused),
        cmocka_unit_test(models_decide_what_has_meaning),
        cmocka_unit_test(runtimes_decide_what_has_meaning),
        cmocka_unit_test(sizes),
        cmocka_unit_test(configurations_give_way),
        cmocka_unit_test(foreign_configurations_give_way),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close_all();
    return failed;
}
