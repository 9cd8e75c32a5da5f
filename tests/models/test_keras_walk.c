/* SPDX-License-Identifier: Apache-2.0 */
/* How the layers of a Keras model are walked: references, calls, models inside models, inputs and outputs, and every limit from both
 * sides. Compared with tests/models/whole/keras_walk.txt. */
#include "keras_words.h"

#define A "[[a, 0, 0]]"

/* What is inside a model: its input, and more layers. */
#define OWN(outputs, more)                                                                                   \
    "{layers: [{class_name: InputLayer, name: in, config: {}, inbound_nodes: []}" more                       \
    "], input_layers: [[in, 0, 0]], output_layers: " outputs "}"
#define RELU ", {class_name: ReLU, name: a, config: {}, inbound_nodes: [[[in, 0, 0]]]}"
#define CONV                                                                                                 \
    ", {class_name: Conv2D, name: a, config: {filters: 4, kernel_size: 1, strides: 4}, inbound_nodes: "      \
    "[[[in, 0, 0]]]}"

static const struct {
    const char *words, *outputs;
} cases[] = {
    /* order and references */
    {"a=ReLU{} b; b=Flatten{} c; c=ReLU{} in", A},
    {"a=ReLU{} in", "[a, 0, 0]"},
    {"a=ReLU{} in", "[[a]]"},
    {"a=ReLU{} in", "[[a, 0, 0], [in, 0, 0]]"},
    {"a=ReLU{} in", "[[a, 0, 0], [a, 0, 0]]"},
    {"a=ReLU{} in", "[]"},
    {"a=ReLU{} in", "[b]"},
    {"a=ReLU{} in", "[[b, 0, 0]]"},
    {"a=ReLU{} in", "[[1, 0, 0]]"},
    {"a=ReLU{} in", "[[a, 1, 0]]"},
    {"a=ReLU{} in", "[[a, -1, 0]]"},
    {"a=ReLU{} in", "[[a, 0, 1]]"},
    {"a=ReLU{} in", "[[a, 0, -1]]"},
    {"a=ReLU{}", A},
    {"a=ReLU{} in; b=ReLU{}", A},
    {"a=ReLU{} in; b=ReLU{}", "[[b, 0, 0]]"},
    {"a=ReLU{} b; b=ReLU{} a", A},
    {"a=ReLU{} in; b=ReLU{} c; c=ReLU{} b", A},
    {"a=ReLU{} nobody", A},
    {"a=ReLU{} in/1/0", A},
    {"a=ReLU{} in/0/1", A},
    {"a=ReLU{} in; a=ReLU{} in", A},
    {"c=ReLU{} in; b=ReLU{} c; d=ReLU{} b; e=ReLU{} d; a=ReLU{} e; f=ReLU{} a; g=ReLU{} f", A},
    /* several calls */
    {"b=MaxPooling2D{} in | b/0/0 | b/1/0; a=ReLU{} b/2/0", A},
    {"b=MaxPooling2D{} in | b/0/0 | b/1/0; a=ReLU{} b/0/0", A},
    {"b=MaxPooling2D{} in | b/0/0; a=UpSampling2D{size: 4} b/1/0", A},
    {"b=Conv2D{filters: 2, kernel_size: 1} in | b/0/0; a=ReLU{} b/1/0", A},
    {"b=ReLU{} b/1/0 | in; a=ReLU{} b/0/0", A},
    /* what is no layer */
    {"a={} in", A},
    {"=ReLU{} in", A},
    {"a=InputLayer{batch_input_shape: [null, 6, 8, 2]}", A},
    {"a=InputLayer{batch_input_shape: [null, 6, 8, 2]}", "[[in, 0, 0]]"},
    /* models inside */
    {"m=Functional" OWN(A, RELU) " in; a=ReLU{} m/1/0", A},
    {"m=Model" OWN(A, RELU) " in; a=ReLU{} m/0/0", A},
    {"m=Functional" OWN("[a, 0, 0]", CONV) " in; a=ReLU{} m/1/0", A},
    {"m=Functional" OWN("[[a, 0, 0], [in, 0, 0]]", CONV) " in; a=Add{} m/1/1 m/1/1; b=ReLU{} m/1/0",
     "[[a, 0, 0], [b, 0, 0]]"},
    {"m=Functional" OWN(A, CONV) " in | in; a=Add{} m/1/0 m/2/0", A},
    {"m=Functional" OWN(A, CONV) " in; a=Add{} m/1/0 m/2/0", A},
    {"m=Functional" OWN(A, CONV) " in; a=ReLU{} m/1/1", A},
    {"m=Functional" OWN(A, CONV) " in; a=ReLU{} m/1/63", A},
    {"m=Functional" OWN(A, CONV) " in; a=ReLU{} m/1/64", A},
    {"m=Functional" OWN(A, CONV) " in in; a=ReLU{} m/1/0", A},
    {"m=Functional" OWN("[]", CONV) " in; a=ReLU{} m/1/0", A},
    {"m=Functional" OWN("[[b, 0, 0]]", CONV) " in; a=ReLU{} m/1/0", A},
    {"m=Functional" OWN("[[n, 1, 0]]", ", {class_name: Model, name: n, config: " OWN(
                                           A, CONV) ", inbound_nodes: [[[in, 0, 0]]]}") " in; a=ReLU{} m/1/0",
     A}, /* weights are the outermost's */
    {"m=Functional{layers: []} in; a=ReLU{} m/1/0", A},
    {"m=Functional{} in; a=ReLU{} m/1/0", A},
    {"m=Functional{layers: [{class_name: ReLU, name: r, config: {}, inbound_nodes: []}], input_layers: [[r, "
     "0, "
     "0]], output_layers: [[r, 0, 0]]} in; a=ReLU{} m/1/0",
     A},
    {"m=Functional{layers: [{class_name: InputLayer, name: x, config: {}, inbound_nodes: []}, {class_name: "
     "InputLayer, name: y, config: {}, inbound_nodes: []}, {class_name: Add, name: a, config: {}, "
     "inbound_nodes: [[[x, 0, 0], [y, 0, 0]]]}], input_layers: [[y, 0, 0], [x, 0, 0]], output_layers: [[a, "
     "0, "
     "0]]} in b; b=ReLU{} in; a=ReLU{} m/1/0",
     A},
    {"m=Functional{layers: [{class_name: InputLayer, name: x, config: {}, inbound_nodes: []}, {class_name: "
     "InputLayer, name: y, config: {}, inbound_nodes: []}], input_layers: [[y, 0, 0], [x, 0, 0]], "
     "output_layers: [[x, 0, 0]]} in; a=ReLU{} m/1/0",
     A},
};

