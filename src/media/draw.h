/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_DRAW_H
#define SK_MEDIA_DRAW_H

#include "skitter/frame.h"

/* Drawing into RGB or BGR frames, smooth at the edges and clipped to the picture. Coordinates are pixels; a pixel's
 * centre is at +0.5. Colours are 0xRRGGBB. */

void sk_draw_line(sk_frame *frame, float x0, float y0, float x1, float y1, float thickness, uint32_t colour);
void sk_draw_disc(sk_frame *frame, float x, float y, float radius, uint32_t colour);
/* A closed outline through n points (x, y pairs). */
void sk_draw_polygon(sk_frame *frame, const float *xy, int n, float thickness, uint32_t colour);
void sk_draw_fill(sk_frame *frame, int x, int y, int width, int height, uint32_t colour, float opacity);
/* ASCII text, its top left at (x, y); each font pixel is `scale` pixels wide. Other characters become boxes. */
void sk_draw_text(sk_frame *frame, int x, int y, int scale, uint32_t colour, const char *text);
int sk_draw_text_width(int scale, const char *text);
int sk_draw_text_height(int scale);

/* The i-th of 20 colours that differ from each other and stand out on light and dark grounds. */
uint32_t sk_draw_palette(int i);
/* The i-th of 12 for identities: told apart also by people who do not see red and green alike, beginning with Okabe's and Ito's
 * seven. */
uint32_t sk_draw_identity(int i);

#endif
