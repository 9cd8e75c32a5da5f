/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/dds_api.h"

#include <dlfcn.h>
#include <string.h>

sk_dds_library sk_dds;

/* Debian's name, those of other systems and ROS installations, and the plain one of a -dev package. */
static const char *const sonames[] = {"libddsc.so.0debian", "libddsc.so.0", "libddsc.so.11", "libddsc.so",
                                      NULL};
static const char *const folders[] = {"/opt/ros/*/lib/*-linux-gnu", "/opt/ros/*/lib", NULL};

static const sk_library_wish wish = {
    .title = "Eclipse Cyclone DDS",
    .variable = "SKITTER_DDS_LIBRARY",
    .file = "libddsc.so",
    .sonames = sonames,
    .package = "cyclonedds/.libs",
    .folders = folders,
    .remedy = "apt-get install libddsc0debian (Debian 12; elsewhere libddsc0t64 or cyclonedds), or a ROS 2 "
              "installation with ros-DISTRO-cyclonedds; or name the file by SKITTER_DDS_LIBRARY"};

/* Which instructions the library knows is told by what came with them: booleans as a kind of their own and
 * dds_qset_data_representation are there since 0.9. Older ones would take a message for another. */
static sk_status fill(void *handle, void *api, sk_error *err)
{
    sk_dds_library *library = api;
    const char *missing = NULL;
#define F(result, name, parameters)                                                                          \
    {                                                                                                        \
        void *symbol = dlsym(handle, #name);                                                                 \
        if (!symbol && !missing)                                                                             \
            missing = #name;                                                                                 \
        memcpy(&library->name, &symbol, sizeof symbol);                                                      \
    }
    SK_DDS_FUNCTIONS(F)
#undef F
    if (missing)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s has no %s: Cyclone DDS 0.9.1 to 0.10.5 and 11.0 are known to work here; take one of "
            "them: %s",
            library->path, missing, wish.remedy);
    library->dds_set_log_mask(1 | 2 | 4); /* fatal, errors, warnings */
    return SK_OK;
}

sk_status sk_dds_load(sk_error *err)
{
    static sk_library_once once = {.lock = PTHREAD_MUTEX_INITIALIZER};
    sk_status status = sk_library_load(&wish, &once, &sk_dds, sizeof sk_dds, sk_dds.path, fill, err);
    return status == SK_ERR_NOT_FOUND ? SK_ERR_UNSUPPORTED : status;
}
