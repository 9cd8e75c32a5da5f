/* SPDX-License-Identifier: Apache-2.0 */
/* What SLEAP's two eras have in common: which head means which task, what channels are called, which edges join them. Configurations are
 * written here. */
#include "support/test.h"

#include "base/text.h"
#include "models/sleap.h"

#include <stdio.h>
#include <string.h>

static sk_error err;
static sk_config *config;
static sk_model *model;

static const sk_config_value *yaml(const char *text)
{
    sk_config_close(&config);
    err = (sk_error){0};
    assert_ok(sk_config_open_yaml(text, strlen(text), "here", &config, &err), &err);
    return sk_config_root(config);
}

static int fresh(void **state)
{
    (void)state;
    sk_model_close(&model);
    return sk_model_create(&model, &err);
}

static int done(void **state)
{
    (void)state;
    sk_model_close(&model);
    sk_config_close(&config);
    return 0;
}

static void says(sk_status status, sk_status wanted, const char *words)
{
    if (status != wanted || (words && strcmp(err.message, words) != 0))
        fail_msg("%d '%s', not %d '%s'", status, err.message, wanted, words ? words : "");
}

/* --- heads --- */

static void heads_are_tasks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        sk_task task;
        const char *type;
        const char *part; /* the first part's name, of the confidence maps */
        bool pafs, classes;
    } cases[] = {
        {"{single_instance: {part_names: [a]}}", SK_TASK_SINGLE_INSTANCE, "single_instance", "a", false,
         false},
        {"{single_instance: {confmaps: {part_names: [b]}, pafs: {}}, centroid: null}",
         SK_TASK_SINGLE_INSTANCE, "single_instance", "b", false, false},
        {"{centroid: {anchor_part: x}}", SK_TASK_CENTROID, "centroid", NULL, false, false},
        {"{centered_instance: {part_names: [c]}}", SK_TASK_CENTERED_INSTANCE, "centered_instance", "c", false,
         false},
        {"{multi_instance: {confmaps: {part_names: [d]}, pafs: {edges: []}}}", SK_TASK_BOTTOMUP,
         "multi_instance", "d", true, false},
        {"{bottomup: {confmaps: {part_names: [e]}, pafs: {edges: []}}}", SK_TASK_BOTTOMUP, "bottomup", "e",
         true, false},
        {"{multi_class_bottomup: {confmaps: {part_names: [f]}, class_maps: {}}}", SK_TASK_MULTICLASS_BOTTOMUP,
         "multi_class_bottomup", "f", false, true},
        {"{multi_class_topdown: {confmaps: {part_names: [g]}, class_vectors: {}}}",
         SK_TASK_MULTICLASS_TOPDOWN, "multi_class_topdown", "g", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_sleap_heads heads;
        assert_ok(sk_sleap_heads_find(yaml(cases[i].text), "c.json", &heads, &err), &err);
        assert_int_equal(heads.task, cases[i].task);
        assert_string_equal(heads.type, cases[i].type);
        assert_int_equal(heads.pafs != NULL, cases[i].pafs);
        assert_int_equal(heads.classes != NULL, cases[i].classes);
        assert_string_equal(sk_config_text_or(heads.confmaps, "part_names.0", "-"),
                            cases[i].part ? cases[i].part : "-");
    }
}

