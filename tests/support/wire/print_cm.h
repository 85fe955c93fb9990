/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of text for a flow or a CM message, in the words of wire/print.h: the files beside
 * the captures hold such lines. Every function works as snprintf does.
 */
#ifndef TESTS_SUPPORT_WIRE_PRINT_CM_H
#define TESTS_SUPPORT_WIRE_PRINT_CM_H

#include "wire/cm_msg.h"
#include "wire/print.h"
#include "wire/udpip.h"

/* "10.0.0.1:49152 > 10.0.0.2:4791", IPv6 addresses in brackets; then tclass= where not 0. */
size_t print_flow(const struct roce_flow *f, char *buf, size_t cap);

/* "CM REQ tid=0x1 local=0x2 ..."; "CM attribute 0x0099" for one that is not known. */
size_t print_cm(const struct roce_cm_msg *msg, char *buf, size_t cap);

#endif
