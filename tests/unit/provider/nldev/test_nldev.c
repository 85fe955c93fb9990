/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is answered to those who ask for devices by netlink, message by message. rdma(8) itself is
 * asked in the row "wrapper rdma-tool" of tests/verbs.
 */
#include "provider/nldev/nldev.h"

#include "tests/support/provider/fake_tree.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GET      RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)
#define PORT_GET RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET)
#define SEQUENCE 77
#define ASKER    4711
#define NONE     UINT32_MAX

union message {
	struct nlmsghdr header;
	uint8_t bytes[2048];
};

/* The datagrams of one answer. */
static union message got[8];
static unsigned n_got;

static char root[] = "/tmp/test_nldev.XXXXXX";

static void keep(void *arg, const void *datagram, size_t len)
{
	assert_null(arg);
	assert_true(n_got < sizeof(got) / sizeof(got[0]));
	assert_in_range(len, NLMSG_HDRLEN, sizeof(got[0]));
	memcpy(&got[n_got], datagram, len);
	assert_int_equal(got[n_got].header.nlmsg_len, len);
	n_got++;
}

static void answer(const void *bytes, size_t len)
{
	const struct uhca_nldev n = {.root = root, .port = ASKER, .send = keep};

	n_got = 0;
	uhca_nldev_answer(&n, bytes, len);
}

static void put_u32(union message *m, uint16_t type, uint32_t value)
{
	const struct nlattr a = {NLA_HDRLEN + sizeof(value), type};

	memcpy(m->bytes + m->header.nlmsg_len, &a, sizeof(a));
	memcpy(m->bytes + m->header.nlmsg_len + NLA_HDRLEN, &value, sizeof(value));
	m->header.nlmsg_len += NLA_HDRLEN + sizeof(value);
}

/* device, port: NONE is for no such attribute. */
static union message request(uint16_t type, uint16_t flags, uint32_t device, uint32_t port)
{
	union message m = {.header = {.nlmsg_len = NLMSG_HDRLEN,
				      .nlmsg_type = type,
				      .nlmsg_flags = NLM_F_REQUEST | flags,
				      .nlmsg_seq = SEQUENCE}};

	if (device != NONE)
		put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, device);
	if (port != NONE)
		put_u32(&m, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return m;
}

static void ask(uint16_t type, uint16_t flags, uint32_t device, uint32_t port)
{
	union message m = request(type, flags, device, port);

	answer(&m, m.header.nlmsg_len);
	for (unsigned i = 0; i < n_got; i++) {
		assert_int_equal(got[i].header.nlmsg_seq, SEQUENCE);
		assert_int_equal(got[i].header.nlmsg_pid, ASKER);
	}
}

/* The attribute's bytes; len of them. */
static const void *attribute(const union message *m, uint16_t type, size_t len)
{
	for (size_t at = NLMSG_HDRLEN; at < m->header.nlmsg_len;) {
		struct nlattr a;

		memcpy(&a, m->bytes + at, sizeof(a));
		if (a.nla_type == type) {
			assert_int_equal(a.nla_len, NLA_HDRLEN + len);
			return m->bytes + at + NLA_HDRLEN;
		}
		at += NLA_ALIGN(a.nla_len);
	}
	fail_msg("no attribute %u", type);
	return NULL;
}

static void expect_number(const union message *m, uint16_t type, uint64_t value, size_t len)
{
	assert_memory_equal(attribute(m, type, len), &value, len); /* little-endian, as x86 is */
}

static void expect_text(const union message *m, uint16_t type, const char *text)
{
	assert_string_equal(attribute(m, type, strlen(text) + 1), text);
}

static void expect_end(unsigned i, uint16_t type, int32_t error)
{
	int32_t value;

	assert_int_equal(n_got, i + 1);
	assert_int_equal(got[i].header.nlmsg_type, type);
	memcpy(&value, got[i].bytes + NLMSG_HDRLEN, sizeof(value));
	assert_int_equal(value, error);
}

