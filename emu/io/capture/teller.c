/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See teller.h.
 */
#include "teller.h"

#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/daemon.h"
#include "emu/io/port/counts.h"
#include "tell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_EVERY (10 * IO_MSEC)
#define DUMP_EVERY     IO_SEC /* failures of one second have one cause, or too many */

void io_teller_hooks(struct io_daemon *d)
{
	uint32_t debug = io_log_enabled(IO_LOG_DEBUG) ? CORE_HOOK_TRACE_ALL : 0;

	for (unsigned i = 0; i < d->devices.n; i++)
		io_device_hook(&d->ports[i].dev, CORE_HOOK_TRACE_ALL | CORE_HOOK_ERRORS,
			       debug | io_pcap_hooks(&d->ports[i].pcap));
}

/* ---- how the counters move ---- */

static void tell_counters(struct io_daemon *d, unsigned port)
{
	uint64_t *before = d->teller.counted + (size_t)port * IO_COUNTS;
	struct io_port *p = &d->ports[port];
	struct io_count now[IO_COUNTS];
	unsigned n = io_counts(&p->dev, now);
	bool moved = false;
	struct io_words w;
	char name[64];

	io_words_begin(&w, "counters");
	io_words_text(&w, "dev", p->dev.id.name);
	for (unsigned i = 0; i < n; i++) {
		if (now[i].value == before[i])
			continue;
		snprintf(name, sizeof(name), "%s%s", now[i].prefix, now[i].name);
		io_words_number(&w, name, now[i].value);
		before[i] = now[i].value;
		moved = true;
	}
	if (moved)
		io_capture_record(&d->capture, io_clock_wall(), w.text);
}

static void tell_all_counters(struct io_daemon *d)
{
	for (unsigned i = 0; i < d->devices.n && d->teller.counted; i++)
		if (io_capture_wants(&d->capture, d->ports[i].pcap.interface))
			tell_counters(d, i);
}

/* ---- the capture ---- */

int io_teller_start(struct io_daemon *d, const struct io_capture_wish *wish)
{
	int error = io_capture_start(&d->capture, wish);

	if (error < 0)
		return error;
	free(d->teller.counted);
	d->teller.counted = calloc(d->devices.n, IO_COUNTS * sizeof(uint64_t));
	if (!d->teller.counted) {
		io_capture_stop(&d->capture);
		return -ENOMEM;
	}
	d->teller.next_counters = 0;
	io_teller_hooks(d);
	d->teller.n_rules = 0; /* whoever reads the file knows none yet */
	io_teller_rules(d);
	return 0;
}

int io_teller_stop(struct io_daemon *d)
{
	int error;

	tell_all_counters(d);
	error = io_capture_stop(&d->capture);
	free(d->teller.counted);
	d->teller.counted = NULL;
	io_teller_hooks(d);
	return error;
}

/* ---- the recorder ---- */

int io_teller_dump(struct io_daemon *d, const char *path, struct io_recorder_dump *out)
{
	return io_recorder_dump(&d->teller.recorder, &d->capture, path, out);
}

/* FILE, FILE.2, FILE.3 ... */
static void dump_failure(struct io_daemon *d, uint64_t now)
{
	struct io_teller *t = &d->teller;
	char path[PATH_MAX + 8];
	struct io_recorder_dump done;
	int error;

	if (!d->settings.on_error[0] || t->dumps == IO_TELLER_DUMPS) {
		t->recorder.failed = false;
		return;
	}
	if (now < t->next_dump)
		return;
	t->recorder.failed = false;
	t->next_dump = now + DUMP_EVERY;
	t->dumps++;
	snprintf(path, sizeof(path), t->dumps > 1 ? "%s.%u" : "%s", d->settings.on_error, t->dumps);
	error = io_teller_dump(d, path, &done);
	if (error < 0)
		io_log(IO_LOG_ERROR, "something failed, but it cannot be written to %s: %s", path,
		       error == -EINVAL ? "not a regular file" : strerror(-error));
	else
		io_log(IO_LOG_WARN, "something failed: the last %llu packets are in %s",
		       (unsigned long long)done.packets, path);
}

void io_teller_tick(struct io_daemon *d, uint64_t now)
{
	if (d->teller.recorder.failed)
		dump_failure(d, now);
	if (d->teller.counted && !io_capture_running(&d->capture))
		io_teller_stop(d); /* it ended by itself */
	if (!d->teller.counted || now < d->teller.next_counters)
		return;
	tell_all_counters(d);
	d->teller.next_counters = now + COUNTERS_EVERY;
}

