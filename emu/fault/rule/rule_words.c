/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the rule language: actions, selectors, limits, packet fields. */
#include "rule_words.h"

#include <string.h>

#define PACKET_ FAULT_ON_(PACKET)
#define CALL_   FAULT_ON_(CALL)
#define WC_     FAULT_ON_(COMPLETION)
#define MEMORY_ FAULT_ON_(MEMORY)
#define TIME_   FAULT_ON_(TIME)
#define HOP_    FAULT_ON_(HOP)
#define WIRE_   (PACKET_ | HOP_)
#define ANY_    FAULT_ON_ANY

#define NONE_          FAULT_VALUE_NONE, NULL, ""
#define CAN_(f)        FAULT_VALUE_OPTIONAL, fault_parse_##f
#define MUST_(f)       FAULT_VALUE_NEEDED, fault_parse_##f
#define DEVICE_ACTION_ FAULT_DEVICE_ACTION
#define OBJECT_        (FAULT_DEVICE_ACTION | FAULT_OF_OBJECT)
#define LINK_          (FAULT_DEVICE_ACTION | FAULT_OF_LINK)
#define SWITCH_        (FAULT_DEVICE_ACTION | FAULT_OF_SWITCH)
#define HOST_          (FAULT_DEVICE_ACTION | FAULT_OF_HOST)
#define FLAPS_         "down:TIME,up:TIME,times:N"
#define ANSWERS_       FAULT_ANSWERS
#define INSTEAD_       (FAULT_ANSWERS | FAULT_SWALLOWS)
#define SWALLOWS_      FAULT_SWALLOWS

