/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of fi_rma(3) over libfabric's own verbs provider, one by one:
 *
 *   fi_rma ADDRESS [msg|rdm [unregistered|cache]]
 *
 * Each row is a call with flags on a kind of endpoint. It is done with several lengths at odd
 * places; the whole window is compared byte by byte with what it should hold, the number of local
 * completions is what the flags say, and so is the number of notices at the target. After each
 * request a message follows; requests of an endpoint arrive in order (FI_ORDER_SAW), so what the
 * target has when the message comes is all that it will ever get. What libfabric itself refuses is
 * a row too: "refused" and its error number, which must be the one that is written here.
 *
 * unregistered: the initiator's memory is libfabric's to register. cache: the same, and only what
 * another monitor of its registration cache may change: the calls, memory that is mapped anew, and
 * two buffers of one message; not the grants of the target, completions and wait objects.
 */
#include "fabric_grants.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK_SIZE 8
#define DATA      0x51deca7eu
#define MAX_IOV   32
#define LOCAL_AT  4096 /* what lies before is receives and the mark */
#define SPAN      (1u << 17)
#define PREFIXED  ((size_t)1 << 20) /* the longest message behind a header */

/* What the target saw until a mark came. */
struct seen {
	uint32_t notices; /* completions with data from afar */
	uint32_t others;  /* and others, which there should not be */
	uint64_t data;
};

enum call {
	WRITE,
	WRITEV,
	WRITEMSG,
	INJECT_WRITE,
	WRITEDATA,
	INJECT_WRITEDATA,
	READ,
	READV,
	READMSG,
};

static const char *const call_name[] = {
	"fi_write",        "fi_writev",    "fi_writemsg",
	"fi_inject_write", "fi_writedata", "fi_inject_writedata",
	"fi_read",         "fi_readv",     "fi_readmsg",
};

struct row {
	enum call call;
	uint64_t flags;
	const char *flag_names;
	int msg_error, rdm_error; /* what libfabric 1.17 answers, when not 0 */
};

#define C_ FI_COMPLETION
static const struct row rows[] = {
	{.call = WRITE},
	{.call = WRITEV},
	{.call = INJECT_WRITE},
	{.call = WRITEDATA},
	{.call = INJECT_WRITEDATA},
	{WRITEMSG, 0, "0", 0, 0},
	{WRITEMSG, C_, "COMPLETION", 0, 0},
	{WRITEMSG, C_ | FI_INJECT, "COMPLETION, INJECT", 0, 0},
	{WRITEMSG, FI_INJECT, "INJECT", 0, 0},
	{WRITEMSG, C_ | FI_REMOTE_CQ_DATA, "COMPLETION, REMOTE_CQ_DATA", 0, 0},
	{WRITEMSG, FI_REMOTE_CQ_DATA, "REMOTE_CQ_DATA", 0, 0},
	{WRITEMSG, FI_REMOTE_CQ_DATA | FI_INJECT, "REMOTE_CQ_DATA, INJECT", 0, 0},
	{WRITEMSG, C_ | FI_FENCE, "COMPLETION, FENCE", 0, 0},
	{WRITEMSG, C_ | FI_FENCE | FI_REMOTE_CQ_DATA, "COMPLETION, FENCE, REMOTE_CQ_DATA", 0, 0},
	{WRITEMSG, C_ | FI_INJECT_COMPLETE, "COMPLETION, INJECT_COMPLETE", 0, 0},
	{WRITEMSG, C_ | FI_TRANSMIT_COMPLETE, "COMPLETION, TRANSMIT_COMPLETE", 0, 0},
	{WRITEMSG, C_ | FI_DELIVERY_COMPLETE, "COMPLETION, DELIVERY_COMPLETE", 0, 0},
	{WRITEMSG, C_ | FI_COMMIT_COMPLETE, "COMPLETION, COMMIT_COMPLETE", 0, 0},
	{.call = READ},
	{.call = READV},
	{READMSG, 0, "0", 0, 0},
	{READMSG, C_, "COMPLETION", 0, 0},
	{READMSG, C_ | FI_FENCE, "COMPLETION, FENCE", 0, 0},
	{READMSG, C_ | FI_INJECT_COMPLETE, "COMPLETION, INJECT_COMPLETE", 0, 0},
	{READMSG, C_ | FI_DELIVERY_COMPLETE, "COMPLETION, DELIVERY_COMPLETE", 0, 0},
	{READMSG, C_ | FI_COMMIT_COMPLETE, "COMPLETION, COMMIT_COMPLETE", 0, 0},
};

