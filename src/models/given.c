/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "models/model.h"

#include <string.h>

/* What finds animals and is no network: a background, a file of detections. */

static sk_status fill(sk_model *m, const char *name, int32_t n_classes, const char *const *class_names,
                      sk_error *err)
{
    const char **names = sk_arena_alloc(m->arena, ((size_t)n_classes + 1) * sizeof *names);
    m->path = sk_arena_strdup(m->arena, name);
    if (!names || !m->path)
        return sk_fail_memory(err, ((size_t)n_classes + 1) * sizeof *names);
    for (int32_t i = 0; i < n_classes; i++) {
        names[i] = sk_arena_strdup(m->arena, class_names[i] ? class_names[i] : "");
        if (!names[i])
            return sk_fail_memory(err, (size_t)n_classes);
    }
    m->architecture = "given";
    m->n_classes = n_classes;
    m->class_names = names;
    return SK_OK;
}

sk_status sk_model_of_given(const char *name, const char *identity, int32_t n_classes,
                            const char *const *class_names, bool oriented, sk_model **out, sk_error *err)
{
    SK_CHECK_ARG(name && identity && n_classes >= 0 && (class_names || n_classes == 0) && out, err);
    sk_model *m = NULL;
    sk_sha256 hash;
    *out = NULL;
    SK_TRY(sk_model_create(&m, err));
    const sk_status status = fill(m, name, n_classes, class_names, err);
    if (status != SK_OK) {
        sk_model_close(&m);
        return status;
    }
    m->task = oriented ? SK_TASK_OBB : SK_TASK_DETECT;
    m->family = SK_FAMILY_GIVEN;
    m->in_memory = 1; /* there is no file of it to be read again */
    m->input = (sk_input_spec){.channels = 3, .height = 640, .width = 640, .stride = 1, .rgb = 1};
    sk_hash_sha256(identity, strlen(identity), &hash);
    sk_sha256_text(&hash, m->content_hash);
    *out = m;
    return SK_OK;
}
