/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the command line of uhcactl from its option table. */
#include "options.h"

#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CTL_HAVE_MAX 18

static const struct option_row commands[] = {
	{.help = "Objects and counters"},
	{"show device", .help = "The devices, their addresses and the number of their objects."},
	{"show machine",
	 .help = "PCI, devices, ports and their GIDs as a tree; as a table with --all."},
	{"show client", .help = "The processes that have a device open."},
	{"show pd|mr|mw|dm|cq|qp|srq|xrcd|ah|wq|rwq_ind_table|flow|comp_cntr",
	 .help = "The objects of all clients, one on each line."},
	{"show mr KEY", .help = "The translation of a key to memory. Takes --offset and --svg."},
	{"show fabric",
	 .help = "The modelled network: its ports, queues, marks, pauses and drops."},
	{"show fabric QP", .help = "The way of a queue pair through the modelled network."},
	{"show cm_id", .help = "The ids of rdma_cm: port space, state, addresses."},
	{"counters", .help = "The counters of each device since the daemon's start."},
	{"top", .help = "The queue pairs with the most traffic, updated. q ends it."},
	{.help = "Captures and reports"},
	{"capture start FILE", .help = "Writes every packet to a pcapng file, for Wireshark."},
	{"capture stop", .help = "Ends the capture and prints what the file holds."},
	{"capture status", .help = "Prints what the file of a running capture holds."},
	{"capture dump FILE",
	 .help = "Writes the last packets, from the flight recorder, to a pcapng file."},
	{"ladder FILE|live",
	 .help = "Draws the packets as a sequence diagram. FILE is a capture, live the daemon."},
	{"explain FILE|live",
	 .help = "Explains failed completions and calls, and what a hanging program waits for."},
	{"page FILE|live",
	 .help = "Writes one HTML page with all of it to the file of --output. Also: report."},
	{"serve [FILE]",
	 .help = "Serves the page of the running daemon, or of a capture, to a browser."},
	{.help = "Ports, devices and events"},
	{"port down|up [DEVICE]", .help = "Takes the link of a device down or up."},
	{"device fatal [DEVICE]", .help = "Makes a device fail: programs get DEVICE_FATAL."},
	{"limit NAME=N [DEVICE]", .help = "Changes a limit of a running device, such as max_mr=2."},
	{"event [DEVICE] NAME [qp=N|cq=N|srq=N|wq=N]",
	 .help = "Sends an asynchronous event to the programs that have the device open."},
	{"fabric down|up NODE [NODE]",
	 .help = "Takes a link or a switch of the modelled network down or up. Routes follow."},
	{"fabric loss NODE NODE RATIO", .help = "Makes a link lose packets, such as 1%."},
	{"fabric rate NODE NODE RATE", .help = "Gives a link another rate, such as 10G."},
	{"fabric delay NODE NODE TIME", .help = "Gives a link another delay, such as 5us."},
	{"fabric pause|resume HOST", .help = "Makes a host send PFC pauses, or end them."},
	{.help = "Fault rules"},
	{"fault add 'RULE'", .help = "Adds a rule, see uhca-fault(7), and prints its number."},
	{"fault now 'ACTION [dev=NAME]'",
	 .help = "Does at once what a rule would do, and adds no rule."},
	{"fault list", .help = "Prints the rules, and how often each matched and fired."},
	{"fault change N|NAME 'RULE'", .help = "Replaces a rule. Its counts start anew."},
	{"fault remove N|NAME", .help = "Removes a rule and prints how often it fired."},
	{"fault clear", .help = "Removes all rules."},
	{"fault load FILE", .help = "Adds the rules of a file: all of them, or none."},
	{"fault trace [FILE]", .help = "Prints each firing of a rule, or writes it to FILE."},
	{"fault help [WORD]", .help = "Explains a word of the rules, or lists all words."},
	{"replay FILE", .help = "Adds rules that repeat a trace, packet by packet."},
	{"minimise FILE [-- COMMAND...]",
	 .help = "Finds the rules of FILE, or of a scenario, that a failure needs."},
	{.help = "Packets one by one"},
	{"step freeze [DEVICE]", .help = "Freezes the wire and clock of a device: packets wait."},
	{"step list [DEVICE]", .help = "The waiting packets, oldest first, with their numbers."},
	{"step next [N] [DEVICE]", .help = "Sends the N oldest packets, one by default."},
	{"step release|drop N [DEVICE]", .help = "Sends packet N before others, or drops it."},
	{"step set N FIELD VALUE [DEVICE]",
	 .help = "Changes a field of packet N, such as bth.psn."},
	{"step go [DEVICE]", .help = "Sends all packets, in order, and ends the freeze."},
	{.help = "The machine"},
	{"doctor", .help = "Checks this machine, with a remedy for each finding."},
	{"cdi", .help = "Prints a CDI specification, for podman run --device uhca.io/hca=all."},
	{0},
};

