/* SPDX-License-Identifier: Apache-2.0 */
/* Which runtime is chosen and what is said of it, for every kind of machine, word and file; what is known of artifacts and why they
 * are made anew: in words that stay what they are. */
#include "support/recorded.h"

#include "artifact_fixture.h"
#include "base/json_write.h"
#include "engines/engine_header.h"
#include "runtime/artifact_internal.h"
#include "runtime/engine_file.h"
#include "runtime/gate.h"
#include "runtime/legacy.h"
#include "runtime/model_artifact.h"
#include "runtime/names.h"
#include "runtime/probe.h"
#include "runtime/run_lock.h"
#include "runtime/setting_file.h"
#include "runtime/settings.h"

#include <math.h>

static const char *short_of(const char *words)
{
    const char *text = recorded_own_words(words);
    static char buffers[4][6000];
    static int turn;
    char *out = buffers[turn++ % 4];
    const size_t room = sizeof buffers[0];
    const char *own = test_folder(), *at;
    size_t n = 0;
    for (; (at = strstr(text, own)) && n + 2 < room; text = at + strlen(own))
        n += (size_t)snprintf(out + n, room - n, "%.*s~", (int)(at - text), text);
    snprintf(out + n, room - n, "%s", text);
    for (char *c = out; *c; c++)
        *c = *c == '\n' ? '|' : *c;
    return out;
}

/* --- machines --- */

static sk_runtime_facts machine(unsigned bits)
{
    sk_runtime_facts f = {.cuda = bits & 1,
                          .rocm = bits >> 1 & 1,
                          .mps = bits >> 2 & 1,
                          .ort = bits >> 3 & 1,
                          .ort_providers_known = bits >> 4 & 1,
                          .ort_cpu = bits >> 5 & 1,
                          .ort_cuda = bits >> 6 & 1,
                          .ort_tensorrt = bits >> 7 & 1,
                          .ort_rocm = bits >> 8 & 1,
                          .tensorrt = bits >> 9 & 1,
                          .openvino = bits >> 10 & 1,
                          .graph_importable = bits >> 11 & 1};
    return f;
}

static void gates_of_machines(void **state)
{
    (void)state;
    unsigned dice = 1;
    for (int round = 0; round < 70; round++) {
        const unsigned bits = (unsigned)(4096 * recorded_chance(&dice)),
                       set = (unsigned)(34 * recorded_chance(&dice));
        sk_runtime_facts facts = machine(bits);
        if (round % 5 == 4) {
            facts.failed[round % SK_RUNTIME_COUNT] = true;
            if (round % 2)
                snprintf(facts.why[round % SK_RUNTIME_COUNT], SK_RUNTIME_WHY, "it burnt");
        }
        sk_runtime_gate gate;
        sk_runtime_gate_make(set, &facts, &gate);
        recorded_say("machine %03x, pipelines %02x", bits, set);
        for (int r = 0; r < SK_RUNTIME_COUNT; r++)
            recorded_say("  %s %s %s", sk_runtime_name((sk_runtime)r),
                         gate.is_allowed[r] ? "allowed" : sk_work_name(gate.by[r]), gate.because[r]);
        assert_true(gate.n_allowed >= 1 && gate.allowed[0] == SK_RUNTIME_CPU);
        for (int i = 1; i < gate.n_allowed; i++)
            assert_true(gate.allowed[i] > gate.allowed[i - 1] && gate.is_allowed[gate.allowed[i]]);
        static const char *const saved[] = {"cuda", "onnx", "hope", "tensorrt", "auto"};
        sk_runtime now;
        char notice[SK_RUNTIME_NOTICE];
        const bool reset = sk_runtime_reset(saved[round % 5], &gate, &facts, &now, notice);
        recorded_say("  %s%s is %s: %s", saved[round % 5], reset ? " reset" : "", sk_runtime_name(now),
                     notice);
        for (int told = 0; told < 2; told++)
            for (int fallback = 0; fallback < 2; fallback++) {
                sk_runtime_settings settings = {.effective =
                                                    told ? SK_SETTING_COMMAND : SK_SETTING_ENVIRONMENT,
                                                .remedy = round % 3 ? NULL : "ask somebody"};
                sk_runtime_setting *s = &settings.level[settings.effective];
                sk_runtime_choice choice;
                sk_error err = {0};
                snprintf(s->value, sizeof s->value, "%s",
                         sk_runtime_name((sk_runtime)(round % SK_RUNTIME_COUNT)));
                snprintf(s->where, sizeof s->where, "%s", told ? "--runtime" : "VARIABLE");
                const sk_status status = sk_runtime_choose(&settings, &gate, &facts, fallback, &choice, &err);
                recorded_say("  chosen %s%s%s %s: %s",
                             status == SK_OK ? sk_runtime_name(choice.runtime) : "none",
                             choice.fell_back ? " instead of " : "", choice.fell_back ? choice.requested : "",
                             choice.where, status == SK_OK ? choice.notice : short_of(err.message));
            }
    }
    recorded_check("tests/fixtures/runtime/recorded/gates.txt");
}

