/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conversation with the daemon (ctl.h): one request, one reply.
 */
#ifndef CTL_CONNECTION_H
#define CTL_CONNECTION_H

#include <jansson.h>

#define CTL_FAILURE_MAX 1024

/* Why there is no result. */
struct ctl_failure {
	int status; /* CTL_EXIT_FAILED, CTL_EXIT_NO_PEER (options.h) */
	char text[CTL_FAILURE_MAX];
	unsigned line, column; /* where in a text that was sent, from 1; 0: nowhere */
};

/*
 * Sends the request (taken over) to the daemon of the instance directory and waits for the
 * reply. Returns 0 and the result, which the caller drops; or f->status, the reason in f.
 */
int ctl_exchange(const char *dir, json_t *request, json_t **result, struct ctl_failure *f);

/* The same, with the reason printed to standard error. */
int ctl_request(const char *dir, json_t *request, json_t **result);

#endif
