/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_REPORT_REPORT_INTERNAL_H
#define SK_REPORT_REPORT_INTERNAL_H

#include "report/chart.h"
#include "report/movement.h"
#include "report/report.h"

/* A report's insides, for its files only. */

typedef struct report_picture {
    uint8_t *jpeg; /* null: none */
    size_t length;
    int32_t width, height;
} report_picture;

struct sk_report {
    char *title, *source, *made_by, *method, *animal;
    sk_movement movement;
    sk_suspects suspects;
    sk_frame ground; /* RGB, small, its data owned; null: none */
    report_picture pictures[SK_SUSPECTS_MOST];
};

/* --- plots.c --- */

typedef struct report_plot {
    const char *name;                                       /* of its files */
    const char *heading;                                    /* on the page */
    const char *note;                                       /* below it; null: none */
    bool (*draw)(const sk_report *report, sk_chart *chart); /* false: there is nothing to show */
} report_plot;

/* Ended by one without a name. */
extern const report_plot report_plot_list[];

/* --- page.c --- */

typedef struct report_drawing {
    const report_plot *plot;
    const char *svg;
} report_drawing;

void report_page(const sk_report *report, const report_drawing *drawings, int32_t n_drawings,
                 const sk_report_time *times, int32_t n_times, sk_text *page);

#endif
