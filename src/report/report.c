/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_internal.h"

#include "base/file.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"
#include "media/shrink.h"
#include "media/cutout.h"
#include "media/draw.h"
#include "media/video_sink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GROUND_SIDE  800 /* pixels of the picture behind the paths */
#define PICTURE_SIDE 240 /* of a piece of a frame */
#define PNG_SCALE    2

static sk_status copy_text(const char *text, const char *otherwise, char **out, sk_error *err)
{
    *out = sk_text_utf8_copy(text ? text : otherwise);
    return *out ? SK_OK : sk_fail_memory(err, strlen(text ? text : otherwise));
}

sk_status sk_report_open(const sk_report_settings *s, sk_report **out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_report *r = sk_calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    sk_movement_begin(&r->movement, s->width, s->height, s->fps);
    SK_TRY_GOTO(copy_text(s->title, "video", &r->title, err));
    SK_TRY_GOTO(copy_text(s->source, "", &r->source, err));
    SK_TRY_GOTO(copy_text(s->made_by, "", &r->made_by, err));
    SK_TRY_GOTO(copy_text(s->method, "skitter", &r->method, err));
    SK_TRY_GOTO(copy_text(s->animal, "animal", &r->animal, err));
    *out = r;
    r = NULL;
done:
    sk_report_close(&r);
    return status;
}

void sk_report_close(sk_report **report)
{
    sk_report *r = *report;
    if (!r)
        return;
    sk_movement_free(&r->movement);
    sk_suspects_free(&r->suspects);
    for (int i = 0; i < SK_SUSPECTS_MOST; i++)
        sk_free(r->pictures[i].jpeg);
    char *const texts[] = {r->title, r->source, r->made_by, r->method, r->animal};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sk_free(texts[i]);
    sk_free(r->ground.data);
    sk_free(r);
    *report = NULL;
}

sk_status sk_report_take(sk_report *r, int64_t frame, double time, const sk_sighting *sightings, int32_t n,
                         sk_error *err)
{
    SK_TRY(sk_movement_take(&r->movement, frame, time, sightings, n, err));
    return sk_suspects_take(&r->suspects, sightings, n, err);
}

void sk_report_end_frames(sk_report *r)
{
    sk_suspects_end(&r->suspects);
}

const sk_suspect *sk_report_suspects(const sk_report *r, int32_t *count)
{
    *count = r->suspects.n_worst;
    return r->suspects.worst;
}

/* --- pictures --- */

/* A part of a frame in another size, its data by sk_malloc. `pale`: how much of it is white. */
static sk_status small_copy(const sk_frame *f, const int part[4], int width, int height, double pale,
                            sk_frame *out, sk_error *err)
{
    SK_TRY(sk_frame_shrink(f, part, width, height, out, err));
    uint8_t paler[256];
    for (int i = 0; i < 256; i++)
        paler[i] = (uint8_t)lrint(i + (255 - i) * pale);
    for (size_t i = 0; pale > 0 && i < (size_t)out->stride * (size_t)height; i++)
        out->data[i] = paler[out->data[i]];
    return SK_OK;
}

sk_status sk_report_ground(sk_report *r, const sk_frame *frame, sk_error *err)
{
    const double scale = fmin(1, (double)GROUND_SIDE / fmax(frame->width, frame->height));
    sk_frame ground;
    SK_TRY(small_copy(frame, (const int[]){0, 0, frame->width, frame->height},
                      (int)fmax(1, lrint(frame->width * scale)), (int)fmax(1, lrint(frame->height * scale)),
                      0.6, &ground, err));
    sk_free(r->ground.data);
    r->ground = ground;
    return SK_OK;
}

sk_status sk_report_picture(sk_report *r, int32_t i, const sk_frame *frame, sk_error *err)
{
    SK_CHECK_ARG(i >= 0 && i < r->suspects.n_worst, err);
    const sk_suspect *s = &r->suspects.worst[i];
    const int least = frame->width < frame->height ? frame->width : frame->height;
    const int side = (int)fmin(fmax(4 * s->body, 32), least);
    int x = (int)lrint(s->x) - side / 2, y = (int)lrint(s->y) - side / 2;
    x = x < 0 ? 0 : x + side > frame->width ? frame->width - side : x;
    y = y < 0 ? 0 : y + side > frame->height ? frame->height - side : y;
    const int small = side < PICTURE_SIDE ? side : PICTURE_SIDE;
    sk_frame piece;
    SK_TRY(small_copy(frame, (const int[]){x, y, x + side, y + side}, small, small, 0, &piece, err));
    report_picture *picture = &r->pictures[i];
    sk_free(picture->jpeg);
    *picture = (report_picture){.width = small, .height = small};
    sk_status status = sk_picture_jpeg(&piece, 82, &picture->jpeg, &picture->length, err);
    sk_free(piece.data);
    return status;
}

/* --- writing --- */

static sk_status put(const char *folder, const char *name, const char *ending, const void *bytes,
                     size_t length, sk_error *err)
{
    char file[64];
    snprintf(file, sizeof file, "%s%s", name, ending);
    char *path = sk_path_join(folder, file);
    sk_status status = path ? sk_file_put(path, bytes, length, err) : sk_fail_memory(err, 64);
    sk_free(path);
    return status;
}

