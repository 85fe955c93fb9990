/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plain prefix comparison, component by component. Paths with "." or ".." in the part that
 * matters are not followed: nobody writes them there, and to resolve them would need the
 * filesystem.
 */
#include "path_map.h"

#include <string.h>

static const char *const prefixes[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/misc/rdma_cm",
	"/dev/infiniband",
};

/* What follows the prefix in path, or NULL when path does not lie below it. */
static const char *rest_after(const char *prefix, const char *path)
{
	while (*prefix) {
		if (*prefix != *path)
			return NULL;
		if (*path == '/')
			while (path[1] == '/')
				path++;
		prefix++;
		path++;
	}
	return *path == '\0' || *path == '/' ? path : NULL;
}

const char *uhca_path_map(const char *root, const char *path, char *buf, size_t size)
{
	size_t root_len, prefix_len, rest_len;

	if (!path || !root || !*root || path[0] != '/')
		return path;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const char *rest = rest_after(prefixes[i], path);
		if (!rest)
			continue;
		root_len = strlen(root);
		prefix_len = strlen(prefixes[i]);
		rest_len = strlen(rest);
		if (root_len + prefix_len + rest_len >= size)
			return path;
		memcpy(buf, root, root_len);
		memcpy(buf + root_len, prefixes[i], prefix_len);
		memcpy(buf + root_len + prefix_len, rest, rest_len + 1);
		return buf;
	}
	return path;
}
