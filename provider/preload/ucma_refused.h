/* SPDX-License-Identifier: BSD-2-Clause */
/* A call of librdmacm that the daemon refuses, and why: for the sanitizer (uhca-run --sanitize). */
#ifndef UHCA_UCMA_REFUSED_H
#define UHCA_UCMA_REFUSED_H

#include <stddef.h>

/*
 * "rdma_listen: the id is ...", n bytes with an end; err: an errno value. Nothing without the
 * sanitizer. Keeps errno.
 */
void uhca_ucma_refused(char *why, size_t n, int err);

#endif
