/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings the flags of eval, net and of correct's copy reach, and what is told of what came of it: the work is played. */
#include "terminal.h"

#include "app/correct.h"
#include "app/network.h"
#include "base/file.h"
#include "base/memory.h"
#include "eval/eval.h"
#include "formats/npy.h"
#include "media/overlay.h"
#include "support/yolo_writer.h"

#include <signal.h>

static said s;
static sk_error err;
static int calls;

/* --- the play: in place of eval/eval.c, app/correct_save.c and app/network.c --- */

static sk_eval_settings measured;
static double sigmas[1100];
static char body[2][32];
static size_t frames[2];
const double sk_eval_coco_sigmas[17] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09,
                                        0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17};

void sk_eval_defaults(sk_eval_settings *settings)
{
    *settings = (sk_eval_settings){.box_max_det = 100, .pose_max_det = 20};
}

sk_status sk_eval_run(const sk_annotation_set *result, const sk_annotation_set *truth,
                      const sk_eval_settings *settings, sk_eval_report *report, sk_error *problem)
{
    (void)problem;
    calls++;
    measured = *settings;
    for (int32_t i = 0; i < settings->n_sigmas; i++)
        sigmas[i] = settings->sigmas[i];
    snprintf(body[0], sizeof body[0], "%s", settings->body_from ? settings->body_from : "-");
    snprintf(body[1], sizeof body[1], "%s", settings->body_to ? settings->body_to : "-");
    frames[0] = result->n_images;
    frames[1] = truth->n_images;
    *report = (sk_eval_report){.frames = 7, .covered = 7};
    return SK_OK;
}

void sk_eval_free(sk_eval_report *report)
{
    *report = (sk_eval_report){0};
}

static sk_correct_save saved;
static char out[64], formats[SK_PREDICT_MAX_FORMATS][32];
static bool notices;

sk_status sk_correct_save_run(sk_run_view *view, const sk_correct_save *how, sk_predict_report *report,
                              sk_error *problem)
{
    (void)view, (void)problem;
    calls++;
    saved = *how;
    snprintf(out, sizeof out, "%s", how->out);
    for (int32_t i = 0; i < how->n_formats; i++)
        snprintf(formats[i], sizeof formats[i], "%s", how->formats[i]);
    const sk_predict_progress p = {.done = 3, .total = 99};
    *report = (sk_predict_report){.total_frames = 12, .n_files = 2, .files = {"copy/a.csv", "copy/run.json"}};
    report->stopped = how->watch(how->context, &p);
    if (notices)
        snprintf(report->notice, sizeof report->notice, "a notice");
    return SK_OK;
}

static sk_session_settings opened;
static char engine_name[32];
static int32_t n_outputs = 1;

sk_status sk_net_run_array(const sk_model *model, const sk_engine *engine, const sk_tensor *array,
                           const sk_session_settings *settings, sk_tensor *outputs, int32_t *count,
                           sk_error *problem)
{
    (void)model, (void)problem;
    calls++;
    opened = *settings;
    snprintf(engine_name, sizeof engine_name, "%s", engine->name);
    assert_int_equal(array->shape.rank, 4);
    for (int32_t i = 0; i < n_outputs; i++) {
        float *numbers = sk_calloc(2, sizeof *numbers);
        outputs[i] = (sk_tensor){.dtype = SK_DTYPE_F32, .shape = {.rank = 2, .dim = {1, 2}}, .data = numbers};
    }
    *count = n_outputs;
    return SK_OK;
}

