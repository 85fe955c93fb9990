/* SPDX-License-Identifier: BSD-2-Clause */
/* Which end of a connection must act (IBTA vol. 1, 12.9.7). See hang_cm.h. */
#include "hang_cm.h"

#include "emu/ctl/lib/lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_at(const struct hang_tables *t, size_t row, const char *step)
{
	return strcmp(ctl_cell_text(t->ids, row, "step"), step) == 0;
}

/* The port of "ADDRESS:PORT"; -1: there is none. */
static long port_of(const struct hang_tables *t, size_t row, const char *column)
{
	const char *colon = strrchr(ctl_cell_text(t->ids, row, column), ':');
	return colon ? atol(colon + 1) : -1;
}

static bool is_unread(const struct hang_tables *t, size_t row)
{
	return ctl_cell_number(t->ids, row, "unread") > 0;
}

/* Ports are of one device's addresses or another's: both ends have chosen theirs for the other. */
static bool are_ends(const struct hang_tables *t, size_t a, size_t b)
{
	return a != b && port_of(t, a, "source") > 0 &&
	       port_of(t, a, "source") == port_of(t, b, "destination") &&
	       port_of(t, a, "destination") == port_of(t, b, "source") &&
	       strcmp(ctl_cell_text(t->ids, a, "space"), ctl_cell_text(t->ids, b, "space")) == 0;
}

static size_t other_end(const struct hang_tables *t, size_t row)
{
	for (size_t i = 0; i < ctl_rows(t->ids); i++)
		if (are_ends(t, row, i))
			return i;
	return CTL_NO_ROW;
}

static size_t listener_of(const struct hang_tables *t, size_t row)
{
	for (size_t i = 0; i < ctl_rows(t->ids); i++)
		if (strcmp(ctl_cell_text(t->ids, i, "state"), "listening") == 0 &&
		    port_of(t, i, "source") == port_of(t, row, "destination") &&
		    strcmp(ctl_cell_text(t->ids, i, "space"),
			   ctl_cell_text(t->ids, row, "space")) == 0)
			return i;
	return CTL_NO_ROW;
}

/* The one that has sent the request waits for the answer. */
static struct hang_cm look_at_request(const struct hang_tables *t, size_t active, size_t passive)
{
	size_t listener = listener_of(t, active);
	struct hang_cm c = {HANG_CM_OPEN, passive, active};
	if (passive != CTL_NO_ROW && is_at(t, passive, "request_received"))
		c.kind = HANG_CM_REQUEST_IGNORED;
	if (passive != CTL_NO_ROW && is_at(t, passive, "request_unread"))
		c.kind = HANG_CM_REQUEST_UNREAD;
	if (passive == CTL_NO_ROW && listener != CTL_NO_ROW && is_unread(t, listener) &&
	    ctl_cell_number(t->ids, listener, "room") == 0)
		c = (struct hang_cm){HANG_CM_BACKLOG_FULL, listener, active};
	return c;
}

/* The one that has sent the reply waits for RTU. */
static struct hang_cm look_at_reply(const struct hang_tables *t, size_t active, size_t passive)
{
	struct hang_cm c = {HANG_CM_OPEN, active, passive};
	if (active != CTL_NO_ROW && is_at(t, active, "reply_received"))
		c.kind = is_unread(t, active) ? HANG_CM_REPLY_UNREAD : HANG_CM_REPLY_IGNORED;
	return c;
}

/* The one that has sent DREQ has its event when the other disconnects or destroys its id. */
static struct hang_cm look_at_end(const struct hang_tables *t, size_t first, size_t second)
{
	struct hang_cm c = {HANG_CM_OPEN, second, first};
	if (second != CTL_NO_ROW && is_at(t, second, "end_received"))
		c.kind = is_unread(t, second) ? HANG_CM_LEAVE_UNREAD : HANG_CM_LEAVE_IGNORED;
	return c;
}

/* The connection was not made, and the event that says so is the first that waits. */
static bool has_failed(const struct hang_tables *t, size_t row)
{
	const char *event = ctl_cell_text(t->ids, row, "event");
	return strcmp(event, "REJECTED") == 0 || strcmp(event, "UNREACHABLE") == 0 ||
	       strcmp(event, "CONNECT_ERROR") == 0;
}

struct hang_cm hang_cm_look(const struct hang_tables *t, size_t row)
{
	size_t other = other_end(t, row);
	if (is_at(t, row, "request_sent"))
		return look_at_request(t, row, other);
	if (is_at(t, row, "reply_sent"))
		return look_at_reply(t, other, row);
	if (other != CTL_NO_ROW && is_at(t, other, "request_sent"))
		return look_at_request(t, other, row);
	if (other != CTL_NO_ROW && is_at(t, other, "reply_sent"))
		return look_at_reply(t, row, other);
	if (is_at(t, row, "end_sent"))
		return look_at_end(t, row, other);
	if (other != CTL_NO_ROW && is_at(t, other, "end_sent"))
		return look_at_end(t, other, row);
	if (is_at(t, row, "timewait"))
		return (struct hang_cm){HANG_CM_OPEN, row, row};
	if (is_unread(t, row) && (is_at(t, row, "end_received") || has_failed(t, row)))
		return (struct hang_cm){HANG_CM_END_UNREAD, row, row};
	return (struct hang_cm){HANG_CM_QUIET, row, row};
}

