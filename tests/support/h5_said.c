/* SPDX-License-Identifier: Apache-2.0 */
#include "h5_said.h"

#include "base/text.h"
#include "recorded.h"
#include "test.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 60 }; /* values of a dataset that are told one by one */

static void say_type(hid_t type, sk_text *out)
{
    const H5T_class_t class = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    if (class == H5T_STRING) {
        if (H5Tis_variable_str(type) > 0)
            sk_text_appendf(out, "texts of any length, set %d", (int)H5Tget_cset(type));
        else
            sk_text_appendf(out, "texts of %zu bytes, padded %d, set %d", bytes, (int)H5Tget_strpad(type),
                            (int)H5Tget_cset(type));
    } else if (class == H5T_COMPOUND) {
        sk_text_appendf(out, "rows of %zu bytes {", bytes);
        for (int i = 0; i < H5Tget_nmembers(type); i++) {
            char *name = H5Tget_member_name(type, (unsigned)i);
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            sk_text_appendf(out, " %s at %zu: ", name, H5Tget_member_offset(type, (unsigned)i));
            say_type(member, out);
            H5Tclose(member);
            H5free_memory(name);
        }
        sk_text_append(out, " }");
    } else if (class == H5T_ENUM) {
        sk_text_appendf(out, "one of");
        for (int i = 0; i < H5Tget_nmembers(type); i++) {
            char *name = H5Tget_member_name(type, (unsigned)i);
            int8_t value[16] = {0};
            H5Tget_member_value(type, (unsigned)i, value);
            sk_text_appendf(out, " %s=%d", name, value[0]);
            H5free_memory(name);
        }
        sk_text_appendf(out, " in %zu bytes", bytes);
    } else {
        sk_text_appendf(out, "%s%zu%s", class == H5T_FLOAT ? "real" : "whole", 8 * bytes,
                        class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE ? " from 0" : "");
    }
}

static double number_at(hid_t type, const char *at)
{
    double value;
    char room[64];
    const size_t bytes = H5Tget_size(type);
    assert_true(bytes <= sizeof value);
    memcpy(room, at, bytes);
    if (H5Tget_class(type) == H5T_ENUM)
        return (double)*(const int8_t *)at;
    assert_true(H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, room, NULL, H5P_DEFAULT) >= 0);
    memcpy(&value, room, sizeof value);
    return value;
}

/* A value, and what it adds to the sum of all. */
static void say_value(hid_t type, const char *at, sk_text *out, recorded_sum *sum)
{
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_COMPOUND) {
        for (int i = 0; i < H5Tget_nmembers(type); i++) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            say_value(member, at + H5Tget_member_offset(type, (unsigned)i), out, sum);
            H5Tclose(member);
        }
    } else if (class == H5T_STRING) {
        const bool variable = H5Tis_variable_str(type) > 0;
        const char *text = variable ? *(const char *const *)at : at;
        const size_t length =
            variable ? text ? strlen(text) : 0 : strnlen(at, H5Tget_size(type)); /* padded by zeros */
        sk_text_appendf(out, " '%.*s'", (int)length, text ? text : "");
        for (size_t i = 0; i < length; i++)
            recorded_add(sum, (double)text[i]);
    } else {
        const double value = number_at(type, at);
        sk_text_appendf(out, " %.7g", value);
        recorded_add(sum, value);
    }
}

static void say_values(hid_t type, const char *bytes, size_t count, bool rows)
{
    recorded_sum sum = {0};
    sk_text line = {0};
    for (size_t i = 0; i < count; i++) {
        const bool told = count <= TOLD || i < 3;
        sk_text here = {0};
        say_value(type, bytes + i * H5Tget_size(type), told ? &line : &here, &sum);
        sk_text_free(&here);
        if (told && (rows || line.length > 200)) {
            recorded_say("   %s", sk_text_get(&line));
            sk_text_clear(&line);
        }
    }
    if (line.length)
        recorded_say("   %s", sk_text_get(&line));
    recorded_say("    %zu values, sum %.9g", count, sum.sum);
    sk_text_free(&line);
}

