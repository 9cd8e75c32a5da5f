/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_REPORT_CHART_H
#define SK_REPORT_CHART_H

#include "base/text.h"
#include "skitter/frame.h"

/* A drawing that can be had as SVG and as pixels: lines, boxes, discs and letters are gathered first and then drawn one way or the
 * other, so that a slide and the page show the same. Units are the SVG's, y down; colours are 0xRRGGBB on a white ground. The
 * first failure (memory) is kept and later calls do nothing: the two functions that draw tell it. */

typedef struct sk_chart_mark {
    enum { SK_MARK_LINE, SK_MARK_BOX, SK_MARK_DISC, SK_MARK_TEXT, SK_MARK_PICTURE } kind;
    uint32_t colour;
    float size;          /* a line's thickness, a disc's radius, the height of letters */
    int anchor;          /* of text: -1 begins at the point, 0 middle, 1 ends there */
    bool turned;         /* text upwards */
    size_t first, count; /* points; or bytes of `letters` with the ending zero */
    float x, y;          /* text */
} sk_chart_mark;

typedef struct sk_chart {
    int width, height;
    const char *title; /* for those who cannot see it; borrowed */
    sk_chart_mark *marks;
    float *points; /* x, y */
    char *letters;
    size_t n_marks, n_points, n_letters, marks_capacity, points_capacity, letters_capacity;
    sk_frame picture; /* RGB, borrowed; data null: none */
    sk_status failed;
} sk_chart;

/* Starts anew and keeps the memory. A chart starts as {0} and is ended by sk_chart_free. */
void sk_chart_begin(sk_chart *chart, int width, int height, const char *title);
void sk_chart_free(sk_chart *chart);

/* Through n points (x, y pairs). A point that is no number ends the stroke; the next begins another. */
void sk_chart_line(sk_chart *chart, const float *xy, size_t n, float thickness, uint32_t colour);
void sk_chart_box(sk_chart *chart, float x, float y, float width, float height, uint32_t colour);
void sk_chart_disc(sk_chart *chart, float x, float y, float radius, uint32_t colour);
void sk_chart_text(sk_chart *chart, float x, float y, float height, int anchor, uint32_t colour,
                   const char *text);
void sk_chart_text_up(sk_chart *chart, float x, float y, float height, uint32_t colour, const char *text);
/* An RGB picture that fills the place; one a chart. Its pixels are borrowed until the chart is drawn. */
void sk_chart_picture(sk_chart *chart, float x, float y, float width, float height, const sk_frame *picture);

sk_status sk_chart_to_svg(const sk_chart *chart, sk_text *svg, sk_error *err) SK_MUST_CHECK;
/* `scale` pixels a unit. RGB; out->data is ended by sk_free. */
sk_status sk_chart_to_pixels(const sk_chart *chart, int scale, sk_frame *out, sk_error *err) SK_MUST_CHECK;

/* --- axes --- */

/* A rectangle of the chart in which values lie. */
typedef struct sk_axes {
    float left, top, width, height;
    double x0, x1, y0, y1; /* values at the left and right edge, at the lower and upper edge */
} sk_axes;

float sk_axes_x(const sk_axes *axes, double value);
float sk_axes_y(const sk_axes *axes, double value);
/* Grid, numbers and names. Null names: neither numbers nor lines on that axis. */
void sk_axes_draw(sk_chart *chart, const sk_axes *axes, const char *x_name, const char *y_name);
/* The smallest of 1, 2, 2.5, 5 times a power of ten with at most `most` steps in `range`; range > 0. */
double sk_axes_step(double range, int most);

/* The colour between two, `part` of the way. */
uint32_t sk_chart_mix(uint32_t from, uint32_t to, double part);
/* From light to dark, told apart by everyone: part 0 … 1. */
uint32_t sk_chart_heat(double part);

#endif
