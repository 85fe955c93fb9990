/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See sandbox.h. What is beside the program in its process makes calls of its own, which change
 * with each version: sanitizers and coverage, that the program was built with (configure says so),
 * and valgrind, which is asked by the instructions that its header is for.
 */
#include "sandbox.h"

#include "calls.h"
#include "emu/io/base/base.h"
#include "refused.h"
#include "rights.h"

#include <stdio.h>
#include <string.h>
#ifdef UHCA_HAVE_VALGRIND_H
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#ifndef UHCA_INSTRUMENTED
#define UHCA_INSTRUMENTED NULL
#endif

static char state[160] = "off: not requested yet";

/* NULL: nothing. */
static const char *obstacle(bool wanted)
{
	if (!wanted)
		return "--no-sandbox";
	if (RUNNING_ON_VALGRIND)
		return "valgrind needs more system calls";
	return UHCA_INSTRUMENTED;
}

/* -errno of what is named in what. */
static int confine(struct ev_loop *loop, const char **what)
{
	int error;

	*what = "capabilities";
	error = io_rights_lay_down();
	if (error == 0) {
		*what = "SIGSYS";
		error = io_refused_watch(loop);
	}
	if (error < 0)
		return error;
	*what = "seccomp(2)";
	return io_calls_keep_few();
}

void io_sandbox_enter(struct ev_loop *loop, bool wanted)
{
	const char *what = obstacle(wanted);
	int error = 0;

	if (!what) {
		error = confine(loop, &what);
		if (error == 0) {
			snprintf(state, sizeof(state), "on");
			io_log(IO_LOG_INFO, "sandbox: on");
			return;
		}
		io_refused_end(loop);
	}
	snprintf(state, sizeof(state), "off: %s%s%s", what, error ? ": " : "",
		 error ? strerror(-error) : "");
	io_log(error ? IO_LOG_WARN : IO_LOG_INFO, "sandbox: %s", state);
}

void io_sandbox_leave(struct ev_loop *loop)
{
	io_refused_end(loop);
}

const char *io_sandbox_state(void)
{
	return state;
}
