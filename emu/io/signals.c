/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See signals.h. libc keeps two signals for itself and takes no action for them; the daemon uses
 * nothing that needs them (pthread_cancel(3), setuid(2) with threads), and another process can send
 * them, which would end it.
 */
#include "signals.h"

#include "emu/io/base/base.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int ends[] = {SIGTERM, SIGINT, SIGQUIT, SIGXCPU};

static const int ignored[] = {SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM,   SIGVTALRM, SIGPROF,
			      SIGIO,   SIGPWR,  SIGXFSZ, SIGSTKFLT, SIGTTIN,   SIGTTOU};

#define N(list) (sizeof(list) / sizeof((list)[0]))
_Static_assert(N(ends) + 1 == IO_SIGNALS_HEARD, "those and SIGHUP");

/* The kernel's own form of it, where all but the handler is zero. */
static void ignore_of_libc(int signum)
{
	const struct {
		void (*handler)(int);
		unsigned long rest[4];
	} act = {.handler = SIG_IGN};

	syscall(SYS_rt_sigaction, signum, &act, NULL, sizeof(uint64_t));
}

void io_signals_ignore(void)
{
	for (size_t i = 0; i < N(ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (int s = __SIGRTMIN; s < SIGRTMIN; s++)
		ignore_of_libc(s);
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		signal(s, SIG_IGN);
}

static void on_end(struct ev_loop *loop, ev_signal *w, int revents)
{
	struct io_signals *s = w->data;

	(void)loop;
	(void)revents;
	s->end(s->user, w->signum);
}

static void on_hang_up(struct ev_loop *loop, ev_signal *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
	io_log_reopen();
	io_log(IO_LOG_INFO, "signal %d: log file reopened", w->signum);
}

void io_signals_open(struct io_signals *s)
{
	for (size_t i = 0; i < IO_SIGNALS_HEARD; i++) {
		ev_signal *w = &s->heard[i];

		if (i < N(ends))
			ev_signal_init(w, on_end, ends[i]);
		else
			ev_signal_init(w, on_hang_up, SIGHUP);
		w->data = s;
		ev_signal_start(s->loop, w);
	}
}

void io_signals_close(struct io_signals *s)
{
	for (size_t i = 0; s->loop && i < IO_SIGNALS_HEARD; i++)
		ev_signal_stop(s->loop, &s->heard[i]);
	s->loop = NULL;
}
