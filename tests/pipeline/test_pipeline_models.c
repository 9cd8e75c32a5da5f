/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include <pthread.h>
#include <stdio.h>

/* Models that a pipeline is opened on: shared, closed before it, from bytes. */

static void a_model_may_be_closed_and_shared(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    sk_pipeline *p[2] = {NULL, NULL};
    sk_pipeline_settings s = tiny_settings();
    s.rect = SK_RECT_OFF; /* one network fits all: weights could be given back */
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    const sk_model *list = model;
    assert_ok(sk_pipeline_open_models(&list, 1, &s, &p[0], &err), &err);
    assert_ok(sk_pipeline_open_models(&list, 1, &s, &p[1], &err), &err); /* its weights are still there */
    sk_model_close(&model);
    assert_null(model);
    lent *l = make_lent(2, 48, 40);
    float scores[2];
    for (int i = 0; i < 2; i++) {
        const sk_result *result = NULL;
        assert_ok(sk_pipeline_run(p[i], &l->frame, &result, &err), &err);
        scores[i] = first_score(result);
        sk_pipeline_give_back(p[i], result);
        sk_pipeline_close(&p[i]);
    }
    assert_true(scores[0] > 0 && scores[0] == scores[1]);
    free_lent(l);
}

static void *run_some(void *context)
{
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = NULL;
    sk_error err = {0};
    const sk_model *model = context;
    lent *l = make_lent(1, 48, 40);
    float *score = malloc(sizeof *score);
    *score = -2;
    if (sk_pipeline_open_models(&model, 1, &s, &p, &err) == SK_OK)
        for (int i = 0; i < 5; i++) {
            const sk_result *result = NULL;
            if (sk_pipeline_run(p, &l->frame, &result, &err) == SK_OK)
                *score = first_score(result);
            sk_pipeline_give_back(p, result);
        }
    sk_pipeline_close(&p);
    free_lent(l);
    return score;
}

static void two_threads_share_a_model(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    pthread_t threads[2];
    float *scores[2];
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, model), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], (void **)&scores[i]);
    assert_true(*scores[0] > 0 && *scores[0] == *scores[1]);
    free(scores[0]);
    free(scores[1]);
    sk_model_close(&model);
}

static void a_model_from_bytes(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *file = fopen(tiny_path(), "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 20];
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    sk_model *model = NULL;
    assert_ok(sk_model_open_bytes(bytes, length, NULL, SK_HEADS_AUTO, &model, &err), &err);
    assert_string_equal(err.message, ""); /* untouched on success */
    assert_int_equal(err.code, SK_OK);
    memset(bytes, 0x5a, sizeof bytes); /* they are ours again */
    sk_pipeline_settings s = tiny_settings();
    s.rect = SK_RECT_OFF;
    sk_pipeline *p = NULL, *q = open_tiny(&s);
    const sk_model *list = model;
    assert_ok(sk_pipeline_open_models(&list, 1, &s, &p, &err), &err);
    sk_model_close(&model);
    assert_string_equal(sk_pipeline_about(p)->models[0]->sha256, sk_pipeline_about(q)->models[0]->sha256);
    lent *l = make_lent(2, 64, 20);
    const sk_result *a = NULL, *b = NULL;
    assert_ok(sk_pipeline_run(p, &l->frame, &a, &err), &err);
    assert_ok(sk_pipeline_run(q, &l->frame, &b, &err), &err);
    assert_true(first_score(a) > 0 && first_score(a) == first_score(b));
    sk_pipeline_close(&p);
    sk_pipeline_close(&q);
    assert_int_equal(l->back, 2);
    free_lent(l);
    assert_int_equal(sk_model_open_bytes("nothing", 7, "a name", SK_HEADS_AUTO, &model, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_model_may_be_closed_and_shared),
                                       cmocka_unit_test(two_threads_share_a_model),
                                       cmocka_unit_test(a_model_from_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
