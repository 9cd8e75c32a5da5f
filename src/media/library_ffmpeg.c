/* SPDX-License-Identifier: Apache-2.0 */
#include "media/library_ffmpeg.h"

#include <dlfcn.h>
#include <libavdevice/version.h>
#include <libavutil/macros.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SONAME(library, macro) "lib" library ".so." AV_STRINGIFY(macro##_VERSION_MAJOR)

sk_ffmpeg sk_ff;
static char problem[512]; /* why loading failed; "" when it did not */

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
        sk_ff.av_log_set_level(AV_LOG_QUIET); /* the library never prints; problems come back as errors */
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
