/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_NUMBER_READ_H
#define SK_BASE_NUMBER_READ_H

/* The number that begins at `at`, as JSON writes one: -12.5e-3. Gives the end of its text, or null where none is there. The
 * same double as strtod's, many times as fast for numbers of up to fifteen digits. */
const char *sk_number_read(const char *at, const char *end, double *out);

#endif