static void words_for_runtimes(void **state)
{
    (void)state;
    static const char *const words[] = {
        "cpu",
        "CPU ",
        " \t\r\n\v\fcuda ",
        "cuda:0",
        "cudaa",
        "cuda_1",
        "CUDA-2",
        "rocm",
        "rocm:1",
        "rocmx",
        "onnx",
        "onnxruntime",
        "ONNX-GPU",
        "onnx_gpu",
        "onnx_cpu",
        "onnx-cuda",
        "onnx_rocm",
        "onnx_x",
        "trt",
        "tensor_rt",
        "tensorrt",
        "tensorrt_cuda",
        "tensorrtx",
        "TensorRT-8",
        "ov",
        "open-vino",
        "openvino",
        "openvino:GPU",
        "openvinos",
        "auto",
        "",
        "  ",
        "mps",
        "mps:0",
        "hope",
        "z",
        "[",
        "@@",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", /* 63 */
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char line[400];
        int used = 0;
        for (int d = 0; d < 16; d++) {
            const sk_runtime_devices devices = {d & 1, d >> 1 & 1, d >> 2 & 1, d >> 3 & 1};
            sk_runtime r;
            const sk_runtime_match match = sk_runtime_normalise(words[i], &devices, &r);
            used += snprintf(line + used, sizeof line - (size_t)used, " %d/%d", (int)match, (int)r);
        }
        sk_runtime bare;
        recorded_say("'%s' %s%s; %d", short_of(words[i]), sk_runtime_is_open(words[i]) ? "open" : "", line,
                     (int)sk_runtime_normalise(words[i], NULL, &bare));
    }
    sk_runtime r;
    assert_int_equal(sk_runtime_normalise(NULL, NULL, &r), SK_RUNTIME_ALIAS);
    assert_false(sk_runtime_is_open(NULL) || sk_runtime_find(NULL, &r) || sk_runtime_find("CPU", &r));
    for (int i = -1; i <= SK_RUNTIME_COUNT; i++) {
        const sk_runtime_derived d = sk_runtime_derive((sk_runtime)i);
        recorded_say("%d: %s, %s, %s; %s %d %d %d %s %s", i, sk_runtime_name((sk_runtime)i),
                     sk_runtime_label((sk_runtime)i), sk_runtime_meaning((sk_runtime)i), d.yolo_device,
                     d.enable_onnx_runtime, d.enable_tensorrt, d.enable_gpu_background, d.pose_runtime_flavor,
                     d.pose_sleap_device);
    }
    char list[SK_RUNTIME_LIST], few[12];
    recorded_say("%s; %s", sk_runtime_list(list, sizeof list), sk_runtime_list(few, sizeof few));
    for (int i = -1; i <= SK_WORK_COUNT; i++)
        recorded_say("%d: %s", i, sk_work_name((sk_work)i));
    for (int i = -1; i <= SK_SETTING_LEVELS; i++)
        recorded_say("%d: %s", i, sk_setting_level_name((sk_setting_level)i));
    static const char *const lists[] = {
        "",
        "generic",
        "yolo_pose,sleap_pose",
        "yolo_pose, ,generic",
        "sleap_pose yolo_detection",
        "yolo_obb_detection,",
        ",generic",
        "yolo",
        "generic,yolo_poses",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t set = 99;
        sk_error err = {0};
        const sk_status status = sk_works_parse(lists[i], &set, &err);
        recorded_say("'%s': %x %s", lists[i], set, status == SK_OK ? "" : err.message);
    }
    uint32_t set = 9;
    sk_error err;
    assert_ok(sk_works_parse(NULL, &set, &err), &err);
    assert_int_equal(set, 0);
    recorded_check("tests/fixtures/runtime/recorded/words.txt");
}

/* --- configurations of other programs --- */

