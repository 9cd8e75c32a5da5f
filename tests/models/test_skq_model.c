/* SPDX-License-Identifier: Apache-2.0 */
/* A model in eight bits, as a file: what is said of it beside what its network says, and what is looked up without reading it. */
#include "onnx_model_fixture.h"

#include "formats/skq.h"
#include "models/quantised.h"

static const char about[] =
    "{\"precision\": \"i8\", \"source\": \"flies.pt\", \"source_sha256\": \"00ff\", \"data\": "
    "\"flies.mp4\", \"made_by\": \"skitter\", \"frames\": 10, \"layers_in_eight_bits\": 7, "
    "\"layers_in_f32\": 2, \"measured\": true, \"loss\": {\"frames\": 10, \"instances\": 40, "
    "\"lost\": 1, \"added\": 2, \"percent\": 7.5, \"box_px\": 0.25, \"box_px_95\": 0.5, "
    "\"score\": 0.125, \"score_95\": 0.25}, \"layers\": [{\"name\": \"stem\", \"low\": -1, "
    "\"high\": 2}]}";

static const char *fact(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return "";
}

/* The pose model of the fixture with `json` said of it. */
static const char *save(const char *json, const char *name)
{
    sk_error err = {0};
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    sk_model *model = make_yolo();
    uint8_t *network = NULL, *file = NULL;
    size_t length = 0, bytes = 0;
    const char *path = in_folder(name);
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    assert_ok(sk_onnx_write(onnx, &network, &length, &err), &err);
    const sk_skq both = {
        .json = json, .json_length = strlen(json), .network = network, .network_length = length};
    assert_ok(sk_skq_write(&both, &file, &bytes, &err), &err);
    assert_ok(sk_file_replace(path, file, bytes, &err), &err);
    sk_free_all(network, file);
    sk_onnx_close(&onnx);
    sk_model_close(&model);
    return path;
}

static void a_file_is_a_model(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(save(about, "flies.skq"), &model, &err), &err);
    assert_int_equal(model->format, SK_FORMAT_SKQ);
    assert_int_equal(model->task, SK_TASK_POSE);
    assert_string_equal(fact(model, "made from"), "flies.pt");
    assert_string_equal(fact(model, "eight bits"), "i8, loss 7.50 % on cpu, 10 frames: of 40 instances 1 "
                                                   "lost, 2 new, boxes 0.25 px (95 %: 0.50), scores 0.125 "
                                                   "(95 %: 0.250)");
    assert_non_null(model->quantised);
    assert_string_equal(model->quantised->source, "flies.pt");
    assert_int_equal(model->quantised->n_reach, 1);
    assert_string_equal(model->quantised->reach[0].name, "stem");
    assert_true(model->quantised->reach[0].low == -1 && model->quantised->reach[0].high == 2);
    assert_int_equal(strlen(model->content_hash), 64);
    char hash[65];
    memcpy(hash, model->content_hash, sizeof hash);
    sk_model_close(&model);
    /* another thing said is another file */
    char other[sizeof about];
    memcpy(other, about, sizeof about);
    *strstr(other, "flies.mp4") = 'F';
    assert_ok(sk_model_open(save(other, "other.skq"), &model, &err), &err);
    assert_string_not_equal(model->content_hash, hash);
    sk_model_close(&model);
}

static void it_is_looked_at(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_quantised q;
    bool is = false;
    memset(&q, 0x5a, sizeof q);
    assert_ok(sk_quantised_look(save(about, "flies.skq"), &q, &is, &err), &err);
    assert_true(is);
    assert_string_equal(q.source, "flies.pt");
    assert_true(q.layers == 7 && q.kept == 2 && q.measured && q.loss.percent == 7.5);
    assert_true(!q.reach && q.n_reach == 0); /* names that would not outlive the look */
    memset(&q, 0x5a, sizeof q);
    assert_ok(sk_quantised_look(save(about, "flies.pt"), &q, &is, &err), &err); /* under any name */
    assert_true(is && q.measured && q.loss.percent == 7.5);
    static const struct {
        const char *name, *bytes;
        bool is;
    } others[] = {
        {"plain.skq", "plain text", true}, {"plain.onnx", "plain text", false}, {"none.skq", NULL, false}};
    for (int i = 0; i < 3; i++) { /* a file is taken for one by its name, and then must be one */
        const char *path = in_folder(others[i].name);
        if (others[i].bytes)
            assert_ok(sk_file_replace(path, others[i].bytes, strlen(others[i].bytes), &err), &err);
        is = !others[i].is;
        assert_int_equal(sk_quantised_look(path, &q, &is, &err), others[i].is ? SK_ERR_FORMAT : SK_OK);
        assert_int_equal(is, others[i].is);
    }
}

