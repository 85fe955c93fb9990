/* SPDX-License-Identifier: BSD-2-Clause */
/* Which end of a connection must act (IBTA vol. 1, 12.9.7). See hang_cm.h. */
#include "hang_cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_at(const struct hang_tables *t, size_t row, const char *step)
{
	return strcmp(table_text(t->ids, row, "step"), step) == 0;
}

/* The port of "ADDRESS:PORT"; -1: there is none. */
static long port_of(const struct hang_tables *t, size_t row, const char *column)
{
	const char *colon = strrchr(table_text(t->ids, row, column), ':');
	return colon ? atol(colon + 1) : -1;
}

static bool is_unread(const struct hang_tables *t, size_t row)
{
	return table_number(t->ids, row, "unread") > 0;
}

/* Ports are of one device's addresses or another's: both ends have chosen theirs for the other. */
static bool are_ends(const struct hang_tables *t, size_t a, size_t b)
{
	return a != b && port_of(t, a, "source") > 0 &&
	       port_of(t, a, "source") == port_of(t, b, "destination") &&
	       port_of(t, a, "destination") == port_of(t, b, "source") &&
	       strcmp(table_text(t->ids, a, "space"), table_text(t->ids, b, "space")) == 0;
}

static size_t other_end(const struct hang_tables *t, size_t row)
{
	for (size_t i = 0; i < table_rows_of(t->ids); i++)
		if (are_ends(t, row, i))
			return i;
	return HANG_NO_ROW;
}

static size_t listener_of(const struct hang_tables *t, size_t row)
{
	for (size_t i = 0; i < table_rows_of(t->ids); i++)
		if (strcmp(table_text(t->ids, i, "state"), "listening") == 0 &&
		    port_of(t, i, "source") == port_of(t, row, "destination") &&
		    strcmp(table_text(t->ids, i, "space"), table_text(t->ids, row, "space")) == 0)
			return i;
	return HANG_NO_ROW;
}

/* The one that has sent the request waits for the answer. */
static struct hang_cm look_at_request(const struct hang_tables *t, size_t active, size_t passive)
{
	size_t listener = listener_of(t, active);
	struct hang_cm c = {HANG_CM_OPEN, passive, active};
	if (passive != HANG_NO_ROW && is_at(t, passive, "request_received"))
		c.kind = HANG_CM_REQUEST_IGNORED;
	if (passive != HANG_NO_ROW && is_at(t, passive, "request_unread"))
		c.kind = HANG_CM_REQUEST_UNREAD;
	if (passive == HANG_NO_ROW && listener != HANG_NO_ROW && is_unread(t, listener) &&
	    table_number(t->ids, listener, "room") == 0)
		c = (struct hang_cm){HANG_CM_BACKLOG_FULL, listener, active};
	return c;
}

/* The one that has sent the reply waits for RTU. */
static struct hang_cm look_at_reply(const struct hang_tables *t, size_t active, size_t passive)
{
	struct hang_cm c = {HANG_CM_OPEN, active, passive};
	if (active != HANG_NO_ROW && is_at(t, active, "reply_received"))
		c.kind = is_unread(t, active) ? HANG_CM_REPLY_UNREAD : HANG_CM_REPLY_IGNORED;
	return c;
}

/* The connection was not made, and the event that says so is the first that waits. */
static bool has_failed(const struct hang_tables *t, size_t row)
{
	const char *event = table_text(t->ids, row, "event");
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
	if (other != HANG_NO_ROW && is_at(t, other, "request_sent"))
		return look_at_request(t, other, row);
	if (other != HANG_NO_ROW && is_at(t, other, "reply_sent"))
		return look_at_reply(t, row, other);
	if (is_at(t, row, "end_sent"))
		return (struct hang_cm){HANG_CM_OPEN, row, row};
	if (is_unread(t, row) && (is_at(t, row, "end_received") || has_failed(t, row)))
		return (struct hang_cm){HANG_CM_END_UNREAD, row, row};
	return (struct hang_cm){HANG_CM_QUIET, row, row};
}

bool hang_cm_has_ended(const struct hang_tables *t, const char *device, json_int_t qpn)
{
	for (size_t i = 0; i < table_rows_of(t->ids); i++)
		if (table_number(t->ids, i, "qpn") == qpn &&
		    strcmp(table_text(t->ids, i, "device"), device) == 0 &&
		    is_at(t, i, "end_received") && is_unread(t, i))
			return true;
	return false;
}

