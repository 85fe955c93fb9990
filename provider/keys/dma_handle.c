/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocates and frees DMA handles, and makes the hint of a region of one. See dma_handle.h. */
#include "dma_handle.h"

#include "emu/abi/cmd_memory.h"
#include "provider/base/base.h"
#include "provider/context/context.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_PH     3 /* two bits of a TLP */
#define MOST_MEMORY 1 /* enum ibv_tph_mem_type */

struct uhcav_dmah {
	struct ibv_context *context; /* first, as in struct ibv_dmah */
	uint32_t hint;
	uint32_t refs; /* regions; atomic */
	uint8_t slack[UHCAV_OBJECT_ROOM / 4];
};

/* 0 or an errno value. */
static int check(struct ibv_context *ibctx, const struct uhcav_dmah_init_attr *attr)
{
	static const char verb[] = "alloc_dmah";
	const uint32_t known = UHCAV_DMAH_CPU | UHCAV_DMAH_PH | UHCAV_DMAH_MEMORY;
	struct uhcav_context *ctx = uhcav_context_of(ibctx);

	if (attr->comp_mask & ~known)
		return uhcav_refuse(ctx, verb, EINVAL, "comp_mask 0x%x has bits beyond 0x%x",
				    attr->comp_mask, known);
	if (attr->comp_mask & UHCAV_DMAH_PH && attr->ph > MOST_PH)
		return uhcav_refuse(ctx, verb, EINVAL, "ph %u is not from 0 to %u", attr->ph,
				    MOST_PH);
	if (attr->comp_mask & UHCAV_DMAH_MEMORY && attr->tph_mem_type > MOST_MEMORY)
		return uhcav_refuse(ctx, verb, EINVAL, "tph_mem_type %u is not VM (0) or PM (1)",
				    attr->tph_mem_type);
	if (attr->comp_mask & UHCAV_DMAH_CPU && attr->cpu_id > UHCA_ABI_HINT_CPU_MASK)
		return uhcav_refuse(ctx, verb, EINVAL, "cpu_id %u exceeds %u", attr->cpu_id,
				    UHCA_ABI_HINT_CPU_MASK);
	return 0;
}

struct uhcav_dmah *uhcav_alloc_dmah(struct ibv_context *ibctx,
				    const struct uhcav_dmah_init_attr *attr)
{
	int err = check(ibctx, attr);
	struct uhcav_dmah *dmah;

	if (err)
		return uhcav_no_object(NULL, -err);
	dmah = calloc(1, sizeof(*dmah));
	if (!dmah)
		return NULL;
	dmah->context = ibctx;
	dmah->hint = UHCA_ABI_HINT;
	if (attr->comp_mask & UHCAV_DMAH_CPU)
		dmah->hint |= UHCA_ABI_HINT_CPU | attr->cpu_id;
	if (attr->comp_mask & UHCAV_DMAH_PH)
		dmah->hint |= UHCA_ABI_HINT_PH | (uint32_t)attr->ph << UHCA_ABI_HINT_PH_SHIFT;
	if (attr->comp_mask & UHCAV_DMAH_MEMORY)
		dmah->hint |=
			attr->tph_mem_type ? UHCA_ABI_HINT_PERSISTENT : UHCA_ABI_HINT_VOLATILE;
	return dmah;
}

int uhcav_dealloc_dmah(struct uhcav_dmah *dmah)
{
	if (__atomic_load_n(&dmah->refs, __ATOMIC_ACQUIRE))
		return uhcav_failed(uhcav_refuse(uhcav_context_of(dmah->context), "dealloc_dmah",
						 EBUSY, "the DMA handle is in use by regions"));
	free(dmah);
	return 0;
}

uint32_t uhcav_dmah_hint(const struct uhcav_dmah *dmah)
{
	return dmah ? dmah->hint : 0;
}

void uhcav_dmah_take(struct uhcav_dmah *dmah)
{
	__atomic_fetch_add(&dmah->refs, 1, __ATOMIC_RELAXED);
}

void uhcav_dmah_release(struct uhcav_dmah *dmah)
{
	__atomic_fetch_sub(&dmah->refs, 1, __ATOMIC_RELEASE);
}
