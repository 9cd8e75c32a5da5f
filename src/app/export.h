/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_EXPORT_H
#define SK_APP_EXPORT_H

#include "models/onnx_export.h"

/* Writes a model for other runtimes, beside the model unless told otherwise. */

typedef struct sk_export_settings {
    const char *model;
    const char *path; /* null: model.pt -> model.onnx, a folder -> folder.onnx/model.onnx */
    bool overwrite;   /* replace an existing file */
    sk_heads heads;   /* of YOLOv10 and YOLO26 */
    sk_onnx_settings onnx;
} sk_export_settings;

typedef struct sk_export_report {
    char path[4096];
    int64_t bytes;
    double seconds;
    int32_t n_outputs;
    char outputs[1024]; /* "output0 1x56x8400" */
} sk_export_report;

/* The written file is opened again before this returns SK_OK. */
sk_status sk_export_run(const sk_export_settings *settings, sk_export_report *report,
                        sk_error *err) SK_MUST_CHECK;

#endif
