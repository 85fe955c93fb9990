/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_daemon.h"

#include "fake_tree.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CQE_ROOM 4096u /* offset of the entries in a CQ's region */

/* A request, and the reply that is being made. */
struct exchange {
	union {
		struct uhca_cmd_request h;
		_Alignas(8) uint8_t bytes[UHCA_ABI_MAX_MESSAGE];
	} in;
	int in_fd[UHCA_ABI_MAX_FDS];
	unsigned n_in_fd;
	union {
		struct uhca_cmd_reply h;
		_Alignas(8) uint8_t bytes[UHCA_ABI_MAX_MESSAGE];
	} out;
	size_t out_size;
	int out_fd[UHCA_ABI_MAX_FDS];
	unsigned n_out_fd;
};

/* ---- shared memory ---- */

static int make_file(size_t size, void **base)
{
	int fd = memfd_create("fake", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	*base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(*base, MAP_FAILED);
	return fd;
}

/* Without a header, and so without damage to it. */
static int make_memory(struct fake_daemon *d, size_t size)
{
	void *base;
	int fd = make_file(size, &base);

	munmap(base, size);
	if (d->good_regions > 0)
		d->good_regions--;
	else if (d->mood == FAKE_SHORT_FILE)
		assert_int_equal(ftruncate(fd, (off_t)size - 1), 0);
	return fd;
}

static int make_region(struct fake_daemon *d, size_t size, uint32_t kind, void **base)
{
	int fd = make_file(size, base);
	struct uhca_abi_region *r = *base;

	r->magic = UHCA_ABI_MAGIC;
	r->version = UHCA_ABI_VERSION;
	r->kind = kind;
	r->size = size;
	if (d->good_regions > 0)
		d->good_regions--;
	else if (d->mood == FAKE_SHORT_FILE)
		assert_int_equal(ftruncate(fd, (off_t)size - 1), 0);
	else if (d->damage)
		d->damage(r);
	return fd;
}

static struct fake_queue *new_queue(struct fake_daemon *d, uint32_t kind)
{
	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++) {
		struct fake_queue *q = &d->queue[i];
		if (q->handle)
			continue;
		memset(q, 0, sizeof(*q));
		q->handle = ++d->next_handle;
		q->kind = kind;
		return q;
	}
	abort();
}

static void free_queue(struct fake_queue *q)
{
	munmap(q->base, q->size);
	q->handle = 0;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return n ? p : 0;
}

/* Lays a queue of n entries out behind *end. */
static struct uhca_abi_queue_layout lay_out(uint32_t n, uint32_t stride, uint32_t data, size_t *end)
{
	struct uhca_abi_queue_layout l = {
		.entries = power_of_two(n), .stride = stride, .offset = *end, .data_stride = data};

	*end += (size_t)l.entries * stride;
	l.data_offset = data ? *end : 0;
	*end += (size_t)l.entries * data;
	return l;
}

/* ---- commands ---- */

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Of several clients only the last can be looked at; what it shares with the others is theirs. */
static void forget_client(struct fake_daemon *d)
{
	close_one(&d->mem_fd);
	close_one(&d->async_fd);
	close_one(&d->event_fd);
	if (d->status)
		munmap(d->status, sizeof(*d->status));
	if (d->doorbell)
		munmap(d->doorbell, sizeof(*d->doorbell));
	if (d->active_doorbells)
		munmap(d->active_doorbells, sizeof(*d->active_doorbells));
	d->status = NULL;
	d->doorbell = NULL;
	d->active_doorbells = NULL;
}

static void hello(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_hello_reply *r = (void *)x->out.bytes;
	void *base;

	assert_int_equal(x->n_in_fd, 2);
	forget_client(d);
	d->mem_fd = x->in_fd[0];
	d->async_fd = x->in_fd[1];
	r->client = 1;
	r->gather_limit = d->gather_limit;
	x->out_fd[0] = make_region(d, sizeof(*d->status), UHCA_ABI_REGION_STATUS, &base);
	d->status = base;
	x->out_fd[1] = make_region(d, sizeof(*d->doorbell), UHCA_ABI_REGION_DOORBELL, &base);
	d->doorbell = base;
	d->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	x->out_fd[2] = dup(d->event_fd);
	x->out_fd[3] = make_file(sizeof(*d->active_doorbells), &base);
	d->active_doorbells = base;
	x->n_out_fd = 4;
	x->out_size = sizeof(*r);
	x->n_in_fd = 0; /* kept */
}

