/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of model there is a small one of, whole: its graph, what it says beside it, what is left after the passes, what is exported
 * and comes back as the same. What the numbers mean is tested elsewhere; here nothing may change unseen. A line a stage, with the
 * number of operations and a hash of the text or bytes. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "models/model.h"
#include "models/model_json.h"
#include "models/onnx_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;

static void put_graph(sk_text *all, const char *what, const sk_graph *graph)
{
    char *text = NULL;
    assert_ok(sk_graph_print(graph, &text, &err), &err);
    sk_text_appendf(all, "  %-14s %4zu operations, %lld parameters, %.0f flops, peak %.0f, %016llx\n", what,
                    graph->n_nodes, (long long)sk_graph_parameters(graph), sk_graph_flops(graph),
                    sk_graph_peak_bytes(graph), (unsigned long long)sk_hash_xxh3(text, strlen(text), 0));
    if (getenv("SKITTER_TEST_DUMP"))
        fprintf(stderr, "@@ %s\n%s\n", what, text);
    sk_free(text);
}

/* The weights, too: in the order of the graph's values. */
static void put_weights(sk_text *all, const sk_graph *graph)
{
    uint64_t hash = 0;
    size_t count = 0;
    for (size_t i = 0; i < graph->n_values; i++)
        if (graph->values[i].blob) {
            const sk_tensor t = sk_value_tensor(graph, (sk_value)i);
            hash = sk_hash_xxh3(t.data, sk_tensor_bytes(&t), hash);
            count++;
        }
    sk_text_appendf(all, "  %-14s %4zu constants, %016llx\n", "weights", count, (unsigned long long)hash);
}

/* What it says beside its graph, but for what names this machine's folders. */
static void put_told(sk_text *all, const sk_model *model)
{
    char *text = NULL;
    assert_ok(sk_model_to_json(model, &text, &err), &err);
    sk_text_appendf(all, "  %-14s %016llx\n", "told",
                    (unsigned long long)sk_hash_xxh3(text, strlen(text), 0));
    sk_model *back = NULL;
    assert_ok(sk_model_create(&back, &err), &err);
    assert_ok(sk_model_from_json(back, text, "told", &err), &err);
    char *again = NULL;
    assert_ok(sk_model_to_json(back, &again, &err), &err);
    assert_string_equal(text, again);
    sk_model_close(&back);
    sk_free_all(text, again);
}

static void put_export(sk_text *all, const char *what, const sk_model *model,
                       const sk_onnx_settings *settings)
{
    char path[4400];
    sk_model *back = NULL;
    snprintf(path, sizeof path, "%s/out.onnx", test_folder());
    const sk_status status = sk_model_export_onnx(model, settings, path, &err);
    if (status != SK_OK) {                           /* some forms some models do not have */
        const char *why = strstr(err.message, ": "); /* behind the path */
        sk_text_appendf(all, "  %-14s refused: %.60s\n", what, why ? why + 2 : err.message);
        return;
    }
    assert_ok(sk_model_open(path, &back, &err), &err);
    put_graph(all, what, back->graph);
    put_weights(all, back->graph);
    sk_model_close(&back);
}

static void put_model(sk_text *all, const char *name, const sk_model *model)
{
    static const int32_t sizes[][2] = {{64, 96}, {32, 32}};
    const sk_input_spec *in = &model->input;
    sk_text_appendf(all, "%s\n", name);
    put_told(all, model);
    put_graph(all, "graph", model->graph);
    put_weights(all, model->graph);
    for (int i = 0; i < 2; i++) {
        sk_graph *fixed = NULL;
        const sk_shape shape = {.rank = 4,
                                .dim = {in->fixed_batch > 0 ? in->fixed_batch : 1 + i, in->channels,
                                        in->fixed_size ? in->height : sizes[i][0],
                                        in->fixed_size ? in->width : sizes[i][1]}};
        assert_ok(sk_graph_specialise(model->graph, &shape, 1, &fixed, &err), &err);
        put_graph(all, "specialised", fixed);
        assert_ok(sk_graph_optimise(fixed, &err), &err);
        put_graph(all, "optimised", fixed);
        assert_ok(sk_graph_verify(fixed, &err), &err);
        put_weights(all, fixed);
        if (sk_graph_cut_tail(fixed, &err) == SK_OK)
            put_graph(all, "cut", fixed);
        sk_graph_close(&fixed);
    }
    sk_onnx_settings s = sk_onnx_defaults();
    s.undated = 1;
    put_export(all, "onnx", model, &s);
    s.dynamic_batch = s.dynamic_size = 1;
    put_export(all, "any size", model, &s);
    s.dynamic_size = 0;
    s.half = 1;
    put_export(all, "half", model, &s);
    s.half_io = 1;
    s.opset = 13;
    s.dynamic_batch = 0;
    s.batch = 2;
    s.height = s.width = in->fixed_size ? 0 : 64;
    put_export(all, "half, opset 13", model, &s);
    s = sk_onnx_defaults();
    s.undated = 1;
    s.opset = 18;
    s.with_tail = 0;
    s.optimise = 0;
    put_export(all, "raw, opset 18", model, &s);
}

static void models_stay_as_they_are(void **state)
{
    (void)state;
#ifndef __x86_64__ /* others fuse products and sums where weights are folded */
    skip();
#endif
    sk_text all = {0};
    static const char *const folders[] = {"sleap_nn/convnext_bottomup",
                                          "sleap_nn/convnext_class_vectors",
                                          "sleap_nn/convnext_transposed",
                                          "sleap_nn/unet_bottomup_transposed",
                                          "sleap_nn/unet_class_maps",
                                          "sleap_nn/unet_class_vectors",
                                          "sleap_nn/unet_no_decoder",
                                          "sleap_nn/unet_single_kernel5_convs3",
                                          "sleap_nn/unet_stem",
                                          "sleap_nn/unet_stem_interpolated",
                                          "sleap_keras/convolutions",
                                          "sleap_keras/encoder",
                                          "sleap_keras/pooling_and_merging",
                                          "sleap_keras/transposed",
                                          "sleap_keras/vectors"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[256];
        sk_model *model = NULL;
        snprintf(path, sizeof path, "tests/fixtures/%s", folders[i]);
        assert_ok(sk_model_open(test_source(path), &model, &err), &err);
        put_model(&all, folders[i], model);
        sk_model_close(&model);
    }
    static const yolo_fixture heads[] = {{.head = "Detect"},
                                         {.head = "Pose", .f32 = true},
                                         {.head = "OBB", .f32 = true},
                                         {.head = "Segment", .f32 = true},
                                         {.head = "v10Detect", .f32 = true},
                                         {.head = "Pose26", .f32 = true},
                                         {.head = "OBB26", .f32 = true},
                                         {.head = "Classify", .f32 = true, .imgsz = 64},
                                         {.head = "Detect", .fused = true}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int one = 0; one < 2; one++) {
            sk_model *model = NULL;
            char name[64];
            if (sk_model_open_heads(yolo_save(&heads[i], "head.pt"),
                                    one ? SK_HEADS_ONE_TO_ONE : SK_HEADS_AUTO, &model, &err) != SK_OK)
                continue;
            snprintf(name, sizeof name, "%s%s%s", heads[i].head, heads[i].fused ? ", fused" : "",
                     one ? ", one to one" : "");
            put_model(&all, name, model);
            sk_model_close(&model);
        }
    test_text_is("tests/models/whole/all.txt", sk_text_get(&all));
    sk_text_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_stay_as_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