static void old_configurations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"compute_runtime\":\"cuda\"}",
        "{\"COMPUTE_RUNTIME\":\"onnx\",\"detection_method\":\"yolo_obb\"}",
        "{\"pred_runtime\":\"trt\",\"pred_backend\":\"SLEAP\"}",
        "{\"pred_runtime\":\"never\",\"pred_backend\":\"yolo\",\"enable_pose_extractor\":false}",
        "{\"compute_runtime\":null,\"COMPUTE_RUNTIME\":\"rocm\"}",
        "{\"compute_runtime\":7,\"runtime_tier\":\"gpu\"}",
        "{\"runtime_tier\":\"GPU_FAST\",\"enable_pose_extractor\":true,\"pose_model_type\":\"sleap\"}",
        "{\"RUNTIME_TIER\":\"cpu\",\"ENABLE_POSE_EXTRACTOR\":true,\"POSE_MODEL_TYPE\":\"yolo\"}",
        "{\"runtime_tier\":\"warp\"}",
        "{\"yolo_device\":\"auto\",\"DETECTION_METHOD\":\"background\"}",
        "{\"YOLO_DEVICE\":\"cuda:1\",\"enable_pose_extractor\":true}",
        "{\"yolo_device\":\"GPU\"}",
        "{\"yolo_device\":\"gpus\"}",
        "{\"yolo_device\":\"mps\"}",
        "{\"yolo_device\":\"rocm:0\"}",
        "{\"yolo_device\":\"cpu\",\"enable_tensorrt\":true}",
        "{\"ENABLE_TENSORRT\":true}",
        "{\"enable_tensorrt\":false}",
        "{\"pose_runtime_flavor\":\"onnx\"}",
        "{\"pose_runtime_flavor\":\"onnx_mps\"}",
        "{\"pose_runtime_flavor\":\"ONNX_CUDA\"}",
        "{\"POSE_RUNTIME_FLAVOR\":\"onnx_rocm\",\"yolo_device\":\"cpu\"}",
        "{\"pose_runtime_flavor\":\"tensorrt_cuda\"}",
        "{\"pose_runtime_flavor\":\"native\",\"yolo_device\":\"cuda\"}",
        "{\"pose_runtime_flavor\":\"native\"}",
        "{}",
        "[1]",
        "{\"compute_runtime\":",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int m = 0; m < 6; m++) {
            static const unsigned machines[] = {0, 0x201, 0x3fb, 0x10a, 4, 0x6f9};
            const sk_runtime_facts facts = machine(machines[m]);
            sk_runtime_import in;
            sk_error err = {0};
            char path[4200];
            snprintf(path, sizeof path, "%s/old.json", folder);
            put(path, texts[i]);
            const sk_status status = sk_runtime_import_file(path, &facts, &in, &err);
            if (m && status != SK_OK)
                continue;
            recorded_say("%s on %03x: %s by %s '%s', pipelines %x; %s", texts[i], machines[m],
                         status == SK_OK ? sk_runtime_name(in.runtime) : "none", in.key, in.value,
                         in.pipelines, status == SK_OK ? in.note : short_of(err.message));
        }
    for (int r = 0; r < SK_RUNTIME_COUNT; r++) {
        char *text = NULL;
        char path[4200];
        sk_error err = {0};
        snprintf(path, sizeof path, "%s/old.json", folder);
        put(path,
            "{\"a\":[1,2.5,null,true,{\"b\":\"c\\n\"}],\"yolo_device\":\"x\",\"COMPUTE_RUNTIME\":\"y\"}");
        assert_ok(sk_runtime_export_text((sk_runtime)r, r % 3 ? path : NULL, &text, &err), &err);
        recorded_say("%s", short_of(text));
        sk_free(text);
    }
    for (int bits = 0; bits < 64; bits++)
        for (int k = 0; k < 5; k++) {
            static const char *const tiers[] = {"cpu", "gpu", "gpu_fast", "gpu_slow", "Cpu"};
            sk_runtime_facts f = {.mps = bits & 1,
                                  .rocm = bits >> 1 & 1,
                                  .cuda = bits >> 2 & 1,
                                  .tensorrt = bits >> 3 & 1,
                                  .ort = bits >> 4 & 1,
                                  .ort_rocm = bits >> 5 & 1};
            sk_runtime r = SK_RUNTIME_COUNT;
            const bool known = sk_runtime_from_tier(tiers[k], &f, &r);
            const sk_runtime wanted =
                k == 0 || k == 4 ? SK_RUNTIME_CPU
                : f.mps          ? SK_RUNTIME_MPS
                : f.rocm         ? (k == 2 && f.ort && f.ort_rocm ? SK_RUNTIME_ONNX_ROCM : SK_RUNTIME_ROCM)
                : k == 2 && (f.tensorrt || !f.cuda) ? SK_RUNTIME_TENSORRT
                                                    : SK_RUNTIME_CUDA;
            assert_int_equal(known, k != 3);
            assert_int_equal(r, k == 3 ? SK_RUNTIME_COUNT : wanted);
        }
    sk_runtime r;
    assert_false(sk_runtime_from_tier(NULL, &(sk_runtime_facts){0}, &r));
    recorded_check("tests/fixtures/runtime/recorded/old.txt");
}

/* --- the setting's file --- */

