/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests for somebody's own models: which models a node can be made of, alone and in pairs, what the others are told, how they are
 * called, and what is written of them. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"
#include "base/memory.h"
#include "ros/manifest.h"
#include "ros/own_manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;

enum { DETECT, OBB, POSE, SEGMENT, CLASSIFY, SINGLE, BOTTOMUP, CLASSES, CENTROID, CENTERED, VECTORS, MODELS };
static char paths[MODELS][4200];
static const char *const tasks[MODELS] = {"detect",
                                          "obb",
                                          "pose",
                                          "segment",
                                          "classify",
                                          "single_instance",
                                          "bottomup",
                                          "multiclass_bottomup",
                                          "centroid",
                                          "centered_instance",
                                          "multiclass_topdown"};

static int begin(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "OBB", "Pose", "Segment", "Classify"};
    static const char *const folders[] = {
        "unet_single_kernel5_convs3", "convnext_bottomup", "unet_class_maps", "unet_no_decoder", "unet_stem",
        "unet_class_vectors"};
    for (int i = 0; i < 5; i++) {
        const yolo_fixture fixture = {
            .head = heads[i], .f32 = true, .imgsz = 64, .named_keypoints = i == POSE};
        char name[32];
        snprintf(name, sizeof name, "%s-1.pt", heads[i]);
        snprintf(paths[i], sizeof paths[i], "%s", yolo_save(&fixture, name));
    }
    for (int i = 0; i < 6; i++) {
        char relative[128];
        snprintf(relative, sizeof relative, "tests/fixtures/sleap_nn/%s", folders[i]);
        snprintf(paths[SINGLE + i], sizeof paths[0], "%s", test_source(relative));
    }
    return 0;
}

static sk_status write_own(const sk_own_manifest *what, sk_text *text, char **name)
{
    sk_text_clear(text);
    return sk_own_manifest_write(what, text, name, &err);
}

static void expect(const sk_text *text, const char *line)
{
    if (!strstr(sk_text_get(text), line))
        fail_msg("missing: %s\nin:\n%s", line, sk_text_get(text));
}

/* What two models are together; a dot: nothing. */
static const char *together(int first, int second)
{
    const bool poses = second == POSE || second == SINGLE || second == CENTERED;
    static const char *const alone[MODELS] = {
        [DETECT] = "detect", [OBB] = "obb",           [POSE] = "pose",
        [SINGLE] = "single", [BOTTOMUP] = "bottomup", [CLASSES] = "bottomup"};
    if (second < 0)
        return alone[first];
    if (first == CENTROID)
        return second == CENTERED || second == VECTORS ? "topdown" : NULL;
    return (first == DETECT || first == OBB) && poses ? "pose" : NULL;
}

static void expect_refusal(int first, int second)
{
    char words[9000];
    const char *hint =
        first == CENTROID && second < 0         ? "name the folder of its centered instance model behind it"
        : first == CENTERED || first == VECTORS ? "name the folder of its centroid model before it"
                                                : "nodes publish boxes, oriented boxes, keypoints and tracks";
    snprintf(words, sizeof words, "%s: no node can be made of a model for '%s'%s%s%s\n%s", paths[first],
             tasks[first], second < 0 ? "" : " with one for '", second < 0 ? "" : tasks[second],
             second < 0 ? "" : "'", hint);
    assert_string_equal(err.message, words);
}

