#include "fs/fuse_ops.h"

#include "fs/node.h"
#include "fs/say.h"
#include "fs/status_dir.h"

#include "core/file/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define PREPARE_BYTES ((size_t)64 << 10) /* smaller ones do not come from read-ahead */

static struct front *front_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct front *f = userdata;

	/* Contents never change behind the kernel's back: nothing is to be invalidated by comparing times. */
	conn->want &= ~(unsigned)(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_SPLICE_READ);
	conn->want |= conn->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS |
				       FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
				       FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_EXPORT_SUPPORT);
	conn->max_read = f->opts->max_read_bytes; /* libfuse wants it here, too */
	conn->max_background = f->n_threads;
	conn->congestion_threshold = f->n_threads * 3 / 4;
	atomic_store(&f->inited, true);
	control_wake(f);
}

static int fill_entry(struct front *f, struct node n, struct fuse_entry_param *e)
{
	memset(e, 0, sizeof(*e));
	e->ino = node_ino(f, n);
	e->generation = 1;
	e->entry_timeout = CACHE_SECONDS;
	e->attr_timeout = node_timeout(n);
	return node_stat(f, n, &e->attr);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct front *f = front_of(req);
	struct node n = node_lookup(f, node_of(f, parent), name);
	struct fuse_entry_param e = { .entry_timeout = CACHE_SECONDS };
	int error = n.kind == NODE_NONE ? 0 : fill_entry(f, n, &e); /* inode 0: the kernel remembers the absence */

	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct front *f = front_of(req);
	struct node n = node_of(f, ino);
	struct stat st;
	int error = node_stat(f, n, &st);

	(void)fi;
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_attr(req, &st, node_timeout(n));
}

/*
 * A status text is made when it is opened: one reader sees one state. The kernel may release a file as soon as it has
 * taken the last answer, before the thread that gave it is back: the last of them frees.
 */
struct snapshot {
	atomic_uint users;
	size_t n;
	char *text;
};

static void drop_status(struct snapshot *s)
{
	if (atomic_fetch_sub(&s->users, 1) > 1)
		return;
	free(s->text);
	free(s);
}

static int open_status(struct front *f, size_t entry, struct fuse_file_info *fi)
{
	struct snapshot *s = malloc(sizeof(*s));
	char *text = s ? status_text(f->model, entry) : NULL;

	if (!text) {
		free(s);
		return ENOMEM;
	}
	atomic_init(&s->users, 1);
	s->n = strlen(text);
	s->text = text;
	fi->fh = (uint64_t)(uintptr_t)s;
	fi->direct_io = status_changes(entry);
	fi->keep_cache = !fi->direct_io;
	return 0;
}

static void close_status(const struct fuse_file_info *fi)
{
	drop_status((void *)(uintptr_t)fi->fh);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct front *f = front_of(req);
	struct node n = node_of(f, ino);
	int error = 0;

	if ((fi->flags & O_ACCMODE) != O_RDONLY)
		error = EROFS;
	else if (n.kind == NODE_STATUS)
		error = open_status(f, n.index, fi);
	else if (n.kind != NODE_FILE)
		error = n.kind == NODE_NONE ? ENOENT : EISDIR;
	else
		fi->keep_cache = 1;
	fi->noflush = 1;
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	atomic_fetch_add(&f->n_open, 1);
	atomic_store(&f->last_use_ns, front_now_ns());
	if (fuse_reply_open(req, fi) != -ENOENT)
		return;
	/* The caller was interrupted: no release will come. */
	atomic_fetch_sub(&f->n_open, 1);
	if (n.kind == NODE_STATUS)
		close_status(fi);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct front *f = front_of(req);

	if (node_of(f, ino).kind == NODE_STATUS)
		close_status(fi);
	atomic_store(&f->last_use_ns, front_now_ns());
	atomic_fetch_sub(&f->n_open, 1);
	fuse_reply_err(req, 0);
}

static void read_status(fuse_req_t req, size_t size, off_t off, const struct fuse_file_info *fi)
{
	struct snapshot *s = (void *)(uintptr_t)fi->fh;
	size_t from = (uint64_t)off < s->n ? (size_t)off : s->n;

	atomic_fetch_add(&s->users, 1);
	fuse_reply_buf(req, s->text + from, size < s->n - from ? size : s->n - from);
	drop_status(s);
}

static void reply_failed(fuse_req_t req, const struct node *node, size_t size, off_t off, int status, const char *msg)
{
	const struct hfgguf_model *m = front_of(req)->model;

	say_repeated("%s: reading %zu bytes at %lld failed: %s", hfgguf_name(m, node->index), size, (long long)off,
		     msg[0] ? msg : hfgguf_strerror(status));
	fuse_reply_err(req, status == HFGGUF_NOMEM ? ENOMEM : EIO);
}

