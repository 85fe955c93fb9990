/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Becomes libasks-fi.so, named as a provider of libfabric that is a library of its own: it is
 * shown what libfabric is shown.
 */
#include <ifaddrs.h>

__attribute__((visibility("default"))) int asks_getifaddrs(struct ifaddrs **list);

int asks_getifaddrs(struct ifaddrs **list)
{
	/* Not a tail call: the caller must be found here. */
	volatile int error = getifaddrs(list);

	return error;
}
