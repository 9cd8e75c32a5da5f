/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of videos that eight bits are made with: spread over all of one, also over what is left of one that was cut off; what crops keep
 * of who found them; sizes that do not go together. */
#include "media/made_video.h"
#include "runner/runner_fixture.h"

#include "app/quantize_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "media/video_sink.h"
#include "runner/network.h"

#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static sk_model *tiny;
static sk_quantize_settings s;
static sk_quantize_job job;
static int64_t ticks, total;
static int passes; /* how often reading began */

static bool watch(void *context, const char *step, int64_t done, int64_t all)
{
    assert_ptr_equal(context, &job);
    assert_string_equal(step, job.finder ? "reading frames, finding animals" : "reading frames");
    passes += done == 1;
    assert_int_equal(done, done == 1 ? 1 : ticks + 1);
    ticks = done;
    total = all;
    return false;
}

static void begin(const sk_model *model, const char *data, int32_t asked)
{
    sk_quantize_defaults(&s);
    s.data = data;
    s.frames = asked;
    s.height = s.width = 32;
    s.threads = 1;
    s.watch = watch;
    s.context = &job;
    job = (sk_quantize_job){.s = &s, .model = model};
    ticks = total = passes = 0;
}

static void are_frames(const int64_t *wanted, int32_t n)
{
    assert_int_equal(job.n_frames, n);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(job.frames[i].index, wanted[i]);
        assert_true(job.frames[i].held == (i % 5 == 4) && !job.frames[i].name);
    }
}

#define CODED "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p"

static void a_whole_video(void **state)
{
    (void)state;
    static const int64_t ten[] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36};
    const char *video = made_video("whole.avi", 40, CODED);
    begin(tiny, video, 8);
    assert_ok(sk_quantize_read(&job, &err), &err);
    are_frames(ten, 10);
    assert_true(job.missing == 0 && passes == 1 && ticks == 10 && total == 10);
    sk_quantize_frames_free(&job);
    begin(tiny, video, 100); /* all there are, though more were asked for */
    assert_ok(sk_quantize_read(&job, &err), &err);
    assert_true(job.n_frames == 40 && job.frames[39].index == 39 && total == 125 && passes == 1);
    sk_quantize_frames_free(&job);
    begin(tiny, video, 32); /* exactly as many */
    assert_ok(sk_quantize_read(&job, &err), &err);
    assert_true(job.n_frames == 40 && job.frames[39].index == 39 && total == 40 && job.missing == 0);
    sk_quantize_frames_free(&job);
}

/* The header of an .avi stands at its begin: of a file that was cut off it still promises all. */
static void a_video_that_is_cut_off(void **state)
{
    (void)state;
    const char *video = made_video("cut.avi", 120, CODED);
    struct stat whole;
    assert_int_equal(stat(video, &whole), 0);
    /* the last few alone: frames that are spread over all are there, all but one */
    assert_int_equal(truncate(video, whole.st_size * 10 / 11), 0);
    begin(tiny, video, 8);
    assert_ok(sk_quantize_read(&job, &err), &err);
    static const int64_t ten[] = {0, 12, 24, 36, 48, 60, 72, 84, 96, 108};
    are_frames(ten, 10);
    assert_true(job.missing > 0 && job.missing < 12 && passes == 1);
    sk_quantize_frames_free(&job);
    /* a half: read once more, over those that are there */
    assert_int_equal(truncate(video, whole.st_size / 2), 0);
    begin(tiny, video, 8);
    assert_ok(sk_quantize_read(&job, &err), &err);
    const int64_t there = 120 - job.missing;
    assert_true(there > 40 && there < 70 && passes == 2 && ticks == 10);
    int64_t wanted[10];
    for (int i = 0; i < 10; i++)
        wanted[i] = i * there / 10;
    are_frames(wanted, 10);
    assert_int_equal(sk_quantize_inputs(&job, true), 2);
    sk_quantize_frames_free(&job);
    begin(tiny, video, 80); /* 100 of them, where there are fewer: all of these */
    assert_ok(sk_quantize_read(&job, &err), &err);
    /* the last may be cut through itself */
    assert_in_range(job.n_frames, there - 1, there);
    assert_true(job.missing == 120 - there && passes == 2);
    for (int32_t i = 0; i < job.n_frames; i++)
        assert_int_equal(job.frames[i].index, i);
    sk_quantize_frames_free(&job);
    begin(tiny, video, 200); /* more than it ever had: they are read in order, once */
    assert_ok(sk_quantize_read(&job, &err), &err);
    assert_in_range(job.n_frames, there - 1, there);
    assert_int_equal(passes, 1);
    sk_quantize_frames_free(&job);
}