static size_t say_space(hid_t space, sk_text *out)
{
    hsize_t dims[8], most[8];
    const int rank = H5Sget_simple_extent_dims(space, dims, most);
    size_t count = 1;
    sk_text_append(out, " [");
    for (int i = 0; i < rank; i++) {
        sk_text_appendf(out, " %llu%s", (unsigned long long)dims[i], most[i] == H5S_UNLIMITED ? "+" : "");
        count *= dims[i];
    }
    sk_text_append(out, " ] ");
    return count;
}

static void say_packing(hid_t dataset, hid_t type, sk_text *out)
{
    hid_t list = H5Dget_create_plist(dataset);
    if (H5Pget_layout(list) == H5D_CHUNKED) {
        hsize_t chunk[8];
        const int rank = H5Pget_chunk(list, 8, chunk);
        sk_text_append(out, ", chunks");
        for (int i = 0; i < rank; i++)
            sk_text_appendf(out, " %llu", (unsigned long long)chunk[i]);
    }
    for (int i = 0; i < H5Pget_nfilters(list); i++) {
        unsigned flags, config, values[8];
        size_t n = 8;
        char name[64];
        const H5Z_filter_t filter =
            H5Pget_filter2(list, (unsigned)i, &flags, &n, values, sizeof name, name, &config);
        sk_text_appendf(out, ", filter %d of %u", (int)filter, n ? values[0] : 0);
    }
    H5D_fill_value_t fill;
    if (H5Pfill_value_defined(list, &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED) {
        char value[64];
        recorded_sum unused = {0};
        assert_true(H5Tget_size(type) <= sizeof value && H5Pget_fill_value(list, type, value) >= 0);
        sk_text_append(out, ", filled with");
        say_value(type, value, out, &unused);
    }
    H5Pclose(list);
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    assert_true(H5Oget_info3(dataset, &info, H5O_INFO_TIME) >= 0);
#else
    H5O_info_t info;
    assert_true(H5Oget_info(dataset, &info) >= 0);
#endif
    sk_text_append(out, info.mtime || info.ctime ? ", with its time" : "");
}

static void say_content(hid_t object, bool attribute, const char *name)
{
    hid_t type = attribute ? H5Aget_type(object) : H5Dget_type(object);
    hid_t space = attribute ? H5Aget_space(object) : H5Dget_space(object);
    sk_text line = {0};
    const size_t count = say_space(space, &line);
    say_type(type, &line);
    if (!attribute)
        say_packing(object, type, &line);
    recorded_say("  %s%s%s", attribute ? "attribute " : "", name, sk_text_get(&line));
    char *bytes = calloc(count + 1, H5Tget_size(type));
    assert_non_null(bytes);
    if (count)
        assert_true((attribute ? H5Aread(object, type, bytes)
                               : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes)) >= 0);
    say_values(type, bytes, count, H5Tget_class(type) == H5T_COMPOUND);
    if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0 && count)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes);
    free(bytes);
    sk_text_free(&line);
    H5Sclose(space);
    H5Tclose(type);
}

static herr_t say_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info;
    (void)context;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    say_content(attribute, true, name);
    H5Aclose(attribute);
    return 0;
}

static herr_t say_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)info;
    (void)context;
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    assert_true(object >= 0);
    if (H5Iget_type(object) == H5I_DATASET)
        say_content(object, false, name);
    else
        recorded_say("  group %s", name);
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, say_attribute, NULL);
    H5Oclose(object);
    return 0;
}

void h5_say(const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        fail_msg("%s is not HDF5", path);
    H5F_info2_t info;
    assert_true(H5Fget_info2(file, &info) >= 0);
    recorded_say(" superblock %u", info.super.version);
    assert_true(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, say_link, NULL) >= 0);
    H5Fclose(file);
}
