/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common MAD header (IBTA vol. 1, 13.4.3): versions, class and method in the first word,
 * status and a class specific half, transaction id, attribute id and modifier.
 */
#include "mad.h"

#include "bytes.h"

void roce_mad_parse(const uint8_t *p, struct roce_mad *out)
{
	out->base_version = p[0];
	out->mgmt_class = p[1];
	out->class_version = p[2];
	out->method = p[3];
	out->status = roce_load_be16(p + 4);
	out->class_specific = roce_load_be16(p + 6);
	out->tid = roce_load_be64(p + 8);
	out->attr_id = roce_load_be16(p + 16);
	out->reserved = roce_load_be16(p + 18);
	out->attr_mod = roce_load_be32(p + 20);
}

void roce_mad_emit(const struct roce_mad *mad, uint8_t *p)
{
	p[0] = mad->base_version;
	p[1] = mad->mgmt_class;
	p[2] = mad->class_version;
	p[3] = mad->method;
	roce_store_be16(p + 4, mad->status);
	roce_store_be16(p + 6, mad->class_specific);
	roce_store_be64(p + 8, mad->tid);
	roce_store_be16(p + 16, mad->attr_id);
	roce_store_be16(p + 18, mad->reserved);
	roce_store_be32(p + 20, mad->attr_mod);
}
