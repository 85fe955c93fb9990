/* SPDX-License-Identifier: BSD-2-Clause */
/* The box of a device: its packets into the model, and those of the model to the device. */
#include "inside.h"

#include "wire/packet.h"

#include <string.h>

#define ETHERNET 14u
#define FCS      4u

/* ---- packets of the model ---- */

/* Ethernet header to FCS. */
static uint32_t size_of(const struct core_burst *t, uint32_t i)
{
	const uint32_t ip = roce_flow_is_v4(&t->flow) ? ROCE_IPV4_LENGTH : ROCE_IPV6_LENGTH;
	struct roce_packet pkt;
	uint32_t offset;

	core_burst_packet(t, i, &pkt, &offset);
	return ETHERNET + ip + ROCE_UDP_LENGTH + (uint32_t)roce_header_length(pkt.bth.opcode) +
	       pkt.payload_len + pkt.bth.pad + ROCE_ICRC_LENGTH + FCS;
}

/* The class of a traffic class byte: its DSCP's upper half, as switches map it by default. */
static uint8_t class_of(uint8_t tclass)
{
	const unsigned dscp = tclass >> 2;

	return (uint8_t)(dscp ? dscp >> 3 : IO_NETWORK_CLASS);
}

static void fill(struct fabric_packet *p, const struct core_burst *t, uint32_t i)
{
	p->bytes = size_of(t, i);
	p->class = class_of(t->flow.tclass);
	p->ecn = t->flow.tclass & FABRIC_CE ? FABRIC_ECT : FABRIC_NOT_ECT;
	if ((t->flow.tclass & FABRIC_CE) == FABRIC_CE)
		p->ecn = FABRIC_CE;
	p->psn = i;
}

/* The packet as a burst of its own, marked as it is now; valid as long as it is under way. */
static void burst_of(const struct io_network *n, const struct fabric_packet *p,
		     struct core_burst *out)
{
	core_burst_single(io_flights_burst(&n->flights, p->other), p->psn, out);
	out->model = io_flights_burst(&n->flights, p->other)->model;
	if (p->ecn == FABRIC_CE)
		out->flow.tclass |= FABRIC_CE;
}

/* ---- into the network ---- */

static void say_lost(const struct io_network_box *b, const struct core_burst *t, const char *why)
{
	netif_report_lost(&b->netif, &(struct netif_lost){.burst = t, .why = why});
}

/* The device is asked for more when its port has sent this. */
static void hold_class(struct io_network_box *b, unsigned class)
{
	struct io_network *n = b->network;

	b->dev->blocked |= IO_BLOCK_NETWORK;
	fabric_want(n->fabric, b->host, class, n->at);
}

static void inject(struct io_network_box *b, const struct io_network_box *to,
		   const struct core_burst *t)
{
	struct io_network *n = b->network;
	const uint32_t flow = fabric_flow_key(b->host, to->host, t->flow.sport);
	const int64_t flight = io_flights_add(&n->flights, t);

	if (flight < 0) {
		say_lost(b, t, "memory");
		return;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		struct fabric_packet *p = fabric_packet_get(n->fabric);

		if (!p) {
			say_lost(b, t, "memory");
			io_flights_done(&n->flights, (uint32_t)flight);
			continue;
		}
		fill(p, t, i);
		p->src = b->host;
		p->dst = to->host;
		p->flow = flow;
		p->other = (uint32_t)flight;
		fabric_send(n->fabric, b->host, p, n->at);
	}
	if (!fabric_idle(n->fabric, b->host, class_of(t->flow.tclass), n->at))
		hold_class(b, class_of(t->flow.tclass));
}

/* The sender's port sends a copy for each host, its own included; which groups one hears is its
 * affair. */
static void inject_to_all(struct io_network_box *b, const struct core_burst *t)
{
	for (unsigned i = 0; i < b->network->devices->n; i++)
		if (b->network->box[i])
			inject(b, b->network->box[i], t);
}

static void network_send(struct netif *netif, const struct core_burst *t, uint64_t now)
{
	struct io_network_box *b = (struct io_network_box *)netif;
	const struct io_device *to;

	if (roce_addr_is_group(t->flow.dst)) {
		inject_to_all(b, t);
		netif_send(netif->below, t, now);
		return;
	}
	to = io_fabric_find(b->network->addresses, t->flow.dst);
	if (to)
		inject(b, b->network->box[to->id.index], t);
	else
		netif_send(netif->below, t, now);
}

/* What other hosts send; what went to a group is here already. */
static void network_receive(struct netif *netif, const struct core_burst *t, uint64_t now)
{
	const struct io_network_box *b = (struct io_network_box *)netif;

	if (!roce_addr_is_group(t->flow.dst) || !io_fabric_find(b->network->addresses, t->flow.src))
		netif_receive(netif->above, t, now);
}

static const struct netif_ops box_ops = {.send = network_send, .receive = network_receive};

void io_network_join(struct io_network *n, struct io_network_box *box, struct io_device *dev)
{
	*box = (struct io_network_box){.netif.ops = &box_ops,
				       .network = n,
				       .dev = dev,
				       .host = dev->id.index,
				       .told = n->time / 1000};
	n->box[box->host] = box;
	core_network_passed(dev->core, n->clock, n->clock / n->scale);
}

/* ---- out of the network ---- */

void network_deliver(void *user, uint32_t host, struct fabric_packet *p, uint64_t at)
{
	struct io_network *n = user;
	struct io_network_box *b = n->box[host];
	struct core_burst one;

	n->at = at;
	network_keep_time(n, b);
	burst_of(n, p, &one);
	netif_receive(b->netif.above, &one, n->clock);
	n->news = true;
	io_flights_done(&n->flights, p->other);
	fabric_packet_put(n->fabric, p);
}

void network_ready(void *user, uint32_t host, uint64_t at)
{
	struct io_network *n = user;

	n->at = at;
	network_keep_time(n, n->box[host]);
	n->box[host]->dev->blocked &= (uint8_t)~IO_BLOCK_NETWORK;
	n->news |= n->box[host]->dev->dirty;
}

/* Told to the sender: it is its packet. */
void network_lost(void *user, uint32_t port, const struct fabric_packet *p, enum fabric_drop why)
{
	struct io_network *n = user;
	struct core_burst one;

	(void)port;
	burst_of(n, p, &one);
	say_lost(n->box[p->src], &one, fabric_drop_name(why));
	io_flights_done(&n->flights, p->other);
}

void network_sent(void *user, uint32_t port, const struct fabric_packet *p, uint64_t at)
{
	struct io_network *n = user;
	struct core_burst one;

	(void)at;
	burst_of(n, p, &one);
	if (!n->tap.seen(&n->tap, &one, port == n->tap.port))
		io_network_look(n, NULL);
}

bool network_judge(void *user, uint32_t port, struct fabric_packet *p, uint64_t at)
{
	struct io_network *n = user;
	char name[IO_NETWORK_PORT_NAME];
	struct core_burst one;
	struct io_network_hop hop = {.from = n->box[p->src]->dev, .port = name, .burst = &one};
	const bool inside = n->inside;

	n->inside = true;
	n->at = at;
	io_network_port_name(n, port, name);
	burst_of(n, p, &one);
	n->judge(n->judge_user, &hop, n->clock);
	n->inside = inside;
	if (hop.marked)
		p->ecn = FABRIC_CE;
	return !hop.lost;
}