static const size_t lengths[] = {0, 1, 3, 7, 64, 255, 1021, 4096, 4097, 65537};

static uint8_t expected[SPAN];
static unsigned turn; /* of the patterns, so that no two are alike */

static bool is_read(const struct row *r)
{
	return r->call >= READ;
}

static bool injects(const struct row *r)
{
	return r->call == INJECT_WRITE || r->call == INJECT_WRITEDATA || r->flags & FI_INJECT;
}

static bool notifies(const struct row *r)
{
	return r->call == WRITEDATA || r->call == INJECT_WRITEDATA || r->flags & FI_REMOTE_CQ_DATA;
}

/*
 * The flags of a message are all that counts, unless it is a verbs endpoint: that adds its
 * defaults, which fi_writemsg(3) does not say.
 */
static bool completes(const struct plan *p, const struct row *r)
{
	bool by_default = !p->quiet;

	switch ((int)r->call) {
	case INJECT_WRITE:
	case INJECT_WRITEDATA:
		return false;
	case WRITEMSG:
	case READMSG:
		return r->flags & FI_COMPLETION || (by_default && p->type == FI_EP_MSG);
	default:
		return by_default;
	}
}

/* Without a loop: tests are not optimised, and this is done a thousand times. */
static void fill(uint8_t *p, size_t n)
{
	static uint8_t pattern[PREFIXED + 4096];

	for (size_t i = 0; i < sizeof(pattern) && turn == 0; i++)
		pattern[i] = (uint8_t)(i * 7 + (i >> 8));
	turn++;
	memcpy(p, pattern + turn * 31 % 4096, n);
}

/* ---- the target ---- */

static bool initiator_is_gone(struct side *s)
{
	struct pollfd p = {.fd = s->control, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents & (POLLHUP | POLLIN);
}

/* A receive is used up by a message, and on a verbs endpoint by data from afar. */
static void repost(struct side *s, const struct fi_cq_data_entry *e)
{
	struct fi_context2 *c = e->op_context;

	if (c >= s->context && c < s->context + RECEIVES)
		fabric_post_receive(s, (unsigned)(c - s->context));
}

static void take_completion(struct side *s, const struct fi_cq_data_entry *e, struct seen *seen)
{
	bool mark = false;

	if (e->flags & FI_REMOTE_CQ_DATA) {
		seen->notices++;
		seen->data = e->data;
	} else if (e->flags & FI_RECV && e->len == MARK_SIZE) {
		mark = true;
	} else {
		seen->others++;
	}
	repost(s, e);
	if (!mark)
		return;
	control_put(s, seen, sizeof(*seen));
	memset(seen, 0, sizeof(*seen));
}

static void serve(struct side *s)
{
	struct fi_cq_data_entry e;
	struct seen seen = {0};

	fabric_target(s);
	while (!initiator_is_gone(s)) {
		ssize_t n = fi_cq_read(s->rx, &e, 1);
		if (n == -FI_EAGAIN) {
			usleep(50); /* the daemon may need this processor */
			continue;
		}
		if (n < 0 && initiator_is_gone(s))
			break;
		need(n == 1);
		take_completion(s, &e, &seen);
	}
}

/* ---- requests of the initiator ---- */

/* Buffers of unequal lengths, odd ones too, that lie apart in local memory. */
static size_t cut(struct side *s, size_t at, size_t len, size_t n, struct iovec *iov)
{
	size_t share = len / n, offset = at;

	share |= share > 1;
	for (size_t i = 0; i < n; i++) {
		size_t piece = i + 1 == n || share > len ? len : share;
		iov[i] = (struct iovec){s->local + offset, piece};
		offset += piece + 5;
		len -= piece;
	}
	return n;
}

static void gather(const struct iovec *iov, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		memcpy(out, iov[i].iov_base, iov[i].iov_len);
		out += iov[i].iov_len;
	}
}

