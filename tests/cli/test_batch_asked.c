/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch is asked for: which words reach its pieces, which plans are refused, and why videos stay whole. */
#include "said.h"
#include "text_files.h"

#include "base/file.h"
#include "support/yolo_writer.h"

#include <sys/stat.h>

static said s;
static sk_error err;

#define BATCH "batch --detector background -o out --videos a.mp4"

static void words(void **state)
{
    (void)state;
    /* what is the batch's own stays with it, whatever is said twice is said once */
    SAID_OK(&s, BATCH
            " --dry-run --workers 1 --retries 3 --losses 4 --partition p --time 1:00 --gpus 1 --memory 8G "
            "--cpus 2 --module m --sbatch --x=y --pieces-per-task 2 --split 0 --json -v --animals 3 "
            "--animals 3 --save-overlay --save-overlay --roi 1,2,3,4 --roi 1,2,3,4");
    said_has(s.out,
             "0\tskitter track --animals=3 --roi=1,2,3,4 --roi=1,2,3,4 --detector=background --save-overlay "
             "--out=");
    static const char *const own[] = {"--workers", "--retries", "--losses", "--partition",
                                      "--time",    "--gpus",    "--memory", "--cpus",
                                      "--module",  "--sbatch",  "--pieces", "--split",
                                      "--dry-run", "--verbose", "--videos", "--command"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        said_lacks(s.out, own[i]);
    SAID_OK(&s,
            BATCH " --dry-run --slurm --partition night --time 02:00:00 --memory 8G --gpus a100:1 --cpus 3 "
                  "--sbatch --account=lab --sbatch --nice");
    static const char *const sbatch[] = {
        "--partition=night", "--time=02:00:00", "--mem=8G", "--gres=gpu:a100:1",
        "--cpus-per-task=3", "--account=lab",   "--nice"};
    for (size_t i = 0; i < sizeof sbatch / sizeof *sbatch; i++)
        said_has(s.out, sbatch[i]);
    SAID_OK(&s, "batch --detector background --videos a.mp4 -o kept --prepare --retries 5 --losses 6 "
                "--workers 7 --devices cuda:0 --slurm --partition "
                "night --module one --module two");
    const char *text = read_file("kept/.batch/batch.json");
    static const char *const kept[] = {"\"retries\": 5", "\"losses\": 6", "\"workers\": 7", "cuda:0", "night",
                                       "\"one\"",        "\"two\"",       "\"slurm\": true"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        said_has(text, kept[i]);
    SAID_OK(&s, "batch --command predict -m m.pt -o out --videos a.mp4 --save-crops --dry-run");
    said_has(s.out, "0\tskitter predict --model=m.pt --save-crops --out=");
    SAID_OK(&s, "batch -o out --videos a.mp4 --config c.json --dry-run"); /* it may name the model */
    said_has(s.out, "--config=c.json");
    static const char *const good[] = {"cuda:0", "rocm:0,rocm:1", "0", "0,1", "12,cuda:3"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        SAID_OK(&s, BATCH " --dry-run --devices %s", good[i]);
    static const char *const bad[] = {"cpu", "0x", "cuda:0,gpu", "0,x", "cpu:x2,cuda:0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        SAID_REFUSES(&s, SK_ERR_ARG, "of a batch these are GPUs that its workers share",
                     BATCH " --dry-run --devices %s", bad[i]);
}

static void videos(void **state)
{
    (void)state;
    write_file("list.txt", "a.mp4\nb.mp4\n");
    SAID_OK(&s, "batch --detector background -o out --video-list list.txt --dry-run");
    said_has(s.out, "0\t");
    said_has(s.out, "\n1\t");
    said_has(s.out, " a.mp4\n");
    said_has(s.out, " b.mp4\n");
    said_lacks(s.out, "list.txt");
    SAID_OK(&s, "batch --detector background -o out --videos c.mp4 --video-list list.txt --dry-run");
    said_has(s.out, "\n2\t");
    said_has(s.out, " c.mp4\n");
    SAID_OK(
        &s,
        "batch --detector background -o out --videos frames/%%03d.png --dry-run"); /* a pattern of FFmpeg's */
    said_run(&s, "batch --detector background -o out --videos rtsp://camera/1 --dry-run");
    assert_string_equal(s.error.message, "rtsp://camera/1: a batch is of files, which can be read again");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "x?.mp4: no file matches this pattern",
                 "batch --detector background -o out --videos x?.mp4 --dry-run");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "[xy].mp4: no file matches this pattern",
                 "batch --detector background -o out --videos a.mp4 --videos [xy].mp4 --dry-run");
    static char path[4200]; /* a letter longer than any path may be, and as long */
    memset(path, 'x', sizeof path - 1);
    for (size_t i = 100; i < sizeof path - 1; i += 101)
        path[i] = '/';
    memcpy(path, test_folder(), strlen(test_folder()));
    path[strlen(test_folder())] = '/';
    path[3901] = '\0';
    SAID_REFUSES(&s, SK_ERR_LIMIT, "…: a path of 3901 letters; at most 3900 are taken",
                 "batch --detector background --videos a.mp4 -o %s", path);
    path[3900] = '\0';
    said_run(&s, "batch --detector background --videos a.mp4 -o %s --prepare", path);
    said_lacks(s.error.message, "letters");
}

static void plans(void **state)
{
    (void)state;
    SAID_REFUSES(&s, SK_ERR_ARG, "a.mp4: not a plan; videos and folders of them are named by --videos",
                 "batch a.mp4");
    SAID_REFUSES(&s, SK_ERR_ARG, "frames: not a plan", "batch frames");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "none.yaml", "batch none.yaml");
    static const char *const files[] = {"model", "roi-mask", "config", "video-list"};
    for (size_t i = 0; i < 4; i++) {
        char text[256], told[128];
        snprintf(text, sizeof text, "videos: a.mp4\nout: out\ndetector: background\n%s: none.x\n", files[i]);
        write_file("plan.yaml", text);
        SAID_REFUSES(&s, SK_ERR_ARG, "plan.yaml: 1 problem; nothing was begun", "batch plan.yaml --dry-run");
        snprintf(told, sizeof told, "none.x: there is no such file; paths go from the current folder");
        said_has(s.err, told);
    }
    static const char *const never[] = {"dry-run", "watch", "json",    "restart", "submission", "pieces",
                                        "help",    "quiet", "verbose", "prepare", "detach"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        char text[256];
        snprintf(text, sizeof text, "videos: a.mp4\nout: out\ndetector: background\n%s: 1\n", never[i]);
        write_file("plan.yaml", text);
        SAID_REFUSES(&s, SK_ERR_ARG, "plan.yaml: 1 problem; nothing was begun", "batch plan.yaml --dry-run");
        said_has(s.err, never[i]);
    }
    write_file("plan.yaml", "videos: a.mp4\nout: out\ndetector: background\nanimalz: 3\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "1 problem", "batch plan.yaml --dry-run");
    said_has(s.err, "animals");
    write_file("plan.yaml", "videos: a.mp4\nout: out\ndetector: background\ndryrun: true\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "1 problem", "batch plan.yaml --dry-run");
    said_lacks(s.err, "dry-run"); /* it would be refused, too */
    /* the command line counts more, also for what is judged */
    write_file("plan.yaml", "command: predict\nvideos: a.mp4\nout: out\nmodel: m.pt\nanimals: 3\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "1 problem", "batch plan.yaml --dry-run");
    SAID_OK(&s, "batch plan.yaml --dry-run --command track");
    said_has(s.out, "skitter track ");
    write_file("plan.yaml", "command: track\nvideos: a.mp4\nout: out\nmodel: m.pt\nsave-crops: true\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "1 problem", "batch plan.yaml --dry-run");
    SAID_OK(&s, "batch plan.yaml --dry-run --command predict");
    said_has(s.out, " --save-crops ");
    write_file("plan.yaml", "videos: [a.mp4, b.mp4]\nout: out\ndetector: background\nsplit: 0\nretries: 1\n");
    SAID_OK(&s, "batch plan.yaml --dry-run");
    said_has(s.out, "\n1\t");
    SAID_OK(&s, "batch plan.yaml --dry-run --videos c.mp4"); /* in place of the plan's */
    said_lacks(s.out, "a.mp4");
    said_has(s.out, " c.mp4\n");
    /* a plan names its folder for the others */
    SAID_OK(&s, "batch plan.yaml --prepare");
    assert_string_equal(s.out, "2\n");
    SAID_OK(&s, "batch status plan.yaml");
    said_has(s.out, "0 of 2 videos done");
    SAID_OK(&s, "batch status -o out");
    said_has(s.out, "0 of 2 videos done");
    write_file("broken.yaml", "videos: [a.mp4\n");
    said_run(&s, "batch status broken.yaml");
    assert_int_not_equal(s.status, SK_OK);
    said_run(&s, "batch broken.yaml");
    assert_int_not_equal(s.status, SK_OK);
}

static void why_whole(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"--detector background", "--detector background looks at a video as a whole"},
        {"--config c.json",
         "a --config may say which frames are wanted; say it with --frames, and --set, to have parts"},
        {"-m m.pt --frames 1:3,7:9", "--frames names several ranges"},
        {"-m m.pt --loop 2", "--loop"}};
    for (size_t i = 0; i < 4; i++) {
        char told[256];
        snprintf(told, sizeof told, "videos are not split: %s", cases[i][1]);
        SAID_OK(&s, "batch -o fresh --videos a.mp4 --dry-run --split 5 %s", cases[i][0]);
        said_has(s.err, told);
        said_has(s.out, "0\tskitter track ");
        said_lacks(s.out, "\n1\t");
        SAID_OK(&s, "batch -o fresh --videos a.mp4 --dry-run %s", cases[i][0]);
        assert_string_equal(s.err, "");
    }
    static const char *const others[] = {"-m m.pt", "-m m.pt --loop 1", "-m m.pt --frames 1:3"};
    for (size_t i = 0; i < 3; i++) { /* nobody knows how long this is, but that is no reason of these */
        said_run(&s, "batch -o fresh --videos a.mp4 --dry-run --split 5 %s", others[i]);
        for (size_t k = 0; k < 4; k++)
            said_lacks(s.err, cases[k][1]);
    }
}

int main(void)
{
    static const char *const files[] = {"a.mp4", "b.mp4", "c.mp4"};
    if (chdir(test_folder()) != 0 || mkdir("frames", 0700) != 0)
        return 1;
    for (size_t i = 0; i < 3; i++)
        if (sk_file_replace(files[i], "x", 1, &err) != SK_OK)
            return 1;
    write_file("c.json", "{}");
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    (void)yolo_save(&fixture, "m.pt");
    unsetenv("SKITTER_PROGRAM");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(words), cmocka_unit_test(videos),
                                       cmocka_unit_test(plans), cmocka_unit_test(why_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
