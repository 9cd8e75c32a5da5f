/* SPDX-License-Identifier: Apache-2.0 */
/* What an export says of itself: names, types and sizes of its ends, numbers and metadata, for every setting; and what is refused. */
#include "onnx_model_fixture.h"

#include "base/text.h"
#include "models/onnx_exporter.h"
#include "skitter/version.h"

static sk_error err;

/* --- as text --- */

static void tell_value(sk_text *text, const char *kind, const sk_onnx_value *v)
{
    sk_text_appendf(text, "    %s %s %s[", kind, v->name, sk_dtype_name(v->dtype));
    for (int32_t d = 0; d < v->shape.rank; d++) {
        if (v->shape.dim[d] >= 0)
            assert_string_equal(v->param[d], "");
        sk_text_appendf(text, d ? ", " : "");
        if (v->shape.dim[d] >= 0)
            sk_text_appendf(text, "%lld", (long long)v->shape.dim[d]);
        else
            sk_text_append(text, *v->param[d] ? v->param[d] : "?");
    }
    sk_text_append(text, "]\n");
}

static void tell_ends(sk_text *text, const sk_onnx_model *onnx)
{
    const sk_onnx_graph *g = &onnx->graph;
    assert_string_equal(onnx->producer, "skitter");
    assert_string_equal(onnx->producer_version, sk_version_text());
    assert_string_equal(g->name, "main");
    assert_int_equal(onnx->n_opsets, 1);
    assert_string_equal(onnx->opsets[0].domain, "");
    sk_text_appendf(text, "    ir %lld, opset %lld, %d nodes, %d weights\n", (long long)onnx->ir_version,
                    (long long)onnx->opsets[0].version, g->n_nodes, g->n_initializers);
    for (int32_t i = 0; i < g->n_inputs; i++)
        tell_value(text, "input", &g->inputs[i]);
    for (int32_t i = 0; i < g->n_outputs; i++)
        tell_value(text, "output", &g->outputs[i]);
    for (int32_t i = 0; i < onnx->n_metadata; i++)
        if (strcmp(onnx->metadata[i][0], SK_ONNX_OWN_KEY) != 0)
            sk_text_appendf(text, "    %s: %s\n", onnx->metadata[i][0], onnx->metadata[i][1]);
        else
            sk_text_appendf(text, "    and its own\n");
}

typedef struct variant {
    const char *name;
    sk_onnx_settings s; /* beyond the defaults: what is not 0 */
    bool bare;          /* without the tail */
    bool plain;         /* batch norms stay */
} variant;

static const variant variants[] = {
    {"as it is", {0}, 0, 0},
    {"any batch", {.dynamic_batch = 1}, 0, 0},
    {"any size", {.dynamic_size = 1}, 0, 0},
    {"anything", {.dynamic_batch = 1, .dynamic_size = 1}, 0, 0},
    {"batch of 3, 128 x 160", {.batch = 3, .height = 128, .width = 160}, 0, 0},
    {"height 32", {.height = 32}, 0, 0},
    {"opset 13", {.opset = 13}, 0, 1},
    {"opset 18", {.opset = 18}, 0, 0},
    {"half", {.half = 1}, 0, 0},
    {"half, ends too", {.half = 1, .half_io = 1}, 0, 0},
    {"ends alone", {.half_io = 1}, 0, 0},
    {"no tail", {0}, 1, 0},
    {"no tail, anything", {.dynamic_batch = 1, .dynamic_size = 1}, 1, 0},
};

static sk_onnx_settings settings_of(const variant *v)
{
    sk_onnx_settings s = sk_onnx_defaults();
    s.undated = 1;
    s.opset = v->s.opset ? v->s.opset : s.opset;
    s.half = v->s.half;
    s.half_io = v->s.half_io;
    s.dynamic_batch = v->s.dynamic_batch;
    s.dynamic_size = v->s.dynamic_size;
    s.batch = v->s.batch;
    s.height = v->s.height;
    s.width = v->s.width;
    s.with_tail = !v->bare;
    s.optimise = !v->plain;
    return s;
}

static void ends_of_every_setting(void **state)
{
    (void)state;
    sk_text text = {0};
    for (int m = 0; m < 3; m++) {
        sk_model *model = m == 1 ? make_sleap() : make_yolo();
        if (m == 2) { /* the same, saying nothing of itself */
            model->class_names = NULL;
            model->keypoint_names = NULL;
            model->architecture = NULL;
            model->n_facts = 0;
            model->input.stride = 0;
            model->input.height = model->input.width = 0;
        }
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            const sk_onnx_settings s = settings_of(&variants[i]);
            sk_onnx_model *onnx = NULL;
            if (m == 2 && i % 4)
                continue;
            sk_text_appendf(&text, "%s, %s\n",
                            m == 1 ? "maps"
                            : m    ? "boxes of unknown origin"
                                   : "boxes",
                            variants[i].name);
            if (sk_model_to_onnx(model, &s, &onnx, &err) == SK_OK)
                tell_ends(&text, onnx);
            else
                sk_text_appendf(&text, "    %s\n", err.message);
            sk_onnx_close(&onnx);
        }
        sk_model_close(&model);
    }
    test_text_is("tests/models/whole/written_ends.txt", sk_text_get(&text));
    sk_text_free(&text);
}

