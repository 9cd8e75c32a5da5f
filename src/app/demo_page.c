/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "report/page_parts.h"
#include "skitter/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* report.html */

/* Beside what all pages have. */
static const char style[] =
    ":root{--c0:#7aa6c2;--c1:#4c78a8;--c2:#e4572e;--c3:#76b041;--c4:#9d7bb0;--c5:#c9a227}"
    "@media(prefers-color-scheme:dark){:root{--c0:#8fbfdd;--c1:#6b9bd1;--c2:#ff7a52;--c3:#93cc5a;--c4:#"
    "bd9bd0;"
    "--c5:#e0bd45}}.files td{text-align:left}"
    ".frames{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr));gap:14px}"
    "svg text{fill:var(--fg);font-size:13px}"
    ".s0{fill:var(--c0);background:var(--c0)}.s1{fill:var(--c1);background:var(--c1)}"
    ".s2{fill:var(--c2);background:var(--c2)}.s3{fill:var(--c3);background:var(--c3)}"
    ".s4{fill:var(--c4);background:var(--c4)}.s5{fill:var(--c5);background:var(--c5)}"
    ".legend span{margin-right:14px;font-size:.87em;color:var(--dim)}.legend "
    "i{display:inline-block;width:11px;"
    "height:11px;border-radius:2px;margin-right:5px}.whisker{stroke:var(--fg);stroke-width:1.5}"
    ".arena{border-radius:6px;width:100%}.ground{fill:var(--soft)}"
    ".path{fill:none;stroke:var(--dim);stroke-width:1.2;opacity:.8}"
    ".track{fill:none;stroke-width:2.4;stroke-linejoin:round}"
    "pre{background:var(--soft);border-radius:8px;padding:12px 14px;overflow-x:auto;font-size:.9em}"
    /* a telephone: drawings' letters stay legible, commands wrap */
    "@media(max-width:560px){.files td{font-size:13px;overflow-wrap:anywhere}svg text{font-size:22px}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8em}}";

static void tile(sk_text *page, const char *what, const char *format, double value, bool known)
{
    sk_page_tile(page, what, format, known ? value : NAN);
}

static void tiles(const sk_demo_report *r, sk_text *page)
{
    const sk_demo_entry *entry = &r->entries[0];
    const sk_eval_row *boxes = &entry->scores[SK_DEMO_BOXES].all, *poses = &entry->scores[SK_DEMO_POSES].all;
    const sk_predict_report *p = &entry->parts[SK_DEMO_POSES], *b = &entry->parts[SK_DEMO_BOXES];
    const sk_track_score *who = sk_demo_track_score(&r->tracks);
    sk_text_append(page, "<div class=\"tiles\">\n");
    tile(page, "HOTA: how well animals were found and kept their identities", "%.3f",
         who ? who->mean.hota : 0, who);
    tile(page, "identities that were swapped", "%.0f", who ? (double)who->switches : 0, who);
    tile(page, "times that animals came to lie on each other", "%.0f", (double)r->tracks.crossings, true);
    tile(page, "of the animals found (recall)", "%.1f %%", 100 * boxes->obb.recall, boxes->obb.recall >= 0);
    tile(page, "of the boxes right (precision)", "%.1f %%", 100 * boxes->obb.precision,
         boxes->obb.precision >= 0);
    tile(page, "median error of keypoints, of the body's length", "%.2f %%", poses->points.median_percent,
         poses->points.median_percent >= 0 && poses->points.measured > 0);
    tile(page, "frames a second, boxes", "%.1f", b->seconds > 0 ? (double)b->frames / b->seconds : 0,
         b->frames > 0);
    tile(page, "frames a second, poses", "%.1f", p->seconds > 0 ? (double)p->frames / p->seconds : 0,
         p->frames > 0);
    sk_text_append(page, "</div>\n");
}

static void cell(sk_text *page, double value)
{
    if (value < 0)
        sk_text_append(page, "<td>–</td>");
    else
        sk_text_appendf(page, "<td>%.3f</td>", value);
}

static void score_row(sk_text *page, const char *kind, const char *name, const sk_eval_score *s)
{
    sk_text_appendf(page, "<tr><td>%s", kind);
    if (name) {
        sk_text_append(page, ", ");
        sk_text_append_markup(page, name);
    }
    sk_text_appendf(page, "</td><td>%lld</td><td>%lld</td>", (long long)s->wanted, (long long)s->found);
    const double values[] = {s->precision, s->recall, s->ap50, s->ap75, s->ap};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        cell(page, values[i]);
    sk_text_append(page, "</tr>\n");
}