static void heads_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        sk_status status;
        const char *words;
    } cases[] = {
        {"{}", SK_ERR_FORMAT, "c.json: names no head, so what the network finds is not known"},
        {"[1]", SK_ERR_FORMAT, "c.json: names no head, so what the network finds is not known"},
        {"{centroid: null}", SK_ERR_FORMAT, "c.json: names no head, so what the network finds is not known"},
        {"{centroid: {}, x: null, bottomup: {}}", SK_ERR_FORMAT,
         "c.json: names two heads, \"centroid\" and \"bottomup\", where one is allowed"},
        {"{centroid: 1}", SK_ERR_FORMAT, "c.json: the head \"centroid\" is incomplete"},
        {"{centroid: {confmaps: 1}}", SK_ERR_FORMAT, "c.json: the head \"centroid\" is incomplete"},
        {"{bottomup: {confmaps: {}}}", SK_ERR_FORMAT, "c.json: the head \"bottomup\" is incomplete"},
        {"{bottomup: {confmaps: {}, pafs: null}}", SK_ERR_FORMAT,
         "c.json: the head \"bottomup\" is incomplete"},
        {"{multi_class_bottomup: {confmaps: {}, class_vectors: {}}}", SK_ERR_FORMAT,
         "c.json: the head \"multi_class_bottomup\" is incomplete"},
        {"{multi_class_topdown: {confmaps: {}, class_maps: {}}}", SK_ERR_FORMAT,
         "c.json: the head \"multi_class_topdown\" is incomplete"},
        {"{other: {}}", SK_ERR_UNSUPPORTED,
         "c.json: a \"other\" model; supported are single_instance, centroid, centered_instance, bottomup, "
         "multi_class_bottomup and multi_class_topdown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_sleap_heads heads;
        says(sk_sleap_heads_find(yaml(cases[i].text), "c.json", &heads, &err), cases[i].status,
             cases[i].words);
    }
}

/* --- names --- */

static const char *nodes[] = {"head", "body", "tail", "wing"};
static int32_t bones[][2] = {{0, 1}, {2, 1}, {3, 0}};

static sk_status fill(const char *text, int n_nodes, bool by_skeleton)
{
    const sk_skeleton skeleton = {
        .name = "", .n_nodes = n_nodes, .node_names = nodes, .n_edges = n_nodes > 3 ? 3 : 0, .edges = bones};
    sk_sleap_heads heads;
    fresh(NULL);
    assert_ok(sk_sleap_heads_find(yaml(text), "c.json", &heads, &err), &err);
    return sk_sleap_fill_names(model, &heads, &skeleton, by_skeleton, "c.json", &err);
}

/* "a b; 0-1 | 0-1": keypoints, the skeleton's edges and those of the part affinity fields, classes behind a slash. */
static const char *told(void)
{
    static char text[600];
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < model->n_keypoints; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s%s", i ? " " : "", model->keypoint_names[i]);
    used += snprintf(text + used, sizeof text - (size_t)used, ";");
    for (int i = 0; i < model->n_edges; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %d-%d", model->edges[i][0],
                         model->edges[i][1]);
    used += snprintf(text + used, sizeof text - (size_t)used, " |");
    for (int i = 0; i < model->sleap.n_edges; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %d-%d", model->sleap.edges[i][0],
                         model->sleap.edges[i][1]);
    for (int i = 0; i < model->n_classes; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " /%s", model->class_names[i]);
    return text;
}

#define PAFS(parts, edges)        "{bottomup: {confmaps: {part_names: " parts "}, pafs: {edges: " edges "}}}"
#define NAMED(kind, key, classes) "{" kind ": {confmaps: {part_names: [a]}, " key ": {classes: " classes "}}}"

