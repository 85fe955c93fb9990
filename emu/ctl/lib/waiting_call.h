/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls in which a thread waits, by their names: what uhca-run shows of a command that takes
 * too long, and what the sanitizer shows of a program that does not go on (proc(5): syscall).
 */
#ifndef WAITING_CALL_H
#define WAITING_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>

#define WAITING_RUNS "is running: it computes or polls"

struct waiting_call {
	long number;
	const char *name;
	bool on_descriptor; /* the first argument is one */
};

/* NULL: it is none of these. */
static inline const struct waiting_call *waiting_call(long number)
{
	static const struct waiting_call calls[] = {
		{SYS_read, "read", true},
		{SYS_write, "write", true},
		{SYS_recvfrom, "recvfrom", true},
		{SYS_recvmsg, "recvmsg", true},
		{SYS_sendmsg, "sendmsg", true},
		{SYS_accept, "accept", true},
		{SYS_accept4, "accept4", true},
		{SYS_connect, "connect", true},
		{SYS_flock, "flock", true},
		{SYS_fcntl, "fcntl", true},
		{SYS_ioctl, "ioctl", true},
#ifdef SYS_poll
		{SYS_poll, "poll", false},
		{SYS_select, "select", false},
		{SYS_epoll_wait, "epoll_wait", true},
		{SYS_pause, "pause", false},
#endif
		{SYS_ppoll, "ppoll", false},
		{SYS_pselect6, "pselect6", false},
		{SYS_epoll_pwait, "epoll_pwait", true},
		{SYS_futex, "futex: a lock, a condition variable or the end of a thread", false},
		{SYS_nanosleep, "nanosleep", false},
		{SYS_clock_nanosleep, "clock_nanosleep", false},
		{SYS_wait4, "wait4: the end of a child", false},
		{SYS_waitid, "waitid: the end of a child", false},
		{SYS_rt_sigtimedwait, "sigwait", false},
		{SYS_rt_sigsuspend, "sigsuspend", false},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* Of a thread that sleeps repeatedly, ns at a time; 0: an unknown time. */
static inline void waiting_naps(uint64_t ns, char *words, size_t room)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	for (; ns && ns % 1000 == 0 && unit < 3; unit++)
		ns /= 1000;
	if (ns)
		snprintf(words, room, WAITING_RUNS ", and sleeps for %llu %s at a time",
			 (unsigned long long)ns, units[unit]);
	else
		snprintf(words, room, WAITING_RUNS ", and sleeps between");
}

#endif
