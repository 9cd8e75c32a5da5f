/* SPDX-License-Identifier: Apache-2.0 */
/* Test on this frame: how the program is asked, what is made of its answer and of its failures, and what a still background finds.
 * A script stands in the program's place and says what the test has laid down for it. */
#include "server/asking.h"

#include "media/video_sink.h"
#include "server/ask_program.h"
#include "support/yolo_writer.h"

#include <signal.h>
#include <sys/wait.h>

static const char script[] = "#!/bin/sh\n"
                             "printf '%s\\n' \"$@\" > \"$HERE/words\"\n"
                             "cat \"$HERE/out\"\n"
                             "cat \"$HERE/err\" >&2\n"
                             "cat \"$HERE/events\" >&3\n"
                             ". \"$HERE/end\"\n";

/* What the script says next. */
static void lay_down(const char *out, const char *err, const char *events, const char *end)
{
    put("out", out);
    put("err", err);
    put("events", events);
    put("end", end);
}

static int open_scripted(void **state)
{
    char program[1024];
    sk_error err = {0};
    const yolo_fixture boxes = {.head = "OBB", .f32 = true};
    setenv("HERE", test_folder(), 1);
    snprintf(program, sizeof program, "%s", place("program"));
    put("program", script);
    assert_int_equal(chmod(program, 0700), 0);
    setenv("SKITTER_TEST_BINARY", program, 1);
    open_asked(state);
    put("top/v.mp4", "v");
    assert_int_equal(rename(yolo_save(&boxes, "m.pt"), place("top/m.pt")), 0);
    assert_ok(sk_roots_add(&asked->roots, test_source("tests/fixtures/sleap_nn"), false, &err), &err);
    return 0;
}

/* The settings behind the video and a model of boxes. */
static int test_frame(const char *frame, const char *model, const char *more, char **text)
{
    char body[4096];
    snprintf(
        body, sizeof body,
        "{\"command\":\"track\",\"frame\":%s,\"settings\":{\"source\":[\"v.mp4\"],\"model\":[\"%s\"]%s}}",
        frame, model, more);
    return ask((asking){.method = "POST", .target = "/api/v1/test-frame", .body = body}, text);
}

static void must_be(const char *text, const char *wanted)
{
    const size_t n = strlen(wanted); /* a line end behind it is nobody's concern */
    if (strncmp(text, wanted, n) != 0 || strcspn(text + n, "\n") > 0)
        fail_msg("%s\nis not\n%s", text, wanted);
}

static void the_program_is_asked(void **state)
{
    (void)state;
    char *words = NULL, wanted[4096];
    size_t bytes = 0;
    sk_error err = {0};
    const char *sleap = test_source("tests/fixtures/sleap_nn/unet_bottomup_transposed");
    const char *usual = asked->doors.fallback("track", "conf");
    assert_non_null(usual);
    static const struct {
        const char *frame, *more, *words; /* of those that say what is found */
        bool usual;                       /* … and how sure track wants to be */
    } cases[] = {{"7", "", "", true},
                 {"0", ",\"conf\":0.5,\"animals\":3,\"roi\":[\"0,0,50,50\"]", "--conf=0.5\n", false},
                 {"7", ",\"imgsz\":320,\"set\":{\"gate\":3},\"agnostic\":true,\"iou\":0.5",
                  "--imgsz=320\n--agnostic\n--iou=0.5\n", true},
                 {"2305843009213693951", ",\"classes\":\"1\"", "--classes=1\n", true}};
    lay_down("{}\n", "", "", "exit 0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(test_frame(cases[i].frame, "m.pt", cases[i].more, NULL), 200);
        assert_ok(sk_file_read(place("words"), 1 << 20, &words, &bytes, &err), &err);
        const long long n = strtoll(cases[i].frame, NULL, 10);
        snprintf(wanted, sizeof wanted,
                 "predict\n%s\n--model=%s\n%s%s%s%s--frames=%lld:%lld\n--out=-\n--format=jsonl\n--events=3\n",
                 place("top/v.mp4"), place("top/m.pt"), cases[i].words, cases[i].usual ? "--conf=" : "",
                 cases[i].usual ? usual : "", cases[i].usual ? "\n" : "", n, n + 1);
        must_be(words, wanted);
        sk_free(words);
    }
    /* a model of SLEAP's has no such setting */
    assert_int_equal(test_frame("7", sleap, "", NULL), 200);
    assert_ok(sk_file_read(place("words"), 1 << 20, &words, &bytes, &err), &err);
    assert_non_null(strstr(words, sleap));
    assert_null(strstr(words, "--conf"));
    sk_free(words);
    assert_int_equal(test_frame("-1", "m.pt", "", NULL), 400);
    assert_int_equal(test_frame("2305843009213693952", "m.pt", "", NULL), 400);
    assert_int_equal(atomic_load(&asked->testing_pid), 0);
}

