/* SPDX-License-Identifier: Apache-2.0 */
/* The association alone: detections of a file through a tracker, and how long that takes.
 *
 *     track_rows ROWS TRACKS [METHOD [NAME=NUMBER…]]   tracks a file of rows (rows.py says what they hold)
 *     track_rows --speed [METHOD…]                     frames a second of processor time with 10, 100, 300, 1000
 *                                                     animals, and how it grows
 *
 * Tracks are MOTChallenge's text; boxes are those of the detections, predicted ones are not told. */
#include "base/instances.h"
#include "track/track.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 5, COLUMNS = 15 + 3 * POINTS };

typedef struct rows {
    sk_instances list;
    sk_detection *detections;
    int32_t *first; /* [frames + 1] */
    int32_t frames, n;
} rows;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "track_rows: %s: %s\n", what, why);
    exit(1);
}

/* Processor time: what else the machine does counts little. */
static int64_t spent_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void check(sk_status status, const char *what, const sk_error *err)
{
    if (status != SK_OK)
        fail(what, err->message);
}

static void *grow(void *block, size_t n, size_t each)
{
    void *more = realloc(block, (n ? n : 1) * each);
    if (!more)
        fail("memory", "none left");
    return more;
}

/* The numbers of a line; at least eight make a row. */
static int numbers(const char *line, double *v)
{
    int count = 0;
    for (char *end; count < COLUMNS; line = end + 1) {
        v[count] = strtod(line, &end);
        if (end == line)
            break;
        count++;
        if (*end != ',')
            break;
    }
    return count;
}

static void add(sk_instances *list, const double *v, int count)
{
    sk_found *f = sk_instances_add(list);
    f->score = (float)v[6];
    f->class_id = (int32_t)v[7];
    f->has = SK_HAS_BOX;
    for (int k = 0; k < 4; k++)
        f->box[k] = (float)(v[2 + k] + (k < 2 ? 0 : v[k]));
    if (count >= 15) {
        f->has |= SK_HAS_OBB;
        for (int k = 0; k < 5; k++)
            f->obb[k] = (float)v[10 + k];
    }
    if (count < COLUMNS)
        return;
    f->has |= SK_HAS_KEYPOINTS;
    for (int k = 0; k < POINTS; k++)
        list->keypoints[f->first_keypoint + k] =
            (sk_keypoint){(float)v[15 + 3 * k], (float)v[16 + 3 * k], (float)v[17 + 3 * k]};
}

static void read_rows(const char *path, rows *out)
{
    static const int32_t head[] = {0, 1}, tail[] = {3, 4};
    static const sk_pose_axis axis = {head, tail, 2, 2};
    FILE *file = fopen(path, "r");
    char line[4096];
    double v[COLUMNS];
    sk_error err = {0};
    int32_t lines = 0;
    *out = (rows){0};
    if (!file)
        fail(path, "cannot be read");
    while (fgets(line, sizeof line, file))
        lines++;
    rewind(file);
    check(sk_instances_alloc(lines ? lines : 1, POINTS, &out->list, &err), path, &err);
    while (fgets(line, sizeof line, file)) {
        const int count = numbers(line, v);
        if (count < 8)
            continue;
        const int32_t frame = (int32_t)v[0];
        if (frame < out->frames || frame > 100000000)
            fail(path, "frames must rise");
        if (frame > out->frames) {
            out->first = grow(out->first, (size_t)frame + 1, sizeof *out->first);
            for (int32_t f = out->frames; f < frame; f++)
                out->first[f] = out->n;
            out->frames = frame;
        }
        add(&out->list, v, count);
        out->n++;
    }
    fclose(file);
    if (!out->frames)
        fail(path, "no rows");
    out->first[out->frames] = out->n;
    out->detections = grow(NULL, (size_t)out->n, sizeof *out->detections);
    for (int32_t i = 0; i < out->n; i++)
        if (!sk_detection_of(&out->list, i, &axis, &out->detections[i]))
            fail(path, "a row without a place");
}

