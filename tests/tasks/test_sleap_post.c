/* SPDX-License-Identifier: Apache-2.0 */
/* What SLEAP's stages take and refuse, what they would ask of an engine, and small maps worked out by hand. */
#include "support/test.h"

#include "base/instances.h"
#include "tasks/sleap_post.h"
#include "tasks/stage.h"

#include <math.h>
#include <string.h>

enum { SIDE = 12, MOST = 1024 };

static sk_error err;
static sk_sleap_post *post;
/* A chain of nodes. */
#define TEN(a)                                                                                               \
    {a, a + 1}, {a + 1, a + 2}, {a + 2, a + 3}, {a + 3, a + 4}, {a + 4, a + 5}, {a + 5, a + 6},              \
        {a + 6, a + 7}, {a + 7, a + 8}, {a + 8, a + 9},                                                      \
    {                                                                                                        \
        a + 9, a + 10                                                                                        \
    }
static const int32_t bones[80][2] = {TEN(0), TEN(10), TEN(20), TEN(30), TEN(40), TEN(50), TEN(60), TEN(70)};

static sk_model model_of(sk_task task)
{
    sk_model m = {.path = "m", .task = task, .n_keypoints = 3, .n_classes = 2, .n_outputs = 2};
    m.sleap = (sk_sleap_spec){.n_edges = 2, .edges = bones};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "more", 7};
    m.outputs[1] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    const sk_output_kind second = task == SK_TASK_BOTTOMUP              ? SK_OUTPUT_PAFS
                                  : task == SK_TASK_MULTICLASS_BOTTOMUP ? SK_OUTPUT_CLASS_MAPS
                                  : task == SK_TASK_MULTICLASS_TOPDOWN  ? SK_OUTPUT_CLASS_VECTORS
                                                                        : SK_OUTPUT_OTHER;
    if (second != SK_OUTPUT_OTHER)
        m.outputs[m.n_outputs++] = (sk_output_spec){second, "second", 4};
    return m;
}

static const sk_task all[] = {SK_TASK_SINGLE_INSTANCE,     SK_TASK_CENTROID,
                              SK_TASK_CENTERED_INSTANCE,   SK_TASK_BOTTOMUP,
                              SK_TASK_MULTICLASS_BOTTOMUP, SK_TASK_MULTICLASS_TOPDOWN};
enum { TASKS = sizeof all / sizeof *all };

static void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, status == SK_OK ? "taken" : err.message, why);
}

static void what_an_engine_is_asked_for(void **state)
{
    (void)state;
    for (int t = 0; t < TASKS; t++)
        for (int legacy = 0; legacy < 2; legacy++) {
            sk_model m = model_of(all[t]);
            sk_sleap_settings s = sk_sleap_settings_defaults();
            sk_peak_wish w;
            const bool fields = all[t] == SK_TASK_BOTTOMUP, classes = all[t] == SK_TASK_MULTICLASS_BOTTOMUP,
                       local = fields || classes || all[t] == SK_TASK_CENTROID;
            m.sleap.legacy = legacy;
            m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_OFFSETS, "offsets", 2};
            s.peak_threshold = 0.3f;
            s.paf.n_points = 7;
            s.paf.max_edge_length_ratio = 0.5f;
            s.paf.dist_penalty_weight = 2;
            assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
            assert_true(sk_sleap_post_wish(post, &w));
            assert_true(w.local == local && w.capacity == (local ? SK_PEAK_ROWS : 1));
            assert_true(w.threshold == (all[t] == SK_TASK_SINGLE_INSTANCE && legacy ? -INFINITY : 0.3f));
            assert_true(w.refinement == SK_REFINE_INTEGRAL && w.maps == 1 && w.maps_stride == 2);
            assert_int_equal(w.offsets, legacy ? m.n_outputs - 1 : -1);
            assert_true(w.classes == (classes ? 2 : -1) && w.classes_stride == (classes ? 4 : 1));
            assert_true(w.fields == (fields ? 2 : -1) && w.fields_stride == (fields ? 4 : 1));
            assert_true(w.n_channels == (all[t] == SK_TASK_CENTROID ? 1 : 3) &&
                        w.n_classes == (classes ? 2 : 0));
            assert_true(w.pairs == (fields ? SK_PEAK_PAIRS : 0) && w.n_edges == (fields ? 2 : 0));
            assert_true(!fields || memcmp(w.edges, bones, 2 * sizeof *bones) == 0);
            assert_true(w.n_points == 7 && w.max_edge_length_ratio == 0.5f && w.dist_penalty_weight == 2);
            sk_sleap_post_close(&post);
        }
    /* as large as tables may be, and larger; patches that engines do not know */
    for (int i = 0; i < 7; i++) {
        sk_model m = model_of(i < 2 ? SK_TASK_BOTTOMUP : SK_TASK_MULTICLASS_BOTTOMUP);
        sk_sleap_settings s = sk_sleap_settings_defaults();
        sk_peak_wish w;
        m.sleap.n_edges = i == 0 ? SK_PEAK_MOST_EDGES : i == 1 ? SK_PEAK_MOST_EDGES + 1 : 80;
        m.n_classes = i == 2 ? SK_PEAK_MOST_CLASSES : i == 3 ? SK_PEAK_MOST_CLASSES + 1 : 2;
        m.n_keypoints = i == 4 ? SK_PEAK_MOST_NODES : i == 5 ? SK_PEAK_MOST_NODES + 1 : 70;
        s.patch = i == 6 ? 7 : 5;
        if (i == 1)
            m.n_keypoints = 90;
        assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
        assert_int_equal(sk_sleap_post_wish(post, &w), i == 0 || i == 2 || i == 4);
        sk_sleap_post_close(&post);
    }
}

