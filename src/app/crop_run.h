/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_CROP_RUN_H
#define SK_APP_CROP_RUN_H

#include "results/sink.h"

/* A picture of every instance of a run: crops/<class>/<stem>_<i>.jpg in its folder, where stem is what the frame's label file
 * is called and i the instance's number in it, as in results.csv. Oriented boxes are turned upright. Instances without a class
 * (SLEAP) lie in crops/ itself. */

typedef struct sk_crop_run sk_crop_run;

/* The header is borrowed until close. */
sk_status sk_crop_run_open(const char *folder, const sk_run_header *header, sk_crop_run **out,
                           sk_error *err) SK_MUST_CHECK;
void sk_crop_run_close(sk_crop_run **run);
/* Are the crops of a frame that an earlier part of the run looked at all there? Frames are told in order, by this or the next:
 * names depend on who came before. A crop that could not be cut (nothing of it in the frame) counts as missing. */
sk_status sk_crop_run_has(sk_crop_run *run, const sk_result_frame *result, bool *all,
                          sk_error *err) SK_MUST_CHECK;
/* Cuts and writes. `frame`: its pixels, RGB or BGR. */
sk_status sk_crop_run_write(sk_crop_run *run, const sk_frame *frame, const sk_result_frame *result,
                            sk_error *err) SK_MUST_CHECK;

#endif