static void setting_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"a.json",
         "{\"compute_runtime\":\"cuda\",\"b\":[1,2.5,-3],\"c\":{\"d\":null,\"e\":false},\"f\":\"g\\\"\"}"},
        {"a.json", "{\"b\":1}"},
        {"a.json", ""},
        {"a.json", " \t\r\n"},
        {"a.json", "[1]"},
        {"a.json", "{\"compute_runtime\":5}"},
        {"a.json", "{\"compute_runtime\":null,\"x\":1}"},
        {"a.json", "{"},
        {"a.yaml", "# mine\ncompute_runtime: cuda # fast\nother: 1\n"},
        {"a.yml", "other: 1\n\n\"compute_runtime\"  : cuda\nlast: 2"},
        {"a.yaml", "'compute_runtime': cuda\n"},
        {"a.yaml", "compute_runtimes: cuda\n"},
        {"a.yaml", "nested:\n  compute_runtime: cuda\nb: 2\n"},
        {"a.yaml", "{compute_runtime: cuda, b: 1}\n"},
        {"a.yaml", "compute_runtime:\n"},
        {"a.yaml", "- 1\n"},
        {"a.yaml", ""},
        {"a.yaml", "\"compute_runtime: cuda\n"},
        {"a.yaml", "compute_runtime : cuda\ncompute_runtime: cpu\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4200], value[64] = "-", *text = NULL;
        size_t bytes;
        bool there = false;
        sk_error err = {0};
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        put(path, files[i].text);
        sk_status status = sk_setting_file_read(path, value, sizeof value, &there, &err);
        recorded_say("%s '%s': %d '%s' %s", files[i].name, short_of(files[i].text), there, value,
                     status == SK_OK ? "" : short_of(err.message));
        status = sk_setting_file_write(path, "rocm", &err);
        recorded_say("  written: %s", status == SK_OK ? "" : short_of(err.message));
        assert_ok(sk_file_read(path, 65536, &text, &bytes, &err), &err);
        recorded_say("  %s", short_of(text));
        sk_free(text);
        unlink(path);
    }
    char path[4200], *text;
    size_t bytes;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/new.yaml", folder);
    assert_ok(sk_setting_file_write(path, "cpu", &err), &err);
    assert_ok(sk_file_read(path, 65536, &text, &bytes, &err), &err);
    assert_string_equal(text, "compute_runtime: cpu\n");
    sk_free(text);
    recorded_check("tests/fixtures/runtime/recorded/setting_files.txt");
}

/* --- artifacts --- */

static sk_artifact_key some_key(void)
{
    return (sk_artifact_key){.source = "0123456789abcdef",
                             .form = "onnx",
                             .batch = 2,
                             .height = 64,
                             .width = 96,
                             .precision = "f32",
                             .heads = "one-to-many",
                             .opset = 17,
                             .architecture = "sm_90",
                             .library = "TRT 10",
                             .version = "0.1.0/1"};
}

static void keys_differ_by_every_part(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++)
        for (int side = 0; side < 2; side++) {
            sk_artifact_key keys[2] = {some_key(), some_key()}, *one = &keys[side];
            char why[SK_ARTIFACT_WHY], file[SK_ARTIFACT_PATH];
            switch (k) {
            case 0: break;
            case 1: one->source[0] = 'f'; break;
            case 2: one->form[0] = 'p'; break;
            case 3: one->batch = 3; break;
            case 4: one->batch = 1; break;
            case 5: one->height = 65; break;
            case 6: one->width = 95; break;
            case 7: one->dynamic_batch = true; break;
            case 8: one->dynamic_batch = true, one->batch = 8; break;
            case 9: one->dynamic_batch = true, one->batch = 0; break;
            case 10: one->dynamic_batch = true, one->batch = 1; break;
            case 11: one->dynamic_size = true, one->height = 1; break;
            case 12: one->dynamic_size = true, one->width = 1; break;
            case 13: snprintf(one->precision, sizeof one->precision, "f16"); break;
            case 14: snprintf(one->heads, sizeof one->heads, "one-to-one"); break;
            case 15: one->opset = 18; break;
            case 16: one->architecture[0] = '\0'; break;
            case 17: one->library[0] = '\0'; break;
            case 18: one->version[0] = '1'; break;
            case 19: keys[0].dynamic_batch = keys[1].dynamic_batch = true, one->batch = 3; break;
            case 20: keys[0].dynamic_batch = keys[1].dynamic_batch = true; break;
            case 21: one->heads[0] = '\0'; break;
            case 22: one->height = 96, one->width = 64; break;
            case 23: keys[0].dynamic_size = keys[1].dynamic_size = true, one->height = 3; break;
            default: break;
            }
            const bool same = sk_artifact_key_equal(&keys[0], &keys[1], why);
            sk_error err = {0};
            assert_ok(sk_artifact_cache_place(one, &form, file, &err), &err);
            recorded_say("%d %d: %d '%s' %s", k, side, same, why, short_of(strrchr(file, '/')));
        }
    recorded_check("tests/fixtures/runtime/recorded/keys.txt");
}

