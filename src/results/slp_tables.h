/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_SLP_TABLES_H
#define SK_RESULTS_SLP_TABLES_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of SLEAP's labels file as they lie in it, and tables of them that grow. */

#pragma pack(push, 1)
typedef struct slp_frame_row {
    uint64_t frame_id;
    uint32_t video;
    uint64_t frame_idx, instance_id_start, instance_id_end;
} slp_frame_row;

typedef struct slp_instance_row {
    int64_t instance_id;
    uint8_t instance_type; /* 1: predicted */
    uint64_t frame_id;
    uint32_t skeleton;
    int32_t track; /* -1: none */
    int64_t from_predicted;
    float score;
    uint64_t point_id_start, point_id_end;
    float tracking_score;
} slp_instance_row;

typedef struct slp_point_row {
    double x, y;
    int8_t visible, complete;
    double score; /* predicted points only */
} slp_point_row;
#pragma pack(pop)

/* One growing table of the file with the rows not yet written. */
typedef struct slp_table {
    hid_t dataset, type;
    char *rows;
    size_t row_bytes, held;
    uint64_t written;
} slp_table;

hid_t slp_frame_type(void);
hid_t slp_instance_type(void);
hid_t slp_point_type(bool predicted);

hid_t slp_create_dataset(hid_t file, const char *name, hid_t type, hsize_t rows);
/* The table owns `type`. */
bool slp_table_open(hid_t file, const char *name, hid_t type, size_t row_bytes, slp_table *t);
bool slp_table_add(slp_table *t, const void *row); /* written in batches */
bool slp_table_flush(slp_table *t);
void slp_table_close(slp_table *t);

#endif
