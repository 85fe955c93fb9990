/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dumps of the flight recorder (tracer.h). Who writes one has copies of all that it needs: of the
 * ring, of the interfaces' names, of the rules' texts, and of how things stood at the end.
 */
#include "tracer.h"

#include "emu/io/device/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *rule_text(void *dump, uint32_t number)
{
	const struct io_tracer_dump *d = dump;

	for (unsigned i = 0; i < d->n_rules; i++)
		if (d->rules[i].number == number)
			return d->rules[i].text;
	return NULL;
}

static int copy_rules(struct io_tracer_dump *d, const struct fault_plan *plan)
{
	unsigned n = plan ? fault_plan_count(plan) : 0;

	d->rules = calloc(n + 1, sizeof(*d->rules));
	if (!d->rules)
		return -ENOMEM;
	for (; d->n_rules < n; d->n_rules++) {
		const struct fault_entry *e = fault_plan_entry(plan, d->n_rules);
		struct io_tracer_text *to = &d->rules[d->n_rules];

		*to = (struct io_tracer_text){e->number, strdup(e->rule.text)};
		if (!to->text)
			return -ENOMEM;
	}
	return 0;
}

/* ---- how all stands: the devices are looked at now, and written of later ---- */

static void keep_record(void *arg, const struct io_words *w)
{
	struct io_tracer_dump *d = arg;
	char **grown = realloc(d->ending, (d->n_ending + 1) * sizeof(*grown));
	char *text = strdup(w->text);

	if (grown)
		d->ending = grown;
	if (grown && text)
		d->ending[d->n_ending++] = text;
	else
		free(text);
}

/* The end of what the recorder has: all that is needed to make sense of what stands before. */
static void copy_ending(struct io_tracer_dump *d, const struct io_tracer *t)
{
	const struct io_stand_sink sink = {keep_record, d};

	for (unsigned i = 0; i < t->devices->n; i++) {
		io_stand_regions(t->devices->at[i], &sink);
		io_stand_queues(t->devices->at[i], NULL, &sink);
	}
	if (t->stand_more)
		t->stand_more(t->stand_user, &sink);
}

static void put_ending(void *user, struct io_capture *to, uint64_t wall)
{
	const struct io_tracer_dump *d = user;

	for (unsigned i = 0; i < d->n_ending; i++)
		io_capture_record(to, wall, d->ending[i]);
}

static void copy_names(struct io_tracer_dump *d, const struct io_capture *from)
{
	io_capture_init(&d->like);
	for (unsigned i = 0; i < from->n_interfaces; i++)
		io_capture_add_interface(&d->like, from->interface[i]);
	d->like.rule_text = rule_text;
	d->like.ending = put_ending;
	d->like.user = d;
}

int io_tracer_dump_make(const struct io_tracer *t, const char *path, struct io_tracer_dump **out)
{
	struct io_tracer_dump *d;
	int error;

	if (strlen(path) >= sizeof(d->path))
		return -ENAMETOOLONG;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	strcpy(d->path, path);
	copy_names(d, t->capture);
	error = copy_rules(d, t->plan);
	if (error == 0)
		error = io_recorder_copy(&t->recorder, &d->recorder);
	if (error < 0) {
		io_tracer_dump_free(d);
		return error;
	}
	copy_ending(d, t);
	*out = d;
	return 0;
}

void io_tracer_dump_write(struct io_tracer_dump *d)
{
	d->error = io_recorder_dump(&d->recorder, &d->like, d->path, &d->out);
}

void io_tracer_dump_free(struct io_tracer_dump *d)
{
	for (unsigned i = 0; i < d->n_rules; i++)
		free(d->rules[i].text);
	free(d->rules);
	for (unsigned i = 0; i < d->n_ending; i++)
		free(d->ending[i]);
	free(d->ending);
	io_recorder_destroy(&d->recorder);
	free(d);
}
