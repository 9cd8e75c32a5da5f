/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_HDF5_TEXT_H
#define SK_RESULTS_HDF5_TEXT_H

#include <jansson.h>

/* Inside results/: a name as it may stand in the JSON of an HDF5 file. Bytes that are not UTF-8 become U+FFFD, as in every
 * other file; null only when memory is out. */
json_t *sk_hdf5_json_text(const char *text);

#endif
