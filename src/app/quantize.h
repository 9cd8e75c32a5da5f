/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_QUANTIZE_H
#define SK_APP_QUANTIZE_H

#include "graph/quantise_range.h"
#include "models/model.h"

/* A model in eight bits, made from one in f32 and frames like those it will see; with what that costs, measured on frames
 * that were not used. The same model, frames and settings give the same bytes. While one is being made, a second into the
 * same file is SK_ERR_BUSY. */

typedef enum sk_quantize_precision {
    SK_QUANTIZE_I8 = 0, /* every convolution that can be, but few that hurt most, by measurement */
    SK_QUANTIZE_MIXED,  /* more of these stay in f32 */
    SK_QUANTIZE_FP8     /* as the first, in e4m3 instead of steps of one size */
} sk_quantize_precision;

typedef struct sk_quantize_settings {
    const char *model;
    const char *data;   /* video, picture, folder or glob of pictures */
    const char *output; /* .skq */
    const char *report; /* JSON; null: none */
    const char *truth;  /* of the frames, as `eval` reads it; null: none */
    /* Where the model looks at crops of animals: who finds these, a model or a file of detections, as `eval` reads it. Not both. */
    const char *finder, *detections;
    int32_t frames; /* to make it with; a quarter as many more are measured on. Default 100 */
    float confidence, peak_threshold; /* what counts as found; 0.25 and 0.2 */
    sk_quantize_precision precision;
    sk_range_method ranges;
    double percent;        /* SK_RANGE_PERCENTILE */
    int32_t height, width; /* of the network; 0: the model's own */
    int32_t threads;       /* 0: all cores */
    sk_heads heads;
    bool overwrite;
    /* After every step; true stops: nothing is written. May be null. */
    bool (*watch)(void *context, const char *step, int64_t done, int64_t total);
    void *context;
} sk_quantize_settings;

void sk_quantize_defaults(sk_quantize_settings *settings);

/* A loss above this many percent deserves a word: models made from fitting frames lose one to four. */
#define SK_QUANTIZE_LOSS_LARGE 10.0
/* A loss measured on fewer frames may be chance. */
#define SK_QUANTIZE_FEW_FRAMES 5

/* A convolution, in the order of the network. */
typedef struct sk_quantize_row {
    char name[64];
    bool kept;           /* it stays f32, by measurement */
    double weight_error; /* what rounding changed, rms of the weights' rms */
    double error;        /* of its output in the whole network, rms of its rms */
    float low, high;     /* how far its output reached */
    double sensitivity;  /* of the network's outputs when it alone is in eight bits; 0: not measured */
} sk_quantize_row;

/* Against the truth, by `eval`'s rules. */
typedef struct sk_quantize_score {
    double ap, ap50, precision, recall;
    double median_px; /* of keypoints; below 0: none */
} sk_quantize_score;

#define SK_QUANTIZE_MOST_NOTICES 4

typedef struct sk_quantize_report {
    sk_quantised about;
    int32_t n_rows;
    sk_quantize_row *rows;
    double correlation; /* of the raw heads with those of f32, the least */
    int64_t bytes;      /* of the file */
    double seconds;
    char truth_of[32];          /* "boxes", …; "": there was no truth */
    sk_quantize_score truth[2]; /* of f32, and of eight bits */
    int32_t asked;              /* frames; fewer were there where about.frames is less */
    int64_t missing;            /* frames that the video's header promised and the file does not hold */
    int64_t unsure;             /* of what is lost or new: with scores near the threshold … */
    double unsure_part;         /* … and what part of the loss that is, 0 to 1 */
    bool by_peaks;              /* the threshold is --peak-threshold, not --conf */
    /* What a person should know before using the file, and what helps. */
    int32_t n_notices;
    char notices[SK_QUANTIZE_MOST_NOTICES][480];
} sk_quantize_report;

sk_status sk_quantize_run(const sk_quantize_settings *settings, sk_quantize_report *report,
                          sk_error *err) SK_MUST_CHECK;
/* Fills report->notices by what was read and measured. */
void sk_quantize_judge(const sk_quantize_settings *settings, sk_quantize_report *report);
void sk_quantize_report_free(sk_quantize_report *report);
/* The report as JSON: what the file says of itself, and every layer. */
void sk_quantize_report_json(const sk_quantize_report *report, sk_json *json);

#endif