static void query_device(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_device_attr *r = (void *)x->out.bytes;

	snprintf(r->fw_ver, sizeof(r->fw_ver), "0.0-fake");
	r->node_guid = r->sys_image_guid = 0x010000feffca7502ull;
	r->max_mr_size = 1ull << 40;
	r->page_size_cap = 4096;
	r->device_cap_flags = 1u << 3 | 1ull << 36;
	r->vendor_id = 0x75ca;
	r->vendor_part_id = 1;
	r->max_qp = 100;
	r->max_qp_wr = 1024;
	r->max_sge = r->max_sge_rd = FAKE_MAX_SGE;
	r->max_cqe = 1000;
	r->phys_port_cnt = 1;
	r->max_inline_data = FAKE_DATA_STRIDE;
	r->features = d->features;
	r->max_list_entries = d->max_list_entries;
	r->max_low_latency_wr = 33;
	snprintf(r->profile, sizeof(r->profile), "fifteen letters");
	x->out_size = sizeof(*r);
}

static void query_port(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_port_attr *r = (void *)x->out.bytes;
	const struct uhca_cmd_handle *in = (void *)x->in.bytes;

	(void)d;
	if (in->handle != 1) {
		x->out.h.status = -EINVAL;
		return;
	}
	r->state = 4;
	r->max_mtu = r->active_mtu = 5;
	r->gid_tbl_len = 2;
	r->max_msg_sz = 1u << 31;
	r->pkey_tbl_len = 1;
	r->active_width = 2;
	r->active_speed = 32;
	r->phys_state = 5;
	r->link_layer = 2;
	x->out_size = sizeof(*r);
}

static void new_handle(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_handle_reply *r = (void *)x->out.bytes;

	r->handle = ++d->next_handle;
	x->out_size = sizeof(*r);
}

static void create_channel(struct fake_daemon *d, struct exchange *x)
{
	assert_int_equal(x->n_in_fd, 1);
	new_handle(d, x);
	d->channel_fd[d->next_handle % FAKE_MAX_OBJECTS] = x->in_fd[0];
	x->n_in_fd = 0; /* kept */
}

static void destroy_channel(struct fake_daemon *d, struct exchange *x)
{
	const struct uhca_cmd_handle *in = (void *)x->in.bytes;

	close(d->channel_fd[in->handle % FAKE_MAX_OBJECTS]);
	d->channel_fd[in->handle % FAKE_MAX_OBJECTS] = -1;
}

static void reg_mr(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_reg_mr_reply *r = (void *)x->out.bytes;

	r->handle = ++d->next_handle;
	r->lkey = r->handle << 8;
	r->rkey = x->in.h.cmd == UHCA_CMD_ALLOC_KEY ? r->lkey : r->lkey | FAKE_RKEY_BYTE;
	x->out_size = sizeof(*r);
}

static void alloc_mw(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_alloc_mw_reply *r = (void *)x->out.bytes;

	r->handle = ++d->next_handle;
	r->rkey = r->handle << 8;
	x->out_size = sizeof(*r);
}

/* Nobody on this side needs the memory: the file alone is kept by who maps it. */
static void alloc_dm(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_alloc_dm_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_alloc_dm *in = (void *)x->in.bytes;
	size_t size = (in->length + 4095) & ~(size_t)4095;

	x->out_fd[0] = make_memory(d, size);
	x->n_out_fd = 1;
	r->handle = ++d->next_handle;
	r->region_size = size;
	x->out_size = sizeof(*r);
}

static void create_comp_cntr(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_create_comp_cntr_reply *r = (void *)x->out.bytes;
	const struct uhca_abi_region header = {.magic = UHCA_ABI_MAGIC,
					       .version = UHCA_ABI_VERSION,
					       .kind = UHCA_ABI_REGION_COMP_CNTR,
					       .size = sizeof(struct uhca_abi_comp_cntr)};

	x->out_fd[0] = make_memory(d, header.size);
	x->n_out_fd = 1;
	(void)!pwrite(x->out_fd[0], &header, sizeof(header), 0);
	r->handle = ++d->next_handle;
	r->region_size = header.size;
	x->out_size = sizeof(*r);
}

static void export_context(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_export_reply *r = (void *)x->out.bytes;

	(void)d;
	memcpy(r->token, FAKE_TOKEN, sizeof(r->token));
	x->out_size = sizeof(*r);
}

