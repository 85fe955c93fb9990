/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of uhca-sim. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "change.h"

#include "emu/help/options.h"
#include "emu/sim/load/load.h"

#define SIM_SETTINGS_MAX 32u

struct sim_options {
	struct options_about about;
	bool listed;          /* "--topology help" or the like has been answered */
	const char *topology; /* as typed */
	const char *workloads[SIM_LOADS_MAX];
	unsigned n_workloads;
	const char *cc;
	const char *set[SIM_SETTINGS_MAX];
	unsigned n_set;
	const char *changes[SIM_CHANGES_MAX];
	unsigned n_changes;
	struct sim_settings sim;
	int retransmit;                                    /* of enum sim_retransmit */
	int no_pfc;                                        /* bool */
	uint64_t duration, drain, warmup, sample, reroute; /* ps */
	uint64_t mtu, header, ack_every, seed;
	const char *json, *csv, *flows, *series;
	const char *words[4];
	unsigned n_words;
	char error[512];
};

extern const struct options_page sim_page;

/* What the choices of --retransmit are called. */
extern const char *const sim_retransmit_names[];

/* Reads the command line. 0 or -EINVAL, with one line in error. */
int sim_options_parse(struct sim_options *o, int argc, char **argv);

#endif
