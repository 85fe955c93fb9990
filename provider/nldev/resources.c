/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects as the kernel's RDMA core tells of them. See resources.h. */
#include "resources.h"

#include "table.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

/* Newer than Linux 5.10, whose headers Debian 11 has. */
enum {
	NLDEV_CMD_RES_CTX_GET = 22,
	NLDEV_CMD_RES_SRQ_GET,
	NLDEV_ATTR_RES_CTX = 86,
	NLDEV_ATTR_RES_CTX_ENTRY,
	NLDEV_ATTR_RES_SRQ,
	NLDEV_ATTR_RES_SRQ_ENTRY,
	NLDEV_ATTR_RES_SRQN,
};

/* ---- numbers of names ---- */

struct word {
	const char *name;
	uint32_t number;
};

static uint32_t number_of(const struct word *words, const char *name)
{
	while (words->name && strcmp(words->name, name) != 0)
		words++;
	return words->number;
}

/* enum ib_qp_type */
static const struct word qp_types[] = {{"RC", 2},         {"UC", 3},       {"UD", 4},
				       {"RAW_PACKET", 8}, {"XRC_SEND", 9}, {"XRC_RECV", 10},
				       {NULL, 7}};
static const struct word qp_states[] = {{"RESET", 0}, {"INIT", 1}, {"RTR", 2}, {"RTS", 3},
					{"SQD", 4},   {"SQE", 5},  {"ERR", 6}, {NULL, 7}};
/* enum rdma_cm_state of Linux, drivers/infiniband/core/cma_priv.h */
static const struct word cm_states[] = {
	{"idle", 0},           {"bound", 7},     {"addr_resolved", 2}, {"listening", 8},
	{"route_resolved", 4}, {"connected", 5}, {NULL, 255}};
/* enum rdma_ucm_port_space */
static const struct word spaces[] = {
	{"ipoib", 0x2}, {"tcp", 0x106}, {"udp", 0x111}, {"ib", 0x13f}, {NULL, 0}};

/* ---- objects ---- */

static uint32_t u32(const struct uhca_table *t, unsigned row, const char *column)
{
	return (uint32_t)uhca_table_number(t, row, column);
}

static void put_qp(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	const char *type = uhca_table_text(t, row, "type");

	nldev_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, u32(t, row, "qpn"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, u32(t, row, "pd"));
	if (!strcmp(type, "RC") || !strcmp(type, "UC")) {
		nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_RQPN, u32(t, row, "dest_qpn"));
		nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_RQ_PSN, u32(t, row, "rq_psn"));
		nldev_put_u8(m, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, 0); /* migrated */
	}
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_SQ_PSN, u32(t, row, "sq_psn"));
	nldev_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)number_of(qp_types, type));
	nldev_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE,
		     (uint8_t)number_of(qp_states, uhca_table_text(t, row, "state")));
}

static void put_cq(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_CQE, u32(t, row, "cqe"));
	nldev_put_u64(m, RDMA_NLDEV_ATTR_RES_USECNT, uhca_table_number(t, row, "users"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_CQN, u32(t, row, "handle"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, u32(t, row, "client"));
}

static void put_mr(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_RKEY, u32(t, row, "rkey"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_LKEY, u32(t, row, "lkey"));
	nldev_put_u64(m, RDMA_NLDEV_ATTR_RES_IOVA, uhca_table_number(t, row, "iova"));
	nldev_put_u64(m, RDMA_NLDEV_ATTR_RES_MRLEN, uhca_table_number(t, row, "length"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_MRN, u32(t, row, "handle"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, u32(t, row, "pd"));
}

static void put_pd(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	nldev_put_u64(m, RDMA_NLDEV_ATTR_RES_USECNT, uhca_table_number(t, row, "users"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, u32(t, row, "client"));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, u32(t, row, "handle"));
}

static void put_ctx(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_CTXN, u32(t, row, "client"));
}

static void put_srq(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	nldev_put_u32(m, NLDEV_ATTR_RES_SRQN, u32(t, row, "handle"));
	nldev_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, 0); /* IB_SRQT_BASIC */
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_PDN, u32(t, row, "pd"));
}

