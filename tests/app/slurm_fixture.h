/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_APP_SLURM_FIXTURE_H
#define SK_TESTS_APP_SLURM_FIXTURE_H

#include "batch_fixture.h"

#include "app/batch_slurm.h"
#include "app/batch_slurm_internal.h"

#include <stdlib.h>

/* SLURM's programs as lines of shell, in the folder bin of the test; what they are asked is written into the file "asked". */

static char searched[8192]; /* PATH with the programs of this test in front */

static inline void fake(const char *name, const char *body)
{
    char path[4096], text[8192];
    snprintf(path, sizeof path, "%s/bin/%s", folder, name);
    snprintf(text, sizeof text, "#!/bin/sh\necho \"%s $*\" >>'%s/asked'\n%s\n", name, folder, body);
    put(path, text);
    assert_int_equal(chmod(path, 0755), 0);
}

static inline void usual_programs(void)
{
    put("number", "100");
    put("states", "");
    (void)unlink("asked");
    fake("scontrol", "echo 'MaxArraySize            = 1001'");
    fake("sbatch", "n=$(($(cat number) + 1)); printf %s $n >number; echo $n");
    fake("squeue", "cat states");
    fake("sacct", "sed 's/ /|/g' states");
    fake("scancel", ":");
}

static inline const char *text_in(const char *path)
{
    static char text[8192];
    char *data = NULL;
    size_t length = 0;
    if (sk_file_read(path, sizeof text - 1, &data, &length, &err) != SK_OK)
        return "-";
    snprintf(text, sizeof text, "%s", data);
    sk_free(data);
    return text;
}

/* For main: the folder of the test is the current one, and its programs come first. */
static inline bool begin_slurm(void)
{
    char path[4096];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/bin", folder);
    snprintf(searched, sizeof searched, "%s:%.4000s", path,
             getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    return chdir(folder) == 0 && mkdir(path, 0755) == 0 && setenv("PATH", searched, 1) == 0;
}

#endif
