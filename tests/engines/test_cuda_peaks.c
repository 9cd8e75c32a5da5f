/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks found by the cuda engine, on a GPU of loops whose threads come in any order: the same tables as the CPU's stages make
 * of the whole outputs, bit for bit; more peaks than a table holds bring the maps. */
#include "random_graph.h"

#include "engines/engine.h"
#include "models/model.h"
#include "runner/internal.h"
#include "tasks/instances.h"
#include "tasks/pipeline.h"

extern const sk_engine gpu_engine;
extern int64_t gpu_emulate_live;

enum { NODES = 8, BATCH = 2, CLASSES = 3, EDGES = 3, H = 30, W = 43, PARTS = 4 };

/* Outputs that are the inputs with the other sign, so that maps can be painted: `form` 0 maps, 1 ranges of larger maps, 2
 * plain. */
static sk_graph *painted_graph(int form, sk_shape shapes[PARTS])
{
    static const int channels[PARTS] = {NODES, 2 * NODES, CLASSES, 2 * EDGES};
    static const char *const names[PARTS] = {"maps", "offsets", "classes", "fields"};
    sk_error err = {0};
    sk_graph *g = NULL;
    sk_builder b;
    assert_ok(sk_graph_open(&g, &err), &err);
    sk_builder_init(&b, g);
    for (int i = 0; i < PARTS; i++) {
        const int half = i >= 2, more = form == 1 && i < 2 ? 8 : 0;
        const int h = half ? (H + 1) / 2 : H, w = half ? (W + 1) / 2 : W;
        shapes[i] = form == 2 ? sk_shape_of(4, BATCH, channels[i], w, h)
                              : sk_shape_of(4, BATCH, channels[i] + more, h, w);
        sk_value x = sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, names[i], SK_DTYPE_F32, &shapes[i]));
        sk_value parts[2] = {x, x};
        const int64_t sizes[2] = {8, channels[i]};
        const int turned[4] = {0, 1, 3, 2};
        if (more)
            sk_b_split(&b, x, 1, sizes, 2, parts);
        sk_b_output(&b, form == 2 ? sk_b_transpose(&b, x, turned, 4) : parts[1], names[i]);
    }
    assert_int_equal(b.status, SK_OK);
    return g;
}

/* The negative of what a map shall be: bumps, noise, plateaus, peaks in corners, what is no number. */
static void paint(random_source *r, const sk_shape *s, int part, int kind, float *x)
{
    const int64_t planes = s->dim[0] * s->dim[1], h = s->dim[2], w = s->dim[3];
    for (int64_t p = 0; p < planes; p++) {
        float *plane = x + p * h * w;
        const float level = part ? 1.0f : kind == 2 ? 0.9f : kind == 0 ? 0.0f : 0.1f;
        for (int64_t i = 0; i < h * w; i++)
            plane[i] = part == 2 ? 0.5f + 0.5f * random_unit(r) : level * random_unit(r);
        for (int k = 0; part == 0 && kind > 0 && k < 5; k++) {
            const float x0 = (0.6f + 0.6f * random_unit(r)) * (float)w,
                        y0 = (0.6f + 0.6f * random_unit(r)) * (float)h;
            for (int64_t i = 0; i < h * w; i++) {
                const float dx = (float)(i % w) - x0, dy = (float)(i / w) - y0;
                plane[i] += expf(-(dx * dx + dy * dy) / 4.5f);
            }
        }
        if (part == 0 && kind > 0) {
            const int64_t at = random_below(r, (int)(h * w - 2));
            plane[at] = plane[at + 1] = 0.96875f; /* equals */
            plane[random_below(r, 2) ? 0 : h * w - 1] = 1.25f;
            plane[random_below(r, (int)(h * w))] = NAN;
            plane[random_below(r, (int)(h * w))] = random_below(r, 2) ? INFINITY : -INFINITY;
            plane[random_below(r, (int)(h * w))] = 1.25f; /* often as high as the corner */
        }
        if (part == 0 && kind == 3 && p % 3 == 0)
            for (int64_t i = 0; i < h * w; i++)
                plane[i] = p % 2 ? NAN : -INFINITY;
        for (int64_t i = 0; i < h * w; i++)
            plane[i] = -plane[i];
    }
}

