/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as people write them: what is taken and as what, what is not and why, and the same text for the same region. */
#include "support/test.h"

#include "app/track_region.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *identity, *shape; /* null: refused, for the reason that stands as shape */
    } rows[] = {
        {"1,2,3,4,5,6", "1,2,3,4,5,6", "1,2,3,4,5,6"},
        {"1,2,3,4", "1,2,3,4", "1,2,3,2,3,4,1,4"},
        {" !1 , 2;3 ,4", "!1 , 2;3 ,4", "!1,2,3,2,3,4,1,4"},
        {"1.5,-2,3e1,4,5,6,7,8", "1.5,-2,3e1,4,5,6,7,8", "1.5,-2,30,4,5,6,7,8"},
        {"circle:5,6,0.5", "circle:5,6,0.5", "circle:5,6,0.5"},
        {"!circle:5,6,7", "!circle:5,6,7", "!circle:5,6,7"},
        {"1,2,3,4,", "1,2,3,4,", "1,2,3,2,3,4,1,4"},
        {"circle:5,6,0", NULL, "a circle has a centre x,y and a radius above 0"},
        {"circle:5,6,-1", NULL, "a circle has a centre x,y and a radius above 0"},
        {"circle:5,6", NULL, "a circle has a centre x,y and a radius above 0"},
        {"circle:5,6,7,8", NULL, "a circle has a centre x,y and a radius above 0"},
        {"circle5,6,7", NULL, "there is something in it that is no number"},
        {"", NULL, "it has too few corners"},
        {"1,2", NULL, "it has too few corners"},
        {"1,2,3", NULL, "a number is missing: each corner has an x and a y"},
        {"1,2,3,4,5", NULL, "a number is missing: each corner has an x and a y"},
        {"1,2,3,4,5,6,7", NULL, "a number is missing: each corner has an x and a y"},
        {"1,x,3,4", NULL, "there is something in it that is no number"},
        {"1,,3,4", NULL, "there is something in it that is no number"},
        {"1,nan,3,4", NULL, "there is something in it that is no number"},
        {"1,inf,3,4", NULL, "there is something in it that is no number"},
        {"1,-inf,3,4", NULL, "there is something in it that is no number"},
        {"1 2 3 4", NULL, "numbers are separated by commas"},
        {"1,2,3x,4", NULL, "numbers are separated by commas"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_region *region = NULL;
        sk_text identity = {0}, shape = {0};
        const sk_status status = sk_track_region_add(rows[i].text, false, &region, &identity, &err);
        if (!rows[i].identity) {
            assert_int_equal(status, SK_ERR_ARG);
            char start[128];
            snprintf(start, sizeof start, "'%s' is no region: %s. A region is ", rows[i].text, rows[i].shape);
            if (strncmp(err.message, start, strlen(start)) != 0)
                fail_msg("%s: %s", rows[i].text, err.message);
        } else {
            if (status != SK_OK)
                fail_msg("%s: %s", rows[i].text, err.message);
            assert_string_equal(sk_text_get(&identity), rows[i].identity);
            assert_true(sk_track_region_text(region, 0, &shape));
            assert_string_equal(sk_text_get(&shape), rows[i].shape);
            assert_false(sk_track_region_text(region, 1, &shape));
        }
        sk_region_close(&region);
        sk_text_free(&identity);
        sk_text_free(&shape);
    }
}

/* One behind the other, in and out. */
static void several(void **state)
{
    (void)state;
    sk_region *region = NULL;
    sk_text identity = {0}, shapes = {0};
    assert_ok(sk_track_region_add("0,0,100,100", false, &region, &identity, &err), &err);
    assert_ok(sk_track_region_add("circle:50,50,10", true, &region, &identity, &err), &err);
    assert_ok(sk_track_region_add("!80,80,90,90", true, &region, &identity, &err), &err);
    assert_string_equal(sk_text_get(&identity), "0,0,100,100 !circle:50,50,10 !80,80,90,90");
    for (size_t i = 0; sk_track_region_text(region, i, &shapes); i++)
        sk_text_append(&shapes, " ");
    assert_string_equal(sk_text_get(&shapes),
                        "0,0,100,0,100,100,0,100 !circle:50,50,10 !80,80,90,80,90,90,80,90 ");
    sk_region_close(&region);
    sk_text_free(&identity);
    sk_text_free(&shapes);
}

static void corners_have_an_end(void **state)
{
    (void)state;
    for (int corners = 4096; corners <= 4097; corners++) {
        sk_region *region = NULL;
        sk_text identity = {0}, text = {0}, shape = {0};
        for (int i = 0; i < corners; i++)
            sk_text_appendf(&text, "%s%d,%d", i ? "," : "", i, i % 7);
        const sk_status status = sk_track_region_add(sk_text_get(&text), false, &region, &identity, &err);
        if (corners == 4096) {
            assert_ok(status, &err);
            assert_true(sk_track_region_text(region, 0, &shape));
            assert_string_equal(sk_text_get(&shape), sk_text_get(&text));
        } else {
            assert_int_equal(status, SK_ERR_ARG);
            assert_non_null(strstr(err.message, "it has more than 4096 corners"));
        }
        sk_region_close(&region);
        sk_text_free(&identity);
        sk_text_free(&text);
        sk_text_free(&shape);
    }
}

static void masks(void **state)
{
    (void)state;
    sk_region *region = NULL;
    sk_text identity = {0};
    assert_int_not_equal(sk_track_region_mask(test_missing("no.png"), &region, &identity, &err), SK_OK);
    assert_string_equal(sk_text_get(&identity), "");
    assert_ok(sk_track_region_add("0,0,9,9", false, &region, &identity, &err), &err);
    assert_ok(sk_track_region_mask(test_source("tests/fixtures/grey_64x48.png"), &region, &identity, &err),
              &err);
    assert_int_equal(strncmp(sk_text_get(&identity), "0,0,9,9 mask ", 13), 0);
    assert_int_equal(strlen(sk_text_get(&identity)), 13 + 16); /* what the file holds, shortly */
    sk_region_close(&region);
    sk_text_free(&identity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(several),
        cmocka_unit_test(corners_have_an_end),
        cmocka_unit_test(masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
