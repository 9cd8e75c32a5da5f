/* SPDX-License-Identifier: Apache-2.0 */
/* What a model in eight bits says of itself: in words, written and read back, and refused where it cannot be. */
#include "support/fault.h"
#include "support/test.h"

#include "base/text.h"
#include "models/quantised.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_error err;

static sk_quantised known(void)
{
    return (sk_quantised){.precision = "mixed",
                          .source = "a.pt",
                          .source_sha256 = "00ff",
                          .data = "film.mp4",
                          .finder = "boxes.pt",
                          .made_by = "0.2.0",
                          .frames = 100,
                          .layers = 84,
                          .kept = 12,
                          .measured = true,
                          .measured_by = "cpu, i8 by f32",
                          .height = 320,
                          .width = 640,
                          .loss = {.percent = 1.25,
                                   .frames = 25,
                                   .instances = 75,
                                   .lost = 2,
                                   .added = 3,
                                   .box_px = 0.5,
                                   .box_px_95 = 1.5,
                                   .keypoint_px = 0.25,
                                   .keypoint_px_95 = 0.75,
                                   .score = 0.125,
                                   .score_95 = 0.0625}};
}

static void words(void **state)
{
    (void)state;
    char text[SK_QUANTISED_TEXT];
    sk_quantised q = known();
    assert_string_equal(sk_quantised_text(&q, text),
                        "mixed, loss 1.25 % on cpu, 25 frames at 640x320: of 75 instances 2 lost, 3 new, "
                        "boxes 0.50 px (95 %: "
                        "1.50), keypoints 0.25 px (95 %: 0.75), scores 0.125 (95 %: 0.062)");
    q.height = q.loss.frames = 0; /* of older files less is known */
    q.measured_by[0] = '\0';
    q.loss.box_px_95 = 0; /* poses without boxes */
    assert_string_equal(
        sk_quantised_text(&q, text),
        "mixed, loss 1.25 % on cpu: of 75 instances 2 lost, 3 new, keypoints 0.25 px (95 %: 0.75), "
        "scores 0.125 (95 %: 0.062)");
    q.loss.box_px_95 = 1.5;
    q.loss.frames = 1;
    q.loss.keypoint_px = q.loss.keypoint_px_95 = NAN; /* boxes without poses */
    assert_string_equal(
        sk_quantised_text(&q, text),
        "mixed, loss 1.25 % on cpu, 1 frame: of 75 instances 2 lost, 3 new, boxes 0.50 px (95 %: "
        "1.50), scores 0.125 (95 %: 0.062)");
    q.loss.score = q.loss.score_95 = NAN; /* nothing in both */
    assert_string_equal(
        sk_quantised_text(&q, text),
        "mixed, loss 1.25 % on cpu, 1 frame: of 75 instances 2 lost, 3 new, boxes 0.50 px (95 %: "
        "1.50)");
    static const double losses[][2] = {{0, 0}, {0.9732, 0.97}, {0.9751, 0.98}, {2.999, 3}, {3.0049, 3}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) { /* the very number that is told */
        q.loss.percent = losses[i][0];
        assert_true(sk_quantised_told_loss(&q) == losses[i][1]);
    }
    q.measured = false;
    assert_string_equal(sk_quantised_text(&q, text),
                        "mixed, loss not known: nothing was found in the frames it was measured on");
}

static char *written(const sk_quantised *q, const char *more)
{
    sk_text text = {0};
    char *out = NULL;
    sk_json json = sk_json_to_text(&text, 0);
    sk_json_object(&json);
    sk_quantised_write(q, &json);
    sk_json_close(&json);
    assert_ok(sk_json_end(&json, &err), &err);
    assert_ok(sk_text_take(&text, &out, &err), &err);
    char *last = strrchr(out, '}');
    sk_text with = {0};
    *last = '\0';
    sk_text_appendf(&with, "%s%s}", out, more);
    sk_free(out);
    assert_ok(sk_text_take(&with, &out, &err), &err);
    return out;
}

static sk_status read_it(const char *json, sk_arena *arena, sk_quantised *out)
{
    err = (sk_error){0};
    return sk_quantised_read(json, strlen(json), "m.skq", arena, out, &err);
}