static int set_instance(void *into, const struct option_row *row, const char *name, char *error,
			size_t cap)
{
	struct ctl_options *o = into;

	(void)row;
	switch (ctl_instance_dir(name, o->dir, sizeof(o->dir))) {
	case 0:
		return 0;
	case -EINVAL:
		snprintf(error, cap,
			 "'%s' is not a valid instance name: letters, digits, dots, dashes and "
			 "underscores",
			 name);
		break;
	default:
		snprintf(error, cap, "the name '%s' is too long", name);
	}
	return -EINVAL;
}

#define FIELD_(f) OPTION_FIELD(struct ctl_options, f)
#define WORD_(f)  OPTION_WORD, FIELD_(f)
#define FLAG_(f)  OPTION_FLAG, FIELD_(f), .min = 1

static const struct option_row rows[] = {
	{.help = "Options of all commands"},
	{"--instance", "NAME", "The shared instance NAME of uhca-run.", .set = set_instance},
	{"--dir", "DIR",
	 "Runtime directory of the instance. Default: $UHCA_DIR, or that of default.", OPTION_TEXT,
	 FIELD_(dir), .max = PATH_MAX - 1},
	{"--json", NULL, "Prints JSON instead of text.", FLAG_(json)},
	OPTIONS_ABOUT(struct ctl_options),
	{.help = "Options of show"},
	{"--all", NULL, "All columns. For ladder: all packets of a long message.", FLAG_(all)},
	{"--offset", "N", "For show mr KEY: the byte offset to translate. Default: 0.",
	 WORD_(offset)},
	{"--svg", "FILE", "For show mr KEY and ladder: draws to FILE.", WORD_(svg), .min = 1},
	{.help = "Options of capture, ladder, explain, page and top"},
	{"--device", "DEVICE",
	 "For capture start: this device only, or a port such as leaf0/port1.", WORD_(device)},
	{"--snap", "N", "For capture start: N bytes of each packet, and all headers.", WORD_(snap)},
	{"--qp", "N", "For ladder and explain: only queue pair N and its peers.", WORD_(qp)},
	{"--wr", "N", "For explain: the requests with wr_id N.", WORD_(wr)},
	{"--from", "T", "For ladder: from this time on, such as 1.5ms.", WORD_(from)},
	{"--to", "T", "For ladder: up to this time.", WORD_(to)},
	{"--width", "N", "For ladder: 60 to 400 columns. Default: the terminal's, or 100.",
	 WORD_(width)},
	{"--no-setup", NULL, "For ladder: leaves out connection setup, states and rules.",
	 FLAG_(no_setup)},
	{"--title", "TEXT", "For ladder: the title.", WORD_(title)},
	{"--names", "NAME[,NAME...]", "For ladder: names of the lanes, from the left.",
	 WORD_(names)},
	{"--once", NULL, "For ladder live and top: the present state only.", FLAG_(once)},
	{"--fabric", NULL, "For top: the ports of the modelled network.", FLAG_(fabric)},
	{"--interval", "S", "For top: seconds between two updates. Default: 1.", WORD_(interval)},
	{"--output", "FILE", "For page: the file to write; - is standard output.", WORD_(output),
	 .letter = 'o'},
	{.help = "Options of serve"},
	{"--port", "N", "The port on 127.0.0.1. Default: any that is free.", WORD_(port)},
	{"--socket", "PATH", "Listens on this Unix socket instead.", WORD_(socket)},
	{"--listen", "ADDRESS", "Listens on this address, which others may reach: see uhcactl(8).",
	 WORD_(listen)},
	{"--read-only", NULL, "The page shows the device and cannot change it.", FLAG_(read_only)},
	{.help = "Options of fault trace and minimise"},
	{"--stable", NULL, "For fault trace: leaves out what differs from run to run.",
	 FLAG_(stable)},
	{"--times", "N", "For minimise: tries of each set of rules. Default: 1.", WORD_(times)},
	{"--devices", "N", "For minimise: number of devices of each try.", WORD_(devices)},
	{"--wire", NULL, "For minimise: sends all packets through UDP.", FLAG_(wire)},
	{"--fault-seed", "N", "For minimise: seed of each try.", WORD_(fault_seed)},
	{0},
};

