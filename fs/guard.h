/*
 * auto_unmount for ordinary users. libfuse leaves it to fusermount3, which looks at the dead mount as root; without
 * allow_other the kernel lets nobody but the owner look, so the mount stays. Here a process of the owner does it.
 */
#ifndef FS_GUARD_H
#define FS_GUARD_H

/*
 * Forks a process that waits until this one has ended, however it ends, and then unmounts `dir` if a dead mount is left
 * there. To be called before threads are started and before /dev/fuse is opened. 0, or -1 after saying why.
 */
int guard_start(const char *dir);

#endif
