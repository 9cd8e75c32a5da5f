/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"

#include <stdio.h>
#include <string.h>

/* --- the table --- */

static void ratio(sk_text *t, double value)
{
    if (value < 0)
        sk_text_appendf(t, " %9s", "-");
    else
        sk_text_appendf(t, " %9.3f", value);
}

/* Work on frames, which are several at once: less time passes than its parts add up to. */
static void speeds(const sk_demo_report *r, sk_text *t)
{
    bool any = false;
    sk_text_appendf(t, "\n%-16s %9s %9s %9s %9s %9s %9s %9s\n", "speed", "frames/s", "decode", "pre",
                    "network", "post", "write", "overlay");
    for (int32_t i = 0; i < r->n_entries; i++)
        for (int part = 0; part < SK_DEMO_PARTS; part++) {
            const sk_demo_entry *entry = &r->entries[i];
            const sk_predict_report *p = &entry->parts[part];
            char name[48];
            snprintf(name, sizeof name, r->n_entries > 1 ? "%s %s" : "%s", sk_demo_part_names[part],
                     entry->runtime);
            if (entry->failed)
                continue;
            if (p->nothing_to_do) {
                sk_text_appendf(t, "%-16s was done before\n", name);
                continue;
            }
            any = true;
            double frames = p->frames > 0 ? (double)p->frames : 1;
            sk_text_appendf(t, "%-16s %9.1f", name, p->seconds > 0 ? frames / p->seconds : 0);
            const double stages[] = {p->decode, p->pre, p->network, p->post, p->write, p->overlay};
            for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
                sk_text_appendf(t, " %6.2f ms", 1e3 * stages[k] / frames);
            sk_text_append(t, "\n");
        }
    if (any)
        sk_text_appendf(t, "%-16s ms: work on a frame; several are worked on at once, so less time passes\n",
                        "");
}

static void scores(const sk_demo_report *r, sk_text *t)
{
    const sk_demo_entry *entry = &r->entries[0];
    sk_text_appendf(t, "\n%-16s %9s %9s %9s %9s %9s %9s\n", "accuracy", "animals", "found", "precision",
                    "recall", "AP50", "AP50:95");
    for (int part = 0; part < SK_DEMO_PARTS; part++) {
        const sk_eval_report *e = &entry->scores[part];
        static const struct {
            uint32_t has;
            const char *name;
        } kinds[] = {{SK_HAS_OBB, "oriented boxes"},
                     {SK_HAS_BOX, "boxes of poses"},
                     {SK_HAS_KEYPOINTS, "poses (OKS)"}};
        for (size_t k = 0; k < 3; k++) {
            if (!(e->compared & kinds[k].has) || (part == SK_DEMO_BOXES && kinds[k].has != SK_HAS_OBB))
                continue;
            const sk_eval_score *s = kinds[k].has == SK_HAS_OBB   ? &e->all.obb
                                     : kinds[k].has == SK_HAS_BOX ? &e->all.box
                                                                  : &e->all.pose;
            sk_text_appendf(t, "%-16s %9lld %9lld", kinds[k].name, (long long)s->wanted, (long long)s->found);
            ratio(t, s->precision), ratio(t, s->recall), ratio(t, s->ap50), ratio(t, s->ap);
            sk_text_append(t, "\n");
        }
    }
    const sk_eval_errors *p = &entry->scores[SK_DEMO_POSES].all.points;
    if (p->measured > 0)
        sk_text_appendf(t, "%-16s median %.2f px off, %.2f %% of the body's length; %.1f %% within 5 %%\n",
                        "keypoints", p->median, p->median_percent, 100 * (p->pck[0] > 0 ? p->pck[0] : 0));
}

static void agreements(const sk_demo_report *r, sk_text *t)
{
    if (r->n_entries < 2)
        return;
    sk_text_appendf(t, "\n%-16s %s\n", "the same as", r->entries[0].runtime);
    for (int32_t i = 1; i < r->n_entries; i++) {
        const sk_demo_entry *entry = &r->entries[i];
        if (entry->failed) {
            sk_text_appendf(t, "%-16s did not run: %s\n", entry->runtime, entry->problem);
            continue;
        }
        for (int part = 0; part < SK_DEMO_PARTS; part++) {
            const sk_agreement *a = &entry->agreement[part];
            int64_t most = a->first > a->second ? a->first : a->second;
            char name[64];
            snprintf(name, sizeof name, "%s %s", sk_demo_part_names[part], entry->runtime);
            sk_text_appendf(t,
                            "%-16s %lld of %lld detections, at most %.2g px and %.2g of confidence apart\n",
                            name, (long long)a->paired, (long long)most, a->largest_px, a->largest_score);
        }
    }
}

