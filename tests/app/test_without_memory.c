/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of app/ when memory runs out: each allocation that they make fails once; the answer says so, and nothing is left behind. */
#include "support/fault.h"
#include "support/yolo_writer.h"
#include "track_fixture.h"

#include "app/batch.h"
#include "app/batch_status.h"
#include "app/demo_internal.h"
#include "app/describe.h"
#include "app/finder_detections.h"
#include "app/network.h"
#include "app/overlay_run.h"
#include "app/quantize_internal.h"
#include "app/run_view.h"
#include "app/run_view_json.h"
#include "app/scene_run.h"
#include "app/source_list.h"
#include "app/track_config_run.h"
#include "graph/builder.h"

#include <unistd.h>

#define EVERY(fn, least) assert_true(test_every_allocation(fn, NULL) >= (least))

static sk_status list_sources(void *context, sk_error *e)
{
    static const char *const given[] = {"day", "list.txt", "other.mp4"};
    sk_source_list list = {0};
    (void)context;
    const sk_status status = sk_source_list_make(given, 3, &list, e);
    sk_source_list_free(&list);
    return status;
}

static void sources(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("day", &err), &err);
    put("day/a.mp4", "x");
    put("day/b.mp4", "x");
    put("other.mp4", "x");
    put("list.txt", "day/a.mp4\nother.mp4\n");
    EVERY(list_sources, 5);
}

static sk_status open_finder(void *context, sk_error *e)
{
    sk_finder_detections f = {0};
    (void)context;
    const sk_status status = sk_finder_detections_open("mice.csv", 0, &f, e);
    sk_finder_detections_close(&f);
    return status;
}

static void given_detections(void **state)
{
    (void)state;
    put_mice("mice.csv", 4);
    EVERY(open_finder, 8);
}

static sk_status tell_scene(void *context, sk_error *e)
{
    sk_scene_run_settings s;
    sk_scene_report r;
    (void)context;
    sk_scene_run_defaults(&s);
    s.scene.animals = 2;
    s.scene.width = s.scene.height = 64;
    s.frames = 2;
    s.truth = "truth.csv";
    s.mot = "mot.txt";
    return sk_scene_run(&s, NULL, NULL, &r, e);
}

static sk_status draw_scene(void *context, sk_error *e)
{
    sk_scene_run_settings s;
    sk_scene_report r;
    (void)context;
    sk_scene_run_defaults(&s);
    s.scene.animals = 2;
    s.scene.width = s.scene.height = 64;
    s.pictures = 1;
    s.output = "drawn";
    s.extension = ".png";
    return sk_scene_run(&s, NULL, NULL, &r, e);
}

static void scenes(void **state)
{
    (void)state;
    EVERY(tell_scene, 4);
    EVERY(draw_scene, 4);
}

static sk_status look_at_run(void *context, sk_error *e)
{
    sk_run_view *v = NULL;
    const sk_movement *movement;
    const sk_suspects *suspects;
    sk_result_frame frame;
    sk_text text = {.limit = 1 << 20};
    (void)context;
    sk_status status = sk_run_view_open("run", &v, e);
    if (status == SK_OK)
        status = sk_run_view_movement(v, &movement, &suspects, e);
    if (status == SK_OK)
        status = sk_run_view_frame(v, 3, &frame, e);
    if (status == SK_OK) {
        sk_json json = sk_json_to_text(&text, 0);
        sk_run_view_json_info(v, false, &json);
        status = sk_json_end(&json, e);
    }
    sk_text_free(&text);
    sk_run_view_close(&v);
    return status;
}

static void a_run_looked_at(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const formats[] = {"csv", "jsonl", NULL};
    put_mice("mice.csv", 10);
    trial_defaults(&t, "mice.csv", "run", formats);
    assert_ok(trial_run(&t), &err);
    EVERY(look_at_run, 20);
}

static sk_status look_at_batch(void *context, sk_error *e)
{
    sk_batch *b = NULL;
    sk_batch_watcher *watcher = NULL;
    const sk_batch_status *s = NULL;
    char **words = NULL;
    (void)context;
    sk_status status = sk_batch_open("batch", &b, e);
    if (status == SK_OK)
        status = sk_batch_watch_open(b, &watcher, e);
    if (status == SK_OK)
        status = sk_batch_watch_look(watcher, &s, e);
    const sk_batch_piece *piece = status == SK_OK ? sk_batch_piece_of(b, 0, e) : NULL;
    if (status == SK_OK)
        status = piece ? sk_batch_words(b, piece, 1, 0, &words, e) : SK_ERR_MEMORY;
    sk_batch_words_free(words);
    sk_batch_watch_close(&watcher);
    sk_batch_close(&b);
    return status;
}

static void batches(void **state)
{
    (void)state;
    static const char *const videos[] = {"day/a.mp4", "day/b.mp4"};
    static char word[] = "--conf=0.5", *const words[] = {word, NULL};
    sk_source_list list = {0};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_batch *b = NULL;
    sk_source_defaults(&media);
    assert_ok(sk_source_list_make(videos, 2, &list, &err), &err);
    const sk_batch_how how = {.retries = 1};
    const sk_batch_wish wish = {
        .out = "batch", .command = "track", .words = words, .videos = &list, .media = &media, .how = &how};
    assert_ok(sk_batch_begin(&wish, &b, &err), &err);
    sk_batch_close(&b);
    sk_source_list_free(&list);
    EVERY(look_at_batch, 10);
}

