/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_REPORT_PAGE_PARTS_H
#define SK_REPORT_PAGE_PARTS_H

#include "base/text.h"

/* What pages for people share: one file that asks nothing of the network, legible in light and dark and on a telephone. Well-formed
 * XML as well, so that tests can parse it. */

/* Up to and with <body>. `title` is a name, not markup; `style`: rules beside those all pages have. */
void sk_page_begin(sk_text *page, const char *title, const char *style);
/* A number that leads, in <div class="tiles">; a dash where it is not finite. */
void sk_page_tile(sk_text *page, const char *what, const char *format, double value);

#endif
