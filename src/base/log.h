/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_LOG_H
#define SK_BASE_LOG_H

#include "skitter/log.h"

/* Sends one message to everybody who listens (skitter/log.h) and wants this level; where nobody does it costs one load.
 * Never allocates; messages longer than 1023 bytes are cut and end in "…"; bytes that are not UTF-8 become '?'. A message sent from inside a listener is dropped. */
void sk_log(sk_log_level level, const char *format, ...) SK_PRINTF(2, 3);

/* Would a message of this level go anywhere? For texts that are costly to make. */
int sk_log_wanted(sk_log_level level);

#endif