static void channels_and_edges_have_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int nodes;
        bool by_skeleton;
        const char *told, *anchor;
    } cases[] = {
        {"{single_instance: {part_names: [tail, head]}}", 0, false, "tail head; |", NULL},
        {"{single_instance: {part_names: [tail, head]}}", 4, false, "tail head; |", NULL},
        {"{single_instance: {part_names: [tail, head, body]}}", 4, false, "tail head body; 1-2 0-2 |", NULL},
        {"{single_instance: {part_names: [a, 7, b]}}", 0, true, "a 7 b; |", NULL},
        {"{single_instance: {part_names: [a, b, c, d]}}", 4, true, "head body tail wing; 0-1 2-1 3-0 |",
         NULL},
        {"{single_instance: {part_names: [a, b, c, d]}}", 4, false, "a b c d; |", NULL},
        {"{single_instance: {part_names: [a, b, c]}}", 4, true, "a b c; |", NULL},
        {"{single_instance: {}}", 4, false, "head body tail wing; 0-1 2-1 3-0 |", NULL},
        {"{single_instance: {part_names: []}}", 2, true, "head body; |", NULL},
        {"{centroid: {}}", 4, true, "centroid; |", NULL},
        {"{centroid: {anchor_part: body}}", 0, false, "body; |", "body"},
        {"{centered_instance: {anchor_part: tail, part_names: [a]}}", 0, false, "a; |", "tail"},
        /* part affinity fields: by the head's names, else the skeleton's */
        {PAFS("[a, b, c]", "[[a, b], [c, a]]"), 0, false, "a b c; 0-1 2-0 | 0-1 2-0", NULL},
        {PAFS("[a, b, c, d]", "[[d, b], [a, c]]"), 4, true, "head body tail wing; 0-1 2-1 3-0 | 3-1 0-2",
         NULL},
        {PAFS("[a, b, c, d]", "[[wing, b], [a, tail]]"), 4, true,
         "head body tail wing; 0-1 2-1 3-0 | 3-1 0-2", NULL},
        {PAFS("[wing, head, body, tail]", "null"), 4, false, "wing head body tail; 1-2 3-2 0-1 | 1-2 3-2 0-1",
         NULL},
        {PAFS("[wing, head]", "null"), 4, false, "wing head; 0-1 | 0-1", NULL},
        {NAMED("multi_class_bottomup", "class_maps", "[x, 2]"), 0, false, "a; | /x /2", NULL},
        {NAMED("multi_class_topdown", "class_vectors", "[x]"), 0, false, "a; | /x", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(fill(cases[i].text, cases[i].nodes, cases[i].by_skeleton), &err);
        if (strcmp(told(), cases[i].told) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].text, told(), cases[i].told);
        assert_true((model->sleap.anchor_part != NULL) == (cases[i].anchor != NULL));
        if (cases[i].anchor)
            assert_string_equal(model->sleap.anchor_part, cases[i].anchor);
        assert_ptr_equal(model->sleap.class_names, model->class_names);
        assert_int_equal(model->family, SK_FAMILY_SLEAP);
    }
}

static void names_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"{single_instance: {}}", "c.json: neither the head nor a skeleton names the keypoints"},
        {"{single_instance: {part_names: [a, [b]]}}", "c.json: part_names: entry 1 is no name"},
        {"{single_instance: {part_names: [null]}}", "c.json: part_names: entry 0 is no name"},
        {PAFS("[a, b]", "[[a, b], [a, z]]"), "c.json: edge 1 joins \"z\", which is not one of part_names"},
        {PAFS("[a, b]", "[[z, b]]"), "c.json: edge 0 joins \"z\", which is not one of part_names"},
        {PAFS("[a, b]", "[[a]]"), "c.json: edge 0 joins \"?\", which is not one of part_names"},
        {PAFS("[a, b]", "[]"), "c.json: a bottom-up model without edges"},
        {PAFS("[a, b]", "null"), "c.json: a bottom-up model without edges"},
        {NAMED("multi_class_bottomup", "class_maps", "[]"),
         "c.json: a multi-class model without class names"},
        {NAMED("multi_class_topdown", "class_vectors", "null"),
         "c.json: a multi-class model without class names"},
        {NAMED("multi_class_topdown", "class_vectors", "[a, {}]"), "c.json: classes: entry 1 is no name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        says(fill(cases[i].text, 0, false), SK_ERR_FORMAT, cases[i].words);
}

static void names_and_edges_have_limits(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++)
        for (int edges = 0; edges < 2; edges++) {
            const int count = (edges ? SK_SKELETON_MAX_EDGES : 4096) + more;
            sk_text text = {0};
            sk_text_append(&text, edges ? "{bottomup: {confmaps: {part_names: [a, b]}, pafs: {edges: ["
                                        : "{single_instance: {part_names: [");
            for (int i = 0; i < count; i++)
                sk_text_append(&text, edges ? "[a, b]," : "a,");
            sk_text_append(&text, edges ? "]}}}" : "]}}");
            const sk_status status = fill(sk_text_get(&text), 0, false);
            if (more)
                says(status, SK_ERR_LIMIT,
                     edges ? "c.json: 16385 edges" : "c.json: 4097 part_names; at most 4096 are read");
            else
                assert_int_equal(edges ? model->sleap.n_edges : model->n_keypoints, count);
            sk_text_free(&text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_tasks),
        cmocka_unit_test(heads_that_are_none),
        cmocka_unit_test(channels_and_edges_have_names),
        cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(names_and_edges_have_limits),
    };
    return cmocka_run_group_tests(tests, fresh, done);
}
