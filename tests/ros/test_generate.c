/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/file.h"
#include "formats/zip.h"
#include "ros/context.h"
#include "ros/generate.h"
#include "ros/own_manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPLATE(path, text)                                                                                 \
    {                                                                                                        \
        (path), (text), sizeof(text) - 1                                                                     \
    }

/* A package of few files, one of them only for models with tracks. */
static const sk_ros_file few[] = {
    TEMPLATE("models/ignored", "{{nothing}}"),
    TEMPLATE("package/package.xml", "<name>{{package_name}}</name>\n"),
    TEMPLATE("package/include/PACKAGE/PACKAGE_node.hpp", "class {{class_name}};\n"),
    TEMPLATE(
        "package/config/params.yaml",
        "{{#parameters}}\n{{^.is_empty_list}}\n  {{.name}}: {{.default|yaml}}  # {{.description|comment}}\n"
        "{{/.is_empty_list}}\n{{/parameters}}\n"),
    TEMPLATE("package/msg/Track.msg", "{{#has_tracks}}\nint32 id\n{{/has_tracks}}\n"),
    {0}};

static sk_catalogue *catalogue;

static int begin(void **state)
{
    (void)state;
    sk_error err = {0};
    return sk_catalogue_open(test_source("tests/fixtures/ros/models"), &catalogue, &err) == SK_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    sk_catalogue_close(&catalogue);
    return 0;
}

static sk_ros_choice choose(const char *model, const char *backend, const char *variant, const char *package)
{
    const sk_ros_request request = {
        .model = model, .backend = backend, .variant = variant, .package_name = package};
    sk_ros_choice choice;
    sk_problems problems = {0};
    bool usage;
    sk_ros_request_check(catalogue, &request, &choice, &usage, &problems);
    if (problems.count)
        fail_msg("%s %s %s: %s", model, backend, variant ? variant : "", sk_text_get(&problems.lines));
    return choice;
}

static sk_ros_package *render(const sk_ros_choice *choice, const sk_ros_file *files)
{
    sk_error err = {0};
    sk_ros_package *package = NULL;
    assert_ok(sk_ros_render(choice, files, &package, &err), &err);
    return package;
}

static const char *text_of(const sk_ros_package *package, const char *path)
{
    for (size_t i = 0; i < package->count; i++)
        if (strcmp(package->files[i].path, path) == 0)
            return package->files[i].text;
    fail_msg("%s is not in the package", path);
    return "";
}

/* Whatever the model: nothing is left of the templates, and the parameters can be read. */
static void look_at(const sk_ros_package *package)
{
    assert_true(package->count > 1);
    for (size_t f = 0; f < package->count; f++) {
        assert_null(strstr(package->files[f].path, "PACKAGE"));
        assert_true(f == 0 || strcmp(package->files[f - 1].path, package->files[f].path) < 0);
        static const char *const left[] = {"{{#", "{{/", "{{^", "{{.", "{{@", "{{!"};
        for (size_t i = 0; i < sizeof left / sizeof *left; i++)
            assert_null(strstr(package->files[f].text, left[i]));
    }
    const char *params = text_of(package, "config/params.yaml");
    sk_config *config = NULL;
    sk_error err = {0};
    assert_ok(sk_config_open_yaml(params, strlen(params), "params.yaml", &config, &err), &err);
    assert_true(sk_config_is(sk_config_root(config), SK_CONFIG_MAP));
    sk_config_close(&config);
}

static void every_combination_that_a_manifest_declares_generates(void **state)
{
    (void)state;
    size_t rendered = 0, models = 0;
    for (size_t i = 0; i < catalogue->count; i++) {
        const sk_manifest *m = catalogue->manifests[i];
        if (!sk_catalogue_runs(m, NULL))
            continue;
        models++;
        for (size_t b = 0; b < m->backends.count; b++)
            for (size_t v = 0; v < m->variants.count; v++) {
                const sk_ros_choice choice =
                    choose(m->name, m->backends.items[b], m->variants.items[v], "fly_watch");
                sk_ros_package *package = render(&choice, sk_ros_files);
                look_at(package);
                sk_ros_package_close(&package);
                rendered++;
            }
    }
    assert_int_equal(models, 11);                               /* ten shipped, one of the fixtures */
    assert_int_equal(rendered, 6 * 20 * 6 + 4 * 1 * 5 + 2 * 2); /* YOLO, SLEAP, the fixture */
}

