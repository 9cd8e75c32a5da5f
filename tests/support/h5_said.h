/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_H5_SAID_H
#define SK_TESTS_SUPPORT_H5_SAID_H

/* Says all that an HDF5 file holds (recorded_say): every group, dataset and attribute with its type, its sizes, how it is packed, and
 * its values; of tables, one line a row. Long ones are told by a number that is made of all of them. */
void h5_say(const char *path);

#endif
