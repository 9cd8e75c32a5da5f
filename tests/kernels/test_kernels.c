/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel harness's program: finds every family (kernel_checks.inc is made by CMake from the check_*.c
 * files) and runs each at every level of this CPU. */
#include "harness_state.h"

#include "base/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_CHECK(family) void check_##family(kernel_run *run);
#include "kernel_checks.inc"
#undef KERNEL_CHECK

static const struct {
    const char *name;
    void (*check)(kernel_run *run);
} families[] = {
#define KERNEL_CHECK(family) {#family, check_##family},
#include "kernel_checks.inc"
#undef KERNEL_CHECK
};
#define FAMILIES (sizeof families / sizeof families[0])

static kernel_state state; /* static: the crash handler needs it */

bool kernel_variant(kernel_run *run, const char *name, kernel_fn fn)
{
    for (int i = 0; i < state.seen_count; i++) {
        if (state.seen[i].fn == fn && strcmp(state.seen[i].name, name) == 0)
            return false;
    }
    if (!fn || state.seen_count == KERNEL_SEEN)
        return false;
    state.seen[state.seen_count++] = (kernel_seen){name, fn};
    state.variant = name;
    state.variant_failed = false;
    snprintf(state.shape, sizeof state.shape, "no shape yet");
    if (state.filter && !strstr(name, state.filter))
        return false;
    if (state.only_level && strcmp(state.only_level, run->level) != 0)
        return false;
    if (state.list) {
        printf("%-28s %s\n", name, run->level);
        return false;
    }
    state.variants++;
    return true;
}

static void out_of_a_crash(int number)
{
    siglongjmp(state.crash, number);
}

static void catch_crashes(void)
{
    struct sigaction action = {.sa_handler = out_of_a_crash, .sa_flags = SA_NODEFER};
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

void kernel_guarded_call(kernel_run *run, void (*check)(kernel_run *run))
{
    int number = sigsetjmp(state.crash, 1);
    if (number == 0) {
        check(run);
    } else {
        kernel_fail(run,
                    "crashed: %s (reading or writing past a buffer, or an instruction of a higher level)",
                    strsignal(number));
    }
    kernel_buffers_free(&state);
}

static int usage(void)
{
    fprintf(
        stderr,
        "usage: test_kernels [--bench] [--list] [--family NAME] [--filter TEXT] [--level NAME] [--seed N] "
        "[--first] [--self-test]\n");
    return 2;
}

static int parse(int argc, char **argv)
{
    state.seed = 1;
    state.first_only = getenv("SKITTER_TEST_FIRST") != NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--bench") == 0)
            state.bench = true;
        else if (strcmp(argv[i], "--list") == 0)
            state.list = true;
        else if (strcmp(argv[i], "--self-test") == 0)
            state.self_test = true;
        else if (strcmp(argv[i], "--first") == 0)
            state.first_only = true;
        else if (strcmp(argv[i], "--family") == 0 && value)
            state.only_family = argv[++i];
        else if (strcmp(argv[i], "--filter") == 0 && value)
            state.filter = argv[++i];
        else if (strcmp(argv[i], "--level") == 0 && value)
            state.only_level = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && value)
            state.seed = strtoull(argv[++i], NULL, 10);
        else
            return usage();
    }
    bool known = !state.only_family;
    for (size_t i = 0; i < FAMILIES; i++)
        known = known || strcmp(families[i].name, state.only_family) == 0;
    if (!known)
        fprintf(stderr, "test_kernels: no family '%s': tests/kernels/check_<family>.c are the families\n",
                state.only_family);
    return known ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (parse(argc, argv) != 0)
        return 2;
    catch_crashes();
    if (state.self_test) {
        kernel_run run = {.flags = 0, .level = "self-test", .state = &state};
        return kernel_self_test(&run) ? 1 : 0;
    }
    uint32_t available = sk_cpu_flags();
    uint32_t flags = 0;
    for (uint32_t next = 0;;) {
        kernel_run run = {.flags = flags, .level = sk_cpu_level_name(flags), .state = &state};
        for (size_t i = 0; i < FAMILIES; i++) {
            if (state.only_family && strcmp(families[i].name, state.only_family) != 0)
                continue;
            state.random = state.seed;
            kernel_guarded_call(&run, families[i].check);
        }
        while (next < 32 && !(available >> next & 1u))
            next++;
        if (next == 32)
            break;
        flags |= 1u << next++;
    }
    if (!state.list)
        printf("%d kernels, %d shapes, %d failures, up to level %s\n", state.variants, state.cases,
               state.failures, sk_cpu_level_name(available));
    return state.failures ? 1 : 0;
}