static void import_object(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_import_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_import *in = (void *)x->in.bytes;
	const size_t size = 4096;

	r->lkey = in->handle << 8;
	r->rkey = r->lkey | FAKE_RKEY_BYTE;
	r->length = 64;
	if (in->type == UHCA_ABI_IMPORT_DM) {
		x->out_fd[0] = make_memory(d, size);
		x->n_out_fd = 1;
		r->region_size = size;
	}
	x->out_size = sizeof(*r);
}

/* The queue's page and rings, which the reply carries. */
static void hand_over(struct fake_daemon *d, struct fake_queue *q, struct exchange *x)
{
	void *base;

	x->out_fd[0] = make_region(d, q->size, q->kind, &base);
	x->n_out_fd = 1;
	q->base = base;
}

static void create_cq(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_create_cq_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_create_cq *in = (void *)x->in.bytes;
	struct fake_queue *q = new_queue(d, UHCA_ABI_REGION_CQ);

	q->cookie = in->cookie;
	q->channel = in->channel;
	q->entries = power_of_two(in->cqe);
	q->size = CQE_ROOM + (size_t)q->entries * FAKE_CQE_STRIDE;
	hand_over(d, q, x);
	r->handle = q->handle;
	r->cqe = r->entries = q->entries;
	r->stride = FAKE_CQE_STRIDE;
	r->entries_offset = CQE_ROOM;
	r->region_size = q->size;
	x->out_size = sizeof(*r);
}

static struct fake_queue *find_queue(struct fake_daemon *d, uint32_t handle)
{
	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++)
		if (d->queue[i].handle && d->queue[i].handle == handle)
			return &d->queue[i];
	return NULL;
}

/* Only grows. */
static void resize_cq(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_create_cq_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_resize_cq *in = (void *)x->in.bytes;
	struct fake_queue *q = find_queue(d, in->handle);
	uint8_t *from = q->base;
	size_t from_size = q->size;
	uint32_t old = q->entries;
	void *base;

	q->entries = power_of_two(in->cqe);
	q->size = CQE_ROOM + (size_t)q->entries * FAKE_CQE_STRIDE;
	x->out_fd[0] = make_region(d, q->size, q->kind, &base);
	x->n_out_fd = 1;
	for (uint32_t i = q->producer < old ? 0 : q->producer - old; i < q->producer; i++)
		memcpy((uint8_t *)base + CQE_ROOM + (i & (q->entries - 1)) * FAKE_CQE_STRIDE,
		       from + CQE_ROOM + (i & (old - 1)) * FAKE_CQE_STRIDE, FAKE_CQE_STRIDE);
	munmap(from, from_size);
	q->base = base;
	r->handle = q->handle;
	r->cqe = r->entries = q->entries;
	r->stride = FAKE_CQE_STRIDE;
	r->entries_offset = CQE_ROOM;
	r->region_size = q->size;
	x->out_size = sizeof(*r);
}

static void create_qp(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_create_qp_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_create_qp *in = (void *)x->in.bytes;
	struct fake_queue *q = new_queue(d, UHCA_ABI_REGION_QP);

	q->cookie = in->cookie;
	q->size = sizeof(struct uhca_abi_queue);
	q->send = lay_out(in->max_send_wr, UHCA_ABI_SEND_STRIDE(FAKE_MAX_SGE), FAKE_DATA_STRIDE,
			  &q->size);
	q->recv = lay_out(in->max_recv_wr, UHCA_ABI_RECV_STRIDE(FAKE_MAX_SGE), 0, &q->size);
	hand_over(d, q, x);
	q->qpn = d->next_qpn++;
	r->handle = q->handle;
	r->qpn = q->qpn;
	r->doorbell = q->handle;
	r->max_send_wr = in->max_send_wr;
	r->max_recv_wr = in->max_recv_wr;
	r->max_send_sge = r->max_recv_sge = FAKE_MAX_SGE;
	r->max_inline_data = FAKE_DATA_STRIDE;
	r->region_size = q->size;
	r->send = q->send;
	r->recv = q->recv;
	x->out_size = sizeof(*r);
}

static void query_qp(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_query_qp_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_modify_qp *last = (void *)d->last[UHCA_CMD_MODIFY_QP];

	r->attr = last->attr; /* what it was told last */
	x->out_size = sizeof(*r);
}

static void query_peer(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_query_peer_reply *r = (void *)x->out.bytes;

	*r = d->peer; /* the header is filled in behind this */
	x->out_size = sizeof(*r);
}

