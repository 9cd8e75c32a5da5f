/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_ANNOTATIONS_H
#define SK_RESULTS_ANNOTATIONS_H

#include "base/error.h"
#include "base/text.h"
#include "base/instances.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What somebody says is in the frames, read back from a file: a program's results, or the truth. Numbers are kept in
 * double precision, as the file gives them. */

/* Beside SK_HAS_…, where there is no oriented box: the centre alone, in obb[0] and obb[1]; obb[4] is the heading where it is
 * `directed`. */
#define SK_HAS_POINT 0x10000u

typedef struct sk_annotation_point {
    double x, y;     /* NaN: not found */
    double score;    /* 1 where the file gives none */
    int32_t visible; /* as COCO: 0 not labelled, 1 labelled but hidden, 2 seen */
} sk_annotation_point;

typedef struct sk_annotation {
    int32_t image;    /* index into images */
    int32_t class_id; /* index into classes */
    uint32_t has;     /* SK_HAS_… */
    bool predicted;   /* a track's place where nothing was seen: what a tracker thinks */
    bool directed;    /* of a SK_HAS_POINT: obb[4] points to the head */
    bool crowd;       /* COCO's iscrowd: neither to be found nor wrong to find */
    double score;     /* 1 where the file gives none */
    double box[4];    /* x, y, width, height, as COCO */
    double obb[5];    /* cx, cy, w, h, radians */
    double area;      /* as the file gives it; NaN: not given */
    double length;    /* body length in pixels; NaN: not given */
    double visible;   /* part of the animal that is seen, 0..1; 1 where the file gives none */
    int32_t labelled; /* COCO's num_keypoints as the file gives it; -1: not given */
    int64_t track;    /* -1: none */
    size_t first;     /* index into points; n_keypoints of them when has & SK_HAS_KEYPOINTS */
} sk_annotation;

typedef struct sk_annotation_image {
    int32_t source;        /* index into sources; -1: not said */
    int64_t frame;         /* number in its source; -1: not said */
    int64_t id;            /* COCO's; -1: none */
    int32_t width, height; /* pixels; 0: not known */
    int64_t video;         /* COCO's video_id: which pictures follow one another; -1: not said */
} sk_annotation_image;

typedef struct sk_annotation_class {
    int64_t number; /* in the file; -1: none */
    char *name;     /* "": unnamed */
} sk_annotation_class;

typedef struct sk_annotation_set {
    const char *
        format; /* "CSV", "JSON lines", "COCO dataset", "COCO results", "SLEAP labels", "SLEAP analysis", "MOT text", "label text" */
    uint32_t has; /* what its annotations carry */
    size_t n_items, n_images, n_sources, n_classes, n_points;
    sk_annotation *items; /* in the file's order */
    sk_annotation_image *images;
    char **sources;
    sk_annotation_class *classes;
    sk_annotation_point *points;
    int32_t n_keypoints;
    char **keypoint_names; /* null: the file names none */
    bool every_frame;      /* also frames without annotations are listed among the images */
    bool stems;            /* sources are pictures' names without their endings */
    bool unscored;         /* the file gives no confidences: all are 1 */
    double rate;           /* frames a second, as the file says or its times tell; 0: it does not */
    sk_text notes;         /* what was there and not used, a line each; "" nothing */
    struct sk_annotation_tables *tables;
    size_t points_capacity, items_capacity, images_capacity, sources_capacity, classes_capacity;
    struct {
        int64_t frame;
        double time; /* s */
    } timed[2];      /* the earliest and the latest frame whose time is told */
    bool any_timed;
} sk_annotation_set;

#define SK_ANNOTATION_MAX_KEYPOINTS 1024

/* What the file itself does not tell. */
typedef struct sk_annotation_reading {
    const char *split; /* of a data.yaml: "train", "val", "test"; null: "val" */
    const char *
        images; /* folder of the pictures that label files are about; null: where Ultralytics looks for them */
    const struct sk_annotation_set
        *other; /* what it is compared with, already read: knows keypoints and sizes; null */
} sk_annotation_reading;

