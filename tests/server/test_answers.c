/* SPDX-License-Identifier: Apache-2.0 */
/* What the interface answers, in full: every route that needs no second process, asked in many ways that are right or nearly so.
 * tests/server/answers.txt has the question, the code and the answer, with @ for the test's own folder; numbers may differ as
 * tests/support/recorded.h lets them. */
#include "server/asking.h"
#include "models/model.h"
#include "support/recorded.h"
#include "support/yolo_writer.h"

#include <ctype.h>
#include <fcntl.h>
#include <time.h>

static void put_file(const char *name, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(place(name), text, strlen(text), &err), &err);
    const struct timespec then[2] = {{.tv_sec = 1600000000}, {.tv_sec = 1600000000}};
    assert_int_equal(utimensat(AT_FDCWD, place(name), then, 0), 0);
}

/* @ becomes the test's folder, in what is asked. */
static char *meant(const char *text)
{
    sk_text out = {0};
    char *taken = NULL;
    sk_error err = {0};
    for (; text && *text; text++)
        if (*text == '@')
            sk_text_append(&out, test_folder());
        else
            sk_text_append_bytes(&out, text, 1);
    sk_text_append(&out, "");
    assert_ok(sk_text_take(&out, &taken, &err), &err);
    return taken;
}

/* … and back, in what is answered. Signs of JSON get blanks around them, so that numbers stand alone; seconds since 1970 of
 * today are T. */
static void put_told(const char *text, sk_text *out)
{
    const size_t n = strlen(test_folder());
    while (*text) {
        if (strncmp(text, test_folder(), n) == 0) {
            sk_text_append(out, "@");
            text += n;
        } else if (strchr("[]{},:", *text)) {
            sk_text_appendf(out, " %c ", *text++);
        } else if (isdigit((unsigned char)*text)) {
            const size_t digits = strspn(text, "0123456789."), whole = strspn(text, "0123456789");
            if (whole >= 10 && strncmp(text, "1600000000", 10) != 0)
                sk_text_append(out, "T");
            else
                sk_text_append_bytes(out, text, digits);
            text += digits;
        } else if (*text == '\n') {
            sk_text_append(out, " / ");
            text++;
        } else {
            sk_text_append_bytes(out, text++, 1);
        }
    }
}

#define LONGEST 3000

static void question(const char *method, const char *target, const char *body)
{
    char *at = meant(target), *said = meant(body), *text = NULL;
    sk_text told = {0};
    const int code = ask((asking){.method = method, .target = at, .body = body ? said : NULL}, &text);
    put_told(text ? text : "", &told);
    char *theirs =
        told.data ? strstr(told.data, "not valid JSON") : NULL; /* a library says the rest in its own words */
    if (theirs)
        theirs[strlen("not valid JSON")] = '\0';
    recorded_say("%s %s %s", method, target, body ? body : "");
    recorded_say("    %d %.*s", code, LONGEST, sk_text_get(&told));
    sk_text_free(&told);
    sk_free_all(at, said, text);
}

