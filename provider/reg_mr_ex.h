/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_reg_mr_ex(3), of libraries since 59: all ways to register memory in one verb. */
#ifndef UHCAV_REG_MR_EX_H
#define UHCAV_REG_MR_EX_H

#include "provider/keys/keys.h"

#include <infiniband/verbs.h>

/* struct ibv_mr_init_attr and its comp_mask */
enum {
	UHCAV_MR_INIT_IOVA = 1 << 0,
	UHCAV_MR_INIT_ADDR = 1 << 1,
	UHCAV_MR_INIT_FD = 1 << 2,
	UHCAV_MR_INIT_FD_OFFSET = 1 << 3,
	UHCAV_MR_INIT_DMAH = 1 << 4,
	UHCAV_MR_INIT_BUF = 1 << 5,
};
struct uhcav_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct uhcav_dmah *dmah;
};

/*
 * As ibv_reg_mr, or with FD as ibv_reg_dmabuf_mr; the hint of DMAH is kept with the region. NULL
 * with errno: EINVAL for fields that do not fit together, EOPNOTSUPP for a buffer of ibv_alloc_buf,
 * which this device does not make.
 */
struct ibv_mr *uhcav_reg_mr_ex(struct ibv_pd *pd, const struct uhcav_mr_init_attr *attr);

#endif
