/* SPDX-License-Identifier: Apache-2.0 */
/* What animals look like, as bytes and back: each number in its place, cut at its ends and rounded; animals that are not to be seen are
 * nothing. Who looks is this test's own. */
#include "support/fault.h"
#include "support/test.h"

#include "app/frame_looks.h"
#include "base/instances.h"
#include "track/looks.h"

#include <string.h>

static sk_error err;
static float answers[3][SK_TRACK_LOOKS];
static bool seen[3];
static int asked;

bool sk_looks_of(const sk_frame *frame, const sk_detection *detection, float out[SK_TRACK_LOOKS])
{
    assert_int_equal(frame->index, 7);
    const int i = (int)detection->x / 100; /* the animals stand at 0, 100 and 200 */
    asked++;
    memcpy(out, answers[i], sizeof answers[i]);
    return seen[i];
}

static sk_found items[3];
static const sk_instances found = {.items = items, .count = 3, .capacity = 3};
static const sk_frame frame = {.index = 7};

static void begin(void)
{
    for (int i = 0; i < 3; i++) {
        const float x = 100 * (float)i;
        items[i] = (sk_found){.has = SK_HAS_BOX, .score = 1, .track_id = -1, .box = {x, 10, x + 40, 30}};
        seen[i] = true;
        for (int k = 0; k < SK_TRACK_LOOKS; k++)
            answers[i][k] = (float)((i * 50 + k) % 256) / 255;
    }
    asked = 0;
}

static void there_and_back(void **state)
{
    (void)state;
    sk_frame_looks looks = {0};
    float out[SK_TRACK_LOOKS];
    begin();
    assert_ok(sk_frame_looks_fill(&looks, &frame, &found, &err), &err);
    assert_int_equal(asked, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(sk_frame_looks_get(looks.bytes, i, out));
        for (int k = 0; k < SK_TRACK_LOOKS; k++) {
            assert_int_equal(looks.bytes[i * SK_TRACK_LOOKS + k], (i * 50 + k) % 256);
            assert_true(out[k] == answers[i][k]);
        }
    }
    sk_frame_looks_free(&looks);
    assert_true(!looks.bytes && looks.capacity == 0);
}

static void ends_and_rounding(void **state)
{
    (void)state;
    static const struct {
        float value;
        int byte;
    } rows[] = {{-3, 0},
                {0, 0},
                {0.4F / 255, 0},
                {0.6F / 255, 1},
                {0.5F, 128},
                {254.4F / 255, 254},
                {254.6F / 255, 255},
                {1, 255},
                {1.5F, 255},
                {100, 255}};
    sk_frame_looks looks = {0};
    begin();
    for (int k = 0; k < 10; k++)
        answers[1][k] = rows[k].value;
    assert_ok(sk_frame_looks_fill(&looks, &frame, &found, &err), &err);
    for (int k = 0; k < 10; k++)
        assert_int_equal(looks.bytes[SK_TRACK_LOOKS + k], rows[k].byte);
    sk_frame_looks_free(&looks);
}

/* Who is not to be seen, or has no place, is nothing, whatever was there before. */
static void who_is_not_to_be_seen(void **state)
{
    (void)state;
    sk_frame_looks looks = {0};
    float out[SK_TRACK_LOOKS];
    begin();
    assert_ok(sk_frame_looks_fill(&looks, &frame, &found, &err), &err);
    seen[0] = false;
    items[2].has = 0;
    asked = 0;
    assert_ok(sk_frame_looks_fill(&looks, &frame, &found, &err), &err);
    assert_int_equal(asked, 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sk_frame_looks_get(looks.bytes, i, out), i == 1);
        for (int k = 0; k < SK_TRACK_LOOKS; k++)
            assert_int_equal(looks.bytes[i * SK_TRACK_LOOKS + k], i == 1 ? (50 + k) % 256 : 0);
    }
    uint8_t one[SK_TRACK_LOOKS] = {0};
    for (int k = 0; k < SK_TRACK_LOOKS; k++) { /* any number at all says that it was seen */
        one[k] = 1;
        assert_true(sk_frame_looks_get(one, 0, out));
        one[k] = 0;
    }
    assert_false(sk_frame_looks_get(one, 0, out));
    sk_frame_looks_free(&looks);
}

static sk_status fill(void *context, sk_error *error)
{
    (void)context;
    sk_frame_looks looks = {0};
    const sk_status status = sk_frame_looks_fill(&looks, &frame, &found, error);
    sk_frame_looks_free(&looks);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    begin();
    assert_int_equal(test_every_allocation(fill, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back), cmocka_unit_test(ends_and_rounding),
                                       cmocka_unit_test(who_is_not_to_be_seen),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
