/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* More than a socket takes at once, so that both sides move parts. */
enum { BYTES = 1 << 22 };
static unsigned char sent[BYTES], got[BYTES];

static void *send_all(void *socket)
{
    static size_t moved;
    moved = sk_send_all(*(int *)socket, sent, BYTES);
    return &moved;
}

static void parts_become_the_whole(void **state)
{
    (void)state;
    int pair[2];
    pthread_t thread;
    void *moved = NULL;
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (unsigned char)(i * 7 + (i >> 8));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pthread_create(&thread, NULL, send_all, &pair[0]), 0);
    assert_int_equal(sk_read_all(pair[1], got, BYTES), BYTES);
    pthread_join(thread, &moved);
    assert_int_equal(*(size_t *)moved, BYTES);
    assert_memory_equal(sent, got, BYTES);
    close(pair[0]);
    errno = EIO;
    assert_int_equal(sk_read_all(pair[1], got, 4), 0); /* the other side is gone: no failure */
    assert_int_equal(errno, 0);
    assert_int_equal(sk_send_all(pair[1], sent, 4), 0); /* and no signal */
    assert_int_equal(errno, EPIPE);
    close(pair[1]);
}

static void places_in_a_file(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/places", test_folder());
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(sk_write_all_at(file, "abcdef", 6, 10), 6);
    assert_int_equal(sk_read_all_at(file, got, 3, 12), 3);
    assert_memory_equal(got, "cde", 3);
    errno = EIO;
    assert_int_equal(sk_read_all_at(file, got, 8, 12), 4); /* its end */
    assert_int_equal(errno, 0);
    close(file);
    assert_int_equal(sk_read_all_at(file, got, 8, 0), 0);
    assert_int_equal(errno, EBADF);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_become_the_whole),
                                       cmocka_unit_test(places_in_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
