/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"

#include "app/track_detections.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/draw.h"
#include "tasks/overlap.h"

#include <string.h>

/* The boxes that were found, followed through the scene as `skitter track --detections` does, and how well each animal kept its
 * identity. */

/* Pictures: what was found in them has lost those in which nothing was, so the animals are found once more. */
static void find_again(const sk_demo_settings *s, const char *model, const sk_track_run *run,
                       sk_predict_settings *p)
{
    p->n_models = 1;
    p->models[0] = model;
    p->detector.runtime = s->runtime;
    p->detector.threads = s->threads;
    p->detector.confidence = SK_DEMO_CONFIDENCE;
    p->detector.iou = SK_DEMO_IOU;
    p->detector.rect = SK_RECT_ON;
    p->runtime_requested = s->runtime_requested;
    p->runtime_fell_back = s->runtime_fell_back;
    p->more = sk_track_run_more(run);
}

sk_status sk_demo_track(const sk_demo_settings *s, const char *scene, const char *model, bool restart,
                        sk_predict_watch watch, void *context, sk_demo_tracks *out, sk_error *err)
{
    sk_track_wish wish;
    sk_track_run *run = NULL;
    sk_predict_settings p;
    sk_status status = SK_OK;
    char *folder = sk_path_join(s->out, "tracks"), *boxes = sk_path_join(s->out, "boxes/results.csv");
    if (!folder || !boxes) {
        status = sk_fail_memory(err, strlen(s->out));
        goto done;
    }
    sk_track_wish_defaults(&wish);
    const bool pictures = sk_file_is_directory(scene);
    if (pictures) { /* they do not say how far apart they are */
        wish.track.fps = s->scene.rate;
        wish.cached = false;
    }
    SK_TRY_GOTO(sk_track_run_open(&wish, &run, err));
    sk_predict_defaults(&p);
    p.source = scene;
    p.out = folder;
    p.n_formats = 2;
    p.formats[0] = "csv";
    p.formats[1] = "slp";
    p.overlay = true;
    p.restart = restart;
    const sk_track_detections given = {boxes, &p, run};
    if (pictures)
        find_again(s, model, run, &p);
    status = pictures ? sk_predict_run(&p, watch, context, &out->run, err)
                      : sk_track_detections_run(&given, watch, context, &out->run, err);
    out->figures = *sk_track_run_figures(run);
done:
    sk_track_run_close(&run);
    sk_free(folder);
    sk_free(boxes);
    return status;
}

/* --- how good --- */

/* Every number of a track of the truth lies below, so that pairs have a place in a table. */
#define MOST_TRACKS 512

/* How often two animals come to lie on each other: their turned boxes overlap, and did not the frame before. */
static sk_status count_crossings(const sk_annotation_set *truth, int64_t *out, sk_error *err)
{
    int64_t *last =
        sk_calloc((size_t)MOST_TRACKS * MOST_TRACKS, sizeof *last); /* frame + 1 of the last overlap */
    if (!last)
        return sk_fail_memory(err, (size_t)MOST_TRACKS * MOST_TRACKS * sizeof *last);
    *out = 0;
    for (size_t i = 0; i < truth->n_items; i++) {
        const sk_annotation *a = &truth->items[i];
        const int64_t frame = truth->images[a->image].frame;
        for (size_t k = i + 1; k < truth->n_items && truth->items[k].image == a->image;
             k++) { /* rows go by frames */
            const sk_annotation *b = &truth->items[k];
            if (a->track < 0 || b->track < 0 || a->track >= MOST_TRACKS || b->track >= MOST_TRACKS ||
                !(sk_overlap_oriented(a->obb, b->obb, false) > 0))
                continue;
            int64_t *before = &last[a->track * MOST_TRACKS + b->track];
            *out += *before == 0 || *before != frame;
            *before = frame + 1;
        }
    }
    sk_free(last);
    return SK_OK;
}

sk_status sk_demo_measure_tracks(const sk_demo_sets *sets, sk_demo_tracks *out, sk_error *err)
{
    sk_eval_settings s;
    sk_eval_defaults(&s);
    s.any_class = true; /* who it is, whatever kind the model takes it for */
    SK_TRY(count_crossings(&sets->truth, &out->crossings, err));
    if (sets->tracks.n_items == 0)
        return SK_OK;
    return sk_eval_run(&sets->tracks, &sets->truth, &s, &out->scores, err);
}

const sk_track_score *sk_demo_track_score(const sk_demo_tracks *t)
{
    static const sk_tracks_kind kinds[] = {SK_TRACKS_OBB, SK_TRACKS_BOX};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (t->scores.tracks[kinds[i]].measured)
            return &t->scores.tracks[kinds[i]].all;
    return NULL;
}

/* --- on the page --- */

static int64_t last_track(const sk_annotation_set *set)
{
    int64_t last = -1;
    for (size_t i = 0; i < set->n_items; i++)
        last = set->items[i].track > last ? set->items[i].track : last;
    return last < 1000 ? last : 999;
}

