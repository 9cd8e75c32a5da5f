/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_TRANSFER_H
#define SK_BASE_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

/* read, pread, pwrite and send until all is moved, however often a signal comes between or the system moves a part.
 * Each says how many bytes were moved. Fewer than asked for: with errno 0 there are no more (the end of the file, the
 * other side is gone), else errno says what failed. */
size_t sk_read_all(int file, void *data, size_t bytes);
size_t sk_read_all_at(int file, void *data, size_t bytes, int64_t offset);
size_t sk_write_all_at(int file, const void *data, size_t bytes, int64_t offset);
size_t sk_send_all(int socket, const void *data, size_t bytes); /* no SIGPIPE */

#endif
