/* SPDX-License-Identifier: Apache-2.0 */
#include "app/frame_reader.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "app/overlay_run.h"
#include "base/object.h"
#include "media/overlay.h"
#include "media/reader.h"
#include "media/shrink.h"
#include "media/video_sink.h"

#include <string.h>

#define QUALITY    85
#define KEPT       32 /* pictures … */
#define KEPT_BYTES ((size_t)16 << 20)
#define TRAIL      30 /* frames: as overlays have it */
#define BACK       11 /* frames that are kept for who goes back */

typedef struct kept {
    int64_t n;
    int32_t width;
    sk_blob *jpeg; /* null: this place is free */
    int64_t used;
} kept;

struct sk_frame_reader {
    char *source;
    bool pictures;
    sk_reader *reader;
    atomic_bool stop;
    sk_slot slot;
    int64_t held;        /* the slot's frame; -1: none */
    int64_t asked, from; /* the frame that was asked for last, and the first that was kept on the way to it */
    kept items[KEPT];
    size_t kept_bytes;
    int64_t clock;
};

static sk_source_settings settings_of(int64_t first)
{
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    s.first = first;
    s.last = first >= 0 ? first + 1 : -1;
    const int32_t cores = sk_cpu_usable_cores();
    s.threads = cores < 2 ? 2 : cores > 8 ? 8 : cores;
    return s;
}

sk_status sk_frame_reader_open(const char *source, const char *topic, sk_frame_reader **out, sk_error *err)
{
    *out = NULL;
    if (sk_uri_is_live(source) || sk_uri_is_once(source))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: gives its frames once; there is nothing to go back to",
                       source);
    sk_frame_reader *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    atomic_init(&r->stop, false);
    r->held = r->asked = -1;
    r->source = sk_strdup(source);
    r->pictures = sk_uri_is_pictures(source);
    sk_source_settings s = settings_of(0);
    s.last = -1;
    s.topic = topic;
    sk_status status = r->source ? SK_OK : sk_fail_memory(err, strlen(source));
    if (status == SK_OK && !r->pictures)
        status = sk_reader_open_file(sk_uri_path(source), &s, &r->reader, err);
    if (r->reader)
        r->reader->stop = &r->stop;
    return SK_HAND_OVER(status, r, out, sk_frame_reader_close);
}

void sk_frame_reader_close(sk_frame_reader **pointer)
{
    SK_TAKE_OR_RETURN(r, pointer);
    if (r->reader)
        r->reader->close(r->reader);
    for (int i = 0; i < KEPT; i++)
        sk_blob_unref(&r->items[i].jpeg);
    sk_slot_free(&r->slot);
    sk_free_all(r->source, r);
}

/* Pictures are a list of files: the one that is wanted is opened. */
static sk_status read_picture(sk_frame_reader *r, int64_t n, bool *end, sk_error *err)
{
    const sk_source_settings s = settings_of(n);
    sk_reader *reader = NULL;
    SK_TRY(sk_reader_open_pictures(r->source, &s, &reader, err));
    reader->stop = &r->stop;
    const sk_status status = reader->read(reader, &r->slot, end, err);
    reader->close(reader);
    return status;
}

/* The frame itself, or, where it cannot be there by then (0: whenever), an earlier one or the one before. */
static sk_status read_frame(sk_frame_reader *r, int64_t n, int64_t by_ns, sk_error *err)
{
    const int64_t before = r->held;
    bool end = false;
    if (before == n)
        return SK_OK;
    r->held = -1;
    if (r->pictures) {
        SK_TRY(read_picture(r, n, &end, err));
    } else {
        r->reader->give_by_ns = before >= 0 ? by_ns : 0;
        SK_TRY(r->reader->seek(r->reader, n, err));
        SK_TRY(r->reader->read(r->reader, &r->slot, &end, err));
    }
    const bool late = before >= 0 && by_ns && sk_clock_ns() >= by_ns;
    if (end && late) { /* nothing came yet */
        r->held = before;
        return SK_OK;
    }
    if (end || (r->slot.frame.index != n && !late))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: has no frame %lld", r->source, (long long)n);
    r->held = r->slot.frame.index;
    return SK_OK;
}

