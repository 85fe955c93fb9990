/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a send entry. A small one is copied into the slot's data area at once: because the
 * application asked for it (inline), or because that spares the daemon a trip into our address
 * space (gathered). Gathering must not be observable (design D14): it is left when the request is
 * fenced (its payload may be a READ's result that is not there yet), as long as a fenced one is
 * before it in the queue (requests begin in order, 10.8.3.3: so the result is there for this one,
 * too), and when an element is not inside a region that is registered, which is for the device to
 * find out.
 */
#include "send_wqe.h"

#include "provider/context/context.h"

#include <string.h>

#define BIT(opcode) (1u << (opcode))

/* Work requests whose elements name what is sent. */
#define WITH_PAYLOAD                                                                               \
	(BIT(UHCA_ABI_WR_SEND) | BIT(UHCA_ABI_WR_SEND_WITH_IMM) | BIT(UHCA_ABI_WR_SEND_WITH_INV) | \
	 BIT(UHCA_ABI_WR_RDMA_WRITE) | BIT(UHCA_ABI_WR_RDMA_WRITE_WITH_IMM) |                      \
	 BIT(UHCA_ABI_WR_ATOMIC_WRITE))

_Static_assert(sizeof(struct ibv_sge) == sizeof(struct uhca_abi_sge),
	       "elements are not translated");

int uhcav_send_add_inline(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			  const void *data, size_t length)
{
	if (!(WITH_PAYLOAD & BIT(wqe->opcode)))
		return uhcav_because(EINVAL, "opcode %u has no payload to send inline",
				     wqe->opcode);
	if (length > qp->max_inline_data - wqe->inline_length)
		return uhcav_because(EINVAL, "%zu bytes inline exceed the QP's max_inline_data, %u",
				     length + wqe->inline_length, qp->max_inline_data);
	if (length)
		memcpy(uhcav_send_data(qp, index) + wqe->inline_length, data, length);
	wqe->flags |= UHCA_ABI_SEND_INLINE;
	wqe->inline_length += (uint32_t)length;
	return 0;
}

int uhcav_send_put_inline(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			  const struct ibv_sge *sge, int n)
{
	int err = uhcav_send_add_inline(qp, index, wqe, NULL, 0);

	for (int i = 0; i < n && !err; i++)
		err = uhcav_send_add_inline(qp, index, wqe, (const void *)(uintptr_t)sge[i].addr,
					    sge[i].length);
	return err;
}

static uint64_t total_length(const struct ibv_sge *sge, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += sge[i].length;
	return total;
}

/* Does this request have to wait for what a fenced one waits for? */
static bool is_behind_fence(struct uhcav_qp *qp)
{
	if (qp->fenced && (int32_t)(uhca_ring_observe(&qp->sq.ring->consumer) - qp->fence) >= 0)
		qp->fenced = false;
	return qp->fenced;
}

static void gather(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
		   const struct ibv_sge *sge)
{
	uint64_t total = total_length(sge, wqe->num_sge);
	uint8_t *data = uhcav_send_data(qp, index);

	if (!total || total > qp->gather_limit)
		return;
	for (size_t i = 0; i < wqe->num_sge; i++) {
		const void *from = uhcav_mr_table_find(&qp->ctx->regions, sge[i].lkey, sge[i].addr,
						       sge[i].length);
		if (!from)
			return;
		memcpy(data, from, sge[i].length);
		data += sge[i].length;
	}
	wqe->flags |= UHCA_ABI_SEND_GATHERED;
	wqe->inline_length = (uint32_t)total;
}

int uhcav_send_put_elements(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			    const struct ibv_sge *sge, size_t n)
{
	if (n > qp->sq.max_sge)
		return uhcav_because(EINVAL, "num_sge %zu exceeds the QP's max_send_sge, %u", n,
				     qp->sq.max_sge);
	wqe->num_sge = (uint8_t)n;
	if ((WITH_PAYLOAD & BIT(wqe->opcode)) && !(wqe->flags & UHCA_ABI_SEND_FENCE) &&
	    !is_behind_fence(qp))
		gather(qp, index, wqe, sge);
	if (n)
		memcpy(uhcav_send_slot(qp, index) + 1, sge, n * sizeof(*sge));
	return 0;
}

/* "RESET", ...: static text. */
static const char *state_name(uint32_t state)
{
	static const char *const name[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return state < sizeof(name) / sizeof(name[0]) ? name[state] : "no state";
}

int uhcav_send_refuse_state(const struct uhcav_qp *qp, uint32_t state)
{
	if (!qp->sq.ring)
		return uhcav_because(EINVAL, "the QP has no send queue");
	return uhcav_because(EINVAL, "the QP is in %s: sends need at least RTS", state_name(state));
}

int uhcav_send_refused(struct uhcav_qp *qp, const char *verb, int err, uint64_t wr_id)
{
	const struct uhcav_post post = {.verb = verb,
					.qpn = qp->qp.qp_num,
					.state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE),
					.wr_id = wr_id};

	return uhcav_post_refused(qp->ctx, &post, err);
}
