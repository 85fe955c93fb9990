/* SPDX-License-Identifier: BSD-2-Clause */
#include "deaf_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_INODE 2

struct deaf_fs {
	int fd; /* of /dev/fuse */
	pid_t server;
	uint64_t socket; /* the inode number that its file shows; 0: it is no socket */
	bool *hears;     /* shared with the server */
};

static void reply(const struct deaf_fs *fs, const struct fuse_in_header *in, int error,
		  const void *body, size_t len)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + len), .error = error, .unique = in->unique};
	struct iovec iov[2] = {{&out, sizeof(out)}, {(void *)body, len}};

	if (writev(fs->fd, iov, 2) < 0)
		return; /* who asked has gone */
}

/* Seconds for which the kernel need not ask again. */
#define VALID 100000

static struct fuse_attr attr_of(uint64_t inode)
{
	return (struct fuse_attr){.ino = inode,
				  .mode = inode == FILE_INODE ? S_IFREG | 0666 : S_IFDIR | 0755,
				  .nlink = 1,
				  .size = 4096,
				  .uid = geteuid(),
				  .gid = getegid()};
}

static void reply_init(const struct deaf_fs *fs, const struct fuse_in_header *in)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .max_write = 4096};

	reply(fs, in, 0, &out, sizeof(out));
}

/* Any name is the file's. Its attributes must be asked for each time. */
static void reply_lookup(const struct deaf_fs *fs, const struct fuse_in_header *in)
{
	struct fuse_entry_out out = {
		.nodeid = FILE_INODE, .entry_valid = VALID, .attr = attr_of(FILE_INODE)};

	if (fs->socket) {
		out.attr.ino = fs->socket;
		out.attr.mode = S_IFSOCK | 0666;
		out.attr_valid = VALID;
	}
	reply(fs, in, 0, &out, sizeof(out));
}

/* Of those that are only answered while it hears. */
static void serve_writer(const struct deaf_fs *fs, const struct fuse_in_header *in)
{
	const struct fuse_write_in *data = (const void *)(in + 1);
	struct fuse_attr_out attr = {.attr = attr_of(FILE_INODE)};
	struct fuse_write_out written;

	attr.attr.size = 0;
	if (in->opcode == FUSE_GETATTR || in->opcode == FUSE_SETATTR) {
		reply(fs, in, 0, &attr, sizeof(attr));
	} else if (in->opcode == FUSE_WRITE) {
		written = (struct fuse_write_out){.size = data->size};
		reply(fs, in, 0, &written, sizeof(written));
	} else if (in->opcode != FUSE_FORGET) {
		reply(fs, in, 0, NULL, 0);
	}
}

static void serve(const struct deaf_fs *fs, const struct fuse_in_header *in)
{
	struct fuse_attr_out root = {.attr_valid = VALID, .attr = attr_of(FUSE_ROOT_ID)};
	struct fuse_open_out opened = {.fh = 1};

	if (in->opcode == FUSE_INIT)
		reply_init(fs, in);
	else if (in->opcode == FUSE_LOOKUP)
		reply_lookup(fs, in);
	else if (in->opcode == FUSE_OPEN)
		reply(fs, in, 0, &opened, sizeof(opened));
	else if (in->opcode == FUSE_GETATTR && in->nodeid == FUSE_ROOT_ID)
		reply(fs, in, 0, &root, sizeof(root));
	else if (__atomic_load_n(fs->hears, __ATOMIC_ACQUIRE))
		serve_writer(fs, in);
}

/* The child: until it is killed. Nobody may hold the other end of what its parent has open. */
__attribute__((noreturn)) static void run(struct deaf_fs *fs, pid_t parent)
{
	static _Alignas(8) uint8_t request[FUSE_MIN_READ_BUFFER + 4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fs->fd, 3) < 0)
		_exit(1);
	close_range(4, ~0u, 0);
	fs->fd = 3;
	while (read(fs->fd, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		serve(fs, (const struct fuse_in_header *)(const void *)request);
	_exit(0);
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* The same numbers inside as outside. */
static int enter_user_namespace(void)
{
	char uid[64], gid[64];

	snprintf(uid, sizeof(uid), "%u %u 1", geteuid(), geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", getegid(), getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	if (write_file("/proc/self/setgroups", "deny") < 0)
		return -1;
	return write_file("/proc/self/uid_map", uid) | write_file("/proc/self/gid_map", gid);
}

static const char *mount_it(struct deaf_fs *fs, const char *dir)
{
	char options[128];

	fs->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fs->fd < 0)
		return "/dev/fuse cannot be opened";
	if (unshare(CLONE_NEWNS) < 0 && enter_user_namespace() < 0)
		return "there are no mount namespaces for this user";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "its mounts cannot be made private";
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fs->fd,
		 geteuid(), getegid());
	return mount("deaf", dir, "fuse", MS_NOSUID | MS_NODEV, options) < 0 ? "mount(2) is refused"
									     : NULL;
}

static const char *start(struct deaf_fs *fs)
{
	pid_t parent = getpid();

	fs->hears = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if ((void *)fs->hears == MAP_FAILED)
		return "there is no memory";

	fs->server = fork();
	if (fs->server < 0)
		return "there is no process";
	if (fs->server == 0)
		run(fs, parent);
	return NULL;
}

struct deaf_fs *deaf_fs_mount(const char *dir, const char **why)
{
	return deaf_fs_mount_socket(dir, 0, why);
}

struct deaf_fs *deaf_fs_mount_socket(const char *dir, uint64_t inode, const char **why)
{
	struct deaf_fs *fs = calloc(1, sizeof(*fs));

	if (fs)
		fs->socket = inode;
	*why = fs ? mount_it(fs, dir) : "there is no memory";
	if (!*why)
		*why = start(fs);
	if (fs && fs->fd >= 0)
		close(fs->fd);
	if (!*why)
		return fs;
	free(fs);
	return NULL;
}

void deaf_fs_hear(struct deaf_fs *fs, bool hears)
{
	__atomic_store_n(fs->hears, hears, __ATOMIC_RELEASE);
}

/* Without a server everybody is told that there is none. */
void deaf_fs_end(struct deaf_fs *fs, const char *dir)
{
	kill(fs->server, SIGKILL);
	waitpid(fs->server, NULL, 0);
	umount2(dir, MNT_DETACH);
	munmap(fs->hears, 4096);
	free(fs);
}
