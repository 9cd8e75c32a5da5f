/* SPDX-License-Identifier: Apache-2.0 */
/* The plainest way through one network, and through two of which the second looks at what the first finds: it finds what a pipeline finds,
 * says where the time went, and leaves nothing where memory ends. */
#include "runner/runner_fixture.h"
#include "support/fault.h"

#include "app/basic.h"
#include "base/memory.h"
#include "runner/network.h"
#include "skitter/pipeline.h"

#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static sk_error err;
static const sk_engine *engine;
static char paths[2][4300];
static sk_model *models[2]; /* boxes, poses */

/* A clock that goes on by a millisecond whenever it is looked at, where the test wants that. */
static bool counted;
static int64_t looks;

int clock_gettime(clockid_t id, struct timespec *out)
{
    if (!counted)
        return (int)syscall(SYS_clock_gettime, id, out);
    looks++;
    *out = (struct timespec){looks / 1000, looks % 1000 * 1000000};
    return 0;
}

enum { DETECT, POSE };

static const struct {
    int32_t first, n; /* of the models */
    int32_t only;     /* of the classes; -1: all */
    int32_t most;
} ways[] = {
    {DETECT, 1, -1, 300}, {POSE, 1, -1, 300}, {DETECT, 1, 1, 5}, {DETECT, 2, -1, 3}, {DETECT, 2, 1, 3}};
enum { WAYS = sizeof ways / sizeof *ways };

static sk_detector_settings settings_of(int way)
{
    sk_detector_settings s = tiny_settings().detector;
    s.max_det = ways[way].most;
    if (ways[way].n == 1)
        s.confidence = 0.6F; /* nearly all of the 256 places have more */
    if (ways[way].only >= 0) {
        s.classes = &ways[way].only;
        s.n_classes = 1;
    }
    return s;
}

static sk_status open_basic(int way, sk_basic **out, sk_error *why)
{
    const sk_model *const list[2] = {models[ways[way].first], models[1]};
    const sk_detector_settings s = settings_of(way);
    return sk_basic_open(list, ways[way].n, engine, &s, 48, 40, out, why);
}

/* How many a pipeline of the same models finds. */
static int32_t by_pipeline(int way, const sk_frame *frame)
{
    const char *const list[2] = {paths[ways[way].first], paths[1]};
    sk_pipeline_settings s = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline *p = NULL;
    const sk_result *result = NULL;
    sk_pipeline_defaults(&s);
    const sk_detector_settings d = settings_of(way);
    s.threads = 1;
    s.height = s.width = 32;
    s.confidence = d.confidence;
    s.max_det = d.max_det;
    s.classes = d.classes;
    s.n_classes = d.n_classes;
    assert_ok(sk_pipeline_open(list, ways[way].n, &s, &p, &err), &err);
    assert_ok(sk_pipeline_submit(p, frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &result, &err), &err);
    const int32_t count = sk_instances_count(result->instances);
    sk_pipeline_give_back(p, result);
    sk_pipeline_close(&p);
    return count;
}

static void it_finds_what_a_pipeline_finds(void **state)
{
    (void)state;
    int32_t different = 0;
    for (int way = 0; way < WAYS; way++)
        for (int64_t number = 1; number < 4; number++) {
            sk_basic *b = NULL;
            sk_frame frame = make_frame(48, 40, number);
            int32_t count = -1;
            const int32_t wanted = by_pipeline(way, &frame);
            assert_ok(open_basic(way, &b, &err), &err);
            assert_ok(sk_basic_run(b, &frame, &count, &err), &err);
            if (count != wanted)
                fail_msg("way %d, frame %d: %d, and %d by a pipeline", way, (int)number, count, wanted);
            different += wanted > 0 && wanted < 256 && ways[way].n == 1;
            sk_basic_close(&b);
            free(frame.data);
        }
    assert_true(different > 0);
}

/* A network that takes two pictures at once is given one, and nothing. */
static void a_network_of_two_pictures(void **state)
{
    (void)state;
    sk_basic *b = NULL;
    sk_frame frame = make_frame(48, 40, 1);
    int32_t count = -1;
    const int32_t wanted = by_pipeline(POSE, &frame);
    models[POSE]->input.fixed_batch = 2;
    assert_ok(open_basic(POSE, &b, &err), &err);
    assert_ok(sk_basic_run(b, &frame, &count, &err), &err);
    assert_int_equal(count, wanted);
    sk_basic_close(&b);
    models[POSE]->input.fixed_batch = 0;
    free(frame.data);
}

