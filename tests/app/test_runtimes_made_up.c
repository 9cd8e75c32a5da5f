/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that is made up: what was kept of its probes says that ONNX Runtime works there, on the processor and on NVIDIA, and OpenVINO.
 * What words mean on it, what is chosen, saved, imported and exported, and what need not be asked for that. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/runtimes.h"
#include "base/file.h"
#include "base/memory.h"
#include "skitter/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;
static char poses[4300], cut[4300], sleap[4300];
static sk_runtimes_view view; /* large */

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_put(name, text, strlen(text), &err), &err);
}

static void file_has(const char *path, const char *part)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    if (!strstr(text, part))
        fail_msg("%s: %s", path, text);
    sk_free(text);
}

/* --- what there is --- */

static void works(sk_runtime runtime, uint32_t precisions)
{
    sk_probe_row row = {.runtime = runtime, .available = true, .precisions = precisions};
    snprintf(row.reason, sizeof row.reason, "made up");
    snprintf(row.library, sizeof row.library, "%s/library", test_folder());
    sk_probe_cache_write(&row);
}

static void what_is_kept_is_seen(void **state)
{
    (void)state;
    sk_runtimes_look(0, false, &view);
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const bool there = i == SK_RUNTIME_CPU || i == SK_RUNTIME_ONNX_CPU || i == SK_RUNTIME_ONNX_CUDA ||
                           i == SK_RUNTIME_OPENVINO;
        assert_int_equal(view.rows[i].runtime, i);
        assert_int_equal(view.rows[i].available, there);
        assert_int_equal(view.rows[i].cached, there && i != SK_RUNTIME_CPU);
        assert_int_equal(view.facts.failed[i], !there);
        assert_int_equal(view.gate.is_allowed[i], there);
    }
    assert_true(view.facts.cuda && view.facts.ort && view.facts.openvino && !view.facts.rocm);
    assert_int_equal(sk_runtimes_can(&view, SK_RUNTIME_ONNX_CUDA).precisions, 1u << SK_PRECISION_F32);
    assert_string_equal(view.gate.because[SK_RUNTIME_MPS], "Apple machines only"); /* no pipeline is named */
    sk_runtimes_look(1u << SK_WORK_YOLO_POSE, false, &view);
    assert_string_equal(view.gate.because[SK_RUNTIME_MPS], "YOLO, poses: Apple machines only");
    sk_runtimes_look(0, true, &view); /* looked at anew, nothing of that is there */
    assert_false(view.rows[SK_RUNTIME_ONNX_CUDA].available || view.gate.is_allowed[SK_RUNTIME_ONNX_CUDA] ||
                 view.rows[SK_RUNTIME_OPENVINO].cached);
    /* from here on nobody is started to look: that takes long, and what is kept is what counts */
    assert_int_equal(setenv("SKITTER_PROGRAM", "/no/such/program", 1), 0);
}

/* A SLEAP model goes to other runtimes as a graph; where one of the models has none, it cannot. */
static void what_models_allow(void **state)
{
    (void)state;
    const char *const rows[][2] = {{sleap, poses}, {sleap, cut}, {cut, sleap}, {poses, cut}};
    for (int i = 0; i < 4; i++) {
        assert_ok(sk_runtimes_look_for(rows[i], 2, 0, &view, &err), &err);
        const bool whole = i == 0, with_sleap = i < 3;
        assert_int_equal(view.pipelines,
                         1u << SK_WORK_YOLO_POSE | (with_sleap ? 1u << SK_WORK_SLEAP_POSE : 0));
        assert_true(view.rows[SK_RUNTIME_ONNX_CPU].available && view.facts.cuda);
        assert_int_equal(view.facts.graph_importable, whole);
        assert_int_equal(view.gate.is_allowed[SK_RUNTIME_ONNX_CPU], whole || !with_sleap);
        assert_true(view.gate.is_allowed[SK_RUNTIME_CPU]);
        if (!whole && with_sleap)
            assert_string_equal(
                view.gate.because[SK_RUNTIME_ONNX_CPU],
                "SLEAP: the SLEAP model's graph cannot be built; 'skitter info MODEL' says why");
    }
    const char *one[] = {poses};
    assert_ok(sk_runtimes_look_for(one, 1, 1u << SK_WORK_SLEAP_POSE, &view, &err), &err);
    assert_int_equal(view.pipelines, 1u << SK_WORK_YOLO_POSE | 1u << SK_WORK_SLEAP_POSE);
    assert_string_equal(view.gate.because[SK_RUNTIME_MPS], "YOLO, poses: Apple machines only");
}

