/* SPDX-License-Identifier: BSD-2-Clause */
/* See daemon_user.h: descriptors, memory, objects and commands; daemon_wr.c has the queues. */
#include "daemon_user.h"

#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEMORY  (16u << 20) /* that may be registered, of which this is there: */
#define PRESENT 65536u
#define OTHER   65536u
#define PATTERN 0x5a
#define MANY    150u /* of what a program hoards */
#define ARENA   (1u << 20)
static uint8_t *memory, *other;
static int arena = -1, file = -1, raw = -1;
static int channel[2] = {-1, -1};

/* ---- memory and descriptors ---- */

static void *reserve(size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	FUZZ_CHECK(at != MAP_FAILED);
	return at;
}

void daemon_memory_make(void)
{
	memory = reserve(MEMORY, PROT_NONE);
	FUZZ_CHECK(mprotect(memory, PRESENT, PROT_READ | PROT_WRITE) == 0);
	other = reserve(OTHER, PROT_READ | PROT_WRITE);
	memset(other, PATTERN, OTHER);
	arena = memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	FUZZ_CHECK(ftruncate(arena, DAEMON_USER_ARENA) == 0 &&
		   fcntl(arena, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	daemon_memory_bring();
	file = memfd_create("domain", MFD_CLOEXEC);
	raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) == 0);
}

void daemon_memory_punch(void)
{
	FUZZ_CHECK(fallocate(arena, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0,
			     DAEMON_USER_ARENA) == 0);
}

void daemon_memory_bring(void)
{
	FUZZ_CHECK(fallocate(arena, FALLOC_FL_KEEP_SIZE, 0, DAEMON_USER_ARENA) == 0);
}

void daemon_memory_free(void)
{
	munmap(memory, MEMORY);
	munmap(other, OTHER);
	close(arena);
	close(file);
	if (raw >= 0)
		close(raw);
	close(channel[0]);
	close(channel[1]);
}

void daemon_memory_fill(void)
{
	/* To whom, from whom, what; IPv4 with UDP to port 4789, or with TCP, or IPv6. */
	static const uint8_t udp[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,  0, 0, 0,   0, 1, 8, 0,   0x45, 0, 0,
		50,   0,    0,    0,    0,    64,   17, 0, 0, 127, 0, 0, 1, 127, 0,    0, 2,
		0,    9,    0x12, 0xb5, 0,    30,   0,  0, 8, 0,   0, 0, 0, 0,   7};
	static const uint8_t six[] = {2, 0, 0, 0,    0,    2,    2, 0, 0, 0, 0,  1, 0x81,
				      0, 0, 5, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64};

	memset(memory, 0, PRESENT);
	memcpy(memory, udp, sizeof(udp));
	memcpy(memory + 256, udp, sizeof(udp));
	memory[256 + 23] = 6;
	memcpy(memory + 512, six, sizeof(six));
	memcpy(memory + 768, udp, sizeof(udp));
	memory[768 + 23] = 47; /* GRE */
}

bool daemon_memory_is_intact(void)
{
	for (size_t i = 0; i < OTHER; i++)
		if (other[i] != PATTERN)
			return false;
	return true;
}

/* Wherever it points, it is made to point at what may be registered. */
static void confine(uint64_t *addr, uint64_t *length)
{
	uint64_t at = *addr % MEMORY;

	if (*length > MEMORY - at)
		*length %= MEMORY - at;
	*addr = (uintptr_t)memory + at;
}

uint64_t daemon_user_address(struct fuzz_input *in)
{
	uint16_t at = input_u16(in);

	return (at & 0x8001) == 0x8001 ? (uintptr_t)other + at % OTHER : (uintptr_t)memory + at;
}

uint64_t daemon_user_memory(void)
{
	return (uintptr_t)memory;
}

/* ---- objects ---- */

struct daemon_object *daemon_user_object(struct daemon_user *u, enum abi_kind kind, unsigned n)
{
	unsigned there = 0;

