/* SPDX-License-Identifier: Apache-2.0 */
/* From a node's parameters to its pipeline: what they mean together, what is refused and in which words; and how it is, as time
 * passes. */
#include "node_fixture.h"

#include <stdlib.h>
#include <string.h>

static void set(sk_node_settings *s, const char *name, const char *value)
{
    assert_ok(sk_node_settings_set(s, name, value, &err), &err);
}

static sk_node_core *opened(const sk_node_settings *s)
{
    sk_node_core *core = NULL;
    assert_ok(sk_node_core_open(s, &core, &err), &err);
    return core;
}

static const char *fact_of(sk_node_core *core, const char *key)
{
    static sk_node_fact f;
    f = (sk_node_fact)SK_NODE_FACT_INIT;
    for (int32_t i = 0; sk_node_core_fact(core, i, &f); i++)
        if (strcmp(f.key, key) == 0)
            return f.value;
    return "";
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *set[6], *words;
    } rows[] = {
        {{"weights_path", ""},
         "weights_path is empty: name the model's file, such as weights_path:=/models/yolo11n.pt"},
        {{"compute_runtime", "cpu", "execution_provider", "CUDAExecutionProvider"},
         "compute_runtime is cpu, execution_provider is CUDAExecutionProvider, which belongs to onnx_cuda: "
         "give one of them, or compute_runtime:=onnx_cuda"},
        {{"device", "0"},
         "device is 0, and compute_runtime cpu has no numbered devices: give cores, such as "
         "device:=cpu:0-3, or nothing"},
        {{"device", "12"}, "device is 12, and compute_runtime cpu has no numbered devices"},
        {{"image_width", "48"}, "image_width is 48 and image_height 0: give both, or neither"},
        {{"image_height", "40"}, "image_width is 0 and image_height 40: give both, or neither"},
        {{"image_width", "1"}, "image_width is 1 and image_height 0: give both, or neither"},
        {{"image_height", "1"}, "image_width is 0 and image_height 1: give both, or neither"},
        {{"second_weights_path", "nothing.pt"}, "nothing.pt"},
        {{"classes", "[7]"}, "7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_node_settings *s = node_settings("Detect");
        sk_node_core *core = NULL;
        for (int k = 0; k < 6 && rows[i].set[k]; k += 2)
            set(s, rows[i].set[k], rows[i].set[k + 1]);
        if (sk_node_core_open(s, &core, &err) == SK_OK || !strstr(err.message, rows[i].words))
            fail_msg("%s %s: %s, and not %s", rows[i].set[0], rows[i].set[1], core ? "taken" : err.message,
                     rows[i].words);
        assert_null(core);
        sk_node_settings_close(&s);
    }
}

