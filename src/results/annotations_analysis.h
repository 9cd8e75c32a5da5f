/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_ANNOTATIONS_ANALYSIS_H
#define SK_RESULTS_ANNOTATIONS_ANALYSIS_H

#include "formats/hdf5_file.h"
#include "results/annotations.h"

/* Inside results/: SLEAP's analysis file, an HDF5 file of plain arrays. */
bool sk_annotations_is_analysis(sk_hdf5_file *file);
sk_status sk_annotations_read_analysis(const char *path, sk_hdf5_file *file, sk_annotation_set *set,
                                       sk_error *err) SK_MUST_CHECK;

#endif
