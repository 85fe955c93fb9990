/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP of the page's server (server.h). */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "server.h"

/* Takes over the listening socket. NULL: it did not begin. */
struct MHD_Daemon *http_begin(struct server *s, int listening);

#endif