static void records_are_read_back(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_artifact_record r = {.key = some_key(), .exported = true, .n_checks = 2}, back;
    const char bytes[] = "these are the bytes of a file";
    r.key.dynamic_batch = true;
    sk_artifact_record_of(bytes, sizeof bytes, &r);
    snprintf(r.replaces, sizeof r.replaces, "%064d", 5);
    snprintf(r.model, sizeof r.model, "/a/model \"one\".pt");
    snprintf(r.made, sizeof r.made, "2026-01-01T00:00:00Z");
    r.checks[0] = (sk_artifact_check){"onnx_cpu", "ORT 1", 0.99999, 1e-6};
    r.checks[1] = (sk_artifact_check){"tensorrt", "TRT 10", 0.5, 3};
    assert_ok(sk_artifact_record_write(artifact, &r, &err), &err);
    assert_ok(sk_artifact_record_read(artifact, &back, &err), &err);
    assert_true(back.sealed && back.exported && back.bytes == sizeof bytes && back.n_checks == 2);
    back.sealed = false;
    char why[SK_ARTIFACT_WHY];
    assert_true(sk_artifact_key_equal(&back.key, &r.key, why) && back.key.dynamic_batch &&
                !back.key.dynamic_size);
    assert_string_equal(back.sha256, r.sha256);
    assert_string_equal(back.head, r.head);
    assert_string_equal(back.replaces, r.replaces);
    assert_string_equal(back.model, r.model);
    assert_string_equal(back.made, r.made);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(back.checks[i].runtime, r.checks[i].runtime);
        assert_string_equal(back.checks[i].library, r.checks[i].library);
        assert_true(back.checks[i].pcc == r.checks[i].pcc &&
                    back.checks[i].max_difference == r.checks[i].max_difference);
    }
    assert_ptr_equal(sk_artifact_record_find(&back, "tensorrt", "TRT 10"), &back.checks[1]);
    assert_null(sk_artifact_record_find(&back, "tensorrt", "ORT 1"));
    assert_null(sk_artifact_record_find(&back, "onnx", "TRT 10"));
    /* longer files have the beginning on record, shorter ones all */
    static char long_one[SK_ARTIFACT_HEAD + 9];
    memset(long_one, 0xa5, sizeof long_one);
    for (size_t n = 0; n <= sizeof long_one; n += SK_ARTIFACT_HEAD / 2) {
        sk_artifact_record_of(long_one, n, &r);
        assert_int_equal(strlen(r.head), 2 * (n < SK_ARTIFACT_HEAD ? n : SK_ARTIFACT_HEAD));
        assert_true(n == 0 || strncmp(r.head, "a5a5", 4) == 0);
        assert_int_equal(r.bytes, n);
    }
    for (int i = -1; i < 8; i++)
        recorded_say("%d: %s", i, sk_artifact_state_name((sk_artifact_state)i));
        /* what a sidecar may say that is none */
#define HASH "\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
    static const char large[] =
        "{" HASH ",\"bytes\":0,\"batch\":-3,\"height\":4294967296,\"width\":2147483647,"
        "\"checks\":[{},{\"pcc\":0.5}]}";
    static const char lengthless[] = "{" HASH "}";
    const char *const texts[] = {"{}", "[]", "x", "{\"sha256\":\"short\",\"bytes\":3}", lengthless, large};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char side[700];
        snprintf(side, sizeof side, "%s%s", artifact, SK_ARTIFACT_SIDECAR);
        put(side, texts[i]);
        const sk_status status = sk_artifact_record_read(artifact, &back, &err);
        recorded_say("%s: %s", texts[i], status == SK_OK ? "read" : short_of(err.message));
        if (status == SK_OK)
            recorded_say("  %d %d %d, %d checks %g %g %g, sealed %d", back.key.batch, back.key.height,
                         back.key.width, back.n_checks, back.checks[0].pcc, back.checks[0].max_difference,
                         back.checks[1].pcc, back.sealed);
    }
    recorded_check("tests/fixtures/runtime/recorded/records.txt");
}

static const char *const step_names[] = {"", "waiting", "making", "checking", "writing", "done"};

static void tell_aloud(void *context, sk_artifact_step step, const char *path, const char *note)
{
    (void)context;
    recorded_say("    %s %s %s", step_names[step], short_of(path), note);
}

