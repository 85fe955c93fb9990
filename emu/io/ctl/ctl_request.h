/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Meaning of uhcactl's requests (ctl.h).
 */
#ifndef IO_CTL_REQUEST_H
#define IO_CTL_REQUEST_H

#include <jansson.h>
#include <stddef.h>

struct ctl_file_request;
struct ctl_outcome;
struct io_services;

/*
 * Carries out one request of len bytes (without its newline). Returns the reply's line, newline
 * included, which the caller frees; NULL when there is no memory. Waits for files.
 */
char *io_ctl_request(const struct io_services *h, const char *line, size_t len);

/*
 * The same without waiting: NULL with *file_request set when the reply comes later; the caller says
 * in the file_request who gets it.
 */
char *io_ctl_begin(const struct io_services *h, const char *line, size_t len,
		   struct ctl_file_request **file_request);

/*
 * The reply's line for a result, which it takes over, or for NULL and the reason; length: of it, or
 * NULL.
 */
char *io_ctl_line(json_t *result, struct ctl_outcome *o, size_t *length);

/* The reply that says what is wrong. As above. */
char *io_ctl_error(const char *text);

#endif
