/* SPDX-License-Identifier: Apache-2.0 */
/* What an Ultralytics checkpoint says of itself, key by key: given, left out, of another kind, at its bounds. Its end is cut off, so that
 * nothing but its words is read. Compared with tests/models/whole/yolo_words.txt. */
#include "graph_words.h"
#include "pickle_words.h"

#include "models/model.h"

static sk_error err;

#define SEQUENTIAL   "class: torch.nn.modules.container.Sequential, _modules: "
#define HEAD(c, set) "{class: ultralytics.nn.modules.head." c ", " set "}"

typedef struct {
    const char *head, *head_says, *model_says, *says;
} words;

/* Null: Detect, of two classes */
static void checkpoint(const words *w, sk_text *out)
{
    sk_text_appendf(out,
                    "{model: {class: ultralytics.nn.tasks.DetectionModel, _modules: {model: {" SEQUENTIAL
                    "{'0': {class: ultralytics.nn.modules.head.%s, %s}}}}, %s}, %s}",
                    w->head ? w->head : "Detect", w->head_says ? w->head_says : "nc: 2",
                    w->model_says ? w->model_says : "", w->says ? w->says : "");
}

static void put_model(const sk_model *m, sk_text *out)
{
    sk_text_appendf(out, "    %s %s, %d channels of %d x %d by %d, %d classes:", sk_task_name(m->task),
                    m->architecture, m->input.channels, m->input.height, m->input.width, m->input.stride,
                    m->n_classes);
    for (int i = 0; i < m->n_classes && i < 4; i++)
        sk_text_appendf(out, " '%s'", sk_model_class_name(m, i));
    sk_text_append(out, "\n");
    if (m->n_keypoints)
        sk_text_appendf(out, "    %d keypoints of %d:", m->n_keypoints, m->yolo.keypoint_dims);
    for (int i = 0; i < m->n_keypoints && m->keypoint_names && i < 4; i++)
        sk_text_appendf(out, " '%s'", sk_model_keypoint_name(m, i));
    for (int i = 0; i < m->n_edges && i < 4; i++)
        sk_text_appendf(out, " %d-%d", m->edges[i][0], m->edges[i][1]);
    if (m->n_edges)
        sk_text_appendf(out, ", %d edges", m->n_edges);
    sk_text_append(out, m->n_keypoints ? "\n" : "");
    for (int i = 0; i < m->n_facts; i++)
        if (strcmp(m->facts[i][0], "damage") != 0 && strcmp(m->facts[i][1], "model") != 0)
            sk_text_appendf(out, "    %s: %s\n", m->facts[i][0], m->facts[i][1]);
}

static void say_yaml(const char *yaml, sk_text *out)
{
    sk_model *model = NULL;
    tw_zip zip = pickle_words(yaml);
    assert_ok(sk_model_create(&model, &err), &err);
    const sk_status status =
        sk_model_read_ultralytics_memory(zip.out.bytes, zip.out.length - 22, "best.pt", model, &err);
    if (status == SK_OK) {
        assert_true(model->truncated && !model->graph);
        assert_int_equal(strlen(model->content_hash), 64);
        put_model(model, out);
    } else {
        sk_text_appendf(out, "    %d: %s\n", status, err.message);
    }
    sk_model_close(&model);
    tw_zip_free(&zip);
}

static void say(const words *w, sk_text *out)
{
    sk_text yaml = {0};
    sk_text_appendf(out, "%s{%s} {%s} {%s}\n", w->head ? w->head : "Detect", w->head_says ? w->head_says : "",
                    w->model_says ? w->model_says : "", w->says ? w->says : "");
    checkpoint(w, &yaml);
    say_yaml(sk_text_get(&yaml), out);
    sk_text_free(&yaml);
}

