/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_wr_start ... ibv_wr_complete: entries of the same ring as ibv_post_send's, each written by
 * its builder into the slot at the producer index and completed in place by the setters that
 * follow. Nothing is published before wr_complete, so giving up is putting the index back. The
 * send queue's lock is held from start to complete or abort, as the man page says.
 *
 * The calls return nothing: the first error is kept, everything after it is ignored, and
 * wr_complete reports it and posts none.
 */
#include "qp_ex.h"

#include "provider/base/base.h"
#include "provider/context/context.h"
#include "provider/keys/keys.h"
#include "provider/qp/qp.h"
#include "send_wqe.h"

#include <stddef.h>
#include <string.h>

#define BIT(opcode)   (1u << (opcode))
#define MARK_QP_EX    2u /* the library's mark: this QP has the table */
#define ATOMIC_LENGTH 8u

/* Fields that not every library has: the table of a QP may end before them. */
typedef void wr_flush_fn(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
			 uint8_t type, uint8_t level);
#define OFFSET_ATOMIC_WRITE (offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void *))
#define OFFSET_FLUSH        (OFFSET_ATOMIC_WRITE + sizeof(void *))

static size_t mark_offset; /* 0: unknown; set before there are threads */

void uhcav_qp_ex_probe(struct ibv_qp_ex *(*to_qp_ex)(struct ibv_qp *qp))
{
	static struct uhcav_qp scratch;
	uint32_t mark = MARK_QP_EX;
	size_t at = offsetof(struct ibv_qp_ex, wr_abort);

	mark_offset = 0;
	for (; to_qp_ex && at < UHCAV_OBJECT_ROOM && !mark_offset; at += sizeof(mark)) {
		memset(scratch.room, 0, sizeof(scratch.room));
		memcpy(scratch.room + at, &mark, sizeof(mark));
		if (to_qp_ex(&scratch.qp))
			mark_offset = at;
	}
}

/* ---- which operations ---- */

static const struct {
	uint32_t flag;
	uint8_t opcode;
} operations[] = {
	{IBV_QP_EX_WITH_RDMA_WRITE, UHCA_ABI_WR_RDMA_WRITE},
	{IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM},
	{IBV_QP_EX_WITH_SEND, UHCA_ABI_WR_SEND},
	{IBV_QP_EX_WITH_SEND_WITH_IMM, UHCA_ABI_WR_SEND_WITH_IMM},
	{IBV_QP_EX_WITH_RDMA_READ, UHCA_ABI_WR_RDMA_READ},
	{IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP},
	{IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD},
	{IBV_QP_EX_WITH_LOCAL_INV, UHCA_ABI_WR_LOCAL_INV},
	{IBV_QP_EX_WITH_BIND_MW, UHCA_ABI_WR_BIND_MW},
	{IBV_QP_EX_WITH_SEND_WITH_INV, UHCA_ABI_WR_SEND_WITH_INV},
	{UHCAV_QP_EX_WITH_FLUSH, UHCA_ABI_WR_FLUSH},
	{IBV_QP_EX_WITH_ATOMIC_WRITE, UHCA_ABI_WR_ATOMIC_WRITE},
};

uint32_t uhcav_qp_ex_opcodes(uint32_t features)
{
	static const struct {
		uint32_t any_of; /* features */
		uint32_t opcodes;
	} need[] = {
		{UHCA_ABI_HAS_ATOMICS,
		 BIT(UHCA_ABI_WR_ATOMIC_CMP_AND_SWP) | BIT(UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD)},
		{UHCA_ABI_HAS_ATOMIC_WRITE, BIT(UHCA_ABI_WR_ATOMIC_WRITE)},
		{UHCA_ABI_HAS_FLUSH, BIT(UHCA_ABI_WR_FLUSH)},
		{UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B, BIT(UHCA_ABI_WR_BIND_MW)},
		{UHCA_ABI_HAS_INVALIDATE,
		 BIT(UHCA_ABI_WR_LOCAL_INV) | BIT(UHCA_ABI_WR_SEND_WITH_INV)},
	};
	uint32_t mask = UINT32_MAX;

	for (size_t i = 0; i < sizeof(need) / sizeof(need[0]); i++)
		if (!(features & need[i].any_of))
			mask &= ~need[i].opcodes;
	return mask;
}

