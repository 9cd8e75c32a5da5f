/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_RECORDED_H
#define SK_TESTS_SUPPORT_RECORDED_H

#include <stddef.h>

/* Numbers that stay what they are: a test says lines of words and numbers, and they are compared with a file of tests/fixtures.
 * Words must be the same, numbers the same to three parts in ten million, so that another compiler's rounding is no difference (those
 * behind ~ to two parts in ten thousand, behind ~~ to a tenth). A change of results that is meant writes the file anew:
 * SKITTER_TEST_RECORD=1 build/tests/test_<room>_<thing>. */
void recorded_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends what was said, compares it with the file (a path in the source tree) and forgets it. */
void recorded_check(const char *relative);

/* Many numbers as one, in which each has a weight of its own: any that changes, or changes places with another, is noticed. */
typedef struct recorded_sum {
    double sum;
    size_t n;
} recorded_sum;
void recorded_add(recorded_sum *sum, double value);

/* Every file of a folder of seeds (fuzz/seeds/...), as it is, cut short at many places and with single bytes changed: what `use`
 * says of each, in words of its own (a buffer of its own, up to the next call). Of the file itself it is recorded, of the others how
 * many were read (`use` begins with "ok") and a number made of all that was said. Seeds that came after the recording are left out. */
/* A message without what libraries say in it in words of their own (JSON, YAML, SQLite), which other versions say in others. */
const char *recorded_own_words(const char *message);
typedef const char *(*recorded_use)(const unsigned char *bytes, size_t length);
void recorded_replay(const char *relative, const char *seeds, recorded_use use);

/* Chance that is the same everywhere; 0 … 1. */
double recorded_chance(unsigned *state);
double recorded_between(unsigned *state, double from, double to);

#endif
