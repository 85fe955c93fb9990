/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of uhcad: each option does what its text says, bad values are refused with a
 * line that names option and value.
 */
#include "emu/conf.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct conf c;
static char error[1024];

/* Words separated by spaces, as after "uhcad". */
static int parse(const char *words)
{
	static char text[2048];
	char *argv[64] = {(char *)(uintptr_t) "uhcad"};
	int argc = 1;
	char *save;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	error[0] = '\0';
	return conf_parse(&c, argc, argv, error, sizeof(error));
}

static void test_defaults(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	assert_int_equal(c.io.devices, 1);
	assert_int_equal(c.io.addresses[0].count, 0);
	assert_string_equal(c.io.netdev, "");
	assert_int_equal(c.io.wire, IO_WIRE_AUTO);
	assert_int_equal(c.io.idle_timeout, 0);
	assert_int_equal(c.io.ready_fd, -1);
	assert_int_equal(c.io.mem, IO_MEM_AUTO);
	assert_int_equal(c.io.pin, UHCA_ABI_PIN_SAFE);
	assert_true(c.io.gso);
	assert_int_equal(c.io.icrc, IO_ICRC_LENIENT);
	assert_int_equal(c.log_level, IO_LOG_INFO);
	assert_int_equal(c.log_target, IO_LOG_FILE);
	assert_string_equal(c.log_file, "");
	assert_non_null(strstr(c.io.dir, "/default"));
	assert_false(c.about.help || c.about.version);
}

