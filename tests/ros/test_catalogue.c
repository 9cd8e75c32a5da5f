/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/catalogue.h"

#include "base/file.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* Folders of manifests: which are read, in which order, whose place they take and what is told of those that cannot be. */

static const char *folder_of(const char *name)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static void put(const char *folder, const char *inside, const char *text)
{
    char path[4400];
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder_of(folder), inside);
    char *last = strrchr(path, '/');
    *last = '\0';
    assert_ok(sk_folder_make(path, &err), &err);
    *last = '/';
    assert_ok(sk_file_put(path, text, strlen(text), &err), &err);
}

static void put_model(const char *folder, const char *inside, const char *model)
{
    char text[400];
    snprintf(text, sizeof text,
             "model: {name: %s, family: ultralytics, variants: [x], default_variant: x}\n"
             "source: {type: a, repo: b}\ninput: {}\noutput: {type: detections}\nros: {}\n",
             model);
    put(folder, inside, text);
}

static size_t shipped(void)
{
    sk_catalogue *c = NULL;
    sk_error err = {0};
    assert_ok(sk_catalogue_open(NULL, &c, &err), &err);
    const size_t count = c->count;
    assert_true(count > 5 && c->n_shipped == count && c->problems.count == 0);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(c->manifests[i - 1]->name, c->manifests[i]->name) < 0);
    sk_catalogue_close(&c);
    assert_null(c);
    return count;
}

/* Opens a folder; the names of those that are not shipped, with a blank behind each. */
static void opened(const char *folder, size_t problems, const char *problem, const char *expected)
{
    sk_catalogue *c = NULL;
    sk_error err = {0};
    char names[400] = "";
    assert_ok(sk_catalogue_open(folder_of(folder), &c, &err), &err);
    for (size_t i = 0; i < c->count; i++)
        if (strstr(c->manifests[i]->path, test_folder()))
            strcat(strcat(names, c->manifests[i]->name), " ");
    assert_string_equal(names, expected);
    if (c->problems.count != problems)
        fail_msg("%s: %zu problems: %s", folder, c->problems.count, sk_text_get(&c->problems.lines));
    if (problem && !strstr(sk_text_get(&c->problems.lines), problem))
        fail_msg("%s: %s", folder, sk_text_get(&c->problems.lines));
    sk_catalogue_close(&c);
}

static void folders_are_read_by_their_names(void **state)
{
    (void)state;
    put_model("several", "zebra/manifest.yaml", "aa_mine");
    put_model("several", "ant/manifest.yaml", "zz_mine");
    put_model("several", ".hidden/manifest.yaml", "hidden");
    put("several", "notes.txt", "no manifest");
    put("several", "empty/notes.txt", "no manifest either");
    opened("several", 0, NULL, "aa_mine zz_mine ");
    put_model("alone", "manifest.yaml", "lonely");
    opened("alone", 0, NULL, "lonely ");
    put_model("alone", "other/manifest.yaml", "beside");
    opened("alone", 0, NULL, "beside lonely ");
    put("none", "empty/notes.txt", "nothing");
    opened("none", 1, "there is no manifest in it: they are ", "");
}

static void names_are_spent_once(void **state)
{
    (void)state;
    const size_t before = shipped();
    sk_catalogue *c = NULL;
    sk_error err = {0};
    put_model("own", "yolo/manifest.yaml", "yolo"); /* in the place of the one that is shipped */
    opened("own", 0, NULL, "yolo ");
    assert_ok(sk_catalogue_open(folder_of("own"), &c, &err), &err);
    assert_int_equal(c->count, before);
    sk_catalogue_close(&c);
    put_model("twice", "a/manifest.yaml", "same");
    put_model("twice", "b/manifest.yaml", "same");
    opened("twice", 1, "b/manifest.yaml: 'same' is the model of ", "same ");
    assert_ok(sk_catalogue_open(folder_of("twice"), &c, &err), &err);
    assert_int_equal(c->count, before + 1);
    sk_catalogue_close(&c);
    assert_non_null(sk_ros_refused_find("bytetrack"));
    assert_non_null(sk_ros_refused_find("zoedepth"));
    assert_null(sk_ros_refused_find("yolo"));
}

static void what_cannot_be_read_is_told_and_the_rest_is_there(void **state)
{
    (void)state;
    sk_catalogue *c = NULL;
    sk_error err = {0};
    put("broken", "bad/manifest.yaml", "model: [");
    put_model("broken", "good/manifest.yaml", "good");
    opened("broken", 1, "bad/manifest.yaml", "good ");
    assert_int_equal(sk_catalogue_open(folder_of("missing"), &c, &err), SK_ERR_NOT_FOUND);
    assert_null(c);
    assert_non_null(strstr(err.message, "missing' does not exist or is no folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_read_by_their_names),
        cmocka_unit_test(names_are_spent_once),
        cmocka_unit_test(what_cannot_be_read_is_told_and_the_rest_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
