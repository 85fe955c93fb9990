/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole daemon in this process: programs that come and go, every command, every work request,
 * packets from the network, rdma_cm, requests of uhcactl, rules of faults, and time, as the tape
 * says. Whatever comes, the daemon goes on: two programs that behave get their data across when
 * the rules are gone, nothing is written that was not registered, and of those that left no
 * object, no id and no descriptor is left.
 *
 * The input is a list of steps: a byte that says which, then what that one takes (daemon_user.h).
 * Time is the daemon's own: a microsecond for each look at the clock, and what a step adds.
 */
#include "fuzz.h"

#include "daemon/daemon_change.h"
#include "daemon/daemon_cm.h"
#include "daemon/daemon_strain.h"
#include "daemon/daemon_user.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/loop.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define USERS     3u
#define STEPS     400u
#define HOARDS    2u     /* of one input: each takes as long as hundreds of steps */
#define TURNS     2000u  /* until uhcactl has its answer */
#define LOOKS     20000u /* at the clock, in one pass of the loop */
#define MESSAGE   3000u
#define PSN       0x5a5a5au /* whoever guesses it may end a QP (docs/explanation/security.md) */
#define WAITS_MAX 200u      /* times half a second, for those that behave */

const unsigned long fuzz_runs = 40;

static struct io_test_daemon t;
static struct io_user good[2];
static struct io_user_qp good_qp[2];
static struct daemon_user user[USERS];
static struct daemon_cm cm;
static bool wants_anew;
static unsigned hoards;   /* of this input */
static bool by_wire;      /* from here on, everything goes by UDP */
static int stranger = -1; /* a socket of another host */
static int ctl = -1;      /* a session of uhcactl */
static unsigned fds;

/* ---- time ---- */

static uint64_t now = 1ull << 60; /* a timer of the kernel that is set to it never expires */
static unsigned looks;

uint64_t __wrap_io_clock_now(void);
uint64_t __wrap_io_clock_about(void);
int __wrap_sched_yield(void);

uint64_t __wrap_io_clock_now(void)
{
	if (++looks > LOOKS)
		t.d.stop = true;
	return now += IO_USEC;
}

uint64_t __wrap_io_clock_about(void)
{
	return now;
}

int __wrap_sched_yield(void)
{
	return 0;
}

/* The loop as main() runs it, until it would sleep. */
static ev_idle idle;

static void on_idle(struct ev_loop *loop, ev_idle *w, int revents)
{
	const struct uhca_abi_status *status = t.d.status.base;

	(void)loop;
	(void)w;
	(void)revents;
	if (status->need_wakeup)
		t.d.stop = true;
}

static void loop_pass(void)
{
	looks = 0;
	t.d.stop = false;
	FUZZ_CHECK(io_loop_run(&t.d) == 0);
	t.d.stop = false;
	looks = 0;
}

/* ---- the daemon, and those who behave ---- */

/* Descriptors, without the sockets by which devices have sent something: they keep those. */
static unsigned open_fds(void)
{
	unsigned n = io_test_open_fds();

	for (unsigned i = 0; i < t.d.devices.n; i++) {
		const struct io_udp *u = &t.d.ports[i].udp;

		for (unsigned j = 0; j < u->n_sockets; j++)
			for (unsigned k = 0; k < IO_UDP_FLOWS; k++)
				n -= u->port[j].flows.slot[k].fd >= 0 &&
				     u->port[j].flows.slot[k].fd != u->port[j].fd;
	}
	return n;
}

static void connect_good(void)
{
	for (unsigned i = 0; i < 2; i++) {
		io_user_open(&good[i], &t.d, t.d.ports[i].dev.id.name);
		io_user_qp_create(&good_qp[i], &good[i], IBV_QPT_RC);
		good_qp[i].psn = PSN;
	}
	for (unsigned i = 0; i < 2; i++)
		io_user_qp_connect(&good_qp[i], good[1 - i].dev, good_qp[1 - i].qpn);
}

