/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of text for a packet, for traces, capture tools and messages of failed
 * tests. No stdio: the text goes into the caller's buffer. Words are separated by one space, most
 * are name=value, so that the line is easy for people and for awk.
 *
 * It works as snprintf does: it returns the length of the whole text without its NUL,
 * writes at most cap bytes of it, NUL included (nothing when cap is 0), and never ends in newline.
 */
#ifndef ROCE_PRINT_H
#define ROCE_PRINT_H

#include "packet.h"

#include <stddef.h>
#include <stdint.h>

/* A buffer of this size holds every text. */
#define ROCE_PRINT_LENGTH 512

/*
 * "RC_SEND_ONLY qp=0x000011 psn=4711 ackreq len=64": opcode name, then only what the packet has.
 * An opcode that does not exist prints as "opcode=0xff".
 */
size_t roce_print_packet(const struct roce_packet *pkt, char *buf, size_t cap);

#endif
