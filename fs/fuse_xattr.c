/* Extended attributes: user.hfgguf.NAME of a virtual file is the core's property NAME. */
#include "fs/fuse_ops.h"
#include "fs/node.h"

#include <errno.h>
#include <string.h>

#define PREFIX "user.hfgguf."

static void reply(fuse_req_t req, const char *p, size_t n, size_t size)
{
	if (!size)
		fuse_reply_xattr(req, n);
	else if (n > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, p, n);
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct front *f = fuse_req_userdata(req);
	struct node n = node_of(f, ino);
	const char *value = NULL;

	if (n.kind == NODE_FILE && !strncmp(name, PREFIX, strlen(PREFIX)))
		value = hfgguf_property(f->model, n.index, name + strlen(PREFIX));
	if (value)
		reply(req, value, strlen(value), size);
	else
		fuse_reply_err(req, ENODATA);
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct front *f = fuse_req_userdata(req);
	struct node n = node_of(f, ino);
	struct buf names = BUF_INIT;

	buf_add(&names, "", 0);
	for (const char *const *p = hfgguf_properties(); n.kind == NODE_FILE && *p; p++)
		if (hfgguf_property(f->model, n.index, *p)) {
			buf_puts(&names, PREFIX);
			buf_add(&names, *p, strlen(*p) + 1);
		}
	if (names.failed)
		fuse_reply_err(req, ENOMEM);
	else
		reply(req, names.p, names.n, size);
	buf_free(&names);
}
