/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_parts.h"

#include <math.h>
#include <stdio.h>

static const char shared[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#f3f5f7;--line:#d4d9df;--dim:#59636e}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;--soft:#1e2327;--line:#363d44;"
    "--dim:#9aa4ae}}*{box-sizing:border-box}body{margin:0 auto;max-width:1000px;padding:24px 20px 60px;"
    "background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}h1{font-size:1.7em;margin:.2em "
    "0}"
    "h2{margin:1.8em 0 .5em;font-size:1.2em;border-bottom:1px solid var(--line);padding-bottom:.2em}"
    "p.sub,.note,figcaption{color:var(--dim)}.note,figcaption{font-size:.87em;margin:.4em 0}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:1.2em 0}"
    ".tiles div{background:var(--soft);border-radius:8px;padding:12px 14px}"
    ".tiles b{display:block;font-size:1.6em;line-height:1.2}.tiles span{color:var(--dim);font-size:.87em}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:5px 10px;border-bottom:1px solid var(--line);white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left}th{color:var(--dim);font-weight:600;font-size:.87em}"
    "figure{margin:0}img,svg{max-width:100%;height:auto;display:block}img{border-radius:6px}a{color:inherit}"
    /* a telephone: tables fit */
    "@media(max-width:560px){body{padding:14px 12px 40px}th,td{padding:4px 3px;font-size:11px;"
    "white-space:normal}th{font-size:10px}.tiles{grid-template-columns:1fr 1fr}}";

void sk_page_begin(sk_text *page, const char *title, const char *style)
{
    sk_text_append(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
                         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/><title>");
    sk_text_append_markup(page, title);
    sk_text_append(page, "</title><link rel=\"icon\" href=\"data:,\"/><style>");
    sk_text_append(page, shared);
    sk_text_append(page, style);
    sk_text_append(page, "</style></head><body>\n");
}

void sk_page_tile(sk_text *page, const char *what, const char *format, double value)
{
    char text[48] = "–";
    if (isfinite(value))
        snprintf(text, sizeof text, format, value);
    sk_text_appendf(page, "<div><b>%s</b><span>%s</span></div>\n", text, what);
}
