/* SPDX-License-Identifier: BSD-2-Clause */
/* See dv_layout.h. Lists are copied entry by entry: data areas are aligned to nothing. */
#include "dv_layout.h"

#include "provider/context/context.h"
#include "provider/keys/keys.h"

#include <errno.h>
#include <string.h>

_Static_assert(UHCADV_MAX_DIMS == UHCA_ABI_MAX_DIMS && UHCADV_MAX_PIECES == UHCA_ABI_MAX_PIECES,
	       "one limit each");

int uhcav_dv_no_comp_mask(uint64_t mask)
{
	return uhcav_because(EINVAL, "comp_mask 0x%llx is not 0", (unsigned long long)mask);
}

static int too_long(uint32_t n, size_t bytes, size_t room)
{
	return uhcav_because(E2BIG, "%u entries need %zu bytes; at most %zu fit", n, bytes, room);
}

static int too_many(uint32_t n)
{
	return uhcav_because(E2BIG, "%u entries exceed %d", n, UHCA_ABI_MAX_ENTRIES);
}

/* What all descriptions have; the list will be n entries and "bytes" bytes long. */
static int begin(struct uhcav_description *d, const struct ibv_mr *mr,
		 const struct uhcadv_reg_attr *attr, uint32_t n, size_t bytes)
{
	int err;

	if (attr->comp_mask)
		return uhcav_dv_no_comp_mask(attr->comp_mask);
	if (!n)
		return uhcav_because(EINVAL, "the list is empty");
	if (bytes > d->room)
		return too_long(n, bytes, d->room);
	err = uhcav_mr_check_access((int)attr->access);
	if (err)
		return -err;
	d->bytes = (uint32_t)bytes;
	d->layout = (struct uhca_abi_layout){
		.iova = attr->iova,
		.key = (mr->rkey & ~UINT32_C(0xff)) | attr->key_byte,
		.access = uhcav_mr_abi_access((int)attr->access),
		.n = (uint16_t)n,
	};
	return 0;
}

int uhcav_describe_pages(struct uhcav_description *d, const struct ibv_mr *mr,
			 const struct uhcadv_reg_attr *attr, const struct uhcadv_page_list *pages)
{
	size_t bytes = (size_t)pages->n * sizeof(*pages->page);
	int err;

	if (pages->page_shift < UHCA_ABI_MIN_PAGE_SHIFT ||
	    pages->page_shift > UHCA_ABI_MAX_PAGE_SHIFT)
		return uhcav_because(EINVAL, "page_shift %u is not from %d to %d",
				     pages->page_shift, UHCA_ABI_MIN_PAGE_SHIFT,
				     UHCA_ABI_MAX_PAGE_SHIFT);
	if (pages->n > UHCA_ABI_MAX_ENTRIES)
		return too_many(pages->n);
	err = begin(d, mr, attr, pages->n, bytes);
	if (err)
		return err;
	d->layout.length = pages->length;
	d->layout.lkey = pages->lkey;
	d->layout.page_shift = pages->page_shift;
	memcpy(d->list, pages->page, bytes);
	return 0;
}

int uhcav_describe_blocks(struct uhcav_description *d, const struct ibv_mr *mr,
			  const struct uhcadv_reg_attr *attr, const struct uhcadv_block *block,
			  uint32_t n)
{
	uint8_t *at = d->list;
	int err = n > UHCA_ABI_MAX_ENTRIES
			  ? too_many(n)
			  : begin(d, mr, attr, n, (size_t)n * sizeof(struct uhca_abi_block));

	for (uint32_t i = 0; i < n && !err; i++, at += sizeof(struct uhca_abi_block)) {
		struct uhca_abi_block b = {
			.addr = block[i].addr, .length = block[i].length, .lkey = block[i].lkey};
		memcpy(at, &b, sizeof(b));
	}
	return err;
}

static void put_pieces(const struct uhcadv_interleaved *in, uint8_t *at)
{
	for (uint32_t i = 0; i < in->n_pieces; i++, at += sizeof(struct uhca_abi_piece)) {
		const struct uhcadv_piece *from = &in->piece[i];
		struct uhca_abi_piece p = {
			.addr = from->addr, .bytes = from->bytes, .lkey = from->lkey};
		memcpy(p.stride, from->stride, in->n_dims * sizeof(p.stride[0]));
		memcpy(at, &p, sizeof(p));
	}
}

int uhcav_describe_interleaved(struct uhcav_description *d, const struct ibv_mr *mr,
			       const struct uhcadv_reg_attr *attr,
			       const struct uhcadv_interleaved *layout)
{
	size_t counts = layout->n_dims * sizeof(layout->count[0]);
	int err;

	if (layout->n_dims > UHCADV_MAX_DIMS || layout->n_pieces > UHCADV_MAX_PIECES)
		return uhcav_because(E2BIG, "n_dims %u or n_pieces %u exceeds %d or %d",
				     layout->n_dims, layout->n_pieces, UHCADV_MAX_DIMS,
				     UHCADV_MAX_PIECES);
	err = begin(d, mr, attr, layout->n_pieces,
		    counts + layout->n_pieces * sizeof(struct uhca_abi_piece));
	if (err)
		return err;
	d->layout.n_dims = (uint8_t)layout->n_dims;
	memcpy(d->list, layout->count, counts);
	put_pieces(layout, (uint8_t *)d->list + counts);
	return 0;
}
