/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command line of uhca-run. Parsing stops at the first word that is no option: the rest is the
 * command and is not looked at. Values meant for the daemon are checked by the daemon.
 */
#include "run_options.h"

#include "run_chaos.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind {
	OPTION_INSTANCE,
	OPTION_PRIVATE,
	OPTION_DEVICES,
	OPTION_ADDRESS, /* to the daemon; the addresses are the user's choice */
	OPTION_DAEMON,  /* to the daemon as it is */
	OPTION_LINGER,
	OPTION_SCENARIO,
	OPTION_TAP,
	OPTION_JUNIT,
	OPTION_KEEP,
	OPTION_FAULT,
	OPTION_FAULT_FILE,
	OPTION_FAULT_SEED,
	OPTION_MUST_FIRE,
	OPTION_CHAOS,
	OPTION_TIMES,
	OPTION_TIME_LIMIT,
	OPTION_MINIMISE,
	OPTION_SHARE_HEAP,
	OPTION_SANITIZE,
	OPTION_SANITIZE_WORD, /* to the sanitizer's collector, with its value */
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option_row {
	const char *name;
	const char *argument; /* NULL: none; in brackets: it may be left out */
	enum option_kind kind;
	const char *help;
} option_table[] = {
	{"instance", "NAME", OPTION_INSTANCE, "use the shared instance NAME (default: default)"},
	{"private", NULL, OPTION_PRIVATE, "a fresh daemon for the life of the command"},
	{"devices", "N", OPTION_DEVICES, "number of devices (default: 1)"},
	{"addr", "IP[,IP6]", OPTION_ADDRESS, "addresses of a device; repeat for the next one"},
	{"netdev", "IF", OPTION_ADDRESS, "be on network interface IF with its addresses"},
	{"wire", NULL, OPTION_DAEMON, "use the network also between QPs of one daemon"},
	{"no-wire", NULL, OPTION_DAEMON,
	 "no network at all: beside soft-RoCE, or where it is barred"},
	{"mem", "WAY", OPTION_DAEMON, "client memory: auto, process_vm or proc_mem"},
	{"adopt", "WHAT", OPTION_DAEMON,
	 "registered memory becomes the device's: off, safe or all; see uhcad(8)"},
	{"share-heap", NULL, OPTION_SHARE_HEAP,
	 "large aligned allocations and mappings are the device's from their birth"},
	{"gso", "on|off", OPTION_DAEMON, "segmentation offload of UDP"},
	{"icrc", "MODE", OPTION_DAEMON, "ICRC check: strict, lenient or off"},
	{"profile", "NAME", OPTION_DAEMON,
	 "default, ib-strict, iwarp-like, minimal, 2a, large, or an adapter; see uhcad(8)"},
	{"early-local-inv", NULL, OPTION_DAEMON, "LOCAL_INV without fence overtakes; see uhcad(8)"},
	{"strict-arming", NULL, OPTION_DAEMON,
	 "no event for what came before arming; see uhcad(8)"},
	{"strict-order", NULL, OPTION_DAEMON, "no completion waits for its reader; see uhcad(8)"},
	{"strict-memory", NULL, OPTION_DAEMON,
	 "payload is read at execution, never at post; see uhcad(8)"},
	{"limit", "NAME=N", OPTION_DAEMON, "a limit of the devices, such as max_qp=64; repeat"},
	{"trust-parents", NULL, OPTION_DAEMON,
	 "anybody may rename the runtime directory; see uhcad(8)"},
	{"no-sandbox", NULL, OPTION_DAEMON, "the daemon keeps all system calls; see uhcad(8)"},
	{"on-error", "FILE", OPTION_DAEMON, "a capture of what led to a failure; see uhcad(8)"},
	{"log-level", "LEVEL", OPTION_DAEMON, "error, warn, info or debug"},
	{"linger", "SECONDS", OPTION_LINGER,
	 "a shared daemon ends so long after its last client (default: 5)"},
	{"scenario", "FILE", OPTION_SCENARIO,
	 "carry out a scenario and judge it; see uhca-scenario(5); repeat"},
	{"tap", "FILE", OPTION_TAP, "the scenarios' verdict as TAP, - is standard output"},
	{"junit", "FILE", OPTION_JUNIT, "the same as JUnit's XML"},
	{"keep", "FOLDER", OPTION_KEEP,
	 "log, last packets, counters, objects of a private instance go there"},
	{"fault", "RULE", OPTION_FAULT, "a fault rule, see uhca-fault(7); repeat for others"},
	{"fault-file", "FILE", OPTION_FAULT_FILE, "a file of fault rules, one on each line"},
	{"fault-seed", "N", OPTION_FAULT_SEED, "seed of their random choices (--private)"},
	{"fault-must-fire", NULL, OPTION_MUST_FIRE, "status 124 when a rule never fired"},
	{"chaos", "[SEED,NAME,...]", OPTION_CHAOS,
	 "take liberties that the specification allows (--chaos=SEED); help lists them"},
	{"times", "N", OPTION_TIMES, "with --chaos: N seeds, one after the other, until one fails"},
	{"time-limit", "SECONDS", OPTION_TIME_LIMIT,
	 "with --times: a run that takes longer fails (default: 60)"},
	{"minimise", NULL, OPTION_MINIMISE,
	 "with --chaos: which liberties does a run that fails need?"},
	{"sanitize", "[CHECKS]", OPTION_SANITIZE,
	 "find misuse of verbs (--sanitize=CHECKS); see uhca-sanitize(7)"},
	{"suppress", "FILE", OPTION_SANITIZE_WORD, "findings of the sanitizer that are known"},
	{"sanitize-options", "LIST", OPTION_SANITIZE_WORD,
	 "how it tells: NAME=VALUE:..., see uhca-sanitize(7)"},
	{"help", NULL, OPTION_HELP, "this text"},
	{"version", NULL, OPTION_VERSION, "the version"},
};
#define OPTION_ROWS (sizeof(option_table) / sizeof(option_table[0]))