static ssize_t post_vector(struct side *s, const struct row *r, const struct iovec *iov, size_t n,
			   const struct fi_rma_iov *to)
{
	void *desc[MAX_IOV + 1], **d = s->desc ? desc : NULL;
	struct fi_msg_rma m = {.msg_iov = iov,
			       .desc = d,
			       .iov_count = n,
			       .addr = s->peer,
			       .rma_iov = to,
			       .rma_iov_count = 1,
			       .data = DATA};

	m.context = &s->context[RECEIVES];
	for (size_t i = 0; i <= MAX_IOV; i++)
		desc[i] = s->desc;
	switch ((int)r->call) {
	case WRITEV:
		return fi_writev(s->ep, iov, d, n, s->peer, to->addr, to->key, m.context);
	case READV:
		return fi_readv(s->ep, iov, d, n, s->peer, to->addr, to->key, m.context);
	case WRITEMSG:
		return fi_writemsg(s->ep, &m, r->flags);
	default:
		return fi_readmsg(s->ep, &m, r->flags);
	}
}

static ssize_t post(struct side *s, const struct row *r, const struct iovec *iov, size_t n,
		    const struct fi_rma_iov *to)
{
	void *p = iov->iov_base, *c = &s->context[RECEIVES];
	size_t len = iov->iov_len;

	switch ((int)r->call) {
	case WRITE:
		return fi_write(s->ep, p, len, s->desc, s->peer, to->addr, to->key, c);
	case INJECT_WRITE:
		return fi_inject_write(s->ep, p, len, s->peer, to->addr, to->key);
	case WRITEDATA:
		return fi_writedata(s->ep, p, len, s->desc, DATA, s->peer, to->addr, to->key, c);
	case INJECT_WRITEDATA:
		return fi_inject_writedata(s->ep, p, len, DATA, s->peer, to->addr, to->key);
	case READ:
		return fi_read(s->ep, p, len, s->desc, s->peer, to->addr, to->key, c);
	default:
		return post_vector(s, r, iov, n, to);
	}
}

/* "Try again" is an answer of its own: the endpoint connects or has no room. */
static ssize_t post_until_taken(struct side *s, const struct row *r, const struct iovec *iov,
				size_t n, const struct fi_rma_iov *to)
{
	double end = fabric_seconds() + SECONDS;
	struct fi_cq_data_entry e;
	ssize_t result;

	while ((result = post(s, r, iov, n, to)) == -FI_EAGAIN) {
		need(fi_cq_read(s->tx, &e, 1) == -FI_EAGAIN);
		need(fabric_seconds() < end);
	}
	return result;
}

/* Sends the mark, counts the completions up to its own, and asks what the target saw. */
static unsigned mark(struct side *s, struct seen *seen)
{
	struct iovec iov = {s->local, MARK_SIZE};
	struct fi_msg m = {.msg_iov = &iov, .desc = &s->desc, .iov_count = 1, .addr = s->peer};
	double end = fabric_seconds() + SECONDS;
	struct fi_cq_data_entry e;
	unsigned n = 0;
	ssize_t result;

	m.context = &s->context[0];
	while ((result = fi_sendmsg(s->ep, &m, FI_COMPLETION)) == -FI_EAGAIN) {
		need(fi_cq_read(s->tx, &e, 1) == -FI_EAGAIN);
		need(fabric_seconds() < end);
	}
	works(result);
	while ((e = fabric_wait(s, s->tx, 0)).op_context != m.context)
		n++;
	control_get(s, seen, sizeof(*seen));
	return n;
}

static void check_window(struct side *s)
{
	if (memcmp(s->plan->window, expected, SPAN) == 0)
		return;
	for (size_t i = 0; i < SPAN; i++)
		if (s->plan->window[i] != expected[i]) {
			printf("byte %zu of the window is %02x, not %02x\n", i, s->plan->window[i],
			       expected[i]);
			break;
		}
	need(!"the window holds what it should");
}

