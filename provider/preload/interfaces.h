/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses of emulated devices that no network interface but "lo" carries, as getifaddrs(3)
 * lists addresses. libfabric's verbs provider finds devices by the addresses of the interfaces,
 * and passes over "lo".
 */
#ifndef UHCA_PRELOAD_INTERFACES_H
#define UHCA_PRELOAD_INTERFACES_H

#include <ifaddrs.h>

/*
 * Puts an entry before rest for each IPv4 and each IPv6 address that a device of the instance in
 * root has on "lo": named as the device is, up, and no loopback. Not running: so libfabric's
 * providers of TCP and UDP leave it out, and that of verbs does not ask. Returns the new list, for
 * uhca_interfaces_free; where memory ends, entries are missing.
 */
struct ifaddrs *uhca_interfaces_add(const char *root, struct ifaddrs *rest);

/* Frees the entries of ours at the head of a list, and returns what follows them. */
struct ifaddrs *uhca_interfaces_free(struct ifaddrs *list);

#endif
