/* SPDX-License-Identifier: Apache-2.0 */
#include "app/scene_truth.h"

#include "base/memory.h"
#include "results/text_sink.h"

#include <math.h>

void sk_scene_truth_header(FILE *file)
{
    fprintf(file, "source,frame,time,instance,track,class,name,score,x1,y1,x2,y2,cx,cy,w,h,angle");
    for (int k = 0; k < SK_SCENE_KEYPOINTS; k++) {
        const char *name = sk_scene_keypoint_names[k];
        fprintf(file, ",%s_x,%s_y,%s_visible", name, name, name);
    }
    fprintf(file, ",visible,length\n");
}

void sk_scene_truth_rows(FILE *file, const char *source, int64_t frame, double time,
                         const sk_scene_animal *animals, int32_t count)
{
    char *quoted = sk_escape_csv(source);
    for (int32_t i = 0; i < count; i++) {
        const sk_scene_animal *a = &animals[i];
        fputs(quoted ? quoted : "", file);
        fprintf(file, ",%lld,%.6f,%d,%d,%d,%s,1", (long long)frame, time, i, a->track, a->species,
                sk_species_names[a->species]);
        for (int k = 0; k < 4; k++)
            fprintf(file, ",%.3f", (double)a->box[k]);
        for (int k = 0; k < 5; k++)
            fprintf(file, k < 4 ? ",%.3f" : ",%.5f", (double)a->obb[k]);
        for (int k = 0; k < SK_SCENE_KEYPOINTS; k++)
            fprintf(file, ",%.3f,%.3f,%d", (double)a->points[k][0], (double)a->points[k][1], a->seen[k]);
        fprintf(file, ",%.3f,%.2f\n", (double)a->visible, (double)a->length);
    }
    sk_free(quoted);
}

static void label_corners(FILE *file, const sk_scene_animal *a, double w, double h)
{
    const double c = cos((double)a->obb[4]), s = sin((double)a->obb[4]);
    static const int signs[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (int k = 0; k < 4; k++) {
        double u = 0.5 * signs[k][0] * (double)a->obb[2], v = 0.5 * signs[k][1] * (double)a->obb[3];
        double x = ((double)a->obb[0] + u * c - v * s) / w, y = ((double)a->obb[1] + u * s + v * c) / h;
        /* label files hold places within the picture */
        fprintf(file, " %.6f %.6f", fmin(fmax(x, 0.0), 1.0), fmin(fmax(y, 0.0), 1.0));
    }
}

void sk_scene_label_rows(FILE *file, sk_scene_labels kind, int32_t width, int32_t height,
                         const sk_scene_animal *animals, int32_t count)
{
    const double w = (double)width, h = (double)height;
    for (int32_t i = 0; i < count; i++) {
        const sk_scene_animal *a = &animals[i];
        if (a->visible < SK_SCENE_LABEL_VISIBLE)
            continue;
        fprintf(file, "%d", a->species);
        if (kind == SK_SCENE_LABELS_OBB) {
            label_corners(file, a, w, h);
        } else {
            fprintf(file, " %.6f %.6f %.6f %.6f", ((double)a->box[0] + (double)a->box[2]) / 2 / w,
                    ((double)a->box[1] + (double)a->box[3]) / 2 / h,
                    ((double)a->box[2] - (double)a->box[0]) / w, ((double)a->box[3] - (double)a->box[1]) / h);
        }
        for (int k = 0; k < SK_SCENE_KEYPOINTS && kind == SK_SCENE_LABELS_POSE; k++) {
            bool inside = a->seen[k] != SK_POINT_OUTSIDE;
            fprintf(file, " %.6f %.6f %d", inside ? (double)a->points[k][0] / w : 0.0,
                    inside ? (double)a->points[k][1] / h : 0.0, a->seen[k]);
        }
        fputc('\n', file);
    }
}

void sk_scene_dataset(FILE *file, sk_scene_labels kind)
{
    fprintf(file, "# made by skitter scene\ntrain: images\nval: images\n");
    if (kind == SK_SCENE_LABELS_POSE) {
        fprintf(file, "kpt_shape: [%d, 3]\nflip_idx: [", SK_SCENE_KEYPOINTS);
        for (int k = 0; k < SK_SCENE_KEYPOINTS; k++) /* all lie on the spine: a mirror image changes none */
            fprintf(file, "%s%d", k ? ", " : "", k);
        fprintf(file, "]\n");
    }
    fprintf(file, "names:\n");
    for (int i = 0; i < SK_SPECIES_COUNT; i++)
        fprintf(file, "  %d: %s\n", i, sk_species_names[i]);
}
