/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings the flags of demo and quantize reach. A demo's folder says by which settings it was made: the same flags find it
 * finished, others are refused. */
#include "said.h"

#include "app/demo_internal.h"
#include "base/file.h"
#include "base/memory.h"

static said s;
static sk_error err;
static char models[4096];

/* A folder that a finished demo of these settings left. */
static void leave(sk_demo_settings *d)
{
    char paths[SK_DEMO_PARTS][512], fingerprint[2048];
    sk_demo_report *r = sk_calloc(1, sizeof *r);
    assert_ok(sk_demo_find_models(models, paths, &err), &err);
    assert_ok(sk_demo_fingerprint(d, paths, fingerprint, sizeof fingerprint, &err), &err);
    assert_ok(sk_folder_make(d->out, &err), &err);
    assert_ok(sk_demo_write_state(d, fingerprint, SK_DEMO_FINISHED, r, &err), &err);
    char *path = sk_path_join(d->out, "summary.txt");
    assert_ok(sk_file_replace(path, "it was like this\n", 17, &err), &err);
    sk_free(path);
    sk_free(r);
}

static bool is_of(const char *flags)
{
    said_run(&s, "demo -o %s/demo --models %s %s", test_folder(), models, flags);
    if (s.status == SK_OK) {
        said_has(s.err, "This demo had finished already in ");
        return true;
    }
    if (s.status != SK_ERR_MISMATCH)
        fail_msg("%s: %s", flags, s.error.message);
    said_has(s.error.message, "holds another demo");
    return false;
}

static void flags_of_the_demo(void **state)
{
    (void)state;
    static char out[4200];
    snprintf(out, sizeof out, "%s/demo", test_folder());
    static const char *const flags[] = {
        "--species mixed --animals 7 --seconds 4 --seed 0 --behaviour wander",
        "--species fish --animals 3 --seed 1",
        "--species fly --seconds 1.5 --behaviour chase",
        "--species mouse --behaviour follow --pictures",
        "--compare --runtime reference",
    };
    for (int i = 0; i < 5; i++) {
        sk_demo_settings d;
        sk_demo_defaults(&d);
        d.out = out;
        if (i >= 1 && i <= 3)
            d.scene.species = (sk_species)(i - 1);
        if (i == 1) {
            d.scene.animals = 3;
            d.scene.seed = SK_DEMO_FIRST_SEED + 1;
        } else if (i == 2) {
            d.seconds = 1.5;
            d.scene.behaviour = SK_BEHAVE_CHASE;
        } else if (i == 3) {
            d.scene.behaviour = SK_BEHAVE_FOLLOW;
            d.pictures = true;
        } else if (i == 4) {
            d.compare = true;
            d.runtime = "reference";
        }
        leave(&d);
        if (!is_of(flags[i]))
            fail_msg("'%s' is another demo", flags[i]);
        static const char *const others[] = {"--animals 5",       "--seed 7",           "--seconds 5",
                                             "--behaviour chase", "--species fly",      "--pictures",
                                             "--compare",         "--runtime reference"};
        for (size_t k = 0; k < sizeof others / sizeof *others && i == 0; k++)
            if (!is_of("") || is_of(others[k]))
                fail_msg("'%s' is the same demo as without it", others[k]);
    }
    SAID_REFUSES(&s, SK_ERR_ARG, "nonsense", "demo -o %s/demo --behaviour nonsense", test_folder());
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "--models names the folder that holds them",
                 "demo -o %s/demo --models /no/such", test_folder());
}

static void flags_of_quantize(void **state)
{
    (void)state;
    static char there[4200];
    snprintf(there, sizeof there, "%s/there.skq", test_folder());
    assert_ok(sk_file_replace(there, "x", 1, &err), &err);
    SAID_REFUSES(&s, SK_ERR_BUSY, "there.skq: is there already; --overwrite replaces it",
                 "quantize %s/there.pt --data x", test_folder()); /* beside the model */
    SAID_REFUSES(&s, SK_ERR_BUSY, "there.skq: is there already", "quantize no.pt --data x -o %s", there);
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "no.pt", "quantize no.pt --data x -o %s --overwrite", there);
    SAID_REFUSES(&s, SK_ERR_ARG, "--percent is for --ranges percentile",
                 "quantize m.pt --data x --percent 99");
    SAID_REFUSES(&s, SK_ERR_ARG, "--percent is for --ranges percentile",
                 "quantize m.pt --data x --percent 99 --ranges all");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "no.pt",
                 "quantize no.pt --data x --percent 99 --ranges percentile -o %s/new.skq", test_folder());
    SAID_REFUSES(&s, SK_ERR_ARG, "--imgsz x: ", "quantize m.pt --data x --imgsz x");
}

int main(void)
{
    snprintf(models, sizeof models, "%s",
             test_folder()); /* nobody opens them: what they hold is a part of the settings */
    char path[4200];
    static const char *const names[] = {"demo-obb.pt", "demo-pose.pt"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", models, names[i]);
        if (sk_file_replace(path, names[i], strlen(names[i]), &err) != SK_OK)
            return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(flags_of_the_demo),
                                       cmocka_unit_test(flags_of_quantize)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