static void everything_else_is_refused_with_what_there_is(void **state)
{
    (void)state;
    size_t refused = 0;
    for (size_t i = 0; i < catalogue->count; i++) {
        const sk_manifest *m = catalogue->manifests[i];
        sk_text expected = {0};
        for (const char *const *backend = sk_ros_backends; *backend; backend++) {
            if (sk_manifest_names_have(&m->backends, *backend) || !sk_catalogue_runs(m, NULL))
                continue;
            for (size_t j = 0; j < catalogue->count; j++) { /* variants of every other model, too */
                const sk_manifest *other = catalogue->manifests[j];
                const sk_ros_request request = {.model = m->name,
                                                .backend = *backend,
                                                .variant = other->variants.items[0],
                                                .package_name = "fly_watch"};
                sk_problems problems = {0};
                sk_ros_choice choice;
                bool usage;
                sk_ros_request_check(catalogue, &request, &choice, &usage, &problems);
                sk_text_clear(&expected);
                sk_text_appendf(&expected,
                                "Backend '%s' is not supported by model '%s'. Supported backends: ", *backend,
                                m->name);
                sk_ros_append_list(&expected, m->backends.items, m->backends.count);
                sk_text_append(&expected, "\n");
                if (j != i) {
                    sk_text_appendf(&expected, "Unknown variant '%s' for model '%s'. Choose from: ",
                                    other->variants.items[0], m->name);
                    sk_ros_append_list(&expected, m->variants.items, m->variants.count);
                    sk_text_append(&expected, "\n");
                }
                assert_string_equal(sk_text_get(&problems.lines), sk_text_get(&expected));
                assert_false(usage);
                sk_problems_free(&problems);
                refused++;
            }
        }
        sk_text_free(&expected);
    }
    assert_int_equal(refused, (4 * 1 + 4) * catalogue->count); /* SLEAP's rocm, and four of the fixture's */
}

static void told(const sk_ros_request *request, bool usage, const char *const *expected)
{
    sk_problems problems = {0};
    sk_ros_choice choice;
    bool is_usage;
    sk_ros_request_check(catalogue, request, &choice, &is_usage, &problems);
    size_t n = 0;
    for (; expected[n]; n++)
        if (!strstr(sk_text_get(&problems.lines), expected[n]))
            fail_msg("missing: %s\namong:\n%s", expected[n], sk_text_get(&problems.lines));
    assert_int_equal(problems.count, n);
    assert_int_equal(is_usage, usage);
    sk_problems_free(&problems);
}

static void all_problems_of_a_request_are_told_together(void **state)
{
    (void)state;
    told(
        &(sk_ros_request){"nope", "tpu", "Bad-Name!!", "x"}, true,
        (const char *const[]){
            "Unknown model 'nope'. Available: ['flies', 'sleap_bottomup', 'sleap_single', 'sleap_topdown', "
            "'sleap_track', 'yolo', 'yolo_obb', 'yolo_obb_track', 'yolo_pose', 'yolo_pose_track', "
            "'yolo_track']",
            "Unknown backend 'tpu'. Choose from: ['cuda', 'rocm', 'openvino', 'tensorrt', 'onnx', 'cpu']",
            "Invalid package name 'Bad-Name!!': a ROS package name has lower-case letters, digits and single "
            "underscores, begins with a letter and does not end with an underscore: try 'bad_name'",
            NULL});
    told(&(sk_ros_request){"my_depth", "cuda", "p2", "other"}, false,
         (const char *const[]){"is of the family 'depth'", "output.type 'depth_map'",
                               "Unknown variant 'other' for model 'my_depth'. Choose from: ['my_depth_s']",
                               NULL});
    for (const sk_ros_refused *r = sk_ros_refused_models; r->name; r++) {
        char expected[100];
        snprintf(expected, sizeof expected, "Model '%s' is known, but no package can be made for it: it",
                 r->name);
        if (strcmp(r->name, "rtmpose") == 0)
            expected[strlen(expected) - 2] = '\0';
        told(&(sk_ros_request){r->name, "cuda", "pp", NULL}, false, (const char *const[]){expected, NULL});
    }
}

