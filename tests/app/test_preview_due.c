/* SPDX-License-Identifier: Apache-2.0 */
/* When the next picture of a run is due, by clocks that the test moves; what the painter is told of a run; and a place that cannot be
 * written, which is said once. Who draws and packs is this test's own. */
#include "support/test.h"

#include "app/preview.h"
#include "base/instances.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "media/shrink.h"
#include "media/video_sink.h"
#include "skitter/log.h"
#include "support/fault.h"
#include "tasks/plain_frame.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

static sk_error err;

/* --- three clocks: the wall's, what the process has computed, and what the painter has --- */

static _Atomic int64_t wall, process, painter, paint_costs;
static pthread_t tester;
static atomic_int noted; /* times that the painter noted when it was done */

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (which != CLOCK_MONOTONIC && which != CLOCK_PROCESS_CPUTIME_ID && which != CLOCK_THREAD_CPUTIME_ID) {
        if (!real) {
            void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
            memcpy(&real, &symbol, sizeof real);
        }
        return real(which, out);
    }
    const int64_t now = which == CLOCK_MONOTONIC            ? wall
                        : which == CLOCK_PROCESS_CPUTIME_ID ? process
                                                            : painter;
    noted += which == CLOCK_MONOTONIC && !pthread_equal(pthread_self(), tester);
    *out = (struct timespec){now / SECOND, now % SECOND};
    return 0;
}

static void rest(void)
{
    const struct timespec ms = {.tv_nsec = 500000};
    (void)nanosleep(&ms, NULL);
}

/* --- who is how important --- */

static atomic_int idle, niced;
static bool no_idle;

__attribute__((visibility("default"))) int sched_setscheduler(pid_t pid, int policy,
                                                              const struct sched_param *how)
{
    (void)how;
    assert_true(pid == 0 && policy == SCHED_IDLE);
    idle++;
    return no_idle ? -1 : 0;
}

__attribute__((visibility("default"))) int setpriority(__priority_which_t which, id_t who, int value)
{
    assert_true(which == PRIO_PROCESS && who == (id_t)gettid() && value == 19);
    niced++;
    return 0;
}

/* --- who draws and packs --- */

static sk_overlay_settings opened;
static int drawn_count, quality_asked, asked_width, asked_height;
static atomic_int packed;
static bool shrunk;

sk_status sk_overlay_open(const sk_overlay_settings *settings, sk_overlay **out, sk_error *error)
{
    opened = *settings;
    *out = sk_calloc(1, 1);
    return *out ? SK_OK : sk_fail_memory(error, 1);
}

void sk_overlay_close(sk_overlay **overlay)
{
    sk_free(*overlay);
    *overlay = NULL;
}

void sk_overlay_defaults(sk_overlay_settings *settings)
{
    *settings = (sk_overlay_settings){.what = 9, .trail = 30};
}

void sk_overlay_draw(sk_overlay *overlay, sk_frame *frame, const sk_instances *instances)
{
    (void)overlay, (void)frame;
    drawn_count = instances->count;
    painter += paint_costs;
}

sk_status sk_plain_frame_take(sk_plain_frame *p, const sk_frame *frame, const sk_frame **out, sk_error *error)
{
    (void)p, (void)error;
    *out = frame;
    return SK_OK;
}

void sk_plain_frame_free(sk_plain_frame *p)
{
    (void)p;
}

sk_status sk_frame_shrink(const sk_frame *frame, const int part[4], int width, int height, sk_frame *out,
                          sk_error *error)
{
    assert_true(part[0] == 0 && part[1] == 0 && part[2] == frame->width && part[3] == frame->height);
    *out = (sk_frame){.width = width, .height = height, .data = sk_malloc(1)};
    shrunk = true;
    return out->data ? SK_OK : sk_fail_memory(error, 1);
}

sk_status sk_picture_jpeg(const sk_frame *frame, int quality, uint8_t **bytes, size_t *length,
                          sk_error *error)
{
    (void)error;
    *bytes = sk_malloc(5);
    memcpy(*bytes, "JPEG!", 5);
    *length = 5;
    quality_asked = quality, asked_width = frame->width, asked_height = frame->height;
    packed++;
    return SK_OK;
}

/* --- a run --- */

static atomic_int made_count;
static _Atomic int64_t made_frame;

static void made(void *context, int64_t frame)
{
    (void)context;
    made_frame = frame;
    made_count++;
}

static const char *const classes[] = {"fly"};
static const int32_t edges[1][2] = {{0, 1}};
static const sk_run_header header = {
    .source_kind = "video", .n_classes = 1, .class_names = classes, .n_edges = 1, .edges = edges};

static sk_consumer *open_preview(const char *path)
{
    const sk_preview_wish wish = {.path = path, .made = made};
    sk_consumer *p = sk_consumer_preview(&wish);
    assert_non_null(p);
    assert_ok(p->kind->begin(p, &header, NULL, &err), &err);
    made_count = 0;
    packed = 0;
    made_frame = -1;
    return p;
}

static void close_preview(sk_consumer *p)
{
    p->kind->close(p);
    sk_free(p);
}

/* A frame is shown, and what was found in it comes by. */
static void pass(sk_consumer *p, int64_t index, int32_t width, int32_t height, int32_t count)
{
    static uint8_t pixels[3 * 1300 * 8];
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB;
    f.width = width, f.height = height, f.stride = 3 * (ptrdiff_t)width, f.index = index;
    f.data = pixels;
    sk_found items[4] = {0};
    const sk_instances found = {.items = items, .count = count, .capacity = 4};
    const sk_result_frame r = {.source = "v", .index = index, .instances = &found};
    sk_passing passing = {.result = &r};
    sk_preview_look(p, &f);
    assert_ok(p->kind->take(p, &passing, &err), &err);
}