static void score_rows(sk_text *page, const sk_eval_report *e, uint32_t has, const char *kind)
{
    if (!(e->compared & has))
        return;
    for (size_t c = 0; c <= e->n_classes; c++) {
        const sk_eval_row *row = c ? &e->classes[c - 1] : &e->all;
        const sk_eval_score *s = has == SK_HAS_OBB ? &row->obb : has == SK_HAS_BOX ? &row->box : &row->pose;
        if (c && (e->n_classes == 1 || (s->wanted == 0 && s->found == 0)))
            continue;
        score_row(page, kind, c ? row->name : NULL, s);
    }
}

static void accuracy(const sk_demo_report *r, sk_text *page)
{
    const sk_demo_entry *entry = &r->entries[0];
    sk_text_append(
        page, "<h2>How good</h2>\n<div class=\"scroll\"><table><tr><th></th><th>animals</th><th>found</th>"
              "<th>precision</th><th>recall</th><th>AP50</th><th>AP75</th><th>AP50:95</th></tr>\n");
    score_rows(page, &entry->scores[SK_DEMO_BOXES], SK_HAS_OBB, "oriented boxes");
    score_rows(page, &entry->scores[SK_DEMO_POSES], SK_HAS_KEYPOINTS, "poses (OKS)");
    score_rows(page, &entry->scores[SK_DEMO_POSES], SK_HAS_BOX, "boxes of poses");
    sk_text_append(page,
                   "</table></div>\n<p class=\"note\">Detections with a confidence above 0.4, overlapping by "
                   "less than 0.5. Animals of which less than 30 % is seen are left out. AP as "
                   "COCO's evaluator defines it; docs/eval.md defines every number.</p>\n");
    const sk_eval_errors *e = &entry->scores[SK_DEMO_POSES].all.points;
    if (e->measured > 0) {
        sk_text_appendf(page,
                        "<p>Keypoints are off by %.2f px at the median, %.2f px on average, and by less than "
                        "%.2f px in nine "
                        "of ten cases. %.1f %% of them lie within 5 %% of the body's length.</p>\n",
                        e->median, e->mean, e->p90, 100 * e->pck[0]);
        sk_demo_figure_errors(r, page);
    }
}

static void agreement(const sk_demo_report *r, sk_text *page)
{
    if (r->n_entries < 2)
        return;
    sk_text_append(
        page, "<h2>Runtimes side by side</h2>\n<div class=\"scroll\"><table><tr><th></th><th>frames/s</th>"
              "<th>network ms</th><th>detections</th><th>the same</th><th>largest px</th><th>largest "
              "confidence</th></tr>\n");
    for (int32_t i = 0; i < r->n_entries; i++) {
        const sk_demo_entry *entry = &r->entries[i];
        for (int part = 0; part < SK_DEMO_PARTS && !entry->failed; part++) {
            const sk_predict_report *p = &entry->parts[part];
            const sk_agreement *a = &entry->agreement[part];
            double n = p->frames > 0 ? (double)p->frames : 1;
            sk_text_appendf(page, "<tr><td>%s, %s</td><td>%.1f</td><td>%.2f</td><td>%lld</td>",
                            sk_demo_part_names[part], entry->runtime,
                            p->seconds > 0 ? (double)p->frames / p->seconds : 0, 1e3 * p->network / n,
                            (long long)p->instances);
            if (i == 0)
                sk_text_append(page, "<td>–</td><td>–</td><td>–</td></tr>\n");
            else
                sk_text_appendf(page, "<td>%lld of %lld</td><td>%.2g</td><td>%.2g</td></tr>\n",
                                (long long)a->paired,
                                (long long)(a->first > a->second ? a->first : a->second), a->largest_px,
                                a->largest_score);
        }
        if (entry->failed) {
            sk_text_appendf(page, "<tr><td>%s</td><td colspan=\"6\">", entry->runtime);
            sk_text_append_markup(page, entry->problem);
            sk_text_append(page, "</td></tr>\n");
        }
    }
    sk_text_append(page, "</table></div>\n");
}

/* A row of the list of files: links to them, and what they are. A file that is not there (no overlay was asked for) is left
 * out. */
static void file_row(const sk_demo_settings *s, const char *const *names, const char *what, sk_text *page)
{
    bool any = false;
    for (; *names; names++) {
        char *path = sk_path_join(s->out, *names);
        bool there = path && sk_file_exists(path);
        sk_free(path);
        if (!there)
            continue;
        sk_text_append(page, any ? ", " : "<tr><td>");
        sk_text_appendf(page, "<a href=\"%s\">%s</a>", *names, *names);
        any = true;
    }
    if (any)
        sk_text_appendf(page, "</td><td>%s</td></tr>\n", what);
}

