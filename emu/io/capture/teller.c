/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See teller.h.
 */
#include "teller.h"

#include "emu/io/base/base.h"
#include "emu/io/device/devices.h"
#include "emu/io/port/port.h"
#include "pcap.h"
#include "tell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_EVERY (10 * IO_MSEC)
#define DUMP_EVERY     IO_SEC /* failures of one second have one cause, or too many */

void io_teller_hooks(struct io_teller *t)
{
	uint32_t debug = io_log_enabled(IO_LOG_DEBUG) ? CORE_HOOK_TRACE_ALL : 0;

	for (unsigned i = 0; i < t->devices->n; i++)
		io_device_hook(t->devices->at[i], CORE_HOOK_TRACE_ALL | CORE_HOOK_ERRORS,
			       debug | io_pcap_hooks(t->devices->at[i]->pcap));
}

/* ---- how the counters move ---- */

static void tell_counters(struct io_teller *t, unsigned device)
{
	uint64_t *before = t->counted + (size_t)device * IO_COUNTS;
	const struct io_device *dev = t->devices->at[device];
	struct io_count now[IO_COUNTS];
	unsigned n = io_counts(dev, now);
	bool moved = false;
	struct io_words w;
	char name[64];

	io_words_begin(&w, "counters");
	io_words_text(&w, "dev", dev->id.name);
	for (unsigned i = 0; i < n; i++) {
		if (now[i].value == before[i])
			continue;
		snprintf(name, sizeof(name), "%s%s", now[i].prefix, now[i].name);
		io_words_number(&w, name, now[i].value);
		before[i] = now[i].value;
		moved = true;
	}
	if (moved)
		io_capture_record(t->capture, io_clock_wall(), w.text);
}

static void tell_all_counters(struct io_teller *t)
{
	for (unsigned i = 0; i < t->devices->n && t->counted; i++)
		if (io_capture_wants(t->capture, t->devices->at[i]->pcap->interface))
			tell_counters(t, i);
}

/* ---- the capture ---- */

int io_teller_start(struct io_teller *t, const struct io_capture_wish *wish)
{
	int error = io_capture_start(t->capture, wish);

	if (error < 0)
		return error;
	free(t->counted);
	t->counted = calloc(t->devices->n, IO_COUNTS * sizeof(uint64_t));
	if (!t->counted) {
		io_capture_stop(t->capture);
		return -ENOMEM;
	}
	t->next_counters = 0;
	io_teller_hooks(t);
	t->n_rules = 0; /* whoever reads the file knows none yet */
	io_teller_rules(t);
	return 0;
}

int io_teller_stop(struct io_teller *t)
{
	int error;

	tell_all_counters(t);
	error = io_capture_stop(t->capture);
	free(t->counted);
	t->counted = NULL;
	io_teller_hooks(t);
	return error;
}

/* ---- the recorder ---- */

int io_teller_dump(struct io_teller *t, const char *path, struct io_recorder_dump *out)
{
	return io_recorder_dump(&t->recorder, t->capture, path, out);
}

/* FILE, FILE.2, FILE.3 ... */
static void dump_failure(struct io_teller *t, uint64_t now)
{
	char path[PATH_MAX + 8];
	struct io_recorder_dump done;
	int error;

	if (!t->on_error[0] || t->dumps == IO_TELLER_DUMPS) {
		t->recorder.failed = false;
		return;
	}
	if (now < t->next_dump)
		return;
	t->recorder.failed = false;
	t->next_dump = now + DUMP_EVERY;
	t->dumps++;
	snprintf(path, sizeof(path), t->dumps > 1 ? "%s.%u" : "%s", t->on_error, t->dumps);
	error = io_teller_dump(t, path, &done);
	if (error < 0)
		io_log(IO_LOG_ERROR, "something failed, but it cannot be written to %s: %s", path,
		       error == -EINVAL ? "not a regular file" : strerror(-error));
	else
		io_log(IO_LOG_WARN, "something failed: the last %llu packets are in %s",
		       (unsigned long long)done.packets, path);
}

