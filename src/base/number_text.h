/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_NUMBER_TEXT_H
#define SK_BASE_NUMBER_TEXT_H

#include <stdint.h>

/* Numbers as text, the very bytes of printf in the C locale ('.' in every locale), many times as fast. Each writes at `at`,
 * where SK_NUMBER_ROOM bytes must be free, also behind the text; it adds no zero and returns the end of the text.
 *
 * Exact by construction: a double is m * 2^e with m < 2^53; times 10^k with 0 <= k <= 19 it is a whole number below 2^117
 * over a power of two, so that digits, rest and half are whole numbers that are compared, not estimated. What lies outside
 * (about 1e-13 to 1.8e19 for seven digits), denormals, infinities and what is no number are written by snprintf itself.
 * Halves go to the even digit, as printf rounds where nobody changed the rounding mode. */

#define SK_NUMBER_ROOM 384

char *sk_number_g(char *at, double value,
                  int digits); /* "%.<digits>g", 1 to 17 digits (others are cut to that) */
char *sk_number_f(char *at, double value, int decimals); /* "%.<decimals>f", 0 to 17 decimals (likewise) */
char *sk_number_int(char *at, int64_t value);            /* "%lld" */

#endif
