/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FUZZ_USE_BAG_H
#define SK_FUZZ_USE_BAG_H

#include "formats/bag_file.h"

/* What is done with a file of a bag that somebody else wrote, or that was cut off: opened, every topic listed, messages read and
 * images taken apart. */
typedef sk_status (*sk_bag_opener)(const char *path, sk_bag_file **out, sk_error *err);
void sk_use_bag(const char *name, sk_bag_opener open, const uint8_t *data, size_t size);

#endif
