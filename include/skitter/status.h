/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_STATUS_H
#define SKITTER_STATUS_H

/* How every fallible skitter function answers.
 *
 * A function that can fail returns sk_status; SK_OK (0) means it did what it says. Text for a person goes into the
 * optional trailing `sk_error *`: what failed, on which file or runtime, why, and what helps. The library never
 * prints, exits or aborts. */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SK_API                __attribute__((visibility("default")))
#define SK_MUST_CHECK         __attribute__((warn_unused_result))
#define SK_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define SK_API
#define SK_MUST_CHECK
#define SK_PRINTF(fmt, first)
#endif

/* How a struct that begins with its own size begins: all zero but for that. What SK_FRAME_INIT and its like are made of. */
#ifdef __cplusplus
#define SK_INIT_BY_SIZE(type)                                                                                \
    ([] {                                                                                                    \
        type sk_begun = type();                                                                              \
        sk_begun.size = static_cast<uint32_t>(sizeof sk_begun);                                              \
        return sk_begun;                                                                                     \
    }())
#else
#define SK_INIT_BY_SIZE(type)                                                                                \
    {                                                                                                        \
        .size = (uint32_t)sizeof(type)                                                                       \
    }
#endif

typedef enum sk_status {
    SK_OK = 0,
    SK_ERR_ARG = 1,         /* a caller's mistake: null pointer, value out of range */
    SK_ERR_MEMORY = 2,      /* an allocation failed */
    SK_ERR_IO = 3,          /* the operating system refused: open, read, write, rename, lock */
    SK_ERR_NOT_FOUND = 4,   /* no such file, layer, class, runtime … */
    SK_ERR_FORMAT = 5,      /* a file is damaged, truncated, hostile or not what it claims to be */
    SK_ERR_UNSUPPORTED = 6, /* understood, but not possible here: unknown layer, missing runtime … */
    SK_ERR_LIMIT = 7,       /* over a safety limit: depth, size, count */
    SK_ERR_BUSY = 8,        /* somebody else holds it: a run lock, an artifact being made */
    SK_ERR_RUNTIME = 9,     /* a compute runtime or device failed while running */
    SK_ERR_CANCELLED = 10,  /* the caller asked to stop */
    SK_ERR_MISMATCH = 11,   /* shapes, types or results do not agree */
    SK_ERR_INTERNAL = 12,   /* a bug in skitter; please report it */
    SK_ERR_TIMEOUT = 13,    /* not done in the time allowed; the message names the stage */
    SK_ERR_INCOMPLETE = 14  /* done as far as it went: the source ended before its own header says */
} sk_status;

/* Length of sk_error.message including the final zero. Longer texts are cut at a character boundary, with "…". */
#define SK_ERROR_MESSAGE_MAX 1024

/* Filled on failure, untouched on success. Plain data: nothing to free. `file` and `line` name the place in
 * skitter's source and are for bug reports. A null `sk_error *` is allowed everywhere. */
typedef struct sk_error {
    sk_status code;
    int line;
    const char *file;
    char message[SK_ERROR_MESSAGE_MAX];
} sk_error;

/* A short constant English name such as "out of memory". Never null. */
SK_API const char *sk_status_text(sk_status status);

#ifdef __cplusplus
}
#endif
#endif
