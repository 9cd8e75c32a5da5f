/* SPDX-License-Identifier: Apache-2.0 */
/* A model in eight bits whose making ends for want of memory, at the begin, on the way and where files are written: it says so, and
 * leaves nothing. And what its report and its file say of themselves. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/quantize.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static char model[4300];
static sk_quantize_report r;

static sk_quantize_settings settings(void)
{
    sk_quantize_settings s;
    sk_quantize_defaults(&s);
    s.model = model;
    s.data = "five";
    s.output = "made.skq";
    s.report = "made.json";
    s.frames = 4;
    s.height = s.width = 32;
    s.threads = 1;
    s.ranges = SK_RANGE_ALL;
    s.overwrite = true;
    return s;
}

static int begin(void **state)
{
    (void)state;
    static uint8_t pixels[32 * 32 * 3];
    char path[64];
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "detect.pt"));
    assert_ok(sk_folder_make("five", &err), &err);
    for (int i = 0; i < 5; i++) {
        const sk_frame f = {.format = SK_PIXEL_RGB, .width = 32, .height = 32, .stride = 96, .data = pixels};
        for (size_t k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)(k * 7 + (size_t)i * 31 + k / 96 * 5);
        snprintf(path, sizeof path, "five/%d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
    return 0;
}

static void what_is_said_of_it(void **state)
{
    (void)state;
    const sk_quantize_settings s = settings();
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    assert_string_equal(r.about.precision, "i8");
    assert_string_equal(r.about.source, "detect.pt");
    assert_string_equal(r.about.data, "five");
    assert_string_equal(r.about.finder, "");
    assert_int_equal(strlen(r.about.source_sha256), 64);
    assert_true(r.about.frames == 4 && r.about.width == 32 && r.about.height == 32 && r.about.made_by[0]);
    assert_true(r.asked == 4 && r.missing == 0 && r.bytes == sk_file_size("made.skq") && r.bytes > 1000);
    assert_true(r.seconds > 0 && r.seconds < 300 && r.n_rows == r.about.layers && r.n_rows > 1);
    double most = 0;
    int32_t kept = 0;
    for (int32_t i = 0; i < r.n_rows; i++) {
        const sk_quantize_row *row = &r.rows[i];
        assert_true(row->name[0] && row->sensitivity >= 0 && row->low <= row->high);
        assert_true(row->error >= 0 && row->weight_error >= 0);
        most = row->sensitivity > most ? row->sensitivity : most;
        kept += row->kept;
    }
    assert_true(most > 0 && kept < r.n_rows);
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read("made.json", 1 << 22, &text, &length, &err), &err);
    int names = 0, f32 = 0;
    for (const char *at = strstr(text, "\"layers\": ["); at && (at = strstr(at, "\"name\": ")); at++)
        names++;
    for (const char *at = text; (at = strstr(at, "\"precision\": \"f32\"")); at++)
        f32++;
    assert_int_equal(names, r.n_rows);
    assert_int_equal(f32, kept);
    assert_true(length > 2 && text[0] == '{' && text[1] == '\n'); /* for people, line by line */
    sk_free(text);
    sk_quantize_report_free(&r);
}

static void without_memory(void **state)
{
    (void)state;
    const sk_quantize_settings s = settings();
    const uint64_t count = sk_memory_allocations();
    assert_ok(sk_quantize_run(&s, &r, &err), &err);
    const uint64_t all = sk_memory_allocations() - count;
    sk_quantize_report_free(&r);
    const int64_t before = sk_memory_live_bytes();
    int failed = 0;
    assert_true(all > 400);
    for (uint64_t i = 0; i < 20; i++) { /* the first ones, some on the way, and those at the end */
        const uint64_t at = i < 5 ? 1 + 3 * i : i < 10 ? all / 6 * (i - 4) : all - 19 * (i - 10) - 3;
        err = (sk_error){0};
        sk_memory_fail_nth(at);
        const sk_status status = sk_quantize_run(&s, &r, &err);
        sk_memory_fail_nth(0);
        if (status != SK_OK) {
            assert_int_equal(status, SK_ERR_MEMORY);
            assert_true(err.message[0] && !r.rows && r.n_rows == 0);
            failed++;
        }
        sk_quantize_report_free(&r);
        if (sk_memory_live_bytes() != before)
            fail_msg("allocation %llu of %llu leaves %lld bytes", (unsigned long long)at,
                     (unsigned long long)all, (long long)(sk_memory_live_bytes() - before));
    }
    assert_true(failed > 10);
}

static bool begun;

static bool watch(void *context, const char *step, int64_t done, int64_t total)
{
    (void)context, (void)step, (void)done, (void)total;
    return begun = true; /* that is far enough */
}

/* Every allocation up to the first frame. */
static void without_memory_at_the_begin(void **state)
{
    (void)state;
    sk_quantize_settings s = settings();
    s.watch = watch;
    const int64_t before = sk_memory_live_bytes();
    int failed = 0;
    for (uint64_t at = 1; at < 4000; at++) {
        begun = false;
        sk_memory_fail_nth(at);
        const sk_status status = sk_quantize_run(&s, &r, &err);
        sk_memory_fail_nth(0);
        if (sk_memory_live_bytes() != before)
            fail_msg("allocation %llu leaves %lld bytes", (unsigned long long)at,
                     (long long)(sk_memory_live_bytes() - before));
        if (begun)
            break;
        assert_int_equal(status, SK_ERR_MEMORY);
        assert_true(err.message[0] && !r.rows && r.n_rows == 0);
        failed++;
    }
    assert_true(begun && failed > 100);
}

int main(void)
{
    if (chdir(test_folder()) != 0 || setenv("SKITTER_CPU_MASK", "avx2", 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_it),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(without_memory_at_the_begin),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
