/* SPDX-License-Identifier: Apache-2.0 */
/* What lies at a path may be anything, and may change while it is read. */
#include "support/test.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char *in_folder(const char *name)
{
    char *path = sk_path_join(test_folder(), name);
    assert_non_null(path);
    return path;
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
    close(s);
}

static void expect_text(const char *path, const char *text)
{
    sk_error err = {0};
    char *data;
    size_t bytes;
    assert_ok(sk_file_read(path, 1000, &data, &bytes, &err), &err);
    assert_string_equal(data, text);
    sk_free(data);
}

static void every_reader_says_the_kind(void **state)
{
    (void)state;
    char *pipe_path = in_folder("pipe"), *socket_path = in_folder("socket");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    make_socket(socket_path);
    const char *const kinds[][2] = {{pipe_path, "named pipe"},
                                    {socket_path, "socket"},
                                    {"/dev/zero", "device"},
                                    {test_folder(), "folder"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sk_error err = {0};
        char *data = NULL;
        size_t bytes;
        sk_blob *blob = NULL;
        sk_sha256 hash;
        FILE *stream = NULL;
        int file;
        int64_t length;
        for (int reader = 0; reader < 6; reader++) {
            sk_status status = reader == 0   ? sk_file_read(kinds[i][0], 100, &data, &bytes, &err)
                               : reader == 1 ? sk_file_load(kinds[i][0], &blob, &err)
                               : reader == 2 ? sk_hash_sha256_file(kinds[i][0], &hash, &err)
                               : reader == 3 ? sk_file_open_stream(kinds[i][0], &stream, &err)
                               : reader == 4 ? sk_file_open(kinds[i][0], &file, &length, &err)
                                             : sk_file_read_own(kinds[i][0], 100, &data, &bytes, &err);
            assert_int_equal(status, SK_ERR_IO);
            assert_non_null(strstr(err.message, kinds[i][1]));
        }
        assert_int_equal(sk_file_replace(kinds[i][0], "x", 1, &err), SK_ERR_IO);
    }
    struct stat info;
    assert_int_equal(stat(pipe_path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode)); /* nothing was renamed over it */
    sk_free(pipe_path);
    sk_free(socket_path);
}

/* A folder in which somebody else may write, and has, before skitter comes. */
static void planted_links_are_not_followed(void **state)
{
    (void)state;
    sk_error err = {0};
    char *victim = in_folder("victim"), *link = in_folder("link"), *dangling = in_folder("dangling");
    char *made = in_folder("made"), *data = NULL;
    size_t bytes;
    sk_lock *lock = NULL;
    FILE *stream = NULL;
    bool taken;
    assert_ok(sk_file_replace(victim, "precious", 8, &err), &err);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(symlink(made, dangling), 0);
    assert_int_equal(sk_lock_open(link, 0, &lock, NULL, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "link"));
    assert_int_equal(sk_lock_query(link, &taken, NULL, &err), SK_ERR_IO);
    assert_int_equal(sk_lock_open(dangling, 0, &lock, NULL, &err), SK_ERR_IO);
    assert_int_equal(sk_file_create_stream(link, &stream, &err), SK_ERR_IO);
    assert_int_equal(sk_file_create_stream(dangling, &stream, &err), SK_ERR_IO);
    assert_int_equal(sk_file_read_own(link, 100, &data, &bytes, &err), SK_ERR_IO);
    assert_false(sk_file_exists(made));
    assert_ok(sk_file_replace(dangling, "new", 3, &err), &err); /* the link itself is replaced */
    assert_ok(sk_file_replace(link, "new", 3, &err), &err);
    assert_false(sk_file_exists(made));
    expect_text(victim, "precious");
    expect_text(link, "new");
    assert_ok(sk_file_create_stream(link, &stream, &err), &err); /* now a file of our own */
    fputs("newer", stream);
    fclose(stream);
    expect_text(link, "newer");
    sk_free(victim);
    sk_free(link);
    sk_free(dangling);
    sk_free(made);
}

/* Whatever they are called. */
static void one_file_by_other_names(void **state)
{
    (void)state;
    sk_error err = {0};
    char *folder = in_folder("around"), *below = in_folder("around/below"), *beside = in_folder("around2");
    char *file = in_folder("around/below/f"), *dotted = in_folder("around/../around/./below/f");
    char *second = in_folder("second"), *linked = in_folder("linked"), *other = in_folder("around2/f");
    char *out = in_folder("around/out");
    assert_ok(sk_folder_make(below, &err), &err);
    assert_ok(sk_folder_make(beside, &err), &err);
    assert_ok(sk_file_replace(file, "x", 1, &err), &err);
    assert_ok(sk_file_replace(other, "x", 1, &err), &err);
    assert_int_equal(link(file, second), 0);
    assert_int_equal(symlink(file, linked), 0);
    assert_int_equal(symlink(other, out), 0);
    assert_true(sk_file_is_same(file, file) && sk_file_is_same(file, dotted) &&
                sk_file_is_same(file, second) && sk_file_is_same(linked, file) &&
                sk_file_is_same(folder, folder));
    assert_false(sk_file_is_same(file, other) || sk_file_is_same(file, "/nowhere/f"));
    char *no = in_folder("around/no"), *none = in_folder("around/below/../no");
    char *nothing = in_folder("around/not"), *there = in_folder("around2/no");
    assert_true(sk_file_is_same(no, none)); /* neither is there */
    assert_false(sk_file_is_same(no, nothing) || sk_file_is_same(no, there) || sk_file_is_same(no, file));
    assert_true(sk_file_is_within(file, folder) && sk_file_is_within(file, below) &&
                sk_file_is_within(dotted, folder) && sk_file_is_within(linked, below) &&
                sk_file_is_within(out, folder) && sk_file_is_within(out, beside) &&
                sk_file_is_within(file, "/"));
    assert_false(sk_file_is_within(other, folder) || sk_file_is_within(second, folder) ||
                 sk_file_is_within(no, folder) || sk_file_is_within(below, folder) ||
                 sk_file_is_within(file, no));
    sk_free_all(folder, below, beside, file, dotted, second, linked, other, out, no, none, nothing, there);
}

/* Copies of a folder made of hard links (cp -al, rsync --link-dest) keep what they hold when the original is written anew. */
static void files_with_two_names_are_replaced(void **state)
{
    (void)state;
    sk_error err = {0};
    char *kept = in_folder("kept"), *name = in_folder("name");
    FILE *stream = NULL;
    assert_ok(sk_file_replace(kept, "precious", 8, &err), &err);
    assert_int_equal(link(kept, name), 0);
    assert_ok(sk_file_create_stream(name, &stream, &err), &err);
    fputs("new", stream);
    fclose(stream);
    expect_text(kept, "precious");
    expect_text(name, "new");
    sk_free(kept);
    sk_free(name);
}

static void planted_pipes_do_not_hold(void **state)
{
    (void)state;
    sk_error err = {0};
    char *path = in_folder("pipe2");
    sk_lock *lock = NULL;
    FILE *stream = NULL;
    bool taken;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(sk_lock_open(path, 0, &lock, NULL, &err), SK_ERR_IO);
    assert_int_equal(sk_lock_query(path, &taken, NULL, &err), SK_ERR_IO);
    assert_int_equal(sk_file_create_stream(path, &stream, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "pipe"));
    sk_free(path);
}

typedef struct cutter {
    const char *path;
    atomic_bool stop;
} cutter;

static void *cut_and_fill(void *context)
{
    cutter *c = context;
    static const char piece[1 << 16];
    int file = open(c->path, O_WRONLY | O_CLOEXEC);
    while (!atomic_load(&c->stop)) {
        if (ftruncate(file, 0) != 0)
            break;
        for (int i = 0; i < 32 && !atomic_load(&c->stop); i++)
            if (pwrite(file, piece, sizeof piece, i * (off_t)sizeof piece) < 0)
                break;
    }
    close(file);
    return NULL;
}

/* A training run saves the file that is being read: an error, or whole bytes, but never a signal. */
static void a_file_cut_while_it_is_read(void **state)
{
    (void)state;
    char *path = in_folder("training.pt");
    static char whole[2 << 20];
    sk_error err = {0};
    assert_ok(sk_file_replace(path, whole, sizeof whole, &err), &err);
    cutter c = {.path = path};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cut_and_fill, &c), 0);
    int refused = 0;
    for (int i = 0; i < 200; i++) {
        sk_blob *blob = NULL;
        sk_status status = sk_file_load(path, &blob, &err);
        if (status == SK_OK) {
            unsigned sum = 0;
            for (size_t k = 0; k < sk_blob_bytes(blob); k += 512)
                sum += ((const unsigned char *)sk_blob_data(blob))[k];
            assert_int_equal(sum, 0);
            sk_blob_unref(&blob);
        } else {
            assert_int_equal(status, SK_ERR_IO);
            refused += strstr(err.message, "changed while it was read") != NULL;
        }
    }
    atomic_store(&c.stop, true);
    pthread_join(thread, NULL);
    print_message("%d of 200 refused\n", refused);
    sk_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_says_the_kind), cmocka_unit_test(planted_links_are_not_followed),
        cmocka_unit_test(one_file_by_other_names),    cmocka_unit_test(files_with_two_names_are_replaced),
        cmocka_unit_test(planted_pipes_do_not_hold),  cmocka_unit_test(a_file_cut_while_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