/* The day is there unless it is not wished. */
static void days(void **state)
{
    (void)state;
    sk_model *model = make_yolo();
    for (int undated = 0; undated < 2; undated++) {
        sk_onnx_settings s = sk_onnx_defaults();
        sk_onnx_model *onnx = NULL;
        s.undated = undated;
        assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
        const char *date = sk_onnx_metadata(onnx, "date");
        assert_int_equal(date == NULL, undated);
        int year = 0, month = 0, day = 0, length = 0;
        if (date) {
            assert_int_equal(sscanf(date, "%d-%d-%dT%*d:%*d:%*d+00:00%n", &year, &month, &day, &length), 3);
            assert_int_equal(length, (int)strlen(date));
            assert_true(year >= 2025 && month >= 1 && month <= 12 && day >= 1 && day <= 31);
        }
        sk_onnx_close(&onnx);
    }
    sk_model_close(&model);
}

/* Names that a text of Python must escape, and facts that the file hands on. */
static void texts_of_python(void **state)
{
    (void)state;
    static const char *const strange[] = {"it's", "a\\b", "tab\there", "\x1f \x7f", "\xc3\xa4", NULL};
    sk_model *model = make_yolo();
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    model->class_names = strange;
    model->n_classes = 6;
    model->keypoint_names = strange + 4;
    sk_model_add_fact(model, "license", "AGPL");
    sk_model_add_fact(model, "docs", "somewhere");
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    assert_string_equal(
        sk_onnx_metadata(onnx, "names"),
        "{0: 'it\\'s', 1: 'a\\\\b', 2: 'tab\\x09here', 3: '\\x1f \\x7f', 4: '\xc3\xa4', 5: ''}");
    assert_string_equal(sk_onnx_metadata(onnx, "license"), "AGPL");
    assert_string_equal(sk_onnx_metadata(onnx, "docs"), "somewhere");
    assert_string_equal(sk_onnx_metadata(onnx, "version"), "8.3.63");
    assert_non_null(strstr(sk_onnx_metadata(onnx, "kpt_names"), "5: ['\xc3\xa4', '']}"));
    sk_onnx_close(&onnx);
    sk_model_close(&model);
}

/* --- refused --- */

typedef void (*spoil)(sk_model *m, sk_onnx_settings *s);

static void opset_below(sk_model *m, sk_onnx_settings *s)
{
    (void)m, s->opset = 12;
}
static void opset_above(sk_model *m, sk_onnx_settings *s)
{
    (void)m, s->opset = 19;
}
static void partly(sk_model *m, sk_onnx_settings *s)
{
    (void)s, m->truncated = 1;
}
static void nameless(sk_model *m, sk_onnx_settings *s)
{
    (void)s, m->truncated = 1, m->path = NULL;
}
static void second_input(sk_model *m, sk_onnx_settings *s)
{
    (void)s, m->graph->inputs[m->graph->n_inputs++] = 0;
}
static void no_input(sk_model *m, sk_onnx_settings *s)
{
    (void)s, m->graph->n_inputs = 0;
}
static void size_any(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_size = s->dynamic_size = 1;
}
static void size_high(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_size = 1, s->height = 96;
}
static void size_wide(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_size = 1, s->width = 64;
}
static void size_same(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_size = 1, s->height = 64, s->width = 96;
}
static void size_unsaid(sk_model *m, sk_onnx_settings *s)
{
    (void)s, m->input.fixed_size = 1;
}
static void size_free(sk_model *m, sk_onnx_settings *s)
{
    (void)m, s->height = 96, s->width = 64;
}
static void batch_any(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_batch = 4, s->dynamic_batch = 1;
}
static void batch_other(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_batch = 4, s->batch = 2;
}
static void batch_same(sk_model *m, sk_onnx_settings *s)
{
    m->input.fixed_batch = s->batch = 4;
}
static void batch_unsaid(sk_model *m, sk_onnx_settings *s)
{
    (void)s, m->input.fixed_batch = 4;
}
static void struct_of_another(sk_model *m, sk_onnx_settings *s)
{
    (void)m, s->size--;
}

