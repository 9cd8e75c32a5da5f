/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings the flags of scene, demo, quantize and serve reach, and what is told on the way and at the end: the work is played. */
#include "terminal.h"

#include "app/demo.h"
#include "app/quantize.h"
#include "app/scene_run.h"
#include "base/file.h"
#include "base/memory.h"
#include "server/server.h"

#include <signal.h>

static said s;
static int calls;
static bool stops; /* a person presses Ctrl-C */
static char texts[8][64];

/* What settings borrow ends with the command. */
static void keep(int i, const char *text)
{
    snprintf(texts[i], sizeof texts[i], "%s", text ? text : "-");
}

static void press(void)
{
    calls++;
    if (stops)
        raise(SIGINT);
}

/* --- the play: in place of app/scene_run.c, demo.c, quantize.c and server/server.c --- */

static sk_scene_run_settings drawn;

void sk_scene_run_defaults(sk_scene_run_settings *settings)
{
    *settings = (sk_scene_run_settings){0};
}

sk_status sk_scene_run(const sk_scene_run_settings *settings, sk_scene_watch watch, void *context,
                       sk_scene_report *report, sk_error *err)
{
    (void)err;
    drawn = *settings;
    keep(0, settings->output);
    keep(1, settings->truth);
    keep(2, settings->mot);
    keep(3, settings->extension);
    press();
    const bool stopped = watch(context, 2, 99);
    *report = (sk_scene_report){.frames = 2, .instances = 9, .stopped = stopped, .seconds = 1.25};
    return SK_OK;
}

static sk_demo_settings shown;
static sk_demo_report demo;
const char *const sk_demo_part_names[SK_DEMO_PARTS] = {"boxes", "poses"};

void sk_demo_defaults(sk_demo_settings *settings)
{
    *settings = (sk_demo_settings){0};
}

sk_status sk_demo_run(const sk_demo_settings *settings, sk_demo_watch watch, void *context,
                      sk_demo_report **out, sk_error *err)
{
    (void)err;
    shown = *settings;
    keep(0, settings->out);
    keep(1, settings->models);
    keep(2, settings->runtime);
    keep(3, settings->runtime_requested);
    keep(4, settings->program);
    press();
    (void)watch(context, "drawing", 1, 4, 0.5);
    (void)watch(context, "drawing", 4, 4, 2);
    demo.stopped = watch(context, "boxes", 3, -1, 1.5);
    *out = &demo;
    return SK_OK;
}

void sk_demo_free(sk_demo_report **report)
{
    sk_text_free(&(*report)->summary);
    *report = NULL;
}

static sk_quantize_settings quantized;
static const char *notice;

void sk_quantize_defaults(sk_quantize_settings *settings)
{
    *settings = (sk_quantize_settings){0};
}

sk_status sk_quantize_run(const sk_quantize_settings *settings, sk_quantize_report *report, sk_error *err)
{
    static const char *const steps[] = {"looking", "rounding"};
    (void)err;
    quantized = *settings;
    keep(0, settings->model);
    keep(1, settings->data);
    keep(2, settings->output);
    keep(3, settings->report);
    keep(4, settings->truth);
    keep(5, settings->finder);
    keep(6, settings->detections);
    press();
    bool stopped = false;
    for (int i = 0; i < 2 && !stopped; i++)
        for (int k = 1; k < 4 && !stopped; k++)
            stopped = settings->watch(settings->context, steps[i], k + i, 3 + i);
    if (stopped)
        return sk_fail(err, SK_ERR_CANCELLED, "stopped");
    *report = (sk_quantize_report){.bytes = 2048, .seconds = 1.5};
    report->n_notices = notice != NULL;
    snprintf(report->notices[0], sizeof report->notices[0], "%s", notice ? notice : "");
    return SK_OK;
}

void sk_quantize_report_free(sk_quantize_report *report)
{
    calls++;
    *report = (sk_quantize_report){0};
}

void sk_quantize_report_json(const sk_quantize_report *report, sk_json *json)
{
    sk_json_object(json);
    sk_json_key_int(json, "bytes", report->bytes);
    sk_json_close(json);
}

static sk_server_settings served;
static char folders[20][16];