/* --- what is chosen --- */

static void what_words_mean(void **state)
{
    (void)state;
    static const struct {
        const char *word, *engine;
        bool fallback, fell_back;
    } rows[] = {{"cpu", "cpu", false, false},
                {"CPU", "cpu", false, false},
                {"auto", "cpu", false, false},
                {"onnx", "onnx_cuda", false, false},
                {"onnx_gpu", "onnx_cuda", false, false},
                {"onnx_cpu", "onnx_cpu", false, false},
                {"onnx_cuda", "onnx_cuda", true, false},
                {"ov", "openvino", false, false},
                {"tensorrt", "onnx_cuda", true, true}, /* the next that can be used, in the order of speed */
                {"onnx_rocm", "cpu", true, true},
                {"reference", "reference", true, false}};
    const char *models[] = {poses};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const sk_runtimes_wish wish = {.runtime = rows[i].word, .allow_fallback = rows[i].fallback};
        sk_runtime_choice choice;
        char engine[32];
        assert_ok(sk_runtimes_choose(models, 1, &wish, &choice, engine, &err), &err);
        assert_string_equal(engine, rows[i].engine);
        assert_string_equal(choice.requested, rows[i].word);
        assert_int_equal(choice.fell_back, rows[i].fell_back);
        assert_int_equal(choice.notice[0] != '\0', rows[i].fell_back);
        assert_int_equal(choice.level, SK_SETTING_COMMAND);
    }
    const sk_runtimes_wish mps = {.runtime = "mps"};
    sk_runtime_choice choice;
    char engine[32];
    assert_int_equal(sk_runtimes_choose(models, 1, &mps, &choice, engine, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(err.message, "'mps' (--runtime) cannot be used here: YOLO, poses: Apple machines only\n"));
}

/* The processor is always there, and a word that nobody knows is refused: for neither a model is opened. */
static void what_need_not_be_asked(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        sk_status status;
    } rows[] = {{"cpu", SK_OK},
                {" cpu", SK_OK},
                {"nonsense", SK_ERR_ARG},
                {"auto", SK_ERR_NOT_FOUND},
                {"mps", SK_ERR_NOT_FOUND},
                {"onnx_cpu", SK_ERR_NOT_FOUND},
                {"reference", SK_OK}};
    const char *models[] = {"nothing.pt"};
    sk_runtime_choice choice;
    char engine[32];
    for (int environment = 0; environment < 2; environment++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const sk_runtimes_wish wish = {.runtime = environment ? NULL : rows[i].word};
            if (environment)
                assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", rows[i].word, 1), 0);
            assert_int_equal(sk_runtimes_choose(models, 1, &wish, &choice, engine, &err), rows[i].status);
            if (rows[i].status == SK_OK)
                assert_string_equal(engine, rows[i].word[0] == 'r' ? "reference" : "cpu");
        }
    assert_int_equal(unsetenv("SKITTER_COMPUTE_RUNTIME"), 0);
    /* what a file says is reset, and for that it is looked what there is */
    const sk_runtimes_wish none = {0};
    put("skitter.yaml", "compute_runtime: nonsense\n");
    assert_int_equal(sk_runtimes_choose(models, 1, &none, &choice, engine, &err), SK_ERR_NOT_FOUND);
    models[0] = poses;
    assert_ok(sk_runtimes_choose(models, 1, &none, &choice, engine, &err), &err);
    assert_string_equal(engine, "cpu");
    assert_non_null(strstr(choice.notice, "'nonsense' was reset to 'cpu': no runtime has that name"));
    put("skitter.yaml", "compute_runtime: reference\n"); /* not for files */
    assert_ok(sk_runtimes_choose(models, 1, &none, &choice, engine, &err), &err);
    assert_string_equal(engine, "cpu");
    put("skitter.yaml", "compute_runtime: onnx\n");
    assert_ok(sk_runtimes_choose(models, 1, &none, &choice, engine, &err), &err);
    assert_string_equal(engine, "onnx_cuda");
    assert_string_equal(choice.notice, "");
    assert_int_equal(unlink("skitter.yaml"), 0);
}

