/* SPDX-License-Identifier: Apache-2.0 */
/* quantize, net and info with tiny models: which settings their flags reach, and what they print and write. */
#include "said.h"

#include "app/quantize.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/npy.h"
#include "media/video_sink.h"
#include "support/yolo_writer.h"

static said s;
static sk_error err;
static char detect[4300], pose[4300], two_headed[4300];

static char *bytes_of(const char *path, size_t *length)
{
    char *bytes = NULL;
    assert_ok(sk_file_read(path, 1 << 22, &bytes, length, &err), &err);
    return bytes;
}

static bool same_files(const char *a, const char *b)
{
    size_t n[2];
    char *bytes[2] = {bytes_of(a, &n[0]), bytes_of(b, &n[1])};
    const bool same = n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0;
    sk_free_all(bytes[0], bytes[1]);
    return same;
}

/* Squares of other grey on grey. */
static void put_pictures(int count)
{
    static uint8_t pixels[40 * 48 * 3];
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)((k / 24 % 6 == (size_t)i % 6 ? 200 : 60) + (int)(k * 37 % 11) * i);
        const sk_frame frame = {.size = sizeof frame,
                                .format = SK_PIXEL_RGB,
                                .width = 48,
                                .height = 40,
                                .stride = 144,
                                .data = pixels};
        char path[64];
        snprintf(path, sizeof path, "pictures/%03d.png", i);
        assert_ok(sk_picture_write(path, &frame, &err), &err);
    }
}

/* --- quantize --- */

static sk_quantize_settings usual(void)
{
    sk_quantize_settings q;
    sk_quantize_defaults(&q);
    q.model = detect;
    q.data = "pictures";
    q.output = "by_settings.skq";
    q.frames = 8;
    q.height = q.width = 32;
    q.threads = 1;
    q.confidence = 0.01F;
    q.overwrite = true;
    return q;
}

/* The same model, frames and settings give the same bytes: the file says which settings it was made by. */
static void flags_of_quantize(void **state)
{
    (void)state;
    static const char *const words[] = {"",
                                        "--ranges error",
                                        "--ranges percentile --percent 60",
                                        "--ranges percentile",
                                        "--ranges all",
                                        "--precision mixed",
                                        "--precision fp8",
                                        "--frames 5",
                                        "--conf 0.9",
                                        "--imgsz 64x32"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sk_quantize_settings q = usual();
        sk_quantize_report r;
        q.ranges = i == 2 || i == 3 ? SK_RANGE_PERCENTILE : i == 4 ? SK_RANGE_ALL : SK_RANGE_ERROR;
        q.percent = i == 2 ? 60 : 99.99;
        q.precision = i == 5 ? SK_QUANTIZE_MIXED : i == 6 ? SK_QUANTIZE_FP8 : SK_QUANTIZE_I8;
        q.frames = i == 7 ? 5 : 8;
        q.confidence = i == 8 ? 0.9F : 0.01F;
        q.height = i == 9 ? 64 : 32;
        assert_ok(sk_quantize_run(&q, &r, &err), &err);
        sk_quantize_report_free(&r);
        SAID_OK(&s, "quantize %s -d pictures -o by_flags.skq --overwrite --threads 1 -q %s %s %s %s", detect,
                i == 7 ? "" : "--frames 8", i == 8 ? "" : "--conf 0.01", i == 9 ? "" : "--imgsz 32",
                words[i]);
        if (!same_files("by_flags.skq", "by_settings.skq"))
            fail_msg("'%s' is not what it says", words[i]);
        if (i == 0)
            assert_int_equal(rename("by_flags.skq", "plain.skq"), 0);
        else if (same_files("by_settings.skq", "plain.skq") != (i == 1))
            fail_msg("'%s' changes %s", words[i], i == 1 ? "something" : "nothing");
    }
}

