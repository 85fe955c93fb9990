/* SPDX-License-Identifier: BSD-2-Clause */
/* Lays a capture out as lanes and rows of a sequence diagram. */
#include "ladder.h"

#include "ladder_label.h"
#include "wire/mad.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MIN    3       /* so many packets that differ in their PSN become one row */
#define LATE_NS    100000u /* slower than that is late, if all else goes on */
#define LOOK_AHEAD 4096    /* moments */
#define NOWHERE    LADDER_LANES_MAX

struct making {
	struct ladder *l;
	const struct model *s;
	const struct ladder_options *o;
	uint32_t *moment_of; /* of packets */
	uint32_t *leaves;    /* of arrows: their row LEAVES */
	uint32_t *lane_of;   /* of QPs: NOWHERE: none; MODEL_NONE: not asked yet */
};

/* ---- lanes ---- */

static bool has_number(const struct making *m, uint32_t qp)
{
	return m->s->qp[qp].number == m->o->qp;
}

/* An arrow or record that the options let through. */
static bool wanted_ends(const struct making *m, uint32_t a, uint32_t b)
{
	if (m->o->no_setup &&
	    (m->s->qp[a].number == ROCE_GSI_QPN || m->s->qp[b].number == ROCE_GSI_QPN))
		return false;
	return !m->o->has_qp || has_number(m, a) || has_number(m, b);
}

/* A state on the way to work, or the way back. */
static bool is_setup(const struct model_record *r)
{
	return r->kind == MODEL_STATE && model_word(r, "to") && !model_is_error_state(r) &&
	       !model_word_is(r, "to", "SQD");
}

static bool wanted_record(const struct making *m, const struct model_record *r)
{
	return !m->o->no_setup || (!is_setup(r) && r->kind != MODEL_RULE);
}

static bool wanted_time(const struct making *m, uint64_t ns)
{
	uint64_t since = ns - m->s->began;

	return since >= m->o->from && (m->o->to == 0 || since <= m->o->to);
}

static unsigned lanes_max(const struct making *m)
{
	return m->o->lanes && m->o->lanes < LADDER_LANES_MAX ? m->o->lanes : LADDER_LANES_MAX;
}

static void add_lane(struct making *m, uint32_t qp)
{
	struct ladder *l = m->l;
	struct ladder_lane *lane = &l->lane[l->n_lanes];

	if (m->lane_of[qp] != MODEL_NONE)
		return;
	if (l->n_lanes == lanes_max(m)) {
		m->lane_of[qp] = NOWHERE;
		l->hidden++;
		return;
	}
	*lane = (struct ladder_lane){.qp = qp, .known = true, .number = m->s->qp[qp].number};
	memcpy(lane->host, m->s->host[m->s->qp[qp].host].name, sizeof(lane->host));
	m->lane_of[qp] = l->n_lanes++;
}

/* The two ends of a connection stand side by side. */
static void add_lanes(struct making *m, uint32_t a, uint32_t b)
{
	add_lane(m, a);
	add_lane(m, b);
}

/* Lanes of an earlier ladder keep their places, also when the model has forgotten them. */
static void keep_lanes(struct making *m)
{
	for (unsigned i = 0; i < m->o->n_before && i < lanes_max(m); i++) {
		struct ladder_lane *lane = &m->l->lane[m->l->n_lanes];

		*lane = m->o->before[i];
		lane->qp = MODEL_NONE;
		for (uint32_t q = 0; q < m->s->n_qps; q++) {
			if (m->s->qp[q].number == lane->number &&
			    strcmp(m->s->host[m->s->qp[q].host].name, lane->host) == 0) {
				lane->qp = q;
				m->lane_of[q] = m->l->n_lanes;
			}
		}
		m->l->n_lanes++;
	}
}

/* How much is drawn at each QP; NULL: no memory. */
static uint32_t *count_traffic(const struct making *m)
{
	const struct model *s = m->s;
	uint32_t *traffic = calloc(s->n_qps + 1, sizeof(*traffic));

	for (uint32_t i = 0; traffic && i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];

		if (!wanted_ends(m, a->from, a->to) || !wanted_time(m, a->sent))
			continue;
		traffic[a->from]++;
		traffic[a->to]++;
	}
	return traffic;
}

/* The pair with the most traffic that has no lane yet; MODEL_NONE: there is none. */
static uint32_t busiest(const struct making *m, const uint32_t *traffic)
{
	uint32_t best = MODEL_NONE;

	for (uint32_t q = 0; q < m->s->n_qps; q++)
		if (m->lane_of[q] == MODEL_NONE && traffic[q] > 0 &&
		    (best == MODEL_NONE || traffic[q] > traffic[best]))
			best = q;
	return best;
}

