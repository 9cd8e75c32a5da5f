/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_VERSION_H
#define SKITTER_VERSION_H

#include "skitter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. Within one major version functions are only added and structs only grow at the end;
 * before 1.0 a minor version may change more, and the changelog says what. */
#define SK_VERSION_MAJOR 0
#define SK_VERSION_MINOR 2
#define SK_VERSION_PATCH 0

/* The version of the library that runs: "0.2.0". Static; never null. */
SK_API const char *sk_version_text(void);
/* The same as a number to compare: major * 1000000 + minor * 1000 + patch. */
SK_API int sk_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
