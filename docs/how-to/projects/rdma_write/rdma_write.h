/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the cookbook test: a function that needs an RDMA device. */
#ifndef RDMA_WRITE_H
#define RDMA_WRITE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes so many bytes (1 to 65536) by RDMA WRITE from one queue pair of the first device to
 * another, and compares. 0; -EIO when the completion or a byte is wrong; or the negative errno of
 * the call that failed.
 */
int rdma_write_loopback(size_t length);

#ifdef __cplusplus
}
#endif

#endif
