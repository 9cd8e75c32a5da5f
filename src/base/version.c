/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/version.h"

#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)

const char *sk_version_text(void)
{
    return TEXT(SK_VERSION_MAJOR) "." TEXT(SK_VERSION_MINOR) "." TEXT(SK_VERSION_PATCH);
}

int sk_version_number(void)
{
    return SK_VERSION_MAJOR * 1000000 + SK_VERSION_MINOR * 1000 + SK_VERSION_PATCH;
}
