/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "app/correct.h"
#include "app/run_view_json.h"
#include "base/memory.h"
#include "mutate.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run's folder that somebody else made: run.json, results.jsonl, corrections.jsonl, one after another, parted by lines of "---". It is
 * opened, or refused with a text, and then asked everything that a page asks. */

SK_FUZZ_MUTATE(sk_mutate_text)

static const char *const names[] = {"run.json", "results.jsonl", SK_CORRECTIONS_FILE};
static char folder[64];

static void put(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    fwrite(data, 1, size, file);
    fclose(file);
}

static void ask(sk_run_view *view, sk_json *json, sk_error *err)
{
    static const char *const kinds[] = {"trajectory", "speed", "heading", "distance", "occupancy"};
    sk_run_view_info info;
    sk_json_array(json);
    sk_run_view_json_info(view, true, json);
    (void)!sk_run_view_json_frames(view, 0, INT64_MAX, 50, json, err);
    (void)!sk_run_view_json_tracks(view, json, err);
    (void)!sk_run_view_json_suspects(view, json, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const sk_run_plot plot = {.kind = kinds[i], .points = 20, .to = -1};
        (void)!sk_run_view_json_plot(view, &plot, json, err);
    }
    sk_run_view_get_info(view, &info);
    SK_FUZZ_CHECK(info.state && info.header && info.frames >= 0);
    sk_result_frame f;
    if (info.frames > 0 && sk_run_view_frame(view, info.last, &f, err) == SK_OK)
        SK_FUZZ_CHECK(f.index == info.last && f.instances->count >= 0);
}

SK_FUZZ(run_view, data, size)
{
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/skitter-fuzz-view-%d", (int)getpid());
        mkdir(folder, 0700);
    }
    const uint8_t *at = data, *end = data + size;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint8_t *stop = i < 2 ? memmem(at, (size_t)(end - at), "---\n", 4) : NULL;
        stop = stop ? stop : end;
        put(names[i], at, (size_t)(stop - at));
        at = end - stop >= 4 ? stop + 4 : end;
    }
    sk_error err = {0};
    sk_run_view *view = NULL;
    const sk_status status = sk_run_view_open(folder, &view, &err);
    SK_FUZZ_CHECK((status == SK_OK) == (view != NULL) && (view || err.message[0]));
    if (view) {
        sk_text text = {.limit = (size_t)1 << 26};
        sk_json json = sk_json_to_text(&text, 0);
        ask(view, &json, &err);
        (void)!sk_run_view_refresh(view, &err);
        sk_text_free(&text);
    }
    sk_run_view_close(&view);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    folder[0] = '\0';
}
