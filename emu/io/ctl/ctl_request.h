/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Meaning of uhcactl's requests (ctl.h).
 */
#ifndef IO_CTL_REQUEST_H
#define IO_CTL_REQUEST_H

#include <stddef.h>

struct io_house;

/*
 * Carries out one request of len bytes (without its newline). Returns the reply's line, newline
 * included, which the caller frees; NULL when there is no memory.
 */
char *io_ctl_request(const struct io_house *h, const char *line, size_t len);

/* The reply that says what is wrong. As above. */
char *io_ctl_error(const char *text);

#endif
