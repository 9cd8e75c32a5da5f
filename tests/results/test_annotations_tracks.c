/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "results/annotations.h"
#include "results/sink.h"
#include "support/fault.h"
#include "support/test.h"

#include "video_header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Files that follow animals: MOTChallenge's text, and upstream's tables. */

static void parse(const char *text, sk_annotation_set *set)
{
    sk_error err = {0};
    assert_ok(sk_annotations_parse("tracks.txt", text, strlen(text), set, &err), &err);
}

static void refused(const char *text, const char *why)
{
    sk_error err = {0};
    sk_annotation_set set;
    assert_int_not_equal(sk_annotations_parse("tracks.txt", text, strlen(text), &set, &err), SK_OK);
    if (!strstr(err.message, why))
        fail_msg("'%s' is refused with '%s', not '%s'", text, err.message, why);
}

static void mot_truth_has_flag_class_and_visibility(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("1,3,10,20,30,40,1,1,0.5\r\n"
          "3, 4, 1.5, 2, 3, 4, 0, 8, 0.25\n"
          "\n"
          "3 -1 1 2 3 4 1 1 1\n",
          &set);
    assert_string_equal(set.format, "MOT text");
    assert_int_equal(set.n_items, 3);
    assert_int_equal(set.has, SK_HAS_BOX);
    const sk_annotation *a = set.items;
    assert_int_equal(set.images[a[0].image].frame, 0);
    assert_int_equal(a[0].track, 3);
    assert_true(a[0].box[0] == 10 && a[0].box[3] == 40 && a[0].visible == 0.5 && !a[0].crowd);
    assert_int_equal(set.images[a[1].image].frame, 2);
    assert_true(a[1].crowd && a[1].visible == 0.25 && a[1].class_id == a[0].class_id);
    assert_int_equal(set.classes[a[0].class_id].number, 1);
    assert_int_equal(a[2].track, -1);
    assert_true(set.every_frame);
    assert_int_equal(set.n_images, 3); /* the one between has no line */
    sk_annotations_free(&set);
}

static void mot_results_have_confidences(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("1,3,10,20,30,40,0.75,-1,-1,-1\n2,3,10,20,30,40,0.5,-1,-1,-1\n", &set);
    assert_true(set.items[0].score == 0.75 && !set.unscored);
    assert_int_equal(set.classes[0].number, -1);
    sk_annotations_free(&set);
    parse("1,3,10,20,30,40\n", &set);
    assert_true(set.unscored && set.items[0].score == 1);
    sk_annotations_free(&set);
    parse("1,3,10,20,30,40,0.75,2,17\n", &set); /* boxmot's: class, and the detection's number */
    assert_true(set.items[0].visible == 1 && set.classes[set.items[0].class_id].number == 2);
    sk_annotations_free(&set);
    parse("1,3,10,20,30,40,1,2.25,7,0.5\n", &set); /* a place in the world */
    assert_int_equal(set.classes[0].number, -1);
    sk_annotations_free(&set);
}

static void mot_boundaries(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("1,0,10,20,0,0,1,0,0\n1,1,10,20,1,1,1,0,1\n1,3,10,20,1,1,1,0,-1\n", &set);
    assert_int_equal(set.n_items, 3);
    assert_int_equal(set.classes[set.items[0].class_id].number, 0);
    assert_int_equal(set.items[0].track, 0);
    assert_true(set.items[0].box[2] == 0 && set.items[0].box[3] == 0); /* a box may be a point */
    assert_true(set.items[0].visible == 0 && set.items[1].visible == 1 && set.items[2].visible == 1);
    sk_annotations_free(&set);
    static const char *const others[] = {"1.5", "-0.5", "2"}; /* one that is no share: none of them is */
    for (int i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "1,0,10,20,1,1,1,0,0.5\n1,1,10,20,1,1,1,0,%s\n", others[i]);
        parse(text, &set);
        assert_true(set.items[0].visible == 1 && set.items[1].visible == 1);
        sk_annotations_free(&set);
    }
    refused("1,3,10,20,30,-1\n", "line 1: a box of negative width or height");
}