static void settings_and_models(void **state)
{
    (void)state;
    for (int patch = 1; patch <= 17; patch++) {
        const sk_model m = model_of(SK_TASK_CENTROID);
        sk_sleap_settings s = sk_sleap_settings_defaults();
        s.patch = patch;
        const bool fine = patch >= 3 && patch <= 15 && patch % 2;
        const sk_status status = sk_sleap_post_open(&m, &s, &post, &err);
        if (fine)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_ARG, "give an odd number from 3 to 15");
        sk_sleap_post_close(&post);
    }
    static const int32_t peaks[] = {0, 1, 4096, 4097}, most[] = {-1, 0, 1, MOST - 1, MOST, MOST + 1, 5000};
    for (int i = 0; i < 4; i++) {
        const sk_model m = model_of(SK_TASK_CENTROID);
        sk_sleap_settings s = sk_sleap_settings_defaults();
        s.paf.max_peaks_per_node = peaks[i];
        assert_int_equal(sk_sleap_post_open(&m, &s, &post, &err), i == 1 || i == 2 ? SK_OK : SK_ERR_ARG);
        sk_sleap_post_close(&post);
    }
    for (int t = 0; t < TASKS; t++)
        for (int i = 0; i < 7; i++) {
            const sk_model m = model_of(all[t]);
            sk_sleap_settings s = sk_sleap_settings_defaults();
            s.max_instances = most[i];
            assert_int_equal(sk_sleap_post_open(&m, &s, &post, &err), i ? SK_OK : SK_ERR_ARG);
            if (!i)
                continue;
            const int32_t wanted = all[t] == SK_TASK_SINGLE_INSTANCE       ? 1
                                   : all[t] == SK_TASK_MULTICLASS_BOTTOMUP ? 2
                                   : most[i] == 0 || most[i] > MOST        ? MOST
                                                                           : most[i];
            assert_int_equal(sk_sleap_post_capacity(post), wanted);
            assert_int_equal(sk_sleap_post_keypoints(post), all[t] == SK_TASK_CENTROID ? 1 : 3);
            sk_sleap_post_close(&post);
        }
    static const struct {
        int32_t nodes, classes;
        bool taken;
    } sizes[] = {{1, 0, true},   {0, 0, false},   {1024, 0, true}, {1025, 0, false},
                 {1, -1, false}, {1, 4096, true}, {1, 4097, false}};
    for (int i = 0; i < 7; i++) {
        sk_model m = model_of(SK_TASK_SINGLE_INSTANCE);
        m.n_keypoints = sizes[i].nodes;
        m.n_classes = sizes[i].classes;
        const sk_status status = sk_sleap_post_open(&m, NULL, &post, &err);
        if (sizes[i].taken)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_UNSUPPORTED, "classes cannot be read");
        sk_sleap_post_close(&post);
    }
    static const char *const lacks[TASKS][2] = {
        {"confidence maps", NULL},         {"confidence maps", NULL},
        {"confidence maps", NULL},         {"confidence maps", "part affinity fields"},
        {"confidence maps", "class maps"}, {"confidence maps", "class vectors"}};
    for (int t = 0; t < TASKS; t++)
        for (int k = 0; k < 2 && lacks[t][k]; k++) {
            sk_model m = model_of(all[t]);
            char why[100] = "m: the model has no output of ";
            m.outputs[1 + k].kind = SK_OUTPUT_OTHER;
            strcat(why, lacks[t][k]);
            told(sk_sleap_post_open(&m, NULL, &post, &err), SK_ERR_UNSUPPORTED, why);
        }
    sk_model m = model_of(SK_TASK_DETECT);
    told(sk_sleap_post_open(&m, NULL, &post, &err), SK_ERR_UNSUPPORTED, "m: not a SLEAP model (task ");
}

