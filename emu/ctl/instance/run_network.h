/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network of an instance's own: a network namespace in which there is the loopback interface and
 * nobody else's daemon. An ordinary user may make one within a user namespace (namespaces(7)), in
 * which he stays who he is; where that is not allowed the instance has the network that is there.
 */
#ifndef RUN_NETWORK_H
#define RUN_NETWORK_H

/*
 * Moves this process, and all that it starts from now on, to such a network. 0, or -errno with the
 * reason and the remedy printed: nothing has changed then. To be called by one thread alone.
 */
int run_network_own(void);

#endif
