/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a capture or a running daemon for the page (source.h). */
#include "source.h"

#include "emu/abi/ctl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS   300000000ull
#define SHARE     10u /* a look costs at most one part in so many of the time */
#define ROWS_MAX  1000u
#define LIVE_WORD "live"

uint64_t source_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the state: what the daemon's tables say ---- */

static json_t *ask(struct serve_source *s, json_t *request)
{
	struct ctl_failure f;
	json_t *result = NULL;

	if (!s->running) {
		json_decref(request);
		return NULL;
	}
	if (ctl_exchange(s->from.dir, request, &result, &f) == CTL_EXIT_NO_PEER)
		s->running = false;
	return result;
}

static json_t *show(struct serve_source *s, const char *what)
{
	json_t *table = ask(s, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, what));
	json_t *rows = json_object_get(table, UHCA_CTL_ROWS);

	if (json_array_size(rows) <= ROWS_MAX)
		return table;
	json_object_set_new(table, UHCA_CTL_CUT, json_true());
	while (json_array_size(rows) > ROWS_MAX)
		json_array_remove(rows, json_array_size(rows) - 1);
	return table;
}

static json_t *act(struct serve_source *s, const char *command, const char *action)
{
	return ask(s, json_pack("{s:s, s:s}", UHCA_CTL_CMD, command, UHCA_CTL_ACTION, action));
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
	json_t *step = act(s, "step", "list"), *rules = act(s, "fault", "list");
	json_t *clients = show(s, "client"), *qps = show(s, "qp"), *ids = show(s, "cm_id");
	json_t *devices = show(s, "device");

	forget_times(step);
	programs_note(&s->programs, clients);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "step", or_null(step), "fault",
			 or_null(rules), "client", or_null(clients), "qp", or_null(qps), "cm_id",
			 or_null(ids), "device", or_null(devices), "running", s->running);
}

/* Takes the text over. True: it is another one than before. */
static bool keep_text(char **kept, char *text)
{
	bool changed = !*kept || !text || strcmp(*kept, text) != 0;

	free(*kept);
	*kept = text;
	return changed;
}

static bool look_at_state(struct serve_source *s)
{
	json_t *state = look_at_tables(s);
	bool changed = keep_text(&s->state, json_dumps(state, JSON_COMPACT));

	json_decref(state);
	s->version += changed;
	return changed;
}

/* ---- the model: what the flight recorder has ---- */

static void look_at_recorder(struct serve_source *s)
{
	struct model new;

	if (!s->running || ctl_model_open(&s->from, &new) != 0)
		return;
	model_free(&s->model);
	s->model = new;
	s->generation++;
}

/* An idle device is asked for its tables, and not for its recorder. */
static bool has_moved(struct serve_source *s, bool state_changed)
{
	json_t *counters = ask(s, json_pack("{s:s}", UHCA_CTL_CMD, "counters"));
	bool moved = keep_text(&s->counted, json_dumps(counters, JSON_COMPACT | JSON_ENCODE_ANY));

	json_decref(counters);
	return moved || state_changed;
}

static void look(struct serve_source *s)
{
	uint64_t begin = source_now();

	s->running = true;
	if (has_moved(s, look_at_state(s)))
		look_at_recorder(s);
	s->looked = source_now();
	s->cost = s->looked - begin;
}

static uint64_t pause_of(const struct serve_source *s)
{
	return s->cost * SHARE > LOOK_NS ? s->cost * SHARE : LOOK_NS;
}

void source_refresh(struct serve_source *s)
{
	if (s->live && source_now() >= s->looked + pause_of(s))
		look(s);
}

int source_wait(const struct serve_source *s)
{
	uint64_t next = s->looked + pause_of(s), now = source_now();

	if (!s->live)
		return -1;
	return now >= next ? 0 : (int)((next - now) / 1000000u) + 1;
}

/* ---- begin and end ---- */

int source_begin(struct serve_source *s, const char *dir, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	int status = 0;

	*s = (struct serve_source){.live = !file, .generation = 1, .version = 1};
	snprintf(s->from.dir, sizeof(s->from.dir), "%s", dir ? dir : "");
	s->from.word[1] = file ? file : LIVE_WORD;
	s->from.n_words = 2;
	s->name = !file ? LIVE_WORD : slash ? slash + 1 : file;
	if (file) {
		status = ctl_model_open(&s->from, &s->model);
		s->state = strdup("null");
		return status;
	}
	look(s);
	if (s->running)
		return 0;
	fprintf(stderr, "uhcactl: %s: no daemon runs there\n", dir);
	return CTL_EXIT_NO_PEER;
}

void source_end(struct serve_source *s)
{
	model_free(&s->model);
	free(s->state);
	free(s->counted);
}
