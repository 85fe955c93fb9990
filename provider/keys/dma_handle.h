/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DMA handles (ibv_alloc_dmah(3), libraries since 59): hints for the TLP processing of PCIe. This
 * device has no PCIe: it keeps the hint of a region, and shows it (uhcactl --json show mr). The
 * structs are those of newer headers than the oldest that this builds with.
 */
#ifndef UHCAV_DMA_HANDLE_H
#define UHCAV_DMA_HANDLE_H

#include <infiniband/verbs.h>
#include <stdint.h>

/* struct ibv_dmah_init_attr and its comp_mask */
enum { UHCAV_DMAH_CPU = 1 << 0, UHCAV_DMAH_PH = 1 << 1, UHCAV_DMAH_MEMORY = 1 << 2 };
struct uhcav_dmah_init_attr {
	uint32_t comp_mask;
	uint32_t cpu_id;
	uint8_t ph;
	uint8_t tph_mem_type;
};

struct uhcav_dmah;

/* NULL with errno: EINVAL for unknown bits and values that PCIe does not have. */
struct uhcav_dmah *uhcav_alloc_dmah(struct ibv_context *ibctx,
				    const struct uhcav_dmah_init_attr *attr);
/* 0, or EBUSY while a region has been registered with it (and is still there). */
int uhcav_dealloc_dmah(struct uhcav_dmah *dmah);

/* UHCA_ABI_HINT_* of cmd_memory.h; NULL: 0. */
uint32_t uhcav_dmah_hint(const struct uhcav_dmah *dmah);

/* A region uses it. */
void uhcav_dmah_take(struct uhcav_dmah *dmah);
void uhcav_dmah_release(struct uhcav_dmah *dmah);

#endif
