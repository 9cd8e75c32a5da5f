/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ros_door.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "cli/cli.h"
#include "ros/generate.h"
#include "ros/own_manifest.h"

#include <stdio.h>
#include <string.h>

/* --- what all have in common --- */

static void print_problem(void *context, const char *line)
{
    (void)context;
    sk_cli_print_to(stderr, "Error: %s\n", line);
}

static void put_problem(void *context, const char *line)
{
    sk_json_string(context, line);
}

static void warn_problem(void *context, const char *line)
{
    (void)context;
    sk_cli_warn("%s", line);
}

static sk_status open_catalogue(const sk_args *args, sk_catalogue **out, sk_error *err)
{
    const char *folder = sk_args_text(args, "models");
    if (folder && !sk_file_is_directory(folder))
        return sk_fail(err, SK_ERR_ARG, "Invalid value for '--models': %s '%s' %s.",
                       sk_file_exists(folder) ? "Directory" : "Path", folder,
                       sk_file_exists(folder) ? "is a file" : "does not exist");
    return sk_catalogue_open(folder, out, err);
}

/* Options that another action has would silently do nothing. */
static sk_status refuse_others(const sk_args *args, const char *action, const char *const *others,
                               sk_error *err)
{
    for (; *others; others++)
        if (sk_args_given(args, *others))
            return sk_fail(err, SK_ERR_ARG, "'skitter ros %s' has no option --%s", action, *others);
    return SK_OK;
}

static sk_status refuse_operands(const sk_args *args, const char *action, size_t most, sk_error *err)
{
    if (sk_args_count(args, "what") > most)
        return sk_fail(err, SK_ERR_ARG, "'skitter ros %s' takes no '%s'\n%s", action,
                       sk_args_at(args, "what", most),
                       most ? "one at a time" : "the model is named by --model");
    return SK_OK;
}

/* --- generate --- */

static void print_json(const sk_args *args, const sk_ros_request *request, const sk_ros_choice *choice,
                       const sk_ros_package *package, const char *path, const sk_problems *problems)
{
    sk_json json = sk_json_to_file(stdout, 2);
    const bool dry = sk_args_flag(args, "dry-run");
    sk_json_object(&json);
    sk_json_key_string(&json, "generated", problems->count || dry ? NULL : path);
    sk_json_key_bool(&json, "dry_run", dry);
    sk_json_key_strings(&json, {"model", request->model}, {"variant", choice->variant},
                        {"backend", request->backend}, {"compute_runtime", choice->runtime},
                        {"package", request->package_name}, {"format", sk_args_text(args, "format")});
    if (dry && package)
        sk_json_key_string(&json, "would_generate", path);
    sk_json_key_array(&json, "files");
    for (size_t i = 0; package && i < package->count; i++) {
        char text[SK_SHA256_TEXT];
        sk_sha256 hash;
        sk_hash_sha256(package->files[i].text, package->files[i].length, &hash);
        sk_json_object(&json);
        sk_json_key_string(&json, "path", package->files[i].path);
        sk_json_key_int(&json, "bytes", (int64_t)package->files[i].length);
        sk_json_key_string(&json, "sha256", sk_sha256_text(&hash, text));
        sk_json_close(&json);
    }
    sk_json_close(&json);
    sk_json_key_array(&json, "errors");
    sk_problems_each(problems, put_problem, &json);
    sk_json_close(&json);
    sk_json_close(&json);
    (void)!sk_json_end(&json, NULL);
}

static void print_package(const sk_args *args, const sk_ros_request *request, const sk_ros_package *package,
                          const char *path)
{
    const bool dry = sk_args_flag(args, "dry-run");
    printf("%s: %s\n", dry ? "Would generate" : "Generated", path);
    printf("  Model:   %s (%s)\n", request->model, request->variant ? request->variant : "default");
    printf("  Backend: %s\n", request->backend);
    printf("  Package: %s\n", request->package_name);
    for (size_t i = 0; dry && i < package->count; i++)
        printf("  %8zu  %s/%s\n", package->files[i].length, package->name, package->files[i].path);
}

