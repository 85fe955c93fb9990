/* SPDX-License-Identifier: BSD-2-Clause */
/* What hoarder.c and hoarder_cm.c share: kinds of objects that one client makes by the thousand. */
#ifndef HOARDER_H
#define HOARDER_H

#include "tests/verbs/rogues/rig.h"

struct hoard {
	const char *name;         /* as docs/explanation/security.md and the row have it */
	unsigned most;            /* what is tried; the device may refuse before */
	unsigned least;           /* fewer than this is a failure of the test */
	bool (*make)(unsigned i); /* one more; false: refused, which ends the making */
	void (*finish)(void);     /* what is done with all of them before the end; NULL: nothing */
};

extern struct rig rig;
extern unsigned made; /* so far */

extern const struct hoard hoard_verbs[], hoard_cm[], hoard_traffic[]; /* up to a NULL name */

/* uhcactl of $UHCA_BUILDDIR with these words, up to NULL; what it prints is thrown away. */
void hoarder_uhcactl(const char *first, ...) __attribute__((sentinel));

#endif