bool hang_cm_listens(const struct hang_tables *t, pid_t pid)
{
	for (size_t i = 0; i < table_rows_of(t->ids); i++)
		if (table_number(t->ids, i, "pid") == pid &&
		    strcmp(table_text(t->ids, i, "state"), "listening") == 0)
			return true;
	return false;
}

bool hang_cm_has_ids(const struct hang_tables *t, pid_t pid)
{
	for (size_t i = 0; i < table_rows_of(t->ids); i++)
		if (table_number(t->ids, i, "pid") == pid)
			return true;
	return false;
}

const char *hang_cm_check(enum hang_cm_kind kind)
{
	switch (kind) {
	case HANG_CM_REQUEST_UNREAD:
	case HANG_CM_BACKLOG_FULL:
	case HANG_CM_REPLY_UNREAD:
	case HANG_CM_END_UNREAD:
		return "cm-unread";
	case HANG_CM_REQUEST_IGNORED:
	case HANG_CM_REPLY_IGNORED:
		return "cm-unanswered";
	case HANG_CM_QUIET:
	case HANG_CM_OPEN:
		break;
	}
	return NULL;
}

const char *hang_cm_what(enum hang_cm_kind kind)
{
	switch (kind) {
	case HANG_CM_REQUEST_UNREAD:
		return "a peer waits to be connected, and nobody reads its CONNECT_REQUEST";
	case HANG_CM_BACKLOG_FULL:
		return "a peer waits to be connected, and the listener's backlog is full: nobody "
		       "reads its events";
	case HANG_CM_REQUEST_IGNORED:
		return "a peer waits to be connected, and its request is neither accepted nor "
		       "rejected";
	case HANG_CM_REPLY_UNREAD:
		return "a connection is not established: nobody reads CONNECT_RESPONSE or "
		       "ESTABLISHED at the end that asked for it";
	case HANG_CM_REPLY_IGNORED:
		return "a connection is not established: CONNECT_RESPONSE is not answered";
	case HANG_CM_END_UNREAD:
		return "completions are awaited of a connection that the peer has ended or "
		       "refused, and nobody reads the event";
	case HANG_CM_QUIET:
	case HANG_CM_OPEN:
		break;
	}
	return NULL;
}

static int name_end(const struct hang_tables *t, size_t row, char *text, size_t room)
{
	json_int_t pid = table_number(t->ids, row, "pid");
	const char *event = table_text(t->ids, row, "event");
	int n = snprintf(text, room, "rdma_cm id %lld of %s (process %lld), %s to %s: step %s",
			 (long long)table_number(t->ids, row, "id"), table_program_of(t, pid),
			 (long long)pid, table_text(t->ids, row, "source"),
			 table_text(t->ids, row, "destination"), table_text(t->ids, row, "step"));
	if (*event && n > 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, ", %lld unread, the first is %s",
			      (long long)table_number(t->ids, row, "unread"), event);
	return n;
}

static int name_listener(const struct hang_tables *t, size_t row, char *text, size_t room)
{
	json_int_t pid = table_number(t->ids, row, "pid");
	return snprintf(text, room,
			"the listener at %s, id %lld of %s (process %lld): %lld unread "
			"CONNECT_REQUEST, room for %lld more",
			table_text(t->ids, row, "source"),
			(long long)table_number(t->ids, row, "id"), table_program_of(t, pid),
			(long long)pid, (long long)table_number(t->ids, row, "unread"),
			(long long)table_number(t->ids, row, "room"));
}

void hang_cm_describe(const struct hang_tables *t, const struct hang_cm *c, char *text, size_t room)
{
	size_t listener = c->kind == HANG_CM_REQUEST_UNREAD ? listener_of(t, c->victim) : c->row;
	bool by_listener = c->kind == HANG_CM_BACKLOG_FULL ||
			   (c->kind == HANG_CM_REQUEST_UNREAD && listener != HANG_NO_ROW);
	int n = by_listener ? name_listener(t, listener, text, room)
			    : name_end(t, c->row, text, room);
	if (c->victim != c->row && n > 0 && (size_t)n + 2 < room) {
		strcpy(text + n, "; ");
		name_end(t, c->victim, text + n + 2, room - (size_t)n - 2);
	}
}
