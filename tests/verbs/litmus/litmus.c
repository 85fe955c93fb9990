/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Litmus tests of RDMA's memory model: small programs, each with an outcome that the model allows
 * or forbids (docs/explanation/litmus.md). Each is run many times; a forbidden outcome that is seen
 * fails, how often an allowed one was seen is said. Node A posts; node B is the other end of the
 * same device, and its processor a thread.
 *
 *   litmus [ROUNDS]      200, unless it is said
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QPS      2
#define SLOT     64
#define STEPS    7
#define WEAK     2
#define DEADLINE 120 /* seconds, of what node B waits for */
#define ROUNDS   200

enum kind { END, K_WRITE, K_READ, K_SEND, K_POLL, K_SET, K_LOAD, K_TELL, K_HEAR, K_TAKE, K_SEE };

struct step {
	enum kind kind;
	unsigned qp;    /* or for whom a variable is looked at: OF_A, OF_B */
	unsigned a, b;  /* variables, or one and its value */
	unsigned flags; /* enum ibv_send_flags */
};

/* What node A posts, in the words of the model: to QP q, between its variable a and b of node B. */
#define PUT(q, a, b)                                                                               \
	{                                                                                          \
		K_WRITE, q, a, b, 0                                                                \
	}
#define PUT_FENCE(q, a, b)                                                                         \
	{                                                                                          \
		K_WRITE, q, a, b, IBV_SEND_FENCE                                                   \
	}
#define GET(q, a, b)                                                                               \
	{                                                                                          \
		K_READ, q, a, b, 0                                                                 \
	}
#define SEND(q)                                                                                    \
	{                                                                                          \
		K_SEND, q, 0, 0, 0                                                                 \
	}
/* Waits until all that was posted to q has completed. */
#define POLL(q)                                                                                    \
	{                                                                                          \
		K_POLL, q, 0, 0, 0                                                                 \
	}
/* Its processor. TELL speaks to the other one, by other means than the device. */
#define SET(a, value)                                                                              \
	{                                                                                          \
		K_SET, 0, a, value, 0                                                              \
	}
#define LOAD(a)                                                                                    \
	{                                                                                          \
		K_LOAD, OF_A, a, 0, 0                                                              \
	}
#define TELL                                                                                       \
	{                                                                                          \
		K_TELL, 0, 0, 0, 0                                                                 \
	}
/* Node B's processor: waits to be told, for a message, for a value; reads. */
#define HEAR                                                                                       \
	{                                                                                          \
		K_HEAR, 0, 0, 0, 0                                                                 \
	}
#define TAKE                                                                                       \
	{                                                                                          \
		K_TAKE, 0, 0, 0, 0                                                                 \
	}
#define SEE(b, value)                                                                              \
	{                                                                                          \
		K_SEE, 0, b, value, 0                                                              \
	}
#define LOAD_B(b)                                                                                  \
	{                                                                                          \
		K_LOAD, OF_B, b, 0, 0                                                              \
	}
#define NOTHING                                                                                    \
	{                                                                                          \
		END, 0, 0, 0, 0                                                                    \
	}

enum { OF_A, OF_B };
enum { X, Y };           /* node B's variables */
enum { A, B, ONE, TWO }; /* node A's; the last two hold 1 and 2 */
enum { SPARE = 4 };      /* of both, of no test */

/* Where an outcome is looked for: what was read, or a variable at the end. */
enum place { READ, AT_A, AT_B };

