/* SPDX-License-Identifier: Apache-2.0 */
/* What a training configuration of SLEAP <= 1.4 says of frames, crops, strides and the training, key by key, of a network that is one
 * convolution. Compared with tests/models/whole/sleap_spec.txt. */
#include "graph_words.h"
#include "support/h5_writer.h"

#include "base/file.h"
#include "models/model.h"

#include <stdlib.h>
#include <sys/stat.h>

static sk_error err;

typedef struct {
    const char *head;   /* null: single_instance of one part */
    const char *input;  /* null: "16, 24, 1" */
    const char *config; /* "data": …, behind the head; null: nothing */
    const char *backbone;
    bool pooled; /* by two before the head */
    bool flat;   /* the picture as a vector is an output, too */
} spec;

#define LAYER(class_name, name, settings, from)                                                              \
    ", {\"class_name\": \"" class_name "\", \"name\": \"" name "\", \"config\": {" settings                  \
    "}, \"inbound_nodes\": [[[\"" from "\", 0, 0, {}]]]}"

static void write_network(const char *path, const spec *s)
{
    static const char *const names[] = {"kernel:0", "bias:0"};
    const bool centred = s->head && strstr(s->head, "centered");
    const char *head = centred                                  ? "CenteredInstanceConfmapsHead"
                       : s->head && strstr(s->head, "centroid") ? "CentroidConfmapsHead"
                                                                : "SingleInstanceConfmapsHead";
    const char *input = s->input ? s->input : "16, 24, 1";
    const int64_t dims[] = {1, 1, atoi(strrchr(input, ' ')), 1}, one = 1;
    const float kernel[4] = {1, 1, 1, 1}, bias = 0;
    char group[200], inside[300];
    sk_text model = {0};
    sk_text_appendf(
        &model,
        "{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": \"InputLayer\", "
        "\"name\": \"in\", \"config\": {\"batch_input_shape\": [null, %s]}, \"inbound_nodes\": []}%s, "
        "{\"class_name\": \"Conv2D\", \"name\": \"%s\", \"config\": {\"filters\": 1, \"kernel_size\": 1}, "
        "\"inbound_nodes\": [[[\"%s\", 0, 0, {}]]]}%s], \"input_layers\": [[\"in\", 0, 0]], "
        "\"output_layers\": [[\"%s\", 0, 0]%s]}}",
        input, s->pooled ? LAYER("MaxPooling2D", "pool", "", "in") : "", head, s->pooled ? "pool" : "in",
        s->flat ? LAYER("Flatten", "flat", "", "in") : "", head, s->flat ? ", [\"flat\", 0, 0]" : "");
    h5_writer w = h5_create(path);
    h5_attr_text(&w, "/", "model_config", sk_text_get(&model), 1);
    h5_attr_text(&w, "/", "keras_version", "2.9.0", 1);
    snprintf(group, sizeof group, "model_weights/%s", head);
    snprintf(inside, sizeof inside, "%s/kernel:0", group);
    h5_put_f32(&w, inside, kernel, 4, dims);
    snprintf(inside, sizeof inside, "%s/bias:0", group);
    h5_put_f32(&w, inside, &bias, 1, &one);
    h5_attr_texts(&w, group, "weight_names", names, 2, 0);
    h5_finish(&w);
    sk_text_free(&model);
}

static void put_spec(const sk_model *m, sk_text *out)
{
    const sk_sleap_spec *s = &m->sleap;
    const sk_input_spec *in = &m->input;
    sk_text_appendf(out,
                    "    %s %s: %d channels of %d x %d by %d%s, scaled %g, std %g %g %g, rgb %d, dtype %d\n",
                    sk_task_name(m->task), m->architecture, in->channels, in->height, in->width, in->stride,
                    in->fixed_size ? " alone" : "", (double)in->scale * 255, (double)in->std[0],
                    (double)in->std[1], (double)in->std[2], in->rgb, in->dtype);
    sk_text_appendf(
        out, "    frames by %g to %d x %d, padded to %d, rgb %d, grey %d, crops %d x %d around %s\n",
        (double)s->input_scale, s->target_size[0], s->target_size[1], s->pad_to_stride, s->ensure_rgb,
        s->ensure_grayscale, s->crop_size[0], s->crop_size[1], s->anchor_part ? s->anchor_part : "-");
    sk_text_appendf(out, "    legacy %d, antialias %d, nhwc %d, %d outputs;", s->legacy, s->resize_antialias,
                    m->outputs_nhwc, m->n_outputs);
    for (int i = 0; i < m->n_facts; i++)
        sk_text_appendf(out, " %s: %s,", m->facts[i][0], m->facts[i][1]);
    sk_text_append(out, "\n");
}

