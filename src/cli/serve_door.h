/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_CLI_SERVE_DOOR_H
#define SK_CLI_SERVE_DOOR_H

#include "server/server.h"

/* What `serve` shows of the commands' tables, so that page and command line cannot disagree. */
extern const sk_server_doors sk_cli_serve_doors;

#endif