static void start(void)
{
	struct io_settings s;

	FUZZ_CHECK(abi_commands_are_all());
	FUZZ_CHECK(io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, "/dev/null") == 0);
	io_test_settings(&s, 2);
	s.no_sandbox = true;
	s.pin = UHCA_ABI_PIN_ALL;
	s.wire = by_wire ? IO_WIRE_ALWAYS : IO_WIRE_AUTO;
	io_test_daemon_start(&t, &s);
	ev_idle_init(&idle, on_idle);
	ev_idle_start(t.d.loop, &idle);
	connect_good();
	fds = open_fds();
}

/* Where somebody else has the port no daemon comes, and nothing of it stays. */
static void be_refused(void)
{
	const struct io_address first = io_test_address(1);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};
	int taken = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct io_instance instance;
	static struct io_daemon d;
	struct io_settings s;
	char dir[64];

	memcpy(&at.sin_addr, first.gid + 12, 4);
	FUZZ_CHECK(bind(taken, (struct sockaddr *)&at, sizeof(at)) == 0);
	io_test_settings(&s, 2);
	s.no_sandbox = true;
	io_test_dir(dir);
	FUZZ_CHECK(io_instance_open(&instance, dir, false) == 0);
	FUZZ_CHECK(io_daemon_create(&d, &s, &instance) == -EADDRINUSE);
	io_test_remove_dir(dir);
	close(taken);
}

static void stop(void)
{
	ev_idle_stop(t.d.loop, &idle);
	for (unsigned i = 0; i < 2; i++)
		io_user_forget(&good[i], &good_qp[i]);
	io_test_daemon_stop(&t);
	io_log_close();
	t.d.loop = NULL;
}

static void end(void)
{
	if (t.d.loop)
		stop();
	close(stranger);
	daemon_memory_free();
}

static void once(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	const struct io_address from = io_test_address(9);

	if (stranger < 0) {
		daemon_memory_make();
		stranger = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		memcpy(&at.sin_addr, from.gid + 12, 4);
		FUZZ_CHECK(bind(stranger, (struct sockaddr *)&at, sizeof(at)) == 0);
		atexit(end);
	}
	if (!t.d.loop)
		start();
}

static bool got_across(unsigned from)
{
	struct io_user_qp *a = &good_qp[from], *b = &good_qp[1 - from];
	struct uhca_abi_cqe e;
	bool sent = false, received = false;

	for (unsigned i = 0; i < WAITS_MAX && !(sent && received); i++) {
		loop_pass();
		while (io_user_poll(a, &e))
			sent |= e.status == UHCA_ABI_WC_SUCCESS;
		while (io_user_poll(b, &e))
			received |= e.status == UHCA_ABI_WC_SUCCESS;
		now += i ? IO_SEC / 2 : 0;
	}
	return sent && received;
}

static void check_good(void)
{
	static unsigned round;
	const struct uhca_abi_send_wqe e = {.opcode = UHCA_ABI_WR_SEND};

	for (unsigned from = 0; from < 2; from++) {
		struct io_user *a = &good[from], *b = &good[1 - from];

		memset(a->memory, (int)++round, MESSAGE);
		memset(b->memory + IO_USER_MEMORY / 2, 0, MESSAGE);
		io_user_recv(&good_qp[1 - from], 1, IO_USER_MEMORY / 2, MESSAGE);
		io_user_ring(&good_qp[1 - from]);
		io_user_send(&good_qp[from], e, MESSAGE);
		io_user_ring(&good_qp[from]);
		FUZZ_CHECK(got_across(from));
		FUZZ_CHECK(memcmp(a->memory, b->memory + IO_USER_MEMORY / 2, MESSAGE) == 0);
	}
}

/* ---- packets of a stranger, or of one who looks like a peer ---- */

static void aim(struct roce_packet *p, struct daemon_user *u, struct fuzz_input *in)
{
	const uint8_t fix = input_u8(in);
	const struct daemon_object *q = daemon_user_object(u, ABI_QP, fix & 3);
	const struct daemon_object *key = daemon_user_object(u, ABI_MR, fix >> 2 & 1);
	const struct daemon_object *srq = daemon_user_object(u, ABI_SRQ, 0);

	if (q && !(fix & 8))
		p->bth.dest_qp = q->number;
	if (!(fix & 16))
		p->bth.psn &= 15;
	if (key && !(fix & 32))
		p->reth.rkey = p->atomiceth.rkey = p->ieth = key->number;
	if (!(fix & 64)) {
		p->reth.va = daemon_user_address(in);
		p->atomiceth.va = p->reth.va & ~7ull;
	}
	p->bth.pkey = 0xffff;
	p->deth.qkey = DAEMON_USER_QKEY;
	if (srq)
		p->xrcsrq = srq->number;
}