static void count_event(struct side *s, const struct row *r, uint64_t before)
{
	struct fid_cntr *c = is_read(r) ? s->reads : s->writes;

	if (!c)
		return;
	works(fi_cntr_wait(c, before + 1, SECONDS * 1000));
	need(fi_cntr_read(c) == before + 1);
	need(fi_cntr_readerr(c) == 0);
}

/* One request of len bytes at a place in the window; 0, or what libfabric answers. */
static int transfer(struct side *s, const struct row *r, size_t at, size_t len, size_t pieces)
{
	struct fid_cntr *c = is_read(r) ? s->reads : s->writes;
	uint64_t before = c ? fi_cntr_read(c) : 0;
	struct fi_rma_iov to = {s->remote_addr + at, len, s->remote_key};
	struct iovec iov[MAX_IOV + 1];
	uint8_t *there = s->plan->window + at, got[SPAN / 2 + 2];
	struct seen seen;
	unsigned extra;
	ssize_t result;

	cut(s, LOCAL_AT + (at & 15) + 1, len, pieces, iov);
	fill(s->plan->window, SPAN);
	fill(s->local + LOCAL_AT, SPAN);
	memcpy(expected, s->plan->window, SPAN);
	if (!is_read(r))
		gather(iov, pieces, expected + at);
	result = post_until_taken(s, r, iov, pieces, &to);
	if (result < 0)
		return (int)-result;
	if (injects(r)) /* the buffer is the program's again at once */
		memset(s->local + LOCAL_AT, 0xee, SPAN);
	if (completes(s->plan, r))
		need(fabric_wait(s, s->tx, is_read(r) ? FI_READ : FI_WRITE).op_context ==
		     &s->context[RECEIVES]);
	if (r->flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE)) /* the target has it already */
		check_window(s);
	extra = mark(s, &seen);
	need(extra == 0);
	need(seen.others == 0);
	need(seen.notices == (notifies(r) ? 1u : 0u));
	need(!notifies(r) || seen.data == DATA);
	if (c)
		count_event(s, r, before);
	if (is_read(r)) {
		gather(iov, pieces, got);
		need(memcmp(got, there, len) == 0);
	}
	check_window(s);
	return 0;
}

static bool has_vector(const struct row *r)
{
	return r->call == WRITEV || r->call == READV || r->call == WRITEMSG || r->call == READMSG;
}

/* One to four buffers, and as many as there may be. */
static size_t more(size_t pieces, size_t limit)
{
	return pieces < 4 || pieces >= limit ? pieces + 1 : limit;
}

static void try_row(struct side *s, const struct row *r)
{
	int wanted = s->plan->type == FI_EP_MSG ? r->msg_error : r->rdm_error;
	size_t limit = has_vector(r) ? s->info->tx_attr->iov_limit : 1;
	unsigned done = 0;

	need(limit <= MAX_IOV);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t len = lengths[i];
		if (injects(r) && len > s->info->tx_attr->inject_size)
			continue;
		for (size_t pieces = 1; pieces <= limit; pieces = more(pieces, limit)) {
			int error;
			/* A buffer of 0 bytes cannot be registered, and libfabric crashes. */
			if (s->plan->unregistered && len < pieces)
				continue;
			error = transfer(s, r, 1 + 13 * i + pieces, len, pieces);
			if (error != wanted)
				printf("%s %s: %d\n", call_name[r->call], r->flag_names, error);
			need(error == wanted);
			done++;
		}
	}
	need(done > 0);
	if (wanted)
		fabric_refused(call_name[r->call], r->flag_names, s->plan, wanted);
	else
		fabric_row(call_name[r->call], r->flag_names, s->plan, "ok");
}

/* ---- more than one request, and other memory ---- */