static void its_answer_is_told(void **state)
{
    (void)state;
    static const char found[] =
        "{\"frame\":8,\"keypoint_names\":[\"nose\",\"tail\"],\"edges\":[[0,1],[1,0]],\"instances\":["
        "{\"class\":1,\"name\":\"ant\",\"score\":0.5,\"box\":[10,20,30,60],"
        "\"keypoints\":[[1,2,0.75],[null,null,0]]},"
        "{\"class\":0,\"name\":\"bee\",\"score\":0.25,\"obb\":[70,80,9,4,0.5],\"box\":[1,2,3,4]},"
        "{\"box\":[90,90,91]},"
        "{\"obb\":[1,2,3,4]}]}\nnot looked at\n";
    static const char events[] = "{\"event\":\"begin\"}\nno event\n"
                                 "{\"event\":\"result\",\"runtime\":\"onnx_cpu\",\"seconds\":0.25}\n"
                                 "{\"event\":\"end\",\"status\":0}\n";
    static const char skeleton[] = "\"skeleton\":{\"names\":[\"nose\",\"tail\"],\"edges\":[[0,1],[1,0]]},";
    static const char ant[] = "{\"class\":1,\"label\":\"ant\",\"score\":0.5,\"box\":[20,40,20,40,0],"
                              "\"keypoints\":[[1,2,0.75],null]}";
    static const char bee[] =
        "{\"class\":0,\"label\":\"bee\",\"score\":0.25,\"box\":[70,80,9,4,0.5],\"keypoints\":[]}";
    static const char nobody[] = "{\"class\":-1,\"label\":null,\"score\":null,\"box\":null,\"keypoints\":[]}";
    char *text = NULL, wanted[4096];
    lay_down(found, "", events, "exit 0");
    assert_int_equal(test_frame("7", "m.pt", "", &text), 200);
    snprintf(wanted, sizeof wanted,
             "{\"frame\":8,\"runtime\":\"onnx_cpu\",\"ms\":250,%s\"instances\":[%s,%s,%s,%s],\"outside\":0}",
             skeleton, ant, bee, nobody, nobody);
    must_be(text, wanted);
    sk_free(text);
    assert_int_equal(test_frame("7", "m.pt", ",\"roi\":[\"60,60,100,100\"]", &text), 200);
    snprintf(wanted, sizeof wanted,
             "{\"frame\":8,\"runtime\":\"onnx_cpu\",\"ms\":250,%s\"instances\":[%s],\"outside\":3}", skeleton,
             bee);
    must_be(text, wanted);
    sk_free(text);
    lay_down("{}\n", "", "", "exit 0");
    assert_int_equal(test_frame("7", "m.pt", "", &text), 200);
    must_be(text, "{\"frame\":7,\"runtime\":\"\",\"ms\":0,\"skeleton\":{\"names\":[],\"edges\":[]},"
                  "\"instances\":[],\"outside\":0}");
    sk_free(text);
}

static void its_failures_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *out, *err, *events, *end;
        int code;
        const char *message;
    } cases[] = {
        {"", "", "", "exit 0", 404, "\"message\":\"the video has no frame 7\""},
        {"{\n", "", "", "exit 0", 422, "the answer"},
        {"{}\n", "it hurts", "", "exit 3", 500, "\"message\":\"the test failed: it hurts\""},
        {"{}\n", "", "", "kill -9 $$", 500,
         "\"message\":\"the test crashed: signal 9 (Killed)\",\"hint\":\"the doctor's page tests the "
         "runtime\""},
        {"", "", "{\"event\":\"end\",\"status\":4,\"message\":\"no model\\nname one\"}\n", "exit 1", 404,
         "\"message\":\"no model\",\"hint\":\"name one\""},
        {"", "", "{\"event\":\"end\",\"status\":1,\"message\":\"odd\"}\n", "exit 1", 400, "\"odd\""},
        {"", "", "{\"event\":\"end\",\"status\":14,\"message\":\"short\"}\n", "exit 1", 422, "\"short\""},
        {"", "loud", "{\"event\":\"end\",\"status\":15,\"message\":\"strange\"}\n", "exit 1", 500,
         "the test failed: loud"},
        {"", "loud", "{\"event\":\"end\",\"status\":0,\"message\":\"fine\"}\n", "exit 1", 500,
         "the test failed: loud"},
        {"", "loud", "{\"event\":\"end\",\"status\":4}\n", "exit 1", 500, "the test failed: loud"},
        {"", "", "{\"event\":\"end\",\"status\":4,\"message\":\"no model\"}\n", "kill -9 $$", 404,
         "\"no model\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        lay_down(cases[i].out, cases[i].err, cases[i].events, cases[i].end);
        const int code = test_frame("7", "m.pt", "", &text);
        if (code != cases[i].code || !strstr(text, cases[i].message))
            fail_msg("case %zu: %d %s", i, code, text);
        sk_free(text);
    }
    char *text = NULL;
    assert_int_equal(test_frame("7", "m.pt", ",\"roi\":[\"nonsense\"]", &text), 400);
    sk_free(text);
    assert_int_equal(test_frame("7", "v.mp4", "", NULL), 422); /* no model */
}

