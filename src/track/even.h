/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_EVEN_H
#define SK_TRACK_EVEN_H

/* A number that changes evenly, and what is known about it: the Kalman filter of one coordinate. The filters of ByteTrack and
 * OC-SORT are several of these beside each other, as no two coordinates of theirs ever depend on one another. */
typedef struct sk_even {
    double at, rate;
    double aa, ar, rr; /* covariance of the two */
} sk_even;

/* A frame passes. */
static inline void sk_even_predict(sk_even *e, double noise, double rate_noise)
{
    e->at += e->rate;
    e->aa += 2 * e->ar + e->rr + noise;
    e->ar += e->rr;
    e->rr += rate_noise;
}

/* It was measured to be `z`, with the variance `noise`. */
static inline void sk_even_correct(sk_even *e, double z, double noise)
{
    const double all = e->aa + noise, gain = e->aa / all, rate_gain = e->ar / all, off = z - e->at;
    e->at += gain * off;
    e->rate += rate_gain * off;
    e->rr -= rate_gain * e->ar;
    e->ar -= gain * e->ar;
    e->aa -= gain * e->aa;
}

#endif
