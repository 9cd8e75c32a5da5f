/* SPDX-License-Identifier: Apache-2.0 */
#include "track/kalman.h"

#include <math.h>
#include <string.h>

/* No variance falls below this (pixels²), and no covariance above this share of what its variances allow: rounding never makes
 * the matrix one that cannot be. */
#define LEAST_PLACE 1e-4
#define LEAST_SPEED 1e-8
#define MOST_SHARE  0.99

sk_cov2 sk_cov2_turned(double along, double across, double c, double s)
{
    return (sk_cov2){along * c * c + across * s * s, (along - across) * c * s,
                     along * s * s + across * c * c};
}

void sk_kalman_begin(sk_kalman *k, double x, double y, sk_cov2 place, double speed)
{
    memset(k, 0, sizeof *k);
    k->at[0] = x;
    k->at[1] = y;
    k->cov[0][0] = place.xx;
    k->cov[0][1] = k->cov[1][0] = place.xy;
    k->cov[1][1] = place.yy;
    k->cov[2][2] = k->cov[3][3] = speed * speed;
}

static void keep_sound(sk_kalman *k)
{
    for (int i = 0; i < 4; i++) {
        const double least = i < 2 ? LEAST_PLACE : LEAST_SPEED;
        if (!(k->cov[i][i] > least))
            k->cov[i][i] = least;
    }
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            double both = 0.5 * (k->cov[i][j] + k->cov[j][i]);
            const double most2 = MOST_SHARE * MOST_SHARE * k->cov[i][i] * k->cov[j][j];
            if (both * both > most2)
                both = copysign(sqrt(most2), both);
            k->cov[i][j] = k->cov[j][i] = both;
        }
}

/* place += g v; v = d R v. With F = [I gI; 0 dR] the covariance is F P F' + Q, written out in blocks. */
void sk_kalman_predict(sk_kalman *k, const sk_kalman_motion *m)
{
    const double n = m->frames, left = n == 1 ? m->damping : pow(m->damping, n);
    const double g = n == 1 ? 1 : m->damping < 1 ? (1 - left) / (1 - m->damping) : n;
    const double c = m->turn_c * left, s = m->turn_s * left;
    k->at[0] += g * k->at[2];
    k->at[1] += g * k->at[3];
    const double vx = k->at[2], vy = k->at[3];
    k->at[2] = c * vx - s * vy;
    k->at[3] = s * vx + c * vy;
    double(*p)[4] = k->cov;
    const double vxx = p[2][2], vxy = p[2][3], vyy = p[3][3];
    double cross[2][2]; /* of place and velocity: (B + g V) (d R)' */
    for (int i = 0; i < 2; i++) {
        const double a = p[i][2] + g * (i ? vxy : vxx), b = p[i][3] + g * (i ? vyy : vxy);
        cross[i][0] = a * c - b * s;
        cross[i][1] = a * s + b * c;
    }
    p[0][0] += 2 * g * p[0][2] + g * g * vxx;
    p[0][1] += g * (p[0][3] + p[1][2]) + g * g * vxy;
    p[1][1] += 2 * g * p[1][3] + g * g * vyy;
    const double ax = c * vxx - s * vxy, ay = c * vxy - s * vyy, bx = s * vxx + c * vxy,
                 by = s * vxy + c * vyy;
    const sk_cov2 q = sk_cov2_turned(m->along, m->across, m->axis_c, m->axis_s);
    p[2][2] = ax * c - ay * s + q.xx * n;
    p[2][3] = ax * s + ay * c + q.xy * n;
    p[3][3] = bx * s + by * c + q.yy * n;
    const double half = n * n / 2, third = n * n * n / 3, jump = m->jump * n;
    p[0][2] = cross[0][0] + q.xx * half;
    p[0][3] = cross[0][1] + q.xy * half;
    p[1][2] = cross[1][0] + q.xy * half;
    p[1][3] = cross[1][1] + q.yy * half;
    p[0][0] += q.xx * third + jump;
    p[0][1] += q.xy * third;
    p[1][1] += q.yy * third + jump;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            p[i][j] = p[j][i];
    keep_sound(k);
}

/* Joseph's form: stays positive where the short one rounds below 0. */
void sk_kalman_correct(sk_kalman *k, double x, double y, sk_cov2 noise, double most)
{
    double dx = x - k->at[0], dy = y - k->at[1];
    const double far = sqrt(dx * dx + dy * dy);
    if (most > 0 && far > most) {
        dx *= most / far;
        dy *= most / far;
    }
    double(*p)[4] = k->cov;
    const double sxx = p[0][0] + noise.xx, sxy = p[0][1] + noise.xy, syy = p[1][1] + noise.yy;
    const double det = sxx * syy - sxy * sxy;
    if (!(det > 0))
        return;
    double gain[4][2];
    for (int i = 0; i < 4; i++) {
        gain[i][0] = (p[i][0] * syy - p[i][1] * sxy) / det;
        gain[i][1] = (p[i][1] * sxx - p[i][0] * sxy) / det;
        k->at[i] += gain[i][0] * dx + gain[i][1] * dy;
    }
    double a[4][4]; /* (I - K H) P */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            a[i][j] = p[i][j] - gain[i][0] * p[0][j] - gain[i][1] * p[1][j];
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++) {
            const double u = gain[j][0] * noise.xx + gain[j][1] * noise.xy;
            const double v = gain[j][0] * noise.xy + gain[j][1] * noise.yy;
            p[i][j] = a[i][j] - a[i][0] * gain[j][0] - a[i][1] * gain[j][1] + gain[i][0] * u + gain[i][1] * v;
        }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            p[i][j] = p[j][i];
    keep_sound(k);
}
