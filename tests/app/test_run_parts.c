/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a run by hand: what a file is told of, who is followed and when a pose counts, what a folder that goes on knows. */
#include "support/test.h"

#include "app/consumers.h"
#include "app/run_folder.h"
#include "app/track_teller.h"
#include "base/file.h"
#include "base/instances.h"
#include "base/memory.h"
#include "skitter/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;

/* --- files --- */

static sk_text told;
static sk_status refuses; /* what the sink answers */

static sk_status tell(sk_sink *sink, const sk_result_frame *frame, sk_error *why)
{
    (void)sink;
    sk_text_appendf(&told, "frame %lld:", (long long)frame->index);
    for (int32_t i = 0; i < frame->instances->count; i++)
        sk_text_appendf(&told, " %d/%d", frame->instances->items[i].class_id,
                        frame->sightings ? frame->sightings[i].track : -1);
    sk_text_appendf(&told, " (%d points)\n", frame->instances->n_keypoints);
    return refuses == SK_OK ? SK_OK : sk_fail(why, refuses, "full");
}

static sk_status close_told(sk_sink *sink, sk_error *why)
{
    (void)sink;
    sk_text_append(&told, "closed\n");
    return refuses == SK_OK ? SK_OK : sk_fail(why, refuses, "full");
}

static sk_sink told_sink = {.write = tell, .close = close_told};

static sk_status open_told(const char *path, const sk_run_header *header, sk_sink **out, sk_error *why)
{
    (void)header, (void)why;
    sk_text_appendf(&told, "open %s\n", sk_path_name(path));
    *out = &told_sink;
    return SK_OK;
}

/* The second and the fourth have nothing but a place. */
static sk_found five[5] = {{.class_id = 10, .has = SK_HAS_BOX},
                           {.class_id = 11},
                           {.class_id = 12, .has = SK_HAS_OBB},
                           {.class_id = 13},
                           {.class_id = 14, .has = SK_HAS_KEYPOINTS}};
static const sk_sighting five_tracks[5] = {
    {.track = 0}, {.track = 1}, {.track = 2}, {.track = 3}, {.track = 4}};

static void files_are_told_of_what_has_a_shape(void **state)
{
    (void)state;
    const sk_instances all = {.items = five, .count = 5, .capacity = 5, .n_keypoints = 3},
                       first = {.items = five, .count = 1, .capacity = 1, .n_keypoints = 3};
    const sk_run_header header = {.source = "v", .source_kind = "video"};
    for (int kind = 0; kind < 2; kind++) { /* formats that need shapes, and one that does not */
        const sk_sink_kind format = {.name = "told",
                                     .file = "told.txt",
                                     .open = open_told,
                                     .no_shapes = kind == 1,
                                     .takes_turns = kind};
        sk_consumers list = {0};
        sk_consumer *file = sk_consumer_file(&format);
        assert_int_equal(file->needs, kind ? SK_NEEDS_NAMES | SK_NEEDS_TURNS : SK_NEEDS_NAMES);
        assert_string_equal(file->files[0], "told.txt");
        assert_null(file->files[1]);
        assert_ok(sk_consumers_add(&list, file, &err), &err);
        sk_run_folder *nowhere = NULL;
        assert_ok(sk_run_folder_open(NULL, &nowhere, &err), &err);
        assert_ok(file->kind->begin(file, &header, nowhere, &err), &err);
        sk_result_frame frame = {.index = 1, .instances = &all, .sightings = five_tracks};
        sk_passing passing = {.result = &frame};
        bool lacks = false;
        assert_ok(file->kind->take(file, &passing, &err), &err);
        frame.instances = &first; /* one of a frame before stays out */
        frame.index = 2;
        assert_ok(file->kind->retell(file, 0, &frame, &lacks, &err), &err);
        frame.instances = &all;
        frame.sightings = NULL; /* not followed: told as it is */
        frame.index = 3;
        assert_ok(file->kind->take(file, &passing, &err), &err);
        frame.problem = "torn"; /* of a journal: no frame */
        assert_ok(file->kind->retell(file, 0, &frame, &lacks, &err), &err);
        assert_false(lacks);
        assert_ok(file->kind->complete(file, &err), &err);
        assert_ok(file->kind->complete(file, &err), &err); /* once */
        sk_consumers_close(&list);
        sk_run_folder_close(&nowhere);
        assert_string_equal(
            sk_text_get(&told),
            kind ? "open -\nframe 1: 10/0 11/1 12/2 13/3 14/4 (3 points)\n"
                   "frame 2: 10/0 (3 points)\nframe 3: 10/-1 11/-1 12/-1 13/-1 14/-1 (3 points)\nclosed\n"
                 : "open -\nframe 1: 10/0 12/2 14/4 (3 points)\nframe 2: 10/0 (3 points)\n"
                   "frame 3: 10/-1 11/-1 12/-1 13/-1 14/-1 (3 points)\nclosed\n");
        sk_text_clear(&told);
    }
    /* a run that fails closes it, too */
    const sk_sink_kind format = {.name = "told", .file = "told.txt", .open = open_told, .beside = "more.txt"};
    sk_consumers list = {0};
    sk_consumer *file = sk_consumer_file(&format);
    sk_run_folder *nowhere = NULL;
    assert_ok(sk_run_folder_open(NULL, &nowhere, &err), &err);
    assert_string_equal(file->files[1], "more.txt");
    assert_ok(sk_consumers_add(&list, file, &err), &err);
    assert_ok(file->kind->begin(file, &header, nowhere, &err), &err);
    refuses = SK_ERR_IO;
    const sk_result_frame frame = {.instances = &all, .sightings = five_tracks};
    sk_passing passing = {.result = &frame};
    assert_int_equal(file->kind->take(file, &passing, &err), SK_ERR_IO);
    sk_consumers_close(&list);
    sk_run_folder_close(&nowhere);
    refuses = SK_OK;
    assert_string_equal(sk_text_get(&told), "open -\nframe 0: 10/0 12/2 14/4 (3 points)\nclosed\n");
    sk_text_free(&told);
}