/* Reads and answers: with bytes of the buffer and of units that its view lends. False when there are none. */
static bool reply_read(fuse_req_t req, const struct node *node, size_t size, off_t off, struct read_buffer *b)
{
	struct front *f = front_of(req);
	char msg[2048] = "";
	ssize_t n = serve_view(f->model, node->index, b->p, size, (uint64_t)off, &b->view, msg, sizeof(msg));

	if (n < 0) {
		reply_failed(req, node, size, off, (int)n, msg);
	} else if (!n) {
		fuse_reply_buf(req, NULL, 0);
	} else {
		fuse_reply_iov(req, b->view.pieces, b->view.n_pieces);
		serve_view_end(f->model, &b->view);
	}
	return n > 0;
}

/* Makes the answer to the next read of a stream, if nothing else does; false when the buffer is not needed for it. */
static bool prepare_next(struct front *f, size_t file, size_t size, uint64_t offset, struct read_buffer *b)
{
	struct prepared_read *r;
	struct read_buffer *old;
	ssize_t n;

	if (size < PREPARE_BYTES || !serve_uncached(f->model, file, size, offset))
		return false;
	r = prepared_begin(&f->prepared, file, offset, b, &old);
	if (old)
		read_buffer_give(&f->buffers, old);
	if (!r)
		return false;
	n = serve_ahead(f->model, file, b->p, size, offset);
	prepared_end(&f->prepared, r, n);
	return n > 0;
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct front *f = front_of(req);
	struct node node = node_of(f, ino);
	struct read_buffer *b;
	bool in_order, good;

	if (node.kind == NODE_STATUS) {
		read_status(req, size, off, fi);
		return;
	}
	if (node.kind != NODE_FILE) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	b = prepared_take(&f->prepared, node.index, (uint64_t)off, size, &in_order);
	if (b) {
		good = !fuse_reply_buf(req, b->p, size);
		serve_count(f->model, size);
	} else {
		b = read_buffer_take(&f->buffers, size);
		if (!b) {
			fuse_reply_err(req, ENOMEM);
			return;
		}
		good = reply_read(req, &node, size, off, b);
	}
	if (!good || !in_order || !prepare_next(f, node.index, size, (uint64_t)off + size, b))
		read_buffer_give(&f->buffers, b);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct front *f = front_of(req);
	size_t n = hfgguf_count(f->model);
	struct statvfs s;

	(void)ino;
	memset(&s, 0, sizeof(s));
	s.f_bsize = s.f_frsize = 4096;
	s.f_namemax = 255;
	s.f_files = n + 1;
	for (size_t i = 0; i < n; i++)
		s.f_blocks += hfgguf_size(f->model, i) / 4096 + (hfgguf_size(f->model, i) % 4096 != 0);
	fuse_reply_statfs(req, &s);
}

/* The mount is read-only, so the kernel refuses these itself; a remount could let them through. */
static void refuse(fuse_req_t req)
{
	fuse_reply_err(req, EROFS);
}

static void op_setattr(fuse_req_t req, fuse_ino_t i, struct stat *st, int set, struct fuse_file_info *fi)
{
	(void)i, (void)st, (void)set, (void)fi;
	refuse(req);
}

static void op_mknod(fuse_req_t req, fuse_ino_t i, const char *name, mode_t mode, dev_t dev)
{
	(void)i, (void)name, (void)mode, (void)dev;
	refuse(req);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t i, const char *name, mode_t mode)
{
	(void)i, (void)name, (void)mode;
	refuse(req);
}

static void op_unlink(fuse_req_t req, fuse_ino_t i, const char *name)
{
	(void)i, (void)name;
	refuse(req);
}

static void op_symlink(fuse_req_t req, const char *to, fuse_ino_t i, const char *name)
{
	(void)to, (void)i, (void)name;
	refuse(req);
}

static void op_rename(fuse_req_t req, fuse_ino_t a, const char *from, fuse_ino_t b, const char *to, unsigned flags)
{
	(void)a, (void)from, (void)b, (void)to, (void)flags;
	refuse(req);
}

static void op_link(fuse_req_t req, fuse_ino_t i, fuse_ino_t dir, const char *name)
{
	(void)i, (void)dir, (void)name;
	refuse(req);
}

static void op_create(fuse_req_t req, fuse_ino_t i, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	(void)i, (void)name, (void)mode, (void)fi;
	refuse(req);
}

static void op_write(fuse_req_t req, fuse_ino_t i, const char *p, size_t n, off_t off, struct fuse_file_info *fi)
{
	(void)i, (void)p, (void)n, (void)off, (void)fi;
	refuse(req);
}

static void op_setxattr(fuse_req_t req, fuse_ino_t i, const char *name, const char *p, size_t n, int flags)
{
	(void)i, (void)name, (void)p, (void)n, (void)flags;
	refuse(req);
}

static void op_removexattr(fuse_req_t req, fuse_ino_t i, const char *name)
{
	(void)i, (void)name;
	refuse(req);
}

const struct fuse_lowlevel_ops fuse_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.open = op_open,
	.release = op_release,
	.read = op_read,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.statfs = op_statfs,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.setattr = op_setattr,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_unlink,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.create = op_create,
	.write = op_write,
	.setxattr = op_setxattr,
	.removexattr = op_removexattr,
};
