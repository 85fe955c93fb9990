/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command for which system calls fail with EPERM, as in a container whose seccomp profile
 * does not name them: refuse CALL... -- COMMAND. Needs no privilege (seccomp(2)). Exit status 77
 * when the kernel has no filters.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX 16

static const struct {
	const char *name;
	unsigned number;
} known[] = {
	{"memfd_create", SYS_memfd_create},
	{"perf_event_open", SYS_perf_event_open},
	{"process_vm_readv", SYS_process_vm_readv},
	{"process_vm_writev", SYS_process_vm_writev},
	{"pwrite64", SYS_pwrite64},
	{"seccomp", SYS_seccomp},
	{"userfaultfd", SYS_userfaultfd},
};

static struct sock_filter filter[2 * CALLS_MAX + 2];
static unsigned short n;

static void add(unsigned short code, unsigned char otherwise, unsigned k)
{
	filter[n++] = (struct sock_filter){code, 0, otherwise, k};
}

/* The calls of one machine only are known by number; those of another, of 32 bits, pass. */
static int add_call(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		add(BPF_JMP | BPF_JEQ | BPF_K, 1, known[i].number);
		add(BPF_RET | BPF_K, 0, SECCOMP_RET_ERRNO | EPERM);
		return 0;
	}
	fprintf(stderr, "refuse: no call '%s' here\n", name);
	return -1;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = {.filter = filter};
	int i = 1;

	add(BPF_LD | BPF_W | BPF_ABS, 0, offsetof(struct seccomp_data, nr));
	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (i > CALLS_MAX || add_call(argv[i]) < 0)
			return 2;
	}
	if (i + 1 >= argc)
		return 2;
	add(BPF_RET | BPF_K, 0, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("refuse");
		return 77;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
