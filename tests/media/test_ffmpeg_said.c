/* SPDX-License-Identifier: Apache-2.0 */
/* What FFmpeg says of a failure is kept for who listens: the first error, without its line's end; nothing else. */
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/library_ffmpeg.h"

#include <dlfcn.h>
#include <stdio.h>
#include <pthread.h>
#include <string.h>

static void (*hear)(void *, int, const char *, va_list);

static void speak(void *object, int level, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    hear(object, level, format, values);
    va_end(values);
}

/* Libraries speak through what they were told to call; it is asked of FFmpeg itself. */
static bool find_listener(void)
{
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        return false;
    char name[40];
    snprintf(name, sizeof name, "libavutil.so.%d", LIBAVUTIL_VERSION_MAJOR);
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "av_vlog") : NULL;
    memcpy(&hear, &symbol, sizeof hear);
    return hear != NULL;
}

static void *speak_elsewhere(void *context)
{
    (void)context;
    speak(NULL, AV_LOG_ERROR, "another thread\n");
    return NULL;
}

static const char *reason(const sk_ffmpeg_said *said)
{
    static char text[200];
    sk_ffmpeg_reason(said, AVERROR(ENOENT), text, sizeof text);
    return text;
}

static void the_first_error_is_kept(void **state)
{
    (void)state;
    if (!find_listener())
        skip();
    sk_ffmpeg_said said = {"old"}, other = {""};
    speak(NULL, AV_LOG_ERROR, "before anybody listens\n");
    sk_ffmpeg_listen(&said);
    assert_string_equal(said.text, "");
    speak(NULL, AV_LOG_WARNING, "a warning\n");
    speak(NULL, AV_LOG_ERROR + 1, "hardly more than that\n");
    assert_string_equal(said.text, "");
    assert_string_equal(reason(&said),
                        "No such file or directory"); /* nothing was said: the code's own words */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, speak_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(said.text, "");
    speak(NULL, AV_LOG_ERROR, "number %d\r\nand more\n", 7);
    speak(NULL, AV_LOG_FATAL, "a second one\n");
    assert_string_equal(said.text, "number 7");
    assert_string_equal(reason(&said), "number 7");
    sk_ffmpeg_listen(NULL);
    sk_ffmpeg_forget(&said);
    speak(NULL, AV_LOG_PANIC, "nobody listens\n");
    assert_string_equal(said.text, "");
    /* a codec's own listener hears it in any thread, unless the thread's listens */
    AVCodecContext *codec = sk_ff.avcodec_alloc_context3(NULL);
    assert_non_null(codec);
    speak(codec, AV_LOG_ERROR, "to nobody\n");
    codec->opaque = &other;
    speak(codec, AV_LOG_ERROR, "of a codec\n");
    assert_string_equal(other.text, "of a codec");
    sk_ffmpeg_forget(&other);
    sk_ffmpeg_listen(&said);
    speak(codec, AV_LOG_FATAL, "to the thread\n");
    sk_ffmpeg_listen(NULL);
    assert_string_equal(other.text, "");
    assert_string_equal(said.text, "to the thread");
    /* what is not a codec has no listener */
    AVFormatContext *format = sk_ff.avformat_alloc_context();
    assert_non_null(format);
    format->opaque = &other;
    speak(format, AV_LOG_ERROR, "of a format\n");
    assert_string_equal(other.text, "");
    sk_ff.avformat_free_context(format);
    sk_ff.avcodec_free_context(&codec);
    /* long ones are cut */
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    sk_ffmpeg_listen(&said);
    speak(NULL, AV_LOG_ERROR, "%s\n", text);
    sk_ffmpeg_listen(NULL);
    assert_int_equal(strlen(said.text), sizeof said.text - 1);
    assert_string_equal(sk_ffmpeg_text(AVERROR(ENOENT)), "No such file or directory");
    const char *unknown = sk_ffmpeg_text(-1234567);
    assert_true(strstr(unknown, "1234567") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_error_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
