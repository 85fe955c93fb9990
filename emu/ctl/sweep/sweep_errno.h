/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which errno values a call is made to fail with: those that its manual page of rdma-core lists.
 * Most pages say "errno indicates the failure reason" and list none. Such a call has one value,
 * which stands for all of them.
 */
#ifndef SWEEP_ERRNO_H
#define SWEEP_ERRNO_H

#include <stdbool.h>
#include <stdio.h>

struct sweep_errno {
	const char *call;   /* as fault rules name it */
	const char *page;   /* the manual page */
	bool listed;        /* the page has these values */
	const char *values; /* with a blank between two */
};

extern const struct sweep_errno sweep_errnos[]; /* ends with a NULL call */

/* NULL: none. */
const struct sweep_errno *sweep_errno_of(const char *call);

void sweep_errno_print(FILE *out);

#endif