const struct fault_action_word fault_action_words[FAULT_ACTIONS] = {
	[FAULT_DROP] = {"drop", WIRE_, FAULT_TX, SWALLOWS_, NONE_},
	[FAULT_DUPLICATE] = {"dup", PACKET_, FAULT_TX, 0, CAN_(count), "a number of copies"},
	[FAULT_REORDER] = {"reorder", PACKET_, FAULT_TX, 0, MUST_(count), "a number of packets"},
	[FAULT_DELAY] = {"delay", PACKET_, FAULT_TX, 0, MUST_(duration), "a time"},
	[FAULT_RATE] = {"rate", PACKET_, FAULT_TX, 0, MUST_(rate), "bits per second"},
	[FAULT_BURST] = {"burst", WIRE_, FAULT_TX, SWALLOWS_, MUST_(burst), "P/Q"},
	[FAULT_PAUSE] = {"pause", PACKET_, FAULT_TX, 0, MUST_(duration), "a time"},
	[FAULT_CORRUPT] = {"corrupt", PACKET_, FAULT_TX, 0, MUST_(corrupt),
			   "icrc, bit, payload, silent"},
	[FAULT_SET] = {"set", PACKET_, FAULT_TX, 0, MUST_(set), "FIELD:VALUE"},
	[FAULT_TRUNCATE] = {"truncate", PACKET_, FAULT_TX, 0, MUST_(truncate), "bytes"},
	[FAULT_ECN] = {"ecn", WIRE_, FAULT_TX, 0, NONE_},
	[FAULT_HOLD] = {"hold", PACKET_, FAULT_TX, SWALLOWS_, NONE_},
	[FAULT_RNR] = {"rnr", PACKET_, FAULT_RX, INSTEAD_, CAN_(rnr), "a timer code"},
	[FAULT_NAK] = {"nak", PACKET_, FAULT_RX, INSTEAD_, MUST_(nak), "a NAK code"},
	[FAULT_GHOST] = {"ghost", PACKET_, FAULT_RX, INSTEAD_, NONE_},
	[FAULT_CNP] = {"cnp", PACKET_, FAULT_RX, 0, NONE_},
	[FAULT_FORGE] = {"forge", PACKET_, FAULT_RX, ANSWERS_, MUST_(forge), "ack, nak:CODE, rnr"},
	[FAULT_CM_REJECT] = {"cm.reject", PACKET_, FAULT_RX, FAULT_OF_CM | SWALLOWS_, MUST_(reason),
			     "a reason"},
	[FAULT_CM_MRA] = {"cm.mra", PACKET_, FAULT_RX, FAULT_OF_CM, CAN_(duration), "a time"},
	[FAULT_CALL_FAIL] = {"call.fail", CALL_, FAULT_BOTH, FAULT_OF_CALLS | SWALLOWS_,
			     MUST_(errno), "an errno"},
	[FAULT_CALL_SLOW] = {"call.slow", CALL_, FAULT_BOTH, FAULT_OF_CALLS, MUST_(duration),
			     "a time"},
	[FAULT_CQE_SET] = {"cqe.set", WC_, FAULT_BOTH, 0, MUST_(cqe), "FIELD:VALUE"},
	[FAULT_CQE_DELAY] = {"cqe.delay", WC_, FAULT_BOTH, 0, MUST_(duration), "a time"},
	[FAULT_CQE_WITHHOLD] = {"cqe.withhold", WC_, FAULT_BOTH, SWALLOWS_, NONE_},
	[FAULT_CQE_OVERRUN] = {"cqe.overrun", WC_, FAULT_BOTH, SWALLOWS_, NONE_},
	[FAULT_CQE_ANNOUNCE] = {"cqe.announce", WC_, FAULT_BOTH, 0, MUST_(duration), "a time"},
	[FAULT_CQE_GARBAGE] = {"cqe.garbage", WC_, FAULT_BOTH, 0, NONE_},
	[FAULT_MEM_FAIL] = {"mem.fail", MEMORY_, FAULT_BOTH, SWALLOWS_, NONE_},
	[FAULT_EVENT] = {"event", ANY_, FAULT_TX, OBJECT_, MUST_(event), "an event"},
	[FAULT_QP_ERROR] = {"qp.error", ANY_, FAULT_TX, OBJECT_, NONE_},
	[FAULT_KEY_REVOKE] = {"key.revoke", ANY_, FAULT_RX, OBJECT_, CAN_(key), "a key"},
	[FAULT_KEY_REUSE] = {"key.reuse", ANY_, FAULT_RX, DEVICE_ACTION_, NONE_},
	[FAULT_KEY_SPLIT] = {"key.split", ANY_, FAULT_RX, DEVICE_ACTION_, NONE_},
	[FAULT_PORT_DOWN] = {"port.down", ANY_, FAULT_TX, DEVICE_ACTION_, CAN_(duration), "a time"},
	[FAULT_PORT_FLAP] = {"port.flap", ANY_, FAULT_TX, DEVICE_ACTION_, MUST_(flap), FLAPS_},
	[FAULT_PORT_SPEED] = {"port.speed", ANY_, FAULT_TX, DEVICE_ACTION_, MUST_(speed),
			      "bits per second"},
	[FAULT_PORT_MTU] = {"port.mtu", ANY_, FAULT_TX, DEVICE_ACTION_, MUST_(mtu), "bytes"},
	[FAULT_PORT_PKEY] = {"port.pkey", ANY_, FAULT_TX, DEVICE_ACTION_, MUST_(pkey), "a P_Key"},
	[FAULT_GID_CHANGE] = {"gid.change", ANY_, FAULT_TX, DEVICE_ACTION_, NONE_},
	[FAULT_GID_EMPTY] = {"gid.empty", ANY_, FAULT_TX, DEVICE_ACTION_, CAN_(gid_index),
			     "an index"},
	[FAULT_GID_ADD] = {"gid.add", ANY_, FAULT_TX, DEVICE_ACTION_, CAN_(gid_address),
			   "an address"},
	[FAULT_GID_MOVE] = {"gid.move", ANY_, FAULT_TX, DEVICE_ACTION_, MUST_(gid_move),
			    "INDEX:INDEX"},
	[FAULT_DEV_FATAL] = {"dev.fatal", ANY_, FAULT_TX, DEVICE_ACTION_, NONE_},
	[FAULT_DEV_UNPLUG] = {"dev.unplug", ANY_, FAULT_TX, DEVICE_ACTION_, CAN_(duration),
			      "a time"},
	[FAULT_DEV_RESET] = {"dev.reset", ANY_, FAULT_TX, DEVICE_ACTION_, CAN_(duration), "a time"},
	[FAULT_DEV_HANG] = {"dev.hang", ANY_, FAULT_TX, DEVICE_ACTION_, CAN_(duration), "a time"},
	[FAULT_DEV_FREEZE] = {"dev.freeze", ANY_, FAULT_TX, DEVICE_ACTION_, MUST_(duration),
			      "a time"},
	[FAULT_DEV_EXIT] = {"dev.exit", ANY_, FAULT_TX, DEVICE_ACTION_, NONE_},
	[FAULT_LINK_DOWN] = {"link.down", ANY_, FAULT_TX, LINK_, CAN_(duration), "a time"},
	[FAULT_LINK_FLAP] = {"link.flap", ANY_, FAULT_TX, LINK_, MUST_(flap), FLAPS_},
	[FAULT_LINK_RATE] = {"link.rate", ANY_, FAULT_TX, LINK_, MUST_(link_rate),
			     "bits per second"},
	[FAULT_LINK_DELAY] = {"link.delay", ANY_, FAULT_TX, LINK_, MUST_(link_delay), "a time"},
	[FAULT_LINK_LOSS] = {"link.loss", ANY_, FAULT_TX, LINK_, MUST_(link_loss), "a probability"},
	[FAULT_SWITCH_DOWN] = {"switch.down", ANY_, FAULT_TX, SWITCH_, CAN_(duration), "a time"},
	[FAULT_SWITCH_FLAP] = {"switch.flap", ANY_, FAULT_TX, SWITCH_, MUST_(flap), FLAPS_},
	[FAULT_HOST_PAUSE] = {"host.pause", ANY_, FAULT_TX, HOST_, CAN_(duration), "a time"},
	[FAULT_COUNT] = {"count", ANY_ & ~TIME_, FAULT_TX, DEVICE_ACTION_, NONE_},
};

