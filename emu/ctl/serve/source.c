/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a capture or a running daemon for the page (source.h). */
#include "source.h"

#include "emu/abi/ctl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX 1000u

/* ---- the state: what the daemon's tables say ---- */

static json_t *show(struct ctl_watch *w, const char *what)
{
	json_t *table = ctl_watch_ask(w, ctl_command_show(what));
	json_t *rows = json_object_get(table, UHCA_CTL_ROWS);

	if (json_array_size(rows) <= ROWS_MAX)
		return table;
	json_object_set_new(table, UHCA_CTL_CUT, json_true());
	while (json_array_size(rows) > ROWS_MAX)
		json_array_remove(rows, json_array_size(rows) - 1);
	return table;
}

/* How long a packet has waited is another number at each look. */
static void forget_times(const json_t *step)
{
	const json_t *device, *packet;
	size_t i, k;

	json_array_foreach(json_object_get(step, UHCA_CTL_DEVICES), i, device)
	{
		json_array_foreach(json_object_get(device, UHCA_CTL_WAITING), k, packet)
		{
			json_object_del((json_t *)(uintptr_t)packet, UHCA_CTL_SINCE);
		}
	}
}

static json_t *or_null(json_t *value)
{
	return value ? value : json_null();
}

static json_t *look_at_tables(struct serve_source *s)
{
	struct ctl_watch *w = &s->watch;
	json_t *step = ctl_watch_ask(w, ctl_command("step", "list"));
	json_t *rules = ctl_watch_ask(w, ctl_command("fault", "list"));
	json_t *clients = show(w, "client"), *qps = show(w, "qp"), *ids = show(w, "cm_id");
	json_t *devices = show(w, "device"), *cqs = show(w, "cq");

	forget_times(step);
	programs_note(&s->programs, clients);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "step", or_null(step), "fault",
			 or_null(rules), "client", or_null(clients), "qp", or_null(qps), "cm_id",
			 or_null(ids), "device", or_null(devices), "cq", or_null(cqs), "running",
			 w->running);
}

static bool look_at_state(struct serve_source *s)
{
	json_t *state = look_at_tables(s);
	char *text = json_dumps(state, JSON_COMPACT);
	bool changed = !s->state || !text || strcmp(s->state, text) != 0;

	json_decref(state);
	free(s->state);
	s->state = text;
	s->version += changed;
	return changed;
}

static void look(struct serve_source *s)
{
	uint64_t began = ctl_now();

	s->watch.running = true;
	ctl_watch_look(&s->watch, began, look_at_state(s));
}

void source_refresh(struct serve_source *s)
{
	if (s->live && ctl_watch_wait(&s->watch) == 0)
		look(s);
}

/* ---- a capture ---- */

void source_reread(struct serve_source *s)
{
	struct model none = {0};

	model_free(&s->watch.model);
	s->watch.model = none;
	if (access(s->from.word[1], R_OK) == 0)
		ctl_model_open(&s->from, &s->watch.model);
	s->watch.generation++;
}

/* ---- begin and end ---- */

int source_begin(struct serve_source *s, const char *dir, const char *file, bool optional)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	int status = 0;

	*s = (struct serve_source){.live = !file, .version = 1};
	s->watch = (struct ctl_watch){.from = &s->from, .generation = 1};
	snprintf(s->from.dir, sizeof(s->from.dir), "%s", dir ? dir : "");
	s->from.word[1] = file ? file : CTL_MODEL_LIVE;
	s->from.n_words = 2;
	s->name = !file ? CTL_MODEL_LIVE : slash ? slash + 1 : file;
	if (file) {
		s->state = strdup("null");
		s->fixed = !optional;
		if (!optional || access(file, R_OK) == 0)
			status = ctl_model_open(&s->from, &s->watch.model);
		return optional ? 0 : status;
	}
	look(s);
	if (s->watch.running)
		return 0;
	fprintf(stderr, "uhcactl: %s: no daemon runs there (uhca-run starts one)\n", dir);
	return CTL_EXIT_NO_PEER;
}

void source_end(struct serve_source *s)
{
	model_free(&s->watch.model);
	free(s->state);
	free(s->watch.counted);
}
