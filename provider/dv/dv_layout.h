/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of keys as the device takes them (emu/abi/layout.h), from the structs of
 * uhcadv.h. The list goes to where the caller wants it: a message, or the data of a send entry.
 */
#ifndef UHCAV_DV_LAYOUT_H
#define UHCAV_DV_LAYOUT_H

#include "emu/abi/layout.h"

#include <infiniband/uhcadv.h>
#include <stddef.h>
#include <stdint.h>

struct uhcav_description {
	void *list;  /* in: where the list goes; nothing is written on an error */
	size_t room; /* in: bytes there */
	uint32_t bytes;
	struct uhca_abi_layout layout;
};

/* Bytes of the longest list of an interleaved layout. */
#define UHCAV_INTERLEAVED_BYTES                                                                    \
	(UHCADV_MAX_DIMS * sizeof(uint64_t) + UHCADV_MAX_PIECES * sizeof(struct uhca_abi_piece))

/* EINVAL, because the mask is not 0. */
int uhcav_dv_no_comp_mask(uint64_t mask);

/*
 * 0 or an errno value (uhcav_because): EINVAL for a region of another context than mr's PD, a
 * comp_mask, an empty list, a page shift outside of 12..30, remote stores without local write;
 * EOPNOTSUPP for access flags that no region takes; E2BIG for a list that is longer than any key
 * has room for, or than there is room. Whether the description is right is the device's to say.
 */
int uhcav_describe_pages(struct uhcav_description *d, const struct ibv_mr *mr,
			 const struct uhcadv_reg_attr *attr, const struct uhcadv_page_list *pages);
int uhcav_describe_blocks(struct uhcav_description *d, const struct ibv_mr *mr,
			  const struct uhcadv_reg_attr *attr, const struct uhcadv_block *block,
			  uint32_t n);
int uhcav_describe_interleaved(struct uhcav_description *d, const struct ibv_mr *mr,
			       const struct uhcadv_reg_attr *attr,
			       const struct uhcadv_interleaved *layout);

/* The device has, or will have, what was described: mr gets the key. */
static inline void uhcav_use_key(const struct uhcav_description *d, struct ibv_mr *mr)
{
	uhcadv_set_key_byte(mr, (uint8_t)d->layout.key);
}

#endif
