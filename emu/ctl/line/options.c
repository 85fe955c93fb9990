/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See options.h.
 */
#include "options.h"

#include "emu/ctl/lib/lib.h"
#include "emu/help/page.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text {
	const char *name;
	const char *help;
};

static const struct text command_text[] = {
	{"show device",
	 "The devices: GUID, addresses, wire, sandbox, number of objects of each kind."},
	{"show client", "The processes that have opened a device."},
	{"show pd|mr|mw|dm|cq|qp|srq|xrcd|ah|wq|rwq_ind_table|flow",
	 "The objects of all clients, one line each."},
	{"show mr KEY", "The way from a key to memory: the key's parts, what it allows, the "
			"descriptions it goes through, the region's pages, and how the byte at "
			"--offset is found at each. --svg draws it."},
	{"show cm_id", "The ids of rdma_cm: port space, state, addresses."},
	{"counters", "What each device has counted since the daemon's start, and longest_turn_us: "
		     "the longest time, in microseconds, for which the daemon served one thing "
		     "before it looked at the others, which includes time in which other programs "
		     "had its processor. It is the daemon's, the same for all devices."},
	{"capture start FILE",
	 "Writes every packet to a pcapng file, with a comment that tells what it is part of and "
	 "what became of it, and what the devices do, until it is stopped. A file of this name is "
	 "overwritten if it is the daemon's user's and has no other name; a symbolic link is not "
	 "followed."},
	{"capture stop", "Ends the capture and says what is in the file."},
	{"capture status",
	 "Writes out what there is so far, and says whether a capture is running and what is in "
	 "its file."},
	{"minimise FILE [-- COMMAND...]",
	 "Which of the rules of FILE are needed for a failure? Runs COMMAND with fewer and fewer "
	 "of "
	 "them, in a private instance each time, and prints those without which it does not fail "
	 "as "
	 "it does with all. Without a command FILE is a scenario, see uhca-scenario(5)."},
	{"capture dump FILE",
	 "Writes what the flight recorder has, which is always on, to a pcapng file: the last "
	 "packets without their payload, and what happened. A file of this name is overwritten as "
	 "by capture start."},
	{"ladder FILE|live",
	 "Draws who sent what to whom as a sequence diagram: a lane for each QP, arrows with "
	 "opcode, PSN and length, what was lost and which rule did it, and what the devices tell "
	 "beside them. FILE is a capture of this daemon, or one of tcpdump; - is standard input. "
	 "live asks the daemon for what its flight recorder has, and goes on with what happens. "
	 "--svg draws it to a file."},
	{"explain FILE|live",
	 "Tells for each completion with an error what happened: the request, its packets and "
	 "tries, what came back, which rules did something, what the status means and what to "
	 "look at in the program. --qp and --wr choose others."},
	{"report FILE|live",
	 "Writes one HTML page to the file that -o names, for any browser, without a network: the "
	 "ladder to look around in, each packet taken apart, states of the QPs, counters, regions, "
	 "what the rules did, and the completions in words."},
	{"top", "Shows the QPs with the most traffic, again and again: packets and bytes in a "
		"second, what was sent again, errors. q or Ctrl-C ends it."},
	{"cdi",
	 "Prints a specification of the Container Device Interface for the instance, which is to "
	 "run: podman run --device uhca.io/hca=all gives a container its directory, the "
	 "libraries of this package, and the environment that uhca-run would set. Each device "
	 "has its name there, too, and leads to all of them."},
	{"port down|up [DEVICE]", "Takes the link of a device down or up: PORT_ERR or PORT_ACTIVE "
				  "to the programs that have it "
				  "open, and no packet leaves or enters while it is down. DEVICE "
				  "may be left out where there "
				  "is only one, here and below."},
	{"device fatal [DEVICE]",
	 "Lets a device fail: DEVICE_FATAL to the programs that have it open, their work is "
	 "flushed "
	 "and their objects are gone. Who opens it afterwards finds it working."},
	{"limit NAME=N [DEVICE]", "Changes a limit of a device that works, such as max_mr=2; "
				  "uhcad(8) has the names. What is "
				  "there stays, what exceeds it can no longer be made."},
	{"event [DEVICE] NAME [qp=N|cq=N|srq=N|wq=N]",
	 "Sends an asynchronous event, any of ibv_get_async_event(3) without the IBV_EVENT_ in "
	 "front: one of the port or device, as LID_CHANGE, to all programs that have it open; "
	 "one of an object, as QP_FATAL, to the program that has it, by the QP's number or the "
	 "handle that show prints. Nothing else changes."},
	{"fault add 'RULE'",
	 "Puts a fault rule in force, see uhca-fault(7), and prints its number. A rule that is "
	 "wrong is refused with the column of the wrong word. May be done, like all of these, "
	 "while traffic runs."},
	{"fault list", "The rules in their order: how many packets, calls, ... each matched and "
		       "how often it fired. Before them the seed of their random choices."},
	{"fault change N|NAME 'RULE'", "Puts another rule in the place of one; it counts anew."},
	{"fault remove N|NAME", "Takes a rule away and says how often it fired."},
	{"fault clear", "Takes all rules away."},
	{"fault load FILE", "Adds the rules of a file, one on each line; empty lines and those "
			    "that begin with # are skipped. All of them, or none."},
	{"fault trace [FILE]",
	 "What the rules did, one line for each time one fired: to FILE, or to standard output. "
	 "FILE is overwritten as by capture start. "
	 "The last 65536 are remembered."},
	{"fault help [WORD]", "All words that a rule can have, or what one of them means."},
	{"replay FILE", "Adds rules that do again what a trace tells: the same to the same "
			"packets, by their number. Rules that are there stay."},
	{"step freeze [DEVICE]",
	 "Freezes the wire of a device, or of all: packets wait, in both directions, until they "
	 "are "
	 "let go. The clock by which the device waits for the network stands still meanwhile: "
	 "nothing "
	 "is sent again, and no connection gives up. Who is not frozen waits by its own clock."},
	{"step list [DEVICE]", "The packets that wait, oldest first, each with its number."},
	{"step next [N] [DEVICE]", "Lets the oldest packet go, or the N oldest, and shows it. "
				   "Ends with 1 when none waits."},
	{"step release|drop N [DEVICE]", "Lets packet N go, before others, or loses it."},
	{"step set N FIELD VALUE [DEVICE]",
	 "Changes a field of packet N, such as bth.psn or aeth.syndrome (see set= in "
	 "uhca-fault(7)), so that its checksum is right."},
	{"step go [DEVICE]", "Lets all packets go, in their order, and ends the freezing: the "
			     "clock goes on where it stood."},
};

