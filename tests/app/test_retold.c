/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that a folder knows, played to those who lack them, with pixels where these are lacking; and detections of a file as what finds
 * animals. */
#include "support/test.h"

#include "app/finder_detections.h"
#include "app/retell.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- playing --- */

typedef struct listener {
    sk_consumer base;
    const char *name;
    int64_t lacks; /* pixels of entries from here on */
} listener;

static sk_text said;
static bool interrupted_now;

static sk_status hear(sk_consumer *c, int64_t entry, const sk_result_frame *known, bool *lacks, sk_error *why)
{
    const listener *l = (const listener *)c;
    (void)why;
    sk_text_appendf(&said, "%s %lld:%lld%s; ", l->name, (long long)entry, (long long)known->index,
                    known->problem ? "!" : "");
    *lacks = (c->needs & SK_NEEDS_PIXELS) && entry >= l->lacks;
    return SK_OK;
}

static sk_status see(sk_consumer *c, sk_passing *passing, sk_error *why)
{
    (void)why;
    assert_true(passing->frame->index == passing->result->index && passing->frame->format == SK_PIXEL_RGB);
    sk_text_appendf(&said, "%s sees %d; ", ((listener *)c)->name, passing->frame->data[0]);
    return SK_OK;
}

static const sk_consumer_kind hears = {.name = "hears", .retell = hear, .take = see},
                              deaf = {.name = "deaf", .take = see};

static void add(sk_consumers *list, const char *name, const sk_consumer_kind *kind, uint32_t needs,
                int64_t has, int64_t lacks)
{
    listener *l = sk_calloc(1, sizeof *l);
    *l = (listener){.base = {.kind = kind, .needs = needs, .has = has}, .name = name, .lacks = lacks};
    assert_ok(sk_consumers_add(list, &l->base, &err), &err);
}

static bool is_interrupted(void *context)
{
    return *(bool *)context;
}

static sk_status other_time(void *context, int64_t entry, const sk_result_frame *known, sk_result_frame *told,
                            sk_error *why)
{
    (void)context, (void)why;
    *told = *known;
    sk_text_appendf(&said, "tell %lld; ", (long long)entry);
    return SK_OK;
}

static sk_status play(bool with_pixels, bool drawn_only, bool tell, int64_t lacks, sk_consumers *list)
{
    static const char *const files[] = {"run.json", NULL};
    static const sk_run_begin how = {.identity = "x\ty\n", .source = "pictures", .files = files};
    const sk_run_header header = {.source = "pictures", .source_kind = "pictures"};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_run_folder *folder = NULL;
    sk_source_defaults(&media);
    media.interrupted = is_interrupted;
    media.interrupted_context = &interrupted_now;
    assert_ok(sk_run_folder_open("run", &folder, &err), &err);
    assert_ok(sk_run_folder_begin(folder, &how, &err), &err);
    const sk_instances nobody = {0};
    for (int64_t i = sk_run_folder_known(folder); i < 4;
         i++) { /* 0, 1, 3 and 4; the second could not be read */
        const sk_result_frame frame = {.source = "p",
                                       .index = i < 2 ? i : i + 1,
                                       .instances = &nobody,
                                       .problem = i == 1 ? "torn" : NULL};
        assert_ok(sk_run_folder_append(folder, &frame, &err), &err);
    }
    sk_text_clear(&said);
    *list = (sk_consumers){0};
    add(list, "all", &hears, 0, 0, 0);
    add(list, "deaf", &deaf, 0, 0, 0);
    add(list, "two", &hears, 0, 2, 0);
    if (with_pixels)
        add(list, "draws", &hears, SK_NEEDS_PIXELS, 1, lacks);
    const sk_retell all = {.folder = folder,
                           .header = &header,
                           .consumers = list,
                           .source = "pictures",
                           .media = &media,
                           .tell = tell ? other_time : NULL,
                           .drawn_only = drawn_only};
    const sk_status status = sk_retell_run(&all, &err);
    sk_consumers_close(list);
    sk_run_folder_close(&folder);
    return status;
}