/* The opcodes that a QP of this library can have builders for. */
static uint32_t buildable(const struct uhcav_qp *qp)
{
	uint32_t mask = qp->send_mask;

	if (mark_offset < OFFSET_ATOMIC_WRITE + sizeof(void *))
		mask &= ~BIT(UHCA_ABI_WR_ATOMIC_WRITE);
	if (mark_offset < OFFSET_FLUSH + sizeof(void *))
		mask &= ~BIT(UHCA_ABI_WR_FLUSH);
	return mark_offset ? mask : 0;
}

/* Opcodes of the flags; *unknown gets the flags that name none. */
static uint32_t opcodes_of(uint64_t flags, uint64_t *unknown)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (flags & operations[i].flag)
			mask |= BIT(operations[i].opcode);
		flags &= ~(uint64_t)operations[i].flag;
	}
	*unknown = flags;
	return mask;
}

int uhcav_qp_ex_check(const struct uhcav_qp *qp, uint64_t send_ops_flags)
{
	uint64_t unknown;
	uint32_t asked = opcodes_of(send_ops_flags, &unknown);

	if (!mark_offset)
		return uhcav_refuse(
			qp->ctx, "create_qp_ex", -EOPNOTSUPP,
			"send_ops_flags: this libibverbs has an unknown layout of extended QPs");
	if (unknown || (asked & ~buildable(qp)))
		return uhcav_refuse(qp->ctx, "create_qp_ex", -EOPNOTSUPP,
				    "send_ops_flags 0x%llx has operations that the QP's type or "
				    "the device lacks",
				    (unsigned long long)send_ops_flags);
	return 0;
}

/* ---- posting ---- */

static struct uhcav_qp *of(struct ibv_qp_ex *qpx)
{
	return uhcav_qp_of(&qpx->qp_base);
}

static void fail(struct uhcav_qp *qp, int err)
{
	if (!qp->build.err)
		qp->build.err = err;
}

/* The first mistake of a post counts. */
#define REFUSE(qp, ...)                                                                            \
	do {                                                                                       \
		if (!(qp)->build.err)                                                              \
			(qp)->build.err = uhcav_because(EINVAL, __VA_ARGS__);                      \
	} while (0)

void uhcav_qp_ex_fail(struct uhcav_qp *qp, int err)
{
	fail(qp, err);
}

/*
 * An address handle must follow a datagram's builder (ibv_wr_post(3), QP specific setters), and
 * one element a READ's that invalidates it.
 */
static void end_entry(struct uhcav_qp *qp)
{
	const struct uhca_abi_send_wqe *wqe = qp->build.wqe;

	if (qp->build.no_address)
		REFUSE(qp, "a request of a UD QP has no ibv_wr_set_ud_addr");
	if (wqe && wqe->opcode == UHCA_ABI_WR_READ_WITH_INV && wqe->num_sge != 1)
		REFUSE(qp, "a READ with invalidate needs 1 element, not %u", wqe->num_sge);
	qp->build.no_address = false;
}

static void wr_start(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = of(qpx);

	uhcav_lock(&qp->sq.lock);
	qp->build.start = qp->sq.producer;
	qp->build.wqe = NULL;
	qp->build.no_address = false;
	qp->build.err = uhcav_life(qp->ctx) == UHCAV_ALIVE ? uhcav_send_state(qp) : EIO;
}

