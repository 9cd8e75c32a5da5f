/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_KNOWN_H
#define SK_TESTS_SUPPORT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is made of a known input has known bytes: drawings, pages, files. A test names each piece and its hash; one that is another
 * is told with the hash it has now, and lies in the folder SKITTER_TEST_KNOWN, where that is given, to be looked at. Whoever changes
 * on purpose what is made looks at the pieces and writes their new hashes. Only for what is the same on every machine: whole
 * numbers, and numbers that were rounded to a few places. */
bool test_known(const char *name, const void *bytes, size_t count, uint64_t hash);
/* The same of a whole file. */
bool test_known_file(const char *path, const char *name, uint64_t hash);

#endif