	for (unsigned i = 0; i < u->n; i++)
		there += u->o[i].kind == kind;
	if (there == 0)
		return NULL;
	n %= there;
	for (unsigned i = 0;; i++)
		if (u->o[i].kind == kind && n-- == 0)
			return &u->o[i];
}

static void unmap(struct daemon_object *o)
{
	if (o->region)
		munmap(o->region, o->region_size);
	o->region = NULL;
}

static void map(struct daemon_user *u, struct daemon_object *o, uint64_t size)
{
	void *at;

	if (u->c.n_fds == 0)
		return;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, u->c.fd[0], 0);
	FUZZ_CHECK(at != MAP_FAILED);
	unmap(o);
	o->region = at;
	o->region_size = size;
}

static struct daemon_object *find_object(struct daemon_user *u, enum abi_kind kind, uint32_t handle)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->o[i].kind == kind && u->o[i].handle == handle)
			return &u->o[i];
	return NULL;
}

static void forget(struct daemon_user *u, enum abi_kind kind, uint32_t handle)
{
	struct daemon_object *o = find_object(u, kind, handle);

	if (!o)
		return;
	unmap(o);
	*o = u->o[--u->n];
}

static void note_qp(struct daemon_user *u, struct daemon_object *o, const void *msg)
{
	struct uhca_cmd_create_qp_reply r;
	struct uhca_cmd_create_qp in;

	memcpy(&r, &u->c.reply, sizeof(r));
	memcpy(&in, msg, sizeof(in));
	o->number = r.qpn;
	o->doorbell = r.doorbell;
	o->type = in.qp_type;
	o->send = r.send;
	o->recv = r.recv;
	map(u, o, r.region_size);
}

static void note_receiver(struct daemon_user *u, struct daemon_object *o)
{
	struct uhca_cmd_create_srq_reply r; /* that of a WQ is the same */

	memcpy(&r, &u->c.reply, sizeof(r));
	o->number = r.srq_num;
	o->recv = r.recv;
	map(u, o, r.region_size);
}

static void note_cq(struct daemon_user *u, struct daemon_object *o)
{
	struct uhca_cmd_create_cq_reply r;

	memcpy(&r, &u->c.reply, sizeof(r));
	map(u, o, r.region_size);
}

static void note_key(struct daemon_user *u, struct daemon_object *o)
{
	struct uhca_cmd_reg_mr_reply r;

	memcpy(&r, &u->c.reply, sizeof(r));
	o->lkey = r.lkey;
	o->number = o->kind == ABI_MW ? r.lkey : r.rkey; /* where a window has it */
}

static void note_made(struct daemon_user *u, uint32_t cmd, const void *msg)
{
	struct daemon_object *o = &u->o[u->n];
	struct uhca_cmd_handle_reply r;

	if (u->n == DAEMON_USER_OBJECTS)
		return;
	memcpy(&r, &u->c.reply, sizeof(r));
	*o = (struct daemon_object){.kind = abi_commands[cmd].makes, .handle = r.handle};
	u->n++;
	switch (cmd) {
	case UHCA_CMD_CREATE_QP:
		note_qp(u, o, msg);
		break;
	case UHCA_CMD_CREATE_CQ:
		note_cq(u, o);
		break;
	case UHCA_CMD_CREATE_SRQ:
	case UHCA_CMD_CREATE_WQ:
		note_receiver(u, o);
		break;
	default:
		if (o->kind == ABI_MR || o->kind == ABI_MW)
			note_key(u, o);
	}
}

static void note_reply(struct daemon_user *u, uint32_t cmd, const void *msg)
{
	const struct abi_command *a = &abi_commands[cmd];
	struct uhca_cmd_handle in;
	struct daemon_object *o;

	memcpy(&in, msg, sizeof(in));
	if (a->makes)
		note_made(u, cmd, msg);
	if (a->destroys)
		forget(u, a->destroys, in.handle);
	if (cmd == UHCA_CMD_RESIZE_CQ && (o = find_object(u, ABI_CQ, in.handle)))
		note_cq(u, o);
	if (cmd == UHCA_CMD_REREG_MR && (o = find_object(u, ABI_MR, ((const uint32_t *)msg)[10])))
		note_key(u, o);
	if (cmd == UHCA_CMD_EXPORT)
		memcpy(u->token, u->c.reply.bytes + sizeof(u->c.reply.h), sizeof(u->token));
}

