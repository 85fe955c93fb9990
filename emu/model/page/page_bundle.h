/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page as lines, each list ending with NULL. The build makes page_bundle.c: the script is all
 * modules of web/ behind each other, without what they import and export.
 */
#ifndef MODEL_PAGE_BUNDLE_H
#define MODEL_PAGE_BUNDLE_H

extern const char *const page_html[];  /* of the file */
extern const char *const page_shell[]; /* what a server gives: its parts stand beside it */
extern const char *const page_css[];
extern const char *const page_js[];
extern const char *const page_js_sha256; /* of the script, for its Content-Security-Policy */

#endif
