/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the system for a message, of the thread that sends and receives it: functions of the C
 * library by which the sanitizer makes them are counted here. A message of less than a page takes
 * one for its post, one for its completion and one for its receive, and none of the dear ones.
 */
#include "tests/verbs/sanitize/pair.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MESSAGES 500u
#define EACH     3u

static __thread bool counts;
static unsigned short_calls, copies;

/* In the place of the C library's, for libraries too. */
#define SHOWN __attribute__((visibility("default")))

SHOWN long syscall(long number, ...)
{
	static long (*behind)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	short_calls += counts && number == SYS_rt_sigprocmask;
	if (!behind)
		*(void **)&behind = dlsym(RTLD_NEXT, "syscall");
	return behind(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

SHOWN ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n_here,
			       const struct iovec *there, unsigned long n_there,
			       unsigned long flags)
{
	copies += counts;
	return syscall(SYS_process_vm_readv, (long)pid, here, n_here, there, n_there, flags);
}

static void send_one(struct pair *p, uint32_t length)
{
	pair_recv(&p->b, 1, 4096, length);
	pair_post(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, length);
	pair_must(pair_wait(&p->a) == IBV_WC_SUCCESS && pair_wait(&p->b) == IBV_WC_SUCCESS,
		  "a message");
}

int main(void)
{
	struct pair p;

	pair_open(&p);
	send_one(&p, 8);
	counts = true;
	for (unsigned i = 0; i < MESSAGES; i++)
		send_one(&p, i % 2 ? 8 : 4096);
	counts = false;
	printf("%u messages: %u short calls, %u copies\n", MESSAGES, short_calls, copies);
	pair_close(&p);
	return copies || short_calls > EACH * MESSAGES;
}
