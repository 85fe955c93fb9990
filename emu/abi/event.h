/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the daemon writes into event channels: SEQPACKET socket pairs that the provider makes and
 * of which it hands the daemon one end. The application reads the other with plain read(2) through
 * libibverbs, so the records are exactly what the kernel's uverbs files deliver.
 */
#ifndef UHCA_ABI_EVENT_H
#define UHCA_ABI_EVENT_H

#include <assert.h>
#include <stdint.h>

/* On a completion channel: the cookie given at create_cq, which is the address of the ibv_cq. */
struct uhca_abi_comp_event {
	uint64_t cookie;
};
static_assert(sizeof(struct uhca_abi_comp_event) == 8, "as ib_uverbs_comp_event_desc");

/* Async event types: the values of enum ibv_event_type. */
enum {
	UHCA_ABI_EVENT_CQ_ERR = 0,
	UHCA_ABI_EVENT_QP_FATAL = 1,
	UHCA_ABI_EVENT_QP_REQ_ERR = 2,
	UHCA_ABI_EVENT_QP_ACCESS_ERR = 3,
	UHCA_ABI_EVENT_COMM_EST = 4,
	UHCA_ABI_EVENT_SQ_DRAINED = 5,
	UHCA_ABI_EVENT_PATH_MIG = 6,
	UHCA_ABI_EVENT_PATH_MIG_ERR = 7,
	UHCA_ABI_EVENT_DEVICE_FATAL = 8,
	UHCA_ABI_EVENT_PORT_ACTIVE = 9,
	UHCA_ABI_EVENT_PORT_ERR = 10,
	UHCA_ABI_EVENT_LID_CHANGE = 11,
	UHCA_ABI_EVENT_PKEY_CHANGE = 12,
	UHCA_ABI_EVENT_SM_CHANGE = 13,
	UHCA_ABI_EVENT_SRQ_ERR = 14,
	UHCA_ABI_EVENT_SRQ_LIMIT_REACHED = 15,
	UHCA_ABI_EVENT_QP_LAST_WQE_REACHED = 16,
	UHCA_ABI_EVENT_CLIENT_REREGISTER = 17,
	UHCA_ABI_EVENT_GID_CHANGE = 18,
	UHCA_ABI_EVENT_WQ_FATAL = 19,
	UHCA_ABI_EVENT_DEVICE_SPEED_CHANGE = 20,
};

/* On the async fd: element is the cookie of the QP, CQ or SRQ, or the port number. */
struct uhca_abi_async_event {
	uint64_t element;
	uint32_t type;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_abi_async_event) == 16, "as ib_uverbs_async_event_desc");

#endif
