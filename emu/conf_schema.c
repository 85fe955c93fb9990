/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every option of uhcad, once. Texts are sentences for people: what the option does, its unit,
 * its default. Options with a meaning of their own have their setter here.
 */
#include "conf.h"
#include "conf_cc.h"
#include "conf_chaos.h"
#include "emu/fabric/file/file.h"
#include "emu/help/daemon_options.h"
#include "emu/words/words.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Among the addresses of earlier devices, or of this one? */
static bool is_taken(const struct conf *c, const struct io_address_list *list,
		     const struct io_address *a)
{
	for (unsigned i = 0; i <= c->next_device; i++) {
		const struct io_address_list *l = i < c->next_device ? &c->io.addresses[i] : list;

		for (unsigned j = 0; j < l->count; j++)
			if (&l->a[j] != a && memcmp(l->a[j].gid, a->gid, sizeof(a->gid)) == 0)
				return true;
	}
	return false;
}

static OPTION_SETTER(set_addresses)
{
	struct conf *c = into;
	struct io_address_list list = {0};
	char text[1024];
	char *save;

	if (c->next_device == IO_MAX_DEVICES) {
		snprintf(error, cap, "more --addr options than devices");
		return -EINVAL;
	}
	if ((size_t)snprintf(text, sizeof(text), "%s", argument) >= sizeof(text))
		text[0] = '\0';
	for (char *one = strtok_r(text, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		int why;

		if (list.count == IO_MAX_ADDRESSES) {
			snprintf(error, cap, "more than %d addresses", IO_MAX_ADDRESSES);
			return -EINVAL;
		}
		why = io_address_parse(one, &list.a[list.count++]);
		if (why < 0) {
			snprintf(error, cap, "'%s' %s", one,
				 why == -ENODEV ? "names an interface that does not exist"
						: "is not a unicast IP address");
			return -EINVAL;
		}
		if (is_taken(c, &list, &list.a[list.count - 1])) {
			snprintf(error, cap, "'%s' is given twice", one);
			return -EINVAL;
		}
	}
	if (list.count == 0) {
		snprintf(error, cap, "no address");
		return -EINVAL;
	}
	c->io.addresses[c->next_device++] = list;
	return 0;
}

static OPTION_SETTER(set_log_file)
{
	struct conf *c = into;

	if (!*argument || strlen(argument) >= sizeof(c->log_file)) {
		snprintf(error, cap, "must name a file");
		return -EINVAL;
	}
	memcpy(c->log_file, argument, strlen(argument) + 1);
	c->log_target = IO_LOG_FILE;
	return 0;
}

/* A failure comes late, and its packets must not be lost for want of a folder. */
static int check_place(const char *file, char *error, size_t cap)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", file);
	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
		snprintf(error, cap, "%s is not a regular file", file);
		return -EINVAL;
	}
	if (access(file, W_OK) == 0)
		return 0;
	if (stat(dirname(folder), &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (access(folder, W_OK | X_OK) == 0)
		return 0;
	snprintf(error, cap, "%s: %s", folder, strerror(errno));
	return -EINVAL;
}

/* The daemon may be started somewhere else than it works: the name is made absolute. */
static OPTION_SETTER(set_on_error)
{
	struct conf *c = into;
	size_t size = sizeof(c->io.on_error);
	char cwd[PATH_MAX] = "";
	size_t n;

	if (*argument && argument[0] != '/' && !getcwd(cwd, sizeof(cwd))) {
		snprintf(error, cap, "the current directory: %s", strerror(errno));
		return -EINVAL;
	}
	n = strlen(cwd);
	if (!*argument || n + strlen(argument) + 2 > size) {
		snprintf(error, cap, "must name a file");
		return -EINVAL;
	}
	memcpy(c->io.on_error, cwd, n);
	if (n > 0)
		c->io.on_error[n++] = '/';
	memcpy(c->io.on_error + n, argument, strlen(argument) + 1);
	return check_place(c->io.on_error, error, cap);
}

/* With UDP sockets for everything, or with none. */
static OPTION_SETTER(set_wire)
{
	const enum io_wire_mode wire = row->tag ? IO_WIRE_ALWAYS : IO_WIRE_NEVER;
	struct conf *c = into;

	if (c->io.wire != IO_WIRE_AUTO && c->io.wire != wire) {
		snprintf(error, cap, "--wire and --no-wire exclude each other");
		return -EINVAL;
	}
	c->io.wire = wire;
	return 0;
}

static const char *profile_at(const void *table, unsigned i)
{
	(void)table;
	return core_profile_name(i);
}

static OPTION_SETTER(set_profile)
{
	struct conf *c = into;
	const char *name;

	for (unsigned i = 0; (name = core_profile_name(i)); i++) {
		if (strcmp(name, argument) == 0) {
			c->io.profile = i;
			c->has_profile = true;
			return 0;
		}
	}
	words_refuse(error, cap, "profile", argument, profile_at, NULL);
	return -EINVAL;
}

static OPTION_SETTER(set_machine)
{
	struct conf *c = into;

	machine_free((struct machine *)(uintptr_t)c->io.machine);
	c->io.machine = machine_load(argument, error, cap);
	return c->io.machine ? 0 : -EINVAL;
}

static OPTION_SETTER(set_fabric)
{
	static struct fabric_topology topology;
	struct conf *c = into;
	int status;

	fabric_topology_fini(&topology);
	c->io.fabric = &topology;
	fabric_topology_init(&topology);
	topology.link.mtu = IO_NETWORK_MTU;
	status = fabric_topology_load(&topology, argument, error, cap);
	if (status == 0 && strlen(argument) >= sizeof(c->io.fabric_name)) {
		snprintf(error, cap, "the name is too long");
		status = -EINVAL;
	}
	if (status == 0)
		memcpy(c->io.fabric_name, argument, strlen(argument) + 1);
	return status;
}

static const char *limit_at(const void *table, unsigned i)
{
	(void)table;
	return core_limit_name(i);
}

/* NAME=N; whether the value is possible is found out when all options are known. */
static OPTION_SETTER(set_limit)
{
	struct conf *c = into;
	const char *equals = strchr(argument, '=');
	size_t len = equals ? (size_t)(equals - argument) : strlen(argument);
	unsigned i = 0;
	char *end, name[64];

	while (core_limit_name(i) && (strlen(core_limit_name(i)) != len ||
				      memcmp(core_limit_name(i), argument, len) != 0))
		i++;
	if (!core_limit_name(i)) {
		snprintf(name, sizeof(name), "%.*s", (int)len, argument);
		words_refuse(error, cap, "limit", name, limit_at, NULL);
		return -EINVAL;
	}
	if (c->io.n_limits == IO_MAX_LIMITS) {
		snprintf(error, cap, "given more than %d times", IO_MAX_LIMITS);
		return -EINVAL;
	}
	errno = 0;
	c->io.limits[c->io.n_limits].limit = i;
	c->io.limits[c->io.n_limits].value = equals ? strtoull(equals + 1, &end, 0) : 0;
	if (!equals || equals[1] < '0' || equals[1] > '9' || *end || errno) {
		snprintf(error, cap, "'%s' is not of the form NAME=N", argument);
		return -EINVAL;
	}
	c->io.n_limits++;
	return 0;
}

/* A rule, or (tag) a file of them. */
static OPTION_SETTER(set_fault)
{
	struct conf *c = into;

	if (!*argument) {
		snprintf(error, cap, row->tag ? "must name a file" : "the rule is empty");
		return -EINVAL;
	}
	if (c->io.n_faults == IO_MAX_FAULTS) {
		snprintf(error, cap, "more than %d rules and files", IO_MAX_FAULTS);
		return -EINVAL;
	}
	c->io.faults[c->io.n_faults].text = argument;
	c->io.faults[c->io.n_faults++].is_file = row->tag;
	return 0;
}

static OPTION_SETTER(set_fault_seed)
{
	struct conf *c = into;
	char *end;

	errno = 0;
	c->io.fault_seed = strtoull(argument, &end, 0);
	c->io.has_fault_seed = true;
	if (argument[0] >= '0' && argument[0] <= '9' && !*end && !errno)
		return 0;
	snprintf(error, cap, "'%s' is not a 64-bit number", argument);
	return -EINVAL;
}

static const char *const mem_modes[] = {"auto", "process_vm", "proc_mem", NULL};
/* In the order of enum uhca_abi_pin. */
static const char *const pin_modes[] = {"off", "safe", "all", NULL};
static const char *const on_off[] = {"off", "on", NULL};
static const char *const icrc_modes[] = {"strict", "lenient", "off", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

#define FIELD_(f) OPTION_FIELD(struct conf, f)

static const struct option_row conf_rows[] = {
	{.help = "Devices"},
	{OPTION_DEVICES, OPTION_NUMBER, FIELD_(io.devices), .min = 1, .max = IO_MAX_DEVICES},
	{OPTION_FIRST_DEVICE, OPTION_NUMBER, FIELD_(io.first_device), .max = IO_MAX_DEVICES - 1},
	{OPTION_ADDR, .set = set_addresses},
	{OPTION_NETDEV, OPTION_TEXT, FIELD_(io.netdev), .max = IF_NAMESIZE - 1},
	{OPTION_MACHINE, .set = set_machine},
	{OPTION_PROFILE, .set = set_profile},
	{OPTION_LIMIT, .set = set_limit},
	{.help = "Network"},
	{OPTION_FABRIC, .set = set_fabric},
	{OPTION_FABRIC_SCALE, OPTION_NUMBER, FIELD_(io.fabric_scale), .min = 1,
	 .max = FABRIC_SCALE_MAX},
	{OPTION_WIRE, .set = set_wire, .tag = true},
	{OPTION_NO_WIRE, .set = set_wire},
	{OPTION_GSO, OPTION_CHOICE, FIELD_(io.gso), .choices = on_off},
	{OPTION_CC, .set = conf_set_cc},
	{OPTION_ICRC, OPTION_CHOICE, FIELD_(io.icrc), .choices = icrc_modes},
	{.help = "Memory of clients"},
	{OPTION_MEM, OPTION_CHOICE, FIELD_(io.mem), .choices = mem_modes},
	{OPTION_PIN, OPTION_CHOICE, FIELD_(io.pin), .choices = pin_modes},
	{"--adopt", "WHAT", "", OPTION_CHOICE, FIELD_(io.pin), .choices = pin_modes,
	 .hidden = true},
	{.help = "Order and timing, for tests"},
	{OPTION_STRICT_MEMORY, OPTION_FLAG, FIELD_(io.strict_memory), .min = 1},
	{OPTION_STRICT_ORDER, OPTION_FLAG, FIELD_(io.strict_order), .min = 1},
	{OPTION_STRICT_ARMING, OPTION_FLAG, FIELD_(io.strict_arming), .min = 1},
	{OPTION_EARLY_LOCAL_INV, OPTION_FLAG, FIELD_(io.early_local_inv), .min = 1},
	{"--late-bytes", "US",
	 "Stores received bytes in any order, up to US microseconds late. Default: 0.",
	 OPTION_NUMBER, FIELD_(io.late_bytes), .max = FABRIC_SCALE_MAX},
	{"--late-writes", "US",
	 "As --late-bytes; RDMA WRITE data may also follow the requester's completion. Default: 0.",
	 OPTION_NUMBER, FIELD_(io.late_writes), .max = FABRIC_SCALE_MAX},
	{"--any-srq-order", NULL, "Takes the requests of a shared receive queue in any order.",
	 OPTION_FLAG, FIELD_(io.any_srq_order), .min = 1},
	{"--any-grh", NULL,
	 "Fills the undefined bytes in front of an IPv4 datagram with any value.", OPTION_FLAG,
	 FIELD_(io.any_grh), .min = 1},
	{"--same-qp-numbers", NULL, "Gives the queue pairs of all devices the same numbers.",
	 OPTION_FLAG, FIELD_(io.same_qp_numbers), .min = 1},
	{"--lazy-acks", "US", "Delays acknowledgements by up to US microseconds. Default: 0.",
	 OPTION_NUMBER, FIELD_(io.lazy_acks), .max = 100000},
	{.help = "Faults and chaos"},
	{OPTION_FAULT, .set = set_fault},
	{OPTION_FAULT_FILE, .set = set_fault, .tag = true},
	{"--fault-seed", "N", "Seed of the random choices of fault rules. Default: random.",
	 .set = set_fault_seed},
	{OPTION_CHAOS, .set = conf_set_chaos},
	{.help = "Log and diagnosis"},
	{OPTION_LOG_LEVEL, OPTION_CHOICE, FIELD_(log_level), .choices = log_levels},
	{"--log-file", "FILE",
	 "Appends the log to FILE. Default: the file log in the runtime directory.",
	 .set = set_log_file},
	{"--syslog", NULL, "Sends the log to syslog.", OPTION_FLAG, FIELD_(log_target),
	 .min = IO_LOG_SYSLOG},
	{"--stderr", NULL, "Sends the log to standard error.", OPTION_FLAG, FIELD_(log_target),
	 .min = IO_LOG_STDERR},
	{OPTION_ON_ERROR, .set = set_on_error},
	{.help = "The daemon"},
	{"--dir", "DIR", "Runtime directory. Default: that of the instance default of this user.",
	 OPTION_TEXT, FIELD_(io.dir), .max = PATH_MAX - 1},
	{"--idle-timeout", "SECONDS",
	 "Exits after SECONDS without a client or uhcactl. Default: 0, never.", OPTION_NUMBER,
	 FIELD_(io.idle_timeout), .max = 86400},
	{"--linger", "SECONDS", "", OPTION_NUMBER, FIELD_(io.idle_timeout), .max = 86400,
	 .hidden = true},
	{"--ready-fd", "N", "Writes the line \"ready\" to descriptor N when clients can connect.",
	 OPTION_NUMBER, FIELD_(io.ready_fd), .max = INT_MAX},
	{OPTION_TRUST_PARENTS, OPTION_FLAG, FIELD_(io.trust_parents), .min = 1},
	{OPTION_NO_SANDBOX, OPTION_FLAG, FIELD_(io.no_sandbox), .min = 1},
	OPTIONS_ABOUT(struct conf),
	{0},
};

const struct options_page conf_page = {
	.program = "uhcad",
	.version = UHCA_VERSION,
	.usage = "Usage: uhcad [OPTION]...\n"
		 "Runs emulated RDMA devices for the programs of this user.\n"
		 "The man page uhcad(8) says more.\n",
	.rows = conf_rows,
	.end = "",
};