void io_teller_tick(struct io_teller *t, uint64_t now)
{
	if (t->recorder.failed)
		dump_failure(t, now);
	if (t->counted && !io_capture_running(t->capture))
		io_teller_stop(t); /* it ended by itself */
	if (!t->counted || now < t->next_counters)
		return;
	tell_all_counters(t);
	t->next_counters = now + COUNTERS_EVERY;
}

/* ---- records ---- */

static bool wanted(const struct io_teller *t, const char *device)
{
	if (!io_capture_running(t->capture))
		return false;
	if (t->capture->only < 0 || !device)
		return true;
	return strcmp(t->capture->interface[t->capture->only], device) == 0;
}

void io_teller_say(struct io_teller *t, const char *device, const struct io_words *w)
{
	io_recorder_text(&t->recorder, w->text, io_clock_now());
	if (wanted(t, device))
		io_capture_record(t->capture, io_clock_wall(), w->text);
}

void io_teller_hit(struct io_teller *t, const struct fault_hit *hit)
{
	struct io_words w;

	io_tell_hit(&w, hit);
	io_teller_say(t, hit->subject->device, &w);
}

struct leak {
	const void *client;
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

void io_teller_leak(struct io_teller *t, const struct io_device *dev, const void *client,
		    const char *program)
{
	struct leak l = {.client = client};
	struct io_words w;

	if (!wanted(t, dev->id.name))
		return;
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++) {
		l.type = (enum core_object_type)i;
		core_visit(dev->core, l.type, count_left, &l);
	}
	if (l.all == 0)
		return;
	io_tell_leak(&w, dev->id.name, program, l.count);
	io_teller_say(t, dev->id.name, &w);
}

static const struct fault_entry *find_rule(const struct io_teller *t, uint32_t number)
{
	unsigned n = t->plan ? fault_plan_count(t->plan) : 0;

	for (unsigned i = 0; i < n; i++)
		if (fault_plan_entry(t->plan, i)->number == number)
			return fault_plan_entry(t->plan, i);
	return NULL;
}

static const struct io_teller_rule *find_told(const struct io_teller *t, uint32_t number)
{
	for (unsigned i = 0; i < t->n_rules; i++)
		if (t->rules[i].number == number)
			return &t->rules[i];
	return NULL;
}

static void tell_removed(struct io_teller *t)
{
	struct io_words w;

	for (unsigned i = 0; i < t->n_rules; i++) {
		if (find_rule(t, t->rules[i].number))
			continue;
		io_words_begin(&w, "rule");
		io_words_number(&w, "number", t->rules[i].number);
		io_words_text(&w, "what", "removed");
		io_teller_say(t, NULL, &w);
	}
}

static void tell_rule(struct io_teller *t, const struct fault_entry *e)
{
	const struct io_teller_rule *told = find_told(t, e->number);
	struct io_words w;

	if (told && told->added == e->added)
		return;
	io_tell_rule(&w, e, told ? "changed" : "added");
	io_teller_say(t, NULL, &w);
}

void io_teller_rules(struct io_teller *t)
{
	unsigned n = fault_plan_count(t->plan);
	struct io_teller_rule *rules = calloc(n + 1, sizeof(*rules));

	tell_removed(t);
	for (unsigned i = 0; i < n; i++) {
		const struct fault_entry *e = fault_plan_entry(t->plan, i);

		tell_rule(t, e);
		if (rules)
			rules[i] = (struct io_teller_rule){e->number, e->added};
	}
	free(t->rules);
	t->rules = rules;
	t->n_rules = rules ? n : 0;
}

/* For the comments of packets. */
static const char *rule_text(void *user, uint32_t number)
{
	const struct fault_entry *e = find_rule(user, number);

	return e ? e->rule.text : NULL;
}

void io_teller_create(struct io_teller *t, struct io_capture *capture,
		      const struct io_devices *devices, const char *on_error)
{
	*t = (struct io_teller){.capture = capture, .devices = devices, .on_error = on_error};
	io_recorder_init(&t->recorder, IO_RECORDER_BYTES);
	t->capture->rule_text = rule_text;
	t->capture->user = t;
}

void io_teller_destroy(struct io_teller *t)
{
	io_teller_stop(t);
	io_recorder_destroy(&t->recorder);
	free(t->rules);
	t->rules = NULL;
	t->n_rules = 0;
}
