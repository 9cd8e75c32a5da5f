/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_folder.h"
#include "app/run_pictures.h"
#include "app/source_identity.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/fault.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* The run folder from being held to being complete. How whole runs go on is in test_run_folder.sh and test_run_faults.sh. */

static char path[4300];

static const char *folder_called(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static const char *const files[] = {"results.csv", "run.json", NULL};
static const sk_run_begin usual = {.identity = "conf\t0.25\n", .source = "in.mp4", .files = files};
static const sk_instances nothing = {0};
static const sk_run_header header = {.version = "0", .source = "in.mp4", .source_kind = "video"};

static sk_run_folder *open_it(void)
{
    sk_error err = {0};
    sk_run_folder *folder = NULL;
    assert_ok(sk_run_folder_open(path, &folder, &err), &err);
    assert_int_equal(sk_run_folder_stage(folder), SK_RUN_HELD);
    return folder;
}

static sk_run_folder *begin_it(const sk_run_begin *how)
{
    sk_error err = {0};
    sk_run_folder *folder = open_it();
    assert_ok(sk_run_folder_begin(folder, how, &err), &err);
    return folder;
}

static void append(sk_run_folder *folder, int64_t index)
{
    sk_error err = {0};
    const sk_result_frame frame = {.source = "in.mp4", .index = index, .instances = &nothing};
    assert_ok(sk_run_folder_append(folder, &frame, &err), &err);
}

static sk_status count_known(void *context, const sk_result_frame *known, sk_error *err)
{
    (void)err;
    assert_int_equal(known->index, (*(int64_t *)context)++);
    return SK_OK;
}

static bool run_json_says(const char *text)
{
    char file[4400], *there = NULL;
    size_t length = 0;
    snprintf(file, sizeof file, "%s/run.json", path);
    bool says = sk_file_read(file, 1 << 20, &there, &length, NULL) == SK_OK && strstr(there, text);
    sk_free(there);
    return says;
}

static void a_run_goes_on_until_it_is_complete(void **state)
{
    (void)state;
    sk_error err = {0};
    int64_t known = 0;
    sk_run_standing standing = {.state = SK_RUN_STOPPED, .frames = 2};
    assert_false(sk_run_folder_is_used(folder_called("goes_on")));
    sk_run_folder *folder = open_it();
    assert_ok(sk_run_folder_note(folder, &header, &standing, &err), &err); /* too early: nothing */
    assert_false(sk_run_folder_is_used(path));
    assert_ok(sk_run_folder_begin(folder, &usual, &err), &err);
    assert_int_equal(sk_run_folder_stage(folder), SK_RUN_BEGUN);
    assert_int_equal(sk_run_folder_last_index(folder), -1);
    const uint64_t id = sk_run_folder_id(folder);
    append(folder, 0);
    append(folder, 1);
    assert_ok(sk_run_folder_note(folder, &header, &standing, &err), &err);
    sk_run_folder_close(&folder);
    assert_null(folder);
    assert_true(sk_run_folder_is_used(path) && run_json_says("\"state\": \"stopped\""));

    folder = begin_it(&usual);
    assert_int_equal(sk_run_folder_known(folder), 2);
    assert_true(sk_run_folder_id(folder) == id);
    assert_ok(sk_run_folder_retell(folder, &header, count_known, &known, &err), &err);
    assert_int_equal(known, 2);
    assert_ok(sk_run_folder_finish(folder, &err), &err);
    standing.state = SK_RUN_FINISHED;
    assert_ok(sk_run_folder_note(folder, &header, &standing, &err), &err);
    sk_run_folder_close(&folder);

    folder = begin_it(&usual);
    assert_int_equal(sk_run_folder_stage(folder), SK_RUN_COMPLETE);
    standing = (sk_run_standing){.state = SK_RUN_FAILED, .nothing_to_do = true, .frames = 7};
    assert_ok(sk_run_folder_note(folder, &header, &standing, &err), &err);
    assert_true(run_json_says("\"state\": \"finished\"") && run_json_says("\"frames\": 2"));
    sk_run_folder_close(&folder);

    sk_run_begin anew = usual;
    anew.restart = true;
    folder = begin_it(&anew);
    assert_int_equal(sk_run_folder_known(folder), 0);
    assert_false(sk_run_folder_id(folder) == id);
    sk_run_folder_close(&folder);
}

static void what_is_refused_stays(void **state)
{
    (void)state;
    sk_error err = {0};
    folder_called("refused");
    sk_run_folder *folder = begin_it(&usual), *second = NULL;
    append(folder, 0);
    assert_int_equal(sk_run_folder_open(path, &second, &err), SK_ERR_BUSY);
    assert_null(second);
    sk_run_folder_close(&folder);
    sk_run_begin other = usual, once = usual;
    other.identity = "conf\t0.5\n";
    once.once = true;
    const sk_run_begin *const refused[] = {&other, &once};
    for (int i = 0; i < 2; i++) {
        folder = open_it();
        assert_int_equal(sk_run_folder_begin(folder, refused[i], &err), SK_ERR_MISMATCH);
        assert_int_equal(sk_run_folder_stage(folder), SK_RUN_HELD);
        const sk_run_standing standing = {.state = SK_RUN_FAILED};
        assert_ok(sk_run_folder_note(folder, &header, &standing, &err), &err);
        sk_run_folder_close(&folder);
        assert_false(run_json_says("failed"));
    }
    folder = begin_it(&usual);
    assert_int_equal(sk_run_folder_known(folder), 1);
    sk_run_folder_close(&folder);
}

static bool is_there(const char *name)
{
    char file[4400];
    snprintf(file, sizeof file, "%s/%s", test_folder(), name);
    return sk_file_exists(file);
}

/* A run that failed before its first frame was done leaves no folder, no parents of it that were made, and what was there. */
static void a_run_without_a_frame_leaves_no_folder(void **state)
{
    (void)state;
    sk_error err = {0};
    const sk_run_standing failed = {.state = SK_RUN_FAILED};
    static const char *const names[] = {"gone", "up/gone/", "up//on/gone", "up/on/to/gone//"};
    for (size_t i = 0; i < 4; i++) {
        folder_called(names[i]);
        sk_run_folder *folder = begin_it(&usual);
        assert_ok(sk_run_folder_note(folder, &header, &failed, &err), &err);
        assert_true(is_there(names[i]));
        sk_run_folder_abandon(&folder);
        assert_null(folder);
        assert_false(is_there("gone") || is_there("up"));
        folder = open_it(); /* refused before it began */
        sk_run_folder_abandon(&folder);
        assert_false(is_there("gone") || is_there("up"));
    }
    assert_ok(sk_folder_make(folder_called("theirs"), &err), &err); /* empty, but it was there before */
    folder_called("theirs/more/gone");
    sk_run_folder *inside = begin_it(&usual);
    sk_run_folder_abandon(&inside);
    assert_true(is_there("theirs") && !is_there("theirs/more"));
    folder_called("up/kept");
    sk_run_folder *folder = begin_it(&usual); /* a frame was done */
    append(folder, 0);
    sk_run_folder_abandon(&folder);
    assert_true(is_there("up/kept/journal.skj"));
    folder = open_it(); /* it was there before */
    sk_run_folder_abandon(&folder);
    assert_true(is_there("up/kept/journal.skj"));
    folder_called("up/full"); /* somebody put something there meanwhile */
    folder = begin_it(&usual);
    assert_ok(sk_folder_make(folder_called("up/full/theirs"), &err), &err);
    sk_run_folder_abandon(&folder);
    assert_true(is_there("up/full/theirs") && !is_there("up/full/journal.skj"));
    sk_run_folder_abandon(&folder); /* null stays null */
}

static void without_a_path_nothing_is_kept(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_folder *folder = NULL;
    const sk_run_standing standing = {.state = SK_RUN_FINISHED};
    const sk_result_frame bad = {.source = "a.png", .index = 3, .instances = &nothing, .problem = "torn"};
    assert_ok(sk_run_folder_open(NULL, &folder, &err), &err);
    assert_ok(sk_run_folder_begin(folder, &usual, &err), &err);
    assert_null(sk_run_folder_path(folder));
    append(folder, 0);
    assert_string_equal(sk_run_folder_first_problem(folder), "");
    assert_ok(sk_run_folder_leave_out(folder, &bad, &err), &err);
    assert_int_equal(sk_run_folder_left_out(folder), 1);
    assert_string_equal(sk_run_folder_first_problem(folder), "torn");
    assert_ok(sk_run_folder_flush(folder, true, &err), &err);
    assert_ok(sk_run_folder_finish(folder, &err), &err);
    assert_int_equal(sk_run_folder_stage(folder), SK_RUN_COMPLETE);
    assert_ok(sk_run_folder_note(folder, &header, &standing, &err), &err);
    sk_run_folder_close(&folder);
}

/* The list of pictures that a run at work reads is not replaced under it, whatever a second run was told. */
static void pictures_of_a_run_at_work_stay(void **state)
{
    (void)state;
    sk_error err = {0};
    char a[] = "a.jpg", b[] = "b.jpg", *list = NULL;
    char *const first[] = {a, b}, *const second[] = {b};
    folder_called("pictures");
    sk_run_pictures how = {2, first, path, false, false};
    assert_ok(sk_run_pictures_write(&how, &list, &err), &err);
    sk_free(list);
    sk_run_folder *folder = begin_it(&usual);
    sk_run_pictures other = {1, second, path, true, true};
    assert_int_equal(sk_run_pictures_write(&other, &list, &err), SK_ERR_BUSY);
    sk_free(list);
    assert_ok(sk_run_pictures_write(&how, &list, &err), &err); /* the same: nothing is written */
    sk_free(list);
    sk_run_folder_close(&folder);
    other.restart = other.overwrite = false;
    assert_int_equal(sk_run_pictures_write(&other, &list, &err), SK_ERR_MISMATCH);
    sk_free(list);
    other.restart = true;
    assert_ok(sk_run_pictures_write(&other, &list, &err), &err);
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(list, 100, &text, &length, &err), &err);
    assert_string_equal(text, "b.jpg\n");
    sk_free(text);
    sk_free(list);
}

