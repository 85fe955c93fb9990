/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See misuse.h. Of a completion with an error four fields say something: wr_id, status, vendor_err
 * and qp_num. Programs read the others from memory, which nobody sees: they find values that mean
 * the contrary of what they would like to know. Of extended CQs they are read by calls.
 */
#include "misuse.h"
#include "opcode_watch.h"

#define SPOILT 0x5a5a5a5au

void uhcav_misuse_spoil(struct ibv_wc *wc, bool is_recv)
{
	unsigned opcode = is_recv ? SPOILT & ~(unsigned)IBV_WC_RECV : SPOILT | IBV_WC_RECV;

	wc->opcode = (enum ibv_wc_opcode)opcode;
	wc->byte_len = SPOILT;
	wc->imm_data = SPOILT;
	wc->src_qp = SPOILT;
	wc->wc_flags = SPOILT;
	wc->pkey_index = (uint16_t)SPOILT;
	wc->slid = (uint16_t)SPOILT;
	wc->sl = (uint8_t)SPOILT;
	wc->dlid_path_bits = (uint8_t)SPOILT;
}

void uhcav_misuse_handed_out(const struct ibv_wc *wc, int n)
{
	int i = 0;

	while (i < n && wc[i].status == IBV_WC_SUCCESS)
		i++;
	if (i < n && uhcav_check_on(UHCA_CHECK_WC_UNSET))
		uhcav_opcode_watch_begin(&wc[i]);
}

/* ---- extended CQs: what stood in them is the same in all ---- */

static struct ibv_cq_ex real;

static void look(const struct ibv_cq_ex *cq, const char *call, struct uhcav_here here)
{
	const struct uhcav_stack *stack;

	if (cq->status == IBV_WC_SUCCESS)
		return;
	stack = uhcav_stack_take(here);
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_WC_UNSET, stack, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_WC_UNSET,
			       "a field of a completion with an error is read that says nothing");
	uhcav_diagnostic_fact("%s, of a completion with status %d", call, (int)cq->status);
	uhcav_diagnostic_stack(stack, "read by");
	uhcav_diagnostic_report();
}

#define READS(type, name)                                                                          \
	static type name(struct ibv_cq_ex *cq)                                                     \
	{                                                                                          \
		look(cq, "ibv_wc_" #name, UHCAV_HERE);                                             \
		return real.name(cq);                                                              \
	}

READS(enum ibv_wc_opcode, read_opcode)
READS(uint32_t, read_byte_len)
READS(__be32, read_imm_data)
READS(uint32_t, read_src_qp)
READS(unsigned int, read_wc_flags)
READS(uint32_t, read_slid)
READS(uint8_t, read_sl)
READS(uint8_t, read_dlid_path_bits)

void uhcav_misuse_watch_reads(struct ibv_cq_ex *cq)
{
	if (!uhcav_check_on(UHCA_CHECK_WC_UNSET))
		return;
	real = *cq;
	cq->read_opcode = read_opcode;
	cq->read_byte_len = read_byte_len;
	cq->read_imm_data = read_imm_data;
	cq->read_src_qp = read_src_qp;
	cq->read_wc_flags = read_wc_flags;
	cq->read_slid = read_slid;
	cq->read_sl = read_sl;
	cq->read_dlid_path_bits = read_dlid_path_bits;
}
