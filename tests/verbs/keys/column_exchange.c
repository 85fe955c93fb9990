/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three ways to send a column of a matrix, an example and a measurement. The matrix is stored row
 * after row, so that the N elements of a column do not stand together. They go into another column
 * of another matrix:
 *
 *   key     the column is described, once per message, by a few numbers: so many elements of so
 *           many bytes, so far apart (uhcadv.h, REG_INTERLEAVED). One element of the list names it.
 *   list    each element of the column is an element of a list; the lists are as long as the
 *           device takes them, so that a column is many messages.
 *   bounce  the program copies the elements to a buffer, sends that, and copies them from another
 *           buffer to their places.
 *
 * What is printed, for ordinary memory and for memory shared with the device (uhcadv_alloc_shared):
 * bytes of what describes the column (lists, work requests, buffers), the time from the start of
 * describing or packing until the last call to post has returned, and bandwidth from the same start
 * until the column stands at its destination. What the receiver does before the message comes
 * (describing its column, posting receives) is not counted, for any of the ways; what it does
 * afterwards (copying from its buffer) is. Each figure is the best of several rounds; the elements
 * and their neighbours are checked. --csv prints what scripts/plot-columns reads.
 *
 * Runs below uhca-run. Both ends are in this process, to keep the example short: what is done for
 * "from" and for "to" would stand in two programs.
 */
#include <errno.h>
#include <infiniband/uhcadv.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define COLUMNS    4u   /* of a matrix */
#define FROM       1u   /* the column that is sent */
#define TO         2u   /* where it goes */
#define DEPTH      256u /* work requests that are posted at once */
#define MAX_SGE    64u  /* more elements per list are not used */
#define MAX_ROUNDS 101u /* of each measurement */
#define FEW_ROUNDS 30u  /* are made even if they take FEW_NS together */
#define FEW_NS     4e8
#define ROUNDS_NS  30e6 /* and no more when they took so long */
#define TIMEOUT_S  120  /* seconds until a completion counts as lost */

/* One end: a QP, a matrix, a key for columns of the matrix, a buffer for the third way. */
struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	unsigned column;
	uint8_t *matrix;
	struct ibv_mr *mr; /* of the matrix */
	struct ibv_mr *key;
	uint8_t *buffer; /* a column's bytes */
	struct ibv_mr *buffer_mr;
};

struct stand {
	struct ibv_context *context;
	struct ibv_pd *pd;
	int shared; /* are the matrices and buffers shared with the device? */
	unsigned max_sge;
	size_t element; /* bytes */
	size_t rows;    /* for which there is memory */
	struct end from, to;
};