/* --- following --- */

static const char *const names[] = {"a", "b"};
static const sk_run_header followed = {.source = "v.mp4",
                                       .source_kind = "video",
                                       .width = 640,
                                       .height = 480,
                                       .rate = 25,
                                       .n_keypoints = 2,
                                       .keypoint_names = names,
                                       .has = SK_HAS_BOX | SK_HAS_KEYPOINTS};

static sk_track_teller *teller_of(const sk_track_wish *wish, const sk_run_header *header)
{
    sk_track_teller *t = NULL;
    assert_ok(sk_track_teller_open(wish, header, &t, &err), &err);
    return t;
}

/* Boxes of 40 x 20 with two points each: the pose counts where it reaches over 0.3 of the long side. */
static void poses_that_are_specks(void **state)
{
    (void)state;
    static const float apart[][2] = {{12, 0},      {11.9F, 0}, {0, 12}, {7.2F, 9.6F},
                                     {7.1F, 9.6F}, {NAN, 0},   {-30, 5}};
    enum { N = sizeof apart / sizeof *apart };
    sk_found items[N + 1] = {0};
    sk_keypoint points[2 * (N + 1)];
    for (int i = 0; i <= N; i++) {
        items[i] = (sk_found){.score = 0.9F,
                              .track_id = -1,
                              .first_keypoint = 2 * i,
                              .has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                              .box = {100.0F * (float)(i % 4), 100.0F * (float)(i / 4), 0, 0}};
        items[i].box[2] = items[i].box[0] + 40;
        items[i].box[3] = items[i].box[1] + 20;
        points[2 * i] = (sk_keypoint){items[i].box[0] + 32, items[i].box[1] + 4, 1};
        points[2 * i + 1] =
            i < N ? (sk_keypoint){points[2 * i].x + apart[i][0], points[2 * i].y + apart[i][1], 1}
                  : (sk_keypoint){NAN, NAN, 0};
    }
    points[2 * N] = (sk_keypoint){NAN, NAN, 0}; /* the last has none at all */
    const sk_instances found = {
        .items = items, .count = N + 1, .capacity = N + 1, .n_keypoints = 2, .keypoints = points};
    sk_track_wish wish;
    sk_track_wish_defaults(&wish);
    wish.online = true;
    for (int n_points = 1; n_points < 3; n_points++) {
        sk_run_header header = followed;
        sk_result_frame out, frame = {.source = "v.mp4", .instances = &found, .width = 640, .height = 480};
        header.n_keypoints = n_points;
        sk_track_teller *t = teller_of(&wish, &header);
        assert_ok(sk_track_teller_tell(t, 0, &frame, &out, &err), &err);
        assert_int_equal(sk_track_teller_figures(t)->found, N + 1);
        assert_int_equal(sk_track_teller_figures(t)->poseless,
                         n_points == 1 ? 0 : 4); /* of one point nobody asks */
        sk_track_teller_close(&t);
    }
}

