/* SPDX-License-Identifier: Apache-2.0 */
/* Commands as they are typed, in the test's own process: what they print, which files they leave, what they refuse. */
#include "said.h"
#include "text_files.h"

#include "app/correct.h"
#include "base/file.h"
#include "base/memory.h"

#include <sys/stat.h>

static said s;
static char home[4096]; /* the folder that everything is done in */

static int lines_of(const char *name)
{
    int n = 0;
    for (const char *c = read_file(name); *c; c++)
        n += *c == '\n';
    return n;
}

/* --- scene --- */

static void scenes(void **state)
{
    (void)state;
    SAID_REFUSES(&s, SK_ERR_ARG, "nowhere to write to\n", "scene");
    SAID_REFUSES(&s, SK_ERR_ARG, "nowhere to write pictures to\nname their folder", "scene --pictures 1");
    SAID_REFUSES(&s, SK_ERR_ARG, "--truth t.xml: a truth's name ends in .csv", "scene --truth t.xml");
    SAID_REFUSES(&s, SK_ERR_ARG, "--truth: a.csv and b.csv hold the same",
                 "scene --truth a.csv --truth b.csv");
    SAID_REFUSES(&s, SK_ERR_ARG, "--truth: a.txt and b.txt hold the same",
                 "scene --truth a.txt --truth b.txt");
    SAID_REFUSES(&s, SK_ERR_ARG, "follows animals through a video", "scene --pictures 1 -o p --truth a.txt");
    SAID_REFUSES(&s, SK_ERR_ARG, "--size 64: give width x height", "scene --truth a.csv --size 64");
    SAID_REFUSES(&s, SK_ERR_ARG, "--size 64x64x: give width x height", "scene --truth a.csv --size 64x64x");
    SAID_REFUSES(&s, SK_ERR_ARG, "v: a video's name ends in .mp4", "scene -o v");
    SAID_REFUSES(&s, SK_ERR_ARG, "v.mp4: --pictures makes a folder", "scene -o v.mp4 --pictures 1");
    SAID_REFUSES(&s, SK_ERR_ARG, "--labels and --picture-format are for pictures",
                 "scene --truth a.csv --labels box");
    SAID_REFUSES(&s, SK_ERR_ARG, "are for pictures", "scene --truth a.csv --picture-format png");
    /* the truth alone: two seconds of ten frames, three animals */
    SAID_OK(&s, "scene --truth a.csv --seconds 2 --fps 10 --animals 3 --seed 7");
    said_has(s.out, "a.csv: 20 frames, 60 animals in all, seed 7, ");
    assert_int_equal(lines_of("a.csv"), 61);
    SAID_OK(&s, "scene --truth b.csv --truth b.txt --seconds 0.05 --fps 10 --json"); /* half a frame is one */
    said_has(s.out, "  \"output\": null,\n  \"truth\": \"b.csv\",\n  \"mot\": \"b.txt\",\n  \"frames\": 1,\n "
                    " \"instances\": 4,\n"
                    "  \"seconds\": ");
    SAID_OK(&s, "scene --truth c.txt --seconds 0.14 --fps 10 --animals 1 -q");
    assert_string_equal(s.out, "");
    assert_int_equal(lines_of("c.txt"), 1);
    SAID_OK(&s, "scene --truth c.txt --seconds 0.15 --fps 10 --animals 1");
    said_has(s.out, "c.txt: 2 frames, ");
    /* what shapes the scene changes it, and the same words give the same */
    static const char *const more[] = {"",          "--seed 2", "--species fly",  "--behaviour huddle",
                                       "--hides 2", "--fps 20", "--size 320x480", "--border open"};
    static char first[SAID_MOST];
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        SAID_OK(&s, "scene --truth d.csv --seconds 8 --animals 5 -q %s", more[i]);
        if (i == 0)
            snprintf(first, sizeof first, "%s", read_file("d.csv"));
        else if (strcmp(first, read_file("d.csv")) == 0)
            fail_msg("%s changes nothing", more[i]);
    }
    SAID_OK(&s, "scene --truth d.csv --seconds 8 --animals 5 -q --seed 1 --species fish --behaviour wander "
                "--hides 0 --fps 30 "
                "--size 640x480 --border closed");
    assert_string_equal(first, read_file("d.csv"));
    SAID_OK(&s, "scene --truth d.csv --seconds 1 --species mixed --animals 9 -q");
    said_has(read_file("d.csv"), ",fish,");
    said_has(read_file("d.csv"), ",fly,");
    said_has(read_file("d.csv"), ",mouse,");
    /* pictures */
    static const struct {
        const char *labels;
        int words;
    } kinds[] = {{"obb", 9}, {"box", 5}};
    for (size_t i = 0; i < 2; i++) {
        SAID_OK(&s, "scene --pictures 2 -o %s --labels %s --size 96x64 --animals 1 --picture-format %s",
                kinds[i].labels, kinds[i].labels, i ? "png" : "jpg");
        said_has(s.out, ": 2 pictures, ");
        char name[64];
        snprintf(name, sizeof name, "%s/images", kinds[i].labels);
        assert_true(sk_file_is_directory(name));
        FILE *list = popen(i ? "ls box/images/*.png" : "ls obb/images/*.jpg", "r");
        char path[256] = "";
        assert_non_null(list);
        int n = 0;
        while (fgets(path, sizeof path, list))
            n++;
        pclose(list);
        assert_int_equal(n, 2);
        path[strcspn(path, "\n")] = '\0';
        snprintf(strrchr(path, '.'), 8, ".txt");
        memcpy(strstr(path, "images"), "labels", 6);
        int words = 0;
        for (char *text = read_file(path), *rest = NULL, *w = strtok_r(text, " \n", &rest); w;
             w = strtok_r(NULL, " \n", &rest))
            words++;
        if (words % kinds[i].words != 0)
            fail_msg("%s has %d words", path, words);
    }
}