static void package_names_follow_ros(void **state)
{
    (void)state;
    static const char *const good[] = {"fly_watch", "a1", "yolo", "robot2_eyes"};
    static const struct {
        const char *name, *why;
    } bad[] = {{"", "a ROS package name has"},
               {"Fly", "try 'fly'"},
               {"fly-watch", "try 'fly_watch'"},
               {"2fly", "try 'fly'"},
               {"fly__watch", "try 'fly_watch'"},
               {"fly_", "try 'fly'"},
               {"_fly", "try 'fly'"},
               {"../fly", "try 'fly'"},
               {"fly/watch", "try 'fly_watch'"},
               {"fl\xc3\xbcge", "try 'fl_ge'"},
               {"fly\nwatch", "try 'fly_watch'"},
               {"a", "too short"},
               {"int", "C++"},
               {"lambda", "Python"},
               {"test", "the build"},
               {"test_node", "the build"},
               {"rclcpp", "depends on"},
               {"vision_msgs", "depends on"},
               {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "longer"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        (void)choose("yolo", "cpu", NULL, good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        told(&(sk_ros_request){"yolo", "cpu", bad[i].name, NULL}, false,
             (const char *const[]){bad[i].why, NULL});
}

static void a_package_says_what_its_manifest_says(void **state)
{
    (void)state;
    const sk_ros_choice choice = choose("flies", "onnx", "flies_large", "arena_eyes");
    sk_ros_package *package = render(&choice, few);
    assert_string_equal(text_of(package, "package.xml"), "<name>arena_eyes</name>\n");
    assert_string_equal(text_of(package, "include/arena_eyes/arena_eyes_node.hpp"), "class ArenaEyesNode;\n");
    assert_string_equal(text_of(package, "msg/Track.msg"), "int32 id\n");
    static const char *const lines[] = {
        "  weights_path: \"large.pt\"",    "  second_weights_path: \"crops of heads.pt\"",
        "  variant: \"flies_large\"",      "  execution_provider: \"CPUExecutionProvider\"",
        "  input_topic: \"/arena/image\"", "  classes: [0, 2]",
        "  confidence_threshold: 1.0",     "  animals: 8  # flies in the arena",
        "  tracker: \"skitter\"",          "  use_compile: true"};
    const char *params = text_of(package, "config/params.yaml");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(params, lines[i]))
            fail_msg("missing: %s in\n%s", lines[i], params);
    assert_null(strstr(params, "peak_threshold"));
    sk_ros_package_close(&package);

    const sk_ros_choice sleap = choose("sleap_topdown", "tensorrt", NULL, "pose2");
    package = render(&sleap, few);
    params = text_of(package, "config/params.yaml");
    assert_non_null(strstr(params, "  weights_path: \"centroid\""));
    assert_non_null(strstr(params, "  second_weights_path: \"centered_instance\""));
    assert_non_null(strstr(params, "  precision: \"fp16\""));
    assert_non_null(strstr(params, "  peak_threshold: 0.2"));
    assert_null(strstr(params, "iou_threshold"));
    for (size_t i = 0; i < package->count; i++)
        assert_string_not_equal(package->files[i].path, "msg/Track.msg"); /* empty once rendered */
    sk_ros_package_close(&package);
}

static size_t entries_in(const char *folder)
{
    char command[600];
    snprintf(command, sizeof command, "find '%s' -mindepth 1 2>/dev/null | wc -l", folder);
    FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c): a fixed command of the test's own
    size_t n = 0;
    assert_int_equal(fscanf(pipe, "%zu", &n), 1);
    pclose(pipe);
    return n;
}

static void the_same_request_gives_the_same_bytes(void **state)
{
    (void)state;
    char folder[512], *path = NULL, *bytes[2] = {NULL, NULL};
    size_t lengths[2];
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/zips", test_folder());
    for (int i = 0; i < 2; i++) {
        const sk_ros_choice choice = choose("yolo_track", "cuda", NULL, "same_bytes");
        sk_ros_package *package = render(&choice, sk_ros_files);
        assert_ok(sk_ros_write_zip(package, folder, &path, &err), &err);
        assert_non_null(strstr(path, "/zips/same_bytes.zip"));
        assert_ok(sk_file_read(path, 1 << 24, &bytes[i], &lengths[i], &err), &err);
        sk_free(path);
        if (i == 1) {
            sk_zip *zip = NULL;
            assert_ok(sk_zip_open_memory(bytes[1], lengths[1], "zip", &zip, &err), &err);
            assert_int_equal(sk_zip_count(zip), package->count);
            for (size_t f = 0; f < package->count; f++) {
                const sk_zip_entry *entry = sk_zip_at(zip, f);
                const uint8_t *content = NULL;
                sk_blob *hold = NULL;
                assert_true(strncmp(entry->name, "same_bytes/", 11) == 0);
                assert_string_equal(entry->name + 11, package->files[f].path);
                assert_ok(sk_zip_read(zip, entry, &content, &hold, &err), &err);
                assert_int_equal(entry->size, package->files[f].length);
                assert_memory_equal(content, package->files[f].text, package->files[f].length);
                sk_blob_unref(&hold);
            }
            sk_zip_close(&zip);
        }
        sk_ros_package_close(&package);
    }
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(bytes[0], bytes[1], lengths[0]);
    assert_int_equal(entries_in(folder), 1);
    sk_free_all(bytes[0], bytes[1]);
}

static void a_folder_is_there_whole_or_not_at_all(void **state)
{
    (void)state;
    char folder[512], inside[600], *path = NULL, *text = NULL;
    size_t length = 0;
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/folders", test_folder());
    const sk_ros_choice choice = choose("yolo", "cpu", NULL, "whole_one");
    sk_ros_package *package = render(&choice, few);
    assert_ok(sk_ros_write_folder(package, folder, false, &path, &err), &err);
    assert_int_equal(entries_in(folder), 7); /* three files, their folders and the package */
    snprintf(inside, sizeof inside, "%s/include/whole_one/whole_one_node.hpp", path);
    assert_ok(sk_file_read(inside, 1000, &text, &length, &err), &err);
    assert_string_equal(text, "class WholeOneNode;\n");
    sk_free_all(text, path);
    /* a second time only when told, and what else lies there stays */
    assert_int_equal(sk_ros_write_folder(package, folder, false, &path, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "--overwrite"));
    snprintf(inside, sizeof inside, "%s/whole_one/mine.txt", folder);
    assert_ok(sk_file_replace(inside, "x", 1, &err), &err);
    assert_ok(sk_ros_write_folder(package, folder, true, &path, &err), &err);
    assert_int_equal(entries_in(folder), 8);
    sk_free(path);
    /* a file among the files that cannot be written: nothing is left */
    static const sk_ros_file clash[] = {TEMPLATE("package/a", "x"),
                                        TEMPLATE("package/aa/bb/cc/dd", "deep"),
                                        TEMPLATE("package/b/c", "y"),
                                        TEMPLATE("package/b/c/d", "z"),
                                        {0}};
    sk_ros_package_close(&package);
    package = render(&choice, clash);
    snprintf(folder, sizeof folder, "%s/clash", test_folder());
    assert_int_not_equal(sk_ros_write_folder(package, folder, false, &path, &err), SK_OK);
    assert_null(path);
    assert_false(sk_file_exists(folder));
    sk_ros_package_close(&package);
}

static void a_template_s_mistake_writes_nothing(void **state)
{
    (void)state;
    static const sk_ros_file wrong[] = {
        TEMPLATE("package/good", "x"), TEMPLATE("package/bad", "\n{{unknown}}"), {0}};
    sk_ros_package *package = NULL;
    sk_error err = {0};
    const sk_ros_choice choice = choose("yolo", "cpu", NULL, "pp");
    assert_int_equal(sk_ros_render(&choice, wrong, &package, &err), SK_ERR_FORMAT);
    assert_null(package);
    assert_non_null(strstr(err.message, "package/bad:2: there is no value 'unknown'"));
    assert_int_equal(sk_ros_render(&choice, few + 5, &package, &err), SK_ERR_INTERNAL);
}

static sk_status render_zip(void *context, sk_error *err)
{
    sk_catalogue *own = NULL;
    sk_ros_package *package = NULL;
    sk_problems problems = {0};
    sk_ros_choice choice;
    char *path = NULL;
    bool usage;
    sk_status status = sk_catalogue_open(NULL, &own, err);
    if (status == SK_OK) {
        sk_ros_request_check(own, &(sk_ros_request){"yolo_track", "onnx", "pp", NULL}, &choice, &usage,
                             &problems);
        status = sk_ros_render(&choice, few, &package, err);
    }
    if (status == SK_OK)
        status = sk_ros_write_zip(package, context, &path, err);
    sk_free(path);
    sk_problems_free(&problems);
    sk_ros_package_close(&package);
    sk_catalogue_close(&own);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    char folder[512];
    snprintf(folder, sizeof folder, "%s/fault", test_folder());
    assert_true(test_every_allocation(render_zip, folder) > 20);
}

static void own_models_get_a_manifest(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *task, *output;
        bool track;
    } rows[] = {{"share/models/demo-pose.pt", NULL, "pose", "keypoints", false},
                {"share/models/demo-obb.pt", NULL, "obb", "detections", false},
                {"share/models/demo-obb.pt", NULL, "obb", "tracked_objects", true},
                {"share/models/demo-obb.pt", "share/models/demo-pose.pt", "pose", "keypoints", false},
                {"share/models/demo-bottomup", NULL, "bottomup", "keypoints", false},
                {"share/models/onnx/demo-pose.onnx", NULL, "pose", "keypoints", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char first[512], second[512];
        snprintf(first, sizeof first, "%s", test_source(rows[i].first));
        snprintf(second, sizeof second, "%s", rows[i].second ? test_source(rows[i].second) : "");
        const sk_own_manifest what = {.models = {first, rows[i].second ? second : NULL},
                                      .track = rows[i].track};
        sk_text text = {0};
        char *name = NULL;
        sk_error err = {0};
        sk_problems problems = {0};
        sk_manifest *m = NULL;
        assert_ok(sk_own_manifest_write(&what, &text, &name, &err), &err);
        assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "own", &m, &problems, &err), &err);
        assert_non_null(m);
        assert_string_equal(m->task, rows[i].task);
        assert_string_equal(m->output_type, rows[i].output);
        assert_string_equal(m->name, name);
        assert_true(sk_catalogue_runs(m, NULL));
        sk_text a = {0}, b = {0};
        sk_manifest_weights(m, m->task, m->default_variant, &a, &b);
        assert_true(*sk_text_get(&a) == '/' && (*sk_text_get(&b) == '/') == (rows[i].second != NULL));
        sk_text_free(&a);
        sk_text_free(&b);
        sk_free(name);
        sk_text_free(&text);
        sk_manifest_close(&m);
    }
    sk_text text = {0};
    char *name = NULL;
    sk_error err = {0};
    const sk_own_manifest two = {
        .models = {test_source("share/models/demo-pose.pt"), test_source("share/models/demo-obb.pt")}};
    assert_int_equal(sk_own_manifest_write(&two, &text, &name, &err), SK_ERR_UNSUPPORTED);
    const sk_own_manifest hostile = {.models = {test_source("share/models/demo-pose.pt")}, .name = "a: [b"};
    assert_int_equal(sk_own_manifest_write(&hostile, &text, &name, &err), SK_ERR_FORMAT);
    assert_null(name);
    sk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_combination_that_a_manifest_declares_generates),
                                       cmocka_unit_test(everything_else_is_refused_with_what_there_is),
                                       cmocka_unit_test(all_problems_of_a_request_are_told_together),
                                       cmocka_unit_test(package_names_follow_ros),
                                       cmocka_unit_test(a_package_says_what_its_manifest_says),
                                       cmocka_unit_test(the_same_request_gives_the_same_bytes),
                                       cmocka_unit_test(a_folder_is_there_whole_or_not_at_all),
                                       cmocka_unit_test(a_template_s_mistake_writes_nothing),
                                       cmocka_unit_test(own_models_get_a_manifest),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests_name("ros/generate", tests, begin, end);
}