#define AT_(member) offsetof(struct fault_rule, member)
#define BIT_(a)     (1u << ((a) % 32))
#define SELECT_     FAULT_SELECTOR
#define LIST_(at, low, high)                                                                       \
	false, true, fault_parse_list, AT_(at),                                                    \
	{                                                                                          \
		low, high, false                                                                   \
	}
#define SIZES_(at, low, high)                                                                      \
	false, true, fault_parse_list, AT_(at),                                                    \
	{                                                                                          \
		low, high, true                                                                    \
	}
#define ONE_(f, at)                                                                                \
	false, false, fault_parse_##f, AT_(at),                                                    \
	{                                                                                          \
		0, 0, false                                                                        \
	}
#define NUMBER_(at)                                                                                \
	false, false, fault_parse_number, AT_(at),                                                 \
	{                                                                                          \
		1, UINT64_MAX, false                                                               \
	}
#define ALL_ACTIONS_                                                                               \
	{                                                                                          \
		0, 0                                                                               \
	}
#define BITS_24 0xffffff
/* What they add, or make wait, may come later. */
#define TIMED_                                                                                     \
	(BIT_(FAULT_DUPLICATE) | BIT_(FAULT_REORDER) | BIT_(FAULT_RNR) | BIT_(FAULT_NAK) |         \
	 BIT_(FAULT_GHOST) | BIT_(FAULT_CNP) | BIT_(FAULT_FORGE) | BIT_(FAULT_CM_REJECT) |         \
	 BIT_(FAULT_CM_MRA))
/* The same of those whose bits stand in the second word. */
#define TIMED_MORE_                                                                                \
	(BIT_(FAULT_GID_EMPTY) | BIT_(FAULT_DEV_HANG) | BIT_(FAULT_LINK_RATE) |                    \
	 BIT_(FAULT_LINK_DELAY) | BIT_(FAULT_LINK_LOSS))
#define OF_LINKS_                                                                                  \
	(BIT_(FAULT_LINK_DOWN) | BIT_(FAULT_LINK_FLAP) | BIT_(FAULT_LINK_RATE) |                   \
	 BIT_(FAULT_LINK_DELAY) | BIT_(FAULT_LINK_LOSS))
#define OF_SWITCHES_ (BIT_(FAULT_SWITCH_DOWN) | BIT_(FAULT_SWITCH_FLAP))
#define OF_HOSTS_    BIT_(FAULT_HOST_PAUSE)
#define COUNTED_     (ANY_ & ~TIME_)