static void test_profile_and_limits(void **state)
{
	struct core_config cfg;

	(void)state;
	assert_int_equal(parse("--limit max_qp=7 --profile minimal --limit=max_mr_size=0x1000"), 0);
	assert_string_equal(core_profile_name(c.io.profile), "minimal");
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_false(cfg.local_inv_early);
	assert_int_equal(cfg.limits.max_qp, 7); /* after the profile, wherever it stands */
	assert_int_equal(cfg.limits.max_mr_size, 0x1000);
	assert_int_equal(cfg.limits.max_sge, 1);
	assert_int_equal(parse("--early-local-inv"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_true(cfg.local_inv_early);
	assert_false(cfg.strict_arming);
	assert_int_equal(parse("--strict-arming"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_true(cfg.strict_arming);
	assert_false(cfg.strict_order);
	assert_int_equal(parse("--strict-order"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_true(cfg.strict_order);
	assert_false(cfg.strict_arming);
	assert_int_not_equal(cfg.gather_limit, 0);
	assert_int_equal(parse("--strict-memory"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_int_equal(cfg.gather_limit, 0);
	assert_false(cfg.strict_order);
	assert_false(cfg.late_bytes_ns || cfg.late_writes || cfg.any_srq_order || cfg.lazy_acks);
	assert_false(cfg.any_grh || cfg.same_qp_numbers);
	assert_int_equal(parse("--any-grh --same-qp-numbers"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_true(cfg.any_grh && cfg.same_qp_numbers);
	assert_int_equal(parse("--late-bytes 7 --any-srq-order"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_int_equal(cfg.late_bytes_ns, 7000);
	assert_true(cfg.any_srq_order);
	assert_false(cfg.late_writes);
	assert_int_equal(parse("--late-writes 9 --late-bytes 7 --lazy-acks 3"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_int_equal(cfg.late_bytes_ns, 9000);
	assert_true(cfg.late_writes && cfg.lazy_acks);
	assert_int_equal(cfg.ack_delay_ns, 3000);
	assert_int_equal(parse("--profile ib-strict"), 0);
	assert_int_equal(io_settings_config(&c.io, &cfg), 0);
	assert_int_equal(cfg.gather_limit, 0);
	assert_true(cfg.strict_arming);
	assert_true(cfg.strict_order);
	assert_int_equal(parse("--profile huge"), -EINVAL);
	assert_string_equal(error, "--profile: unknown profile 'huge'; known: default, "
				   "ib-strict, iwarp-like, minimal, 2a, large, cx5, cx7, e810, "
				   "bnxt, efa, rxe, siw, mana");
	assert_int_equal(parse("--profile minimum"), -EINVAL);
	assert_non_null(strstr(error, "'minimum': did you mean 'minimal'? Known: default,"));
	assert_int_equal(parse("--limit max_qps=1"), -EINVAL);
	assert_non_null(strstr(error, "--limit: unknown limit 'max_qps': did you mean "));
	assert_non_null(strstr(error, "? Known: max_"));
	assert_int_equal(parse("--limit max_qp"), -EINVAL);
	assert_string_equal(error, "--limit: 'max_qp' is not of the form NAME=N");
	assert_int_equal(parse("--limit max_qp=-1"), -EINVAL);
	assert_string_equal(error, "--limit: 'max_qp=-1' is not of the form NAME=N");
	assert_int_equal(parse("--limit max_qp=0"), -EINVAL);
	assert_string_equal(error, "--limit: max_qp=0 is not in the range 1 to 1048576");
}

static void test_congestion_control(void **state)
{
	const struct core_congestion *cc = &c.io.congestion;

	(void)state;
	assert_int_equal(parse(""), 0);
	assert_null(cc->control.ops);
	assert_int_equal(parse("--cc off"), 0);
	assert_null(cc->control.ops);
	assert_int_equal(parse("--cc dcqcn"), 0);
	assert_string_equal(cc->control.ops->name, "dcqcn");
	assert_int_equal(cc->cnp_interval, 50000);
	assert_int_equal(cc->base_rtt, 50000);
	assert_int_equal(cc->cnp_dscp, 48);
	assert_int_equal(cc->scale, 1);
	assert_int_equal(parse("--cc window:factor=2,base-rtt=8us,cnp-interval=4us,cnp-dscp=46"),
			 0);
	assert_string_equal(cc->control.ops->name, "window");
	assert_int_equal(cc->control.value[0], 2 * CC_RATIO_ONE);
	assert_int_equal(cc->base_rtt, 8000);
	assert_int_equal(cc->cnp_interval, 4000);
	assert_int_equal(cc->cnp_dscp, 46);
}

static void test_each_option(void **state)
{
	(void)state;
	assert_int_equal(parse("--dir /x/y --devices 7 --netdev eth9 --wire --idle-timeout 30 "
			       "--ready-fd 5 --log-level debug --mem proc_mem --gso off "
			       "--icrc strict"),
			 0);
	assert_string_equal(c.io.dir, "/x/y");
	assert_int_equal(c.io.devices, 7);
	assert_string_equal(c.io.netdev, "eth9");
	assert_int_equal(c.io.wire, IO_WIRE_ALWAYS);
	assert_int_equal(c.io.idle_timeout, 30);
	assert_int_equal(c.io.ready_fd, 5);
	assert_int_equal(c.log_level, IO_LOG_DEBUG);
	assert_int_equal(c.io.mem, IO_MEM_PROC_MEM);
	assert_false(c.io.gso);
	assert_int_equal(c.io.icrc, IO_ICRC_STRICT);
	assert_int_equal(parse("--linger 31"), 0);
	assert_int_equal(c.io.idle_timeout, 31);
	assert_int_equal(parse("--mem=process_vm --gso=on --icrc=off --no-wire"), 0);
	assert_int_equal(c.io.mem, IO_MEM_PROCESS_VM);
	assert_true(c.io.gso);
	assert_int_equal(c.io.icrc, IO_ICRC_OFF);
	assert_int_equal(c.io.wire, IO_WIRE_NEVER);
}

static void test_log_targets(void **state)
{
	(void)state;
	assert_int_equal(parse("--syslog"), 0);
	assert_int_equal(c.log_target, IO_LOG_SYSLOG);
	assert_int_equal(parse("--stderr"), 0);
	assert_int_equal(c.log_target, IO_LOG_STDERR);
	assert_int_equal(parse("--stderr --log-file /a/b"), 0);
	assert_int_equal(c.log_target, IO_LOG_FILE);
	assert_string_equal(c.log_file, "/a/b");
}

static void test_addresses(void **state)
{
	char text[IO_ADDRESS_TEXT];

	(void)state;
	assert_int_equal(parse("--addr 127.0.0.5,2001:db8::1 --addr=127.0.0.6"), 0);
	assert_int_equal(c.io.devices, 2);
	assert_int_equal(c.io.addresses[0].count, 2);
	assert_int_equal(c.io.addresses[1].count, 1);
	assert_string_equal(io_address_format(c.io.addresses[0].a[1].gid, text), "2001:db8::1");
	assert_string_equal(io_address_format(c.io.addresses[1].a[0].gid, text), "127.0.0.6");
	assert_int_equal(parse("--devices 3 --addr 127.0.0.5"), 0);
	assert_int_equal(c.io.devices, 3);
	assert_int_equal(c.io.addresses[1].count, 0);
}

static void test_help_and_version(void **state)
{
	(void)state;
	assert_int_equal(parse("--help"), 0);
	assert_true(c.about.help && !c.about.man);
	assert_int_equal(parse("--help=man"), 0);
	assert_true(c.about.help && c.about.man);
	assert_int_equal(parse("--version"), 0);
	assert_true(c.about.version);
}

static void refused(const char *words, const char *message)
{
	assert_int_equal(parse(words), -EINVAL);
	assert_string_equal(error, message);
}

/* Rules and settings; a seed by chance where none is named. */
static void test_chaos(void **state)
{
	(void)state;
	assert_int_equal(parse("--fault drop --chaos=7,two-keys,late-payload"), 0);
	assert_string_equal(c.chaos, "7,two-keys,late-payload");
	assert_int_equal(c.io.n_faults, 2);
	assert_int_equal(strncmp(c.io.faults[1].text, "two-keys: key.split ", 20), 0);
	assert_true(c.io.has_fault_seed);
	assert_int_equal(c.io.fault_seed, 7);
	assert_true(c.io.strict_memory);
	assert_false(c.io.strict_order || c.io.strict_arming || c.io.early_local_inv);
	assert_int_equal(parse("--chaos=1,strict-order,strict-arming,early-local-inv"), 0);
	assert_true(c.io.strict_order && c.io.strict_arming && c.io.early_local_inv);
	assert_int_equal(parse("--chaos=1,late-writes,any-srq-order,lazy-acks"), 0);
	assert_in_range(c.io.late_writes, 100, 5000);
	assert_in_range(c.io.lazy_acks, 100, 3000);
	assert_true(c.io.any_srq_order);
	assert_int_equal(parse("--chaos=2,late-bytes"), 0);
	assert_in_range(c.io.late_bytes, 20, 2000);
	for (unsigned seed = 0; seed < 20; seed++) {
		char option[32];

		snprintf(option, sizeof(option), "--chaos=%u", seed);
		assert_int_equal(parse(option), 0);
	}
	assert_int_equal(parse("--chaos"), 0);
	assert_true(c.chaos[0] >= '0' && c.chaos[0] <= '9');
	assert_int_equal(parse("--chaos=none"), 0);
	assert_int_equal(c.io.n_faults, 0);
	refused("--chaos=1 --chaos=2", "--chaos: given twice");
	refused("--chaos=two-kees",
		"--chaos: unknown relaxation 'two-kees': did you mean 'two-keys'?");
}

static void test_refusals(void **state)
{
	(void)state;
	refused("--wire --no-wire", "--no-wire: --wire and --no-wire exclude each other");
	refused("--addr 127.0.0.5 --addr 127.0.0.6,127.0.0.5",
		"--addr: '127.0.0.5' is given twice");
	refused("--on-error /dev", "--on-error: /dev is not a regular file");
	refused("--on-error /dev/null/x", "--on-error: /dev/null: Not a directory");
	refused("--devices 0", "--devices: '0' is not a number from 1 to 64");
	refused("--devices 65", "--devices: '65' is not a number from 1 to 64");
	refused("--devices=1x", "--devices: '1x' is not a number from 1 to 64");
	refused("--devices=", "--devices: '' is not a number from 1 to 64");
	refused("--idle-timeout -1", "--idle-timeout: '-1' is not a number from 0 to 86400");
	refused("--idle-timeout 99999999999999999999",
		"--idle-timeout: '99999999999999999999' is not a number from 0 to 86400");
	refused("--mem both", "--mem: unknown value 'both'; known: auto, process_vm, proc_mem");
	refused("--gso maybe", "--gso: unknown value 'maybe'; known: off, on");
	refused("--icrc 1", "--icrc: unknown value '1'; known: strict, lenient, off");
	refused("--cc dcqcn:g=2",
		"--cc: column 9: g: '2' is not in the range 1/4294967296 to 100%");
	refused("--log-level wran", "--log-level: unknown value 'wran': did you mean 'warn'? "
				    "Known: error, warn, info, debug");
	refused("--netdev averylonginterface", "--netdev: must have 1 to 15 characters");
	refused("--dir=", "--dir: must have 1 to 4095 characters");
	refused("--log-file=", "--log-file: must name a file");
	refused("--fault-file=", "--fault-file: must name a file");
	refused("--wire=yes", "--wire takes no argument");
	refused("--help=html", "--help: 'html' is not 'man'");
	refused("--devices", "--devices needs an argument (N)");
	refused("--frob", "unknown option --frob");
	refused("--frob=3", "unknown option --frob");
	refused("--devises 3", "unknown option --devises: did you mean '--devices'?");
	refused("--profole=2a", "unknown option --profole: did you mean '--profile'?");
	refused("-v", "unknown option -v");
	refused("word", "unknown option 'word'");
	refused("--", "unknown option '--'");
}

static void test_first_device(void **state)
{
	struct io_identity id;

	(void)state;
	assert_int_equal(parse("--devices 2 --first-device 62 --addr 127.0.0.5"), 0);
	assert_int_equal(io_identity_of(&c.io, 0, &id), 0);
	assert_string_equal(id.name, "uhca62");
	assert_int_equal(io_identity_of(&c.io, 1, &id), 0);
	assert_string_equal(id.name, "uhca63");
	assert_int_equal(parse("--devices 2"), 0);
	assert_int_equal(io_identity_of(&c.io, 1, &id), 0);
	assert_string_equal(id.name, "uhca1");
	refused("--devices 2 --first-device 63",
		"--first-device 63 with 2 devices: no device has a number above 63");
	refused("--first-device 64", "--first-device: '64' is not a number from 0 to 63");
}

/* As many devices as hosts, and hosts at 1 Gb/s, unless something else is said. */
static void test_fabric(void **state)
{
	(void)state;
	assert_int_equal(parse("--devices 3"), 0);
	assert_null(c.io.fabric);
	assert_int_equal(parse("--fabric leaf-spine"), 0);
	assert_int_equal(c.io.devices, 8);
	assert_int_equal(c.io.fabric_scale, 100);
	assert_string_equal(c.io.fabric_name, "leaf-spine");
	assert_int_equal(parse("--fabric one-switch:3,rate=400G --devices 2"), 0);
	assert_int_equal(c.io.devices, 2);
	assert_int_equal(c.io.fabric_scale, 400);
	assert_int_equal(parse("--fabric-scale 7 --fabric one-switch:3,rate=400M"), 0);
	assert_int_equal(c.io.fabric_scale, 7);
	refused("--fabric one-switch:2 --devices 3",
		"--fabric one-switch:2 has 2 hosts: there are 3 devices");
	refused("--fabric fat-tree:8", "--fabric fat-tree:8 has 128 hosts, and a daemon has at "
				       "most 64 devices: give --devices");
	refused("--fabric fat-tree:42 --devices 2",
		"--fabric fat-tree:42 has 18522 hosts, and a daemon takes at most 16384: uhca-sim "
		"simulates larger networks");
	refused("--fabric one-switch:2 --wire",
		"--wire sends packets around the network of --fabric");
	refused("--fabric one-switch:2,mtu=361",
		"--fabric one-switch:2,mtu=361 has a link that takes packets of 361 bytes: devices "
		"send 362 with an MTU of 256");
	assert_int_equal(parse("--fabric one-switch:2,mtu=362"), 0);
	refused("--fabric-scale 2", "--fabric-scale needs --fabric");
	refused("--fabric ./no.topo", "--fabric: ./no.topo: No such file or directory");
	refused("--fabric one-switch:hosts=0",
		"--fabric: one-switch:hosts=0: column 18: hosts: '0' is not in the range 1 to "
		"4096");
}

static void test_refused_addresses(void **state)
{
	char many[1024] = "--addr 127.0.0.1";

	(void)state;
	refused("--addr nowhere", "--addr: 'nowhere' is not a unicast IP address");
	refused("--addr ,", "--addr: no address");
	refused("--addr 127.0.0.1,0.0.0.0", "--addr: '0.0.0.0' is not a unicast IP address");
	refused("--addr fe80::1%nosuchif",
		"--addr: 'fe80::1%nosuchif' names an interface that does not exist");
	refused("--devices 1 --addr 127.0.0.1 --addr 127.0.0.2",
		"--addr is given 2 times, for 1 device");
	for (unsigned i = 2; i <= 16; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), ",127.0.0.%u", i);
	refused(many, "--addr: more than 15 addresses");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_profile_and_limits),
		cmocka_unit_test(test_each_option),
		cmocka_unit_test(test_congestion_control),
		cmocka_unit_test(test_log_targets),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_first_device),
		cmocka_unit_test(test_refused_addresses),
		cmocka_unit_test(test_chaos),
		cmocka_unit_test(test_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
