/* SPDX-License-Identifier: Apache-2.0 */
#include "app/source_identity.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECES      16
#define PIECE_BYTES 65536

static const char *path_of(const char *source)
{
    return strncmp(source, "file://", 7) == 0 ? source + 7 : source;
}

void sk_source_place(const char *source, sk_text *out)
{
    char *real = realpath(path_of(source), NULL);
    if (!real && !strstr(source, "://")) { /* a pattern: the folder it looks into */
        char *folder = sk_path_folder(source);
        real = folder ? realpath(folder, NULL) : NULL;
        if (!folder)
            out->failed = SK_ERR_MEMORY; /* "" would be another run's */
        sk_free(folder);
    }
    sk_text_append(out, real ? real : "");
    free(real);
}

/* Folders have a size and a time too, but their pictures are what counts. */
static bool file_at(const char *source, struct stat *info)
{
    return stat(path_of(source), info) == 0 && S_ISREG(info->st_mode);
}

void sk_source_size(const char *source, sk_text *out)
{
    struct stat info;
    if (file_at(source, &info))
        sk_text_appendf(out, "%lld", (long long)info.st_size);
}

void sk_source_time(const char *source, sk_text *out)
{
    struct stat info;
    if (file_at(source, &info))
        sk_text_appendf(out, "%lld.%09ld", (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

void sk_source_sample(const char *source, sk_text *out)
{
    int file;
    int64_t bytes;
    char hex[SK_SHA256_TEXT];
    sk_sha256_state state;
    sk_sha256 hash;
    struct stat info;
    if (!file_at(source, &info) || sk_file_open(path_of(source), &file, &bytes, NULL) != SK_OK)
        return;
    char *piece = sk_malloc(PIECE_BYTES);
    if (!piece)
        out->failed = SK_ERR_MEMORY; /* a hash of nothing would be another run's */
    sk_sha256_begin(&state);
    for (int64_t i = 0; piece && i < PIECES; i++) { /* evenly spread, the first and last bytes among them */
        int64_t at = bytes > PIECE_BYTES ? (bytes - PIECE_BYTES) / (PIECES - 1) * i : 0;
        if (i == PIECES - 1 && bytes > PIECE_BYTES)
            at = bytes - PIECE_BYTES;
        ssize_t got = pread(file, piece, PIECE_BYTES, at);
        if (got > 0)
            sk_sha256_add(&state, piece, (size_t)got);
        if (bytes <= PIECE_BYTES)
            break;
    }
    sk_sha256_end(&state, &hash);
    sk_text_append(out, sk_sha256_text(&hash, hex));
    sk_free(piece);
    close(file);
}

/* Its pieces follow one another in files of up to CONTENT_PIECES of them. */
#define CONTENT_PIECES 1024
#define CONTENT_BYTES  (1 << 20)

sk_status sk_source_content(const char *source, sk_text *out, sk_error *err)
{
    int file;
    int64_t bytes;
    uint64_t hash = 0;
    SK_TRY(sk_file_open(path_of(source), &file, &bytes, err));
    char *piece = sk_malloc(CONTENT_BYTES);
    sk_status status = piece ? SK_OK : sk_fail_memory(err, CONTENT_BYTES);
    const int64_t whole = (bytes + CONTENT_BYTES - 1) / CONTENT_BYTES;
    const int64_t count = whole < CONTENT_PIECES ? whole : CONTENT_PIECES;
    for (int64_t i = 0; i < count && status == SK_OK; i++) {
        int64_t at = i * CONTENT_BYTES;
        if (whole > count) /* evenly spread, the first and the last bytes among them */
            at = i == count - 1 ? bytes - CONTENT_BYTES : (bytes - CONTENT_BYTES) / (count - 1) * i;
        const ssize_t got = pread(file, piece, CONTENT_BYTES, at);
        if (got > 0)
            hash = sk_hash_xxh3(piece, (size_t)got, hash);
        else
            status = sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", source,
                             got < 0 ? strerror(errno) : "it has become shorter");
    }
    if (status == SK_OK)
        sk_text_appendf(out, "%lld bytes, xxh3 %016llx, sha256 of a sample ", (long long)bytes,
                        (unsigned long long)hash);
    if (status == SK_OK)
        sk_source_sample(source, out);
    sk_free(piece);
    close(file);
    return status;
}

void sk_source_pictures(const sk_source *source, sk_text *out)
{
    char hex[SK_SHA256_TEXT];
    sk_sha256_state state;
    sk_sha256 hash;
    size_t count = 0;
    sk_sha256_begin(&state);
    for (const char *path; (path = sk_source_picture(source, count)); count++)
        sk_sha256_add(&state, path, strlen(path) + 1);
    sk_sha256_end(&state, &hash);
    if (count)
        sk_text_appendf(out, "%zu, names %.16s", count, sk_sha256_text(&hash, hex));
}

uint64_t sk_picture_stamp(const char *path)
{
    struct stat info;
    bool there = stat(path, &info) == 0;
    const char *page = there ? NULL : strrchr(path, '#'); /* stack.tif#3 */
    if (page) {
        char *file = sk_strndup(path, (size_t)(page - path));
        there = file && stat(file, &info) == 0;
        sk_free(file);
    }
    if (!there)
        return 0;
    const int64_t facts[3] = {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    uint64_t stamp = sk_hash_xxh3(facts, sizeof facts, 0);
    return stamp ? stamp : 1;
}
