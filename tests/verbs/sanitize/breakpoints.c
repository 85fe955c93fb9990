/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exit status 0: a data breakpoint stops a process on this machine. 1: it does not, although the
 * debug registers took it. By ptrace(2), so that it is held against what the provider finds out by
 * perf_event_open(2).
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define BROKEN 2

#ifdef __x86_64__

static volatile uint32_t word;

static void child(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	word = 1;
	_exit(0);
}

static long set(pid_t pid, size_t number, unsigned long value)
{
	return ptrace(PTRACE_POKEUSER, pid,
		      offsetof(struct user, u_debugreg) + number * sizeof(long), value);
}

int main(void)
{
	/* Register 0, at reads and writes of 4 bytes (AMD64 manual 2, 13.1.1.4). */
	const unsigned long control = 1 | 3ul << 16 | 3ul << 18;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    set(pid, 0, (unsigned long)(uintptr_t)&word) || set(pid, 7, control) ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid) {
		perror("ptrace");
		return BROKEN;
	}
	if (WIFEXITED(status))
		return 1;
	kill(pid, SIGKILL);
	return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP ? 0 : BROKEN;
}

#else

int main(void)
{
	return 1;
}

#endif
