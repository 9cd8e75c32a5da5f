/* SPDX-License-Identifier: Apache-2.0 */
#include "report/chart.h"

#include "base/memory.h"
#include "base/number_text.h"
#include "media/draw.h"
#include "media/video_sink.h"

#include <math.h>
#include <string.h>

#define MOST ((size_t)1 << 24) /* of points, letters and marks: a drawing larger than that is a mistake */

void sk_chart_begin(sk_chart *chart, int width, int height, const char *title)
{
    chart->width = width;
    chart->height = height;
    chart->title = title;
    chart->n_marks = chart->n_points = chart->n_letters = 0;
    chart->picture = (sk_frame)SK_FRAME_INIT;
    chart->failed = SK_OK;
}

void sk_chart_free(sk_chart *chart)
{
    sk_free(chart->marks);
    sk_free(chart->points);
    sk_free(chart->letters);
    *chart = (sk_chart){0};
}

static sk_chart_mark *add(sk_chart *chart, int kind, uint32_t colour, size_t points)
{
    if (chart->failed == SK_OK)
        chart->failed = sk_array_reserve((void **)&chart->marks, &chart->marks_capacity, chart->n_marks + 1,
                                         sizeof *chart->marks, MOST, NULL);
    if (chart->failed == SK_OK)
        chart->failed = sk_array_reserve((void **)&chart->points, &chart->points_capacity,
                                         2 * (chart->n_points + points), sizeof *chart->points, MOST, NULL);
    if (chart->failed != SK_OK)
        return NULL;
    sk_chart_mark *mark = &chart->marks[chart->n_marks++];
    *mark = (sk_chart_mark){.kind = kind, .colour = colour, .first = chart->n_points, .count = points};
    chart->n_points += points;
    return mark;
}

static void put(sk_chart *chart, const sk_chart_mark *mark, size_t i, float x, float y)
{
    chart->points[2 * (mark->first + i)] = x;
    chart->points[2 * (mark->first + i) + 1] = y;
}

void sk_chart_line(sk_chart *chart, const float *xy, size_t n, float thickness, uint32_t colour)
{
    sk_chart_mark *mark = n ? add(chart, SK_MARK_LINE, colour, n) : NULL;
    if (!mark)
        return;
    mark->size = thickness;
    memcpy(chart->points + 2 * mark->first, xy, 2 * n * sizeof *xy);
}

static void add_corners(sk_chart *chart, int kind, uint32_t colour, const float box[4])
{
    sk_chart_mark *mark = add(chart, kind, colour, 2);
    if (!mark)
        return;
    put(chart, mark, 0, box[0], box[1]);
    put(chart, mark, 1, box[2], box[3]);
}

void sk_chart_box(sk_chart *chart, float x, float y, float width, float height, uint32_t colour)
{
    add_corners(chart, SK_MARK_BOX, colour, (const float[]){x, y, width, height});
}

void sk_chart_picture(sk_chart *chart, float x, float y, float width, float height, const sk_frame *picture)
{
    chart->picture = *picture;
    add_corners(chart, SK_MARK_PICTURE, 0, (const float[]){x, y, width, height});
}

void sk_chart_disc(sk_chart *chart, float x, float y, float radius, uint32_t colour)
{
    sk_chart_mark *mark = add(chart, SK_MARK_DISC, colour, 1);
    if (!mark)
        return;
    mark->size = radius;
    put(chart, mark, 0, x, y);
}

static sk_chart_mark *write_text(sk_chart *chart, float x, float y, float height, uint32_t colour,
                                 const char *text)
{
    const size_t bytes = strlen(text) + 1;
    if (chart->failed == SK_OK)
        chart->failed = sk_array_reserve((void **)&chart->letters, &chart->letters_capacity,
                                         chart->n_letters + bytes, 1, MOST, NULL);
    sk_chart_mark *mark = add(chart, SK_MARK_TEXT, colour, 0);
    if (!mark)
        return NULL;
    mark->first = chart->n_letters;
    mark->count = bytes;
    mark->x = x;
    mark->y = y;
    mark->size = height;
    memcpy(chart->letters + mark->first, text, bytes);
    chart->n_letters += bytes;
    return mark;
}

void sk_chart_text(sk_chart *chart, float x, float y, float height, int anchor, uint32_t colour,
                   const char *text)
{
    sk_chart_mark *mark = write_text(chart, x, y, height, colour, text);
    if (mark)
        mark->anchor = anchor;
}

