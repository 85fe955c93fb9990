/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets by which a program's processes talk beside verbs: which socket of this machine is the
 * other end. A thread that reads one waits for whoever holds that end.
 */
#ifndef UHCAV_HANG_SOCKETS_H
#define UHCAV_HANG_SOCKETS_H

#include <stdint.h>

/*
 * The inode of the other end of a connected stream socket; 0: it is no such socket, its other end
 * is not on this machine or not in this network namespace, or its calls have a limit of time.
 */
uint64_t uhcav_hang_socket_peer(int fd);

#endif
