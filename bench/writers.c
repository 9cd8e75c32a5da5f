/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/sink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long the writers of results take a frame, in turns: the same rows by printf (the slow obvious way, written out below
 * for CSV and JSON lines, whose files must be equal byte for byte) and by every format there is.
 * usage: writers [FOLDER [POSES [KEYPOINTS [ROUNDS]]]] */

#define MOST_POSES     100000
#define MOST_KEYPOINTS 512

typedef struct work {
    const char *folder;
    sk_run_header header;
    sk_result_frame frame;
    sk_instances all;
    int rounds;
} work;

static double dice(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static bool fill(work *w, int32_t poses, int32_t keypoints)
{
    static const char *const classes[] = {"person"};
    static char names[MOST_KEYPOINTS][16];
    static const char *pointers[MOST_KEYPOINTS];
    w->all = (sk_instances){.count = poses,
                            .capacity = poses,
                            .n_keypoints = keypoints,
                            .items = sk_calloc((size_t)poses, sizeof(sk_found)),
                            .keypoints = sk_calloc((size_t)poses * (size_t)keypoints, sizeof(sk_keypoint))};
    if (!w->all.items || !w->all.keypoints)
        return false;
    for (int32_t i = 0; i < poses; i++) {
        const float x = (float)(dice() * 1800), y = (float)(dice() * 1000);
        w->all.items[i] = (sk_found){.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                                     .score = (float)dice(),
                                     .box = {x, y, x + (float)dice() * 100, y + (float)dice() * 100},
                                     .first_keypoint = i * keypoints,
                                     .track_id = -1};
        for (int32_t k = 0; k < keypoints; k++)
            w->all.keypoints[i * keypoints + k] =
                dice() < 0.05
                    ? (sk_keypoint){NAN, NAN, 0}
                    : (sk_keypoint){x + (float)dice() * 100, y + (float)dice() * 100, (float)dice()};
    }
    for (int32_t k = 0; k < keypoints; k++) {
        snprintf(names[k], sizeof names[k], "kpt%d", k);
        pointers[k] = names[k];
    }
    w->header = (sk_run_header){.source = "in.mp4",
                                .source_kind = "video",
                                .width = 1920,
                                .height = 1080,
                                .rate = 25,
                                .source_frames = w->rounds,
                                .task = "pose",
                                .n_classes = 1,
                                .class_names = classes,
                                .n_keypoints = keypoints,
                                .keypoint_names = pointers,
                                .has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                                .runtime_requested = "cpu",
                                .runtime = "cpu",
                                .device = "",
                                .precision = "f32",
                                .settings = "",
                                .version = "0",
                                .started = "2026-01-01T00:00:00Z"};
    w->frame = (sk_result_frame){.source = "in.mp4", .width = 1920, .height = 1080, .instances = &w->all};
    return true;
}

/* --- by printf --- */

static void csv_cell(FILE *file, double value)
{
    if (isnan(value))
        fputc(',', file);
    else
        fprintf(file, ",%.7g", value);
}

static void print_csv(FILE *file, const work *w)
{
    for (int32_t i = 0; i < w->all.count; i++) {
        const sk_found *in = &w->all.items[i];
        fprintf(file, "%s,%lld,%.6f,%d,,%d,person", w->frame.source, (long long)w->frame.index, w->frame.time,
                i, in->class_id);
        csv_cell(file, (double)in->score);
        for (int k = 0; k < 4; k++)
            csv_cell(file, (double)in->box[k]);
        for (int32_t k = 0; k < w->all.n_keypoints; k++) {
            const sk_keypoint *p = &w->all.keypoints[in->first_keypoint + k];
            csv_cell(file, (double)p->x);
            csv_cell(file, (double)p->y);
            csv_cell(file, (double)p->score);
        }
        fputc('\n', file);
    }
}

static void json_number(FILE *file, const char *before, double value)
{
    fputs(before, file);
    if (isfinite(value))
        fprintf(file, "%.7g", value);
    else
        fputs("null", file);
}

static void print_jsonl(FILE *file, const work *w)
{
    fprintf(file, "{\"source\":\"%s\",\"frame\":%lld,\"time\":%.6f,\"keypoint_names\":[", w->frame.source,
            (long long)w->frame.index, w->frame.time);
    for (int32_t k = 0; k < w->all.n_keypoints; k++)
        fprintf(file, "%s\"kpt%d\"", k ? "," : "", k);
    fprintf(file, "],\"edges\":[],\"instances\":[");
    for (int32_t i = 0; i < w->all.count; i++) {
        const sk_found *in = &w->all.items[i];
        fprintf(file, "%s{\"class\":%d,\"name\":\"person\"", i ? "," : "", in->class_id);
        json_number(file, ",\"score\":", (double)in->score);
        for (int k = 0; k < 4; k++)
            json_number(file, k ? "," : ",\"box\":[", (double)in->box[k]);
        fputs("],\"keypoints\":[", file);
        for (int32_t k = 0; k < w->all.n_keypoints; k++) {
            const sk_keypoint *p = &w->all.keypoints[in->first_keypoint + k];
            json_number(file, k ? ",[" : "[", (double)p->x);
            json_number(file, ",", (double)p->y);
            json_number(file, ",", (double)p->score);
            fputc(']', file);
        }
        fputs("]}", file);
    }
    fputs("]}\n", file);
}

/* --- in turns --- */

typedef struct row {
    const char *name;
    void (*print)(FILE *file, const work *w);
    const sk_sink_kind *kind;
    sk_sink *sink;
    FILE *file;
    char path[4400];
    double *samples; /* ns a frame */
} row;

static sk_status open_row(row *r, const work *w, sk_error *err)
{
    r->samples = sk_calloc((size_t)w->rounds, sizeof *r->samples);
    if (!r->samples)
        return sk_fail_memory(err, sizeof *r->samples);
    if (r->kind) {
        snprintf(r->path, sizeof r->path, "%s/%s", w->folder, r->kind->file);
        return r->kind->open(r->path, &w->header, &r->sink, err);
    }
    snprintf(r->path, sizeof r->path, "%s/printed.%s", w->folder, r->name);
    return sk_file_create_stream(r->path, &r->file, err);
}

/* Of this thread: what other work on the machine takes is not counted. */
static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static sk_status write_row(row *r, work *w, int round, sk_error *err)
{
    const double begin = processor_ns();
    w->frame.index = round;
    w->frame.time = round / 25.0;
    sk_status status = SK_OK;
    if (r->sink)
        status = r->sink->write(r->sink, &w->frame, err);
    else
        r->print(r->file, w);
    r->samples[round] = processor_ns() - begin;
    return status;
}

static sk_status close_row(row *r, sk_error *err)
{
    sk_status status = r->sink ? r->sink->close(r->sink, err) : SK_OK;
    if (r->file && fclose(r->file) != 0)
        status = sk_fail(err, SK_ERR_IO, "%s was not written", r->path);
    return status;
}

/* Are the lines the same? The table's head is of the sink alone. */
static bool same(const char *printed, const char *written)
{
    FILE *a = fopen(printed, "rb"), *b = fopen(written, "rb");
    bool equal = a && b;
    if (equal && strstr(printed, ".csv"))
        for (int c; (c = fgetc(b)) != '\n' && c != EOF;)
            continue;
    for (int c = 0; equal && c != EOF;)
        equal = (c = fgetc(a)) == fgetc(b);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return equal;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(row *r, int rounds)
{
    qsort(r->samples, (size_t)rounds, sizeof *r->samples, compare_doubles);
    return sk_samples_percentile(r->samples, (size_t)rounds, 50) / 1e6;
}

static sk_status measure(work *w, sk_error *err)
{
    row rows[16] = {{.name = "csv", .print = print_csv}, {.name = "jsonl", .print = print_jsonl}};
    int count = 2;
    for (int k = 0; sk_sink_kinds[k] && count < 16; k++, count++)
        rows[count] = (row){.name = sk_sink_kinds[k]->name, .kind = sk_sink_kinds[k]};
    for (int i = 0; i < count; i++)
        SK_TRY(open_row(&rows[i], w, err));
    for (int round = 0; round < w->rounds; round++)
        for (int i = 0; i < count; i++)
            SK_TRY(write_row(&rows[i], w, round, err));
    for (int i = 0; i < count; i++)
        SK_TRY(close_row(&rows[i], err));
    printf("%d poses of %d keypoints a frame, %d frames, processor ms a frame: median (fastest)\n",
           w->all.count, w->all.n_keypoints, w->rounds);
    double old_sum = 0, new_sum = 0;
    for (int i = 0; i < count; i++) {
        const double ms = median(&rows[i], w->rounds);
        printf("%-12s %-8s %8.3f (%.3f)", rows[i].name, rows[i].print ? "printf" : "skitter", ms,
               rows[i].samples[0] / 1e6);
        const bool both = i == 2 || i == 3;
        if (i < 2)
            old_sum += ms;
        if (both) {
            new_sum += ms;
            printf("  printf / skitter %.1fx, files %s", median(&rows[i - 2], w->rounds) / ms,
                   same(rows[i - 2].path, rows[i].path) ? "equal" : "DIFFER");
        }
        putchar('\n');
    }
    printf("%-12s %-8s %8.3f\n%-12s %-8s %8.3f  printf / skitter %.1fx\n", "csv + jsonl", "printf", old_sum,
           "csv + jsonl", "skitter", new_sum, old_sum / new_sum);
    for (int i = 0; i < count; i++)
        sk_free(rows[i].samples);
    return same(rows[0].path, rows[2].path) && same(rows[1].path, rows[3].path)
               ? SK_OK
               : sk_fail(err, SK_ERR_INTERNAL, "the two ways differ");
}

int main(int argc, char **argv)
{
    work w = {.folder = argc > 1 ? argv[1] : "/tmp/skitter-writers",
              .rounds = argc > 4 ? atoi(argv[4]) : 200};
    const int poses = argc > 2 ? atoi(argv[2]) : 300, keypoints = argc > 3 ? atoi(argv[3]) : 17;
    sk_error err = {0};
    if (poses < 1 || poses > MOST_POSES || keypoints < 1 || keypoints > MOST_KEYPOINTS || w.rounds < 1) {
        fprintf(stderr, "usage: writers [FOLDER [POSES [KEYPOINTS [ROUNDS]]]]\n");
        return 2;
    }
    sk_status status = sk_folder_make(w.folder, &err);
    if (status == SK_OK)
        status = fill(&w, poses, keypoints) ? measure(&w, &err) : sk_fail_memory(&err, 1);
    if (status != SK_OK)
        fprintf(stderr, "writers: %s\n", err.message);
    sk_free(w.all.items);
    sk_free(w.all.keypoints);
    return status == SK_OK ? 0 : 1;
}
