/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_MEDIA_MADE_VIDEO_H
#define SK_TESTS_MEDIA_MADE_VIDEO_H

#include "media/reader.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Videos in which every frame says which one it is: its left half shows the number's last digit to the base 16, its right half the
 * first one, in greys that are far enough apart for any converter. 25 frames a second, 64 x 48. */
#define MADE_GREY(digit) (30 + 12 * (digit)) /* luma */

/* By FFmpeg's program, in the test's folder; skips where there is none, or none with that encoder. */
static inline const char *made_video(const char *name, int frames, const char *how)
{
    static char paths[8][600];
    static int turn;
    char *path = paths[turn++ % 8], command[1600];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    snprintf(command, sizeof command,
             "ffmpeg -v error -nostdin -y -f lavfi -i \"color=s=64x48:r=25:c=black,"
             "geq=lum='30+12*if(lt(X,32),mod(N,16),floor(N/16))':cb=128:cr=128\" "
             "-frames:v %d %s '%s' >/dev/null 2>&1",
             frames, how, path);
    if (system(command) != 0) { /* NOLINT */
        print_message("skipped: no ffmpeg here that makes %s\n", name);
        skip();
    }
    return path;
}

static inline int made_digit(const sk_frame *f, int32_t x)
{
    const double grey = f->data[f->stride * (f->height / 2) + x * sk_pixel_bytes(f->format)];
    const double luma = f->format == SK_PIXEL_NV12 ? grey : grey * 219 / 255 + 16;
    return (int)lrint((luma - 30) / 12);
}

/* The number that a frame shows, of RGB, BGR, GRAY or NV12. */
static inline int made_number(const sk_frame *f)
{
    return made_digit(f, f->width / 4) + 16 * made_digit(f, f->width * 3 / 4);
}

#endif