static void picked(void **state)
{
    (void)state;
    const char *models[] = {poses};
    sk_runtime_pick pick = SK_RUNTIME_PICK_INIT;
    assert_ok(sk_runtime_pick_for(models, 1, "onnx", false, &pick, &err), &err);
    assert_string_equal(pick.runtime, "onnx_cuda");
    assert_string_equal(pick.requested, "onnx");
    assert_string_equal(pick.notice, "");
    assert_true(!pick.fell_back && pick.size == sizeof pick);
    assert_ok(sk_runtime_pick_for(models, 1, "trt", true, &pick, &err), &err);
    assert_string_equal(pick.runtime, "onnx_cuda");
    assert_string_equal(pick.requested, "trt");
    assert_non_null(strstr(pick.notice, "'tensorrt' cannot be used ("));
    assert_true(pick.fell_back);
    pick.size = offsetof(sk_runtime_pick, requested); /* of an older program */
    assert_ok(sk_runtime_pick_for(models, 1, "cpu", false, &pick, &err), &err);
    assert_string_equal(pick.runtime, "cpu");
    assert_string_equal(pick.requested, "trt");
    assert_int_equal(pick.size, offsetof(sk_runtime_pick, requested));
    pick = (sk_runtime_pick)SK_RUNTIME_PICK_INIT;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sk_runtime_pick_for(i == 0 ? NULL : models,
                                             i == 1   ? 0
                                             : i == 2 ? -1
                                                      : 1,
                                             "cpu", false, i == 3 ? NULL : &pick, &err),
                         SK_ERR_ARG);
        assert_string_equal(pick.runtime, "");
    }
}

/* --- what is saved --- */

