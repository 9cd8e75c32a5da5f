/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up scenes where something is in the way: the last path that is short enough, files that cannot be written, memory that ends; none
 * but whole files are left behind. And rows of truth of nobody, of one and of many. */
#include "support/fault.h"
#include "support/test.h"

#include "app/scene_run.h"
#include "app/scene_truth.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static sk_scene_report r;

static sk_scene_run_settings small(void)
{
    sk_scene_run_settings s;
    sk_scene_run_defaults(&s);
    s.scene.width = 80;
    s.scene.height = 64;
    s.scene.animals = 1;
    s.scene.seed = 3;
    s.frames = 2;
    s.extension = ".png";
    return s;
}

/* ".////…here", so many characters long. */
static char *long_path(size_t length, const char *here)
{
    char *path = sk_calloc(1, length + 1);
    const size_t before = length - strlen(here);
    assert_non_null(path);
    for (size_t i = 0; i < before; i++)
        path[i] = i ? '/' : '.';
    strcpy(path + before, here);
    return path;
}

static void how_long_a_path_may_be(void **state)
{
    (void)state;
    for (int pictures = 0; pictures < 2; pictures++)
        for (size_t length = 4000; length <= 4001; length++) {
            char *path = long_path(length, pictures ? "drawn" : "frame");
            sk_scene_run_settings s = small();
            s.output = path;
            s.sequence = !pictures;
            s.pictures = pictures;
            if (length == 4000) {
                assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
                assert_int_equal(r.frames, pictures ? 1 : 2);
            } else {
                assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
                assert_string_equal(err.message,
                                    ".///////////////////////////////////////…: the path is too long");
            }
            sk_free(path);
        }
    assert_true(sk_file_exists("frame/000001.png") && !sk_file_exists("frame/000002.png"));
    assert_true(sk_file_exists("drawn/images/000000.png") && sk_file_exists("drawn/labels/000000.txt"));
}

static int64_t seen[8], n_seen;

static bool watch(void *context, int64_t done, int64_t total)
{
    (void)context;
    assert_int_equal(total, 3);
    seen[n_seen++] = done;
    return false;
}

/* None, one and more: each is told with its number, from one on. */
static void who_watches(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        sk_scene_run_settings s = small();
        s.frames = i == 2 ? 0 : 3;
        s.pictures = i == 2 ? 3 : 0;
        s.sequence = i == 1;
        s.output = i == 0 ? NULL : i == 1 ? "watched" : "watched_pictures";
        s.truth = "watched.csv";
        n_seen = 0;
        assert_ok(sk_scene_run(&s, watch, NULL, &r, &err), &err);
        assert_true(n_seen == 3 && seen[0] == 1 && seen[1] == 2 && seen[2] == 3 && !r.stopped);
        assert_true(r.frames == 3 && r.instances == 3 && r.seconds >= 0 && r.seconds < 60);
    }
    sk_scene_run_settings s = small();
    s.frames = 0;
    s.truth = "none.csv";
    r.frames = r.instances = 7;
    assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 0 && r.instances == 0);
    assert_true(sk_file_size("none.csv") > 100); /* its header */
}

/* What cannot be written takes nothing else with it into the folder. */
static void places_that_are_not_there(void **state)
{
    (void)state;
    for (int sequence = 0; sequence < 2; sequence++) {
        sk_scene_run_settings s = small();
        s.truth = "first.csv";
        s.mot = "no/such/mot.txt";
        s.sequence = sequence;
        s.output = sequence ? "frames" : NULL;
        assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
        assert_non_null(strstr(err.message, "no/such/mot.txt"));
        assert_true(r.frames == 0 && !sk_file_exists("first.csv"));
        s.mot = "first.txt";
        s.truth = "no/such/truth.csv";
        assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
        assert_non_null(strstr(err.message, "no/such/truth.csv"));
        assert_false(sk_file_exists("first.txt"));
    }
    assert_ok(sk_file_replace("file", "x", 1, &err), &err);
    sk_scene_run_settings s = small();
    s.output = "file"; /* a file is no folder */
    s.sequence = true;
    assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
    s.sequence = false;
    s.pictures = 1;
    assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
    s.output = "ending"; /* the picture cannot be written: the truth of it is not there either */
    s.extension = "/no.png";
    assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
    assert_true(r.frames == 0 && sk_file_exists("ending/data.yaml") && !sk_file_exists("ending/truth.csv"));
}

