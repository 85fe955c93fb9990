/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the trace of a running daemon, for a terminal or a page. It rebuilds the model of the
 * flight recorder when counters of the devices have changed. It uses at most a tenth of the time.
 */
#ifndef CTL_WATCH_H
#define CTL_WATCH_H

#include "model_source.h"

#include <jansson.h>

struct ctl_watch {
	const struct ctl_options *from; /* dir, and CTL_MODEL_LIVE as word[1] */
	struct model model;             /* owned; model_free */
	uint64_t generation;            /* another one whenever the model is another */
	bool running;                   /* the daemon answers */
	char *counted;                  /* counters when the model was read; owned */
	uint64_t looked;                /* when: ns of the monotonic clock; 0: look at once */
	uint64_t cost;                  /* ns that the last look took */
};

/* Asks (the request is taken over). NULL: refused, or there is no daemon any more. */
json_t *ctl_watch_ask(struct ctl_watch *w, json_t *request);

/*
 * Looks, which began at "began" (ctl_now): reads the recorder when something has moved, or
 * when the caller knows that something has. 0, or an exit status; but that there is no daemon any
 * more, the reason has been printed.
 */
int ctl_watch_look(struct ctl_watch *w, uint64_t began, bool moved);

/* Milliseconds until it is time to look again; 0: now. */
int ctl_watch_wait(const struct ctl_watch *w);

#endif