static void references_and_calls(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_text_appendf(&all, "%s of ", cases[i].outputs);
        say_layers(cases[i].words, "6, 8, 2", cases[i].outputs, &all);
    }
    words_check(&all, "tests/models/whole/keras_walk.txt");
}

/* --- the file around the layers --- */

#define INPUT                                                                                                \
    "{class_name: InputLayer, name: in, config: {batch_input_shape: [null, 6, 8, 2]}, inbound_nodes: []}"

static const char *const models[] = {
    "{class_name: Model, config: {layers: [" INPUT
    "], input_layers: [in, 0, 0], output_layers: [[in, 0, 0]]}}",
    "{class_name: Functional, config: {layers: [" INPUT "], input_layers: [[in]], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT "], input_layers: [], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT "], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT "], input_layers: [[out]], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT "], input_layers: [[5]], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT "], input_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, name: a, config: {}, inbound_nodes: []}], input_layers: [[a]], output_layers: "
    "[[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT ", {class_name: InputLayer, name: two, config: "
    "{batch_input_shape: [null, 1, 1, 1]}, inbound_nodes: []}], input_layers: [[in], [two]], output_layers: "
    "[[in]]}}",
    /* what a layer must have, and where its name may stand */
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, config: {name: a}, inbound_nodes: "
    "[[[in]]]}], input_layers: [[in]], output_layers: [[a]]}}",
    "{class_name: Functional, config: {layers: [" INPUT ", {class_name: ReLU, name: b, config: {name: a}, "
    "inbound_nodes: [[[in]]]}], input_layers: [[in]], output_layers: [[b]]}}",
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, config: {}, inbound_nodes: [[[in]]]}], input_layers: [[in]], output_layers: "
    "[[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT
    ", {name: a, config: {}, inbound_nodes: [[[in]]]}], input_layers: [[in]], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, name: a, inbound_nodes: [[[in]]]}], input_layers: [[in]], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, name: a, config: {}, inbound_nodes: "
    "[{args: []}]}], input_layers: [[in]], output_layers: [[in]]}}",
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, name: a, config: {}, inbound_nodes: "
    "[[in, 0, 0]]}], input_layers: [[in]], output_layers: [[a]]}}", /* a single input, bare */
    "{class_name: Functional, config: {layers: [" INPUT
    ", {class_name: ReLU, name: a, config: {}, inbound_nodes: "
    "[[]]}], input_layers: [[in]], output_layers: [[a]]}}",
    "{class_name: Functional, config: {layers: {a: 1}, input_layers: [[in]], output_layers: [[a]]}}",
    "{class_name: Functional, config: {layers: []}}",
    "{class_name: Functional}",
    "{class_name: Sequential}",
    "{}",
};

static void models_around_layers(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        sk_text_appendf(&all, "%s\n", models[i]);
        say_model(models[i], false, &all);
    }
    words_check(&all, "tests/models/whole/keras_models.txt");
}