/* --- programs that are asked --- */

static sk_status ask_shell(const char *line, int32_t limit_ms, size_t most, sk_program_answer *answer,
                           sk_error *err)
{
    char sh[] = "sh", c[] = "-c", copy[1024];
    char *words[] = {sh, c, copy, NULL};
    static _Atomic int64_t pid;
    snprintf(copy, sizeof copy, "%s", line);
    const sk_status status = sk_program_ask("/bin/sh", words, limit_ms, most, &pid, answer, err);
    assert_int_equal(atomic_load(&pid), 0); /* it is over, however it went */
    return status;
}

static void programs_answer_in_three_ways(void **state)
{
    (void)state;
    sk_program_answer a = {0};
    sk_error err = {0};
    /* more than a pipe holds, of each; nothing comes in */
    assert_ok(ask_shell("cat; i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
                        "echo error >&2; echo event >&3; i=$((i+1)); done; exit 5",
                        60000, 1 << 20, &a, &err),
              &err);
    assert_int_equal(a.out.length, 3000 * 41);
    assert_int_equal(a.err.length, 3000 * 6);
    assert_int_equal(a.events.length, 3000 * 6);
    assert_memory_equal(sk_text_get(&a.out), "0123", 4);
    assert_memory_equal(sk_text_get(&a.err), "error\nerror\n", 12);
    assert_memory_equal(sk_text_get(&a.events), "event\nevent\n", 12);
    assert_true(WIFEXITED(a.status) && WEXITSTATUS(a.status) == 5);
    sk_program_answer_free(&a);
    for (size_t more = 0; more < 2; more++) { /* as long as it may be, and longer */
        a = (sk_program_answer){0};
        assert_int_equal(ask_shell("printf 0123456789", 60000, 10 - more, &a, &err),
                         more ? SK_ERR_LIMIT : SK_OK);
        sk_program_answer_free(&a);
    }
}

static void programs_that_do_not_answer(void **state)
{
    (void)state;
    sk_program_answer a = {0};
    sk_error err = {0};
    char word[] = "none";
    char *words[] = {word, NULL};
    assert_int_equal(ask_shell("exec sleep 60", 120, 100, &a, &err), SK_ERR_TIMEOUT);
    assert_string_equal(err.message, "no answer came in time");
    assert_true(WIFSIGNALED(a.status) && WTERMSIG(a.status) == SIGKILL);
    sk_program_answer_free(&a);
    a = (sk_program_answer){0};
    assert_int_equal(sk_program_ask(test_missing("program"), words, 1000, 100, NULL, &a, &err),
                     SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "the program could not be started: "));
    sk_program_answer_free(&a);
}

/* --- a still background --- */

enum { FRAMES = 12, WIDE = 160, HIGH = 96 };

/* Light frames with a dark animal of 20 x 8 pixels that walks, and one of 8 x 8 in the other half that walks back. */
static void paint_walk(void)
{
    static uint8_t pixels[3 * WIDE * HIGH];
    mkdir(place("top/walk"), 0700);
    for (int i = 0; i < FRAMES; i++) {
        char name[64];
        sk_frame f = SK_FRAME_INIT;
        sk_error err = {0};
        memset(pixels, 200, sizeof pixels);
        for (int y = 0; y < HIGH; y++)
            for (int x = 0; x < WIDE; x++) {
                const int big = 10 + 10 * i, small = 130 - 10 * i;
                if ((y >= 20 && y < 28 && x >= big && x < big + 20) ||
                    (y >= 60 && y < 68 && x >= small && x < small + 8))
                    memset(pixels + 3 * (y * WIDE + x), 20, 3);
            }
        f.format = SK_PIXEL_RGB, f.width = WIDE, f.height = HIGH, f.stride = 3 * WIDE, f.data = pixels;
        snprintf(name, sizeof name, "top/walk/%02d.png", i);
        assert_ok(sk_picture_write_drawing(place(name), &f, &err), &err);
    }
}

