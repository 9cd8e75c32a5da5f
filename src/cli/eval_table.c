/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/eval_table.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const char *ratio(double value, char buffer[16])
{
    if (value < 0)
        return "-";
    snprintf(buffer, 16, "%.4f", value);
    return buffer;
}

static const char *number(double value, const char *unit, char buffer[32])
{
    if (value < 0)
        return "-";
    snprintf(buffer, 32, "%.2f%s", value, unit);
    return buffer;
}

static void print_score(const char *what, const char *name, const sk_eval_score *s)
{
    char p[16], r[16], a[16], b[16], c[16];
    printf("%-15s %-16.16s %8lld %8lld %9s %9s %9s %9s %9s\n", what, name, (long long)s->wanted,
           (long long)s->found, ratio(s->precision, p), ratio(s->recall, r), ratio(s->ap50, a),
           ratio(s->ap75, b), ratio(s->ap, c));
}

static void print_errors(const sk_eval_report *r, const char *what, const char *name, const sk_eval_errors *e)
{
    char a[32], b[32], c[32], p[32], q[32], k[16];
    printf("%-15s %-16.16s %8lld %8lld %9s %9s %9s %9s %9s", what, name, (long long)e->wanted,
           (long long)e->measured, number(e->median, "", a), number(e->mean, "", b), number(e->p90, "", c),
           number(e->median_percent, " %", p), number(e->p90_percent, " %", q));
    for (int32_t i = 0; i < r->n_pck; i++)
        printf(" %9s", ratio(e->pck[i], k));
    putchar('\n');
}

static void heading(const char *text)
{
    printf("%s%s%s\n", sk_cli_style(stdout, SK_STYLE_BOLD), text, sk_cli_style(stdout, SK_STYLE_END));
}

static void print_yolo(const sk_eval_report *r, const char *what, const sk_yolo_score *s)
{
    if (!s->measured)
        return;
    for (int32_t c = -1; c < s->n_classes; c++) {
        const sk_yolo_row *row = c < 0 ? &s->all : &s->classes[c];
        if (c >= 0 && (row->instances == 0 || s->n_classes == 1))
            continue;
        printf("%-15s %-16.16s %8lld %9lld %9.3f %9.3f %9.3f %9.3f\n", c < 0 ? what : "",
               c < 0 ? "all" : r->classes[c].name, (long long)row->images, (long long)row->instances,
               row->precision, row->recall, row->ap50, row->ap);
    }
}

static void print_as_yolo_val(const sk_eval_report *r)
{
    char line[256];
    snprintf(line, sizeof line, "%-15s %-16s %8s %9s %9s %9s %9s %9s", "", "", "images", "instances", "P",
             "R", "mAP50", "mAP50-95");
    printf("\nas Ultralytics' 'yolo val' counts\n");
    heading(line);
    print_yolo(r, "boxes", &r->yolo_box);
    print_yolo(r, "oriented boxes", &r->yolo_obb);
    print_yolo(r, "poses", &r->yolo_pose);
}

/* What was taken for what; as wide as a terminal may be. */
static void print_confusion(const sk_eval_report *r)
{
    const sk_confusion *c = &r->confusion;
    if (c->n_classes < 2 || c->n_classes > 8)
        return;
    char line[256];
    int used = snprintf(line, sizeof line, "%-24s", "found \\ is");
    for (int32_t i = 0; i <= c->n_classes && used < (int)sizeof line; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %12.12s",
                         i < c->n_classes ? r->classes[i].name : "nothing");
    putchar('\n');
    heading(line);
    for (int32_t i = 0; i <= c->n_classes; i++) {
        printf("%-24.24s", i < c->n_classes ? r->classes[i].name : "not found");
        for (int32_t k = 0; k <= c->n_classes; k++) {
            if (i == c->n_classes && k == c->n_classes)
                printf(" %12s", "");
            else
                printf(" %12lld", (long long)c->counts[i * (c->n_classes + 1) + k]);
        }
        putchar('\n');
    }
}

static void print_points(const sk_eval_report *r)
{
    char line[256];
    int used = snprintf(line, sizeof line, "%-15s %-16s %8s %8s %9s %9s %9s %9s %9s", "", "", "wanted",
                        "measured", "median px", "mean px", "p90 px", "median", "p90");
    for (int32_t i = 0; i < r->n_pck && used < (int)sizeof line; i++) {
        char name[24];
        snprintf(name, sizeof name, "PCK@%g", r->pck[i]);
        used += snprintf(line + used, sizeof line - (size_t)used, " %9s", name);
    }
    putchar('\n');
    heading(line);
    print_errors(r, "keypoints", "all", &r->all.points);
    for (size_t c = 0; r->n_classes > 1 && c < r->n_classes; c++)
        print_errors(r, "", r->classes[c].name, &r->classes[c].points);
    for (int32_t k = 0; k < r->n_keypoints; k++)
        print_errors(r, k ? "" : "each", r->keypoints[k].name, &r->keypoints[k].points);
    printf("percent of the body's length: %s; poses put together by %s\n", r->length, r->matched);
}

