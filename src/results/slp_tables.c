/* SPDX-License-Identifier: Apache-2.0 */
#include "results/slp_tables.h"

#include "base/memory.h"
#include "formats/hdf5_file.h"
#include "results/hdf5_output.h"

#include <string.h>

#define BATCH 512

/* --- types --- */

static hid_t bool_type(void)
{
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    int8_t value = 0;
    H5Tenum_insert(type, "FALSE", &value);
    value = 1;
    H5Tenum_insert(type, "TRUE", &value);
    return type;
}

hid_t slp_frame_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(slp_frame_row));
    H5Tinsert(type, "frame_id", HOFFSET(slp_frame_row, frame_id), H5T_NATIVE_UINT64);
    H5Tinsert(type, "video", HOFFSET(slp_frame_row, video), H5T_NATIVE_UINT32);
    H5Tinsert(type, "frame_idx", HOFFSET(slp_frame_row, frame_idx), H5T_NATIVE_UINT64);
    H5Tinsert(type, "instance_id_start", HOFFSET(slp_frame_row, instance_id_start), H5T_NATIVE_UINT64);
    H5Tinsert(type, "instance_id_end", HOFFSET(slp_frame_row, instance_id_end), H5T_NATIVE_UINT64);
    return type;
}

hid_t slp_instance_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(slp_instance_row));
    H5Tinsert(type, "instance_id", HOFFSET(slp_instance_row, instance_id), H5T_NATIVE_INT64);
    H5Tinsert(type, "instance_type", HOFFSET(slp_instance_row, instance_type), H5T_NATIVE_UINT8);
    H5Tinsert(type, "frame_id", HOFFSET(slp_instance_row, frame_id), H5T_NATIVE_UINT64);
    H5Tinsert(type, "skeleton", HOFFSET(slp_instance_row, skeleton), H5T_NATIVE_UINT32);
    H5Tinsert(type, "track", HOFFSET(slp_instance_row, track), H5T_NATIVE_INT32);
    H5Tinsert(type, "from_predicted", HOFFSET(slp_instance_row, from_predicted), H5T_NATIVE_INT64);
    H5Tinsert(type, "score", HOFFSET(slp_instance_row, score), H5T_NATIVE_FLOAT);
    H5Tinsert(type, "point_id_start", HOFFSET(slp_instance_row, point_id_start), H5T_NATIVE_UINT64);
    H5Tinsert(type, "point_id_end", HOFFSET(slp_instance_row, point_id_end), H5T_NATIVE_UINT64);
    H5Tinsert(type, "tracking_score", HOFFSET(slp_instance_row, tracking_score), H5T_NATIVE_FLOAT);
    return type;
}

hid_t slp_point_type(bool predicted)
{
    hid_t boolean = bool_type();
    hid_t type = H5Tcreate(H5T_COMPOUND, predicted ? sizeof(slp_point_row) : HOFFSET(slp_point_row, score));
    H5Tinsert(type, "x", HOFFSET(slp_point_row, x), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "y", HOFFSET(slp_point_row, y), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "visible", HOFFSET(slp_point_row, visible), boolean);
    H5Tinsert(type, "complete", HOFFSET(slp_point_row, complete), boolean);
    if (predicted)
        H5Tinsert(type, "score", HOFFSET(slp_point_row, score), H5T_NATIVE_DOUBLE);
    H5Tclose(boolean);
    return type;
}

/* --- tables --- */

hid_t slp_create_dataset(hid_t file, const char *name, hid_t type, hsize_t rows)
{
    hsize_t unlimited = H5S_UNLIMITED, chunk = rows ? rows : BATCH;
    hid_t space = H5Screate_simple(1, &rows, &unlimited);
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, 1, &chunk);
    hid_t dataset = sk_hdf5_create_dataset(file, name, type, space, plist);
    H5Pclose(plist);
    H5Sclose(space);
    return dataset;
}

bool slp_table_open(hid_t file, const char *name, hid_t type, size_t row_bytes, slp_table *t)
{
    t->type = type;
    t->row_bytes = row_bytes;
    t->rows = sk_malloc(BATCH * row_bytes);
    t->dataset = slp_create_dataset(file, name, type, 0);
    return t->rows && t->dataset >= 0;
}

bool slp_table_flush(slp_table *t)
{
    if (t->held == 0)
        return true;
    hsize_t count = t->held, start = t->written, total = start + count;
    if (H5Dset_extent(t->dataset, &total) < 0)
        return false;
    hid_t file_space = H5Dget_space(t->dataset), memory_space = H5Screate_simple(1, &count, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    bool ok = H5Dwrite(t->dataset, t->type, memory_space, file_space, H5P_DEFAULT, t->rows) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);
    t->written = total;
    t->held = 0;
    return ok;
}

bool slp_table_add(slp_table *t, const void *row)
{
    memcpy(t->rows + t->held++ * t->row_bytes, row, t->row_bytes);
    return t->held < BATCH || slp_table_flush(t);
}

void slp_table_close(slp_table *t)
{
    if (t->dataset > 0)
        H5Dclose(t->dataset);
    if (t->type > 0)
        H5Tclose(t->type);
    sk_free(t->rows);
}
