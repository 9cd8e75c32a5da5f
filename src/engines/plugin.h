/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_PLUGIN_H
#define SK_ENGINES_PLUGIN_H

#include "engines/border.h"

/* Engines in shared libraries of their own. What needs a vendor's compiler or library to build (CUDA, TensorRT, …) is
 * not part of skitter's program: it lies beside it as libskitter_<engine>.so and is loaded when its runtime is asked for
 * the first time. The same program so builds and runs on machines that have none of it.
 *
 * A plugin is linked with skitter's static library (hidden symbols; it shares nothing with the program but the C
 * library) and exports one function, SK_PLUGIN_ENTRY, which hands out the table of engines/border.h. The engine's table and
 * its sessions are written in C; kernels and C++ interfaces go behind functions of the plugin's own. */

/* What the program knows of a plugin before it has it. */
typedef struct sk_plugin_wish {
    const char *engine;        /* "cuda" */
    const char *file;          /* "libskitter_cuda.so" */
    const char *remedy;        /* commands that bring the plugin */
    const char *vendor;        /* "NVIDIA" */
    const char *driver;        /* the driver's library, "libcuda.so.1" */
    const char *device;        /* a file the driver makes, "/dev/nvidia0" */
    bool device_is_needed;     /* no device without that file; else it is only told about */
    const char *driver_remedy; /* commands that bring the driver */
} sk_plugin_wish;

/* Loads the plugin, once in a process; later calls give the same engine. Looked for in SKITTER_PLUGIN_DIR and, where
 * that is set, nowhere else; beside the program or library this code is in; in lib folders next to that; in the
 * installation's library folder. `path` (may be null) says where it lies. SK_ERR_NOT_FOUND: absent; SK_ERR_UNSUPPORTED:
 * there, but broken or of another build. */
sk_status sk_plugin_load(const sk_plugin_wish *wish, const sk_engine **out, char *path, size_t capacity,
                         sk_error *err) SK_MUST_CHECK;
/* The same for a file given by name, without remembering it; ended by dlclose(*handle). For tests and tools. */
sk_status sk_plugin_open_file(const char *path, const char *engine, void **handle, const sk_engine **out,
                              sk_error *err) SK_MUST_CHECK;

/* Is the driver's library loadable? If not, `why` says so with the remedy. */
bool sk_plugin_has_driver(const sk_plugin_wish *wish, char *why, size_t capacity);

/* The forwarding engine's functions. */
sk_status sk_plugin_probe(const sk_plugin_wish *wish, sk_engine_probe *out);

/* Defines an engine that is a plugin: asks for it when used and forwards. `object` is the sk_engine, `wish` a
 * sk_plugin_wish object, `word` its name; `its_form` the form of its model files, or null; `captures` 1 where it has capture. What it can, its options and its form are
 * known without having the plugin. */