static void mot_boxes_may_be_turned(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("1,3,0,0,4,0,4,2,0,2,0.5,6,0\n", &set); /* four corners */
    assert_int_equal(set.has, SK_HAS_OBB);
    const sk_annotation *a = set.items;
    assert_true(fabs(a->obb[0] - 2) < 1e-12 && fabs(a->obb[1] - 1) < 1e-12 &&
                fabs(a->obb[2] * a->obb[3] - 8) < 1e-12);
    assert_true(a->score == 0.5 && a->visible == 1);
    assert_int_equal(set.classes[a->class_id].number, 6);
    sk_annotations_free(&set);
    parse("1,3,10,20,30,40,0.5,-1,-1,-1,25,40,30,12,0.25\n", &set);
    assert_int_equal(set.has, SK_HAS_BOX | SK_HAS_OBB);
    assert_true(set.items[0].obb[0] == 25 && set.items[0].obb[4] == 0.25 && set.items[0].box[2] == 30);
    sk_annotations_free(&set);
    for (int missing = 0; missing < 5; missing++) { /* a turned box is all five numbers */
        char text[256] = "1,3,10,20,30,40,0.5,-1,-1,-1";
        for (int i = 0; i < 5; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), i == missing ? ",nan" : ",%d", 20 + i);
        strcat(text, "\n1,4,10,20,30,40,0.5,-1,-1,-1,25,40,30,12,0.25\n");
        parse(text, &set);
        assert_int_equal(set.items[0].has, SK_HAS_BOX);
        assert_int_equal(set.items[1].has, SK_HAS_BOX | SK_HAS_OBB);
        sk_annotations_free(&set);
    }
}

static void mot_lines_may_have_keypoints(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("1,3,10,20,30,40,0.5,-1,-1,-1,12,22,0.9,nan,nan,0\n", &set);
    assert_int_equal(set.has, SK_HAS_BOX | SK_HAS_KEYPOINTS);
    assert_int_equal(set.n_keypoints, 2);
    assert_true(set.points[0].x == 12 && set.points[0].score == 0.9 && isnan(set.points[1].x));
    sk_annotations_free(&set);
    parse("1,3,10,20,30,40,0.5,-1,-1,-1,12,22,0.9\n", &set); /* not four corners: columns 9 and 10 are -1 */
    assert_int_equal(set.n_keypoints, 1);
    sk_annotations_free(&set);
    parse("1,3,10,20,30,40,0.5,1,-1,-1,25,40,30,12,0.25,12,22,0.9\n", &set);
    assert_int_equal(set.has, SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS);
    assert_int_equal(set.classes[set.items[0].class_id].number, 1);
    sk_annotations_free(&set);
}

static void mot_frames_may_begin_with_0(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("1,3,10,20,30,40\n0,3,10,20,30,40\n", &set);
    assert_int_equal(set.images[set.items[0].image].frame, 1);
    assert_non_null(strstr(sk_text_get(&set.notes), "counted from 0"));
    sk_annotations_free(&set);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    refused("1,3,10,20,30,40\n2,3,10,20,x,40\n", "tracks.txt: line 2, column 5: 'x' is no number");
    refused("1,3,10,20,30,40\n2,3,10,20,30\n", "tracks.txt: line 2: 5 numbers, where line 1 has 6");
    refused("1,3,10,20\n", "tracks.txt: line 1: 4 numbers");
    refused("1,3,10,20,30,40,1,-1,-1,-1,5\n1,2\n", "tracks.txt: line 1: 11 numbers");
    refused("1.5,3,10,20,30,40\n", "line 1: the frame is no whole number");
    refused("1,0.3,10,20,30,40\n", "line 1: the track is no whole number");
    refused("1,3,10,20,-30,40\n", "line 1: a box of negative width");
    refused("1,3,10,20,nan,40\n", "line 1: the box is not all numbers");
    refused("1,3,10,20,1e999,40\n", "no column is called 'frame'");
    refused("-1,3,10,20,30,40\n", "line 1: the frame is no whole number");
}

/* MOTChallenge's folders: gt/gt.txt, and seqinfo.ini above it. */
static void seqinfo_says_how_long_the_video_is(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4400];
    snprintf(path, sizeof path, "%s/gt", test_folder());
    assert_ok(sk_folder_make(path, &err), &err);
    snprintf(path, sizeof path, "%s/seqinfo.ini", test_folder());
    const char *info = "[Sequence]\nname=flies\nseqLength=7\nimWidth=640\nimHeight=480\n";
    assert_ok(sk_file_replace(path, info, strlen(info), &err), &err);
    snprintf(path, sizeof path, "%s/gt/gt.txt", test_folder());
    assert_ok(sk_file_replace(path, "2,1,1,2,3,4,1,1,1\n", 18, &err), &err);
    sk_annotation_set set;
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_int_equal(set.n_images, 7);
    assert_int_equal(set.images[6].width, 640);
    sk_annotations_free(&set);
}

