/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which paths belong to the emulated device: those below /sys/class/infiniband,
 * /sys/class/infiniband_verbs, /sys/class/misc/rdma_cm and /dev/infiniband are looked for in the
 * daemon's directory instead (which has sys/ and dev/ in it), and so are those of a described
 * machine (uhcad --machine).
 */
#ifndef UHCA_PRELOAD_PATH_MAP_H
#define UHCA_PRELOAD_PATH_MAP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where "path" is to be looked for: path itself, or its replacement below root, put into buf.
 * NULL as path, NULL or an empty root, relative paths and those that would not fit map to
 * themselves. Repeated slashes are one. No allocation, no errno.
 */
const char *uhca_path_map(const char *root, const char *path, char *buf, size_t size);

/*
 * Is the path, or what it lies below, one of a described machine: PCI, network interfaces, NUMA
 * nodes? "path" begins with "/sys/", "to" is the same below the daemon's directory. In folders that
 * the host has, too, the daemon put links to the host's entries, by names that begin with a slash.
 * False where no machine is described. In machine_paths.c.
 */
bool uhca_machine_paths_has(const char *path, const char *to);

#endif
