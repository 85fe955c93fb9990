/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that wait for each other ("hang" of emu/abi/sanitize.h). Each of them says again and
 * again that it goes on by its peers alone; the daemon says who these are. Where all of them say so
 * the circle is closed, and one finding tells of all.
 *
 * A process has said so for a while when it says so first, so that one that was heard a shorter
 * while ago cannot have gone on by the word of another in the circle.
 */
#ifndef HANG_H
#define HANG_H

#include "emu/abi/sanitize.h"

#include <jansson.h>
#include <sys/types.h>

enum hang_answer {
	HANG_WAIT,   /* somebody may still go on, or has not told its part */
	HANG_CLOSED, /* nobody can */
	HANG_TELL,   /* the finding is to be told */
	HANG_TOLD,   /* it was, by another of the circle */
	HANG_NOTE,   /* as HANG_WAIT; the finding is a note about a peer that waits elsewhere */
};

/*
 * A process has said a line; ms is what its silence may last. With HANG_TELL and HANG_NOTE *finding
 * is the line of all, which the caller drops.
 */
enum hang_answer hang_hear(pid_t pid, json_t *line, unsigned ms, json_t **finding);

#endif
