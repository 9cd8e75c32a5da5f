/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/config.h"
#include "formats/python_literal.h"
#include "formats/skeleton_json.h"
#include "mutate.h"

/* Every value reached once; shared nodes as often as they are referred to, which the parsers bound. */
static size_t walk(const sk_config_value *value, int depth)
{
    size_t count = 1;
    SK_FUZZ_CHECK(value && depth <= SK_CONFIG_MAX_DEPTH + 1);
    if (value->kind == SK_CONFIG_LIST)
        for (size_t i = 0; i < value->length; i++)
            count += walk(value->u.items[i], depth + 1);
    if (value->kind == SK_CONFIG_MAP)
        for (size_t i = 0; i < value->length; i++) {
            SK_FUZZ_CHECK(sk_config_get(value, value->u.pairs[i].name));
            count += walk(value->u.pairs[i].value, depth + 1);
        }
    return count;
}

static void check(sk_status status, sk_config **config, const sk_error *err)
{
    if (status != SK_OK) {
        SK_FUZZ_CHECK(!*config && err->code == status && err->message[0]);
        return;
    }
    const sk_config_value *root = sk_config_root(*config);
    if (root->length < 1000)
        SK_FUZZ_CHECK(walk(root, 0) <= 2 * SK_CONFIG_MAX_NODES);
    sk_config_find(root, "a.0.b");
    sk_arena *arena = NULL;
    sk_skeleton skeleton;
    if (sk_arena_open(0, &arena, NULL) == SK_OK) {
        sk_arena_limit(arena, 1 << 20);
        sk_status read = sk_skeleton_read(root, NULL, arena, "fuzz", &skeleton, NULL);
        for (int32_t i = 0; read == SK_OK && i < skeleton.n_edges; i++)
            SK_FUZZ_CHECK(skeleton.edges[i][0] < skeleton.n_nodes && skeleton.edges[i][1] < skeleton.n_nodes);
    }
    sk_arena_close(&arena);
    sk_config_close(config);
}

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(config, data, size)
{
    static sk_status (*const openers[])(const char *, size_t, const char *, sk_config **, sk_error *) = {
        sk_config_open_json, sk_config_open_yaml, sk_python_literal_open};
    for (int i = 0; i < 3; i++) {
        sk_config *config = NULL;
        sk_error err = {0};
        sk_status status = openers[i]((const char *)data, size, "fuzz", &config, &err);
        check(status, &config, &err);
    }
}
