/* SPDX-License-Identifier: Apache-2.0 */
/* YOLO networks at their limits, one taken and one more refused by its words: parts of blocks, modules, depth, layers that feed one; and
 * layers that join or choose what others gave. */
#include "pickle_words.h"
#include "support/yolo_writer.h"

#include "base/text.h"
#include "models/model.h"

static sk_error err;

/* Null: taken */
static void becomes(const yolo_fixture *f, const char *words)
{
    sk_model *model = NULL;
    err = (sk_error){0};
    const sk_status status = sk_model_open(yolo_save(f, "limit.pt"), &model, &err);
    if (words ? status == SK_OK || !strstr(err.message, words) : status != SK_OK)
        fail_msg("'%s', not '%s'", status == SK_OK ? "taken" : err.message, words ? words : "taken");
    sk_model_close(&model);
}

static void identities(sk_text *text, int count)
{
    for (int i = 0; i < count; i++)
        sk_text_appendf(text, "%d:Identity ", i);
}

/* Blocks that join what all their parts gave: what is joined goes into a convolution of as many channels. */
static void parts_of_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *end; /* around the parts; the number is that of the channels that come together */
        int most, per, more;     /* channels: per * (parts + more) */
        const char *words;
    } cases[] = {
        {"SPP{cv1:Identity m:ModuleList{", "} cv2:Conv(%d,8,1)}", 63, 8, 1, "(SPP), at model.2: 64 pools"},
        {"C2f{cv1:Identity m:ModuleList{", "} cv2:Conv(%d,8,1)}", 62, 4, 2,
         "(C2f), at model.2: 63 parts in 'm'"},
        {"C3f{cv1:Identity cv2:Identity m:ModuleList{", "} cv3:Conv(%d,8,1)}", 62, 8, 2,
         "(C3f), at model.2: 63 parts in 'm'"},
        {"HGBlock{m:ModuleList{", "} sc:Conv(%d,8,1) ec:Identity}", 63, 8, 1,
         "(HGBlock), at model.2: 64 parts in 'm'"},
        {"A2C2f{cv1:Identity m:ModuleList{", "} cv2:Conv(%d,8,1)}", 63, 8, 1,
         "(A2C2f), at model.2: 64 parts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int more = 0; more < 2; more++) {
            sk_text block = {0};
            char end[100];
            const int n = cases[i].most + more;
            snprintf(end, sizeof end, cases[i].end, cases[i].per * (n + cases[i].more));
            sk_text_append(&block, cases[i].begin);
            identities(&block, n);
            sk_text_append(&block, end);
            becomes(&(yolo_fixture){.f32 = true, .block = sk_text_get(&block)}, more ? cases[i].words : NULL);
            sk_text_free(&block);
        }
    becomes(&(yolo_fixture){.block = "SPPF{cv1:Identity m:Identity cv2:Conv(512,8,1) n=63}"}, NULL);
    becomes(&(yolo_fixture){.block = "SPPF{cv1:Identity m:Identity cv2:Conv(520,8,1) n=64}"},
            "(SPPF), at model.2: 64 pools");
}

static void depth_and_number_of_modules(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        sk_text block = {0};
        for (int i = 0; i < 23 + more; i++)
            sk_text_append(&block, "Sequential{0:");
        sk_text_append(&block, "Identity");
        for (int i = 0; i < 23 + more; i++)
            sk_text_append(&block, "}");
        becomes(&(yolo_fixture){.block = sk_text_get(&block)},
                more ? "modules are nested deeper than 24 or are more than 20000" : NULL);
        sk_text_free(&block);
        /* two layers before, the block itself, and these: the next one is in the block or behind it */
        sk_text_append(&block, "Sequential{");
        identities(&block, 20000 - 3 + more);
        sk_text_append(&block, "}");
        becomes(&(yolo_fixture){.block = sk_text_get(&block)},
                more
                    ? "layer 2 (Sequential), at model.2.19997: modules are nested deeper than 24 or are more "
                      "than 20000"
                    : "layer 3 (SPPF), at model.3: modules are nested deeper than 24 or are more than 20000");
        sk_text_free(&block);
    }
}

static const sk_node *reader_of(const sk_graph *g, sk_op op, sk_value v)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == op && g->nodes[i].in[0] == v)
            return &g->nodes[i];
    return NULL;
}

static sk_value made_by(const sk_graph *g, sk_op op, int which)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == op && which-- == 0)
            return g->nodes[i].out[0];
    fail_msg("no such node");
    return SK_VALUE_NONE;
}