static const struct test {
	const char *name;
	bool allowed;
	uint64_t x; /* at first; all else is 0 */
	struct step node_a[STEPS], node_b[STEPS];
	enum place place;
	unsigned variable;
	uint64_t value;
} tests[] = {
	{"put-reuse", true, 0, {PUT(0, A, X), SET(A, 1)}, {NOTHING}, AT_B, X, 1},
	{"put-poll-reuse", false, 0, {PUT(0, A, X), POLL(0), SET(A, 1)}, {NOTHING}, AT_B, X, 1},
	{"get-load", true, 1, {GET(0, A, X), LOAD(A)}, {NOTHING}, READ, 0, 0},
	{"get-poll-load", false, 1, {GET(0, A, X), POLL(0), LOAD(A)}, {NOTHING}, READ, 0, 0},
	{"get-put", true, 1, {GET(0, A, X), PUT(0, A, Y)}, {NOTHING}, AT_B, Y, 0},
	{"get-fence-put", false, 1, {GET(0, A, X), PUT_FENCE(0, A, Y)}, {NOTHING}, AT_B, Y, 0},
	{"get-poll-put", false, 1, {GET(0, A, X), POLL(0), PUT(0, A, Y)}, {NOTHING}, AT_B, Y, 0},
	{"get-put-same", true, 0, {GET(0, A, X), PUT(0, ONE, X)}, {NOTHING}, AT_A, A, 1},
	{"get-fence-put-same",
	 false,
	 0,
	 {GET(0, A, X), PUT_FENCE(0, ONE, X)},
	 {NOTHING},
	 AT_A,
	 A,
	 1},
	{"put-get", false, 0, {PUT(0, ONE, X), GET(0, A, X)}, {NOTHING}, AT_A, A, 0},
	{"put-get-queues", true, 0, {PUT(0, ONE, X), GET(1, A, X)}, {NOTHING}, AT_A, A, 0},
	{"put-get-poll-get-queues",
	 false,
	 0,
	 {PUT(0, ONE, X), GET(0, B, Y), POLL(0), GET(1, A, X)},
	 {NOTHING},
	 AT_A,
	 A,
	 0},
	{"put-put", false, 0, {PUT(0, ONE, X), PUT(0, TWO, X)}, {NOTHING}, AT_B, X, 1},
	{"put-put-queues", true, 0, {PUT(0, ONE, X), PUT(1, TWO, X)}, {NOTHING}, AT_B, X, 1},
	{"put-put-see",
	 false,
	 0,
	 {PUT(0, ONE, X), PUT(0, ONE, Y)},
	 {SEE(Y, 1), LOAD_B(X)},
	 READ,
	 0,
	 0},
	{"put-put-see-queues",
	 true,
	 0,
	 {PUT(0, ONE, X), PUT(1, ONE, Y)},
	 {SEE(Y, 1), LOAD_B(X)},
	 READ,
	 0,
	 0},
	{"put-send", false, 0, {PUT(0, ONE, X), SEND(0)}, {TAKE, LOAD_B(X)}, READ, 0, 0},
	{"put-poll-tell", true, 0, {PUT(0, ONE, X), POLL(0), TELL}, {HEAR, LOAD_B(X)}, READ, 0, 0},
	{"put-get-poll-tell",
	 false,
	 0,
	 {PUT(0, ONE, X), GET(0, A, Y), POLL(0), TELL},
	 {HEAR, LOAD_B(X)},
	 READ,
	 0,
	 0},
};
#define TESTS (sizeof(tests) / sizeof(tests[0]))

static struct {
	struct verbs_pair *pair;
	struct ibv_cq *cq; /* of the second queue pair's two ends */
	struct ibv_qp *second[2];
	struct ibv_qp *qp[QPS];
	struct ibv_cq *done[QPS];
	unsigned under_way[QPS];
	atomic_bool told, failed;
	uint64_t read;
} w;

static unsigned rounds = ROUNDS;

static _Atomic uint64_t *variable(struct verbs_side *s, unsigned i)
{
	return (_Atomic uint64_t *)(void *)(s->memory + (size_t)i * SLOT);
}

/* ---- node A ---- */

static void post(unsigned qp, enum ibv_wr_opcode opcode, unsigned flags, unsigned a, unsigned b)
{
	struct verbs_side *from = &w.pair->a, *to = &w.pair->b;
	struct ibv_sge sge = {(uintptr_t)variable(from, a), sizeof(uint64_t), from->mr->lkey};
	struct ibv_send_wr *bad,
		wr = {.opcode = opcode,
		      .send_flags = IBV_SEND_SIGNALED | flags,
		      .sg_list = &sge,
		      .num_sge = opcode == IBV_WR_SEND ? 0 : 1,
		      .wr.rdma = {.remote_addr = (uintptr_t)variable(to, b), .rkey = to->mr->rkey}};

	assert_int_equal(ibv_post_send(w.qp[qp], &wr, &bad), 0);
	w.under_way[qp]++;
}

static void finish(unsigned qp)
{
	for (; w.under_way[qp]; w.under_way[qp]--)
		assert_int_equal(verbs_pair_poll(w.done[qp]).status, IBV_WC_SUCCESS);
}

static void step_a(const struct step *s)
{
	switch ((int)s->kind) {
	case K_WRITE:
		post(s->qp, IBV_WR_RDMA_WRITE, s->flags, s->a, s->b);
		break;
	case K_READ:
		post(s->qp, IBV_WR_RDMA_READ, s->flags, s->a, s->b);
		break;
	case K_SEND:
		post(s->qp, IBV_WR_SEND, s->flags, 0, 0);
		break;
	case K_POLL:
		finish(s->qp);
		break;
	case K_SET:
		atomic_store(variable(&w.pair->a, s->a), s->b);
		break;
	case K_LOAD:
		w.read = atomic_load(variable(&w.pair->a, s->a));
		break;
	case K_TELL:
		atomic_store(&w.told, true);
		break;
	default:
		break;
	}
}

