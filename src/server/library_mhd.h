/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_LIBRARY_MHD_H
#define SK_SERVER_LIBRARY_MHD_H

#include "base/error.h"

#include <microhttpd.h>

/* libmicrohttpd, loaded when a server is opened: it brings GnuTLS with it, which every other command would pay for at its
 * start; and the program starts where it is not installed. */

#define SK_MHD_FUNCTIONS(F)                                                                                  \
    F(MHD_add_response_header)                                                                               \
    F(MHD_create_response_from_buffer)                                                                       \
    F(MHD_create_response_from_callback)                                                                     \
    F(MHD_create_response_from_fd64)                                                                         \
    F(MHD_destroy_response)                                                                                  \
    F(MHD_get_connection_values)                                                                             \
    F(MHD_lookup_connection_value)                                                                           \
    F(MHD_queue_response)                                                                                    \
    F(MHD_quiesce_daemon)                                                                                    \
    F(MHD_resume_connection)                                                                                 \
    F(MHD_start_daemon)                                                                                      \
    F(MHD_stop_daemon)                                                                                       \
    F(MHD_suspend_connection)

typedef struct sk_mhd_functions {
#define SK_MHD_MEMBER(name) __typeof__(name) *name;
    SK_MHD_FUNCTIONS(SK_MHD_MEMBER)
#undef SK_MHD_MEMBER
} sk_mhd_functions;

/* Nulls until sk_mhd_load has returned SK_OK, then never changed. */
extern sk_mhd_functions sk_mhd;

/* Any thread; later calls repeat the answer. */
sk_status sk_mhd_load(sk_error *err) SK_MUST_CHECK;

#endif
