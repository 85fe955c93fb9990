/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins processes that wait for each other into one report, by the daemon's tables. See hang.h.
 */
#include "hang.h"

#include "emu/ctl/lib/lib.h"
#include "hang_cm.h"
#include "hang_tables.h"
#include "holders.h"
#include "picture.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PROCESSES 64u
#define FACTS     4u  /* of another's, beside its stacks */
#define FOR_EVER  7   /* rnr_retry */
#define HOLDERS   8u  /* of a socket: a child has those of its parent */
#define CLOCKED   20u /* so many times longer may one poll that looks at the time */

static struct process {
	pid_t pid;
	json_t *line;          /* with a finding, once it has told its own */
	uint64_t heard, since; /* for the last time; without a gap */
	uint64_t reported;     /* when; 0: it was not */
	bool looked_elsewhere;
	bool in_circle;
	bool is_end; /* of a connection that does not go on: no stranger helps it */
} processes[PROCESSES];
static unsigned n_processes;

static struct process *find_process(pid_t pid)
{
	for (unsigned i = 0; i < n_processes; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

static bool has_finding(const json_t *line)
{
	return json_object_get(line, "check") != NULL;
}

static struct process *place_for(pid_t pid, uint64_t now, unsigned ms)
{
	struct process *p = NULL;
	for (unsigned i = 0; i < n_processes && !p; i++)
		if (now - processes[i].heard >= ms)
			p = &processes[i];
	if (!p && n_processes == PROCESSES)
		return NULL;
	if (!p)
		p = &processes[n_processes++];
	json_decref(p->line);
	*p = (struct process){.pid = pid};
	return p;
}

/*
 * It has not gone on since that was told. A gap does not say so: its watching thread may have been
 * without a processor.
 */
static bool stands_as_reported(const struct process *p, const json_t *line)
{
	const json_t *since = json_object_get(json_object_get(line, "hang"), "since");
	return p->reported && since && (uint64_t)json_integer_value(since) <= p->reported;
}

/* One that was silent in between has gone on, and says something new. */
static struct process *note(pid_t pid, json_t *line, unsigned ms)
{
	struct process *p = find_process(pid);
	uint64_t now = ctl_now_ms();
	p = p ? p : place_for(pid, now, ms);
	if (!p)
		return NULL;
	bool anew = now - p->heard >= ms;
	p->heard = now;
	if (anew) {
		p->since = now;
		p->looked_elsewhere = false;
		p->reported = stands_as_reported(p, line) ? p->reported : 0;
	}
	if (anew || has_finding(line) || !p->line || !has_finding(p->line)) {
		json_decref(p->line);
		p->line = json_incref(line);
	}
	return p;
}

/* ---- a queue pair and its peer ---- */

struct link {
	size_t own, peer; /* rows; peer CTL_NO_ROW: it is gone */
	size_t program;   /* the row of the peer's client */
};

/*
 * A request is refused for want of a receive. It is sent again each time that the peer's pause is
 * over: in between it is about to be sent, paced, or waits for an answer, which is the same as long
 * as there is no receive.
 */
static bool waits_for_receive(const struct hang_tables *t, const struct link *l)
{
	const char *waits = ctl_cell_text(t->qps, l->own, "waits");
	if (l->peer == CTL_NO_ROW || ctl_cell_number(t->qps, l->own, "sends") == 0)
		return false;
	if (strcmp(waits, "rnr") == 0 || strcmp(waits, "credit") == 0)
		return true;
	return (!*waits || strcmp(waits, "answer") == 0 || strcmp(waits, "pace") == 0) &&
	       ctl_cell_number(t->qps, l->own, "rnr") > 0 &&
	       json_is_null(ctl_cell(t->qps, l->peer, "srq")) &&
	       ctl_cell_number(t->qps, l->peer, "recvs") == 0;
}

/* The peer takes no request yet: what comes is dropped. */
static bool is_before_rtr(const struct hang_tables *t, const struct link *l)
{
	const char *state = ctl_cell_text(t->qps, l->peer, "state");
	return strcmp(state, "INIT") == 0 || strcmp(state, "RESET") == 0;
}

/* False: the peer is not this daemon's, or something is on its way. */
static bool look_at(const struct hang_tables *t, const json_t *qp, struct link *l)
{
	const char *device = json_string_value(json_array_get(qp, 0));
	const char *address = json_string_value(json_array_get(qp, 2));
	const char *to = address ? table_device_at(t, address) : NULL;
	*l = (struct link){CTL_NO_ROW, CTL_NO_ROW, CTL_NO_ROW};
	if (!device || !to)
		return false;
	l->own = table_row_of_qp(t, device, json_integer_value(json_array_get(qp, 1)));
	if (l->own == CTL_NO_ROW)
		return false;
	l->peer = table_row_of_qp(t, to, ctl_cell_number(t->qps, l->own, "dest_qpn"));
	if (l->peer != CTL_NO_ROW)
		l->program = ctl_row_with(t->clients, "client",
					  ctl_cell_number(t->qps, l->peer, "client"));
	const char *waits = ctl_cell_text(t->qps, l->own, "waits");
	if (ctl_cell_number(t->qps, l->own, "sends") == 0 || strcmp(waits, "state") == 0)
		return true;
	if (waits_for_receive(t, l))
		return ctl_cell_number(t->qps, l->own, "rnr_retry") == FOR_EVER;
	/* it sends again until it gives up, or waits for ever for one that is gone, or early */
	return strcmp(waits, "answer") == 0 && (l->peer == CTL_NO_ROW || is_before_rtr(t, l)) &&
	       ctl_cell_number(t->qps, l->own, "timeout") == 0;
}

static const json_t *qps_of(const json_t *line)
{
	return json_object_get(json_object_get(line, "hang"), "qps");
}

/* The peer cannot send on it: it is gone, in ERR, or has ended the connection. */
static bool is_over(const struct hang_tables *t, const struct link *l)
{
	return l->peer == CTL_NO_ROW ||
	       strcmp(ctl_cell_text(t->qps, l->peer, "state"), "ERR") == 0 ||
	       hang_cm_has_ended(t, ctl_cell_text(t->qps, l->own, "device"),
				 ctl_cell_number(t->qps, l->own, "qpn"));
}

static bool says(const struct process *p, const char *word)
{
	return json_is_true(json_object_get(json_object_get(p->line, "hang"), word));
}

static bool add_process(pid_t pid, unsigned ms, bool is_end)
{
	struct process *other = find_process(pid);
	if (!other || ctl_now_ms() - other->heard >= ms)
		return false;
	other->in_circle = true;
	other->is_end |= is_end;
	return true;
}

/* Adds the other ends of connections that do not go on. False: one of them may. */
static bool add_ends(const struct hang_tables *t, struct process *p, unsigned ms)
{
	for (size_t i = 0; i < ctl_rows(t->ids); i++) {
		if (ctl_cell_number(t->ids, i, "pid") != p->pid)
			continue;
		const struct hang_cm c = hang_cm_look(t, i);
		if (c.kind == HANG_CM_OPEN)
			return false;
		if (c.kind == HANG_CM_QUIET)
			continue;
		if (!add_process((pid_t)ctl_cell_number(t->ids, c.row, "pid"), ms, true) ||
		    !add_process((pid_t)ctl_cell_number(t->ids, c.victim, "pid"), ms, true))
			return false;
	}
	return true;
}

/* Adds those whom it waits for. False: one of them may go on. */
static bool add_peers(const struct hang_tables *t, const struct process *p, unsigned ms)
{
	const json_t *qp;
	struct link l;
	size_t i;
	json_array_foreach(qps_of(p->line), i, qp)
	{
		if (!look_at(t, qp, &l))
			return false;
		if (is_over(t, &l))
			continue;
		if (l.program == CTL_NO_ROW ||
		    !add_process((pid_t)ctl_cell_number(t->clients, l.program, "pid"), ms, false))
			return false;
	}
	return true;
}

/* Adds those that hold the other ends of the sockets that it waits for. */
static bool add_holders(const struct process *p, unsigned ms)
{
	const json_t *inode, *list = json_object_get(json_object_get(p->line, "hang"), "sockets");
	pid_t pids[HOLDERS];
	size_t i;
	json_array_foreach(list, i, inode)
	{
		unsigned n = holders_of((uint64_t)json_integer_value(inode), pids, HOLDERS);
		if (n == 0 || n > HOLDERS)
			return false;
		for (unsigned k = 0; k < n; k++)
			if (!add_process(pids[k], ms, false))
				return false;
	}
	return true;
}

/*
 * One that polls for a limited time may write to the socket then, for which its peer waits. Where
 * both wait by verbs it would have nothing to say to it.
 */
static bool may_give_up(unsigned ms)
{
	bool by_socket = false, limited = false;
	for (unsigned i = 0; i < n_processes; i++) {
		const struct process *p = &processes[i];
		if (!p->in_circle)
			continue;
		by_socket |= json_array_size(json_object_get(json_object_get(p->line, "hang"),
							     "sockets")) > 0;
		limited |= says(p, "clock") && p->heard - p->since < (uint64_t)CLOCKED * ms;
	}
	return by_socket && limited;
}

/*
 * Sockets alone are no business of verbs, and processes that wait for asynchronous events alone may
 * watch their ports.
 */
static bool any_waits_by_verbs(void)
{
	unsigned n = 0, sockets = 0, events = 0;
	for (unsigned i = 0; i < n_processes; i++) {
		n += processes[i].in_circle;
		sockets += processes[i].in_circle && says(&processes[i], "data");
		events += processes[i].in_circle && says(&processes[i], "async");
	}
	return n > sockets + events || (events > 0 && n > events);
}

/* New connections may come to those that listen, and help them on. */
static bool expect_strangers(const struct hang_tables *t)
{
	for (unsigned i = 0; i < n_processes; i++)
		if (processes[i].in_circle && !processes[i].is_end &&
		    says(&processes[i], "strangers") && hang_cm_listens(t, processes[i].pid))
			return true;
	return false;
}

static bool is_closed(const struct hang_tables *t, struct process *of, unsigned ms)
{
	bool more = true, looked[PROCESSES] = {false};
	for (unsigned i = 0; i < n_processes; i++) {
		processes[i].in_circle = &processes[i] == of;
		processes[i].is_end = false;
	}
	while (more) {
		more = false;
		for (unsigned i = 0; i < n_processes; i++) {
			if (!processes[i].in_circle || looked[i])
				continue;
			looked[i] = more = true;
			if (!add_peers(t, &processes[i], ms) || !add_ends(t, &processes[i], ms) ||
			    !add_holders(&processes[i], ms))
				return false;
		}
	}
	return any_waits_by_verbs() && !may_give_up(ms) && !expect_strangers(t);
}

/* ---- the finding ---- */

static bool takes(const json_t *line, const char *check)
{
	const json_t *list = json_object_get(json_object_get(line, "hang"), "checks"), *item;
	size_t i;
	json_array_foreach(list, i, item)
	{
		if (strcmp(json_string_value(item), check) == 0)
			return true;
	}
	return false;
}

static void add_fact(json_t *line, const char *fact)
{
	json_array_append_new(json_object_get(line, "facts"), json_string(fact));
}

static void add_peer_fact(json_t *line, const struct hang_tables *t, const struct link *l)
{
	char fact[512];
	if (l->peer == CTL_NO_ROW)
		snprintf(fact, sizeof(fact), "the peer of QP 0x%llx, QP 0x%llx, is gone",
			 (unsigned long long)ctl_cell_number(t->qps, l->own, "qpn"),
			 (unsigned long long)ctl_cell_number(t->qps, l->own, "dest_qpn"));
	else
		snprintf(fact, sizeof(fact),
			 "the peer of QP 0x%llx: QP 0x%llx (%s) of %s, process %llu: receives "
			 "posted: %llu, requests not sent: %llu",
			 (unsigned long long)ctl_cell_number(t->qps, l->own, "qpn"),
			 (unsigned long long)ctl_cell_number(t->qps, l->peer, "qpn"),
			 ctl_cell_text(t->qps, l->peer, "state"),
			 l->program == CTL_NO_ROW
				 ? "?"
				 : ctl_cell_text(t->clients, l->program, "program"),
			 (unsigned long long)ctl_cell_number(t->clients, l->program, "pid"),
			 (unsigned long long)ctl_cell_number(t->qps, l->peer, "recvs"),
			 (unsigned long long)ctl_cell_number(t->qps, l->peer, "sends"));
	add_fact(line, fact);
}

static void set_check(json_t *line, const char *check, const char *what)
{
	json_object_set_new(line, "check", json_string(check));
	json_object_set_new(line, "what", json_string(what));
}

/* Is one of its connections to be gone on with, by it? */
static bool name_connection(json_t *line, const struct hang_tables *t)
{
	json_int_t pid = json_integer_value(json_object_get(line, "pid"));
	bool named = false;
	char fact[512];
	for (size_t i = 0; i < ctl_rows(t->ids); i++) {
		const struct hang_cm c = hang_cm_look(t, i);
		const char *check = hang_cm_findings[c.kind].check;
		if (!check || i != c.victim || ctl_cell_number(t->ids, c.row, "pid") != pid ||
		    !takes(line, check))
			continue;
		if (!named || c.kind == HANG_CM_BACKLOG_FULL)
			set_check(line, check, hang_cm_findings[c.kind].what);
		named = true;
		hang_cm_describe(t, &c, fact, sizeof(fact));
		add_fact(line, fact);
	}
	return named;
}

/* It waits for an event of rdma_cm, and nothing is left that could have one. */
static bool is_orphaned(const json_t *line, const struct hang_tables *t)
{
	return json_is_true(json_object_get(json_object_get(line, "hang"), "events")) &&
	       takes(line, "object-gone") &&
	       !hang_cm_has_ids(t, (pid_t)json_integer_value(json_object_get(line, "pid")));
}

/* With the peers' state the cause may have a nearer name. Returns how near it is. */
static unsigned name_cause(json_t *line, const struct hang_tables *t)
{
	const char *check = json_string_value(json_object_get(line, "check"));
	bool unready = false, gone = false, early = false;
	const json_t *qp;
	struct link l;
	size_t i;
	json_array_foreach(qps_of(line), i, qp)
	{
		if (!look_at(t, qp, &l))
			continue;
		unready |= waits_for_receive(t, &l);
		gone |= is_over(t, &l);
		early |= l.peer != CTL_NO_ROW && is_before_rtr(t, &l) &&
			 ctl_cell_number(t->qps, l.own, "sends") > 0;
		if (i < FACTS)
			add_peer_fact(line, t, &l);
	}
	if (name_connection(line, t))
		return 5;
	if (unready && takes(line, "peer-unready")) {
		set_check(line, "peer-unready",
			  "a request waits until the peer posts a receive, and it posts none");
		return 4;
	}
	if (early && takes(line, "conn-unanswered")) {
		set_check(line, "conn-unanswered",
			  "requests of a connection are never answered: the peer's queue pair was "
			  "not moved to RTR, and with a timeout of 0 none is repeated");
		return 4;
	}
	if (is_orphaned(line, t)) {
		set_check(line, "object-gone",
			  "an event of rdma_cm is awaited, and all ids of the process are "
			  "destroyed: nothing wakes the thread");
		return 3;
	}
	if (strcmp(check, "peer-waits") != 0)
		return 3;
	if (json_is_true(json_object_get(json_object_get(line, "hang"), "data")))
		return 0;
	if (gone && takes(line, "peer-gone")) {
		set_check(line, "peer-gone", "completions are awaited of a peer that is gone");
		return 2;
	}
	return 1;
}

static void add_stacks(json_t *line, json_t *of)
{
	char title[256];
	json_t *stack;
	size_t i;
	json_array_foreach(json_object_get(of, "stacks"), i, stack)
	{
		json_t *copy = json_copy(stack);
		snprintf(title, sizeof(title), "process %lld (%s), %s",
			 (long long)json_integer_value(json_object_get(of, "pid")),
			 json_string_value(json_object_get(of, "program")),
			 json_string_value(json_object_get(copy, "title")));
		json_object_set_new(copy, "title", json_string(title));
		json_array_append_new(json_object_get(line, "stacks"), copy);
	}
	json_array_foreach(json_object_get(of, "facts"), i, stack)
	{
		json_array_append(json_object_get(line, "facts"), stack);
	}
}

/* NULL: not all of them have told theirs. */
static json_t *join(const struct hang_tables *t)
{
	struct process *first = NULL;
	unsigned nearest = 0;
	for (unsigned i = 0; i < n_processes; i++)
		if (processes[i].in_circle && !has_finding(processes[i].line))
			return NULL;
	for (unsigned i = 0; i < n_processes; i++) {
		if (!processes[i].in_circle)
			continue;
		unsigned near = name_cause(processes[i].line, t);
		processes[i].reported = ctl_now_ms();
		if (near > nearest) {
			nearest = near;
			first = &processes[i];
		}
	}
	json_t *all = first ? json_deep_copy(first->line) : NULL;
	for (unsigned i = 0; all && i < n_processes; i++)
		if (processes[i].in_circle && &processes[i] != first)
			add_stacks(all, processes[i].line);
	return all;
}

/* ---- a peer that waits for something else ---- */

/* A process waits for so many times ms before its peers are looked at. */
#define SETTLED 2u

static void describe_peer(const struct hang_tables *t, const struct process *p,
			  const struct link *l, json_t *facts)
{
	const char *why =
		json_string_value(json_object_get(json_object_get(p->line, "hang"), "why"));
	char fact[512];
	if (why) {
		snprintf(fact, sizeof(fact), "process %d (%s): %s", (int)p->pid,
			 table_program_of(t, p->pid), why);
		json_array_append_new(facts, json_string(fact));
	}
	snprintf(fact, sizeof(fact),
		 "process %d (%s) has waited for its peers for %.0f s; its QP 0x%llx has receives "
		 "posted: %lld, requests not sent: %lld",
		 (int)p->pid, table_program_of(t, p->pid), (double)(p->heard - p->since) / 1000,
		 (unsigned long long)ctl_cell_number(t->qps, l->peer, "qpn"),
		 (long long)ctl_cell_number(t->qps, l->peer, "recvs"),
		 (long long)ctl_cell_number(t->qps, l->peer, "sends"));
	json_array_append_new(facts, json_string(fact));
	if (waits_for_receive(t, l))
		json_array_append_new(
			facts, json_string("its request finds no receive there (RNR NAK), and "
					   "is repeated"));
}

static json_t *note_of(const struct hang_tables *t, const struct process *p, const struct link *l,
		       unsigned ms)
{
	json_int_t pid = ctl_cell_number(t->clients, l->program, "pid");
	json_t *facts = json_array();
	if (!picture_facts((pid_t)pid, ms, facts)) {
		json_decref(facts);
		return NULL;
	}
	describe_peer(t, p, l, facts);
	return json_pack("{s:s, s:I, s:I, s:s, s:s, s:o, s:[]}", "check", "peer-elsewhere", "pid",
			 pid, "thread", pid, "program", picture_program((pid_t)pid), "what",
			 "a peer waits for completions, and this process for something else",
			 "facts", facts, "stacks");
}

/* The first of its peers that does not wait by verbs; NULL: there is none. */
static json_t *look_elsewhere(const struct hang_tables *t, struct process *p, unsigned ms)
{
	json_t *note = NULL;
	const json_t *qp;
	struct link l;
	size_t i;
	if (p->looked_elsewhere || p->heard - p->since < (uint64_t)SETTLED * ms ||
	    !takes(p->line, "peer-elsewhere") || says(p, "strangers"))
		return NULL;
	json_array_foreach(qps_of(p->line), i, qp)
	{
		const struct process *other;
		if (note || !look_at(t, qp, &l) || is_over(t, &l) || l.program == CTL_NO_ROW)
			continue;
		other = find_process((pid_t)ctl_cell_number(t->clients, l.program, "pid"));
		/* one that takes connections may wait for the next, but owes this one a receive */
		if (!other || ctl_now_ms() - other->heard >= ms ||
		    (waits_for_receive(t, &l) && says(other, "strangers")))
			note = note_of(t, p, &l, ms);
	}
	p->looked_elsewhere = note;
	return note;
}

enum hang_answer hang_hear(pid_t pid, json_t *line, unsigned ms, json_t **finding)
{
	enum hang_answer answer = HANG_WAIT;
	struct process *p = note(pid, line, ms);
	struct hang_tables t;
	*finding = NULL;
	if (p && p->reported)
		return HANG_REPORTED;
	if (!p || !hang_ask_daemon(&t, line))
		return HANG_WAIT;
	if (is_closed(&t, p, ms)) {
		answer = has_finding(line) ? HANG_WAIT : HANG_CLOSED;
		*finding = has_finding(line) ? join(&t) : NULL;
		if (*finding)
			answer = HANG_REPORT;
	}
	if (answer == HANG_WAIT && !has_finding(line)) {
		*finding = look_elsewhere(&t, p, ms);
		answer = *finding ? HANG_NOTE : HANG_WAIT;
	}
	hang_drop_tables(&t);
	return answer;
}
