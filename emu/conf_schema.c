/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every option of uhcad, once. Texts are sentences for people: what the option does, its unit,
 * its default. Options with a meaning of their own have their setter here.
 */
#include "conf.h"
#include "conf_chaos.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_addresses(struct conf *c, const char *argument, char *error, size_t cap)
{
	struct io_address_list list = {0};
	char text[1024];
	char *save;

	if (c->next_device == IO_MAX_DEVICES) {
		snprintf(error, cap, "more addresses than devices");
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
						: "is not an IP address a device can have");
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

static int set_log_file(struct conf *c, const char *argument, char *error, size_t cap)
{
	if (!*argument || strlen(argument) >= sizeof(c->log_file)) {
		snprintf(error, cap, "not a file name");
		return -EINVAL;
	}
	memcpy(c->log_file, argument, strlen(argument) + 1);
	c->log_target = IO_LOG_FILE;
	return 0;
}

/* The daemon may be started somewhere else than it works: the name is made absolute. */
static int set_on_error(struct conf *c, const char *argument, char *error, size_t cap)
{
	size_t size = sizeof(c->io.on_error);
	char cwd[PATH_MAX] = "";
	size_t n;

	if (*argument && argument[0] != '/' && !getcwd(cwd, sizeof(cwd))) {
		snprintf(error, cap, "the current directory: %s", strerror(errno));
		return -EINVAL;
	}
	n = strlen(cwd);
	if (!*argument || n + strlen(argument) + 2 > size) {
		snprintf(error, cap, "not a file name");
		return -EINVAL;
	}
	memcpy(c->io.on_error, cwd, n);
	if (n > 0)
		c->io.on_error[n++] = '/';
	memcpy(c->io.on_error + n, argument, strlen(argument) + 1);
	return 0;
}

static int set_profile(struct conf *c, const char *argument, char *error, size_t cap)
{
	size_t n = (size_t)snprintf(error, cap, "'%s' is not one of", argument);
	const char *name;

	for (unsigned i = 0; (name = core_profile_name(i)); i++) {
		if (strcmp(name, argument) == 0) {
			c->io.profile = i;
			return 0;
		}
		if (n < cap)
			n += (size_t)snprintf(error + n, cap - n, "%s %s", i ? "," : "", name);
	}
	return -EINVAL;
}

/* NAME=N; whether the value is possible is found out when all options are known. */
static int set_limit(struct conf *c, const char *argument, char *error, size_t cap)
{
	const char *equals = strchr(argument, '=');
	size_t len = equals ? (size_t)(equals - argument) : strlen(argument);
	unsigned i = 0;
	char *end;

	while (core_limit_name(i) && (strlen(core_limit_name(i)) != len ||
				      memcmp(core_limit_name(i), argument, len) != 0))
		i++;
	if (!core_limit_name(i)) {
		snprintf(error, cap, "there is no limit '%.*s'", (int)len, argument);
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
		snprintf(error, cap, "'%s' is not NAME=N", argument);
		return -EINVAL;
	}
	c->io.n_limits++;
	return 0;
}

static int add_fault(struct conf *c, const char *argument, bool is_file, char *error, size_t cap)
{
	if (!*argument) {
		snprintf(error, cap, is_file ? "not a file name" : "an empty rule");
		return -EINVAL;
	}
	if (c->io.n_faults == IO_MAX_FAULTS) {
		snprintf(error, cap, "more than %d rules and files", IO_MAX_FAULTS);
		return -EINVAL;
	}
	c->io.faults[c->io.n_faults].text = argument;
	c->io.faults[c->io.n_faults++].is_file = is_file;
	return 0;
}

static int set_fault(struct conf *c, const char *argument, char *error, size_t cap)
{
	return add_fault(c, argument, false, error, cap);
}

static int set_fault_file(struct conf *c, const char *argument, char *error, size_t cap)
{
	return add_fault(c, argument, true, error, cap);
}

static int set_fault_seed(struct conf *c, const char *argument, char *error, size_t cap)
{
	char *end;

	errno = 0;
	c->io.fault_seed = strtoull(argument, &end, 0);
	c->io.has_fault_seed = true;
	if (argument[0] >= '0' && argument[0] <= '9' && !*end && !errno)
		return 0;
	snprintf(error, cap, "'%s' is not a number of 64 bits", argument);
	return -EINVAL;
}

static int set_help(struct conf *c, const char *argument, char *error, size_t cap)
{
	if (argument && strcmp(argument, "man") != 0) {
		snprintf(error, cap, "'%s' is not 'man'", argument);
		return -EINVAL;
	}
	c->help = true;
	c->help_man = argument != NULL;
	return 0;
}

static const char *const mem_modes[] = {"auto", "process_vm", "proc_mem", NULL};
/* In the order of enum uhca_abi_adopt. */
static const char *const adopt_modes[] = {"off", "safe", "all", NULL};
static const char *const on_off[] = {"off", "on", NULL};
static const char *const icrc_modes[] = {"strict", "lenient", "off", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

#define FIELD_(f) .offset = offsetof(struct conf, f), .size = sizeof(((struct conf *)0)->f)

const struct conf_option conf_schema[] = {
	{"dir", "DIR", CONF_TEXT, FIELD_(io.dir), .max = PATH_MAX - 1,
	 .help = "Runtime directory of this instance, made with mode 0700 when it is missing. "
		 "Clients find the daemon by it. Default: the instance \"default\" of this user, "
		 "$XDG_RUNTIME_DIR/uhca/default, or /tmp/uhca-UID/default without "
		 "XDG_RUNTIME_DIR."},
	{"devices", "N", CONF_NUMBER, FIELD_(io.devices), .min = 1, .max = IO_MAX_DEVICES,
	 .help = "Number of devices, uhca0 to uhca(N-1). Default: 1, or as many as --addr is "
		 "given."},
	{"addr", "IP[,IP...]", CONF_SET, .set = set_addresses,
	 .help = "Addresses of one device, IPv4 or IPv6; they become its GIDs in this order. The "
		 "first --addr is for uhca0, the second for uhca1, and so on. Default of the i-th "
		 "device: 127.0.0.(1+i); uhca0 has ::1 as well."},
	{"netdev", "IF", CONF_TEXT, FIELD_(io.netdev), .max = IF_NAMESIZE - 1,
	 .help = "Gives uhca0 the addresses of this network interface, unless --addr names them."},
	{"wire", NULL, CONF_FLAG, FIELD_(io.wire), .min = IO_WIRE_ALWAYS,
	 .help = "Sends everything by UDP, also between devices of this daemon. Default: those "
		 "reach each other without it."},
	{"no-wire", NULL, CONF_FLAG, FIELD_(io.wire), .min = IO_WIRE_NEVER,
	 .help = "Opens no UDP sockets: only devices of this daemon reach each other."},
	{"linger", "SECONDS", CONF_NUMBER, FIELD_(io.linger), .min = 0, .max = 86400,
	 .help = "Exits when nobody, neither a client nor uhcactl, has been connected for so long, "
		 "counted from the start too. Default: 0, never."},
	{"ready-fd", "N", CONF_NUMBER, FIELD_(io.ready_fd), .min = 0, .max = INT_MAX,
	 .help = "Writes the line \"ready\" to this descriptor and closes it when clients can "
		 "connect. When the start fails it is closed with nothing written."},
	{"on-error", "FILE", CONF_SET, .set = set_on_error,
	 .help = "Writes what the flight recorder has to this file when something fails by itself: "
		 "a completion with an error other than a flush, or a queue pair that goes to ERR "
		 "though its program did not ask for that. Later failures go to FILE.2 to FILE.8, "
		 "at most one each second. A file that is there is overwritten if it is the "
		 "daemon's user's and has no other name; a symbolic link is not followed."},
	{"log-level", "LEVEL", CONF_CHOICE, FIELD_(log_level), .choices = log_levels,
	 .help = "The least important lines that are kept: error, warn, info or debug. "
		 "Default: info."},
	{"log-file", "FILE", CONF_SET, .set = set_log_file,
	 .help = "Appends the log to this file, which is no symbolic link. Default: the file "
		 "\"log\" in the runtime directory."},
	{"syslog", NULL, CONF_FLAG, FIELD_(log_target), .min = IO_LOG_SYSLOG,
	 .help = "Sends the log to syslog."},
	{"stderr", NULL, CONF_FLAG, FIELD_(log_target), .min = IO_LOG_STDERR,
	 .help = "Sends the log to standard error."},
	{"mem", "HOW", CONF_CHOICE, FIELD_(io.mem), .choices = mem_modes,
	 .help = "How the memory of clients is reached: process_vm (process_vm_readv and _writev), "
		 "proc_mem (the descriptor of /proc/self/mem that each client passes), or auto, "
		 "the better one for each piece. Default: auto."},
	{"adopt", "WHAT", CONF_CHOICE, FIELD_(io.adopt), .choices = adopt_modes,
	 .help = "Which registered memory becomes the device's, as pinned pages are: off, none but "
		 "what the program shares itself (uhca-run --share-heap); safe, large private "
		 "memory where replacing its pages cannot be noticed; all, "
		 "also where a thread of the program that makes a system call with it meanwhile "
		 "may see EFAULT. Default: safe."},
	{"gso", "on|off", CONF_CHOICE, FIELD_(io.gso), .choices = on_off,
	 .help = "UDP segmentation and receive offload, which move many packets by one call. "
		 "Default: on where the kernel has it."},
	{"icrc", "HOW", CONF_CHOICE, FIELD_(io.icrc), .choices = icrc_modes,
	 .help = "Which received packets have a right ICRC over IPv4, whose identification field "
		 "a socket does not show: strict takes those that this program would send, "
		 "lenient the same from devices of this daemon, and from others those that have a "
		 "right ICRC with any identification, off all. "
		 "Default: lenient."},
	{"profile", "NAME", CONF_SET, .set = set_profile,
	 .help = "What the devices are: default, all that is there; ib-strict, nothing that the "
		 "specification leaves optional; iwarp-like, without UC, UD, XRC, atomics, "
		 "multicast, masked atomics and RDMA WRITE with immediate data, where a READ fills "
		 "one element that its peer may write; minimal, the smallest device; 2a, "
		 "memory windows of type 2A instead of 2B; large, 65536 queue pairs and a million "
		 "memory regions; cx5, cx7, e810, bnxt, efa, rxe, siw, mana, what is published of "
		 "these adapters: what they lack, and their numbers. What a profile takes away is "
		 "refused and not reported."},
	{"early-local-inv", NULL, CONF_FLAG, FIELD_(io.early_local_inv), .min = 1,
	 .help = "Executes LOCAL_INV without fence as early as its loose ordering allows: as soon "
		 "as the device sees it in the queue, before requests that were posted before it. "
		 "For tests: a program that needs the order and does not set IBV_SEND_FENCE fails "
		 "with it. Default: in the order of the queue."},
	{"strict-arming", NULL, CONF_FLAG, FIELD_(io.strict_arming), .min = 1,
	 .help = "Only completions that come after a completion queue was armed raise its event, "
		 "as the specification has it. For tests: a program that does not poll again after "
		 "it has armed may wait for ever with it. Default: arming raises the event at once "
		 "when a completion was not polled that no event has announced; the profile "
		 "ib-strict is strict."},
	{"strict-order", NULL, CONF_FLAG, FIELD_(io.strict_order), .min = 1,
	 .help = "Nothing is held back: that with which librdmacm's rsockets hear that a socket "
		 "was "
		 "shut down is there as soon as it has arrived, in front of data that the program "
		 "has not read, and so is RDMA_CM_EVENT_DISCONNECTED. Default: they wait for the "
		 "reader, for a moment; the profile ib-strict is strict."},
	{"late-bytes", "US", CONF_NUMBER, FIELD_(io.late_bytes), .min = 0, .max = 1000000,
	 .help = "Stores the bytes of what arrives in any order, some of them up to so many "
		 "microseconds late, though before a completion and before the device reads. "
		 "For tests: a program that looks at its memory before the completion sees what "
		 "it should not, as with hardware. Default: 0, in their order and at once."},
	{"late-writes", "US", CONF_NUMBER, FIELD_(io.late_writes), .min = 0, .max = 1000000,
	 .help = "As --late-bytes, and what an RDMA WRITE brings may be late also when its "
		 "requester has the completion, until the target has one of its own, or is read "
		 "by the device. Default: 0."},
	{"any-srq-order", NULL, CONF_FLAG, FIELD_(io.any_srq_order), .min = 1,
	 .help = "Takes the requests of a shared receive queue in any order, among the eight that "
		 "were posted first. Default: in the order of posting."},
	{"lazy-acks", "US", CONF_NUMBER, FIELD_(io.lazy_acks), .min = 0, .max = 100000,
	 .help = "Acknowledgements wait so many microseconds for others with which they can be "
		 "one, or for a request. Default: 0, they leave when the daemon has nothing else "
		 "to do."},
	{"strict-memory", NULL, CONF_FLAG, FIELD_(io.strict_memory), .min = 1,
	 .help = "Payload that is not inline is read when its request is executed, never when it "
		 "is "
		 "posted, and stored when it comes, never when its completion is polled. For "
		 "tests: a program that changes a buffer before the request that names "
		 "it has completed sends what it should not, as with hardware. Default: up to 4096 "
		 "bytes are read by the call that posts them, and stored by the one that polls "
		 "them; "
		 "the profile ib-strict is strict."},
	{"limit", "NAME=N", CONF_SET, .set = set_limit,
	 .help = "Sets a limit of the devices, after the profile: max_qp, max_qp_wr, max_sge, "
		 "max_cq, max_cqe, max_mr, max_pd, max_ah, max_srq, max_srq_wr, max_srq_sge, "
		 "max_rd_atomic, max_inline_data, max_mr_size, max_mw, max_xrcd, max_dm_size, "
		 "max_mcast_grp, max_mcast_qp_attach, max_flow, max_wq, max_rwq_ind_table, "
		 "max_list_entries (of a registration by work request), max_low_latency_wr (send "
		 "requests of a low-latency queue pair), max_shared_size (bytes that all programs "
		 "share), client_memory (bytes of the daemon's own that a program's regions and "
		 "described keys take; more fail with ENOMEM). May be given again for others."},
	{"trust-parents", NULL, CONF_FLAG, FIELD_(io.trust_parents), .min = 1,
	 .help = "Does not ask who else may rename the runtime directory or one above it. For a "
		 "folder that nobody but the containers of one pod has, such as an emptyDir of "
		 "Kubernetes, to which all may write. Default: the daemon does not start where "
		 "others can put another directory in the place of its own."},
	{"no-sandbox", NULL, CONF_FLAG, FIELD_(io.no_sandbox), .min = 1,
	 .help = "Keeps all system calls and capabilities. For debugging. Default: when clients "
		 "can "
		 "connect the daemon has laid down what it does not need to serve them, see THE "
		 "SANDBOX; under valgrind, built with sanitizers or for coverage, and where the "
		 "kernel refuses it, it does not, and the log says why."},
	{"fault", "RULE", CONF_SET, .set = set_fault,
	 .help = "A fault rule that is in force from the start, see uhca-fault(7). May be given "
		 "again for others. With a rule that is wrong the daemon does not start."},
	{"fault-file", "FILE", CONF_SET, .set = set_fault_file,
	 .help = "A file of fault rules, one on each line; empty lines and those that begin with "
		 "# are skipped. May be given again."},
	{"fault-seed", "N", CONF_SET, .set = set_fault_seed,
	 .help = "Where the random choices of fault rules begin: the same seed, the same choices. "
		 "Default: another one each time, which the log tells and uhcactl fault list "
		 "shows."},
	{"chaos", "SEED,NAME,...", CONF_SET, .optional = true, .set = conf_set_chaos,
	 .help = "Takes liberties that the specification allows and adapters hardly ever take: "
		 "late and bunched completions, extra events, garbage in failed completions, lost "
		 "packets, and more. SEED chooses which, and how far they go; the log tells it. "
		 "NAME takes only these liberties, +NAME these as well, -NAME not these; see "
		 "uhca-run(1). Default of SEED: another one each time."},
	{"version", NULL, CONF_FLAG, FIELD_(version), .min = 1, .help = "Prints the version."},
	{"help", "man", CONF_SET, .optional = true, .set = set_help,
	 .help = "Prints this text; with =man, in the form of the manual page."},
};
const size_t conf_schema_count = sizeof(conf_schema) / sizeof(conf_schema[0]);