/* --- eval --- */

static void evals(void **state)
{
    (void)state;
    /* two of three are found, one beside it, one of another class */
    write_file("truth.csv",
               "frame,name,x1,y1,x2,y2,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n"
               "0,fly,0,0,10,10,1,1,1,9,1,1\n0,bee,20,0,30,10,21,1,1,29,1,1\n1,fly,0,0,10,10,1,1,1,9,1,1\n");
    write_file("found.csv", "frame,name,score,x1,y1,x2,y2,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n"
                            "0,fly,0.9,0,0,10,10,1,2,1,9,1,1\n0,fly,0.8,20,0,30,10,21,1,1,29,1,1\n");
    SAID_OK(&s, "eval found.csv truth.csv");
    said_has(s.out, "2 frames, of which the result has 1\n");
    SAID_OK(&s, "eval found.csv truth.csv --json");
    said_has(s.out, "\"found\": 2");
    SAID_OK(&s, "eval found.csv truth.csv --json --conf 0.85");
    said_has(s.out, "\"found\": 1");
    said_lacks(s.out, "\"found\": 2");
    SAID_OK(&s, "eval found.csv truth.csv --pck 0.5");
    said_has(s.out, "PCK@0.5");
    said_lacks(s.out, "PCK@0.1");
    SAID_OK(&s, "eval found.csv truth.csv --pck 0.1,10");
    said_has(s.out, "PCK@10");
    SAID_OK(&s, "eval found.csv truth.csv");
    static char plain[SAID_MOST];
    snprintf(plain, sizeof plain, "%s", s.out);
    static const char *const change[] = {
        "--any-class",      "--conf 0.85", "--sigmas 0.5", "--sigmas 0.2,0.001",
        "--body nose,tail", "--shift 2",   "--covered",    "--max-det 1 --any-class"};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        SAID_OK(&s, "eval found.csv truth.csv %s", change[i]);
        if (strcmp(s.out, plain) == 0)
            fail_msg("%s changes nothing", change[i]);
    }
    SAID_REFUSES(&s, SK_ERR_ARG, "--pck 0: numbers above 0 and up to 10, parted by commas",
                 "eval found.csv truth.csv --pck 0");
    SAID_REFUSES(&s, SK_ERR_ARG, "--pck 10.5: numbers", "eval found.csv truth.csv --pck 10.5");
    SAID_REFUSES(&s, SK_ERR_ARG, "--pck 1;2: numbers", "eval found.csv truth.csv --pck 1;2");
    SAID_REFUSES(&s, SK_ERR_ARG, "--pck 1,: numbers", "eval found.csv truth.csv --pck 1,");
    SAID_REFUSES(&s, SK_ERR_ARG, "--pck: at most 8 numbers",
                 "eval found.csv truth.csv --pck 1,1,1,1,1,1,1,1,1");
    SAID_OK(&s, "eval found.csv truth.csv --pck 1,1,1,1,1,1,1,1");
    SAID_REFUSES(&s, SK_ERR_ARG, "--sigmas x: numbers", "eval found.csv truth.csv --sigmas x");
    static const char *const bodies[] = {"nose", ",tail", "nose,"};
    for (int i = 0; i < 3; i++)
        SAID_REFUSES(&s, SK_ERR_ARG, ": two keypoints, parted by a comma",
                     "eval found.csv truth.csv --body %s", bodies[i]);
    SAID_OK(&s, "eval found.csv truth.csv --plots plots");
    said_has(s.err, "plots are in plots\n");
    assert_int_equal(strncmp(read_file("plots/curves.json"), "{", 1), 0);
    said_has(read_file("plots/BoxPR_curve.svg"), "<svg");
    said_has(read_file("plots/confusion_matrix_normalized.svg"), "<svg");
    SAID_OK(&s, "eval found.csv truth.csv --plots plots -q");
    assert_string_equal(s.err, "");
    SAID_REFUSES(&s, SK_ERR_IO, "found.csv", "eval found.csv truth.csv --plots found.csv");
}

