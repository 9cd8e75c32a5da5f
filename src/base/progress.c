/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_NS       100000000ll /* ten a second */
#define RATE_SECONDS 3.0         /* how long the rate remembers */

struct sk_progress {
    sk_progress_settings settings;
    char *label, *unit;
    int64_t start, last_shown; /* clock */
    int64_t done, last_done;
    double rate; /* units a second, smoothed; 0 = not known yet */
    int64_t rate_time, rate_done;
    bool is_drawn;
    double told_seconds; /* by the job; 0: none */
    char note[96];
};

sk_progress_settings sk_progress_defaults(void)
{
    return (sk_progress_settings){.mode = SK_PROGRESS_AUTO, .label = "", .unit = "items", .line_seconds = 5};
}

static int64_t now_of(const sk_progress *progress)
{
    return progress->settings.now ? progress->settings.now() : sk_clock_ns();
}

sk_status sk_progress_open(const sk_progress_settings *settings, sk_progress **out, sk_error *err)
{
    *out = NULL;
    SK_CHECK_ARG(settings && (settings->stream || settings->mode == SK_PROGRESS_NONE), err);
    sk_progress *progress = sk_calloc(1, sizeof *progress);
    if (!progress)
        return sk_fail_memory(err, sizeof *progress);
    progress->settings = *settings;
    progress->label = sk_strdup(settings->label ? settings->label : "");
    progress->unit = sk_strdup(settings->unit ? settings->unit : "");
    if (!progress->label || !progress->unit) {
        progress->settings.mode = SK_PROGRESS_NONE;
        sk_progress_close(&progress);
        return sk_fail_memory(err, 64);
    }
    if (settings->mode == SK_PROGRESS_AUTO) {
        int number = fileno(settings->stream);
        const char *terminal = getenv("TERM");
        bool is_terminal = number >= 0 && isatty(number) && terminal && strcmp(terminal, "dumb") != 0;
        progress->settings.mode = is_terminal ? SK_PROGRESS_BAR : SK_PROGRESS_LINES;
    }
    progress->start = progress->rate_time = now_of(progress);
    progress->last_shown =
        progress->start - BAR_NS; /* a bar shows at once; lines wait for something to tell */
    if (progress->settings.mode != SK_PROGRESS_BAR)
        progress->last_shown = progress->start;
    *out = progress;
    return SK_OK;
}

/* Exponential smoothing by time, so that it does not matter how often update is called. */
static void update_rate(sk_progress *progress, int64_t now)
{
    double seconds = (double)(now - progress->rate_time) * 1e-9;
    if (seconds < 0.05)
        return;
    double recent = (double)(progress->done - progress->rate_done) / seconds;
    double weight = 1 - exp(-seconds / RATE_SECONDS);
    progress->rate = progress->rate > 0 ? progress->rate + weight * (recent - progress->rate) : recent;
    progress->rate_time = now;
    progress->rate_done = progress->done;
}

static double seconds_left(const sk_progress *progress)
{
    int64_t left = progress->settings.total - progress->done;
    if (progress->settings.total <= 0 || !(progress->rate > 0))
        return -1;
    return left > 0 ? (double)left / progress->rate : 0;
}

