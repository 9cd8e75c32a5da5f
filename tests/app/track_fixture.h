/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_TRACK_FIXTURE_H
#define SK_TESTS_APP_TRACK_FIXTURE_H

#include "app/track_detections.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/test.h"
#include "text_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs that follow the detections of a file: no model, no video. */

static inline void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* Three mice that go their ways; the second is not found in frames 8 to 10. */
static inline void put_mice(const char *name, int frames)
{
    sk_text csv = {0};
    sk_text_append(&csv, "source,frame,class,name,score,cx,cy,w,h,angle\n");
    for (int f = 0; f < frames; f++) {
        sk_text_appendf(&csv, "v.mp4,%d,0,mouse,0.9,%d.25,50.5,30,12,0.1\n", f, 20 + 4 * f);
        if (f < 8 || f > 10)
            sk_text_appendf(&csv, "v.mp4,%d,1,rat,0.8,%d,120.125,28,11,3\n", f, 260 - 4 * f);
        sk_text_appendf(&csv, "v.mp4,%d,0,mouse,0.7,150,%d,26,10,1.5\n", f, 200 + f);
    }
    put(name, sk_text_get(&csv));
    sk_text_free(&csv);
}

typedef struct track_trial {
    const char *detections, *out;
    sk_track_wish wish;
    sk_predict_settings settings;
    sk_predict_watch watch;
    void *context;
    sk_predict_report report;
    sk_track_figures figures;
} track_trial;

/* The formats: a word each, ended by null. */
static inline void trial_defaults(track_trial *t, const char *detections, const char *out,
                                  const char *const *formats)
{
    memset(t, 0, sizeof *t);
    t->detections = detections;
    t->out = out;
    sk_track_wish_defaults(&t->wish);
    t->wish.track.fps = 20;
    t->wish.report = false;
    sk_predict_defaults(&t->settings);
    t->settings.out = out;
    t->settings.n_formats = 0;
    for (; *formats; formats++)
        t->settings.formats[t->settings.n_formats++] = *formats;
}

static inline sk_status trial_run(track_trial *t)
{
    sk_track_run *run = NULL;
    sk_status status = sk_track_run_open(&t->wish, &run, &err);
    if (status != SK_OK)
        return status;
    const sk_track_detections given = {t->detections, &t->settings, run};
    status = sk_track_detections_run(&given, t->watch, t->context, &t->report, &err);
    t->figures = *sk_track_run_figures(run);
    sk_track_run_close(&run);
    return status;
}

/* Numbers with six digits, so that every processor agrees. */
static inline void tell_rounded(sk_text *all, const char *line, size_t length)
{
    for (const char *end = line + length; line < end;) {
        char *stop = NULL;
        const bool number =
            (*line >= '0' && *line <= '9') || (*line == '-' && line[1] >= '0' && line[1] <= '9');
        const double value = number ? strtod(line, &stop) : 0;
        if (number) {
            sk_text_appendf(all, "%.6g", value == 0 ? 0 : value);
            line = stop;
        } else {
            sk_text_append_bytes(all, line++, 1);
        }
    }
    sk_text_append(all, "\n");
}

/* Adds it to what is told, without comments, which name versions and times. */
static inline void tell_file(sk_text *all, const char *folder, const char *name)
{
    char *text = text_of(folder, name);
    sk_text_appendf(all, "--- %s/%s\n", folder, name);
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        if (*line != '#')
            tell_rounded(all, line, n);
        line += n + (line[n] == '\n');
    }
    sk_free(text);
}

static inline void assert_same_file(const char *a, const char *b, const char *name)
{
    char *x = text_of(a, name), *y = text_of(b, name);
    if (strcmp(x, y) != 0)
        fail_msg("%s differs in %s and %s", name, a, b);
    sk_free(x);
    sk_free(y);
}

#endif