static sk_status read_configuration(void *context, sk_error *e)
{
    sk_track_config_run run;
    (void)context;
    const sk_status status = sk_track_config_run_read("own.json", &run, e);
    sk_track_config_run_free(&run);
    return status;
}

static void configurations(void **state)
{
    (void)state;
    put("own.json", "{\"run\": {\"model\": [\"a.pt\", \"mice.csv\"], \"conf\": 0.5, \"save-overlay\": true, "
                    "\"source\": [\"v.mp4\", \"w.mp4\"]}}");
    EVERY(read_configuration, 6);
}

static char network[4300];

static sk_status describe(void *context, sk_error *e)
{
    sk_model *model = NULL;
    char *text = NULL;
    (void)context;
    sk_status status = sk_model_open(network, &model, e);
    if (status == SK_OK)
        status = sk_describe_model(model, &(sk_describe_settings){.json = true, .layers = true}, &text, e);
    sk_free(text);
    sk_model_close(&model);
    return status;
}

static void models(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "described.pt"));
    EVERY(describe, 20);
}

#define TRUTH                                                                                                \
    "frame,track,name,x1,y1,x2,y2,cx,cy,w,h,angle\n0,0,fish,10,10,30,20,20,15,20,10,0\n0,1,fly,12,10,32,20," \
    "22,15,20,10,0\n"

static sk_status measure_demo(void *context, sk_error *e)
{
    sk_demo_sets sets = {0};
    sk_demo_tracks tracks = {0};
    (void)context;
    sk_status status = sk_annotations_parse("truth", TRUTH, strlen(TRUTH), &sets.truth, e);
    if (status == SK_OK)
        status = sk_annotations_parse("tracks", TRUTH, strlen(TRUTH), &sets.tracks, e);
    if (status == SK_OK)
        status = sk_demo_measure_tracks(&sets, &tracks, e);
    sk_eval_free(&tracks.scores);
    sk_annotations_free(&sets.truth);
    sk_annotations_free(&sets.tracks);
    return status;
}

static sk_status keep_demo(void *context, sk_error *e)
{
    sk_demo_settings s;
    sk_demo_stage stage;
    static sk_demo_report report;
    (void)context;
    sk_demo_defaults(&s);
    s.out = "demo";
    sk_status status = sk_demo_write_state(&s, "print", SK_DEMO_FINISHED, &report, e);
    return status == SK_OK ? sk_demo_read_state(&s, "print", &stage, e) : status;
}

static void demos(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("demo", &err), &err);
    EVERY(measure_demo, 20);
    EVERY(keep_demo, 4);
}

static sk_status score_truth(void *context, sk_error *e)
{
    sk_quantize_settings s;
    sk_quantize_job job = {.s = &s, .gives = {.n_classes = 0}};
    sk_quantize_truth *t = NULL;
    sk_quantize_report r = {0};
    sk_instances found = {0};
    char name[] = "a.png";
    const sk_quantize_frame frame = {.name = name};
    (void)context;
    sk_quantize_defaults(&s);
    s.truth = "boxes.csv";
    sk_status status = sk_quantize_truth_open(&job, &t, e);
    if (status == SK_OK)
        status = sk_instances_alloc(1, 0, &found, e);
    if (status == SK_OK) {
        sk_found *one = sk_instances_add(&found);
        *one = (sk_found){.has = SK_HAS_BOX, .box = {0, 0, 10, 10}, .score = 1};
        for (int i = 0; i < 2 && status == SK_OK; i++)
            status = sk_quantize_truth_add(t, i, &frame, &found, e);
    }
    if (status == SK_OK)
        status = sk_quantize_truth_measure(t, &r, e);
    sk_quantize_truth_close(&t);
    sk_instances_free(&found);
    return status;
}

static void eight_bits(void **state)
{
    (void)state;
    put("boxes.csv", "source,frame,name,x1,y1,x2,y2\na.png,0,fly,0,0,10,10\n");
    EVERY(score_truth, 30);
}

static sk_status draw_pictures(void *context, sk_error *e)
{
    static uint8_t pixels[32 * 32 * 3 + 64];
    const sk_frame f = {.format = SK_PIXEL_RGB, .width = 32, .height = 32, .stride = 96, .data = pixels};
    static const sk_instances nobody = {0};
    sk_overlay_run *run = NULL;
    sk_overlay_settings s;
    const sk_overlay_place place = {.folder = "overlays", .pictures = true};
    (void)context;
    sk_overlay_defaults(&s);
    sk_status status = sk_overlay_run_open(&place, &s, &run, e);
    if (status == SK_OK)
        status = sk_overlay_run_write(run, &f, "a.png", &nobody, NULL, e);
    sk_overlay_run_close(&run);
    return status;
}

static void overlays(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("overlays", &err), &err);
    EVERY(draw_pictures, 8);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),    cmocka_unit_test(given_detections),
        cmocka_unit_test(scenes),     cmocka_unit_test(a_run_looked_at),
        cmocka_unit_test(batches),    cmocka_unit_test(configurations),
        cmocka_unit_test(models),     cmocka_unit_test(demos),
        cmocka_unit_test(eight_bits), cmocka_unit_test(overlays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
