/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that wait for each other ("hang" of emu/abi/sanitize.h). Each process reports again and
 * again that only its peers can end its wait. The daemon names these peers. When all of them report
 * the same, the circle is closed, and one finding covers all.
 *
 * A process waits for hang_after before its first report. A report that is younger than that is
 * therefore still valid: no process of the circle can have woken it meanwhile.
 */
#ifndef HANG_H
#define HANG_H

#include "emu/abi/sanitize.h"

#include <jansson.h>
#include <sys/types.h>

enum hang_answer {
	HANG_WAIT,     /* a process may still go on, or has not reported */
	HANG_CLOSED,   /* none can go on */
	HANG_REPORT,   /* the finding is to be told */
	HANG_REPORTED, /* it was, by another of the circle */
	HANG_NOTE,     /* as HANG_WAIT; the finding is a note about a peer that waits elsewhere */
};

/*
 * A process has said a line; ms is what its silence may last. With HANG_REPORT, HANG_NOTE *finding
 * is the line of all, which the caller drops.
 */
enum hang_answer hang_hear(pid_t pid, json_t *line, unsigned ms, json_t **finding);

#endif