static void print_help(void)
{
	printf("Usage: uhca-run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	       "       uhca-run doctor\n"
	       "Run COMMAND with an emulated RDMA device: attach to an instance of uhcad, or\n"
	       "start one first, and make its devices visible to COMMAND. \"doctor\", without\n"
	       "options, tells what of this machine helps or hinders, and what to do.\n\n");
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		char left[40];
		const struct option_row *row = &option_table[i];
		snprintf(left, sizeof(left), "--%s %s", row->name,
			 row->argument ? row->argument : "");
		printf("  %-20s %s\n", left, row->help);
	}
	printf("\nThe exit status is COMMAND's (128+N when signal N ended it); 125 when uhca-run\n"
	       "itself fails, 126 and 127 when COMMAND cannot be run or is not found; 124 with\n"
	       "--fault-must-fire when a rule never fired, and with --times when COMMAND ran\n"
	       "too long; 99 when the sanitizer found "
	       "something.\n");
}

/* A name is a file name of ours: letters, digits, dot, dash, underscore; no leading dot. */
static bool valid_name(const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n > 32 || name[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	}
	return true;
}

static bool to_daemon(struct run_options *out, const char *dashed, const char *value)
{
	if (out->n_daemon_args + 2 > RUN_DAEMON_ARGS_MAX) {
		fprintf(stderr, "uhca-run: too many options\n");
		return false;
	}
	out->daemon_args[out->n_daemon_args++] = dashed;
	if (value)
		out->daemon_args[out->n_daemon_args++] = value;
	return true;
}

static bool set_number(const char *name, const char *value, unsigned long most, unsigned *out)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end || n == 0 || n > most) {
		fprintf(stderr, "uhca-run: --%s takes a number from 1 to %lu, not '%s'\n", name,
			most, value);
		return false;
	}
	*out = (unsigned)n;
	return true;
}

static bool set_devices(struct run_options *out, const char *value)
{
	return set_number("devices", value, 250, &out->devices) &&
	       to_daemon(out, "--devices", value);
}

static enum run_parse set_chaos(struct run_options *out, const char *value)
{
	char error[256];
	if (value && strcmp(value, "help") == 0) {
		run_chaos_print_help();
		return RUN_PARSE_DONE;
	}
	out->is_chaos = true;
	if (chaos_parse(value ? value : "", &out->chaos, error, sizeof(error)) == 0)
		return RUN_PARSE_RUN;
	fprintf(stderr, "uhca-run: --chaos: %s\n", error);
	return RUN_PARSE_BAD;
}

static bool add_fault(struct run_options *out, const char *text, bool is_file)
{
	if (out->n_faults == RUN_FAULTS_MAX) {
		fprintf(stderr, "uhca-run: more than %d fault rules and files\n", RUN_FAULTS_MAX);
		return false;
	}
	out->faults[out->n_faults++] = (struct run_fault){text, is_file};
	return true;
}