/* ---- commands: what the tape makes of them ---- */

static void name_objects(struct daemon_user *u, uint32_t cmd, uint8_t *msg, struct fuzz_input *in)
{
	const struct abi_command *a = &abi_commands[cmd];

	for (unsigned i = 0; i < ABI_FIELDS && a->field[i].kind; i++) {
		const uint8_t n = input_u8(in);
		const struct daemon_object *o = daemon_user_object(u, a->field[i].kind, n & 63);

		if (o && !(a->field[i].optional && n & 64))
			memcpy(msg + a->field[i].offset, &o->handle, sizeof(o->handle));
	}
}

/* Up to three numbers, anywhere behind the header. */
static void change(uint8_t *msg, size_t size, struct fuzz_input *in)
{
	uint8_t how = input_u8(in);

	if (how < 192)
		return;
	for (unsigned n = 1 + how % 3; n > 0; n--) {
		size_t at = sizeof(struct uhca_cmd_request) +
			    input_u16(in) % (size - sizeof(struct uhca_cmd_request));
		uint32_t value = input_u8(in);

		if (how & 4)
			value = input_u32(in);
		memcpy(msg + at, &value, size - at < 4 ? size - at : how & 8 ? 1 : 4);
	}
}

/* What could have this process write into itself is kept from it. */
static void confine_command(uint32_t cmd, void *msg)
{
	struct uhca_cmd_reg_mr *reg = msg;
	struct uhca_cmd_rereg_mr *rereg = msg;

	if (cmd == UHCA_CMD_REG_MR || cmd == UHCA_CMD_REG_PINNED_MR)
		confine(&reg->addr, &reg->length);
	if (cmd == UHCA_CMD_REREG_MR)
		confine(&rereg->addr, &rereg->length);
}

/* How many descriptors there are. */
static unsigned add_fds(uint32_t cmd, int fd[2])
{
	switch (cmd) {
	case UHCA_CMD_HELLO:
		fd[1] = channel[0];
		fd[0] = file;
		return 2;
	case UHCA_CMD_CREATE_CHANNEL:
		fd[0] = channel[0];
		return 1;
	case UHCA_CMD_CREATE_QP:
		fd[0] = raw;
		return raw >= 0;
	case UHCA_CMD_OPEN_XRCD:
		fd[0] = file;
		return 1;
	case UHCA_CMD_ATTACH_ARENA:
		fd[0] = arena;
		return 1;
	default:
		return 0;
	}
}

/* A device that failed has hung up on everybody. */
static bool is_hung_up_on(const struct daemon_user *u)
{
	char byte;
	ssize_t n;

	n = recv(u->c.sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN);
}

static int call_fds(struct daemon_user *u, uint32_t cmd, void *msg, const int *fd, unsigned n)
{
	int status = -ECONNRESET;

	if (!is_hung_up_on(u))
		status = io_test_call_fds(&u->c, cmd, msg, abi_commands[cmd].size, fd, n);
	if (status == -ECONNRESET)
		daemon_user_close(u);
	else if (status == 0)
		note_reply(u, cmd, msg);
	return status;
}

static int call(struct daemon_user *u, uint32_t cmd, void *msg)
{
	int fd[2] = {-1, -1};
	const unsigned n = add_fds(cmd, fd);

	return call_fds(u, cmd, msg, fd, n);
}

void daemon_user_call(struct daemon_user *u, uint32_t cmd, void *msg, int fd)
{
	call_fds(u, cmd, msg, &fd, 1);
}

