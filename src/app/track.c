/* SPDX-License-Identifier: Apache-2.0 */
#include "app/track_internal.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "media/reader.h"

#include <string.h>

void sk_track_wish_defaults(sk_track_wish *wish)
{
    *wish = (sk_track_wish){.cached = true, .report = true};
    sk_track_defaults(&wish->track);
    sk_offline_defaults(&wish->offline);
    sk_background_defaults(&wish->background);
}

/* Everything that changes tracks; the rest of the run's identity is predict's. */
static sk_status write_identity(const sk_track_wish *wish, sk_text *out, sk_error *err)
{
    char number[SK_TEXT_NUMBER];
    sk_text_appendf(out, "tracker\t%s\n", wish->track.method);
    sk_text_appendf(out, "tracking\t%s\n", wish->online ? "online" : "offline");
    sk_text_appendf(out, "backward\t%d\n", wish->offline.backward);
    sk_text_appendf(out, "offline steps\t%s\n", wish->offline.upstream ? "upstream" : "skitter");
    sk_text_appendf(out, "interpolation\t%d\n", (int)wish->offline.method);
    sk_text_appendf(out, "tell_covered\t%d\n", wish->track.tell_covered);
    sk_text_appendf(out, "tell_lost\t%d\n", wish->track.tell_lost);
    sk_text_appendf(out, "points\t%s to %s\n", wish->tail_points, wish->head_points);
    sk_text_appendf(out, "region\t%s\n", wish->region_text ? wish->region_text : "");
    for (size_t i = 0; sk_track_setting_at(i); i++) {
        const sk_track_setting *s = sk_track_setting_at(i);
        if (sk_track_setting_finds(s))
            continue;
        sk_text_appendf(out, "track.%s\t%s\n", s->name,
                        sk_text_number(sk_track_setting_get(s, wish), 15, number, sizeof number));
    }
    return sk_text_status(out, err);
}

static sk_status list_files(const sk_predict_settings *s, sk_consumers *list, sk_error *err)
{
    for (int32_t i = 0; i < s->n_formats; i++)
        SK_TRY(sk_consumers_add(list, sk_consumer_file(sk_sink_find(s->formats[i])), err));
    const sk_overlay_wish wish = {s->draw, s->line_width, sk_overlay_on_gpu(s)};
    return s->overlay ? sk_consumers_add(list, sk_consumer_overlay(&wish), err) : SK_OK;
}

/* What cannot be gone on with is told as it comes. */
static sk_status list(void *context, const sk_predict_settings *s, const sk_predict_report *report,
                      sk_consumers *to, sk_error *err)
{
    const bool at_once = !s->out || sk_uri_is_live(s->source) || sk_uri_is_once(s->source);
    const sk_track_run *run = context;
    SK_TRY(sk_consumers_add(to, sk_consumer_track(context, s, report, at_once), err));
    if (!at_once)
        return SK_OK;
    SK_TRY(list_files(s, to, err));
    return s->out && run->wish.report ? sk_consumers_add(to, sk_consumer_report(run, s, report), err) : SK_OK;
}

sk_status sk_track_run_open(const sk_track_wish *wish, sk_track_run **out, sk_error *err)
{
    *out = NULL;
    sk_tracker *tracker = NULL;
    SK_TRY(
        sk_tracker_open(&wish->track, &tracker, err)); /* settings that make no sense, before anything else */
    sk_tracker_close(&tracker);
    sk_track_run *run = sk_calloc(1, sizeof *run);
    if (!run)
        return sk_fail_memory(err, sizeof *run);
    run->wish = *wish;
    sk_status status = write_identity(wish, &run->identity, err);
    run->more = (sk_predict_more){.list = list,
                                  .context = run,
                                  .identity = sk_text_get(&run->identity),
                                  .tracks = true,
                                  .rate = wish->track.fps,
                                  .looks = wish->looks,
                                  .cached = wish->cached,
                                  .cache = wish->cache};
    if (status == SK_OK)
        *out = run;
    else
        sk_track_run_close(&run);
    return status;
}

void sk_track_run_close(sk_track_run **pointer)
{
    sk_track_run *run = pointer ? *pointer : NULL;
    if (!run)
        return;
    *pointer = NULL;
    sk_text_free(&run->identity);
    sk_free(run);
}

const sk_predict_more *sk_track_run_more(const sk_track_run *run)
{
    return &run->more;
}

const sk_track_figures *sk_track_run_figures(const sk_track_run *run)
{
    return &run->figures;
}
