/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of packets that rules change; see rule_words.h. */
#include "rule_words.h"

#include <string.h>

#define BITS_24  0xffffff
#define H_(name) ROCE_HDR_##name
#define AT_(member)                                                                                \
	offsetof(struct roce_packet, member), sizeof(((struct roce_packet *)NULL)->member)

const struct fault_field_word fault_field_words[FAULT_FIELDS] = {
	[FAULT_FIELD_BTH_OPCODE] = {"bth.opcode", 0, 0xff, AT_(bth.opcode.v)},
	[FAULT_FIELD_BTH_SE] = {"bth.se", 0, 1, AT_(bth.solicited)},
	[FAULT_FIELD_BTH_MIGREQ] = {"bth.migreq", 0, 1, AT_(bth.migreq)},
	[FAULT_FIELD_BTH_VERSION] = {"bth.version", 0, 0xf, AT_(bth.version)},
	[FAULT_FIELD_BTH_PKEY] = {"bth.pkey", 0, 0xffff, AT_(bth.pkey)},
	[FAULT_FIELD_BTH_FECN] = {"bth.fecn", 0, 1, AT_(bth.fecn)},
	[FAULT_FIELD_BTH_BECN] = {"bth.becn", 0, 1, AT_(bth.becn)},
	[FAULT_FIELD_BTH_DEST_QP] = {"bth.dest_qp", 0, BITS_24, AT_(bth.dest_qp)},
	[FAULT_FIELD_BTH_ACKREQ] = {"bth.ackreq", 0, 1, AT_(bth.ackreq)},
	[FAULT_FIELD_BTH_PSN] = {"bth.psn", 0, BITS_24, AT_(bth.psn)},
	[FAULT_FIELD_RETH_VA] = {"reth.va", H_(RETH), UINT64_MAX, AT_(reth.va)},
	[FAULT_FIELD_RETH_RKEY] = {"reth.rkey", H_(RETH), UINT32_MAX, AT_(reth.rkey)},
	[FAULT_FIELD_RETH_LENGTH] = {"reth.length", H_(RETH), UINT32_MAX, AT_(reth.length)},
	[FAULT_FIELD_AETH_SYNDROME] = {"aeth.syndrome", H_(AETH), 0xff, AT_(aeth.syndrome)},
	[FAULT_FIELD_AETH_MSN] = {"aeth.msn", H_(AETH), BITS_24, AT_(aeth.msn)},
	[FAULT_FIELD_CREDITS] = {"credits", H_(AETH), 0x1f, AT_(aeth.syndrome)},
	[FAULT_FIELD_DETH_QKEY] = {"deth.qkey", H_(DETH), UINT32_MAX, AT_(deth.qkey)},
	[FAULT_FIELD_DETH_SRC_QP] = {"deth.src_qp", H_(DETH), BITS_24, AT_(deth.src_qp)},
	[FAULT_FIELD_ATOMIC_VA] = {"atomic.va", H_(ATOMICETH), UINT64_MAX, AT_(atomiceth.va)},
	[FAULT_FIELD_ATOMIC_RKEY] = {"atomic.rkey", H_(ATOMICETH), UINT32_MAX, AT_(atomiceth.rkey)},
	[FAULT_FIELD_ATOMIC_SWAP] = {"atomic.swap", H_(ATOMICETH), UINT64_MAX,
				     AT_(atomiceth.swap_add)},
	[FAULT_FIELD_ATOMIC_COMPARE] = {"atomic.compare", H_(ATOMICETH), UINT64_MAX,
					AT_(atomiceth.compare)},
	[FAULT_FIELD_ATOMIC_ACK] = {"atomic.ack", H_(ATOMICACKETH), UINT64_MAX, AT_(atomic_ack)},
	[FAULT_FIELD_IMMDT] = {"immdt", H_(IMMDT), UINT32_MAX, AT_(immdt)},
	[FAULT_FIELD_IETH] = {"ieth", H_(IETH), UINT32_MAX, AT_(ieth)},
	[FAULT_FIELD_XRC_SRQ] = {"xrc.srq", H_(XRCETH), BITS_24, AT_(xrcsrq)},
	[FAULT_FIELD_PAYLOAD] = {"payload", H_(PAYLOAD), 0xff, .indexed = true},
	[FAULT_FIELD_CM_PRIVATE] = {"cm.private", H_(PAYLOAD), 0xff, .indexed = true},
};

const char *fault_field_at(const void *table, unsigned i)
{
	(void)table;
	return i < FAULT_FIELDS ? fault_field_words[i].name : NULL;
}

enum fault_field fault_field_find(const char *name)
{
	enum fault_field f = 0;

	while (f < FAULT_FIELDS && strcmp(name, fault_field_words[f].name) != 0)
		f++;
	return f;
}

bool fault_field_indexed(enum fault_field f)
{
	return fault_field_words[f].indexed;
}