static sk_peak_wish wish_of(random_source *r, int local)
{
    sk_peak_wish w;
    memset(&w, 0, sizeof w);
    w.local = local;
    w.threshold = 0.2f;
    w.refinement = random_below(r, 3);
    w.offsets = random_below(r, 2) ? 1 : -1;
    w.classes = local && random_below(r, 2) ? 2 : -1;
    w.fields = local && random_below(r, 2) ? 3 : -1;
    w.n_classes = w.classes >= 0 ? CLASSES : 0;
    w.maps_stride = 2;
    w.classes_stride = w.fields_stride = 4;
    w.capacity = local ? SK_PEAK_ROWS : 1;
    w.n_channels = NODES;
    if (w.fields >= 0) {
        w.pairs = random_below(r, 3) ? SK_PEAK_PAIRS : 40;
        w.n_edges = EDGES;
        for (int e = 0; e < EDGES; e++) {
            w.edges[e][0] = random_below(r, NODES);
            w.edges[e][1] = random_below(r, NODES);
        }
    }
    w.n_points = 10;
    w.max_edge_length_ratio = 0.25f;
    w.dist_penalty_weight = 1;
    return w;
}

static bool same_word(sk_peak_word a, sk_peak_word b)
{
    return a.i == b.i || (isnan(a.f) && isnan(b.f));
}

static void assert_same_table(const sk_peak_wish *w, const sk_peak_word *want, const sk_peak_word *got)
{
    const sk_peak_layout at = sk_peak_layout_of(w);
    assert_int_equal(want[1].i, got[1].i);
    for (int32_t c = 0; c < w->n_channels; c++) {
        assert_int_equal(want[at.counts + c].i, got[at.counts + c].i);
        for (int32_t k = 0; k < want[at.counts + c].i * at.row_words; k++)
            assert_true(same_word(sk_peak_row(want, w, &at, c, 0)[k], sk_peak_row(got, w, &at, c, 0)[k]));
    }
    for (int32_t i = 0; i < want[1].i; i++)
        assert_true(same_word(want[at.lines + i], got[at.lines + i]));
}

typedef struct tally {
    int tables, wholes, rows, lines;
} tally;

/* The tables of one wait against the whole outputs of the same inputs. */
static void compare(const sk_peak_wish *w, const sk_tensor *whole, const sk_tensor *got, tally *t)
{
    sk_error err = {0};
    const sk_peak_layout at = sk_peak_layout_of(w);
    sk_peak_word *want = calloc((size_t)at.words, sizeof *want);
    assert_int_equal(got[PARTS].dtype, SK_DTYPE_I32);
    assert_int_equal(got[PARTS].shape.dim[1], at.words);
    for (int32_t n = 0; n < BATCH; n++) {
        sk_map maps[PARTS];
        const sk_peak_word *table = (const sk_peak_word *)got[PARTS].data + (ptrdiff_t)n * at.words;
        for (int i = 0; i < PARTS; i++)
            assert_ok(sk_map_of_tensor(&whole[i], n, 0, &maps[i], &err), &err);
        if (sk_peak_table_fill(w, maps, want)) {
            assert_int_equal(table[0].i, SK_PEAK_COMPLETE);
            assert_same_table(w, want, table);
            assert_ok(sk_peak_table_check(table, w, maps[0].width, maps[0].height, &err), &err);
            t->tables++;
            for (int32_t c = 0; c < NODES; c++)
                t->rows += table[at.counts + c].i;
            t->lines += table[1].i;
            continue;
        }
        assert_int_equal(table[0].i, SK_PEAK_WHOLE);
        t->wholes++;
        const int32_t looked[PARTS] = {w->maps, w->offsets, w->classes, w->fields};
        for (int i = 0; i < PARTS; i++)
            if (looked[i] >= 0) {
                const size_t count = (size_t)(sk_shape_count(&whole[i].shape) / BATCH);
                assert_memory_equal((const float *)got[i].data + count * (size_t)n,
                                    (const float *)whole[i].data + count * (size_t)n, count * sizeof(float));
            }
    }
    free(want);
}