static void every_model_alone_and_with_every_other(void **state)
{
    (void)state;
    sk_text text = {0};
    for (int first = 0; first < MODELS; first++)
        for (int second = -1; second < MODELS; second++) {
            const sk_own_manifest what = {.models = {paths[first], second < 0 ? NULL : paths[second]}};
            const char *task = together(first, second);
            char *name = NULL, line[128];
            const sk_status status = write_own(&what, &text, &name);
            if ((status == SK_OK) != (task != NULL) || (!task && status != SK_ERR_UNSUPPORTED))
                fail_msg("%s with %s: %s", tasks[first], second < 0 ? "none" : tasks[second], err.message);
            if (!task) {
                assert_null(name);
                expect_refusal(first, second);
                continue;
            }
            const bool yolo = first <= CLASSIFY,
                       points = strcmp(task, "detect") != 0 && strcmp(task, "obb") != 0;
            snprintf(line, sizeof line, "\n  name: %s\n  family: %s\n  task: %s\n", name,
                     yolo ? "ultralytics" : "sleap", task);
            expect(&text, line);
            expect(&text, points ? "\n  type: keypoints\n" : "\n  type: detections\n");
            assert_int_equal(strstr(sk_text_get(&text), "msg_type: InstanceArray") != NULL, points);
            assert_int_equal(strstr(sk_text_get(&text), "keypoint_names:") != NULL, points);
            assert_int_equal(strstr(sk_text_get(&text), "rocm") != NULL, yolo);
            assert_int_equal(strstr(sk_text_get(&text), "peak_threshold") != NULL, !yolo);
            assert_int_equal(strstr(sk_text_get(&text), "TrackArray") != NULL, false);
            sk_free(name);
        }
    sk_text_free(&text);
}

/* Names are made of letters that a package may have. */
static void models_are_called_by_their_files(void **state)
{
    (void)state;
    static const struct {
        const char *file, *name;
    } rows[] = {{"My Fly-2.pt", "my_fly_2"},
                {"_x_.y__z_.pt", "x_y_z_"},
                {"- -.pt", "model"},
                {"a.b.c.pt", "a_b_c"},
                {"0123456789012345678901234567890123456789012345678901234567890123.pt",
                 "012345678901234567890123456789012345678901234567890123456789"},
                {"0123456789012345678901234567890123456789012345678901234567 90123.pt",
                 "0123456789012345678901234567890123456789012345678901234567_9"}};
    const yolo_fixture fixture = {.f32 = true};
    sk_text text = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *name = NULL, line[400];
        const sk_own_manifest what = {.models = {yolo_save(&fixture, rows[i].file)}};
        assert_ok(write_own(&what, &text, &name), &err);
        assert_string_equal(name, rows[i].name);
        snprintf(line, sizeof line, " from %s.\n", rows[i].file);
        expect(&text, line);
        snprintf(line, sizeof line, "\n  default_variant: %s\n", rows[i].name);
        expect(&text, line);
        sk_free(name);
        const sk_own_manifest named = {.models = {what.models[0]}, .name = "Other.Name-1"};
        assert_ok(write_own(&named, &text, &name), &err);
        assert_string_equal(name, "Other.Name-1");
        expect(&text, "\n  name: Other.Name-1\n");
        sk_free(name);
    }
    sk_text_free(&text);
}

static void copy(const char *from, const char *to, const char *file)
{
    char path[9000], *bytes = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/%s", from, file);
    assert_ok(sk_file_read(path, (size_t)1 << 26, &bytes, &length, &err), &err);
    snprintf(path, sizeof path, "%s/%s", to, file);
    assert_ok(sk_file_put(path, bytes, length, &err), &err);
    sk_free(bytes);
}

/* A folder's name is whole, dots and all, with a slash behind it or several; weights are paths from the root on. */
static void folders_are_called_by_their_names(void **state)
{
    (void)state;
    char place[4300], model[4400], line[9000];
    sk_text text = {0};
    snprintf(place, sizeof place, "%s/runs", test_folder());
    assert_int_equal(mkdir(place, 0777), 0);
    assert_int_equal(chdir(place), 0);
    snprintf(model, sizeof model, "%s/240101.Flies", place);
    assert_int_equal(mkdir(model, 0777), 0);
    copy(paths[BOTTOMUP], model, "best.ckpt");
    copy(paths[BOTTOMUP], model, "training_config.yaml");
    static const char *const ways[] = {"240101.Flies", "240101.Flies/", "240101.Flies//", "./240101.Flies/"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *name = NULL;
        const sk_own_manifest what = {.models = {ways[i]}, .track = true};
        assert_ok(write_own(&what, &text, &name), &err);
        assert_string_equal(name, "240101_flies");
        expect(&text, " from 240101.Flies.\n");
        expect(&text, "\n  type: tracked_objects\n");
        expect(&text, "msg_type: TrackArray");
        expect(&text, "msg_type: InstanceArray");
        if (i < 3) {
            snprintf(line, sizeof line, "\"%s\"]", model);
            expect(&text, line);
        }
        sk_free(name);
    }
    assert_int_equal(chdir("/"), 0);
    sk_text_free(&text);
}