static void get(const char *what, const sk_artifact_wish *w)
{
    script s = {0};
    sk_artifact_maker maker = {&s, fake_make, fake_fits, fake_check, tell_aloud};
    sk_artifact a = {0};
    sk_error err = {0};
    snprintf(s.seed, sizeof s.seed, "%.20s %d %d", w->key.source, w->key.batch, w->key.height);
    recorded_say("  %s:", what);
    const sk_status status = sk_artifact_obtain(w, &maker, &a, &err);
    if (status == SK_OK)
        recorded_say("    %s%s%s, %g %g by %s %s, %d checks%s; %s", short_of(a.path), a.made ? ", made" : "",
                     a.users ? ", a person's" : "", a.check.pcc, a.check.max_difference, a.check.runtime,
                     a.check.library, s.checks, s.unknown ? " of something unknown" : "", short_of(a.notice));
    else
        recorded_say("    %s", short_of(err.message));
    sk_artifact_release(&a);
}

/* The whole life of a model's artifacts, and what is said at each step. */
static void stories(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_artifact_wish w = wish_for(model);
    get("at first", &w);
    get("again", &w);
    w.anew = true;
    get("anew", &w);
    w.anew = false;
    w.library = "1.31.0";
    get("for another library", &w);
    w.key.height = 320;
    get("smaller", &w);
    w.key.height = 640;
    get("as before", &w);
    w.keep = SK_ARTIFACT_CACHE;
    get("in the cache", &w);
    w.keep = SK_ARTIFACT_BESIDE;
    put(model, "others");
    w = wish_for(model);
    get("of a changed model", &w);
    assert_int_equal(truncate(artifact, 500), 0);
    get("where it was cut", &w);
    put(artifact, "USER made");
    get("where a person's lies", &w);
    put(artifact, "USER other weights");
    get("where a person's other one lies", &w);
    put(artifact, "nobody's");
    get("where a misfit lies", &w);
    put(artifact, "USER export");
    assert_ok(sk_artifact_record_export(artifact, model, &w.key, &err), &err);
    get("exported", &w);
    snprintf(w.key.precision, sizeof w.key.precision, "f16");
    get("exported in another precision", &w);
    snprintf(w.key.precision, sizeof w.key.precision, "f32");
    snprintf(w.key.heads, sizeof w.key.heads, "one");
    get("exported with other heads", &w);
    w.key.heads[0] = '\0';
    w.key.source[0] = 'z';
    get("exported from another model", &w);
    assert_int_equal(unlink(artifact), 0);
    assert_int_equal(mkdir(artifact, 0777), 0);
    get("where a folder lies", &w);
    w.must_keep = true;
    w.model = test_missing("model.pt");
    get("nowhere", &w);
    recorded_check("tests/fixtures/runtime/recorded/stories.txt");
}

static void places_of_artifacts(void **state)
{
    (void)state;
    static const sk_engine_form forms[] = {
        {.name = "onnx", .extension = ".onnx", .folder_extension = ".onnx", .file = "model.onnx"},
        {.name = "plan", .extension = ".engine", .folder_extension = ".tensorrt", .file = "model.engine"}};
    static const char *const names[] = {"model.pt", "model", "model.skq", "model.best.pt", ".hidden", "sub",
                                        "sub/",     "sub//", "sub/.",     "sub/..",        "sub/x.pt"};
    char sub[700];
    sk_error err = {0};
    path_in(sub, sizeof sub, "sub");
    assert_ok(sk_folder_make(sub, &err), &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int f = 0; f < 2; f++) {
            char path[1400], file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH], lock[SK_ARTIFACT_PATH];
            path_in(path, sizeof path, names[i]);
            assert_ok(sk_artifact_place(path, &forms[f], file, container, &err), &err);
            assert_ok(sk_artifact_lock_place(container, lock, &err), &err);
            recorded_say("%s as %s: %s", names[i], forms[f].name, short_of(file));
            recorded_say("  %s", short_of(container));
            recorded_say("  %s", short_of(lock));
        }
    static char long_path[SK_ARTIFACT_PATH + 9];
    for (size_t n = SK_ARTIFACT_PATH - 16; n < SK_ARTIFACT_PATH + 4; n++) {
        char file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH];
        memset(long_path, 'a', n);
        long_path[n] = '\0';
        const sk_status status = sk_artifact_place(long_path, &forms[0], file, container, &err);
        assert_int_equal(status, n + 5 < SK_ARTIFACT_PATH ? SK_OK : SK_ERR_LIMIT);
    }
    recorded_check("tests/fixtures/runtime/recorded/places.txt");
}

