/* SPDX-License-Identifier: Apache-2.0 */
#include "app/slp_video.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/fault.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A .slp stands for its video, which may have moved with it. */
static void finds_the_video_beside_its_labels(void **state)
{
    (void)state;
    test_data_or_skip();
    char slp[4300], video[4300], command[9000];
    snprintf(slp, sizeof slp, "%s/clip.predictions.slp", test_folder());
    snprintf(video, sizeof video, "%s/clip.mp4", test_folder());
    snprintf(command, sizeof command, "cp '%s' '%s'", test_data("slp/clip.predictions.slp"), slp);
    assert_int_equal(system(command), 0);
    sk_error err = {0};
    char *found = NULL;
    assert_int_equal(sk_slp_video(slp, &found, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "clip.mp4"));
    assert_int_equal(symlink(test_data("video/clip.mp4"), video), 0);
    assert_ok(sk_slp_video(slp, &found, &err), &err);
    assert_string_equal(found, video);
    sk_free(found);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    char *found = NULL;
    assert_int_not_equal(sk_slp_video(test_source("README.md"), &found, &err), SK_OK);
    assert_null(found);
    assert_non_null(strstr(err.message, "README.md"));
}

/* Labels of these videos; as many entries as there are before a null. */
static void write_labels(const char *path, const char *const *entries)
{
    hsize_t count = 0;
    while (entries[count])
        count++;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1),
                space = H5Screate_simple(1, &count, NULL);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t set = H5Dcreate2(file, "videos_json", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (count)
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, entries) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    assert_true(H5Fclose(file) >= 0);
}

/* A name in the file: as it is, from beside the labels on, or beside them by its last part; what is neither file nor folder is not
 * opened. */
static void names_of_videos(void **state)
{
    (void)state;
    assert_int_equal(chdir(test_folder()), 0);
    assert_int_equal(mkdir("labels", 0777) + mkdir("labels/sub", 0777) + mkdir("labels/frames", 0777), 0);
    sk_error err = {0};
    static const char *const files[] = {"here.mp4", "labels/here.mp4", "labels/sub/deep.mp4",
                                        "labels/moved.mp4"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_ok(sk_file_put(files[i], "x", 1, &err), &err);
    assert_int_equal(mkfifo("labels/pipe.mp4", 0600), 0);
    static const struct {
        const char *entry, *found; /* null: what it says instead */
        sk_status status;
        const char *words;
    } rows[] = {
        {"{\"backend\": {\"filename\": \"here.mp4\"}}", "here.mp4", SK_OK, NULL},
        {"{\"backend\": {\"filename\": \"sub/deep.mp4\"}}", "labels/sub/deep.mp4", SK_OK, NULL},
        {"{\"backend\": {\"filename\": \"/gone/sub/moved.mp4\"}}", "labels/moved.mp4", SK_OK, NULL},
        {"{\"backend\": {\"filename\": \"/gone/frames\"}}", "labels/frames", SK_OK, NULL},
        {"{\"filename\": \"moved.mp4\"}", "labels/moved.mp4", SK_OK, NULL},
        {"{\"filename\": \"moved.mp4\", \"backend\": {\"filename\": \"here.mp4\"}}", "here.mp4", SK_OK, NULL},
        {"{\"backend\": {\"filename\": \"here.mp4\", \"filenames\": [\"here.mp4\"]}}", "here.mp4", SK_OK,
         NULL},
        {"{\"backend\": {\"filename\": \"here.mp4\", \"filenames\": [\"a\", \"b\"]}}", NULL,
         SK_ERR_UNSUPPORTED,
         "labels/x.slp: its frames are stored inside the file or are a list of pictures; give the video or "
         "the folder "
         "of pictures instead"},
        {"{\"backend\": {\"filename\": \".\"}}", NULL, SK_ERR_UNSUPPORTED,
         "labels/x.slp: its frames are stored inside the file"},
        {"{}", NULL, SK_ERR_UNSUPPORTED, "labels/x.slp: its frames are stored inside the file"},
        {"{\"filename\": \"pipe.mp4\"}", NULL, SK_ERR_NOT_FOUND,
         "labels/x.slp: its video 'pipe.mp4' is neither there nor beside the .slp; give the video itself"},
        {"{\"filename\": \"/dev/null\"}", NULL, SK_ERR_NOT_FOUND,
         "labels/x.slp: its video '/dev/null' is neither"},
        {"{\"filename\": ", NULL, SK_ERR_FORMAT, "labels/x.slp"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *found = (void *)&err;
        write_labels("labels/x.slp",
                     (const char *const[]){rows[i].entry, "{\"filename\": \"other.mp4\"}", NULL});
        const sk_status status = sk_slp_video("labels/x.slp", &found, &err);
        if (status != rows[i].status)
            fail_msg("%s: %s", rows[i].entry, err.message);
        if (rows[i].found) {
            assert_string_equal(found, rows[i].found);
        } else {
            assert_null(found);
            assert_int_equal(strncmp(err.message, rows[i].words, strlen(rows[i].words)), 0);
        }
        sk_free(found);
    }
    char *found = NULL;
    write_labels("labels/x.slp", (const char *const[]){NULL});
    assert_int_equal(sk_slp_video("labels/x.slp", &found, &err), SK_ERR_FORMAT);
    assert_string_equal(err.message, "labels/x.slp: names no video");
}

static sk_status find_one(void *context, sk_error *err)
{
    char *found = NULL;
    const sk_status status = sk_slp_video(context, &found, err);
    sk_free(found);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    static char labels[] = "labels/x.slp";
    write_labels(labels, (const char *const[]){"{\"filename\": \"/gone/here.mp4\"}", NULL});
    assert_true(test_every_allocation(find_one, labels) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_video_beside_its_labels),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(names_of_videos),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
