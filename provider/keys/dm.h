/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory (ibv_alloc_dm(3)), mapped here so that copies need no command. */
#ifndef UHCAV_DM_H
#define UHCAV_DM_H

#include "provider/context/context.h"

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* NULL with errno: EINVAL for what can never be had, ENOMEM when none is left. */
struct ibv_dm *uhcav_alloc_dm(struct ibv_context *ibctx, struct ibv_alloc_dm_attr *attr);

/* 0 or an errno value; EBUSY while a region is registered in it. */
int uhcav_free_dm(struct ibv_dm *dm);

/* NULL with errno: EINVAL for a range outside of it and for access without ZERO_BASED. */
struct ibv_mr *uhcav_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			       unsigned access);

/* Device memory of this or another process of the group (ibv_import_dm(3)): NULL with errno. */
struct ibv_dm *uhcav_import_dm(struct ibv_context *ibctx, uint32_t handle);
void uhcav_unimport_dm(struct ibv_dm *dm);

/*
 * ibv_dm_export_dmabuf_fd(3) of rdma-core: a file that begins with the memory, for
 * ibv_reg_dmabuf_mr(3) and mmap(2). It is a memfd, no dma-buf of the kernel's. The caller closes
 * it. -1 with errno.
 */
int uhcav_dm_export_dmabuf_fd(struct ibv_dm *dm);

/* ---- for memory of the daemon's whatever it is for ---- */

struct uhcav_dm_map {
	uint32_t handle;
	uint8_t *at;
	size_t size;
};

/* Has the daemon make it, and maps it: munmap(2) undoes that, UHCA_CMD_FREE_DM all. 0 or -errno. */
int uhcav_dm_make(struct uhcav_context *ctx, struct uhca_cmd_alloc_dm *request,
		  struct uhcav_dm_map *out);

#endif