static void comes_back_as_it_was(void **state)
{
    (void)state;
    sk_arena *arena = NULL;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    for (int finder = 0; finder < 2; finder++) {
        sk_quantised q = known(), back;
        if (!finder)
            q.finder[0] = '\0';
        char *json = written(
            &q, ",\"layers\":[{\"name\":\"a\",\"low\":-1.5,\"high\":2.5},{\"name\":\"b\",\"high\":1}]");
        assert_true((strstr(json, "\"finder\"") != NULL) == (finder == 1));
        assert_ok(read_it(json, arena, &back), &err);
        assert_int_equal(back.n_reach, 2);
        assert_string_equal(back.reach[0].name, "a");
        assert_true(back.reach[0].low == -1.5f && back.reach[0].high == 2.5f);
        assert_string_equal(back.reach[1].name, "b");
        assert_true(back.reach[1].low == 0 && back.reach[1].high == 1);
        back.reach = NULL;
        back.n_reach = 0;
        char *again = written(&back, ""), *first = written(&q, "");
        assert_string_equal(again, first);
        assert_true(back.measured && back.frames == 100 && back.layers == 84 && back.kept == 12);
        sk_free_all(json, again, first);
    }
    sk_arena_close(&arena);
}

/* What is not known is null, not 0, and comes back so. */
static void what_is_not_known(void **state)
{
    (void)state;
    sk_arena *arena = NULL;
    sk_quantised q = known(), back;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    q.loss.keypoint_px = q.loss.keypoint_px_95 = NAN;
    char *json = written(&q, "");
    assert_non_null(strstr(json, "\"percent\":1.25,\"box_px\":0.5,"));
    assert_non_null(strstr(json, "\"keypoint_px\":null,\"keypoint_px_95\":null,\"score\":0.125"));
    assert_ok(read_it(json, arena, &back), &err);
    assert_true(isnan(back.loss.keypoint_px) && isnan(back.loss.keypoint_px_95) && back.loss.box_px == 0.5);
    assert_true(back.height == 320 && back.width == 640);
    sk_free(json);
    q.measured = false;
    json = written(&q, "");
    assert_non_null(
        strstr(json, "\"added\":3,\"percent\":null,\"box_px\":null,\"box_px_95\":null,\"keypoint_px\":null,"
                     "\"keypoint_px_95\":null,\"score\":null,\"score_95\":null}"));
    assert_ok(read_it(json, arena, &back), &err);
    assert_true(!back.measured && back.loss.percent == 0 && isnan(back.loss.box_px));
    sk_free(json);
    /* older files: figures of what is not there are 0, and nobody says by what and where it was measured */
    assert_ok(read_it("{\"measured\":true,\"loss\":{\"percent\":1,\"keypoint_px\":0}}", arena, &back), &err);
    assert_true(back.loss.keypoint_px == 0 && back.height == 0 && !back.measured_by[0]);
    sk_arena_close(&arena);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *why;
    } cases[] = {
        {"{", "not valid JSON"},
        {"{\"loss\":{\"percent\":-0.5}}", "'loss.percent' in its description is no number that can be"},
        {"{\"measured\":true,\"loss\":{\"percent\":\"0\"}}",
         "'loss.percent' in its description is no number that can be"},
        {"{\"measured\":true}", "'loss.percent'"},
        {"{\"measured\":true,\"loss\":{\"percent\":null}}", "'loss.percent'"},
        {"{\"loss\":{\"box_px\":1e999}}", ""},
        {"{\"height\":-1}", "'height'"},
        {"{\"width\":2147483648}", "'width'"},
        {"{\"loss\":{\"box_px\":-1}}", "'loss.box_px'"},
        {"{\"loss\":{\"box_px_95\":-1}}", "'loss.box_px_95'"},
        {"{\"loss\":{\"keypoint_px\":-1}}", "'loss.keypoint_px'"},
        {"{\"loss\":{\"keypoint_px_95\":-1}}", "'loss.keypoint_px_95'"},
        {"{\"loss\":{\"score\":-1}}", "'loss.score'"},
        {"{\"loss\":{\"score_95\":-1}}", "'loss.score_95'"},
        {"{\"loss\":{\"frames\":-1}}", "'loss.frames' in its description is no count that can be"},
        {"{\"loss\":{\"instances\":-1}}", "'loss.instances'"},
        {"{\"loss\":{\"lost\":-1}}", "'loss.lost'"},
        {"{\"loss\":{\"added\":2147483648}}", "'loss.added'"},
        {"{\"frames\":-1}", "'frames' in its description is no count that can be"},
        {"{\"layers_in_eight_bits\":2147483648}", "'layers_in_eight_bits'"},
        {"{\"layers_in_f32\":-7}", "'layers_in_f32'"},
        {"{\"precision\":\"a precision of many letters\"}", "'precision' in its description is too long"},
        {"{\"layers\":[{\"name\":\"x\",\"low\":-1e30}]}",
         "layer 'x' in its description reaches from -1e+30 to 0"},
        {"{\"layers\":[{\"name\":\"x\",\"high\":1e30}]}", "reaches from 0 to 1e+30"}};
    sk_arena *arena = NULL;
    sk_quantised q;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_it(cases[i].json, arena, &q), SK_ERR_FORMAT);
        if (!strstr(err.message, cases[i].why) || !strstr(err.message, "m.skq"))
            fail_msg("%s: %s", cases[i].json, err.message);
    }
    /* the largest that can be, and nothing at all */
    assert_ok(read_it("{\"frames\":2147483647,\"loss\":{\"percent\":0,\"lost\":2147483647}}", arena, &q),
              &err);
    assert_true(q.frames == INT32_MAX && q.loss.lost == INT32_MAX);
    assert_ok(read_it("{\"layers\":{\"a\":1}}", arena, &q), &err);
    assert_true(q.n_reach == 0 && !q.measured && !q.precision[0]);
    sk_arena_close(&arena);
}

