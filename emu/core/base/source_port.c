/* SPDX-License-Identifier: BSD-2-Clause */
/* RoCEv2 source ports from QP numbers and flow labels. */
#include "source_port.h"

#define PORT_BASE 0xc000u
#define PORT_BITS 14
#define PORT_MASK 0x3fffu

static uint32_t flow_label_of(uint32_t local_qpn, uint32_t remote_qpn)
{
	uint64_t v = (uint64_t)local_qpn * remote_qpn;
	v ^= v >> 20;
	v ^= v >> 40;
	return (uint32_t)v & 0xfffffu;
}

uint16_t source_port_connected(uint32_t local_qpn, uint32_t remote_qpn, uint32_t flow_label)
{
	uint32_t fl = flow_label ? flow_label : flow_label_of(local_qpn, remote_qpn);
	return (uint16_t)(PORT_BASE | ((fl & PORT_MASK) ^ ((fl & 0xfc000u) >> PORT_BITS)));
}

uint16_t source_port_datagram(uint32_t local_qpn)
{
	/* Multiplicative hash by 2^32 over the golden ratio. */
	return (uint16_t)(PORT_BASE | (local_qpn * 0x61c88647u) >> (32 - PORT_BITS));
}