/* "127.0.0.1:7174" or "[::1]:7174"; what is neither is left out. */
static void put_address(struct nldev_message *m, uint16_t type, const char *text)
{
	struct sockaddr_storage s = {.ss_family = AF_INET};
	struct sockaddr_in *v4 = (void *)&s;
	struct sockaddr_in6 *v6 = (void *)&s;
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	char address[INET6_ADDRSTRLEN];

	if (*text == '[') {
		text++;
		n = n > 2 ? n - 2 : 0;
		s.ss_family = AF_INET6;
	}
	if (n == 0 || n >= sizeof(address))
		return;
	memcpy(address, text, n);
	address[n] = '\0';
	v4->sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	if (inet_pton(s.ss_family, address,
		      s.ss_family == AF_INET ? (void *)&v4->sin_addr : (void *)&v6->sin6_addr) == 1)
		nldev_put(m, type, &s, sizeof(s));
}

static void put_cm_id(struct nldev_message *m, const struct uhca_table *t, unsigned row)
{
	const char *space = uhca_table_text(t, row, "space");

	nldev_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (u32(t, row, "qpn")) {
		nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, u32(t, row, "qpn"));
		nldev_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, strcmp(space, "udp") ? 2 : 4);
	}
	nldev_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE,
		     (uint8_t)number_of(cm_states, uhca_table_text(t, row, "state")));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_PS, number_of(spaces, space));
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_CM_IDN, u32(t, row, "id"));
	put_address(m, RDMA_NLDEV_ATTR_RES_SRC_ADDR, uhca_table_text(t, row, "source"));
	put_address(m, RDMA_NLDEV_ATTR_RES_DST_ADDR, uhca_table_text(t, row, "destination"));
}