/* One line a track; where it was not there for a while the line goes straight on. */
static void paths(const sk_annotation_set *set, bool truth, sk_text *page)
{
    for (int64_t track = 0; track <= last_track(set); track++) {
        bool first = true;
        for (size_t i = 0; i < set->n_items; i++) {
            const sk_annotation *a = &set->items[i];
            if (a->track != track || !(a->has & (SK_HAS_OBB | SK_HAS_BOX)))
                continue;
            if (first && truth)
                sk_text_append(page, "<polyline class=\"path\" points=\"");
            else if (first)
                sk_text_appendf(page, "<polyline class=\"track\" stroke=\"#%06x\" points=\"",
                                sk_draw_identity((int)track) & 0xffffffu);
            double x = a->has & SK_HAS_OBB ? a->obb[0] : a->box[0] + a->box[2] / 2;
            double y = a->has & SK_HAS_OBB ? a->obb[1] : a->box[1] + a->box[3] / 2;
            sk_text_appendf(page, "%s%.1f,%.1f", first ? "" : " ", x, y);
            first = false;
        }
        if (!first)
            sk_text_append(page, "\"/>\n");
    }
}

void sk_demo_figure_tracks(const sk_demo_settings *s, const sk_demo_sets *sets, sk_text *page)
{
    sk_text_appendf(
        page,
        "<svg class=\"arena\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"where the animals were\">\n"
        "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n",
        s->scene.width, s->scene.height, s->scene.width, s->scene.height);
    paths(&sets->truth, true, page);
    paths(&sets->tracks, false, page);
    sk_text_append(
        page,
        "</svg>\n<p class=\"note\">coloured: the paths that were followed, one colour an identity, as in "
        "the video; grey: where the animals really were</p>\n");
}

void sk_demo_page_identities(const sk_demo_settings *s, const sk_demo_report *r, sk_text *page)
{
    const sk_track_score *t = sk_demo_track_score(&r->tracks);
    char *path = sk_path_join(s->out, "tracks/report.html");
    const bool reported = path && sk_file_is_regular(path);
    sk_free(path);
    if (t)
        sk_text_appendf(
            page,
            "<div class=\"scroll\"><table><tr><th></th><th>animals</th><th>tracks</th><th>HOTA</th>"
            "<th>DetA</th><th>AssA</th><th>IDF1</th><th>MOTA</th><th>switches</th><th>fragments</th>"
            "</tr>\n<tr><td>identities</td><td>%lld</td><td>%lld</td><td>%.3f</td><td>%.3f</td>"
            "<td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%lld</td><td>%lld</td></tr></table></div>\n",
            (long long)t->truth_tracks, (long long)t->found_tracks, t->mean.hota, t->mean.det_a,
            t->mean.ass_a, t->idf1, t->mota, (long long)t->switches, (long long)t->fragments);
    sk_text_appendf(
        page,
        "<p class=\"note\">The boxes, followed as <code>skitter track --detections boxes/results.csv</code> "
        "does. Animals came to lie on each other %lld times. HOTA, IDF1 and switches as TrackEval defines "
        "them, by turned boxes; docs/eval.md.</p>\n",
        (long long)r->tracks.crossings);
    if (!reported) { /* nobody was found */
        sk_text_append(page, "<p>Nothing was found that could be followed.</p>\n");
        return;
    }
    sk_text_appendf(page,
                    "<p><a href=\"tracks/%s\">The %s with trails and identities</a>; <a "
                    "href=\"tracks/report.html\">the report on the tracks</a>: speed, headings, distances, "
                    "moments of doubt.</p>\n",
                    r->pictures ? "overlay" : "overlay.mp4", r->pictures ? "pictures" : "video");
}

/* --- in the table and in JSON --- */

void sk_demo_summarize_tracks(const sk_demo_report *r, sk_text *t)
{
    const sk_track_score *score = sk_demo_track_score(&r->tracks);
    sk_text_appendf(t, "\n%-16s %9s %9s %9s %9s %9s %9s %9s\n", "identities", "animals", "tracks", "HOTA",
                    "IDF1", "MOTA", "switches", "crossings");
    if (score)
        sk_text_appendf(t, "%-16s %9lld %9lld %9.3f %9.3f %9.3f %9lld %9lld\n", "tracks",
                        (long long)score->truth_tracks, (long long)score->found_tracks, score->mean.hota,
                        score->idf1, score->mota, (long long)score->switches, (long long)r->tracks.crossings);
    else
        sk_text_appendf(t, "%-16s nothing was found that could be followed\n", "tracks");
}

void sk_demo_tracks_to_json(const sk_demo_tracks *t, sk_json *json)
{
    sk_json_key_object(json, "tracks");
    sk_json_key_ints(json, {"tracks", t->figures.tracks}, {"sightings", t->figures.sightings},
                     {"covered", t->figures.covered}, {"crossings", t->crossings});
    sk_json_key_float(json, "tracking_seconds", t->figures.seconds);
    sk_json_key(json, "accuracy");
    sk_eval_to_json(&t->scores, json);
    sk_json_close(json);
}
