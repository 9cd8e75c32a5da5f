/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracks.h"

#include <stdio.h>
#include <string.h>

/* The pictures of `yolo val`, as SVG: a curve a class, their mean thick; and the matrix of what was taken for what. */

#define LEFT   70
#define TOP    40
#define SIDE   480 /* of the square the curves lie in */
#define LEGEND 230
#define CURVES                                                                                               \
    20 /* classes with a curve and a name of their own; more are only in the mean, as in Ultralytics' */

static const char *const colours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
                                      "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"};

static void begin(sk_text *svg, int width, int height, int middle, const char *title)
{
    sk_text_appendf(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"white\"/>\n<text x=\"%d\" y=\"24\" font-size=\"16\" text-anchor=\"middle\">",
        width, height, width, height, middle);
    sk_text_append_markup(svg, title);
    sk_text_append(svg, "</text>\n");
}

static void axes(sk_text *svg, const char *x, const char *y)
{
    for (int i = 0; i <= 10; i += 2) {
        int px = LEFT + SIDE * i / 10, py = TOP + SIDE - SIDE * i / 10;
        sk_text_appendf(
            svg,
            "<path d=\"M%d %dV%dM%d %dH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%d\" "
            "text-anchor=\"middle\">%.1f</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.1f</text>\n",
            px, TOP, TOP + SIDE, LEFT, py, LEFT + SIDE, px, TOP + SIDE + 18, i / 10.0, LEFT - 8, py + 4,
            i / 10.0);
    }
    sk_text_appendf(svg,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#333\"/>\n"
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
                    "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                    LEFT, TOP, SIDE, SIDE, LEFT + SIDE / 2, TOP + SIDE + 42, x, TOP + SIDE / 2, y);
}

/* class -1: the mean over the classes with truth */
static double value_at(const sk_yolo_score *s, int32_t class_id, int which, int point)
{
    if (class_id >= 0)
        return sk_yolo_curve(s, class_id, which, point);
    double sum = 0;
    int n = 0;
    for (int32_t c = 0; c < s->n_classes; c++)
        if (s->classes[c].instances > 0) {
            sum += sk_yolo_curve(s, c, which, point);
            n++;
        }
    return n ? sum / n : 0;
}

static void curve(sk_text *svg, const sk_yolo_score *s, int32_t class_id, int which, const char *colour,
                  int width)
{
    sk_text_appendf(svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%d\" points=\"", colour,
                    width);
    double before = -1;
    for (int i = 0; i < SK_YOLO_POINTS; i++) {
        double v = value_at(s, class_id, which, i),
               next = i + 1 < SK_YOLO_POINTS ? value_at(s, class_id, which, i + 1) : -1;
        if (i == 0 || v != before || v != next) /* where it is level, its ends are enough */
            sk_text_appendf(svg, "%.2f,%.2f ", LEFT + SIDE * (double)i / (SK_YOLO_POINTS - 1),
                            TOP + SIDE - SIDE * v);
        before = v;
    }
    sk_text_append(svg, "\"/>\n");
}

static void legend(sk_text *svg, int line, const char *colour, int width, const char *name,
                   const char *figures)
{
    int y = TOP + 14 + 20 * line;
    sk_text_appendf(svg, "<path d=\"M%d %dh22\" stroke=\"%s\" stroke-width=\"%d\"/><text x=\"%d\" y=\"%d\">",
                    LEFT + SIDE + 14, y - 4, colour, width, LEFT + SIDE + 42, y);
    sk_text_append_markup(svg, name);
    sk_text_appendf(svg, " %s</text>\n", figures);
}

/* Where the mean is largest; only the first of equal ones. */
static int best_point(const sk_yolo_score *s, int which)
{
    int best = 0;
    for (int i = 1; i < SK_YOLO_POINTS; i++)
        if (value_at(s, -1, which, i) > value_at(s, -1, which, best))
            best = i;
    return best;
}

static void plot_curves(const sk_eval_report *r, const sk_yolo_score *s, int which, sk_text *svg)
{
    static const char *const titles[] = {"Precision-Recall Curve", "F1-Confidence Curve",
                                         "Precision-Confidence Curve", "Recall-Confidence Curve"};
    static const char *const names[] = {"Precision", "F1", "Precision", "Recall"};
    begin(svg, LEFT + SIDE + LEGEND, TOP + SIDE + 60, LEFT + SIDE / 2, titles[which]);
    axes(svg, which ? "Confidence" : "Recall", names[which]);
    int line = 0;
    char figures[64] = "";
    for (int32_t c = 0; c < s->n_classes; c++) {
        if (s->classes[c].instances == 0 || line >= CURVES)
            continue;
        const char *colour = colours[line % 10];
        curve(svg, s, c, which, colour, 1);
        if (which == 0)
            snprintf(figures, sizeof figures, "%.3f", s->classes[c].ap50);
        legend(svg, line++, colour, 1, r->classes[c].name, figures);
    }
    curve(svg, s, -1, which, "blue", 3);
    int best = which ? best_point(s, which) : 0;
    if (which == 0)
        snprintf(figures, sizeof figures, "%.3f mAP@0.5", s->all.ap50);
    else
        snprintf(figures, sizeof figures, "%.2f at %.3f", value_at(s, -1, which, best),
                 (double)best / (SK_YOLO_POINTS - 1));
    legend(svg, line, "blue", 3, "all classes", figures);
    sk_text_append(svg, "</svg>\n");
}

static void plot_confusion(const sk_eval_report *r, bool normalised, sk_text *svg)
{
    const sk_confusion *c = &r->confusion;
    int n = c->n_classes + 1, cell = n <= 12 ? 44 : n <= 30 ? 26 : 12, left = 130;
    double most = 0;
    int width = left + n * cell + 40 < 320 ? 320 : left + n * cell + 40;
    begin(svg, width, TOP + n * cell + 130, width / 2,
          normalised ? "Confusion Matrix Normalized" : "Confusion Matrix");
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) {
                double sum = 0, v = (double)c->counts[i * n + k];
                for (int m = 0; m < n; m++)
                    sum += (double)c->counts[m * n + k];
                v = normalised ? v / (sum + 1e-9) : v;
                if (pass == 0) {
                    most = v > most ? v : most;
                    continue;
                }
                double shade = most > 0 ? v / most : 0;
                sk_text_appendf(svg,
                                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"/>",
                                left + k * cell, TOP + i * cell, cell, cell, (int)(255 - 247 * shade),
                                (int)(255 - 207 * shade), (int)(255 - 148 * shade));
                if (v > 0 && cell > 20)
                    sk_text_appendf(svg,
                                    "<text x=\"%d\" y=\"%d\" font-size=\"11\" text-anchor=\"middle\" "
                                    "fill=\"%s\">%.*f</text>\n",
                                    left + k * cell + cell / 2, TOP + i * cell + cell / 2 + 4,
                                    shade > 0.45 ? "white" : "black", normalised ? 2 : 0, v);
            }
    for (int i = 0; i < n; i++) {
        const char *name = i < c->n_classes ? r->classes[i].name : "background";
        sk_text_appendf(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", left - 8,
                        TOP + i * cell + cell / 2 + 4);
        sk_text_append_markup(svg, name);
        sk_text_appendf(svg, "</text><text transform=\"translate(%d %d) rotate(-90)\" text-anchor=\"end\">",
                        left + i * cell + cell / 2 + 4, TOP + n * cell + 8);
        sk_text_append_markup(svg, name);
        sk_text_append(svg, "</text>\n");
    }
    sk_text_appendf(
        svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">True</text>\n<text transform=\"translate(20 %d) "
        "rotate(-90)\" text-anchor=\"middle\">Predicted</text>\n</svg>\n",
        left + n * cell / 2, TOP + n * cell + 120, TOP + n * cell / 2);
}

