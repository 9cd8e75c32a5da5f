/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_PICTURES_H
#define SK_SERVER_PICTURES_H

#include "server/inside.h"

/* Videos that pages scrub through, kept open: the next frame is a seek away (app/frame_reader.h). Each is read by one request at a
 * time (sk_pictures, inside.h). */

sk_status sk_pictures_open(sk_pictures **out, sk_error *err) SK_MUST_CHECK;
void sk_pictures_close(sk_pictures **pictures);

/* A frame of a video (a real path) as JPEG: n=, at most width= pixels wide, within= so many ms an earlier one where it takes longer.
 * X-Skitter-Frame says which it is. */
sk_status sk_serve_picture_of(sk_server *server, const sk_request *r, const char *source, const char *topic,
                              sk_reply *reply, sk_error *err) SK_MUST_CHECK;

#endif