static void say(const spec *s, sk_text *out)
{
    static int count;
    char folder[4200], path[4300];
    sk_text config = {0};
    sk_model *model = NULL;
    snprintf(folder, sizeof folder, "%s/spec%d", test_folder(), count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    sk_text_appendf(&config,
                    "{\"model\": {\"heads\": {%s}, \"backbone\": {\"other\": null, %s}}, %s\"end\": 0}",
                    s->head ? s->head : "\"single_instance\": {\"part_names\": [\"nose\"]}",
                    s->backbone ? s->backbone : "\"unet\": {}", s->config ? s->config : "");
    snprintf(path, sizeof path, "%s/training_config.json", folder);
    assert_ok(sk_file_replace(path, sk_text_get(&config), config.length, &err), &err);
    snprintf(path, sizeof path, "%s/best_model.h5", folder);
    write_network(path, s);
    sk_text_appendf(out, "%s%s[%s] %s %s %s\n", s->pooled ? "pooled " : "", s->flat ? "flat " : "",
                    s->input ? s->input : "", s->head ? s->head : "", s->backbone ? s->backbone : "",
                    s->config ? s->config : "");
    const sk_status status = sk_model_open(folder, &model, &err);
    if (status == SK_OK) {
        assert_int_equal(strlen(model->content_hash), 64);
        put_spec(model, out);
    } else {
        const char *words = strstr(err.message, "spec");
        sk_text_appendf(out, "    %d: %s\n", status, words ? strchr(words, '/') + 1 : err.message);
    }
    sk_model_close(&model);
    sk_text_free(&config);
}

#define PREPARED(set) .config = "\"data\": {\"preprocessing\": {" set "}}, "
#define CENTRED       .head = "\"centered_instance\": {\"part_names\": [\"a\"]}"
#define ANCHORED      .head = "\"centered_instance\": {\"part_names\": [\"a\"], \"anchor_part\": \"a\"}"
#define CROPS(set)    .config = "\"data\": {\"instance_cropping\": {" set "}}, "
#define UNET(stride)  .backbone = "\"unet\": {\"max_stride\": " stride "}"

static const spec cases[] = {
    {0},
    /* the backbone's name and stride: the network's own is the least */
    {.backbone = "\"leap\": {}"},
    {.backbone = "\"other2\": null"},
    {UNET("16")},
    {UNET("1"), .pooled = true},
    {UNET("2"), .pooled = true},
    {UNET("4"), .pooled = true},
    {UNET("4096")},
    {UNET("4097")},
    {UNET("-4")},
    {.pooled = true, PREPARED("\"pad_to_stride\": 4")},
    {.pooled = true, PREPARED("\"pad_to_stride\": 3")},
    {.pooled = true, PREPARED("\"pad_to_stride\": 2")},
    {.pooled = true, PREPARED("\"pad_to_stride\": 1")},
    {UNET("8"), PREPARED("\"pad_to_stride\": 32")},
    {UNET("8"), PREPARED("\"pad_to_stride\": 12")},
    {PREPARED("\"pad_to_stride\": 4096")},
    {PREPARED("\"pad_to_stride\": 4097")},
    /* frames */
    {PREPARED("\"input_scaling\": 0.5, \"ensure_rgb\": true")},
    {PREPARED("\"input_scaling\": 100, \"ensure_grayscale\": true")},
    {PREPARED("\"input_scaling\": 100.5")},
    {PREPARED("\"input_scaling\": 0")},
    {PREPARED("\"input_scaling\": -1")},
    {PREPARED("\"input_scaling\": null")},
    {PREPARED("\"target_height\": 100, \"target_width\": 200")},
    {PREPARED("\"target_height\": 65536, \"target_width\": null")},
    {PREPARED("\"target_height\": 65537")},
    {PREPARED("\"target_width\": 65537")},
    {PREPARED("\"target_width\": 65536")},
    {PREPARED("\"target_height\": 4294967360")}, /* 64, were it cut to 32 bits */
    {PREPARED("\"target_height\": -1")},
    {PREPARED("\"target_width\": -1")},
    {PREPARED("\"target_height\": 100, \"target_width\": 200, \"resize_and_pad_to_target\": false")},
    {PREPARED("\"target_height\": 100, \"resize_and_pad_to_target\": true")},
    /* sizes of the network */
    {.input = "null, null, 3"},
    {.input = "17, 23, 3", UNET("16")},
    {.input = "17, 23, 3", UNET("16"), .flat = true},
    {.input = "null, 23, 1", UNET("16")},
    {.input = "16, 24, 2"},
    {.input = "16, 24, 4"},
    /* crops */
    {CENTRED},
    {CENTRED, .input = "null, null, 1"},
    {CENTRED, CROPS("\"crop_size\": 50")},
    {CENTRED, .input = "null, null, 1", CROPS("\"crop_size\": 50, \"center_on_part\": \"b\"")},
    {CENTRED, CROPS("\"crop_size\": 0")},
    {CENTRED, CROPS("\"crop_size\": 1")},
    {CENTRED, CROPS("\"crop_size\": -1")},
    {CENTRED, CROPS("\"crop_size\": 65536")},
    {CENTRED, CROPS("\"crop_size\": 65537")},
    {CENTRED, CROPS("\"crop_size\": 4294967360")},
    {ANCHORED, CROPS("\"center_on_part\": \"b\"")},
    {CROPS("\"crop_size\": 50, \"center_on_part\": \"b\"")},
    {.head = "\"centroid\": {\"anchor_part\": \"a\"}", CROPS("\"crop_size\": 50")},
    {.head = "\"centroid\": {}"},
    /* the training */
    {.config =
         "\"sleap_version\": \"1.3.3\", \"outputs\": {\"run_name\": \"r\"}, \"description\": \"d\", "
         "\"data\": "
         "{\"labels\": {\"training_labels\": \"l.slp\"}, \"preprocessing\": {\"imagenet_mode\": \"caffe\"}}, "
         "\"optimization\": {\"epochs\": 7, \"batch_size\": 4, \"optimizer\": \"adam\", "
         "\"initial_learning_rate\": 0.0001}, "},
};

static void configurations(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        say(&cases[i], &all);
    words_check(&all, "tests/models/whole/sleap_spec.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(configurations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
