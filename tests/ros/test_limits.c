/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, texts and names of manifests and of ROS at exactly their number, and one above it; words of what is wrong with a section. */
#include "support/fault.h"

#include "base/memory.h"
#include "ros/catalogue.h"
#include "ros/names.h"
#include "ros/told.h"

#include <stdio.h>

enum { MOST = SK_MANIFEST_MAX_ITEMS };

static sk_error err;

/* A list of so many items, each with its number in it. */
static void put_items(sk_text *text, const char *before, const char *after, size_t count)
{
    sk_text_append(text, "[");
    for (size_t i = 0; i < count; i++)
        sk_text_appendf(text, "%s%s%zu%s", i ? "," : "", before, i, after);
    sk_text_append(text, "]");
}

typedef struct listed {
    const char *place, *before, *after;
    const char *model, *source, *output, *ros; /* what stands before the list, in its section */
} listed;

static const listed lists[] = {
    {"model.variants", "x", "", .model = ", variants: "},
    {"source.alternatives", "x", "", .source = ", alternatives: "},
    {"output.class_names", "x", "", .output = ", class_names: "},
    {"output.keypoint_names", "x", "", .output = ", keypoint_names: "},
    {"ros.publishers", "{topic: a", ", msg_type: DetectionArray}", .ros = "publishers: "},
    {"ros.subscribers", "{topic: a", ", msg_type: sensor_msgs/Image}", .ros = "subscribers: "},
    {"ros.services", "{name: a", ", srv_type: B}", .ros = "services: "},
    {"ros.parameters", "{name: a", ", type: int, default: 1}", .ros = "parameters: "},
};

static void write_manifest(const listed *l, size_t count, sk_text *text)
{
    const char *const before[] = {l->model, l->source, l->output, l->ros};
    static const char *const sections[] = {"model: {name: x, family: ultralytics, default_variant: x0",
                                           "source: {type: a, repo: b", "output: {type: detections",
                                           "ros: {"};
    sk_text_append(text, "input: {}\n");
    for (int i = 0; i < 4; i++) {
        sk_text_append(text, sections[i]);
        if (before[i]) {
            sk_text_append(text, before[i]);
            put_items(text, l->before, l->after, count);
        }
        sk_text_append(text, i == 0 && !before[0] ? ", variants: [x0]}\n" : "}\n");
    }
}

static void lists_have_so_many_items_and_no_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t more = 0; more < 2; more++) {
            sk_text text = {0};
            sk_problems problems = {0};
            sk_manifest *m = NULL;
            char words[80];
            write_manifest(&lists[i], MOST + more, &text);
            snprintf(words, sizeof words, ": %s has more than %d items\n", lists[i].place, (int)MOST);
            assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "m.yaml", &m, &problems, &err), &err);
            if ((m != NULL) == (more == 1) || (strstr(sk_text_get(&problems.lines), words) != NULL) != more)
                fail_msg("%s of %zu: %s", lists[i].place, MOST + more, sk_text_get(&problems.lines));
            if (m)
                assert_int_equal(m->variants.count + m->alternatives.count + m->class_names.count +
                                     m->keypoint_names.count + m->n_publishers + m->n_subscribers +
                                     m->n_services + m->n_parameters,
                                 MOST + (lists[i].model == NULL));
            sk_manifest_close(&m);
            sk_problems_free(&problems);
            sk_text_free(&text);
        }
}

static bool is_taken(const char *text, size_t length, const char *words)
{
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    assert_ok(sk_manifest_open(text, length, "m.yaml", &m, &problems, &err), &err);
    const bool taken = m != NULL;
    assert_int_equal(taken, problems.count == 0);
    if (!taken && !strstr(sk_text_get(&problems.lines), words))
        fail_msg("%s: %s", words, sk_text_get(&problems.lines));
    sk_manifest_close(&m);
    sk_problems_free(&problems);
    return taken;
}