static sk_status write_package(const sk_args *args, const sk_ros_package *package, char **path, sk_error *err)
{
    const char *given = sk_args_text(args, "output"), *folder = given ? given : "output";
    const bool zip = strcmp(sk_args_text(args, "format"), "zip") == 0;
    if (sk_args_flag(args, "dry-run")) {
        if (!zip)
            SK_TRY(sk_ros_check_folder(package, folder, sk_args_flag(args, "overwrite"), err));
        *path = sk_ros_package_path(package, folder, zip);
        return *path ? SK_OK : sk_fail_memory(err, 1);
    }
    return zip ? sk_ros_write_zip(package, folder, path, err)
               : sk_ros_write_folder(package, folder, sk_args_flag(args, "overwrite"), path, err);
}

static sk_status generate(const sk_args *args, const sk_catalogue *catalogue, const sk_ros_request *request,
                          sk_error *err)
{
    sk_problems problems = {0};
    sk_ros_choice choice;
    sk_ros_package *package = NULL;
    char *path = NULL;
    bool usage = false;
    const bool json = sk_args_flag(args, "json");
    sk_ros_request_check(catalogue, request, &choice, &usage, &problems);
    sk_status status = sk_text_status(&problems.lines, err);
    if (status == SK_OK && problems.count) {
        /* the model may be one of those that could not be read */
        if (!choice.manifest)
            sk_problems_each(&catalogue->problems, print_problem, NULL);
        sk_problems_each(&problems, print_problem, NULL);
        if (json)
            print_json(args, request, &choice, NULL, NULL, &problems);
        status = sk_fail(err, usage ? SK_ERR_ARG : SK_ERR_FORMAT, "nothing was generated");
    } else if (status == SK_OK) {
        sk_problems_each(&catalogue->problems, warn_problem, NULL);
        status = sk_ros_render(&choice, sk_ros_files, &package, err);
        if (status == SK_OK)
            status = write_package(args, package, &path, err);
        if (status == SK_OK && json)
            print_json(args, request, &choice, package, path, &problems);
        else if (status == SK_OK)
            print_package(args, request, package, path);
    }
    sk_free(path);
    sk_ros_package_close(&package);
    sk_problems_free(&problems);
    return status;
}

sk_status sk_ros_door_generate(const sk_args *args, sk_error *err)
{
    static const char *const needed[] = {"model", "backend", "package-name"}, *const others[] = {"track",
                                                                                                 NULL};
    SK_TRY(refuse_operands(args, "generate", 0, err));
    SK_TRY(refuse_others(args, "generate", others, err));
    bool missing = false;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!sk_args_text(args, needed[i])) {
            sk_cli_print_to(stderr, "Error: Missing option '--%s'.\n", needed[i]);
            missing = true;
        }
    if (missing)
        return sk_fail(err, SK_ERR_ARG, "nothing was generated\n'skitter ros --help' has examples");
    const sk_ros_request request = {.model = sk_args_text(args, "model"),
                                    .backend = sk_args_text(args, "backend"),
                                    .variant = sk_args_text(args, "variant"),
                                    .package_name = sk_args_text(args, "package-name")};
    sk_catalogue *catalogue = NULL;
    SK_TRY(open_catalogue(args, &catalogue, err));
    const sk_status status = generate(args, catalogue, &request, err);
    sk_catalogue_close(&catalogue);
    return status;
}

/* --- list-models and info --- */

static const char *const not_of_looks[] = {
    "model", "backend", "variant", "package-name", "output", "overwrite", "dry-run", "track", NULL};

static void list_known(const sk_catalogue *c, sk_json *json)
{
    bool first = true;
    for (const sk_ros_refused *r = sk_ros_refused_models; r->name; r++) {
        if (sk_catalogue_find(c, r->name) && sk_catalogue_runs(sk_catalogue_find(c, r->name), NULL))
            continue;
        if (json) {
            sk_json_object(json);
            sk_json_key_strings(json, {"name", r->name}, {"output", r->output_type}, {"why", r->why});
            sk_json_close(json);
            continue;
        }
        printf("%s  %-25s %s\n", first ? "\nKnown, but no package can be made for:\n\n" : "", r->name,
               r->why);
        first = false;
    }
}

