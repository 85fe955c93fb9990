/* SPDX-License-Identifier: BSD-2-Clause */
/* Congestion controls: rates and windows after few events, computed by hand. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/cc/cc.h"

#include <string.h>

#define US   UINT64_C(1000)
#define GBPS UINT64_C(1000000000)

static struct cc_settings settings;

static void begin(struct cc_flow *f, const char *name, uint64_t line, uint64_t base_rtt)
{
	unsigned i = 0;

	while (cc_at(i) && strcmp(cc_at(i)->name, name) != 0)
		i++;
	assert_non_null(cc_at(i));
	cc_settings_init(&settings, cc_at(i));
	*f = (struct cc_flow){.line_rate = line, .base_rtt = base_rtt, .packet = 1000};
	cc_start(f, &settings, 0);
}

static void set(const char *name, uint64_t value)
{
	unsigned i = 0;

	while (strcmp(settings.ops->params[i].name, name) != 0)
		i++;
	settings.value[i] = value;
}

static void assert_rate(const struct cc_flow *f, double gbps)
{
	const double got = (double)f->rate / (double)GBPS;

	if (got < gbps - 0.0005 || got > gbps + 0.0005)
		fail_msg("%.4f Gb/s, not %.4f", got, gbps);
}

/* alpha is 1, so the first CNP halves; then half way back each 55 us. */
static void test_dcqcn(void **state)
{
	static const double gbps[] = {30, 35, 37.5, 38.75, 39.375};
	struct cc_flow f;

	(void)state;
	begin(&f, "dcqcn", 40 * GBPS, 4 * US);
	assert_rate(&f, 40);
	assert_true(f.deadline == CC_NEVER);
	cc_cnp(&f, 0);
	assert_rate(&f, 20);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(f.deadline, (i + 1) * 55 * US);
		cc_timer(&f, f.deadline);
		assert_rate(&f, gbps[i]);
	}
	/* Five steps of alpha: (255/256)^5 = 0.980621; 39.375 (1 - 0.980621 / 2) = 20.0690. */
	cc_cnp(&f, 300 * US);
	assert_rate(&f, 20.0690);
	/* 255/256 x 0.980621 + 1/256 = 0.980697, cut at once: 20.069 x 0.509652 = 10.2282. */
	cc_cnp(&f, 301 * US);
	assert_rate(&f, 10.2282);
	/* The target is the rate before the last cut: 20.069, half way 15.1486. */
	cc_timer(&f, 356 * US);
	assert_rate(&f, 15.1486);
}

/* After F stages of timer or bytes +40 Mb/s, after F of both +400 Mb/s, then +800. */
static void test_dcqcn_increase(void **state)
{
	struct cc_flow f;

	(void)state;
	begin(&f, "dcqcn", 40 * GBPS, 4 * US);
	cc_cnp(&f, 0);
	cc_cnp(&f, 0);
	cc_cnp(&f, 0); /* 5 Gb/s, target 10 */
	assert_rate(&f, 5);
	for (unsigned i = 0; i < 4; i++)
		cc_sent(&f, 10000000, 1);
	assert_rate(&f, 10 - 5. / 16);
	cc_sent(&f, 10000000, 1); /* the fifth: target 10.04 */
	assert_rate(&f, (9.6875 + 10.04) / 2);
	cc_timer(&f, 4 * 55 * US); /* four more: 10.2 */
	assert_rate(&f, 10.1515);
	cc_timer(&f, 5 * 55 * US); /* hyper, i = 1: 10.6 */
	assert_rate(&f, (10.1515 + 10.6) / 2);
	cc_sent(&f, 10000000, 275 * US); /* bytes 6, timer 5: i = 1 */
	cc_timer(&f, 6 * 55 * US);       /* 6 and 6: i = 2: 11.8 */
	assert_rate(&f, ((10.3757 + 11.0) / 2 + 11.8) / 2);
}

