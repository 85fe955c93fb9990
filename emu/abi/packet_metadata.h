/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the daemon tells in a capture what happened, for people in Wireshark and for uhcactl's
 * ladder, report and explain alike. A capture is a pcapng file (draft-ietf-opsawg-pcapng):
 *
 *   packet     enhanced packet block with Ethernet, IP, UDP, BTH ... ICRC; interface = device;
 *              the option flags holds the direction; one option comment (1) of words, see below
 *   record     custom block 0x00000bad with private enterprise number 32473 (the one for
 *              documentation, RFC 5612): 64 bits of nanoseconds since 1970 in the section's byte
 *              order, then words, filled up with NULs
 *
 * Words are NAME=VALUE separated by one space; a value with a space, a quote or nothing in it
 * stands in double quotes, where \" and \\ stand for " and \. Numbers are decimal, or hexadecimal
 * with 0x. Readers skip names they do not know. Nothing is longer than UHCA_MODEL_MAX.
 *
 * Words of a packet's comment, each only where it is known:
 *
 *   wr=0x2a qp=0x11       the work request (wr_id) and the sender's QP
 *   op=RDMA_WRITE         what the request is (only of requests)
 *   part=2/5              which packet of the message's packets
 *   try=1                 sent again for the first time
 *   rule=3 fault="drop opcode=rc.ack nth=3"    the rule that touched it, and its text
 *   made="rnr"            no device sent this: a rule made it
 *   dropped="no_qp"       it goes no further: the name of a drop counter, bad_icrc, malformed,
 *                         "rule", "step", "no_route"
 *   judged="refused"      it was not executed: duplicate, refused, not_ready, failed
 *   cause=RANGE key=0x12  why it was dropped or judged so: cause.h
 *
 * Records begin with the word that says what they are, then dev=NAME where it is of a device.
 * Values of enums are their names in libibverbs without prefix: RTS, RETRY_EXC_ERR, RDMA_WRITE,
 * QP_FATAL.
 *
 *   state      qp from to by program         by=program: a program asked for it; its name (INIT)
 *   completion qp cq wr status opcode length vendor, and the words of a cause
 *   request    qp wr opcode length psn psns peer key address   one that is about to fail
 *   retry      qp psn why left               why: timeout, nak, gap, rnr
 *   nak        qp psn syndrome               sent; and the words of a cause
 *   event      type qp|cq|srq|wq             asynchronous
 *   call       verb status client            verbs that a rule made fail or slow; with qp, wr
 *                                            and state: posts that the library refused
 *   unreachable address port                 its host answers that the UDP port is closed
 *   stands     qp type state waits sends ... how a QP stands at the end; waits: state, answer,
 *                                            fence, reads, credit, rnr, pace, order
 *   stands     cq unread held channel armed state   the same of a CQ; channel: has one
 *   stands     cm_id pid state port unread held event   an id of rdma_cm that has events unread,
 *                                            and the first of them
 *   recorder   packets lost                  the file is of the flight recorder
 *   leak       program qp cq mr pd ...       a program went without destroying so many
 *   rule       number name text what         what: added, changed, removed
 *   hit        rule hits match layer qp psn what     a rule fired
 *   counters   NAME=N...                     those that moved since the last such record
 *   region     key qp address length pages   what a key opens; pages of how many bytes
 *   note       text
 */
#ifndef UHCA_ABI_MODEL_H
#define UHCA_ABI_MODEL_H

#define UHCA_MODEL_MAX   1024 /* bytes of a comment or record */
#define UHCA_MODEL_PEN   32473u
#define UHCA_MODEL_BLOCK 0x00000badu

#endif
