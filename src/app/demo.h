/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_DEMO_H
#define SK_APP_DEMO_H

#include "app/track.h"
#include "eval/agreement.h"
#include "eval/eval.h"
#include "runtime/names.h"
#include "scene/scene.h"

/* skitter on a scene of its own: draws it, runs the models that come with skitter over it as `predict` does, follows
 * the animals as `track` does, measures all against the scene's truth and writes a report. Everything lies in one folder; a demo that was interrupted
 * goes on where it stopped. */

/* Scenes from this seed on are never trained on; docs/demo.md. */
#define SK_DEMO_FIRST_SEED UINT64_C(1000001000000)

/* Stricter than predict's defaults, which keep doubtful detections for the user to judge: animals that lie on each other
 * are then counted once. */
#define SK_DEMO_CONFIDENCE 0.4f
#define SK_DEMO_IOU        0.5

enum { SK_DEMO_BOXES = 0, SK_DEMO_POSES = 1, SK_DEMO_PARTS = 2 };
extern const char *const sk_demo_part_names[SK_DEMO_PARTS]; /* "boxes", "poses": also their folders */

typedef struct sk_demo_settings {
    const char *out;    /* folder; made if absent */
    const char *models; /* folder of demo-obb.pt and demo-pose.pt; null: where skitter's own are */
    sk_scene_settings scene;
    double seconds;
    const char *runtime, *runtime_requested; /* as for sk_predict_settings */
    bool runtime_fell_back;
    int32_t threads;
    const char
        *program;  /* how the person called skitter, for the commands to go on with; default "skitter" */
    bool pictures; /* the scene as pictures; so also where no video can be written */
    bool compare;  /* every other runtime that works here as well */
    bool restart;
} sk_demo_settings;

void sk_demo_defaults(sk_demo_settings *settings);

/* What happens now: "drawing the scene", "boxes on cpu" …; return true to stop in order. */
/* `seconds`: what the part's own clock says; 0 not known. */
typedef bool (*sk_demo_watch)(void *context, const char *what, int64_t done, int64_t total, double seconds);

/* One runtime of the demo, and how it did. */
typedef struct sk_demo_entry {
    char runtime[32];
    bool failed;
    char problem[512];
    sk_predict_report parts[SK_DEMO_PARTS];
    sk_eval_report scores[SK_DEMO_PARTS];
    sk_agreement agreement[SK_DEMO_PARTS]; /* with the first entry */
} sk_demo_entry;

/* The chosen runtime's boxes, followed through the scene. */
typedef struct sk_demo_tracks {
    sk_predict_report run;
    sk_track_figures figures;
    sk_eval_report scores; /* whatever the class */
    int64_t crossings;     /* how often two animals came to lie on each other */
} sk_demo_tracks;

typedef struct sk_demo_report {
    bool stopped;       /* by the watcher: the same command goes on */
    bool nothing_to_do; /* an earlier demo had finished: only `summary` and files are set */
    bool continued;
    bool pictures; /* the scene is a folder of them: so are the overlays */
    char models[SK_DEMO_PARTS][512];
    int64_t frames;
    double scene_seconds; /* it took to draw the scene; 0: it was there */
    int32_t n_entries;
    sk_demo_entry entries[SK_RUNTIME_COUNT]; /* the first is the chosen one */
    sk_demo_tracks tracks;
    sk_text summary; /* what is printed, and kept in summary.txt */
} sk_demo_report;

/* The report (some hundred kilobytes) is ended by sk_demo_free. */
sk_status sk_demo_run(const sk_demo_settings *settings, sk_demo_watch watch, void *context,
                      sk_demo_report **out, sk_error *err) SK_MUST_CHECK;
void sk_demo_free(sk_demo_report **report);

/* Everything the report holds, as one object. */
void sk_demo_to_json(const sk_demo_settings *settings, const sk_demo_report *report, sk_json *json);

#endif
