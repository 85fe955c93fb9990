/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses of emulated devices that no network interface but "lo" carries, as getifaddrs(3)
 * lists addresses. libfabric's verbs provider finds devices by the addresses of the interfaces,
 * and passes over "lo". Only libfabric is shown the further interfaces: others choose addresses of
 * TCP connections from the list, or look its names up in /sys/class/net, and do well without.
 */
#include "provider/nldev/tree.h"
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT   __attribute__((visibility("default")))
#define MAX_GIDS 256

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct entry {
	struct ifaddrs ifa; /* first: a list of these is a list of that */
	union address address, mask;
	char name[IFNAMSIZ];
};

/* What ifa_data of our entries points to; those of the C library have NULL or memory there. */
static char ours;

static bool parse_gid(const char *text, uint8_t gid[16])
{
	unsigned w[8];

	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &w[0], &w[1], &w[2], &w[3], &w[4],
		   &w[5], &w[6], &w[7]) != 8)
		return false;
	for (unsigned i = 0; i < 16; i++)
		gid[i] = (uint8_t)(w[i / 2] >> (i % 2 ? 0 : 8));
	return true;
}

/*
 * An entry of RoCEv2's GID table is an IP address (IBTA vol. 1, annex A17.4.5.1). Not those that
 * need an interface to mean something (fe80::), and not the empty ones.
 */
static bool address_of(const uint8_t gid[16], union address *address, union address *mask)
{
	const struct in6_addr *v6 = (const void *)gid;

	if (IN6_IS_ADDR_UNSPECIFIED(v6) || IN6_IS_ADDR_LINKLOCAL(v6))
		return false;
	if (IN6_IS_ADDR_V4MAPPED(v6)) {
		address->v4.sin_family = mask->v4.sin_family = AF_INET;
		memcpy(&address->v4.sin_addr, gid + 12, 4);
		memset(&mask->v4.sin_addr, 0xff, 4);
	} else {
		address->v6.sin6_family = mask->v6.sin6_family = AF_INET6;
		memcpy(&address->v6.sin6_addr, gid, 16);
		memset(&mask->v6.sin6_addr, 0xff, 16);
	}
	return true;
}

static struct ifaddrs *add_entry(const char *device, const uint8_t gid[16], struct ifaddrs *rest)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return rest;
	if (!address_of(gid, &e->address, &e->mask)) {
		free(e);
		return rest;
	}
	snprintf(e->name, sizeof(e->name), "%.*s", (int)sizeof(e->name) - 1, device);
	e->ifa = (struct ifaddrs){
		.ifa_next = rest,
		.ifa_name = e->name,
		.ifa_flags = IFF_UP,
		.ifa_addr = &e->address.any,
		.ifa_netmask = &e->mask.any,
		.ifa_data = &ours,
	};
	return &e->ifa;
}

/* From the end of the device's table, so that its first address comes first. */
static struct ifaddrs *add_device(const char *root, const char *device, struct ifaddrs *rest)
{
	char file[64], word[UHCA_TREE_WORD];
	uint8_t gid[16];

	for (unsigned i = MAX_GIDS; i-- > 0;) {
		snprintf(file, sizeof(file), "ports/1/gid_attrs/ndevs/%u", i);
		if (!uhca_tree_word(root, device, file, word) || strcmp(word, "lo") != 0)
			continue;
		snprintf(file, sizeof(file), "ports/1/gids/%u", i);
		if (uhca_tree_word(root, device, file, word) && parse_gid(word, gid))
			rest = add_entry(device, gid, rest);
	}
	return rest;
}

/* A described device says which addresses it has, in the file "addresses/NAME", one a line. */
static bool add_machine_interfaces(const char *root, const char *device, struct ifaddrs **rest)
{
	char path[PATH_MAX], line[UHCA_TREE_WORD];
	struct ifaddrs *first = NULL, **end = &first;
	uint8_t gid[16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/addresses/%s", root, device);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fscanf(f, "%63s", line) == 1) {
		if (parse_gid(line, gid))
			*end = add_entry(device, gid, NULL);
		if (*end)
			end = &(*end)->ifa_next;
	}
	fclose(f);
	*end = *rest;
	*rest = first;
	return true;
}

/* Frees the entries of ours at the head of a list, and returns what follows them. */
static struct ifaddrs *free_interfaces(struct ifaddrs *list)
{
	while (list && list->ifa_data == &ours) {
		struct ifaddrs *next = list->ifa_next;
		free(list);
		list = next;
	}
	return list;
}

/*
 * Puts an entry before rest for each IPv4 and each IPv6 address that a device of the instance in
 * root has on "lo": named as the device is, up, and no loopback. Not running: so libfabric's
 * providers of TCP and UDP leave it out, and that of verbs does not ask. Returns the new list, for
 * free_interfaces; where memory ends, entries are missing.
 */
static struct ifaddrs *add_interfaces(const char *root, struct ifaddrs *rest)
{
	struct dirent **devices;
	unsigned n = uhca_tree_list(root, NULL, "", &devices);

	for (unsigned i = n; i-- > 0;)
		if (!add_machine_interfaces(root, devices[i]->d_name, &rest))
			rest = add_device(root, devices[i]->d_name, rest);
	uhca_tree_free(devices, n);
	return rest;
}

/* libfabric.so.1, or a provider of its that is a library of its own (libverbs-fi.so). */
static bool is_libfabric(void *code)
{
	static const char provider[] = "-fi.so";
	const char *name;
	Dl_info info;
	size_t len;

	if (!dladdr(code, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	len = strlen(name);
	return !strncmp(name, "libfabric.so", 12) ||
	       (len >= sizeof(provider) && !strcmp(name + len + 1 - sizeof(provider), provider));
}

EXPORT int getifaddrs(struct ifaddrs **list)
{
	void *caller = __builtin_return_address(0);
	int saved = errno;

	if (UHCA_REAL(getifaddrs)(list) != 0)
		return -1;
	if (uhca_root() && is_libfabric(caller))
		*list = add_interfaces(uhca_root(), *list);
	errno = saved;
	return 0;
}

EXPORT void freeifaddrs(struct ifaddrs *list)
{
	UHCA_REAL(freeifaddrs)(free_interfaces(list));
}
