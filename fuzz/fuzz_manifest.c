/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "formats/config.h"
#include "mutate.h"
#include "ros/catalogue.h"
#include "ros/generate.h"

#include <string.h>

#define TEMPLATE(path, text)                                                                                 \
    {                                                                                                        \
        (path), (text), sizeof(text) - 1                                                                     \
    }

/* Everything a manifest can bring into a package, where YAML reads it again. */
static const sk_ros_file templates[] = {
    TEMPLATE("package/all.yaml",
             "a: {{weights|yaml}}\nb: {{second_weights|yaml}}\nc: {{source_repo|yaml}}\n# "
             "{{source_type|comment}}\n"
             "names: {{class_names|yaml}}\npoints: {{keypoint_names|yaml}}\nedges: {{skeleton_edges|yaml}}\n"
             "topics:\n{{#publishers}}\n  - {t: {{.topic|yaml}}, d: {{.description|yaml}}} # "
             "{{.description|comment}}\n"
             "{{/publishers}}\nparameters:\n{{#parameters}}\n  {{.name}}: {{.default|yaml}} # "
             "{{.description|comment}}\n"
             "{{/parameters}}\nend: true\n"),
    {0}};

static void generate(const sk_manifest *m, const char *backend)
{
    const sk_manifest *list[] = {m};
    const sk_catalogue catalogue = {.manifests = (sk_manifest **)(uintptr_t)list, .count = 1};
    const sk_ros_request request = {.model = m->name, .backend = backend, .package_name = "fuzzed"};
    sk_ros_choice choice;
    sk_problems problems = {0};
    sk_ros_package *package = NULL;
    sk_error err = {0};
    bool usage;
    sk_ros_request_check(&catalogue, &request, &choice, &usage, &problems);
    SK_FUZZ_CHECK(!usage);
    if (problems.count == 0) {
        /* what was found good can be generated, and what comes out is whole */
        SK_FUZZ_CHECK(sk_ros_render(&choice, templates, &package, &err) == SK_OK);
        sk_config *read = NULL;
        SK_FUZZ_CHECK(sk_config_open_yaml(package->files[0].text, package->files[0].length, "all.yaml", &read,
                                          &err) == SK_OK);
        SK_FUZZ_CHECK(sk_config_bool_or(sk_config_root(read), "end", false));
        SK_FUZZ_CHECK(sk_config_count(sk_config_get(sk_config_root(read), "topics")) > 0);
        sk_config_close(&read);
        sk_ros_package_close(&package);
        if (sk_ros_render(&choice, sk_ros_files, &package, &err) != SK_OK)
            SK_FUZZ_CHECK(err.code == SK_ERR_INTERNAL); /* built without templates */
        sk_ros_package_close(&package);
    }
    sk_problems_free(&problems);
}

SK_FUZZ_MUTATE(sk_mutate_text)

SK_FUZZ(manifest, data, size)
{
    sk_problems problems = {0};
    sk_manifest *m = NULL;
    sk_error err = {0};
    if (sk_manifest_open((const char *)data, size, "fuzz.yaml", &m, &problems, &err) != SK_OK)
        SK_FUZZ_CHECK(err.code == SK_ERR_MEMORY && !m);
    SK_FUZZ_CHECK(!m == (problems.count > 0));
    if (m) {
        SK_FUZZ_CHECK(m->variants.count > 0 && m->backends.count > 0 && *m->name);
        generate(m, m->backends.items[0]);
    }
    sk_manifest_close(&m);
    sk_problems_free(&problems);
}
