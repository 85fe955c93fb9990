/* SPDX-License-Identifier: BSD-2-Clause */
/* See datagram.h. Places are remembered in a table that forgets: to ask again is no harm. */
#include "datagram.h"

#include "connection.h"
#include "ends.h"

#include <pthread.h>

#define PLACES     256u
#define MULTICAST  0xffffffu
#define CONTROLLED 0x80000000u /* such a Q_Key in a request: the queue pair's own is sent */
#define ASKED_MOST 4096u       /* a receiver that is not up by then is not awaited */

static struct place {
	struct uhcav_asker who;
	uint32_t ah, qpn, qkey;
	uint32_t posts; /* since it was first asked about; UINT32_MAX: all is known */
} places[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct place *place_of(const struct uhcav_datagram *d)
{
	uint32_t hash = (d->who.handle * 31 + d->ah) * 31 + d->qpn;

	return &places[(hash ^ hash >> 8) % PLACES];
}

static bool is_at(const struct place *p, const struct uhcav_datagram *d)
{
	return p->who.ctx == d->who.ctx && p->who.handle == d->who.handle && p->ah == d->ah &&
	       p->qpn == d->qpn && p->qkey == d->qkey;
}

/* The first ones, and then fewer and fewer. */
static bool is_to_be_asked(const struct uhcav_datagram *d)
{
	struct place *p = place_of(d);
	bool ask;

	pthread_mutex_lock(&lock);
	if (!is_at(p, d))
		*p = (struct place){d->who, d->ah, d->qpn, d->qkey, 0};
	if (p->posts < ASKED_MOST)
		p->posts++;
	ask = p->posts < ASKED_MOST && !(p->posts & (p->posts - 1));
	pthread_mutex_unlock(&lock);
	return ask;
}

static void is_known(const struct uhcav_datagram *d)
{
	struct place *p = place_of(d);

	pthread_mutex_lock(&lock);
	if (is_at(p, d))
		p->posts = ASKED_MOST;
	pthread_mutex_unlock(&lock);
}

static bool receives(const struct uhca_abi_end *e)
{
	return e->qp_type == IBV_QPT_UD &&
	       (e->attr.qp_state == IBV_QPS_RTR || e->attr.qp_state == IBV_QPS_RTS);
}

static void tell(const struct uhcav_datagram *d, const struct uhca_cmd_query_peer_reply *r,
		 uint32_t sent)
{
	char words[UHCAV_END_WORDS];

	if (!uhcav_diagnostic_is_new(UHCA_CHECK_QKEY_MISMATCH, d->posted, NULL))
		return;
	uhcav_diagnostic_begin(
		UHCA_CHECK_QKEY_MISMATCH,
		"a datagram does not have the Q_Key of the queue pair that it goes to");
	uhcav_diagnostic_fact("Q_Key 0x%x of UD QP 0x%x", sent, r->mine.qpn);
	uhcav_diagnostic_fact("%s has Q_Key 0x%x", uhcav_end_words(&r->peer, words),
			      r->peer.attr.qkey);
	uhcav_diagnostic_stack(d->posted, "posted by");
	uhcav_left_tell((struct uhcav_left){"qp", r->peer.guid, r->peer.qpn, "qkey"},
			"QP 0x%x was given its Q_Key by", r->peer.qpn);
	uhcav_diagnostic_tell();
}

void uhcav_datagram_look(const struct uhcav_datagram *d)
{
	struct uhca_cmd_query_peer_reply r;
	uint32_t sent;

	if (d->qpn == MULTICAST || !uhcav_check_on(UHCA_CHECK_QKEY_MISMATCH) || !is_to_be_asked(d))
		return;
	if (!uhcav_ask_datagram(&d->who, d->ah, d->qpn, &r) || r.found != UHCA_ABI_PEER_KNOWN) {
		is_known(d);
		return;
	}
	if (!receives(&r.peer))
		return;
	sent = d->qkey & CONTROLLED ? r.mine.attr.qkey : d->qkey;
	if (sent != r.peer.attr.qkey)
		tell(d, &r, sent);
	is_known(d);
}