static int ask(struct uhcav_qp *qp)
{
	struct uhca_cmd_fault_check ask = {.verb = UHCA_FAULT_WR_COMPLETE,
					   .qpn = qp->qp.qp_num,
					   .requests = qp->sq.producer - qp->build.start};

	return uhcav_post_fault(qp->ctx, &ask).err;
}

static void give_up(struct uhcav_qp *qp)
{
	qp->sq.producer = qp->build.start;
	uhcav_mw_not_posted(&qp->build.windows);
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = of(qpx);
	uint64_t wr_id;
	bool posted;
	int err;

	end_entry(qp);
	if (uhcav_post_watched(qp->ctx) && !qp->build.err)
		fail(qp, ask(qp));
	err = qp->build.err;
	if (err)
		give_up(qp);
	uhcav_mw_posted(&qp->build.windows);
	posted = qp->sq.producer != qp->build.start;
	if (posted)
		uhca_ring_publish(&qp->sq.ring->producer, qp->sq.producer);
	wr_id = qpx->wr_id; /* another thread's behind the lock */
	uhcav_unlock(&qp->sq.lock);
	if (posted)
		uhcav_context_ring(qp->ctx, qp->doorbell);
	if (__builtin_expect(err != 0, 0))
		uhcav_send_refused(qp, "wr_complete", err, wr_id);
	return uhcav_failed(err);
}

static void wr_abort(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = of(qpx);

	give_up(qp);
	uhcav_unlock(&qp->sq.lock);
}

/* ---- builders ---- */

static int may_build(struct uhcav_qp *qp, uint8_t opcode)
{
	if (!(qp->build.ops & BIT(opcode)))
		return uhcav_because(EINVAL, "opcode %u was not requested with send_ops_flags",
				     opcode);
	if (qp->qpx.wr_flags & ~UHCAV_SEND_FLAGS)
		return uhcav_because(EINVAL, "wr_flags 0x%x has bits beyond 0x%x", qp->qpx.wr_flags,
				     UHCAV_SEND_FLAGS);
	return uhcav_work_queue_full(&qp->sq) ? ENOMEM : 0;
}

/* Begins the next entry; NULL after an error. */
static struct uhca_abi_send_wqe *begin(struct ibv_qp_ex *qpx, uint8_t opcode)
{
	struct uhcav_qp *qp = of(qpx);
	struct uhca_abi_send_wqe *wqe;

	end_entry(qp);
	qp->build.wqe = NULL;
	if (!qp->build.err)
		qp->build.err = may_build(qp, opcode);
	if (qp->build.err)
		return NULL;
	qp->build.index = qp->sq.producer++;
	qp->build.has_data = false;
	qp->build.no_address = qp->qp.qp_type == IBV_QPT_UD;
	wqe = uhcav_send_slot(qp, qp->build.index);
	*wqe = (struct uhca_abi_send_wqe){
		.wr_id = qpx->wr_id, .opcode = opcode, .flags = uhcav_send_flags(qpx->wr_flags)};
	uhcav_send_note(qp, qp->build.index, wqe);
	qp->build.wqe = wqe;
	return wqe;
}

struct uhca_abi_send_wqe *uhcav_qp_ex_begin(struct uhcav_qp *qp, uint8_t opcode)
{
	return begin(&qp->qpx, opcode);
}

static void wr_send(struct ibv_qp_ex *qpx)
{
	begin(qpx, UHCA_ABI_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm_data)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_SEND_WITH_IMM);

	if (wqe)
		wqe->imm = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qpx, uint32_t invalidate_rkey)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_SEND_WITH_INV);

	if (wqe)
		wqe->imm = invalidate_rkey;
}

static struct uhca_abi_send_wqe *begin_rdma(struct ibv_qp_ex *qpx, uint8_t opcode, uint32_t rkey,
					    uint64_t remote_addr)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, opcode);

	if (wqe) {
		wqe->rdma.remote_addr = remote_addr;
		wqe->rdma.rkey = rkey;
	}
	return wqe;
}

