/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/generate.h"

#include "base/object.h"
#include "ros/context.h"
#include "ros/template.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX     "package/"
#define MAX_FILE   ((size_t)16 << 20)
#define MAX_FILES  1000
#define STANDS_FOR "PACKAGE"

/* PACKAGE in a template's path is the package's name. */
static void name_file(const char *template_path, const char *package, sk_text *out)
{
    for (const char *at = template_path; *at;) {
        const char *next = strstr(at, STANDS_FOR);
        sk_text_append_bytes(out, at, next ? (size_t)(next - at) : strlen(at));
        if (!next)
            return;
        sk_text_append(out, package);
        at = next + strlen(STANDS_FOR);
    }
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static sk_status add_file(sk_ros_package *p, sk_text *path, sk_text *text, sk_error *err)
{
    SK_TRY(
        sk_array_reserve((void **)&p->files, &p->capacity, p->count + 1, sizeof *p->files, MAX_FILES, err));
    struct sk_ros_package_file file = {.length = text->length};
    sk_status status = sk_text_take(path, &file.path, err);
    if (status == SK_OK)
        status = sk_text_take(text, &file.text, err);
    if (status == SK_OK)
        p->files[p->count++] = file;
    else
        sk_free_all(file.path, file.text);
    return status;
}

static sk_status render_file(sk_ros_package *p, const sk_ros_file *f, const sk_config_value *values,
                             sk_error *err)
{
    sk_text path = {0}, text = {.limit = MAX_FILE};
    sk_status status = sk_template_render(f->text, f->n_bytes, f->name, values, &text, err);
    name_file(f->name + strlen(PREFIX), p->name, &path);
    if (status == SK_OK)
        status = sk_text_status(&path, err);
    if (status == SK_OK && !is_blank(sk_text_get(&text)))
        status = add_file(p, &path, &text, err);
    sk_text_free(&path);
    sk_text_free(&text);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct sk_ros_package_file *)a)->path,
                  ((const struct sk_ros_package_file *)b)->path);
}

sk_status sk_ros_render(const sk_ros_choice *choice, const sk_ros_file *templates, sk_ros_package **out,
                        sk_error *err)
{
    *out = NULL;
    sk_config *context = NULL;
    sk_ros_package *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    sk_status status = SK_OK;
    if (!(p->name = sk_strdup(choice->package_name)))
        status = sk_fail_memory(err, strlen(choice->package_name));
    if (status == SK_OK)
        status = sk_ros_context(choice, &context, err);
    for (const sk_ros_file *f = templates; status == SK_OK && f->name; f++)
        if (strncmp(f->name, PREFIX, strlen(PREFIX)) == 0)
            status = render_file(p, f, sk_config_root(context), err);
    if (status == SK_OK && p->count == 0)
        status = sk_fail(err, SK_ERR_INTERNAL, "this skitter was built without the package's templates");
    if (status == SK_OK)
        qsort(p->files, p->count, sizeof *p->files, by_path);
    sk_config_close(&context);
    return SK_HAND_OVER(status, p, out, sk_ros_package_close);
}

void sk_ros_package_close(sk_ros_package **package)
{
    SK_TAKE_OR_RETURN(p, package);
    for (size_t i = 0; i < p->count; i++)
        sk_free_all(p->files[i].path, p->files[i].text);
    sk_free_all(p->files, p->name, p);
}