void sk_chart_text_up(sk_chart *chart, float x, float y, float height, uint32_t colour, const char *text)
{
    sk_chart_mark *mark = write_text(chart, x, y, height, colour, text);
    if (mark)
        mark->turned = true;
}

/* --- as SVG --- */

static void line_to_svg(const sk_chart *chart, const sk_chart_mark *mark, sk_text *svg)
{
    sk_text_appendf(svg,
                    "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"%g\" stroke-linejoin=\"round\" d=\"",
                    mark->colour, (double)mark->size);
    bool down = false;
    for (size_t i = 0; i < mark->count; i++) {
        const float x = chart->points[2 * (mark->first + i)], y = chart->points[2 * (mark->first + i) + 1];
        const bool there = isfinite(x) && isfinite(y);
        if (there) {
            char text[2 * SK_NUMBER_ROOM + 2], *end = text;
            *end++ = down ? 'L' : 'M';
            end = sk_number_f(end, (double)x, 1);
            *end++ = ' ';
            end = sk_number_f(end, (double)y, 1);
            sk_text_append_bytes(svg, text, (size_t)(end - text));
        }
        down = there;
    }
    sk_text_append(svg, "\"/>\n");
}

static void text_to_svg(const sk_chart *chart, const sk_chart_mark *mark, sk_text *svg)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    if (mark->turned)
        sk_text_appendf(svg, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\"",
                        (double)mark->x, (double)mark->y);
    else
        sk_text_appendf(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", (double)mark->x,
                        (double)mark->y, anchors[mark->anchor + 1]);
    sk_text_appendf(svg, " font-size=\"%g\" fill=\"#%06x\">", (double)mark->size, mark->colour);
    sk_text_append_markup(svg, chart->letters + mark->first);
    sk_text_append(svg, "</text>\n");
}

static sk_status picture_to_svg(const sk_chart *chart, const float *box, sk_text *svg, sk_error *err)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    SK_TRY(sk_picture_jpeg(&chart->picture, 80, &bytes, &length, err));
    sk_text_appendf(svg,
                    "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "preserveAspectRatio=\"none\" href=\"data:image/jpeg;base64,",
                    (double)box[0], (double)box[1], (double)box[2], (double)box[3]);
    sk_text_append_base64(svg, bytes, length);
    sk_text_append(svg, "\"/>\n");
    sk_free(bytes);
    return SK_OK;
}

static sk_status told(const sk_chart *chart, sk_error *err)
{
    return chart->failed == SK_OK ? SK_OK
                                  : sk_fail(err, chart->failed, "out of memory for the drawing '%s'",
                                            chart->title ? chart->title : "");
}

sk_status sk_chart_to_svg(const sk_chart *chart, sk_text *svg, sk_error *err)
{
    SK_TRY(told(chart, err));
    sk_text_appendf(svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                    "height=\"%d\" font-family=\"system-ui, sans-serif\" role=\"img\" aria-label=\"",
                    chart->width, chart->height, chart->width, chart->height);
    sk_text_append_markup(svg, chart->title ? chart->title : "");
    sk_text_append(svg, "\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    for (size_t i = 0; i < chart->n_marks; i++) {
        const sk_chart_mark *mark = &chart->marks[i];
        const float *p = chart->points + 2 * mark->first;
        switch (mark->kind) {
        case SK_MARK_LINE: line_to_svg(chart, mark, svg); break;
        case SK_MARK_BOX:
            sk_text_appendf(svg,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"/>\n",
                            (double)p[0], (double)p[1], (double)p[2], (double)p[3], mark->colour);
            break;
        case SK_MARK_DISC:
            sk_text_appendf(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#%06x\"/>\n",
                            (double)p[0], (double)p[1], (double)mark->size, mark->colour);
            break;
        case SK_MARK_TEXT: text_to_svg(chart, mark, svg); break;
        case SK_MARK_PICTURE: SK_TRY(picture_to_svg(chart, p, svg, err)); break;
        }
    }
    sk_text_append(svg, "</svg>\n");
    return sk_text_status(svg, err);
}

/* --- as pixels --- */

static void line_to_pixels(const sk_chart *chart, const sk_chart_mark *mark, float scale, sk_frame *out)
{
    const float *p = chart->points + 2 * mark->first;
    for (size_t i = 1; i < mark->count; i++)
        if (isfinite(p[2 * i]) && isfinite(p[2 * i + 1]) && isfinite(p[2 * i - 2]) && isfinite(p[2 * i - 1]))
            sk_draw_line(out, scale * p[2 * i - 2], scale * p[2 * i - 1], scale * p[2 * i],
                         scale * p[2 * i + 1], scale * mark->size, mark->colour);
}

