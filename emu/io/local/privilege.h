/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client may do beyond what everybody may. Raw packet queue pairs need CAP_NET_RAW, as
 * they do with a kernel driver, although the frames stay inside this daemon: programs that probe
 * for the right find what they find elsewhere.
 */
#ifndef IO_PRIVILEGE_H
#define IO_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

/* True when the process has CAP_NET_RAW in its effective set; false when it cannot be known. */
bool io_privilege_net_raw(pid_t pid);

#endif
