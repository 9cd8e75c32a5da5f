/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_COLOURS_FFMPEG_H
#define SK_MEDIA_COLOURS_FFMPEG_H

#include "media/library_ffmpeg.h"
#include "skitter/source.h"

/* Which matrix and range turn a decoded frame into colours: asked in one place, whether FFmpeg's converter does it, ours, or
 * a GPU. */

/* Notes in a decoded frame how it is to be read; everybody after goes by the frame. */
void sk_colours_read_as(AVFrame *frame, sk_source_colours colours);
/* Readies a converter for the frame's colours: the matrix and range it names, BT.601 and TV range where it names none. */
void sk_colours_set(struct SwsContext *scaler, const AVFrame *frame);
/* What an AVFrame's colours were made with; as sws_getCoefficients has it. */
sk_colour_matrix sk_colour_matrix_of(int colourspace);

#endif