static void upstreams_tables_are_read(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("id,frame,time_s,x,y,heading_deg,state,detection_confidence,nose_x,nose_y,nose_conf\n"
          "4,0,0.0,499,303,90,active,0.95,500,304,0.5\n"
          "4,1,0.01,,,,lost,,,,\n",
          &set);
    assert_int_equal(set.has, SK_HAS_POINT | SK_HAS_KEYPOINTS);
    const sk_annotation *a = set.items;
    assert_int_equal(a[0].track, 4);
    assert_true(a[0].obb[0] == 499 && a[0].obb[1] == 303 && a[0].directed && a[0].score == 0.95);
    assert_true(fabs(a[0].obb[4] - acos(-1) / 2) < 1e-12);
    assert_true(set.points[0].score == 0.5 && !a[0].predicted && a[1].predicted);
    assert_false(a[1].has & SK_HAS_POINT);
    assert_string_equal(set.keypoint_names[0], "nose");
    assert_string_equal(sk_text_get(&set.notes), "");
    sk_annotations_free(&set);
    parse("TrackID,TrajectoryID,Index,X,Y,Theta,FrameID,State,DetectionConfidence,PoseKpt_nose_X,PoseKpt_"
          "nose_Y,"
          "PoseKpt_nose_Conf\n"
          "0,7,0,10.5,20.5,3.5,12,occluded,0.5,1,2,0.25\n",
          &set);
    a = set.items;
    assert_true(a->track == 7 && a->obb[0] == 10.5 && a->obb[4] == 3.5 && a->predicted);
    assert_int_equal(set.images[a->image].frame, 12);
    assert_string_equal(set.keypoint_names[0], "nose");
    assert_true(set.points[0].y == 2 && set.points[0].score == 0.25);
    sk_annotations_free(&set);
}

static void tracks_of_coco_have_many_names(void **state)
{
    (void)state;
    sk_annotation_set set;
    parse("{\"images\":[{\"id\":1,\"file_name\":\"a.png\",\"video_id\":3}],\"annotations\":["
          "{\"image_id\":1,\"category_id\":0,\"bbox\":[1,2,3,4],\"track_id\":5},"
          "{\"image_id\":1,\"category_id\":0,\"bbox\":[1,2,3,4],\"instance_id\":6},"
          "{\"image_id\":1,\"category_id\":0,\"bbox\":[1,2,3,4],\"attributes\":{\"track_id\":7}},"
          "{\"image_id\":1,\"category_id\":0,\"bbox\":[1,2,3,4]}],\"categories\":[]}",
          &set);
    assert_int_equal(set.items[0].track, 5);
    assert_int_equal(set.items[1].track, 6);
    assert_int_equal(set.items[2].track, 7);
    assert_int_equal(set.items[3].track, -1);
    assert_int_equal(set.images[0].video, 3);
    sk_annotations_free(&set);
}

/* What sleap-io wrote (tests/parity/track_files.py makes such files): the same animals and tracks as the table has. */
static void sleaps_files_have_tracks(void **state)
{
    (void)state;
    static const char *const files[] = {"tracks.slp", "matlab.analysis.h5", "standard.analysis.h5"};
    sk_error err = {0};
    char path[256];
    sk_annotation_set table, set;
    assert_ok(sk_annotations_read(test_source("tests/fixtures/sleap_tracks/tracks.csv"), &table, &err), &err);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "tests/fixtures/sleap_tracks/%s", files[i]);
        assert_ok(sk_annotations_read(test_source(path), &set, &err), &err);
        assert_int_equal(set.n_items, table.n_items);
        assert_int_equal(set.n_keypoints, table.n_keypoints);
        assert_string_equal(set.keypoint_names[2], "tail");
        for (size_t k = 0; k < set.n_items; k++) {
            assert_int_equal(set.items[k].track, table.items[k].track);
            assert_int_equal(set.images[set.items[k].image].frame, table.images[table.items[k].image].frame);
            assert_true(set.items[k].score == 0.75);
            for (size_t p = 0; p < 3; p++) {
                const sk_annotation_point *a = &set.points[set.items[k].first + p],
                                          *b = &table.points[table.items[k].first + p];
                assert_true(isnan(a->x) ? isnan(b->x) : fabs(a->x - b->x) < 1e-9 && fabs(a->y - b->y) < 1e-9);
                assert_true(isnan(a->x) || a->score == 0.5);
            }
        }
        sk_annotations_free(&set);
    }
    sk_annotations_free(&table);
}

