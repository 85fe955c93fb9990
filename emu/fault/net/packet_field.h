/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a packet that the action "set" and a person in step mode can change. Nothing is
 * judged here: what comes out may be something that no receiver can read (packet_change.h).
 */
#ifndef FAULT_PACKET_FIELD_H
#define FAULT_PACKET_FIELD_H

#include "emu/fault/rule/rules.h"

struct fault_setting {
	enum fault_field field;
	uint64_t index; /* of fields that are indexed: which byte */
	uint64_t value;
	bool relative; /* value is added */
};

/*
 * Changes the field; payload is that of pkt, writable. False: the packet has no such field (an
 * opcode without the header, a payload that is shorter), and is as it was.
 */
bool fault_packet_set(struct roce_packet *pkt, uint8_t *payload, const struct fault_setting *s);

/* "bth.psn", "payload:3": false when it is no such text. */
bool fault_setting_parse(const char *text, uint64_t value, struct fault_setting *out);

#endif
