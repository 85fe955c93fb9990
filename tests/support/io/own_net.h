/* SPDX-License-Identifier: BSD-2-Clause */
/* A network namespace for one test program. */
#ifndef TESTS_SUPPORT_OWN_NET_H
#define TESTS_SUPPORT_OWN_NET_H

#include <stdbool.h>

/*
 * Moves the program, which has one thread, into a network namespace of its own and sets its
 * loopback interface up: UDP port 4791 of 127.0.0.1 and ::1 is free there. False, with errno, where
 * the system makes no namespace (network_namespaces(7), user_namespaces(7)); the program is where
 * it was.
 */
bool own_net_enter(void);

#endif
