/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "support/fault.h"
#include "tasks/arrange.h"

#include <string.h>

/* Which models go together, and what they say of themselves. */

static const char *const animals[2] = {"mouse", "rat"}, *const nodes[3] = {"nose", "", "tail"};
static const int32_t bones[2][2] = {{0, 1}, {1, 2}};

/* A model as arranging sees one. */
static sk_model model_for(sk_task task)
{
    sk_model m = {.path = sk_task_name(task),
                  .n_classes = 2,
                  .class_names = animals,
                  .input = {.channels = 3, .height = 64, .width = 64, .stride = 32, .rgb = 1}};
    sk_model_set_task(&m, task);
    m.n_outputs = 1;
    if (sk_family_is_ultralytics(m.family)) {
        m.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 2};
        m.outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_YOLO, .name = "output0"};
        if (task == SK_TASK_POSE)
            m.n_keypoints = m.yolo.n_keypoints = 2, m.yolo.keypoint_dims = 3;
        return m;
    }
    m.n_keypoints = 3;
    m.keypoint_names = nodes;
    m.n_edges = 2;
    m.edges = bones;
    m.sleap = (sk_sleap_spec){
        .input_scale = 1, .pad_to_stride = 16, .crop_size = {32, 32}, .n_edges = 2, .edges = bones};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    if (task == SK_TASK_MULTICLASS_TOPDOWN)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_VECTORS, "vectors", 0};
    if (task == SK_TASK_BOTTOMUP)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_PAFS, "fields", 4};
    return m;
}

static const sk_task all[] = {SK_TASK_UNKNOWN,
                              SK_TASK_DETECT,
                              SK_TASK_POSE,
                              SK_TASK_OBB,
                              SK_TASK_SEGMENT,
                              SK_TASK_CLASSIFY,
                              SK_TASK_CENTROID,
                              SK_TASK_CENTERED_INSTANCE,
                              SK_TASK_SINGLE_INSTANCE,
                              SK_TASK_BOTTOMUP,
                              SK_TASK_MULTICLASS_BOTTOMUP,
                              SK_TASK_MULTICLASS_TOPDOWN};
enum { N_ALL = sizeof all / sizeof *all };

static bool finds(sk_task t)
{
    return t == SK_TASK_DETECT || t == SK_TASK_POSE || t == SK_TASK_OBB || t == SK_TASK_SEGMENT;
}

static bool on_crops(sk_task t)
{
    return t == SK_TASK_CENTERED_INSTANCE || t == SK_TASK_MULTICLASS_TOPDOWN;
}

/* May `a` find and `b` look? */
static bool possible(sk_task a, sk_task b)
{
    return (on_crops(b) && (finds(a) || a == SK_TASK_CENTROID)) ||
           ((b == SK_TASK_POSE || b == SK_TASK_SINGLE_INSTANCE) && finds(a));
}

static void every_pair_is_ordered_or_refused(void **state)
{
    (void)state;
    sk_error err;
    for (int i = 0; i < N_ALL; i++) {
        sk_model one = model_for(all[i]), *alone = &one;
        const bool fine = all[i] != SK_TASK_UNKNOWN && !on_crops(all[i]);
        assert_int_equal(sk_task_arrange(&alone, 1, &err) == SK_OK, fine);
        for (int j = 0; j < N_ALL; j++) {
            sk_model other = model_for(all[j]), *pair[2] = {&one, &other};
            const sk_status status = sk_task_arrange(pair, 2, &err);
            assert_int_equal(status == SK_OK, possible(all[i], all[j]) || possible(all[j], all[i]));
            if (status == SK_OK)
                assert_true(possible(pair[0]->task, pair[1]->task));
            else
                assert_true(err.message[0] != 0);
        }
    }
}

static void refusals_name_what_helps(void **state)
{
    (void)state;
    sk_error err;
    sk_model crops = model_for(SK_TASK_CENTERED_INSTANCE), *one[1] = {&crops};
    assert_int_equal(sk_task_arrange(one, 1, &err), SK_ERR_ARG);
    assert_non_null(
        strstr(err.message, "give the model that finds them too: a SLEAP centroid model or a YOLO detector"));
    sk_model classify = model_for(SK_TASK_CLASSIFY), pose = model_for(SK_TASK_POSE);
    sk_model *pair[2] = {&classify, &pose};
    assert_int_equal(sk_task_arrange(pair, 2, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "finds nothing in a frame that another could look at"));
    sk_model whole = model_for(SK_TASK_BOTTOMUP), *strange[2] = {&whole, &pose};
    assert_int_equal(sk_task_arrange(strange, 2, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "a 'bottomup' and a 'pose' model do not go together"));
    const sk_model *wish[1] = {&whole};
    assert_int_equal(sk_task_check_wishes(wish, 1, SK_HEADS_ONE_TO_MANY, SK_RECT_AUTO, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "heads are a YOLO model's, which this is not"));
    pose.input.fixed_size = 1;
    wish[0] = &pose;
    assert_int_equal(sk_task_check_wishes(wish, 1, SK_HEADS_AUTO, SK_RECT_ON, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "takes pictures of 64x64 only"));
    assert_ok(sk_task_check_wishes(wish, 1, SK_HEADS_ONE_TO_MANY, SK_RECT_OFF, &err), &err);
    /* Who exported it with the decoding of its own may say what it was made from. */
    static const char *facts[][2] = {
        {"names", "checkpoint_path"}, {"checkpoint_path", "runs/best.pt"}, {"author", "somebody"}};
    sk_model decoded = model_for(SK_TASK_DETECT), *exported[1] = {&decoded};
    decoded.outputs[0].kind = SK_OUTPUT_OTHER;
    for (int n = 0; n <= 3; n++) {
        decoded.facts = facts;
        decoded.n_facts = n;
        assert_int_equal(sk_task_arrange(exported, 1, &err), SK_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, n > 1 ? "it was exported from (runs/best.pt), or export that"
                                                  : "it was exported from, or export that"));
    }
    /* Models that were never arranged are no reason to fall over. */
    sk_model nothing = model_for(SK_TASK_UNKNOWN);
    sk_task_description d;
    const sk_task_settings settings = sk_task_settings_defaults();
    wish[0] = &nothing;
    assert_int_equal(sk_task_check_wishes(wish, 1, SK_HEADS_AUTO, SK_RECT_AUTO, &err), SK_ERR_ARG);
    assert_int_equal(sk_task_describe(wish, 1, &settings, &d, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "nothing is known of what its outputs mean"));
}