static const struct text option_text[] = {
	{"--dir DIR", "Runtime directory of the instance. Default: the environment variable "
		      "UHCA_DIR, which uhca-run sets, else that of the instance \"default\"."},
	{"--instance NAME", "The shared instance of this name, as uhca-run has it."},
	{"--json", "Prints JSON instead of text, with every command: a list of objects in place "
		   "of a table; of ladder lanes and rows, of report the data of the page."},
	{"--device DEVICE", "For capture start: this device only."},
	{"--snap N", "For capture start: keeps N bytes of each packet, but all of its headers and "
		     "of messages of the CM; 0: no packets, only what happens. Default: all "
		     "bytes."},
	{"--offset N", "For show mr KEY: the byte of the key to find. Default: 0."},
	{"--svg FILE", "For show mr KEY and ladder: draws to this file instead of telling. It is "
		       "overwritten as by capture start."},
	{"--qp N", "For ladder and explain: only this QP and those it talks with."},
	{"--wr N", "For explain: the requests of this identifier."},
	{"--width N", "For ladder: columns, 60 to 400. Default: those of the terminal, or 100."},
	{"--from T, --to T", "For ladder: only what is between these times, as its left column "
			     "has them; 5us, 1.5ms and 2s say it in other units."},
	{"--all", "For ladder: every packet has a line; else the middle packets of a long message "
		  "share one."},
	{"--once", "For ladder live and top: what is there now, and no more."},
	{"-o FILE, --output FILE", "For report: the page to write; - is standard output. It is "
				   "overwritten as by capture start."},
	{"--interval S", "For top: seconds between two looks. Default: 1."},
	{"--devices N, --wire", "For minimise: given to uhca-run."},
	{"--version", "Prints the version."},
	{"--help[=man]", "Prints this text; with =man, in the form of the manual page."},
};

