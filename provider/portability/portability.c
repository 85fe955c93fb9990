/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares requested features and limits with published adapters. */
#include "portability.h"

#include "emu/abi/adapters.h"
#include "emu/abi/wqe.h"

#include <stdio.h>

/* What can be wished for. */
enum wish {
	WISH_UC,
	WISH_UD,
	WISH_XRC,
	WISH_RAW,
	WISH_SRQ,
	WISH_MW_1,
	WISH_MW_2,
	WISH_ODP,
	WISH_REREG,
	WISH_ATOMICS,
	WISH_ATOMIC_WRITE,
	WISH_FLUSH,
	WISH_INVALIDATE,
	WISH_SEND_IMM,
	WISH_WRITE_IMM,
	WISH_RESIZE_CQ,
	WISH_RESIZE_SRQ,
	WISH_SINK,
	WISH_READ_SGE, /* these have numbers */
	WISH_SGE,
	WISH_SRQ_SGE,
	WISH_INLINE,
	WISH_READS,
	WISHES
};

static const struct {
	const char *what; /* with a %u where it has a number */
	uint32_t feature; /* one of these is needed */
	unsigned without; /* UHCA_ADAPTER_*: those that are so lack it */
} wishes[WISHES] = {
	[WISH_UC] = {"a UC queue pair", UHCA_ABI_HAS_UC, 0},
	[WISH_UD] = {"a UD queue pair", UHCA_ABI_HAS_UD, 0},
	[WISH_XRC] = {"an XRC queue pair", UHCA_ABI_HAS_XRC, 0},
	[WISH_RAW] = {"a raw packet queue pair", UHCA_ABI_HAS_RAW_PACKET, 0},
	[WISH_SRQ] = {"a shared receive queue", UHCA_ABI_HAS_SRQ, 0},
	[WISH_MW_1] = {"a memory window of type 1", UHCA_ABI_HAS_MW_TYPE_1, 0},
	[WISH_MW_2] = {"a memory window of type 2",
		       UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B, 0},
	[WISH_ODP] = {"an on-demand region", UHCA_ABI_HAS_ODP, 0},
	[WISH_REREG] = {"a change of a region (ibv_rereg_mr)", UHCA_ABI_HAS_REREG, 0},
	[WISH_ATOMICS] = {"an atomic operation", UHCA_ABI_HAS_ATOMICS, 0},
	[WISH_ATOMIC_WRITE] = {"an ATOMIC WRITE", UHCA_ABI_HAS_ATOMIC_WRITE, 0},
	[WISH_FLUSH] = {"a FLUSH", UHCA_ABI_HAS_FLUSH, 0},
	[WISH_INVALIDATE] = {"an invalidation", UHCA_ABI_HAS_INVALIDATE, 0},
	[WISH_SEND_IMM] = {"a SEND with immediate data", 0, UHCA_ADAPTER_NO_SEND_IMM},
	[WISH_WRITE_IMM] = {"an RDMA WRITE with immediate data", 0, UHCA_ADAPTER_NO_WRITE_IMM},
	[WISH_RESIZE_CQ] = {"a completion queue of another size (ibv_resize_cq)",
			    UHCA_ABI_HAS_RESIZE_CQ, 0},
	[WISH_RESIZE_SRQ] = {"a shared receive queue of another size (ibv_modify_srq)", 0,
			     UHCA_ADAPTER_NO_SRQ_RESIZE},
	[WISH_SINK] = {"a READ into a region without IBV_ACCESS_REMOTE_WRITE", 0,
		       UHCA_ADAPTER_RNIC},
	[WISH_READ_SGE] = {"a READ of %u elements", 0, UHCA_ADAPTER_RNIC},
	[WISH_SGE] = {"a queue pair for requests of %u elements", 0, 0},
	[WISH_SRQ_SGE] = {"a shared receive queue for receives of %u elements", 0, 0},
	[WISH_INLINE] = {"a queue pair for %u bytes of inline data", 0, 0},
	[WISH_READS] = {"a queue pair with %u READs and atomics under way", 0, 0},
};

/* Each number is one more than what is published: 0 means that nothing is. */
struct numbers {
	uint64_t max_qp, max_qp_wr, max_sge, max_cq, max_cqe, max_mr, max_pd, max_ah, max_srq;
	uint64_t max_srq_wr, max_srq_sge, max_rd_atomic, max_inline_data, max_mr_size, max_mw;
	uint64_t max_dm_size, max_mcast_grp, max_mcast_qp_attach;
};

