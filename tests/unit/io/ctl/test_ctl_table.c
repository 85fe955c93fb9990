/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables for uhcactl: every kind of object is in its table with the client it belongs to,
 * every row has every column, and numbers are the core's.
 */
#include "emu/abi/ctl.h"
#include "emu/io/ctl/ctl_table.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_test_client c;
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 2);
	io_test_hello(&f.c, &f.t.d, "uhca1");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_test_disconnect(&f->c);
	io_test_daemon_end(&f->t);
	return 0;
}

/* Every row as long as there are columns. Returns the number of rows. */
static size_t check_shape(const json_t *table)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);
	const json_t *rows = json_object_get(table, UHCA_CTL_ROWS);

	assert_true(json_is_array(columns) && json_is_array(rows));
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *c = json_array_get(columns, i);

		assert_true(json_is_string(json_object_get(c, UHCA_CTL_NAME)));
		assert_true(json_is_boolean(json_object_get(c, UHCA_CTL_HEX)));
	}
	for (size_t i = 0; i < json_array_size(rows); i++)
		assert_int_equal(json_array_size(json_array_get(rows, i)),
				 json_array_size(columns));
	return json_array_size(rows);
}

/* Value in a row's column; NULL when there is no such column. */
static const json_t *value(const json_t *table, size_t row, const char *name)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);

	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *n = json_object_get(json_array_get(columns, i), UHCA_CTL_NAME);

		if (strcmp(json_string_value(n), name) == 0)
			return json_array_get(
				json_array_get(json_object_get(table, UHCA_CTL_ROWS), row), i);
	}
	return NULL;
}

static json_t *table_of(struct fixture *f, const char *what, size_t rows)
{
	struct io_ctl_table *t = io_ctl_table_begin(&f->t.d.ctl.services, what);
	json_t *table;
	size_t length;
	char *text;

	assert_non_null(t);
	while (io_ctl_table_add(t))
		;
	text = io_ctl_table_end(t, "", "", &length);
	io_ctl_table_free(t);
	assert_non_null(text);
	table = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_non_null(table);
	assert_int_equal(check_shape(table), rows);
	return table;
}

/* The names of all columns, in their order. */
static void check_columns(const json_t *table, const char *names)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);
	char all[1024] = "";

	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *n = json_object_get(json_array_get(columns, i), UHCA_CTL_NAME);

		strcat(all, i ? " " : "");
		strcat(all, json_string_value(n));
	}
	assert_string_equal(all, names);
}

static void test_empty(void **state)
{
	static const char *const kinds[] = {"pd", "mr", "cq", "qp", "srq", "ah"};

	for (unsigned i = 0; i < 6; i++)
		json_decref(table_of(*state, kinds[i], 0));
	assert_null(io_ctl_table_begin(&((struct fixture *)*state)->t.d.ctl.services, "nothing"));
}

static void make_objects(struct fixture *f)
{
	struct uhca_cmd_create_cq cq = {.cqe = 4};
	struct uhca_cmd_create_qp qp = {.max_send_wr = 1, .max_recv_wr = 1};
	struct uhca_cmd_create_cq_reply reply;

	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_ALLOC_PD, 0, &qp.pd), 0);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq)), 0);
	memcpy(&reply, &f->c.reply, sizeof(reply));
	qp.send_cq = qp.recv_cq = reply.handle;
	qp.qp_type = IBV_QPT_UD;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp)), 0);
	qp.qp_type = IBV_QPT_RC;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp)), 0);
}

static void test_objects(void **state)
{
	struct fixture *f = *state;
	json_t *table;

	make_objects(f);
	json_decref(table_of(f, "pd", 1));
	json_decref(table_of(f, "cq", 1));
	table = table_of(f, "qp", 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(json_string_value(value(table, i, "device")), "uhca1");
		assert_int_equal(json_integer_value(value(table, i, "client")),
				 f->t.d.clients.at[0]->id);
		assert_string_equal(json_string_value(value(table, i, "state")), "RESET");
	}
	json_decref(table);
}