/* What processes that were killed left is taken away, and nothing else. */
static void leavings(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool goes;
    } files[] = {{".model.onnx.0123abcd", true},   {".model.onnx.skitter.json.ffff0000", true},
                 {".model.onnx.0123abcg", false},  {".model.onnx.0123abc", false},
                 {".model.onnx.0123abcde", false}, {"model.onnx.0123abcd", false},
                 {".model.onnx0123abcde", false},  {".other.onnx.0123abcd", false},
                 {".model.onnx.0123ABCD", false},  {".model.onnx.skitter.jsox.ffff0000", false}};
    char path[700], lock[SK_ARTIFACT_PATH];
    sk_error err = {0};
    for (int locked = 0; locked < 2; locked++) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            path_in(path, sizeof path, files[i].name);
            put(path, "x");
        }
        if (locked) { /* whoever was killed held the lock */
            assert_ok(sk_artifact_lock_place(artifact, lock, &err), &err);
            put(lock, "");
            sk_artifact_sweep(artifact);
            assert_false(sk_file_exists(lock));
        } else {
            sk_artifact_sweep(artifact); /* nobody was: nothing is looked at */
            for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                path_in(path, sizeof path, files[i].name);
                assert_true(sk_file_exists(path));
            }
            sk_artifact_sweep_locked(artifact);
        }
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            path_in(path, sizeof path, files[i].name);
            assert_int_equal(sk_file_exists(path), !files[i].goes);
        }
    }
}

