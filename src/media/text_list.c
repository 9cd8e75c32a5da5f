/* SPDX-License-Identifier: Apache-2.0 */
#include "media/text_list.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/reader.h"

#include <string.h>
#include <strings.h>

#define LIST_BYTES (64u << 20)

bool sk_path_is_video(const char *path)
{
    static const char *const suffixes[] = {
        ".mp4",   ".avi",  ".mov", ".mkv", ".m4v", ".webm", ".mpg",  ".mpeg", ".ts",   ".mts",
        ".m2ts",  ".wmv",  ".flv", ".ogv", ".asf", ".3gp",  ".h264", ".264",  ".h265", ".hevc",
        ".mjpeg", ".mjpg", ".gif", ".vob", ".y4m", ".ivf",  ".mxf",  ".mcap", ".db3"};
    const char *ending = sk_path_extension(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(ending, suffixes[i]) == 0)
            return true;
    return false;
}

bool sk_path_is_text_list(const char *path)
{
    return sk_path_has_extension(path, ".txt") && sk_file_is_regular(path);
}

static sk_status visit_line(const char *list, char *line, sk_text_list_visit visit, void *context,
                            sk_error *err)
{
    if (sk_file_exists(line) || sk_uri_is_live(line) || line[0] == '/')
        return visit(context, line, err);
    char *folder = sk_path_folder(list);
    char *beside = folder ? sk_path_join(folder, line) : NULL;
    sk_status status = beside ? SK_OK : sk_fail_memory(err, strlen(line));
    if (status == SK_OK)
        status = visit(context, sk_file_exists(beside) || strpbrk(line, "*?[") ? beside : line, err);
    sk_free(folder);
    sk_free(beside);
    return status;
}

sk_status sk_text_list_read(const char *path, sk_text_list_visit visit, void *context, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0, count = 0;
    SK_TRY(sk_file_read(path, LIST_BYTES, &text, &bytes, err));
    sk_status status = memchr(text, '\0', bytes)
                           ? sk_fail(err, SK_ERR_FORMAT, "%s: is no text, and so no list of sources", path)
                           : SK_OK;
    for (char *line = text, *rest = NULL; status == SK_OK && (line = strtok_r(line, "\r\n", &rest));
         line = NULL) {
        line += strspn(line, " \t");
        for (size_t end = strlen(line); end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t'); end--)
            line[end - 1] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        count++;
        status = visit_line(path, line, visit, context, err);
    }
    if (status == SK_OK && count == 0)
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: names no source; one path a line is read", path);
    sk_free(text);
    return status;
}