static void create_srq(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_create_srq_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_create_srq *in = (void *)x->in.bytes;
	struct fake_queue *q = new_queue(d, UHCA_ABI_REGION_SRQ);

	q->cookie = in->cookie;
	q->size = sizeof(struct uhca_abi_queue);
	q->recv = lay_out(in->max_wr, UHCA_ABI_RECV_STRIDE(FAKE_MAX_SGE), 0, &q->size);
	hand_over(d, q, x);
	r->handle = r->srq_num = q->handle;
	r->max_wr = q->recv.entries;
	r->max_sge = FAKE_MAX_SGE;
	r->region_size = q->size;
	r->recv = q->recv;
	x->out_size = sizeof(*r);
}

/* One that exists already: its page has no rings. */
static void open_qp(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_open_qp_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_open_qp *in = (void *)x->in.bytes;
	struct fake_queue *q = new_queue(d, UHCA_ABI_REGION_QP);

	q->cookie = in->cookie;
	q->size = sizeof(struct uhca_abi_queue);
	hand_over(d, q, x);
	q->qpn = in->qpn;
	r->handle = q->handle;
	r->qp_state = FAKE_OPEN_STATE;
	r->region_size = q->size;
	x->out_size = sizeof(*r);
}

static void create_wq(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_create_srq_reply *r = (void *)x->out.bytes;
	const struct uhca_cmd_create_wq *in = (void *)x->in.bytes;
	struct fake_queue *q = new_queue(d, UHCA_ABI_REGION_SRQ);

	q->cookie = in->cookie;
	q->size = sizeof(struct uhca_abi_queue);
	q->recv = lay_out(in->max_wr, UHCA_ABI_RECV_STRIDE(FAKE_MAX_SGE), 0, &q->size);
	hand_over(d, q, x);
	q->qpn = d->next_qpn++;
	r->handle = q->handle;
	r->srq_num = q->qpn;
	r->max_wr = q->recv.entries;
	r->max_sge = FAKE_MAX_SGE;
	r->region_size = q->size;
	r->recv = q->recv;
	x->out_size = sizeof(*r);
}

static void query_srq(struct fake_daemon *d, struct exchange *x)
{
	struct uhca_cmd_query_srq_reply *r = (void *)x->out.bytes;

	(void)d;
	r->max_wr = 16;
	r->max_sge = FAKE_MAX_SGE;
	r->srq_limit = 3;
	x->out_size = sizeof(*r);
}

static void destroy_queue(struct fake_daemon *d, struct exchange *x)
{
	const struct uhca_cmd_handle *in = (void *)x->in.bytes;

	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++)
		if (d->queue[i].handle && d->queue[i].handle == in->handle)
			free_queue(&d->queue[i]);
}

/* The others have no reply but the header. */
static void (*const answers[UHCA_CMD_COUNT])(struct fake_daemon *, struct exchange *) = {
	[UHCA_CMD_HELLO] = hello,
	[UHCA_CMD_QUERY_DEVICE] = query_device,
	[UHCA_CMD_QUERY_PORT] = query_port,
	[UHCA_CMD_EXPORT] = export_context,
	[UHCA_CMD_IMPORT] = import_object,
	[UHCA_CMD_ALLOC_PD] = new_handle,
	[UHCA_CMD_CREATE_AH] = new_handle,
	[UHCA_CMD_OPEN_XRCD] = new_handle,
	[UHCA_CMD_CREATE_RWQ_IND_TABLE] = new_handle,
	[UHCA_CMD_CREATE_FLOW] = new_handle,
	[UHCA_CMD_ALLOC_MW] = alloc_mw,
	[UHCA_CMD_ALLOC_DM] = alloc_dm,
	[UHCA_CMD_CREATE_COMP_CNTR] = create_comp_cntr,
	[UHCA_CMD_REG_MR] = reg_mr,
	[UHCA_CMD_REG_SHARED_MR] = reg_mr,
	[UHCA_CMD_ALLOC_KEY] = reg_mr,
	[UHCA_CMD_ALLOC_NULL_MR] = reg_mr,
	[UHCA_CMD_REG_DM_MR] = reg_mr,
	[UHCA_CMD_REREG_MR] = reg_mr,
	[UHCA_CMD_CREATE_CHANNEL] = create_channel,
	[UHCA_CMD_DESTROY_CHANNEL] = destroy_channel,
	[UHCA_CMD_CREATE_CQ] = create_cq,
	[UHCA_CMD_RESIZE_CQ] = resize_cq,
	[UHCA_CMD_CREATE_QP] = create_qp,
	[UHCA_CMD_OPEN_QP] = open_qp,
	[UHCA_CMD_CREATE_WQ] = create_wq,
	[UHCA_CMD_QUERY_QP] = query_qp,
	[UHCA_CMD_QUERY_PEER] = query_peer,
	[UHCA_CMD_CREATE_SRQ] = create_srq,
	[UHCA_CMD_QUERY_SRQ] = query_srq,
	[UHCA_CMD_DESTROY_CQ] = destroy_queue,
	[UHCA_CMD_DESTROY_QP] = destroy_queue,
	[UHCA_CMD_DESTROY_SRQ] = destroy_queue,
	[UHCA_CMD_DESTROY_WQ] = destroy_queue,
};

