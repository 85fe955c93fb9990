// SPDX-License-Identifier: BSD-2-Clause
// Two processes that talk by librpma, with verified data:
//
//   rpma_check server|client ADDRESS PORT
//
// The client reads what the server has, writes and flushes pieces of 1 byte to 300000 bytes and an
// atomic of 8, reads them back, and says so by a message; then the server looks at its memory.

#include <librpma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE    (1u << 20) // of the memory; the first half is read, the second one written
#define HALF    (SIZE / 2)
#define MESSAGE 16
#define ATOMIC  0x1122334455667788ull
#define MAPPING (SIZE + 4096) // and a page for the message

#define need(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("rpma_check: line %d: %s\n", __LINE__, #condition);                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static unsigned char *memory;
static struct rpma_peer *peer;
static struct rpma_mr_local *local;

static void fill(unsigned char *at, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (unsigned char)(seed + i * 7 + (i >> 8));
}

static void begin(const char *address, enum rpma_util_ibv_context_type type)
{
	const int usage =
		RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
		RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV;
	struct ibv_context *context;

	memory = mmap(NULL, MAPPING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(memory != MAP_FAILED);
	need(rpma_utils_get_ibv_context(address, type, &context) == 0);
	need(rpma_peer_new(context, &peer) == 0);
	need(rpma_mr_reg(peer, memory, MAPPING, usage, &local) == 0);
}

static void end(struct rpma_conn *conn)
{
	enum rpma_conn_event event;

	need(rpma_conn_next_event(conn, &event) == 0 && event == RPMA_CONN_CLOSED);
	need(rpma_conn_disconnect(conn) == 0);
	need(rpma_conn_delete(&conn) == 0);
	need(rpma_mr_dereg(&local) == 0);
	need(rpma_peer_delete(&peer) == 0);
}

// Of later releases of libibverbs: what librpma uses from 1.3 on where the device has it.
enum { WC_FLUSH = 8, WC_ATOMIC_WRITE = 9 };

static void wait_for_either(struct rpma_cq *cq, int opcode, int native)
{
	struct ibv_wc wc;

	need(rpma_cq_wait(cq) == 0);
	need(rpma_cq_get_wc(cq, 1, &wc, NULL) == 0);
	need(wc.status == IBV_WC_SUCCESS);
	need((int)wc.opcode == opcode || (int)wc.opcode == native);
}

static void wait_for(struct rpma_cq *cq, int opcode)
{
	wait_for_either(cq, opcode, opcode);
}

// The lengths of what is written, one behind the other in the second half. 0: no more.
static size_t piece(unsigned i)
{
	static const size_t lengths[] = {1, 7, 8, 63, 4096, 5000, 65537, 300000, 0};

	return lengths[i];
}

static void serve(const char *address, const char *port)
{
	unsigned char descriptor[64], *expected = malloc(HALF);
	struct rpma_conn_private_data data = {.ptr = descriptor};
	enum rpma_conn_event event;
	struct rpma_conn_req *request;
	struct rpma_conn *conn;
	struct rpma_ep *ep;
	struct rpma_cq *cq;
	size_t size, at = 8;

	begin(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	fill(memory, HALF, 1);
	need(rpma_mr_get_descriptor_size(local, &size) == 0 && size <= sizeof(descriptor));
	need(rpma_mr_get_descriptor(local, descriptor) == 0);
	data.len = (uint8_t)size;
	need(rpma_ep_listen(peer, address, port, &ep) == 0);
	printf("rpma_check: listening\n");
	fflush(stdout);
	need(rpma_ep_next_conn_req(ep, NULL, &request) == 0);
	need(rpma_conn_req_recv(request, local, SIZE, MESSAGE, NULL) == 0);
	need(rpma_conn_req_connect(&request, &data, &conn) == 0);
	need(rpma_conn_next_event(conn, &event) == 0 && event == RPMA_CONN_ESTABLISHED);
	need(rpma_conn_get_cq(conn, &cq) == 0);
	wait_for(cq, IBV_WC_RECV);
	memset(expected, 0, HALF);
	memcpy(expected, &(uint64_t){ATOMIC}, 8);
	for (unsigned i = 0; piece(i); at += piece(i++))
		fill(expected + at, piece(i), i);
	need(memcmp(memory + HALF, expected, HALF) == 0);
	need(memcmp(memory + SIZE, "all is written", 15) == 0);
	need(rpma_ep_shutdown(&ep) == 0);
	end(conn);
	free(expected);
	printf("rpma_check: all data as it should be\n");
}

static void read_and_check(struct rpma_conn *conn, struct rpma_cq *cq, struct rpma_mr_remote *from)
{
	unsigned char *expected = malloc(HALF);

	fill(expected, HALF, 1);
	need(rpma_read(conn, local, 0, from, 0, HALF, RPMA_F_COMPLETION_ALWAYS, NULL) == 0);
	wait_for(cq, IBV_WC_RDMA_READ);
	need(memcmp(memory, expected, HALF) == 0);
	free(expected);
}

static void write_and_flush(struct rpma_conn *conn, struct rpma_cq *cq, struct rpma_mr_remote *to)
{
	const uint64_t atomic = ATOMIC;
	size_t at = HALF + 8;

	for (unsigned i = 0; piece(i); at += piece(i++)) {
		fill(memory + at, piece(i), i);
		need(rpma_write(conn, to, at, local, at, piece(i), RPMA_F_COMPLETION_ON_ERROR,
				NULL) == 0);
		need(rpma_flush(conn, to, at, piece(i),
				i % 2 ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY,
				RPMA_F_COMPLETION_ALWAYS, NULL) == 0);
		wait_for_either(cq, IBV_WC_RDMA_READ, WC_FLUSH);
	}
	need(rpma_atomic_write(conn, to, HALF, (const char *)&atomic, RPMA_F_COMPLETION_ALWAYS,
			       NULL) == 0);
	wait_for_either(cq, IBV_WC_RDMA_WRITE, WC_ATOMIC_WRITE);
}

// What the server would say of its memory, had it any that lasts.
static void take_for_persistent(struct rpma_conn *conn)
{
	struct rpma_peer_cfg *cfg;

	need(rpma_peer_cfg_new(&cfg) == 0);
	need(rpma_peer_cfg_set_direct_write_to_pmem(cfg, true) == 0);
	need(rpma_conn_apply_remote_peer_cfg(conn, cfg) == 0);
	need(rpma_peer_cfg_delete(&cfg) == 0);
}

static void ask(const char *address, const char *port)
{
	struct rpma_conn_private_data data;
	enum rpma_conn_event event;
	struct rpma_conn_req *request;
	struct rpma_mr_remote *remote;
	struct rpma_conn *conn;
	struct rpma_cq *cq;

	begin(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	need(rpma_conn_req_new(peer, address, port, NULL, &request) == 0);
	need(rpma_conn_req_connect(&request, NULL, &conn) == 0);
	need(rpma_conn_next_event(conn, &event) == 0 && event == RPMA_CONN_ESTABLISHED);
	need(rpma_conn_get_private_data(conn, &data) == 0);
	need(rpma_mr_remote_from_descriptor(data.ptr, data.len, &remote) == 0);
	need(rpma_conn_get_cq(conn, &cq) == 0);
	take_for_persistent(conn);
	read_and_check(conn, cq, remote);
	write_and_flush(conn, cq, remote);
	memcpy(memory + SIZE, "all is written", 15);
	need(rpma_send(conn, local, SIZE, MESSAGE, RPMA_F_COMPLETION_ALWAYS, NULL) == 0);
	wait_for(cq, IBV_WC_SEND);
	need(rpma_mr_remote_delete(&remote) == 0);
	need(rpma_conn_disconnect(conn) == 0);
	end(conn);
	printf("rpma_check: all data as it should be\n");
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: rpma_check server|client ADDRESS PORT\n");
		return 2;
	}
	if (strcmp(argv[1], "server") == 0)
		serve(argv[2], argv[3]);
	else
		ask(argv[2], argv[3]);
	return 0;
}