static void saved(void **state)
{
    (void)state;
    sk_runtime runtime = SK_RUNTIME_CPU;
    char path[512] = "", *json = NULL;
    static sk_runtimes_settings s;
    assert_ok(sk_runtimes_set("onnx", true, &runtime, path, &err), &err); /* by its own name */
    assert_int_equal(runtime, SK_RUNTIME_ONNX_CUDA);
    file_has("skitter.yaml", "compute_runtime: onnx_cuda\n");
    assert_int_equal(sk_runtimes_set("mps", true, &runtime, path, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "the compute runtime 'mps' cannot be used here: Apple machines only\n"
                                     "'skitter doctor' says what would help");
    file_has("skitter.yaml", "compute_runtime: onnx_cuda\n");
    assert_ok(sk_runtimes_settings_look(&s, &err), &err);
    assert_true(s.standing[SK_SETTING_PROJECT].usable && !s.standing[SK_SETTING_PROJECT].because[0]);
    assert_string_equal(s.runs, "onnx_cuda");
    static const struct {
        const char *word, *runs, *because;
    } rows[] = {{"openvino", "openvino", ""},
                {"onnx", "onnx_cuda", ""},
                {"cpu", "cpu", ""},
                {"mps", "", "Apple machines only"},
                {"nonsense", "", "no compute runtime is called 'nonsense'"},
                {"reference", "reference", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", rows[i].word, 1), 0);
        assert_ok(sk_runtimes_settings_look(&s, &err), &err);
        assert_string_equal(s.runs, rows[i].runs);
        assert_string_equal(s.standing[SK_SETTING_ENVIRONMENT].because, rows[i].because);
        assert_int_equal(s.standing[SK_SETTING_ENVIRONMENT].usable, !rows[i].because[0]);
        assert_true(s.standing[SK_SETTING_PROJECT].usable && s.standing[SK_SETTING_DEFAULT].usable);
        assert_false(s.standing[SK_SETTING_COMMAND].usable); /* nobody gave it */
    }
    assert_int_equal(unsetenv("SKITTER_COMPUTE_RUNTIME"), 0);
    /* as others read it: by what this machine has */
    static const struct {
        const char *text;
        sk_runtime runtime;
    } meant[] = {{"compute_runtime: onnx\n", SK_RUNTIME_ONNX_CUDA},
                 {"compute_runtime: onnx_cpu\n", SK_RUNTIME_ONNX_CPU},
                 {"compute_runtime: mps\n", SK_RUNTIME_MPS},
                 {"compute_runtime: trt\n", SK_RUNTIME_TENSORRT}};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        char key[64];
        put("skitter.yaml", meant[i].text);
        assert_ok(sk_runtimes_export(NULL, &runtime, &json, &err), &err);
        assert_int_equal(runtime, meant[i].runtime);
        snprintf(key, sizeof key, "\"compute_runtime\": \"%s\"", sk_runtime_name(runtime));
        assert_non_null(strstr(json, key));
        sk_free(json);
    }
    assert_int_equal(unlink("skitter.yaml"), 0);
}

static void imported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        sk_runtime saved;
        const char *notice;
    } rows[] = {{"{\"compute_runtime\": \"onnx_gpu\"}", SK_RUNTIME_ONNX_CUDA, ""},
                {"{\"compute_runtime\": \"openvino\"}", SK_RUNTIME_OPENVINO, ""},
                {"{\"compute_runtime\": \"mps\"}", SK_RUNTIME_CPU,
                 "the compute runtime 'mps' was reset to 'cpu': Apple machines only"},
                {"{\"compute_runtime\": \"mps\", \"enable_pose_extractor\": true}", SK_RUNTIME_CPU,
                 "the compute runtime 'mps' was reset to 'cpu': YOLO, poses: Apple machines only"}};
    static sk_runtimes_imported in;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put("theirs.json", rows[i].text);
        assert_ok(sk_runtimes_import("theirs.json", true, &in, &err), &err);
        assert_int_equal(in.saved, rows[i].saved);
        assert_string_equal(in.notice, rows[i].notice);
        assert_int_equal(in.file.pipelines, i == 3 ? 1u << SK_WORK_YOLO_POSE : 0);
        file_has("skitter.yaml", sk_runtime_name(rows[i].saved));
    }
    assert_int_equal(unlink("skitter.yaml"), 0);
}

