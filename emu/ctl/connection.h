/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conversation with the daemon (ctl.h): one request, one reply.
 */
#ifndef CTL_CONNECTION_H
#define CTL_CONNECTION_H

#include <jansson.h>

/*
 * Sends the request (taken over) to the daemon of the instance directory and waits for the
 * reply. Returns 0 and the result, which the caller drops; or an exit status, the reason
 * printed to standard error.
 */
int ctl_request(const char *dir, json_t *request, json_t **result);

#endif
