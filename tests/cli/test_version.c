/* SPDX-License-Identifier: Apache-2.0 */
/* The version's lines: the build, and the processor with and without a limit. */
#include "said.h"

#include "base/cpu.h"
#include "build_info.h"

#include <sched.h>

static said s;

static void versions(void **state)
{
    (void)state;
    sk_cpu_info cpu;
    sk_cpu_describe(&cpu);
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    for (int round = 0; round < 3; round++) {
        char text[2048], flags[SK_CPU_FLAGS_TEXT], limited[256] = "";
        if (round == 1)
            sk_cpu_limit(0);
        if (round == 1 && cpu.flags)
            snprintf(limited, sizeof limited, " (it has %s; SKITTER_CPU_MASK limits it)",
                     sk_cpu_level_name(cpu.flags));
        if (round == 2) {
            sk_cpu_limit(~0u);
            assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        }
        const int cores = (int)sk_cpu_usable_cores();
        assert_true(round < 2 || cores == 1);
        snprintf(text, sizeof text, "processor %s\n          %s%s, %d usable core%s\n", cpu.model,
                 sk_cpu_level_name(sk_cpu_flags()), limited, cores, cores > 1 ? "s" : "");
        SAID_OK(&s, "version");
        assert_string_equal(strstr(s.out, "processor "), text);
        assert_ptr_equal(strstr(s.out, "skitter " SK_BUILD_VERSION " (" SK_BUILD_COMMIT ")\nbuild     "),
                         s.out);
        said_has(s.out, "\nbuild     " SK_BUILD_TYPE ", " SK_BUILD_COMPILER ", " SK_BUILD_SYSTEM
                        "\nfeatures  FFmpeg ");
        SAID_OK(&s, "version --json");
        snprintf(
            text, sizeof text,
            "\n  \"cpu\": {\n    \"model\": \"%s\",\n    \"level\": \"%s\",\n    \"flags\": \"%s\",\n    "
            "\"cores\": %d,\n    \"threads\": %d\n  }\n}\n",
            cpu.model, sk_cpu_level_name(sk_cpu_flags()), sk_cpu_flags_text(cpu.flags, flags, sizeof flags),
            cores, (int)sk_cpu_usable_threads());
        assert_string_equal(strstr(s.out, "\n  \"cpu\": "), text);
        said_has(s.out, "\n  \"ffmpeg\": ");
        said_has(s.out, ",\n  \"cuda\": ");
        said_has(s.out, "\"system\": \"" SK_BUILD_SYSTEM "\",\n");
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
