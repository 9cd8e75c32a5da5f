/* SPDX-License-Identifier: Apache-2.0 */
/* Texts near those that are read: one word of a manifest, a template, a file of parameters or a rule is another, or one line is
 * gone. What becomes of each, in full, is compared with what became of it before: a hash a text, and how many were taken. Where one
 * differs, SKITTER_TEST_SHOW=its name prints everything, to be compared with what an earlier tree prints. */
#include "support/recorded.h"
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/config_make.h"
#include "ros/context.h"
#include "ros/names.h"
#include "ros/own_manifest.h"
#include "ros/params.h"
#include "ros/ros_names.h"
#include "ros/template.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;
static sk_text told; /* what this file compares */

typedef struct log {
    sk_text text;
    int tried, taken;
} log;

/* Machines' own folders and libraries' own words are left out. */
static void say(log *l, const char *message)
{
    const char *words = recorded_own_words(message), *folder = test_folder();
    for (; *words; words++)
        if (strncmp(words, folder, strlen(folder)) == 0)
            words += strlen(folder) - 1;
        else
            sk_text_append_bytes(&l->text, words, 1);
    sk_text_append(&l->text, "\n");
}

static void finish(log *l, const char *name)
{
    sk_text_appendf(&told, "%016llx %4d of %4d taken: %s\n",
                    (unsigned long long)sk_hash_xxh3(sk_text_get(&l->text), l->text.length, 0), l->taken,
                    l->tried, name);
    if (getenv("SKITTER_TEST_SHOW") && strcmp(getenv("SKITTER_TEST_SHOW"), name) == 0)
        fprintf(stderr, "%s", sk_text_get(&l->text));
    sk_text_free(&l->text);
}

/* --- variations --- */

typedef void use_text(const char *text, log *l);

static void use(use_text *how, const char *what, const char *text, log *l)
{
    l->tried++;
    sk_text_appendf(&l->text, "@ %s\n", what);
    err = (sk_error){0};
    how(text, l);
}

/* The text as it is; each word another, and gone; each line gone, and twice. */
static void vary(const char *text, const char *const *words, use_text *how, log *l)
{
    const size_t n = strlen(text);
    char *copy = malloc(2 * n + 256), what[128];
    use(how, "as it is", text, l);
    for (size_t at = 0; at < n;) {
        size_t end = at;
        while (end < n && (isalnum((unsigned char)text[end]) || strchr("_./-", text[end])))
            end++;
        if (end == at) {
            at++;
            continue;
        }
        for (const char *const *w = words; *w; w++) {
            snprintf(copy, 2 * n + 256, "%.*s%s%s", (int)at, text, *w, text + end);
            snprintf(what, sizeof what, "%zu %.*s -> '%s'", at, (int)(end - at), text + at, *w);
            use(how, what, copy, l);
        }
        at = end;
    }
    for (size_t at = 0, line = 1; at < n; line++) {
        const size_t end = at + strcspn(text + at, "\n") + 1;
        snprintf(copy, 2 * n + 256, "%.*s%s", (int)at, text, end < n ? text + end : "");
        snprintf(what, sizeof what, "without line %zu", line);
        use(how, what, copy, l);
        snprintf(copy, 2 * n + 256, "%.*s%s", (int)(end < n ? end : n), text, text + at);
        snprintf(what, sizeof what, "line %zu twice", line);
        use(how, what, copy, l);
        at = end;
    }
    free(copy);
}

/* --- manifests --- */

static void dump(const sk_config_value *v, sk_text *out)
{
    char number[SK_TEXT_NUMBER];
    switch (v->kind) {
    case SK_CONFIG_MAP:
        for (size_t i = 0; i < v->length; i++) {
            sk_text_appendf(out, "%s{", v->u.pairs[i].name);
            if (strcmp(v->u.pairs[i].name, "skitter_version") != 0)
                dump(v->u.pairs[i].value, out);
            sk_text_append(out, "}");
        }
        break;
    case SK_CONFIG_LIST:
        for (size_t i = 0; i < v->length; i++) {
            sk_text_append(out, "-");
            dump(v->u.items[i], out);
        }
        break;
    case SK_CONFIG_BOOL: sk_text_append(out, v->u.boolean ? "true" : "false"); break;
    case SK_CONFIG_INT: sk_text_appendf(out, "%lld", (long long)v->u.integer); break;
    case SK_CONFIG_REAL: sk_text_append(out, sk_text_number(v->u.real, 9, number, sizeof number)); break;
    case SK_CONFIG_STRING: sk_text_appendf(out, "'%s'", v->u.text); break;
    default: sk_text_append(out, "null"); break;
    }
}

