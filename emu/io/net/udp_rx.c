/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns received UDP buffers (UDP_GRO) into bursts; checks length, headers and ICRC. */
#include "udp_rx.h"

#include "wire/icrc.h"
#include "wire/packet.h"

/* Most segments of one send in any kernel so far (UDP_MAX_SEGMENTS is 64, later 128). */
#define SEGMENTS_MAX 128

void io_udp_rx_init(struct io_udp_rx *rx, enum io_icrc_mode icrc,
		    void (*deliver)(void *arg, const struct core_burst *t), void *arg)
{
	*rx = (struct io_udp_rx){.icrc = icrc, .deliver = deliver, .arg = arg};
}

void io_udp_rx_flush(struct io_udp_rx *rx)
{
	if (rx->burst.count == 0)
		return;
	rx->counters.bursts++;
	rx->deliver(rx->arg, &rx->burst);
	rx->burst.count = 0;
}

static bool is_own(const struct io_udp_rx *rx, const uint8_t gid[16])
{
	return rx->is_own && rx->is_own(rx->own, gid);
}

/* place: of the datagram in its buffer, which is its identification when we sent it. */
static bool icrc_ok(const struct io_udp_rx *rx, const struct roce_flow *flow, uint32_t place,
		    const uint8_t *p, size_t len)
{
	uint16_t ident;

	if (rx->icrc == IO_ICRC_OFF || roce_icrc_check(flow, (uint16_t)place, p, len))
		return true;
	if (!roce_icrc_solve_ident(flow, p, len, &ident))
		return false;
	return ident < SEGMENTS_MAX || (rx->icrc == IO_ICRC_LENIENT && !is_own(rx, flow->src));
}

static void take_packet(struct io_udp_rx *rx, const struct roce_flow *flow,
			const struct roce_packet *pkt)
{
	rx->counters.packets++;
	if (rx->burst.count > 0 && core_burst_append(&rx->burst, pkt, flow))
		return;
	io_udp_rx_flush(rx);
	core_burst_start(&rx->burst, pkt, flow);
	rx->burst.from_network = true;
}

/* In its place among the others. */
static void refuse(struct io_udp_rx *rx, const struct roce_flow *flow, const uint8_t *p, size_t len,
		   const char *why)
{
	if (!rx->refuse)
		return;
	io_udp_rx_flush(rx);
	rx->refuse(rx->arg, flow, p, len, why);
}

static void take_datagram(struct io_udp_rx *rx, const struct roce_flow *flow, uint32_t place,
			  const uint8_t *p, size_t len)
{
	enum roce_parse_result result = ROCE_PARSE_SHORT;
	struct roce_packet pkt;

	if (len >= ROCE_BTH_LENGTH + ROCE_ICRC_LENGTH) {
		if (!icrc_ok(rx, flow, place, p, len)) {
			rx->counters.bad_icrc++;
			rx->why = "wrong ICRC";
			refuse(rx, flow, p, len, "bad_icrc");
			return;
		}
		result = roce_packet_parse(p, len - ROCE_ICRC_LENGTH, &pkt);
	}
	if (result == ROCE_PARSE_OK) {
		take_packet(rx, flow, &pkt);
		return;
	}
	rx->counters.malformed++;
	rx->why = roce_parse_name(result);
	refuse(rx, flow, p, len, "malformed");
}

void io_udp_rx_buffer(struct io_udp_rx *rx, const struct roce_flow *flow, const uint8_t *p,
		      size_t len, size_t segment)
{
	uint32_t place = 0;

	rx->counters.buffers++;
	if (segment == 0)
		segment = len ? len : 1;
	do {
		size_t piece = len < segment ? len : segment;

		take_datagram(rx, flow, place++, p, piece);
		p += piece;
		len -= piece;
	} while (len > 0);
}