static unsigned count_busy(const struct making *m, const uint32_t *traffic)
{
	unsigned n = 0;

	for (uint32_t q = 0; q < m->s->n_qps; q++)
		n += traffic[q] > 0 && m->lane_of[q] == MODEL_NONE;
	return n;
}

/* Where there are more QPs than lanes, those with the most traffic are shown. */
static void choose_busiest(struct making *m, const uint32_t *traffic)
{
	while (m->l->n_lanes < lanes_max(m)) {
		uint32_t q = busiest(m, traffic);

		if (q == MODEL_NONE)
			return;
		add_lane(m, q);
		if (m->s->qp[q].peer != MODEL_NONE && m->l->n_lanes < lanes_max(m))
			add_lane(m, m->s->qp[q].peer);
	}
}

static int find_lanes(struct making *m)
{
	const struct model *s = m->s;
	uint32_t *traffic = count_traffic(m);

	if (!traffic)
		return -ENOMEM;
	keep_lanes(m);
	if (m->l->n_lanes + count_busy(m, traffic) > lanes_max(m))
		choose_busiest(m, traffic);
	free(traffic);
	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];

		if (wanted_ends(m, a->from, a->to) && wanted_time(m, a->sent))
			add_lanes(m, a->from, a->to);
	}
	for (uint32_t i = 0; i < s->n_records; i++) {
		const struct model_record *r = &s->record[i];

		if (r->qp != MODEL_NONE && r->kind != MODEL_REGION && wanted_record(m, r) &&
		    wanted_ends(m, r->qp, r->qp) && wanted_time(m, r->ns))
			add_lane(m, r->qp);
	}
	return 0;
}

static unsigned lane_of(const struct making *m, uint32_t qp)
{
	return m->lane_of[qp] == MODEL_NONE ? NOWHERE : m->lane_of[qp];
}

unsigned ladder_name_lanes(struct ladder *l, const char *names)
{
	unsigned n = 0;

	for (bool more = true; more; n++) {
		int length = (int)strcspn(names, ",");

		if (length > 0 && n < l->n_lanes) {
			l->lane[n].name = names;
			l->lane[n].name_length = length;
		}
		more = names[length] == ',';
		names += length + more;
	}
	return n;
}

void ladder_lane_names(const struct ladder *l, unsigned lane, char host[48], char qp[24],
		       char program[24])
{
	const struct ladder_lane *a = &l->lane[lane];

	if (a->name)
		snprintf(host, 48, "%.*s", a->name_length, a->name);
	else
		memcpy(host, a->host, sizeof(a->host));
	program[0] = '\0';
	if (a->number == MODEL_NONE)
		snprintf(qp, 24, "QP ?");
	else
		snprintf(qp, 24, "QP 0x%" PRIx32, a->number);
	if (a->qp != MODEL_NONE)
		memcpy(program, l->model->qp[a->qp].program, 24);
}

/* ---- rows ---- */

static struct ladder_row *add_row(struct making *m, uint64_t ns, enum ladder_kind kind)
{
	struct ladder_row *grown = array_grow(m->l->row, m->l->n_rows, sizeof(*grown));

	if (!grown)
		return NULL;
	m->l->row = grown;
	grown += m->l->n_rows++;
	*grown = (struct ladder_row){
		.ns = ns - m->s->began,
		.kind = kind,
		.arrow = MODEL_NONE,
		.record = MODEL_NONE,
		.other = MODEL_NONE,
		.from = NOWHERE,
		.to = NOWHERE,
		.count = 1,
	};
	return grown;
}

static enum ladder_mood arrow_mood(const struct model *s, const struct model_arrow *a)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	const char *text;

	if (a->fate != MODEL_ARRIVED && a->fate != MODEL_SEEN)
		return LADDER_LOST;
	if ((roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_AETH) && !k->made &&
	    roce_syndrome_kind(k->pkt.aeth.syndrome) != ROCE_ACK)
		return LADDER_LOST;
	if (model_arrow_rule(s, a, &text) || k->made || a->copy)
		return LADDER_MADE;
	if (a->tries > 0)
		return LADDER_AGAIN;
	return a->answer ? LADDER_ANSWER : LADDER_PLAIN;
}

/* Something that this arrow did not wait for happened while it was under way. */
static bool goes_on(const struct making *m, const struct model_arrow *a,
		    const struct model_moment *at, bool slow)
{
	const struct model_arrow *b;

	if (at->is_record)
		return slow && m->s->record[at->index].qp == a->from;
	b = &m->s->arrow[m->s->packet[at->index].arrow];
	if (b->out == at->index && b->from == a->to && b->to == a->from)
		return slow;
	/* Overtaken by what was sent later. */
	return b->in == at->index && b->out != MODEL_NONE && b->from == a->from && b->to == a->to &&
	       b->sent > a->sent;
}

