/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of names: statuses, opcodes, events, errno values, NAKs, CM messages, verbs. */
#include "rule_names.h"

#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "emu/abi/names.h"
#include "rule_value.h"
#include "wire/cm_msg.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <string.h>

#define END_                                                                                       \
	{                                                                                          \
		NULL, 0                                                                            \
	}

#define WC_(name) {#name, UHCA_ABI_WC_##name},
static const struct fault_constant wc_statuses[] = {
	UHCA_ABI_STATUS_NAMES(WC_) END_,
};
const struct fault_constants fault_wc_statuses = {"status", "IBV_WC_", wc_statuses};

static const struct fault_constant wc_opcodes[] = {
	UHCA_ABI_OPCODE_NAMES(WC_) END_,
};
const struct fault_constants fault_wc_opcodes = {"completion opcode", "IBV_WC_", wc_opcodes};

#define EVENT_(name) {#name, UHCA_ABI_EVENT_##name},
static const struct fault_constant events[] = {
	UHCA_ABI_EVENT_NAMES(EVENT_) END_,
};
const struct fault_constants fault_events = {"event", "IBV_EVENT_", events};

#define ERRNO_(name)                                                                               \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct fault_constant errnos[] = {
	ERRNO_(EPERM),
	ERRNO_(ENOENT),
	ERRNO_(EINTR),
	ERRNO_(EIO),
	ERRNO_(ENXIO),
	ERRNO_(E2BIG),
	ERRNO_(EBADF),
	ERRNO_(EAGAIN),
	ERRNO_(ENOMEM),
	ERRNO_(EACCES),
	ERRNO_(EFAULT),
	ERRNO_(EBUSY),
	ERRNO_(EEXIST),
	ERRNO_(EXDEV),
	ERRNO_(ENODEV),
	ERRNO_(EINVAL),
	ERRNO_(ENFILE),
	ERRNO_(EMFILE),
	ERRNO_(ENOTTY),
	ERRNO_(EFBIG),
	ERRNO_(ENOSPC),
	ERRNO_(EPIPE),
	ERRNO_(ERANGE),
	ERRNO_(EDOM),
	ERRNO_(EDEADLK),
	ERRNO_(ENOSYS),
	ERRNO_(EPROTO),
	ERRNO_(EOVERFLOW),
	ERRNO_(EMSGSIZE),
	ERRNO_(EOPNOTSUPP),
	ERRNO_(EPROTONOSUPPORT),
	ERRNO_(EADDRINUSE),
	ERRNO_(EADDRNOTAVAIL),
	ERRNO_(ENETDOWN),
	ERRNO_(ENETUNREACH),
	ERRNO_(ECONNABORTED),
	ERRNO_(ECONNRESET),
	ERRNO_(ENOBUFS),
	ERRNO_(EISCONN),
	ERRNO_(ENOTCONN),
	ERRNO_(ETIMEDOUT),
	ERRNO_(ECONNREFUSED),
	ERRNO_(EHOSTDOWN),
	ERRNO_(EHOSTUNREACH),
	ERRNO_(EALREADY),
	ERRNO_(EINPROGRESS),
	ERRNO_(ESTALE),
	ERRNO_(ECANCELED),
	ERRNO_(ENOTSUP),
	ERRNO_(ENODATA),
	END_,
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
	{"hop", FAULT_LAYER_HOP},
	END_,
};
const struct fault_constants fault_layers = {"moment", "", layers};

#define CALL_(name) {#name, 0},
static const struct fault_constant calls[] = {
	UHCA_ABI_CALL_NAMES(CALL_) END_,
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
			return fault_fail(t, p.at, "%.*s is not a valid %s: more than %u",
					  (int)p.length, p.at, c->what, (unsigned)most);
		return 0;
	}
	words_hint(fault_nearest(p, fault_constant_at, c->table), hint, sizeof(hint));
	return fault_fail(t, p.at, "unknown %s '%.*s'%s", c->what, (int)p.length, p.at, hint);
}

const char *fault_constant_name(const struct fault_constants *c, uint64_t value)
{
	for (const struct fault_constant *k = c->table; k->name; k++)
		if (k->value == value)
			return k->name;
	return NULL;
}