static void what_is_taken(void **state)
{
    (void)state;
    put_noise();
    sk_node_settings *s = node_settings("Detect");
    set(s, "precision", "fp32");
    set(s, "device", "cpu:0");
    set(s, "image_width", "48");
    set(s, "image_height", "40");
    set(s, "use_compile", "false");
    set(s, "classes", "[1]");
    sk_node_core *core = opened(s);
    assert_string_equal(fact_of(core, "precision"), "f32");
    assert_string_equal(fact_of(core, "compute_runtime effective"), "cpu");
    const sk_node_result *got = look(core, "rgb8", rgb, sizeof rgb, 3);
    for (int32_t i = 0; i < got->n_objects; i++)
        assert_int_equal(got->instances->items[i].class_id, 1);
    const sk_node_result *other = NULL;
    assert_int_equal(sk_node_core_take(core, 0, &other, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "the result before was not given back");
    sk_node_core_give_back(core, got);
    sk_node_core_give_back(core, got);                                          /* twice is once */
    assert_int_equal(sk_node_core_take(core, 0, &other, &err), SK_ERR_TIMEOUT); /* nothing is on its way */
    assert_null(other);
    sk_node_core_close(&core);
    /* words of other programs for precisions: one that cannot be had says so by skitter's own */
    static const char *const words[][2] = {{"half", "f16"}, {"fp16", "f16"}, {"f16", "f16"}};
    sk_text said[3] = {{0}};
    for (int i = 0; i < 3; i++) {
        set(s, "precision", words[i][0]);
        const sk_status status = sk_node_core_open(s, &core, &err);
        sk_text_append(&said[i], status == SK_OK ? fact_of(core, "precision") : err.message);
        assert_non_null(strstr(sk_text_get(&said[i]), words[i][1]));
        assert_string_equal(sk_text_get(&said[0]), sk_text_get(&said[i]));
        sk_node_core_close(&core);
    }
    for (int i = 0; i < 3; i++)
        sk_text_free(&said[i]);
    sk_node_settings_close(&s);
}

/* Files made of models go where the parameters say: engines' first. */
static void where_files_are_kept(void **state)
{
    (void)state;
    char before[4300], here[2][4300];
    const char *cache = getenv("SKITTER_CACHE_DIR");
    snprintf(before, sizeof before, "%s", cache ? cache : "");
    for (int i = 0; i < 2; i++)
        snprintf(here[i], sizeof here[i], "%s/kept%d", test_folder(), i);
    sk_node_settings *s = node_settings("Detect");
    for (int i = 0; i < 2; i++) {
        set(s, i ? "engine_cache_dir" : "onnx_cache_dir", here[i]);
        sk_node_core *core = opened(s);
        assert_string_equal(getenv("SKITTER_CACHE_DIR"), here[i]);
        assert_string_equal(getenv("SKITTER_ARTIFACTS"), "cache");
        sk_node_core_close(&core);
    }
    sk_node_settings_close(&s);
    unsetenv("SKITTER_ARTIFACTS");
    if (cache)
        setenv("SKITTER_CACHE_DIR", before, 1);
    else
        unsetenv("SKITTER_CACHE_DIR");
}

static void says(sk_node_core *core, sk_node_level level, const char *words)
{
    char message[256];
    const sk_node_level got = sk_node_core_health(core, message, sizeof message);
    assert_string_equal(message, words);
    assert_int_equal(got, level);
}

/* Its clock is turned by turning back when things were. */
static void as_time_passes(void **state)
{
    (void)state;
    static const int64_t second = 1000000000;
    put_noise();
    sk_node_core *core = open_core("Detect", false);
    sk_node_core_give_back(core, look(core, "rgb8", rgb, sizeof rgb, 3));
    says(core, SK_NODE_OK, "running on cpu");
    atomic_store(&core->last_came_ns, sk_node_now_ns() - 4 * second);
    says(core, SK_NODE_OK, "running on cpu");
    atomic_store(&core->last_came_ns, sk_node_now_ns() - 7 * second - second / 10);
    says(core, SK_NODE_WARN, "no pictures for 7 s");
    snprintf(core->problem, sizeof core->problem, "torn");
    core->problem_ns = sk_node_now_ns() - 9 * second;
    says(core, SK_NODE_ERROR, "torn");
    core->problem_ns = sk_node_now_ns() - 10 * second; /* long ago */
    says(core, SK_NODE_WARN, "no pictures for 7 s");
    atomic_store(&core->last_came_ns, sk_node_now_ns());
    says(core, SK_NODE_OK, "running on cpu");
    core->fell_back = true;
    says(core, SK_NODE_WARN, "not the runtime that was asked for");
    snprintf(core->notice, sizeof core->notice, "cuda is not here");
    says(core, SK_NODE_WARN, "cuda is not here");
    core->fell_back = false;
    says(core, SK_NODE_WARN, "cuda is not here");
    sk_node_core_close(&core);
}

static void count_up(void *user)
{
    ++*(int *)user;
}

/* One of three is looked at; each is released once, and says whose it was. */
static void some_are_skipped(void **state)
{
    (void)state;
    int released = 0;
    put_noise();
    sk_node_settings *s = node_settings("Detect");
    set(s, "frame_skip", "2");
    sk_node_core *core = opened(s);
    for (int i = 0; i < 7; i++) {
        sk_node_image image = SK_NODE_IMAGE_INIT;
        const sk_node_result *got = NULL;
        image.width = WIDTH, image.height = HEIGHT, image.encoding = "rgb8";
        image.data = rgb, image.length = sizeof rgb, image.stamp_ns = 100 + i;
        image.user = &released, image.release = count_up;
        assert_ok(sk_node_core_submit(core, &image, &err), &err);
        if (i % 3 == 0) {
            assert_ok(sk_node_core_take(core, -1, &got, &err), &err);
            assert_true(got && got->stamp_ns == 100 + i && got->user == &released && !got->problem[0]);
            sk_node_core_give_back(core, got);
        }
        assert_int_equal(released, i + 1);
    }
    assert_string_equal(fact_of(core, "pictures received"), "7");
    assert_string_equal(fact_of(core, "pictures skipped"), "4");
    assert_string_equal(fact_of(core, "pictures processed"), "3");
    sk_node_core_finish(core);
    const sk_node_result *none = NULL;
    assert_ok(sk_node_core_take(core, -1, &none, &err), &err);
    assert_null(none);
    sk_node_core_close(&core);
    sk_node_settings_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused),      cmocka_unit_test(what_is_taken),
        cmocka_unit_test(where_files_are_kept), cmocka_unit_test(as_time_passes),
        cmocka_unit_test(some_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