/* --- config --- */

static void configs(void **state)
{
    (void)state;
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/config", home);
    setenv("SKITTER_CONFIG_DIR", folder, 1);
    SAID_OK(&s, "config");
    assert_string_equal(s.out, "compute_runtime cpu\n  default      cpu         "
                               " <- wins\n");
    SAID_OK(&s, "config get");
    assert_string_equal(s.out, "cpu\n");
    SAID_OK(&s, "config get compute_runtime");
    SAID_REFUSES(&s, SK_ERR_ARG, "there is no setting 'x'\nthere is compute_runtime", "config get x");
    SAID_REFUSES(&s, SK_ERR_ARG, "there is no setting 'x'\nthere is compute_runtime", "config set x cpu");
    SAID_REFUSES(&s, SK_ERR_ARG, "set needs a key and a value", "config set compute_runtime");
    SAID_REFUSES(&s, SK_ERR_ARG, "set needs a key and a value", "config set");
    SAID_REFUSES(&s, SK_ERR_ARG, "get takes no value", "config get compute_runtime cpu");
    SAID_REFUSES(&s, SK_ERR_ARG, "import needs a file", "config import");
    SAID_OK(&s, "config set compute_runtime cpu");
    said_has(s.out, "compute_runtime cpu, saved in ");
    assert_string_equal(s.err, "");
    SAID_OK(&s, "config --json");
    said_has(s.out,
             "\"value\": \"cpu\",\n    \"from\": \"user\",\n    \"usable\": true,\n    \"runs\": \"cpu\",\n");
    said_has(s.out, "\"level\": \"user\"");
    said_has(s.out, "\"level\": \"default\"");
    assert_true(strstr(s.out, "\"level\": \"user\"") < strstr(s.out, "\"level\": \"default\""));
    write_file("skitter.yaml", "compute_runtime: cpu\n");
    SAID_OK(&s, "config set compute_runtime cpu");
    said_has(s.err, "skitter.yaml");
    said_has(s.err, "says 'cpu' and overrules it here");
    SAID_OK(&s, "config set compute_runtime cpu --project");
    said_has(s.out, "skitter.yaml");
    assert_string_equal(s.err, "");
    SAID_OK(&s, "config");
    said_has(s.out, "\n  project      cpu ");
    said_has(s.out, "skitter.yaml  <- wins\n  user");
    setenv("SKITTER_COMPUTE_RUNTIME", "onnx_rocm", 1); /* counts, and cannot be used */
    SAID_OK(&s, "config set compute_runtime cpu --project");
    said_has(s.err, "says 'onnx_rocm' and overrules it here");
    SAID_OK(&s, "config");
    said_has(s.out, "onnx_rocm");
    said_has(s.out, "cannot be used here");
    said_has(s.out, "<- counts, but cannot be used: ");
    said_lacks(s.out, "<- wins");
    SAID_OK(&s, "config get");
    said_has(s.err, "it cannot be used here: ");
    SAID_OK(&s, "config --json");
    said_has(s.out, "\"from\": \"environment\",\n    \"usable\": false,");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    write_file("their.json", "{\"compute_runtime\": \"cpu\", \"other\": 5}");
    SAID_OK(&s, "config import their.json");
    said_has(s.out, "their.json: compute_runtime 'cpu' means cpu\ncompute_runtime cpu, saved in ");
    SAID_OK(&s, "config export their.json");
    said_has(s.out, "their.json: compute_runtime cpu, and the keys of older and newer programs\n");
    said_has(read_file("their.json"), "\"other\": 5");
    SAID_OK(&s, "config export");
    said_has(s.out, "\"compute_runtime\": \"cpu\"");
    remove("skitter.yaml");
}