/* --- tracks --- */

static double level_value(const sk_hota *h, int which)
{
    const double values[] = {h->hota,   h->det_a,  h->ass_a,  h->det_re,
                             h->det_pr, h->ass_re, h->ass_pr, h->loc_a};
    return values[which];
}

static void plot_hota(const sk_track_score *s, sk_text *svg)
{
    static const char *const names[] = {"HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA"};
    begin(svg, LEFT + SIDE + LEGEND, TOP + SIDE + 60, LEFT + SIDE / 2, "HOTA-Similarity Curve");
    axes(svg, "Similarity that counts as found", "Score");
    for (int which = 7; which >= 0; which--) { /* HOTA last: above the others */
        const char *colour = which ? colours[which] : "blue";
        int width = which ? 1 : 3;
        sk_text_appendf(svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%d\" points=\"", colour,
                        width);
        for (int i = 0; i < SK_HOTA_LEVELS; i++)
            sk_text_appendf(svg, "%.2f,%.2f ", LEFT + SIDE * sk_hota_level(i),
                            TOP + SIDE - SIDE * level_value(&s->level[i], which));
        sk_text_append(svg, "\"/>\n");
        char figures[32];
        snprintf(figures, sizeof figures, "%.3f", level_value(&s->mean, which));
        legend(svg, which, colour, width, names[which], figures);
    }
    sk_text_append(svg, "</svg>\n");
}

static bool plot_tracks(const sk_eval_report *r, int i, char name[64], sk_text *svg)
{
    static const char *const parts[SK_TRACKS_KINDS] = {"Box", "OBB", "Point", "Pose"};
    for (int kind = 0; kind < SK_TRACKS_KINDS; kind++)
        if (r->tracks[kind].measured && i-- == 0) {
            snprintf(name, 64, "%sHOTA_curve.svg", parts[kind]);
            plot_hota(&r->tracks[kind].all, svg);
            return true;
        }
    return false;
}

bool sk_eval_plot(const sk_eval_report *r, int i, char name[64], sk_text *svg)
{
    static const char *const parts[] = {"Box", "OBB", "Pose"}, *const curves[] = {"PR", "F1", "P", "R"};
    const sk_yolo_score *scores[] = {&r->yolo_box, &r->yolo_obb, &r->yolo_pose};
    for (int kind = 0; kind < 3; kind++) {
        if (!scores[kind]->measured)
            continue;
        if (i < 4) {
            snprintf(name, 64, "%s%s_curve.svg", parts[kind], curves[i]);
            plot_curves(r, scores[kind], i, svg);
            return true;
        }
        i -= 4;
    }
    int matrices = r->confusion.n_classes ? 2 : 0;
    if (i >= matrices)
        return plot_tracks(r, i - matrices, name, svg);
    snprintf(name, 64, "confusion_matrix%s.svg", i ? "_normalized" : "");
    plot_confusion(r, i == 1, svg);
    return true;
}
