/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/request.h"

#include "ros/ros_names.h"

#include <string.h>

static const struct {
    const char *backend, *runtime;
} runtimes[] = {{"cuda", "cuda"},         {"rocm", "rocm"},     {"openvino", "openvino"},
                {"tensorrt", "tensorrt"}, {"onnx", "onnx_cpu"}, {"cpu", "cpu"}};

const char *sk_ros_backend_runtime(const char *backend)
{
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strcmp(runtimes[i].backend, backend) == 0)
            return runtimes[i].runtime;
    return NULL;
}

/* As repr() of a text: in double quotes where it has single ones only. */
static void append_quoted(sk_text *out, const char *item)
{
    const char quote = strchr(item, '\'') && !strchr(item, '"') ? '"' : '\'';
    sk_text_append_bytes(out, &quote, 1);
    for (; *item; item++) {
        if (*item == quote || *item == '\\')
            sk_text_append(out, "\\");
        sk_text_append_bytes(out, item, 1);
    }
    sk_text_append_bytes(out, &quote, 1);
}

void sk_ros_append_list(sk_text *out, const char *const *items, size_t count)
{
    sk_text_append(out, "[");
    for (size_t i = 0; i < count; i++) {
        sk_text_append(out, i ? ", " : "");
        append_quoted(out, items[i]);
    }
    sk_text_append(out, "]");
}

void sk_ros_append_models(sk_text *out, const sk_catalogue *catalogue, bool quoted)
{
    bool first = true;
    sk_text_append(out, quoted ? "[" : "");
    for (size_t i = 0; i < catalogue->count; i++) {
        if (!sk_catalogue_runs(catalogue->manifests[i], NULL))
            continue;
        sk_text_append(out, first ? "" : ", ");
        if (quoted)
            append_quoted(out, catalogue->manifests[i]->name);
        else
            sk_text_append(out, catalogue->manifests[i]->name);
        first = false;
    }
    sk_text_append(out, quoted ? "]" : "");
}

static void check_model(const sk_catalogue *catalogue, const char *name, sk_ros_choice *choice,
                        sk_problems *problems)
{
    choice->manifest = sk_catalogue_find(catalogue, name);
    const sk_ros_refused *refused = sk_ros_refused_find(name);
    if (refused && (!choice->manifest || !sk_catalogue_runs(choice->manifest, NULL))) {
        sk_problems_add(problems, "Model '%s' is known, but no package can be made for it: %s", name,
                        refused->why);
    } else if (choice->manifest) {
        sk_manifest_meaning(choice->manifest, &choice->meaning, problems);
    } else {
        sk_text list = {0};
        sk_ros_append_models(&list, catalogue, true);
        sk_problems_add(problems, "Unknown model '%s'. Available: %s", name, sk_text_get(&list));
        sk_text_free(&list);
    }
}

static void check_backend(const sk_ros_request *request, sk_ros_choice *choice, bool *usage,
                          sk_problems *problems)
{
    sk_text list = {0};
    choice->backend = request->backend;
    choice->runtime = sk_ros_backend_runtime(request->backend);
    const sk_manifest *m = choice->manifest;
    if (!choice->runtime) {
        size_t n = 0;
        while (sk_ros_backends[n])
            n++;
        sk_ros_append_list(&list, sk_ros_backends, n);
        sk_problems_add(problems, "Unknown backend '%s'. Choose from: %s", request->backend,
                        sk_text_get(&list));
        *usage = true;
    } else if (m && !sk_manifest_names_have(&m->backends, request->backend)) {
        sk_ros_append_list(&list, m->backends.items, m->backends.count);
        sk_problems_add(problems, "Backend '%s' is not supported by model '%s'. Supported backends: %s",
                        request->backend, m->name, sk_text_get(&list));
    }
    sk_text_free(&list);
}

static void check_variant(const sk_ros_request *request, sk_ros_choice *choice, sk_problems *problems)
{
    const sk_manifest *m = choice->manifest;
    choice->variant = request->variant ? request->variant : m ? m->default_variant : "";
    if (!m || sk_manifest_names_have(&m->variants, choice->variant))
        return;
    sk_text list = {0};
    sk_ros_append_list(&list, m->variants.items, m->variants.count);
    sk_problems_add(problems, "Unknown variant '%s' for model '%s'. Choose from: %s", choice->variant,
                    m->name, sk_text_get(&list));
    sk_text_free(&list);
}

void sk_ros_request_check(const sk_catalogue *catalogue, const sk_ros_request *request, sk_ros_choice *choice,
                          bool *usage, sk_problems *problems)
{
    *choice = (sk_ros_choice){.package_name = request->package_name};
    *usage = false;
    check_model(catalogue, request->model, choice, problems);
    check_backend(request, choice, usage, problems);
    check_variant(request, choice, problems);
    char why[256];
    if (!sk_ros_package_name(request->package_name, why, sizeof why))
        sk_problems_add(problems, "Invalid package name '%s': %s", request->package_name, why);
}
