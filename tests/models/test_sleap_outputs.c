/* SPDX-License-Identifier: Apache-2.0 */
/* What SLEAP's two eras have in common: what an output must be by its name and its task, the size that is begun with, and facts as
 * text. */
#include "support/test.h"

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

static void outputs_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        sk_output_kind kind;
    } cases[] = {{"SingleInstanceConfmapsHead", SK_OUTPUT_CONFMAPS},
                 {"SingleInstanceConfmapsHead_0", SK_OUTPUT_CONFMAPS},
                 {"SingleInstanceConfmapsHead_12", SK_OUTPUT_CONFMAPS},
                 {"SingleInstanceConfmapsHead_", SK_OUTPUT_OTHER},
                 {"SingleInstanceConfmapsHead0", SK_OUTPUT_OTHER},
                 {"SingleInstanceConfmapsHead_0a", SK_OUTPUT_OTHER},
                 {"SingleInstanceConfmapsHea", SK_OUTPUT_OTHER},
                 {"SingleInstanceConfmapsHead_:", SK_OUTPUT_OTHER},
                 {"SingleInstanceConfmapsHead_/", SK_OUTPUT_OTHER},
                 {"XSingleInstanceConfmapsHead", SK_OUTPUT_OTHER},
                 {"CentroidConfmapsHead_9", SK_OUTPUT_CONFMAPS},
                 {"CenteredInstanceConfmapsHead_0", SK_OUTPUT_CONFMAPS},
                 {"MultiInstanceConfmapsHead_0", SK_OUTPUT_CONFMAPS},
                 {"PartAffinityFieldsHead_0", SK_OUTPUT_PAFS},
                 {"OffsetRefinementHead_0", SK_OUTPUT_OFFSETS},
                 {"ClassMapsHead_0", SK_OUTPUT_CLASS_MAPS},
                 {"ClassVectorsHead_0", SK_OUTPUT_CLASS_VECTORS},
                 {"", SK_OUTPUT_OTHER},
                 {"_", SK_OUTPUT_OTHER},
                 {"7", SK_OUTPUT_OTHER},
                 {"_7", SK_OUTPUT_OTHER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sk_sleap_output_kind(cases[i].name) != cases[i].kind)
            fail_msg("%s is %d", cases[i].name, sk_sleap_output_kind(cases[i].name));
}

/* Three keypoints, two edges, four classes; strides 2, 4 and 8. */
static void outputs_fit_what_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t channels;
        double stride;
        const char *words; /* null: taken */
    } cases[] = {
        {"MultiInstanceConfmapsHead_0", 3, 2, NULL},
        {"MultiInstanceConfmapsHead_0", -1, 2, NULL},
        {"MultiInstanceConfmapsHead_0", 3, 2.0000001, NULL},
        {"MultiInstanceConfmapsHead_0", 4, 2, "has 4 channels where the training configuration names 3; "},
        {"MultiInstanceConfmapsHead_0", 0, 2, "has 0 channels where the training configuration names 3; "},
        {"MultiInstanceConfmapsHead_0", 3, 4, "is at stride 4 where the training configuration says 2; "},
        {"PartAffinityFieldsHead_0", 4, 4, NULL},
        {"PartAffinityFieldsHead_0", 2, 4, "has 2 channels where the training configuration names 4; "},
        {"PartAffinityFieldsHead_0", 4, 2, "is at stride 2 where the training configuration says 4; "},
        {"OffsetRefinementHead_0", 6, 2, NULL},
        {"OffsetRefinementHead_0", 3, 2, "has 3 channels where the training configuration names 6; "},
        {"OffsetRefinementHead_0", 6, 1, "is at stride 1 where the training configuration says 2; "},
        {"ClassMapsHead_0", 4, 8, NULL},
        {"ClassMapsHead_0", 3, 8, "has 3 channels where the training configuration names 4; "},
        {"ClassMapsHead_0", 4, 4, "is at stride 4 where the training configuration says 8; "},
        {"ClassVectorsHead_0", 4, 1, NULL}, /* no map: no stride */
        {"ClassVectorsHead_0", 5, 1, "has 5 channels where the training configuration names 4; "},
        {"Something", 77, 77, NULL},
    };
    sk_sleap_heads heads = {0};
    const sk_config_value *root =
        yaml("{c: {output_stride: 2}, p: {output_stride: 4}, k: {output_stride: 8}}");
    heads.confmaps = sk_config_get(root, "c");
    heads.pafs = sk_config_get(root, "p");
    heads.classes = sk_config_get(root, "k");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh(NULL);
        model->n_keypoints = 3;
        model->sleap.n_edges = 2;
        model->n_classes = 4;
        err = (sk_error){0};
        const sk_status status = sk_sleap_add_output(model, &heads, cases[i].name, cases[i].channels,
                                                     cases[i].stride, "m.h5", &err);
        if (cases[i].words) {
            char words[300];
            snprintf(words, sizeof words, "m.h5: output \"%s\" %sthe folder mixes files of two models",
                     cases[i].name, cases[i].words);
            says(status, SK_ERR_MISMATCH, words);
            assert_int_equal(model->n_outputs, 0);
        } else {
            says(status, SK_OK, NULL);
            assert_int_equal(model->n_outputs, 1);
            assert_string_equal(model->outputs[0].name, cases[i].name);
            assert_true(model->outputs[0].stride == (float)cases[i].stride);
            assert_int_equal(model->outputs[0].kind, sk_sleap_output_kind(cases[i].name));
        }
    }
    fresh(NULL); /* no edges at all: no channels */
    says(sk_sleap_add_output(model, &heads, "PartAffinityFieldsHead_0", 2, 4, "m.h5", &err), SK_ERR_MISMATCH,
         "m.h5: output \"PartAffinityFieldsHead_0\" has 2 channels where the training configuration names 0; "
         "the "
         "folder mixes files of two models");
    heads = (sk_sleap_heads){0}; /* strides that nobody says */
    fresh(NULL);
    model->n_keypoints = 1;
    for (int i = 0; i < 32; i++)
        assert_ok(sk_sleap_add_output(model, &heads, "CentroidConfmapsHead", 1, i, "m.h5", &err), &err);
    says(sk_sleap_add_output(model, &heads, "CentroidConfmapsHead", 1, 1, "m.h5", &err), SK_ERR_LIMIT,
         "m.h5: more than 32 outputs");
    assert_int_equal(model->n_outputs, 32);
}

