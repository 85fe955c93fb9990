/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a pcap file with one packet of each opcode over IPv4 and over IPv6, one of each CM
 * message, all made by wire/, and to standard output one line per packet with the values that a
 * dissector should find in it. The columns are those that check-tshark.sh asks tshark for, each
 * in tshark's notation, empty where the packet has no such header.
 */
#include "tests/support/wire/pcap.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/cm_msg.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#include <stdlib.h>
#include <string.h>

static struct prng rng;

static void plain_flow(bool v4, struct roce_flow *f)
{
	static const uint8_t v4_src[16] = {[10] = 0xff, 0xff, 192, 0, 2, 1};
	static const uint8_t v6_src[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

	memset(f, 0, sizeof(*f));
	memcpy(f->src, v4 ? v4_src : v6_src, 16);
	memcpy(f->dst, v4 ? v4_src : v6_src, 16);
	f->dst[15]++;
	f->sport = 0xc123;
	f->dport = ROCE_UDP_PORT;
	f->hop_limit = 64;
	f->tclass = 2;
}

/* ",va,rkey,dmalen": tshark has one name for the first two in RETH and AtomicETH. */
static void print_memory(const struct roce_packet *pkt, uint32_t headers)
{
	if (headers & ROCE_HDR_RETH)
		printf(",0x%016llx,0x%08x,%u", (unsigned long long)pkt->reth.va, pkt->reth.rkey,
		       pkt->reth.length);
	else if (headers & ROCE_HDR_ATOMICETH)
		printf(",0x%016llx,0x%08x,", (unsigned long long)pkt->atomiceth.va,
		       pkt->atomiceth.rkey);
	else
		printf(",,,");
}

static void print_extensions(const struct roce_packet *pkt)
{
	const uint32_t headers = roce_opcode_info(pkt->bth.opcode)->headers;

	print_memory(pkt, headers);
	if (headers & ROCE_HDR_AETH)
		printf(",%u,%u", pkt->aeth.syndrome, pkt->aeth.msn);
	else
		printf(",,");
	if (headers & ROCE_HDR_DETH)
		printf(",0x%016x,0x%08x", pkt->deth.qkey, pkt->deth.src_qp);
	else
		printf(",,");
	printf(headers & ROCE_HDR_IMMDT ? ",%08x" : ",", pkt->immdt);
	printf(headers & ROCE_HDR_IETH ? ",%08x" : ",", pkt->ieth);
	if (headers & ROCE_HDR_ATOMICETH)
		printf(",%llu,%llu", (unsigned long long)pkt->atomiceth.swap_add,
		       (unsigned long long)pkt->atomiceth.compare);
	else
		printf(",,");
	if (headers & ROCE_HDR_ATOMICACKETH)
		printf(",%llu\n", (unsigned long long)pkt->atomic_ack);
	else
		printf(",\n");
}

/* attr: of the CM message in the payload, 0 for none. */
static void print_expectation(const struct roce_packet *pkt, const uint8_t *icrc, unsigned attr)
{
	printf("%u,0x%06x,%u,0x%02x%02x%02x%02x,", pkt->bth.opcode.v, pkt->bth.dest_qp,
	       pkt->bth.psn, icrc[0], icrc[1], icrc[2], icrc[3]);
	if (attr)
		printf("0x%04x", attr);
	print_extensions(pkt);
}

static int write_one(FILE *out, bool v4, const struct roce_packet *pkt, unsigned attr)
{
	uint8_t bytes[48 + ROCE_MAX_PACKET_LENGTH];
	const uint16_t ident = v4 ? (uint16_t)prng_bits(&rng, 16) : 0;
	struct roce_flow f;

	plain_flow(v4, &f);
	uint8_t *p = bytes + (v4 ? 28 : 48);
	const size_t len = roce_packet_emit(pkt, p, ROCE_MAX_PACKET_LENGTH - ROCE_ICRC_LENGTH);
	const size_t udp_payload = len + ROCE_ICRC_LENGTH;

	if (len == 0)
		return -1;
	roce_icrc_store(roce_icrc_begin(&f, ident, udp_payload, p, len), p + len);
	print_expectation(pkt, p + len, attr);
	return pcap_write_packet(out, bytes,
				 roce_udpip_emit(&f, ident, udp_payload, bytes) + udp_payload);
}

/*
 * A payload as the operation wants it: an ATOMIC WRITE has 8 bytes, a CNP 16 zero ones. Others
 * have one that no protocol's heuristics take for theirs; tshark shows no ICRC behind an empty one.
 */
static void fit_payload(struct roce_packet *pkt)
{
	static uint8_t payload[ROCE_MAX_MTU];
	const struct roce_opcode_info *info = roce_opcode_info(pkt->bth.opcode);

	if (!(info->headers & ROCE_HDR_PAYLOAD))
		return;
	memset(payload, info->operation == ROCE_OP_CNP ? 0 : 0xa5, sizeof(payload));
	pkt->payload = payload;
	pkt->payload_len = 1 + prng_below(&rng, 1024);
	if (info->operation == ROCE_OP_ATOMIC_WRITE)
		pkt->payload_len = 8;
	else if (info->operation == ROCE_OP_CNP)
		pkt->payload_len = 16;
	pkt->bth.pad = roce_pad(pkt->payload_len);
}

/* QP 1 would make a dissector look for a MAD; reserved bits and odd P_Keys are not of interest. */
static int write_opcodes(FILE *out, bool v4)
{
	for (unsigned v = 0; v < 256; v++) {
		const roce_opcode op = {(uint8_t)v};
		struct roce_packet pkt;

		if (!roce_opcode_known(op))
			continue;
		gen_packet(&rng, op, &pkt);
		pkt.bth.dest_qp |= 0x10;
		pkt.bth.reserved6 = pkt.bth.reserved7 = 0;
		pkt.bth.pkey = 0xffff;
		fit_payload(&pkt);
		if (write_one(out, v4, &pkt, 0) != 0)
			return -1;
	}
	return 0;
}

static int write_cm(FILE *out, bool v4)
{
	for (unsigned attr = ROCE_CM_REQ; attr <= ROCE_CM_SIDR_REP; attr++) {
		struct roce_cm_msg msg;
		struct roce_packet pkt;
		uint8_t mad[ROCE_MAD_LENGTH];

		memset(&msg, 0, sizeof(msg));
		msg.attr = (enum roce_cm_attr)attr;
		msg.tid = prng_u64(&rng);
		memset(&pkt, 0, sizeof(pkt));
		pkt.bth.opcode.v = ROCE_UD_SEND_ONLY;
		pkt.bth.pkey = 0xffff;
		pkt.bth.dest_qp = ROCE_GSI_QPN;
		pkt.deth.qkey = ROCE_GSI_QKEY;
		pkt.deth.src_qp = ROCE_GSI_QPN;
		pkt.payload = mad;
		pkt.payload_len = sizeof(mad);
		if (!roce_cm_emit(&msg, mad) || write_one(out, v4, &pkt, attr) != 0)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FILE.pcap\n", argv[0]);
		return 2;
	}
	FILE *out = fopen(argv[1], "wb");

	if (!out) {
		perror(argv[1]);
		return 1;
	}
	rng = prng_start("emit_all");
	int rc = pcap_write_header(out);

	for (int v4 = 1; v4 >= 0 && rc == 0; v4--)
		rc = write_opcodes(out, v4) ? -1 : write_cm(out, v4);
	if (fclose(out) != 0 || rc != 0) {
		fprintf(stderr, "%s: could not write all packets\n", argv[1]);
		return 1;
	}
	return 0;
}