#define YAML(set)   NULL, NULL, "yaml: {" set "}", NULL
#define NAME62      "yolo567890123456789012345678901234567890123456789012345678901n"
#define POSE(shape) "Pose", "nc: 1, kpt_shape: " shape
#define ARGS(set)   NULL, NULL, NULL, "train_args: {" set "}"

static const words cases[] = {
    /* the family, by the name of its file */
    {NULL, NULL, NULL, NULL},
    {YAML("yaml_file: yolo11n.yaml, scale: n")},
    {YAML("yaml_file: cfg/11/yolo11x-pose.yaml, scale: x")},
    {YAML("yaml_file: yolo11m-obb.yaml, scale: m")},
    {YAML("yaml_file: yolov8s-seg.yml, scale: s")},
    {YAML("yaml_file: yolo26n-cls.yaml, scale: n")},
    {YAML("yaml_file: yolo11n, scale: n")},
    {YAML("yaml_file: yolo11n.yaml, scale: s")},
    {YAML("yaml_file: yolo11n.yaml")},
    {YAML("yaml_file: yolo11nn.yaml, scale: nn")},
    {YAML("yaml_file: yolo11n.yaml, scale: ''")},
    {YAML("yaml_file: resnetn.yaml, scale: n")},
    {YAML("yaml_file: yolo0n.yaml, scale: n")},
    {YAML("yaml_file: yolo9n.yaml, scale: n")},
    {YAML("yaml_file: 'yolo:n.yaml', scale: n")},
    {YAML("yaml_file: 'yolo-n.yaml', scale: n")},
    {YAML("yaml_file: n.yaml, scale: n")},
    {YAML("yaml_file: 1n.yaml, scale: n")},
    {YAML("yaml_file: models/, scale: n")},
    {YAML("yaml_file: 7, scale: 7")},
    {YAML("yaml_file: " NAME62 ", scale: n")},
    {YAML("yaml_file: " NAME62 "x, scale: n")},
    {YAML("yaml_file: " NAME62 "xx, scale: n")},
    {NULL, NULL, "yaml: 7", NULL},
    /* classes */
    {NULL, "nc: 2", "names: {0: mouse, 1: fly}", NULL},
    {NULL, "nc: 2", "names: [mouse, fly, more]", NULL},
    {NULL, "nc: 3", "names: {0: mouse, 2: fly}", NULL},
    {NULL, "nc: 2", "names: [mouse, 7]", NULL},
    {NULL, "nc: 2", "names: none", NULL},
    {NULL, "", "names: {0: mouse, 1: fly}", NULL},
    {NULL, "", "names: [mouse]", NULL},
    {NULL, "", "names: []", NULL},
    {NULL, "", "names: mouse", NULL},
    {NULL, "", "", NULL},
    {NULL, "nc: 0", NULL, NULL},
    {NULL, "nc: -1", "names: [mouse]", NULL},
    {NULL, "nc: 1", NULL, NULL},
    {NULL, "nc: 100000", NULL, NULL},
    {NULL, "nc: 100001", NULL, NULL},
    {"Classify", "_modules: {linear: {class: torch.nn.modules.linear.Linear, out_features: 3}}",
     "names: [a, b]", NULL},
    {"Classify", "_modules: {linear: {class: torch.nn.modules.linear.Linear}}", "names: [a, b]", NULL},
    /* keypoints */
    {POSE("[5, 3]"), NULL, NULL},
    {POSE("[tuple, 5, 2]"), NULL, NULL},
    {POSE("[5, 3, 9]"), NULL, NULL},
    {POSE("[5]"), NULL, NULL},
    {POSE("[5]"), "kpt_shape: [4, 2]", NULL},
    {POSE("[5]"), "kpt_shape: [4], yaml: {kpt_shape: [3, 2]}", NULL},
    {POSE("[5, 3]"), "kpt_shape: [4, 2], yaml: {kpt_shape: [3, 2]}", NULL},
    {"Pose", "nc: 1", "kpt_shape: [4, 2], yaml: {kpt_shape: [3, 2]}", NULL},
    {"Pose", "nc: 1", "yaml: {kpt_shape: [3, 2]}", NULL},
    {"Pose", "nc: 1", NULL, NULL},
    {POSE("[0, 3]"), NULL, NULL},
    {POSE("[1, 3]"), NULL, NULL},
    {POSE("[10000, 3]"), NULL, NULL},
    {POSE("[10001, 3]"), NULL, NULL},
    {POSE("[5, 1]"), NULL, NULL},
    {POSE("[5, 4]"), NULL, NULL},
    {POSE("[a, 3]"), NULL, NULL},
    {POSE("[5, a]"), NULL, NULL},
    {"Detect", "nc: 1, kpt_shape: [5, 3]", NULL, NULL},
    {"OBB", "nc: 1, kpt_shape: [5, 3]", NULL, NULL},
    /* … and their names, and what joins them */
    {POSE("[3, 3]"), "kpt_names: [a, b, c]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c, d]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b]", NULL},
    {POSE("[3, 3]"), "kpt_names: {0: [a, b, c], 1: [d, e, f]}", NULL},
    {POSE("[3, 3]"), "kpt_names: {1: [d, e, f]}", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, 2, c]", NULL},
    {POSE("[3, 3]"), "skeleton: [[0, 1]]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: [[0, 1], [tuple, 2, 0]]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: []", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: [[0, 1], [0]]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: [[0, 1], [0, 3]]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: [[-1, 1]]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: [[a, 1]]", NULL},
    {POSE("[3, 3]"), "kpt_names: [a, b, c], skeleton: 7", NULL},
    {POSE("[17, 3]"), "names: [person]", NULL},
    {POSE("[17, 3]"), "names: [person], kpt_names: {0: 7}", NULL},
    {POSE("[17, 2]"), "names: [person]", NULL},
    /* channels */
    {YAML("ch: 1")},
    {YAML("channels: 4, ch: 1")},
    {YAML("channels: 64")},
    {YAML("channels: 65")},
    {YAML("ch: 0")},
    {YAML("ch: a")},
    /* sizes */
    {ARGS("imgsz: 320")},
    {ARGS("imgsz: [320, 640]")},
    {ARGS("imgsz: [tuple, 640, 320]")},
    {ARGS("imgsz: [320]")},
    {ARGS("imgsz: [320, 640, 3]")},
    {ARGS("imgsz: [320, 7]")},
    {ARGS("imgsz: [7, 320]")},
    {ARGS("imgsz: [320, 16385]")},
    {ARGS("imgsz: [16385, 320]")},
    {ARGS("imgsz: [8, 16384]")},
    {ARGS("imgsz: [16384, 8]")},
    {ARGS("imgsz: large")},
    {NULL, NULL, "args: {imgsz: 320}", NULL},
    {NULL, NULL, "args: {imgsz: 320}", "train_args: {imgsz: 96}"},
    {NULL, NULL, "args: {imgsz: 320}", "train_args: {imgsz: a}"},
    {NULL, NULL, "args: {imgsz: [320, 7]}", NULL},
    {"Classify", "nc: 2", NULL, NULL},
    /* facts */
    {NULL, NULL, NULL,
     "version: 8.3.63a, date: today, license: AGPL, docs: there, epoch: 7, best_fitness: 0.125, other: no"},
    {NULL, NULL, NULL, "epoch: 0, best_fitness: null, license: true, docs: false, version: 8"},
    {NULL, NULL, NULL, "epoch: -1, date: ''"},
    {NULL, NULL, NULL, "git: {origin: here, branch: main, commit: abc, other: no}"},
    {ARGS("task: detect, model: a.pt, data: b.yaml, imgsz: [64, 96], epochs: 5, batch: -1, optimizer: auto, "
          "lr0: 1")},
    {ARGS("batch: [1, 2, 3, 4, 5, 6, 7, 8], epochs: [1, 2, 3, 4, 5, 6, 7, 8, 9], model: [], data: [1, a], "
          "task: {a: 1}")},
    {NULL, NULL, NULL, "ema: null"},
};

static void words_of_checkpoints(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        say(&cases[i], &all);
    words_check(&all, "tests/models/whole/yolo_words.txt");
}

/* --- where the model lies --- */

#define MODEL(head)                                                                                          \
    "{class: ultralytics.nn.tasks.DetectionModel, _modules: {model: {" SEQUENTIAL "{'0': " head "}}}}"
#define DETECT MODEL(HEAD("Detect", "nc: 2"))
#define POSER  MODEL(HEAD("Pose", "nc: 2, kpt_shape: [1, 2]"))

static const char *const places[] = {
    DETECT,
    "{ema: " DETECT ", model: " POSER "}",
    "{ema: null, model: " POSER "}",
    "{model: " POSER "}",
    "{model: {class: torch.nn.parallel.DataParallel, _modules: {module: " POSER "}}}",
    "{ema: {a: 1}, model: " POSER "}",
    "{model: null}",
    "{model: 7}",
    "{ema: {class: models.yolo.Model}}",
    "{ema: {class: models.Model, _modules: {model: 7}}}",
    "{ema: {class: model.yolo.Model}}",
    "{ema: {class: ultralytics.nn.tasks.DetectionModel}}",
    "{ema: {class: ultralytics.nn.tasks.DetectionModel, _modules: {model: 7}}}",
    "{ema: {class: ultralytic.nn.tasks.DetectionModel, _modules: {model: {" SEQUENTIAL "{}}}}}",
    "{ema: {class: ultralytics.nn.tasks.DetectionModel, _modules: {model: {" SEQUENTIAL "{}}}}}",
    MODEL("{class: ultralytics.nn.modules.head.Mystery}"),
    MODEL("7"),
    "{pytorch-lightning_version: 2, a: 1}",
    "{class: some.where.Thing, a: 1}",
    "{a: 1}",
    "{}",
    "[1]",
    "7",
};

static void places_of_models(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        sk_text_appendf(&all, "%s\n", places[i]);
        say_yaml(places[i], &all);
    }
    words_check(&all, "tests/models/whole/yolo_places.txt");
}