static void append_picture(sk_run_folder *folder, const char *picture, int64_t index, const char *problem)
{
    sk_error err = {0};
    const sk_result_frame frame = {.source = picture,
                                   .index = index,
                                   .instances = &nothing,
                                   .problem = problem,
                                   .picture = sk_picture_stamp(picture)};
    assert_ok(sk_run_folder_append(folder, &frame, &err), &err);
}

static void write_picture(const char *picture, const char *text)
{
    sk_error err = {0};
    assert_ok(sk_file_replace(picture, text, strlen(text), &err), &err);
}

/* What was looked at must be what lies there when a run goes on; what could not be read may have been mended. */
static void pictures_that_were_changed(void **state)
{
    (void)state;
    sk_error err = {0};
    char pictures[3][4400];
    sk_run_begin looked = usual;
    looked.pictures = true;
    for (int i = 0; i < 3; i++) {
        snprintf(pictures[i], sizeof pictures[i], "%s/%d.png", test_folder(), i);
        write_picture(pictures[i], "picture");
    }
    folder_called("changed");
    sk_run_folder *folder = begin_it(&looked);
    append_picture(folder, pictures[0], 0, NULL);
    append_picture(folder, pictures[1], 1, "torn");
    append_picture(folder, pictures[2], 2, NULL);
    sk_run_folder_close(&folder);
    folder = begin_it(&looked); /* all are as they were */
    assert_int_equal(sk_run_folder_known(folder), 3);
    sk_run_folder_close(&folder);

    write_picture(pictures[2], "another picture");
    folder = open_it();
    assert_int_equal(sk_run_folder_begin(folder, &looked, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "2.png: was changed after this run had looked at it (frame 2)"));
    sk_run_folder_close(&folder);

    write_picture(pictures[1], "mended picture"); /* from there on all is looked at again */
    folder = begin_it(&looked);
    assert_int_equal(sk_run_folder_known(folder), 1);
    append_picture(folder, pictures[1], 1, "still torn");
    append_picture(folder, pictures[2], 2, NULL);
    sk_run_folder_close(&folder);

    folder = begin_it(&looked); /* a problem that was told is told still … */
    assert_int_equal(sk_run_folder_known(folder), 3);
    sk_run_folder_close(&folder);
    sk_run_begin strict = looked;
    strict.strict = true;
    folder = begin_it(&strict); /* … unless there shall be none */
    assert_int_equal(sk_run_folder_known(folder), 1);
    sk_run_folder_close(&folder);

    write_picture(pictures[0], "changed");
    folder = begin_it(&usual); /* nobody asks */
    assert_int_equal(sk_run_folder_known(folder), 1);
    sk_run_folder_close(&folder);
    folder = open_it();
    assert_int_equal(sk_run_folder_begin(folder, &looked, &err), SK_ERR_MISMATCH);
    sk_run_folder_close(&folder);
}

static sk_status open_begin_close(void *context, sk_error *err)
{
    (void)context;
    sk_run_folder *folder = NULL;
    SK_TRY(sk_run_folder_open(path, &folder, err));
    sk_run_begin anew = usual;
    anew.restart = true;
    sk_status status = sk_run_folder_begin(folder, &anew, err);
    sk_run_folder_close(&folder);
    return status;
}

static void memory_may_end(void **state)
{
    (void)state;
    folder_called("memory");
    assert_true(test_every_allocation(open_begin_close, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_goes_on_until_it_is_complete),
                                       cmocka_unit_test(what_is_refused_stays),
                                       cmocka_unit_test(a_run_without_a_frame_leaves_no_folder),
                                       cmocka_unit_test(without_a_path_nothing_is_kept),
                                       cmocka_unit_test(pictures_of_a_run_at_work_stay),
                                       cmocka_unit_test(pictures_that_were_changed),
                                       cmocka_unit_test(memory_may_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