/* Where everybody says the processor, no process is started to look for others. */
static void nobody_is_asked(void **state)
{
    (void)state;
    char program[4300];
    const char *models[] = {poses};
    static sk_runtimes_settings s;
    const sk_runtimes_wish wish = {.runtime = "cpu"};
    sk_runtime_choice choice;
    sk_runtime runtime;
    char engine[32], *json = NULL;
    snprintf(program, sizeof program, "%s/asked", test_folder());
    put("asked", "#!/bin/sh\necho asked >>\"$0.log\"\nexit 1\n");
    assert_int_equal(chmod("asked", 0755) | setenv("SKITTER_PROGRAM", program, 1), 0);
    for (int said = 0; said < 3; said++) { /* by nobody, by a file, in the environment, too */
        if (said == 1)
            put("skitter.yaml", "compute_runtime: cpu\n");
        if (said == 2)
            assert_int_equal(setenv("SKITTER_COMPUTE_RUNTIME", "cpu", 1), 0);
        assert_ok(sk_runtimes_settings_look(&s, &err), &err);
        assert_string_equal(s.runs, "cpu");
        assert_ok(sk_runtimes_choose(models, 1, &wish, &choice, engine, &err), &err);
        assert_ok(sk_runtimes_export(NULL, &runtime, &json, &err), &err);
        sk_free(json);
    }
    assert_false(sk_file_exists("asked.log"));
    sk_runtimes_look(0, false, &view); /* who wants to know has it started */
    assert_true(sk_file_size("asked.log") > 5);
    assert_int_equal(unsetenv("SKITTER_COMPUTE_RUNTIME") | unlink("skitter.yaml"), 0);
    assert_int_equal(setenv("SKITTER_PROGRAM", "/no/such/program", 1), 0);
}

/* --- while it runs --- */

static void held(void **state)
{
    (void)state;
    sk_run_lock *lock = NULL;
    char notice[SK_RUNTIMES_NOTICE] = "before";
    for (int i = 0; i < 2; i++) { /* whether anybody wants to know or not: there is nothing to say */
        (void)sk_fail(&err, SK_ERR_ARG, "of before");
        assert_ok(sk_runtimes_hold("a run", &lock, notice, i ? NULL : &err), &err);
        assert_string_equal(notice, "");
        assert_string_equal(err.message, "of before");
        sk_run_lock_close(&lock);
        sk_memory_fail_nth(1); /* no reason to go on without */
        assert_int_equal(sk_runtimes_hold("a run", &lock, notice, i ? NULL : &err), SK_ERR_MEMORY);
        sk_memory_fail_nth(0);
        assert_int_equal(err.code, i ? SK_ERR_ARG : SK_ERR_MEMORY);
        assert_null(lock);
    }
}

int main(void)
{
    char config[4300], cache[4300];
    tw_pickle p = {0};
    tw_zip zip = {0};
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(config, sizeof config, "%s/config", test_folder());
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    /* what looks anew finds none of these libraries, on whatever machine */
    if (setenv("SKITTER_CONFIG_DIR", config, 1) != 0 || setenv("SKITTER_CACHE_DIR", cache, 1) != 0 ||
        setenv("SKITTER_ONNXRUNTIME", "/no/such/library.so", 1) != 0 ||
        setenv("SKITTER_OPENVINO", "/no/such/library.so", 1) != 0 || unsetenv("SKITTER_COMPUTE_RUNTIME") != 0)
        return 1;
    if (sk_file_put("library", "x", 1, &err) != SK_OK)
        return 1;
    works(SK_RUNTIME_ONNX_CPU, 0);
    works(SK_RUNTIME_ONNX_CUDA, 1u << SK_PRECISION_F32);
    works(SK_RUNTIME_OPENVINO, 0);
    snprintf(poses, sizeof poses, "%s", yolo_save(&fixture, "poses.pt"));
    snprintf(sleap, sizeof sleap, "%s", test_source("tests/fixtures/sleap_nn/unet_single_kernel5_convs3"));
    yolo_write(&fixture, &p); /* a download that broke off: what it is can be told, and no graph be built */
    tw_checkpoint(&zip, "best", &p);
    zip.out.length -= 2000;
    snprintf(cut, sizeof cut, "%s", tw_save(&zip, "cut.pt"));
    tw_zip_free(&zip);
    tw_pickle_free(&p);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_seen),
        cmocka_unit_test(what_models_allow),
        cmocka_unit_test(what_words_mean),
        cmocka_unit_test(what_need_not_be_asked),
        cmocka_unit_test(picked),
        cmocka_unit_test(saved),
        cmocka_unit_test(imported),
        cmocka_unit_test(nobody_is_asked),
        cmocka_unit_test(held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
