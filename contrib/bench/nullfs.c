/*
 * A FUSE file system that does no work: the yardstick for a mount. One file, "null", read through the same library with
 * the same threads and kernel options as hfgguf's.
 *
 *	nullfs DIR SIZE [-r READ_AHEAD_KIB] [-t THREADS] [-c FILE | -s FILE]
 *
 * A read is answered with bytes of a buffer that is memset for it; with -c from one copy of FILE's bytes at that place;
 * with -s by splicing FILE's pages. Stays in the foreground; umount ends it.
 */
#define FUSE_USE_VERSION 312

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { INO_FILE = 2, MAX_READ = 1 << 20 };

static struct {
	off_t size;
	int fd; /* of FILE, or -1 */
	bool splice;
	unsigned threads, readahead_kib;
	const char *dir;
} conf = { .fd = -1, .threads = 16 };

static void on_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want &= ~(unsigned)(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_SPLICE_READ);
	conn->want |= conn->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_EXPLICIT_INVAL_DATA);
	conn->max_background = conf.threads;
	conn->congestion_threshold = conf.threads * 3 / 4;
}

static void fill(fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_mode = ino == INO_FILE ? S_IFREG | 0444 : S_IFDIR | 0555;
	st->st_nlink = 1;
	st->st_size = ino == INO_FILE ? conf.size : 0;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = INO_FILE, .attr_timeout = 1e6, .entry_timeout = 1e6 };

	if (parent != FUSE_ROOT_ID || strcmp(name, "null")) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill(INO_FILE, &e.attr);
	fuse_reply_entry(req, &e);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	fill(ino, &st);
	fuse_reply_attr(req, &st, 1e6);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fi->noflush = 1;
	fuse_reply_open(req, fi);
}

static void reply_spliced(fuse_req_t req, size_t size, off_t off)
{
	struct fuse_bufvec v = FUSE_BUFVEC_INIT(size);

	v.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	v.buf[0].fd = conf.fd;
	v.buf[0].pos = off;
	fuse_reply_data(req, &v, FUSE_BUF_SPLICE_MOVE);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	static _Thread_local char *buf;
	ssize_t n;

	(void)ino;
	(void)fi;
	size = off >= conf.size ? 0 : (off_t)size > conf.size - off ? (size_t)(conf.size - off) : size;
	if (size > MAX_READ)
		size = MAX_READ;
	if (conf.splice) {
		reply_spliced(req, size, off);
		return;
	}
	if (!buf && posix_memalign((void **)&buf, 4096, MAX_READ)) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	n = (ssize_t)size;
	if (conf.fd >= 0)
		n = pread(conf.fd, buf, size, off);
	else
		memset(buf, (int)(off >> 12), size);
	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_buf(req, buf, (size_t)n);
}

static const struct fuse_lowlevel_ops ops = {
	.init = on_init, .lookup = on_lookup, .getattr = on_getattr, .open = on_open, .read = on_read,
};

/* After the hello, which sets the kernel's own value; from a thread of its own, because stat asks this program. */
static void *raise_readahead(void *arg)
{
	char path[100];
	struct stat st;
	FILE *f;

	(void)arg;
	if (stat(conf.dir, &st))
		return NULL;
	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", major(st.st_dev), minor(st.st_dev));
	f = fopen(path, "w");
	if (!f || fprintf(f, "%u\n", conf.readahead_kib) < 0 || fclose(f))
		perror(path);
	return NULL;
}

static int serve(void)
{
	char *argv[] = { (char[]){ "nullfs" }, (char[]){ "-oro,default_permissions,fsname=nullfs" }, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(2, argv);
	struct fuse_loop_config *loop = fuse_loop_cfg_create();
	struct fuse_session *se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	pthread_t thread;
	int status;

	if (!se || !loop || fuse_session_mount(se, conf.dir))
		return 1;
	fuse_loop_cfg_set_clone_fd(loop, 1);
	fuse_loop_cfg_set_max_threads(loop, conf.threads);
	fuse_loop_cfg_set_idle_threads(loop, conf.threads);
	if (conf.readahead_kib && !pthread_create(&thread, NULL, raise_readahead, NULL))
		pthread_detach(thread);
	status = fuse_session_loop_mt(se, loop);
	fuse_session_unmount(se);
	fuse_session_destroy(se);
	fuse_loop_cfg_destroy(loop);
	return status != 0;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "r:t:c:s:")) != -1) {
		if (c == 'r')
			conf.readahead_kib = (unsigned)atoi(optarg);
		else if (c == 't')
			conf.threads = (unsigned)atoi(optarg);
		else if (c == 'c' || c == 's')
			conf.fd = open(optarg, O_RDONLY | O_CLOEXEC);
		conf.splice |= c == 's';
		if (c == '?' || ((c == 'c' || c == 's') && conf.fd < 0))
			return 2;
	}
	if (argc - optind != 2 || !conf.threads) {
		fputs("usage: nullfs DIR SIZE [-r READ_AHEAD_KIB] [-t THREADS] [-c FILE | -s FILE]\n", stderr);
		return 2;
	}
	conf.dir = argv[optind];
	conf.size = atoll(argv[optind + 1]);
	return serve();
}
