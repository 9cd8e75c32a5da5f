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

static void whole(sk_text_out *out, char before, int64_t value)
{
    sk_out_char(out, before);
    sk_out_int(out, value);
}

static void fixed(sk_text_out *out, char before, double value, int decimals)
{
    sk_out_char(out, before);
    sk_out_f(out, value, decimals);
}

void sk_scene_truth_rows(FILE *file, const char *source, int64_t frame, double time,
                         const sk_scene_animal *animals, int32_t count)
{
    sk_text_out out = {.file = file};
    char *quoted = sk_escape_csv(source);
    for (int32_t i = 0; i < count; i++) {
        const sk_scene_animal *a = &animals[i];
        sk_out_text(&out, quoted ? quoted : "");
        whole(&out, ',', frame);
        fixed(&out, ',', time, 6);
        whole(&out, ',', i);
        whole(&out, ',', a->track);
        whole(&out, ',', a->species);
        sk_out_char(&out, ',');
        sk_out_text(&out, sk_species_names[a->species]);
        sk_out_text(&out, ",1");
        for (int k = 0; k < 4; k++)
            fixed(&out, ',', (double)a->box[k], 3);
        for (int k = 0; k < 5; k++)
            fixed(&out, ',', (double)a->obb[k], k < 4 ? 3 : 5);
        for (int k = 0; k < SK_SCENE_KEYPOINTS; k++) {
            fixed(&out, ',', (double)a->points[k][0], 3);
            fixed(&out, ',', (double)a->points[k][1], 3);
            whole(&out, ',', a->seen[k]);
        }
        fixed(&out, ',', (double)a->visible, 3);
        fixed(&out, ',', (double)a->length, 2);
        sk_out_char(&out, '\n');
    }
    sk_out_push(&out);
    sk_free(quoted);
}

void sk_scene_mot_rows(FILE *file, int64_t frame, const sk_scene_animal *animals, int32_t count)
{
    sk_text_out out = {.file = file};
    for (int32_t i = 0; i < count; i++) {
        const sk_scene_animal *a = &animals[i];
        /* TrackEval counts class 1 only, and lets go of what is found at a distractor, class 8 */
        const bool counts = (double)a->visible >= SK_SCENE_COUNTS_VISIBLE;
        sk_out_int(&out, frame + 1);
        whole(&out, ',', a->track + 1);
        fixed(&out, ',', (double)a->box[0], 3);
        fixed(&out, ',', (double)a->box[1], 3);
        fixed(&out, ',', (double)a->box[2] - (double)a->box[0], 3);
        fixed(&out, ',', (double)a->box[3] - (double)a->box[1], 3);
        whole(&out, ',', counts);
        whole(&out, ',', counts ? 1 : 8);
        fixed(&out, ',', (double)a->visible, 3);
        sk_out_char(&out, '\n');
    }
    sk_out_push(&out);
}

static void label_corners(sk_text_out *out, const sk_scene_animal *a, double w, double h)
{
    const double c = cos((double)a->obb[4]), s = sin((double)a->obb[4]);
    static const int signs[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (int k = 0; k < 4; k++) {
        double u = 0.5 * signs[k][0] * (double)a->obb[2], v = 0.5 * signs[k][1] * (double)a->obb[3];
        double x = ((double)a->obb[0] + u * c - v * s) / w, y = ((double)a->obb[1] + u * s + v * c) / h;
        /* label files hold places within the picture */
        fixed(out, ' ', fmin(fmax(x, 0.0), 1.0), 6);
        fixed(out, ' ', fmin(fmax(y, 0.0), 1.0), 6);
    }
}

void sk_scene_label_rows(FILE *file, sk_scene_labels kind, int32_t width, int32_t height,
                         const sk_scene_animal *animals, int32_t count)
{
    sk_text_out out = {.file = file};
    const double w = (double)width, h = (double)height;
    for (int32_t i = 0; i < count; i++) {
        const sk_scene_animal *a = &animals[i];
        if (a->visible < SK_SCENE_LABEL_VISIBLE)
            continue;
        sk_out_int(&out, a->species);
        if (kind == SK_SCENE_LABELS_OBB) {
            label_corners(&out, a, w, h);
        } else {
            fixed(&out, ' ', ((double)a->box[0] + (double)a->box[2]) / 2 / w, 6);
            fixed(&out, ' ', ((double)a->box[1] + (double)a->box[3]) / 2 / h, 6);
            fixed(&out, ' ', ((double)a->box[2] - (double)a->box[0]) / w, 6);
            fixed(&out, ' ', ((double)a->box[3] - (double)a->box[1]) / h, 6);
        }
        for (int k = 0; k < SK_SCENE_KEYPOINTS && kind == SK_SCENE_LABELS_POSE; k++) {
            bool inside = a->seen[k] != SK_POINT_OUTSIDE;
            fixed(&out, ' ', inside ? (double)a->points[k][0] / w : 0.0, 6);
            fixed(&out, ' ', inside ? (double)a->points[k][1] / h : 0.0, 6);
            whole(&out, ' ', a->seen[k]);
        }
        sk_out_char(&out, '\n');
    }
    sk_out_push(&out);
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
