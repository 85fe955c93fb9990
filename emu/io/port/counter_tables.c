/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of counters: see counter_tables.h. */
#include "counter_tables.h"

#include "emu/core/core.h"
#include "emu/io/device/devices.h"
#include "emu/io/net/udp.h"

#include <string.h>

#define OF_(field)    offsetof(struct core_counters, field), NULL
#define BY_(function) 0, function

static uint64_t words_out(const struct io_counter_source *s)
{
	return s->core->tx_bytes / 4;
}

static uint64_t words_in(const struct io_counter_source *s)
{
	return s->core->rx_bytes / 4;
}

static uint64_t discards(const struct io_counter_source *s)
{
	return s->udp->counters.tx_errors + s->no_route;
}

static uint64_t bad(const struct io_counter_source *s)
{
	return s->bad;
}

static uint64_t dropped(const struct io_counter_source *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
		sum += s->core->drops[i];
	return sum;
}

static uint64_t overflow(const struct io_counter_source *s)
{
	return s->udp->rx.counters.overflow;
}

static uint64_t out_of_buffer(const struct io_counter_source *s)
{
	return s->core->rnr_sent + s->core->drops[CORE_DROP_NO_RECV];
}

static uint64_t cnps_ignored(const struct io_counter_source *s)
{
	return s->core->cnps_received - s->core->cnps_handled;
}

static uint64_t never(const struct io_counter_source *s)
{
	(void)s;
	return 0;
}

/* Linux, include/rdma/ib_verbs.h: RDMA_HW_STATS_DEFAULT_LIFESPAN, milliseconds. */
static uint64_t lifespan(const struct io_counter_source *s)
{
	(void)s;
	return 10;
}

