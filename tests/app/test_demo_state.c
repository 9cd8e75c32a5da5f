/* SPDX-License-Identifier: Apache-2.0 */
/* What the demo keeps of itself in its folder, and what it finds there. */
#include "demo_fixture.h"

#include "base/memory.h"
#include "skitter/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *slurp(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 24, &text, &length, &err), &err);
    return text;
}

static void defaults(void **state)
{
    (void)state;
    sk_demo_settings s;
    sk_demo_defaults(&s);
    assert_string_equal(s.out, "skitter-demo");
    assert_string_equal(s.program, "skitter");
    assert_string_equal(s.runtime, "cpu");
    assert_string_equal(s.runtime_requested, "cpu");
    assert_true(s.seconds == 4 && s.scene.animals == 7 && s.scene.species == SK_SPECIES_MIXED);
    assert_true(s.scene.seed == SK_DEMO_FIRST_SEED && s.threads == 0);
    assert_false(s.pictures || s.compare || s.restart || s.runtime_fell_back);
}

static void the_state(void **state)
{
    (void)state;
    sk_demo_settings s = settings("kept");
    sk_demo_report *r = sk_calloc(1, sizeof *r);
    sk_demo_stage stage = SK_DEMO_FINISHED;
    assert_ok(sk_folder_make("kept", &err), &err);
    assert_ok(sk_demo_read_state(&s, "f", &stage, &err), &err);
    assert_int_equal(stage, SK_DEMO_EMPTY);
    static const sk_demo_stage stages[] = {SK_DEMO_BEGUN, SK_DEMO_DRAWN, SK_DEMO_FINISHED};
    static const char *const words[] = {"\"begun\"", "\"drawn\"", "\"finished\""};
    for (int i = 0; i < 3; i++) {
        assert_ok(sk_demo_write_state(&s, "f", stages[i], r, &err), &err);
        char *text = slurp("kept/demo.json");
        assert_non_null(strstr(text, words[i]));
        assert_true((strstr(text, "\"report\"") != NULL) == (i == 2));
        sk_free(text);
        s.restart = false;
        assert_ok(sk_demo_read_state(&s, "f", &stage, &err), &err);
        assert_int_equal(stage, stages[i]);
        assert_int_equal(sk_demo_read_state(&s, "g", &stage, &err), SK_ERR_MISMATCH);
        assert_string_equal(err.message,
                            "kept: holds another demo (other animals, seed, runtime, models or version)\n"
                            "--restart replaces it; --out chooses another folder");
        s.restart = true;
        assert_ok(sk_demo_read_state(&s, "g", &stage, &err), &err);
        assert_int_equal(stage, SK_DEMO_BEGUN);
    }
    put("kept/demo.json", "{\"state\": \"gone\", \"settings\": \"f\"}");
    s.restart = false;
    assert_ok(sk_demo_read_state(&s, "f", &stage, &err), &err);
    assert_int_equal(stage, SK_DEMO_EMPTY);
    put("kept/demo.json", "{");
    assert_int_not_equal(sk_demo_read_state(&s, "f", &stage, &err), SK_OK);
    static const char *const foreign[] = {"scene.mp4", "scene", "truth.csv", "report.html",
                                          "boxes",     "poses", "tracks"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char folder[32], path[64], wanted[160];
        snprintf(folder, sizeof folder, "foreign%zu", i);
        snprintf(path, sizeof path, "%s/%s", folder, foreign[i]);
        s.out = folder;
        s.restart = i % 2;
        assert_ok(sk_folder_make(folder, &err), &err);
        put(path, "x");
        assert_int_equal(sk_demo_read_state(&s, "f", &stage, &err), SK_ERR_MISMATCH);
        snprintf(wanted, sizeof wanted,
                 "%s: is there already and not of a demo\n--out chooses another folder", path);
        assert_string_equal(err.message, wanted);
    }
    sk_demo_free(&r);
}

static void the_scene_that_lies_there(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("s1", &err), &err);
    char *path = sk_demo_scene("s1"); /* neither: a video will be made */
    assert_string_equal(path, "s1/scene.mp4");
    sk_free(path);
    assert_ok(sk_folder_make("s1/scene", &err), &err);
    path = sk_demo_scene("s1");
    assert_string_equal(path, "s1/scene");
    sk_free(path);
    put("s1/scene.mp4", "x");
    path = sk_demo_scene("s1");
    assert_string_equal(path, "s1/scene.mp4");
    sk_free(path);
}

static void models_are_found(void **state)
{
    (void)state;
    char paths[SK_DEMO_PARTS][512], print[1024], other[1024];
    sk_demo_settings s = settings("x");
    assert_ok(sk_folder_make("models", &err), &err);
    put("models/demo-obb.pt", "one");
    assert_int_equal(sk_demo_find_models("models", paths, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "models: the demo's models demo-obb.pt and demo-pose.pt are not there\n"
                                     "--models names the folder that holds them");
    assert_int_equal(setenv("SKITTER_MODELS", "models", 1), 0);
    assert_int_equal(sk_demo_find_models(NULL, paths, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "models: the demo's models demo-obb.pt and demo-pose.pt are not there\n"
                                     "SKITTER_MODELS names it");
    put("models/demo-pose.pt", "two");
    assert_ok(sk_demo_find_models(NULL, paths, &err), &err);
    assert_string_equal(paths[SK_DEMO_BOXES], "models/demo-obb.pt");
    assert_string_equal(paths[SK_DEMO_POSES], "models/demo-pose.pt");
    assert_int_equal(unsetenv("SKITTER_MODELS"), 0);
    s.scene.rate = 25;
    s.seconds = 1.5;
    assert_ok(sk_demo_fingerprint(&s, paths, print, sizeof print, &err), &err);
    char wanted[1024];
    snprintf(wanted, sizeof wanted,
             "skitter %s; species mixed; animals 2; size 96x64; rate 25; seconds 1.5; seed 77; behaviour %u; "
             "hides %d; border %d; runtime cpu; model 7692c3ad3540bb80; model 3fc4ccfe745870e2",
             sk_version_text(), s.scene.behaviour, s.scene.hides, s.scene.open_border);
    assert_string_equal(print, wanted);
    s.compare = s.pictures = true;
    assert_ok(sk_demo_fingerprint(&s, paths, other, sizeof other, &err), &err);
    assert_non_null(strstr(other, "runtime cpu; compare; pictures; model 7692c3ad3540bb80"));
    assert_int_equal(unlink("models/demo-pose.pt"), 0);
    assert_int_not_equal(sk_demo_fingerprint(&s, paths, other, sizeof other, &err), SK_OK);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(the_state),
        cmocka_unit_test(the_scene_that_lies_there),
        cmocka_unit_test(models_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
