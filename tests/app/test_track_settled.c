/* SPDX-License-Identifier: Apache-2.0 */
/* All frames of a run followed at once, from its journal: what each pass saw lies beside, and what cannot be kept is said. */
#include "support/test.h"

#include "app/track_teller.h"
#include "base/file.h"
#include "base/memory.h"
#include "results/hydra_csv.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES 40

static sk_error err;
static const sk_run_begin usual = {
    .identity = "a\tb\n", .source = "v.mp4", .files = (const char *const[]){NULL}};
static const sk_run_header header = {
    .source = "v.mp4", .source_kind = "video", .width = 640, .height = 480, .rate = 20, .has = SK_HAS_BOX};

/* Two that walk past each other; nobody in the last frame but one, which could not be read. */
static sk_status put_frames(sk_run_folder *folder, sk_error *e)
{
    for (int i = 0; i < FRAMES; i++) {
        const float x = 100 + 5 * (float)i;
        sk_found items[2] = {
            {.has = SK_HAS_BOX, .score = 0.9F, .track_id = -1, .box = {x, 50, x + 40, 80}},
            {.has = SK_HAS_BOX, .score = 0.8F, .track_id = -1, .box = {500 - x, 250, 540 - x, 280}}};
        const sk_instances found = {.items = items, .count = i == 3 ? 0 : 2, .capacity = 2};
        const sk_result_frame frame = {.source = "v.mp4",
                                       .index = i,
                                       .time = i / 20.0,
                                       .width = 640,
                                       .height = 480,
                                       .instances = &found,
                                       .problem = i == 3 ? "torn" : NULL};
        SK_TRY(sk_run_folder_append(folder, &frame, e));
    }
    return SK_OK;
}

typedef struct trial {
    const char *out; /* where the frames are */
    sk_track_wish wish;
    bool raw;
    double seconds;
} trial;

static sk_status tell_one(void *context, const sk_result_frame *known, sk_error *e)
{
    sk_track_teller *t = context;
    sk_result_frame told;
    return sk_track_teller_tell(t, known->index, known, &told, e);
}

/* Of a folder that holds the frames. */
static sk_status settle_and_tell(void *context, sk_error *e)
{
    trial *now = context;
    sk_track_teller *t = NULL;
    sk_run_folder *folder = NULL;
    sk_status status = sk_run_folder_open(now->out, &folder, e);
    if (status == SK_OK)
        status = sk_run_folder_begin(folder, &usual, e);
    if (status == SK_OK)
        status = sk_track_teller_open(&now->wish, &header, &t, e);
    if (status == SK_OK)
        status = sk_track_teller_settle(t, folder, now->raw, e);
    if (status == SK_OK) {
        now->seconds = sk_track_teller_figures(t)->seconds;
        status = sk_track_teller_settle(t, folder, now->raw, e); /* once is enough */
    }
    if (status == SK_OK)
        status = sk_run_folder_retell(folder, &header, tell_one, t, e);
    if (status == SK_OK) {
        const sk_track_figures *f = sk_track_teller_figures(t);
        if (f->tracks != 2 || f->found != 78 || f->sightings != 78 || f->covered != 0)
            status = sk_fail(e, SK_ERR_FORMAT, "%lld tracks, %lld found, %lld told", (long long)f->tracks,
                             (long long)f->found, (long long)f->sightings);
    }
    sk_track_teller_close(&t);
    sk_run_folder_close(&folder);
    return status;
}

static trial begin(const char *out)
{
    trial now = {.out = out};
    sk_run_folder *folder = NULL;
    sk_track_wish_defaults(&now.wish);
    assert_ok(sk_run_folder_open(out, &folder, &err), &err);
    assert_ok(sk_run_folder_begin(folder, &usual, &err), &err);
    assert_ok(put_frames(folder, &err), &err);
    sk_run_folder_close(&folder);
    return now;
}

static bool is_there(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return sk_file_exists(path);
}

static void what_passes_saw(void **state)
{
    (void)state;
    static const char *const names[] = {"neither", "forward", "both", "online"};
    for (int i = 0; i < 4; i++) {
        trial now = begin(names[i]);
        now.raw = i > 0;
        now.wish.offline.backward = i != 1;
        now.wish.online = i == 3;
        assert_ok(settle_and_tell(&now, &err), &err);
        assert_int_equal(is_there(names[i], SK_HYDRA_FORWARD), i == 1 || i == 2);
        assert_int_equal(is_there(names[i], SK_HYDRA_BACKWARD), i == 2);
        assert_false(is_there(names[i], ".tracking"));
        assert_true(now.seconds >= 0 && now.seconds < 30 && (i == 3 || now.seconds > 0));
    }
    for (int pass = 0; pass < 2; pass++) { /* two animals in all frames but one */
        char *text = NULL;
        size_t length = 0, lines = 0;
        char path[200];
        snprintf(path, sizeof path, "both/%s", pass ? SK_HYDRA_BACKWARD : SK_HYDRA_FORWARD);
        assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
        for (size_t k = 0; k < length; k++)
            lines += text[k] == '\n';
        assert_true(lines >= 79);
        sk_free(text);
    }
}

/* Where sightings cannot be kept, or what passes saw cannot be written, nothing is followed, and it is said. */
static void what_stands_in_the_way(void **state)
{
    (void)state;
    static const char *const names[] = {".tracking", SK_HYDRA_FORWARD, SK_HYDRA_BACKWARD};
    for (int i = 0; i < 3; i++) {
        char out[16], path[200];
        snprintf(out, sizeof out, "way%d", i);
        snprintf(path, sizeof path, "%s/%s/x", out, names[i]);
        assert_ok(sk_folder_make(path, &err), &err);
        trial now = begin(out);
        now.raw = true;
        err = (sk_error){0};
        assert_int_not_equal(settle_and_tell(&now, &err), SK_OK);
        *strrchr(path, '/') = '\0';
        if (!strstr(err.message, path))
            fail_msg("%s is in the way, and said is: %s", path, err.message);
    }
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_passes_saw),
                                       cmocka_unit_test(what_stands_in_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
