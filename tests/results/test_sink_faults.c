/* SPDX-License-Identifier: Apache-2.0 */
/* Result files under bad names, through links and on full disks. */
#include "base/file.h"
#include "base/text.h"
#include "formats/bag_file.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "formats/ros_messages.h"
#include "results/annotations.h"
#include "results/sink.h"
#include "support/test.h"

#include "written.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Formats that are one text file, and which nothing here reads (eval, overlay), are named in this list. */
static bool is_read_back(const sk_sink_kind *kind)
{
    static const char *const not_read[] = {"mcap", "db3", "rosbag2", NULL};
    for (const char *const *name = not_read; *name; name++)
        if (strcmp(*name, kind->name) == 0)
            return false;
    return true;
}

static bool is_bag(const sk_sink_kind *kind)
{
    return strcmp(kind->name, "mcap") == 0 || strcmp(kind->name, "db3") == 0;
}

static void expect_utf8(sk_msg_text text)
{
    for (size_t at = 0, step; at < text.length; at += step) {
        step = sk_text_utf8(text.data + at, text.length - at);
        assert_true(step > 0);
    }
}

/* Three frames of a pose model, all texts UTF-8. */
static void check_bag(const char *path)
{
    sk_error err = {0};
    sk_bag_file *file = NULL;
    sk_bag_entries entries = {0};
    sk_arena *arena = NULL;
    assert_ok(sk_arena_open(4096, &arena, &err), &err);
    assert_ok(strstr(path, "db3") ? sk_bag_file_open_db3(path, &file, &err)
                                  : sk_bag_file_open_mcap(path, &file, &err),
              &err);
    assert_string_equal(file->problem, "");
    for (size_t t = 0; t < file->n_topics; t++) {
        assert_int_equal(file->topics[t].messages, 3);
        if (strcmp(file->topics[t].name, "/skitter/keypoints") == 0)
            assert_ok(file->list(file, t, &entries, &err), &err);
        for (size_t i = 0; i < entries.count; i++) {
            sk_msg_instance_array poses;
            const uint8_t *bytes;
            size_t count;
            assert_ok(file->read(file, t, &entries.items[i], &bytes, &count, &err), &err);
            assert_ok(sk_msg_decode(&sk_msg_instance_array_layout, bytes, count, arena, &poses, &err), &err);
            assert_int_equal(poses.skeleton_names.count, 2);
            expect_utf8(poses.skeleton_names.items[0]);
            for (size_t k = 0; k < poses.instances.count; k++)
                expect_utf8(poses.instances.items[k].class_name);
        }
        if (entries.count)
            break;
    }
    assert_int_equal(entries.count, 3);
    sk_free(entries.items);
    sk_arena_close(&arena);
    file->close(file);
}

/* Names as nobody should give them: not UTF-8, with escape codes, beginning with #. Every file stays valid. */
static void strange_names_give_valid_files(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const strange_classes[] = {"#1 \xff\x1b[31m", "=cmd()"};
    static const char *const strange_points[] = {"he\xc3", "#tail"};
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        char path[4300];
        snprintf(path, sizeof path, "%s/strange.%s", test_folder(), (*kind)->name);
        followed = tracked = strcmp((*kind)->name, "mot") == 0;
        sk_run_header h = header();
        h.class_names = strange_classes;
        h.keypoint_names = strange_points;
        h.identities = strcmp((*kind)->name, "slp") == 0;
        h.source = "#\xfe.mp4";
        sk_sink *sink = NULL;
        assert_ok((*kind)->open(path, &h, &sink, &err), &err);
        for (int i = 0; i < 3; i++) {
            sk_result_frame frame = *frame_number(i);
            frame.source = h.source;
            assert_ok(sink->write(sink, &frame, &err), &err);
        }
        assert_ok(sink->close(sink, &err), &err);
        if ((*kind)->file[strlen((*kind)->file) - 1] == '/')
            continue;
        if (is_bag(*kind)) {
            check_bag(path);
            continue;
        }
        if (strstr((*kind)->file, ".h5") || strstr((*kind)->file, ".slp")) {
            char *said = text_in(path, h.identities ? "tracks_json" : "node_names", NULL);
            assert_non_null(strstr(said, "\xEF\xBF\xBD"));
            sk_free(said);
            continue;
        }
        const char *text = slurp(path);
        for (size_t left = strlen(text); left > 0;) {
            size_t step = sk_text_utf8(text, left);
            assert_true(step > 0);
            text += step, left -= step;
        }
        if (!is_read_back(*kind))
            continue;
        sk_annotation_set set = {0};
        assert_ok(sk_annotations_read(path, &set, &err), &err);
        assert_int_equal(set.n_items, 3);
        sk_annotations_free(&set);
    }
    followed = tracked = false;
}

/* A link that somebody put into the folder does not lead results elsewhere. */
static void links_are_not_written_through(void **state)
{
    (void)state;
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        char victim[4300], link[4300];
        sk_error err = {0};
        sk_run_header h = header();
        h.tracked = true;
        sk_sink *sink = NULL;
        bool folder = (*kind)->file[strlen((*kind)->file) - 1] == '/';
        snprintf(victim, sizeof victim, "%s/victim-%s", test_folder(), (*kind)->name);
        snprintf(link, sizeof link, folder ? "%s/in_2.txt" : "%s/planted-%s", test_folder(), (*kind)->name);
        if (strcmp((*kind)->name, "rosbag2") == 0) /* the file in it is called after the folder */
            snprintf(link, sizeof link, "%s/%s_0.mcap", test_folder(), sk_path_name(test_folder()));
        assert_ok(sk_file_replace(victim, "precious", 8, &err), &err);
        unlink(link);
        assert_int_equal(symlink(victim, link), 0);
        sk_status status = (*kind)->open(folder ? test_folder() : link, &h, &sink, &err);
        if (folder && strcmp((*kind)->name, "rosbag2") != 0) {
            assert_ok(status, &err);
            status = sink->write(sink, frame_number(1), &err);
            assert_ok(sink->close(sink, NULL), &err);
        }
        assert_int_equal(status, SK_ERR_IO);
        assert_string_equal(slurp(victim), "precious");
    }
}

/* Files that may not grow stand in for a full disk: every format says so, and ends without a crash. */
static void full_disks_are_told(void **state)
{
    (void)state;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        if ((*kind)->file[strlen((*kind)->file) - 1] == '/')
            continue; /* a folder of files, each of which is small */
        followed = tracked = strcmp((*kind)->name, "mot") == 0;
        for (rlim_t room = 0; room <= 20000; room += 2000) {
            char path[4300];
            snprintf(path, sizeof path, "%s/full", test_folder());
            sk_error err = {0};
            sk_run_header h = header();
            sk_sink *sink = NULL;
            small = before;
            small.rlim_cur = room;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
            sk_status status = (*kind)->open(path, &h, &sink, &err);
            for (int i = 0; i < 2000 && status == SK_OK; i++)
                status = sink->write(sink, frame_number(7), &err);
            if (sink) {
                sk_status closed = sink->close(sink, status == SK_OK ? &err : NULL);
                status = status != SK_OK ? status : closed;
            }
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
            assert_int_equal(status, SK_ERR_IO);
            assert_non_null(strstr(err.message, path));
            unlink(path);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strange_names_give_valid_files),
        cmocka_unit_test(links_are_not_written_through),
        cmocka_unit_test(full_disks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