static void use_manifest(const char *text, log *l)
{
    static const char *const backends[][2] = {{"cpu", "cpu"}, {"onnx", "onnx_cpu"}};
    sk_manifest *m = NULL;
    sk_problems problems = {0};
    sk_ros_choice choice = {.package_name = "fly_watch"};
    const sk_status status = sk_manifest_open(text, strlen(text), "m.yaml", &m, &problems, &err);
    if (m)
        sk_manifest_meaning(m, &choice.meaning, &problems);
    if (status != SK_OK)
        say(l, err.message);
    say(l, sk_text_get(&problems.lines));
    choice.manifest = m;
    for (size_t i = 0; m && !problems.count && i < 2; i++) {
        sk_config *context = NULL;
        choice.backend = backends[i][0];
        choice.runtime = backends[i][1];
        choice.variant = m->variants.items[i % m->variants.count];
        assert_ok(sk_ros_context(&choice, &context, &err), &err);
        dump(sk_config_root(context), &l->text);
        sk_text_append(&l->text, "\n");
        l->taken += i == 0;
        sk_config_close(&context);
    }
    sk_problems_free(&problems);
    sk_manifest_close(&m);
}

/* Without its comments, whose words mean nothing. */
static char *read_manifest(const char *path)
{
    char *text = NULL, *to;
    size_t length = 0;
    assert_ok(sk_file_read(test_source(path), 1 << 20, &text, &length, &err), &err);
    to = text;
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        if (line[strspn(line, " ")] != '#') {
            memmove(to, line, n);
            to += n;
        }
        line += n;
    }
    *to = '\0';
    return text;
}

static void manifests(void **state)
{
    (void)state;
    static const char *const words[] = {"", "x", "7", "[x]", "{x: 7}", "two words", NULL};
    static const char *const files[] = {"tests/fixtures/ros/models/flies/manifest.yaml",
                                        "share/ros/models/sleap_topdown/manifest.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        log l = {0};
        char *text = read_manifest(files[i]);
        vary(text, words, use_manifest, &l);
        finish(&l, files[i]);
        sk_free(text);
    }
}

/* --- templates --- */

static sk_config *values;

static void use_template(const char *text, log *l)
{
    sk_text out = {0};
    if (sk_template_render(text, strlen(text), "t", sk_config_root(values), &out, &err) == SK_OK)
        l->taken++;
    else
        say(l, err.message);
    sk_text_append(&l->text, sk_text_get(&out));
    sk_text_append(&l->text, "\n");
    sk_text_free(&out);
}

