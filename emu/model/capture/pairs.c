/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the ends of connections, and joins the two copies of a packet in a capture. */
#include "pairs.h"

#include "emu/model/read/read.h"
#include "wire/psn.h"
#include "wire/udpip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_BITS 14
#define HASH_SIZE (1u << HASH_BITS)
#define PSN_NEAR  (1 << 16) /* an answer is not farther from the last request than so */

/* ---- hosts ---- */

/* An address, and whose it is. */
struct address {
	uint8_t addr[16];
	uint32_t host;
};

struct pairing {
	struct model *s;
	struct address *address;
	uint32_t n_addresses;
	uint32_t *waiting; /* arrows, by hash: sent and not arrived */
	uint32_t *arrived; /* arrows, by hash */
};

static int add_host(struct model *s, const char *name, bool ours, uint32_t *out)
{
	struct model_host *grown = array_grow(s->host, s->n_hosts, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->host = grown;
	s->host[s->n_hosts] = (struct model_host){.ours = ours};
	snprintf(s->host[s->n_hosts].name, sizeof(grown->name), "%s", name);
	*out = s->n_hosts++;
	return 0;
}

static int host_by_name(struct model *s, const char *name, uint32_t *out)
{
	for (uint32_t i = 0; i < s->n_hosts; i++) {
		if (strcmp(s->host[i].name, name) == 0) {
			*out = i;
			return 0;
		}
	}
	return add_host(s, name, false, out);
}

static struct address *find_address(struct pairing *p, const uint8_t addr[16])
{
	for (uint32_t i = 0; i < p->n_addresses; i++)
		if (memcmp(p->address[i].addr, addr, 16) == 0)
			return &p->address[i];
	return NULL;
}

static int add_address(struct pairing *p, const uint8_t addr[16], uint32_t host)
{
	struct address *grown = array_grow(p->address, p->n_addresses, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->address = grown;
	memcpy(grown[p->n_addresses].addr, addr, 16);
	grown[p->n_addresses++].host = host;
	return 0;
}

static bool is_multicast(const uint8_t addr[16])
{
	return roce_addr_is_v4(addr) ? addr[12] >> 4 == 14 : addr[0] == 0xff;
}

/* What a device sends has its address as the source, what it receives as the destination. */
static int learn_device(struct pairing *p, const struct model_packet *k)
{
	const uint8_t *addr = k->direction == PCAPNG_OUTBOUND ? k->flow.src : k->flow.dst;
	uint32_t host = p->s->interface_host[k->interface];

	if (k->direction == 0 || k->direction > PCAPNG_OUTBOUND || host == MODEL_NONE ||
	    is_multicast(addr) || find_address(p, addr))
		return 0;
	p->s->host[host].ours |= k->direction == PCAPNG_INBOUND;
	return add_address(p, addr, host);
}

static int learn_devices(struct pairing *p)
{
	struct model *s = p->s;
	int rc = 0;

	for (uint32_t i = 0; i < s->n_interfaces; i++) {
		s->interface_host[i] = MODEL_NONE;
		if (s->interface_name[i][0])
			rc = host_by_name(s, s->interface_name[i], &s->interface_host[i]);
		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 0; rc == 0 && i < s->n_packets; i++) {
		const struct model_packet *k = &s->packet[i];

		rc = learn_device(p, k);
		if (k->direction == PCAPNG_INBOUND && s->interface_host[k->interface] != MODEL_NONE)
			s->host[s->interface_host[k->interface]].ours = true;
	}
	return rc;
}

/* The host of an address; one of its own when no device of the capture has it. */
static int host_of(struct pairing *p, const uint8_t addr[16], uint32_t *out)
{
	const struct address *known = find_address(p, addr);
	char name[sizeof(p->s->host->name)];
	int rc;

	if (known) {
		*out = known->host;
		return 0;
	}
	if (roce_addr_is_v4(addr))
		inet_ntop(AF_INET, addr + 12, name, sizeof(name));
	else
		inet_ntop(AF_INET6, addr, name, sizeof(name));
	rc = add_host(p->s, name, false, out);
	return rc < 0 ? rc : add_address(p, addr, *out);
}

/* ---- QPs ---- */

static uint32_t qp_slot(uint32_t host, uint32_t number)
{
	return (host * 0x9e3779b1u ^ number * 0x85ebca6bu) >> (32 - HASH_BITS);
}

/* The QP of this number of this host: index or MODEL_NONE. */
static uint32_t find_qp(const struct model *s, uint32_t host, uint32_t number)
{
	uint32_t i = s->qp_hash ? s->qp_hash[qp_slot(host, number)] : MODEL_NONE;

	while (i != MODEL_NONE && (s->qp[i].host != host || s->qp[i].number != number))
		i = s->qp[i].next;
	return i;
}

static int get_qp(struct model *s, uint32_t host, uint32_t number, uint32_t *out)
{
	struct model_qp *grown;

	*out = find_qp(s, host, number);
	if (*out != MODEL_NONE)
		return 0;
	grown = array_grow(s->qp, s->n_qps, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->qp = grown;
	*out = s->n_qps++;
	s->qp[*out] = (struct model_qp){
		.host = host,
		.number = number,
		.peer = MODEL_NONE,
		.last_message = MODEL_NONE,
		.failed = MODEL_NONE,
		.next = s->qp_hash[qp_slot(host, number)],
	};
	s->qp_hash[qp_slot(host, number)] = *out;
	return 0;
}

/* Only services with connections have one peer. */
static bool is_connected(const struct model_packet *k)
{
	enum roce_service service = roce_opcode_info(k->pkt.bth.opcode)->service;

	return service == ROCE_SVC_RC || service == ROCE_SVC_UC || service == ROCE_SVC_XRC;
}

static void connect_qps(struct model *s, uint32_t a, uint32_t b)
{
	s->qp[a].peer = b;
	s->qp[b].peer = a;
}

/* ---- arrows ---- */

static uint32_t packet_slot(const struct model_packet *k)
{
	uint32_t h = k->pkt.bth.psn * 0x9e3779b1u;

	h ^= (k->pkt.bth.dest_qp + 0x1000000u * k->pkt.bth.opcode.v) * 0x85ebca6bu;
	return h >> (32 - HASH_BITS);
}

/* Both are the same packet, or one sent again. */
static bool same_packet(const struct model_packet *a, const struct model_packet *b)
{
	return a->pkt.bth.psn == b->pkt.bth.psn && a->pkt.bth.dest_qp == b->pkt.bth.dest_qp &&
	       roce_opcode_equal(a->pkt.bth.opcode, b->pkt.bth.opcode) &&
	       a->pkt.aeth.syndrome == b->pkt.aeth.syndrome && a->pkt.aeth.msn == b->pkt.aeth.msn &&
	       a->pkt.deth.src_qp == b->pkt.deth.src_qp &&
	       a->pkt.payload_len == b->pkt.payload_len && a->flow.sport == b->flow.sport &&
	       memcmp(a->flow.src, b->flow.src, 16) == 0 &&
	       memcmp(a->flow.dst, b->flow.dst, 16) == 0;
}

static bool is_answer(const struct model_packet *k)
{
	enum roce_operation op = roce_opcode_info(k->pkt.bth.opcode)->operation;

	return op == ROCE_OP_ACK || op == ROCE_OP_READ_RESP || op == ROCE_OP_ATOMIC_ACK;
}

static int add_arrow(struct model *s, uint32_t packet, uint32_t **slot)
{
	struct model_arrow *grown = array_grow(s->arrow, s->n_arrows, sizeof(*grown));
	struct model_packet *k = &s->packet[packet];

	if (!grown)
		return -ENOMEM;
	s->arrow = grown;
	k->arrow = s->n_arrows;
	s->arrow[s->n_arrows] = (struct model_arrow){
		.sent = k->ns,
		.from = MODEL_NONE,
		.to = MODEL_NONE,
		.out = packet,
		.in = MODEL_NONE,
		.message = MODEL_NONE,
		.tries = k->tries,
		.fate = MODEL_SEEN,
		.answer = is_answer(k),
		.next = MODEL_NONE,
	};
	if (slot) {
		s->arrow[s->n_arrows].next = **slot;
		**slot = s->n_arrows;
	}
	s->n_arrows++;
	return 0;
}

/* The oldest arrow of the list that has the packet; *link is what points to it. */
static uint32_t *oldest(struct model *s, uint32_t *head, const struct model_packet *k)
{
	uint32_t *found = NULL;

	for (uint32_t *link = head; *link != MODEL_NONE; link = &s->arrow[*link].next)
		if (same_packet(model_arrow_packet(s, &s->arrow[*link]), k))
			found = link;
	return found;
}

static uint32_t *newest(struct model *s, uint32_t *head, const struct model_packet *k)
{
	for (uint32_t *link = head; *link != MODEL_NONE; link = &s->arrow[*link].next)
		if (same_packet(model_arrow_packet(s, &s->arrow[*link]), k))
			return link;
	return NULL;
}

static int packet_sent(struct pairing *p, uint32_t packet)
{
	const struct model_packet *k = &p->s->packet[packet];
	uint32_t *slot = &p->waiting[packet_slot(k)];
	int rc;

	rc = add_arrow(p->s, packet, k->dropped ? NULL : &slot);
	if (rc == 0 && k->dropped)
		p->s->arrow[k->arrow].fate = MODEL_DROPPED;
	return rc;
}

/* What a rule or a person took away at the receiver's port did not come to the device. */
static bool lost_at_port(const struct model_packet *k)
{
	return k->dropped && (strcmp(k->dropped, "rule") == 0 || strcmp(k->dropped, "step") == 0);
}

static void set_arrived(struct model_arrow *a, const struct model_packet *k, uint32_t packet)
{
	a->in = packet;
	a->arrived = lost_at_port(k) ? 0 : k->ns;
	if (lost_at_port(k))
		a->fate = MODEL_DROPPED;
	else
		a->fate = k->dropped ? MODEL_REFUSED : MODEL_ARRIVED;
}

/* It was sent where the capture does not look, or it is there a second time. */
static int arrived_alone(struct pairing *p, uint32_t packet)
{
	struct model *s = p->s;
	struct model_packet *k = &s->packet[packet];
	uint32_t *slot = &p->arrived[packet_slot(k)];
	uint32_t *first = newest(s, slot, k);
	uint32_t original = first ? *first : MODEL_NONE;
	bool copy = original != MODEL_NONE && s->arrow[original].out != MODEL_NONE &&
		    s->packet[s->arrow[original].in].interface == k->interface;
	int rc = add_arrow(s, packet, &slot);

	if (rc < 0)
		return rc;
	s->arrow[k->arrow].out = MODEL_NONE;
	s->arrow[k->arrow].copy = copy;
	set_arrived(&s->arrow[k->arrow], k, packet);
	if (copy)
		s->arrow[k->arrow].tries = s->arrow[original].tries;
	return 0;
}

static int packet_arrived(struct pairing *p, uint32_t packet)
{
	struct model *s = p->s;
	struct model_packet *k = &s->packet[packet];
	uint32_t slot = packet_slot(k);
	uint32_t *link = oldest(s, &p->waiting[slot], k);
	uint32_t i;

	if (!link)
		return arrived_alone(p, packet);
	i = *link;
	*link = s->arrow[i].next;
	s->arrow[i].next = p->arrived[slot];
	p->arrived[slot] = i;
	k->arrow = i;
	set_arrived(&s->arrow[i], k, packet);
	return 0;
}

static int make_arrows(struct pairing *p)
{
	struct model *s = p->s;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_moments; i++) {
		uint32_t k = s->moment[i].index;

		if (s->moment[i].is_record)
			continue;
		if (s->packet[k].direction == PCAPNG_INBOUND)
			rc = packet_arrived(p, k);
		else if (s->packet[k].direction == PCAPNG_OUTBOUND)
			rc = packet_sent(p, k);
		else
			rc = add_arrow(s, k, NULL);
	}
	return rc;
}

/* ---- the ends of arrows ---- */

static void note_traffic(struct model_qp *q, const struct model_arrow *a,
			 const struct model_packet *k)
{
	q->service = roce_opcode_info(k->pkt.bth.opcode)->service;
	q->has_service = true;
	q->asked |= !a->answer;
	q->answered |= a->answer;
	if (k->pkt.payload_len > q->mtu)
		q->mtu = k->pkt.payload_len;
}

static int find_receiver(struct pairing *p, struct model_arrow *a)
{
	struct model *s = p->s;
	const struct model_packet *k = model_arrow_packet(s, a);
	uint32_t from_host, to_host, sender;
	int rc = host_of(p, k->flow.src, &from_host);

	if (rc == 0 && a->in != MODEL_NONE &&
	    s->interface_host[s->packet[a->in].interface] != MODEL_NONE)
		to_host = s->interface_host[s->packet[a->in].interface];
	else if (rc == 0)
		rc = host_of(p, k->flow.dst, &to_host);
	if (rc == 0)
		rc = get_qp(s, to_host, k->pkt.bth.dest_qp, &a->to);
	if (rc < 0)
		return rc;
	note_traffic(&s->qp[a->to], a, k);
	sender = k->pkt.deth.src_qp;
	if (!(roce_opcode_info(k->pkt.bth.opcode)->headers & ROCE_HDR_DETH)) {
		if (!k->has_sender)
			return 0;
		sender = k->sender;
	}
	rc = get_qp(s, from_host, sender, &a->from);
	if (rc == 0 && is_connected(k) && a->to != a->from)
		connect_qps(s, a->to, a->from);
	return rc;
}

/* Of the QPs at the answer's sender, the one that was asked for something near this PSN. */
static void learn_peer(struct model *s, const struct model_arrow *a, uint32_t from_host)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	uint32_t best = MODEL_NONE;
	int32_t best_distance = PSN_NEAR;

	for (uint32_t i = 0; i < s->n_qps; i++) {
		const struct model_qp *q = &s->qp[i];
		int32_t distance = abs(psn_diff(k->pkt.bth.psn, q->last_psn));

		if (q->host == from_host && q->peer == MODEL_NONE && q->asked && i != a->to &&
		    distance < best_distance) {
			best = i;
			best_distance = distance;
		}
	}
	if (best != MODEL_NONE)
		connect_qps(s, a->to, best);
}

static int find_ends(struct pairing *p)
{
	struct model *s = p->s;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_arrows; i++)
		rc = find_receiver(p, &s->arrow[i]);
	for (uint32_t i = 0; rc == 0 && i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];
		const struct model_packet *k = model_arrow_packet(s, a);
		uint32_t from_host;

		if (!a->answer)
			s->qp[a->to].last_psn = k->pkt.bth.psn;
		if (!a->answer || s->qp[a->to].peer != MODEL_NONE)
			continue;
		rc = host_of(p, k->flow.src, &from_host);
		if (rc == 0)
			learn_peer(s, a, from_host);
	}
	return rc;
}