static void packet(struct daemon_user *u, struct fuzz_input *in)
{
	uint8_t bytes[400] = {0}, out[ROCE_MAX_PACKET_LENGTH];
	const struct io_address from = io_test_address(9), to = io_test_address(1 + (in->left & 1));
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)}, own;
	struct roce_flow flow = {.dport = ROCE_UDP_PORT};
	struct roce_packet p;
	socklen_t size = sizeof(own);
	size_t n = 12 + input_u8(in);

	input_bytes(in, bytes, n < in->left ? n : in->left);
	if (roce_packet_parse(bytes, n, &p) != ROCE_PARSE_OK)
		return;
	aim(&p, u, in);
	n = roce_packet_emit(&p, out, sizeof(out) - ROCE_ICRC_LENGTH);
	memcpy(&at.sin_addr, to.gid + 12, 4);
	FUZZ_CHECK(getsockname(stranger, (struct sockaddr *)&own, &size) == 0);
	flow.sport = ntohs(own.sin_port);
	memcpy(flow.src, from.gid, 16);
	memcpy(flow.dst, to.gid, 16);
	roce_icrc_store(roce_icrc_update(roce_icrc_begin(&flow, 0, n + ROCE_ICRC_LENGTH, out,
							 roce_header_length(p.bth.opcode)),
					 out + roce_header_length(p.bth.opcode),
					 n - roce_header_length(p.bth.opcode)),
			out + n);
	sendto(stranger, out, n + ROCE_ICRC_LENGTH, 0, (struct sockaddr *)&at, sizeof(at));
	loop_pass();
}

/* ---- requests of uhcactl ---- */

static const char *const rules[] = {
	"drop p=50%",
	"drop opcode=rc.ack nth=3",
	"dup=2 every=2",
	"reorder=2 first=5 skip=1",
	"delay=1ms jitter=250us p=10%",
	"rate=10mbit limit=4",
	"burst=10%/50%",
	"pause=5ms times=1",
	"corrupt=icrc p=10%",
	"corrupt=bit:100 nth=2",
	"corrupt=payload nth=1",
	"set=bth.psn:+5 nth=4",
	"set=payload:3:0xff nth=1",
	"truncate=10 nth=2",
	"ecn",
	"hold nth=2",
	"rnr=14 opcode=send times=3",
	"nak=access opcode=rc.write",
	"ghost nth=1",
	"cnp",
	"forge=nak:access nth=2",
	"forge=ack dir=tx nth=2",
	"cm.reject=stale cm=REP",
	"cm.mra=4s",
	"call.fail=ENOMEM call=create_qp,reg_* nth=2",
	"call.fail=12 call=post_send bad_wr=2",
	"call.slow=1ms call=create_cq",
	"cqe.set=status:REM_ACCESS_ERR wc=SUCCESS nth=5",
	"cqe.delay=1ms",
	"cqe.delay=1us jitter=3ms order=queue p=50%",
	"cqe.withhold wc.opcode=RECV nth=1",
	"cqe.overrun nth=10",
	"cqe.announce=50us order=cq",
	"cqe.garbage wc=WR_FLUSH_ERR",
	"mem.fail nth=2",
	"event=PORT_ERR after=10us",
	"qp.error nth=5",
	"key.revoke opcode=write nth=2",
	"key.reuse",
	"key.split",
	"port.down=1ms every=10ms times=3",
	"dev.freeze=1ms after=1us",
	"gid.change after=1us",
	"dev.fatal nth=20",
};
#define RULES  (sizeof(rules) / sizeof(rules[0]))
#define LETHAL (RULES - 2) /* from this on, nobody finds the device as it was */

