/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_pingpong: what messages of an MPI cost, for the benchmark's table; of two ranks.
 *
 *   mpi_pingpong latency SIZE ITERATIONS     prints half the round trip in microseconds
 *   mpi_pingpong bandwidth SIZE ITERATIONS   64 messages at a time, each such window answered by
 *                                            one of a byte; prints GB/s
 *
 * A tenth as many go ahead and are not counted.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 64
#define PEER   (1 - rank)

static int rank;

static void ping_pong(char *buffer, int size, int n)
{
	for (int i = 0; i < n; i++) {
		if (rank == 0)
			MPI_Send(buffer, size, MPI_BYTE, PEER, 0, MPI_COMM_WORLD);
		MPI_Recv(buffer, size, MPI_BYTE, PEER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buffer, size, MPI_BYTE, PEER, 0, MPI_COMM_WORLD);
	}
}

static void stream(char *buffer, int size, int n)
{
	MPI_Request requests[WINDOW];
	char byte = 0;

	for (int done = 0; done < n; done += WINDOW) {
		for (int i = 0; i < WINDOW; i++) {
			if (rank == 0)
				MPI_Isend(buffer, size, MPI_BYTE, PEER, 0, MPI_COMM_WORLD,
					  &requests[i]);
			else
				MPI_Irecv(buffer, size, MPI_BYTE, PEER, 0, MPI_COMM_WORLD,
					  &requests[i]);
		}
		MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
		if (rank == 0)
			MPI_Recv(&byte, 1, MPI_BYTE, PEER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(&byte, 1, MPI_BYTE, PEER, 1, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int size = argc == 4 ? atoi(argv[2]) : 0, n = argc == 4 ? atoi(argv[3]) : 0, ranks;
	void (*run)(char *, int, int) = ping_pong;
	double begin, took;
	char *buffer;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (size <= 0 || n <= 0 || ranks != 2) {
		fprintf(stderr,
			"usage: mpi_pingpong latency|bandwidth SIZE ITERATIONS, two ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (!strcmp(argv[1], "bandwidth")) {
		run = stream;
		n = (n + WINDOW - 1) / WINDOW * WINDOW;
	}
	buffer = malloc((size_t)size);
	if (!buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(buffer, 1, (size_t)size);
	run(buffer, size, n / 10 + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	run(buffer, size, n);
	took = MPI_Wtime() - begin;
	if (rank == 0 && run == stream)
		printf("%.2f\n", (double)n * size / took / 1e9);
	else if (rank == 0)
		printf("%.2f\n", took / n / 2 * 1e6);
	free(buffer);
	MPI_Finalize();
	return 0;
}