_Static_assert(FAULT_CM_MRA < 32 && FAULT_GID_EMPTY >= 32 && FAULT_ACTIONS <= 64,
	       "the words of the bits");

const struct fault_word fault_words[] = {
	{"time", NULL, FAULT_PARAMETER, ANY_, {TIMED_, TIMED_MORE_}, ONE_(time, value.time)},
	{"jitter",
	 NULL,
	 FAULT_PARAMETER,
	 ANY_,
	 {BIT_(FAULT_DELAY) | BIT_(FAULT_CQE_DELAY) | BIT_(FAULT_CQE_ANNOUNCE) |
		  BIT_(FAULT_CALL_SLOW),
	  0},
	 ONE_(time, value.jitter)},
	{"order",
	 NULL,
	 FAULT_PARAMETER,
	 ANY_,
	 {BIT_(FAULT_CQE_DELAY) | BIT_(FAULT_CQE_ANNOUNCE), 0},
	 ONE_(order, value.by_queue)},
	{"limit",
	 NULL,
	 FAULT_PARAMETER,
	 ANY_,
	 {BIT_(FAULT_DELAY) | BIT_(FAULT_RATE) | BIT_(FAULT_PAUSE), 0},
	 ONE_(queue, value.limit_packets)},
	{"bad_wr", NULL, FAULT_PARAMETER, ANY_, {BIT_(FAULT_CALL_FAIL), 0}, NUMBER_(value.bad_wr)},
	{"link", NULL, FAULT_PARAMETER, ANY_, {0, OF_LINKS_}, ONE_(parts, value.parts)},
	{"switch", NULL, FAULT_PARAMETER, ANY_, {0, OF_SWITCHES_}, ONE_(parts, value.parts)},
	{"host", NULL, FAULT_PARAMETER, ANY_, {0, OF_HOSTS_}, ONE_(parts, value.parts)},

	{"at", NULL, SELECT_, ANY_, ALL_ACTIONS_, ONE_(at, layer)},
	{"dev", "device", SELECT_, ANY_, ALL_ACTIONS_, ONE_(names, select.device)},
	{"program", NULL, SELECT_, COUNTED_, ALL_ACTIONS_, ONE_(names, select.program)},
	{"client", NULL, SELECT_, COUNTED_, ALL_ACTIONS_, LIST_(select.client, 0, UINT32_MAX)},
	{"qp",
	 NULL,
	 SELECT_,
	 ANY_ & ~MEMORY_,
	 ALL_ACTIONS_,
	 false,
	 true,
	 fault_parse_qp,
	 AT_(select.qp),
	 {0, BITS_24, false}},
	{"peer_qp", NULL, SELECT_, WIRE_, ALL_ACTIONS_, LIST_(select.peer_qp, 0, BITS_24)},
	{"srq", NULL, SELECT_, ANY_ & ~MEMORY_, ALL_ACTIONS_, LIST_(select.srq, 0, UINT32_MAX)},
	{"pd", NULL, SELECT_, PACKET_ | CALL_ | WC_, ALL_ACTIONS_, LIST_(select.pd, 0, UINT32_MAX)},
	{"cq", NULL, SELECT_, CALL_ | WC_ | TIME_, ALL_ACTIONS_, LIST_(select.cq, 0, UINT32_MAX)},
	{"key", NULL, SELECT_, WIRE_ | CALL_ | TIME_, ALL_ACTIONS_,
	 LIST_(select.key, 0, UINT32_MAX)},
	{"address", NULL, SELECT_, PACKET_ | CALL_ | MEMORY_, ALL_ACTIONS_,
	 SIZES_(select.address, 0, UINT64_MAX)},
	{"length", NULL, SELECT_, COUNTED_, ALL_ACTIONS_, SIZES_(select.length, 0, UINT64_MAX)},
	{"offset", NULL, SELECT_, PACKET_, ALL_ACTIONS_, SIZES_(select.offset, 0, UINT32_MAX)},
	{"psn",
	 NULL,
	 SELECT_,
	 WIRE_,
	 ALL_ACTIONS_,
	 false,
	 true,
	 fault_parse_psn,
	 AT_(select.psn),
	 {0, BITS_24, false}},
	{"dir", NULL, SELECT_, PACKET_, ALL_ACTIONS_, ONE_(direction, select.direction)},
	{"opcode", NULL, SELECT_, WIRE_, ALL_ACTIONS_, ONE_(opcode, select.opcode)},
	{"peer", NULL, SELECT_, WIRE_, ALL_ACTIONS_, ONE_(peer, select.peer)},
	{"to", NULL, SELECT_, WIRE_, ALL_ACTIONS_, ONE_(to, select.to)},
	{"sport", NULL, SELECT_, WIRE_, ALL_ACTIONS_, LIST_(select.sport, 0, UINT16_MAX)},
	{"dscp", NULL, SELECT_, WIRE_, ALL_ACTIONS_, LIST_(select.dscp, 0, 63)},
	{"cm", NULL, SELECT_, PACKET_, ALL_ACTIONS_, ONE_(cm, select.cm)},
	{"retry",
	 NULL,
	 SELECT_,
	 PACKET_,
	 ALL_ACTIONS_,
	 true,
	 false,
	 fault_parse_retry,
	 AT_(select.retry),
	 {0, 0, false}},
	{"call", NULL, SELECT_, CALL_, ALL_ACTIONS_, ONE_(call, select.call)},
	{"wc", "status", SELECT_, WC_, ALL_ACTIONS_, ONE_(status, select.wc_status)},
	{"wc.opcode", "wc_opcode", SELECT_, WC_, ALL_ACTIONS_, ONE_(wc_opcode, select.wc_opcode)},

	{"nth", NULL, FAULT_LIMIT, COUNTED_, ALL_ACTIONS_, LIST_(limit.nth, 1, UINT64_MAX)},
	{"every", NULL, FAULT_LIMIT, ANY_, ALL_ACTIONS_, ONE_(every, limit.every)},
	{"first", NULL, FAULT_LIMIT, COUNTED_, ALL_ACTIONS_, NUMBER_(limit.first)},
	{"skip", NULL, FAULT_LIMIT, COUNTED_, ALL_ACTIONS_, NUMBER_(limit.skip)},
	{"times", NULL, FAULT_LIMIT, ANY_, ALL_ACTIONS_, NUMBER_(limit.max_hits)},
	{"p", NULL, FAULT_LIMIT, COUNTED_, ALL_ACTIONS_, ONE_(probability, limit.probability)},
	{"after", NULL, FAULT_LIMIT, ANY_, ALL_ACTIONS_, ONE_(after, limit.after)},
	{"until", NULL, FAULT_LIMIT, ANY_, ALL_ACTIONS_, ONE_(time, limit.until)},
	{"while_file", NULL, FAULT_LIMIT, ANY_, ALL_ACTIONS_, ONE_(file, limit.while_file)},
	{"stream", NULL, FAULT_LIMIT, ANY_, ALL_ACTIONS_, ONE_(stream, limit.stream)},
};

