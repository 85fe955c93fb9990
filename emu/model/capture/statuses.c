/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of completion statuses and vendor errors, with what to check. */
#include "statuses.h"

#include "emu/abi/cqe.h"
#include "wire/syndrome.h"

#include <stdio.h>
#include <string.h>

#define STATUS_(name) UHCA_ABI_WC_##name, #name

static const struct model_status statuses[] = {
	{STATUS_(SUCCESS), "The request is done.", "11.6.2", "Nothing: all went well."},
	{STATUS_(LOC_LEN_ERR),
	 "A length is wrong: a message exceeds its receive request, a datagram exceeds the path "
	 "MTU, or the elements of an atomic differ from its size of 8 bytes.",
	 "11.6.2, 9.9.2.1",
	 "The lengths in sg_list of the receive requests against the peer's messages. For UD: the "
	 "receive has 40 bytes for the GRH, and no message exceeds the MTU."},
	{STATUS_(LOC_QP_OP_ERR),
	 "The QP cannot execute the request: transport or device lacks the operation, or an "
	 "operand is of a wrong kind.",
	 "11.6.2, 9.9.2.1",
	 "The opcode against the QP's type and the QP's send_ops_flags. For UD: the address handle "
	 "is of the QP's protection domain."},
	{STATUS_(LOC_EEC_OP_ERR),
	 "An error of Reliable Datagram, which verbs does not offer. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(LOC_PROT_ERR),
	 "The request's local memory is invalid: the lkey is unknown, belongs to another "
	 "protection domain or lacks a right, or the range exceeds the region.",
	 "11.6.2, 10.6.7.2, 9.9.2.1",
	 "lkey, addr and length of each element of sg_list; that the region was not deregistered "
	 "early; that it has IBV_ACCESS_LOCAL_WRITE where data arrives in it."},
	{STATUS_(WR_FLUSH_ERR),
	 "The request did not start: the QP was already in an error state. It is not the cause of "
	 "the error.",
	 "11.6.2, 10.3.1.7",
	 "The first completion of this QP that has another status: that is the error. A program "
	 "that took the QP to ERR itself, or ended, gets flushes as well."},
	{STATUS_(MW_BIND_ERR),
	 "A memory window could not be bound, or a key could not be invalidated: the region, the "
	 "window or its rights do not allow it.",
	 "11.6.2, 10.6.7.2",
	 "The region has IBV_ACCESS_MW_BIND, the range lies in it, and window and region are of "
	 "the QP's protection domain."},
	{STATUS_(BAD_RESP_ERR),
	 "The peer's response is invalid: a NAK with a reserved code, or READ data of a wrong "
	 "length.",
	 "11.6.2, 9.9.2.4", "The network may change packets, or a rule made this response."},
	{STATUS_(LOC_ACCESS_ERR),
	 "A WRITE with immediate data arrived with a wrong key, right or range. The receive "
	 "request that it consumed ends with this status. The peer gets REM_ACCESS_ERR.",
	 "11.6.2",
	 "The rkey and address that this side gave to its peer, and the region's rights."},
	{STATUS_(REM_INV_REQ_ERR),
	 "The peer refused the request as invalid: the message is too long for its receive "
	 "request, its packets do not have the path MTU's length, an atomic's address is no "
	 "multiple of 8, more READs and atomics came at once than agreed, or its QP does not "
	 "allow the operation.",
	 "11.6.2, 9.7.5.1.1, 9.7.4.1",
	 "At the peer: lengths of its receive requests; qp_access_flags (REMOTE_WRITE, "
	 "REMOTE_READ, REMOTE_ATOMIC); max_dest_rd_atomic against max_rd_atomic here; path_mtu of "
	 "both ends; that remote_addr of an atomic is a multiple of 8."},
	{STATUS_(REM_ACCESS_ERR),
	 "The peer denied access to its memory: the rkey is unknown there, the right is missing, "
	 "or the range exceeds the region.",
	 "11.6.2, 9.7.5.1.1, 10.6.7.2",
	 "rkey and remote_addr of the request against the peer's regions; the access flags of its "
	 "region and QP; the region still existed when the packet arrived."},
	{STATUS_(REM_OP_ERR),
	 "The peer could not execute the request, because its memory was gone.",
	 "11.6.2, 9.7.5.1.1", "The peer may have unmapped registered memory; its own completions."},
	{STATUS_(RETRY_EXC_ERR),
	 "The request was sent as often as retry_cnt allows, and no response arrived in time.",
	 "11.6.2, 9.7.6.1.3, 9.9.2.4.1",
	 "Whether the peer is alive and its QP in RTR or RTS; the address, dest_qp_num and PSNs "
	 "that the two sides exchanged; that timeout and retry_cnt are large enough for this "
	 "network (timeout 0 waits for ever)."},
	{STATUS_(RNR_RETRY_EXC_ERR),
	 "The peer had no receive request when the message arrived, nor after rnr_retry "
	 "retransmissions.",
	 "11.6.2, 9.7.5.2.8, 9.9.2.4.2",
	 "That the peer posts receives before this side sends, and often enough; rnr_retry (7 "
	 "waits for ever) here and min_rnr_timer there."},
	{STATUS_(LOC_RDD_VIOL_ERR),
	 "An error of Reliable Datagram, which verbs does not offer. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(REM_INV_RD_REQ_ERR),
	 "An error of Reliable Datagram, which verbs does not offer. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(REM_ABORT_ERR),
	 "The peer aborted the operation, which only Reliable Datagram knows. This device never "
	 "gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(INV_EECN_ERR),
	 "An error of Reliable Datagram, which verbs does not offer. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(INV_EEC_STATE_ERR),
	 "An error of Reliable Datagram, which verbs does not offer. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(FATAL_ERR),
	 "The device failed as a whole. This device never gives it: its requests are flushed "
	 "instead.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(RESP_TIMEOUT_ERR), "The responder timed out. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
	{STATUS_(GENERAL_ERR), "An error without a better name. This device never gives it.",
	 "11.6.2", "Fault rules: one may have made this status."},
};

#define COUNT_(a) (sizeof(a) / sizeof((a)[0]))

const struct model_status *model_status_find(const char *name)
{
	for (size_t i = 0; name && i < COUNT_(statuses); i++)
		if (strcmp(statuses[i].name, name) == 0)
			return &statuses[i];
	return NULL;
}

const struct model_status *model_status_at(uint8_t value)
{
	for (size_t i = 0; i < COUNT_(statuses); i++)
		if (statuses[i].value == value)
			return &statuses[i];
	return NULL;
}

void model_syndrome(uint8_t syndrome, char *buf, size_t cap)
{
	const char *name = roce_syndrome_name(syndrome);

	if (roce_syndrome_kind(syndrome) == ROCE_RNR_NAK)
		snprintf(buf, cap, "%s, wait %.2f ms", name,
			 (double)roce_rnr_timer_ns(roce_syndrome_value(syndrome)) / 1e6);
	else
		snprintf(buf, cap, "%s", name);
}

const char *model_vendor_error(uint32_t vendor, char *buf, size_t cap)
{
	static const char *const found[] = {
		[UHCA_ABI_FOUND_IN_REQUEST] = "in the request itself, before it was sent whole",
		[UHCA_ABI_FOUND_BY_PEER] = "by the peer, which sent a NAK",
		[UHCA_ABI_FOUND_BY_TIMER] = "by the timer: no response after all retries",
		[UHCA_ABI_FOUND_BY_RNR] = "by the peer, which was never ready to receive",
		[UHCA_ABI_FOUND_IN_RESPONSE] = "in the response, which is invalid",
		[UHCA_ABI_FOUND_IN_RECEIVE] = "when a message arrived for the receive request",
		[UHCA_ABI_FOUND_IN_FLUSH] = "not at all: flushed, the QP was in an error state",
		[UHCA_ABI_FOUND_DEVICE_GONE] = "not at all: flushed, daemon or device is gone",
	};
	uint32_t where = vendor & 0xff;
	char nak[64];

	if (vendor == 0) {
		buf[0] = '\0';
	} else if (where >= COUNT_(found) || !found[where]) {
		snprintf(buf, cap, "no vendor error of this device");
	} else if (where == UHCA_ABI_FOUND_BY_PEER) {
		model_syndrome((uint8_t)(vendor >> 8), nak, sizeof(nak));
		snprintf(buf, cap, "%s: %s", found[where], nak);
	} else {
		snprintf(buf, cap, "%s", found[where]);
	}
	return buf;
}