#define REACHES(words, condition)                                                                            \
    do {                                                                                                     \
        calls = 0;                                                                                           \
        SAID_OK(&s, words);                                                                                  \
        assert_int_equal(calls, 1);                                                                          \
        if (!(condition))                                                                                    \
            fail_msg("%s: not %s", words, #condition);                                                       \
    } while (0)

/* --- eval --- */

static void evals(void **state)
{
    (void)state;
    const sk_eval_settings *e = &measured;
    REACHES("eval found.csv truth.csv", frames[0] == 1 && frames[1] == 2);
    assert_string_equal(s.out, "7 frames\n");
    assert_true(e->confidence == 0 && e->min_visible == 0.3 && !e->any_class && !e->covered_only &&
                e->shift == 0 && e->distance == 0);
    assert_true(e->box_max_det == 100 && e->pose_max_det == 20 && e->n_sigmas == 1 && sigmas[0] == 0.05);
    assert_true(e->n_pck == 3 && e->pck[0] == 0.05 && e->pck[1] == 0.1 && e->pck[2] == 0.2);
    assert_string_equal(body[0], "-");
    REACHES("eval found.csv truth.csv --conf 0.5 --any-class --min-visible 0.75 --covered",
            e->confidence == 0.5 && e->any_class && e->min_visible == 0.75 && e->covered_only);
    REACHES("eval found.csv truth.csv --shift -0.5 --distance 12.5 --max-det 7",
            e->shift == -0.5 && e->distance == 12.5 && e->box_max_det == 7 && e->pose_max_det == 7);
    REACHES("eval found.csv truth.csv --body nose,a,b", true);
    assert_string_equal(body[0], "nose");
    assert_string_equal(body[1], "a,b");
    REACHES("eval found.csv truth.csv --body n,t", true);
    assert_string_equal(body[0], "n");
    assert_string_equal(body[1], "t");
    REACHES("eval found.csv truth.csv --sigmas coco", e->n_sigmas == 17);
    for (int i = 0; i < 17; i++)
        assert_true(sigmas[i] == sk_eval_coco_sigmas[i]);
    REACHES("eval found.csv truth.csv --sigmas 0.1,0.2,10", e->n_sigmas == 3 && sigmas[2] == 10);
    REACHES("eval found.csv truth.csv --pck 10,0.001", e->n_pck == 2 && e->pck[0] == 10);
    for (int more = 0; more < 2; more++) { /* as many as there is room for, and one more */
        static char list[4096];
        list[0] = '\0';
        for (int i = 0; i < 1024 + more; i++)
            strcat(list, i ? ",1" : "1");
        said_run(&s, "eval found.csv truth.csv --sigmas %s", list);
        assert_int_equal(s.status, more ? SK_ERR_ARG : SK_OK);
        if (more)
            assert_string_equal(s.error.message, "--sigmas: at most 1024 numbers");
        assert_int_equal(e->n_sigmas, 1024);
    }
    REACHES("eval found.csv truth.csv --json", true);
    assert_int_equal(s.out[0], '{');
}

/* --- a corrected copy --- */

static void copies(void **state)
{
    (void)state;
    FILE *file = fopen("seen.csv", "w");
    assert_non_null(file);
    fputs("frame,name,score,x1,y1,x2,y2\n", file);
    for (int f = 0; f < 12; f++)
        for (int a = 0; a < 2; a++)
            fprintf(file, "%d,mouse,0.9,%d,%d,%d,%d\n", f, 20 + 90 * a + f, 30, 40 + 90 * a + f, 40);
    fclose(file);
    SAID_OK(&s, "track --detections seen.csv -o run -q --no-report -f jsonl");
    REACHES("correct run -o copy", saved.report && !saved.overlay && !saved.restart && !saved.overwrite);
    assert_true(saved.n_formats == 0 && saved.draw == SK_DRAW_ALL && saved.line_width == 0);
    assert_string_equal(out, "copy");
    assert_string_equal(s.out, "corrected copy, 12 frames:\n  copy/a.csv\n  copy/run.json\n");
    said_has(s.err, "saving: 3 frames in ");
    REACHES("correct run -o copy -q", true);
    assert_string_equal(s.out, "");
    assert_string_equal(s.err, "");
    REACHES("correct run -o copy --no-report --save-overlay --restart --overwrite",
            !saved.report && saved.overlay && saved.restart && saved.overwrite);
    REACHES("correct run -o copy --save-overlay --draw boxes --line-width 2.5",
            saved.draw == SK_DRAW_BOXES && saved.line_width == 2.5F);
    REACHES("correct run -o copy -f csv,mot", saved.n_formats == 2);
    assert_string_equal(formats[0], "csv");
    assert_string_equal(formats[1], "mot");
    REACHES("correct run -o copy -f a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", saved.n_formats == 16);
    assert_string_equal(formats[15], "p");
    notices = true;
    REACHES("correct run -o copy --json", true);
    said_has(s.err, "skitter: warning: a notice\n");
    said_has(s.out, "\"folder\": \"copy\",\n    \"notice\": \"a notice\",\n    \"files\": [\n      "
                    "\"copy/a.csv\",\n      \"copy/run.json\"\n    ]\n  }\n}\n");
    notices = false;
    REACHES("correct run -o copy --delete 0", true); /* steps, and the copy: the table is not asked for */
    said_lacks(s.out, "deserve");
    said_lacks(s.out, "correction");
    /* numbers at their ends are understood: there is no such track */
    static const char *const large[] = {"--delete 2147483647", "--delete 1@9223372036854775806",
                                        "--delete 1@0-9223372036854775806"};
    for (size_t i = 0; i < 3; i++) {
        said_run(&s, "correct run %s", large[i]);
        said_lacks(s.error.message, "cannot be understood");
    }
    static const char *const odd[] = {"--delete /", "--delete :", "--delete 1@/", "--delete 1@:"};
    for (size_t i = 0; i < 4; i++)
        SAID_REFUSES(&s, SK_ERR_ARG, "cannot be understood", "correct run %s", odd[i]);
    static terminal screen;
    sk_args *args = NULL;
    const char *words[] = {"run", "-o", "copy"};
    assert_ok(sk_args_parse(sk_command_find("correct"), 3, words, &args, &err), &err);
    fflush(stdout);
    const int own = dup(1);
    FILE *unseen = tmpfile();
    assert_true(own >= 0 && unseen && dup2(fileno(unseen), 1) == 1);
    terminal_begin(&screen, 2);
    const sk_status status = sk_command_find("correct")->run(args, &err);
    terminal_end(&screen);
    fflush(stdout);
    assert_int_equal(dup2(own, 1), 1);
    close(own);
    fclose(unseen);
    sk_args_close(&args);
    assert_ok(status, &err);
    said_has(screen.text, "saving  25% [");
    said_has(screen.text, " 3/12 frames"); /* of the run's, not what the work says */
}

/* --- net --- */

static void nets(void **state)
{
    (void)state;
    static float numbers[3 * 32 * 32];
    sk_tensor t = {.dtype = SK_DTYPE_F32, .shape = {.rank = 4, .dim = {1, 3, 32, 32}}, .data = numbers};
    assert_ok(sk_npy_write("in.npy", &t, &err), &err);
    REACHES("net m.pt -i in.npy -o out.npy", opened.tail == SK_TAIL_KEEP && opened.threads == 0);
    assert_string_equal(engine_name, "cpu");
    assert_string_equal(opened.options, "");
    assert_true(opened.precision == SK_PRECISION_AUTO);
    assert_string_equal(s.out, "out.npy: f32 1x2\n");
    REACHES("net m.pt -i in.npy -o out.npy --raw-heads --threads 3 --precision f32",
            opened.tail == SK_TAIL_CUT && opened.threads == 3 && opened.precision == SK_PRECISION_F32);
    REACHES("net m.pt -i in.npy -o out.npy --no-winograd", strcmp(opened.options, "winograd=off") == 0);
    REACHES("net m.pt -i in.npy -o out.npy --engine-option winograd=off",
            strcmp(opened.options, "winograd=off") == 0);
    REACHES("net m.pt -i in.npy -o out.npy -r reference", strcmp(engine_name, "reference") == 0);
    n_outputs = 3;
    REACHES("net m.pt -i in.npy -o many.npy", true);
    assert_string_equal(s.out, "many.0.npy: f32 1x2\nmany.1.npy: f32 1x2\nmany.2.npy: f32 1x2\n");
    REACHES("net m.pt -i in.npy -o a.npy -q", true);
    assert_string_equal(s.out, "");
    assert_true(sk_file_exists("a.0.npy"));
    SAID_REFUSES(&s, SK_ERR_ARG, "", "net m.pt -i in.npy -o out.npy --engine-option nonsense=1");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "nowhere", "net m.pt -i in.npy -o nowhere/out.npy");
}

