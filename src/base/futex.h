/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_FUTEX_H
#define SK_BASE_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeping on a word of memory; for pool.c and ring.c.
 *
 * All sleeping follows one pattern: the waiter raises an `asleep` flag, looks at the word once more, and
 * sleeps only if it is still unchanged; the waker changes the word, then looks at the flag. Both in
 * sequentially consistent order, so at least one of them sees the other. */

/* Sleeps while *word == seen, at most timeout_ns (negative: without end). May return early. */
static inline void sk_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    struct timespec left = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                            .tv_nsec = (long)(timeout_ns % 1000000000)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? NULL : &left, NULL, 0);
}

static inline void sk_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Tells the core that this is a waiting loop. */
static inline void sk_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
