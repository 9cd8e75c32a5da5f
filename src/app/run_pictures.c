/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_pictures.h"

#include "app/run_folder.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds(const char *path, const sk_text *text)
{
    char *there = NULL;
    size_t bytes = 0;
    bool same = sk_file_read_own(path, text->length, &there, &bytes, NULL) == SK_OK &&
                bytes == text->length && (bytes == 0 || memcmp(there, text->data, bytes) == 0);
    sk_free(there);
    return same;
}

/* The list of another run stays: that run is known by it, and could not be continued without it. */
static sk_status may_replace(const sk_run_pictures *how, const char *path, sk_error *err)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return SK_OK;
    if (!sk_run_folder_is_used(how->folder))
        return how->overwrite
                   ? SK_OK
                   : sk_fail(err, SK_ERR_MISMATCH,
                             "%s/pictures.txt is there already, and no run of skitter began in this folder. "
                             "Choose another --out, move it away, or give --overwrite to replace it",
                             how->folder);
    return how->restart
               ? SK_OK
               : sk_fail(err, SK_ERR_MISMATCH,
                         "%s holds a run over other pictures: %s/pictures.txt lists them. Run it with these "
                         "to continue, choose another --out, or begin anew here with --restart",
                         how->folder, how->folder);
}

static sk_status put_in_folder(const sk_run_pictures *how, const sk_text *text, char **path, sk_error *err)
{
    SK_TRY(sk_folder_make(how->folder, err));
    *path = sk_path_join(how->folder, "pictures.txt");
    if (!*path)
        return sk_fail_memory(err, strlen(how->folder));
    if (holds(*path, text)) /* the same list stays as old as it is: the run is known by that, too */
        return SK_OK;
    sk_run_folder *folder = NULL; /* nobody's who is writing here */
    SK_TRY(sk_run_folder_open(how->folder, &folder, err));
    sk_status status = may_replace(how, *path, err);
    if (status == SK_OK)
        status = sk_file_replace(*path, text->data, text->length, err);
    sk_run_folder_close(&folder);
    return status;
}

static sk_status put_aside(const sk_text *text, char **path, sk_error *err)
{
    char temporary[] = "/tmp/skitter-pictures-XXXXXX.txt";
    const int fd = mkstemps(temporary, 4);
    if (fd < 0)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be made: %s", temporary, strerror(errno));
    close(fd);
    *path = sk_strdup(temporary);
    return *path ? sk_file_replace(*path, text->data, text->length, err)
                 : sk_fail_memory(err, sizeof temporary);
}

sk_status sk_run_pictures_write(const sk_run_pictures *how, char **path, sk_error *err)
{
    sk_text text = {0};
    sk_status status = SK_OK;
    *path = NULL;
    for (size_t i = 0; i < how->count && status == SK_OK; i++) {
        const char *picture = how->paths[i];
        if (strpbrk(picture, "\r\n"))
            status = sk_fail(err, SK_ERR_ARG, "%s: a name with a line break cannot be one of many", picture);
        sk_text_appendf(&text, "%s%s\n", strchr("# \t", picture[0]) ? "./" : "", picture);
    }
    if (status == SK_OK)
        status = sk_text_status(&text, err);
    if (status == SK_OK)
        status = how->folder ? put_in_folder(how, &text, path, err) : put_aside(&text, path, err);
    sk_text_free(&text);
    return status;
}
