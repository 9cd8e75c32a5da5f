/* SPDX-License-Identifier: Apache-2.0 */
/* What a page wishes for as words of a command line: where results go, how numbers are written, and what a configuration may name. */
#include "server/asking.h"

#include "server/wish.h"

/* Reads a wish with this in its settings; its folder is made. */
static sk_status wish_for(const char *command, const char *settings, sk_wish *out, sk_error *err)
{
    char body[4096];
    sk_config *json = NULL;
    snprintf(body, sizeof body, "{\"command\":\"%s\",\"settings\":{%s}}", command, settings);
    *err = (sk_error){0};
    assert_ok(sk_config_open_json(body, strlen(body), "wish", &json, err), err);
    *out = (sk_wish){0};
    const sk_status status = sk_wish_read(asked, sk_config_root(json), true, out, err);
    sk_config_close(&json);
    return status;
}

static void must_go_to(const char *command, const char *settings, const char *folder)
{
    sk_wish w;
    sk_error err;
    char last[1200];
    assert_ok(wish_for(command, settings, &w, &err), &err);
    assert_string_equal(w.folder, place(folder));
    assert_true(sk_file_is_directory(w.folder));
    snprintf(last, sizeof last, "--out=%s", w.folder);
    assert_string_equal(w.words[w.n_words - 1], last);
    assert_null(w.words[w.n_words]);
    assert_string_equal(w.command, command);
    sk_wish_free(&w);
    assert_true(!w.words && !w.folder && !w.line && w.n_words == 0);
}

/* The next free number, in the folder that the video lies in, if that may be written. */
static void results_go_beside_the_video(void **state)
{
    (void)state;
    sk_wish w;
    sk_error err;
    char outside[1200], read_only[1200];
    put("top/a.mp4", "x");
    put("top/m.pt", "x");
    put("outside/a.mp4", "x");
    mkdir(place("read"), 0700);
    put("read/a.mp4", "x");
    assert_ok(sk_roots_add(&asked->roots, place("read"), false, &err), &err);
    assert_ok(sk_roots_add(&asked->roots, place("outside"), true, &err), &err);
    snprintf(outside, sizeof outside, "\"source\":\"%s\",\"model\":\"m.pt\"", place("outside/a.mp4"));
    snprintf(read_only, sizeof read_only, "\"source\":\"%s\",\"model\":\"m.pt\"", place("read/a.mp4"));
    must_go_to("track", "\"source\":\"a.mp4\",\"model\":\"m.pt\"", "top/runs/track1");
    must_go_to("track", "\"source\":\"a.mp4\",\"model\":\"m.pt\"", "top/runs/track2");
    must_go_to("predict", "\"source\":\"a.mp4\",\"model\":\"m.pt\"", "top/runs/predict1");
    must_go_to("track", "\"source\":\"a.mp4\",\"model\":\"m.pt\",\"out\":\"\"", "top/runs/track3");
    must_go_to("track", outside, "outside/runs/track1");
    must_go_to("track", read_only, "top/runs/track4");
    must_go_to("track", "\"source\":\"0\",\"model\":\"m.pt\"", "top/runs/track5");
    mkdir(place("top/runs/track7"), 0700); /* one in the way */
    must_go_to("track", "\"source\":\"0\",\"model\":\"m.pt\"", "top/runs/track6");
    must_go_to("track", "\"source\":\"0\",\"model\":\"m.pt\"", "top/runs/track8");
    /* a folder that is named is not made before the run makes it */
    assert_ok(wish_for("track", "\"source\":\"0\",\"model\":\"m.pt\",\"out\":\"mine\"", &w, &err), &err);
    assert_string_equal(w.folder, place("top/mine"));
    assert_false(sk_file_exists(w.folder));
    sk_wish_free(&w);
    /* nowhere */
    put("outside/runs.txt", "x");
    assert_int_equal(rename(place("outside/runs"), place("outside/were")), 0);
    assert_int_equal(rename(place("outside/runs.txt"), place("outside/runs")), 0);
    assert_int_not_equal(wish_for("track", outside, &w, &err), SK_OK);
    assert_null(w.folder);
    sk_wish_free(&w);
    for (int32_t i = 0; i < asked->roots.count; i++)
        asked->roots.items[i].writable = false;
    assert_int_equal(wish_for("track", outside, &w, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "no folder may be written");
    sk_wish_free(&w);
    assert_int_equal(wish_for("track", "\"source\":\"0\",\"model\":\"m.pt\"", &w, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "no folder may be written");
    sk_wish_free(&w);
    asked->roots.items[0].writable = true;
}

static void words_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *word; /* the last but the folder's */
    } cases[] = {{"\"conf\":0.123456789123", "--conf=0.123456789"},
                 {"\"conf\":1", "--conf=1"},
                 {"\"animals\":4", "--animals=4"},
                 {"\"classes\":\"1,2\"", "--classes=1,2"},
                 {"\"online\":true", "--online"},
                 {"\"set\":{\"gate\":2.5}", "--set=gate=2.5"},
                 {"\"set\":{\"gate\":2,\"merge\":1}", "--set=merge=1"}};
    sk_wish w;
    sk_error err;
    put("top/a.mp4", "x");
    put("top/m.pt", "x");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[512];
        snprintf(settings, sizeof settings, "\"source\":[\"a.mp4\"],\"model\":[\"m.pt\"],%s",
                 cases[i].settings);
        const sk_status status = wish_for("track", settings, &w, &err);
        if (status != SK_OK)
            fail_msg("%s: %s", cases[i].settings, err.message);
        assert_string_equal(w.words[w.n_words - 2], cases[i].word);
        assert_string_equal(w.source, place("top/a.mp4"));
        char *before = sk_strdup(w.line);
        assert_ok(sk_wish_write_line(&w, &err), &err); /* again, the same */
        assert_string_equal(w.line, before);
        sk_free(before);
        sk_wish_free(&w);
    }
}

