/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_YOLO_WRITER_H
#define SK_TESTS_SUPPORT_YOLO_WRITER_H

#include "torch_writer.h"

/* A tiny Ultralytics checkpoint: two convolutions, a C2f, an SPPF, an upsampling and a head with one level (stride 2)
 * for two classes and four distance bins, all with weights from a small generator. Faults can be put in by name. */

typedef struct yolo_fixture {
    const char *head;         /* "Detect" (default), "Pose", "OBB", "Segment", "v10Detect", "Pose26", "OBB26",
                         "Segment26", "Classify" */
    bool flat_paths;          /* classes as ultralytics.nn.modules.Conv, as old files have them */
    bool in_ema;              /* the model under 'ema', 'model' None */
    bool bare;                /* the model object alone, no dictionary */
    bool fused;               /* convolutions with a bias and no norm */
    bool f32;                 /* float weights; halves otherwise */
    bool plain_dicts;         /* dict instead of OrderedDict, as new torch writes */
    int reg_max;              /* default 4 */
    const char *nan_at;       /* scope of the module whose weight gets a NaN: "model.0.conv" */
    const char *bad_shape_at; /* … whose weight has the wrong shape */
    const char *drop;         /* scope of a child that is left out: "model.2.cv2" */
    const char *rename;       /* scope of a module that gets the class "Mystery" */
    const char *model_class;  /* default by head */
    const char *model_module; /* default "ultralytics.nn.tasks" */
    int64_t classes_said;     /* of a Classify head: out_features, where the weight has two rows; 0: 2 */
    int64_t imgsz;            /* default 100 */
    const char *only_class;   /* the one there is, in place of "mouse" and "fly" */
    int keypoints, dims;      /* of a pose, and numbers of each; default 3 and 3 */
    bool named_keypoints;     /* "a", "b", … in a list; by class where it is plain_dicts */
    const int64_t (*skeleton)[2]; /* … and these pairs of them */
    int n_skeleton;
    int64_t epoch;          /* where it is not 0, more is said of the training: test_yolo_facts.c */
    float stride;           /* that the head says it has; default 2 */
    const char *block;      /* layer 2 in words (module_writer.h), in place of the C2f; 8 channels go in */
    const char *next_block; /* layer 3 in words, in place of the SPPF, 8 channels come out … */
    const char *next_more;  /* … with its attributes: "i=3 f=2" */
} yolo_fixture;

/* Writes data.pkl and storages. The caller frees with tw_pickle_free. */
void yolo_write(const yolo_fixture *fixture, tw_pickle *p);
/* The same as a file in test_folder(); returns its path. */
const char *yolo_save(const yolo_fixture *fixture, const char *name);

#endif