static void settings_and_commands(void **state)
{
    (void)state;
    static const char *const wishes[] = {
        "{}",
        "7",
        "",
        "{\"command\":\"track\"}",
        "{\"command\":\"Track\",\"settings\":{}}",
        "{\"command\":\"track\",\"settings\":[]}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\"}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"a.mp4\",\"sub/"
        "b.mp4\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"a.mp4\",\"\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"a.mp4\",7],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"none.mp4\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"0\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"camera:1\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"camera:\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"camera:x\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"RTSP://h/x\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"rtsps://h/x\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"http://h/x\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"https://h/x\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"rtmp://h/x\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"srt://h\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"udp://h:1\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"predict\",\"settings\":{\"source\":[\"ftp://h\"],\"model\":[\"boxes.pt\"]}}",
        "{\"command\":\"track\",\"settings\":{\"detections\":\"d.csv\"}}",
        "{\"command\":\"track\",\"settings\":{\"model\":\"boxes.pt\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"conf\":0.5,"
        "\"animals\":3,\"online\":true,"
        "\"cache\":null,\"frames\":\"2:9\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"online\":false,"
        "\"set\":{\"gate\":3.5,"
        "\"merge\":\"a b\",\"n\":2}}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"set\":{\"gate\":["
        "3]}}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"set\":[\"gate="
        "3\",\"merge=1\"]}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"online\":1}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"conf\":true}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"conf\":{}}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"conf\":\"0."
        "25\\u0000\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"conf\":2}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"quiet\":true}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"overwrite\":null}"
        "}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"events\":\"3\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"out\":\"sub/"
        "new\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"out\":\"\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"out\":null}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"out\":7}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"out\":\"-\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"boxes.pt\",\"out\":\"../"
        "outside/r\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"model\":\"../outside/m.pt\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"config\":\"theirs.json\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"config\":\"theirs.json\",\"model\":"
        "\"boxes.pt\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"config\":\"theirs.json\",\"model\":[]}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"config\":\"ours.json\",\"model\":"
        "\"boxes.pt\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a.mp4\",\"config\":\"broken.json\",\"model\":"
        "\"boxes.pt\"}}",
        "{\"command\":\"track\",\"settings\":{\"source\":\"a b'c.mp4\",\"model\":\"boxes.pt\"}}"};
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        question("POST", "/api/v1/command", wishes[i]);
    question("GET", "/api/v1/settings", NULL);
    question("GET", "/api/v1/settings?command=", NULL);
    question("GET", "/api/v1/settings?command=bench", NULL);
}

static void configurations(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "",           "none.json", "broken.json", "theirs.json", "ours.json",
        "empty.json", "list.json", "hydra.json",  "sub",         "../outside/theirs.json",
        "whole.json", "a.mp4",     "regions.json"};
    char target[256], body[1024];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(target, sizeof target, "/api/v1/config?path=%s", paths[i]);
        question("GET", target, NULL);
    }
    question("GET", "/api/v1/config", NULL);
    static const struct {
        const char *path, *rest;
    } saves[] = {
        {"s1.json", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"],\"conf\":0.25,\"online\":"
                    "true,\"set\":{\"gate\":3.5}}"},
        {"s1.json", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"s1.json",
         "\"replace\":true,\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"],\"animals\":2}"},
        {"s2.json",
         "\"settings\":{\"detections\":\"d.csv\",\"frames\":\"1:5\",\"roi\":[\"1,2,3,4\",\"!5,6,7,8\"]}"},
        {"s3.json", "\"settings\":{}"},
        {"s4.json", "\"settings\":7"},
        {"s5.json", "\"x\":1"},
        {"s6.txt", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"run.json", "\"replace\":true,\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"sub", "\"replace\":true,\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"none/s7.json", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"../outside/s8.json", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"theirs.json", "\"replace\":true,\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"]}"},
        {"s9.json", "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"],\"nonsense\":1}"},
        {"s10.json",
         "\"settings\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"],\"out\":\"sub/o\",\"quiet\":true}"}};
    for (size_t i = 0; i < sizeof saves / sizeof *saves; i++) {
        snprintf(body, sizeof body, "{\"command\":\"track\",\"path\":\"%s\",%s}", saves[i].path,
                 saves[i].rest);
        question("POST", "/api/v1/config", body);
        snprintf(target, sizeof target, "/api/v1/config?path=%s", saves[i].path);
        question("GET", target, NULL);
    }
    question("POST", "/api/v1/config",
             "{\"command\":\"predict\",\"path\":\"p.json\",\"settings\":{\"source\":[\"a.mp4\"],\"model\":["
             "\"boxes.pt\"]}}");
    question("POST", "/api/v1/config", "{\"command\":\"rm\",\"path\":\"p.json\",\"settings\":{}}");
    question("POST", "/api/v1/config", "{\"path\":\"p.json\"}");
}

