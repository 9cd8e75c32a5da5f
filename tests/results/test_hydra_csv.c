/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "results/sink.h"
#include "results/hydra_csv.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Tables with hydra-suite's names and digits. */

static sk_sighting sighting(int track, int64_t frame, int detection)
{
    return (sk_sighting){.frame = frame,
                         .track = track,
                         .place = track % 2,
                         .detection = detection,
                         .state = detection >= 0 ? SK_TRACK_ACTIVE : SK_TRACK_COVERED,
                         .x = 10.5 + track,
                         .y = 20.25,
                         .heading = 0.1 + M_PI * (double)frame,
                         .major = 10,
                         .minor = 5,
                         .score = detection >= 0 ? 0.951792299747467 : NAN,
                         .certainty = 0.5,
                         .uncertainty = 1.25};
}

static sk_status write_table(const char *path, sk_hydra_table table, const sk_hydra_csv_header *header,
                             sk_error *err)
{
    sk_hydra_csv *csv = NULL;
    SK_TRY(sk_hydra_csv_open(path, table, header, &csv, err));
    const sk_keypoint points[2] = {{1.5f, 2, 0.5f}, {NAN, NAN, 0.25f}};
    for (int frame = 0; frame < 2; frame++) {
        const sk_sighting seen[2] = {sighting(0, frame, frame ? -1 : 1), sighting(3, frame, 0)};
        const sk_hydra_more more[2] = {{.identity = -1}, {points, 1, "Ann, the first", 0.75}};
        sk_status status = sk_hydra_csv_add(csv, seen, header->n_keypoints ? more : NULL, 2, err);
        if (status != SK_OK) {
            sk_hydra_csv_close(&csv);
            return status;
        }
    }
    return sk_hydra_csv_finish(&csv, err);
}

static void expect(sk_hydra_table table, const sk_hydra_csv_header *header, const char *text)
{
    char path[4096], *got = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/table.csv", test_folder());
    assert_ok(write_table(path, table, header, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &got, &bytes, &err), &err);
    assert_string_equal(got, text);
    sk_free(got);
}

#define IDENTITY                                                                                             \
    "IdentityRealtimeID,IdentityRealtimeLabel,IdentityRealtimeConfidence,IdentityRealtimeMargin,"            \
    "IdentityRealtimeEntropy,IdentityRealtimeCommitted,IdentityEvidenceSources,"                             \
    "IdentityEvidenceConflictFlag,"                                                                          \
    "IdentityRealtimeSlotLock"

static void raw_is_by_frames(void **state)
{
    (void)state;
    expect(SK_HYDRA_RAW, &(sk_hydra_csv_header){.fps = 100},
           "TrackID,TrajectoryID,Index,X,Y,Theta,FrameID,State,DetectionConfidence,AssignmentConfidence,"
           "PositionUncertainty,DetectionID," IDENTITY "\n"
           "0,0,0,10.5,20.25,0.1,0,active,0.951792299747467,0.5,1.25,1,nan,,nan,nan,nan,0,,0,\n"
           "1,3,0,13.5,20.25,0.1,0,active,0.951792299747467,0.5,1.25,0,nan,,nan,nan,nan,0,,0,\n"
           "0,0,1,nan,nan,nan,1,occluded,0.0,0.0,1.25,nan,nan,,nan,nan,nan,0,,0,\n"
           "1,3,1,13.5,20.25,3.241592653589793,1,active,0.951792299747467,0.5,1.25,10000,nan,,nan,nan,nan,0,,"
           "0,\n");
}

static void final_is_by_tracks(void **state)
{
    (void)state;
    expect(
        SK_HYDRA_FINAL, &(sk_hydra_csv_header){.fps = 100},
        "TrajectoryID,X,Y,Theta,FrameID,State,DetectionConfidence,AssignmentConfidence,PositionUncertainty,"
        "DetectionID," IDENTITY "\n"
        "0,10,20,0.1,0,active,0.951792299747467,0.5,1.25,1,,,,,,0,,0,\n"
        "0,10,20,3.241592653589793,1,occluded,,,,,,,,,,0,,0,\n"
        "3,14,20,0.1,0,active,0.951792299747467,0.5,1.25,0,,,,,,0,,0,\n"
        "3,14,20,3.241592653589793,1,active,0.951792299747467,0.5,1.25,10000,,,,,,0,,0,\n");
}