/* Settings that can be given by name. */
#define SETTING(name)                                                                                        \
    {                                                                                                        \
#name, offsetof(sk_track_settings, name)                                                             \
    }
static const struct {
    const char *name;
    size_t at;
} names[] = {
    SETTING(boxes.strong),
    SETTING(boxes.match),
    SETTING(boxes.overlap),
    SETTING(boxes.kept),
    SETTING(boxes.inertia),
    SETTING(body),
    SETTING(filter.score),
    SETTING(filter.overlap),
    SETTING(life.gate),
    SETTING(life.strong),
    SETTING(life.birth),
    SETTING(life.start),
    SETTING(life.covered),
    SETTING(life.lost),
    SETTING(life.recovery),
    SETTING(life.apart),
    SETTING(weights.position),
    SETTING(weights.heading),
    SETTING(weights.overlap),
    SETTING(weights.area),
    SETTING(weights.aspect),
    SETTING(weights.pose),
    SETTING(motion.process_noise),
    SETTING(motion.damping),
    SETTING(motion.longitudinal_noise),
    SETTING(motion.lateral_noise),
    SETTING(motion.measurement_noise),
};

static void set(sk_track_settings *s, const char *text)
{
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : strlen(text);
    static const struct {
        const char *name;
        size_t at;
    } whole[] = {SETTING(animals), SETTING(boxes.span), SETTING(boxes.hits)};
    for (size_t i = 0; equals && i < sizeof whole / sizeof *whole; i++)
        if (strlen(whole[i].name) == length && !memcmp(whole[i].name, text, length)) {
            const int32_t value = atoi(equals + 1);
            memcpy((char *)s + whole[i].at, &value, sizeof value);
            return;
        }
    if (equals && !memcmp(text, "boxes.weak=", 11)) {
        s->boxes.weak = atoi(equals + 1) != 0;
        return;
    }
    for (size_t i = 0; equals && i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && !memcmp(names[i].name, text, length)) {
            const double value = atof(equals + 1);
            memcpy((char *)s + names[i].at, &value, sizeof value);
            return;
        }
    fail(text, "no such setting");
}

static sk_tracker *open_tracker(const char *method, double fps, int n, char **settings)
{
    sk_track_settings s;
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    sk_track_defaults(&s);
    s.method = method;
    s.fps = fps;
    for (int i = 0; i < n; i++)
        set(&s, settings[i]);
    check(sk_tracker_open(&s, &tracker, &err), method, &err);
    return tracker;
}

static void track_file(const char *path, const char *tracks, const char *method, int n, char **settings)
{
    const double fps = 30;
    rows r;
    sk_error err = {0};
    read_rows(path, &r);
    FILE *file = fopen(tracks, "w");
    if (!file)
        fail(tracks, "cannot be written");
    sk_tracker *tracker = open_tracker(method, fps, n, settings);
    int64_t spent = 0;
    for (int32_t f = 0; f < r.frames; f++) {
        const sk_sighting *out;
        int32_t told;
        const sk_detection *these = &r.detections[r.first[f]];
        const int64_t begin = spent_ns();
        check(sk_tracker_step(tracker, f, f / fps, these, r.first[f + 1] - r.first[f], &out, &told, &err),
              path, &err);
        spent += spent_ns() - begin;
        for (int32_t i = 0; i < told; i++) {
            if (out[i].detection < 0)
                continue;
            const double *b = these[out[i].detection].box;
            fprintf(file, "%d,%d,%.3f,%.3f,%.3f,%.3f,%.4f,-1,-1,-1\n", f + 1, out[i].track + 1, b[0], b[1],
                    b[2] - b[0], b[3] - b[1], out[i].score);
        }
    }
    fclose(file);
    printf("%.6f\n", (double)spent * 1e-9);
    sk_tracker_close(&tracker);
    sk_instances_free(&r.list);
    free(r.detections);
    free(r.first);
}

/* Animals that wander about a square with as much room for each as the others have, as trackers see them: 4 % missed, 3 %
 * jitter. Plain, so that another program can do the same (speed.py does). */
typedef struct walker {
    double x, y, heading;
} walker;