static void wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(qpx, UHCA_ABI_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	struct uhca_abi_send_wqe *wqe =
		begin_rdma(qpx, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);

	if (wqe)
		wqe->imm = imm_data;
}

static void wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(qpx, UHCA_ABI_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP);

	if (!wqe)
		return;
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.compare_add = compare;
	wqe->atomic.swap = swap;
	wqe->atomic.rkey = rkey;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD);

	if (!wqe)
		return;
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.compare_add = add;
	wqe->atomic.rkey = rkey;
}

/* The eight bytes are the call's own: no setter follows, and max_inline_data does not matter. */
static void wr_atomic_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr,
			    const void *atomic_wr)
{
	struct uhcav_qp *qp = of(qpx);
	struct uhca_abi_send_wqe *wqe =
		begin_rdma(qpx, UHCA_ABI_WR_ATOMIC_WRITE, rkey, remote_addr);

	if (!wqe)
		return;
	if (qp->data_stride < ATOMIC_LENGTH) {
		REFUSE(qp, "the QP has no room for the eight bytes of an ATOMIC WRITE");
		return;
	}
	memcpy(uhcav_send_data(qp, qp->build.index), atomic_wr, ATOMIC_LENGTH);
	wqe->flags |= UHCA_ABI_SEND_INLINE;
	wqe->inline_length = ATOMIC_LENGTH;
	qp->build.has_data = true;
}

static void wr_flush(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t remote_addr, size_t len,
		     uint8_t type, uint8_t level)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_FLUSH);

	if (!wqe)
		return;
	wqe->flush.remote_addr = remote_addr;
	wqe->flush.length = len;
	wqe->flush.rkey = rkey;
	wqe->flush.type = type;
	wqe->flush.level = level;
	of(qpx)->build.has_data = true;
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t invalidate_rkey)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_LOCAL_INV);

	if (!wqe)
		return;
	wqe->imm = invalidate_rkey;
	of(qpx)->build.has_data = true;
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct uhca_abi_send_wqe *wqe = begin(qpx, UHCA_ABI_WR_BIND_MW);
	struct uhcav_qp *qp = of(qpx);

	if (!wqe)
		return;
	if (!mw) {
		REFUSE(qp, "mw is NULL");
		return;
	}
	if (uhcav_mw_put_bind(wqe, qp->qp.context, IBV_MW_TYPE_2, mw, rkey, info))
		uhcav_mw_rekey(&qp->build.windows, mw, wqe->bind.new_rkey);
	qp->build.has_data = true;
}

/* No QP can ask for it; a program that calls it all the same learns so from wr_complete. */
static void wr_send_tso(struct ibv_qp_ex *qpx, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	(void)hdr, (void)hdr_sz, (void)mss;
	of(qpx)->build.wqe = NULL;
	REFUSE(of(qpx), "ibv_wr_send_tso is not supported");
}

/* ---- setters ---- */

static void wr_set_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct uhcav_qp *qp = of(qpx);
	struct uhca_abi_send_wqe *wqe = qp->build.wqe;

	if (!ah || qp->qp.qp_type != IBV_QPT_UD) {
		REFUSE(qp, "ibv_wr_set_ud_addr: ah is NULL, or the QP is not UD");
	} else if (wqe) {
		wqe->ud.ah = uhcav_ah_name(qp->qp.context, ah);
		wqe->ud.remote_qpn = remote_qpn;
		wqe->ud.remote_qkey = remote_qkey;
		qp->build.no_address = false;
	}
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qpx, uint32_t remote_srqn)
{
	struct uhcav_qp *qp = of(qpx);

	if (qp->qp.qp_type != IBV_QPT_XRC_SEND)
		REFUSE(qp, "ibv_wr_set_xrc_srqn: the QP is not XRC_SEND");
	else if (qp->build.wqe)
		qp->build.wqe->xrc_srqn = remote_srqn;
}

