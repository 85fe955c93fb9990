/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of rdma_cm that do not go on, by the daemon's table of ids: who must read an event or
 * answer a message, and does not. Both ends of a connection are found by their ports.
 */
#ifndef HANG_CM_H
#define HANG_CM_H

#include "hang_tables.h"

#include <sys/types.h>

enum hang_cm_kind {
	HANG_CM_QUIET,           /* nothing is on its way */
	HANG_CM_OPEN,            /* an event comes by itself, or may come */
	HANG_CM_REQUEST_UNREAD,  /* nobody reads CONNECT_REQUEST */
	HANG_CM_BACKLOG_FULL,    /* the same, and later requests are dropped */
	HANG_CM_REQUEST_IGNORED, /* it was read, and is neither accepted nor rejected */
	HANG_CM_REPLY_UNREAD,    /* nobody reads CONNECT_RESPONSE, so that no RTU is sent */
	HANG_CM_REPLY_IGNORED,   /* it was read, and rdma_establish was not called */
	HANG_CM_END_UNREAD,      /* nobody reads DISCONNECTED, REJECTED or UNREACHABLE */
	HANG_CM_LEAVE_UNREAD,    /* nobody reads DISCONNECTED, so that it is not answered */
	HANG_CM_LEAVE_IGNORED,   /* it was read, and rdma_disconnect was not called */
};

struct hang_cm {
	enum hang_cm_kind kind;
	size_t row;    /* of the end that must act */
	size_t victim; /* of the end that waits for that; END_UNREAD: row itself */
};

/* The connection of an id, as either end has it. */
struct hang_cm hang_cm_look(const struct hang_tables *t, size_t row);

/* Has the peer ended the connection of this queue pair, and nobody has read that? */
bool hang_cm_has_ended(const struct hang_tables *t, const char *device, json_int_t qpn);

/* Does the process listen; has it any id? */
bool hang_cm_listens(const struct hang_tables *t, pid_t pid);
bool hang_cm_has_ids(const struct hang_tables *t, pid_t pid);

/* What is told of each kind: its check, and what is wrong, a sentence without an end. Or NULL. */
extern const struct hang_cm_finding {
	const char *check, *what;
} hang_cm_findings[];

/* A fact about both ends. */
void hang_cm_describe(const struct hang_tables *t, const struct hang_cm *c, char *text,
		      size_t room);

#endif
