/* SPDX-License-Identifier: BSD-2-Clause */
/* Serves sysfs paths of the devices from the daemon's files. */
#include "tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICES "sys/class/infiniband"

bool uhca_tree_word(const char *root, const char *device, const char *file,
		    char text[UHCA_TREE_WORD])
{
	char path[PATH_MAX];
	bool found;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, device, file);
	f = fopen(path, "re");
	found = f && fscanf(f, "%63s", text) == 1;
	if (f)
		fclose(f);
	return found;
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

unsigned uhca_tree_list(const char *root, const char *device, const char *directory,
			struct dirent ***names)
{
	char path[PATH_MAX];
	int n;

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, device ? device : "", directory);
	n = scandir(path, names, is_visible, versionsort);
	return n < 0 ? 0 : (unsigned)n;
}

void uhca_tree_free(struct dirent **names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(names[i]);
	if (n > 0)
		free(names);
}