static int find_sender(struct pairing *p, struct model_arrow *a)
{
	struct model *s = p->s;
	uint32_t peer = s->qp[a->to].peer;
	uint32_t from_host;
	int rc = host_of(p, model_arrow_packet(s, a)->flow.src, &from_host);

	if (rc < 0 || a->from != MODEL_NONE)
		return rc;
	if (peer != MODEL_NONE && s->qp[peer].host == from_host) {
		a->from = peer;
		return 0;
	}
	return get_qp(s, from_host, MODEL_NONE, &a->from);
}

/* A packet that nobody saw arriving, though the receiver would have told. */
static void judge(const struct model *s, struct model_arrow *a)
{
	if (a->fate == MODEL_SEEN && s->packet[a->out].direction == PCAPNG_OUTBOUND &&
	    s->host[s->qp[a->to].host].ours)
		a->fate = MODEL_MISSING;
}

/* ---- records ---- */

static int find_record_qp(struct model *s, struct model_record *r)
{
	const char *dev = model_word(r, "dev");
	const char *qp = model_word(r, "qp");
	uint64_t number;
	int rc;

	if (!dev)
		return 0;
	rc = host_by_name(s, dev, &r->host);
	if (rc < 0 || !qp || r->kind == MODEL_LEAK /* how many */ ||
	    !model_words_number(qp, &number) || number >= MODEL_NONE)
		return rc;
	rc = get_qp(s, r->host, (uint32_t)number, &r->qp);
	if (rc == 0 && r->kind == MODEL_STATE && model_word(r, "program"))
		snprintf(s->qp[r->qp].program, sizeof(s->qp[r->qp].program), "%s",
			 model_word(r, "program"));
	return rc;
}

static uint32_t *make_table(void)
{
	uint32_t *table = malloc(HASH_SIZE * sizeof(*table));

	if (table)
		memset(table, 0xff, HASH_SIZE * sizeof(*table));
	return table;
}

static int pair(struct pairing *p)
{
	struct model *s = p->s;
	int rc = learn_devices(p);

	if (rc == 0)
		rc = make_arrows(p);
	if (rc == 0)
		rc = find_ends(p);
	for (uint32_t i = 0; rc == 0 && i < s->n_arrows; i++) {
		rc = find_sender(p, &s->arrow[i]);
		judge(s, &s->arrow[i]);
	}
	for (uint32_t i = 0; rc == 0 && i < s->n_records; i++)
		rc = find_record_qp(s, &s->record[i]);
	return rc;
}

int model_pair(struct model *s)
{
	struct pairing p = {.s = s, .waiting = make_table(), .arrived = make_table()};
	int rc = -ENOMEM;

	s->qp_hash = make_table();
	if (p.waiting && p.arrived && s->qp_hash)
		rc = pair(&p);
	free(p.waiting);
	free(p.arrived);
	free(p.address);
	return rc;
}
