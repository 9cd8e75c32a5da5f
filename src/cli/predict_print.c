/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/predict_print.h"

#include <string.h>

/* What one frame took; nothing where all of them had been looked at before. */
static void print_times(FILE *to, const sk_predict_report *r)
{
    const double n = (double)r->frames;
    if (r->frames <= r->cached)
        return;
    fprintf(to,
            "a frame every %.2f ms; work on one, ms: decode %.2f (waited %.2f), pre %.2f, network %.2f, "
            "post %.2f, write %.2f",
            1e3 * r->seconds / n, 1e3 * r->decode / n, 1e3 * r->wait_source / n, 1e3 * r->pre / n,
            1e3 * r->network / n, 1e3 * r->post / n, 1e3 * r->write / n);
    if (r->overlay > 0)
        fprintf(to, ", overlay %.2f", 1e3 * r->overlay / n);
    if (r->crops > 0)
        fprintf(to, ", crops %.2f", 1e3 * r->crops / n);
    fprintf(to, "\n");
}

/* Who decoded, where a device was asked for. */
static void print_decoder(FILE *to, const sk_predict_report *r)
{
    if (r->hwaccel[0])
        fprintf(to, "decoded on %s%s\n", r->hwaccel, r->stayed ? ", where frames stayed" : "");
    else if (r->hwaccel_refused[0])
        fprintf(to, "decoded by the processor: %s\n", r->hwaccel_refused);
}

void sk_cli_predict_source(FILE *to, const sk_source_status *s)
{
    if (s->damaged || s->dropped || s->outages)
        fprintf(to, "source: %lld damaged, %lld dropped, %d outages, %d attempts to connect again%s%s\n",
                (long long)s->damaged, (long long)s->dropped, s->outages, s->reconnects,
                s->last_problem[0] ? "; last problem: " : "", s->last_problem);
}

/* The time of this part's frames. Of those that were all known before, how many a second says nothing. */
static void print_rate(FILE *to, const sk_predict_report *r)
{
    if (r->cached > 0 && r->cached == r->frames)
        fprintf(to, ", from the cache in %.2f s\n", r->seconds);
    else
        fprintf(to, ", %.2f s, %.1f frames/s\n", r->seconds,
                r->seconds > 0 ? (double)r->frames / r->seconds : 0);
    if (r->cached)
        fprintf(to, "%lld of them were known from an earlier run and not computed again\n",
                (long long)r->cached);
}

void sk_cli_predict_summary(FILE *to, const sk_predict_report *r, const char *requested)
{
    if (r->nothing_to_do) {
        fprintf(to, "This run had finished already: %lld frames, %lld instances. --restart does it again.\n",
                (long long)r->total_frames, (long long)r->instances);
    } else {
        fprintf(to, "%s%lld frames, %lld instances", r->stopped ? "Stopped: " : "",
                (long long)r->total_frames, (long long)r->instances);
        if (r->total_frames > r->frames) /* instances are those of the whole run, time is of this part */
            fprintf(to, "; continued: %lld frames now", (long long)r->frames);
        print_rate(to, r);
        bool same = strcmp(r->runtime, requested) == 0;
        fprintf(to, "runtime %s%s%s%s, %s, %s\n", r->runtime, same ? "" : " (requested ",
                same ? "" : requested, same ? "" : ")", r->precision, r->device);
        print_decoder(to, r);
        print_times(to, r);
        sk_cli_predict_source(to, &r->source);
    }
    if (r->unreadable)
        fprintf(to, "%lld picture%s could not be read and %s left out; run.json lists %s\n",
                (long long)r->unreadable, r->unreadable == 1 ? "" : "s", r->unreadable == 1 ? "was" : "were",
                r->unreadable == 1 ? "it" : "them");
    for (int32_t i = 0; i < r->n_files; i++)
        fprintf(to, "%s\n", r->files[i]);
}

void sk_cli_predict_json(sk_json *j, const sk_predict_report *r, const char *requested)
{
    sk_json_key_ints(j, {"frames", r->frames}, {"total_frames", r->total_frames},
                     {"instances", r->instances});
    if (r->cached)
        sk_json_key_int(j, "cached", r->cached);
    sk_json_key_bool(j, "stopped", r->stopped);
    sk_json_key_int(j, "unreadable", r->unreadable);
    sk_json_key_int(j, "missing", r->missing);
    sk_json_key_float(j, "seconds", r->seconds);
    sk_json_key_float(j, "fps", r->seconds > 0 ? (double)r->frames / r->seconds : 0);
    sk_json_key_strings(j, {"runtime_requested", requested}, {"runtime", r->runtime}, {"device", r->device},
                        {"precision", r->precision}, {"hwaccel", r->hwaccel});
    if (r->hwaccel_refused[0])
        sk_json_key_string(j, "hwaccel_refused", r->hwaccel_refused);
    double n = r->frames > 0 ? (double)r->frames : 1;
    sk_json_key_object(j, "ms_per_frame");
    sk_json_key_floats(j, {"decode", 1e3 * r->decode / n}, {"wait", 1e3 * r->wait_source / n},
                       {"pre", 1e3 * r->pre / n}, {"network", 1e3 * r->network / n},
                       {"post", 1e3 * r->post / n}, {"write", 1e3 * r->write / n},
                       {"overlay", 1e3 * r->overlay / n}, {"crops", 1e3 * r->crops / n});
    sk_json_close(j);
    sk_source_status_json(&r->source, "source", j);
    sk_json_key_array(j, "files");
    for (int32_t i = 0; i < r->n_files; i++)
        sk_json_string(j, r->files[i]);
    sk_json_close(j);
}