/* What one exchange took. */
struct cost {
	double post_ns, all_ns;
	size_t bytes;
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("column_exchange: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static size_t row_bytes(const struct stand *s)
{
	return COLUMNS * s->element;
}

static uint8_t *column_of(const struct stand *s, const struct end *e)
{
	return e->matrix + e->column * s->element;
}

/* ---- completions ---- */

/* Takes n completions of a CQ, all of them successes. */
static void expect(struct ibv_cq *cq, unsigned n)
{
	time_t end = time(NULL) + TIMEOUT_S;

	while (n > 0) {
		struct ibv_wc wc[16];
		int got = ibv_poll_cq(cq, n < 16 ? (int)n : 16, wc);

		if (got < 0)
			die("ibv_poll_cq");
		for (int i = 0; i < got; i++)
			if (wc[i].status != IBV_WC_SUCCESS)
				die("completion: %s", ibv_wc_status_str(wc[i].status));
		n -= (unsigned)got;
		if (!got && time(NULL) > end)
			die("no completion for %d seconds", TIMEOUT_S);
	}
}

/* ---- posting one message of one element ---- */

static void post_recv(struct end *e, uint64_t addr, size_t length, uint32_t lkey)
{
	struct ibv_sge sge = {addr, (uint32_t)length, lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

	if (ibv_post_recv(e->qp, &wr, &bad))
		die("ibv_post_recv");
}

static void post_send(struct end *e, uint64_t addr, size_t length, uint32_t lkey)
{
	struct ibv_sge sge = {addr, (uint32_t)length, lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	if (ibv_post_send(e->qp, &wr, &bad))
		die("ibv_post_send");
}

/* ---- the first way: a key ---- */

/*
 * The key becomes the first n elements of the column, from address 0 on. The request stands in the
 * send queue: what is posted there after it can use the key.
 */
static void describe(struct stand *s, struct end *e, size_t n)
{
	struct uhcadv_piece piece = {.addr = (uintptr_t)column_of(s, e),
				     .bytes = s->element,
				     .lkey = e->mr->lkey,
				     .stride = {(int64_t)row_bytes(s)}};
	struct uhcadv_send_wr *bad, wr = {.opcode = UHCADV_WR_REG_INTERLEAVED};

	wr.reg.mr = e->key;
	wr.reg.attr.access = IBV_ACCESS_LOCAL_WRITE;
	wr.reg.attr.key_byte = (uint8_t)e->key->lkey;
	wr.reg.interleaved.n_dims = 1;
	wr.reg.interleaved.n_pieces = 1;
	wr.reg.interleaved.count[0] = n;
	wr.reg.interleaved.piece = &piece;
	if (e == &s->to) /* its queue has nothing else to wait for */
		wr.send_flags = IBV_SEND_SIGNALED;
	if (uhcadv_post_send(e->qp, &wr, &bad))
		die("uhcadv_post_send: %s", strerror(errno));
}

static void by_key(struct stand *s, size_t n, struct cost *c)
{
	double start;

	/* The receiver's key must be there when the message comes. */
	describe(s, &s->to, n);
	post_recv(&s->to, 0, n * s->element, s->to.key->lkey);
	expect(s->to.cq, 1);
	start = now_ns();
	describe(s, &s->from, n);
	post_send(&s->from, 0, n * s->element, s->from.key->lkey);
	c->post_ns = now_ns() - start;
	expect(s->to.cq, 1);
	expect(s->from.cq, 1);
	c->all_ns = now_ns() - start;
	c->bytes = sizeof(struct uhcadv_send_wr) + sizeof(struct uhcadv_piece) +
		   sizeof(struct ibv_send_wr) + sizeof(struct ibv_sge);
}

/* ---- the second way: lists ---- */

/* Up to DEPTH lists of elements first.. of the column; returns the element after the last. */
static size_t make_lists(struct stand *s, struct end *e, size_t first, size_t n,
			 struct ibv_sge *sge, unsigned *n_lists)
{
	uint8_t *at = column_of(s, e) + first * row_bytes(s);
	size_t count = n - first < (size_t)DEPTH * s->max_sge ? n - first : DEPTH * s->max_sge;

	for (size_t i = 0; i < count; i++, at += row_bytes(s))
		sge[i] = (struct ibv_sge){(uintptr_t)at, (uint32_t)s->element, e->mr->lkey};
	*n_lists = (unsigned)((count + s->max_sge - 1) / s->max_sge);
	return first + count;
}

static int list_length(const struct stand *s, size_t count, unsigned i)
{
	size_t left = count - (size_t)i * s->max_sge;

	return (int)(left < s->max_sge ? left : s->max_sge);
}

static void post_recv_lists(struct stand *s, struct ibv_sge *sge, size_t count, unsigned n)
{
	static struct ibv_recv_wr wr[DEPTH];
	struct ibv_recv_wr *bad;

	for (unsigned i = 0; i < n; i++)
		wr[i] = (struct ibv_recv_wr){.next = i + 1 < n ? &wr[i + 1] : NULL,
					     .sg_list = sge + (size_t)i * s->max_sge,
					     .num_sge = list_length(s, count, i)};
	if (ibv_post_recv(s->to.qp, wr, &bad))
		die("ibv_post_recv");
}

static void post_send_lists(struct stand *s, struct ibv_sge *sge, size_t count, unsigned n)
{
	static struct ibv_send_wr wr[DEPTH];
	struct ibv_send_wr *bad;

	for (unsigned i = 0; i < n; i++)
		wr[i] = (struct ibv_send_wr){.next = i + 1 < n ? &wr[i + 1] : NULL,
					     .sg_list = sge + (size_t)i * s->max_sge,
					     .num_sge = list_length(s, count, i),
					     .opcode = IBV_WR_SEND,
					     .send_flags = i + 1 < n ? 0 : IBV_SEND_SIGNALED};
	if (ibv_post_send(s->from.qp, wr, &bad))
		die("ibv_post_send");
}

/* As many lists at a time as the queues hold. */
static void by_list(struct stand *s, size_t n, struct cost *c)
{
	static struct ibv_sge sge[DEPTH * MAX_SGE];
	size_t lists = (n + s->max_sge - 1) / s->max_sge;

	c->post_ns = c->all_ns = 0;
	for (size_t first = 0, next; first < n; first = next) {
		unsigned n_lists;
		double start;

		next = make_lists(s, &s->to, first, n, sge, &n_lists);
		post_recv_lists(s, sge, next - first, n_lists);
		start = now_ns();
		make_lists(s, &s->from, first, n, sge, &n_lists);
		post_send_lists(s, sge, next - first, n_lists);
		c->post_ns += now_ns() - start;
		expect(s->to.cq, n_lists);
		expect(s->from.cq, 1);
		c->all_ns += now_ns() - start;
	}
	c->bytes = n * sizeof(struct ibv_sge) + lists * sizeof(struct ibv_send_wr);
}

/* ---- the third way: bounce buffers ---- */

static void copy_element(void *to, const void *from, size_t bytes)
{
	if (bytes == 8) /* so that the compiler makes it one load and one store */
		memcpy(to, from, 8);
	else if (bytes == 64)
		memcpy(to, from, 64);
	else
		memcpy(to, from, bytes);
}

static void by_bounce(struct stand *s, size_t n, struct cost *c)
{
	const uint8_t *from = column_of(s, &s->from);
	uint8_t *to = column_of(s, &s->to);
	double start;

	post_recv(&s->to, (uintptr_t)s->to.buffer, n * s->element, s->to.buffer_mr->lkey);
	start = now_ns();
	for (size_t i = 0; i < n; i++)
		copy_element(s->from.buffer + i * s->element, from + i * row_bytes(s), s->element);
	post_send(&s->from, (uintptr_t)s->from.buffer, n * s->element, s->from.buffer_mr->lkey);
	c->post_ns = now_ns() - start;
	expect(s->to.cq, 1);
	for (size_t i = 0; i < n; i++)
		copy_element(to + i * row_bytes(s), s->to.buffer + i * s->element, s->element);
	expect(s->from.cq, 1);
	c->all_ns = now_ns() - start;
	c->bytes = n * s->element + sizeof(struct ibv_send_wr) + sizeof(struct ibv_sge);
}

static const struct way {
	const char *name;
	void (*exchange)(struct stand *s, size_t n, struct cost *c);
} ways[] = {{"key", by_key}, {"list", by_list}, {"bounce", by_bounce}};

/* ---- checking ---- */

/* What row r of the column holds: no two rows that are near each other the same. */
static void make_element(uint8_t *out, size_t bytes, size_t row, unsigned seed)
{
	uint64_t v = (row + seed) * 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)((v >> (8 * (i % 8))) + i / 8 + 1);
}

static void prepare(struct stand *s, size_t n, unsigned seed)
{
	for (size_t row = 0; row < n; row++) {
		make_element(column_of(s, &s->from) + row * row_bytes(s), s->element, row, seed);
		memset(column_of(s, &s->to) + row * row_bytes(s), 0, s->element);
	}
}

/* Each element has arrived, and nothing else has: the other columns are zero. */
static void check(struct stand *s, size_t n, unsigned seed, const char *name)
{
	uint8_t *expected = calloc(1, row_bytes(s));

	if (!expected)
		die("no memory");
	for (size_t row = 0; row < s->rows; row++) {
		const uint8_t *got = s->to.matrix + row * row_bytes(s);

		if (row < n)
			make_element(expected + s->to.column * s->element, s->element, row, seed);
		else
			memset(expected, 0, row_bytes(s));
		if (memcmp(got, expected, row_bytes(s)))
			die("%s, %zu elements of %zu bytes: row %zu is wrong", name, n, s->element,
			    row);
	}
	free(expected);
}

/* ---- measuring ---- */

/* A round that is not counted comes first; it and the last one are checked. */
static struct cost measure(struct stand *s, const struct way *w, size_t n)
{
	struct cost best, c;
	double begin, took = 0;

	prepare(s, n, 1);
	w->exchange(s, n, &best);
	check(s, n, 1, w->name);
	prepare(s, n, 2);
	begin = now_ns();
	for (unsigned i = 0; i < MAX_ROUNDS; i++, took = now_ns() - begin) {
		if (i && took > (i < FEW_ROUNDS ? FEW_NS : ROUNDS_NS))
			break;
		w->exchange(s, n, &c);
		if (!i || c.post_ns < best.post_ns)
			best.post_ns = c.post_ns;
		if (!i || c.all_ns < best.all_ns)
			best.all_ns = c.all_ns;
	}
	check(s, n, 2, w->name);
	prepare(s, n, 0);
	return best;
}

static void print(const struct stand *s, const struct way *w, size_t n, const struct cost *c,
		  int csv)
{
	const char *memory = s->shared ? "shared" : "ordinary";
	double gb_s = (double)(n * s->element) / c->all_ns;

	if (csv)
		printf("%s,%s,%zu,%zu,%zu,%.0f,%.6f\n", memory, w->name, s->element, n, c->bytes,
		       c->post_ns, gb_s);
	else
		printf("%-8s  %-6s  %5zu  %8zu  %12zu  %12.0f  %9.4f\n", memory, w->name,
		       s->element, n, c->bytes, c->post_ns, gb_s);
	fflush(stdout);
}

/* ---- making the stand ---- */

static void *get_memory(struct stand *s, size_t bytes)
{
	void *at;

	if (s->shared)
		at = uhcadv_alloc_shared(s->context, bytes);
	else
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!at || at == MAP_FAILED)
		die("%zu bytes of memory: %s", bytes, strerror(errno));
	return at;
}

static void put_memory(struct stand *s, void *at, size_t bytes)
{
	if (s->shared ? uhcadv_free_shared(s->context, at) : munmap(at, bytes))
		die("freeing memory");
}

static struct ibv_mr *reg(struct stand *s, void *at, size_t bytes)
{
	struct ibv_mr *mr = ibv_reg_mr(s->pd, at, bytes, IBV_ACCESS_LOCAL_WRITE);

	if (!mr)
		die("ibv_reg_mr: %s", strerror(errno));
	return mr;
}

static void make_end(struct stand *s, struct end *e, unsigned column)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC, .pd = s->pd};