static const char *const shows[] = {"device", "client", "pd",  "mr", "mw",   "dm",
				    "cq",     "qp",     "srq", "ah", "xrcd", "cm_id"};

static void open_session(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(un.sun_path, sizeof(un.sun_path), "%.60s/" UHCA_CTL_SOCKET, t.dir);
	ctl = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FUZZ_CHECK(connect(ctl, (struct sockaddr *)&un, sizeof(un)) == 0);
}

static void close_session(void)
{
	if (ctl >= 0)
		close(ctl);
	ctl = -1;
}

/* A line comes back, in however many pieces. */
static void await_line(void)
{
	char piece[4096] = "";
	ssize_t n = 0;

	for (unsigned i = 0; i < TURNS && (n <= 0 || piece[n - 1] != '\n'); i++) {
		loop_pass();
		n = recv(ctl, piece, sizeof(piece), MSG_DONTWAIT);
		if (n < 0)
			poll(NULL, 0, 1); /* a thread may be at it */
	}
	FUZZ_CHECK(n > 0 && piece[n - 1] == '\n');
}

/*
 * One request; of a format with two texts and a number, in this order, each of which it may lack.
 */
static void ask(const char *format, const char *device, const char *text, unsigned number)
{
	char line[512];
	int n = snprintf(line, sizeof(line) - 1, format, device, text, number);

	FUZZ_CHECK(n > 0 && (size_t)n < sizeof(line) - 1);
	line[n++] = '\n';
	if (ctl < 0)
		open_session();
	FUZZ_CHECK(send(ctl, line, (size_t)n, MSG_NOSIGNAL) == n);
	await_line();
}

static void add_rule(struct fuzz_input *in)
{
	const unsigned n = input_u8(in) % RULES;

	wants_anew |= n >= LETHAL;
	ask("{\"cmd\":\"fault\",\"action\":\"add\",\"text\":\"%s%s\"}", "", rules[n], 0);
}

static void capture(bool start, uint8_t n)
{
	if (start)
		ask("{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"%s/%s\",\"snap\":%u}",
		    t.dir, "capture", n);
	else if (n & 1)
		ask("{\"cmd\":\"capture\",\"action\":\"stop%s%s\"}", "", "", 0);
	else
		ask("{\"cmd\":\"capture\",\"action\":\"dump\",\"file\":\"%s/%s\"}", t.dir,
		    "capture", 0);
}

static void control(struct fuzz_input *in)
{
	const uint8_t which = input_u8(in), n = input_u8(in);
	const char *device = n & 1 ? "uhca1" : "uhca0";
	static const char *const steps[] = {"freeze", "go", "list"};

	switch (which % 14) {
	case 0:
		ask("{\"cmd\":\"show\",\"what\":\"%s%s\"}", "", shows[n % 12], 0);
		break;
	case 1:
		ask("{\"cmd\":\"counters\"}", "", "", 0);
		break;
	case 2:
		ask("{\"cmd\":\"step\",\"device\":\"%s\",\"action\":\"%s\"}", device, steps[n % 3],
		    0);
		break;
	case 3:
		ask("{\"cmd\":\"step\",\"device\":\"%s\",\"action\":\"next%s\",\"count\":%u}",
		    device, "", n);
		break;
	case 4:
		ask("{\"cmd\":\"step\",\"device\":\"%s\",\"action\":\"%s\",\"number\":%u}", device,
		    n & 2 ? "drop" : "release", n >> 4);
		break;
	case 5:
		ask("{\"cmd\":\"port\",\"device\":\"%s\",\"action\":\"%s\"}", device,
		    n & 2 ? "down" : "up", 0);
		break;
	case 6:
		ask("{\"cmd\":\"event\",\"device\":\"%s\",\"name\":\"%s\"}", device,
		    n & 2 ? "LID_CHANGE" : "SM_CHANGE", 0);
		break;
	case 7:
		for (unsigned i = 0; i < USERS; i++) {
			const struct daemon_object *key =
				user[i].dev ? daemon_user_object(&user[i], ABI_MR, n) : NULL;

			if (key)
				ask("{\"cmd\":\"walk%s%s\",\"key\":%u,\"offset\":9}", "", "",
				    key->number);
		}
		break;
	case 8:
		ask("{\"cmd\":\"fault\",\"action\":\"list%s%s\"}", "", "", 0);
		ask("{\"cmd\":\"fault\",\"action\":\"trace%s%s\",\"from\":%u}", "", "", n);
		break;
	case 9:
	case 10:
		capture(which % 14 == 9, n);
		break;
	case 11:
		ask("{\"cmd\":\"limit\",\"device\":\"%s\",\"name\":\"%s\",\"value\":%u}", device,
		    n & 2 ? "max_qp" : "max_cqe", 1000 + n);
		wants_anew = true;
		break;
	case 12:
		for (unsigned i = 0; i < USERS; i++) {
			const struct daemon_object *q =
				user[i].dev ? daemon_user_object(&user[i], ABI_QP, n) : NULL;

			if (q)
				ask("{\"cmd\":\"event\",\"device\":\"%s\",\"name\":\"%s\",\"of\":"
				    "\"qp=%u\"}",
				    user[i].dev->id.name, n & 2 ? "QP_FATAL" : "COMM_EST",
				    q->number);
		}
		break;
	default:
		wants_anew |= n > 200;
		if (n > 200)
			ask("{\"cmd\":\"device\",\"device\":\"%s\",\"action\":\"fatal%s\"}", device,
			    "", 0);
		break;
	}
}

