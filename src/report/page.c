/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_parts.h"
#include "report/report_internal.h"

#include <math.h>
#include <stdio.h>

/* report.html */

/* Beside what all pages have. */
static const char style[] =
    "svg{border-radius:6px}"
    ".moments{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:16px}"
    ".moments .none{background:var(--soft);border-radius:6px;aspect-ratio:1;display:grid;place-items:center;"
    "color:var(--dim)}.moments img{width:100%}";

static void tiles(const sk_report *r, sk_text *page)
{
    const sk_movement *m = &r->movement;
    int64_t seen = 0, told = 0;
    double distance = 0, seconds = 0;
    for (size_t i = 0; i < m->n_tracks; i++) {
        seen += m->tracks[i].seen;
        told += m->tracks[i].last - m->tracks[i].first + 1;
        distance += m->tracks[i].distance;
        seconds += m->tracks[i].seconds;
    }
    sk_text_append(page, "<div class=\"tiles\">\n");
    sk_page_tile(page, "identities", "%.0f", (double)m->n_tracks);
    sk_page_tile(page, "frames", "%.0f", (double)m->frames);
    sk_page_tile(page, "seen in a frame, on average", "%.1f",
                 m->frames ? (double)seen / (double)m->frames : NAN);
    sk_page_tile(page, "of an identity's life it was seen", "%.1f %%",
                 told ? 100 * (double)seen / (double)told : NAN);
    sk_page_tile(page, "mean speed, pixels/s", "%.1f", seconds > 0 ? distance / seconds : NAN);
    sk_page_tile(page, "moments to look at", "%.0f", (double)r->suspects.count);
    sk_text_append(page, "</div>\n");
}

static void cell(sk_text *page, const char *format, double value)
{
    char text[48] = "–";
    if (isfinite(value))
        snprintf(text, sizeof text, format, value);
    sk_text_appendf(page, "<td>%s</td>", text);
}

#define MOST_ROWS 300

static void table(const sk_report *r, sk_text *page)
{
    const sk_movement *m = &r->movement;
    sk_text_appendf(page,
                    "<h2>Each identity</h2>\n<div class=\"scroll\"><table><tr><th>%s</th><th>from, s</th>"
                    "<th>to, s</th><th>seen</th><th>gaps</th><th>longest gap, s</th><th>path, px</th>"
                    "<th>mean speed</th><th>median</th><th>top, px/s</th><th>body, px</th></tr>\n",
                    r->animal);
    for (size_t i = 0; i < m->n_tracks && i < MOST_ROWS; i++) {
        const sk_movement_track *t = &m->tracks[i];
        sk_text_appendf(page, "<tr><td>%d</td>", t->track);
        cell(page, "%.2f", (double)(t->first - m->first_frame) / m->fps);
        cell(page, "%.2f", (double)(t->last - m->first_frame + 1) / m->fps);
        cell(page, "%.1f %%", 100 * (double)t->seen / (double)(t->last - t->first + 1));
        cell(page, "%.0f", (double)t->gaps);
        cell(page, "%.2f", (double)t->longest_gap / m->fps);
        cell(page, "%.0f", t->distance);
        cell(page, "%.1f", t->seconds > 0 ? t->distance / t->seconds : NAN);
        cell(page, "%.1f", sk_movement_speed(t, 0.5));
        cell(page, "%.1f", t->seconds > 0 ? t->top_speed : NAN);
        cell(page, "%.1f", t->seen ? t->body : NAN);
        sk_text_append(page, "</tr>\n");
    }
    sk_text_append(page, "</table></div>\n");
    if (m->n_tracks > MOST_ROWS)
        sk_text_appendf(page, "<p class=\"note\">The first %d of %zu; the result files have all.</p>\n",
                        MOST_ROWS, m->n_tracks);
}

static void reasons(uint32_t why, sk_text *page)
{
    static const struct {
        uint32_t bit;
        const char *words;
    } words[] = {{SK_SUSPECT_TOUCHED, "they touched"},
                 {SK_SUSPECT_UNSEEN, "one was not seen for a while"},
                 {SK_SUSPECT_UNSURE, "the assignment was not certain"},
                 {SK_SUSPECT_JUMPED, "found far from where it had been"}};
    const char *between = ": ";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (why & words[i].bit) {
            sk_text_appendf(page, "%s%s", between, words[i].words);
            between = ", ";
        }
}