static void answer(struct fake_daemon *d, struct exchange *x)
{
	const uint32_t cmd = x->in.h.cmd;

	if (cmd < UHCA_CMD_COUNT && answers[cmd])
		answers[cmd](d, x);
}

/* ---- the socket ---- */

static bool receive(int fd, struct exchange *x)
{
	char control[CMSG_SPACE(UHCA_ABI_MAX_FDS * sizeof(int))];
	struct iovec iov = {x->in.bytes, sizeof(x->in.bytes)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);

	if (n < (ssize_t)sizeof(x->in.h))
		return false;
	x->n_in_fd = 0;
	for (struct cmsghdr *m = CMSG_FIRSTHDR(&msg); m; m = CMSG_NXTHDR(&msg, m)) {
		x->n_in_fd = (unsigned)((m->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(x->in_fd, CMSG_DATA(m), x->n_in_fd * sizeof(int));
	}
	return x->in.h.size == (uint32_t)n && x->in.h.cmd < UHCA_CMD_COUNT;
}

static void reply(int fd, struct exchange *x)
{
	char control[CMSG_SPACE(UHCA_ABI_MAX_FDS * sizeof(int))] = {0};
	struct iovec iov = {x->out.bytes, x->out_size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (x->n_out_fd) {
		struct cmsghdr *m = (void *)control;
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(x->n_out_fd * sizeof(int));
		m->cmsg_level = SOL_SOCKET;
		m->cmsg_type = SCM_RIGHTS;
		m->cmsg_len = CMSG_LEN(x->n_out_fd * sizeof(int));
		memcpy(CMSG_DATA(m), x->out_fd, x->n_out_fd * sizeof(int));
	}
	sendmsg(fd, &msg, MSG_NOSIGNAL);
}

static void close_fds(const struct exchange *x)
{
	for (unsigned i = 0; i < x->n_out_fd; i++)
		close(x->out_fd[i]);
	for (unsigned i = 0; i < x->n_in_fd; i++)
		close(x->in_fd[i]);
}

static bool serve(struct fake_daemon *d, int fd)
{
	struct exchange x;
	unsigned n_fd;

	if (!receive(fd, &x))
		return false;
	memset(&x.out, 0, sizeof(x.out));
	x.out_size = sizeof(x.out.h);
	x.n_out_fd = 0;
	__atomic_fetch_add(&d->calls[x.in.h.cmd], 1, __ATOMIC_RELAXED);
	memcpy(d->last[x.in.h.cmd], x.in.bytes, sizeof(d->last[0]));
	x.out.h.status = d->fail[x.in.h.cmd];
	if (!x.out.h.status)
		answer(d, &x);
	if (!x.out.h.status && d->spoil && x.in.h.cmd == d->spoilt)
		d->spoil(x.out.bytes);
	x.out.h.cmd = x.in.h.cmd;
	x.out.h.sequence = x.in.h.sequence + (d->mood == FAKE_WRONG_NUMBER);
	x.out_size -= d->mood == FAKE_WRONG_SIZE;
	x.out.h.size = (uint32_t)x.out_size;
	n_fd = x.n_out_fd;
	if (d->mood == FAKE_NO_FD)
		x.n_out_fd = 0;
	if (d->mood != FAKE_SILENT)
		reply(fd, &x);
	x.n_out_fd = n_fd;
	close_fds(&x);
	return true;
}

static void take_client(struct fake_daemon *d)
{
	int fd = accept(d->listen_fd, NULL, NULL);

	for (unsigned i = 0; i < d->n_clients; i++)
		if (d->client[i] < 0) {
			__atomic_store_n(&d->client[i], fd, __ATOMIC_RELEASE);
			return;
		}
	assert_true(d->n_clients < sizeof(d->client) / sizeof(d->client[0]));
	d->client[d->n_clients++] = fd;
}

static void *run(void *arg)
{
	struct fake_daemon *d = arg;

	for (;;) {
		struct pollfd p[2 + 8] = {{.fd = d->stop_fd[0], .events = POLLIN},
					  {.fd = d->listen_fd, .events = POLLIN}};
		unsigned n = d->n_clients;
		for (unsigned i = 0; i < n; i++)
			p[2 + i] = (struct pollfd){.fd = d->client[i], .events = POLLIN};
		poll(p, 2 + n, -1);
		if (p[0].revents)
			return NULL;
		for (unsigned i = 0; i < n; i++) {
			if (p[2 + i].revents && !serve(d, d->client[i])) {
				close(d->client[i]);
				__atomic_store_n(&d->client[i], -1, __ATOMIC_RELEASE);
			}
		}
		if (p[1].revents)
			take_client(d);
	}
}

/* ---- for the test ---- */

void fake_daemon_start(struct fake_daemon *d)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	memset(d, 0, sizeof(*d));
	d->async_fd = d->mem_fd = d->event_fd = -1;
	d->next_qpn = FAKE_QPN;
	d->gather_limit = FAKE_DATA_STRIDE;
	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++)
		d->channel_fd[i] = -1;
	assert_non_null(getenv("UHCA_DIR"));
	fake_tree_make(getenv("UHCA_DIR"));
	assert_true(snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", getenv("UHCA_DIR")) <
		    (int)sizeof(addr.sun_path));
	unlink(addr.sun_path);
	d->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(d->listen_fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(d->listen_fd, 8), 0);
	assert_int_equal(pipe(d->stop_fd), 0);
	assert_int_equal(pthread_create(&d->thread, NULL, run, d), 0);
}

void fake_daemon_die(struct fake_daemon *d)
{
	assert_int_equal(write(d->stop_fd[1], "", 1), 1);
	pthread_join(d->thread, NULL);
	close_one(&d->stop_fd[0]);
	close_one(&d->stop_fd[1]);
	close_one(&d->listen_fd);
	for (unsigned i = 0; i < d->n_clients; i++)
		close_one(&d->client[i]);
	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++)
		close_one(&d->channel_fd[i]);
	close_one(&d->async_fd);
	close_one(&d->mem_fd);
	close_one(&d->event_fd);
}