sk_status sk_server_open(const sk_server_settings *settings, sk_server **out, sk_error *err)
{
    served = *settings;
    keep(0, settings->host);
    keep(1, settings->password);
    keep(2, settings->certificate);
    keep(3, settings->key);
    for (int32_t i = 0; i < settings->n_folders; i++)
        snprintf(folders[i], sizeof folders[i], "%s", settings->folders[i]);
    press();
    *out = NULL;
    return stops ? SK_OK : sk_fail(err, SK_ERR_BUSY, "the port is taken");
}

const char *sk_server_link(const sk_server *server)
{
    (void)server;
    return "http://here/?token=1";
}

const char *sk_server_notice(const sk_server *server)
{
    (void)server;
    return notice ? notice : "";
}

void sk_server_close(sk_server **server)
{
    (void)server;
    calls++;
}

/* --- scene --- */

static void scenes(void **state)
{
    (void)state;
    const sk_scene_settings *c = &drawn.scene;
    SAID_OK(&s, "scene -o v.mp4");
    assert_true(drawn.frames == 120 && drawn.pictures == 0 && c->animals == 4 && c->rate == 30);
    assert_true(c->seed == 1 && c->hides == 0 && !c->open_border && c->width == 640 && c->height == 480);
    assert_true((int)c->species == 0 && drawn.labels == SK_SCENE_LABELS_POSE);
    assert_string_equal(texts[0], "v.mp4");
    assert_string_equal(texts[1], "-");
    assert_string_equal(s.out, "v.mp4: 2 frames, 9 animals in all, seed 1, 1.2 s\n");
    said_has(s.err, "scene: 2 frames in ");
    SAID_OK(&s, "scene -o v.mp4 -q");
    assert_string_equal(s.out, "");
    assert_string_equal(s.err, "");
    /* half a frame is one, and less is one, too: a video has a frame */
    static const struct {
        const char *words;
        int64_t frames;
    } lengths[] = {{"--seconds 0.001 --fps 1", 1},          {"--seconds 0.049 --fps 10", 1},
                   {"--seconds 0.05 --fps 10", 1},          {"--seconds 0.149 --fps 10", 1},
                   {"--seconds 0.15 --fps 10", 2},          {"--seconds 2 --fps 25", 50},
                   {"--seconds 86400 --fps 1000", 86400000}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        SAID_OK(&s, "scene --truth t.csv --truth t.txt %s", lengths[i].words);
        assert_int_equal(drawn.frames, lengths[i].frames);
    }
    assert_string_equal(texts[0], "-");
    assert_string_equal(texts[1], "t.csv");
    assert_string_equal(texts[2], "t.txt");
    assert_string_equal(s.out, "t.csv: 2 frames, 9 animals in all, seed 1, 1.2 s\n");
    SAID_OK(&s, "scene -o p --pictures 7 --labels obb --picture-format png --hides 3 --border open --seed 9 "
                "--size 320x200 --species mouse --animals 5 --behaviour huddle");
    assert_true(drawn.pictures == 7 && drawn.labels == SK_SCENE_LABELS_OBB && c->hides == 3);
    assert_true(c->open_border && c->seed == 9 && c->width == 320 && c->height == 200 && c->animals == 5);
    assert_true(strcmp(sk_species_names[c->species], "mouse") == 0 && c->behaviour == SK_BEHAVE_HUDDLE);
    assert_string_equal(texts[3], ".png");
    assert_string_equal(s.out, "p: 2 pictures, 9 animals in all, seed 9, 1.2 s\n");
    said_has(s.err, "scene: 2 pictures in ");
    SAID_OK(&s, "scene -o p --pictures 1 --labels box --species mixed");
    assert_true(drawn.labels == SK_SCENE_LABELS_BOX);
    assert_string_equal(sk_species_names[c->species], "mixed");
    assert_string_equal(texts[3], ".jpg");
    SAID_OK(&s, "scene -o v.mp4 --json");
    assert_string_equal(s.out,
                        "{\n  \"output\": \"v.mp4\",\n  \"truth\": null,\n  \"frames\": 2,\n  \"instances\": "
                        "9,\n  \"seconds\": 1.25\n}\n");
}