/* A picture's sizes: 0 and below are any. */
static void inputs_are_pictures(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "6, 8, 1",    "null, null, 3",       "6, null, 3",    "null, 8, 3",    "0, -1, 3",
        "6, 8, 4096", "6, 8, 4097",          "6, 8, 0",       "6, 8, null",    "6, 8",
        "6, 8, 1, 1", "1048576, 1048576, 1", "1048577, 8, 1", "6, 1048577, 1", "6, 8, a"};
    sk_text all = {0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        say_layers("a=ReLU{} in", shapes[i], A, &all);
    sk_text_append(&all, "as Keras 2.13 calls it\n");
    say_model(
        "{class_name: Functional, config: {layers: [{class_name: InputLayer, name: in, config: {batch_shape: "
        "[null, 4, 5, 3]}, inbound_nodes: []}], input_layers: [[in, 0, 0]], output_layers: [[in, 0, 0]]}}",
        false, &all);
    words_check(&all, "tests/models/whole/keras_inputs.txt");
}

/* --- limits --- */

static void repeat(sk_text *out, const char *words, int count)
{
    for (int i = 0; i < count; i++)
        sk_text_append(out, words);
}

/* `count` of them is taken, one more is not. */
static void say_limit(const char *what, int count, void (*write)(sk_text *, int), sk_text *all)
{
    for (int more = 0; more < 2; more++) {
        sk_text model = {0};
        write(&model, count + more);
        sk_text_appendf(all, "%d %s\n", count + more, what);
        say_model(sk_text_get(&model), true, all);
        sk_text_free(&model);
    }
}

static void many_layers(sk_text *m, int count)
{
    sk_text_append(m, "{class_name: Functional, config: {layers: [" INPUT);
    for (int i = 1; i < count; i++)
        sk_text_appendf(m, ", {class_name: ReLU, name: r%d, config: {}, inbound_nodes: [[[in, 0, 0]]]}", i);
    sk_text_append(m, "], input_layers: [[in, 0, 0]], output_layers: [[r1, 0, 0]]}}");
}

static void many_calls(sk_text *m, int count)
{
    sk_text_append(m, "{class_name: Functional, config: {layers: [" INPUT
                      ", {class_name: Dropout, name: d, config: {}, inbound_nodes: [[in]");
    repeat(m, ", [in]", count - 2);
    sk_text_append(m, "]}], input_layers: [[in, 0, 0]], output_layers: [[d, 0, 0]]}}");
}

static void many_inputs(sk_text *m, int count)
{
    sk_text_append(m, "{class_name: Functional, config: {layers: [" INPUT
                      ", {class_name: Add, name: a, config: {}, inbound_nodes: [[[in]");
    repeat(m, ", [in]", count - 1);
    sk_text_append(m, "]]}], input_layers: [[in, 0, 0]], output_layers: [[a, 0, 0]]}}");
}

static void many_outputs(sk_text *m, int count)
{
    sk_text_append(m, "{class_name: Functional, config: {layers: [" INPUT
                      "], input_layers: [[in, 0, 0]], output_layers: [[in]");
    repeat(m, ", [in]", count - 1);
    sk_text_append(m, "]}}");
}

static void many_outputs_inside(sk_text *m, int count)
{
    sk_text_append(m, "{class_name: Functional, config: {layers: [" INPUT
                      ", {name: m, class_name: Model, config: {layers: [" INPUT
                      "], input_layers: [[in]], output_layers: [[in]");
    repeat(m, ", [in]", count - 1);
    sk_text_append(m, "]}, inbound_nodes: [[[in]]]}], input_layers: [[in]], output_layers: [[m, 1, 63]]}}");
}

static void deep_models(sk_text *m, int count)
{
    sk_text_append(m, "{class_name: Functional, config: {layers: [" INPUT);
    repeat(m, ", {name: m, class_name: Model, config: {layers: [" INPUT, count);
    repeat(m, "], input_layers: [[in]], output_layers: [[in]]}, inbound_nodes: [[[in]]]}", count);
    sk_text_append(m, "], input_layers: [[in]], output_layers: [[m, 1, 0]]}}");
}

static void limits(void **state)
{
    (void)state;
    sk_text all = {0};
    say_limit("layers", 4096, many_layers, &all);
    say_limit("calls", 65536, many_calls, &all);
    say_limit("inputs", 64, many_inputs, &all);
    say_limit("outputs", 32, many_outputs, &all);
    say_limit("outputs inside", 64, many_outputs_inside, &all);
    say_limit("models inside each other", 4, deep_models, &all);
    words_check(&all, "tests/models/whole/keras_limits.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(references_and_calls),
                                       cmocka_unit_test(models_around_layers),
                                       cmocka_unit_test(inputs_are_pictures), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
