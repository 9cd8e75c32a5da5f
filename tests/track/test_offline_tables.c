/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "track/sightings.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Merging, stitching, interpolating and cleaning of tables of sightings, by cases of a folder each: the reference data's
 * (resolve, interpolate) and our own, which show one rule each (tests/fixtures/track). */

enum { TRACK, FRAME, X, Y, HEADING, STATE, SCORE, CERTAINTY, UNCERTAINTY, DETECTION, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"TrajectoryID",
                                                    "FrameID",
                                                    "X",
                                                    "Y",
                                                    "Theta",
                                                    "State",
                                                    "DetectionConfidence",
                                                    "AssignmentConfidence",
                                                    "PositionUncertainty",
                                                    "DetectionID"};

static double number_or_nan(const char *text)
{
    return text && *text ? strtod(text, NULL) : NAN;
}

/* Cells of a line, in place; how many. */
static int split(char *line, char **cells, int most)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < most;) {
        cells[n++] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
    }
    return n;
}

static sk_tracklet *tracklet_of(sk_tracklets *list, int64_t id)
{
    sk_error err = {0};
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].id == id)
            return &list->items[i];
    sk_tracklet one = {.id = id};
    assert_ok(sk_tracklets_take(list, &one, &err), &err);
    return &list->items[list->count - 1];
}

static int by_id(const void *a, const void *b)
{
    const sk_tracklet *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static sk_tracklets read_table(const char *folder, const char *name)
{
    char path[4096], line[4096], *cells[32];
    int at[N_COLUMNS];
    sk_tracklets list = {0};
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    const int n = split(line, cells, 32);
    uint32_t columns = 0;
    static const uint32_t bits[N_COLUMNS] = {[STATE] = SK_SEEN_STATE,
                                             [SCORE] = SK_SEEN_SCORE,
                                             [CERTAINTY] = SK_SEEN_CERTAINTY,
                                             [UNCERTAINTY] = SK_SEEN_UNCERTAINTY,
                                             [DETECTION] = SK_SEEN_DETECTION};
    for (int c = 0; c < N_COLUMNS; c++) {
        at[c] = -1;
        for (int i = 0; i < n; i++)
            if (!strcmp(cells[i], column_names[c]))
                at[c] = i;
        columns |= at[c] >= 0 ? bits[c] : 0;
    }
    while (fgets(line, sizeof line, file)) {
        const int have = split(line, cells, 32);
        assert_int_equal(have, n);
        const char *cell[N_COLUMNS];
        for (int c = 0; c < N_COLUMNS; c++)
            cell[c] = at[c] >= 0 ? cells[at[c]] : "";
        const char *state = cell[STATE];
        const sk_seen seen = {.frame = strtoll(cell[FRAME], NULL, 10),
                              .detection = *cell[DETECTION] ? (int64_t)strtod(cell[DETECTION], NULL)
                                                            : SK_SEEN_NO_DETECTION,
                              .x = number_or_nan(cell[X]),
                              .y = number_or_nan(cell[Y]),
                              .heading = number_or_nan(cell[HEADING]),
                              .score = number_or_nan(cell[SCORE]),
                              .certainty = number_or_nan(cell[CERTAINTY]),
                              .uncertainty = number_or_nan(cell[UNCERTAINTY]),
                              .state = at[STATE] < 0 || !strcmp(state, "active") ? SK_SEEN_ACTIVE
                                       : !strcmp(state, "occluded")              ? SK_SEEN_COVERED
                                       : !strcmp(state, "lost")                  ? SK_SEEN_LOST
                                                                                 : SK_SEEN_UNTOLD,
                              .columns = columns};
        assert_ok(sk_tracklet_append(tracklet_of(&list, strtoll(cell[TRACK], NULL, 10)), &seen, &err), &err);
    }
    fclose(file);
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, by_id);
    return list;
}

static sk_config *read_settings(const char *folder)
{
    char path[4096], *text = NULL;
    size_t bytes = 0;
    sk_error err = {0};
    sk_config *config = NULL;
    snprintf(path, sizeof path, "%s/params.json", folder);
    assert_ok(sk_file_read(path, 1 << 20, &text, &bytes, &err), &err);
    assert_ok(sk_config_open_json(text, bytes, path, &config, &err), &err);
    sk_free(text);
    return config;
}

