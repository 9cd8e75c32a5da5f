/* SPDX-License-Identifier: Apache-2.0 */
#include "media/input_ffmpeg.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "media/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define WAIT_MS      100 /* between looks at who wants a wait to end */

struct sk_input {
    int fd;
    bool seeks, once;
    AVIOInterruptCB interrupt;
    AVIOContext *bytes;
};

static bool is_interrupted(const sk_input *input)
{
    return input->interrupt.callback && input->interrupt.callback(input->interrupt.opaque);
}

static int read_some(void *opaque, uint8_t *buffer, int size)
{
    sk_input *input = opaque;
    for (;;) {
        struct pollfd ready = {.fd = input->fd, .events = POLLIN};
        if (!input->seeks && poll(&ready, 1, WAIT_MS) == 0) {
            if (is_interrupted(input))
                return AVERROR_EXIT;
            continue;
        }
        ssize_t n = read(input->fd, buffer, (size_t)size);
        if (n > 0)
            return (int)n;
        if (n == 0)
            return AVERROR_EOF;
        if (errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
        if (is_interrupted(input))
            return AVERROR_EXIT;
    }
}

static int64_t seek(void *opaque, int64_t offset, int whence)
{
    const sk_input *input = opaque;
    if (whence == AVSEEK_SIZE) {
        struct stat info;
        return fstat(input->fd, &info) == 0 ? (int64_t)info.st_size : AVERROR(errno);
    }
    off_t at = lseek(input->fd, (off_t)offset, whence & ~AVSEEK_FORCE);
    return at < 0 ? AVERROR(errno) : (int64_t)at;
}

static sk_status open_path(const char *path, sk_input *input, sk_error *err)
{
    struct stat info;
    const bool standard = sk_uri_is_input(path);
    if (standard && isatty(STDIN_FILENO))
        return sk_fail(err, SK_ERR_ARG,
                       "-: standard input is a terminal; send a video or pictures into it: cat a.mp4 | "
                       "skitter predict - …");
    input->fd =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer waits in poll */
    if (input->fd < 0 && errno == ENOENT)
        return sk_uri_fail_missing(path, err);
    if (input->fd < 0 || fstat(input->fd, &info) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return sk_fail(err, SK_ERR_IO, "%s: is a folder, not a video", path);
    input->seeks = S_ISREG(info.st_mode) && lseek(input->fd, 0, SEEK_CUR) >= 0;
    input->once = standard || !input->seeks;
    return SK_OK;
}

sk_status sk_input_open(const char *path, const AVIOInterruptCB *interrupt, sk_input **out, sk_error *err)
{
    *out = NULL;
    sk_input *input = sk_calloc(1, sizeof *input);
    if (!input)
        return sk_fail_memory(err, sizeof *input);
    sk_status status = SK_OK;
    input->fd = -1;
    input->interrupt = *interrupt;
    SK_TRY_GOTO(open_path(path, input, err));
    unsigned char *buffer = sk_ff.av_malloc(BUFFER_BYTES);
    if (buffer)
        input->bytes = sk_ff.avio_alloc_context(buffer, BUFFER_BYTES, 0, input, read_some, NULL,
                                                input->seeks ? seek : NULL);
    if (!input->bytes) {
        sk_ff.av_free(buffer);
        status = sk_fail_memory(err, BUFFER_BYTES);
        goto done;
    }
done:
    return SK_HAND_OVER(status, input, out, sk_input_close);
}

void sk_input_close(sk_input **pointer)
{
    SK_TAKE_OR_RETURN(input, pointer);
    if (input->bytes) {
        sk_ff.av_free(input->bytes->buffer); /* FFmpeg may have exchanged it for a larger one */
        sk_ff.avio_context_free(&input->bytes);
    }
    if (input->fd >= 0)
        close(input->fd);
    sk_free(input);
}

AVIOContext *sk_input_bytes(sk_input *input)
{
    return input->bytes;
}

bool sk_input_is_once(const sk_input *input)
{
    return input->once;
}

void sk_input_protocols(AVDictionary **options, bool address)
{
    sk_ff.av_dict_set(
        options, "protocol_whitelist",
        address ? "http,https,httpproxy,tcp,tls,udp,rtp,srtp,rtmp,rtmps,rtmpt,ffrtmphttp,srt,ftp,crypto"
                : "none",
        0);
}

char *sk_file_address(const char *path)
{
    size_t bytes = strlen(path) + sizeof "file:";
    char *address = sk_malloc(bytes);
    if (address)
        snprintf(address, bytes, "file:%s", path);
    return address;
}

int sk_ffmpeg_create(AVIOContext **bytes, const char *path)
{
    char *address = sk_file_address(path);
    int code = address ? sk_ff.avio_open(bytes, address, AVIO_FLAG_WRITE) : AVERROR(ENOMEM);
    sk_free(address);
    return code;
}

/* Is this a list of other files or addresses (HLS, DASH, SDP, FFmpeg's concat)? Looks at its first bytes. */
static bool is_playlist(const char *path)
{
    static const char *const beginnings[] = {"#EXTM3U", "ffconcat", "v=0\n",     "v=0\r",
                                             "<?xml",   "<MPD",     "[playlist]"};
    char head[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    ssize_t n =
        fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, head, sizeof head - 1) : 0;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; n > 0 && i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(head, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* What no second attempt changes: SK_ERR_IO is left for the rest (sk_reader_open_live). */
static sk_status kind_of_failure(int code)
{
    switch (code) {
    case AVERROR_INVALIDDATA:
    case AVERROR_DEMUXER_NOT_FOUND:
    case AVERROR_STREAM_NOT_FOUND: return SK_ERR_FORMAT;
    case AVERROR_HTTP_BAD_REQUEST:
    case AVERROR_HTTP_UNAUTHORIZED:
    case AVERROR_HTTP_FORBIDDEN:
    case AVERROR_HTTP_NOT_FOUND:
    case AVERROR_HTTP_OTHER_4XX: return SK_ERR_NOT_FOUND;
    case AVERROR_PROTOCOL_NOT_FOUND: return SK_ERR_UNSUPPORTED;
    default: return SK_ERR_IO;
    }
}

static uint64_t big_endian(const uint8_t *bytes, int n)
{
    uint64_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* An .mp4 or .mov of which the end is missing, where most programs write the index. */
static bool lacks_index(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int64_t size = sk_file_size(path);
    bool lacks = false;
    uint8_t head[16];
    int64_t at = 0;
    for (int i = 0; file >= 0 && i < 1000 && pread(file, head, sizeof head, at) == (ssize_t)sizeof head;
         i++) {
        uint64_t length = big_endian(head, 4);
        length = length == 1 ? big_endian(head + 8, 8) : length;
        const bool named = memcmp(head + 4, i == 0 ? "ftyp" : "moov", 4) == 0;
        if (named == (i > 0))
            break; /* no such file, or it has its index */
        lacks = length == 0 || length > (uint64_t)(size - at);
        if (lacks || length < 8)
            break;
        at += (int64_t)length;
        lacks = at == size;
    }
    if (file >= 0)
        close(file);
    return lacks;
}

sk_status sk_input_failed(const char *uri, int code, sk_error *err)
{
    if (code == AVERROR(ENOENT))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no such video. Check the path", uri);
    if (code == AVERROR_EXIT)
        return sk_fail(err, SK_ERR_CANCELLED, "%s: opening was interrupted", uri);
    if (!sk_uri_is_address(uri) && is_playlist(uri))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: is a list of other files or addresses, which are not followed. Give them "
                       "themselves: the videos, or the stream's address",
                       uri);
    if (sk_uri_is_address(uri))
        return sk_fail(err, kind_of_failure(code), "%s: %s", uri, sk_ffmpeg_text(code));
    if (sk_uri_is_once(uri))
        return sk_fail(
            err, kind_of_failure(code),
            "%s: what comes through this pipe is no video that can be read in order: %s. An .mp4 "
            "with its index at the end has to be a file; MPEG-TS, Matroska, MJPEG and PNG can be piped",
            uri, sk_ffmpeg_text(code));
    if (sk_file_size(uri) == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty. Copy or record it again", uri);
    if (lacks_index(uri))
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: cannot be opened as video: its end is missing, and with it the index. Copy it again; if "
            "a recording was cut short, a tool such as untrunc may mend it",
            uri);
    return sk_fail(err, kind_of_failure(code),
                   "%s: cannot be opened as video: %s. 'ffprobe' on the same file shows what FFmpeg "
                   "makes of it",
                   uri, sk_ffmpeg_text(code));
}
