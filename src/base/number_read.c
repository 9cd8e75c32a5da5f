/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_read.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Powers of ten that a double holds exactly: one product or quotient of two exact numbers is rounded once, as it should be. */
static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define TENS ((int)(sizeof tens / sizeof *tens) - 1)

static const char *slowly(const char *at, const char *stop, double *out)
{
    char text[64];
    const size_t length = (size_t)(stop - at);
    if (length >= sizeof text)
        return NULL; /* nobody writes such a number */
    memcpy(text, at, length);
    text[length] = '\0';
    *out = strtod(text, NULL);
    return stop;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Digits into the mantissa; says how many there were. */
static int digits(const char **at, const char *end, uint64_t *mantissa, int *significant)
{
    int n = 0;
    for (; is_digit(*at, end) && n < 1000; (*at)++, n++) {
        if (*significant < 18)
            *mantissa = *mantissa * 10 + (uint64_t)(**at - '0');
        if (*significant || **at != '0')
            (*significant)++;
    }
    return n;
}

const char *sk_number_read(const char *at, const char *end, double *out)
{
    const char *begin = at;
    const bool negative = at < end && *at == '-';
    uint64_t mantissa = 0;
    int significant = 0, exponent = 0;
    at += negative;
    if (!digits(&at, end, &mantissa, &significant))
        return NULL;
    if (at < end && *at == '.') {
        at++;
        const int behind = digits(&at, end, &mantissa, &significant);
        if (!behind)
            return NULL;
        exponent = -behind;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        int given = 0;
        at++;
        const bool down = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        if (!is_digit(at, end))
            return NULL;
        for (; is_digit(at, end); at++)
            given = given < 10000 ? given * 10 + (*at - '0') : given;
        exponent += down ? -given : given;
    }
    if (is_digit(at, end))
        return NULL; /* more digits than were looked at */
    if (significant > 15 || exponent > TENS || exponent < -TENS)
        return slowly(begin, at, out);
    const double whole = (double)mantissa;
    *out = exponent < 0 ? whole / tens[-exponent] : whole * tens[exponent];
    *out = negative ? -*out : *out;
    return at;
}
