/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_identity.h"
#include "base/memory.h"
#include "models/model.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything that changes a result is in one table; whatever of it changes is another run, and is named. */

static sk_model model = {.task = SK_TASK_DETECT, .content_hash = "aa"};
static sk_pipeline_info about;
static const sk_model *models[1];
static sk_predict_settings settings;
static sk_run_facts facts;
static char video[4300];

static void begin(void)
{
    sk_predict_defaults(&settings);
    settings.source = video;
    about = (sk_pipeline_info){.task = SK_TASK_DETECT, .n_models = 1, .precision = "f32"};
    models[0] = &model;
    facts = (sk_run_facts){.settings = &settings, .about = &about, .models = models, .info = {.hwaccel = ""}};
}

static char *identity(void)
{
    sk_error err = {0};
    sk_run_identity of = {0};
    assert_ok(sk_run_identity_of(&facts, &of, &err), &err);
    char *text = sk_strdup(sk_text_get(&of.text));
    sk_run_identity_free(&of);
    return text;
}

/* What differs now from how it began begins with this name, and nothing else differs unless `more`. */
static void expect_difference(const char *before, const char *name, bool more)
{
    char *now = identity();
    sk_text what = {0};
    sk_run_identity_difference(before, now, &what);
    if (!more && (strncmp(sk_text_get(&what), name, strlen(name)) != 0 || strstr(sk_text_get(&what), ", ")))
        fail_msg("%s was changed, and told is: %s", name, sk_text_get(&what));
    if (!strstr(sk_text_get(&what), name) || !strstr(sk_text_get(&what), " -> "))
        fail_msg("%s was changed, and told is: %s", name, sk_text_get(&what));
    sk_text_free(&what);
    sk_free(now);
}

static void write_video(const char *bytes)
{
    FILE *file = fopen(video, "wb");
    fputs(bytes, file);
    fclose(file);
}

static void every_setting_in_the_table_counts(void **state)
{
    (void)state;
    begin();
    char *before = identity();
    size_t plain = 0;
    const sk_run_member *m;
    for (size_t i = 0; (m = sk_run_identity_member(i)); i++) {
        begin();
        char *at = (char *)&settings + m->at;
        switch (m->form) {
        case SK_RUN_CALL: continue;
        case SK_RUN_REAL32: *(float *)(void *)at += 0.125f; break;
        case SK_RUN_REAL: *(double *)(void *)at += 0.125; break;
        case SK_RUN_INT: ++*(int32_t *)(void *)at; break;
        case SK_RUN_FLAG: *(bool *)at = !*(bool *)at; break;
        case SK_RUN_TEXT: *(const char **)(void *)at = "another"; break;
        }
        expect_difference(before, m->name, true); /* others may be told from it */
        plain++;
    }
    assert_true(plain >= 15);
    sk_free(before);
}

static void what_is_more_than_a_setting_counts(void **state)
{
    (void)state;
    static const int32_t classes[] = {3};
    write_video("one");
    begin();
    char *before = identity();
    settings.detector.classes = classes, settings.detector.n_classes = 1;
    expect_difference(before, "classes", false);
    begin();
    settings.detector.width = 640;
    expect_difference(before, "imgsz", false);
    begin();
    settings.media.last = 7;
    expect_difference(before, "frames", false);
    begin();
    settings.runtime_fell_back = true;
    expect_difference(before, "runtime fallback", false);
    begin();
    settings.devices = "cuda:1";
    expect_difference(before, "devices", false);
    begin();
    about.precision = "f16";
    expect_difference(before, "precision", false);
    begin();
    facts.info.hwaccel = "cuda";
    expect_difference(before, "hwaccel", false);
    begin();
    snprintf(model.content_hash, sizeof model.content_hash, "bb");
    expect_difference(before, "models aa -> bb", false);
    snprintf(model.content_hash, sizeof model.content_hash, "aa");
    begin();
    about.rect = SK_RECT_ON;
    expect_difference(before, "shape", false);
    begin();
    about.heads = SK_HEADS_ONE_TO_ONE;
    expect_difference(before, "heads", false);
    begin();
    write_video("two and more");
    expect_difference(before, "source_size 3 -> 12", true);
    expect_difference(before, "source_sample", true);
    sk_free(before);
}

static void what_changes_no_result_may_differ(void **state)
{
    (void)state;
    write_video("one");
    begin();
    char *before = identity();
    settings.detector.threads = 3;
    settings.devices = "auto";
    settings.overlay = settings.restart = settings.strict = true;
    char *now = identity();
    assert_string_equal(before, now);
    sk_free(now);
    sk_free(before);
}

/* Values keep to their line whatever is in them, and none is cut. */
static void values_of_any_length_and_kind(void **state)
{
    (void)state;
    static char name[20000];
    memset(name, 'x', sizeof name - 1);
    begin();
    settings.source = name;
    char *before = identity();
    name[sizeof name - 2] = 'y';
    expect_difference(before, "source", false);
    sk_free(before);
    settings.source = "a\nmodels\tzz\\";
    before = identity();
    assert_non_null(strstr(before, "source\ta\\nmodels\tzz\\\\\n"));
    settings.source = "a\nmodels\tzz";
    expect_difference(before, "source", false);
    sk_free(before);
}

int main(void)
{
    snprintf(video, sizeof video, "%s/video", test_folder());
    write_video("one");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_in_the_table_counts),
        cmocka_unit_test(what_is_more_than_a_setting_counts),
        cmocka_unit_test(what_changes_no_result_may_differ),
        cmocka_unit_test(values_of_any_length_and_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
