/* SPDX-License-Identifier: Apache-2.0 */
/* Every file of runs over the same detections, with one setting other each time, and of their corrected copies: nothing in them changes
 * unseen. Their numbers are tested where they are made; here it is the way to the files, a hash of each. */
#include "said.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

static said s;

/* Four animals of two classes that cross and turn; one is not found for a while, one comes late. */
static void make_detections(void)
{
    FILE *file = fopen("d.csv", "w");
    assert_non_null(file);
    fputs("source,frame,class,name,score,x1,y1,x2,y2,cx,cy,w,h,angle,nose_x,nose_y,nose_score,tail_x,tail_y,"
          "tail_score\n",
          file);
    for (int f = 0; f < 40; f++)
        for (int a = 0; a < 4; a++) {
            if ((a == 1 && f > 14 && f < 20) || (a == 3 && f < 12) || (f == 30 && a != 2))
                continue;
            const double turn = 0.2 * a + 0.02 * f, x = 60 + 70 * a + (a % 2 ? -3.5 : 4) * f,
                         y = 60 + 25 * a + 1.5 * f, w = 36 + 4 * a, h = 14;
            fprintf(file,
                    "v.mp4,%d,%d,%s,%.3f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.4f,%.2f,%.2f,0.9,%.2f,%."
                    "2f,0.8\n",
                    f, a % 2, a % 2 ? "bee" : "fly", 0.95 - 0.02 * ((f * 7 + a * 3) % 17), x - w / 2,
                    y - w / 3, x + w / 2, y + w / 3, x, y, w, h, turn, x + w / 2 * cos(turn),
                    y + w / 2 * sin(turn), x - w / 2 * cos(turn), y - w / 2 * sin(turn));
        }
    fclose(file);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a clock, a version or this machine says is left out. */
static void put_text(const char *path, sk_text *all, const char *shown)
{
    static const char *const left_out[] = {"\"started\"", "\"skitter\"", "\"seconds\"",
                                           "\"fps\"",     "correct",     "track."};
    char *text = NULL;
    size_t length = 0, lines = 0;
    sk_error err = {0};
    sk_text kept = {0};
    assert_ok(sk_file_read(path, 1 << 24, &text, &length, &err), &err);
    const bool json = strstr(path, "run.json") != NULL;
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        bool out = false;
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out && json; i++)
            out = out || memmem(line, n, left_out[i], strlen(left_out[i]));
        if (!out)
            sk_text_append_bytes(&kept, line, n + (line[n] == '\n'));
        lines += !out;
        line += n + (line[n] == '\n');
    }
    sk_text_appendf(all, "  %-28s %4zu lines, %016llx\n", shown, lines,
                    (unsigned long long)sk_hash_xxh3(sk_text_get(&kept), kept.length, 0));
    sk_text_free(&kept);
    sk_free(text);
}

static void put_folder(const char *folder, const char *below, sk_text *all)
{
    char path[4200], *names[256];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, below);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *e; (e = readdir(directory)) && n < 256;)
        if (e->d_name[0] != '.')
            names[n++] = strdup(e->d_name);
    closedir(directory);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        char shown[600];
        struct stat info;
        snprintf(shown, sizeof shown, "%s%s%s", below, *below ? "/" : "", names[i]);
        snprintf(path, sizeof path, "%s/%s", folder, shown);
        assert_int_equal(stat(path, &info), 0);
        if (S_ISDIR(info.st_mode))
            put_folder(folder, shown, all);
        else if (!strstr(shown, "coco.json") && !strstr(shown, "corrections") &&
                 (strstr(shown, ".csv") || strstr(shown, ".json") || strstr(shown, ".txt") ||
                  strstr(shown, ".yaml"))) /* these have the time in their lines */
            put_text(path, all, shown);
        else
            sk_text_appendf(all, "  %s\n", shown);
        free(names[i]);
    }
}

