/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the files that runtimes made are taken away, and how that is told: the files are made up. */
#include "said.h"

#include "app/artifacts.h"
#include "base/memory.h"

static said s;

/* --- the play: in place of app/artifacts.c and runtime/artifact_list.c --- */

static sk_artifact_row files[8];
static int32_t n_files;
static bool was_deep;
static int32_t n_named;
static char removed[256];

sk_status sk_artifacts_make(const sk_artifacts_export *wish, sk_artifacts_exported *out, sk_error *err)
{
    (void)wish, (void)out;
    return sk_fail(err, SK_ERR_UNSUPPORTED, "not played");
}

sk_status sk_artifacts_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_row **rows,
                            int32_t *count, sk_error *err)
{
    (void)places;
    was_deep = deep;
    n_named = n_places;
    *rows = sk_calloc(8, sizeof **rows);
    if (!*rows)
        return sk_fail_memory(err, 8);
    memcpy(*rows, files, sizeof files);
    *count = n_files;
    return SK_OK;
}

bool sk_artifacts_useless(const sk_artifact_row *row)
{
    return row->orphan;
}

sk_status sk_artifact_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_hash hash,
                           sk_artifact_row **rows, int32_t *count, sk_error *err)
{
    (void)hash;
    return sk_artifacts_list(places, n_places, deep, rows, count, err);
}

void sk_artifact_remember(const char *path)
{
    (void)path;
}

sk_status sk_artifact_remove(const sk_artifact_row *row, sk_error *err)
{
    if (strcmp(row->path, "stuck") == 0)
        return sk_fail(err, SK_ERR_IO, "stuck: the disk does not let go of it");
    snprintf(removed + strlen(removed), sizeof removed - strlen(removed), "%.16s ", row->path);
    return SK_OK;
}

static sk_artifact_row *add(const char *path, int64_t bytes)
{
    sk_artifact_row *r = &files[n_files++];
    *r = (sk_artifact_row){.state = SK_ARTIFACT_FRESH, .bytes = bytes};
    snprintf(r->path, sizeof r->path, "%s", path);
    return r;
}

/* One of each kind: of these only the orphan is of no use. */
static void begin(void)
{
    n_files = 0;
    removed[0] = '\0';
    (void)add("fresh", 1024);
    add("orphan", 2048)->orphan = true;
    sk_artifact_row *r = add("exported", 4096);
    r->orphan = r->record.exported = true;
    r = add("unread", 8192);
    r->orphan = r->unread = true;
    r = add("theirs", 16384);
    r->state = SK_ARTIFACT_USER;
    r->orphan = true;
}

/* The first word of each line, parted by blanks. */
static const char *deeds(void)
{
    static char all[256];
    all[0] = '\0';
    for (const char *line = s.out; *line; line += strcspn(line, "\n") + 1)
        if (!strstr(line, " of ") || strstr(line, " of ") > line + strcspn(line, "\n"))
            snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s;", (int)strcspn(line, " "), line);
    return all;
}

static void what_goes(void **state)
{
    (void)state;
    begin();
    SAID_OK(&s, "artifacts");
    assert_true(!was_deep && n_named == 0);
    assert_string_equal(deeds(), "fresh;orphan;orphan;orphan;orphan;");
    assert_string_equal(removed, "");
    SAID_OK(&s, "artifacts list a b");
    assert_int_equal(n_named, 2);
    SAID_OK(&s, "artifacts clean");
    assert_true(was_deep);
    assert_string_equal(deeds(), "kept;removed;kept;kept;kept;");
    assert_string_equal(removed, "orphan ");
    said_has(s.out, "\n1 of 5, 2.0 kB\n");
    begin();
    SAID_OK(&s, "artifacts clean --all");
    assert_string_equal(deeds(), "removed;removed;removed;removed;kept;");
    assert_string_equal(removed, "fresh orphan exported unread ");
    said_has(s.out, "\n4 of 5, 15 kB\n");
    begin();
    SAID_OK(&s, "artifacts clean --all --dry-run");
    assert_string_equal(deeds(), "would;would;would;would;kept;");
    assert_string_equal(removed, "");
    said_has(s.out, "\n4 of 5, 15 kB\n");
    SAID_OK(&s, "artifacts clean --dry-run --json");
    said_has(s.out, "\"done\": \"would go\"");
    said_has(s.out, "\"done\": \"kept\"");
    said_lacks(s.out, " of 5");
    SAID_OK(&s, "artifacts --json");
    said_lacks(s.out, "\"done\"");
}

static void what_stays(void **state)
{
    (void)state;
    begin();
    add("stuck", 512)->orphan = true;
    SAID_REFUSES(&s, SK_ERR_IO, "1 could not be removed", "artifacts clean");
    assert_string_equal(deeds(), "kept;removed;kept;kept;kept;kept;");
    assert_string_equal(s.err, "skitter: warning: stuck: the disk does not let go of it\n");
    said_has(s.out, "\n1 of 6, 2.0 kB\n");
    SAID_REFUSES(&s, SK_ERR_MISMATCH, "5 of 6 cannot be used as they are\nruns make their own anew",
                 "artifacts verify");
    assert_true(was_deep);
    SAID_OK(&s, "artifacts list");
    n_files = 1; /* the fresh one alone */
    SAID_OK(&s, "artifacts verify");
    said_lacks(s.out, "no artifacts");
    SAID_OK(&s, "artifacts clean");
    said_has(s.out, "\n0 of 1, 0 B\n");
    n_files = 0;
    SAID_OK(&s, "artifacts verify --json");
    assert_string_equal(s.out, "{\n  \"artifacts\": [],\n  \"inference\": []\n}\n");
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_goes), cmocka_unit_test(what_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
