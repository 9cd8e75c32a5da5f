/* SPDX-License-Identifier: Apache-2.0 */
#include "results/hdf5_output.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* What could not be written, newest first. */
typedef struct block {
    struct block *next;
    haddr_t at;
    size_t bytes;
    char data[];
} block;

struct sk_hdf5_output {
    int file;
    int error;
    block *kept;
};

/* The library's handle of the file; begins with its own part. */
typedef struct driver_file {
    H5FD_t base;
    sk_hdf5_output *output;
    haddr_t eoa, eof;
} driver_file;

typedef struct driver_info {
    sk_hdf5_output *output;
} driver_info;

static hid_t driver;

static H5FD_t *open_driver(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name;
    (void)flags;
    (void)most;
    const driver_info *info = H5Pget_driver_info(access);
    driver_file *f = info ? sk_calloc(1, sizeof *f) : NULL;
    if (f)
        f->output = info->output;
    return (H5FD_t *)f;
}

static herr_t close_driver(H5FD_t *base)
{
    sk_free(base);
    return 0;
}

/* What the library's own driver for files does, so that files are laid out alike. */
static herr_t query_driver(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                 H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_eoa(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)base)->eoa;
}

static herr_t set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t eoa)
{
    (void)type;
    ((driver_file *)base)->eoa = eoa;
    return 0;
}

static haddr_t get_eof(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)base)->eof;
}

/* The newest of what is kept covers the rest. */
static void lay_over(const block *b, haddr_t at, size_t bytes, char *data)
{
    if (!b)
        return;
    lay_over(b->next, at, bytes, data);
    haddr_t begin = b->at > at ? b->at : at;
    haddr_t end = b->at + b->bytes < at + bytes ? b->at + b->bytes : at + bytes;
    if (begin < end)
        memcpy(data + (begin - at), b->data + (begin - b->at), (size_t)(end - begin));
}

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *data)
{
    (void)type;
    (void)transfer;
    driver_file *f = (driver_file *)base;
    size_t used = sk_read_all_at(f->output->file, data, bytes, (int64_t)at);
    memset((char *)data + used, 0, bytes - used);
    lay_over(f->output->kept, at, bytes, data);
    return 0;
}

static void keep(sk_hdf5_output *o, haddr_t at, const void *data, size_t bytes)
{
    block *b = sk_malloc(sizeof *b + bytes);
    if (!b)
        return; /* the file is lost in any case; the library may find zeros */
    b->next = o->kept;
    b->at = at;
    b->bytes = bytes;
    memcpy(b->data, data, bytes);
    o->kept = b;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                          const void *data)
{
    (void)type;
    (void)transfer;
    driver_file *f = (driver_file *)base;
    if (!f->output->error && sk_write_all_at(f->output->file, data, bytes, (int64_t)at) < bytes)
        f->output->error = errno ? errno : ENOSPC;
    if (f->output->error)
        keep(f->output, at, data, bytes);
    if (at + bytes > f->eof)
        f->eof = at + bytes;
    return 0;
}

static herr_t cut_file(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer;
    (void)closing;
    driver_file *f = (driver_file *)base;
    if (!f->output->error && f->eoa != f->eof && ftruncate(f->output->file, (off_t)f->eoa) != 0)
        f->output->error = errno;
    f->eof = f->eoa;
    return 0;
}

static bool register_driver(void)
{
    static H5FD_class_t kind = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        .value = 511, /* of those for everybody's own use */
#endif
        .name = "skitter",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_WEAK,
        .fapl_size = sizeof(driver_info),
        .open = open_driver,
        .close = close_driver,
        .query = query_driver,
        .get_eoa = get_eoa,
        .set_eoa = set_eoa,
        .get_eof = get_eof,
        .read = read_bytes,
        .write = write_bytes,
        .truncate = cut_file,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    if (driver <= 0) /* under the library's lock: sk_hdf5_enter */
        driver = H5FDregister(&kind);
    return driver > 0;
}

sk_status sk_hdf5_output_open(const char *path, hid_t access, sk_hdf5_output **out, hid_t *file,
                              sk_error *err)
{
    *out = NULL;
    *file = -1;
    sk_hdf5_output *o = sk_calloc(1, sizeof *o);
    if (!o)
        return sk_fail_memory(err, sizeof *o);
    o->file = -1;
    sk_status status = sk_file_open_own(path, O_RDWR | O_CREAT | O_TRUNC, &o->file, err);
    const driver_info info = {o};
    if (status == SK_OK) {
        if (register_driver() && H5Pset_driver(access, driver, &info) >= 0)
            *file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        if (*file < 0)
            status = sk_fail(err, SK_ERR_IO, "%s: HDF5 cannot begin the file", path);
    }
    return SK_HAND_OVER(status, o, out, sk_hdf5_output_close);
}

sk_status sk_hdf5_output_check(const sk_hdf5_output *o, const char *path, const char *what, bool ok,
                               sk_error *err)
{
    const int error = o ? o->error : 0;
    if (ok && !error)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_IO,
        "%s: %s failed: %s. What was done before is kept; make room and run the same command again to "
        "continue",
        path, what, error ? strerror(error) : "HDF5 gives no reason");
}

hid_t sk_hdf5_create_dataset(hid_t file, const char *name, hid_t type, hid_t space, hid_t list)
{
    hid_t own = list == H5P_DEFAULT ? H5Pcreate(H5P_DATASET_CREATE) : list;
    H5Pset_obj_track_times(own, 0);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, own, H5P_DEFAULT);
    if (own != list)
        H5Pclose(own);
    return dataset;
}

void sk_hdf5_output_close(sk_hdf5_output **pointer)
{
    SK_TAKE_OR_RETURN(o, pointer);
    if (o->file >= 0)
        close(o->file);
    for (block *b = o->kept, *next; b; b = next) {
        next = b->next;
        sk_free(b);
    }
    sk_free(o);
}
