/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of another thread, taken by a signal. See where.h. */
#include "where.h"

#include "provider/base/base.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define WAIT_MS 200

static int signal_number; /* 0: none was chosen */

static struct {
	pid_t tid; /* who is asked; 0: nobody */
	uint32_t n, answered;
	uintptr_t pc[UHCAV_STACK_DEPTH];
} question;

static void answer(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)number;
	(void)info;
	if (__atomic_load_n(&question.tid, __ATOMIC_ACQUIRE) == (pid_t)syscall(SYS_gettid)) {
		question.n = uhcav_stack_interrupted(uhcav_signal_pc(context), question.pc);
		__atomic_store_n(&question.tid, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&question.answered, 1, __ATOMIC_RELEASE);
	}
	errno = saved;
}

/* One that the program has not taken. It stays ours: an answer may come late. */
static bool choose_signal(void)
{
	struct sigaction mine = {.sa_sigaction = answer,
				 .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK},
			 now;

	for (int s = SIGRTMAX - 1; s > SIGRTMIN && !signal_number; s--)
		if (!sigaction(s, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
		    now.sa_handler == SIG_DFL && !sigaction(s, &mine, NULL))
			signal_number = s;
	return signal_number;
}

/* The program may have taken it since. */
static bool is_ours(void)
{
	struct sigaction now;

	return !sigaction(signal_number, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == answer;
}

static bool blocks(pid_t tid)
{
	char path[64], line[256];
	unsigned long long mask = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask >> (signal_number - 1) & 1;
}

const struct uhcav_stack *uhcav_hang_where(pid_t tid)
{
	const struct timespec moment = {.tv_nsec = 100000};

	if ((!signal_number && !choose_signal()) || !is_ours() || blocks(tid))
		return NULL;
	question.n = 0;
	__atomic_store_n(&question.answered, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&question.tid, tid, __ATOMIC_RELEASE);
	if (syscall(SYS_tgkill, getpid(), tid, signal_number))
		return NULL;
	for (int i = 0; i < 10 * WAIT_MS; i++) {
		if (__atomic_load_n(&question.answered, __ATOMIC_ACQUIRE))
			return uhcav_stack_keep(question.pc, question.n);
		nanosleep(&moment, NULL);
	}
	__atomic_store_n(&question.tid, 0, __ATOMIC_RELEASE);
	return NULL;
}
