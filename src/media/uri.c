/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"

#include <string.h>
#include <strings.h>

bool sk_uri_is_live(const char *uri)
{
    if (strncmp(uri, "/dev/video", 10) == 0)
        return true;
    size_t digits = strspn(uri, "0123456789");
    if (digits > 0 && digits < 4 && uri[digits] == '\0')
        return true;
    static const char *const schemes[] = {"rtsp://", "rtsps://", "rtmp://", "udp://",
                                          "tcp://",  "srt://",   "http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(uri, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}