static sk_status put_png(const char *folder, const char *name, const sk_chart *chart, sk_error *err)
{
    char file[64];
    sk_frame pixels;
    snprintf(file, sizeof file, "%s.png", name);
    SK_TRY(sk_chart_to_pixels(chart, PNG_SCALE, &pixels, err));
    char *path = sk_path_join(folder, file);
    sk_status status = path ? sk_picture_write_drawing(path, &pixels, err) : sk_fail_memory(err, 64);
    sk_free(path);
    sk_free(pixels.data);
    return status;
}

enum { PLOTS_MOST = 16, PLOT_THREADS = 8 };

typedef struct plot_work {
    const sk_report *report;
    const char *folder;
    struct plot_done {
        bool drawn;
        sk_text svg;
        sk_status status;
        sk_error err;
    } done[PLOTS_MOST];
} plot_work;

static sk_status write_plot(const plot_work *w, const report_plot *plot, struct plot_done *d, sk_error *err)
{
    sk_chart chart = {0};
    sk_status status = SK_OK;
    d->drawn = plot->draw(w->report, &chart);
    if (d->drawn) {
        SK_TRY_GOTO(sk_chart_to_svg(&chart, &d->svg, err));
        SK_TRY_GOTO(put(w->folder, plot->name, ".svg", sk_text_get(&d->svg), d->svg.length, err));
        SK_TRY_GOTO(put_png(w->folder, plot->name, &chart, err));
    }
done:
    sk_chart_free(&chart);
    return status;
}

static void write_part(void *context, int32_t part, int32_t part_count)
{
    plot_work *w = context;
    (void)part_count;
    w->done[part].status = write_plot(w, &report_plot_list[part], &w->done[part], &w->done[part].err);
}

static int32_t plot_count(void)
{
    int32_t n = 0;
    while (report_plot_list[n].name && n < PLOTS_MOST)
        n++;
    return n;
}

/* Plots know nothing of each other: packing their pixels is most of a report's time, and cores are free by then. */
static sk_status write_plots(plot_work *w, sk_error *err)
{
    const int32_t n = plot_count();
    sk_pool_settings how = sk_pool_defaults();
    sk_pool *pool = NULL;
    how.threads = sk_cpu_usable_cores() < PLOT_THREADS ? sk_cpu_usable_cores() : PLOT_THREADS;
    how.spin_us = 0;
    SK_TRY(sk_pool_open(&how, &pool, err));
    sk_pool_run(pool, write_part, w, n);
    sk_pool_close(&pool);
    for (int32_t i = 0; i < n; i++)
        if (w->done[i].status != SK_OK) {
            if (err)
                *err = w->done[i].err;
            return w->done[i].status;
        }
    return SK_OK;
}

/* Drawings and the pictures of moments have nothing in common but the page: the one are made while the others are found. */
typedef struct both {
    plot_work *plots;
    const sk_report_pictures *pictures;
    sk_status status[2];
    sk_error err[2];
} both;

static void make_part(void *context, int32_t part, int32_t part_count)
{
    both *b = context;
    (void)part_count;
    b->status[part] =
        part ? write_plots(b->plots, &b->err[1]) : b->pictures->show(b->pictures->context, &b->err[0]);
}

static sk_status make_both(plot_work *plots, const sk_report_pictures *pictures, sk_error *err)
{
    sk_pool_settings how = sk_pool_defaults();
    sk_pool *pool = NULL;
    both b = {.plots = plots, .pictures = pictures};
    how.threads = sk_cpu_usable_cores() < 2 ? 1 : 2;
    how.spin_us = 0;
    SK_TRY(sk_pool_open(&how, &pool, err));
    sk_pool_run(pool, make_part, &b, 2);
    sk_pool_close(&pool);
    const int bad = b.status[0] == SK_OK;
    if (b.status[bad] != SK_OK && err)
        *err = b.err[bad];
    return b.status[bad];
}

sk_status sk_report_write(sk_report *r, const char *folder, const sk_report_time *times, int32_t n_times,
                          const sk_report_pictures *pictures, sk_error *err)
{
    sk_status status = SK_OK;
    sk_text page = {0};
    report_drawing drawings[PLOTS_MOST];
    int32_t n = 0;
    char *plots = sk_path_join(folder, "plots");
    plot_work *work = sk_calloc(1, sizeof *work);
    if (!plots || !work) {
        status = sk_fail_memory(err, sizeof *work);
        goto done;
    }
    work->report = r;
    work->folder = plots;
    SK_TRY_GOTO(sk_folder_make(plots, err));
    SK_TRY_GOTO(pictures ? make_both(work, pictures, err) : write_plots(work, err));
    for (int32_t i = 0; i < plot_count(); i++)
        if (work->done[i].drawn)
            drawings[n++] = (report_drawing){&report_plot_list[i], sk_text_get(&work->done[i].svg)};
    report_page(r, drawings, n, times, n_times, &page);
    SK_TRY_GOTO(sk_text_status(&page, err));
    SK_TRY_GOTO(put(folder, "report", ".html", sk_text_get(&page), page.length, err));
done:
    for (int i = 0; work && i < PLOTS_MOST; i++)
        sk_text_free(&work->done[i].svg);
    sk_text_free(&page);
    sk_free_all(work, plots);
    return status;
}
