/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client may do beyond what everybody may. Raw packet queue pairs need CAP_NET_RAW, as
 * they do with a kernel driver, although the frames stay inside this daemon: programs that probe
 * for the right find what they find elsewhere.
 *
 * The right is shown by a raw socket, which the kernel opens for nobody without it. What /proc says
 * of the process that has connected is no proof: by the time that it is asked for, the process may
 * be ping(8), and its child holds the connection.
 */
#ifndef IO_PRIVILEGE_H
#define IO_PRIVILEGE_H

#include <stdbool.h>

/*
 * Is this a raw or packet socket, of this process's network namespace? In one of their own users
 * without rights open such sockets, too. (Before Linux 5.14 nobody can tell of a socket.)
 */
bool io_privilege_net_raw(int fd);

#endif