static float values[40000];

/* Maps of other sizes than the model's are told, each in its words. */
static void maps_that_do_not_fit(void **state)
{
    (void)state;
    const sk_sleap_geometry g = {.input_scale = 1, .eff_scale = 1};
    sk_instances list = {0};
    sk_model m = model_of(SK_TASK_SINGLE_INSTANCE);
    m.sleap.legacy = 1;
    m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_OFFSETS, "offsets", 2};
    assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
    assert_ok(sk_instances_alloc(1, 3, &list, &err), &err);
    for (int wrong = 0; wrong < 9; wrong++) {
        sk_map maps[3] = {sk_map_planar(values, 1, 1, 1), sk_map_planar(values, wrong == 1 ? 4 : 3, 5, 6),
                          sk_map_planar(values, wrong == 2 ? 5 : 6, wrong == 3 ? 6 : 5, wrong == 4 ? 5 : 6)};
        sk_instances other = list;
        other.capacity = wrong == 5 ? 0 : 1;
        other.n_keypoints = wrong == 6 ? 2 : wrong == 7 ? 4 : 3;
        const sk_status status = sk_sleap_post_run(post, maps, wrong == 8 ? 2 : 3, &g, &other, &err);
        switch (wrong) {
        case 0: assert_ok(status, &err); break;
        case 1:
            told(status, SK_ERR_MISMATCH, "the confidence maps have 4 channels; the model has 3 nodes");
            break;
        case 2:
        case 3:
        case 4: told(status, SK_ERR_MISMATCH, "the offset maps do not fit the confidence maps"); break;
        case 5: told(status, SK_ERR_ARG, "holds 0 instances of 3 keypoints; 1 of 3 are needed"); break;
        case 6: told(status, SK_ERR_ARG, "holds 1 instances of 2 keypoints; 1 of 3 are needed"); break;
        case 7: told(status, SK_ERR_ARG, "holds 1 instances of 4 keypoints; 1 of 3 are needed"); break;
        default: told(status, SK_ERR_MISMATCH, "the network gave 2 outputs; 3 are expected"); break;
        }
    }
    sk_instances_free(&list);
    sk_sleap_post_close(&post);
}

/* Classes of a crop along any one axis, as they come from exporters, are the same classes. */
static void vectors_of_every_shape(void **state)
{
    (void)state;
    static const float vectors[2][2] = {{0.1f, 0.8f}, {0.7f, 0.3f}};
    static float one[3 * SIDE * SIDE];
    static const int32_t shapes[][3] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 1}, {2, 1, 2},
                                        {1, 2, 2}, {1, 1, 1}, {3, 1, 1}, {4, 1, 2}};
    sk_sleap_crop *crop = NULL;
    sk_instances list = {0};
    const sk_model m = model_of(SK_TASK_MULTICLASS_TOPDOWN);
    sk_sleap_spec spec = m.sleap;
    spec.crop_size[0] = spec.crop_size[1] = 24;
    spec.input_scale = 1;
    sk_sleap_crop_geometry cg;
    assert_ok(sk_sleap_crop_sizes(&spec, 0, &cg, &err), &err);
    assert_ok(sk_sleap_crop_open(&spec, &cg, 1, 100, 100, 1, &crop, &err), &err);
    for (int k = 0; k < 3; k++)
        one[(k * SIDE + 5) * SIDE + 6] = 1;
    assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
    assert_ok(sk_instances_alloc(MOST, 3, &list, &err), &err);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int32_t *z = shapes[i];
        sk_sleap_post_begin(post, &list);
        for (int c = 0; c < 2; c++) {
            const sk_sleap_centroid at = {.x = 50, .y = 50, .score = 0.5f, .class_id = -1};
            const sk_map maps[3] = {sk_map_planar(one, 1, 1, 1), sk_map_planar(one, 3, SIDE, SIDE),
                                    sk_map_planar(vectors[c], z[0], z[1], z[2])};
            const sk_status status = sk_sleap_post_crop(post, maps, 3, crop, &at, 1, &list, &err);
            if (i >= 3)
                told(status, SK_ERR_MISMATCH, "the class output does not have the model's 2 classes");
            else
                assert_ok(status, &err);
        }
        sk_sleap_post_end(post, &list);
        if (i >= 3)
            continue;
        assert_int_equal(list.count, 2);
        assert_true(list.items[0].class_id == 1 && list.items[0].tracking_score == 0.8f);
        assert_true(list.items[1].class_id == 0 && list.items[1].tracking_score == 0.7f);
    }
    sk_instances_free(&list);
    sk_sleap_crop_close(&crop);
    sk_sleap_post_close(&post);
}

