/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_RATE_H
#define SK_SERVER_RATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* So many a second, with so many at once: what comes faster is refused. Any thread. */
typedef struct sk_rate {
    pthread_mutex_t lock;
    double a_second, at_once, left;
    int64_t at_ns;
} sk_rate;

bool sk_rate_open(sk_rate *rate, double a_second, double at_once);
void sk_rate_close(sk_rate *rate);
bool sk_rate_take(sk_rate *rate);

#endif
