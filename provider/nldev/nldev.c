/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices and ports, from the files of sysfs. See nldev.h. */
#include "nldev.h"

#include "message.h"
#include "resources.h"
#include "tree.h"

#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBNET_PREFIX 0xfe80000000000000ull

/* ---- devices and ports ---- */

/* "0200:7fff:fe00:0001" as a number; 0 when it is none. */
static uint64_t guid_of(const char *text)
{
	unsigned w[4];

	if (sscanf(text, "%4x:%4x:%4x:%4x", &w[0], &w[1], &w[2], &w[3]) != 4)
		return 0;
	return (uint64_t)w[0] << 48 | (uint64_t)w[1] << 32 | (uint64_t)w[2] << 16 | w[3];
}

/* The number that a file begins with. */
static uint32_t number_in(const struct nldev_request *r, const char *name, const char *file)
{
	char word[UHCA_TREE_WORD];

	return uhca_tree_word(r->from->root, name, file, word) ? (uint32_t)strtoul(word, NULL, 10)
							       : 0;
}

static void put_guid(struct nldev_message *m, uint16_t type, const char *name, const char *file)
{
	char word[UHCA_TREE_WORD];

	if (uhca_tree_word(m->to->root, name, file, word))
		nldev_put_u64(m, type, guid_of(word));
}

static uint32_t ports_of(const struct nldev_request *r, const char *name)
{
	struct dirent **ports;
	unsigned n = uhca_tree_list(r->from->root, name, "ports", &ports);

	uhca_tree_free(ports, n);
	return n;
}

/* By the link layer of its port; NULL: the kernel names none. */
static const char *protocol_of(const struct nldev_request *r, const char *name)
{
	char word[UHCA_TREE_WORD];

	if (!uhca_tree_word(r->from->root, name, "ports/1/link_layer", word) ||
	    !strcmp(word, "Ethernet"))
		return "roce";
	return !strcmp(word, "InfiniBand") ? "ib" : NULL;
}

static void answer_device(const struct nldev_request *r, uint32_t index, const char *name)
{
	char word[UHCA_TREE_WORD];
	const char *protocol;
	struct nldev_message m;

	nldev_begin_of(&m, r, index, name);
	nldev_put_u32(&m, RDMA_NLDEV_ATTR_PORT_INDEX, ports_of(r, name));
	if (uhca_tree_word(r->from->root, name, "fw_ver", word))
		nldev_put_text(&m, RDMA_NLDEV_ATTR_FW_VERSION, word);
	put_guid(&m, RDMA_NLDEV_ATTR_NODE_GUID, name, "node_guid");
	put_guid(&m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, name, "sys_image_guid");
	nldev_put_u8(&m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, (uint8_t)number_in(r, name, "node_type"));
	protocol = protocol_of(r, name);
	if (protocol)
		nldev_put_text(&m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, protocol);
	nldev_end(&m);
}

static void put_interface_named(struct nldev_message *m, const char *name)
{
	nldev_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, if_nametoindex(name));
	nldev_put_text(m, RDMA_NLDEV_ATTR_NDEV_NAME, name);
}

/* The interface of this port among those of the device, or what its first GID names. */
static void put_interface(struct nldev_message *m, const char *name, uint32_t port)
{
	char file[64 + NAME_MAX], word[UHCA_TREE_WORD];
	struct dirent **nets;
	unsigned n = uhca_tree_list(m->to->root, name, "device/net", &nets), i;

	for (i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "device/net/%s/dev_port", nets[i]->d_name);
		if (!uhca_tree_word(m->to->root, name, file, word) ||
		    strtoul(word, NULL, 0) + 1 == port)
			break;
	}
	snprintf(file, sizeof(file), "ports/%u/gid_attrs/ndevs/0", port);
	if (i < n)
		put_interface_named(m, nets[i]->d_name);
	else if (uhca_tree_word(m->to->root, name, file, word))
		put_interface_named(m, word);
	uhca_tree_free(nets, n);
}

static uint32_t number_of_port(const struct nldev_request *r, const char *name, uint32_t port,
			       const char *file)
{
	char path[64], word[UHCA_TREE_WORD];

	snprintf(path, sizeof(path), "ports/%u/%s", port, file);
	return uhca_tree_word(r->from->root, name, path, word) ? (uint32_t)strtoul(word, NULL, 0)
							       : 0;
}

/* Only InfiniBand has them. */
static void put_lids(struct nldev_message *m, const struct nldev_request *r, const char *name,
		     uint32_t port)
{
	uint32_t lid = number_of_port(r, name, port, "lid");

	if (!lid)
		return;
	nldev_put_u64(m, RDMA_NLDEV_ATTR_SUBNET_PREFIX, SUBNET_PREFIX);
	nldev_put_u32(m, RDMA_NLDEV_ATTR_LID, lid);
	nldev_put_u32(m, RDMA_NLDEV_ATTR_SM_LID, number_of_port(r, name, port, "sm_lid"));
	nldev_put_u8(m, RDMA_NLDEV_ATTR_LMC,
		     (uint8_t)number_of_port(r, name, port, "lid_mask_count"));
}

