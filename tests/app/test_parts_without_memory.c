/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of runs, networks and batches when memory ends at any place: they say so, and leave nothing behind. */
#include "runner/runner_fixture.h"
#include "support/fault.h"

#include "app/basic.h"
#include "app/batch_slurm_internal.h"
#include "app/consumers.h"
#include "app/inference_cache.h"
#include "app/network.h"
#include "app/quantize_internal.h"
#include "app/run_pictures.h"
#include "app/track_recorded.h"
#include "app/track_teller.h"
#include "base/file.h"
#include "base/memory.h"
#include "runner/network.h"
#include "skitter/skitter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

#define EVERY(fn, context, least) assert_true(test_every_allocation(fn, context) >= (least))

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- networks --- */

static sk_model *model;
static const sk_engine *engine;

typedef struct one_frame {
    sk_basic *basic;
    sk_frame frame;
} one_frame;

static sk_status run_basic(void *context, sk_error *e)
{
    one_frame *one = context;
    int32_t count = 0;
    return sk_basic_run(one->basic, &one->frame, &count, e);
}

static sk_status run_array(void *context, sk_error *e)
{
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    sk_session_settings settings = sk_session_defaults();
    int32_t count = -1;
    settings.threads = 1;
    settings.cache_dir = "";
    const sk_status status = sk_net_run_array(model, engine, context, &settings, outputs, &count, e);
    if (status != SK_OK && count != 0)
        return SK_ERR_INTERNAL;
    for (int32_t i = 0; i < count; i++)
        sk_free(outputs[i].data);
    return status;
}

static void networks(void **state)
{
    (void)state;
    const sk_runner_settings s = tiny_settings();
    model = tiny_model();
    assert_ok(sk_net_engine("cpu", &engine, &err), &err);
    const sk_model *models[] = {model};
    one_frame one = {.frame = make_frame(48, 40, 1)};
    assert_ok(sk_basic_open(models, 1, engine, &s.detector, 48, 40, &one.basic, &err), &err);
    EVERY(run_basic, &one, 4);
    sk_basic_close(&one.basic);
    free(one.frame.data);
    static uint8_t pixels[32 * 32 * 3];
    sk_tensor array = {.dtype = SK_DTYPE_U8,
                       .shape = sk_shape_of(4, (int64_t)1, (int64_t)32, (int64_t)32, (int64_t)3),
                       .data = pixels};
    EVERY(run_array, &array, 4);
    sk_model_close(&model);
}

/* --- following --- */

static sk_status follow(void *context, sk_error *e)
{
    const sk_run_header *header = context;
    sk_track_wish wish;
    sk_track_teller *t = NULL;
    sk_track_wish_defaults(&wish);
    wish.online = true;
    SK_TRY(sk_track_teller_open(&wish, header, &t, e));
    sk_status status = SK_OK;
    for (int64_t f = 0; f < 4 && status == SK_OK; f++) {
        sk_found items[3];
        for (int i = 0; i < 3; i++)
            items[i] =
                (sk_found){.score = 0.9F,
                           .track_id = -1,
                           .has = SK_HAS_BOX,
                           .box = {100.0F * (float)i + (float)f, 10, 100.0F * (float)i + (float)f + 30, 25}};
        const sk_instances found = {.items = items, .count = 3, .capacity = 3};
        const sk_result_frame frame = {
            .source = "v", .index = f, .time = 0.04 * (double)f, .instances = &found};
        sk_result_frame told;
        status = sk_track_teller_tell(t, f, &frame, &told, e);
    }
    sk_track_teller_close(&t);
    return status;
}

static sk_status remember(void *context, sk_error *e)
{
    sk_run_record *record = NULL;
    sk_track_wish wish;
    sk_region *region = NULL;
    sk_text text = {0};
    (void)context;
    SK_TRY(sk_run_record_open("run", &record, e));
    const sk_status status = sk_track_wish_recorded(record, &wish, &region, &text, e);
    sk_region_close(&region);
    sk_text_free(&text);
    sk_run_record_close(&record);
    return status;
}

static void tracks(void **state)
{
    (void)state;
    const sk_run_header header = {
        .source = "v", .source_kind = "video", .width = 640, .height = 480, .rate = 25, .has = SK_HAS_BOX};
    EVERY(follow, (void *)(uintptr_t)&header, 6);
    sk_text text = {0};
    sk_text_append(
        &text,
        "{\"skitter\":\"1\",\"state\":\"finished\",\"identity\":{\"tracker\":\"skitter\",\"backward\":\"1\","
        "\"interpolation\":\"1\",\"tell_covered\":\"1\",\"tell_lost\":\"0\",\"points\":\"a to b\","
        "\"region\":\"10,10,90,90 circle:5,5,3\"");
    for (size_t i = 0; sk_track_setting_at(i); i++)
        sk_text_appendf(&text, ",\"track.%s\":\"%s\"", sk_track_setting_at(i)->name,
                        sk_track_setting_at(i)->whole ? "1" : "0.5");
    sk_text_append(&text, "}}");
    assert_ok(sk_folder_make("run", &err), &err);
    put("run/run.json", sk_text_get(&text));
    sk_text_free(&text);
    EVERY(remember, NULL, 8);
}

static sk_status follow_live(void *context, sk_error *e)
{
    sk_live_tracks *t = NULL;
    int32_t ids[1];
    const sk_result result = {.instances = &(const sk_instances){0}, .width = 64, .height = 48};
    SK_TRY(sk_live_tracks_open(context, NULL, &t, e));
    const sk_status status = sk_live_tracks_tell(t, &result, ids, 1, e);
    sk_live_tracks_close(&t);
    return status;
}