static bool is_late(const struct making *m, const struct model_arrow *a)
{
	uint32_t from, to;
	bool slow = a->arrived - a->sent > LATE_NS;

	if (a->out == MODEL_NONE || a->in == MODEL_NONE || a->arrived == 0)
		return false;
	from = m->moment_of[a->out] + 1;
	to = m->moment_of[a->in];
	if (to > from + LOOK_AHEAD)
		return true;
	for (uint32_t i = from; i < to; i++)
		if (goes_on(m, a, &m->s->moment[i], slow))
			return true;
	return false;
}

static bool is_middle(const struct model *s, const struct model_arrow *a)
{
	return roce_opcode_info(model_arrow_packet(s, a)->pkt.bth.opcode)->position ==
	       ROCE_POS_MIDDLE;
}

/* Arrow b goes on where a ends, and nothing is to be said of either. */
static bool same_run(const struct model *s, const struct model_arrow *a,
		     const struct model_arrow *b)
{
	const struct model_packet *p = model_arrow_packet(s, a), *q = model_arrow_packet(s, b);

	return a->from == b->from && a->to == b->to && a->message == b->message &&
	       a->tries == b->tries && a->fate == b->fate && !a->copy && !b->copy &&
	       !b->implied_nak && roce_opcode_equal(p->pkt.bth.opcode, q->pkt.bth.opcode) &&
	       psn_add(p->pkt.bth.psn, 1) == q->pkt.bth.psn && p->rule == 0 && q->rule == 0 &&
	       (a->fate == MODEL_ARRIVED || a->fate == MODEL_SEEN);
}

/* How many arrows from this one on are one row. */
static unsigned run_length(const struct making *m, uint32_t arrow)
{
	const struct model *s = m->s;
	uint32_t end = arrow + 1;

	if (m->o->all || !is_middle(s, &s->arrow[arrow]) || is_late(m, &s->arrow[arrow]))
		return 1;
	while (end < s->n_arrows && same_run(s, &s->arrow[end - 1], &s->arrow[end]) &&
	       !is_late(m, &s->arrow[end]))
		end++;
	return end - arrow >= RUN_MIN ? end - arrow : 1;
}

static int add_departure(struct making *m, uint32_t arrow, uint32_t *skip_to)
{
	const struct model_arrow *a = &m->s->arrow[arrow];
	bool late = is_late(m, a);
	struct ladder_row *r = add_row(m, a->sent, late ? LADDER_LEAVES : LADDER_ARROW);

	if (!r)
		return -ENOMEM;
	r->arrow = arrow;
	r->from = lane_of(m, a->from);
	r->to = lane_of(m, a->to);
	r->mood = arrow_mood(m->s, a);
	r->again = a->tries > 0;
	r->count = run_length(m, arrow);
	*skip_to = arrow + r->count;
	ladder_label(m->s, a, r->count, r->label, sizeof(r->label));
	ladder_arrow_note(m->s, a, r->note, sizeof(r->note));
	if (late) {
		size_t n = strlen(r->note);

		m->leaves[arrow] = m->l->n_rows - 1;
		snprintf(r->note + n, sizeof(r->note) - n, "%sarrives at %.3f ms", n ? "; " : "",
			 (double)(a->arrived - m->s->began) / 1e6);
	}
	return 0;
}

static int add_arrival(struct making *m, uint32_t arrow)
{
	const struct model_arrow *a = &m->s->arrow[arrow];
	uint32_t leaves = m->leaves[arrow];
	struct ladder_row *r;

	if (leaves == MODEL_NONE)
		return 0;
	r = add_row(m, a->arrived, LADDER_ARRIVES);
	if (!r)
		return -ENOMEM;
	r->arrow = arrow;
	r->from = lane_of(m, a->from);
	r->to = lane_of(m, a->to);
	r->mood = arrow_mood(m->s, a);
	r->again = a->tries > 0;
	r->other = leaves;
	m->l->row[leaves].other = m->l->n_rows - 1;
	ladder_label(m->s, a, 1, r->label, sizeof(r->label));
	snprintf(r->note, sizeof(r->note), "sent at %.3f ms",
		 (double)(a->sent - m->s->began) / 1e6);
	return 0;
}