static void texts_have_so_many_bytes_and_values(void **state)
{
    (void)state;
    static const char head[] = HEAD "ros: {}\n#";
    const size_t most = SK_MANIFEST_MAX_BYTES;
    char *whole = sk_malloc(most + 2);
    memset(whole, 'x', most + 2);
    memcpy(whole, head, sizeof head - 1);
    whole[most - 1] = whole[most] = '\n';
    assert_true(is_taken(whole, most, ""));
    assert_false(is_taken(whole, most + 1, "m.yaml: 1048577 bytes are more than a manifest has (1048576)\n"));
    sk_free(whole);
    /* a section, twelve values of HEAD with its lists' items, ros, the last key's list, and what is in it */
    for (size_t more = 0; more < 2; more++) {
        sk_text text = {0};
        const size_t others = 1 + 5 + 4 + 1 + 2 + 1 + 1;
        sk_text_append(&text, HEAD "ros: {}\nmore: ");
        put_items(&text, "", "", 100000 - others + more);
        assert_int_equal(is_taken(sk_text_get(&text), text.length, ": more than 100000 values\n"), !more);
        sk_text_free(&text);
    }
}

/* Names that land in paths: of a hundred letters, and of these letters. */
static void words_are_short_and_safe(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int times;
        bool good;
    } rows[] = {{"x", 100, true}, {"x", 101, false}, {"A-z_0.9", 1, true}, {"9", 1, true},  {"_a", 1, false},
                {".a", 1, false}, {"a/b", 1, false}, {"a b", 1, false},    {"a+", 1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int place = 0; place < 2; place++) {
            sk_text name = {0}, text = {0};
            for (int k = 0; k < rows[i].times; k++)
                sk_text_append(&name, rows[i].name);
            sk_text_appendf(&text,
                            "model: {name: '%s', family: ultralytics, variants: ['%s'], default_variant: "
                            "'%s'}\nsource: {type: a, repo: b}\ninput: {}\noutput: {type: detections}\n"
                            "ros: {}\n",
                            place ? "x" : sk_text_get(&name), place ? sk_text_get(&name) : "x",
                            place ? sk_text_get(&name) : "x");
            if (is_taken(sk_text_get(&text), text.length,
                         "has other characters than letters, digits, '_', '-' and '.'") != rows[i].good)
                fail_msg("%s", sk_text_get(&name));
            sk_text_free(&name);
            sk_text_free(&text);
        }
}

