/*
 * Into the background with a truthful exit status: the parent waits until the child says that the mount works, or
 * has died, and exits accordingly. fuse_daemonize does not wait for the kernel's hello.
 */
#ifndef FS_DAEMON_H
#define FS_DAEMON_H

/* Remembers the descriptors that came from outside, before anything is opened. */
void daemon_note_inherited(void);

/*
 * Forks. Returns in the child only, detached from the terminal, at "/", inherited descriptors closed, but stderr
 * still open for errors: the descriptor for daemon_ready. In the parent it never returns but on failure, with -1
 * after saying why. failed_dir: a dead mount there is removed when the child dies.
 */
int daemon_fork(const char *failed_dir);

/* Child: it works. The parent exits with 0; stdin, stdout and stderr become /dev/null. */
void daemon_ready(int ready_fd);

#endif