static void expect_device(const union message *m)
{
	assert_int_equal(m->header.nlmsg_type, GET);
	expect_number(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0, 4);
	expect_text(m, RDMA_NLDEV_ATTR_DEV_NAME, "uhca0");
	expect_number(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1, 4);
	expect_text(m, RDMA_NLDEV_ATTR_FW_VERSION, "0.0-fake");
	expect_number(m, RDMA_NLDEV_ATTR_NODE_GUID, 0x0275cafffe000001, 8);
	expect_number(m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, 0x0275cafffe000001, 8);
	expect_number(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 1, 1);
	expect_text(m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

static void test_devices(void **state)
{
	static const char *const name[] = {"uhca0", "uhca2", "uhca10"};

	(void)state;
	ask(GET, NLM_F_ACK | NLM_F_DUMP, NONE, NONE);
	expect_end(3, NLMSG_DONE, 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(got[i].header.nlmsg_flags & NLM_F_MULTI);
		expect_number(&got[i], RDMA_NLDEV_ATTR_DEV_INDEX, i, 4);
		expect_text(&got[i], RDMA_NLDEV_ATTR_DEV_NAME, name[i]);
	}
	expect_device(&got[0]);
}

static void test_one_device(void **state)
{
	(void)state;
	ask(GET, NLM_F_ACK, 0, NONE);
	expect_end(1, NLMSG_ERROR, 0);
	assert_false(got[0].header.nlmsg_flags & NLM_F_MULTI);
	expect_device(&got[0]);
	ask(GET, 0, 2, NONE);
	assert_int_equal(n_got, 1);
	expect_text(&got[0], RDMA_NLDEV_ATTR_DEV_NAME, "uhca10");
}

static void expect_port(const union message *m)
{
	assert_int_equal(m->header.nlmsg_type, PORT_GET);
	expect_text(m, RDMA_NLDEV_ATTR_DEV_NAME, "uhca0");
	expect_number(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1, 4);
	expect_number(m, RDMA_NLDEV_ATTR_PORT_STATE, 4, 1);
	expect_number(m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5, 1);
	expect_number(m, RDMA_NLDEV_ATTR_NDEV_INDEX, if_nametoindex("lo"), 4);
	expect_text(m, RDMA_NLDEV_ATTR_NDEV_NAME, "lo");
}

static void test_ports(void **state)
{
	(void)state;
	ask(PORT_GET, NLM_F_ACK | NLM_F_DUMP, 0, NONE);
	expect_end(1, NLMSG_DONE, 0);
	expect_port(&got[0]);
	ask(PORT_GET, NLM_F_ACK, 0, 1);
	expect_end(1, NLMSG_ERROR, 0);
	expect_port(&got[0]);
	ask(PORT_GET, NLM_F_DUMP, 1, NONE); /* it has none */
	expect_end(0, NLMSG_DONE, 0);
}

static void test_refusals(void **state)
{
	static const struct {
		uint16_t type, flags;
		uint32_t device, port;
		int error;
	} row[] = {
		{GET, 0, NONE, NONE, -EINVAL},
		{GET, 0, 3, NONE, -ENODEV},
		{PORT_GET, NLM_F_DUMP, NONE, NONE, -EINVAL},
		{PORT_GET, NLM_F_DUMP, 3, NONE, -ENODEV},
		{PORT_GET, 0, 0, NONE, -EINVAL},
		{PORT_GET, 0, 0, 0, -EINVAL},
		{PORT_GET, 0, 0, 2, -EINVAL},
		{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SET), 0, 0, NONE, -EOPNOTSUPP},
		{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET), NLM_F_DUMP, NONE, NONE,
		 -EIO}, /* the daemon does not answer */
		{RDMA_NL_GET_TYPE(RDMA_NL_LS, 1), 0, NONE, NONE, -EINVAL},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		ask(row[i].type, row[i].flags, row[i].device, row[i].port);
		expect_end(0, NLMSG_ERROR, row[i].error);
	}
}

/* Lengths that are not right, and what is no request: nothing is read that is not there. */
static void test_malformed(void **state)
{
	union message m = request(GET, NLM_F_ACK, 0, NONE);
	uint8_t *copy;

	(void)state;
	for (uint32_t len = 0; len <= m.header.nlmsg_len; len++) {
		copy = malloc(len ? len : 1); /* sanitizers watch its end */
		assert_non_null(copy);
		memcpy(copy, &m, len);
		answer(copy, len);
		assert_int_equal(n_got, len == m.header.nlmsg_len ? 2 : 0);
		free(copy);
	}
	m.bytes[NLMSG_HDRLEN] = 255; /* an attribute longer than the message */
	answer(&m, m.header.nlmsg_len);
	expect_end(0, NLMSG_ERROR, -EINVAL);
	m.bytes[NLMSG_HDRLEN] = 1; /* and one shorter than its header */
	answer(&m, m.header.nlmsg_len);
	expect_end(0, NLMSG_ERROR, -EINVAL);
	m.header.nlmsg_flags = 0;
	answer(&m, m.header.nlmsg_len);
	assert_int_equal(n_got, 0);
}

/* Several in one datagram. */
static void test_batch(void **state)
{
	union message m = request(GET, NLM_F_ACK, 0, NONE), second = request(GET, 0, 1, NONE);
	uint32_t first = m.header.nlmsg_len;

	(void)state;
	memcpy(m.bytes + first, &second, second.header.nlmsg_len);
	answer(&m, first + second.header.nlmsg_len);
	assert_int_equal(n_got, 3);
	expect_text(&got[0], RDMA_NLDEV_ATTR_DEV_NAME, "uhca0");
	expect_text(&got[2], RDMA_NLDEV_ATTR_DEV_NAME, "uhca2");
}

static void make_device(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	fake_tree_make(root);
	make_device("uhca10");
	make_device("uhca2");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_tree_remove(root);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices),   cmocka_unit_test(test_one_device),
		cmocka_unit_test(test_ports),     cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_malformed), cmocka_unit_test(test_batch),
	};

	return cmocka_run_group_tests_name("nldev", tests, setup, teardown);
}
