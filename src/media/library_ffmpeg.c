/* SPDX-License-Identifier: Apache-2.0 */
#include "media/library_ffmpeg.h"

#include <dlfcn.h>
#include <libavdevice/version.h>
#include <libavutil/macros.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SONAME(library, macro) "lib" library ".so." AV_STRINGIFY(macro##_VERSION_MAJOR)

sk_ffmpeg sk_ff;
static char problem[512]; /* why loading failed; "" when it did not */
static _Thread_local sk_ffmpeg_said *listener;
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

/* The library never prints; problems come back as errors, and what FFmpeg says of them is kept for who listens. */
static void hear(void *object, int level, const char *format, va_list values)
{
    sk_ffmpeg_said *said = listener;
    if (level > AV_LOG_ERROR)
        return;
    const AVClass *kind = object ? *(const AVClass *const *)object : NULL;
    if (!said && kind && strcmp(kind->class_name, "AVCodecContext") == 0)
        said = ((const AVCodecContext *)object)->opaque;
    if (!said)
        return;
    pthread_mutex_lock(&said_lock);
    if (!said->text[0])
        vsnprintf(said->text, sizeof said->text, format, values);
    said->text[strcspn(said->text, "\r\n")] = 0;
    pthread_mutex_unlock(&said_lock);
}

void sk_ffmpeg_listen(sk_ffmpeg_said *said)
{
    if (said)
        sk_ffmpeg_forget(said);
    listener = said;
}

void sk_ffmpeg_forget(sk_ffmpeg_said *said)
{
    pthread_mutex_lock(&said_lock);
    said->text[0] = 0;
    pthread_mutex_unlock(&said_lock);
}

void sk_ffmpeg_reason(const sk_ffmpeg_said *said, int code, char *out, size_t room)
{
    pthread_mutex_lock(&said_lock);
    snprintf(out, room, "%s", said->text[0] ? said->text : sk_ffmpeg_text(code));
    pthread_mutex_unlock(&said_lock);
}

/* The library stays loaded: FFmpeg keeps threads, pools and tables of its own. */
static void *load(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (!handle && !problem[0])
        snprintf(problem, sizeof problem, "%.500s", dlerror());
    return handle;
}

static void find(void *handle, const char *name, void *function, size_t bytes)
{
    void *symbol = handle ? dlsym(handle, name) : NULL;
    if (!symbol && !problem[0])
        snprintf(problem, sizeof problem, "%s is missing in it", name);
    memcpy(function, &symbol, bytes); /* a function's address out of a void pointer, as POSIX wants it */
}

static void load_all(void)
{
#define FIND(name) find(handle, #name, &sk_ff.name, sizeof sk_ff.name);
    void *handle = load(SONAME("avutil", LIBAVUTIL));
    SK_FFMPEG_AVUTIL(FIND)
    handle = load(SONAME("swscale", LIBSWSCALE));
    SK_FFMPEG_SWSCALE(FIND)
    handle = load(SONAME("avcodec", LIBAVCODEC));
    SK_FFMPEG_AVCODEC(FIND)
    handle = load(SONAME("avformat", LIBAVFORMAT));
    SK_FFMPEG_AVFORMAT(FIND)
#undef FIND
    if (!problem[0])
        sk_ff.av_log_set_callback(hear);
}

sk_status sk_ffmpeg_load(const char *uri, sk_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_all);
    if (!problem[0])
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "%s: needs FFmpeg's libraries %s, %s, %s and %s, which cannot be loaded: %s (Debian: "
                   "apt-get install ffmpeg)",
                   uri, SONAME("avformat", LIBAVFORMAT), SONAME("avcodec", LIBAVCODEC),
                   SONAME("avutil", LIBAVUTIL), SONAME("swscale", LIBSWSCALE), problem);
}

sk_status sk_ffmpeg_load_cameras(const char *uri, sk_error *err)
{
    static const char library[] = SONAME("avdevice", LIBAVDEVICE);
    void *handle = dlopen(library, RTLD_NOW);
    void *symbol = handle ? dlsym(handle, "avdevice_register_all") : NULL;
    if (!symbol)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: cameras need %s, which cannot be loaded: %s (Debian: apt-get install ffmpeg)",
                       uri, library, dlerror());
    void (*register_all)(void);
    memcpy(&register_all, &symbol, sizeof register_all);
    register_all();
    return SK_OK;
}

const char *sk_ffmpeg_text(int code)
{
    static _Thread_local char text[AV_ERROR_MAX_STRING_SIZE];
    if (!sk_ff.av_strerror || sk_ff.av_strerror(code, text, sizeof text) < 0)
        snprintf(text, sizeof text, "error %d", code);
    return text;
}
