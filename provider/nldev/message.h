/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of netlink (netlink(7)): a request as it was read, and the answers to it. Each answer
 * leaves as a datagram of its own; a dump ends with NLMSG_DONE, anything else with an
 * acknowledgement where one is wanted.
 */
#ifndef UHCA_NLDEV_MESSAGE_H
#define UHCA_NLDEV_MESSAGE_H

#include "nldev.h"

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a message: so that with what the kernel adds it is a page, in which readers expect it. */
#define NLDEV_ROOM 3600

struct nldev_message {
	const struct uhca_nldev *to;
	union {
		struct nlmsghdr header;
		uint8_t bytes[NLDEV_ROOM];
	};
};

struct nldev_request {
	const struct uhca_nldev *from;
	const struct nlmsghdr *header;
	uint32_t command;
	bool has_device, has_port;
	uint32_t device, port;
};

/* An answer about the device of this index and name. */
void nldev_begin_of(struct nldev_message *m, const struct nldev_request *r, uint32_t index,
		    const char *name);

/* One attribute more; one that does not fit is left out. */
void nldev_put(struct nldev_message *m, uint16_t type, const void *bytes, size_t len);
void nldev_put_u8(struct nldev_message *m, uint16_t type, uint8_t value);
void nldev_put_u32(struct nldev_message *m, uint16_t type, uint32_t value);
void nldev_put_u64(struct nldev_message *m, uint16_t type, uint64_t value);
void nldev_put_text(struct nldev_message *m, uint16_t type, const char *text);

/* An attribute that consists of those which come until nldev_close(m, what this returned). */
size_t nldev_open(struct nldev_message *m, uint16_t type);
void nldev_close(struct nldev_message *m, size_t at);

/* Sends it. */
void nldev_end(const struct nldev_message *m);

/* The end of a dump, an acknowledgement (0), or a refusal (negative). */
void nldev_conclude(const struct nldev_request *r, int32_t error);

#endif
