/* SPDX-License-Identifier: Apache-2.0 */
/* Who may stop a whole video's tracking is asked at its beginning and every 256 frames; what was told until then was told. */
#include "support/test.h"

#include "track/offline.h"

#include <string.h>

typedef struct listener {
    int asked, stops_at; /* the how manieth time it says yes; 0: never */
    int told;
} listener;

static bool stop(void *context)
{
    listener *l = context;
    return ++l->asked == l->stops_at;
}

static sk_status told(void *context, sk_offline_pass pass, const sk_sighting *sightings, int32_t n,
                      sk_error *err)
{
    listener *l = context;
    (void)err;
    (void)sightings;
    assert_int_equal(pass, SK_PASS_FORWARD);
    assert_true(n >= 0);
    l->told++;
    return SK_OK;
}

static sk_status track(int frames, listener *l)
{
    sk_error err = {0};
    sk_offline *o;
    sk_offline_settings s;
    sk_offline_defaults(&s);
    s.track.fps = 25;
    s.backward = false;
    s.stop = stop;
    s.told = told;
    s.context = l;
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    for (int f = 0; f < frames; f++) {
        sk_detection d = {.x = 100 + f % 50, .y = 60, .score = 0.9, .class_id = -1, .identity = -1};
        sk_detection_set_oriented(&d, 40, 12, 0);
        sk_detection_set_box(&d);
        assert_ok(sk_offline_add(o, f, f / 25.0, &d, 1, &err), &err);
    }
    const sk_status status = sk_offline_finish(o, &err);
    if (status != SK_OK)
        assert_non_null(strstr(err.message, "stopped"));
    sk_offline_close(&o);
    return status;
}

static void it_is_asked_now_and_then(void **state)
{
    (void)state;
    static const struct {
        int frames, stops_at, asked, told;
    } cases[] = {{255, 0, 1, 255}, {256, 0, 1, 256}, {257, 0, 2, 257}, {600, 0, 3, 600},
                 {600, 1, 1, 0},   {600, 2, 2, 256}, {600, 3, 3, 512}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        listener l = {.stops_at = cases[i].stops_at};
        assert_int_equal(track(cases[i].frames, &l), cases[i].stops_at ? SK_ERR_CANCELLED : SK_OK);
        assert_int_equal(l.asked, cases[i].asked);
        assert_int_equal(l.told, cases[i].told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_asked_now_and_then)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