/* --- demo --- */

static void demos(void **state)
{
    (void)state;
    sk_text_append(&demo.summary, "a summary\n");
    SAID_OK(&s, "demo");
    assert_string_equal(texts[2], "cpu");
    assert_string_equal(texts[3], "cpu");
    assert_string_equal(texts[4], "skitter");
    assert_true(!shown.restart && !shown.pictures && !shown.compare && !shown.runtime_fell_back);
    assert_true(shown.scene.animals == 7 && shown.scene.seed == SK_DEMO_FIRST_SEED && shown.threads == 0);
    assert_string_equal(s.out, "a summary\n");
    assert_string_equal(s.err, "drawing: 4 frames in 2.0 s, 2.0/s\nboxes: 3 frames in 1.5 s, 2.0/s\n");
    sk_text_append(&demo.summary, "again\n");
    demo.continued = true;
    SAID_OK(&s,
            "demo -o there --models them --threads 3 --restart --pictures --compare --seed 5 --seconds 2.5 "
            "--animals 3 --species fly -r reference");
    assert_string_equal(texts[0], "there");
    assert_string_equal(texts[1], "them");
    assert_string_equal(texts[2], "reference");
    assert_true(shown.restart && shown.pictures && shown.compare && shown.threads == 3);
    assert_true(shown.scene.animals == 3 && shown.scene.seed == SK_DEMO_FIRST_SEED + 5 &&
                shown.seconds == 2.5);
    assert_string_equal(sk_species_names[shown.scene.species], "fly");
    said_has(s.err, "This demo had been interrupted and was continued.\n");
    assert_string_equal(s.out, "again\n");
    demo.nothing_to_do = true;
    SAID_OK(&s, "demo -o there");
    said_has(s.err, "This demo had finished already in there; what it said then follows. --restart does it "
                    "again.\n");
    said_lacks(s.err, "continued");
    SAID_OK(&s, "demo -o there -q");
    assert_string_equal(s.err, "");
    SAID_OK(&s, "demo -o there --json");
    assert_int_equal(s.out[0], '{');
    said_lacks(s.err, "finished already");
    demo.nothing_to_do = demo.continued = false;
}

/* --- quantize --- */

static void quantizes(void **state)
{
    (void)state;
    const sk_quantize_settings *q = &quantized;
    calls = 0;
    SAID_OK(&s, "quantize folder/m.pt -d film.mp4");
    assert_int_equal(calls, 2); /* what was made is freed */
    assert_string_equal(texts[1], "film.mp4");
    assert_string_equal(texts[2], "folder/m.skq");
    for (int i = 3; i < 7; i++)
        assert_string_equal(texts[i], "-");
    assert_true(q->frames == 100 && q->percent == 99.99 && q->confidence == 0.25F && q->threads == 0);
    assert_true(q->peak_threshold == 0.2F && q->heads == SK_HEADS_AUTO && !q->overwrite && q->height == 0);
    said_has(s.out, "folder/m.skq: 2.0 kB, ");
    said_lacks(s.out, "hurts");
    said_has(s.err, "looking: 3 steps in ");
    said_has(s.err, "\nrounding: 4 steps in ");
    SAID_OK(&s, "quantize m.pt -d film.mp4 -o x.skq --report r.json --truth t.csv --finder f.pt --detections "
                "d.csv --peak-threshold 0.5 --conf 0.75 --nms off --threads 2 --overwrite --layers");
    assert_string_equal(texts[2], "x.skq");
    assert_string_equal(texts[3], "r.json");
    assert_string_equal(texts[4], "t.csv");
    assert_string_equal(texts[5], "f.pt");
    assert_string_equal(texts[6], "d.csv");
    assert_true(q->peak_threshold == 0.5F && q->confidence == 0.75F && q->heads == SK_HEADS_ONE_TO_ONE);
    assert_true(q->threads == 2 && q->overwrite);
    said_has(s.out, "hurts");
    notice = "it lost much";
    SAID_OK(&s, "quantize m.pt -d film.mp4 --json");
    assert_string_equal(s.out, "{\n  \"bytes\": 2048\n}\n");
    said_has(s.err, "skitter: warning: it lost much\n");
    SAID_OK(&s, "quantize m.pt -d film.mp4 -q");
    assert_string_equal(s.err, "");
    notice = NULL;
}

