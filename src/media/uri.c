/* SPDX-License-Identifier: Apache-2.0 */
#include "media/reader.h"

#include "media/text_list.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* What a source's name means is decided here and nowhere else: a name that lies on the disk is that file, whatever it looks
 * like; an address has one of these schemes, with "//" behind it. FFmpeg, which takes "concat:", "subfile:" or "http:x"
 * at the beginning of any name for a protocol, never sees a name of a file (input_ffmpeg.h). */

static const char *const schemes[] = {"rtsp", "rtsps", "rtmp", "rtmps", "rtp", "udp",
                                      "tcp",  "srt",   "http", "https", "ftp"};

static bool exists(const char *uri)
{
    struct stat info;
    return stat(uri, &info) == 0;
}

bool sk_uri_is_input(const char *uri)
{
    return strcmp(uri, "-") == 0;
}

bool sk_uri_is_address(const char *uri)
{
    const char *colon = strstr(uri, "://");
    for (size_t i = 0; colon && i < sizeof schemes / sizeof *schemes; i++)
        if (strlen(schemes[i]) == (size_t)(colon - uri) &&
            strncasecmp(uri, schemes[i], strlen(schemes[i])) == 0)
            return !exists(uri);
    return false;
}

sk_status sk_uri_refuse_scheme(const char *uri, sk_error *err)
{
    const char *colon = strstr(uri, "://");
    size_t length =
        colon ? strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") : 0;
    if (!colon || length != (size_t)(colon - uri) || length == 0 || exists(uri) || sk_uri_is_address(uri))
        return SK_OK;
    char known[160] = "";
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s://", i ? ", " : "", schemes[i]);
    }
    return sk_fail(
        err, SK_ERR_NOT_FOUND,
        "%s: there is no such file, and no addresses beginning with %.*s:// are read; there are %s", uri,
        (int)length, uri, known);
}

sk_status sk_uri_fail_missing(const char *path, sk_error *err)
{
    return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no such %s. Check the path", path,
                   sk_path_is_video(path) ? "video" : "file or folder");
}

const char *sk_uri_path(const char *uri)
{
    return strncasecmp(uri, "file://", 7) == 0 && !exists(uri) ? uri + 7 : uri;
}

bool sk_uri_camera(const char *uri, char *path, size_t capacity)
{
    if (strncmp(uri, "/dev/video", 10) == 0) {
        snprintf(path, capacity, "%s", uri);
        return true;
    }
    const char *number = strncasecmp(uri, "camera:", 7) == 0 ? uri + 7 : uri;
    size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > 3 || number[digits] != '\0' || exists(uri))
        return false;
    snprintf(path, capacity, "/dev/video%s", number);
    return true;
}

bool sk_uri_is_live(const char *uri)
{
    char path[64];
    return sk_uri_camera(uri, path, sizeof path) || sk_uri_is_address(uri);
}

bool sk_uri_is_once(const char *uri)
{
    struct stat info;
    return sk_uri_is_input(uri) || (!sk_uri_is_live(uri) && stat(uri, &info) == 0 && !S_ISREG(info.st_mode) &&
                                    !S_ISDIR(info.st_mode));
}
