/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/ros_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

/* What the package's name becomes: a C++ namespace, a Python module, CMake targets, a folder among other packages. */
static const char *const cpp_words[] = {
    "alignas",   "alignof",   "and",      "asm",      "auto",     "bitand",  "bitor",   "bool",
    "break",     "case",      "catch",    "char",     "class",    "compl",   "concept", "const",
    "constexpr", "consteval", "continue", "decltype", "default",  "delete",  "do",      "double",
    "else",      "enum",      "explicit", "export",   "extern",   "false",   "float",   "for",
    "friend",    "goto",      "if",       "inline",   "int",      "long",    "mutable", "namespace",
    "new",       "noexcept",  "not",      "nullptr",  "operator", "or",      "private", "protected",
    "public",    "register",  "requires", "return",   "short",    "signed",  "sizeof",  "static",
    "struct",    "switch",    "template", "this",     "throw",    "true",    "try",     "typedef",
    "typeid",    "typename",  "union",    "unsigned", "using",    "virtual", "void",    "volatile",
    "while",     "xor",       "std",      "linux",    "unix",     "main",    "errno",   NULL};
static const char *const python_words[] = {"as",     "assert", "async", "await",   "def",      "del",
                                           "elif",   "except", "exec",  "finally", "from",     "global",
                                           "import", "in",     "is",    "lambda",  "nonlocal", "pass",
                                           "print",  "raise",  "with",  "yield",   NULL};
static const char *const target_words[] = {"all",       "clean",     "help",   "install",    "package",
                                           "test",      "tests",     "depend", "edit_cache", "rebuild_cache",
                                           "test_node", "uninstall", "src",    "include",    NULL};
static const char *const packages[] = {"rclcpp",
                                       "rclcpp_components",
                                       "rclcpp_lifecycle",
                                       "lifecycle_msgs",
                                       "std_msgs",
                                       "sensor_msgs",
                                       "vision_msgs",
                                       "diagnostic_msgs",
                                       "builtin_interfaces",
                                       "geometry_msgs",
                                       "ament_cmake",
                                       "rosidl_default_generators",
                                       "rosidl_default_runtime",
                                       "skitter",
                                       "skitter_msgs",
                                       NULL};

static bool is_among(const char *const *words, const char *name)
{
    for (; *words; words++)
        if (strcmp(*words, name) == 0)
            return true;
    return false;
}

/* The nearest name that would do; "" when there is nothing left of it. */
static void mend(const char *name, char *out, size_t capacity)
{
    size_t n = 0;
    for (; *name && n + 1 < capacity && n < SK_ROS_PACKAGE_LENGTH; name++) {
        char c = is_letter(*name) ? (char)tolower((unsigned char)*name) : is_digit(*name) ? *name : '_';
        if ((n == 0 && !is_lower(c)) || (c == '_' && out[n - 1] == '_'))
            continue;
        out[n++] = c;
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    out[n] = '\0';
}

bool sk_ros_package_name(const char *name, char *why, size_t capacity)
{
    const size_t length = strlen(name);
    bool shape = length > 0 && is_lower(name[0]) && name[length - 1] != '_' && !strstr(name, "__");
    for (size_t i = 0; i < length; i++)
        shape = shape && (is_lower(name[i]) || is_digit(name[i]) || name[i] == '_');
    if (!shape) {
        char mended[SK_ROS_PACKAGE_LENGTH + 1] = "";
        mend(name, mended, sizeof mended);
        char reason[2];
        const bool good = strlen(mended) > 1 && sk_ros_package_name(mended, reason, sizeof reason);
        snprintf(
            why, capacity,
            "a ROS package name has lower-case letters, digits and single underscores, begins with a letter "
            "and does not end with an underscore%s%s%s",
            good ? ": try '" : "", good ? mended : "", good ? "'" : "");
        return false;
    }
    const char *whose = length < 2                       ? "one character is too short"
                        : length > SK_ROS_PACKAGE_LENGTH ? "it is longer than 80 characters"
                        : is_among(cpp_words, name)      ? "C++ has this word for something else"
                        : is_among(python_words, name)   ? "Python has this word for something else"
                        : is_among(target_words, name)   ? "the build has this word for something else"
                        : is_among(packages, name)       ? "a package that it depends on is called so"
                                                         : NULL;
    if (whose)
        snprintf(why, capacity, "%s", whose);
    return !whose;
}

bool sk_ros_topic_name(const char *name)
{
    if (name[0] == '~' && name[1] == '/')
        name += 2;
    else if (name[0] == '/')
        name++;
    if (strlen(name) > 200 || strstr(name, "__"))
        return false;
    for (bool first = true;; name++) {
        if (first && !is_letter(*name) && *name != '_')
            return false;
        if (!*name)
            return true;
        if (!is_letter(*name) && !is_digit(*name) && *name != '_' && *name != '/')
            return false;
        first = *name == '/';
    }
}

bool sk_ros_parameter_name(const char *name)
{
    if (strlen(name) > 200 || (!is_letter(name[0]) && name[0] != '_'))
        return false;
    for (; *name; name++)
        if (!is_letter(*name) && !is_digit(*name) && *name != '_' && (*name != '.' || !is_letter(name[1])))
            return false;
    return true;
}

bool sk_ros_type_name(const char *name)
{
    if (strlen(name) > 200 || !is_letter(name[0]))
        return false;
    for (; *name; name++)
        if (!is_letter(*name) && !is_digit(*name) && *name != '_' && (*name != '/' || !is_letter(name[1])))
            return false;
    return true;
}

void sk_ros_camel_case(const char *name, sk_text *out)
{
    bool first = true;
    for (; *name; name++) {
        if (*name == '_') {
            first = true;
            continue;
        }
        const char c = first ? (char)toupper((unsigned char)*name) : *name;
        sk_text_append_bytes(out, &c, 1);
        first = false;
    }
}