static void test_tables(void **state)
{
    (void)state;
    random_source r = {77};
    sk_error err = {0};
    tally t[2] = {{0}};
    for (int round = 0; round < 24; round++) {
        sk_shape shapes[PARTS];
        enum { SLOTS = 3 };
        sk_graph *g = painted_graph(round % 3, shapes);
        const int local = round / 3 % 2;
        const sk_peak_wish wish = wish_of(&r, local);
        sk_session_settings s = sk_session_defaults();
        s.precision = round / 6 % 2 ? SK_PRECISION_F32 : SK_PRECISION_F16;
        s.cache_dir = "";
        s.tune = 0;
        sk_session *dense = NULL, *sparse = NULL;
        assert_ok(sk_session_open(&gpu_engine, g, shapes, PARTS, &s, &dense, &err), &err);
        s.peaks = &wish;
        s.slots = SLOTS;
        assert_ok(sk_session_open(&gpu_engine, g, shapes, PARTS, &s, &sparse, &err), &err);
        float *data[SLOTS][PARTS];
        sk_tensor whole[PARTS], got[SLOTS][PARTS + 1];
        for (int again = 0; again < 2; again++) {
            for (int k = 0; k < SLOTS; k++) {
                sk_session_input in[PARTS] = {{0}};
                const int kind = random_below(&r, 4);
                for (int i = 0; i < PARTS; i++) {
                    data[k][i] = malloc((size_t)sk_shape_count(&shapes[i]) * sizeof(float));
                    paint(&r, &shapes[i], i, kind, data[k][i]);
                    in[i].data = data[k][i];
                }
                assert_ok(sk_session_submit(sparse, in, PARTS, &err), &err);
            }
            for (int k = 0; k < SLOTS; k++)
                assert_ok(sk_session_wait(sparse, got[k], PARTS + 1, &err), &err);
            for (int k = 0; k < SLOTS; k++) {
                sk_session_input in[PARTS] = {{0}};
                for (int i = 0; i < PARTS; i++)
                    in[i].data = data[k][i];
                assert_ok(sk_session_run(dense, in, PARTS, whole, PARTS, &err), &err);
                compare(&wish, whole, got[k], &t[local]);
                for (int i = 0; i < PARTS; i++)
                    free(data[k][i]);
            }
        }
        sk_session_close(&dense);
        sk_session_close(&sparse);
        sk_graph_close(&g);
    }
    assert_true(t[0].tables > 60 && t[0].wholes == 0 && t[0].rows > 200);
    assert_true(t[1].tables > 20 && t[1].wholes > 5 && t[1].rows > 500 && t[1].lines > 200);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Wishes that do not fit the network, and engines that find no peaks. */
static void test_refusals(void **state)
{
    (void)state;
    random_source r = {5};
    sk_error err = {0};
    sk_shape shapes[PARTS];
    sk_graph *g = painted_graph(0, shapes);
    sk_session *session = NULL;
    sk_session_settings s = sk_session_defaults();
    s.cache_dir = "";
    sk_peak_wish wish = wish_of(&r, 1);
    s.peaks = &wish;
    assert_int_equal(sk_session_open(sk_engine_find("reference"), g, shapes, PARTS, &s, &session, &err),
                     SK_ERR_UNSUPPORTED);
    wish.maps = 7;
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PARTS, &s, &session, &err), SK_ERR_UNSUPPORTED);
    wish.maps = 2; /* has another number of channels */
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PARTS, &s, &session, &err), SK_ERR_UNSUPPORTED);
    wish.maps = 0;
    wish.capacity = 0;
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PARTS, &s, &session, &err), SK_ERR_ARG);
    wish = wish_of(&r, 1);
    wish.n_edges = 1;
    wish.edges[0][1] = NODES;
    assert_int_equal(sk_session_open(&gpu_engine, g, shapes, PARTS, &s, &session, &err), SK_ERR_ARG);
    sk_graph_close(&g);
    assert_int_equal(gpu_emulate_live, 0);
}

