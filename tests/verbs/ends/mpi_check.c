// SPDX-License-Identifier: BSD-2-Clause
// A small MPI program with verified data: messages of 0 bytes to 1 MiB around a ring, collective
// operations, one-sided access. Ends with 0 when every byte was right; rank 0 says so.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST (1 << 20)
#define BLOCK   20000

static int rank, ranks, wrong;

static unsigned char pattern(int from, int length, int i)
{
	return (unsigned char)(from * 37 + length * 11 + i * 7 + (i >> 8));
}

static void fill(unsigned char *at, int from, int length)
{
	for (int i = 0; i < length; i++)
		at[i] = pattern(from, length, i);
}

static void check(const unsigned char *at, int from, int length, const char *what)
{
	for (int i = 0; i < length; i++)
		if (at[i] != pattern(from, length, i)) {
			printf("mpi_check: rank %d: %s: byte %d of %d from %d is wrong\n", rank,
			       what, i, length, from);
			wrong = 1;
			return;
		}
}

static void expect(int holds, const char *what)
{
	if (holds)
		return;
	printf("mpi_check: rank %d: %s is wrong\n", rank, what);
	wrong = 1;
}

// Everybody to the right, of every size, with the tag, source and length that were asked for.
static void ring(unsigned char *out, unsigned char *in)
{
	static const int sizes[] = {0,    1,    7,     64,    1000,   4096,
				    8191, 9000, 65536, 65537, 300000, LONGEST};
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int n = sizes[i], got = -1;
		MPI_Status status;

		memset(in, 0xee, LONGEST);
		fill(out, rank, n);
		MPI_Sendrecv(out, n, MPI_BYTE, right, n, in, LONGEST, MPI_BYTE, left, n,
			     MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &got);
		expect(got == n, "the length of a message");
		check(in, left, n, "a message");
		expect(n == LONGEST || in[n] == 0xee, "what is behind a message");
	}
}

// Many small messages at once, received in another order than sent.
static void many(unsigned char *out, unsigned char *in)
{
	enum { COUNT = 64, SIZE = 3000 };
	MPI_Request requests[2 * COUNT];
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	fill(out, rank, SIZE);
	memset(in, 0, (size_t)COUNT * SIZE);
	for (int i = 0; i < COUNT; i++)
		MPI_Isend(out, SIZE, MPI_BYTE, right, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = COUNT - 1; i >= 0; i--)
		MPI_Irecv(in + i * SIZE, SIZE, MPI_BYTE, left, i, MPI_COMM_WORLD,
			  &requests[COUNT + i]);
	MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < COUNT; i++)
		check(in + i * SIZE, left, SIZE, "one of many messages");
}

static void all_reduce(void)
{
	static double mine[BLOCK], sum[BLOCK];

	for (int i = 0; i < BLOCK; i++)
		mine[i] = rank + 1 + i;
	MPI_Allreduce(mine, sum, BLOCK, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < BLOCK; i++)
		if (sum[i] != ranks * (ranks + 1) / 2.0 + (double)ranks * i) {
			expect(0, "a sum of all");
			return;
		}
}

// To each rank a block of its own.
static void all_to_all(unsigned char *out, unsigned char *in)
{
	for (int i = 0; i < ranks; i++)
		fill(out + i * BLOCK, rank * ranks + i, BLOCK);
	memset(in, 0, (size_t)ranks * BLOCK);
	MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		check(in + i * BLOCK, i * ranks + rank, BLOCK, "a block for one of all");
}

static void broadcast(unsigned char *buffer)
{
	for (int root = 0; root < ranks; root++) {
		memset(buffer, 0, LONGEST);
		if (rank == root)
			fill(buffer, root, LONGEST);
		MPI_Bcast(buffer, LONGEST, MPI_BYTE, root, MPI_COMM_WORLD);
		check(buffer, root, LONGEST, "what one says to all");
	}
}

// Everybody puts into the window of its right neighbour, and gets that back from there.
static void put_get(unsigned char *out, unsigned char *in)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	unsigned char *window = NULL;
	MPI_Win win;

	MPI_Win_allocate(LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	memset(window, 0, LONGEST);
	memset(in, 0, LONGEST);
	fill(out, rank, LONGEST);
	MPI_Win_fence(0, win);
	MPI_Put(out, LONGEST, MPI_BYTE, right, 0, LONGEST, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	check(window, left, LONGEST, "what was put");
	MPI_Win_fence(0, win);
	MPI_Get(in, LONGEST, MPI_BYTE, right, 0, LONGEST, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	check(in, rank, LONGEST, "what was got");
	MPI_Win_free(&win);
}

// All of them add to numbers of rank 0, in blocks and one by one.
static void accumulate(void)
{
	enum { NUMBERS = 1000, ROUNDS = 100 };
	long add[NUMBERS], one = 1, before;
	long *window = NULL;
	MPI_Win win;

	for (int i = 0; i < NUMBERS; i++)
		add[i] = rank + i;
	MPI_Win_allocate((NUMBERS + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &window, &win);
	memset(window, 0, (NUMBERS + 1) * sizeof(long));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Accumulate(add, NUMBERS, MPI_LONG, 0, 0, NUMBERS, MPI_LONG, MPI_SUM, win);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, NUMBERS, MPI_SUM, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		for (int i = 0; i < NUMBERS && !wrong; i++)
			expect(window[i] == (long)ranks * (ranks - 1) / 2 + (long)ranks * i,
			       "an accumulated number");
		expect(window[NUMBERS] == (long)ranks * ROUNDS, "the count of fetch and add");
		MPI_Win_unlock(0, win);
	}
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST);
	int any = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!out || !in || ranks * BLOCK > LONGEST)
		MPI_Abort(MPI_COMM_WORLD, 2);
	ring(out, in);
	many(out, in);
	all_reduce();
	all_to_all(out, in);
	broadcast(in);
	put_get(out, in);
	accumulate();
	MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0 && !any)
		printf("mpi_check: %d ranks, all data as it should be\n", ranks);
	MPI_Finalize();
	free(in);
	free(out);
	return any;
}