	e->column = column;
	e->cq = ibv_create_cq(s->context, (int)(2 * DEPTH), NULL, NULL, 0);
	if (!e->cq)
		die("ibv_create_cq: %s", strerror(errno));
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.send_cq = attr.recv_cq = e->cq;
	attr.cap.max_send_wr = attr.cap.max_recv_wr = DEPTH;
	attr.cap.max_send_sge = attr.cap.max_recv_sge = s->max_sge;
	e->qp = uhcadv_create_qp(s->context, &attr, NULL);
	if (!e->qp)
		die("uhcadv_create_qp: %s", strerror(errno));
	e->key = uhcadv_alloc_mr(s->pd, 1);
	if (!e->key)
		die("uhcadv_alloc_mr: %s", strerror(errno));
	e->matrix = get_memory(s, s->rows * row_bytes(s));
	e->mr = reg(s, e->matrix, s->rows * row_bytes(s));
	e->buffer = get_memory(s, s->rows * s->element);
	e->buffer_mr = reg(s, e->buffer, s->rows * s->element);
}

static void destroy_end(struct stand *s, struct end *e)
{
	/* The key first: it names the matrix. */
	if (ibv_dereg_mr(e->key) || ibv_dereg_mr(e->mr) || ibv_dereg_mr(e->buffer_mr) ||
	    ibv_destroy_qp(e->qp) || ibv_destroy_cq(e->cq))
		die("destroying");
	put_memory(s, e->matrix, s->rows * row_bytes(s));
	put_memory(s, e->buffer, s->rows * s->element);
}

