/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_INPUT_FFMPEG_H
#define SK_MEDIA_INPUT_FFMPEG_H

#include "media/library_ffmpeg.h"

#include <stdbool.h>

/* Inside media/: the bytes of a file, a pipe or standard input for FFmpeg, which is given no name to open: its protocols, and
 * playlists that name other files or addresses, do not come into it. */
typedef struct sk_input sk_input;

/* "-" is standard input. `interrupt` (callback null: none) ends waiting for a pipe; it is copied. */
sk_status sk_input_open(const char *path, const AVIOInterruptCB *interrupt, sk_input **out,
                        sk_error *err) SK_MUST_CHECK;
void sk_input_close(sk_input **input);
AVIOContext *sk_input_bytes(sk_input *input); /* the input's */
bool sk_input_is_once(const sk_input *input); /* opening it again would not begin at its beginning */

/* Why FFmpeg could not open this source, for a person. SK_ERR_IO: another attempt may succeed. */
sk_status sk_input_failed(const char *uri, int code, sk_error *err);

/* Sets what FFmpeg may open besides: nothing for a file, the protocols of networks for an address. */
void sk_input_protocols(AVDictionary **options, bool address);

/* "file:" and the path, for FFmpeg's functions that only take addresses; null when out of memory, else freed by sk_free. */
char *sk_file_address(const char *path);
/* avio_open for writing this file; FFmpeg's error code. */
int sk_ffmpeg_create(AVIOContext **bytes, const char *path);

#endif
