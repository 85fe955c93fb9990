/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run doctor: what of this machine helps a device in user space, or hinders it, with a remedy.
 * Each check tries the thing itself where that can be done without leaving anything behind, and
 * reads a setting only where that tells more. None needs a daemon.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

/* The programs that uhca-run would use; the strings are the caller's. */
struct doctor_places {
	const char *daemon;  /* uhcad */
	const char *preload; /* libuhca_preload.so */
};

/*
 * Prints a line for each check to standard output, remedies below those that need one, and a
 * closing line. Returns an exit status: 0, or 1 where something keeps uhca from working.
 */
int doctor_run(const struct doctor_places *places);

#endif
