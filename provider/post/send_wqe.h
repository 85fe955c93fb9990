/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One entry of a send ring while it is being written: what ibv_post_send and the ibv_wr_* calls
 * have in common. All under the send queue's lock, for an index that is not published yet.
 */
#ifndef UHCAV_SEND_WQE_H
#define UHCAV_SEND_WQE_H

#include "emu/abi/wqe.h"
#include "provider/qp/qp.h"

#include <infiniband/verbs.h>
#include <stddef.h>

/* The flags a work request may have; INLINE is a setter's business with ibv_wr_*. */
#define UHCAV_SEND_FLAGS                                                                           \
	((unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE))

/* EINVAL, the reason said: in this state no sends are taken, or never. */
int uhcav_send_refuse_state(const struct uhcav_qp *qp, uint32_t state);

/*
 * Does the queue take requests? 0, or EINVAL before RTS (IBTA vol. 1, 10.3.1), and of a QP that has
 * no send queue: XRC_RECV, and raw packets with an indirection table.
 */
static inline int uhcav_send_state(const struct uhcav_qp *qp)
{
	uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);

	if (qp->sq.ring && (state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE ||
			    state == IBV_QPS_ERR))
		return 0;
	return uhcav_send_refuse_state(qp, state);
}

/* Tells of a call that the library refuses (uhcav_post_refused); outside of locks. */
int uhcav_send_refused(struct uhcav_qp *qp, const char *verb, int err, uint64_t wr_id);

static inline struct uhca_abi_send_wqe *uhcav_send_slot(const struct uhcav_qp *qp, uint32_t index)
{
	return (struct uhca_abi_send_wqe *)(void *)uhcav_work_queue_slot(&qp->sq, index);
}

/* Where the entry's own data stand, data_stride bytes. */
static inline uint8_t *uhcav_send_data(const struct uhcav_qp *qp, uint32_t index)
{
	return qp->send_data + (size_t)(index & qp->sq.mask) * qp->data_stride;
}

/* Verbs' flags as the ring has them; INLINE and GATHERED come with the data. */
static inline uint16_t uhcav_send_flags(unsigned flags)
{
	uint16_t f = 0;

	if (flags & IBV_SEND_SIGNALED)
		f |= UHCA_ABI_SEND_SIGNALED;
	if (flags & IBV_SEND_SOLICITED)
		f |= UHCA_ABI_SEND_SOLICITED;
	if (flags & IBV_SEND_FENCE)
		f |= UHCA_ABI_SEND_FENCE;
	return f;
}

/* Keeps what flush_qp.c and those behind it must know of the request. */
static inline void uhcav_send_note(struct uhcav_qp *qp, uint32_t index,
				   const struct uhca_abi_send_wqe *wqe)
{
	if (wqe->flags & UHCA_ABI_SEND_FENCE) {
		qp->fenced = true;
		qp->fence = index + 1;
	}
	*uhcav_work_queue_posted(&qp->sq, index) = (struct uhcav_posted){
		.wr_id = wqe->wr_id,
		.opcode = wqe->opcode,
		.signaled = qp->sq_sig_all || (wqe->flags & UHCA_ABI_SEND_SIGNALED),
	};
}

/*
 * Makes the payload inline and adds one piece of it, which need not be registered. 0, or EINVAL:
 * the request has no payload, or it would be longer than max_inline_data.
 */
int uhcav_send_add_inline(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			  const void *data, size_t length);

/* All of a list that way. */
int uhcav_send_put_inline(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			  const struct ibv_sge *sge, int n);

/*
 * Names the payload, or the place of a result, by elements; short payloads are gathered. 0, or
 * EINVAL: more elements than the queue has room for.
 */
int uhcav_send_put_elements(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			    const struct ibv_sge *sge, size_t n);

#endif
