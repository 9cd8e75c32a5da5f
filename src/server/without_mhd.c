/* SPDX-License-Identifier: Apache-2.0 */
#include "server/inside.h"

/* Stands in for the listener in builds without libmicrohttpd, so that the answer is a sentence. */
#ifndef SKITTER_HAVE_MHD

sk_status sk_listener_open(sk_server *server, const sk_server_settings *settings, sk_listener **out,
                           sk_error *err)
{
    (void)server, (void)settings;
    *out = NULL;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "the page cannot be shown: this skitter was built without libmicrohttpd\n"
                   "Debian: apt-get install libmicrohttpd-dev, then build again");
}

int32_t sk_listener_port(const sk_listener *listener)
{
    (void)listener;
    return 0;
}

void sk_listener_close(sk_listener **listener)
{
    *listener = NULL;
}

#endif