static bool add_scenario(struct run_options *out, const char *file)
{
	if (out->n_scenarios == RUN_SCENARIOS_MAX) {
		fprintf(stderr, "uhca-run: more than %d scenarios\n", RUN_SCENARIOS_MAX);
		return false;
	}
	out->scenarios[out->n_scenarios++] = file;
	return true;
}

/* The daemon's options are handed on by their full name, however they were abbreviated. */
static const char *dashed_name(size_t row)
{
	static char names[OPTION_ROWS][32];
	snprintf(names[row], sizeof(names[row]), "--%s", option_table[row].name);
	return names[row];
}

static bool to_collector(struct run_options *out, const char *dashed, const char *value)
{
	if (out->n_sanitize_words + 2 > RUN_SANITIZE_WORDS_MAX) {
		fprintf(stderr, "uhca-run: too many options\n");
		return false;
	}
	out->sanitize_words[out->n_sanitize_words++] = dashed;
	out->sanitize_words[out->n_sanitize_words++] = value;
	return true;
}

static enum run_parse apply(size_t row, const char *value, struct run_options *out)
{
	bool ok = true;
	switch (option_table[row].kind) {
	case OPTION_INSTANCE:
		out->instance = value;
		ok = valid_name(value);
		if (!ok)
			fprintf(stderr, "uhca-run: '%s' is no name for an instance\n", value);
		break;
	case OPTION_PRIVATE:
		out->private_instance = true;
		break;
	case OPTION_DEVICES:
		ok = set_devices(out, value);
		break;
	case OPTION_ADDRESS:
		out->addressed = true;
		ok = to_daemon(out, dashed_name(row), value);
		break;
	case OPTION_DAEMON:
		ok = to_daemon(out, dashed_name(row), value);
		break;
	case OPTION_LINGER:
		out->linger = value;
		break;
	case OPTION_SCENARIO:
		ok = add_scenario(out, value);
		break;
	case OPTION_TAP:
		out->tap = value;
		break;
	case OPTION_JUNIT:
		out->junit = value;
		break;
	case OPTION_KEEP:
		out->keep = value;
		break;
	case OPTION_FAULT:
	case OPTION_FAULT_FILE:
		ok = add_fault(out, value, option_table[row].kind == OPTION_FAULT_FILE);
		break;
	case OPTION_FAULT_SEED:
		out->fault_seed = value;
		break;
	case OPTION_MUST_FIRE:
		out->must_fire = true;
		break;
	case OPTION_CHAOS:
		return set_chaos(out, value);
	case OPTION_TIMES:
		ok = set_number("times", value, 1000000000, &out->times);
		break;
	case OPTION_TIME_LIMIT:
		ok = set_number("time-limit", value, 86400, &out->time_limit);
		break;
	case OPTION_MINIMISE:
		out->minimise = true;
		break;
	case OPTION_SHARE_HEAP:
		out->share_heap = true;
		break;
	case OPTION_SANITIZE:
		out->sanitize = value ? value : "sum";
		break;
	case OPTION_SANITIZE_WORD:
		ok = to_collector(out, dashed_name(row), value);
		break;
	case OPTION_HELP:
		print_help();
		return RUN_PARSE_DONE;
	case OPTION_VERSION:
		printf("uhca-run %s\n", UHCA_VERSION);
		return RUN_PARSE_DONE;
	}
	return ok ? RUN_PARSE_RUN : RUN_PARSE_BAD;
}

static enum run_parse usage_error(const char *what)
{
	if (what)
		fprintf(stderr, "uhca-run: %s\n", what);
	fprintf(stderr, "Try 'uhca-run --help'.\n");
	return RUN_PARSE_BAD;
}

static int argument_of(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return row->argument[0] == '[' ? optional_argument : required_argument;
}

/* The options in front of the first other word, which optind names then. */
static enum run_parse take_options(int argc, char **argv, bool (*allowed)(enum option_kind kind),
				   struct run_options *out)
{
	struct option longs[OPTION_ROWS + 1] = {0};
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		longs[i].name = option_table[i].name;
		longs[i].has_arg = argument_of(&option_table[i]);
		longs[i].val = (int)i + 256;
	}
	int c;
	optind = 0; /* getopt(3): starts anew */
	while ((c = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		if (c == '?')
			return usage_error(NULL);
		if (!allowed(option_table[c - 256].kind)) {
			fprintf(stderr, "uhca-run: --%s has no place here\n",
				option_table[c - 256].name);
			return RUN_PARSE_BAD;
		}
		enum run_parse parsed = apply((size_t)(c - 256), optarg, out);
		if (parsed != RUN_PARSE_RUN)
			return parsed;
	}
	return RUN_PARSE_RUN;
}