/* Each look at the clock ends a part: a crop is prepared, run and decoded like a frame, and a frame is copied once. */
static void where_the_time_goes(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        sk_basic *b = NULL;
        sk_basic_times t;
        int32_t count = 0;
        sk_frame frame = make_frame(48, 40, 1);
        const double ms = 1e-3;
        assert_ok(open_basic(way, &b, &err), &err);
        counted = true;
        const int64_t begin = looks;
        const sk_status status = sk_basic_run(b, &frame, &count, &err);
        const int64_t passed = looks - begin - 1; /* the first look begins */
        counted = false;
        assert_ok(status, &err);
        sk_basic_get_times(b, &t);
        const int32_t crops = ways[way].n == 2 ? count : 0; /* each is a pose */
        const double wanted[] = {1, 1 + crops, 1 + crops, ways[way].n == 2 ? 2 + crops : 1},
                     told[] = {t.copy / ms, t.pre / ms, t.network / ms, t.post / ms};
        for (int i = 0; i < 4; i++)
            if (fabs(told[i] - wanted[i]) > 1e-6)
                fail_msg("way %d: part %d took %g, not %g", way, i, told[i], wanted[i]);
        assert_true(fabs((t.copy + t.pre + t.network + t.post) / ms - (double)passed) < 1e-6);
        sk_basic_close(&b);
        free(frame.data);
    }
}

/* What SLEAP's settings leave out is left out, of whole frames and of crops. */
static void what_is_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"unet_single_kernel5_convs3", "unet_class_vectors"};
    for (int i = 0; i < 2; i++) {
        sk_model *sleap = NULL;
        char path[4400];
        int32_t counts[2] = {-1, -1};
        sk_frame frame = make_frame(48, 40, 2);
        snprintf(path, sizeof path, "%s/%s", test_source("tests/fixtures/sleap_nn"), names[i]);
        assert_ok(sk_model_open(path, &sleap, &err), &err);
        for (int strict = 0; strict < 2; strict++) {
            const sk_model *const list[2] = {i ? models[DETECT] : sleap, sleap};
            sk_detector_settings s = settings_of(DETECT);
            sk_basic *b = NULL;
            s.height = s.width = i ? 32 : 0;
            s.peak_threshold = 0.01F;
            s.sleap.min_visible_nodes = strict ? 100 : 0;
            assert_ok(sk_basic_open(list, 1 + i, engine, &s, 48, 40, &b, &err), &err);
            assert_ok(sk_basic_run(b, &frame, &counts[strict], &err), &err);
            sk_basic_close(&b);
        }
        assert_true(counts[0] >= 1 && counts[1] == 0);
        sk_model_close(&sleap);
        free(frame.data);
    }
}

typedef struct held {
    sk_basic *basic;
    sk_frame frame;
    int32_t count;
    int of_crops; /* how often there was no memory for a crop */
} held;

static sk_status run_held(void *context, sk_error *why)
{
    held *h = context;
    const sk_status status = sk_basic_run(h->basic, &h->frame, &h->count, why);
    h->of_crops += status != SK_OK && strstr(why->message, ": 3072 bytes could not be"); /* 32 x 32 x 3 */
    return status;
}

static sk_status open_two(void *context, sk_error *why)
{
    sk_basic *b = context; /* anything but null */
    const sk_status status = open_basic(3, &b, why);
    if ((status == SK_OK) != (b != NULL))
        return SK_ERR_INTERNAL;
    sk_basic_close(&b);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    held h = {.frame = make_frame(48, 40, 1)};
    assert_ok(open_basic(3, &h.basic, &err), &err);
    assert_true(test_every_allocation(run_held, &h) >= 10);
    assert_int_equal(h.count, by_pipeline(3, &h.frame));
    assert_int_equal(h.of_crops, h.count);
    sk_basic_close(&h.basic);
    free(h.frame.data);
    assert_true(test_every_allocation(open_two, &err) >= 8);
}

int main(void)
{
    static const char *const heads[2] = {"Detect", "Pose"}, *const names[2] = {"detect.pt", "pose.pt"};
    if (sk_net_engine("cpu", &engine, &err) != SK_OK)
        return 1;
    for (int i = 0; i < 2; i++) {
        const yolo_fixture fixture = {.head = heads[i], .f32 = true};
        snprintf(paths[i], sizeof paths[i], "%s", yolo_save(&fixture, names[i]));
        if (sk_model_open(paths[i], &models[i], &err) != SK_OK)
            return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_what_a_pipeline_finds),
        cmocka_unit_test(a_network_of_two_pictures),
        cmocka_unit_test(where_the_time_goes),
        cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(without_memory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 2; i++)
        sk_model_close(&models[i]);
    return failed;
}