/* --- limits --- */

static void limits(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        sk_text yaml = {0}, told = {0};
        sk_text_append(&yaml,
                       "{class: ultralytics.nn.tasks.DetectionModel, _modules: {model: {" SEQUENTIAL "{");
        for (int i = 1; i < 512 + more; i++)
            sk_text_appendf(&yaml, "'%d': {class: torch.nn.modules.linear.Identity}, ", i);
        sk_text_append(&yaml, "a: " HEAD("Detect", "nc: 1") "}}}}");
        say_yaml(sk_text_get(&yaml), &told);
        assert_string_equal(
            sk_text_get(&told),
            more ? "    7: best.pt: the model has 513 layers\n"
                 : "    detect ultralytics yolo, 3 channels of 640 x 640 by 32, 1 classes: ''\n");
        sk_text_free(&yaml);
        sk_text_free(&told);
        sk_text_append(&yaml, "kpt_names: [a, b], skeleton: [");
        for (int i = 0; i < 4096 + more; i++)
            sk_text_append(&yaml, "[0, 1], ");
        sk_text_append(&yaml, "]");
        sk_text whole = {0};
        checkpoint(&(words){"Pose", "nc: 1, kpt_shape: [2, 3]", sk_text_get(&yaml), NULL}, &whole);
        say_yaml(sk_text_get(&whole), &told);
        assert_true((strstr(sk_text_get(&told), ", 4096 edges\n") != NULL) == !more);
        sk_text_free(&yaml);
        sk_text_free(&told);
        sk_text_free(&whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_checkpoints),
                                       cmocka_unit_test(places_of_models), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
