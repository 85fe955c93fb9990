/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of uhca-sim: see options.h. */
#include "options.h"

#include "emu/cctext/cctext.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_retransmit_names[] = {"go-back-n", "selective", "restart", NULL};

/* ---- setters ---- */

static int set_quantity(void *into, const struct option_row *row, const char *argument, char *error,
			size_t cap, enum fabric_unit unit)
{
	char low[32], high[32];
	uint64_t v;

	if (fabric_quantity(argument, strlen(argument), unit, &v) < 0) {
		snprintf(error, cap, "'%s' is not %s", argument, fabric_unit_example(unit));
		return -EINVAL;
	}
	if (v < (uint64_t)row->min || v > (uint64_t)row->max) {
		snprintf(error, cap, "'%s' is not in the range %s to %s", argument,
			 fabric_quantity_text((uint64_t)row->min, unit, low, sizeof(low)),
			 fabric_quantity_text((uint64_t)row->max, unit, high, sizeof(high)));
		return -EINVAL;
	}
	memcpy((char *)into + row->offset, &v, sizeof(v));
	return 0;
}

static OPTION_SETTER(set_time)
{
	return set_quantity(into, row, argument, error, cap, FABRIC_TIME);
}

static OPTION_SETTER(set_count)
{
	return set_quantity(into, row, argument, error, cap, FABRIC_COUNT);
}

static int add_word(const char **list, unsigned *n, unsigned max, const char *word, char *error)
{
	if (*n == max) {
		snprintf(error, 64, "given more than %u times", max);
		return -EINVAL;
	}
	list[(*n)++] = word;
	return 0;
}

static OPTION_SETTER(add_workload)
{
	struct sim_options *o = into;

	if (strcmp(argument, "help") == 0) {
		load_help(stdout);
		o->listed = true;
		return 0;
	}
	return add_word(o->workloads, &o->n_workloads, SIM_LOADS_MAX, argument, error);
}

static OPTION_SETTER(set_topology)
{
	struct sim_options *o = into;

	o->topology = argument;
	if (strcmp(argument, "help") == 0) {
		fabric_topology_generators(stdout);
		o->listed = true;
	}
	return 0;
}

static OPTION_SETTER(set_cc)
{
	struct sim_options *o = into;
	struct fabric_error e;

	o->cc = argument;
	if (strcmp(argument, "help") == 0) {
		cctext_list(stdout);
		o->listed = true;
		return 0;
	}
	if (cctext_read(&o->sim.cc, argument, NULL, &e) == 0)
		return 0;
	snprintf(error, cap, "column %u: %s", e.column, e.text);
	return -EINVAL;
}

static OPTION_SETTER(add_set)
{
	struct sim_options *o = into;

	return add_word(o->set, &o->n_set, SIM_SETTINGS_MAX, argument, error);
}

static OPTION_SETTER(add_change)
{
	struct sim_options *o = into;

	return add_word(o->changes, &o->n_changes, SIM_CHANGES_MAX, argument, error);
}

/* ---- the table ---- */

/* 1000 s in ps: no sum of some of them overflows. */
#define TIME_MAX 1000000000000000

#define FIELD(f)            OPTION_FIELD(struct sim_options, f)
#define TIME(f, low)        OPTION_SET, FIELD(f), .set = set_time, .min = low, .max = TIME_MAX
#define COUNT(f, low, high) OPTION_SET, FIELD(f), .set = set_count, .min = low, .max = high
#define CLASS(f)            OPTION_SET, FIELD(f), .set = set_class
#define FILE_WORD(f)        OPTION_WORD, FIELD(f), .min = 1
#define GROUP(title)                                                                               \
	{                                                                                          \
		.help = title                                                                      \
	}

static OPTION_SETTER(set_class)
{
	if (argument[0] < '0' || argument[0] > '7' || argument[1]) {
		snprintf(error, cap, "'%s' is not a class from 0 to 7", argument);
		return -EINVAL;
	}
	*((uint8_t *)into + row->offset) = (uint8_t)(argument[0] - '0');
	return 0;
}

