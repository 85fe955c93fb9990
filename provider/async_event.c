/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kind of object an event type belongs to is ibv_get_async_event(3)'s table. Events of the
 * port and of the device belong to no object and need no counting.
 */
#include "async_event.h"

#include "emu/abi/event.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"

/* QPs without send queues are other structs. */
static void note_last_wqe(struct ibv_qp *qp)
{
	if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC || qp->qp_type == IBV_QPT_UD)
		__atomic_store_n(&uhcav_qp_of(qp)->last_wqe, true, __ATOMIC_RELEASE);
}

void uhcav_async_event(struct ibv_context *ibctx, struct ibv_async_event *event)
{
	uint32_t *read;

	uhcav_rpc_order(&uhcav_context_of(ibctx)->rpc);
	uhcav_event_queue_refill(&uhcav_context_of(ibctx)->async);
	switch ((uint32_t)event->event_type) {
	case UHCA_ABI_EVENT_CQ_ERR:
		read = &uhcav_cq_of(event->element.cq)->async_events_read;
		break;
	case UHCA_ABI_EVENT_QP_LAST_WQE_REACHED:
		note_last_wqe(event->element.qp);
		/* fall through */
	case UHCA_ABI_EVENT_QP_FATAL:
	case UHCA_ABI_EVENT_QP_REQ_ERR:
	case UHCA_ABI_EVENT_QP_ACCESS_ERR:
	case UHCA_ABI_EVENT_COMM_EST:
	case UHCA_ABI_EVENT_SQ_DRAINED:
	case UHCA_ABI_EVENT_PATH_MIG:
	case UHCA_ABI_EVENT_PATH_MIG_ERR:
		read = &uhcav_qp_of(event->element.qp)->async_events_read;
		break;
	case UHCA_ABI_EVENT_SRQ_ERR:
	case UHCA_ABI_EVENT_SRQ_LIMIT_REACHED:
		read = &uhcav_srq_of(event->element.srq)->async_events_read;
		break;
	case UHCA_ABI_EVENT_WQ_FATAL:
		read = &uhcav_wq_of(event->element.wq)->async_events_read;
		break;
	default: /* of the port or the device, or newer than we are */
		return;
	}
	__atomic_fetch_add(read, 1, __ATOMIC_RELEASE);
}
