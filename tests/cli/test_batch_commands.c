/* SPDX-License-Identifier: Apache-2.0 */
/* batch, ros and artifacts as they are typed, in the test's own process. Pieces of a batch are done by a script in skitter's place, which
 * ends as the video's name says. */
#include "said.h"
#include "text_files.h"

#include "app/batch_claim.h"
#include "base/file.h"
#include "base/memory.h"

#include <sys/stat.h>

static said s;
static char home[2048];

/* What was printed, with this test's folder as HOME. */
static const char *homeless(const char *text)
{
    static char out[SAID_MOST];
    char *to = out;
    const size_t n = strlen(home);
    while (*text && to < out + sizeof out - 8) {
        if (strncmp(text, home, n) == 0) {
            to += sprintf(to, "HOME");
            text += n;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
    for (char *at = out; (at = strstr(at, "=skitter-")); at += 9)
        memset(at + 9, '#', strcspn(at + 9, "-")); /* a batch's own number */
    return out;
}

#define BATCH "batch --detector background -o out --videos a.mp4"

/* --- what is asked --- */

static void plans_and_words(void **state)
{
    (void)state;
    static const char *const videos[] = {"a.mp4", "b.mp4"};
    for (int i = 0; i < 2; i++)
        write_file(videos[i], "x");
    SAID_OK(&s, BATCH " --videos b.mp4 --animals 4 --dry-run --slurm --gpus 1 --roi 1,2,3,4 --roi 5,6,7,8 "
                      "--save-overlay --fps 12 "
                      "--cpus 3 --threads 2 --frames 3:9");
    said_is("batch_dry", homeless(s.out));
    assert_false(sk_file_exists("out"));
    SAID_OK(&s, BATCH " --dry-run --slurm --pieces-per-task 3 --workers 2");
    said_has(s.out, "0\tskitter track --detector=background --out=");
    said_has(s.out, " --array=0-0%2 ");
    SAID_OK(&s, BATCH " --videos b.mp4 --dry-run --slurm --pieces-per-task 2");
    said_has(s.out, " --array=0-0 ");
    SAID_OK(&s, BATCH " --dry-run --devices cuda:3,cuda:4 --workers 2");
    said_has(s.out, "0\tenv CUDA_VISIBLE_DEVICES=3 skitter track ");
    said_has(s.out, " --threads=");
    SAID_OK(&s, BATCH " --dry-run --devices rocm:1 --workers 1");
    said_has(s.out, "env HIP_VISIBLE_DEVICES=1 skitter");
    said_lacks(s.out, "--threads");
    SAID_OK(&s, BATCH " --dry-run --devices 5,6");
    said_has(s.out, "env CUDA_VISIBLE_DEVICES=5 ");
    SAID_REFUSES(&s, SK_ERR_ARG, "--devices cpu: of a batch these are GPUs",
                 BATCH " --dry-run --devices cpu");
    SAID_REFUSES(&s, SK_ERR_ARG, "--devices 5,cpu: of a batch", BATCH " --dry-run --devices 5,cpu");
    SAID_REFUSES(&s, SK_ERR_ARG, "a batch needs a folder for its results",
                 "batch --detector background --videos a.mp4");
    SAID_REFUSES(&s, SK_ERR_ARG, "a batch needs videos", "batch --detector background -o out");
    SAID_REFUSES(&s, SK_ERR_ARG, "a batch needs a model", "batch --videos a.mp4 -o out");
    SAID_REFUSES(&s, SK_ERR_ARG, "a batch needs a model", "batch --command predict --videos a.mp4 -o out");
    SAID_REFUSES(&s, SK_ERR_ARG, "--detections are of one video",
                 "batch --detections d.csv --videos a.mp4 -o out");
    SAID_REFUSES(&s, SK_ERR_ARG, "'skitter predict' has no option '--animals'",
                 "batch --command predict -m m.pt --videos a.mp4 -o out "
                 "--animals 3");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "none.mp4: there is no such video",
                 "batch --detector background -o out --videos none.mp4");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "n*.mp4: no file matches this pattern",
                 "batch --detector background -o out --videos n*.mp4");
    SAID_REFUSES(&s, SK_ERR_ARG, "'two': one plan, or one of status, cancel, merge and work",
                 "batch one two");
    SAID_REFUSES(&s, SK_ERR_ARG, "'three': one plan", "batch status two three");
    SAID_REFUSES(&s, SK_ERR_ARG, "which batch? Name the folder of its results", "batch status");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "no batch was begun here", "batch status out");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "no batch was begun here", "batch status -o out");
    /* a plan: every problem at its place, and what the command line says counts more */
    write_file(
        "plan.yaml",
        "videos: [a.mp4, none.mp4]\nmodel: none.pt\nconf: 7\nnonsense: 3\ndry-run: true\nanimals: 3\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "plan.yaml: 5 problems; nothing was begun", "batch plan.yaml");
    said_is("batch_plan_problems", s.err);
    write_file(
        "plan.yaml",
        "videos: a.mp4\nout: planned\ndetector: background\nanimals: 3\nsave-overlay: true\nroi: ['1,2,3,4', "
        "'5,6,7,8']\nworkers: 1\n");
    SAID_OK(&s, "batch plan.yaml --dry-run");
    said_has(homeless(s.out),
             "0\tskitter track --animals=3 --roi=1,2,3,4 --roi=5,6,7,8 --detector=background --save-overlay "
             "--out=HOME/planned/.batch/work/");
    SAID_OK(&s, "batch plan.yaml --dry-run --animals 5 -o other");
    said_has(homeless(s.out), "--animals=5 ");
    said_has(homeless(s.out), "--out=HOME/other/.batch");
    write_file("plan.yaml", "command: predict\nvideos: a.mp4\nout: planned\nanimals: 3\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "plan.yaml: 1 problem; nothing was begun", "batch plan.yaml");
    said_has(s.err, "'animals' is no option of predict, the command of this batch");
    write_file("plan.yaml", "videos: a.mp4\ndetector: background\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "plan.yaml: does not say where results go ('out:')",
                 "batch status plan.yaml");
    SAID_REFUSES(&s, SK_ERR_ARG, "a batch needs a folder", "batch plan.yaml");
    SAID_OK(&s, BATCH " --dry-run --split 5");
    said_has(s.err, "videos are not split: --detector background looks at a video as a whole");
}

/* --- what is done --- */

static const char script[] =
    "#!/bin/sh\n"
    "for w; do last=$w; case $w in --out=*) out=${w#--out=};; esac; done\n"
    "echo \"$*\" >>\"$SCRIPT_HOME/started\"\n"
    "echo '{\"event\":\"progress\",\"frame\":3,\"total\":9,\"instances\":2}' >&3\n"
    "case $last in\n"
    "*good*) mkdir -p \"$out\"; echo '{}' >\"$out/run.json\"; echo "
    "'{\"total_frames\":9,\"instances\":5,\"tracks\":2}';;\n"
    "*cut*) echo '{\"event\":\"end\",\"status\":14,\"message\":\"it is cut off\"}' >&3; echo "
    "'{\"frames\":4,\"detections\":6}'; exit 4;;\n"
    "*odd*) echo '{\"event\":\"end\",\"status\":1,\"message\":\"no such option\"}' >&3; exit 2;;\n"
    "*said*) echo 'first' >&2; echo 'last words' >&2; exit 1;;\n"
    "*mute*) exit 7;;\n"
    "*killed*) kill -9 $$;;\n"
    "*once*) if [ -e \"$SCRIPT_HOME/again\" ]; then mkdir -p \"$out\"; echo '{}' >\"$out/run.json\"; echo "
    "'{\"frames\":1}'; else touch "
    "\"$SCRIPT_HOME/again\"; exit 1; fi;;\n"
    "esac\n";

static void put_script(const char *out)
{
    char path[4200], line[4400], *text;
    snprintf(path, sizeof path, "%s/skitter-script", home);
    write_file(path, script);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(line, sizeof line, "%s/.batch/batch.json", out);
    text = read_file(line);
    char *at = strstr(text, "\"program\": \"");
    assert_non_null(at);
    static char fresh[SAID_MOST];
    snprintf(fresh, sizeof fresh, "%.*s\"program\": \"%s\"%s", (int)(at - text), text, path,
             strchr(at + 12, '"') + 1);
    write_file(line, fresh);
}

static void pieces_are_done(void **state)
{
    (void)state;
    setenv("SCRIPT_HOME", home, 1);
    static const char *const names[] = {"good", "cut", "odd", "said", "mute", "killed", "once"};
    char words[512] = "";
    for (int i = 0; i < 7; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s.mp4", names[i]);
        write_file(name, "x");
        snprintf(words + strlen(words), sizeof words - strlen(words), " --videos %s", name);
    }
    SAID_OK(&s, "batch --detector background -o done%s --retries 1 --prepare", words);
    assert_string_equal(s.out, "7\n");
    put_script("done");
    SAID_OK(&s, "batch status done");
    assert_string_equal(s.out,
                        "0 of 7 videos done, 0 running, 7 waiting\n0 frames, 0 instances, 0 attempts\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "work: which pieces? --pieces 0-9", "batch work done");
    static const char *const wrong[] = {"7", "-1", "x", "3-2", "0-", "0,,1", "0;1", "6-x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        SAID_REFUSES(&s, SK_ERR_ARG, "numbers from 0 to 6: 3, 0-9, 0-9,12", "batch work done --pieces=%s",
                     wrong[i]);
    SAID_OK(&s, "batch work done --pieces 0-1");
    assert_true(sk_file_exists("done/good/run.json"));
    SAID_REFUSES(&s, SK_ERR_IO, "piece 2 is not done", "batch work done --pieces 2");
    said_has(s.err, "odd.mp4: refused, attempt 1: no such option\n");
    SAID_REFUSES(&s, SK_ERR_IO, "piece 3 is not done", "batch work done --pieces 3-5");
    said_has(s.err, "said.mp4: failed, attempt 1: last words\n");
    said_has(s.err, "said.mp4: failed, attempt 2: last words\n");
    said_has(s.err, "mute.mp4: failed, attempt 1: exit code 7\n");
    said_has(s.err, "killed.mp4: failed, attempt 2: ended by signal 9 (Killed): out of memory?\n");
    said_lacks(s.err, "attempt 3");
    SAID_OK(&s, "batch cancel done");
    assert_string_equal(s.err,
                        "cancelled: workers end the frame they are at; 'skitter batch' goes on from there\n");
    SAID_REFUSES(&s, SK_ERR_CANCELLED, "was cancelled; 'skitter batch' with its plan takes that back",
                 "batch work done --pieces 6");
    SAID_OK(&s, "batch status done");
    said_has(s.out, "; cancelled\n");
    SAID_OK(&s, "batch --detector background -o done%s --retries 1 --prepare", words); /* takes it back */
    put_script("done");
    SAID_OK(&s, "batch work done --pieces 6,0");
    SAID_OK(&s, "batch status done");
    said_is("batch_status", s.out);
    SAID_OK(&s, "batch status done --json");
    said_has(s.out, "\"videos_done\": 3,\n  \"videos_incomplete\": 1,");
    SAID_REFUSES(&s, SK_ERR_IO, "4 of 7 videos are not done\n'skitter batch status ", "batch merge done");
    said_has(s.out, "/done/summary.html\n");
    said_has(read_file("done/summary.csv"), "good,good.mp4,finished,9,5,2,");
    said_has(read_file("done/summary.csv"), "cut,cut.mp4,incomplete,4,6,,");
    said_has(read_file("done/summary.csv"), ",it is cut off\n");
    said_has(read_file("done/summary.csv"),
             "killed,killed.mp4,waiting,,,,,,1,2,2,,ended by signal 9 (Killed): out of memory?\n");
    said_has(read_file("started"), "track --detector=background --out=");
    said_has(read_file("started"), " --events=3 --json --quiet -- good.mp4\n");
    /* all that can be is done: then it is said what is cut off */
    SAID_OK(&s, "batch --detector background -o whole --videos good.mp4 --videos cut.mp4 --prepare");
    put_script("whole");
    SAID_OK(&s, "batch work whole --pieces 0-1");
    SAID_REFUSES(&s, SK_ERR_INCOMPLETE, "1 of 2 videos are cut off", "batch merge whole -q");
    assert_string_equal(s.out, "");
    SAID_OK(&s, "batch cancel whole");
    assert_string_equal(s.err, "all is done: there is nothing to cancel\n");
    SAID_REFUSES(&s, SK_ERR_INCOMPLETE, "1 of 2 videos are cut off", "batch merge whole --json");
    said_has(s.out, "\"done\": 2,");
    SAID_OK(&s, "batch status whole --watch"); /* ends, as nothing is left */
}

static void one_keeper(void **state)
{
    (void)state;
    SAID_OK(&s, BATCH " --prepare");
    said_lacks(s.err, "looks after");
    assert_false(sk_file_exists("out/.batch/keeper.1.claim")); /* let go again */
    SAID_REFUSES(&s, SK_ERR_MISMATCH, "holds another batch", BATCH " --animals 3 --prepare");
    SAID_OK(&s, BATCH " --animals 3 --prepare --restart");
    SAID_REFUSES(&s, SK_ERR_ARG, "a batch needs videos", "batch --detector background -o fresh --prepare");
    assert_false(sk_file_exists("fresh"));
    /* one that is alive, under whatever number: this process */
    sk_error err = {0};
    sk_claim claim;
    char who[64];
    snprintf(who, sizeof who, "/out: process %lld on ", (long long)getpid());
    assert_ok(sk_claim_take("out/.batch/keeper.100000000.claim", 0, &claim, &err), &err);
    SAID_REFUSES(&s, SK_ERR_BUSY, who, BATCH " --animals 3 --prepare");
    said_has(s.error.message, " looks after this batch\n'skitter batch status ");
    static const char *const others[] = {"keeper.0.claim", "keeper.100000001.claim", "keeper.1.claims",
                                         "keeper.x.claim", "keper.1.claim"};
    for (int i = 0; i < 5; i++) { /* no names of keepers */
        char path[64];
        snprintf(path, sizeof path, "out/.batch/%s", others[i]);
        assert_int_equal(rename("out/.batch/keeper.100000000.claim", path), 0);
        SAID_OK(&s, BATCH " --animals 3 --prepare");
        assert_int_equal(rename(path, "out/.batch/keeper.100000000.claim"), 0);
    }
    sk_claim_close(&claim);
    assert_int_equal(unlink("out/.batch/keeper.100000000.claim"), 0);
}

/* --- ros --- */

static void packages(void **state)
{
    (void)state;
    SAID_OK(&s, "ros info yolo");
    said_has(s.out, "Model:    yolo\nFamily:   ultralytics\nSource:   ultralytics "
                    "(ultralytics/ultralytics)\nOutput:   detections (xyxy)\n"
                    "Default:  yolo_v8s\nVariants:\n  - yolo_v8n  [200 MB VRAM]\n  - yolo_v8s (default)  "
                    "[400 MB VRAM]\n");
    said_has(s.out, "  - yolo_v11n  [? MB VRAM]\n");
    said_has(s.out, "\nBackends:\n  - cuda\n  - rocm\n");
    SAID_OK(&s, "ros info yolo --json");
    said_has(s.out, "{\n  \"name\": \"yolo\",\n  \"family\": \"ultralytics\",\n");
    said_has(s.out, "  \"variants\": [\n    \"yolo_v8n\",\n    \"yolo_v8s\",\n");
    said_has(s.out, "  \"backends\": [\n    \"cuda\",\n    \"rocm\",\n");
    /* memory as whole numbers, others and words */
    char *manifest = NULL;
    size_t length = 0;
    sk_error err = {0};
    assert_ok(
        sk_file_read(test_source("share/ros/models/yolo/manifest.yaml"), 1 << 20, &manifest, &length, &err),
        &err);
    memcpy(strstr(manifest, "yolo_v8n: 200"), "yolo_v8n: 0.5", 13);
    memcpy(strstr(manifest, "yolo_v8s: 400"), "yolo_v8s: few", 13);
    assert_ok(sk_folder_make("theirs/yolo", &err), &err);
    write_file("theirs/yolo/manifest.yaml", manifest);
    sk_free(manifest);
    SAID_OK(&s, "ros info yolo --models theirs");
    said_has(s.out, "Variants:\n  - yolo_v8n  [0.5 MB VRAM]\n  - yolo_v8s (default)  [few MB VRAM]\n");
    said_has(s.out, "  - yolo_v8m  [800 MB VRAM]\n");
    SAID_OK(&s, "ros list-models");
    said_has(s.out, "Available models:\n\n  ");
    said_has(s.out, "\n  yolo                      detections           (20 variants)\n");
    said_has(s.out, "\n\nKnown, but no package can be made for:\n\n  ");
    SAID_OK(&s, "ros list-models --json");
    said_has(s.out, "{\n  \"models\": [\n    {\n      \"name\": ");
    said_has(s.out, "\"why_not\": null\n    }");
    said_has(s.out, "  \"known\": [\n    {\n      \"name\": ");
    said_has(s.out, "  \"errors\": []\n}");
    SAID_REFUSES(&s, SK_ERR_ARG, "Missing argument 'MODEL'.", "ros info");
    SAID_REFUSES(&s, SK_ERR_ARG, "'skitter ros info' takes no 'b'\none at a time", "ros info a b");
    SAID_REFUSES(&s, SK_ERR_ARG, "'skitter ros list-models' takes no 'a'\nthe model is named by --model",
                 "ros list-models a");
    SAID_REFUSES(&s, SK_ERR_ARG, "'skitter ros generate' takes no 'a'", "ros generate a");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "there is no model 'nonsense'", "ros info nonsense");
    said_has(s.err, "Unknown model: nonsense\nAvailable: ");
    static const char *const others[] = {"model m",  "backend b", "variant v", "package-name p",
                                         "output o", "overwrite", "dry-run",   "track"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[64];
        snprintf(text, sizeof text, "has no option --%.*s", (int)strcspn(others[i], " "), others[i]);
        SAID_REFUSES(&s, SK_ERR_ARG, text, "ros list-models --%s", others[i]);
        SAID_REFUSES(&s, SK_ERR_ARG, text, "ros info yolo --%s", others[i]);
    }
    SAID_REFUSES(&s, SK_ERR_ARG, "'skitter ros generate' has no option --track", "ros generate --track");
    SAID_REFUSES(&s, SK_ERR_ARG, "'skitter ros manifest' has no option --json", "ros manifest x --json");
    SAID_REFUSES(&s, SK_ERR_ARG, "nothing was generated\n", "ros generate");
    said_has(s.err, "Error: Missing option '--model'.\nError: Missing option '--backend'.\nError: Missing "
                    "option '--package-name'.\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "nothing was generated", "ros generate --model yolo --backend onnx");
    assert_string_equal(s.err, "Error: Missing option '--package-name'.\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "Path 'none' does not exist.", "ros list-models --models none");
    SAID_REFUSES(&s, SK_ERR_ARG, "Directory 'a.mp4' is a file.", "ros list-models --models a.mp4");
    SAID_REFUSES(&s, SK_ERR_ARG, "takes a checkpoint or SLEAP folder, or two of them", "ros manifest");
    SAID_REFUSES(&s, SK_ERR_ARG, "takes a checkpoint or SLEAP folder, or two of them", "ros manifest a b c");
    SAID_OK(&s, "ros generate --model yolo --backend onnx --package-name fly_watch --dry-run");
    said_has(s.out, "Would generate: output/fly_watch.zip\n  Model:   yolo (default)\n  Backend: onnx\n  "
                    "Package: fly_watch\n  ");
    said_has(s.out, "  fly_watch/package.xml\n");
    assert_false(sk_file_exists("output"));
    SAID_OK(&s,
            "ros generate --model yolo --backend onnx --package-name fly_watch -o made --variant yolo_v8n");
    assert_string_equal(
        s.out,
        "Generated: made/fly_watch.zip\n  Model:   yolo (yolo_v8n)\n  Backend: onnx\n  Package: fly_watch\n");
    assert_true(sk_file_is_regular("made/fly_watch.zip"));
    SAID_OK(&s,
            "ros generate --model yolo --backend onnx --package-name fly_watch -o made --format dir --json");
    said_has(s.out, "{\n  \"generated\": \"made/fly_watch\",\n  \"dry_run\": false,\n  \"model\": "
                    "\"yolo\",\n  \"variant\": \"yolo_v8s\",\n"
                    "  \"backend\": \"onnx\",\n  \"compute_runtime\": \"onnx_cpu\",\n  \"package\": "
                    "\"fly_watch\",\n  \"format\": \"dir\",\n"
                    "  \"files\": [\n    {\n      \"path\": \"CMakeLists.txt\",\n      \"bytes\": ");
    said_lacks(s.out, "would_generate");
    assert_true(sk_file_is_regular("made/fly_watch/package.xml"));
    said_run(&s, "ros generate --model yolo --backend onnx --package-name fly_watch -o made --format dir");
    assert_int_not_equal(s.status, SK_OK); /* it is there */
    said_run(
        &s,
        "ros generate --model yolo --backend onnx --package-name fly_watch -o made --format dir --dry-run");
    assert_int_not_equal(s.status, SK_OK);
    SAID_OK(
        &s,
        "ros generate --model yolo --backend onnx --package-name fly_watch -o made --format dir --overwrite");
    SAID_OK(&s, "ros generate --model yolo --backend onnx --package-name fly_watch -o made --format dir "
                "--overwrite --dry-run --json");
    said_has(s.out, "{\n  \"generated\": null,\n  \"dry_run\": true,");
    said_has(s.out, "  \"would_generate\": \"made/fly_watch\",\n");
    SAID_REFUSES(&s, SK_ERR_ARG, "nothing was generated",
                 "ros generate --model yolo --backend nonsense --package-name 9x --json");
    said_has(s.err, "Error: ");
    said_has(s.out, "  \"files\": [],\n  \"errors\": [\n    \"");
    char model[4096];
    snprintf(model, sizeof model, "%s", test_source("share/models/demo-pose.pt"));
    SAID_OK(&s, "ros manifest %s --model eyes", model);
    said_has(s.out, "eyes");
    SAID_OK(&s, "ros manifest %s --model eyes -o models", model);
    assert_string_equal(s.out, "Wrote: models/eyes/manifest.yaml\n");
    said_has(s.err,
             "next: skitter ros generate --models models --model eyes --backend cpu --package-name NAME\n");
    SAID_REFUSES(&s, SK_ERR_IO, "models/eyes/manifest.yaml is there already",
                 "ros manifest %s --model eyes -o models", model);
    SAID_OK(&s, "ros manifest %s --model eyes -o models --overwrite", model);
    SAID_OK(&s, "ros list-models --models models");
    said_has(s.out, "\n  eyes ");
    assert_int_equal(mkdir("models/odd", 0700), 0);
    write_file("models/odd/manifest.yaml", "name: odd\n");
    SAID_REFUSES(&s, SK_ERR_FORMAT, "not every manifest of 'models' can be used",
                 "ros list-models --models models");
    said_has(s.err, "Error: ");
}

/* --- artifacts --- */

static void artifacts(void **state)
{
    (void)state;
    SAID_OK(&s, "artifacts");
    assert_string_equal(s.out, "no artifacts\n");
    SAID_OK(&s, "artifacts -q");
    assert_string_equal(s.out, "");
    SAID_OK(&s, "artifacts --json");
    assert_string_equal(s.out, "{\n  \"artifacts\": [],\n  \"inference\": []\n}\n");
    SAID_OK(&s, "artifacts clean");
    assert_string_equal(s.out, "0 of 0, 0 B\n");
    char model[4096], copy[4200];
    snprintf(model, sizeof model, "%s", test_source("tests/fixtures/sleap_nn/unet_stem"));
    snprintf(copy, sizeof copy, "cp -r '%s' stem", model);
    assert_int_equal(system(copy), 0);
    SAID_OK(&s, "export stem -o stem.onnx -q");
    assert_string_equal(s.out, "");
    SAID_OK(&s, "artifacts");
    said_has(s.out, "exported   1x");
    said_has(s.out, "stem.onnx\n");
    SAID_OK(&s, "artifacts list stem.onnx");
    said_has(s.out, "exported ");
    SAID_OK(&s, "artifacts --json");
    said_has(s.out, "\"state\": \"fresh\",\n      \"reason\": \"\",");
    said_has(s.out, "\"exported\": true,\n      \"stranger\": false\n");
    SAID_OK(&s, "artifacts verify stem.onnx");
    SAID_OK(&s, "artifacts clean");
    said_has(s.out, "kept ");
    said_has(s.out, "\n0 of 1, 0 B\n");
    SAID_OK(&s, "artifacts clean --all --dry-run");
    said_has(s.out, "would go ");
    said_has(s.out, "\n1 of 1, ");
    assert_true(sk_file_exists("stem.onnx"));
    SAID_OK(&s, "artifacts clean --json --dry-run");
    said_has(s.out, "\"done\": \"kept\"");
    assert_int_equal(rename("stem", "elsewhere"), 0);
    SAID_REFUSES(&s, SK_ERR_MISMATCH, "1 of 1 cannot be used as they are", "artifacts verify stem.onnx");
    SAID_OK(&s, "artifacts list stem.onnx"); /* only verify judges */
    said_has(s.out, "orphan ");
    SAID_OK(&s, "artifacts clean --all");
    said_has(s.out, "removed ");
    assert_false(sk_file_exists("stem.onnx"));
}

int main(void)
{
    snprintf(home, sizeof home, "%s", test_folder());
    if (chdir(home) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM"); /* other runtimes are not asked for: that takes long */
    setenv("SKITTER_CACHE_DIR", home, 1);
    setenv("SKITTER_CONFIG_DIR", home, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_and_words), cmocka_unit_test(pieces_are_done), cmocka_unit_test(one_keeper),
        cmocka_unit_test(packages),        cmocka_unit_test(artifacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