static void files_stay_as_they_are(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "--no-report -f tracks,csv,jsonl,coco,mot,final,raw,slp",
        "-f tracks",
        "--no-report -f csv,tracks --online",
        "--no-report -f csv,tracks --tracker bytetrack",
        "--no-report -f csv,tracks --tracker ocsort",
        "--no-report -f csv,tracks --offline-steps upstream",
        "--no-report -f csv,tracks,jsonl --tell-covered",
        "--no-report -f csv,tracks --animals 3",
        "--no-report -f csv,tracks --roi 20,20,220,160",
        "--no-report -f csv,tracks --roi-exclude circle:100,100,30",
        "--no-report -f csv,tracks,jsonl,coco --no-empty --roi 150,20,420,400",
        "--no-report -f csv,tracks --frames 5:35:2",
        "--no-report -f csv,tracks --frames 3-9,20-30",
        "--no-report -f csv,tracks --set fps=12.5 --set gate=1 --set shortest=0",
        "--no-report -f csv,tracks --set min_score=0.8 --set stitch_gap=0",
        "--no-report -f csv,tracks --set interpolate_gap=2 --set smoothing=0.5 --fps 5"};
    sk_text all = {0};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        SAID_OK(&s, "track --detections d.csv -o run%zu -q %s", i, settings[i]);
        char folder[32];
        snprintf(folder, sizeof folder, "run%zu", i);
        sk_text_appendf(&all, "%s\n", settings[i]);
        put_folder(folder, "", &all);
    }
    /* the same, corrected: every step, and what is undone is as if it had not been */
    SAID_OK(&s, "correct run0 -q --swap 0,1@10 --swap 1,2@5-9 --delete 2@30-33 --rename 0=Ada");
    SAID_OK(&s, "correct run0 -q -o copy0 --no-report");
    sk_text_append(&all, "corrected\n");
    put_folder("copy0", "", &all);
    SAID_OK(&s, "correct run0 -q --undo 2 --merge 3,0 --prefer 3");
    SAID_OK(&s, "correct run0 -q -o copy1 --no-report -f csv,mot,jsonl");
    sk_text_append(&all, "corrected again\n");
    put_folder("copy1", "", &all);
    SAID_OK(
        &s,
        "track --detections copy1 -o again -q --no-report -f csv,tracks"); /* a run's folder is read, too */
    sk_text_append(&all, "followed again\n");
    put_folder("again", "", &all);
    test_text_is("tests/cli/printed/track_files.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* Stopped and gone on with, or begun anew: the same files. Others' are not touched. */
static void folders_are_kept(void **state)
{
    (void)state;
    SAID_OK(&s, "track --detections d.csv -o kept -q --no-report -f csv,tracks");
    sk_text first = {0}, second = {0};
    put_folder("kept", "", &first);
    SAID_OK(&s, "track --detections d.csv -o kept --no-report -f csv,tracks");
    said_has(s.out, "had finished already");
    SAID_OK(&s, "track --detections d.csv -o kept -q --no-report -f csv,tracks --restart");
    put_folder("kept", "", &second);
    assert_string_equal(sk_text_get(&first), sk_text_get(&second));
    said_run(&s, "track --detections d.csv -o kept -q --no-report -f csv,tracks --animals 2");
    assert_int_not_equal(s.status, SK_OK); /* another run's folder */
    said_has(s.error.message, "--restart");
    sk_text_clear(&second);
    put_folder("kept", "", &second);
    assert_string_equal(sk_text_get(&first), sk_text_get(&second));
    SAID_OK(
        &s,
        "track --detections d.csv -o kept -q --no-report -f csv,tracks,mot"); /* one file more is no other run */
    assert_true(sk_file_exists("kept/results.mot.txt"));
    assert_int_equal(mkdir("theirs", 0700), 0);
    sk_error err = {0};
    assert_ok(sk_file_replace("theirs/results.csv", "mine\n", 5, &err), &err);
    said_run(&s, "track --detections d.csv -o theirs -q --no-report -f csv");
    assert_int_not_equal(s.status, SK_OK);
    said_has(s.error.message, "--overwrite");
    SAID_OK(&s, "track --detections d.csv -o theirs -q --no-report -f csv --overwrite");
    sk_text_free(&first);
    sk_text_free(&second);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    make_detections();
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_stay_as_they_are),
                                       cmocka_unit_test(folders_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