const struct options_page ctl_page = {
	.program = "uhcactl",
	.version = UHCA_VERSION,
	.usage = "Usage: uhcactl [OPTION]... COMMAND\nInspects a running uhcad and injects "
		 "faults.\nThe man page uhcactl(8) says more.\n",
	.commands = commands,
	.rows = rows,
	.end = "",
};

/* The commands that have an option, by their first words. All commands have the other options. */
static const struct {
	const char *option, *commands[CTL_HAVE_MAX];
} have[] = {
	{"--json",
	 {"show", "counters", "top", "capture", "ladder", "explain", "page", "report", "port",
	  "device", "limit", "event", "fabric", "fault", "minimise", "replay", "step", "cdi"}},
	{"--all", {"show", "ladder"}},
	{"--offset", {"show"}},
	{"--svg", {"show", "ladder"}},
	{"--device", {"capture start"}},
	{"--snap", {"capture start"}},
	{"--qp", {"ladder", "explain"}},
	{"--wr", {"explain"}},
	{"--from", {"ladder"}},
	{"--to", {"ladder"}},
	{"--width", {"ladder"}},
	{"--no-setup", {"ladder"}},
	{"--title", {"ladder"}},
	{"--names", {"ladder"}},
	{"--once", {"ladder", "top"}},
	{"--fabric", {"top"}},
	{"--interval", {"top"}},
	{"--output", {"page", "report"}},
	{"--port", {"serve"}},
	{"--socket", {"serve"}},
	{"--listen", {"serve"}},
	{"--read-only", {"serve"}},
	{"--stable", {"fault trace"}},
	{"--times", {"minimise"}},
	{"--devices", {"minimise"}},
	{"--wire", {"minimise"}},
	{"--fault-seed", {"minimise"}},
};

/* Is the command's name, of one or two words, that of the line? */
static bool is_command(const struct ctl_options *o, const char *name)
{
	size_t n = strlen(o->word[0]);

	if (strncmp(name, o->word[0], n) != 0)
		return false;
	return !name[n] || (name[n] == ' ' && o->word[1] && strcmp(name + n + 1, o->word[1]) == 0);
}

/* Of a word that is no command the program says that. */
static bool is_known(const char *word)
{
	size_t n = strlen(word);

	for (const struct option_row *row = commands; row->help; row++)
		if (row->name && strncmp(row->name, word, n) == 0 &&
		    (!row->name[n] || row->name[n] == ' '))
			return true;
	return strcmp(word, "report") == 0;
}

