/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

/* A library that is wrong in the way FAKE says, in place of ONNX Runtime. Its table has functions at the
 * positions of the real one. */
#define FAKE_EMPTY    0 /* lacks the entry point */
#define FAKE_NO_BASE  1 /* the entry point gives nothing */
#define FAKE_NO_TABLE 2 /* no interface of any version */
#define FAKE_OLD      3 /* version 1.4.0 */
#define FAKE_REFUSES  4 /* the first call fails with a text */
#define FAKE_HOLES    5 /* a table without functions */
#define FAKE_IDLE     6 /* everything succeeds and nothing is done */

#if FAKE != FAKE_EMPTY
typedef void (*any_function)(void);

static void *succeed(void)
{
    return NULL;
}

static void *make_second(const void *a, const void **made) /* f(x, **out) */
{
    static int something;
    (void)a;
    *made = &something;
    return NULL;
}

static const char *message(const void *status)
{
    (void)status;
    return "the fake does not want to";
}

static void *refuse(void)
{
    static int status;
    return &status;
}

static any_function table[300];

static const void *get_api(uint32_t version)
{
    if (FAKE == FAKE_NO_TABLE || version > 25)
        return NULL;
    for (int i = 0; FAKE != FAKE_HOLES && i < 300; i++)
        table[i] = (any_function)succeed;
    if (FAKE != FAKE_HOLES) {
        table[2] = (any_function)message;
        table[134] = (any_function)make_second;
    }
    if (FAKE == FAKE_REFUSES)
        table[3] = (any_function)refuse;
    return table;
}

static const char *get_version(void)
{
    return FAKE == FAKE_OLD ? "1.4.0" : "1.25.0";
}

struct base {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

const struct base *OrtGetApiBase(void);
const struct base *OrtGetApiBase(void)
{
    static const struct base base = {get_api, get_version};
    return FAKE == FAKE_NO_BASE ? NULL : &base;
}
#else
int fake_ort_is_empty;
#endif
