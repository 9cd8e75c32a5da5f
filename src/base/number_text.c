/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define MOST_DIGITS 17
#define FLOAT_ZEROS 29 /* low bits of a double's mantissa that a float leaves 0 */
#define MOST_POWER  19 /* 10^19 is the last below 2^64 */

static const uint64_t power_of_ten[MOST_POWER + 1] = {1u,
                                                      10u,
                                                      100u,
                                                      1000u,
                                                      10000u,
                                                      100000u,
                                                      1000000u,
                                                      10000000u,
                                                      100000000u,
                                                      1000000000u,
                                                      10000000000u,
                                                      100000000000u,
                                                      1000000000000u,
                                                      10000000000000u,
                                                      100000000000000u,
                                                      1000000000000000u,
                                                      10000000000000000u,
                                                      100000000000000000u,
                                                      1000000000000000000u,
                                                      10000000000000000000u};

/* 10^(i - LOWEST); those below 1 are rounded, which is why an exponent found by them is checked. */
#define LOWEST  19
#define HIGHEST 20
static const double tens[LOWEST + HIGHEST + 1] = {
    1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6,
    1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,   1e5,  1e6,  1e7,  1e8,
    1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18,  1e19, 1e20};

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

/* Exactly `count` digits of n, zeros in front. */
static void put_digits(char *at, uint64_t n, int count)
{
    for (; count >= 2; count -= 2, n /= 100)
        memcpy(at + count - 2, pairs + 2 * (n % 100), 2);
    if (count)
        at[0] = (char)('0' + n % 10);
}

static int count_digits(uint64_t n)
{
    int count = 1;
    while (count <= MOST_POWER && n >= power_of_ten[count])
        count++;
    return count;
}

/* A locale's decimal sign may be any text: whatever is not of a number in the C locale is one '.'. */
static char *put_printed(char *at, const char *raw)
{
    const char *const begin = at;
    for (; *raw; raw++) {
        if (strchr("0123456789+-einfa", *raw))
            *at++ = *raw;
        else if (at == begin || at[-1] != '.')
            *at++ = '.';
    }
    return at;
}

static char *print_g(char *at, double value, int digits)
{
    char raw[SK_NUMBER_ROOM];
    snprintf(raw, sizeof raw, "%.*g", digits, value);
    return put_printed(at, raw);
}

static char *print_f(char *at, double value, int decimals)
{
    char raw[SK_NUMBER_ROOM];
    snprintf(raw, sizeof raw, "%.*f", decimals, value);
    return put_printed(at, raw);
}

/* What a double is made of: value = mantissa * 2^exponent. */
typedef struct parts {
    uint64_t mantissa;
    int exponent;
    bool negative, special; /* special: no number or infinite */
} parts;

static parts take_apart(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int biased = (int)(bits >> 52 & 0x7ff);
    const uint64_t low = bits & (((uint64_t)1 << 52) - 1);
    return (parts){.mantissa = biased ? low | (uint64_t)1 << 52 : low,
                   .exponent = (biased ? biased : 1) - 1075,
                   .negative = bits >> 63 != 0,
                   .special = biased == 0x7ff};
}

/* scale (below) for a number that was a float: 24 bits times less than 40, in one word. */
static inline bool scale_float(uint64_t m, int e, int power, uint64_t *whole, unsigned *up)
{
    const int shift = -(e + FLOAT_ZEROS);
    if ((m & (((uint64_t)1 << FLOAT_ZEROS) - 1)) || power < 0 || power > 12 || shift < 1 || shift > 63)
        return false;
    const uint64_t product = (m >> FLOAT_ZEROS) * power_of_ten[power];
    const uint64_t half = (uint64_t)1 << (shift - 1), rest = product & (2 * half - 1);
    *whole = product >> shift;
    *up = rest > half || (rest == half && (*whole & 1));
    return true;
}

/* floor(m 2^e 10^power) and what rounding to nearest, halves to even, adds to it (0 or 1). False where the whole numbers used
 * here do not hold it. */
static inline bool scale(uint64_t m, int e, int power, uint64_t *whole, unsigned *up)
{
    if (scale_float(m, e, power, whole, up))
        return true;
    if (power >= 0) {
        if (power > MOST_POWER || e > 11 || e < -127)
            return false;
        const wide product = (wide)m * power_of_ten[power];
        if (e >= 0) {
            const wide shifted = product << e; /* below 2^(53 + 64 + 11) */
            *whole = (uint64_t)shifted;
            *up = 0;
            return shifted >> 64 == 0;
        }
        const wide half = (wide)1 << (-e - 1), rest = product & ((half << 1) - 1);
        const wide quotient = product >> -e;
        *whole = (uint64_t)quotient;
        *up = rest > half || (rest == half && (*whole & 1));
        return quotient >> 64 == 0;
    }
    if (power < -MOST_POWER || e > 11 || e < -52)
        return false;
    const uint64_t integer = e >= 0 ? m << e : m >> -e;
    const bool more = e < 0 && (m & (((uint64_t)1 << -e) - 1)) != 0;
    const uint64_t divisor = power_of_ten[-power], quotient = integer / divisor, rest = integer % divisor;
    *whole = quotient;
    *up = rest > divisor / 2 || (rest == divisor / 2 && (more || (quotient & 1)));
    return true;
}