static const struct option_row rows[] = {
	GROUP("What is simulated"),
	{"--topology", "NETWORK", "A generated network, or a file of one; \"help\" lists them.",
	 OPTION_SET, FIELD(topology), .set = set_topology},
	{"--workload", "LOAD", "A workload; \"help\" lists them. May be repeated.", OPTION_SET,
	 FIELD(workloads), .set = add_workload},
	{"--cc", "CONTROL", "Congestion control (none); \"help\" lists them.", OPTION_SET,
	 FIELD(cc), .set = set_cc},
	{"--set", "STATEMENT", "A statement of a network file, before the network is made.",
	 OPTION_SET, FIELD(set), .set = add_set},
	{"--at", "CHANGE", "A failure and its time: \"2ms down leaf0 spine1\".", OPTION_SET,
	 FIELD(changes), .set = add_change},
	{"--reroute", "TIME", "From a change to new routes (100us).", TIME(reroute, 0)},
	{"--duration", "TIME", "No message begins later (10ms).", TIME(duration, 1)},
	{"--drain", "TIME", "So much longer messages may take (0).", TIME(drain, 0)},
	{"--warmup", "TIME", "Throughput and queues are measured from here on (0).",
	 TIME(warmup, 0)},
	{"--seed", "N", "The seed of all random numbers (1).", COUNT(seed, 0, LONG_MAX)},
	GROUP("Hosts"),
	{"--mtu", "BYTES", "Payload of a packet (1024).", COUNT(mtu, 64, 65000)},
	{"--header", "BYTES", "Bytes of a packet beside its payload (62).", COUNT(header, 0, 500)},
	{"--ack-every", "N", "Packets for one ACK (1).", COUNT(ack_every, 1, 65535)},
	{"--retransmit", "HOW", "go-back-n, selective, or restart (of the message).", OPTION_CHOICE,
	 FIELD(retransmit), .choices = sim_retransmit_names},
	{"--rto", "TIME", "Retransmission timeout (1ms).", TIME(sim.rto, 1)},
	{"--cnp-interval", "TIME", "Between CNPs of a connection (50us).",
	 TIME(sim.cnp_interval, 0)},
	{"--echo", NULL, "ACKs echo CE marks; no CNPs are sent.", OPTION_FLAG, FIELD(sim.echo),
	 .min = 1},
	{"--no-pfc", NULL, "Switches drop; no class is lossless.", OPTION_FLAG, FIELD(no_pfc),
	 .min = 1},
	{"--data-class", "N", "Traffic class of data (3).", CLASS(sim.data_class)},
	{"--ack-class", "N", "Traffic class of ACKs and NAKs (3).", CLASS(sim.ack_class)},
	{"--cnp-class", "N", "Traffic class of CNPs (6).", CLASS(sim.cnp_class)},
	GROUP("Output"),
	{"--json", "FILE", "Writes the report.", FILE_WORD(json)},
	{"--csv", "FILE", "Writes it as lines \"metric,value\".", FILE_WORD(csv)},
	{"--flows", "FILE", "Writes a line for each message.", FILE_WORD(flows)},
	{"--series", "FILE", "Writes a line for each sample of the queues.", FILE_WORD(series)},
	{"--sample", "TIME", "Between samples of the queues (10us).", TIME(sample, 1)},
	OPTIONS_ABOUT(struct sim_options),
	{0}};

static const struct option_row commands[] = {
	{.name = "run", .help = "Simulates, and prints what was measured."},
	{.name = "compare BEFORE AFTER", .help = "Shows the numbers that differ in two reports."},
	{.name = "topology NETWORK", .help = "Prints a network as a file that can be edited."},
	{0}};

const struct options_page sim_page = {
	.program = "uhca-sim",
	.version = UHCA_VERSION,
	.usage = "Usage: uhca-sim run --topology NETWORK --workload LOAD [OPTION]...\n"
		 "       uhca-sim compare BEFORE.json AFTER.json\n"
		 "       uhca-sim topology NETWORK\n"
		 "Simulates RDMA hosts in a network with queues, ECN marks and pauses.\n"
		 "The man page uhca-sim(1) says more.\n\n",
	.commands = commands,
	.rows = rows,
	.end = "\nExit status: 0; 1 a file cannot be read or written; 2 wrong command line.\n",
};

static void set_defaults(struct sim_options *o)
{
	*o = (struct sim_options){
		.cc = "none",
		.sim = {.ack_bytes = 66,
			.cnp_bytes = 78,
			.data_class = 3,
			.ack_class = 3,
			.cnp_class = 6,
			.cnp_interval = 50 * FABRIC_US,
			.rto = 1000 * FABRIC_US},
		.duration = 10000 * FABRIC_US,
		.sample = 10 * FABRIC_US,
		.reroute = 100 * FABRIC_US,
		.mtu = 1024,
		.header = 62,
		.ack_every = 1,
		.seed = 1,
	};
	cc_settings_init(&o->sim.cc, cc_at(0));
}

int sim_options_parse(struct sim_options *o, int argc, char **argv)
{
	set_defaults(o);
	for (int i = 1; i < argc;) {
		const int used = options_take(rows, o, argv + i, o->error, sizeof(o->error));

		if (used < 0)
			return -EINVAL;
		if (used == 0 && o->n_words == 4) {
			snprintf(o->error, sizeof(o->error), "a word too many: '%s'", argv[i]);
			return -EINVAL;
		}
		if (used == 0)
			o->words[o->n_words++] = argv[i];
		i += used ? used : 1;
	}
	o->sim.mtu = (uint32_t)o->mtu;
	o->sim.header = (uint32_t)o->header;
	o->sim.ack_every = (uint32_t)o->ack_every;
	o->sim.retransmit = (enum sim_retransmit)o->retransmit;
	return 0;
}
