/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why the device refused, dropped or failed something. The device records the cause where it finds
 * it. Captures (model.h) carry it to explain, ladder, page and sanitizer. Fields that a kind does
 * not name are 0.
 *
 *   KEY_UNKNOWN     key: names nothing; near: the key most like it that would do, 0: none
 *   KEY_DEAD        key: was that of [start, + size), which has gone since ns
 *   KEY_SWAPPED     key: is the other key of a region, whose right one here is near
 *   KEY_REVOKED     key: a rule or a person took it away
 *   KEY_UNBOUND     key: of a window that is bound to nothing or to another QP, or of a region
 *                   without a description
 *   KEY_DOMAIN      key: of protection domain got, and the user is of expected
 *   KEY_RIGHT       key: its region or window lacks rights (IBV_ACCESS_*)
 *   RANGE           key: [at, + bytes) is not inside of [start, + size); near: the key of a region
 *                   that has it, 0: none
 *   MEMORY          key: the memory behind [at, + bytes) is not there
 *   INVALIDATE      key: may not be invalidated
 *   QP_RIGHT        the QP's qp_access_flags lack rights
 *   PSN_AHEAD       got, and expected comes first
 *   PSN_BEHIND      got, and expected is next: a duplicate
 *   FORGOTTEN       a duplicate whose answer is not kept; got, expected
 *   ANSWER          of PSN got: expected is the oldest that is outstanding, near one past the
 *                   newest
 *   ORDER           this position of a message does not follow from the packet before it
 *   OPERATION       the device or the QP's transport does not have the operation
 *   PACKET_LENGTH   got bytes in a packet, and the path MTU is expected
 *   MESSAGE_LENGTH  got bytes of a message that may have or announced expected
 *   RECEIVE_SHORT   got bytes (or more, if rest is not 0) for a receive request of expected
 *   NO_RECEIVE      no receive request is posted
 *   ALIGNMENT       at is no multiple of expected
 *   READS           more READs and atomics than max_dest_rd_atomic, which is expected
 *   SRQ             got names no SRQ of the XRC domain
 *   ELEMENTS        got elements, and expected are allowed
 *   INLINE          the payload has to be inline
 *   ADDRESS_HANDLE  got is no address handle of the QP's protection domain
 *   QKEY, PKEY      got, expected
 *   STATE           got: the QP's state (enum ibv_qp_state)
 *   SERVICE         the QP has another transport
 *   ADDRESS         the packet is not from the QP's peer
 *   NO_QP           got: no QP has this number
 *   PORT            the port lets nothing through; got is one of UHCA_ABI_PORT_*
 */
#ifndef UHCA_ABI_CAUSE_H
#define UHCA_ABI_CAUSE_H

#include <stdint.h>

/* clang-format off */
#define UHCA_ABI_CAUSE_NAMES(X) \
	X(KEY_UNKNOWN) \
	X(KEY_DEAD) \
	X(KEY_SWAPPED) \
	X(KEY_REVOKED) \
	X(KEY_UNBOUND) \
	X(KEY_DOMAIN) \
	X(KEY_RIGHT) \
	X(RANGE) \
	X(MEMORY) \
	X(INVALIDATE) \
	X(QP_RIGHT) \
	X(PSN_AHEAD) \
	X(PSN_BEHIND) \
	X(FORGOTTEN) \
	X(ANSWER) \
	X(ORDER) \
	X(OPERATION) \
	X(PACKET_LENGTH) \
	X(MESSAGE_LENGTH) \
	X(RECEIVE_SHORT) \
	X(NO_RECEIVE) \
	X(ALIGNMENT) \
	X(READS) \
	X(SRQ) \
	X(ELEMENTS) \
	X(INLINE) \
	X(ADDRESS_HANDLE) \
	X(QKEY) \
	X(PKEY) \
	X(STATE) \
	X(SERVICE) \
	X(ADDRESS) \
	X(NO_QP) \
	X(PORT)
/* clang-format on */

#define UHCA_ABI_CAUSE_(name) UHCA_ABI_CAUSE_##name,
enum uhca_abi_cause_kind {
	UHCA_ABI_CAUSE_NONE,
	UHCA_ABI_CAUSE_NAMES(UHCA_ABI_CAUSE_) UHCA_ABI_CAUSES
};
#undef UHCA_ABI_CAUSE_

/* Of a PORT: why it lets the packets not through. */
enum {
	UHCA_ABI_PORT_DOWN,
	UHCA_ABI_PORT_NO_GID, /* the device's own address is not in its GID table */
	UHCA_ABI_PORT_MTU,    /* they are longer than active_mtu */
};

struct uhca_abi_cause {
	enum uhca_abi_cause_kind kind;
	uint32_t key, near;
	uint32_t rights;
	uint64_t at, bytes;   /* of the access */
	uint64_t start, size; /* of the region or window */
	uint64_t expected, got;
	uint64_t since; /* ns */
	uint64_t rest;  /* bytes that are to follow */
};

#endif
