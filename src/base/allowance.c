/* SPDX-License-Identifier: Apache-2.0 */
#include "base/allowance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* 0 where the variable is absent or no size. */
static uint64_t chosen(void)
{
    const char *text = getenv(SK_ALLOWANCE_VARIABLE);
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;
    if (!text || end == text || !(value > 0))
        return 0;
    switch (*end) {
    case 'k':
    case 'K': value *= 1024; break;
    case 'm':
    case 'M': value *= (double)MIB; break;
    case 'g':
    case 'G': value *= (double)GIB; break;
    case 't':
    case 'T': value *= (double)GIB * 1024; break;
    case '\0': break;
    default: return 0;
    }
    return value < 9e18 ? (uint64_t)value : INT64_MAX;
}

uint64_t sk_allowance_of_file(uint64_t file_bytes)
{
    uint64_t said = chosen(), usual;
    if (__builtin_mul_overflow(file_bytes, (uint64_t)64, &usual) ||
        __builtin_add_overflow(usual, 256 * MIB, &usual))
        usual = INT64_MAX;
    return said > usual ? said : usual;
}

sk_allowance sk_allowance_of_network(void)
{
    uint64_t said = chosen();
    if (said)
        return (sk_allowance){said, said};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t half = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 0;
    return (sk_allowance){4 * GIB, half > 4 * GIB ? half : 4 * GIB};
}

sk_status sk_allowance_fail(sk_error *err, uint64_t bytes, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint64_t enough = bytes / GIB + 1;
    if (enough > 4096) /* no remedy for what no machine has */
        return sk_fail(err, SK_ERR_LIMIT, "%s; refused", text);
    return sk_fail(err, SK_ERR_LIMIT, "%s; if it is right, " SK_ALLOWANCE_VARIABLE "=%lluG allows it", text,
                   (unsigned long long)enough);
}
