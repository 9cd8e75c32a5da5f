/* SPDX-License-Identifier: Apache-2.0 */
/* What 'skitter ros' tells of manifests of the user's own: those that cannot be read, those that nothing runs, those that take the place
 * of one that is known. */
#include "said.h"

#include "base/file.h"
#include "base/memory.h"
#include "support/yolo_writer.h"

static said s;
static sk_error err;

static void replace(char *text, size_t capacity, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_true(strlen(text) + strlen(to) < capacity);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

/* The manifest of yolo under another name, for another task. */
static void put(const char *folder, const char *name, const char *task)
{
    static char text[16384];
    char *own = NULL, path[256], line[128];
    size_t length = 0;
    assert_ok(sk_file_read(test_source("share/ros/models/yolo/manifest.yaml"), sizeof text - 512, &own,
                           &length, &err),
              &err);
    snprintf(text, sizeof text, "%s", own);
    sk_free(own);
    snprintf(line, sizeof line, "name: %s\n", name);
    replace(text, sizeof text, "name: yolo\n", line);
    snprintf(line, sizeof line, "task: %s\n", task);
    replace(text, sizeof text, "task: detect\n", line);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_folder_make(path, &err), &err);
    snprintf(path, sizeof path, "%s/%s/manifest.yaml", folder, name);
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void models_are_listed(void **state)
{
    (void)state;
    put("theirs", "mine", "detect");
    put("theirs", "rtmpose", "detect"); /* known as one that no package can be made for: here it can */
    put("theirs", "depth_anything", "nonsense"); /* … and here it cannot */
    SAID_OK(&s, "ros list-models");
    assert_int_equal(count(s.out, "Available models:\n\n"), 1);
    assert_int_equal(count(s.out, "Known, but no package can be made for:\n\n"), 1);
    assert_int_equal(count(s.out, "\n  rtmpose "), 1);
    assert_true(strstr(s.out, "\n  rtmpose ") > strstr(s.out, "Known, but"));
    assert_int_equal(count(s.out, "\n  depth_anything            it estimates depth, "), 1);
    assert_string_equal(s.err, "");
    SAID_OK(&s, "ros list-models --models theirs");
    said_has(s.out, "\n  mine                      detections           (20 variants)\n");
    assert_int_equal(count(s.out, "\n  rtmpose "), 1);
    assert_true(strstr(s.out, "\n  rtmpose ") < strstr(s.out, "Known, but"));
    assert_int_equal(count(s.out, "depth_anything "), 1);
    assert_string_equal(s.err, ""); /* why is said in the list of the known ones */
    put("theirs", "strange", "nonsense");
    SAID_OK(&s, "ros list-models --models theirs");
    said_lacks(s.out, "strange");
    said_has(s.err, "skitter: warning: ");
    said_has(s.err, "strange");
    assert_int_equal(count(s.err, "\n"), 1);
    SAID_OK(&s, "ros list-models --models theirs --json");
    said_has(s.out, "\"name\": \"mine\",\n      \"output\": \"detections\",\n      \"family\": "
                    "\"ultralytics\",\n      \"manifest\": \"theirs/mine/manifest.yaml\",\n      "
                    "\"variants\": 20,\n      \"why_not\": null\n");
    said_has(s.out, "\"manifest\": \"theirs/strange/manifest.yaml\",\n      \"variants\": 20,\n      "
                    "\"why_not\": \"");
    said_has(s.out,
             "{\n      \"name\": \"depth_anything\",\n      \"output\": \"depth_map\",\n      \"why\": "
             "\"it estimates depth, ");
    assert_int_equal(count(s.out, "\"name\": \"rtmpose\""), 1);
    assert_string_equal(s.err, "");
}

static void one_that_cannot_be_read(void **state)
{
    (void)state;
    put("some", "mine", "detect");
    assert_ok(sk_folder_make("some/odd", &err), &err);
    assert_ok(sk_file_replace("some/odd/manifest.yaml", "name: odd\n", 10, &err), &err);
    SAID_REFUSES(&s, SK_ERR_FORMAT, "not every manifest of 'some' can be used",
                 "ros list-models --models some");
    said_has(s.err, "Error: some/odd/manifest.yaml");
    said_has(s.out, "\n  mine ");
    const int problems = count(s.err, "Error: ");
    SAID_REFUSES(&s, SK_ERR_FORMAT, "not every manifest of 'some' can be used",
                 "ros list-models --models some --json");
    said_has(s.out, "  \"errors\": [\n    \"some/odd/manifest.yaml");
    assert_int_equal(count(s.err, "Error: "), problems);
    /* it may be the one that is asked for */
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "there is no model 'odd'", "ros info odd --models some");
    assert_int_equal(count(s.err, "Error: some/odd/manifest.yaml"), problems);
    said_has(s.err, "Unknown model: odd\nAvailable: ");
    said_has(s.err, "mine");
    SAID_OK(&s, "ros info mine --models some");
    assert_string_equal(s.err, "");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND,
                 "Model 'florence' is known, but no package can be made for it: it answers",
                 "ros info florence --models some");
    assert_string_equal(s.err, "");
    SAID_REFUSES(&s, SK_ERR_FORMAT, "nothing was generated",
                 "ros generate --models some --model odd --backend onnx --package-name pack");
    assert_int_equal(count(s.err, "Error: some/odd/manifest.yaml"), problems);
    assert_int_equal(count(s.err, "Error: "), problems + 1);
    SAID_REFUSES(&s, SK_ERR_FORMAT, "nothing was generated",
                 "ros generate --models some --model mine --backend onnx --package-name pack --variant none");
    said_lacks(s.err, "odd"); /* it has nothing to do with it */
    assert_string_equal(s.out, "");
    SAID_REFUSES(&s, SK_ERR_ARG, "nothing was generated",
                 "ros generate --models some --model mine --backend none --package-name pack");
    SAID_OK(&s, "ros generate --models some --model mine --backend onnx --package-name pack -o made");
    assert_int_equal(count(s.err, "skitter: warning: some/odd/manifest.yaml"), problems);
    said_lacks(s.err, "Error");
    assert_true(sk_file_is_regular("made/pack.zip"));
    SAID_OK(&s, "ros generate --model yolo --backend onnx --package-name pack --dry-run");
    said_has(s.out, "Would generate: output/pack.zip\n");
    SAID_OK(&s, "ros generate --model yolo --backend onnx --package-name pack --json -o made");
    said_has(s.out, "\"generated\": \"made/pack.zip\"");
    said_has(s.out, "\"format\": \"zip\"");
    said_has(s.out, "  \"errors\": []\n}\n");
}