static const struct kind {
	uint32_t command;
	const char *what, *name; /* the daemon's, the kernel's */
	uint16_t table, entry;   /* attributes */
	void (*put)(struct nldev_message *m, const struct uhca_table *t, unsigned row);
} kinds[] = {
	{RDMA_NLDEV_CMD_RES_PD_GET, "pd", "pd", RDMA_NLDEV_ATTR_RES_PD,
	 RDMA_NLDEV_ATTR_RES_PD_ENTRY, put_pd},
	{RDMA_NLDEV_CMD_RES_CQ_GET, "cq", "cq", RDMA_NLDEV_ATTR_RES_CQ,
	 RDMA_NLDEV_ATTR_RES_CQ_ENTRY, put_cq},
	{RDMA_NLDEV_CMD_RES_QP_GET, "qp", "qp", RDMA_NLDEV_ATTR_RES_QP,
	 RDMA_NLDEV_ATTR_RES_QP_ENTRY, put_qp},
	{RDMA_NLDEV_CMD_RES_CM_ID_GET, "cm_id", "cm_id", RDMA_NLDEV_ATTR_RES_CM_ID,
	 RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, put_cm_id},
	{RDMA_NLDEV_CMD_RES_MR_GET, "mr", "mr", RDMA_NLDEV_ATTR_RES_MR,
	 RDMA_NLDEV_ATTR_RES_MR_ENTRY, put_mr},
	{NLDEV_CMD_RES_CTX_GET, "client", "ctx", NLDEV_ATTR_RES_CTX, NLDEV_ATTR_RES_CTX_ENTRY,
	 put_ctx},
	{NLDEV_CMD_RES_SRQ_GET, "srq", "srq", NLDEV_ATTR_RES_SRQ, NLDEV_ATTR_RES_SRQ_ENTRY,
	 put_srq},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool is_of(const struct uhca_table *t, unsigned row, const char *device)
{
	return strcmp(uhca_table_text(t, row, "device"), device) == 0;
}

/* ---- how many ---- */

static void put_count(struct nldev_message *m, const char *name, uint64_t count)
{
	size_t entry = nldev_open(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	nldev_put_text(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	nldev_put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
	nldev_close(m, entry);
}

static void answer_summary(const struct nldev_request *r, uint32_t index, const char *name,
			   const struct uhca_table tables[KINDS])
{
	struct nldev_message m;
	size_t summary;

	nldev_begin_of(&m, r, index, name);
	summary = nldev_open(&m, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (unsigned k = 0; k < KINDS; k++) {
		uint64_t count = 0;

		for (unsigned row = 0; row < tables[k].n_rows; row++)
			count += is_of(&tables[k], row, name);
		put_count(&m, kinds[k].name, count);
	}
	nldev_close(&m, summary);
	nldev_end(&m);
}

static int answer_counts(const struct nldev_request *r, struct dirent **devices, uint32_t n)
{
	bool dump = r->header->nlmsg_flags & NLM_F_DUMP, good = true;
	struct uhca_table tables[KINDS];

	if (!dump && !r->has_device)
		return -EINVAL;
	if (!dump && r->device >= n)
		return -ENODEV;
	for (unsigned k = 0; k < KINDS; k++)
		good = uhca_table_ask(&tables[k], r->from->root, kinds[k].what) && good;
	for (uint32_t i = 0; good && i < n; i++)
		if (dump || i == r->device)
			answer_summary(r, i, devices[i]->d_name, tables);
	for (unsigned k = 0; k < KINDS; k++)
		uhca_table_free(&tables[k]);
	return good ? 0 : -EIO;
}

/* ---- each ---- */

/* The process behind an object: that of its context. */
static uint32_t pid_of(const struct uhca_table *t, unsigned row, const struct uhca_table *clients)
{
	if (*uhca_table_text(t, row, "pid"))
		return u32(t, row, "pid");
	for (unsigned i = 0; i < clients->n_rows; i++)
		if (u32(clients, i, "client") == u32(t, row, "client"))
			return u32(clients, i, "pid");
	return 0;
}

/*
 * The asker reads nothing before all is sent: what its socket has room for (net.core.rmem_default)
 * is all that it can get.
 */
#define MESSAGES   40u
#define ENTRY_MOST 512u /* bytes */

static void put_entry(struct nldev_message *m, const struct kind *k, const struct uhca_table *t,
		      unsigned row, uint32_t pid)
{
	size_t entry = nldev_open(m, k->entry);

	k->put(m, t, row);
	nldev_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, pid);
	nldev_close(m, entry);
}

static void answer_rows(const struct nldev_request *r, const struct kind *k, const char *name,
			const struct uhca_table *t, const struct uhca_table *clients)
{
	struct nldev_message m;
	unsigned row = 0;
	size_t table;

	for (unsigned i = 0; i < MESSAGES && row < t->n_rows; i++) {
		bool any = false;

		nldev_begin_of(&m, r, r->device, name);
		table = nldev_open(&m, k->table);
		for (; row < t->n_rows && m.header.nlmsg_len + ENTRY_MOST <= NLDEV_ROOM; row++)
			if (is_of(t, row, name)) {
				put_entry(&m, k, t, row, pid_of(t, row, clients));
				any = true;
			}
		nldev_close(&m, table);
		if (any)
			nldev_end(&m);
	}
}

static int answer_kind(const struct nldev_request *r, const struct kind *k, const char *name)
{
	struct uhca_table t, clients;
	bool good = uhca_table_ask(&t, r->from->root, k->what);

	good = uhca_table_ask(&clients, r->from->root, "client") && good;
	if (good)
		answer_rows(r, k, name, &t, &clients);
	uhca_table_free(&t);
	uhca_table_free(&clients);
	return good ? 0 : -EIO;
}

int nldev_answer_resources(const struct nldev_request *r, struct dirent **devices, uint32_t n)
{
	unsigned k = 0;

	if (r->command == RDMA_NLDEV_CMD_RES_GET)
		return answer_counts(r, devices, n);
	while (k < KINDS && kinds[k].command != r->command)
		k++;
	if (k == KINDS || !(r->header->nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;
	if (!r->has_device)
		return -EINVAL;
	return r->device < n ? answer_kind(r, &kinds[k], devices[r->device]->d_name) : -ENODEV;
}