static void files(void **state)
{
    (void)state;
    static const char *const targets[] = {"files",
                                          "files?path=",
                                          "files?path=@/top/sub",
                                          "files?path=sub",
                                          "files?path=sub/none",
                                          "files?path=a.mp4",
                                          "files?path=/etc",
                                          "files?path=@/outside",
                                          "files?path=%00",
                                          "files?path=sub&all=1",
                                          "probe",
                                          "probe?path=sub",
                                          "probe?path=words.txt",
                                          "probe?path=none",
                                          "probe?path=@/outside",
                                          "probe?path=boxes.pt",
                                          "probe?path=d.csv",
                                          "probe?path=theirs.json",
                                          "frame",
                                          "frame?source=",
                                          "frame?source=none.mp4",
                                          "frame?source=p.png&n=-1",
                                          "frame?source=p.png&n=x",
                                          "frame?source=p.png",
                                          "frame?source=p.png&n=1",
                                          "frame?source=p.png&width=0",
                                          "frame?source=p.png&width=16",
                                          "frame?source=p.png&width=100000",
                                          "runs",
                                          "runs/0",
                                          "runs/x",
                                          "runs/7",
                                          "runs/7/preview.jpg",
                                          "runs/",
                                          "troubleshooting?pipelines=x",
                                          "runtimes?pipelines=x",
                                          "nothing",
                                          "",
                                          "about/",
                                          "openapi.yaml?x",
                                          "recent"};
    static const char *const posts[][2] = {
        {"recent", "{}"},
        {"recent", "{\"path\":7}"},
        {"recent", "{\"path\":\"none\"}"},
        {"recent", "{\"path\":\"@/outside\"}"},
        {"recent", "{\"path\":\"a.mp4\"}"},
        {"recent", "{\"path\":\"sub\"}"},
        {"recent", "{\"path\":\"boxes.pt\"}"},
        {"recent", "{\"path\":\"a.mp4\"}"},
        {"runs", "{\"command\":\"track\",\"settings\":{\"source\":[\"none.mp4\"],\"model\":[\"boxes.pt\"]}}"},
        {"runs/7/stop", ""},
        {"runs/7/continue", ""},
        {"runs/x/stop", ""},
        {"runtime", "{\"value\":\"warp\"}"},
        {"about", "{}"},
        {"test-frame", "{}"},
        {"test-frame", "{\"command\":\"track\",\"frame\":\"x\"}"},
        {"test-frame", "{\"command\":\"track\",\"frame\":-1}"},
        {"test-frame", "{\"command\":\"track\",\"frame\":0,\"settings\":{\"source\":[\"none.mp4\"],\"model\":"
                       "[\"boxes.pt\"]}}"},
        {"test-frame", "{\"command\":\"track\",\"frame\":0,\"settings\":{\"source\":[\"p.png\"],\"model\":["
                       "\"boxes.pt\"]}}"}};
    char target[256];
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        snprintf(target, sizeof target, "/api/v1/%s", targets[i]);
        question("GET", target, NULL);
    }
    for (size_t i = 0; i < sizeof posts / sizeof *posts; i++) {
        snprintf(target, sizeof target, "/api/v1/%s", posts[i][0]);
        question("POST", target, posts[i][1]);
    }
    static const char *const more[] = {
        "files?path=many",          "files?path=many&hidden=1", "files?path=many&hidden=0",
        "files?path=many&hidden=x", "files?path=many/ant",      "probe?path=pose.pt",
        "probe?path=turned.pt",     "probe?path=many",          "probe?path=many/e.slp",
        "probe?path=many/f.yaml",   "probe?path=many/.hidden"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        snprintf(target, sizeof target, "/api/v1/%s", more[i]);
        question("GET", target, NULL);
    }
    /* newest first, each once; a file of no kind is in no list */
    static const char *const names[] = {"b.mp4", "B.mp4", "a10.png", "a2.png", "z.AVI", "c.txt"};
    for (size_t i = 0; i < 6; i++) {
        char body[64];
        snprintf(body, sizeof body, "{\"path\":\"many/%s\"}", names[i]);
        question("POST", "/api/v1/recent", body);
    }
    question("GET", "/api/v1/recent", NULL);
    question("DELETE", "/api/v1/runs/7", NULL);
    question("DELETE", "/api/v1/about", NULL);
    question("PUT", "/api/v1/runtime", "{}");
    question("PUT", "/api/v1/runtime", "{\"value\":\"warp\"}");
    question("PUT", "/api/v1/runtime", "{\"value\":7}");
    recorded_check("tests/server/answers.txt");
}

