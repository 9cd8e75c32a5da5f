/* SPDX-License-Identifier: Apache-2.0 */
#include "app/finder_background.h"

#include "base/memory.h"
#include "media/reader.h"
#include "media/source_told.h"

#define FOUND_MOST 4096 /* as sk_background_settings.most_found */

/* How frames come that nobody but the background looks at. */
static sk_source_settings media_of(const sk_finder_source *source)
{
    sk_source_settings m = *source->media;
    m.format = SK_PIXEL_RGB;
    m.accepts = NULL;
    m.n_accepts = 0;
    return m;
}

sk_status sk_finder_background_prime(sk_finder_background *f, const sk_finder_source *s, sk_error *err)
{
    SK_TRY(sk_background_open(&f->wish->background, s->info->width, s->info->height, &f->background, err));
    SK_TRY(sk_instances_alloc(FOUND_MOST, 0, &f->found, err));
    const int64_t wanted = sk_background_wanted(f->background), frames = s->info->frames;
    sk_source_settings m = media_of(s);
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    if (s->info->once || s->info->kind == SK_SOURCE_LIVE)
        return SK_OK;
    if (!m.ranges && frames > wanted)
        m.step = (m.step > 0 ? m.step : 1) * (frames / wanted);
    m.loop = 1;
    SK_TRY(sk_source_open(s->source, &m, &source, err));
    sk_status status = SK_OK;
    for (int64_t i = 0; i < wanted && status == SK_OK; i++) {
        status = sk_source_next(source, &frame, err);
        if (status != SK_OK || !frame)
            break;
        status = sk_background_prime(f->background, frame, err);
        sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return status;
}

/* The background follows what it sees: frames that were looked at already are shown to it again. */
static sk_status catch_up(sk_finder_background *f, const sk_finder_source *s, sk_error *err)
{
    const sk_source_settings m = media_of(s);
    sk_source *source = NULL;
    if (s->last < 0)
        return SK_OK;
    SK_TRY(sk_source_open(s->source, &m, &source, err));
    sk_status status = SK_OK;
    for (bool known = true; known && status == SK_OK;) {
        const sk_frame *frame = NULL;
        status = sk_source_next(source, &frame, err);
        known = status == SK_OK && frame && frame->index <= s->last;
        if (known)
            status = sk_background_find(f->background, frame, &f->found, err);
        if (frame)
            sk_source_release(source, frame);
    }
    sk_source_close(&source);
    return status;
}

static void end(void *context)
{
    sk_finder_background *f = context;
    sk_background_close(&f->background);
    sk_instances_free(&f->found);
}

/* A live source tells its size with its first frame: the background is then made by that. */
static sk_status begin(void *context, const sk_finder_source *source, sk_error *err)
{
    end(context);
    if (source->info->width <= 0 || source->info->height <= 0)
        return SK_OK;
    SK_TRY(sk_finder_background_prime(context, source, err));
    return catch_up(context, source, err);
}

static sk_status find(void *context, const sk_frame *frame, const sk_instances **found, sk_error *err)
{
    sk_finder_background *f = context;
    if (!f->background) {
        SK_TRY(sk_background_open(&f->wish->background, frame->width, frame->height, &f->background, err));
        SK_TRY(sk_instances_alloc(FOUND_MOST, 0, &f->found, err));
    }
    f->found.count = 0;
    SK_TRY(sk_background_find(f->background, frame, &f->found, err));
    *found = &f->found;
    return SK_OK;
}

void sk_finder_background_identity(const sk_track_wish *wish, sk_text *out)
{
    char number[SK_TEXT_NUMBER];
    sk_text_append(out, "detector\tbackground\n");
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        if (sk_track_setting_finds(s))
            sk_text_appendf(out, "%s\t%s\n", s->name,
                            sk_text_number(sk_track_setting_get(s, wish), 15, number, sizeof number));
    }
}

sk_status sk_finder_background_open(const sk_track_wish *wish, sk_finder_background *f, sk_error *err)
{
    static const char *const classes[] = {"animal"};
    *f = (sk_finder_background){.wish = wish};
    sk_finder_background_identity(wish, &f->identity);
    f->finder = (sk_finder){.name = "background",
                            .identity = sk_text_get(&f->identity),
                            .n_classes = 1,
                            .class_names = classes,
                            .oriented = true,
                            .begin = begin,
                            .find = find,
                            .end = end,
                            .context = f};
    return sk_text_status(&f->identity, err);
}

void sk_finder_background_close(sk_finder_background *f)
{
    end(f);
    sk_text_free(&f->identity);
}