/* Has the command this option? */
static int check_option(const struct ctl_options *o, const char *option, char *error, size_t cap)
{
	const char *const *names = NULL;
	size_t used;

	for (size_t i = 0; i < sizeof(have) / sizeof(have[0]); i++)
		if (strcmp(have[i].option, option) == 0)
			names = have[i].commands;
	if (!names || o->n_words == 0 || !is_known(o->word[0]))
		return 0;
	for (size_t i = 0; i < CTL_HAVE_MAX && names[i]; i++)
		if (is_command(o, names[i]))
			return 0;
	used = (size_t)snprintf(error, cap, "%s has no option %s; it is for ", o->word[0], option);
	for (size_t i = 0; i < CTL_HAVE_MAX && names[i] && used < cap; i++)
		used += (size_t)snprintf(error + used, cap - used, "%s%s", i ? ", " : "", names[i]);
	return -EINVAL;
}

/* Where no option says: the instance around this program, or that of the user. */
static int set_default_dir(struct ctl_options *o, char *error, size_t cap)
{
	const char *dir = getenv("UHCA_DIR");

	if (!dir || !*dir)
		return set_instance(o, NULL, "default", error, cap);
	if (strlen(dir) < sizeof(o->dir)) {
		memcpy(o->dir, dir, strlen(dir) + 1);
		return 0;
	}
	snprintf(error, cap, "UHCA_DIR is too long");
	return -EINVAL;
}

static int parse(struct ctl_options *o, int argc, char *const *argv, char *error, size_t cap)
{
	const char *options[CTL_WORDS_MAX];
	int n_options = 0, used;

	for (int i = 1; i < argc;) {
		const struct option_row *row = options_find(rows, argv[i]);

		if (strcmp(argv[i], "--") == 0) {
			o->rest = argv + i + 1;
			break;
		}
		used = options_take(rows, o, argv + i, error, cap);
		if (used < 0)
			return used;
		i += used;
		if (used > 0 && row && n_options < CTL_WORDS_MAX)
			options[n_options++] = row->name;
		if (used > 0)
			continue;
		if (o->n_words == CTL_WORDS_MAX) {
			snprintf(error, cap, "too many arguments from '%s' on", argv[i]);
			return -EINVAL;
		}
		o->word[o->n_words++] = argv[i++];
	}
	for (int i = 0; i < n_options; i++)
		if (check_option(o, options[i], error, cap) < 0)
			return -EINVAL;
	return o->dir[0] ? 0 : set_default_dir(o, error, cap);
}

int ctl_options_parse(struct ctl_options *o, int argc, char *const *argv)
{
	char error[1024];
	int status;

	*o = (struct ctl_options){.json = false};
	status = parse(o, argc, argv, error, sizeof(error));
	if (status < 0)
		ctl_usage_error(error);
	return status;
}

/* ---- for commands ---- */

int ctl_usage_error(const char *what)
{
	fprintf(stderr, "uhcactl: %s\nTry uhcactl --help.\n", what);
	return CTL_EXIT_USAGE;
}

int ctl_expected(const char *form)
{
	fprintf(stderr, "uhcactl: expected: %s\nTry uhcactl --help.\n", form);
	return CTL_EXIT_USAGE;
}

int ctl_no_such(const char *what, const char *word, words_names names, const void *table)
{
	char text[1024];

	return ctl_usage_error(words_refuse(text, sizeof(text), what, word, names, table));
}

int ctl_absolute_path(const char *file, char out[2 * PATH_MAX])
{
	char cwd[PATH_MAX];

	if (file[0] == '/') {
		snprintf(out, 2 * PATH_MAX, "%s", file);
	} else if (!getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "uhcactl: the current directory: %s\n", strerror(errno));
		return CTL_EXIT_FAILED;
	} else {
		snprintf(out, 2 * PATH_MAX, "%s/%s", cwd, file);
	}
	return 0;
}