static void answer_port(const struct nldev_request *r, uint32_t index, const char *name,
			uint32_t port)
{
	struct nldev_message m;

	nldev_begin_of(&m, r, index, name);
	nldev_put_u32(&m, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	put_lids(&m, r, name, port);
	nldev_put_u8(&m, RDMA_NLDEV_ATTR_PORT_STATE,
		     (uint8_t)number_of_port(r, name, port, "state"));
	nldev_put_u8(&m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE,
		     (uint8_t)number_of_port(r, name, port, "phys_state"));
	put_interface(&m, name, port);
	nldev_end(&m);
}

/* ---- requests ---- */

static int answer_get(const struct nldev_request *r, struct dirent **devices, uint32_t n)
{
	bool dump = r->header->nlmsg_flags & NLM_F_DUMP;

	if (!dump && !r->has_device)
		return -EINVAL;
	if (!dump && r->device >= n)
		return -ENODEV;
	for (uint32_t i = 0; i < n; i++)
		if (dump || i == r->device)
			answer_device(r, i, devices[i]->d_name);
	return 0;
}

static int answer_port_get(const struct nldev_request *r, struct dirent **devices, uint32_t n)
{
	bool dump = r->header->nlmsg_flags & NLM_F_DUMP;
	uint32_t ports;

	if (!r->has_device || (!dump && !r->has_port))
		return -EINVAL;
	if (r->device >= n)
		return -ENODEV;
	ports = ports_of(r, devices[r->device]->d_name);
	if (!dump && (r->port < 1 || r->port > ports))
		return -EINVAL;
	for (uint32_t i = 1; i <= ports; i++)
		if (dump || i == r->port)
			answer_port(r, r->device, devices[r->device]->d_name, i);
	return 0;
}

/* Numbers only; others are of no command that is answered. */
static void read_attributes(struct nldev_request *r)
{
	const uint8_t *at = (const uint8_t *)r->header + NLMSG_HDRLEN;
	const uint8_t *end_of = (const uint8_t *)r->header + r->header->nlmsg_len;

	while (end_of - at >= NLA_HDRLEN) {
		struct nlattr a;
		uint32_t value;

		memcpy(&a, at, sizeof(a));
		if (a.nla_len < NLA_HDRLEN || a.nla_len > end_of - at)
			return;
		if (a.nla_len >= NLA_HDRLEN + sizeof(value)) {
			memcpy(&value, at + NLA_HDRLEN, sizeof(value));
			if ((a.nla_type & NLA_TYPE_MASK) == RDMA_NLDEV_ATTR_DEV_INDEX) {
				r->has_device = true;
				r->device = value;
			} else if ((a.nla_type & NLA_TYPE_MASK) == RDMA_NLDEV_ATTR_PORT_INDEX) {
				r->has_port = true;
				r->port = value;
			}
		}
		if (NLA_ALIGN(a.nla_len) > end_of - at)
			return;
		at += NLA_ALIGN(a.nla_len);
	}
}

static void answer(const struct uhca_nldev *n, const struct nlmsghdr *header)
{
	struct nldev_request r = {
		.from = n, .header = header, .command = RDMA_NL_GET_OP(header->nlmsg_type)};
	struct dirent **devices;
	unsigned n_devices;
	int error = -EOPNOTSUPP;

	if (!(header->nlmsg_flags & NLM_F_REQUEST) || header->nlmsg_type < NLMSG_MIN_TYPE)
		return;
	read_attributes(&r);
	n_devices = uhca_tree_list(n->root, NULL, "", &devices);
	if (RDMA_NL_GET_CLIENT(header->nlmsg_type) != RDMA_NL_NLDEV)
		error = -EINVAL;
	else if (r.command == RDMA_NLDEV_CMD_GET)
		error = answer_get(&r, devices, n_devices);
	else if (r.command == RDMA_NLDEV_CMD_PORT_GET)
		error = answer_port_get(&r, devices, n_devices);
	else
		error = nldev_answer_resources(&r, devices, n_devices);
	uhca_tree_free(devices, n_devices);
	nldev_conclude(&r, error);
}

void uhca_nldev_answer(const struct uhca_nldev *n, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len >= NLMSG_HDRLEN) {
		const struct nlmsghdr *header = (const void *)at;
		size_t step = NLMSG_ALIGN(header->nlmsg_len);

		if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > len)
			return;
		answer(n, header);
		if (step >= len)
			return;
		at += step;
		len -= step;
	}
}