static void picture_to_pixels(const sk_frame *picture, const float *box, float scale, sk_frame *out)
{
    const int x0 = (int)lrintf(scale * box[0]), y0 = (int)lrintf(scale * box[1]);
    const int w = (int)lrintf(scale * box[2]), h = (int)lrintf(scale * box[3]);
    for (int y = 0; y < h && y0 + y < out->height; y++)
        for (int x = 0; x < w && x0 + x < out->width; x++) {
            const uint8_t *from = picture->data + picture->stride * ((int64_t)y * picture->height / h) +
                                  3 * ((int64_t)x * picture->width / w);
            memcpy(out->data + out->stride * (y0 + y) + 3 * (ptrdiff_t)(x0 + x), from, 3);
        }
}

/* Written to the right on paper of its own, and that turned upwards. Without memory for it nothing is written. */
static void text_upwards(const char *text, int dot, uint32_t colour, int x, int middle, sk_frame *out)
{
    sk_frame paper = SK_FRAME_INIT;
    paper.format = SK_PIXEL_RGB;
    paper.width = sk_draw_text_width(dot, text) + dot;
    paper.height = sk_draw_text_height(dot) + dot;
    paper.stride = 3 * (ptrdiff_t)paper.width;
    paper.data = sk_malloc((size_t)paper.stride * (size_t)paper.height);
    if (!paper.data)
        return;
    memset(paper.data, 255, (size_t)paper.stride * (size_t)paper.height);
    sk_draw_text(&paper, 0, 0, dot, colour, text);
    for (int v = 0; v < paper.height; v++)
        for (int u = 0; u < paper.width; u++) {
            const int to_x = x + v, to_y = middle + paper.width / 2 - u;
            if (to_x >= 0 && to_x < out->width && to_y >= 0 && to_y < out->height)
                memcpy(out->data + out->stride * to_y + 3 * (ptrdiff_t)to_x,
                       paper.data + paper.stride * v + 3 * (ptrdiff_t)u, 3);
        }
    sk_free(paper.data);
}

/* The letters of draw.h are dots on a grid: a tenth of the height asked for is one dot's, much as the SVG's look. */
static void text_to_pixels(const sk_chart *chart, const sk_chart_mark *mark, float scale, sk_frame *out)
{
    const char *text = chart->letters + mark->first;
    const int dot = (int)fmaxf(1, (float)lrintf(scale * mark->size / 10)), high = sk_draw_text_height(dot);
    const int x = (int)lrintf(scale * mark->x), y = (int)lrintf(scale * mark->y);
    if (mark->turned)
        text_upwards(text, dot, mark->colour, x - high, y, out);
    else
        sk_draw_text(out, x - sk_draw_text_width(dot, text) * (mark->anchor + 1) / 2, y - high, dot,
                     mark->colour, text);
}

sk_status sk_chart_to_pixels(const sk_chart *chart, int scale, sk_frame *out, sk_error *err)
{
    SK_TRY(told(chart, err));
    *out = (sk_frame)SK_FRAME_INIT;
    out->format = SK_PIXEL_RGB;
    out->width = chart->width * scale;
    out->height = chart->height * scale;
    out->stride = 3 * (ptrdiff_t)out->width;
    const size_t bytes = (size_t)out->stride * (size_t)out->height;
    out->data = sk_malloc(bytes);
    if (!out->data)
        return sk_fail_memory(err, bytes);
    memset(out->data, 255, bytes);
    const float s = (float)scale;
    for (size_t i = 0; i < chart->n_marks; i++) {
        const sk_chart_mark *mark = &chart->marks[i];
        const float *p = chart->points + 2 * mark->first;
        switch (mark->kind) {
        case SK_MARK_LINE: line_to_pixels(chart, mark, s, out); break;
        case SK_MARK_BOX:
            sk_draw_fill(out, (int)lrintf(s * p[0]), (int)lrintf(s * p[1]),
                         (int)(lrintf(s * (p[0] + p[2])) - lrintf(s * p[0])),
                         (int)(lrintf(s * (p[1] + p[3])) - lrintf(s * p[1])), mark->colour, 1);
            break;
        case SK_MARK_DISC: sk_draw_disc(out, s * p[0], s * p[1], s * mark->size, mark->colour); break;
        case SK_MARK_TEXT: text_to_pixels(chart, mark, s, out); break;
        case SK_MARK_PICTURE: picture_to_pixels(&chart->picture, p, s, out); break;
        }
    }
    return SK_OK;
}
