/* SPDX-License-Identifier: Apache-2.0 */
#include "h5_writer.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t must(int64_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "h5_writer: %s failed\n", what);
        exit(1);
    }
    return id;
}

h5_writer h5_create(const char *path)
{
    return (h5_writer){must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path)};
}

void h5_finish(h5_writer *writer)
{
    must(H5Fclose(writer->id), "closing");
    writer->id = -1;
}

static hid_t make_groups(void)
{
    hid_t plist = must(H5Pcreate(H5P_LINK_CREATE), "link property");
    must(H5Pset_create_intermediate_group(plist, 1), "intermediate groups");
    return plist;
}

static hid_t make_space(int rank, const int64_t *dims)
{
    hsize_t sizes[8];
    for (int i = 0; i < rank; i++)
        sizes[i] = (hsize_t)dims[i];
    return must(rank ? H5Screate_simple(rank, sizes, NULL) : H5Screate(H5S_SCALAR), "space");
}

static void put(h5_writer *writer, const char *path, hid_t type, hid_t plist, const void *data, int rank,
                const int64_t *dims)
{
    hid_t links = make_groups(), space = make_space(rank, dims);
    hid_t dataset = must(H5Dcreate2(writer->id, path, type, space, links, plist, H5P_DEFAULT), path);
    if (data)
        must(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(links);
}

void h5_put_f32(h5_writer *writer, const char *path, const float *data, int rank, const int64_t *dims)
{
    put(writer, path, H5T_NATIVE_FLOAT, H5P_DEFAULT, data, rank, dims);
}

void h5_put_f32_gzip(h5_writer *writer, const char *path, const float *data, int rank, const int64_t *dims)
{
    hsize_t sizes[8];
    for (int i = 0; i < rank; i++)
        sizes[i] = (hsize_t)dims[i];
    hid_t plist = must(H5Pcreate(H5P_DATASET_CREATE), "dataset property");
    must(H5Pset_chunk(plist, rank, sizes), "chunks");
    must(H5Pset_deflate(plist, 4), "gzip");
    put(writer, path, H5T_NATIVE_FLOAT, plist, data, rank, dims);
    H5Pclose(plist);
}

void h5_put_f32_chunked(h5_writer *writer, const char *path, const float *data, int rank, const int64_t *dims,
                        const int64_t *chunk)
{
    hsize_t sizes[8];
    for (int i = 0; i < rank; i++)
        sizes[i] = (hsize_t)chunk[i];
    hid_t plist = must(H5Pcreate(H5P_DATASET_CREATE), "dataset property");
    must(H5Pset_chunk(plist, rank, sizes), "chunks");
    must(H5Pset_shuffle(plist), "shuffle");
    must(H5Pset_deflate(plist, 4), "gzip");
    must(H5Pset_fletcher32(plist), "checksum");
    put(writer, path, H5T_NATIVE_FLOAT, plist, data, rank, dims);
    H5Pclose(plist);
}

void h5_put_i64(h5_writer *writer, const char *path, const int64_t *data, int rank, const int64_t *dims)
{
    put(writer, path, H5T_STD_I64BE, H5P_DEFAULT, NULL, rank, dims);
    hid_t dataset = must(H5Dopen2(writer->id, path, H5P_DEFAULT), path);
    must(H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path);
    H5Dclose(dataset);
}

void h5_put_hollow(h5_writer *writer, const char *path, int rank, const int64_t *dims)
{
    hsize_t chunk[8];
    for (int i = 0; i < rank; i++)
        chunk[i] = 1;
    hid_t plist = must(H5Pcreate(H5P_DATASET_CREATE), "dataset property");
    must(H5Pset_chunk(plist, rank, chunk), "chunks");
    put(writer, path, H5T_NATIVE_FLOAT, plist, NULL, rank, dims);
    H5Pclose(plist);
}

void h5_put_f32_filled(h5_writer *writer, const char *path, const float *row, float fill, int64_t rows,
                       int64_t columns)
{
    const hsize_t chunk[2] = {1, (hsize_t)columns}, start[2] = {0, 0};
    hid_t plist = must(H5Pcreate(H5P_DATASET_CREATE), "dataset property");
    must(H5Pset_chunk(plist, 2, chunk), "chunks");
    must(H5Pset_fill_value(plist, H5T_NATIVE_FLOAT, &fill), "fill value");
    put(writer, path, H5T_NATIVE_FLOAT, plist, NULL, 2, (const int64_t[]){rows, columns});
    hid_t dataset = must(H5Dopen2(writer->id, path, H5P_DEFAULT), path);
    hid_t space = must(H5Dget_space(dataset), path), memory = must(H5Screate_simple(2, chunk, NULL), path);
    if (row) {
        must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, chunk, NULL), path);
        must(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, row), path);
    }
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Pclose(plist);
}