sk_status sk_frame_reader_get(sk_frame_reader *r, int64_t n, const sk_frame **frame, sk_error *err)
{
    *frame = NULL;
    SK_CHECK_ARG(n >= 0, err);
    SK_TRY(read_frame(r, n, 0, err));
    *frame = &r->slot.frame;
    return SK_OK;
}

/* --- drawing --- */

static sk_status draw_one(sk_overlay *overlay, sk_frame *frame, const sk_result_frame *told, sk_error *err)
{
    const int32_t n = told->sightings ? told->instances->count : 0;
    sk_overlay_track *tracks = sk_calloc((size_t)n + 1, sizeof *tracks);
    if (!tracks)
        return sk_fail_memory(err, (size_t)n * sizeof *tracks);
    for (int32_t i = 0; i < n; i++)
        tracks[i] = sk_overlay_track_of(&told->sightings[i]);
    sk_overlay_draw_tracks(overlay, frame, told->instances, told->sightings ? tracks : NULL);
    sk_free(tracks);
    return SK_OK;
}

/* Frames before it tell where the trails are; they are drawn on a picture of one pixel. */
static sk_status draw_all(const sk_frame_wanted *w, sk_overlay *overlay, sk_frame *frame, sk_error *err)
{
    uint8_t pixel[3];
    sk_frame nothing = SK_FRAME_INIT;
    nothing.format = SK_PIXEL_RGB;
    nothing.width = nothing.height = 1;
    nothing.stride = 3;
    nothing.data = pixel;
    int64_t place = sk_run_view_place(w->view, w->n > TRAIL ? w->n - TRAIL : 0);
    for (int64_t n; (n = sk_run_view_number(w->view, place)) >= 0 && n <= w->n; place++) {
        sk_result_frame told;
        SK_TRY(sk_run_view_frame(w->view, n, &told, err));
        SK_TRY(draw_one(overlay, n == w->n ? frame : &nothing, &told, err));
    }
    return SK_OK;
}

static sk_status draw(const sk_frame_wanted *w, sk_frame *frame, sk_error *err)
{
    sk_overlay_settings how;
    sk_overlay *overlay = NULL;
    sk_run_view_info info;
    sk_run_view_get_info(w->view, &info);
    sk_overlay_defaults(&how);
    how.n_classes = info.header->n_classes;
    how.class_names = info.header->class_names;
    how.n_edges = info.header->n_edges;
    how.edges = info.header->edges;
    how.what = w->draw;
    SK_TRY(sk_overlay_open(&how, &overlay, err));
    const sk_status status = draw_all(w, overlay, frame, err);
    sk_overlay_close(&overlay);
    return status;
}

/* --- pictures --- */

static void release(void *bytes)
{
    sk_free(bytes);
}

static sk_status encode(const sk_frame *frame, int32_t width, sk_blob **out, sk_error *err)
{
    sk_frame small = {0};
    uint8_t *bytes = NULL;
    size_t length = 0;
    const sk_frame *shown = frame;
    if (width > 0 && width < frame->width) {
        const int part[4] = {0, 0, frame->width, frame->height};
        const int64_t height = (int64_t)frame->height * width / frame->width;
        SK_TRY(sk_frame_shrink(frame, part, width, height > 0 ? (int)height : 1, &small, err));
        shown = &small;
    }
    sk_status status = sk_picture_jpeg(shown, QUALITY, &bytes, &length, err);
    sk_free(small.data);
    if (status == SK_OK)
        status = sk_blob_wrap(bytes, length, release, bytes, out, err);
    if (status != SK_OK)
        sk_free(bytes);
    return status;
}

