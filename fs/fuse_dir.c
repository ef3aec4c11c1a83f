/* Listing the two directories. An offset is the number of entries already given. */
#include "fs/fuse_ops.h"
#include "fs/node.h"
#include "fs/status_dir.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <string.h>

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct front *f = fuse_req_userdata(req);
	struct node n = node_of(f, ino);

	if (n.kind != NODE_ROOT && n.kind != NODE_STATUS_DIR) {
		fuse_reply_err(req, n.kind == NODE_NONE ? ENOENT : ENOTDIR);
		return;
	}
	fi->keep_cache = 1;
	fi->cache_readdir = 1;
	fuse_reply_open(req, fi);
}

/* Entry i of a directory and its name (malloc'ed); NODE_NONE behind the last. */
static struct node entry_at(const struct front *f, struct node dir, size_t i, char **name)
{
	struct node n = { dir.kind == NODE_ROOT ? NODE_FILE : NODE_STATUS, i - 2 };
	size_t count = dir.kind == NODE_ROOT ? hfgguf_count(f->model) : status_count(f->model);

	*name = NULL;
	if (i < 2) {
		*name = strdup(i ? ".." : ".");
		return i ? (struct node){ NODE_ROOT, 0 } : dir;
	}
	if (n.index >= count)
		return (struct node){ NODE_NONE, 0 };
	*name = n.kind == NODE_FILE ? strdup(hfgguf_name(f->model, n.index)) : status_name(f->model, n.index);
	return n;
}

static size_t add_plain(fuse_req_t req, char *out, size_t room, const char *name, struct node n, off_t next)
{
	struct front *f = fuse_req_userdata(req);
	struct stat st;

	memset(&st, 0, sizeof(st));
	st.st_ino = node_ino(f, n);
	st.st_mode = n.kind == NODE_ROOT || n.kind == NODE_STATUS_DIR ? S_IFDIR : S_IFREG;
	return fuse_add_direntry(req, out, room, name, &st, next);
}

/* With attributes for the virtual files only: others would have to be made up to learn their size. */
static size_t add_plus(fuse_req_t req, char *out, size_t room, const char *name, struct node n, off_t next)
{
	struct front *f = fuse_req_userdata(req);
	struct fuse_entry_param e;

	memset(&e, 0, sizeof(e));
	e.attr.st_ino = node_ino(f, n);
	e.attr.st_mode = n.kind == NODE_ROOT || n.kind == NODE_STATUS_DIR ? S_IFDIR : S_IFREG;
	if (n.kind == NODE_FILE && !node_stat(f, n, &e.attr)) {
		e.ino = e.attr.st_ino;
		e.generation = 1;
		e.attr_timeout = e.entry_timeout = CACHE_SECONDS;
	}
	return fuse_add_direntry_plus(req, out, room, name, &e, next);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, bool plus)
{
	struct front *f = fuse_req_userdata(req);
	struct node dir = node_of(f, ino);
	autofree char *out = malloc(size ? size : 1);
	size_t used = 0;

	if (!out) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (size_t i = off < 0 ? 0 : (size_t)off;; i++) {
		autofree char *name = NULL;
		struct node n = entry_at(f, dir, i, &name);
		size_t need;

		if (n.kind == NODE_NONE || !name)
			break;
		need = (plus ? add_plus : add_plain)(req, out + used, size - used, name, n, (off_t)i + 1);
		if (need > size - used)
			break;
		used += need;
	}
	fuse_reply_buf(req, out, used);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, off, true);
}
