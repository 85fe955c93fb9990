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

/* The path below root, with "rest" in place of what the prefix covers. NULL: no room. */
static const char *join(const char *root, const char *prefix, const char *rest, char *buf,
			size_t size)
{
	size_t root_len = strlen(root), prefix_len = strlen(prefix), rest_len = strlen(rest);

	if (root_len + prefix_len + rest_len >= size)
		return NULL;
	memcpy(buf, root, root_len);
	memcpy(buf + root_len, prefix, prefix_len);
	memcpy(buf + root_len + prefix_len, rest, rest_len + 1);
	return buf;
}

/* Repeated slashes become one. */
static void squeeze(char *path)
{
	char *to = path;

	for (; *path; path++)
		if (path[0] != '/' || path[1] != '/')
			*to++ = *path;
	*to = '\0';
}

const char *uhca_path_map(const char *root, const char *path, char *buf, size_t size)
{
	const char *rest, *to;

	if (!path || !root || !*root || path[0] != '/')
		return path;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		rest = rest_after(prefixes[i], path);
		to = rest ? join(root, prefixes[i], rest, buf, size) : NULL;
		if (rest)
			return to ? to : path;
	}
	rest = rest_after("/sys", path);
	to = rest ? join(root, "/sys", rest, buf, size) : NULL;
	if (to)
		squeeze(buf + strlen(root));
	return to && uhca_machine_paths_has(to + strlen(root), to) ? to : path;
}