static const struct adapter {
	const char *name;
	uint32_t lacks;
	unsigned is;
	struct numbers one_more;
} adapters[] = {
#define ONE_MORE(field, value) .field = (value) + 1ull,
#define ADAPTER(id, name_)                                                                         \
	{name_,                                                                                    \
	 UHCA_ADAPTER_##id##_LACKS,                                                                \
	 UHCA_ADAPTER_##id##_IS,                                                                   \
	 {UHCA_ADAPTER_##id##_LIMITS(ONE_MORE)}},
	UHCA_ADAPTERS(ADAPTER)};
#define ADAPTERS (sizeof(adapters) / sizeof(adapters[0]))

/* Its published number for the wish, and one more; 0: it is not known, or there is none. */
static uint64_t number_of(const struct adapter *a, enum wish wish)
{
	switch ((int)wish) {
	case WISH_READ_SGE:
		return a->is & UHCA_ADAPTER_RNIC ? 1 + 1 : 0;
	case WISH_SGE:
		return a->one_more.max_sge;
	case WISH_SRQ_SGE:
		return a->lacks & UHCA_ABI_HAS_SRQ ? 0 : a->one_more.max_srq_sge;
	case WISH_INLINE:
		return a->one_more.max_inline_data;
	case WISH_READS:
		return a->one_more.max_rd_atomic;
	default:
		return 0;
	}
}

static bool lacks(const struct adapter *a, enum wish wish, uint32_t asked)
{
	uint64_t number = number_of(a, wish);

	if (wish >= WISH_READ_SGE)
		return number > 0 && asked >= number;
	return a->is & wishes[wish].without ||
	       (wishes[wish].feature && !(wishes[wish].feature & ~a->lacks));
}

/* "e810, siw", or "e810 (6), siw (6)": the length, 0 when all have it. */
static size_t who_lacks(enum wish wish, uint32_t asked, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ADAPTERS && n < size; i++) {
		const struct adapter *a = &adapters[i];

		if (!lacks(a, wish, asked))
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", a->name);
		if (wish >= WISH_READ_SGE && n < size)
			n += (size_t)snprintf(text + n, size - n, " (%u)",
					      (unsigned)(number_of(a, wish) - 1));
	}
	return n;
}

static void report(const struct uhcav_stack *stack, enum wish wish, uint32_t asked, const char *who)
{
	char what[96];

	/* The formats are those of the table. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(what, sizeof(what), wishes[wish].what, asked);
#pragma GCC diagnostic pop
	uhcav_diagnostic_begin(UHCA_CHECK_PORTABLE, "%s is not available on every adapter", what);
	uhcav_diagnostic_fact("%s: %s", wish >= WISH_READ_SGE ? "less on" : "missing on", who);
	uhcav_diagnostic_stack(stack, "requested by");
	uhcav_diagnostic_report();
}

static void look(const struct uhcav_stack *stack, enum wish wish, uint32_t asked)
{
	static uint32_t reported; /* bits, 1 << wish */
	char who[128];

	if (!uhcav_check_on(UHCA_CHECK_PORTABLE) ||
	    __atomic_load_n(&reported, __ATOMIC_RELAXED) & 1u << wish ||
	    !who_lacks(wish, asked, who, sizeof(who)) ||
	    __atomic_fetch_or(&reported, 1u << wish, __ATOMIC_RELAXED) & 1u << wish)
		return;
	report(stack, wish, asked, who);
}

static void look_at_type(const struct uhcav_stack *stack, enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_UC:
		look(stack, WISH_UC, 0);
		break;
	case IBV_QPT_UD:
		look(stack, WISH_UD, 0);
		break;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		look(stack, WISH_XRC, 0);
		break;
	case IBV_QPT_RAW_PACKET:
		look(stack, WISH_RAW, 0);
		break;
	default:
		break;
	}
}

void uhcav_portability_qp(struct uhcav_here here, enum ibv_qp_type type,
			  const struct ibv_qp_cap *cap)
{
	uint32_t send = cap->max_send_sge, recv = cap->max_recv_sge;
	const struct uhcav_stack *stack = uhcav_stack_take(here);

	look_at_type(stack, type);
	look(stack, WISH_SGE, send > recv ? send : recv);
	look(stack, WISH_INLINE, cap->max_inline_data);
}

void uhcav_portability_srq(struct uhcav_here here, uint32_t max_sge)
{
	const struct uhcav_stack *stack = uhcav_stack_take(here);

	look(stack, WISH_SRQ, 0);
	look(stack, WISH_SRQ_SGE, max_sge);
}

void uhcav_portability_modify(struct uhcav_here here, const struct ibv_qp_attr *attr, int attr_mask)
{
	uint32_t reads = 0;

	if (attr_mask & IBV_QP_MAX_QP_RD_ATOMIC)
		reads = attr->max_rd_atomic;
	if (attr_mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > reads)
		reads = attr->max_dest_rd_atomic;
	if (reads)
		look(uhcav_stack_take(here), WISH_READS, reads);
}

void uhcav_portability_mw(struct uhcav_here here, enum ibv_mw_type type)
{
	look(uhcav_stack_take(here), type == IBV_MW_TYPE_1 ? WISH_MW_1 : WISH_MW_2, 0);
}

void uhcav_portability_mr(struct uhcav_here here, int access)
{
	if (access & IBV_ACCESS_ON_DEMAND)
		look(uhcav_stack_take(here), WISH_ODP, 0);
}

void uhcav_portability_rereg(struct uhcav_here here)
{
	look(uhcav_stack_take(here), WISH_REREG, 0);
}

void uhcav_portability_resize(struct uhcav_here here, bool is_srq)
{
	look(uhcav_stack_take(here), is_srq ? WISH_RESIZE_SRQ : WISH_RESIZE_CQ, 0);
}

void uhcav_portability_sink(const struct uhcav_stack *stack, int access)
{
	if (!(access & IBV_ACCESS_REMOTE_WRITE))
		look(stack, WISH_SINK, 0);
}

/* What the opcode is a wish for, or WISHES. */
static enum wish wish_of(unsigned opcode)
{
	switch (opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return WISH_ATOMICS;
	case UHCA_ABI_WR_ATOMIC_WRITE:
		return WISH_ATOMIC_WRITE;
	case UHCA_ABI_WR_FLUSH:
		return WISH_FLUSH;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		return WISH_INVALIDATE;
	case IBV_WR_SEND_WITH_IMM:
		return WISH_SEND_IMM;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return WISH_WRITE_IMM;
	default:
		return WISHES;
	}
}

void uhcav_portability_send(const struct uhcav_stack *stack, unsigned opcode, uint32_t n_sge)
{
	enum wish wish = wish_of(opcode);

	if (wish != WISHES)
		look(stack, wish, 0);
	if (opcode == IBV_WR_RDMA_READ)
		look(stack, WISH_READ_SGE, n_sge);
}