/* The digits, the point and what %g leaves out: zeros at the end. `text` has room to be copied in blocks. */
static char *lay_out(char *at, const char *text, int digits, int exponent)
{
    int kept = digits;
    while (kept > 1 && text[kept - 1] == '0')
        kept--;
    if (exponent < -4 || exponent >= digits) {
        *at++ = text[0];
        if (kept > 1) {
            *at++ = '.';
            memcpy(at, text + 1, MOST_DIGITS);
            at += kept - 1;
        }
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        put_digits(at, (uint64_t)(exponent < 0 ? -exponent : exponent), 2); /* never beyond 99 here */
        return at + 2;
    }
    if (exponent < 0) {
        memcpy(at, "0.0000", 6);
        at += 1 - exponent;
        memcpy(at, text, MOST_DIGITS);
        return at + kept;
    }
    memcpy(at, text, MOST_DIGITS);
    if (kept <= exponent + 1)
        return at + exponent + 1;
    at[exponent + 1] = '.';
    memcpy(at + exponent + 2, text + exponent + 1, MOST_DIGITS);
    return at + kept + 1;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Eight digits of n in one word, the first lowest: halves, quarters and eighths of the number at once. */
static inline uint64_t eight_digits(uint32_t n)
{
    const uint64_t halves = n / 10000 | (uint64_t)(n % 10000) << 32;
    const uint64_t hundreds = halves * 10486 >> 20 & 0x0000007f0000007fu; /* x / 100 for x < 10^4 */
    const uint64_t quarters = hundreds | (halves - 100 * hundreds) << 16;
    const uint64_t ten = quarters * 103 >> 10 & 0x000f000f000f000fu; /* x / 10 for x < 100 */
    return (ten | (quarters - 10 * ten) << 8) | 0x3030303030303030u;
}

/* lay_out for up to eight digits without an exponent, from and to the same places by whole words. */
static inline char *lay_out_word(char *at, uint32_t n, int digits, int exponent)
{
    const uint64_t word = eight_digits(n * (uint32_t)power_of_ten[8 - digits]);
    const uint64_t other = word ^ 0x3030303030303030u; /* never 0: the first digit is not */
    const int kept = 8 - __builtin_clzll(other) / 8;
    if (exponent < 0) {
        memcpy(at, "0.000000", 8);
        at += 1 - exponent;
        memcpy(at, &word, 8);
        return at + kept;
    }
    memcpy(at, &word, 8);
    if (kept <= exponent + 1)
        return at + exponent + 1;
    at[exponent + 1] = '.';
    const uint64_t rest = word >> 8 * (exponent + 1); /* exponent < kept - 1 <= 7 */
    memcpy(at + exponent + 2, &rest, 8);
    return at + kept + 1;
}
#endif

char *sk_number_g(char *at, double value, int digits)
{
    digits = digits < 1 ? 1 : digits > MOST_DIGITS ? MOST_DIGITS : digits;
    const parts p = take_apart(value);
    if (p.mantissa == 0 && !p.special) {
        memcpy(at, "-0", 2);
        at[0] = p.negative ? '-' : '0';
        return at + 1 + p.negative;
    }
    /* floor(log10(2^(exponent + 52))), and one more where the value has passed the next power of ten */
    int exponent = ((p.exponent + 52) * 78913) >> 18;
    if (p.special || exponent < -LOWEST || exponent >= HIGHEST)
        return print_g(at, value, digits);
    exponent += (p.negative ? -value : value) >= tens[exponent + 1 + LOWEST];
    uint64_t n;
    unsigned up;
    if (!scale(p.mantissa, p.exponent, digits - 1 - exponent, &n, &up))
        return print_g(at, value, digits);
    if (n >= power_of_ten[digits] || n < power_of_ten[digits - 1]) {
        exponent += n >= power_of_ten[digits] ? 1 : -1;
        if (!scale(p.mantissa, p.exponent, digits - 1 - exponent, &n, &up) || n >= power_of_ten[digits] ||
            n < power_of_ten[digits - 1])
            return print_g(at, value, digits);
    }
    n += up;
    if (n == power_of_ten[digits]) {
        n /= 10;
        exponent++;
    }
    *at = '-';
    at += p.negative;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (digits <= 8 && exponent >= -4 && exponent < digits)
        return lay_out_word(at, (uint32_t)n, digits, exponent);
#endif
    char text[2 * MOST_DIGITS + 2] = {0};
    put_digits(text, n, digits);
    return lay_out(at, text, digits, exponent);
}

char *sk_number_f(char *at, double value, int decimals)
{
    decimals = decimals < 0 ? 0 : decimals > MOST_DIGITS ? MOST_DIGITS : decimals;
    const parts p = take_apart(value);
    uint64_t n = 0;
    unsigned up = 0;
    /* with an exponent below -127 it is less than a half even times 10^17 */
    if (p.special ||
        (p.mantissa && p.exponent >= -127 && !scale(p.mantissa, p.exponent, decimals, &n, &up)) ||
        n == UINT64_MAX)
        return print_f(at, value, decimals);
    n += up;
    *at = '-';
    at += p.negative;
    const uint64_t whole = n / power_of_ten[decimals];
    const int count = count_digits(whole);
    put_digits(at, whole, count);
    at += count;
    if (decimals) {
        *at++ = '.';
        put_digits(at, n % power_of_ten[decimals], decimals);
        at += decimals;
    }
    return at;
}

char *sk_number_int(char *at, int64_t value)
{
    const uint64_t n = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '-';
    at += value < 0;
    const int count = count_digits(n);
    put_digits(at, n, count);
    return at + count;
}