/* --- rows --- */

static const char *text_of(FILE *file)
{
    static char text[4096];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void rows_of_nobody_and_some(void **state)
{
    (void)state;
    sk_scene_animal a[2] = {
        {.track = 4, .box = {8, 6, 24, 18}, .obb = {16, 12, 16, 12, 0}, .visible = 1, .length = 10},
        {.track = 5, .box = {0, 0, 64, 48}, .obb = {32, 24, 128, 96, 0}, .visible = 0.5F, .length = 10}};
    for (int i = 0; i < 2; i++)
        a[i].species = (sk_species)i;
    for (int32_t count = 0; count <= 2; count++) {
        FILE *file = tmpfile();
        sk_scene_mot_rows(file, 9, a, count);
        assert_string_equal(text_of(file), count == 0   ? ""
                                           : count == 1 ? "10,5,8.000,6.000,16.000,12.000,1,1,1.000\n"
                                                        : "10,5,8.000,6.000,16.000,12.000,1,1,1.000\n"
                                                          "10,6,0.000,0.000,64.000,48.000,1,1,0.500\n");
        file = tmpfile();
        sk_scene_label_rows(file, SK_SCENE_LABELS_BOX, 64, 48, a, count);
        assert_string_equal(text_of(file), count == 0   ? ""
                                           : count == 1 ? "0 0.250000 0.250000 0.250000 0.250000\n"
                                                        : "0 0.250000 0.250000 0.250000 0.250000\n"
                                                          "1 0.500000 0.500000 1.000000 1.000000\n");
        file = tmpfile();
        sk_scene_label_rows(file, SK_SCENE_LABELS_OBB, 64, 48, a,
                            count); /* what lies outside is at the edge */
        assert_string_equal(
            text_of(file),
            count == 0   ? ""
            : count == 1 ? "0 0.375000 0.375000 0.375000 0.125000 0.125000 0.125000 0.125000 0.375000\n"
                         : "0 0.375000 0.375000 0.375000 0.125000 0.125000 0.125000 0.125000 0.375000\n"
                           "1 1.000000 1.000000 1.000000 0.000000 0.000000 0.000000 0.000000 1.000000\n");
    }
    FILE *file = tmpfile();
    sk_scene_truth_rows(file, "x.mp4", 1, 2, a, 0);
    assert_string_equal(text_of(file), "");
    file = tmpfile();
    sk_scene_truth_rows(file, "a \"b\",c.mp4", 1, 2.5, a, 1);
    const char *row = text_of(file);
    static const char begin[] = "\"a \"\"b\"\",c.mp4\",1,2.500000,0,4,0,";
    assert_memory_equal(row, begin, sizeof begin - 1);
    assert_non_null(strstr(row, ",1,8.000,6.000,24.000,18.000,16.000,12.000,16.000,12.000,0.00000,"));
    assert_non_null(strstr(row, ",1.000,10.00\n"));
}

/* --- memory --- */

static sk_status run(void *context, sk_error *why)
{
    sk_scene_report report;
    return sk_scene_run(context, NULL, NULL, &report, why);
}

static void without_memory(void **state)
{
    (void)state;
    sk_scene_run_settings s = small();
    s.frames = 1;
    s.output = "scarce";
    s.sequence = true;
    s.truth = "scarce.csv";
    s.mot = "scarce.txt";
    assert_true(test_every_allocation(run, &s) >= 6);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_long_a_path_may_be),
        cmocka_unit_test(who_watches),
        cmocka_unit_test(places_that_are_not_there),
        cmocka_unit_test(rows_of_nobody_and_some),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
