/* SPDX-License-Identifier: Apache-2.0 */
/* No memory: whichever piece of it is missing, a request is answered as it is with all of it, or is refused for want of memory; and
 * nothing stays behind. */
#include "server/asking.h"
#include "server/starving.h"

#include "server/archive.h"
#include "server/ask_program.h"
#include "server/pictures.h"
#include "server/views.h"
#include "server/workers.h"

#include <fcntl.h>

static int open_alone(void **state)
{
    sk_error err = {0};
    char *png = NULL;
    size_t length = 0;
    mkdir(place("state"), 0700);
    put("state/runs.json", "{\"last_id\": 9, \"runs\": [{\"id\": \"3\", \"command\": \"track\", \"state\": "
                           "\"failed\", \"message\": \"why\", \"words\": [\"a\", \"b\"]},{\"id\": \"4\", "
                           "\"command\": \"track\", \"state\": \"done\"}]}");
    put("state/3.jpg", "a picture");
    setenv("SKITTER_MODELS", test_source("share/models"), 1);
    open_asked(state);
    let_the_keeper_go(asked->runs);
    assert_ok(sk_roots_add(&asked->roots, test_source("share/models"), false, &err), &err);
    mkdir(place("top/linked"), 0700);
    mkdir(place("top/skitter-demo-page"), 0700);
    put("top/skitter-demo-page/scene.mp4", "drawn before");
    assert_int_equal(symlink("../pictures/p.png", place("top/linked/l.png")), 0);
    mkdir(place("top/sub"), 0700);
    mkdir(place("top/pictures"), 0700);
    put("top/a.mp4", "x");
    put("top/boxes.pt", "x");
    put("top/sub/b.mp4", "xy");
    put("top/sub/c.txt", "c");
    put("top/ours.json", "{\"gate\":2.5,\"run\":{\"conf\":0.5,\"online\":true,\"model\":\"boxes.pt\",\"roi\":"
                         "[\"1,2,3,4\",\"!5,6,7,8\"],\"nonsense\":1,\"source\":[\"a.mp4\",\"none.mp4\"]}}");
    put("top/theirs.json",
        "{\"file_path\":\"a.mp4\",\"yolo_obb_direct_model_path\":\"boxes.pt\",\"max_targets\":3,\"fps\":30,"
        "\"reference_body_size\":9,\"start_frame\":2,\"end_frame\":9,\"yolo_target_classes\":[1,2],\"roi_"
        "shapes\":[{\"type\":\"circle\",\"params\":[50,60,40],\"mode\":\"include\"}]}");
    assert_ok(sk_file_read(test_source("tests/fixtures/grey_64x48.png"), 1 << 20, &png, &length, &err), &err);
    assert_ok(sk_file_replace(place("top/pictures/p.png"), png, length, &err), &err);
    sk_free(png);
    return 0;
}

