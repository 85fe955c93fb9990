/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Word to the service manager that started this process (sd_notify(3) has the protocol: a datagram
 * to the socket that NOTIFY_SOCKET names). Not the library: one message needs none.
 */
#ifndef IO_NOTIFY_H
#define IO_NOTIFY_H

/*
 * Sends text, such as "READY=1". 0 when it was sent, or when nobody asked for it; -EINVAL when the
 * variable names no socket; the negative errno of socket(2) or sendto(2).
 */
int io_notify(const char *text);

#endif
