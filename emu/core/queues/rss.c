/* SPDX-License-Identifier: BSD-2-Clause */
/* Toeplitz hash over chosen header fields, and the work queue that it selects. */
#include "rss.h"
#include "wire/bytes.h"
#include "wq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY 40u

/* enum ibv_rx_hash_fields */
enum {
	SRC_IPV4 = 1,
	DST_IPV4 = 2,
	SRC_IPV6 = 4,
	DST_IPV6 = 8,
	SRC_TCP = 16,
	DST_TCP = 32,
	SRC_UDP = 64,
	DST_UDP = 128,
};

struct rss {
	struct ind_table *table;
	uint32_t fields;
	uint8_t key[KEY];
};

uint32_t rss_toeplitz(const uint8_t key[40], const uint8_t *data, unsigned n)
{
	uint32_t window = roce_load_be32(key);
	uint32_t hash = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			if (data[i] & (0x80u >> bit))
				hash ^= window;
			window = window << 1 | (key[i + 4] >> (7 - bit) & 1u);
		}
	}
	return hash;
}

static unsigned append(uint8_t *to, unsigned n, bool wanted, const uint8_t *field, unsigned length)
{
	if (!wanted)
		return n;
	memcpy(to + n, field, length);
	return n + length;
}

static uint32_t hash(const struct rss *rss, const struct roce_frame *f)
{
	uint32_t want = rss->fields;
	const uint8_t *port = f->tcp ? f->tcp : f->udp;
	uint32_t src = f->tcp ? SRC_TCP : SRC_UDP, dst = f->tcp ? DST_TCP : DST_UDP;
	uint8_t data[36];
	unsigned n = 0;

	if (f->ipv4) {
		n = append(data, n, want & SRC_IPV4, f->ipv4 + 12, 4);
		n = append(data, n, want & DST_IPV4, f->ipv4 + 16, 4);
	} else if (f->ipv6) {
		n = append(data, n, want & SRC_IPV6, f->ipv6 + 8, 16);
		n = append(data, n, want & DST_IPV6, f->ipv6 + 24, 16);
	}
	if (port) {
		n = append(data, n, want & src, port, 2);
		n = append(data, n, want & dst, port + 2, 2);
	}
	return rss_toeplitz(rss->key, data, n);
}

void rss_receive(const struct rss *rss, const struct core_frame *frame, const struct roce_frame *f,
		 uint32_t tag)
{
	uint32_t mask = (1u << rss->table->log_size) - 1;

	wq_receive(rss->table->wq[hash(rss, f) & mask], frame, tag);
}

static int check_request(struct device *dev, const struct uhca_cmd_create_qp *in)
{
	if (!(dev->cfg.features & UHCA_ABI_HAS_RSS))
		return device_refuse(dev, -EOPNOTSUPP,
				     "the device's profile has no receive side scaling");
	if (in->qp_type != QPT_RAW_PACKET)
		return device_refuse(dev, -EOPNOTSUPP,
				     "rwq_ind_tbl: qp_type %u is not IBV_QPT_RAW_PACKET",
				     in->qp_type);
	if (in->rx_hash_fields & ~(uint64_t)RSS_FIELDS)
		return device_refuse(dev, -EOPNOTSUPP,
				     "rx_hash_fields_mask 0x%lx has bits beyond 0x%lx",
				     (unsigned long)in->rx_hash_fields, (unsigned long)RSS_FIELDS);
	if (in->rx_hash_function != RSS_TOEPLITZ)
		return device_refuse(dev, -EOPNOTSUPP,
				     "rx_hash_function %u is not IBV_RX_HASH_FUNC_TOEPLITZ",
				     in->rx_hash_function);
	if (in->rx_hash_key_len != KEY)
		return device_refuse(dev, -EINVAL, "rx_hash_key_len %u is not %u",
				     in->rx_hash_key_len, KEY);
	/* It receives only, and not into a queue of its own. */
	if (in->srq || in->send_cq || in->recv_cq || in->max_send_wr || in->max_recv_wr)
		return device_refuse(
			dev, -EINVAL,
			"a QP with rwq_ind_tbl cannot have CQs, an SRQ or work requests");
	return 0;
}

int rss_create(struct client *c, const struct uhca_cmd_create_qp *in, struct rss **out)
{
	struct ind_table *table;
	int err;

	*out = NULL;
	if (!in->rwq_ind_table)
		return 0;
	err = check_request(c->dev, in);
	if (!err)
		err = client_find(c, &c->dev->ind_tables, in->rwq_ind_table, &table);
	if (err)
		return err;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->table = table;
	(*out)->fields = (uint32_t)in->rx_hash_fields;
	memcpy((*out)->key, in->rx_hash_key, KEY);
	table->obj.refs++;
	return 0;
}

void rss_destroy(struct rss *rss)
{
	if (!rss)
		return;
	rss->table->obj.refs--;
	free(rss);
}
