/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See names.h. Whole names only: where adapters of the host are seen as well, they are not taken
 * from their own provider.
 */
#include "names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MOST 256
#define PATTERN    64

/* No other provider's devices have names that begin so. */
static const char ours[] = "rdma_device:*Nuhca*";

static struct uhcav_match table[NAMES_MOST + 2];
static char pattern[NAMES_MOST][PATTERN];

static bool begins_as_ours(const char *name)
{
	return strncmp(name, "uhca", 4) == 0;
}

static unsigned add(unsigned n, const char *name)
{
	if (name[0] == '.' || begins_as_ours(name) || n == NAMES_MOST)
		return n;
	snprintf(pattern[n], PATTERN, "rdma_device:*N%.40s", name);
	table[n] =
		(struct uhcav_match){.u = {.modalias = pattern[n]}, .kind = UHCAV_MATCH_MODALIAS};
	return n + 1;
}

const struct uhcav_match *uhcav_names_table(void)
{
	const char *root = secure_getenv("UHCA_DIR");
	char path[PATH_MAX];
	unsigned n = 0;
	DIR *d = NULL;

	if (root &&
	    (size_t)snprintf(path, sizeof(path), "%s/sys/class/infiniband", root) < sizeof(path))
		d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		n = add(n, e->d_name);
	if (d)
		closedir(d);
	table[n++] = (struct uhcav_match){.u = {.modalias = ours}, .kind = UHCAV_MATCH_MODALIAS};
	table[n] = (struct uhcav_match){.kind = UHCAV_MATCH_END};
	return table;
}