static void print_track_score(const char *what, const char *name, const sk_track_score *s)
{
    printf("%-15s %-16.16s %6lld %6lld %7.4f %7.4f %7.4f %7.4f %8.4f %7.4f %7.4f %7.4f %7.4f %8lld %9lld "
           "%4lld %4lld\n",
           what, name, (long long)s->truth_tracks, (long long)s->found_tracks, s->mean.hota, s->mean.det_a,
           s->mean.ass_a, s->mean.loc_a, s->mota, s->motp, s->idf1, s->idp, s->idr, (long long)s->switches,
           (long long)s->fragments, (long long)s->mostly_tracked, (long long)s->mostly_lost);
}

static void print_tracks(const sk_eval_report *r)
{
    static const char *const names[SK_TRACKS_KINDS] = {"boxes", "oriented boxes", "centres", "poses (OKS)"};
    char line[256];
    bool any = false;
    for (int kind = 0; kind < SK_TRACKS_KINDS; kind++) {
        const sk_eval_tracks *t = &r->tracks[kind];
        if (!t->measured)
            continue;
        if (!any) {
            snprintf(line, sizeof line,
                     "%-15s %-16s %6s %6s %7s %7s %7s %7s %8s %7s %7s %7s %7s %8s %9s %4s %4s", "", "",
                     "truth", "found", "HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "IDF1", "IDP", "IDR",
                     "switches", "fragments", "MT", "ML");
            printf("\ntracks, as TrackEval counts\n");
            heading(line);
            any = true;
        }
        print_track_score(names[kind], "all", &t->all);
        for (size_t c = 0; r->n_classes > 1 && c < r->n_classes; c++)
            if (t->classes[c].truth || t->classes[c].found)
                print_track_score("", r->classes[c].name, &t->classes[c]);
    }
    if (r->tracks[SK_TRACKS_POINT].measured)
        printf("centres %.4g pixels apart, or more, are not similar at all, at half of it by 0.5\n",
               r->track_distance);
}

static void print_notes(const sk_eval_report *r)
{
    for (const char *at = sk_text_get(&r->notes); *at;) {
        int length = (int)strcspn(at, "\n");
        sk_cli_say("note: %.*s", length, at);
        at += length + (at[length] == '\n');
    }
}

static void print_scores(const sk_eval_report *r)
{
    char line[256];
    snprintf(line, sizeof line, "%-15s %-16s %8s %8s %9s %9s %9s %9s %9s", "", "", "wanted", "found",
             "precision", "recall", "AP50", "AP75", "AP50:95");
    heading(line);
    static const struct {
        uint32_t has;
        const char *what;
        size_t offset;
    } kinds[] = {{SK_HAS_BOX, "boxes", offsetof(sk_eval_row, box)},
                 {SK_HAS_OBB, "oriented boxes", offsetof(sk_eval_row, obb)},
                 {SK_HAS_KEYPOINTS, "poses (OKS)", offsetof(sk_eval_row, pose)}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(r->compared & kinds[i].has))
            continue;
        const char *base = (const char *)&r->all;
        print_score(kinds[i].what, "all", (const sk_eval_score *)(const void *)(base + kinds[i].offset));
        for (size_t c = 0; r->n_classes > 1 && c < r->n_classes; c++) {
            base = (const char *)&r->classes[c];
            const sk_eval_score *score = (const sk_eval_score *)(const void *)(base + kinds[i].offset);
            if (score->wanted || score->found)
                print_score("", r->classes[c].name, score);
        }
    }
    if (r->compared & SK_HAS_KEYPOINTS)
        print_points(r);
}

void sk_cli_print_eval(const sk_eval_report *r)
{
    char line[256];
    if (r->covered < r->frames)
        printf("%zu frames, of which the result has %zu\n", r->frames, r->covered);
    else
        printf("%zu frames\n", r->frames);
    if (r->classified) {
        snprintf(line, sizeof line, "%-24s %9s %9s %9s", "", "pictures", "top1", "top5");
        heading(line);
        printf("%-24s %9lld %9.3f %9.3f\n", "classes of pictures", (long long)r->classified, r->top1,
               r->top5);
        print_confusion(r);
        print_notes(r);
        return;
    }
    if (r->compared) {
        print_scores(r);
        print_as_yolo_val(r);
        print_confusion(r);
    }
    print_tracks(r);
    print_notes(r);
}
