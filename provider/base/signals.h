/* SPDX-License-Identifier: BSD-2-Clause */
/* For handlers of signals: what was interrupted, and who had the signal before. */
#ifndef UHCAV_SIGNALS_H
#define UHCAV_SIGNALS_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

/* The interrupted instruction, of a handler's third argument; 0 on a machine not known here. */
static inline uintptr_t uhcav_signal_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

/* Calls another handler as the system would have called it. It may not come back: hold nothing. */
static inline void uhcav_signal_pass(const struct sigaction *to, int sig, siginfo_t *info,
				     void *context)
{
	sigset_t mask = ((const ucontext_t *)context)->uc_sigmask;

	for (int i = 1; i < NSIG; i++)
		if (sigismember(&to->sa_mask, i) == 1)
			sigaddset(&mask, i);
	if (!(to->sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(sig, info, context);
	else
		to->sa_handler(sig);
}

#endif
