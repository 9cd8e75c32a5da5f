/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ONE_MODEL_H
#define SK_TESTS_ONE_MODEL_H

/* The tiny model, for the time of a test program. */
#include "runner_fixture.h"

static sk_model *model;

static int setup(void **state)
{
    (void)state;
    model = tiny_model();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sk_model_close(&model);
    return 0;
}

#endif