/* Reads a result or truth file, by its contents: skitter's CSV and JSON lines, a COCO dataset or result list, a SLEAP
 * .slp, Ultralytics' data.yaml. A folder stands for the result file in it that says most, or holds Ultralytics' label
 * text. `how` may be null. The set is ended by sk_annotations_free. */
sk_status sk_annotations_read_as(const char *path, const sk_annotation_reading *how, sk_annotation_set *out,
                                 sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read(const char *path, sk_annotation_set *out, sk_error *err) SK_MUST_CHECK;
/* Is this a folder of label text, whose lines do not say themselves what they hold? */
bool sk_annotations_are_labels(const char *path);
/* The same from a file's bytes; `what` names them in errors. */
sk_status sk_annotations_parse(const char *what, const void *bytes, size_t length, sk_annotation_set *out,
                               sk_error *err) SK_MUST_CHECK;
/* Makes it a list of detections: what a tracker only predicted counts no longer (`crowd`), and places without a size get an
 * oriented box of this length, half as wide. SK_ERR_ARG where there are such and `body` is 0. */
sk_status sk_annotations_as_detections(const char *what, double body, sk_annotation_set *set,
                                       sk_error *err) SK_MUST_CHECK;
void sk_annotations_free(sk_annotation_set *set);

/* --- for the readers, one file a format --- */

sk_status sk_annotations_begin(sk_annotation_set *set, const char *format, sk_error *err) SK_MUST_CHECK;
/* The index of a source, image or class; added when it is new. */
sk_status sk_annotations_source(sk_annotation_set *set, const char *name, size_t length, int32_t *out,
                                sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_image(sk_annotation_set *set, int32_t source, int64_t frame, int64_t id,
                               int32_t *out, sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_class(sk_annotation_set *set, int64_t number, const char *name, size_t length,
                               int32_t *out, sk_error *err) SK_MUST_CHECK;
/* How many keypoints an annotation has; once, before the first annotation with any. Names may be null. */
sk_status sk_annotations_keypoints(sk_annotation_set *set, int32_t count, const char *const *names,
                                   sk_error *err) SK_MUST_CHECK;
/* A new annotation with nothing in it; its keypoints (not found) are added with it when asked for. */
sk_status sk_annotations_add(sk_annotation_set *set, int32_t image, int32_t class_id, bool keypoints,
                             sk_annotation **out, sk_error *err) SK_MUST_CHECK;
/* When a frame was, in seconds (NaN: not told): what the rate is made of where the file does not say it. */
void sk_annotations_time(sk_annotation_set *set, int64_t frame, double time);
void sk_annotations_note(sk_annotation_set *set, const char *format, ...) SK_PRINTF(2, 3);

sk_status sk_annotations_read_csv(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                  sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read_jsonl(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                    sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read_coco(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                   sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read_labels(const char *folder, const sk_annotation_reading *how,
                                     sk_annotation_set *set, sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read_data_yaml(const char *path, const char *text, size_t length,
                                        const sk_annotation_reading *how, sk_annotation_set *set,
                                        sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read_mot(const char *path, const char *text, size_t length, sk_annotation_set *set,
                                  sk_error *err) SK_MUST_CHECK;
/* Does this text begin with a line of numbers alone, as MOTChallenge's does? */
bool sk_annotations_is_mot(const char *text, size_t length);
/* What seqinfo.ini beside such a file, or above its folder, says: how many frames there are, and their size. */
sk_status sk_annotations_mot_info(const char *path, sk_annotation_set *set, sk_error *err) SK_MUST_CHECK;
sk_status sk_annotations_read_slp(const char *path, const void *bytes, size_t length, sk_annotation_set *set,
                                  sk_error *err) SK_MUST_CHECK;

#endif