/* Models of all kinds: instances from the engine's tables are those from its maps. */
static void check_model(const char *path, int size, float threshold, int *found)
{
    sk_error err = {0};
    sk_model *m = NULL;
    sk_task_stage *stage = NULL;
    sk_task_settings settings = sk_task_settings_defaults();
    settings.sleap.peak_threshold = threshold;
    settings.sleap.paf.min_line_score = -1;
    assert_ok(sk_model_open(test_data(path), &m, &err), &err);
    m->sleap.target_size[0] = m->sleap.target_size[1] = 0; /* small frames stay small */
    assert_ok(sk_task_stage_open(m, &settings, size, size, &stage, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(stage);
    sk_peak_wish wish;
    assert_true(sk_task_stage_peaks(stage, &wish));
    const sk_shape shape = sk_shape_of(4, 1, plan->channels, plan->height, plan->width);
    sk_session_settings s = sk_session_defaults();
    s.cache_dir = "";
    s.tune = 0;
    s.input = SK_INPUT_TENSOR;
    sk_session *dense = NULL, *sparse = NULL;
    assert_ok(sk_session_open(&gpu_engine, m->graph, &shape, 1, &s, &dense, &err), &err);
    s.peaks = &wish;
    assert_ok(sk_session_open(&gpu_engine, m->graph, &shape, 1, &s, &sparse, &err), &err);
    random_source r = {9};
    uint8_t *pixels = malloc((size_t)(size * size * 3));
    for (int i = 0; i < size * size * 3; i++)
        pixels[i] = (uint8_t)random_next(&r);
    const sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = size, .height = size, .stride = size * 3, .data = pixels};
    float *x = malloc((size_t)sk_shape_count(&shape) * sizeof *x);
    sk_session_input in = {.data = x};
    sk_tensor want[SK_SESSION_MAX_OUTPUTS], got[SK_SESSION_MAX_OUTPUTS];
    sk_instances a, b;
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &a, &err), &err);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &b, &err), &err);
    assert_ok(sk_task_stage_input(stage, &frame, SK_TASK_INPUT_F32, x, &err), &err);
    assert_ok(sk_session_run(dense, &in, 1, want, SK_SESSION_MAX_OUTPUTS, &err), &err);
    assert_ok(sk_session_run(sparse, &in, 1, got, SK_SESSION_MAX_OUTPUTS, &err), &err);
    assert_ok(sk_task_stage_result(stage, want, m->n_outputs, 0, 0, &a, &err), &err);
    assert_ok(sk_task_stage_result(stage, got, m->n_outputs + 1, 0, 0, &b, &err), &err);
    assert_false(sk_task_outputs_whole(want, m->n_outputs, 0));
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.keypoints, b.keypoints, (size_t)(a.count * a.n_keypoints) * sizeof *a.keypoints);
    for (int32_t i = 0; i < a.count; i++)
        assert_true(a.items[i].score == b.items[i].score &&
                    a.items[i].tracking_score == b.items[i].tracking_score);
    *found += a.count;
    sk_instances_free(&a);
    sk_instances_free(&b);
    free(x);
    free(pixels);
    sk_session_close(&dense);
    sk_session_close(&sparse);
    sk_task_stage_close(&stage);
    sk_model_close(&m);
}

static void test_models(void **state)
{
    (void)state;
    test_data_or_skip();
    int found = 0;
    check_model("sleap/legacy/minimal_instance.UNet.bottomup", 64, 0.01f, &found);
    check_model("sleap/legacy/minimal_instance.UNet.centroid", 64, 0.01f, &found);
    check_model("sleap/nn/minimal_instance_bottomup", 64, 0.01f, &found);
    check_model("sleap/nn/minimal_instance_single_instance", 64, 0.0f, &found);
    assert_true(found > 5);
}

