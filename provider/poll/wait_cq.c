/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See wait_cq.h. How long the requests of a queue take, from being posted to being done, is their
 * number times the time that each one takes the device; and that is known where the device has had
 * something to do all the time since somebody looked before.
 */
#include "wait_cq.h"

#include "provider/base/base.h"

#define QPS    8         /* of a CQ, each time */
#define SOME   4         /* requests of a queue */
#define STREAM 32        /* messages in a row */
#define MUCH   16384     /* bytes of each, which takes longer than a short one anyway */
#define LONG   200000ull /* ns: a sleep of some 50 us is a quarter of that */

static uint32_t outstanding(const struct uhca_abi_ring *ring)
{
	return uhca_ring_observe(&ring->producer) - uhca_ring_observe(&ring->consumer);
}

/*
 * Requests that the device has and is not done with. (What the program has posted unsignaled and
 * the device has done is no reason to wait.) Behind a single one nothing goes on while the program
 * sleeps, and it may wake up late: it waits for a processor, too.
 */
static bool is_at_work(const struct uhcav_qp *qp, const struct uhcav_cq *cq)
{
	return qp->qp.send_cq == &cq->cq && qp->sq.entries && outstanding(qp->sq.ring) >= SOME;
}

/* The one of the last time if it still is. */
static const struct uhcav_qp *find_at_work(struct uhcav_cq *cq)
{
	for (unsigned i = 0; i < QPS; i++) {
		uint32_t at = cq->wait.at;
		const struct uhcav_qp *qp = uhcav_number_map_next(&cq->qps, &cq->wait.at);

		if (!qp) {
			cq->wait.at = 0;
			return NULL;
		}
		if (is_at_work(qp, cq)) {
			cq->wait.at = at;
			return qp;
		}
	}
	return NULL;
}

/* The device may have had nothing to do in between: begins anew. */
static void begin(struct uhcav_wait *w, uint32_t qpn, uint32_t first, uint32_t end, uint64_t now)
{
	*w = (struct uhcav_wait){.at = w->at, .qpn = qpn, .first = first, .end = end, .since = now};
}

static bool take_long(struct uhcav_wait *w, const struct uhcav_qp *qp, uint64_t now)
{
	uint32_t done = uhca_ring_observe(&qp->sq.ring->consumer);
	uint32_t posted = uhca_ring_observe(&qp->sq.ring->producer);
	uint64_t time = now - w->since;

	if (w->qpn != qp->qp.qp_num || done - w->first >= w->end - w->first) {
		begin(w, qp->qp.qp_num, done, posted, now);
		return false;
	}
	return done == w->first ? time >= LONG : time * (posted - done) / (done - w->first) >= LONG;
}

static uint32_t sent_by(const struct uhcav_qp *qp)
{
	return qp->sq.entries ? uhca_ring_observe(&qp->sq.ring->producer) : 0;
}

void uhcav_cq_streams(struct uhcav_cq *cq, const struct uhcav_qp *qp, const struct uhca_abi_cqe *e)
{
	struct uhcav_stream *s = &cq->stream;

	if (!uhca_cqe_is_receive(e) || e->byte_len < MUCH) {
		s->run = 0;
		return;
	}
	if (s->qpn == e->qpn && s->sent != sent_by(qp))
		s->run = 0;
	*s = (struct uhcav_stream){s->run + 1, e->qpn, sent_by(qp)};
}

/* One who answers has a peer that waits for the answer. */
static bool is_streaming(const struct uhcav_cq *cq)
{
	const struct uhcav_qp *qp;

	if (cq->stream.run < STREAM)
		return false;
	qp = uhcav_number_map_find(&cq->qps, cq->stream.qpn);
	return qp && sent_by(qp) == cq->stream.sent && qp->rq.entries &&
	       outstanding(qp->rq.ring) >= SOME;
}

bool uhcav_cq_takes_long(struct uhcav_cq *cq)
{
	uint64_t now = uhcav_waits();
	const struct uhcav_qp *qp = now ? find_at_work(cq) : NULL;

	return now && ((qp && take_long(&cq->wait, qp, now)) || is_streaming(cq));
}

void uhcav_cq_wait(bool takes_long)
{
	if (takes_long)
		uhcav_yield_backoff_long();
	else
		uhcav_yield_backoff();
}