/* --- track and correct --- */

static void make_detections(void)
{
    FILE *file = fopen("d.csv", "w");
    assert_non_null(file);
    fputs("frame,name,score,x1,y1,x2,y2\n", file);
    for (int f = 0; f < 12; f++)
        for (int a = 0; a < 3; a++) {
            const double x = 20 + 40 * a + 1.5 * f, y = 30 + 20 * a;
            fprintf(file, "%d,mouse,0.9,%g,%g,%g,%g\n", f, x, y, x + 20, y + 10);
        }
    fclose(file);
}

static void tracks_of_detections(void **state)
{
    (void)state;
    make_detections();
    SAID_OK(&s, "track --detections d.csv -o run --fps 10");
    said_has(s.out, "3 tracks, 36 sightings (0 without a detection), tracked in ");
    said_has(s.out, "\n12 frames, 36 detections, ");
    said_has(
        s.out,
        "\nrun/tracks.csv\nrun/results.csv\nrun/results.jsonl\nrun/report.html\nrun/plots/\nrun/run.json\n");
    SAID_OK(&s, "track --detections d.csv -o run --fps 10");
    said_has(s.out, "This run had finished already: 12 frames, 36 detections. --restart does it again.\n");
    SAID_OK(&s, "track --detections d.csv -o run --fps 10 --json");
    said_has(s.out, "{\n  \"frames\": 12,\n  \"detections\": 36,\n  \"tracks\": 3,\n  \"sightings\": 36,\n  "
                    "\"covered\": 0,\n"
                    "  \"tracking_seconds\": ");
    SAID_OK(&s, "track --detections d.csv -o quiet -q --no-report --no-cache -f jsonl,mot");
    assert_string_equal(s.out, "");
    assert_true(sk_file_exists("quiet/results.mot.txt") && !sk_file_exists("quiet/tracks.csv") &&
                !sk_file_exists("quiet/report.html"));
    SAID_OK(&s, "track --detections d.csv -o - -f csv"); /* results alone on standard output */
    assert_int_equal(strncmp(s.out, "source,frame,", 13), 0);
    said_has(s.err, "3 tracks, 36 sightings");
    SAID_OK(&s, "track --detections d.csv -o one --animals 1 --no-report -f csv");
    said_has(s.out, "1 track, 12 sightings");
    SAID_OK(&s, "track --detections d.csv -o none --roi 900,900,990,990 --no-report -f csv");
    said_has(s.out, "0 tracks, 0 sightings");
    said_has(s.err, "36 animals were found, and none was followed: ");
    SAID_REFUSES(&s, SK_ERR_ARG, "--detections are about one video, and 2 are named",
                 "track a.mp4 b.mp4 --detections d.csv -o x");
    SAID_REFUSES(&s, SK_ERR_ARG, "track needs a video: skitter track VIDEO --model M", "track -m x.pt -o x");
    SAID_REFUSES(&s, SK_ERR_ARG, "track needs a video", "track --detector background -o x");
    SAID_REFUSES(&s, SK_ERR_ARG, "--json and '--out -' both want standard output",
                 "track --detections d.csv -o - --json");
    static const char *const files[][2] = {
        {"x.slp", "'--out x --format slp'"},     {"x.csv", "'--out x --format csv'"},
        {"x.jsonl", "'--out x --format jsonl'"}, {"x.json", "'--out x --format coco'"},
        {"x.h5", "'--out x --format analysis'"}, {"x.mp4", "'--out x --save-overlay'"},
        {"x.avi", "'--out x --save-overlay'"},   {"x.mcap", "'--out x --format mcap'"},
        {"x.db3", "'--out x --format db3'"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        SAID_REFUSES(&s, SK_ERR_ARG, files[i][1], "track --detections d.csv -o %s", files[i][0]);
    assert_int_equal(mkdir("x.csv", 0700), 0); /* a folder that is called so */
    SAID_OK(&s, "track --detections d.csv -o x.csv -q --no-report -f csv");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "--preview no/p.jpg: there is no folder no. Make it",
                 "track --detections d.csv --preview "
                 "no/p.jpg -o x");
    /* without --out: the next free number, and none is used up by a failure */
    SAID_OK(&s, "track --detections d.csv -q --no-report -f csv");
    SAID_OK(&s, "track --detections d.csv --no-report -f csv");
    said_has(s.out, "runs/track2/results.csv\n");
    said_run(&s, "track --detections none.csv -q");
    assert_int_not_equal(s.status, SK_OK);
    assert_false(sk_file_exists("runs/track3"));
}

static void corrections(void **state)
{
    (void)state;
    SAID_OK(&s, "correct run");
    said_is("correct_none", s.out);
    SAID_OK(&s, "correct run --swap 0,1@5 --delete 2@3-6 --rename 0=Ada");
    said_is("correct_three", s.out);
    SAID_OK(&s, "correct run --undo 1 -q");
    assert_string_equal(s.out, "");
    SAID_OK(&s, "correct run -q"); /* asked for alone, it is shown */
    said_has(s.out, "2 corrections:\n  1  swap 0 and 1 from frame 5 on\n  2  delete 2 in frames 3 to 6\n  3  "
                    "call 0 'Ada' (undone)\n");
    SAID_OK(&s, "correct run --redo 1 --rename 1=Bob");
    said_has(s.out, "4 corrections:\n");
    said_has(s.out, "  Ada\n");
    SAID_OK(&s, "correct run --undo 4 --redo 1");
    said_has(s.out,
             "\n1 correction:\n  1  swap 0 and 1 from frame 5 on\n  2  delete 2 in frames 3 to 6 (undone)\n");
    said_has(s.out, "\n2 moments that deserve a look:\nframe 5         ");
    SAID_REFUSES(&s, SK_ERR_ARG, "--undo 2: there is 1 correction to undo", "correct run --undo 2");
    SAID_REFUSES(&s, SK_ERR_ARG, "--redo 4: 3 were undone", "correct run --redo 4");
    SAID_REFUSES(&s, SK_ERR_ARG, "--redo 5: 4 were undone", "correct run --undo 1 --redo 5");
    SAID_OK(&s, "correct run --undo 1 --redo 4 -q");
    SAID_REFUSES(&s, SK_ERR_ARG, "--undo 5: there are 4 corrections to undo", "correct run --undo 5");
    static const char *const wrong[] = {"--swap 0,1",
                                        "--swap 0@5",
                                        "--swap 0,1@",
                                        "--swap 0,1@5-",
                                        "--swap 0,1@5-7x",
                                        "--swap 0,1#5",
                                        "--swap a,1@5",
                                        "--swap 0;1@5",
                                        "--swap -1,1@5",
                                        "--delete x",
                                        "--delete 2@x",
                                        "--delete 2147483648",
                                        "--merge 0",
                                        "--merge 0,1x",
                                        "--merge 0,",
                                        "--rename 0",
                                        "--rename Ada=0",
                                        "--rename x=0",
                                        "--swap 0,2147483648@5",
                                        "--swap 0,1@9223372036854775807",
                                        "--delete 2@0-9223372036854775807",
                                        "--swap 0,1@5-x",
                                        "--delete 2@4x",
                                        "--delete 2#4",
                                        "--merge 0;1",
                                        "--rename 0:Ada"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s: cannot be understood", wrong[i]);
        SAID_REFUSES(&s, SK_ERR_ARG, text, "correct run %s", wrong[i]);
    }
    char name[256] = "--rename 0="; /* a name has its most letters, and one more is too many */
    memset(name + strlen(name), 'n', sizeof((sk_correction *)0)->name - 1);
    SAID_OK(&s, "correct run %s -q", name);
    SAID_OK(&s, "correct run --undo 1 -q");
    strcat(name, "n");
    SAID_REFUSES(&s, SK_ERR_ARG, "cannot be understood\nskitter correct --help shows its form",
                 "correct run %s", name);
    SAID_REFUSES(&s, SK_ERR_ARG, "--prefer says which track stays", "correct run --prefer 1");
    SAID_REFUSES(&s, SK_ERR_ARG, "--format and --save-overlay are of the corrected copy",
                 "correct run -f csv");
    SAID_REFUSES(&s, SK_ERR_ARG, "--format and --save-overlay are of the corrected copy",
                 "correct run --save-overlay");
    SAID_OK(&s, "correct run --undo 4 --merge 0,2 --prefer 2");
    said_has(s.out, "12 frames, 2 tracks\n");
    said_has(s.out, "\n1 correction:\n  1  merge 2 into 0, 2 where both are\n");
    SAID_OK(&s, "correct run -o copy -f csv,mot --no-report");
    assert_string_equal(
        s.out, "corrected copy, 12 frames:\n  copy/results.csv\n  copy/results.mot.txt\n  copy/run.json\n");
    assert_false(sk_file_exists("copy/report.html"));
    SAID_OK(&s, "correct run -o copy2 -q");
    assert_string_equal(s.out, "");
    assert_true(sk_file_exists("copy2/report.html") && sk_file_exists("copy2/tracks.csv"));
    SAID_OK(&s, "correct run -o copy3 -f csv --no-report --json");
    said_has(s.out, "\"saved\": {\n    \"folder\": \"copy3\",\n    \"notice\": \"\",\n    \"files\": [\n     "
                    " \"copy3/results.csv\",\n"
                    "      \"copy3/run.json\"\n    ]\n  }\n}\n");
    SAID_OK(&s, "correct run --json");
    said_lacks(s.out, "\"saved\"");
    said_has(s.out, "{\n  \"run\": {\n    \"folder\": \"run\",");
    said_has(s.out, "\"readable\": false");
    said_has(s.out, "\"tracks\": ");
    said_has(s.out, "\"suspects\": ");
    char formats[256] = "csv";
    for (int i = 1; i < 17; i++)
        strcat(formats, ",csv");
    SAID_REFUSES(&s, SK_ERR_ARG, ": at most 16 formats", "correct run -o copy4 -f %s", formats);
    SAID_REFUSES(&s, SK_ERR_ARG, "", "correct run -o copy4 --draw nonsense --save-overlay");
}

/* More doubtful moments than are shown: ten, and with -v all. */
static void many_moments(void **state)
{
    (void)state;
    FILE *file = fopen("jumps.csv", "w");
    assert_non_null(file);
    fputs("frame,name,score,x1,y1,x2,y2,id\n", file);
    for (int f = 0; f < 40; f++)
        for (int a = 0; a < 2; a++)
            fprintf(file, "%d,mouse,0.9,%d,%d,%d,%d,%d\n", f, 50 + 300 * a + 2 * f, 50, 70 + 300 * a + 2 * f,
                    60, a);
    fclose(file);
    SAID_OK(&s, "track --detections jumps.csv -o jumps -q --no-report --fps 10");
    char words[1024] = "";
    for (int f = 3; f < 25; f += 3)
        snprintf(words + strlen(words), sizeof words - strlen(words), "--swap 0,1@%d ", f);
    SAID_OK(&s, "correct jumps %s", words);
    said_has(s.out, " moments that deserve a look, the most doubtful first:\n");
    int shown = 0;
    for (const char *at = s.out; (at = strstr(at, "\nframe ")); at++)
        shown++;
    assert_int_equal(shown, 10);
    SAID_OK(&s, "correct jumps -v");
    shown = 0;
    for (const char *at = s.out; (at = strstr(at, "\nframe ")); at++)
        shown++;
    assert_int_equal(shown, 16);
    said_has(s.out, "\n16 moments that deserve a look:\n");
    SAID_OK(&s, "correct jumps --undo 3"); /* just as many as are shown, and fewer */
    said_has(s.out, "\n10 moments that deserve a look:\n");
    SAID_OK(&s, "correct jumps --undo 1");
    said_has(s.out, "\n8 moments that deserve a look:\n");
    shown = 0;
    for (const char *at = s.out; (at = strstr(at, "\nframe ")); at++)
        shown++;
    assert_int_equal(shown, 8);
    SAID_OK(&s, "correct jumps --delete 1@1"); /* seen once: it has no speed */
    char line[128];
    snprintf(line, sizeof line, "\n%-8d %9d %9d %9d %6d %12.0f %10.1f  \n", 1, 0, 0, 1, 0, 0.0, 0.0);
    said_has(s.out, line);
}

/* --- others --- */

static void others(void **state)
{
    (void)state;
    SAID_REFUSES(&s, SK_ERR_ARG, "net needs --input X.npy and --output Y.npy", "net m.pt -i x.npy");
    SAID_REFUSES(&s, SK_ERR_ARG, "net needs --input X.npy and --output Y.npy", "net m.pt -o x.npy");
    SAID_REFUSES(&s, SK_ERR_ARG, "the node needs a model", "node");
    SAID_OK(&s, "node --list-params -p confidence_threshold:=0.75 m.pt n.pt");
    said_has(s.out, "weights_path: \"m.pt\"  # ");
    said_has(s.out, "second_weights_path: \"n.pt\"  # ");
    said_has(s.out, "confidence_threshold: 0.75  # ");
    SAID_REFUSES(&s, SK_ERR_ARG, "at most two models", "node --list-params a b c");
    SAID_REFUSES(&s, SK_ERR_ARG, "2 parameters are wrong, and no node was started",
                 "node -p nonsense:=1 -p more:=2 m.pt");
    assert_non_null(strstr(s.err, "skitter: error: "));
    SAID_REFUSES(&s, SK_ERR_ARG, "nonsense", "node -p nonsense:=1 m.pt");
    SAID_REFUSES(&s, SK_ERR_ARG, "--messages 1x: no name of a package", "node --messages 1x m.pt");
    setenv("ROS_DOMAIN_ID", "233", 1);
    SAID_REFUSES(&s, SK_ERR_ARG, "ROS_DOMAIN_ID=233: a domain is a number from 0 to 232",
                 "node --messages 1x m.pt");
    setenv("ROS_DOMAIN_ID", "-1", 1);
    SAID_REFUSES(&s, SK_ERR_ARG, "ROS_DOMAIN_ID=-1: ", "node --messages 1x m.pt");
    setenv("ROS_DOMAIN_ID", "3x", 1);
    SAID_REFUSES(&s, SK_ERR_ARG, "ROS_DOMAIN_ID=3x: ", "node --messages 1x m.pt");
    SAID_REFUSES(&s, SK_ERR_ARG, "--messages 1x: no name of a package", "node --messages 1x -d 5 m.pt");
    static const char *const good[] = {"232", "0", ""};
    for (int i = 0; i < 3; i++) {
        setenv("ROS_DOMAIN_ID", good[i], 1);
        SAID_REFUSES(&s, SK_ERR_ARG, "--messages 1x: no name of a package", "node --messages 1x m.pt");
    }
    unsetenv("ROS_DOMAIN_ID");
    SAID_REFUSES(&s, SK_ERR_ARG, "at most 16 folders", "serve 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
    write_file("empty.txt", "\nsecond\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "empty.txt: its first line is empty", "serve . --password empty.txt");
    SAID_OK(&s, "help version");
    said_has(s.out, "Usage: skitter version [options]\n");
    SAID_OK(&s, "help");
    said_has(s.out, "Usage: skitter COMMAND");
    SAID_REFUSES(&s, SK_ERR_ARG, "did you mean 'skitter predict'?", "help predit");
    SAID_OK(&s, "version");
    said_has(s.out, "\nfeatures  FFmpeg ");
    SAID_OK(&s, "version --json");
    said_has(s.out, "\"cpu\": {\n    \"model\": ");
    said_has(s.out, "\"threads\": ");
    SAID_REFUSES(&s, SK_ERR_ARG, "--output does not go with --runtime", "export m.pt -r cpu -o x");
    SAID_REFUSES(&s, SK_ERR_ARG, "--dynamic does not go with --runtime", "export m.pt -r cpu --dynamic");
    SAID_REFUSES(&s, SK_ERR_ARG, "--half-io does not go with --runtime", "export m.pt -r cpu --half-io");
    SAID_REFUSES(&s, SK_ERR_ARG, "--raw-heads does not go with --runtime", "export m.pt -r cpu --raw-heads");
    SAID_REFUSES(&s, SK_ERR_ARG, "--imgsz x: ", "export m.pt --imgsz x");
    SAID_REFUSES(&s, SK_ERR_ARG, "at most 2 models", "run a b c");
    SAID_REFUSES(&s, SK_ERR_ARG, "--imgsz x: ", "run a --imgsz x");
    SAID_REFUSES(&s, SK_ERR_ARG, "--imgsz x: ", "bench a --imgsz x");
    SAID_REFUSES(&s, SK_ERR_ARG, "--runtime: at most ",
                 "bench a -r 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17");
}

int main(void)
{
    snprintf(home, sizeof home, "%s", test_folder());
    if (chdir(home) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM"); /* other runtimes are not asked for: that takes long */
    setenv("SKITTER_CACHE_DIR", home, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes),      cmocka_unit_test(evals),
        cmocka_unit_test(configs),     cmocka_unit_test(tracks_of_detections),
        cmocka_unit_test(corrections), cmocka_unit_test(many_moments),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