static void what_quantize_says(void **state)
{
    (void)state;
    SAID_OK(&s,
            "quantize %s -d pictures --threads 1 --frames 8 --conf 0.01 --imgsz 32 --report r.json --json",
            detect);
    said_has(s.out, "{\n  ");
    said_has(s.out, "\"layers\": [");
    assert_true(sk_file_exists("detect.skq") && sk_file_exists("r.json")); /* beside the model */
    SAID_OK(&s, "quantize %s -d pictures -o a.skq --threads 1 --frames 8 --conf 0.01 --imgsz 32", detect);
    said_has(s.out, "a.skq: ");
    said_has(s.err, "steps");
    const size_t short_one = strlen(s.out);
    SAID_OK(&s, "quantize %s -d pictures -o b.skq --threads 1 --frames 8 --conf 0.01 --imgsz 32 --layers",
            detect);
    assert_true(strlen(s.out) > short_one);
    SAID_OK(&s, "quantize %s -d pictures -o e.skq --threads 1 --frames 8 --conf 0.01 --imgsz 32 -q", detect);
    said_lacks(s.err, "steps");
    /* a model that finds nothing at this confidence loses nothing that could be measured, and says so */
    SAID_OK(&s, "quantize %s -d pictures -o c.skq --threads 1 --frames 8 --conf 1 --imgsz 32", detect);
    said_has(s.err, "warning: c.skq: ");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "nowhere.csv",
                 "quantize %s -d pictures -o d.skq --frames 8 --imgsz 32 --threads 1 --truth nowhere.csv",
                 detect);
    SAID_REFUSES(&s, SK_ERR_ARG, "", "quantize %s -d pictures -o d.skq --finder x.pt --detections y.csv",
                 detect);
    SAID_REFUSES(&s, SK_ERR_ARG, "which numbers a network meets is learnt from frames: give some",
                 "quantize %s", detect);
    assert_false(sk_file_exists("d.skq"));
}

/* --- net --- */

static void put_array(const char *path)
{
    static float numbers[3 * 32 * 32];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = (float)(i * 31 % 97) / 97;
    sk_tensor t = {.dtype = SK_DTYPE_F32, .shape = {.rank = 4, .dim = {1, 3, 32, 32}}, .data = numbers};
    assert_ok(sk_npy_write(path, &t, &err), &err);
}

static void nets(void **state)
{
    (void)state;
    put_array("in.npy");
    SAID_OK(&s, "net %s -i in.npy -o out.npy --threads 1", pose);
    assert_int_equal(strncmp(s.out, "out.npy: f32 ", 13), 0);
    assert_true(sk_file_exists("out.npy"));
    SAID_OK(&s, "net %s -i in.npy -o quiet.npy -q --threads 2", pose);
    assert_string_equal(s.out, "");
    assert_true(same_files("quiet.npy", "out.npy"));
    SAID_OK(&s, "net %s -i in.npy -o checked.npy -r reference", pose);
    assert_true(sk_file_size("checked.npy") == sk_file_size("out.npy"));
    /* several outputs: numbers before the name's end, which is added where there is none */
    SAID_OK(&s, "net %s -i in.npy -o raw.npy --raw-heads", pose);
    said_has(s.out, "raw.0.npy: f32 ");
    said_has(s.out, "\nraw.1.npy: f32 ");
    assert_true(sk_file_exists("raw.0.npy") && sk_file_exists("raw.1.npy") && !sk_file_exists("raw.npy"));
    SAID_OK(&s, "net %s -i in.npy -o bare --raw-heads -q", pose);
    assert_true(sk_file_exists("bare.0.npy") && same_files("bare.0.npy", "raw.0.npy"));
    SAID_OK(&s, "net %s -i in.npy -o .npy --raw-heads -q", pose); /* a name that is an end */
    assert_true(sk_file_exists(".npy.0.npy"));
    SAID_OK(&s, "net %s -i in.npy -o x.np --raw-heads -q", pose);
    assert_true(sk_file_exists("x.np.1.npy"));
    /* the two heads of newer models give other rows */
    SAID_OK(&s, "net %s -i in.npy -o one.npy --nms on", two_headed);
    SAID_OK(&s, "net %s -i in.npy -o many.npy --nms off", two_headed);
    assert_false(same_files("one.npy", "many.npy"));
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "no.npy", "net %s -i no.npy -o out.npy", pose);
    SAID_REFUSES(&s, SK_ERR_ARG, "--no-winograd", "net %s -i in.npy -o out.npy -r reference --no-winograd",
                 pose);
    SAID_OK(&s, "net %s -i in.npy -o direct.npy --no-winograd -q", pose);
    SAID_REFUSES(&s, SK_ERR_UNSUPPORTED, "f16", "net %s -i in.npy -o out.npy -r reference --precision f16",
                 pose);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const yolo_fixture fixtures[] = {{.head = "Detect", .f32 = true, .imgsz = 32},
                                     {.head = "Pose", .f32 = true, .imgsz = 32},
                                     {.head = "v10Detect", .f32 = true, .imgsz = 32}};
    snprintf(detect, sizeof detect, "%s", yolo_save(&fixtures[0], "detect.pt"));
    snprintf(pose, sizeof pose, "%s", yolo_save(&fixtures[1], "pose.pt"));
    snprintf(two_headed, sizeof two_headed, "%s", yolo_save(&fixtures[2], "two.pt"));
    put_pictures(12);
    const struct CMUnitTest tests[] = {cmocka_unit_test(flags_of_quantize),
                                       cmocka_unit_test(what_quantize_says), cmocka_unit_test(nets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