#define COUNT_(a) (sizeof(a) / sizeof((a)[0]))

static int complain(const char *format, const char *what)
{
	fputs("uhcactl: ", stderr);
	fprintf(stderr, format, what);
	fputs("\nTry uhcactl --help.\n", stderr);
	return -EINVAL;
}

/* ---- where the instance is ---- */

static int set_dir(struct ctl_options *o, const char *dir)
{
	if (!*dir || strlen(dir) >= sizeof(o->dir))
		return complain("'%s' is not a directory", dir);
	memcpy(o->dir, dir, strlen(dir) + 1);
	return 0;
}

static int set_instance(struct ctl_options *o, const char *name)
{
	int error = ctl_instance_dir(name, o->dir, sizeof(o->dir));

	if (error == -EINVAL)
		return complain("'%s' cannot be the name of an instance", name);
	return error == 0 ? 0 : complain("the name '%s' is too long", name);
}

static int set_default_dir(struct ctl_options *o)
{
	const char *dir = getenv("UHCA_DIR");

	return dir && *dir ? set_dir(o, dir) : set_instance(o, "default");
}

/* ---- parsing ---- */

/* The option's argument: behind "=", or the next word, which is then used up. NULL: none. */
static const char *argument(const char *arg, const char *name, char *const *next, int *used)
{
	size_t len = strlen(name);

	if (arg[len] == '=')
		return arg + len + 1;
	*used = 2;
	return *next;
}

static bool is_option(const char *arg, const char *name)
{
	size_t len = strlen(name);

	return strncmp(arg, name, len) == 0 && (arg[len] == '\0' || arg[len] == '=');
}

static int set_offset(struct ctl_options *o, const char *value)
{
	o->offset = value;
	return 0;
}

static int set_device(struct ctl_options *o, const char *value)
{
	o->device = value;
	return 0;
}

static int set_snap(struct ctl_options *o, const char *value)
{
	o->snap = value;
	return 0;
}

static int set_svg(struct ctl_options *o, const char *value)
{
	o->svg = value;
	return *value ? 0 : complain("'%s' is not a file name", value);
}

/* Options whose value their command judges. */
static const struct {
	const char *name;
	size_t at; /* in struct ctl_options */
} value_options[] = {
	{"--qp", offsetof(struct ctl_options, qp)},
	{"--wr", offsetof(struct ctl_options, wr)},
	{"--width", offsetof(struct ctl_options, width)},
	{"--from", offsetof(struct ctl_options, from)},
	{"--to", offsetof(struct ctl_options, to)},
	{"--interval", offsetof(struct ctl_options, interval)},
	{"--devices", offsetof(struct ctl_options, devices)},
	{"--output", offsetof(struct ctl_options, output)},
	{"-o", offsetof(struct ctl_options, output)},
};

/* Words used, 0 when it is none of these, or -EINVAL. */
static int parse_value(struct ctl_options *o, char *const *argv)
{
	for (size_t i = 0; i < COUNT_(value_options); i++) {
		const char *name = value_options[i].name;
		int used = 1;
		const char *value;

		if (!is_option(argv[0], name))
			continue;
		value = argument(argv[0], name, argv + 1, &used);
		if (!value)
			return complain("%s needs an argument", name);
		memcpy((char *)o + value_options[i].at, &value, sizeof(value));
		return used;
	}
	return 0;
}