static int find_still(int frame, const char *more, sk_config **json)
{
    char body[1024], *text = NULL;
    sk_error err = {0};
    snprintf(body, sizeof body,
             "{\"command\":\"track\",\"frame\":%d,\"settings\":{\"source\":[\"walk\"],\"detector\":"
             "\"background\"%s}}",
             frame, more);
    const int code = ask((asking){.method = "POST", .target = "/api/v1/test-frame", .body = body}, &text);
    assert_ok(sk_config_open_json(text, strlen(text), "answer", json, &err), &err);
    sk_free(text);
    return code;
}

static void must_find(const sk_config_value *one, double x, double y, double w, double h)
{
    /* a box is that of the ellipse which is spread as much as the animal: 2 / sqrt(3) of a rectangle's sides */
    const double wanted[5] = {x, y, 1.1547 * w, 1.1547 * h, 0};
    const sk_config_value *box = sk_config_get(one, "box");
    assert_int_equal(sk_config_count(box), 5);
    for (size_t i = 0; i < 5; i++) {
        double got = -1e9;
        assert_true(sk_config_to_real(sk_config_at(box, i), &got));
        if (got < wanted[i] - 0.1 || got > wanted[i] + 0.1)
            fail_msg("%zu of the box: %g, not %g", i, got, wanted[i]);
    }
    assert_true(sk_config_real_or(one, "score", -1) > 0);
    assert_int_equal(sk_config_int_or(one, "class", -9), 0);
    assert_int_equal(sk_config_count(sk_config_get(one, "keypoints")), 0);
}

static void a_still_background(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    skip(); /* no pictures are read */
#endif
    sk_config *json = NULL;
    paint_walk();
    for (int frame = 0; frame < FRAMES; frame += 5) {
        assert_int_equal(find_still(frame, ",\"set\":{\"background_least_area\":20}", &json), 200);
        const sk_config_value *r = sk_config_root(json), *found = sk_config_get(r, "instances");
        assert_int_equal(sk_config_int_or(r, "frame", -1), frame);
        assert_int_equal(sk_config_int_or(r, "outside", -1), 0);
        assert_string_equal(sk_config_text_or(r, "runtime", ""), "cpu");
        assert_true(sk_config_real_or(r, "ms", -1) > 0);
        assert_int_equal(sk_config_count(sk_config_get(r, "skeleton.names")), 0);
        assert_int_equal(sk_config_count(found), 2);
        must_find(sk_config_at(found, 0), 20 + 10 * frame, 24, 20, 8);
        must_find(sk_config_at(found, 1), 134 - 10 * frame, 64, 8, 8);
        sk_config_close(&json);
    }
    /* what is outside is counted; what is too small is none */
    static const struct {
        const char *more;
        size_t found;
        int outside;
    } cases[] = {{",\"roi\":[\"0,0,160,48\"],\"set\":{\"background_least_area\":20}", 1, 1},
                 {",\"roi\":[\"0,0,1,1\"],\"set\":{\"background_least_area\":20}", 0, 2},
                 {",\"topic\":\"\",\"set\":{\"background_least_area\":120}", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(find_still(5, cases[i].more, &json), 200);
        assert_int_equal(sk_config_count(sk_config_get(sk_config_root(json), "instances")), cases[i].found);
        assert_int_equal(sk_config_int_or(sk_config_root(json), "outside", -1), cases[i].outside);
        sk_config_close(&json);
    }
    assert_int_equal(find_still(FRAMES - 1, "", &json), 200);
    sk_config_close(&json);
    assert_int_equal(find_still(FRAMES, "", &json), 404);
    assert_string_equal(sk_config_text_or(sk_config_root(json), "error.message", ""),
                        "the video has no frame 12");
    sk_config_close(&json);
    static const char *const wrong[] = {",\"set\":{\"nonsense\":1}",
                                        ",\"set\":{\"background_least_area\":20,\"nonsense\":1}",
                                        ",\"set\":{\"background_least_area\":\"x\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(find_still(0, wrong[i], &json), 400);
        assert_non_null(strstr(sk_config_text_or(sk_config_root(json), "error.message", ""),
                               i < 2 ? "\"set\": nonsense is no number of the tracker"
                                     : "\"set\": background_least_area is no number of the tracker"));
        sk_config_close(&json);
    }
    assert_int_equal(find_still(0, ",\"set\":{\"background_least_area\":-1}", &json), 400);
    sk_config_close(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_is_asked),        cmocka_unit_test(its_answer_is_told),
        cmocka_unit_test(its_failures_are_told),       cmocka_unit_test(programs_answer_in_three_ways),
        cmocka_unit_test(programs_that_do_not_answer), cmocka_unit_test(a_still_background),
    };
    return cmocka_run_group_tests(tests, open_scripted, close_asked);
}
