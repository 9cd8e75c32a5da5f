/* SPDX-License-Identifier: Apache-2.0 */
/* Result files that are HDF5: labels of SLEAP and the analysis of tracks. */
#include "base/file.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "results/annotations.h"
#include "results/sink.h"
#include "results/track_names.h"
#include "support/test.h"

#include "written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void slp_has_every_table(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *path = write_all("slp");
    sk_hdf5_file *file = NULL;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    double format = 0;
    assert_ok(sk_hdf5_attribute_real(file, "metadata", "format_id", &format, &err), &err);
    assert_true(format == 1.2);
    char *json = NULL;
    assert_ok(sk_hdf5_attribute_text(file, "metadata", "json", &json, &err), &err);
    assert_non_null(strstr(json, "\"name\":\"head\""));
    assert_non_null(strstr(json, "sleap.skeleton.EdgeType"));
    sk_free(json);
    const char *const tables[] = {"frames",      "instances",   "points",          "pred_points",
                                  "videos_json", "tracks_json", "suggestions_json"};
    const int64_t rows[] = {3, 3, 0, 6, 1, 0, 0};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sk_dtype dtype;
        sk_shape shape;
        assert_true(sk_hdf5_exists(file, tables[i]));
        assert_ok(sk_hdf5_dataset_info(file, tables[i], &dtype, &shape, &err), &err);
        assert_int_equal(shape.dim[0], rows[i]);
    }
    sk_hdf5_close(&file);
}

/* Readers take "filename" for a path and "filenames" for the list of all pictures. */
static void slp_of_pictures_lists_them(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    h.source = "pictures/*.png";
    h.source_kind = "pictures";
    char path[4300];
    snprintf(path, sizeof path, "%s/pictures.slp", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("slp")->open(path, &h, &sink, &err), &err);
    for (int i = 0; i < 2; i++) {
        sk_result_frame frame = *frame_number(1);
        frame.source = i ? "b.png" : "a.png";
        assert_ok(sink->write(sink, &frame, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_hdf5_texts texts = {0};
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_texts(file, "videos_json", &texts, &err), &err);
    const char *entry = sk_hdf5_text_at(&texts, 0);
    assert_non_null(strstr(entry, "\"filename\":\"a.png\""));
    assert_non_null(strstr(entry, "\"filenames\":[\"a.png\",\"b.png\"]"));
    assert_non_null(strstr(entry, "\"shape\":[2,480,640,3]"));
    assert_non_null(strstr(entry, "\"height_\":480"));
    assert_non_null(strstr(entry, "\"width_\":640"));
    assert_non_null(strstr(entry, "\"channels_\":3"));
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
}

/* A labels file is opened from anywhere; what is no file (a stream) keeps its name. */
static void slp_names_the_video_from_the_root(void **state)
{
    (void)state;
    sk_error err = {0};
    char here[4200], path[4300];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_folder()), 0);
    assert_ok(sk_file_replace("here.mp4", "x", 1, &err), &err);
    for (int live = 0; live < 2; live++) {
        sk_run_header h = header();
        h.source = "./here.mp4";
        h.source_kind = live ? "live" : "video";
        const char *const formats[] = {"slp", "analysis"}, *const datasets[] = {"videos_json", "video_path"};
        for (int i = 0; i < 2; i++) {
            sk_sink *sink = NULL;
            assert_ok(sk_sink_find(formats[i])->open("place.h5", &h, &sink, &err), &err);
            assert_ok(sink->write(sink, frame_number(1), &err), &err);
            assert_ok(sink->close(sink, &err), &err);
            char *said = text_in("place.h5", datasets[i], NULL);
            snprintf(path, sizeof path, "%s/here.mp4", test_folder());
            assert_true((strstr(said, path) != NULL) == !live);
            assert_non_null(strstr(said, "here.mp4"));
            sk_free(said);
        }
    }
    assert_int_equal(chdir(here), 0);
}

