/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of one instance (--own-network): a network namespace with the loopback interface and
 * no other daemon. An ordinary user creates it within a user namespace (namespaces(7)) and keeps
 * the user ID there. Where the system does not allow that, the instance uses the existing network.
 */
#ifndef RUN_NETWORK_H
#define RUN_NETWORK_H

/*
 * Moves this process, and all that it starts from now on, to such a network. 0, or -errno with the
 * reason and the remedy printed: nothing has changed then. To be called by one thread alone.
 */
int run_network_own(void);

#endif
