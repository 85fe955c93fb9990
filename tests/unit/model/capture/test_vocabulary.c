/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be asked of records is what the daemon writes: each word of each record that it can make
 * is known, and what is not known is told with what there is.
 */
#include "emu/io/capture/trace_text.h"
#include "emu/model/capture/vocabulary.h"
#include "emu/model/read/words.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "emu/abi/names.h"

#include <errno.h>
#include <string.h>

static char why[512];

/* All words of a record that the daemon made. */
static void expect_known(const struct io_words *w)
{
	struct model_word word[MODEL_WORDS_MAX];
	char text[UHCA_MODEL_MAX];
	unsigned n;

	memcpy(text, w->text, sizeof(text));
	n = model_words_split(text, word, MODEL_WORDS_MAX);
	assert_true(n > 1);
	for (unsigned i = 1; i < n; i++)
		if (model_vocabulary_check(word[0].name, word[i].name, word[i].value, why,
					   sizeof(why)) != 0)
			fail_msg("%s: %s", w->text, why);
}

static void trace(struct core_trace t)
{
	struct io_words w;

	t.qpn = 0xffffff;
	assert_true(io_trace_trace(&w, "uhca12", &t));
	expect_known(&w);
}

#define STATUS_(name) trace((struct core_trace){.point = CORE_TRACE_CQE, .a = UHCA_ABI_WC_##name});
#define OPCODE_(name) trace((struct core_trace){.point = CORE_TRACE_CQE, .b = UHCA_ABI_WC_##name});
#define EVENT_(name)                                                                               \
	trace((struct core_trace){                                                                 \
		.point = CORE_TRACE_EVENT, .a = UHCA_ABI_EVENT_##name, .b = UINT32_MAX});

#define CAUSE_(name) trace_cause(UHCA_ABI_CAUSE_##name);

static void trace_cause(enum uhca_abi_cause_kind kind)
{
	const struct uhca_abi_cause cause = {kind,       UINT32_MAX, UINT32_MAX, UINT32_MAX,
					     UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
					     UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

	trace((struct core_trace){.point = CORE_TRACE_NAK, .a = 1, .b = 1, .cause = &cause});
	trace((struct core_trace){.point = CORE_TRACE_CQE, .cause = &cause});
}

static void test_traces(void **state)
{
	(void)state;
	UHCA_ABI_STATUS_NAMES(STATUS_)
	UHCA_ABI_OPCODE_NAMES(OPCODE_)
	UHCA_ABI_EVENT_NAMES(EVENT_)
	UHCA_ABI_CAUSE_NAMES(CAUSE_)
	for (uint32_t from = 0; from <= 6; from++)
		trace((struct core_trace){
			.point = CORE_TRACE_QP_STATE, .a = from, .b = 6 - from, .c = from & 1});
	for (uint32_t reason = CORE_RETRY_TIMEOUT; reason <= CORE_RETRY_RNR; reason++)
		trace((struct core_trace){
			.point = CORE_TRACE_RETRY, .a = 0xffffff, .b = 7, .c = reason});
	trace((struct core_trace){.point = CORE_TRACE_NAK, .a = 0xffffff, .b = 0xff});
	trace((struct core_trace){.point = CORE_TRACE_CQE,
				  .c = UINT32_MAX,
				  .cqn = UINT32_MAX,
				  .length = UINT32_MAX,
				  .wr_id = UINT64_MAX});
}

static void call(const char *verb, int error)
{
	struct io_words w;

	io_trace_call(&w, "uhca0", verb, error, UINT32_MAX);
	expect_known(&w);
}

#define CALL_(name) call(#name, 0);

static void test_calls(void **state)
{
	struct io_words w;

	(void)state;
	UHCA_ABI_CALL_NAMES(CALL_)
	call("reg_mr", ENOMEM);
	call("reg_mr", EOPNOTSUPP);
	io_trace_fatal(&w, "uhca0", 3);
	expect_known(&w);
}

static void test_hits(void **state)
{
	static struct fault_entry e = {.number = 3, .matched = UINT64_MAX, .hits = 2};
	struct roce_packet pkt = {.bth.psn = 0xffffff};
	struct fault_subject s = {.device = "uhca1", .qpn = 0x20, .call = "create_qp"};
	struct fault_hit hit = {.entry = &e, .subject = &s};
	struct io_words w;

	(void)state;
	for (unsigned layer = 0; layer < FAULT_LAYERS; layer++) {
		s.layer = (enum fault_layer)layer;
		io_trace_hit(&w, &hit);
		expect_known(&w);
	}
	s.layer = FAULT_LAYER_PACKET;
	s.pkt = &pkt;
	for (unsigned op = 0; op < 256; op++) {
		pkt.bth.opcode.v = (uint8_t)op;
		if (!roce_opcode_table[op].name)
			continue;
		io_trace_hit(&w, &hit);
		expect_known(&w);
	}
}

static void test_unknown(void **state)
{
	(void)state;
	assert_int_equal(model_vocabulary_check("nak", "why", "gap", why, sizeof(why)), -ENOENT);
	assert_string_equal(
		why, "unknown word of a nak 'why'; known: dev, qp, psn, syndrome, "
		     "cause, key, near, rights, at, bytes, start, size, expected, got, since, "
		     "rest");
	assert_int_equal(model_vocabulary_check("retry", "why", "nack", why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "unknown why 'nack': did you mean 'nak'? Known: timeout, "
				 "nak, gap, rnr");
	assert_int_equal(model_vocabulary_check("nak", "psn", "0x1000000", why, sizeof(why)),
			 -EINVAL);
	assert_string_equal(why, "'0x1000000' is not a number up to 16777215");
	/* no more than there is room for */
	assert_int_equal(model_vocabulary_check("call", "verb", "x", why, 40), -EINVAL);
	assert_true(strlen(why) < 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