static void moments(const sk_report *r, sk_text *page)
{
    const sk_suspects *s = &r->suspects;
    sk_text_append(page, "<h2>Where identities may have been swapped</h2>\n");
    if (s->n_worst == 0) {
        sk_text_append(page, "<p>No moment stands out.</p>\n");
        return;
    }
    sk_text_append(page, "<div class=\"moments\">\n");
    for (int32_t i = 0; i < s->n_worst; i++) {
        const sk_suspect *m = &s->worst[i];
        const report_picture *picture = &r->pictures[i];
        sk_text_append(page, "<figure>");
        if (picture->jpeg) {
            sk_text_appendf(page,
                            "<img alt=\"frame %lld\" width=\"%d\" height=\"%d\" "
                            "src=\"data:image/jpeg;base64,",
                            (long long)m->frame, picture->width, picture->height);
            sk_text_append_base64(page, picture->jpeg, picture->length);
            sk_text_append(page, "\"/>");
        } else {
            sk_text_append(page, "<div class=\"none\">no picture</div>");
        }
        sk_text_appendf(page, "<figcaption>frame %lld, %.2f s: ", (long long)m->frame,
                        (double)(m->frame - r->movement.first_frame) / r->movement.fps);
        if (m->b >= 0)
            sk_text_appendf(page, "%d and %d", m->a, m->b);
        else
            sk_text_appendf(page, "%d", m->a);
        reasons(m->why, page);
        sk_text_append(page, "</figcaption></figure>\n");
    }
    sk_text_append(page, "</div>\n");
    if (s->count > s->n_worst)
        sk_text_appendf(page, "<p class=\"note\">The %d most doubtful of %lld.</p>\n", s->n_worst,
                        (long long)s->count);
}

static void timings(const sk_report_time *times, int32_t n, int64_t frames, sk_text *page)
{
    if (n == 0)
        return;
    sk_text_append(page, "<h2>Where the time went</h2>\n<div class=\"scroll\"><table><tr><th></th>"
                         "<th>seconds</th><th>ms a frame</th></tr>\n");
    for (int32_t i = 0; i < n; i++) {
        sk_text_append(page, "<tr><td>");
        sk_text_append_markup(page, times[i].name);
        sk_text_append(page, "</td>");
        cell(page, "%.2f", times[i].seconds);
        cell(page, "%.3f", frames ? 1e3 * times[i].seconds / (double)frames : NAN);
        sk_text_append(page, "</tr>\n");
    }
    sk_text_append(page, "</table></div>\n");
}

void report_page(const sk_report *r, const report_drawing *drawings, int32_t n_drawings,
                 const sk_report_time *times, int32_t n_times, sk_text *page)
{
    sk_page_begin(page, r->title, style);
    sk_text_append(page, "<h1>");
    sk_text_append_markup(page, r->title);
    sk_text_append(page, "</h1>\n<p class=\"sub\">");
    sk_text_append_markup(page, r->source);
    sk_text_append(page, "; tracked by ");
    sk_text_append_markup(page, r->method);
    sk_text_append(page, ". ");
    sk_text_append_markup(page, r->made_by);
    sk_text_append(page, "</p>\n");
    tiles(r, page);
    for (int32_t i = 0; i < n_drawings; i++) {
        const report_plot *plot = drawings[i].plot;
        sk_text_appendf(page, "<h2>%s</h2>\n%s", plot->heading, drawings[i].svg);
        sk_text_appendf(page,
                        "<p class=\"note\">%s%sFor a slide: <a href=\"plots/%s.svg\">SVG</a>, "
                        "<a href=\"plots/%s.png\">PNG</a>.</p>\n",
                        plot->note ? plot->note : "", plot->note ? " " : "", plot->name, plot->name);
    }
    table(r, page);
    moments(r, page);
    timings(times, n_times, r->movement.frames, page);
    sk_text_append(page, "</body></html>\n");
}