/* A text fits or is refused: one byte less than its place. */
static void longest_texts(void **state)
{
    (void)state;
    sk_arena *arena = NULL;
    sk_quantised q;
    char text[64], json[128];
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    for (int more = -1; more <= 0; more++) {
        const size_t n = sizeof q.precision + (size_t)more;
        memset(text, 'p', n);
        text[n] = '\0';
        snprintf(json, sizeof json, "{\"precision\":\"%s\"}", text);
        assert_int_equal(read_it(json, arena, &q), more < 0 ? SK_OK : SK_ERR_FORMAT);
        assert_true(more == 0 || strcmp(q.precision, text) == 0);
    }
    sk_arena_close(&arena);
}

static sk_status read_some(void *context, sk_error *to)
{
    sk_arena *arena = NULL;
    sk_quantised q;
    SK_TRY(sk_arena_open(0, &arena, to));
    const sk_status status = sk_quantised_read(context, strlen(context), "m.skq", arena, &q, to);
    sk_arena_close(&arena);
    return status;
}

static void memory_may_end(void **state)
{
    (void)state;
    static char json[1 << 17];
    size_t at = (size_t)snprintf(json, sizeof json, "{\"layers\":[");
    for (int i = 0; i < 2000; i++) /* more than an arena's first part holds */
        at += (size_t)snprintf(json + at, sizeof json - at, "%s{\"name\":\"%08d a long name of a layer\"}",
                               i ? "," : "", i);
    snprintf(json + at, sizeof json - at, "]}");
    sk_arena *arena = NULL;
    sk_quantised q;
    assert_ok(sk_arena_open(0, &arena, &err), &err);
    assert_ok(read_it(json, arena, &q), &err);
    assert_int_equal(q.n_reach, 2000);
    assert_string_equal(q.reach[1999].name, "00001999 a long name of a layer");
    sk_arena_close(&arena);
    static char few[] = "{\"layers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";
    assert_true(test_every_allocation(read_some, few) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words),
                                       cmocka_unit_test(comes_back_as_it_was),
                                       cmocka_unit_test(what_is_not_known),
                                       cmocka_unit_test(what_cannot_be_is_refused),
                                       cmocka_unit_test(longest_texts),
                                       cmocka_unit_test(memory_may_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