/* Write what is being read: FI_FENCE holds the write back until the read has its data. */
static void try_fence(struct side *s)
{
	const struct row read = {READ, 0, NULL, 0, 0};
	const struct row fenced = {WRITEMSG, FI_FENCE | FI_COMPLETION, NULL, 0, 0};
	const struct row marked = {WRITEMSG, FI_FENCE | FI_COMPLETION | FI_REMOTE_CQ_DATA, NULL, 0,
				   0};
	const size_t len = SPAN / 2 - 1;
	struct iovec iov = {s->local + LOCAL_AT + 3, len};
	struct fi_rma_iov from = {s->remote_addr, len, s->remote_key};
	struct fi_rma_iov to = {s->remote_addr + len + 1, len, s->remote_key};
	struct seen seen;

	for (unsigned i = 0; i < 20; i++) {
		fill(s->local + LOCAL_AT, SPAN);
		fill(s->plan->window, SPAN);
		memcpy(expected, s->plan->window, SPAN);
		memcpy(expected + len + 1, expected, len);
		works(post_until_taken(s, &read, &iov, 1, &from));
		works(post_until_taken(s, i % 2 ? &fenced : &marked, &iov, 1, &to));
		fabric_wait(s, s->tx, FI_READ);
		fabric_wait(s, s->tx, FI_WRITE);
		need(mark(s, &seen) == 0);
		need(seen.notices == (i % 2 ? 0u : 1u) && seen.others == 0);
		check_window(s);
	}
	fabric_row("fi_read, then fi_writemsg of it", "FENCE", s->plan, "ok");
}

/* Requests with FI_MORE, which announces another one, and one without it behind them. */
#define BATCH 8

/* Request number i: its local buffer, and where it lies on the other side. */
static size_t piece(struct side *s, size_t i, struct iovec *iov, struct fi_rma_iov *to)
{
	size_t at = i * 5000 + 1, len = 1 + i * 700;

	*iov = (struct iovec){s->local + LOCAL_AT + at, len};
	*to = (struct fi_rma_iov){s->remote_addr + at, len, s->remote_key};
	return at;
}

static void batch(struct side *s, enum call call)
{
	const struct row more = {call, FI_MORE | FI_COMPLETION, NULL, 0, 0};
	const struct row last = {call, FI_COMPLETION, NULL, 0, 0};
	struct fi_rma_iov to;
	struct iovec iov;
	struct seen seen;

	for (size_t i = 0; i < BATCH; i++) {
		piece(s, i, &iov, &to);
		works(post_until_taken(s, i + 1 < BATCH ? &more : &last, &iov, 1, &to));
	}
	for (size_t i = 0; i < BATCH; i++)
		fabric_wait(s, s->tx, call == WRITEMSG ? FI_WRITE : FI_READ);
	need(mark(s, &seen) == 0 && seen.notices == 0 && seen.others == 0);
}

static void try_more(struct side *s)
{
	struct fi_rma_iov to;
	struct iovec iov;

	fill(s->plan->window, SPAN);
	fill(s->local + LOCAL_AT, SPAN);
	memcpy(expected, s->plan->window, SPAN);
	for (size_t i = 0; i < BATCH; i++) {
		size_t at = piece(s, i, &iov, &to);
		memcpy(expected + at, iov.iov_base, iov.iov_len);
	}
	batch(s, WRITEMSG);
	check_window(s);
	fill(s->local + LOCAL_AT, SPAN);
	batch(s, READMSG);
	for (size_t i = 0; i < BATCH; i++) {
		size_t at = piece(s, i, &iov, &to);
		need(memcmp(iov.iov_base, expected + at, iov.iov_len) == 0);
	}
	check_window(s);
	fabric_row("fi_writemsg, fi_readmsg, eight of each", "COMPLETION, MORE", s->plan, "ok");
}

/*
 * Memory that goes, and other memory that comes in its place: the registration cache must not
 * write what was there before.
 */
static void try_remapped(struct side *s)
{
	const struct row write = {.call = WRITE}, read = {.call = READ};
	const struct fi_rma_iov to = {s->remote_addr + 1, SPAN / 2, s->remote_key};
	struct iovec iov = {NULL, SPAN / 2};
	const int mode = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
	struct seen seen;

	for (unsigned i = 0; i < 20; i++) {
		void *p =
			mmap(iov.iov_base, SPAN, mode, kind | (i ? MAP_FIXED_NOREPLACE : 0), -1, 0);
		need(p != MAP_FAILED && (i == 0 || p == iov.iov_base));
		iov.iov_base = p;
		fill(s->plan->window, SPAN);
		memcpy(expected, s->plan->window, SPAN);
		fill(p, SPAN);
		if (i % 2 == 0)
			memcpy(expected + 1, p, iov.iov_len);
		works(post_until_taken(s, i % 2 ? &read : &write, &iov, 1, &to));
		fabric_wait(s, s->tx, i % 2 ? FI_READ : FI_WRITE);
		need(mark(s, &seen) == 0 && seen.notices == 0 && seen.others == 0);
		need(memcmp(p, s->plan->window + 1, iov.iov_len) == 0);
		check_window(s);
		works(munmap(p, SPAN));
	}
	fabric_row("fi_write, fi_read", "memory mapped anew", s->plan, "ok");
}

