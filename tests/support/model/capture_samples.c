/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds small captures with one failure each. */
#include "capture_samples.h"

#include "model_file.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/opcode.h"
#include "wire/syndrome.h"

#include <stdio.h>

#define ACK_ROOM 0x1f /* an ACK without credits */

static void say(struct model_file *f, double us, unsigned from, uint8_t opcode,
		struct model_said rest)
{
	rest.us = us;
	rest.from = from;
	rest.opcode = opcode;
	model_file_say(f, &rest);
}

#define SAY_(f, us, from, opcode, ...)                                                             \
	say(f, us, from, ROCE_RC_##opcode, (struct model_said){__VA_ARGS__})

static void write_two(struct model_file *f, double us, const char *first, const char *last)
{
	SAY_(f, us, 0, WRITE_FIRST, .psn = 100, .length = 1024, .comment = first);
	SAY_(f, us + 1, 0, WRITE_LAST, .psn = 101, .length = 500, .comment = last);
}

static void lost_ack(struct model_file *f)
{
	model_file_record(f, 0, "state dev=uhca0 qp=0x11 from=RTR to=RTS");
	model_file_record(f, 2,
			  "rule number=1 name=lost-ack text=\"drop opcode=rc.ack nth=1\" "
			  "what=added");
	write_two(f, 10, "wr=0x2a qp=0x11 op=RDMA_WRITE part=1/2",
		  "wr=0x2a qp=0x11 op=RDMA_WRITE part=2/2");
	SAY_(f, 15, 1, ACKNOWLEDGE, .psn = 101, .syndrome = ACK_ROOM, .msn = 1, .seen = SEEN_OUT,
	     .comment = "qp=0x12 rule=1 fault=\"drop opcode=rc.ack nth=1\" dropped=rule");
	model_file_record(f, 15,
			  "hit dev=uhca1 rule=1 hits=1 match=1 layer=packet qp=0x12 psn=101");
	model_file_record(f, 500, "retry dev=uhca0 qp=0x11 psn=100 why=timeout left=6");
	write_two(f, 501, "wr=0x2a qp=0x11 op=RDMA_WRITE part=1/2 try=1",
		  "wr=0x2a qp=0x11 op=RDMA_WRITE part=2/2 try=1");
	SAY_(f, 510, 1, ACKNOWLEDGE, .psn = 101, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12");
	model_file_record(f, 512,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x2a status=SUCCESS "
			  "opcode=RDMA_WRITE length=1524 vendor=0");
}

static void send_refused(struct model_file *f, double us, unsigned tries)
{
	char comment[64];

	snprintf(comment, sizeof(comment), "wr=7 qp=0x11 op=SEND part=1/1 try=%u", tries);
	SAY_(f, us, 0, SEND_ONLY, .psn = 5, .length = 64, .comment = comment);
	SAY_(f, us + 2, 1, ACKNOWLEDGE, .psn = 5, .syndrome = roce_syndrome(ROCE_RNR_NAK, 12),
	     .comment = "qp=0x12");
}

static void rnr(struct model_file *f)
{
	send_refused(f, 1, 0);
	model_file_record(f, 4, "retry dev=uhca0 qp=0x11 psn=5 why=rnr left=6");
	send_refused(f, 645, 1);
	model_file_record(f, 648, "retry dev=uhca0 qp=0x11 psn=5 why=rnr left=5");
	SAY_(f, 1290, 0, SEND_ONLY, .psn = 5, .length = 64,
	     .comment = "wr=7 qp=0x11 op=SEND part=1/1 try=2");
	model_file_record(f, 1292,
			  "completion dev=uhca1 qp=0x12 cq=1 wr=0x1 status=SUCCESS opcode=RECV "
			  "length=64 vendor=0");
	SAY_(f, 1293, 1, ACKNOWLEDGE, .psn = 5, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12");
	model_file_record(f, 1295,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x7 status=SUCCESS opcode=SEND "
			  "length=64 vendor=0");
}

static void rnr_exceeded(struct model_file *f)
{
	send_refused(f, 1, 0);
	model_file_record(f, 4, "retry dev=uhca0 qp=0x11 psn=5 why=rnr left=0");
	send_refused(f, 645, 1);
	model_file_record(f, 648,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x7 status=RNR_RETRY_EXC_ERR "
			  "opcode=SEND length=0 vendor=0x4");
	model_file_record(f, 648, "state dev=uhca0 qp=0x11 from=RTS to=ERR");
	for (unsigned i = 8; i < 11; i++) {
		char words[160];

		snprintf(words, sizeof(words),
			 "completion dev=uhca0 qp=0x11 cq=1 wr=%u status=WR_FLUSH_ERR opcode=SEND "
			 "length=0 vendor=0x7",
			 i);
		model_file_record(f, 649, words);
	}
}

static void lost_response(struct model_file *f)
{
	SAY_(f, 1, 0, READ_REQUEST, .psn = 7, .length = 2000,
	     .comment = "wr=1 qp=0x11 op=RDMA_READ part=1/1");
	SAY_(f, 3, 1, READ_RESPONSE_FIRST, .psn = 7, .length = 1024, .syndrome = ACK_ROOM,
	     .seen = SEEN_OUT,
	     .comment = "qp=0x12 rule=2 fault=\"drop opcode=read_response nth=1\" dropped=rule");
	SAY_(f, 4, 1, READ_RESPONSE_LAST, .psn = 8, .length = 976, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12");
	model_file_record(f, 6, "retry dev=uhca0 qp=0x11 psn=7 why=gap left=6");
	SAY_(f, 7, 0, READ_REQUEST, .psn = 7, .length = 2000,
	     .comment = "wr=1 qp=0x11 op=RDMA_READ part=1/1 try=1");
	SAY_(f, 10, 1, READ_RESPONSE_FIRST, .psn = 7, .length = 1024, .syndrome = ACK_ROOM,
	     .comment = "qp=0x12");
	SAY_(f, 11, 1, READ_RESPONSE_LAST, .psn = 8, .length = 976, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12");
	model_file_record(f, 13,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x1 status=SUCCESS "
			  "opcode=RDMA_READ length=2000 vendor=0");
}

static void atomic_copy(struct model_file *f)
{
	SAY_(f, 1, 0, FETCH_ADD, .psn = 9,
	     .comment = "wr=3 qp=0x11 op=FETCH_ADD rule=4 fault=\"dup opcode=fetch_add\"");
	SAY_(f, 1.5, 0, FETCH_ADD, .psn = 9, .seen = SEEN_IN,
	     .in_comment = "rule=4 fault=\"dup opcode=fetch_add\"");
	SAY_(f, 4, 1, ATOMIC_ACKNOWLEDGE, .psn = 9, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12");
	SAY_(f, 6, 1, ATOMIC_ACKNOWLEDGE, .psn = 9, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12", .in_comment = "dropped=response");
	model_file_record(f, 8,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x3 status=SUCCESS "
			  "opcode=FETCH_ADD length=8 vendor=0");
}

static void remote_access(struct model_file *f)
{
	SAY_(f, 1, 0, WRITE_ONLY, .psn = 40, .length = 16,
	     .comment = "wr=0x99 qp=0x11 op=RDMA_WRITE part=1/1");
	model_file_record(f, 3, "state dev=uhca1 qp=0x12 from=RTS to=ERR");
	model_file_record(f, 3, "event dev=uhca1 type=QP_ACCESS_ERR qp=0x12");
	SAY_(f, 4, 1, ACKNOWLEDGE, .psn = 40,
	     .syndrome = roce_syndrome(ROCE_NAK, ROCE_NAK_REMOTE_ACCESS), .comment = "qp=0x12");
	model_file_record(f, 6,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x99 status=REM_ACCESS_ERR "
			  "opcode=RDMA_WRITE length=0 vendor=0x6202");
	model_file_record(f, 6, "state dev=uhca0 qp=0x11 from=RTS to=ERR");
	model_file_record(f, 9, "leak dev=uhca0 program=prog qp=1 mr=2");
}

static void retry_exceeded(struct model_file *f)
{
	SAY_(f, 1, 0, SEND_ONLY, .psn = 5, .length = 64, .seen = SEEN_OUT,
	     .comment = "wr=7 qp=0x11 op=SEND rule=1 fault=\"drop opcode=send\" dropped=rule");
	model_file_record(f, 500, "retry dev=uhca0 qp=0x11 psn=5 why=timeout left=0");
	SAY_(f, 501, 0, SEND_ONLY, .psn = 5, .length = 64, .seen = SEEN_OUT,
	     .comment = "wr=7 qp=0x11 op=SEND try=1 rule=1 fault=\"drop opcode=send\" "
			"dropped=rule");
	model_file_record(f, 1000,
			  "completion dev=uhca0 qp=0x11 cq=1 wr=0x7 status=RETRY_EXC_ERR "
			  "opcode=SEND length=0 vendor=0x3");
	model_file_record(f, 1000, "state dev=uhca0 qp=0x11 from=RTS to=ERR");
}

/* As a flight recorder has it, which does not tell of completions without an error. */
static void one_wr(struct model_file *f)
{
	SAY_(f, 0.1, 0, READ_REQUEST, .psn = 2, .length = 500,
	     .comment = "wr=7 qp=0x11 op=RDMA_READ part=1/1");
	SAY_(f, 0.2, 1, READ_RESPONSE_ONLY, .psn = 2, .length = 500, .syndrome = ACK_ROOM, .msn = 1,
	     .comment = "qp=0x12");
	SAY_(f, 0.4, 0, SEND_ONLY, .psn = 3, .length = 64, .comment = "wr=7 qp=0x11 op=SEND");
	SAY_(f, 0.5, 1, ACKNOWLEDGE, .psn = 3, .syndrome = ACK_ROOM, .msn = 2,
	     .comment = "qp=0x12");
	SAY_(f, 0.7, 0, READ_REQUEST, .psn = 4, .length = 500,
	     .comment = "wr=7 qp=0x11 op=RDMA_READ part=1/1");
	SAY_(f, 0.8, 1, READ_RESPONSE_ONLY, .psn = 4, .length = 500, .syndrome = ACK_ROOM, .msn = 3,
	     .comment = "qp=0x12");
	retry_exceeded(f);
}

static void overtaken(struct model_file *f)
{
	SAY_(f, 1, 0, SEND_ONLY, .psn = 5, .length = 64, .seen = SEEN_OUT,
	     .comment = "wr=7 qp=0x11 op=SEND rule=6 fault=\"reorder=1 nth=1\"");
	SAY_(f, 2, 0, SEND_ONLY, .psn = 6, .length = 64, .comment = "wr=8 qp=0x11 op=SEND");
	SAY_(f, 5, 0, SEND_ONLY, .psn = 5, .length = 64, .seen = SEEN_IN);
	SAY_(f, 8, 1, ACKNOWLEDGE, .psn = 4,
	     .syndrome = roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE), .comment = "qp=0x12");
}

static void long_write(struct model_file *f)
{
	SAY_(f, 1, 0, WRITE_FIRST, .psn = 0xfffff0, .length = 1024, .comment = "wr=1 qp=0x11");
	for (unsigned i = 1; i < 40; i++)
		SAY_(f, 1 + i, 0, WRITE_MIDDLE, .psn = (0xfffff0 + i) & 0xffffff, .length = 1024,
		     .comment = i == 20 ? "wr=1 qp=0x11 rule=1 fault=\"ecn\"" : "wr=1 qp=0x11");
	SAY_(f, 60, 0, WRITE_LAST, .psn = 0x18, .length = 9, .comment = "wr=1 qp=0x11");
	SAY_(f, 70, 1, ACKNOWLEDGE, .psn = 0x18, .syndrome = ACK_ROOM, .msn = 1);
}

uint8_t *capture_sample_bytes(enum sample which, size_t *size)
{
	static void (*const tell[SAMPLES])(struct model_file * f) = {
		[SAMPLE_LOST_ACK] = lost_ack,
		[SAMPLE_RNR] = rnr,
		[SAMPLE_RNR_EXCEEDED] = rnr_exceeded,
		[SAMPLE_LOST_RESPONSE] = lost_response,
		[SAMPLE_ATOMIC_COPY] = atomic_copy,
		[SAMPLE_REMOTE_ACCESS] = remote_access,
		[SAMPLE_RETRY_EXCEEDED] = retry_exceeded,
		[SAMPLE_ONE_WR] = one_wr,
		[SAMPLE_OVERTAKEN] = overtaken,
		[SAMPLE_LONG] = long_write,
	};
	struct model_file f;

	model_file_begin(&f, false);
	tell[which](&f);
	return model_file_take(&f, size);
}

void capture_sample(struct model *s, enum sample which)
{
	size_t size;
	uint8_t *bytes = capture_sample_bytes(which, &size);

	assert_int_equal(model_parse(s, bytes, size), 0);
	assert_string_equal(s->error, "");
}
