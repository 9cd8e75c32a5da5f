/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ROS_TEMPLATE_H
#define SK_ROS_TEMPLATE_H

#include "base/text.h"
#include "formats/config.h"

/* The language of the files in share/ros/package/. A template is text with tags; values come from a tree (formats/config.h),
 * whose root is a map. Which names it has is in ros/context.h.
 *
 *   {{name}}            a text, number or truth that needs no escaping where it lands: letters, digits, and _ - . / : + ~ and
 *                       single spaces. Anything else is an error that asks for a filter, so that nothing slips through.
 *   {{name|cpp}}        a literal of that language, quotation marks included: "a \"b\"", 0.25, true, {1, 2}
 *   {{name|py}}         'a "b"', 0.25, True, [1, 2]
 *   {{name|yaml}}       "a \"b\"", 0.25, true, [1, 2]
 *   {{name|cmake}}      "a \"b\"" (for CMake and Dockerfiles: $ and \ are escaped, too), 0.25, true
 *   {{name|xml}}        escaped for text and attributes; no quotation marks around it
 *   {{name|md}}         one line of Markdown, its own characters escaped
 *   {{name|code}}       one line between backticks of Markdown (which are the template's)
 *   {{name|sh}}         a word of a shell's command line, in quotation marks where it needs them
 *   {{name|comment}}    one line that is safe in comments of all these languages
 *   {{group.name}}      a value inside a map
 *
 *   {{#list}} … {{/list}}     once for every item; inside, {{.}} is the item and {{.field}} a field of it (or, where it has
 *                             none of that name, of the item around it). {{@index}} counts from 0; {{#@first}} … {{/@first}},
 *                             {{^@last}}, {{/@last}} put commas between items.
 *   {{#name}} … {{/name}}     once when it is true, not 0, not "" and not null; of a map, with {{.field}} for its fields
 *   {{^name}} … {{/name}}     once when it is not, or the list is empty
 *   {{#name=value}} … {{/name}}, {{^name=value}} …    once when its text is that, or is not
 *   {{! a note }}             nothing
 *
 * A line with nothing but a section's tag or a note leaves no line. "{{" begins a tag only where a letter or one of . @ # ^ / !
 * follows at once: write "{ {" where C++ means it. A name that is not there is an error with file and line, also in the part of
 * a section that is written; in parts that are left out only the structure is checked. */

/* Appends what `length` bytes of template give to *out. `file` names the template in errors. On failure *out holds a part. */
sk_status sk_template_render(const char *text, size_t length, const char *file, const sk_config_value *root,
                             sk_text *out, sk_error *err) SK_MUST_CHECK;

/* One value as a filter writes it ("" = no filter). SK_ERR_FORMAT where the value has no such form; the error's text does not
 * name the value. */
sk_status sk_template_value(const sk_config_value *value, const char *filter, sk_text *out,
                            sk_error *err) SK_MUST_CHECK;

#endif
