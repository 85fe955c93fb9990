/* SPDX-License-Identifier: BSD-2-Clause */
/* openapi.json as lines, ending with NULL; the build makes api_file.c of it. */
#ifndef SERVE_API_FILE_H
#define SERVE_API_FILE_H

extern const char *const api_file[];

#endif
