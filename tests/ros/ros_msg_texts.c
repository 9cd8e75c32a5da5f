/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/ros_types.h"

#include <stdio.h>
#include <string.h>

/* ros_msg_texts FOLDER: every message that skitter speaks as FOLDER/PACKAGE/NAME.msg, for the double of rclcpp. */

static sk_status put(const char *folder, const sk_msg_type *type, sk_error *err)
{
    const char *name = strstr(type->name, "/msg/");
    if (!name || strncmp(type->name, "skitter_msgs/", 13) == 0)
        return SK_OK;
    sk_text path = {0};
    sk_text_appendf(&path, "%s/%.*s", folder, (int)(name - type->name), type->name);
    sk_status status = sk_folder_make(sk_text_get(&path), err);
    sk_text_appendf(&path, "/%s.msg", name + strlen("/msg/"));
    if (status == SK_OK)
        status = sk_file_replace(sk_text_get(&path), type->text, strlen(type->text), err);
    sk_text_free(&path);
    return status;
}

int main(int argc, char **argv)
{
    sk_error err = {0};
    if (argc != 2)
        return 2;
    for (size_t i = 0; sk_msg_type_at(i); i++)
        if (put(argv[1], sk_msg_type_at(i), &err) != SK_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
    return 0;
}