/* Options with an argument. Returns the words used, or -EINVAL. */
static int parse_place(struct ctl_options *o, char *const *argv, const char *name,
		       int (*set)(struct ctl_options *o, const char *value))
{
	int used = 1;
	const char *value = argument(argv[0], name, argv + 1, &used);

	if (!value)
		return complain("%s needs an argument", name);
	return set(o, value) < 0 ? -EINVAL : used;
}

static int parse_one(struct ctl_options *o, char *const *argv)
{
	const char *arg = argv[0];
	int used = parse_value(o, argv);

	if (used != 0)
		return used;
	if (is_option(arg, "--dir"))
		return parse_place(o, argv, "--dir", set_dir);
	if (is_option(arg, "--instance"))
		return parse_place(o, argv, "--instance", set_instance);
	if (is_option(arg, "--device"))
		return parse_place(o, argv, "--device", set_device);
	if (is_option(arg, "--snap"))
		return parse_place(o, argv, "--snap", set_snap);
	if (is_option(arg, "--offset"))
		return parse_place(o, argv, "--offset", set_offset);
	if (is_option(arg, "--svg"))
		return parse_place(o, argv, "--svg", set_svg);
	if (strcmp(arg, "--json") == 0)
		o->json = true;
	else if (strcmp(arg, "--wire") == 0)
		o->wire = true;
	else if (strcmp(arg, "--once") == 0)
		o->once = true;
	else if (strcmp(arg, "--all") == 0)
		o->all = true;
	else if (strcmp(arg, "--version") == 0)
		o->version = true;
	else if (strcmp(arg, "--help") == 0 || strcmp(arg, "--help=man") == 0)
		o->help = true, o->help_man = arg[6] == '=';
	else if (arg[0] == '-')
		return complain("there is no option %s", arg);
	else if (o->n_words == CTL_WORDS_MAX)
		return complain("too many words from '%s' on", arg);
	else
		o->word[o->n_words++] = arg;
	return 1;
}

int ctl_options_parse(struct ctl_options *o, int argc, char *const *argv)
{
	*o = (struct ctl_options){.json = false};
	for (int i = 1; i < argc;) {
		int used;

		if (strcmp(argv[i], "--") == 0) {
			o->rest = argv + i + 1;
			break;
		}
		used = parse_one(o, argv + i);

		if (used < 0)
			return used;
		i += used;
	}
	return o->dir[0] ? 0 : set_default_dir(o);
}

/* ---- texts ---- */

static void print_texts(FILE *out, const struct text *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		help_page_row(out, text[i].name, text[i].help);
}

void ctl_print_help(FILE *out)
{
	fputs("Usage: uhcactl [OPTION]... COMMAND\n"
	      "Looks into a running uhcad, and lets its devices meet what real ones meet.\n\n"
	      "Commands:\n",
	      out);
	print_texts(out, command_text, COUNT_(command_text));
	fputs("\nOptions:\n", out);
	print_texts(out, option_text, COUNT_(option_text));
}

static void print_section(FILE *out, const char *title, const struct text *text, size_t n)
{
	fprintf(out, ".SH %s\n", title);
	for (size_t i = 0; i < n; i++)
		help_page_man_row(out, text[i].name, text[i].help);
}

void ctl_print_man(FILE *out)
{
	print_section(out, "COMMANDS", command_text, COUNT_(command_text));
	print_section(out, "OPTIONS", option_text, COUNT_(option_text));
}

/* ---- for commands ---- */

int ctl_usage_error(const char *what)
{
	fprintf(stderr, "uhcactl: %s\nTry uhcactl --help.\n", what);
	return CTL_EXIT_USAGE;
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
