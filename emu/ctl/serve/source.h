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

struct serve_source {
	struct ctl_options from; /* of the watch: dir, and word[1]: the capture's file or "live" */
	bool live;
	bool fixed;       /* the model stays: it is a capture, and no lab's */
	const char *name; /* for people */
	struct ctl_watch watch;
	uint64_t version; /* of the state */
	char *state;      /* JSON: rules, devices, tables; owned */
	struct serve_programs programs;
};

/*
 * Reads the capture, or the daemon for the first time; optional: there may be no capture yet. 0, or
 * an exit status, the reason printed.
 */
int source_begin(struct serve_source *s, const char *dir, const char *file, bool optional);
void source_end(struct serve_source *s);

/* Of a lab: its capture is another one, or is not there. */
void source_reread(struct serve_source *s);

/* Of a daemon: looks at it again if the last look is older than a page needs. */
void source_refresh(struct serve_source *s);

#endif