/* How many there are now. */
#define NOW_(name, type)                                                                           \
	static uint64_t name(const struct io_counter_source *s)                                    \
	{                                                                                          \
		return core_object_count(s->device, CORE_OBJECT_##type);                           \
	}
NOW_(pds, PD)
NOW_(ahs, AH)
NOW_(qps, QP)
NOW_(srqs, SRQ)
NOW_(cqs, CQ)
NOW_(mrs, MR)
NOW_(mws, MW)

#define PORT_COUNTERS_                                                                             \
	{"counters/port_xmit_data", BY_(words_out)}, /* units of four bytes of payload */          \
		{"counters/port_rcv_data", BY_(words_in)},                                         \
		{"counters/port_xmit_packets", OF_(tx_packets)},                                   \
		{"counters/port_rcv_packets", OF_(rx_packets)},                                    \
		{"counters/port_xmit_discards", BY_(discards)},                                    \
		{"counters/port_rcv_errors", BY_(bad)},                                            \
	{                                                                                          \
		"counters/link_downed", OF_(link_downed)                                           \
	}

/* Congestion control, by mlx5's names: those of this device, too. */
#define CONGESTION_COUNTERS_                                                                       \
	{"hw_counters/out_of_sequence", OF_(sequence_errors)},                                     \
		{"hw_counters/packet_seq_err", OF_(sequence_naks)},                                \
		{"hw_counters/rp_cnp_ignored", BY_(cnps_ignored)},                                 \
		{"hw_counters/rp_cnp_handled", OF_(cnps_handled)},                                 \
		{"hw_counters/np_ecn_marked_roce_packets", OF_(ecn_marked)},                       \
	{                                                                                          \
		"hw_counters/np_cnp_sent", OF_(cnps_sent)                                          \
	}

#define LIFESPAN_                                                                                  \
	{                                                                                          \
		"hw_counters/lifespan", BY_(lifespan)                                              \
	}

static const struct io_counter own[] = {
	PORT_COUNTERS_,
	CONGESTION_COUNTERS_,
	{"hw_counters/sent_pkts", OF_(tx_packets)},
	{"hw_counters/rcvd_pkts", OF_(rx_packets)},
	{"hw_counters/duplicate_request", OF_(duplicates)},
	{"hw_counters/rcvd_rnr_err", OF_(rnr_received)},
	{"hw_counters/send_rnr_err", OF_(rnr_sent)},
	{"hw_counters/rcvd_nak", OF_(naks_received)},
	{"hw_counters/sent_nak", OF_(naks_sent)},
	{"hw_counters/local_ack_timeout_err", OF_(timeouts)},
	{"hw_counters/retransmits", OF_(retransmits)},
	{"hw_counters/completions", OF_(completions)},
	{"hw_counters/completion_errors", OF_(errors)},
	{"hw_counters/dropped_pkts", BY_(dropped)},
	{"hw_counters/bad_icrc", BY_(bad)},
	{"hw_counters/rx_overflow", BY_(overflow)},
};

/*
 * The names of mlx5 (Linux, drivers/infiniband/hw/mlx5/counters.c), and what moves them on a
 * ConnectX-6 (github.com/unionxic/rdma-fault-characterization, counter_mapping_findings.md): a
 * responder that sends a NAK counts no error, and a request that ibv_modify_qp flushes is no
 * req_cqe_flush_error. Those of adaptive retransmission and slow restart, which this device has
 * not, stay zero.
 */
static const struct io_counter mlx5[] = {
	PORT_COUNTERS_,
	LIFESPAN_,
	CONGESTION_COUNTERS_,
	{"hw_counters/rx_write_requests", OF_(write_requests)},
	{"hw_counters/rx_read_requests", OF_(read_requests)},
	{"hw_counters/rx_atomic_requests", OF_(atomic_requests)},
	{"hw_counters/out_of_buffer", BY_(out_of_buffer)},
	{"hw_counters/duplicate_request", OF_(duplicates)},
	{"hw_counters/rnr_nak_retry_err", OF_(rnr_received)},
	{"hw_counters/implied_nak_seq_err", OF_(implied_naks)},
	{"hw_counters/local_ack_timeout_err", OF_(timeouts)},
	{"hw_counters/resp_local_length_error", OF_(receive_lengths)},
	{"hw_counters/resp_cqe_error", OF_(receive_errors)},
	{"hw_counters/req_cqe_error", OF_(send_errors)},
	{"hw_counters/req_remote_invalid_request", OF_(invalid_request_naks)},
	{"hw_counters/req_remote_access_errors", OF_(access_naks)},
	{"hw_counters/resp_remote_access_errors", BY_(never)},
	{"hw_counters/resp_cqe_flush_error", OF_(receive_flushes)},
	{"hw_counters/req_cqe_flush_error", OF_(send_flushes)},
	{"hw_counters/req_transport_retries_exceeded", OF_(retries_exceeded)},
	{"hw_counters/req_rnr_retries_exceeded", OF_(rnr_exceeded)},
	{"hw_counters/roce_adp_retrans", BY_(never)},
	{"hw_counters/roce_adp_retrans_to", BY_(never)},
	{"hw_counters/roce_slow_restart", BY_(never)},
	{"hw_counters/roce_slow_restart_cnps", BY_(never)},
	{"hw_counters/roce_slow_restart_trans", BY_(never)},
	{"hw_counters/rx_icrc_encapsulated", BY_(bad)},
};

/*
 * The names of bnxt_re (Linux, drivers/infiniband/hw/bnxt_re/hw_counters.c, those of P5 chips).
 * What the responder finds wrong is one number here, and many there: those stay zero.
 */
static const struct io_counter bnxt[] = {
	PORT_COUNTERS_,
	LIFESPAN_,
	{"hw_counters/active_pds", BY_(pds)},
	{"hw_counters/active_ahs", BY_(ahs)},
	{"hw_counters/active_qps", BY_(qps)},
	{"hw_counters/active_srqs", BY_(srqs)},
	{"hw_counters/active_cqs", BY_(cqs)},
	{"hw_counters/active_mrs", BY_(mrs)},
	{"hw_counters/active_mws", BY_(mws)},
	{"hw_counters/rx_pkts", OF_(rx_packets)},
	{"hw_counters/rx_bytes", OF_(rx_bytes)},
	{"hw_counters/tx_pkts", OF_(tx_packets)},
	{"hw_counters/tx_bytes", OF_(tx_bytes)},
	{"hw_counters/recoverable_errors", BY_(never)},
	{"hw_counters/rx_roce_errors", BY_(bad)},
	{"hw_counters/rx_roce_discards", BY_(dropped)},
	{"hw_counters/to_retransmits", OF_(timeouts)},
	{"hw_counters/seq_err_naks_rcvd", OF_(sequence_naks)},
	{"hw_counters/max_retry_exceeded", OF_(retries_exceeded)},
	{"hw_counters/rnr_naks_rcvd", OF_(rnr_received)},
	{"hw_counters/missing_resp", OF_(implied_naks)},
	{"hw_counters/unrecoverable_err", BY_(never)},
	{"hw_counters/bad_resp_err", BY_(never)},
	{"hw_counters/local_qp_op_err", BY_(never)},
	{"hw_counters/local_protection_err", BY_(never)},
	{"hw_counters/mem_mgmt_op_err", BY_(never)},
	{"hw_counters/remote_invalid_req_err", OF_(invalid_request_naks)},
	{"hw_counters/remote_access_err", OF_(access_naks)},
	{"hw_counters/remote_op_err", BY_(never)},
	{"hw_counters/dup_req", OF_(duplicates)},
	{"hw_counters/res_exceed_max", BY_(never)},
	{"hw_counters/res_length_mismatch", BY_(never)},
	{"hw_counters/res_exceeds_wqe", OF_(receive_lengths)},
	{"hw_counters/res_opcode_err", BY_(never)},
	{"hw_counters/res_rx_invalid_rkey", BY_(never)},
	{"hw_counters/res_rx_domain_err", BY_(never)},
	{"hw_counters/res_rx_no_perm", BY_(never)},
	{"hw_counters/res_rx_range_err", BY_(never)},
	{"hw_counters/res_tx_invalid_rkey", BY_(never)},
	{"hw_counters/res_tx_domain_err", BY_(never)},
	{"hw_counters/res_tx_no_perm", BY_(never)},
	{"hw_counters/res_tx_range_err", BY_(never)},
	{"hw_counters/res_irrq_oflow", BY_(never)},
	{"hw_counters/res_unsup_opcode", BY_(never)},
	{"hw_counters/res_unaligned_atomic", BY_(never)},
	{"hw_counters/res_rem_inv_err", BY_(never)},
	{"hw_counters/res_mem_err", BY_(never)},
	{"hw_counters/res_srq_err", BY_(never)},
	{"hw_counters/res_cmp_err", BY_(never)},
	{"hw_counters/res_invalid_dup_rkey", BY_(never)},
	{"hw_counters/res_wqe_format_err", BY_(never)},
	{"hw_counters/res_cq_load_err", BY_(never)},
	{"hw_counters/res_srq_load_err", BY_(never)},
	{"hw_counters/res_tx_pci_err", BY_(never)},
	{"hw_counters/res_rx_pci_err", BY_(never)},
	{"hw_counters/oos_drop_count", OF_(sequence_errors)},
	{"hw_counters/tx_atomic_req", BY_(never)},
	{"hw_counters/tx_read_req", BY_(never)},
	{"hw_counters/tx_read_resp", BY_(never)},
	{"hw_counters/tx_write_req", BY_(never)},
	{"hw_counters/tx_send_req", BY_(never)},
	{"hw_counters/rx_atomic_req", OF_(atomic_requests)},
	{"hw_counters/rx_read_req", OF_(read_requests)},
	{"hw_counters/rx_read_resp", BY_(never)},
	{"hw_counters/rx_write_req", OF_(write_requests)},
	{"hw_counters/rx_send_req", BY_(never)},
	{"hw_counters/rx_roce_good_pkts", OF_(rx_packets)},
	{"hw_counters/rx_roce_good_bytes", OF_(rx_bytes)},
	{"hw_counters/rx_out_of_buffer", BY_(out_of_buffer)},
};

/*
 * The names of EFA's port (Linux, drivers/infiniband/hw/efa/efa_verbs.c, EFA_DEFINE_PORT_STATS).
 * The device has datagrams only: a packet is a request.
 */
static const struct io_counter efa[] = {
	PORT_COUNTERS_,
	LIFESPAN_,
	{"hw_counters/tx_bytes", OF_(tx_bytes)},
	{"hw_counters/tx_pkts", OF_(tx_packets)},
	{"hw_counters/rx_bytes", OF_(rx_bytes)},
	{"hw_counters/rx_pkts", OF_(rx_packets)},
	{"hw_counters/rx_drops", BY_(dropped)},
	{"hw_counters/send_bytes", OF_(tx_bytes)},
	{"hw_counters/send_wrs", OF_(tx_packets)},
	{"hw_counters/recv_bytes", OF_(rx_bytes)},
	{"hw_counters/recv_wrs", OF_(rx_packets)},
	{"hw_counters/rdma_read_wrs", BY_(never)},
	{"hw_counters/rdma_read_bytes", BY_(never)},
	{"hw_counters/rdma_read_wr_err", BY_(never)},
	{"hw_counters/rdma_read_resp_bytes", BY_(never)},
};

/* The names of soft-RoCE (Linux, drivers/infiniband/sw/rxe/rxe_hw_counters.c). */
static const struct io_counter rxe[] = {
	PORT_COUNTERS_,
	LIFESPAN_,
	{"hw_counters/sent_pkts", OF_(tx_packets)},
	{"hw_counters/rcvd_pkts", OF_(rx_packets)},
	{"hw_counters/duplicate_request", OF_(duplicates)},
	{"hw_counters/out_of_seq_request", OF_(sequence_errors)},
	{"hw_counters/rcvd_rnr_err", OF_(rnr_received)},
	{"hw_counters/send_rnr_err", OF_(rnr_sent)},
	{"hw_counters/rcvd_seq_err", OF_(sequence_naks)},
	{"hw_counters/ack_deferred", BY_(never)},
	{"hw_counters/retry_exceeded_err", OF_(retries_exceeded)},
	{"hw_counters/retry_rnr_exceeded_err", OF_(rnr_exceeded)},
	{"hw_counters/completer_retry_err", OF_(retransmits)},
	{"hw_counters/send_err", BY_(discards)},
	{"hw_counters/link_downed", OF_(link_downed)},
	{"hw_counters/rdma_sends", BY_(never)},
	{"hw_counters/rdma_recvs", BY_(never)},
};

#define TABLE_(table)                                                                              \
	{                                                                                          \
		table, sizeof(table) / sizeof((table)[0])                                          \
	}

static const struct {
	const struct io_counter *table;
	unsigned n;
} tables[IO_COUNTERS_COUNT] = {
	[IO_COUNTERS_OWN] = TABLE_(own),   [IO_COUNTERS_MLX5] = TABLE_(mlx5),
	[IO_COUNTERS_BNXT] = TABLE_(bnxt), [IO_COUNTERS_EFA] = TABLE_(efa),
	[IO_COUNTERS_RXE] = TABLE_(rxe),
};

const struct io_counter *io_counter_table(enum io_counter_names names, unsigned *n)
{
	*n = tables[names].n;
	return tables[names].table;
}

enum io_counter_names io_counter_names_for(const char *driver, unsigned profile)
{
	static const struct {
		const char *driver, *profile;
		enum io_counter_names names;
	} known[] = {
		{"mlx5_core", "cx5", IO_COUNTERS_MLX5}, {"mlx5_core", "cx7", IO_COUNTERS_MLX5},
		{"bnxt_en", "bnxt", IO_COUNTERS_BNXT},  {"bnxt_re", "bnxt", IO_COUNTERS_BNXT},
		{"efa", "efa", IO_COUNTERS_EFA},        {"rdma_rxe", "rxe", IO_COUNTERS_RXE},
	};
	const char *name = core_profile_name(profile);

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(*driver ? driver : name, *driver ? known[i].driver : known[i].profile) ==
		    0)
			return known[i].names;
	return IO_COUNTERS_OWN;
}

enum io_counter_names io_counter_names_of(const struct io_device *dev)
{
	return io_counter_names_for(dev->id.machine_device ? dev->id.machine_device->driver : "",
				    dev->config.profile);
}