static sk_found mice[3];
static sk_instances two_mice = {.items = mice, .count = 2, .capacity = 3};

static const sk_result_frame *mice_at(int64_t index)
{
    static sk_result_frame frame;
    for (int i = 0; i < 3; i++)
        mice[i] = (sk_found){
            .score = 0.9F,
            .class_id = i,
            .has = SK_HAS_BOX,
            .box = {100.0F * (float)i + (float)index, 50, 100.0F * (float)i + (float)index + 30, 65}};
    frame = (sk_result_frame){.source = "v.mp4",
                              .index = index,
                              .time = 0.5 * (double)index,
                              .width = 640,
                              .height = 480,
                              .instances = &two_mice};
    return &frame;
}

static void tracks_and_their_figures(void **state)
{
    (void)state;
    sk_track_wish wish;
    sk_result_frame out;
    sk_track_wish_defaults(&wish);
    wish.online = true;
    sk_run_header header = followed;
    header.n_keypoints = 0;
    header.has = SK_HAS_BOX;
    sk_track_teller *t = teller_of(&wish, &header);
    for (int round = 0; round < 2; round++) { /* entry 0 begins anew */
        for (int64_t i = 0; i < 6; i++) {
            two_mice.count = i == 4 ? 3 : 2;
            assert_ok(sk_track_teller_tell(t, i, mice_at(i), &out, &err), &err);
            assert_true(out.instances->count >= (i > 0 ? 2 : 0));
            assert_null(out.looks);
            for (int32_t k = 0; k < out.instances->count; k++) {
                const sk_found *f = &out.instances->items[k];
                const sk_sighting *s = &out.sightings[k];
                assert_true(f->track_id == s->track && f->tracking_score == (float)s->certainty);
                assert_true(s->detection >= 0 ? f->class_id == mice[s->detection].class_id
                                              : f->class_id >= -1);
                assert_true(f->has == SK_HAS_BOX && fabsf(f->box[2] - f->box[0] - 30) < 3);
            }
        }
        two_mice.count = 2;
        const sk_track_figures *f = sk_track_teller_figures(t);
        assert_int_equal(f->found, 13);
        assert_true(f->tracks >= 2 && f->tracks <= 3 && f->sightings >= 10 && f->sightings <= 14);
        assert_true(f->covered <= 2 && f->poseless == 0 && f->seconds > 0 && f->seconds < 60);
        /* a picture that could not be read is told as it is, and followed by nobody */
        sk_result_frame torn = *mice_at(6);
        torn.problem = "torn";
        assert_ok(sk_track_teller_tell(t, 6, &torn, &out, &err), &err);
        assert_true(out.instances == torn.instances && !out.sightings && out.index == 6);
        assert_int_equal(f->found, 13);
    }
    sk_track_teller_close(&t);
}

/* When a frame was, of a video, a camera and pictures; with and without a rate that somebody gave. */
static void times_of_frames(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        uint64_t picture;
        double fps, rate, time;
    } rows[] = {{"video", 0, 0, 25, 2.0},   {"video", 0, 8, 25, 0.5},   {"live", 0, 8, 25, 2.0},
                {"pictures", 7, 8, 0, 0.5}, {"pictures", 7, 0, 0, 2.0}, {"live", 0, 0, 0, 2.0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_track_wish wish;
        sk_result_frame out;
        sk_track_wish_defaults(&wish);
        wish.online = true;
        wish.track.fps = rows[i].fps;
        sk_run_header header = followed;
        header.source_kind = rows[i].kind;
        header.rate = rows[i].rate;
        sk_track_teller *t = teller_of(&wish, &header);
        sk_result_frame frame = *mice_at(4);
        frame.picture = rows[i].picture;
        assert_ok(sk_track_teller_tell(t, 0, &frame, &out, &err), &err);
        if (out.time != rows[i].time)
            fail_msg("row %zu: %g, and not %g", i, out.time, rows[i].time);
        sk_track_teller_close(&t);
    }
}