static void same(const char *folder, const char *what, int64_t id, int64_t frame, double got, double expected)
{
    if (isnan(got) && isnan(expected))
        return;
    if (!(fabs(got - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%s: %s of tracklet %lld in frame %lld is %.17g, expected %.17g", folder, what,
                 (long long)id, (long long)frame, got, expected);
}

static void compare(const char *folder, const sk_tracklets *got, const sk_tracklets *expected)
{
    if (got->count != expected->count)
        fail_msg("%s: %zu tracklets, expected %zu", folder, got->count, expected->count);
    for (size_t i = 0; i < got->count; i++) {
        sk_seen_index a = {0}, b = {0};
        sk_error err = {0};
        const int64_t id = got->items[i].id;
        if (id != expected->items[i].id || got->items[i].count != expected->items[i].count)
            fail_msg("%s: tracklet %lld with %zu sightings, expected %lld with %zu", folder, (long long)id,
                     got->items[i].count, (long long)expected->items[i].id, expected->items[i].count);
        assert_ok(sk_seen_index_make(&got->items[i], SK_SEEN_LAST, &a, &err), &err);
        assert_ok(sk_seen_index_make(&expected->items[i], SK_SEEN_LAST, &b, &err), &err);
        assert_int_equal(a.count, b.count);
        for (size_t k = 0; k < a.count; k++) {
            const sk_seen *x = a.items[k], *y = b.items[k];
            same(folder, "the frame", id, y->frame, (double)x->frame, (double)y->frame);
            same(folder, "x", id, y->frame, x->x, y->x);
            same(folder, "y", id, y->frame, x->y, y->y);
            same(folder, "the heading", id, y->frame, x->heading, y->heading);
            same(folder, "the state", id, y->frame, x->state, y->state);
            if (b.columns & SK_SEEN_SCORE)
                same(folder, "the score", id, y->frame, x->score, y->score);
            if (b.columns & SK_SEEN_CERTAINTY)
                same(folder, "the certainty", id, y->frame, x->certainty, y->certainty);
            if (b.columns & SK_SEEN_UNCERTAINTY)
                same(folder, "the uncertainty", id, y->frame, x->uncertainty, y->uncertainty);
            if (b.columns & SK_SEEN_DETECTION && x->detection != y->detection)
                fail_msg("%s: detection %lld in frame %lld, expected %lld", folder, (long long)x->detection,
                         (long long)y->frame, (long long)y->detection);
        }
        sk_seen_index_free(&a);
        sk_seen_index_free(&b);
    }
}

static void run_resolve(const char *folder)
{
    sk_config *config = read_settings(folder);
    const sk_config_value *root = sk_config_root(config);
    sk_resolve_settings s;
    sk_resolve_defaults(&s);
    s.agreement = sk_config_real_or(root, "AGREEMENT_DISTANCE", s.agreement);
    s.overlap = sk_config_int_or(root, "MIN_OVERLAP_FRAMES", s.overlap);
    s.shortest = sk_config_int_or(root, "MIN_TRAJECTORY_LENGTH", s.shortest);
    s.stitch_gap = sk_config_int_or(root, "STITCH_MAX_GAP_FRAMES", s.stitch_gap);
    s.velocity_limit = sk_config_real_or(root, "MAX_VELOCITY_BREAK", s.velocity_limit);
    sk_config_close(&config);
    sk_tracklets forward = read_table(folder, "input_forward.csv"),
                 backward = read_table(folder, "input_backward.csv"),
                 expected = read_table(folder, "expected.csv"), got = {0};
    sk_error err = {0};
    assert_ok(sk_tracklets_resolve(&forward, &backward, &s, &got, &err), &err);
    compare(folder, &got, &expected);
    sk_tracklets_free(&forward);
    sk_tracklets_free(&backward);
    sk_tracklets_free(&expected);
    sk_tracklets_free(&got);
}

static void run_interpolate(const char *folder)
{
    sk_config *config = read_settings(folder);
    const sk_config_value *root = sk_config_root(config);
    sk_interpolate_settings s;
    sk_interpolate_defaults(&s);
    const char *method = sk_config_text_or(root, "method", "linear");
    s.method = !strcmp(method, "cubic")  ? SK_INTERPOLATION_CUBIC
               : !strcmp(method, "none") ? SK_INTERPOLATION_NONE
                                         : SK_INTERPOLATION_LINEAR;
    s.gap = sk_config_int_or(root, "max_gap", s.gap);
    s.flip_burst = (int32_t)sk_config_int_or(root, "heading_flip_max_burst", s.flip_burst);
    s.directed = sk_config_bool_or(root, "directed_heading_posthoc", s.directed);
    sk_config_close(&config);
    sk_tracklets got = read_table(folder, "input.csv"), expected = read_table(folder, "expected.csv");
    sk_error err = {0};
    for (size_t i = 0; i < got.count; i++)
        assert_ok(sk_tracklet_interpolate(&got.items[i], &s, &err), &err);
    compare(folder, &got, &expected);
    sk_tracklets_free(&got);
    sk_tracklets_free(&expected);
}

static void run_clean(const char *folder)
{
    sk_config *config = read_settings(folder);
    const sk_config_value *root = sk_config_root(config);
    sk_clean_settings s;
    sk_clean_defaults(&s);
    s.shortest = sk_config_int_or(root, "MIN_TRAJECTORY_LENGTH", s.shortest);
    s.velocity_limit = sk_config_real_or(root, "MAX_VELOCITY_BREAK", s.velocity_limit);
    s.covered_gap = sk_config_int_or(root, "MAX_OCCLUSION_GAP", s.covered_gap);
    s.outlier = sk_config_real_or(root, "MAX_VELOCITY_ZSCORE", s.outlier);
    s.outlier_window = sk_config_int_or(root, "VELOCITY_ZSCORE_WINDOW", s.outlier_window);
    sk_config_close(&config);
    sk_tracklets got = read_table(folder, "input.csv"), expected = read_table(folder, "expected.csv");
    sk_error err = {0};
    assert_ok(sk_tracklets_clean(&got, &s, &err), &err);
    compare(folder, &got, &expected);
    sk_tracklets_free(&got);
    sk_tracklets_free(&expected);
}

/* Every case below the folder; how many there were. */
static int each_case(const char *folder, void (*run)(const char *folder))
{
    DIR *cases = opendir(folder);
    int n = 0;
    if (!cases)
        return 0;
    for (struct dirent *entry; (entry = readdir(cases));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        run(path);
        n++;
    }
    closedir(cases);
    return n;
}

static void meets_the_reference_cases(void **state)
{
    (void)state;
    test_data_or_skip();
    assert_true(each_case(test_data("tracks/postproc/resolve"), run_resolve) >= 1);
    assert_true(each_case(test_data("tracks/postproc/interpolate"), run_interpolate) >= 1);
}

static void follows_every_rule_of_its_own_cases(void **state)
{
    (void)state;
    assert_true(each_case(test_source("tests/fixtures/track/resolve"), run_resolve) >= 10);
    assert_true(each_case(test_source("tests/fixtures/track/interpolate"), run_interpolate) >= 4);
    assert_true(each_case(test_source("tests/fixtures/track/clean"), run_clean) >= 3);
}

static sk_status resolve_twins(void *context, sk_error *err)
{
    sk_resolve_settings s;
    sk_resolve_defaults(&s);
    s.shortest = 2;
    s.overlap = 2;
    sk_tracklets *tables = context, got = {0};
    sk_status status = sk_tracklets_resolve(&tables[0], &tables[1], &s, &got, err);
    sk_interpolate_settings fill;
    sk_interpolate_defaults(&fill);
    for (size_t i = 0; i < got.count && status == SK_OK; i++)
        status = sk_tracklet_interpolate(&got.items[i], &fill, err);
    sk_clean_settings clean;
    sk_clean_defaults(&clean);
    clean.shortest = 2;
    if (status == SK_OK)
        status = sk_tracklets_clean(&got, &clean, err);
    sk_tracklets_free(&got);
    return status;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    const char *folder = test_source("tests/fixtures/track/resolve/split_and_agree_again");
    sk_tracklets tables[2] = {read_table(folder, "input_forward.csv"),
                              read_table(folder, "input_backward.csv")};
    test_every_allocation(resolve_twins, tables);
    sk_tracklets_free(&tables[0]);
    sk_tracklets_free(&tables[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meets_the_reference_cases),
        cmocka_unit_test(follows_every_rule_of_its_own_cases),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
