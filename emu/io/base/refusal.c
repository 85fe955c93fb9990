/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the reason of a refused call for the log and the reply. */
#include "refusal.h"

#include "emu/abi/errno_name.h"
#include "log.h"
#include "words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char said[UHCA_ABI_REASON];

int io_refusal_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
	return 0;
}

void io_refusal_forget(void)
{
	said[0] = '\0';
}

/* What nobody gave a reason for, by its errno value. */
static const char *usual_reason(int error)
{
	switch (-error) {
	case ENOMEM:
		return "the daemon is out of memory";
	case EMFILE:
	case ENFILE:
		return "the daemon has no free file descriptor; raise the limit (ulimit -n)";
	case EINVAL:
	case EOPNOTSUPP:
		return "malformed message: library and daemon are of different releases";
	}
	return strerror(-error);
}

static const char *reason_of(const struct io_refusal *r)
{
	if (said[0])
		return said;
	return r->reason[0] ? r->reason : usual_reason(r->error);
}

size_t io_refusal_format(const struct io_refusal *r, char why[UHCA_ABI_REFUSAL])
{
	const char *name = uhca_errno_name(-r->error);
	const char *reason = reason_of(r);
	char program[33];
	int n = snprintf(why, UHCA_ABI_REFUSAL, "%s: %s", r->verb, reason);

	io_words_copy(program, sizeof(program), *r->program ? r->program : "?", 32);
	io_log(r->quiet ? IO_LOG_DEBUG : IO_LOG_INFO, "%s (process %d): %s%s%s fails, %s: %s",
	       program, r->pid, r->verb, *r->object ? " of " : "", r->object, name ? name : "?",
	       reason);
	said[0] = '\0';
	return n < UHCA_ABI_REFUSAL ? (size_t)n + 1 : UHCA_ABI_REFUSAL;
}