static void requests(void **state)
{
    (void)state;
    wanted cases[] = {
        {.method = "GET", .target = "/api/v1/about"},
        {.method = "GET", .target = "/api/v1/files"},
        {.method = "GET", .target = "/api/v1/files?path=sub"},
        {.method = "GET", .target = "/api/v1/runs"},
        {.method = "GET", .target = "/api/v1/settings?command=track"},
        {.method = "GET", .target = "/api/v1/config?path=ours.json"},
        {.method = "GET", .target = "/api/v1/config?path=theirs.json"},
        {.method = "POST",
         .target = "/api/v1/config",
         .body = "{\"command\":\"track\",\"path\":\"s.json\",\"replace\":true,\"settings\":{\"source\":["
                 "\"a.mp4\"],\"model\":[\"boxes.pt\"],\"set\":{\"gate\":3.5}}}"},
        {.method = "POST",
         .target = "/api/v1/command",
         .body = "{\"command\":\"track\",\"settings\":{\"source\":[\"a.mp4\",\"0\"],\"model\":[\"boxes.pt\"],"
                 "\"set\":{\"gate\":3.5},\"online\":true,\"out\":\"sub/new\",\"config\":\"theirs.json\"}}"},
        {.method = "GET", .target = "/api/v1/probe?path=sub"},
        {.method = "POST", .target = "/api/v1/recent", .body = "{\"path\":\"a.mp4\"}", .other = true},
        {.method = "GET", .target = "/api/v1/recent", .other = true},
        {.method = "POST",
         .target = "/api/v1/command",
         .body = "{\"command\":\"track\",\"settings\":{\"source\":\"linked\",\"model\":\"boxes.pt\"}}"},
        {.method = "GET", .target = "/api/v1/runtimes?pipelines=yolo_pose"},
        {.method = "GET", .target = "/api/v1/doctor"},
        {.method = "GET", .target = "/api/v1/troubleshooting", .other = true},
        {.method = "POST", .target = "/api/v1/runtime/reset", .body = "{\"pipelines\":\"yolo_pose\"}"},
        {.method = "GET", .target = "/api/v1/runs/3"},
        {.method = "GET", .target = "/api/v1/runs/3/preview.jpg"},
#ifdef SKITTER_HAVE_FFMPEG
        {.method = "GET", .target = "/api/v1/frame?source=pictures/p.png"},
        {.method = "GET", .target = "/api/v1/frame?source=linked&topic=t", .other = true},
        {.method = "GET", .target = "/api/v1/probe?path=pictures/p.png"},
        {.method = "GET", .target = "/api/v1/probe?path=pictures", .other = true},
        {.method = "POST", .target = "/api/v1/demo", .body = "{}"},
#endif
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        starve(&cases[i]);
}

/* What a run shows: its last picture, as it is; none yet; or one that is none. */
static void pictures_of_runs(void **state)
{
    (void)state;
    static const struct {
        const char *id, *part;
        int code;
    } cases[] = {{"3", "a picture", 200},
                 {"4", "\"message\":\"there is no picture of run 4 yet\"", 404},
                 {"5", "\"message\":\"there is no run 5\"", 404}};
    for (int link = 0; link < 2; link++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char id[24];
            sk_reply reply;
            sk_error err = {0};
            snprintf(id, sizeof id, "%s", cases[i].id);
            const sk_request r = {.method = SK_METHOD_GET, .part = {id}};
            sk_reply_init(&reply);
            const sk_status status = sk_serve_run_preview(asked, &r, &reply, &err);
            assert_int_equal(status, cases[i].code == 200 ? SK_OK : SK_ERR_NOT_FOUND);
            if (status == SK_OK) {
                assert_string_equal(reply.type, "image/jpeg");
                assert_int_equal(sk_blob_bytes(reply.blob), strlen(cases[i].part));
                assert_memory_equal(sk_blob_data(reply.blob), cases[i].part, strlen(cases[i].part));
            } else {
                sk_reply_error(&reply, &err);
                assert_non_null(strstr(sk_text_get(&reply.text), cases[i].part));
            }
            sk_reply_free(&reply);
            if (!link && i == 0) /* a link in its place is not followed */
                assert_int_equal(symlink(place("state/3.jpg"), place("state/4.jpg")), 0);
        }
    assert_int_equal(unlink(place("state/4.jpg")), 0);
}

/* Not even a sentence: the code says it. */
static void no_words_left(void **state)
{
    (void)state;
    static const char words[] = "{\"error\":{\"message\":\"out of memory\",\"hint\":null}}\n";
    const sk_error err = {.code = SK_ERR_NOT_FOUND, .message = "nowhere\nlook again"};
    sk_reply reply;
    sk_reply_init(&reply);
    sk_memory_fail_nth(1);
    sk_reply_error(&reply, &err);
    sk_memory_fail_nth(0);
    assert_int_equal(reply.code, 404);
    assert_string_equal(reply.type, "application/json");
    assert_int_equal(reply.n_bytes, sizeof words - 1);
    assert_memory_equal(reply.bytes, words, sizeof words - 1);
    assert_int_equal(reply.text.length, 0);
    for (int i = 0; i < 9; i++) { /* as many headers as there is room for */
        char value[8];
        snprintf(value, sizeof value, "%d", i);
        sk_reply_header_add(&reply, "X", value);
    }
    assert_int_equal(reply.n_headers, SK_REPLY_HEADERS);
    assert_string_equal(reply.headers[SK_REPLY_HEADERS - 1].value, "5");
    sk_reply_free(&reply);
    assert_int_equal(reply.file, -1);
}

/* --- things that are made and ended --- */

static sk_status archive(void *context, sk_error *err)
{
    int file = -1;
    const sk_status status =
        sk_archive_make(asked, open(place("top/sub"), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "sub", &file, err);
    (void)context;
    if (file >= 0)
        close(file);
    assert_int_equal(status == SK_OK, file >= 0);
    return status;
}

static void wake(void *context)
{
    (void)context;
}

static sk_status events(void *context, sk_error *err)
{
    sk_events *e = NULL;
    sk_events_reader *reader = NULL;
    (void)context;
    sk_status status = sk_events_open(&e, err);
    if (status == SK_OK)
        status = sk_events_listen(e, NULL, wake, NULL, &reader, err);
    if (status == SK_OK) {
        sk_events_tell(e, "run", "{}");
        sk_events_leave(e, &reader);
    }
    assert_null(reader);
    sk_events_close(&e);
    return status;
}

static sk_status kept_things(void *context, sk_error *err)
{
    sk_views *views = NULL;
    sk_pictures *pictures = NULL;
    sk_workers *workers = NULL;
    (void)context;
    sk_status status = sk_views_open(&views, err);
    if (status == SK_OK)
        status = sk_pictures_open(&pictures, err);
    if (status == SK_OK)
        status = sk_workers_open(2, 3, &workers, err);
    assert_int_equal(status == SK_OK, workers != NULL);
    sk_workers_close(&workers);
    sk_pictures_close(&pictures);
    sk_views_close(&views);
    return status;
}

static sk_status whole_server(void *context, sk_error *err)
{
    const char *folders[] = {place("top")};
    const sk_server_settings s = {.folders = folders,
                                  .n_folders = 1,
                                  .state = context ? place("other") : NULL,
                                  .doors = &sk_cli_serve_doors};
    sk_server *other = NULL;
    sk_status status = sk_server_open(&s, &other, err);
    if (status == SK_ERR_UNSUPPORTED) /* a machine without libmicrohttpd */
        status = sk_server_prepare(&s, &other, err);
    assert_int_equal(status == SK_OK, other != NULL);
    sk_server_close(&other);
    return status;
}

static sk_status program(void *context, sk_error *err)
{
    sk_program_answer a = {0};
    char sh[] = "sh", c[] = "-c", line[] = "echo out; echo err >&2; echo event >&3";
    char *words[] = {sh, c, line, NULL};
    (void)context;
    const sk_status status = sk_program_ask("/bin/sh", words, 60000, 1000, NULL, &a, err);
    if (status == SK_OK)
        assert_string_equal(sk_text_get(&a.out), "out\n");
    sk_program_answer_free(&a);
    return status;
}

/* A list as it lies on the disk; what there is no memory for is left out. */
static sk_status list_of_runs(void *context, sk_error *err)
{
    sk_runs *runs = NULL;
    sk_server other = {.state = asked->state};
    (void)context;
    sk_status status = sk_events_open(&other.events, err);
    if (status == SK_OK)
        status = sk_runs_open(&other, "/nowhere", &runs, err);
    assert_int_equal(status == SK_OK, runs != NULL);
    sk_runs_close(&runs);
    sk_events_close(&other.events);
    return status;
}

/* A run that waits behind another. */
static sk_status a_run(void *context, sk_error *err)
{
    sk_wish wish = {.command = sk_strdup("track"), .folder = sk_strdup("/f")};
    char id[24] = "";
    sk_events *before = asked->events, *own = NULL; /* what is told is kept */
    (void)context;
    if (sk_events_open(&own, err) != SK_OK) {
        sk_wish_free(&wish);
        return SK_ERR_MEMORY;
    }
    asked->events = own;
    sk_status status =
        wish.command && wish.folder ? sk_wish_add(&wish, err, "--conf=%d", 1) : sk_fail_memory(err, 5);
    if (status == SK_OK)
        status = sk_wish_write_line(&wish, err);
    if (status == SK_OK)
        status = sk_runs_add(asked->runs, &wish, id, err);
    if (status == SK_OK) {
        assert_null(wish.folder);
        status = sk_runs_remove(asked->runs, id, err);
    }
    asked->events = before;
    sk_events_close(&own);
    sk_wish_free(&wish);
    return status;
}

static void objects(void **state)
{
    (void)state;
    assert_true(test_every_allocation(archive, NULL) > 5);
    assert_true(test_every_allocation(events, NULL) >= 3);
    assert_true(test_every_allocation(kept_things, NULL) >= 4);
    assert_true(test_every_allocation(program, NULL) >= 3);
    assert_true(test_every_allocation(whole_server, asked) > 10);
    assert_true(test_every_allocation(whole_server, NULL) > 10);
}

static void runs(void **state)
{
    (void)state;
    put("state/runs.json",
        "{\"last_id\": 9, \"runs\": [{\"id\": \"3\", \"command\": \"track\", \"source\": "
        "\"/a\", \"folder\": \"/b\", \"state\": \"failed\", \"message\": \"why\", \"words\": "
        "[\"a\", \"b\"]}]}");
    put("state/3.log", "one\ntwo\n");
    put("state/3.events", "{\"event\":\"notice\",\"text\":\"x\"}\n");
    assert_true(test_every_allocation(list_of_runs, NULL) > 10);
    sk_page_run *busy = sk_calloc(1, sizeof *busy); /* so that others wait */
    sk_page_run_forget(busy);
    busy->state = SK_PAGE_RUNNING;
    busy->wish.command = sk_strdup("track");
    asked->runs->items[asked->runs->count++] = busy;
    assert_true(test_every_allocation(a_run, NULL) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests), cmocka_unit_test(pictures_of_runs),
                                       cmocka_unit_test(no_words_left), cmocka_unit_test(objects),
                                       cmocka_unit_test(runs)};
    return cmocka_run_group_tests(tests, open_alone, close_asked);
}