/* The rules go, and what they and others left. */
static void tidy(void)
{
	ask("{\"cmd\":\"fault\",\"action\":\"clear%s%s\"}", "", "", 0);
	ask("{\"cmd\":\"capture\",\"action\":\"stop%s%s\"}", "", "", 0);
	for (unsigned i = 0; i < 2; i++) {
		ask("{\"cmd\":\"step\",\"device\":\"%s\",\"action\":\"go%s\"}",
		    t.d.ports[i].dev.id.name, "", 0);
		ask("{\"cmd\":\"port\",\"device\":\"%s\",\"action\":\"up%s\"}",
		    t.d.ports[i].dev.id.name, "", 0);
	}
	loop_pass();
	daemon_memory_fill();
}

/* ---- rdma_cm: a command whose structure is what the tape says, but for its id and address ---- */

static void communicate(struct fuzz_input *in)
{
	const uint8_t cmd = input_u8(in) % 26, flags = input_u8(in);
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(7000)};
	uint8_t body[320] = {0};
	const size_t len = input_u16(in) % sizeof(body);
	const uint16_t at = input_u8(in) % (sizeof(body) - sizeof(v4));
	const uint32_t id = input_u8(in) & 7;

	daemon_cm_open(&cm, &t.d);
	input_bytes(in, body, 48);
	if (flags & 2) {
		memcpy(&v4.sin_addr, t.d.ports[flags >> 2 & 1].dev.id.addresses.a[0].gid + 12, 4);
		memcpy(body + at, &v4, sizeof(v4));
	}
	if (flags & 8)
		memcpy(body + (flags >> 4), &id, sizeof(id));
	if (ucma_client_call(&cm.end[flags & 1].c, cmd, body, len, -1) == -ECONNRESET)
		daemon_cm_again(&cm.end[flags & 1]);
}

/* The same with sense. */
static void connect_programs(struct fuzz_input *in)
{
	daemon_cm_open(&cm, &t.d);
	daemon_cm_step(&cm, in);
	loop_pass();
}

/* ---- steps ---- */

static void pass_time(struct fuzz_input *in)
{
	static const uint64_t units[] = {IO_USEC, 100 * IO_USEC, 10 * IO_MSEC, IO_SEC};
	const uint8_t n = input_u8(in);

	now += units[n >> 6] * (n & 63);
	loop_pass();
}

/* A user that the step needs, opened where it is not there. */
static struct daemon_user *someone(uint8_t n)
{
	struct daemon_user *u = &user[n % USERS];

	if (!u->dev)
		daemon_user_open(u, &t.d, n % 2);
	return u;
}