static void list_models(const sk_catalogue *c, sk_json *json)
{
    if (!json)
        printf("Available models:\n\n");
    for (size_t i = 0; i < c->count; i++) {
        const sk_manifest *m = c->manifests[i];
        sk_text why = {0};
        const bool runs = sk_catalogue_runs(m, &why);
        if (json) {
            sk_json_object(json);
            sk_json_key_strings(json, {"name", m->name}, {"output", m->output_type}, {"family", m->family},
                                {"manifest", m->path});
            sk_json_key_int(json, "variants", (int64_t)m->variants.count);
            sk_json_key_string(json, "why_not", runs ? NULL : sk_text_get(&why));
            sk_json_close(json);
        } else if (runs) {
            printf("  %-25s %-20s (%zu variants)\n", m->name, m->output_type, m->variants.count);
        } else if (!sk_ros_refused_find(m->name)) {
            sk_cli_warn("%s", sk_text_get(&why));
        }
        sk_text_free(&why);
    }
}

sk_status sk_ros_door_list(const sk_args *args, sk_error *err)
{
    sk_catalogue *c = NULL;
    SK_TRY(refuse_operands(args, "list-models", 0, err));
    SK_TRY(refuse_others(args, "list-models", not_of_looks, err));
    SK_TRY(open_catalogue(args, &c, err));
    sk_status status = SK_OK;
    if (sk_args_flag(args, "json")) {
        sk_json json = sk_json_to_file(stdout, 2);
        sk_json_object(&json);
        sk_json_key_array(&json, "models");
        list_models(c, &json);
        sk_json_close(&json);
        sk_json_key_array(&json, "known");
        list_known(c, &json);
        sk_json_close(&json);
        sk_json_key_array(&json, "errors");
        sk_problems_each(&c->problems, put_problem, &json);
        sk_json_close(&json);
        sk_json_close(&json);
        status = sk_json_end(&json, err);
    } else {
        list_models(c, NULL);
        list_known(c, NULL);
    }
    fflush(stdout);
    sk_problems_each(&c->problems, print_problem, NULL);
    if (status == SK_OK && c->problems.count)
        status = sk_fail(err, SK_ERR_FORMAT, "not every manifest of '%s' can be used",
                         sk_args_text(args, "models"));
    sk_catalogue_close(&c);
    return status;
}

/* Python's str() of the number, as upstream prints it. */
static void put_vram(const sk_config_value *value, char *out, size_t capacity)
{
    int64_t whole;
    double real;
    if (sk_config_text(value))
        sk_text_shorten(sk_config_text(value), out, capacity);
    else if (sk_config_is(value, SK_CONFIG_INT) && sk_config_to_int(value, &whole))
        snprintf(out, capacity, "%lld", (long long)whole);
    else if (sk_config_to_real(value, &real))
        sk_text_number(real, 9, out, capacity);
    else
        snprintf(out, capacity, "?");
}

static void print_info(const sk_manifest *m)
{
    printf("Model:    %s\nFamily:   %s\nSource:   %s (%s)\nOutput:   %s (%s)\nDefault:  %s\nVariants:\n",
           m->name, m->family, m->source_type, m->source_repo, m->output_type, m->output_format,
           m->default_variant);
    for (size_t i = 0; i < m->variants.count; i++) {
        char vram[SK_TEXT_NUMBER];
        put_vram(sk_manifest_vram(m, m->variants.items[i]), vram, sizeof vram);
        printf("  - %s%s  [%s MB VRAM]\n", m->variants.items[i],
               strcmp(m->variants.items[i], m->default_variant) == 0 ? " (default)" : "", vram);
    }
    printf("Backends:\n");
    for (size_t i = 0; i < m->backends.count; i++)
        printf("  - %s\n", m->backends.items[i]);
}

static void put_list(sk_json *json, const char *key, const sk_manifest_names *names)
{
    sk_json_key_array(json, key);
    for (size_t i = 0; i < names->count; i++)
        sk_json_string(json, names->items[i]);
    sk_json_close(json);
}