static void keep(sk_frame_reader *r, const sk_frame_wanted *w, sk_blob *jpeg)
{
    if (sk_blob_bytes(jpeg) > KEPT_BYTES / 4)
        return;
    for (;;) {
        kept *oldest = NULL, *free_one = NULL;
        for (int i = 0; i < KEPT; i++) {
            kept *k = &r->items[i];
            if (!k->jpeg)
                free_one = k;
            else if (!oldest || k->used < oldest->used)
                oldest = k;
        }
        if (free_one && r->kept_bytes + sk_blob_bytes(jpeg) <= KEPT_BYTES) {
            *free_one = (kept){w->n, w->width, sk_blob_ref(jpeg), ++r->clock};
            r->kept_bytes += sk_blob_bytes(jpeg);
            return;
        }
        r->kept_bytes -= sk_blob_bytes(oldest->jpeg);
        sk_blob_unref(&oldest->jpeg);
    }
}

static sk_status drawn_copy(const sk_frame_wanted *w, const sk_frame *frame, sk_frame *copy, sk_error *err)
{
    const int part[4] = {0, 0, frame->width, frame->height};
    SK_TRY(sk_frame_shrink(frame, part, frame->width, frame->height, copy, err));
    return draw(w, copy, err);
}

static bool find_kept(sk_frame_reader *r, int64_t n, int32_t width, sk_blob **out)
{
    for (int i = 0; i < KEPT; i++)
        if (r->items[i].jpeg && r->items[i].n == n && r->items[i].width == width) {
            r->items[i].used = ++r->clock;
            *out = sk_blob_ref(r->items[i].jpeg);
            return true;
        }
    return false;
}

/* The picture of the frame that the slot holds. */
static sk_status picture_of_held(sk_frame_reader *r, const sk_frame_wanted *wanted, sk_blob **out,
                                 sk_error *err)
{
    sk_frame copy = {0};
    sk_frame_wanted w = *wanted;
    w.n = r->held;
    if (!w.view && find_kept(r, w.n, w.width, out))
        return SK_OK;
    sk_status status = w.view ? drawn_copy(&w, &r->slot.frame, &copy, err) : SK_OK;
    if (status == SK_OK)
        status = encode(w.view ? &copy : &r->slot.frame, w.width, out, err);
    sk_free(copy.data);
    if (status == SK_OK && !w.view)
        keep(r, &w, *out);
    return status;
}

/* Who goes back frame by frame wants those before it next: they are kept on the way, for each costs the way from a key frame. */
static int64_t first_to_keep(sk_frame_reader *r, const sk_frame_wanted *w)
{
    if (w->n < r->asked && r->asked - w->n <= BACK && !w->view && !r->pictures)
        r->from = w->n > BACK ? w->n - BACK : 0;
    else if (w->n != r->asked)
        r->from = w->n;
    r->asked = w->n;
    return r->held >= r->from && r->held < w->n ? r->held + 1 : r->from;
}

sk_status sk_frame_reader_jpeg(sk_frame_reader *r, const sk_frame_wanted *w, sk_blob **out, int64_t *given,
                               sk_error *err)
{
    const int64_t by_ns = w->within > 0 ? sk_clock_ns() + (int64_t)w->within * 1000000 : 0;
    *out = NULL;
    *given = w->n;
    SK_CHECK_ARG(w->n >= 0, err);
    if (!w->view && find_kept(r, w->n, w->width, out)) { /* what is drawn may change */
        r->asked = w->n;
        return SK_OK;
    }
    for (int64_t n = first_to_keep(r, w);; n++) {
        sk_blob_unref(out);
        SK_TRY(read_frame(r, n, by_ns, err));
        SK_TRY(picture_of_held(r, w, out, err));
        *given = r->held;
        if (n == w->n || r->held != n || (by_ns && sk_clock_ns() >= by_ns))
            return SK_OK;
    }
}
