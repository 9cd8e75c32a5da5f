/* SPDX-License-Identifier: Apache-2.0 */
#include "runner_fixture.h"
#include "tasks/arrange.h"

/* Boxes that somebody else found come with the frames: the second model is the only network. */

static sk_model *given, *poser;

static int setup(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const names[] = {"animal"};
    assert_ok(sk_model_of_given("background", "how", 1, names, true, &given, &err), &err);
    poser = tiny_model();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sk_model_close(&given);
    sk_model_close(&poser);
    return 0;
}

/* Other boxes in every frame, turned, of which some hang over the border; none in every fifth. */
static void boxes_of(int64_t frame, sk_instances *out)
{
    out->count = 0;
    for (int64_t i = 0; i < (frame % 5 == 4 ? 0 : 1 + frame % 4); i++) {
        sk_found *f = sk_instances_add(out);
        const float x = (float)((frame * 7 + i * 13) % 48), y = (float)((frame * 5 + i * 11) % 40);
        f->has = SK_HAS_BOX | SK_HAS_OBB;
        f->score = 0.5f + 0.1f * (float)i;
        f->class_id = 0;
        const float obb[5] = {x, y, 16, 8, 0.4f * (float)(frame + i)};
        const float box[4] = {x - 8, y - 7, x + 8, y + 7};
        memcpy(f->obb, obb, sizeof obb);
        memcpy(f->box, box, sizeof box);
    }
}

typedef struct one_by_one {
    sk_task_stage *first;
    plain second;
    sk_instances boxes;
} one_by_one;

static void one_by_one_open(one_by_one *p, const sk_runner_settings *s)
{
    sk_error err = {0};
    const sk_task_settings task = sk_task_settings_of(&s->detector);
    plain *b = &p->second;
    assert_ok(sk_task_stage_open(given, &task, 48, 40, &p->first, &err), &err);
    plain_open(b, poser, s, 32, 32); /* the network's own size: as it is on crops */
    sk_task_stage_close(&b->stage);
    sk_instances_free(&b->found);
    assert_ok(sk_task_stage_open_second(poser, p->first, &task, &b->stage, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(b->stage);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &b->found, &err), &err);
    assert_ok(sk_instances_alloc(16, 0, &p->boxes, &err), &err);
}

static void one_by_one_close(one_by_one *p)
{
    plain_close(&p->second);
    sk_task_stage_close(&p->first);
    sk_instances_free(&p->boxes);
}

static int32_t one_by_one_run(one_by_one *p, const sk_frame *frame)
{
    sk_error err = {0};
    plain *b = &p->second;
    const sk_session_info *info = sk_session_about(b->session);
    int32_t n_crops = 0;
    boxes_of(frame->index, &p->boxes);
    assert_ok(sk_task_stage_crops(b->stage, frame, &p->boxes, &b->found, &n_crops, &err), &err);
    for (int32_t c = 0; c < n_crops; c++) {
        const sk_session_input in = {.data = b->input};
        assert_ok(sk_task_stage_crop_input(b->stage, c, SK_TASK_INPUT_U8, b->input, &err), &err);
        assert_ok(sk_session_run(b->session, &in, 1, b->outputs, SK_SESSION_MAX_OUTPUTS, &err), &err);
        assert_ok(sk_task_stage_crop_result(b->stage, c, b->outputs, info->n_outputs, 0, info->outputs_form,
                                            &b->found, &err),
                  &err);
    }
    assert_ok(sk_task_stage_crops_end(b->stage, &b->found, &err), &err);
    return n_crops;
}

static sk_runner *open_given(const sk_runner_settings *s)
{
    sk_error err = {0};
    const sk_model *models[] = {given, poser};
    sk_runner *r = NULL;
    assert_ok(sk_runner_open_on(models, 2, s, fault_engines, &r, &err), &err);
    return r;
}

static sk_runner_settings given_settings(void)
{
    sk_runner_settings s = tiny_settings();
    fault_reset();
    s.devices = "cpu";
    return s;
}

/* All frames through the runner, many in flight, each as it is one step after another. */
static int32_t run_all(sk_runner *r, one_by_one *p, const frames *set)
{
    sk_error err = {0};
    sk_runner_result result;
    sk_instances boxes = {0};
    int32_t crops = 0;
    assert_ok(sk_instances_alloc(16, 0, &boxes, &err), &err);
    int32_t submitted = 0;
    for (int32_t i = 0; i < set->count; i++) {
        for (; submitted < set->count && sk_runner_in_flight(r) < sk_runner_depth(r); submitted++) {
            boxes_of(submitted, &boxes);
            const sk_runner_call call = {.found = &boxes};
            assert_ok(sk_runner_submit(r, &set->frames[submitted], &call, NULL, &err), &err);
        }
        if (submitted == set->count)
            sk_runner_flush(r);
        assert_ok(sk_runner_wait(r, &result, &err), &err);
        assert_int_equal(result.index, i);
        crops += one_by_one_run(p, &set->frames[i]);
        assert_same_instances(result.instances, &p->second.found);
    }
    sk_instances_free(&boxes);
    return crops;
}

