/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames a pipeline takes, and which of them a source then gives, on devices that this machine need not have: what is
 * listed before networks stand; and on a GPU of loops (tests/engines/gpu_emulate.c) once they do. */
#include "pipeline_fixture.h"

#include "media/reader.h"
#include "pipeline/internal.h"
#include "pipeline/pipeline.h"

#include <dlfcn.h>
#include <stdio.h>

typedef struct listing_case {
    const char *runtime, *devices;
    int32_t n_models, check_every;
    bool sleap, failover;
    int32_t device; /* of NV12 in its memory; -1: none */
    bool nv12;      /* in the host's memory, before RGB */
    bool planes;
} listing_case;

static void list(const listing_case *c, sk_model *model, sk_pipeline *p)
{
    *p = (sk_pipeline){0};
    sk_detector_defaults(&p->detector);
    p->detector.runtime = c->runtime;
    p->devices = (char *)(uintptr_t)c->devices;
    p->settings.check_every = c->check_every;
    p->settings.allow_failover = c->failover;
    p->description.takes_nv12 = !c->sleap;
    p->info.n_models = c->n_models ? c->n_models : 1;
    p->models[0] = model;
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(c->runtime, ":"), c->runtime);
    p->engine = sk_engine_find(name);
    assert_non_null(p->engine);
    sk_pipeline_list_accepts(p);
}

static void each_device_is_offered_what_it_reads(void **state)
{
    (void)state;
    static const listing_case cases[] = {
        {.runtime = "cuda", .device = 0, .nv12 = true},
        {.runtime = "cuda:12", .device = 12, .nv12 = true},
        {.runtime = "cuda", .devices = "cuda:12", .device = 12, .nv12 = true},
        {.runtime = "cuda", .devices = "cuda:3,cuda:3", .device = 3, .nv12 = true},
        {.runtime = "cuda",
         .devices = "cuda:1,cuda:12",
         .device = -1,
         .nv12 = true}, /* where a frame goes is not known */
        {.runtime = "cuda", .devices = "cuda:12", .sleap = true, .device = -1}, /* these come as RGB */
        {.runtime = "cuda", .devices = "cuda:12", .n_models = 2, .device = -1},
        {.runtime = "cuda",
         .devices = "cuda:12",
         .check_every = 5,
         .device = -1}, /* the reference needs them here */
        {.runtime = "cuda", .devices = "cuda:12", .failover = true, .device = -1},
        {.runtime = "cpu", .device = -1, .planes = true},
        {.runtime = "cpu", .n_models = 2, .device = -1},
    };
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const listing_case *c = &cases[i];
        static sk_pipeline p;
        list(c, model, &p);
        sk_source_settings media = {.size = sizeof media, .format = SK_PIXEL_RGB};
        media.accepts = p.info.accepts;
        media.n_accepts = p.info.n_accepts;
        const sk_frame_wishes wish = sk_frame_wishes_of(&media);
        if (wish.on_device != c->device + 1 || wish.nv12 != c->nv12 ||
            (wish.planes_above_width > 0) != c->planes)
            fail_msg("case %zu: device %d, NV12 %d, planes above %d", i, wish.on_device - 1, wish.nv12,
                     wish.planes_above_width);
        /* what it likes as it comes, without a conversion before RGB */
        sk_frame there = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = c->device},
                 elsewhere = {.format = SK_PIXEL_NV12, .place = SK_PLACE_CUDA, .device = c->device + 1},
                 here = {.format = SK_PIXEL_NV12}, rgb = {.format = SK_PIXEL_RGB},
                 bgr = {.format = SK_PIXEL_BGR};
        assert_int_equal(sk_pipeline_likes(&p, &there), c->device >= 0);
        assert_false(sk_pipeline_likes(&p, &elsewhere));
        assert_int_equal(sk_pipeline_likes(&p, &here), c->nv12);
        assert_true(sk_pipeline_likes(&p, &rgb));
        assert_false(sk_pipeline_likes(&p, &bgr));
        if (c->device >= 0)
            assert_true(p.accepts[0].lent == 1 && p.accepts[0].place == SK_PLACE_CUDA);
    }
    sk_model_close(&model);
}

/* The same list once the networks stand, from what they said, and such a frame goes through. */
static void a_gpu_of_loops_takes_its_own_frames(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.runtime = "cuda";
    s.precision = "f32";
    s.options = "tune=off";
    sk_pipeline *p = open_tiny(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_true(info->accepts[0].format == SK_PIXEL_NV12 && info->accepts[0].place == SK_PLACE_CUDA);
    assert_int_equal(info->accepts[0].device, 0);
    assert_true(info->accepts[1].format == SK_PIXEL_NV12 && info->accepts[1].place == SK_PLACE_HOST);
    assert_int_equal(info->accepts[2].format, SK_PIXEL_RGB);
    lent *l = make_lent(1, 64, 48); /* its bytes are enough for NV12 of this size */
    const sk_result *result = NULL;
    l->frame.format = SK_PIXEL_NV12;
    l->frame.stride = 64;
    l->frame.matrix = SK_COLOUR_BT709;
    l->frame.place = SK_PLACE_CUDA;
    assert_ok(sk_pipeline_run(p, &l->frame, &result, &err), &err);
    const int32_t there = sk_instances_count(result->instances);
    l->frame.place = SK_PLACE_HOST;
    assert_ok(sk_pipeline_run(p, &l->frame, &result, &err), &err);
    assert_int_equal(sk_instances_count(result->instances), there);
    l->frame.place = SK_PLACE_CUDA;
    l->frame.device = 12; /* another one than the network's */
    assert_int_not_equal(sk_pipeline_run(p, &l->frame, &result, &err), SK_OK);
    sk_pipeline_close(&p);
    free_lent(l);
}

int main(void)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/emulated", getenv("SKITTER_TEST_BUILD"));
    setenv("SKITTER_PLUGIN_DIR", folder, 1);
    char driver[4200];
    snprintf(driver, sizeof driver, "%s/libcuda.so.1", folder);
    if (!dlopen(driver, RTLD_NOW)) { /* later requests for that name find this one */
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_device_is_offered_what_it_reads),
                                       cmocka_unit_test(a_gpu_of_loops_takes_its_own_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