static void settings_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        spoil how;
        sk_status status;
        const char *words; /* null: written, in batches of `batch` */
        int batch;
    } cases[] = {
        {opset_below, SK_ERR_ARG, "ONNX export: opset 12; 13 to 18 can be written", 0},
        {opset_above, SK_ERR_ARG, "ONNX export: opset 19; 13 to 18 can be written", 0},
        {partly, SK_ERR_UNSUPPORTED, "made here: only part of the model could be read, so it cannot", 0},
        {nameless, SK_ERR_UNSUPPORTED, "the model: only part of the model could be read", 0},
        {second_input, SK_ERR_UNSUPPORTED, "the model has 2 inputs where one is expected", 0},
        {no_input, SK_ERR_UNSUPPORTED, "the model has 0 inputs where one is expected", 0},
        {size_any, SK_ERR_UNSUPPORTED, "made here: this file allows only 96x64; export from the original", 0},
        {size_high, SK_ERR_UNSUPPORTED, "made here: this file allows only 96x64", 0},
        {size_wide, SK_ERR_UNSUPPORTED, "made here: this file allows only 96x64", 0},
        {size_same, SK_OK, NULL, 1},
        {size_unsaid, SK_OK, NULL, 1},
        {size_free, SK_OK, NULL, 1},
        {batch_any, SK_ERR_UNSUPPORTED, "made here: this file allows only batches of 4; export from", 0},
        {batch_other, SK_ERR_UNSUPPORTED, "made here: this file allows only batches of 4", 0},
        {batch_same, SK_OK, NULL, 4},
        {batch_unsaid, SK_OK, NULL, 4},
        {struct_of_another, SK_ERR_ARG, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = make_yolo();
        sk_onnx_settings s = sk_onnx_defaults();
        sk_onnx_model *onnx = NULL;
        const int32_t n_inputs = model->graph->n_inputs;
        err = (sk_error){0};
        cases[i].how(model, &s);
        const sk_status status = sk_model_to_onnx(model, &s, &onnx, &err);
        if (status != cases[i].status || (cases[i].words && !strstr(err.message, cases[i].words)))
            fail_msg("case %zu: %d, '%s'", i, status, err.message);
        assert_int_equal(onnx != NULL, status == SK_OK);
        if (onnx)
            assert_int_equal(onnx->graph.inputs[0].shape.dim[0], cases[i].batch);
        model->graph->n_inputs = n_inputs;
        sk_onnx_close(&onnx);
        sk_model_close(&model);
    }
}

/* --- sizes nobody says --- */

static void usual_sizes(void **state)
{
    (void)state;
    static const struct {
        int32_t crop, own[2], wished[2], height, width;
    } cases[] = {{0, {64, 96}, {0, 0}, 64, 96},    {0, {0, 0}, {0, 0}, 640, 640},
                 {160, {0, 0}, {0, 0}, 160, 160},  {1, {0, 0}, {32, 0}, 32, 32},
                 {160, {64, 96}, {0, 32}, 64, 32}, {0, {64, 0}, {0, 0}, 64, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = make_sleap();
        sk_onnx_settings s = sk_onnx_defaults();
        sk_onnx_model *onnx = NULL;
        model->sleap.crop_size[0] = cases[i].crop;
        model->input.height = cases[i].own[0];
        model->input.width = cases[i].own[1];
        s.height = cases[i].wished[0];
        s.width = cases[i].wished[1];
        assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
        const sk_shape *shape = &onnx->graph.inputs[0].shape;
        if (shape->dim[2] != cases[i].height || shape->dim[3] != cases[i].width)
            fail_msg("case %zu: %lld x %lld", i, (long long)shape->dim[2], (long long)shape->dim[3]);
        assert_true(shape->rank == 4 && shape->dim[0] == 1 && shape->dim[1] == 1);
        sk_onnx_close(&onnx);
        sk_model_close(&model);
    }
}

/* Outputs that nobody described are counted; the sides of a single map have names, those of several have none. */
static void outputs_without_names(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        sk_model *model = which < 2 ? make_sleap() : make_yolo();
        sk_onnx_settings s = sk_onnx_defaults();
        sk_onnx_model *onnx = NULL;
        s.dynamic_batch = s.dynamic_size = 1;
        s.with_tail = which < 2;
        model->n_outputs = 1;
        model->yolo.n_heads = which == 2 ? 8 : 9; /* of nine */
        model->yolo.end2end = 1;
        if (which == 0)
            model->graph->n_outputs = 1;
        assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
        const sk_onnx_value *outs = onnx->graph.outputs;
        assert_int_equal(onnx->graph.n_outputs, which < 2 ? which + 1 : 9);
        static const char *const first[] = {"MultiInstanceConfmapsHead_0", "output0", "output0", "box0"};
        assert_string_equal(outs[0].name, first[which]);
        if (which)
            assert_string_equal(outs[1].name, which == 3 ? "class0" : "output1");
        assert_string_equal(outs[0].param[0], "batch");
        assert_string_equal(outs[0].param[1], "");
        assert_string_equal(outs[0].param[2], which ? "" : "map_height");
        assert_string_equal(outs[0].param[3], which ? "" : "map_width");
        assert_true(outs[0].shape.dim[0] == -1 && outs[0].shape.dim[2] == -1 && outs[0].shape.dim[3] == -1);
        assert_true(outs[0].shape.dim[1] == (which < 2 ? 2 : 4));
        sk_onnx_close(&onnx);
        model->graph->n_outputs = which < 2 ? 2 : 1;
        sk_model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_every_setting), cmocka_unit_test(days),
        cmocka_unit_test(texts_of_python),       cmocka_unit_test(settings_that_do_not_fit),
        cmocka_unit_test(usual_sizes),           cmocka_unit_test(outputs_without_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
