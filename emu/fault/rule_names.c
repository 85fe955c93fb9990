/* SPDX-License-Identifier: BSD-2-Clause */
#include "rule_names.h"

#include "cm_msg.h"
#include "cqe.h"
#include "event.h"
#include "rule_value.h"
#include "syndrome.h"

#include <errno.h>
#include <string.h>

#define END_                                                                                       \
	{                                                                                          \
		NULL, 0                                                                            \
	}

#define WC_(name)                                                                                  \
	{                                                                                          \
#name, UHCA_ABI_WC_##name                                                          \
	}
static const struct fault_constant wc_statuses[] = {
	WC_(SUCCESS),
	WC_(LOC_LEN_ERR),
	WC_(LOC_QP_OP_ERR),
	WC_(LOC_EEC_OP_ERR),
	WC_(LOC_PROT_ERR),
	WC_(WR_FLUSH_ERR),
	WC_(MW_BIND_ERR),
	WC_(BAD_RESP_ERR),
	WC_(LOC_ACCESS_ERR),
	WC_(REM_INV_REQ_ERR),
	WC_(REM_ACCESS_ERR),
	WC_(REM_OP_ERR),
	WC_(RETRY_EXC_ERR),
	WC_(RNR_RETRY_EXC_ERR),
	WC_(LOC_RDD_VIOL_ERR),
	WC_(REM_INV_RD_REQ_ERR),
	WC_(REM_ABORT_ERR),
	WC_(INV_EECN_ERR),
	WC_(INV_EEC_STATE_ERR),
	WC_(FATAL_ERR),
	WC_(RESP_TIMEOUT_ERR),
	WC_(GENERAL_ERR),
	END_,
};
const struct fault_constants fault_wc_statuses = {"status", "IBV_WC_", wc_statuses};

static const struct fault_constant wc_opcodes[] = {
	WC_(SEND),
	WC_(RDMA_WRITE),
	WC_(RDMA_READ),
	WC_(COMP_SWAP),
	WC_(FETCH_ADD),
	WC_(BIND_MW),
	WC_(LOCAL_INV),
	WC_(FLUSH),
	WC_(ATOMIC_WRITE),
	WC_(REG_MR),
	WC_(REG_INTERLEAVED),
	WC_(REG_SG),
	WC_(READ_WITH_INV),
	WC_(MASKED_CMP_SWP),
	WC_(MASKED_FETCH_ADD),
	WC_(RECV),
	WC_(RECV_RDMA_WITH_IMM),
	END_,
};
const struct fault_constants fault_wc_opcodes = {"opcode of a completion", "IBV_WC_", wc_opcodes};

#define EVENT_(name)                                                                               \
	{                                                                                          \
#name, UHCA_ABI_EVENT_##name                                                       \
	}
static const struct fault_constant events[] = {
	EVENT_(CQ_ERR),
	EVENT_(QP_FATAL),
	EVENT_(QP_REQ_ERR),
	EVENT_(QP_ACCESS_ERR),
	EVENT_(COMM_EST),
	EVENT_(SQ_DRAINED),
	EVENT_(PATH_MIG),
	EVENT_(PATH_MIG_ERR),
	EVENT_(DEVICE_FATAL),
	EVENT_(PORT_ACTIVE),
	EVENT_(PORT_ERR),
	EVENT_(LID_CHANGE),
	EVENT_(PKEY_CHANGE),
	EVENT_(SM_CHANGE),
	EVENT_(SRQ_ERR),
	EVENT_(SRQ_LIMIT_REACHED),
	EVENT_(QP_LAST_WQE_REACHED),
	EVENT_(CLIENT_REREGISTER),
	EVENT_(GID_CHANGE),
	EVENT_(WQ_FATAL),
	END_,
};
const struct fault_constants fault_events = {"event", "IBV_EVENT_", events};