static void user_has_degrees_seconds_and_points(void **state)
{
    (void)state;
    static const char *const names[] = {"nose", "tail, end"};
    const sk_hydra_csv_header header = {
        .fps = 100, .identities = true, .n_keypoints = 2, .keypoint_names = names};
    expect(
        SK_HYDRA_USER, &header,
        "id,frame,time_s,x,y,heading_deg,state,detection_confidence,identity,identity_id,identity_confidence,"
        "identity_source,nose_x,nose_y,nose_conf,\"tail, end_x\",\"tail, end_y\",\"tail, end_conf\"\n"
        "0,0,0.0,10,20,5.729577951308233,active,0.951792299747467,unknown,0,,,,,,,,\n"
        "0,1,0.01,10,20,185.72957795130824,occluded,,unknown,0,,,,,,,,\n"
        "3,0,0.0,14,20,5.729577951308233,active,0.951792299747467,\"Ann, the "
        "first\",2,0.75,realtime,1.5,2.0,0.5,"
        ",,0.25\n"
        "3,1,0.01,14,20,185.72957795130824,active,0.951792299747467,\"Ann, the "
        "first\",2,0.75,realtime,1.5,2.0,0.5,"
        ",,0.25\n");
}

/* A real result of upstream, written again from its own numbers: every byte. */
static void upstream_s_own_table_comes_out_again(void **state)
{
    (void)state;
    test_data_or_skip();
    char path[4096], line[512], *got = NULL, *expected = NULL;
    size_t bytes = 0, length = 0;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/again.csv", test_folder());
    sk_hydra_csv *csv = NULL;
    assert_ok(sk_hydra_csv_open(path, SK_HYDRA_USER, &(sk_hydra_csv_header){.fps = 100}, &csv, &err), &err);
    FILE *file = fopen(test_data("tracks/fly_obb_tracks.csv"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    int wrong = 0;
    while (fgets(line, sizeof line, file)) {
        double v[8];
        int id;
        char rest[64];
        assert_int_equal(
            sscanf(line, "%d,%lf,%lf,%lf,%lf,%lf,active,%63s", &id, &v[0], &v[1], &v[2], &v[3], &v[4], rest),
            7);
        sk_sighting s = sighting(id, (int64_t)v[0], 0);
        s.x = v[2], s.y = v[3];
        s.score = strtod(rest, NULL);
        /* The heading in radians that gives these degrees again: upstream's own is not in the table. */
        s.heading = v[4] / (180 / M_PI);
        for (int k = 0; k < 4 && s.heading * (180 / M_PI) != v[4]; k++)
            s.heading = nextafter(s.heading, s.heading * (180 / M_PI) < v[4] ? 10 : -10);
        wrong += s.heading * (180 / M_PI) != v[4];
        assert_ok(sk_hydra_csv_add(csv, &s, NULL, 1, &err), &err);
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_ok(sk_hydra_csv_finish(&csv, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &got, &bytes, &err), &err);
    assert_ok(sk_file_read(test_data("tracks/fly_obb_tracks.csv"), 1 << 20, &expected, &length, &err), &err);
    assert_string_equal(got, expected);
    sk_free(got);
    sk_free(expected);
}

static void no_two_detections_have_one_number(void **state)
{
    (void)state;
    assert_int_equal(sk_hydra_detection_id(7, 0), 70000);
    assert_int_equal(sk_hydra_detection_id(7, 9999), 79999);
    assert_true(sk_hydra_detection_id(7, 10000) != sk_hydra_detection_id(8, 0));
    assert_true(sk_hydra_detection_id(7, 65535) < sk_hydra_detection_id(8, 10000));
    assert_true(sk_hydra_detection_id((int64_t)1 << 31, 65535) < (int64_t)1
                                                                     << 53); /* exact in a table's numbers */
    assert_true(sk_hydra_detection_id((int64_t)1 << 31, 9999) < sk_hydra_detection_id(0, 10000));
}

static sk_status write_user(void *path, sk_error *err)
{
    return write_table(path, SK_HYDRA_USER, &(sk_hydra_csv_header){.fps = 25, .identities = true}, err);
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/scarce.csv", test_folder());
    test_every_allocation(write_user, path);
    sk_error err = {0};
    assert_int_equal(write_table(test_missing("t.csv"), SK_HYDRA_RAW, &(sk_hydra_csv_header){0}, &err),
                     SK_ERR_NOT_FOUND);
}

/* Long tracks wait in a file, block by block: each comes out whole and in its order, however many there are. */
static void long_tracks(void **state)
{
    (void)state;
    enum { TRACKS = 5, FRAMES = 400 };
    char path[4096], *got = NULL, *at;
    size_t bytes = 0;
    sk_error err = {0};
    sk_hydra_csv *csv = NULL;
    snprintf(path, sizeof path, "%s/long.csv", test_folder());
    assert_ok(sk_hydra_csv_open(path, SK_HYDRA_USER, &(sk_hydra_csv_header){.fps = 100}, &csv, &err), &err);
    for (int frame = 0; frame < FRAMES; frame++)
        for (int track = TRACKS - 1; track >= 0; track--) {
            const sk_sighting s = sighting(track, frame, 0);
            if (frame % (track + 1) == 0)
                assert_ok(sk_hydra_csv_add(csv, &s, NULL, 1, &err), &err);
        }
    assert_ok(sk_hydra_csv_finish(&csv, &err), &err);
    assert_ok(sk_file_read(path, 1 << 22, &got, &bytes, &err), &err);
    at = strchr(got, '\n') + 1;
    for (int track = 0; track < TRACKS; track++)
        for (int frame = 0; frame < FRAMES; frame += track + 1) {
            int id, number;
            assert_int_equal(sscanf(at, "%d,%d,", &id, &number), 2);
            assert_true(id == track && number == frame);
            at = strchr(at, '\n') + 1;
        }
    assert_int_equal(*at, 0);
    sk_free(got);
}

/* What waits may not fit onto the disk: then it is told, and nothing is called complete. */
static void full_disks_are_told(void **state)
{
    (void)state;
    struct rlimit before, small;
    char path[4096];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof path, "%s/full.csv", test_folder());
    for (rlim_t room = 0; room <= 12000; room += 3000) {
        sk_error err = {0};
        sk_hydra_csv *csv = NULL;
        sk_status status =
            sk_hydra_csv_open(path, SK_HYDRA_FINAL, &(sk_hydra_csv_header){.fps = 100}, &csv, &err);
        assert_ok(status, &err);
        small = before;
        small.rlim_cur = room;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        for (int frame = 0; frame < 400 && status == SK_OK; frame++) {
            const sk_sighting s = sighting(0, frame, 0);
            status = sk_hydra_csv_add(csv, &s, NULL, 1, &err);
        }
        sk_hydra_csv_close(&csv);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, SK_ERR_IO);
        assert_non_null(strstr(err.message, "rows that wait for it could not be written: File too large"));
        assert_false(sk_file_exists(path));
    }
}

/* Classes that are individuals are the table's identities, counted from 1; other classes are nobody. */
static void individuals_are_identities(void **state)
{
    (void)state;
    static const char *const names[] = {"Anna", "Bea"};
    static const struct {
        int32_t class_id;
        const char *cells;
    } cases[] = {{0, ",Anna,1,0.25,realtime\n"},
                 {1, ",Bea,2,0.25,realtime\n"},
                 {2, ",unknown,0,,\n"},
                 {-1, ",unknown,0,,\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        char path[4300], *text = NULL;
        size_t length = 0;
        const sk_run_header h = {.source = "in.mp4",
                                 .source_kind = "video",
                                 .task = "pose",
                                 .rate = 25,
                                 .n_classes = 2,
                                 .class_names = names,
                                 .has = SK_HAS_BOX,
                                 .tracked = true,
                                 .identities = true};
        sk_found item = {.has = SK_HAS_BOX, .class_id = cases[i].class_id, .tracking_score = 0.25f};
        const sk_sighting sighting = {.score = 0.5, .certainty = 1};
        const sk_instances all = {.count = 1, .capacity = 1, .items = &item};
        const sk_result_frame frame = {.source = "in.mp4", .instances = &all, .sightings = &sighting};
        snprintf(path, sizeof path, "%s/who.csv", test_folder());
        sk_sink *sink = NULL;
        assert_ok(sk_sink_find("tracks")->open(path, &h, &sink, &err), &err);
        assert_ok(sink->write(sink, &frame, &err), &err);
        assert_ok(sink->close(sink, &err), &err);
        assert_ok(sk_file_read(path, 4096, &text, &length, &err), &err);
        const size_t tail = strlen(cases[i].cells);
        if (length < tail || strcmp(text + length - tail, cases[i].cells) != 0)
            fail_msg("class %d: %s", cases[i].class_id, text);
        sk_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(individuals_are_identities),
        cmocka_unit_test(raw_is_by_frames),
        cmocka_unit_test(final_is_by_tracks),
        cmocka_unit_test(user_has_degrees_seconds_and_points),
        cmocka_unit_test(upstream_s_own_table_comes_out_again),
        cmocka_unit_test(no_two_detections_have_one_number),
        cmocka_unit_test(survives_a_lack_of_memory),
        cmocka_unit_test(long_tracks),
        cmocka_unit_test(full_disks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