/* From RESET to RTS, towards that QP of the same device. */
static void connect_qp(struct stand *s, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	if (ibv_modify_qp(qp, &attr, mask))
		die("INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 1}}};
	if (ibv_query_gid(s->context, 1, 0, &attr.ah_attr.grh.dgid))
		die("ibv_query_gid");
	mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (ibv_modify_qp(qp, &attr, mask))
		die("RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 18,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 1};
	mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	       IBV_QP_MAX_QP_RD_ATOMIC;
	if (ibv_modify_qp(qp, &attr, mask))
		die("RTS");
}

static void open_stand(struct stand *s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device_attr attr;

	if (!list || !list[0] || !uhcadv_is_supported(list[0]))
		die("no device of uhca");
	s->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!s->context || ibv_query_device(s->context, &attr))
		die("ibv_open_device: %s", strerror(errno));
	s->max_sge = (unsigned)attr.max_sge < MAX_SGE ? (unsigned)attr.max_sge : MAX_SGE;
	s->pd = ibv_alloc_pd(s->context);
	if (!s->pd)
		die("ibv_alloc_pd: %s", strerror(errno));
}

/* All numbers of elements up to max, by fours, all ways or one, one kind of memory. */
static void run(struct stand *s, size_t max, const char *way, int csv)
{
	s->rows = max;
	make_end(s, &s->from, FROM);
	make_end(s, &s->to, TO);
	connect_qp(s, s->from.qp, s->to.qp->qp_num);
	connect_qp(s, s->to.qp, s->from.qp->qp_num);
	for (size_t n = 1; n <= max; n *= 4)
		for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
			struct cost c;

			if (way && strcmp(way, ways[i].name))
				continue;
			c = measure(s, &ways[i], n);
			print(s, &ways[i], n, &c, csv);
		}
	destroy_end(s, &s->from);
	destroy_end(s, &s->to);
}

int main(int argc, char **argv)
{
	int csv = argc > 1 && !strcmp(argv[1], "--csv");
	size_t max = (size_t)1 << 20;
	struct stand s = {.shared = 0};

	argv += csv;
	argc -= csv;
	if (argc > 4)
		die("usage: column_exchange [--csv] [MAX-ELEMENTS [BYTES-OF-ELEMENT [WAY]]]");
	if (argc > 1)
		max = strtoul(argv[1], NULL, 0);
	open_stand(&s);
	puts(csv ? "memory,way,element,n,descriptor_bytes,post_ns,gb_s"
		 : "memory    way     bytes  elements  descr, bytes   posting, ns       GB/s");
	for (size_t element = 8; element <= 512; element *= 8) {
		if (argc > 2)
			element = strtoul(argv[2], NULL, 0);
		s.element = element;
		for (s.shared = 0; s.shared < 2; s.shared++)
			run(&s, max, argc > 3 ? argv[3] : NULL, csv);
		if (argc > 2)
			break;
	}
	return ibv_dealloc_pd(s.pd) || ibv_close_device(s.context);
}