bool hang_cm_has_ended(const struct hang_tables *t, const char *device, json_int_t qpn)
{
	for (size_t i = 0; i < ctl_rows(t->ids); i++)
		if (ctl_cell_number(t->ids, i, "qpn") == qpn &&
		    strcmp(ctl_cell_text(t->ids, i, "device"), device) == 0 &&
		    is_at(t, i, "end_received") && is_unread(t, i))
			return true;
	return false;
}

bool hang_cm_listens(const struct hang_tables *t, pid_t pid)
{
	for (size_t i = 0; i < ctl_rows(t->ids); i++)
		if (ctl_cell_number(t->ids, i, "pid") == pid &&
		    strcmp(ctl_cell_text(t->ids, i, "state"), "listening") == 0)
			return true;
	return false;
}

bool hang_cm_has_ids(const struct hang_tables *t, pid_t pid)
{
	for (size_t i = 0; i < ctl_rows(t->ids); i++)
		if (ctl_cell_number(t->ids, i, "pid") == pid)
			return true;
	return false;
}

const struct hang_cm_finding hang_cm_findings[] = {
	[HANG_CM_QUIET] = {NULL, NULL},
	[HANG_CM_OPEN] = {NULL, NULL},
	[HANG_CM_REQUEST_UNREAD] =
		{"cm-unread",
		 "a peer waits to be connected, and no thread reads its CONNECT_REQUEST"},
	[HANG_CM_BACKLOG_FULL] =
		{"cm-unread", "a peer waits to be connected, and the listener's backlog is full: "
			      "no thread reads its events"},
	[HANG_CM_REQUEST_IGNORED] = {"cm-unanswered",
				     "a peer waits to be connected, and its request is neither "
				     "accepted nor rejected"},
	[HANG_CM_REPLY_UNREAD] =
		{"cm-unread",
		 "a connection is not established: at the end that asked for it no thread reads "
		 "CONNECT_RESPONSE or ESTABLISHED"},
	[HANG_CM_REPLY_IGNORED] =
		{"cm-unanswered",
		 "a connection is not established: CONNECT_RESPONSE is not answered"},
	[HANG_CM_END_UNREAD] = {"cm-unread",
				"completions are awaited of a connection that the peer has ended "
				"or refused, and no thread reads the event"},
	[HANG_CM_LEAVE_UNREAD] =
		{"cm-unread", "a peer has called rdma_disconnect, and no thread reads DISCONNECTED "
			      "at the other end"},
	[HANG_CM_LEAVE_IGNORED] =
		{"cm-unanswered",
		 "a peer has called rdma_disconnect and waits for DISCONNECTED; the other end has "
		 "read it and calls neither rdma_disconnect nor rdma_destroy_id"},
};

static int name_end(const struct hang_tables *t, size_t row, char *text, size_t room)
{
	json_int_t pid = ctl_cell_number(t->ids, row, "pid");
	const char *event = ctl_cell_text(t->ids, row, "event");
	int n = snprintf(text, room, "rdma_cm id %lld of %s (process %lld), %s to %s: step %s",
			 (long long)ctl_cell_number(t->ids, row, "id"), table_program_of(t, pid),
			 (long long)pid, ctl_cell_text(t->ids, row, "source"),
			 ctl_cell_text(t->ids, row, "destination"),
			 ctl_cell_text(t->ids, row, "step"));
	if (*event && n > 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, ", %lld unread, the first is %s",
			      (long long)ctl_cell_number(t->ids, row, "unread"), event);
	return n;
}

static int name_listener(const struct hang_tables *t, size_t row, char *text, size_t room)
{
	json_int_t pid = ctl_cell_number(t->ids, row, "pid");
	return snprintf(text, room,
			"the listener at %s, id %lld of %s (process %lld): %lld unread "
			"CONNECT_REQUEST, room for %lld more",
			ctl_cell_text(t->ids, row, "source"),
			(long long)ctl_cell_number(t->ids, row, "id"), table_program_of(t, pid),
			(long long)pid, (long long)ctl_cell_number(t->ids, row, "unread"),
			(long long)ctl_cell_number(t->ids, row, "room"));
}

void hang_cm_describe(const struct hang_tables *t, const struct hang_cm *c, char *text, size_t room)
{
	size_t listener = c->kind == HANG_CM_REQUEST_UNREAD ? listener_of(t, c->victim) : c->row;
	bool by_listener = c->kind == HANG_CM_BACKLOG_FULL ||
			   (c->kind == HANG_CM_REQUEST_UNREAD && listener != CTL_NO_ROW);
	int n = by_listener ? name_listener(t, listener, text, room)
			    : name_end(t, c->row, text, room);
	if (c->victim != c->row && n > 0 && (size_t)n + 2 < room) {
		strcpy(text + n, "; ");
		name_end(t, c->victim, text + n + 2, room - (size_t)n - 2);
	}
}
