/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TWO_MODELS_H
#define SK_TESTS_TWO_MODELS_H

/* A model that finds animals and one that poses them, for the time of a test program. */
#include "runner_fixture.h"

static sk_model *finder, *poser;

static int setup(void **state)
{
    (void)state;
    sk_error err = {0};
    const yolo_fixture detect = {.head = "Detect", .f32 = true};
    assert_ok(sk_model_open(yolo_save(&detect, "finder.pt"), &finder, &err), &err);
    poser = tiny_model();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sk_model_close(&finder);
    sk_model_close(&poser);
    return 0;
}

#endif
