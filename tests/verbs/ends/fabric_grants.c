/* SPDX-License-Identifier: BSD-2-Clause */
/* What libfabric 1.17 grants, and the numbers of the errors with which it refuses the rest. */
#include "fabric_grants.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fi_errno.h>

static const struct {
	enum fi_wait_obj wait;
	const char *name;
	int msg_error, rdm_error;
} waits[] = {
	{FI_WAIT_NONE, "FI_WAIT_NONE", 0, 0},
	{FI_WAIT_UNSPEC, "FI_WAIT_UNSPEC", 0, 0},
	{FI_WAIT_FD, "FI_WAIT_FD", 0, 0},
	{FI_WAIT_SET, "FI_WAIT_SET", FI_ENOSYS, 0},
	{FI_WAIT_MUTEX_COND, "FI_WAIT_MUTEX_COND", FI_ENOSYS, FI_EINVAL},
	{FI_WAIT_YIELD, "FI_WAIT_YIELD", FI_ENOSYS, FI_EINVAL},
	{FI_WAIT_POLLFD, "FI_WAIT_POLLFD", 0, 0},
};

#define WAITS (sizeof(waits) / sizeof(waits[0]))

static int wait_error(size_t i, enum fi_ep_type type)
{
	return type == FI_EP_MSG ? waits[i].msg_error : waits[i].rdm_error;
}

bool fabric_wait_at(size_t n, enum fi_ep_type type, enum fi_wait_obj *wait)
{
	for (size_t i = 0; i < WAITS; i++)
		if (!wait_error(i, type) && n-- == 0) {
			*wait = waits[i].wait;
			return true;
		}
	return false;
}

const char *fabric_wait_name(enum fi_wait_obj wait)
{
	size_t i = 0;

	while (waits[i].wait != wait)
		i++;
	return waits[i].name;
}

static int open_queue(struct fid_fabric *fabric, struct fid_domain *domain, enum fi_wait_obj wait)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .size = 64, .wait_obj = wait};
	struct fi_wait_attr set = {.wait_obj = FI_WAIT_UNSPEC};
	struct fid_cq *cq;
	int error = 0;

	if (wait == FI_WAIT_SET)
		error = fi_wait_open(fabric, &set, &attr.wait_set);
	if (!error)
		error = fi_cq_open(domain, &attr, &cq, NULL);
	if (!error)
		works(fi_close(&cq->fid));
	if (attr.wait_set)
		works(fi_close(&attr.wait_set->fid));
	return -error;
}

static void try_waits(const struct plan *p, struct fid_fabric *fabric, struct fid_domain *domain)
{
	for (size_t i = 0; i < WAITS; i++) {
		int wanted = wait_error(i, p->type);
		int error = open_queue(fabric, domain, waits[i].wait);
		if (error != wanted)
			printf("%s: %d\n", waits[i].name, error);
		need(error == wanted);
		if (error)
			fabric_refused("fi_cq_open", waits[i].name, p, error);
	}
}

static const struct {
	const char *name;
	uint64_t caps, op_flags;
	int msg_error, rdm_error;
	bool not_local;
} grants[] = {
	{"without FI_MR_LOCAL", 0, 0, FI_ENODATA, 0, true},
	{"capability FI_FENCE", FI_FENCE, 0, FI_ENODATA, FI_ENODATA, false},
	{"capability FI_RMA_EVENT", FI_RMA_EVENT, 0, FI_ENODATA, FI_ENODATA, false},
	{"default FI_INJECT", 0, FI_INJECT, 0, 0, false},
	{"default FI_INJECT_COMPLETE", 0, FI_INJECT_COMPLETE, 0, 0, false},
	{"default FI_TRANSMIT_COMPLETE", 0, FI_TRANSMIT_COMPLETE, 0, 0, false},
	{"default FI_DELIVERY_COMPLETE", 0, FI_DELIVERY_COMPLETE, FI_ENODATA, 0, false},
	{"default FI_COMMIT_COMPLETE", 0, FI_COMMIT_COMPLETE, FI_ENODATA, FI_ENODATA, false},
	{"default FI_MORE", 0, FI_MORE, FI_ENODATA, FI_ENODATA, false},
};

static void try_grants(const struct plan *p)
{
	for (size_t i = 0; i < sizeof(grants) / sizeof(grants[0]); i++) {
		int wanted = p->type == FI_EP_MSG ? grants[i].msg_error : grants[i].rdm_error;
		struct fi_info *hints = fabric_hints(p), *info = NULL;
		int error;

		if (grants[i].not_local)
			hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
		hints->caps |= grants[i].caps;
		hints->tx_attr->op_flags |= grants[i].op_flags;
		error = -fi_getinfo(FABRIC_VERSION, p->address, "7471", FI_SOURCE, hints, &info);
		if (error != wanted)
			printf("%s: %d\n", grants[i].name, error);
		need(error == wanted);
		if (error)
			fabric_refused("fi_getinfo", grants[i].name, p, error);
		else
			fabric_row("fi_getinfo", grants[i].name, p, "granted");
		fi_freeinfo(info);
		fi_freeinfo(hints);
	}
}

static bool is_localhost(const char *address)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, address, &v4) == 1)
		return v4.s_addr == htonl(INADDR_LOOPBACK);
	return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/*
 * The port that a program listens at. For the address 127.0.0.1 or ::1 libfabric takes the one that
 * rdma_cm bound to it instead, without the port.
 */
static void try_port(const struct plan *p)
{
	struct fi_info *hints = fabric_hints(p), *info;
	const struct sockaddr_in *v4;
	const struct sockaddr_in6 *v6;
	in_port_t port;

	works(fi_getinfo(FABRIC_VERSION, p->address, "7471", FI_SOURCE, hints, &info));
	v4 = info->src_addr;
	v6 = info->src_addr;
	port = v4->sin_family == AF_INET ? v4->sin_port : v6->sin6_port;
	need(ntohs(port) == (is_localhost(p->address) ? 0 : 7471));
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

void fabric_grants(struct side *s)
{
	struct fi_info *hints = fabric_hints(s->plan), *info;
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cntr *cntr;
	int error;

	works(fi_getinfo(FABRIC_VERSION, s->plan->address, "0", FI_SOURCE, hints, &info));
	works(fi_fabric(info->fabric_attr, &fabric, NULL));
	works(fi_domain(fabric, info, &domain, NULL));
	try_port(s->plan);
	try_grants(s->plan);
	try_waits(s->plan, fabric, domain);
	error = -fi_cntr_open(domain, &attr, &cntr, NULL);
	if (error)
		fabric_refused("fi_cntr_open", NULL, s->plan, error);
	else
		works(fi_close(&cntr->fid));
	need(error == (s->plan->type == FI_EP_MSG ? FI_ENOSYS : 0));
	works(fi_close(&domain->fid));
	works(fi_close(&fabric->fid));
	fi_freeinfo(info);
	fi_freeinfo(hints);
}