/* Where nobody knows how many there are, those at the begin are taken. */
static void a_video_of_unknown_length(void **state)
{
    (void)state;
    static const int64_t ten[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const char *video = made_video("stream.mjpeg", 30, CODED);
    sk_source_info info = SK_SOURCE_INFO_INIT;
    sk_source *source = NULL;
    assert_ok(sk_source_open(video, NULL, &source, &err), &err);
    sk_source_get_info(source, &info);
    const int64_t known = info.frames;
    sk_source_close(&source);
    begin(tiny, video, 8);
    assert_ok(sk_quantize_read(&job, &err), &err);
    if (known < 0)
        are_frames(ten, 10);
    assert_true(job.n_frames == 10 && job.missing == 0);
    sk_quantize_frames_free(&job);
}

/* --- sizes --- */

static void put_pictures(const char *folder, int count, int32_t other_width, int32_t other_height)
{
    char path[256];
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = i == 3 ? make_frame(other_width, other_height, i) : make_frame(48, 40, i);
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
}

/* Networks whose input is as large as the picture take pictures of one size, or of sizes that are rounded to one. */
static void a_network_that_follows_the_picture(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height;
        bool fits;
    } rows[] = {{48, 40, true}, {47, 39, true}, {96, 40, false}, {48, 80, false}};
    sk_model *unet = NULL;
    assert_ok(sk_model_open(test_source("tests/fixtures/sleap_nn/unet_single_kernel5_convs3"), &unet, &err),
              &err);
    unet->sleap.target_size[0] = unet->sleap.target_size[1] = 0; /* as one trained on pictures as they are */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[16], words[128];
        snprintf(folder, sizeof folder, "follow%zu", i);
        put_pictures(folder, 5, rows[i].width, rows[i].height);
        begin(unet, folder, 4);
        s.height = s.width = 0;
        const sk_status status = sk_quantize_read(&job, &err);
        assert_int_equal(status, rows[i].fits ? SK_OK : SK_ERR_UNSUPPORTED);
        assert_int_equal(job.n_frames, rows[i].fits ? 5 : 3);
        snprintf(words, sizeof words, "%s: this model's input follows the picture", folder);
        if (!rows[i].fits)
            assert_non_null(strstr(err.message, words));
        snprintf(words, sizeof words, "(%d x %d after 48 x 40); give", rows[i].width, rows[i].height);
        if (!rows[i].fits)
            assert_non_null(strstr(err.message, words));
        sk_quantize_frames_free(&job);
    }
    sk_model_close(&unet);
}

/* --- crops --- */

/* What was found in frames that are held is kept with its points, for who is measured on them; of others at most eight crops are. */
static void what_crops_keep(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 32};
    static char finder[4300];
    sk_model *model = NULL;
    snprintf(finder, sizeof finder, "%s", yolo_save(&fixture, "finder.pt"));
    assert_ok(sk_model_open(finder, &model, &err), &err);
    put_pictures("crops", 10, 48, 40);
    begin(model, "crops", 8);
    s.finder = finder;
    assert_ok(sk_net_engine("cpu", &job.engine, &err), &err);
    s.confidence = 0.01F;
    assert_ok(sk_quantize_finder_open(&job, &err), &err);
    assert_ok(sk_quantize_read(&job, &err), &err);
    int32_t first = 0;
    for (int32_t f = 0; f < job.n_frames; f++) {
        const sk_quantize_frame *frame = &job.frames[f];
        const sk_instances *found = &frame->found;
        assert_int_equal(frame->first, first);
        first += frame->count;
        for (int32_t i = 0; i < frame->count; i++)
            assert_int_equal(job.inputs[frame->first + i].held, frame->held);
        if (!frame->held) {
            assert_true(frame->count == 8 && found->count == 0);
            continue;
        }
        assert_true(found->count > 8 && frame->count == found->count && found->n_keypoints == 3);
        for (int32_t i = 0; i < found->count; i++) {
            const sk_keypoint *p = found->keypoints + found->items[i].first_keypoint;
            assert_int_equal(found->items[i].first_keypoint, 3 * i);
            for (int k = 0; k < 3; k++) /* in and around the picture, and not all in one place */
                assert_true(p[k].x > -100 && p[k].x < 150 && p[k].y > -100 && p[k].y < 150 && p[k].score > 0);
        }
    }
    assert_true(first == (int32_t)job.n_inputs && job.n_frames == 10);
    sk_quantize_frames_free(&job);
    sk_quantize_finder_close(&job);
    sk_model_close(&model);
}