/* The entry that takes data; NULL after an error. It takes data once. */
static struct uhca_abi_send_wqe *data_entry(struct uhcav_qp *qp)
{
	if (!qp->build.wqe || qp->build.has_data) {
		REFUSE(qp, "the request has data already, or takes none");
		return NULL;
	}
	qp->build.has_data = true;
	return qp->build.wqe;
}

static void wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge, const struct ibv_sge *sg_list)
{
	struct uhcav_qp *qp = of(qpx);
	struct uhca_abi_send_wqe *wqe = data_entry(qp);

	if (wqe)
		fail(qp, uhcav_send_put_elements(qp, qp->build.index, wqe, sg_list, num_sge));
}

static void wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(qpx, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct uhcav_qp *qp = of(qpx);
	struct uhca_abi_send_wqe *wqe = data_entry(qp);
	int err;

	if (!wqe)
		return;
	err = uhcav_send_add_inline(qp, qp->build.index, wqe, NULL, 0);
	for (size_t i = 0; i < num_buf && !err; i++)
		err = uhcav_send_add_inline(qp, qp->build.index, wqe, buf_list[i].addr,
					    buf_list[i].length);
	fail(qp, err);
}

static void wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	struct ibv_data_buf buf = {.addr = addr, .length = length};

	wr_set_inline_data_list(qpx, 1, &buf);
}

/* ---- */

static void fill_setters(struct ibv_qp_ex *qpx)
{
	qpx->wr_start = wr_start;
	qpx->wr_complete = wr_complete;
	qpx->wr_abort = wr_abort;
	qpx->wr_set_ud_addr = wr_set_ud_addr;
	qpx->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qpx->wr_set_inline_data = wr_set_inline_data;
	qpx->wr_set_inline_data_list = wr_set_inline_data_list;
	qpx->wr_set_sge = wr_set_sge;
	qpx->wr_set_sge_list = wr_set_sge_list;
}

/* All of them: one that was not asked for fails the post, instead of the program. */
static void fill_builders(struct ibv_qp_ex *qpx)
{
	qpx->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qpx->wr_atomic_fetch_add = wr_atomic_fetch_add;
	qpx->wr_bind_mw = wr_bind_mw;
	qpx->wr_local_inv = wr_local_inv;
	qpx->wr_rdma_read = wr_rdma_read;
	qpx->wr_rdma_write = wr_rdma_write;
	qpx->wr_rdma_write_imm = wr_rdma_write_imm;
	qpx->wr_send = wr_send;
	qpx->wr_send_imm = wr_send_imm;
	qpx->wr_send_inv = wr_send_inv;
	qpx->wr_send_tso = wr_send_tso;
}

/* By offset: the struct that we were built with may be longer or shorter than the library's. */
static void fill_newer(struct uhcav_qp *qp)
{
	void (*write)(struct ibv_qp_ex *, uint32_t, uint64_t, const void *) = wr_atomic_write;
	wr_flush_fn *flush = wr_flush;

	if (mark_offset >= OFFSET_ATOMIC_WRITE + sizeof(write))
		memcpy(qp->room + OFFSET_ATOMIC_WRITE, &write, sizeof(write));
	if (mark_offset >= OFFSET_FLUSH + sizeof(flush))
		memcpy(qp->room + OFFSET_FLUSH, &flush, sizeof(flush));
}

void uhcav_qp_ex_enable(struct uhcav_qp *qp, uint64_t send_ops_flags)
{
	struct ibv_qp_ex *qpx = &qp->qpx;
	uint32_t mark = MARK_QP_EX;
	uint64_t unknown;

	qp->build.ops = opcodes_of(send_ops_flags, &unknown);
	fill_setters(qpx);
	fill_builders(qpx);
	fill_newer(qp);
	memcpy(qp->room + mark_offset, &mark, sizeof(mark));
}
