/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of a diagnostic: requests, pieces, regions in words. */
#include "words.h"

#include "provider/diagnostic/diagnostic.h"

static const char *const opcodes[] = {
	[IBV_WR_RDMA_WRITE] = "RDMA WRITE",
	[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA WRITE with immediate",
	[IBV_WR_SEND] = "SEND",
	[IBV_WR_SEND_WITH_IMM] = "SEND with immediate",
	[IBV_WR_RDMA_READ] = "RDMA READ",
	[IBV_WR_ATOMIC_CMP_AND_SWP] = "compare and swap",
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = "fetch and add",
	[IBV_WR_LOCAL_INV] = "LOCAL_INV",
	[IBV_WR_BIND_MW] = "BIND_MW",
	[IBV_WR_SEND_WITH_INV] = "SEND with Invalidate",
};

const char *uhcav_words_opcode(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	if (!s->is_send)
		return "receive";
	if (r->opcode < sizeof(opcodes) / sizeof(opcodes[0]) && opcodes[r->opcode])
		return opcodes[r->opcode];
	return "request";
}

struct uhcav_request_name uhcav_words_name(const struct uhcav_shadow *s,
					   const struct uhcav_request *r)
{
	return (struct uhcav_request_name){.what = uhcav_words_opcode(s, r),
					   .queue = s->type,
					   .number = s->number,
					   .wr_id = r->wr_id};
}

void uhcav_words_request(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	uhcav_diagnostic_fact("%s, wr_id 0x%llx, of %s 0x%x%s", uhcav_words_opcode(s, r),
			      (unsigned long long)r->wr_id, s->type, s->number,
			      s->is_send && !r->signaled ? ", unsignaled" : "");
	if (r->rkey)
		uhcav_diagnostic_fact("remote: R_Key 0x%x, address 0x%llx", r->rkey,
				      (unsigned long long)r->remote_addr);
}

void uhcav_words_piece(const struct uhcav_piece *p)
{
	uhcav_diagnostic_fact("%llu bytes at 0x%llx, L_Key 0x%x", (unsigned long long)p->length,
			      (unsigned long long)p->at, p->lkey);
}

void uhcav_words_region(const struct uhcav_object *mr)
{
	char words[UHCAV_OBJECT_WORDS];

	uhcav_diagnostic_fact("%s: %llu bytes from 0x%llx, access 0x%x",
			      uhcav_object_words(mr, words), (unsigned long long)mr->mr.length,
			      (unsigned long long)mr->mr.iova, (unsigned)mr->mr.access);
}
