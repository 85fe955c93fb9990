/* SPDX-License-Identifier: BSD-2-Clause */
/* The doctor's checks of programs, network, processors and limits. */
#include "machine.h"

#include "emu/ctl/instance/instance.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROCE_UDP_PORT 4791
#define STOCK_RMEM    212992 /* net.core.rmem_max where nobody has changed it */
#define FEW_FILES     1024

/* ---- programs ---- */

void machine_check_programs(const struct doctor_places *places, struct doctor_diagnostic *out)
{
	static const char remedy[] = "install uhca, or set UHCA_DAEMON and UHCA_PRELOAD";

	if (access(places->daemon, X_OK) < 0)
		doctor_diagnostic_set(out, DOCTOR_BAD, remedy, "%s: %s", places->daemon,
				      strerror(errno));
	else if (access(places->preload, R_OK) < 0)
		doctor_diagnostic_set(out, DOCTOR_BAD, remedy, "%s: %s", places->preload,
				      strerror(errno));
	else
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "%s", places->daemon);
}

/* Where instances are made. */
void machine_check_folder(struct doctor_diagnostic *out)
{
	const char *root = run_dir_root();
	char path[4096];

	snprintf(path, sizeof(path), "%s/uhca-doctor-XXXXXX", root);
	if (mkdtemp(path)) {
		rmdir(path);
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "%s is writable", root);
	} else {
		doctor_diagnostic_set(
			out, DOCTOR_BAD,
			"set XDG_RUNTIME_DIR or TMPDIR to a writable directory such as /dev/shm",
			"cannot create an instance in %s: %s", root, strerror(errno));
	}
}

void machine_check_proc(struct doctor_diagnostic *out)
{
	if (access("/proc/self/mem", R_OK | W_OK) == 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "proc(5) is mounted");
	else
		doctor_diagnostic_set(
			out, DOCTOR_BAD,
			"as root: mount -t proc proc /proc; in a container: do not mask /proc",
			"/proc/self/mem: %s: the device cannot access program memory and "
			"refuses programs",
			strerror(errno));
}

void machine_check_libibverbs(struct doctor_diagnostic *out)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (library)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "libibverbs.so.1 is installed");
	else
		doctor_diagnostic_set(out, DOCTOR_BAD, "on Debian: apt install ibverbs-utils",
				      "programs cannot use RDMA devices: %s", dlerror());
	if (library)
		dlclose(library);
}

void machine_check_seccomp(struct doctor_diagnostic *out)
{
	if (doctor_read_field("/proc/self/status", "Seccomp") == 2)
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, NULL,
			"system calls are filtered, as in containers; see the lines about memory");
	else
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "no filter");
}

void machine_judge_sandbox(int error, struct doctor_diagnostic *out)
{
	if (error)
		doctor_diagnostic_set(
			out, DOCTOR_NOTE,
			"in a container: a seccomp profile that allows seccomp(2)",
			"seccomp(2): %s: the daemon works, but its sandbox cannot drop system "
			"calls",
			strerror(error));
	else
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL,
				      "the daemon's sandbox can drop system calls");
}

void machine_check_sandbox(struct doctor_diagnostic *out)
{
	const uint32_t action = SECCOMP_RET_TRAP;
	long result = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);

	machine_judge_sandbox(result < 0 ? errno : 0, out);
}

/*
 * Counts an access to a word by a data breakpoint. 0, errno of perf_event_open(2), or EOPNOTSUPP:
 * it was accepted and has not seen the access, as under hypervisors without debug registers.
 */
static int try_breakpoint(void)
{
	static volatile uint32_t word;
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_RW,
				       .bp_addr = (uintptr_t)&word,
				       .bp_len = HW_BREAKPOINT_LEN_4,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	uint64_t uses = 0;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	word = 1;
	if (read(fd, &uses, sizeof(uses)) != sizeof(uses))
		uses = 0;
	close(fd);
	return uses ? 0 : EOPNOTSUPP;
}

void machine_judge_breakpoints(int error, struct doctor_diagnostic *out)
{
	static const char remedy[] =
		"as root: sysctl kernel.perf_event_paranoid=2; in a container: a "
		"seccomp profile that allows perf_event_open(2)";
	static const char lacking[] = "the sanitizer's check wc-unset cannot see which fields of a "
				      "completion are read";

	if (!error)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "data breakpoints work");
	else if (error == EOPNOTSUPP)
		doctor_diagnostic_set(out, DOCTOR_NOTE, NULL,
				      "the processor or hypervisor reports no access: %s", lacking);
	else
		doctor_diagnostic_set(out, DOCTOR_NOTE, remedy, "perf_event_open(2): %s: %s",
				      strerror(error), lacking);
}