static void describe(const sk_model *first, const sk_model *second, sk_task_description *out)
{
    sk_error err;
    const sk_model *models[2] = {first, second};
    const sk_task_settings settings = sk_task_settings_defaults();
    assert_ok(sk_task_describe(models, second ? 2 : 1, &settings, out, &err), &err);
}

static void models_describe_themselves(void **state)
{
    (void)state;
    sk_task_description d;
    sk_model obb = model_for(SK_TASK_OBB), centred = model_for(SK_TASK_CENTERED_INSTANCE),
             pose = model_for(SK_TASK_POSE), centroid = model_for(SK_TASK_CENTROID);
    centred.n_classes = 0;
    describe(&obb, NULL, &d);
    assert_true(d.task == SK_TASK_OBB && d.has == (SK_HAS_BOX | SK_HAS_OBB) && d.n_keypoints == 0);
    assert_true(d.capacity == 300 && d.heads == SK_HEADS_ONE_TO_MANY && d.rectangles && d.fits_all &&
                d.takes_nv12);
    sk_task_description_free(&d);
    /* Boxes and classes of the finder, poses of the looker. */
    describe(&obb, &centred, &d);
    assert_true(d.task == SK_TASK_CENTERED_INSTANCE && d.n_classes == 2 && !d.identities);
    assert_true(d.has == (SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS) && d.capacity == 256);
    assert_true(d.n_keypoints == 3 && d.n_edges == 2 && d.rectangles && !d.fits_all && !d.takes_nv12);
    assert_string_equal(d.keypoint_names[0], "nose");
    assert_string_equal(d.keypoint_names[1], "kpt1");
    sk_task_description_free(&d);
    describe(&pose, NULL, &d);
    assert_string_equal(d.keypoint_names[1], "kpt1");
    assert_true(d.has == (SK_HAS_BOX | SK_HAS_KEYPOINTS) && d.colours == SK_COLOURS_TAGGED);
    sk_task_description_free(&d);
    describe(&centroid, NULL, &d);
    assert_true(d.n_keypoints == 1 && d.n_edges == 0 && d.has == SK_HAS_KEYPOINTS && !d.rectangles);
    assert_true(d.heads == SK_HEADS_AUTO && !d.fits_all);
    assert_string_equal(d.keypoint_names[0], "centroid");
    sk_task_description_free(&d);
}

static void individuals_and_eras(void **state)
{
    (void)state;
    sk_task_description d;
    sk_model detect = model_for(SK_TASK_DETECT), who = model_for(SK_TASK_MULTICLASS_TOPDOWN);
    static const char *const people[3] = {"one", "two", "three"};
    who.n_classes = 3;
    who.class_names = people;
    describe(&detect, &who, &d);
    assert_true(d.identities && d.n_classes == 3 && d.class_names == people);
    sk_task_description_free(&d);
    sk_model old = model_for(SK_TASK_CENTROID), e2e = model_for(SK_TASK_DETECT);
    old.sleap.legacy = 1;
    describe(&old, NULL, &d);
    assert_int_equal(d.colours, SK_COLOURS_BT601);
    sk_task_description_free(&d);
    e2e.yolo.end2end = 1;
    describe(&e2e, NULL, &d);
    assert_int_equal(d.heads, SK_HEADS_ONE_TO_ONE);
    sk_task_description_free(&d);
    sk_task_description_free(&d); /* empty by now */
}

static sk_status describe_once(void *context, sk_error *err)
{
    (void)context;
    sk_model detect = model_for(SK_TASK_DETECT), who = model_for(SK_TASK_MULTICLASS_TOPDOWN);
    const sk_model *models[2] = {&detect, &who};
    const sk_task_settings settings = sk_task_settings_defaults();
    sk_task_description d;
    SK_TRY(sk_task_describe(models, 2, &settings, &d, err));
    sk_task_description_free(&d);
    return SK_OK;
}

static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    assert_true(test_every_allocation(describe_once, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_ordered_or_refused), cmocka_unit_test(refusals_name_what_helps),
        cmocka_unit_test(models_describe_themselves), cmocka_unit_test(individuals_and_eras),
        cmocka_unit_test(failing_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
