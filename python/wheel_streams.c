/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

/* Debian's archives are made for programs: they read the C library's stdin, stdout and stderr as if these lay within reach, which in
 * a shared library they do not. The linker gives them these instead (--wrap, cmake/Wheel.cmake). */

extern FILE *__real_stdin, *__real_stdout, *__real_stderr;
__attribute__((visibility("hidden"))) FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;

__attribute__((constructor(101))) static void fill_streams(void)
{
    __wrap_stdin = __real_stdin;
    __wrap_stdout = __real_stdout;
    __wrap_stderr = __real_stderr;
}
