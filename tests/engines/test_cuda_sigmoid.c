/* SPDX-License-Identifier: Apache-2.0 */
/* The sigmoid of plain C and of the GPUs: below 1 as long as a float can say so. */
#include "support/test.h"

#include "kernels/sigmoid_formula.h"

static void nearly_sure_is_not_sure(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        const float x = -20.0f + 0.01f * (float)i, got = sk_sigmoid(x);
        const float want = (float)(1.0 / (1.0 + exp(-(double)x)));
        if (fabsf(got - want) > 6e-8f || (x < 17.3f && got >= 1) || !(got > 0))
            fail_msg("sigmoid(%g) is %.9g instead of %.9g", (double)x, (double)got, (double)want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearly_sure_is_not_sure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
