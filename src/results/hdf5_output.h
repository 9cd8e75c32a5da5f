/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_HDF5_OUTPUT_H
#define SK_RESULTS_HDF5_OUTPUT_H

#include "base/error.h"

#include <hdf5.h>
#include <stdbool.h>

/* A file that libhdf5 writes. The library does not survive a disk that is full: a file it cannot close stays open in it and
 * ends the process at its exit. So it writes through us: the first call that fails is remembered, what follows is kept in
 * memory, and the library finds its file in order and can end it. Whoever writes asks for the error. */
typedef struct sk_hdf5_output sk_hdf5_output;

/* Begins the file anew. `access`: a file access list of the caller's (libver bounds and so on). A link or a pipe at the path
 * is refused. Between sk_hdf5_enter and _leave, like every call of the library. */
sk_status sk_hdf5_output_open(const char *path, hid_t access, sk_hdf5_output **out, hid_t *file,
                              sk_error *err) SK_MUST_CHECK;
/* SK_OK, or what failed first and what helps; complete once the file is closed. `ok` false: the library itself failed. Null
 * output: it was never opened. */
sk_status sk_hdf5_output_check(const sk_hdf5_output *output, const char *path, const char *what, bool ok,
                               sk_error *err) SK_MUST_CHECK;
/* A dataset without the time of its making, so that the same results are the same bytes. `list`: a creation list of the
 * caller's, or H5P_DEFAULT. */
hid_t sk_hdf5_create_dataset(hid_t file, const char *name, hid_t type, hid_t space, hid_t list);
/* After H5Fclose. */
void sk_hdf5_output_close(sk_hdf5_output **output);

#endif