#define ERRNO_(name)                                                                               \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct fault_constant errnos[] = {
	ERRNO_(EPERM),           ERRNO_(ENOENT),
	ERRNO_(EINTR),           ERRNO_(EIO),
	ERRNO_(ENXIO),           ERRNO_(E2BIG),
	ERRNO_(EBADF),           ERRNO_(EAGAIN),
	ERRNO_(ENOMEM),          ERRNO_(EACCES),
	ERRNO_(EFAULT),          ERRNO_(EBUSY),
	ERRNO_(EEXIST),          ERRNO_(EXDEV),
	ERRNO_(ENODEV),          ERRNO_(EINVAL),
	ERRNO_(ENFILE),          ERRNO_(EMFILE),
	ERRNO_(ENOTTY),          ERRNO_(EFBIG),
	ERRNO_(ENOSPC),          ERRNO_(EPIPE),
	ERRNO_(ERANGE),          ERRNO_(EDOM),
	ERRNO_(EDEADLK),         ERRNO_(ENOSYS),
	ERRNO_(EPROTO),          ERRNO_(EOVERFLOW),
	ERRNO_(EMSGSIZE),        ERRNO_(EOPNOTSUPP),
	ERRNO_(EPROTONOSUPPORT), ERRNO_(EADDRINUSE),
	ERRNO_(EADDRNOTAVAIL),   ERRNO_(ENETDOWN),
	ERRNO_(ENETUNREACH),     ERRNO_(ECONNABORTED),
	ERRNO_(ECONNRESET),      ERRNO_(ENOBUFS),
	ERRNO_(EISCONN),         ERRNO_(ENOTCONN),
	ERRNO_(ETIMEDOUT),       ERRNO_(ECONNREFUSED),
	ERRNO_(EHOSTDOWN),       ERRNO_(EHOSTUNREACH),
	ERRNO_(EALREADY),        ERRNO_(EINPROGRESS),
	ERRNO_(ESTALE),          ERRNO_(ECANCELED),
	ERRNO_(ENOTSUP),         END_,
};
const struct fault_constants fault_errnos = {"errno", "", errnos};

static const struct fault_constant naks[] = {
	{"sequence", ROCE_NAK_PSN_SEQUENCE},
	{"invalid", ROCE_NAK_INVALID_REQUEST},
	{"access", ROCE_NAK_REMOTE_ACCESS},
	{"operational", ROCE_NAK_REMOTE_OPERATIONAL},
	END_,
};
const struct fault_constants fault_naks = {"NAK", "", naks};

static const struct fault_constant cm_messages[] = {
	{"REQ", ROCE_CM_REQ},
	{"MRA", ROCE_CM_MRA},
	{"REJ", ROCE_CM_REJ},
	{"REP", ROCE_CM_REP},
	{"RTU", ROCE_CM_RTU},
	{"DREQ", ROCE_CM_DREQ},
	{"DREP", ROCE_CM_DREP},
	{"SIDR_REQ", ROCE_CM_SIDR_REQ},
	{"SIDR_REP", ROCE_CM_SIDR_REP},
	/* Automatic path migration (12.8): nobody here sends them, others may. */
	{"LAP", 0x0019},
	{"APR", 0x001a},
	END_,
};
const struct fault_constants fault_cm_messages = {"CM message", "", cm_messages};

static const struct fault_constant cm_reasons[] = {
	{"no_qp", ROCE_CM_REJ_NO_QP},
	{"no_resources", ROCE_CM_REJ_NO_RESOURCES},
	{"timeout", ROCE_CM_REJ_TIMEOUT},
	{"unsupported", ROCE_CM_REJ_UNSUPPORTED},
	{"invalid_comm_id", ROCE_CM_REJ_INVALID_COMM_ID},
	{"invalid_service_id", ROCE_CM_REJ_INVALID_SERVICE_ID},
	{"invalid_transport", ROCE_CM_REJ_INVALID_TRANSPORT},
	{"stale", ROCE_CM_REJ_STALE_CONNECTION},
	{"invalid_mtu", ROCE_CM_REJ_INVALID_MTU},
	{"responder_resources", ROCE_CM_REJ_RESPONDER_RESOURCES},
	{"consumer", ROCE_CM_REJ_CONSUMER},
	{"rnr_retry_count", ROCE_CM_REJ_RNR_RETRY_COUNT},
	{"duplicate_comm_id", ROCE_CM_REJ_DUPLICATE_COMM_ID},
	END_,
};
const struct fault_constants fault_cm_reasons = {"reason", "", cm_reasons};

static const struct fault_constant layers[] = {
	{"packet", FAULT_LAYER_PACKET},
	{"call", FAULT_LAYER_CALL},
	{"completion", FAULT_LAYER_COMPLETION},
	{"memory", FAULT_LAYER_MEMORY},
	{"time", FAULT_LAYER_TIME},
	END_,
};
const struct fault_constants fault_layers = {"moment", "", layers};