/* Cuts at intervals from the first CNP on, 1 ns behind alpha's steps. */
static void test_dcqcn_intervals(void **state)
{
	struct cc_flow f;

	(void)state;
	begin(&f, "dcqcn-hpcc", 25 * GBPS, 4 * US);
	cc_cnp(&f, 1000 * US);
	assert_rate(&f, 25);
	assert_int_equal(f.deadline, 1050 * US + 1);
	cc_cnp(&f, 1049 * US);
	cc_timer(&f, f.deadline);
	/* The second CNP counts: alpha 255/256 + 1/256 = 1. */
	assert_rate(&f, 12.5);
	assert_int_equal(f.deadline, 1105 * US + 1);
	cc_timer(&f, f.deadline); /* half way */
	assert_rate(&f, 18.75);
	cc_timer(&f, 1160 * US + 1); /* additive; the target stays the line rate */
	assert_rate(&f, 21.875);
	/* Steps at 1100 and 1150: (255/256)^2; at 1200 with the CNP that came at 1199. */
	cc_cnp(&f, 1199 * US);
	assert_int_equal(f.deadline, 1200 * US + 1);
	cc_timer(&f, f.deadline);
	assert_rate(&f, 21.875 * (1 - (0.992203 * 255 / 256 + 1. / 256) / 2));
	/* Another cut before an increase leaves the target: 21.875. Rate 11.0 -> 5.5 -> 13.7. */
	cc_cnp(&f, 1201 * US);
	cc_timer(&f, 1250 * US + 1);
	assert_rate(&f, 21.875 * (1 - 0.992233 / 2) * (1 - 0.992264 / 2));
	cc_timer(&f, 1305 * US + 1);
	assert_rate(&f, (21.875 + 21.875 * (1 - 0.992233 / 2) * (1 - 0.992264 / 2)) / 2);
}

/* One that is asked each microsecond and one that is asked at CNPs only are at the same rate. */
static void test_lazy(void **state)
{
	static const char *const names[] = {"dcqcn", "dcqcn-hpcc", "dcqcn-mlx5"};
	struct prng r = prng_start("test_cc");

	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		struct cc_flow eager, lazy;

		begin(&eager, names[n], 100 * GBPS, 8 * US);
		begin(&lazy, names[n], 100 * GBPS, 8 * US);
		for (uint64_t t = 1; t < 20000; t++) {
			cc_timer(&eager, t * US);
			if (prng_below(&r, 400))
				continue;
			cc_cnp(&eager, t * US);
			cc_cnp(&lazy, t * US);
			assert_int_equal(eager.rate, lazy.rate);
			assert_int_equal(eager.s.dcqcn.alpha, lazy.s.dcqcn.alpha);
			assert_int_equal(eager.deadline, lazy.deadline);
		}
		/* And without CNPs both are at line rate again. */
		cc_timer(&lazy, 1000000 * US);
		cc_timer(&eager, 1000000 * US);
		assert_int_equal(lazy.rate, 100 * GBPS);
		assert_int_equal(eager.rate, lazy.rate);
		assert_true(lazy.deadline == CC_NEVER);
	}
}

/* 100 Gb/s x 10 us = 125 packets, of which a window has 100; the target is 20 us. */
static void test_swift(void **state)
{
	struct cc_ack a = {.rtt = 40 * US, .packets = 1};
	struct cc_flow f;

	(void)state;
	begin(&f, "swift", 100 * GBPS, 10 * US);
	assert_int_equal(f.window, 100000);
	cc_ack(&f, &a, 100 * US); /* 1 - 0.8 x 20/40 */
	assert_in_range(f.window, 59998, 60000);
	cc_ack(&f, &a, 101 * US); /* once each round trip */
	assert_in_range(f.window, 59998, 60000);
	a.rtt = 10 * US;
	for (unsigned i = 0; i < 60; i++)
		cc_ack(&f, &a, 102 * US);
	assert_in_range(f.window, 60980, 61000);
	/*
	 * Below one packet it paces: 0.1 packets of 8000 bits in a round trip of 1 ms are 0.8
	 * Mb/s.
	 */
	a.rtt = 1000 * US;
	for (unsigned i = 1; i < 20; i++)
		cc_ack(&f, &a, i * 10000 * US);
	assert_int_equal(f.window, 1000);
	assert_in_range(f.rate, 790000, 810000);
}