#define SK_PLUGIN_ENGINE(object, wish, word, engine_title, its_form, its_options, captures, ...)             \
    static const sk_engine *word##_real;                                                                     \
    static sk_status word##_probe(sk_engine_probe *out, sk_error *err)                                       \
    {                                                                                                        \
        (void)err;                                                                                           \
        return sk_plugin_probe(&(wish), out);                                                                \
    }                                                                                                        \
    static sk_status word##_supports(const sk_graph *graph, const sk_session_settings *settings,             \
                                     sk_error *err)                                                          \
    {                                                                                                        \
        const sk_engine *real = NULL;                                                                        \
        SK_TRY(sk_plugin_load(&(wish), &real, NULL, 0, err));                                                \
        return real->supports(graph, settings, err);                                                         \
    }                                                                                                        \
    static sk_status word##_open(const sk_graph *graph, const sk_session_settings *settings,                 \
                                 sk_session **out, sk_error *err)                                            \
    {                                                                                                        \
        const sk_engine *real = NULL;                                                                        \
        SK_TRY(sk_plugin_load(&(wish), &real, NULL, 0, err));                                                \
        word##_real = real; /* the same for ever: sessions exist only after this */                          \
        return real->open(graph, settings, out, err);                                                        \
    }                                                                                                        \
    static sk_status word##_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,        \
                                   sk_error *err)                                                            \
    {                                                                                                        \
        return word##_real->submit(session, slot, inputs, err);                                              \
    }                                                                                                        \
    static sk_status word##_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)           \
    {                                                                                                        \
        return word##_real->wait(session, slot, outputs, err);                                               \
    }                                                                                                        \
    static void word##_close(sk_session *session)                                                            \
    {                                                                                                        \
        word##_real->close(session);                                                                         \
    }                                                                                                        \
    static sk_status word##_capture(sk_session *session, sk_error *err)                                      \
    {                                                                                                        \
        return word##_real->capture(session, err);                                                           \
    }                                                                                                        \
    static void *word##_host_alloc(size_t bytes)                                                             \
    {                                                                                                        \
        const sk_engine *real = NULL;                                                                        \
        return sk_plugin_load(&(wish), &real, NULL, 0, NULL) == SK_OK && real->host_alloc                    \
                   ? real->host_alloc(bytes)                                                                 \
                   : NULL;                                                                                   \
    }                                                                                                        \
    static void word##_host_free(void *block)                                                                \
    {                                                                                                        \
        const sk_engine *real = NULL;                                                                        \
        if (sk_plugin_load(&(wish), &real, NULL, 0, NULL) == SK_OK && real->host_free)                       \
            real->host_free(block);                                                                          \
    }                                                                                                        \
    static sk_status word##_times(sk_session *session, int32_t slot, sk_session_times *out, sk_error *err)   \
    {                                                                                                        \
        return word##_real->times ? word##_real->times(session, slot, out, err) : SK_OK;                     \
    }                                                                                                        \
    static sk_status word##_profile_start(sk_session *session, sk_error *err)                                \
    {                                                                                                        \
        return word##_real->profile_start                                                                    \
                   ? word##_real->profile_start(session, err)                                                \
                   : sk_fail(err, SK_ERR_UNSUPPORTED, engine_title " does not measure single steps");        \
    }                                                                                                        \
    static sk_status word##_profile(sk_session *session, sk_profile_row *rows, int32_t capacity,             \
                                    int32_t *count, sk_error *err)                                           \
    {                                                                                                        \
        return word##_real->profile                                                                          \
                   ? word##_real->profile(session, rows, capacity, count, err)                               \
                   : sk_fail(err, SK_ERR_UNSUPPORTED, engine_title " does not measure single steps");        \
    }                                                                                                        \
    static sk_status word##_resident(sk_session *session, int32_t slot, int32_t image, sk_frame *out,        \
                                     sk_error *err)                                                          \
    {                                                                                                        \
        return word##_real->resident                                                                         \
                   ? word##_real->resident(session, slot, image, out, err)                                   \
                   : sk_fail(err, SK_ERR_UNSUPPORTED, engine_title " keeps no frames on the device");        \
    }                                                                                                        \
    const sk_engine object = {.name = #word,                                                                 \
                              .title = (engine_title),                                                       \
                              .can = __VA_ARGS__,                                                            \
                              .options = (its_options),                                                      \
                              .probe = word##_probe,                                                         \
                              .supports = word##_supports,                                                   \
                              .open = word##_open,                                                           \
                              .submit = word##_submit,                                                       \
                              .wait = word##_wait,                                                           \
                              .close = word##_close,                                                         \
                              .capture = (captures) ? word##_capture : NULL,                                 \
                              .profile_start = word##_profile_start,                                         \
                              .profile = word##_profile,                                                     \
                              .form = (its_form),                                                            \
                              .times = word##_times,                                                         \
                              .host_alloc = word##_host_alloc,                                               \
                              .host_free = word##_host_free,                                                 \
                              .resident = word##_resident}

#endif
