/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_LABEL_SET_H
#define SK_RESULTS_LABEL_SET_H

#include "results/label_rows.h"

/* Inside results/: pictures and the label text that belongs to them. */

typedef struct sk_files {
    size_t count, capacity;
    char **paths;
    size_t skip; /* bytes of each path that are the folder's own */
} sk_files;

sk_status sk_files_add(sk_files *files, const char *path, sk_error *err) SK_MUST_CHECK;
/* All files below a folder whose name `wanted` likes, sorted. */
sk_status sk_files_list(const char *folder, bool (*wanted)(const char *), sk_files *out,
                        sk_error *err) SK_MUST_CHECK;
void sk_files_sort(sk_files *files);
void sk_files_free(sk_files *files);

/* "a/images/b" -> "a/labels/b": the last part called `from`; *out, fresh memory, is null where there is none. */
sk_status sk_path_swap_part(const char *path, const char *from, const char *to, char **out,
                            sk_error *err) SK_MUST_CHECK;

/* The picture among the set's images, by its name without the ending; its size is read when asked for. */
sk_status sk_label_set_image(sk_annotation_set *set, const char *picture, bool sized, int32_t *image,
                             sk_error *err) SK_MUST_CHECK;
sk_status sk_label_set_read(const char *path, int32_t image, sk_label_rows *rows,
                            sk_error *err) SK_MUST_CHECK;

#endif