/* Classes, keypoints and how sure is sure enough. */
static void what_the_model_says_is_written(void **state)
{
    (void)state;
    sk_text text = {0};
    char *name = NULL, line[9000];
    const int64_t bones[][2] = {{0, 2}, {1, 2}};
    const yolo_fixture pose = {
        .head = "Pose", .f32 = true, .named_keypoints = true, .skeleton = bones, .n_skeleton = 2};
    for (int track = 0; track < 2; track++) {
        const sk_own_manifest what = {.models = {yolo_save(&pose, "bones.pt")}, .track = track};
        assert_ok(write_own(&what, &text, &name), &err);
        expect(&text, "\n  format: rgb\n");
        expect(&text, "  class_names:\n    - \"mouse\"\n    - \"fly\"\n");
        expect(&text, "  keypoint_names:\n    - \"a\"\n    - \"b\"\n    - \"c\"\n");
        expect(&text, track ? "confidence_threshold\n      type: float\n      default: 0.1\n"
                            : "confidence_threshold\n      type: float\n      default: 0.25\n");
        assert_int_equal(strstr(sk_text_get(&text), "name: tracker") != NULL, track);
        sk_free(name);
    }
    const sk_own_manifest pair = {.models = {paths[OBB], paths[CENTERED]}};
    assert_ok(write_own(&pair, &text, &name), &err);
    snprintf(line, sizeof line, "    %s: [\"%s\", \"%s\"]\n", name, paths[OBB], paths[CENTERED]);
    expect(&text, line);
    expect(&text, "  class_names:\n    - \"mouse\"\n");
    expect(&text, "  keypoint_names:\n");
    sk_free(name);
    sk_text_free(&text);
}

static void cut_off(const char *from, const char *to)
{
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(from, (size_t)1 << 26, &bytes, &length, &err), &err);
    assert_ok(sk_file_put(to, bytes, length - 600, &err), &err);
    sk_free(bytes);
}

/* Of a file that is cut off enough may be left to say what it is; no node could run it. */
static void files_that_are_cut_off(void **state)
{
    (void)state;
    sk_text text = {0};
    char *name = NULL, half[4300], words[4500];
    snprintf(half, sizeof half, "%s/half.pt", test_folder());
    cut_off(paths[POSE], half);
    for (int second = 0; second < 2; second++) {
        const sk_own_manifest what = {.models = {second ? paths[OBB] : half, second ? half : NULL}};
        const sk_status status = write_own(&what, &text, &name);
        assert_int_equal(status, SK_ERR_FORMAT);
        snprintf(words, sizeof words, "%s: the file is cut off, and no node could run it", half);
        assert_string_equal(err.message, words);
        assert_null(name);
    }
    const sk_own_manifest none = {.models = {test_missing("none.pt")}};
    assert_int_equal(write_own(&none, &text, &name), SK_ERR_NOT_FOUND);
    const sk_own_manifest no_second = {.models = {paths[OBB], test_missing("none.pt")}};
    assert_int_equal(write_own(&no_second, &text, &name), SK_ERR_NOT_FOUND);
    const sk_own_manifest hostile = {.models = {paths[POSE]}, .name = "a b"};
    assert_int_equal(write_own(&hostile, &text, &name), SK_ERR_FORMAT);
    assert_string_equal(err.message, "the manifest:8:7: model.variants: 'a b' has other characters than "
                                     "letters, digits, '_', '-' and '.'");
    assert_null(name);
    sk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_model_alone_and_with_every_other),
                                       cmocka_unit_test(models_are_called_by_their_files),
                                       cmocka_unit_test(folders_are_called_by_their_names),
                                       cmocka_unit_test(what_the_model_says_is_written),
                                       cmocka_unit_test(files_that_are_cut_off)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
