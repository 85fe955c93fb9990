/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions (ibv_reg_mr(3)). */
#ifndef UHCAV_MR_H
#define UHCAV_MR_H

#include "provider/base/base.h"
#include "provider/context/context.h"
#include "provider/pin/pin.h"

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* The library's enum ibv_mr_type: what it must not do with a region's address. */
enum {
	UHCAV_MR_ORDINARY = 0,
	UHCAV_MR_NULL = 1,
	UHCAV_MR_IMPORTED = 2,
	UHCAV_MR_DMABUF = 3,
};

struct uhcav_dmah;

struct uhcav_mr {
	struct uhcav_verbs_mr v;
	uint8_t slack[UHCAV_OBJECT_ROOM / 4];
	struct uhcav_region region; /* as it stands in the context's table; lkey 0: it does not */
	void *mapping;              /* of a dma-buf: ours to unmap */
	size_t mapping_size;
	struct uhcav_pinning *pinning; /* what of it became the device's; NULL: nothing */
	struct uhcav_dmah *dmah;       /* of its registration; NULL: none */
	uint32_t max_entries;          /* of a key without memory (dv_mr.c); 0: it is none */
};

/*
 * Registers [addr, addr + length) under addresses from iova on. NULL with errno: EFAULT when a
 * part of it is not mapped (or may not be written and LOCAL_WRITE is asked for; on-demand regions
 * are not looked at), EINVAL for a range that wraps and remote write or atomic
 * access without LOCAL_WRITE, EOPNOTSUPP for access flags that are not supported. The library
 * fills in the public fields but keys and handle. A range that lies completely in memory of
 * uhcav_alloc_shared becomes a region of it, unless it is on demand.
 */
struct ibv_mr *uhcav_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			    int access);

/*
 * The next region of ordinary memory that this thread registers has this DMA handle; NULL: none
 * has. For ibv_reg_mr_ex, which leads to the older verbs.
 */
void uhcav_mr_next_handle(struct uhcav_dmah *dmah);

/*
 * Changes a region (ibv_rereg_mr(3)): 0 or an errno value. Whatever the errno, the old region is
 * as it was; EINVAL for one in shared memory. The argument is libibverbs' wrapper; the library
 * changes addr, length and pd.
 */
int uhcav_rereg_mr(void *verbs_mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		   int access);

/* 0 or an errno value. The argument is libibverbs' wrapper of the region. */
int uhcav_dereg_mr(void *verbs_mr);

/* ---- for the other kinds of regions ---- */

/*
 * 0, -EINVAL or -EOPNOTSUPP: is this a combination of access flags for memory of ours?
 * uhcav_mr_abi_access says which of them the device is told.
 */
int uhcav_mr_check_access(int access);
uint32_t uhcav_mr_abi_access(int access);

/*
 * Has the device make a region by a command that is answered as UHCA_CMD_REG_MR is: a new wrapper
 * with handle, keys, context and pd. It enters the context's table when region names memory of ours
 * (NULL: it does not). NULL with errno, and then there is no region.
 */
struct uhcav_mr *uhcav_mr_make(struct ibv_pd *pd, uint32_t cmd, struct uhca_cmd_request *request,
			       uint32_t size, int type, const struct uhcav_region *region);

#endif