void sk_demo_summarize(const sk_demo_settings *s, sk_demo_report *r)
{
    sk_text *t = &r->summary;
    const char *scene = r->pictures ? "scene" : "scene.mp4",
               *overlay = r->pictures ? "overlay/   " : "overlay.mp4";
    const sk_demo_entry *entry = &r->entries[0];
    const sk_predict_report *p = &entry->parts[SK_DEMO_POSES];
    sk_text_appendf(
        t, "%d %s, %lld frames of %dx%d, seed %llu: a scene the models never saw\n", s->scene.animals,
        s->scene.species == SK_SPECIES_MIXED ? "animals of three kinds" : sk_species_names[s->scene.species],
        (long long)r->frames, s->scene.width, s->scene.height, (unsigned long long)s->scene.seed);
    sk_text_appendf(t, "%-16s %s%s%s%s: %s, %s\n", "runtime", p->runtime,
                    s->runtime_fell_back ? " (instead of " : "",
                    s->runtime_fell_back ? s->runtime_requested : "", s->runtime_fell_back ? ")" : "",
                    p->device, p->precision);
    sk_text_appendf(t,
                    "%-16s skitter predict %s -m %s --conf %g --iou %g, and the same with %s;\n"
                    "%-16s skitter track %s %s --save-overlay\n",
                    "as by", scene, "demo-obb.pt", (double)SK_DEMO_CONFIDENCE, SK_DEMO_IOU, "demo-pose.pt",
                    "", scene, r->pictures ? "-m demo-obb.pt --fps 30" : "--detections boxes/results.csv");
    sk_demo_summarize_tracks(r, t);
    speeds(r, t);
    scores(r, t);
    agreements(r, t);
    sk_text_appendf(t, "\n%-16s %s/report.html         everything, with pictures\n", "look at", s->out);
    if (r->tracks.run.total_frames > 0) { /* somebody was found */
        sk_text_appendf(t, "%-16s %s/tracks/report.html  how the animals moved, and moments of doubt\n", "",
                        s->out);
        sk_text_appendf(t, "%-16s %s/tracks/%s  the scene with identities and trails drawn in\n", "", s->out,
                        overlay);
    }
    sk_text_appendf(t, "%-16s %s/poses/%s   the same with the poses\n", "", s->out, overlay);
    sk_text_appendf(t, "%-16s %s/poses/results.csv   one row an animal; results.slp opens in SLEAP\n", "",
                    s->out);
    sk_text_appendf(t, "%-16s %s track VIDEO -m MODEL -o run1 --save-overlay    (.pt, SLEAP folder, .onnx)\n",
                    "on your own", s->program);
}

/* --- JSON --- */

static void stage_to_json(sk_json *json, const sk_predict_report *p)
{
    double n = p->frames > 0 ? (double)p->frames : 1;
    sk_json_key_int(json, "frames", p->frames);
    sk_json_key_int(json, "instances", p->instances);
    sk_json_key_float(json, "seconds", p->seconds);
    sk_json_key_float(json, "fps", p->seconds > 0 ? (double)p->frames / p->seconds : 0);
    sk_json_key_object(json, "ms_per_frame");
    sk_json_key_floats(json, {"decode", 1e3 * p->decode / n}, {"pre", 1e3 * p->pre / n},
                       {"network", 1e3 * p->network / n}, {"post", 1e3 * p->post / n},
                       {"write", 1e3 * p->write / n}, {"overlay", 1e3 * p->overlay / n});
    sk_json_close(json);
}

static void entry_to_json(const sk_demo_report *r, int32_t i, sk_json *json)
{
    const sk_demo_entry *entry = &r->entries[i];
    sk_json_object(json);
    sk_json_key_string(json, "runtime", entry->runtime);
    if (entry->failed) {
        sk_json_key_string(json, "error", entry->problem);
        sk_json_close(json);
        return;
    }
    sk_json_key_string(json, "device", entry->parts[SK_DEMO_POSES].device);
    sk_json_key_string(json, "precision", entry->parts[SK_DEMO_POSES].precision);
    for (int part = 0; part < SK_DEMO_PARTS; part++) {
        sk_json_key_object(json, sk_demo_part_names[part]);
        stage_to_json(json, &entry->parts[part]);
        sk_json_key(json, "accuracy");
        sk_eval_to_json(&entry->scores[part], json);
        if (i > 0) {
            const sk_agreement *a = &entry->agreement[part];
            sk_json_key_object(json, "agreement");
            sk_json_key_ints(json, {"first", a->first}, {"own", a->second}, {"paired", a->paired});
            sk_json_key_floats(json, {"largest_px", a->largest_px}, {"mean_px", a->mean_px},
                               {"largest_score", a->largest_score});
            sk_json_close(json);
        }
        sk_json_close(json);
    }
    sk_json_close(json);
}

void sk_demo_to_json(const sk_demo_settings *s, const sk_demo_report *r, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_string(json, "folder", s->out);
    sk_json_key_string(json, "species", sk_species_names[s->scene.species]);
    sk_json_key_ints(json, {"animals", s->scene.animals}, {"width", s->scene.width},
                     {"height", s->scene.height}, {"seed", (int64_t)s->scene.seed}, {"frames", r->frames});
    sk_json_key_float(json, "scene_seconds", r->scene_seconds);
    sk_json_key_bools(json, {"stopped", r->stopped}, {"nothing_to_do", r->nothing_to_do},
                      {"continued", r->continued});
    sk_json_key_string(json, "runtime_requested", s->runtime_requested);
    if (!r->stopped && !r->nothing_to_do)
        sk_demo_tracks_to_json(&r->tracks, json);
    sk_json_key_array(json, "runtimes");
    for (int32_t i = 0; i < r->n_entries && !r->stopped; i++)
        entry_to_json(r, i, json);
    sk_json_close(json);
    sk_json_close(json);
}