void daemon_user_command(struct daemon_user *u, struct fuzz_input *in)
{
	_Alignas(8) uint8_t msg[UHCA_ABI_MAX_MESSAGE] = {0};
	const uint32_t cmd = 1 + (input_u8(in) + 1) % (UHCA_CMD_COUNT - 1); /* 0 only asks */

	name_objects(u, cmd, msg, in);
	daemon_user_fill(u, cmd, msg, in);
	change(msg, abi_commands[cmd].size, in);
	confine_command(cmd, msg);
	call(u, cmd, msg);
}

void daemon_user_hoard(struct daemon_user *u, struct fuzz_input *in)
{
	for (unsigned i = 0; i < MANY && u->dev; i++) { /* until it is hung up on */
		struct fuzz_input again = *in;

		daemon_user_command(u, &again);
	}
	input_u8(in);
	daemon_user_close(u);
}

/* ---- what many inputs begin with ---- */

/* A command as it would be with a tape of zeros but for these bytes. */
static bool plain(struct daemon_user *u, uint32_t cmd, const uint8_t *bytes, size_t n)
{
	_Alignas(8) uint8_t msg[UHCA_ABI_MAX_MESSAGE] = {0};
	struct fuzz_input none = {msg, 0}, in = {n ? bytes : msg, n};

	if (!u->dev)
		return false;
	name_objects(u, cmd, msg, &none);
	daemon_user_fill(u, cmd, msg, &in);
	confine_command(cmd, msg);
	return call(u, cmd, msg) == 0;
}

static bool init(struct daemon_user *u, struct daemon_object *q)
{
	struct uhca_cmd_modify_qp m = {.handle = q->handle,
				       .attr_mask = IBV_QP_STATE | IBV_QP_PORT};

	m.attr = (struct uhca_abi_qp_attr){.qp_state = IBV_QPS_INIT,
					   .port_num = 1,
					   .qkey = DAEMON_USER_QKEY,
					   .qp_access_flags = DAEMON_USER_ACCESS};
	if (q->type != IBV_QPT_RAW_PACKET)
		m.attr_mask |= IBV_QP_PKEY_INDEX;
	if (q->type == IBV_QPT_UD)
		m.attr_mask |= IBV_QP_QKEY;
	else if (q->type != IBV_QPT_RAW_PACKET)
		m.attr_mask |= IBV_QP_ACCESS_FLAGS;
	return call(u, UHCA_CMD_MODIFY_QP, &m) == 0;
}

void daemon_user_equip(struct daemon_user *u, struct fuzz_input *in)
{
	static const uint8_t whole[] = {0, 0, 0xff, 0x7f};
	static const uint8_t entries[] = {63};
	uint8_t type = input_u8(in);

	if (!daemon_user_object(u, ABI_PD, 0)) {
		plain(u, UHCA_CMD_ALLOC_PD, NULL, 0);
		if (type & 8 && plain(u, UHCA_CMD_ATTACH_ARENA, NULL, 0))
			plain(u, UHCA_CMD_REG_PINNED_MR, whole, sizeof(whole));
		else
			plain(u, UHCA_CMD_REG_MR, whole, sizeof(whole));
		plain(u, UHCA_CMD_CREATE_CQ, entries, sizeof(entries));
		plain(u, UHCA_CMD_CREATE_AH, NULL, 0);
	}
	if ((type & 7) == 5 && !daemon_user_object(u, ABI_XRCD, 0))
		plain(u, UHCA_CMD_OPEN_XRCD, NULL, 0);
	if (plain(u, UHCA_CMD_CREATE_QP, &type, 1) && u->n > 0 && u->o[u->n - 1].kind == ABI_QP)
		init(u, &u->o[u->n - 1]);
}

static bool step_to(struct daemon_user *u, const struct daemon_object *q, uint32_t state,
		    uint32_t mask, struct uhca_abi_qp_attr attr)
{
	struct uhca_cmd_modify_qp m = {
		.handle = q->handle, .attr_mask = IBV_QP_STATE | mask, .attr = attr};

	m.attr.qp_state = state;
	return call(u, UHCA_CMD_MODIFY_QP, &m) == 0;
}

