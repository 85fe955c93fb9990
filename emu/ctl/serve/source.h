/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the server of the page shows: a capture, read once, or a running daemon, whose flight
 * recorder and tables are read again and again while a page looks. One thread uses it.
 */
#ifndef SERVE_SOURCE_H
#define SERVE_SOURCE_H

#include "emu/ctl/captured/captured.h"
#include "emu/ctl/line/line.h"
#include "programs.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct serve_source {
	struct ctl_options from; /* dir, and word[1]: the capture's file or "live" */
	bool live;
	bool running;     /* the daemon answers */
	const char *name; /* for people */
	struct model model;
	uint64_t generation; /* of the model: another one whenever that is another */
	uint64_t version;    /* of the state */
	char *state;         /* JSON: rules, devices, tables; owned */
	char *counted;       /* counters when the model was read; owned */
	uint64_t looked;     /* when: ns of the monotonic clock */
	uint64_t cost;       /* ns that the last look took */
	struct serve_programs programs;
};

/* Reads the capture, or the daemon for the first time. 0, or an exit status, the reason printed. */
int source_begin(struct serve_source *s, const char *dir, const char *file);
void source_end(struct serve_source *s);

/* Of a daemon: looks at it again if the last look is older than a page needs. */
void source_refresh(struct serve_source *s);

/* Milliseconds until source_refresh would look; -1: never. */
int source_wait(const struct serve_source *s);

uint64_t source_now(void);

#endif
