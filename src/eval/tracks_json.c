/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/tracks.h"

const char *const sk_tracks_names[SK_TRACKS_KINDS] = {"boxes", "oriented_boxes", "points", "oks"};

static void key_real(sk_json *json, const char *key, double value)
{
    sk_json_key(json, key);
    sk_json_double(json, value);
}

static void hota_to_json(const sk_hota *h, sk_json *json)
{
    key_real(json, "hota", h->hota);
    key_real(json, "det_a", h->det_a);
    key_real(json, "ass_a", h->ass_a);
    key_real(json, "loc_a", h->loc_a);
    key_real(json, "det_re", h->det_re);
    key_real(json, "det_pr", h->det_pr);
    key_real(json, "ass_re", h->ass_re);
    key_real(json, "ass_pr", h->ass_pr);
    key_real(json, "owta", h->owta);
}

static void levels_to_json(const sk_track_score *s, sk_json *json)
{
    sk_json_key(json, "by_similarity");
    sk_json_array(json);
    for (int i = 0; i < SK_HOTA_LEVELS; i++) {
        sk_json_object(json);
        key_real(json, "similarity", (i + 1) * 5 / 100.0);
        hota_to_json(&s->level[i], json);
        sk_json_key_int(json, "right", s->level[i].right);
        sk_json_key_int(json, "missed", s->level[i].missed);
        sk_json_key_int(json, "wrong", s->level[i].wrong);
        sk_json_close(json);
    }
    sk_json_close(json);
}

static void score_to_json(const char *name, const sk_track_score *s, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_string(json, "name", name);
    sk_json_key_int(json, "frames", s->frames);
    sk_json_key_int(json, "truth_tracks", s->truth_tracks);
    sk_json_key_int(json, "found_tracks", s->found_tracks);
    sk_json_key_int(json, "wanted", s->truth);
    sk_json_key_int(json, "found", s->found);
    hota_to_json(&s->mean, json);
    key_real(json, "mota", s->mota);
    key_real(json, "motp", s->motp);
    key_real(json, "moda", s->moda);
    key_real(json, "smota", s->smota);
    key_real(json, "precision", s->precision);
    key_real(json, "recall", s->recall);
    sk_json_key_int(json, "right", s->right);
    sk_json_key_int(json, "missed", s->missed);
    sk_json_key_int(json, "wrong", s->wrong);
    sk_json_key_int(json, "switches", s->switches);
    sk_json_key_int(json, "fragments", s->fragments);
    sk_json_key_int(json, "mostly_tracked", s->mostly_tracked);
    sk_json_key_int(json, "partly_tracked", s->partly_tracked);
    sk_json_key_int(json, "mostly_lost", s->mostly_lost);
    key_real(json, "idf1", s->idf1);
    key_real(json, "idp", s->idp);
    key_real(json, "idr", s->idr);
    sk_json_key_int(json, "id_right", s->id_right);
    sk_json_key_int(json, "id_missed", s->id_missed);
    sk_json_key_int(json, "id_wrong", s->id_wrong);
    levels_to_json(s, json);
    sk_json_close(json);
}

void sk_tracks_to_json(const sk_eval_report *r, sk_json *json)
{
    bool any = false;
    for (int kind = 0; kind < SK_TRACKS_KINDS; kind++)
        any = any || r->tracks[kind].measured;
    if (!any)
        return;
    sk_json_key(json, "tracking");
    sk_json_object(json);
    if (r->tracks[SK_TRACKS_POINT].measured)
        key_real(json, "distance_px", r->track_distance);
    for (int kind = 0; kind < SK_TRACKS_KINDS; kind++) {
        if (!r->tracks[kind].measured)
            continue;
        sk_json_key(json, sk_tracks_names[kind]);
        sk_json_object(json);
        sk_json_key(json, "all");
        score_to_json("all", &r->tracks[kind].all, json);
        sk_json_key(json, "classes");
        sk_json_array(json);
        for (size_t c = 0; c < r->n_classes; c++)
            score_to_json(r->classes[c].name, &r->tracks[kind].classes[c], json);
        sk_json_close(json);
        sk_json_close(json);
    }
    sk_json_close(json);
}