static void infos(void **state)
{
    (void)state;
    SAID_OK(&s, "info m.pt");
    said_has(s.out, "classes");
    const size_t plain = strlen(s.out);
    assert_true(plain > 1 && s.out[plain - 1] == '\n' && s.out[plain - 2] != '\n');
    SAID_OK(&s, "info m.pt --layers");
    assert_true(strlen(s.out) > 2 * plain);
    said_has(s.out, "32x32");
    said_lacks(s.out, "64x96");
    SAID_OK(&s, "info m.pt --layers --imgsz 64x96");
    said_has(s.out, "64x96");
    SAID_OK(&s, "info m.pt --json");
    assert_true(s.out[0] == '{' && strcmp(s.out + strlen(s.out) - 2, "}\n") == 0);
    SAID_REFUSES(&s, SK_ERR_ARG, "--imgsz x: ", "info m.pt --imgsz x");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "none.pt", "info none.pt");
}

/* The last: from then on Ctrl-C has been pressed. */
static void interrupted(void **state)
{
    (void)state;
    (void)sk_cli_interrupted();
    raise(SIGINT);
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "interrupted; the same command goes on from there",
                 "correct run -o copy");
    assert_string_equal(s.out, "");
}

int main(void)
{
    static const char truth[] = "frame,name,x1,y1,x2,y2\n0,fly,0,0,10,10\n1,fly,0,0,10,10\n";
    static const char found[] = "frame,name,score,x1,y1,x2,y2\n0,fly,0.9,0,0,10,10\n";
    if (chdir(test_folder()) != 0 || sk_file_replace("truth.csv", truth, strlen(truth), &err) != SK_OK ||
        sk_file_replace("found.csv", found, strlen(found), &err) != SK_OK)
        return 1;
    signal(SIGINT, SIG_DFL);
    setenv("TERM", "xterm", 1);
    unsetenv("SKITTER_PROGRAM");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    (void)yolo_save(&fixture, "m.pt");
    const struct CMUnitTest tests[] = {cmocka_unit_test(evals), cmocka_unit_test(copies),
                                       cmocka_unit_test(nets), cmocka_unit_test(infos),
                                       cmocka_unit_test(interrupted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
