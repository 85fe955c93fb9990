/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions that are not memory of the program, and advice: see the manual pages named. */
#ifndef UHCAV_SPECIAL_MR_H
#define UHCAV_SPECIAL_MR_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* ibv_alloc_null_mr(3): NULL with errno. */
struct ibv_mr *uhcav_alloc_null_mr(struct ibv_pd *pd);

/*
 * ibv_reg_dmabuf_mr(3): length bytes from offset of a file that can be mapped. NULL with errno:
 * EBADF for no file, EINVAL for a range outside of it, an iova of another page offset and a file
 * that cannot be mapped, EOPNOTSUPP for other access flags than those of the manual page and for
 * memory that other processes cannot be given access to.
 */
struct ibv_mr *uhcav_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access);

/* ibv_advise_mr(3): 0 or an errno value. Brings the pages in before it returns, FLUSH or not. */
int uhcav_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *sg_list, uint32_t num_sge);

#endif