/* ---- node B ---- */

static bool has_message(void)
{
	struct ibv_wc wc;

	return ibv_poll_cq(w.pair->b.cq, 1, &wc) == 1;
}

static bool is_there(const struct step *s)
{
	switch ((int)s->kind) {
	case K_HEAR:
		return atomic_load(&w.told);
	case K_TAKE:
		return has_message();
	case K_SEE:
		return atomic_load(variable(&w.pair->b, s->a)) == s->b;
	default:
		return true;
	}
}

static void *node_b(void *steps)
{
	time_t end = time(NULL) + DEADLINE;

	for (const struct step *s = steps; s->kind != END; s++) {
		while (!is_there(s))
			if (time(NULL) > end) {
				atomic_store(&w.failed, true);
				return NULL;
			}
		if (s->kind == K_LOAD)
			w.read = atomic_load(variable(&w.pair->b, s->a));
	}
	return NULL;
}

/* ---- a round ---- */

static void set_up(const struct test *t)
{
	memset(w.pair->a.memory, 0, 4 * SLOT);
	memset(w.pair->b.memory, 0, 4 * SLOT);
	atomic_store(variable(&w.pair->a, ONE), 1);
	atomic_store(variable(&w.pair->a, TWO), 2);
	atomic_store(variable(&w.pair->b, X), t->x);
	atomic_store(&w.told, false);
	if (t->node_b[0].kind == K_TAKE)
		verbs_pair_recv(&w.pair->b, 1, 0, 0);
}

static uint64_t outcome(const struct test *t)
{
	switch (t->place) {
	case AT_A:
		return atomic_load(variable(&w.pair->a, t->variable));
	case AT_B:
		return atomic_load(variable(&w.pair->b, t->variable));
	case READ:
		break;
	}
	return w.read;
}

/* A READ of each queue pair: what its requests have brought is in node B's memory. */
static void push(void)
{
	for (unsigned i = 0; i < QPS; i++) {
		finish(i);
		post(i, IBV_WR_RDMA_READ, 0, SPARE, SPARE);
		finish(i);
	}
}

/* True when the outcome that is looked for was seen. */
static bool run_round(const struct test *t)
{
	struct step steps[STEPS];
	pthread_t b;

	memcpy(steps, t->node_b, sizeof(steps));
	set_up(t);
	assert_int_equal(pthread_create(&b, NULL, node_b, steps), 0);
	for (const struct step *s = t->node_a; s->kind != END; s++)
		step_a(s);
	pthread_join(b, NULL);
	push();
	assert_false(atomic_load(&w.failed));
	return outcome(t) == t->value;
}

static void run(void **state)
{
	const struct test *t = *state;
	unsigned seen = 0;

	for (unsigned i = 0; i < rounds; i++)
		seen += run_round(t);
	printf("%s: %s, seen %u of %u\n", t->name, t->allowed ? "allowed" : "forbidden", seen,
	       rounds);
	if (!t->allowed)
		assert_int_equal(seen, 0);
}

/* ---- two queue pairs to the same memory ---- */

static struct ibv_qp *another_qp(void)
{
	struct ibv_qp_init_attr attr = {.send_cq = w.cq,
					.recv_cq = w.cq,
					.cap = {PAIR_WR, 1, 1, 1, 0},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(w.pair->pd, &attr);

	assert_non_null(qp);
	return qp;
}

static int setup(void **state)
{
	(void)state;
	w.pair = verbs_pair_create(IBV_QPT_RC, 0);
	w.cq = ibv_create_cq(w.pair->context, 2 * PAIR_WR, NULL, NULL, 0);
	assert_non_null(w.cq);
	for (unsigned i = 0; i < 2; i++)
		w.second[i] = another_qp();
	verbs_pair_connect(w.pair, w.second[0], w.second[1]->qp_num);
	verbs_pair_connect(w.pair, w.second[1], w.second[0]->qp_num);
	w.qp[0] = w.pair->a.qp;
	w.done[0] = w.pair->a.cq;
	w.qp[1] = w.second[0];
	w.done[1] = w.cq;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ibv_destroy_qp(w.second[i]), 0);
	assert_int_equal(ibv_destroy_cq(w.cq), 0);
	verbs_pair_destroy(w.pair);
	return 0;
}

int main(int argc, char **argv)
{
	struct CMUnitTest all[TESTS];

	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	for (size_t i = 0; i < TESTS; i++) {
		const struct test *t = &tests[i];

		all[i] = (struct CMUnitTest){t->name, run, NULL, NULL, (void *)(uintptr_t)t};
	}
	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests_name("litmus", all, setup, teardown);
}
