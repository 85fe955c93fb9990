/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric_side.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* What the target tells the initiator. */
struct hello {
	uint64_t addr, key;
	size_t name_len;
	char name[64];
};

double fabric_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void control_put(struct side *s, const void *data, size_t len)
{
	need(send(s->control, data, len, MSG_NOSIGNAL) == (ssize_t)len);
}

void control_get(struct side *s, void *data, size_t len)
{
	struct pollfd p = {.fd = s->control, .events = POLLIN};

	need(poll(&p, 1, SECONDS * 1000) == 1);
	need(recv(s->control, data, len, MSG_WAITALL) == (ssize_t)len);
}

const char *fabric_name(const struct plan *p)
{
	return p->type == FI_EP_MSG ? "MSG" : "RDM";
}

void fabric_row(const char *call, const char *flags, const struct plan *p, const char *what)
{
	printf("| %s | %s | %s%s%s | %s |\n", call, flags ? flags : "", fabric_name(p),
	       p->unregistered ? ", unregistered" : "", p->quiet ? ", quiet" : "", what);
	fflush(stdout);
}

void fabric_refused(const char *call, const char *flags, const struct plan *p, int error)
{
	char what[80];

	snprintf(what, sizeof(what), "refused by libfabric: %d (%s)", -error, fi_strerror(error));
	fabric_row(call, flags, p, what);
}

struct fi_info *fabric_hints(const struct plan *p)
{
	struct fi_info *h = fi_allocinfo();

	need(h);
	h->ep_attr->type = p->type;
	h->caps = FI_MSG | FI_RMA;
	if (strchr(p->address, ':'))
		h->addr_format = FI_SOCKADDR_IN6;
	h->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	h->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (!p->unregistered)
		h->domain_attr->mr_mode |= FI_MR_LOCAL;
	h->tx_attr->op_flags = p->quiet ? 0 : FI_COMPLETION;
	h->fabric_attr->prov_name = strdup(p->type == FI_EP_MSG ? "verbs" : "verbs;ofi_rxm");
	return h;
}

static void open_domain(struct side *s, const char *service, uint64_t flags)
{
	struct fi_info *hints = fabric_hints(s->plan);
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};

	works(fi_getinfo(FABRIC_VERSION, s->plan->address, service, flags, hints, &s->info));
	fi_freeinfo(hints);
	works(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	works(fi_eq_open(s->fabric, &eq, &s->eq, NULL));
}

void fabric_register(struct side *s, void *memory, size_t len, struct fid_mr **mr)
{
	const uint64_t access =
		FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	static uint64_t key = 100;

	works(fi_mr_reg(s->domain, memory, len, access, 0, key++, 0, mr, NULL));
}

static void open_counter(struct side *s, uint64_t event, struct fid_cntr **cntr)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};

	s->cntr_error = fi_cntr_open(s->domain, &attr, cntr, NULL);
	if (s->cntr_error)
		*cntr = NULL;
	else
		works(fi_ep_bind(s->ep, &(*cntr)->fid, event));
}

static void bind_endpoint(struct side *s)
{
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .size = 64, .wait_obj = FI_WAIT_NONE};
	struct fi_wait_attr set = {.wait_obj = FI_WAIT_UNSPEC};

	works(fi_cq_open(s->domain, &cq, &s->rx, NULL));
	cq.wait_obj = s->plan->wait;
	if (cq.wait_obj == FI_WAIT_SET) {
		works(fi_wait_open(s->fabric, &set, &s->set));
		cq.wait_set = s->set;
	}
	works(fi_cq_open(s->domain, &cq, &s->tx, NULL));
	works(fi_ep_bind(s->ep, &s->tx->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION));
	works(fi_ep_bind(s->ep, &s->rx->fid, FI_RECV));
	if (s->plan->type == FI_EP_MSG) {
		works(fi_ep_bind(s->ep, &s->eq->fid, 0));
	} else {
		struct fi_av_attr av = {.type = FI_AV_TABLE};
		works(fi_av_open(s->domain, &av, &s->av, NULL));
		works(fi_ep_bind(s->ep, &s->av->fid, 0));
	}
	open_counter(s, FI_READ, &s->reads);
	open_counter(s, FI_WRITE, &s->writes);
	works(fi_enable(s->ep));
}

static void make_endpoint(struct side *s, struct fi_info *info)
{
	works(fi_domain(s->fabric, info, &s->domain, NULL));
	works(fi_endpoint(s->domain, info, &s->ep, NULL));
	bind_endpoint(s);
	s->local = aligned_alloc(4096, LOCAL_SIZE);
	need(s->local);
	memset(s->local, 0, LOCAL_SIZE);
	if (s->plan->unregistered)
		return;
	fabric_register(s, s->local, LOCAL_SIZE, &s->local_mr);
	s->desc = fi_mr_desc(s->local_mr);
}

void fabric_post_receive(struct side *s, unsigned i)
{
	works(fi_recv(s->ep, s->local + i * RECEIVE_SIZE, RECEIVE_SIZE, s->desc, FI_ADDR_UNSPEC,
		      &s->context[i]));
}

void fabric_post_receives(struct side *s)
{
	for (unsigned i = 0; i < RECEIVES; i++)
		fabric_post_receive(s, i);
}

static struct fi_info *await_event(struct side *s, uint32_t wanted)
{
	union {
		struct fi_eq_cm_entry cm;
		char room[512];
	} entry;
	struct fi_eq_err_entry error = {0};
	uint32_t event;
	ssize_t n = fi_eq_sread(s->eq, &event, &entry, sizeof(entry), SECONDS * 1000, 0);