static void tasks_need_outputs(void **state)
{
    (void)state;
    static const struct {
        sk_task task;
        sk_output_kind kind[2];
        const char *missing; /* null: none */
    } cases[] = {
        {SK_TASK_CENTROID, {SK_OUTPUT_CONFMAPS, SK_OUTPUT_OTHER}, NULL},
        {SK_TASK_CENTROID, {SK_OUTPUT_OTHER, SK_OUTPUT_PAFS}, "confidence maps"},
        {SK_TASK_BOTTOMUP, {SK_OUTPUT_PAFS, SK_OUTPUT_CONFMAPS}, NULL},
        {SK_TASK_BOTTOMUP, {SK_OUTPUT_CONFMAPS, SK_OUTPUT_CLASS_MAPS}, "part affinity fields"},
        {SK_TASK_MULTICLASS_BOTTOMUP, {SK_OUTPUT_CONFMAPS, SK_OUTPUT_CLASS_MAPS}, NULL},
        {SK_TASK_MULTICLASS_BOTTOMUP, {SK_OUTPUT_CONFMAPS, SK_OUTPUT_CLASS_VECTORS}, "class maps"},
        {SK_TASK_MULTICLASS_TOPDOWN, {SK_OUTPUT_CONFMAPS, SK_OUTPUT_CLASS_VECTORS}, NULL},
        {SK_TASK_MULTICLASS_TOPDOWN, {SK_OUTPUT_CONFMAPS, SK_OUTPUT_CLASS_MAPS}, "class vectors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[200];
        fresh(NULL);
        sk_model_set_task(model, cases[i].task);
        model->n_outputs = 2;
        for (int k = 0; k < 2; k++)
            model->outputs[k].kind = cases[i].kind[k];
        snprintf(words, sizeof words, "m.h5: the network has no output of %s, which its task needs",
                 cases[i].missing ? cases[i].missing : "");
        says(sk_sleap_check_outputs(model, "m.h5", &err), cases[i].missing ? SK_ERR_FORMAT : SK_OK,
             cases[i].missing ? words : NULL);
    }
    model->n_outputs = 0;
    says(sk_sleap_check_outputs(model, "m.h5", &err), SK_ERR_FORMAT,
         "m.h5: the network has no output of confidence maps, which its task needs");
}

/* --- the rest --- */

static void sizes_to_begin_with(void **state)
{
    (void)state;
    static const int32_t cases[][8] = {
        /* stride, size, crop, what becomes of it */
        {0, 0, 0, 0, 0, 0, 512, 512},    {0, 7, 9, 0, 0, 0, 7, 9},       {-3, 7, 9, 0, 0, 0, 7, 9},
        {1, 7, 9, 0, 0, 0, 7, 9},        {2, 7, 10, 0, 0, 0, 8, 10},     {32, 1, 33, 0, 0, 0, 32, 64},
        {16, 0, 0, 100, 20, 0, 112, 32}, {16, 160, 0, 1, 1, 0, 160, 16}, {16, -1, -1, -1, 0, 0, 512, 512},
        {100, 0, 0, 0, 0, 0, 600, 600},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t *c = cases[i];
        model->input = (sk_input_spec){.stride = c[0], .height = c[1], .width = c[2]};
        model->sleap.crop_size[0] = c[3];
        model->sleap.crop_size[1] = c[4];
        sk_sleap_default_size(model);
        if (model->input.height != c[6] || model->input.width != c[7])
            fail_msg("case %zu: %d x %d", i, model->input.height, model->input.width);
    }
}

static void facts_are_text(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"a", "words"}, {"b", "-7"},     {"c", "0.25"}, {"d", "true"},
                                           {"e", "false"}, {"f.g", "deep"}, {"h", NULL},   {"i", NULL},
                                           {"j", NULL},    {"k", NULL},     {"l", "1e-05"}};
    const sk_config_value *root = yaml(
        "{a: words, b: -7, c: 0.25, d: true, e: false, f: {g: deep}, h: null, i: '', j: [1], l: 0.00001}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh(NULL);
        sk_sleap_add_fact(model, "key", root, cases[i][0]);
        assert_int_equal(model->n_facts, cases[i][1] ? 1 : 0);
        if (!cases[i][1])
            continue;
        assert_string_equal(model->facts[0][0], "key");
        assert_string_equal(model->facts[0][1], cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_by_their_names), cmocka_unit_test(outputs_fit_what_is_said),
        cmocka_unit_test(tasks_need_outputs),     cmocka_unit_test_setup(sizes_to_begin_with, fresh),
        cmocka_unit_test(facts_are_text),
    };
    return cmocka_run_group_tests(tests, fresh, done);
}
