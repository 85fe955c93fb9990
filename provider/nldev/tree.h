/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the daemon says of its devices in files, in the places of sysfs.
 */
#ifndef UHCA_NLDEV_TREE_H
#define UHCA_NLDEV_TREE_H

#include <dirent.h>
#include <stdbool.h>

#define UHCA_TREE_WORD 64

/*
 * The first word of a file of a device below root (/sys/class/infiniband/DEVICE/FILE), in text.
 * False: there is none.
 */
bool uhca_tree_word(const char *root, const char *device, const char *file,
		    char text[UHCA_TREE_WORD]);

/*
 * The names in that directory of a device, or of all devices (NULL, ""), in the order of their
 * numbers, as scandir(3) gives them; 0 when it cannot be read.
 */
unsigned uhca_tree_list(const char *root, const char *device, const char *directory,
			struct dirent ***names);
void uhca_tree_free(struct dirent **names, unsigned n);

#endif