#define CALL_(name)                                                                                \
	{                                                                                          \
#name, 0                                                                           \
	}
static const struct fault_constant calls[] = {
	/* libibverbs, less the ibv_ */
	CALL_(open_device),
	CALL_(query_device),
	CALL_(query_port),
	CALL_(query_gid),
	CALL_(alloc_pd),
	CALL_(dealloc_pd),
	CALL_(reg_mr),
	CALL_(dereg_mr),
	CALL_(rereg_mr),
	CALL_(advise_mr),
	CALL_(alloc_null_mr),
	CALL_(alloc_mw),
	CALL_(dealloc_mw),
	CALL_(alloc_dm),
	CALL_(free_dm),
	CALL_(reg_dm_mr),
	CALL_(create_channel),
	CALL_(destroy_channel),
	CALL_(create_cq),
	CALL_(destroy_cq),
	CALL_(resize_cq),
	CALL_(modify_cq),
	CALL_(req_notify),
	CALL_(create_qp),
	CALL_(modify_qp),
	CALL_(query_qp),
	CALL_(destroy_qp),
	CALL_(open_qp),
	CALL_(create_srq),
	CALL_(modify_srq),
	CALL_(query_srq),
	CALL_(destroy_srq),
	CALL_(create_ah),
	CALL_(destroy_ah),
	CALL_(attach_mcast),
	CALL_(detach_mcast),
	CALL_(open_xrcd),
	CALL_(close_xrcd),
	CALL_(create_wq),
	CALL_(modify_wq),
	CALL_(destroy_wq),
	CALL_(create_rwq_ind_table),
	CALL_(destroy_rwq_ind_table),
	CALL_(create_flow),
	CALL_(destroy_flow),
	CALL_(export),
	CALL_(import),
	CALL_(alloc_key),
	CALL_(describe_key),
	CALL_(reg_shared_mr),
	CALL_(post_send),
	CALL_(post_recv),
	CALL_(post_srq_recv),
	CALL_(post_wq_recv),
	CALL_(bind_mw),
	/* librdmacm */
	CALL_(rdma_create_id),
	CALL_(rdma_destroy_id),
	CALL_(rdma_bind_addr),
	CALL_(rdma_resolve_addr),
	CALL_(rdma_resolve_route),
	CALL_(rdma_query),
	CALL_(rdma_connect),
	CALL_(rdma_listen),
	CALL_(rdma_accept),
	CALL_(rdma_reject),
	CALL_(rdma_disconnect),
	CALL_(rdma_init_qp_attr),
	CALL_(rdma_get_event),
	CALL_(rdma_set_option),
	CALL_(rdma_notify),
	CALL_(rdma_join_mcast),
	CALL_(rdma_leave_mcast),
	CALL_(rdma_migrate_id),
	END_,
};
const struct fault_constants fault_calls = {"call", "", calls};

const char *fault_constant_at(const void *table, unsigned i)
{
	return ((const struct fault_constant *)table)[i].name;
}

const struct fault_constant *fault_constant_find(const struct fault_constants *c,
						 struct fault_piece p)
{
	const size_t prefix = strlen(c->prefix);

	if (prefix && fault_piece_begins(p, c->prefix)) {
		p.at += prefix;
		p.length -= prefix;
	}
	for (const struct fault_constant *k = c->table; k->name; k++)
		if (fault_piece_is(p, k->name))
			return k;
	return NULL;
}

int fault_constant_parse(const struct fault_text *t, const struct fault_constants *c,
			 struct fault_piece p, uint64_t most, uint64_t *out)
{
	const struct fault_constant *k = fault_constant_find(c, p);
	char hint[FAULT_WORD_MAX];

	if (k) {
		*out = k->value;
		return 0;
	}
	if (most && fault_value_number(p, out)) {
		if (*out > most)
			return fault_fail(t, p.at, "%.*s is no %s: more than %u", (int)p.length,
					  p.at, c->what, (unsigned)most);
		return 0;
	}
	fault_hint(fault_nearest(p, fault_constant_at, c->table), hint, sizeof(hint));
	return fault_fail(t, p.at, "there is no %s '%.*s'%s", c->what, (int)p.length, p.at, hint);
}

const char *fault_constant_name(const struct fault_constants *c, uint64_t value)
{
	for (const struct fault_constant *k = c->table; k->name; k++)
		if (k->value == value)
			return k->name;
	return NULL;
}