/* Tracks may come in a run that was not said to have any, and the first one's number is 0: from then on rows are tracks. */
static void analysis_of_tracks_that_come(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    char path[4300];
    snprintf(path, sizeof path, "%s/come.analysis.h5", test_folder());
    h.tracked = false;
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
    for (int i = 0; i < 2; i++) {
        sk_keypoint points[4] = {{1, 2, 1}, {3, 4, 1}, {5, 6, 1}, {7, 8, 1}};
        sk_found items[2] = {{.has = SK_HAS_KEYPOINTS, .track_id = 0},
                             {.has = SK_HAS_KEYPOINTS, .first_keypoint = 2, .track_id = -1}};
        sk_instances all = {.count = 2, .capacity = 2, .items = items, .n_keypoints = 2, .keypoints = points};
        const sk_result_frame frame = {.source = "in.mp4", .index = i, .instances = &all};
        assert_ok(sink->write(sink, &frame, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_hdf5_texts names = {0};
    sk_dtype dtype;
    sk_shape shape;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_info(file, "tracks", &dtype, &shape, &err), &err);
    assert_int_equal(shape.dim[0], 1); /* what has no track has no row */
    assert_ok(sk_hdf5_dataset_texts(file, "track_names", &names, &err), &err);
    assert_int_equal(names.count, 1);
    assert_string_equal(sk_hdf5_text_at(&names, 0), "track_0");
    sk_free(names.bytes);
    sk_hdf5_close(&file);
}

/* Rows are frame numbers, whatever frame came first, and what is told of the run is JSON. */
static void analysis_counts_from_the_first_frame(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    char path[4300];
    snprintf(path, sizeof path, "%s/range.analysis.h5", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
    sk_result_frame frame = *frame_number(2);
    frame.index = 5;
    assert_ok(sink->write(sink, &frame, &err), &err);
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_dtype dtype;
    sk_shape shape;
    sk_hdf5_texts texts = {0};
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_info(file, "tracks", &dtype, &shape, &err), &err);
    assert_true(shape.rank == 4 && shape.dim[0] == 2 && shape.dim[2] == 2 && shape.dim[3] == 6);
    assert_ok(sk_hdf5_dataset_texts(file, "provenance", &texts, &err), &err);
    assert_memory_equal(sk_hdf5_text_at(&texts, 0), "{\"skitter\":\"", 12);
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
}

/* Tracks may come in any order, with gaps: each stands in the row of its number, and rows of others stay empty. */
static void analysis_has_a_row_a_track(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    char path[4300];
    snprintf(path, sizeof path, "%s/tracks.analysis.h5", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
    static const int32_t tracks[] = {3, 4, 1, 6};
    const sk_result_frame *frame = frame_number(4);
    for (int i = 0; i < 4; i++)
        frame->instances->items[i].track_id = tracks[i];
    assert_ok(sink->write(sink, frame, &err), &err);
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_shape shape;
    sk_blob *places = NULL, *present = NULL;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "tracks", SK_DTYPE_F64, 1 << 20, &places, &shape, &err), &err);
    assert_true(shape.dim[0] == 7 && shape.dim[3] == 5);
    assert_ok(sk_hdf5_dataset_read(file, "track_occupancy", SK_DTYPE_F64, 1 << 20, &present, &shape, &err),
              &err);
    for (int t = 0; t < 7; t++) {
        int instance = -1;
        for (int i = 0; i < 4; i++)
            instance = tracks[i] == t ? i : instance;
        const double x = ((const double *)sk_blob_data(places))[((t * 2) * 2) * 5 + 4];
        assert_true(instance < 0 || x == 40 + instance); /* chunks never written are read as 0 here */
        assert_true(((const double *)sk_blob_data(present))[4 * 7 + t] == (instance >= 0));
    }
    sk_blob_unref(&places);
    sk_blob_unref(&present);
    sk_hdf5_close(&file);
}

static void rows_without_tracks_are_no_tracks(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/names.analysis.h5", test_folder());
    for (int instances = 1; instances <= 2; instances++) {
        sk_run_header h = header();
        sk_sink *sink = NULL;
        assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
        assert_ok(sink->write(sink, frame_number(instances), &err), &err);
        assert_ok(sink->close(sink, &err), &err);
        int64_t rows = -1;
        char *first = text_in(path, "track_names", &rows);
        assert_int_equal(rows, instances == 1 ? 0 : 2);
        if (instances == 2)
            assert_string_equal(first, "instance_0");
        sk_free(first);
        first = text_in(path, "edge_names", &rows);
        assert_string_equal(first, "head");
        assert_int_equal(rows, 2);
        sk_free(first);
    }
}

/* A model that tells individuals apart names them, as SLEAP's own files do; a second track of one has its number behind. */
static void tracks_are_called_as_the_individuals(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    static const char *const formats[][2] = {{"analysis", "track_names"}, {"slp", "tracks_json"}};
    for (int i = 0; i < 2; i++) {
        sk_run_header h = header();
        sk_sink *sink = NULL;
        int64_t rows = -1;
        h.tracked = h.identities = followed = true;
        snprintf(path, sizeof path, "%s/individuals.%s", test_folder(), formats[i][0]);
        assert_ok(sk_sink_find(formats[i][0])->open(path, &h, &sink, &err), &err);
        assert_ok(sink->write(sink, frame_number(3), &err), &err);
        assert_ok(sink->close(sink, &err), &err);
        char *first = text_in(path, formats[i][1], &rows);
        assert_string_equal(first, i ? "[3,\"fly, \\\"small\\\"\"]" : h.class_names[0]);
        assert_int_equal(rows, 3);
        sk_free(first);
        followed = false;
    }
    sk_track_names names;
    sk_run_header h = header();
    char text[SK_TRACK_NAME], second[200];
    h.tracked = h.identities = true;
    assert_true(sk_track_names_open(&names, &h));
    sk_track_names_note(&names, 0, 1);
    sk_track_names_note(&names, 3, 1);
    sk_track_names_note(&names, 4, h.n_classes); /* there is none */
    snprintf(second, sizeof second, "%s_3", h.class_names[1]);
    assert_string_equal(sk_track_names_get(&names, 0, text), h.class_names[1]);
    assert_string_equal(sk_track_names_get(&names, 2, text), "track_2");
    assert_string_equal(sk_track_names_get(&names, 3, text), second);
    assert_string_equal(sk_track_names_get(&names, 9, text), "track_9");
    sk_track_names_close(&names);
}

/* Boxes have one node, their centre. */
static void slp_of_boxes_has_their_centres(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/boxes.slp", test_folder());
    sk_run_header h = header();
    h.n_keypoints = h.n_edges = 0;
    h.has = SK_HAS_BOX;
    sk_found items[2] = {{.has = SK_HAS_BOX, .score = 0.5f, .box = {10, 20, 30, 60}, .track_id = -1},
                         {.has = SK_HAS_BOX, .score = 0.25f, .box = {0, 0, 5, 7}, .track_id = -1}};
    sk_instances all = {.count = 2, .capacity = 2, .items = items};
    const sk_result_frame frame = {
        .source = "in.mp4", .index = 3, .width = 640, .height = 480, .instances = &all};
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("slp")->open(path, &h, &sink, &err), &err);
    assert_ok(sink->write(sink, &frame, &err), &err);
    assert_ok(sink->close(sink, &err), &err);
    sk_annotation_set set;
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_int_equal(set.n_keypoints, 1);
    assert_int_equal(set.n_items, 2);
    assert_true(set.points[set.items[0].first].x == 20 && set.points[set.items[0].first].y == 40);
    assert_true(set.points[set.items[1].first].x == 2.5 && set.points[set.items[1].first].y == 3.5);
    assert_true(set.items[0].score == 0.5 && set.items[1].score == 0.25);
    sk_annotations_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(analysis_of_tracks_that_come),
        cmocka_unit_test(slp_of_boxes_has_their_centres),
        cmocka_unit_test(rows_without_tracks_are_no_tracks),
        cmocka_unit_test(tracks_are_called_as_the_individuals),
        cmocka_unit_test(slp_has_every_table),
        cmocka_unit_test(slp_of_pictures_lists_them),
        cmocka_unit_test(slp_names_the_video_from_the_root),
        cmocka_unit_test(analysis_counts_from_the_first_frame),
        cmocka_unit_test(analysis_has_a_row_a_track),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