/* Of what was chosen the last twenty are kept. */
static void twenty_are_remembered(void **state)
{
    (void)state;
    char name[64], body[128], *text = NULL;
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "top/sub/v%02d.mp4", i);
        put_file(name, "x");
        snprintf(body, sizeof body, "{\"path\":\"sub/v%02d.mp4\"}", i);
        assert_int_equal(ask((asking){.method = "POST", .target = "/api/v1/recent", .body = body}, NULL),
                         200);
    }
    assert_int_equal(get("/api/v1/recent", &text), 200);
    const char *at = text;
    for (int i = 24; i >= 5; i--) {
        snprintf(name, sizeof name, "/sub/v%02d.mp4\"", i);
        const char *found = strstr(at, name);
        if (!found)
            fail_msg("%s is not behind the one that came later: %s", name, text);
        at = found;
    }
    assert_null(strstr(text, "v04.mp4"));
    assert_null(strstr(text, "/a.mp4"));
    assert_non_null(strstr(text, "boxes.pt")); /* another list */
    sk_free(text);
}

/* The skeleton of a model that has one. */
static void skeletons_are_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    char target[4200], wanted[1024] = "\"edges\":[", *text = NULL;
    const char *folder = test_source("tests/fixtures/sleap_nn/unet_bottomup_transposed");
    assert_ok(sk_model_open(folder, &model, &err), &err);
    assert_true(model->n_edges > 0);
    for (int32_t i = 0; i < model->n_edges; i++) {
        const size_t n = strlen(wanted);
        snprintf(wanted + n, sizeof wanted - n, "%s[%d,%d]", i ? "," : "", model->edges[i][0],
                 model->edges[i][1]);
    }
    strcat(wanted, "]");
    assert_ok(sk_roots_add(&asked->roots, folder, false, &err), &err);
    snprintf(target, sizeof target, "/api/v1/probe?path=%s", folder);
    assert_int_equal(get(target, &text), 200);
    if (!strstr(text, wanted) || !strstr(text, model->keypoint_names[0]) || !strstr(text, "\"sleap_pose\""))
        fail_msg("%s: %s", wanted, text);
    sk_free(text);
    sk_model_close(&model);
}

/* --- a run's results --- */

static void ask_view(const char *what)
{
    char target[256];
    snprintf(target, sizeof target, "/api/v1/view%s", what);
    question("GET", target, NULL);
}