static void test_as_one_by_one(void **state)
{
    (void)state;
    frames set = make_frames(24, 48, 40);
    for (int kind = 0; kind < 4; kind++) {
        sk_runner_settings s = given_settings();
        s.detector.batch = kind == 1 ? 3 : 1;
        s.detector.crop_batch = kind == 1 || kind == 3 ? 5 : 0;
        s.depth = 12;
        s.check_every = kind == 2 ? 5 : 0;
        s.detector.crop_turned = kind >= 2 ? SK_CHOICE_AUTO : SK_CHOICE_OFF;
        s.detector.mask_neighbours = kind % 2 ? SK_CHOICE_AUTO : SK_CHOICE_OFF;
        faults[0].asynchronous = kind == 3;
        one_by_one p = {0};
        one_by_one_open(&p, &s);
        sk_runner *r = open_given(&s);
        assert_true(run_all(r, &p, &set) > 30);
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_int_equal(stats.failed + stats.checks_failed, 0);
        assert_int_equal(stats.checks, kind == 2 ? 5 : 0);
        sk_runner_close(&r);
        one_by_one_close(&p);
    }
    free_frames(&set);
}

/* Crops of several frames go through the second network together: fewer runs of it than frames that have some, and every result
 * is as it is alone. */
static void test_batches_over_frames(void **state)
{
    (void)state;
    frames set = make_frames(40, 48, 40);
    int32_t runs[2] = {0};
    for (int kind = 0; kind < 2; kind++) {
        sk_runner_settings s = given_settings();
        s.detector.batch = s.detector.crop_batch = kind ? 8 : 1;
        s.batch_wait_ms = 2000; /* full ones, however busy the machine is */
        s.depth = 24;
        one_by_one p = {0};
        one_by_one_open(&p, &s);
        sk_runner *r = open_given(&s);
        const int32_t before = atomic_load(&faults[0].submits);
        const int32_t crops = run_all(r, &p, &set);
        runs[kind] = atomic_load(&faults[0].submits) - before;
        assert_true(kind ? runs[1] >= crops / 8 : runs[0] == crops);
        sk_runner_close(&r);
        one_by_one_close(&p);
    }
    assert_true(runs[1] <= 20); /* 32 of the frames have crops, 80 of them */
    free_frames(&set);
}

/* What was found stays, whether the second model sees something in it or not, and no frame allocates. */
static void test_boxes_stay_and_nothing_is_allocated(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(20, 48, 40);
    sk_runner_settings s = given_settings();
    s.frames = SK_RUNNER_BORROW;
    s.detector.confidence = 0.9999f;
    s.detector.crop_turned = s.detector.mask_neighbours = SK_CHOICE_ON;
    sk_runner *r = open_given(&s);
    sk_instances boxes = {0};
    sk_runner_result result;
    assert_ok(sk_instances_alloc(16, 0, &boxes, &err), &err);
    uint64_t allocations = 0;
    for (int32_t i = 0; i < set.count; i++) {
        boxes_of(i, &boxes);
        const sk_runner_call call = {.found = &boxes};
        if (i == 8)
            allocations = sk_memory_allocations();
        assert_ok(sk_runner_run(r, &set.frames[i], &call, &result, &err), &err);
        assert_int_equal(result.instances->count, boxes.count);
        for (int32_t k = 0; k < boxes.count; k++) {
            assert_int_equal(result.instances->items[k].has, SK_HAS_BOX | SK_HAS_OBB);
            assert_memory_equal(result.instances->items[k].obb, boxes.items[k].obb,
                                sizeof boxes.items[k].obb);
        }
    }
    assert_int_equal(sk_memory_allocations() - allocations, 0);
    sk_runner_close(&r);
    sk_instances_free(&boxes);
    free_frames(&set);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = given_settings();
    sk_runner *r = NULL;
    const sk_model *models[] = {given, poser};
    s.keep_outputs = true;
    assert_int_equal(sk_runner_open_on(models, 2, &s, fault_engines, &r, &err), SK_ERR_UNSUPPORTED);
    sk_model *alone[] = {given}, *none[] = {given, given};
    assert_int_equal(sk_task_arrange(alone, 1, &err), SK_ERR_ARG);
    assert_int_equal(sk_task_arrange(none, 2, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "background"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_one_by_one), cmocka_unit_test(test_batches_over_frames),
        cmocka_unit_test(test_boxes_stay_and_nothing_is_allocated), cmocka_unit_test(test_what_is_refused)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
