/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of a report as lines, each list ending with NULL. The build makes report_page.c from
 * report_page.html, .css and .js.
 */
#ifndef MODEL_REPORT_PAGE_H
#define MODEL_REPORT_PAGE_H

extern const char *const report_html[];
extern const char *const report_css[];
extern const char *const report_js[];

#endif