/* Of several layers one is chosen by its place in the list; of one layer that gave one thing, that. Behind it the fixture resizes. */
static void choices(void **state)
{
    (void)state;
    static const struct {
        const char *words, *more;
        int layer; /* whose result it is */
    } cases[] = {{"Index{index=0}", "i=3 f=(1,2)", 1}, {"Index{index=1}", "i=3 f=(1,2)", 2},
                 {"Index{index=1}", "i=3 f=(2,1)", 1}, {"Index{index=0}", "i=3 f=(1)", 1},
                 {"Index{index=0}", "i=3 f=0", 0},     {"Index{}", "i=3 f=(2,0)", 2},
                 {"CBFuse{}", "i=3 f=(1)", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_model *model = NULL;
        const yolo_fixture f = {.block = "Tanh", .next_block = cases[i].words, .next_more = cases[i].more};
        assert_ok(sk_model_open(yolo_save(&f, "choice.pt"), &model, &err), &err);
        /* layers 0 and 1 end in a SiLU, layer 2 is a tanh: the third unary */
        if (!reader_of(model->graph, SK_OP_RESIZE, made_by(model->graph, SK_OP_UNARY, cases[i].layer)))
            fail_msg("%s of %s is not layer %d", cases[i].words, cases[i].more, cases[i].layer);
        sk_model_close(&model);
    }
    becomes(&(yolo_fixture){.next_block = "Index{index=2}", .next_more = "i=3 f=(1,2)"},
            "index 2 of 2 values");
    becomes(&(yolo_fixture){.next_block = "Index{index=-1}", .next_more = "i=3 f=(1,2)"},
            "index -1 of 2 values");
    becomes(&(yolo_fixture){.next_block = "Index{index=1}", .next_more = "i=3 f=2"}, "index 1 of 1 values");
}

/* --- the first layer, which reads the picture --- */

#define BEGIN                                                                                                \
    "{class: ultralytics.nn.tasks.DetectionModel, _modules: {model: {class: torch.nn.modules.container."     \
    "Sequential, _modules: {"
#define END            ": {class: ultralytics.nn.modules.head.Classify, nc: 2}}}}}" /* behind the number of the layer */
#define NETWORK(layer) BEGIN "'0': " layer ", '1'" END
#define CONV           "layer 1 (Classify), at model.1: its part 'conv' is missing; the checkpoint is incomplete"

/* It has no weights, and comes as far as its head at most. */
static void network_says(const char *yaml, const char *words)
{
    tw_zip zip = pickle_words(yaml);
    sk_model *model = NULL;
    assert_ok(sk_model_create(&model, &err), &err);
    const sk_status status =
        sk_model_read_ultralytics_memory(zip.out.bytes, zip.out.length, "best.pt", model, &err);
    if (status == SK_OK || !strstr(err.message, words))
        fail_msg("'%s', not '%s'", err.message, words);
    sk_model_close(&model);
    tw_zip_free(&zip);
}

static void first_layers(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {NETWORK("{class: torch.nn.modules.linear.Identity, f: -1}"), CONV},
        {NETWORK("{class: torch.nn.modules.linear.Identity}"), CONV},
        {NETWORK("{class: ultralytics.nn.modules.block.Index, f: -1}"), CONV},
        {NETWORK("{class: ultralytics.nn.modules.block.Index, f: -1, index: 1}"), "index 1 of 1 values"},
        {NETWORK("{class: ultralytics.nn.modules.conv.Concat, f: [-1, -1]}"), CONV},
        {NETWORK("{class: ultralytics.nn.modules.block.CBFuse, f: [-1]}"),
         "layer 0 (CBFuse), at model.0: nothing to fuse with"},
        {NETWORK("{class: torch.nn.modules.linear.Identity, f: 0}"),
         "layer 0 (Identity), at model.0: it takes its input from layer 0, which is not before it"},
        {NETWORK("{class: torch.nn.modules.linear.Identity, f: -2}"),
         "layer 0 (Identity), at model.0: it takes its input from layer -2, which is not before it"},
        {NETWORK("7"), "layer 0 (?), at model.0: it is no module"},
        {NETWORK("{class: ultralytics.nn.modules.head.Detect}"),
         "layer 0 (Detect), at model.0: a head that is not the last layer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        network_says(cases[i][0], cases[i][1]);
}

#define IDENTITY "{class: torch.nn.modules.linear.Identity}"

static void layers_that_feed_one(void **state)
{
    (void)state;
    for (int count = 0; count <= 33; count += count ? 1 : 31) {
        sk_text yaml = {0};
        char words[100];
        sk_text_append(&yaml, BEGIN "'0': " IDENTITY ", '1': " IDENTITY
                                    ", '2': {class: torch.nn.modules.linear.Identity, f: [");
        for (int i = 0; i < count; i++)
            sk_text_appendf(&yaml, i ? ", %d" : "%d", i % 2);
        sk_text_append(&yaml, "]}, '3'" END);
        snprintf(words, sizeof words,
                 count > 32 || !count ? "it takes its input from %d layers"
                                      : "module class 'Identity' with %d inputs is not known",
                 count);
        network_says(sk_text_get(&yaml), words);
        sk_text_free(&yaml);
    }
    network_says(BEGIN "'0': " IDENTITY
                       ", '1': {class: torch.nn.modules.linear.Identity, f: [0, 1]}, '2'" END,
                 "layer 1 (Identity), at model.1: it takes its input from layer 1, which is not before it");
}

#define LINEAR(widths, index)                                                                                \
    BEGIN "'0': {class: ultralytics.nn.modules.block.CBLinear, c2s: [" widths                                \
          "], _modules: {conv: " IDENTITY                                                                    \
          "}}, '1': {class: ultralytics.nn.modules.block.Index, index: " index "}, '2'" END
#define FIFTEEN "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1"

/* A layer may give sixteen things. */
static void widths_of_linear_layers(void **state)
{
    (void)state;
    network_says(LINEAR("3", "0"), "layer 2 (Classify)");
    network_says(LINEAR("3", "1"), "layer 1 (Index), at model.1: index 1 of 1 values");
    network_says(LINEAR("1, 2", "1"), "layer 2 (Classify)");
    network_says(LINEAR("1, 2", "2"), "index 2 of 2 values");
    network_says(LINEAR(FIFTEEN ", 1", "15"), "layer 2 (Classify)");
    network_says(LINEAR(FIFTEEN ", 1, 1", "0"),
                 "layer 0 (CBLinear), at model.0: its widths are missing or more than 16");
    network_says(LINEAR("", "0"), "its widths are missing or more than 16");
    network_says(LINEAR("1, 0", "0"), "its widths are broken");
    network_says(LINEAR("1, a", "0"), "its widths are broken");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_blocks),         cmocka_unit_test(depth_and_number_of_modules),
        cmocka_unit_test(layers_that_feed_one),    cmocka_unit_test(choices),
        cmocka_unit_test(widths_of_linear_layers), cmocka_unit_test(first_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