/* Which columns uhcactl prints as hexadecimal numbers. */
static bool is_hex(const json_t *table, const char *name)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);

	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *c = json_array_get(columns, i);

		if (strcmp(json_string_value(json_object_get(c, UHCA_CTL_NAME)), name) == 0)
			return json_is_true(json_object_get(c, UHCA_CTL_HEX));
	}
	fail_msg("no column %s", name);
	return false;
}

static void test_hexadecimal(void **state)
{
	struct fixture *f = *state;
	json_t *table;

	make_objects(f);
	table = table_of(f, "qp", 2);
	assert_true(is_hex(table, "qpn"));
	assert_false(is_hex(table, "client"));
	assert_false(is_hex(table, "state"));
	json_decref(table);
}

static void test_devices(void **state)
{
	struct fixture *f = *state;
	char text[IO_ADDRESS_TEXT];
	json_t *table;

	make_objects(f);
	table = table_of(f, "device", 2);
	check_columns(table,
		      "device node_guid addresses netdev wire sandbox rcvbuf window clients "
		      "pd mr cq qp srq ah mw xrcd dm wq rwq_ind_table flow comp_cntr longest_turn");
	assert_string_equal(json_string_value(value(table, 1, "device")), "uhca1");
	assert_string_equal(json_string_value(value(table, 0, "netdev")), "lo");
	assert_string_equal(json_string_value(value(table, 0, "device")), "uhca0");
	io_address_format(io_test_address(2).gid, text);
	assert_string_equal(json_string_value(value(table, 1, "addresses")), text);
	assert_string_equal(json_string_value(value(table, 1, "wire")), "udp");
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)f->t.d.ports[1].dev.id.guid);
	assert_string_equal(json_string_value(value(table, 1, "node_guid")), text);
	assert_int_equal(json_integer_value(value(table, 1, "window")),
			 f->t.d.ports[1].dev.config.window_bytes);
	assert_int_equal(json_integer_value(value(table, 1, "rcvbuf")), f->t.d.ports[1].udp.rcvbuf);
	assert_int_equal(json_integer_value(value(table, 0, "clients")), 0);
	assert_int_equal(json_integer_value(value(table, 1, "clients")), 1);
	assert_int_equal(json_integer_value(value(table, 1, "qp")), 2);
	json_decref(table);
}

static void test_clients(void **state)
{
	struct fixture *f = *state;
	struct io_test_client silent;
	json_t *table;

	io_test_connect(&silent, &f->t.d); /* has not said HELLO: is nobody yet */
	io_test_loop_pass(f->t.d.loop);
	table = table_of(f, "client", 1);
	check_columns(table, "client device pid uid program memory channels held_bytes");
	assert_int_equal(json_integer_value(value(table, 0, "client")), f->t.d.clients.at[0]->id);
	assert_string_equal(json_string_value(value(table, 0, "device")), "uhca1");
	assert_int_equal(json_integer_value(value(table, 0, "uid")), geteuid());
	assert_int_equal(json_integer_value(value(table, 0, "channels")), 0);
	assert_int_equal(json_integer_value(value(table, 0, "held_bytes")), 0);
	assert_string_equal(json_string_value(value(table, 0, "program")), "test");
	assert_int_equal(json_integer_value(value(table, 0, "pid")), getpid());
	assert_string_equal(json_string_value(value(table, 0, "memory")), "process_vm+proc_mem");
	json_decref(table);
	io_test_disconnect(&silent);
}