static int columns(const sk_progress *progress)
{
    struct winsize size;
    if (progress->settings.width > 0)
        return progress->settings.width;
    if (ioctl(fileno(progress->settings.stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* "1200/3600 frames, 245 frames/s, 0:10 left, 3 animals" */
static void describe(const sk_progress *progress, double rate, char *text, size_t capacity)
{
    char left[SK_TEXT_UNIT] = "";
    int used;
    if (progress->settings.total > 0)
        used = snprintf(text, capacity, "%lld/%lld %s", (long long)progress->done,
                        (long long)progress->settings.total, progress->unit);
    else
        used = snprintf(text, capacity, "%lld %s", (long long)progress->done, progress->unit);
    if (rate > 0 && used < (int)capacity)
        used += snprintf(text + used, capacity - (size_t)used, rate < 10 ? ", %.1f/s" : ", %.0f/s", rate);
    if (seconds_left(progress) >= 0 && used < (int)capacity)
        used += snprintf(text + used, capacity - (size_t)used, ", %s left",
                         sk_text_time_left(seconds_left(progress), left, sizeof left));
    if (progress->note[0] && used < (int)capacity)
        snprintf(text + used, capacity - (size_t)used, ", %s", progress->note);
}

/* Columns a UTF-8 text takes, one each; cuts it in place to `most`. */
static int fit_columns(char *text, int most)
{
    int count = 0;
    for (char *p = text; *p; p++) {
        if (((unsigned char)*p & 0xC0) == 0x80)
            continue;
        if (count == most) {
            *p = '\0';
            return count;
        }
        count++;
    }
    return count;
}

static void draw_bar(sk_progress *progress)
{
    char text[256], head[128];
    FILE *stream = progress->settings.stream;
    int room = columns(progress) - 1; /* the last column makes some terminals wrap */
    describe(progress, progress->rate, text, sizeof text);
    snprintf(head, sizeof head, "%s%s", progress->label, progress->label[0] ? " " : "");
    int used = fit_columns(head, room > 0 ? room : 0);
    used += fit_columns(text, room - used > 0 ? room - used : 0);
    int bar = room - used - 8; /* "100 % " and a bracket each side */
    fprintf(stream, "\r\033[K%s", head);
    if (progress->settings.total > 0 && bar >= 5) {
        double part = (double)progress->done / (double)progress->settings.total;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        bar = bar > 40 ? 40 : bar;
        int full = (int)(part * bar);
        fprintf(stream, "%3.0f%% [", floor(part * 100));
        for (int i = 0; i < bar; i++)
            fputc(i < full ? '#' : '-', stream);
        fputs("] ", stream);
    }
    fputs(text, stream);
    fflush(stream);
    progress->is_drawn = true;
}

static double seconds_so_far(const sk_progress *progress, bool is_last)
{
    return is_last && progress->told_seconds > 0 ? progress->told_seconds
                                                 : (double)(now_of(progress) - progress->start) * 1e-9;
}

static void write_line(sk_progress *progress, bool is_last)
{
    char text[256], took[SK_TEXT_UNIT];
    FILE *stream = progress->settings.stream;
    double seconds = seconds_so_far(progress, is_last);
    describe(progress, is_last && seconds > 0 ? (double)progress->done / seconds : progress->rate, text,
             sizeof text);
    if (is_last)
        snprintf(text, sizeof text, "%lld %s in %s, %.1f/s", (long long)progress->done, progress->unit,
                 sk_text_duration(seconds * 1e9, took, sizeof took),
                 seconds > 0 ? (double)progress->done / seconds : 0.0);
    fprintf(stream, "%s%s%s\n", progress->label, progress->label[0] ? ": " : "", text);
    fflush(stream);
}

static void write_json(sk_progress *progress, bool is_last)
{
    sk_json json = sk_json_to_file(progress->settings.stream, 0);
    double seconds = seconds_so_far(progress, is_last);
    double rate = is_last && seconds > 0 ? (double)progress->done / seconds : progress->rate;
    sk_json_object(&json);
    sk_json_key_strings(&json, {"event", is_last ? "done" : "progress"}, {"label", progress->label},
                        {"unit", progress->unit});
    sk_json_key_int(&json, "done", progress->done);
    sk_json_key(&json, "total");
    if (progress->settings.total > 0)
        sk_json_int(&json, progress->settings.total);
    else
        sk_json_null(&json);
    sk_json_key_floats(&json, {"seconds", seconds}, {"rate", rate},
                       {"seconds_left", seconds_left(progress) >= 0 ? seconds_left(progress) : NAN});
    if (progress->note[0])
        sk_json_key_string(&json, "note", progress->note);
    sk_json_close(&json);
    if (sk_json_end(&json, NULL) != SK_OK)
        progress->settings.mode = SK_PROGRESS_NONE; /* the reader has gone; the job goes on */
}

void sk_progress_update(sk_progress *progress, int64_t done, const char *note)
{
    progress->done = done;
    if (progress->settings.mode == SK_PROGRESS_NONE)
        return;
    int64_t now = now_of(progress);
    bool is_bar = progress->settings.mode == SK_PROGRESS_BAR;
    int64_t interval = is_bar ? BAR_NS : (int64_t)(progress->settings.line_seconds * 1e9);
    if (now - progress->last_shown < interval)
        return;
    snprintf(progress->note, sizeof progress->note, "%s", note ? note : "");
    progress->last_shown = now;
    update_rate(progress, now);
    if (is_bar)
        draw_bar(progress);
    else if (progress->settings.mode == SK_PROGRESS_LINES)
        write_line(progress, false);
    else
        write_json(progress, false);
}

void sk_progress_set_total(sk_progress *progress, int64_t total)
{
    progress->settings.total = total;
}

void sk_progress_set_seconds(sk_progress *progress, double seconds)
{
    progress->told_seconds = seconds;
}

void sk_progress_hide(sk_progress *progress)
{
    if (!progress->is_drawn)
        return;
    fputs("\r\033[K", progress->settings.stream);
    fflush(progress->settings.stream);
    progress->is_drawn = false;
    progress->last_shown = now_of(progress) - BAR_NS;
}

void sk_progress_close(sk_progress **progress)
{
    SK_TAKE_OR_RETURN(p, progress);
    p->note[0] = '\0';
    if (p->settings.mode == SK_PROGRESS_BAR)
        sk_progress_hide(p);
    else if (p->settings.mode == SK_PROGRESS_LINES &&
             p->done > 0) /* what failed at once has nothing to tell */
        write_line(p, true);
    else if (p->settings.mode == SK_PROGRESS_JSON)
        write_json(p, true);
    sk_free_all(p->label, p->unit, p);
}
