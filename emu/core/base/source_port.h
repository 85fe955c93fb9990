/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UDP source ports of RoCEv2 (annex A17): constant for a flow, different between flows, so
 * that routers can spread them. The formulas are those that Linux uses, observed on the wire.
 */
#ifndef CORE_SOURCE_PORT_H
#define CORE_SOURCE_PORT_H

#include <stdint.h>

/* For a connection; flow_label (20 bits) decides alone when it is not 0. In 0xc000..0xffff. */
uint16_t source_port_connected(uint32_t local_qpn, uint32_t remote_qpn, uint32_t flow_label);

/* For a datagram QP. In 0xc000..0xffff. */
uint16_t source_port_datagram(uint32_t local_qpn);

#endif
