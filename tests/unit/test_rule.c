/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grammar of rules: what each word means, and for every mistake its column and what is said.
 */
#include "../support/cmocka_all.h"

#include "rule.h"

#include <errno.h>
#include <string.h>

static struct fault_rule parsed(const char *text)
{
	struct fault_rule r;
	struct fault_error e;

	memset(&r, 0xee, sizeof(r));
	if (fault_rule_parse(text, &r, &e))
		fail_msg("%s: column %u: %s", text, e.column, e.text);
	return r;
}

/* "part" stands in the message. */
static void refused(const char *text, unsigned column, const char *part)
{
	struct fault_rule r;
	struct fault_error e;

	if (fault_rule_parse(text, &r, &e) != -EINVAL)
		fail_msg("'%s' is taken", text);
	if (e.column != column || !strstr(e.text, part))
		fail_msg("'%s': column %u: %s; wanted column %u: %s", text, e.column, e.text,
			 column, part);
}

static void test_examples(void **state)
{
	struct fault_rule r = parsed("lost-ack: drop opcode=rc.ack nth=3\n");

	(void)state;
	assert_string_equal(r.name, "lost-ack");
	assert_string_equal(r.text, "lost-ack: drop opcode=rc.ack nth=3");
	assert_int_equal(r.action, FAULT_DROP);
	assert_int_equal(r.layer, FAULT_LAYER_PACKET);
	assert_int_equal(r.select.direction, FAULT_TX);
	assert_int_equal(r.limit.nth.n, 1);
	assert_int_equal(r.limit.nth.range[0].low, 3);

	r = parsed("rnr=14 opcode=send times=3");
	assert_int_equal(r.action, FAULT_RNR);
	assert_int_equal(r.value.number, 14);
	assert_int_equal(r.select.direction, FAULT_RX);
	assert_int_equal(r.limit.max_hits, 3);

	r = parsed("call.fail=ENOMEM call=create_qp nth=2");
	assert_int_equal(r.layer, FAULT_LAYER_CALL);
	assert_int_equal(r.value.number, ENOMEM);

	r = parsed("cqe.set=status:REM_ACCESS_ERR wc=SUCCESS nth=5");
	assert_int_equal(r.layer, FAULT_LAYER_COMPLETION);
	assert_string_equal(r.value.word, "status");
	assert_int_equal(r.value.number2, 10);
	assert_int_equal(r.select.wc_status, 1);

	r = parsed("key.revoke opcode=write nth=100");
	assert_int_equal(r.layer, FAULT_LAYER_PACKET);
	assert_int_equal(r.select.direction, FAULT_RX);

	r = parsed("event=PORT_ERR after=10ms");
	assert_int_equal(r.layer, FAULT_LAYER_TIME);
	assert_int_equal(r.limit.after, 10000000);
	assert_string_equal(r.value.word, "PORT_ERR");
}

static void test_typos(void **state)
{
	(void)state;
	refused("dorp opcode=send", 1, "did you mean 'drop'?");
	refused("drop opcod=send", 6, "did you mean 'opcode'?");
	refused("drop opcode=rc.sned", 13, "there is no opcode 'rc.sned'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_typos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
