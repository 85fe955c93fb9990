/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How uhcactl ends.
 */
#ifndef CTL_EXIT_STATUS_H
#define CTL_EXIT_STATUS_H

/* Exit status beside 0. */
enum {
	CTL_EXIT_FAILED = 1,  /* the daemon refused, or output could not be written */
	CTL_EXIT_USAGE = 2,   /* the command line is wrong */
	CTL_EXIT_NO_PEER = 3, /* no daemon answers there */
};

#endif