static void templates(void **state)
{
    (void)state;
    static const char *const words[] = {
        "",      "x",     "name", "hostile",    "empty",      "yes",   "numbers", "none", "model",
        "cpp",   "py",    "yaml", "cmake",      "xml",        "md",    "code",    "sh",   "comment",
        "third", ".name", "..",   "model.name", "parameters", "count", "a b",     NULL};
    static const char text[] =
        "{{! a note }}\n"
        "package {{name}} of {{model.name|cpp}}: {{hostile|md}} {{count|yaml}}\n"
        "{{#parameters}}\n"
        "  {{@index}} {{.name|py}}{{^@last}},{{/@last}}{{#@first}} first{{/@first}}\n"
        "  {{#.choices}}{{.|sh}} {{/.choices}}\n"
        "{{/parameters}}\n"
        "{{^none}}nothing{{/none}} {{#yes}}yes{{/yes}}{{#no}}no{{/no}} {{#name=fly_watch}}it{{/name}}\n"
        "{{^name=x}}another{{/name}} {{#model}}{{.name}}{{/model}} {{numbers|cpp}} {{quarter}} { {x}\n";
    sk_maker m;
    sk_make_begin(&m, "test");
    sk_make_text(&m, "name", "fly_watch");
    sk_make_text(&m, "hostile", "a\"b'\\c\n</x>--*/`$|& \xc3\xa4 _*#<!-- ]]> %d\t\x01");
    sk_make_text(&m, "empty", "");
    sk_make_bool(&m, "yes", true);
    sk_make_bool(&m, "no", false);
    sk_make_real(&m, "quarter", 0.25);
    sk_make_real(&m, "third", 1.0 / 3);
    sk_make_int(&m, "count", -3);
    sk_make_list(&m, "none");
    sk_make_close(&m);
    sk_make_list(&m, "numbers");
    sk_make_int(&m, NULL, 0);
    sk_make_int(&m, NULL, 2);
    sk_make_close(&m);
    sk_make_map(&m, "model");
    sk_make_text(&m, "name", "yolo");
    sk_make_close(&m);
    sk_make_list(&m, "parameters");
    for (int i = 0; i < 3; i++) {
        sk_make_map(&m, NULL);
        sk_make_text(&m, "name", i == 0 ? "conf" : i == 1 ? "topic" : "it's");
        sk_make_list(&m, "choices");
        for (int k = 0; k < i; k++)
            sk_make_text(&m, NULL, k ? "two words" : "raw");
        sk_make_close(&m);
        sk_make_close(&m);
    }
    sk_make_close(&m);
    assert_ok(sk_make_finish(&m, &values, &err), &err);
    log l = {0};
    vary(text, words, use_template, &l);
    /* every value by every filter */
    static const char *const names[] = {"name",  "hostile", "empty",   "yes",   "quarter",   "third",
                                        "count", "none",    "numbers", "model", "parameters"};
    static const char *const filters[] = {"",    "|cpp",  "|py", "|yaml",    "|cmake", "|xml",
                                          "|md", "|code", "|sh", "|comment", "|none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof filters / sizeof *filters; k++) {
            char tag[64];
            snprintf(tag, sizeof tag, "{{%s%s}}", names[i], filters[k]);
            use(use_template, tag, tag, &l);
        }
    finish(&l, "templates");
    sk_config_close(&values);
}

/* --- parameters --- */

static void put_params(sk_params *params, log *l)
{
    sk_param_about a;
    for (int32_t i = 0; sk_params_at(params, i, &a); i++) {
        sk_text_appendf(&l->text, "%s=%d,%lld,%g,'%s'", a.row.name, a.value.truth, (long long)a.value.number,
                        a.value.real, a.value.text);
        for (size_t k = 0; k < a.value.count; k++)
            sk_text_appendf(&l->text, ";%lld", (long long)a.value.list[k]);
    }
    sk_text_append(&l->text, "\n");
}

static void use_parameter_file(const char *text, log *l)
{
    char path[4200];
    sk_params *params = NULL;
    sk_ros_names names;
    sk_problems problems = {0};
    snprintf(path, sizeof path, "%s/p.yaml", test_folder());
    assert_ok(sk_file_put(path, text, strlen(text), &err), &err);
    assert_ok(sk_params_open(&params, &err), &err);
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    if (sk_params_read_file(params, path, &names, &problems, &err) != SK_OK)
        say(l, err.message);
    else
        l->taken += problems.count == 0;
    say(l, sk_text_get(&problems.lines));
    put_params(params, l);
    sk_problems_free(&problems);
    sk_params_close(&params);
}

static void use_rule(const char *text, log *l)
{
    sk_params *params = NULL;
    assert_ok(sk_params_open(&params, &err), &err);
    if (sk_params_put_rule(params, text, &err) == SK_OK)
        l->taken++;
    else
        say(l, err.message);
    put_params(params, l);
    sk_params_close(&params);
}

