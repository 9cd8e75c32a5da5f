/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of sleap-nn, rebuilt from the names of their tensors and their configuration: small ones of every form, with pieces that are
 * missing, too many or of another shape, and each number of the configuration at its bounds. Compared with
 * tests/models/whole/sleap_nn_networks.txt, an operation a line. */
#include "graph_words.h"
#include "support/torch_writer.h"

#include "base/file.h"
#include "models/model.h"

#include <stdlib.h>
#include <sys/stat.h>

static sk_error err;

/* "conv 2x1x3x3" is conv.weight of that shape and conv.bias; behind t (transposed) the bias is of the second size, behind w there is none;
 * behind = it is one tensor with that name. */
static const char *one_tensor(tw_pickle *p, const char *at)
{
    static float values[1 << 16];
    char name[200], full[260];
    sk_shape shape = {0};
    const size_t length = strcspn(at, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    at += length + 1;
    const char form = *at == 't' || *at == 'w' || *at == '=' ? *at++ : 'c';
    for (char *end; *at && *at != ';'; at = *end == 'x' ? end + 1 : end) {
        shape.dim[shape.rank++] = strtoll(at, &end, 10);
        assert_true(end > at);
    }
    assert_true(sk_shape_count(&shape) <= 1 << 16);
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        values[i] = (float)((i * 7 + (int64_t)strlen(name)) % 11 - 4) / 8;
    snprintf(full, sizeof full, "model.%s%s", name, form == '=' ? "" : ".weight");
    tw_text(p, full);
    tw_tensor(p, SK_DTYPE_F32, &shape, values, false);
    if (form == 'c' || form == 't') {
        snprintf(full, sizeof full, "model.%s.bias", name);
        tw_text(p, full);
        tw_tensor(p, SK_DTYPE_F32, &(sk_shape){.rank = 1, .dim = {shape.dim[form == 't']}}, values, false);
    }
    return *at == ';' ? at + 1 + (at[1] == ' ') : NULL;
}

static void say(const char *backbone, const char *heads, const char *tensors, sk_text *out)
{
    static int count;
    char folder[4200], path[4300];
    sk_text config = {0};
    sk_model *model = NULL;
    tw_pickle p = {0};
    tw_zip zip = {.no_crc = true};
    snprintf(folder, sizeof folder, "%s/net%d", test_folder(), count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    sk_text_appendf(&config,
                    "model_config: {backbone_config: {%s}, head_configs: {%s}}\n"
                    "data_config: {preprocessing: {crop_size: 16}}\n",
                    backbone, heads);
    snprintf(path, sizeof path, "%s/training_config.yaml", folder);
    assert_ok(sk_file_replace(path, sk_text_get(&config), config.length, &err), &err);
    sk_text_free(&config);
    tw_start(&p);
    tw_dict_begin(&p);
    tw_text(&p, "state_dict");
    tw_ordered_begin(&p);
    for (const char *at = tensors; at;)
        at = one_tensor(&p, at);
    tw_dict_end(&p);
    tw_dict_end(&p);
    tw_stop(&p);
    tw_checkpoint(&zip, "best", &p);
    snprintf(path, sizeof path, "%s/best.ckpt", folder);
    assert_ok(sk_file_replace(path, zip.out.bytes, zip.out.length, &err), &err);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
    sk_text_appendf(out, "%s / %s / %s\n", backbone, heads, tensors);
    const sk_status status = sk_model_open(folder, &model, &err);
    if (status != SK_OK) {
        const char *words = strstr(err.message, "/net");
        sk_text_appendf(out, "    %d: %s\n", status, words ? strchr(words + 1, '/') + 1 : err.message);
        return;
    }
    int line[2000] = {0}, next = 0;
    const sk_graph *g = model->graph;
    assert_true(g->n_values < 2000);
    for (size_t i = 0; i < g->n_nodes; i++)
        words_node(g, &g->nodes[i], line, &next, out);
    for (int i = 0; i < model->n_outputs; i++) {
        sk_text_appendf(out, "    gives %s, kind %d, by %g = ", model->outputs[i].name,
                        model->outputs[i].kind, (double)model->outputs[i].stride);
        words_value(g, g->outputs[i], line, out);
        sk_text_append(out, "\n");
    }
    sk_text_appendf(out, "    %d channels by %d, padded to %d%s\n", model->input.channels,
                    model->input.stride, model->sleap.pad_to_stride,
                    model->input.fixed_size ? ", one size only" : "");
    sk_model_close(&model);
}

#define SINGLE(stride) "single_instance: {confmaps: {part_names: [a], output_stride: " stride "}}"
#define BOTTOMUP(first, second)                                                                              \
    "bottomup: {confmaps: {part_names: [a, b], output_stride: " first                                        \
    "}, pafs: {edges: [[a, b]], output_stride: " second "}}"
#define MAPS                                                                                                 \
    "multi_class_bottomup: {confmaps: {part_names: [a], output_stride: 1}, class_maps: {classes: [x, y], "   \
    "output_stride: 2}}"
#define VECTORS(more)                                                                                        \
    "multi_class_topdown: {confmaps: {part_names: [a], output_stride: 1}, class_vectors: {classes: [x, "     \
    "y]" more "}}"

#define ENC(i, name)  "backbone.encoders.0.encoder_stack." i ".blocks." name
#define MID(i, name)  "backbone.middle_blocks." i ".blocks." name
#define DEC(i, name)  "backbone.decoders.0.decoder_stack." i ".blocks." name
#define STEM(i, name) "backbone.stem.stem_stack." i ".blocks." name
#define HEAD          "; head_layers.0.SingleInstanceConfmapsHead.0 1x2x1x1"
#define SMALL         ENC("0", "e_conv0 2x1x3x3; ") MID("0", "m_conv0 3x2x3x3; ")
#define TWO           SMALL DEC("0", "d_conv0 2x5x3x3")
#define FOUR                                                                                                 \
    ENC("0", "e_conv0 2x3x3x3; ")                                                                            \
    ENC("0", "e_conv1 2x2x5x4; ")                                                                            \
    ENC("1", "e_conv0 3x2x3x3; ")                                                                            \
    MID("0", "m_conv0 4x3x3x3; ")                                                                            \
    MID("1", "m_conv0 4x4x1x1; ") DEC("0", "d_conv0 3x7x3x3; ") DEC("1", "d_conv0 2x5x3x3")

static const struct {
    const char *backbone, *heads, *tensors;
} unets[] = {
    {"unet: {max_stride: 2}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 4, in_channels: 7}", SINGLE("1"), FOUR HEAD},
    {"unet: {max_stride: 4}", BOTTOMUP("1", "2"),
     FOUR
     "; head_layers.0.MultiInstanceConfmapsHead.0 2x2x1x1; head_layers.1.PartAffinityFieldsHead.0 2x3x1x1"},
    {"unet: {max_stride: 4}", BOTTOMUP("2", "1"),
     FOUR
     "; head_layers.0.MultiInstanceConfmapsHead.0 2x3x1x1; head_layers.1.PartAffinityFieldsHead.0 2x2x1x1"},
    {"unet: {max_stride: 4}", BOTTOMUP("1", "4"), FOUR "; head_layers.0.MultiInstanceConfmapsHead.0 2x2x1x1"},
    {"unet: {max_stride: 4}", MAPS,
     FOUR "; head_layers.0.MultiInstanceConfmapsHead.0 1x2x1x1; head_layers.1.ClassMapsHead.0 2x3x1x1"},
    {"unet: {max_stride: 2}", VECTORS(""),
     TWO "; head_layers.0.CenteredInstanceConfmapsHead.0 1x2x1x1; head_layers.1.pre_classification0_fc 5x3; "
         "head_layers.1.pre_classification1_fc 4x5; head_layers.1.ClassVectorsHead 2x4"},
    {"unet: {max_stride: 2}", VECTORS(", global_pool: false"),
     TWO "; head_layers.0.CenteredInstanceConfmapsHead.0 1x2x1x1; head_layers.1.pre_classification0_fc 5x27; "
         "head_layers.1.ClassVectorsHead 2x5"},
    {"unet: {max_stride: 2}", VECTORS(", global_pool: true"),
     TWO "; head_layers.0.CenteredInstanceConfmapsHead.0 1x2x1x1; head_layers.1.ClassVectorsHead 2x3"},
    {"unet: {max_stride: 2}", VECTORS(""),
     TWO "; head_layers.0.CenteredInstanceConfmapsHead.0 1x2x1x1; head_layers.1.ClassVectorsHead 2x4"},
    {"unet: {max_stride: 2}", VECTORS(""),
     TWO "; head_layers.0.CenteredInstanceConfmapsHead.0 1x2x1x1; head_layers.1.ClassVectorsHead 3x3"},
    {"unet: {max_stride: 2}", VECTORS(""), TWO "; head_layers.0.CenteredInstanceConfmapsHead.0 1x2x1x1"},
    /* no decoder: heads are on the middle, whatever stride they say */
    {"unet: {max_stride: 2}", SINGLE("2"), SMALL "head_layers.0.SingleInstanceConfmapsHead.0 1x3x1x1"},
    {"unet: {max_stride: 2}", SINGLE("1"), SMALL "head_layers.0.SingleInstanceConfmapsHead.0 1x3x1x1"},
    {"unet: {max_stride: 2}", SINGLE("2"), ENC("0", "e_conv0 2x1x3x3") HEAD},
    /* transposed convolutions */
    {"unet: {max_stride: 2, up_interpolate: false}", SINGLE("1"),
     SMALL DEC("0", "d_trans_conv t3x4x3x3; ") DEC("0", "d_refine_conv0 2x6x3x3") HEAD},
    {"unet: {max_stride: 2, up_interpolate: false}", SINGLE("1"),
     SMALL DEC("0", "d_trans_conv t3x4x5x5; ") DEC("0", "d_refine_conv0 2x6x3x3") HEAD},
    {"unet: {max_stride: 2, up_interpolate: false}", SINGLE("1"),
     SMALL DEC("0", "d_trans_conv w3x4x3x3; ") DEC("0", "d_refine_conv0 2x6x3x3") HEAD},
    {"unet: {max_stride: 2, up_interpolate: false}", SINGLE("1"), TWO HEAD},
    /* a stem */
    {"unet: {max_stride: 4, stem_stride: 2}", SINGLE("1"),
     STEM("0", "s_conv0 2x1x7x7; ") ENC("0", "e_conv0 2x2x3x3; ") MID("0", "m_conv0 3x2x3x3; ")
         DEC("0", "d_conv0 2x5x3x3; ") DEC("1", "d_conv0 2x4x3x3; ") DEC("2", "d_conv0 2x2x3x3") HEAD},
    {"unet: {max_stride: 8, stem_stride: 4}", SINGLE("4"),
     STEM("0", "s_conv0 2x1x7x7; ") STEM("1", "s_conv0 3x2x7x7; ") ENC("0", "e_conv0 2x3x3x3; ")
         MID("0", "m_conv0 3x2x3x3; ") DEC("0", "d_conv0 2x5x3x3; ") DEC("1", "d_conv0 2x5x3x3") HEAD},
    {"unet: {max_stride: 4, stem_stride: 2}", SINGLE("1"), TWO HEAD},
    /* numbers */
    {"unet: {max_stride: 1}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 3}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 0}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 4, stem_stride: 3}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 4, stem_stride: 4}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 32768}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 65536}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 2, stacks: 2}", SINGLE("1"), TWO HEAD},
    {"unet: {max_stride: 2, stacks: 1, stem_stride: 1}", SINGLE("1"), TWO HEAD},
    {"unet: {}", SINGLE("1"), TWO HEAD},
    /* pieces */
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 2x2x3x3; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 2x4x3x3; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 2x1x3; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv1 2x1x3x3; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 w2x1x3x3; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"),
     ENC("0", "e_conv0 2x1x1x1024; ") MID("0", "m_conv0 3x2x1024x1") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 2x1x1x1025; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 2x1x1025x1; ") MID("0", "m_conv0 3x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), ENC("0", "e_conv0 2x1x3x3; ") MID("0", "m_conv0 3x3x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), TWO "; " DEC("1", "d_conv0 2x2x3x3") HEAD},
    {"unet: {max_stride: 2}", SINGLE("1"), TWO HEAD "; backbone.more 1x1; backbone.most =3"},
    {"unet: {max_stride: 2}", SINGLE("1"), TWO HEAD "; elsewhere.loss 1x1"},
    {"unet: {max_stride: 2}", SINGLE("1"), TWO "; head_layers.0.SingleInstanceConfmapsHead.0 1x3x1x1"},
    {"unet: {max_stride: 2}", SINGLE("1"), TWO "; head_layers.0.SingleInstanceConfmapsHead.0 2x2x1x1"},
    {"unet: {max_stride: 2}", SINGLE("4"), TWO HEAD},
    {"unet: {max_stride: 2}", "single_instance: {confmaps: {part_names: [a]}}", TWO HEAD},
};

/* --- ConvNeXt --- */

#define F(rest) "backbone.enc.features." rest
#define STAGES(c)                                                                                            \
    F("0.0 2x1x4x4; ")                                                                                       \
    F("0.1 2; ")                                                                                             \
    c F("2.0 2; ") F("2.1 3x2x2x2; ") F("4.0 3; ") F("4.1 3x3x2x2; ") F("6.0 3; ") F("6.1 3x3x2x2; ")
#define BLOCK(i)                                                                                             \
    F("1." i ".block.0 2x1x7x7; ")                                                                           \
    F("1." i ".block.2 2; ")                                                                                 \
    F("1." i ".block.3 8x2; ") F("1." i ".block.5 2x8; ") F("1." i ".layer_scale =2x1x1; ")
#define LAST      "head_layers.0.SingleInstanceConfmapsHead.0 1x3x1x1"
#define UP(i, of) "backbone.dec.decoder_stack." i ".blocks.d_conv0 " of "; "

static const struct {
    const char *backbone, *tensors;
} convnexts[] = {
    {"convnext: {}", STAGES("") LAST},
    {"convnext: {stem_patch_stride: 1}", STAGES("") LAST},
    {"convnext: {stem_patch_stride: 4}", STAGES("") LAST},
    {"convnext: {stem_patch_stride: 3}", STAGES("") LAST},
    {"convnext: {stem_patch_stride: 0}", STAGES("") LAST},
    {"convnext: {}", STAGES(BLOCK("0")) LAST},
    {"convnext: {}", STAGES(BLOCK("0") BLOCK("1")) LAST},
    {"convnext: {}", STAGES(BLOCK("1")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 2x1x7x7; ") F("1.0.block.2 2; ") F("1.0.block.3 8x2; ")
                                F("1.0.block.5 3x8; ") F("1.0.layer_scale =2x1x1; ")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 2x2x7x7; ")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 3x1x7x7; ")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 2x1x7x7; ") F("1.0.block.2 3; ")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 2x1x7x7; ") F("1.0.block.2 2; ") F("1.0.block.3 8x3; ")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 2x1x7x7; ") F("1.0.block.2 2; ") F("1.0.block.3 8x2; ")
                                F("1.0.layer_scale =3x1x1; ")) LAST},
    {"convnext: {}", STAGES(F("1.0.block.0 2x1x7x7; ") F("1.0.block.2 2; ") F("1.0.block.3 8x2; ")
                                F("1.0.layer_scale =2x1x1; ")) LAST},
    {"convnext: {}", F("0.0 2x1x4x4; ") F("0.1 2; ") F("2.0 2; ") LAST},
    {"convnext: {}", F("0.1 2; ") LAST},
    {"convnext: {}", STAGES("") "backbone.middle_blocks.0.blocks.m_conv0 4x3x3x3; " UP("0", "3x7x3x3")
                         UP("1", "3x6x3x3") UP("2", "3x6x3x3") UP("3", "3x5x3x3") LAST},
    {"convnext: {stem_patch_kernel: 2}",
     STAGES("") UP("0", "3x6x3x3") UP("1", "3x6x3x3") UP("2", "3x6x3x3") UP("3", "3x5x3x3") LAST},
};

static void networks(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof unets / sizeof *unets; i++)
        say(unets[i].backbone, unets[i].heads, unets[i].tensors, &all);
    for (size_t i = 0; i < sizeof convnexts / sizeof *convnexts; i++)
        say(convnexts[i].backbone,
            strstr(convnexts[i].tensors, "backbone.dec") ? SINGLE("2")
                                                         : "single_instance: {confmaps: {part_names: [a]}}",
            convnexts[i].tensors, &all);
    words_check(&all, "tests/models/whole/sleap_nn_networks.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