/* ---- records ---- */

static bool wanted(const struct io_daemon *d, const char *device)
{
	if (!io_capture_running(&d->capture))
		return false;
	if (d->capture.only < 0 || !device)
		return true;
	return strcmp(d->capture.interface[d->capture.only], device) == 0;
}

void io_teller_say(struct io_daemon *d, const char *device, const struct io_words *w)
{
	io_recorder_text(&d->teller.recorder, w->text, io_clock_now());
	if (wanted(d, device))
		io_capture_record(&d->capture, io_clock_wall(), w->text);
}

void io_teller_hit(struct io_daemon *d, const struct fault_hit *hit)
{
	struct io_words w;

	io_tell_hit(&w, hit);
	io_teller_say(d, hit->subject->device, &w);
}

struct leak {
	const struct io_client *client;
	enum core_object_type type;
	uint32_t count[CORE_OBJECT_TYPES], all;
};

static void count_left(void *arg, void *client, const struct core_fact *facts, unsigned n)
{
	struct leak *l = arg;

	(void)facts;
	(void)n;
	if (client != l->client)
		return;
	l->count[l->type]++;
	l->all++;
}

void io_teller_leak(struct io_daemon *d, const struct io_client *c)
{
	struct leak l = {.client = c};
	struct io_words w;

	if (!wanted(d, c->dev->id.name))
		return;
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++) {
		l.type = (enum core_object_type)i;
		core_visit(c->dev->core, l.type, count_left, &l);
	}
	if (l.all == 0)
		return;
	io_tell_leak(&w, c->dev->id.name, c->program, l.count);
	io_teller_say(d, c->dev->id.name, &w);
}

static const struct fault_entry *find_rule(const struct io_daemon *d, uint32_t number)
{
	unsigned n = d->faults.plan ? fault_plan_count(d->faults.plan) : 0;

	for (unsigned i = 0; i < n; i++)
		if (fault_plan_entry(d->faults.plan, i)->number == number)
			return fault_plan_entry(d->faults.plan, i);
	return NULL;
}

static const struct io_teller_rule *find_told(const struct io_teller *t, uint32_t number)
{
	for (unsigned i = 0; i < t->n_rules; i++)
		if (t->rules[i].number == number)
			return &t->rules[i];
	return NULL;
}

static void tell_removed(struct io_daemon *d)
{
	struct io_words w;

	for (unsigned i = 0; i < d->teller.n_rules; i++) {
		if (find_rule(d, d->teller.rules[i].number))
			continue;
		io_words_begin(&w, "rule");
		io_words_number(&w, "number", d->teller.rules[i].number);
		io_words_text(&w, "what", "removed");
		io_teller_say(d, NULL, &w);
	}
}

static void tell_rule(struct io_daemon *d, const struct fault_entry *e)
{
	const struct io_teller_rule *told = find_told(&d->teller, e->number);
	struct io_words w;

	if (told && told->added == e->added)
		return;
	io_tell_rule(&w, e, told ? "changed" : "added");
	io_teller_say(d, NULL, &w);
}

void io_teller_rules(struct io_daemon *d)
{
	unsigned n = fault_plan_count(d->faults.plan);
	struct io_teller_rule *rules = calloc(n + 1, sizeof(*rules));

	tell_removed(d);
	for (unsigned i = 0; i < n; i++) {
		const struct fault_entry *e = fault_plan_entry(d->faults.plan, i);

		tell_rule(d, e);
		if (rules)
			rules[i] = (struct io_teller_rule){e->number, e->added};
	}
	free(d->teller.rules);
	d->teller.rules = rules;
	d->teller.n_rules = rules ? n : 0;
}

/* For the comments of packets. */
static const char *rule_text(void *user, uint32_t number)
{
	const struct fault_entry *e = find_rule(user, number);

	return e ? e->rule.text : NULL;
}

void io_teller_create(struct io_daemon *d)
{
	io_recorder_init(&d->teller.recorder, IO_RECORDER_BYTES);
	d->capture.rule_text = rule_text;
	d->capture.user = d;
}

void io_teller_destroy(struct io_daemon *d)
{
	io_teller_stop(d);
	io_recorder_destroy(&d->teller.recorder);
	free(d->teller.rules);
	d->teller.rules = NULL;
	d->teller.n_rules = 0;
}