static char warned[512];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned, sizeof warned, "%s", message);
}

static void keypoints_that_no_model_has(void **state)
{
    (void)state;
    static const struct {
        const char *head, *tail;
        bool warns;
    } rows[] = {{"", "", false},  {"a", "b", false}, {"0", "1", false},     {"a", "c", true},
                {"c", "b", true}, {"2", "b", true},  {"a,b", "b,0", false}, {"a,x", "b", true},
                {"", "b", false}, {"A", "", true}};
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_track_wish wish;
        char wanted[256] = "";
        sk_track_wish_defaults(&wish);
        wish.online = true;
        snprintf(wish.head_points, sizeof wish.head_points, "%s", rows[i].head);
        snprintf(wish.tail_points, sizeof wish.tail_points, "%s", rows[i].tail);
        warned[0] = '\0';
        sk_track_teller *t = teller_of(&wish, &followed);
        sk_track_teller_close(&t);
        if (rows[i].warns)
            snprintf(wanted, sizeof wanted,
                     "not all keypoints that are to tell the heading are among the model's: %s, %s",
                     rows[i].head, rows[i].tail);
        assert_string_equal(warned, wanted);
    }
    sk_log_unlisten(&listener);
}

/* --- folders --- */

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int32_t files_known(const char *path, int64_t frames)
{
    static const char *const files[] = {"run.json", NULL};
    static const sk_run_begin how = {.identity = "conf\t0.25\n", .source = "in.mp4", .files = files};
    sk_run_folder *folder = NULL;
    sk_run_header header = {0};
    assert_ok(sk_run_folder_open(path, &folder, &err), &err);
    assert_ok(sk_run_folder_begin(folder, &how, &err), &err);
    assert_int_equal(sk_run_folder_begin(folder, &how, &err), SK_ERR_ARG); /* once */
    sk_run_folder_computed_by(folder, NULL, &header);
    for (int32_t i = 0; i < header.n_files; i++)
        assert_true(header.files[i].model == i && strcmp(header.files[i].sha256, SHA) == 0);
    const sk_instances nobody = {0};
    for (int64_t i = sk_run_folder_known(folder); i < frames; i++) {
        const sk_result_frame frame = {.source = "in.mp4", .index = i, .instances = &nobody};
        assert_ok(sk_run_folder_append(folder, &frame, &err), &err);
    }
    sk_run_folder_close(&folder);
    return header.n_files;
}

/* Which files computed a run is known to its next part; where nothing was computed, nobody did. */
static void what_computed_a_run(void **state)
{
    (void)state;
    static const char json[] =
        "{\"models\":[{\"computed_by\":[{\"path\":\"a.onnx\",\"sha256\":\"" SHA
        "\"},{\"path\":\"short\",\"sha256\":\"12\"}]},{\"computed_by\":[{\"path\":\"b\","
        "\"sha256\":\"" SHA "\"}]}]}";
    char path[4300], file[4400];
    snprintf(path, sizeof path, "%s/computed", test_folder());
    snprintf(file, sizeof file, "%s/run.json", path);
    assert_int_equal(files_known(path, 0), 0);
    assert_ok(sk_file_replace(file, json, sizeof json - 1, &err), &err);
    assert_int_equal(files_known(path, 2), 0);
    assert_int_equal(files_known(path, 2), 2);
    sk_run_folder *held = NULL;
    assert_ok(sk_run_folder_open(path, &held, &err), &err);
    assert_int_equal(sk_run_folder_finish(held, &err), SK_ERR_ARG); /* before it has begun */
    sk_run_folder_close(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_told_of_what_has_a_shape), cmocka_unit_test(poses_that_are_specks),
        cmocka_unit_test(tracks_and_their_figures),           cmocka_unit_test(times_of_frames),
        cmocka_unit_test(keypoints_that_no_model_has),        cmocka_unit_test(what_computed_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