	if (n == -FI_EAVAIL) {
		fi_eq_readerr(s->eq, &error, 0);
		printf("connecting failed: %s\n", fi_strerror(error.err));
	}
	need(n >= (ssize_t)sizeof(entry.cm));
	need(event == wanted);
	return event == FI_CONNREQ ? entry.cm.info : NULL;
}

static void say_hello(struct side *s, fid_t named, struct fid_mr *window)
{
	struct hello h = {.name_len = sizeof(h.name)};

	works(fi_getname(named, h.name, &h.name_len));
	h.key = window ? fi_mr_key(window) : 0;
	h.addr = (uint64_t)(uintptr_t)s->plan->window;
	control_put(s, &h, sizeof(h));
}

/* The window can be registered only when there is a domain: after the request, for MSG. */
static void target_msg(struct side *s)
{
	struct fi_info *request;

	works(fi_passive_ep(s->fabric, s->info, &s->pep, NULL));
	works(fi_pep_bind(s->pep, &s->eq->fid, 0));
	works(fi_listen(s->pep));
	say_hello(s, &s->pep->fid, NULL);
	request = await_event(s, FI_CONNREQ);
	make_endpoint(s, request);
	works(fi_accept(s->ep, NULL, 0));
	fi_freeinfo(request);
	await_event(s, FI_CONNECTED);
}

void fabric_target(struct side *s)
{
	open_domain(s, "0", FI_SOURCE);
	if (s->plan->type == FI_EP_MSG)
		target_msg(s);
	else
		make_endpoint(s, s->info);
	fabric_register(s, s->plan->window, WINDOW_SIZE, &s->window_mr);
	s->plan->post_receives(s);
	say_hello(s, &s->ep->fid, s->window_mr);
}

static void service_of(const struct hello *h, char service[8])
{
	const struct sockaddr_in *in = (const void *)h->name; /* the port is there in IPv6, too */

	snprintf(service, 8, "%u", ntohs(in->sin_port));
}

void fabric_initiator(struct side *s)
{
	struct hello h;
	char service[8];

	control_get(s, &h, sizeof(h));
	service_of(&h, service);
	open_domain(s, service, 0);
	make_endpoint(s, s->info);
	if (s->plan->type == FI_EP_MSG) {
		works(fi_connect(s->ep, s->info->dest_addr, NULL, 0));
		await_event(s, FI_CONNECTED);
		control_get(s, &h, sizeof(h));
	} else {
		need(fi_av_insert(s->av, h.name, 1, &s->peer, 0, NULL) == 1);
	}
	s->remote_addr = s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? h.addr : 0;
	s->remote_key = h.key;
}

static void close_fid(fid_t fid)
{
	if (fid)
		works(fi_close(fid));
}

#define CLOSE(object) close_fid((object) ? &(object)->fid : NULL)

void fabric_close(struct side *s)
{
	CLOSE(s->ep);
	CLOSE(s->pep);
	CLOSE(s->reads);
	CLOSE(s->writes);
	CLOSE(s->local_mr);
	CLOSE(s->window_mr);
	CLOSE(s->tx);
	CLOSE(s->rx);
	CLOSE(s->set);
	CLOSE(s->av);
	CLOSE(s->domain);
	CLOSE(s->eq);
	CLOSE(s->fabric);
	free(s->local);
	fi_freeinfo(s->info);
}

static void say_failure(struct fid_cq *cq)
{
	struct fi_cq_err_entry e = {0};

	fi_cq_readerr(cq, &e, 0);
	printf("a request failed: %s, flags %#llx, provider's %d\n", fi_strerror(e.err),
	       (unsigned long long)e.flags, e.prov_errno);
}

/* By the descriptor: fi_trywait says when it may be slept upon. */
static void sleep_on_fd(struct side *s, struct fid_cq *cq)
{
	struct fid *fids[1] = {&cq->fid};
	struct pollfd p = {.events = POLLIN};

	works(fi_control(&cq->fid, FI_GETWAIT, &p.fd));
	if (fi_trywait(s->fabric, fids, 1) == FI_SUCCESS)
		need(poll(&p, 1, SECONDS * 1000) == 1);
}

static ssize_t read_or_wait(struct side *s, struct fid_cq *cq, struct fi_cq_data_entry *e)
{
	ssize_t n = fi_cq_read(cq, e, 1);

	if (n != -FI_EAGAIN || cq != s->tx)
		return n;
	switch ((int)s->plan->wait) {
	case FI_WAIT_FD:
		sleep_on_fd(s, cq);
		return n;
	case FI_WAIT_NONE:
		return n;
	case FI_WAIT_SET:
		fi_wait(s->set, 1000);
		return n;
	default:
		return fi_cq_sread(cq, e, 1, NULL, 1000);
	}
}

struct fi_cq_data_entry fabric_wait(struct side *s, struct fid_cq *cq, uint64_t flags)
{
	double end = fabric_seconds() + SECONDS;
	struct fi_cq_data_entry e = {0};
	ssize_t n;

	while ((n = read_or_wait(s, cq, &e)) == -FI_EAGAIN)
		need(fabric_seconds() < end);
	if (n == -FI_EAVAIL)
		say_failure(cq);
	need(n == 1);
	need(!flags || e.flags & flags);
	return e;
}
