/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcadv_query_device: the device's features and limits in the words of uhcadv.h. */
#include "dv.h"
#include "emu/abi/layout.h"
#include "provider/context/context.h"

#include <errno.h>
#include <string.h>

static const struct {
	uint32_t feature;
	uint64_t cap;
} caps[] = {
	{UHCA_ABI_HAS_FAST_REG, UHCADV_CAP_FAST_REG},
	{UHCA_ABI_HAS_BLOCK_LIST, UHCADV_CAP_BLOCK_LIST},
	{UHCA_ABI_HAS_INTERLEAVED, UHCADV_CAP_INTERLEAVED},
	{UHCA_ABI_HAS_SG, UHCADV_CAP_SG},
	{UHCA_ABI_HAS_INVALIDATE, UHCADV_CAP_INVALIDATE},
	{UHCA_ABI_HAS_INV_FENCE, UHCADV_CAP_INVALIDATE_FENCE},
	{UHCA_ABI_HAS_READ_WITH_INV, UHCADV_CAP_READ_WITH_INV},
	{UHCA_ABI_HAS_SINK_RULE, UHCADV_CAP_READ_SINK_WRITE},
	{UHCA_ABI_HAS_KEY_BYTE, UHCADV_CAP_KEY_BYTE},
	{UHCA_ABI_HAS_ZERO_BASED, UHCADV_CAP_ZERO_BASED},
	{UHCA_ABI_HAS_MASKED_ATOMICS, UHCADV_CAP_MASKED_ATOMICS},
	{UHCA_ABI_HAS_BLOCK_LOOPBACK, UHCADV_CAP_BLOCK_LOOPBACK},
	{UHCA_ABI_HAS_LOW_LATENCY, UHCADV_CAP_LOW_LATENCY},
	{UHCA_ABI_HAS_MW_TYPE_1, UHCADV_CAP_MW_TYPE_1},
	{UHCA_ABI_HAS_MW_TYPE_2A, UHCADV_CAP_MW_TYPE_2A},
	{UHCA_ABI_HAS_MW_TYPE_2B, UHCADV_CAP_MW_TYPE_2B},
	{UHCA_ABI_HAS_XRC, UHCADV_CAP_XRC},
};

#define DESCRIBES                                                                                  \
	(UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_BLOCK_LIST | UHCA_ABI_HAS_INTERLEAVED |              \
	 UHCA_ABI_HAS_SG)

static uint64_t caps_of(const struct uhca_cmd_device_attr *r)
{
	uint64_t all = r->max_shared_size ? UHCADV_CAP_SHARED_MEMORY : 0;

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		if (r->features & caps[i].feature)
			all |= caps[i].cap;
	return all;
}

/* The limits of what is not there are zero. */
static void fill(const struct uhca_cmd_device_attr *r, struct uhcadv_device_attr *a)
{
	*a = (struct uhcadv_device_attr){.caps = caps_of(r), .max_shared_size = r->max_shared_size};
	if (r->features & UHCA_ABI_HAS_FAST_REG)
		a->page_size_cap =
			(2ull << UHCA_ABI_MAX_PAGE_SHIFT) - (1ull << UHCA_ABI_MIN_PAGE_SHIFT);
	if (r->features & DESCRIBES) {
		a->max_list_entries = r->max_list_entries;
		a->max_depth = UHCA_ABI_MAX_DEPTH;
	}
	if (r->features & UHCA_ABI_HAS_INTERLEAVED) {
		a->max_pieces = UHCA_ABI_MAX_PIECES;
		a->max_dims = UHCA_ABI_MAX_DIMS;
	}
	a->masked_atomic_sizes = r->masked_atomic_sizes;
	if (r->features & UHCA_ABI_HAS_LOW_LATENCY)
		a->max_low_latency_wr = r->max_low_latency_wr;
	memcpy(a->profile, r->profile, sizeof(a->profile) - 1);
}

int uhcav_dv_query_device(struct ibv_context *ibctx, struct uhcadv_device_attr *attr,
			  size_t attr_size)
{
	struct uhcav_context *ctx = uhcav_context_here(uhcav_context_of(ibctx));
	struct uhca_cmd_device_attr reply;
	struct uhcadv_device_attr all;
	int err;

	if (!ctx)
		return EIO;
	if (!attr || attr_size < sizeof(attr->comp_mask))
		return uhcav_refuse(ctx, "uhcadv_query_device", EINVAL,
				    "attr is NULL, or attr_size %zu is below %zu", attr_size,
				    sizeof(attr->comp_mask));
	err = uhcav_device_ask(ctx, &reply);
	if (err)
		return -err;
	fill(&reply, &all);
	memset(attr, 0, attr_size);
	memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
	return 0;
}