static void live(void **state)
{
    (void)state;
    sk_pipeline_info about = {.size = sizeof about, .has = SK_HAS_BOX};
    sk_live_tracks *t = NULL;
    EVERY(follow_live, &about, 4);
    assert_int_equal(sk_live_tracks_open(NULL, NULL, &t, &err), SK_ERR_ARG);
    assert_int_equal(sk_live_tracks_open(&about, NULL, NULL, &err), SK_ERR_ARG);
    const sk_live_tracks_settings unknown = {.size = sizeof unknown, .tracker = "nobody"},
                                  none = {.size = sizeof none};
    t = (sk_live_tracks *)&about;
    assert_int_not_equal(sk_live_tracks_open(&about, &unknown, &t, &err), SK_OK);
    assert_null(t);
    assert_ok(sk_live_tracks_open(&about, &none, &t, &err), &err); /* the usual one */
    sk_live_tracks_close(&t);
    sk_live_tracks_defaults(NULL);
}

/* --- what was found before --- */

static sk_status keep(void *context, sk_error *e)
{
    sk_inference_cache *cache = NULL;
    char why[512];
    const sk_inference_wish wish = {.folder = "cache", .source = "v.mp4", .identity = context};
    SK_TRY(sk_inference_cache_open(&wish, &cache, why, e));
    sk_inference_cache_close(&cache);
    sk_inference_row *rows = NULL;
    size_t count = 0;
    SK_TRY(sk_inference_cache_list("cache", &rows, &count, e));
    sk_inference_cache_list_free(rows, count);
    return SK_OK;
}

static void caches(void **state)
{
    (void)state;
    char identity[] = "conf\t1\n";
    put("v.mp4", "frames");
    EVERY(keep, identity, 6);
}

/* --- consumers --- */

static sk_status make_consumers(void *context, sk_error *e)
{
    sk_consumers list = {0};
    const sk_run_header header = {.source = "v",
                                  .source_kind = "video",
                                  .version = "0",
                                  .started = "",
                                  .task = "detect",
                                  .settings = "",
                                  .device = "",
                                  .precision = "",
                                  .runtime = "",
                                  .runtime_requested = ""};
    sk_run_folder *folder = NULL;
    (void)context;
    SK_TRY(sk_run_folder_open(NULL, &folder, e));
    sk_status status = sk_consumers_add(&list, sk_consumer_left_out(), e);
    if (status == SK_OK)
        status = sk_consumers_add(&list, sk_consumer_journal(), e);
    if (status == SK_OK)
        status = sk_consumers_add(&list, sk_consumer_tap(&(sk_tap){0}), e);
    const sk_instances nobody = {0};
    sk_result_frame frame = {.source = "p.png", .instances = &nobody, .problem = "torn"};
    sk_passing passing = {.result = &frame};
    if (status == SK_OK)
        status = list.items[0]->kind->begin(list.items[0], &header, folder, e);
    if (status == SK_OK)
        status = list.items[0]->kind->take(list.items[0], &passing, e);
    sk_consumers_close(&list);
    sk_run_folder_close(&folder);
    return status;
}

static sk_status list_pictures(void *context, sk_error *e)
{
    char *path = NULL;
    const sk_status status = sk_run_pictures_write(context, &path, e);
    sk_free(path);
    return status;
}

static void consumers(void **state)
{
    (void)state;
    EVERY(make_consumers, NULL, 4);
    char name[] = "a.png", *names[] = {name};
    sk_run_pictures how = {
        .count = 1, .paths = names, .folder = "listed", .restart = true, .overwrite = true};
    EVERY(list_pictures, &how, 2);
}

/* --- eight bits --- */

static sk_status compare(void *context, sk_error *e)
{
    sk_loss loss = {0};
    sk_quantize_tally t = {.loss = &loss, .heads_pcc = 1};
    sk_found items[] = {{.has = SK_HAS_BOX, .box = {0, 0, 9, 9}}, {.has = SK_HAS_BOX, .box = {50, 0, 59, 9}}};
    const sk_instances list = {.items = items, .count = 2, .capacity = 2};
    (void)context;
    const sk_status status = sk_quantize_compare(&t, &list, &list, e);
    sk_quantize_tally_end(&t);
    return status;
}

static void eight_bits(void **state)
{
    (void)state;
    EVERY(compare, NULL, 3);
}

/* --- SLURM --- */

static sk_status read_job(void *context, sk_error *e)
{
    slurm_job job;
    bool there = false;
    int64_t *pieces = NULL, n = 0;
    char **words = NULL;
    sk_status status = slurm_job_read(context, 1, &job, &there, e);
    slurm_job_free(&job);
    SK_TRY(status);
    SK_TRY(sk_batch_slurm_task(context, 1, 1, &pieces, &n, e));
    sk_free(pieces);
    SK_TRY(sk_batch_slurm_words(context, 1, 2, &words, e));
    sk_batch_words_free(words);
    return SK_OK;
}

static void slurm(void **state)
{
    (void)state;
    char out[] = "batch", folder[] = "/", path[SK_BATCH_PATH];
    sk_batch b = {.out = out, .folder = folder, .pieces = 5, .id = "12"};
    assert_ok(sk_folder_make("batch/.batch/slurm", &err), &err);
    put(slurm_file(&b, 1, "tasks", path), "0 1\n2 3 4\n");
    put(slurm_file(&b, 1, "job", path), "4711");
    EVERY(read_job, &b, 6);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks),    cmocka_unit_test(live),       cmocka_unit_test(caches),
        cmocka_unit_test(consumers), cmocka_unit_test(eight_bits), cmocka_unit_test(slurm),
        cmocka_unit_test(networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
