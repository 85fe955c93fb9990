/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends trace records to the capture and the flight recorder; dumps the recorder. */
#include "tracer.h"

#include "emu/io/base/base.h"
#include "emu/io/device/devices.h"
#include "emu/io/local/local.h"
#include "emu/io/port/port.h"
#include "pcap.h"
#include "stand.h"
#include "trace_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAK_PLACES    256 /* of a table, in one part */
#define COUNTERS_EVERY (10 * IO_MSEC)
#define DUMP_EVERY     IO_SEC /* failures of one second have one cause, or too many */
/* What fails at one end has not been told to the other yet: its completion is to be in the file. */
#define DUMP_AFTER     (50 * IO_MSEC)

void io_tracer_hooks(struct io_tracer *t)
{
	uint32_t debug = io_log_enabled(IO_LOG_DEBUG) ? CORE_HOOK_TRACE_ALL : 0;

	for (unsigned i = 0; i < t->devices->n; i++)
		io_device_hook(t->devices->at[i], CORE_HOOK_TRACE_ALL | CORE_HOOK_ERRORS,
			       debug | IO_FAILURES_HOOKS | io_pcap_hooks(t->devices->at[i]->pcap));
}

/* ---- how the counters move ---- */

static void trace_counters(struct io_tracer *t, unsigned device)
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

static void trace_all_counters(struct io_tracer *t)
{
	for (unsigned i = 0; i < t->devices->n && t->counted; i++)
		if (io_capture_wants(t->capture, t->devices->at[i]->pcap->interface))
			trace_counters(t, i);
}

static bool wanted(const struct io_tracer *t, const char *device)
{
	if (!io_capture_running(t->capture))
		return false;
	if (t->capture->only < 0 || !device)
		return true;
	return strcmp(t->capture->interface[t->capture->only], device) == 0;
}

/* ---- how things stand ---- */

struct ending {
	struct io_capture *to;
	uint64_t wall;
};

static void put_record(void *arg, const struct io_words *w)
{
	const struct ending *e = arg;

	io_capture_record(e->to, e->wall, w->text);
}

static void trace_queues(struct io_tracer *t, const struct io_device *dev, const void *client)
{
	struct ending e = {t->capture, io_clock_wall()};
	const struct io_stand_sink sink = {put_record, &e};

	if (wanted(t, dev->id.name))
		io_stand_queues(dev, client, &sink);
}

static void trace_more(struct io_tracer *t)
{
	struct ending e = {t->capture, io_clock_wall()};
	const struct io_stand_sink sink = {put_record, &e};

	if (t->stand_more && io_capture_running(t->capture))
		t->stand_more(t->stand_user, &sink);
}

/* ---- the capture ---- */

int io_tracer_start(struct io_tracer *t, const struct io_capture_wish *wish)
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
	io_tracer_hooks(t);
	t->n_rules = 0; /* whoever reads the file knows none yet */
	io_tracer_rules(t);
	return 0;
}

static void forget_counters(struct io_tracer *t)
{
	free(t->counted);
	t->counted = NULL;
	io_tracer_hooks(t);
}

/* The end of a capture, however its file is closed. */
static void trace_end(struct io_tracer *t)
{
	trace_all_counters(t);
	for (unsigned i = 0; i < t->devices->n && t->counted; i++)
		trace_queues(t, t->devices->at[i], NULL);
	trace_more(t);
}

int io_tracer_end(struct io_tracer *t, struct io_file_writer **writer)
{
	int error;

	trace_end(t);
	error = io_capture_end(t->capture, writer);
	forget_counters(t);
	return error;
}

int io_tracer_stop(struct io_tracer *t)
{
	int error;

	trace_end(t);
	error = io_capture_stop(t->capture);
	forget_counters(t);
	return error;
}

/* ---- the recorder ---- */

/* A failure, which a thread writes to its file. */
struct failure {
	struct io_task task;
	struct io_tracer_dump *dump;
};

static void say_not_written(const char *path, int error)
{
	io_log(IO_LOG_ERROR, "a failure occurred, but the last packets cannot be written to %s: %s",
	       path, error == -EINVAL ? "not a regular file" : strerror(-error));
}

static void write_failure(struct io_task *t)
{
	io_tracer_dump_write(((struct failure *)t)->dump);
}

static void failure_written(struct io_task *t)
{
	struct failure *f = (struct failure *)t;
	const struct io_tracer_dump *d = f->dump;

	if (d->error < 0)
		say_not_written(d->path, d->error);
	else
		io_log(IO_LOG_WARN, "a failure occurred: the last %llu packets are in %s",
		       (unsigned long long)d->out.packets, d->path);
	io_tracer_dump_free(f->dump);
	free(f);
}

static int start_failure(struct io_tracer *t, const char *path)
{
	struct failure *f = calloc(1, sizeof(*f));
	int error = f ? io_tracer_dump_make(t, path, &f->dump) : -ENOMEM;

	if (error == 0) {
		f->task = (struct io_task){.work = write_failure, .done = failure_written};
		error = io_task_start(t->tasks, &f->task);
		if (error < 0)
			io_tracer_dump_free(f->dump);
	}
	if (error < 0)
		free(f);
	return error;
}

uint64_t io_tracer_deadline(const struct io_tracer *t)
{
	uint64_t at = t->failed_at + DUMP_AFTER;

	if (!t->failed_at)
		return UINT64_MAX;
	return at < t->next_dump ? t->next_dump : at;
}