static void activate(struct daemon_user *u, struct daemon_object q, const struct daemon_user *peer,
		     uint32_t qpn, uint8_t how)
{
	struct uhca_abi_qp_attr attr = {.path_mtu = how & 1 ? IBV_MTU_256 : IBV_MTU_1024,
					.dest_qp_num = qpn,
					.max_rd_atomic = 1 + (how >> 1 & 3),
					.max_dest_rd_atomic = 4,
					.timeout = how & 8 ? 14 : 8,
					.retry_cnt = 7,
					.rnr_retry = how >> 4 & 7,
					.min_rnr_timer = 1,
					.ah = {.is_global = 1, .port_num = 1, .hop_limit = 64}};
	const bool rc =
		q.type == IBV_QPT_RC || q.type == IBV_QPT_XRC_SEND || q.type == IBV_QPT_XRC_RECV;
	const uint32_t path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	const uint32_t answers = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const uint32_t retries = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	uint32_t mask = rc || q.type == IBV_QPT_UC ? path : 0;

	memcpy(attr.ah.dgid, peer->dev->id.addresses.a[0].gid, 16);
	if (rc && q.type != IBV_QPT_XRC_SEND)
		mask |= answers;
	if (!step_to(u, &q, IBV_QPS_RTR, mask, attr) || !u->dev)
		return;
	mask = q.type == IBV_QPT_RAW_PACKET ? 0 : IBV_QP_SQ_PSN;
	if (rc)
		mask |= IBV_QP_TIMEOUT | (q.type != IBV_QPT_XRC_RECV ? retries : 0);
	step_to(u, &q, IBV_QPS_RTS, mask, attr);
}

void daemon_user_connect(struct daemon_user *u, struct daemon_user *peer, struct fuzz_input *in)
{
	const uint8_t n = input_u8(in), how = input_u8(in);
	struct daemon_object *a = daemon_user_object(u, ABI_QP, n & 15);
	struct daemon_object *b = daemon_user_object(peer, ABI_QP, n >> 4);
	struct daemon_object first, second;

	if (!a || !b)
		return;
	first = *a; /* a user that is hung up on loses them */
	second = *b;
	activate(u, first, peer, second.number, how);
	if (!(how & 128) && peer->dev && u->dev)
		activate(peer, second, u, first.number, how);
}

/* ---- coming and going ---- */

static void map_shared(struct daemon_user *u)
{
	u->bell = mmap(NULL, sizeof(*u->bell), PROT_READ | PROT_WRITE, MAP_SHARED, u->c.fd[1], 0);
	u->active_doorbells = mmap(NULL, sizeof(*u->active_doorbells), PROT_READ | PROT_WRITE,
				   MAP_SHARED, u->c.fd[3], 0);
	FUZZ_CHECK((void *)u->bell != MAP_FAILED && (void *)u->active_doorbells != MAP_FAILED);
}

void daemon_user_open(struct daemon_user *u, struct io_daemon *d, unsigned device)
{
	struct io_device *dev = &d->ports[device % d->devices.n].dev;

	*u = (struct daemon_user){.dev = dev};
	io_test_hello(&u->c, d, dev->id.name);
	map_shared(u);
}

void daemon_user_open_elsewhere(struct daemon_user *u, struct io_daemon *d, unsigned device,
				int its_memory)
{
	struct io_device *dev = &d->ports[device % d->devices.n].dev;

	*u = (struct daemon_user){.dev = dev};
	io_test_hello_with(&u->c, d, dev->id.name, its_memory);
	map_shared(u);
}

void daemon_user_close(struct daemon_user *u)
{
	if (!u->dev)
		return;
	for (unsigned i = 0; i < u->n; i++)
		unmap(&u->o[i]);
	u->n = 0;
	munmap(u->bell, sizeof(*u->bell));
	munmap(u->active_doorbells, sizeof(*u->active_doorbells));
	u->dev = NULL;
	io_test_hang_up(&u->c);
}
