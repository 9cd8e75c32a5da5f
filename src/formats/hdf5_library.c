/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5_file.h"

#include <hdf5.h>
#include <pthread.h>

/* libhdf5 is used for writing only: files from elsewhere are read by our own code. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t saved_printer;
static void *saved_printer_data;
static unsigned saved_plugins;

void sk_hdf5_enter(void)
{
    pthread_mutex_lock(&lock);
    H5open();
    H5Eget_auto2(H5E_DEFAULT, &saved_printer, &saved_printer_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5PLget_loading_state(&saved_plugins) < 0)
        saved_plugins = H5PL_ALL_PLUGIN;
    H5PLset_loading_state(0);
}

void sk_hdf5_leave(void)
{
    H5PLset_loading_state(saved_plugins);
    H5Eset_auto2(H5E_DEFAULT, saved_printer, saved_printer_data);
    pthread_mutex_unlock(&lock);
}
