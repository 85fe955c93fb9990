/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of sysfs where a described machine (uhcad --machine) stands beside what the host has: PCI,
 * network interfaces, NUMA nodes. In folders that both have the daemon put links to the host's
 * entries, by names that begin with a slash.
 */
#ifndef UHCA_PRELOAD_DESCRIBED_H
#define UHCA_PRELOAD_DESCRIBED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is the path, or what it lies below, an entry of the described machine? "path" begins with
 * "/sys/", "to" is the same below the daemon's directory. False where none is described.
 */
bool uhca_described_has(const char *path, const char *to);

#endif