/* Of more peaks than a map may have the highest stay, in their order; of equal ones the first. */
static void the_highest_of_a_map(void **state)
{
    (void)state;
    static const struct {
        float values[5];
        int32_t most, kept[5], n;
    } cases[] = {
        {{0.5f, 0.5f, 0.9f, 0.5f, 0.3f}, 2, {0, 2}, 2},
        {{0.5f, 0.5f, 0.9f, 0.5f, 0.3f}, 3, {0, 1, 2}, 3},
        {{0.5f, 0.5f, 0.9f, 0.5f, 0.3f}, 1, {2}, 1},
        {{0.3f, 0.4f, 0.5f, 0.6f, 0.7f}, 2, {3, 4}, 2},
        {{0.7f, 0.6f, 0.5f, 0.4f, 0.3f}, 4, {0, 1, 2, 3}, 4},
        {{0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, 3, {0, 1, 2}, 3},
        {{0.5f, 0.1f, 0.5f, 0.2f, 0.3f}, 5, {0, 2, 4}, 3}}; /* the threshold itself is not above it */
    const sk_sleap_geometry g = {.input_scale = 1, .eff_scale = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static float one[SIDE * SIDE];
        sk_model m = model_of(SK_TASK_CENTROID);
        sk_sleap_settings s = sk_sleap_settings_defaults();
        sk_instances list = {0};
        memset(one, 0, sizeof one);
        for (int k = 0; k < 5; k++)
            one[(1 + 2 * k) * SIDE + 10 - 2 * k] = cases[i].values[k];
        s.paf.max_peaks_per_node = cases[i].most;
        s.refinement = SK_REFINE_NONE;
        const sk_map maps[2] = {sk_map_planar(one, 1, 1, 1), sk_map_planar(one, 1, SIDE, SIDE)};
        assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
        assert_ok(sk_instances_alloc(MOST, 1, &list, &err), &err);
        assert_ok(sk_sleap_post_run(post, maps, 2, &g, &list, &err), &err);
        assert_int_equal(list.count, cases[i].n);
        for (int k = 0; k < list.count; k++) {
            const int from = cases[i].kept[k];
            const sk_keypoint *p = &list.keypoints[list.items[k].first_keypoint];
            assert_true(p->score == cases[i].values[from] && list.items[k].score == p->score);
            assert_true(p->x == (float)(2 * (10 - 2 * from)) && p->y == (float)(2 * (1 + 2 * from)));
        }
        sk_instances_free(&list);
        sk_sleap_post_close(&post);
    }
}

/* A table of peaks is the last output, of whole numbers, a row an image; its first word says whether the maps came instead. */
static void tables_that_say_so(void **state)
{
    (void)state;
    int32_t words[3][4] = {{SK_PEAK_COMPLETE}, {SK_PEAK_WHOLE}, {SK_PEAK_COMPLETE}};
    sk_tensor outputs[2] = {{SK_DTYPE_I32, sk_shape_of(2, 3, 4), words},
                            {SK_DTYPE_I32, sk_shape_of(2, 3, 4), words}};
    for (int32_t image = 0; image < 3; image++) {
        assert_int_equal(sk_task_outputs_whole(outputs, 2, image), image == 1);
        assert_int_equal(sk_task_outputs_whole(outputs, 1, image), image == 1);
    }
    assert_false(sk_task_outputs_whole(outputs, 0, 1) || sk_task_outputs_whole(NULL, 0, 1));
    outputs[1].dtype = SK_DTYPE_F32;
    assert_false(sk_task_outputs_whole(outputs, 2, 1));
    outputs[1].dtype = SK_DTYPE_I32;
    for (int32_t rank = 1; rank <= 3; rank++) {
        outputs[1].shape.rank = rank;
        assert_int_equal(sk_task_outputs_whole(outputs, 2, 1), rank == 2);
    }
    outputs[1].shape.rank = 2;
    outputs[1].data = NULL;
    assert_false(sk_task_outputs_whole(outputs, 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_engine_is_asked_for), cmocka_unit_test(settings_and_models),
        cmocka_unit_test(maps_that_do_not_fit),        cmocka_unit_test(vectors_of_every_shape),
        cmocka_unit_test(tables_that_say_so),          cmocka_unit_test(the_highest_of_a_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
