/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes messages of netlink. See message.h. */
#include "message.h"

#include <rdma/rdma_netlink.h>
#include <string.h>

static void begin(struct nldev_message *m, const struct nldev_request *r, uint16_t type,
		  uint16_t flags)
{
	memset(m->bytes, 0, sizeof(m->bytes));
	m->to = r->from;
	m->header.nlmsg_len = NLMSG_HDRLEN;
	m->header.nlmsg_type = type;
	m->header.nlmsg_flags = flags;
	m->header.nlmsg_seq = r->header->nlmsg_seq;
	m->header.nlmsg_pid = r->from->port;
}

/* What does not fit is left out. */
static void message_append(struct nldev_message *m, const void *bytes, size_t len)
{
	size_t at = m->header.nlmsg_len, padded = NLMSG_ALIGN(len);

	if (at + padded > sizeof(m->bytes))
		return;
	memcpy(m->bytes + at, bytes, len);
	m->header.nlmsg_len = (uint32_t)(at + padded);
}

void nldev_put(struct nldev_message *m, uint16_t type, const void *bytes, size_t len)
{
	const struct nlattr a = {(uint16_t)(NLA_HDRLEN + len), type};

	message_append(m, &a, sizeof(a));
	message_append(m, bytes, len);
}

void nldev_put_u8(struct nldev_message *m, uint16_t type, uint8_t value)
{
	nldev_put(m, type, &value, sizeof(value));
}

void nldev_put_u32(struct nldev_message *m, uint16_t type, uint32_t value)
{
	nldev_put(m, type, &value, sizeof(value));
}

void nldev_put_u64(struct nldev_message *m, uint16_t type, uint64_t value)
{
	nldev_put(m, type, &value, sizeof(value));
}

void nldev_put_text(struct nldev_message *m, uint16_t type, const char *text)
{
	nldev_put(m, type, text, strlen(text) + 1);
}

void nldev_end(const struct nldev_message *m)
{
	m->to->send(m->to->arg, m->bytes, m->header.nlmsg_len);
}

void nldev_conclude(const struct nldev_request *r, int32_t error)
{
	bool dump = r->header->nlmsg_flags & NLM_F_DUMP && error == 0;
	struct nldev_message m;

	if (!dump && error == 0 && !(r->header->nlmsg_flags & NLM_F_ACK))
		return;
	begin(&m, r, dump ? NLMSG_DONE : NLMSG_ERROR, dump ? NLM_F_MULTI : 0);
	message_append(&m, &error, sizeof(error));
	if (!dump)
		message_append(&m, r->header, sizeof(*r->header));
	nldev_end(&m);
}

void nldev_begin_of(struct nldev_message *m, const struct nldev_request *r, uint32_t index,
		    const char *name)
{
	begin(m, r, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, r->command),
	      r->header->nlmsg_flags & NLM_F_DUMP ? NLM_F_MULTI : 0);
	nldev_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nldev_put_text(m, RDMA_NLDEV_ATTR_DEV_NAME, name);
}

size_t nldev_open(struct nldev_message *m, uint16_t type)
{
	size_t at = m->header.nlmsg_len;

	nldev_put(m, type | NLA_F_NESTED, "", 0);
	return at;
}

void nldev_close(struct nldev_message *m, size_t at)
{
	struct nlattr a;

	if (at + sizeof(a) > m->header.nlmsg_len)
		return; /* there was no room for it */
	memcpy(&a, m->bytes + at, sizeof(a));
	a.nla_len = (uint16_t)(m->header.nlmsg_len - at);
	memcpy(m->bytes + at, &a, sizeof(a));
}
