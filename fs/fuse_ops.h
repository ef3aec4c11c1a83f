/* The table of answers to the kernel. The session's userdata is the struct front. */
#ifndef FS_FUSE_OPS_H
#define FS_FUSE_OPS_H

#include "fs/front.h"

extern const struct fuse_lowlevel_ops fuse_ops;

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);

#endif