/* A picture that is due is made, however long the painter takes to get ready again. */
static void becomes_one(sk_consumer *p, int64_t index)
{
    const int before = packed, notes = noted;
    for (int i = 0; i < 20000 && packed == before; i++) {
        pass(p, index, 64, 4, 0);
        rest();
    }
    assert_int_equal(packed, before + 1);
    for (int i = 0; i < 20000 && noted == notes; i++)
        rest();
    assert_int_equal(noted, notes + 1);
    assert_int_equal(made_frame, index);
}

/* One that is not is not, not even late: they are counted at the end. */
static void becomes_none(sk_consumer *p, int64_t index)
{
    for (int i = 0; i < 5; i++) {
        rest();
        pass(p, index, 64, 4, 0);
    }
}

/* Half a second, and two hundred times what the last one took: or ten seconds. */
static void when_it_is_due(void **state)
{
    (void)state;
    wall = 100 * SECOND;
    process = 3 * SECOND;
    painter = SECOND;
    paint_costs = 2 * MS;
    sk_consumer *p = open_preview("due.jpg");
    becomes_one(p, 1); /* the first at once */
    wall += 500 * MS - 1;
    process += SECOND;
    becomes_none(p, 2);
    wall += 1;
    becomes_one(p, 3);
    wall += 5 * SECOND;
    process += 400 * MS - 1; /* 200 times 2 ms */
    becomes_none(p, 4);
    process += 1;
    becomes_one(p, 5);
    wall += 10 * SECOND - 1;
    process += 399 * MS; /* a run that waits computes little */
    becomes_none(p, 6);
    wall += 1;
    paint_costs = 30 * MS;
    becomes_one(p, 7);
    wall += SECOND;
    process += 6 * SECOND - 1;
    becomes_none(p, 8);
    process += 1;
    becomes_one(p, 9);
    close_preview(p);
    assert_int_equal(made_count, 5);
    assert_int_equal(packed, 5);
}

/* No trails; names and lines of the run's classes; pictures of eighty, no wider than 640. */
static void how_it_is_drawn(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height, asked_width, asked_height;
    } rows[] = {{640, 8, 640, 8}, {641, 8, 640, 7}, {1280, 8, 640, 4}, {1300, 1, 640, 1}, {1, 8, 1, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_consumer *p = open_preview("drawn.jpg");
        assert_true(opened.trail == 0 && opened.what == 9 && opened.n_classes == 1 &&
                    opened.class_names == classes && opened.n_edges == 1 && opened.edges == edges);
        wall += 20 * SECOND;
        shrunk = false;
        pass(p, 1, rows[i].width, rows[i].height, 3);
        close_preview(p);
        assert_int_equal(packed, 1);
        assert_true(shrunk == (rows[i].width > 640) && drawn_count == 3 && quality_asked == 80);
        assert_int_equal(asked_width, rows[i].asked_width);
        assert_int_equal(asked_height, rows[i].asked_height);
    }
}

/* The painter does not matter to the system, by one way or the other. */
static void how_important(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        no_idle = way;
        idle = 0;
        niced = 0;
        sk_consumer *p = open_preview("lazy.jpg");
        for (int i = 0; i < 20000 && !idle; i++)
            rest();
        close_preview(p);
        assert_true(idle == 1 && niced == way);
    }
    no_idle = false;
}

static int warnings;
static char warned[200];

static void hear(void *context, sk_log_level level, const char *message)
{
    (void)context, (void)level;
    warnings++;
    snprintf(warned, sizeof warned, "%s", message);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    sk_log_listener *listener = NULL;
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    for (int way = 0; way < 2; way++) { /* there is no such folder; a folder is in the way */
        warnings = 0;
        if (way)
            assert_int_equal(mkdir("folder.jpg", 0777), 0);
        paint_costs = 0;
        sk_consumer *p = open_preview(way ? "folder.jpg" : "nowhere/p.jpg");
        for (int i = 0; i < 3; i++) {
            const int notes = noted;
            wall += 20 * SECOND;
            for (int k = 0; k < 20000 && packed <= i; k++) {
                pass(p, i, 64, 4, 0);
                rest();
            }
            for (int k = 0; k < 20000 && noted == notes; k++)
                rest();
        }
        close_preview(p);
        assert_int_equal(packed, 3);
        assert_int_equal(made_count, 0);
        assert_int_equal(warnings, 1);
        assert_string_equal(warned,
                            way ? "--preview folder.jpg: cannot be written; the run goes on without"
                                : "--preview nowhere/p.jpg: cannot be written; the run goes on without");
        struct stat info;
        assert_int_not_equal(stat(way ? "folder.jpg.half" : "nowhere", &info), 0);
    }
    sk_log_unlisten(&listener);
}

static sk_status make_one(void *context, sk_error *error)
{
    (void)context;
    const sk_preview_wish wish = {.path = "scarce.jpg"};
    sk_consumer *p = sk_consumer_preview(&wish);
    if (!p)
        return sk_fail_memory(error, 1);
    const sk_status status = p->kind->begin(p, &header, NULL, error);
    p->kind->close(p);
    sk_free(p);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(make_one, NULL) >= 3);
}

int main(void)
{
    tester = pthread_self();
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_it_is_due), cmocka_unit_test(how_it_is_drawn), cmocka_unit_test(how_important),
        cmocka_unit_test(what_cannot_be_written), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