static void results(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    skip(); /* no video, no scene */
#endif
    static const char *const gets[] = {"",
                                       "?folder=",
                                       "?folder=none",
                                       "?folder=sub",
                                       "?folder=../outside",
                                       "/frames?folder=run&from=3&to=4",
                                       "/frames?folder=run",
                                       "/frames?folder=run&from=14",
                                       "/frames?folder=run&from=13&to=99",
                                       "/frames?folder=run&from=5&to=4",
                                       "/frames?folder=run&from=-1",
                                       "/frames?folder=run&from=x",
                                       "/frames?folder=run&from=15&to=16",
                                       "/tracks?folder=run",
                                       "/tracks",
                                       "/suspects?folder=run",
                                       "/series?folder=run",
                                       "/series?folder=run&kind=none",
                                       "/series?folder=run&kind=speed&points=0",
                                       "/series?folder=run&kind=speed&points=20001",
                                       "/series?folder=run&kind=speed&tracks=0,&points=4",
                                       "/series?folder=run&kind=speed&tracks=0,x",
                                       "/series?folder=run&kind=speed&tracks=-1",
                                       "/series?folder=run&kind=speed&tracks=2147483648",
                                       "/series?folder=run&kind=speed&tracks=9",
                                       "/series?folder=run&kind=heading&tracks=1&points=3&from=2&to=9",
                                       "/series?folder=run&kind=trajectory&tracks=0,1&points=2",
                                       "/series?folder=run&kind=occupancy&points=2",
                                       "/series?folder=run&kind=distance&tracks=0,1&points=3",
                                       "/series?folder=run&kind=speed&points=2&from=4&to=3",
                                       "/series?folder=run&kind=speed&points=2&from=-1",
                                       "/series?folder=run&kind=speed&points=2&to=-2",
                                       "/download?folder=run",
                                       "/download?folder=run&file=../scene.mp4",
                                       "/download?folder=run&format=none",
                                       "/download?folder=run&format=mot",
                                       "/frame.jpg?folder=run&n=-1",
                                       "/frame.jpg?folder=run&n=99",
                                       "/frame.jpg"};
    static const char *const corrections[] = {"\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":10",
                                              "\"kind\":\"swap\",\"a\":0",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":0",
                                              "\"kind\":\"swap\",\"a\":-1,\"b\":1",
                                              "\"kind\":\"swap\",\"a\":2147483648,\"b\":1",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":2147483648",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":-2",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":1,\"prefer\":-2",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":\"x\"",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":1,\"frame\":null,\"to\":5",
                                              "\"kind\":\"swap\",\"a\":0,\"b\":7",
                                              "\"kind\":\"delete\",\"a\":1,\"b\":2,\"frame\":4,\"to\":6",
                                              "\"kind\":\"delete\",\"a\":1,\"frame\":6,\"to\":4",
                                              "\"kind\":\"merge\",\"a\":0,\"b\":1,\"prefer\":1",
                                              "\"kind\":\"merge\",\"a\":0,\"b\":1,\"prefer\":2",
                                              "\"kind\":\"rename\",\"a\":2,\"name\":\"queen\"",
                                              "\"kind\":\"rename\",\"a\":2,\"name\":\"\"",
                                              "\"kind\":\"rename\",\"a\":2",
                                              "\"kind\":\"Rename\",\"a\":2",
                                              "\"a\":2"};
    char body[512], line[4096];
    snprintf(line, sizeof line,
             "cd '%s' && '%s' scene -o scene.mp4 --truth truth.csv --seconds 0.5 --fps 30 --size 160x120 "
             "--animals 2 -q && "
             "'%s' track scene.mp4 --detections truth.csv -o run --animals 2 --no-report -q",
             place("top"), getenv("SKITTER_TEST_BINARY"), getenv("SKITTER_TEST_BINARY"));
    assert_int_equal(system(line), 0); /* NOLINT: a test's own words */
    for (size_t i = 0; i < sizeof gets / sizeof *gets; i++)
        ask_view(gets[i]);
    question("POST", "/api/v1/view/undo", "{\"folder\":\"run\"}");
    question("POST", "/api/v1/view/redo", "{\"folder\":\"run\"}");
    question("POST", "/api/v1/view/redo", "{}");
    for (size_t i = 0; i < sizeof corrections / sizeof *corrections; i++) {
        snprintf(body, sizeof body, "{\"folder\":\"run\",%s}", corrections[i]);
        question("POST", "/api/v1/view/corrections", body);
    }
    ask_view("/tracks?folder=run");
    question("POST", "/api/v1/view/undo", "{\"folder\":\"run\"}");
    question("POST", "/api/v1/view/undo", "{\"folder\":\"run\"}");
    question("POST", "/api/v1/view/redo", "{\"folder\":\"run\"}");
    ask_view("/frames?folder=run&from=11&to=11");
    static const char *const saves[] = {"", ",\"to\":7", ",\"to\":\"../outside/r\"", ",\"to\":\"run\"",
                                        ",\"to\":\"saved\""};
    for (size_t i = 0; i < sizeof saves / sizeof *saves; i++) {
        snprintf(body, sizeof body, "{\"folder\":\"run\"%s}", saves[i]);
        question("POST", "/api/v1/view/save", body);
    }
    ask_view("/tracks?folder=saved");
    question("GET", "/api/v1/probe?path=run", NULL);
    recorded_check("tests/server/answers_view.txt");
}

