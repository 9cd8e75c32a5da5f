/* SPDX-License-Identifier: Apache-2.0 */
/* SLEAP's analysis files read back: arrays in every order, and what such a file may lack. */
#include "results/annotations.h"
#include "support/h5_writer.h"
#include "support/test.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <math.h>

static sk_annotation_set set;
static sk_error err;
static char path[4300];

enum { TRACKS = 3, NODES = 2, COUNT = 4 };

/* Of one node only half is known, and of another the other half. */
static bool half_known(int track, int node, int frame)
{
    return track == 0 && node == 1 && (frame == 1 || frame == 2);
}

static float place(int track, int xy, int node, int frame)
{
    return (float)(1000 * track + 100 * xy + 10 * node + frame);
}

typedef struct analysis {
    int order[4]; /* of track, xy, node, frame in "tracks" */
    const char *dims;
    bool names, scores, present, present_round, wrong_sizes;
    const char *video, *rate;
} analysis;

static void write_analysis(const analysis *a)
{
    static const char *const nodes[] = {"head", "tail"}, *const tracks[] = {"a", "b", "c"};
    static const int sizes[] = {TRACKS, 2, NODES, COUNT};
    snprintf(path, sizeof path, "%s/made.analysis.h5", test_folder());
    h5_writer file = h5_create(path);
    int64_t dims[4];
    float values[TRACKS * 2 * NODES * COUNT], points[TRACKS * NODES * COUNT], scores[TRACKS * COUNT],
        present[TRACKS * COUNT];
    for (int i = 0; i < 4; i++)
        dims[i] = sizes[a->order[i]];
    int64_t point_dims[3], score_dims[2], at_points = 0, at_scores = 0;
    for (int i = 0; i < 4; i++) {
        if (a->order[i] != 1)
            point_dims[at_points++] = dims[i];
        if (a->order[i] == 0 || a->order[i] == 3)
            score_dims[at_scores++] = dims[i];
    }
    int index[4];
    size_t n_values = 0, n_points = 0, n_scores = 0;
    int *at = index;
    for (at[a->order[0]] = 0; at[a->order[0]] < dims[0]; at[a->order[0]]++)
        for (at[a->order[1]] = 0; at[a->order[1]] < dims[1]; at[a->order[1]]++)
            for (at[a->order[2]] = 0; at[a->order[2]] < dims[2]; at[a->order[2]]++)
                for (at[a->order[3]] = 0; at[a->order[3]] < dims[3]; at[a->order[3]]++) {
                    const bool none = at[0] == 1 && at[3] == 2; /* the second is not there in frame 2 */
                    const bool half = half_known(at[0], at[2], at[3]) && at[1] == at[3] % 2;
                    values[n_values++] = none || half ? NAN : place(at[0], at[1], at[2], at[3]);
                    if (at[1] == 0)
                        points[n_points++] = place(at[0], 0, at[2], at[3]) / 4096;
                    if (at[1] == 0 && at[2] == 0)
                        scores[n_scores++] = place(at[0], 0, 0, at[3]) / 8192;
                }
    for (int f = 0; f < COUNT; f++)
        for (int t = 0; t < TRACKS; t++) /* the third is not there in frame 3 */
            present[a->present_round ? t * COUNT + f : f * TRACKS + t] = !(t == 2 && f == 3);
    h5_put_f32(&file, "tracks", values, 4, dims);
    if (a->scores) {
        score_dims[1] -= a->wrong_sizes;
        point_dims[2] -= a->wrong_sizes;
        h5_put_f32(&file, "point_scores", points, 3, point_dims);
        h5_put_f32(&file, "instance_scores", scores, 2, score_dims);
    }
    if (a->present)
        h5_put_f32(&file, "track_occupancy", present, 2,
                   a->present_round ? (const int64_t[]){TRACKS, COUNT - a->wrong_sizes}
                                    : (const int64_t[]){COUNT, TRACKS - a->wrong_sizes});
    if (a->dims)
        h5_attr_text(&file, "tracks", "dims", a->dims, 1);
    if (a->rate)
        h5_attr_text(&file, "/", "video_backend_metadata", a->rate, 1);
    h5_finish(&file);
    hid_t id = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const struct {
        const char *name;
        const char *const *texts;
        hsize_t count;
    } lists[] = {{"node_names", nodes, NODES},
                 {"track_names", tracks, a->names ? TRACKS : 0},
                 {"video_path", &a->video, a->video ? 1 : 0}};
    for (size_t i = 0; i < 3; i++) {
        hid_t space = H5Screate_simple(1, &lists[i].count, NULL);
        hid_t dataset = H5Dcreate2(id, lists[i].name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (lists[i].count)
            assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, lists[i].texts) >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Tclose(type);
    H5Fclose(id);
}

static void check_analysis(const analysis *a)
{
    write_analysis(a);
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_string_equal(set.format, "SLEAP analysis");
    assert_true(set.n_images == COUNT && set.n_keypoints == NODES && set.every_frame &&
                set.has == SK_HAS_KEYPOINTS);
    const bool told = a->present && !a->wrong_sizes, scored = a->scores && !a->wrong_sizes;
    size_t i = 0;
    for (int f = 0; f < COUNT; f++)
        for (int t = 0; t < TRACKS; t++) {
            if ((t == 1 && f == 2) || (told && t == 2 && f == 3))
                continue;
            assert_true(i < set.n_items);
            const sk_annotation *one = &set.items[i++];
            assert_int_equal(set.images[one->image].frame, f);
            assert_int_equal(one->track, a->names ? t : -1);
            assert_true(one->score == (scored ? (double)place(t, 0, 0, f) / 8192 : 1));
            for (int k = 0; k < NODES; k++) {
                const sk_annotation_point *p = &set.points[one->first + (size_t)k];
                const bool known = !half_known(t, k, f);
                assert_true(known ? p->x == (double)place(t, 0, k, f) && p->y == (double)place(t, 1, k, f)
                                  : isnan(p->x) && isnan(p->y));
                assert_true(p->visible == (known ? 2 : 0) &&
                            p->score == (scored ? (double)place(t, 0, k, f) / 4096 : 1));
            }
        }
    assert_int_equal(i, set.n_items);
    assert_string_equal(set.sources[0], a->video ? a->video : "");
}

/* Every order of the axes is understood where the file names it; SLEAP's two also without. */
static void axes_in_every_order(void **state)
{
    (void)state;
    static const char *const names[] = {"track", "xy", "node", "frame"};
    for (int n = 0; n < 256; n++) {
        const int order[4] = {n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6};
        int seen = 0;
        for (int i = 0; i < 4; i++)
            seen |= 1 << order[i];
        if (seen != 15)
            continue;
        char dims[100];
        snprintf(dims, sizeof dims, "[\"%s\", \"%s\", \"%s\", \"%s\"]", names[order[0]], names[order[1]],
                 names[order[2]], names[order[3]]);
        analysis a = {.dims = dims, .names = true, .scores = true, .present = true};
        memcpy(a.order, order, sizeof order);
        check_analysis(&a);
        sk_annotations_free(&set);
        if (n == (0 | 1 << 2 | 2 << 4 | 3 << 6) || n == (3 | 2 << 2 | 1 << 4 | 0 << 6)) {
            a.dims = NULL; /* two nodes: the tracks' names tell the two orders apart */
            check_analysis(&a);
            sk_annotations_free(&set);
            a.dims = "[\"track\", \"xy\", \"node\"]"; /* which does not name them all */
            check_analysis(&a);
            sk_annotations_free(&set);
        }
    }
}

static void what_an_analysis_may_lack(void **state)
{
    (void)state;
    for (int n = 0; n < 32; n++) {
        analysis a = {.order = {0, 1, 2, 3},
                      .names = n & 1,
                      .scores = n & 2,
                      .present = n & 4,
                      .present_round = n & 8,
                      .wrong_sizes = n & 16,
                      .video = n & 1 ? "a.mp4" : NULL};
        check_analysis(&a);
        sk_annotations_free(&set);
    }
    static const struct {
        const char *rate;
        double wanted;
    } rates[] = {{"{\"fps\": 25}", 25},     {"{\"fps\": 1000000}", 1000000},
                 {"{\"fps\": 1000001}", 0}, {"{\"fps\": 0}", 0},
                 {"{\"fps\": -3}", 0},      {"{\"fps\": 0.5}", 0.5},
                 {"{\"other\": 3}", 0},     {"no JSON", 0}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const analysis a = {.order = {0, 1, 2, 3}, .names = true, .rate = rates[i].rate};
        check_analysis(&a);
        assert_true(set.rate == rates[i].wanted);
        sk_annotations_free(&set);
    }
    const analysis wrong = {.order = {1, 0, 2, 3}};
    write_analysis(&wrong);
    assert_int_equal(sk_annotations_read(path, &set, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "'tracks' is not as large as its nodes' names say"));
}

static void frames_of_an_analysis(void **state)
{
    (void)state;
    static const char *const nodes[] = {"a"};
    for (int64_t frames = 2000000; frames <= 2000001; frames++) {
        snprintf(path, sizeof path, "%s/long.analysis.h5", test_folder());
        h5_writer file = h5_create(path);
        h5_put_hollow(&file, "tracks", 4, (const int64_t[]){0, 2, 1, frames});
        h5_finish(&file);
        hid_t id = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
        const hsize_t one = 1;
        hid_t space = H5Screate_simple(1, &one, NULL);
        H5Tset_size(type, H5T_VARIABLE);
        hid_t dataset = H5Dcreate2(id, "node_names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, nodes) >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
        H5Tclose(type);
        H5Fclose(id);
        if (frames > 2000000) {
            assert_int_equal(sk_annotations_read(path, &set, &err), SK_ERR_LIMIT);
            assert_non_null(strstr(err.message, "2000001 frames; at most 2000000 are read"));
        } else {
            assert_ok(sk_annotations_read(path, &set, &err), &err);
            assert_int_equal(set.n_images, 2000000);
            sk_annotations_free(&set);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_in_every_order),
        cmocka_unit_test(what_an_analysis_may_lack),
        cmocka_unit_test(frames_of_an_analysis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