void machine_check_breakpoints(struct doctor_diagnostic *out)
{
	machine_judge_breakpoints(try_breakpoint(), out);
}

/* ---- network ---- */

static int try_port(uint32_t address)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(ROCE_UDP_PORT),
				 .sin_addr = {htonl(address)}};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

void machine_judge_port(int first, int elsewhere, struct doctor_diagnostic *out)
{
	if (first == 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "4791 is free at 127.0.0.1");
	else if (first == EADDRINUSE && elsewhere == 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL,
				      "4791 is in use at 127.0.0.1, most likely by a daemon; other "
				      "instances get other addresses");
	else if (first == EADDRINUSE)
		doctor_diagnostic_set(
			out, DOCTOR_BAD,
			"ss -ulnp shows the owner; for soft-RoCE: rmmod rdma_rxe; or use a "
			"private network: unshare -rn",
			"4791 is in use at all addresses");
	else
		doctor_diagnostic_set(out, DOCTOR_BAD, NULL,
				      "4791 cannot be opened at 127.0.0.1: %s", strerror(first));
}

void machine_check_port(struct doctor_diagnostic *out)
{
	/* uhca-run looks for addresses up to 127.0.199.250. */
	machine_judge_port(try_port(0x7f000001), try_port(0x7f00fefe), out);
}

void machine_check_loopback(struct doctor_diagnostic *out)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&at, length) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &length) == 0 &&
	    sendto(fd, "", 1, 0, (struct sockaddr *)&at, length) == 1)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "127.0.0.1 is reachable");
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "ip link set lo up",
			"127.0.0.1 is unreachable (%s): programs and daemons cannot connect there",
			strerror(errno));
	if (fd >= 0)
		close(fd);
}

void machine_check_segmentation(struct doctor_diagnostic *out)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = 1024;

	if (fd >= 0 && setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) == 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "UDP segmentation offload works");
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "Linux 4.18 or newer",
			"no UDP segmentation offload (%s): daemons send each packet with its "
			"own system call",
			strerror(errno));
	if (fd >= 0)
		close(fd);
}

void machine_check_buffers(struct doctor_diagnostic *out)
{
	long most = doctor_read_number("/proc/sys/net/core/rmem_max");

	if (most > STOCK_RMEM || most < 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "net.core.rmem_max is %ld", most);
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "as root: sysctl net.core.rmem_max=8388608",
			"net.core.rmem_max is %ld: many QPs sending long messages to another "
			"daemon can overrun it and retransmit",
			most);
}

/* ---- devices ---- */

void machine_judge_devices(const char *names, struct doctor_diagnostic *out)
{
	if (*names == '\0')
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "the kernel has none");
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, NULL,
			"the kernel has %s: programs under uhca-run see uhca's devices instead",
			names);
}

void machine_check_devices(struct doctor_diagnostic *out)
{
	/* Below an uhca-run that folder is an instance's. */
	DIR *folder = getenv("UHCA_DIR") ? NULL : opendir("/sys/class/infiniband");
	struct dirent *entry;
	char names[160] = "";
	size_t n = 0;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		if (n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? " " : "",
					      entry->d_name);
	}
	if (folder)
		closedir(folder);
	machine_judge_devices(names, out);
}

/* ---- limits ---- */

void machine_judge_descriptors(unsigned long long soft, unsigned long long hard,
			       struct doctor_diagnostic *out)
{
	if (soft >= FEW_FILES)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "a process may open %llu", soft);
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE,
			hard >= FEW_FILES ? "ulimit -n 1024" : "as root: ulimit -n 1024",
			"a process may open %llu: a completion channel needs two in the "
			"program, a device some in the daemon",
			soft);
}

void machine_check_descriptors(struct doctor_diagnostic *out)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	machine_judge_descriptors(limit.rlim_cur, limit.rlim_max, out);
}

void machine_judge_processors(int n, struct doctor_diagnostic *out)
{
	if (n >= 3)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "%d", n);
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, NULL,
			"%d: two programs and the daemon share it, so latencies are scheduling "
			"times",
			n);
}

void machine_check_processors(struct doctor_diagnostic *out)
{
	cpu_set_t set;

	machine_judge_processors(sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1,
				 out);
}