/* Each counter of the core under its own name. */
static void test_core_counters(void **state)
{
	static const char *const name[] = {"naks_sent",
					   "naks_received",
					   "rnr_sent",
					   "rnr_received",
					   NULL,
					   "timeouts",
					   "retransmits",
					   "duplicates",
					   "completions",
					   "errors",
					   "link_downed",
					   "rp_cnp_handled",
					   "np_ecn_marked_roce_packets",
					   "np_cnp_sent",
					   "out_of_sequence"};
	struct fixture *f = *state;
	struct core_counters *n = (void *)(uintptr_t)core_counters(f->t.d.ports[0].dev.core);
	const struct core_counters before = *n;
	json_t *table;

	*n = (struct core_counters){.tx_packets = 101,
				    .tx_bytes = 102,
				    .rx_packets = 103,
				    .rx_bytes = 104,
				    .naks_sent = 1,
				    .naks_received = 2,
				    .rnr_sent = 3,
				    .rnr_received = 4,
				    .cnps_received = 50,
				    .cnps_handled = 12,
				    .ecn_marked = 13,
				    .cnps_sent = 14,
				    .sequence_errors = 15,
				    .timeouts = 6,
				    .retransmits = 7,
				    .duplicates = 8,
				    .completions = 9,
				    .errors = 10,
				    .link_downed = 11};
	table = io_ctl_counters(&f->t.d.ctl.services);
	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (name[i])
			assert_int_equal(json_integer_value(value(table, 0, name[i])), i + 1);
	assert_int_equal(json_integer_value(value(table, 0, "cnps_received")), 50);
	assert_int_equal(json_integer_value(value(table, 0, "rp_cnp_ignored")), 38);
	assert_int_equal(json_integer_value(value(table, 0, "tx_packets")), 101);
	assert_int_equal(json_integer_value(value(table, 0, "tx_bytes")), 102);
	assert_int_equal(json_integer_value(value(table, 0, "rx_packets")), 103);
	assert_int_equal(json_integer_value(value(table, 0, "rx_bytes")), 104);
	json_decref(table);
	*n = before;
}

/* An id of rdma_cm before it is bound, and one that listens. */
static void test_cm_ids(void **state)
{
	struct fixture *f = *state;
	struct rdma_ucm_create_id create = {.uid = 1, .ps = RDMA_PS_TCP};
	struct rdma_ucm_create_id_resp id[2];
	struct rdma_ucm_bind_ip bind = {0};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(7471)};
	struct rdma_ucm_listen listen = {.backlog = 1};
	char source[IO_ADDRESS_TEXT + 8];
	struct ucma_client c;
	json_t *table;

	ucma_client_open(&c, &f->t.d);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_CREATE_ID, &create,
						  sizeof(create), -1),
				 0);
		memcpy(&id[i], c.reply.response, sizeof(id[i]));
	}
	memcpy(&v4.sin_addr, f->t.d.ports[1].dev.id.addresses.a[0].gid + 12, 4);
	memcpy(&bind.addr, &v4, sizeof(v4));
	bind.id = listen.id = id[1].id;
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_BIND_IP, &bind, sizeof(bind), -1),
			 0);
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_LISTEN, &listen, sizeof(listen), -1),
			 0);
	io_address_format(f->t.d.ports[1].dev.id.addresses.a[0].gid, source);
	strcat(source, ":7471");
	table = table_of(f, "cm_id", 2);
	check_columns(
		table,
		"id device space state port source destination pid step qpn unread event room");
	assert_int_equal(json_integer_value(value(table, 1, "id")), id[1].id);
	assert_string_equal(json_string_value(value(table, 1, "device")), "uhca1");
	assert_string_equal(json_string_value(value(table, 1, "space")), "tcp");
	assert_string_equal(json_string_value(value(table, 1, "state")), "listening");
	assert_int_equal(json_integer_value(value(table, 1, "port")), 7471);
	assert_string_equal(json_string_value(value(table, 1, "source")), source);
	assert_string_equal(json_string_value(value(table, 1, "destination")), "none");
	assert_true(json_is_null(value(table, 0, "device")));
	assert_string_equal(json_string_value(value(table, 0, "state")), "idle");
	assert_string_equal(json_string_value(value(table, 0, "source")), "none");
	json_decref(table);
	ucma_client_close(&c);
}

static void read_clients(struct io_ctl_table *t, bool *seen, unsigned n)
{
	size_t length;
	char *text = io_ctl_table_end(t, "", "", &length);
	json_t *table = json_loadb(text, length, 0, NULL);

	free(text);
	io_ctl_table_free(t);
	for (size_t row = 0; row < check_shape(table); row++) {
		json_int_t id = json_integer_value(value(table, row, "client"));

		assert_in_range(id, 1, n);
		assert_false(seen[id]);
		seen[id] = true;
	}
	json_decref(table);
}