/* ---- a header from a pool in front of a large buffer, in one message ---- */

#define HEADER    200
#define POOL_AT   (WINDOW_SIZE - 65536) /* of both sides' memory */
#define POOL_SLOT 256

static const size_t prefixed[] = {1, 1000, 16184, 65536, 131071, PREFIXED};

static struct fid_mr *pool_mr;
static unsigned pool_index;

static uint8_t *pool_slot(uint8_t *memory, unsigned i)
{
	return memory + POOL_AT + (i % 16) * POOL_SLOT;
}

static void post_prefixed(struct side *s)
{
	struct iovec iov[2] = {{pool_slot(s->plan->window, pool_index), HEADER},
			       {s->plan->window, PREFIXED}};
	void *desc[2];

	if (!pool_mr)
		fabric_register(s, s->plan->window + POOL_AT, 65536, &pool_mr);
	pool_index++;
	desc[0] = fi_mr_desc(pool_mr);
	desc[1] = fi_mr_desc(s->window_mr);
	works(fi_recvv(s->ep, iov, s->plan->unregistered ? NULL : desc, 2, FI_ADDR_UNSPEC,
		       &s->context[0]));
}

static void serve_prefixed(struct side *s)
{
	fabric_target(s);
	for (size_t i = 0; i < sizeof(prefixed) / sizeof(prefixed[0]); i++) {
		struct fi_cq_data_entry e = fabric_wait(s, s->rx, FI_RECV);
		uint8_t go;

		need(e.len == HEADER + prefixed[i]);
		control_put(s, "", 1);
		control_get(s, &go, 1);
		post_prefixed(s);
		control_put(s, "", 1);
	}
	fi_close(&pool_mr->fid);
}

static void send_prefixed(struct side *s, size_t len)
{
	uint8_t *header = pool_slot(s->local, pool_index), *data = s->local + LOCAL_AT + 1, done;
	struct iovec iov[2] = {{header, HEADER}, {data, len}};
	void *desc[2] = {pool_mr ? fi_mr_desc(pool_mr) : NULL, s->desc};
	double end = fabric_seconds() + SECONDS;
	struct fi_cq_data_entry e;
	ssize_t result;

	fill(header, HEADER);
	fill(data, len);
	memset(s->plan->window, 0, PREFIXED + 1);
	while ((result = fi_sendv(s->ep, iov, s->plan->unregistered ? NULL : desc, 2, s->peer,
				  &s->context[0])) == -FI_EAGAIN) {
		need(fi_cq_read(s->tx, &e, 1) == -FI_EAGAIN);
		need(fabric_seconds() < end);
	}
	works(result);
	fabric_wait(s, s->tx, FI_SEND);
	control_get(s, &done, 1);
	need(memcmp(pool_slot(s->plan->window, pool_index), header, HEADER) == 0);
	need(memcmp(s->plan->window, data, len) == 0);
	need(s->plan->window[len] == 0);
	pool_index++;
	control_put(s, "", 1);
	control_get(s, &done, 1);
}

static void initiate_prefixed(struct side *s)
{
	fabric_initiator(s);
	if (!s->plan->unregistered)
		fabric_register(s, s->local + POOL_AT, 65536, &pool_mr);
	for (size_t i = 0; i < sizeof(prefixed) / sizeof(prefixed[0]); i++)
		send_prefixed(s, prefixed[i]);
	if (pool_mr)
		works(fi_close(&pool_mr->fid));
	fabric_row("fi_sendv, fi_recvv", "header and data", s->plan, "ok");
}

/* ---- sessions ---- */

