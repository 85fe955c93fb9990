/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at a running daemon again and again (watch.h). */
#include "watch.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS 300000000ull
#define SHARE   10u /* a look costs at most one part in so many of the time */

json_t *ctl_watch_ask(struct ctl_watch *w, json_t *request)
{
	struct ctl_failure f;
	json_t *result = NULL;

	if (!w->running)
		json_decref(request);
	else if (ctl_exchange(w->from->dir, request, &result, &f) == CTL_EXIT_NO_PEER)
		w->running = false;
	return result;
}

/* An idle device is asked for its counters, and not for its recorder. */
static bool has_moved(struct ctl_watch *w)
{
	json_t *counters = ctl_watch_ask(w, json_pack("{s:s}", UHCA_CTL_CMD, "counters"));
	char *text = json_dumps(counters, JSON_COMPACT | JSON_ENCODE_ANY);
	bool moved = !w->counted || !text || strcmp(w->counted, text) != 0;

	json_decref(counters);
	free(w->counted);
	w->counted = text;
	return moved;
}

static int read_recorder(struct ctl_watch *w)
{
	struct model new;
	int status = ctl_model_open(w->from, &new);

	if (status != 0)
		return status;
	model_free(&w->model);
	w->model = new;
	w->generation++;
	return 0;
}

int ctl_watch_look(struct ctl_watch *w, uint64_t began, bool moved)
{
	int status = 0;

	moved = has_moved(w) || moved;
	if (!w->running)
		status = CTL_EXIT_NO_PEER;
	else if (moved)
		status = read_recorder(w);
	w->looked = ctl_now();
	w->cost = w->looked - began;
	return status;
}

int ctl_watch_wait(const struct ctl_watch *w)
{
	uint64_t pause = w->cost * SHARE > LOOK_NS ? w->cost * SHARE : LOOK_NS;
	uint64_t next = w->looked + pause, now = ctl_now();

	return now >= next || !w->looked ? 0 : (int)((next - now) / 1000000u) + 1;
}