static void manifests(void **state)
{
    (void)state;
    static char first[SAID_MOST];
    char boxes[4300], poses[4300];
    const yolo_fixture fixtures[] = {{.head = "Detect", .f32 = true, .imgsz = 32},
                                     {.head = "Pose", .f32 = true, .imgsz = 32}};
    snprintf(boxes, sizeof boxes, "%s", yolo_save(&fixtures[0], "boxes.pt"));
    snprintf(poses, sizeof poses, "%s", yolo_save(&fixtures[1], "poses.pt"));
    SAID_OK(&s, "ros manifest %s", boxes);
    said_has(s.out, "name: boxes\n");
    snprintf(first, sizeof first, "%s", s.out);
    SAID_OK(&s, "ros manifest %s -o kept -q", boxes);
    assert_string_equal(s.out, "Wrote: kept/boxes/manifest.yaml\n");
    assert_string_equal(s.err, "");
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("kept/boxes/manifest.yaml", 1 << 20, &text, &length, &err), &err);
    assert_string_equal(text, first);
    sk_free(text);
    SAID_OK(&s, "ros manifest %s --track", boxes);
    assert_string_not_equal(s.out, first);
    SAID_OK(&s, "ros manifest %s %s --model pair", boxes, poses);
    said_has(s.out, "name: pair\n");
    said_has(s.out, "poses");
    static const char *const others[] = {"backend b", "variant v", "package-name p",
                                         "models .",  "dry-run",   "json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char words[64];
        snprintf(words, sizeof words, "'skitter ros manifest' has no option --%.*s",
                 (int)strcspn(others[i], " "), others[i]);
        SAID_REFUSES(&s, SK_ERR_ARG, words, "ros manifest %s --%s", boxes, others[i]);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_are_listed),
                                       cmocka_unit_test(one_that_cannot_be_read),
                                       cmocka_unit_test(manifests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