static void put_pictures(int count)
{
    char path[64];
    static uint8_t grey[16 * 16 * 3];
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = SK_FRAME_INIT;
        memset(grey, 10 * i, sizeof grey);
        f.format = SK_PIXEL_RGB, f.width = f.height = 16, f.stride = 48, f.data = grey;
        snprintf(path, sizeof path, "pictures/%d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
}

static void frames_are_played(void **state)
{
    (void)state;
    sk_consumers list;
    put_pictures(6);
    assert_ok(play(false, false, false, 0, &list), &err);
    assert_string_equal(sk_text_get(&said), "all 0:0; all 1:1!; all 2:3; two 2:3; all 3:4; two 3:4; ");
    assert_ok(play(false, false, true, 0, &list), &err);
    assert_string_equal(
        sk_text_get(&said),
        "tell 0; all 0:0; tell 1; all 1:1!; tell 2; all 2:3; two 2:3; tell 3; all 3:4; two 3:4; ");
    assert_ok(play(false, true, false, 0, &list), &err); /* nobody is there for that */
    assert_string_equal(sk_text_get(&said), "");
    /* who draws has the first, and lacks the third: it is read again for it */
    assert_ok(play(true, true, false, 3, &list), &err);
    assert_string_equal(sk_text_get(&said), "draws 2:3; draws 3:4; draws sees 40; ");
    assert_ok(play(true, true, true, 0, &list), &err);
    assert_string_equal(sk_text_get(&said),
                        "tell 0; tell 1; tell 2; draws 2:3; draws sees 30; tell 3; draws 3:4; "
                        "draws sees 40; ");
    assert_ok(play(true, false, false, 99, &list), &err); /* it lacks none */
    assert_string_equal(sk_text_get(&said),
                        "all 0:0; all 1:1!; all 2:3; two 2:3; all 3:4; two 3:4; draws 2:3; draws 3:4; ");
    interrupted_now = true;
    assert_int_equal(play(true, true, false, 0, &list), SK_ERR_CANCELLED);
    assert_string_equal(err.message,
                        "pictures: interrupted while drawing; the same command goes on from there");
    interrupted_now = false;
    assert_int_equal(unlink("pictures/4.png"), 0); /* the fifth is now another, and the last is gone */
    assert_int_equal(unlink("pictures/5.png"), 0);
    assert_int_equal(play(true, true, false, 0, &list), SK_ERR_MISMATCH);
    assert_non_null(
        strstr(err.message, "pictures: frame 4, which the earlier run looked at, cannot be read again"));
    sk_text_free(&said);
}

/* --- detections as a finder --- */

static void poses_become_boxes(void **state)
{
    (void)state;
    sk_finder_detections f = {0};
    put("poses.csv", "frame,name,score,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n"
                     "3,fly,0.5,10,20,1,16,12,1\n"
                     "3,bee,0.5,5,5.5,1,,,\n"
                     "5,fly,0.5,,,,7,8,1\n");
    assert_ok(sk_finder_detections_open("poses.csv", 0, &f, &err), &err);
    assert_true(f.set.n_items == 3 && f.finder.n_classes == 2 && !f.finder.oriented);
    assert_string_equal(f.finder.name, "poses.csv");
    static const float boxes[3][4] = {{10, 12, 16, 20}, {5, 5.5F, 6, 6.5F}, {7, 8, 8, 9}};
    static const int counts[] = {0, 0, 0, 2, 0, 1, 0};
    int told = 0;
    for (int64_t i = 0; i < 7; i++) {
        const sk_frame frame = {.index = i};
        const sk_instances *found = NULL;
        assert_ok(f.finder.find(f.finder.context, &frame, &found, &err), &err);
        assert_int_equal(found->count, counts[i]);
        for (int32_t k = 0; k < found->count; k++) {
            assert_true(found->items[k].has & SK_HAS_BOX);
            assert_memory_equal(found->items[k].box, boxes[told++], sizeof boxes[0]);
        }
    }
    /* the first is in frame 3: a video of three frames is another */
    static const struct {
        int64_t total;
        bool exact;
        sk_status status;
    } rows[] = {{3, true, SK_ERR_MISMATCH}, {4, true, SK_OK}, {3, false, SK_OK}, {-1, true, SK_OK}};
    for (int i = 0; i < 4; i++) {
        sk_source_info info = SK_SOURCE_INFO_INIT;
        info.total = rows[i].total;
        info.exact = rows[i].exact;
        const sk_finder_source source = {.source = "v.mp4", .info = &info};
        assert_int_equal(f.finder.begin(f.finder.context, &source, &err), rows[i].status);
        if (i == 0)
            assert_string_equal(err.message,
                                "v.mp4: has 3 frames, and the first of poses.csv is number 3: they are of "
                                "another video");
    }
    sk_sha256 hash;
    char hex[SK_SHA256_TEXT], wanted[128];
    assert_ok(sk_hash_sha256_file("poses.csv", &hash, &err), &err);
    snprintf(wanted, sizeof wanted, "detections\t%s\n", sk_sha256_text(&hash, hex));
    assert_string_equal(f.finder.identity, wanted);
    f.finder.end(f.finder.context);
    sk_finder_detections_close(&f);
    assert_null(f.frames);
    sk_text identity = {0};
    assert_ok(sk_finder_detections_identity("pictures", &identity, &err), &err); /* a folder: by its name */
    assert_string_equal(sk_text_get(&identity), "detections\tpictures\n");
    sk_text_free(&identity);
}

static void boxes_stay(void **state)
{
    (void)state;
    sk_finder_detections f = {0};
    put("boxes.csv", "frame,cx,cy,w,h,angle\n0,50,40,20,10,0.5\n");
    assert_ok(sk_finder_detections_open("boxes.csv", 0, &f, &err), &err);
    assert_true(f.finder.oriented);
    sk_finder_detections_close(&f);
    static const char *const nothing[] = {"", "\n", " \t\r\n"};
    for (int i = 0; i < 3; i++) {
        put("nothing.csv", nothing[i]);
        assert_ok(sk_finder_detections_open("nothing.csv", 0, &f, &err), &err);
        assert_true(f.set.n_items == 0 && f.finder.n_classes == 0);
        sk_finder_detections_close(&f);
    }
    put("nothing.csv", " x\n");
    assert_int_not_equal(sk_finder_detections_open("nothing.csv", 0, &f, &err), SK_OK);
    sk_finder_detections_close(&f);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_played),
        cmocka_unit_test(poses_become_boxes),
        cmocka_unit_test(boxes_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