/* Files that are read are there, folders that are written need not be; both are named as they really are, inside. */
static void paths_are_real(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *word; /* of the last but the folder's; null: refused */
    } cases[] = {{"\"cache\":\"kept/here\"", "--cache=%s/kept/here"},
                 {"\"cache\":\"./a/../kept\"", "--cache=%s/kept"},
                 {"\"cache\":\"../beyond/x\"", NULL},
                 {"\"detections\":\"./d.csv\"", "--detections=%s/d.csv"},
                 {"\"detections\":\"none.csv\"", NULL},
                 {"\"detections\":\"../beyond/x\"", NULL}};
    sk_wish w;
    sk_error err;
    put("top/a.mp4", "x");
    put("top/d.csv", "x");
    mkdir(place("beyond"), 0700);
    put("beyond/x", "x");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[512], wanted[1200];
        snprintf(settings, sizeof settings, "\"source\":[\"a.mp4\"],%s", cases[i].settings);
        const sk_status status = wish_for("track", settings, &w, &err);
        if ((status == SK_OK) != (cases[i].word != NULL))
            fail_msg("%s: %s", cases[i].settings, err.message);
        if (cases[i].word) {
            snprintf(wanted, sizeof wanted, cases[i].word, place("top")); /* NOLINT: the test's own */
            assert_string_equal(w.words[w.n_words - 2], wanted);
        }
        sk_wish_free(&w);
    }
}

/* What a configuration names is looked at where the page names nothing. */
static void what_a_configuration_names(void **state)
{
    (void)state;
    static const struct {
        const char *names, *settings;
        bool good;
    } cases[] = {{"\"file_path\":\"%s\"", "\"detections\":\"d.csv\",\"model\":\"m.pt\"", false},
                 {"\"file_path\":\"%s\"", "\"source\":\"a.mp4\",\"model\":\"m.pt\"", true},
                 {"\"file_path\":\"%s.none\"", "\"detections\":\"d.csv\",\"model\":\"m.pt\"",
                  true}, /* it finds none */
                 {"\"yolo_model_path\":\"%s\"", "\"source\":\"a.mp4\"", false},
                 {"\"yolo_model_path\":\"%s\"", "\"source\":\"a.mp4\",\"model\":[\"m.pt\"]", true},
                 {"\"yolo_model_path\":\"%s\"", "\"source\":\"a.mp4\",\"detector\":\"background\"", true},
                 {"\"yolo_model_path\":\"m.pt\",\"enable_pose_extractor\":true,\"pose_model_dir\":\"%s\"",
                  "\"source\":\"a.mp4\"", false}};
    sk_wish w;
    sk_error err;
    put("top/a.mp4", "x");
    put("top/m.pt", "x");
    put("top/d.csv", "x");
    mkdir(place("beyond"), 0700);
    put("beyond/x", "x");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char names[1500], text[2000], settings[512];
        snprintf(names, sizeof names, cases[i].names, place("beyond/x")); /* NOLINT: the test's own */
        snprintf(text, sizeof text, "{%s,\"max_targets\":3,\"fps\":30,\"reference_body_size\":9}", names);
        put("top/c.json", text);
        snprintf(settings, sizeof settings, "%s,\"config\":\"c.json\"", cases[i].settings);
        const sk_status status = wish_for("track", settings, &w, &err);
        if ((status == SK_OK) != cases[i].good)
            fail_msg("case %zu: %s", i, err.message);
        if (!cases[i].good)
            assert_non_null(strstr(err.message, "beyond/x, which is in no folder that this page may use"));
        sk_wish_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_go_beside_the_video),
                                       cmocka_unit_test(words_are_written), cmocka_unit_test(paths_are_real),
                                       cmocka_unit_test(what_a_configuration_names)};
    return cmocka_run_group_tests(tests, open_asked, close_asked);
}