static void engine_files_of_others(void **state)
{
    (void)state;
    static const char *const names[2] = {"fly", "mouse"};
    sk_model m = {.path = "m.pt", .n_classes = 2, .n_keypoints = 3, .class_names = names};
    sk_model_set_task(&m, SK_TASK_POSE);
    m.input.channels = 3;
    m.yolo.keypoint_dims = 3;
    snprintf(m.content_hash, sizeof m.content_hash, "abc");
    static const char *const texts[] = {
        "{}",
        "{\"source_sha256\":\"abc\",\"task\":\"pose\",\"batch\":2,\"imgsz\":[64,96]}",
        "{\"source_sha256\":\"abd\"}",
        "{\"task\":\"detect\"}",
        "{\"task\":\"\"}",
        "{\"names\":{\"0\":\"a\",\"1\":\"b\"}}",
        "{\"names\":{\"0\":\"a\"}}",
        "{\"end2end\":true}",
        "{\"end2end\":false}",
        "{\"kpt_shape\":[3,3]}",
        "{\"kpt_shape\":[4,3]}",
        "{\"imgsz\":64}",
        "{\"imgsz\":[64,64]}",
        "{\"imgsz\":[96,96]}",
        "{\"batch\":1}",
        "{\"batch\":1,\"args\":{\"dynamic\":true}}",
        "{\"batch\":1,\"args\":{\"dynamic\":false}}",
        "{\"imgsz\":[32,32],\"args\":{\"dynamic\":true}}",
        "{",
    };
    for (int heads = 0; heads < 2; heads++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            uint8_t *bytes = NULL;
            size_t length;
            sk_error err = {0};
            m.yolo.end2end = heads;
            assert_ok(sk_engine_header_join(texts[i], "plan", 4, &bytes, &length, &err), &err);
            const sk_status status = sk_engine_file_fits(&m, bytes, length, 2, 64, 96, &err);
            recorded_say("%d %s: %s", heads, texts[i],
                         status == SK_OK ? "fits" : recorded_own_words(err.message));
            sk_free(bytes);
        }
    sk_error err = {0};
    assert_int_equal(sk_engine_file_fits(&m, "", 0, 1, 1, 1, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "it is empty");
    char *json = NULL;
    for (int stride = 0; stride < 2; stride++) {
        m.input.stride = stride ? 16 : 0;
        assert_ok(sk_engine_file_describe(&m, 2, 64, 96, &json, &err), &err);
        assert_non_null(strstr(json, stride ? "\"stride\":16" : "\"stride\":32"));
        sk_free(json);
    }
    recorded_check("tests/fixtures/runtime/recorded/engine_files.txt");
}

static void likenesses(void **state)
{
    (void)state;
    unsigned dice = 4;
    static const sk_precision precisions[] = {SK_PRECISION_F32, SK_PRECISION_F16, SK_PRECISION_BF16,
                                              SK_PRECISION_I8};
    sk_model m = {.n_classes = 2, .n_outputs = 1};
    m.outputs[0].kind = SK_OUTPUT_YOLO;
    for (int round = 0; round < 40; round++) {
        float a[2 * 8 * 5], b[2 * 8 * 5];
        for (int i = 0; i < 80; i++) {
            b[i] = (float)(recorded_chance(&dice) * (i / 20 % 2 ? 100 : 1));
            a[i] = b[i] + (float)((recorded_chance(&dice) - 0.5) * pow(10, -round % 7));
        }
        if (round % 8 == 6)
            for (int i = 0; i < 80; i++)
                a[i] = b[i] = 3; /* all alike */
        const int64_t channels = round % 5 == 4 ? 4 : 8;
        sk_tensor got = {SK_DTYPE_F32, sk_shape_of(3, (int64_t)2, channels, (int64_t)5), a}, want = got;
        want.data = b;
        if (round % 10 == 9)
            want.dtype = SK_DTYPE_I32;
        if (round % 10 == 8)
            want.shape.dim[2] = 4;
        m.n_classes = round % 3 == 2 ? 9 : 2;
        const sk_parity p = sk_parity_compare(&got, &want, 1, round % 2 ? &m : NULL);
        const sk_precision precision = precisions[round / 2 % 4];
        sk_error err = {0}, other = {0};
        const sk_status s = sk_parity_judge(&p, precision, &err),
                        o = sk_parity_judge_origin(&p, precision, "m.pt", &other);
        recorded_say("%d: %.7g %.7g; %s; %s", round, p.pcc, p.max_difference,
                     s == SK_OK ? "good" : err.message, o == SK_OK ? "good" : short_of(other.message));
    }
    const sk_parity none = sk_parity_compare(NULL, NULL, 0, NULL);
    assert_true(none.pcc == 1 && none.max_difference == 0);
    recorded_check("tests/fixtures/runtime/recorded/likenesses.txt");
}

static void runs_are_named(void **state)
{
    (void)state;
    sk_run_lock *locks[3] = {0};
    sk_run_info rows[2];
    sk_lock *right = NULL;
    sk_error err = {0};
    int32_t count = 7;
    char pid[32], name[300];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_ok(sk_run_list(rows, 2, &count, &err), &err);
    assert_int_equal(count, 0);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    static const char *const names[] = {"results one", "two\nlines\ttab"};
    for (int i = 0; i < 3; i++) {
        assert_ok(sk_run_lock_open(i < 2 ? names[i] : name, &locks[i], &err), &err);
        assert_ok(sk_run_list(rows, i == 2 ? 0 : 2, &count, &err), &err);
        assert_int_equal(count, i + 1);
        assert_int_equal(sk_run_change_begin(&right, &err), SK_ERR_BUSY);
        assert_null(right);
        assert_non_null(strstr(err.message, pid));
        assert_int_equal(strstr(err.message, "more)") != NULL, i > 0);
        assert_true(i != 2 || strstr(err.message, "(and 2 more)"));
    }
    assert_ok(sk_run_list(rows, 2, &count, &err), &err);
    assert_int_equal(count, 3);
    sk_run_lock_close(&locks[0]);
    sk_run_lock_close(&locks[2]);
    assert_ok(sk_run_list(rows, 2, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].name, "two lines tab");
    assert_int_equal(rows[0].holder.pid, getpid());
    sk_run_lock_close(&locks[1]);
    assert_ok(sk_run_lock_open(name, &locks[0], &err), &err);
    assert_ok(sk_run_list(rows, 2, &count, &err), &err);
    assert_int_equal(strlen(rows[0].name), 255); /* as much as there is room for */
    sk_run_lock_close(&locks[0]);
    /* files that are no run's stay, those of dead runs go */
    char cache[700], path[800];
    path_in(cache, sizeof cache, "cache/runs");
    static const char *const files[] = {"dead-1-0.lock", "notes.txt", ".lock", "gate2"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", cache, files[i]);
        put(path, "x");
    }
    snprintf(path, sizeof path, "%s/planted-1-0.lock", cache);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_ok(sk_run_list(rows, 2, &count, &err), &err);
    assert_int_equal(count, 0);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", cache, files[i]);
        assert_int_equal(sk_file_exists(path), i > 0);
    }
    assert_ok(sk_run_change_begin(&right, &err), &err);
    assert_non_null(right);
    sk_lock_close(&right);
}

int main(void)
{
    (void)obtain; /* the fixture's, for others */
    (void)assert_tidy;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_of_machines),
        cmocka_unit_test(words_for_runtimes),
        cmocka_unit_test_setup(old_configurations, set_up),
        cmocka_unit_test_setup(setting_files, set_up),
        cmocka_unit_test_setup(keys_differ_by_every_part, set_up),
        cmocka_unit_test_setup(records_are_read_back, set_up),
        cmocka_unit_test_setup(stories, set_up),
        cmocka_unit_test_setup(places_of_artifacts, set_up),
        cmocka_unit_test_setup(leavings, set_up),
        cmocka_unit_test(engine_files_of_others),
        cmocka_unit_test(likenesses),
        cmocka_unit_test_setup(runs_are_named, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