static sk_status put_info(const sk_manifest *m, sk_error *err)
{
    sk_json json = sk_json_to_file(stdout, 2);
    sk_json_object(&json);
    sk_json_key_strings(&json, {"name", m->name}, {"family", m->family}, {"source", m->source_type},
                        {"repo", m->source_repo}, {"output", m->output_type}, {"format", m->output_format},
                        {"default", m->default_variant}, {"manifest", m->path});
    put_list(&json, "variants", &m->variants);
    put_list(&json, "backends", &m->backends);
    sk_json_close(&json);
    return sk_json_end(&json, err);
}

static sk_status tell_unknown(const sk_catalogue *c, const char *name, sk_error *err)
{
    const sk_ros_refused *refused = sk_ros_refused_find(name);
    if (refused)
        return sk_fail(err, SK_ERR_NOT_FOUND, "Model '%s' is known, but no package can be made for it: %s",
                       name, refused->why);
    sk_text list = {0};
    sk_ros_append_models(&list, c, false);
    sk_problems_each(&c->problems, print_problem, NULL);
    sk_cli_print_to(stderr, "Unknown model: %s\nAvailable: %s\n", name, sk_text_get(&list));
    sk_text_free(&list);
    return sk_fail(err, SK_ERR_NOT_FOUND, "there is no model '%s'", name);
}

sk_status sk_ros_door_info(const sk_args *args, sk_error *err)
{
    sk_catalogue *c = NULL;
    SK_TRY(refuse_operands(args, "info", 1, err));
    SK_TRY(refuse_others(args, "info", not_of_looks, err));
    if (sk_args_count(args, "what") == 0)
        return sk_fail(err, SK_ERR_ARG, "Missing argument 'MODEL'.\n'skitter ros list-models' lists them");
    const char *name = sk_args_at(args, "what", 0);
    SK_TRY(open_catalogue(args, &c, err));
    const sk_manifest *m = sk_catalogue_find(c, name);
    sk_status status = SK_OK;
    if (!m)
        status = tell_unknown(c, name, err);
    else if (sk_args_flag(args, "json"))
        status = put_info(m, err);
    else
        print_info(m);
    sk_catalogue_close(&c);
    return status;
}

/* --- manifest --- */

static sk_status keep_manifest(const sk_args *args, const char *name, const sk_text *text, sk_error *err)
{
    const char *folder = sk_args_text(args, "output");
    char *inside = sk_path_join(folder, name);
    char *path = inside ? sk_path_join(inside, "manifest.yaml") : NULL;
    sk_status status = path ? SK_OK : sk_fail_memory(err, 1);
    if (status == SK_OK && sk_file_exists(path) && !sk_args_flag(args, "overwrite"))
        status = sk_fail(err, SK_ERR_IO,
                         "%s is there already\n--overwrite replaces it, --model gives another name", path);
    if (status == SK_OK)
        status = sk_folder_make(inside, err);
    if (status == SK_OK)
        status = sk_file_replace(path, sk_text_get(text), text->length, err);
    if (status == SK_OK) {
        printf("Wrote: %s\n", path);
        sk_cli_say("next: %s ros generate --models %s --model %s --backend cpu --package-name NAME",
                   sk_cli_program(), folder, name);
    }
    sk_free_all(inside, path);
    return status;
}

sk_status sk_ros_door_manifest(const sk_args *args, sk_error *err)
{
    static const char *const others[] = {"backend", "variant", "package-name", "models", "dry-run",
                                         "json",    NULL};
    SK_TRY(refuse_others(args, "manifest", others, err));
    const size_t n = sk_args_count(args, "what");
    if (n == 0 || n > 2)
        return sk_fail(err, SK_ERR_ARG,
                       "'skitter ros manifest' takes a checkpoint or SLEAP folder, or two of them");
    const sk_own_manifest what = {
        .models = {sk_args_at(args, "what", 0), n > 1 ? sk_args_at(args, "what", 1) : NULL},
        .name = sk_args_text(args, "model"),
        .track = sk_args_flag(args, "track")};
    sk_text text = {0};
    char *name = NULL;
    sk_status status = sk_own_manifest_write(&what, &text, &name, err);
    if (status == SK_OK && sk_args_text(args, "output"))
        status = keep_manifest(args, name, &text, err);
    else if (status == SK_OK)
        printf("%s", sk_text_get(&text));
    sk_free(name);
    sk_text_free(&text);
    return status;
}
