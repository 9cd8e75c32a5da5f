/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration says is to be run, word by word: our own's options and sources, where its files are, another program's models
 * that are not here. */
#include "support/fault.h"
#include "support/test.h"

#include "app/track_config_run.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* The words of c/own.json with this text, or the error. */
static const char *words_of(const char *json)
{
    static char out[1024];
    sk_track_config_run run;
    size_t at = 0;
    out[0] = '\0';
    put("c/own.json", json);
    const sk_status status = sk_track_config_run_read("c/own.json", &run, &err);
    if (status != SK_OK)
        snprintf(out, sizeof out, "%s", err.message);
    for (int32_t i = 0; status == SK_OK && i < run.n_words; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%s", i ? " " : "", run.words[i]);
    if (status == SK_OK && run.base)
        snprintf(out + at, sizeof out - at, " over %s", run.base);
    if (status == SK_OK) {
        assert_true(run.masked == -1 && !run.background && !run.source && !run.models[0] && !run.models[1]);
        assert_string_equal(sk_text_get(&run.notes), "");
    }
    sk_track_config_run_free(&run);
    assert_true(run.n_words == 0 && !run.words && !run.base);
    return out;
}

static void our_own(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{}", ""},
        {"{\"run\":{}}", "--"},
        {"{\"run\":{\"source\":\"a.mp4\"}}", "-- a.mp4"},
        {"{\"run\":{\"source\":[]}}", "--"},
        {"{\"run\":{\"source\":[\"a.mp4\",3],\"x\":true,\"y\":false}}", "--x -- a.mp4 3"},
        {"{\"run\":{\"n\":3,\"f\":0.1,\"m\":-2.5e-7}}", "--n=3 --f=0.1 --m=-2.5e-07 --"},
        {"{\"run\":{\"t\":\"\"}}", "--t= --"},
        {"{\"run\":{\"t\":\"/nowhere/x\"}}", "--t=/nowhere/x --"},
        {"{\"run\":{\"t\":\"rtsp://h/beside.pt\"}}", "--t=rtsp://h/beside.pt --"},
        {"{\"run\":{\"model\":\"beside.pt\"}}", "--model=c/beside.pt --"},
        {"{\"run\":{\"model\":\"here.pt\"}}", "--model=here.pt --"},
        {"{\"run\":{\"model\":\"both.pt\"}}", "--model=both.pt --"},
        {"{\"run\":{\"model\":\"folder\"}}", "--model=c/folder --"},
        {"{\"run\":{\"model\":\"nowhere.pt\"}}", "--model=nowhere.pt --"},
        {"{\"run\":{\"l\":[1,true,\"x\",false]}}", "--l=1 --l --l=x --"},
        {"{\"run\":{\"config\":\"base.json\",\"a\":1}}", "--a=1 -- over c/base.json"},
        {"{\"run\":{\"config\":\"base.json\",\"config\":\"here.pt\"}}", "-- over here.pt"},
        {"{\"run\":3}", "c/own.json: \"run\" is an object of the command's options"},
        {"{\"run\":{\"conf\":{}}}",
         "c/own.json: \"conf\" in \"run\" is to be a text, a number, true, or a list"},
        {"{\"run\":{\"conf\":[1,null]}}",
         "c/own.json: \"conf\" in \"run\" is to be a text, a number, true, or a list"},
        {"{\"run\":{\"config\":3}}", "c/own.json: \"config\" in \"run\" names a file"},
        {"{\"run\":{\"config\":\"nowhere.json\"}}",
         "c/own.json: the configuration nowhere.json that it is put over is not there"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(words_of(rows[i][0]), rows[i][1]) != 0)
            fail_msg("%s: %s", rows[i][0], words_of(rows[i][0]));
    sk_track_config_run run;
    assert_int_equal(sk_track_config_run_read("c/nothing.json", &run, &err), SK_ERR_NOT_FOUND);
    put("c/own.json", "{\"run\":");
    assert_int_not_equal(sk_track_config_run_read("c/own.json", &run, &err), SK_OK);
    assert_int_equal(run.n_words, 0);
}

/* Two more, so that it is known for what it is. */
#define SOME "\"weight_area\":0,\"zoom_factor\":1,\"debug_mode\":false"

static void another_programs(void **state)
{
    (void)state;
    static const struct {
        const char *json, *first, *second, *source, *notes;
        int masked;
        bool background;
    } rows[] = {
        {"\"yolo_model_path\":\"beside.pt\"", "c/beside.pt", NULL, NULL, "", -1, false},
        {"\"yolo_model_path\":\"gone.pt\"", NULL, NULL, NULL,
         "model: its model of boxes gone.pt is neither here nor beside it: give --model\n", -1, false},
        {"\"yolo_obb_direct_model_path\":\"gone.pt\",\"yolo_model_path\":\"beside.pt\"", NULL, NULL, NULL,
         "model: its model of boxes gone.pt is neither here nor beside it: give --model\n", -1, false},
        {"\"yolo_model_path\":\"beside.pt\",\"enable_pose_extractor\":true,\"pose_model_dir\":\"gone\"",
         "c/beside.pt", NULL, NULL,
         "model: its model of poses gone is neither here nor beside it: give --model\n", -1, false},
        {"\"yolo_model_path\":\"beside.pt\",\"enable_pose_extractor\":false,\"pose_model_dir\":\"both.pt\"",
         "c/beside.pt", NULL, NULL, "", -1, false},
        {"\"yolo_model_path\":\"beside.pt\",\"enable_pose_extractor\":true,\"pose_model_dir\":\"both.pt\","
         "\"pose_model_type\":\"YOLO\"",
         "c/beside.pt", "both.pt", NULL, "", -1, false},
        {"\"enable_pose_extractor\":true,\"pose_model_dir\":\"both.pt\"", NULL, NULL, NULL, "", -1, false},
        {"\"yolo_obb_mode\":\"Direct\",\"yolo_model_path\":\"beside.pt\",\"file_path\":\"v.mp4\"",
         "c/beside.pt", NULL, "v.mp4", "", -1, false},
        {"\"detection_method\":\"Background Subtraction\",\"yolo_model_path\":\"beside.pt\"", NULL, NULL,
         NULL, "", -1, true},
        {"\"detection_method\":\"yolo_obb\",\"suppress_foreign_obb_regions\":false", NULL, NULL, NULL, "", 0,
         false},
        {"\"suppress_foreign_obb_regions\":true", NULL, NULL, NULL, "", 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        sk_track_config_run run;
        snprintf(text, sizeof text, "{%s,%s}", rows[i].json, SOME);
        put("c/other.json", text);
        assert_ok(sk_track_config_run_read("c/other.json", &run, &err), &err);
        const char *const got[] = {run.models[0], run.models[1], run.source}, *const wanted[] = {
                                                                                  rows[i].first,
                                                                                  rows[i].second,
                                                                                  rows[i].source};
        for (int k = 0; k < 3; k++)
            if ((got[k] != NULL) != (wanted[k] != NULL) || (got[k] && strcmp(got[k], wanted[k]) != 0))
                fail_msg("row %zu: %s", i, got[k] ? got[k] : "none");
        assert_string_equal(sk_text_get(&run.notes), rows[i].notes);
        assert_true(run.masked == rows[i].masked && run.background == rows[i].background);
        assert_true(run.n_words == 0 && run.runtime[0] == '\0' && !run.base);
        sk_track_config_run_free(&run);
    }
    /* a runtime that is not here is told with the reason */
    sk_track_config_run run;
    put("c/other.json", "{\"compute_runtime\":\"mps\"," SOME "}");
    assert_ok(sk_track_config_run_read("c/other.json", &run, &err), &err);
    const char *begins = "its compute_runtime 'mps' is not used: ", *notes = sk_text_get(&run.notes);
    assert_int_equal(strncmp(notes, begins, strlen(begins)), 0);
    assert_true(strlen(notes) > strlen(begins) + 5 && notes[strlen(notes) - 1] == '\n');
    assert_string_equal(run.runtime, "");
    sk_track_config_run_free(&run);
}

static sk_status read_one(void *context, sk_error *error)
{
    sk_track_config_run run;
    const sk_status status = sk_track_config_run_read(context, &run, error);
    sk_track_config_run_free(&run);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    char own[] = "c/own.json", other[] = "c/other.json";
    put(own, "{\"run\":{\"source\":[\"a.mp4\",\"beside.pt\"],\"x\":true,\"n\":3,\"t\":\"u\",\"config\":"
             "\"base.json\"}}");
    assert_true(test_every_allocation(read_one, own) > 12);
    put(other,
        "{\"yolo_model_path\":\"beside.pt\",\"enable_pose_extractor\":true,\"pose_model_dir\":\"both.pt\","
        "\"file_path\":\"v.mp4\"," SOME "}");
    assert_true(test_every_allocation(read_one, other) > 8);
}

int main(void)
{
    if (chdir(test_folder()) != 0 || sk_folder_make("c/folder", &err) != SK_OK)
        return 1;
    put("c/beside.pt", "x");
    put("c/both.pt", "x");
    put("both.pt", "x");
    put("here.pt", "x");
    put("c/base.json", "{}");
    const struct CMUnitTest tests[] = {cmocka_unit_test(our_own), cmocka_unit_test(another_programs),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