void fake_daemon_stop(struct fake_daemon *d)
{
	if (d->listen_fd >= 0)
		fake_daemon_die(d);
	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++)
		if (d->queue[i].handle)
			free_queue(&d->queue[i]);
	forget_client(d);
}

void fake_await_clients(struct fake_daemon *d, unsigned n)
{
	unsigned have = n + 1;

	for (int ms = 0; ms < 10000 && have != n; ms++) {
		have = 0;
		for (unsigned i = 0; i < d->n_clients; i++)
			have += __atomic_load_n(&d->client[i], __ATOMIC_ACQUIRE) >= 0;
		if (have != n)
			poll(NULL, 0, 1);
	}
	assert_int_equal(have, n);
}

struct fake_queue *fake_newest(struct fake_daemon *d, uint32_t kind)
{
	struct fake_queue *newest = NULL;

	for (unsigned i = 0; i < FAKE_MAX_OBJECTS; i++) {
		struct fake_queue *q = &d->queue[i];
		if (q->handle && q->kind == kind && (!newest || q->handle > newest->handle))
			newest = q;
	}
	return newest;
}

void fake_complete(struct fake_queue *cq, const struct uhca_abi_cqe *e)
{
	uint32_t i = cq->producer++;
	struct uhca_abi_cqe *slot =
		(void *)(cq->base + CQE_ROOM + (i & (cq->entries - 1)) * FAKE_CQE_STRIDE);

	memcpy(slot, e, offsetof(struct uhca_abi_cqe, sequence));
	__atomic_store_n(&slot->sequence, i + 1, __ATOMIC_RELEASE);
	uhca_ring_publish(&((struct uhca_abi_cq *)(void *)cq->base)->ring.producer, i + 1);
}

void fake_comp_event(struct fake_daemon *d, const struct fake_queue *cq)
{
	struct uhca_abi_comp_event e = {.cookie = cq->cookie};

	assert_int_equal(send(d->channel_fd[cq->channel % FAKE_MAX_OBJECTS], &e, sizeof(e), 0),
			 sizeof(e));
}

void fake_async_event(struct fake_daemon *d, uint64_t element, uint32_t type)
{
	struct uhca_abi_async_event e = {.element = element, .type = type};

	assert_int_equal(send(d->async_fd, &e, sizeof(e), 0), sizeof(e));
}
