/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See address.h. The interfaces of this machine are asked of getifaddrs(3) each time; nothing is
 * cached, since this only happens at start.
 */
#include "address.h"

#include "wire/bytes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static bool is_usable(const struct io_address *a)
{
	if (roce_addr_is_v4(a->gid))
		return a->gid[12] != 0 && a->gid[12] < 224; /* not 0/8, class D, class E */
	return !roce_addr_is_zero(a->gid) && a->gid[0] != 0xff;
}

static bool is_link_local(const uint8_t gid[16])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

int io_address_parse(const char *text, struct io_address *out)
{
	char host[IO_ADDRESS_TEXT];
	const char *percent = strchr(text, '%');
	size_t len = percent ? (size_t)(percent - text) : strlen(text);

	*out = (struct io_address){0};
	if (len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	if (!percent && inet_pton(AF_INET, host, out->gid + 12) == 1)
		memcpy(out->gid, v4_prefix, sizeof(v4_prefix));
	else if (inet_pton(AF_INET6, host, out->gid) != 1)
		return -EINVAL;
	if (percent) {
		out->scope = if_nametoindex(percent + 1);
		if (out->scope == 0)
			return -ENODEV;
	}
	return is_usable(out) ? 0 : -EINVAL;
}

const char *io_address_format(const uint8_t gid[16], char *out)
{
	if (roce_addr_is_v4(gid))
		inet_ntop(AF_INET, gid + 12, out, IO_ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, gid, out, IO_ADDRESS_TEXT);
	return out;
}

socklen_t io_address_to_sockaddr(const struct io_address *a, uint16_t port, union io_sockaddr *sa)
{
	memset(sa, 0, sizeof(*sa));
	if (roce_addr_is_v4(a->gid)) {
		sa->v4.sin_family = AF_INET;
		sa->v4.sin_port = htons(port);
		memcpy(&sa->v4.sin_addr, a->gid + 12, 4);
		return sizeof(sa->v4);
	}
	sa->v6.sin6_family = AF_INET6;
	sa->v6.sin6_port = htons(port);
	memcpy(&sa->v6.sin6_addr, a->gid, 16);
	sa->v6.sin6_scope_id = is_link_local(a->gid) ? a->scope : 0;
	return sizeof(sa->v6);
}

void io_address_from_sockaddr(const union io_sockaddr *sa, uint8_t gid[16])
{
	if (sa->any.sa_family == AF_INET) {
		memcpy(gid, v4_prefix, sizeof(v4_prefix));
		memcpy(gid + 12, &sa->v4.sin_addr, 4);
	} else {
		memcpy(gid, &sa->v6.sin6_addr, 16);
	}
}

/* A bind tells whether the machine has the address; getifaddrs does not know all of 127/8. */
bool io_address_can_bind(const struct io_address *a)
{
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(a, 0, &sa);
	int fd = socket(sa.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && bind(fd, &sa.any, len) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

void io_address_default(unsigned i, struct io_address_list *out)
{
	char text[IO_ADDRESS_TEXT];

	*out = (struct io_address_list){.count = 1};
	snprintf(text, sizeof(text), "127.0.%u.%u", (1 + i) / 256, (1 + i) % 256);
	io_address_parse(text, &out->a[0]);
	if (i == 0 && io_address_parse("::1", &out->a[1]) == 0 && io_address_can_bind(&out->a[1]))
		out->count = 2;
}

static void add_from(struct io_address_list *out, const struct ifaddrs *i, sa_family_t family)
{
	struct io_address a = {0};

	if (!i->ifa_addr || i->ifa_addr->sa_family != family || out->count == IO_MAX_ADDRESSES)
		return;
	io_address_from_sockaddr((const union io_sockaddr *)(const void *)i->ifa_addr, a.gid);
	if (is_link_local(a.gid))
		a.scope = if_nametoindex(i->ifa_name);
	if (is_usable(&a))
		out->a[out->count++] = a;
}

int io_address_of_interface(const char *ifname, struct io_address_list *out)
{
	static const sa_family_t order[] = {AF_INET, AF_INET6};
	struct ifaddrs *list;

	*out = (struct io_address_list){0};
	if (if_nametoindex(ifname) == 0)
		return -ENODEV;
	if (getifaddrs(&list) < 0)
		return -errno;
	for (unsigned f = 0; f < 2; f++)
		for (struct ifaddrs *i = list; i; i = i->ifa_next)
			if (strcmp(i->ifa_name, ifname) == 0)
				add_from(out, i, order[f]);
	freeifaddrs(list);
	return out->count ? 0 : -EADDRNOTAVAIL;
}

bool io_address_is_loopback(const uint8_t gid[16])
{
	static const uint8_t v6[16] = {[15] = 1};

	return roce_addr_is_v4(gid) ? gid[12] == 127 : memcmp(gid, v6, 16) == 0;
}

bool io_address_interface(const struct io_address *a, char ifname[IF_NAMESIZE])
{
	struct ifaddrs *list;
	bool found = false;

	if (roce_addr_is_v4(a->gid) && io_address_is_loopback(a->gid)) {
		memcpy(ifname, "lo", 3);
		return if_nametoindex("lo") != 0;
	}
	if (getifaddrs(&list) < 0)
		return false;
	for (struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
		uint8_t gid[16];

		if (!i->ifa_addr ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		io_address_from_sockaddr((const union io_sockaddr *)(const void *)i->ifa_addr, gid);
		found = memcmp(gid, a->gid, 16) == 0 &&
			(a->scope == 0 || a->scope == if_nametoindex(i->ifa_name));
		if (found)
			snprintf(ifname, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(list);
	return found;
}

unsigned io_address_mtu(const char *ifname)
{
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned mtu = 0;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
	if (fd >= 0 && ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
		mtu = (unsigned)request.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return mtu;
}

unsigned io_address_interface_mtu(uint32_t code)
{
	/* IPv6, UDP, BTH with XRCETH, RETH and immediate data, ICRC */
	const unsigned headers = ROCE_IPV6_LENGTH + ROCE_UDP_LENGTH + ROCE_BTH_LENGTH +
				 ROCE_XRCETH_LENGTH + ROCE_RETH_LENGTH + ROCE_IMMDT_LENGTH +
				 ROCE_ICRC_LENGTH;

	return (128u << code) + headers;
}

uint32_t io_address_path_mtu(unsigned interface_mtu)
{
	uint32_t code = 5;

	while (code > 1 && io_address_interface_mtu(code) > interface_mtu)
		code--;
	return code;
}

/* FNV-1a. */
static uint32_t hash(const uint8_t *p, size_t len)
{
	uint32_t h = 2166136261u;

	while (len-- > 0)
		h = (h ^ *p++) * 16777619u;
	return h;
}

uint64_t io_address_guid(const struct io_address *a)
{
	/* Locally administered; the fourth byte keeps IPv4 and IPv6 apart. */
	const uint64_t prefix = 0x0275ca0000000000ull;
	const uint8_t *p = a->gid + 12;

	if (roce_addr_is_v4(a->gid))
		return prefix | roce_load_be32(p);
	return prefix | 0x0100000000ull | hash(a->gid, 16);
}