static void leave(void)
{
	for (unsigned i = 0; i < USERS; i++)
		daemon_user_close(&user[i]);
	daemon_cm_close(&cm);
	close_session();
	daemon_change_end();
	loop_pass();
	while (io_clients_bury(&t.d.clients))
		;
	ucma_client_settle(&t.d);
}

/*
 * One leaves, perhaps with hundreds of things, the rules go, or all that is there goes and another
 * daemon comes.
 */
static void go(struct daemon_user *u, unsigned how, struct fuzz_input *in)
{
	if (how & 1) {
		if (how & 2 && hoards++ < HOARDS) {
			daemon_cm_hoard(&t.d, in);
			daemon_user_hoard(u, in);
		}
		daemon_user_close(u);
		return;
	}
	tidy();
	if (!(how & 2) || by_wire)
		return;
	leave();
	stop();
	be_refused();
	by_wire = true;
	start();
}

static void strain(struct daemon_user *u, struct daemon_user *peer, struct fuzz_input *in)
{
	const struct daemon_means means = {.d = &t.d,
					   .dir = t.dir,
					   .loop_pass = loop_pass,
					   .ask = ask,
					   .use = daemon_change_use};

	input_u8(in);
	daemon_strain(u, peer, &means, in);
	loop_pass();
}

static void step(struct fuzz_input *in)
{
	const uint8_t op = input_u8(in);
	struct daemon_user *u = someone(op >> 6), *peer = someone(op >> 5 & 1);

	switch (op & 15) {
	case 0:
	case 1:
	case 2:
		daemon_user_command(u, in);
		break;
	case 3:
		daemon_user_equip(u, in);
		break;
	case 4:
		daemon_user_connect(u, peer, in);
		break;
	case 5:
	case 6:
		daemon_user_post_send(u, peer, in);
		break;
	case 7:
		daemon_user_post_recv(u, in);
		break;
	case 8:
		daemon_user_ring(u, in);
		loop_pass();
		break;
	case 9:
		daemon_user_poll(u, in);
		break;
	case 10:
		daemon_user_scribble(u, in);
		break;
	case 11:
		packet(u, in);
		break;
	case 12:
		if (op & 16 && in->left > 0 && *in->at % 16 == 14) {
			strain(u, peer, in);
		} else if (op & 16) {
			daemon_change(u, peer, &cm, &t.d, in);
			loop_pass();
		} else {
			pass_time(in);
		}
		break;
	case 13:
		if (op & 16)
			add_rule(in);
		else
			control(in);
		break;
	case 14:
		if (op & 16)
			connect_programs(in);
		else
			communicate(in);
		break;
	default:
		go(u, op >> 4 & 3, in);
		break;
	}
}

/* ---- what must hold at the end ---- */

/* What the two that behave have is all there is. */
static void check_left(void)
{
	static const unsigned own[CORE_OBJECT_TYPES] = {[CORE_OBJECT_PD] = 1,
							[CORE_OBJECT_MR] = 1,
							[CORE_OBJECT_CQ] = 1,
							[CORE_OBJECT_QP] = 1};

	for (unsigned i = 0; i < t.d.devices.n; i++)
		for (unsigned o = 0; o < CORE_OBJECT_TYPES; o++)
			FUZZ_CHECK(core_object_count(t.d.ports[i].dev.core,
						     (enum core_object_type)o) == own[o]);
	FUZZ_CHECK(t.d.ucma.n_files == 0);
	FUZZ_CHECK(daemon_memory_is_intact());
}

/*
 * Threads of the daemon that still hold a file tell the loop when they have closed it, and some
 * connections are closed only then.
 */
static bool closes_all(void)
{
	for (unsigned i = 0; i < IO_TEST_SECONDS * 200 && open_fds() != fds; i++) {
		poll(NULL, 0, 5);
		loop_pass();
	}
	return open_fds() == fds;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};

	once();
	daemon_memory_fill();
	wants_anew = by_wire = false;
	hoards = 0;
	for (unsigned n = 0; n < STEPS && in.left > 0; n++)
		step(&in);
	tidy();
	leave();
	if (!wants_anew) {
		check_left();
		check_good();
		FUZZ_CHECK(closes_all());
	}
	if (wants_anew || by_wire)
		stop();
	return 0;
}
