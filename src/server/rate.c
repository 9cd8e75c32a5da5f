/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rate.h"

#include "base/clock.h"

bool sk_rate_open(sk_rate *rate, double a_second, double at_once)
{
    *rate = (sk_rate){.a_second = a_second, .at_once = at_once, .left = at_once, .at_ns = sk_clock_ns()};
    return pthread_mutex_init(&rate->lock, NULL) == 0;
}

void sk_rate_close(sk_rate *rate)
{
    pthread_mutex_destroy(&rate->lock);
}

bool sk_rate_take(sk_rate *rate)
{
    pthread_mutex_lock(&rate->lock);
    const int64_t now = sk_clock_ns();
    rate->left += (double)(now - rate->at_ns) * 1e-9 * rate->a_second;
    rate->left = rate->left > rate->at_once ? rate->at_once : rate->left;
    rate->at_ns = now;
    const bool there = rate->left >= 1;
    if (there)
        rate->left -= 1;
    pthread_mutex_unlock(&rate->lock);
    return there;
}
