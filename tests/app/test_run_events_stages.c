/* SPDX-License-Identifier: Apache-2.0 */
/* Each stage's own speed, as a run tells it: of a pipeline and a source of this test's own, whose numbers are known. */
#include "support/test.h"

#include "app/run_events.h"
#include "skitter/pipeline.h"
#include "skitter/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

/* --- in the places of the real ones --- */

struct sk_source {
    int64_t decoded;
    double seconds;
};
struct sk_pipeline {
    sk_pipeline_info info;
    int32_t in_flight;
    sk_stage_stats stages[SK_STAGE_COUNT]; /* count below 0: it has no such stage */
};

void sk_source_get_status(sk_source *source, sk_source_status *status)
{
    status->decoded = source->decoded;
    status->decode_seconds = source->seconds;
}

const sk_pipeline_info *sk_pipeline_about(const sk_pipeline *pipeline)
{
    return &pipeline->info;
}

int32_t sk_pipeline_in_flight(sk_pipeline *pipeline)
{
    return pipeline->in_flight;
}

const char *sk_stage_name(sk_stage stage)
{
    static const char *const names[SK_STAGE_COUNT] = {
        [SK_STAGE_PRE] = "pre",     [SK_STAGE_NETWORK] = "network", [SK_STAGE_POST] = "post",
        [SK_STAGE_CROPS] = "crops", [SK_STAGE_SECOND] = "second",   [SK_STAGE_SECOND_POST] = "second_post"};
    return names[stage] ? names[stage] : "one that nobody asks for";
}

bool sk_pipeline_get_stage(sk_pipeline *pipeline, sk_stage stage, sk_stage_stats *stats)
{
    assert_true((int)stage >= 0 && stage < SK_STAGE_COUNT);
    if (pipeline->stages[stage].count < 0)
        return false;
    stats->count = pipeline->stages[stage].count;
    stats->sum = pipeline->stages[stage].sum;
    return true;
}

/* --- what is told --- */

static const char *told(const sk_predict_progress *p)
{
    static char line[4096];
    int ends[2];
    sk_run_events *e = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_ok(sk_run_events_open(ends[1], &e, &err), &err);
    sk_run_events_progress(e, p);
    sk_run_events_close(&e);
    close(ends[1]);
    const ssize_t n = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    assert_true(n > 1 && line[n - 1] == '\n');
    line[n - 1] = '\0';
    const char *from = strstr(line, "\"seconds_left\":");
    assert_non_null(from);
    return strchr(from, ',') + 1;
}

static sk_pipeline pipeline_of(void)
{
    sk_pipeline p = {.info = {.runtime = "cpu", .device = "a processor", .depth = 5}, .in_flight = 3};
    for (int i = 0; i < SK_STAGE_COUNT; i++)
        p.stages[i] = (sk_stage_stats){.count = 10, .sum = 10000}; /* told nowhere unless it is asked for */
    static const sk_stage shown[] = {SK_STAGE_PRE,   SK_STAGE_NETWORK, SK_STAGE_POST,
                                     SK_STAGE_CROPS, SK_STAGE_SECOND,  SK_STAGE_SECOND_POST};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        p.stages[shown[i]] = (sk_stage_stats){.count = -1};
    return p;
}

#define QUEUE "],\"queues\":[{\"name\":\"frames on their way\",\"fill\":3,\"capacity\":5}]}"
#define WHO   "\"runtime\":\"cpu\",\"device\":\"a processor\",\"stages\":["

static void each_alone(void **state)
{
    (void)state;
    sk_pipeline p = pipeline_of();
    sk_source source = {8, 0.4}; /* 50 ms a frame */
    sk_predict_progress at = {.done = 30, .total = 100, .seconds = 10, .pipeline = &p, .source = &source};
    assert_string_equal(told(&at), WHO "{\"name\":\"decode\",\"ms\":50,\"fps\":20}" QUEUE);
    p.stages[SK_STAGE_PRE] = (sk_stage_stats){.count = 4, .sum = 10};
    p.stages[SK_STAGE_NETWORK] = (sk_stage_stats){.count = 1, .sum = 40};
    p.stages[SK_STAGE_POST] = (sk_stage_stats){.count = 0, .sum = 7}; /* nothing came to it yet */
    p.stages[SK_STAGE_CROPS] = (sk_stage_stats){.count = 2, .sum = 0};
    p.stages[SK_STAGE_SECOND] = (sk_stage_stats){.count = 2, .sum = 2000}; /* several frames at once */
    p.stages[SK_STAGE_SECOND_POST] = (sk_stage_stats){.count = 3, .sum = 1.5};
    assert_string_equal(told(&at), WHO "{\"name\":\"decode\",\"ms\":50,\"fps\":20},"
                                       "{\"name\":\"pre\",\"ms\":2.5,\"fps\":400},"
                                       "{\"name\":\"network\",\"ms\":40,\"fps\":25},"
                                       "{\"name\":\"second\",\"ms\":1000,\"fps\":3},"
                                       "{\"name\":\"second_post\",\"ms\":0.5,\"fps\":2000}" QUEUE);
    source.decoded = 0; /* nothing was decoded yet */
    at.done = 1000;     /* a hundred a second pass through all of it */
    assert_string_equal(told(&at), WHO "{\"name\":\"pre\",\"ms\":2.5,\"fps\":400},"
                                       "{\"name\":\"network\",\"ms\":40,\"fps\":100},"
                                       "{\"name\":\"second\",\"ms\":1000,\"fps\":100},"
                                       "{\"name\":\"second_post\",\"ms\":0.5,\"fps\":2000}" QUEUE);
}

/* Runs that compute nothing, and frames that come from nowhere. */
static void one_of_the_two(void **state)
{
    (void)state;
    sk_pipeline p = pipeline_of();
    sk_source source = {1, 0.25};
    sk_predict_progress at = {.done = 1, .total = 100, .seconds = 10, .source = &source};
    assert_string_equal(told(&at), "\"stages\":[{\"name\":\"decode\",\"ms\":250,\"fps\":4}],\"queues\":[]}");
    at.source = NULL;
    assert_string_equal(told(&at), "\"stages\":[],\"queues\":[]}");
    at.pipeline = &p;
    p.stages[SK_STAGE_CROPS] = (sk_stage_stats){.count = 1, .sum = 8};
    assert_string_equal(told(&at), WHO "{\"name\":\"crops\",\"ms\":8,\"fps\":125}" QUEUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_alone), cmocka_unit_test(one_of_the_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