static void initiate_rows(struct side *s)
{
	fabric_initiator(s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_row(s, &rows[i]);
	try_more(s);
	if (!s->plan->quiet)
		try_fence(s);
	if (s->plan->unregistered && !s->plan->quiet)
		try_remapped(s);
	if (s->reads)
		fabric_row("fi_cntr_read, fi_cntr_wait", "FI_READ, FI_WRITE", s->plan, "ok");
}

/* With a wait object: a call of each kind, waited for in its way. */
static void initiate_wait(struct side *s)
{
	static const struct row some[] = {{.call = WRITE}, {.call = WRITEDATA}, {.call = READ}};
	struct fi_cq_data_entry e;

	fabric_initiator(s);
	if (s->plan->wait == FI_WAIT_NONE)
		need(fi_cq_sread(s->tx, &e, 1, NULL, 0) < 0);
	for (unsigned i = 0; i < 30; i++)
		works(transfer(s, &some[i % 3], i, 10 + 100 * i, 1));
	fabric_row("fi_cq_open", fabric_wait_name(s->plan->wait), s->plan, "ok");
}

typedef void part(struct side *s);

/* What the two sides do, and the socket by which they speak; either may have nothing to do. */
struct session {
	struct plan plan;
	part *part[2]; /* of the target, of the initiator */
	int control[2];
};

#define MAX_SESSIONS 16
static struct session sessions[MAX_SESSIONS];
static unsigned n_sessions;

static void add_session(const struct plan *p, part *target, part *initiator)
{
	struct session *s = &sessions[n_sessions++];

	need(n_sessions <= MAX_SESSIONS);
	*s = (struct session){.plan = *p, .part = {target, initiator}};
	need(socketpair(AF_UNIX, SOCK_STREAM, 0, s->control) == 0);
}

static void add_sessions(struct plan p, bool only_cache)
{
	if (!only_cache)
		add_session(&p, NULL, fabric_grants);
	add_session(&p, serve, initiate_rows);
	p.quiet = true;
	if (!only_cache)
		add_session(&p, serve, initiate_rows);
	p.quiet = false;
	for (size_t i = 0; !only_cache && fabric_wait_at(i, p.type, &p.wait); i++)
		add_session(&p, serve, initiate_wait);
	p.wait = FI_WAIT_NONE;
	p.post_receives = post_prefixed;
	add_session(&p, serve_prefixed, initiate_prefixed);
}

/* A session ends when its initiator closes the socket, of which nobody else holds that end. */
static void take_part(unsigned me, const struct session *session)
{
	struct side s = {.plan = &session->plan, .control = session->control[me]};

	if (session->part[me])
		session->part[me](&s);
	if (s.ep)
		fabric_close(&s);
	close(s.control);
}

/*
 * Each side has one process for all of its sessions: libfabric does not outlive a fork, and takes
 * longer to begin than most of them last.
 */
static pid_t start(unsigned me)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0);
	if (pid > 0)
		return pid;
	for (unsigned i = 0; i < n_sessions; i++)
		close(sessions[i].control[!me]);
	for (unsigned i = 0; i < n_sessions; i++)
		take_part(me, &sessions[i]);
	exit(0);
}

static void run(void)
{
	pid_t side[2];
	int status;

	for (unsigned me = 0; me < 2; me++)
		side[me] = start(me);
	for (unsigned i = 0; i < n_sessions; i++)
		for (unsigned me = 0; me < 2; me++)
			close(sessions[i].control[me]);
	for (unsigned me = 2; me-- > 0;) {
		need(waitpid(side[me], &status, 0) == side[me]);
		need(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

int main(int argc, char **argv)
{
	struct plan p = {.wait = FI_WAIT_NONE, .post_receives = fabric_post_receives};

	if (argc < 3) {
		fprintf(stderr, "usage: fi_rma ADDRESS msg|rdm [unregistered|cache]\n");
		return 2;
	}
	p.address = argv[1];
	p.type = strcmp(argv[2], "msg") == 0 ? FI_EP_MSG : FI_EP_RDM;
	p.unregistered = argc > 3;
	p.window =
		mmap(NULL, WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(p.window != MAP_FAILED);
	add_sessions(p, argc > 3 && strcmp(argv[3], "cache") == 0);
	run();
	return 0;
}
