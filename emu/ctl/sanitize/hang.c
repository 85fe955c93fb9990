/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins processes that wait for each other into one report, by the daemon's tables. See hang.h.
 */
#include "hang.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PROCESSES 64u
#define FACTS     4u /* of another's, beside its stacks */

static struct process {
	pid_t pid;
	json_t *line; /* with a finding, once it has told its own */
	uint64_t heard;
	bool told;
	bool in_circle;
} processes[PROCESSES];
static unsigned n_processes;

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct process *find(pid_t pid)
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

/* One that was silent in between has gone on, and says something new. */
static struct process *note(pid_t pid, json_t *line, unsigned ms)
{
	struct process *p = find(pid);
	uint64_t now = now_ms();
	p = p ? p : place_for(pid, now, ms);
	if (!p)
		return NULL;
	bool anew = now - p->heard >= ms;
	p->heard = now;
	if (anew)
		p->told = false;
	if (anew || has_finding(line) || !p->line) {
		json_decref(p->line);
		p->line = json_incref(line);
	}
	return p;
}

/* ---- what the daemon knows ---- */

struct tables {
	json_t *qps, *clients, *devices;
};

static json_t *get_table(const char *dir, const char *what)
{
	struct ctl_failure failure;
	json_t *table = NULL;
	if (ctl_exchange(dir, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, what),
			 &table, &failure) != 0)
		return NULL;
	return table;
}

static bool ask_daemon(struct tables *t, const json_t *line)
{
	const char *dir = json_string_value(json_object_get(json_object_get(line, "hang"), "dir"));
	*t = (struct tables){0};
	if (!dir || !*dir)
		return false;
	t->qps = get_table(dir, "qp");
	t->clients = t->qps ? get_table(dir, "client") : NULL;
	t->devices = t->clients ? get_table(dir, "device") : NULL;
	return t->devices;
}

static void drop_tables(struct tables *t)
{
	json_decref(t->qps);
	json_decref(t->clients);
	json_decref(t->devices);
}

static size_t rows_of(const json_t *table)
{
	return json_array_size(json_object_get(table, UHCA_CTL_ROWS));
}

static const json_t *cell(const json_t *table, size_t row, const char *name)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);
	size_t i = 0;
	for (; i < json_array_size(columns); i++) {
		const char *n = json_string_value(
			json_object_get(json_array_get(columns, i), UHCA_CTL_NAME));
		if (n && strcmp(n, name) == 0)
			break;
	}
	return json_array_get(json_array_get(json_object_get(table, UHCA_CTL_ROWS), row), i);
}

static const char *text(const json_t *table, size_t row, const char *name)
{
	const char *value = json_string_value(cell(table, row, name));
	return value ? value : "";
}

static json_int_t number(const json_t *table, size_t row, const char *name)
{
	return json_integer_value(cell(table, row, name));
}

#define NO_ROW   ((size_t)-1)
#define FOR_EVER 7 /* rnr_retry */

static size_t row_of_qp(const struct tables *t, const char *device, json_int_t qpn)
{
	for (size_t i = 0; i < rows_of(t->qps); i++)
		if (number(t->qps, i, "qpn") == qpn &&
		    strcmp(text(t->qps, i, "device"), device) == 0)
			return i;
	return NO_ROW;
}

static bool is_listed(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && strncmp(list, word, n) == 0)
			return true;
	return false;
}

/* The device of the daemon that has the address; NULL: it is elsewhere. */
static const char *device_at(const struct tables *t, const char *address)
{
	for (size_t i = 0; i < rows_of(t->devices); i++)
		if (is_listed(text(t->devices, i, "addresses"), address))
			return text(t->devices, i, "device");
	return NULL;
}

static size_t row_of_client(const struct tables *t, json_int_t client)
{
	for (size_t i = 0; i < rows_of(t->clients); i++)
		if (number(t->clients, i, "client") == client)
			return i;
	return NO_ROW;
}

/* ---- a queue pair and its peer ---- */

struct link {
	size_t own, peer; /* rows; peer NO_ROW: it is gone */
	size_t program;   /* the row of the peer's client */
};

/*
 * A request is refused for want of a receive. It is sent again each time that the peer's pause is
 * over: in between it waits for an answer, which is the same as long as there is no receive.
 */
static bool waits_for_receive(const struct tables *t, const struct link *l)
{
	const char *waits = text(t->qps, l->own, "waits");
	if (l->peer == NO_ROW || number(t->qps, l->own, "sends") == 0)
		return false;
	if (strcmp(waits, "rnr") == 0 || strcmp(waits, "credit") == 0)
		return true;
	return strcmp(waits, "answer") == 0 && number(t->qps, l->own, "rnr") > 0 &&
	       json_is_null(cell(t->qps, l->peer, "srq")) && number(t->qps, l->peer, "recvs") == 0;
}