static uint64_t bits = 1;

static double unit(void)
{
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    return (double)(bits >> 11) / 9007199254740992.0;
}

static int32_t look(walker *w, int32_t animals, double side, sk_detection *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < animals; i++) {
        w[i].heading += 0.3 * (unit() - 0.5);
        w[i].x += 2 * cos(w[i].heading);
        w[i].y += 2 * sin(w[i].heading);
        if (w[i].x < 0 || w[i].y < 0 || w[i].x > side || w[i].y > side)
            w[i].heading += 0.3;
        w[i].x = fmin(fmax(w[i].x, 0), side);
        w[i].y = fmin(fmax(w[i].y, 0), side);
        if (unit() < 0.04)
            continue;
        sk_detection d = {.score = 0.6 + 0.4 * unit(), .class_id = 0, .identity = -1};
        const double e = 0.03 * 40, c = fabs(cos(w[i].heading)), s = fabs(sin(w[i].heading));
        d.x = w[i].x + e * (unit() - 0.5);
        d.y = w[i].y + e * (unit() - 0.5);
        sk_detection_set_oriented(&d, 40 + e * unit(), 12 + 0.36 * unit(), w[i].heading);
        d.box[0] = d.x - 20 * c - 6 * s;
        d.box[1] = d.y - 20 * s - 6 * c;
        d.box[2] = d.x + 20 * c + 6 * s;
        d.box[3] = d.y + 20 * s + 6 * c;
        out[n++] = d;
    }
    return n;
}

static double speed_of(const char *method, int32_t animals)
{
    const int32_t frames = animals <= 10 ? 20000 : animals <= 100 ? 4000 : animals <= 300 ? 1000 : 300;
    const double side = 60 * sqrt((double)animals);
    walker *w = grow(NULL, (size_t)animals, sizeof *w);
    sk_detection *d = grow(NULL, (size_t)animals, sizeof *d);
    sk_tracker *tracker = open_tracker(method, 30, 0, NULL);
    sk_error err = {0};
    int64_t spent = 0;
    bits = 1;
    for (int32_t i = 0; i < animals; i++)
        w[i] = (walker){side * unit(), side * unit(), 6.28 * unit()};
    for (int32_t f = -30; f < frames; f++) {
        const sk_sighting *out;
        int32_t told;
        const int32_t n = look(w, animals, side, d);
        const int64_t begin = spent_ns();
        check(sk_tracker_step(tracker, f + 30, (f + 30) / 30.0, d, n, &out, &told, &err), method, &err);
        spent += f < 0 ? 0 : spent_ns() - begin;
    }
    sk_tracker_close(&tracker);
    free(w);
    free(d);
    return frames / ((double)spent * 1e-9);
}

int main(int argc, char **argv)
{
    static const int32_t sizes[] = {10, 100, 300, 1000};
    if (argc >= 2 && !strcmp(argv[1], "--speed")) {
        printf("%-12s %10s %10s %10s %10s   grows as\n", "frames/s", "10", "100", "300", "1000");
        const char *const *methods = sk_track_methods();
        for (int m = 0; argc > 2 ? m < argc - 2 : methods[m] != NULL; m++) {
            const char *method = argc > 2 ? argv[m + 2] : methods[m];
            double rate[4];
            for (int k = 0; k < 4; k++)
                rate[k] = speed_of(method, sizes[k]);
            printf("%-12s %10.0f %10.0f %10.0f %10.0f   N^%.2f (10 to 1000), N^%.2f (100 to 1000)\n", method,
                   rate[0], rate[1], rate[2], rate[3], log10(rate[0] / rate[3]) / 2,
                   log10(rate[1] / rate[3]));
        }
        return 0;
    }
    if (argc < 3)
        fail("usage", "track_rows ROWS TRACKS [METHOD [NAME=NUMBER…]], or track_rows --speed [METHOD…]");
    track_file(argv[1], argv[2], argc > 3 ? argv[3] : "skitter", argc > 4 ? argc - 4 : 0, argv + 4);
    return 0;
}