const unsigned fault_n_words = sizeof(fault_words) / sizeof(fault_words[0]);

int fault_word_find(struct fault_piece name)
{
	for (unsigned i = 0; i < fault_n_words; i++)
		if (fault_piece_is(name, fault_words[i].name) ||
		    (fault_words[i].alias && fault_piece_is(name, fault_words[i].alias)))
			return (int)i;
	return -1;
}

int fault_word_index(const char *name)
{
	return fault_word_find((struct fault_piece){name, strlen(name)});
}

enum fault_action fault_action_find(struct fault_piece name)
{
	enum fault_action a = 0;

	while (a < FAULT_ACTIONS && !fault_piece_is(name, fault_action_words[a].name))
		a++;
	return a;
}

const char *fault_action_at(const void *table, unsigned i)
{
	(void)table;
	return i < FAULT_ACTIONS ? fault_action_words[i].name : NULL;
}

const char *fault_word_at(const void *table, unsigned i)
{
	(void)table;
	return i < fault_n_words ? fault_words[i].name : NULL;
}

const char *fault_action_name(enum fault_action a)
{
	return fault_action_words[a].name;
}

bool fault_action_swallows(enum fault_action a)
{
	return fault_action_words[a].flags & FAULT_SWALLOWS;
}

bool fault_action_is_of_device(enum fault_action a)
{
	return fault_action_words[a].flags & FAULT_DEVICE_ACTION;
}