/* False: the peer is not this daemon's, or something is on its way. */
static bool look_at(const struct tables *t, const json_t *qp, struct link *l)
{
	const char *device = json_string_value(json_array_get(qp, 0));
	const char *address = json_string_value(json_array_get(qp, 2));
	const char *to = address ? device_at(t, address) : NULL;
	*l = (struct link){NO_ROW, NO_ROW, NO_ROW};
	if (!device || !to)
		return false;
	l->own = row_of_qp(t, device, json_integer_value(json_array_get(qp, 1)));
	if (l->own == NO_ROW)
		return false;
	l->peer = row_of_qp(t, to, number(t->qps, l->own, "dest_qpn"));
	if (l->peer != NO_ROW)
		l->program = row_of_client(t, number(t->qps, l->peer, "client"));
	const char *waits = text(t->qps, l->own, "waits");
	if (number(t->qps, l->own, "sends") == 0 || strcmp(waits, "state") == 0)
		return true;
	if (waits_for_receive(t, l))
		return number(t->qps, l->own, "rnr_retry") == FOR_EVER;
	/* to one that is gone it sends again until it gives up, or for ever */
	return strcmp(waits, "answer") == 0 && l->peer == NO_ROW &&
	       number(t->qps, l->own, "timeout") == 0;
}

static const json_t *qps_of(const json_t *line)
{
	return json_object_get(json_object_get(line, "hang"), "qps");
}

/* Adds those whom it waits for. False: one of them may go on. */
static bool add_peers(const struct tables *t, const struct process *p, unsigned ms)
{
	const json_t *qp;
	struct link l;
	size_t i;
	json_array_foreach(qps_of(p->line), i, qp)
	{
		if (!look_at(t, qp, &l))
			return false;
		if (l.peer == NO_ROW)
			continue;
		struct process *other = l.program == NO_ROW
						? NULL
						: find((pid_t)number(t->clients, l.program, "pid"));
		if (!other || now_ms() - other->heard >= ms)
			return false;
		other->in_circle = true;
	}
	return true;
}

static bool is_closed(const struct tables *t, struct process *of, unsigned ms)
{
	bool more = true, looked[PROCESSES] = {false};
	for (unsigned i = 0; i < n_processes; i++)
		processes[i].in_circle = &processes[i] == of;
	while (more) {
		more = false;
		for (unsigned i = 0; i < n_processes; i++) {
			if (!processes[i].in_circle || looked[i])
				continue;
			looked[i] = more = true;
			if (!add_peers(t, &processes[i], ms))
				return false;
		}
	}
	return true;
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

static void tell_peer(json_t *line, const struct tables *t, const struct link *l)
{
	char fact[512];
	if (l->peer == NO_ROW)
		snprintf(fact, sizeof(fact), "the peer of QP 0x%llx, QP 0x%llx, is gone",
			 (unsigned long long)number(t->qps, l->own, "qpn"),
			 (unsigned long long)number(t->qps, l->own, "dest_qpn"));
	else
		snprintf(fact, sizeof(fact),
			 "the peer of QP 0x%llx: QP 0x%llx (%s) of %s, process %llu: %llu receives "
			 "posted, %llu requests not sent",
			 (unsigned long long)number(t->qps, l->own, "qpn"),
			 (unsigned long long)number(t->qps, l->peer, "qpn"),
			 text(t->qps, l->peer, "state"),
			 l->program == NO_ROW ? "?" : text(t->clients, l->program, "program"),
			 (unsigned long long)number(t->clients, l->program, "pid"),
			 (unsigned long long)number(t->qps, l->peer, "recvs"),
			 (unsigned long long)number(t->qps, l->peer, "sends"));
	add_fact(line, fact);
}

static void set_check(json_t *line, const char *check, const char *what)
{
	json_object_set_new(line, "check", json_string(check));
	json_object_set_new(line, "what", json_string(what));
}

/* With the peers' state the cause may have a nearer name. Returns how near it is. */
static unsigned name_cause(json_t *line, const struct tables *t)
{
	const char *check = json_string_value(json_object_get(line, "check"));
	bool unready = false, gone = false;
	const json_t *qp;
	struct link l;
	size_t i;
	json_array_foreach(qps_of(line), i, qp)
	{
		if (!look_at(t, qp, &l))
			continue;
		unready |= waits_for_receive(t, &l);
		gone |= l.peer == NO_ROW;
		if (i < FACTS)
			tell_peer(line, t, &l);
	}
	if (unready && takes(line, "peer-unready")) {
		set_check(line, "peer-unready",
			  "a request waits until the peer posts a receive, and nobody does");
		return 4;
	}
	if (strcmp(check, "peer-waits") != 0)
		return 3;
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
static json_t *join(const struct tables *t)
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
		processes[i].told = true;
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

enum hang_answer hang_hear(pid_t pid, json_t *line, unsigned ms, json_t **finding)
{
	enum hang_answer answer = HANG_WAIT;
	struct process *p = note(pid, line, ms);
	struct tables t;
	*finding = NULL;
	if (p && p->told)
		return HANG_TOLD;
	if (!p || !ask_daemon(&t, line))
		return HANG_WAIT;
	if (is_closed(&t, p, ms)) {
		answer = has_finding(line) ? HANG_WAIT : HANG_CLOSED;
		*finding = has_finding(line) ? join(&t) : NULL;
		if (*finding)
			answer = HANG_TELL;
	}
	drop_tables(&t);
	return answer;
}
