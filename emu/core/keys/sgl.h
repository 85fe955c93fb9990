/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scatter/gather lists of work requests: from (list, offset, length) through keys and page arrays
 * to the client's memory. Keys are checked at each use: a region that was deregistered while a
 * message is under way is refused, never touched.
 */
#ifndef CORE_SGL_H
#define CORE_SGL_H

#include "emu/abi/wqe.h"
#include "mr.h"

struct sgl {
	const struct device *dev;
	const struct pd *pd;
	const struct uhca_abi_sge *sge;
	unsigned n;
};

/* Sum of the lengths. */
uint64_t sgl_length(const struct sgl *l);

/* The worst verdict over all elements of non-zero length, for access need (see mr_check). */
enum mr_verdict sgl_check(const struct sgl *l, uint32_t need);

/*
 * Copies length bytes that begin offset bytes into the list to "to". 0, -EFAULT when an
 * element is not accessible any more or the list is too short, or -ESRCH (core_ops.mem_read).
 */
int sgl_read(const struct sgl *l, uint64_t offset, uint32_t length, void *to);

/*
 * Where these bytes stand, if they stand together in memory that is mapped here and may be handed
 * on to dst as they are (core_ops.mem_map); NULL: they are to be copied, or cannot be.
 */
const void *sgl_map(const struct sgl *l, uint64_t offset, uint32_t length, const uint8_t dst[16]);
const void *sgl_map_mr(const struct device *dev, struct mr *mr, uint64_t addr, uint32_t length,
		       const uint8_t dst[16]);

/* Scatters the iovecs to the list from offset on; -EFAULT likewise. */
int sgl_write(const struct sgl *l, uint64_t offset, const struct iovec *from, unsigned n_from);

/*
 * The same for one region that passed mr_check for [addr, addr + length), of what a peer names.
 */
int sgl_read_mr(const struct device *dev, struct mr *mr, uint64_t addr, uint32_t length, void *to);
int sgl_write_mr(const struct device *dev, struct mr *mr, uint64_t addr, const struct iovec *from,
		 unsigned n_from);

/* Bytes in n iovecs. */
uint32_t sgl_iov_length(const struct iovec *iov, unsigned n);

#endif
