/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The invariant CRC (annex A17.3.3): isa-l's crc32_gzip_refl, which is the CRC-32 of Ethernet
 * with bits reflected, over the masked pseudo header and the packet. And its inverse for one
 * unknown, the IPv4 identification.
 *
 * Solving: the register of a CRC is a polynomial over GF(2) modulo the generator P; a byte that
 * passes multiplies it by x^8. Two packets that differ only in the identification therefore have
 * ICRCs whose difference is (difference of the identification) * x^(8k), k bytes counted from the
 * identification to the end. Multiplying by x^(-8k) leads back; what comes out is an
 * identification only if it has no more than 16 bits, and that is the check that is left.
 */
#include "icrc.h"

#include "bytes.h"
#include "packet.h"

#include <isa-l/crc.h>
#include <string.h>

#define ONES_LENGTH 8 /* stands where an InfiniBand packet has its local route header */

#define IPV4_TOS         1
#define IPV4_IDENT       4
#define IPV4_TTL         8
#define IPV4_CHECKSUM    10
#define IPV6_FLOW        1
#define IPV6_FLOW_LENGTH 3
#define IPV6_HOPS        7
#define UDP_CHECKSUM     6
#define BTH_FECN         4

/* The IP and UDP headers at p (ip_len + 8 bytes), with what a router may change set to ones. */
static void mask_headers(uint8_t *p, size_t ip_len)
{
	if (ip_len == ROCE_IPV4_LENGTH) {
		p[IPV4_TOS] = 0xff;
		p[IPV4_TTL] = 0xff;
		memset(p + IPV4_CHECKSUM, 0xff, 2);
	} else {
		p[0] |= 0xf;
		memset(p + IPV6_FLOW, 0xff, IPV6_FLOW_LENGTH);
		p[IPV6_HOPS] = 0xff;
	}
	memset(p + ip_len + UDP_CHECKSUM, 0xff, 2);
}

/*
 * isa-l leaves what it had in the upper halves of the vector registers (no vzeroupper), where it
 * takes AVX: from how many bytes on is its own affair. Each SSE instruction behind it, ours and
 * others', would then wait for them: of 64 KiB by UDP that was nearly a quarter of the time.
 */
#ifdef __x86_64__
__attribute__((target("avx"))) static void end_vectors(void)
{
	__builtin_ia32_vzeroupper();
}

static uint32_t crc(uint32_t icrc, const uint8_t *p, size_t len)
{
	icrc = crc32_gzip_refl(icrc, p, len);
	if (__builtin_cpu_supports("avx"))
		end_vectors();
	return icrc;
}
#else
static uint32_t crc(uint32_t icrc, const uint8_t *p, size_t len)
{
	return crc32_gzip_refl(icrc, p, len);
}
#endif

uint32_t roce_icrc_begin(const struct roce_flow *f, uint16_t ident, size_t udp_payload,
			 const uint8_t *hdr, size_t hdr_len)
{
	uint8_t buf[ONES_LENGTH + ROCE_IPV6_LENGTH + ROCE_UDP_LENGTH + ROCE_MAX_HEADER_LENGTH];
	const size_t first = hdr_len < ROCE_MAX_HEADER_LENGTH ? hdr_len : ROCE_MAX_HEADER_LENGTH;
	uint8_t *p = buf + ONES_LENGTH;

	memset(buf, 0xff, ONES_LENGTH);
	const size_t udpip_len = roce_udpip_emit_unsummed(f, ident, udp_payload, p);

	mask_headers(p, udpip_len - ROCE_UDP_LENGTH);
	p += udpip_len;
	memcpy(p, hdr, first);
	p[BTH_FECN] = 0xff;
	p += first;
	return roce_icrc_update(crc(0, buf, (size_t)(p - buf)), hdr + first, hdr_len - first);
}

uint32_t roce_icrc_update(uint32_t icrc, const uint8_t *p, size_t len)
{
	return len ? crc(icrc, p, len) : icrc;
}

void roce_icrc_store(uint32_t icrc, uint8_t *p)
{
	p[0] = (uint8_t)icrc;
	p[1] = (uint8_t)(icrc >> 8);
	p[2] = (uint8_t)(icrc >> 16);
	p[3] = (uint8_t)(icrc >> 24);
}

/* Difference between the ICRC that the packet carries and the one it should. */
static uint32_t difference(const struct roce_flow *f, uint16_t ident, const uint8_t *pkt,
			   size_t len)
{
	const uint8_t *p = pkt + len - ROCE_ICRC_LENGTH;
	const uint32_t carried =
		(uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];

	return carried ^ roce_icrc_begin(f, ident, len, pkt, len - ROCE_ICRC_LENGTH);
}

bool roce_icrc_check(const struct roce_flow *f, uint16_t ident, const uint8_t *pkt, size_t len)
{
	return len >= ROCE_BTH_LENGTH + ROCE_ICRC_LENGTH && difference(f, ident, pkt, len) == 0;
}

/* Product of two polynomials modulo P; as in the register, bit 31 is the coefficient of x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	const uint32_t generator = 0xedb88320;
	uint32_t product = 0;

	for (; a; a <<= 1) {
		product ^= b & (0u - (a >> 31));
		b = b >> 1 ^ (generator & (0u - (b & 1)));
	}
	return product;
}

/* register * x^(-8 * bytes): undoes the passing of so many zero bytes. */
static uint32_t step_back(uint32_t reg, size_t bytes)
{
	/* x^(-8 * 2^i): entry 0 is the inverse of x^8, each further one the square before it. */
	static const uint32_t inverse_power[] = {
		0x6567cb95, 0xd7125358, 0x5b358fd3, 0x2e9bb40b, 0x12a59a49, 0x8df9403d,
		0x5139de12, 0xba340226, 0x29c45641, 0x12fbc105, 0xecd30c55, 0x3755ebd8,
		0x24ee460c, 0x23783fcf, 0x479933fc, 0xa39442a5, 0x9ea0056d,
	};

	for (size_t i = 0; i < sizeof(inverse_power) / sizeof(inverse_power[0]); i++)
		if (bytes >> i & 1)
			reg = multiply(reg, inverse_power[i]);
	return reg;
}

bool roce_icrc_solve_ident(const struct roce_flow *f, const uint8_t *pkt, size_t len,
			   uint16_t *ident)
{
	if (len < ROCE_BTH_LENGTH + ROCE_ICRC_LENGTH || len > UINT16_MAX)
		return false;
	if (!roce_flow_is_v4(f)) {
		*ident = 0;
		return difference(f, 0, pkt, len) == 0;
	}
	const size_t covered =
		ROCE_IPV4_LENGTH - IPV4_IDENT + ROCE_UDP_LENGTH + len - ROCE_ICRC_LENGTH;
	const uint32_t reg = step_back(difference(f, 0, pkt, len), covered);

	if (reg >> 16)
		return false;
	/* The first byte on the wire stands in the register's lowest bits. */
	*ident = (uint16_t)((reg & 0xff) << 8 | reg >> 8);
	return true;
}