/* --- through the runner: with peaks, and with the maps kept --- */

enum { FRAMES = 5, FRAME_W = 72, FRAME_H = 56 };

static sk_runner *open_runner(const sk_model *const *models, int n_models, float threshold, bool keep)
{
    static const sk_engine *const engines[] = {&gpu_engine};
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s;
    sk_runner_defaults(&s);
    s.detector.runtime = "reference";
    s.detector.peak_threshold = threshold;
    s.detector.max_instances = 40;
    s.frame_width = FRAME_W;
    s.frame_height = FRAME_H;
    s.keep_outputs = keep;
    assert_ok(sk_runner_open_on(models, n_models, &s, engines, &r, &err), &err);
    return r;
}

static void check_runner(const char *first, const char *second, float threshold, int64_t *whole, int *found)
{
    sk_error err = {0};
    sk_model *models[2] = {NULL, NULL};
    random_source r = {31};
    static uint8_t pixels[FRAMES][FRAME_W * FRAME_H * 3];
    assert_ok(sk_model_open(test_source(first), &models[0], &err), &err);
    if (second)
        assert_ok(sk_model_open(test_source(second), &models[1], &err), &err);
    sk_runner *runners[2];
    for (int k = 0; k < 2; k++) {
        runners[k] = open_runner((const sk_model *const *)models, second ? 2 : 1, threshold, k == 0);
        assert_true(runners[k]->lanes[0].trace.key.peaks == k);
    }
    for (int i = 0; i < FRAMES; i++)
        for (int k = 0; k < FRAME_W * FRAME_H * 3; k++)
            pixels[i][k] = (uint8_t)(random_next(&r) >> 3);
    for (int i = 0; i < FRAMES; i++) {
        const sk_frame frame = {.format = SK_PIXEL_RGB,
                                .width = FRAME_W,
                                .height = FRAME_H,
                                .stride = FRAME_W * 3,
                                .data = pixels[i],
                                .index = i};
        sk_runner_result a, b;
        assert_ok(sk_runner_run(runners[0], &frame, NULL, &a, &err), &err);
        assert_ok(sk_runner_run(runners[1], &frame, NULL, &b, &err), &err);
        assert_int_equal(a.instances->count, b.instances->count);
        for (int32_t n = 0; n < a.instances->count; n++)
            assert_memory_equal(&a.instances->items[n].score, &b.instances->items[n].score, sizeof(float));
        assert_memory_equal(a.instances->keypoints, b.instances->keypoints,
                            (size_t)(a.instances->count * a.instances->n_keypoints) * sizeof(sk_keypoint));
        *found += a.instances->count;
    }
    sk_runner_stats stats;
    sk_runner_get_stats(runners[0], &stats);
    assert_int_equal(stats.whole, 0);
    sk_runner_get_stats(runners[1], &stats);
    *whole += stats.whole;
    for (int k = 0; k < 2; k++)
        sk_runner_close(&runners[k]);
    for (int k = 0; k < 2; k++)
        sk_model_close(&models[k]);
}

static void test_runner(void **state)
{
    (void)state;
    static const char *const models[][2] = {
        {"tests/fixtures/sleap_keras/transposed", NULL},
        {"tests/fixtures/sleap_keras/pooling_and_merging", NULL},
        {"tests/fixtures/sleap_keras/convolutions", NULL},
        {"tests/fixtures/sleap_keras/encoder", "tests/fixtures/sleap_keras/vectors"},
        {"tests/fixtures/sleap_nn/unet_bottomup_transposed", NULL},
        {"tests/fixtures/sleap_nn/unet_class_maps", NULL},
    };
    int64_t whole = 0;
    int found = 0;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        for (int k = 0; k < 3; k++)
            check_runner(models[i][0], models[i][1], (float)k * 0.1f - 0.1f, &whole, &found);
    assert_true(found > 100);
    assert_true(whole > 0);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_models), cmocka_unit_test(test_runner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