static void parameters(void **state)
{
    (void)state;
    static const char *const words[] = {"",        "x",      "7",   "-1",     "1.5",
                                        "true",    "[1, 2]", "[]",  "{a: 1}", "'7'",
                                        "\"x y\"", "~",      "1e3", "0x10",   "9999999999999999999",
                                        NULL};
    static const char text[] =
        "/**:\n  ros__parameters:\n    use_sim_time: true\n    other: 3\n    frame_skip: 1\n"
        "eye:\n  ros__parameters:\n    iou_threshold: 0.5\n"
        "/left/eye:\n  ros__parameters:\n    confidence_threshold: 0.75\n    classes: [1, 2]\n"
        "    input_topic: /front/image\n    qos_reliability: reliable\n    max_detections: 12\n"
        "/right/*:\n  ros__parameters:\n    frame_skip: 9\n";
    log l = {0};
    vary(text, words, use_parameter_file, &l);
    finish(&l, "files of parameters");
    log rules = {0};
    sk_params *params = NULL;
    assert_ok(sk_params_open(&params, &err), &err);
    sk_param_about a;
    for (int32_t i = 0; sk_params_at(params, i, &a); i++)
        for (const char *const *w = words; *w; w++) {
            char rule[256];
            snprintf(rule, sizeof rule, "%s:=%s", a.row.name, *w);
            use(use_rule, rule, rule, &rules);
        }
    sk_params_close(&params);
    static const char *const odd[] = {"",
                                      ":=",
                                      "x",
                                      "x:=",
                                      ":=7",
                                      "frame_skip=7",
                                      "frame_skip:7",
                                      "frame_skip:=7:=8",
                                      " frame_skip:=7",
                                      "frame_skip:= 7",
                                      "Frame_skip:=7"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        use(use_rule, odd[i], odd[i], &rules);
    finish(&rules, "rules of parameters");
}

/* --- names --- */

static void put_name(const char *name, log *l)
{
    char why[300] = "";
    sk_text camel = {0};
    sk_ros_camel_case(name, &camel);
    const bool package = sk_ros_package_name(name, why, sizeof why);
    sk_text_appendf(&l->text, "'%s' %d %s %d %d %d %d '%s'\n", name, package, package ? "" : why,
                    sk_ros_topic_name(name), sk_ros_parameter_name(name), sk_ros_type_name(name),
                    sk_ros_names_is_part(name), sk_text_get(&camel));
    l->tried++;
    l->taken += package;
    sk_text_free(&camel);
}

static void use_remap(const char *text, log *l)
{
    static const char *const topics[] = {
        "image", "/image", "~/image",         "out/image", "/left/image", "image/compressed",
        "",      "a b",    "/left/eye/image", "~"};
    static const char *const patterns[] = {
        "**",          "/**",   "eye",       "/left/eye", "/*/eye",  "*",          "/left/*",  "/left/**",
        "left/eye",    "/eye",  "",          "e*",        "/**/eye", "/left/eyes", "/lef/eye", "/leftx/eye",
        "/left/eye/x", "/left", "/left/*/x", "/*/*",      "/*/*/*",  "/**/x",      "/**/**",   "//eye",
        "/left/eye/**"};
    sk_ros_names names;
    char whole[2 * SK_ROS_NAME], out[SK_ROS_NAME];
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    if (sk_ros_names_remap(&names, text, &err) == SK_OK)
        l->taken++;
    else
        say(l, err.message);
    sk_ros_names_whole(&names, whole);
    sk_text_appendf(&l->text, "%s %d:", whole, names.n_remaps);
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        const sk_status resolved = sk_ros_names_resolve(&names, topics[i], out, &err);
        sk_text_appendf(&l->text, " %s", resolved == SK_OK ? out : err.message);
        const sk_status sent = sk_ros_names_resolve_transport(&names, topics[i], "compressed", out, &err);
        sk_text_appendf(&l->text, " %s", sent == SK_OK ? out : "-");
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        sk_text_appendf(&l->text, "%d", sk_ros_names_meant(&names, patterns[i]));
    sk_text_append(&l->text, "\n");
}

static void names(void **state)
{
    (void)state;
    static const char *const all[] = {"",
                                      "a",
                                      "ab",
                                      "a1",
                                      "1a",
                                      "A",
                                      "aB",
                                      "a_b",
                                      "a__b",
                                      "_a",
                                      "a_",
                                      "a-b",
                                      "a.b",
                                      "a/b",
                                      "/a",
                                      "a/",
                                      "/",
                                      "//",
                                      "~",
                                      "~/a",
                                      "~a",
                                      "a b",
                                      "/a/1b",
                                      "/a/b_",
                                      "/a/_b",
                                      "a..b",
                                      ".a",
                                      "a.",
                                      "tracker.gate",
                                      "a.1b",
                                      "class",
                                      "import",
                                      "project",
                                      "std_msgs",
                                      "test",
                                      "vision_msgs",
                                      "skitter",
                                      "skitter_msgs",
                                      "pkg/msg/T",
                                      "pkg/T",
                                      "T",
                                      "pkg/srv/T",
                                      "pkg/msg/t",
                                      "Pkg/T",
                                      "pkg/msg/",
                                      "pkg//T",
                                      "pkg/msg/T/x",
                                      "T1",
                                      "1T",
                                      "T_x",
                                      "fly_watch",
                                      "fly__watch",
                                      "x_y_z9",
                                      "{a}",
                                      "/a/{b}",
                                      "int",
                                      "lambda",
                                      "double",
                                      "main",
                                      "rclcpp",
                                      "1/b",
                                      "-/b",
                                      "~ab",
                                      "~1",
                                      "~/",
                                      "~/1",
                                      "~//a",
                                      "none",
                                      "true"};
    log l = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_name(all[i], &l);
    for (int n = SK_ROS_PACKAGE_LENGTH - 1; n <= SK_ROS_PACKAGE_LENGTH + 1; n++) {
        char longest[128];
        memset(longest, 'a', sizeof longest);
        longest[n] = '\0';
        put_name(longest, &l);
    }
    finish(&l, "names");
    static const char *const rules[] = {"image:=/camera/image",
                                        "__node:=ear",
                                        "__ns:=/right",
                                        "__name:=ear",
                                        "eye:image:=x",
                                        "ear:image:=x",
                                        "image:=~/x",
                                        "/left/image:=y",
                                        "~/image:=z",
                                        "image/compressed:=/c",
                                        "image:=",
                                        ":=x",
                                        "image",
                                        "a b:=c",
                                        "image:=a b",
                                        "__node:=1x",
                                        "__node:=",
                                        "__ns:=right",
                                        "__ns:=/",
                                        "__ns:=",
                                        "__ns:=/a//b",
                                        "__other:=x",
                                        "image:=image",
                                        "x:y:z:=w",
                                        "image:=/a/",
                                        "rostopic://image:=x"};
    log remaps = {0};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        use(use_remap, rules[i], rules[i], &remaps);
    finish(&remaps, "remappings");
}

/* --- manifests of one's own models --- */

static void own_manifests(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB", "Segment", "Classify"};
    static const char *const folders[] = {"sleap_nn/unet_bottomup_transposed", "sleap_nn/unet_class_vectors",
                                          "sleap_nn/unet_single_kernel5_convs3", "sleap_keras/vectors"};
    enum { N = 9 };
    static char paths[N][4200];
    for (int i = 0; i < 5; i++) {
        const yolo_fixture f = {.head = heads[i], .f32 = true, .imgsz = 64};
        char name[64];
        snprintf(name, sizeof name, "My %s-model.v%d.pt", heads[i], i);
        snprintf(paths[i], sizeof paths[i], "%s", yolo_save(&f, name));
    }
    for (int i = 0; i < 4; i++) {
        char name[128];
        snprintf(name, sizeof name, "tests/fixtures/%s%s", folders[i], i == 1 ? "/" : "");
        snprintf(paths[5 + i], sizeof paths[0], "%s", test_source(name));
    }
    log l = {0};
    for (int i = 0; i < N; i++)
        for (int k = -1; k < N; k++)
            for (int more = 0; more < (k < 0 ? 3 : 1); more++) {
                const sk_own_manifest what = {.models = {paths[i], k < 0 ? NULL : paths[k]},
                                              .name = more == 1 ? "given" : NULL,
                                              .track = more == 2};
                sk_text text = {0};
                char *name = NULL;
                l.tried++;
                sk_text_appendf(&l.text, "@ %d %d %d\n", i, k, more);
                if (sk_own_manifest_write(&what, &text, &name, &err) == SK_OK) {
                    l.taken++;
                    sk_text_appendf(&l.text, "%s\n", name);
                    for (char *line = text.data, *end; line && *line;
                         line = end + 1) { /* but paths and versions */
                        end = strchr(line, '\n');
                        if (!memmem(line, (size_t)(end - line), "/", 1) &&
                            !memmem(line, (size_t)(end - line), "skitter", 7))
                            sk_text_append_bytes(&l.text, line, (size_t)(end - line) + 1);
                    }
                } else {
                    const char *why = strstr(err.message, ": "); /* behind the path */
                    sk_text_appendf(&l.text, "%s\n", why ? why : err.message);
                }
                sk_text_free(&text);
                sk_free(name);
            }
    finish(&l, "own manifests");
    test_text_is("tests/ros/near_texts.txt", sk_text_get(&told));
    sk_text_free(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(manifests), cmocka_unit_test(templates),
                                       cmocka_unit_test(parameters), cmocka_unit_test(names),
                                       cmocka_unit_test(own_manifests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
