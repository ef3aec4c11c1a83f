/* Taking a mount out of the tree: by umount2(2) for root, by fusermount3 for others. */
#ifndef FS_UNMOUNT_H
#define FS_UNMOUNT_H

/* Detaches it now, whatever is open. 0, or -1. */
int unmount_lazily(const char *dir);

/* 0, or -1 when it is busy. */
int unmount_if_idle(const char *dir);

/* Removes what a killed hfgguf left: a mount whose every access says "Transport endpoint is not connected". */
void unmount_dead(const char *dir);

#endif