/* Between two parts others leave: nobody is there twice, and who stays is there. */
static void test_clients_in_parts(void **state)
{
	struct fixture *f = *state;
	static struct io_test_client c[60];
	bool seen[62] = {false};
	struct io_ctl_table *t;
	unsigned parts = 0, gone = 0;

	for (unsigned i = 0; i < 60; i++)
		io_test_hello(&c[i], &f->t.d, "uhca0");
	t = io_ctl_table_begin(&f->t.d.ctl.services, "client");
	for (; io_ctl_table_add(t); parts++)
		if (gone < 5)
			io_test_disconnect(&c[gone++]);
	assert_true(parts >= 60 / 8);
	read_clients(t, seen, 61);
	for (unsigned id = gone + 2; id <= 61; id++)
		assert_true(seen[id]);
	while (gone < 60)
		io_test_disconnect(&c[gone++]);
}

/* A part is some rows: however many objects there are, none takes long. */
static void test_objects_in_parts(void **state)
{
	struct fixture *f = *state;
	struct io_ctl_table *t = io_ctl_table_begin(&f->t.d.ctl.services, "pd");
	unsigned parts = 1;
	json_t *table;

	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(io_test_handle(&f->c, UHCA_CMD_ALLOC_PD, 0, NULL), 0);
	while (io_ctl_table_add(t))
		parts++;
	io_ctl_table_free(t);
	assert_true(parts >= 100 / 8);
	table = table_of(f, "pd", 100);
	json_decref(table);
}

static void test_counters(void **state)
{
	struct fixture *f = *state;
	json_t *table = io_ctl_counters(&f->t.d.ctl.services);

	assert_int_equal(check_shape(table), 2);
	assert_int_equal(json_integer_value(value(table, 1, "tx_packets")), 0);
	assert_non_null(value(table, 0, "drop_no_qp"));
	assert_non_null(value(table, 0, "udp_rx_bad_icrc"));
	json_decref(table);
	f->t.d.ports[1].udp.rx.counters.bad_icrc = 12;
	table = io_ctl_counters(&f->t.d.ctl.services);
	assert_int_equal(json_integer_value(value(table, 1, "udp_rx_bad_icrc")), 12);
	assert_int_equal(json_integer_value(value(table, 1, "bad_icrc")), 12);
	json_decref(table);
	f->t.d.ports[1].dev.bad_icrc = 3; /* those that came by no wire */
	table = io_ctl_counters(&f->t.d.ctl.services);
	assert_int_equal(json_integer_value(value(table, 1, "bad_icrc")), 15);
	json_decref(table);
}

/* Those of the wire and of the rules. */
static void test_other_counters(void **state)
{
	static const char *const name[] = {"loopback_packets", "no_route",      "udp_tx_packets",
					   "udp_tx_errors",    "udp_tx_full",   "udp_rx_packets",
					   "udp_rx_buffers",   "udp_rx_bursts", "udp_rx_malformed",
					   "udp_rx_overflow",  "fault_dropped", "fault_malformed",
					   "fault_copies",     "fault_made",    "fault_overflowed",
					   "fault_full",       "fault_unfit"};
	struct fixture *f = *state;
	struct io_port *p = &f->t.d.ports[1];
	struct fault_net_counters *n = (void *)(uintptr_t)fault_net_counters(p->fault.net);
	json_t *table;

	p->loopback.delivered = 1;
	p->loopback.no_route = 2;
	p->udp.counters = (struct io_udp_counters){.tx_packets = 3, .tx_errors = 4, .tx_full = 5};
	p->udp.rx.counters = (struct io_udp_rx_counters){
		.packets = 6, .buffers = 7, .bursts = 8, .malformed = 9, .overflow = 10};
	*n = (struct fault_net_counters){.dropped = 11,
					 .malformed = 12,
					 .copies = 13,
					 .made = 14,
					 .overflowed = 15,
					 .full = 16,
					 .unfit = 17};
	table = io_ctl_counters(&f->t.d.ctl.services);
	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_int_equal(json_integer_value(value(table, 1, name[i])), i + 1);
	json_decref(table);
	*n = (struct fault_net_counters){0};
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_objects),
		TEST(test_hexadecimal),
		TEST(test_devices),
		TEST(test_clients),
		TEST(test_clients_in_parts),
		TEST(test_objects_in_parts),
		TEST(test_counters),
		TEST(test_core_counters),
		TEST(test_cm_ids),
		TEST(test_other_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