static void test_timely(void **state)
{
	struct cc_ack a = {.rtt = 60 * US, .through = 1, .sent = 10};
	struct cc_flow f;

	(void)state;
	begin(&f, "timely", 10 * GBPS, 10 * US);
	cc_ack(&f, &a, 0);
	a.rtt = 70 * US;
	a.through = 10;
	cc_ack(&f, &a, 0); /* the round trip is not over */
	assert_rate(&f, 10);
	a.through = 11;
	a.sent = 20;
	cc_ack(&f, &a, 0); /* gradient 0.875 x 10/20: 1 - 0.8 x 0.4375 */
	assert_rate(&f, 6.5);
	a.rtt = 40 * US;
	for (unsigned i = 0; i < 6; i++) {
		a.through = a.sent + 1;
		a.sent += 10;
		cc_ack(&f, &a, 0);
	}
	assert_rate(&f, 6.5 + 5 * 0.01 + 0.05);
	a.rtt = 1000 * US;
	a.through = a.sent + 1;
	cc_ack(&f, &a, 0); /* 1 - 0.8 (1 - 500/1000) */
	assert_rate(&f, 6.6 * 0.6);
}

/* All of a round trip marked: alpha stays 1, the window is halved. None: 15/16, one packet more. */
static void test_dctcp(void **state)
{
	struct cc_ack a = {.packets = 125, .marked = 125, .through = 125, .sent = 125};
	struct cc_flow f;

	(void)state;
	begin(&f, "dctcp", 100 * GBPS, 10 * US);
	assert_int_equal(f.window, 125000);
	cc_ack(&f, &a, 0);
	assert_int_equal(f.window, 62500);
	a = (struct cc_ack){.packets = 62, .through = 187, .sent = 187};
	cc_ack(&f, &a, 0);
	assert_int_equal(f.window, 63500);
	/* Half marked: 15/16 x 15/16 + 1/16 x 1/2 = 0.910156; 63.5 (1 - 0.455078) = 34.602. */
	a = (struct cc_ack){.packets = 62, .marked = 31, .through = 250, .sent = 250};
	cc_ack(&f, &a, 0);
	assert_in_range(f.window, 34600, 34604);
	cc_loss(&f, 0);
	assert_in_range(f.window, 17300, 17302);
}

static void test_window(void **state)
{
	struct cc_flow f;

	(void)state;
	begin(&f, "window", 100 * GBPS, 10 * US);
	assert_int_equal(f.window, 125000);
	assert_rate(&f, 100);
	begin(&f, "dcqcn", 100 * GBPS, 10 * US);
	set("window", 1);
	cc_start(&f, &settings, 0);
	assert_int_equal(f.window, 125000);
	cc_cnp(&f, 0);
	assert_int_equal(f.window, 62500);
}

/* Each control has its name, help and parameters within their limits. */
static void test_list(void **state)
{
	unsigned n = 0;

	(void)state;
	for (; cc_at(n); n++) {
		const struct cc_param *p = cc_at(n)->params;

		assert_true(cc_at(n)->help[0]);
		for (unsigned i = 0; p && p[i].name; i++) {
			assert_in_range(i, 0, CC_PARAMS_MAX - 1);
			assert_in_range(p[i].usual, p[i].min, p[i].max);
		}
	}
	assert_int_equal(n, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dcqcn),
		cmocka_unit_test(test_dcqcn_increase),
		cmocka_unit_test(test_dcqcn_intervals),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_swift),
		cmocka_unit_test(test_timely),
		cmocka_unit_test(test_dctcp),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