/* What a daemon is started with, and nothing else of uhca-run. */
static bool is_for_daemon(enum option_kind kind)
{
	switch (kind) {
	case OPTION_DEVICES:
	case OPTION_ADDRESS:
	case OPTION_DAEMON:
	case OPTION_FAULT:
	case OPTION_FAULT_FILE:
	case OPTION_FAULT_SEED:
		return true;
	case OPTION_INSTANCE:
	case OPTION_PRIVATE:
	case OPTION_LINGER:
	case OPTION_SCENARIO:
	case OPTION_TAP:
	case OPTION_JUNIT:
	case OPTION_KEEP:
	case OPTION_MUST_FIRE:
	case OPTION_CHAOS:
	case OPTION_TIMES:
	case OPTION_TIME_LIMIT:
	case OPTION_MINIMISE:
	case OPTION_SHARE_HEAP:
	case OPTION_SANITIZE:
	case OPTION_SANITIZE_WORD:
	case OPTION_HELP:
	case OPTION_VERSION:
		break;
	}
	return false;
}

int run_options_more(int argc, char **argv, struct run_options *out)
{
	if (take_options(argc, argv, is_for_daemon, out) != RUN_PARSE_RUN)
		return -EINVAL;
	if (optind == argc)
		return 0;
	fprintf(stderr, "uhca-run: '%s' is no option\n", argv[optind]);
	return -EINVAL;
}

static bool is_any(enum option_kind kind)
{
	(void)kind;
	return true;
}

static const char *mistake_of_scenarios(const struct run_options *o)
{
	if (o->n_scenarios == 0)
		return o->tap || o->junit ? "--tap and --junit tell of a --scenario" : NULL;
	if (o->instance)
		return "a scenario has an instance of its own";
	if (o->tap && o->junit && strcmp(o->tap, o->junit) == 0)
		return "--tap and --junit would write to the same file";
	return NULL;
}

static const char *mistake_of_chaos(const struct run_options *o)
{
	if (o->is_chaos && o->instance)
		return "--chaos needs a daemon of its own: no --instance";
	if (o->is_chaos && o->n_scenarios > 0)
		return "--chaos is for a command, not for a scenario";
	if (!o->is_chaos && (o->times || o->minimise))
		return "--times and --minimise are for --chaos";
	if (o->time_limit && !o->times && !o->minimise)
		return "--time-limit is for --times and --minimise";
	return NULL;
}

static const char *mistake_of(const struct run_options *o)
{
	const char *chaos = mistake_of_chaos(o);
	if (chaos)
		return chaos;
	if (o->private_instance && o->instance)
		return "--private and --instance exclude each other";
	if (o->keep && !o->private_instance && !o->is_chaos && o->n_scenarios == 0)
		return "--keep needs a daemon of its own: --private or --scenario";
	if (o->fault_seed && !o->private_instance && !o->is_chaos && o->n_scenarios == 0)
		return "--fault-seed needs a daemon of its own: --private";
	if (o->n_sanitize_words > 0 && !o->sanitize)
		return "--suppress and --sanitize-options are for --sanitize";
	if (o->must_fire && o->n_faults == 0)
		return "--fault-must-fire needs a rule: --fault or --fault-file";
	return mistake_of_scenarios(o);
}

enum run_parse run_options_parse(int argc, char **argv, struct run_options *out)
{
	*out = (struct run_options){.devices = 1};
	/* A program of that name is run with "--" before it. */
	if (argc > 1 && strcmp(argv[1], "doctor") == 0) {
		out->doctor = true;
		return argc == 2 ? RUN_PARSE_RUN : usage_error("doctor stands alone");
	}
	enum run_parse parsed = take_options(argc, argv, is_any, out);
	if (parsed != RUN_PARSE_RUN)
		return parsed;
	const char *mistake = mistake_of(out);
	if (mistake)
		return usage_error(mistake);
	out->private_instance |= out->is_chaos;
	/* "--" announces one, also to scenarios, which can do without */
	if (optind == argc && (out->n_scenarios == 0 || strcmp(argv[argc - 1], "--") == 0))
		return usage_error("no command given");
	out->command = optind < argc ? argv + optind : NULL;
	return RUN_PARSE_RUN;
}