static const char *save_onnx(sk_model *model, const char *name)
{
    sk_error err = {0};
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    uint8_t *file = NULL;
    size_t bytes = 0;
    const char *path = in_folder(name);
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    assert_ok(sk_onnx_write(onnx, &file, &bytes, &err), &err);
    assert_ok(sk_file_replace(path, file, bytes, &err), &err);
    sk_free(file);
    sk_onnx_close(&onnx);
    return path;
}

/* What is exported from a .skq lost as much, and says so: when it is opened, and when it is looked at. */
static void an_export_carries_the_loss(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    sk_quantised q;
    bool is = false;
    assert_ok(sk_model_open(save(about, "flies.skq"), &model, &err), &err);
    const char *path = save_onnx(model, "flies.onnx");
    sk_model_close(&model);
    memset(&q, 0x5a, sizeof q);
    assert_ok(sk_quantised_look(path, &q, &is, &err), &err);
    assert_true(is && q.measured && q.loss.percent == 7.5 && q.loss.added == 2 && q.kept == 2);
    assert_string_equal(q.source, "flies.pt");
    assert_true(!q.reach && q.n_reach == 0);
    assert_ok(sk_model_open(path, &model, &err), &err);
    assert_int_equal(model->format, SK_FORMAT_ONNX);
    assert_non_null(model->quantised);
    assert_true(model->quantised->loss.percent == 7.5);
    assert_string_equal(model->quantised->made_by, "skitter");
    /* and what is exported from that */
    assert_ok(sk_quantised_look(save_onnx(model, "again.onnx"), &q, &is, &err), &err);
    assert_true(is && q.loss.percent == 7.5);
    sk_model_close(&model);
}

static void what_others_made_is_told_apart(void **state)
{
    (void)state;
    sk_error err = {0};
    char text[SK_QUANTISED_TEXT];
    sk_quantised q;
    bool is = true;
    sk_model *plain = make_yolo();
    memset(&q, 0x5a, sizeof q);
    assert_ok(sk_quantised_look(save_onnx(plain, "f32.onnx"), &q, &is, &err), &err);
    assert_false(is);
    assert_null(plain->quantised);
    sk_model_close(&plain);
    static const char *const names[] = {"x"};
    const sk_onnx_node node = {.op = "DequantizeLinear",
                               .domain = "",
                               .name = "dq",
                               .n_in = 1,
                               .n_out = 1,
                               .in = names,
                               .out = names};
    sk_onnx_model *onnx = NULL;
    uint8_t *file = NULL;
    size_t bytes = 0;
    assert_ok(sk_onnx_create(&onnx, &err), &err);
    onnx->graph.nodes = &node;
    onnx->graph.n_nodes = 1;
    onnx->graph.name = "theirs";
    onnx->ir_version = 8;
    onnx->opsets = &(const sk_onnx_opset){"", 17};
    onnx->n_opsets = 1;
    assert_ok(sk_onnx_write(onnx, &file, &bytes, &err), &err);
    assert_ok(sk_file_replace(in_folder("theirs.onnx"), file, bytes, &err), &err);
    sk_onnx_close(&onnx);
    sk_free(file);
    assert_ok(sk_quantised_look(in_folder("theirs.onnx"), &q, &is, &err), &err);
    assert_true(is && !q.measured && !q.reach && q.n_reach == 0);
    assert_string_equal(q.made_by, "");
    assert_string_equal(sk_quantised_text(&q, text), "8 bits, loss not known: another program made it");
}

/* A number is told where there is one, however small. */
static void small_losses_are_told(void **state)
{
    (void)state;
    char text[SK_QUANTISED_TEXT];
    sk_quantised q = {.precision = "i8",
                      .made_by = "skitter",
                      .measured = true,
                      .loss = {.box_px = 0.25, .box_px_95 = 0.5}};
    assert_string_equal(
        sk_quantised_text(&q, text),
        "i8, loss 0.00 % on cpu: of 0 instances 0 lost, 0 new, boxes 0.25 px (95 %: 0.50), scores 0.000 "
        "(95 %: 0.000)");
    q.loss = (sk_loss){.keypoint_px = 0.25, .keypoint_px_95 = 0.75};
    assert_string_equal(
        sk_quantised_text(&q, text),
        "i8, loss 0.00 % on cpu: of 0 instances 0 lost, 0 new, keypoints 0.25 px (95 %: 0.75), scores 0.000 "
        "(95 %: 0.000)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_is_a_model), cmocka_unit_test(it_is_looked_at),
                                       cmocka_unit_test(an_export_carries_the_loss),
                                       cmocka_unit_test(what_others_made_is_told_apart),
                                       cmocka_unit_test(small_losses_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