void h5_put_external(h5_writer *writer, const char *path, const char *other_file, int64_t count)
{
    hid_t plist = must(H5Pcreate(H5P_DATASET_CREATE), "dataset property");
    must(H5Pset_external(plist, other_file, 0, (hsize_t)count), "external");
    put(writer, path, H5T_NATIVE_UINT8, plist, NULL, 1, &count);
    H5Pclose(plist);
}

void h5_put_group(h5_writer *writer, const char *path)
{
    hid_t links = make_groups();
    H5Gclose(must(H5Gcreate2(writer->id, path, links, H5P_DEFAULT, H5P_DEFAULT), path));
    H5Pclose(links);
}

void h5_put_external_link(h5_writer *writer, const char *path, const char *other_file)
{
    must(H5Lcreate_external(other_file, "/", writer->id, path, H5P_DEFAULT, H5P_DEFAULT), path);
}

static void put_texts(h5_writer *writer, const char *object, const char *name, const char *const *texts,
                      size_t count, int variable, int scalar)
{
    size_t width = 1;
    for (size_t i = 0; i < count; i++)
        width = strlen(texts[i]) > width ? strlen(texts[i]) : width;
    hid_t type = H5Tcopy(H5T_C_S1);
    must(H5Tset_size(type, variable ? H5T_VARIABLE : width), "text type");
    H5Tset_strpad(type, variable ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
    int64_t dims = (int64_t)count;
    hid_t space = make_space(scalar ? 0 : 1, &dims);
    hid_t attribute =
        must(H5Acreate_by_name(writer->id, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
             name);
    if (variable) {
        must(H5Awrite(attribute, type, texts), name);
    } else {
        char *flat = calloc(count + 1, width);
        for (size_t i = 0; i < count; i++)
            memcpy(flat + i * width, texts[i], strlen(texts[i]));
        must(H5Awrite(attribute, type, flat), name);
        free(flat);
    }
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

void h5_attr_text(h5_writer *writer, const char *object, const char *name, const char *text, int variable)
{
    put_texts(writer, object, name, &text, 1, variable, 1);
}

void h5_attr_texts(h5_writer *writer, const char *object, const char *name, const char *const *texts,
                   size_t count, int variable)
{
    put_texts(writer, object, name, texts, count, variable, 0);
}

void h5_attr_f64(h5_writer *writer, const char *object, const char *name, double value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = must(H5Acreate_by_name(writer->id, object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                             H5P_DEFAULT, H5P_DEFAULT),
                           name);
    must(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), name);
    H5Aclose(attribute);
    H5Sclose(space);
}

/* Of the kind of `newest`, those made before it that are open still: the library counts its numbers upwards. */
static long long still_open(hid_t newest)
{
    const hid_t kind = newest & ~(((hid_t)1 << 56) - 1);
    long long open = 0;
    for (hid_t id = kind; id < newest; id++)
        open += H5Iis_valid(id) > 0;
    return open;
}

long long h5_open_things(void)
{
    hid_t space = must(H5Screate(H5S_SCALAR), "space"), list = must(H5Pcreate(H5P_DATASET_CREATE), "list");
    const long long open = still_open(space) + still_open(list);
    H5Pclose(list);
    H5Sclose(space);
    return open + (long long)H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
}