/* Every format that skitter writes gives back the tracks it was given; what belongs to none is none. */
static void tracks_come_back_from_every_format(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly"};
    static const char *const formats[] = {"csv", "jsonl", "coco", "slp", "analysis", "mot"};
    sk_run_header h = video_header();
    h.n_classes = 1;
    h.class_names = classes;
    h.n_edges = 0;
    h.tracked = true;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        sk_error err = {0};
        char path[4400];
        const sk_sink_kind *kind = sk_sink_find(formats[f]);
        snprintf(path, sizeof path, "%s/%s", test_folder(), kind->file);
        sk_sink *sink = NULL;
        assert_ok(kind->open(path, &h, &sink, &err), &err);
        for (int i = 0; i < 3; i++) { /* track 4, track 1, and one of no track that only some formats hold */
            sk_keypoint places[6];
            sk_found items[3];
            sk_sighting sightings[3];
            for (int k = 0; k < 3; k++) {
                float v = (float)(100 * k + 10 * i + 5);
                items[k] = (sk_found){.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                                      .score = 0.5f,
                                      .box = {v, v, v + 20, v + 20},
                                      .first_keypoint = 2 * k,
                                      .track_id = k == 0   ? 4
                                                  : k == 1 ? 1
                                                           : -1};
                sightings[k] =
                    (sk_sighting){.frame = i, .track = items[k].track_id, .x = v + 10, .y = v + 10};
                places[2 * k] = (sk_keypoint){v, v, 0.9f};
                places[2 * k + 1] = (sk_keypoint){v + 20, v + 20, 0.9f};
            }
            sk_instances all = {
                .count = 3, .capacity = 3, .items = items, .n_keypoints = 2, .keypoints = places};
            sk_result_frame frame = {.source = "in.mp4",
                                     .index = i,
                                     .width = 640,
                                     .height = 480,
                                     .instances = &all,
                                     .sightings = sightings};
            assert_ok(sink->write(sink, &frame, &err), &err);
        }
        assert_ok(sink->close(sink, &err), &err);
        sk_annotation_set set;
        assert_ok(sk_annotations_read(path, &set, &err), &err);
        bool one_higher = strcmp(formats[f], "mot") == 0,
             only_tracks = one_higher || strcmp(formats[f], "analysis") == 0;
        assert_int_equal(set.n_items, only_tracks ? 6 : 9);
        for (size_t k = 0; k < set.n_items; k++) {
            const sk_annotation *a = &set.items[k];
            int64_t frame = set.images[a->image].frame;
            double x = set.points[a->first].x - 10.0 * (double)frame;
            assert_int_equal(a->track, x < 50 ? 4 + one_higher : x < 150 ? 1 + one_higher : -1);
        }
        sk_annotations_free(&set);
    }
}

/* For a tracker: places get a size where they are told one, what was only predicted is none. */
static void places_become_detections(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set set;
    parse("id,frame,x,y,heading_deg,state\n4,0,10,20,90,active\n4,1,11,20,90,occluded\n", &set);
    assert_int_equal(sk_annotations_as_detections("t.csv", 0, &set, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "body=PIXELS"));
    assert_ok(sk_annotations_as_detections("t.csv", 40, &set, &err), &err);
    assert_int_equal(set.has, SK_HAS_OBB);
    assert_true(set.items[0].has == SK_HAS_OBB && set.items[0].obb[2] == 40 && !set.items[0].crowd);
    assert_true(set.items[1].crowd);
    sk_annotations_free(&set);
}

static sk_status parse_once(void *context, sk_error *err)
{
    sk_annotation_set set;
    const char *text = context;
    sk_status status = sk_annotations_parse("tracks.txt", text, strlen(text), &set, err);
    if (status == SK_OK)
        sk_annotations_free(&set);
    return status;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    char mot[] = "1,3,10,20,30,40,0.5,-1,-1,-1,12,22,0.9\n3,3,10,20,30,40,0.5,-1,-1,-1,12,22,0.9\n";
    char table[] = "id,frame,x,y,heading_deg,state,nose_x,nose_y,nose_conf\n4,0,499,303,90,active,5,4,0.5\n";
    assert_true(test_every_allocation(parse_once, mot) > 4);
    assert_true(test_every_allocation(parse_once, table) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mot_truth_has_flag_class_and_visibility),
        cmocka_unit_test(mot_results_have_confidences),
        cmocka_unit_test(mot_boundaries),
        cmocka_unit_test(mot_boxes_may_be_turned),
        cmocka_unit_test(mot_lines_may_have_keypoints),
        cmocka_unit_test(mot_frames_may_begin_with_0),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(seqinfo_says_how_long_the_video_is),
        cmocka_unit_test(upstreams_tables_are_read),
        cmocka_unit_test(places_become_detections),
        cmocka_unit_test(sleaps_files_have_tracks),
        cmocka_unit_test(tracks_come_back_from_every_format),
        cmocka_unit_test(tracks_of_coco_have_many_names),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