/* One wrong thing each, told once, at its place. */
static void every_section_is_told_in_words(void **state)
{
    (void)state;
#define MODEL  "model: {name: x, family: ultralytics, variants: [x], default_variant: x%s}\n"
#define SOURCE "source: {type: a, repo: b%s}\n"
#define OUTPUT "output: {type: detections%s}\n"
    static const struct {
        const char *model, *source, *output, *ros, *problem;
    } rows[] = {
        {", backends: []", "", "", "", "m.yaml:1:84: model.backends is empty: the model could run nowhere\n"},
        {", backends: [cpu, cpu]", "", "", "", "m.yaml:1:90: model.backends: 'cpu' is there twice\n"},
        {", task: 3", "", "", "", ": model.task must be a text, and is a number: put it in quotation marks"},
        {", task: true", "", "", "",
         ": model.task must be a text, and is a truth: put it in quotation marks"},
        {", task: []", "", "", "", "m.yaml:1:80: model.task must be a text, and is a list\n"},
        {", task: {}", "", "", "", "m.yaml:1:80: model.task must be a text, and is a section\n"},
        {", task: 0.5", "", "", "", ": model.task must be a text, and is a number: put it in"},
        {", task: ~", "", "", "", ": model.task must be a text, and is nothing: put it in quotation marks\n"},
        {"", ", alternatives: [a, '']", "", "", ": source.alternatives[1] must be a text\n"},
        {"", ", alternatives: [3]", "", "", ": source.alternatives[0] must be a text\n"},
        {"", ", weights: {y: a.pt}", "", "", ": source.weights: 'y' is none of model.variants\n"},
        {"", ", weights: {x: []}", "", "", ": source.weights.x must be the name of a file or folder, or a"},
        {"", ", weights: {x: [a, b, c]}", "", "", ": source.weights.x must be the name of a file or folder"},
        {"", ", weights: {x: [a, 3]}", "", "", ": source.weights.x must be the name of a file or folder"},
        {"", ", weights: {x: 3}", "", "",
         ": source.weights.x must be the name of a file or folder, or a list"},
        {"", ", weights: {x: [a]}", "", "", NULL},
        {"", ", weights: {x: [a, b]}", "", "", NULL},
        {"", ", weights: {x: a}", "", "", NULL},
        {"", "", ", fields: [3]", "", ": output.fields[0] must be a section\n"},
        {"", "", ", fields: [{name: a, dtype: b, shape: []}, c]", "", ": output.fields[1] must be a section"},
        {"", "", ", keypoint_names: {a: [b]}", "", NULL},
        {"", "", ", fields: [{name: a, dtype: b, shape: x}]", "", ": output.fields[0].shape must be a list"},
        {"", "", ", skeleton: [[0, 65535], [65535, 0]]", "", NULL},
        {"", "", ", skeleton: [[0, 1], [0, 65536]]", "",
         ": output.skeleton[1] must be two numbers of keypoints\n"},
        {"", "", ", skeleton: [[65536, 0]]", "", ": output.skeleton[0] must be two numbers of keypoints\n"},
        {"", "", ", skeleton: [[-1, 0]]", "", ": output.skeleton[0] must be two numbers of keypoints\n"},
        {"", "", ", skeleton: [[0, -1], 3]", "", ": output.skeleton[0] must be two numbers of keypoints\n"},
        {"", "", ", skeleton: [[0, 1, 2]]", "", ": output.skeleton[0] must be two numbers of keypoints\n"},
        {"", "", ", skeleton: [[0]]", "", ": output.skeleton[0] must be two numbers of keypoints\n"},
        {"", "", ", skeleton: [[0, x]]", "", ": output.skeleton[0] must be two numbers of keypoints\n"},
        {"", "", "", "publishers: [3]", ": ros.publishers[0] must be a section\n"},
        {"", "", "", "services: [{name: a, srv_type: b}, 4]", ": ros.services[1] must be a section\n"},
        {"", "", "", "services: [{name: a}]", ": ros.services[0].srv_type is missing\n"},
        {"", "", "", "services: [{srv_type: a}]", ": ros.services[0].name is missing\n"},
        {"", "", "", "subscribers: [{topic: a, msg_type: b}, {topic: a, msg_type: c}]",
         ": ros.subscribers[1]: the topic 'a' is there twice\n"},
        {"", "", "", "parameters: [{name: a, type: bool, default: true}]", NULL},
        {"", "", "", "parameters: [{name: a, type: bool, default: 1}]", ".default of 'a' is no bool\n"},
        {"", "", "", "parameters: [{name: a, type: int, default: 1}]", NULL},
        {"", "", "", "parameters: [{name: a, type: int, default: 1.5}]", ".default of 'a' is no int\n"},
        {"", "", "", "parameters: [{name: a, type: int, default: true}]", ".default of 'a' is no int\n"},
        {"", "", "", "parameters: [{name: a, type: float, default: 1}]", NULL},
        {"", "", "", "parameters: [{name: a, type: float, default: 1.5}]", NULL},
        {"", "", "", "parameters: [{name: a, type: float, default: x}]", ".default of 'a' is no float\n"},
        {"", "", "", "parameters: [{name: a, type: double, default: 2}]", NULL},
        {"", "", "", "parameters: [{name: a, type: double, default: []}]", ".default of 'a' is no double\n"},
        {"", "", "", "parameters: [{name: a, type: string, default: x}]", NULL},
        {"", "", "", "parameters: [{name: a, type: string, default: 3}]", ".default of 'a' is no string\n"},
        {"", "", "", "parameters: [{name: a, type: list, default: []}]", NULL},
        {"", "", "", "parameters: [{name: a, type: list, default: x}]", ".default of 'a' is no list\n"},
        {"", "", "", "parameters: [{name: a, type: text, default: x}]",
         ".type: there is no 'text', but bool, int, float, string and list\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_text text = {0};
        sk_text_appendf(&text, MODEL SOURCE "input: {}\n" OUTPUT "ros: {%s}\n", rows[i].model, rows[i].source,
                        rows[i].output, rows[i].ros);
        sk_problems problems = {0};
        sk_manifest *m = NULL;
        assert_ok(sk_manifest_open(sk_text_get(&text), text.length, "m.yaml", &m, &problems, &err), &err);
        if (problems.count != (rows[i].problem != NULL) ||
            (rows[i].problem && !strstr(sk_text_get(&problems.lines), rows[i].problem)))
            fail_msg("%s: %zu problems:\n%s", sk_text_get(&text), problems.count,
                     sk_text_get(&problems.lines));
        sk_manifest_close(&m);
        sk_problems_free(&problems);
        sk_text_free(&text);
    }
}

/* Several wrong things are told one by one. */
static void every_field_is_told(void **state)
{
    (void)state;
    static const char text[] =
        "model: {name: x, family: ultralytics, variants: [x], default_variant: x}\nsource: {type: a, repo: "
        "b}\n"
        "input: {}\noutput: {type: detections, fields: [3, {dtype: b, shape: []}, {name: a, shape: []}, 4, "
        "{name: a, dtype: b}]}\nros: {publishers: [{topic: 'a b', msg_type: 'c d'}, {msg_type: e}, {topic: "
        "f}]}\n";
    told(text, sizeof text - 1,
         (const char *const[]){
             ": output.fields[0] must be a section\n", ": output.fields[1].name is missing\n",
             ": output.fields[2].dtype is missing\n", ": output.fields[3] must be a section\n",
             ": output.fields[4].shape is missing\n",
             ": ros.publishers[0].topic: ROS allows no topic 'a b'\n",
             ": ros.publishers[0].msg_type: 'c d' names no message\n",
             ": ros.publishers[1].topic is missing\n", ": ros.publishers[2].msg_type is missing\n", NULL});
}

/* --- names of ROS --- */

static void names_have_so_many_bytes(void **state)
{
    (void)state;
    sk_ros_names names;
    char text[SK_ROS_NAME + 8], out[SK_ROS_NAME], rule[2 * SK_ROS_NAME];
    memset(text, 'a', sizeof text);
    for (int length = SK_ROS_NAME - 1; length <= SK_ROS_NAME; length++) {
        const bool good = length < SK_ROS_NAME;
        text[0] = 'a', text[length] = '\0';
        assert_int_equal(sk_ros_names_init(&names, text, NULL, &err), good ? SK_OK : SK_ERR_ARG);
        if (good)
            assert_string_equal(names.node, text);
        else
            assert_string_equal(err.message, "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…': a name of ROS has "
                                             "at most 255 bytes");
        text[0] = '/';
        assert_int_equal(sk_ros_names_init(&names, "eye", text, &err), good ? SK_OK : SK_ERR_ARG);
        assert_int_equal(sk_ros_names_init(&names, "eye", text + 1, &err), good ? SK_OK : SK_ERR_ARG);
        assert_ok(sk_ros_names_init(&names, "eye", NULL, &err), &err);
        assert_string_equal(names.name_space, "/");
        assert_int_equal(sk_ros_names_resolve(&names, text, out, &err), good ? SK_OK : SK_ERR_ARG);
        assert_int_equal(sk_ros_names_resolve(&names, text + 1, out, &err), good ? SK_OK : SK_ERR_ARG);
        snprintf(rule, sizeof rule, "a:=%s", text);
        assert_int_equal(sk_ros_names_remap(&names, rule, &err), good ? SK_OK : SK_ERR_ARG);
        snprintf(rule, sizeof rule, "%s:=b", text);
        assert_int_equal(sk_ros_names_remap(&names, rule, &err), good ? SK_OK : SK_ERR_ARG);
        /* a node whose whole name has as many bytes as there may be is meant by it, with its first '/' and without */
        text[0] = '/', text[SK_ROS_NAME - 1] = '\0';
        assert_ok(sk_ros_names_init(&names, text + 1, NULL, &err), &err);
        assert_true(sk_ros_names_meant(&names, text) && sk_ros_names_meant(&names, text + 1));
        text[SK_ROS_NAME - 1] = 'a', text[SK_ROS_NAME] = '\0';
        assert_false(sk_ros_names_meant(&names, text) || sk_ros_names_meant(&names, text + 1));
        text[SK_ROS_NAME] = 'a', text[length] = '\0';
        /* what means this node: one byte is the '/' that it gets */
        assert_ok(sk_ros_names_init(&names, "eye", NULL, &err), &err);
        assert_false(sk_ros_names_meant(&names, text));
        text[0] = 'a', text[length] = 'a', text[SK_ROS_NAME + 7] = '\0';
        assert_false(sk_ros_names_meant(&names, text));
    }
    assert_true(sk_ros_names_meant(&names, "eye") && sk_ros_names_meant(&names, "/eye"));
}

/* A node's own name and the form of its images, together as long as a name may be. */
static void names_together_have_so_many_bytes(void **state)
{
    (void)state;
    sk_ros_names names;
    char topic[SK_ROS_NAME + 8], out[SK_ROS_NAME], words[160];
    assert_ok(sk_ros_names_init(&names, "eye", "/left", &err), &err);
    const size_t most = SK_ROS_NAME - 1, ending = strlen("/compressed");
    for (size_t more = 0; more < 2; more++) {
        memset(topic, 'a', sizeof topic);
        topic[0] = '/';
        topic[most - ending + more] = '\0';
        assert_int_equal(sk_ros_names_resolve_transport(&names, topic, "compressed", out, &err),
                         more ? SK_ERR_ARG : SK_OK);
        if (!more)
            assert_int_equal(strlen(out), most);
        snprintf(words, sizeof words, "'%.60s…/compressed': a name of ROS has at most 255 bytes", topic);
        if (more)
            assert_string_equal(err.message, words);
        memset(topic, 'a', sizeof topic);
        topic[0] = '~', topic[1] = '/';
        topic[most - strlen("/left/eye/") + 2 + more] = '\0';
        assert_int_equal(sk_ros_names_resolve(&names, topic, out, &err), more ? SK_ERR_ARG : SK_OK);
        memset(topic, 'a', sizeof topic);
        topic[most - strlen("/left/") + more] = '\0';
        assert_int_equal(sk_ros_names_resolve(&names, topic, out, &err), more ? SK_ERR_ARG : SK_OK);
    }
}

static void remappings_have_an_end(void **state)
{
    (void)state;
    sk_ros_names names;
    char out[SK_ROS_NAME], rule[64];
    assert_ok(sk_ros_names_init(&names, "eye", NULL, &err), &err);
    for (int i = 0; i < SK_ROS_REMAPS; i++) {
        snprintf(rule, sizeof rule, "rostopic://a%d:=b%d", i, i);
        assert_ok(sk_ros_names_remap(&names, rule, &err), &err);
    }
    assert_int_equal(sk_ros_names_remap(&names, "c:=d", &err), SK_ERR_LIMIT);
    assert_string_equal(err.message, "--remap: at most 64");
    assert_ok(sk_ros_names_remap(&names, "__node:=ear", &err), &err); /* no remapping of a topic */
    assert_ok(sk_ros_names_resolve(&names, "a63", out, &err), &err);
    assert_string_equal(out, "/b63");
    assert_ok(sk_ros_names_resolve(&names, "c", out, &err), &err);
    assert_string_equal(out, "/c");
    assert_string_equal(names.node, "ear");
}

/* --- memory --- */

static sk_status open_catalogue(void *context, sk_error *problem)
{
    sk_catalogue *c = NULL;
    const sk_status status = sk_catalogue_open(context, &c, problem);
    sk_catalogue_close(&c);
    return status;
}

static void catalogues_without_memory(void **state)
{
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s", test_source("tests/fixtures/ros/models"));
    assert_true(test_every_allocation(open_catalogue, folder) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_have_so_many_items_and_no_more),
                                       cmocka_unit_test(texts_have_so_many_bytes_and_values),
                                       cmocka_unit_test(words_are_short_and_safe),
                                       cmocka_unit_test(every_section_is_told_in_words),
                                       cmocka_unit_test(every_field_is_told),
                                       cmocka_unit_test(names_have_so_many_bytes),
                                       cmocka_unit_test(names_together_have_so_many_bytes),
                                       cmocka_unit_test(remappings_have_an_end),
                                       cmocka_unit_test(catalogues_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