/* Where a file says where the animals are, the frames it says something of are read, and crops are cut out there. */
static void crops_of_a_file(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 3, 4, 11, 20, 29};
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 32};
    sk_model *model = NULL;
    sk_text csv = {0};
    const char *video = made_video("known.avi", 30, CODED);
    assert_ok(sk_model_open(yolo_save(&fixture, "crops.pt"), &model, &err), &err);
    sk_text_append(&csv, "frame,class,name,score,x1,y1,x2,y2\n");
    for (int i = 0; i < 6; i++)
        for (int k = 0; k <= i % 3; k++) /* one, two or three of them, each with another score, however low */
            sk_text_appendf(&csv, "%d,0,mouse,%g,%d,4,%d,20\n", (int)wanted[i], 0.9 - 0.4 * k, 4 + 8 * k,
                            30 + 8 * k);
    assert_ok(sk_file_replace("known.csv", csv.data, csv.length, &err), &err);
    sk_text_free(&csv);
    begin(model, video, 8);
    s.detections = "known.csv";
    assert_ok(sk_quantize_finder_open(&job, &err), &err);
    assert_string_equal(job.finder->path, "known.csv");
    assert_ok(sk_quantize_read(&job, &err), &err);
    are_frames(wanted, 6);
    assert_true(ticks == 6 && total == 10 && job.missing == 0 && !job.stages[0].finder_network);
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(job.frames[i].count, 1 + i % 3);
    const sk_instances *found = &job.frames[4].found;
    assert_true(found->count == 2 && found->n_keypoints == 0 && found->items[1].box[0] == 12);
    sk_quantize_frames_free(&job);
    sk_quantize_finder_close(&job);
    /* a video of which it says too little, and pictures, which have no numbers */
    static const char few[] = "frame,x1,y1,x2,y2\n1,1,1,9,9\n7,1,1,9,9\n";
    assert_ok(sk_file_replace("few.csv", few, strlen(few), &err), &err);
    for (int pictures = 0; pictures < 2; pictures++) {
        begin(model, pictures ? "crops" : video, 8);
        s.detections = "few.csv";
        assert_ok(sk_quantize_finder_open(&job, &err), &err);
        assert_int_equal(sk_quantize_read(&job, &err), pictures ? SK_ERR_UNSUPPORTED : SK_ERR_ARG);
        assert_non_null(strstr(err.message, pictures
                                                ? "crops: --detections are of a video's frames"
                                                : ": has 2 frames with detections; at least 5 are needed"));
        sk_quantize_frames_free(&job);
        sk_quantize_finder_close(&job);
    }
    sk_model_close(&model);
}

static sk_status open_stage(void *context, sk_error *why)
{
    sk_quantize_stage stage = {.width = 48, .height = 40};
    const sk_status status = sk_quantize_finder_stage(context, &stage, why);
    sk_quantize_finder_stage_close(&stage);
    return status;
}

/* Who is to find the animals must be whole. */
static void a_finder_that_is_cut_off(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 32};
    static char finder[4300];
    sk_model *model = NULL;
    snprintf(finder, sizeof finder, "%s", yolo_save(&fixture, "whole.pt"));
    assert_ok(sk_model_open(finder, &model, &err), &err);
    for (int lacks = 0; lacks < 2; lacks++) {
        begin(model, "crops", 8);
        s.finder = finder;
        assert_ok(sk_net_engine("cpu", &job.engine, &err), &err);
        assert_ok(sk_quantize_finder_open(&job, &err), &err);
        sk_graph *graph = job.finder->graph;
        if (lacks == 0)
            assert_true(test_every_allocation(open_stage, &job) > 10);
        job.finder->truncated = lacks == 0;
        job.finder->graph = lacks ? NULL : graph;
        assert_int_equal(sk_quantize_read(&job, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "whole.pt: the file is cut off; fetch it again"));
        assert_int_equal(job.n_stages, 0);
        job.finder->graph = graph;
        sk_quantize_frames_free(&job);
        sk_quantize_finder_close(&job);
    }
    sk_model_close(&model);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    tiny = tiny_model();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_video),
        cmocka_unit_test(a_video_that_is_cut_off),
        cmocka_unit_test(a_video_of_unknown_length),
        cmocka_unit_test(a_network_that_follows_the_picture),
        cmocka_unit_test(what_crops_keep),
        cmocka_unit_test(crops_of_a_file),
        cmocka_unit_test(a_finder_that_is_cut_off),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_model_close(&tiny);
    return failed;
}
