/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that a folder knows, played to those who lack them: none, one or more who draw, those who fail, and threads of their own. */
#include "support/fault.h"
#include "support/test.h"

#include "app/retell.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

typedef struct listener {
    sk_consumer base;
    int64_t lacks, fails_at, fails_to_see; /* frame that it lacks; -1: none */
    char said[200];
} listener;

static listener all[4];
static int64_t tell_fails_at;

static void say(listener *l, const char *what, int64_t n)
{
    const size_t at = strlen(l->said);
    snprintf(l->said + at, sizeof l->said - at, "%s%lld ", what, (long long)n);
}

static sk_status hear(sk_consumer *c, int64_t entry, const sk_result_frame *known, bool *lacks, sk_error *why)
{
    listener *l = (listener *)c;
    if (entry == l->fails_at)
        return sk_fail(why, SK_ERR_IO, "not heard: %lld", (long long)entry);
    say(l, "", known->index);
    *lacks = (c->needs & SK_NEEDS_PIXELS) && known->index == l->lacks;
    return SK_OK;
}

static sk_status see(sk_consumer *c, sk_passing *passing, sk_error *why)
{
    listener *l = (listener *)c;
    assert_int_equal(passing->frame->index, passing->result->index);
    if (passing->frame->index == l->fails_to_see)
        return sk_fail(why, SK_ERR_FORMAT, "not seen: %lld", (long long)l->fails_to_see);
    say(l, "sees", passing->frame->data[0]);
    return SK_OK;
}

static const sk_consumer_kind kind = {.name = "hears", .retell = hear, .take = see};

static sk_status other(void *context, int64_t entry, const sk_result_frame *known, sk_result_frame *told,
                       sk_error *why)
{
    (void)context;
    *told = *known;
    return entry == tell_fails_at ? sk_fail(why, SK_ERR_LIMIT, "not told: %lld", (long long)entry) : SK_OK;
}

/* Two that listen, two that draw. */
static void begin(void)
{
    memset(all, 0, sizeof all);
    for (int i = 0; i < 4; i++) {
        all[i].base = (sk_consumer){.kind = &kind, .needs = i < 2 ? 0 : SK_NEEDS_PIXELS};
        all[i].lacks = all[i].fails_at = all[i].fails_to_see = -1;
    }
    tell_fails_at = -1;
}

static sk_status play(const char *name, int count, bool threads, bool tells, sk_error *why)
{
    static const char *const files[] = {"run.json", NULL};
    static const sk_run_begin how = {.identity = "x\ty\n", .source = "pictures", .files = files};
    const sk_run_header header = {.source = "pictures", .source_kind = "pictures"};
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_run_folder *folder = NULL;
    sk_consumers list = {.count = 4};
    const sk_instances nobody = {0};
    sk_source_defaults(&media);
    for (int i = 0; i < 4; i++)
        list.items[i] = &all[i].base;
    sk_status status = sk_run_folder_open(name, &folder, why);
    if (status == SK_OK)
        status = sk_run_folder_begin(folder, &how, why);
    for (int64_t i = status == SK_OK ? sk_run_folder_known(folder) : count; i < count && status == SK_OK; i++)
        status = sk_run_folder_append(
            folder, &(sk_result_frame){.source = "p", .index = i, .instances = &nobody}, why);
    const sk_retell retell = {.folder = folder,
                              .header = &header,
                              .consumers = &list,
                              .source = "pictures",
                              .media = &media,
                              .tell = tells ? other : NULL,
                              .side_by_side = threads};
    if (status == SK_OK)
        status = sk_retell_run(&retell, why);
    sk_run_folder_close(&folder);
    return status;
}

#define SAID(a, b, c, d)                                                                                     \
    do {                                                                                                     \
        assert_string_equal(all[0].said, a);                                                                 \
        assert_string_equal(all[1].said, b);                                                                 \
        assert_string_equal(all[2].said, c);                                                                 \
        assert_string_equal(all[3].said, d);                                                                 \
    } while (0)

static int make_pictures(void **state)
{
    (void)state;
    char path[64];
    static uint8_t grey[16 * 16 * 3];
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < 3; i++) {
        memset(grey, 10 + i, sizeof grey);
        const sk_frame f = {.format = SK_PIXEL_RGB, .width = 16, .height = 16, .stride = 48, .data = grey};
        snprintf(path, sizeof path, "pictures/%d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
    return 0;
}

/* One after the other and side by side: the same is said to each. */
static void none_one_and_more(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        const bool threads = way & 1, tells = way & 2;
        begin();
        assert_ok(play("none", 0, threads, tells, &err), &err);
        SAID("", "", "", "");
        assert_ok(play("one", 1, threads, tells, &err), &err);
        SAID("0 ", "0 ", "0 ", "0 ");
        begin();
        all[1].base.has = 1;
        all[2].base.has = 2;
        all[2].lacks = 2;
        all[3].lacks = 1;
        assert_ok(play("run", 3, threads, tells, &err), &err);
        SAID("0 1 2 ", "1 2 ", "2 sees12 ", "0 1 sees11 2 ");
        begin(); /* they have all of it */
        all[0].base.has = all[1].base.has = all[2].base.has = all[3].base.has = 3;
        all[2].lacks = 2;
        assert_ok(play("run", 3, threads, tells, &err), &err);
        SAID("", "", "", "");
        begin(); /* both need the same frame: it is read once for both */
        all[2].lacks = all[3].lacks = 1;
        assert_ok(play("run", 3, threads, tells, &err), &err);
        SAID("0 1 2 ", "0 1 2 ", "0 1 sees11 2 ", "0 1 sees11 2 ");
    }
}

static void who_fails(void **state)
{
    (void)state;
    begin();
    all[0].fails_at = 1;
    assert_int_equal(play("run", 3, false, false, &err), SK_ERR_IO);
    assert_string_equal(err.message, "not heard: 1");
    SAID("0 ", "0 ", "", ""); /* nothing is drawn then */
    begin();
    all[1].fails_at = 1;
    assert_int_equal(play("run", 3, true, false, &err), SK_ERR_IO);
    assert_string_equal(err.message, "not heard: 1");
    assert_string_equal(all[2].said, "");
    for (int threads = 0; threads < 2; threads++) {
        begin();
        all[2].fails_at = 1;
        assert_int_equal(play("run", 3, threads, false, &err), SK_ERR_IO);
        SAID("0 1 2 ", "0 1 2 ", "0 ", "0 ");
        begin();
        all[2].lacks = all[3].lacks = all[2].fails_to_see = 1;
        assert_int_equal(play("run", 3, threads, false, &err), SK_ERR_FORMAT);
        assert_string_equal(err.message, "not seen: 1");
        SAID("0 1 2 ", "0 1 2 ", "0 1 ", "0 1 ");
        begin();
        tell_fails_at = 2;
        assert_int_equal(play("run", 3, threads, true, &err), SK_ERR_LIMIT);
        assert_string_equal(err.message, "not told: 2");
        assert_true(all[2].said[0] == '\0' && all[3].said[0] == '\0');
    }
}

static sk_status whole(void *context, sk_error *why)
{
    begin();
    all[2].lacks = 0;
    return play("run", 3, *(bool *)context, true, why);
}

static void without_memory(void **state)
{
    (void)state;
    begin();
    assert_ok(play("run", 3, false, false, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_true(test_every_allocation(whole, &(bool){i}) >= 10);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_one_and_more),
        cmocka_unit_test(who_fails),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, make_pictures, NULL);
}
