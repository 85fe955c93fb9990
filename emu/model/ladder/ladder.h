/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model as a sequence diagram: a lane for each end of a connection, and rows from top to bottom
 * in the order of time, each an arrow or something that happened. Who draws it only has to know
 * rows and lanes; the words are made here.
 */
#ifndef MODEL_LADDER_H
#define MODEL_LADDER_H

#include "emu/model/capture/capture_model.h"

#include <stdbool.h>
#include <stdint.h>

#define LADDER_LANES_MAX 32

struct ladder_lane {
	uint32_t qp; /* its index in the model */
	bool known;  /* the rest says whose it is, in every model */
	char host[48];
	uint32_t number;
	const char *name; /* instead of the host's; not terminated; NULL: none */
	int name_length;
};

enum ladder_kind {
	LADDER_ARROW,
	LADDER_LEAVES,  /* an arrow that arrives in a later row */
	LADDER_ARRIVES, /* there */
	LADDER_EVENT,
};

/* What a row is about, for colours. */
enum ladder_mood {
	LADDER_PLAIN,
	LADDER_ANSWER,
	LADDER_AGAIN, /* sent again */
	LADDER_LOST,  /* or refused, a NAK, an error */
	LADDER_MADE,  /* by a rule, or touched by one */
};

struct ladder_row {
	uint64_t ns; /* since the model began */
	enum ladder_kind kind;
	enum ladder_mood mood;
	uint32_t arrow;  /* MODEL_NONE: none */
	uint32_t record; /* MODEL_NONE: none */
	uint32_t other;  /* row of the other half of LEAVES and ARRIVES; MODEL_NONE: not shown */
	unsigned from;   /* lanes; of an event: where; LADDER_LANES_MAX: of no lane */
	unsigned to;
	unsigned count; /* packets or records that the row stands for */
	bool again;
	char label[112];
	char note[480]; /* empty: none */
};

struct ladder_options {
	bool has_qp; /* only this QP and those it talks with */
	uint32_t qp;
	uint64_t from, to; /* ns since the model began; to: 0 for all */
	unsigned lanes;    /* at most so many; 0: LADDER_LANES_MAX */
	bool all;          /* every packet has a row of its own */
	bool no_setup;     /* neither the CM's messages nor states before an error */
	/* Lanes that are there already, in this order. */
	const struct ladder_lane *before;
	unsigned n_before;
};

struct ladder {
	const struct model *model;
	struct ladder_row *row;
	uint32_t n_rows;
	struct ladder_lane lane[LADDER_LANES_MAX];
	unsigned n_lanes;
	unsigned hidden; /* ends for which there was no lane */
};

/* The model must stay. 0, or -ENOMEM; ladder_free in each case. */
int ladder_make(struct ladder *l, const struct model *s, const struct ladder_options *o);
void ladder_free(struct ladder *l);

/*
 * Calls the lanes, from the left, by these names with commas between them; an empty one changes
 * nothing. The text must stay. Returns how many names there are.
 */
unsigned ladder_name_lanes(struct ladder *l, const char *names);

/* How a lane is called: host or name, QP, program (empty when that is not known). */
void ladder_lane_names(const struct ladder *l, unsigned lane, char host[48], char qp[24],
		       char program[24]);

#endif