static void files(const sk_demo_settings *s, sk_text *page)
{
    static const struct {
        const char *const names[5];
        const char *what;
    } rows[] = {
        {{"tracks/report.html"}, "how the animals moved, and moments of doubt"},
        {{"tracks/overlay.mp4", "poses/overlay.mp4", "tracks/overlay", "poses/overlay"},
         "the scene with identities and trails, and with poses"},
        {{"tracks/results.csv", "poses/results.csv", "boxes/results.csv"}, "one row an animal and frame"},
        {{"tracks/results.slp", "poses/results.slp", "boxes/results.slp"}, "for SLEAP and sleap-io"},
        {{"tracks/run.json", "poses/run.json", "boxes/run.json"}, "what ran, and how"},
        {{"scene.mp4", "scene", "truth.csv"}, "the scene, and where the animals really are"},
        {{"demo.json"}, "every number of this page"}};
    sk_text_append(page,
                   "<h2>What lies in this folder</h2>\n<div class=\"scroll\"><table class=\"files\">\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        file_row(s, rows[i].names, rows[i].what, page);
    sk_text_append(page, "</table></div>\n");
    static const char *const commands[] = {" track VIDEO -m MODEL -o run1 --save-overlay",
                                           " info MODEL          # what a .pt, SLEAP folder or .onnx holds",
                                           " eval run1 TRUTH     # how good it is, against labels of yours"};
    sk_text_append(page, "<h2>On your own video</h2>\n<pre>");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        sk_text_append_markup(page, s->program);
        sk_text_appendf(page, "%s\n", commands[i]);
    }
    sk_text_append(page, "</pre>\n");
}

static void head(const sk_demo_settings *s, const sk_demo_report *r, sk_text *page)
{
    const sk_predict_report *p = &r->entries[0].parts[SK_DEMO_POSES];
    char now[SK_CLOCK_TEXT];
    sk_page_begin(page, "skitter demo", style);
    sk_text_append(page, "<h1>skitter demo</h1>\n<p class=\"sub\">");
    sk_text_appendf(
        page, "%d %s, %lld frames of %d × %d, seed %llu: a scene the models never saw. ", s->scene.animals,
        s->scene.species == SK_SPECIES_MIXED ? "animals of three kinds" : sk_species_names[s->scene.species],
        (long long)r->frames, s->scene.width, s->scene.height, (unsigned long long)s->scene.seed);
    sk_text_appendf(page, "skitter %s on %s", sk_version_text(), p->runtime);
    if (s->runtime_fell_back) {
        sk_text_append(page, " (instead of ");
        sk_text_append_markup(page, s->runtime_requested);
        sk_text_append(page, ")");
    }
    sk_text_append(page, ": ");
    sk_text_append_markup(page, p->device);
    sk_text_appendf(page, ", %s; %s</p>\n", p->precision, sk_clock_text(sk_clock_wall_ms(), now, sizeof now));
}

sk_status sk_demo_write_page(const sk_demo_settings *s, const sk_demo_report *r, const sk_demo_sets *sets,
                             sk_error *err)
{
    sk_text page = {.limit = (size_t)64 << 20};
    head(s, r, &page);
    tiles(r, &page);
    sk_text_append(&page, "<h2>Who is who</h2>\n<div class=\"frames\">\n");
    sk_status status = SK_OK;
    SK_TRY_GOTO(sk_demo_figure_frames(s, r, sets, &page, err));
    sk_text_append(&page, "</div>\n");
    sk_demo_page_identities(s, r, &page);
    sk_demo_figure_tracks(s, sets, &page);
    accuracy(r, &page);
    sk_text_append(&page, "<h2>Where the time goes</h2>\n<p class=\"note\">Work on a frame by stage. Stages "
                          "of different frames run at the "
                          "same time, so that a frame takes less than their sum.</p>\n");
    sk_demo_figure_stages(r, &page);
    agreement(r, &page);
    files(s, &page);
    sk_text_append(&page, "</body></html>\n");
    SK_TRY_GOTO(sk_text_status(&page, err));
    char *path = sk_path_join(s->out, "report.html");
    status = path ? sk_file_replace(path, page.data, page.length, err) : sk_fail_memory(err, strlen(s->out));
    sk_free(path);
done:
    sk_text_free(&page);
    return status;
}