/* FILE, FILE.2, FILE.3 ... */
static void dump_failure(struct io_tracer *t, uint64_t now)
{
	char path[PATH_MAX + 8];
	int error;

	if (!t->on_error[0] || t->dumps == IO_TRACER_DUMPS) {
		t->recorder.failed = false;
		return;
	}
	if (!t->failed_at)
		t->failed_at = now;
	if (now < io_tracer_deadline(t))
		return;
	t->recorder.failed = false;
	t->failed_at = 0;
	t->next_dump = now + DUMP_EVERY;
	t->dumps++;
	snprintf(path, sizeof(path), t->dumps > 1 ? "%s.%u" : "%s", t->on_error, t->dumps);
	error = start_failure(t, path);
	if (error < 0)
		say_not_written(path, error);
}

/* The daemon ends: what has failed just now is written before its clients' objects go. */
void io_tracer_hurry(struct io_tracer *t)
{
	if (!t->recorder.failed)
		return;
	t->failed_at = 1;
	t->next_dump = 0;
	dump_failure(t, UINT64_MAX);
}

void io_tracer_tick(struct io_tracer *t, uint64_t now)
{
	if (t->recorder.failed)
		dump_failure(t, now);
	if (t->counted && !io_capture_running(t->capture))
		forget_counters(t); /* it ended by itself */
	if (!t->counted || now < t->next_counters)
		return;
	trace_all_counters(t);
	t->next_counters = now + COUNTERS_EVERY;
}

/* ---- records ---- */

void io_tracer_say(struct io_tracer *t, const char *device, const struct io_words *w)
{
	io_recorder_text(&t->recorder, w->text, io_clock_now());
	if (wanted(t, device))
		io_capture_record(t->capture, io_clock_wall(), w->text);
}

void io_tracer_hit(struct io_tracer *t, const struct fault_hit *hit)
{
	struct io_words w;

	io_trace_hit(&w, hit);
	io_tracer_say(t, hit->subject->device, &w);
}

bool io_tracer_leak(struct io_tracer *t, const struct io_device *dev, const void *client,
		    const char *program, struct io_leak *l)
{
	struct io_words w;

	if (!l->began) {
		l->began = true;
		l->type = wanted(t, dev->id.name) ? 0 : CORE_OBJECT_TYPES;
	}
	if (l->type == CORE_OBJECT_TYPES)
		return true;
	l->visit.type = (enum core_object_type)l->type;
	l->visit.client = client;
	if (core_visit(dev->core, &l->visit, LEAK_PLACES, NULL, NULL))
		return false;
	l->count[l->type++] = l->visit.met;
	l->all += l->visit.met;
	l->visit = (struct core_visit){.next = 0};
	if (l->type < CORE_OBJECT_TYPES)
		return false;
	if (l->all == 0)
		return true;
	trace_queues(t, dev, client);
	io_trace_leak(&w, dev->id.name, program, l->count);
	io_tracer_say(t, dev->id.name, &w);
	return true;
}

static const struct fault_entry *find_rule(const struct io_tracer *t, uint32_t number)
{
	unsigned n = t->plan ? fault_plan_count(t->plan) : 0;

	for (unsigned i = 0; i < n; i++)
		if (fault_plan_entry(t->plan, i)->number == number)
			return fault_plan_entry(t->plan, i);
	return NULL;
}

static const struct io_tracer_rule *find_traced(const struct io_tracer *t, uint32_t number)
{
	for (unsigned i = 0; i < t->n_rules; i++)
		if (t->rules[i].number == number)
			return &t->rules[i];
	return NULL;
}

static void trace_removed(struct io_tracer *t)
{
	struct io_words w;

	for (unsigned i = 0; i < t->n_rules; i++) {
		if (find_rule(t, t->rules[i].number))
			continue;
		io_words_begin(&w, "rule");
		io_words_number(&w, "number", t->rules[i].number);
		io_words_text(&w, "what", "removed");
		io_tracer_say(t, NULL, &w);
	}
}

static void trace_rule(struct io_tracer *t, const struct fault_entry *e)
{
	const struct io_tracer_rule *traced = find_traced(t, e->number);
	struct io_words w;

	if (traced && traced->added == e->added)
		return;
	io_trace_rule(&w, e, traced ? "changed" : "added");
	io_tracer_say(t, NULL, &w);
}

void io_tracer_rules(struct io_tracer *t)
{
	unsigned n = fault_plan_count(t->plan);
	struct io_tracer_rule *rules = calloc(n + 1, sizeof(*rules));

	trace_removed(t);
	for (unsigned i = 0; i < n; i++) {
		const struct fault_entry *e = fault_plan_entry(t->plan, i);

		trace_rule(t, e);
		if (rules)
			rules[i] = (struct io_tracer_rule){e->number, e->added};
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

void io_tracer_create(struct io_tracer *t, struct io_capture *capture,
		      const struct io_devices *devices, const char *on_error)
{
	*t = (struct io_tracer){.capture = capture, .devices = devices, .on_error = on_error};
	io_recorder_init(&t->recorder, IO_RECORDER_BYTES);
	t->capture->rule_text = rule_text;
	t->capture->user = t;
}

void io_tracer_destroy(struct io_tracer *t)
{
	io_tracer_stop(t);
	io_recorder_destroy(&t->recorder);
	free(t->rules);
	t->rules = NULL;
	t->n_rules = 0;
}
