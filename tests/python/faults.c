// Lets one call of the C library that enters the system fail: the `when`-th one after `faults_arm`, in any thread.
//
// Built as a library for LD_PRELOAD. Calls on the standard streams pass. `close` closes all the same, as Linux does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHORT -1  // as an error: half of the bytes are read or written

static atomic_long count, armed;
static atomic_int error;
static char hit[64];

void faults_arm(long when, int what) {
    atomic_store(&count, 0);
    atomic_store(&error, what);
    atomic_store(&armed, when);
}

long faults_count(void) { return atomic_load(&count); }

const char *faults_hit(void) { return hit; }

static int falls(const char *name, int is_transfer) {
    long when = atomic_load(&armed);
    if (when == 0) return 0;
    int what = atomic_load(&error);
    if (what == SHORT && !is_transfer) return 0;
    if (atomic_fetch_add(&count, 1) + 1 != when) return 0;
    strncpy(hit, name, sizeof hit - 1);
    return what;
}

#define REAL(result, name, ...)                                          \
    static result (*real)(__VA_ARGS__);                                  \
    if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);

#define FAILS(name)                           \
    {                                         \
        int what = falls(name, 0);            \
        if (what) return errno = what, -1;    \
    }

#define CALL(result, name, parameters, arguments, ...) \
    result name parameters {                           \
        REAL(result, #name, __VA_ARGS__)               \
        FAILS(#name)                                   \
        return real arguments;                         \
    }

#define OPENS(name)                                    \
    int name(const char *path, int flags, ...) {       \
        REAL(int, #name, const char *, int, ...)       \
        va_list more;                                  \
        va_start(more, flags);                         \
        mode_t mode = va_arg(more, mode_t);            \
        va_end(more);                                  \
        FAILS(#name)                                   \
        return real(path, flags, mode);                \
    }

#define OPENS_AT(name)                                      \
    int name(int at, const char *path, int flags, ...) {    \
        REAL(int, #name, int, const char *, int, ...)       \
        va_list more;                                       \
        va_start(more, flags);                              \
        mode_t mode = va_arg(more, mode_t);                 \
        va_end(more);                                       \
        FAILS(#name)                                        \
        return real(at, path, flags, mode);                 \
    }

#define MOVES(name, buffer)                                       \
    ssize_t name(int file, buffer data, size_t bytes) {           \
        REAL(ssize_t, #name, int, buffer, size_t)                 \
        int what = file > 2 ? falls(#name, 1) : 0;                \
        if (what > 0) return errno = what, -1;                    \
        return real(file, data, what && bytes > 1 ? bytes / 2 : bytes); \
    }

#define MOVES_AT(name, buffer)                                         \
    ssize_t name(int file, buffer data, size_t bytes, off_t at) {      \
        REAL(ssize_t, #name, int, buffer, size_t, off_t)               \
        int what = file > 2 ? falls(#name, 1) : 0;                     \
        if (what > 0) return errno = what, -1;                         \
        return real(file, data, what && bytes > 1 ? bytes / 2 : bytes, at); \
    }

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
MOVES(read, void *)
MOVES(write, const void *)
MOVES_AT(pread, void *)
MOVES_AT(pread64, void *)
MOVES_AT(pwrite, const void *)
MOVES_AT(pwrite64, const void *)
CALL(int, fsync, (int file), (file), int)
CALL(int, fdatasync, (int file), (file), int)
CALL(int, ftruncate, (int file, off_t bytes), (file, bytes), int, off_t)
CALL(int, ftruncate64, (int file, off_t bytes), (file, bytes), int, off_t)
CALL(off_t, lseek, (int file, off_t at, int how), (file, at, how), int, off_t, int)
CALL(off_t, lseek64, (int file, off_t at, int how), (file, at, how), int, off_t, int)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), const char *, mode_t)
CALL(int, rmdir, (const char *path), (path), const char *)
CALL(int, unlink, (const char *path), (path), const char *)
CALL(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), int, const char *, int)
CALL(int, rename, (const char *from, const char *to), (from, to), const char *, const char *)
CALL(int, access, (const char *path, int mode), (path, mode), const char *, int)
CALL(int, stat, (const char *path, struct stat *found), (path, found), const char *, struct stat *)
CALL(int, stat64, (const char *path, struct stat64 *found), (path, found), const char *, struct stat64 *)
CALL(int, lstat, (const char *path, struct stat *found), (path, found), const char *, struct stat *)
CALL(int, lstat64, (const char *path, struct stat64 *found), (path, found), const char *, struct stat64 *)
CALL(int, fstat, (int file, struct stat *found), (file, found), int, struct stat *)
CALL(int, fstat64, (int file, struct stat64 *found), (file, found), int, struct stat64 *)
CALL(int, fstatat, (int at, const char *path, struct stat *found, int flags), (at, path, found, flags), int, const char *, struct stat *, int)
CALL(int, fstatat64, (int at, const char *path, struct stat64 *found, int flags), (at, path, found, flags), int, const char *, struct stat64 *, int)
CALL(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *found), (at, path, flags, mask, found), int, const char *, int, unsigned, struct statx *)
CALL(ssize_t, readlink, (const char *path, char *text, size_t bytes), (path, text, bytes), const char *, char *, size_t)

int close(int file) {
    REAL(int, "close", int)
    int what = file > 2 ? falls("close", 0) : 0;
    int done = real(file);
    if (what) return errno = what, -1;
    return done;
}