/* --- bars --- */

/* A command whose standard error is a terminal: what that shows. */
static const char *on_terminal(const char *name, int n, const char *const *words)
{
    static terminal screen;
    sk_args *args = NULL;
    sk_error err = {0};
    FILE *unseen = tmpfile();
    fflush(stdout);
    const int own = dup(1);
    assert_ok(sk_args_parse(sk_command_find(name), n, words, &args, &err), &err);
    assert_true(unseen && own >= 0 && dup2(fileno(unseen), 1) == 1);
    terminal_begin(&screen, 2);
    const sk_status status = sk_command_find(name)->run(args, &err);
    terminal_end(&screen);
    fflush(stdout);
    assert_int_equal(dup2(own, 1), 1);
    close(own);
    fclose(unseen);
    sk_args_close(&args);
    assert_ok(status, &err);
    return screen.text;
}

static void bars(void **state)
{
    (void)state;
    static const char *const video[] = {"-o", "v.mp4", "--seconds", "2", "--fps", "10"};
    static const char *const pictures[] = {"-o", "p", "--pictures", "8"};
    static const char *const film[] = {"m.pt", "-d", "film.mp4"};
    said_has(on_terminal("scene", 6, video), "% [####------------------------------------] 2/20 frames");
    said_has(on_terminal("scene", 4, pictures), " 2/8 pictures");
    const char *text = on_terminal("demo", 0, NULL);
    said_has(text, "drawing  25% [");
    said_has(text, " 1/4 frames");
    said_has(text, "boxes 3 frames"); /* nobody knows of how many */
    text = on_terminal("quantize", 3, film);
    said_has(text, "looking  33% [");
    said_has(text, " 1/3 steps");
    said_has(text, " 2/4 steps");
}

/* --- serve, and Ctrl-C: the last, as from then on it has been pressed --- */

static void pages(void **state)
{
    (void)state;
    sk_error err = {0};
    calls = 0;
    SAID_REFUSES(&s, SK_ERR_BUSY, "the port is taken", "serve");
    assert_string_equal(s.out, "");
    assert_int_equal(calls, 2);
    assert_string_equal(texts[0], "127.0.0.1");
    assert_true(served.port == 8765 && served.n_folders == 0 && served.doors != NULL);
    for (int i = 1; i < 4; i++)
        assert_string_equal(texts[i], "-");
    assert_ok(sk_file_replace("secret.txt", "open\r\nsesame\n", 13, &err), &err);
    stops = true;
    SAID_OK(&s, "serve 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 -p 0 --host 0.0.0.0 --password secret.txt "
                "--certificate c.pem --key k.pem");
    assert_true(served.port == 0 && served.n_folders == 16);
    assert_string_equal(folders[0], "1");
    assert_string_equal(folders[15], "16");
    assert_string_equal(texts[0], "0.0.0.0");
    assert_string_equal(texts[1], "open");
    assert_string_equal(texts[2], "c.pem");
    assert_string_equal(texts[3], "k.pem");
    assert_string_equal(s.out, "http://here/?token=1\n");
    assert_string_equal(s.err,
                        "Open this link in a browser. Ctrl-C ends the page; runs that it started go on.\n");
    stops = false; /* it has been */
}

static void interrupted(void **state)
{
    (void)state;
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "interrupted after 2 frames", "scene -o v.mp4");
    said_has(s.out, "v.mp4: 2 frames, "); /* what there is is told */
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "interrupted after 2 pictures", "scene -o p --pictures 8");
    sk_text_append(&demo.summary, "a summary\n");
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "interrupted; the same command goes on from here", "demo");
    assert_string_equal(s.out, "");
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "stopped", "quantize m.pt -d film.mp4");
    assert_string_equal(s.out, "");
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    signal(SIGINT, SIG_DFL);
    setenv("TERM", "xterm", 1);
    unsetenv("SKITTER_PROGRAM");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes), cmocka_unit_test(demos), cmocka_unit_test(quantizes),
        cmocka_unit_test(bars),   cmocka_unit_test(pages), cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