static int open_all(void **state)
{
    static const char hydra[] = "{\"file_path\":\"a.mp4\",\"yolo_obb_direct_model_path\":\"boxes.pt\",\"max_"
                                "targets\":3,\"fps\":30,\"reference_body_size\":40,"
                                "\"start_frame\":2,\"end_frame\":9,\"lost_threshold_seconds\":0.5,"
                                "\"confidence_threshold\":0.3,\"yolo_target_classes\":[1,2]}";
    static const char regions[] = "{\"file_path\":\"none.mp4\",\"roi_shapes\":[{\"type\":\"circle\","
                                  "\"params\":[50,60,40],\"mode\":\"include\"},{\"type\":\"polygon\","
                                  "\"params\":[[1,2],[30,2],[30,40.5]],\"mode\":\"exclude\"}],\"detection_"
                                  "method\":\"background_subtraction\"}";
    char theirs[2048];
    open_asked(state);
    mkdir(place("top/sub"), 0700);
    mkdir(place("top/many"), 0700);
    mkdir(place("top/many/Zebra"), 0700);
    mkdir(place("top/many/ant"), 0700);
    static const char *const many[] = {"b.mp4",   "B.mp4", "a10.png", "a2.png", "c.onnx", "c.txt",
                                       ".hidden", "d.skq", "e.slp",   "f.yaml", "z.AVI",  "weights.PT"};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        char name[64];
        snprintf(name, sizeof name, "top/many/%s", many[i]);
        put_file(name, many[i]);
    }
    const struct timespec then[2] = {{.tv_sec = 1600000000}, {.tv_sec = 1600000000}};
    utimensat(AT_FDCWD, place("top/many/Zebra"), then, 0);
    utimensat(AT_FDCWD, place("top/many/ant"), then, 0);
    const yolo_fixture pose = {.head = "Pose", .f32 = true}, boxes = {.head = "OBB", .f32 = true};
    assert_int_equal(rename(yolo_save(&pose, "pose.pt"), place("top/pose.pt")), 0);
    assert_int_equal(rename(yolo_save(&boxes, "turned.pt"), place("top/turned.pt")), 0);
    put_file("top/a.mp4", "x");
    put_file("top/sub/b.mp4", "xy");
    put_file("top/a b'c.mp4", "x");
    put_file("top/boxes.pt", "no model");
    put_file("top/d.csv", "no detections");
    put_file("top/words.txt", "a.mp4\n");
    put_file("top/broken.json", "{\"gate\":");
    put_file("top/empty.json", "{}");
    put_file("top/list.json", "[1]");
    put_file("top/run.json", "{\"state\":\"finished\"}");
    put_file("top/hydra.json", hydra);
    put_file("top/regions.json", regions);
    put_file("top/whole.json", "{\"run\":{\"source\":[\"a.mp4\"],\"model\":[\"boxes.pt\"],\"conf\":0.5,"
                               "\"online\":true},\"tracker\":{\"gate\":2}}");
    put_file("outside/m.pt", "x");
    snprintf(theirs, sizeof theirs,
             "{\"yolo_obb_direct_model_path\":\"%s\",\"max_targets\":3,\"fps\":30,\"reference_body_size\":9}",
             place("outside/m.pt"));
    put_file("top/theirs.json", theirs);
    put_file("outside/theirs.json", theirs);
    snprintf(theirs, sizeof theirs, "{\"run\":{\"roi-mask\":\"%s\",\"conf\":0.5}}", place("outside/m.pt"));
    put_file("top/ours.json", theirs);
    sk_error err = {0};
    char *png = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(test_source("tests/fixtures/grey_64x48.png"), 1 << 20, &png, &length, &err), &err);
    assert_ok(sk_file_replace(place("top/p.png"), png, length, &err), &err);
    sk_free(png);
    return chdir(place("top"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_and_commands),
                                       cmocka_unit_test(configurations),
                                       cmocka_unit_test(files),
                                       cmocka_unit_test(twenty_are_remembered),
                                       cmocka_unit_test(skeletons_are_told),
                                       cmocka_unit_test(results)};
    return cmocka_run_group_tests(tests, open_all, close_asked);
}