static enum ladder_mood record_mood(const struct model_record *r)
{
	switch (r->kind) {
	case MODEL_COMPLETION:
		return model_word_is(r, "status", "SUCCESS") ? LADDER_ANSWER : LADDER_LOST;
	case MODEL_STATE:
		return model_is_error_state(r) ? LADDER_LOST : LADDER_PLAIN;
	case MODEL_RETRY:
		return LADDER_AGAIN;
	case MODEL_RULE:
	case MODEL_HIT:
	case MODEL_CALL:
		return LADDER_MADE;
	case MODEL_LEAK:
	case MODEL_EVENT:
		return LADDER_LOST;
	case MODEL_NAK:
	case MODEL_COUNTERS:
	case MODEL_REGION:
	case MODEL_NOTE:
	case MODEL_UNREACHABLE:
	case MODEL_STANDS:
	case MODEL_RECORDER:
	case MODEL_REQUEST:
	case MODEL_OTHER:
		break;
	}
	return LADDER_PLAIN;
}

/* Requests that are flushed one after the other become one row. */
static bool joins(const struct making *m, const struct model_record *r)
{
	struct ladder_row *last = m->l->n_rows ? &m->l->row[m->l->n_rows - 1] : NULL;
	const struct model_record *before;

	if (m->o->all || !last || last->record == MODEL_NONE)
		return false;
	before = &m->s->record[last->record];
	if (r->kind != MODEL_COMPLETION || before->kind != r->kind || before->qp != r->qp ||
	    !model_word_is(r, "status", "WR_FLUSH_ERR") ||
	    !model_word_is(before, "status", "WR_FLUSH_ERR"))
		return false;
	last->count++;
	ladder_record_note(m->s, before, last->count, last->note, sizeof(last->note));
	return true;
}

static int add_event(struct making *m, uint32_t index)
{
	const struct model_record *r = &m->s->record[index];
	struct ladder_row *row;
	char note[sizeof(row->note)];

	if (m->o->has_qp && r->qp != MODEL_NONE && m->lane_of[r->qp] == MODEL_NONE)
		return 0;
	if (!wanted_record(m, r))
		return 0;
	ladder_record_note(m->s, r, 1, note, sizeof(note));
	if (!note[0] || joins(m, r))
		return 0;
	row = add_row(m, r->ns, LADDER_EVENT);
	if (!row)
		return -ENOMEM;
	row->record = index;
	row->mood = record_mood(r);
	row->from = row->to = r->qp == MODEL_NONE ? NOWHERE : lane_of(m, r->qp);
	memcpy(row->note, note, sizeof(note));
	return 0;
}

static int add_packet(struct making *m, uint32_t packet, uint32_t *skip_to)
{
	uint32_t arrow = m->s->packet[packet].arrow;
	const struct model_arrow *a = &m->s->arrow[arrow];

	if (!wanted_ends(m, a->from, a->to))
		return 0;
	if (lane_of(m, a->from) == NOWHERE || lane_of(m, a->to) == NOWHERE)
		return 0;
	if (packet != (a->out != MODEL_NONE ? a->out : a->in))
		return add_arrival(m, arrow);
	return arrow < *skip_to ? 0 : add_departure(m, arrow, skip_to);
}

static int make_rows(struct making *m)
{
	const struct model *s = m->s;
	uint32_t skip_to = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_moments; i++) {
		const struct model_moment *at = &s->moment[i];

		if (!wanted_time(m, at->ns))
			continue;
		rc = at->is_record ? add_event(m, at->index) : add_packet(m, at->index, &skip_to);
	}
	return rc;
}

/* n numbers, all MODEL_NONE. */
static uint32_t *make_numbers(uint32_t n)
{
	uint32_t *p = malloc(((size_t)n + 1) * sizeof(*p));

	if (p)
		memset(p, 0xff, ((size_t)n + 1) * sizeof(*p));
	return p;
}

int ladder_make(struct ladder *l, const struct model *s, const struct ladder_options *o)
{
	struct making m = {.l = l,
			   .s = s,
			   .o = o,
			   .moment_of = make_numbers(s->n_packets),
			   .leaves = make_numbers(s->n_arrows),
			   .lane_of = make_numbers(s->n_qps)};
	int rc = -ENOMEM;

	*l = (struct ladder){.model = s};
	if (m.moment_of && m.leaves && m.lane_of) {
		for (uint32_t i = 0; i < s->n_moments; i++)
			if (!s->moment[i].is_record)
				m.moment_of[s->moment[i].index] = i;
		rc = find_lanes(&m);
	}
	if (rc == 0)
		rc = make_rows(&m);
	free(m.moment_of);
	free(m.leaves);
	free(m.lane_of);
	return rc;
}

void ladder_free(struct ladder *l)
{
	free(l->row);
	*l = (struct ladder){0};
}
